/* SPDX-License-Identifier: MIT
 * Index: traces behind their index.
 */
#include "py.h"

/* What is still being made in the background is waited for. */
static void index_end(struct openetw_index *x)
{
	Py_BEGIN_ALLOW_THREADS openetw_index_close(x);
	Py_END_ALLOW_THREADS
}

static void index_free(PyObject *o)
{
	index_end(((struct index *)o)->x);
	free_object(o);
}

static PyObject *index_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
	allocfunc make = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
	(void)args;
	(void)keywords;
	return make(type, 0);
}

static bool on_progress(void *context, uint64_t done, uint64_t total, uint64_t rows)
{
	(void)context;
	(void)done;
	(void)total;
	(void)rows;
	PyGILState_STATE g = PyGILState_Ensure();
	bool go_on = PyErr_CheckSignals() == 0;
	PyGILState_Release(g);
	return go_on;
}

/* open(tuple of paths, flags) */
static PyObject *index_open(PyObject *o, PyObject *args)
{
	struct index *self = (struct index *)o;
	OPENETW_SIZED(struct openetw_index_options, how);
	PyObject *paths, **bytes = NULL, *ret = NULL;
	unsigned long flags;
	const char **list = NULL;
	struct openetw_index *x = NULL;
	uint32_t code;
	if (!PyArg_ParseTuple(args, "O!k", &PyTuple_Type, &paths, &flags)) {
		return NULL;
	}
	Py_ssize_t n = PyTuple_Size(paths);
	bytes = calloc((size_t)n + 1, sizeof *bytes);
	list = calloc((size_t)n + 1, sizeof *list);
	if (!bytes || !list || self->x) {
		self->x ? PyErr_SetString(PyExc_ValueError, "it is open") : (void)PyErr_NoMemory();
		goto end;
	}
	for (Py_ssize_t i = 0; i < n; i++) {
		bytes[i] = path_bytes(PyTuple_GetItem(paths, i));
		if (!bytes[i]) {
			goto end;
		}
		list[i] = PyBytes_AsString(bytes[i]);
	}
	how.flags = (uint32_t)flags;
	if (!(flags & OPENETW_INDEX_BACKGROUND)) {
		how.progress =
			on_progress; /* Ctrl-C is for the main thread, which waits here; in the background none does */
	}
	Py_BEGIN_ALLOW_THREADS code = openetw_index_open(list, (uint32_t)n, &how, &x);
	Py_END_ALLOW_THREADS if (PyErr_Occurred())
	{ /* Ctrl-C, also where the work was done before it was noticed */
		index_end(code ? NULL : x);
	}
	else if (code)
	{
		raise_last(code);
	}
	else if (self->x)
	{ /* two threads opened it */
		index_end(x);
		PyErr_SetString(PyExc_ValueError, "it is open");
	}
	else
	{
		self->x = x;
		ret = Py_None;
		Py_INCREF(ret);
	}
end:
	for (Py_ssize_t i = 0; bytes && i < n; i++) {
		Py_XDECREF(bytes[i]);
	}
	free(bytes);
	free(list);
	return ret;
}

struct openetw_index *index_of(PyObject *o)
{
	struct openetw_index *x = ((struct index *)o)->x;
	if (!x) {
		PyErr_SetString(PyExc_ValueError, "the index is closed");
	}
	return x;
}

static PyObject *index_close(PyObject *o, PyObject *none)
{
	struct index *self = (struct index *)o;
	(void)none;
	if (self->users) {
		PyErr_SetString(PyExc_RuntimeError, "the index is in use: a query of it is open");
		return NULL;
	}
	struct openetw_index *x = self->x;
	self->x = NULL;
	index_end(x);
	Py_RETURN_NONE;
}

static PyObject *index_about(PyObject *o, PyObject *none)
{
	struct openetw_index *x = index_of(o);
	OPENETW_SIZED(struct openetw_index_about, a);
	(void)none;
	if (!x) {
		return NULL;
	}
	uint32_t code = openetw_index_about(x, &a);
	if (code) {
		return raise_last(code);
	}
	return Py_BuildValue("{s:k,s:K,s:L,s:L,s:K,s:K,s:K,s:k,s:k,s:k,s:k,s:k,s:k,s:O,s:O}", "files",
			     (unsigned long)a.files, "start_filetime", (unsigned long long)a.start_filetime, "first",
			     (long long)a.first, "last", (long long)a.last, "events", (unsigned long long)a.rows,
			     "events_lost", (unsigned long long)a.events_lost, "buffers_lost",
			     (unsigned long long)a.buffers_lost, "types", (unsigned long)a.types, "processes",
			     (unsigned long)a.processes, "threads", (unsigned long)a.threads, "stacks",
			     (unsigned long)a.stacks, "processors", (unsigned long)a.processors, "loss_unknown",
			     (unsigned long)a.loss_unknown, "on_disk", a.on_disk ? Py_True : Py_False, "reused",
			     a.reused ? Py_True : Py_False);
}

/* Nobody closes it until index_used(): its texts are copied meanwhile. */
struct openetw_index *index_use(PyObject *o)
{
	struct openetw_index *x = index_of(o);
	((struct index *)o)->users += x != NULL;
	return x;
}

PyObject *index_used(PyObject *o, PyObject *ret)
{
	((struct index *)o)->users--;
	return ret;
}

static PyObject *raise_key(unsigned long i)
{
	PyErr_Format(PyExc_IndexError, "there is no number %lu", i);
	return NULL;
}

/* provider, name, id, version, level, opcode, task, channel, keyword, events */
static PyObject *index_type(PyObject *o, PyObject *args)
{
	struct openetw_index *x;
	OPENETW_SIZED(struct openetw_index_type, t);
	unsigned long i;
	if (!PyArg_ParseTuple(args, "k", &i) || !(x = index_use(o))) {
		return NULL;
	}
	if (i > UINT32_MAX || openetw_index_type(x, (uint32_t)i, &t)) {
		return index_used(o, raise_key(i));
	}
	return index_used(o, Py_BuildValue("(NNiiiiiiKK)", text_or_none(t.provider), text_or_none(t.name), t.id,
					   t.version, t.level, t.opcode, t.task, t.channel,
					   (unsigned long long)t.keyword, (unsigned long long)t.rows));
}

/* pid, parent_pid, name, command_line, start, end, exit_code, file */
static PyObject *index_process(PyObject *o, PyObject *args)
{
	struct openetw_index *x;
	OPENETW_SIZED(struct openetw_index_process, p);
	unsigned long i;
	if (!PyArg_ParseTuple(args, "k", &i) || !(x = index_use(o))) {
		return NULL;
	}
	if (i > UINT32_MAX || openetw_index_process(x, (uint32_t)i, &p)) {
		return index_used(o, raise_key(i));
	}
	PyObject *exit_code = p.has_exit_code ? PyLong_FromLong(p.exit_code) : text_or_none(NULL);
	return index_used(o, Py_BuildValue("(NNNNLLNk)", id_or_none(p.pid), id_or_none(p.parent_pid),
					   text_or_none(p.name), text_or_none(p.command_line), (long long)p.start,
					   (long long)p.end, exit_code, (unsigned long)p.file));
}

/* tid, process, name, start, end */
static PyObject *index_thread(PyObject *o, PyObject *args)
{
	struct openetw_index *x;
	OPENETW_SIZED(struct openetw_index_thread, t);
	unsigned long i;
	if (!PyArg_ParseTuple(args, "k", &i) || !(x = index_use(o))) {
		return NULL;
	}
	if (i > UINT32_MAX || openetw_index_thread(x, (uint32_t)i, &t)) {
		return index_used(o, raise_key(i));
	}
	return index_used(o, Py_BuildValue("(NkNLL)", id_or_none(t.tid), (unsigned long)t.process, text_or_none(t.name),
					   (long long)t.start, (long long)t.end));
}

static PyObject *index_stack(PyObject *o, PyObject *args)
{
	struct openetw_index *x;
	uint64_t frames[1024];
	unsigned long i;
	if (!PyArg_ParseTuple(args, "k", &i) || !(x = index_of(o))) {
		return NULL;
	}
	uint32_t n = i <= UINT32_MAX ? openetw_index_stack(x, (uint32_t)i, frames, 1024) : 0;
	return stack_tuple(frames, n < 1024 ? n : 1024);
}

static PyMethodDef index_methods[] = {
	{"open", index_open, METH_VARARGS, NULL},       {"close", index_close, METH_NOARGS, NULL},
	{"about", index_about, METH_NOARGS, NULL},      {"type", index_type, METH_VARARGS, NULL},
	{"process", index_process, METH_VARARGS, NULL}, {"thread", index_thread, METH_VARARGS, NULL},
	{"stack", index_stack, METH_VARARGS, NULL},     {0},
};
static PyType_Slot index_slots[] = {
	{Py_tp_new, index_new}, {Py_tp_dealloc, index_free}, {Py_tp_methods, index_methods}, {0}};
PyType_Spec index_spec = {"openetw._openetw.Index", sizeof(struct index), 0, Py_TPFLAGS_DEFAULT, index_slots};
PyObject *index_class;
