/* SPDX-License-Identifier: MIT
 *
 * What a live index has, as a trace file.
 */
#include "query/query_question.h"
#include "query/query_ring_state.h"

#include "base/map.h"
#include "base/win32_error.h"
#include "query/query_reading.h"
#include "relog/relog.h"

#include "etw/values/errors.h"

#include <stdlib.h>

/* What was said of the machine and of events goes first, whether its row is still there or has left. */
struct saver {
	struct relog_writer *w;
	const struct ring_view *view;
	uint8_t *scratch, *other;
	const uint64_t *kept;
	bool *written;   /* of each saying: its row came, and was left out */
	struct map said; /* hash of a saying's record: which one */
};

static uint64_t key_of(const struct saver *s, const struct etl_record *e)
{
	return map_mix(map_hash(&s->said, e->raw, e->raw_bytes), e->time_raw | 1);
}

/* Is the row a saying that is in the file already? Each stands for one row. */
static int is_said(struct saver *s, const struct etl_record *e, bool *ret)
{
	struct etl_record saying;
	*ret = false;
	MAP_EACH(&s->said, key_of(s, e), at) {
		size_t i = (size_t)map_value(&s->said, at);
		int err = s->written[i] ? -ENOENT : ring_view_record(s->view, s->kept[i], s->other, &saying);
		if (err < 0 && err != -ENOENT) {
			return err;
		}
		if (err == 0 && saying.time_raw == e->time_raw && saying.cpu == e->cpu &&
		    saying.raw_bytes == e->raw_bytes && memcmp(saying.raw, e->raw, e->raw_bytes) == 0) {
			s->written[i] = *ret = true;
			return 0;
		}
	}
	return 0;
}

static int put(struct saver *s, uint64_t where, bool row)
{
	bool said = false;
	struct etl_record e;
	int err = ring_view_record(s->view, where, s->scratch, &e);
	if (err == -ENOENT) {
		return 0; /* it tells of a loss, which the header has */
	}
	err = err < 0 || !row ? err : is_said(s, &e, &said);
	return err < 0 || said ? err : relog_writer_put(s->w, e.cpu, e.time_raw, e.raw, e.raw_bytes);
}

static int save_part(void *sink, struct scan *scan, const struct scan_part *p)
{
	struct saver *s = *(struct saver **)sink;
	int err = 0;
	(void)scan;
	for (uint32_t i = 0; i < p->count && err == 0; i++) {
		err = put(s, p->c.where[scan_row(p, i)], true);
	}
	return err;
}

static int put_sayings(struct saver *s)
{
	size_t count;
	struct etl_record e;
	s->kept = ring_view_kept(s->view, &count);
	s->written = calloc(count + 1, sizeof *s->written);
	int err = s->written ? 0 : -ENOMEM;
	for (size_t i = 0; i < count && err == 0; i++) {
		err = put(s, s->kept[i], false);
		if (err == 0 && ring_view_record(s->view, s->kept[i], s->scratch, &e) == 0) {
			err = map_add(&s->said, key_of(s, &e), i);
		}
	}
	return err;
}

static int save(struct openetw_query *q, const char *path, struct diag *d)
{
	struct saver s = {.view = q->x->files[0].store.ring,
			  .scratch = malloc(RING_SCRATCH_BYTES),
			  .other = malloc(RING_SCRATCH_BYTES)};
	struct saver *sinks[QUESTION_THREADS_MAX] = {&s};
	struct relog_head head = {
		.info = *ring_view_info(s.view),
		.logger_name = s.view->file.path,
		.file_name = path,
		.mode = 1, /* EVENT_TRACE_FILE_MODE_SEQUENTIAL */
		.end_filetime = s.view->about.rows ? (uint64_t)(s.view->about.start_filetime + s.view->about.last / 100)
						   : (uint64_t)s.view->about.start_filetime,
		.events_lost = (uint32_t)BASE_MIN(s.view->about.events_lost, UINT32_MAX),
		.buffers_lost = (uint32_t)BASE_MIN(s.view->about.buffers_lost, UINT32_MAX),
	};
	int err = s.scratch && s.other ? relog_writer_create(path, &head, false, &s.w, d) : -ENOMEM;
	err = err < 0 ? err : put_sayings(&s);
	/* One thread: the writer wants records in order. */
	uint32_t threads = q->threads;
	q->threads = 1;
	err = err < 0 ? err : question_run(q, INT64_MIN, INT64_MAX, save_part, sinks, sizeof sinks[0]);
	q->threads = threads;
	err = err < 0 ? err : relog_writer_finish(s.w, &head, d);
	if (s.w) {
		relog_writer_destroy(s.w);
	}
	free(s.scratch);
	free(s.other);
	free(s.written);
	map_free(&s.said);
	return err;
}

uint32_t openetw_query_save(struct openetw_query *q, const char *path, struct openetw_answer *ret)
{
	struct diag d = {0};
	if (!q || !path || !q->index->ring) {
		return ERROR_INVALID_PARAMETER;
	}
	int err = question_begin(q);
	err = err < 0 ? err : save(q, path, &d);
	if (err < 0 && d.text[0]) {
		err_text_set("%s: %s", path, d.text);
	}
	return question_end(q, err, ret);
}
