/* What Python's objects hold: the structs behind models, realms, objects and collections, the handles
 * in them, and whether those may be used here and now. No value is converted in this layer, and none of
 * these files knows what the types do. */
#ifndef REALM_PYTHON_HANDLES_H
#define REALM_PYTHON_HANDLES_H

#include "base/base.h"

typedef struct Property Property;
typedef struct Model Model;
typedef struct Binding Binding;
typedef struct Realm Realm;
typedef struct Object Object;
typedef struct Collection Collection;
/* Of the layers above. */
typedef struct Iterator Iterator;
typedef struct Batch Batch;

/* A property of a model class: description and descriptor. */
struct Property {
    PyObject_HEAD
    State *state;
    PyObject *name;            /* interned; attribute */
    PyObject *link_target;     /* name of the class linked to, or NULL */
    PyObject *default_value;   /* or NULL */
    PyObject *default_factory; /* or NULL */
    PyObject *form;            /* what it is in Python where that is no type of the engine: date,
                                * timedelta, a class derived from Enum; or NULL */
    PyObject *members;         /* of an Enum: dict, value -> member */
    PyObject *stored_name;     /* in the file */
    const char *stored;        /* UTF-8 of stored_name */
    const char *text;          /* UTF-8 of name */
    int type;                  /* realm_property_type_e; that of the elements of a collection */
    int collection;            /* realm_collection_type_e */
    int flags;                 /* realm_property_flags_e */
    Model *model;              /* borrowed: the model owns its properties */
    size_t index;              /* position in the model */
    PyObject *path;            /* the expression that its class has in its place, once it was asked for */
};

/* The properties of one Python class. */
struct Model {
    PyObject_HEAD
    State *state;
    PyObject *name;            /* of the Python class; public name for queries */
    const char *text;          /* UTF-8 of name */
    PyObject *stored_name;     /* the class's name in the file */
    const char *stored;        /* UTF-8 of stored_name */
    PyTypeObject *type;        /* the Python class */
    Property **properties;
    size_t count;
    Py_ssize_t primary;        /* index of the primary key, or -1 */
    bool embedded;
    PyObject *index;           /* dict: name -> position */
    Realm *recent_realm;       /* borrowed; cleared when that realm dies */
    Binding *recent_binding;
};

/* A model in one realm: the keys under which the file knows it. Lives as long as the Realm. */
struct Binding {
    Realm *realm;              /* borrowed */
    Model *model;
    realm_class_key_t class_key;
    realm_property_key_t *keys;   /* one per property of the model */
    Binding **targets;            /* per property: binding of the class linked to, or NULL */
};

struct Realm {
    PyObject_HEAD
    State *state;
    realm_t *handle;
    PyObject *path;            /* str */
    unsigned long thread;
    unsigned fork_generation;
    int busy;                  /* calls that run without the GIL */
    bool closed;
    bool frozen;               /* never changes; used on all threads */
    Binding *bindings;
    size_t binding_count;
    void **deferred;           /* handles dropped on other threads */
    size_t deferred_count;
    size_t deferred_capacity;
    Iterator *iterators;       /* those that walk over live results */
    Batch *batch;              /* the innermost that has begun, or NULL */
    unsigned long moves;       /* how often it began to write or went to another version */
    int part;                  /* what it is in a migration: one of the following */
    realm_schema_t *target;    /* of the new realm of a migration that runs: the new schema */
    Waking *waking;            /* tells event loops of work; NULL in callbacks of an opening */
    PyObject *tokens;          /* set of the open observations, or NULL */
    PyObject *raised;          /* list of what their callbacks raised in the running call, or NULL */
    PyObject *twins;           /* dict: frozen results by the address of those of this realm, or NULL */
};

/* Realms that callbacks of an opening get are the program's as long as the callback runs. */
enum { PART_NONE = 0, PART_OLD = 1, PART_NEW = 2, PART_FIRST = 3 };

/* Base of all model classes. Managed when `handle` is set, otherwise it carries its values. */
struct Object {
    PyObject_HEAD
    Model *model;
    Realm *realm;              /* NULL while unmanaged */
    Binding *binding;
    realm_object_t *handle;
    realm_object_key_t key;
    PyObject **values;         /* unmanaged: one per property, NULL where not set */
    PyObject *attributes;      /* its __dict__, for functools.cached_property; NULL at first */
    PyObject *weak_references;
};

/* A list, set or dictionary of a stored object, or a list or dictionary inside a value of any
 * type: that of a property, or of an element of the collection `outer`. */
struct Collection {
    PyObject_HEAD
    Realm *realm;
    Binding *binding;          /* of the owner's class */
    Property *property;        /* borrowed: the binding keeps the model */
    realm_object_key_t owner;
    int kind;                  /* realm_collection_type_e */
    int depth;                 /* collections around and including this one */
    Collection *outer;         /* NULL for that of a property */
    PyObject *step;            /* index or key in `outer` when it was read */
    void *handle;              /* realm_list_t, realm_set_t or realm_dictionary_t */
};

/* ---- description.c -------------------------------------------------------------------------- */

/* Default of a property as new reference, NULL without exception when there is none. */
PyObject *property_default(Property *property);
/* The type as it is declared, a new reference. */
PyObject *property_type_text(Property *property);
const char *property_type_name(int type);
/* "list[", "set[", "dict[str, ", or "" for a single value; what `collection_end` closes. */
const char *collection_begin(int collection);
const char *collection_end(int collection);
/* The schema mode of a name. 0, or -1 with an exception. */
int schema_mode_named(State *state, PyObject *name, realm_schema_mode_e *mode);

/* ---- defaults.c ----------------------------------------------------------------------------- */

/* Tells the engine of a model's defaults, for objects that it creates from JSON and by copying. */
int schema_add_defaults(State *state, realm_schema_t *schema, Model *model);

/* ---- model.c -------------------------------------------------------------------------------- */

/* Model of a class (borrowed from it), or NULL with TypeError. */
Model *model_of_class(State *state, PyObject *type);
/* Position of the property `name`, or -1; raises when `raise` is set. */
Py_ssize_t model_find(Model *model, PyObject *name, bool raise);
/* Schema handle for the models; NULL with an exception. */
realm_schema_t *schema_from_models(State *state, Model **models, size_t count);
extern PyType_Spec model_spec;

/* ---- realm_handle.c ------------------------------------------------------------------------- */

/* 0 when `realm` may be used here and now, -1 with an exception. */
int realm_ready_slow(Realm *realm);
static inline int realm_ready(Realm *realm) {
    if (!realm->closed && realm->thread == PyThread_get_thread_ident() &&
        realm->fork_generation == fork_generation && realm->deferred_count == 0) {
        return 0;
    }
    return realm_ready_slow(realm);
}
void realm_release_handle(Realm *realm, void *handle);
/* Ends the frozen twin of results that are no more. */
void realm_forget_twin(Realm *realm, PyObject *results);
/* A new realm that takes over `handle`, also on failure. */
Realm *realm_make(State *state, PyTypeObject *type, realm_t *handle, PyObject *path);

#define REALM_BLOCKING_BEGIN(realm_, owner_)                                                       \
    {                                                                                              \
        Realm *blocking_realm = (realm_);                                                          \
        PyObject *blocking_owner = Py_NewRef((PyObject *)(owner_));                                \
        blocking_realm->busy++;                                                                    \
        ENGINE_CALLS_BACK

#define REALM_BLOCKING_END                                                                         \
        ENGINE_CALLED                                                                              \
        blocking_realm->busy--;                                                                    \
        Py_DECREF(blocking_owner);                                                                 \
    }

/* ---- realm_binding.c ------------------------------------------------------------------------ */

/* What `realm` knows of a model; NULL with an exception when it was opened without it. */
Binding *realm_binding(Realm *realm, Model *model);
/* The same for a class given as Python class or by name. */
Binding *realm_binding_of(Realm *realm, PyObject *class);
Binding *realm_binding_for_key(Realm *realm, realm_class_key_t key);
int realm_bind(Realm *realm, Model **models, size_t count);
/* The same, under the keys of another realm of the file that has these models. */
int realm_bind_with(Realm *realm, Model **models, size_t count, Realm *like);
/* Looks up again which classes and properties of the file the models stand for. */
int realm_bind_again(Realm *realm);
void realm_unbind(Realm *realm);
/* The models of a tuple as a plain array, to be freed with PyMem_Free; NULL with an exception. */
Model **models_of_tuple(State *state, PyObject *tuple, size_t *count);
PyObject *realm_bind_method(Realm *self, PyObject *models);
PyObject *realm_describe(Realm *self, PyObject *unused);

/* ---- object_handle.c ------------------------------------------------------------------------ */

/* New managed object that takes over `handle`, also on failure. */
PyObject *object_wrap(Binding *binding, realm_object_t *handle);
PyObject *object_from_link(Realm *realm, realm_link_t link);
/* 0 when `self` is managed and its realm may be used. */
int object_ready(Object *self);
/* Whether `value` is an object that is in no realm. */
bool is_unmanaged(State *state, PyObject *value);
void free_values(Model *model, PyObject **values);

/* ---- collection_handle.c -------------------------------------------------------------------- */

/* New collection that takes over `handle`, also on failure. */
PyObject *collection_make(Realm *realm, Binding *binding, Property *property,
                          realm_object_key_t owner, int kind, void *handle);
/* The collection of a property. */
PyObject *collection_wrap(Object *owner, Property *property);
int collection_ready(Collection *self);
/* "Class.property", with the way from there to a nested collection. */
PyObject *collection_path(Collection *self);
/* Raises what the engine reported about this collection. */
void collection_raise(Collection *self);
/* Raises an error of our own, "path" and then the message. */
void collection_raise_code(Collection *self, int code, const char *format, ...);

#endif
