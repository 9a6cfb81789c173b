/* A column of values for one property, in memory that somebody else laid out. */
#ifndef REALM_PYTHON_SOURCE_H
#define REALM_PYTHON_SOURCE_H

#include "values/arrow.h"
#include "values/values.h"

typedef enum {
    FROM_NULLS,
    FROM_I8, FROM_U8, FROM_I16, FROM_U16, FROM_I32, FROM_U32, FROM_I64, FROM_U64,
    FROM_F32, FROM_F64,
    FROM_BITS,          /* booleans, one bit each */
    FROM_BOOLS,         /* one byte each */
    FROM_TEXT,          /* UTF-8 */
    FROM_BYTES,
    FROM_FIXED,         /* `width` bytes */
    FROM_DECIMAL,       /* 16 bytes, little endian, with `scale` digits behind the point */
    FROM_INSTANT,       /* int64, `unit` to a second */
    FROM_LOCAL,         /* the same without a time zone */
    FROM_DAYS,          /* int32 */
    FROM_MILLIDAYS,     /* int64: milliseconds of a day's beginning */
    FROM_SPAN,          /* int64, `unit` to a second */
    FROM_LIST,          /* of Arrow */
    FROM_OBJECTS        /* a list of Python objects */
} From;

typedef struct Source Source;
struct Source {
    Property *property;
    size_t index;              /* of the property in the model */
    From from;
    bool wide;                 /* offsets are int64 */
    bool views;                /* texts are views of 16 bytes into `buffers` */
    const void **buffers;      /* of views, and behind them their sizes */
    size_t buffer_count;
    int64_t unit, width, scale;
    const uint8_t *valid;      /* bitmap, or NULL */
    const void *data;          /* values, or offsets of texts and lists */
    const uint8_t *bytes;      /* of texts */
    size_t first;              /* of the values in their memory */
    PyObject *objects;
    Py_buffer view;
    Source *inner;             /* of a list's elements, or of a dictionary's values */
    bool encoded;              /* the values are indexes into `inner` */
};

/* Takes the memory of an array of Arrow, which stays the array's. The property is set before; 0, or -1
 * with an exception. */
int source_arrow(Source *self, const struct ArrowSchema *schema, const struct ArrowArray *array);
/* Takes a column as Python gives it: a buffer of numbers, (buffer, format of Arrow), or a sequence. */
int source_python(Source *self, PyObject *given, size_t *rows);
/* Raises that the property can't be given `what`; -1. */
int source_refuse(Source *self, const char *what);
/* A value as one of its property, as far as Arrow has no type for it: a member of an Enum, or what is
 * written as text. */
PyObject *source_item(const Source *self, size_t row);
/* A value for the engine; `*keep` as in `value_for_property`. */
int source_value(const Source *self, Realm *realm, size_t row, realm_value_t *out, PyObject **keep);
void source_free(Source *self);

#endif
