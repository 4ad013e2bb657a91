/* SPDX-License-Identifier: MIT */
#include "tools/openetw/feed_session.h"

#include "tools/common/session_start.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct feed_session {
	feed_session_fn *fn;
	void *ctx;
	char name[64];
	TRACEHANDLE session, trace;
	pthread_t thread;
	pthread_mutex_t lock; /* held by the viewer, but while it lets events come */
	bool over, closing, broken_off;
	struct kernel_stats last;
};

static void WINAPI on_event(EVENT_RECORD *e)
{
	struct feed_session *f = e->UserContext;
	pthread_mutex_lock(&f->lock);
	if (!f->closing) {
		f->fn(f->ctx, e);
	}
	pthread_mutex_unlock(&f->lock);
}

static void *consume(void *arg)
{
	struct feed_session *f = arg;
	uint32_t code = ProcessTrace(&f->trace, 1, NULL, NULL);
	pthread_mutex_lock(&f->lock);
	f->over = true;
	f->broken_off = code != ERROR_SUCCESS;
	pthread_mutex_unlock(&f->lock);
	return NULL;
}

static uint32_t start(struct feed_session *f, const struct kernel_session *s)
{
	struct etw_session session;
	struct cli_session_run run;
	snprintf(f->name, sizeof f->name, "openetw-watch-%d", (int)getpid());
	session_init(&session);
	snprintf(session.name, sizeof session.name, "%s", f->name);
	session.props.mode = EVENT_TRACE_REAL_TIME_MODE | EVENT_TRACE_SYSTEM_LOGGER_MODE;
	session.props.buffer_kb = 256;
	session.kernel.mask = s->mask;
	for (uint32_t i = 0; i < s->stacks; i++) {
		cli_kernel_add_stack(&session.kernel, s->stack[i]);
	}
	uint32_t code = cli_session_start(&session, &(struct cli_session_how){.ours = true}, &run);
	f->session = run.handle;
	return code;
}

static void stop(struct feed_session *f)
{
	struct cli_props p;
	cli_props_init(&p);
	p.p.LogFileNameOffset = 0;
	ControlTraceA(f->session, NULL, &p.p, EVENT_TRACE_CONTROL_STOP);
}

static bool follow(struct feed_session *f)
{
	EVENT_TRACE_LOGFILEA l;
	memset(&l, 0, sizeof l);
	l.LoggerName = f->name;
	l.ProcessTraceMode =
		PROCESS_TRACE_MODE_REAL_TIME | PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_RAW_TIMESTAMP;
	l.EventRecordCallback = on_event;
	l.Context = f;
	f->trace = OpenTraceA(&l);
	pthread_mutex_lock(&f->lock);
	if (f->trace == INVALID_PROCESSTRACE_HANDLE || pthread_create(&f->thread, NULL, consume, f) != 0) {
		pthread_mutex_unlock(&f->lock);
		return false;
	}
	return true;
}

/* Sets which instance is asked from now on. */
static bool choose(bool system, const char *said)
{
	return (system ? setenv("OPENETW_INSTANCE", "system", 1)
		: said ? setenv("OPENETW_INSTANCE", said, 1)
		       : unsetenv("OPENETW_INSTANCE")) == 0;
}

struct feed_session *feed_session_open(const struct kernel_session *s, feed_session_fn *fn, void *ctx, char *why,
				       size_t cap)
{
	struct feed_session *f = calloc(1, sizeof *f);
	const char *said = getenv("OPENETW_INSTANCE");
	char *own = said ? strdup(said) : NULL;
	if (!f) {
		free(own);
		snprintf(why, cap, "out of memory");
		return NULL;
	}
	pthread_mutex_init(&f->lock, NULL);
	f->fn = fn;
	f->ctx = ctx;
	/* This takes seconds, in which a signal ends us at once; a session whose starter has gone ends as well. */
	cli_signals_restore();
	uint32_t code = start(f, s);
	bool system = said && strcmp(said, "system") == 0;
	if (code != ERROR_SUCCESS && !system) {
		system = choose(true, NULL);
		code = start(f, s);
	}
	cli_signals_catch();
	if (code != ERROR_SUCCESS) {
		const char *text = cli_session_why();
		snprintf(why, cap, "%s", text[0] ? text : "it refuses");
		choose(false, own);
	} else if (!follow(f)) {
		snprintf(why, cap, "the session cannot be read: %s", openetw_last_error_text());
		stop(f);
		code = ERROR_GEN_FAILURE;
	} else {
		cli_kernel_tell("openetw", f->name);
	}
	free(own);
	if (code != ERROR_SUCCESS) {
		pthread_mutex_destroy(&f->lock);
		free(f);
		return NULL;
	}
	return f;
}

void feed_session_let(struct feed_session *f, int timeout_ms)
{
	struct timespec t = {timeout_ms / 1000, timeout_ms % 1000 * 1000000l};
	pthread_mutex_unlock(&f->lock);
	nanosleep(&t, NULL); /* a signal ends it early */
	pthread_mutex_lock(&f->lock);
}

bool feed_session_runs(const struct feed_session *f)
{
	return !f->over;
}

bool feed_session_broken_off(const struct feed_session *f)
{
	return f->over && f->broken_off;
}

void feed_session_stats(struct feed_session *f, struct kernel_stats *ret)
{
	struct openetw_kernel k = {.size = sizeof k};
	struct openetw_loss loss = {.size = sizeof loss};
	if (openetw_session_kernel(f->name, &k) == ERROR_SUCCESS) {
		f->last.cpu_ns = k.cpu_ns;
	}
	if (openetw_session_loss(f->name, &loss) == ERROR_SUCCESS) {
		f->last.lost = loss.pool_full + loss.no_buffer + loss.rejected + loss.realtime_events;
	}
	*ret = f->last;
}

void feed_session_close(struct feed_session *f)
{
	f->closing = true;
	stop(f);
	pthread_mutex_unlock(&f->lock);
	CloseTrace(f->trace);
	pthread_join(f->thread, NULL);
	pthread_mutex_destroy(&f->lock);
	free(f);
}
