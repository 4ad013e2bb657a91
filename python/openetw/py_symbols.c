/* SPDX-License-Identifier: MIT
 * Symbols: names of addresses.
 */
#include "py.h"

struct symbols {
	PyObject_HEAD struct openetw_state *s;
	bool busy;
};

static bool on_buffers(void *context, uint32_t done, uint32_t total)
{
	(void)context;
	(void)done;
	(void)total;
	PyGILState_STATE g = PyGILState_Ensure();
	bool go_on = PyErr_CheckSignals() == 0;
	PyGILState_Release(g);
	return go_on;
}

static void symbols_free(PyObject *o)
{
	openetw_state_destroy(((struct symbols *)o)->s);
	free_object(o);
}

/* Symbols(path) */
static PyObject *symbols_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
	allocfunc make = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
	PyObject *path;
	uint32_t code;
	(void)keywords;
	if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path)) {
		return NULL;
	}
	struct symbols *self = (struct symbols *)make(type, 0);
	if (!self || !(self->s = openetw_state_create(0))) {
		Py_DECREF(path);
		Py_XDECREF(self);
		return PyErr_NoMemory();
	}
	Py_BEGIN_ALLOW_THREADS code = openetw_state_read_file(self->s, PyBytes_AsString(path), on_buffers, NULL);
	Py_END_ALLOW_THREADS Py_DECREF(path);
	if (code || PyErr_Occurred()) {
		raise_last(code);
		Py_DECREF(self);
		return NULL;
	}
	return (PyObject *)self;
}

/* "module!function+0x10", "module+0x1234", or None. */
static PyObject *symbol_text(struct openetw_state *s, uint32_t pid, uint64_t address, uint64_t time)
{
	OPENETW_SIZED(struct openetw_symbol, y);
	OPENETW_SIZED(struct openetw_module, m);
	char offset[32];
	PyObject *name, *module, *ret = NULL;
	if (openetw_state_symbol(s, pid, address, time, &y) == 0) {
		PyOS_snprintf(offset, sizeof offset, "+0x%llx", (unsigned long long)y.offset);
		name = text_of(y.name, strlen(y.name));
		module = y.module ? text_of(y.module, strlen(y.module)) : NULL;
		if (name && (module || !y.module)) {
			ret = module ? PyUnicode_FromFormat("%U!%U%s", module, name, offset)
				     : PyUnicode_FromFormat("%U%s", name, offset);
		}
		Py_XDECREF(name);
		Py_XDECREF(module);
		return ret;
	}
	if (openetw_state_module(s, pid, address, time, &m) == 0) {
		PyOS_snprintf(offset, sizeof offset, "+0x%llx", (unsigned long long)(address - m.base));
		module = text_of(m.name, strlen(m.name));
		ret = module ? PyUnicode_FromFormat("%U%s", module, offset) : NULL;
		Py_XDECREF(module);
		return ret;
	}
	Py_RETURN_NONE;
}

/* name(pid, FILETIME, address) */
static PyObject *symbols_name(PyObject *o, PyObject *args)
{
	struct symbols *self = (struct symbols *)o;
	unsigned long pid;
	unsigned long long time, address;
	if (!PyArg_ParseTuple(args, "kKK", &pid, &time, &address)) {
		return NULL;
	}
	if (self->busy) {
		PyErr_SetString(PyExc_RuntimeError, "the symbols are in use");
		return NULL;
	}
	self->busy = true;
	return not_busy(&self->busy, symbol_text(self->s, (uint32_t)pid, address, time));
}

static PyMethodDef symbols_methods[] = {{"name", symbols_name, METH_VARARGS, NULL}, {0}};
static PyType_Slot symbols_slots[] = {
	{Py_tp_new, symbols_new}, {Py_tp_dealloc, symbols_free}, {Py_tp_methods, symbols_methods}, {0}};
PyType_Spec symbols_spec = {"openetw._openetw.Symbols", sizeof(struct symbols), 0, Py_TPFLAGS_DEFAULT, symbols_slots};
