/* The module realm._realm: its state, its types, and the functions that belong to no object. */
#include "realms/realms.h"

static PyObject *delete_files(PyObject *module, PyObject *argument) {
    State *state = PyModule_GetState(module);
    PyObject *path = NULL;
    bool done, deleted = false;
    if (!understood(state, PyUnicode_FSConverter(argument, &path))) return NULL;
    const char *text = PyBytes_AsString(path);
    Py_BEGIN_ALLOW_THREADS
    done = realm_delete_files(text, &deleted);
    Py_END_ALLOW_THREADS
    Py_DECREF(path);
    if (done) return PyBool_FromLong(deleted);
    raise_engine(state, "deleting %R", argument);
    return NULL;
}

static PyObject *set_log_level(PyObject *module, PyObject *args) {
    (void)module;
    int level;
    if (!PyArg_ParseTuple(args, "i:_set_log_level", &level)) return NULL;
    realm_set_log_level((realm_log_level_e)level);
    Py_RETURN_NONE;
}

/* What realm/_collections.py and realm/_model.py add to this module. */
static PyObject *set_collection_classes(PyObject *module, PyObject *args) {
    State *state = PyModule_GetState(module);
    PyObject *list, *set, *dictionary, *find_target;
    if (!PyArg_ParseTuple(args, "O!O!O!O:_set_collection_classes", &PyType_Type, &list,
                          &PyType_Type, &set, &PyType_Type, &dictionary, &find_target)) {
        return NULL;
    }
    replace_reference(&state->list_class, Py_NewRef(list));
    replace_reference(&state->set_class, Py_NewRef(set));
    replace_reference(&state->dictionary_class, Py_NewRef(dictionary));
    replace_reference(&state->find_target, Py_NewRef(find_target));
    Py_RETURN_NONE;
}

static PyObject *set_make_path(PyObject *module, PyObject *function) {
    State *state = PyModule_GetState(module);
    replace_reference(&state->make_path, Py_NewRef(function));
    Py_RETURN_NONE;
}

static PyObject *set_default_to_json(PyObject *module, PyObject *function) {
    State *state = PyModule_GetState(module);
    replace_reference(&state->default_to_json, Py_NewRef(function));
    Py_RETURN_NONE;
}

static PyMethodDef module_methods[] = {
    {"delete_files", delete_files, METH_O,
     "delete_files(path, /)\n--\n\n"
     "Deletes a realm's files; False if there were none. Fails while the realm is open anywhere."},
    {"check_file", check_file, METH_VARARGS,
     "check_file(path, encryption_key=None, /)\n--\n\n"
     "The problems of a realm's file as texts; none means that every block of it is sound."},
    {"change_encryption_key", change_encryption_key, METH_VARARGS,
     "change_encryption_key(path, old_key, new_key, /)\n--\n\n"
     "Encrypts a realm's file with another key; None stands for none."},
    {"import_realm_core", import_realm_core, METH_VARARGS,
     "import_realm_core(old, new, key, new_key, even_in_use, progress, /)\n--\n\n"
     "Makes a realm's file of one of realm-core; the report as JSON text."},
    {"_cancel_opening", cancel_opening, METH_O, NULL},
    {"_set_make_path", set_make_path, METH_O, NULL},
    {"_set_default_to_json", set_default_to_json, METH_O, NULL},
    {"_set_collection_classes", set_collection_classes, METH_VARARGS, NULL},
    {"_set_log_level", set_log_level, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};

static PyTypeObject *add_type(PyObject *module, PyType_Spec *spec) {
    PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);
    if (!type) return NULL;
    if (PyModule_AddType(module, (PyTypeObject *)type) < 0) Py_CLEAR(type);
    return (PyTypeObject *)type;
}

static PyObject *import_attribute(const char *module_name, const char *attribute) {
    PyObject *module = PyImport_ImportModule(module_name);
    if (!module) return NULL;
    PyObject *value = PyObject_GetAttrString(module, attribute);
    Py_DECREF(module);
    return value;
}

static PyObject *import_utc(void) {
    PyObject *zone = import_attribute("datetime", "timezone");
    if (!zone) return NULL;
    PyObject *utc = PyObject_GetAttrString(zone, "utc");
    Py_DECREF(zone);
    return utc;
}

static PyObject *make_epoch(State *state) {
    return PyObject_CallFunction(state->datetime_type, "iiiiiiiO", 1970, 1, 1, 0, 0, 0, 0,
                                 state->utc);
}

static int module_exec(PyObject *module) {
    State *state = PyModule_GetState(module);
    if (watch_forks() < 0 || !(state->property_type = add_type(module, &property_spec)) ||
        !(state->model_type = add_type(module, &model_spec)) ||
        !(state->object_type = add_type(module, &object_spec)) ||
        !(state->realm_type = add_type(module, &realm_spec)) ||
        !(state->results_type = add_type(module, &results_spec)) ||
        !(state->iterator_type = add_type(module, &iterator_spec)) ||
        !(state->pairs_type = add_type(module, &pairs_spec)) ||
        !(state->list_type = add_type(module, &list_spec)) ||
        !(state->set_type = add_type(module, &set_spec)) ||
        !(state->dictionary_type = add_type(module, &dictionary_spec)) ||
        !(state->collection_iterator_type = add_type(module, &collection_iterator_spec)) ||
        !(state->token_type = add_type(module, &token_spec)) ||
        !(state->make_error = import_attribute("realm._errors", "make_error")) ||
        !(state->misuse = import_attribute("realm._errors", "misuse")) ||
        !(state->add_place = import_attribute("realm._errors", "add_place")) ||
        !(state->datetime_type = import_attribute("datetime", "datetime")) ||
        !(state->timedelta_type = import_attribute("datetime", "timedelta")) ||
        !(state->date_type = import_attribute("datetime", "date")) ||
        !(state->enum_type = import_attribute("enum", "Enum")) ||
        !(state->decimal_type = import_attribute("decimal", "Decimal")) ||
        !(state->uuid_type = import_attribute("uuid", "UUID")) ||
        !(state->object_id_type = import_attribute("realm._values", "ObjectId")) ||
        !(state->decimal_to_bytes = import_attribute("realm._values", "decimal_to_bytes")) ||
        !(state->decimal_from_bytes = import_attribute("realm._values", "decimal_from_bytes")) ||
        !(state->name_bytes = PyUnicode_InternFromString("bytes")) ||
        !(state->utc = import_utc()) ||
        !(state->epoch = make_epoch(state)) ||
        !(state->name_model = PyUnicode_InternFromString("__realm_model__")) ||
        !(state->name_update = PyUnicode_InternFromString("update")) ||
        !(state->name_days = PyUnicode_InternFromString("days")) ||
        !(state->name_seconds = PyUnicode_InternFromString("seconds")) ||
        !(state->name_microseconds = PyUnicode_InternFromString("microseconds")) ||
        !(state->name_tzinfo = PyUnicode_InternFromString("tzinfo"))) {
        return -1;
    }
    return PyModule_AddStringConstant(module, "library_version", realm_get_library_version());
}

#define STATE_MEMBERS(apply)                                                                       \
    apply(property_type) apply(model_type) apply(object_type) apply(realm_type)                    \
    apply(results_type) apply(iterator_type) apply(pairs_type) apply(token_type) apply(make_error) \
    apply(datetime_type) apply(add_place) apply(misuse)                                    \
    apply(list_type) apply(set_type) apply(dictionary_type) apply(collection_iterator_type)        \
    apply(list_class) apply(set_class) apply(dictionary_class) apply(find_target) apply(make_path) \
    apply(decimal_type) apply(uuid_type) apply(object_id_type) apply(decimal_to_bytes)             \
    apply(decimal_from_bytes) apply(name_bytes) apply(timedelta_type) apply(utc) apply(epoch)      \
    apply(date_type) apply(enum_type)                                                              \
    apply(name_model) apply(name_update) apply(default_to_json)                                    \
    apply(name_days) apply(name_seconds) apply(name_microseconds) apply(name_tzinfo)

static int module_traverse(PyObject *module, visitproc visit, void *arg) {
    State *state = PyModule_GetState(module);
#define VISIT_MEMBER(member) Py_VISIT(state->member);
    STATE_MEMBERS(VISIT_MEMBER)
    return 0;
}

static int module_clear(PyObject *module) {
    State *state = PyModule_GetState(module);
#define CLEAR_MEMBER(member) Py_CLEAR(state->member);
    STATE_MEMBERS(CLEAR_MEMBER)
    return 0;
}

static void module_free(void *module) { module_clear(module); }

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, module_exec}, {0, NULL}};

static struct PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "realm._realm",
    .m_doc = "Handles and conversions between Python and librealm. Use the package realm.",
    .m_size = sizeof(State),
    .m_methods = module_methods,
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
    .m_free = module_free,
};

PyMODINIT_FUNC PyInit__realm(void) { return PyModuleDef_Init(&module_definition); }
