/* SPDX-License-Identifier: MIT
 *
 * A record goes to the callbacks: as EVENT_RECORD or as the older EVENT_TRACE.
 */
#include "consume/consume_trace.h"
#include "etw/values/guids.h"

static int64_t time_of(const struct trace *t, const struct etl_record *r)
{
	return (int64_t)(t->raw_time ? r->time_raw : r->time_filetime);
}

static int record_build(struct trace *t, const struct etl_record *r, EVENT_RECORD *ret)
{
	return consume_view_fill(&t->view, r, (uint64_t)time_of(t, r), t->log.w.Context, ret);
}

static int deliver_record(struct trace *t, const struct etl_record *r)
{
	EVENT_RECORD e;
	int err = record_build(t, r, &e);
	if (err < 0) {
		return err;
	}
	t->log.w.EventRecordCallback(&e);
	return 0;
}

/* Set by every process that is linked with us, when it starts: on a page that the loader has written
 * already. */
static consume_learn_fn *learner __attribute__((section(".data")));

void consume_set_learner(consume_learn_fn *fn)
{
	learner = fn;
}

#define MANIFEST_ID    0xFFFEu /* EventSource: a piece of its manifest */
#define METADATA_EVENT 32u     /* TRACE_EVENT_INFO */
#define METADATA_MAP   33u     /* EVENT_MAP_INFO */
#define METADATA_TMF   224u    /* formats of WPP messages: ours (libetw/embed.c) */

static const struct guid metadata_class = GUID_INIT(ETW_GUID_CLASS_EVENT_METADATA);

static bool carries_schema(const struct etl_record *r)
{
	if (!(r->event_flags & EVENT_HEADER_FLAG_CLASSIC_HEADER)) {
		return r->id == MANIFEST_ID;
	}
	return (r->opcode == METADATA_EVENT || r->opcode == METADATA_MAP || r->opcode == METADATA_TMF) &&
	       guid_equal(&r->provider, &metadata_class);
}

void trace_learn(struct trace *t, const struct etl_record *r)
{
	EVENT_RECORD e;
	if (BASE_UNLIKELY(carries_schema(r)) && learner && record_build(t, r, &e) == 0) {
		learner(&e);
	}
}

bool consume_teaches(uint8_t type, const uint8_t *raw)
{
	switch (type) {
	case ETL_RT_EVENT32:
	case ETL_RT_EVENT64: return le16_get(raw + ETL_EH_DESCRIPTOR) == MANIFEST_ID;
	case ETL_RT_FULL32:
	case ETL_RT_FULL64: return memcmp(raw + 0x18, metadata_class.b, sizeof metadata_class.b) == 0;
	default: return false;
	}
}

void consume_teach(const struct etl_record *r)
{
	struct consume_view v = {0};
	EVENT_RECORD e;
	if (learner && carries_schema(r) && consume_view_fill(&v, r, r->time_filetime, NULL, &e) == 0) {
		learner(&e);
	}
	consume_view_free(&v);
}

uint32_t consume_observe(uint64_t handle, consume_observe_fn *fn, void *ctx, struct consume_about *ret)
{
	struct trace *t = trace_lock(handle);
	if (!t) {
		return ERROR_INVALID_HANDLE;
	}
	uint32_t code = t->running ? ERROR_BUSY : ERROR_SUCCESS;
	if (code == ERROR_SUCCESS) {
		t->observe = fn;
		t->observe_ctx = ctx;
		*ret = (struct consume_about){.raw = false};
		if (t->source) {
			*ret = (struct consume_about){
				.raw = t->raw_time,
				.clock = t->source->clock,
				.boot_filetime = t->source->info.boot_filetime,
				.processors = t->source->info.processors,
			};
		}
	}
	trace_unlock();
	return code;
}

static void deliver_classic(struct trace *t, const struct etl_record *r, PEVENT_CALLBACK callback)
{
	EVENT_TRACE e;
	memset(&e, 0, sizeof e);
	e.Header.Size = (USHORT)r->raw_bytes;
	e.Header.HeaderType = r->type;
	e.Header.Class.Type = r->opcode;
	e.Header.Class.Level = r->level;
	e.Header.Class.Version = r->version;
	e.Header.ThreadId = r->tid;
	e.Header.ProcessId = r->pid;
	e.Header.TimeStamp.QuadPart = time_of(t, r);
	memcpy(&e.Header.Guid, &r->provider, sizeof r->provider);
	e.Header.KernelTime = r->kernel_time;
	e.Header.UserTime = r->user_time;
	e.InstanceId = r->instance_id;
	e.ParentInstanceId = r->parent_instance_id;
	memcpy(&e.ParentGuid, &r->parent_guid, sizeof r->parent_guid);
	e.MofData = r->payload_bytes ? (PVOID)(uintptr_t)r->payload : NULL;
	e.MofLength = r->payload_bytes;
	e.BufferContext = consume_context_of(r);
	callback(&e);
}

int trace_deliver(struct trace *t, const struct etl_record *r)
{
	PEVENT_CALLBACK callback;
	if ((r->event_flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) && trace_class_callback(&r->provider, &callback)) {
		deliver_classic(t, r, callback);
	}
	if (t->event_record) {
		return t->log.w.EventRecordCallback ? deliver_record(t, r) : 0;
	}
	if (t->log.w.EventCallback) {
		deliver_classic(t, r, t->log.w.EventCallback);
	}
	return 0;
}
