/* SPDX-License-Identifier: MIT
 *
 * What a row does to registers, and DWARF expressions: what PLT entries, signal frames and functions
 * that align their stack use.
 */
#include "unwind/unwind_table.h"

#define DEPTH     32u
#define STEPS_MAX 512u

enum {
	OP_ADDR = 0x03,
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST1S = 0x09,
	OP_CONST2U = 0x0A,
	OP_CONST2S = 0x0B,
	OP_CONST4U = 0x0C,
	OP_CONST4S = 0x0D,
	OP_CONST8U = 0x0E,
	OP_CONST8S = 0x0F,
	OP_CONSTU = 0x10,
	OP_CONSTS = 0x11,
	OP_DUP = 0x12,
	OP_DROP = 0x13,
	OP_OVER = 0x14,
	OP_PICK = 0x15,
	OP_SWAP = 0x16,
	OP_ROT = 0x17,
	OP_ABS = 0x19,
	OP_AND = 0x1A,
	OP_MINUS = 0x1C,
	OP_MUL = 0x1E,
	OP_NEG = 0x1F,
	OP_NOT = 0x20,
	OP_OR = 0x21,
	OP_PLUS = 0x22,
	OP_PLUS_UCONST = 0x23,
	OP_SHL = 0x24,
	OP_SHR = 0x25,
	OP_SHRA = 0x26,
	OP_XOR = 0x27,
	OP_BRA = 0x28,
	OP_EQ = 0x29,
	OP_GE = 0x2A,
	OP_GT = 0x2B,
	OP_LE = 0x2C,
	OP_LT = 0x2D,
	OP_NE = 0x2E,
	OP_SKIP = 0x2F,
	OP_LIT0 = 0x30,
	OP_BREG0 = 0x70,
	OP_REG_LAST = 0x8F,
	OP_BREGX = 0x92,
	OP_DEREF_SIZE = 0x94,
	OP_NOP = 0x96,
};

struct machine {
	struct bytes b;
	const uint8_t *begin;
	const struct unwind_stack *m;
	const struct unwind_regs *regs;
	uint64_t v[DEPTH];
	unsigned n;
};

static void push(struct machine *x, uint64_t v)
{
	if (x->n == DEPTH) {
		x->b.bad = true;
		return;
	}
	x->v[x->n++] = v;
}

static uint64_t pop(struct machine *x)
{
	if (x->n == 0) {
		x->b.bad = true;
		return 0;
	}
	return x->v[--x->n];
}

static void pick(struct machine *x, unsigned from_top)
{
	if (from_top >= x->n) {
		x->b.bad = true;
		return;
	}
	push(x, x->v[x->n - 1 - from_top]);
}

static uint64_t reg(struct machine *x, uint64_t i)
{
	if (i >= UNWIND_REGS) {
		x->b.bad = true;
		return 0;
	}
	return x->regs->r[i];
}

static void deref(struct machine *x, unsigned bytes)
{
	uint64_t v = 0;
	if (bytes == 0 || bytes > 8 || !unwind_stack_read(x->m, pop(x), bytes, &v)) {
		x->b.bad = true;
	}
	push(x, v);
}

static void jump(struct machine *x, int16_t by)
{
	ptrdiff_t at = x->b.p - x->begin + by;
	if (at < 0 || at > x->b.end - x->begin) {
		x->b.bad = true;
		return;
	}
	x->b.p = x->begin + at;
}

static void two(struct machine *x, uint8_t op)
{
	uint64_t b = pop(x), a = pop(x), v = 0;
	int64_t sa = (int64_t)a, sb = (int64_t)b;
	switch (op) {
	case OP_AND: v = a & b; break;
	case OP_MINUS: v = a - b; break;
	case OP_MUL: v = a * b; break;
	case OP_OR: v = a | b; break;
	case OP_PLUS: v = a + b; break;
	case OP_SHL: v = b < 64 ? a << b : 0; break;
	case OP_SHR: v = b < 64 ? a >> b : 0; break;
	case OP_SHRA: v = (uint64_t)(sa >> (b < 64 ? b : 63)); break;
	case OP_XOR: v = a ^ b; break;
	case OP_EQ: v = a == b; break;
	case OP_GE: v = sa >= sb; break;
	case OP_GT: v = sa > sb; break;
	case OP_LE: v = sa <= sb; break;
	case OP_LT: v = sa < sb; break;
	case OP_NE: v = a != b; break;
	default: x->b.bad = true; break;
	}
	push(x, v);
}

static void on_stack(struct machine *x, uint8_t op)
{
	uint64_t a, b, c;
	switch (op) {
	case OP_DUP: pick(x, 0); break;
	case OP_DROP: pop(x); break;
	case OP_OVER: pick(x, 1); break;
	case OP_PICK: pick(x, bytes_u8(&x->b)); break;
	case OP_SWAP:
		b = pop(x);
		a = pop(x);
		push(x, b);
		push(x, a);
		break;
	case OP_ROT:
		c = pop(x);
		b = pop(x);
		a = pop(x);
		push(x, c);
		push(x, a);
		push(x, b);
		break;
	case OP_ABS:
		a = pop(x);
		push(x, (int64_t)a < 0 ? 0 - a : a);
		break;
	case OP_NEG: push(x, 0 - pop(x)); break;
	case OP_NOT: push(x, ~pop(x)); break;
	case OP_PLUS_UCONST:
		a = pop(x);
		push(x, a + unwind_uleb(&x->b));
		break;
	default: two(x, op); break;
	}
}

static void one(struct machine *x, uint8_t op)
{
	uint64_t i;
	int16_t by;
	if (op >= OP_LIT0 && op < OP_LIT0 + 32) {
		push(x, (uint64_t)op - OP_LIT0);
		return;
	}
	if (op >= OP_BREG0 && op <= OP_REG_LAST) {
		i = reg(x, (uint64_t)op - OP_BREG0);
		push(x, i + (uint64_t)unwind_sleb(&x->b));
		return;
	}
	switch (op) {
	case OP_ADDR:
	case OP_CONST8U:
	case OP_CONST8S: push(x, bytes_u64(&x->b)); break;
	case OP_CONST1U: push(x, bytes_u8(&x->b)); break;
	case OP_CONST1S: push(x, (uint64_t)(int64_t)(int8_t)bytes_u8(&x->b)); break;
	case OP_CONST2U: push(x, bytes_u16(&x->b)); break;
	case OP_CONST2S: push(x, (uint64_t)(int64_t)(int16_t)bytes_u16(&x->b)); break;
	case OP_CONST4U: push(x, bytes_u32(&x->b)); break;
	case OP_CONST4S: push(x, (uint64_t)(int64_t)(int32_t)bytes_u32(&x->b)); break;
	case OP_CONSTU: push(x, unwind_uleb(&x->b)); break;
	case OP_CONSTS: push(x, (uint64_t)unwind_sleb(&x->b)); break;
	case OP_BREGX:
		i = reg(x, unwind_uleb(&x->b));
		push(x, i + (uint64_t)unwind_sleb(&x->b));
		break;
	case OP_DEREF: deref(x, 8); break;
	case OP_DEREF_SIZE: deref(x, bytes_u8(&x->b)); break;
	case OP_SKIP: jump(x, (int16_t)bytes_u16(&x->b)); break;
	case OP_BRA:
		by = (int16_t)bytes_u16(&x->b);
		if (pop(x) != 0) {
			jump(x, by);
		}
		break;
	case OP_NOP: break;
	default: on_stack(x, op); break;
	}
}

static bool evaluate(const struct unwind_table *t, int32_t at, const struct unwind_stack *m,
		     const struct unwind_regs *regs, const uint64_t *first, uint64_t *ret)
{
	struct machine x = {.m = m, .regs = regs};
	size_t n;
	if (!unwind_table_expression(t, at, &x.begin, &n)) {
		return false;
	}
	x.b = bytes_of(x.begin, n);
	if (first) {
		push(&x, *first);
	}
	for (unsigned steps = 0; bytes_left(&x.b) > 0; steps++) {
		if (steps == STEPS_MAX) {
			return false;
		}
		one(&x, bytes_u8(&x.b));
	}
	uint64_t v = pop(&x);
	if (x.b.bad) {
		return false;
	}
	*ret = v;
	return true;
}

static uint64_t plain_address(uint64_t v)
{
#if defined(__aarch64__)
	return v & 0x0000FFFFFFFFFFFFull; /* without signature and tag */
#else
	return v;
#endif
}

enum unwind_step unwind_row_apply(const struct unwind_table *t, const struct unwind_row *row,
				  const struct unwind_stack *m, struct unwind_regs *regs)
{
	struct unwind_regs caller = *regs;
	uint64_t cfa, v;
	if (row->cfa.kind == RULE_REGISTER) {
		cfa = regs->r[row->cfa.reg] + (uint64_t)(int64_t)row->cfa.n;
	} else if (row->cfa.kind != RULE_VAL_EXPRESSION || !evaluate(t, row->cfa.n, m, regs, NULL, &cfa)) {
		return STEP_FAILED;
	}
	caller.r[UNWIND_SP] = cfa;
	for (unsigned i = 0; i < UNWIND_REGS; i++) {
		const struct unwind_rule *r = &row->r[i];
		bool ok = true;
		v = caller.r[i];
		switch (r->kind) {
		case RULE_OFFSET: ok = unwind_stack_read(m, cfa + (uint64_t)(int64_t)r->n, 8, &v); break;
		case RULE_VAL_OFFSET: v = cfa + (uint64_t)(int64_t)r->n; break;
		case RULE_REGISTER: v = regs->r[r->reg]; break;
		case RULE_EXPRESSION:
			ok = evaluate(t, r->n, m, regs, &cfa, &v) && unwind_stack_read(m, v, 8, &v);
			break;
		case RULE_VAL_EXPRESSION: ok = evaluate(t, r->n, m, regs, &cfa, &v); break;
		case RULE_UNDEFINED:
			if (i == row->return_register) {
				return STEP_OUTERMOST;
			}
			break;
		default: break;
		}
		if (!ok && i == row->return_register) {
			return STEP_FAILED;
		}
		caller.r[i] = ok ? v : 0;
	}
	caller.r[UNWIND_PC] = plain_address(caller.r[row->return_register]);
	if (caller.r[UNWIND_PC] == 0) {
		return STEP_OUTERMOST;
	}
	/* Callers lie further up; else this goes on for ever. */
	if (caller.r[UNWIND_SP] < regs->r[UNWIND_SP] ||
	    (caller.r[UNWIND_SP] == regs->r[UNWIND_SP] && caller.r[UNWIND_PC] == regs->r[UNWIND_PC])) {
		return STEP_FAILED;
	}
	*regs = caller;
	return STEP_DONE;
}
