/* SPDX-License-Identifier: MIT
 * report --html: what happened when, as one lane for each kind of thing.
 */
#include "tools/openetw/report_html.h"
#include "tools/tables/table_choose.h"

#include <stdlib.h>

#define STEPS  600
#define LEFT   150
#define WIDTH  1200
#define HEIGHT 44
#define GAP    12

struct lane {
	const char *title, *color;
	const char *table, *column, *value; /* a filter: `column` is `value`; NULL: all rows */
	const char *weight;                 /* a column of numbers; NULL: rows are counted */
	enum { COUNTED, BYTES, BUSY } kind; /* BUSY: the part of the time that `weight` covers, of all processors */
};
static const struct lane lanes[] = {
	{"processors busy", "#3b7dd8", "cpu", NULL, NULL, "running", BUSY},
	{"samples", "#3b7dd8", "samples", "idle", "false", NULL, COUNTED},
	{"disk read", "#c9782b", "io", "operation", "read", "bytes", BYTES},
	{"disk written", "#b3492d", "io", "operation", "write", "bytes", BYTES},
	{"network", "#2c9a7a", "net", NULL, NULL, "bytes", BYTES},
	{"page faults", "#8a5fb8", "faults", NULL, NULL, NULL, COUNTED},
	{"memory taken", "#8a5fb8", "memory", "operation", "virtual alloc", "bytes", BYTES},
	{"collections (.NET)", "#a03d6e", "gc", NULL, NULL, NULL, COUNTED},
	{"events", "#5a6a7a", "events", NULL, NULL, NULL, COUNTED},
};

struct columns {
	int time, weight, filter, pid, name, layer;
};

static bool text_is(const struct table_value *v, const char *s)
{
	if (v->kind == TABLE_INTEGER) {
		return (v->i != 0) == (strcmp(s, "true") == 0);
	}
	return v->kind == TABLE_TEXT && v->n == strlen(s) && memcmp(v->s, s, v->n) == 0;
}

static bool of_process(const struct html_part *p, const struct table_view *v, const struct columns *c, uint64_t row)
{
	struct table_value name;
	bool named = table_view_value(v, c->name, row, &name) && name.kind == TABLE_TEXT;
	for (int i = 0; i < p->process_count; i++) {
		if (table_word_is(p->process[i], table_view_integer(v, c->pid, row, -1), named ? name.s : NULL,
				  named ? name.n : 0)) {
			return true;
		}
	}
	return p->process_count == 0;
}

static double step_ns(const struct html_part *p)
{
	double all = (double)p->to - (double)p->from;
	return all > STEPS ? all / STEPS : 1;
}

/* An interval goes into every step that it touches, in parts. */
static void add_interval(const struct html_part *p, double steps[STEPS], int64_t start, double length)
{
	double step = step_ns(p), from = ((double)start - (double)p->from) / step, to = from + length / step;
	from = BASE_MAX(from, 0.0);
	to = BASE_MIN(to, (double)STEPS);
	for (int i = (int)from; i < STEPS && (double)i < to; i++) {
		double part = BASE_MIN(to, i + 1.0) - BASE_MAX(from, (double)i);
		steps[i] += part > 0 ? part : 0;
	}
}

static bool fill(struct html_part *p, const struct lane *l, double steps[STEPS], double *ret_sum)
{
	const struct table_view *v = table_set_get(p->set, l->table, p->why, sizeof p->why);
	struct table_value x;
	*ret_sum = 0;
	if (!v) {
		return false;
	}
	struct columns c = {table_view_column(v, "time"),
			    l->weight ? table_view_column(v, l->weight) : -1,
			    l->column ? table_view_column(v, l->column) : -1,
			    table_view_column(v, "pid"),
			    table_view_column(v, "process_name"),
			    strcmp(l->table, "io") == 0 ? table_view_column(v, "layer") : -1};
	c.time = c.time < 0 ? table_view_column(v, "start") : c.time;
	for (uint64_t row = 0; row < table_view_rows(v); row++) {
		int64_t at = table_view_integer(v, c.time, row, INT64_MIN);
		if ((l->column && !(table_view_value(v, c.filter, row, &x) && text_is(&x, l->value))) ||
		    (c.layer >= 0 && !(table_view_value(v, c.layer, row, &x) && text_is(&x, "disk"))) ||
		    !of_process(p, v, &c, row)) {
			continue;
		}
		double weight = l->weight ? (double)table_view_integer(v, c.weight, row, 0) : 1;
		if (l->kind == BUSY) {
			if (table_view_integer(v, c.pid, row, 0) != 0 && at <= p->to) {
				add_interval(p, steps, at, weight);
				*ret_sum += weight;
			}
		} else if (at >= p->from && at <= p->to) {
			int i = (int)(((double)at - (double)p->from) / step_ns(p));
			steps[i < STEPS ? i : STEPS - 1] += weight;
			*ret_sum += weight;
		}
	}
	return true;
}

static int processors(struct html_part *p)
{
	const struct table_view *v = table_set_get(p->set, "trace", p->why, sizeof p->why);
	int64_t n = v ? table_view_integer(v, table_view_column(v, "processors"), 0, 1) : 1;
	return n > 0 && n < 65536 ? (int)n : 1;
}

static void most_text(const struct lane *l, double most, double step, char *out, size_t cap)
{
	char size[32];
	if (l->kind == BUSY) {
		snprintf(out, cap, "100 %%");
	} else if (l->kind == BYTES) {
		cli_size_text((uint64_t)BASE_MIN(most * 1e9 / step, 1e18), size, sizeof size);
		snprintf(out, cap, "%s/s", size);
	} else {
		snprintf(out, cap, "%.0f/s", most * 1e9 / step);
	}
}

static void draw(struct html_part *p, const struct lane *l, const double steps[STEPS], double most, int y)
{
	char text[64];
	double x = LEFT, width = (double)(WIDTH - LEFT) / STEPS;
	most_text(l, most, step_ns(p), text, sizeof text);
	fprintf(p->f, "<text x=\"0\" y=\"%d\">%s</text><text class=\"axis\" x=\"0\" y=\"%d\">", y + 16, l->title,
		y + 32);
	html_string(p, text);
	fprintf(p->f,
		"</text>\n<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#f3f6f9\"/>"
		"<path fill=\"%s\" d=\"M%d %d",
		LEFT, y, WIDTH - LEFT, HEIGHT, l->color, LEFT, y + HEIGHT);
	for (int i = 0; i < STEPS; i++, x += width) {
		double part = most > 0 ? BASE_MIN(steps[i] / most, 1.0) : 0;
		/* What there is is seen. */
		double h = part > 0 ? BASE_MAX(part * HEIGHT, 0.7) : 0;
		fprintf(p->f, "L%.1f %.1fL%.1f %.1f", x, y + HEIGHT - h, x + width, y + HEIGHT - h);
	}
	fprintf(p->f, "L%d %dZ\"/>\n", WIDTH, y + HEIGHT);
}

/* Seconds at round distances. */
static void draw_axis(struct html_part *p, int y)
{
	double seconds = ((double)p->to - (double)p->from) / 1e9, step = 1;
	int digits = 0;
	while (step * 10 <= seconds && step < 1e9) {
		step *= 10;
	}
	while (step > seconds && step > 1e-9) {
		step /= 10;
	}
	step = seconds / step < 2 ? step / 5 : seconds / step < 5 ? step / 2 : step;
	for (double unit = 1; unit > step * 1.0001 && digits < 9; unit /= 10) {
		digits++;
	}
	double begin = (double)p->from / 1e9 / step, first = (double)(int64_t)begin;
	first = (first < begin ? first + 1 : first) * step;
	for (int i = 0; i < 20 && seconds > 0; i++) {
		double at = first + i * step;
		double x = LEFT + (at - (double)p->from / 1e9) / seconds * (WIDTH - LEFT);
		if (x > WIDTH) {
			break;
		}
		fprintf(p->f,
			"<line x1=\"%.1f\" x2=\"%.1f\" y1=\"0\" y2=\"%d\" stroke=\"#9aa7b4\" stroke-opacity=\".35\"/>"
			"<text class=\"axis\" x=\"%.1f\" y=\"%d\" text-anchor=\"%s\">%.*f s</text>\n",
			x, x, y, x, y + 14,
			x > WIDTH - 30  ? "end"
			: x < LEFT + 15 ? "start"
					: "middle",
			digits, at);
	}
}

bool html_timeline(struct html_part *p)
{
	double sum, most;
	int y = 0, cpus = processors(p), count = 0;
	double(*steps)[STEPS] = calloc(BASE_ARRAY_LEN(lanes), sizeof *steps);
	bool wanted[BASE_ARRAY_LEN(lanes)] = {0};
	if (!steps) {
		snprintf(p->why, sizeof p->why, "no memory");
		return false;
	}
	for (size_t i = 0; i < BASE_ARRAY_LEN(lanes); i++) {
		if (!fill(p, &lanes[i], steps[i], &sum)) {
			free(steps);
			return false;
		}
		wanted[i] = sum > 0;
		count += wanted[i];
	}
	fprintf(p->f,
		"<h2>Time</h2>\n<p>The number is what the full height of a lane means.</p>\n"
		"<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"time line\">\n",
		WIDTH, count * (HEIGHT + GAP) + 20);
	for (size_t i = 0; i < BASE_ARRAY_LEN(lanes); i++) {
		most = lanes[i].kind == BUSY ? cpus : 0;
		for (int k = 0; k < STEPS && lanes[i].kind != BUSY; k++) {
			most = BASE_MAX(most, steps[i][k]);
		}
		if (wanted[i]) {
			draw(p, &lanes[i], steps[i], most, y);
			y += HEIGHT + GAP;
		}
	}
	draw_axis(p, y);
	fputs("</svg>\n", p->f);
	free(steps);
	return true;
}
