/* Trees: objects with all that they bring along, on their way into the engine.
 *
 * A value of Python - objects that are in no realm yet, dicts that stand for objects, lists, sets,
 * dictionaries - becomes an array of nodes (`realm_value_node_t`), which the engine turns into
 * objects all at once or not at all. Everything is converted before the engine is called, so that
 * what is wrong with a value changes nothing. Nodes stand in the order in which they are found, which
 * is that of levels, and are taken apart one after another, not by recursion: how deep a value is,
 * and whether objects lead back to themselves, is the user's. */
#include "objects/objects.h"

#include <string.h>

/* What a node is made of. */
typedef struct {
    PyObject *value;           /* also what the node borrows from */
    Property *property;        /* of a collection, or of the place of an object */
    Binding *binding;          /* the class of an object; that of the elements of a collection */
    Object *adopted;           /* borrowed from `value`: an object that will be managed */
    size_t parent, ordinal;    /* the node around it, and how many are before it there */
} Source;

#define INLINE_NODES 32

typedef struct {
    Realm *realm;
    int update;
    realm_value_node_t *nodes;
    Source *sources;
    size_t count, capacity;
    PyObject *seen;            /* index of the node by object that will be managed; NULL: none */
    PyObject *missing;         /* why, if the engine misses a value for a property */
    realm_value_node_t inline_nodes[INLINE_NODES];
    Source inline_sources[INLINE_NODES];
} Tree;

static void tree_open(Tree *tree, Realm *realm, int update) {
    tree->realm = realm;
    tree->update = update;
    tree->nodes = tree->inline_nodes;
    tree->sources = tree->inline_sources;
    tree->count = 0;
    tree->capacity = INLINE_NODES;
    tree->seen = tree->missing = NULL;
}

static void tree_close(Tree *tree) {
    for (size_t i = 0; i < tree->count; i++) Py_XDECREF(tree->sources[i].value);
    if (tree->nodes != tree->inline_nodes) {
        PyMem_Free(tree->nodes);
        PyMem_Free(tree->sources);
    }
    Py_XDECREF(tree->seen);
    Py_XDECREF(tree->missing);
}

static int grow(Tree *tree) {
    size_t capacity = tree->capacity * 2;
    bool is_inline = tree->nodes == tree->inline_nodes;
    realm_value_node_t *nodes =
        PyMem_Realloc(is_inline ? NULL : tree->nodes, capacity * sizeof *nodes);
    if (nodes && is_inline) memcpy(nodes, tree->nodes, tree->count * sizeof *nodes);
    /* The old array is gone now, whatever happens next. */
    if (nodes) tree->nodes = nodes;
    Source *sources =
        nodes ? PyMem_Realloc(is_inline ? NULL : tree->sources, capacity * sizeof *sources) : NULL;
    if (!sources) {
        if (nodes && is_inline) {
            PyMem_Free(nodes);
            tree->nodes = tree->inline_nodes;
        }
        PyErr_NoMemory();
        return -1;
    }
    if (is_inline) memcpy(sources, tree->sources, tree->count * sizeof *sources);
    tree->sources = sources;
    tree->capacity = capacity;
    return 0;
}

/* A new node, the child of `parent`, which keeps `value`; SIZE_MAX with an exception. */
static size_t add_node(Tree *tree, size_t parent, int kind, PyObject *value, Property *property,
                       Binding *binding) {
    if (tree->count == tree->capacity && grow(tree) < 0) return SIZE_MAX;
    size_t node = tree->count++;
    memset(&tree->nodes[node], 0, sizeof *tree->nodes);
    tree->nodes[node].kind = (uint32_t)kind;
    tree->sources[node] = (Source){.value = Py_XNewRef(value),
                                   .property = property,
                                   .binding = binding,
                                   .parent = parent,
                                   .ordinal = tree->nodes[parent].num_children};
    if (node > 0) tree->nodes[parent].num_children++;
    return node;
}

/* ---- single values and objects -------------------------------------------------------------- */

static int raise_owned(Property *property, Object *object, bool in_collection) {
    raise_code(property->state, RLM_ERR_ILLEGAL_OPERATION,
               in_collection ? "%s.%U: a %U in it is part of an object already and can't be part of "
                               "another; make new ones"
                             : "%s.%U: this %U is part of an object already and can't be part of "
                               "another; make a new one",
               property->model->text, property->name, object->model->name);
    return -1;
}

/* An object that is in no realm yet: described by one node, referred to by others. */
static int add_unmanaged(Tree *tree, size_t parent, Property *property, Binding *target,
                         PyObject *value) {
    Object *object = (Object *)value;
    PyObject *id = PyLong_FromVoidPtr(value);
    if (!tree->seen) tree->seen = PyDict_New();
    PyObject *known = id && tree->seen ? PyDict_GetItemWithError(tree->seen, id) : NULL;
    int bad = PyErr_Occurred() ? -1 : 0;
    if (!bad && known && target->model->embedded) {
        bad = raise_owned(property, object, false);
    } else if (!bad && known) {
        size_t node = add_node(tree, parent, RLM_NODE_REFERENCE, value, NULL, NULL);
        bad = node == SIZE_MAX ? -1 : 0;
        if (!bad) {
            tree->nodes[node].value.type = RLM_TYPE_INT;
            tree->nodes[node].value.integer = PyLong_AsLongLong(known);
        }
    } else if (!bad) {
        size_t node = add_node(tree, parent, RLM_NODE_OBJECT, value, property, target);
        PyObject *index = node == SIZE_MAX ? NULL : PyLong_FromSize_t(node);
        bad = index ? PyDict_SetItem(tree->seen, id, index) : -1;
        if (!bad) tree->sources[node].adopted = object;
        Py_XDECREF(index);
    }
    Py_XDECREF(id);
    return bad;
}

/* A checked value for a place of a property's type: the property itself, or an element. */
static int add_element(Tree *tree, size_t parent, Property *property, Binding *target,
                       PyObject *value, bool in_collection) {
    State *state = property->state;
    if (property->type == RLM_PROPERTY_TYPE_MIXED &&
        (PyList_Check(value) || PyDict_Check(value))) {
        int kind = PyDict_Check(value) ? RLM_NODE_DICTIONARY : RLM_NODE_LIST;
        return add_node(tree, parent, kind, value, property, NULL) == SIZE_MAX ? -1 : 0;
    }
    if (target && value != Py_None && property->type == RLM_PROPERTY_TYPE_OBJECT) {
        if (PyDict_Check(value)) {
            size_t node = add_node(tree, parent, RLM_NODE_OBJECT, value, property, target);
            return node == SIZE_MAX ? -1 : 0;
        }
        if (target->model->embedded || is_unmanaged(state, value)) {
            realm_value_t unused;
            PyObject *keep;
            if (value_for_property(property, NULL, value, &unused, &keep) < 0) return -1;
            if (((Object *)value)->handle) {
                return raise_owned(property, (Object *)value, in_collection);
            }
            return add_unmanaged(tree, parent, property, target, value);
        }
    }
    size_t node = add_node(tree, parent, RLM_NODE_VALUE, value, NULL, NULL);
    if (node == SIZE_MAX) return -1;
    PyObject *keep;
    int bad = value_for_property(property, tree->realm, value, &tree->nodes[node].value, &keep);
    if (keep) replace_reference(&tree->sources[node].value, keep);
    return bad;
}

/* What a property will hold; its content was not checked yet. */
static int add_property(Tree *tree, size_t parent, Property *property, Binding *binding,
                        PyObject *value, uint32_t flags) {
    Binding *target = binding->targets[property->index];
    PyObject *checked;
    if (property->collection) {
        checked = collection_normalised(property, tree->realm, value, true);
    } else if (property->type == RLM_PROPERTY_TYPE_MIXED && is_nested(property->state, value)) {
        checked = nested_normalised(property, tree->realm, value);
    } else {
        checked = Py_NewRef(value);
    }
    if (!checked) return -1;
    size_t node = tree->count;
    int bad;
    if (property->collection) {
        int kind = property->collection == RLM_COLLECTION_TYPE_DICTIONARY ? RLM_NODE_DICTIONARY
                                                                          : RLM_NODE_LIST;
        bad = add_node(tree, parent, kind, checked, property, target) == SIZE_MAX ? -1 : 0;
    } else {
        bad = add_element(tree, parent, property, target, checked, false);
    }
    Py_DECREF(checked);
    if (bad) return -1;
    tree->nodes[node].property = binding->keys[property->index];
    tree->nodes[node].flags = flags;
    return 0;
}

/* ---- taking nodes apart --------------------------------------------------------------------- */

bool embedded_is_at(Realm *realm, const Place *place, PyObject *value) {
    realm_object_t *found = NULL;
    if (!PyObject_TypeCheck(value, realm->state->object_type)) return false;
    Object *object = (Object *)value;
    if (!object->handle || object->realm != realm || !object->model->embedded) return false;
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

/* The values of an object, one per property. `existing`: the object that they are for, NULL for a
 * new one or where it is not known. */
static int add_items(Tree *tree, size_t node, Binding *binding, PyObject **items,
                     const bool *defaults, realm_object_t *existing) {
    Model *model = binding->model;
    for (size_t i = 0; i < model->count; i++) {
        Property *property = model->properties[i];
        PyObject *item = items[i];
        if (!item) continue;
        Place place = {.kind = PLACE_PROPERTY, .handle = existing, .key = binding->keys[i]};
        /* An embedded object that is assigned to its own place stays. */
        if (existing && !property->collection && embedded_is_at(tree->realm, &place, item)) {
            continue;
        }
        if (add_property(tree, node, property, binding, item,
                         defaults && defaults[i] ? RLM_NODE_DEFAULT : RLM_NODE_PLAIN) < 0) {
            /* Of single values the message names the property. */
            if (property->collection) note_place(property->state, Py_NewRef(property->name));
            return -1;
        }
    }
    return 0;
}

/* A value for every property of an embedded object: it replaces the one that may be in its place,
 * also where the engine keeps that one and writes what differs. */
static int complete_embedded(Row *row) {
    Model *model = row->binding->model;
    if (row_complete(row, NULL) < 0) return -1;
    for (size_t i = 0; i < model->count; i++) {
        row->defaults[i] = false;
        if (row->items[i]) continue;
        row->items[i] = model->properties[i]->collection ? PyTuple_New(0) : Py_NewRef(Py_None);
        if (!row->items[i]) return -1;
    }
    return 0;
}

/* The values of an object that a dict stands for, or that is in no realm yet. */
static int expand_object(Tree *tree, size_t node) {
    Source source = tree->sources[node];
    Row row;
    int bad = row_open(&row, source.binding);
    if (!bad && source.adopted) {
        /* Converting may run any code, also such that takes the values away. */
        for (size_t i = 0; source.adopted->values && i < source.binding->model->count; i++) {
            row.items[i] = Py_XNewRef(source.adopted->values[i]);
        }
    } else if (!bad) {
        bad = row_give_dict(&row, source.value);
    }
    if (!bad && source.binding->model->embedded) {
        bad = complete_embedded(&row);
    } else if (!bad) {
        bad = row_find(&row, tree->update);
        if (!bad && !row.existing) bad = row_complete(&row, &tree->missing);
    }
    if (!bad) {
        bad = add_items(tree, node, source.binding, row.items, row.defaults, row.existing);
    }
    row_close(&row);
    return bad;
}

static int expand_dictionary(Tree *tree, size_t node) {
    Source source = tree->sources[node];
    Py_ssize_t position = 0;
    PyObject *key, *value;
    int bad = 0;
    while (!bad && PyDict_Next(source.value, &position, &key, &value)) {
        realm_value_t name;
        size_t child = tree->count;
        bad = key_from_python(source.property, key, &name);
        if (!bad) {
            bad = add_element(tree, node, source.property, source.binding, value, true);
        }
        if (bad) note_key(tree->realm->state, key);
        if (!bad) tree->nodes[child].key = name.string;
    }
    return bad;
}

static int expand_list(Tree *tree, size_t node) {
    Source source = tree->sources[node];
    PyObject *iterator = PyObject_GetIter(source.value), *value;
    int bad = iterator ? 0 : -1;
    for (Py_ssize_t i = 0; !bad && (value = PyIter_Next(iterator)); i++) {
        bad = add_element(tree, node, source.property, source.binding, value, true);
        if (bad) note_index(tree->realm->state, i);
        Py_DECREF(value);
    }
    Py_XDECREF(iterator);
    return PyErr_Occurred() ? -1 : bad;
}

/* Says in the exception where a node is: only the last of many steps. */
static void note_node(Tree *tree, size_t node) {
    State *state = tree->realm->state;
    for (int steps = 0; node > 0 && steps < 16; steps++) {
        const Source *source = &tree->sources[node];
        switch (tree->nodes[source->parent].kind) {
        case RLM_NODE_LIST: note_index(state, (Py_ssize_t)source->ordinal); break;
        case RLM_NODE_DICTIONARY: {
            realm_string_t key = tree->nodes[node].key;
            note_text_key(state, key.data, (Py_ssize_t)key.size);
            break;
        }
        default:
            if (source->property) note_place(state, Py_NewRef(source->property->name));
        }
        node = source->parent;
    }
}

/* Takes apart what was added from node `first` on. */
static int expand(Tree *tree, size_t first) {
    int bad = 0;
    for (size_t i = first; !bad && i < tree->count; i++) {
        switch (tree->nodes[i].kind) {
        case RLM_NODE_OBJECT: bad = expand_object(tree, i); break;
        case RLM_NODE_DICTIONARY: bad = expand_dictionary(tree, i); break;
        case RLM_NODE_LIST: bad = expand_list(tree, i); break;
        default: break;
        }
        if (bad) note_node(tree, i);
    }
    return bad;
}

/* ---- into the engine ------------------------------------------------------------------------ */

static realm_update_policy_e policy(const Tree *tree) { return engine_policy(tree->update); }

void object_manage(Object *object, Binding *binding, realm_object_t *handle) {
    object->realm = (Realm *)Py_NewRef((PyObject *)binding->realm);
    object->binding = binding;
    object->handle = handle;
    object->key = realm_object_get_key(handle);
    PyObject **values = object->values;
    Batch *batch = binding->realm->batch;
    object->values = NULL;
    if (values && batch && batch_keep(batch, object, values)) return;
    free_values(object->model, values);
}

/* Objects that were in no realm are views of what was stored. */
static int adopt_all(Tree *tree, const realm_object_key_t *keys) {
    for (size_t i = 0; i < tree->count; i++) {
        Object *object = tree->sources[i].adopted;
        Binding *binding = tree->sources[i].binding;
        /* A default that stored it elsewhere came first. */
        if (!object || object->handle) continue;
        realm_object_t *handle =
            realm_get_object(tree->realm->handle, binding->class_key, keys[i]);
        if (!handle) {
            raise_engine(binding->model->state, "storing %s", binding->model->text);
            return -1;
        }
        object_manage(object, binding, handle);
    }
    return 0;
}

/* Writes all that was taken apart. `place`: NULL for a new object of a class, which is `created`. */
static int store(Tree *tree, const Place *place, Binding *binding, realm_object_t **created) {
    realm_object_key_t inline_keys[INLINE_NODES];
    realm_object_key_t *keys = tree->seen ? inline_keys : NULL;
    if (keys && tree->count > INLINE_NODES) keys = PyMem_Malloc(tree->count * sizeof *keys);
    if (tree->seen && !keys) {
        PyErr_NoMemory();
        return -1;
    }
    bool done;
    if (!place) {
        *created = realm_object_create_from_nodes(tree->realm->handle, binding->class_key,
                                                  tree->nodes, tree->count, policy(tree), keys);
        done = *created != NULL;
    } else {
        switch (place->kind) {
        case PLACE_PROPERTY:
            done = realm_object_set_nodes(place->handle, tree->nodes, tree->count, policy(tree),
                                          keys);
            break;
        case PLACE_INSERT:
            done = realm_list_insert_nodes(place->handle, place->index, tree->nodes, tree->count,
                                           policy(tree), keys);
            break;
        case PLACE_SET:
            done = realm_list_set_nodes(place->handle, place->index, tree->nodes, tree->count,
                                        policy(tree), keys);
            break;
        case PLACE_ADD:
            done = realm_set_insert_nodes(place->handle, tree->nodes, tree->count, policy(tree),
                                          keys);
            break;
        default:
            done = realm_dictionary_insert_nodes(place->handle, place->name, tree->nodes,
                                                 tree->count, policy(tree), keys);
        }
    }
    realm_error_t error;
    if (!done && tree->missing && !PyErr_Occurred() && realm_get_last_error(&error) &&
        error.error == RLM_ERR_MISSING_PROPERTY_VALUE) {
        raise_code(tree->realm->state, RLM_ERR_MISSING_PROPERTY_VALUE, "%U", tree->missing);
        realm_clear_last_error();
    }
    int bad = done ? 0 : -1;
    if (done && keys) bad = adopt_all(tree, keys);
    if (keys != inline_keys) PyMem_Free(keys);
    return bad;
}

realm_object_t *tree_create(Row *row, Object *adopted, int update) {
    Binding *binding = row->binding;
    Tree tree;
    realm_object_t *handle = NULL;
    tree_open(&tree, binding->realm, update);
    int bad = 0;
    if (adopted) {
        bad = add_unmanaged(&tree, 0, NULL, binding, (PyObject *)adopted);
        /* The caller makes it managed. */
        if (!bad) tree.sources[0].adopted = NULL;
    } else {
        bad = add_node(&tree, 0, RLM_NODE_OBJECT, NULL, NULL, binding) == SIZE_MAX ? -1 : 0;
    }
    if (!bad) bad = add_items(&tree, 0, binding, row->items, row->defaults, row->existing);
    if (!bad) bad = expand(&tree, 1);
    if (!bad && store(&tree, NULL, binding, &handle) < 0) row_raise(row);
    tree_close(&tree);
    return handle;
}

int tree_assign(Binding *binding, realm_object_t *handle, Property *property, PyObject *value) {
    Tree tree;
    Place place = {.kind = PLACE_PROPERTY, .handle = handle};
    tree_open(&tree, binding->realm, UPDATE_ERROR);
    int bad = add_node(&tree, 0, RLM_NODE_OBJECT, NULL, NULL, binding) == SIZE_MAX ? -1 : 0;
    if (!bad) bad = add_property(&tree, 0, property, binding, value, RLM_NODE_PLAIN);
    if (!bad) bad = expand(&tree, 1);
    if (!bad) {
        bad = store(&tree, &place, binding, NULL);
        if (bad) raise_engine(property->state, "%s.%U", binding->model->text, property->name);
    }
    tree_close(&tree);
    return bad;
}

int tree_put(Realm *realm, Property *property, Binding *target, const Place *place,
             PyObject *value) {
    Tree tree;
    tree_open(&tree, realm, UPDATE_ERROR);
    int bad = add_element(&tree, 0, property, target, value, false);
    if (!bad) bad = expand(&tree, 0);
    if (!bad) {
        bad = store(&tree, place, target, NULL);
        if (bad) raise_engine(property->state, "%s.%U", property->model->text, property->name);
    }
    tree_close(&tree);
    return bad;
}
