/* realm._realm.Dictionary: the dictionary of a stored object, from text to values. What can be
 * built on this is in realm/_collections.py. */
#include "objects/objects.h"

/* A key to look for: 1 when there can be one, 0 when not, -1 with an exception. */
static int key_to_find(Collection *self, PyObject *key, realm_value_t *out) {
    if (collection_ready(self) < 0) return -1;
    /* As Python's own dictionaries, which hash what they look for. */
    if (!PyUnicode_Check(key)) {
        bool has_hash = PyObject_Hash(key) != -1 || !PyErr_Occurred();
        return has_hash ? 0 : misunderstood(self->realm->state);
    }
    if (key_from_python(self->property, key, out) == 0) return 1;
    if (!PyErr_ExceptionMatches(PyExc_OverflowError)) return -1;
    PyErr_Clear();
    return 0;
}

/* A key to store something at: in a value of any type, every text. */
static int key_to_store(Collection *self, PyObject *key, realm_value_t *out) {
    bool is_property =
        !self->outer && self->property->collection == RLM_COLLECTION_TYPE_DICTIONARY;
    if (is_property && key_check(self->property, key) < 0) return -1;
    return key_from_python(self->property, key, out);
}

static int raise_missing(Collection *self, PyObject *key) {
    PyObject *text = short_repr(key);
    if (text) {
        collection_raise_code(self, RLM_ERR_NO_SUCH_OBJECT, " has no key %U", text);
        Py_DECREF(text);
    }
    return -1;
}

static PyObject *dictionary_subscript(Collection *self, PyObject *key) {
    realm_value_t name, value;
    bool found = false;
    int possible = key_to_find(self, key, &name);
    if (possible < 0) return NULL;
    if (possible == 0) {
        /* One that is gone says so whatever it is asked. */
        if (collection_length(self) >= 0) raise_missing(self, key);
        return NULL;
    }
    if (!realm_dictionary_find(self->handle, name, &value, &found)) {
        collection_raise(self);
        return NULL;
    }
    if (found) return collection_value(self, 0, &name, &value);
    raise_missing(self, key);
    return NULL;
}

static int dictionary_assign(Collection *self, PyObject *key, PyObject *value) {
    Place place = {.kind = PLACE_KEY, .handle = self->handle};
    bool erased = false;
    if (collection_ready(self) < 0) return -1;
    if (value) {
        if (key_to_store(self, key, &place.name) < 0) return -1;
        return collection_put(self, &place, value);
    }
    int possible = key_to_find(self, key, &place.name);
    if (possible < 0) return -1;
    if (possible == 0) return raise_missing(self, key);
    bool there = false;
    if (!realm_dictionary_contains_key(self->handle, place.name, &there)) {
        collection_raise(self);
        return -1;
    }
    if (!there && collection_length(self) < 0) return -1;
    if (!there && realm_is_writable(self->realm->handle)) return raise_missing(self, key);
    if (realm_dictionary_erase(self->handle, place.name, &erased)) {
        return erased ? 0 : raise_missing(self, key);
    }
    collection_raise(self);
    return -1;
}

/* What is given for a key, checked; what is at its place already stays. Getting it may run any code. */
static PyObject *checked_value(Collection *self, PyObject *key, PyObject *value) {
    Property *property = self->property;
    Place place = {.kind = PLACE_KEY, .handle = self->handle};
    if (key_to_store(self, key, &place.name) < 0) return NULL;
    if (collection_is_at(self->realm, &place, value) ||
        embedded_is_at(self->realm, &place, value)) {
        return Py_NewRef(value);
    }
    return property->type == RLM_PROPERTY_TYPE_MIXED && is_nested(property->state, value)
               ? nested_element(self, &place, value)
               : element_normalised(property, self->realm, value, true);
}

/* Sets the values of all keys of a dict. */
static PyObject *dictionary_put_all(Collection *self, PyObject *content) {
    State *state = self->realm->state;
    Batch batch;
    if (collection_ready(self) < 0) return NULL;
    PyObject *keys = PyDict_Keys(content), *values = keys ? PyDict_Values(content) : NULL;
    int bad = values ? 0 : -1;
    for (Py_ssize_t i = 0; !bad && i < PyList_Size(values); i++) {
        PyObject *key = PyList_GetItem(keys, i);
        PyObject *value = checked_value(self, key, PyList_GetItem(values, i));
        /* What is wrong within a list or dict says so from here on. */
        if (!value && !is_nested(state, PyList_GetItem(values, i))) note_key(state, key);
        bad = value ? PyList_SetItem(values, i, value) : -1;
    }
    if (!bad) bad = batch_begin_elements(&batch, self, values);
    if (!bad) {
        for (Py_ssize_t i = 0; !bad && i < PyList_Size(values); i++) {
            PyObject *key = PyList_GetItem(keys, i);
            bad = dictionary_assign(self, key, PyList_GetItem(values, i));
            if (bad) note_key(state, key);
        }
        bad = batch_end(&batch, bad);
    }
    Py_XDECREF(keys);
    Py_XDECREF(values);
    if (bad) return NULL;
    Py_RETURN_NONE;
}

static int dictionary_contains(Collection *self, PyObject *key) {
    realm_value_t name;
    bool found = false;
    int possible = key_to_find(self, key, &name);
    if (possible < 0 || collection_length(self) < 0) return -1;
    if (possible == 0) return 0;
    if (realm_dictionary_contains_key(self->handle, name, &found)) return found;
    collection_raise(self);
    return -1;
}

static PyObject *dictionary_get(Collection *self, PyObject *args) {
    realm_value_t name, value;
    PyObject *key, *otherwise;
    bool found = false;
    if (!arguments_read(self->realm->state, args, "OO:_get", &key, &otherwise)) return NULL;
    int possible = key_to_find(self, key, &name);
    if (possible < 0 || (possible == 0 && collection_length(self) < 0)) return NULL;
    if (possible && !realm_dictionary_find(self->handle, name, &value, &found)) {
        collection_raise(self);
        return NULL;
    }
    return found ? collection_value(self, 0, &name, &value) : Py_NewRef(otherwise);
}

static PyObject *dictionary_walk_values(Collection *self, PyObject *unused) {
    (void)unused;
    return collection_walk(self, WALK_VALUES);
}

static PyObject *dictionary_walk_items(Collection *self, PyObject *unused) {
    (void)unused;
    return collection_walk(self, WALK_ITEMS);
}

static PyObject *dictionary_has_value(Collection *self, PyObject *value) {
    int there = collection_contains(self, value);
    return there < 0 ? NULL : PyBool_FromLong(there);
}

/* The last key, None if there is none. */
static PyObject *dictionary_last_key(Collection *self, PyObject *unused) {
    (void)unused;
    Py_ssize_t count = collection_length(self);
    if (count < 0) return NULL;
    if (count == 0) Py_RETURN_NONE;
    PyObject *key = NULL;
    PyObject *value = collection_element(self, (size_t)count - 1, &key);
    if (!value) return NULL;
    Py_DECREF(value);
    return key;
}

static PyMethodDef dictionary_methods[] = {
    {"clear", (PyCFunction)collection_clear, METH_NOARGS, "Removes all keys with their values."},
    {"_put_all", (PyCFunction)dictionary_put_all, METH_O, NULL},
    {"_get", (PyCFunction)dictionary_get, METH_VARARGS, NULL},
    {"_walk_values", (PyCFunction)dictionary_walk_values, METH_NOARGS, NULL},
    {"_walk_items", (PyCFunction)dictionary_walk_items, METH_NOARGS, NULL},
    {"_has_value", (PyCFunction)dictionary_has_value, METH_O, NULL},
    {"_last_key", (PyCFunction)dictionary_last_key, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};

static PyType_Slot dictionary_slots[] = {
    {Py_tp_doc, "The dictionary of a stored object."},
    {Py_tp_new, collection_new},
    {Py_tp_dealloc, collection_dealloc},
    {Py_tp_traverse, collection_traverse},
    {Py_tp_iter, collection_iterate},
    {Py_sq_contains, dictionary_contains},
    {Py_mp_length, collection_length},
    {Py_mp_subscript, dictionary_subscript},
    {Py_mp_ass_subscript, dictionary_assign},
    {Py_tp_methods, dictionary_methods},
    {Py_tp_getset, collection_getset},
    {0, NULL}};

PyType_Spec dictionary_spec = {
    .name = "realm._realm.Dictionary",
    .basicsize = sizeof(Collection),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = dictionary_slots,
};
