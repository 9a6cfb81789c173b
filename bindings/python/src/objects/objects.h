/* Objects and collections: their types, and storing what comes with a value. */
#ifndef REALM_PYTHON_OBJECTS_H
#define REALM_PYTHON_OBJECTS_H

#include "values/values.h"

/* Several changes that are one, from `batch_begin` to `batch_end`. */
struct Batch {
    Realm *realm;              /* NULL: nothing to take back */
    Batch *outer;
    uint64_t savepoint;        /* 0 outside a write transaction */
    struct Adopted *adopted;   /* objects that became managed */
    size_t count, capacity;
};

/* How `create` and `add` treat a primary key that is there already. */
enum { UPDATE_ERROR = 0, UPDATE_ALL = 1, UPDATE_MODIFIED = 2 };

#define INLINE_PROPERTIES 24

/* The values of one object on their way into the engine. */
typedef struct {
    Binding *binding;
    size_t count;                 /* entries of keys, values and keeps */
    realm_object_t *existing;     /* the object that is updated, NULL for a new one */
    PyObject **items;             /* per property of the model, owned; NULL where not given */
    bool *defaults;               /* per property: the item is the default of a new object */
    realm_property_key_t *keys;
    realm_value_t *values;
    PyObject **keeps;
    PyObject *inline_items[INLINE_PROPERTIES];
    bool inline_defaults[INLINE_PROPERTIES];
    realm_property_key_t inline_keys[INLINE_PROPERTIES];
    realm_value_t inline_values[INLINE_PROPERTIES];
    PyObject *inline_keeps[INLINE_PROPERTIES];
} Row;

/* ---- batch.c -------------------------------------------------------------------------------- */

/* From now on changes of the realm are one. 0, and to be ended, or -1 with an exception. */
int batch_begin(Batch *batch, Realm *realm);
/* The same for elements (a list of checked ones) that go into a collection one after another; begins
 * nothing where none can fail after another was stored. */
int batch_begin_elements(Batch *batch, Collection *into, PyObject *values);
/* Takes back what changed if `bad`; 0, or -1 with an exception. */
int batch_end(Batch *batch, int bad);
/* Notes an object that became managed, and takes over its values; false without memory for that. */
bool batch_keep(Batch *batch, Object *object, PyObject **values);
/* Realm._atomically: calls a function, whose changes are one. */
PyObject *realm_atomically(Realm *self, PyObject *function);

/* ---- row.c ---------------------------------------------------------------------------------- */

/* Every row that was opened, also without success, must be closed. */
int row_open(Row *row, Binding *binding);
void row_close(Row *row);
int row_give(Row *row, Py_ssize_t index, PyObject *value);
int row_give_dict(Row *row, PyObject *values);
/* Finds the object that the row updates. */
int row_find(Row *row, int update);
/* Fills in what a new object gets that was not given. Raises when there is nothing for a property;
 * where `missing` is not NULL, it gets the message instead. */
int row_complete(Row *row, PyObject **missing);
/* Converts the value of the primary key, as `value_for_property` does. */
int row_key(Row *row, realm_value_t *key, PyObject **keep);
/* Raises what the engine reported about a row. */
void row_raise(Row *row);
/* What the engine calls an update policy. */
realm_update_policy_e engine_policy(int update);
/* The number of an update policy by name, NULL being that of "error"; -1 with an exception. */
int update_policy(State *state, PyObject *name);

/* ---- tree.c --------------------------------------------------------------------------------- */

/* Makes `object` a view of the stored object, whose handle it takes over. */
void object_manage(Object *object, Binding *binding, realm_object_t *handle);
/* Stores a row that was completed, whatever its items bring along; NULL with an exception, and nothing
 * written. `adopted`: the object in no realm whose values these are, which may be linked to, or NULL. */
realm_object_t *tree_create(Row *row, Object *adopted, int update);
/* Gives a property of a stored object a value that is not checked yet. */
int tree_assign(Binding *binding, realm_object_t *handle, Property *property, PyObject *value);
/* Puts a checked value into a collection, with all that it brings along. */
int tree_put(Realm *realm, Property *property, Binding *target, const Place *place,
             PyObject *value);
/* Whether `value` is the embedded object that is at the place already. */
bool embedded_is_at(Realm *realm, const Place *place, PyObject *value);

/* ---- row_store.c ---------------------------------------------------------------------------- */

/* As `tree_create`, for rows that are to be completed. */
realm_object_t *row_create(Row *row, Object *adopted, int update);

/* ---- object.c, property.c ------------------------------------------------------------------- */

PyObject *object_get_property(Object *self, Property *property);
int object_set_property(Object *self, Property *property, PyObject *value);
extern PyType_Spec object_spec;
extern PyType_Spec property_spec;

/* ---- nested.c ------------------------------------------------------------------------------- */

/* Views of what a property, an element or a value of results holds. `type`: RLM_TYPE_LIST or
 * RLM_TYPE_DICTIONARY. */
PyObject *nested_of_object(Object *owner, Property *property, int type);
PyObject *nested_of_element(Collection *outer, size_t index, const realm_value_t *key, int type);

/* ---- collection.c --------------------------------------------------------------------------- */

Py_ssize_t collection_length(Collection *self);
/* Reads `count` elements from `first` on without the engine being asked for each; how many there
 * were, -1 with an exception. `keys` and `values` may be NULL. */
Py_ssize_t collection_read(Collection *self, size_t first, size_t count, realm_value_t *keys,
                           realm_value_t *values);
/* Python form of a value that was read at an index, or at a key of a dictionary. */
PyObject *collection_value(Collection *self, size_t index, const realm_value_t *key,
                           const realm_value_t *value);
/* Whether `value` is a view of the collection that is at the place already. */
bool collection_is_at(Realm *realm, const Place *place, PyObject *value);
/* `count` elements from `first` on as a list, in steps. */
PyObject *collection_slice(Collection *self, Py_ssize_t first, Py_ssize_t step, Py_ssize_t count);
/* All elements: a list, or a dict of a dictionary. */
PyObject *collection_contents(Collection *self);
/* Reads the element at an index; `key` may be NULL. */
PyObject *collection_element(Collection *self, size_t index, PyObject **key);
/* Position of the first element that equals `value` in Python, SIZE_MAX if there is none. */
int collection_find(Collection *self, PyObject *value, size_t *index);
int collection_contains(Collection *self, PyObject *value);
int collection_put(Collection *self, const Place *place, PyObject *value);
/* What is given for elements of a list or set, checked, as a list. Getting it may run any code. */
PyObject *collection_elements(Collection *self, PyObject *values);
PyObject *collection_clear(Collection *self, PyObject *unused);
PyObject *collection_new(PyTypeObject *type, PyObject *args, PyObject *kwargs);
int collection_traverse(Collection *self, visitproc visit, void *arg);
void collection_dealloc(Collection *self);
extern PyGetSetDef collection_getset[];

/* ---- collection_iterator.c ------------------------------------------------------------------ */

/* Walks over elements, keys, or pairs of both. */
typedef enum { WALK_VALUES, WALK_KEYS, WALK_ITEMS } Walk;
PyObject *collection_walk(Collection *self, Walk walk);
PyObject *collection_iterate(Collection *self);
extern PyType_Spec collection_iterator_spec;

/* ---- list.c, set.c, dictionary.c ------------------------------------------------------------ */

extern PyType_Spec list_spec;
extern PyType_Spec set_spec;
extern PyType_Spec dictionary_spec;

#endif
