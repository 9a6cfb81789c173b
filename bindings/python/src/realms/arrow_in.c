/* Many objects from columns: `Realm.insert_many` of Arrow streams, buffers and lists.
 *
 * Where all columns hold plain values, rows go from their memory to the engine without a Python object in
 * between; else each row is made as `create` does. */
#include "realms/realms.h"

#include <string.h>

#include "values/source.h"

#define ROWS_BETWEEN_SIGNALS 8192
#define ROWS_BETWEEN_PROGRESS 65536

/* ---- rows ----------------------------------------------------------------------------------- */

/* What the rows of one table are made with. */
typedef struct {
    Realm *realm;
    Binding *binding;
    Source *sources;
    size_t count;
    size_t rows;
    int update;
    bool plain;                 /* of values alone */
    PyObject *progress;         /* called with how many are done, or NULL */
    size_t done;                /* in tables before this one, too */
} Insertion;

static void note_row(Insertion *self, size_t row) {
    PyObject *place = PyUnicode_FromFormat("row %zu", self->done + row);
    note_place(self->realm->state, place);
}

/* Whether rows can go to the engine as they are: no links, collections or values of any type. */
static bool is_plain_table(Insertion *self) {
    if (self->update != UPDATE_ERROR) return false;
    for (size_t i = 0; i < self->count; i++) {
        Property *property = self->sources[i].property;
        if (property->collection || property->type == RLM_PROPERTY_TYPE_OBJECT ||
            property->type == RLM_PROPERTY_TYPE_MIXED) {
            return false;
        }
    }
    Model *model = self->binding->model;
    for (size_t i = 0; i < model->count; i++) {
        Property *property = model->properties[i];
        bool given = false;
        for (size_t j = 0; j < self->count; j++) given = given || self->sources[j].index == i;
        /* Whose defaults are computed, or more than one value, and what has none: `create` knows. */
        if (given) continue;
        bool ready = property->default_value || property->flags & RLM_PROPERTY_NULLABLE;
        if (property->collection) {
            ready = !property->default_value || PyObject_Size(property->default_value) == 0;
        }
        if (property->default_factory || !ready || (Py_ssize_t)i == model->primary) return false;
    }
    return true;
}

static int insert_plain(Insertion *self, size_t row, realm_property_key_t *keys,
                        realm_value_t *values, PyObject **keeps, size_t defaults) {
    Model *model = self->binding->model;
    realm_value_t key;
    bool has_key = false;
    size_t n = defaults;
    int bad = 0;
    for (size_t i = 0; i < self->count && !bad; i++) {
        Source *source = &self->sources[i];
        bool is_key = (Py_ssize_t)source->index == model->primary;
        bad = source_value(source, self->realm, row, is_key ? &key : &values[n], &keeps[defaults + i]);
        if (is_key) has_key = true;
        else keys[n++] = self->binding->keys[source->index];
    }
    realm_object_t *handle = NULL;
    if (!bad) {
        handle = realm_object_create_with_values(self->realm->handle, self->binding->class_key,
                                                 has_key ? &key : NULL, n, keys, values);
        if (handle) {
            realm_release(handle);
        } else {
            raise_engine(self->realm->state, "creating %s", model->text);
        }
    }
    for (size_t i = 0; i < self->count; i++) Py_CLEAR(keeps[defaults + i]);
    return handle ? 0 : -1;
}

static int insert_row(Insertion *self, size_t row) {
    Row made;
    realm_object_t *handle = NULL;
    int bad = row_open(&made, self->binding);
    for (size_t i = 0; i < self->count && !bad; i++) {
        Source *source = &self->sources[i];
        PyObject *value = source_item(source, row);
        bad = value ? row_give(&made, (Py_ssize_t)source->index, value) : -1;
        Py_XDECREF(value);
    }
    if (!bad) handle = row_create(&made, NULL, self->update);
    row_close(&made);
    if (!handle) return -1;
    realm_release_handle(self->realm, handle);
    return 0;
}

static int tell_progress(Insertion *self, size_t rows) {
    if (!self->progress) return 0;
    PyObject *result = PyObject_CallFunction(self->progress, "n", (Py_ssize_t)(self->done + rows));
    Py_XDECREF(result);
    return result ? 0 : -1;
}

static int insert_table(Insertion *self) {
    Model *model = self->binding->model;
    size_t room = model->count + self->count + 1, defaults = 0;
    realm_property_key_t *keys = PyMem_Calloc(room, sizeof *keys);
    realm_value_t *values = PyMem_Calloc(room, sizeof *values);
    PyObject **keeps = PyMem_Calloc(room, sizeof *keeps);
    int bad = keys && values && keeps ? 0 : (PyErr_NoMemory(), -1);
    self->plain = is_plain_table(self);
    for (size_t i = 0; !bad && self->plain && i < model->count; i++) {
        Property *property = model->properties[i];
        bool given = false;
        for (size_t j = 0; j < self->count; j++) given = given || self->sources[j].index == i;
        if (given || property->collection || !property->default_value) continue;
        bad = value_for_property(property, self->realm, property->default_value, &values[defaults],
                                 &keeps[defaults]);
        keys[defaults++] = self->binding->keys[i];
    }
    for (size_t row = 0; !bad && row < self->rows; row++) {
        bad = self->plain ? insert_plain(self, row, keys, values, keeps, defaults)
                          : insert_row(self, row);
        if (bad) note_row(self, row);
        if (!bad && row % ROWS_BETWEEN_SIGNALS == 0) bad = PyErr_CheckSignals();
        if (!bad && (row + 1) % ROWS_BETWEEN_PROGRESS == 0) bad = tell_progress(self, row + 1);
    }
    for (size_t i = 0; keeps && i < defaults; i++) Py_XDECREF(keeps[i]);
    PyMem_Free(keys);
    PyMem_Free(values);
    PyMem_Free(keeps);
    if (!bad) bad = tell_progress(self, self->rows);
    self->done += self->rows;
    return bad;
}

/* ---- tables --------------------------------------------------------------------------------- */

static int source_named(Insertion *self, size_t i, PyObject *name) {
    Py_ssize_t index = model_find(self->binding->model, name, true);
    if (index < 0) return -1;
    self->sources[i].property = self->binding->model->properties[index];
    self->sources[i].index = (size_t)index;
    return 0;
}

static int make_sources(Insertion *self, size_t count) {
    self->count = count;
    self->sources = PyMem_Calloc(count + 1, sizeof *self->sources);
    if (self->sources) return 0;
    PyErr_NoMemory();
    return -1;
}

static void free_sources(Insertion *self) {
    for (size_t i = 0; self->sources && i < self->count; i++) source_free(&self->sources[i]);
    PyMem_Free(self->sources);
    self->sources = NULL;
}

/* {name: column}. */
static int insert_dict(Insertion *self, PyObject *columns) {
    Py_ssize_t position = 0;
    PyObject *name, *column;
    size_t i = 0, rows = 0;
    int bad = make_sources(self, (size_t)PyDict_Size(columns));
    while (!bad && PyDict_Next(columns, &position, &name, &column)) {
        bad = source_named(self, i, name) < 0 ||
              source_python(&self->sources[i], column, &rows) < 0 ? -1 : 0;
        if (!bad && i > 0 && rows != self->rows) {
            raise_code(self->realm->state, RLM_ERR_INVALID_ARGUMENT,
                       "the columns are of different lengths: %U has %zu values, %U %zu",
                       self->sources[0].property->name, self->rows, name, rows);
            bad = -1;
        }
        self->rows = rows;
        i++;
    }
    if (!bad) bad = insert_table(self);
    free_sources(self);
    return bad;
}

static int insert_batch(Insertion *self, const struct ArrowSchema *schema,
                        const struct ArrowArray *array) {
    if (strcmp(schema->format, "+s") != 0 || array->n_children != schema->n_children) {
        raise_code(self->realm->state, MISUSE, "the stream is not one of tables");
        return -1;
    }
    int bad = make_sources(self, (size_t)schema->n_children);
    self->rows = (size_t)array->length;
    for (size_t i = 0; !bad && i < self->count; i++) {
        PyObject *name = PyUnicode_FromString(schema->children[i]->name);
        bad = !name || source_named(self, i, name) < 0 ||
              source_arrow(&self->sources[i], schema->children[i], array->children[i]) < 0 ? -1 : 0;
        Py_XDECREF(name);
        if (!bad && array->children[i]->length < array->length + array->offset) {
            bad = source_refuse(&self->sources[i], "a column of Arrow that is shorter than its table");
        }
        if (!bad) self->sources[i].first += (size_t)array->offset;
    }
    if (!bad) bad = insert_table(self);
    free_sources(self);
    return bad;
}

static int raise_stream(State *state, struct ArrowArrayStream *stream, int code) {
    const char *reason = stream->get_last_error(stream);
    if (!PyErr_Occurred()) {
        raise_code(state, RLM_ERR_INVALID_ARGUMENT, "reading the stream of Arrow failed: %s",
                   reason ? reason : strerror(code));
    }
    return -1;
}

static int insert_stream(Insertion *self, PyObject *capsule) {
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (!stream) return -1;
    if (!stream->release) {
        raise_code(self->realm->state, RLM_ERR_INVALID_ARGUMENT, "the stream of Arrow has been read already");
        return -1;
    }
    struct ArrowSchema schema;
    int code = stream->get_schema(stream, &schema);
    if (code) return raise_stream(self->realm->state, stream, code);
    int bad = 0;
    while (!bad) {
        struct ArrowArray array;
        code = stream->get_next(stream, &array);
        if (code) bad = raise_stream(self->realm->state, stream, code);
        if (bad || !array.release) break;
        bad = insert_batch(self, &schema, &array);
        array.release(&array);
    }
    schema.release(&schema);
    return bad;
}

/* Realm._insert_columns(class, {name: column} or capsule, update, progress): how many it made. */
PyObject *realm_insert_columns(Realm *self, PyObject *args) {
    PyObject *type, *columns, *policy, *progress;
    if (!arguments_read(self->state, args, "OOOO:_insert_columns", &type, &columns, &policy,
                        &progress)) {
        return NULL;
    }
    int update = update_policy(self->state, policy);
    if (update < 0 || realm_ready(self) < 0) return NULL;
    Insertion insertion = {.realm = self, .update = update,
                           .progress = progress == Py_None ? NULL : progress};
    insertion.binding = realm_binding_of(self, type);
    if (!insertion.binding) return NULL;
    Batch batch;
    iterators_settle(self);
    if (batch_begin(&batch, self) < 0) return NULL;
    int bad = PyDict_Check(columns) ? insert_dict(&insertion, columns)
                                    : insert_stream(&insertion, columns);
    if (batch_end(&batch, bad) < 0) return NULL;
    return PyLong_FromSize_t(insertion.done);
}
