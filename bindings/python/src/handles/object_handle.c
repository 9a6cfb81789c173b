/* Objects as views of what is stored: they are made of handles of the engine. What they do is in
 * object.c. */
#include "handles/handles.h"

PyObject *object_wrap(Binding *binding, realm_object_t *handle) {
    Realm *realm = binding->realm;
    PyTypeObject *type = binding->model->type;
    Object *self = (Object *)PyType_GenericAlloc(type, 0);
    if (!self) {
        realm_release_handle(realm, handle);
        return NULL;
    }
    self->model = (Model *)Py_NewRef((PyObject *)binding->model);
    self->realm = (Realm *)Py_NewRef((PyObject *)realm);
    self->binding = binding;
    self->handle = handle;
    self->key = realm_object_get_key(handle);
    return (PyObject *)self;
}

PyObject *object_from_link(Realm *realm, realm_link_t link) {
    Binding *binding = realm_binding_for_key(realm, link.target_table);
    if (!binding) return NULL;
    realm_object_t *handle = realm_get_object(realm->handle, link.target_table, link.target);
    if (!handle) {
        raise_engine(realm->state, "following a link to %s", binding->model->text);
        return NULL;
    }
    return object_wrap(binding, handle);
}

int object_ready(Object *self) {
    if (!self->realm) {
        raise_code(self->model->state, MISUSE, "this %s is not in a realm", self->model->text);
        return -1;
    }
    return realm_ready(self->realm);
}

bool is_unmanaged(State *state, PyObject *value) {
    return PyObject_TypeCheck(value, state->object_type) && !((Object *)value)->handle;
}

void free_values(Model *model, PyObject **values) {
    if (!values) return;
    for (size_t i = 0; i < model->count; i++) Py_CLEAR(values[i]);
    PyMem_Free(values);
}
