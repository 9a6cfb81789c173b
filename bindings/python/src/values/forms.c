/* Forms: what properties hold in Python that the engine has no type for. A date is stored as the
 * instant at which its day begins in UTC, a timedelta as its microseconds, a member of an Enum as
 * its value. The rest of the module converts what stands for them; this file goes the one step
 * further, in both directions. */
#include "values/values.h"

/* The microseconds of a timedelta, as an int. */
static PyObject *span_to_raw(State *state, PyObject *value) {
    PyObject *unit = PyObject_CallFunction(state->timedelta_type, "iii", 0, 0, 1);
    PyObject *raw = unit ? PyNumber_FloorDivide(value, unit) : NULL;
    Py_XDECREF(unit);
    return raw;
}

/* The beginning of the day in UTC, as a datetime. */
static PyObject *date_to_raw(State *state, PyObject *value) {
    long parts[3];
    static const char *const names[] = {"year", "month", "day"};
    for (int i = 0; i < 3; i++) {
        PyObject *part = PyObject_GetAttrString(value, names[i]);
        if (!part) return NULL;
        parts[i] = PyLong_AsLong(part);
        Py_DECREF(part);
        if (parts[i] == -1 && PyErr_Occurred()) return NULL;
    }
    return PyObject_CallFunction(state->datetime_type, "llliiiiO", parts[0], parts[1], parts[2], 0,
                                 0, 0, 0, state->utc);
}

static bool is_date(State *state, PyObject *value) {
    return PyObject_TypeCheck(value, (PyTypeObject *)state->date_type) &&
           !PyObject_TypeCheck(value, (PyTypeObject *)state->datetime_type);
}

PyObject *form_to_raw(Property *property, PyObject *value) {
    State *state = property->state;
    if (property->form == state->date_type) {
        if (is_date(state, value)) return date_to_raw(state, value);
    } else if (property->form == state->timedelta_type) {
        if (PyObject_TypeCheck(value, (PyTypeObject *)state->timedelta_type)) {
            PyObject *raw = span_to_raw(state, value);
            int overflow = 0;
            if (raw && (PyLong_AsLongLongAndOverflow(raw, &overflow), overflow)) {
                raise_range(property, value, "has more microseconds than fit into 64 bits");
                Py_CLEAR(raw);
            }
            return raw;
        }
    } else if (PyObject_TypeCheck(value, (PyTypeObject *)property->form)) {
        return PyObject_GetAttrString(value, "value");
    }
    raise_mismatch(property, value);
    return NULL;
}

PyObject *argument_to_raw(State *state, PyObject *value) {
    if (PyObject_TypeCheck(value, (PyTypeObject *)state->enum_type)) {
        return PyObject_GetAttrString(value, "value");
    }
    if (PyObject_TypeCheck(value, (PyTypeObject *)state->timedelta_type)) {
        return span_to_raw(state, value);
    }
    if (is_date(state, value)) return date_to_raw(state, value);
    return Py_NewRef(value);
}

PyObject *form_from_raw(Property *property, PyObject *raw) {
    State *state = property->state;
    if (!raw || !property->form || raw == Py_None) return raw;
    PyObject *result;
    if (property->form == state->date_type) {
        result = PyObject_CallMethod(raw, "date", NULL);
    } else if (property->form == state->timedelta_type) {
        result = PyObject_CallFunction(state->timedelta_type, "iiO", 0, 0, raw);
    } else {
        result = Py_XNewRef(PyDict_GetItemWithError(property->members, raw));
        if (!result && !PyErr_Occurred()) {
            /* Combinations of flags, and what `_missing_` finds. */
            result = PyObject_CallFunctionObjArgs(property->form, raw, NULL);
            if (!result && PyErr_ExceptionMatches(PyExc_ValueError)) {
                PyErr_Clear();
                PyObject *name = PyObject_GetAttrString(property->form, "__name__");
                if (name) {
                    raise_code(state, RLM_ERR_RANGE_ERROR,
                               "%s.%U holds %R, which is the value of no %U; give the class a "
                               "member for it, or declare the property as the type of the value",
                               property->model ? property->model->text : "?", property->name, raw,
                               name);
                }
                Py_XDECREF(name);
            }
        }
    }
    Py_DECREF(raw);
    return result;
}
