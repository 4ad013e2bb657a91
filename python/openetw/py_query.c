/* SPDX-License-Identifier: MIT
 * Query: questions to an index.
 */
#include "py.h"

/* About ten times a second, by the thread that asks, which has given the GIL away. */
static bool on_question(void *context, uint64_t done, uint64_t total)
{
	(void)context;
	(void)done;
	(void)total;
	PyGILState_STATE g = PyGILState_Ensure();
	/* An exception of a callback stays the one that is raised. */
	bool go_on = !PyErr_Occurred() && PyErr_CheckSignals() == 0;
	PyGILState_Release(g);
	return go_on;
}

static void query_end(struct query *self)
{
	openetw_query_destroy(self->q);
	openetw_decoder_destroy(self->d);
	self->q = NULL;
	self->d = NULL;
	if (self->index) {
		((struct index *)self->index)->users--;
		Py_CLEAR(self->index);
	}
}

static void query_free(PyObject *o)
{
	query_end((struct query *)o);
	free_object(o);
}

/* Query(index, filter, start, stop, field) */
static PyObject *query_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
	allocfunc make = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
	PyObject *index;
	const char *filter, *field;
	long long start, stop;
	uint32_t code;
	(void)keywords;
	if (!PyArg_ParseTuple(args, "O!zLLz", (PyTypeObject *)index_class, &index, &filter, &start, &stop, &field) ||
	    !index_of(index)) {
		return NULL;
	}
	struct query *self = (struct query *)make(type, 0);
	if (!self) {
		return NULL;
	}
	Py_INCREF(index);
	self->index = index;
	((struct index *)index)->users++;
	self->q = openetw_query_create(((struct index *)index)->x);
	self->d = openetw_decoder_create();
	if (!self->q || !self->d) {
		Py_DECREF(self);
		return PyErr_NoMemory();
	}
	openetw_query_set_range(self->q, start, stop);
	openetw_query_set_progress(self->q, on_question, NULL);
	code = openetw_query_set_filter(self->q, filter);
	if (code) {
		raise_code(code, openetw_query_problem(self->q));
	} else if (field && (code = openetw_query_set_field(self->q, field)) != 0) {
		raise_last(code);
	}
	if (code) {
		Py_DECREF(self);
		return NULL;
	}
	return (PyObject *)self;
}

struct query *query_of(PyObject *o)
{
	struct query *self = (struct query *)o;
	if (!self->q) {
		PyErr_SetString(PyExc_ValueError, "the query is closed");
	} else if (self->busy) {
		PyErr_SetString(PyExc_RuntimeError, "the query is in use");
	} else {
		return self;
	}
	return NULL;
}

static PyObject *query_close(PyObject *o, PyObject *none)
{
	struct query *self = (struct query *)o;
	(void)none;
	if (self->q && !query_of(o)) {
		return NULL;
	}
	query_end(self);
	Py_RETURN_NONE;
}

static PyObject *query_cancel(PyObject *o, PyObject *none)
{
	struct query *self = (struct query *)o;
	(void)none;
	if (self->q) { /* any thread may */
		openetw_query_cancel(self->q);
	}
	Py_RETURN_NONE;
}

/* Ctrl-C, also where the work was done before it was noticed. */
uint32_t question_code(uint32_t code)
{
	return PyErr_Occurred() && !code ? CANCELLED : code;
}

/* matched, scanned, decoded, undecided, exact, partial */
PyObject *answer_tuple(const struct openetw_answer *a)
{
	return Py_BuildValue("(KKKKOO)", (unsigned long long)a->matched, (unsigned long long)a->scanned,
			     (unsigned long long)a->decoded, (unsigned long long)a->undecided,
			     a->exact ? Py_True : Py_False, a->partial ? Py_True : Py_False);
}

static PyObject *query_count(PyObject *o, PyObject *none)
{
	struct query *self = query_of(o);
	OPENETW_SIZED(struct openetw_answer, a);
	uint32_t code;
	(void)none;
	if (!self) {
		return NULL;
	}
	ASK(self, code, openetw_query_count(self->q, &a));
	return not_busy(&self->busy, code ? raise_last(code) : answer_tuple(&a));
}

/* A list that grows in callbacks. */
struct grow {
	PyObject *list;
	bool failed;
	unsigned calls;
};

static bool grow_by(struct grow *g, PyObject *item)
{
	g->failed = g->failed || !item || PyList_Append(g->list, item) < 0;
	Py_XDECREF(item);
	g->failed = g->failed || ((g->calls++ & 255u) == 255u && PyErr_CheckSignals() < 0);
	return !g->failed;
}

static bool on_facet(void *context, const struct openetw_facet *f)
{
	PyGILState_STATE g = PyGILState_Ensure();
	bool ok =
		grow_by(context, Py_BuildValue("(NNKLL)", id_or_none(f->id),
					       f->id == UINT32_MAX ? text_or_none(NULL) : text_or_none(f->text),
					       (unsigned long long)f->count, (long long)f->first, (long long)f->last));
	PyGILState_Release(g);
	return ok;
}

/* The query of a question with callbacks, and its list. */
static struct query *query_and_list(PyObject *o, struct grow *g)
{
	g->list = PyList_New(0);
	struct query *self = g->list ? query_of(o) : NULL;
	if (!self) {
		Py_CLEAR(g->list);
	}
	return self;
}

/* What a question with callbacks ends in: (list, answer). */
static PyObject *grown(struct grow *g, uint32_t code, const struct openetw_answer *a)
{
	if (g->failed || code) {
		Py_DECREF(g->list);
		return g->failed ? NULL : raise_last(code);
	}
	return Py_BuildValue("(NN)", g->list, answer_tuple(a));
}

/* facets(key, most): (id, text, count, first, last) */
static PyObject *query_facets(PyObject *o, PyObject *args)
{
	struct query *self;
	struct grow g = {0};
	OPENETW_SIZED(struct openetw_answer, a);
	unsigned long by, most;
	uint32_t code;
	if (!PyArg_ParseTuple(args, "kk", &by, &most) || !(self = query_and_list(o, &g))) {
		return NULL;
	}
	ASK(self, code, openetw_query_facets(self->q, (enum openetw_key)by, (uint32_t)most, on_facet, &g, &a));
	return not_busy(&self->busy, grown(&g, code, &a));
}

static bool on_group(void *context, const struct openetw_group *x)
{
	PyGILState_STATE g = PyGILState_Ensure();
	bool ok = grow_by(context, Py_BuildValue("(kNNNKKdddddd)", (unsigned long)x->depth, id_or_none(x->parent),
						 id_or_none(x->id),
						 x->id == UINT32_MAX ? text_or_none(NULL) : text_or_none(x->text),
						 (unsigned long long)x->count, (unsigned long long)x->values, x->sum,
						 x->min, x->max, x->average, x->p50, x->p99));
	PyGILState_Release(g);
	return ok;
}

/* group(tuple of keys, most) */
static PyObject *query_group(PyObject *o, PyObject *args)
{
	struct query *self;
	struct grow g = {0};
	OPENETW_SIZED(struct openetw_answer, a);
	enum openetw_key keys[OPENETW_GROUP_KEYS];
	PyObject *list;
	unsigned long most;
	uint32_t code;
	if (!PyArg_ParseTuple(args, "O!k", &PyTuple_Type, &list, &most)) {
		return NULL;
	}
	Py_ssize_t n = PyTuple_Size(list);
	if (n < 1 || n > (Py_ssize_t)OPENETW_GROUP_KEYS) {
		PyErr_SetString(PyExc_ValueError, "1 to 8 keys");
		return NULL;
	}
	for (Py_ssize_t i = 0; i < n; i++) {
		keys[i] = (enum openetw_key)PyLong_AsLong(PyTuple_GetItem(list, i));
	}
	if (PyErr_Occurred() || !(self = query_and_list(o, &g))) {
		return NULL;
	}
	ASK(self, code, openetw_query_group(self->q, keys, (uint32_t)n, (uint32_t)most, on_group, &g, &a));
	return not_busy(&self->busy, grown(&g, code, &a));
}

static bool on_node(void *context, const struct openetw_stack_node *x)
{
	PyGILState_STATE g = PyGILState_Ensure();
	bool ok = grow_by(context,
			  Py_BuildValue("(kNkKdd)", (unsigned long)x->depth, id_or_none(x->parent),
					(unsigned long)x->process, (unsigned long long)x->address, x->self, x->total));
	PyGILState_Release(g);
	return ok;
}

/* stacks(flags, least) */
static PyObject *query_stacks(PyObject *o, PyObject *args)
{
	struct query *self;
	struct grow g = {0};
	OPENETW_SIZED(struct openetw_answer, a);
	unsigned long flags;
	double least;
	uint32_t code;
	if (!PyArg_ParseTuple(args, "kd", &flags, &least) || !(self = query_and_list(o, &g))) {
		return NULL;
	}
	ASK(self, code, openetw_query_stacks(self->q, (uint32_t)flags, least, on_node, &g, &a));
	return not_busy(&self->busy, grown(&g, code, &a));
}

static PyObject *histogram_tuple(const struct openetw_histogram *h, uint32_t buckets)
{
	PyObject *ids = PyList_New(0);
	for (uint32_t i = 0; ids && i < h->series; i++) {
		PyObject *id = id_or_none(h->ids[i]);
		if (!id || PyList_Append(ids, id) < 0) {
			Py_CLEAR(ids);
		}
		Py_XDECREF(id);
	}
	return ids ? Py_BuildValue("(Ny#y#N)", ids, (const char *)h->totals,
				   (Py_ssize_t)(h->series * sizeof *h->totals), (const char *)h->counts,
				   (Py_ssize_t)((size_t)h->series * buckets * sizeof *h->counts),
				   answer_tuple(&h->answer))
		   : NULL;
}

/* histogram(start, stop, buckets, key, most): ids, totals, counts as bytes of uint64, answer */
static PyObject *query_histogram(PyObject *o, PyObject *args)
{
	struct query *self;
	OPENETW_SIZED(struct openetw_histogram, h);
	long long start, stop;
	unsigned long buckets, by, most;
	uint32_t code;
	if (!PyArg_ParseTuple(args, "LLkkk", &start, &stop, &buckets, &by, &most)) {
		return NULL;
	}
	if (buckets > UINT32_MAX) {
		PyErr_SetString(PyExc_ValueError, "too many buckets");
		return NULL;
	}
	if (!(self = query_of(o))) {
		return NULL;
	}
	ASK(self, code,
	    openetw_query_histogram(self->q, start, stop, (uint32_t)buckets, (enum openetw_key)by, (uint32_t)most, &h));
	return not_busy(&self->busy, code ? raise_last(code) : histogram_tuple(&h, (uint32_t)buckets));
}

static PyObject *query_position(PyObject *o, PyObject *args)
{
	struct query *self;
	long long time;
	uint64_t at = 0;
	uint32_t code;
	if (!PyArg_ParseTuple(args, "L", &time) || !(self = query_of(o))) {
		return NULL;
	}
	ASK(self, code, openetw_query_position(self->q, time, &at));
	return not_busy(&self->busy, code ? raise_last(code) : PyLong_FromUnsignedLongLong(at));
}

static PyMethodDef query_methods[] = {
	{"count", query_count, METH_NOARGS, NULL},          {"facets", query_facets, METH_VARARGS, NULL},
	{"group", query_group, METH_VARARGS, NULL},         {"stacks", query_stacks, METH_VARARGS, NULL},
	{"histogram", query_histogram, METH_VARARGS, NULL}, {"rows", query_rows, METH_VARARGS, NULL},
	{"position", query_position, METH_VARARGS, NULL},   {"json", query_json, METH_VARARGS, NULL},
	{"field", query_field, METH_VARARGS, NULL},         {"cancel", query_cancel, METH_NOARGS, NULL},
	{"close", query_close, METH_NOARGS, NULL},          {0},
};
static PyType_Slot query_slots[] = {
	{Py_tp_new, query_new}, {Py_tp_dealloc, query_free}, {Py_tp_methods, query_methods}, {0}};
PyType_Spec query_spec = {"openetw._openetw.Query", sizeof(struct query), 0, Py_TPFLAGS_DEFAULT, query_slots};
