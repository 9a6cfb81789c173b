/* What is wrong with a value, said with the class, the property and the value. */
#include "values/values.h"

int raise_mismatch(Property *property, PyObject *value) {
    PyObject *text = short_repr(value);
    PyObject *given = text ? type_name(value) : NULL;
    if (given) {
        bool link = property->type == RLM_PROPERTY_TYPE_OBJECT;
        const char *verb = property->collection ? link ? "holds links to" : "holds"
                                                : link ? "is a link to" : "is";
        PyObject *type = link ? Py_NewRef(property->link_target) : property_type_text(property);
        if (type) {
            raise_code(property->state, RLM_ERR_PROPERTY_TYPE_MISMATCH, "%s.%U %s %U, got %U: %U",
                       property->model ? property->model->text : "?", property->name, verb, type,
                       given, text);
        }
        Py_XDECREF(type);
    }
    Py_XDECREF(given);
    Py_XDECREF(text);
    return -1;
}

int raise_null(Property *property) {
    const char *type = property_type_name(property->type);
    const char *class = property->model ? property->model->text : "?";
    if (!property->collection) {
        raise_code(property->state, RLM_ERR_PROPERTY_NOT_NULLABLE,
                   "%s.%U is %s and can't be None; declare it as `%s | None` to allow that",
                   class, property->name, type, type);
    } else if (property->type == RLM_PROPERTY_TYPE_OBJECT) {
        raise_code(property->state, RLM_ERR_PROPERTY_NOT_NULLABLE,
                   "%s.%U holds links to %U, and no None", class, property->name,
                   property->link_target);
    } else {
        raise_code(property->state, RLM_ERR_PROPERTY_NOT_NULLABLE,
                   "%s.%U holds %s and no None; declare it as `%s%s | None]` to allow that",
                   class, property->name, type, collection_begin(property->collection), type);
    }
    return -1;
}

int raise_range(Property *property, PyObject *value, const char *rule) {
    PyObject *text = short_repr(value);
    if (text) {
        PyErr_Clear();
        raise_code(property->state, RLM_ERR_RANGE_ERROR, "%s.%U: %U %s",
                   property->model ? property->model->text : "?", property->name, text, rule);
        Py_DECREF(text);
    }
    return -1;
}
