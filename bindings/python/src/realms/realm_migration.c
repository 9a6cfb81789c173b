/* Migrations: the callback of the engine as a call of a Python function, old and new objects side
 * by side, what it can do to the schema, and dry runs. realm/_migration.py gives the shape. */
#include "realms/realms.h"

#include <string.h>

/* ---- the callback --------------------------------------------------------------------------- */

bool migration_run(void *userdata, realm_t *old, realm_t *new, const realm_schema_t *schema) {
    Opening *opening = userdata;
    PyObject *result = NULL;
    CALLBACK_BEGIN
    Realm *before = borrowed_realm(opening, old, PART_OLD);
    Realm *after = before ? borrowed_realm(opening, new, PART_NEW) : NULL;
    if (after) {
        /* Renaming looks into the schema, and leaves it as it is. */
        after->target = (realm_schema_t *)(uintptr_t)schema;
        if (realm_bind(after, opening->models, opening->count) == 0) {
            result = PyObject_CallFunctionObjArgs(opening->migrate, (PyObject *)before,
                                                  (PyObject *)after, NULL);
        }
    }
    /* Kept apart while the engine rolls back, which may call Python, too. */
    if (!result) opening_keep_exception(opening);
    end_borrowed_realm(after);
    end_borrowed_realm(before);
    Py_XDECREF(result);
    CALLBACK_END
    return result != NULL;
}

/* ---- old and new objects side by side -------------------------------------------------------- */

/* realm._realm.Pairs: walks over objects of the old realm, each with what it is in the new one. */
typedef struct {
    PyObject_HEAD
    PyObject *source;          /* iterator of the old objects; NULL at the end */
    Realm *realm;              /* the new one */
    Binding *binding;
} Pairs;

PyObject *realm_pairs(Realm *self, PyObject *args) {
    PyObject *class, *objects;
    if (!arguments_read(self->state, args, "OO:_pairs", &class, &objects)) return NULL;
    if (realm_ready(self) < 0) {
        return NULL;
    }
    Binding *binding = realm_binding_of(self, class);
    PyObject *source = binding ? PyObject_GetIter(objects) : NULL;
    if (!source) return NULL;
    Pairs *pairs = (Pairs *)PyType_GenericAlloc(self->state->pairs_type, 0);
    if (!pairs) {
        Py_DECREF(source);
        return NULL;
    }
    pairs->source = source;
    pairs->realm = (Realm *)Py_NewRef((PyObject *)self);
    pairs->binding = binding;
    return (PyObject *)pairs;
}

static PyObject *pairs_next(Pairs *self) {
    while (self->source) {
        PyObject *before = PyIter_Next(self->source);
        if (!before) {
            if (!PyErr_Occurred()) Py_CLEAR(self->source);
            return NULL;
        }
        State *state = self->realm->state;
        if (!PyObject_TypeCheck(before, state->object_type) || realm_ready(self->realm) < 0) {
            if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "pairs are of objects");
            Py_DECREF(before);
            return NULL;
        }
        realm_object_t *handle = realm_get_object(
            self->realm->handle, self->binding->class_key, ((Object *)before)->key);
        if (!handle) {
            realm_error_t error;
            Py_DECREF(before);
            /* The migration has deleted it. */
            if (realm_get_last_error(&error) && error.error == RLM_ERR_NO_SUCH_OBJECT) {
                realm_clear_last_error();
                continue;
            }
            raise_engine(state, "objects of %s", self->binding->model->text);
            return NULL;
        }
        PyObject *after = object_wrap(self->binding, handle);
        PyObject *pair = after ? PyTuple_New(2) : NULL;
        if (!pair) {
            Py_XDECREF(after);
            Py_DECREF(before);
            return NULL;
        }
        PyTuple_SetItem(pair, 0, before);
        PyTuple_SetItem(pair, 1, after);
        return pair;
    }
    return NULL;
}

static int pairs_traverse(Pairs *self, visitproc visit, void *arg) {
    Py_VISIT(TYPE_OF(self));
    Py_VISIT(self->source);
    Py_VISIT((PyObject *)self->realm);
    return 0;
}

static void pairs_dealloc(Pairs *self) {
    PyTypeObject *type = TYPE_OF(self);
    PyObject_GC_UnTrack(self);
    Py_CLEAR(self->source);
    Py_CLEAR(self->realm);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyType_Slot pairs_slots[] = {
    {Py_tp_doc, "Walks over old objects with what they are now."},
    {Py_tp_dealloc, pairs_dealloc},
    {Py_tp_traverse, pairs_traverse},
    {Py_tp_iter, PyObject_SelfIter},
    {Py_tp_iternext, pairs_next},
    {0, NULL}};

PyType_Spec pairs_spec = {
    .name = "realm._realm.Pairs",
    .basicsize = sizeof(Pairs),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = pairs_slots,
};

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
    if (!arguments_read(self->state, args, "sss:_rename_property", &class, &old, &new)) return NULL;
    if (in_migration(self) < 0) {
        return NULL;
    }
    if (!realm_schema_rename_property(self->handle, self->target, class, old, new)) {
        raise_engine(self->state, "renaming %s.%s", class, old);
        return NULL;
    }
    if (realm_bind_again(self) < 0) return NULL;
    Py_RETURN_NONE;
}

PyObject *realm_rename_class(Realm *self, PyObject *args) {
    const char *old, *new;
    if (!arguments_read(self->state, args, "ss:_rename_class", &old, &new)) return NULL;
    if (in_migration(self) < 0) {
        return NULL;
    }
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
    if (!arguments_read(self->state, args, "s:_delete_class", &class)) return NULL;
    if (in_migration(self) < 0) {
        return NULL;
    }
    if (realm_remove_table(self->handle, class, &deleted)) return PyBool_FromLong(deleted);
    raise_engine(self->state, "deleting class %s", class);
    return NULL;
}

PyObject *realm_delete_objects_of(Realm *self, PyObject *args) {
    const char *class;
    if (!arguments_read(self->state, args, "s:_delete_objects_of", &class)) return NULL;
    if (in_migration(self) < 0) {
        return NULL;
    }
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
    PyObject *tuple, *number, *name;
    size_t count;
    realm_schema_mode_e mode;
    if (!arguments_read(self->state, args, "OOO:_preview", &tuple, &number, &name)) return NULL;
    unsigned long long version = PyLong_AsUnsignedLongLong(number);
    if (PyErr_Occurred() || schema_mode_named(self->state, name, &mode) < 0) return NULL;
    if (realm_ready(self) < 0) return NULL;
    Model **models = models_of_tuple(self->state, tuple, &count);
    realm_schema_t *schema = models ? schema_from_models(self->state, models, count) : NULL;
    PyMem_Free(models);
    PyObject *list = schema ? PyList_New(0) : NULL, *refusal = NULL;
    bool changes = false, done = false;
    if (list) {
        done = realm_preview_schema(self->handle, schema, version, mode, add_difference,
                                    &list, &changes);
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
    if (!arguments_read(self->state, args, "OOO:_rehearse", &tuple, &number,
                        &function)) {
        return NULL;
    }
    unsigned long long version = PyLong_AsUnsignedLongLong(number);
    if (PyErr_Occurred()) return NULL;
    if (realm_ready(self) < 0) return NULL;
    Model **models = models_of_tuple(self->state, tuple, &count);
    realm_schema_t *schema = models ? schema_from_models(self->state, models, count) : NULL;
    if (!schema) {
        PyMem_Free(models);
        return NULL;
    }
    Opening opening = {.state = self->state, .type = TYPE_OF(self), .path = self->path,
                       .migrate = function, .models = models, .count = count};
    PyObject *owner = Py_NewRef((PyObject *)self);
    bool done;
    self->busy++;
    ENGINE_CALLS_BACK
    done = realm_begin_write(self->handle) &&
           realm_update_schema_advanced(self->handle, schema, version,
                                        function == Py_None ? NULL : migration_run, &opening,
                                        NULL, NULL, true) &&
           realm_rollback(self->handle);
    ENGINE_CALLED
    self->busy--;
    if (opening_raise(&opening)) done = false;
    else if (!done) raise_engine(self->state, "migrating %R", self->path);
    realm_release(schema);
    PyMem_Free(models);
    Py_DECREF(owner);
    if (!done) return NULL;
    Py_RETURN_NONE;
}
