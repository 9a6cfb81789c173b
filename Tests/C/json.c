/* Mixed values from JSON text. */
#include "people.h"

static void check_text(realm_object_t *object, const char *expected) {
    char *text = realm_object_to_string(object);
    CHECK(text != NULL);
    if (strcmp(text, expected) != 0) {
        fprintf(stderr, "got      %s\nexpected %s\n", text, expected);
        exit(1);
    }
    realm_free(text);
}

static realm_t *open_boxes(const char *path) {
    realm_property_info_t box[] = {
        property_of("any", RLM_PROPERTY_TYPE_MIXED, RLM_PROPERTY_NULLABLE),
        property_of("name", RLM_PROPERTY_TYPE_STRING, 0),
    };
    realm_class_info_t classes[] = {class_of("Box", "", 2, 0)};
    const realm_property_info_t *properties[] = {box};
    realm_schema_t *schema = realm_schema_new(classes, 1, properties);
    realm_config_t *config = realm_config_new();
    realm_config_set_path(config, path);
    realm_config_set_schema(config, schema);
    realm_config_set_schema_version(config, 1);
    realm_t *realm = realm_open(config);
    CHECK(realm != NULL);
    realm_release(schema);
    realm_release(config);
    return realm;
}

/* `count` opening brackets and as many closing ones. */
static char *nested(size_t count) {
    char *text = malloc(2 * count + 1);
    memset(text, '[', count);
    memset(text + count, ']', count);
    text[2 * count] = 0;
    return text;
}

static void mixed(void) {
    realm_t *realm = open_boxes("json.realm");
    realm_class_key_t box = class_key(realm, "Box");
    realm_property_key_t any = property_key(realm, box, "any");
    realm_property_key_t name = property_key(realm, box, "name");
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *one = realm_object_create(realm, box);
    realm_value_t v;

    SUCCEEDS(realm_set_json(one, any, " 12 "));
    SUCCEEDS(realm_get_value(one, any, &v));
    CHECK(v.type == RLM_TYPE_INT && v.integer == 12);
    SUCCEEDS(realm_set_json(one, any, "1.0"));
    SUCCEEDS(realm_get_value(one, any, &v));
    CHECK(v.type == RLM_TYPE_DOUBLE && v.dnum == 1.0);
    SUCCEEDS(realm_set_json(one, any, "18446744073709551615"));
    SUCCEEDS(realm_get_value(one, any, &v));
    CHECK(v.type == RLM_TYPE_INT && v.integer == -1);
    SUCCEEDS(realm_set_json(one, any, "18446744073709551616"));
    SUCCEEDS(realm_get_value(one, any, &v));
    CHECK(v.type == RLM_TYPE_DOUBLE && v.dnum == 18446744073709551616.0);
    SUCCEEDS(realm_set_json(one, any, "-9223372036854775809"));
    SUCCEEDS(realm_get_value(one, any, &v));
    CHECK(v.type == RLM_TYPE_DOUBLE && v.dnum == -9223372036854775808.0);
    SUCCEEDS(realm_set_json(one, any, "false"));
    SUCCEEDS(realm_get_value(one, any, &v));
    CHECK(v.type == RLM_TYPE_BOOL && !v.boolean);
    SUCCEEDS(realm_set_json(one, any, "\"\\ud83d\\ude00\""));
    SUCCEEDS(realm_get_value(one, any, &v));
    CHECK(v.type == RLM_TYPE_STRING && v.string.size == 4);
    SUCCEEDS(realm_set_json(one, any, "null"));
    SUCCEEDS(realm_get_value(one, any, &v));
    CHECK(v.type == RLM_TYPE_NULL);

    /* Arrays replace, objects merge into a dictionary. */
    SUCCEEDS(realm_set_json(one, any, "[1,[2,{\"a\":[]}],\"x\"]"));
    check_text(one, "{\"_key\":0,\"any\":[1,[2,{\"a\":[]}],\"x\"],\"name\":\"\"}");
    SUCCEEDS(realm_set_json(one, any, "[true]"));
    check_text(one, "{\"_key\":0,\"any\":[true],\"name\":\"\"}");
    SUCCEEDS(realm_set_json(one, any, "{\"a\":1,\"b\":{\"c\":[1]}}"));
    SUCCEEDS(realm_set_json(one, any, "{\"b\":{\"d\":2,\"c\":[3]},\"e\":null}"));
    check_text(one, "{\"_key\":0,\"any\":{\"a\":1,\"b\":{\"c\":[3],\"d\":2},\"e\":null},"
                    "\"name\":\"\"}");

    /* What is wrong changes nothing. */
    const char *bad[] = {"", " ", "{", "[1,2", "1 2", "nul", "{\"a\":1e999}", "[-1e999]", "\"\xff\"",
                         "\"\\ud800\"", "{'a':1}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        FAILS(RLM_ERR_MALFORMED_JSON, realm_set_json(one, any, bad[i]));
    }
    FAILS(RLM_ERR_INVALID_DICTIONARY_KEY, realm_set_json(one, any, "{\"x\":1,\"$y\":2}"));
    FAILS(RLM_ERR_INVALID_DICTIONARY_KEY, realm_set_json(one, any, "{\"a\":[{\"x.y\":2}]}"));
    char *deep = nested(101);
    FAILS(RLM_ERR_LIMIT_EXCEEDED, realm_set_json(one, any, deep));
    free(deep);
    deep = nested(100000);
    FAILS(RLM_ERR_LIMIT_EXCEEDED, realm_set_json(one, any, deep));
    free(deep);
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_set_json(one, name, "\"x\""));
    FAILS(RLM_ERR_INVALID_PROPERTY, realm_set_json(one, -1, "1"));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_set_json(one, any, NULL));
    check_text(one, "{\"_key\":0,\"any\":{\"a\":1,\"b\":{\"c\":[3],\"d\":2},\"e\":null},"
                    "\"name\":\"\"}");
    deep = nested(100);
    SUCCEEDS(realm_set_json(one, any, deep));
    free(deep);

    /* Adding to integers in mixed values: null and other types are refused. */
    SUCCEEDS(realm_set_json(one, any, "9223372036854775807"));
    SUCCEEDS(realm_object_add_int(one, any, 1));
    SUCCEEDS(realm_get_value(one, any, &v));
    CHECK(v.type == RLM_TYPE_INT && v.integer == INT64_MIN);
    SUCCEEDS(realm_object_add_int(one, any, -1));
    SUCCEEDS(realm_get_value(one, any, &v));
    CHECK(v.integer == INT64_MAX);
    const char *no_ints[] = {"null", "1.5", "\"1\"", "true", "[1]", "{\"a\":1}"};
    for (size_t i = 0; i < 6; i++) {
        SUCCEEDS(realm_set_json(one, any, no_ints[i]));
        FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_object_add_int(one, any, 1));
    }
    SUCCEEDS(realm_set_json(one, any, "1"));
    SUCCEEDS(realm_commit(realm));

    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_object_add_int(one, any, 1));
    FAILS(RLM_ERR_MALFORMED_JSON, realm_set_json(one, any, "["));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_set_json(one, any, "1"));
    SUCCEEDS(realm_begin_write(realm));
    SUCCEEDS(realm_object_delete(one));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_set_json(one, any, "1"));
    SUCCEEDS(realm_rollback(realm));
    realm_release(one);
    realm_release(realm);
}

int main(void) {
    mixed();
    return check_end("json");
}
