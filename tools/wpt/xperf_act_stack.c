/* SPDX-License-Identifier: MIT
 * The action stack: functions by how often they stand in call stacks, with callers and callees, as a page of
 * HTML with the tables that public readers of the report look for; or as folded stacks.
 */
#include "tools/common/event_xml.h"
#include "xml/xml.h"
#include "tools/wpt/xperf_action.h"
#include "tools/wpt/xperf_rows.h"

#include <regex.h>
#include <stdlib.h>
#include <strings.h>

#define DEPTH_MAX  512u
#define NAMES_MAX  (4u << 20)
#define TABLE_ROWS 2000u

/* Values of a function. */
enum { EXCLUSIVE, UNI_INCLUSIVE, MULTI_INCLUSIVE, VALUES };

struct regexes {
	regex_t *re;
	int count;
};
struct known {
	uint64_t address;
	uint32_t pid, function; /* function + 1; 0: an empty place */
};
struct edge {
	uint32_t caller, callee; /* + 1 */
	uint64_t hits;
};
struct stack {
	uint32_t least;
	bool folded, csv;
	struct regexes process, symbol, event;
	struct xperf_sums functions; /* tag: number + 1 */
	char **name;                 /* by number */
	uint64_t (*hits)[VALUES];
	uint32_t function_count, function_cap;
	struct known *known; /* open addressing */
	size_t known_count, known_cap;
	struct edge *edge; /* open addressing */
	size_t edge_count, edge_cap;
	struct xperf_sums lines; /* folded */
	uint64_t stacks;
};

/* ---- names ---------------------------------------------------------------------------------------- */

static size_t mix(uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ (b << 32 | b >> 32)) * 0x9e3779b97f4a7c15ull;
	return (size_t)(h ^ h >> 29);
}

static uint32_t function_of(struct xperf_job *j, const char *text)
{
	struct stack *s = j->own;
	struct xperf_sum *f = s->function_count < NAMES_MAX ? xperf_sum(j, &s->functions, text) : NULL;
	if (!f) {
		return 0;
	}
	if (f->tag == 0) {
		if (s->function_count == s->function_cap) {
			uint32_t cap = s->function_cap ? 2 * s->function_cap : 1024;
			void *names = realloc(s->name, cap * sizeof *s->name), *hits;
			s->name = names ? names : s->name;
			hits = names ? realloc(s->hits, cap * sizeof *s->hits) : NULL;
			s->hits = hits ? hits : s->hits;
			if (!hits) {
				j->failed = true;
				return 0;
			}
			s->function_cap = cap;
		}
		s->name[s->function_count] = f->key;
		memset(s->hits[s->function_count], 0, sizeof s->hits[0]);
		f->tag = ++s->function_count;
	}
	return (uint32_t)f->tag - 1;
}

static bool grow_known(struct stack *s)
{
	size_t cap = s->known_cap ? 2 * s->known_cap : 4096;
	struct known *list = calloc(cap, sizeof *list);
	if (!list) {
		return false;
	}
	for (size_t i = 0; i < s->known_cap; i++) {
		if (s->known[i].function) {
			size_t k = mix(s->known[i].address, s->known[i].pid) & (cap - 1);
			while (list[k].function) {
				k = (k + 1) & (cap - 1);
			}
			list[k] = s->known[i];
		}
	}
	free(s->known);
	s->known = list;
	s->known_cap = cap;
	return true;
}

/* The function at an address; each address of a process is looked up once. */
static uint32_t at_address(struct xperf_job *j, uint32_t pid, uint64_t address)
{
	struct stack *s = j->own;
	if (2 * s->known_count >= s->known_cap && !grow_known(s)) {
		j->failed = true;
		return 0;
	}
	size_t k = mix(address, pid) & (s->known_cap - 1);
	while (s->known[k].function && (s->known[k].address != address || s->known[k].pid != pid)) {
		k = (k + 1) & (s->known_cap - 1);
	}
	if (!s->known[k].function) {
		strbuf_clear(&j->key);
		xperf_symbol_cell(&j->key, j->state, pid, address, j->time);
		if (j->key.s && strcmp(j->key.s, "Unknown") == 0) {
			strbuf_adds(&j->key, "!***unknown***");
		}
		s->known[k] = (struct known){address, pid, function_of(j, j->key.s ? j->key.s : "") + 1};
		s->known_count++;
	}
	return s->known[k].function - 1;
}

static bool add_edge(struct stack *s, uint32_t caller, uint32_t callee)
{
	if (2 * s->edge_count >= s->edge_cap) {
		size_t cap = s->edge_cap ? 2 * s->edge_cap : 4096;
		struct edge *list = calloc(cap, sizeof *list);
		if (!list) {
			return false;
		}
		for (size_t i = 0; i < s->edge_cap; i++) {
			if (s->edge[i].caller) {
				size_t k = mix(s->edge[i].caller, s->edge[i].callee) & (cap - 1);
				while (list[k].caller) {
					k = (k + 1) & (cap - 1);
				}
				list[k] = s->edge[i];
			}
		}
		free(s->edge);
		s->edge = list;
		s->edge_cap = cap;
	}
	caller++;
	callee++;
	size_t k = mix(caller, callee) & (s->edge_cap - 1);
	while (s->edge[k].caller && (s->edge[k].caller != caller || s->edge[k].callee != callee)) {
		k = (k + 1) & (s->edge_cap - 1);
	}
	if (!s->edge[k].caller) {
		s->edge[k] = (struct edge){caller, callee, 0};
		s->edge_count++;
	}
	s->edge[k].hits++;
	return true;
}

/* ---- which stacks --------------------------------------------------------------------------------- */

static bool compile(struct xperf_job *j, const char *option, struct regexes *r)
{
	const struct winarg *g = winargs_find(j->w, option);
	r->re = g ? calloc((size_t)g->count, sizeof *r->re) : NULL;
	for (int i = 0; g && r->re && i < g->count; i++) {
		if (regcomp(&r->re[i], g->value[i], REG_EXTENDED | REG_ICASE | REG_NOSUB) != 0) {
			cli_usage(j->a, "-%s: '%s' is no regular expression", option, g->value[i]);
			return false;
		}
		r->count++;
	}
	j->failed = j->failed || (g && !r->re);
	return !j->failed;
}

static bool matches(const struct regexes *r, const char *text)
{
	for (int i = 0; i < r->count; i++) {
		if (regexec(&r->re[i], text, 0, NULL, 0) == 0) {
			return true;
		}
	}
	return r->count == 0;
}

static bool numbered(struct xperf_job *j, const char *option, uint32_t id)
{
	const struct winarg *g = winargs_find(j->w, option);
	for (int i = 0; g && i < g->count; i++) {
		if (strtoul(g->value[i], NULL, 0) == id) {
			return true;
		}
	}
	return !g;
}

static bool begin(struct xperf_job *j)
{
	struct stack *s = j->own;
	const char *format = winargs_value(j->w, "export", NULL);
	s->least = winargs_on(j->w, "butterfly") ? 10 : 1;
	s->folded = format && strcasecmp(format, "folded") == 0;
	s->csv = format && strcasecmp(format, "csv") == 0;
	if (format && !s->folded && !s->csv) {
		cli_usage(j->a, "-export takes folded or csv, not '%s'", format);
		return false;
	}
	return winargs_u32(j->w, "butterfly", 0, 0, UINT32_MAX, &s->least) && compile(j, "process", &s->process) &&
	       compile(j, "symbol", &s->symbol) && compile(j, "event", &s->event);
}

/* The event as the dumper calls it, or as others do. */
static bool event_matches(struct xperf_job *j)
{
	struct stack *s = j->own;
	const char *label = xperf_rows_label(j->name);
	return s->event.count == 0 || matches(&s->event, j->name) || (label && matches(&s->event, label));
}

static void fold(struct xperf_job *j, const uint32_t *frame, uint32_t n, const char *process, uint32_t pid)
{
	struct stack *s = j->own;
	strbuf_clear(&j->key);
	strbuf_addf(&j->key, "%s (%u)", process && *process ? process : "Unknown", pid);
	for (uint32_t i = n; i-- > 0;) {
		strbuf_addc(&j->key, ';');
		for (const char *c = s->name[frame[i]]; *c; c++) {
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
	    !numbered(j, "pid", k.pid) || !numbered(j, "tid", k.tid)) {
		return;
	}
	bool named = openetw_state_process(j->state, k.pid, j->time, &p) == ERROR_SUCCESS;
	if (!matches(&s->process, named ? p.name : "")) {
		return;
	}
	uint32_t n = BASE_MIN(k.count, DEPTH_MAX);
	uint64_t address[DEPTH_MAX];
	uint32_t pid = k.pid;
	memcpy(address, k.addresses, n * sizeof *address);
	bool wanted = s->symbol.count == 0;
	for (uint32_t i = 0; i < n && !j->failed; i++) {
		frame[i] = at_address(j, pid, address[i]);
		wanted = wanted || (!j->failed && matches(&s->symbol, s->name[frame[i]]));
	}
	if (!wanted || j->failed) {
		return;
	}
	s->stacks++;
	if (s->folded) {
		fold(j, frame, n, named ? p.name : NULL, pid);
		return;
	}
	s->hits[frame[0]][EXCLUSIVE]++;
	for (uint32_t i = 0; i < n; i++) {
		bool again = false;
		for (uint32_t m = 0; m < i && !again; m++) {
			again = frame[m] == frame[i];
		}
		s->hits[frame[i]][MULTI_INCLUSIVE]++;
		s->hits[frame[i]][UNI_INCLUSIVE] += !again;
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
	uint64_t x = sorting->hits[a][sorting_by], y = sorting->hits[b][sorting_by];
	return x != y ? (x > y ? -1 : 1) : strcmp(sorting->name[a], sorting->name[b]);
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

static double percent(const struct stack *s, uint64_t n)
{
	return s->stacks ? 100.0 * (double)n / (double)s->stacks : 0;
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
	fprintf(f, "<p>Stacks: %llu. Minimum hits: %u.</p>\n", (unsigned long long)s->stacks, s->least);
	sorting = s;
	sorting_by = EXCLUSIVE;
	qsort(order, s->function_count, sizeof *order, by_hits);
	table(f, "TblSE", "Functions by Exclusive Hits", "<th>Exclusive</th><th>%</th>");
	for (uint32_t i = 0; i < s->function_count && s->hits[order[i]][EXCLUSIVE] >= BASE_MAX(s->least, 1u); i++) {
		const uint64_t *h = s->hits[order[i]];
		fputs("<tr><td>", f);
		put_name(f, s->name[order[i]]);
		fprintf(f, "</td><td>%llu</td><td>%.2f%%</td></tr>\n", (unsigned long long)h[EXCLUSIVE],
			percent(s, h[EXCLUSIVE]));
	}
	fputs("</tbody></table>\n", f);
	sorting_by = UNI_INCLUSIVE;
	qsort(order, s->function_count, sizeof *order, by_hits);
	table(f, "TblSI", "Functions by UniInclusive Hits", "<th>UniInclusive</th><th>%</th><th>Exclusive</th>");
	for (uint32_t i = 0; i < s->function_count && s->hits[order[i]][UNI_INCLUSIVE] >= s->least; i++) {
		const uint64_t *h = s->hits[order[i]];
		fputs("<tr><td>", f);
		put_name(f, s->name[order[i]]);
		fprintf(f, "</td><td>%llu</td><td>%.2f%%</td><td>%llu</td></tr>\n",
			(unsigned long long)h[UNI_INCLUSIVE], percent(s, h[UNI_INCLUSIVE]),
			(unsigned long long)h[EXCLUSIVE]);
	}
	fputs("</tbody></table>\n", f);
	sorting_by = MULTI_INCLUSIVE;
	qsort(order, s->function_count, sizeof *order, by_hits);
	table(f, "TblSN", "Functions by Multi-Inclusive Hits with Callers and Callees",
	      "<th>Multi-Inclusive</th><th>Exclusive</th><th>UniInclusive</th><th>%</th>");
	for (uint32_t i = 0; i < s->function_count && s->hits[order[i]][MULTI_INCLUSIVE] >= s->least; i++) {
		const uint64_t *h = s->hits[order[i]];
		uint32_t me = order[i] + 1;
		if (i >= TABLE_ROWS) {
			left++;
			continue;
		}
		fputs("<tr class='ff'><td>", f);
		put_name(f, s->name[order[i]]);
		fprintf(f, "</td><td>%llu</td><td>%llu</td><td>%llu</td><td>%.2f%%</td></tr>\n",
			(unsigned long long)h[MULTI_INCLUSIVE], (unsigned long long)h[EXCLUSIVE],
			(unsigned long long)h[UNI_INCLUSIVE], percent(s, h[UNI_INCLUSIVE]));
		for (size_t k = first_edge(called, s->edge_count, me, true);
		     k < s->edge_count && called[k].callee == me; k++) {
			fputs("<tr class='pf'><td>&lt;-- ", f);
			put_name(f, s->name[called[k].caller - 1]);
			fprintf(f, "</td><td>%llu</td><td></td><td></td><td>%.2f%%</td></tr>\n",
				(unsigned long long)called[k].hits, percent(s, called[k].hits));
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
			put_name(f, s->name[calls[k].callee - 1]);
			fprintf(f, "</td><td>%llu</td><td></td><td></td><td>%.2f%%</td></tr>\n",
				(unsigned long long)calls[k].hits, percent(s, calls[k].hits));
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
		fprintf(stderr, "xperf: no stack was taken: there are none, or none that is asked for; -stackwalk "
				"records them\n");
	}
	if (s->folded) {
		xperf_sums_sort(&s->lines, 0);
		for (size_t i = 0; i < s->lines.count; i++) {
			fprintf(j->out, "%s %.0f\n", s->lines.list[i].key, s->lines.list[i].v[0]);
		}
		return;
	}
	uint32_t *order = malloc((s->function_count + 1) * sizeof *order);
	struct edge *calls = malloc((s->edge_count + 1) * sizeof *calls),
		    *called = malloc((s->edge_count + 1) * sizeof *called);
	size_t n = 0;
	j->failed = !order || !calls || !called;
	for (uint32_t i = 0; i < s->function_count && !j->failed; i++) {
		order[i] = i;
	}
	for (size_t i = 0; i < s->edge_cap && !j->failed; i++) {
		if (s->edge[i].caller) {
			calls[n++] = s->edge[i];
		}
	}
	if (!j->failed && s->csv) {
		sorting = s;
		sorting_by = UNI_INCLUSIVE;
		qsort(order, s->function_count, sizeof *order, by_hits);
		fprintf(j->out, "Function, UniInclusive, MultiInclusive, Exclusive, %%\n");
		for (uint32_t i = 0; i < s->function_count && s->hits[order[i]][UNI_INCLUSIVE] >= s->least; i++) {
			const uint64_t *h = s->hits[order[i]];
			strbuf_clear(&j->key);
			xperf_quote(&j->key, s->name[order[i]]);
			fprintf(j->out, "%s, %llu, %llu, %llu, %.2f\n", j->key.s ? j->key.s : "",
				(unsigned long long)h[UNI_INCLUSIVE], (unsigned long long)h[MULTI_INCLUSIVE],
				(unsigned long long)h[EXCLUSIVE], percent(s, h[UNI_INCLUSIVE]));
		}
	} else if (!j->failed) {
		memcpy(called, calls, n * sizeof *calls);
		qsort(calls, n, sizeof *calls, by_caller);
		qsort(called, n, sizeof *called, by_callee);
		page(j, order, calls, called);
	}
	free(order);
	free(calls);
	free(called);
}

static void drop(struct regexes *r)
{
	for (int i = 0; i < r->count; i++) {
		regfree(&r->re[i]);
	}
	free(r->re);
}

static void release(struct xperf_job *j)
{
	struct stack *s = j->own;
	drop(&s->process);
	drop(&s->symbol);
	drop(&s->event);
	xperf_sums_finish(&s->functions);
	xperf_sums_finish(&s->lines);
	free(s->name);
	free(s->hits);
	free(s->known);
	free(s->edge);
}

static const struct cli_option options[] = {
	{0, "butterfly", "[HITS]", "functions with this many hits and more (default 10; without this option 1)", NULL},
	{0, "pid", "PID…", "only stacks of these processes", NULL},
	{0, "tid", "TID…", "only stacks of these threads", NULL},
	{0, "process", "REGEX…", "only stacks of processes whose name matches", NULL},
	{0, "symbol", "REGEX…", "only stacks that have a function that matches", NULL},
	{0, "event", "REGEX…", "only stacks of events whose name matches, such as SampledProfile", NULL},
	{0, "export", "FORMAT", "folded stacks or csv instead of HTML", "folded|csv"},
	{0, "range", "FROM TO", "only these times from the start: 1.5s, 20ms, microseconds", NULL},
	{0},
};

const struct xperf_action xperf_stack_actions[] = {
	{.name = "stack",
	 .summary = "functions in call stacks with callers and callees (HTML)",
	 .options = options,
	 .source = "PROFILE -stackwalk Profile",
	 .own = sizeof(struct stack),
	 .begin = begin,
	 .event = event,
	 .end = end,
	 .release = release,
	 .stacks = true},
	{0},
};
