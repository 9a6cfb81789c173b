/* Whole objects: from JSON text, to it, and copied from other realms. The engine does the work; what
 * is here are the arguments, and the defaults of model classes as the engine asks for them. */
#include "binding.h"

#include <stdlib.h>
#include <string.h>

realm_update_policy_e engine_policy(int update) {
    return update == UPDATE_ALL ? RLM_UPDATE_ALL
           : update == UPDATE_MODIFIED ? RLM_UPDATE_MODIFIED : RLM_UPDATE_NEVER;
}

/* ---- methods -------------------------------------------------------------------------------- */

PyObject *realm_create_from_json(Realm *self, PyObject *args) {
    PyObject *type, *policy;
    const char *text;
    Py_ssize_t size;
    int ignore_unknown;
    if (!PyArg_ParseTuple(args, "Os#Op:_create_from_json", &type, &text, &size, &policy,
                          &ignore_unknown)) {
        return NULL;
    }
    int update = update_policy(policy);
    if (update < 0 || realm_ready(self) < 0) return NULL;
    Binding *binding = realm_binding_of(self, type);
    if (!binding) return NULL;
    if (strlen(text) != (size_t)size) {
        raise_code(self->state, RLM_ERR_MALFORMED_JSON,
                   "malformed JSON at byte %zd: expected no NUL character", strlen(text));
        return NULL;
    }
    iterators_settle(self);
    realm_object_t *handle = realm_object_create_from_json(
        self->handle, binding->class_key, text, engine_policy(update),
        ignore_unknown ? RLM_JSON_IGNORE_UNKNOWN : RLM_JSON_PLAIN);
    if (handle) return object_wrap(binding, handle);
    /* A default that raised has said why. */
    if (!PyErr_Occurred()) raise_engine(self->state, "creating %s", binding->model->text);
    return NULL;
}

PyObject *realm_copy_object(Realm *self, PyObject *args) {
    PyObject *value, *policy;
    if (!PyArg_ParseTuple(args, "O!O:_copy_object", self->state->object_type, &value, &policy)) {
        return NULL;
    }
    int update = update_policy(policy);
    Object *object = (Object *)value;
    if (update < 0 || realm_ready(self) < 0 || object_ready(object) < 0) return NULL;
    iterators_settle(self);
    realm_object_t *handle =
        realm_object_copy_to(object->handle, self->handle, engine_policy(update));
    if (!handle) {
        if (!PyErr_Occurred()) raise_engine(self->state, "copying %s", object->model->text);
        return NULL;
    }
    Binding *binding = realm_binding_for_key(self, realm_object_get_table(handle));
    if (binding) return object_wrap(binding, handle);
    realm_release_handle(self, handle);
    return NULL;
}

PyObject *object_to_json(Object *self, PyObject *args) {
    Py_ssize_t depth;
    int extended;
    if (!PyArg_ParseTuple(args, "np:_realm_to_json", &depth, &extended)) return NULL;
    if (object_ready(self) < 0) return NULL;
    char *text = realm_object_to_json(self->handle, (size_t)depth,
                                      extended ? RLM_JSON_EXTENDED : RLM_JSON_PLAIN);
    if (!text) {
        raise_engine(self->model->state, "%s as JSON", self->model->text);
        return NULL;
    }
    PyObject *result =
        PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "surrogateescape");
    realm_free(text);
    return result;
}

/* ---- defaults ------------------------------------------------------------------------------- */

/* The JSON text of a default, as a copy made with malloc(); NULL with an exception. */
static char *text_of_default(Property *property) {
    char *copy = NULL;
    PyObject *value = property_default(property), *text = NULL;
    if (value) {
        text = PyObject_CallFunctionObjArgs(property->state->default_to_json, property, value,
                                            NULL);
    }
    Py_ssize_t size = 0;
    const char *utf8 = text ? PyUnicode_AsUTF8AndSize(text, &size) : NULL;
    if (utf8) {
        copy = malloc((size_t)size + 1);
        if (copy) memcpy(copy, utf8, (size_t)size + 1);
        else PyErr_NoMemory();
    }
    Py_XDECREF(text);
    Py_XDECREF(value);
    return copy;
}

/* Called by the engine in one of the calls above, or in a migration; an exception stays set. */
static char *default_text(void *userdata) {
    char *text;
    CALLBACK_BEGIN
    text = text_of_default(userdata);
    CALLBACK_END
    return text;
}

/* Called when the engine forgets the schema: on any thread, with the GIL or without. */
static void drop_property(void *userdata) {
    if (!Py_IsInitialized()) return;
    PyGILState_STATE state = PyGILState_Ensure();
    Py_DECREF((PyObject *)userdata);
    PyGILState_Release(state);
}

int schema_add_defaults(State *state, realm_schema_t *schema, Model *model) {
    for (size_t i = 0; i < model->count; i++) {
        Property *property = model->properties[i];
        if (!property->default_value && !property->default_factory) continue;
        if (!property->default_factory) {
            /* One text for all: objects that are there when a property is added share it. */
            char *text = text_of_default(property);
            bool done = text &&
                        realm_schema_set_default(schema, model->stored, property->stored, text);
            free(text);
            if (done) continue;
            raise_engine(state, "the default of %s.%s", model->text, property->text);
            return -1;
        }
        if (!realm_schema_set_default_func(schema, model->stored, property->stored, default_text,
                                           Py_NewRef((PyObject *)property), drop_property)) {
            raise_engine(state, "the default of %s.%s", model->text, property->text);
            return -1;
        }
    }
    return 0;
}
