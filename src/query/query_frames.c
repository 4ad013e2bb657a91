/* SPDX-License-Identifier: MIT */
#include "query/query_frames.h"

#include "base/map.h"
#include "base/printable.h"
#include "machine/machine.h"

#include <stdlib.h>

#define FIRST_BITS 10u
/* Of one part of a stack: longer ones are of a damaged index. */
#define PATH_MOST 8192u

/* About a frame or about a path. */
struct verdict {
	uint64_t from, to; /* when it holds; from > to: for this event alone */
	uint32_t number;   /* of the frame or the node */
	uint32_t pid;
	uint32_t file;
	uint16_t filter;   /* node of the filter, + 1; 0: the place is free */
	bool path, passes; /* it is about a path; a frame passes */
};
/* Of processes without modules of their own a verdict that always holds is a byte: mostly that is the kernel's frames, or a
 * trace without modules, which may have millions of paths. */
enum plain { PLAIN_UNKNOWN, PLAIN_NO, PLAIN_YES };
#define PLAINS      4u          /* filters and files that have them */
#define PLAIN_BYTES (64u << 20) /* of one */
struct plain_verdicts {
	uint32_t file;
	uint16_t filter;
	uint32_t node_count, frame_count;
	uint8_t *of; /* of each node, then of each frame */
};
struct frames {
	struct verdict *table; /* 1 << bits of them, three quarters full at most */
	uint32_t bits, count, most;
	uint64_t secret;
	struct strbuf text; /* of the frame that is looked at */
	char **passed;      /* of each node of the filter: a text that it accepts */
	uint32_t passed_count;
	/* The process that was asked about last. */
	uint32_t file, pid, alias;
	bool has_alias;
	struct plain_verdicts plain[PLAINS];
	uint32_t plain_count;
	uint32_t path[PATH_MOST];
};

struct frames *frames_make(uint32_t answers)
{
	struct frames *f = calloc(1, sizeof *f);
	if (f) {
		f->most = BASE_MAX(answers, 4 * PATH_MOST);
		f->secret = map_secret_of_process();
	}
	return f;
}

void frames_forget(struct frames *f)
{
	for (uint32_t i = 0; f && i < f->passed_count; i++) {
		free(f->passed[i]);
	}
	for (uint32_t i = 0; f && i < f->plain_count; i++) {
		free(f->plain[i].of);
	}
	if (f) {
		free(f->passed);
		free(f->table);
		f->plain_count = 0;
		f->passed = NULL;
		f->table = NULL;
		f->passed_count = f->count = f->bits = 0;
		f->has_alias = false;
	}
}

void frames_free(struct frames *f)
{
	if (f) {
		frames_forget(f);
		strbuf_finish(&f->text);
		free(f);
	}
}

/* ---- the table ------------------------------------------------------------------------------------- */

static bool is_same(const struct verdict *a, const struct verdict *b)
{
	return a->number == b->number && a->pid == b->pid && a->file == b->file && a->filter == b->filter &&
	       a->path == b->path;
}

/* Where it stands, or where it may be put. */
static struct verdict *place_of(const struct frames *f, const struct verdict *v)
{
	uint64_t low = (uint64_t)v->number << 32 | v->pid, high = (uint64_t)v->file << 17 | v->filter << 1 | v->path;
	size_t mask = ((size_t)1 << f->bits) - 1;
	size_t at = (size_t)(map_mix(low ^ f->secret, 0x9E3779B97F4A7C15ull ^ high << 1) >> (64 - f->bits));
	while (f->table[at].filter && !is_same(&f->table[at], v)) {
		at = (at + 1) & mask;
	}
	return &f->table[at];
}

/* Room for one more. What is too much is forgotten, and found again. */
static int room(struct frames *f)
{
	struct verdict *old = f->table;
	uint32_t n = old ? 1u << f->bits : 0;
	if (old && f->count < n / 4 * 3 && f->count < f->most) {
		return 0;
	}
	if (f->count >= f->most) {
		memset(f->table, 0, n * sizeof *f->table);
		f->count = 0;
		return 0;
	}
	uint32_t bits = old ? f->bits + 1 : FIRST_BITS;
	f->table = calloc((size_t)1 << bits, sizeof *f->table);
	if (!f->table) {
		f->table = old;
		return -ENOMEM;
	}
	f->bits = bits;
	for (uint32_t i = 0; i < n; i++) {
		if (old[i].filter) {
			*place_of(f, &old[i]) = old[i];
		}
	}
	free(old);
	return 0;
}

/* Where the verdict is that always holds. NULL: it has no such place. */
static uint8_t *plain_of(const struct plain_verdicts *p, const struct verdict *v)
{
	if (!p || v->pid != MACHINE_NO_ID) {
		return NULL;
	}
	return v->path                      ? (v->number < p->node_count ? &p->of[v->number] : NULL)
	       : v->number < p->frame_count ? &p->of[p->node_count + v->number]
					    : NULL;
}

static struct plain_verdicts *plain_begin(struct frames *f, const struct store *s, const struct verdict *v)
{
	uint64_t bytes = (uint64_t)s->node_count + s->frame_count;
	for (uint32_t i = 0; i < f->plain_count; i++) {
		if (f->plain[i].file == v->file && f->plain[i].filter == v->filter) {
			return &f->plain[i];
		}
	}
	uint8_t *of = f->plain_count < PLAINS && bytes <= PLAIN_BYTES ? calloc(bytes + 1, 1) : NULL;
	if (!of) {
		return NULL; /* the table will do */
	}
	f->plain[f->plain_count] = (struct plain_verdicts){v->file, v->filter, s->node_count, s->frame_count, of};
	return &f->plain[f->plain_count++];
}

/* What is known of it at this time. */
static bool known(const struct frames *f, const struct plain_verdicts *plain, uint64_t time, struct verdict *inout)
{
	const uint8_t *p = plain_of(plain, inout);
	if (p && *p != PLAIN_UNKNOWN) {
		inout->from = 0;
		inout->to = UINT64_MAX;
		inout->passes = *p == PLAIN_YES;
		return true;
	}
	const struct verdict *v = f->table ? place_of(f, inout) : NULL;
	if (!v || !v->filter || time < v->from || time > v->to) {
		return false;
	}
	*inout = *v;
	return true;
}

static int keep(struct frames *f, const struct plain_verdicts *plain, const struct verdict *v)
{
	uint8_t *p = plain_of(plain, v);
	if (p && v->from == 0 && v->to == UINT64_MAX) {
		*p = v->passes ? PLAIN_YES : PLAIN_NO;
		return 0;
	}
	int err = room(f);
	if (err == 0) {
		struct verdict *to = place_of(f, v);
		f->count += to->filter == 0;
		*to = *v;
	}
	return err;
}

/* ---- one frame ------------------------------------------------------------------------------------- */

static const char *last_part(const char *path)
{
	const char *name = path;
	for (const char *p = path; *p; p++) {
		name = (*p == '\\' || *p == '/') && p[1] ? p + 1 : name;
	}
	return name;
}

/* "module!function", or what is known of it, as the commands write it. */
static int frame_text(struct frames *f, struct machine *m, uint32_t pid, uint64_t address, uint64_t time)
{
	uint64_t start;
	const struct machine_image *i = machine_image_at(m, pid, address, time);
	const char *name = machine_code_at(m, pid, address, time, &start);
	name = name || !i ? name : machine_function_at(m, i, address, &start);
	strbuf_clear(&f->text);
	if (name) {
		strbuf_addf_printable(&f->text, "%s%s%s", i ? last_part(i->path) : "", i ? "!" : "", name);
	} else if (i) {
		strbuf_addf_printable(&f->text, "%s", last_part(i->path));
	}
	return f->text.failed ? -ENOMEM : 0;
}

/* The first text that passes stands for all that do: the filter says the same of them. */
static int remember(struct frames *f, const struct filter_expr *expr, const struct filter_node *n)
{
	uint32_t node = (uint32_t)(n - expr->nodes);
	if (!f->passed) {
		f->passed = calloc(expr->count, sizeof *f->passed);
		f->passed_count = f->passed ? expr->count : 0;
	}
	if (f->passed && !f->passed[node]) {
		f->passed[node] = strdup(f->text.s ? f->text.s : "");
	}
	return f->passed && f->passed[node] ? 0 : -ENOMEM;
}

struct question {
	struct frames *f;
	struct machine *m;
	const struct store *store;
	const struct filter_expr *expr;
	const struct filter_node *node;
	uint64_t time;
	struct verdict v;                   /* the key of what is asked */
	const struct plain_verdicts *plain; /* may be NULL */
};

static int ask_frame(struct question *q, uint32_t number, struct verdict *ret)
{
	struct frames *f = q->f;
	*ret = q->v;
	ret->number = number;
	ret->path = false;
	if (known(f, q->plain, q->time, ret)) {
		return 0;
	}
	uint64_t address = store_frame(q->store, number), given_up = filter_expr_given_up(q->expr);
	int err = frame_text(f, q->m, ret->pid, address, q->time);
	if (err < 0) {
		return err;
	}
	const struct filter_expr_value v = {.text = f->text.s ? f->text.s : "", .length = f->text.len};
	ret->passes = filter_node_accepts(q->expr, q->node, &v);
	machine_address_span(q->m, ret->pid, address, q->time, &ret->from, &ret->to);
	if (filter_expr_given_up(q->expr) != given_up) { /* counted for each event */
		ret->from = 1;
		ret->to = 0;
	}
	err = ret->passes ? remember(f, q->expr, q->node) : 0;
	return err < 0 ? err : keep(f, q->plain, ret);
}

/* Outwards until something is known; then back, and each node of the path is known. */
static int ask_path(struct question *q, uint32_t node, bool *ret)
{
	struct frames *f = q->f;
	const struct store *s = q->store;
	struct verdict at = q->v, frame;
	uint32_t depth = 0;
	int err = 0;
	at.path = true;
	at.passes = false;
	at.to = UINT64_MAX;
	for (; node > 0 && node < s->node_count && depth < PATH_MOST; depth++) {
		at.number = node;
		if (known(f, q->plain, q->time, &at)) {
			break;
		}
		f->path[depth] = node;
		node = s->nodes[node].parent < node ? s->nodes[node].parent : 0;
	}
	while (depth-- > 0 && err == 0) {
		at.number = f->path[depth];
		err = ask_frame(q, s->nodes[at.number].frame, &frame);
		if (err == 0) {
			/* That it passes holds as long as one of its frames passes. */
			bool outer = at.passes;
			at.passes = frame.passes || outer;
			at.from = frame.passes ? frame.from : outer ? at.from : BASE_MAX(at.from, frame.from);
			at.to = frame.passes ? frame.to : outer ? at.to : BASE_MIN(at.to, frame.to);
			err = keep(f, q->plain, &at);
		}
	}
	*ret = at.passes;
	return err;
}

/* ---- an event -------------------------------------------------------------------------------------- */

/* Processes whose addresses the trace says nothing about are alike. */
static uint32_t process_of(struct frames *f, const struct machine *m, const struct plan_event *e)
{
	const struct store *s = &e->file->store;
	uint32_t process = e->process < s->process_count ? e->process : 0;
	uint32_t pid = process ? s->processes[process].pid : MACHINE_NO_ID;
	if (!f->has_alias || f->pid != pid || f->file != e->file_at) {
		bool known = machine_knows_addresses(m, pid) || machine_knows_addresses(m, MACHINE_NO_ID);
		f->alias = known ? pid : MACHINE_NO_ID;
		f->pid = pid;
		f->file = e->file_at;
		f->has_alias = true;
	}
	return f->alias;
}

enum filter_answer frames_ask(struct frames *f, struct machine *m, const struct plan_event *e,
			      const struct filter_node *n, struct filter_expr_value *ret)
{
	const struct store *s = &e->file->store;
	const struct filter_expr *expr = e->plan->filter;
	uint32_t node = (uint32_t)(n - expr->nodes);
	if (e->stack == 0 || e->stack >= s->stack_count || ret->index > 0) {
		return FILTER_VALUE_ABSENT;
	}
	if (node >= UINT16_MAX) {
		return FILTER_VALUE_UNKNOWN;
	}
	struct question q = {.f = f,
			     .m = m,
			     .store = s,
			     .expr = expr,
			     .node = n,
			     .time = plan_filetime(e),
			     .v = {.pid = process_of(f, m, e), .file = e->file_at, .filter = (uint16_t)(node + 1)}};
	q.plain = q.v.pid == MACHINE_NO_ID ? plain_begin(f, s, &q.v) : NULL;
	bool passes = false;
	int err = ask_path(&q, s->stacks[e->stack].kernel, &passes);
	if (err == 0 && !passes) {
		err = ask_path(&q, s->stacks[e->stack].user, &passes);
	}
	if (err < 0) {
		return FILTER_VALUE_UNKNOWN;
	}
	if (!passes) {
		return FILTER_VALUE_ABSENT;
	}
	*ret = (struct filter_expr_value){.text = f->passed[node], .length = strlen(f->passed[node])};
	return FILTER_VALUE_PRESENT;
}
