/* realm._realm.Results: a lazy, live sequence of objects, or of the values of a collection - access
 * to its elements. How one becomes another (filter, sort ...) is in results_refine.c, how values are
 * drawn from it in results_values.c. */
#include "results/results.h"

/* A new handle to results over all elements of a collection; NULL with an error of the engine. */
static realm_results_t *results_of_elements(Collection *source) {
    switch (source->kind) {
    case RLM_COLLECTION_TYPE_LIST: return realm_list_to_results(source->handle);
    case RLM_COLLECTION_TYPE_SET: return realm_set_to_results(source->handle);
    default: return realm_dictionary_to_results(source->handle);
    }
}

static PyObject *results_of_collection(PyTypeObject *type, PyObject *collection) {
    State *state = state_of_type(type);
    if (!state) return NULL;
    if (!PyObject_TypeCheck(collection, state->list_type) &&
        !PyObject_TypeCheck(collection, state->set_type) &&
        !PyObject_TypeCheck(collection, state->dictionary_type)) {
        raise_code(state, MISUSE, "results are over lists, sets and dictionaries");
        return NULL;
    }
    Collection *source = (Collection *)collection;
    if (collection_ready(source) < 0) return NULL;
    realm_results_t *handle = results_of_elements(source);
    if (!handle) {
        collection_raise(source);
        return NULL;
    }
    Binding *binding = NULL;
    if (source->property->type == RLM_PROPERTY_TYPE_OBJECT) {
        binding = source->binding->targets[source->property->index];
    }
    return results_make(type, source->realm, binding, source, handle);
}

static int results_traverse(Results *self, visitproc visit, void *arg) {
    Py_VISIT(TYPE_OF(self));
    Py_VISIT(self->realm);
    Py_VISIT(self->source);
    return 0;
}

static void results_dealloc(Results *self) {
    PyTypeObject *type = TYPE_OF(self);
    PyObject_GC_UnTrack(self);
    realm_forget_twin(self->realm, (PyObject *)self);
    if (self->handle) realm_release_handle(self->realm, self->handle);
    Py_CLEAR(self->source);
    Py_CLEAR(self->realm);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyObject *results_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    (void)args;
    (void)kwargs;
    State *state = state_of_type(type);
    if (state) raise_code(state, MISUSE, "results come from Realm.objects(), backlinks() and collections");
    return NULL;
}

static Py_ssize_t results_length(Results *self) {
    size_t count;
    if (results_ready(self) < 0 || results_count(self, &count) < 0) return -1;
    return (Py_ssize_t)count;
}

static int results_bool(Results *self) {
    size_t count;
    if (results_ready(self) < 0 || results_count(self, &count) < 0) return -1;
    return count != 0;
}

static PyObject *object_at(Results *self, size_t index) {
    if (!self->binding) return results_value(self, index);
    if (self->source && self->source->kind == RLM_COLLECTION_TYPE_DICTIONARY) {
        /* The values of a dictionary may be None. */
        return results_value(self, index);
    }
    realm_object_t *handle = realm_results_get_object(self->handle, index);
    if (handle) return object_wrap(self->binding, handle);
    results_raise(self, "results of");
    return NULL;
}

static PyObject *slice_of(Results *self, PyObject *slice, size_t count) {
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(slice, &start, &stop, &step) < 0) return NULL;
    Py_ssize_t length = PySlice_AdjustIndices((Py_ssize_t)count, &start, &stop, step);
    PyObject *list = PyList_New(length);
    if (!list) return NULL;
    for (Py_ssize_t i = 0; i < length; i++) {
        PyObject *object = object_at(self, (size_t)(start + i * step));
        if (!object) {
            Py_DECREF(list);
            return NULL;
        }
        PyList_SetItem(list, i, object);
    }
    return list;
}

static PyObject *results_subscript(Results *self, PyObject *key) {
    size_t count;
    if (results_ready(self) < 0) return NULL;
    if (PySlice_Check(key)) {
        return results_count(self, &count) < 0 ? NULL : slice_of(self, key, count);
    }
    if (!PyIndex_Check(key)) {
        PyObject *given = type_name(key);
        if (given) {
            raise_code(self->realm->state, MISUSE, "results are indexed by int or slice, not by %U", given);
            Py_DECREF(given);
        }
        return NULL;
    }
    Py_ssize_t index = PyNumber_AsSsize_t(key, PyExc_IndexError);
    if (index == -1 && PyErr_Occurred()) {
        misunderstood(self->realm->state);
        return NULL;
    }
    if (index < 0) {
        if (results_count(self, &count) < 0) return NULL;
        if (index + (Py_ssize_t)count < 0) {
            PyObject *name = results_name(self);
            if (name) {
                raise_code(self->realm->state, RLM_ERR_INDEX_OUT_OF_BOUNDS,
                           "index %zd of %zu results of %U", index, count, name);
            }
            Py_XDECREF(name);
            return NULL;
        }
        index += (Py_ssize_t)count;
    }
    return object_at(self, (size_t)index);
}

/* Position of the first element that equals `value` in Python. */
static int compare_all(Results *self, PyObject *value, size_t *position) {
    size_t count;
    for (size_t i = 0;; i++) {
        if (results_ready(self) < 0 || results_count(self, &count) < 0) return -1;
        if (i >= count) return 0;
        PyObject *element = object_at(self, i);
        int same = element ? PyObject_RichCompareBool(element, value, Py_EQ) : -1;
        Py_XDECREF(element);
        if (same < 0) return -1;
        if (same == 0) continue;
        *position = i;
        return 0;
    }
}

/* Position of `value`: SIZE_MAX when it is not among the results, -1 with an exception. */
static int position_of(Results *self, PyObject *value, size_t *position) {
    State *state = self->realm->state;
    bool found = false;
    *position = SIZE_MAX;
    if (results_ready(self) < 0) return -1;
    if (!self->binding || value == Py_None) return compare_all(self, value, position);
    if (!PyObject_TypeCheck(value, state->object_type)) return 0;
    Object *object = (Object *)value;
    if (object->realm != self->realm || object->binding != self->binding ||
        !realm_object_is_valid(object->handle)) {
        return 0;
    }
    if (realm_results_find_object(self->handle, object->handle, position, &found)) {
        if (!found) *position = SIZE_MAX;
        return 0;
    }
    results_raise(self, "results of");
    return -1;
}

static int results_contains(Results *self, PyObject *value) {
    size_t position;
    if (position_of(self, value, &position) < 0) return -1;
    return position != SIZE_MAX;
}

static PyObject *results_position(Results *self, PyObject *value) {
    size_t position;
    if (position_of(self, value, &position) < 0) return NULL;
    if (position == SIZE_MAX) Py_RETURN_NONE;
    return PyLong_FromSize_t(position);
}

static PyObject *results_first(Results *self, PyObject *unused) {
    (void)unused;
    size_t count;
    if (results_ready(self) < 0 || results_count(self, &count) < 0) return NULL;
    if (count == 0) Py_RETURN_NONE;
    return object_at(self, 0);
}

static PyObject *results_last(Results *self, PyObject *unused) {
    (void)unused;
    size_t count;
    if (results_ready(self) < 0 || results_count(self, &count) < 0) return NULL;
    if (count == 0) Py_RETURN_NONE;
    return object_at(self, count - 1);
}

static PyObject *results_delete_all(Results *self, PyObject *unused) {
    (void)unused;
    bool done;
    if (results_ready(self) < 0) return NULL;
    REALM_BLOCKING_BEGIN(self->realm, self)
    done = realm_results_delete_all(self->handle);
    REALM_BLOCKING_END
    if (done) Py_RETURN_NONE;
    results_raise(self, "deleting results of");
    return NULL;
}

static PyObject *get_valid(Results *self, void *unused) {
    (void)unused;
    bool valid = false;
    if (self->realm->closed) Py_RETURN_FALSE;
    if (results_ready(self) < 0) return NULL;
    realm_results_is_valid(self->handle, &valid);
    return PyBool_FromLong(valid);
}

static PyObject *get_class(Results *self, void *unused) {
    (void)unused;
    if (!self->binding) Py_RETURN_NONE;
    return Py_NewRef((PyObject *)self->binding->model->type);
}

static PyObject *get_realm(Results *self, void *unused) {
    (void)unused;
    return Py_NewRef((PyObject *)self->realm);
}

static PyObject *get_name(Results *self, void *unused) {
    (void)unused;
    return results_name(self);
}

static PyObject *get_property(Results *self, void *unused) {
    (void)unused;
    return Py_NewRef(self->source ? (PyObject *)self->source->property : Py_None);
}

static PyObject *get_each_once(Results *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(self->each_once);
}

static PyMethodDef results_methods[] = {
    {"first", (PyCFunction)results_first, METH_NOARGS, "The first object, None if there is none."},
    {"last", (PyCFunction)results_last, METH_NOARGS, "The last object, None if there is none."},
    {"delete_all", (PyCFunction)results_delete_all, METH_NOARGS,
     "Deletes the objects in these results from the realm; other values leave their collection."},
    {"explain", (PyCFunction)results_explain, METH_NOARGS,
     "How the objects would be found now, as text for people: the index or scan that the\n"
     "candidates come from, what is tested on them, and the ordering. Its form may change."},
    {"snapshot", (PyCFunction)results_snapshot, METH_NOARGS,
     "The same objects, fixed: later changes move nothing in or out. Other values stay what they\n"
     "are, but cannot be deleted from their collection any more."},
    {"_of_class", (PyCFunction)results_of_class, METH_VARARGS | METH_CLASS, NULL},
    {"_of_collection", (PyCFunction)results_of_collection, METH_O | METH_CLASS, NULL},
    {"_of_backlinks", (PyCFunction)results_of_backlinks, METH_VARARGS | METH_CLASS, NULL},
    {"_position", (PyCFunction)results_position, METH_O, NULL},
    {"_filter", (PyCFunction)results_filter, METH_VARARGS, NULL},
    {"_where", (PyCFunction)results_where, METH_VARARGS, NULL},
    {"_sort", (PyCFunction)results_sort, METH_O, NULL},
    {"_distinct", (PyCFunction)results_distinct, METH_O, NULL},
    {"_limit", (PyCFunction)results_limit, METH_O, NULL},
    {"_offset", (PyCFunction)results_offset, METH_O, NULL},
    {"_aggregate", (PyCFunction)results_aggregate, METH_VARARGS, NULL},
    {"_values", (PyCFunction)results_values, METH_O, NULL},
    {"_groups", (PyCFunction)results_groups, METH_VARARGS, NULL},
    {"_arrow_stream", (PyCFunction)results_arrow_stream, METH_O, NULL},
    {"_arrow_schema", (PyCFunction)results_arrow_schema, METH_O, NULL},
    {"_column", (PyCFunction)results_column, METH_O, NULL},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef results_getset[] = {
    {"is_valid", (getter)get_valid, NULL, "Can still be used.", NULL},
    {"element_class", (getter)get_class, NULL, "Class of the objects, None for other values.", NULL},
    {"_name", (getter)get_name, NULL, NULL, NULL},
    {"_property", (getter)get_property, NULL, NULL, NULL},
    {"_each_once", (getter)get_each_once, NULL, NULL, NULL},
    {"realm", (getter)get_realm, NULL, "The realm they are in.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot results_slots[] = {
    {Py_tp_doc, "A lazy, live sequence of objects of one class."},
    {Py_tp_new, results_new},
    {Py_tp_dealloc, results_dealloc},
    {Py_tp_traverse, results_traverse},
    {Py_tp_iter, results_iterate},
    {Py_sq_length, results_length},
    {Py_sq_contains, results_contains},
    {Py_mp_length, results_length},
    {Py_mp_subscript, results_subscript},
    {Py_nb_bool, results_bool},
    {Py_tp_methods, results_methods},
    {Py_tp_getset, results_getset},
    {0, NULL}};

PyType_Spec results_spec = {
    .name = "realm._realm.Results",
    .basicsize = sizeof(Results),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = results_slots,
};
