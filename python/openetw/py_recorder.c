/* SPDX-License-Identifier: MIT
 * Recorder: sessions.
 */
#include "py.h"

struct recorder {
	PyObject_HEAD struct openetw_recorder *s;
	bool busy;
};

static PyObject *recorder_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
	allocfunc make = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
	const char *name;
	(void)keywords;
	if (!PyArg_ParseTuple(args, "s", &name)) {
		return NULL;
	}
	struct recorder *self = (struct recorder *)make(type, 0);
	if (self && !(self->s = openetw_recorder_create(name))) {
		Py_DECREF(self);
		return PyErr_NoMemory();
	}
	return (PyObject *)self;
}

static void recorder_free(PyObject *o)
{
	struct openetw_recorder *s = ((struct recorder *)o)->s;
	Py_BEGIN_ALLOW_THREADS openetw_recorder_destroy(s); /* stops what it started */
	Py_END_ALLOW_THREADS free_object(o);
}

static struct recorder *recorder_of(PyObject *o)
{
	struct recorder *self = (struct recorder *)o;
	if (self->busy) {
		PyErr_SetString(PyExc_RuntimeError, "the recorder is in use");
		return NULL;
	}
	return self;
}

static PyObject *recorder_set_file(PyObject *o, PyObject *args)
{
	struct recorder *self;
	PyObject *path;
	unsigned long mib;
	int circular;
	if (!PyArg_ParseTuple(args, "O&kp", PyUnicode_FSConverter, &path, &mib, &circular)) {
		return NULL;
	}
	if (!(self = recorder_of(o))) {
		Py_DECREF(path);
		return NULL;
	}
	openetw_recorder_set_file(self->s, PyBytes_AsString(path), (uint32_t)mib,
				  circular ? OPENETW_RECORDER_CIRCULAR : OPENETW_RECORDER_SEQUENTIAL);
	Py_DECREF(path);
	Py_RETURN_NONE;
}

static PyObject *recorder_set_live(PyObject *o, PyObject *args)
{
	struct recorder *self;
	int live;
	if (!PyArg_ParseTuple(args, "p", &live) || !(self = recorder_of(o))) {
		return NULL;
	}
	openetw_recorder_set_live(self->s, live);
	Py_RETURN_NONE;
}

static PyObject *recorder_set_replace(PyObject *o, PyObject *args)
{
	struct recorder *self;
	int replace;
	if (!PyArg_ParseTuple(args, "p", &replace) || !(self = recorder_of(o))) {
		return NULL;
	}
	openetw_recorder_set_replace(self->s, replace);
	Py_RETURN_NONE;
}

/* add_provider(name, level, any_keyword, all_keywords, filter) */
static PyObject *recorder_add_provider(PyObject *o, PyObject *args)
{
	struct recorder *self;
	const char *name, *filter;
	unsigned long level;
	unsigned long long any, all;
	if (!PyArg_ParseTuple(args, "skKKz", &name, &level, &any, &all, &filter) || !(self = recorder_of(o))) {
		return NULL;
	}
	openetw_recorder_add_provider(self->s, name, (uint32_t)level, any, all, 0);
	if (filter) {
		openetw_recorder_set_filter(self->s, filter);
	}
	Py_RETURN_NONE;
}

static PyObject *recorder_add_kernel(PyObject *o, PyObject *args)
{
	struct recorder *self;
	const char *flags, *stacks;
	if (!PyArg_ParseTuple(args, "sz", &flags, &stacks) || !(self = recorder_of(o))) {
		return NULL;
	}
	openetw_recorder_add_kernel(self->s, flags);
	if (stacks) {
		openetw_recorder_add_kernel_stacks(self->s, stacks);
	}
	Py_RETURN_NONE;
}

static PyObject *recorder_add_pid(PyObject *o, PyObject *args)
{
	struct recorder *self;
	unsigned long pid;
	if (!PyArg_ParseTuple(args, "k", &pid) || !(self = recorder_of(o))) {
		return NULL;
	}
	openetw_recorder_add_pid(self->s, (uint32_t)pid);
	Py_RETURN_NONE;
}

static PyObject *recorder_done(struct recorder *self, uint32_t code)
{
	if (code) {
		raise_code(code, openetw_recorder_problem(self->s));
	}
	return not_busy(&self->busy, none_or_error(code == 0));
}

static PyObject *recorder_start(PyObject *o, PyObject *none)
{
	struct recorder *self = recorder_of(o);
	uint32_t code;
	(void)none;
	if (!self) {
		return NULL;
	}
	ASK(self, code, openetw_recorder_start(self->s));
	return recorder_done(self, code);
}

static PyObject *recorder_stop(PyObject *o, PyObject *none)
{
	struct recorder *self = recorder_of(o);
	uint32_t code;
	(void)none;
	if (!self) {
		return NULL;
	}
	ASK(self, code, openetw_recorder_stop(self->s));
	return recorder_done(self, code);
}

static PyObject *recorder_note(PyObject *o, PyObject *none)
{
	struct recorder *self = recorder_of(o);
	(void)none;
	if (!self) {
		return NULL;
	}
	self->busy = true;
	return not_busy(&self->busy, text_or_none(openetw_recorder_note(self->s)));
}

static PyMethodDef recorder_methods[] = {
	{"set_file", recorder_set_file, METH_VARARGS, NULL},
	{"set_live", recorder_set_live, METH_VARARGS, NULL},
	{"set_replace", recorder_set_replace, METH_VARARGS, NULL},
	{"add_provider", recorder_add_provider, METH_VARARGS, NULL},
	{"add_kernel", recorder_add_kernel, METH_VARARGS, NULL},
	{"add_pid", recorder_add_pid, METH_VARARGS, NULL},
	{"start", recorder_start, METH_NOARGS, NULL},
	{"stop", recorder_stop, METH_NOARGS, NULL},
	{"note", recorder_note, METH_NOARGS, NULL},
	{0},
};
static PyType_Slot recorder_slots[] = {
	{Py_tp_new, recorder_new}, {Py_tp_dealloc, recorder_free}, {Py_tp_methods, recorder_methods}, {0}};
PyType_Spec recorder_spec = {"openetw._openetw.Recorder", sizeof(struct recorder), 0, Py_TPFLAGS_DEFAULT,
			     recorder_slots};
