/* What the C programs of these tests share: the class Shared of test_interop.py, and failing. */
#include <realm.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *what) {
    realm_error_t error = {0};
    if (realm_get_last_error(&error)) {
        fprintf(stderr, "%s: %d %s\n", what, (int)error.error, error.message);
    } else {
        fprintf(stderr, "%s: no error set\n", what);
    }
    exit(1);
}

enum { P_ID, P_NAME, P_SCORE, P_WEIGHT, P_ACTIVE, P_DATA, P_BORN, P_FRIEND, P_COUNT };

static realm_schema_t *shared_schema(void) {
    static const realm_property_info_t properties[P_COUNT] = {
        {"id", "", RLM_PROPERTY_TYPE_INT, 0, "", "", 0, RLM_PROPERTY_PRIMARY_KEY},
        {"name", "", RLM_PROPERTY_TYPE_STRING, 0, "", "", 0, RLM_PROPERTY_INDEXED},
        {"score", "", RLM_PROPERTY_TYPE_DOUBLE, 0, "", "", 0, RLM_PROPERTY_NULLABLE},
        {"weight", "", RLM_PROPERTY_TYPE_FLOAT, 0, "", "", 0, 0},
        {"active", "", RLM_PROPERTY_TYPE_BOOL, 0, "", "", 0, 0},
        {"data", "", RLM_PROPERTY_TYPE_BINARY, 0, "", "", 0, RLM_PROPERTY_NULLABLE},
        {"born", "", RLM_PROPERTY_TYPE_TIMESTAMP, 0, "", "", 0, 0},
        {"friend", "", RLM_PROPERTY_TYPE_OBJECT, 0, "Shared", "", 0, RLM_PROPERTY_NULLABLE},
    };
    const realm_class_info_t class = {"Shared", "id", P_COUNT, 0, 0, RLM_CLASS_NORMAL};
    const realm_property_info_t *lists[] = {properties};
    realm_schema_t *schema = realm_schema_new(&class, 1, lists);
    if (!schema) fail("realm_schema_new");
    return schema;
}

typedef struct {
    realm_t *realm;
    realm_class_key_t class_key;
    realm_property_key_t keys[P_COUNT];
} shared_t;

static shared_t shared_open(const char *path) {
    shared_t shared;
    realm_config_t *config = realm_config_new();
    realm_schema_t *schema = shared_schema();
    realm_config_set_path(config, path);
    realm_config_set_schema(config, schema);
    realm_config_set_schema_version(config, 0);
    shared.realm = realm_open(config);
    if (!shared.realm) fail("realm_open");
    realm_release(schema);
    realm_release(config);
    bool found = false;
    realm_class_info_t info;
    if (!realm_find_class(shared.realm, "Shared", &found, &info) || !found) fail("no Shared");
    shared.class_key = info.key;
    static const char *names[P_COUNT] = {"id",     "name", "score", "weight",
                                         "active", "data", "born",  "friend"};
    for (int i = 0; i < P_COUNT; i++) {
        realm_property_info_t property;
        if (!realm_find_property(shared.realm, info.key, names[i], &found, &property) || !found) {
            fail(names[i]);
        }
        shared.keys[i] = property.key;
    }
    return shared;
}
