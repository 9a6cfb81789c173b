/* Results as views: how they are made of handles of the engine, what they are called in errors, and
 * how their elements are read. The type, with what it shows Python, is in results.c. */
#include "results/results.h"

PyObject *results_make(PyTypeObject *type, Realm *realm, Binding *binding, Collection *source,
                       realm_results_t *handle) {
    Results *self = (Results *)PyType_GenericAlloc(type, 0);
    if (!self) {
        realm_release_handle(realm, handle);
        return NULL;
    }
    self->realm = (Realm *)Py_NewRef((PyObject *)realm);
    self->binding = binding;
    self->source = (Collection *)Py_XNewRef((PyObject *)source);
    self->handle = handle;
    return (PyObject *)self;
}

PyObject *results_wrap(PyTypeObject *type, Binding *binding, realm_results_t *handle) {
    return results_make(type, binding->realm, binding, NULL, handle);
}

PyObject *results_derived(Results *self, realm_results_t *handle) {
    PyObject *derived =
        results_make(TYPE_OF(self), self->realm, self->binding, self->source, handle);
    if (derived) ((Results *)derived)->each_once = self->each_once;
    return derived;
}

PyObject *results_name(Results *self) {
    return self->source ? collection_path(self->source) : Py_NewRef(self->binding->model->name);
}

void results_raise(Results *self, const char *doing) {
    if (PyErr_Occurred()) return;
    PyObject *name = results_name(self);
    if (!name) return;
    raise_engine(self->realm->state, "%s %U", doing, name);
    Py_DECREF(name);
}

int results_need_objects(Results *self, const char *doing) {
    if (self->binding) return 0;
    PyObject *name = results_name(self);
    if (name) {
        raise_code(self->realm->state, RLM_ERR_ILLEGAL_OPERATION,
                   "%s: %U holds values that are no objects", doing, name);
    }
    Py_XDECREF(name);
    return -1;
}

int results_ready(Results *self) { return realm_ready(self->realm); }

/* The first access to results runs their query, which may take long: without the GIL. */
int results_count(Results *self, size_t *count) {
    bool done;
    REALM_BLOCKING_BEGIN(self->realm, self)
    done = realm_results_count(self->handle, count);
    REALM_BLOCKING_END
    if (done) return 0;
    results_raise(self, "results of");
    return -1;
}

PyObject *results_value(Results *self, size_t index) {
    realm_value_t value;
    if (!realm_results_get(self->handle, index, &value)) {
        results_raise(self, "results of");
        return NULL;
    }
    bool is_dict = value.type == RLM_TYPE_DICTIONARY;
    if (!is_dict && value.type != RLM_TYPE_LIST) {
        return property_to_python(self->source->property, self->realm, &value);
    }
    Collection *source = self->source;
    void *handle = is_dict ? (void *)realm_results_get_dictionary(self->handle, index)
                           : (void *)realm_results_get_list(self->handle, index);
    if (!handle) {
        results_raise(self, "results of");
        return NULL;
    }
    Collection *view = (Collection *)collection_make(
        self->realm, source->binding, source->property, source->owner,
        is_dict ? RLM_COLLECTION_TYPE_DICTIONARY : RLM_COLLECTION_TYPE_LIST, handle);
    if (view) view->depth = source->depth + 1;
    return (PyObject *)view;
}

Py_ssize_t results_handles(Results *self, realm_results_t *source, size_t first, size_t count,
                           realm_object_t **handles) {
    size_t got = 0;
    if (realm_results_get_objects(source, first, count, handles, &got)) return (Py_ssize_t)got;
    results_raise(self, "results of");
    return -1;
}
