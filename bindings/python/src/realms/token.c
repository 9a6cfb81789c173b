/* realm._realm.Token: an observation of an object, results, a collection or a realm. Its realm keeps
 * it until it is closed, so that a program may forget it. What it tells are plain values;
 * realm/_observing.py makes change objects of them.
 *
 * The engine calls back on the realm's thread, in the calls that move the realm: the GIL is away
 * then. What it holds is a cell that knows the token as long as that is open: so the cycle of realm,
 * token and what is observed is one that Python sees, and callbacks that come too late find nothing.
 */
#include "realms/realms.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Shared by a token and the engine. */
typedef struct {
    Token *token;              /* NULL once it is closed; under the GIL */
    atomic_uint users;
} Cell;

struct Token {
    PyObject_HEAD
    Realm *realm;
    PyObject *subject;         /* keeps the handle that is observed; the realm itself: NULL */
    PyObject *function;        /* called with what changed, and whether it is the first call */
    Binding *binding;          /* of an object that is observed, or NULL */
    Cell *cell;
    void *handle;              /* NULL once it is closed */
    bool was_called;
};

static void cell_release(void *userdata) {
    Cell *cell = userdata;
    if (atomic_fetch_sub(&cell->users, 1) == 1) free(cell);
}

/* ---- what the engine calls ------------------------------------------------------------------- */

static void realm_keep_exception(Realm *realm) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback) PyException_SetTraceback(value, traceback);
    if (!realm->raised) realm->raised = PyList_New(0);
    if (!realm->raised || PyList_Append(realm->raised, value) < 0) PyErr_WriteUnraisable(value);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
}

int realm_raise_kept(Realm *realm) {
    PyObject *raised = realm->raised;
    if (!raised) return 0;
    realm->raised = NULL;
    if (PyList_Size(raised) == 1) {
        PyObject *error = PyList_GetItem(raised, 0);
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    } else {
        /* Makes an ExceptionGroup of them when it can. */
        PyObject *group = PyObject_CallFunction(PyExc_BaseExceptionGroup, "sO",
                                                "several observers raised", raised);
        if (group) PyErr_SetObject((PyObject *)Py_TYPE(group), group);
        Py_XDECREF(group);
    }
    Py_DECREF(raised);
    return -1;
}

/* Calls the program; takes over `told`, NULL with an exception when there is nothing to tell. */
static void tell(Token *token, PyObject *told) {
    Realm *realm = token->realm;
    PyObject *result = NULL;
    if (told) {
        PyObject *function = Py_NewRef(token->function);
        PyObject *is_first = token->was_called ? Py_False : Py_True;
        token->was_called = true;
        result = PyObject_CallFunctionObjArgs(function, told, is_first, NULL);
        Py_DECREF(function);
        Py_DECREF(told);
    }
    if (!result) realm_keep_exception(realm);
    Py_XDECREF(result);
}

/* Begins and ends a callback: runs the statement between them if the token is open. */
#define TELL_BEGIN(userdata_)                                                                      \
    CALLBACK_BEGIN                                                                                 \
    Token *token = ((Cell *)(userdata_))->token;                                                   \
    if (token) {                                                                                   \
        Py_INCREF((PyObject *)token);

#define TELL_END                                                                                   \
        Py_DECREF((PyObject *)token);                                                              \
    }                                                                                              \
    CALLBACK_END

/* (deleted, names): those of properties that the model has. */
static PyObject *object_told(Token *token, const realm_object_changes_t *changes) {
    size_t count = realm_object_changes_get_num_modified_properties(changes);
    realm_property_key_t *keys = PyMem_Calloc(count + 1, sizeof *keys);
    PyObject *names = PyList_New(0);
    if (!keys || !names) {
        if (!keys) PyErr_NoMemory();
        Py_CLEAR(names);
    }
    Model *model = token->binding->model;
    if (names) count = realm_object_changes_get_modified_properties(changes, keys, count);
    for (size_t i = 0; names && i < count; i++) {
        for (size_t j = 0; names && j < model->count; j++) {
            if (token->binding->keys[j] != keys[i]) continue;
            if (PyList_Append(names, model->properties[j]->name) < 0) Py_CLEAR(names);
        }
    }
    PyMem_Free(keys);
    if (!names) return NULL;
    return Py_BuildValue("(NN)", PyBool_FromLong(realm_object_changes_is_deleted(changes)), names);
}

static void object_changed(void *userdata, const realm_object_changes_t *changes) {
    TELL_BEGIN(userdata)
    tell(token, object_told(token, changes));
    TELL_END
}

/* A tuple of ranges. */
static PyObject *ranges_told(const realm_index_range_t *ranges, size_t count) {
    PyObject *tuple = PyTuple_New((Py_ssize_t)count);
    for (size_t i = 0; tuple && i < count; i++) {
        PyObject *range = PyObject_CallFunction((PyObject *)&PyRange_Type, "nn",
                                                (Py_ssize_t)ranges[i].from,
                                                (Py_ssize_t)ranges[i].to);
        if (range) PyTuple_SetItem(tuple, (Py_ssize_t)i, range);
        else Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *moves_told(const realm_collection_move_t *moves, size_t count) {
    PyObject *tuple = PyTuple_New((Py_ssize_t)count);
    for (size_t i = 0; tuple && i < count; i++) {
        PyObject *move = Py_BuildValue("(nn)", (Py_ssize_t)moves[i].from, (Py_ssize_t)moves[i].to);
        if (move) PyTuple_SetItem(tuple, (Py_ssize_t)i, move);
        else Py_CLEAR(tuple);
    }
    return tuple;
}

/* (deletions, insertions, modifications, modifications_new, moves, cleared, deleted). */
static PyObject *elements_told(const realm_collection_changes_t *changes) {
    size_t deleted, inserted, modified, moved;
    bool was_cleared, was_deleted;
    realm_collection_changes_get_num_changes(changes, NULL, NULL, NULL, NULL, &was_cleared,
                                             &was_deleted);
    realm_collection_changes_get_num_ranges(changes, &deleted, &inserted, &modified, &moved);
    /* Modifications after the change may be in more runs than those before it: of k runs of n
     * elements there are at most n. */
    size_t elements;
    realm_collection_changes_get_num_changes(changes, NULL, NULL, &elements, NULL, NULL, NULL);
    realm_index_range_t *ranges =
        PyMem_Calloc(deleted + inserted + modified + elements + 1, sizeof *ranges);
    realm_collection_move_t *moves = PyMem_Calloc(moved + 1, sizeof *moves);
    if (!ranges || !moves) {
        PyMem_Free(ranges);
        PyMem_Free(moves);
        return PyErr_NoMemory();
    }
    realm_index_range_t *insertions = ranges + deleted, *modifications = insertions + inserted;
    realm_index_range_t *after = modifications + modified;
    realm_collection_changes_get_ranges(changes, ranges, deleted, insertions, inserted,
                                        modifications, modified, after, elements, moves, moved);
    size_t after_count = 0;
    for (size_t left = elements; left > 0 && after_count < elements; after_count++) {
        left -= after[after_count].to - after[after_count].from;
    }
    PyObject *parts[5] = {
        ranges_told(ranges, deleted), ranges_told(insertions, inserted),
        ranges_told(modifications, modified), ranges_told(after, after_count),
        moves_told(moves, moved)};
    PyMem_Free(ranges);
    PyMem_Free(moves);
    PyObject *told = NULL;
    if (parts[0] && parts[1] && parts[2] && parts[3] && parts[4]) {
        told = PyTuple_Pack(7, parts[0], parts[1], parts[2], parts[3], parts[4],
                            was_cleared ? Py_True : Py_False, was_deleted ? Py_True : Py_False);
    }
    for (size_t i = 0; i < 5; i++) Py_XDECREF(parts[i]);
    return told;
}

static void elements_changed(void *userdata, const realm_collection_changes_t *changes) {
    TELL_BEGIN(userdata)
    tell(token, elements_told(changes));
    TELL_END
}

static PyObject *texts_told(const realm_value_t *texts, size_t count) {
    PyObject *tuple = PyTuple_New((Py_ssize_t)count);
    for (size_t i = 0; tuple && i < count; i++) {
        PyObject *text = PyUnicode_DecodeUTF8(texts[i].string.data,
                                              (Py_ssize_t)texts[i].string.size, NULL);
        if (text) PyTuple_SetItem(tuple, (Py_ssize_t)i, text);
        else Py_CLEAR(tuple);
    }
    return tuple;
}

/* (deletions, insertions, modifications, cleared, deleted). */
static PyObject *keys_told(const realm_dictionary_changes_t *changes) {
    size_t deleted, inserted, modified;
    bool was_cleared = false, was_deleted;
    realm_dictionary_get_changes(changes, &deleted, &inserted, &modified, &was_deleted);
    realm_value_t *texts = PyMem_Calloc(deleted + inserted + modified + 1, sizeof *texts);
    if (!texts) return PyErr_NoMemory();
    realm_value_t *insertions = texts + deleted, *modifications = insertions + inserted;
    realm_dictionary_get_changed_keys(changes, texts, &deleted, insertions, &inserted,
                                      modifications, &modified, &was_cleared);
    PyObject *parts[3] = {texts_told(texts, deleted), texts_told(insertions, inserted),
                          texts_told(modifications, modified)};
    PyMem_Free(texts);
    PyObject *told = NULL;
    if (parts[0] && parts[1] && parts[2]) {
        told = PyTuple_Pack(5, parts[0], parts[1], parts[2], was_cleared ? Py_True : Py_False,
                            was_deleted ? Py_True : Py_False);
    }
    for (size_t i = 0; i < 3; i++) Py_XDECREF(parts[i]);
    return told;
}

static void keys_changed(void *userdata, const realm_dictionary_changes_t *changes) {
    TELL_BEGIN(userdata)
    tell(token, keys_told(changes));
    TELL_END
}

static void realm_changed(void *userdata) {
    TELL_BEGIN(userdata)
    tell(token, Py_NewRef(Py_None));
    TELL_END
}

static void schema_changed(void *userdata, const realm_schema_t *schema) {
    (void)schema;
    TELL_BEGIN(userdata)
    tell(token, Py_NewRef(Py_None));
    TELL_END
}

/* ---- beginning ------------------------------------------------------------------------------- */

/* What key paths begin at: the class of an object, or of the objects in something; NULL without. */
static Binding *paths_begin(State *state, PyObject *subject) {
    if (PyObject_TypeCheck(subject, state->object_type)) return ((Object *)subject)->binding;
    if (PyObject_TypeCheck(subject, state->results_type)) return ((Results *)subject)->binding;
    Collection *collection = (Collection *)subject;
    if (collection->property->type != RLM_PROPERTY_TYPE_OBJECT) return NULL;
    return collection->binding->targets[collection->property->index];
}

/* A filter of key paths; NULL with an exception. */
static realm_key_path_array_t *make_filter(Realm *realm, PyObject *subject, PyObject *paths) {
    State *state = realm->state;
    Binding *binding = paths_begin(state, subject);
    if (!binding) {
        raise_code(state, RLM_ERR_INVALID_ARGUMENT,
                   "values that are no objects have no properties for key paths");
        return NULL;
    }
    Py_ssize_t count = PyTuple_Size(paths);
    const char **texts = PyMem_Calloc((size_t)count + 1, sizeof *texts);
    if (!texts) {
        PyErr_NoMemory();
        return NULL;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_ssize_t size = 0;
        texts[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(paths, i), &size);
        if (!texts[i] || strlen(texts[i]) != (size_t)size) {
            if (texts[i])
                raise_code(state, RLM_ERR_INVALID_ARGUMENT, "no property has a null character in its name");
            else
                misunderstood(state);
            PyMem_Free(texts);
            return NULL;
        }
    }
    realm_key_path_array_t *filter =
        realm_create_key_path_array(realm->handle, binding->class_key, (size_t)count, texts);
    PyMem_Free(texts);
    if (!filter) raise_engine(state, "observing %s", binding->model->text);
    return filter;
}

/* Has the engine call back; its token, or NULL. */
static void *begin(State *state, PyObject *subject, bool of_schema, Cell *cell,
                   realm_key_path_array_t *filter) {
    if (PyObject_TypeCheck(subject, state->realm_type)) {
        realm_t *realm = ((Realm *)subject)->handle;
        return of_schema
                   ? realm_add_schema_changed_callback(realm, schema_changed, cell, cell_release)
                   : realm_add_realm_changed_callback(realm, realm_changed, cell, cell_release);
    }
    if (PyObject_TypeCheck(subject, state->object_type)) {
        return realm_object_add_notification_callback(((Object *)subject)->handle, cell,
                                                      cell_release, filter, object_changed);
    }
    if (PyObject_TypeCheck(subject, state->results_type)) {
        return realm_results_add_notification_callback(((Results *)subject)->handle, cell,
                                                       cell_release, filter, elements_changed);
    }
    Collection *collection = (Collection *)subject;
    switch (collection->kind) {
    case RLM_COLLECTION_TYPE_LIST:
        return realm_list_add_notification_callback(collection->handle, cell, cell_release, filter,
                                                    elements_changed);
    case RLM_COLLECTION_TYPE_SET:
        return realm_set_add_notification_callback(collection->handle, cell, cell_release, filter,
                                                   elements_changed);
    default:
        return realm_dictionary_add_notification_callback(collection->handle, cell, cell_release,
                                                          filter, keys_changed);
    }
}

Realm *realm_of_subject(State *state, PyObject *subject) {
    if (PyObject_TypeCheck(subject, state->realm_type)) return (Realm *)subject;
    if (PyObject_TypeCheck(subject, state->object_type)) {
        Object *object = (Object *)subject;
        return object_ready(object) < 0 ? NULL : object->realm;
    }
    if (PyObject_TypeCheck(subject, state->results_type)) return ((Results *)subject)->realm;
    if (PyObject_TypeCheck(subject, state->list_type) ||
        PyObject_TypeCheck(subject, state->set_type) ||
        PyObject_TypeCheck(subject, state->dictionary_type)) {
        return ((Collection *)subject)->realm;
    }
    PyObject *text = short_repr(subject);
    if (text) {
        raise_code(state, MISUSE, "%U is no stored object, collection, results or realm", text);
    }
    Py_XDECREF(text);
    return NULL;
}

/* Token(subject, function, paths, of_schema): paths are a tuple of str, or None for all changes. */
static PyObject *token_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *subject, *function, *paths;
    int of_schema = 0;
    State *state = state_of_type(type);
    if (!state) return NULL;
    if (kwargs && PyDict_Size(kwargs)) {
        raise_code(state, MISUSE, "Token takes no keywords");
        return NULL;
    }
    if (!arguments_read(state, args, "OOO|p:Token", &subject, &function, &paths, &of_schema)) {
        return NULL;
    }
    if (paths != Py_None && !PyTuple_Check(paths)) {
        raise_code(state, MISUSE, "paths are a tuple or None");
        return NULL;
    }
    Realm *realm = realm_of_subject(state, subject);
    if (!realm || realm_ready(realm) < 0) return NULL;
    realm_key_path_array_t *filter = NULL;
    if (paths != Py_None && !(filter = make_filter(realm, subject, paths))) return NULL;
    Token *self = NULL;
    Cell *cell = calloc(1, sizeof *cell);
    if (cell) self = (Token *)PyType_GenericAlloc(type, 0);
    else PyErr_NoMemory();
    if (!self) {
        free(cell);
        if (filter) realm_release(filter);
        return NULL;
    }
    atomic_init(&cell->users, 2);
    self->cell = cell;
    self->realm = (Realm *)Py_NewRef((PyObject *)realm);
    if ((PyObject *)realm != subject) self->subject = Py_NewRef(subject);
    if (PyObject_TypeCheck(subject, state->object_type)) self->binding = ((Object *)subject)->binding;
    self->function = Py_NewRef(function);
    REALM_BLOCKING_BEGIN(realm, self)
    self->handle = begin(state, subject, of_schema, cell, filter);
    REALM_BLOCKING_END
    if (filter) realm_release(filter);
    if (!self->handle) {
        raise_engine(state, "observing");
        Py_DECREF((PyObject *)self);
        return NULL;
    }
    cell->token = self;
    if ((!realm->tokens && !(realm->tokens = PySet_New(NULL))) ||
        PySet_Add(realm->tokens, (PyObject *)self) < 0) {
        Py_DECREF((PyObject *)self);
        return NULL;
    }
    return (PyObject *)self;
}

/* ---- ending ---------------------------------------------------------------------------------- */

static void end(Token *self) {
    Cell *cell = self->cell;
    void *handle = self->handle;
    self->cell = NULL;
    self->handle = NULL;
    if (cell) cell->token = NULL;
    if (handle) realm_release_handle(self->realm, handle);
    if (cell) cell_release(cell);
}

static PyObject *token_close(Token *self, PyObject *unused) {
    (void)unused;
    if (!self->handle) Py_RETURN_NONE;
    PyObject *owner = Py_NewRef((PyObject *)self);
    end(self);
    int bad = self->realm->tokens ? PySet_Discard(self->realm->tokens, owner) : 0;
    Py_CLEAR(self->subject);
    Py_DECREF(owner);
    if (bad < 0) return NULL;
    Py_RETURN_NONE;
}

void **token_handles(Realm *realm, PyObject *tokens, size_t *count) {
    if (!PyTuple_Check(tokens)) {
        raise_code(realm->state, MISUSE, "tokens are given as a tuple");
        return NULL;
    }
    Py_ssize_t size = PyTuple_Size(tokens);
    void **handles = PyMem_Calloc((size_t)size + 1, sizeof *handles);
    if (!handles) {
        PyErr_NoMemory();
        return NULL;
    }
    *count = 0;
    for (Py_ssize_t i = 0; i < size; i++) {
        Token *token = (Token *)PyTuple_GetItem(tokens, i);
        if (TYPE_OF(token) != realm->state->token_type) {
            raise_code(realm->state, MISUSE, "%R is no token of an observer", (PyObject *)token);
            PyMem_Free(handles);
            return NULL;
        }
        if (token->handle) handles[(*count)++] = token->handle;
    }
    return handles;
}

void realm_end_tokens(Realm *realm) {
    PyObject *tokens = realm->tokens;
    if (!tokens) return;
    realm->tokens = NULL;
    while (PySet_Size(tokens) > 0) {
        PyObject *token = PySet_Pop(tokens);
        end((Token *)token);
        Py_CLEAR(((Token *)token)->subject);
        Py_DECREF(token);
    }
    Py_DECREF(tokens);
}

static PyObject *token_enter(PyObject *self, PyObject *unused) {
    (void)unused;
    return Py_NewRef(self);
}

static PyObject *token_exit(Token *self, PyObject *args) {
    (void)args;
    return token_close(self, NULL);
}

static PyObject *get_open(Token *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(self->handle != NULL && !self->realm->closed);
}

static PyObject *get_realm(Token *self, void *unused) {
    (void)unused;
    return Py_NewRef((PyObject *)self->realm);
}

static int token_traverse(Token *self, visitproc visit, void *arg) {
    Py_VISIT(TYPE_OF(self));
    Py_VISIT(self->realm);
    Py_VISIT(self->subject);
    Py_VISIT(self->function);
    return 0;
}

static int token_clear(Token *self) {
    if (self->realm) end(self);
    Py_CLEAR(self->subject);
    Py_CLEAR(self->function);
    return 0;
}

static void token_dealloc(Token *self) {
    PyTypeObject *type = TYPE_OF(self);
    PyObject_GC_UnTrack(self);
    token_clear(self);
    Py_CLEAR(self->realm);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyMethodDef token_methods[] = {
    {"close", (PyCFunction)token_close, METH_NOARGS,
     "Ends the observation, on any thread; also from within the callback. Twice is fine."},
    {"__enter__", token_enter, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)token_exit, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef token_getset[] = {
    {"is_open", (getter)get_open, NULL, "Neither closed, nor of a closed realm.", NULL},
    {"realm", (getter)get_realm, NULL, "The realm that is observed, or of what is.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot token_slots[] = {
    {Py_tp_doc, "An observation, to be ended with `close()`, or as a context at its end.\n\n"
                "One that the program forgets goes on until the realm is closed."},
    {Py_tp_new, token_new},
    {Py_tp_dealloc, token_dealloc},
    {Py_tp_traverse, token_traverse},
    {Py_tp_clear, token_clear},
    {Py_tp_methods, token_methods},
    {Py_tp_getset, token_getset},
    {0, NULL}};

PyType_Spec token_spec = {
    .name = "realm._realm.Token",
    .basicsize = sizeof(Token),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = token_slots,
};
