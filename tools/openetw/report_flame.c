/* SPDX-License-Identifier: MIT
 * report --html: call stacks as flame graphs, of samples and of the time that threads waited.
 */
#include "tools/openetw/report_html.h"

#include "tools/export/stacks.h"

#include <stdlib.h>

#define WIDTH   1200.0
#define ROW     17
#define NARROW  0.4 /* of a box, in the picture's units; what is narrower is left out */
#define DEEPEST 128
#define LETTER  6.9 /* width of one, about */

struct flame {
	struct stacks stacks;
	uint64_t *total; /* by node, with what it called */
	uint32_t *order; /* nodes, those of one parent together, the heaviest first */
	double *x;       /* by node */
	uint32_t *depth;
	uint32_t deepest;
	uint64_t left_out;
};

/* Where the frames of each stack stand in the table frames. */
struct places {
	const struct table_view *frames;
	uint64_t *first; /* by stack, and 1; 0: none */
	uint32_t count;
	int stack, function;
};

static bool find_places(struct html_part *p, struct places *ret)
{
	*ret = (struct places){.frames = table_set_get(p->set, "frames", p->why, sizeof p->why)};
	if (!ret->frames) {
		return false;
	}
	ret->stack = table_view_column(ret->frames, "stack");
	ret->function = table_view_column(ret->frames, "function");
	uint64_t rows = table_view_rows(ret->frames);
	for (uint64_t row = 0; row < rows; row++) {
		uint32_t stack = (uint32_t)table_view_integer(ret->frames, ret->stack, row, 0);
		ret->count = BASE_MAX(ret->count, stack + 1);
	}
	ret->first = calloc((size_t)ret->count + 1, sizeof *ret->first);
	for (uint64_t row = rows; ret->first && row-- > 0;) {
		ret->first[table_view_integer(ret->frames, ret->stack, row, 0)] = row + 1;
	}
	if (!ret->first) {
		snprintf(p->why, sizeof p->why, "no memory");
	}
	return ret->first != NULL;
}

/* The outermost frame first: the table has the innermost one first. */
static uint32_t add_stack(struct flame *f, const struct places *at, uint32_t node, int64_t stack)
{
	struct table_value v;
	uint64_t first = stack > 0 && stack < at->count ? at->first[stack] : 0, last = first;
	if (!first) {
		return node;
	}
	while (last < table_view_rows(at->frames) && last - first < DEEPEST &&
	       table_view_integer(at->frames, at->stack, last, -1) == stack) {
		last++;
	}
	for (uint64_t row = last; row-- > first - 1;) {
		bool named = table_view_value(at->frames, at->function, row, &v) && v.kind == TABLE_TEXT && v.n > 0;
		uint32_t name = named ? stacks_frame(&f->stacks, v.s, v.n) : stacks_frame(&f->stacks, "?", 1);
		node = stacks_node(&f->stacks, node, name);
	}
	return node;
}

static bool gather(struct html_part *p, struct flame *f, const char *table, const char *weight, const char *text)
{
	struct places at = {0};
	struct filter_expr *filter = NULL;
	struct diag d = {0};
	struct strbuf name = {0};
	bool samples = strcmp(table, "samples") == 0;
	struct table_ask ask = {.table = table,
				.group_by = samples ? "stack,process_name,pid,function" : "stack,process_name,pid",
				.columns = weight,
				.from = p->from,
				.to = p->to,
				.process = p->process,
				.process_count = p->process_count};
	if (filter_expr_parse(text, &filter, &d) < 0) {
		snprintf(p->why, sizeof p->why, "no memory");
		return false;
	}
	ask.filter = filter;
	struct table_answer *r = table_ask(p->set, &ask, p->why, sizeof p->why);
	filter_expr_destroy(filter);
	bool ok = r != NULL;
	if (ok && r->rows) {
		ok = find_places(p, &at);
	}
	uint32_t last = samples ? 4 : 3;
	for (uint64_t row = 0; ok && row < r->rows; row++) {
		const struct table_value *stack = table_answer_cell(r, row, 0), *process = table_answer_cell(r, row, 1),
					 *pid = table_answer_cell(r, row, 2), *w = table_answer_cell(r, row, last);
		strbuf_clear(&name);
		if (process->kind == TABLE_TEXT) {
			strbuf_add(&name, process->s, process->n);
		} else {
			strbuf_adds(&name, "?");
		}
		strbuf_addf(&name, " (%lld)", pid->kind == TABLE_INTEGER ? (long long)pid->i : -1ll);
		uint32_t node = stacks_node(&f->stacks, STACKS_ROOT, stacks_frame(&f->stacks, name.s, name.len));
		uint32_t end = stack->kind == TABLE_INTEGER ? add_stack(f, &at, node, stack->i) : node;
		const struct table_value *function = samples ? table_answer_cell(r, row, 3) : NULL;
		if (end == node && function && function->kind == TABLE_TEXT) {
			end = stacks_node(&f->stacks, node, stacks_frame(&f->stacks, function->s, function->n));
		}
		stacks_weigh(&f->stacks, end, w->kind == TABLE_INTEGER && w->i > 0 ? (uint64_t)w->i : 0);
	}
	if (ok && (f->stacks.failed || name.failed)) {
		snprintf(p->why, sizeof p->why, "no memory");
		ok = false;
	}
	free(at.first);
	strbuf_finish(&name);
	table_answer_free(r);
	return ok;
}

static int by_weight(const void *a, const void *b, void *context)
{
	const struct flame *f = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct stacks_node *p = &f->stacks.node[x], *q = &f->stacks.node[y];
	return p->parent != q->parent       ? (p->parent < q->parent ? -1 : 1)
	       : f->total[x] != f->total[y] ? (f->total[x] > f->total[y] ? -1 : 1)
					    : (x < y ? -1 : x > y);
}

/* A node has a greater number than its parent. */
static bool lay_out(struct flame *f)
{
	uint32_t n = f->stacks.nodes;
	f->total = calloc(n + 1u, sizeof *f->total);
	f->order = calloc(n + 1u, sizeof *f->order);
	f->x = calloc(n + 1u, sizeof *f->x);
	f->depth = calloc(n + 1u, sizeof *f->depth);
	if (!f->total || !f->order || !f->x || !f->depth) {
		return false;
	}
	for (uint32_t i = n; i-- > 0;) {
		f->total[i] += f->stacks.node[i].weight;
		if (i > 0) {
			f->total[f->stacks.node[i].parent] += f->total[i];
		}
		f->order[i] = i;
	}
	qsort_r(f->order, n, sizeof *f->order, by_weight, f);
	double scale = f->total[0] ? WIDTH / (double)f->total[0] : 0;
	double *next = calloc(n + 1u, sizeof *next); /* where the next child begins */
	if (!next) {
		return false;
	}
	/* Parents stand in front of their children in this order, too: their numbers are smaller. */
	for (uint32_t k = 0; k < n; k++) {
		uint32_t i = f->order[k], parent = f->stacks.node[i].parent;
		if (i == 0) {
			continue;
		}
		f->depth[i] = f->depth[parent] + 1;
		f->x[i] = f->x[parent] + next[parent];
		next[parent] += (double)f->total[i] * scale;
		if ((double)f->total[i] * scale >= NARROW && f->depth[i] <= DEEPEST) {
			f->deepest = BASE_MAX(f->deepest, f->depth[i]);
		}
	}
	free(next);
	return true;
}

/* Warm colours; the same module has the same. */
static uint32_t color_of(const char *name)
{
	uint32_t h = 2166136261u;
	for (const char *c = name; *c && *c != '!'; c++) {
		h = (h ^ (uint8_t)*c) * 16777619u;
	}
	return (205 + h % 50) << 16 | (120 + (h >> 8) % 90) << 8 | (60 + (h >> 16) % 60);
}

static void weight_text(char *out, size_t cap, uint64_t weight, bool time)
{
	if (time) {
		snprintf(out, cap, "%.3f ms", (double)weight / 1e6);
	} else {
		snprintf(out, cap, "%llu samples", (unsigned long long)weight);
	}
}

static void draw_box(struct html_part *p, const struct flame *f, uint32_t i, bool time)
{
	const char *name = i ? f->stacks.frames.text[f->stacks.node[i].frame] : "all";
	double width = f->total[0] ? (double)f->total[i] * WIDTH / (double)f->total[0] : 0;
	char weight[48];
	weight_text(weight, sizeof weight, f->total[i], time);
	fprintf(p->f, "<g><title>");
	html_string(p, name);
	fprintf(p->f, ", %s, %.2f %%</title><rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\" fill=\"#%06x\"/>",
		weight, f->total[0] ? 100.0 * (double)f->total[i] / (double)f->total[0] : 0, f->x[i], f->depth[i] * ROW,
		BASE_MAX(width - 0.3, 0.2), ROW - 1, i ? color_of(name) : 0xd8dee4u);
	size_t room = (size_t)(width / LETTER);
	if (room >= 4) {
		const char *bang = strrchr(name, '!');
		const char *shown = bang && strlen(name) > room ? bang + 1 : name;
		size_t n = strlen(shown), cut = BASE_MIN(n, room - 1);
		while (cut > 0 && cut < n && ((uint8_t)shown[cut] & 0xC0) == 0x80) {
			cut--; /* not within a character */
		}
		fprintf(p->f, "<text x=\"%.2f\" y=\"%u\">", f->x[i] + 3, f->depth[i] * ROW + 12);
		html_text(p, shown, cut);
		fputs(cut < n ? "…</text>" : "</text>", p->f);
	}
	fputs("</g>\n", p->f);
}

static bool draw(struct html_part *p, const char *title, const char *about, const char *table, const char *weight,
		 const char *filter, bool time)
{
	struct flame f = {0};
	bool ok = gather(p, &f, table, weight, filter) && (f.stacks.nodes == 0 || lay_out(&f));
	if (ok && f.stacks.nodes > 0 && f.total[0] > 0) {
		fprintf(p->f, "<h2>%s</h2>\n<p>%s</p>\n<svg viewBox=\"0 0 %.0f %u\" role=\"img\" aria-label=\"%s\">\n",
			title, about, WIDTH, (f.deepest + 1) * ROW + 2, title);
		for (uint32_t k = 0; k < f.stacks.nodes; k++) {
			uint32_t i = f.order[k];
			bool wide = (double)f.total[i] * WIDTH / (double)f.total[0] >= NARROW && f.depth[i] <= DEEPEST;
			f.left_out += !wide;
			if (wide) {
				draw_box(p, &f, i, time);
			}
		}
		fputs("</svg>\n", p->f);
		if (f.left_out) {
			fprintf(p->f, "<p>%llu boxes are too narrow to be drawn</p>\n", (unsigned long long)f.left_out);
		}
	} else if (!ok && !p->why[0]) {
		snprintf(p->why, sizeof p->why, "no memory");
	}
	stacks_free(&f.stacks);
	free(f.total);
	free(f.order);
	free(f.x);
	free(f.depth);
	return ok;
}

bool html_flames(struct html_part *p)
{
	p->why[0] = 0;
	return draw(p, "Call stacks of samples",
		    "Samples that were not idle. A box is as wide as its function and all that it called ran; callers "
		    "are above. "
		    "Point at a box for its name and numbers.",
		    "samples", "count", "idle == false", false) &&
	       draw(p, "Call stacks of waits",
		    "Where threads waited, by the time that they did, from the switch away from them to the switch "
		    "back; "
		    "threads that wait for work all the time are in it.",
		    "waits", "sum(duration)", "kind == wait and not pid == 0", true);
}
