/* Looking into files: the integrity check and sizes, of an open realm or of a file. */
#include "realms/realms.h"

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

int encryption_key_check(State *state, const char *key, Py_ssize_t size) {
    if (!key || size > 0) return 0;
    raise_code(state, RLM_ERR_INVALID_ENCRYPTION_KEY, "an encryption key has 64 bytes, not 0");
    return -1;
}

PyObject *check_file(PyObject *module, PyObject *arguments) {
    State *state = PyModule_GetState(module);
    Problems problems = {0};
    PyObject *argument, *path = NULL;
    const char *key = NULL;
    Py_ssize_t key_size = 0;
    bool done;
    if (!arguments_read(state, arguments, "O|z#:check_file", &argument, &key,
                        &key_size)) {
        return NULL;
    }
    if (encryption_key_check(state, key, key_size) < 0) return NULL;
    if (!understood(state, PyUnicode_FSConverter(argument, &path))) return NULL;
    realm_binary_t opening = {(const uint8_t *)key, (size_t)key_size};
    const char *text = PyBytes_AsString(path);
    Py_BEGIN_ALLOW_THREADS
    done = realm_check_file_with_key(text, opening, collect, &problems, NULL);
    Py_END_ALLOW_THREADS
    Py_DECREF(path);
    PyObject *list = problems_list(&problems);
    if (done || !list) return list;
    Py_DECREF(list);
    raise_engine(state, "checking %R", argument);
    return NULL;
}

PyObject *change_encryption_key(PyObject *module, PyObject *arguments) {
    State *state = PyModule_GetState(module);
    PyObject *argument, *path = NULL;
    const char *keys[2];
    Py_ssize_t sizes[2];
    bool done;
    if (!arguments_read(state, arguments, "Oz#z#:change_encryption_key", &argument, &keys[0],
                        &sizes[0], &keys[1], &sizes[1])) {
        return NULL;
    }
    for (int i = 0; i < 2; i++) {
        if (encryption_key_check(state, keys[i], sizes[i]) < 0) return NULL;
    }
    if (!understood(state, PyUnicode_FSConverter(argument, &path))) return NULL;
    realm_binary_t from = {(const uint8_t *)keys[0], (size_t)sizes[0]};
    realm_binary_t to = {(const uint8_t *)keys[1], (size_t)sizes[1]};
    const char *text = PyBytes_AsString(path);
    Py_BEGIN_ALLOW_THREADS
    done = realm_change_encryption_key(text, from, to);
    Py_END_ALLOW_THREADS
    Py_DECREF(path);
    if (done) Py_RETURN_NONE;
    raise_engine(state, "changing the key of %R", argument);
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
