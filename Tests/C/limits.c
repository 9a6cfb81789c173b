/* Limits: where the older library refused 58 bytes of a class name, 64 of a property or 16 MB of
 * text, ours takes them; what is above our own limits is a clear error. */
#include "things.h"

static char *repeated(char letter, size_t count) {
    char *text = malloc(count + 1);
    memset(text, letter, count);
    text[count] = 0;
    return text;
}

static realm_t *open_named(const char *class_name, const char *property_name, bool must_open) {
    unlink("names.realm");
    realm_property_info_t properties[] = {
        property_of(property_name, RLM_PROPERTY_TYPE_STRING, RLM_PROPERTY_INDEXED),
        link_of("next", class_name),
        backlinks_of("previous", class_name, "next"),
    };
    realm_class_info_t class = class_of(class_name, "", 2, 1);
    const realm_property_info_t *lists[] = {properties};
    realm_schema_t *schema = realm_schema_new(&class, 1, lists);
    SUCCEEDS(realm_schema_validate(schema, 0));
    realm_config_t *config = config_with("names.realm", schema);
    if (must_open)
        return open_or_exit(config);
    FAILS(RLM_ERR_INVALID_NAME, realm_open(config));
    realm_release(config);
    return NULL;
}

static void names(void) {
    const size_t lengths[] = {57, 58, 63, 64, 254, 255, 256, 1000};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        char *name = repeated('n', lengths[i]);
        bool fits = lengths[i] <= 255;
        realm_release(open_named(name, "p", fits));
        realm_release(open_named("C", name, fits));
        free(name);
    }
    /* Bytes count, not characters; every character may be in a name. */
    char umlauts[257] = "", text[1200];
    for (int i = 0; i < 127; i++)
        strcat(umlauts, "\xc3\xa4");
    strcat(umlauts, "x");
    char *class_name = repeated('C', 255);
    realm_t *realm = open_named(class_name, umlauts, true);
    realm_class_key_t class = class_key(realm, class_name);
    realm_property_key_t key = property_key(realm, class, umlauts);
    SUCCEEDS(realm_begin_write(realm));
    for (int i = 0; i < 3; i++) {
        realm_object_t *object = realm_object_create(realm, class);
        SUCCEEDS(realm_set_value(object, key, of_text(i ? "b" : "a"), false));
        SUCCEEDS(realm_set_value(object, property_key(realm, class, "next"), link_to(object),
                                 false));
        realm_release(object);
    }
    SUCCEEDS(realm_commit(realm));
    snprintf(text, sizeof text, "%s == 'b' AND @links.%s.next.@count == 1 SORT(%s DESC)", umlauts,
             class_name, umlauts);
    realm_query_t *query = realm_query_parse(realm, class, text, 0, NULL);
    size_t count = 9;
    SUCCEEDS(query && realm_query_count(query, &count));
    CHECK(count == 2);
    realm_release(query);
    realm_release(realm);
    realm = open_with("names.realm", NULL);
    CHECK(class_key(realm, class_name) == class && property_key(realm, class, umlauts) == key);
    realm_object_t *object = realm_get_object(realm, class, 0);
    char *shown = realm_object_to_string(object);
    CHECK(shown && strstr(shown, umlauts));
    realm_free(shown);
    realm_release(object);
    realm_release(realm);
    /* One byte more. */
    strcat(umlauts, "x");
    open_named("C", umlauts, false);
    free(class_name);
}

/* Names are looked up byte by byte. Two that differ in bytes but look alike are one name to a
 * reader: no schema has both. */
static void alike(void) {
    const char *composed = "\xc3\xa9", *decomposed = "e\xcc\x81";
    realm_property_info_t both[] = {
        property_of(composed, RLM_PROPERTY_TYPE_INT, 0),
        property_of(decomposed, RLM_PROPERTY_TYPE_STRING, 0),
    };
    realm_class_info_t class = class_of(composed, "", 2, 0);
    const realm_property_info_t *lists[] = {both};
    realm_schema_t *schema = realm_schema_new(&class, 1, lists);
    FAILS(RLM_ERR_SCHEMA_VALIDATION_FAILED, realm_schema_validate(schema, 0));
    realm_release(schema);
    both[1] = property_of("other", RLM_PROPERTY_TYPE_STRING, 0);
    both[1].public_name = "o\xcc\x88";
    realm_t *realm = open_with("alike.realm", realm_schema_new(&class, 1, lists));
    realm_class_key_t key = class_key(realm, composed);
    property_key(realm, key, composed);
    bool found = true;
    SUCCEEDS(realm_find_class(realm, decomposed, &found, NULL));
    CHECK(!found);
    found = true;
    SUCCEEDS(realm_find_property(realm, key, decomposed, &found, NULL));
    CHECK(!found);
    SUCCEEDS(realm_find_property_by_public_name(realm, key, "o\xcc\x88", &found, NULL));
    CHECK(found);
    SUCCEEDS(realm_find_property_by_public_name(realm, key, "\xc3\xb6", &found, NULL));
    CHECK(!found);
    realm_release(realm);
}

static realm_schema_t *of_large(void) {
    const int nullable = RLM_PROPERTY_NULLABLE;
    const realm_property_type_e text = RLM_PROPERTY_TYPE_STRING, bytes = RLM_PROPERTY_TYPE_BINARY;
    realm_property_info_t large[] = {
        property_of("_id", text, RLM_PROPERTY_PRIMARY_KEY),
        property_of("text", text, nullable),
        property_of("indexed", text, RLM_PROPERTY_INDEXED),
        property_of("words", text, RLM_PROPERTY_FULLTEXT_INDEXED),
        property_of("bytes", bytes, nullable),
        property_of("mixed", RLM_PROPERTY_TYPE_MIXED, nullable),
        many_of("texts", RLM_COLLECTION_TYPE_LIST, text, 0, ""),
        many_of("text_set", RLM_COLLECTION_TYPE_SET, text, 0, ""),
        many_of("by_name", RLM_COLLECTION_TYPE_DICTIONARY, bytes, nullable, ""),
        many_of("anys", RLM_COLLECTION_TYPE_LIST, RLM_PROPERTY_TYPE_MIXED, nullable, ""),
    };
    realm_class_info_t class = class_of("Large", "_id", sizeof large / sizeof *large, 0);
    const realm_property_info_t *lists[] = {large};
    return realm_schema_new(&class, 1, lists);
}

/* Beyond 16 MB in every place that takes text or bytes. */
static void large_values(void) {
    const size_t size = ((size_t)16 << 20) + 77;
    char *text = repeated('x', size);
    text[size - 1] = 'y';
    realm_value_t whole = of_sized_text(text, size), shorter = of_sized_text(text, size - 1);
    realm_value_t bytes = of_bytes(text, size), v, k;
    realm_t *realm = open_with("large.realm", of_large());
    realm_class_key_t class = class_key(realm, "Large");
    const char *names[] = {"_id", "text", "indexed", "words", "bytes", "mixed",
                           "texts", "text_set", "by_name", "anys"};
    realm_property_key_t keys[10];
    for (int i = 0; i < 10; i++)
        keys[i] = property_key(realm, class, names[i]);
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *object = realm_object_create_with_primary_key(realm, class, whole);
    SUCCEEDS(object != NULL);
    FAILS(RLM_ERR_OBJECT_ALREADY_EXISTS, realm_object_create_with_primary_key(realm, class, whole));
    for (int i = 1; i <= 3; i++)
        SUCCEEDS(realm_set_value(object, keys[i], whole, false));
    SUCCEEDS(realm_set_value(object, keys[4], bytes, false));
    SUCCEEDS(realm_set_value(object, keys[5], whole, false));
    realm_list_t *texts = realm_get_list(object, keys[6]), *anys = realm_get_list(object, keys[9]);
    realm_set_t *set = realm_get_set(object, keys[7]);
    realm_dictionary_t *by_name = realm_get_dictionary(object, keys[8]);
    bool flag = false;
    size_t index = 9;
    SUCCEEDS(realm_list_insert(texts, 0, whole));
    SUCCEEDS(realm_set_insert(set, whole, &index, &flag));
    CHECK(flag && index == 0);
    SUCCEEDS(realm_set_insert(set, shorter, &index, &flag));
    CHECK(flag && index == 0);
    SUCCEEDS(realm_dictionary_insert(by_name, whole, bytes, &index, &flag));
    CHECK(flag && index == 0);
    SUCCEEDS(realm_dictionary_insert(by_name, shorter, of_null(), &index, &flag));
    CHECK(flag && index == 0);
    SUCCEEDS(realm_dictionary_insert(by_name, whole, bytes, &index, &flag));
    CHECK(!flag && index == 1);
    SUCCEEDS(realm_list_insert(anys, 0, bytes));
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i <= 5; i++) {
            SUCCEEDS(realm_get_value(object, keys[i], &v));
            CHECK(same(v, i == 4 ? bytes : whole));
        }
        SUCCEEDS(realm_list_get(texts, 0, &v));
        CHECK(same(v, whole));
        SUCCEEDS(realm_list_get(anys, 0, &v));
        CHECK(same(v, bytes));
        SUCCEEDS(realm_set_find(set, whole, &index, &flag));
        CHECK(flag && index == 1 && size_of_set(set) == 2);
        SUCCEEDS(realm_dictionary_find(by_name, whole, &v, &flag));
        CHECK(flag && same(v, bytes) && size_of_dictionary(by_name) == 2);
        SUCCEEDS(realm_dictionary_get(by_name, 1, &k, &v));
        CHECK(same(k, whole));
        realm_object_t *found = realm_object_find_with_primary_key(realm, class, whole, &flag);
        CHECK(found && realm_equals(found, object));
        realm_release(found);
        if (round == 0)
            SUCCEEDS(realm_commit(realm));
    }
    realm_query_arg_t arg = {1, false, &whole};
    const char *queries[] = {"indexed == $0", "text == $0", "mixed == $0", "texts == $0",
                             "_id == $0", "text ENDSWITH 'xy'"};
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        realm_query_t *query = NULL;
        SUCCEEDS((query = realm_query_parse(realm, class, queries[i], 1, &arg)) &&
                 realm_query_count(query, &index));
        CHECK(index == 1);
        if (index != 1)
            fprintf(stderr, "    %zu: %s\n", index, queries[i]);
        realm_release(query);
    }
    SUCCEEDS(realm_check(realm, NULL, NULL, &index));
    CHECK(index == 0);
    realm_release(texts);
    realm_release(anys);
    realm_release(set);
    realm_release(by_name);
    realm_release(object);
    realm_release(realm);
    free(text);
    unlink("large.realm");
}

/* Above 2 GiB: refused by the size alone, in every place. */
static void too_large(void) {
    realm_t *realm = open_with("too-large.realm", of_large());
    realm_class_key_t class = class_key(realm, "Large");
    const realm_errno_e refused = RLM_ERR_LIMIT_EXCEEDED;
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *object = realm_object_create_with_primary_key(realm, class, of_text("id"));
    const size_t sizes[] = {((size_t)1 << 31) + 1, (size_t)1 << 40, SIZE_MAX};
    for (size_t i = 0; i < 3; i++) {
        realm_value_t text = of_sized_text("x", sizes[i]), bytes = of_bytes("x", sizes[i]);
        realm_list_t *texts = realm_get_list(object, property_key(realm, class, "texts"));
        realm_list_t *anys = realm_get_list(object, property_key(realm, class, "anys"));
        realm_set_t *set = realm_get_set(object, property_key(realm, class, "text_set"));
        realm_dictionary_t *by_name =
            realm_get_dictionary(object, property_key(realm, class, "by_name"));
        size_t index = 0;
        bool flag = true;
        FAILS(refused, realm_set_value(object, property_key(realm, class, "text"), text, false));
        FAILS(refused, realm_set_value(object, property_key(realm, class, "words"), text, false));
        FAILS(refused, realm_set_value(object, property_key(realm, class, "indexed"), text, false));
        FAILS(refused, realm_set_value(object, property_key(realm, class, "mixed"), text, false));
        FAILS(refused, realm_set_value(object, property_key(realm, class, "mixed"), bytes, false));
        FAILS(refused, realm_list_insert(texts, 0, text));
        FAILS(refused, realm_list_insert(anys, 0, bytes));
        FAILS(refused, realm_set_insert(set, text, NULL, NULL));
        FAILS(refused, realm_dictionary_insert(by_name, of_text("k"), bytes, NULL, NULL));
        FAILS(refused, realm_dictionary_insert(by_name, text, of_null(), NULL, NULL));
        /* Nothing of such a size is there. */
        realm_set_find(set, text, &index, &flag);
        CHECK(!flag);
        flag = true;
        SUCCEEDS(realm_dictionary_contains_key(by_name, text, &flag));
        CHECK(!flag);
        SUCCEEDS(realm_dictionary_contains_value(by_name, bytes, &index));
        CHECK(index == SIZE_MAX);
        realm_list_find(texts, &text, &index, &flag);
        CHECK(!flag);
        CHECK(size_of_list(texts) == 0 && size_of_list(anys) == 0 && size_of_set(set) == 0 &&
              size_of_dictionary(by_name) == 0);
        realm_release(texts);
        realm_release(anys);
        realm_release(set);
        realm_release(by_name);
    }
    realm_clear_last_error();
    SUCCEEDS(realm_commit(realm));
    realm_release(object);
    realm_release(realm);
}

/* A hundred levels, counted with the outermost collection: in a property, a list, a dictionary. */
static void depth(void) {
    realm_t *realm = open_with("depth.realm", of_large());
    realm_class_key_t class = class_key(realm, "Large");
    realm_property_key_t any = property_key(realm, class, "mixed"),
                         anys = property_key(realm, class, "anys");
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *object = realm_object_create_with_primary_key(realm, class, of_text("id"));
    for (int way = 0; way < 2; way++) {
        realm_list_t *level = way ? realm_get_list(object, anys) : realm_set_list(object, any);
        for (int depth = 1; depth < 100; depth++) {
            realm_list_t *next = realm_list_insert_list(level, 0);
            CHECK(next != NULL);
            realm_release(level);
            level = next;
        }
        FAILS(RLM_ERR_LIMIT_EXCEEDED, realm_list_insert_list(level, 0));
        FAILS(RLM_ERR_LIMIT_EXCEEDED, realm_list_insert_dictionary(level, 0));
        FAILS(RLM_ERR_LIMIT_EXCEEDED, realm_list_insert(level, 0, of_type(RLM_TYPE_LIST)));
        SUCCEEDS(realm_list_insert(level, 0, of_text("bottom")));
        FAILS(RLM_ERR_LIMIT_EXCEEDED, realm_list_set_list(level, 0));
        FAILS(RLM_ERR_LIMIT_EXCEEDED, realm_list_set(level, 0, of_type(RLM_TYPE_DICTIONARY)));
        CHECK(size_of_list(level) == 1);
        SUCCEEDS(realm_commit(realm));
        /* Down again, by index. */
        realm_value_t v;
        realm_list_t *walk = realm_get_list(object, way ? anys : any);
        for (int depth = 1; depth < 100; depth++) {
            realm_list_t *next = realm_list_get_list(walk, 0);
            CHECK(realm_list_is_valid(next));
            realm_release(walk);
            walk = next;
        }
        CHECK(realm_equals(walk, level));
        SUCCEEDS(realm_list_get(walk, 0, &v));
        CHECK(is_text(v, "bottom"));
        realm_t *frozen = realm_freeze(realm);
        realm_list_t *still = NULL;
        SUCCEEDS(realm_list_resolve_in(walk, frozen, &still));
        CHECK(still && size_of_list(still) == 1);
        realm_release(still);
        realm_release(frozen);
        char *text = realm_object_to_string(object);
        CHECK(text && strstr(text, "[[[[[[[[[[[[") && strstr(text, "\"bottom\""));
        realm_free(text);
        realm_release(walk);
        SUCCEEDS(realm_begin_write(realm));
        if (!way)
            SUCCEEDS(realm_set_value(object, any, of_int(1), false));
        else
            SUCCEEDS(realm_object_delete(object));
        CHECK(!realm_list_is_valid(level));
        realm_release(level);
    }
    SUCCEEDS(realm_commit(realm));
    realm_release(object);
    realm_release(realm);
}

int main(void) {
    names();
    alike();
    large_values();
    too_large();
    depth();
    return check_end("limits");
}
