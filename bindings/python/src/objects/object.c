/* realm._realm.Object: base of all model classes.
 *
 * An object is *unmanaged* after construction: it carries Python values, like a dataclass. Adding
 * it to a realm, reading it from one, or `Realm.create` makes it *managed*: it is then a view of
 * a row and carries nothing; every access goes to the engine. `Realm.add` turns the first into the
 * second in place. Identity of managed objects is that of the row: equality and hash follow it. */
#include "objects/objects.h"

#include <stddef.h>
#include <string.h>
#include <structmember.h>

/* ---- life ----------------------------------------------------------------------------------- */

static PyObject *object_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    (void)args;
    (void)kwargs;
    State *state = state_of_type(type);
    if (!state) return NULL;
    Model *model = model_of_class(state, (PyObject *)type);
    if (!model) return NULL;
    PyObject **values = PyMem_Calloc(model->count + 1, sizeof *values);
    if (!values) return PyErr_NoMemory();
    Object *self = (Object *)PyType_GenericAlloc(type, 0);
    if (!self) {
        PyMem_Free(values);
        return NULL;
    }
    self->model = (Model *)Py_NewRef((PyObject *)model);
    self->values = values;
    return (PyObject *)self;
}

static int object_init(Object *self, PyObject *args, PyObject *kwargs) {
    Model *model = self->model;
    if (PyTuple_Size(args) != 0) {
        raise_code(model->state, MISUSE, "%s() takes its values by name, as in %s(%s=...)", model->text,
                   model->text, model->count ? model->properties[0]->text : "property");
        return -1;
    }
    if (!self->values) {
        raise_code(model->state, MISUSE, "this %s is in a realm already", model->text);
        return -1;
    }
    if (kwargs) {
        Py_ssize_t position = 0;
        PyObject *name, *value;
        while (PyDict_Next(kwargs, &position, &name, &value)) {
            Py_ssize_t index = model_find(model, name, true);
            if (index < 0) return -1;
            PyObject *checked = value_normalised(model->properties[index], value);
            if (!checked) return -1;
            replace_reference(&self->values[index], checked);
        }
    }
    for (size_t i = 0; i < model->count; i++) {
        if (self->values[i]) continue;
        Property *property = model->properties[i];
        PyObject *value = property_default(property);
        if (!value && PyErr_Occurred()) return -1;
        if (!value && property->collection) value = PyTuple_New(0);
        if (!value && property->flags & RLM_PROPERTY_NULLABLE) value = Py_NewRef(Py_None);
        if (!value) {
            raise_code(model->state, RLM_ERR_MISSING_PROPERTY_VALUE,
                       "%s() needs a value for %U, which is %s and has no default", model->text,
                       property->name, property_type_name(property->type));
            return -1;
        }
        self->values[i] = value_normalised(property, value);
        Py_DECREF(value);
        if (!self->values[i]) return -1;
    }
    return 0;
}

static int object_traverse(Object *self, visitproc visit, void *arg) {
    Py_VISIT(TYPE_OF(self));
    Py_VISIT(self->model);
    Py_VISIT(self->realm);
    Py_VISIT(self->attributes);
    if (self->values) {
        for (size_t i = 0; i < self->model->count; i++) Py_VISIT(self->values[i]);
    }
    return 0;
}

static int object_clear(Object *self) {
    Py_CLEAR(self->attributes);
    if (self->values) {
        for (size_t i = 0; i < self->model->count; i++) Py_CLEAR(self->values[i]);
    }
    return 0;
}

static void object_dealloc(Object *self) {
    PyTypeObject *type = TYPE_OF(self);
    PyObject_GC_UnTrack(self);
    if (self->weak_references) PyObject_ClearWeakRefs((PyObject *)self);
    object_clear(self);
    PyMem_Free(self->values);
    if (self->handle) realm_release_handle(self->realm, self->handle);
    Py_CLEAR(self->realm);
    Py_CLEAR(self->model);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

/* ---- properties ----------------------------------------------------------------------------- */

static PyObject *get_linked(Object *self, Property *property) {
    State *state = property->state;
    Binding *target = self->binding->targets[property->index];
    /* NULL means both "no object" and "failed": the error slot tells, once it is empty. */
    realm_clear_last_error();
    realm_object_t *handle =
        realm_get_linked_object(self->handle, self->binding->keys[property->index]);
    if (!handle) {
        if (!realm_get_last_error(NULL)) Py_RETURN_NONE;
        raise_engine(state, "%s.%U", self->model->text, property->name);
        return NULL;
    }
    if (!target) target = realm_binding_for_key(self->realm, realm_object_get_table(handle));
    if (!target) {
        realm_release_handle(self->realm, handle);
        return NULL;
    }
    return object_wrap(target, handle);
}

PyObject *object_get_property(Object *self, Property *property) {
    if (!self->handle) {
        PyObject *value = self->values ? self->values[property->index] : NULL;
        if (value) return Py_NewRef(value);
        raise_code(property->state, RLM_ERR_INVALID_PROPERTY, "%s.%U has no value yet",
                   self->model->text, property->name);
        return NULL;
    }
    if (realm_ready(self->realm) < 0) return NULL;
    if (property->collection) return collection_wrap(self, property);
    if (property->type == RLM_PROPERTY_TYPE_OBJECT) return get_linked(self, property);
    realm_value_t value;
    if (!realm_get_value(self->handle, self->binding->keys[property->index], &value)) {
        raise_engine(property->state, "%s.%U", self->model->text, property->name);
        return NULL;
    }
    if (value.type == RLM_TYPE_LIST || value.type == RLM_TYPE_DICTIONARY) {
        return nested_of_object(self, property, (int)value.type);
    }
    return property_to_python(property, self->realm, &value);
}

/* Raises when nothing can be written to the object now. */
static int writable(Object *self, Property *property) {
    bool valid = realm_object_is_valid(self->handle);
    if (valid && realm_is_writable(self->realm->handle)) return 0;
    raise_code(property->state,
               valid ? RLM_ERR_WRONG_TRANSACTION_STATE : RLM_ERR_INVALIDATED_OBJECT,
               "%s.%U can't be set: %s", self->model->text, property->name,
               valid ? "open a `with r.write():` block" : "the object has been deleted");
    return -1;
}

/* Gives the collection another content. `a.tags += [...]` ends in assigning it to itself; what lies within a
 * collection of any values is another one of the same property. */
static int assign_collection(Object *self, Property *property, PyObject *value) {
    State *state = property->state;
    PyTypeObject *types[] = {state->list_type, state->set_type, state->dictionary_type};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (!PyObject_TypeCheck(value, types[i])) continue;
        Collection *other = (Collection *)value;
        if (other->realm == self->realm && other->property == property &&
            other->owner == self->key && other->depth == 1) {
            return 0;
        }
    }
    if (writable(self, property) < 0) return -1;
    return tree_assign(self->binding, self->handle, property, value);
}

/* Assigning an object that is in no realm adds it, if it is of the right class; assigning a list or
 * dict to a property of any type copies it in. `a.data += [...]` ends in assigning it to itself. */
static int assign_objects(Object *self, Property *property, PyObject *value) {
    Place place = {.kind = PLACE_PROPERTY, .handle = self->handle,
                   .key = self->binding->keys[property->index]};
    if (collection_is_at(self->realm, &place, value) ||
        embedded_is_at(self->realm, &place, value)) {
        return 0;
    }
    if (writable(self, property) < 0) return -1;
    return tree_assign(self->binding, self->handle, property, value);
}

int object_set_property(Object *self, Property *property, PyObject *value) {
    State *state = property->state;
    if (!self->handle) {
        PyObject *checked = value_normalised(property, value);
        if (!checked) return -1;
        replace_reference(&self->values[property->index], checked);
        return 0;
    }
    if (realm_ready(self->realm) < 0) return -1;
    realm_value_t converted;
    PyObject *keep;
    if (property->collection) return assign_collection(self, property, value);
    if (brings_objects(property, self->binding->targets[property->index], value)) {
        return assign_objects(self, property, value);
    }
    if (value_for_property(property, self->realm, value, &converted, &keep) < 0) {
        Py_XDECREF(keep);
        return -1;
    }
    bool done = realm_set_value(self->handle, self->binding->keys[property->index], converted,
                                false);
    Py_XDECREF(keep);
    if (done) return 0;
    PyObject *text = short_repr(value);
    if (!text) return -1;
    raise_engine(state, "%s.%U = %U", self->model->text, property->name, text);
    Py_DECREF(text);
    return -1;
}

/* Whether a class says that its instances may have an attribute; -1 with an exception. */
static int is_free(PyObject *content, PyObject *name) {
    PyObject *free = PyMapping_GetItemString(content, "__realm_free_attributes__");
    if (!free) {
        if (!PyErr_ExceptionMatches(PyExc_KeyError)) return -1;
        PyErr_Clear();
        return 0;
    }
    int is = free == Py_True ? 1 : PySequence_Contains(free, name);
    Py_DECREF(free);
    return is;
}

/* Whether assigning to an attribute that is no property of the model may go the ordinary way: there
 * is a descriptor that takes it, or a class says so. */
static int may_be_assigned(Object *self, PyObject *name) {
    PyObject *order = PyObject_GetAttrString((PyObject *)TYPE_OF(self), "__mro__");
    if (!order) return -1;
    bool found = false;
    int may = 0;
    for (Py_ssize_t i = 0; may == 0 && i < PyTuple_Size(order); i++) {
        PyObject *content = PyObject_GetAttrString(PyTuple_GetItem(order, i), "__dict__");
        PyObject *value = content && !found ? PyObject_GetItem(content, name) : NULL;
        if (content && !value && PyErr_ExceptionMatches(PyExc_KeyError)) PyErr_Clear();
        if (PyErr_Occurred()) may = -1;
        else if (value && PyType_GetSlot(Py_TYPE(value), Py_tp_descr_set)) may = 1;
        else may = is_free(content, name);
        found = found || value;
        Py_XDECREF(value);
        Py_XDECREF(content);
    }
    Py_DECREF(order);
    return may;
}

/* Objects have a `__dict__`, for what `functools.cached_property` keeps, but assigning to a name that
 * is no property is a mistake. */
static int object_set_attribute(PyObject *object, PyObject *name, PyObject *value) {
    Object *self = (Object *)object;
    if (value && PyUnicode_Check(name)) {
        PyObject *position = PyDict_GetItemWithError(self->model->index, name);
        if (position) {
            Py_ssize_t index = PyLong_AsSsize_t(position);
            return object_set_property(self, self->model->properties[index], value);
        }
        if (PyErr_Occurred()) return -1;
        int may = may_be_assigned(self, name);
        if (may < 0) return -1;
        if (!may) {
            model_find(self->model, name, true);
            return -1;
        }
    }
    return PyObject_GenericSetAttr(object, name, value);
}

/* ---- identity ------------------------------------------------------------------------------- */

/* Whether objects of two instances stand for the same one: of one file, or both of one version of it. */
static bool same_stored(Object *a, Object *b) {
    Realm *one = a->realm, *two = b->realm;
    if (one == two) return a->binding == b->binding;
    if (one->closed || two->closed || one->frozen != two->frozen ||
        one->fork_generation != fork_generation || two->fork_generation != fork_generation ||
        a->binding->class_key != b->binding->class_key ||
        PyUnicode_Compare(one->path, two->path) != 0) {
        return false;
    }
    if (!one->frozen) return true;
    realm_version_id_t first, second;
    bool found = false;
    return realm_get_version_id(one->handle, &found, &first) && found &&
           realm_get_version_id(two->handle, &found, &second) && found &&
           first.version == second.version;
}

static PyObject *object_compare(PyObject *left, PyObject *right, int operation) {
    if (operation != Py_EQ && operation != Py_NE) Py_RETURN_NOTIMPLEMENTED;
    bool equal = left == right;
    if (!equal) {
        Object *a = (Object *)left;
        PyObject *base = (PyObject *)a->model->state->object_type;
        if (!PyObject_TypeCheck(right, (PyTypeObject *)base)) Py_RETURN_NOTIMPLEMENTED;
        Object *b = (Object *)right;
        equal = a->handle && b->handle && a->key == b->key && same_stored(a, b);
    }
    return PyBool_FromLong(equal == (operation == Py_EQ));
}

static Py_hash_t object_hash(Object *self) {
    if (!self->handle) {
        raise_code(self->model->state, MISUSE, "unhashable: this %s is in no realm yet, and its identity "
                   "will be that of the stored object", self->model->text);
        return -1;
    }
    uint64_t mixed = (uint64_t)self->key * UINT64_C(0x9E3779B97F4A7C15);
    /* That of the path is kept in the text; objects of two instances of a realm may be equal. */
    mixed ^= (uint64_t)PyObject_Hash(self->realm->path) + self->binding->class_key;
    mixed ^= mixed >> 29;
    return (Py_hash_t)mixed == -1 ? -2 : (Py_hash_t)mixed;
}

/* ---- what realm/_object.py builds on -------------------------------------------------------- */

static PyObject *get_managed(Object *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(self->handle != NULL);
}

static PyObject *get_valid(Object *self, void *unused) {
    (void)unused;
    if (!self->handle) Py_RETURN_TRUE;
    if (self->realm->closed || self->realm->fork_generation != fork_generation) Py_RETURN_FALSE;
    if (realm_ready(self->realm) < 0) return NULL;
    return PyBool_FromLong(realm_object_is_valid(self->handle));
}

static PyObject *get_realm(Object *self, void *unused) {
    (void)unused;
    return Py_NewRef(self->realm ? (PyObject *)self->realm : Py_None);
}

static PyObject *get_key(Object *self, void *unused) {
    (void)unused;
    if (!self->handle) Py_RETURN_NONE;
    return PyLong_FromLongLong(self->key);
}

/* The owner of an embedded object that is stored. */
static PyObject *object_parent(Object *self, PyObject *unused) {
    (void)unused;
    if (object_ready(self) < 0) return NULL;
    realm_object_t *owner;
    realm_class_key_t class_key;
    if (!realm_object_get_parent(self->handle, &owner, &class_key)) {
        raise_engine(self->realm->state, "owner of %s", self->model->text);
        return NULL;
    }
    Binding *binding = realm_binding_for_key(self->realm, class_key);
    if (!binding) {
        realm_release(owner);
        return NULL;
    }
    return object_wrap(binding, owner);
}

static PyObject *object_to_json(Object *self, PyObject *args) {
    Py_ssize_t depth;
    int extended;
    if (!arguments_read(self->model->state, args, "np:_realm_to_json", &depth,
                        &extended)) {
        return NULL;
    }
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

static PyGetSetDef object_getset[] = {
    {"_realm_managed", (getter)get_managed, NULL, "A view of a stored object.", NULL},
    {"_realm_valid", (getter)get_valid, NULL, "Neither deleted nor of a closed realm.", NULL},
    {"_realm_owner", (getter)get_realm, NULL, "The realm it is in, or None.", NULL},
    {"_realm_key", (getter)get_key, NULL, "Its object key in the file, or None.", NULL},
    {"__dict__", PyObject_GenericGetDict, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyMemberDef object_members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(Object, attributes), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Object, weak_references), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};

static PyMethodDef object_methods[] = {
    {"_realm_to_json", (PyCFunction)object_to_json, METH_VARARGS, NULL},
    {"_realm_parent", (PyCFunction)object_parent, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};

static PyType_Slot object_slots[] = {
    {Py_tp_doc, "Base of the classes whose objects a realm stores."},
    {Py_tp_new, object_new},
    {Py_tp_init, object_init},
    {Py_tp_dealloc, object_dealloc},
    {Py_tp_traverse, object_traverse},
    {Py_tp_clear, object_clear},
    {Py_tp_richcompare, object_compare},
    {Py_tp_hash, object_hash},
    {Py_tp_methods, object_methods},
    {Py_tp_setattro, object_set_attribute},
    {Py_tp_members, object_members},
    {Py_tp_getset, object_getset},
    {0, NULL}};

PyType_Spec object_spec = {
    .name = "realm._realm.Object",
    .basicsize = sizeof(Object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = object_slots,
};
