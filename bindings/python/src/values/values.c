/* Conversion between Python values and realm_value_t, in both directions.
 *
 * Strict like the engine: a value must have the type of its property. Three widenings that lose
 * nothing are made here because Python's own type checkers allow them: int for float, any integer
 * type with __index__ for int, bytearray and memoryview for bytes. True and False are not ints.
 */
#include "values/values.h"

#include <math.h>
#include <string.h>

#define NANOS_PER_MICRO 1000
#define SECONDS_PER_DAY 86400
/* The first and the last second that datetime knows. */
#define UTC_SECONDS_MIN (-62135596800LL)
#define UTC_SECONDS_MAX 253402300799LL
#define MICROS_PER_SECOND 1000000

/* ---- timestamps ----------------------------------------------------------------------------- */

static int attribute_as_long(PyObject *object, PyObject *name, long long *out) {
    PyObject *value = PyObject_GetAttr(object, name);
    if (!value) return -1;
    *out = PyLong_AsLongLong(value);
    Py_DECREF(value);
    return *out == -1 && PyErr_Occurred() ? -1 : 0;
}

typedef enum { ZONE_FAILED = -1, ZONE_NONE, ZONE_UTC, ZONE_OTHER } Zone;

static Zone zone_of(State *state, PyObject *value) {
    PyObject *zone = PyObject_GetAttr(value, state->name_tzinfo);
    if (!zone) return ZONE_FAILED;
    Py_DECREF(zone);
    if (zone == Py_None) return ZONE_NONE;
    if (zone == state->utc) return ZONE_UTC;
    /* A tzinfo may still answer None for its offset. */
    PyObject *offset = PyObject_CallMethod(value, "utcoffset", NULL);
    if (!offset) return ZONE_FAILED;
    Py_DECREF(offset);
    return offset == Py_None ? ZONE_NONE : ZONE_OTHER;
}

bool is_in_utc(State *state, PyObject *value) { return zone_of(state, value) == ZONE_UTC; }

/* `value` is an aware datetime. Seconds and nanoseconds get the same sign, as the ABI asks. */
static int timestamp_from_python(State *state, PyObject *value, realm_timestamp_t *out) {
    PyObject *since = PyNumber_Subtract(value, state->epoch);
    if (!since) return -1;
    long long days = 0, seconds = 0, micros = 0;
    int bad = attribute_as_long(since, state->name_days, &days) ||
              attribute_as_long(since, state->name_seconds, &seconds) ||
              attribute_as_long(since, state->name_microseconds, &micros);
    Py_DECREF(since);
    if (bad) return -1;
    seconds += days * SECONDS_PER_DAY;
    if (seconds < 0 && micros > 0) {
        seconds += 1;
        micros -= MICROS_PER_SECOND;
    }
    if (seconds < UTC_SECONDS_MIN || seconds > UTC_SECONDS_MAX) {
        raise_code(state, RLM_ERR_RANGE_ERROR,
                   "%R is no datetime in UTC, as which it comes back: its year there is not 1 to 9999",
                   value);
        return -1;
    }
    out->seconds = seconds;
    out->nanoseconds = (int32_t)(micros * NANOS_PER_MICRO);
    return 0;
}

/* datetime has microseconds: finer digits are dropped towards the past. */
static PyObject *timestamp_to_python(State *state, realm_timestamp_t value) {
    int64_t micros = value.nanoseconds / NANOS_PER_MICRO;
    if (value.nanoseconds < 0 && value.nanoseconds % NANOS_PER_MICRO != 0) micros -= 1;
    /* timedelta takes at most 999,999,999 days; datetime ends long before that. */
    if (value.seconds > 4000000000000 || value.seconds < -4000000000000) {
        raise_code(state, RLM_ERR_RANGE_ERROR,
                   "the timestamp %lld s from 1970 lies outside the years that datetime knows",
                   (long long)value.seconds);
        return NULL;
    }
    int64_t days = value.seconds / SECONDS_PER_DAY;
    PyObject *since = PyObject_CallFunction(
        state->timedelta_type, "LLL", (long long)days,
        (long long)(value.seconds - days * SECONDS_PER_DAY), (long long)micros);
    if (!since) return NULL;
    PyObject *result = PyNumber_Add(state->epoch, since);
    Py_DECREF(since);
    if (!result && PyErr_ExceptionMatches(PyExc_OverflowError)) {
        PyErr_Clear();
        raise_code(state, RLM_ERR_RANGE_ERROR,
                   "the timestamp %lld s from 1970 lies outside the years that datetime knows",
                   (long long)value.seconds);
    }
    return result;
}

/* ---- decimals, object ids, UUIDs ------------------------------------------------------------ */

/* The bytes of `source`, a bytes object of `size`, into `target`; takes the reference. */
static int copy_bytes(PyObject *source, void *target, Py_ssize_t size) {
    char *data;
    Py_ssize_t count;
    if (!source) return -1;
    int bad = PyBytes_AsStringAndSize(source, &data, &count) < 0;
    if (!bad && count != size) {
        PyErr_SetString(PyExc_ValueError, "a value has the wrong number of bytes");
        bad = 1;
    }
    if (!bad) memcpy(target, data, (size_t)size);
    Py_DECREF(source);
    return bad ? -1 : 0;
}

/* 1 when `value` is one of the three and was converted, 0 when not, -1 with an exception. A
 * decimal that cannot be stored is a ValueError. */
static int identifier_from_python(State *state, PyObject *value, realm_value_t *out) {
    if (PyObject_TypeCheck(value, (PyTypeObject *)state->decimal_type)) {
        out->type = RLM_TYPE_DECIMAL128;
        PyObject *bytes = PyObject_CallFunctionObjArgs(state->decimal_to_bytes, value, NULL);
        return copy_bytes(bytes, &out->decimal128, 16) < 0 ? -1 : 1;
    }
    if (PyObject_TypeCheck(value, (PyTypeObject *)state->uuid_type)) {
        out->type = RLM_TYPE_UUID;
        return copy_bytes(PyObject_GetAttr(value, state->name_bytes), &out->uuid, 16) < 0 ? -1 : 1;
    }
    if (PyObject_TypeCheck(value, (PyTypeObject *)state->object_id_type)) {
        out->type = RLM_TYPE_OBJECT_ID;
        PyObject *bytes = PyObject_GetAttr(value, state->name_bytes);
        return copy_bytes(bytes, &out->object_id, 12) < 0 ? -1 : 1;
    }
    return 0;
}

/* Turns the ValueError of a decimal into an error of the property; other exceptions stay. */
static int raise_decimal(Property *property, PyObject *value) {
    if (!PyErr_ExceptionMatches(PyExc_ValueError)) return -1;
    PyObject *type, *reason, *trace;
    PyErr_Fetch(&type, &reason, &trace);
    PyObject *text = reason ? PyObject_Str(reason) : NULL;
    const char *rule = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    int result = raise_range(property, value, rule ? rule : "cannot be stored");
    Py_XDECREF(text);
    Py_XDECREF(type);
    Py_XDECREF(reason);
    Py_XDECREF(trace);
    return result;
}

/* ---- into the engine ------------------------------------------------------------------------ */

int string_from_python(PyObject *value, realm_value_t *out) {
    Py_ssize_t size;
    const char *data = PyUnicode_AsUTF8AndSize(value, &size);
    if (!data) return -1;
    out->type = RLM_TYPE_STRING;
    out->string.data = data;
    out->string.size = (size_t)size;
    return 0;
}

static int bytes_from_python(PyObject *value, realm_value_t *out, PyObject **keep) {
    char *data;
    Py_ssize_t size;
    if (!PyBytes_Check(value)) {
        value = *keep = PyBytes_FromObject(value);
        if (!value) return -1;
    }
    if (PyBytes_AsStringAndSize(value, &data, &size) < 0) return -1;
    out->type = RLM_TYPE_BINARY;
    out->binary.data = (const uint8_t *)data;
    out->binary.size = (size_t)size;
    return 0;
}

bool is_bytes_like(PyObject *value) {
    return PyBytes_Check(value) || PyByteArray_Check(value) ||
           Py_TYPE(value) == &PyMemoryView_Type;
}

/* 1 when `value` is a number, which may be too large; 0 when it is no integer, -1 with an exception. */
static int index_from_python(PyObject *value, int64_t *out, int *overflow) {
    if (!PyIndex_Check(value)) return 0;
    PyObject *integer = PyNumber_Index(value);
    if (!integer) {
        /* NumPy's arrays have the method, and only those of one number a result. */
        if (!PyErr_ExceptionMatches(PyExc_TypeError)) return -1;
        PyErr_Clear();
        return 0;
    }
    *out = PyLong_AsLongLongAndOverflow(integer, overflow);
    Py_DECREF(integer);
    return *out == -1 && PyErr_Occurred() ? -1 : 1;
}

/* 1 when converted, 0 when `value` is no integer, -1 with an exception. */
static int integer_from_python(Property *property, PyObject *value, int64_t *out) {
    int overflow = 0;
    int done = PyBool_Check(value) ? 0 : index_from_python(value, out, &overflow);
    return overflow ? raise_range(property, value, "does not fit into 64 bits") : done;
}

/* As above, for floats. */
static int float_from_python(Property *property, PyObject *value, double *out) {
    if (PyFloat_CheckExact(value)) {
        *out = PyFloat_AsDouble(value);
        return 1;
    }
    if (PyBool_Check(value)) return 0;
    double number = PyFloat_AsDouble(value);
    if (number == -1.0 && PyErr_Occurred()) {
        if (PyErr_ExceptionMatches(PyExc_OverflowError)) {
            return raise_range(property, value, "does not fit into a float");
        }
        if (!PyErr_ExceptionMatches(PyExc_TypeError)) return -1;
        PyErr_Clear();
        return 0;
    }
    *out = number;
    return 1;
}

static int link_from_python(Property *property, Realm *realm, PyObject *value,
                            realm_value_t *out) {
    State *state = property->state;
    if (!PyObject_TypeCheck(value, state->object_type)) return raise_mismatch(property, value);
    Object *object = (Object *)value;
    int same = PyUnicode_Compare(object->model->name, property->link_target);
    if (same == -1 && PyErr_Occurred()) return -1;
    if (same != 0) return raise_mismatch(property, value);
    if (!realm) {
        out->type = RLM_TYPE_LINK;
        return 0;
    }
    if (object->realm != realm) {
        raise_code(state, RLM_ERR_INVALID_ARGUMENT,
                   object->realm ? "%s.%U: the %U belongs to another realm"
                                 : "%s.%U: the %U is not in the realm; add it first",
                   property->model->text, property->name, object->model->name);
        return -1;
    }
    if (!realm_object_is_valid(object->handle)) {
        raise_code(state, RLM_ERR_INVALIDATED_OBJECT, "%s.%U: the %U has been deleted",
                   property->model->text, property->name, object->model->name);
        return -1;
    }
    out->type = RLM_TYPE_LINK;
    out->link.target_table = object->binding->class_key;
    out->link.target = object->key;
    return 0;
}

/* An object in a property of any type: it must be in the realm already. */
static int any_link_from_python(Property *property, Realm *realm, Object *object,
                                realm_value_t *out) {
    out->type = RLM_TYPE_LINK;
    if (!realm) return 0;
    if (object->realm != realm) {
        raise_code(property->state, RLM_ERR_INVALID_ARGUMENT,
                   object->realm ? "%s.%U: the %U belongs to another realm"
                                 : "%s.%U: the %U is not in the realm; add it first",
                   property->model->text, property->name, object->model->name);
        return -1;
    }
    if (!realm_object_is_valid(object->handle)) {
        raise_code(property->state, RLM_ERR_INVALIDATED_OBJECT, "%s.%U: the %U has been deleted",
                   property->model->text, property->name, object->model->name);
        return -1;
    }
    out->link.target_table = object->binding->class_key;
    out->link.target = object->key;
    return 0;
}

/* 1 when converted, 0 when a property of any type cannot hold the value, -1 with an exception. */
static int any_from_python(Property *property, Realm *realm, PyObject *value, realm_value_t *out,
                           PyObject **keep) {
    State *state = property->state;
    int done = identifier_from_python(state, value, out);
    if (done != 0) return done < 0 ? raise_decimal(property, value) : 1;
    if (PyBool_Check(value)) {
        out->type = RLM_TYPE_BOOL;
        out->boolean = value == Py_True;
        return 1;
    }
    if (PyUnicode_Check(value)) {
        if (string_from_python(value, out) == 0) return 1;
        if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) return -1;
        return raise_range(property, value, "contains lone surrogates, which are not text");
    }
    if (PyFloat_Check(value)) {
        out->type = RLM_TYPE_DOUBLE;
        out->dnum = PyFloat_AsDouble(value);
        return 1;
    }
    if (is_bytes_like(value)) return bytes_from_python(value, out, keep) < 0 ? -1 : 1;
    if (PyObject_TypeCheck(value, state->object_type)) {
        return any_link_from_python(property, realm, (Object *)value, out) < 0 ? -1 : 1;
    }
    if (PyObject_TypeCheck(value, (PyTypeObject *)state->datetime_type)) return 0;
    out->type = RLM_TYPE_INT;
    return integer_from_python(property, value, &out->integer);
}

/* An aware datetime; 0, or -1 with an exception. */
static int instant_from_python(Property *property, PyObject *value, realm_value_t *out) {
    State *state = property->state;
    switch (zone_of(state, value)) {
    case ZONE_FAILED: return -1;
    case ZONE_NONE:
        raise_code(state, RLM_ERR_PROPERTY_TYPE_MISMATCH,
                   "%s.%U: %R has no time zone; a stored datetime is an instant, so give "
                   "it one, for example datetime.now(timezone.utc)",
                   property->model->text, property->name, value);
        return -1;
    default: break;
    }
    out->type = RLM_TYPE_TIMESTAMP;
    return timestamp_from_python(state, value, &out->timestamp);
}

static int value_type_of(int property_type) {
    switch (property_type) {
    case RLM_PROPERTY_TYPE_DECIMAL128: return RLM_TYPE_DECIMAL128;
    case RLM_PROPERTY_TYPE_OBJECT_ID: return RLM_TYPE_OBJECT_ID;
    default: return RLM_TYPE_UUID;
    }
}

int value_for_property(Property *property, Realm *realm, PyObject *value, realm_value_t *out,
                       PyObject **keep) {
    State *state = property->state;
    int done = 0;
    double number;
    *keep = NULL;
    if (value == Py_None) {
        if (!(property->flags & RLM_PROPERTY_NULLABLE)) return raise_null(property);
        out->type = RLM_TYPE_NULL;
        return 0;
    }
    if (property->form) {
        /* The number or instant is copied; text has to stay. */
        *keep = value = form_to_raw(property, value);
        if (!value) return -1;
    }
    switch (property->type) {
    case RLM_PROPERTY_TYPE_INT:
        out->type = RLM_TYPE_INT;
        done = integer_from_python(property, value, &out->integer);
        break;
    case RLM_PROPERTY_TYPE_BOOL:
        out->type = RLM_TYPE_BOOL;
        if (PyBool_Check(value)) {
            out->boolean = value == Py_True;
            done = 1;
        }
        break;
    case RLM_PROPERTY_TYPE_STRING:
        if (PyUnicode_Check(value)) {
            if (string_from_python(value, out) == 0) return 0;
            if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) return -1;
            return raise_range(property, value, "contains lone surrogates, which are not text");
        }
        break;
    case RLM_PROPERTY_TYPE_BINARY:
        if (is_bytes_like(value)) return bytes_from_python(value, out, keep);
        break;
    case RLM_PROPERTY_TYPE_TIMESTAMP:
        if (!PyObject_TypeCheck(value, (PyTypeObject *)state->datetime_type)) break;
        return instant_from_python(property, value, out);
    case RLM_PROPERTY_TYPE_DOUBLE:
        out->type = RLM_TYPE_DOUBLE;
        done = float_from_python(property, value, &out->dnum);
        break;
    case RLM_PROPERTY_TYPE_FLOAT:
        out->type = RLM_TYPE_FLOAT;
        done = float_from_python(property, value, &number);
        if (done != 1) break;
        out->fnum = (float)number;
        if (isinf(out->fnum) && !isinf(number)) {
            return raise_range(property, value, "does not fit into 32 bits");
        }
        break;
    case RLM_PROPERTY_TYPE_OBJECT: return link_from_python(property, realm, value, out);
    case RLM_PROPERTY_TYPE_DECIMAL128:
        if (PyLong_Check(value) && !PyBool_Check(value)) {
            PyObject *exact =
                PyObject_CallFunctionObjArgs(state->decimal_type, value, NULL);
            if (!exact) return -1;
            done = identifier_from_python(state, exact, out);
            Py_DECREF(exact);
            return done < 0 ? raise_decimal(property, value) : 0;
        }
        /* fall through */
    case RLM_PROPERTY_TYPE_OBJECT_ID:
    case RLM_PROPERTY_TYPE_UUID:
        done = identifier_from_python(state, value, out);
        if (done < 0) return raise_decimal(property, value);
        if (done == 1 && (int)out->type != value_type_of(property->type)) done = 0;
        break;
    case RLM_PROPERTY_TYPE_MIXED:
        if (PyObject_TypeCheck(value, (PyTypeObject *)state->datetime_type)) {
            return instant_from_python(property, value, out);
        }
        done = any_from_python(property, realm, value, out, keep);
        break;
    default: break;
    }
    if (done == 1) return 0;
    return done < 0 ? -1 : raise_mismatch(property, value);
}

/* An argument of one of the engine's types. */
static int raw_for_query(State *state, Realm *realm, PyObject *value, realm_value_t *out,
                         PyObject **keep) {
    int overflow = 0, is_index;
    *keep = NULL;
    if (value == Py_None) {
        out->type = RLM_TYPE_NULL;
    } else if (PyBool_Check(value)) {
        out->type = RLM_TYPE_BOOL;
        out->boolean = value == Py_True;
    } else if (PyUnicode_Check(value)) {
        if (string_from_python(value, out) < 0) {
            PyErr_Clear();
            raise_code(state, RLM_ERR_INVALID_QUERY_ARG,
                       "the argument %A contains lone surrogates, which are not text", value);
            return -1;
        }
    } else if (PyFloat_Check(value)) {
        out->type = RLM_TYPE_DOUBLE;
        out->dnum = PyFloat_AsDouble(value);
    } else if ((is_index = index_from_python(value, &out->integer, &overflow)) != 0) {
        out->type = RLM_TYPE_INT;
        if (!overflow) return is_index < 0 ? -1 : 0;
        raise_code(state, RLM_ERR_RANGE_ERROR, "the argument %R does not fit into 64 bits", value);
        return -1;
    } else if (is_bytes_like(value)) {
        return bytes_from_python(value, out, keep);
    } else if (PyObject_TypeCheck(value, (PyTypeObject *)state->datetime_type)) {
        Zone zone = zone_of(state, value);
        if (zone == ZONE_FAILED) return -1;
        if (zone == ZONE_NONE) {
            raise_code(state, RLM_ERR_INVALID_QUERY_ARG,
                       "the argument %R has no time zone; give it one, for example "
                       "datetime.now(timezone.utc)", value);
            return -1;
        }
        out->type = RLM_TYPE_TIMESTAMP;
        return timestamp_from_python(state, value, &out->timestamp);
    } else if (PyObject_TypeCheck(value, state->object_type)) {
        Object *object = (Object *)value;
        if (object->realm != realm) {
            raise_code(state, RLM_ERR_INVALID_QUERY_ARG,
                       "an argument is a %U that is not in this realm", object->model->name);
            return -1;
        }
        out->type = RLM_TYPE_LINK;
        out->link.target_table = object->binding->class_key;
        out->link.target = object->key;
    } else {
        int done = identifier_from_python(state, value, out);
        if (done == 1) return 0;
        if (done < 0) {
            if (!PyErr_ExceptionMatches(PyExc_ValueError)) return -1;
            PyErr_Clear();
            raise_code(state, RLM_ERR_RANGE_ERROR,
                       "the argument %R has more digits or a greater exponent than are stored",
                       value);
            return -1;
        }
        PyObject *name = type_name(value);
        if (!name) return -1;
        raise_code(state, RLM_ERR_INVALID_QUERY_ARG,
                   "a query can't be given a %U; it takes None, bool, int, float, str, bytes, "
                   "datetime, Decimal, UUID, ObjectId, objects, and lists of these", name);
        Py_DECREF(name);
        return -1;
    }
    return 0;
}

int value_for_query(State *state, Realm *realm, PyObject *value, realm_value_t *out,
                    PyObject **keep) {
    *keep = NULL;
    PyObject *raw = argument_to_raw(state, value);
    if (!raw) return -1;
    int bad = raw_for_query(state, realm, raw, out, keep);
    /* Text in it may be the raw value's own. */
    if (!bad && !*keep && raw != value) *keep = raw;
    else Py_DECREF(raw);
    return bad;
}

/* ---- into Python ---------------------------------------------------------------------------- */

PyObject *value_to_python(State *state, Realm *realm, const realm_value_t *value) {
    switch (value->type) {
    case RLM_TYPE_NULL: Py_RETURN_NONE;
    case RLM_TYPE_INT: return PyLong_FromLongLong(value->integer);
    case RLM_TYPE_BOOL: return PyBool_FromLong(value->boolean);
    case RLM_TYPE_STRING:
        if (!value->string.data) Py_RETURN_NONE;
        return PyUnicode_DecodeUTF8(value->string.data, (Py_ssize_t)value->string.size,
                                    "surrogateescape");
    case RLM_TYPE_BINARY:
        if (!value->binary.data) Py_RETURN_NONE;
        return PyBytes_FromStringAndSize((const char *)value->binary.data,
                                         (Py_ssize_t)value->binary.size);
    case RLM_TYPE_TIMESTAMP: return timestamp_to_python(state, value->timestamp);
    case RLM_TYPE_FLOAT: return PyFloat_FromDouble(value->fnum);
    case RLM_TYPE_DOUBLE: return PyFloat_FromDouble(value->dnum);
    case RLM_TYPE_LINK: return object_from_link(realm, value->link);
    case RLM_TYPE_DECIMAL128:
        return PyObject_CallFunction(state->decimal_from_bytes, "y#",
                                     (const char *)&value->decimal128, (Py_ssize_t)16);
    case RLM_TYPE_OBJECT_ID:
        return PyObject_CallFunction(state->object_id_type, "y#",
                                     (const char *)&value->object_id, (Py_ssize_t)12);
    case RLM_TYPE_UUID:
        /* UUID(hex, bytes) */
        return PyObject_CallFunction(state->uuid_type, "Oy#", Py_None,
                                     (const char *)&value->uuid, (Py_ssize_t)16);
    case RLM_TYPE_LIST:
    case RLM_TYPE_DICTIONARY:
        raise_code(state, RLM_ERR_NOT_SUPPORTED,
                   "a list or dictionary within Any can't be the key of a group, nor what an "
                   "aggregate gives: filter out the objects that have one");
        return NULL;
    default:
        raise_code(state, RLM_ERR_NOT_SUPPORTED,
                   "values of engine type %d have no Python form in this version",
                   (int)value->type);
        return NULL;
    }
}

PyObject *property_to_python(Property *property, Realm *realm, const realm_value_t *value) {
    PyObject *raw = value_to_python(property->state, realm, value);
    return property->form ? form_from_raw(property, raw) : raw;
}
