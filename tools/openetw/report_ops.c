/* SPDX-License-Identifier: MIT
 * report: operations on files, from their request to their end. Only the end says how many bytes were moved.
 */
#include "tools/openetw/report.h"

#include <stdlib.h>

#define OPS_MAX (1u << 20) /* requests that wait for their ends; a trace may have no ends at all */

struct report_ops {
	struct report_op *slot;
	size_t cap, used;
};

static size_t place(const struct report_ops *o, uint64_t irp)
{
	size_t i = (irp * 0x9E3779B97F4A7C15ull >> 20) & (o->cap - 1);
	while (o->slot[i].irp && o->slot[i].irp != irp) {
		i = (i + 1) & (o->cap - 1);
	}
	return i;
}

static bool grow(struct report_ops *o)
{
	struct report_ops bigger = {.cap = o->cap ? o->cap * 2 : 1024, .used = o->used};
	bigger.slot = bigger.cap > OPS_MAX ? NULL : calloc(bigger.cap, sizeof *bigger.slot);
	if (!bigger.slot) {
		return false;
	}
	for (size_t i = 0; i < o->cap; i++) {
		if (o->slot[i].irp) {
			bigger.slot[place(&bigger, o->slot[i].irp)] = o->slot[i];
		}
	}
	free(o->slot);
	*o = bigger;
	return true;
}

static struct report_op *find(struct report_ops *o, uint64_t irp)
{
	struct report_op *op = o->cap && irp ? &o->slot[place(o, irp)] : NULL;
	return op && op->irp ? op : NULL;
}

static void forget(struct report_ops *o, struct report_op *op)
{
	size_t hole = (size_t)(op - o->slot), mask = o->cap - 1;
	o->slot[hole].irp = 0;
	o->used--;
	/* What stands behind it may have been put there because this place was taken. */
	for (size_t i = (hole + 1) & mask; o->slot[i].irp; i = (i + 1) & mask) {
		struct report_op moved = o->slot[i];
		o->slot[i].irp = 0;
		o->slot[place(o, moved.irp)] = moved;
	}
}

static bool moves(const struct report_op *op)
{
	return op->op == KOP_READ || op->op == KOP_WRITE;
}

bool report_op_again(struct report *r, const struct kevent *k)
{
	struct report_op *op = r->ops ? find(r->ops, k->irp) : NULL;
	if (!op || op->twice || !(k->with_path ? op->op == k->op : k->op == KOP_CLOSE && op->op == KOP_CLEANUP)) {
		return false;
	}
	op->twice = true;
	return true;
}

void report_op_begin(struct report *r, const struct kevent *k, const char *process, const char *file)
{
	r->ops = r->ops ? r->ops : calloc(1, sizeof *r->ops);
	struct report_ops *o = r->ops;
	if (!o || !k->irp || (o->used * 2 >= o->cap && !grow(o))) {
		return;
	}
	struct report_op *op = &o->slot[place(o, k->irp)];
	o->used += op->irp == 0;
	r->ops_without_end += op->irp != 0 && moves(op);
	*op = (struct report_op){.irp = k->irp, .op = k->op, .process = process, .file = file};
}

bool report_op_end(struct report *r, const struct kevent *end, struct report_op *ret)
{
	struct report_op *op = r->ops ? find(r->ops, end->irp) : NULL;
	r->ops_ended++;
	if (!op) {
		return false; /* it began before the trace */
	}
	*ret = *op;
	forget(r->ops, op);
	return true;
}

uint64_t report_ops_open(const struct report *r)
{
	uint64_t n = r->ops_without_end;
	for (size_t i = 0; r->ops && i < r->ops->cap; i++) {
		n += r->ops->slot[i].irp && moves(&r->ops->slot[i]);
	}
	return n;
}

void report_ops_free(struct report *r)
{
	if (r->ops) {
		free(r->ops->slot);
		free(r->ops);
	}
}
