/* SPDX-License-Identifier: MIT
 * Query: the rows of a result as columns, and what their events say.
 */
#include "py.h"

/* Columns of rows, as they come, in C's memory: no GIL is needed. */
struct columns {
	size_t count, cap;
	int64_t *time;
	uint64_t *row;
	uint32_t *part[5]; /* type, process, thread, cpu, stack */
	bool failed;
};

static bool columns_room(struct columns *c)
{
	if (c->count < c->cap) {
		return true;
	}
	size_t cap = c->cap ? c->cap * 2 : 4096;
	int64_t *time = realloc(c->time, cap * sizeof *time);
	c->time = time ? time : c->time;
	uint64_t *row = realloc(c->row, cap * sizeof *row);
	c->row = row ? row : c->row;
	bool ok = time && row;
	for (int i = 0; i < 5; i++) {
		uint32_t *part = realloc(c->part[i], cap * sizeof *part);
		c->part[i] = part ? part : c->part[i];
		ok = ok && part;
	}
	c->failed = !ok;
	c->cap = ok ? cap : c->cap;
	return ok;
}

static bool on_row(void *context, const struct openetw_row *r)
{
	struct columns *c = context;
	if (!columns_room(c)) {
		return false;
	}
	const uint32_t parts[5] = {r->type, r->process, r->thread, r->cpu, r->stack};
	c->time[c->count] = r->time;
	c->row[c->count] = r->row;
	for (int i = 0; i < 5; i++) {
		c->part[i][c->count] = parts[i];
	}
	c->count++;
	return true;
}

/* rows(position, count): time, row, type, process, thread, cpu, stack as bytes, answer */
PyObject *query_rows(PyObject *o, PyObject *args)
{
	struct query *self;
	struct columns c = {0};
	OPENETW_SIZED(struct openetw_answer, a);
	unsigned long long position, count;
	uint32_t code;
	PyObject *ret;
	if (!PyArg_ParseTuple(args, "KK", &position, &count) || !(self = query_of(o))) {
		return NULL;
	}
	ASK(self, code, openetw_query_rows(self->q, position, count, on_row, &c, &a));
	if (c.failed) {
		ret = PyErr_NoMemory();
	} else if (code) {
		ret = raise_last(code);
	} else {
		Py_ssize_t n4 = (Py_ssize_t)(c.count * 4), n8 = (Py_ssize_t)(c.count * 8);
		static const char none[1];
#define BYTES(p) ((p) ? (const char *)(p) : none)
		ret = Py_BuildValue("(y#y#y#y#y#y#y#N)", BYTES(c.time), n8, BYTES(c.row), n8, BYTES(c.part[0]), n4,
				    BYTES(c.part[1]), n4, BYTES(c.part[2]), n4, BYTES(c.part[3]), n4, BYTES(c.part[4]),
				    n4, answer_tuple(&a));
#undef BYTES
	}
	free(c.time);
	free(c.row);
	for (int i = 0; i < 5; i++) {
		free(c.part[i]);
	}
	return not_busy(&self->busy, ret);
}

/* json(row): the payload, and OPENETW_DECODED, … */
PyObject *query_json(PyObject *o, PyObject *args)
{
	struct query *self;
	const openetw_event_record *e = NULL;
	struct openetw_text t = {0};
	unsigned long long row;
	uint32_t code, result = 0;
	int payload; /* wanted? */
	if (!PyArg_ParseTuple(args, "Kp", &row, &payload) || !(self = query_of(o))) {
		return NULL;
	}
	self->busy = true;
	Py_BEGIN_ALLOW_THREADS code = openetw_query_event(self->q, row, &e);
	if (code == 0) {
		result = openetw_decode_json(self->d, e, &t);
	}
	Py_END_ALLOW_THREADS code = question_code(code);
	PyObject *ret = code                  ? raise_last(code)
			: t.failed || !t.data ? PyErr_NoMemory()
					      : Py_BuildValue("(NkN)", text_of(t.data, t.length), (unsigned long)result,
							      payload_bytes(payload ? e : NULL));
	openetw_text_free(&t);
	return not_busy(&self->busy, ret);
}

/* A field of many events, as texts of JSON. */
struct field_texts {
	const char *path;
	size_t path_length;
	char *out; /* "[[0,1],…": of each event its values; the last one counts. 0: it is of the field that the path begins with */
	size_t length, cap;
	bool failed, first;
};

static void add_text(struct field_texts *x, const char *s, size_t n)
{
	if (x->cap - x->length < n) {
		size_t cap = (x->cap + n) * 2;
		char *out = realloc(x->out, cap);
		x->failed = x->failed || !out;
		if (x->failed) {
			return;
		}
		x->out = out;
		x->cap = cap;
	}
	memcpy(x->out + x->length, s, n);
	x->length += n;
}

static bool on_field(void *context, const struct openetw_field *f)
{
	struct field_texts *x = context;
	bool whole = f->name_length == x->path_length && memcmp(f->name, x->path, x->path_length) == 0;
	bool begins = f->name_length < x->path_length && x->path[f->name_length] == '.' &&
		      memcmp(f->name, x->path, f->name_length) == 0;
	if (whole || begins) {
		add_text(x, x->first ? "" : ",", !x->first);
		add_text(x, whole ? "[1," : "[0,", 3);
		add_text(x, f->json, f->json_length);
		add_text(x, "]", 1);
		x->first = false;
	}
	return !x->failed;
}

/* field(rows as bytes of uint64, path): JSON, as field_texts has it, an array for each row */
PyObject *query_field(PyObject *o, PyObject *args)
{
	struct query *self;
	const char *bytes, *path;
	Py_ssize_t n, path_length;
	uint32_t code = 0;
	const openetw_event_record *e;
	if (!PyArg_ParseTuple(args, "y#s#", &bytes, &n, &path, &path_length) || !(self = query_of(o))) {
		return NULL;
	}
	struct field_texts x = {.path = path, .path_length = (size_t)path_length};
	self->busy = true;
	add_text(&x, "[", 1);
	for (Py_ssize_t i = 0; i < n / 8 && !code && !x.failed; i++) {
		uint64_t row;
		memcpy(&row, bytes + 8 * i, sizeof row);
		if (i % 4096 == 0 && PyErr_CheckSignals() < 0) {
			code = CANCELLED;
			break;
		}
		Py_BEGIN_ALLOW_THREADS code = openetw_query_event(self->q, row, &e);
		add_text(&x, i ? ",[" : "[", i ? 2 : 1);
		x.first = true;
		if (code == 0) {
			openetw_decode_field(self->d, e, path, on_field, &x);
		}
		add_text(&x, "]", 1);
		Py_END_ALLOW_THREADS code = question_code(code);
	}
	add_text(&x, "]", 1);
	PyObject *ret = code ? raise_last(code) : x.failed ? PyErr_NoMemory() : text_of(x.out, x.length);
	free(x.out);
	return not_busy(&self->busy, ret);
}
