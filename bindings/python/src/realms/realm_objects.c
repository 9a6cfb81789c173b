/* Objects of a realm: create, add, find, delete. What creating and adding do with values is in
 * row_store.c and tree.c. */
#include "realms/realms.h"

/* ---- methods -------------------------------------------------------------------------------- */

PyObject *realm_create(Realm *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    State *state = self->state;
    Row row;
    int update = UPDATE_ERROR;
    if (realm_ready(self) < 0) return NULL;
    if (count < 1 || count > 2) {
        raise_code(state, MISUSE, "create() takes a class, and values by name or as one mapping");
        return NULL;
    }
    Binding *binding = realm_binding_of(self, args[0]);
    if (!binding) return NULL;
    Model *model = binding->model;
    PyObject *result = NULL;
    if (row_open(&row, binding) < 0) goto done;
    if (count == 2 && args[1] != Py_None && row_give_dict(&row, args[1]) < 0) goto done;
    /* Most calls give the properties in order, with interned names: one comparison each. */
    Py_ssize_t named = names ? PyTuple_Size(names) : 0;
    for (Py_ssize_t i = 0; i < named; i++) {
        PyObject *name = PyTuple_GetItem(names, i);
        PyObject *value = args[count + i];
        bool expected = (size_t)i < model->count && model->properties[i]->name == name;
        if (name == state->name_update ||
            (!expected && PyUnicode_CompareWithASCIIString(name, "update") == 0)) {
            update = update_policy(self->state, value);
            if (update < 0) goto done;
        } else if (row_give(&row, expected ? i : model_find(model, name, true), value) < 0) {
            goto done;
        }
    }
    realm_object_t *handle = row_create(&row, NULL, update);
    if (handle) result = object_wrap(binding, handle);
done:
    row_close(&row);
    return result;
}

/* Makes an object that is in no realm managed, with everything that it brings along. */
static int adopt(Realm *self, Object *object, int update) {
    Binding *binding = realm_binding(self, object->model);
    if (!binding) return -1;
    Row row;
    realm_object_t *handle = NULL;
    if (row_open(&row, binding) == 0) {
        for (size_t i = 0; i < object->model->count; i++) {
            row.items[i] = Py_XNewRef(object->values[i]);
        }
        handle = row_create(&row, object, update);
    }
    row_close(&row);
    if (!handle) return -1;
    /* A default may have stored it meanwhile. */
    if (object->handle) realm_release_handle(self, handle);
    else object_manage(object, binding, handle);
    return 0;
}

PyObject *realm_add(Realm *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"", "update", NULL};
    PyObject *object, *policy = NULL;
    if (!understood(self->state, PyArg_ParseTupleAndKeywords(args, kwargs, "O!|$O:add", names,
                    self->state->object_type, &object, &policy))) {
        return NULL;
    }
    int update = update_policy(self->state, policy);
    if (update < 0 || realm_ready(self) < 0) return NULL;
    Object *added = (Object *)object;
    if (added->handle) {
        if (added->realm == self && realm_object_is_valid(added->handle)) return Py_NewRef(object);
        raise_code(self->state,
                   added->realm == self ? RLM_ERR_INVALIDATED_OBJECT : RLM_ERR_INVALID_ARGUMENT,
                   added->realm == self ? "this %s has been deleted and can't be added again"
                                        : "this %s belongs to another realm",
                   added->model->text);
        return NULL;
    }
    if (adopt(self, added, update) < 0) return NULL;
    return Py_NewRef(object);
}

PyObject *realm_find(Realm *self, PyObject *args) {
    PyObject *type, *value, *keep;
    realm_value_t key;
    if (!arguments_read(self->state, args, "OO:find", &type, &value)) return NULL;
    if (realm_ready(self) < 0) {
        return NULL;
    }
    Binding *binding = realm_binding_of(self, type);
    if (!binding) return NULL;
    Model *model = binding->model;
    if (model->primary < 0) {
        raise_code(self->state, RLM_ERR_UNEXPECTED_PRIMARY_KEY,
                   "%s has no primary key to find objects by", model->text);
        return NULL;
    }
    realm_object_t *handle = NULL;
    if (value_for_property(model->properties[model->primary], NULL, value, &key, &keep) == 0) {
        realm_clear_last_error();
        handle = realm_object_find_with_primary_key(self->handle, binding->class_key, key, NULL);
        if (!handle && realm_get_last_error(NULL)) {
            raise_engine(self->state, "finding %s", model->text);
        }
    }
    Py_XDECREF(keep);
    if (handle) return object_wrap(binding, handle);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

PyObject *realm_object_for_key(Realm *self, PyObject *args) {
    PyObject *type;
    long long key;
    if (!arguments_read(self->state, args, "OL:object_at", &type, &key)) return NULL;
    if (realm_ready(self) < 0) {
        return NULL;
    }
    Binding *binding = realm_binding_of(self, type);
    if (!binding) return NULL;
    realm_object_t *handle = realm_get_object(self->handle, binding->class_key, key);
    if (handle) return object_wrap(binding, handle);
    raise_engine(self->state, "%s with key %lld", binding->model->text, key);
    return NULL;
}

PyObject *realm_delete_object(Realm *self, PyObject *value) {
    State *state = self->state;
    if (!PyObject_TypeCheck(value, state->object_type)) {
        raise_code(state, MISUSE, "delete() takes objects of a realm, not %R", value);
        return NULL;
    }
    Object *object = (Object *)value;
    if (realm_ready(self) < 0) return NULL;
    if (object->realm != self) {
        raise_code(state, RLM_ERR_INVALID_ARGUMENT,
                   object->realm ? "this %s belongs to another realm"
                                 : "this %s is in no realm",
                   object->model->text);
        return NULL;
    }
    if (!realm_object_delete(object->handle)) {
        raise_engine(state, "deleting %s", object->model->text);
        return NULL;
    }
    Py_RETURN_NONE;
}
