/* The handle of a realm: whether it may be used here and now, and the release of handles that belong
 * to it. The methods of realms are in realm.c. */
#include "handles/handles.h"

Realm *realm_make(State *state, PyTypeObject *type, realm_t *handle, PyObject *path) {
    Realm *self = (Realm *)PyType_GenericAlloc(type, 0);
    if (!self) {
        realm_release(handle);
        return NULL;
    }
    self->state = state;
    self->handle = handle;
    self->path = Py_NewRef(path);
    self->thread = PyThread_get_thread_ident();
    self->fork_generation = fork_generation;
    return self;
}

int realm_ready_slow(Realm *self) {
    if (self->closed) {
        raise_code(self->state, RLM_ERR_CLOSED_REALM,
                   self->part == PART_NONE    ? "the realm %R is closed"
                   : self->part == PART_FIRST ? "the initialisation of the realm %R is over"
                                              : "the migration of the realm %R is over",
                   self->path);
        return -1;
    }
    if (self->fork_generation != fork_generation) {
        raise_code(self->state, RLM_ERR_WRONG_THREAD,
                   "the realm %R was opened before this process was forked; open it again here",
                   self->path);
        return -1;
    }
    if (self->frozen) return 0;
    if (self->thread != PyThread_get_thread_ident()) {
        raise_code(self->state, RLM_ERR_WRONG_THREAD,
                   "the realm %R was opened on another thread; open it on this one too, or pass on what "
                   "freeze() gives",
                   self->path);
        return -1;
    }
    /* Handles that other threads dropped: this is the thread that may release them. */
    while (self->deferred_count) realm_release(self->deferred[--self->deferred_count]);
    return 0;
}

void realm_release_handle(Realm *self, void *handle) {
    if (!handle || self->fork_generation != fork_generation) return;
    if (self->frozen || self->thread == PyThread_get_thread_ident()) {
        realm_release(handle);
        return;
    }
    if (self->deferred_count == self->deferred_capacity) {
        size_t capacity = self->deferred_capacity ? 2 * self->deferred_capacity : 16;
        void **grown = PyMem_Realloc(self->deferred, capacity * sizeof *grown);
        /* Without memory the handle is lost until the process ends: leaking it is safe. */
        if (!grown) return;
        self->deferred = grown;
        self->deferred_capacity = capacity;
    }
    self->deferred[self->deferred_count++] = handle;
}

void realm_forget_twin(Realm *self, PyObject *results) {
    if (!self->twins) return;
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyObject *address = PyLong_FromVoidPtr(results);
    if (!address) {
        Py_CLEAR(self->twins);
    } else if (PyDict_GetItemWithError(self->twins, address)) {
        PyDict_DelItem(self->twins, address);
    }
    Py_XDECREF(address);
    PyErr_Restore(type, error, traceback);
}
