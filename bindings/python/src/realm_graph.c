/* Graphs of objects that get their rows together.
 *
 * Adding an object adds what it links to and contains. Rows come first; links to objects that had
 * none, collections and embedded objects come last, when both ends have a row: that also lets
 * graphs with cycles in. The graph is walked with a queue, not by recursion: its depth is the
 * user's. Entries of the queue are four: the object, whether its row is new, whether nothing of it
 * is left to be stored, and what an object that was there before was, as JSON text. Until the end
 * all of them keep their Python values, to go back: new rows are deleted then, other objects take
 * the values that they had. Embedded objects and nested collections that were replaced meanwhile
 * come back as new ones with the same values. */
#include "binding.h"

enum { ENTRY_OBJECT = 0, ENTRY_CREATED = 1, ENTRY_DONE = 2, ENTRY_BEFORE = 3, ENTRY_SIZE = 4 };

bool is_unmanaged(State *state, PyObject *value) {
    return PyObject_TypeCheck(value, state->object_type) && !((Object *)value)->handle;
}

bool brings_objects(Property *property, Binding *target, PyObject *value) {
    if (property->type == RLM_PROPERTY_TYPE_MIXED) return is_nested(property->state, value);
    if (property->type != RLM_PROPERTY_TYPE_OBJECT || value == Py_None) return false;
    if (target && target->model->embedded) return true;
    return PyDict_Check(value) || is_unmanaged(property->state, value);
}

/* ---- the queue ------------------------------------------------------------------------------ */

int graph_open(Graph *graph, Realm *realm, int update) {
    graph->realm = realm;
    graph->update = update;
    graph->queue = PyList_New(0);
    return graph->queue ? 0 : -1;
}

/* `before`: NULL where there is nothing to go back to. */
static int enqueue(Graph *graph, Object *object, bool created, bool done, PyObject *before) {
    if (PyList_Append(graph->queue, (PyObject *)object) == 0 &&
        PyList_Append(graph->queue, created ? Py_True : Py_False) == 0 &&
        PyList_Append(graph->queue, done ? Py_True : Py_False) == 0 &&
        PyList_Append(graph->queue, before ? before : Py_None) == 0) {
        return 0;
    }
    return -1;
}

static void free_values(Object *object) {
    PyObject **values = object->values;
    object->values = NULL;
    if (!values) return;
    for (size_t i = 0; i < object->model->count; i++) Py_CLEAR(values[i]);
    PyMem_Free(values);
}

static void manage(Object *object, Binding *binding, realm_object_t *handle) {
    object->realm = (Realm *)Py_NewRef((PyObject *)binding->realm);
    object->binding = binding;
    object->handle = handle;
    object->key = realm_object_get_key(handle);
}

static void unmanage(Object *object, bool created) {
    if (created) realm_object_delete(object->handle);
    realm_release_handle(object->realm, object->handle);
    object->handle = NULL;
    object->binding = NULL;
    Py_CLEAR(object->realm);
}

void object_put_back(Realm *realm, Binding *binding, PyObject *before) {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    const char *text = PyBytes_AsString(before);
    realm_object_t *handle =
        text ? realm_object_create_from_json(realm->handle, binding->class_key, text,
                                             RLM_UPDATE_MODIFIED, RLM_JSON_PLAIN)
             : NULL;
    realm_release_handle(realm, handle);
    realm_clear_last_error();
    PyErr_Restore(type, value, trace);
}

int graph_close(Graph *graph, int bad) {
    PyObject *type = NULL, *value = NULL, *trace = NULL;
    /* Undoing must not disturb the exception that is the reason for it. */
    if (bad) PyErr_Fetch(&type, &value, &trace);
    /* An entry that memory did not suffice for is left out: its object stays managed. */
    for (Py_ssize_t i = PyList_Size(graph->queue) / ENTRY_SIZE * ENTRY_SIZE; i > 0;
         i -= ENTRY_SIZE) {
        Object *object = (Object *)PyList_GetItem(graph->queue, i - ENTRY_SIZE);
        bool created = PyList_GetItem(graph->queue, i - ENTRY_SIZE + ENTRY_CREATED) == Py_True;
        PyObject *before = PyList_GetItem(graph->queue, i - ENTRY_SIZE + ENTRY_BEFORE);
        if (bad && before != Py_None) object_put_back(graph->realm, object->binding, before);
        if (bad) unmanage(object, created);
        else free_values(object);
    }
    Py_CLEAR(graph->queue);
    if (bad) PyErr_Restore(type, value, trace);
    return bad;
}

/* ---- new objects ---------------------------------------------------------------------------- */

/* Gives one object its row. `before`: see `Row`. */
static int adopt_one(Realm *realm, Object *object, int update, bool nested, bool *created,
                     bool *done, PyObject **before) {
    Model *model = object->model;
    Binding *binding = realm_binding(realm, model);
    Row row;
    realm_object_t *handle = NULL;
    if (!binding) return -1;
    if (row_open(&row, binding) == 0) {
        row.nested = nested;
        for (size_t i = 0; i < model->count; i++) row.items[i] = Py_XNewRef(object->values[i]);
        handle = row_store(&row, update, created);
    }
    *done = row.later == 0;
    *before = Py_XNewRef(row.before);
    row_close(&row);
    if (!handle) {
        Py_CLEAR(*before);
        return -1;
    }
    manage(object, binding, handle);
    return 0;
}

static int graph_adopt(Graph *graph, Object *object) {
    bool created, done;
    PyObject *before;
    if (adopt_one(graph->realm, object, graph->update, true, &created, &done, &before) < 0) {
        return -1;
    }
    int bad = enqueue(graph, object, created, done, before);
    Py_XDECREF(before);
    return bad;
}

PyObject *graph_create(Graph *graph, Row *row) {
    Model *model = row->binding->model;
    bool created;
    realm_object_t *handle = row_store(row, graph->update, &created);
    if (!handle) return NULL;
    Object *object = (Object *)object_wrap(row->binding, handle);
    if (!object || row->later == 0) return (PyObject *)object;
    object->values = PyMem_Calloc(model->count + 1, sizeof *object->values);
    if (!object->values) {
        Py_DECREF(object);
        return PyErr_NoMemory();
    }
    for (size_t i = 0; i < model->count; i++) object->values[i] = Py_XNewRef(row->items[i]);
    if (enqueue(graph, object, created, false, row->before) < 0) Py_CLEAR(object);
    return (PyObject *)object;
}

/* The object that a dict stands for, stored. */
static PyObject *create_from_dict(Graph *graph, Binding *binding, PyObject *values) {
    Row row;
    PyObject *result = NULL;
    if (row_open(&row, binding) == 0 && row_give_dict(&row, values) == 0) {
        row.nested = true;
        result = graph_create(graph, &row);
    }
    /* Nothing of it waits: it must be in the queue all the same, for going back. */
    if (result && row.later == 0 &&
        enqueue(graph, (Object *)result, !row.existing, true, row.before) < 0) {
        Py_CLEAR(result);
    }
    row_close(&row);
    return result;
}

/* ---- places --------------------------------------------------------------------------------- */

static bool place_value(const Place *place, realm_value_t value) {
    size_t index;
    bool inserted;
    switch (place->kind) {
    case PLACE_PROPERTY: return realm_set_value(place->handle, place->key, value, false);
    case PLACE_INSERT: return realm_list_insert(place->handle, place->index, value);
    case PLACE_SET: return realm_list_set(place->handle, place->index, value);
    case PLACE_ADD: return realm_set_insert(place->handle, value, &index, &inserted);
    default: return realm_dictionary_insert(place->handle, place->name, value, &index, &inserted);
    }
}

static realm_object_t *place_embedded(State *state, const Place *place) {
    switch (place->kind) {
    case PLACE_PROPERTY: return realm_set_embedded(place->handle, place->key);
    case PLACE_INSERT: return realm_list_insert_embedded(place->handle, place->index);
    case PLACE_SET: return realm_list_set_embedded(place->handle, place->index);
    case PLACE_KEY: return realm_dictionary_insert_embedded(place->handle, place->name);
    default:
        raise_code(state, RLM_ERR_ILLEGAL_OPERATION, "a set can't hold embedded objects");
        return NULL;
    }
}

/* Whether `object` is what is at the place already. */
static bool is_at(Realm *realm, const Place *place, Object *object) {
    realm_object_t *found = NULL;
    if (object->realm != realm) return false;
    switch (place->kind) {
    case PLACE_PROPERTY: found = realm_get_linked_object(place->handle, place->key); break;
    case PLACE_SET: found = realm_list_get_linked_object(place->handle, place->index); break;
    case PLACE_KEY:
        found = realm_dictionary_get_linked_object(place->handle, place->name);
        break;
    default: break;
    }
    realm_clear_last_error();
    bool same = found && realm_object_get_key(found) == object->key;
    realm_release_handle(realm, found);
    return same;
}

int put_plain(Realm *realm, Property *property, const Place *place, PyObject *value) {
    realm_value_t converted;
    PyObject *keep;
    bool done = false;
    int bad = value_for_property(property, realm, value, &converted, &keep);
    if (!bad) done = place_value(place, converted);
    Py_XDECREF(keep);
    if (done) return 0;
    PyObject *text = bad ? NULL : short_repr(value);
    if (text) {
        raise_engine(property->state, "%s.%U: %U", property->model->text, property->name, text);
    }
    Py_XDECREF(text);
    return -1;
}

/* Embedded objects are made where they belong; they never move. */
static int put_embedded(Graph *graph, Property *property, Binding *target, const Place *place,
                        Object *object) {
    State *state = property->state;
    if (object->handle) {
        if (is_at(graph->realm, place, object)) return 0;
        raise_code(state, RLM_ERR_ILLEGAL_OPERATION,
                   "%s.%U: this %U is part of an object already and can't be part of another; "
                   "make a new one", property->model->text, property->name, object->model->name);
        return -1;
    }
    Row row;
    realm_object_t *handle = NULL;
    if (row_open(&row, target) == 0) {
        for (size_t i = 0; i < target->model->count; i++) {
            row.items[i] = Py_XNewRef(object->values[i]);
        }
        if (row_convert(&row) == 0) {
            handle = place_embedded(state, place);
            if (handle && row.count &&
                !realm_set_values(handle, row.count, row.keys, row.values, false)) {
                raise_engine(state, "%s.%U", property->model->text, property->name);
                realm_object_delete(handle);
                realm_release_handle(graph->realm, handle);
                handle = NULL;
            }
            if (!handle) raise_engine(state, "%s.%U", property->model->text, property->name);
        }
    }
    bool done = row.later == 0;
    row_close(&row);
    if (!handle) return -1;
    manage(object, target, handle);
    return enqueue(graph, object, true, done, NULL);
}

int graph_put(Graph *graph, Property *property, Binding *target, const Place *place,
              PyObject *value) {
    Realm *realm = graph->realm;
    realm_value_t converted;
    PyObject *keep = NULL;
    if (!brings_objects(property, target, value)) {
        return put_plain(realm, property, place, value);
    }
    if (property->type == RLM_PROPERTY_TYPE_MIXED) {
        return nested_put(realm, property, place, value);
    }
    bool embedded = target && target->model->embedded;
    PyObject *object = NULL;
    if (!PyDict_Check(value)) object = Py_NewRef(value);
    else if (embedded) object = object_from_dict((PyObject *)target->model->type, value);
    else if (target) object = create_from_dict(graph, target, value);
    else value_for_property(property, NULL, value, &converted, &keep);
    if (!object) return -1;
    int bad = value_for_property(property, NULL, object, &converted, &keep);
    Py_XDECREF(keep);
    if (!bad && embedded) {
        bad = put_embedded(graph, property, target, place, (Object *)object);
    } else if (!bad) {
        if (!((Object *)object)->handle) bad = graph_adopt(graph, (Object *)object);
        if (!bad) bad = put_plain(realm, property, place, object);
    }
    Py_DECREF(object);
    return bad;
}

/* ---- collections ---------------------------------------------------------------------------- */

static int put_elements(Graph *graph, Property *property, Binding *target, void *handle,
                        PyObject *content) {
    Place place = {.handle = handle};
    if (PyDict_Check(content)) {
        Py_ssize_t position = 0;
        PyObject *key, *value;
        place.kind = PLACE_KEY;
        while (PyDict_Next(content, &position, &key, &value)) {
            if (key_from_python(property, key, &place.name) < 0 ||
                graph_put(graph, property, target, &place, value) < 0) {
                return -1;
            }
        }
        return 0;
    }
    PyObject *iterator = PyObject_GetIter(content);
    if (!iterator) return -1;
    place.kind = property->collection == RLM_COLLECTION_TYPE_LIST ? PLACE_INSERT : PLACE_ADD;
    PyObject *value;
    int bad = 0;
    while (!bad && (value = PyIter_Next(iterator))) {
        bad = graph_put(graph, property, target, &place, value);
        place.index++;
        Py_DECREF(value);
    }
    Py_DECREF(iterator);
    return PyErr_Occurred() ? -1 : bad;
}

/* Raises for embedded objects that belong somewhere already, before anything is cleared. */
static int check_owners(Property *property, PyObject *content) {
    PyObject *values = PyDict_Check(content) ? PyDict_Values(content) : PySequence_List(content);
    if (!values) return -1;
    int bad = 0;
    for (Py_ssize_t i = 0; !bad && i < PyList_Size(values); i++) {
        PyObject *value = PyList_GetItem(values, i);
        if (PyObject_TypeCheck(value, property->state->object_type) &&
            ((Object *)value)->handle) {
            raise_code(property->state, RLM_ERR_ILLEGAL_OPERATION,
                       "%s.%U: a %U in it is part of an object already and can't be part of "
                       "another; make new ones", property->model->text, property->name,
                       property->link_target);
            bad = -1;
        }
    }
    Py_DECREF(values);
    return bad;
}

int graph_assign(Graph *graph, realm_object_t *handle, Binding *binding, Property *property,
                 PyObject *value, bool is_new) {
    State *state = property->state;
    Realm *realm = graph->realm;
    Binding *target = binding->targets[property->index];
    realm_property_key_t key = binding->keys[property->index];
    PyObject *content = collection_normalised(property, realm, value, true);
    if (!content) return -1;
    if (target && target->model->embedded && check_owners(property, content) < 0) {
        Py_DECREF(content);
        return -1;
    }
    void *collection = NULL;
    bool cleared = true;
    switch (property->collection) {
    case RLM_COLLECTION_TYPE_LIST:
        collection = realm_get_list(handle, key);
        if (collection && !is_new) cleared = realm_list_clear(collection);
        break;
    case RLM_COLLECTION_TYPE_SET:
        collection = realm_get_set(handle, key);
        if (collection && !is_new) cleared = realm_set_clear(collection);
        break;
    default:
        collection = realm_get_dictionary(handle, key);
        if (collection && !is_new) cleared = realm_dictionary_clear(collection);
    }
    int bad = -1;
    if (collection && cleared) bad = put_elements(graph, property, target, collection, content);
    else raise_engine(state, "%s.%U", property->model->text, property->name);
    realm_release_handle(realm, collection);
    Py_DECREF(content);
    return bad;
}

/* Whether the collection of a stored object has this content. */
static int has_content(Object *object, Property *property, PyObject *value) {
    PyObject *content = collection_normalised(property, object->realm, value, true);
    PyObject *stored = content ? collection_wrap(object, property) : NULL;
    int same = stored ? PyObject_RichCompareBool(stored, content, Py_EQ) : -1;
    Py_XDECREF(stored);
    Py_XDECREF(content);
    return same;
}

static int settle_property(Graph *graph, Object *object, size_t index, bool created) {
    Property *property = object->model->properties[index];
    Binding *target = object->binding->targets[index];
    PyObject *value = object->values[index];
    if (!value) return 0;
    if (property->collection) {
        if (!created && graph->update == UPDATE_MODIFIED) {
            int same = has_content(object, property, value);
            if (same != 0) return same < 0 ? -1 : 0;
        }
        return graph_assign(graph, object->handle, object->binding, property, value, created);
    }
    if (!brings_objects(property, target, value) &&
        (property->type != RLM_PROPERTY_TYPE_OBJECT || value == Py_None)) {
        return 0;
    }
    if (property->type == RLM_PROPERTY_TYPE_MIXED && !created &&
        graph->update == UPDATE_MODIFIED) {
        PyObject *stored = object_get_property(object, property);
        int same = stored ? PyObject_RichCompareBool(stored, value, Py_EQ) : -1;
        Py_XDECREF(stored);
        if (same != 0) return same < 0 ? -1 : 0;
    }
    Place place = {.kind = PLACE_PROPERTY, .handle = object->handle,
                   .key = object->binding->keys[index]};
    return graph_put(graph, property, target, &place, value);
}

int graph_settle(Graph *graph) {
    for (Py_ssize_t i = 0; i < PyList_Size(graph->queue); i += ENTRY_SIZE) {
        Object *object = (Object *)PyList_GetItem(graph->queue, i + ENTRY_OBJECT);
        bool created = PyList_GetItem(graph->queue, i + ENTRY_CREATED) == Py_True;
        if (PyList_GetItem(graph->queue, i + ENTRY_DONE) == Py_True) continue;
        for (size_t j = 0; j < object->model->count; j++) {
            if (settle_property(graph, object, j, created) < 0) return -1;
        }
    }
    return 0;
}

/* ---- all at once ---------------------------------------------------------------------------- */

int realm_adopt(Realm *self, Object *root, int update) {
    Graph graph;
    bool created, done;
    PyObject *before;
    if (adopt_one(self, root, update, false, &created, &done, &before) < 0) return -1;
    if (done) {
        Py_XDECREF(before);
        free_values(root);
        return 0;
    }
    int bad = graph_open(&graph, self, update);
    if (!bad) bad = enqueue(&graph, root, created, false, before);
    Py_XDECREF(before);
    if (!graph.queue) return -1;
    if (!bad) bad = graph_settle(&graph);
    return graph_close(&graph, bad);
}

int realm_put(Realm *self, Property *property, Binding *target, const Place *place,
              PyObject *value) {
    Graph graph;
    if (graph_open(&graph, self, UPDATE_ERROR) < 0) return -1;
    int bad = graph_put(&graph, property, target, place, value);
    if (!bad) bad = graph_settle(&graph);
    return graph_close(&graph, bad);
}
