/* Columns of results in memory, as Apache Arrow lays them out: what arrow_columns.c fills, and arrow_out.c
 * hands out. */
#ifndef REALM_PYTHON_ARROW_COLUMNS_H
#define REALM_PYTHON_ARROW_COLUMNS_H

#include "results/results.h"

/* How a column is laid out. */
typedef enum {
    LAYOUT_INTEGERS,   /* int64; also dates, timestamps and durations in their units */
    LAYOUT_DAYS,       /* int32 */
    LAYOUT_DOUBLES,
    LAYOUT_FLOATS,
    LAYOUT_BITS,
    LAYOUT_TEXT,       /* int64 offsets, bytes */
    LAYOUT_FIXED       /* 16 or 12 bytes */
} Layout;

typedef struct {
    Property *property;
    realm_property_key_t key;
    Layout layout;
    size_t width;             /* bytes of a value; of LAYOUT_FIXED and plain numbers */
    char format[16];
    char *name;
    bool nullable;
    uint8_t *valid;           /* bitmap, or NULL while there is no null */
    int64_t nulls;
    uint8_t *data;            /* values, or the bytes of texts */
    PyObject *owner;          /* the bytearray that `data` is in, or NULL: then it is malloc()'s */
    int64_t *offsets;         /* of texts */
    size_t size, capacity;    /* of the bytes of texts */
} Column;

typedef struct {
    size_t count;             /* of columns */
    size_t rows;
    bool bare;                /* an array of values: the one column, of no table */
    bool taken;               /* the rows were handed out */
    Column *columns;
} Table;

/* The columns of a tuple of names, with the rows or, for their types alone, without; NULL with an exception.
 * With `for_python` the values are in bytearrays. */
Table *table_read(Results *self, PyObject *names, bool with_rows, bool for_python);
/* The elements of results that are no objects, the same way. */
Table *table_read_values(Results *self, bool with_rows);
void table_free(Table *table);

#endif
