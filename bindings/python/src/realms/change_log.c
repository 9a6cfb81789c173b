/* The change log of a realm's file: its consumers, and what commits did, as tuples of plain values that
 * realm/_change_log.py makes operations of. */
#include "realms/realms.h"

/* Operations that are read at a time, and then to the end of a version. */
#define OPERATIONS_AT_A_TIME 10000

static void add_consumer(void *userdata, realm_string_t name, uint64_t acknowledged) {
    PyObject *dict = userdata;
    if (PyErr_Occurred()) return;
    PyObject *key = PyUnicode_DecodeUTF8(name.data, (Py_ssize_t)name.size, NULL);
    PyObject *value = PyLong_FromUnsignedLongLong(acknowledged);
    if (key && value) PyDict_SetItem(dict, key, value);
    Py_XDECREF(key);
    Py_XDECREF(value);
}

PyObject *realm_log_consumers(Realm *self, PyObject *unused) {
    (void)unused;
    if (realm_ready(self) < 0) return NULL;
    PyObject *dict = PyDict_New();
    if (!dict) return NULL;
    bool done = realm_change_log_get_consumers(self->handle, add_consumer, dict);
    if (!done) raise_engine(self->state, "reading the consumers of %R", self->path);
    if (done && !PyErr_Occurred()) return dict;
    Py_DECREF(dict);
    return NULL;
}

/* (name, version): a version to acknowledge, None to add the consumer, False to remove it. */
PyObject *realm_log_change_consumer(Realm *self, PyObject *args) {
    const char *name;
    PyObject *what;
    bool done;
    if (!arguments_read(self->state, args, "sO;a consumer is named by a str without null characters", &name, &what)) return NULL;
    if (realm_ready(self) < 0) {
        return NULL;
    }
    if (what == Py_None) {
        done = realm_change_log_add_consumer(self->handle, name);
    } else if (what == Py_False) {
        done = realm_change_log_remove_consumer(self->handle, name);
    } else {
        unsigned long long version = PyLong_AsUnsignedLongLong(what);
        if (!understood(self->state, version != (unsigned long long)-1 || !PyErr_Occurred())) return NULL;
        done = realm_change_log_acknowledge(self->handle, name, version);
    }
    if (done) Py_RETURN_NONE;
    raise_engine(self->state, "consumer %s of the change log", name);
    return NULL;
}

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct {
    Realm *realm;
    PyObject *list;
    uint64_t version;          /* all of it and of those before is in the list */
    bool has_more;
    bool reads_all;
    bool has_origin;           /* its operations were applied */
    uint64_t origin;
} Reading;

static Binding *known_class(Realm *realm, realm_class_key_t key) {
    for (size_t i = 0; i < realm->binding_count; i++) {
        if (realm->bindings[i].class_key == key) return &realm->bindings[i];
    }
    return NULL;
}

static PyObject *class_name(Realm *realm, realm_class_key_t key) {
    Binding *binding = known_class(realm, key);
    return Py_NewRef(binding ? binding->model->name : Py_None);
}

static PyObject *property_name(Realm *realm, realm_class_key_t class, realm_property_key_t key) {
    Binding *binding = known_class(realm, class);
    for (size_t i = 0; binding && i < binding->model->count; i++) {
        if (binding->keys[i] == key) return Py_NewRef(binding->model->properties[i]->name);
    }
    Py_RETURN_NONE;
}

/* Links as (class, key): their objects may be gone. Collections as None: elements follow. */
static PyObject *logged_value(Realm *realm, const realm_value_t *value) {
    switch (value->type) {
    case RLM_TYPE_LINK:
        return Py_BuildValue("(NL)", class_name(realm, value->link.target_table),
                             (long long)value->link.target);
    case RLM_TYPE_LIST:
    case RLM_TYPE_DICTIONARY: Py_RETURN_NONE;
    default: return value_to_python(realm->state, realm, value);
    }
}

static bool add_operation(void *userdata, const realm_change_log_operation_t *operation) {
    Reading *reading = userdata;
    Realm *realm = reading->realm;
    if (operation->kind == RLM_CHANGE_LOG_VERSION || operation->kind == RLM_CHANGE_LOG_SCHEMA) {
        /* Those before are complete. */
        reading->has_more =
            !reading->reads_all && PyList_Size(reading->list) >= OPERATIONS_AT_A_TIME;
        if (reading->has_more) return false;
        reading->version = operation->version;
        reading->has_origin = operation->value.type == RLM_TYPE_INT;
        reading->origin = (uint64_t)operation->value.integer;
        if (operation->kind == RLM_CHANGE_LOG_VERSION) return true;
    }
    PyObject *value = logged_value(realm, &operation->value);
    PyObject *key = value ? logged_value(realm, &operation->key) : NULL;
    if (!key) {
        Py_XDECREF(value);
        return false;
    }
    PyObject *origin = reading->has_origin ? PyLong_FromUnsignedLongLong(reading->origin)
                                           : Py_NewRef(Py_None);
    PyObject *tuple = Py_BuildValue(
        "(iKNLLNiKOnnnNNiN)", (int)operation->kind, (unsigned long long)operation->version,
        class_name(realm, operation->class_key), (long long)operation->first_object,
        (long long)operation->last_object,
        property_name(realm, operation->class_key, operation->property),
        (int)operation->collection, (unsigned long long)operation->collection_number,
        operation->is_derived ? Py_True : Py_False, (Py_ssize_t)operation->index,
        (Py_ssize_t)operation->count, (Py_ssize_t)operation->target, key, value,
        (int)operation->value.type, origin);
    if (!tuple) return false;
    int bad = PyList_Append(reading->list, tuple);
    Py_DECREF(tuple);
    return bad == 0;
}

/* (operations, version that they lead to, whether there are more). */
PyObject *realm_log_read(Realm *self, PyObject *from) {
    unsigned long long version = PyLong_AsUnsignedLongLong(from);
    if (!understood(self->state, version != (unsigned long long)-1 || !PyErr_Occurred())) return NULL;
    if (realm_ready(self) < 0) return NULL;
    Reading reading = {.realm = self, .list = PyList_New(0), .version = version};
    if (!reading.list) return NULL;
    bool done = realm_change_log_read(self->handle, version, add_operation, &reading);
    if (!done) raise_engine(self->state, "reading the change log of %R", self->path);
    if (done && !PyErr_Occurred()) {
        return Py_BuildValue("(NKO)", reading.list, (unsigned long long)reading.version,
                             reading.has_more ? Py_True : Py_False);
    }
    Py_DECREF(reading.list);
    return NULL;
}

/* ---- changes as bytes ------------------------------------------------------------------------ */

static PyObject *taken_bytes(uint8_t *changes, size_t size) {
    PyObject *bytes = PyBytes_FromStringAndSize((const char *)changes, (Py_ssize_t)size);
    realm_free(changes);
    return bytes;
}

/* What leads to another realm. */
PyObject *realm_log_compare(Realm *self, PyObject *args) {
    Realm *newer;
    size_t size = 0;
    uint8_t *changes;
    if (!arguments_read(self->state, args, "O!:changes_to", self->state->realm_type,
                        &newer)) {
        return NULL;
    }
    if (realm_ready(self) < 0 || realm_ready(newer) < 0) return NULL;
    Py_BEGIN_ALLOW_THREADS
    changes = realm_change_log_compare(self->handle, newer->handle, &size);
    Py_END_ALLOW_THREADS
    if (changes) return taken_bytes(changes, size);
    raise_engine(self->state, "comparing %R with %R", self->path, newer->path);
    return NULL;
}

PyObject *realm_log_export(Realm *self, PyObject *from) {
    size_t size = 0;
    unsigned long long version = PyLong_AsUnsignedLongLong(from);
    if (!understood(self->state, version != (unsigned long long)-1 || !PyErr_Occurred())) return NULL;
    if (realm_ready(self) < 0) return NULL;
    uint8_t *changes = realm_change_log_export(self->handle, version, &size);
    if (changes) return taken_bytes(changes, size);
    raise_engine(self->state, "reading the change log of %R", self->path);
    return NULL;
}

/* (changes, origin) */
PyObject *realm_log_apply(Realm *self, PyObject *args) {
    const char *changes;
    Py_ssize_t size;
    unsigned long long origin;
    PyObject *number;
    bool done;
    if (!arguments_read(self->state, args, "y#O:apply", &changes, &size, &number)) return NULL;
    origin = PyLong_AsUnsignedLongLong(number);
    if (!understood(self->state, origin != (unsigned long long)-1 || !PyErr_Occurred())) return NULL;
    if (realm_ready(self) < 0) return NULL;
    Py_BEGIN_ALLOW_THREADS
    done = realm_change_log_apply(self->handle, (const uint8_t *)changes, (size_t)size, origin);
    Py_END_ALLOW_THREADS
    if (done) Py_RETURN_NONE;
    raise_engine(self->state, "applying changes to %R", self->path);
    return NULL;
}

/* The operations in such bytes. */
PyObject *realm_log_read_changes(Realm *self, PyObject *args) {
    const char *changes;
    Py_ssize_t size;
    if (!arguments_read(self->state, args, "y#:read_changes", &changes, &size)) return NULL;
    if (realm_ready(self) < 0) {
        return NULL;
    }
    Reading reading = {.realm = self, .list = PyList_New(0), .reads_all = true};
    if (!reading.list) return NULL;
    bool done = realm_change_log_read_changes(self->handle, (const uint8_t *)changes, (size_t)size,
                                              add_operation, &reading);
    if (!done) raise_engine(self->state, "reading changes of %R", self->path);
    if (done && !PyErr_Occurred()) return reading.list;
    Py_DECREF(reading.list);
    return NULL;
}
