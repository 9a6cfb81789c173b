/* Mixed values from JSON text; objects from JSON, to it, and copied between realms. */
#include "people.h"

static size_t count_of_class(realm_t *realm, realm_class_key_t class) {
    size_t count = SIZE_MAX;
    CHECK(realm_get_num_objects(realm, class, &count));
    return count;
}

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

/* ---- whole objects ---- */

static void check_json(realm_object_t *object, size_t depth, int flags, const char *expected) {
    char *text = realm_object_to_json(object, depth, flags);
    CHECK(text != NULL);
    if (text && strcmp(text, expected) != 0) {
        fprintf(stderr, "got      %s\nexpected %s\n", text, expected);
        exit(1);
    }
    realm_free(text);
}

/* Counts its calls; every third one fails. */
static char *next_rank(void *userdata) {
    int *calls = userdata;
    if (++*calls % 3 == 0) return NULL;
    char *text = malloc(8);
    snprintf(text, 8, "%d", *calls);
    return text;
}

static int calls = 0, freed = 0;
static void note_freed(void *userdata) {
    CHECK(userdata == &calls);
    freed++;
}

static void computed_defaults(void) {
    realm_property_info_t item[] = {property_of("rank", RLM_PROPERTY_TYPE_INT, 0)};
    realm_class_info_t classes[] = {class_of("Item", "", 1, 0)};
    const realm_property_info_t *properties[] = {item};
    realm_schema_t *schema = realm_schema_new(classes, 1, properties);
    FAILS(RLM_ERR_INVALID_PROPERTY,
          realm_schema_set_default_func(schema, "Item", "none", next_rank, &calls, note_freed));
    CHECK(freed == 1);
    SUCCEEDS(realm_schema_set_default_func(schema, "Item", "rank", next_rank, &calls, note_freed));
    realm_config_t *config = realm_config_new();
    realm_config_set_path(config, "items.realm");
    realm_config_set_schema(config, schema);
    realm_config_set_schema_version(config, 1);
    realm_t *realm = realm_open(config);
    realm_release(schema);
    realm_release(config);
    CHECK(realm && freed == 1);
    realm_class_key_t class = class_key(realm, "Item");
    SUCCEEDS(realm_begin_write(realm));
    for (int i = 1; i <= 3; i++) {
        if (i == 3) {
            FAILS(RLM_ERR_CALLBACK,
                  realm_object_create_from_json(realm, class, "{}", RLM_UPDATE_NEVER, 0));
            break;
        }
        realm_object_t *object =
            realm_object_create_from_json(realm, class, "{}", RLM_UPDATE_NEVER, 0);
        realm_value_t v;
        CHECK(object && realm_get_value(object, property_key(realm, class, "rank"), &v));
        CHECK(v.integer == i);
        realm_release(object);
    }
    CHECK(count_of_class(realm, class) == 2);
    SUCCEEDS(realm_commit(realm));
    realm_close(realm);
    realm_release(realm);
    CHECK(freed == 2);
}

static realm_t *open_nodes(const char *path, bool with_rank) {
    realm_property_info_t node[] = {
        property_of("name", RLM_PROPERTY_TYPE_STRING, RLM_PROPERTY_PRIMARY_KEY),
        property_of("born", RLM_PROPERTY_TYPE_TIMESTAMP, RLM_PROPERTY_NULLABLE),
        link_of("next", "Node"),
        link_of("part", "Part"),
        property_of("rank", RLM_PROPERTY_TYPE_INT, 0),
    };
    realm_property_info_t part[] = {property_of("size", RLM_PROPERTY_TYPE_INT, 0)};
    realm_class_info_t classes[] = {
        class_of("Node", "name", with_rank ? 5 : 4, 0),
        class_of("Part", "", 1, 0),
    };
    classes[1].flags = RLM_CLASS_EMBEDDED;
    const realm_property_info_t *properties[] = {node, part};
    realm_schema_t *schema = realm_schema_new(classes, 2, properties);
    if (with_rank) {
        SUCCEEDS(realm_schema_set_default(schema, "Node", "rank", "7"));
        SUCCEEDS(realm_schema_set_default(schema, "Part", "size", "[1]"));
        SUCCEEDS(realm_schema_set_default(schema, "Part", "size", NULL));
        FAILS(RLM_ERR_NO_SUCH_TABLE, realm_schema_set_default(schema, "None", "rank", "7"));
        FAILS(RLM_ERR_INVALID_PROPERTY, realm_schema_set_default(schema, "Node", "none", "7"));
        FAILS(RLM_ERR_MALFORMED_JSON, realm_schema_set_default(schema, "Node", "rank", "7,"));
    }
    realm_config_t *config = realm_config_new();
    realm_config_set_path(config, path);
    realm_config_set_schema(config, schema);
    realm_config_set_schema_version(config, 1);
    realm_t *realm = realm_open(config);
    CHECK(realm != NULL);
    realm_release(schema);
    realm_release(config);
    schema = realm_get_schema(realm);
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_schema_set_default(schema, "Node", "name", "1"));
    realm_release(schema);
    return realm;
}

static void objects(void) {
    realm_t *realm = open_nodes("nodes.realm", true);
    realm_t *other = open_nodes("others.realm", false);
    realm_t *more = open_nodes("more.realm", true);
    realm_class_key_t node = class_key(realm, "Node"), part = class_key(realm, "Part");
    const char *text = "{\"name\":\"a\",\"born\":\"2024-02-29T00:00:00Z\","
                       "\"next\":{\"name\":\"b\",\"born\":null,\"next\":\"a\",\"part\":null,"
                       "\"rank\":2},\"part\":{\"size\":3},\"rank\":7}";
    const realm_update_policy_e never = RLM_UPDATE_NEVER, modified = RLM_UPDATE_MODIFIED;
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE,
          realm_object_create_from_json(realm, node, text, never, 0));
    SUCCEEDS(realm_begin_write(realm));
    SUCCEEDS(realm_begin_write(more));
    realm_object_t *a = realm_object_create_from_json(realm, node, text, never, 0);
    CHECK(a && count_of_class(realm, node) == 2);
    check_json(a, 1, 0, text);
    check_json(a, 0, RLM_JSON_EXTENDED,
               "{\"name\":\"a\",\"born\":{\"$date\":\"2024-02-29T00:00:00Z\"},\"next\":\"b\","
               "\"part\":{\"size\":3},\"rank\":7}");
    FAILS(RLM_ERR_LIMIT_EXCEEDED, realm_object_to_json(a, 201, 0));
    FAILS(RLM_ERR_LIMIT_EXCEEDED, realm_object_to_json(a, SIZE_MAX, 0));

    /* What fails leaves nothing. */
    FAILS(RLM_ERR_OBJECT_ALREADY_EXISTS,
          realm_object_create_from_json(realm, node, text, never, 0));
    FAILS(RLM_ERR_MALFORMED_JSON, realm_object_create_from_json(realm, node, "{", never, 0));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_object_create_from_json(realm, node, NULL, never, 0));
    FAILS(RLM_ERR_INVALID_ARGUMENT,
          realm_object_create_from_json(realm, node, text, (realm_update_policy_e)9, 0));
    FAILS(RLM_ERR_NO_SUCH_TABLE, realm_object_create_from_json(realm, 99, "{}", never, 0));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_object_create_from_json(realm, part, "{}", never, 0));
    const struct { realm_errno_e code; const char *text; } bad[] = {
        {RLM_ERR_MISSING_PRIMARY_KEY, "{\"rank\":1}"},
        {RLM_ERR_MISSING_PROPERTY_VALUE, "{\"name\":\"x\",\"part\":{}}"},
        {RLM_ERR_PROPERTY_TYPE_MISMATCH, "{\"name\":\"x\",\"next\":{\"name\":5}}"},
        {RLM_ERR_PROPERTY_NOT_NULLABLE, "{\"name\":\"x\",\"rank\":null}"},
        {RLM_ERR_INVALID_PROPERTY, "{\"name\":\"x\",\"color\":null}"},
        {RLM_ERR_NO_SUCH_OBJECT, "{\"name\":\"x\",\"next\":\"nobody\"}"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        FAILS(bad[i].code, realm_object_create_from_json(realm, node, bad[i].text, modified, 0));
    }
    CHECK(count_of_class(realm, node) == 2);
    realm_object_t *again = realm_object_create_from_json(
        realm, node, "{\"name\":\"a\",\"color\":1,\"rank\":8}", RLM_UPDATE_ALL,
        RLM_JSON_IGNORE_UNKNOWN);
    CHECK(again && realm_equals(again, a));
    realm_release(again);

    /* Copies: into a realm with the same classes, and one that lacks a property. */
    realm_object_t *copy = realm_object_copy_to(a, more, never);
    CHECK(copy && count_of_class(more, class_key(more, "Node")) == 2);
    check_json(copy, 0, 0, "{\"name\":\"a\",\"born\":\"2024-02-29T00:00:00Z\",\"next\":\"b\","
                           "\"part\":{\"size\":3},\"rank\":8}");
    realm_release(copy);
    FAILS(RLM_ERR_OBJECT_ALREADY_EXISTS, realm_object_copy_to(a, more, never));
    copy = realm_object_copy_to(a, more, modified);
    CHECK(copy && count_of_class(more, class_key(more, "Node")) == 2);
    realm_release(copy);
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_object_copy_to(a, other, never));
    SUCCEEDS(realm_begin_write(other));
    FAILS(RLM_ERR_SCHEMA_MISMATCH, realm_object_copy_to(a, other, never));
    CHECK(count_of_class(other, class_key(other, "Node")) == 0);

    /* The other way round, the property that is missing takes its default. */
    realm_object_t *c = realm_object_create_from_json(
        other, class_key(other, "Node"), "{\"name\":\"c\"}", never, 0);
    copy = realm_object_copy_to(c, more, never);
    CHECK(copy != NULL);
    check_json(copy, 0, 0, "{\"name\":\"c\",\"born\":null,\"next\":null,\"part\":null,\"rank\":7}");
    realm_release(copy);
    realm_release(c);
    SUCCEEDS(realm_object_delete(a));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_object_copy_to(a, more, never));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_object_to_json(a, 0, 0));
    realm_release(a);
    SUCCEEDS(realm_commit(realm));
    SUCCEEDS(realm_commit(more));
    SUCCEEDS(realm_rollback(other));
    realm_release(realm);
    realm_release(other);
    realm_release(more);
}

int main(void) {
    mixed();
    objects();
    computed_defaults();
    return check_end("json");
}
