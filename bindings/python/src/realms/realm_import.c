/* Files of realm-core. */
#include "realms/realms.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    PyObject *progress; /* called with how much is done, or NULL */
    PyObject *error;    /* the exception that ended the import, or NULL */
} Import;

/* realm_schema_progress_func_t: whatever is not False goes on. Handlers of signals run, too. */
static bool tell_import(void *userdata, double part) {
    Import *self = userdata;
    bool goes_on = false;
    CALLBACK_BEGIN
    if (PyErr_CheckSignals() == 0) {
        PyObject *result =
            self->progress ? PyObject_CallFunction(self->progress, "d", part) : Py_NewRef(Py_None);
        goes_on = result && result != Py_False;
        Py_XDECREF(result);
    }
    if (PyErr_Occurred()) {
        PyObject *type, *value, *traceback;
        PyErr_Fetch(&type, &value, &traceback);
        PyErr_NormalizeException(&type, &value, &traceback);
        if (traceback) PyException_SetTraceback(value, traceback);
        Py_XDECREF(self->error);
        self->error = value;
        Py_XDECREF(type);
        Py_XDECREF(traceback);
    }
    CALLBACK_END
    return goes_on;
}

PyObject *import_realm_core(PyObject *module, PyObject *arguments) {
    State *state = PyModule_GetState(module);
    PyObject *old, *new, *progress, *old_path = NULL, *new_path = NULL, *answer = NULL;
    const char *keys[2];
    Py_ssize_t sizes[2];
    int even_in_use;
    char *report = NULL;
    bool done;
    if (!arguments_read(state, arguments, "OOz#z#pO:import_realm_core", &old, &new, &keys[0],
                        &sizes[0], &keys[1], &sizes[1], &even_in_use, &progress)) {
        return NULL;
    }
    for (int i = 0; i < 2; i++) {
        if (encryption_key_check(state, keys[i], sizes[i]) < 0) return NULL;
    }
    if (!understood(state, PyUnicode_FSConverter(old, &old_path))) return NULL;
    if (!understood(state, PyUnicode_FSConverter(new, &new_path))) {
        Py_DECREF(old_path);
        return NULL;
    }
    Import self = {progress == Py_None ? NULL : progress, NULL};
    realm_binary_t old_key = {(const uint8_t *)keys[0], (size_t)sizes[0]};
    realm_binary_t new_key = {(const uint8_t *)keys[1], (size_t)sizes[1]};
    const char *from = PyBytes_AsString(old_path), *to = PyBytes_AsString(new_path);
    ENGINE_CALLS_BACK
    done = realm_import_core_file(from, to, old_key, new_key, even_in_use, tell_import, &self,
                                  &report);
    ENGINE_CALLED
    if (self.error) {
        PyErr_SetObject((PyObject *)Py_TYPE(self.error), self.error);
        Py_DECREF(self.error);
    } else if (done) {
        answer = PyUnicode_DecodeUTF8(report, (Py_ssize_t)strlen(report), "replace");
    } else {
        raise_engine(state, "importing %R", old);
    }
    if (report) realm_free(report);
    Py_DECREF(old_path);
    Py_DECREF(new_path);
    return answer;
}
