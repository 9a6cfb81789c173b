/* realm._realm.Realm: an open realm - life cycle, transactions, versions. Opening is in
 * realm_opening.c, its handle in realm_handle.c, objects in realm_objects.c; all methods meet
 * in the table at the end. realm/_database.py subclasses it. */
#include "realms/realms.h"

#include <math.h>
#include <time.h>

static int realm_traverse(Realm *self, visitproc visit, void *arg) {
    Py_VISIT(TYPE_OF(self));
    for (size_t i = 0; i < self->binding_count; i++) Py_VISIT(self->bindings[i].model);
    Py_VISIT(self->tokens);
    Py_VISIT(self->raised);
    Py_VISIT(self->twins);
    return 0;
}

/* What somebody forgot and observes: the tokens hold the realm that holds them. */
static int realm_clear(Realm *self) {
    realm_end_tokens(self);
    return 0;
}

static void realm_dealloc(Realm *self) {
    PyTypeObject *type = TYPE_OF(self);
    PyObject_GC_UnTrack(self);
    Py_CLEAR(self->tokens);
    Py_CLEAR(self->twins);
    if (self->raised && realm_raise_kept(self) < 0) PyErr_WriteUnraisable(self->path);
    /* Every wrapper holds a reference to its realm, so this realm is used by nobody any more, and
     * its handles may be released wherever we are. */
    if (self->handle && self->fork_generation == fork_generation) {
        while (self->deferred_count) realm_release(self->deferred[--self->deferred_count]);
        Py_BEGIN_ALLOW_THREADS
        /* What a migration works on goes on without it. */
        if (self->part == PART_NONE) realm_close(self->handle);
        realm_release(self->handle);
        Py_END_ALLOW_THREADS
    }
    if (self->fork_generation == fork_generation) waking_release(self->waking);
    PyMem_Free(self->deferred);
    realm_unbind(self);
    Py_CLEAR(self->path);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyObject *method_close(Realm *self, PyObject *unused) {
    (void)unused;
    if (self->closed) Py_RETURN_NONE;
    if (self->fork_generation != fork_generation) {
        /* The parent's realm: closing it here must not disturb the parent. */
        self->closed = true;
        Py_RETURN_NONE;
    }
    if (self->part != PART_NONE) {
        raise_code(self->state, RLM_ERR_ILLEGAL_OPERATION,
                   self->part == PART_FIRST
                       ? "the realm %R is being filled; it is closed when that is done"
                       : "the realm %R is being migrated; its realms are closed when that is done",
                   self->path);
        return NULL;
    }
    /* On its own thread it is a callback that closes it. */
    if (self->busy && (self->frozen || self->thread != PyThread_get_thread_ident())) {
        raise_code(self->state, RLM_ERR_ILLEGAL_OPERATION,
                   "the realm %R is in use by another thread and can't be closed now", self->path);
        return NULL;
    }
    bool done;
    self->closed = true;
    realm_end_tokens(self);
    Py_CLEAR(self->twins);
    REALM_BLOCKING_BEGIN(self, self)
    done = realm_close(self->handle);
    REALM_BLOCKING_END
    if (!done) {
        raise_engine(self->state, "closing %R", self->path);
        return NULL;
    }
    Py_RETURN_NONE;
}

/* ---- transactions --------------------------------------------------------------------------- */

#define BLOCKING_METHOD(name_, call_, doing_)                                                      \
    static PyObject *name_(Realm *self, PyObject *unused) {                                        \
        (void)unused;                                                                              \
        bool done;                                                                                 \
        if (realm_ready(self) < 0) return NULL;                                                    \
        realm_moves(self);                                                                         \
        REALM_BLOCKING_BEGIN(self, self)                                                           \
        done = call_(self->handle);                                                                \
        REALM_BLOCKING_END                                                                         \
        if (realm_raise_kept(self) < 0) return NULL;                                               \
        if (done) Py_RETURN_NONE;                                                                  \
        raise_engine(self->state, doing_);                                                         \
        return NULL;                                                                               \
    }

/* A wait for the writer. */
typedef struct {
    double deadline;           /* in seconds of the monotonic clock; INFINITY without one */
    bool raised, expired;
} Wait;

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Whether it has lasted long enough, or what the program does about the signals that came raised. */
static bool wait_is_over(void *userdata) {
    Wait *wait = userdata;
    wait->expired = seconds_now() >= wait->deadline;
    if (wait->expired) return true;
    CALLBACK_BEGIN
    wait->raised = PyErr_CheckSignals() < 0;
    CALLBACK_END
    return wait->raised;
}

static void raise_expired(Realm *self, PyObject *timeout) {
    PyObject *module = PyImport_ImportModule("realm._errors");
    PyObject *error = NULL;
    PyObject *message = PyUnicode_FromFormat(
        "%R is being written by somebody else: waited for %S seconds", self->path, timeout);
    if (module && message) {
        error = PyObject_CallMethod(module, "WriteTimeoutError", "OOO", message, Py_None,
                                    self->path);
    }
    if (error) PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_XDECREF(error);
    Py_XDECREF(message);
    Py_XDECREF(module);
}

/* The end of a wait of so many seconds; -1 with an exception. */
static double deadline_after(State *state, PyObject *timeout) {
    if (timeout == Py_None) return INFINITY;
    double seconds = PyFloat_AsDouble(timeout);
    bool is_number = seconds != -1.0 || !PyErr_Occurred();
    if (seconds >= 0) return seconds_now() + seconds;
    PyErr_Clear();
    raise_code(state, is_number ? RLM_ERR_INVALID_ARGUMENT : MISUSE,
               "a timeout is a number of seconds, not %R", timeout);
    return -1;
}

/* Handlers of signals run while it waits, and once more when it has begun: if one raises, or an
 * observer that was told, no transaction is left that nobody knows of. */
static PyObject *method_begin_write(Realm *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"timeout", NULL};
    PyObject *timeout = Py_None;
    bool done;
    if (!understood(self->state, PyArg_ParseTupleAndKeywords(args, kwargs, "|O:begin_write", names,
                    &timeout))) {
        return NULL;
    }
    Wait wait = {.deadline = deadline_after(self->state, timeout)};
    if (wait.deadline < 0 || realm_ready(self) < 0) return NULL;
    realm_moves(self);
    REALM_BLOCKING_BEGIN(self, self)
    done = realm_begin_write_unless(self->handle, wait_is_over, &wait);
    REALM_BLOCKING_END
    if (!done) {
        if (wait.expired) {
            realm_clear_last_error();
            raise_expired(self, timeout);
        } else if (!wait.raised && realm_raise_kept(self) == 0) {
            raise_engine(self->state, "beginning a write transaction");
        }
    } else if (realm_raise_kept(self) < 0 || PyErr_CheckSignals() < 0) {
        realm_rollback(self->handle);
    } else {
        Py_RETURN_NONE;
    }
    return NULL;
}

BLOCKING_METHOD(method_commit, realm_commit, "committing")
BLOCKING_METHOD(method_rollback, realm_rollback, "rolling back")

/* Commits, and leaves out the observers whose tokens are in a tuple. */
static PyObject *method_commit_without(Realm *self, PyObject *tokens) {
    size_t count;
    bool done;
    if (realm_ready(self) < 0) return NULL;
    void **handles = token_handles(self, tokens, &count);
    if (!handles) return NULL;
    realm_moves(self);
    REALM_BLOCKING_BEGIN(self, tokens)
    done = realm_commit_without_notifying(self->handle, (const void *const *)handles, count);
    REALM_BLOCKING_END
    PyMem_Free(handles);
    if (realm_raise_kept(self) < 0) return NULL;
    if (done) Py_RETURN_NONE;
    raise_engine(self->state, "committing");
    return NULL;
}

/* ---- savepoints ----------------------------------------------------------------------------- */

static PyObject *method_savepoint_begin(Realm *self, PyObject *unused) {
    (void)unused;
    uint64_t savepoint;
    if (realm_ready(self) < 0) return NULL;
    if (realm_savepoint_begin(self->handle, &savepoint)) {
        return PyLong_FromUnsignedLongLong(savepoint);
    }
    raise_engine(self->state, "making a savepoint");
    return NULL;
}

static PyObject *method_savepoint_rollback(Realm *self, PyObject *savepoint) {
    uint64_t number = PyLong_AsUnsignedLongLong(savepoint);
    if (PyErr_Occurred() || realm_ready(self) < 0) return NULL;
    realm_moves(self);
    if (realm_savepoint_rollback(self->handle, number)) Py_RETURN_NONE;
    raise_engine(self->state, "rolling back to a savepoint");
    return NULL;
}

static PyObject *method_savepoint_release(Realm *self, PyObject *savepoint) {
    uint64_t number = PyLong_AsUnsignedLongLong(savepoint);
    if (PyErr_Occurred() || realm_ready(self) < 0) return NULL;
    if (realm_savepoint_release(self->handle, number)) Py_RETURN_NONE;
    raise_engine(self->state, "releasing a savepoint");
    return NULL;
}

static PyObject *method_refresh(Realm *self, PyObject *unused) {
    (void)unused;
    bool done, moved = false, found_before = false, found = false;
    realm_version_id_t before = {0, 0}, after = {0, 0};
    if (realm_ready(self) < 0) return NULL;
    realm_moves(self);
    REALM_BLOCKING_BEGIN(self, self)
    realm_get_version_id(self->handle, &found_before, &before);
    done = realm_refresh(self->handle, &moved);
    /* What loops would do about the commits that came until now is done. */
    if (done && self->waking && !self->closed) waking_perform(self->waking);
    realm_get_version_id(self->handle, &found, &after);
    REALM_BLOCKING_END
    if (realm_raise_kept(self) < 0) return NULL;
    if (done) {
        return PyBool_FromLong(moved || found != found_before || after.version != before.version);
    }
    raise_engine(self->state, "refreshing");
    return NULL;
}

/* What an event loop calls when the descriptor is readable. */
static PyObject *method_deliver(Realm *self, PyObject *unused) {
    (void)unused;
    if (realm_ready(self) < 0) return NULL;
    if (self->waking) {
        realm_moves(self);
        REALM_BLOCKING_BEGIN(self, self)
        waking_perform(self->waking);
        REALM_BLOCKING_END
        if (realm_raise_kept(self) < 0) return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *method_fileno(Realm *self, PyObject *unused) {
    (void)unused;
    if (realm_ready(self) < 0) return NULL;
    if (!self->waking) {
        raise_code(self->state, RLM_ERR_ILLEGAL_OPERATION, "the realm %R is never told of commits",
                   self->path);
        return NULL;
    }
    bool is_new, done = true;
    int descriptor = waking_descriptor(self->waking, &is_new);
    if (descriptor < 0) return NULL;
    REALM_BLOCKING_BEGIN(self, self)
    if (is_new) done = realm_ask_scheduler(self->handle);
    REALM_BLOCKING_END
    if (done) return PyLong_FromLong(descriptor);
    raise_engine(self->state, "following commits of %R", self->path);
    return NULL;
}

static PyObject *method_compact(Realm *self, PyObject *unused) {
    (void)unused;
    bool done, compacted = false;
    if (realm_ready(self) < 0) return NULL;
    realm_moves(self);
    REALM_BLOCKING_BEGIN(self, self)
    done = realm_compact(self->handle, &compacted);
    REALM_BLOCKING_END
    if (done) return PyBool_FromLong(compacted);
    raise_engine(self->state, "compacting %R", self->path);
    return NULL;
}

static PyObject *method_write_copy(Realm *self, PyObject *args) {
    PyObject *path;
    const char *key = NULL;
    Py_ssize_t key_size = 0;
    bool done;
    if (!arguments_read(self->state, args, "O&|z#:write_copy", PyUnicode_FSConverter, &path, &key,
                        &key_size)) {
        return NULL;
    }
    if (encryption_key_check(self->state, key, key_size) < 0 || realm_ready(self) < 0) {
        Py_DECREF(path);
        return NULL;
    }
    const char *text = PyBytes_AsString(path);
    realm_binary_t sealing = {(const uint8_t *)key, (size_t)key_size};
    REALM_BLOCKING_BEGIN(self, self)
    done = realm_convert_with_path(self->handle, text, sealing, false);
    REALM_BLOCKING_END
    Py_DECREF(path);
    if (done) Py_RETURN_NONE;
    raise_engine(self->state, "copying %R", self->path);
    return NULL;
}

static PyObject *get_version(Realm *self, void *unused) {
    (void)unused;
    bool found = false;
    realm_version_id_t version;
    if (realm_ready(self) < 0) return NULL;
    /* Reading the version starts the read transaction that it describes. */
    if (!realm_begin_read(self->handle) ||
        !realm_get_version_id(self->handle, &found, &version)) {
        raise_engine(self->state, "reading the version");
        return NULL;
    }
    if (!found) Py_RETURN_NONE;
    return PyLong_FromUnsignedLongLong(version.version);
}

static PyObject *get_version_count(Realm *self, void *unused) {
    (void)unused;
    uint64_t count = 0;
    if (realm_ready(self) < 0) return NULL;
    if (!realm_get_num_versions(self->handle, &count)) {
        raise_engine(self->state, "counting the versions");
        return NULL;
    }
    return PyLong_FromUnsignedLongLong(count);
}

static PyObject *get_schema_version(Realm *self, void *unused) {
    (void)unused;
    if (realm_ready(self) < 0) return NULL;
    uint64_t version = realm_get_schema_version(self->handle);
    if (version == UINT64_MAX) Py_RETURN_NONE;
    return PyLong_FromUnsignedLongLong(version);
}

static PyObject *get_writing(Realm *self, void *unused) {
    (void)unused;
    if (self->closed) Py_RETURN_FALSE;
    if (realm_ready(self) < 0) return NULL;
    return PyBool_FromLong(realm_is_writable(self->handle));
}

static PyObject *get_autorefresh(Realm *self, void *unused) {
    (void)unused;
    if (self->closed) Py_RETURN_FALSE;
    if (realm_ready(self) < 0) return NULL;
    return PyBool_FromLong(realm_get_auto_refresh(self->handle));
}

static int set_autorefresh(Realm *self, PyObject *value, void *unused) {
    (void)unused;
    if (!value) {
        raise_code(self->state, RLM_ERR_READ_ONLY_PROPERTY, "autorefresh is True or False and can't be deleted");
        return -1;
    }
    int enable = PyObject_IsTrue(value);
    if (enable < 0 || realm_ready(self) < 0) return -1;
    if (!realm_set_auto_refresh(self->handle, enable != 0)) {
        raise_engine(self->state, "following commits of %R", self->path);
        return -1;
    }
    return 0;
}

static PyObject *get_frozen(Realm *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(self->frozen);
}

static PyObject *get_closed(Realm *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(self->closed);
}

static PyObject *get_path(Realm *self, void *unused) {
    (void)unused;
    return Py_NewRef(self->path);
}

static PyObject *get_models(Realm *self, void *unused) {
    (void)unused;
    PyObject *result = PyTuple_New((Py_ssize_t)self->binding_count);
    if (!result) return NULL;
    for (size_t i = 0; i < self->binding_count; i++) {
        PyTuple_SetItem(result, (Py_ssize_t)i, Py_NewRef((PyObject *)self->bindings[i].model));
    }
    return result;
}

static PyMethodDef realm_methods[] = {
    {"close", (PyCFunction)method_close, METH_NOARGS,
     "Closes the realm; a write transaction that is open is rolled back. Closing twice is fine."},
    {"begin_write", (PyCFunction)(void (*)(void))method_begin_write, METH_VARARGS | METH_KEYWORDS,
     "begin_write($self, timeout=None)\n--\n\n"
     "Begins a write transaction at the newest version; waits for other writers, at most so many\n"
     "seconds (WriteTimeoutError)."},
    {"commit", (PyCFunction)method_commit, METH_NOARGS,
     "Commits the write transaction durably."},
    {"_commit_without", (PyCFunction)method_commit_without, METH_O, NULL},
    {"rollback", (PyCFunction)method_rollback, METH_NOARGS,
     "Discards what the write transaction did."},
    {"refresh", (PyCFunction)method_refresh, METH_NOARGS,
     "Advances to the newest version; True if that changed anything."},
    {"fileno", (PyCFunction)method_fileno, METH_NOARGS,
     "A descriptor that gets readable when somebody committed, for event loops; `refresh()` then.\n"
     "It is the realm's, and ends with it."},
    {"_log_consumers", (PyCFunction)realm_log_consumers, METH_NOARGS, NULL},
    {"_log_change_consumer", (PyCFunction)realm_log_change_consumer, METH_VARARGS, NULL},
    {"_log_read", (PyCFunction)realm_log_read, METH_O, NULL},
    {"_log_compare", (PyCFunction)realm_log_compare, METH_VARARGS, NULL},
    {"_log_export", (PyCFunction)realm_log_export, METH_O, NULL},
    {"_log_apply", (PyCFunction)realm_log_apply, METH_VARARGS, NULL},
    {"_log_read_changes", (PyCFunction)realm_log_read_changes, METH_VARARGS, NULL},
    {"_freeze", (PyCFunction)realm_freeze_method, METH_NOARGS, NULL},
    {"_freeze_told", (PyCFunction)realm_freeze_told_method, METH_NOARGS, NULL},
    {"_resolve", (PyCFunction)realm_resolve, METH_O, NULL},
    {"_readable", (PyCFunction)realm_readable, METH_O, NULL},
    {"_deliver", (PyCFunction)method_deliver, METH_NOARGS, NULL},
    {"compact", (PyCFunction)method_compact, METH_NOARGS,
     "Rewrites the file without its free space, if nobody else reads or writes it; True if done.\n"
     "While others read, only the free end of the file is given back.\n"
     "Objects and results of this realm become invalid."},
    {"check", (PyCFunction)realm_check_method, METH_NOARGS,
     "Verifies the whole file at its newest version; the problems found, as texts."},
    {"statistics", (PyCFunction)realm_statistics_method, METH_NOARGS,
     "Sizes of the file and of each class, in bytes of whole pages."},
    {"_write_copy", (PyCFunction)method_write_copy, METH_VARARGS, NULL},
    {"_atomically", (PyCFunction)realm_atomically, METH_O, NULL},
    {"_savepoint_begin", (PyCFunction)method_savepoint_begin, METH_NOARGS, NULL},
    {"_savepoint_rollback", (PyCFunction)method_savepoint_rollback, METH_O, NULL},
    {"_savepoint_release", (PyCFunction)method_savepoint_release, METH_O, NULL},
    {"_describe", (PyCFunction)realm_describe, METH_NOARGS, NULL},
    {"_bind", (PyCFunction)realm_bind_method, METH_O, NULL},
    {"_rename_property", (PyCFunction)realm_rename_property, METH_VARARGS, NULL},
    {"_rename_class", (PyCFunction)realm_rename_class, METH_VARARGS, NULL},
    {"_delete_class", (PyCFunction)realm_delete_class, METH_VARARGS, NULL},
    {"_delete_objects_of", (PyCFunction)realm_delete_objects_of, METH_VARARGS, NULL},
    {"_pairs", (PyCFunction)realm_pairs, METH_VARARGS, NULL},
    {"_open_async", (PyCFunction)(void (*)(void))realm_open_async_method,
     METH_VARARGS | METH_KEYWORDS | METH_CLASS, NULL},
    {"_claim", (PyCFunction)(void (*)(void))realm_claim, METH_VARARGS | METH_CLASS, NULL},
    {"_preview", (PyCFunction)realm_preview, METH_VARARGS, NULL},
    {"_rehearse", (PyCFunction)realm_rehearse, METH_VARARGS, NULL},
    {"find", (PyCFunction)realm_find, METH_VARARGS,
     "find($self, cls, key, /)\n--\n\n"
     "The object of cls with this primary key, None if there is none."},
    {"_create_from_json", (PyCFunction)realm_create_from_json, METH_VARARGS, NULL},
    {"_insert_columns", (PyCFunction)realm_insert_columns, METH_VARARGS, NULL},
    {"_copy_object", (PyCFunction)realm_copy_object, METH_VARARGS, NULL},
    {"_object_for_key", (PyCFunction)realm_object_for_key, METH_VARARGS, NULL},
    {"_delete_object", (PyCFunction)realm_delete_object, METH_O, NULL},
    {"create", (PyCFunction)(void (*)(void))realm_create, METH_FASTCALL | METH_KEYWORDS,
     "create($self, cls, values=None, /, *, update='error', **properties)\n--\n\n"
     "Creates an object of cls in the realm and returns it."},
    {"add", (PyCFunction)(void (*)(void))realm_add, METH_VARARGS | METH_KEYWORDS,
     "add($self, obj, /, *, update='error')\n--\n\n"
     "Adds obj, and every object it links to, to the realm; returns it."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef realm_getset[] = {
    {"path", (getter)get_path, NULL, "Path of the file.", NULL},
    {"is_closed", (getter)get_closed, NULL, "Has been closed.", NULL},
    {"is_frozen", (getter)get_frozen, NULL, "Never changes; made by `freeze`.", NULL},
    {"is_writing", (getter)get_writing, NULL, "Is in a write transaction.", NULL},
    {"autorefresh", (getter)get_autorefresh, (setter)set_autorefresh,
     "Shows by itself what others commit, where an event loop runs; otherwise `refresh` and writes do.", NULL},
    {"version", (getter)get_version, NULL, "Version of the file that this realm sees.", NULL},
    {"version_count", (getter)get_version_count, NULL, "Versions that the file retains.", NULL},
    {"schema_version", (getter)get_schema_version, NULL,
     "Version of the schema in the file, None if it has none.", NULL},
    {"_models", (getter)get_models, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot realm_slots[] = {
    {Py_tp_doc, "An open realm."},
    {Py_tp_new, realm_open_new},
    {Py_tp_dealloc, realm_dealloc},
    {Py_tp_traverse, realm_traverse},
    {Py_tp_clear, realm_clear},
    {Py_tp_methods, realm_methods},
    {Py_tp_getset, realm_getset},
    {0, NULL}};

PyType_Spec realm_spec = {
    .name = "realm._realm.Realm",
    .basicsize = sizeof(Realm),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = realm_slots,
};
