/* SPDX-License-Identifier: MIT
 * monitor: what processes do to files, to the network and to each other, line by line as it happens.
 */
#include "tools/common/select.h"
#include "tools/openetw/monitor.h"
#include "tools/openetw/keyboard.h"
#include "tools/openetw/screen.h"
#include "tools/common/filter_option.h"
#include "tools/common/trace_reading.h"
#include "base/parse.h"

#include <stdlib.h>
#include <unistd.h>

#define POLL_MS 20
#define WIDE    110u /* columns of a terminal that holds all of ours */
#define WIDEST  130u
#define NARROW  70u

struct monitor_options {
	const char *show, *filter, *columns;
	struct cli_words process, path, op;
	struct cli_numbers pid;
	uint64_t duration_ns, limit;
	bool errors, json, utc;
};
static const struct cli_option options[] = {
	CLI_WORD(monitor_options, show, 0, "show", "KINDS",
		 "of process, image, file, net, disk, fault, with commas (default process,file,net)"),
	CLI_WORD(monitor_options, filter, 'F', "filter", "EXPR",
		 "only lines for which EXPR is true, such as 'process == cc1 and path ~ \".h\"'"),
	CLI_WORDS(monitor_options, process, 0, "process", "NAME",
		  "only processes of this name or pattern (repeatable)"),
	CLI_NUMBERS(monitor_options, pid, 0, "pid", "PID", 0, UINT64_MAX, KERNEL_PIDS_MAX,
		    "only this process and its children (repeatable, up to 8)"),
	CLI_WORDS(monitor_options, path, 0, "path", "PATTERN",
		  "only paths and addresses that hold this, or match this pattern (repeatable)"),
	CLI_WORDS(monitor_options, op, 0, "op", "PATTERN", "only operations such as FileRead or Tcp* (repeatable)"),
	CLI_FLAG(monitor_options, errors, 0, "errors", "only operations that failed"),
	CLI_WORD(monitor_options, columns, 0, "columns", "NAMES",
		 "of time, process, pid, tid, thread (its name), op, path, result, bytes, duration, detail, local, "
		 "remote (default: what the terminal holds)"),
	CLI_SECONDS(monitor_options, duration_ns, 'd', "duration", 0, UINT64_MAX / 2,
		    "stop after this long (default: Ctrl-C)"),
	CLI_NUMBER(monitor_options, limit, 'n', "limit", "N", 1, UINT64_MAX / 2, "stop after N lines"),
	CLI_FLAG(monitor_options, json, 'j', "json", "one JSON object a line"),
	CLI_FLAG(monitor_options, utc, 0, "utc", "times in UTC"),
	{0},
};

const char *const monitor_names[COL_COUNT + 1] = {"time",   "process", "pid",      "tid",    "thread", "op",     "path",
						  "result", "bytes",   "duration", "detail", "local",  "remote", NULL};
static const struct {
	const char *title;
	int width; /* negative: to the left; 0: as it comes */
	bool number;
} columns[COL_COUNT] = {
	{"TIME", -15, false},   {"PROCESS", -16, false},   {"PID", 7, true},     {"TID", 7, true},
	{"THREAD", -15, false}, {"OPERATION", -15, false}, {"PATH", -48, false}, {"RESULT", -14, false},
	{"BYTES", 9, true},     {"MS", 9, false},          {"DETAIL", 0, false}, {"LOCAL", -21, false},
	{"REMOTE", -21, false},
};

/* ---- values ----------------------------------------------------------------------------------- */

const char *monitor_error_name(uint32_t status)
{
	/* As people who watch Windows know them. */
	static const struct {
		uint32_t status;
		const char *name;
	} names[] = {
		{0x80000006, "NO MORE FILES"},
		{0xC0000008, "INVALID HANDLE"},
		{0xC000000D, "INVALID PARAMETER"},
		{0xC0000011, "END OF FILE"},
		{0xC0000022, "ACCESS DENIED"},
		{0xC0000034, "NAME NOT FOUND"},
		{0xC0000035, "NAME COLLISION"},
		{0xC000003A, "PATH NOT FOUND"},
		{0xC0000043, "SHARING VIOLATION"},
		{0xC000007F, "DISK FULL"},
		{0xC00000A2, "WRITE PROTECTED"},
		{0xC00000BA, "IS DIRECTORY"},
		{0xC00000BB, "NOT SUPPORTED"},
		{0xC00000D4, "NOT SAME DEVICE"},
		{0xC0000101, "NOT EMPTY"},
		{0xC0000103, "NOT A DIRECTORY"},
		{0xC000011F, "TOO MANY OPENED FILES"},
		{0xC0000120, "CANCELLED"},
		{0xC00000B5, "IO TIMEOUT"},
		{0xC0000236, "CONNECTION REFUSED"},
		{0xC000020D, "CONNECTION RESET"},
		{0xC000023C, "NETWORK UNREACHABLE"},
		{0xC000023D, "HOST UNREACHABLE"},
		{0xC0000241, "CONNECTION ABORTED"},
		{0xC000020A, "ADDRESS ALREADY EXISTS"},
		{0xC0000141, "INVALID ADDRESS"},
		{0xC000009A, "INSUFFICIENT RESOURCES"},
		{0xC0000010, "INVALID DEVICE REQUEST"},
		{0xC0000002, "NOT IMPLEMENTED"},
		{0xC0000052, "NO EAS ON FILE"},
		{0xC0000023, "BUFFER TOO SMALL"},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(names); i++) {
		if (names[i].status == status) {
			return names[i].name;
		}
	}
	/* Errors of Linux as the kernel gave them; whatever else is negative is an NTSTATUS. */
	int error = -(int)status;
	return error > 0 && error < 4096 ? strerrorname_np(error) : NULL;
}

static void detail(const struct line *l, char *out, size_t cap)
{
	const struct kevent *k = &l->k;
	out[0] = 0;
	switch (k->kind) {
	case KEVENT_FILE:
		if (k->op == KOP_READ || k->op == KOP_WRITE) {
			snprintf(out, cap, "offset %llu length %llu", (unsigned long long)k->offset,
				 (unsigned long long)k->asked);
		} else if (k->op == KOP_RENAME && l->to[0]) {
			snprintf(out, cap, "to %s", l->to);
		}
		break;
	case KEVENT_DISK: snprintf(out, cap, "disk %u offset %llu", k->disk, (unsigned long long)k->offset); break;
	case KEVENT_FAULT:
	case KEVENT_IMAGE: snprintf(out, cap, "at 0x%llx", (unsigned long long)k->address); break;
	default: break;
	}
}

/* The text of a column, in m->text or elsewhere; "" when it has none. */
static const char *text_of(struct monitor *m, const struct line *l, enum column c)
{
	const struct kevent *k = &l->k;
	const char *name;
	char clock[TIME_TEXT_SIZE];
	m->text[0] = 0;
	switch (c) {
	case COL_TIME:
		format_time(feed_filetime(m->feed, k->time), !m->utc, clock);
		if (m->json) {
			snprintf(m->text, sizeof m->text, "%s", clock);
		} else { /* the day is known */
			const char *t = strchr(clock, 'T');
			snprintf(m->text, sizeof m->text, "%.15s", t ? t + 1 : clock);
		}
		break;
	case COL_PROCESS: return l->process;
	case COL_PID:
		snprintf(m->text, sizeof m->text, "%u", k->kind == KEVENT_PROCESS ? k->subject_pid : k->pid);
		break;
	case COL_TID:
		if (k->tid != OPENETW_UNKNOWN_ID) {
			snprintf(m->text, sizeof m->text, "%u", k->tid);
		}
		break;
	case COL_THREAD: return l->thread;
	case COL_OP: return k->name;
	case COL_PATH: return l->path;
	case COL_RESULT:
		if (l->has_result) {
			name = monitor_error_name(l->status);
			if ((int32_t)l->status >= 0) {
				return "OK";
			}
			if (name) {
				return name;
			}
			snprintf(m->text, sizeof m->text, "0x%08x", l->status);
		}
		break;
	case COL_BYTES:
		if (k->bytes) {
			snprintf(m->text, sizeof m->text, "%llu", (unsigned long long)k->bytes);
		}
		break;
	case COL_DURATION:
		if (l->took_ns) {
			snprintf(m->text, sizeof m->text, "%.3f", (double)l->took_ns / 1e6);
		}
		break;
	case COL_DETAIL: detail(l, m->text, sizeof m->text); break;
	case COL_LOCAL: return k->local;
	case COL_REMOTE: return k->remote;
	default: break;
	}
	return m->text;
}

static bool lookup(void *ctx, const char *name, bool payload, struct filter_expr_value *ret)
{
	struct monitor *m = ctx;
	const struct line *l = m->asked;
	int c = 0;
	(void)payload;
	while (c < COL_COUNT && strcmp(monitor_names[c], name) != 0) {
		c++;
	}
	const char *text = c < COL_COUNT ? text_of(m, l, (enum column)c) : "";
	*ret = (struct filter_expr_value){.text = text, .length = strlen(text)};
	if (!text[0]) {
		return false;
	}
	if (c == COL_TIME || c == COL_DURATION) { /* shown in a unit of its own */
		ret->is_number = true;
		ret->number = c == COL_TIME ? feed_filetime(m->feed, l->k.time) : l->took_ns;
	} else if (columns[c].number) {
		ret->is_number = true;
		ret->number = strtoull(text, NULL, 10);
	}
	return true;
}

static bool any_match(const struct cli_words *patterns, const char *text)
{
	for (int i = 0; i < patterns->count; i++) {
		if (filter_expr_pattern(patterns->text[i], text, strlen(text))) {
			return true;
		}
	}
	return patterns->count == 0;
}

bool monitor_wants_process(const struct monitor *m, const struct line *l)
{
	return any_match(&m->o->process, l->process);
}

static bool wanted(struct monitor *m, const struct line *l)
{
	if (m->errors && !(l->has_result && (int32_t)l->status < 0)) {
		return false;
	}
	bool path = any_match(&m->o->path, l->path) || (l->to[0] && any_match(&m->o->path, l->to));
	if (!path || !monitor_wants_process(m, l) || !any_match(&m->o->op, l->k.name)) {
		return false;
	}
	m->asked = l;
	return !m->filter || filter_expr_match(m->filter, lookup, m);
}

/* ---- lines ------------------------------------------------------------------------------------ */

static void add_json(struct monitor *m, const struct line *l)
{
	bool first = true;
	strbuf_addc(&m->out, '{');
	for (unsigned i = 0; i < m->column_count; i++) {
		const char *text = text_of(m, l, m->column[i]);
		if (text[0]) {
			strbuf_addf(&m->out, "%s\"%s\":", first ? "" : ",", monitor_names[m->column[i]]);
			if (columns[m->column[i]].number || m->column[i] == COL_DURATION) {
				strbuf_adds(&m->out, text);
			} else {
				strbuf_add_json(&m->out, text, strlen(text));
			}
			first = false;
		}
	}
	strbuf_adds(&m->out, "}\n");
}

/* On a terminal a line is a line: of a path that is too long the end is shown, which tells more. */
static void add_last(struct monitor *m, const char *text, unsigned columns)
{
	struct strbuf whole = {0};
	strbuf_addf(&whole, "%s", text);
	text = whole.s ? whole.s : "";
	size_t n = whole.len, used = m->out.len;
	unsigned left = 0;
	for (size_t i = 0; i < used; i++) {
		left += ((unsigned char)m->out.s[i] & 0xC0) != 0x80;
	}
	left = columns > left ? columns - left : 0;
	if (columns == 0 || cli_screen_fit(text, n, left) == n) {
		strbuf_adds(&m->out, text);
	} else if (left > 1) {
		strbuf_adds(&m->out, "…");
		strbuf_adds(&m->out, text + cli_screen_fit_end(text, n, left - 1));
	}
	strbuf_finish(&whole);
}

static void add_text(struct monitor *m, const struct line *l)
{
	unsigned width_of_all = cli_screen_now().columns;
	for (unsigned i = 0; i < m->column_count; i++) {
		const char *text = text_of(m, l, m->column[i]);
		strbuf_adds(&m->out, i ? " " : "");
		if (i + 1 == m->column_count) {
			add_last(m, text, width_of_all);
		} else {
			int width = columns[m->column[i]].width;
			if (width_of_all && width < 0) {
				strbuf_add_fitted(&m->out, text, strlen(text), (unsigned)-width);
			} else { /* whole where nobody looks at columns */
				strbuf_add_column(&m->out, text, strlen(text), width);
			}
		}
	}
	if (width_of_all) {
		m->out.len = cli_screen_fit(m->out.s, m->out.len, width_of_all);
		m->out.s[m->out.len] = 0;
	}
	while (m->out.len && m->out.s[m->out.len - 1] == ' ') {
		m->out.s[--m->out.len] = 0;
	}
	strbuf_addc(&m->out, '\n');
}

void monitor_print(struct monitor *m, const struct line *l)
{
	if (m->done || !wanted(m, l)) {
		return;
	}
	strbuf_clear(&m->out);
	if (m->json) {
		add_json(m, l);
	} else {
		add_text(m, l);
	}
	fwrite(m->out.s, 1, m->out.len, stdout);
	m->lines++;
	m->done = (m->limit && m->lines >= m->limit) || ferror(stdout);
}

static void print_title(struct monitor *m)
{
	strbuf_clear(&m->out);
	for (unsigned i = 0; i < m->column_count; i++) {
		int width = i + 1 == m->column_count ? 0 : columns[m->column[i]].width;
		strbuf_addf(&m->out, "%s%*s", i ? " " : "", width, columns[m->column[i]].title);
	}
	unsigned width = cli_screen_now().columns;
	printf("%.*s\n", (int)(width ? BASE_MIN((size_t)width, m->out.len) : m->out.len), m->out.s);
}

/* ---- the verb --------------------------------------------------------------------------------- */

static const char *column_at(const void *ctx, int i)
{
	return i < COL_COUNT ? monitor_names[i] : NULL;
}

static bool take_columns(struct monitor *m)
{
	unsigned width = cli_screen_now().columns;
	const char *list = m->o->columns ? m->o->columns
			   : m->json ? "time,process,pid,tid,thread,op,path,result,bytes,duration,detail,local,remote"
			   : width >= WIDEST             ? "time,process,pid,thread,op,result,bytes,duration,path"
			   : width == 0 || width >= WIDE ? "time,process,pid,op,result,bytes,duration,path"
			   : width >= NARROW             ? "process,pid,op,result,path"
							 : "process,op,path";
	for (const char *p = list; *p;) {
		size_t n = strcspn(p, ",");
		int c = 0;
		while (c < COL_COUNT && (strlen(monitor_names[c]) != n || strncmp(monitor_names[c], p, n) != 0)) {
			c++;
		}
		if (c == COL_COUNT || m->column_count == MONITOR_COLUMNS_MAX) {
			char word[64];
			snprintf(word, sizeof word, "%.*s", (int)n, p);
			const char *near = cli_nearest(word, column_at, NULL);
			cli_usage(m->args,
				  near ? "there is no column '%s'; did you mean '%s'?" : "there is no column '%s'",
				  word, near);
			return false;
		}
		m->column[m->column_count++] = (enum column)c;
		p += n + (p[n] == ',');
	}
	return m->column_count > 0;
}

static bool take_kinds(struct monitor *m, struct kernel_mask *mask)
{
	static const struct {
		const char *name;
		unsigned kinds;
		uint32_t bits, more;
	} kinds[] = {
		{"process", 1u << KEVENT_PROCESS, 0, 0},
		{"image", 1u << KEVENT_IMAGE, 0, 0},
		{"file", 1u << KEVENT_FILE, KERNEL_BIT_FILE_IO | KERNEL_BIT_FILE_IO_INIT | KERNEL_BIT_FILENAME, 0},
		{"net", 1u << KEVENT_NET, KERNEL_BIT_NETWORK, 0},
		{"disk", 1u << KEVENT_DISK, KERNEL_BIT_DISK_IO | KERNEL_BIT_FILENAME, 0},
		{"fault", 1u << KEVENT_FAULT, KERNEL_BIT_HARD_FAULTS | KERNEL_BIT_FILENAME, 0},
	};
	const char *list = m->o->show;
	kernel_mask_set(mask, KERNEL_BIT_PROCESS | KERNEL_BIT_THREAD | KERNEL_BIT_LOADER | KERNEL_BIT_NO_SYSCONFIG);
	for (const char *p = list; *p;) {
		size_t n = strcspn(p, ","), i = 0;
		while (i < BASE_ARRAY_LEN(kinds) && (strlen(kinds[i].name) != n || strncmp(kinds[i].name, p, n) != 0)) {
			i++;
		}
		if (i == BASE_ARRAY_LEN(kinds)) {
			cli_usage(m->args, "--show takes process, image, file, net, disk and fault, not '%.*s'", (int)n,
				  p);
			return false;
		}
		m->kinds |= kinds[i].kinds;
		if (kinds[i].bits) {
			kernel_mask_set(mask, kinds[i].bits);
		}
		p += n + (p[n] == ',');
	}
	return m->kinds != 0;
}

/* As kernel_event.c has them; tests/cli/absent.sh compares. */
static const char *const operations[] = {
	"ProcessStart",   "ProcessEnd",      "ImageLoad",       "ImageUnload", "MapFile",
	"UnmapFile",      "FileCreate",      "FileCleanup",     "FileClose",   "FileRead",
	"FileWrite",      "FileSetInfo",     "FileDelete",      "FileRename",  "FileDirEnum",
	"FileFlush",      "FileQueryInfo",   "FileControl",     "FileOpEnd",   "FileDirNotify",
	"FileDeletePath", "FileRenamePath",  "FileSetLink",     "DiskRead",    "DiskWrite",
	"DiskFlush",      "TcpSend",         "TcpReceive",      "TcpConnect",  "TcpDisconnect",
	"TcpRetransmit",  "TcpAccept",       "TcpReconnect",    "TcpFail",     "UdpSend",
	"UdpReceive",     "TransitionFault", "DemandZeroFault", "CopyOnWrite", "GuardPageFault",
	"HardPageFault",  "AccessViolation", "HardFault",       NULL};

static const char *operation_at(const void *ctx, int i)
{
	return operations[i];
}

/* What no line will ever have is told at once: nobody sees why nothing comes. */
static bool check_names(const struct monitor *m)
{
	const char *v, *near;
	for (int i = 0; i < m->o->op.count; i++) {
		int k = 0;
		v = m->o->op.text[i];
		while (operations[k] && !filter_expr_pattern(v, operations[k], strlen(operations[k]))) {
			k++;
		}
		if (!operations[k]) {
			near = cli_nearest(v, operation_at, NULL);
			cli_usage(m->args,
				  near ? "there is no operation '%s'; did you mean '%s'?"
				       : "there is no operation '%s', such as FileRead, TcpConnect or ProcessStart",
				  v, near);
			return false;
		}
	}
	return true;
}

static int watch(struct monitor *m, uint64_t duration_ns)
{
	uint64_t began = clock_read_system_ns();
	struct kernel_stats before, s;
	feed_stats(m->feed, &before); /* with what the start cost */
	m->live = true;
	if (m->filter) {
		uint64_t now = clock_filetime();
		filter_expr_set_start(m->filter, now, m->utc ? 0 : cli_ahead_of_utc(now));
	}
	if (!m->json) {
		print_title(m);
	}
	fflush(stdout);
	cli_keys_begin();
	while (!cli_signal_caught() && !cli_keys_quit() && !m->done && feed_runs(m->feed)) {
		uint64_t now = clock_read_system_ns();
		if (duration_ns && now - began >= duration_ns) {
			break;
		}
		feed_poll(m->feed, POLL_MS);
		monitor_release(m, clock_read_system_ns());
		if (fflush(stdout) != 0) {
			break;
		}
	}
	cli_keys_end();
	monitor_release(m, UINT64_MAX);
	fflush(stdout);
	if (cli_signal_caught() && (duration_ns || m->limit)) { /* else that is how it ends */
		cli_interrupt(cli_signal_caught());
	}
	feed_stats(m->feed, &s);
	fprintf(stderr, "%llu line%s; ", (unsigned long long)m->lines, PLURAL(m->lines));
	bool broken_off = feed_broken_off(m->feed);
	if (m->not_shown) {
		fprintf(stderr, "%llu NOT SHOWN for want of memory; ", (unsigned long long)m->not_shown);
	}
	if (m->early) {
		fprintf(stderr, "%llu shown WITHOUT THEIR RESULTS, too many waited; ", (unsigned long long)m->early);
	}
	uint64_t not_read = feed_not_read(m->feed);
	if (not_read) {
		fprintf(stderr, "%llu records NOT READ, too long or of no known kind; ", (unsigned long long)not_read);
	}
	if (s.lost > not_read) {
		fprintf(stderr, "LOST %llu events in full kernel rings; ", (unsigned long long)(s.lost - not_read));
	} else if (!not_read && !broken_off) {
		fprintf(stderr, "nothing was lost; ");
	}
	if (broken_off) {
		fprintf(stderr, "the trace session ended unexpectedly, what was lost is not known; ");
	}
	fprintf(stderr, "this took %.1f %% of a processor\n",
		100.0 * (double)(s.cpu_ns - before.cpu_ns) / (double)(clock_read_system_ns() - began));
	if (broken_off) {
		return CLI_FAILED;
	}
	bool asked = m->filter || m->errors || m->o->process.count || m->o->path.count || m->o->op.count;
	if (filter_expr_given_up(m->filter)) {
		fprintf(stderr, "openetw monitor: ");
		cli_filter_given_up(m->filter);
		return CLI_FAILED;
	}
	if (m->lines == 0 && asked && !cli_interrupted()) {
		fprintf(stderr, "openetw monitor: nothing that happened fits what is asked for\n");
		return cli_signal_caught() ? CLI_OK : CLI_FAILED;
	}
	return CLI_OK;
}

static int run(struct cli_args *a)
{
	const struct monitor_options *o = a->given;
	struct monitor *m = calloc(1, sizeof *m);
	struct kernel_session session = {.children = true};
	int status = CLI_USAGE;
	if (!m) {
		return cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "cannot begin");
	}
	m->args = a;
	m->o = o;
	m->json = o->json;
	m->utc = o->utc;
	m->errors = o->errors;
	m->limit = o->limit;
	if (a->count) {
		cli_usage(a, "no words are expected, such as '%s'", a->words[0]);
		goto out;
	}
	if (!take_columns(m) || !take_kinds(m, &session.mask) ||
	    !cli_filter_expr(a, o->filter, monitor_names, &m->filter) || !check_names(m)) {
		goto out;
	}
	for (int i = 0; i < o->pid.count; i++) {
		if (!cli_process_exists(a, o->pid.number[i])) {
			status = CLI_FAILED;
			goto out;
		}
		session.pid[session.pids++] = (uint32_t)o->pid.number[i];
	}
	m->state = openetw_state_create(0);
	cli_signals_catch();
	m->feed = m->state ? feed_open(a, &session, 1000, m->state, monitor_event, m) : NULL;
	if (m->feed) {
		status = watch(m, o->duration_ns);
	} else if (cli_signal_caught()) {
		fprintf(stderr, "openetw monitor: interrupted before it began\n");
		status = 128 + cli_signal_caught();
	} else {
		status = CLI_FAILED;
	}
	feed_close(m->feed);
	cli_signals_restore();
out:
	cli_state_end(m->state);
	filter_expr_destroy(m->filter);
	strbuf_finish(&m->out);
	free(m);
	return status;
}

const struct cli_command cli_monitor = {
	.name = "monitor",
	.synopsis = "[--show KINDS] [--process NAME] [--path PATTERN] [--filter EXPR] [options]",
	.summary = "What processes do to files, the network and each other, as it happens.",
	.details =
		"One line for each operation, when its result is known. Columns are also the names that --filter "
		"knows\n"
		"(the language is that of 'openetw help dump'). BYTES are those that were read or written, not those "
		"asked\n"
		"for. On a terminal the key q ends it, as Ctrl-C does. Takes root, or CAP_PERFMON and CAP_BPF; others "
		"see their\n"
		"own processes where root runs the etwd of all users and lets them use its socket. What this kernel\n"
		"cannot say is named at the start, what was lost at the end.\n\n"
		"Examples:\n"
		"  openetw monitor --process nginx --show file,net\n"
		"  openetw monitor --errors --op 'File*' --columns time,process,op,result,path\n"
		"  openetw monitor --filter 'op == FileWrite and bytes > 64K and duration > 10ms'\n"
		"  openetw monitor --json -d 10s | jq -r 'select(.path) | .path' | sort | uniq -c | sort -n\n",
	.options = options,
	CLI_INTO(monitor_options),
	.defaults = &(const struct monitor_options){.show = "process,file,net"},
	.run = run,
};
