/* Exceptions: the only place where an engine error becomes a Python one. Which class belongs to
 * which code stands in realm/_errors.py; this file fetches the error and builds the message. */
#include "base/base.h"

#include <stdarg.h>
#include <string.h>

static void raise_with(State *state, int code, PyObject *message, const char *path) {
    if (!message) return;
    PyObject *path_text = path ? PyUnicode_DecodeFSDefault(path) : Py_NewRef(Py_None);
    if (!path_text) {
        Py_DECREF(message);
        return;
    }
    PyObject *error =
        PyObject_CallFunction(state->make_error, "iNN", code, message, path_text);
    if (!error) return;
    PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_DECREF(error);
}

void raise_engine(State *state, const char *format, ...) {
    realm_error_t error;
    PyObject *context = NULL;
    /* An exception of ours is the cause, and more exact than what the engine made of it. */
    if (PyErr_Occurred()) return;
    if (format) {
        va_list arguments;
        va_start(arguments, format);
        context = PyUnicode_FromFormatV(format, arguments);
        va_end(arguments);
        if (!context) return;
    }
    if (!realm_get_last_error(&error)) {
        error.error = RLM_ERR_UNKNOWN;
        error.message = "the engine failed without a message";
        error.path = NULL;
    }
    PyObject *text = PyUnicode_DecodeUTF8(error.message, (Py_ssize_t)strlen(error.message),
                                          "replace");
    PyObject *message = text;
    if (text && context) {
        message = PyUnicode_FromFormat("%U: %U", context, text);
        Py_DECREF(text);
    }
    Py_XDECREF(context);
    raise_with(state, (int)error.error, message, error.path);
    realm_clear_last_error();
}

void raise_code(State *state, int code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    PyObject *message = PyUnicode_FromFormatV(format, arguments);
    va_end(arguments);
    raise_with(state, code, message, NULL);
}

int misunderstood(State *state) {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (trace) PyException_SetTraceback(value, trace);
    PyObject *error = PyObject_CallFunctionObjArgs(state->misuse, value, NULL);
    if (error) PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_XDECREF(error);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return -1;
}

PyObject *type_name(PyObject *value) { return PyType_GetName(Py_TYPE(value)); }

PyObject *short_repr(PyObject *value) {
    PyObject *text = PyObject_Repr(value);
    if (!text) {
        /* The repr of a foreign object must not hide the error that is being reported. */
        PyErr_Clear();
        PyObject *name = type_name(value);
        if (!name) return NULL;
        text = PyUnicode_FromFormat("<%U object>", name);
        Py_DECREF(name);
        return text;
    }
    if (PyUnicode_GetLength(text) <= 80) return text;
    PyObject *head = PyUnicode_Substring(text, 0, 77);
    Py_DECREF(text);
    if (!head) return NULL;
    PyObject *cut = PyUnicode_FromFormat("%U...", head);
    Py_DECREF(head);
    return cut;
}

/* ---- where an error is ----------------------------------------------------------------------- */

void note_place(State *state, PyObject *place) {
    PyObject *type, *value, *trace;
    if (!place) return;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    PyObject *done = PyObject_CallFunctionObjArgs(state->add_place, value, place, NULL);
    if (!done) PyErr_Clear();
    Py_XDECREF(done);
    Py_DECREF(place);
    PyErr_Restore(type, value, trace);
}

void note_index(State *state, Py_ssize_t index) {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *place = PyUnicode_FromFormat("[%zd]", index);
    PyErr_Restore(type, value, trace);
    note_place(state, place);
}

void note_key(State *state, PyObject *key) {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *text = short_repr(key);
    PyObject *place = text ? PyUnicode_FromFormat("[%U]", text) : NULL;
    Py_XDECREF(text);
    PyErr_Restore(type, value, trace);
    note_place(state, place);
}

void note_text_key(State *state, const char *text, Py_ssize_t size) {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *key = PyUnicode_FromStringAndSize(text, size);
    PyErr_Restore(type, value, trace);
    if (key) note_key(state, key);
    Py_XDECREF(key);
}
