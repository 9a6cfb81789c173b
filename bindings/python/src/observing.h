/* The part of binding.h about what changes: observers, frozen realms, the change log. */
#ifndef REALM_PYTHON_OBSERVING_H
#define REALM_PYTHON_OBSERVING_H

#include "binding.h"

/* ---- waking.c, token.c ----------------------------------------------------------------------- */

/* A scheduler for this thread; NULL with an exception. `*scheduler` is a handle to it. */
Waking *waking_new(realm_scheduler_t **scheduler);
void waking_release(Waking *waking);
/* A descriptor that is readable when there is work; -1 with an exception. When it is new, the engine
 * has to be told. */
int waking_descriptor(Waking *waking, bool *is_new);
/* Does the work that there is; without the GIL. */
void waking_perform(Waking *waking);

/* The realm that something observable is of or is; NULL with an exception. */
Realm *realm_of_subject(State *state, PyObject *subject);
/* Keeps the exception that is set, of a callback. */
void realm_keep_exception(Realm *realm);
/* Raises what was kept: 0 when nothing was, -1 with an exception. */
int realm_raise_kept(Realm *realm);
/* The open ones of a tuple of tokens, to be freed with PyMem_Free; NULL with an exception. */
void **token_handles(Realm *realm, PyObject *tokens, size_t *count);
/* Ends all observations. */
void realm_end_tokens(Realm *realm);
extern PyType_Spec token_spec;

/* ---- freezing.c ------------------------------------------------------------------------------ */

PyObject *realm_freeze_method(Realm *self, PyObject *unused);
PyObject *realm_freeze_told_method(Realm *self, PyObject *unused);
/* The same object, collection or results in this realm, None if it is not there. */
PyObject *realm_resolve(Realm *self, PyObject *subject);

/* ---- change_log.c ---------------------------------------------------------------------------- */

PyObject *realm_log_consumers(Realm *self, PyObject *unused);
PyObject *realm_log_change_consumer(Realm *self, PyObject *args);
PyObject *realm_log_read(Realm *self, PyObject *from);
PyObject *realm_log_compare(Realm *self, PyObject *args);
PyObject *realm_log_export(Realm *self, PyObject *from);
PyObject *realm_log_apply(Realm *self, PyObject *args);
PyObject *realm_log_read_changes(Realm *self, PyObject *args);

#endif
