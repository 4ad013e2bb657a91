/* SPDX-License-Identifier: MIT */
#include "tools/wpt/xperf_rows.h"

#include "etw/values/guids.h"

#include <stdio.h>
#include <stdlib.h>

#define FIELDS_MAX   48
#define CPUS_MAX     2048
#define THREAD_SLOTS 16384u /* power of two */
#define DISKS_MAX    64

/* Columns: "Title=what" separated by |. What is a field of the event, or
 *   @P process that logged it    @S process it is about     @T thread that logged it
 *   @U thread it is about        @C processor               @F path of the file it is about
 *   @p:Field process of the thread with this id             @i:Field code at this address
 *   @e:Field a duration in ticks, as microseconds           @end base and size added
 *   @since @ran @disk@Field      what only the events before tell (below)
 *   #text  always the same */
struct kind {
	const char *event, *name, *columns;
};
#define PROCESS                                                                                     \
	"Process Name ( PID)=@S|ParentPID=ParentId|SessionID=SessionId|UniqueKey=UniqueProcessKey|" \
	"UserSid=UserSID|Command Line=CommandLine"
#define THREAD                                                                          \
	"Process Name ( PID)=@S|ThreadID=@U|StackBase=StackBase|StackLimit=StackLimit|" \
	"UsrStkBase=UserStackBase|UsrStkLmt=UserStackLimit|TebBase=TebBase|"            \
	"SubProcessTag=SubProcessTag|LoggingThreadID=@T|ThreadStartImage!Function=@i:Win32StartAddr"
#define IMAGE                                                                         \
	"Process Name ( PID)=@S|BaseAddr=ImageBase|EndAddr=@end|ImageSize=ImageSize|" \
	"CheckSum=ImageChecksum|TimeDateStamp=TimeDateStamp|FileName=FileName"
#define DISK                                                                                       \
	"Process Name ( PID)=@P|ThreadID=@T|IrpPtr=Irp|ByteOffset=ByteOffset|IOSize=TransferSize|" \
	"ElapsedTime=@e:HighResResponseTime|DiskNum=DiskNumber|IrpFlags=IrpFlags|"                 \
	"DiskSvcTime=@disk|I/O Pri=#Normal|VolSnap=#Original|FileObject=FileObject|FileName=@F"
#define FILE_OP                                                                                      \
	"Process Name ( PID)=@P|ThreadID=@T|LoggingProcessName ( PID)=@P|LoggingThreadID=@T|CPU=@C|" \
	"IrpPtr=IrpPtr|FileObject=FileObject|"
#define NET "Process Name ( PID)=@S|ThreadID=@T|CPU=@C|Size=size|saddr=saddr|sport=sport|daddr=daddr|dport=dport"

static const struct kind kinds[] = {
	{"Process/Start", "P-Start", PROCESS},
	{"Process/End", "P-End", PROCESS "|Status=ExitStatus"},
	{"Process/DCStart", "P-DCStart", PROCESS},
	{"Process/DCEnd", "P-DCEnd", PROCESS},
	{"Thread/Start", "T-Start", THREAD},
	{"Thread/End", "T-End", THREAD},
	{"Thread/DCStart", "T-DCStart", THREAD},
	{"Thread/DCEnd", "T-DCEnd", THREAD},
	{"Image/Load", "I-Start", IMAGE},
	{"Image/UnLoad", "I-End", IMAGE},
	{"Image/DCStart", "I-DCStart", IMAGE},
	{"Image/DCEnd", "I-DCEnd", IMAGE},
	{"PerfInfo/SampleProf", "SampledProfile",
	 "Process Name ( PID)=@P|ThreadID=@T|PrgrmCtr=InstructionPointer|CPU=@C|"
	 "ThreadStartImage!Function=@start|Image!Function=@i:InstructionPointer|Count=Count|"
	 "SampledProfile type=#Unbatched"},
	{"Thread/CSwitch", "CSwitch",
	 "New Process Name ( PID)=@p:NewThreadId|New TID=NewThreadId|NPri=NewThreadPriority|"
	 "NQnt=#-1|TmSinceLast=@since|WaitTime=NewThreadWaitTime|"
	 "Old Process Name ( PID)=@p:OldThreadId|Old TID=OldThreadId|OPri=OldThreadPriority|"
	 "OQnt=#-1|OldState=OldThreadState|Wait Reason=OldThreadWaitReason|Swapable=@mode|"
	 "InSwitchTime=@ran|CPU=@C|IdealProc=OldThreadWaitIdealProcessor"},
	{"Thread/ReadyThread", "ReadyThread",
	 "Process Name ( PID)=@P|ThreadID=@T|Rdy Process Name ( PID)=@p:TThreadId|"
	 "Rdy TID=TThreadId|AdjustReason=AdjustReason|AdjustIncrement=AdjustIncrement|CPU=@C"},
	{"DiskIo/Read", "DiskRead", DISK},
	{"DiskIo/Write", "DiskWrite", DISK},
	{"DiskIo/FlushBuffers", "DiskFlush",
	 "Process Name ( PID)=@P|ThreadID=@T|IrpPtr=Irp|ElapsedTime=@e:HighResResponseTime|"
	 "DiskNum=DiskNumber|IrpFlags=IrpFlags"},
	{"DiskIo/ReadInit", "DiskReadInit", "Process Name ( PID)=@P|ThreadID=@T|IrpPtr=Irp"},
	{"DiskIo/WriteInit", "DiskWriteInit", "Process Name ( PID)=@P|ThreadID=@T|IrpPtr=Irp"},
	{"DiskIo/FlushInit", "DiskFlushInit", "Process Name ( PID)=@P|ThreadID=@T|IrpPtr=Irp"},
	{"PageFault/HardFault", "HardFault",
	 "Process Name ( PID)=@P|ThreadID=@T|VirtualAddr=VirtualAddress|ByteOffset=ReadOffset|"
	 "IOSize=ByteCount|ElapsedTime=@fault|FileObject=FileObject|FileName=@F"},
	{"FileIo/Create", "FileIoCreate",
	 FILE_OP "Options=CreateOptions|Attributes=FileAttributes|ShareAccess=ShareAccess|"
		 "FileName=OpenPath"},
	{"FileIo/Cleanup", "FileIoCleanup", FILE_OP "FileName=@F"},
	{"FileIo/Close", "FileIoClose", FILE_OP "FileName=@F"},
	{"FileIo/Flush", "FileIoFlush", FILE_OP "FileName=@F"},
	{"FileIo/Read", "FileIoRead", FILE_OP "ByteOffset=Offset|Size=IoSize|Flags=IoFlags|FileName=@F"},
	{"FileIo/Write", "FileIoWrite", FILE_OP "ByteOffset=Offset|Size=IoSize|Flags=IoFlags|FileName=@F"},
	{"FileIo/SetInfo", "FileIoSetInfo", FILE_OP "InfoClass=InfoClass|FileName=@F"},
	{"FileIo/Delete", "FileIoDelete", FILE_OP "InfoClass=InfoClass|FileName=@F"},
	{"FileIo/Rename", "FileIoRename", FILE_OP "InfoClass=InfoClass|FileName=@F"},
	{"FileIo/QueryInfo", "FileIoQueryInfo", FILE_OP "InfoClass=InfoClass|FileName=@F"},
	{"FileIo/FSControl", "FileIoFSCTL", FILE_OP "InfoClass=InfoClass|FileName=@F"},
	{"FileIo/DirEnum", "FileIoDirEnum",
	 FILE_OP "Length=Length|InfoClass=InfoClass|FileIndex=FileIndex|FileName=FileName"},
	{"FileIo/DirNotify", "FileIoDirNotify",
	 FILE_OP "Length=Length|InfoClass=InfoClass|FileIndex=FileIndex|FileName=FileName"},
	{"FileIo/OperationEnd", "FileIoOpEnd",
	 "Process Name ( PID)=@P|ThreadID=@T|LoggingProcessName ( PID)=@P|LoggingThreadID=@T|CPU=@C|"
	 "IrpPtr=IrpPtr|ExtraInfo=ExtraInfo|Status=NtStatus"},
	{"FileIo/Name", "FileNameCreate", "FileObject=FileObject|FileName=FileName"},
	{"FileIo/FileCreate", "FileNameCreate", "FileObject=FileObject|FileName=FileName"},
	{"FileIo/FileDelete", "FileNameDelete", "FileObject=FileObject|FileName=FileName"},
	{"FileIo/FileRundown", "FileNameRundown", "FileObject=FileObject|FileName=FileName"},
	{"PerfInfo/Mark", "Mark", "Process Name ( PID)=@P|ThreadID=@T|Label=Message"},
	{"PerfInfo/DPC", "Dpc", "CPU=@C|ElapsedTime=@dpc|Function=@i:Routine"},
	{"PerfInfo/ThreadedDPC", "ThreadedDpc", "CPU=@C|ElapsedTime=@dpc|Function=@i:Routine"},
	{"PerfInfo/TimerDPC", "TimerDpc", "CPU=@C|ElapsedTime=@dpc|Function=@i:Routine"},
	{"PerfInfo/ISR", "Interrupt",
	 "CPU=@C|ElapsedTime=@dpc|Vector=Vector|ReturnValue=ReturnValue|Function=@i:Routine"},
	{"PerfInfo/SysClEnter", "SysCallEnter", "Process Name ( PID)=@P|ThreadID=@T|CPU=@C|Function=@i:SysCallAddress"},
	{"PerfInfo/SysClExit", "SysCallExit", "Process Name ( PID)=@P|ThreadID=@T|CPU=@C|Status=SysCallNtStatus"},
	{"PageFault/VirtualAlloc", "VirtualAlloc",
	 "Process Name ( PID)=@S|ThreadID=@T|BaseAddr=BaseAddress|Size=RegionSize|Flags=Flags"},
	{"PageFault/VirtualFree", "VirtualFree",
	 "Process Name ( PID)=@S|ThreadID=@T|BaseAddr=BaseAddress|Size=RegionSize|Flags=Flags"},
	{"TcpIp/SendIPV4", "TcpSendIPV4", NET},
	{"TcpIp/RecvIPV4", "TcpRecvIPV4", NET},
	{"TcpIp/SendIPV6", "TcpSendIPV6", NET},
	{"TcpIp/RecvIPV6", "TcpRecvIPV6", NET},
	{"UdpIp/SendIPV4", "UdpSendIPV4", NET},
	{"UdpIp/RecvIPV4", "UdpRecvIPV4", NET},
	{"UdpIp/SendIPV6", "UdpSendIPV6", NET},
	{"UdpIp/RecvIPV6", "UdpRecvIPV6", NET},
};

struct field {
	size_t name, name_length, text, text_length; /* in `store` */
};
struct xperf_rows {
	struct openetw_decoder *decoder;
	struct openetw_state *state;
	uint64_t start, start_raw, frequency;
	const EVENT_RECORD *e;
	struct openetw_event_origin origin;
	struct field fields[FIELDS_MAX];
	size_t field_count;
	struct strbuf store, cell, name;
	/* What the events before said: when a thread left its processor, since when one runs. */
	struct {
		uint32_t tid;
		uint64_t left;
	} threads[THREAD_SLOTS];
	uint64_t cpu_since[CPUS_MAX];
	uint64_t disk_busy[DISKS_MAX];
};

struct xperf_rows *xperf_rows_create(struct openetw_decoder *d, struct openetw_state *s, const struct xperf_clock *c)
{
	struct xperf_rows *r = calloc(1, sizeof *r);
	if (r) {
		r->decoder = d;
		r->state = s;
		r->start = c->start;
		r->start_raw = c->start_raw;
		r->frequency = c->frequency ? c->frequency : 10000000;
	}
	return r;
}

void xperf_rows_destroy(struct xperf_rows *r)
{
	if (r) {
		strbuf_finish(&r->store);
		strbuf_finish(&r->cell);
		strbuf_finish(&r->name);
		free(r);
	}
}

bool xperf_rows_skips(struct xperf_rows *r, const EVENT_RECORD *e)
{
	static const struct guid trace = GUID_INIT(ETW_GUID_EVENT_TRACE);
	static const struct guid stack = GUID_INIT(ETW_GUID_CLASS_STACK_WALK);
	return memcmp(&e->EventHeader.ProviderId, &trace, sizeof trace) == 0 ||
	       memcmp(&e->EventHeader.ProviderId, &stack, sizeof stack) == 0;
}

static const struct kind *kind_of(struct xperf_rows *r, const EVENT_RECORD *e)
{
	if (!(e->EventHeader.Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER)) {
		return NULL;
	}
	const char *name = openetw_event_name(r->decoder, e);
	for (size_t i = 0; i < BASE_ARRAY_LEN(kinds); i++) {
		if (strcmp(kinds[i].event, name) == 0) {
			return &kinds[i];
		}
	}
	return NULL;
}

const char *xperf_rows_label(const char *event)
{
	for (size_t i = 0; i < BASE_ARRAY_LEN(kinds); i++) {
		if (strcmp(kinds[i].event, event) == 0) {
			return kinds[i].name;
		}
	}
	return NULL;
}

void xperf_rows_key(struct xperf_rows *r, const EVENT_RECORD *e, struct strbuf *key)
{
	const EVENT_DESCRIPTOR *d = &e->EventHeader.EventDescriptor;
	const struct kind *k = kind_of(r, e);
	if (k) {
		strbuf_adds(key, k->name);
		return;
	}
	strbuf_add(key, &e->EventHeader.ProviderId, sizeof(GUID));
	strbuf_addf(key, "%u %u %u %s", d->Id, d->Version, d->Opcode, openetw_event_name(r->decoder, e));
}

/* Provider/Task/win:Opcode */
static void put_name(struct xperf_rows *r, const EVENT_RECORD *e, const struct kind *k, struct strbuf *b)
{
	static const char *const opcodes[] = {"Info",      "Start", "Stop",   "DC_Start", "DC_Stop",
					      "Extension", "Reply", "Resume", "Suspend",  "Send"};
	UCHAR op = e->EventHeader.EventDescriptor.Opcode;
	const char *provider, *event;
	strbuf_clear(&r->name);
	if (k) {
		strbuf_adds(&r->name, k->name);
	} else {
		openetw_event_names(r->decoder, e, &provider, &event);
		strbuf_addf(&r->name, "%s/%s", provider, event);
		if (op < BASE_ARRAY_LEN(opcodes) && !strchr(event, '/')) {
			strbuf_addf(&r->name, "/win:%s", opcodes[op]);
		}
	}
	strbuf_addf(b, "%23s, ", r->name.s ? r->name.s : "");
}

/* ---- headings ---------------------------------------------------------------------------------- */

static bool put_column(void *ctx, const struct openetw_field *f)
{
	strbuf_addf(ctx, ", %.*s", (int)f->name_length, f->name);
	return true;
}

void xperf_rows_stack_header(struct strbuf *b)
{
	strbuf_addf(b, "%23s,  TimeStamp,   ThreadID, No.,            Address, Image!Function\n", "Stack");
}

void xperf_rows_header(struct xperf_rows *r, const EVENT_RECORD *e, struct strbuf *b)
{
	const struct kind *k = kind_of(r, e);
	put_name(r, e, k, b);
	if (!k) {
		strbuf_adds(b, " TimeStamp,     Process Name ( PID),   ThreadID, CPU");
		openetw_decode_fields(r->decoder, e, put_column, b);
		strbuf_addc(b, '\n');
		return;
	}
	strbuf_adds(b, " TimeStamp");
	for (const char *c = k->columns; *c;) {
		size_t title = strcspn(c, "="), all = strcspn(c, "|");
		strbuf_adds(b, ", ");
		if (title == 19 && memcmp(c, "Process Name ( PID)", 19) == 0) {
			strbuf_adds(b, "    ");
		}
		strbuf_add(b, c, title);
		c += all + (c[all] == '|');
	}
	strbuf_addc(b, '\n');
}

/* ---- cells ------------------------------------------------------------------------------------- */

static bool collect(void *ctx, const struct openetw_field *f)
{
	struct xperf_rows *r = ctx;
	if (r->field_count == FIELDS_MAX) {
		return false;
	}
	struct field *to = &r->fields[r->field_count++];
	to->name = r->store.len;
	to->name_length = f->name_length;
	strbuf_add(&r->store, f->name, f->name_length);
	to->text = r->store.len;
	to->text_length = f->text_length;
	strbuf_add(&r->store, f->text, f->text_length);
	strbuf_addc(&r->store, 0);
	return true;
}

static const char *field(const struct xperf_rows *r, const char *name, size_t n)
{
	for (size_t i = 0; i < r->field_count; i++) {
		const struct field *f = &r->fields[i];
		if (f->name_length == n && memcmp(r->store.s + f->name, name, n) == 0) {
			return r->store.s + f->text;
		}
	}
	return NULL;
}

static uint64_t number(const struct xperf_rows *r, const char *name)
{
	const char *text = field(r, name, strlen(name));
	return text ? strtoull(text, NULL, 0) : 0;
}

static uint64_t micros(const struct xperf_rows *r, uint64_t ticks)
{
	return (uint64_t)((double)ticks * 1e6 / (double)r->frequency + 0.5);
}

void xperf_process_cell(struct strbuf *b, const char *name, uint32_t pid)
{
	char cell[300];
	if (pid == UINT32_MAX) {
		snprintf(cell, sizeof cell, "Unknown (  -1)");
	} else {
		snprintf(cell, sizeof cell, "%.250s (%4u)", name && *name ? name : "Unknown", pid);
	}
	strbuf_addf(b, "%23s", cell);
}

void xperf_symbol_cell(struct strbuf *b, struct openetw_state *s, uint32_t pid, uint64_t address, uint64_t time)
{
	struct openetw_module m = {.size = sizeof m};
	struct openetw_symbol y = {.size = sizeof y};
	if (s && openetw_state_symbol(s, pid, address, time, &y) == ERROR_SUCCESS) {
		strbuf_addf(b, "%s!%s", y.module ? y.module : "Unknown", y.name);
	} else if (s && openetw_state_module(s, pid, address, time, &m) == ERROR_SUCCESS) {
		strbuf_addf(b, "%s!0x%llx", m.name, (unsigned long long)address);
	} else {
		strbuf_adds(b, "Unknown");
	}
}

/* Text is quoted, with quotes inside doubled, so that commas in it do not make columns. */
static void put_text(struct strbuf *b, const char *s, size_t n)
{
	bool plain = n > 0;
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];
		plain = plain && c > ' ' && c != ',' && c != '"';
	}
	if (plain) {
		strbuf_add_printable(b, s, n);
		return;
	}
	strbuf_add_quoted(b, s, n);
}

static bool put_field(void *ctx, const struct openetw_field *f)
{
	strbuf_adds(ctx, ", ");
	put_text(ctx, f->text, f->text_length);
	return true;
}

static uint64_t *left_at(struct xperf_rows *r, uint32_t tid)
{
	uint32_t i = tid / 4 & (THREAD_SLOTS - 1);
	if (r->threads[i].tid != tid) { /* rare: two threads share a place, the older is forgotten */
		r->threads[i].tid = tid;
		r->threads[i].left = 0;
	}
	return &r->threads[i].left;
}

static void put_thread_process(struct xperf_rows *r, struct strbuf *b, uint32_t tid)
{
	struct openetw_thread t = {.size = sizeof t};
	struct openetw_process p = {.size = sizeof p};
	uint64_t time = (uint64_t)r->e->EventHeader.TimeStamp.QuadPart;
	if (tid == 0) {
		xperf_process_cell(b, "Idle", 0);
	} else if (openetw_state_thread(r->state, tid, time, &t) != ERROR_SUCCESS) {
		xperf_process_cell(b, NULL, UINT32_MAX);
	} else {
		bool known = openetw_state_process(r->state, t.pid, time, &p) == ERROR_SUCCESS;
		xperf_process_cell(b, known ? p.name : NULL, t.pid);
	}
}

/* The function that the event's thread began with. */
static void put_thread_start(struct xperf_rows *r, struct strbuf *b, uint64_t now)
{
	struct openetw_thread t = {.size = sizeof t};
	uint32_t tid = r->origin.tid == UINT32_MAX ? (uint32_t)number(r, "ThreadId") : r->origin.tid;
	if (tid == 0 || openetw_state_thread(r->state, tid, now, &t) != ERROR_SUCCESS || t.start_address == 0) {
		strbuf_adds(b, "Unknown");
		return;
	}
	strbuf_clear(&r->cell);
	xperf_symbol_cell(&r->cell, r->state, t.pid, t.start_address, now);
	put_text(b, r->cell.s ? r->cell.s : "", r->cell.len);
}

/* What column `what` (of n bytes) says about the event. */
static void put_special(struct xperf_rows *r, struct strbuf *b, const char *what, size_t n)
{
	const struct openetw_event_origin *o = &r->origin;
	uint64_t now = (uint64_t)r->e->EventHeader.TimeStamp.QuadPart;
	uint16_t cpu = GetEventProcessorIndex(r->e);
	char name[64] = "";
	if (n > 3 && what[2] == ':') {
		memcpy(name, what + 3, BASE_MIN(n - 3, sizeof name - 1));
	}
	switch (what[1]) {
	case 'P': xperf_process_cell(b, o->process, o->pid); return;
	case 'S': xperf_process_cell(b, o->subject, o->subject_pid); return;
	case 'T':
	case 'U': {
		uint32_t tid = what[1] == 'T' ? o->tid : o->subject_tid;
		strbuf_addf(b, tid == UINT32_MAX ? "%10d" : "%10u", tid);
		return;
	}
	case 'C': strbuf_addf(b, "%3u", cpu); return;
	case 'F': put_text(b, o->file ? o->file : "Unknown", strlen(o->file ? o->file : "Unknown")); return;
	case 'p': put_thread_process(r, b, (uint32_t)number(r, name)); return;
	case 'i':
		strbuf_clear(&r->cell);
		xperf_symbol_cell(&r->cell, r->state, o->subject_pid, number(r, name), now);
		put_text(b, r->cell.s ? r->cell.s : "", r->cell.len);
		return;
	default: break;
	}
	if (n > 3 && what[1] == 'e' && what[2] == ':') {
		strbuf_addf(b, "%10llu", (unsigned long long)micros(r, number(r, name)));
	} else if (strncmp(what, "@end", n) == 0) {
		strbuf_addf(b, "0x%llx", (unsigned long long)(number(r, "ImageBase") + number(r, "ImageSize")));
	} else if (strncmp(what, "@start", n) == 0) {
		put_thread_start(r, b, now);
	} else if (strncmp(what, "@mode", n) == 0) {
		strbuf_adds(b, number(r, "OldThreadWaitMode") ? "Swapable" : "NonSwap");
	} else if (strncmp(what, "@since", n) == 0) {
		uint64_t left = *left_at(r, (uint32_t)number(r, "NewThreadId"));
		strbuf_addf(b, "%10llu", (unsigned long long)(left && now > left ? (now - left) / 10 : 0));
		*left_at(r, (uint32_t)number(r, "OldThreadId")) = now;
	} else if (strncmp(what, "@ran", n) == 0) {
		uint64_t *since = &r->cpu_since[cpu % CPUS_MAX];
		strbuf_addf(b, "%10llu", (unsigned long long)(*since && now > *since ? (now - *since) / 10 : 0));
		*since = now;
	} else if (strncmp(what, "@disk", n) == 0) {
		/* A disk serves one request after the other: from the later of its start and the
		 * end of the one before. */
		uint64_t *busy = &r->disk_busy[number(r, "DiskNumber") % DISKS_MAX];
		uint64_t us = micros(r, number(r, "HighResResponseTime"));
		uint64_t since = *busy && now > *busy ? (now - *busy) / 10 : us;
		strbuf_addf(b, "%10llu", (unsigned long long)BASE_MIN(us, since));
		*busy = now;
	} else { /* @fault, @dpc: the event says in ticks when it began */
		uint64_t since = (uint64_t)((double)(now - r->start) * (double)r->frequency / 1e7);
		uint64_t ticks = r->start_raw + since - number(r, "InitialTime");
		strbuf_addf(b, "%10llu", (unsigned long long)(ticks < 1ull << 62 ? micros(r, ticks) : 0));
	}
}

static void put_row(struct xperf_rows *r, const struct kind *k, struct strbuf *b)
{
	for (const char *c = k->columns; *c;) {
		const char *what = c + strcspn(c, "=") + 1;
		size_t n = strcspn(what, "|");
		strbuf_adds(b, ", ");
		if (*what == '@') {
			put_special(r, b, what, n);
		} else if (*what == '#') {
			strbuf_add(b, what + 1, n - 1);
		} else {
			const char *text = field(r, what, n);
			put_text(b, text ? text : "", text ? strlen(text) : 0);
		}
		c = what + n + (what[n] == '|');
	}
}

static void put_stack(struct xperf_rows *r, const EVENT_RECORD *e, struct strbuf *b)
{
	struct openetw_stack k = {.size = sizeof k};
	uint64_t now = (uint64_t)e->EventHeader.TimeStamp.QuadPart;
	if (openetw_state_stack(r->state, e, &k) != ERROR_SUCCESS) {
		return;
	}
	for (uint32_t i = 0; i < k.count; i++) {
		strbuf_addf(b, "%23s, %10llu, %10u, %3u, 0x%016llx, ", "Stack",
			    (unsigned long long)(now > r->start ? (now - r->start) / 10 : 0), k.tid, i + 1,
			    (unsigned long long)k.addresses[i]);
		strbuf_clear(&r->cell);
		xperf_symbol_cell(&r->cell, r->state, k.pid, k.addresses[i], now);
		put_text(b, r->cell.s ? r->cell.s : "", r->cell.len);
		strbuf_addc(b, '\n');
	}
}

void xperf_rows_event(struct xperf_rows *r, const EVENT_RECORD *e, struct strbuf *b)
{
	const struct kind *k = kind_of(r, e);
	uint64_t now = (uint64_t)e->EventHeader.TimeStamp.QuadPart;
	r->e = e;
	r->origin = (struct openetw_event_origin){.size = sizeof r->origin};
	openetw_state_event(r->state, e, &r->origin);
	put_name(r, e, k, b);
	strbuf_addf(b, "%10llu", (unsigned long long)(now > r->start ? (now - r->start) / 10 : 0));
	if (k) {
		r->field_count = 0;
		strbuf_clear(&r->store);
		openetw_decode_fields(r->decoder, e, collect, r);
		put_row(r, k, b);
	} else {
		strbuf_adds(b, ", ");
		xperf_process_cell(b, r->origin.process, r->origin.pid);
		strbuf_addf(b, r->origin.tid == UINT32_MAX ? ", %10d, %3u" : ", %10u, %3u", r->origin.tid,
			    GetEventProcessorIndex(e));
		openetw_decode_fields(r->decoder, e, put_field, b);
	}
	strbuf_addc(b, '\n');
	put_stack(r, e, b);
}
