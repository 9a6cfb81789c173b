/* Python's values as those of the engine, and back. */
#ifndef REALM_PYTHON_VALUES_H
#define REALM_PYTHON_VALUES_H

#include "handles/handles.h"

/* Where a value goes. */
typedef enum { PLACE_PROPERTY, PLACE_INSERT, PLACE_SET, PLACE_ADD, PLACE_KEY } PlaceKind;

typedef struct {
    PlaceKind kind;
    void *handle;              /* of the object or collection */
    realm_property_key_t key;  /* PLACE_PROPERTY */
    size_t index;              /* PLACE_INSERT, PLACE_SET */
    realm_value_t name;        /* PLACE_KEY */
} Place;

/* ---- value_errors.c ------------------------------------------------------------------------- */

/* Raises "Class.property is TYPE, got TYPE2: VALUE"; -1. */
int raise_mismatch(Property *property, PyObject *value);
/* Raises that a property, or its elements, can't be None; -1. */
int raise_null(Property *property);
/* Raises "Class.property: VALUE RULE"; -1. */
int raise_range(Property *property, PyObject *value, const char *rule);

/* ---- forms.c -------------------------------------------------------------------------------- */

/* What a value of a property that has a form is for the engine, as a Python value of its own: a new
 * reference, or NULL with an exception. */
PyObject *form_to_raw(Property *property, PyObject *value);
/* The way back; takes over `raw`, which may be NULL. */
PyObject *form_from_raw(Property *property, PyObject *raw);
/* What the argument of a query is for the engine, by its own type; other values are returned as they
 * are. */
PyObject *argument_to_raw(State *state, PyObject *value);

/* ---- values.c ------------------------------------------------------------------------------- */

/* Converts `value` for `property`. `*keep` receives a reference that must outlive the use of
 * `out`, or NULL. Links need a managed object of `realm`. 0, or -1 with an exception. */
int value_for_property(Property *property, Realm *realm, PyObject *value, realm_value_t *out,
                       PyObject **keep);
/* The same for an argument of a query, whose type follows from the value. */
int value_for_query(State *state, Realm *realm, PyObject *value, realm_value_t *out,
                    PyObject **keep);
/* Python form of a value; `realm` resolves links. */
PyObject *value_to_python(State *state, Realm *realm, const realm_value_t *value);
/* A value of a property, or of an element of its collection, as Python has it. */
PyObject *property_to_python(Property *property, Realm *realm, const realm_value_t *value);
int string_from_python(PyObject *value, realm_value_t *out);
bool is_bytes_like(PyObject *value);
bool is_in_utc(State *state, PyObject *value);

/* ---- normalise.c ---------------------------------------------------------------------------- */

/* The value as an unmanaged object keeps it: checked and in the form in which it would be read. */
PyObject *value_normalised(Property *property, PyObject *value);
/* The same for one value, also an element of a collection. `realm` may be NULL; dicts
 * that stand for objects stay dicts when `keep_dicts` is set. */
PyObject *element_normalised(Property *property, Realm *realm, PyObject *value, bool keep_dicts);
/* The content for the collection of a property: a new list, set or dict of checked elements. */
PyObject *collection_normalised(Property *property, Realm *realm, PyObject *value,
                                bool keep_dicts);
/* The elements of a plain list checked in place; takes over the list. */
PyObject *list_normalised(Property *property, Realm *realm, PyObject *list, bool keep_dicts);
/* A key of a dictionary. 0, or -1 with an exception. */
int key_from_python(Property *property, PyObject *key, realm_value_t *out);
/* Checks that a key may be stored. 0, or -1 with an exception. */
int key_check(Property *property, PyObject *key);
/* Whether the engine takes the key in every dictionary. Those in values of any type take each. */
bool key_is_plain(realm_string_t key);
/* Whether `value` is what properties of any type hold as a list or dictionary. */
bool is_nested(State *state, PyObject *value);
/* Whether `value` is more than a conversion away from being stored: it brings new objects, or is a
 * list or dictionary for a property of any type. */
bool brings_objects(Property *property, Binding *target, PyObject *value);
/* A checked plain copy for a property. */
PyObject *nested_normalised(Property *property, Realm *realm, PyObject *value);
/* The same for an element of a collection. */
PyObject *nested_element(Collection *into, const Place *place, PyObject *value);
/* The same for the content of a collection, given as a list or dict. `into`: NULL for the one of a
 * property. */
PyObject *nested_content(Property *property, Realm *realm, PyObject *content, Collection *into);

#endif
