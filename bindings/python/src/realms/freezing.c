/* Frozen realms, which never change and may be used on all threads, and finding in one realm of a file
 * what was read in another.
 *
 * Consumers of Arrow's streams ask for them on threads of their own: DuckDB asks results once where they
 * belong, for the columns, and then for the rows on one of its threads. Results that were asked on their
 * thread have a frozen twin, which answers on others until the realm goes on: it keeps no version in the file
 * that the realm doesn't keep itself. */
#include "realms/realms.h"

/* The classes under the keys that another realm of the file knows them by. */
static int bind_like(Realm *self, Realm *other) {
    Model **models = PyMem_Calloc(other->binding_count + 1, sizeof *models);
    if (!models) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t i = 0; i < other->binding_count; i++) models[i] = other->bindings[i].model;
    int bad = realm_bind_with(self, models, other->binding_count, other);
    PyMem_Free(models);
    return bad;
}

/* Takes over `handle`, which may be NULL with an error of the engine. */
static PyObject *frozen_realm(Realm *self, realm_t *handle) {
    if (!handle) {
        raise_engine(self->state, "freezing %R", self->path);
        return NULL;
    }
    Realm *frozen = realm_make(self->state, TYPE_OF(self), handle, self->path);
    if (!frozen) return NULL;
    frozen->frozen = true;
    if (bind_like(frozen, self) < 0) Py_CLEAR(frozen);
    return (PyObject *)frozen;
}

PyObject *realm_freeze_method(Realm *self, PyObject *unused) {
    (void)unused;
    if (realm_ready(self) < 0) return NULL;
    return frozen_realm(self, realm_freeze(self->handle));
}

PyObject *realm_freeze_told_method(Realm *self, PyObject *unused) {
    (void)unused;
    if (realm_ready(self) < 0) return NULL;
    return frozen_realm(self, realm_freeze_told(self->handle));
}

/* ---- resolving ------------------------------------------------------------------------------- */

/* A binding of this realm for what another realm's stands for; NULL with an exception, or for NULL.
 * Realms that were opened without classes have classes of their own for those of the file. */
static Binding *same_binding(Realm *self, Binding *binding) {
    if (!binding) return NULL;
    for (size_t i = 0; i < self->binding_count; i++) {
        if (self->bindings[i].model == binding->model) return &self->bindings[i];
    }
    return realm_binding_for_key(self, binding->class_key);
}

static PyObject *resolve_object(Realm *self, Object *object) {
    realm_object_t *handle = NULL;
    bool done;
    Binding *binding = same_binding(self, object->binding);
    if (!binding) return NULL;
    REALM_BLOCKING_BEGIN(self, object)
    done = realm_object_resolve_in(object->handle, self->handle, &handle);
    REALM_BLOCKING_END
    if (done && handle) return object_wrap(binding, handle);
    if (done) Py_RETURN_NONE;
    raise_engine(self->state, "finding a %s in %R", object->model->text, self->path);
    return NULL;
}

static Collection *resolve_collection(Realm *self, Collection *collection);

static PyObject *resolve_results(Realm *self, Results *results) {
    Binding *binding = same_binding(self, results->binding);
    if (!binding && results->binding) return NULL;
    Collection *source = NULL;
    if (results->source && !(source = resolve_collection(self, results->source))) {
        if (PyErr_Occurred()) return NULL;
        Py_RETURN_NONE;
    }
    realm_results_t *handle;
    REALM_BLOCKING_BEGIN(self, results)
    handle = realm_results_resolve_in(results->handle, self->handle);
    REALM_BLOCKING_END
    PyObject *resolved = NULL;
    if (handle) resolved = results_make(TYPE_OF(results), self, binding, source, handle);
    else results_raise(results, "finding results of");
    if (resolved) ((Results *)resolved)->each_once = results->each_once;
    Py_XDECREF((PyObject *)source);
    return resolved;
}

/* NULL without an exception when the collection is not there. */
static Collection *resolve_collection(Realm *self, Collection *collection) {
    Binding *binding = same_binding(self, collection->binding);
    if (!binding) return NULL;
    Property *property = collection->property;
    if (property->model != binding->model) {
        Py_ssize_t index = model_find(binding->model, property->name, true);
        if (index < 0) return NULL;
        property = binding->model->properties[index];
    }
    Collection *outer = NULL;
    if (collection->outer && !(outer = resolve_collection(self, collection->outer))) return NULL;
    bool done;
    void *handle = NULL;
    REALM_BLOCKING_BEGIN(self, collection)
    switch (collection->kind) {
    case RLM_COLLECTION_TYPE_LIST:
        done = realm_list_resolve_in(collection->handle, self->handle, (realm_list_t **)&handle);
        break;
    case RLM_COLLECTION_TYPE_SET:
        done = realm_set_resolve_in(collection->handle, self->handle, (realm_set_t **)&handle);
        break;
    default:
        done = realm_dictionary_resolve_in(collection->handle, self->handle,
                                           (realm_dictionary_t **)&handle);
    }
    REALM_BLOCKING_END
    Collection *resolved = NULL;
    if (!done) {
        collection_raise(collection);
    } else if (handle) {
        resolved = (Collection *)collection_make(self, binding, property, collection->owner,
                                                 collection->kind, handle);
    }
    if (resolved) {
        resolved->depth = collection->depth;
        resolved->step = Py_XNewRef(collection->step);
        resolved->outer = (Collection *)Py_XNewRef((PyObject *)outer);
    }
    Py_XDECREF((PyObject *)outer);
    return resolved;
}

PyObject *realm_resolve(Realm *self, PyObject *subject) {
    State *state = self->state;
    Realm *source = realm_of_subject(state, subject);
    if (!source || realm_ready(source) < 0 || realm_ready(self) < 0) return NULL;
    PyObject *resolved = NULL;
    if ((PyObject *)source == subject) {
        raise_code(self->state, MISUSE, "a realm is not found in another one");
        return NULL;
    }
    if (!self->frozen) realm_moves(self);
    if (PyObject_TypeCheck(subject, state->object_type)) {
        resolved = resolve_object(self, (Object *)subject);
    } else if (PyObject_TypeCheck(subject, state->results_type)) {
        resolved = resolve_results(self, (Results *)subject);
    } else {
        resolved = (PyObject *)resolve_collection(self, (Collection *)subject);
        if (!resolved && !PyErr_Occurred()) resolved = Py_NewRef(Py_None);
    }
    /* A realm that is behind what is looked for was moved, and told its observers. */
    if (self->raised) {
        Py_CLEAR(resolved);
        if (!PyErr_Occurred()) realm_raise_kept(self);
    }
    return resolved;
}

/* ---- twins ---------------------------------------------------------------------------------- */

/* Makes the frozen twin of results that are read on their own thread, outside of a transaction. */
static int make_twin(Realm *self, PyObject *results, PyObject *address) {
    if (!self->twins && !(self->twins = PyDict_New())) return -1;
    PyObject *twins = Py_NewRef(self->twins), *twin = NULL;
    /* One frozen realm for all, under None. */
    PyObject *frozen = Py_XNewRef(PyDict_GetItemWithError(twins, Py_None));
    int bad = -1;
    /* No other thread closes it meanwhile. */
    self->busy++;
    if (!frozen && !PyErr_Occurred()) {
        frozen = realm_freeze_method(self, NULL);
        if (frozen && PyDict_SetItem(twins, Py_None, frozen) < 0) Py_CLEAR(frozen);
    }
    if (frozen && (twin = realm_resolve((Realm *)frozen, results))) {
        /* Those of a list that is gone have none. */
        bad = twin == Py_None ? 0 : PyDict_SetItem(twins, address, twin);
    }
    self->busy--;
    Py_XDECREF(twin);
    Py_XDECREF(frozen);
    Py_DECREF(twins);
    return bad;
}

/* Realm._readable(results): what reads results of this realm on the calling thread, a new reference: they
 * themselves, or their twin. */
PyObject *realm_readable(Realm *self, PyObject *results) {
    if (!PyObject_TypeCheck(results, self->state->results_type) || ((Results *)results)->realm != self) {
        raise_code(self->state, MISUSE, "these are no results of the realm");
        return NULL;
    }
    if (self->frozen) return Py_NewRef(results);
    PyObject *address = PyLong_FromVoidPtr(results), *reads = NULL;
    if (!address) return NULL;
    PyObject *twin = self->twins ? PyDict_GetItemWithError(self->twins, address) : NULL;
    if (twin && self->thread != PyThread_get_thread_ident()) {
        reads = Py_NewRef(twin);
    } else if (!PyErr_Occurred() && realm_ready(self) == 0) {
        bool lacks_twin = !twin && self->part == PART_NONE && !realm_is_writable(self->handle);
        if (!lacks_twin || make_twin(self, results, address) == 0) reads = Py_NewRef(results);
    }
    Py_DECREF(address);
    return reads;
}
