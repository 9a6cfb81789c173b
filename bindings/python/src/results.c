/* realm._realm.Results: a lazy, live sequence of objects - access to its elements. How one becomes
 * another (filter, sort ...) and how values are drawn from it is in results_refine.c. */
#include "binding.h"

PyObject *results_wrap(PyTypeObject *type, Binding *binding, realm_results_t *handle,
                       bool whole_class, bool ordered) {
    Results *self = (Results *)PyType_GenericAlloc(type, 0);
    if (!self) {
        realm_release_handle(binding->realm, handle);
        return NULL;
    }
    self->realm = (Realm *)Py_NewRef((PyObject *)binding->realm);
    self->binding = binding;
    self->handle = handle;
    self->whole_class = whole_class;
    self->ordered = ordered;
    return (PyObject *)self;
}

static int results_traverse(Results *self, visitproc visit, void *arg) {
    Py_VISIT(TYPE_OF(self));
    Py_VISIT(self->realm);
    return 0;
}

static void results_dealloc(Results *self) {
    PyTypeObject *type = TYPE_OF(self);
    PyObject_GC_UnTrack(self);
    if (self->handle) realm_release_handle(self->realm, self->handle);
    Py_CLEAR(self->realm);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyObject *results_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    (void)type;
    (void)args;
    (void)kwargs;
    PyErr_SetString(PyExc_TypeError, "results come from Realm.objects() and backlinks()");
    return NULL;
}

int results_ready(Results *self) { return realm_ready(self->realm); }

/* The first access to results runs their query, which may take long: without the GIL. */
int results_count(Results *self, size_t *count) {
    bool done;
    REALM_BLOCKING_BEGIN(self->realm, self)
    done = realm_results_count(self->handle, count);
    REALM_BLOCKING_END
    if (done) return 0;
    raise_engine(self->realm->state, "results of %s", self->binding->model->text);
    return -1;
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
    realm_object_t *handle = realm_results_get_object(self->handle, index);
    if (handle) return object_wrap(self->binding, handle);
    raise_engine(self->realm->state, "results of %s", self->binding->model->text);
    return NULL;
}

Py_ssize_t results_handles(Results *self, realm_results_t *source, size_t first, size_t count,
                           realm_object_t **handles) {
    size_t got = 0;
    if (realm_results_get_objects(source, first, count, handles, &got)) return (Py_ssize_t)got;
    raise_engine(self->realm->state, "results of %s", self->binding->model->text);
    return -1;
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
            PyErr_Format(PyExc_TypeError, "results are indexed by int or slice, not by %U", given);
            Py_DECREF(given);
        }
        return NULL;
    }
    Py_ssize_t index = PyNumber_AsSsize_t(key, PyExc_IndexError);
    if (index == -1 && PyErr_Occurred()) return NULL;
    if (index < 0) {
        if (results_count(self, &count) < 0) return NULL;
        if (index + (Py_ssize_t)count < 0) {
            raise_code(self->realm->state, RLM_ERR_INDEX_OUT_OF_BOUNDS,
                       "index %zd of %zu results of %s", index, count,
                       self->binding->model->text);
            return NULL;
        }
        index += (Py_ssize_t)count;
    }
    return object_at(self, (size_t)index);
}

/* Position of `value`: SIZE_MAX when it is not among the results, -1 with an exception. */
static int position_of(Results *self, PyObject *value, size_t *position) {
    State *state = self->realm->state;
    bool found = false;
    *position = SIZE_MAX;
    if (results_ready(self) < 0) return -1;
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
    raise_engine(state, "results of %s", self->binding->model->text);
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
    raise_engine(self->realm->state, "deleting results of %s", self->binding->model->text);
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
    return Py_NewRef((PyObject *)self->binding->model->type);
}

static PyObject *get_realm(Results *self, void *unused) {
    (void)unused;
    return Py_NewRef((PyObject *)self->realm);
}

static PyMethodDef results_methods[] = {
    {"first", (PyCFunction)results_first, METH_NOARGS, "The first object, None if there is none."},
    {"last", (PyCFunction)results_last, METH_NOARGS, "The last object, None if there is none."},
    {"delete_all", (PyCFunction)results_delete_all, METH_NOARGS,
     "Deletes the objects in these results from the realm."},
    {"snapshot", (PyCFunction)results_snapshot, METH_NOARGS,
     "The same objects, fixed: later changes move nothing in or out."},
    {"_of_class", (PyCFunction)results_of_class, METH_VARARGS | METH_CLASS, NULL},
    {"_of_backlinks", (PyCFunction)results_of_backlinks, METH_VARARGS | METH_CLASS, NULL},
    {"_position", (PyCFunction)results_position, METH_O, NULL},
    {"_filter", (PyCFunction)results_filter, METH_VARARGS, NULL},
    {"_sort", (PyCFunction)results_sort, METH_O, NULL},
    {"_distinct", (PyCFunction)results_distinct, METH_O, NULL},
    {"_limit", (PyCFunction)results_limit, METH_O, NULL},
    {"_aggregate", (PyCFunction)results_aggregate, METH_VARARGS, NULL},
    {"_values", (PyCFunction)results_values, METH_O, NULL},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef results_getset[] = {
    {"is_valid", (getter)get_valid, NULL, "Can still be used.", NULL},
    {"element_class", (getter)get_class, NULL, "Class of the objects.", NULL},
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
