/* SPDX-License-Identifier: MIT
 * Reports about memory that programs and the system allocate: heap and pool.
 */
#include "tools/wpt/xperf_action.h"
#include "base/vec.h"
#include "tools/wpt/xperf_rows.h"

#include <math.h>
#include <stdlib.h>
#include <strings.h>

#define DEPTH_MAX     64u
#define ALL_PROCESSES UINT64_MAX

/* Sums of one row. */
enum { ALLOCS, ALLOC_BYTES, LEFT, LEFT_BYTES, REALLOCS };

struct block {
	uint64_t address, bytes;
	uint32_t pid;
	double since;
	size_t row; /* index into `rows`, + 1 */
};
enum sort { BY_LEFT_BYTES, BY_LEFT, BY_ALLOC_BYTES, BY_ALLOCS, BY_REALLOCS };
struct range {
	double from, to;
};
struct heap_options {
	enum sort sort;
	bool frames, images, totals;
	uint64_t pid, top;
	struct range life, size;
	struct cli_words cull, required; /* frames that are not shown, and such that have to be there */
	const char *list;
};
struct heap {
	struct heap_options o;
	bool stacks;
	char **list; /* -cullLists */
	int list_count, list_cap;
	struct xperf_sums names; /* tag: row + 1 */
	struct row {
		char *name;
		double v[5];
	} * row;
	size_t rows, row_cap;
	struct block *block;
	size_t blocks, block_cap;
	struct map places; /* of blocks, by process and address */
	double total[5];
	uint64_t frees_of_unknown;
};

static bool is_frame(const char *symbol, const char *pattern)
{
	const char *bang = strchr(pattern, '!'), *own = strchr(symbol, '!');
	if (!bang) {
		return strcasecmp(own ? own + 1 : symbol, pattern) == 0;
	}
	size_t n = (size_t)(bang - pattern);
	bool image = n == 0 ||
		     ((own ? (size_t)(own - symbol) : strlen(symbol)) == n && strncasecmp(symbol, pattern, n) == 0);
	return image && (bang[1] == 0 || (own && strcasecmp(own + 1, bang + 1) == 0));
}

static bool in_list(const char *symbol, const char *const *list, int n)
{
	for (int i = 0; i < n; i++) {
		if (is_frame(symbol, list[i])) {
			return true;
		}
	}
	return false;
}

static bool read_list(struct xperf_job *j, struct heap *h, const char *path)
{
	struct strbuf text = {0};
	int r = cli_file_read(path, 1 << 20, &text);
	if (r < 0) {
		cli_usage(j->a, "-cullLists: cannot read %s: %s", path, strerror(-r));
		strbuf_finish(&text);
		return false;
	}
	strbuf_addc(&text, 0);
	for (char *s = text.s; s && *s && !text.failed;) {
		size_t n = strcspn(s, "\r\n");
		bool more = s[n] != 0;
		s[n] = 0;
		if (*s && VEC_ROOM(h->list, h->list_count, h->list_cap)) {
			h->list[h->list_count] = strdup(s);
			h->list_count += h->list[h->list_count] != NULL;
		}
		s += n + more;
	}
	strbuf_finish(&text);
	return true;
}

static bool begin(struct xperf_job *j)
{
	struct heap *h = j->own;
	h->stacks = !h->o.frames && !h->o.images;
	return !h->o.list || read_list(j, h, h->o.list);
}

/* ---- rows ----------------------------------------------------------------------------------------- */

/* The row that an allocation counts for; 0: it is not wanted. Else its number + 1. */
static size_t row_of(struct xperf_job *j, uint32_t pid)
{
	struct heap *h = j->own;
	struct openetw_stack k = {.size = sizeof k};
	struct strbuf frame = {0};
	uint64_t address[DEPTH_MAX];
	bool found = h->o.required.count == 0, listed = h->list_count == 0;
	uint32_t n = 0, shown = 0;
	if (openetw_state_stack(j->state, j->e, &k) == ERROR_SUCCESS) {
		n = BASE_MIN(k.count, DEPTH_MAX);
		memcpy(address, k.addresses, n * sizeof *address);
	}
	strbuf_clear(&j->key);
	strbuf_addf(&j->key, "%6u, 0x%llx", pid, (unsigned long long)xperf_number(j, "HeapHandle"));
	for (uint32_t i = 0; i < n; i++) {
		strbuf_clear(&frame);
		xperf_symbol_cell(&frame, j->state, pid, address[i], j->time);
		const char *symbol = frame.s ? frame.s : "";
		found = found || in_list(symbol, h->o.required.text, h->o.required.count);
		listed = listed || in_list(symbol, (const char *const *)h->list, h->list_count);
		if ((shown == 0 && in_list(symbol, h->o.cull.text, h->o.cull.count)) ||
		    in_list(symbol, (const char *const *)h->list, h->list_count) || (!h->stacks && shown > 0)) {
			continue;
		}
		shown++;
		size_t m = h->o.images ? strcspn(symbol, "!") : strlen(symbol);
		strbuf_adds(&j->key, shown == 1 ? ", " : " <- ");
		strbuf_add(&j->key, symbol, m);
	}
	if (shown == 0) {
		strbuf_adds(&j->key, ", (no stack)");
	}
	strbuf_finish(&frame);
	struct xperf_sum *s = found && listed && !j->key.failed ? xperf_sum(j, &h->names, j->key.s) : NULL;
	if (!s) {
		return 0;
	}
	if (s->tag == 0) {
		if (!VEC_ROOM(h->row, h->rows, h->row_cap)) {
			j->failed = true;
			return 0;
		}
		h->row[h->rows] = (struct row){.name = s->key};
		s->tag = ++h->rows;
	}
	return s->tag;
}

static uint64_t block_key(const struct heap *h, uint32_t pid, uint64_t address)
{
	uint64_t key[2] = {address, pid};
	return map_hash(&h->places, key, sizeof key);
}

static struct block *block_at(const struct heap *h, uint32_t pid, uint64_t address, size_t *ret_at)
{
	uint64_t key = block_key(h, pid, address);
	MAP_EACH(&h->places, key, at) {
		struct block *b = &h->block[map_value(&h->places, at)];
		if (b->address == address && b->pid == pid) {
			*ret_at = at;
			return b;
		}
	}
	return NULL;
}

static struct block *add_block(struct xperf_job *j, uint32_t pid, uint64_t address)
{
	struct heap *h = j->own;
	if (!VEC_ROOM(h->block, h->blocks, h->block_cap) ||
	    map_add(&h->places, block_key(h, pid, address), h->blocks) < 0) {
		j->failed = true;
		return NULL;
	}
	return &h->block[h->blocks++];
}

/* The last one takes its place. */
static void forget_block(struct heap *h, struct block *b, size_t at)
{
	struct block *last = &h->block[--h->blocks];
	if (b != last) {
		size_t of_last;
		(void)block_at(h, last->pid, last->address, &of_last);
		map_set(&h->places, of_last, (uint64_t)(b - h->block));
		*b = *last;
	}
	map_remove(&h->places, at);
}

static void count(struct heap *h, size_t row, int what, double n, double bytes)
{
	h->row[row - 1].v[what] += n;
	h->total[what] += n;
	if (what != REALLOCS) {
		h->row[row - 1].v[what + 1] += bytes;
		h->total[what + 1] += bytes;
	}
}

/* An allocation that was given back: it counts when it lived as long as is asked for. */
static void freed(struct xperf_job *j, uint32_t pid, uint64_t address)
{
	struct heap *h = j->own;
	size_t at;
	struct block *b = block_at(h, pid, address, &at);
	if (!b) {
		h->frees_of_unknown++;
		return;
	}
	double life = j->us - b->since;
	if (life >= h->o.life.from && life < h->o.life.to) {
		count(h, b->row, ALLOCS, 1, (double)b->bytes);
	}
	forget_block(h, b, at);
}

static void allocated(struct xperf_job *j, uint32_t pid, uint64_t address, uint64_t bytes)
{
	struct heap *h = j->own;
	if ((double)bytes < h->o.size.from || (double)bytes >= h->o.size.to) {
		return;
	}
	size_t row = row_of(j, pid);
	if (!row) {
		return;
	}
	size_t at;
	struct block *b = block_at(h, pid, address, &at);
	if (b) {
		count(h, b->row, ALLOCS, 1, (double)b->bytes); /* its end was not recorded */
	} else if (!(b = add_block(j, pid, address))) {
		return;
	}
	*b = (struct block){.address = address, .bytes = bytes, .pid = pid, .since = j->us, .row = row};
}

static void event(struct xperf_job *j)
{
	struct heap *h = j->own;
	uint32_t pid = j->origin.pid;
	if (h->o.pid != ALL_PROCESSES && pid != h->o.pid) {
		return;
	}
	if (strcmp(j->name, "Heap/Alloc") == 0) {
		allocated(j, pid, xperf_number(j, "AllocAddress"), xperf_number(j, "AllocSize"));
	} else if (strcmp(j->name, "Heap/Free") == 0) {
		freed(j, pid, xperf_number(j, "FreeAddress"));
	} else if (strcmp(j->name, "Heap/ReAlloc") == 0) {
		freed(j, pid, xperf_number(j, "OldAllocAddress"));
		allocated(j, pid, xperf_number(j, "NewAllocAddress"), xperf_number(j, "NewAllocSize"));
		size_t at;
		struct block *b = block_at(h, pid, xperf_number(j, "NewAllocAddress"), &at);
		if (b) {
			count(h, b->row, REALLOCS, 1, 0);
		}
	}
}

static const int sorts[] = {LEFT_BYTES, LEFT, ALLOC_BYTES, ALLOCS, REALLOCS}; /* by enum sort */
static int sorting;

static int by_value(const void *pa, const void *pb)
{
	const struct row *a = pa, *b = pb;
	return a->v[sorting] != b->v[sorting] ? (a->v[sorting] > b->v[sorting] ? -1 : 1) : strcmp(a->name, b->name);
}

static void put_row(FILE *f, const double *v, const char *name)
{
	fprintf(f, "%10.0f, %14.2f, %10.0f, %14.2f, %10.0f, %s\n", v[ALLOCS], v[ALLOC_BYTES] / 1024, v[LEFT],
		v[LEFT_BYTES] / 1024, v[REALLOCS], name);
}

static void end(struct xperf_job *j)
{
	struct heap *h = j->own;
	for (size_t i = 0; i < h->blocks; i++) { /* what is there still lived from then to the end */
		struct block *b = &h->block[i];
		double life = BASE_MAX(j->length_us, b->since) - b->since;
		if (life >= h->o.life.from && life < h->o.life.to) {
			count(h, b->row, ALLOCS, 1, (double)b->bytes);
			count(h, b->row, LEFT, 1, (double)b->bytes);
		}
	}
	fprintf(j->out, "%10s, %14s, %10s, %14s, %10s, %6s, %s\n", "Alloc #", "Alloc (KB)", "Out #", "Out (KB)",
		"Realloc #", "PID",
		h->o.images   ? "Heap Handle, Image"
		: h->o.frames ? "Heap Handle, Image!Function"
			      : "Heap Handle, Stack");
	sorting = sorts[h->o.sort];
	if (h->rows) {
		qsort(h->row, h->rows, sizeof *h->row, by_value);
	}
	for (size_t i = 0; i < h->rows && i < h->o.top && !h->o.totals; i++) {
		put_row(j->out, h->row[i].v, h->row[i].name);
	}
	put_row(j->out, h->total, "Total");
	if (h->frees_of_unknown) {
		fprintf(j->out, "%llu frees are of memory whose allocation is not counted here\n",
			(unsigned long long)h->frees_of_unknown);
	}
}

static void release(struct xperf_job *j)
{
	struct heap *h = j->own;
	xperf_sums_finish(&h->names);
	for (int i = 0; i < h->list_count; i++) {
		free(h->list[i]);
	}
	free(h->list);
	free(h->row);
	free(h->block);
	map_free(&h->places);
}

static bool take_sizes(const struct cli_args *a, const struct cli_option *o, int count, char **value, void *member)
{
	struct range *r = member;
	uint64_t from, to;
	if (!cli_take_number(a, o, value[0], &from) || !cli_take_number(a, o, value[1], &to)) {
		return false;
	}
	*r = (struct range){(double)from, (double)to};
	return true;
}

static bool take_lives(const struct cli_args *a, const struct cli_option *o, int count, char **value, void *member)
{
	struct range *r = member;
	return xperf_take_span(a, o, value[0], &r->from) && xperf_take_span(a, o, value[1], &r->to);
}

/* -frames [SORT] */
static bool take_frames(const struct cli_args *a, const struct cli_option *o, const char *value, void *member)
{
	struct heap_options *h = member;
	h->frames = true;
	return cli_take_choice(a, o, value, &h->sort);
}

#define SORTS "so|soc|st|stc|src" /* enum sort */
static const struct cli_option heap_options[] = {
	CLI_NUMBER(heap, o.pid, 0, "pid", "PID", 0, UINT32_MAX, "only this process"),
	CLI_CHOICE(heap, o.sort, BY_LEFT_BYTES, 0, "stacks", "[SORT]", SORTS,
		   "by call stack (default); SORT: so, soc, st, stc, src"),
	{.name = "frames",
	 .arg = "[SORT]",
	 .values = SORTS,
	 .take = take_frames,
	 .offset = CLI_AT(heap, o, struct heap_options),
	 .help = "by the innermost function"},
	CLI_FLAG(heap, o.images, 0, "images", "by the innermost function's image"),
	XPERF_RANGE,
	{.name = "lifetime",
	 .arg = "FROM TO",
	 .help = "only allocations that lived so long, in microseconds",
	 .take_all = take_lives,
	 .offset = CLI_AT(heap, o.life, struct range),
	 .unit = 1000},
	{.name = "size",
	 .arg = "FROM TO",
	 .help = "only allocations of so many bytes",
	 .take_all = take_sizes,
	 .offset = CLI_AT(heap, o.size, struct range),
	 .max = UINT64_MAX},
	CLI_WORDS(heap, o.cull, 0, "cullframes", "FRAME…", "leave out these innermost functions: [image!][function]"),
	CLI_WORDS(heap, o.required, 0, "requireframes", "FRAME…", "only stacks that have one of these"),
	CLI_WORD(heap, o.list, 0, "cullLists", "FILE",
		 "frames that are left out, one a line; only stacks that have one count"),
	CLI_NUMBER(heap, o.top, 0, "top", "N", 1, UINT32_MAX, "only the first N rows"),
	CLI_FLAG(heap, o.totals, 0, "totals", "only the totals"),
	{0},
};

/* ---- pool: of Windows' kernel ------------------------------------------------------------------------ */

struct pool {
	bool images;
	struct xperf_sums sums;
};

static void pool_event(struct xperf_job *j)
{
	struct pool *p = j->own;
	struct openetw_stack k = {.size = sizeof k};
	bool free_it = strncmp(j->name, "Pool/Free", 9) == 0;
	const char *module = "Unknown";
	if (p->images && openetw_state_stack(j->state, j->e, &k) == ERROR_SUCCESS) {
		for (uint32_t i = 0; i < k.count; i++) { /* the caller of the allocator */
			module = xperf_module(j, 4, k.addresses[i]);
			if (strcasecmp(module, "ntoskrnl.exe") != 0) {
				break;
			}
		}
	}
	strbuf_clear(&j->key);
	if (p->images) {
		strbuf_addf(&j->key, "%s, ", module);
	}
	strbuf_addf(&j->key, "%s, %s", xperf_text(j, "Tag"), xperf_number(j, "Type") & 1 ? "Paged" : "NonPaged");
	struct xperf_sum *s = j->key.failed ? NULL : xperf_sum(j, &p->sums, j->key.s);
	double bytes = (double)xperf_number(j, "NumberOfBytes");
	if (s) {
		s->v[0] += !free_it;
		s->v[1] += free_it ? 0 : bytes;
		s->v[2] += free_it ? -1 : 1;
		s->v[3] += free_it ? -bytes : bytes;
	}
}

static void pool_end(struct xperf_job *j)
{
	struct pool *p = j->own;
	xperf_sums_sort(&p->sums, 1);
	fprintf(j->out, "%sTag, Pool, Alloc #, Alloc KB, Out Alloc #, Out Alloc KB\n", p->images ? "Image, " : "");
	for (size_t i = 0; i < p->sums.count; i++) {
		const double *v = p->sums.list[i].v;
		fprintf(j->out, "%s, %.0f, %.2f, %.0f, %.2f\n", p->sums.list[i].key, v[0], v[1] / 1024, v[2],
			v[3] / 1024);
	}
}

static void pool_release(struct xperf_job *j)
{
	struct pool *p = j->own;
	xperf_sums_finish(&p->sums);
}

static const struct cli_option pool_options[] = {
	CLI_ACCEPTED(0, "pooltags", NULL, "by tag (always)"),
	CLI_FLAG(pool, images, 0, "images", "by image too"),
	XPERF_RANGE,
	{0},
};

const struct xperf_action xperf_heap_actions[] = {
	{.name = "heap",
	 .summary = "memory allocated and not given back, by stack, function or image",
	 .options = heap_options,
	 .events = "Heap/Alloc Heap/Free Heap/ReAlloc",
	 .source = ":'openetw record --heap PID' records them",
	 .own = sizeof(struct heap),
	 XPERF_DEFAULTS(heap_options, .pid = ALL_PROCESSES, .top = UINT64_MAX, .life = {0, HUGE_VAL},
			.size = {0, HUGE_VAL}),
	 .begin = begin,
	 .event = event,
	 .end = end,
	 .release = release,
	 .stacks = true},
	{.name = "pool",
	 .summary = "pool memory of Windows' kernel, by tag",
	 .options = pool_options,
	 .events = "Pool/Alloc Pool/AllocSession Pool/Free Pool/FreeSession",
	 .own = sizeof(struct pool),
	 .event = pool_event,
	 .end = pool_end,
	 .release = pool_release,
	 .stacks = true},
	{0},
};
