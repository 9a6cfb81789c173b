/* Values of properties of many objects at once: `Results.values()`. */
#include "results/results.h"

/* Rows that are read at a time. The values borrow from the engine until the next call to it. */
#define ROWS_AT_ONCE 256

/* The elements of a collection of an object, as a list or dict. */
static PyObject *contents(Results *self, Property *property, realm_object_key_t key) {
    /* Of objects of a snapshot that are gone. */
    if (key == -1) Py_RETURN_NONE;
    realm_link_t link = {.target_table = self->binding->class_key, .target = key};
    PyObject *object = object_from_link(self->realm, link);
    PyObject *view = object ? collection_wrap((Object *)object, property) : NULL;
    PyObject *result = view ? collection_contents((Collection *)view) : NULL;
    Py_XDECREF(view);
    Py_XDECREF(object);
    return result;
}

/* One of the values that were read; a collection in it is a view, for which the object is needed. */
static PyObject *row_value(Results *self, size_t row, Property *property,
                           const realm_value_t *value) {
    if (value->type != RLM_TYPE_LIST && value->type != RLM_TYPE_DICTIONARY) {
        return property_to_python(property, self->realm, value);
    }
    realm_object_t *handle = NULL;
    if (results_handles(self, self->handle, row, 1, &handle) <= 0) return NULL;
    PyObject *object = object_wrap(self->binding, handle);
    PyObject *view =
        object ? nested_of_object((Object *)object, property, (int)value->type) : NULL;
    Py_XDECREF(object);
    return view;
}

/* What `values()` reads. */
typedef struct {
    size_t width;                 /* properties asked for */
    Property **properties;
    realm_property_key_t *keys;   /* of those that are no collections */
    size_t plain;                 /* how many these are */
    realm_value_t *values;        /* of ROWS_AT_ONCE rows */
} Columns;

static void put_column(const Columns *columns, PyObject *list, size_t row, size_t column,
                       PyObject *value) {
    if (columns->width == 1) PyList_SetItem(list, (Py_ssize_t)row, value);
    else PyTuple_SetItem(PyList_GetItem(list, (Py_ssize_t)row), (Py_ssize_t)column, value);
}

/* Rows as Python values: bare when there is one property, else tuples. What was read borrows from
 * the engine, so collections come last. */
static int append_rows(Results *self, PyObject *list, size_t first, size_t rows,
                       const Columns *columns, const realm_object_key_t *objects) {
    for (size_t i = 0; i < rows; i++) {
        if (columns->width != 1) {
            PyObject *item = PyTuple_New((Py_ssize_t)columns->width);
            if (!item) return -1;
            PyList_SetItem(list, (Py_ssize_t)(first + i), item);
        }
        size_t next = i * columns->plain;
        for (size_t j = 0; j < columns->width; j++) {
            Property *property = columns->properties[j];
            if (property->collection) continue;
            PyObject *value = row_value(self, first + i, property, &columns->values[next++]);
            if (!value) return -1;
            put_column(columns, list, first + i, j, value);
        }
    }
    for (size_t i = 0; columns->plain < columns->width && i < rows; i++) {
        for (size_t j = 0; j < columns->width; j++) {
            Property *property = columns->properties[j];
            if (!property->collection) continue;
            PyObject *value = contents(self, property, objects[i]);
            if (!value) return -1;
            put_column(columns, list, first + i, j, value);
        }
    }
    return 0;
}

/* Whether a read brought rows, and not more than were counted; raises where not. */
static bool all_there(Results *self, bool done, size_t first, size_t rows, size_t count) {
    if (done && rows > 0 && rows <= count - first) return true;
    if (done) {
        raise_code(self->realm->state, RLM_ERR_STALE_ACCESSOR,
                   "the results of %s changed while they were read", self->binding->model->text);
    } else {
        raise_engine(self->realm->state, "reading %s", self->binding->model->text);
    }
    return false;
}

static PyObject *read_rows(Results *self, size_t count, const Columns *columns) {
    realm_object_key_t objects[ROWS_AT_ONCE];
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t first = 0, rows = 0; list && first < count; first += rows) {
        bool done = true;
        if (columns->plain > 0) {
            done = realm_results_get_values(self->handle, first, ROWS_AT_ONCE, columns->plain,
                                            columns->keys, columns->values, &rows);
        }
        if (done && columns->plain < columns->width) {
            size_t keys = 0;
            done = realm_results_read_keys(self->handle, first, ROWS_AT_ONCE, objects, &keys);
            if (columns->plain == 0 || keys < rows) rows = keys;
        }
        if (!all_there(self, done, first, rows, count) ||
            append_rows(self, list, first, rows, columns, objects) < 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

/* One property of integers, booleans or floating point numbers: the engine hands out columns. */
static PyObject *read_column(Results *self, size_t count, const Property *property,
                             realm_property_key_t key) {
    union {
        int64_t integers[4 * ROWS_AT_ONCE];
        double doubles[4 * ROWS_AT_ONCE];
    } column;
    uint8_t nulls[4 * ROWS_AT_ONCE];
    bool real = property->type == RLM_PROPERTY_TYPE_DOUBLE ||
                property->type == RLM_PROPERTY_TYPE_FLOAT;
    bool is_bool = property->type == RLM_PROPERTY_TYPE_BOOL;
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t first = 0, rows = 0; list && first < count; first += rows) {
        bool done = real ? realm_results_read_doubles(self->handle, key, first, 4 * ROWS_AT_ONCE,
                                                      column.doubles, nulls, &rows)
                         : realm_results_read_integers(self->handle, key, first, 4 * ROWS_AT_ONCE,
                                                       column.integers, nulls, &rows);
        if (!all_there(self, done, first, rows, count)) {
            Py_DECREF(list);
            return NULL;
        }
        for (size_t i = 0; i < rows; i++) {
            PyObject *value;
            if (nulls[i]) value = Py_NewRef(Py_None);
            else if (real) value = PyFloat_FromDouble(column.doubles[i]);
            else if (is_bool) value = PyBool_FromLong(column.integers[i] != 0);
            else value = PyLong_FromLongLong(column.integers[i]);
            if (!value) {
                Py_DECREF(list);
                return NULL;
            }
            PyList_SetItem(list, (Py_ssize_t)(first + i), value);
        }
    }
    return list;
}

static bool is_column_of_numbers(const Property *property) {
    if (property->collection || property->form) return false;
    return property->type == RLM_PROPERTY_TYPE_INT || property->type == RLM_PROPERTY_TYPE_BOOL ||
           property->type == RLM_PROPERTY_TYPE_DOUBLE || property->type == RLM_PROPERTY_TYPE_FLOAT;
}

PyObject *results_values(Results *self, PyObject *names) {
    if (!PyTuple_Check(names) || PyTuple_Size(names) == 0) {
        raise_code(self->realm->state, MISUSE, "values() takes names of properties");
        return NULL;
    }
    if (results_need_objects(self, "values by property") < 0) return NULL;
    Model *model = self->binding->model;
    size_t width = (size_t)PyTuple_Size(names);
    size_t count;
    Py_ssize_t only = width == 1 ? model_find(model, PyTuple_GetItem(names, 0), true) : 0;
    if (only < 0 || results_ready(self) < 0 || results_count(self, &count) < 0) return NULL;
    if (width == 1 && is_column_of_numbers(model->properties[only])) {
        return read_column(self, count, model->properties[only], self->binding->keys[only]);
    }
    PyObject *list = NULL;
    Columns columns = {.width = width,
                       .properties = PyMem_Calloc(width, sizeof *columns.properties),
                       .keys = PyMem_Calloc(width, sizeof *columns.keys),
                       .values = PyMem_Calloc(width * ROWS_AT_ONCE, sizeof *columns.values)};
    if (!columns.properties || !columns.keys || !columns.values) {
        PyErr_NoMemory();
        goto done;
    }
    for (size_t i = 0; i < width; i++) {
        Py_ssize_t index = model_find(model, PyTuple_GetItem(names, (Py_ssize_t)i), true);
        if (index < 0) goto done;
        columns.properties[i] = model->properties[index];
        if (!model->properties[index]->collection) {
            columns.keys[columns.plain++] = self->binding->keys[index];
        }
    }
    /* Collecting garbage can run any code, which might change what the values borrow from. It
     * would find nothing here anyway, but look through the list again and again. */
    int collecting = PyGC_Disable();
    list = read_rows(self, count, &columns);
    if (collecting) PyGC_Enable();
done:
    PyMem_Free(columns.properties);
    PyMem_Free(columns.keys);
    PyMem_Free(columns.values);
    return list;
}
