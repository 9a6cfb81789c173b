/* Objects of a realm: create, add, find, delete.
 *
 * Creating and adding share one idea. First everything is converted, then the row is made, then
 * the values are set in one call: an object that fails its checks leaves no row behind. Links to
 * objects that are in no realm yet come last, when both ends have a row; that also lets graphs
 * with cycles in. The graph is walked with a list, not by recursion: its depth is the user's. */
#include "binding.h"

#include <string.h>

enum { UPDATE_ERROR = 0, UPDATE_ALL = 1, UPDATE_MODIFIED = 2 };

#define INLINE_PROPERTIES 24

/* The values of one object on their way into the engine. */
typedef struct {
    Binding *binding;
    size_t count;                 /* entries of keys, values and keeps */
    size_t later;                 /* links to objects that have no row yet */
    PyObject **items;             /* per property of the model, owned; NULL where not given */
    realm_property_key_t *keys;
    realm_value_t *values;
    PyObject **keeps;
    PyObject *inline_items[INLINE_PROPERTIES];
    realm_property_key_t inline_keys[INLINE_PROPERTIES];
    realm_value_t inline_values[INLINE_PROPERTIES];
    PyObject *inline_keeps[INLINE_PROPERTIES];
} Row;

static int row_open(Row *row, Binding *binding) {
    size_t count = binding->model->count;
    row->binding = binding;
    row->count = 0;
    row->later = 0;
    if (count <= INLINE_PROPERTIES) {
        memset(row->inline_items, 0, count * sizeof *row->inline_items);
        row->items = row->inline_items;
        row->keys = row->inline_keys;
        row->values = row->inline_values;
        row->keeps = row->inline_keeps;
        return 0;
    }
    row->items = PyMem_Calloc(count, sizeof *row->items);
    row->keys = PyMem_Calloc(count, sizeof *row->keys);
    row->values = PyMem_Calloc(count, sizeof *row->values);
    row->keeps = PyMem_Calloc(count, sizeof *row->keeps);
    if (row->items && row->keys && row->values && row->keeps) return 0;
    PyErr_NoMemory();
    return -1;
}

static void row_close(Row *row) {
    size_t count = row->binding->model->count;
    if (row->items) {
        for (size_t i = 0; i < count; i++) Py_CLEAR(row->items[i]);
    }
    for (size_t i = 0; i < row->count; i++) Py_CLEAR(row->keeps[i]);
    if (count > INLINE_PROPERTIES) {
        PyMem_Free(row->items);
        PyMem_Free(row->keys);
        PyMem_Free(row->values);
        PyMem_Free(row->keeps);
    }
}

static int row_give(Row *row, Py_ssize_t index, PyObject *value) {
    if (index < 0) return -1;
    replace_reference(&row->items[index], Py_NewRef(value));
    return 0;
}

static bool is_unmanaged(State *state, PyObject *value) {
    return PyObject_TypeCheck(value, state->object_type) && !((Object *)value)->handle;
}

/* Converts the given items other than the primary key; links to unmanaged objects are checked
 * here and set later. */
static int row_convert(Row *row) {
    Model *model = row->binding->model;
    Realm *realm = row->binding->realm;
    for (size_t i = 0; i < model->count; i++) {
        PyObject *item = row->items[i];
        Property *property = model->properties[i];
        size_t n = row->count;
        if (!item || (Py_ssize_t)i == model->primary) continue;
        bool later = property->type == RLM_PROPERTY_TYPE_OBJECT &&
                     is_unmanaged(model->state, item);
        int bad = value_for_property(property, later ? NULL : realm, item, &row->values[n],
                                     &row->keeps[n]);
        if (bad < 0) {
            Py_CLEAR(row->keeps[n]);
            return -1;
        }
        if (later) {
            row->later++;
            continue;
        }
        row->keys[n] = row->binding->keys[i];
        row->count = n + 1;
    }
    return 0;
}

/* Fills in defaults for a row that will be new; raises when a required value is missing. */
static int row_complete(Row *row) {
    Model *model = row->binding->model;
    for (size_t i = 0; i < model->count; i++) {
        if (row->items[i]) continue;
        Property *property = model->properties[i];
        row->items[i] = property_default(property);
        if (row->items[i]) continue;
        if (PyErr_Occurred()) return -1;
        if (property->flags & RLM_PROPERTY_NULLABLE) {
            /* The engine starts nullable properties as null; the key alone has to be told. */
            if ((Py_ssize_t)i == model->primary) row->items[i] = Py_NewRef(Py_None);
            continue;
        }
        raise_code(model->state, RLM_ERR_MISSING_PROPERTY_VALUE,
                   "creating %s needs a value for %U, which is %s and has no default",
                   model->text, property->name, property_type_name(property->type));
        return -1;
    }
    return 0;
}

static bool same_value(const realm_value_t *a, const realm_value_t *b) {
    if (a->type != b->type) return false;
    switch (a->type) {
    case RLM_TYPE_NULL: return true;
    case RLM_TYPE_INT: return a->integer == b->integer;
    case RLM_TYPE_BOOL: return a->boolean == b->boolean;
    case RLM_TYPE_STRING:
        return a->string.size == b->string.size &&
               memcmp(a->string.data, b->string.data, a->string.size) == 0;
    case RLM_TYPE_BINARY:
        return a->binary.size == b->binary.size &&
               memcmp(a->binary.data, b->binary.data, a->binary.size) == 0;
    case RLM_TYPE_TIMESTAMP:
        return a->timestamp.seconds == b->timestamp.seconds &&
               a->timestamp.nanoseconds == b->timestamp.nanoseconds;
    /* Floats by their bits: writing 0.0 over -0.0 is a change, NaN over the same NaN is none. */
    case RLM_TYPE_FLOAT: return memcmp(&a->fnum, &b->fnum, sizeof a->fnum) == 0;
    case RLM_TYPE_DOUBLE: return memcmp(&a->dnum, &b->dnum, sizeof a->dnum) == 0;
    case RLM_TYPE_DECIMAL128: return memcmp(&a->decimal128, &b->decimal128, 16) == 0;
    case RLM_TYPE_OBJECT_ID: return memcmp(&a->object_id, &b->object_id, 12) == 0;
    case RLM_TYPE_UUID: return memcmp(&a->uuid, &b->uuid, 16) == 0;
    case RLM_TYPE_LINK:
        return a->link.target_table == b->link.target_table && a->link.target == b->link.target;
    default: return false;
    }
}

/* Drops the entries that the stored object has already. */
static int row_keep_modified(Row *row, realm_object_t *handle) {
    size_t kept = 0;
    for (size_t i = 0; i < row->count; i++) {
        realm_value_t stored;
        if (!realm_get_value(handle, row->keys[i], &stored)) return -1;
        if (same_value(&stored, &row->values[i])) {
            Py_CLEAR(row->keeps[i]);
            continue;
        }
        row->keys[kept] = row->keys[i];
        row->values[kept] = row->values[i];
        PyObject *keep = row->keeps[i];
        row->keeps[i] = NULL;
        row->keeps[kept++] = keep;
    }
    row->count = kept;
    return 0;
}

/* The row of the object: found by primary key where `update` allows, else new. */
static realm_object_t *row_handle(Row *row, int update, bool *created) {
    Model *model = row->binding->model;
    Realm *realm = row->binding->realm;
    State *state = model->state;
    realm_object_t *handle = NULL;
    realm_value_t key;
    PyObject *keep = NULL;
    *created = true;
    if (model->primary < 0) {
        if (row_complete(row) < 0 || row_convert(row) < 0) return NULL;
        handle = realm_object_create(realm->handle, row->binding->class_key);
        if (!handle) raise_engine(state, "creating %s", model->text);
        return handle;
    }
    Property *property = model->properties[model->primary];
    if (update != UPDATE_ERROR && row->items[model->primary]) {
        if (value_for_property(property, NULL, row->items[model->primary], &key, &keep) < 0) {
            goto done;
        }
        realm_clear_last_error();
        handle = realm_object_find_with_primary_key(realm->handle, row->binding->class_key, key,
                                                    NULL);
        Py_CLEAR(keep);
        if (handle) {
            *created = false;
            if (row_convert(row) == 0) return handle;
            realm_release_handle(realm, handle);
            return NULL;
        }
        if (realm_get_last_error(NULL)) {
            raise_engine(state, "finding %s", model->text);
            return NULL;
        }
    }
    if (row_complete(row) < 0 || row_convert(row) < 0 ||
        value_for_property(property, NULL, row->items[model->primary], &key, &keep) < 0) {
        goto done;
    }
    handle =
        realm_object_create_with_primary_key(realm->handle, row->binding->class_key, key);
    if (!handle) {
        PyObject *text = short_repr(row->items[model->primary]);
        if (text) raise_engine(state, "creating %s with %U = %U", model->text, property->name, text);
        Py_XDECREF(text);
    }
done:
    Py_XDECREF(keep);
    return handle;
}

/* Makes or finds the row and sets its values; NULL with an exception and no row left behind. */
static realm_object_t *row_store(Row *row, int update, bool *created) {
    Model *model = row->binding->model;
    realm_object_t *handle = row_handle(row, update, created);
    if (!handle) return NULL;
    bool done = true;
    if (!*created && update == UPDATE_MODIFIED) done = row_keep_modified(row, handle) == 0;
    if (done && row->count) {
        done = realm_set_values(handle, row->count, row->keys, row->values, false);
    }
    if (done) return handle;
    raise_engine(model->state, *created ? "creating %s" : "updating %s", model->text);
    if (*created) realm_object_delete(handle);
    realm_release_handle(row->binding->realm, handle);
    return NULL;
}

static int update_policy(PyObject *name) {
    if (!name || (PyUnicode_Check(name) &&
                  PyUnicode_CompareWithASCIIString(name, "error") == 0)) return UPDATE_ERROR;
    if (PyUnicode_Check(name)) {
        if (PyUnicode_CompareWithASCIIString(name, "all") == 0) return UPDATE_ALL;
        if (PyUnicode_CompareWithASCIIString(name, "modified") == 0) return UPDATE_MODIFIED;
    }
    PyErr_Format(PyExc_ValueError, "update is 'error', 'all' or 'modified', not %R", name);
    return -1;
}

/* ---- graphs of unmanaged objects ------------------------------------------------------------ */

static int set_link(Realm *self, realm_object_t *handle, Binding *binding, Property *property,
                    PyObject *target) {
    realm_value_t value;
    PyObject *keep;
    if (value_for_property(property, self, target, &value, &keep) < 0) return -1;
    if (realm_set_value(handle, binding->keys[property->index], value, false)) return 0;
    raise_engine(self->state, "%s.%U", property->model->text, property->name);
    return -1;
}

typedef struct {
    bool created;  /* the row is new */
    bool linked;   /* no link is left to be set */
} Adoption;

/* Gives one object its row. Its Python values stay, for the links and for going back. */
static int adopt_one(Realm *self, Object *object, int update, Adoption *adoption) {
    Model *model = object->model;
    Binding *binding = realm_binding(self, model);
    Row row;
    realm_object_t *handle = NULL;
    if (!binding) return -1;
    if (row_open(&row, binding) == 0) {
        for (size_t i = 0; i < model->count; i++) row.items[i] = Py_XNewRef(object->values[i]);
        handle = row_store(&row, update, &adoption->created);
    }
    adoption->linked = row.later == 0;
    row_close(&row);
    if (!handle) return -1;
    object->realm = (Realm *)Py_NewRef((PyObject *)self);
    object->binding = binding;
    object->handle = handle;
    object->key = realm_object_get_key(handle);
    return 0;
}

static void free_values(Object *object) {
    PyObject **values = object->values;
    object->values = NULL;
    if (!values) return;
    for (size_t i = 0; i < object->model->count; i++) Py_CLEAR(values[i]);
    PyMem_Free(values);
}

static void unadopt(Object *object, bool created) {
    if (created) realm_object_delete(object->handle);
    realm_release_handle(object->realm, object->handle);
    object->handle = NULL;
    object->binding = NULL;
    Py_CLEAR(object->realm);
}

/* Appends the object, whether its row is new, and whether its links are set already. */
static int queue_adoption(PyObject *queue, Object *object, const Adoption *adoption) {
    if (PyList_Append(queue, (PyObject *)object) == 0 &&
        PyList_Append(queue, adoption->created ? Py_True : Py_False) == 0 &&
        PyList_Append(queue, adoption->linked ? Py_True : Py_False) == 0) {
        return 0;
    }
    return -1;
}

static int adopt_into(Realm *self, PyObject *queue, Object *object, int update) {
    Adoption adoption;
    if (adopt_one(self, object, update, &adoption) < 0) return -1;
    return queue_adoption(queue, object, &adoption);
}

int realm_adopt(Realm *self, Object *root, int update) {
    Adoption adoption;
    if (adopt_one(self, root, update, &adoption) < 0) return -1;
    if (adoption.linked) {
        free_values(root);
        return 0;
    }
    PyObject *queue = PyList_New(0);
    if (!queue) return -1;
    int bad = queue_adoption(queue, root, &adoption);
    for (Py_ssize_t i = 0; !bad && i < PyList_Size(queue); i += 3) {
        Object *object = (Object *)PyList_GetItem(queue, i);
        Model *model = object->model;
        if (PyList_GetItem(queue, i + 2) == Py_True) continue;
        for (size_t j = 0; !bad && j < model->count; j++) {
            PyObject *value = object->values[j];
            if (model->properties[j]->type != RLM_PROPERTY_TYPE_OBJECT || !value ||
                !PyObject_TypeCheck(value, self->state->object_type)) {
                continue;
            }
            if (!((Object *)value)->handle) {
                bad = adopt_into(self, queue, (Object *)value, update);
            }
            if (!bad) {
                bad = set_link(self, object->handle, object->binding, model->properties[j],
                               value);
            }
        }
    }
    /* An entry that memory did not suffice for is left out: its object stays managed. */
    for (Py_ssize_t i = PyList_Size(queue) / 3 * 3; i > 0; i -= 3) {
        Object *object = (Object *)PyList_GetItem(queue, i - 3);
        if (bad) unadopt(object, PyList_GetItem(queue, i - 2) == Py_True);
        else free_values(object);
    }
    Py_DECREF(queue);
    return bad;
}

/* Links of a created row to objects that had none: adopted now. */
static int link_unmanaged(Row *row, realm_object_t *handle, int update) {
    Model *model = row->binding->model;
    Realm *realm = row->binding->realm;
    for (size_t i = 0; i < model->count; i++) {
        PyObject *item = row->items[i];
        if (!item || model->properties[i]->type != RLM_PROPERTY_TYPE_OBJECT ||
            !is_unmanaged(model->state, item)) {
            continue;
        }
        if (realm_adopt(realm, (Object *)item, update) < 0 ||
            set_link(realm, handle, row->binding, model->properties[i], item) < 0) {
            return -1;
        }
    }
    return 0;
}

/* ---- methods -------------------------------------------------------------------------------- */

static int give_mapping(Row *row, PyObject *mapping) {
    PyObject *items = PyMapping_Items(mapping);
    if (!items) return -1;
    int bad = 0;
    for (Py_ssize_t i = 0; !bad && i < PyList_Size(items); i++) {
        PyObject *pair = PyList_GetItem(items, i);
        PyObject *name = PyTuple_GetItem(pair, 0);
        if (!name || !PyUnicode_Check(name)) {
            PyErr_SetString(PyExc_TypeError, "names of properties are strings");
            bad = -1;
        } else {
            bad = row_give(row, model_find(row->binding->model, name, true),
                           PyTuple_GetItem(pair, 1));
        }
    }
    Py_DECREF(items);
    return bad;
}

PyObject *realm_create(Realm *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    State *state = self->state;
    Row row;
    int update = UPDATE_ERROR;
    if (realm_ready(self) < 0) return NULL;
    if (count < 1 || count > 2) {
        PyErr_SetString(PyExc_TypeError, "create() takes a class, and values by name or as one "
                        "mapping");
        return NULL;
    }
    Binding *binding = realm_binding_of(self, args[0]);
    if (!binding) return NULL;
    Model *model = binding->model;
    PyObject *result = NULL;
    realm_object_t *handle = NULL;
    bool created = true;
    if (row_open(&row, binding) < 0) goto done;
    if (count == 2 && args[1] != Py_None && give_mapping(&row, args[1]) < 0) goto done;
    /* Most calls give the properties in order, with interned names: one comparison each. */
    Py_ssize_t named = names ? PyTuple_Size(names) : 0;
    for (Py_ssize_t i = 0; i < named; i++) {
        PyObject *name = PyTuple_GetItem(names, i);
        PyObject *value = args[count + i];
        bool expected = (size_t)i < model->count && model->properties[i]->name == name;
        if (name == state->name_update ||
            (!expected && PyUnicode_CompareWithASCIIString(name, "update") == 0)) {
            update = update_policy(value);
            if (update < 0) goto done;
        } else if (row_give(&row, expected ? i : model_find(model, name, true), value) < 0) {
            goto done;
        }
    }
    handle = row_store(&row, update, &created);
    if (!handle) goto done;
    if (link_unmanaged(&row, handle, update) < 0) {
        if (created) realm_object_delete(handle);
        realm_release_handle(self, handle);
        goto done;
    }
    result = object_wrap(binding, handle);
done:
    row_close(&row);
    return result;
}

PyObject *realm_add(Realm *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"", "update", NULL};
    PyObject *object, *policy = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!|$O:add", names, self->state->object_type,
                                     &object, &policy)) {
        return NULL;
    }
    int update = update_policy(policy);
    if (update < 0 || realm_ready(self) < 0) return NULL;
    Object *added = (Object *)object;
    if (added->handle) {
        if (added->realm == self && realm_object_is_valid(added->handle)) return Py_NewRef(object);
        raise_code(self->state,
                   added->realm == self ? RLM_ERR_INVALIDATED_OBJECT : RLM_ERR_INVALID_ARGUMENT,
                   added->realm == self ? "this %s has been deleted and can't be added again"
                                        : "this %s belongs to another realm",
                   added->model->text);
        return NULL;
    }
    if (realm_adopt(self, added, update) < 0) return NULL;
    return Py_NewRef(object);
}

PyObject *realm_find(Realm *self, PyObject *args) {
    PyObject *type, *value, *keep;
    realm_value_t key;
    if (!PyArg_ParseTuple(args, "OO:find", &type, &value)) return NULL;
    if (realm_ready(self) < 0) return NULL;
    Binding *binding = realm_binding_of(self, type);
    if (!binding) return NULL;
    Model *model = binding->model;
    if (model->primary < 0) {
        raise_code(self->state, RLM_ERR_UNEXPECTED_PRIMARY_KEY,
                   "%s has no primary key to find objects by", model->text);
        return NULL;
    }
    realm_object_t *handle = NULL;
    if (value_for_property(model->properties[model->primary], NULL, value, &key, &keep) == 0) {
        realm_clear_last_error();
        handle = realm_object_find_with_primary_key(self->handle, binding->class_key, key, NULL);
        if (!handle && realm_get_last_error(NULL)) {
            raise_engine(self->state, "finding %s", model->text);
        }
    }
    Py_XDECREF(keep);
    if (handle) return object_wrap(binding, handle);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

PyObject *realm_object_for_key(Realm *self, PyObject *args) {
    PyObject *type;
    long long key;
    if (!PyArg_ParseTuple(args, "OL:_object_for_key", &type, &key)) return NULL;
    if (realm_ready(self) < 0) return NULL;
    Binding *binding = realm_binding_of(self, type);
    if (!binding) return NULL;
    realm_object_t *handle = realm_get_object(self->handle, binding->class_key, key);
    if (handle) return object_wrap(binding, handle);
    raise_engine(self->state, "%s with key %lld", binding->model->text, key);
    return NULL;
}

PyObject *realm_delete_object(Realm *self, PyObject *value) {
    State *state = self->state;
    if (!PyObject_TypeCheck(value, state->object_type)) {
        PyErr_Format(PyExc_TypeError, "delete() takes objects of a realm, not %R", value);
        return NULL;
    }
    Object *object = (Object *)value;
    if (realm_ready(self) < 0) return NULL;
    if (object->realm != self) {
        raise_code(state, RLM_ERR_INVALID_ARGUMENT,
                   object->realm ? "this %s belongs to another realm"
                                 : "this %s is in no realm",
                   object->model->text);
        return NULL;
    }
    if (!realm_object_delete(object->handle)) {
        raise_engine(state, "deleting %s", object->model->text);
        return NULL;
    }
    Py_RETURN_NONE;
}
