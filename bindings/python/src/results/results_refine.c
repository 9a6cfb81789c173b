/* Results from results: filter, sort, distinct, limit, snapshot; and aggregates. Queries are texts in
 * the engine's language, which also checks them. Columns of values: results_values.c. */
#include "results/results.h"

#include <string.h>

/* ---- sources -------------------------------------------------------------------------------- */

PyObject *results_of_class(PyTypeObject *type, PyObject *args) {
    PyObject *realm, *class;
    State *state = state_of_type(type);
    if (!state || !arguments_read(state, args, "O!O", state->realm_type, &realm,
                                  &class)) {
        return NULL;
    }
    Realm *self = (Realm *)realm;
    if (realm_ready(self) < 0) return NULL;
    Binding *binding = realm_binding_of(self, class);
    if (!binding) return NULL;
    realm_results_t *handle = realm_object_find_all(self->handle, binding->class_key);
    if (!handle) {
        raise_engine(state, "objects of %s", binding->model->text);
        return NULL;
    }
    PyObject *results = results_wrap(type, binding, handle);
    if (results) ((Results *)results)->each_once = true;
    return results;
}

PyObject *results_of_backlinks(PyTypeObject *type, PyObject *args) {
    PyObject *target, *class, *name;
    State *state = state_of_type(type);
    if (!state ||
        !arguments_read(state, args, "O!OU", state->object_type, &target, &class, &name)) {
        return NULL;
    }
    Object *object = (Object *)target;
    if (object_ready(object) < 0) return NULL;
    Binding *binding = realm_binding_of(object->realm, class);
    Model *model = binding ? binding->model : NULL;
    Py_ssize_t index = model ? model_find(model, name, true) : -1;
    if (index < 0) return NULL;
    realm_results_t *handle =
        realm_get_backlinks(object->handle, binding->class_key, binding->keys[index]);
    if (handle) return results_wrap(type, binding, handle);
    raise_engine(state, "links from %s.%U to %s", model->text, name, object->model->text);
    return NULL;
}

/* ---- queries -------------------------------------------------------------------------------- */

typedef struct {
    size_t count;
    realm_query_arg_t *arguments;
    realm_value_t **values;     /* per argument */
    PyObject *keeps;            /* list of what the values point into */
} Arguments;

static int arguments_one(State *state, Realm *realm, PyObject *value, realm_value_t *out,
                         PyObject *keeps) {
    PyObject *keep;
    int bad = value_for_query(state, realm, value, out, &keep);
    if (keep && !bad) bad = PyList_Append(keeps, keep);
    Py_XDECREF(keep);
    return bad;
}

static bool is_list_argument(State *state, PyObject *value) {
    return PyObject_TypeCheck(value, state->list_type) ||
           PyObject_TypeCheck(value, state->set_type) ||
           PyObject_TypeCheck(value, state->results_type) || PyList_Check(value) ||
           PyTuple_Check(value) || Py_TYPE(value) == &PySet_Type ||
           Py_TYPE(value) == &PyFrozenSet_Type;
}

static int arguments_fill(Arguments *self, State *state, Realm *realm, PyObject *tuple) {
    size_t total = (size_t)PyTuple_Size(tuple);
    memset(self, 0, sizeof *self);
    self->arguments = PyMem_Calloc(total + 1, sizeof *self->arguments);
    self->values = PyMem_Calloc(total + 1, sizeof *self->values);
    self->keeps = PyList_New(0);
    if (!self->arguments || !self->values || !self->keeps) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t i = 0; i < total; i++) {
        PyObject *value = PyTuple_GetItem(tuple, (Py_ssize_t)i);
        PyObject *list = NULL;
        size_t length = 1;
        if (is_list_argument(state, value)) {
            list = PySequence_List(value);
            if (!list || PyList_Append(self->keeps, list) < 0) {
                Py_XDECREF(list);
                return -1;
            }
            Py_DECREF(list);
            length = (size_t)PyList_Size(list);
        }
        self->values[i] = PyMem_Calloc(length + 1, sizeof **self->values);
        if (!self->values[i]) {
            PyErr_NoMemory();
            return -1;
        }
        self->count = i + 1;
        self->arguments[i].nb_args = length;
        self->arguments[i].is_list = list != NULL;
        self->arguments[i].arg = self->values[i];
        for (size_t j = 0; j < length; j++) {
            PyObject *item = list ? PyList_GetItem(list, (Py_ssize_t)j) : value;
            if (arguments_one(state, realm, item, &self->values[i][j], self->keeps) < 0) return -1;
        }
    }
    return 0;
}

static void arguments_free(Arguments *self) {
    for (size_t i = 0; i < self->count; i++) PyMem_Free(self->values[i]);
    PyMem_Free(self->values);
    PyMem_Free(self->arguments);
    Py_CLEAR(self->keeps);
}

/* UTF-8 of a text that the engine takes up to its first null. */
static const char *whole_text(State *state, PyObject *text) {
    Py_ssize_t size;
    const char *utf8 = PyUnicode_AsUTF8AndSize(text, &size);
    if (!utf8) {
        misunderstood(state);
    } else if (strlen(utf8) != (size_t)size) {
        raise_code(state, RLM_ERR_INVALID_QUERY_STRING, "%R has a null character in it", text);
        return NULL;
    }
    return utf8;
}

PyObject *results_filter(Results *self, PyObject *args) {
    PyObject *query, *tuple;
    int is_format = false;
    Realm *realm = self->realm;
    State *state = realm->state;
    if (!arguments_read(state, args, "OO!|p:filter", &query, &PyTuple_Type, &tuple, &is_format)) {
        return NULL;
    }
    if (!PyUnicode_Check(query)) {
        raise_code(state, MISUSE, "a query is a text, such as \"age > $0\", not %R; conditions in Python "
                   "are for where()", query);
        return NULL;
    }
    const char *text = whole_text(state, query);
    if (!text || results_ready(self) < 0) return NULL;
    if (is_format && !self->binding) {
        raise_code(state, RLM_ERR_ILLEGAL_OPERATION, "format strings are for results of objects");
        return NULL;
    }
    Arguments arguments;
    realm_results_t *handle = NULL;
    if (arguments_fill(&arguments, state, realm, tuple) == 0) {
        handle = (is_format ? realm_results_refine_format : realm_results_refine)(
            self->handle, text, arguments.count, arguments.arguments);
    }
    arguments_free(&arguments);
    if (handle) return results_derived(self, handle);
    results_raise(self, "query on");
    return NULL;
}

/* A part of a predicate from (kind, detail, options, count, number, name), of which each query has several:
 * without PyArg_ParseTuple, which reads its format each time. */
static bool part_read(PyObject *tuple, realm_predicate_part_t *part) {
    if (!PyTuple_Check(tuple) || PyTuple_Size(tuple) != 6) return false;
    uint32_t *places[] = {&part->kind, &part->detail, &part->options};
    for (Py_ssize_t i = 0; i < 3; i++) {
        *places[i] = (uint32_t)PyLong_AsUnsignedLong(PyTuple_GetItem(tuple, i));
    }
    Py_ssize_t size = 0;
    part->count = PyLong_AsSize_t(PyTuple_GetItem(tuple, 3));
    part->number = PyLong_AsLongLong(PyTuple_GetItem(tuple, 4));
    part->name.data = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(tuple, 5), &size);
    part->name.size = (size_t)size;
    return !PyErr_Occurred();
}

static realm_predicate_part_t *predicate_parts(State *state, PyObject *list) {
    Py_ssize_t count = PyList_Size(list);
    realm_predicate_part_t *parts = PyMem_Calloc((size_t)count + 1, sizeof *parts);
    if (!parts) {
        PyErr_NoMemory();
        return NULL;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *tuple = PyList_GetItem(list, i);
        if (part_read(tuple, &parts[i])) continue;
        if (PyErr_Occurred()) misunderstood(state);
        else raise_code(state, MISUSE, "%R is no part of a predicate", tuple);
        PyMem_Free(parts);
        return NULL;
    }
    return parts;
}

/* (parts, arguments), two lists. */
PyObject *results_where(Results *self, PyObject *args) {
    PyObject *list, *values;
    Realm *realm = self->realm;
    if (!arguments_read(realm->state, args, "O!O!:where", &PyList_Type, &list, &PyList_Type, &values) ||
        results_ready(self) < 0) {
        return NULL;
    }
    /* Copies: reading arguments runs code of the program's. */
    PyObject *kept = PyList_GetSlice(list, 0, PyList_Size(list)), *tuple = PyList_AsTuple(values);
    Arguments arguments;
    realm_results_t *handle = NULL;
    bool is_begun = kept && tuple;
    if (is_begun && arguments_fill(&arguments, realm->state, realm, tuple) == 0) {
        realm_predicate_part_t *parts = predicate_parts(realm->state, kept);
        if (parts) {
            handle = realm_results_refine_predicate(self->handle, parts, (size_t)PyList_Size(kept),
                                                    arguments.count, arguments.arguments);
        }
        PyMem_Free(parts);
    }
    if (is_begun) arguments_free(&arguments);
    Py_XDECREF(kept);
    Py_XDECREF(tuple);
    if (handle) return results_derived(self, handle);
    results_raise(self, "query on");
    return NULL;
}

static PyObject *refined(Results *self, realm_results_t *handle, const char *doing,
                         PyObject *text) {
    if (handle) return results_derived(self, handle);
    PyObject *name = results_name(self);
    if (name) raise_engine(self->realm->state, "%s %U by %S", doing, name, text);
    Py_XDECREF(name);
    return NULL;
}

PyObject *results_sort(Results *self, PyObject *text) {
    const char *utf8 = whole_text(self->realm->state, text);
    if (!utf8 || results_ready(self) < 0) return NULL;
    return refined(self, realm_results_sort(self->handle, utf8), "sorting", text);
}

PyObject *results_distinct(Results *self, PyObject *text) {
    const char *utf8 = whole_text(self->realm->state, text);
    if (!utf8 || results_ready(self) < 0) return NULL;
    return refined(self, realm_results_distinct(self->handle, utf8), "making distinct", text);
}

/* A number of objects, -1 with an exception. */
static Py_ssize_t number_given(Results *self, PyObject *count, const char *what) {
    State *state = self->realm->state;
    if (!PyIndex_Check(count)) {
        raise_code(state, MISUSE, "%s is a number of objects, not %R", what, count);
        return -1;
    }
    /* Greater ones than there can be are as good as the greatest. */
    Py_ssize_t number = PyNumber_AsSsize_t(count, NULL);
    if (number == -1 && PyErr_Occurred()) return -1;
    if (number >= 0) return number;
    raise_code(state, RLM_ERR_INVALID_ARGUMENT, "%s can't be negative: %S", what, count);
    return -1;
}

PyObject *results_limit(Results *self, PyObject *count) {
    Py_ssize_t limit = number_given(self, count, "a limit");
    if (limit < 0 || results_ready(self) < 0) return NULL;
    return refined(self, realm_results_limit(self->handle, (size_t)limit), "limiting", count);
}

PyObject *results_offset(Results *self, PyObject *count) {
    Py_ssize_t offset = number_given(self, count, "an offset");
    if (offset < 0 || results_ready(self) < 0) return NULL;
    return refined(self, realm_results_offset(self->handle, (size_t)offset), "leaving out", count);
}

PyObject *results_snapshot(Results *self, PyObject *unused) {
    (void)unused;
    realm_results_t *handle;
    if (results_ready(self) < 0) return NULL;
    REALM_BLOCKING_BEGIN(self->realm, self)
    handle = realm_results_snapshot_values(self->handle);
    REALM_BLOCKING_END
    if (handle) return results_derived(self, handle);
    results_raise(self, "snapshot of");
    return NULL;
}

PyObject *results_explain(Results *self, PyObject *unused) {
    (void)unused;
    if (results_ready(self) < 0) return NULL;
    char *plan;
    REALM_BLOCKING_BEGIN(self->realm, self)
    plan = realm_results_explain(self->handle);
    REALM_BLOCKING_END
    if (!plan) {
        results_raise(self, "plan of");
        return NULL;
    }
    PyObject *text = PyUnicode_FromString(plan);
    realm_free(plan);
    return text;
}

/* ---- values --------------------------------------------------------------------------------- */

typedef bool (*aggregate_function)(realm_results_t *, realm_property_key_t, realm_value_t *,
                                   bool *);

PyObject *results_aggregate(Results *self, PyObject *args) {
    static const struct {
        const char *name;
        aggregate_function function;
    } kinds[] = {{"min", realm_results_min},
                 {"max", realm_results_max},
                 {"sum", realm_results_sum},
                 {"average", realm_results_average}};
    const char *kind;
    PyObject *name;
    realm_property_key_t key = 0;
    Property *property = self->source ? self->source->property : NULL;
    if (!arguments_read(self->realm->state, args, "sO:aggregate", &kind, &name)) return NULL;
    if (name != Py_None) {
        if (results_need_objects(self, "aggregates by property") < 0) return NULL;
        Py_ssize_t index = model_find(self->binding->model, name, true);
        if (index < 0) return NULL;
        key = self->binding->keys[index];
        property = self->binding->model->properties[index];
    } else if (self->binding) {
        raise_code(self->realm->state, MISUSE, "%s() of objects needs the name of a property", kind);
        return NULL;
    }
    if (results_ready(self) < 0) return NULL;
    aggregate_function function = NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].name, kind) == 0) function = kinds[i].function;
    }
    if (!function) {
        PyErr_Format(PyExc_ValueError, "no aggregate %s", kind);
        return NULL;
    }
    realm_value_t value;
    bool done, found = false;
    REALM_BLOCKING_BEGIN(self->realm, self)
    done = function(self->handle, key, &value, &found);
    REALM_BLOCKING_END
    if (done) {
        PyObject *raw = value_to_python(self->realm->state, self->realm, &value);
        /* The sum of members of an Enum is none. */
        bool of_values = function == realm_results_sum || function == realm_results_average;
        if (!property || (of_values && property->members)) return raw;
        return form_from_raw(property, raw);
    }
    PyObject *source = results_name(self);
    if (source && name == Py_None) raise_engine(self->realm->state, "%s of %U", kind, source);
    else if (source) raise_engine(self->realm->state, "%s of %U.%S", kind, source, name);
    Py_XDECREF(source);
    return NULL;
}
