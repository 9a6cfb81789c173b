/* Opening realms, here or on a thread of the engine, with the program's callbacks. */
#include "realms/realms.h"

/* ---- what callbacks get ---------------------------------------------------------------------- */

/* realm_schema_progress_func_t: whatever is not False goes on. */
static bool tell_progress(void *userdata, double part) {
    Opening *opening = userdata;
    bool goes_on = false;
    CALLBACK_BEGIN
    PyObject *result = PyObject_CallFunction(opening->progress, "d", part);
    if (result) goes_on = result != Py_False;
    else opening_keep_exception(opening);
    Py_XDECREF(result);
    CALLBACK_END
    return goes_on;
}

/* realm_gives_up_func_t: handlers of signals run while opening waits for another writer. */
static bool opening_interrupted(void *userdata) {
    Opening *opening = userdata;
    CALLBACK_BEGIN
    if (PyErr_CheckSignals() < 0) opening_keep_exception(opening);
    CALLBACK_END
    return opening->error != NULL;
}

/* realm_data_initialization_func_t. */
static bool fill_first(void *userdata, realm_t *handle) {
    Opening *opening = userdata;
    PyObject *result = NULL;
    CALLBACK_BEGIN
    Realm *realm = borrowed_realm(opening, handle, PART_FIRST);
    if (realm && realm_bind(realm, opening->models, opening->count) == 0) {
        result = PyObject_CallFunctionObjArgs(opening->initial_data, (PyObject *)realm, NULL);
    }
    if (!result) opening_keep_exception(opening);
    end_borrowed_realm(realm);
    Py_XDECREF(result);
    CALLBACK_END
    return result != NULL;
}

/* ---- what a realm is opened with ------------------------------------------------------------- */

static void opening_free(Opening *opening) {
    if (!opening) return;
    PyMem_Free(opening->models);
    if (opening->schema) realm_release(opening->schema);
    if (opening->config) realm_release(opening->config);
    Py_XDECREF((PyObject *)opening->type);
    Py_XDECREF(opening->path);
    Py_XDECREF(opening->tuple);
    Py_XDECREF(opening->migrate);
    Py_XDECREF(opening->initial_data);
    Py_XDECREF(opening->progress);
    Py_XDECREF(opening->done);
    Py_XDECREF(opening->error);
    PyMem_Free(opening);
}

static PyObject *unless_none(PyObject *object) {
    return object && object != Py_None ? Py_NewRef(object) : NULL;
}

/* The configuration: 0, or -1 with an exception. */
static int opening_configure(Opening *opening, PyObject *version_object, realm_schema_mode_e mode, bool in_memory,
                             PyObject *max_versions, const char *key, Py_ssize_t key_size,
                             PyObject *cache, PyObject *client_number) {
    State *state = opening->state;
    unsigned long long version = PyLong_AsUnsignedLongLong(version_object), limit = 0;
    if (version == (unsigned long long)-1 && PyErr_Occurred()) return -1;
    if (max_versions != Py_None) {
        limit = PyLong_AsUnsignedLongLong(max_versions);
        if (limit == (unsigned long long)-1 && PyErr_Occurred()) return -1;
    }
    unsigned long long number = client_number ? PyLong_AsUnsignedLongLong(client_number) : 0;
    if (number == (unsigned long long)-1 && PyErr_Occurred()) return -1;
    if (number > UINT32_MAX) {
        raise_code(state, RLM_ERR_RANGE_ERROR, "client_number has 32 bits, %R has more", client_number);
        return -1;
    }
    size_t cache_size = cache == Py_None ? 0 : PyLong_AsSize_t(cache);
    if (cache_size == (size_t)-1 && PyErr_Occurred()) return -1;
    if (opening->tuple) {
        opening->models = models_of_tuple(state, opening->tuple, &opening->count);
        if (!opening->models) return -1;
        opening->schema = schema_from_models(state, opening->models, opening->count);
        if (!opening->schema) return -1;
    }
    realm_config_t *config = opening->config = realm_config_new();
    PyObject *encoded = NULL;
    if (!config) {
        PyErr_NoMemory();
        return -1;
    }
    if (!PyUnicode_FSConverter(opening->path, &encoded)) return -1;
    realm_config_set_path(config, PyBytes_AsString(encoded));
    Py_DECREF(encoded);
    realm_config_set_schema_mode(config, mode);
    realm_config_set_in_memory(config, in_memory);
    if (opening->schema) {
        realm_config_set_schema(config, opening->schema);
        realm_config_set_schema_version(config, version);
    }
    if (max_versions != Py_None) realm_config_set_max_number_of_active_versions(config, limit);
    if (key && !realm_config_set_encryption_key(config, (const uint8_t *)key, (size_t)key_size)) {
        raise_engine(state, NULL);
        return -1;
    }
    if (cache != Py_None) realm_config_set_encryption_cache_size(config, cache_size);
    if (number) realm_config_set_client_number(config, (uint32_t)number);
    if (opening->migrate) {
        realm_config_set_migration_function(config, migration_run, opening, NULL);
    }
    if (opening->initial_data) {
        realm_config_set_data_initialization_function(config, fill_first, opening, NULL);
    }
    if (opening->progress) {
        realm_config_set_schema_progress_function(config, tell_progress, opening, NULL);
    }
    return 0;
}

static Opening *opening_parse(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"path", "models", "schema_version", "mode", "in_memory", "max_versions",
                            "encryption_key", "encryption_cache", "client_number", "migrate",
                            "initial_data", "progress", "done", NULL};
    PyObject *path, *tuple, *mode_name, *max_versions = Py_None, *version, *cache = Py_None;
    PyObject *client_number = NULL, *migrate = NULL, *initial_data = NULL, *progress = NULL, *done = NULL;
    int in_memory = 0;
    const char *key = NULL;
    Py_ssize_t key_size = 0;
    State *state = state_of_type(type);
    if (!state || !understood(state, PyArg_ParseTupleAndKeywords(args, kwargs, "UOOU|$pOz#OOOOOO:Realm",
                    names, &path, &tuple, &version, &mode_name, &in_memory, &max_versions, &key,
                    &key_size, &cache, &client_number, &migrate, &initial_data, &progress,
                    &done))) {
        return NULL;
    }
    realm_schema_mode_e mode;
    if (schema_mode_named(state, mode_name, &mode) < 0 || encryption_key_check(state, key, key_size) < 0) {
        return NULL;
    }
    Opening *opening = PyMem_Calloc(1, sizeof *opening);
    if (!opening) {
        PyErr_NoMemory();
        return NULL;
    }
    opening->state = state;
    opening->type = (PyTypeObject *)Py_NewRef((PyObject *)type);
    opening->path = Py_NewRef(path);
    opening->tuple = unless_none(tuple);
    opening->migrate = unless_none(migrate);
    opening->initial_data = unless_none(initial_data);
    opening->progress = unless_none(progress);
    opening->done = unless_none(done);
    if (opening_configure(opening, version, mode, in_memory, max_versions, key, key_size, cache,
                          client_number) < 0) {
        misunderstood(state);
        opening_free(opening);
        return NULL;
    }
    return opening;
}

/* ---- opening here ---------------------------------------------------------------------------- */

PyObject *realm_open_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    Opening *opening = opening_parse(type, args, kwargs);
    if (!opening) return NULL;
    Realm *self = NULL;
    realm_t *handle = NULL;
    realm_scheduler_t *scheduler;
    Waking *waking = waking_new(&scheduler);
    if (!waking) {
        opening_free(opening);
        return NULL;
    }
    realm_config_set_scheduler(opening->config, scheduler);
    realm_release(scheduler);
    realm_config_set_gives_up_function(opening->config, opening_interrupted, opening, NULL);
    /* Nobody else knows this configuration yet, so there is no handle to pin. */
    ENGINE_CALLS_BACK
    handle = realm_open(opening->config);
    ENGINE_CALLED
    if (opening_raise(opening) || !handle) {
        if (handle) realm_release(handle);
        raise_engine(opening->state, "opening %R", opening->path);
    } else {
        self = realm_make(opening->state, type, handle, opening->path);
        if (self) {
            self->waking = waking;
            waking = NULL;
        }
        if (self && opening->models && realm_bind(self, opening->models, opening->count) < 0) {
            Py_CLEAR(self);
        }
    }
    opening_free(opening);
    waking_release(waking);
    return (PyObject *)self;
}

/* ---- opening on a thread of the engine -------------------------------------------------------- */

#define REFERENCE_NAME "realm._realm.reference"
#define TOKEN_NAME "realm._realm.opening"

/* A handle of the engine in a capsule, which takes it over, also on failure. A forked child leaves
 * it alone: it is the parent's. */
static void free_handle(PyObject *capsule) {
    void *handle = PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule));
    if ((uintptr_t)PyCapsule_GetContext(capsule) == fork_generation) realm_release(handle);
}

static PyObject *capsule_of(void *handle, const char *name) {
    PyObject *capsule = PyCapsule_New(handle, name, free_handle);
    if (!capsule) realm_release(handle);
    else PyCapsule_SetContext(capsule, (void *)(uintptr_t)fork_generation);
    return capsule;
}

/* Tells the program: done(reference, None), or done(None, exception). */
static void opening_tell(Opening *opening, realm_thread_safe_reference_t *reference,
                         const realm_async_error_t *failure) {
    PyObject *result = NULL, *error = NULL;
    if (reference) result = capsule_of(reference, REFERENCE_NAME);
    if (!result) {
        if (opening->error) {
            error = Py_NewRef(opening->error);
        } else {
            if (!PyErr_Occurred()) {
                realm_error_t found;
                bool known = realm_get_async_error(failure, &found);
                raise_code(opening->state, known ? (int)found.error : (int)RLM_ERR_UNKNOWN,
                           "opening %R: %s", opening->path,
                           known ? found.message : "the engine failed without a message");
            }
            opening_keep_exception(opening);
            error = unless_none(opening->error);
        }
    }
    PyObject *told = PyObject_CallFunctionObjArgs(opening->done, result ? result : Py_None,
                                                  error ? error : Py_None, NULL);
    /* There is nobody above who could be told. */
    if (!told) PyErr_WriteUnraisable(opening->done);
    Py_XDECREF(told);
    Py_XDECREF(result);
    Py_XDECREF(error);
}

/* realm_open_completion_func_t. */
static void opening_ended(void *userdata, realm_thread_safe_reference_t *reference,
                          const realm_async_error_t *failure) {
    Opening *opening = userdata;
    CALLBACK_BEGIN
    PyObject *raised = callback_exception();
    if (raised && !opening->error) opening->error = raised;
    else Py_XDECREF(raised);
    opening_tell(opening, reference, failure);
    opening_free(opening);
    CALLBACK_END
}

/* Begins to open; `done` is called once, on another thread. Returns what cancels it. */
PyObject *realm_open_async_method(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    Opening *opening = opening_parse(type, args, kwargs);
    if (!opening) return NULL;
    State *state = opening->state;
    realm_callback_token_t *token = NULL;
    PyObject *path = Py_NewRef(opening->path);
    /* The other thread frees the opening, maybe before this one is back. */
    if (opening->done) {
        ENGINE_CALLS_BACK
        token = realm_open_async(opening->config, opening_ended, opening, NULL);
        ENGINE_CALLED
        if (!token) {
            raise_engine(state, "opening %R", path);
            opening_free(opening);
        }
    } else {
        PyErr_SetString(PyExc_TypeError, "an opening on another thread needs done");
        opening_free(opening);
    }
    Py_DECREF(path);
    return token ? capsule_of(token, TOKEN_NAME) : NULL;
}

PyObject *cancel_opening(PyObject *module, PyObject *capsule) {
    void *token = PyCapsule_GetPointer(capsule, TOKEN_NAME);
    if (!token) return NULL;
    if (realm_open_async_cancel(token)) Py_RETURN_NONE;
    raise_engine(PyModule_GetState(module), "cancelling");
    return NULL;
}

/* The realm of a reference, for this thread: (reference, path, models). */
PyObject *realm_claim(PyTypeObject *type, PyObject *args) {
    PyObject *capsule, *path, *tuple;
    State *state = state_of_type(type);
    if (!state || !arguments_read(state, args, "OUO:_claim", &capsule, &path, &tuple)) return NULL;
    void *reference = PyCapsule_GetPointer(capsule, REFERENCE_NAME);
    if (!reference) return NULL;
    size_t count = 0;
    Model **models = NULL;
    if (tuple != Py_None && !(models = models_of_tuple(state, tuple, &count))) return NULL;
    realm_t *handle;
    realm_scheduler_t *scheduler;
    Waking *waking = waking_new(&scheduler);
    if (!waking) {
        PyMem_Free(models);
        return NULL;
    }
    PyObject *owner = Py_NewRef(capsule);
    ENGINE_CALLS_BACK
    handle = realm_from_thread_safe_reference(reference, scheduler);
    ENGINE_CALLED
    realm_release(scheduler);
    Py_DECREF(owner);
    Realm *self = NULL;
    if (handle) self = realm_make(state, type, handle, path);
    else raise_engine(state, "opening %R", path);
    if (self) self->waking = waking;
    else waking_release(waking);
    if (self && models && realm_bind(self, models, count) < 0) Py_CLEAR(self);
    PyMem_Free(models);
    return (PyObject *)self;
}
