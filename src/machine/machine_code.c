/* SPDX-License-Identifier: MIT
 *
 * Pieces of code of one process stand sorted by their start, behind them those that came since the
 * last sorting. Addresses are used again, so a piece has a time from which on it counts; rundowns
 * at the end speak of code that was there for an unknown time.
 */
#include "machine/machine_code.h"
#include "machine/machine_payload.h"

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

/* Where such an event says it; of one version, or of all since. The texts stand at its end. */
struct code_event {
	struct guid provider;
	uint16_t id;
	bool load; /* the code is new, not told again by a rundown */
	uint32_t start, bytes, text;
	unsigned texts; /* 2: the class stands in front of the method */
};
#define CLR(guid, event, is_load)                                                                                     \
	{                                                                                                             \
		GUID_INIT(guid), event, is_load, event##_SINCE_V0_METHOD_START_ADDRESS, event##_SINCE_V0_METHOD_SIZE, \
			event##_SINCE_V0_METHOD_NAMESPACE, 2                                                          \
	}
#define JSCRIPT(event, is_load)                                                                    \
	{                                                                                          \
		GUID_INIT(KP_JSCRIPT_GUID), event, is_load, event##_SINCE_V0_METHOD_START_ADDRESS, \
			event##_SINCE_V0_METHOD_SIZE, event##_SINCE_V0_METHOD_NAME, 1              \
	}
static const struct code_event code_events[] = {
	CLR(KP_DOT_NETRUNTIME_GUID, KP_DOT_NETRUNTIME_METHOD_LOAD_VERBOSE, true),
	CLR(KP_DOT_NETRUNTIME_RUNDOWN_GUID, KP_DOT_NETRUNTIME_RUNDOWN_METHOD_DCSTART_VERBOSE, false),
	CLR(KP_DOT_NETRUNTIME_RUNDOWN_GUID, KP_DOT_NETRUNTIME_RUNDOWN_METHOD_DCEND_VERBOSE, false),
	JSCRIPT(KP_JSCRIPT_METHOD_RUNTIME_METHOD_LOAD, true),
	JSCRIPT(KP_JSCRIPT_METHOD_RUNDOWN_METHOD_DCSTART, false),
	JSCRIPT(KP_JSCRIPT_METHOD_RUNDOWN_METHOD_DCSTOP, false),
};

static const struct code_event *code_event_of(const struct etl_record *r)
{
	for (size_t i = 0; i < BASE_ARRAY_LEN(code_events); i++) {
		if (r->id == code_events[i].id && guid_equal(&r->provider, &code_events[i].provider)) {
			return &code_events[i];
		}
	}
	return NULL;
}

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
	if (MACHINE_ROOM(m, p->list, p->count, p->cap)) {
		p->list[p->count++] = *add;
	}
}

void machine_codes_add(struct machine_codes *x, struct machine_memory *m, const struct etl_record *r)
{
	const struct code_event *e = code_event_of(r);
	if (!e) {
		return;
	}
	struct kernel_payload in = payload_of(r);
	struct bytes b = kernel_payload_from(in, e->text);
	struct piece p = {.start = kernel_payload_get(in, e->start), .bytes = kernel_payload_get(in, e->bytes)};
	const uint8_t *space = NULL, *name;
	uint32_t space_units = 0, name_units;
	if ((e->texts == 2 && !take_text(&b, &space, &space_units)) || !take_text(&b, &name, &name_units)) {
		return;
	}
	if (p.start == 0 || p.bytes == 0 || p.bytes > UINT64_MAX - p.start) {
		return;
	}
	p.from = e->load ? r->time_filetime : 0;
	/* A rundown repeats what is known, in traces that saw it being made: keep the first. */
	uint64_t start;
	const char *known = e->load ? NULL : machine_codes_at(x, r->pid, p.start, r->time_filetime, &start);
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

/* Of those sorted, how many start at or before an address. */
static size_t sorted_until(const struct code_process *p, uint64_t address)
{
	size_t low = 0, high = p->sorted;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (p->list[mid].start <= address) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	return low;
}

/* The piece that an address is in at a time, and until when it is: NULL is an answer, too. */
static const struct piece *piece_at(const struct code_process *p, uint64_t address, uint64_t time, uint64_t *ret_to)
{
	const struct piece *best = NULL;
	*ret_to = UINT64_MAX;
	for (size_t i = p->sorted; i < p->count; i++) {
		const struct piece *c = &p->list[i];
		if (!holds(c, address)) {
			continue;
		}
		if (c->from > time) {
			*ret_to = BASE_MIN(*ret_to, c->from - 1);
		} else if (!best || c->from >= best->from) {
			best = c;
		}
	}
	/* Code that was replaced by shorter code may stand further back. */
	size_t low = sorted_until(p, address);
	for (size_t back = 0; low > 0 && back < TAIL_MAX; back++) {
		const struct piece *c = &p->list[--low];
		if (!holds(c, address)) {
			continue;
		}
		if (c->from > time) {
			*ret_to = BASE_MIN(*ret_to, c->from - 1);
		} else if (!best || c->from > best->from) {
			best = c;
		}
	}
	return best;
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
	uint64_t to;
	const struct piece *best = piece_at(p, address, time, &to);
	if (!best) {
		return NULL;
	}
	*ret_start = best->start;
	return best->name;
}

void machine_codes_span(const struct machine_codes *x, uint32_t pid, uint64_t address, uint64_t time,
			uint64_t *ret_from, uint64_t *ret_to)
{
	const struct code_process *p = (const struct code_process *)machine_table_find(&x->processes, pid);
	const struct piece *best = NULL;
	*ret_to = UINT64_MAX;
	if (p) {
		best = piece_at(p, address, time, ret_to);
	}
	*ret_from = best ? best->from : 0;
}

void machine_codes_free(struct machine_codes *x)
{
	for (struct machine_node *n = NULL; (n = machine_table_next(&x->processes, n)) != NULL;) {
		free(((struct code_process *)n)->list);
	}
	machine_table_free(&x->processes);
}
