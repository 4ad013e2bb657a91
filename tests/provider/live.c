/* SPDX-License-Identifier: MIT
 * See live.h.
 */
#include "live.h"

#include <signal.h>

#include "proto/proto.h"

char live_dir[64];
static pid_t owner;

void live_fail(const char *file, int line, const char *what, unsigned long long got, unsigned long long want)
{
	const char *slash = strrchr(file, '/');
	printf("%s:%d: %s is %llu (0x%llX), not %llu (0x%llX)\n", slash ? slash + 1 : file, line, what, got, got, want,
	       want);
	fflush(stdout);
	if (getpid() == owner) {
		char log[128];
		snprintf(log, sizeof log, "tail -${LIVE_LOG_LINES:-20} %s/etwd.log", live_dir);
		(void)!system(log);
		exit(1);
	}
	_exit(1);
}

pid_t live_etwd(void)
{
	char path[128];
	int pid = 0;
	snprintf(path, sizeof path, "%s/pid", live_dir);
	FILE *f = fopen(path, "re");
	if (f) {
		if (fscanf(f, "%d", &pid) != 1) {
			pid = 0;
		}
		fclose(f);
	}
	/* One that is dead but not yet reaped by whoever is init here does not run. */
	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	f = pid > 0 ? fopen(path, "re") : NULL;
	char state = 'Z';
	if (f) {
		if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1) {
			state = 'Z';
		}
		fclose(f);
	}
	return state != 'Z' && state != 'X' ? pid : 0;
}

static void clean_up(void)
{
	char command[128];
	pid_t etwd = live_etwd();
	if (getpid() != owner) {
		return;
	}
	if (etwd) {
		kill(etwd, SIGCONT);
		kill(etwd, SIGTERM);
	}
	for (int i = 0; i < 400 && live_etwd(); i++) {
		usleep(5000);
	}
	snprintf(command, sizeof command, "rm -rf '%s'", live_dir);
	(void)!system(command);
}

void live_init(void)
{
	strcpy(live_dir, "/tmp/openetw-live-XXXXXX");
	if (!mkdtemp(live_dir) || setenv("OPENETW_RUNTIME_DIR", live_dir, 1) != 0) {
		perror("runtime directory");
		exit(1);
	}
	setenv("OPENETW_WAIT_MS", "5000", 0); /* the machine may be busy */
	owner = getpid();
	atexit(clean_up);
	setvbuf(stdout, NULL, _IOLBF, 0);
}

static void put_wide(WCHAR *to, const char *from)
{
	while ((*to++ = (WCHAR)(unsigned char)*from++)) {
	}
}

static void fill(struct live_session *s)
{
	memset(&s->block, 0, sizeof s->block);
	s->block.p.Wnode.BufferSize = sizeof s->block;
	s->block.p.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
	s->block.p.LoggerNameOffset = offsetof(__typeof__(s->block), name);
	s->block.p.LogFileNameOffset = offsetof(__typeof__(s->block), file);
}

void live_start(struct live_session *s, const char *name, const char *file, ULONG mode)
{
	WCHAR wide[64];
	memset(s, 0, sizeof *s);
	fill(s);
	snprintf(s->name, sizeof s->name, "%s", name);
	snprintf(s->path, sizeof s->path, "%s/%s", live_dir, file);
	s->block.p.Wnode.ClientContext = 1;
	s->block.p.BufferSize = 64;
	s->block.p.LogFileMode = mode & 0xF ? mode : mode | EVENT_TRACE_FILE_MODE_SEQUENTIAL;
	put_wide(s->block.file, s->path);
	put_wide(wide, name);
	EXPECT(StartTraceW(&s->id, wide, &s->block.p), ERROR_SUCCESS);
}

ULONG live_control(struct live_session *s, ULONG code)
{
	fill(s);
	return ControlTraceW(s->id, NULL, &s->block.p, code);
}

void live_stop(struct live_session *s)
{
	EXPECT(live_control(s, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
}

ULONG live_enable(struct live_session *s, LPCGUID guid, ULONG code, UCHAR level, ULONGLONG any, ULONGLONG all,
		  ULONG properties)
{
	ENABLE_TRACE_PARAMETERS p = {
		.Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
		.EnableProperty = properties,
	};
	return EnableTraceEx2(s->id, guid, code, level, any, all, 5000, &p);
}

void live_begin(void)
{
	struct live_session s;
	live_init();
	/* A provider that registers before there is an etwd is found by it a little later; most
	 * tests want to know exactly when. */
	live_start(&s, "first", "first.etl", 0);
	live_stop(&s);
}

/* ---- reading --------------------------------------------------------------------------------- */

static live_record_fn record_fn;

static VOID WINAPI on_record(PEVENT_RECORD r)
{
	if (memcmp(&r->EventHeader.ProviderId, &EventTraceGuid, sizeof(GUID)) != 0) {
		record_fn(r, r->UserContext);
	}
}

void live_read(const char *path, live_record_fn fn, void *context)
{
	EVENT_TRACE_LOGFILEA log = {.LogFileName = (LPSTR)(uintptr_t)path, .Context = context};
	log.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD;
	log.EventRecordCallback = on_record;
	record_fn = fn;
	PROCESSTRACE_HANDLE t = OpenTraceA(&log);
	EXPECT(t == INVALID_PROCESSTRACE_HANDLE, 0);
	EXPECT(ProcessTrace(&t, 1, NULL, NULL), ERROR_SUCCESS);
	EXPECT(CloseTrace(t), ERROR_SUCCESS);
}

const EVENT_HEADER_EXTENDED_DATA_ITEM *live_item(PEVENT_RECORD r, USHORT type)
{
	for (USHORT i = 0; i < r->ExtendedDataCount; i++) {
		if (r->ExtendedData[i].ExtType == type) {
			return &r->ExtendedData[i];
		}
	}
	return NULL;
}

uint64_t live_stat(const char *name)
{
	static uint8_t buf[PROTO_MESSAGE_MAX];
	uint8_t mem[16];
	char key[64], text[4096];
	struct proto_writer w;
	struct proto_message m;
	uint32_t status = 1;
	int fd = proto_connect_control(false, NULL);
	EXPECT(fd >= 0, 1);
	proto_begin(&w, mem, sizeof mem, PROTO_STATS, 1);
	EXPECT(proto_call(fd, mem, (size_t)proto_end(&w), buf, sizeof buf, &m, NULL, NULL, &status, 5000), 0);
	close(fd);
	EXPECT(status, 0);
	EXPECT(proto_get_str(&m, PROTO_TAG_TEXT, text, sizeof text), 1);
	snprintf(key, sizeof key, "\"%s\":", name);
	const char *at = strstr(text, key);
	if (!at) {
		printf("no %s in %s\n", key, text);
	}
	EXPECT(at != NULL, 1);
	return strtoull(at + strlen(key), NULL, 10);
}
