/* SPDX-License-Identifier: MIT */
#include "py.h"

PyObject *error_type;

/* Names may hold anything: bytes that are no UTF-8 become U+FFFD. */
PyObject *text_of(const char *s, size_t n)
{
	return PyUnicode_DecodeUTF8(s, (Py_ssize_t)n, "replace");
}

PyObject *text_or_none(const char *s)
{
	if (!s) {
		Py_RETURN_NONE;
	}
	return text_of(s, strlen(s));
}

PyObject *id_or_none(uint32_t id)
{
	if (id == UNKNOWN_ID) {
		Py_RETURN_NONE;
	}
	return PyLong_FromUnsignedLong(id);
}

/* Raises openetw.Error(code, sentence). Returns NULL. */
PyObject *raise_code(uint32_t code, const char *why)
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

PyObject *raise_last(uint32_t code)
{
	if (PyErr_Occurred()) { /* Ctrl-C, or what a callback raised: that is why it was given up */
		return NULL;
	}
	return raise_code(code, openetw_last_error_text());
}

/* A str, bytes or path as a path's bytes. */
PyObject *path_bytes(PyObject *o)
{
	PyObject *ret = NULL;
	return PyUnicode_FSConverter(o, &ret) ? ret : NULL;
}

/* What C gave is copied. */
PyObject *not_busy(bool *busy, PyObject *ret)
{
	*busy = false;
	return ret;
}

PyObject *none_or_error(bool ok)
{
	if (!ok) {
		return NULL;
	}
	Py_RETURN_NONE;
}

void free_object(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);
	freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
	release(self);
	Py_DECREF(type);
}
