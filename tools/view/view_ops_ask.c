/* SPDX-License-Identifier: MIT
 * ops, ops_processes: what processes did, as a list that only grows, and the processes with what they did in sums.
 */
#include "tools/openetw/monitor.h"
#include "tools/view/view_live.h"
#include "tools/view/view_ops_state.h"

#include "base/vec.h"
#include "filter/filter_parse.h"
#include "regex/regex.h"

#include <stdlib.h>

#define STEP 8192u /* operations that are looked at before others may have the lock */

/* By enum kevent_kind; also what a filter calls "kind". */
static const struct {
	const char *name;
	uint32_t kind;
} kinds[] = {{"process", KEVENT_PROCESS}, {"image", KEVENT_IMAGE},  {"file", KEVENT_FILE},
	     {"network", KEVENT_NET},     {"memory", KEVENT_FAULT}, {"disk", KEVENT_DISK}};

static const char *const names[] = {"time",  "process",  "pid",    "tid", "op",   "path", "result",
				    "bytes", "duration", "detail", "to",  "kind", NULL};

/* ---- columns ---------------------------------------------------------------------------------------- */

static const char *result_of(const struct op *x, char text[16])
{
	if (!x->has_result) {
		return "";
	}
	if ((int32_t)x->status >= 0) {
		return "OK";
	}
	const char *name = monitor_error_name(x->status);
	snprintf(text, 16, "0x%08x", x->status);
	return name ? name : text;
}

static const char *kind_of(const struct op *x)
{
	size_t i = 0;
	while (i + 1 < BASE_ARRAY_LEN(kinds) && kinds[i].kind != x->kind) {
		i++;
	}
	return kinds[i].name;
}

static void detail_of(const struct view_ops *o, uint64_t n, const struct op *x, char *out, size_t cap)
{
	out[0] = 0;
	if (x->kind == KEVENT_FILE && (x->op == KOP_READ || x->op == KOP_WRITE)) {
		snprintf(out, cap, "offset %llu length %llu", (unsigned long long)x->offset,
			 (unsigned long long)x->asked);
	} else if (x->kind == KEVENT_FILE && x->to) {
		snprintf(out, cap, "to %s", ops_text(o, n, x->to));
	} else if (x->kind == KEVENT_IMAGE || x->kind == KEVENT_FAULT) {
		snprintf(out, cap, "at 0x%llx", (unsigned long long)x->offset);
	}
}

struct asked {
	const struct view_ops *o;
	uint64_t n;
	const struct op *x;
	char text[1200];
};

static bool lookup(void *context, const char *name, bool payload, struct filter_expr_value *ret)
{
	struct asked *a = context;
	const struct op *x = a->x;
	char code[16];
	bool numeric = true;
	uint64_t number = 0;
	const char *s = a->text;
	a->text[0] = 0;
	(void)payload;
	if (strcmp(name, "pid") == 0 || strcmp(name, "tid") == 0) {
		number = name[0] == 'p' ? x->pid : x->tid;
	} else if (strcmp(name, "bytes") == 0) {
		number = x->bytes;
	} else if (strcmp(name, "duration") == 0) {
		number = x->took_ns;
	} else if (strcmp(name, "time") == 0) {
		number = x->filetime;
	} else {
		numeric = false;
		if (strcmp(name, "process") == 0 || strcmp(name, "path") == 0) {
			s = ops_text(a->o, a->n, name[1] == 'r' ? x->process : x->path);
		} else if (strcmp(name, "op") == 0) {
			s = x->name;
		} else if (strcmp(name, "kind") == 0) {
			s = kind_of(x);
		} else if (strcmp(name, "result") == 0) {
			snprintf(a->text, sizeof a->text, "%s", result_of(x, code));
		} else {
			detail_of(a->o, a->n, x, a->text, sizeof a->text);
		}
	}
	if (numeric) {
		snprintf(a->text, sizeof a->text, "%llu", (unsigned long long)number);
	}
	*ret = (struct filter_expr_value){.text = s, .length = strlen(s), .is_number = numeric, .number = number};
	return s[0] != 0;
}

/* ---- selections ------------------------------------------------------------------------------------- */

void ops_selection_clear(struct ops_selection *s)
{
	free(s->text);
	free(s->numbers);
	filter_expr_destroy(s->filter);
	*s = (struct ops_selection){0};
}

/* Under the lock. NULL: `why`. */
static struct ops_selection *selection_of(struct view_ops *o, const char *text, uint32_t wanted, char *why, size_t cap)
{
	struct ops_selection *old = NULL;
	const struct filter_dialect dialect = {.regex = &regex_pcre2, .names = names};
	struct diag d;
	for (size_t i = 0; i < OPS_SELECTIONS; i++) {
		struct ops_selection *s = &o->selections[i];
		if (s->text && s->kinds == wanted && strcmp(s->text, text) == 0) {
			return s;
		}
		if (s->users == 0 && (!old || s->used < old->used)) {
			old = s;
		}
	}
	if (!old) {
		snprintf(why, cap, "too many filters are asked at once");
		return NULL;
	}
	ops_selection_clear(old);
	diag_clear(&d);
	if (text[strspn(text, " ")] && filter_expr_parse_in(&dialect, text, &old->filter, &d) < 0) {
		snprintf(why, cap, "%s", d.text[0] ? d.text : "the filter cannot be read");
		return NULL;
	}
	if (old->filter) {
		filter_expr_set_start(old->filter, o->start_filetime, 0);
	}
	old->text = strdup(text);
	old->kinds = wanted;
	old->next = o->first;
	if (!old->text) {
		ops_selection_clear(old);
		snprintf(why, cap, "no memory");
		return NULL;
	}
	return old;
}

/* Under the lock, which others get in between. */
static void catch_up(struct view_ops *o, struct ops_selection *s, struct view_request *r)
{
	struct asked a = {.o = o};
	uint64_t settled = ops_settled(o);
	s->users++;
	while (s->next < settled && !view_gone(r)) {
		uint64_t to = BASE_MIN(settled, s->next + STEP);
		s->next = BASE_MAX(s->next, o->first);
		for (; s->next < to; s->next++) {
			a.n = s->next;
			a.x = ops_at(o, s->next);
			if (!a.x || !(s->kinds & 1u << a.x->kind) ||
			    (s->filter && !filter_expr_match(s->filter, lookup, &a))) {
				continue;
			}
			if (!VEC_ROOM(s->numbers, s->count, s->cap)) {
				break;
			}
			s->numbers[s->count++] = s->next;
		}
		pthread_mutex_unlock(&o->lock);
		pthread_mutex_lock(&o->lock);
	}
	s->users--;
	size_t left = 0;
	while (left < s->count && s->numbers[left] < o->first) {
		left++;
	}
	if (left && (left > VIEW_OPS_BLOCK || left == s->count)) { /* not for each */
		memmove(s->numbers, s->numbers + left, (s->count - left) * sizeof *s->numbers);
		s->count -= left;
		s->gone += left;
	}
}

static void put_op(struct view_ops *o, struct strbuf *b, uint64_t n)
{
	const struct op *x = ops_at(o, n);
	char detail[1100], code[16];
	json_put_comma(b);
	if (!x) {
		strbuf_adds(b, "null");
		return;
	}
	detail_of(o, n, x, detail, sizeof detail);
	strbuf_addc(b, '[');
	json_put_count(b, NULL, n);
	json_put_integer(b, NULL, ops_time(o, x->filetime));
	json_put_text(b, NULL, kind_of(x));
	json_put_text(b, NULL, x->name);
	json_put_integer(b, NULL, x->pid == OPENETW_UNKNOWN_ID ? -1 : (int64_t)x->pid);
	json_put_integer(b, NULL, x->tid == OPENETW_UNKNOWN_ID ? -1 : (int64_t)x->tid);
	json_put_text(b, NULL, ops_text(o, n, x->process));
	json_put_text(b, NULL, ops_text(o, n, x->path));
	json_put_text(b, NULL, result_of(x, code));
	json_put_count(b, NULL, x->bytes);
	json_put_count(b, NULL, x->took_ns);
	json_put_text(b, NULL, detail);
	json_put_truth(b, NULL, x->has_result && (int32_t)x->status < 0);
	strbuf_addc(b, ']');
}

static bool kinds_of(struct view_request *r, const char *text, uint32_t *ret)
{
	*ret = text[0] ? 0 : OPS_KINDS;
	while (*text) {
		size_t n = strcspn(text, ","), i = 0;
		while (i < BASE_ARRAY_LEN(kinds) &&
		       (strlen(kinds[i].name) != n || memcmp(kinds[i].name, text, n) != 0)) {
			i++;
		}
		if (i == BASE_ARRAY_LEN(kinds)) {
			view_fail(r, 400, "'%.40s' is none of process, image, file, network, memory, disk", text);
			return false;
		}
		*ret |= 1u << kinds[i].kind;
		text += n + (text[n] == ',');
	}
	return true;
}

bool view_ops_put(struct view_ops *o, struct view_request *r, const struct view_ops_ask *a)
{
	char why[400];
	uint32_t wanted;
	struct strbuf *b = &r->out;
	if (!kinds_of(r, a->kinds, &wanted)) {
		return false;
	}
	pthread_mutex_lock(&o->lock);
	struct ops_selection *s = selection_of(o, a->filter, wanted, why, sizeof why);
	if (!s) {
		pthread_mutex_unlock(&o->lock);
		view_fail(r, 400, "%s", why);
		return false;
	}
	s->used = ++o->uses;
	catch_up(o, s, r);
	uint64_t total = s->gone + s->count, at = a->at == UINT64_MAX ? total - BASE_MIN(total, a->count) : a->at;
	json_put_count(b, "at", at);
	json_put_count(b, "total", total);
	json_put_count(b, "gone", s->gone);
	json_put_name(b, "rows");
	strbuf_addc(b, '[');
	for (uint64_t i = at; i < total && i - at < a->count; i++) {
		if (i < s->gone) {
			json_put_comma(b);
			strbuf_adds(b, "null");
		} else {
			put_op(o, b, s->numbers[i - s->gone]);
		}
	}
	strbuf_addc(b, ']');
	pthread_mutex_unlock(&o->lock);
	return true;
}

void view_ops_tell(struct view_ops *o, struct strbuf *b)
{
	pthread_mutex_lock(&o->lock);
	json_put_count(b, "ops", o->end);
	json_put_count(b, "ops_kept", o->end - o->first);
	json_put_count(b, "ops_not_kept", o->not_kept);
	json_put_count(b, "ops_early", o->early);
	pthread_mutex_unlock(&o->lock);
}

void view_ops_put_processes(struct view_ops *o, struct strbuf *b)
{
	json_put_name(b, "processes");
	strbuf_addc(b, '[');
	pthread_mutex_lock(&o->lock);
	for (size_t i = 0; i < o->process_count; i++) {
		const struct ops_process *p = &o->processes[i];
		json_put_comma(b);
		strbuf_addc(b, '{');
		json_put_count(b, "pid", p->pid);
		if (p->parent != OPENETW_UNKNOWN_ID) {
			json_put_count(b, "parent", p->parent);
		}
		json_put_text(b, "name", p->name);
		json_put_text(b, "command", p->command ? p->command : "");
		json_put_text(b, "user", p->user);
		if (p->start != INT64_MIN) {
			json_put_integer(b, "start", p->start);
		}
		if (p->end != INT64_MAX) {
			json_put_integer(b, "end", p->end);
			json_put_integer(b, "exit_code", p->exit_code);
		}
		for (size_t k = 0; k < BASE_ARRAY_LEN(kinds); k++) {
			if (p->ops[kinds[k].kind]) {
				json_put_count(b, kinds[k].name, p->ops[kinds[k].kind]);
			}
		}
		json_put_count(b, "read", p->read);
		json_put_count(b, "written", p->written);
		json_put_count(b, "failed", p->failed);
		strbuf_addc(b, '}');
	}
	pthread_mutex_unlock(&o->lock);
	strbuf_addc(b, ']');
}

/* ---- endpoints -------------------------------------------------------------------------------------- */

static struct view_ops *ops_of(struct view_request *r)
{
	struct view_trace *t = view_trace_of(r);
	if (t && (!t->live || !t->live->ops)) {
		view_teach(r, "what processes do is not followed here", "openetw monitor");
		return NULL;
	}
	return t ? t->live->ops : NULL;
}

static int run_ops(struct view_request *r)
{
	struct view_ops *o = ops_of(r);
	const struct view_ops_ask a = {.kinds = view_text(r, "kinds", ""),
				       .filter = view_text(r, "f", ""),
				       .at = view_number(r, "at", UINT64_MAX),
				       .count = view_number(r, "n", 200)};
	strbuf_addc(&r->out, '{');
	if (!o || !view_ops_put(o, r, &a)) {
		return r->status;
	}
	strbuf_addc(&r->out, '}');
	return view_done(r);
}
const struct view_endpoint view_ops = {
	.path = "ops", .params = VIEW_TRACE_PARAM "kinds:text f:text at:0-1000000000000000 n:1-2000", .run = run_ops};

static int run_processes(struct view_request *r)
{
	struct view_ops *o = ops_of(r);
	if (!o) {
		return r->status;
	}
	strbuf_addc(&r->out, '{');
	view_ops_put_processes(o, &r->out);
	strbuf_addc(&r->out, '}');
	return view_done(r);
}
const struct view_endpoint view_ops_processes = {
	.path = "ops_processes", .params = VIEW_TRACE_PARAM, .run = run_processes};
