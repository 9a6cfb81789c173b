/* What belongs to the module as a whole and to no object: which process this is, the way back from
 * callbacks of the engine, and the state of the module. */
#include "base/base.h"

#include <pthread.h>

unsigned fork_generation = 0;
_Thread_local PyThreadState *thread_away = NULL;

static void after_fork_in_child(void) { fork_generation++; }

int watch_forks(void) {
    static bool watching = false;
    if (watching) return 0;
    if (pthread_atfork(NULL, NULL, after_fork_in_child) != 0) {
        PyErr_NoMemory();
        return -1;
    }
    watching = true;
    return 0;
}

/* ---- callbacks ------------------------------------------------------------------------------ */

static _Thread_local PyObject *exception_kept = NULL;

Callback callback_enter(void) {
    Callback callback = {thread_away, false, PyGILState_LOCKED};
    thread_away = NULL;
    if (callback.away) {
        PyEval_RestoreThread(callback.away);
    } else if (!PyGILState_GetThisThreadState()) {
        callback.foreign = true;
        callback.state = PyGILState_Ensure();
    }
    return callback;
}

void callback_leave(Callback callback) {
    if (callback.away) {
        thread_away = PyEval_SaveThread();
    } else if (callback.foreign) {
        /* The thread state goes, and with it the exception. */
        if (PyErr_Occurred()) {
            PyObject *type, *value, *traceback;
            PyErr_Fetch(&type, &value, &traceback);
            PyErr_NormalizeException(&type, &value, &traceback);
            if (traceback) PyException_SetTraceback(value, traceback);
            Py_XDECREF(exception_kept);
            exception_kept = value;
            Py_XDECREF(type);
            Py_XDECREF(traceback);
        }
        PyGILState_Release(callback.state);
    }
}

PyObject *callback_exception(void) {
    PyObject *exception = exception_kept;
    exception_kept = NULL;
    return exception;
}

/* ---- the state ------------------------------------------------------------------------------ */

State *state_of_type(PyTypeObject *type) {
    /* Classes made in Python know no module. The chain of layout bases ends with the type that
     * this module made, and then object. */
    PyTypeObject *base;
    while ((base = (PyTypeObject *)PyType_GetSlot(type, Py_tp_base)) && base != &PyBaseObject_Type) {
        type = base;
    }
    return PyType_GetModuleState(type);
}
