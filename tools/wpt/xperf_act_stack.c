/* SPDX-License-Identifier: MIT
 * The action stack: functions by how often they stand in call stacks, with callers and callees, as a page of
 * HTML with the tables that public readers of the report look for; or as folded stacks.
 */
#include "base/map.h"
#include "base/vec.h"
#include "tools/common/event_xml.h"
#include "xml/xml.h"
#include "tools/wpt/xperf_action.h"
#include "tools/wpt/xperf_rows.h"

#include <stdlib.h>

#define DEPTH_MAX  512u
#define NAMES_MAX  (4u << 20)
#define TABLE_ROWS 2000u

/* Values of a function. */
enum { EXCLUSIVE, UNI_INCLUSIVE, MULTI_INCLUSIVE, VALUES };

struct known {
	uint64_t address;
	uint32_t pid, function;
};
struct edge {
	uint32_t caller, callee;
	uint64_t hits;
};
struct stack_options {
	uint64_t least;
	enum { HTML, FOLDED, CSV } format;
	struct cli_numbers pids, tids;
	struct xperf_regexes process, symbol, event;
};
struct stack {
	struct stack_options o;
	struct xperf_sums functions; /* v: hits; the number of a function is its index */
	struct known *known;
	size_t known_count, known_cap;
	struct map known_places; /* by process and address */
	struct edge *edge;
	size_t edge_count, edge_cap;
	struct map edge_places;  /* by caller and callee */
	struct xperf_sums lines; /* folded */
	uint64_t stacks;
};

/* ---- names ---------------------------------------------------------------------------------------- */

static const char *name_of(const struct stack *s, uint32_t function)
{
	return s->functions.list[function].key;
}

static double *hits_of(const struct stack *s, uint32_t function)
{
	return s->functions.list[function].v;
}

static uint32_t function_of(struct xperf_job *j, const char *text)
{
	struct stack *s = j->own;
	struct xperf_sum *f = s->functions.count < NAMES_MAX ? xperf_sum(j, &s->functions, text) : NULL;
	return f ? (uint32_t)(f - s->functions.list) : 0;
}

/* The function at an address; each address of a process is looked up once. */
static uint32_t at_address(struct xperf_job *j, uint32_t pid, uint64_t address)
{
	struct stack *s = j->own;
	struct known k = {address, pid, 0};
	uint64_t hash = map_hash(&s->known_places, &k, offsetof(struct known, function));
	MAP_EACH(&s->known_places, hash, at) {
		const struct known *have = &s->known[map_value(&s->known_places, at)];
		if (have->address == address && have->pid == pid) {
			return have->function;
		}
	}
	strbuf_clear(&j->key);
	xperf_symbol_cell(&j->key, j->state, pid, address, j->time);
	if (j->key.s && strcmp(j->key.s, "Unknown") == 0) {
		strbuf_adds(&j->key, "!***unknown***");
	}
	k.function = function_of(j, j->key.s ? j->key.s : "");
	if (!VEC_ROOM(s->known, s->known_count, s->known_cap) || map_add(&s->known_places, hash, s->known_count) < 0) {
		j->failed = true;
		return 0;
	}
	s->known[s->known_count++] = k;
	return k.function;
}

static bool add_edge(struct stack *s, uint32_t caller, uint32_t callee)
{
	uint64_t key = (uint64_t)caller << 32 | callee;
	size_t at = map_find(&s->edge_places, key);
	if (at == MAP_NONE) {
		if (!VEC_ROOM(s->edge, s->edge_count, s->edge_cap) ||
		    map_add(&s->edge_places, key, s->edge_count) < 0) {
			return false;
		}
		s->edge[s->edge_count++] = (struct edge){caller, callee, 1};
		return true;
	}
	s->edge[map_value(&s->edge_places, at)].hits++;
	return true;
}

/* ---- which stacks --------------------------------------------------------------------------------- */

/* The event as the dumper calls it, or as others do. */
static bool event_matches(struct xperf_job *j)
{
	struct stack *s = j->own;
	const char *label = xperf_rows_label(j->name);
	return xperf_regexes_match(&s->o.event, j->name) || (label && xperf_regexes_match(&s->o.event, label));
}

static void fold(struct xperf_job *j, const uint32_t *frame, uint32_t n, const char *process, uint32_t pid)
{
	struct stack *s = j->own;
	strbuf_clear(&j->key);
	strbuf_addf(&j->key, "%s (%u)", process && *process ? process : "Unknown", pid);
	for (uint32_t i = n; i-- > 0;) {
		strbuf_addc(&j->key, ';');
		for (const char *c = name_of(s, frame[i]); *c; c++) {
			strbuf_addc(&j->key, *c == ';' || *c == '\n' ? ':' : *c);
		}
	}
	struct xperf_sum *line = j->key.failed ? NULL : xperf_sum(j, &s->lines, j->key.s);
	if (line) {
		line->v[0]++;
	}
}

static void event(struct xperf_job *j)
{
	struct stack *s = j->own;
	struct openetw_stack k = {.size = sizeof k};
	struct openetw_process p = {.size = sizeof p};
	uint32_t frame[DEPTH_MAX];
	if (openetw_state_stack(j->state, j->e, &k) != ERROR_SUCCESS || k.count == 0 || !event_matches(j) ||
	    (s->o.pids.count && !xperf_numbers_have(&s->o.pids, k.pid)) ||
	    (s->o.tids.count && !xperf_numbers_have(&s->o.tids, k.tid))) {
		return;
	}
	bool named = openetw_state_process(j->state, k.pid, j->time, &p) == ERROR_SUCCESS;
	if (!xperf_regexes_match(&s->o.process, named ? p.name : "")) {
		return;
	}
	uint32_t n = BASE_MIN(k.count, DEPTH_MAX);
	uint64_t address[DEPTH_MAX];
	uint32_t pid = k.pid;
	memcpy(address, k.addresses, n * sizeof *address);
	bool wanted = s->o.symbol.count == 0;
	for (uint32_t i = 0; i < n && !j->failed; i++) {
		frame[i] = at_address(j, pid, address[i]);
		wanted = wanted || (!j->failed && xperf_regexes_match(&s->o.symbol, name_of(s, frame[i])));
	}
	if (!wanted || j->failed) {
		return;
	}
	s->stacks++;
	if (s->o.format == FOLDED) {
		fold(j, frame, n, named ? p.name : NULL, pid);
		return;
	}
	hits_of(s, frame[0])[EXCLUSIVE]++;
	for (uint32_t i = 0; i < n; i++) {
		bool again = false;
		for (uint32_t m = 0; m < i && !again; m++) {
			again = frame[m] == frame[i];
		}
		hits_of(s, frame[i])[MULTI_INCLUSIVE]++;
		hits_of(s, frame[i])[UNI_INCLUSIVE] += !again;
		if (i > 0 && !add_edge(s, frame[i], frame[i - 1])) {
			j->failed = true;
		}
	}
}

/* ---- the page --------------------------------------------------------------------------------------- */

static void html(FILE *f, const char *s)
{
	struct strbuf b = {0};
	xml_escape(&b, s, strlen(s));
	fwrite(b.s ? b.s : "", 1, b.len, f);
	strbuf_finish(&b);
}

/* module!function, each linked as readers of the report know it. */
static void put_name(FILE *f, const char *name)
{
	size_t n = strcspn(name, "!");
	char module[256];
	snprintf(module, sizeof module, "%.*s", (int)n, name);
	fputs("<a href='#m'>", f);
	html(f, module);
	fputs("</a>!<a href='#s'>", f);
	html(f, name[n] ? name + n + 1 : "");
	fputs("</a>", f);
}

static const struct stack *sorting;
static int sorting_by;

static int by_hits(const void *pa, const void *pb)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	uint64_t x = hits_of(sorting, a)[sorting_by], y = hits_of(sorting, b)[sorting_by];
	return x != y ? (x > y ? -1 : 1) : strcmp(name_of(sorting, a), name_of(sorting, b));
}

static int by_caller(const void *pa, const void *pb)
{
	const struct edge *a = pa, *b = pb;
	return a->caller != b->caller ? (a->caller < b->caller ? -1 : 1)
	       : a->hits != b->hits   ? (a->hits > b->hits ? -1 : 1)
				      : (a->callee > b->callee) - (a->callee < b->callee);
}

static int by_callee(const void *pa, const void *pb)
{
	const struct edge *a = pa, *b = pb;
	return a->callee != b->callee ? (a->callee < b->callee ? -1 : 1)
	       : a->hits != b->hits   ? (a->hits > b->hits ? -1 : 1)
				      : (a->caller > b->caller) - (a->caller < b->caller);
}

static double percent(const struct stack *s, double n)
{
	return s->stacks ? 100.0 * n / (double)s->stacks : 0;
}

static size_t first_edge(const struct edge *e, size_t n, uint32_t function, bool callee)
{
	size_t low = 0, high = n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if ((callee ? e[middle].callee : e[middle].caller) < function) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

static void table(FILE *f, const char *id, const char *title, const char *columns)
{
	fprintf(f, "<h2 id='%s'>%s</h2>\n<table><thead><tr><th>Function</th>%s</tr></thead><tbody>\n", id, title,
		columns);
}

static void page(struct xperf_job *j, uint32_t *order, struct edge *calls, struct edge *called)
{
	struct stack *s = j->own;
	FILE *f = j->out;
	uint64_t left = 0;
	fputs("<!DOCTYPE html>\n<html><head><meta charset='utf-8'><title>Stacks</title>\n"
	      "<style>body{font-family:sans-serif}table{border-collapse:collapse}td,th{padding:0 .5em;text-align:right}"
	      "td:first-child,th:first-child{text-align:left}.ff{font-weight:bold}</style></head><body>\n"
	      "<h1>Stack Butterfly</h1>\n<p><a href='#TblSE'>Functions by Exclusive Hits</a> | "
	      "<a href='#TblSI'>Functions by UniInclusive Hits</a> | "
	      "<a href='#TblSN'>Functions by Multi-Inclusive Hits with Callers and Callees</a></p>\n",
	      f);
	fprintf(f, "<p>Stacks: %llu. Minimum hits: %llu.</p>\n", (unsigned long long)s->stacks,
		(unsigned long long)s->o.least);
	sorting = s;
	sorting_by = EXCLUSIVE;
	qsort(order, s->functions.count, sizeof *order, by_hits);
	table(f, "TblSE", "Functions by Exclusive Hits", "<th>Exclusive</th><th>%</th>");
	for (uint32_t i = 0;
	     i < s->functions.count && hits_of(s, order[i])[EXCLUSIVE] >= BASE_MAX(s->o.least, UINT64_C(1)); i++) {
		const double *h = hits_of(s, order[i]);
		fputs("<tr><td>", f);
		put_name(f, name_of(s, order[i]));
		fprintf(f, "</td><td>%llu</td><td>%.2f%%</td></tr>\n", (unsigned long long)h[EXCLUSIVE],
			percent(s, h[EXCLUSIVE]));
	}
	fputs("</tbody></table>\n", f);
	sorting_by = UNI_INCLUSIVE;
	qsort(order, s->functions.count, sizeof *order, by_hits);
	table(f, "TblSI", "Functions by UniInclusive Hits", "<th>UniInclusive</th><th>%</th><th>Exclusive</th>");
	for (uint32_t i = 0; i < s->functions.count && hits_of(s, order[i])[UNI_INCLUSIVE] >= s->o.least; i++) {
		const double *h = hits_of(s, order[i]);
		fputs("<tr><td>", f);
		put_name(f, name_of(s, order[i]));
		fprintf(f, "</td><td>%llu</td><td>%.2f%%</td><td>%llu</td></tr>\n",
			(unsigned long long)h[UNI_INCLUSIVE], percent(s, h[UNI_INCLUSIVE]),
			(unsigned long long)h[EXCLUSIVE]);
	}
	fputs("</tbody></table>\n", f);
	sorting_by = MULTI_INCLUSIVE;
	qsort(order, s->functions.count, sizeof *order, by_hits);
	table(f, "TblSN", "Functions by Multi-Inclusive Hits with Callers and Callees",
	      "<th>Multi-Inclusive</th><th>Exclusive</th><th>UniInclusive</th><th>%</th>");
	for (uint32_t i = 0; i < s->functions.count && hits_of(s, order[i])[MULTI_INCLUSIVE] >= s->o.least; i++) {
		const double *h = hits_of(s, order[i]);
		uint32_t me = order[i];
		if (i >= TABLE_ROWS) {
			left++;
			continue;
		}
		fputs("<tr class='ff'><td>", f);
		put_name(f, name_of(s, order[i]));
		fprintf(f, "</td><td>%llu</td><td>%llu</td><td>%llu</td><td>%.2f%%</td></tr>\n",
			(unsigned long long)h[MULTI_INCLUSIVE], (unsigned long long)h[EXCLUSIVE],
			(unsigned long long)h[UNI_INCLUSIVE], percent(s, h[UNI_INCLUSIVE]));
		for (size_t k = first_edge(called, s->edge_count, me, true);
		     k < s->edge_count && called[k].callee == me; k++) {
			fputs("<tr class='pf'><td>&lt;-- ", f);
			put_name(f, name_of(s, called[k].caller));
			fprintf(f, "</td><td>%llu</td><td></td><td></td><td>%.2f%%</td></tr>\n",
				(unsigned long long)called[k].hits, percent(s, (double)called[k].hits));
		}
		if (h[EXCLUSIVE]) {
			fprintf(f,
				"<tr "
				"class='cf'><td>***itself***</td><td>%llu</td><td></td><td></td><td>%.2f%%</td></tr>\n",
				(unsigned long long)h[EXCLUSIVE], percent(s, h[EXCLUSIVE]));
		}
		for (size_t k = first_edge(calls, s->edge_count, me, false); k < s->edge_count && calls[k].caller == me;
		     k++) {
			fputs("<tr class='cf'><td>--&gt; ", f);
			put_name(f, name_of(s, calls[k].callee));
			fprintf(f, "</td><td>%llu</td><td></td><td></td><td>%.2f%%</td></tr>\n",
				(unsigned long long)calls[k].hits, percent(s, (double)calls[k].hits));
		}
	}
	fputs("</tbody></table>\n", f);
	if (left) {
		fprintf(f,
			"<p>%llu more functions are not shown here; -butterfly N takes those with N hits and "
			"more.</p>\n",
			(unsigned long long)left);
	}
	fputs("</body></html>\n", f);
}

static void end(struct xperf_job *j)
{
	struct stack *s = j->own;
	if (s->stacks == 0) {
		fprintf(stderr,
			"%s: no stack was taken: there are none, or none that is asked for; -stackwalk records them\n",
			j->a->command->name);
	}
	if (s->o.format == FOLDED) {
		xperf_sums_sort(&s->lines, 0);
		for (size_t i = 0; i < s->lines.count; i++) {
			fprintf(j->out, "%s %.0f\n", s->lines.list[i].key, s->lines.list[i].v[0]);
		}
		return;
	}
	uint32_t *order = malloc((s->functions.count + 1) * sizeof *order);
	struct edge *calls = malloc((s->edge_count + 1) * sizeof *calls),
		    *called = malloc((s->edge_count + 1) * sizeof *called);
	size_t n = s->edge_count;
	j->failed = !order || !calls || !called;
	for (uint32_t i = 0; i < s->functions.count && !j->failed; i++) {
		order[i] = i;
	}
	if (!j->failed && s->o.format == CSV) {
		sorting = s;
		sorting_by = UNI_INCLUSIVE;
		qsort(order, s->functions.count, sizeof *order, by_hits);
		fprintf(j->out, "Function, UniInclusive, MultiInclusive, Exclusive, %%\n");
		for (uint32_t i = 0; i < s->functions.count && hits_of(s, order[i])[UNI_INCLUSIVE] >= s->o.least; i++) {
			const double *h = hits_of(s, order[i]);
			strbuf_clear(&j->key);
			xperf_quote(&j->key, name_of(s, order[i]));
			fprintf(j->out, "%s, %llu, %llu, %llu, %.2f\n", j->key.s ? j->key.s : "",
				(unsigned long long)h[UNI_INCLUSIVE], (unsigned long long)h[MULTI_INCLUSIVE],
				(unsigned long long)h[EXCLUSIVE], percent(s, h[UNI_INCLUSIVE]));
		}
	} else if (!j->failed) {
		if (n) {
			memcpy(calls, s->edge, n * sizeof *calls);
			memcpy(called, s->edge, n * sizeof *calls);
		}
		qsort(calls, n, sizeof *calls, by_caller);
		qsort(called, n, sizeof *called, by_callee);
		page(j, order, calls, called);
	}
	free(order);
	free(calls);
	free(called);
}

static void release(struct xperf_job *j)
{
	struct stack *s = j->own;
	xperf_regexes_finish(&s->o.process);
	xperf_regexes_finish(&s->o.symbol);
	xperf_regexes_finish(&s->o.event);
	xperf_sums_finish(&s->functions);
	xperf_sums_finish(&s->lines);
	free(s->known);
	free(s->edge);
	map_free(&s->known_places);
	map_free(&s->edge_places);
}

static const struct cli_option options[] = {
	CLI_NUMBER_OR(stack, o.least, 0, "butterfly", "[HITS]", 10, 0, UINT32_MAX,
		      "functions with this many hits and more (default 10; without this option 1)"),
	XPERF_IDS(stack, o.pids, "pid", "PID…", "only stacks of these processes"),
	XPERF_IDS(stack, o.tids, "tid", "TID…", "only stacks of these threads"),
	XPERF_REGEXES(stack, o.process, "process", "only stacks of processes whose name matches"),
	XPERF_REGEXES(stack, o.symbol, "symbol", "only stacks that have a function that matches"),
	XPERF_REGEXES(stack, o.event, "event", "only stacks of events whose name matches, such as SampledProfile"),
	CLI_CHOICE(stack, o.format, 1, 0, "export", "FORMAT", "folded|csv", "folded stacks or csv instead of HTML"),
	XPERF_RANGE,
	{0},
};

const struct xperf_action xperf_stack_actions[] = {
	{.name = "stack",
	 .summary = "functions in call stacks with callers and callees (HTML)",
	 .options = options,
	 .source = "PROFILE -stackwalk Profile",
	 .own = sizeof(struct stack),
	 XPERF_DEFAULTS(stack_options, .least = 1),
	 .event = event,
	 .end = end,
	 .release = release,
	 .stacks = true},
	{0},
};
