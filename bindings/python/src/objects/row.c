/* Rows: the values of one object between Python and the engine, as they are collected and completed. */
#include "objects/objects.h"

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
    State *state = row->binding->model->state;
    PyObject *items = PyMapping_Items(mapping);
    if (!items && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
        raise_code(state, MISUSE, "%s is made of values by name or as one mapping, not of %R",
                   row->binding->model->text, mapping);
    }
    if (!items) return misunderstood(state);
    int bad = 0;
    for (Py_ssize_t i = 0; !bad && i < PyList_Size(items); i++) {
        PyObject *pair = PyList_GetItem(items, i);
        PyObject *name = PyTuple_GetItem(pair, 0);
        if (!name || !PyUnicode_Check(name)) {
            raise_code(state, MISUSE, "names of properties are strings");
            bad = -1;
        } else {
            bad = row_give(row, model_find(row->binding->model, name, true),
                           PyTuple_GetItem(pair, 1));
        }
    }
    Py_DECREF(items);
    return bad;
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

/* The value of the primary key. */
int row_key(Row *row, realm_value_t *key, PyObject **keep) {
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

/* ---- objects that are there ------------------------------------------------------------------ */

int update_policy(State *state, PyObject *name) {
    if (!name || (PyUnicode_Check(name) &&
                  PyUnicode_CompareWithASCIIString(name, "error") == 0)) return UPDATE_ERROR;
    if (PyUnicode_Check(name)) {
        if (PyUnicode_CompareWithASCIIString(name, "all") == 0) return UPDATE_ALL;
        if (PyUnicode_CompareWithASCIIString(name, "modified") == 0) return UPDATE_MODIFIED;
    }
    raise_code(state, RLM_ERR_INVALID_ARGUMENT, "update is 'error', 'all' or 'modified', not %R", name);
    return -1;
}

realm_update_policy_e engine_policy(int update) {
    return update == UPDATE_ALL ? RLM_UPDATE_ALL
           : update == UPDATE_MODIFIED ? RLM_UPDATE_MODIFIED : RLM_UPDATE_NEVER;
}
