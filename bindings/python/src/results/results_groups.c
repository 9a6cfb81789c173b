/* Groups of results, with what the engine computes of each: `Results.group_by()`. */
#include <stdlib.h>

#include "results/results.h"

/* One value of a group. `property`: what it is a value of, or None. */
static PyObject *group_value(Results *self, PyObject *property, const realm_value_t *value) {
    PyObject *raw = value_to_python(self->realm->state, self->realm, value);
    return property == Py_None ? raw : form_from_raw((Property *)property, raw);
}

static PyObject *group_rows(Results *self, PyObject *properties, const realm_value_t *values,
                            size_t count) {
    Py_ssize_t width = PyTuple_Size(properties);
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) {
        PyObject *row = PyTuple_New(width);
        for (Py_ssize_t j = 0; row && j < width; j++) {
            PyObject *value = group_value(self, PyTuple_GetItem(properties, j),
                                          &values[i * (size_t)width + (size_t)j]);
            if (value) PyTuple_SetItem(row, j, value);
            else Py_CLEAR(row);
        }
        if (row) PyList_SetItem(list, (Py_ssize_t)i, row);
        else Py_CLEAR(list);
    }
    return list;
}

/* keys, aggregates, a tuple with the Property of each value of a row or None: a list of tuples. */
PyObject *results_groups(Results *self, PyObject *args) {
    const char *keys, *aggregates;
    PyObject *properties;
    if (!arguments_read(self->realm->state, args, "ssO!:groups", &keys, &aggregates, &PyTuple_Type,
                        &properties) ||
        results_need_objects(self, "groups by property") < 0) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < PyTuple_Size(properties); i++) {
        PyObject *property = PyTuple_GetItem(properties, i);
        if (property != Py_None && Py_TYPE(property) != self->realm->state->property_type) {
            PyErr_SetString(PyExc_TypeError, "groups() takes properties or None");
            return NULL;
        }
    }
    if (results_ready(self) < 0) return NULL;
    realm_groups_t *groups;
    realm_value_t *values = NULL;
    size_t count = 0, width = 0, read = 0;
    bool done = false, has_memory = true;
    REALM_BLOCKING_BEGIN(self->realm, self)
    groups = realm_results_group(self->handle, keys, aggregates);
    done = groups && realm_groups_count(groups, &count, &width);
    if (done) {
        values = calloc(count * width + 1, sizeof *values);
        has_memory = values != NULL;
        done = has_memory && realm_groups_get_values(groups, 0, count, values, &read);
    }
    REALM_BLOCKING_END
    PyObject *list = NULL;
    if (!has_memory) {
        PyErr_NoMemory();
    } else if (!done) {
        results_raise(self, "groups of");
    } else if (width != (size_t)PyTuple_Size(properties)) {
        PyErr_Format(PyExc_TypeError, "groups() has %zu values a row, not %zd", width,
                     PyTuple_Size(properties));
    } else {
        /* Texts are borrowed from the groups, which nobody else asks. */
        list = group_rows(self, properties, values, read);
    }
    free(values);
    realm_release(groups);
    return list;
}
