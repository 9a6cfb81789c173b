/* realm._realm.ResultsIterator: walks over the objects of results.
 *
 * Inside a write transaction it walks over a snapshot, so that the loop may change and delete what
 * it walks over; outside nothing can change under it but by refresh, which it notices by the
 * version and answers with an exception, as dictionaries do. */
#include "binding.h"

typedef struct {
    PyObject_HEAD
    Results *results;      /* keeps realm and binding alive; NULL once exhausted */
    realm_results_t *handle; /* what is walked over */
    size_t position;
    size_t count;
    bool snapshot;
    uint64_t version;
} Iterator;

static uint64_t current_version(Realm *realm) {
    bool found = false;
    realm_version_id_t version;
    if (!realm_get_version_id(realm->handle, &found, &version) || !found) return 0;
    return version.version;
}

PyObject *results_iterate(Results *self) {
    State *state = self->realm->state;
    if (results_ready(self) < 0) return NULL;
    bool snapshot = realm_is_writable(self->realm->handle);
    realm_results_t *handle = self->handle;
    if (snapshot) {
        REALM_BLOCKING_BEGIN(self->realm, self)
        handle = realm_results_snapshot(self->handle);
        REALM_BLOCKING_END
    }
    size_t count = 0;
    bool done = handle != NULL;
    if (done) {
        REALM_BLOCKING_BEGIN(self->realm, self)
        done = realm_results_count(handle, &count);
        REALM_BLOCKING_END
    }
    if (!done) {
        raise_engine(state, "results of %s", self->binding->model->text);
        if (snapshot) realm_release_handle(self->realm, handle);
        return NULL;
    }
    PyTypeObject *type = state->iterator_type;
    Iterator *iterator = (Iterator *)PyType_GenericAlloc(type, 0);
    if (!iterator) {
        if (snapshot) realm_release_handle(self->realm, handle);
        return NULL;
    }
    iterator->results = (Results *)Py_NewRef((PyObject *)self);
    iterator->handle = handle;
    iterator->count = count;
    iterator->snapshot = snapshot;
    iterator->version = current_version(self->realm);
    return (PyObject *)iterator;
}

static void finish(Iterator *self) {
    Results *results = self->results;
    if (!results) return;
    self->results = NULL;
    if (self->snapshot) realm_release_handle(results->realm, self->handle);
    self->handle = NULL;
    Py_DECREF((PyObject *)results);
}

static int iterator_traverse(Iterator *self, visitproc visit, void *arg) {
    Py_VISIT(TYPE_OF(self));
    Py_VISIT(self->results);
    return 0;
}

static void iterator_dealloc(Iterator *self) {
    PyTypeObject *type = TYPE_OF(self);
    PyObject_GC_UnTrack(self);
    finish(self);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyObject *iterator_next(Iterator *self) {
    Results *results = self->results;
    if (!results || results_ready(results) < 0) return NULL;
    State *state = results->realm->state;
    if (!self->snapshot && current_version(results->realm) != self->version) {
        raise_code(state, RLM_ERR_STALE_ACCESSOR,
                   "the realm moved to another version while its %s objects were iterated over",
                   results->binding->model->text);
        return NULL;
    }
    while (self->position < self->count) {
        realm_object_t *handle = realm_results_get_object(self->handle, self->position++);
        if (!handle) {
            raise_engine(state, "results of %s", results->binding->model->text);
            return NULL;
        }
        /* Deleted since the snapshot was taken. */
        if (self->snapshot && !realm_object_is_valid(handle)) {
            realm_release_handle(results->realm, handle);
            continue;
        }
        return object_wrap(results->binding, handle);
    }
    finish(self);
    return NULL;
}

static PyObject *iterator_length_hint(Iterator *self, PyObject *unused) {
    (void)unused;
    return PyLong_FromSize_t(self->results ? self->count - self->position : 0);
}

static PyMethodDef iterator_methods[] = {
    {"__length_hint__", (PyCFunction)iterator_length_hint, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};

static PyType_Slot iterator_slots[] = {
    {Py_tp_dealloc, iterator_dealloc},
    {Py_tp_traverse, iterator_traverse},
    {Py_tp_iter, PyObject_SelfIter},
    {Py_tp_iternext, iterator_next},
    {Py_tp_methods, iterator_methods},
    {0, NULL}};

PyType_Spec iterator_spec = {
    .name = "realm._realm.ResultsIterator",
    .basicsize = sizeof(Iterator),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = iterator_slots,
};
