/* A realm that the tests of open realms share: people with all property types that can be
 * stored, their departments, and notes without a primary key. */
#ifndef PEOPLE_H
#define PEOPLE_H

#include "values.h"

#include <unistd.h>

/* Opens, or ends the program; the config is released. */
static inline realm_t *open_or_exit(realm_config_t *config) {
    realm_clear_last_error();
    realm_t *realm = realm_open(config);
    realm_error_t error;
    if (!realm && realm_get_last_error(&error)) {
        fprintf(stderr, "cannot open %s: %d %s\n", realm_config_get_path(config),
                (int)error.error, error.message);
        exit(1);
    }
    realm_release(config);
    return realm;
}

/* At version 1 of the schema, which is released here; NULL: the schema of the file. */
static inline realm_config_t *config_with(const char *path, realm_schema_t *schema) {
    realm_config_t *config = realm_config_new();
    realm_config_set_path(config, path);
    if (schema) {
        realm_config_set_schema(config, schema);
        realm_config_set_schema_version(config, 1);
    }
    realm_release(schema);
    return config;
}
static inline realm_t *open_with(const char *path, realm_schema_t *schema) {
    return open_or_exit(config_with(path, schema));
}

static inline realm_schema_t *people_schema(void) {
    const int nullable = RLM_PROPERTY_NULLABLE;
    realm_property_info_t person[] = {
        property_of("_id", RLM_PROPERTY_TYPE_INT, RLM_PROPERTY_PRIMARY_KEY),
        property_of("name", RLM_PROPERTY_TYPE_STRING, RLM_PROPERTY_INDEXED),
        property_of("age", RLM_PROPERTY_TYPE_INT, nullable),
        property_of("score", RLM_PROPERTY_TYPE_DOUBLE, 0),
        property_of("ratio", RLM_PROPERTY_TYPE_FLOAT, 0),
        property_of("active", RLM_PROPERTY_TYPE_BOOL, 0),
        property_of("data", RLM_PROPERTY_TYPE_BINARY, nullable),
        property_of("born", RLM_PROPERTY_TYPE_TIMESTAMP, nullable),
        link_of("boss", "Person"),
        link_of("dept", "Dept"),
        backlinks_of("staff", "Person", "boss"),
    };
    person[2].public_name = "years";
    realm_property_info_t dept[] = {
        property_of("name", RLM_PROPERTY_TYPE_STRING, RLM_PROPERTY_PRIMARY_KEY | nullable),
        property_of("budget", RLM_PROPERTY_TYPE_INT, 0),
        backlinks_of("members", "Person", "dept"),
    };
    realm_property_info_t note[] = {
        property_of("text", RLM_PROPERTY_TYPE_STRING, nullable),
    };
    realm_class_info_t classes[] = {
        class_of("Person", "_id", 10, 1),
        class_of("Dept", "name", 2, 1),
        class_of("Note", "", 1, 0),
    };
    const realm_property_info_t *properties[] = {person, dept, note};
    return realm_schema_new(classes, 3, properties);
}

static inline realm_config_t *people_config(const char *path) {
    return config_with(path, people_schema());
}
static inline realm_t *open_people(const char *path) {
    return open_or_exit(people_config(path));
}

/* Keys of the schema above. */
typedef struct keys {
    realm_class_key_t person, dept, note;
    realm_property_key_t id, name, age, score, ratio, active, data, born, boss, of_dept, staff;
    realm_property_key_t dept_name, budget, text;
} keys_t;

static inline realm_class_key_t class_key(realm_t *realm, const char *name) {
    bool found = false;
    realm_class_info_t info;
    CHECK(realm_find_class(realm, name, &found, &info) && found);
    return found ? info.key : RLM_INVALID_CLASS_KEY;
}
static inline realm_property_key_t property_key(realm_t *realm, realm_class_key_t class,
                                                const char *name) {
    bool found = false;
    realm_property_info_t info;
    CHECK(realm_find_property(realm, class, name, &found, &info) && found);
    return found ? info.key : RLM_INVALID_PROPERTY_KEY;
}
static inline keys_t keys_of(realm_t *realm) {
    keys_t k;
    k.person = class_key(realm, "Person");
    k.dept = class_key(realm, "Dept");
    k.note = class_key(realm, "Note");
    k.id = property_key(realm, k.person, "_id");
    k.name = property_key(realm, k.person, "name");
    k.age = property_key(realm, k.person, "age");
    k.score = property_key(realm, k.person, "score");
    k.ratio = property_key(realm, k.person, "ratio");
    k.active = property_key(realm, k.person, "active");
    k.data = property_key(realm, k.person, "data");
    k.born = property_key(realm, k.person, "born");
    k.boss = property_key(realm, k.person, "boss");
    k.of_dept = property_key(realm, k.person, "dept");
    k.staff = property_key(realm, k.person, "staff");
    k.dept_name = property_key(realm, k.dept, "name");
    k.budget = property_key(realm, k.dept, "budget");
    k.text = property_key(realm, k.note, "text");
    return k;
}

/* A person with number `id`, name "person-<id>", age id % 100 and score id / 2.0. */
static inline realm_object_t *make_person(realm_t *realm, const keys_t *k, int64_t id) {
    char name[32];
    snprintf(name, sizeof name, "person-%lld", (long long)id);
    realm_object_t *person =
        realm_object_create_with_primary_key(realm, k->person, of_int(id));
    CHECK(person != NULL);
    realm_property_key_t keys[] = {k->name, k->age, k->score};
    realm_value_t values[] = {of_text(name), of_int(id % 100), of_double((double)id / 2)};
    CHECK(realm_set_values(person, 3, keys, values, false));
    return person;
}
/* Those with these numbers, in one transaction. */
static inline void make_people(realm_t *realm, const keys_t *k, int64_t first, int64_t last) {
    CHECK(realm_begin_write(realm));
    for (int64_t id = first; id < last; id++) realm_release(make_person(realm, k, id));
    CHECK(realm_commit(realm));
}

#endif
