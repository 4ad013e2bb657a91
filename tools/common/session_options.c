/* SPDX-License-Identifier: MIT
 * What the session verbs share: property blocks, filters on the command line, totals.
 */
#include "tools/common/session_options.h"
#include "tools/common/program.h"
#include "tools/common/cli.h"
#include "tools/common/mode_names.h"
#include "base/parse.h"

#include "filter/filter_parse.h"
#include "schema/schema_filter.h"
#include "format/kernel_mask.h"

#include <limits.h>
#include <openetw/decode.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

void cli_props_init(struct cli_props *p)
{
	memset(p, 0, sizeof *p);
	p->p.Wnode.BufferSize = sizeof *p;
	p->p.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
	p->p.Wnode.ClientContext = 1;
	p->p.LoggerNameOffset = offsetof(struct cli_props, name);
	p->p.LogFileNameOffset = offsetof(struct cli_props, file);
}

uint32_t cli_session_query(const char *name, struct cli_props *ret)
{
	cli_props_init(ret);
	return ControlTraceA(0, name, &ret->p, EVENT_TRACE_CONTROL_QUERY);
}

bool cli_provider_guid(const char *text, GUID *ret)
{
	return openetw_provider_guid(text, (struct openetw_guid *)ret) == ERROR_SUCCESS;
}

bool cli_provider_installed(const char *name, struct guid *ret)
{
	/* The library says what a name means, the computed GUID included, which is right here too. */
	return openetw_provider_guid(name, (struct openetw_guid *)ret) == ERROR_SUCCESS;
}

const struct session_manifests cli_manifests = {cli_provider_installed, schema_filter_manifest};

void cli_provider_of_command(const char *word)
{
	char path[PATH_MAX];
	if (cli_program_find(word, path) == 0) {
		(void)openetw_schema_load_file(path); /* a script: no names then */
	}
}

const char *cli_filter_option(enum session_filter kind)
{
	static const char *const names[SESSION_FILTER_COUNT] = {
		[SESSION_FILTER_EXE] = "exe",
		[SESSION_FILTER_EVENT_ID] = "event-id",
		[SESSION_FILTER_EVENT_NAME] = "event-name",
		[SESSION_FILTER_STACK_ID] = "stack-id",
		[SESSION_FILTER_STACK_NAME] = "stack-name",
		[SESSION_FILTER_STACK_LEVEL] = "stack-level",
		[SESSION_FILTER_CONTAINER] = "container",
		[SESSION_FILTER_PID] = "pid",
	};
	return names[kind];
}

bool cli_filter_set(const struct cli_args *a, const struct cli_enable_options *o, enum session_filter kind,
		    struct session_provider *p)
{
	const struct cli_words *w = &o->filter[kind];
	struct strbuf text = {0};
	struct diag d = {0};
	if (w->count == 0) {
		return true;
	}
	/* Of processes several may be given; the others stand once. */
	for (int i = kind == SESSION_FILTER_PID ? 0 : BASE_MAX(w->count - 1, 0); i < w->count; i++) {
		strbuf_adds(&text, text.len ? "," : "");
		strbuf_adds(&text, w->text[i]);
	}
	int r = text.failed ? -ENOMEM : session_set_filter(p, kind, text.s ? text.s : "", &d);
	if (r < 0) {
		cli_usage(a, "--%s %s", cli_filter_option(kind),
			  d.text[0] ? d.text : "needs more memory than there is");
	}
	strbuf_finish(&text);
	return r == 0;
}

void cli_provider_tell(const GUID *g, const char *name)
{
	uint32_t registrations = 1;
	char guid[37];
	struct guid plain;
	if (name && (*name == '*' || *name == '#')) {
		name++;
	}
	if (name && guid_parse(name, &plain) == 0) {
		name = NULL;
	}
	memcpy(&plain, g, sizeof plain);
	if (kernel_provider_name(&plain)) { /* a system provider: no process registers it */
		return;
	}
	if (openetw_name_provider((const struct openetw_guid *)g, name, &registrations) == ERROR_SUCCESS &&
	    registrations == 0) {
		cli_guid_text(g, guid);
		fprintf(stderr,
			"note: no process has registered %s {%s} yet; it is recorded as soon as one "
			"does. 'openetw providers' lists who is there\n",
			name && *name ? name : "provider", guid);
	}
}

void cli_guid_text(const GUID *g, char out[37])
{
	struct guid b;
	memcpy(b.b, g, 16);
	guid_format(&b, out);
}

void cli_mode_text(uint32_t mode, char *out, size_t cap)
{
	struct strbuf b = {0};
	mode_names_add(&b, MODE_NAMES_OPENETW, mode, ",");
	snprintf(out, cap, "%s", b.len ? b.s : "file");
	strbuf_finish(&b);
}

void cli_size_text(uint64_t bytes, char *out, size_t cap)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	double v = (double)bytes;
	size_t u = 0;
	while (v >= 1024 && u + 1 < BASE_ARRAY_LEN(units)) {
		v /= 1024;
		u++;
	}
	snprintf(out, cap, u ? "%.1f %s" : "%.0f %s", v, units[u]);
}

void cli_place_tell(const struct cli_args *a)
{
	char path[512], note[256];
	if (openetw_etwd_place(path, sizeof path, note, sizeof note) == ERROR_SUCCESS && note[0]) {
		fprintf(stderr, "openetw %s: %s, so etwd is in %s\n", a->command->name, note, path);
	}
}

const char *cli_file_state(const struct openetw_loss *loss)
{
	static const char *const states[] = {"", "moved", "truncated", "removed", "replaced"};
	return loss->file_state < BASE_ARRAY_LEN(states) ? states[loss->file_state] : "changed";
}

void cli_file_state_text(const struct openetw_loss *loss, char *out, size_t cap)
{
	char time[TIME_TEXT_SIZE], lost[160] = "";
	out[0] = 0;
	if (loss->file_state == OPENETW_FILE_FINE) {
		return;
	}
	format_time(loss->file_time, false, time);
	if (loss->gone_events || loss->gone_buffers) {
		snprintf(lost, sizeof lost, "; %llu event%s (%llu buffer%s) %s not in it",
			 (unsigned long long)loss->gone_events, PLURAL(loss->gone_events),
			 (unsigned long long)loss->gone_buffers, PLURAL(loss->gone_buffers),
			 loss->gone_events == 1 ? "is" : "are");
	}
	snprintf(out, cap, "the log file was %s at %s%s%s", cli_file_state(loss), time,
		 loss->file_state == OPENETW_FILE_MOVED ? "; the events are in it under its new name" : "", lost);
}

void cli_print_totals(FILE *f, const EVENT_TRACE_PROPERTIES *p, const struct openetw_loss *loss)
{
	if (loss) {
		char size[32];
		cli_size_text(loss->bytes_written, size, sizeof size);
		fprintf(f, "%llu event%s, %s written, %u buffer%s\n", (unsigned long long)loss->events,
			PLURAL(loss->events), size, p->BuffersWritten, PLURAL(p->BuffersWritten));
	} else {
		fprintf(f, "%u buffer%s written\n", p->BuffersWritten, PLURAL(p->BuffersWritten));
	}
	fprintf(f, "lost: %u event%s, %u file buffer%s, %u real-time buffer%s\n", p->EventsLost, PLURAL(p->EventsLost),
		p->LogBuffersLost, PLURAL(p->LogBuffersLost), p->RealTimeBuffersLost, PLURAL(p->RealTimeBuffersLost));
	if (!loss) {
		return;
	}
	const struct {
		const char *why;
		uint64_t n;
	} rows[] = {
		{"the provider wrote faster than etwd drained its pool", loss->pool_full},
		{"writes nested too deeply in signal handlers", loss->nesting},
		{"larger than 64 KiB", loss->too_big},
		{"while the process was not attached to etwd", loss->detached},
		{"malformed records of a broken process", loss->rejected},
		{"no free session buffer (raise --buffers or --buffer-size)", loss->no_buffer},
		{"the file system refused the data", loss->disk_events},
		{"half written when their process died", loss->torn},
	};
	for (size_t i = 0; i < BASE_ARRAY_LEN(rows); i++) {
		if (rows[i].n) {
			fprintf(f, "  %llu %s\n", (unsigned long long)rows[i].n, rows[i].why);
		}
	}
	char state[400];
	cli_file_state_text(loss, state, sizeof state);
	if (state[0]) {
		fprintf(f, "  %s\n", state);
	}
	if (loss->overwritten) {
		fprintf(f, "  (%llu events overwritten, as this mode intends)\n",
			(unsigned long long)loss->overwritten);
	}
}

/* ---- signals
 * --------------------------------------------------------------------------------------- */

/* Atomic, not sig_atomic_t: one thread takes the signal, every thread of openetw view asks. The number orders nothing else. */
static atomic_int caught;
static struct sigaction before[3];
static const int ending[3] = {SIGINT, SIGTERM, SIGHUP};

static void on_ending(int sig)
{
	atomic_store_explicit(&caught, sig, memory_order_relaxed);
}

void cli_signals_catch(void)
{
	struct sigaction sa = {.sa_handler = on_ending};
	atomic_store_explicit(&caught, 0, memory_order_relaxed);
	for (int i = 0; i < 3; i++) {
		sigaction(ending[i], NULL, &before[i]);
		if (ending[i] != SIGHUP || before[i].sa_handler != SIG_IGN) { /* nohup means it */
			sigaction(ending[i], &sa, NULL);
		}
	}
}

void cli_signals_restore(void)
{
	for (int i = 0; i < 3; i++) {
		sigaction(ending[i], &before[i], NULL);
	}
}

int cli_signal_caught(void)
{
	return atomic_load_explicit(&caught, memory_order_relaxed);
}

static atomic_int interrupted;

void cli_interrupt(int sig)
{
	atomic_store_explicit(&interrupted, sig, memory_order_relaxed);
}

int cli_interrupted(void)
{
	return atomic_load_explicit(&interrupted, memory_order_relaxed);
}

void cli_child_signals(void)
{
	for (int i = 0; i < 3; i++) {
		sigaction(ending[i], &before[i], NULL);
	}
	signal(SIGPIPE, SIG_DFL);
}
