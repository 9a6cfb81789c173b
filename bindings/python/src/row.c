/* Rows: the values of one object between Python and the engine.
 *
 * First everything is converted, then the row is made, then the values are set in one call: an
 * object that fails its checks leaves no row behind. */
#include "binding.h"

#include <string.h>

int row_open(Row *row, Binding *binding) {
    size_t count = binding->model->count;
    row->binding = binding;
    row->count = 0;
    row->later = 0;
    row->existing = row->nested = row->brings = false;
    row->before = NULL;
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

void row_close(Row *row) {
    size_t count = row->binding->model->count;
    Py_CLEAR(row->before);
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

/* Whether an element brings objects: putting those may still fail when others are stored. */
static bool elements_bring(Property *property, Binding *target, PyObject *content) {
    if (property->type != RLM_PROPERTY_TYPE_OBJECT || PyObject_Size(content) == 0) return false;
    PyObject *elements =
        PyDict_Check(content) ? PyDict_Values(content) : PySequence_List(content);
    /* Without memory to look, the worst is assumed. */
    bool brings = !elements;
    for (Py_ssize_t i = 0; !brings && i < PyList_Size(elements); i++) {
        brings = brings_objects(property, target, PyList_GetItem(elements, i));
    }
    Py_XDECREF(elements);
    PyErr_Clear();
    return brings;
}

/* Converts the given items other than the primary key; collections and what brings new objects are
 * checked here and set later. */
int row_convert(Row *row) {
    Model *model = row->binding->model;
    Realm *realm = row->binding->realm;
    for (size_t i = 0; i < model->count; i++) {
        PyObject *item = row->items[i];
        Property *property = model->properties[i];
        size_t n = row->count;
        if (!item || (Py_ssize_t)i == model->primary) continue;
        if (property->collection) {
            /* Checked before there is a row; put into it later. */
            PyObject *content = collection_normalised(property, realm, item, true);
            if (!content) return -1;
            replace_reference(&row->items[i], content);
            if (row->existing || PyObject_Size(content) > 0) row->later++;
            if (elements_bring(property, row->binding->targets[i], content)) row->brings = true;
            continue;
        }
        if (brings_objects(property, row->binding->targets[i], item)) {
            PyObject *checked = element_normalised(property, realm, item, true);
            if (!checked) return -1;
            replace_reference(&row->items[i], checked);
            row->later++;
            if (property->type == RLM_PROPERTY_TYPE_OBJECT) row->brings = true;
            continue;
        }
        if (value_for_property(property, realm, item, &row->values[n], &row->keeps[n]) < 0) {
            Py_CLEAR(row->keeps[n]);
            return -1;
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
        /* The engine starts collections empty. */
        if (property->collection) continue;
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
            row->existing = true;
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
realm_object_t *row_store(Row *row, int update, bool *created) {
    Model *model = row->binding->model;
    realm_object_t *handle = row_handle(row, update, created);
    if (!handle) return NULL;
    bool done = true;
    if (!*created && (row->nested || row->brings)) {
        char *text = realm_object_to_json(handle, 0, RLM_JSON_EXTENDED);
        if (text) row->before = PyBytes_FromString(text);
        realm_free(text);
        done = row->before != NULL;
    }
    if (done && !*created && update == UPDATE_MODIFIED) done = row_keep_modified(row, handle) == 0;
    if (done && row->count) {
        done = realm_set_values(handle, row->count, row->keys, row->values, false);
    }
    if (done) return handle;
    if (!PyErr_Occurred()) {
        raise_engine(model->state, *created ? "creating %s" : "updating %s", model->text);
    }
    if (*created) realm_object_delete(handle);
    realm_release_handle(row->binding->realm, handle);
    if (row->before) object_put_back(row->binding->realm, row->binding, row->before);
    return NULL;
}
