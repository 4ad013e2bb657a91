/* SPDX-License-Identifier: MIT */
#include "tools/openetw/feed.h"

#include "tools/openetw/feed_session.h"

#include "format/etl_head.h"
#include "format/kernel_class.h"

#include <stdlib.h>
#include <unistd.h>

#define RECORD_MAX 65536u

#define ANCESTORS_MAX 64 /* a chain of processes that is longer goes round */

struct feed {
	struct kernel *kernel; /* NULL: by `session` */
	struct feed_session *session;
	uint32_t pid[KERNEL_PIDS_MAX], pids; /* to show, where nobody else selects */
	struct openetw_state *state;
	feed_fn *fn;
	void *ctx;
	uint64_t base_ns, base_filetime; /* the same instant */
	uint64_t not_read;               /* records that are none we know, or too long */
	uint8_t record[RECORD_MAX] __attribute__((aligned(8)));
};

/* The engine's own records, taken apart: as they are written, not as they might be. */
static bool take_apart(const struct feed *f, uint32_t bytes, uint16_t cpu, uint64_t time, EVENT_RECORD *e)
{
	const uint8_t *p = f->record;
	const void *class = NULL; /* 16 bytes */
	uint32_t head;
	memset(e, 0, sizeof *e);
	e->EventHeader.HeaderType = p[ETL_HH_TYPE]; /* in the same place in all kinds */
	e->EventHeader.Flags =
		EVENT_HEADER_FLAG_64_BIT_HEADER | EVENT_HEADER_FLAG_CLASSIC_HEADER | EVENT_HEADER_FLAG_PROCESSOR_INDEX;
	e->EventHeader.TimeStamp.QuadPart = (LONGLONG)time;
	e->EventHeader.ThreadId = e->EventHeader.ProcessId = UINT32_MAX;
	e->BufferContext.ProcessorIndex = cpu;
	switch (p[ETL_HH_TYPE]) {
	case ETL_RT_SYSTEM64:
	case ETL_RT_PERFINFO64:
		head = etl_hook_head_bytes(p[ETL_HH_TYPE]);
		class = kernel_class_guid(le16_get(p + ETL_HH_HOOK));
		e->EventHeader.EventDescriptor.Version = p[ETL_HH_VERSION];
		e->EventHeader.EventDescriptor.Opcode = p[ETL_HH_HOOK];
		if (p[ETL_HH_TYPE] == ETL_RT_SYSTEM64) {
			e->EventHeader.ThreadId = le32_get(p + ETL_HH_TID);
			e->EventHeader.ProcessId = le32_get(p + ETL_HH_PID);
		}
		break;
	case ETL_RT_FULL64:
	case ETL_RT_EVENT64:
		head = p[ETL_HH_TYPE] == ETL_RT_FULL64 ? ETL_FULL_HEADER_SIZE : ETL_EVENT_HEADER_SIZE;
		class = p + ETL_EH_PROVIDER; /* of both kinds */
		e->EventHeader.ThreadId = le32_get(p + ETL_EH_TID);
		e->EventHeader.ProcessId = le32_get(p + ETL_EH_PID);
		if (p[ETL_HH_TYPE] == ETL_RT_FULL64) {
			e->EventHeader.EventDescriptor.Opcode = p[ETL_FH_OPCODE];
			e->EventHeader.EventDescriptor.Version = p[ETL_FH_VERSION];
		} else {
			memcpy(&e->EventHeader.EventDescriptor, p + ETL_EH_DESCRIPTOR,
			       sizeof e->EventHeader.EventDescriptor);
			e->EventHeader.Flags &= (USHORT)~EVENT_HEADER_FLAG_CLASSIC_HEADER;
		}
		break;
	default: return false;
	}
	if (guid_is_zero(class) || bytes < head) {
		return false;
	}
	e->EventHeader.Size = (USHORT)bytes;
	memcpy(&e->EventHeader.ProviderId, class, sizeof e->EventHeader.ProviderId);
	e->UserData = bytes > head ? (void *)(uintptr_t)(p + head) : NULL;
	e->UserDataLength = (USHORT)(bytes - head);
	return true;
}

static void on_record(void *ctx, uint64_t sessions, uint16_t cpu, uint64_t time, const void *head, uint32_t head_bytes,
		      const void *body, uint32_t body_bytes)
{
	struct feed *f = ctx;
	EVENT_RECORD e;
	(void)sessions;
	if (head_bytes > sizeof f->record || body_bytes > sizeof f->record - head_bytes) {
		f->not_read++;
		return;
	}
	memcpy(f->record, head, head_bytes);
	if (body_bytes) {
		memcpy(f->record + head_bytes, body, body_bytes);
	}
	if (take_apart(f, head_bytes + body_bytes, cpu, time, &e)) {
		e.UserContext = f->ctx;
		openetw_state_feed(f->state, &e);
		f->fn(f->ctx, &e);
	} else {
		f->not_read++;
	}
}

static void on_lost(void *ctx, uint64_t sessions, uint64_t events)
{
	(void)ctx; /* the engine's statistics have it */
	(void)sessions;
	(void)events;
}

static void on_session_event(void *ctx, EVENT_RECORD *e)
{
	struct feed *f = ctx;
	e->UserContext = f->ctx;
	openetw_state_feed(f->state, e);
	f->fn(f->ctx, e);
}

static bool open_session(struct feed *f, const struct kernel_session *session, const struct diag *d)
{
	char why[512];
	f->kernel = NULL;
	f->session = feed_session_open(session, on_session_event, f, why, sizeof why);
	if (!f->session) {
		fprintf(stderr, "openetw: %s\n", d->text);
		fprintf(stderr,
			"openetw: for your own processes the etwd of all users would do: %s\n"
			"openetw: root runs it ('etwd --system') and lets you use its socket "
			"(chgrp GROUP /run/openetw/control)\n",
			why);
	}
	return f->session != NULL;
}

bool feed_shows(const struct feed *f, uint32_t pid, uint64_t time)
{
	struct openetw_process p = {.size = sizeof p};
	if (f->session && pid == (uint32_t)getpid()) {
		return false; /* what we write would be news to write */
	}
	for (int n = 0; f->pids && n < ANCESTORS_MAX; n++) {
		for (uint32_t i = 0; i < f->pids; i++) {
			if (f->pid[i] == pid) {
				return true;
			}
		}
		if (openetw_state_process(f->state, pid, time, &p) != ERROR_SUCCESS || p.parent_pid == pid) {
			return false;
		}
		pid = p.parent_pid;
		time = p.start_time ? p.start_time : time;
	}
	return f->pids == 0;
}

bool feed_runs(const struct feed *f)
{
	return !f->session || feed_session_runs(f->session);
}

bool feed_broken_off(const struct feed *f)
{
	return f->session && feed_session_broken_off(f->session);
}

static bool given_up(void)
{
	return cli_signal_caught() != 0;
}

struct feed *feed_open(const struct cli_args *a, const struct kernel_session *session, uint32_t interval_us,
		       struct openetw_state *state, feed_fn *fn, void *ctx)
{
	struct feed *f = calloc(1, sizeof *f);
	struct kernel_mask missing = {0};
	struct diag d;
	diag_clear(&d);
	if (!f) {
		cli_fail(a, ERROR_NOT_ENOUGH_MEMORY, "cannot begin");
		return NULL;
	}
	f->state = state;
	f->fn = fn;
	f->ctx = ctx;
	memcpy(f->pid, session->pid, sizeof f->pid);
	f->pids = session->pids;
	f->base_ns = clock_read_system_ns();
	f->base_filetime = clock_filetime();
	struct kernel_engine_options o = {.interval_us = interval_us, .give_up = given_up};
	struct kernel_output out = {.record = on_record, .lost = on_lost, .ctx = f};
	int err = kernel_open(&o, &out, &f->kernel, &d);
	bool right = err != -EACCES && err != -EPERM;
	err = err < 0 ? err : kernel_add(f->kernel, 0, session, &missing, &d);
	if (!right && open_session(f, session, &d)) {
		return f;
	}
	if (err < 0) {
		if (right && err != -EINTR) {
			fprintf(stderr, "openetw: %s\n", d.text[0] ? d.text : strerror(-err));
		}
		if (f->kernel) {
			kernel_close(f->kernel);
		}
		free(f);
		return NULL;
	}
	if (!kernel_mask_empty(&missing)) {
		char names[512];
		kernel_mask_names(&missing, names, sizeof names);
		fprintf(stderr, "openetw: not to be had here: %s%s%s\n", names, d.text[0] ? ": " : "", d.text);
	}
	return f;
}

void feed_poll(struct feed *f, int timeout_ms)
{
	if (f->session) {
		feed_session_let(f->session, timeout_ms);
	} else {
		kernel_poll(f->kernel, timeout_ms);
	}
}

void feed_stats(struct feed *f, struct kernel_stats *ret)
{
	if (f->session) {
		feed_session_stats(f->session, ret);
	} else {
		kernel_engine_stats(f->kernel, ret);
		ret->lost += f->not_read;
	}
}

uint64_t feed_not_read(const struct feed *f)
{
	return f->not_read;
}

uint64_t feed_filetime(const struct feed *f, uint64_t time_ns)
{
	int64_t since = (int64_t)(time_ns - f->base_ns);
	return f->base_filetime + (uint64_t)(since / 100);
}

void feed_close(struct feed *f)
{
	if (f && f->session) {
		feed_session_close(f->session);
	} else if (f) {
		kernel_close(f->kernel);
	}
	free(f);
}
