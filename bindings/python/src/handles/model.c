/* realm._realm.Model: the properties of one model class, in order, and how to describe them to the
 * engine. Created once per class by the metaclass in realm/_model.py; realm_binding.c binds it to files. */
#include "handles/handles.h"

#include <string.h>

static PyObject *model_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"name", "type", "properties", "embedded", "stored_name", NULL};
    PyObject *name, *python_class, *properties, *stored = NULL;
    int embedded = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "UO!O!|$pU:Model", names, &name, &PyType_Type,
                                     &python_class, &PyTuple_Type, &properties, &embedded,
                                     &stored)) {
        return NULL;
    }
    State *state = state_of_type(type);
    if (!state) return NULL;
    Model *self = (Model *)PyType_GenericAlloc(type, 0);
    if (!self) return NULL;
    size_t count = (size_t)PyTuple_Size(properties);
    self->state = state;
    self->primary = -1;
    self->embedded = embedded;
    self->name = Py_NewRef(name);
    self->text = PyUnicode_AsUTF8AndSize(name, NULL);
    self->stored_name = Py_NewRef(stored ? stored : name);
    self->stored = PyUnicode_AsUTF8AndSize(self->stored_name, NULL);
    self->type = (PyTypeObject *)Py_NewRef(python_class);
    self->properties = PyMem_Calloc(count + 1, sizeof *self->properties);
    self->index = PyDict_New();
    if (!self->text || !self->stored || !self->index) goto failed;
    if (!self->properties) {
        PyErr_NoMemory();
        goto failed;
    }
    for (size_t i = 0; i < count; i++) {
        PyObject *item = PyTuple_GetItem(properties, (Py_ssize_t)i);
        if (!item || Py_TYPE(item) != state->property_type || ((Property *)item)->model) {
            PyErr_SetString(PyExc_TypeError, "a model is made of Property objects of its own");
            goto failed;
        }
        Property *property = (Property *)item;
        PyObject *position = PyLong_FromSize_t(i);
        if (!position || PyDict_SetItem(self->index, property->name, position) < 0) {
            Py_XDECREF(position);
            goto failed;
        }
        Py_DECREF(position);
        property->model = self;
        property->index = i;
        if (property->flags & RLM_PROPERTY_PRIMARY_KEY) self->primary = (Py_ssize_t)i;
        self->properties[i] = (Property *)Py_NewRef(item);
        self->count = i + 1;
    }
    return (PyObject *)self;
failed:
    Py_DECREF(self);
    return NULL;
}

static int model_traverse(Model *self, visitproc visit, void *arg) {
    Py_VISIT(TYPE_OF(self));
    Py_VISIT(self->type);
    for (size_t i = 0; i < self->count; i++) Py_VISIT(self->properties[i]);
    return 0;
}

static int model_clear(Model *self) {
    Py_CLEAR(self->type);
    return 0;
}

static void model_dealloc(Model *self) {
    PyTypeObject *type = TYPE_OF(self);
    PyObject_GC_UnTrack(self);
    model_clear(self);
    for (size_t i = 0; i < self->count; i++) {
        self->properties[i]->model = NULL;
        Py_CLEAR(self->properties[i]);
    }
    PyMem_Free(self->properties);
    Py_CLEAR(self->index);
    Py_CLEAR(self->name);
    Py_CLEAR(self->stored_name);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

Model *model_of_class(State *state, PyObject *type) {
    PyObject *found = PyObject_GetAttr(type, state->name_model);
    if (!found || Py_TYPE(found) != state->model_type) {
        Py_XDECREF(found);
        PyErr_Clear();
        raise_code(state, RLM_ERR_OBJECT_TYPE_MISMATCH, "%R is not a class derived from realm.Object", type);
        return NULL;
    }
    /* The class keeps its model: a borrowed reference is as safe as the one to the class. */
    Py_DECREF(found);
    return (Model *)found;
}

Py_ssize_t model_find(Model *model, PyObject *name, bool raise) {
    PyObject *position = PyDict_GetItemWithError(model->index, name);
    if (position) return PyLong_AsSsize_t(position);
    if (raise && !PyErr_Occurred()) {
        PyObject *errors = PyImport_ImportModule("realm._errors");
        PyObject *hint = errors ? PyObject_CallMethod(errors, "names_near", "OO", name, model->index)
                                : NULL;
        if (hint) {
            raise_code(model->state, RLM_ERR_INVALID_PROPERTY, "%s has no property %R%U",
                       model->text, name, hint);
        }
        Py_XDECREF(hint);
        Py_XDECREF(errors);
    }
    return -1;
}

realm_schema_t *schema_from_models(State *state, Model **models, size_t count) {
    realm_class_info_t *classes = PyMem_Calloc(count + 1, sizeof *classes);
    realm_property_info_t **lists = PyMem_Calloc(count + 1, sizeof *lists);
    realm_schema_t *schema = NULL;
    if (!classes || !lists) {
        PyErr_NoMemory();
        goto done;
    }
    for (size_t i = 0; i < count; i++) {
        Model *model = models[i];
        lists[i] = PyMem_Calloc(model->count + 1, sizeof **lists);
        if (!lists[i]) {
            PyErr_NoMemory();
            goto done;
        }
        classes[i].name = model->stored;
        classes[i].primary_key =
            model->primary < 0 ? "" : model->properties[model->primary]->stored;
        classes[i].num_properties = model->count;
        classes[i].flags = model->embedded ? RLM_CLASS_EMBEDDED : RLM_CLASS_NORMAL;
        for (size_t j = 0; j < model->count; j++) {
            Property *property = model->properties[j];
            realm_property_info_t *info = &lists[i][j];
            info->name = property->stored;
            info->public_name = property->stored_name == property->name ? "" : property->text;
            info->type = (realm_property_type_e)property->type;
            info->collection_type = (realm_collection_type_e)property->collection;
            info->link_target = "";
            info->link_origin_property_name = "";
            info->flags = property->flags;
            if (property->link_target) {
                info->link_target = PyUnicode_AsUTF8AndSize(property->link_target, NULL);
                if (!info->link_target) goto done;
                for (size_t k = 0; k < count; k++) {
                    if (strcmp(info->link_target, models[k]->text) == 0) {
                        info->link_target = models[k]->stored;
                        break;
                    }
                }
            }
        }
    }
    schema = realm_schema_new(classes, count, (const realm_property_info_t **)lists);
    if (!schema) raise_engine(state, "building the schema");
    for (size_t i = 0; schema && i < count; i++) {
        if (strcmp(models[i]->text, models[i]->stored) != 0 &&
            !realm_schema_set_class_public_name(schema, models[i]->stored, models[i]->text)) {
            raise_engine(state, "naming class %s", models[i]->text);
            realm_release(schema);
            schema = NULL;
            break;
        }
        if (schema_add_defaults(state, schema, models[i]) < 0) {
            realm_release(schema);
            schema = NULL;
        }
    }
done:
    if (lists) {
        for (size_t i = 0; i < count; i++) PyMem_Free(lists[i]);
    }
    PyMem_Free(lists);
    PyMem_Free(classes);
    return schema;
}

static PyObject *model_repr(Model *self) {
    return PyUnicode_FromFormat("<model of %U, %zu properties>", self->name, self->count);
}

static PyObject *get_name(Model *self, void *unused) {
    (void)unused;
    return Py_NewRef(self->name);
}

static PyObject *get_stored_name(Model *self, void *unused) {
    (void)unused;
    return Py_NewRef(self->stored_name);
}

static PyObject *get_type(Model *self, void *unused) {
    (void)unused;
    return Py_NewRef((PyObject *)self->type);
}

static PyObject *get_properties(Model *self, void *unused) {
    (void)unused;
    PyObject *result = PyTuple_New((Py_ssize_t)self->count);
    if (!result) return NULL;
    for (size_t i = 0; i < self->count; i++) {
        PyTuple_SetItem(result, (Py_ssize_t)i, Py_NewRef((PyObject *)self->properties[i]));
    }
    return result;
}

static PyObject *get_primary_key(Model *self, void *unused) {
    (void)unused;
    if (self->primary < 0) Py_RETURN_NONE;
    return Py_NewRef((PyObject *)self->properties[self->primary]);
}

static PyObject *get_embedded(Model *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(self->embedded);
}

static PyGetSetDef model_getset[] = {
    {"embedded", (getter)get_embedded, NULL, "Its objects are parts of others.", NULL},
    {"name", (getter)get_name, NULL, "Name of the Python class.", NULL},
    {"stored_name", (getter)get_stored_name, NULL, "Name of the class in the file.", NULL},
    {"type", (getter)get_type, NULL, "The Python class.", NULL},
    {"properties", (getter)get_properties, NULL, "Its properties in order.", NULL},
    {"primary_key", (getter)get_primary_key, NULL, "The primary key property, or None.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot model_slots[] = {
    {Py_tp_doc, "The properties of one model class."},
    {Py_tp_new, model_new},
    {Py_tp_dealloc, model_dealloc},
    {Py_tp_traverse, model_traverse},
    {Py_tp_clear, model_clear},
    {Py_tp_repr, model_repr},
    {Py_tp_getset, model_getset},
    {0, NULL}};

PyType_Spec model_spec = {
    .name = "realm._realm.Model",
    .basicsize = sizeof(Model),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = model_slots,
};
