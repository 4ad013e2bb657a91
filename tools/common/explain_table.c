/* SPDX-License-Identifier: MIT
 * The codes. Win32 first, then NTSTATUS, HRESULT, the data collector service, wpr.
 */
#include "tools/common/explain.h"

#include <strings.h>

#define LIST "'openetw list' shows the running sessions."
#define LOG  "Look at etwd.log in the runtime directory ('openetw list' says where it is)."

const struct explain_row explain_rows[] = {
	/* Win32 */
	{0, "ERROR_SUCCESS", "It worked.", NULL, NULL},
	{1, "ERROR_INVALID_FUNCTION", "The request does not exist.",
	 "A control code or operation that this call does not know.",
	 "Check the call's arguments."},
	{2, "ERROR_FILE_NOT_FOUND", "There is no such file.",
	 "The .etl file, profile or manifest is not where the path says.",
	 "Check the path; it counts from the current directory."},
	{3, "ERROR_PATH_NOT_FOUND", "A directory on the way does not exist.",
	 "The log file's directory is missing; a session does not create directories.",
	 "Create it with mkdir -p, then start again."},
	{4, "ERROR_TOO_MANY_OPEN_FILES", "No more descriptors may be open.",
	 "Many sessions or providers, and a low limit for etwd.",
	 "Raise 'ulimit -n' before etwd starts."},
	{5, "ERROR_ACCESS_DENIED", "You may not do that.",
	 "The session or its file belongs to another user, the directory is not writable for "
	 "etwd, or "
	 "an access rule of the provider or session forbids it.",
	 "Choose a directory you may write to; for other users' processes use the system "
	 "instance as "
	 "root. 'openetw list' shows a session's owner."},
	{6, "ERROR_INVALID_HANDLE", "The handle means nothing.",
	 "A session that has been stopped, or a trace or registration already closed.",
	 "Name the session instead of using an old handle. " LIST},
	{8, "ERROR_NOT_ENOUGH_MEMORY", "There is no memory.",
	 "Buffers of this size and number do not fit.", "Ask for fewer or smaller buffers."},
	{13, "ERROR_INVALID_DATA", "The data makes no sense.",
	 "A damaged file, or a description that ends early.",
	 "'openetw info FILE' says where it is damaged."},
	{14, "ERROR_OUTOFMEMORY", "There is no memory.", "Very large buffers or a very large file.",
	 "Free memory, or read a part with --from and --to."},
	{18, "ERROR_NO_MORE_FILES", "The list of files is at its end.",
	 NULL,
	 NULL},
	{24, "ERROR_BAD_LENGTH", "A size in the call is wrong.",
	 "Wnode.BufferSize is smaller than the structure plus both names, a name is longer than "
	 "1024 "
	 "characters, or an access descriptor is cut.",
	 "Set Wnode.BufferSize to the size of the whole allocation."},
	{29, "ERROR_WRITE_FAULT", "The device did not take the data.",
	 "The disk reported an error.", "Look at the kernel log (dmesg) and the file system."},
	{31, "ERROR_GEN_FAILURE", "Something failed that has no code of its own.", NULL, LOG},
	{32, "ERROR_SHARING_VIOLATION", "Somebody else uses the file.",
	 "Another session writes to this log file.", "Use another file name. " LIST},
	{38, "ERROR_HANDLE_EOF", "The file ended.", "It was cut short.",
	 "'openetw info FILE' tells how much is readable."},
	{50, "ERROR_NOT_SUPPORTED", "That cannot be done here.",
	 "A mode, filter or information class that this system does not have, such as kernel "
	 "events "
	 "without the kernel collector.",
	 "The message names what it was; leave that option out."},
	{80, "ERROR_FILE_EXISTS", "The file is there already.",
	 "A log file that must not be overwritten.",
	 "Remove it, use another name, or say so (-ow, -y)."},
	{87, "ERROR_INVALID_PARAMETER", "An argument is wrong.",
	 "Modes that exclude each other, circular or new-file without a maximum size, a level "
	 "or id out "
	 "of range, a session without a name, or a structure whose size is wrong.",
	 "The text after the code says which one; 'openetw help start' lists what goes "
	 "together."},
	{111, "ERROR_BUFFER_OVERFLOW", "A name or text is too long.",
	 "A file name of more than 1024 characters, or a buffer for an answer that is too small.",
	 "Shorten it, or ask with a larger buffer."},
	{112, "ERROR_DISK_FULL", "The disk is full.",
	 "The log file took what was left; events after that are counted as lost.",
	 "Free space; next time use -m circular --max-size, or --quota."},
	{120, "ERROR_CALL_NOT_IMPLEMENTED", "The function does nothing here.",
	 "It exists so that programs link.", "Check whether the program can do without it."},
	{122, "ERROR_INSUFFICIENT_BUFFER", "The caller's buffer is too small.",
	 "The usual first half of a two-call pattern: the size needed was returned.",
	 "Allocate that size and call again."},
	{123, "ERROR_INVALID_NAME", "A name is not allowed.",
	 "New-file mode without %d in the file name, or characters that a name cannot have.",
	 "Put %d into the file name, as in trace_%d.etl."},
	{126, "ERROR_MOD_NOT_FOUND", "A library is missing.",
	 "The message file of a provider is not installed.",
	 "Install the provider's manifest instead."},
	{127, "ERROR_PROC_NOT_FOUND", "The library has no such function.",
	 "A program that was built for a newer libetw.",
	 "Install the newer one."},
	{160, "ERROR_BAD_ARGUMENTS", "An argument is wrong.",
	 NULL,
	 "Check the call's arguments."},
	{161, "ERROR_BAD_PATHNAME", "The log file cannot be used.",
	 "No file was given for a mode that needs one, another session writes it, or it is a "
	 "directory.",
	 "Give a file with -o. " LIST},
	{170, "ERROR_BUSY", "It is in use.", "A stop or flush of the session is still under way.",
	 "Try again in a moment."},
	{183, "ERROR_ALREADY_EXISTS", "That name is taken.",
	 "A session with this name or GUID runs already, maybe one forgotten by an earlier "
	 "script.",
	 "'openetw stop NAME' ends it; or choose another name. " LIST},
	{186, "ERROR_INVALID_FLAG_NUMBER", "A flag does not exist.", NULL, NULL},
	{193, "ERROR_BAD_EXE_FORMAT", "The program cannot be run here.",
	 "A Windows tool was meant, or another processor's program.",
	 "Use the tool of this name that comes with openetw."},
	{203, "ERROR_ENVVAR_NOT_FOUND", "The environment has no such variable.",
	 NULL,
	 NULL},
	{206, "ERROR_FILENAME_EXCED_RANGE", "The name is too long.",
	 "File names end at 1024 characters.", "Use a shorter path."},
	{234, "ERROR_MORE_DATA", "There is more than fits.",
	 "QueryAllTraces got a short array, or a name did not fit into the properties.",
	 "Call again with room for all; what fits was filled in. An event can be this when it "
	 "is larger "
	 "than 64 KiB."},
	{259, "ERROR_NO_MORE_ITEMS", "That was the last one.", NULL, NULL},
	{317, "ERROR_MR_MID_NOT_FOUND", "There is no text for this number.",
	 "A message that the manifest or program does not have.",
	 "Install the manifest that goes with the provider."},
	{534, "ERROR_ARITHMETIC_OVERFLOW", "A number is too large.",
	 "An event whose data is more than 64 KiB in all.", "Write smaller events."},
	{997, "ERROR_IO_PENDING", "It has begun and is not done yet.",
	 NULL,
	 NULL},
	{998, "ERROR_NOACCESS", "A pointer is wrong.",
	 "A structure or handle whose address is not aligned "
	 "or not there.",
	 "Look at the caller."},
	{1004, "ERROR_INVALID_FLAGS", "Flags that do not belong there.", NULL, NULL},
	{1066, "ERROR_SERVICE_SPECIFIC_ERROR", "A service failed with a code of its own.", NULL,
	 LOG},
	{1067, "ERROR_PROCESS_ABORTED", "A process ended unexpectedly.", "etwd was killed.", LOG},
	{1113, "ERROR_NO_UNICODE_TRANSLATION", "Characters that are no Unicode.",
	 "A name with bytes that are no UTF-8.",
	 "Write the name in UTF-8."},
	{1150, "ERROR_OLD_WIN_VERSION", "The version asked for is not supported.",
	 NULL,
	 NULL},
	{1168, "ERROR_NOT_FOUND", "There is no such thing.",
	 "No schema for the event: its manifest is not installed and the event carries no "
	 "description; or "
	 "the provider or process named does not exist.",
	 "Install the manifest with 'openetw wevtutil im FILE', or look at raw bytes with "
	 "'openetw dump'."},
	{1223, "ERROR_CANCELLED", "It was called off.", "A callback returned FALSE, or Ctrl-C.",
	 NULL},
	{1300, "ERROR_NOT_ALL_ASSIGNED", "Not all rights that were asked for are there.",
	 NULL,
	 "Run as root, or with the capabilities that are named."},
	{1305, "ERROR_UNKNOWN_REVISION", "The structure is of a version that is not known.",
	 "A newer access descriptor or filter.",
	 NULL},
	{1313, "ERROR_NO_SUCH_PRIVILEGE", "There is no such right.",
	 NULL,
	 NULL},
	{1314, "ERROR_PRIVILEGE_NOT_HELD", "A right is missing.",
	 "Kernel events, and other users' processes, take root or capabilities on openetw-kernel.",
	 "Run as root, or use providers of your own processes only."},
	{1332, "ERROR_NONE_MAPPED", "The name of no user or group.",
	 NULL,
	 "'id NAME' shows whom this machine knows."},
	{1337, "ERROR_INVALID_SID", "The security identifier is wrong.",
	 NULL,
	 NULL},
	{1338, "ERROR_INVALID_SECURITY_DESCR", "The access descriptor is wrong.",
	 NULL,
	 NULL},
	{1392, "ERROR_FILE_CORRUPT", "The file is damaged.",
	 "The recording machine crashed, or a copy was cut.",
	 "'openetw info FILE' lists the damage; the rest is read."},
	{1450, "ERROR_NO_SYSTEM_RESOURCES", "A limit is reached.",
	 "All sessions of this etwd are taken, their buffers together are too large, or a "
	 "provider has as "
	 "many sessions as it can. On Windows: 64 sessions, 8 for a provider.",
	 "'openetw list' shows who holds the limits at its end; stop what is not needed."},
	{1453, "ERROR_WORKING_SET_QUOTA", "The memory limit of the process is reached.", NULL,
	 "Ask for fewer buffers."},
	{1455, "ERROR_COMMITMENT_LIMIT", "The machine is out of memory.", NULL,
	 "Ask for fewer buffers."},
	{1460, "ERROR_TIMEOUT", "It took too long.",
	 "A provider's callback did not return in time, or the disk did not take all buffers.",
	 "The setting took effect all the same; look for a process that hangs ('openetw "
	 "providers')."},
	{1465, "ERROR_XML_PARSE_ERROR", "The XML is not well-formed.",
	 "A profile or manifest with a mistake.", "The message has line and column."},
	{1722, "RPC_S_SERVER_UNAVAILABLE", "The other computer does not answer.",
	 "-s HOST with a Windows tool.", "Run the command on that machine, through ssh."},
	{1726, "RPC_S_CALL_FAILED", "The call did not reach etwd or got no answer.",
	 "etwd ended in the middle of the call, or closed the connection because of a limit.", LOG},
	{1901, "ERROR_INVALID_TIME", "The time is not possible.", NULL, NULL},
	{2402, "ERROR_ACTIVE_CONNECTIONS", "It is being stopped already.",
	 "Two controllers stop the same session.", "Nothing to do."},
	{4200, "ERROR_WMI_GUID_NOT_FOUND", "Nobody has this GUID.",
	 "No process has registered the provider and no session has enabled it, or the name was "
	 "mistyped: "
	 "a name gives another GUID for every spelling except upper and lower case.",
	 "'openetw providers' shows who is registered. Enabling before the program starts is "
	 "fine."},
	{4201, "ERROR_WMI_INSTANCE_NOT_FOUND", "No such session runs.",
	 "It was stopped, reached its size, time or quota, etwd was restarted, or another user "
	 "started it.",
	 LIST " " LOG},
	{4208, "ERROR_WMI_SERVER_UNAVAILABLE", "etwd cannot be reached.",
	 "It could not be started.", LOG},
	{4210, "ERROR_WMI_INVALID_MOF", "A MOF description is wrong.", NULL, NULL},
	{4211, "ERROR_WMI_INVALID_REGINFO", "The registration is wrong.", NULL, NULL},
	{4306, "ERROR_EMPTY", "There is nothing in it.", "A manifest without events.", NULL},
	{4317, "ERROR_INVALID_OPERATION", "Not in this state.", NULL, NULL},
	{5007, "ERROR_RESOURCE_NOT_FOUND", "The resource is not there.", NULL, NULL},
	{5023, "ERROR_INVALID_STATE", "Not now: something else comes first.",
	 "A call out of order, such as ProcessTrace on a trace that is being processed.",
	 "Check the order of the calls."},
	{7007, "ERROR_CTX_CLOSE_PENDING", "It will be closed soon.",
	 "CloseTrace while ProcessTrace still runs in another thread.",
	 "ProcessTrace returns after the "
	 "buffer it is in; that is all right."},
	{15001, "ERROR_EVT_INVALID_QUERY", "The query is wrong.", NULL, NULL},
	{15002, "ERROR_EVT_PUBLISHER_METADATA_NOT_FOUND",
	 "The provider's manifest is not installed.", NULL,
	 "Install it with 'openetw wevtutil im FILE'."},
	{15003, "ERROR_EVT_EVENT_TEMPLATE_NOT_FOUND", "The manifest has no template for the event.",
	 NULL, NULL},
	{15005, "ERROR_EVT_INVALID_EVENT_DATA", "The event does not fit its manifest.",
	 "The installed manifest is of another version than the program that wrote the event.",
	 "Install the manifest that belongs to the recorded program."},
	{15007, "ERROR_EVT_CHANNEL_NOT_FOUND", "There is no such channel.", NULL, NULL},
	{15027, "ERROR_EVT_MESSAGE_NOT_FOUND", "The message text is missing.", NULL, NULL},
	{15029, "ERROR_EVT_UNRESOLVED_VALUE_INSERT",
	 "A message refers to a value the event does not have.", NULL, NULL},

	/* NTSTATUS */
	{0xC0000001, "STATUS_UNSUCCESSFUL", "It failed, without saying why.", NULL, LOG},
	{0xC0000005, "STATUS_ACCESS_VIOLATION", "A wrong pointer was used.", "The program crashed.",
	 NULL},
	{0xC0000008, "STATUS_INVALID_HANDLE", "The handle means nothing.",
	 "A provider or session that is closed.", NULL},
	{0xC000000D, "STATUS_INVALID_PARAMETER", "An argument is wrong.",
	 "See ERROR_INVALID_PARAMETER (87).", NULL},
	{0xC0000010, "STATUS_INVALID_DEVICE_REQUEST", "Not for this device.", NULL, NULL},
	{0xC0000017, "STATUS_NO_MEMORY", "There is no memory.", "No free buffer for an event.",
	 "Give the session more or larger buffers."},
	{0xC0000022, "STATUS_ACCESS_DENIED", "You may not do that.", "See ERROR_ACCESS_DENIED (5).",
	 NULL},
	{0xC0000023, "STATUS_BUFFER_TOO_SMALL", "The caller's buffer is too small.", NULL, NULL},
	{0xC0000034, "STATUS_OBJECT_NAME_NOT_FOUND", "There is no such name.", NULL, NULL},
	{0xC0000035, "STATUS_OBJECT_NAME_COLLISION", "That name is taken.",
	 "A session with this name runs already; common in boot traces that start a running "
	 "session.",
	 LIST},
	{0xC000003A, "STATUS_OBJECT_PATH_NOT_FOUND", "A directory on the way does not exist.",
	 "An autologger whose log directory is missing.", "Create the directory."},
	{0xC000007F, "STATUS_DISK_FULL", "The disk is full.", "See ERROR_DISK_FULL (112).", NULL},
	{0xC000009A, "STATUS_INSUFFICIENT_RESOURCES", "A limit is reached.",
	 "See ERROR_NO_SYSTEM_RESOURCES (1450).", NULL},
	{0xC00000BB, "STATUS_NOT_SUPPORTED", "That cannot be done here.", NULL, NULL},
	{0xC0000188, "STATUS_LOG_FILE_FULL", "The session's file has reached its maximum size.",
	 "Sequential mode stops there; a persistent real-time session had no consumer for too "
	 "long.",
	 "Use -m circular, a larger --max-size, or start the consumer."},
	{0xC0000225, "STATUS_NOT_FOUND", "There is no such thing.", NULL, NULL},
	{0xC0000295, "STATUS_WMI_GUID_NOT_FOUND", "Nobody has this GUID.",
	 "See ERROR_WMI_GUID_NOT_FOUND (4200).", NULL},
	{0xC0000296, "STATUS_WMI_INSTANCE_NOT_FOUND", "No such session runs.",
	 "See ERROR_WMI_INSTANCE_NOT_FOUND (4201).", NULL},
	{0x80000005, "STATUS_BUFFER_OVERFLOW", "There is more than fits.", NULL, NULL},

	/* HRESULT */
	{0x80004001, "E_NOTIMPL", "That is not implemented.", NULL, NULL},
	{0x80004002, "E_NOINTERFACE", "The object cannot do that.", NULL, NULL},
	{0x80004003, "E_POINTER", "A pointer is NULL.", NULL, NULL},
	{0x80004004, "E_ABORT", "It was broken off.", NULL, NULL},
	{0x80004005, "E_FAIL", "It failed, without saying why.", NULL, LOG},
	{0x8000FFFF, "E_UNEXPECTED", "Something that should not happen.", NULL, LOG},
	{0x80041001, "WBEM_E_FAILED", "WMI failed.", NULL, NULL},
	{0x80041010, "WBEM_E_INVALID_CLASS", "WMI does not know the class.",
	 "A classic provider whose MOF is not installed.",
	 "Events are shown as raw bytes without it."},

	/* the data collector service: logman, Performance Monitor */
	{0x80300002, "PLA_E_DCS_NOT_FOUND", "No collector or session of this name.",
	 "-ets was forgotten (or given too much): with it logman means running sessions, "
	 "without it saved "
	 "collectors.",
	 "'logman query' shows saved ones, 'logman query -ets' running ones."},
	{0x80300045, "PLA_E_TOO_MANY_FOLDERS", "The report folder limit is reached.", NULL, NULL},
	{0x80300070, "PLA_E_NO_MIN_DISK", "Less disk is free than the collector demands.", NULL,
	 "Free space."},
	{0x803000AA, "PLA_E_DCS_IN_USE", "The collector is in use.", "It is running.",
	 "'logman stop NAME', then again."},
	{0x803000B7, "PLA_E_DCS_ALREADY_EXISTS", "That name is taken.",
	 "A collector is saved, or a session runs, under this name.",
	 "'logman delete NAME' or 'logman stop NAME -ets'."},
	{0x00300100, "PLA_S_PROPERTY_IGNORED", "It worked; a setting was ignored.", NULL, NULL},
	{0x80300101, "PLA_E_PROPERTY_CONFLICT", "Two settings exclude each other.", NULL, NULL},
	{0x80300103, "PLA_E_CREDENTIALS_REQUIRED", "The other user's password is needed.", NULL,
	 NULL},
	{0x80300104, "PLA_E_DCS_NOT_RUNNING", "The collector does not run.",
	 "It was stopped already.", "'logman start NAME' runs it."},
	{0x80300109, "PLA_E_DC_ALREADY_EXISTS", "A collector of this name is in the set.", NULL,
	 NULL},
	{0x8030010A, "PLA_E_DCS_START_WAIT_TIMEOUT", "The start took too long.", NULL, LOG},
	{0x8030010F, "PLA_E_INVALID_SESSION_NAME", "The session name is not allowed.", NULL, NULL},

	/* wpr; these names are ours */
	{0xC5583000, "wpr-not-recording", "wpr is not recording.",
	 "-stop, -cancel or -marker without -start; or it was started with another "
	 "-instancename or by "
	 "another user.",
	 "'wpr -status' shows what runs; repeat the -instancename of the start."},
	{0xC5583001, "wpr-already-recording", "wpr is recording already.",
	 "An earlier recording was not stopped, maybe after a crash of a script.",
	 "'wpr -cancel' throws it away, 'wpr -stop FILE' keeps it."},
	{0xC5580612, "wpr-no-providers", "A session would have no providers.",
	 "The profile enables nothing on this system, or all its providers were removed by "
	 "another profile.",
	 "'wpr -profiledetails' shows what the profile resolves to."},
	{0xC5585011, "wpr-no-profile-privilege", "The right to profile the system is missing.",
	 "Kernel events need privileges.",
	 "Run as root, or use a profile of user-mode providers only."},
	{0xC5600602, "wpr-bad-option", "An option is wrong.",
	 "Mistyped, or in the wrong place: "
	 "-instancename comes last.",
	 "'wpr -help' lists them."},
};
const size_t explain_count = sizeof explain_rows / sizeof explain_rows[0];

static const struct explain_row *exactly(uint32_t code)
{
	for (size_t i = 0; i < explain_count; i++) {
		if (explain_rows[i].code == code) {
			return &explain_rows[i];
		}
	}
	return NULL;
}

const struct explain_row *explain_find(uint32_t code)
{
	const struct explain_row *r = exactly(code);
	/* HRESULT_FROM_WIN32, also as NTSTATUS_FROM_WIN32 spells it. */
	if (!r && ((code & 0xFFFF0000u) == 0x80070000u || (code & 0xFFFF0000u) == 0xC0070000u)) {
		r = exactly(code & 0xFFFF);
	}
	/* HRESULT_FROM_NT */
	if (!r && (code & 0xF0000000u) == 0xD0000000u) {
		r = exactly((code & 0x0FFFFFFFu) | 0xC0000000u);
	}
	return r;
}

const struct explain_row *explain_find_name(const char *name)
{
	/* HRESULTs that are Win32 codes in another dress. */
	static const struct {
		const char *name;
		uint32_t code;
	} dressed[] = {{"E_ACCESSDENIED", 5}, {"E_HANDLE", 6}, {"E_OUTOFMEMORY", 14}, {"E_INVALIDARG", 87}};
	for (size_t i = 0; i < sizeof dressed / sizeof dressed[0]; i++) {
		if (strcasecmp(dressed[i].name, name) == 0) {
			return exactly(dressed[i].code);
		}
	}
	static const char *const fronts[] = {"", "ERROR_", "STATUS_", "PLA_E_", "ERROR_WMI_"};
	for (size_t f = 0; f < sizeof fronts / sizeof fronts[0]; f++) {
		for (size_t i = 0; i < explain_count; i++) {
			size_t n = __builtin_strlen(fronts[f]);
			if (strncasecmp(explain_rows[i].name, fronts[f], n) == 0 &&
			    strcasecmp(explain_rows[i].name + n, name) == 0) {
				return &explain_rows[i];
			}
		}
	}
	return NULL;
}
