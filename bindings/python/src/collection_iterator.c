/* realm._realm.CollectionIterator: walks over a list, set or dictionary, element by element.
 *
 * As in Python, a list may change under the walk, which goes by index; a set or dictionary that
 * changes its size ends it with a RuntimeError. */
#include "binding.h"

typedef struct {
    PyObject_HEAD
    Collection *collection;  /* NULL once exhausted */
    Py_ssize_t position;
    Py_ssize_t count;        /* when the walk began */
    Walk walk;
} CollectionIterator;

PyObject *collection_walk(Collection *self, Walk walk) {
    Py_ssize_t count = collection_length(self);
    if (count < 0) return NULL;
    CollectionIterator *iterator = (CollectionIterator *)PyType_GenericAlloc(
        self->realm->state->collection_iterator_type, 0);
    if (!iterator) return NULL;
    iterator->collection = (Collection *)Py_NewRef((PyObject *)self);
    iterator->count = count;
    iterator->walk = walk;
    return (PyObject *)iterator;
}

PyObject *collection_iterate(Collection *self) {
    bool keys = self->property->collection == RLM_COLLECTION_TYPE_DICTIONARY;
    return collection_walk(self, keys ? WALK_KEYS : WALK_VALUES);
}

static int iterator_traverse(CollectionIterator *self, visitproc visit, void *arg) {
    Py_VISIT(TYPE_OF(self));
    Py_VISIT(self->collection);
    return 0;
}

static void iterator_dealloc(CollectionIterator *self) {
    PyTypeObject *type = TYPE_OF(self);
    PyObject_GC_UnTrack(self);
    Py_CLEAR(self->collection);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyObject *iterator_next(CollectionIterator *self) {
    Collection *collection = self->collection;
    if (!collection) return NULL;
    Py_ssize_t count = collection_length(collection);
    if (count < 0) return NULL;
    bool is_list = collection->property->collection == RLM_COLLECTION_TYPE_LIST;
    if (!is_list && count != self->count) {
        raise_code(collection->realm->state, RLM_ERR_ILLEGAL_OPERATION,
                   "%s.%U changed its size during iteration", collection->binding->model->text,
                   collection->property->name);
        return NULL;
    }
    if (self->position >= count) {
        Py_CLEAR(self->collection);
        return NULL;
    }
    PyObject *key = NULL;
    size_t index = (size_t)self->position++;
    PyObject *value =
        collection_element(collection, index, self->walk == WALK_VALUES ? NULL : &key);
    if (!value || self->walk == WALK_VALUES) return value;
    if (self->walk == WALK_KEYS) {
        Py_DECREF(value);
        return key;
    }
    PyObject *pair = PyTuple_Pack(2, key, value);
    Py_DECREF(key);
    Py_DECREF(value);
    return pair;
}

static PyObject *iterator_length_hint(CollectionIterator *self, PyObject *unused) {
    (void)unused;
    Py_ssize_t left = self->collection ? self->count - self->position : 0;
    return PyLong_FromSsize_t(left > 0 ? left : 0);
}

static PyMethodDef iterator_methods[] = {
    {"__length_hint__", (PyCFunction)iterator_length_hint, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};

static PyType_Slot iterator_slots[] = {
    {Py_tp_dealloc, iterator_dealloc},
    {Py_tp_traverse, iterator_traverse},
    {Py_tp_iter, PyObject_SelfIter},
    {Py_tp_iternext, iterator_next},
    {Py_tp_methods, iterator_methods},
    {0, NULL}};

PyType_Spec collection_iterator_spec = {
    .name = "realm._realm.CollectionIterator",
    .basicsize = sizeof(CollectionIterator),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = iterator_slots,
};
