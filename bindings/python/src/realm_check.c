/* Looking into files: the integrity check and sizes, of an open realm or of a file. */
#include "binding.h"

#include <stdlib.h>
#include <string.h>

/* The engine reports problems while the GIL is away, so they are collected in plain memory. */
typedef struct {
    char **texts;
    size_t count;
    size_t capacity;
    bool out_of_memory;
} Problems;

static void collect(void *userdata, const char *message) {
    Problems *self = userdata;
    if (self->count == self->capacity) {
        size_t capacity = self->capacity ? 2 * self->capacity : 16;
        char **grown = realloc(self->texts, capacity * sizeof *grown);
        if (!grown) {
            self->out_of_memory = true;
            return;
        }
        self->texts = grown;
        self->capacity = capacity;
    }
    char *copy = strdup(message);
    if (copy) self->texts[self->count++] = copy;
    else self->out_of_memory = true;
}

/* The list of texts; frees them. */
static PyObject *problems_list(Problems *self) {
    PyObject *list = self->out_of_memory ? PyErr_NoMemory() : PyList_New(0);
    for (size_t i = 0; i < self->count; i++) {
        PyObject *text =
            list ? PyUnicode_DecodeUTF8(self->texts[i], (Py_ssize_t)strlen(self->texts[i]),
                                        "replace")
                 : NULL;
        if (list && (!text || PyList_Append(list, text) < 0)) Py_CLEAR(list);
        Py_XDECREF(text);
        free(self->texts[i]);
    }
    free(self->texts);
    return list;
}

PyObject *realm_check_method(Realm *self, PyObject *unused) {
    (void)unused;
    Problems problems = {0};
    bool done;
    if (realm_ready(self) < 0) return NULL;
    REALM_BLOCKING_BEGIN(self, self)
    done = realm_check(self->handle, collect, &problems, NULL);
    REALM_BLOCKING_END
    PyObject *list = problems_list(&problems);
    if (done || !list) return list;
    Py_DECREF(list);
    raise_engine(self->state, "checking %R", self->path);
    return NULL;
}

PyObject *check_file(PyObject *module, PyObject *argument) {
    State *state = PyModule_GetState(module);
    Problems problems = {0};
    PyObject *path = NULL;
    bool done;
    if (!PyUnicode_FSConverter(argument, &path)) return NULL;
    const char *text = PyBytes_AsString(path);
    Py_BEGIN_ALLOW_THREADS
    done = realm_check_file(text, collect, &problems, NULL);
    Py_END_ALLOW_THREADS
    Py_DECREF(path);
    PyObject *list = problems_list(&problems);
    if (done || !list) return list;
    Py_DECREF(list);
    raise_engine(state, "checking %R", argument);
    return NULL;
}

static PyObject *class_statistics(Realm *self) {
    PyObject *classes = PyDict_New();
    for (size_t i = 0; classes && i < self->binding_count; i++) {
        Binding *binding = &self->bindings[i];
        realm_class_statistics_t sizes;
        bool done;
        REALM_BLOCKING_BEGIN(self, self)
        done = realm_get_class_statistics(self->handle, binding->class_key, &sizes);
        REALM_BLOCKING_END
        PyObject *entry = NULL;
        if (done) {
            entry = Py_BuildValue(
                "{sK sK sK sK}", "objects", (unsigned long long)sizes.num_objects, "row_bytes",
                (unsigned long long)sizes.row_bytes, "external_bytes",
                (unsigned long long)sizes.external_bytes, "index_bytes",
                (unsigned long long)sizes.index_bytes);
        } else {
            raise_engine(self->state, "sizes of %s", binding->model->text);
        }
        if (!entry || PyDict_SetItem(classes, binding->model->name, entry) < 0) Py_CLEAR(classes);
        Py_XDECREF(entry);
    }
    return classes;
}

PyObject *realm_statistics_method(Realm *self, PyObject *unused) {
    (void)unused;
    realm_statistics_t sizes;
    bool done;
    if (realm_ready(self) < 0) return NULL;
    REALM_BLOCKING_BEGIN(self, self)
    done = realm_get_statistics(self->handle, &sizes);
    REALM_BLOCKING_END
    if (!done) {
        raise_engine(self->state, "sizes of %R", self->path);
        return NULL;
    }
    PyObject *classes = class_statistics(self);
    if (!classes) return NULL;
    return Py_BuildValue("{sK sK sK sK sK sN}", "version", (unsigned long long)sizes.version,
                         "live_versions", (unsigned long long)sizes.live_versions, "file_bytes",
                         (unsigned long long)sizes.file_bytes, "free_bytes",
                         (unsigned long long)sizes.free_bytes, "pending_bytes",
                         (unsigned long long)sizes.pending_bytes, "classes", classes);
}
