/* Realms: opening and migrating one, its objects, and all that is done to it as a whole. Its methods meet
 * in the table of realm.c. */
#ifndef REALM_PYTHON_REALMS_H
#define REALM_PYTHON_REALMS_H

#include "results/results.h"

typedef struct Token Token;

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

/* ---- borrowed.c ----------------------------------------------------------------------------- */

/* A realm around a handle that a callback borrows. */
Realm *borrowed_realm(Opening *opening, realm_t *handle, int part);
/* Nothing that came from it can be used any more. Drops the reference. */
void end_borrowed_realm(Realm *realm);
/* Keeps the exception that is set, unless there is an earlier one. */
void opening_keep_exception(Opening *opening);
/* Raises it; false if there is none. */
bool opening_raise(Opening *opening);

/* ---- realm_opening.c ------------------------------------------------------------------------ */

PyObject *realm_open_new(PyTypeObject *type, PyObject *args, PyObject *kwargs);
PyObject *realm_open_async_method(PyTypeObject *type, PyObject *args, PyObject *kwargs);
PyObject *realm_claim(PyTypeObject *type, PyObject *args);
PyObject *cancel_opening(PyObject *module, PyObject *token);

/* ---- realm_migration.c ---------------------------------------------------------------------- */

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

/* ---- realm_check.c -------------------------------------------------------------------------- */

PyObject *realm_check_method(Realm *self, PyObject *unused);
PyObject *realm_statistics_method(Realm *self, PyObject *unused);
PyObject *check_file(PyObject *module, PyObject *arguments);
PyObject *import_realm_core(PyObject *module, PyObject *arguments);
PyObject *change_encryption_key(PyObject *module, PyObject *arguments);
/* An empty key would stand for none: -1 with an exception. The engine checks other sizes. */
int encryption_key_check(State *state, const char *key, Py_ssize_t size);

/* ---- realm_objects.c, json.c, arrow_in.c ---------------------------------------------------- */

PyObject *realm_create(Realm *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *realm_add(Realm *self, PyObject *args, PyObject *kwargs);
PyObject *realm_find(Realm *self, PyObject *args);
PyObject *realm_object_for_key(Realm *self, PyObject *args);
PyObject *realm_delete_object(Realm *self, PyObject *object);
PyObject *realm_create_from_json(Realm *self, PyObject *args);
PyObject *realm_copy_object(Realm *self, PyObject *args);
PyObject *realm_insert_columns(Realm *self, PyObject *args);

/* ---- token.c -------------------------------------------------------------------------------- */

/* The realm that something observable is of or is; NULL with an exception. */
Realm *realm_of_subject(State *state, PyObject *subject);
/* Raises what was kept: 0 when nothing was, -1 with an exception. */
int realm_raise_kept(Realm *realm);
/* The open ones of a tuple of tokens, to be freed with PyMem_Free; NULL with an exception. */
void **token_handles(Realm *realm, PyObject *tokens, size_t *count);
/* Ends all observations. */
void realm_end_tokens(Realm *realm);
extern PyType_Spec token_spec;

/* ---- freezing.c ----------------------------------------------------------------------------- */

PyObject *realm_freeze_method(Realm *self, PyObject *unused);
PyObject *realm_freeze_told_method(Realm *self, PyObject *unused);
/* The same object, collection or results in this realm, None if it is not there. */
PyObject *realm_resolve(Realm *self, PyObject *subject);
PyObject *realm_readable(Realm *self, PyObject *results);

/* ---- change_log.c --------------------------------------------------------------------------- */

PyObject *realm_log_consumers(Realm *self, PyObject *unused);
PyObject *realm_log_change_consumer(Realm *self, PyObject *args);
PyObject *realm_log_read(Realm *self, PyObject *from);
PyObject *realm_log_compare(Realm *self, PyObject *args);
PyObject *realm_log_export(Realm *self, PyObject *from);
PyObject *realm_log_apply(Realm *self, PyObject *args);
PyObject *realm_log_read_changes(Realm *self, PyObject *args);

/* ---- realm.c -------------------------------------------------------------------------------- */

extern PyType_Spec realm_spec;

#endif
