/* Values and collections as objects that are in no realm yet keep them: checked, and in the form in
 * which they would be read. What goes into a realm passes here, too, before anything is written: lists
 * and dictionaries for properties of any type, to any depth that the engine takes, become plain lists
 * and dicts whose every value has been checked. */
#include "values/values.h"

#include <string.h>

int key_from_python(Property *property, PyObject *key, realm_value_t *out) {
    if (!PyUnicode_Check(key)) {
        PyObject *text = short_repr(key);
        PyObject *given = text ? type_name(key) : NULL;
        if (given) {
            raise_code(property->state, RLM_ERR_PROPERTY_TYPE_MISMATCH,
                       "%s.%U has keys of type str, got %U: %U", property->model->text,
                       property->name, given, text);
        }
        Py_XDECREF(given);
        Py_XDECREF(text);
        return -1;
    }
    if (string_from_python(key, out) == 0) return 0;
    if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) return -1;
    return raise_range(property, key, "contains lone surrogates, which are not text");
}

bool key_is_plain(realm_string_t key) {
    return key.size == 0 || (key.data[0] != '$' && !memchr(key.data, '.', key.size));
}

/* The rule for keys, which the engine applies when it stores them: told before anything is written. */
int key_check(Property *property, PyObject *key) {
    realm_value_t converted;
    if (key_from_python(property, key, &converted) < 0) return -1;
    if (key_is_plain(converted.string)) return 0;
    PyObject *shown = short_repr(key);
    if (shown) {
        raise_code(property->state, RLM_ERR_INVALID_DICTIONARY_KEY,
                   "%s.%U: the key %U must not begin with '$' nor contain '.'",
                   property->model ? property->model->text : "?", property->name, shown);
    }
    Py_XDECREF(shown);
    return -1;
}

static PyObject *object_from_dict(PyObject *type, PyObject *values) {
    PyObject *none = PyTuple_New(0);
    PyObject *result = none ? PyObject_Call(type, none, values) : NULL;
    Py_XDECREF(none);
    return result;
}

/* The object that a dict stands for, if the class can be found without a realm. */
static PyObject *dict_normalised(Property *property, PyObject *value) {
    State *state = property->state;
    PyObject *type = Py_NewRef(Py_None);
    if (state->find_target && property->model) {
        replace_reference(&type,
                          PyObject_CallFunctionObjArgs(state->find_target,
                                                       (PyObject *)property->model->type,
                                                       property->name, NULL));
        if (!type) return NULL;
    }
    PyObject *result = NULL;
    if (type == Py_None) {
        raise_mismatch(property, value);
    } else {
        result = object_from_dict(type, value);
    }
    Py_DECREF(type);
    return result;
}

bool is_nested(State *state, PyObject *value) {
    return PyList_Check(value) || PyTuple_Check(value) || PyDict_Check(value) ||
           PyObject_TypeCheck(value, state->list_type) ||
           PyObject_TypeCheck(value, state->dictionary_type);
}

bool brings_objects(Property *property, Binding *target, PyObject *value) {
    if (property->type == RLM_PROPERTY_TYPE_MIXED) return is_nested(property->state, value);
    if (property->type != RLM_PROPERTY_TYPE_OBJECT || value == Py_None) return false;
    if (target && target->model->embedded) return true;
    return PyDict_Check(value) || is_unmanaged(property->state, value);
}

PyObject *element_normalised(Property *property, Realm *realm, PyObject *value, bool keep_dicts) {
    realm_value_t converted;
    PyObject *keep = NULL;
    if (property->type == RLM_PROPERTY_TYPE_MIXED && is_nested(property->state, value)) {
        return nested_normalised(property, realm, value);
    }
    if (property->type == RLM_PROPERTY_TYPE_OBJECT) {
        if (PyDict_Check(value)) {
            return keep_dicts ? Py_NewRef(value) : dict_normalised(property, value);
        }
        /* An object that is in no realm yet can't be converted for one. */
        if (is_unmanaged(property->state, value)) realm = NULL;
    }
    if (value_for_property(property, realm, value, &converted, &keep) < 0) {
        Py_XDECREF(keep);
        return NULL;
    }
    PyObject *result;
    if (property->form) {
        Py_XDECREF(keep);
        return Py_NewRef(value);
    }
    switch (converted.type) {
    case RLM_TYPE_BINARY:
        /* bytes stay the object they are; other buffers were copied into `keep`. */
        result = Py_NewRef(keep ? keep : value);
        break;
    case RLM_TYPE_NULL:
    case RLM_TYPE_BOOL:
    case RLM_TYPE_LINK:
    case RLM_TYPE_DECIMAL128:
        result = PyLong_Check(value) ? value_to_python(property->state, NULL, &converted)
                                     : Py_NewRef(value);
        break;
    case RLM_TYPE_OBJECT_ID:
    case RLM_TYPE_UUID:
    case RLM_TYPE_STRING: result = Py_NewRef(value); break;
    case RLM_TYPE_TIMESTAMP:
        if (is_in_utc(property->state, value)) {
            result = Py_NewRef(value);
            break;
        }
        result = value_to_python(property->state, NULL, &converted);
        break;
    default: result = value_to_python(property->state, NULL, &converted);
    }
    Py_XDECREF(keep);
    return result;
}

/* ---- collections ---------------------------------------------------------------------------- */

static int raise_no_collection(Property *property, PyObject *value) {
    PyObject *text = short_repr(value);
    PyObject *given = text ? type_name(value) : NULL;
    if (given) {
        raise_code(property->state, RLM_ERR_PROPERTY_TYPE_MISMATCH, "%s.%U is %s%s%s, got %U: %U",
                   property->model ? property->model->text : "?", property->name,
                   collection_begin(property->collection),
                   property->link_target ? PyUnicode_AsUTF8AndSize(property->link_target, NULL)
                                         : property_type_name(property->type),
                   collection_end(property->collection), given, text);
    }
    Py_XDECREF(given);
    Py_XDECREF(text);
    return -1;
}

PyObject *list_normalised(Property *property, Realm *realm, PyObject *list, bool keep_dicts) {
    for (Py_ssize_t i = 0; i < PyList_Size(list); i++) {
        PyObject *item = element_normalised(property, realm, PyList_GetItem(list, i), keep_dicts);
        if (!item) note_index(property->state, i);
        if (!item || PyList_SetItem(list, i, item) < 0) {
            Py_DECREF(list);
            return NULL;
        }
    }
    return list;
}

static PyObject *elements_normalised(Property *property, Realm *realm, PyObject *value,
                                     bool keep_dicts) {
    /* Text and bytes are iterable, but whoever assigns them forgot the brackets. */
    if (PyUnicode_Check(value) || is_bytes_like(value) || PyDict_Check(value)) {
        raise_no_collection(property, value);
        return NULL;
    }
    PyObject *list = PySequence_List(value);
    if (!list) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError)) return NULL;
        PyErr_Clear();
        raise_no_collection(property, value);
        return NULL;
    }
    if (property->type == RLM_PROPERTY_TYPE_MIXED &&
        property->collection == RLM_COLLECTION_TYPE_LIST) {
        replace_reference(&list, nested_content(property, realm, list, NULL));
        return list;
    }
    list = list_normalised(property, realm, list, keep_dicts);
    if (!list || property->collection == RLM_COLLECTION_TYPE_LIST) return list;
    PyObject *set = PySet_New(list);
    /* Objects that are in no realm yet have no hash: they stay a list. */
    if (!set && property->type == RLM_PROPERTY_TYPE_OBJECT &&
        PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        return list;
    }
    Py_DECREF(list);
    return set;
}

PyObject *collection_normalised(Property *property, Realm *realm, PyObject *value,
                                bool keep_dicts) {
    if (property->collection != RLM_COLLECTION_TYPE_DICTIONARY) {
        return elements_normalised(property, realm, value, keep_dicts);
    }
    PyObject *result = PyDict_New();
    if (!result) return NULL;
    bool empty = PyTuple_Check(value) && PyTuple_Size(value) == 0;
    if (!empty && PyDict_Update(result, value) < 0) {
        if (PyErr_ExceptionMatches(PyExc_AttributeError) ||
            PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Clear();
            raise_no_collection(property, value);
        }
        Py_DECREF(result);
        return NULL;
    }
    if (property->type == RLM_PROPERTY_TYPE_MIXED) {
        replace_reference(&result, nested_content(property, realm, result, NULL));
        return result;
    }
    PyObject *keys = PyDict_Keys(result);
    int bad = keys ? 0 : -1;
    for (Py_ssize_t i = 0; !bad && i < PyList_Size(keys); i++) {
        PyObject *key = PyList_GetItem(keys, i);
        PyObject *item = NULL;
        if (key_check(property, key) == 0) {
            item = element_normalised(property, realm, PyDict_GetItemWithError(result, key),
                                      keep_dicts);
            if (!item) note_key(property->state, key);
        }
        bad = item ? PyDict_SetItem(result, key, item) : -1;
        Py_XDECREF(item);
    }
    Py_XDECREF(keys);
    if (bad) Py_CLEAR(result);
    return result;
}

PyObject *value_normalised(Property *property, PyObject *value) {
    if (property->collection) return collection_normalised(property, NULL, value, false);
    return element_normalised(property, NULL, value, false);
}

/* ---- lists and dictionaries in values of any type -------------------------------------------- */

/* Collections in one another that the engine stores, the outermost included. */
#define DEPTH_MAX 100

/* A container on the way to the value that is being checked. */
typedef struct Step {
    const struct Step *up;
    PyObject *container;
    PyObject *key;             /* of the value in it: index or key; borrowed */
    Collection *into;          /* the first: where the value goes; NULL for a property */
} Step;

/* "Class.property['key'][2]"; without a property "['key'][2]". */
static PyObject *path_of(Property *property, const Step *step) {
    if (!step->up) {
        if (!property) return PyUnicode_FromString("");
        if (step->into) return collection_path(step->into);
        if (!property->model) return Py_NewRef(property->name);
        return PyUnicode_FromFormat("%s.%U", property->model->text, property->name);
    }
    PyObject *head = path_of(property, step->up);
    PyObject *key = head ? short_repr(step->key) : NULL;
    PyObject *path = key ? PyUnicode_FromFormat("%U[%U]", head, key) : NULL;
    Py_XDECREF(head);
    Py_XDECREF(key);
    return path;
}

static int raise_at(Property *property, const Step *step, const char *rule) {
    PyObject *path = path_of(property, step);
    if (path) raise_code(property->state, RLM_ERR_INVALID_ARGUMENT, "%U %s", path, rule);
    Py_XDECREF(path);
    return -1;
}

/* Says in the exception where the value is that could not be taken. `key`: NULL in lists. */
static void note_step(Property *property, Step *step, Py_ssize_t index, PyObject *key) {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *name = key ? Py_NewRef(key) : PyLong_FromSsize_t(index);
    step->key = name;
    PyObject *place = name ? path_of(NULL, step) : NULL;
    step->key = NULL;
    Py_XDECREF(name);
    PyErr_Restore(type, value, trace);
    note_place(property->state, place);
}

static PyObject *copied(Property *property, Realm *realm, PyObject *value, int depth,
                        const Step *up);

/* A value for a place of any type. */
static PyObject *checked(Property *property, Realm *realm, PyObject *value, int depth,
                         const Step *up) {
    if (is_nested(property->state, value)) return copied(property, realm, value, depth, up);
    return element_normalised(property, realm, value, false);
}

static PyObject *copied_list(Property *property, Realm *realm, PyObject *value, int depth,
                             Step *step) {
    PyObject *list = PySequence_List(value);
    for (Py_ssize_t i = 0; list && i < PyList_Size(list); i++) {
        PyObject *item = PyList_GetItem(list, i);
        PyObject *index = is_nested(property->state, item) ? PyLong_FromSsize_t(i) : NULL;
        step->key = index;
        PyObject *copy = PyErr_Occurred() ? NULL : checked(property, realm, item, depth, step);
        Py_XDECREF(index);
        if (!copy && !is_nested(property->state, item)) note_step(property, step, i, NULL);
        if (!copy || PyList_SetItem(list, i, copy) < 0) Py_CLEAR(list);
    }
    return list;
}

static PyObject *copied_dict(Property *property, Realm *realm, PyObject *value, int depth,
                             Step *step) {
    realm_value_t converted;
    bool is_property = depth == 1 && property->collection == RLM_COLLECTION_TYPE_DICTIONARY;
    PyObject *result = PyDict_New();
    PyObject *items = result ? PyMapping_Items(value) : NULL;
    int bad = items ? 0 : -1;
    for (Py_ssize_t i = 0; !bad && i < PyList_Size(items); i++) {
        PyObject *key = PyTuple_GetItem(PyList_GetItem(items, i), 0);
        PyObject *item = PyTuple_GetItem(PyList_GetItem(items, i), 1);
        step->key = key;
        bad = item ? 0 : -1;
        if (!bad) {
            bad = is_property ? key_check(property, key)
                              : key_from_python(property, key, &converted);
        }
        PyObject *copy = bad ? NULL : checked(property, realm, item, depth, step);
        if (!bad && !copy && !is_nested(property->state, item)) note_step(property, step, i, key);
        bad = copy ? PyDict_SetItem(result, key, copy) : -1;
        Py_XDECREF(copy);
    }
    Py_XDECREF(items);
    if (bad) Py_CLEAR(result);
    return result;
}

static PyObject *copied(Property *property, Realm *realm, PyObject *value, int depth,
                        const Step *up) {
    for (const Step *step = up; step->up; step = step->up) {
        if (step->container != value) continue;
        raise_at(property, up, "contains itself, and would have no end");
        return NULL;
    }
    if (depth >= DEPTH_MAX) {
        raise_at(property, up, "lies too deep: lists and dicts can be 100 in one another");
        return NULL;
    }
    Step step = {.up = up, .container = value};
    bool is_dict = PyDict_Check(value) ||
                   PyObject_TypeCheck(value, property->state->dictionary_type);
    return is_dict ? copied_dict(property, realm, value, depth + 1, &step)
                   : copied_list(property, realm, value, depth + 1, &step);
}

PyObject *nested_normalised(Property *property, Realm *realm, PyObject *value) {
    Step first = {.into = NULL};
    if (property->collection == RLM_COLLECTION_TYPE_SET) {
        raise_mismatch(property, value);
        return NULL;
    }
    return copied(property, realm, value, property->collection ? 1 : 0, &first);
}

PyObject *nested_element(Collection *into, const Place *place, PyObject *value) {
    Realm *realm = into->realm;
    Step first = {.into = into};
    Step step = {.up = &first};
    if (into->kind == RLM_COLLECTION_TYPE_SET) {
        raise_mismatch(into->property, value);
        return NULL;
    }
    step.key = place->kind == PLACE_KEY ? value_to_python(realm->state, realm, &place->name)
                                        : PyLong_FromSize_t(place->index);
    if (!step.key) return NULL;
    PyObject *copy = copied(into->property, realm, value, into->depth, &step);
    Py_DECREF(step.key);
    return copy;
}

PyObject *nested_content(Property *property, Realm *realm, PyObject *content, Collection *into) {
    int depth = into ? into->depth : 1;
    Step first = {.into = into};
    Step step = {.up = &first, .container = content};
    return PyDict_Check(content) ? copied_dict(property, realm, content, depth, &step)
                                 : copied_list(property, realm, content, depth, &step);
}
