/* Results: their type, iterators over them, and what is drawn from them. */
#ifndef REALM_PYTHON_RESULTS_H
#define REALM_PYTHON_RESULTS_H

#include "objects/objects.h"

typedef struct Results Results;

struct Results {
    PyObject_HEAD
    Realm *realm;
    Binding *binding;          /* of the objects; NULL for results over other values */
    Collection *source;        /* the collection they are over, or NULL */
    realm_results_t *handle;
    bool each_once;            /* no object is there twice: they are of a class, not of a collection */
};

/* ---- results_reading.c ---------------------------------------------------------------------- */

/* New results that take over `handle`, also on failure. */
PyObject *results_wrap(PyTypeObject *type, Binding *binding, realm_results_t *handle);
/* The same, over a collection if `source` is not NULL. */
PyObject *results_make(PyTypeObject *type, Realm *realm, Binding *binding, Collection *source,
                       realm_results_t *handle);
/* Results made from others: of the same objects or values. Takes over `handle`. */
PyObject *results_derived(Results *self, realm_results_t *handle);
/* Class or collection that they are of, for messages. */
PyObject *results_name(Results *self);
/* Raises what the engine reported, "doing NAME: ...". */
void results_raise(Results *self, const char *doing);
/* Raises unless these are results over objects. */
int results_need_objects(Results *self, const char *doing);
int results_ready(Results *self);
/* Number of elements, counted without the GIL. */
int results_count(Results *self, size_t *count);
/* The element at a position of results over values. */
PyObject *results_value(Results *self, size_t index);
/* `count` handles from `first` on into `handles`; how many there were, -1 with an exception. */
Py_ssize_t results_handles(Results *self, realm_results_t *source, size_t first, size_t count,
                           realm_object_t **handles);

/* ---- iterator.c ----------------------------------------------------------------------------- */

PyObject *results_iterate(Results *self);
/* Gives iterators over live results snapshots; called before anything can change. */
void iterators_settle(Realm *realm);
/* The realm may go to another version now: what iterators have read ahead ends. */
void realm_moves(Realm *realm);
extern PyType_Spec iterator_spec;

/* ---- results_refine.c ----------------------------------------------------------------------- */

PyObject *results_of_class(PyTypeObject *type, PyObject *args);
PyObject *results_of_backlinks(PyTypeObject *type, PyObject *args);
PyObject *results_filter(Results *self, PyObject *args);
PyObject *results_where(Results *self, PyObject *args);
PyObject *results_sort(Results *self, PyObject *text);
PyObject *results_distinct(Results *self, PyObject *text);
PyObject *results_limit(Results *self, PyObject *count);
PyObject *results_offset(Results *self, PyObject *count);
PyObject *results_snapshot(Results *self, PyObject *unused);
PyObject *results_explain(Results *self, PyObject *unused);
PyObject *results_aggregate(Results *self, PyObject *args);

/* ---- results_values.c ----------------------------------------------------------------------- */

PyObject *results_values(Results *self, PyObject *names);

/* ---- results_groups.c ----------------------------------------------------------------------- */

PyObject *results_groups(Results *self, PyObject *args);

/* ---- arrow_columns.c, arrow_out.c ----------------------------------------------------------- */

PyObject *results_column(Results *self, PyObject *name);
PyObject *results_arrow_stream(Results *self, PyObject *names);
PyObject *results_arrow_schema(Results *self, PyObject *names);

/* ---- results.c ------------------------------------------------------------------------------ */

extern PyType_Spec results_spec;

#endif
