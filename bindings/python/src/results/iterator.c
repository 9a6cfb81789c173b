/* realm._realm.ResultsIterator: walks over the objects of results as they were when it began.
 *
 * Results are live, so a loop that changes what it walks over needs a snapshot of their members.
 * Taking one costs a little per member, and most loops change nothing. So an iterator made outside
 * of a write transaction starts on the live results, which can't change there, and registers with
 * its realm: before the realm begins to write or moves to another version, `iterators_settle`
 * gives every iterator that is still under way its snapshot. */
#include "results/results.h"

/* Handles fetched at a time: few at first, for loops that stop early. */
#define PREFETCH_FIRST 4
#define PREFETCH_MAX 64

struct Iterator {
    PyObject_HEAD
    Results *results;        /* keeps realm and binding alive; NULL once exhausted */
    realm_results_t *source; /* what is walked over: the results' own handle, or a snapshot */
    bool snapshot;           /* whether `source` is one, and ours to release */
    bool by_position;        /* neither a snapshot nor handles are used */
    size_t position;
    size_t count;
    size_t fetched;          /* handles in `handles`, of which `used` have been handed out */
    size_t used;
    size_t prefetch;
    Iterator *next;          /* in the realm's list, while not on a snapshot */
    Iterator **link;         /* what points to this one there */
    realm_object_t *handles[PREFETCH_MAX];
};

static void register_with(Realm *realm, Iterator *self) {
    self->next = realm->iterators;
    self->link = &realm->iterators;
    if (self->next) self->next->link = &self->next;
    realm->iterators = self;
}

static void unregister(Iterator *self) {
    if (!self->link) return;
    *self->link = self->next;
    if (self->next) self->next->link = self->link;
    self->link = NULL;
    self->next = NULL;
}

void iterators_settle(Realm *realm) {
    Iterator *self;
    while ((self = realm->iterators)) {
        unregister(self);
        /* Without a snapshot the iterator has nothing to go on with, and says so when used. */
        self->source = realm_results_snapshot(self->source);
        self->snapshot = true;
    }
}

/* What iterators have read ahead ends before anything can change; so do the frozen twins of results, which
 * would keep this version in the file. */
void realm_moves(Realm *self) {
    self->moves++;
    Py_CLEAR(self->twins);
    iterators_settle(self);
}

PyObject *results_iterate(Results *self) {
    Realm *realm = self->realm;
    State *state = realm->state;
    if (results_ready(self) < 0) return NULL;
    /* Values have no identity to hold on to: those are walked over by position. So are the values
     * of dictionaries, which may be None. */
    bool by_position = !self->binding ||
                       (self->source && self->source->kind == RLM_COLLECTION_TYPE_DICTIONARY);
    bool snapshot = !by_position && realm_is_writable(realm->handle);
    realm_results_t *source = self->handle;
    size_t count = 0;
    bool done;
    REALM_BLOCKING_BEGIN(realm, self)
    if (snapshot) source = realm_results_snapshot(self->handle);
    done = source && realm_results_count(source, &count);
    REALM_BLOCKING_END
    Iterator *iterator = NULL;
    if (done) {
        iterator = (Iterator *)PyType_GenericAlloc(state->iterator_type, 0);
    } else {
        results_raise(self, "results of");
    }
    if (!iterator) {
        if (snapshot) realm_release_handle(realm, source);
        return NULL;
    }
    iterator->results = (Results *)Py_NewRef((PyObject *)self);
    iterator->source = source;
    iterator->count = count;
    iterator->snapshot = snapshot;
    iterator->by_position = by_position;
    iterator->prefetch = PREFETCH_FIRST;
    if (!snapshot && !by_position) register_with(realm, iterator);
    return (PyObject *)iterator;
}

static void finish(Iterator *self) {
    Results *results = self->results;
    if (!results) return;
    self->results = NULL;
    unregister(self);
    while (self->used < self->fetched) {
        realm_release_handle(results->realm, self->handles[self->used++]);
    }
    if (self->snapshot) realm_release_handle(results->realm, self->source);
    self->source = NULL;
    Py_DECREF((PyObject *)results);
}

static int iterator_traverse(Iterator *self, visitproc visit, void *arg) {
    Py_VISIT(TYPE_OF(self));
    Py_VISIT(self->results);
    return 0;
}

static void iterator_dealloc(Iterator *self) {
    PyTypeObject *type = TYPE_OF(self);
    PyObject_GC_UnTrack(self);
    finish(self);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

/* Fetches the next handles; 0 at the end, -1 with an exception. */
static int fetch(Iterator *self) {
    Results *results = self->results;
    size_t wanted = self->count - self->position;
    if (wanted == 0) return 0;
    if (!self->source) {
        raise_code(results->realm->state, RLM_ERR_STALE_ACCESSOR,
                   "the %s objects that were iterated over are gone",
                   results->binding->model->text);
        return -1;
    }
    if (wanted > self->prefetch) wanted = self->prefetch;
    Py_ssize_t got = results_handles(results, self->source, self->position, wanted, self->handles);
    if (got <= 0) return (int)got;
    self->used = 0;
    self->fetched = (size_t)got;
    self->position += (size_t)got;
    self->prefetch = PREFETCH_MAX;
    return 1;
}

static PyObject *next_by_position(Iterator *self) {
    size_t count;
    if (results_count(self->results, &count) < 0) return NULL;
    if (self->position < count) return results_value(self->results, self->position++);
    finish(self);
    return NULL;
}

static PyObject *iterator_next(Iterator *self) {
    Results *results = self->results;
    if (!results || results_ready(results) < 0) return NULL;
    if (self->by_position) return next_by_position(self);
    for (;;) {
        if (self->used == self->fetched) {
            int more = fetch(self);
            if (more < 0) return NULL;
            if (more == 0) break;
        }
        realm_object_t *handle = self->handles[self->used++];
        /* Deleted since the loop began. */
        if (self->snapshot && !realm_object_is_valid(handle)) {
            realm_release_handle(results->realm, handle);
            continue;
        }
        return object_wrap(results->binding, handle);
    }
    finish(self);
    return NULL;
}

static PyObject *iterator_length_hint(Iterator *self, PyObject *unused) {
    (void)unused;
    size_t fetched = self->fetched - self->used;
    size_t left = self->position < self->count ? self->count - self->position : 0;
    return PyLong_FromSize_t(self->results ? left + fetched : 0);
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

PyType_Spec iterator_spec = {
    .name = "realm._realm.ResultsIterator",
    .basicsize = sizeof(Iterator),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = iterator_slots,
};
