/* realm._realm.Property: one property of a model class. It describes the property to model.c and
 * is the descriptor through which instances read and write it. On the class itself it gives an
 * expression for queries, which realm/_paths.py makes. */
#include "objects/objects.h"

#include <string.h>

static int collection_from_name(PyObject *name) {
    if (name == Py_None) return RLM_COLLECTION_TYPE_NONE;
    if (PyUnicode_CompareWithASCIIString(name, "list") == 0) return RLM_COLLECTION_TYPE_LIST;
    if (PyUnicode_CompareWithASCIIString(name, "set") == 0) return RLM_COLLECTION_TYPE_SET;
    if (PyUnicode_CompareWithASCIIString(name, "dict") == 0) return RLM_COLLECTION_TYPE_DICTIONARY;
    PyErr_Format(PyExc_ValueError, "no collection type %R", name);
    return -1;
}

static int property_type_from_name(PyObject *name) {
    static const int types[] = {RLM_PROPERTY_TYPE_INT,       RLM_PROPERTY_TYPE_BOOL,
                                RLM_PROPERTY_TYPE_STRING,    RLM_PROPERTY_TYPE_BINARY,
                                RLM_PROPERTY_TYPE_TIMESTAMP, RLM_PROPERTY_TYPE_FLOAT,
                                RLM_PROPERTY_TYPE_DOUBLE,    RLM_PROPERTY_TYPE_OBJECT,
                                RLM_PROPERTY_TYPE_DECIMAL128, RLM_PROPERTY_TYPE_OBJECT_ID,
                                RLM_PROPERTY_TYPE_UUID,      RLM_PROPERTY_TYPE_MIXED};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (PyUnicode_CompareWithASCIIString(name, property_type_name(types[i])) == 0) {
            return types[i];
        }
    }
    PyErr_Format(PyExc_ValueError, "no property type %R", name);
    return -1;
}

/* Flags of a full-text index of "latin" or "unicode" words; -1 and ValueError for others. */
static int full_text_flags(const char *words) {
    if (!words) return 0;
    if (strcmp(words, "latin") == 0) return RLM_PROPERTY_FULLTEXT_INDEXED;
    if (strcmp(words, "unicode") == 0) {
        return RLM_PROPERTY_FULLTEXT_INDEXED | RLM_PROPERTY_FULLTEXT_UNICODE;
    }
    PyErr_Format(PyExc_ValueError, "no full-text index of '%s' words, only of latin or unicode",
                 words);
    return -1;
}

static PyObject *property_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"name",    "type",    "nullable",        "primary_key", "indexed",
                            "link_target", "default", "default_factory", "collection",
                            "full_text", "form", "members", "stored_name", NULL};
    PyObject *name, *type_text, *target = Py_None, *value = NULL, *factory = Py_None;
    PyObject *collection = Py_None;
    PyObject *form = Py_None, *members = Py_None, *stored = Py_None;
    const char *words = NULL;
    int nullable = 0, primary = 0, indexed = 0;
    State *state = state_of_type(type);
    if (!state || !understood(state, PyArg_ParseTupleAndKeywords(args, kwargs, "UU|$pppOOOOzOOO:Property",
                    names, &name, &type_text, &nullable, &primary, &indexed, &target, &value,
                    &factory, &collection, &words, &form, &members, &stored))) {
        return NULL;
    }
    int kind = property_type_from_name(type_text);
    if (kind < 0) {
        misunderstood(state);
        return NULL;
    }
    if (collection != Py_None && !PyUnicode_Check(collection)) {
        raise_code(state, MISUSE, "collection is a str or None");
        return NULL;
    }
    if ((form != Py_None && !PyType_Check(form)) ||
        (members != Py_None && !PyDict_Check(members)) ||
        (stored != Py_None && !PyUnicode_Check(stored))) {
        raise_code(state, MISUSE, "form is a class, members a dict, stored_name a str");
        return NULL;
    }
    int held = collection_from_name(collection);
    int full_text = full_text_flags(words);
    if (held < 0 || full_text < 0) {
        misunderstood(state);
        return NULL;
    }
    Property *self = (Property *)PyType_GenericAlloc(type, 0);
    if (!self) return NULL;
    self->state = state;
    self->name = Py_NewRef(name);
    PyUnicode_InternInPlace(&self->name);
    self->text = PyUnicode_AsUTF8AndSize(self->name, NULL);
    self->type = kind;
    self->collection = held;
    self->flags = (nullable ? RLM_PROPERTY_NULLABLE : 0) |
                  (primary ? RLM_PROPERTY_PRIMARY_KEY : 0) | (indexed ? RLM_PROPERTY_INDEXED : 0) |
                  full_text;
    if (target != Py_None) self->link_target = Py_NewRef(target);
    self->default_value = Py_XNewRef(value);
    if (factory != Py_None) self->default_factory = Py_NewRef(factory);
    if (form != Py_None) self->form = Py_NewRef(form);
    if (members != Py_None) self->members = Py_NewRef(members);
    self->stored_name = Py_NewRef(stored != Py_None ? stored : self->name);
    self->stored = PyUnicode_AsUTF8AndSize(self->stored_name, NULL);
    if (!self->text || !self->stored) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static int property_traverse(Property *self, visitproc visit, void *arg) {
    Py_VISIT(TYPE_OF(self));
    Py_VISIT(self->default_value);
    Py_VISIT(self->default_factory);
    Py_VISIT(self->form);
    Py_VISIT(self->members);
    Py_VISIT(self->path);
    return 0;
}

static int property_clear(Property *self) {
    Py_CLEAR(self->default_value);
    Py_CLEAR(self->default_factory);
    Py_CLEAR(self->form);
    Py_CLEAR(self->members);
    Py_CLEAR(self->path);
    return 0;
}

static void property_dealloc(Property *self) {
    PyTypeObject *type = TYPE_OF(self);
    PyObject_GC_UnTrack(self);
    property_clear(self);
    Py_CLEAR(self->name);
    Py_CLEAR(self->stored_name);
    Py_CLEAR(self->link_target);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

/* The object behind an access to this descriptor; NULL with TypeError when it is of another class. */
static Object *property_subject(Property *self, PyObject *instance) {
    if (PyObject_TypeCheck(instance, self->state->object_type) &&
        ((Object *)instance)->model == self->model) {
        return (Object *)instance;
    }
    PyObject *given = type_name(instance);
    if (given) {
        raise_code(self->state, MISUSE, "property %R of %s does not apply to a %U", self->name,
                     self->model ? self->model->text : "?", given);
        Py_DECREF(given);
    }
    return NULL;
}

/* What reading the property from a class gives. It never changes, but where a link leads to a class that is
 * declared later. */
static PyObject *path_for(Property *self, PyObject *owner) {
    PyObject *make_path = self->state->make_path;
    if (!make_path || !owner) return Py_NewRef((PyObject *)self);
    bool is_own = self->model && owner == (PyObject *)self->model->type;
    if (is_own && self->path) return Py_NewRef(self->path);
    PyObject *path = PyObject_CallFunctionObjArgs(make_path, self, owner, NULL);
    if (!path || !is_own) return path;
    PyObject *target = self->link_target ? PyObject_GetAttrString(path, "_target") : Py_NewRef(owner);
    if (target && target != Py_None) replace_reference(&self->path, Py_NewRef(path));
    if (!target) Py_CLEAR(path);
    Py_XDECREF(target);
    return path;
}

static PyObject *property_get(PyObject *self, PyObject *instance, PyObject *owner) {
    if (!instance || instance == Py_None) return path_for((Property *)self, owner);
    Object *object = property_subject((Property *)self, instance);
    return object ? object_get_property(object, (Property *)self) : NULL;
}

static int property_set(PyObject *self, PyObject *instance, PyObject *value) {
    Property *property = (Property *)self;
    Object *object = property_subject(property, instance);
    if (!object) return -1;
    if (!value) {
        raise_code(property->state, RLM_ERR_READ_ONLY_PROPERTY, "%s.%U can't be deleted; set it to None if "
                   "it may be null", property->model->text, property->name);
        return -1;
    }
    return object_set_property(object, property, value);
}

static PyObject *property_repr(Property *self) {
    PyObject *type = property_type_text(self);
    if (!type) return NULL;
    PyObject *text = PyUnicode_FromFormat(
        "<property %s.%U: %s%U%s%s%s%s%s>", self->model ? self->model->text : "?", self->name,
        collection_begin(self->collection), type,
        self->flags & RLM_PROPERTY_NULLABLE ? " | None" : "", collection_end(self->collection),
        self->flags & RLM_PROPERTY_PRIMARY_KEY ? ", primary key" : "",
        self->flags & RLM_PROPERTY_INDEXED ? ", indexed" : "",
        self->flags & RLM_PROPERTY_FULLTEXT_INDEXED ? ", full text" : "");
    Py_DECREF(type);
    return text;
}

static PyObject *get_name(Property *self, void *unused) {
    (void)unused;
    return Py_NewRef(self->name);
}

static PyObject *get_type(Property *self, void *unused) {
    (void)unused;
    return property_type_text(self);
}

static PyObject *get_stored_name(Property *self, void *unused) {
    (void)unused;
    return Py_NewRef(self->stored_name);
}

static PyObject *get_form(Property *self, void *unused) {
    (void)unused;
    return Py_NewRef(self->form ? self->form : Py_None);
}

static PyObject *get_collection(Property *self, void *unused) {
    (void)unused;
    switch (self->collection) {
    case RLM_COLLECTION_TYPE_LIST: return PyUnicode_FromString("list");
    case RLM_COLLECTION_TYPE_SET: return PyUnicode_FromString("set");
    case RLM_COLLECTION_TYPE_DICTIONARY: return PyUnicode_FromString("dict");
    default: Py_RETURN_NONE;
    }
}

static PyObject *get_flag(Property *self, void *flag) {
    return PyBool_FromLong(self->flags & (int)(intptr_t)flag);
}

static PyObject *get_full_text(Property *self, void *unused) {
    (void)unused;
    if (!(self->flags & RLM_PROPERTY_FULLTEXT_INDEXED)) Py_RETURN_NONE;
    return PyUnicode_FromString(self->flags & RLM_PROPERTY_FULLTEXT_UNICODE ? "unicode" : "latin");
}

static PyObject *get_link_target(Property *self, void *unused) {
    (void)unused;
    return Py_NewRef(self->link_target ? self->link_target : Py_None);
}

static PyObject *get_has_default(Property *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(self->default_value || self->default_factory);
}

static PyObject *check_default(Property *self, PyObject *unused) {
    (void)unused;
    if (!self->default_value) Py_RETURN_NONE;
    PyObject *checked = value_normalised(self, self->default_value);
    if (!checked) return NULL;
    Py_DECREF(checked);
    Py_RETURN_NONE;
}

static PyMethodDef property_methods[] = {
    {"_check_default", (PyCFunction)check_default, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};

static PyGetSetDef property_getset[] = {
    {"name", (getter)get_name, NULL, "Name in the class.", NULL},
    {"type", (getter)get_type, NULL,
     "Name of the type, as in the annotation; that of the elements of a collection.", NULL},
    {"stored_name", (getter)get_stored_name, NULL, "Name in the file.", NULL},
    {"_form", (getter)get_form, NULL, NULL, NULL},
    {"collection", (getter)get_collection, NULL, "'list', 'set', 'dict', or None.", NULL},
    {"nullable", (getter)get_flag, NULL, "May be None.", (void *)(intptr_t)RLM_PROPERTY_NULLABLE},
    {"primary_key", (getter)get_flag, NULL, "Identifies the object.",
     (void *)(intptr_t)RLM_PROPERTY_PRIMARY_KEY},
    {"indexed", (getter)get_flag, NULL, "Has an index of its own.",
     (void *)(intptr_t)RLM_PROPERTY_INDEXED},
    {"full_text", (getter)get_full_text, NULL,
     "Words of its full-text index: 'latin', 'unicode', or None without one.", NULL},
    {"link_target", (getter)get_link_target, NULL, "Name of the class it links to, or None.",
     NULL},
    {"has_default", (getter)get_has_default, NULL, "New objects need no value for it.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot property_slots[] = {
    {Py_tp_doc, "A property of a model class, as its attribute."},
    {Py_tp_new, property_new},
    {Py_tp_dealloc, property_dealloc},
    {Py_tp_traverse, property_traverse},
    {Py_tp_clear, property_clear},
    {Py_tp_descr_get, property_get},
    {Py_tp_descr_set, property_set},
    {Py_tp_repr, property_repr},
    {Py_tp_methods, property_methods},
    {Py_tp_getset, property_getset},
    {0, NULL}};

PyType_Spec property_spec = {
    .name = "realm._realm.Property",
    .basicsize = sizeof(Property),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = property_slots,
};
