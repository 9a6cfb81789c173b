/* Columns of Apache Arrow, filled with the rows of results, and single ones as plain bytes for NumPy.
 *
 * Integers and floating point numbers are read into the buffers that are handed over. The memory is malloc()'s:
 * consumers release it without the GIL. */
#include "results/arrow_columns.h"

#include <stdlib.h>
#include <string.h>

#define ROWS_AT_ONCE 1024
#define MICROS_PER_SECOND 1000000
#define SECONDS_PER_DAY 86400

static void column_free(Column *column) {
    free(column->name);
    free(column->valid);
    if (!column->owner) free(column->data);
    Py_XDECREF(column->owner);
    free(column->offsets);
}

void table_free(Table *table) {
    if (!table) return;
    for (size_t i = 0; i < table->count; i++) column_free(&table->columns[i]);
    free(table->columns);
    free(table);
}

/* How a property is laid out, or an element of its collection; -1 with an exception where it is none of
 * Arrow's. */
static int column_describe(Column *column, Property *property, realm_property_key_t key,
                           bool is_element) {
    State *state = property->state;
    const char *format = NULL;
    column->property = property;
    column->key = key;
    column->width = 8;
    if (!property->collection || is_element) {
        switch (property->type) {
        case RLM_PROPERTY_TYPE_INT:
            column->layout = LAYOUT_INTEGERS;
            format = property->form == state->timedelta_type ? "tDu" : "l";
            break;
        case RLM_PROPERTY_TYPE_TIMESTAMP:
            column->layout = property->form ? LAYOUT_DAYS : LAYOUT_INTEGERS;
            column->width = property->form ? 4 : 8;
            format = property->form ? "tdD" : "tsu:UTC";
            break;
        case RLM_PROPERTY_TYPE_OBJECT: column->layout = LAYOUT_INTEGERS; format = "l"; break;
        case RLM_PROPERTY_TYPE_BOOL: column->layout = LAYOUT_BITS; format = "b"; break;
        case RLM_PROPERTY_TYPE_DOUBLE: column->layout = LAYOUT_DOUBLES; format = "g"; break;
        case RLM_PROPERTY_TYPE_FLOAT:
            column->layout = LAYOUT_FLOATS;
            column->width = 4;
            format = "f";
            break;
        case RLM_PROPERTY_TYPE_STRING: column->layout = LAYOUT_TEXT; format = "U"; break;
        case RLM_PROPERTY_TYPE_BINARY: column->layout = LAYOUT_TEXT; format = "Z"; break;
        case RLM_PROPERTY_TYPE_DECIMAL128: column->layout = LAYOUT_TEXT; format = "U"; break;
        case RLM_PROPERTY_TYPE_UUID:
            column->layout = LAYOUT_FIXED;
            column->width = 16;
            format = "w:16";
            break;
        case RLM_PROPERTY_TYPE_OBJECT_ID:
            column->layout = LAYOUT_FIXED;
            column->width = 12;
            format = "w:12";
            break;
        default: break;
        }
    }
    if (!format) {
        raise_code(state, RLM_ERR_PROPERTY_TYPE_MISMATCH,
                   "%s.%U can't be a column: collections and values of any type have no one type; "
                   "%s gives them as Python values",
                   property->model->text, property->name, is_element ? "list()" : "values()");
        return -1;
    }
    strcpy(column->format, format);
    column->name = strdup(property->text);
    column->nullable = property->flags & RLM_PROPERTY_NULLABLE || property->link_target;
    if (column->name) return 0;
    PyErr_NoMemory();
    return -1;
}

static int column_allocate(Column *column, size_t rows, bool for_python) {
    size_t size = rows * column->width;
    if (column->layout == LAYOUT_BITS) size = (rows + 7) / 8;
    if (for_python && column->layout != LAYOUT_TEXT) {
        column->owner = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)size);
        if (!column->owner) return -1;
        column->data = (uint8_t *)PyByteArray_AsString(column->owner);
        if (column->layout == LAYOUT_BITS) memset(column->data, 0, size);
        return 0;
    }
    if (column->layout == LAYOUT_TEXT) {
        column->offsets = calloc(rows + 1, sizeof *column->offsets);
        size = column->capacity = 16 * rows + 64;
    }
    column->data = column->layout == LAYOUT_BITS ? calloc(size + 8, 1) : malloc(size + 8);
    if (column->data && (column->offsets || column->layout != LAYOUT_TEXT)) return 0;
    PyErr_NoMemory();
    return -1;
}

static int set_null(Column *column, size_t row, size_t rows) {
    if (!column->valid) {
        column->valid = malloc((rows + 7) / 8 + 8);
        if (!column->valid) {
            PyErr_NoMemory();
            return -1;
        }
        memset(column->valid, 0xFF, (rows + 7) / 8 + 8);
    }
    column->valid[row / 8] &= (uint8_t)~(1u << (row % 8));
    column->nulls++;
    return 0;
}

static int put_text(Column *column, size_t row, const void *bytes, size_t size) {
    if (size > column->capacity - column->size) {
        size_t capacity = 2 * column->capacity + size;
        uint8_t *grown = realloc(column->data, capacity + 8);
        if (!grown) {
            PyErr_NoMemory();
            return -1;
        }
        column->data = grown;
        column->capacity = capacity;
    }
    if (size) memcpy(column->data + column->size, bytes, size);
    column->size += size;
    column->offsets[row + 1] = (int64_t)column->size;
    return 0;
}

/* Of integers, links and booleans, numbers, and texts: the engine hands out columns. */
static bool is_bulk(const Column *column) {
    int type = column->property->type;
    return type != RLM_PROPERTY_TYPE_TIMESTAMP && type != RLM_PROPERTY_TYPE_DECIMAL128 &&
           type != RLM_PROPERTY_TYPE_UUID && type != RLM_PROPERTY_TYPE_OBJECT_ID;
}

static int fill_bulk(Results *self, Column *column, size_t first, size_t count, size_t total,
                     size_t *rows) {
    uint8_t nulls[ROWS_AT_ONCE];
    union {
        int64_t integers[ROWS_AT_ONCE];
        double doubles[ROWS_AT_ONCE];
        realm_string_t texts[ROWS_AT_ONCE];
    } read;
    bool done;
    bool text = column->layout == LAYOUT_TEXT;
    if (text) {
        done = realm_results_read_strings(self->handle, column->key, first, count, read.texts, rows);
    } else if (column->layout == LAYOUT_DOUBLES || column->layout == LAYOUT_FLOATS) {
        done = realm_results_read_doubles(self->handle, column->key, first, count, read.doubles,
                                          nulls, rows);
    } else {
        done = realm_results_read_integers(self->handle, column->key, first, count, read.integers,
                                           nulls, rows);
    }
    if (!done) {
        results_raise(self, "columns of");
        return -1;
    }
    for (size_t i = 0; i < *rows; i++) {
        size_t row = first + i;
        if (text ? !read.texts[i].data : nulls[i] != 0) {
            if (set_null(column, row, total) < 0) return -1;
            if (text) column->offsets[row + 1] = (int64_t)column->size;
        } else if (text && put_text(column, row, read.texts[i].data, read.texts[i].size) < 0) {
            return -1;
        } else if (column->layout == LAYOUT_BITS && read.integers[i]) {
            column->data[row / 8] |= (uint8_t)(1u << (row % 8));
        }
    }
    switch (column->layout) {
    case LAYOUT_INTEGERS:
    case LAYOUT_DOUBLES: memcpy(column->data + 8 * first, &read, 8 * *rows); break;
    case LAYOUT_FLOATS:
        for (size_t i = 0; i < *rows; i++) {
            ((float *)column->data)[first + i] = (float)read.doubles[i];
        }
        break;
    default: break;
    }
    return 0;
}

static int64_t floor_divided(int64_t value, int64_t by) {
    return value / by - (value % by < 0);
}

static int put_value(Results *self, Column *column, size_t row, size_t total,
                     const realm_value_t *value) {
    int64_t micros = 0;
    memset(column->layout == LAYOUT_TEXT ? (uint8_t *)&column->offsets[row + 1]
                                         : column->data + row * column->width,
           0, column->layout == LAYOUT_TEXT ? 8 : column->width);
    switch (value->type) {
    case RLM_TYPE_NULL:
        if (column->layout == LAYOUT_TEXT) column->offsets[row + 1] = (int64_t)column->size;
        return set_null(column, row, total);
    case RLM_TYPE_TIMESTAMP:
        if (column->layout == LAYOUT_DAYS) {
            /* Nanoseconds before 1970 are negative: an instant just before midnight is of the day before. */
            const bool is_before = value->timestamp.nanoseconds < 0 &&
                                   value->timestamp.seconds % SECONDS_PER_DAY == 0;
            const int64_t day =
                floor_divided(value->timestamp.seconds, SECONDS_PER_DAY) - is_before;
            if (day < INT32_MIN || day > INT32_MAX) {
                raise_code(self->realm->state, RLM_ERR_RANGE_ERROR,
                           "%s.%U of row %zu lies outside of the days that 32 bits reach",
                           column->property->model->text, column->property->name, row);
                return -1;
            }
            ((int32_t *)column->data)[row] = (int32_t)day;
            return 0;
        }
        if (__builtin_mul_overflow(value->timestamp.seconds, MICROS_PER_SECOND, &micros) ||
            __builtin_add_overflow(micros, floor_divided(value->timestamp.nanoseconds, 1000),
                                   &micros)) {
            raise_code(self->realm->state, RLM_ERR_RANGE_ERROR,
                       "%s.%U of row %zu lies outside of the years that microseconds in 64 bits reach",
                       column->property->model->text, column->property->name, row);
            return -1;
        }
        ((int64_t *)column->data)[row] = micros;
        return 0;
    case RLM_TYPE_UUID: memcpy(column->data + 16 * row, &value->uuid, 16); return 0;
    case RLM_TYPE_OBJECT_ID: memcpy(column->data + 12 * row, &value->object_id, 12); return 0;
    default: break;
    }
    /* A decimal, as text. */
    PyObject *number = value_to_python(self->realm->state, self->realm, value);
    PyObject *text = number ? PyObject_Str(number) : NULL;
    Py_ssize_t size = 0;
    const char *utf8 = text ? PyUnicode_AsUTF8AndSize(text, &size) : NULL;
    int bad = utf8 ? put_text(column, row, utf8, (size_t)size) : -1;
    Py_XDECREF(text);
    Py_XDECREF(number);
    return bad;
}

static int fill_by_value(Results *self, Column *column, size_t first, size_t count, size_t total,
                         size_t *rows) {
    realm_value_t values[ROWS_AT_ONCE];
    if (!realm_results_get_values(self->handle, first, count, 1, &column->key, values, rows)) {
        results_raise(self, "columns of");
        return -1;
    }
    for (size_t i = 0; i < *rows; i++) {
        if (put_value(self, column, first + i, total, &values[i]) < 0) return -1;
    }
    return 0;
}

static int column_fill(Results *self, Column *column, size_t total, bool for_python) {
    if (column_allocate(column, total, for_python) < 0) return -1;
    for (size_t first = 0, rows = 0; first < total; first += rows) {
        size_t count = total - first < ROWS_AT_ONCE ? total - first : ROWS_AT_ONCE;
        rows = 0;
        if ((is_bulk(column) ? fill_bulk : fill_by_value)(self, column, first, count, total, &rows) < 0) {
            return -1;
        }
        if (rows == 0 || rows > count) {
            raise_code(self->realm->state, RLM_ERR_STALE_ACCESSOR,
                       "the results of %s changed while they were read", self->binding->model->text);
            return -1;
        }
    }
    return 0;
}

static int put_element(Results *self, Column *column, size_t row, size_t total,
                       const realm_value_t *value) {
    switch (value->type) {
    case RLM_TYPE_INT: ((int64_t *)column->data)[row] = value->integer; return 0;
    case RLM_TYPE_DOUBLE: ((double *)column->data)[row] = value->dnum; return 0;
    case RLM_TYPE_FLOAT: ((float *)column->data)[row] = value->fnum; return 0;
    case RLM_TYPE_BOOL:
        if (value->boolean) column->data[row / 8] |= (uint8_t)(1u << (row % 8));
        return 0;
    case RLM_TYPE_STRING: return put_text(column, row, value->string.data, value->string.size);
    case RLM_TYPE_BINARY: return put_text(column, row, value->binary.data, value->binary.size);
    case RLM_TYPE_NULL:
        /* Bits are no whole bytes, and zero from the beginning. */
        if (column->layout == LAYOUT_BITS) return set_null(column, row, total);
        return put_value(self, column, row, total, value);
    default: return put_value(self, column, row, total, value);
    }
}

static int elements_fill(Results *self, Column *column, size_t total) {
    if (column_allocate(column, total, false) < 0) return -1;
    for (size_t row = 0; row < total; row++) {
        realm_value_t value;
        if (!realm_results_get(self->handle, row, &value)) {
            results_raise(self, "values of");
            return -1;
        }
        if (put_element(self, column, row, total, &value) < 0) return -1;
    }
    return 0;
}

static Table *table_make(size_t columns, size_t rows) {
    Table *table = calloc(1, sizeof *table);
    if (table) table->columns = calloc(columns + 1, sizeof *table->columns);
    if (!table || !table->columns) {
        free(table);
        PyErr_NoMemory();
        return NULL;
    }
    table->rows = rows;
    return table;
}

Table *table_read_values(Results *self, bool with_rows) {
    size_t rows = 0;
    if (results_ready(self) < 0 || (with_rows && results_count(self, &rows) < 0)) return NULL;
    Table *table = table_make(1, rows);
    if (!table) return NULL;
    table->bare = true;
    table->count = 1;
    if (column_describe(table->columns, self->source->property, 0, true) == 0 &&
        (!with_rows || elements_fill(self, table->columns, rows) == 0)) {
        return table;
    }
    table_free(table);
    return NULL;
}

Table *table_read(Results *self, PyObject *names, bool with_rows, bool for_python) {
    size_t count = (size_t)PyTuple_Size(names), rows = 0;
    if (results_need_objects(self, "columns") < 0 || results_ready(self) < 0 ||
        (with_rows && results_count(self, &rows) < 0)) {
        return NULL;
    }
    Table *table = table_make(count, rows);
    if (!table) return NULL;
    for (size_t i = 0; i < count; i++) {
        Py_ssize_t index = model_find(self->binding->model, PyTuple_GetItem(names, (Py_ssize_t)i),
                                      true);
        Column *column = &table->columns[i];
        table->count = i + 1;
        if (index < 0 ||
            column_describe(column, self->binding->model->properties[index],
                            self->binding->keys[index], false) < 0 ||
            (with_rows && column_fill(self, column, rows, for_python) < 0)) {
            table_free(table);
            return NULL;
        }
    }
    return table;
}

/* Results._column(name): the values as a bytearray, the format of Arrow, and a bytearray of bits that are
 * 1 where there is a value, or None. */
PyObject *results_column(Results *self, PyObject *name) {
    PyObject *names = PyTuple_Pack(1, name);
    Table *table = names ? table_read(self, names, true, true) : NULL;
    Py_XDECREF(names);
    if (!table) return NULL;
    Column *column = &table->columns[0];
    PyObject *result = NULL;
    size_t bits = (table->rows + 7) / 8;
    if (column->layout == LAYOUT_TEXT) {
        Property *property = column->property;
        raise_code(self->realm->state, RLM_ERR_PROPERTY_TYPE_MISMATCH,
                   "%s.%U has no fixed size", property->model->text, property->name);
    } else {
        PyObject *valid =
            column->valid ? PyByteArray_FromStringAndSize((char *)column->valid, (Py_ssize_t)bits)
                          : Py_NewRef(Py_None);
        result = Py_BuildValue("(OsNn)", column->owner, column->format, valid,
                               (Py_ssize_t)table->rows);
    }
    table_free(table);
    return result;
}
