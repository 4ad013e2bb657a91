/* SPDX-License-Identifier: MIT
 * report: operations on files, from their request to their end. Only the end says how many bytes were moved.
 */
#include "tools/openetw/report.h"

#include "base/vec.h"

#include <stdlib.h>

#define OPS_MAX (1u << 19) /* requests that wait for their ends; a trace may have no ends at all */

struct report_ops {
	struct report_op *op;
	size_t count, cap;
	struct map places; /* by irp */
};

static struct report_op *find(struct report_ops *o, uint64_t irp, size_t *ret_at)
{
	*ret_at = map_find(&o->places, irp);
	return *ret_at != MAP_NONE ? &o->op[map_value(&o->places, *ret_at)] : NULL;
}

/* The last one takes its place. */
static void forget(struct report_ops *o, struct report_op *op, size_t at)
{
	struct report_op *last = &o->op[--o->count];
	if (op != last) {
		map_set(&o->places, map_find(&o->places, last->irp), (uint64_t)(op - o->op));
		*op = *last;
	}
	map_remove(&o->places, at);
}

static bool moves(const struct report_op *op)
{
	return op->op == KOP_READ || op->op == KOP_WRITE;
}

bool report_op_again(struct report *r, const struct kevent *k)
{
	size_t at;
	struct report_op *op = r->ops ? find(r->ops, k->irp, &at) : NULL;
	if (!op || op->twice || !(k->with_path ? op->op == k->op : k->op == KOP_CLOSE && op->op == KOP_CLEANUP)) {
		return false;
	}
	op->twice = true;
	return true;
}

void report_op_begin(struct report *r, const struct kevent *k, const char *process, const char *file, bool counted)
{
	r->ops = r->ops ? r->ops : calloc(1, sizeof *r->ops);
	struct report_ops *o = r->ops;
	if (!o || !k->irp) {
		return;
	}
	size_t at;
	struct report_op *op = find(o, k->irp, &at);
	if (op) {
		r->ops_without_end += moves(op);
	} else if (!VEC_ROOM_UP_TO(o->op, o->count, o->cap, OPS_MAX) || map_add(&o->places, k->irp, o->count) < 0) {
		return;
	} else {
		op = &o->op[o->count++];
	}
	*op = (struct report_op){
		.irp = k->irp, .op = k->op, .process = process, .file = file, .counted = counted, .asked = k->asked};
}

bool report_op_end(struct report *r, const struct kevent *end, struct report_op *ret)
{
	size_t at;
	struct report_op *op = r->ops ? find(r->ops, end->irp, &at) : NULL;
	r->ops_ended++;
	if (!op) {
		return false; /* it began before the trace */
	}
	*ret = *op;
	forget(r->ops, op, at);
	return true;
}

uint64_t report_ops_open(const struct report *r)
{
	uint64_t n = r->ops_without_end;
	for (size_t i = 0; r->ops && i < r->ops->count; i++) {
		n += moves(&r->ops->op[i]);
	}
	return n;
}

void report_ops_free(struct report *r)
{
	if (r->ops) {
		free(r->ops->op);
		map_free(&r->ops->places);
		free(r->ops);
	}
}
