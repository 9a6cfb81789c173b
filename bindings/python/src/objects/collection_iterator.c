/* realm._realm.CollectionIterator: walks over a list, set or dictionary. Outside of write
 * transactions, where nothing changes, it reads many elements at a time.
 *
 * As in Python, a list may change under the walk, which goes by index; a set or dictionary that
 * changes its size ends it with a RuntimeError. */
#include "objects/objects.h"

/* Elements read at a time. */
#define AHEAD_MAX 128

typedef struct {
    PyObject_HEAD
    Collection *collection;  /* NULL once exhausted */
    Py_ssize_t position;
    Py_ssize_t count;        /* when the walk began */
    Walk walk;
    /* What was read ahead: elements from `ahead_first` on. Good as long as the realm has not moved;
     * it borrows from the engine. In a write transaction nothing is read ahead. */
    unsigned long moves;
    Py_ssize_t ahead_first;
    Py_ssize_t ahead_count;
    realm_value_t *values;   /* AHEAD_MAX of them, then the keys; NULL at first */
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
    bool keys = self->kind == RLM_COLLECTION_TYPE_DICTIONARY;
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
    PyMem_Free(self->values);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

/* Reads on from the position. 1 when there is something, 0 at the end, -1 with an exception. */
static int read_ahead(CollectionIterator *self) {
    Collection *collection = self->collection;
    self->ahead_count = 0;
    Py_ssize_t count = collection_length(collection);
    if (count < 0) return -1;
    if (collection->kind != RLM_COLLECTION_TYPE_LIST && count != self->count) {
        collection_raise_code(collection, RLM_ERR_ILLEGAL_OPERATION,
                              " changed its size during iteration");
        return -1;
    }
    if (self->position >= count) return 0;
    if (realm_is_writable(collection->realm->handle)) return 1;
    bool pairs = collection->kind == RLM_COLLECTION_TYPE_DICTIONARY;
    if (!self->values) {
        self->values = PyMem_Calloc(pairs ? 2 * AHEAD_MAX : AHEAD_MAX, sizeof *self->values);
        if (!self->values) {
            PyErr_NoMemory();
            return -1;
        }
    }
    Py_ssize_t got = collection_read(collection, (size_t)self->position, AHEAD_MAX,
                                     pairs ? self->values + AHEAD_MAX : NULL, self->values);
    if (got <= 0) return (int)got;
    self->ahead_first = self->position;
    self->ahead_count = got;
    self->moves = collection->realm->moves;
    return 1;
}

static PyObject *pair_of(PyObject *key, PyObject *value) {
    PyObject *pair = key && value ? PyTuple_Pack(2, key, value) : NULL;
    Py_XDECREF(key);
    Py_XDECREF(value);
    return pair;
}

/* The element at the position, which was not read ahead. */
static PyObject *next_directly(CollectionIterator *self) {
    PyObject *key = NULL;
    PyObject *value = collection_element(self->collection, (size_t)self->position++,
                                         self->walk == WALK_VALUES ? NULL : &key);
    if (!value || self->walk == WALK_VALUES) return value;
    if (self->walk == WALK_ITEMS) return pair_of(key, value);
    Py_DECREF(value);
    return key;
}

static PyObject *iterator_next(CollectionIterator *self) {
    Collection *collection = self->collection;
    if (!collection || collection_ready(collection) < 0) return NULL;
    Realm *realm = collection->realm;
    Py_ssize_t at = self->position - self->ahead_first;
    if (at >= self->ahead_count || self->moves != realm->moves) {
        int more = read_ahead(self);
        if (more < 0) return NULL;
        if (more == 0) {
            Py_CLEAR(self->collection);
            return NULL;
        }
        if (self->ahead_count == 0) return next_directly(self);
        at = 0;
    }
    size_t index = (size_t)self->position++;
    const realm_value_t *value = &self->values[at];
    if (collection->kind != RLM_COLLECTION_TYPE_DICTIONARY) {
        return collection_value(collection, index, NULL, value);
    }
    const realm_value_t *name = &self->values[AHEAD_MAX + at];
    if (self->walk == WALK_VALUES) return collection_value(collection, index, name, value);
    PyObject *key = value_to_python(realm->state, realm, name);
    if (!key || self->walk == WALK_KEYS) return key;
    return pair_of(key, collection_value(collection, index, name, value));
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
