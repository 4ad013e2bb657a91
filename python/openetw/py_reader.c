/* SPDX-License-Identifier: MIT
 * Reader: the events of files and sessions, in batches.
 */
#include "py.h"

struct reader {
	PyObject_HEAD struct openetw_reader *r;
	bool busy;
};

static PyObject *reader_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
	allocfunc make = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
	struct reader *self = (struct reader *)make(type, 0);
	(void)args;
	(void)keywords;
	if (self && !(self->r = openetw_reader_create())) {
		Py_DECREF(self);
		return PyErr_NoMemory();
	}
	return (PyObject *)self;
}

static void reader_free(PyObject *o)
{
	struct reader *self = (struct reader *)o;
	struct openetw_reader *r = self->r;
	self->r = NULL;
	Py_BEGIN_ALLOW_THREADS openetw_reader_destroy(r); /* its thread may be reading */
	Py_END_ALLOW_THREADS free_object(o);
}

/* NULL and an exception when it cannot be used now. To be asked last, here and of all types below: taking arguments
 * apart runs code of theirs (__index__, __fspath__, __bool__), and making lists may run finalizers. Those may close it. */
static struct openetw_reader *reader_of(PyObject *o)
{
	struct reader *self = (struct reader *)o;
	if (!self->r) {
		PyErr_SetString(PyExc_ValueError, "the reader is closed");
	} else if (self->busy) {
		PyErr_SetString(PyExc_RuntimeError, "the reader is in use");
	} else {
		return self->r;
	}
	return NULL;
}

static PyObject *reader_close(PyObject *o, PyObject *none)
{
	struct reader *self = (struct reader *)o;
	(void)none;
	if (self->r && !reader_of(o)) {
		return NULL;
	}
	struct openetw_reader *r = self->r;
	self->r = NULL;
	Py_BEGIN_ALLOW_THREADS openetw_reader_destroy(r);
	Py_END_ALLOW_THREADS Py_RETURN_NONE;
}

static PyObject *reader_add_file(PyObject *o, PyObject *path)
{
	PyObject *bytes = path_bytes(path);
	struct openetw_reader *r = bytes ? reader_of(o) : NULL;
	if (r) {
		openetw_reader_add_file(r, PyBytes_AsString(bytes));
	}
	Py_XDECREF(bytes);
	if (!r) {
		return NULL;
	}
	Py_RETURN_NONE;
}

static bool add_pids(struct openetw_reader *r, PyObject *pids)
{
	for (Py_ssize_t i = 0; i < PyTuple_Size(pids); i++) {
		unsigned long pid = PyLong_AsUnsignedLong(PyTuple_GetItem(pids, i));
		if (PyErr_Occurred()) {
			return false;
		}
		openetw_reader_add_pid(r, (uint32_t)pid);
	}
	return true;
}

static bool add_processes(struct openetw_reader *r, PyObject *processes)
{
	for (Py_ssize_t i = 0; i < PyTuple_Size(processes); i++) {
		PyObject *item = PyUnicode_AsUTF8String(PyTuple_GetItem(processes, i));
		if (!item) {
			return false;
		}
		openetw_reader_add_process(r, PyBytes_AsString(item));
		Py_DECREF(item);
	}
	return true;
}

static bool add_providers(struct openetw_reader *r, PyObject *providers)
{
	for (Py_ssize_t i = 0; i < PyTuple_Size(providers); i++) {
		struct openetw_guid guid;
		PyObject *item = PyUnicode_AsUTF8String(PyTuple_GetItem(providers, i));
		if (!item) {
			return false;
		}
		uint32_t code = openetw_provider_guid(PyBytes_AsString(item), &guid);
		Py_DECREF(item);
		if (code) {
			raise_last(code);
			return false;
		}
		openetw_reader_add_provider(r, &guid);
	}
	return true;
}

static PyObject *reader_set(PyObject *o, PyObject *args, PyObject *keywords)
{
	static char *names[] = {"session",   "content", "attach", "pids", "processes",
				"providers", "start",   "stop",   NULL};
	struct openetw_reader *r;
	const char *session = NULL;
	unsigned long content = OPENETW_READER_JSON | OPENETW_READER_NAMES, attach = 0;
	unsigned long long start = 0, stop = UINT64_MAX;
	PyObject *pids, *processes, *providers;
	bool *busy = &((struct reader *)o)->busy;
	if (!PyArg_ParseTupleAndKeywords(args, keywords, "zkkO!O!O!KK", names, &session, &content, &attach,
					 &PyTuple_Type, &pids, &PyTuple_Type, &processes, &PyTuple_Type, &providers,
					 &start, &stop) ||
	    !(r = reader_of(o))) {
		return NULL;
	}
	*busy = true;
	if (session) {
		openetw_reader_set_session(r, session);
	}
	openetw_reader_set_content(r, (uint32_t)content);
	openetw_reader_attach(r, (uint32_t)attach);
	openetw_reader_set_range(r, start, stop);
	return not_busy(busy,
			none_or_error(add_pids(r, pids) && add_processes(r, processes) && add_providers(r, providers)));
}

static PyObject *reader_start(PyObject *o, PyObject *none)
{
	struct openetw_reader *r = reader_of(o);
	bool *busy = &((struct reader *)o)->busy;
	uint32_t code;
	(void)none;
	if (!r) {
		return NULL;
	}
	*busy = true;
	Py_BEGIN_ALLOW_THREADS code = openetw_reader_start(r);
	Py_END_ALLOW_THREADS if (code)
	{
		raise_code(code, openetw_reader_problem(r));
	}
	return not_busy(busy, none_or_error(code == 0));
}

PyObject *stack_tuple(const uint64_t *stack, uint32_t count)
{
	PyObject *t = PyTuple_New(count);
	for (uint32_t i = 0; t && i < count; i++) {
		PyObject *address = PyLong_FromUnsignedLongLong(stack[i]);
		if (!address) {
			Py_DECREF(t);
			return NULL;
		}
		PyTuple_SetItem(t, i, address);
	}
	return t;
}

/* The payload as it was recorded; None when no record was asked for. */
PyObject *payload_bytes(const openetw_event_record *e)
{
	if (!e) {
		Py_RETURN_NONE;
	}
	return PyBytes_FromStringAndSize(e->UserDataLength ? e->UserData : "", e->UserDataLength);
}

/* In the order of Event's slots. */
static PyObject *event_tuple(const struct openetw_event *e)
{
	PyObject *parts[] = {PyLong_FromUnsignedLongLong(e->time),
			     text_of(e->provider, strlen(e->provider)),
			     text_of(e->name, strlen(e->name)),
			     PyLong_FromLong(e->id),
			     PyLong_FromLong(e->version),
			     PyLong_FromLong(e->level),
			     id_or_none(e->pid),
			     id_or_none(e->tid),
			     id_or_none(e->cpu),
			     text_or_none(e->process),
			     text_or_none(e->file),
			     stack_tuple(e->stack, e->stack ? e->stack_count : 0),
			     PyLong_FromUnsignedLong(e->result),
			     e->json ? text_of(e->json, e->json_length) : text_or_none(NULL),
			     payload_bytes(e->record)};
	enum { N = sizeof parts / sizeof parts[0] };
	PyObject *t = PyTuple_New(N);
	bool whole = t != NULL;
	for (int i = 0; i < N; i++) {
		whole = whole && parts[i];
	}
	for (int i = 0; i < N; i++) {
		if (whole) {
			PyTuple_SetItem(t, i, parts[i]);
		} else {
			Py_XDECREF(parts[i]);
		}
	}
	if (!whole) {
		Py_XDECREF(t);
		return NULL;
	}
	return t;
}

static PyObject *batch_list(const struct openetw_batch *b)
{
	PyObject *list = PyList_New(b->count);
	for (uint32_t i = 0; list && i < b->count; i++) {
		PyObject *e = event_tuple(openetw_batch_event(b, i));
		if (!e) {
			Py_DECREF(list);
			return NULL;
		}
		PyList_SetItem(list, i, e);
	}
	return list;
}

static PyObject *next_list(struct openetw_reader *r, long wait)
{
	uint32_t code;
	OPENETW_SIZED(struct openetw_batch, b);
	for (;;) {
		uint32_t step = wait >= 0 && wait < (long)LOOK_MS ? (uint32_t)wait : LOOK_MS;
		Py_BEGIN_ALLOW_THREADS code = openetw_reader_next(r, step, &b);
		Py_END_ALLOW_THREADS if (code != TIMED_OUT)
		{
			break;
		}
		if (PyErr_CheckSignals() < 0) {
			return NULL;
		}
		wait -= wait >= 0 ? (long)step : 0;
		if (wait == 0) {
			return PyList_New(0);
		}
	}
	if (code == NO_MORE) {
		Py_RETURN_NONE;
	}
	return code ? raise_code(code, openetw_reader_problem(r)) : batch_list(&b);
}

/* A list of events; None at the end. Waits at most so many milliseconds, or for ever: -1. */
static PyObject *reader_next(PyObject *o, PyObject *args)
{
	struct openetw_reader *r;
	bool *busy = &((struct reader *)o)->busy;
	long wait;
	if (!PyArg_ParseTuple(args, "l", &wait) || !(r = reader_of(o))) {
		return NULL;
	}
	*busy = true;
	return not_busy(busy, next_list(r, wait));
}

static PyObject *reader_stop(PyObject *o, PyObject *none)
{
	struct reader *self = (struct reader *)o;
	(void)none;
	if (self->r) { /* any thread may */
		openetw_reader_stop(self->r);
	}
	Py_RETURN_NONE;
}

static PyObject *reader_losses(PyObject *o, PyObject *none)
{
	struct openetw_reader *r = reader_of(o);
	(void)none;
	return r ? Py_BuildValue("(KKk)", (unsigned long long)openetw_reader_lost(r),
				 (unsigned long long)openetw_reader_dropped(r),
				 (unsigned long)openetw_reader_lost_unknown(r))
		 : NULL;
}

static PyMethodDef reader_methods[] = {
	{"add_file", reader_add_file, METH_O, NULL},
	{"set", (PyCFunction)(void (*)(void))reader_set, METH_VARARGS | METH_KEYWORDS, NULL},
	{"start", reader_start, METH_NOARGS, NULL},
	{"next", reader_next, METH_VARARGS, NULL},
	{"stop", reader_stop, METH_NOARGS, NULL},
	{"losses", reader_losses, METH_NOARGS, NULL},
	{"close", reader_close, METH_NOARGS, NULL},
	{0},
};
static PyType_Slot reader_slots[] = {
	{Py_tp_new, reader_new}, {Py_tp_dealloc, reader_free}, {Py_tp_methods, reader_methods}, {0}};
PyType_Spec reader_spec = {"openetw._openetw.Reader", sizeof(struct reader), 0, Py_TPFLAGS_DEFAULT, reader_slots};
