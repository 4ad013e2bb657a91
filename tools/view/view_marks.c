/* SPDX-License-Identifier: MIT
 * marks: notes and saved views, in a small file beside the trace. recent: files that were looked at.
 */
#include "tools/view/view.h"

#include "base/file.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARKS_MOST  (1u << 20)
#define RECENT_MOST 20u

static bool marks_path(const struct view_trace *t, char *out, size_t cap)
{
	return !t->live && !t->copy_of && t->count && snprintf(out, cap, "%s.marks.json", t->files[0]) < (int)cap;
}

static int run_get(struct view_request *r)
{
	char path[PATH_MAX], why[200];
	struct strbuf text = {0};
	struct view_trace *t = view_trace_of(r);
	if (!t) {
		return r->status;
	}
	struct json_value *v = NULL;
	if (marks_path(t, path, sizeof path) && file_read(path, MARKS_MOST, &text) >= 0) {
		v = json_parse(text.s ? text.s : "", text.len, why, sizeof why);
	}
	if (v && json_kind_of(v) == JSON_OBJECT) {
		json_write(v, &r->out);
	} else {
		strbuf_adds(&r->out, "{\"marks\":[],\"views\":[]}");
	}
	json_free(v);
	strbuf_finish(&text);
	return view_done(r);
}
const struct view_endpoint view_marks = {.path = "marks", .params = VIEW_TRACE_PARAM, .run = run_get};

/* Whole or not at all: a new file takes the place of the old one. */
static int write_whole(const char *path, const struct strbuf *text)
{
	char temporary[PATH_MAX];
	if (snprintf(temporary, sizeof temporary, "%s.%d.part", path, (int)getpid()) >= (int)sizeof temporary) {
		return -ENAMETOOLONG;
	}
	int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600), err = 0;
	if (fd < 0) {
		return -errno;
	}
	for (size_t done = 0; done < text->len && err == 0;) {
		ssize_t n = write(fd, text->s + done, text->len - done);
		if (n < 0 && errno != EINTR) {
			err = -errno;
		}
		done += n > 0 ? (size_t)n : 0;
	}
	err = close(fd) < 0 && err == 0 ? -errno : err;
	err = err == 0 && rename(temporary, path) < 0 ? -errno : err;
	if (err < 0) {
		unlink(temporary);
	}
	return err;
}

static int run_post(struct view_request *r)
{
	char path[PATH_MAX];
	struct strbuf text = {0};
	int64_t id = -1;
	json_integer(json_member(r->body, "tr"), &id);
	r->trace = id >= 0 && id <= UINT32_MAX ? view_trace_hold(r->view, (uint32_t)id) : NULL;
	if (!r->trace || !marks_path(r->trace, path, sizeof path)) {
		return view_fail(r, 404, r->trace ? "a live session has no place for marks" : "no such trace is open");
	}
	struct json_value *marks = json_member(r->body, "marks"), *views = json_member(r->body, "views");
	strbuf_adds(&text, "{\"marks\":");
	if (marks && json_kind_of(marks) == JSON_ARRAY) {
		json_write(marks, &text);
	} else {
		strbuf_adds(&text, "[]");
	}
	strbuf_adds(&text, ",\"views\":");
	if (views && json_kind_of(views) == JSON_ARRAY) {
		json_write(views, &text);
	} else {
		strbuf_adds(&text, "[]");
	}
	strbuf_adds(&text, "}\n");
	int err = text.failed ? -ENOMEM : write_whole(path, &text);
	strbuf_finish(&text);
	if (err < 0) {
		return view_fail(r, 500, "cannot write %s: %s", path, strerror(-err));
	}
	strbuf_adds(&r->out, "{}");
	return view_done(r);
}
const struct view_endpoint view_marks_post = {
	.path = "marks", .params = VIEW_TRACE_PARAM "marks:list views:list", .post = true, .run = run_post};
