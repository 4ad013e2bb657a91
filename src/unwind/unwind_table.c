/* SPDX-License-Identifier: MIT
 *
 * .eh_frame and .debug_frame (DWARF 5, 6.4; Linux Standard Base, "Exception Frames"). All entries
 * are listed and sorted once: the file's own index (.eh_frame_hdr) is neither always there nor
 * to be trusted.
 */
#include "unwind/unwind_table.h"
#include "base/vec.h"

#include <stdlib.h>

#define NESTED_MAX  16u /* DW_CFA_remember_state */
#define ENTRIES_MAX (2u << 20)
/* Tables are other people's files, read while they run: none may take as long as it likes. */
#define COMMON_MAX    4096u     /* bytes of a CIE; usual are 20 */
#define PROGRAM_MAX   16384u    /* instructions for one row */
#define LEB_SHIFT_MAX (16u * 7) /* longer ones are no padding */

enum { /* encodings of pointers */
       PE_ABSOLUTE = 0x00,
       PE_ULEB = 0x01,
       PE_U16 = 0x02,
       PE_U32 = 0x03,
       PE_U64 = 0x04,
       PE_SLEB = 0x09,
       PE_S16 = 0x0A,
       PE_S32 = 0x0B,
       PE_S64 = 0x0C,
       PE_FORMAT = 0x0F,
       PE_PCREL = 0x10,
       PE_RELATION = 0x70,
       PE_OMIT = 0xFF,
};
enum { /* instructions */
       CFA_NOP = 0x00,
       CFA_SET_LOC = 0x01,
       CFA_ADVANCE1 = 0x02,
       CFA_ADVANCE2 = 0x03,
       CFA_ADVANCE4 = 0x04,
       CFA_OFFSET_EXTENDED = 0x05,
       CFA_RESTORE_EXTENDED = 0x06,
       CFA_UNDEFINED = 0x07,
       CFA_SAME = 0x08,
       CFA_REGISTER = 0x09,
       CFA_REMEMBER = 0x0A,
       CFA_RESTORE_STATE = 0x0B,
       CFA_DEF_CFA = 0x0C,
       CFA_DEF_CFA_REGISTER = 0x0D,
       CFA_DEF_CFA_OFFSET = 0x0E,
       CFA_DEF_CFA_EXPRESSION = 0x0F,
       CFA_EXPRESSION = 0x10,
       CFA_OFFSET_EXTENDED_SF = 0x11,
       CFA_DEF_CFA_SF = 0x12,
       CFA_DEF_CFA_OFFSET_SF = 0x13,
       CFA_VAL_OFFSET = 0x14,
       CFA_VAL_OFFSET_SF = 0x15,
       CFA_VAL_EXPRESSION = 0x16,
       CFA_NEGATE_RA_STATE = 0x2D, /* arm64: the return address is signed; the signature is cut off anyway */
       CFA_ARGS_SIZE = 0x2E,
       CFA_OFFSET_NEGATIVE = 0x2F,
       CFA_ADVANCE = 0x40, /* and above: with the operand in the low bits */
       CFA_OFFSET = 0x80,
       CFA_RESTORE = 0xC0,
};

struct entry { /* of a function */
	uint64_t start, bytes;
	uint32_t common;       /* where its CIE stands */
	uint32_t program, end; /* its instructions */
};
struct common {
	uint32_t at;
	uint64_t code_factor;
	int64_t data_factor;
	uint8_t return_register;
	uint8_t encoding;
	bool augmented, signal;
	uint32_t program, end;
};
struct unwind_table {
	uint8_t *p;
	size_t n;
	uint64_t linked;
	bool debug_frame;
	struct entry *list;
	size_t count, cap;
};

uint64_t unwind_uleb(struct bytes *b)
{
	uint64_t v = 0;
	for (unsigned shift = 0;; shift += 7) {
		uint8_t c = bytes_u8(b);
		v |= shift < 64 ? (uint64_t)(c & 0x7F) << shift : 0;
		b->bad |= shift > LEB_SHIFT_MAX;
		if (!(c & 0x80) || b->bad) {
			return v;
		}
	}
}

int64_t unwind_sleb(struct bytes *b)
{
	uint64_t v = 0;
	for (unsigned shift = 0;;) {
		uint8_t c = bytes_u8(b);
		v |= shift < 64 ? (uint64_t)(c & 0x7F) << shift : 0;
		shift += 7;
		b->bad |= shift > LEB_SHIFT_MAX;
		if (!(c & 0x80) || b->bad) {
			if (shift < 64 && (c & 0x40)) {
				v |= ~0ull << shift;
			}
			return (int64_t)v;
		}
	}
}

static uint32_t offset_of(const struct unwind_table *t, const struct bytes *b)
{
	return (uint32_t)(b->p - t->p);
}

static struct bytes part(const struct unwind_table *t, uint32_t from, uint32_t to)
{
	return bytes_of(t->p + from, to - from);
}

static uint64_t take_pointer(const struct unwind_table *t, struct bytes *b, uint8_t encoding)
{
	uint64_t place = t->linked + offset_of(t, b), v;
	switch (encoding & PE_FORMAT) {
	case PE_ULEB: v = unwind_uleb(b); break;
	case PE_SLEB: v = (uint64_t)unwind_sleb(b); break;
	case PE_U16: v = bytes_u16(b); break;
	case PE_S16: v = (uint64_t)(int64_t)(int16_t)bytes_u16(b); break;
	case PE_U32: v = bytes_u32(b); break;
	case PE_S32: v = (uint64_t)(int64_t)(int32_t)bytes_u32(b); break;
	case PE_ABSOLUTE:
	case PE_U64:
	case PE_S64: v = bytes_u64(b); break;
	default: b->bad = true; return 0;
	}
	return (encoding & PE_RELATION) == PE_PCREL ? v + place : v;
}

static bool read_common(const struct unwind_table *t, uint32_t at, struct common *ret)
{
	if (at > t->n) {
		return false;
	}
	struct bytes b = bytes_of(t->p + at, t->n - at);
	struct common c = {.at = at};
	uint64_t length = bytes_u32(&b);
	bool wide = length == UINT32_MAX;
	length = wide ? bytes_u64(&b) : length;
	if (b.bad || length > COMMON_MAX || length > bytes_left(&b)) {
		return false;
	}
	b.end = b.p + length;
	c.end = (uint32_t)(b.end - t->p);
	uint64_t id = wide && t->debug_frame ? bytes_u64(&b) : bytes_u32(&b);
	if (id != (!t->debug_frame ? 0 : wide ? UINT64_MAX : UINT32_MAX)) {
		return false;
	}
	uint8_t version = bytes_u8(&b);
	size_t letters;
	const char *letter = bytes_asz(&b, &letters);
	if (b.bad || (version != 1 && version != 3 && version != 4)) {
		return false;
	}
	if (version == 4) {
		bytes_take(&b, 2); /* sizes of addresses and segments */
	}
	if (strcmp(letter, "eh") == 0) {
		bytes_take(&b, 8);
	}
	c.code_factor = unwind_uleb(&b);
	c.data_factor = unwind_sleb(&b);
	uint64_t return_register = version == 1 ? bytes_u8(&b) : unwind_uleb(&b);
	if (return_register >= UNWIND_REGS) {
		return false;
	}
	c.return_register = (uint8_t)return_register;
	c.encoding = PE_ABSOLUTE;
	c.program = offset_of(t, &b);
	if (letter[0] == 'z') {
		uint64_t n = unwind_uleb(&b);
		c.program = offset_of(t, &b) + (uint32_t)n;
		c.augmented = true;
		if (n > bytes_left(&b)) {
			return false;
		}
		for (letter++; *letter; letter++) {
			if (*letter == 'R') {
				c.encoding = bytes_u8(&b);
			} else if (*letter == 'S') {
				c.signal = true;
			} else if (*letter == 'L') {
				bytes_u8(&b);
			} else if (*letter == 'P') {
				take_pointer(t, &b, bytes_u8(&b));
			} else if (*letter != 'B') {
				break;
			}
		}
	}
	if (b.bad) {
		return false;
	}
	*ret = c;
	return true;
}

static bool add(struct unwind_table *t, const struct entry *e)
{
	if (!VEC_ROOM_UP_TO(t->list, t->count, t->cap, ENTRIES_MAX)) {
		return false;
	}
	t->list[t->count++] = *e;
	return true;
}

static int by_start(const void *pa, const void *pb)
{
	const struct entry *a = pa, *b = pb;
	return a->start < b->start ? -1 : a->start > b->start;
}

static bool read_entries(struct unwind_table *t)
{
	struct bytes all = bytes_of(t->p, t->n);
	struct common c = {.at = UINT32_MAX};
	while (bytes_left(&all) >= 4) {
		uint64_t length = bytes_u32(&all);
		bool wide = length == UINT32_MAX;
		length = wide ? bytes_u64(&all) : length;
		if (length == 0) {
			continue; /* the end of what one linker input gave */
		}
		const uint8_t *p = bytes_take(&all, length > t->n ? t->n + 1 : (size_t)length);
		if (!p) {
			break; /* what came before is of use */
		}
		struct bytes b = bytes_of(p, (size_t)length);
		uint32_t place = offset_of(t, &b);
		uint64_t id = wide && t->debug_frame ? bytes_u64(&b) : bytes_u32(&b);
		bool is_common = t->debug_frame ? id == (wide ? UINT64_MAX : UINT32_MAX) : id == 0;
		uint64_t common = t->debug_frame ? id : place - id;
		if (b.bad || is_common || (!t->debug_frame && id > place) || common > UINT32_MAX) {
			continue;
		}
		if (c.at != common && !read_common(t, (uint32_t)common, &c)) {
			c.at = UINT32_MAX;
			continue;
		}
		struct entry e = {.common = c.at, .end = (uint32_t)(b.end - t->p)};
		e.start = take_pointer(t, &b, c.encoding);
		e.bytes = take_pointer(t, &b, c.encoding & PE_FORMAT);
		if (c.augmented) {
			uint64_t n = unwind_uleb(&b);
			bytes_take(&b, n > t->n ? t->n + 1 : (size_t)n);
		}
		e.program = offset_of(t, &b);
		/* Functions that the linker threw away begin at 0. */
		if (!b.bad && e.bytes && e.start && e.start + e.bytes > e.start && !add(t, &e)) {
			return false;
		}
	}
	bool sorted = true; /* as linkers leave them, mostly */
	for (size_t i = 1; i < t->count && sorted; i++) {
		sorted = t->list[i - 1].start <= t->list[i].start;
	}
	if (!sorted) {
		qsort(t->list, t->count, sizeof *t->list, by_start);
	}
	return true;
}

int unwind_table_create(uint8_t *p, size_t n, uint64_t linked, bool debug_frame, struct unwind_table **ret)
{
	struct unwind_table *t = n > INT32_MAX ? NULL : calloc(1, sizeof *t);
	if (!t) {
		free(p);
		return -ENOMEM;
	}
	*t = (struct unwind_table){.p = p, .n = n, .linked = linked, .debug_frame = debug_frame};
	if (!read_entries(t)) {
		unwind_table_destroy(t);
		return -ENOMEM;
	}
	if (t->count == 0) {
		unwind_table_destroy(t);
		return -ENOENT;
	}
	*ret = t;
	return 0;
}

void unwind_table_destroy(struct unwind_table *t)
{
	if (t) {
		free(t->p);
		free(t->list);
	}
	free(t);
}

size_t unwind_table_bytes(const struct unwind_table *t)
{
	return t->n + t->cap * sizeof *t->list;
}

/* ---- rows ------------------------------------------------------------------------------------- */

struct machine {
	const struct unwind_table *t;
	const struct common *c;
	uint64_t at, wanted;
	struct unwind_row row, first; /* now; after the CIE's instructions */
	struct unwind_row saved[NESTED_MAX];
	unsigned depth;
	uint32_t steps, *total; /* instructions of this row; of all rows of a stack that may still be done */
};

static void set(struct machine *m, uint64_t reg, uint8_t kind, int64_t n, uint64_t other)
{
	if (reg < UNWIND_REGS && other < UNWIND_REGS) {
		m->row.r[reg] = (struct unwind_rule){kind, (uint8_t)other, (int32_t)n};
	}
}

static void set_cfa(struct machine *m, uint64_t reg, int64_t n)
{
	m->row.cfa = (struct unwind_rule){reg < UNWIND_REGS ? RULE_REGISTER : RULE_UNDEFINED, (uint8_t)reg, (int32_t)n};
}

/* Skips an expression; the rule points at its length. */
static int64_t expression(struct machine *m, struct bytes *b)
{
	int64_t at = offset_of(m->t, b);
	uint64_t n = unwind_uleb(b);
	bytes_take(b, n > m->t->n ? m->t->n + 1 : (size_t)n);
	return at;
}

/* Numbers of a hostile table may wrap. */
static int64_t scaled(uint64_t n, int64_t factor)
{
	return (int64_t)(n * (uint64_t)factor);
}

static void restore(struct machine *m, uint64_t reg)
{
	if (reg < UNWIND_REGS) {
		m->row.r[reg] = m->first.r[reg];
	}
}

static void one_with_operand(struct machine *m, struct bytes *b, uint8_t op)
{
	int64_t factor = m->c->data_factor;
	uint64_t reg;
	switch (op) {
	case CFA_OFFSET_EXTENDED:
		reg = unwind_uleb(b);
		set(m, reg, RULE_OFFSET, scaled(unwind_uleb(b), factor), 0);
		break;
	case CFA_OFFSET_EXTENDED_SF:
		reg = unwind_uleb(b);
		set(m, reg, RULE_OFFSET, scaled((uint64_t)unwind_sleb(b), factor), 0);
		break;
	case CFA_OFFSET_NEGATIVE:
		reg = unwind_uleb(b);
		set(m, reg, RULE_OFFSET, scaled(0 - unwind_uleb(b), factor), 0);
		break;
	case CFA_VAL_OFFSET:
		reg = unwind_uleb(b);
		set(m, reg, RULE_VAL_OFFSET, scaled(unwind_uleb(b), factor), 0);
		break;
	case CFA_VAL_OFFSET_SF:
		reg = unwind_uleb(b);
		set(m, reg, RULE_VAL_OFFSET, scaled((uint64_t)unwind_sleb(b), factor), 0);
		break;
	case CFA_REGISTER:
		reg = unwind_uleb(b);
		set(m, reg, RULE_REGISTER, 0, unwind_uleb(b));
		break;
	case CFA_EXPRESSION:
		reg = unwind_uleb(b);
		set(m, reg, RULE_EXPRESSION, expression(m, b), 0);
		break;
	case CFA_VAL_EXPRESSION:
		reg = unwind_uleb(b);
		set(m, reg, RULE_VAL_EXPRESSION, expression(m, b), 0);
		break;
	case CFA_DEF_CFA:
		reg = unwind_uleb(b);
		set_cfa(m, reg, (int64_t)unwind_uleb(b));
		break;
	case CFA_DEF_CFA_SF:
		reg = unwind_uleb(b);
		set_cfa(m, reg, scaled((uint64_t)unwind_sleb(b), factor));
		break;
	case CFA_DEF_CFA_EXPRESSION:
		m->row.cfa = (struct unwind_rule){RULE_VAL_EXPRESSION, 0, (int32_t)expression(m, b)};
		break;
	default: b->bad = true; break;
	}
}

static void one(struct machine *m, struct bytes *b, uint8_t op)
{
	switch (op) {
	case CFA_NOP:
	case CFA_NEGATE_RA_STATE: break;
	case CFA_SET_LOC: m->at = take_pointer(m->t, b, m->c->encoding); break;
	case CFA_ADVANCE1: m->at += bytes_u8(b) * m->c->code_factor; break;
	case CFA_ADVANCE2: m->at += bytes_u16(b) * m->c->code_factor; break;
	case CFA_ADVANCE4: m->at += bytes_u32(b) * m->c->code_factor; break;
	case CFA_RESTORE_EXTENDED: restore(m, unwind_uleb(b)); break;
	case CFA_UNDEFINED: set(m, unwind_uleb(b), RULE_UNDEFINED, 0, 0); break;
	case CFA_SAME: set(m, unwind_uleb(b), RULE_SAME, 0, 0); break;
	case CFA_REMEMBER:
		b->bad |= m->depth == NESTED_MAX;
		if (!b->bad) {
			m->saved[m->depth++] = m->row;
		}
		break;
	case CFA_RESTORE_STATE:
		b->bad |= m->depth == 0;
		if (!b->bad) {
			m->row = m->saved[--m->depth];
		}
		break;
	case CFA_DEF_CFA_REGISTER: set_cfa(m, unwind_uleb(b), m->row.cfa.n); break;
	case CFA_DEF_CFA_OFFSET: m->row.cfa.n = (int32_t)unwind_uleb(b); break;
	case CFA_DEF_CFA_OFFSET_SF: m->row.cfa.n = (int32_t)scaled((uint64_t)unwind_sleb(b), m->c->data_factor); break;
	case CFA_ARGS_SIZE: unwind_uleb(b); break;
	default: one_with_operand(m, b, op); break;
	}
}

/* Up to the row that holds at the wanted address. */
static bool run(struct machine *m, struct bytes b)
{
	while (bytes_left(&b) > 0) {
		if (m->steps++ == PROGRAM_MAX || *m->total == 0) {
			return false;
		}
		--*m->total;
		struct unwind_row before = m->row;
		uint8_t op = bytes_u8(&b), low = op & 0x3F;
		switch (op & 0xC0) {
		case CFA_ADVANCE: m->at += low * m->c->code_factor; break;
		case CFA_OFFSET: set(m, low, RULE_OFFSET, scaled(unwind_uleb(&b), m->c->data_factor), 0); break;
		case CFA_RESTORE: restore(m, low); break;
		default: one(m, &b, op); break;
		}
		if (b.bad) {
			return false;
		}
		if (m->at > m->wanted) {
			m->row = before;
			return true;
		}
	}
	return true;
}

bool unwind_table_row(const struct unwind_table *t, uint64_t pc, uint32_t *inout_steps, struct unwind_row *ret)
{
	size_t low = 0, high = t->count;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (t->list[mid].start <= pc) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	const struct entry *e = low ? &t->list[low - 1] : NULL;
	struct common c;
	if (!e || pc - e->start >= e->bytes || !read_common(t, e->common, &c) || c.program > c.end ||
	    e->program > e->end) {
		return false;
	}
	struct machine m = {.t = t, .c = &c, .at = 0, .wanted = UINT64_MAX, .total = inout_steps};
	if (!run(&m, part(t, c.program, c.end))) {
		return false;
	}
	m.first = m.row;
	m.at = e->start;
	m.wanted = pc;
	if (!run(&m, part(t, e->program, e->end))) {
		return false;
	}
	m.row.return_register = c.return_register;
	m.row.signal = c.signal;
	*ret = m.row;
	return true;
}

bool unwind_table_expression(const struct unwind_table *t, int32_t at, const uint8_t **ret, size_t *ret_n)
{
	if (at < 0 || (size_t)at > t->n) {
		return false;
	}
	struct bytes b = bytes_of(t->p + at, t->n - (size_t)at);
	uint64_t n = unwind_uleb(&b);
	if (b.bad || n > bytes_left(&b)) {
		return false;
	}
	*ret = b.p;
	*ret_n = (size_t)n;
	return true;
}

/* ---- applying --------------------------------------------------------------------------------- */

bool unwind_stack_read(const struct unwind_stack *m, uint64_t address, unsigned bytes, uint64_t *ret)
{
	if (address < m->at || address - m->at > m->bytes || bytes > m->bytes - (address - m->at)) {
		return false;
	}
	uint64_t v = 0;
	memcpy(&v, m->p + (address - m->at), bytes);
	*ret = v;
	return true;
}
