/* What lists, sets and dictionaries of stored objects have in common. They are views: they carry a
 * handle and no elements. list.c, set.c and dictionary.c are the types; the classes that users see
 * derive from these in realm/_collections.py. */
#include "objects/objects.h"

PyObject *collection_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    (void)args;
    (void)kwargs;
    State *state = state_of_type(type);
    PyObject *name = state ? PyType_GetName(type) : NULL;
    if (name) {
        raise_code(state, MISUSE,
                   "a %U comes from a property of a stored object; assign a plain collection to that", name);
        Py_DECREF(name);
    }
    return NULL;
}

int collection_traverse(Collection *self, visitproc visit, void *arg) {
    Py_VISIT(TYPE_OF(self));
    Py_VISIT(self->realm);
    Py_VISIT(self->outer);
    return 0;
}

void collection_dealloc(Collection *self) {
    PyTypeObject *type = TYPE_OF(self);
    PyObject_GC_UnTrack(self);
    if (self->handle) realm_release_handle(self->realm, self->handle);
    Py_CLEAR(self->outer);
    Py_CLEAR(self->step);
    Py_CLEAR(self->realm);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

/* ---- reading -------------------------------------------------------------------------------- */

Py_ssize_t collection_length(Collection *self) {
    size_t count = 0;
    bool done;
    if (collection_ready(self) < 0) return -1;
    switch (self->kind) {
    case RLM_COLLECTION_TYPE_LIST: done = realm_list_size(self->handle, &count); break;
    case RLM_COLLECTION_TYPE_SET: done = realm_set_size(self->handle, &count); break;
    default: done = realm_dictionary_size(self->handle, &count);
    }
    if (done) return (Py_ssize_t)count;
    collection_raise(self);
    return -1;
}

PyObject *collection_value(Collection *self, size_t index, const realm_value_t *key,
                           const realm_value_t *value) {
    if (value->type == RLM_TYPE_LIST || value->type == RLM_TYPE_DICTIONARY) {
        return nested_of_element(self, index, key, (int)value->type);
    }
    return property_to_python(self->property, self->realm, value);
}

PyObject *collection_element(Collection *self, size_t index, PyObject **key) {
    realm_value_t value, name;
    bool done;
    bool is_dictionary = self->kind == RLM_COLLECTION_TYPE_DICTIONARY;
    switch (self->kind) {
    case RLM_COLLECTION_TYPE_LIST: done = realm_list_get(self->handle, index, &value); break;
    case RLM_COLLECTION_TYPE_SET: done = realm_set_get(self->handle, index, &value); break;
    default: done = realm_dictionary_get(self->handle, index, &name, &value);
    }
    if (!done) {
        collection_raise(self);
        return NULL;
    }
    PyObject *text = NULL;
    if (key && !(text = value_to_python(self->realm->state, self->realm, &name))) return NULL;
    PyObject *result = collection_value(self, index, is_dictionary ? &name : NULL, &value);
    if (result && key) *key = text;
    else Py_XDECREF(text);
    return result;
}

Py_ssize_t collection_read(Collection *self, size_t first, size_t count, realm_value_t *keys,
                           realm_value_t *values) {
    size_t got = 0;
    bool done;
    switch (self->kind) {
    case RLM_COLLECTION_TYPE_LIST:
        done = realm_list_get_values(self->handle, first, count, values, &got);
        break;
    case RLM_COLLECTION_TYPE_SET:
        done = realm_set_get_values(self->handle, first, count, values, &got);
        break;
    default: done = realm_dictionary_get_entries(self->handle, first, count, keys, values, &got);
    }
    if (done) return (Py_ssize_t)got;
    collection_raise(self);
    return -1;
}

#define ELEMENTS_AT_ONCE 256

/* Elements one after another, read many at a time. */
static int append_run(Collection *self, PyObject *list, size_t first, size_t count) {
    realm_value_t values[ELEMENTS_AT_ONCE];
    while (count > 0) {
        size_t wanted = count < ELEMENTS_AT_ONCE ? count : ELEMENTS_AT_ONCE;
        Py_ssize_t got = collection_read(self, first, wanted, NULL, values);
        if (got < 0) return -1;
        if (got == 0) {
            collection_raise_code(self, RLM_ERR_STALE_ACCESSOR, " changed while it was read");
            return -1;
        }
        for (Py_ssize_t i = 0; i < got; i++) {
            PyObject *element = collection_value(self, first + (size_t)i, NULL, &values[i]);
            int bad = element ? PyList_Append(list, element) : -1;
            Py_XDECREF(element);
            if (bad) return -1;
        }
        first += (size_t)got;
        count -= (size_t)got;
    }
    return 0;
}

PyObject *collection_slice(Collection *self, Py_ssize_t first, Py_ssize_t step,
                           Py_ssize_t count) {
    PyObject *result = PyList_New(0);
    if (!result) return NULL;
    /* Collecting garbage can run any code, which might change what the values borrow from. */
    int collecting = PyGC_Disable();
    int bad = 0;
    if (step == 1) {
        bad = append_run(self, result, (size_t)first, (size_t)count);
    } else {
        for (Py_ssize_t i = 0; !bad && i < count; i++) {
            PyObject *element = collection_element(self, (size_t)(first + i * step), NULL);
            bad = element ? PyList_Append(result, element) : -1;
            Py_XDECREF(element);
        }
    }
    if (collecting) PyGC_Enable();
    if (bad) Py_CLEAR(result);
    return result;
}

/* Entries one after another, read many at a time. */
static int fill_dict(Collection *self, PyObject *dict, size_t count) {
    realm_value_t keys[ELEMENTS_AT_ONCE], values[ELEMENTS_AT_ONCE];
    for (size_t first = 0; first < count;) {
        Py_ssize_t got = collection_read(self, first, ELEMENTS_AT_ONCE, keys, values);
        if (got < 0) return -1;
        if (got == 0) {
            collection_raise_code(self, RLM_ERR_STALE_ACCESSOR, " changed while it was read");
            return -1;
        }
        for (Py_ssize_t i = 0; i < got; i++) {
            PyObject *key = value_to_python(self->realm->state, self->realm, &keys[i]);
            PyObject *value = key ? collection_value(self, 0, &keys[i], &values[i]) : NULL;
            int bad = value ? PyDict_SetItem(dict, key, value) : -1;
            Py_XDECREF(key);
            Py_XDECREF(value);
            if (bad) return -1;
        }
        first += (size_t)got;
    }
    return 0;
}

PyObject *collection_contents(Collection *self) {
    Py_ssize_t count = collection_length(self);
    if (count < 0) return NULL;
    if (self->kind != RLM_COLLECTION_TYPE_DICTIONARY) return collection_slice(self, 0, 1, count);
    PyObject *result = PyDict_New();
    int collecting = PyGC_Disable();
    if (result && fill_dict(self, result, (size_t)count) < 0) Py_CLEAR(result);
    if (collecting) PyGC_Enable();
    return result;
}

/* ---- finding -------------------------------------------------------------------------------- */

static bool is_number(State *state, PyObject *value) {
    return PyLong_Check(value) || PyFloat_Check(value) ||
           PyObject_TypeCheck(value, (PyTypeObject *)state->decimal_type);
}

/* In Python numbers of different types may be equal, and so may what is no number in a property of
 * numbers; the engine is asked only where its equality is Python's. */
static bool engine_compares(Property *property, PyObject *value) {
    State *state = property->state;
    if (value == Py_None) return true;
    switch (property->type) {
    case RLM_PROPERTY_TYPE_INT: return PyLong_CheckExact(value);
    case RLM_PROPERTY_TYPE_BOOL: return PyBool_Check(value);
    case RLM_PROPERTY_TYPE_STRING: return PyUnicode_CheckExact(value);
    case RLM_PROPERTY_TYPE_BINARY: return PyBytes_CheckExact(value);
    case RLM_PROPERTY_TYPE_TIMESTAMP:
    case RLM_PROPERTY_TYPE_DOUBLE:
    case RLM_PROPERTY_TYPE_FLOAT:
    case RLM_PROPERTY_TYPE_DECIMAL128: return false;
    case RLM_PROPERTY_TYPE_MIXED:
        return !is_number(state, value) &&
               (PyUnicode_CheckExact(value) || PyBytes_CheckExact(value) ||
                PyObject_TypeCheck(value, state->object_type) ||
                PyObject_TypeCheck(value, (PyTypeObject *)state->uuid_type) ||
                PyObject_TypeCheck(value, (PyTypeObject *)state->object_id_type));
    default:
        return PyObject_TypeCheck(value, state->object_type) ||
               PyObject_TypeCheck(value, (PyTypeObject *)state->uuid_type) ||
               PyObject_TypeCheck(value, (PyTypeObject *)state->object_id_type);
    }
}

static int find_by_comparing(Collection *self, PyObject *value, size_t *index) {
    for (size_t i = 0;; i++) {
        Py_ssize_t count = collection_length(self);
        if (count < 0) return -1;
        if (i >= (size_t)count) return 0;
        PyObject *element = collection_element(self, i, NULL);
        if (!element) return -1;
        int same = PyObject_RichCompareBool(element, value, Py_EQ);
        Py_DECREF(element);
        if (same < 0) return -1;
        if (same) {
            *index = i;
            return 0;
        }
    }
}

/* Sets have their elements in order: null, false, true, NaN, numbers by their value whatever their types,
 * texts, bytes, dates. Within numbers, and within dates, Python's order is the same. */
enum region { BEFORE_NUMBERS, NUMBERS, BETWEEN, DATES, BEHIND_DATES, NO_REGION };

static enum region region_of_element(const realm_value_t *element) {
    switch (element->type) {
    case RLM_TYPE_NULL:
    case RLM_TYPE_BOOL: return BEFORE_NUMBERS;
    case RLM_TYPE_INT:
    case RLM_TYPE_FLOAT:
    case RLM_TYPE_DOUBLE:
    case RLM_TYPE_DECIMAL128: return NUMBERS;
    case RLM_TYPE_STRING:
    case RLM_TYPE_BINARY: return BETWEEN;
    case RLM_TYPE_TIMESTAMP: return DATES;
    default: return BEHIND_DATES;
    }
}

/* Subclasses may compare as they like. */
static enum region region_of_value(State *state, PyObject *value) {
    PyObject *type = (PyObject *)Py_TYPE(value);
    if (PyLong_CheckExact(value) || PyFloat_CheckExact(value) || PyBool_Check(value) ||
        type == state->decimal_type) {
        return NUMBERS;
    }
    return type == state->datetime_type ? DATES : NO_REGION;
}

/* Whether the element at `index` is less than the value; or equal, with `Py_EQ`. -1: Python can't say. */
static int compare_element(Collection *self, size_t index, enum region region, PyObject *value,
                           int operation) {
    realm_value_t raw;
    if (!realm_set_get(self->handle, index, &raw)) return collection_raise(self), -1;
    enum region its = region_of_element(&raw);
    if (its != region && !(operation == Py_EQ && raw.type == RLM_TYPE_BOOL)) {
        return operation == Py_LT && its < region;
    }
    PyObject *element = value_to_python(self->realm->state, self->realm, &raw);
    if (!element) return -1;
    /* NaN is not equal to itself. */
    PyObject *equal = PyObject_RichCompare(element, element, Py_EQ);
    int result = equal ? PyObject_IsTrue(equal) : -1;
    Py_XDECREF(equal);
    if (result == 0) {
        result = operation == Py_LT;
    } else if (result > 0) {
        result = PyObject_RichCompareBool(element, value, operation);
    }
    Py_DECREF(element);
    return result;
}

/* By halving. 0: `index` says where, or SIZE_MAX; -1: Python raised something. */
static int find_in_order(Collection *self, enum region region, PyObject *value, size_t *index) {
    Py_ssize_t length = collection_length(self);
    size_t low = 0, count = length < 0 ? 0 : (size_t)length, high = count;
    if (length < 0) return -1;
    if (region == NUMBERS) {
        /* To Python true is 1, and false 0. */
        for (size_t i = 0; i < count && i < 3; i++) {
            int same = compare_element(self, i, region, value, Py_EQ);
            if (same) return *index = i, same < 0 ? -1 : 0;
        }
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int less = compare_element(self, middle, region, value, Py_LT);
        if (less < 0) return -1;
        if (less) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    int same = low < count ? compare_element(self, low, region, value, Py_EQ) : 0;
    *index = same > 0 ? low : SIZE_MAX;
    return same < 0 ? -1 : 0;
}

int collection_find(Collection *self, PyObject *value, size_t *index) {
    Property *property = self->property;
    realm_value_t converted;
    PyObject *keep = NULL;
    bool found = false, done;
    *index = SIZE_MAX;
    if (collection_length(self) < 0) return -1;
    if (value == Py_None && !(property->flags & RLM_PROPERTY_NULLABLE)) return 0;
    if (!engine_compares(property, value)) {
        enum region region = region_of_value(property->state, value);
        if (self->kind == RLM_COLLECTION_TYPE_SET && region != NO_REGION) {
            if (find_in_order(self, region, value, index) == 0) return 0;
            /* Dates with and without a time zone have no order, nor have numbers where a context forbids it. */
            if (!PyErr_ExceptionMatches(PyExc_TypeError) &&
                !PyErr_ExceptionMatches(PyExc_ArithmeticError)) {
                return -1;
            }
            PyErr_Clear();
            *index = SIZE_MAX;
        }
        return find_by_comparing(self, value, index);
    }
    /* What can't be converted can't be stored, and so is not there. */
    if (value_for_property(property, self->realm, value, &converted, &keep) < 0) {
        Py_XDECREF(keep);
        if (!PyErr_ExceptionMatches(PyExc_Exception)) return -1;
        PyErr_Clear();
        return 0;
    }
    switch (self->kind) {
    case RLM_COLLECTION_TYPE_LIST:
        done = realm_list_find(self->handle, &converted, index, &found);
        break;
    case RLM_COLLECTION_TYPE_SET:
        done = realm_set_find(self->handle, converted, index, &found);
        break;
    default: done = realm_dictionary_contains_value(self->handle, converted, index);
    }
    Py_XDECREF(keep);
    if (done) return 0;
    collection_raise(self);
    return -1;
}

int collection_contains(Collection *self, PyObject *value) {
    size_t index;
    if (collection_find(self, value, &index) < 0) return -1;
    return index != SIZE_MAX;
}

/* ---- changing ------------------------------------------------------------------------------- */

/* Of the property itself only: views of what is inside a value of any type. */
static bool is_same(Realm *realm, void *handle, PyObject *value) {
    bool same = handle && realm_equals(handle, ((Collection *)value)->handle);
    realm_release_handle(realm, handle);
    realm_clear_last_error();
    return same;
}

bool collection_is_at(Realm *realm, const Place *place, PyObject *value) {
    State *state = realm->state;
    bool is_list = PyObject_TypeCheck(value, state->list_type);
    if (!is_list && !PyObject_TypeCheck(value, state->dictionary_type)) return false;
    Collection *view = (Collection *)value;
    if (view->realm != realm || view->property->type != RLM_PROPERTY_TYPE_MIXED) return false;
    if (is_list ? !realm_list_is_valid(view->handle) : !realm_dictionary_is_valid(view->handle)) {
        return false;
    }
    switch (place->kind) {
    case PLACE_PROPERTY:
        return is_same(realm,
                       is_list ? (void *)realm_get_list(place->handle, place->key)
                               : (void *)realm_get_dictionary(place->handle, place->key),
                       value);
    case PLACE_SET:
        return is_same(realm,
                       is_list ? (void *)realm_list_get_list(place->handle, place->index)
                               : (void *)realm_list_get_dictionary(place->handle, place->index),
                       value);
    case PLACE_KEY:
        return is_same(realm,
                       is_list ? (void *)realm_dictionary_get_list(place->handle, place->name)
                               : (void *)realm_dictionary_get_dictionary(place->handle,
                                                                         place->name),
                       value);
    default: return false;
    }
}

static bool place_value(const Place *place, realm_value_t value) {
    size_t index;
    bool inserted;
    switch (place->kind) {
    case PLACE_PROPERTY: return realm_set_value(place->handle, place->key, value, false);
    case PLACE_INSERT: return realm_list_insert(place->handle, place->index, value);
    case PLACE_SET: return realm_list_set(place->handle, place->index, value);
    case PLACE_ADD: return realm_set_insert(place->handle, value, &index, &inserted);
    default: break;
    }
    if (key_is_plain(place->name.string)) {
        return realm_dictionary_insert(place->handle, place->name, value, &index, &inserted);
    }
    realm_value_node_t node = {.kind = RLM_NODE_VALUE, .value = value};
    return realm_dictionary_insert_nodes(place->handle, place->name, &node, 1, RLM_UPDATE_ALL,
                                         NULL);
}

static int put_plain(Realm *realm, Property *property, const Place *place, PyObject *value) {
    realm_value_t converted;
    PyObject *keep;
    bool done = false;
    int bad = value_for_property(property, realm, value, &converted, &keep);
    if (!bad) done = place_value(place, converted);
    Py_XDECREF(keep);
    if (done) return 0;
    PyObject *text = bad ? NULL : short_repr(value);
    if (text) {
        raise_engine(property->state, "%s.%U: %U", property->model->text, property->name, text);
    }
    Py_XDECREF(text);
    return -1;
}

/* Puts a copy of another list or dict, made before, in the place of an element. What stood there ends, with the views
 * of it: `a[0], a[1] = a[1], a[0]` has read both before it writes, and would find the first one's new content. */
static int put_instead(Collection *self, Property *property, Binding *target, const Place *place,
                       PyObject *copy) {
    Realm *realm = self->realm;
    uint64_t savepoint;
    if (!realm_savepoint_begin(realm->handle, &savepoint)) {
        collection_raise(self);
        return -1;
    }
    bool emptied = place_value(place, (realm_value_t){.type = RLM_TYPE_NULL});
    if (!emptied) collection_raise(self);
    if (emptied && tree_put(realm, property, target, place, copy) == 0) {
        realm_savepoint_release(realm->handle, savepoint);
        return 0;
    }
    realm_savepoint_rollback(realm->handle, savepoint);
    return -1;
}

int collection_put(Collection *self, const Place *place, PyObject *value) {
    Property *property = self->property;
    Binding *target = self->binding->targets[property->index];
    if (!brings_objects(property, target, value)) {
        return put_plain(self->realm, property, place, value);
    }
    if (collection_is_at(self->realm, place, value) ||
        embedded_is_at(self->realm, place, value)) {
        return 0;
    }
    PyObject *checked = property->type == RLM_PROPERTY_TYPE_MIXED
                            ? nested_element(self, place, value)
                            : element_normalised(property, self->realm, value, true);
    if (!checked) return -1;
    int bad = -1;
    if (realm_is_writable(self->realm->handle)) {
        bool is_view = PyObject_TypeCheck(value, property->state->list_type) ||
                       PyObject_TypeCheck(value, property->state->dictionary_type);
        bad = is_view && (place->kind == PLACE_SET || place->kind == PLACE_KEY)
                  ? put_instead(self, property, target, place, checked)
                  : tree_put(self->realm, property, target, place, checked);
    } else {
        collection_raise_code(self, RLM_ERR_WRONG_TRANSACTION_STATE,
                              " can't be changed outside of a write transaction: open a `with r.write():` block");
    }
    Py_DECREF(checked);
    return bad;
}

PyObject *collection_elements(Collection *self, PyObject *values) {
    Property *property = self->property;
    if (collection_length(self) < 0) return NULL;
    PyObject *source = PyObject_GetIter(values);
    if (!source) {
        misunderstood(self->realm->state);
        return NULL;
    }
    bool is_fast = PyList_Check(values) || PyTuple_Check(values);
    PyObject *list = PySequence_List(is_fast ? values : source);
    Py_DECREF(source);
    if (!list) return NULL;
    if (property->type != RLM_PROPERTY_TYPE_MIXED || self->kind == RLM_COLLECTION_TYPE_SET) {
        return list_normalised(property, self->realm, list, true);
    }
    replace_reference(&list, nested_content(property, self->realm, list, self));
    return list;
}

PyObject *collection_clear(Collection *self, PyObject *unused) {
    (void)unused;
    bool done;
    if (collection_ready(self) < 0) return NULL;
    REALM_BLOCKING_BEGIN(self->realm, self)
    switch (self->kind) {
    case RLM_COLLECTION_TYPE_LIST: done = realm_list_clear(self->handle); break;
    case RLM_COLLECTION_TYPE_SET: done = realm_set_clear(self->handle); break;
    default: done = realm_dictionary_clear(self->handle);
    }
    REALM_BLOCKING_END
    if (done) Py_RETURN_NONE;
    collection_raise(self);
    return NULL;
}

/* ---- attributes ----------------------------------------------------------------------------- */

static PyObject *get_realm(Collection *self, void *unused) {
    (void)unused;
    return Py_NewRef((PyObject *)self->realm);
}

static PyObject *get_property(Collection *self, void *unused) {
    (void)unused;
    return Py_NewRef((PyObject *)self->property);
}

static PyObject *get_path(Collection *self, void *unused) {
    (void)unused;
    return collection_path(self);
}

static PyObject *get_valid(Collection *self, void *unused) {
    (void)unused;
    if (self->realm->closed || self->realm->fork_generation != fork_generation) Py_RETURN_FALSE;
    if (collection_ready(self) < 0) return NULL;
    switch (self->kind) {
    case RLM_COLLECTION_TYPE_LIST: return PyBool_FromLong(realm_list_is_valid(self->handle));
    case RLM_COLLECTION_TYPE_SET: return PyBool_FromLong(realm_set_is_valid(self->handle));
    default: return PyBool_FromLong(realm_dictionary_is_valid(self->handle));
    }
}

PyGetSetDef collection_getset[] = {
    {"realm", (getter)get_realm, NULL, "The realm it is in.", NULL},
    {"is_valid", (getter)get_valid, NULL, "Can still be used.", NULL},
    {"_property", (getter)get_property, NULL, NULL, NULL},
    {"_path", (getter)get_path, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL}};
