/* Binding models to the classes of the file of a realm. */
#include "handles/handles.h"

#include <string.h>

Model **models_of_tuple(State *state, PyObject *tuple, size_t *count) {
    if (!PyTuple_Check(tuple)) {
        PyErr_SetString(PyExc_TypeError, "models must be a tuple");
        return NULL;
    }
    *count = (size_t)PyTuple_Size(tuple);
    Model **models = PyMem_Calloc(*count + 1, sizeof *models);
    if (!models) {
        PyErr_NoMemory();
        return NULL;
    }
    for (size_t i = 0; i < *count; i++) {
        PyObject *item = PyTuple_GetItem(tuple, (Py_ssize_t)i);
        if (Py_TYPE(item) != state->model_type) {
            PyErr_SetString(PyExc_TypeError, "models must be Model objects");
            PyMem_Free(models);
            return NULL;
        }
        models[i] = (Model *)item;
    }
    return models;
}

/* ---- bindings ------------------------------------------------------------------------------- */

/* Finds the keys of the model of a binding. */
static int find_keys(Realm *self, Binding *binding) {
    State *state = self->state;
    Model *model = binding->model;
    realm_class_info_t info;
    bool found = false;
    if (!realm_find_class(self->handle, model->stored, &found, &info)) {
        raise_engine(state, "looking up class %s", model->text);
        return -1;
    }
    if (!found) {
        raise_code(state, RLM_ERR_NO_SUCH_TABLE, "the realm %R has no class %s", self->path,
                   model->stored);
        return -1;
    }
    binding->class_key = info.key;
    if (info.key == RLM_INVALID_CLASS_KEY) {
        /* Not in the file, which is only read: nothing but its name is known. */
        for (size_t i = 0; i < model->count; i++) binding->keys[i] = RLM_INVALID_PROPERTY_KEY;
        return 0;
    }
    size_t stored = info.num_properties + info.num_computed_properties;
    realm_property_info_t *properties = PyMem_Calloc(stored + 1, sizeof *properties);
    if (!properties) {
        PyErr_NoMemory();
        return -1;
    }
    if (!realm_get_class_properties(self->handle, info.key, properties, stored, &stored)) {
        PyMem_Free(properties);
        raise_engine(state, "looking up the properties of %s", model->text);
        return -1;
    }
    for (size_t i = 0; i < model->count; i++) {
        size_t j = 0;
        while (j < stored && strcmp(properties[j].name, model->properties[i]->stored) != 0) j++;
        if (j == stored) {
            raise_code(state, RLM_ERR_INVALID_PROPERTY, "class %s of the realm %R has no "
                       "property %U", model->text, self->path, model->properties[i]->name);
            PyMem_Free(properties);
            return -1;
        }
        binding->keys[i] = properties[j].key;
    }
    PyMem_Free(properties);
    return 0;
}

static int bind_one(Realm *self, Binding *binding, Model *model, Binding *like) {
    binding->realm = self;
    binding->model = (Model *)Py_NewRef((PyObject *)model);
    binding->keys = PyMem_Calloc(model->count + 1, sizeof *binding->keys);
    binding->targets = PyMem_Calloc(model->count + 1, sizeof *binding->targets);
    if (!binding->keys || !binding->targets) {
        PyErr_NoMemory();
        return -1;
    }
    if (!like) return find_keys(self, binding);
    binding->class_key = like->class_key;
    memcpy(binding->keys, like->keys, model->count * sizeof *binding->keys);
    return 0;
}

int realm_bind_again(Realm *self) {
    for (size_t i = 0; i < self->binding_count; i++) {
        if (find_keys(self, &self->bindings[i]) < 0) return -1;
    }
    return 0;
}

int realm_bind(Realm *self, Model **models, size_t count) {
    return realm_bind_with(self, models, count, NULL);
}

int realm_bind_with(Realm *self, Model **models, size_t count, Realm *like) {
    self->bindings = PyMem_Calloc(count + 1, sizeof *self->bindings);
    if (!self->bindings) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        self->binding_count = i + 1;
        Binding *known = like ? &like->bindings[i] : NULL;
        if (bind_one(self, &self->bindings[i], models[i], known) < 0) return -1;
    }
    for (size_t i = 0; i < count; i++) {
        Model *model = models[i];
        for (size_t j = 0; j < model->count; j++) {
            PyObject *target = model->properties[j]->link_target;
            for (size_t k = 0; target && k < count; k++) {
                if (PyUnicode_Compare(target, models[k]->name) == 0) {
                    self->bindings[i].targets[j] = &self->bindings[k];
                }
            }
        }
    }
    return 0;
}

void realm_unbind(Realm *self) {
    for (size_t i = 0; i < self->binding_count; i++) {
        Binding *binding = &self->bindings[i];
        if (binding->model && binding->model->recent_realm == self) {
            binding->model->recent_realm = NULL;
        }
        Py_CLEAR(binding->model);
        PyMem_Free(binding->keys);
        PyMem_Free(binding->targets);
    }
    PyMem_Free(self->bindings);
    self->bindings = NULL;
    self->binding_count = 0;
}

Binding *realm_binding(Realm *self, Model *model) {
    if (model->recent_realm == self) return model->recent_binding;
    for (size_t i = 0; i < self->binding_count; i++) {
        if (self->bindings[i].model == model) {
            model->recent_realm = self;
            model->recent_binding = &self->bindings[i];
            return model->recent_binding;
        }
    }
    raise_code(self->state, RLM_ERR_NO_SUCH_TABLE,
               "the realm %R was opened without the class %s: give it to realm.open", self->path,
               model->text);
    return NULL;
}

Binding *realm_binding_of(Realm *self, PyObject *class) {
    if (!PyUnicode_Check(class)) {
        Model *model = model_of_class(self->state, class);
        return model ? realm_binding(self, model) : NULL;
    }
    for (size_t i = 0; i < self->binding_count; i++) {
        if (PyUnicode_Compare(class, self->bindings[i].model->name) == 0) {
            return &self->bindings[i];
        }
    }
    raise_code(self->state, RLM_ERR_NO_SUCH_TABLE, "the realm %R has no class %R", self->path,
               class);
    return NULL;
}

Binding *realm_binding_for_key(Realm *self, realm_class_key_t key) {
    for (size_t i = 0; i < self->binding_count; i++) {
        if (self->bindings[i].class_key == key) return &self->bindings[i];
    }
    raise_code(self->state, RLM_ERR_NO_SUCH_TABLE,
               "the realm %R was opened without the class that this object is of", self->path);
    return NULL;
}

PyObject *realm_bind_method(Realm *self, PyObject *tuple) {
    size_t count;
    if (realm_ready(self) < 0) return NULL;
    if (self->binding_count || !PyTuple_Check(tuple)) {
        PyErr_SetString(PyExc_TypeError, "a realm is bound once, to a tuple of models");
        return NULL;
    }
    Model **models = models_of_tuple(self->state, tuple, &count);
    if (!models) return NULL;
    int bad = realm_bind(self, models, count);
    PyMem_Free(models);
    if (bad < 0) return NULL;
    Py_RETURN_NONE;
}

/* The schema of the file:
 * [(class, key, embedded, [(property, type, collection, target, flags)])]. */
PyObject *realm_describe(Realm *self, PyObject *unused) {
    (void)unused;
    if (realm_ready(self) < 0) return NULL;
    size_t count = realm_get_num_classes(self->handle);
    PyObject *result = PyList_New(0);
    realm_class_key_t *keys = PyMem_Calloc(count + 1, sizeof *keys);
    realm_property_info_t *properties = NULL;
    if (!result || !keys) goto failed;
    if (!realm_get_class_keys(self->handle, keys, count, &count)) goto engine_failed;
    for (size_t i = 0; i < count; i++) {
        realm_class_info_t info;
        if (!realm_get_class(self->handle, keys[i], &info)) goto engine_failed;
        size_t stored = info.num_properties + info.num_computed_properties;
        PyMem_Free(properties);
        properties = PyMem_Calloc(stored + 1, sizeof *properties);
        if (!properties) goto failed;
        if (!realm_get_class_properties(self->handle, keys[i], properties, stored, &stored)) {
            goto engine_failed;
        }
        PyObject *list = PyList_New(0);
        if (!list) goto failed;
        for (size_t j = 0; j < stored && j < info.num_properties; j++) {
            realm_property_info_t *p = &properties[j];
            PyObject *item = Py_BuildValue("(siisi)", p->name, (int)p->type,
                                           (int)p->collection_type, p->link_target, p->flags);
            if (!item || PyList_Append(list, item) < 0) {
                Py_XDECREF(item);
                Py_DECREF(list);
                goto failed;
            }
            Py_DECREF(item);
        }
        PyObject *entry = Py_BuildValue("(ssiN)", info.name, info.primary_key,
                                        (info.flags & RLM_CLASS_MASK) == RLM_CLASS_EMBEDDED, list);
        if (!entry || PyList_Append(result, entry) < 0) {
            Py_XDECREF(entry);
            goto failed;
        }
        Py_DECREF(entry);
    }
    PyMem_Free(properties);
    PyMem_Free(keys);
    return result;
engine_failed:
    raise_engine(self->state, "reading the schema of %R", self->path);
failed:
    if (!PyErr_Occurred()) PyErr_NoMemory();
    PyMem_Free(properties);
    PyMem_Free(keys);
    Py_XDECREF(result);
    return NULL;
}
