/* Whole objects: from JSON text, and copied from other realms. The engine does the work; what is here
 * are the arguments. */
#include "realms/realms.h"

#include <string.h>

PyObject *realm_create_from_json(Realm *self, PyObject *args) {
    PyObject *type, *policy;
    const char *text;
    Py_ssize_t size;
    int ignore_unknown;
    if (!arguments_read(self->state, args, "Os#Op:create_from_json", &type, &text, &size, &policy,
                        &ignore_unknown)) {
        return NULL;
    }
    int update = update_policy(self->state, policy);
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
    if (!arguments_read(self->state, args, "O!O:copy", self->state->object_type, &value,
                        &policy)) {
        return NULL;
    }
    int update = update_policy(self->state, policy);
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
