/* realm._realm.List: the list of a stored object, with indexes and slices as Python's. What can be
 * built on these is in realm/_collections.py. */
#include "objects/objects.h"

static int put(Collection *self, PlaceKind kind, Py_ssize_t index, PyObject *value) {
    Place place = {.kind = kind, .handle = self->handle, .index = (size_t)index};
    return collection_put(self, &place, value);
}

static int erase(Collection *self, Py_ssize_t index) {
    if (realm_list_erase(self->handle, (size_t)index)) return 0;
    collection_raise(self);
    return -1;
}

/* The index that `key` means; -1 with an exception. */
static Py_ssize_t index_of_key(Collection *self, PyObject *key) {
    Py_ssize_t count = collection_length(self);
    if (count < 0) return -1;
    if (!PyIndex_Check(key)) {
        PyObject *given = type_name(key);
        if (given) {
            collection_raise_code(self, RLM_ERR_PROPERTY_TYPE_MISMATCH,
                                  " is indexed by int or slice, not by %U", given);
            Py_DECREF(given);
        }
        return -1;
    }
    Py_ssize_t index = PyNumber_AsSsize_t(key, PyExc_IndexError);
    if (index == -1 && PyErr_Occurred()) return misunderstood(self->realm->state);
    Py_ssize_t place = index < 0 ? index + count : index;
    if (place >= 0 && place < count) return place;
    collection_raise_code(self, RLM_ERR_INDEX_OUT_OF_BOUNDS, ": index %zd of %zd elements", index,
                          count);
    return -1;
}

static int slice_of(Collection *self, PyObject *key, Py_ssize_t *start, Py_ssize_t *stop,
                    Py_ssize_t *step, Py_ssize_t *length) {
    Py_ssize_t count = collection_length(self);
    if (count < 0 || PySlice_Unpack(key, start, stop, step) < 0) return -1;
    *length = PySlice_AdjustIndices(count, start, stop, *step);
    return 0;
}

static PyObject *list_subscript(Collection *self, PyObject *key) {
    Py_ssize_t start, stop, step, length;
    if (!PySlice_Check(key)) {
        Py_ssize_t index = index_of_key(self, key);
        return index < 0 ? NULL : collection_element(self, (size_t)index, NULL);
    }
    if (slice_of(self, key, &start, &stop, &step, &length) < 0) return NULL;
    return collection_slice(self, start, step, length);
}

static int delete_slice(Collection *self, Py_ssize_t start, Py_ssize_t step, Py_ssize_t length) {
    /* From the end, so that the other indexes stay. */
    for (Py_ssize_t i = 0; i < length; i++) {
        if (erase(self, step > 0 ? start + (length - 1 - i) * step : start + i * step) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Puts an element that is number `i` of those given. */
static int put_given(Collection *self, PlaceKind kind, Py_ssize_t index, PyObject *values,
                     Py_ssize_t i) {
    int bad = put(self, kind, index, PyList_GetItem(values, i));
    if (bad) note_index(self->realm->state, i);
    return bad;
}

static int assign_slice(Collection *self, PyObject *key, PyObject *value) {
    Py_ssize_t start, stop, step, length;
    PyObject *values = collection_elements(self, value);
    Batch batch;
    if (!values) return -1;
    Py_ssize_t count = PyList_Size(values);
    int bad = slice_of(self, key, &start, &stop, &step, &length);
    if (!bad && step != 1 && count != length) {
        raise_code(self->realm->state, RLM_ERR_INVALID_ARGUMENT,
                   "attempt to assign sequence of size %zd to extended slice of size %zd", count,
                   length);
        bad = -1;
    }
    if (!bad) bad = batch_begin_elements(&batch, self, values);
    if (bad) {
        Py_DECREF(values);
        return -1;
    }
    Py_ssize_t common = count < length ? count : length;
    for (Py_ssize_t i = 0; !bad && i < common; i++) {
        bad = put_given(self, PLACE_SET, start + i * step, values, i);
    }
    if (!bad && length > common) bad = delete_slice(self, start + common, 1, length - common);
    for (Py_ssize_t i = common; !bad && i < count; i++) {
        bad = put_given(self, PLACE_INSERT, start + i, values, i);
    }
    bad = batch_end(&batch, bad);
    Py_DECREF(values);
    return bad;
}

static int list_assign(Collection *self, PyObject *key, PyObject *value) {
    Py_ssize_t start, stop, step, length;
    if (!PySlice_Check(key)) {
        Py_ssize_t index = index_of_key(self, key);
        if (index < 0) return -1;
        return value ? put(self, PLACE_SET, index, value) : erase(self, index);
    }
    if (value) return assign_slice(self, key, value);
    if (slice_of(self, key, &start, &stop, &step, &length) < 0) return -1;
    return delete_slice(self, start, step, length);
}

static PyObject *list_insert(Collection *self, PyObject *args) {
    Py_ssize_t index;
    PyObject *value;
    if (!arguments_read(self->realm->state, args, "nO:insert", &index, &value)) return NULL;
    Py_ssize_t count = collection_length(self);
    if (count < 0) return NULL;
    if (index < 0) index = index + count < 0 ? 0 : index + count;
    if (index > count) index = count;
    if (put(self, PLACE_INSERT, index, value) < 0) return NULL;
    Py_RETURN_NONE;
}

static PyObject *list_append(Collection *self, PyObject *value) {
    Py_ssize_t count = collection_length(self);
    if (count < 0 || put(self, PLACE_INSERT, count, value) < 0) return NULL;
    Py_RETURN_NONE;
}

static PyObject *list_extend(Collection *self, PyObject *values) {
    Batch batch;
    PyObject *checked = collection_elements(self, values);
    Py_ssize_t place = checked ? collection_length(self) : -1;
    int bad = place < 0 ? -1 : batch_begin_elements(&batch, self, checked);
    if (!bad) {
        for (Py_ssize_t i = 0; !bad && i < PyList_Size(checked); i++) {
            bad = put_given(self, PLACE_INSERT, place + i, checked, i);
        }
        bad = batch_end(&batch, bad);
    }
    Py_XDECREF(checked);
    if (bad) return NULL;
    Py_RETURN_NONE;
}

static PyObject *list_move(Collection *self, PyObject *args) {
    Py_ssize_t from, to;
    if (!arguments_read(self->realm->state, args, "nn:_move", &from, &to)) return NULL;
    if (collection_ready(self) < 0) {
        return NULL;
    }
    if (realm_list_move(self->handle, (size_t)from, (size_t)to)) Py_RETURN_NONE;
    collection_raise(self);
    return NULL;
}

static PyObject *list_position(Collection *self, PyObject *value) {
    size_t index;
    if (collection_find(self, value, &index) < 0) return NULL;
    if (index == SIZE_MAX) Py_RETURN_NONE;
    return PyLong_FromSize_t(index);
}

static PyMethodDef list_methods[] = {
    {"insert", (PyCFunction)list_insert, METH_VARARGS,
     "insert($self, index, value, /)\n--\n\nInserts an element before an index."},
    {"append", (PyCFunction)list_append, METH_O,
     "append($self, value, /)\n--\n\nAdds an element at the end."},
    {"extend", (PyCFunction)list_extend, METH_O,
     "extend($self, values, /)\n--\n\nAdds several elements at the end."},
    {"clear", (PyCFunction)collection_clear, METH_NOARGS, "Removes all elements."},
    {"_move", (PyCFunction)list_move, METH_VARARGS, NULL},
    {"_position", (PyCFunction)list_position, METH_O, NULL},
    {NULL, NULL, 0, NULL}};

static PyType_Slot list_slots[] = {
    {Py_tp_doc, "The list of a stored object."},
    {Py_tp_new, collection_new},
    {Py_tp_dealloc, collection_dealloc},
    {Py_tp_traverse, collection_traverse},
    {Py_tp_iter, collection_iterate},
    {Py_sq_length, collection_length},
    {Py_sq_contains, collection_contains},
    {Py_mp_length, collection_length},
    {Py_mp_subscript, list_subscript},
    {Py_mp_ass_subscript, list_assign},
    {Py_tp_methods, list_methods},
    {Py_tp_getset, collection_getset},
    {0, NULL}};

PyType_Spec list_spec = {
    .name = "realm._realm.List",
    .basicsize = sizeof(Collection),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = list_slots,
};
