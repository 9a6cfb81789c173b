/* Defaults of model classes as the engine asks for them: as JSON, for objects that it creates from JSON
 * and by copying, and for those that are there when a property is added. */
#include "handles/handles.h"

#include <stdlib.h>
#include <string.h>

/* The JSON text of a default, as a copy made with malloc(); NULL with an exception. */
static char *text_of_default(Property *property) {
    char *copy = NULL;
    PyObject *value = property_default(property), *text = NULL;
    if (value) {
        text = PyObject_CallFunctionObjArgs(property->state->default_to_json, property, value,
                                            NULL);
    }
    Py_ssize_t size = 0;
    const char *utf8 = text ? PyUnicode_AsUTF8AndSize(text, &size) : NULL;
    if (utf8) {
        copy = malloc((size_t)size + 1);
        if (copy) memcpy(copy, utf8, (size_t)size + 1);
        else PyErr_NoMemory();
    }
    Py_XDECREF(text);
    Py_XDECREF(value);
    return copy;
}

/* Called by the engine in one of the calls above, or in a migration; an exception stays set. */
static char *default_text(void *userdata) {
    char *text;
    CALLBACK_BEGIN
    text = text_of_default(userdata);
    CALLBACK_END
    return text;
}

/* Called when the engine forgets the schema: on any thread, with the GIL or without. */
static void drop_property(void *userdata) {
    if (!Py_IsInitialized()) return;
    PyGILState_STATE state = PyGILState_Ensure();
    Py_DECREF((PyObject *)userdata);
    PyGILState_Release(state);
}

int schema_add_defaults(State *state, realm_schema_t *schema, Model *model) {
    for (size_t i = 0; i < model->count; i++) {
        Property *property = model->properties[i];
        if (!property->default_value && !property->default_factory) continue;
        if (!property->default_factory) {
            /* One text for all: objects that are there when a property is added share it. */
            char *text = text_of_default(property);
            bool done = text &&
                        realm_schema_set_default(schema, model->stored, property->stored, text);
            free(text);
            if (done) continue;
            raise_engine(state, "the default of %s.%s", model->text, property->text);
            return -1;
        }
        if (!realm_schema_set_default_func(schema, model->stored, property->stored, default_text,
                                           Py_NewRef((PyObject *)property), drop_property)) {
            raise_engine(state, "the default of %s.%s", model->text, property->text);
            return -1;
        }
    }
    return 0;
}
