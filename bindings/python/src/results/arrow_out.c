/* Results as streams of Apache Arrow, and the types of their columns. Results of objects are tables, those of
 * other values arrays.
 *
 * All rows are read when the stream is asked for; the consumer may then take them on any thread, after the
 * realm has gone on or is closed. */
#include "results/arrow_columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "values/arrow.h"

static void release_schema(struct ArrowSchema *schema) {
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (schema->children[i]->release) schema->children[i]->release(schema->children[i]);
        free(schema->children[i]);
    }
    free(schema->children);
    free((void *)schema->name);
    free((void *)schema->format);
    schema->release = NULL;
}

static void release_array(struct ArrowArray *array) {
    for (int64_t i = 0; i < array->n_children; i++) {
        if (array->children[i]->release) array->children[i]->release(array->children[i]);
        free(array->children[i]);
    }
    /* The buffers of a column are its own; those of the whole are none. */
    for (int64_t i = 0; i < array->n_buffers; i++) free((void *)array->buffers[i]);
    free(array->buffers);
    free(array->children);
    array->release = NULL;
}

static int schema_make(struct ArrowSchema *out, const char *format, const char *name, int64_t flags,
                       size_t children) {
    memset(out, 0, sizeof *out);
    out->format = strdup(format);
    out->name = strdup(name);
    out->flags = flags;
    out->children = calloc(children + 1, sizeof *out->children);
    out->release = release_schema;
    if (out->format && out->name && out->children) return 0;
    release_schema(out);
    return ENOMEM;
}

static int column_schema(const Column *column, struct ArrowSchema *out) {
    return schema_make(out, column->format, column->name,
                       column->nullable ? ARROW_FLAG_NULLABLE : 0, 0);
}

static int table_schema(const Table *table, struct ArrowSchema *out) {
    if (table->bare) return column_schema(table->columns, out);
    if (schema_make(out, "+s", "", 0, table->count)) return ENOMEM;
    for (size_t i = 0; i < table->count; i++) {
        struct ArrowSchema *child = malloc(sizeof *child);
        if (!child || column_schema(&table->columns[i], child)) {
            free(child);
            release_schema(out);
            return ENOMEM;
        }
        out->children[i] = child;
        out->n_children = (int64_t)i + 1;
    }
    return 0;
}

static int stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
    return table_schema(stream->private_data, out);
}

static int array_make(struct ArrowArray *out, size_t rows, size_t buffers, size_t children) {
    memset(out, 0, sizeof *out);
    out->length = (int64_t)rows;
    out->buffers = calloc(buffers + 1, sizeof *out->buffers);
    out->children = calloc(children + 1, sizeof *out->children);
    out->n_buffers = (int64_t)buffers;
    out->release = release_array;
    if (out->buffers && out->children) return 0;
    free(out->buffers);
    free(out->children);
    out->release = NULL;
    return ENOMEM;
}

/* Hands over what the column holds. */
static int column_array(Column *column, size_t rows, struct ArrowArray *out) {
    bool text = column->layout == LAYOUT_TEXT;
    if (array_make(out, rows, text ? 3 : 2, 0)) return ENOMEM;
    out->null_count = column->nulls;
    out->buffers[0] = column->valid;
    out->buffers[1] = text ? (void *)column->offsets : column->data;
    if (text) out->buffers[2] = column->data;
    column->valid = column->data = NULL;
    column->offsets = NULL;
    return 0;
}

static int stream_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
    Table *table = stream->private_data;
    memset(out, 0, sizeof *out);
    if (table->taken) return 0;
    if (table->bare) {
        int failed = column_array(table->columns, table->rows, out);
        table->taken = !failed;
        return failed;
    }
    if (array_make(out, table->rows, 1, table->count)) return ENOMEM;
    for (size_t i = 0; i < table->count; i++) {
        struct ArrowArray *child = malloc(sizeof *child);
        if (!child || column_array(&table->columns[i], table->rows, child)) {
            free(child);
            release_array(out);
            return ENOMEM;
        }
        out->children[i] = child;
        out->n_children = (int64_t)i + 1;
    }
    table->taken = true;
    return 0;
}

static const char *stream_error(struct ArrowArrayStream *stream) {
    (void)stream;
    return "not enough memory";
}

static void release_stream(struct ArrowArrayStream *stream) {
    table_free(stream->private_data);
    stream->release = NULL;
}

static void drop_capsule(PyObject *capsule) {
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (!stream) {
        PyErr_WriteUnraisable(capsule);
        return;
    }
    if (stream->release) stream->release(stream);
    free(stream);
}

/* What results hold, with or without the rows: the columns of a tuple of names; with None the values, if these
 * are no objects. NULL with an exception. */
static Table *table_of(Results *self, PyObject *names, bool with_rows) {
    if (names == Py_None && !self->binding) return table_read_values(self, with_rows);
    if (PyTuple_Check(names)) return table_read(self, names, with_rows, false);
    PyErr_SetString(PyExc_TypeError, "names are a tuple");
    return NULL;
}

/* Results._arrow_stream(names): a capsule with an ArrowArrayStream. */
PyObject *results_arrow_stream(Results *self, PyObject *names) {
    Table *table = table_of(self, names, true);
    if (!table) return NULL;
    struct ArrowArrayStream *stream = malloc(sizeof *stream);
    PyObject *capsule =
        stream ? PyCapsule_New(stream, "arrow_array_stream", drop_capsule) : PyErr_NoMemory();
    if (!capsule) {
        free(stream);
        table_free(table);
        return NULL;
    }
    /* Nothing in the table is Python's from now on: the consumer may ask without the GIL. */
    *stream = (struct ArrowArrayStream){stream_schema, stream_next, stream_error, release_stream,
                                        table};
    return capsule;
}

static void drop_schema(PyObject *capsule) {
    struct ArrowSchema *schema = PyCapsule_GetPointer(capsule, "arrow_schema");
    if (!schema) {
        PyErr_WriteUnraisable(capsule);
        return;
    }
    if (schema->release) schema->release(schema);
    free(schema);
}

/* Results._arrow_schema(names): a capsule with the ArrowSchema of such a stream. */
PyObject *results_arrow_schema(Results *self, PyObject *names) {
    Table *table = table_of(self, names, false);
    if (!table) return NULL;
    struct ArrowSchema *schema = malloc(sizeof *schema);
    int failed = !schema || table_schema(table, schema);
    table_free(table);
    PyObject *capsule = failed ? PyErr_NoMemory() : PyCapsule_New(schema, "arrow_schema", drop_schema);
    if (!capsule) {
        if (!failed) release_schema(schema);
        free(schema);
    }
    return capsule;
}
