/* Batches: several changes that are one, all made or none. A savepoint takes back what the engine
 * stored; objects that became managed on the way are again what they were, with their values. */
#include "objects/objects.h"

/* An object that became managed, and the values that it had until then. */
struct Adopted {
    Object *object;
    PyObject **values;
};

int batch_begin(Batch *batch, Realm *realm) {
    *batch = (Batch){.realm = realm, .outer = realm->batch};
    /* Outside a write transaction nothing can change; who tries says so. */
    if (realm_is_writable(realm->handle) &&
        !realm_savepoint_begin(realm->handle, &batch->savepoint)) {
        raise_engine(realm->state, "making a savepoint");
        batch->realm = NULL;
        return -1;
    }
    Py_INCREF((PyObject *)realm);
    realm->batch = batch;
    return 0;
}

static int grow(Batch *batch) {
    size_t capacity = batch->capacity ? batch->capacity * 2 : 8;
    struct Adopted *adopted = PyMem_Realloc(batch->adopted, capacity * sizeof *adopted);
    if (!adopted) return -1;
    batch->adopted = adopted;
    batch->capacity = capacity;
    return 0;
}

bool batch_keep(Batch *batch, Object *object, PyObject **values) {
    if (batch->count == batch->capacity && grow(batch) < 0) return false;
    batch->adopted[batch->count++] =
        (struct Adopted){(Object *)Py_NewRef((PyObject *)object), values};
    return true;
}

/* The object is in no realm again, unless it is stored after all. */
static void give_back(Realm *realm, struct Adopted *adopted) {
    Object *object = adopted->object;
    if (object->values || !object->handle || realm_object_is_valid(object->handle)) return;
    realm_release_handle(realm, object->handle);
    object->handle = NULL;
    object->binding = NULL;
    object->key = 0;
    object->values = adopted->values;
    adopted->values = NULL;
    Py_CLEAR(object->realm);
}

static void end_adopted(Batch *batch, bool failed) {
    for (size_t i = 0; i < batch->count; i++) {
        struct Adopted *adopted = &batch->adopted[i];
        if (failed) give_back(batch->realm, adopted);
        bool kept = !failed && batch->outer &&
                    batch_keep(batch->outer, adopted->object, adopted->values);
        if (!kept) free_values(adopted->object->model, adopted->values);
        Py_DECREF((PyObject *)adopted->object);
    }
    PyMem_Free(batch->adopted);
}

/* Ends the savepoint. The error that the engine may raise here has the one of before as context. */
static int end_savepoint(Batch *batch, int bad) {
    Realm *realm = batch->realm;
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    if ((!bad || realm_savepoint_rollback(realm->handle, batch->savepoint)) &&
        realm_savepoint_release(realm->handle, batch->savepoint)) {
        PyErr_Restore(type, value, trace);
        return bad;
    }
    raise_engine(realm->state, bad ? "taking back what was changed" : "ending a savepoint");
    if (type) {
        PyObject *new_type, *new_value, *new_trace;
        PyErr_NormalizeException(&type, &value, &trace);
        PyErr_Fetch(&new_type, &new_value, &new_trace);
        PyErr_NormalizeException(&new_type, &new_value, &new_trace);
        if (value && new_value) PyException_SetContext(new_value, Py_NewRef(value));
        PyErr_Restore(new_type, new_value, new_trace);
    }
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return -1;
}

int batch_end(Batch *batch, int bad) {
    Realm *realm = batch->realm;
    if (!realm) return bad;
    realm->batch = batch->outer;
    /* Whatever code ran meanwhile may have ended the transaction, and the savepoint with it. */
    if (batch->savepoint && !realm->closed && realm_is_writable(realm->handle)) {
        bad = end_savepoint(batch, bad);
    }
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    end_adopted(batch, bad != 0);
    Py_DECREF((PyObject *)realm);
    PyErr_Restore(type, value, trace);
    return bad;
}

/* ---- several elements of a collection -------------------------------------------------------- */

int batch_begin_elements(Batch *batch, Collection *into, PyObject *values) {
    Property *property = into->property;
    Binding *target = into->binding->targets[property->index];
    Py_ssize_t count = PyList_Size(values);
    *batch = (Batch){.realm = NULL};
    /* Plain values were checked, and nothing comes between that and storing them. */
    for (Py_ssize_t i = 0; count > 1 && i < count; i++) {
        if (brings_objects(property, target, PyList_GetItem(values, i))) {
            return batch_begin(batch, into->realm);
        }
    }
    return 0;
}

/* ---- for Python -------------------------------------------------------------------------------- */

PyObject *realm_atomically(Realm *self, PyObject *function) {
    Batch batch;
    if (realm_ready(self) < 0 || batch_begin(&batch, self) < 0) return NULL;
    PyObject *result = PyObject_CallNoArgs(function);
    if (batch_end(&batch, result ? 0 : -1) < 0) Py_CLEAR(result);
    return result;
}
