/* What properties are and what they are called: names of types, collections and modes, and defaults.
 * The type of properties in Python, which reads and writes them, is in property.c. */
#include "handles/handles.h"

const char *property_type_name(int type) {
    switch (type) {
    case RLM_PROPERTY_TYPE_INT: return "int";
    case RLM_PROPERTY_TYPE_BOOL: return "bool";
    case RLM_PROPERTY_TYPE_STRING: return "str";
    case RLM_PROPERTY_TYPE_BINARY: return "bytes";
    case RLM_PROPERTY_TYPE_TIMESTAMP: return "datetime";
    case RLM_PROPERTY_TYPE_FLOAT: return "Float32";
    case RLM_PROPERTY_TYPE_DOUBLE: return "float";
    case RLM_PROPERTY_TYPE_OBJECT: return "link";
    case RLM_PROPERTY_TYPE_DECIMAL128: return "Decimal";
    case RLM_PROPERTY_TYPE_OBJECT_ID: return "ObjectId";
    case RLM_PROPERTY_TYPE_UUID: return "UUID";
    case RLM_PROPERTY_TYPE_MIXED: return "Any";
    default: return "unknown";
    }
}

const char *collection_begin(int collection) {
    switch (collection) {
    case RLM_COLLECTION_TYPE_LIST: return "list[";
    case RLM_COLLECTION_TYPE_SET: return "set[";
    case RLM_COLLECTION_TYPE_DICTIONARY: return "dict[str, ";
    default: return "";
    }
}

const char *collection_end(int collection) { return collection ? "]" : ""; }

PyObject *property_type_text(Property *property) {
    if (property->form) return PyObject_GetAttrString(property->form, "__name__");
    return PyUnicode_FromString(property_type_name(property->type));
}

PyObject *property_default(Property *self) {
    if (self->default_factory) return PyObject_CallNoArgs(self->default_factory);
    return Py_XNewRef(self->default_value);
}

int schema_mode_named(State *state, PyObject *name, realm_schema_mode_e *mode) {
    static const struct {
        const char *name;
        realm_schema_mode_e mode;
    } modes[] = {{"automatic", RLM_SCHEMA_MODE_AUTOMATIC},
                 {"manual", RLM_SCHEMA_MODE_MANUAL},
                 {"additive_discovered", RLM_SCHEMA_MODE_ADDITIVE_DISCOVERED},
                 {"additive_explicit", RLM_SCHEMA_MODE_ADDITIVE_EXPLICIT},
                 {"read_only", RLM_SCHEMA_MODE_READ_ONLY},
                 {"immutable", RLM_SCHEMA_MODE_IMMUTABLE},
                 {"soft_reset", RLM_SCHEMA_MODE_SOFT_RESET_FILE},
                 {"hard_reset", RLM_SCHEMA_MODE_HARD_RESET_FILE}};
    if (!PyUnicode_Check(name)) {
        raise_code(state, MISUSE, "a schema mode is a str, not %R", name);
        return -1;
    }
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (PyUnicode_CompareWithASCIIString(name, modes[i].name) == 0) {
            *mode = modes[i].mode;
            return 0;
        }
    }
    raise_code(state, RLM_ERR_ILLEGAL_COMBINATION,
               "no schema mode %R; there are automatic, manual, additive_discovered, "
               "additive_explicit, read_only, immutable, soft_reset and hard_reset", name);
    return -1;
}
