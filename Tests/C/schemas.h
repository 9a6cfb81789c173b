/* Schemas in one line of text, and realms that are opened with them, for tests of schema changes:
 *
 *   "Person{id:int#,name:string*,age:int?,friends:list<Person>,home:Address};Address!{street:string}"
 *
 * `!` behind a class: embedded. Behind a type: `?` nullable, `#` primary key, `*` indexed, `%` full
 * text. Links to one object, dictionaries of links and mixed values are nullable by themselves. */
#ifndef SCHEMAS_H
#define SCHEMAS_H

#include "values.h"

#include <unistd.h>

typedef struct spec {
    char text[4096];
    realm_class_info_t classes[16];
    realm_property_info_t properties[16][32];
} spec_t;

static inline realm_property_type_e type_named(const char *name) {
    static const struct {
        const char *name;
        realm_property_type_e type;
    } types[] = {
        {"int", RLM_PROPERTY_TYPE_INT},         {"bool", RLM_PROPERTY_TYPE_BOOL},
        {"string", RLM_PROPERTY_TYPE_STRING},   {"data", RLM_PROPERTY_TYPE_BINARY},
        {"mixed", RLM_PROPERTY_TYPE_MIXED},     {"date", RLM_PROPERTY_TYPE_TIMESTAMP},
        {"float", RLM_PROPERTY_TYPE_FLOAT},     {"double", RLM_PROPERTY_TYPE_DOUBLE},
        {"decimal", RLM_PROPERTY_TYPE_DECIMAL128}, {"oid", RLM_PROPERTY_TYPE_OBJECT_ID},
        {"uuid", RLM_PROPERTY_TYPE_UUID},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(types[i].name, name))
            return types[i].type;
    return RLM_PROPERTY_TYPE_OBJECT;
}

static inline realm_property_info_t property_in(char *text, realm_class_info_t *owner) {
    char *type = strchr(text, ':');
    *type++ = 0;
    realm_property_info_t info = property_of(text, RLM_PROPERTY_TYPE_INT, 0);
    for (size_t n = strlen(type); n > 0 && strchr("#*%", type[n - 1]); n = strlen(type)) {
        if (type[n - 1] == '#') {
            info.flags |= RLM_PROPERTY_PRIMARY_KEY;
            owner->primary_key = text;
        }
        if (type[n - 1] == '*')
            info.flags |= RLM_PROPERTY_INDEXED;
        if (type[n - 1] == '%')
            info.flags |= RLM_PROPERTY_FULLTEXT_INDEXED;
        type[n - 1] = 0;
    }
    char *inner = strchr(type, '<');
    if (inner) {
        info.collection_type = *type == 'l'   ? RLM_COLLECTION_TYPE_LIST
                               : *type == 's' ? RLM_COLLECTION_TYPE_SET
                                              : RLM_COLLECTION_TYPE_DICTIONARY;
        type = inner + 1;
        type[strlen(type) - 1] = 0;
    }
    size_t length = strlen(type);
    if (length && type[length - 1] == '?') {
        info.flags |= RLM_PROPERTY_NULLABLE;
        type[length - 1] = 0;
    }
    info.type = type_named(type);
    bool is_link = info.type == RLM_PROPERTY_TYPE_OBJECT;
    if (is_link)
        info.link_target = type;
    if (info.type == RLM_PROPERTY_TYPE_MIXED ||
        (is_link && (info.collection_type == RLM_COLLECTION_TYPE_NONE ||
                     info.collection_type == RLM_COLLECTION_TYPE_DICTIONARY)))
        info.flags |= RLM_PROPERTY_NULLABLE;
    return info;
}

/* The text up to `stop`, cut off; NULL at the end. */
static inline char *part(char **rest, char stop) {
    char *start = *rest;
    if (!start || !*start)
        return NULL;
    char *end = strchr(start, stop);
    if (end)
        *end = 0;
    *rest = end ? end + 1 : NULL;
    return start;
}

static inline realm_schema_t *schema_of(const char *text) {
    spec_t spec;
    snprintf(spec.text, sizeof spec.text, "%s", text);
    const realm_property_info_t *properties[16];
    size_t classes = 0;
    char *outer = spec.text;
    for (char *class; (class = part(&outer, ';'));) {
        char *body = strchr(class, '{');
        *body++ = 0;
        body[strlen(body) - 1] = 0;
        realm_class_info_t info = class_of(class, "", 0, 0);
        char *mark = strchr(class, '!');
        if (mark) {
            *mark = 0;
            info.flags = RLM_CLASS_EMBEDDED;
        }
        for (char *p; (p = part(&body, ','));)
            spec.properties[classes][info.num_properties++] = property_in(p, &info);
        spec.classes[classes] = info;
        properties[classes] = spec.properties[classes];
        classes++;
    }
    return realm_schema_new(spec.classes, classes, properties);
}

/* What opening says. Zero: automatic mode, version 1, no callbacks. */
typedef struct opening {
    uint64_t version;
    realm_schema_mode_e mode;
    realm_schema_subset_mode_e subset;
    realm_migration_func_t migrate;
    realm_data_initialization_func_t fill;
    void *userdata;
    bool mends;
    /* Takes the schema before it is used. */
    void (*change)(realm_schema_t *schema);
} opening_t;

/* NULL with an error where the library refuses. */
static inline realm_t *open_as(const char *path, const char *spec, opening_t opening) {
    realm_config_t *config = realm_config_new();
    realm_config_set_path(config, path);
    if (spec) {
        realm_schema_t *schema = schema_of(spec);
        CHECK(schema != NULL);
        if (opening.change)
            opening.change(schema);
        realm_config_set_schema(config, schema);
        realm_release(schema);
        realm_config_set_schema_version(config, opening.version ? opening.version : 1);
    }
    realm_config_set_schema_mode(config, opening.mode);
    realm_config_set_schema_subset_mode(config, opening.subset);
    if (opening.migrate)
        realm_config_set_migration_function(config, opening.migrate, opening.userdata, NULL);
    if (opening.fill)
        realm_config_set_data_initialization_function(config, opening.fill, opening.userdata, NULL);
    realm_config_set_automatic_backlink_handling(config, opening.mends);
    realm_t *realm = realm_open(config);
    realm_release(config);
    return realm;
}
#define OPEN(path, spec, ...) open_as(path, spec, (opening_t){__VA_ARGS__})

static inline void shut(realm_t *realm) {
    realm_close(realm);
    realm_release(realm);
}

static inline void print_problem(void *userdata, const char *message) {
    (void)userdata;
    fprintf(stderr, "    check: %s\n", message);
}
/* The file has nothing that `realm_check_file()` minds. */
#define SOUND(path)                                                                               \
    do {                                                                                          \
        size_t problems_ = 1;                                                                     \
        SUCCEEDS(realm_check_file(path, print_problem, NULL, &problems_));                        \
        CHECK(problems_ == 0);                                                                    \
    } while (0)

static inline realm_class_key_t class_in(realm_t *realm, const char *name) {
    bool found = false;
    realm_class_info_t info = {0};
    CHECK(realm_find_class(realm, name, &found, &info));
    return found ? info.key : RLM_INVALID_CLASS_KEY;
}
static inline bool has_property(realm_t *realm, const char *class, const char *name,
                                realm_property_info_t *info) {
    bool found = false;
    CHECK(realm_find_property(realm, class_in(realm, class), name, &found, info));
    return found;
}
static inline realm_property_key_t key_in(realm_t *realm, const char *class, const char *name) {
    realm_property_info_t info = {0};
    return has_property(realm, class, name, &info) ? info.key : RLM_INVALID_PROPERTY_KEY;
}
/* In a write transaction; the handle is to be released. */
static inline realm_object_t *make(realm_t *realm, const char *class, const char *json) {
    realm_object_t *object = realm_object_create_from_json(
        realm, class_in(realm, class), json, RLM_UPDATE_NEVER, 0);
    realm_error_t error;
    if (!object && realm_get_last_error(&error))
        fprintf(stderr, "    %s: %s\n", json, error.message);
    CHECK(object != NULL);
    return object;
}
static inline void add(realm_t *realm, const char *class, const char *json) {
    realm_release(make(realm, class, json));
}
/* The first object that a query finds, or NULL. */
static inline realm_object_t *first(realm_t *realm, const char *class, const char *query) {
    realm_query_t *parsed = realm_query_parse(realm, class_in(realm, class), query, 0, NULL);
    realm_error_t error;
    if (!parsed && realm_get_last_error(&error))
        fprintf(stderr, "    %s: %s\n", query, error.message);
    CHECK(parsed != NULL);
    if (!parsed)
        return NULL;
    bool found = false;
    realm_value_t value;
    CHECK(realm_query_find_first(parsed, &value, &found));
    realm_release(parsed);
    return found ? realm_get_object(realm, value.link.target_table, value.link.target) : NULL;
}
static inline size_t count(realm_t *realm, const char *class, const char *query) {
    realm_query_t *parsed = realm_query_parse(realm, class_in(realm, class), query, 0, NULL);
    realm_error_t error;
    if (!parsed && realm_get_last_error(&error))
        fprintf(stderr, "    %s: %s\n", query, error.message);
    size_t n = SIZE_MAX;
    if (parsed)
        CHECK(realm_query_count(parsed, &n));
    realm_release(parsed);
    return n;
}
/* The object as JSON is this text. */
static inline void check_json(realm_object_t *object, const char *expected, const char *file,
                              int line) {
    char *json = object ? realm_object_to_json(object, 0, 0) : NULL;
    bool same = json && !strcmp(json, expected);
    if (!same)
        fprintf(stderr, "    %s\n    expected %s\n", json ? json : "no object", expected);
    check_at(same, "JSON of the object", file, line);
    realm_free(json);
    realm_release(object);
}
#define JSON(object, expected) check_json(object, expected, __FILE__, __LINE__)

#endif
