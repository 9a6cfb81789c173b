/* realm._realm.Set: the set of a stored object. What can be built on this is in
 * realm/_collections.py. */
#include "objects/objects.h"

static PyObject *set_add(Collection *self, PyObject *value) {
    Place place = {.kind = PLACE_ADD, .handle = self->handle};
    if (collection_ready(self) < 0 || collection_put(self, &place, value) < 0) return NULL;
    Py_RETURN_NONE;
}

static PyObject *set_add_all(Collection *self, PyObject *values) {
    Batch batch;
    Place place = {.kind = PLACE_ADD, .handle = self->handle};
    PyObject *checked = collection_elements(self, values);
    int bad = checked ? batch_begin_elements(&batch, self, checked) : -1;
    if (!bad) {
        for (Py_ssize_t i = 0; !bad && i < PyList_Size(checked); i++) {
            bad = collection_put(self, &place, PyList_GetItem(checked, i));
            if (bad) note_index(self->realm->state, i);
        }
        bad = batch_end(&batch, bad);
    }
    Py_XDECREF(checked);
    if (bad) return NULL;
    Py_RETURN_NONE;
}

static PyObject *erase(Collection *self, size_t index) {
    realm_value_t value;
    bool erased;
    if (realm_set_get(self->handle, index, &value) &&
        realm_set_erase(self->handle, value, &erased)) {
        Py_RETURN_TRUE;
    }
    collection_raise(self);
    return NULL;
}

/* As Python's own sets, which hash what they look for. Objects that are in no realm yet have no
 * hash; they may be asked for all the same, and are not there. */
static int check_hash(Collection *self, PyObject *value) {
    if (is_unmanaged(self->realm->state, value)) return 0;
    bool has_hash = PyObject_Hash(value) != -1 || !PyErr_Occurred();
    return has_hash ? 0 : misunderstood(self->realm->state);
}

static int set_contains(Collection *self, PyObject *value) {
    return check_hash(self, value) < 0 ? -1 : collection_contains(self, value);
}

/* Whether the element was there. */
static PyObject *set_erase(Collection *self, PyObject *value) {
    size_t index;
    if (check_hash(self, value) < 0 || collection_find(self, value, &index) < 0) return NULL;
    if (index != SIZE_MAX) return erase(self, index);
    if (realm_is_writable(self->realm->handle)) Py_RETURN_FALSE;
    collection_raise_code(self, RLM_ERR_WRONG_TRANSACTION_STATE,
                          " can't be changed outside of a write transaction: open a `with r.write():` block");
    return NULL;
}

static PyObject *set_pop(Collection *self, PyObject *unused) {
    (void)unused;
    Py_ssize_t count = collection_length(self);
    if (count < 0) return NULL;
    if (count == 0) {
        collection_raise_code(self, RLM_ERR_NO_SUCH_OBJECT, ": pop from an empty set");
        return NULL;
    }
    PyObject *value = collection_element(self, (size_t)count - 1, NULL);
    PyObject *erased = value ? erase(self, (size_t)count - 1) : NULL;
    if (!erased) Py_CLEAR(value);
    Py_XDECREF(erased);
    return value;
}

static PyMethodDef set_methods[] = {
    {"add", (PyCFunction)set_add, METH_O,
     "add($self, value, /)\n--\n\nAdds an element, if it is not there."},
    {"pop", (PyCFunction)set_pop, METH_NOARGS,
     "pop($self, /)\n--\n\nRemoves an element and returns it; KeyError if there is none."},
    {"clear", (PyCFunction)collection_clear, METH_NOARGS, "Removes all elements."},
    {"_add_all", (PyCFunction)set_add_all, METH_O, NULL},
    {"_erase", (PyCFunction)set_erase, METH_O, NULL},
    {NULL, NULL, 0, NULL}};

static PyType_Slot set_slots[] = {
    {Py_tp_doc, "The set of a stored object."},
    {Py_tp_new, collection_new},
    {Py_tp_dealloc, collection_dealloc},
    {Py_tp_traverse, collection_traverse},
    {Py_tp_iter, collection_iterate},
    {Py_sq_length, collection_length},
    {Py_sq_contains, set_contains},
    {Py_tp_methods, set_methods},
    {Py_tp_getset, collection_getset},
    {0, NULL}};

PyType_Spec set_spec = {
    .name = "realm._realm.Set",
    .basicsize = sizeof(Collection),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = set_slots,
};
