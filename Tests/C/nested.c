/* Lists and dictionaries inside mixed values. */
#include "things.h"

static void in_lists(realm_t *realm) {
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *thing = make_thing(realm, "a");
    realm_list_t *anys = list_of(realm, thing, "anys"), *ints = list_of(realm, thing, "ints");
    SUCCEEDS(realm_list_insert(anys, 0, of_int(7)));
    realm_list_t *inner = realm_list_insert_list(anys, 1);
    CHECK(inner && realm_list_is_valid(inner) && size_of_list(inner) == 0);
    SUCCEEDS(realm_list_insert(inner, 0, of_text("x")));
    realm_dictionary_t *map = realm_list_insert_dictionary(anys, 0);
    CHECK(map && realm_dictionary_is_valid(map));
    SUCCEEDS(realm_dictionary_insert(map, of_text("k"), of_int(1), NULL, NULL));
    realm_value_t v;
    SUCCEEDS(realm_list_get(anys, 0, &v));
    CHECK(v.type == RLM_TYPE_DICTIONARY);
    SUCCEEDS(realm_list_get(anys, 2, &v));
    CHECK(v.type == RLM_TYPE_LIST);
    /* The handle follows its element. */
    CHECK(size_of_list(inner) == 1);
    realm_list_t *again = realm_list_get_list(anys, 2);
    CHECK(again && realm_equals(again, inner));
    realm_release(again);
    /* The same kind is kept, another one replaced. */
    again = realm_list_set_list(anys, 2);
    CHECK(again && size_of_list(again) == 1);
    realm_release(again);
    realm_dictionary_t *other = realm_list_set_dictionary(anys, 2);
    CHECK(other && size_of_dictionary(other) == 0 && !realm_list_is_valid(inner));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_list_size(inner, NULL));
    /* Handles are given for other elements and bad indexes. */
    const size_t wrong[] = {1, 0, 99, SIZE_MAX};
    for (int i = 0; i < 4; i++) {
        again = realm_list_get_list(anys, wrong[i]);
        CHECK(again && !realm_list_is_valid(again));
        realm_release(again);
    }
    realm_dictionary_t *found = realm_list_get_dictionary(anys, 0);
    CHECK(found && realm_equals(found, map));
    realm_release(found);
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_list_insert_list(anys, 99));
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_list_set_list(anys, 3));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_list_insert_list(ints, 0));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_list_insert_dictionary(ints, 0));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_list_set_list(ints, 0));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_list_set_dictionary(ints, 0));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_list_get_list(ints, 0));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_list_get_dictionary(ints, 0));

    /* Results over them. */
    realm_results_t *results = realm_list_to_results(anys);
    found = realm_results_get_dictionary(results, 0);
    CHECK(found && realm_equals(found, map));
    realm_release(found);
    NOTHING(realm_results_get_list(results, 0));
    NOTHING(realm_results_get_dictionary(results, 1));
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_results_get_list(results, 3));
    realm_release(results);
    SUCCEEDS(realm_list_insert(ints, 0, of_int(1)));
    results = realm_list_to_results(ints);
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_results_get_list(results, 0));
    realm_release(results);
    results = realm_object_find_all(realm, class_key(realm, "Thing"));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_results_get_list(results, 0));
    realm_release(results);
    SUCCEEDS(realm_commit(realm));

    /* On to another thread, and to a frozen realm. */
    realm_thread_safe_reference_t *reference = realm_create_thread_safe_reference(map);
    found = realm_dictionary_from_thread_safe_reference(realm, reference);
    CHECK(found && realm_equals(found, map) && size_of_dictionary(found) == 1);
    realm_release(found);
    realm_release(reference);
    realm_t *frozen = realm_freeze(realm);
    found = NULL;
    SUCCEEDS(realm_dictionary_resolve_in(map, frozen, &found));
    CHECK(found && size_of_dictionary(found) == 1);
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_list_insert_list(anys, 0));
    SUCCEEDS(realm_begin_write(realm));
    SUCCEEDS(realm_list_erase(anys, 0));
    CHECK(!realm_dictionary_is_valid(map) && realm_dictionary_is_valid(found));
    SUCCEEDS(realm_commit(realm));
    realm_release(found);
    realm_release(frozen);
    realm_release(other);
    realm_release(map);
    realm_release(inner);
    realm_release(anys);
    realm_release(ints);
    realm_release(thing);
}

static void in_dictionaries(realm_t *realm) {
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *thing = make_thing(realm, "a");
    realm_dictionary_t *values = dictionary_of(realm, thing, "values"),
                       *scores = dictionary_of(realm, thing, "scores");
    realm_list_t *list = realm_dictionary_insert_list(values, of_text("l"));
    CHECK(list && realm_list_is_valid(list));
    SUCCEEDS(realm_list_insert(list, 0, of_int(5)));
    realm_list_t *same = realm_dictionary_insert_list(values, of_text("l"));
    CHECK(same && size_of_list(same) == 1);
    realm_release(same);
    realm_dictionary_t *map = realm_dictionary_insert_dictionary(values, of_text("d"));
    CHECK(map && size_of_dictionary(map) == 0);
    SUCCEEDS(realm_dictionary_insert(map, of_text("in"), of_bool(true), NULL, NULL));
    same = realm_dictionary_get_list(values, of_text("l"));
    CHECK(same && realm_equals(same, list));
    realm_release(same);
    same = realm_dictionary_get_list(values, of_text("d"));
    CHECK(same && !realm_list_is_valid(same));
    realm_release(same);
    realm_dictionary_t *found = realm_dictionary_get_dictionary(values, of_text("none"));
    CHECK(found && !realm_dictionary_is_valid(found));
    realm_release(found);
    char *text = realm_object_to_string(thing);
    CHECK(text && strstr(text, "\"values\":{\"d\":{\"in\":true},\"l\":[5]}"));
    realm_free(text);
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_dictionary_insert_list(values, of_int(1)));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_dictionary_get_list(values, of_int(1)));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_dictionary_get_dictionary(values, of_int(1)));
    FAILS(RLM_ERR_INVALID_DICTIONARY_KEY, realm_dictionary_insert_list(values, of_text("$")));
    FAILS(RLM_ERR_INVALID_DICTIONARY_VALUE, realm_dictionary_insert_list(scores, of_text("a")));
    FAILS(RLM_ERR_INVALID_DICTIONARY_VALUE,
          realm_dictionary_insert_dictionary(scores, of_text("a")));
    FAILS(RLM_ERR_INVALID_PROPERTY, realm_dictionary_get_list(scores, of_text("a")));
    FAILS(RLM_ERR_INVALID_PROPERTY, realm_dictionary_get_dictionary(scores, of_text("a")));
    /* Properties that are such collections are not changed. */
    found = realm_set_dictionary(thing, thing_key(realm, "values"));
    CHECK(found && size_of_dictionary(found) == 2);
    realm_release(found);
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_set_list(thing, thing_key(realm, "name")));
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_set_dictionary(thing, thing_key(realm, "ints")));

    /* A hundred levels. */
    realm_list_t *level = realm_dictionary_insert_list(values, of_text("deep"));
    int depth = 2;
    for (;;) {
        realm_list_t *next = realm_list_insert_list(level, 0);
        if (!next)
            break;
        realm_release(level);
        level = next;
        depth++;
    }
    CHECK(depth == 100);
    FAILS(RLM_ERR_LIMIT_EXCEEDED, realm_list_insert_dictionary(level, 0));
    realm_release(level);
    text = realm_object_to_string(thing);
    CHECK(text != NULL);
    realm_free(text);
    SUCCEEDS(realm_object_delete(thing));
    CHECK(!realm_list_is_valid(list) && !realm_dictionary_is_valid(map));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_dictionary_insert_list(values, of_text("l")));
    SUCCEEDS(realm_commit(realm));
    realm_release(map);
    realm_release(list);
    realm_release(scores);
    realm_release(values);
    realm_release(thing);
}

/* A property of mixed type: handles are valid while it holds their kind; the same kind again keeps
 * what is there. */
static void in_properties(void) {
    realm_property_info_t box[] = {
        property_of("mixed", RLM_PROPERTY_TYPE_MIXED, RLM_PROPERTY_NULLABLE),
        property_of("n", RLM_PROPERTY_TYPE_INT, 0),
        many_of("anys", RLM_COLLECTION_TYPE_LIST, RLM_PROPERTY_TYPE_MIXED, RLM_PROPERTY_NULLABLE,
                ""),
        many_of("map", RLM_COLLECTION_TYPE_DICTIONARY, RLM_PROPERTY_TYPE_MIXED,
                RLM_PROPERTY_NULLABLE, ""),
        property_of("indexed", RLM_PROPERTY_TYPE_MIXED,
                    RLM_PROPERTY_NULLABLE | RLM_PROPERTY_INDEXED),
    };
    realm_class_info_t class = class_of("Box", "", sizeof box / sizeof *box, 0);
    const realm_property_info_t *properties[] = {box};
    realm_t *realm = open_with("properties.realm", realm_schema_new(&class, 1, properties));
    realm_class_key_t key = class_key(realm, "Box");
    realm_property_key_t mixed = property_key(realm, key, "mixed"),
                         n = property_key(realm, key, "n"),
                         anys = property_key(realm, key, "anys"),
                         map = property_key(realm, key, "map"),
                         indexed = property_key(realm, key, "indexed");
    const realm_value_t a_list = of_type(RLM_TYPE_LIST), a_map = of_type(RLM_TYPE_DICTIONARY);
    realm_value_t v;
    size_t count = 0;
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *object = realm_object_create(realm, key);
    realm_list_t *list = realm_get_list(object, mixed);
    realm_dictionary_t *dictionary = realm_get_dictionary(object, mixed);
    CHECK(list && dictionary && !realm_list_is_valid(list) &&
          !realm_dictionary_is_valid(dictionary));
    /* Sets never stand there. */
    realm_set_t *set = realm_get_set(object, mixed);
    CHECK(set && !realm_set_is_valid(set));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_set_size(set, NULL));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_set_insert(set, of_int(1), NULL, NULL));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_set_to_results(set));
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_get_set(object, n));
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_get_set(object, anys));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_list_insert(list, 0, of_int(1)));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_list_get_linked_object(list, 0));
    SUCCEEDS(realm_set_value(object, mixed, a_list, false));
    CHECK(!realm_set_is_valid(set));
    NOTHING(realm_list_get_linked_object(list, 0));
    realm_release(set);
    CHECK(realm_list_is_valid(list) && !realm_dictionary_is_valid(dictionary));
    SUCCEEDS(realm_list_insert(list, 0, of_int(1)));
    SUCCEEDS(realm_set_value(object, mixed, a_list, false));
    realm_list_t *same_list = realm_set_list(object, mixed);
    CHECK(size_of_list(list) == 1 && realm_equals(list, same_list));
    SUCCEEDS(realm_get_value(object, mixed, &v));
    CHECK(v.type == RLM_TYPE_LIST);
    realm_dictionary_t *other = realm_set_dictionary(object, mixed);
    CHECK(other && size_of_dictionary(other) == 0 && realm_dictionary_is_valid(dictionary));
    CHECK(!realm_list_is_valid(list) && !realm_list_is_valid(same_list));
    SUCCEEDS(realm_dictionary_insert(dictionary, of_text("k"), a_list, NULL, NULL));
    SUCCEEDS(realm_set_value(object, mixed, a_map, false));
    CHECK(size_of_dictionary(other) == 1);
    realm_list_t *inner = realm_dictionary_get_list(other, of_text("k"));
    SUCCEEDS(realm_list_insert(inner, 0, of_bool(true)));
    SUCCEEDS(realm_dictionary_insert(dictionary, of_text("k"), a_list, NULL, NULL));
    CHECK(size_of_list(inner) == 1);
    SUCCEEDS(realm_set_value(object, mixed, of_int(4), false));
    CHECK(!realm_dictionary_is_valid(dictionary) && !realm_list_is_valid(inner));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_dictionary_insert(other, of_text("k"), a_list, 0, 0));
    FAILS(RLM_ERR_INVALID_PROPERTY, realm_set_list(object, -1));
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_set_list(object, n));
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_set_list(object, map));
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_set_dictionary(object, anys));

    /* In a version that is older than the collection its property holds no such thing. */
    SUCCEEDS(realm_commit(realm));
    realm_t *frozen = realm_freeze(realm);
    CHECK(realm_begin_read(frozen));
    SUCCEEDS(realm_begin_write(realm));
    realm_list_t *later = realm_set_list(object, indexed), *there = list;
    SUCCEEDS(realm_list_insert(later, 0, of_int(3)));
    for (int round = 0; round < 2; round++) {
        there = list;
        SUCCEEDS(realm_list_resolve_in(later, frozen, &there));
        CHECK(there && !realm_list_is_valid(there));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_list_size(there, NULL));
        realm_release(there);
        realm_results_t *results = realm_list_to_results(later),
                        *earlier = realm_results_resolve_in(results, frozen);
        bool valid = true;
        SUCCEEDS(realm_results_is_valid(earlier, &valid));
        CHECK(!valid);
        FAILS(RLM_ERR_STALE_ACCESSOR, realm_results_count(earlier, NULL));
        realm_release(earlier);
        realm_release(results);
        if (round == 0)
            SUCCEEDS(realm_commit(realm));
    }
    /* What is indexed is not what stands in a list. */
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *second = realm_object_create(realm, key);
    SUCCEEDS(realm_set_value(second, indexed, of_int(3), false));
    const char *texts[] = {"indexed == 3", "indexed[*] == 3", "indexed.@type == 'list'"};
    for (int i = 0; i < 3; i++) {
        realm_query_t *query = NULL;
        SUCCEEDS((query = realm_query_parse(realm, key, texts[i], 0, NULL)) &&
                 realm_query_count(query, &count));
        CHECK(count == 1);
        realm_release(query);
    }
    SUCCEEDS(realm_object_add_int(second, indexed, INT64_MAX));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_object_add_int(object, indexed, 4));
    FAILS(RLM_ERR_INVALID_TABLE_REF, realm_get_linked_object(object, indexed));
    /* Of several values for a property the last counts; after a missing target, what came before
     * is written. */
    realm_property_key_t keys[] = {n, n, indexed};
    realm_value_t values[] = {of_int(1), of_int(2), of_int(9)};
    SUCCEEDS(realm_set_values(object, 3, keys, values, false));
    SUCCEEDS(realm_get_value(object, n, &v));
    CHECK(v.integer == 2 && !realm_list_is_valid(later));
    values[1] = of_int(5);
    values[2] = of_link_to(key, 99);
    FAILS(RLM_ERR_NO_SUCH_OBJECT, realm_set_values(object, 3, keys, values, false));
    SUCCEEDS(realm_commit(realm));
    SUCCEEDS(realm_get_value(object, n, &v));
    CHECK(v.integer == 5);
    SUCCEEDS(realm_check(realm, NULL, NULL, &count));
    CHECK(count == 0);
    void *handles[] = {second, later, frozen, inner, other, same_list, dictionary, list, object};
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++)
        realm_release(handles[i]);
    realm_release(realm);
}

/* Handles where nothing is, in collections without elements, with one, and with more than a row
 * holds; in a write transaction, outside and frozen. */
static void of_nothing(realm_t *realm) {
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *thing = make_thing(realm, "nothing");
    realm_dictionary_t *values = dictionary_of(realm, thing, "values");
    realm_list_t *anys = list_of(realm, thing, "anys");
    SUCCEEDS(realm_commit(realm));
    for (int step = 0; step < 12; step++) {
        if (step % 3 == 0)
            SUCCEEDS(realm_begin_write(realm));
        realm_t *frozen = step % 3 == 2 ? realm_freeze(realm) : NULL;
        realm_dictionary_t *map = values;
        realm_list_t *list = anys;
        if (frozen)
            SUCCEEDS(realm_dictionary_resolve_in(values, frozen, &map) &&
                     realm_list_resolve_in(anys, frozen, &list));
        realm_list_t *lists[] = {realm_dictionary_get_list(map, of_text("none")),
                                 realm_list_get_list(list, SIZE_MAX)};
        realm_dictionary_t *maps[] = {realm_dictionary_get_dictionary(map, of_text("none")),
                                      realm_list_get_dictionary(list, SIZE_MAX)};
        for (int i = 0; i < 2; i++) {
            CHECK(lists[i] && !realm_list_is_valid(lists[i]));
            FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_list_size(lists[i], NULL));
            CHECK(maps[i] && !realm_dictionary_is_valid(maps[i]));
            FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_dictionary_size(maps[i], NULL));
            realm_release(lists[i]);
            realm_release(maps[i]);
        }
        if (frozen) {
            realm_release(map);
            realm_release(list);
            realm_release(frozen);
        }
        if (step % 3 != 0)
            continue;
        for (int i = 0, more = step == 0 ? 1 : step == 3 ? 20 : 2000; i < more; i++) {
            char key[16];
            snprintf(key, sizeof key, "k%d", i);
            SUCCEEDS(realm_list_insert(anys, 0, of_type(RLM_TYPE_LIST)));
            SUCCEEDS(realm_dictionary_insert(values, of_text(key), of_type(RLM_TYPE_LIST), 0, 0));
        }
        SUCCEEDS(realm_commit(realm));
    }
    realm_release(anys);
    realm_release(values);
    realm_release(thing);
}

/* Later transactions, and those of others, give the names again that one gave which was rolled back. */
static void of_rolled_back_transactions(realm_t *realm) {
    realm_t *other = open_things("nested.realm");
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *thing = make_thing(realm, "undone");
    realm_list_t *anys = list_of(realm, thing, "anys");
    realm_dictionary_t *values = dictionary_of(realm, thing, "values");
    SUCCEEDS(realm_commit(realm));
    const char *keys[] = {"mine", "the other's"};
    for (int by_other = 0; by_other < 2; by_other++) {
        SUCCEEDS(realm_begin_write(realm));
        realm_list_t *old = realm_list_insert_list(anys, 0);
        realm_list_t *copy = realm_clone(old);
        realm_list_t *of_key = realm_dictionary_insert_list(values, of_text(keys[by_other]));
        realm_dictionary_t *deep = realm_list_insert_dictionary(old, 0);
        realm_results_t *results = realm_list_to_results(old);
        SUCCEEDS(realm_rollback(realm));
        realm_t *writer = by_other ? other : realm;
        SUCCEEDS(realm_begin_write(writer));
        realm_object_t *there =
            realm_get_object(writer, class_key(writer, "Thing"), realm_object_get_key(thing));
        realm_list_t *anys_there = list_of(writer, there, "anys");
        realm_dictionary_t *values_there = dictionary_of(writer, there, "values");
        realm_list_t *new = realm_list_insert_list(anys_there, 0);
        realm_list_t *new_of_key = realm_dictionary_insert_list(values_there, of_text(keys[by_other]));
        realm_dictionary_t *new_deep = realm_list_insert_dictionary(new, 0);
        for (int committed = 0; committed < 2; committed++) {
            if (committed) {
                SUCCEEDS(realm_commit(writer));
                SUCCEEDS(realm_refresh(realm, NULL));
            } else if (!by_other) {
                FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_list_insert(old, 0, of_int(1)));
            }
            bool valid = true;
            SUCCEEDS(realm_results_is_valid(results, &valid));
            CHECK(!valid && !realm_list_is_valid(old) && !realm_list_is_valid(of_key));
            CHECK(!realm_list_is_valid(copy) && !realm_dictionary_is_valid(deep));
            CHECK(!realm_equals(old, new));
            size_t count = 9;
            SUCCEEDS(realm_list_size(new, &count));
            CHECK(count == 1 && realm_list_is_valid(new_of_key));
            CHECK(realm_dictionary_is_valid(new_deep));
        }
        void *all[] = {old,        copy,         of_key, deep,       results, there,
                       anys_there, values_there, new,    new_of_key, new_deep};
        for (size_t j = 0; j < sizeof all / sizeof *all; j++)
            realm_release(all[j]);
    }
    realm_release(anys);
    realm_release(values);
    realm_release(thing);
    realm_release(other);
}

int main(void) {
    realm_t *realm = open_things("nested.realm");
    of_nothing(realm);
    in_lists(realm);
    in_dictionaries(realm);
    in_properties();
    of_rolled_back_transactions(realm);
    realm_release(realm);
    return check_end("nested");
}
