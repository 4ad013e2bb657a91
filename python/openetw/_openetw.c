/* SPDX-License-Identifier: MIT
 *
 * The C functions of openetw/reader.h, query.h and recorder.h as Python types, one to one; __init__.py makes of them what
 * people use. Limited API: one build serves every Python from 3.9 on.
 *
 * An object is used by one thread at a time, as in C; it is busy from the call into C until all that C gave is copied, and
 * who wants it meanwhile gets a RuntimeError: a second thread, a finalizer that the garbage collector runs while a list
 * is made, or the handler of a signal. What a type is made of is freed when the last reference goes, or by close().
 */
#include "py.h"

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
