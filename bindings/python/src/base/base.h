/* The lowest layer of the extension module realm._realm, and the rules that every file keeps.
 *
 * What this module does: it converts values, owns handles, and looks after the GIL. The engine
 * behind realm.h decides; the Python package gives the shape. Each folder is a layer with one header,
 * which declares what other files use; a file names nothing of a folder above its own, and the files
 * of a folder call each other in one direction (`.ci/check-python-layers`):
 *
 *     base      the state of the module, exceptions, the GIL, waking of event loops
 *     handles   what Python's objects hold: models, realms, objects and collections as handles of the
 *               engine, and when those may be used
 *     values    Python's values as the engine's, and back
 *     objects   the types of properties, objects and collections; storing what comes with a value
 *     results   the types of results and their iterators; columns out
 *     realms    the type of realms, and all that is done to one; tokens; columns in
 *
 * and above all of them module.c. One file per Python type, or per aspect of a type.
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
 *    realm/_errors.py. */
#ifndef REALM_PYTHON_BASE_H
#define REALM_PYTHON_BASE_H

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
    PyObject *misuse;         /* realm._errors.misuse(error) */
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

/* ---- state.c -------------------------------------------------------------------------------- */

/* State of the module that `type` or one of its bases came from; NULL with an exception. */
State *state_of_type(PyTypeObject *type);
/* Counts the forks of this process: differs between a parent and its child. */
extern unsigned fork_generation;
/* Begins to count them; -1 with an exception. */
int watch_forks(void);

extern _Thread_local PyThreadState *thread_away;

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

/* ---- errors.c ------------------------------------------------------------------------------- */

/* Raises what the engine just reported, "context: message"; `format` may be NULL. */
void raise_engine(State *state, const char *format, ...);
/* Raises the exception that belongs to `code` with our own message. */
void raise_code(State *state, int code, const char *format, ...);
/* The code of calls that the engine never sees, as their arguments make no sense: `UsageError`. */
#define MISUSE (-1)
/* Makes what Python raised for an argument, a TypeError or the like, an exception of realm.Error's
 * tree that is one, too: always -1. */
int misunderstood(State *state);
static inline bool understood(State *state, int taken) {
    return taken || misunderstood(state) == 0;
}
/* PyArg_ParseTuple with such exceptions. */
#define arguments_read(state, args, ...) understood(state, PyArg_ParseTuple(args, __VA_ARGS__))
/* repr() of a value, at most 80 characters; never NULL without an exception. */
PyObject *short_repr(PyObject *value);
/* Name of the value's type, a new reference. */
PyObject *type_name(PyObject *value);
/* Says in the exception where in what was given it happened, the innermost place first. Takes over
 * `place`; may be NULL. */
void note_place(State *state, PyObject *place);
void note_index(State *state, Py_ssize_t index);
void note_key(State *state, PyObject *key);
void note_text_key(State *state, const char *text, Py_ssize_t size);

/* ---- waking.c ------------------------------------------------------------------------------- */

/* A scheduler for this thread; NULL with an exception. `*scheduler` is a handle to it. */
Waking *waking_new(realm_scheduler_t **scheduler);
void waking_release(Waking *waking);
/* A descriptor that is readable when there is work; -1 with an exception. When it is new, the engine
 * has to be told. */
int waking_descriptor(Waking *waking, bool *is_new);
/* Does the work that there is; without the GIL. */
void waking_perform(Waking *waking);

#endif
