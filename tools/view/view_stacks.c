/* SPDX-License-Identifier: MIT
 * stacks: call trees with names, for flame graphs; functions: the same as a list, with callers and callees.
 */
#include "tools/view/view.h"

#include "base/map.h"
#include "base/vec.h"
#include "tools/tables/table_make.h"

#include <stdlib.h>

#define FRAMES_MOST 192u
#define NODES_MOST  400000u /* of a tree before it is pruned */
#define NAME_MOST   600u

/* ---- a tree of names -------------------------------------------------------------------------------- */

struct node {
	uint32_t parent, name; /* of `names` */
	double self, total;
};
struct tree {
	struct node *nodes;
	uint32_t count, cap;
	struct map child; /* parent and name: the node */
	char **names;
	uint32_t name_count, name_cap;
	struct map name_of;    /* hash */
	struct map address_of; /* process and address: the name */
	bool full, failed;
};

static uint32_t name_number(struct tree *t, const char *s)
{
	size_t n = strlen(s);
	uint64_t key = map_hash(&t->name_of, s, n);
	MAP_EACH(&t->name_of, key, at) {
		if (strcmp(t->names[map_value(&t->name_of, at)], s) == 0) {
			return (uint32_t)map_value(&t->name_of, at);
		}
	}
	char *copy = strdup(s);
	if (!copy || !VEC_ROOM(t->names, t->name_count, t->name_cap) || map_add(&t->name_of, key, t->name_count) < 0) {
		free(copy);
		t->failed = true;
		return 0;
	}
	t->names[t->name_count] = copy;
	return t->name_count++;
}

static uint32_t child_of(struct tree *t, uint32_t parent, uint32_t name)
{
	uint64_t key = (uint64_t)parent << 32 | name;
	size_t at = map_find(&t->child, key);
	if (at != MAP_NONE) {
		return (uint32_t)map_value(&t->child, at);
	}
	if (t->count == NODES_MOST) {
		t->full = true;
		return parent;
	}
	if (!VEC_ROOM(t->nodes, t->count, t->cap) || map_add(&t->child, key, t->count) < 0) {
		t->failed = true;
		return parent;
	}
	t->nodes[t->count] = (struct node){parent, name, 0, 0};
	return t->count++;
}

static void tree_free(struct tree *t)
{
	for (uint32_t i = 0; i < t->name_count; i++) {
		free(t->names[i]);
	}
	free(t->names);
	free(t->nodes);
	map_free(&t->child);
	map_free(&t->name_of);
	map_free(&t->address_of);
}

/* ---- what is asked ---------------------------------------------------------------------------------- */

struct asked {
	struct view_trace *trace;
	struct table_maker *maker;
	struct tree tree;
	bool inverted, kernel, modules, by_process;
	uint32_t unnamed;
};

/* The name of a frame: "module!function", or the module alone. */
static uint32_t frame_name(struct asked *a, uint32_t process, uint64_t address, bool called)
{
	char name[NAME_MOST];
	OPENETW_SIZED(struct openetw_index_process, p);
	uint64_t key = map_mix(address + (called ? 0 : 1), 0x9E3779B97F4A7C15ull + process);
	size_t at = map_find(&a->tree.address_of, key);
	if (at != MAP_NONE) {
		return (uint32_t)map_value(&a->tree.address_of, at);
	}
	if (openetw_index_process(a->trace->x, process, &p) != ERROR_SUCCESS) {
		p.pid = OPENETW_UNKNOWN_ID;
		p.end = INT64_MAX;
	}
	/* Names of a process hold at a time: late in its life all its modules are there. */
	int64_t time = p.end != INT64_MAX && p.end > p.start ? p.end : a->maker->about.last;
	names_of(&a->maker->names, p.pid, address - (called ? 1 : 0), table_make_filetime(a->maker, time), name,
		 sizeof name);
	if (strcmp(name, "?!?") == 0) {
		snprintf(name, sizeof name, "0x%llx", (unsigned long long)address);
		a->unnamed++;
	}
	char *bang = strchr(name, '!');
	if (a->modules && bang) {
		*bang = 0;
	}
	uint32_t number = name_number(&a->tree, name);
	map_add(&a->tree.address_of, key, number);
	return number;
}

/* A stack with its weight. `frames`: innermost first. */
static void add_stack(struct asked *a, uint32_t process, const uint64_t *frames, uint32_t n, bool interrupted,
		      double weight)
{
	OPENETW_SIZED(struct openetw_index_process, p);
	struct tree *t = &a->tree;
	uint32_t at = 0, last = UINT32_MAX;
	char name[300];
	t->nodes[0].total += weight;
	if (a->by_process && !a->inverted) {
		bool known =
			openetw_index_process(a->trace->x, process, &p) == ERROR_SUCCESS && p.pid != OPENETW_UNKNOWN_ID;
		snprintf(name, sizeof name, known ? "%.200s (%u)" : "(unknown process)",
			 known && p.name[0] ? p.name : "process", known ? p.pid : 0);
		at = child_of(t, at, name_number(t, name));
		t->nodes[at].total += weight;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = a->inverted ? i : n - 1 - i;
		if (!a->kernel && frames[k] >= NAMES_KERNEL_SPACE) {
			continue;
		}
		bool called = names_frame(frames, k, interrupted) != frames[k];
		uint32_t number = frame_name(a, process, frames[k], called);
		if (a->modules && number == last) {
			continue; /* a module that calls itself is one box */
		}
		last = number;
		uint32_t next = child_of(t, at, number);
		if (next == at) {
			break; /* there is no room: the rest counts here */
		}
		at = next;
		t->nodes[at].total += weight;
	}
	t->nodes[at].self += weight;
}

/* ---- where weights come from ------------------------------------------------------------------------ */

/* Weights by process and stack: a trace has many more samples than stacks, and names cost time. */
struct sums {
	struct {
		uint32_t process, stack;
		double weight;
	} * list;
	uint32_t count, cap;
	struct map at; /* process and stack: which of the list */
};
static bool sums_add(struct sums *x, uint32_t process, uint32_t stack, double weight)
{
	uint64_t key = (uint64_t)process << 32 | stack;
	size_t at = map_find(&x->at, key);
	if (at == MAP_NONE) {
		if (!VEC_ROOM(x->list, x->count, x->cap) || map_add(&x->at, key, x->count) < 0) {
			return false;
		}
		x->list[x->count].process = process;
		x->list[x->count].stack = stack;
		x->list[x->count++].weight = weight;
		return true;
	}
	x->list[map_value(&x->at, at)].weight += weight;
	return true;
}

/* Rows of a table that have a stack: samples, waits. */
static bool from_table(struct view_request *r, struct asked *a, struct table_set *set, const char *table,
		       const char *weight, const struct view_sel *s)
{
	uint64_t frames[FRAMES_MOST];
	const struct table_view *w = table_set_made(set, table);
	const char *thread = view_text(r, "thread", NULL), *process = view_text(r, "process", NULL);
	int stack = table_view_column(w, "stack"), ns = weight ? table_view_column(w, weight) : -1,
	    time = table_view_column(w, "time"), who = table_view_column(w, "process"),
	    th = table_view_column(w, "thread"), idle = table_view_column(w, "idle"),
	    kind = table_view_column(w, "kind"), pid = table_view_column(w, "pid");
	time = time < 0 ? table_view_column(w, "start") : time;
	int64_t wanted = thread ? (int64_t)strtoull(thread, NULL, 10) : -1,
		of = process ? (int64_t)strtoull(process, NULL, 10) : -1;
	struct table_value v;
	struct sums sums = {0};
	for (uint64_t i = 0; i < table_view_rows(w); i++) {
		int64_t t = table_view_integer(w, time, i, INT64_MIN), d = ns < 0 ? 1 : table_view_integer(w, ns, i, 0);
		uint32_t k = (uint32_t)table_view_integer(w, stack, i, 0);
		if (ns >= 0 && d > 0) { /* of an interval that part which lies in the range */
			int64_t end = t + d;
			t = BASE_MAX(t, s->from);
			d = BASE_MIN(end, s->to) - t;
		}
		if (k == 0 || t < s->from || t > s->to || d <= 0 ||
		    (wanted >= 0 && table_view_integer(w, th, i, -1) != wanted) ||
		    (of >= 0 && table_view_integer(w, pid, i, -1) != of) ||
		    (idle >= 0 && table_view_integer(w, idle, i, 0))) {
			continue;
		}
		if (ns >= 0 && kind >= 0 && table_view_value(w, kind, i, &v) && v.kind == TABLE_TEXT && v.n != 4) {
			continue; /* preempted: it was not blocked */
		}
		a->tree.failed |= !sums_add(&sums, (uint32_t)table_view_integer(w, who, i, 0), k, (double)d);
		if (i % 4096 == 0 && view_gone(r)) {
			break;
		}
	}
	for (uint32_t i = 0; i < sums.count; i++) {
		uint32_t n = openetw_index_stack(a->trace->x, sums.list[i].stack, frames, FRAMES_MOST);
		add_stack(a, sums.list[i].process, frames, BASE_MIN(n, FRAMES_MOST), ns < 0, sums.list[i].weight);
	}
	free(sums.list);
	map_free(&sums.at);
	return true;
}

/* Nodes of the engine, which become nodes with names. */
struct of_engine {
	struct asked *a;
	uint32_t *at; /* of each node of the engine, ours */
	uint32_t count, cap;
	bool failed;
};
static bool take_node(void *context, const struct openetw_stack_node *n)
{
	struct of_engine *x = context;
	struct tree *t = &x->a->tree;
	if (!VEC_ROOM(x->at, x->count, x->cap)) {
		x->failed = true;
		return false;
	}
	uint32_t parent = n->parent == UINT32_MAX ? 0 : x->at[n->parent];
	bool skipped = !x->a->kernel && n->address >= NAMES_KERNEL_SPACE;
	uint32_t at = parent;
	if (!skipped) {
		uint32_t number = frame_name(x->a, n->process, n->address, n->depth > 1 || !x->a->inverted);
		at = x->a->modules && parent && t->nodes[parent].name == number ? parent : child_of(t, parent, number);
	}
	x->at[x->count++] = at;
	t->nodes[at].self += n->self;
	if (at != parent) {
		t->nodes[at].total += n->total;
	}
	if (n->parent == UINT32_MAX) {
		t->nodes[0].total += n->total;
	}
	return !t->failed;
}

static bool from_events(struct view_request *r, struct asked *a, const struct view_sel *s, const char *field)
{
	OPENETW_SIZED(struct openetw_answer, answer);
	struct of_engine x = {.a = a};
	struct openetw_query *q = view_query_take(r, s);
	if (!q) {
		return false;
	}
	uint32_t code = field ? openetw_query_set_field(q, field) : ERROR_SUCCESS;
	code = code ? code
		    : openetw_query_stacks(q,
					   (a->inverted ? OPENETW_STACKS_INVERTED : 0) |
						   (a->kernel ? 0 : OPENETW_STACKS_NO_KERNEL),
					   0, take_node, &x, &answer);
	free(x.at);
	view_query_give(r, s, q);
	if (code != ERROR_SUCCESS) {
		view_fail_code(r, code);
	}
	return code == ERROR_SUCCESS;
}

/* ---- the tree, pruned ------------------------------------------------------------------------------- */

static int by_total(const void *x, const void *y, void *context)
{
	const struct node *nodes = context;
	double a = nodes[*(const uint32_t *)x].total, b = nodes[*(const uint32_t *)y].total;
	return a != b ? (a < b ? 1 : -1) : (*(const uint32_t *)x > *(const uint32_t *)y ? 1 : -1);
}

/* The node whose frames, from the outermost on, are the lines of `path`; where one is missing, the last that is there. */
static uint32_t node_at(const struct tree *t, const char *path)
{
	uint32_t at = 0;
	while (path && *path) {
		size_t n = strcspn(path, "\n");
		uint32_t child = at + 1;
		while (child < t->count &&
		       (t->nodes[child].parent != at || strncmp(t->names[t->nodes[child].name], path, n) != 0 ||
			t->names[t->nodes[child].name][n] != 0)) {
			child++;
		}
		if (child == t->count) {
			break;
		}
		at = child;
		path += n + (path[n] != 0);
	}
	return at;
}

/* The heaviest nodes below one and the way to it: a parent weighs as much as its children, so it is among them. */
static bool *pick(const struct tree *t, uint32_t root, uint32_t most)
{
	bool *wanted = calloc(t->count + 1ull, sizeof *wanted);
	uint32_t *order = malloc((t->count + 1ull) * sizeof *order);
	if (!wanted || !order) {
		free(wanted);
		free(order);
		return NULL;
	}
	uint32_t count = 0;
	for (uint32_t i = root; i < t->count; i++) { /* parents stand before their children */
		if (i == root || (t->nodes[i].parent >= root && wanted[t->nodes[i].parent])) {
			wanted[i] = true;
			order[count++] = i;
		}
	}
	qsort_r(order, count, sizeof *order, by_total, t->nodes);
	for (uint32_t i = most; i < count; i++) {
		wanted[order[i]] = false;
	}
	for (uint32_t at = root; at; at = t->nodes[at].parent) {
		wanted[at] = true;
	}
	wanted[0] = true;
	free(order);
	return wanted;
}

static void put_tree(struct view_request *r, const struct asked *a, const char *unit, uint32_t most)
{
	const struct tree *t = &a->tree;
	struct strbuf *b = &r->out;
	bool *wanted = pick(t, node_at(t, view_text(r, "root", NULL)), most);
	uint32_t *number = calloc(t->count + 1ull, sizeof *number), shown = 0;
	if (!wanted || !number) {
		b->failed = true;
		free(wanted);
		free(number);
		return;
	}
	strbuf_addc(b, '{');
	json_put_text(b, "unit", unit);
	json_put_real(b, "total", t->nodes[0].total);
	json_put_name(b, "nodes");
	strbuf_addc(b, '[');
	for (uint32_t i = 0; i < t->count; i++) {
		const struct node *n = &t->nodes[i];
		if (!wanted[i] || (i && !wanted[n->parent])) {
			wanted[i] = false;
			continue;
		}
		number[i] = shown++;
		const char *name = i ? t->names[n->name] : "all";
		const char *bang = strchr(name, '!');
		json_put_comma(b);
		strbuf_addc(b, '[');
		json_put_integer(b, NULL, i ? (int64_t)number[n->parent] : -1);
		json_put_text(b, NULL, bang ? bang + 1 : name);
		json_put_comma(b);
		if (bang) {
			strbuf_add_json(b, name, (size_t)(bang - name));
		} else {
			strbuf_adds(b, "null");
		}
		json_put_real(b, NULL, n->self);
		json_put_real(b, NULL, n->total);
		strbuf_addc(b, ']');
	}
	strbuf_addc(b, ']');
	json_put_count(b, "cut", t->count - shown);
	json_put_truth(b, "full", t->full);
	json_put_count(b, "unnamed", a->unnamed);
	strbuf_addc(b, '}');
	free(wanted);
	free(number);
}

/* ---- functions -------------------------------------------------------------------------------------- */

struct function {
	double self, total;
	uint32_t name;
};
static int by_self(const void *x, const void *y)
{
	const struct function *a = x, *b = y;
	return a->self != b->self     ? (a->self < b->self ? 1 : -1)
	       : a->total != b->total ? (a->total < b->total ? 1 : -1)
				      : (a->name > b->name) - (a->name < b->name);
}
static int by_all(const void *x, const void *y)
{
	const struct function *a = x, *b = y;
	return a->total != b->total ? (a->total < b->total ? 1 : -1) : (a->name > b->name) - (a->name < b->name);
}

static bool above(const struct tree *t, uint32_t node, uint32_t name)
{
	for (uint32_t at = t->nodes[node].parent; at; at = t->nodes[at].parent) {
		if (t->nodes[at].name == name) {
			return true;
		}
	}
	return false;
}

static void put_list(struct strbuf *b, const char *member, const struct tree *t, struct function *f, uint32_t count,
		     uint32_t most)
{
	json_put_name(b, member);
	strbuf_addc(b, '[');
	for (uint32_t i = 0, shown = 0; i < count && shown < most; i++) {
		if (f[i].total <= 0) {
			continue;
		}
		const char *name = t->names[f[i].name], *bang = strchr(name, '!');
		json_put_comma(b);
		strbuf_addc(b, '{');
		json_put_text(b, "name", bang ? bang + 1 : name);
		json_put_name(b, "module");
		if (bang) {
			strbuf_add_json(b, name, (size_t)(bang - name));
		} else {
			strbuf_adds(b, "null");
		}
		json_put_text(b, "frame", name);
		json_put_real(b, "self", f[i].self);
		json_put_real(b, "total", f[i].total);
		strbuf_addc(b, '}');
		shown++;
	}
	strbuf_addc(b, ']');
}

static struct function *functions_new(const struct tree *t)
{
	struct function *f = calloc(t->name_count + 1ull, sizeof *f);
	for (uint32_t i = 0; f && i < t->name_count; i++) {
		f[i].name = i;
	}
	return f;
}

static void put_functions(struct view_request *r, const struct asked *a, const char *unit, uint32_t most)
{
	const struct tree *t = &a->tree;
	struct strbuf *b = &r->out;
	const char *of = view_text(r, "of", NULL);
	struct function *all = functions_new(t), *callers = functions_new(t), *callees = functions_new(t);
	uint32_t number = UINT32_MAX;
	for (uint32_t i = 0; of && i < t->name_count; i++) {
		number = strcmp(t->names[i], of) == 0 ? i : number;
	}
	for (uint32_t i = 1; all && callers && callees && i < t->count; i++) {
		const struct node *n = &t->nodes[i];
		all[n->name].self += n->self;
		all[n->name].total += above(t, i, n->name) ? 0 : n->total; /* recursion counts once */
		if (n->name == number && n->parent) {
			callers[t->nodes[n->parent].name].total += above(t, i, number) ? 0 : n->total;
		}
		if (n->parent && t->nodes[n->parent].name == number) {
			callees[n->name].total += n->total;
		}
	}
	if (all && callers && callees) {
		strbuf_addc(b, '{');
		json_put_text(b, "unit", unit);
		json_put_real(b, "total", t->nodes[0].total);
		qsort(all, t->name_count, sizeof *all, by_self);
		put_list(b, "functions", t, all, t->name_count, most);
		if (number != UINT32_MAX) {
			qsort(callers, t->name_count, sizeof *callers, by_all);
			qsort(callees, t->name_count, sizeof *callees, by_all);
			put_list(b, "callers", t, callers, t->name_count, 100);
			put_list(b, "callees", t, callees, t->name_count, 100);
		}
		json_put_count(b, "all", t->name_count);
		strbuf_addc(b, '}');
	} else {
		b->failed = true;
	}
	free(all);
	free(callers);
	free(callees);
}

/* ---- other forms ------------------------------------------------------------------------------------ */

static void put_path(struct strbuf *b, const struct tree *t, uint32_t node)
{
	uint32_t path[512], n = 0;
	for (uint32_t at = node; at && n < BASE_ARRAY_LEN(path); at = t->nodes[at].parent) {
		path[n++] = at;
	}
	while (n) {
		strbuf_adds(b, t->names[t->nodes[path[--n]].name]);
		strbuf_addc(b, n ? ';' : ' ');
	}
}

static void put_folded(struct view_request *r, const struct tree *t)
{
	for (uint32_t i = 1; i < t->count; i++) {
		if (t->nodes[i].self > 0) {
			put_path(&r->out, t, i);
			strbuf_addf(&r->out, "%.0f\n", t->nodes[i].self);
		}
	}
	r->type = "text/plain; charset=utf-8";
	r->filename = "stacks.folded";
}

/* speedscope's own form: frames by name, samples as lists of frames. */
static void put_speedscope(struct view_request *r, const struct tree *t, const char *unit, const char *title)
{
	struct strbuf *b = &r->out;
	strbuf_adds(
		b, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"openetw view\"");
	json_put_text(b, "name", title);
	strbuf_adds(b, ",\"activeProfileIndex\":0,\"shared\":{\"frames\":[");
	for (uint32_t i = 0; i < t->name_count; i++) {
		const char *bang = strchr(t->names[i], '!');
		json_put_comma(b);
		strbuf_addc(b, '{');
		json_put_text(b, "name", bang ? bang + 1 : t->names[i]);
		if (bang) {
			json_put_name(b, "file");
			strbuf_add_json(b, t->names[i], (size_t)(bang - t->names[i]));
		}
		strbuf_addc(b, '}');
	}
	strbuf_adds(b, "]},\"profiles\":[{\"type\":\"sampled\"");
	json_put_text(b, "name", title);
	json_put_text(b, "unit", strcmp(unit, "ns") == 0 ? "nanoseconds" : "none");
	json_put_count(b, "startValue", 0);
	json_put_real(b, "endValue", t->nodes[0].total);
	json_put_name(b, "samples");
	strbuf_addc(b, '[');
	for (uint32_t i = 1; i < t->count; i++) {
		uint32_t path[512], n = 0;
		if (t->nodes[i].self <= 0) {
			continue;
		}
		for (uint32_t at = i; at && n < BASE_ARRAY_LEN(path); at = t->nodes[at].parent) {
			path[n++] = t->nodes[at].name;
		}
		json_put_comma(b);
		strbuf_addc(b, '[');
		while (n) {
			json_put_count(b, NULL, path[--n]);
		}
		strbuf_addc(b, ']');
	}
	strbuf_addc(b, ']');
	json_put_name(b, "weights");
	strbuf_addc(b, '[');
	for (uint32_t i = 1; i < t->count; i++) {
		if (t->nodes[i].self > 0) {
			json_put_real(b, NULL, t->nodes[i].self);
		}
	}
	strbuf_adds(b, "]}]}");
}

/* ---- the endpoints ---------------------------------------------------------------------------------- */

/* Which table has the stacks; NULL: the events themselves. */
static const char *table_of(const char *weight, const struct view_sel *s)
{
	return strcmp(weight, "blocked") == 0                 ? "waits"
	       : strcmp(weight, "samples") == 0 && !s->filter ? "samples"
							      : NULL;
}

static bool fill(struct view_request *r, struct asked *a, struct table_set *set, const struct view_sel *s,
		 const char *weight)
{
	const char *field = strncmp(weight, "field:", 6) == 0 ? weight + 6 : NULL;
	if (strcmp(weight, "samples") == 0 && !s->filter) {
		return from_table(r, a, set, "samples", NULL, s);
	}
	if (strcmp(weight, "blocked") == 0) {
		return from_table(r, a, set, "waits", "duration", s);
	}
	if (strcmp(weight, "samples") == 0) { /* with a filter: of the events, which are samples */
		struct strbuf text = {0};
		struct view_sel samples = *s;
		strbuf_addf(&text, "event == \"PerfInfo/SampleProf\" and (%s)", s->filter);
		samples.filter = text.failed ? NULL : text.s;
		bool ok = from_events(r, a, &samples, NULL);
		strbuf_finish(&text);
		return ok;
	}
	if (!field && strcmp(weight, "events") != 0) {
		view_fail(r, 400, "weight=%.60s: there are samples, blocked, events and field:NAME", weight);
		return false;
	}
	return from_events(r, a, s, field);
}

static int run(struct view_request *r, bool functions)
{
	char why[400] = "";
	struct view_sel s;
	const char *weight = view_text(r, "weight", "samples"), *format = view_text(r, "format", "tree");
	const char *unit = strcmp(weight, "blocked") == 0 ? "ns" : strcmp(weight, "samples") == 0 ? "samples" : weight;
	if (!view_sel_of(r, &s)) {
		return r->status;
	}
	struct asked a = {.trace = s.trace,
			  .inverted = view_flag(r, "inverted", false),
			  .kernel = view_flag(r, "kernel", true),
			  .modules = strcmp(view_text(r, "by", ""), "module") == 0,
			  .by_process = view_flag(r, "processes", true) && !functions};
	/* The table first: who makes one, or waits for it, keeps no names from others. */
	const char *table = table_of(weight, &s);
	struct table_set *set = table ? view_tables_with(r, s.trace, table, why, sizeof why) : NULL;
	a.maker = set || !table ? view_names_lock(r, s.trace, why, sizeof why) : NULL;
	if (!a.maker) {
		return view_fail(r, 503, "%s", why);
	}
	a.tree.nodes = calloc(1024, sizeof *a.tree.nodes);
	a.tree.cap = a.tree.nodes ? 1024 : 0;
	a.tree.count = 1;
	uint32_t most = (uint32_t)view_number(r, "max", functions ? 1000 : 3000);
	if (!a.tree.nodes) {
		view_fail(r, 500, "no memory");
	} else if (fill(r, &a, set, &s, weight)) {
		if (a.tree.failed) {
			view_fail(r, 500, "no memory");
		} else if (functions) {
			put_functions(r, &a, unit, most);
			view_done(r);
		} else {
			if (strcmp(format, "folded") == 0) {
				put_folded(r, &a.tree);
			} else if (strcmp(format, "speedscope") == 0) {
				put_speedscope(r, &a.tree, unit, s.trace->name);
			} else {
				put_tree(r, &a, unit, most);
			}
			view_done(r);
		}
	}
	tree_free(&a.tree);
	view_names_unlock(s.trace);
	return r->status;
}

static int run_stacks(struct view_request *r)
{
	return run(r, false);
}
const struct view_endpoint view_stacks = {
	.keep = true,
	.path = "stacks",
	.params = VIEW_SEL
	"weight:text inverted:flag kernel:flag by:text max:1-20000 thread:0-4294967295 process:0-4294967295 "
	"processes:flag root:text format:text",
	.whole = true,
	.run = run_stacks};

static int run_functions(struct view_request *r)
{
	return run(r, true);
}
const struct view_endpoint view_functions = {
	.keep = true,
	.path = "functions",
	.params =
		VIEW_SEL "weight:text kernel:flag by:text max:1-20000 thread:0-4294967295 process:0-4294967295 of:text",
	.whole = true,
	.run = run_functions};
