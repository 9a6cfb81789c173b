/* Storing rows. First everything is converted, then the engine makes the object with all values, or
 * changes one: wholly or not at all. What is more than values goes through tree.c. */
#include "objects/objects.h"

#include <string.h>

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
