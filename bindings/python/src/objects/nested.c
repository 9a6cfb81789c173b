/* Views of lists and dictionaries inside values of any type: properties `Any`, elements of `list[Any]` and
 * `dict[str, Any]`. They are the same live views as those of properties (collection.c), which follow
 * their element. How such values are checked and copied on their way in is in normalise.c. */
#include "objects/objects.h"

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
