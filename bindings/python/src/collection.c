/* What lists, sets and dictionaries of stored objects have in common. They are views: they carry a
 * handle and no elements. list.c, set.c and dictionary.c are the types; the classes that users see
 * derive from these in realm/_collections.py. */
#include "binding.h"

PyObject *collection_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    (void)args;
    (void)kwargs;
    PyObject *name = PyType_GetName(type);
    if (name) {
        PyErr_Format(PyExc_TypeError, "a %U comes from a property of a stored object; assign a "
                     "plain collection to that", name);
        Py_DECREF(name);
    }
    return NULL;
}

int collection_traverse(Collection *self, visitproc visit, void *arg) {
    Py_VISIT(TYPE_OF(self));
    Py_VISIT(self->realm);
    return 0;
}

void collection_dealloc(Collection *self) {
    PyTypeObject *type = TYPE_OF(self);
    PyObject_GC_UnTrack(self);
    if (self->handle) realm_release_handle(self->realm, self->handle);
    Py_CLEAR(self->realm);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

PyObject *collection_wrap(Object *owner, Property *property) {
    State *state = property->state;
    realm_property_key_t key = owner->binding->keys[property->index];
    PyObject *class;
    void *handle;
    switch (property->collection) {
    case RLM_COLLECTION_TYPE_LIST:
        class = state->list_class;
        handle = realm_get_list(owner->handle, key);
        break;
    case RLM_COLLECTION_TYPE_SET:
        class = state->set_class;
        handle = realm_get_set(owner->handle, key);
        break;
    default:
        class = state->dictionary_class;
        handle = realm_get_dictionary(owner->handle, key);
    }
    if (!handle) {
        raise_engine(state, "%s.%U", owner->model->text, property->name);
        return NULL;
    }
    Collection *self = NULL;
    if (class) {
        self = (Collection *)PyType_GenericAlloc((PyTypeObject *)class, 0);
    } else {
        PyErr_SetString(PyExc_ImportError, "import the package realm, not realm._realm");
    }
    if (!self) {
        realm_release_handle(owner->realm, handle);
        return NULL;
    }
    self->realm = (Realm *)Py_NewRef((PyObject *)owner->realm);
    self->binding = owner->binding;
    self->property = property;
    self->owner = owner->key;
    self->handle = handle;
    return (PyObject *)self;
}

int collection_ready(Collection *self) { return realm_ready(self->realm); }

void collection_raise(Collection *self) {
    raise_engine(self->realm->state, "%s.%U", self->binding->model->text, self->property->name);
}

Py_ssize_t collection_length(Collection *self) {
    size_t count = 0;
    bool done;
    if (collection_ready(self) < 0) return -1;
    switch (self->property->collection) {
    case RLM_COLLECTION_TYPE_LIST: done = realm_list_size(self->handle, &count); break;
    case RLM_COLLECTION_TYPE_SET: done = realm_set_size(self->handle, &count); break;
    default: done = realm_dictionary_size(self->handle, &count);
    }
    if (done) return (Py_ssize_t)count;
    collection_raise(self);
    return -1;
}

PyObject *collection_element(Collection *self, size_t index, PyObject **key) {
    State *state = self->realm->state;
    realm_value_t value, name;
    bool done;
    switch (self->property->collection) {
    case RLM_COLLECTION_TYPE_LIST: done = realm_list_get(self->handle, index, &value); break;
    case RLM_COLLECTION_TYPE_SET: done = realm_set_get(self->handle, index, &value); break;
    default:
        done = realm_dictionary_get(self->handle, index, &name, &value);
        if (done && key && !(*key = value_to_python(state, self->realm, &name))) return NULL;
    }
    if (!done) {
        collection_raise(self);
        return NULL;
    }
    PyObject *result = value_to_python(state, self->realm, &value);
    if (!result && key) Py_CLEAR(*key);
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

int collection_find(Collection *self, PyObject *value, size_t *index) {
    Property *property = self->property;
    realm_value_t converted;
    PyObject *keep = NULL;
    bool found = false, done;
    *index = SIZE_MAX;
    if (collection_length(self) < 0) return -1;
    if (value == Py_None && !(property->flags & RLM_PROPERTY_NULLABLE)) return 0;
    if (!engine_compares(property, value)) return find_by_comparing(self, value, index);
    /* What can't be converted can't be stored, and so is not there. */
    if (value_for_property(property, self->realm, value, &converted, &keep) < 0) {
        Py_XDECREF(keep);
        if (!PyErr_ExceptionMatches(PyExc_Exception)) return -1;
        PyErr_Clear();
        return 0;
    }
    switch (property->collection) {
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

int collection_put(Collection *self, const Place *place, PyObject *value) {
    Property *property = self->property;
    Binding *target = self->binding->targets[property->index];
    PyObject *checked = Py_NewRef(value);
    if (brings_objects(property, target, value)) {
        replace_reference(&checked, element_normalised(property, self->realm, value, true));
        if (!checked) return -1;
        if (!realm_is_writable(self->realm->handle)) {
            raise_code(self->realm->state, RLM_ERR_WRONG_TRANSACTION_STATE,
                       "%s.%U can't be changed: not in a write transaction",
                       self->binding->model->text, property->name);
            Py_DECREF(checked);
            return -1;
        }
    }
    int bad = realm_put(self->realm, property, target, place, checked);
    Py_DECREF(checked);
    return bad;
}

PyObject *collection_clear(Collection *self, PyObject *unused) {
    (void)unused;
    bool done;
    if (collection_ready(self) < 0) return NULL;
    REALM_BLOCKING_BEGIN(self->realm, self)
    switch (self->property->collection) {
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
    return PyUnicode_FromFormat("%s.%U", self->binding->model->text, self->property->name);
}

static PyObject *get_valid(Collection *self, void *unused) {
    (void)unused;
    if (self->realm->closed || self->realm->fork_generation != fork_generation) Py_RETURN_FALSE;
    if (collection_ready(self) < 0) return NULL;
    switch (self->property->collection) {
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
