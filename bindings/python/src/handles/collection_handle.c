/* Collections as views: how they are made of handles of the engine, and what they are called in
 * errors. What they do is in collection.c. */
#include "handles/handles.h"

#include <stdarg.h>

PyObject *collection_make(Realm *realm, Binding *binding, Property *property,
                          realm_object_key_t owner, int kind, void *handle) {
    State *state = property->state;
    PyObject *class = kind == RLM_COLLECTION_TYPE_LIST  ? state->list_class
                      : kind == RLM_COLLECTION_TYPE_SET ? state->set_class
                                                        : state->dictionary_class;
    Collection *self = NULL;
    if (class) {
        self = (Collection *)PyType_GenericAlloc((PyTypeObject *)class, 0);
    } else {
        PyErr_SetString(PyExc_ImportError, "import the package realm, not realm._realm");
    }
    if (!self) {
        realm_release_handle(realm, handle);
        return NULL;
    }
    self->realm = (Realm *)Py_NewRef((PyObject *)realm);
    self->binding = binding;
    self->property = property;
    self->owner = owner;
    self->kind = kind;
    self->depth = 1;
    self->handle = handle;
    return (PyObject *)self;
}

PyObject *collection_wrap(Object *owner, Property *property) {
    realm_property_key_t key = owner->binding->keys[property->index];
    void *handle;
    switch (property->collection) {
    case RLM_COLLECTION_TYPE_LIST: handle = realm_get_list(owner->handle, key); break;
    case RLM_COLLECTION_TYPE_SET: handle = realm_get_set(owner->handle, key); break;
    default: handle = realm_get_dictionary(owner->handle, key);
    }
    if (!handle) {
        raise_engine(property->state, "%s.%U", owner->model->text, property->name);
        return NULL;
    }
    return collection_make(owner->realm, owner->binding, property, owner->key,
                           property->collection, handle);
}

int collection_ready(Collection *self) { return realm_ready(self->realm); }

PyObject *collection_path(Collection *self) {
    if (!self->step) {
        return PyUnicode_FromFormat("%s.%U", self->binding->model->text, self->property->name);
    }
    PyObject *head = collection_path(self->outer);
    PyObject *step = head ? short_repr(self->step) : NULL;
    PyObject *path = step ? PyUnicode_FromFormat("%U[%U]", head, step) : NULL;
    Py_XDECREF(head);
    Py_XDECREF(step);
    return path;
}

void collection_raise(Collection *self) {
    if (PyErr_Occurred()) return;
    PyObject *path = collection_path(self);
    if (!path) return;
    raise_engine(self->realm->state, "%U", path);
    Py_DECREF(path);
}

void collection_raise_code(Collection *self, int code, const char *format, ...) {
    va_list arguments;
    PyObject *path = collection_path(self);
    va_start(arguments, format);
    PyObject *message = path ? PyUnicode_FromFormatV(format, arguments) : NULL;
    va_end(arguments);
    if (message) raise_code(self->realm->state, code, "%U%U", path, message);
    Py_XDECREF(path);
    Py_XDECREF(message);
}
