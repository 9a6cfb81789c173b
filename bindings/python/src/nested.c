/* Lists and dictionaries inside values of any type: properties `Any`, elements of `list[Any]` and
 * `dict[str, Any]`, to any depth that the engine takes.
 *
 * Going in they are copied, into plain lists and dicts whose every value has been checked, which
 * tree.c hands to the engine. Coming out they are the same live views as those of properties
 * (collection.c), which follow their element. */
#include "binding.h"

/* Collections in one another that the engine stores, the outermost included. */
#define DEPTH_MAX 100

bool is_nested(State *state, PyObject *value) {
    return PyList_Check(value) || PyTuple_Check(value) || PyDict_Check(value) ||
           PyObject_TypeCheck(value, state->list_type) ||
           PyObject_TypeCheck(value, state->dictionary_type);
}

/* ---- checking and copying ------------------------------------------------------------------- */

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
    PyObject *result = PyDict_New();
    PyObject *items = result ? PyMapping_Items(value) : NULL;
    int bad = items ? 0 : -1;
    for (Py_ssize_t i = 0; !bad && i < PyList_Size(items); i++) {
        PyObject *key = PyTuple_GetItem(PyList_GetItem(items, i), 0);
        PyObject *item = PyTuple_GetItem(PyList_GetItem(items, i), 1);
        step->key = key;
        bad = item ? key_check(property, key) : -1;
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

/* ---- views ---------------------------------------------------------------------------------- */

PyObject *nested_of_object(Object *owner, Property *property, int type) {
    realm_property_key_t key = owner->binding->keys[property->index];
    bool is_dict = type == RLM_TYPE_DICTIONARY;
    void *handle = is_dict ? (void *)realm_get_dictionary(owner->handle, key)
                           : (void *)realm_get_list(owner->handle, key);
    if (!handle) {
        raise_engine(property->state, "%s.%U", owner->model->text, property->name);
        return NULL;
    }
    return collection_make(owner->realm, owner->binding, property, owner->key,
                           is_dict ? RLM_COLLECTION_TYPE_DICTIONARY : RLM_COLLECTION_TYPE_LIST,
                           handle);
}

PyObject *nested_of_element(Collection *outer, size_t index, const realm_value_t *key, int type) {
    bool is_dict = type == RLM_TYPE_DICTIONARY;
    void *handle;
    if (outer->kind == RLM_COLLECTION_TYPE_LIST) {
        handle = is_dict ? (void *)realm_list_get_dictionary(outer->handle, index)
                         : (void *)realm_list_get_list(outer->handle, index);
    } else {
        handle = is_dict ? (void *)realm_dictionary_get_dictionary(outer->handle, *key)
                         : (void *)realm_dictionary_get_list(outer->handle, *key);
    }
    if (!handle) {
        collection_raise(outer);
        return NULL;
    }
    PyObject *step = key ? value_to_python(outer->realm->state, outer->realm, key)
                         : PyLong_FromSize_t(index);
    Collection *view = (Collection *)collection_make(
        outer->realm, outer->binding, outer->property, outer->owner,
        is_dict ? RLM_COLLECTION_TYPE_DICTIONARY : RLM_COLLECTION_TYPE_LIST, handle);
    if (!view || !step) {
        Py_XDECREF(step);
        Py_XDECREF((PyObject *)view);
        return NULL;
    }
    view->outer = (Collection *)Py_NewRef((PyObject *)outer);
    view->step = step;
    view->depth = outer->depth + 1;
    return (PyObject *)view;
}
