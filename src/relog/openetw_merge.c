/* SPDX-License-Identifier: MIT
 * openetw_merge: several traces become one, as Windows' tools merge them.
 */
#include "relog/relog.h"

#include "openetw/merge.h"
#include "winerror.h"
#include "etw/values/session_modes.h"

struct merge {
	struct relog *g;
	openetw_merge_progress_fn progress;
	void *ctx;
	uint64_t events;
};

static int keep(void *ctx, struct relog_event *e, uint32_t stream)
{
	struct merge *m = ctx;
	int r = relog_inject(m->g, e);
	m->events++;
	if (r == 0 && m->progress && (m->events & 0xFFF) == 0 && !m->progress(m->ctx, m->events)) {
		r = -ECANCELED;
	}
	return r;
}

/* What the header says the file was called. A path to a descriptor means nothing to those who read it. */
static const char *file_name_of(const char *path)
{
	return strncmp(path, "/proc/self/fd/", 14) == 0 ? "[unpacked file]" : path;
}

uint32_t openetw_merge(const char *const *paths, uint32_t count, const char *output, uint32_t flags,
		       openetw_merge_progress_fn progress, void *ctx)
{
	static const struct relog_callbacks callbacks = {.event = keep};
	struct merge m = {.progress = progress, .ctx = ctx};
	struct diag d;
	uint32_t stream;
	err_text_clear();
	diag_clear(&d);
	if (!paths || !output || count == 0 || count > CONSUME_SOURCES_MAX ||
	    (flags & ~(uint32_t)OPENETW_MERGE_COMPRESS)) {
		return ERROR_INVALID_PARAMETER;
	}
	int r = relog_create(&m.g);
	for (uint32_t i = 0; i < count && r == 0; i++) {
		r = relog_add_file(m.g, paths[i], &stream, &d);
		if (r < 0) {
			err_text_set("%s: %s", paths[i], d.text[0] ? d.text : strerror(-r));
		}
	}
	if (r == 0) {
		relog_set_compress(m.g, flags & OPENETW_MERGE_COMPRESS);
		relog_set_names(m.g, EVENT_TRACE_RELOG_MODE | EVENT_TRACE_FILE_MODE_SEQUENTIAL, "Relogger",
				count > 1 ? "[multiple files]" : file_name_of(paths[0]));
		r = relog_set_output(m.g, output);
		r = r < 0 ? r : relog_run(m.g, &callbacks, &m, &d);
		if (r < 0 && d.text[0]) {
			err_text_set("%s", d.text);
		}
	}
	relog_destroy(m.g);
	return r == 0            ? ERROR_SUCCESS
	       : r == -EBADMSG   ? ERROR_FILE_CORRUPT
	       : r == -ECANCELED ? ERROR_CANCELLED
				 : win32_from_errno(r);
}
