/* SPDX-License-Identifier: MIT
 * Shared by the files of the extension: what each type is, and how values and errors of C become Python's.
 */
#ifndef OPENETW_PYTHON_H
#define OPENETW_PYTHON_H

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

/* ---- values and errors (py_common.c) ------------------------------------------------------------------- */

extern PyObject *error_type; /* openetw.Error */
/* Names may hold anything: bytes that are no UTF-8 become U+FFFD. */
PyObject *text_of(const char *s, size_t n);
PyObject *text_or_none(const char *s);
PyObject *id_or_none(uint32_t id);
/* Raises openetw.Error(code, sentence). Returns NULL. */
PyObject *raise_code(uint32_t code, const char *why);
/* The sentence is that of the library. What a callback has raised stays as it is. */
PyObject *raise_last(uint32_t code);
/* A str, bytes or path as a path's bytes. */
PyObject *path_bytes(PyObject *o);
/* What C gave is copied. */
PyObject *not_busy(bool *busy, PyObject *ret);
PyObject *none_or_error(bool ok);
void free_object(PyObject *self);
/* Of an event (py_reader.c). */
PyObject *stack_tuple(const uint64_t *stack, uint32_t count);
PyObject *payload_bytes(const openetw_event_record *e);

/* ---- types --------------------------------------------------------------------------------------------- */

extern PyType_Spec reader_spec, symbols_spec, index_spec, query_spec, recorder_spec;

struct index {
	PyObject_HEAD struct openetw_index *x;
	unsigned users; /* queries that are open, calls that run */
};
extern PyObject *index_class;
/* NULL: it is closed, and that was raised. */
struct openetw_index *index_of(PyObject *o);
/* Nobody closes it until index_used(): its texts are copied meanwhile. */
struct openetw_index *index_use(PyObject *o);
PyObject *index_used(PyObject *o, PyObject *ret);

struct query {
	PyObject_HEAD PyObject *index; /* owned; NULL: closed */
	struct openetw_query *q;
	struct openetw_decoder *d;
	bool busy;
};
/* NULL: it is closed or in use, and that was raised. */
struct query *query_of(PyObject *o);
/* matched, scanned, decoded, undecided, exact, partial */
PyObject *answer_tuple(const struct openetw_answer *a);
/* Ctrl-C, also where the work was done before it was noticed. */
uint32_t question_code(uint32_t code);

/* A question runs without the GIL; callbacks take it. not_busy() ends it. An exception that was found meanwhile is raised
 * instead of what the question says. */
#define ASK(self, code, call)                                     \
	do {                                                      \
		(self)->busy = true;                              \
		Py_BEGIN_ALLOW_THREADS(code) = (call);            \
		Py_END_ALLOW_THREADS(code) = question_code(code); \
	} while (0)
/* Methods of Query that read events (py_query_events.c). */
PyObject *query_rows(PyObject *o, PyObject *args);
PyObject *query_json(PyObject *o, PyObject *args);
PyObject *query_field(PyObject *o, PyObject *args);

#endif
