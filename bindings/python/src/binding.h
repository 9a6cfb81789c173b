/* Shared declarations of the extension module realm._realm: the C structs behind the Python types,
 * the module state, and the rules that every file keeps.
 *
 * What this module does: it converts values, owns handles, and looks after the GIL. The engine
 * behind realm.h decides; the Python package gives the shape. One file per Python type.
 *
 * 1. Confinement. A realm belongs to the thread that opened it, a frozen one to all. Every entry
 *    point calls `realm_ready` first, which raises for a closed realm, another thread, or a forked
 *    child.
 * 2. GIL. Calls that can block, run long or call back stand between REALM_BLOCKING_BEGIN and
 *    REALM_BLOCKING_END. The pair pins the Python object that owns the handle. While the GIL is
 *    away no other thread can enter the same realm, because of rule 1. What callbacks raise meanwhile
 *    is kept, and raised by `realm_raise_kept` behind those calls that move the realm.
 * 3. Handles. Every wrapper holds a reference to its Realm, so the realm handle is released last,
 *    whatever the order in which Python drops things. `realm_release_handle` releases on the
 *    owner's thread only; handles that die on another thread wait in `Realm.deferred`.
 * 4. Fork. A child must touch neither the handles nor the file descriptors of its parent: handles
 *    opened before the fork are never released in the child.
 * 5. Errors. Only errors.c turns engine errors into exceptions, through one table that lives in
 *    realm/_errors.py.
 */
#ifndef REALM_PYTHON_BINDING_H
#define REALM_PYTHON_BINDING_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

#include <realm.h>


/* Py_TYPE takes a PyObject * in the Limited API; our structs begin with one. */
#define TYPE_OF(object) Py_TYPE((PyObject *)(object))

/* Py_XSETREF is not in the Limited API: takes over `value`. */
static inline void replace_reference(PyObject **place, PyObject *value) {
    PyObject *old = *place;
    *place = value;
    Py_XDECREF(old);
}

typedef struct State State;
typedef struct Property Property;
typedef struct Model Model;
typedef struct Binding Binding;
typedef struct Realm Realm;
typedef struct Object Object;
typedef struct Results Results;
typedef struct Iterator Iterator;
typedef struct Collection Collection;
typedef struct Batch Batch;
typedef struct Token Token;
typedef struct Waking Waking;

/* What the module needs everywhere; one per interpreter. Types keep the module, and so the state,
 * alive: an instance may keep a plain pointer to it. */
struct State {
    PyTypeObject *property_type;
    PyTypeObject *model_type;
    PyTypeObject *object_type;
    PyTypeObject *realm_type;
    PyTypeObject *results_type;
    PyTypeObject *iterator_type;
    PyTypeObject *pairs_type;
    PyTypeObject *list_type;
    PyTypeObject *set_type;
    PyTypeObject *dictionary_type;
    PyTypeObject *collection_iterator_type;
    PyTypeObject *token_type;
    PyObject *list_class;     /* what realm/_collections.py derives from the three types; NULL */
    PyObject *set_class;      /* until it says so */
    PyObject *dictionary_class;
    PyObject *make_path;      /* realm._paths: the expression for a property; NULL at first */
    PyObject *find_target;    /* realm._model: the class that a property links to, or None */
    PyObject *default_to_json; /* realm._json: the default of a property as JSON text */
    PyObject *make_error;     /* realm._errors.make_error(code, message, path) */
    PyObject *add_place;      /* realm._errors.add_place(error, place) */
    PyObject *datetime_type;
    PyObject *timedelta_type;
    PyObject *date_type;
    PyObject *enum_type;      /* enum.Enum */
    PyObject *utc;            /* datetime.timezone.utc */
    PyObject *epoch;          /* 1970-01-01T00:00:00+00:00 */
    PyObject *decimal_type;
    PyObject *uuid_type;
    PyObject *object_id_type; /* realm._values.ObjectId */
    PyObject *decimal_to_bytes;   /* realm._values.decimal_to_bytes(value) */
    PyObject *decimal_from_bytes;
    PyObject *name_bytes;     /* "bytes" */
    PyObject *name_model;     /* "__realm_model__" */
    PyObject *name_update;    /* "update" */
    PyObject *name_days;
    PyObject *name_seconds;
    PyObject *name_microseconds;
    PyObject *name_tzinfo;
};

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

struct Results {
    PyObject_HEAD
    Realm *realm;
    Binding *binding;          /* of the objects; NULL for results over other values */
    Collection *source;        /* the collection they are over, or NULL */
    realm_results_t *handle;
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

/* Where a value goes. */
typedef enum { PLACE_PROPERTY, PLACE_INSERT, PLACE_SET, PLACE_ADD, PLACE_KEY } PlaceKind;

typedef struct {
    PlaceKind kind;
    void *handle;              /* of the object or collection */
    realm_property_key_t key;  /* PLACE_PROPERTY */
    size_t index;              /* PLACE_INSERT, PLACE_SET */
    realm_value_t name;        /* PLACE_KEY */
} Place;

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

/* ---- the GIL -------------------------------------------------------------------------------- */

extern _Thread_local PyThreadState *thread_away;

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

/* Calls of the engine that may call back into Python: the GIL is away between ENGINE_CALLS_BACK and
 * ENGINE_CALLED, and what is called back stands between CALLBACK_BEGIN and CALLBACK_END. Callbacks
 * may also come while the GIL is held, may call the engine in turn, and come on a thread of the
 * engine that Python does not know yet: an exception that is set at their end is kept there. */
typedef struct {
    PyThreadState *away;
    bool foreign;
    PyGILState_STATE state;
} Callback;
Callback callback_enter(void);
void callback_leave(Callback callback);
/* What a callback raised on this thread of the engine, as a new reference, or NULL. */
PyObject *callback_exception(void);

#define ENGINE_CALLS_BACK                                                                          \
    {                                                                                              \
        thread_away = PyEval_SaveThread();

#define ENGINE_CALLED                                                                              \
        PyEval_RestoreThread(thread_away);                                                         \
        thread_away = NULL;                                                                        \
    }

#define CALLBACK_BEGIN                                                                             \
    {                                                                                              \
        Callback callback_ = callback_enter();

#define CALLBACK_END                                                                               \
        callback_leave(callback_);                                                                 \
    }

/* ---- module.c ------------------------------------------------------------------------------- */

/* State of the module that `type` or one of its bases came from; NULL with an exception. */
State *state_of_type(PyTypeObject *type);
/* Counts the forks of this process: differs between a parent and its child. */
extern unsigned fork_generation;

/* ---- errors.c ------------------------------------------------------------------------------- */

/* Raises what the engine just reported, "context: message"; `format` may be NULL. */
void raise_engine(State *state, const char *format, ...);
/* Raises the exception that belongs to `code` with our own message. */
void raise_code(State *state, int code, const char *format, ...);
/* repr() of a value, at most 80 characters; never NULL without an exception. */
PyObject *short_repr(PyObject *value);
/* Name of the value's type, a new reference. */
PyObject *type_name(PyObject *value);

/* ---- values.c, normalise.c ------------------------------------------------------------------- */

/* Converts `value` for `property`. `*keep` receives a reference that must outlive the use of
 * `out`, or NULL. Links need a managed object of `realm`. 0, or -1 with an exception. */
int value_for_property(Property *property, Realm *realm, PyObject *value, realm_value_t *out,
                       PyObject **keep);
/* The same for an argument of a query, whose type follows from the value. */
int value_for_query(State *state, Realm *realm, PyObject *value, realm_value_t *out,
                    PyObject **keep);
/* Raises "Class.property is TYPE, got TYPE2: VALUE"; -1. */
int raise_mismatch(Property *property, PyObject *value);
/* Raises "Class.property: VALUE RULE"; -1. */
int raise_range(Property *property, PyObject *value, const char *rule);
int string_from_python(PyObject *value, realm_value_t *out);
bool is_bytes_like(PyObject *value);
bool is_in_utc(State *state, PyObject *value);
/* The value as an unmanaged object keeps it: checked and in the form in which it would be read. */
PyObject *value_normalised(Property *property, PyObject *value);
/* The same for one value, also an element of a collection. `realm` may be NULL, as above; dicts
 * that stand for objects stay dicts when `keep_dicts` is set. */
PyObject *element_normalised(Property *property, Realm *realm, PyObject *value, bool keep_dicts);
/* The content for the collection of a property: a new list, set or dict of checked elements. */
PyObject *collection_normalised(Property *property, Realm *realm, PyObject *value,
                                bool keep_dicts);
/* The elements of a plain list checked in place; takes over the list. */
PyObject *list_normalised(Property *property, Realm *realm, PyObject *list, bool keep_dicts);
/* An object of `type`, a model class, with the values of a dict. */
PyObject *object_from_dict(PyObject *type, PyObject *values);
/* A key of a dictionary. 0, or -1 with an exception. */
int key_from_python(Property *property, PyObject *key, realm_value_t *out);
/* Checks that a key may be stored. 0, or -1 with an exception. */
int key_check(Property *property, PyObject *key);
/* Python form of a value; `realm` resolves links. */
PyObject *value_to_python(State *state, Realm *realm, const realm_value_t *value);

/* ---- forms.c -------------------------------------------------------------------------------- */

/* What a value of a property that has a form is for the engine, as a Python value of its own: a new
 * reference, or NULL with an exception. */
PyObject *form_to_raw(Property *property, PyObject *value);
/* The way back; takes over `raw`, which may be NULL. */
PyObject *form_from_raw(Property *property, PyObject *raw);
/* The same for an argument of a query, by its own type; other values are returned as they are. */
PyObject *argument_to_raw(State *state, PyObject *value);
/* A value of a property, or of an element of its collection, as Python has it. */
PyObject *property_to_python(Property *property, Realm *realm, const realm_value_t *value);
/* The type as it is declared, a new reference. */
PyObject *property_type_text(Property *property);

/* ---- model.c, property.c -------------------------------------------------------------------- */

/* Model of a class (borrowed from it), or NULL with TypeError. */
Model *model_of_class(State *state, PyObject *type);
/* Position of the property `name`, or -1; raises when `raise` is set. */
Py_ssize_t model_find(Model *model, PyObject *name, bool raise);
/* Schema handle for the models; NULL with an exception. */
realm_schema_t *schema_from_models(State *state, Model **models, size_t count);
/* Default of a property as new reference, NULL without exception when there is none. */
PyObject *property_default(Property *property);
const char *property_type_name(int type);
/* "list[", "set[", "dict[str, ", or "" for a single value; what `collection_end` closes. */
const char *collection_begin(int collection);
const char *collection_end(int collection);

/* ---- realm.c, realm_binding.c, realm_objects.c ------------------------------------------------- */

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
/* What `realm` knows of a model; NULL with an exception when it was opened without it. */
Binding *realm_binding(Realm *realm, Model *model);
/* The same for a class given as Python class or by name. */
Binding *realm_binding_of(Realm *realm, PyObject *class);
Binding *realm_binding_for_key(Realm *realm, realm_class_key_t key);
int realm_bind(Realm *realm, Model **models, size_t count);
/* The same, under the keys of another realm of the file that has these models. */
int realm_bind_with(Realm *realm, Model **models, size_t count, Realm *like);
/* The realm may go to another version now: what iterators have read ahead ends. */
void realm_moves(Realm *realm);
void realm_unbind(Realm *realm);
PyObject *realm_bind_method(Realm *self, PyObject *models);
PyObject *realm_describe(Realm *self, PyObject *unused);
/* The models of a tuple as a plain array, to be freed with PyMem_Free; NULL with an exception. */
Model **models_of_tuple(State *state, PyObject *tuple, size_t *count);
/* A new realm that takes over `handle`, also on failure. */
Realm *realm_make(State *state, PyTypeObject *type, realm_t *handle, PyObject *path);
/* Looks up again which classes and properties of the file the models stand for. */
int realm_bind_again(Realm *realm);
PyObject *realm_create(Realm *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *realm_add(Realm *self, PyObject *args, PyObject *kwargs);
PyObject *realm_find(Realm *self, PyObject *args);
PyObject *realm_object_for_key(Realm *self, PyObject *args);
PyObject *realm_delete_object(Realm *self, PyObject *object);

/* What the engine calls an update policy. */
realm_update_policy_e engine_policy(int update);
/* The number of an update policy by name, NULL being that of "error"; -1 with an exception. */
int update_policy(PyObject *name);

/* ---- realm_opening.c ------------------------------------------------------------------------- */

/* What a realm is opened with, and the first exception of its callbacks. */
typedef struct {
    State *state;
    PyTypeObject *type;        /* of realms */
    PyObject *path;
    PyObject *tuple;           /* of the models, or NULL */
    Model **models;
    size_t count;
    PyObject *migrate;         /* called with the old and the new realm, or NULL */
    PyObject *initial_data;    /* called with the realm whose file is made, or NULL */
    PyObject *progress;        /* called with the part that is done, or NULL */
    PyObject *done;            /* called when an opening on another thread has ended, or NULL */
    PyObject *error;
    realm_schema_t *schema;
    realm_config_t *config;
} Opening;

PyObject *realm_open_new(PyTypeObject *type, PyObject *args, PyObject *kwargs);
PyObject *realm_open_async_method(PyTypeObject *type, PyObject *args, PyObject *kwargs);
PyObject *realm_claim(PyTypeObject *type, PyObject *args);
/* 0, or -1 with an exception. */
int schema_mode_named(PyObject *name, realm_schema_mode_e *mode);
PyObject *cancel_opening(PyObject *module, PyObject *token);
/* A realm around a handle that a callback borrows. */
Realm *borrowed_realm(Opening *opening, realm_t *handle, int part);
/* Nothing that came from it can be used any more. Drops the reference. */
void end_borrowed_realm(Realm *realm);
/* Keeps the exception that is set, unless there is an earlier one. */
void opening_keep_exception(Opening *opening);
/* Raises it; false if there is none. */
bool opening_raise(Opening *opening);

/* ---- realm_migration.c ----------------------------------------------------------------------- */

/* realm_migration_func_t; `userdata` is an Opening. */
bool migration_run(void *userdata, realm_t *old, realm_t *new, const realm_schema_t *schema);
/* Pairs of objects: those of results, each with the one of this realm that has its key. */
PyObject *realm_pairs(Realm *self, PyObject *args);
extern PyType_Spec pairs_spec;
PyObject *realm_rename_property(Realm *self, PyObject *args);
PyObject *realm_rename_class(Realm *self, PyObject *args);
PyObject *realm_delete_class(Realm *self, PyObject *args);
PyObject *realm_delete_objects_of(Realm *self, PyObject *args);
PyObject *realm_preview(Realm *self, PyObject *args);
PyObject *realm_rehearse(Realm *self, PyObject *args);

/* ---- json.c --------------------------------------------------------------------------------- */

PyObject *realm_create_from_json(Realm *self, PyObject *args);
PyObject *realm_copy_object(Realm *self, PyObject *args);
PyObject *object_to_json(Object *self, PyObject *args);
/* Tells the engine of a model's defaults, for objects that it creates from JSON and by copying. */
int schema_add_defaults(State *state, realm_schema_t *schema, Model *model);

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
/* Stores the row, with all that its items bring along; NULL with an exception, and nothing written.
 * `adopted`: the object in no realm whose values these are, which may be linked to, or NULL. */
realm_object_t *row_create(Row *row, Object *adopted, int update);
/* Raises what the engine reported about a row. */
void row_raise(Row *row);

/* ---- batch.c --------------------------------------------------------------------------------- */

/* From now on changes of the realm are one. 0, and to be ended, or -1 with an exception. */
int batch_begin(Batch *batch, Realm *realm);
/* The same for elements (a list of checked ones) that go into a collection one after another; begins
 * nothing where none can fail after another was stored. */
int batch_begin_elements(Batch *batch, Collection *into, PyObject *values);
/* Takes back what changed if `bad`; 0, or -1 with an exception. */
int batch_end(Batch *batch, int bad);
/* Notes an object that became managed, and takes over its values; false without memory for that. */
bool batch_keep(Batch *batch, Object *object, PyObject **values);
/* Says in the exception where in what was given it happened, the innermost place first. Takes over
 * `place`; may be NULL. */
void note_place(State *state, PyObject *place);
void note_index(State *state, Py_ssize_t index);
void note_key(State *state, PyObject *key);
void note_text_key(State *state, const char *text, Py_ssize_t size);
/* Realm._atomically: calls a function, whose changes are one. */
PyObject *realm_atomically(Realm *self, PyObject *function);

/* ---- tree.c ---------------------------------------------------------------------------------- */

/* Whether `value` is more than a conversion away from being stored: it brings new objects, or is a
 * list or dictionary for a property of any type. */
bool brings_objects(Property *property, Binding *target, PyObject *value);
bool is_unmanaged(State *state, PyObject *value);
void free_values(Model *model, PyObject **values);
/* Makes `object` a view of the stored object, whose handle it takes over. */
void object_manage(Object *object, Binding *binding, realm_object_t *handle);
/* As `row_create`, whatever the items bring along; for rows that were completed. */
realm_object_t *tree_create(Row *row, Object *adopted, int update);
/* Gives a property of a stored object a value that is not checked yet. */
int tree_assign(Binding *binding, realm_object_t *handle, Property *property, PyObject *value);
/* Puts a checked value into a collection, with all that it brings along. */
int tree_put(Realm *realm, Property *property, Binding *target, const Place *place,
             PyObject *value);
/* Whether `value` is the embedded object that is at the place already. */
bool embedded_is_at(Realm *realm, const Place *place, PyObject *value);

/* ---- realm_check.c -------------------------------------------------------------------------- */

PyObject *realm_check_method(Realm *self, PyObject *unused);
PyObject *realm_statistics_method(Realm *self, PyObject *unused);
PyObject *check_file(PyObject *module, PyObject *arguments);
PyObject *change_encryption_key(PyObject *module, PyObject *arguments);
/* An empty key would stand for none: -1 with an exception. The engine checks other sizes. */
int encryption_key_check(const char *key, Py_ssize_t size);

/* ---- object.c ------------------------------------------------------------------------------- */

/* New managed object that takes over `handle`, also on failure. */
PyObject *object_wrap(Binding *binding, realm_object_t *handle);
PyObject *object_from_link(Realm *realm, realm_link_t link);
PyObject *object_get_property(Object *self, Property *property);
int object_set_property(Object *self, Property *property, PyObject *value);
/* 0 when `self` is managed and its realm may be used. */
int object_ready(Object *self);

/* ---- results.c, results_refine.c, results_values.c, iterator.c ------------------------------- */

/* New results that take over `handle`, also on failure. */
PyObject *results_wrap(PyTypeObject *type, Binding *binding, realm_results_t *handle);
/* The same, over a collection if `source` is not NULL. */
PyObject *results_make(PyTypeObject *type, Realm *realm, Binding *binding, Collection *source,
                       realm_results_t *handle);
/* Results over the elements of a collection, or the values of a dictionary. */
PyObject *results_of_collection(PyTypeObject *type, PyObject *collection);
/* Results made from others: of the same objects or values. Takes over `handle`. */
PyObject *results_derived(Results *self, realm_results_t *handle);
/* Class or collection that they are of, for messages. */
PyObject *results_name(Results *self);
/* Raises what the engine reported, "doing NAME: ...". */
void results_raise(Results *self, const char *doing);
/* Raises unless these are results over objects. */
int results_need_objects(Results *self, const char *doing);
/* The element at a position of results over values. */
PyObject *results_value(Results *self, size_t index);
int results_ready(Results *self);
/* Number of elements, counted without the GIL. */
int results_count(Results *self, size_t *count);
/* `count` handles from `first` on into `handles`; how many there were, -1 with an exception. */
Py_ssize_t results_handles(Results *self, realm_results_t *source, size_t first, size_t count,
                           realm_object_t **handles);
PyObject *results_iterate(Results *self);
/* Gives iterators over live results snapshots; called before anything can change. */
void iterators_settle(Realm *realm);
PyObject *results_of_class(PyTypeObject *type, PyObject *args);
PyObject *results_of_backlinks(PyTypeObject *type, PyObject *args);
PyObject *results_filter(Results *self, PyObject *args);
PyObject *results_sort(Results *self, PyObject *text);
PyObject *results_distinct(Results *self, PyObject *text);
PyObject *results_limit(Results *self, PyObject *count);
PyObject *results_offset(Results *self, PyObject *count);
PyObject *results_snapshot(Results *self, PyObject *unused);
PyObject *results_explain(Results *self, PyObject *unused);
PyObject *results_aggregate(Results *self, PyObject *args);
PyObject *results_values(Results *self, PyObject *names);
PyObject *results_arrow_stream(Results *self, PyObject *names);
PyObject *results_column(Results *self, PyObject *name);
PyObject *realm_insert_columns(Realm *self, PyObject *args);

/* ---- nested.c -------------------------------------------------------------------------------- */

/* Whether `value` is what properties of any type hold as a list or dictionary. */
bool is_nested(State *state, PyObject *value);
/* A checked plain copy for a property. */
PyObject *nested_normalised(Property *property, Realm *realm, PyObject *value);
/* The same for an element of a collection. */
PyObject *nested_element(Collection *into, const Place *place, PyObject *value);
/* The same for the content of a collection, given as a list or dict. `into`: NULL for the one of a
 * property. */
PyObject *nested_content(Property *property, Realm *realm, PyObject *content, Collection *into);
/* Views of what a property, an element or a value of results holds. `type`: RLM_TYPE_LIST or
 * RLM_TYPE_DICTIONARY. */
PyObject *nested_of_object(Object *owner, Property *property, int type);
PyObject *nested_of_element(Collection *outer, size_t index, const realm_value_t *key, int type);

/* ---- collection.c, collection_iterator.c ---------------------------------------------------- */

/* New collection that takes over `handle`, also on failure. */
PyObject *collection_make(Realm *realm, Binding *binding, Property *property,
                          realm_object_key_t owner, int kind, void *handle);

PyObject *collection_wrap(Object *owner, Property *property);
int collection_ready(Collection *self);
Py_ssize_t collection_length(Collection *self);
/* "Class.property", with the way from there to a nested collection. */
PyObject *collection_path(Collection *self);
/* Raises what the engine reported about this collection. */
void collection_raise(Collection *self);
/* Raises an error of our own, "path" and then the message. */
void collection_raise_code(Collection *self, int code, const char *format, ...);
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

/* Walks over elements, keys, or pairs of both. */
typedef enum { WALK_VALUES, WALK_KEYS, WALK_ITEMS } Walk;
PyObject *collection_walk(Collection *self, Walk walk);
PyObject *collection_iterate(Collection *self);

extern PyType_Spec list_spec;
extern PyType_Spec set_spec;
extern PyType_Spec dictionary_spec;
extern PyType_Spec collection_iterator_spec;
extern PyType_Spec property_spec;
extern PyType_Spec model_spec;
extern PyType_Spec object_spec;
extern PyType_Spec realm_spec;
extern PyType_Spec results_spec;
extern PyType_Spec iterator_spec;

#include "observing.h"

#endif
