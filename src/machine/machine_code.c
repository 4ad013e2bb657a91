/* SPDX-License-Identifier: MIT
 *
 * Pieces of code of one process stand sorted by their start, behind them those that came since the
 * last sorting. Addresses are used again, so a piece has a time from which on it counts; rundowns
 * at the end speak of code that was there for an unknown time.
 */
#include "machine/machine_code.h"

#include <stdlib.h>

#define TAIL_MAX   64u
#define NAME_UNITS 1024u

struct piece {
	uint64_t start, bytes;
	uint64_t from; /* 0: before the trace, or unknown */
	const char *name;
};
struct code_process {
	struct machine_node n;
	struct piece *list;
	size_t count, cap, sorted;
};

static const struct guid clr = {
	{0x23, 0x0d, 0x3c, 0xe1, 0xbc, 0xcc, 0x12, 0x4e, 0x93, 0x1b, 0xd9, 0xcc, 0x2e, 0xee, 0x27, 0xe4}};
static const struct guid clr_rundown = {
	{0x1c, 0x02, 0x9a, 0xa6, 0x50, 0xc4, 0x09, 0x46, 0xa0, 0x35, 0x5a, 0xf5, 0x9a, 0xf4, 0xdf, 0x18}};
static const struct guid jscript = {
	{0x41, 0x77, 0x27, 0x57, 0x38, 0x36, 0x4b, 0x4a, 0xbd, 0xba, 0x0a, 0xc6, 0xe4, 0x5d, 0xa5, 0x6c}};

enum {
	CLR_METHOD_LOAD_VERBOSE = 143, /* in the rundown provider: at its start */
	CLR_METHOD_DC_END_VERBOSE = 144,
	JSCRIPT_METHOD_DC_START = 5,
	JSCRIPT_METHOD_DC_STOP = 6,
	JSCRIPT_METHOD_LOAD = 9,
};

static bool take_text(struct bytes *b, const uint8_t **ret, uint32_t *ret_units)
{
	*ret = b->p;
	size_t left = bytes_left(b) / 2, n = 0;
	while (n < left && le16_get(b->p + 2 * n) != 0) {
		n++;
	}
	bytes_take(b, 2 * (n + 1));
	*ret_units = (uint32_t)BASE_MIN(n, NAME_UNITS);
	return !b->bad;
}

/* Class and method in one. */
static const char *full_name(struct machine_memory *m, const uint8_t *space, uint32_t space_units, const uint8_t *name,
			     uint32_t name_units)
{
	uint8_t wide[2 * (2 * NAME_UNITS + 1)];
	size_t n = 0;
	memcpy(wide, space, 2 * (size_t)space_units);
	n = space_units;
	if (n) {
		le16_put(wide + 2 * n, '.');
		n++;
	}
	memcpy(wide + 2 * n, name, 2 * (size_t)name_units);
	return machine_text16(m, wide, n + name_units);
}

static struct code_process *process_of(struct machine_codes *x, struct machine_memory *m, uint32_t pid)
{
	struct code_process *p = (struct code_process *)machine_table_find(&x->processes, pid);
	if (!p) {
		p = machine_alloc(m, sizeof *p);
		if (p) {
			p->n.id = pid;
			p = machine_table_add(&x->processes, &p->n) ? p : NULL;
		}
	}
	return p;
}

static void piece_add(struct machine_codes *x, struct machine_memory *m, uint32_t pid, const struct piece *add)
{
	struct code_process *p = process_of(x, m, pid);
	if (!p) {
		return;
	}
	if (p->count == p->cap) {
		size_t cap = p->cap ? 2 * p->cap : 256;
		size_t more = (cap - p->cap) * sizeof *p->list;
		void *list = m->used + more > MACHINE_MEMORY_MAX ? NULL : realloc(p->list, cap * sizeof *p->list);
		if (!list) {
			m->full = true;
			return;
		}
		m->used += more;
		p->list = list;
		p->cap = cap;
	}
	p->list[p->count++] = *add;
}

void machine_codes_add(struct machine_codes *x, struct machine_memory *m, const struct etl_record *r)
{
	struct bytes b = bytes_of(r->payload, r->payload_bytes);
	struct piece p = {.start = 0};
	const uint8_t *space = NULL, *name;
	uint32_t space_units = 0, name_units;
	bool load = false;
	if (r->id == CLR_METHOD_LOAD_VERBOSE || r->id == CLR_METHOD_DC_END_VERBOSE) {
		bool rundown = guid_equal(&r->provider, &clr_rundown);
		load = guid_equal(&r->provider, &clr) && r->id == CLR_METHOD_LOAD_VERBOSE;
		if (!rundown && !load) {
			return;
		}
		bytes_take(&b, 16); /* method, module */
		p.start = bytes_u64(&b);
		p.bytes = bytes_u32(&b);
		bytes_take(&b, 8); /* token, flags */
		if (!take_text(&b, &space, &space_units) || !take_text(&b, &name, &name_units)) {
			return;
		}
	} else if (r->id == JSCRIPT_METHOD_LOAD || r->id == JSCRIPT_METHOD_DC_START ||
		   r->id == JSCRIPT_METHOD_DC_STOP) {
		load = r->id == JSCRIPT_METHOD_LOAD;
		if (!guid_equal(&r->provider, &jscript)) {
			return;
		}
		bool wide = r->pointer_size == 8;
		bytes_take(&b, r->pointer_size); /* context */
		p.start = wide ? bytes_u64(&b) : bytes_u32(&b);
		p.bytes = bytes_u64(&b);
		bytes_take(&b, 4 + 2 + 2 + 8 + 4 + 4); /* ids, flags, source, line, column */
		if (!take_text(&b, &name, &name_units)) {
			return;
		}
	} else {
		return;
	}
	if (p.start == 0 || p.bytes == 0 || p.bytes > UINT64_MAX - p.start) {
		return;
	}
	p.from = load ? r->time_filetime : 0;
	/* A rundown repeats what is known, in traces that saw it being made: keep the first. */
	uint64_t start;
	const char *known = load ? NULL : machine_codes_at(x, r->pid, p.start, r->time_filetime, &start);
	if (known && start == p.start) {
		return;
	}
	p.name = full_name(m, space ? space : name, space_units, name, name_units);
	piece_add(x, m, r->pid, &p);
}

static int by_start(const void *pa, const void *pb)
{
	const struct piece *a = pa, *b = pb;
	if (a->start != b->start) {
		return a->start < b->start ? -1 : 1;
	}
	return a->from < b->from ? -1 : a->from > b->from;
}

static bool holds(const struct piece *p, uint64_t address)
{
	return address >= p->start && address - p->start < p->bytes;
}

const char *machine_codes_at(struct machine_codes *x, uint32_t pid, uint64_t address, uint64_t time,
			     uint64_t *ret_start)
{
	struct code_process *p = (struct code_process *)machine_table_find(&x->processes, pid);
	if (!p) {
		return NULL;
	}
	if (p->count - p->sorted > TAIL_MAX) {
		qsort(p->list, p->count, sizeof *p->list, by_start);
		p->sorted = p->count;
	}
	const struct piece *best = NULL;
	for (size_t i = p->sorted; i < p->count; i++) {
		const struct piece *c = &p->list[i];
		if (holds(c, address) && c->from <= time && (!best || c->from >= best->from)) {
			best = c;
		}
	}
	size_t low = 0, high = p->sorted;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (p->list[mid].start <= address) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	/* Code that was replaced by shorter code may stand further back. */
	for (size_t back = 0; low > 0 && back < TAIL_MAX; back++) {
		const struct piece *c = &p->list[--low];
		if (holds(c, address) && c->from <= time && (!best || c->from > best->from)) {
			best = c;
		}
	}
	if (!best) {
		return NULL;
	}
	*ret_start = best->start;
	return best->name;
}

void machine_codes_free(struct machine_codes *x)
{
	for (struct machine_node *n = NULL; (n = machine_table_next(&x->processes, n)) != NULL;) {
		free(((struct code_process *)n)->list);
	}
	machine_table_free(&x->processes);
}
