/* Migrations: the callback of the engine as a call of a Python function, what it can do to the schema,
 * and dry runs. realm/_migration.py gives the shape. */
#include "binding.h"

#include <string.h>

/* ---- the callback --------------------------------------------------------------------------- */

/* A realm of a migration, of which the engine's handle is borrowed. */
static Realm *borrowed_realm(Migration *migration, realm_t *handle, int part) {
    realm_t *own = realm_clone(handle);
    if (!own) {
        raise_engine(migration->state, "migrating %R", migration->path);
        return NULL;
    }
    Realm *realm = realm_make(migration->state, migration->type, own, migration->path);
    if (realm) realm->part = part;
    return realm;
}

/* Nothing that came from the realm can be used any more. */
static void end_realm(Realm *realm) {
    if (!realm) return;
    iterators_settle(realm);
    realm->closed = true;
    realm->target = NULL;
    Py_DECREF((PyObject *)realm);
}

bool migration_run(void *userdata, realm_t *old, realm_t *new, const realm_schema_t *schema) {
    Migration *migration = userdata;
    bool done = false;
    CALLBACK_BEGIN
    Realm *before = borrowed_realm(migration, old, PART_OLD);
    Realm *after = before ? borrowed_realm(migration, new, PART_NEW) : NULL;
    PyObject *result = NULL;
    if (after) {
        /* Renaming looks into the schema, and leaves it as it is. */
        after->target = (realm_schema_t *)(uintptr_t)schema;
        if (realm_bind(after, migration->models, migration->count) == 0) {
            result = PyObject_CallFunctionObjArgs(migration->function, (PyObject *)before,
                                                  (PyObject *)after, NULL);
        }
    }
    if (!result) {
        /* Kept apart while the engine rolls back, which may call Python, too. */
        PyErr_Fetch(&migration->error_type, &migration->error, &migration->traceback);
    }
    done = result != NULL;
    Py_XDECREF(result);
    end_realm(after);
    end_realm(before);
    CALLBACK_END
    return done;
}

bool migration_raise(Migration *migration) {
    if (!migration->error_type) return false;
    PyErr_Restore(migration->error_type, migration->error, migration->traceback);
    migration->error_type = migration->error = migration->traceback = NULL;
    return true;
}

/* ---- what a migration does to the schema ------------------------------------------------------ */

static int in_migration(Realm *self) {
    if (realm_ready(self) < 0) return -1;
    if (self->target) {
        self->moves++;
        iterators_settle(self);
        return 0;
    }
    raise_code(self->state, RLM_ERR_ILLEGAL_OPERATION,
               "the realm %R is not the new one of a migration", self->path);
    return -1;
}

PyObject *realm_rename_property(Realm *self, PyObject *args) {
    const char *class, *old, *new;
    if (!PyArg_ParseTuple(args, "sss:_rename_property", &class, &old, &new)) return NULL;
    if (in_migration(self) < 0) return NULL;
    if (!realm_schema_rename_property(self->handle, self->target, class, old, new)) {
        raise_engine(self->state, "renaming %s.%s", class, old);
        return NULL;
    }
    if (realm_bind_again(self) < 0) return NULL;
    Py_RETURN_NONE;
}

PyObject *realm_rename_class(Realm *self, PyObject *args) {
    const char *old, *new;
    if (!PyArg_ParseTuple(args, "ss:_rename_class", &old, &new)) return NULL;
    if (in_migration(self) < 0) return NULL;
    if (!realm_schema_rename_class(self->handle, self->target, old, new)) {
        raise_engine(self->state, "renaming class %s", old);
        return NULL;
    }
    if (realm_bind_again(self) < 0) return NULL;
    Py_RETURN_NONE;
}

PyObject *realm_delete_class(Realm *self, PyObject *args) {
    const char *class;
    bool deleted = false;
    if (!PyArg_ParseTuple(args, "s:_delete_class", &class)) return NULL;
    if (in_migration(self) < 0) return NULL;
    if (realm_remove_table(self->handle, class, &deleted)) return PyBool_FromLong(deleted);
    raise_engine(self->state, "deleting class %s", class);
    return NULL;
}

PyObject *realm_delete_objects_of(Realm *self, PyObject *args) {
    const char *class;
    if (!PyArg_ParseTuple(args, "s:_delete_objects_of", &class)) return NULL;
    if (in_migration(self) < 0) return NULL;
    if (realm_delete_class_objects(self->handle, class)) Py_RETURN_NONE;
    raise_engine(self->state, "deleting the objects of class %s", class);
    return NULL;
}

/* ---- dry runs ------------------------------------------------------------------------------- */

static void add_difference(void *userdata, const char *difference) {
    PyObject **list = userdata;
    PyObject *text = *list ? PyUnicode_DecodeUTF8(difference, (Py_ssize_t)strlen(difference),
                                                  "replace")
                           : NULL;
    if (*list && (!text || PyList_Append(*list, text) < 0)) Py_CLEAR(*list);
    Py_XDECREF(text);
}

/* (differences, whether opening writes to the file, why it fails or None). */
PyObject *realm_preview(Realm *self, PyObject *args) {
    PyObject *tuple, *number;
    size_t count;
    if (!PyArg_ParseTuple(args, "OO:_preview", &tuple, &number)) return NULL;
    unsigned long long version = PyLong_AsUnsignedLongLong(number);
    if (PyErr_Occurred()) return NULL;
    if (realm_ready(self) < 0) return NULL;
    Model **models = models_of_tuple(self->state, tuple, &count);
    realm_schema_t *schema = models ? schema_from_models(self->state, models, count) : NULL;
    PyMem_Free(models);
    PyObject *list = schema ? PyList_New(0) : NULL, *refusal = NULL;
    bool changes = false, done = false;
    if (list) {
        done = realm_preview_schema(self->handle, schema, version, RLM_SCHEMA_MODE_AUTOMATIC,
                                    add_difference, &list, &changes);
    }
    if (schema) realm_release(schema);
    if (!list) return NULL;
    if (done) {
        refusal = Py_NewRef(Py_None);
    } else {
        PyObject *type, *traceback;
        raise_engine(self->state, "opening %R", self->path);
        PyErr_Fetch(&type, &refusal, &traceback);
        PyErr_NormalizeException(&type, &refusal, &traceback);
        Py_XDECREF(type);
        Py_XDECREF(traceback);
    }
    return Py_BuildValue("NNN", list, PyBool_FromLong(changes), refusal);
}

/* Carries out what opening would do, with a function for the migration or None, and takes it back. */
PyObject *realm_rehearse(Realm *self, PyObject *args) {
    PyObject *tuple, *number, *function;
    size_t count;
    if (!PyArg_ParseTuple(args, "OOO:_rehearse", &tuple, &number, &function)) return NULL;
    unsigned long long version = PyLong_AsUnsignedLongLong(number);
    if (PyErr_Occurred()) return NULL;
    if (realm_ready(self) < 0) return NULL;
    Model **models = models_of_tuple(self->state, tuple, &count);
    realm_schema_t *schema = models ? schema_from_models(self->state, models, count) : NULL;
    if (!schema) {
        PyMem_Free(models);
        return NULL;
    }
    Migration migration = {.state = self->state, .type = TYPE_OF(self), .path = self->path,
                           .function = function, .models = models, .count = count};
    PyObject *owner = Py_NewRef((PyObject *)self);
    bool done;
    self->busy++;
    ENGINE_CALLS_BACK
    done = realm_begin_write(self->handle) &&
           realm_update_schema_advanced(self->handle, schema, version,
                                        function == Py_None ? NULL : migration_run, &migration,
                                        NULL, NULL, true) &&
           realm_rollback(self->handle);
    ENGINE_CALLED
    self->busy--;
    if (migration_raise(&migration)) done = false;
    else if (!done) raise_engine(self->state, "migrating %R", self->path);
    realm_release(schema);
    PyMem_Free(models);
    Py_DECREF(owner);
    if (!done) return NULL;
    Py_RETURN_NONE;
}
