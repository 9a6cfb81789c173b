/* Rows: the values of one object between Python and the engine.
 *
 * First everything is converted, then the engine makes the object with all values, or changes one:
 * wholly or not at all. What is more than values goes through tree.c. */
#include "binding.h"

#include <string.h>

int row_open(Row *row, Binding *binding) {
    size_t count = binding->model->count;
    row->binding = binding;
    row->count = 0;
    row->existing = NULL;
    if (count <= INLINE_PROPERTIES) {
        memset(row->inline_items, 0, count * sizeof *row->inline_items);
        memset(row->inline_defaults, 0, count * sizeof *row->inline_defaults);
        row->items = row->inline_items;
        row->defaults = row->inline_defaults;
        row->keys = row->inline_keys;
        row->values = row->inline_values;
        row->keeps = row->inline_keeps;
        return 0;
    }
    row->items = PyMem_Calloc(count, sizeof *row->items);
    row->defaults = PyMem_Calloc(count, sizeof *row->defaults);
    row->keys = PyMem_Calloc(count, sizeof *row->keys);
    row->values = PyMem_Calloc(count, sizeof *row->values);
    row->keeps = PyMem_Calloc(count, sizeof *row->keeps);
    if (row->items && row->defaults && row->keys && row->values && row->keeps) return 0;
    PyErr_NoMemory();
    return -1;
}

void row_close(Row *row) {
    size_t count = row->binding->model->count;
    if (row->existing) realm_release_handle(row->binding->realm, row->existing);
    if (row->items) {
        for (size_t i = 0; i < count; i++) Py_CLEAR(row->items[i]);
    }
    for (size_t i = 0; i < row->count; i++) Py_CLEAR(row->keeps[i]);
    if (count > INLINE_PROPERTIES) {
        PyMem_Free(row->items);
        PyMem_Free(row->defaults);
        PyMem_Free(row->keys);
        PyMem_Free(row->values);
        PyMem_Free(row->keeps);
    }
}

int row_give(Row *row, Py_ssize_t index, PyObject *value) {
    if (index < 0) return -1;
    replace_reference(&row->items[index], Py_NewRef(value));
    return 0;
}

int row_give_dict(Row *row, PyObject *mapping) {
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

/* Whether a collection of a new object needs nothing to be done: it starts empty. */
static bool is_empty(Property *property, PyObject *content) {
    bool fits = property->collection == RLM_COLLECTION_TYPE_DICTIONARY
                    ? PyDict_Check(content)
                    : PyList_Check(content) || PyAnySet_Check(content);
    return (fits || PyTuple_Check(content)) && PyObject_Size(content) == 0;
}

/* Whether values are all that there is: no collections, no other objects. */
static bool is_plain(Row *row) {
    Model *model = row->binding->model;
    for (size_t i = 0; i < model->count; i++) {
        Property *property = model->properties[i];
        if (!row->items[i]) continue;
        if (property->collection ? row->existing || !is_empty(property, row->items[i])
                                 : brings_objects(property, row->binding->targets[i],
                                                  row->items[i])) {
            return false;
        }
    }
    return true;
}

/* Converts the items of a plain row other than the primary key. */
static int row_convert(Row *row) {
    Model *model = row->binding->model;
    for (size_t i = 0; i < model->count; i++) {
        size_t n = row->count;
        Property *property = model->properties[i];
        if (!row->items[i] || (Py_ssize_t)i == model->primary || property->collection) continue;
        if (value_for_property(property, row->binding->realm, row->items[i], &row->values[n],
                               &row->keeps[n]) < 0) {
            Py_CLEAR(row->keeps[n]);
            return -1;
        }
        row->keys[n] = row->binding->keys[i];
        row->count = n + 1;
    }
    return 0;
}

int row_complete(Row *row, PyObject **missing) {
    Model *model = row->binding->model;
    for (size_t i = 0; i < model->count; i++) {
        if (row->items[i]) continue;
        Property *property = model->properties[i];
        row->items[i] = property_default(property);
        row->defaults[i] = row->items[i] != NULL;
        if (row->items[i]) continue;
        if (PyErr_Occurred()) return -1;
        /* The engine starts collections empty. */
        if (property->collection) continue;
        if (property->flags & RLM_PROPERTY_NULLABLE) {
            /* The engine starts nullable properties as null; the key alone has to be told. */
            if ((Py_ssize_t)i == model->primary) row->items[i] = Py_NewRef(Py_None);
            continue;
        }
        if (missing && *missing) continue;
        PyObject *text = PyUnicode_FromFormat(
            "creating %s needs a value for %U, which is %s and has no default", model->text,
            property->name, property_type_name(property->type));
        if (!text) return -1;
        if (missing) {
            *missing = text;
            continue;
        }
        raise_code(model->state, RLM_ERR_MISSING_PROPERTY_VALUE, "%U", text);
        Py_DECREF(text);
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

/* The value of the primary key. */
static int row_key(Row *row, realm_value_t *key, PyObject **keep) {
    Model *model = row->binding->model;
    return value_for_property(model->properties[model->primary], NULL, row->items[model->primary],
                              key, keep);
}

int row_find(Row *row, int update) {
    Model *model = row->binding->model;
    Realm *realm = row->binding->realm;
    realm_value_t key;
    PyObject *keep = NULL;
    if (update == UPDATE_ERROR || model->primary < 0 || !row->items[model->primary]) return 0;
    int bad = row_key(row, &key, &keep);
    if (!bad) {
        realm_clear_last_error();
        row->existing = realm_object_find_with_primary_key(
            realm->handle, row->binding->class_key, key, NULL);
        if (!row->existing && realm_get_last_error(NULL)) {
            raise_engine(model->state, "finding %s", model->text);
            bad = -1;
        }
    }
    Py_XDECREF(keep);
    return bad;
}

void row_raise(Row *row) {
    Model *model = row->binding->model;
    const char *doing = row->existing ? "updating" : "creating";
    PyObject *key = model->primary < 0 ? NULL : row->items[model->primary];
    if (PyErr_Occurred()) return;
    PyObject *text = key ? short_repr(key) : NULL;
    if (text) {
        raise_engine(model->state, "%s %s with %U = %U", doing, model->text,
                     model->properties[model->primary]->name, text);
    } else {
        raise_engine(model->state, "%s %s", doing, model->text);
    }
    Py_XDECREF(text);
}

/* Writes a plain row to the object that is there: all of its values, or none. */
static realm_object_t *row_update(Row *row, int update) {
    Realm *realm = row->binding->realm;
    realm_object_t *handle = row->existing;
    Batch batch;
    bool done = update != UPDATE_MODIFIED || row_keep_modified(row, handle) == 0;
    if (done && row->count == 1) {
        done = realm_set_values(handle, 1, row->keys, row->values, false);
    } else if (done && row->count > 1) {
        if (batch_begin(&batch, realm) < 0) return NULL;
        done = realm_set_values(handle, row->count, row->keys, row->values, false);
        if (!done) row_raise(row);
        done = batch_end(&batch, done ? 0 : -1) == 0;
    }
    if (!done) {
        row_raise(row);
        return NULL;
    }
    row->existing = NULL;
    return handle;
}

/* Stores a plain row; NULL with an exception and no row left behind. */
static realm_object_t *row_store(Row *row, int update) {
    Model *model = row->binding->model;
    realm_object_t *handle = NULL;
    realm_value_t key;
    PyObject *keep = NULL;
    if (row_convert(row) < 0) return NULL;
    if (row->existing) return row_update(row, update);
    if (model->primary < 0 || row_key(row, &key, &keep) == 0) {
        handle = realm_object_create_with_values(row->binding->realm->handle,
                                                 row->binding->class_key,
                                                 model->primary < 0 ? NULL : &key, row->count,
                                                 row->keys, row->values);
    }
    Py_XDECREF(keep);
    if (!handle) row_raise(row);
    return handle;
}

realm_object_t *row_create(Row *row, Object *adopted, int update) {
    if (row_find(row, update) < 0) return NULL;
    if (!row->existing && row_complete(row, NULL) < 0) return NULL;
    return is_plain(row) ? row_store(row, update) : tree_create(row, adopted, update);
}
