/* SPDX-License-Identifier: MIT */
#include "control/control_private.h"
#include "inproc/inproc.h"

#include <stdio.h>

bool control_private_knows(uint64_t id)
{
	struct sink_stats stats;
	struct sink_options options;
	uint64_t found;
	return id != 0 && inproc_query(id, NULL, NULL, &stats, &options, &found) == ERROR_SUCCESS;
}

static void fill(const struct control_block *b, uint64_t id, const struct sink_options *o, const struct sink_stats *st)
{
	struct proto_session s = {0};
	s.id = id;
	s.props = o->props;
	memcpy(s.props.guid.b, &b->p->Wnode.Guid, 16);
	s.number_of_buffers = st->buffers;
	s.free_buffers = st->free_buffers;
	s.events_lost = (uint32_t)BASE_MIN(st->events_lost, (uint64_t)UINT32_MAX);
	s.buffers_written = (uint32_t)st->buffers_written;
	s.log_buffers_lost = (uint32_t)(st->lost_disk_buffers + st->gone_buffers);
	s.logger_thread_id = (uint64_t)st->file_thread_id;
	s.name = o->name;
	s.name_len = o->name ? (uint32_t)utf16_len(o->name) : 0;
	s.log_file = o->log_file;
	s.log_file_len = o->log_file ? (uint32_t)utf16_len(o->log_file) : 0;
	control_block_fill(b, &s);
}

uint32_t control_private_start(const struct control_block *b, const struct proto_session *s, CONTROLTRACE_ID *ret_id)
{
	uint16_t file[4096];
	char path[4096] = "";
	struct inproc_session_args a = {
		.sink =
			{
				.name = s->name,
				.props = s->props,
				.clock_freq = clock_frequency(),
				.cpus = (uint16_t)BASE_MAX(1, sysconf(_SC_NPROCESSORS_CONF)),
			},
	};
	if (s->log_file) {
		memcpy(file, s->log_file, 2 * (size_t)s->log_file_len);
		file[s->log_file_len] = 0;
		a.sink.log_file = file;
		if (utf16_to_utf8(s->log_file, s->log_file_len, path, sizeof path) >= (long)sizeof path) {
			return ERROR_BAD_PATHNAME;
		}
		a.sink.path = path;
	}
	struct diag d = {0};
	uint64_t id;
	uint32_t code = inproc_start(&a, &id, &d);
	if (code != ERROR_SUCCESS) {
		if (d.text[0]) {
			control_refuse(code, d.text);
		}
		return code;
	}
	*ret_id = id;
	struct sink_stats stats;
	struct sink_options options;
	uint64_t found;
	if (inproc_query(id, NULL, NULL, &stats, &options, &found) == ERROR_SUCCESS) {
		fill(b, id, &options, &stats);
	}
	return ERROR_SUCCESS;
}

static const EVENT_FILTER_DESCRIPTOR *scope_of(const struct control_block *b, ULONG *ret_count)
{
	const EVENT_TRACE_PROPERTIES_V2 *v2 = (const EVENT_TRACE_PROPERTIES_V2 *)b->p;
	bool has = b->p->Wnode.Flags & WNODE_FLAG_VERSIONED_PROPERTIES;
	*ret_count = has ? v2->FilterDescCount : 0;
	return has ? v2->FilterDesc : NULL;
}

bool control_private_own(const struct control_block *b)
{
	struct guid guid;
	bool here = true;
	ULONG count;
	const EVENT_FILTER_DESCRIPTOR *f = scope_of(b, &count);
	memcpy(guid.b, &b->p->Wnode.Guid, 16);
	if (b->p->LogFileMode & EVENT_TRACE_PRIVATE_IN_PROC) {
		return true;
	}
	if (!inproc_registered(&guid)) {
		return false;
	}
	return count == 0 || count > MAX_EVENT_FILTERS_COUNT || !f ||
	       (control_private_scope(f, count, &here) == ERROR_SUCCESS && here);
}

uint32_t control_private_put_scope(struct proto_writer *w, const struct control_block *b)
{
	ULONG count;
	const EVENT_FILTER_DESCRIPTOR *f = scope_of(b, &count);
	return count == 0 ? (uint32_t)ERROR_SUCCESS : control_put_filters(w, f, count);
}

static uint32_t update(uint64_t id, const struct control_block *b, const uint16_t *file)
{
	struct diag d = {0};
	char path[4096];
	if (file && utf16_to_utf8(file, utf16_len(file), path, sizeof path) >= (long)sizeof path) {
		return ERROR_BAD_PATHNAME;
	}
	uint32_t code = inproc_update(id, b->p->FlushTimer, file ? path : NULL, file, &d);
	return code != ERROR_SUCCESS && d.text[0] ? control_refuse(code, d.text) : code;
}

uint32_t control_private_control(const struct control_block *b, uint64_t id, const uint16_t *name, ULONG control_code,
				 const uint16_t *file)
{
	struct guid guid;
	memcpy(guid.b, &b->p->Wnode.Guid, 16);
	const struct guid *by_guid = guid_is_zero(&guid) ? NULL : &guid;
	struct sink_stats stats;
	struct sink_options options;
	char path[4096];
	uint64_t found;
	uint32_t code = inproc_query(id, name, by_guid, &stats, &options, &found);
	if (code != ERROR_SUCCESS) {
		return code;
	}
	switch (control_code) {
	case EVENT_TRACE_CONTROL_QUERY: break;
	case EVENT_TRACE_CONTROL_FLUSH:
		code = file && (options.props.mode & EVENT_TRACE_BUFFERING_MODE) ? update(found, b, file)
										 : inproc_flush(found, NULL, NULL);
		break;
	case EVENT_TRACE_CONTROL_UPDATE: code = update(found, b, file); break;
	case EVENT_TRACE_CONTROL_STOP:
		/* The options borrow the session's strings: tell the caller before they go. */
		fill(b, found, &options, &stats);
		snprintf(path, sizeof path, "%s", options.path ? options.path : "");
		code = inproc_stop(found, NULL, NULL, &stats);
		if (code == ERROR_SUCCESS) {
			if (stats.file_fate != SINK_FATE_MOVED && stats.file_fate != SINK_FATE_REPLACED) {
				control_finished(path); /* else what has that name is another file */
			}
			b->p->BuffersWritten = (ULONG)stats.buffers_written;
			b->p->EventsLost = (ULONG)BASE_MIN(stats.events_lost, (uint64_t)UINT32_MAX);
			b->p->LogBuffersLost = (ULONG)(stats.lost_disk_buffers + stats.gone_buffers);
		}
		return code;
	default: return ERROR_NOT_SUPPORTED;
	}
	if (code == ERROR_SUCCESS && control_code != EVENT_TRACE_CONTROL_QUERY) {
		code = inproc_query(found, NULL, NULL, &stats, &options, &found);
	}
	if (code == ERROR_SUCCESS) {
		fill(b, found, &options, &stats);
	}
	return code;
}
