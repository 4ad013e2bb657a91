/* SPDX-License-Identifier: MIT
 *
 * The C functions of openetw/reader.h, query.h and recorder.h as Python types, one to one; __init__.py makes of them what
 * people use. Limited API: one build serves every Python from 3.9 on.
 *
 * An object is used by one thread at a time, as in C; it is busy from the call into C until all that C gave is copied, and
 * who wants it meanwhile gets a RuntimeError: a second thread, a finalizer that the garbage collector runs while a list
 * is made, or the handler of a signal. What a type is made of is freed when the last reference goes, or by close().
 */
#define Py_LIMITED_API 0x03090000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <etw/evntcons.h>
#include <openetw/decode.h>
#include <openetw/error.h>
#include <openetw/openetw.h>
#include <openetw/query.h>
#include <openetw/reader.h>
#include <openetw/recorder.h>
#include <openetw/state.h>

#include <stdlib.h>
#include <string.h>

#define UNKNOWN_ID 0xFFFFFFFFu
#define NO_MORE    259u
#define TIMED_OUT  258u
#define CANCELLED  1223u
#define LOOK_MS    200u /* how often a wait looks for Ctrl-C */

static PyObject *error_type;

/* Names may hold anything: bytes that are no UTF-8 become U+FFFD. */
static PyObject *text_of(const char *s, size_t n)
{
	return PyUnicode_DecodeUTF8(s, (Py_ssize_t)n, "replace");
}

static PyObject *text_or_none(const char *s)
{
	if (!s) {
		Py_RETURN_NONE;
	}
	return text_of(s, strlen(s));
}

static PyObject *id_or_none(uint32_t id)
{
	if (id == UNKNOWN_ID) {
		Py_RETURN_NONE;
	}
	return PyLong_FromUnsignedLong(id);
}

/* Raises openetw.Error(code, sentence). Returns NULL. */
static PyObject *raise_code(uint32_t code, const char *why)
{
	const char *text = why && *why ? why : openetw_error_text(code);
	PyObject *sentence = text_of(text ? text : "", text ? strlen(text) : 0);
	PyObject *args = sentence ? Py_BuildValue("(kN)", (unsigned long)code, sentence) : NULL;
	if (args) {
		PyErr_SetObject(error_type, args);
		Py_DECREF(args);
	}
	return NULL;
}

static PyObject *raise_last(uint32_t code)
{
	if (PyErr_Occurred()) { /* Ctrl-C, or what a callback raised: that is why it was given up */
		return NULL;
	}
	return raise_code(code, openetw_last_error_text());
}

/* A str, bytes or path as a path's bytes. */
static PyObject *path_bytes(PyObject *o)
{
	PyObject *ret = NULL;
	return PyUnicode_FSConverter(o, &ret) ? ret : NULL;
}

/* What C gave is copied. */
static PyObject *not_busy(bool *busy, PyObject *ret)
{
	*busy = false;
	return ret;
}

static PyObject *none_or_error(bool ok)
{
	if (!ok) {
		return NULL;
	}
	Py_RETURN_NONE;
}

static void free_object(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);
	freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
	release(self);
	Py_DECREF(type);
}

/* ---- Reader --------------------------------------------------------------------------------------------- */

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

static PyObject *stack_tuple(const uint64_t *stack, uint32_t count)
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
static PyObject *payload_bytes(const openetw_event_record *e)
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
static PyType_Spec reader_spec = {"openetw._openetw.Reader", sizeof(struct reader), 0, Py_TPFLAGS_DEFAULT,
				  reader_slots};

/* ---- Symbols -------------------------------------------------------------------------------------------- */

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
static PyType_Spec symbols_spec = {"openetw._openetw.Symbols", sizeof(struct symbols), 0, Py_TPFLAGS_DEFAULT,
				   symbols_slots};

/* ---- Index ---------------------------------------------------------------------------------------------- */

struct index {
	PyObject_HEAD struct openetw_index *x;
	unsigned users; /* queries that are open, calls that run */
};

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

static struct openetw_index *index_of(PyObject *o)
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
static struct openetw_index *index_use(PyObject *o)
{
	struct openetw_index *x = index_of(o);
	((struct index *)o)->users += x != NULL;
	return x;
}

static PyObject *index_used(PyObject *o, PyObject *ret)
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
static PyType_Spec index_spec = {"openetw._openetw.Index", sizeof(struct index), 0, Py_TPFLAGS_DEFAULT, index_slots};
static PyObject *index_class;

/* ---- Query ---------------------------------------------------------------------------------------------- */

struct query {
	PyObject_HEAD PyObject *index; /* owned; NULL: closed */
	struct openetw_query *q;
	struct openetw_decoder *d;
	bool busy;
};

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

static struct query *query_of(PyObject *o)
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

/* matched, scanned, decoded, undecided, exact, partial */
static PyObject *answer_tuple(const struct openetw_answer *a)
{
	return Py_BuildValue("(KKKKOO)", (unsigned long long)a->matched, (unsigned long long)a->scanned,
			     (unsigned long long)a->decoded, (unsigned long long)a->undecided,
			     a->exact ? Py_True : Py_False, a->partial ? Py_True : Py_False);
}

/* Ctrl-C, also where the work was done before it was noticed. */
static uint32_t interrupted(uint32_t code)
{
	return PyErr_Occurred() && !code ? CANCELLED : code;
}

/* A question runs without the GIL; callbacks take it. not_busy() ends it. An exception that was found meanwhile is raised
 * instead of what the question says. */
#define ASK(self, code, call)                                   \
	do {                                                    \
		(self)->busy = true;                            \
		Py_BEGIN_ALLOW_THREADS(code) = (call);          \
		Py_END_ALLOW_THREADS(code) = interrupted(code); \
	} while (0)

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
static PyObject *query_rows(PyObject *o, PyObject *args)
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

/* json(row): the payload, and OPENETW_DECODED, … */
static PyObject *query_json(PyObject *o, PyObject *args)
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
	Py_END_ALLOW_THREADS code = interrupted(code);
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
static PyObject *query_field(PyObject *o, PyObject *args)
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
		Py_END_ALLOW_THREADS code = interrupted(code);
	}
	add_text(&x, "]", 1);
	PyObject *ret = code ? raise_last(code) : x.failed ? PyErr_NoMemory() : text_of(x.out, x.length);
	free(x.out);
	return not_busy(&self->busy, ret);
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
static PyType_Spec query_spec = {"openetw._openetw.Query", sizeof(struct query), 0, Py_TPFLAGS_DEFAULT, query_slots};

/* ---- Recorder ------------------------------------------------------------------------------------------- */

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
static PyType_Spec recorder_spec = {"openetw._openetw.Recorder", sizeof(struct recorder), 0, Py_TPFLAGS_DEFAULT,
				    recorder_slots};

/* ---- the module ----------------------------------------------------------------------------------------- */

static PyObject *load_schema(PyObject *module, PyObject *path)
{
	PyObject *bytes = path_bytes(path);
	uint32_t code;
	(void)module;
	if (!bytes) {
		return NULL;
	}
	code = openetw_schema_load_file(PyBytes_AsString(bytes));
	Py_DECREF(bytes);
	if (code) {
		return raise_last(code);
	}
	Py_RETURN_NONE;
}

static PyObject *version(PyObject *module, PyObject *none)
{
	(void)module;
	(void)none;
	return PyUnicode_FromString(openetw_version());
}

/* The class whose objects are raised, called with a code and a sentence. */
static PyObject *set_error(PyObject *module, PyObject *type)
{
	PyObject *old = error_type;
	(void)module;
	Py_INCREF(type);
	error_type = type;
	Py_XDECREF(old);
	Py_RETURN_NONE;
}

static PyMethodDef functions[] = {{"load_schema", load_schema, METH_O, NULL},
				  {"set_error", set_error, METH_O, NULL},
				  {"version", version, METH_NOARGS, NULL},
				  {0}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_openetw", NULL, -1, functions, NULL, NULL, NULL, NULL};

static bool add_type(PyObject *module, const char *name, PyType_Spec *spec, PyObject **ret)
{
	PyObject *type = PyType_FromSpec(spec);
	if (type && ret) {
		*ret = type;
		Py_INCREF(type);
	}
	if (!type || PyModule_AddObject(module, name, type) < 0) {
		Py_XDECREF(type);
		return false;
	}
	return true;
}

PyMODINIT_FUNC PyInit__openetw(void)
{
	PyObject *module = PyModule_Create(&definition);
	error_type = PyExc_OSError; /* until set_error() */
	Py_INCREF(error_type);
	if (!module || !add_type(module, "Reader", &reader_spec, NULL) ||
	    !add_type(module, "Index", &index_spec, &index_class) || !add_type(module, "Query", &query_spec, NULL) ||
	    !add_type(module, "Recorder", &recorder_spec, NULL) || !add_type(module, "Symbols", &symbols_spec, NULL)) {
		Py_XDECREF(module);
		return NULL;
	}
	return module;
}
