/* Dictionaries: keys, values, links, and every way to do it wrong. */
#include "things.h"

static void entries(void) {
    realm_t *realm = open_things("entries.realm");
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *thing = make_thing(realm, "a");
    realm_dictionary_t *scores = dictionary_of(realm, thing, "scores");
    size_t index = 9;
    bool flag = false;
    SUCCEEDS(realm_dictionary_insert(scores, of_text("b"), of_int(2), &index, &flag));
    CHECK(index == 0 && flag);
    SUCCEEDS(realm_dictionary_insert(scores, of_text("a"), of_int(1), &index, &flag));
    CHECK(index == 0 && flag);
    SUCCEEDS(realm_dictionary_insert(scores, of_text(""), of_int(0), &index, &flag));
    CHECK(index == 0 && flag);
    SUCCEEDS(realm_dictionary_insert(scores, of_text("b"), of_int(3), &index, &flag));
    CHECK(index == 2 && !flag);
    realm_value_t key, value;
    SUCCEEDS(realm_dictionary_get(scores, 2, &key, &value));
    CHECK(is_text(key, "b") && value.integer == 3);
    SUCCEEDS(realm_dictionary_get(scores, 0, NULL, NULL));
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_dictionary_get(scores, 3, &key, &value));
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_dictionary_get(scores, SIZE_MAX, &key, &value));

    /* Keys. */
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_dictionary_insert(scores, of_int(1), of_int(1), 0, 0));
    FAILS(RLM_ERR_INVALID_DICTIONARY_KEY,
          realm_dictionary_insert(scores, of_text(NULL), of_int(1), NULL, NULL));
    FAILS(RLM_ERR_INVALID_DICTIONARY_KEY,
          realm_dictionary_insert(scores, of_text("$a"), of_int(1), NULL, NULL));
    FAILS(RLM_ERR_INVALID_DICTIONARY_KEY,
          realm_dictionary_insert(scores, of_text("a.b"), of_int(1), NULL, NULL));
    SUCCEEDS(realm_dictionary_insert(scores, of_text("a$b"), of_int(1), NULL, NULL));
    SUCCEEDS(realm_dictionary_erase(scores, of_text("a$b"), &flag));
    CHECK(flag);
    realm_value_t huge = of_text("x");
    huge.string.size = SIZE_MAX;
    FAILS(RLM_ERR_LIMIT_EXCEEDED, realm_dictionary_insert(scores, huge, of_int(1), NULL, NULL));
    SUCCEEDS(realm_dictionary_find(scores, huge, NULL, &flag));
    CHECK(!flag);
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH,
          realm_dictionary_insert(scores, of_text("c"), of_text("1"), NULL, NULL));
    FAILS(RLM_ERR_PROPERTY_NOT_NULLABLE,
          realm_dictionary_insert(scores, of_text("c"), of_null(), NULL, NULL));

    /* Looking up. */
    SUCCEEDS(realm_dictionary_find(scores, of_text("a"), &value, &flag));
    CHECK(flag && value.integer == 1);
    value = of_int(77);
    SUCCEEDS(realm_dictionary_find(scores, of_text("zz"), &value, &flag));
    CHECK(!flag && value.integer == 77);
    SUCCEEDS(realm_dictionary_find(scores, of_text("$a.b"), &value, &flag));
    CHECK(!flag);
    SUCCEEDS(realm_dictionary_find(scores, of_int(1), &value, &flag));
    CHECK(!flag);
    SUCCEEDS(realm_dictionary_find(scores, of_text(NULL), &value, &flag));
    CHECK(flag && value.integer == 0);
    SUCCEEDS(realm_dictionary_contains_key(scores, of_text("b"), &flag));
    CHECK(flag);
    SUCCEEDS(realm_dictionary_contains_key(scores, of_text("c"), &flag));
    CHECK(!flag);
    SUCCEEDS(realm_dictionary_contains_key(scores, of_int(1), &flag));
    CHECK(!flag);
    SUCCEEDS(realm_dictionary_contains_value(scores, of_int(3), &index));
    CHECK(index == 2);
    SUCCEEDS(realm_dictionary_contains_value(scores, of_int(4), &index));
    CHECK(index == SIZE_MAX);
    SUCCEEDS(realm_dictionary_contains_value(scores, of_text("3"), &index));
    CHECK(index == SIZE_MAX);
    NOTHING(realm_dictionary_get_linked_object(scores, of_text("a")));

    /* Erasing. */
    SUCCEEDS(realm_dictionary_erase(scores, of_text("zz"), &flag));
    CHECK(!flag);
    SUCCEEDS(realm_dictionary_erase(scores, of_int(1), &flag));
    CHECK(!flag);
    FAILS(RLM_ERR_INVALID_DICTIONARY_KEY, realm_dictionary_erase(scores, of_text("$a"), &flag));
    FAILS(RLM_ERR_INVALID_DICTIONARY_KEY, realm_dictionary_erase(scores, of_text("a.b"), &flag));
    /* A text without address is no key, not even the empty one, which is there. */
    const realm_value_t nowhere = {.type = RLM_TYPE_STRING};
    FAILS(RLM_ERR_INVALID_DICTIONARY_KEY, realm_dictionary_erase(scores, nowhere, &flag));
    CHECK(size_of_dictionary(scores) == 3);
    SUCCEEDS(realm_dictionary_erase(scores, of_text(""), &flag));
    CHECK(flag && size_of_dictionary(scores) == 2);
    SUCCEEDS(realm_commit(realm));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE,
          realm_dictionary_insert(scores, of_text("c"), of_int(1), NULL, NULL));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_dictionary_erase(scores, of_text("zz"), NULL));
    SUCCEEDS(realm_dictionary_erase(scores, of_int(1), NULL));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_dictionary_clear(scores));
    realm_property_info_t info;
    SUCCEEDS(realm_dictionary_get_property(scores, &info));
    CHECK(!strcmp(info.name, "scores") &&
          info.collection_type == RLM_COLLECTION_TYPE_DICTIONARY);

    /* Handles. */
    realm_dictionary_t *copy = realm_clone(scores);
    CHECK(copy && realm_equals(copy, scores));
    realm_t *frozen = realm_freeze(realm);
    realm_dictionary_t *still = NULL;
    SUCCEEDS(realm_dictionary_resolve_in(copy, frozen, &still));
    SUCCEEDS(realm_begin_write(realm));
    SUCCEEDS(realm_dictionary_clear(scores));
    CHECK(size_of_dictionary(copy) == 0);
    SUCCEEDS(realm_object_delete(thing));
    CHECK(!realm_dictionary_is_valid(scores) && !realm_dictionary_is_valid(NULL));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_dictionary_size(scores, NULL));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_dictionary_find(scores, of_text("a"), NULL, NULL));
    SUCCEEDS(realm_dictionary_find(scores, of_int(1), NULL, &flag));
    CHECK(!flag);
    SUCCEEDS(realm_dictionary_contains_key(scores, of_text("a"), &flag));
    CHECK(!flag);
    NOTHING(realm_dictionary_get_linked_object(scores, of_text("a")));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_dictionary_get_linked_object(scores, of_int(1)));
    SUCCEEDS(realm_commit(realm));
    CHECK(realm_is_frozen(still) && size_of_dictionary(still) == 2);
    SUCCEEDS(realm_dictionary_find(still, of_text("b"), &value, &flag));
    CHECK(flag && value.integer == 3);
    realm_release(still);
    realm_release(frozen);
    realm_release(copy);
    realm_release(scores);
    realm_release(thing);
    realm_release(realm);
}

static void objects(void) {
    realm_t *realm = open_things("objects.realm");
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *a = make_thing(realm, "a"), *b = make_thing(realm, "b");
    realm_dictionary_t *links = dictionary_of(realm, a, "links");
    bool flag;
    SUCCEEDS(realm_dictionary_insert(links, of_text("b"), link_to(b), NULL, NULL));
    SUCCEEDS(realm_dictionary_insert(links, of_text("c"), of_null(), NULL, NULL));
    SUCCEEDS(realm_dictionary_insert(links, of_text("d"), link_to(b), NULL, NULL));
    realm_object_t *found = realm_dictionary_get_linked_object(links, of_text("b"));
    CHECK(found && realm_equals(found, b));
    realm_release(found);
    NOTHING(realm_dictionary_get_linked_object(links, of_text("c")));
    NOTHING(realm_dictionary_get_linked_object(links, of_text("x")));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_dictionary_get_linked_object(links, of_int(1)));
    realm_link_t nowhere = realm_object_as_link(b);
    nowhere.target = 50;
    FAILS(RLM_ERR_NO_SUCH_OBJECT,
          realm_dictionary_insert(links, of_text("x"), of_link(nowhere), NULL, NULL));
    /* The keys of deleted objects stay. */
    SUCCEEDS(realm_object_delete(b));
    realm_value_t v;
    SUCCEEDS(realm_dictionary_find(links, of_text("b"), &v, &flag));
    CHECK(flag && v.type == RLM_TYPE_NULL && size_of_dictionary(links) == 3);
    /* Objects of their own are created in the place, too. */
    realm_object_t *made = realm_dictionary_insert_embedded(links, of_text("new"));
    CHECK(made && realm_object_get_table(made) == class_key(realm, "Thing"));
    realm_release(made);
    realm_dictionary_t *scores = dictionary_of(realm, a, "scores");
    FAILS(RLM_ERR_INVALID_TABLE_REF, realm_dictionary_insert_embedded(scores, of_text("x")));
    SUCCEEDS(realm_dictionary_clear(links));
    CHECK(count_of(realm, "Thing") == 2);
    realm_dictionary_t *values = dictionary_of(realm, a, "values");
    SUCCEEDS(realm_dictionary_insert(values, of_text("me"), link_to(a), NULL, NULL));
    found = realm_dictionary_get_linked_object(values, of_text("me"));
    CHECK(found && realm_equals(found, a));
    realm_release(found);
    SUCCEEDS(realm_commit(realm));
    realm_release(values);
    realm_release(scores);
    realm_release(links);
    realm_release(a);
    realm_release(b);
    realm_release(realm);
}

/* Keys of odd form: empty, with NUL, not UTF-8, of megabytes, and those that the rules forbid. */
static void odd_keys(void) {
    realm_t *realm = open_things("keys.realm");
    const size_t size = (size_t)3 << 20;
    char *large = malloc(size);
    memset(large, 'k', size);
    const realm_value_t keys[] = {
        of_text(""),           of_sized_text("\0", 1),  of_sized_text("\0\0", 2),
        of_sized_text("\0a", 2), of_text(" "),          of_text("a"),
        of_sized_text("a\0", 2), of_text("a$"),         of_text("e\xcc\x81"),
        of_sized_text(large, size), of_text("\xc3\xa9"), of_text("\xf0\x9f\x98\x80"),
    };
    enum { KEYS = sizeof keys / sizeof *keys };
    const realm_value_t bad[] = {
        of_text("$"), of_text("."), of_text("$a"), of_text("a."), of_text(".a"), of_text("a.b"),
        of_sized_text("\0.", 2), of_text("$."),
    };
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *thing = make_thing(realm, "a");
    realm_dictionary_t *scores = dictionary_of(realm, thing, "scores"),
                       *values = dictionary_of(realm, thing, "values"),
                       *parts = dictionary_of(realm, thing, "parts_by_name");
    size_t index;
    bool flag;
    realm_value_t k, v;
    for (int i = KEYS; i-- > 0;) {
        SUCCEEDS(realm_dictionary_insert(scores, keys[i], of_int(i), &index, &flag));
        CHECK(index == 0 && flag);
        SUCCEEDS(realm_dictionary_insert(values, keys[i], of_int(i), &index, &flag));
        CHECK(index == 0 && flag);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const realm_errno_e code = RLM_ERR_INVALID_DICTIONARY_KEY;
        FAILS(code, realm_dictionary_insert(scores, bad[i], of_int(1), NULL, NULL));
        FAILS(code, realm_dictionary_insert(values, bad[i], of_type(RLM_TYPE_LIST), NULL, NULL));
        FAILS(code, realm_dictionary_insert_list(values, bad[i]));
        FAILS(code, realm_dictionary_insert_dictionary(values, bad[i]));
        FAILS(code, realm_dictionary_insert_embedded(parts, bad[i]));
        FAILS(code, realm_dictionary_erase(scores, bad[i], &flag));
        SUCCEEDS(realm_dictionary_find(scores, bad[i], NULL, &flag));
        CHECK(!flag);
        flag = true;
        SUCCEEDS(realm_dictionary_contains_key(scores, bad[i], &flag));
        CHECK(!flag);
        NOTHING(realm_dictionary_get_linked_object(parts, bad[i]));
    }
    CHECK(size_of_dictionary(parts) == 0 && count_of(realm, "Part") == 0);
    /* The order is that of their bytes; keys that look alike are two. */
    for (int round = 0; round < 2; round++) {
        CHECK(size_of_dictionary(scores) == KEYS);
        realm_results_t *all = NULL;
        SUCCEEDS(realm_dictionary_get_keys(scores, &index, &all));
        CHECK(index == KEYS);
        for (size_t i = 0; i < KEYS; i++) {
            SUCCEEDS(realm_dictionary_get(scores, i, &k, &v));
            CHECK(same(k, keys[i]) && v.integer == (int64_t)i);
            SUCCEEDS(realm_results_get(all, i, &k));
            CHECK(same(k, keys[i]));
            SUCCEEDS(realm_results_find(all, &k, &index, &flag));
            CHECK(flag && index == i);
            SUCCEEDS(realm_dictionary_find(values, keys[i], &v, &flag));
            CHECK(flag && v.integer == (int64_t)i);
            flag = false;
            SUCCEEDS(realm_dictionary_contains_key(values, keys[i], &flag));
            CHECK(flag);
        }
        realm_release(all);
        if (round == 0)
            SUCCEEDS(realm_commit(realm));
    }
    SUCCEEDS(realm_begin_write(realm));
    for (size_t i = 0; i < KEYS; i++) {
        SUCCEEDS(realm_dictionary_erase(scores, keys[i], &flag));
        CHECK(flag && size_of_dictionary(scores) == KEYS - 1 - i);
    }
    /* What is no text is refused, or not there. */
    realm_value_t broken = of_text("\xff\xfe");
    if (realm_dictionary_insert(scores, broken, of_int(1), NULL, NULL)) {
        SUCCEEDS(realm_dictionary_find(scores, broken, &v, &flag));
        CHECK(flag);
    }
    realm_clear_last_error();
    SUCCEEDS(realm_commit(realm));
    SUCCEEDS(realm_check(realm, NULL, NULL, &index));
    CHECK(index == 0);
    realm_release(parts);
    realm_release(values);
    realm_release(scores);
    realm_release(thing);
    realm_release(realm);
    free(large);
}

/* Things that a query finds, by the digits of their keys. */
static void check_found(realm_t *realm, const char *text, const char *keys) {
    realm_query_t *query = NULL;
    SUCCEEDS((query = realm_query_parse(realm, class_key(realm, "Thing"), text, 0, NULL)) != NULL);
    realm_results_t *results = query ? realm_query_find_all(query) : NULL;
    char found[8] = "";
    for (size_t i = 0, n = results ? count_results(results) : 0; i < n && i < 7; i++) {
        realm_value_t v;
        SUCCEEDS(realm_results_get(results, i, &v));
        found[i] = (char)('0' + v.link.target);
    }
    CHECK(!strcmp(found, keys));
    if (strcmp(found, keys))
        fprintf(stderr, "    %s: found '%s', expected '%s'\n", text, found, keys);
    realm_release(results);
    realm_release(query);
}

/* I6, I7, T1: values of dictionaries of one type are compared as mixed ones: what they are not, they
 * don't equal, and are in no order with. */
static void other_types(void) {
    realm_t *realm = open_things("types.realm");
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *a = make_thing(realm, "a"), *empty = make_thing(realm, "b");
    realm_dictionary_t *labels = dictionary_of(realm, a, "labels"),
                       *scores = dictionary_of(realm, a, "scores"),
                       *links = dictionary_of(realm, a, "links");
    SUCCEEDS(realm_dictionary_insert(labels, of_text("k"), of_text("5"), NULL, NULL));
    SUCCEEDS(realm_dictionary_insert(labels, of_text("n"), of_null(), NULL, NULL));
    SUCCEEDS(realm_dictionary_insert(scores, of_text("k"), of_int(1), NULL, NULL));
    SUCCEEDS(realm_dictionary_insert(links, of_text("k"), link_to(a), NULL, NULL));
    const struct {
        const char *text, *keys;
    } texts[] = {
        {"labels == 5", ""},
        {"labels['k'] == 5", ""},
        {"labels.k == 5", ""},
        {"labels.@values == 5", ""},
        {"labels[*] == 5", ""},
        {"5 == labels", ""},
        {"labels < 5", ""},
        {"labels != 5", "0"},
        {"ALL labels != 5", "01"},
        {"NONE labels == 5", "01"},
        {"ALL labels == 5", "1"},
        {"labels BETWEEN {1, 9}", ""},
        {"labels == '5'", "0"},
        {"labels.k == name", ""},
        {"labels.k == ints", ""},
        {"scores == 'x'", ""},
        {"scores.k == true", ""},
        {"scores.k != true", "0"},
        {"scores CONTAINS 'x'", ""},
        {"scores.k BEGINSWITH 'x'", ""},
        {"scores == '1'", "0"},
        {"scores == name", ""},
        {"scores < inf", "0"},
        {"links.nope == 1", ""},
        {"links.k == 1", ""},
        {"links.k != 1", "0"},
        {"links == 'x'", ""},
        {"links.@values > 3", ""},
        {"other.links == 1", ""},
    };
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
            check_found(realm, texts[i].text, texts[i].keys);
        if (round == 0)
            SUCCEEDS(realm_commit(realm));
    }
    /* Lists and sets keep to their type, and so do texts and the keys of dictionaries. */
    const char *refused[] = {"names == 5", "tags == 5", "labels.@keys == 5", "name == 5",
                             "labels CONTAINS 5", "links == NULL"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        FAILS(RLM_ERR_INVALID_QUERY,
              realm_query_parse(realm, class_key(realm, "Thing"), refused[i], 0, NULL));
    void *handles[] = {links, scores, labels, empty, a, realm};
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++)
        realm_release(handles[i]);
}

int main(void) {
    entries();
    other_types();
    objects();
    odd_keys();
    return check_end("dictionaries");
}
