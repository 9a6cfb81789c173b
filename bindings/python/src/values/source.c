/* Columns of values that come from elsewhere: arrays of Arrow, buffers and sequences of Python. Whatever
 * a column came from, its values are given out in one way. */
#include "values/source.h"

#include <stdio.h>
#include <string.h>

#define MICROS_PER_SECOND 1000000

void source_free(Source *self) {
    if (self->inner) {
        source_free(self->inner);
        PyMem_Free(self->inner);
    }
    Py_CLEAR(self->objects);
    if (self->view.obj) PyBuffer_Release(&self->view);
    *self = (Source){.property = NULL};
}

int source_refuse(Source *self, const char *what) {
    raise_code(self->property->state, RLM_ERR_PROPERTY_TYPE_MISMATCH, "%s.%U can't be given %s",
               self->property->model->text, self->property->name, what);
    return -1;
}

/* ---- what a column is ----------------------------------------------------------------------- */

static int64_t unit_of(char letter) {
    switch (letter) {
    case 's': return 1;
    case 'm': return 1000;
    case 'u': return MICROS_PER_SECOND;
    default: return 1000000000;
    }
}

/* Understands a format of Arrow; false where it is none that can be stored. */
static bool source_format(Source *self, const char *format) {
    static const struct {
        const char *format;
        From from;
        bool wide;
    } plain[] = {{"n", FROM_NULLS, 0}, {"b", FROM_BITS, 0}, {"c", FROM_I8, 0}, {"C", FROM_U8, 0},
                 {"s", FROM_I16, 0},   {"S", FROM_U16, 0},  {"i", FROM_I32, 0}, {"I", FROM_U32, 0},
                 {"l", FROM_I64, 0},   {"L", FROM_U64, 0},  {"f", FROM_F32, 0}, {"g", FROM_F64, 0},
                 {"u", FROM_TEXT, 0},  {"U", FROM_TEXT, 1}, {"z", FROM_BYTES, 0},
                 {"Z", FROM_BYTES, 1}, {"tdD", FROM_DAYS, 0}, {"tdm", FROM_MILLIDAYS, 0},
                 {"+l", FROM_LIST, 0}, {"+L", FROM_LIST, 1}};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        if (strcmp(plain[i].format, format) == 0) {
            self->from = plain[i].from;
            self->wide = plain[i].wide;
            return true;
        }
    }
    if (strcmp(format, "vu") == 0 || strcmp(format, "vz") == 0) {
        self->from = format[1] == 'u' ? FROM_TEXT : FROM_BYTES;
        self->views = true;
        return true;
    }
    int precision, scale, width, end = 0;
    if (sscanf(format, "w:%d%n", &width, &end) == 1 && !format[end] && width > 0) {
        self->from = FROM_FIXED;
        self->width = width;
        return true;
    }
    if (sscanf(format, "d:%d,%d%n", &precision, &scale, &end) == 2 && !format[end]) {
        self->from = FROM_DECIMAL;
        self->scale = scale;
        return true;
    }
    if (strncmp(format, "ts", 2) == 0 && format[2] && format[3] == ':') {
        self->from = format[4] ? FROM_INSTANT : FROM_LOCAL;
        self->unit = unit_of(format[2]);
        return true;
    }
    if (strncmp(format, "tD", 2) == 0 && format[2] && !format[3]) {
        self->from = FROM_SPAN;
        self->unit = unit_of(format[2]);
        return true;
    }
    return false;
}

int source_arrow(Source *self, const struct ArrowSchema *schema,
                 const struct ArrowArray *array) {
    if (!source_format(self, schema->format)) {
        raise_code(self->property->state, RLM_ERR_NOT_SUPPORTED,
                   "%s.%U: columns of Arrow's format '%s' can't be read", self->property->model->text,
                   self->property->name, schema->format);
        return -1;
    }
    bool text = self->from == FROM_TEXT || self->from == FROM_BYTES;
    int64_t buffers = self->from == FROM_NULLS ? 0 : text ? 3 : 2;
    if (array->n_buffers < buffers || array->length < 0 || array->offset < 0 ||
        (self->from == FROM_LIST && array->n_children != 1)) {
        return source_refuse(self, "a malformed column of Arrow");
    }
    self->first = (size_t)array->offset;
    if (buffers) {
        self->valid = array->null_count == 0 ? NULL : array->buffers[0];
        self->data = array->buffers[1];
        self->bytes = text ? array->buffers[2] : NULL;
    }
    if (self->views) {
        /* Nulls, views, then the bytes, and the sizes of those. */
        self->buffers = array->buffers + 2;
        self->buffer_count = (size_t)array->n_buffers - 3;
    }
    self->encoded = schema->dictionary && array->dictionary;
    bool list = self->from == FROM_LIST;
    if (!self->encoded && !list) return 0;
    self->inner = PyMem_Calloc(1, sizeof *self->inner);
    if (!self->inner) {
        PyErr_NoMemory();
        return -1;
    }
    self->inner->property = self->property;
    return source_arrow(self->inner, list ? schema->children[0] : schema->dictionary,
                        list ? array->children[0] : array->dictionary);
}

/* Understands a buffer's format, in the way of the module struct. */
static bool buffer_format(Source *self) {
    const char *format = self->view.format ? self->view.format : "B";
    if (*format == '@' || *format == '=' || *format == '<') format++;
    if (!*format || format[1]) return false;
    static const From integers[][2] = {{FROM_I8, FROM_U8}, {FROM_I16, FROM_U16},
                                       {FROM_I32, FROM_U32}, {FROM_I64, FROM_U64}};
    int size = self->view.itemsize == 1 ? 0 : self->view.itemsize == 2 ? 1
             : self->view.itemsize == 4 ? 2 : self->view.itemsize == 8 ? 3 : -1;
    if (*format == '?' && size == 0) self->from = FROM_BOOLS;
    else if (*format == 'f' && size == 2) self->from = FROM_F32;
    else if (*format == 'd' && size == 3) self->from = FROM_F64;
    else if (size >= 0 && strchr("bhilqn", *format)) self->from = integers[size][0];
    else if (size >= 0 && strchr("BHILQN", *format)) self->from = integers[size][1];
    else return false;
    return true;
}

int source_python(Source *self, PyObject *given, size_t *rows) {
    const char *format = NULL;
    PyObject *column = given;
    if (PyTuple_Check(given) && PyTuple_Size(given) == 2 &&
        PyObject_CheckBuffer(PyTuple_GetItem(given, 0)) &&
        PyUnicode_Check(PyTuple_GetItem(given, 1))) {
        column = PyTuple_GetItem(given, 0);
        format = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(given, 1), NULL);
        if (!format) return -1;
    }
    if (PyUnicode_Check(column) || PyBytes_Check(column) || PyByteArray_Check(column)) {
        return source_refuse(self, "text for a column");
    }
    if (PyObject_CheckBuffer(column)) {
        if (PyObject_GetBuffer(column, &self->view, PyBUF_CONTIG_RO | PyBUF_FORMAT) < 0) {
            PyErr_Clear();
        } else if (self->view.ndim == 1 && buffer_format(self) &&
                   (!format || source_format(self, format))) {
            self->data = self->view.buf;
            *rows = (size_t)(self->view.len / self->view.itemsize);
            return 0;
        } else {
            PyBuffer_Release(&self->view);
        }
    }
    self->from = FROM_OBJECTS;
    self->objects = PySequence_List(column);
    if (!self->objects) return -1;
    *rows = (size_t)PyList_Size(self->objects);
    return 0;
}

/* ---- values --------------------------------------------------------------------------------- */

/* Whether there is none at a row. Instants and spans have one that stands for that in NumPy. */
static bool source_is_null(const Source *self, size_t row) {
    size_t at = self->first + row;
    if (self->from == FROM_NULLS) return true;
    if (self->from == FROM_OBJECTS) return PyList_GetItem(self->objects, (Py_ssize_t)row) == Py_None;
    if (self->valid && !(self->valid[at / 8] >> (at % 8) & 1)) return true;
    bool has_none = self->from == FROM_INSTANT || self->from == FROM_SPAN;
    return has_none && ((const int64_t *)self->data)[at] == INT64_MIN;
}

/* The integer at a row; false where the column has others, or it is too large. */
static bool source_integer(const Source *self, size_t row, int64_t *out) {
    size_t at = self->first + row;
    switch (self->from) {
    case FROM_I8: *out = ((const int8_t *)self->data)[at]; return true;
    case FROM_U8: *out = ((const uint8_t *)self->data)[at]; return true;
    case FROM_I16: *out = ((const int16_t *)self->data)[at]; return true;
    case FROM_U16: *out = ((const uint16_t *)self->data)[at]; return true;
    case FROM_I32: *out = ((const int32_t *)self->data)[at]; return true;
    case FROM_U32: *out = ((const uint32_t *)self->data)[at]; return true;
    case FROM_I64: *out = ((const int64_t *)self->data)[at]; return true;
    case FROM_U64: *out = ((const int64_t *)self->data)[at]; return *out >= 0;
    default: return false;
    }
}

/* A view: its size, and the bytes if they are at most 12, else where they are. What lies outside of the
 * buffers is empty. */
static void source_view(const Source *self, size_t at, const uint8_t **bytes, size_t *size) {
    const uint8_t *view = (const uint8_t *)self->data + 16 * at;
    int32_t parts[4];
    memcpy(parts, view, sizeof parts);
    *bytes = view + 4;
    *size = parts[0] > 0 ? (size_t)parts[0] : 0;
    if (*size <= 12) return;
    const int64_t *sizes = self->buffers[self->buffer_count];
    size_t buffer = (size_t)parts[2];
    if (parts[2] < 0 || parts[3] < 0 || buffer >= self->buffer_count ||
        (int64_t)parts[3] + parts[0] > sizes[buffer]) {
        *size = 0;
        return;
    }
    *bytes = (const uint8_t *)self->buffers[buffer] + parts[3];
}

static void source_text(const Source *self, size_t row, const uint8_t **bytes, size_t *size) {
    size_t at = self->first + row;
    if (self->views) {
        source_view(self, at, bytes, size);
        return;
    }
    if (self->from == FROM_FIXED) {
        *bytes = (const uint8_t *)self->data + at * (size_t)self->width;
        *size = (size_t)self->width;
        return;
    }
    int64_t begin = self->wide ? ((const int64_t *)self->data)[at] : ((const int32_t *)self->data)[at];
    int64_t end =
        self->wide ? ((const int64_t *)self->data)[at + 1] : ((const int32_t *)self->data)[at + 1];
    *bytes = self->bytes ? self->bytes + begin : (const uint8_t *)"";
    *size = end > begin ? (size_t)(end - begin) : 0;
}

/* Days since 1970, or seconds with nanoseconds of the same sign. */
static void source_instant(const Source *self, size_t row, realm_timestamp_t *out) {
    size_t at = self->first + row;
    if (self->from == FROM_DAYS) {
        *out = (realm_timestamp_t){(int64_t)((const int32_t *)self->data)[at] * 86400, 0};
        return;
    }
    int64_t unit = self->from == FROM_MILLIDAYS ? 1000 : self->unit;
    int64_t value = ((const int64_t *)self->data)[at];
    *out = (realm_timestamp_t){value / unit, (int32_t)(value % unit * (1000000000 / unit))};
}

/* A value as Python has it. */
static PyObject *source_object(const Source *self, size_t row) {
    State *state = self->property->state;
    int64_t integer;
    size_t at = self->first + row, size;
    const uint8_t *bytes;
    if (self->from == FROM_OBJECTS) return Py_NewRef(PyList_GetItem(self->objects, (Py_ssize_t)row));
    if (source_is_null(self, row)) Py_RETURN_NONE;
    if (self->encoded) {
        if (!source_integer(self, row, &integer) || integer < 0) Py_RETURN_NONE;
        return source_object(self->inner, (size_t)integer);
    }
    if (source_integer(self, row, &integer)) return PyLong_FromLongLong(integer);
    realm_value_t value = {.type = RLM_TYPE_TIMESTAMP};
    switch (self->from) {
    case FROM_U64: return PyLong_FromUnsignedLongLong(((const uint64_t *)self->data)[at]);
    case FROM_F32: return PyFloat_FromDouble(((const float *)self->data)[at]);
    case FROM_F64: return PyFloat_FromDouble(((const double *)self->data)[at]);
    case FROM_BOOLS: return PyBool_FromLong(((const uint8_t *)self->data)[at] != 0);
    case FROM_BITS:
        return PyBool_FromLong(((const uint8_t *)self->data)[at / 8] >> (at % 8) & 1);
    case FROM_TEXT:
        source_text(self, row, &bytes, &size);
        return PyUnicode_DecodeUTF8((const char *)bytes, (Py_ssize_t)size, NULL);
    case FROM_BYTES:
    case FROM_FIXED:
        source_text(self, row, &bytes, &size);
        if (self->from == FROM_FIXED && self->property->type == RLM_PROPERTY_TYPE_UUID && size == 16) {
            return PyObject_CallFunction(state->uuid_type, "Oy#", Py_None, bytes, (Py_ssize_t)size);
        }
        if (self->from == FROM_FIXED && self->property->type == RLM_PROPERTY_TYPE_OBJECT_ID) {
            return PyObject_CallFunction(state->object_id_type, "y#", bytes, (Py_ssize_t)size);
        }
        return PyBytes_FromStringAndSize((const char *)bytes, (Py_ssize_t)size);
    case FROM_DECIMAL: {
        PyObject *module = PyImport_ImportModule("realm._values");
        PyObject *number =
            module ? PyObject_CallMethod(module, "decimal_of_digits", "y#L",
                                         (const char *)self->data + 16 * at, (Py_ssize_t)16,
                                         (long long)self->scale)
                   : NULL;
        Py_XDECREF(module);
        return number;
    }
    case FROM_DAYS:
    case FROM_MILLIDAYS: {
        source_instant(self, row, &value.timestamp);
        PyObject *instant = value_to_python(state, NULL, &value);
        PyObject *date = instant ? PyObject_CallMethod(instant, "date", NULL) : NULL;
        Py_XDECREF(instant);
        return date;
    }
    case FROM_INSTANT:
        source_instant(self, row, &value.timestamp);
        return value_to_python(state, NULL, &value);
    case FROM_SPAN: {
        int64_t span = ((const int64_t *)self->data)[at];
        int64_t rest = span % self->unit;
        int64_t micros = self->unit > MICROS_PER_SECOND ? rest / (self->unit / MICROS_PER_SECOND)
                                                        : rest * (MICROS_PER_SECOND / self->unit);
        return PyObject_CallFunction(state->timedelta_type, "iLL", 0, (long long)(span / self->unit),
                                     (long long)micros);
    }
    case FROM_LOCAL:
        raise_code(state, RLM_ERR_PROPERTY_TYPE_MISMATCH,
                   "%s.%U: the column has instants without a time zone; give it one, UTC for example",
                   self->property->model->text, self->property->name);
        return NULL;
    case FROM_LIST: {
        int64_t begin = self->wide ? ((const int64_t *)self->data)[at]
                                   : ((const int32_t *)self->data)[at];
        int64_t end = self->wide ? ((const int64_t *)self->data)[at + 1]
                                 : ((const int32_t *)self->data)[at + 1];
        PyObject *list = PyList_New(0);
        for (int64_t i = begin; list && i < end; i++) {
            PyObject *item = source_object(self->inner, (size_t)i);
            if (!item || PyList_Append(list, item) < 0) Py_CLEAR(list);
            Py_XDECREF(item);
        }
        return list;
    }
    default: Py_RETURN_NONE;
    }
}

PyObject *source_item(const Source *self, size_t row) {
    Property *property = self->property;
    State *state = property->state;
    PyObject *value = source_object(self, row);
    if (!value || value == Py_None || self->from == FROM_OBJECTS || property->collection) return value;
    if (property->members) return form_from_raw(property, value);
    PyObject *type = property->type == RLM_PROPERTY_TYPE_DECIMAL128  ? state->decimal_type
                     : property->type == RLM_PROPERTY_TYPE_UUID      ? state->uuid_type
                     : property->type == RLM_PROPERTY_TYPE_OBJECT_ID ? state->object_id_type
                                                                     : NULL;
    if (type && PyUnicode_Check(value)) {
        PyObject *made = PyObject_CallFunctionObjArgs(type, value, NULL);
        /* What is no such text is told as it was given. */
        if (made) replace_reference(&value, made);
        else PyErr_Clear();
    }
    return value;
}

int source_value(const Source *self, Realm *realm, size_t row, realm_value_t *out,
                 PyObject **keep) {
    Property *property = self->property;
    int64_t integer;
    size_t at = self->first + row, size;
    const uint8_t *bytes;
    *keep = NULL;
    if (!property->form && self->from != FROM_OBJECTS && !self->encoded && !source_is_null(self, row)) {
        switch (property->type) {
        case RLM_PROPERTY_TYPE_INT:
            if (!source_integer(self, row, &integer)) break;
            out->type = RLM_TYPE_INT;
            out->integer = integer;
            return 0;
        case RLM_PROPERTY_TYPE_DOUBLE:
            out->type = RLM_TYPE_DOUBLE;
            if (self->from == FROM_F64) out->dnum = ((const double *)self->data)[at];
            else if (self->from == FROM_F32) out->dnum = ((const float *)self->data)[at];
            else if (source_integer(self, row, &integer)) out->dnum = (double)integer;
            else break;
            return 0;
        case RLM_PROPERTY_TYPE_BOOL:
            out->type = RLM_TYPE_BOOL;
            if (self->from == FROM_BOOLS) out->boolean = ((const uint8_t *)self->data)[at] != 0;
            else if (self->from == FROM_BITS) {
                out->boolean = ((const uint8_t *)self->data)[at / 8] >> (at % 8) & 1;
            } else break;
            return 0;
        case RLM_PROPERTY_TYPE_STRING:
            if (self->from != FROM_TEXT) break;
            source_text(self, row, &bytes, &size);
            out->type = RLM_TYPE_STRING;
            out->string = (realm_string_t){(const char *)bytes, size};
            return 0;
        case RLM_PROPERTY_TYPE_BINARY:
            if (self->from != FROM_BYTES && self->from != FROM_FIXED) break;
            source_text(self, row, &bytes, &size);
            out->type = RLM_TYPE_BINARY;
            out->binary = (realm_binary_t){bytes, size};
            return 0;
        case RLM_PROPERTY_TYPE_TIMESTAMP:
            if (self->from != FROM_INSTANT) break;
            out->type = RLM_TYPE_TIMESTAMP;
            source_instant(self, row, &out->timestamp);
            return 0;
        default: break;
        }
    }
    PyObject *value = source_item(self, row);
    if (!value) return -1;
    int bad = value_for_property(property, realm, value, out, keep);
    if (*keep) Py_DECREF(value);
    else *keep = value;
    return bad;
}
