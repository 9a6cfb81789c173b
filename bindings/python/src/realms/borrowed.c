/* Realms that callbacks of an opening get, which are theirs as long as they run, and the first exception
 * of one. */
#include "realms/realms.h"

Realm *borrowed_realm(Opening *opening, realm_t *handle, int part) {
    realm_t *own = realm_clone(handle);
    if (!own) {
        raise_engine(opening->state, "opening %R", opening->path);
        return NULL;
    }
    Realm *realm = realm_make(opening->state, opening->type, own, opening->path);
    if (realm) realm->part = part;
    return realm;
}

void end_borrowed_realm(Realm *realm) {
    if (!realm) return;
    iterators_settle(realm);
    realm->closed = true;
    realm->target = NULL;
    Py_DECREF((PyObject *)realm);
}

void opening_keep_exception(Opening *opening) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (opening->error) {
        Py_XDECREF(value);
    } else {
        PyErr_NormalizeException(&type, &value, &traceback);
        if (traceback) PyException_SetTraceback(value, traceback);
        opening->error = value;
    }
    Py_XDECREF(type);
    Py_XDECREF(traceback);
}

bool opening_raise(Opening *opening) {
    if (!opening->error) return false;
    PyErr_SetObject((PyObject *)Py_TYPE(opening->error), opening->error);
    Py_CLEAR(opening->error);
    return true;
}
