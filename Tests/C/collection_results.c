/* Results over lists, sets and dictionaries: of objects, of values, of keys. */
#include "things.h"

#include <math.h>

/* The names of the objects, one letter each. */
static bool named(realm_t *realm, realm_results_t *results, const char *names) {
    if (count_results(results) != strlen(names))
        return false;
    for (size_t i = 0; names[i]; i++) {
        realm_object_t *object = realm_results_get_object(results, i);
        realm_value_t v, name = of_text("-");
        SUCCEEDS(realm_results_get(results, i, &v));
        if (v.type == RLM_TYPE_LINK &&
            !realm_get_value(object, thing_key(realm, "name"), &name))
            return false;
        if (name.string.data[0] != names[i])
            return false;
        realm_release(object);
    }
    return true;
}

static void of_objects(void) {
    realm_t *realm = open_things("objects.realm");
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *things[5];
    char name[2] = "a";
    for (int i = 0; i < 5; i++, name[0]++)
        things[i] = make_thing(realm, name);
    realm_list_t *friends = list_of(realm, things[0], "friends");
    const int order[] = {2, 0, 4, 0, 1};
    for (size_t i = 0; i < 5; i++)
        SUCCEEDS(realm_list_insert(friends, i, link_to(things[order[i]])));
    realm_results_t *all = realm_list_to_results(friends);
    CHECK(all && named(realm, all, "caeab"));
    /* Live inside the transaction, without and with conditions. */
    realm_query_t *query = realm_query_parse(realm, class_key(realm, "Thing"), "name != 'e'", 0, 0);
    realm_results_t *some = realm_results_filter(all, query);
    CHECK(some && named(realm, some, "caab"));
    SUCCEEDS(realm_list_insert(friends, 0, link_to(things[3])));
    CHECK(named(realm, all, "dcaeab") && named(realm, some, "dcaab"));
    SUCCEEDS(realm_set_value(things[2], thing_key(realm, "name"), of_text("e"), false));
    CHECK(named(realm, all, "deaeab") && named(realm, some, "daab"));
    SUCCEEDS(realm_set_value(things[2], thing_key(realm, "name"), of_text("c"), false));
    realm_results_t *sorted = realm_results_sort(all, "name DESC");
    CHECK(sorted && named(realm, sorted, "edcbaa"));
    realm_results_t *distinct = realm_results_distinct(sorted, "name");
    CHECK(distinct && named(realm, distinct, "edcba"));
    realm_results_t *limited = realm_results_limit(all, 3);
    CHECK(limited && named(realm, limited, "dca"));
    SUCCEEDS(realm_commit(realm));
    CHECK(named(realm, all, "dcaeab") && named(realm, some, "dcaab") &&
          named(realm, sorted, "edcbaa") && named(realm, limited, "dca"));

    size_t index = 0;
    bool found = false;
    SUCCEEDS(realm_results_find_object(all, things[1], &index, &found));
    CHECK(found && index == 5);
    realm_value_t v = link_to(things[0]);
    SUCCEEDS(realm_results_find(all, &v, &index, &found));
    CHECK(found && index == 2);
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_results_get(all, 6, &v));
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_results_get(all, SIZE_MAX, &v));

    /* A query over the list, as often as its objects are there. */
    realm_query_t *members = realm_query_parse_for_list(friends, "name == 'a'", 0, NULL);
    SUCCEEDS(realm_query_count(members, &index));
    CHECK(index == 2);
    realm_list_t *ints = list_of(realm, things[0], "ints");
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_query_parse_for_list(ints, "TRUEPREDICATE", 0, NULL));

    /* A snapshot keeps its elements. */
    realm_results_t *snapshot = realm_results_snapshot(all);
    SUCCEEDS(realm_begin_write(realm));
    SUCCEEDS(realm_object_delete(things[4]));
    CHECK(named(realm, all, "dcaab") && named(realm, snapshot, "dca-ab"));
    SUCCEEDS(realm_query_count(members, &index));
    CHECK(index == 2);
    SUCCEEDS(realm_list_erase(friends, 2));
    SUCCEEDS(realm_query_count(members, &index));
    CHECK(index == 1 && named(realm, some, "dcab"));
    /* Deleting elements deletes the objects. */
    SUCCEEDS(realm_results_delete_all(limited));
    CHECK(count_of(realm, "Thing") == 1 && count_results(all) == 0);
    SUCCEEDS(realm_rollback(realm));
    CHECK(named(realm, all, "dcaeab"));

    /* Frozen, and thawed. */
    realm_t *frozen = realm_freeze(realm);
    realm_results_t *still = realm_results_resolve_in(some, frozen);
    SUCCEEDS(realm_begin_write(realm));
    SUCCEEDS(realm_object_delete(things[0]));
    SUCCEEDS(realm_commit(realm));
    CHECK(is_valid(all) && count_results(all) == 0 && count_results(some) == 0);
    CHECK(still && realm_is_frozen(still) && named(frozen, still, "dcaab"));
    realm_results_t *back = realm_results_resolve_in(still, realm);
    CHECK(back && is_valid(back) && count_results(back) == 0);
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_list_to_results(friends));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_query_parse_for_list(friends, "name == 'a'", 0, 0));

    realm_release(back);
    realm_release(still);
    realm_release(frozen);
    realm_release(snapshot);
    realm_release(members);
    realm_release(ints);
    realm_release(limited);
    realm_release(distinct);
    realm_release(sorted);
    realm_release(some);
    realm_release(query);
    realm_release(all);
    realm_release(friends);
    for (int i = 0; i < 5; i++)
        realm_release(things[i]);
    realm_release(realm);
}

static void of_sets_and_dictionaries(void) {
    realm_t *realm = open_things("others.realm");
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *a = make_thing(realm, "a"), *b = make_thing(realm, "b"),
                   *c = make_thing(realm, "c");
    realm_set_t *peers = set_of(realm, a, "peers");
    SUCCEEDS(realm_set_insert(peers, link_to(c), NULL, NULL));
    SUCCEEDS(realm_set_insert(peers, link_to(a), NULL, NULL));
    realm_results_t *of_set = realm_set_to_results(peers);
    CHECK(of_set && named(realm, of_set, "ac"));
    realm_query_t *query = realm_query_parse_for_set(peers, "name > 'a'", 0, NULL);
    realm_results_t *greater = realm_query_find_all(query);
    CHECK(greater && named(realm, greater, "c"));
    realm_dictionary_t *links = dictionary_of(realm, a, "links");
    SUCCEEDS(realm_dictionary_insert(links, of_text("z"), link_to(a), NULL, NULL));
    SUCCEEDS(realm_dictionary_insert(links, of_text("y"), of_null(), NULL, NULL));
    SUCCEEDS(realm_dictionary_insert(links, of_text("x"), link_to(b), NULL, NULL));
    realm_results_t *values = realm_dictionary_to_results(links);
    CHECK(values && named(realm, values, "b-a"));
    realm_object_t *none = realm_results_get_object(values, 1);
    CHECK(none && !realm_object_is_valid(none));
    realm_release(none);
    realm_results_t *sorted = realm_results_sort(values, "name ASC");
    CHECK(sorted && count_results(sorted) >= 2);
    size_t size = 0;
    realm_results_t *keys = NULL;
    SUCCEEDS(realm_dictionary_get_keys(links, &size, &keys));
    realm_value_t v;
    CHECK(keys && size == 3 && realm_results_get(keys, 0, &v) && is_text(v, "x"));
    v = of_text("z");
    size_t index = 0;
    bool found = false;
    SUCCEEDS(realm_results_find(keys, &v, &index, &found));
    CHECK(found && index == 2);
    SUCCEEDS(realm_commit(realm));
    CHECK(named(realm, values, "b-a") && count_results(keys) == 3);
    SUCCEEDS(realm_begin_write(realm));
    /* Entries go, objects stay. */
    SUCCEEDS(realm_results_delete_all(values));
    CHECK(count_of(realm, "Thing") == 3 && count_results(keys) == 0);
    /* Of a set, the objects go. */
    SUCCEEDS(realm_results_delete_all(of_set));
    CHECK(count_of(realm, "Thing") == 1);
    SUCCEEDS(realm_rollback(realm));

    /* Backlinks through collections, once per link. */
    SUCCEEDS(realm_begin_write(realm));
    realm_list_t *friends = list_of(realm, b, "friends");
    SUCCEEDS(realm_list_insert(friends, 0, link_to(c)));
    SUCCEEDS(realm_list_insert(friends, 0, link_to(c)));
    realm_class_key_t thing = class_key(realm, "Thing");
    realm_results_t *linking = realm_get_backlinks(c, thing, thing_key(realm, "friends"));
    CHECK(linking && named(realm, linking, "bb"));
    realm_release(linking);
    linking = realm_get_backlinks(c, thing, thing_key(realm, "peers"));
    CHECK(linking && named(realm, linking, "a"));
    realm_release(linking);
    linking = realm_get_backlinks(b, thing, thing_key(realm, "links"));
    CHECK(linking && named(realm, linking, "a"));
    FAILS(RLM_ERR_INVALID_PROPERTY, realm_get_backlinks(c, thing, thing_key(realm, "ints")));
    FAILS(RLM_ERR_INVALID_PROPERTY, realm_get_backlinks(c, thing, thing_key(realm, "parts")));
    FAILS(RLM_ERR_INVALID_PROPERTY, realm_get_backlinks(c, thing, thing_key(realm, "anys")));
    SUCCEEDS(realm_commit(realm));
    CHECK(named(realm, linking, "a"));
    realm_release(linking);
    realm_release(friends);
    realm_release(keys);
    realm_release(sorted);
    realm_release(values);
    realm_release(links);
    realm_release(greater);
    realm_release(query);
    realm_release(of_set);
    realm_release(peers);
    realm_release(a);
    realm_release(b);
    realm_release(c);
    realm_release(realm);
}

/* A query of class Thing with one argument; the results of it. */
static realm_results_t *found(realm_t *realm, const char *text, realm_value_t argument) {
    realm_query_arg_t arg = {1, false, &argument};
    realm_query_t *query = NULL;
    SUCCEEDS((query = realm_query_parse(realm, class_key(realm, "Thing"), text, 1, &arg)) != NULL);
    realm_results_t *results = realm_query_find_all(query);
    realm_release(query);
    return results;
}

/* Null links are elements of a dictionary: no object, but not nothing. */
static void of_null_links(void) {
    realm_t *realm = open_things("nulls.realm");
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *a = make_thing(realm, "a"), *b = make_thing(realm, "b");
    SUCCEEDS(realm_set_value(b, thing_key(realm, "other"), link_to(a), false));
    realm_dictionary_t *links = dictionary_of(realm, a, "links");
    SUCCEEDS(realm_dictionary_insert(links, of_text("k"), of_null(), NULL, NULL));
    realm_results_t *values = realm_dictionary_to_results(links);
    /* With the null link alone, then with others. */
    const char *plain[] = {"-", "b-a"}, *behind[] = {"-", "ba-"}, *names[] = {"-", "ab-"};
    for (int round = 0; round < 2; round++) {
        if (round) {
            SUCCEEDS(realm_dictionary_insert(links, of_text("z"), link_to(a), NULL, NULL));
            SUCCEEDS(realm_dictionary_insert(links, of_text("b"), link_to(b), NULL, NULL));
        }
        CHECK(named(realm, values, plain[round]));
        const struct {
            realm_results_t *results;
            const char *names;
        } refined[] = {
            {realm_results_distinct(values, "name"), behind[round]},
            {realm_results_distinct(values, "other.name"), round ? "b-" : "-"},
            {realm_results_sort(values, "name ASC"), names[round]},
            {realm_results_sort(values, "name DESC"), behind[round]},
            {realm_results_snapshot(values), plain[round]},
        };
        for (size_t i = 0; i < sizeof refined / sizeof *refined; i++) {
            CHECK(named(realm, refined[i].results, refined[i].names));
            realm_release(refined[i].results);
        }
        realm_query_t *query = realm_results_get_query(values);
        size_t count = 0;
        SUCCEEDS(realm_query_count(query, &count));
        CHECK(count == strlen(plain[round]));
        realm_results_t *all = realm_query_find_all(query);
        CHECK(named(realm, all, plain[round]));
        realm_release(all);
        bool is_there = !round;
        realm_value_t first = of_null();
        SUCCEEDS(realm_query_find_first(query, &first, &is_there));
        CHECK(round ? is_there && same(first, link_to(b)) : !is_there);
        realm_release(query);
        /* What conditions say of objects, null links don't satisfy. */
        query = realm_query_parse_for_results(values, "name != 'c'", 0, NULL);
        all = realm_results_filter(values, query);
        CHECK(named(realm, all, round ? "ba" : ""));
        realm_release(all);
        realm_release(query);
        /* K2, Q3: null is another value than any object, here and behind a link. */
        const struct {
            const char *text, *names[2];
        } texts[] = {
            {"ANY links <> $0", {"a", "a"}},  {"links == $0", {"", "a"}},
            {"ALL links == $0", {"b", "b"}},  {"ALL links != $0", {"ab", "b"}},
            {"NONE links != $0", {"b", "b"}}, {"NONE links == $0", {"ab", "b"}},
            {"other.links != $0", {"b", "b"}}, {"ALL other.links != $0", {"ab", "a"}},
            {"links.@count == 0", {"ab", "b"}}, {"links.name == NULL", {"", ""}},
        };
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
            all = found(realm, texts[i].text, link_to(b));
            if (!named(realm, all, texts[i].names[round])) {
                fprintf(stderr, "round %d, %s\n", round, texts[i].text);
                CHECK(false);
            }
            realm_release(all);
        }
    }
    SUCCEEDS(realm_commit(realm));
    realm_release(values);
    realm_release(links);
    realm_release(a);
    realm_release(b);
    realm_release(realm);
}

static void of_values(void) {
    realm_t *realm = open_things("values.realm");
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *thing = make_thing(realm, "a");
    realm_list_t *ints = list_of(realm, thing, "maybes");
    realm_results_t *results = realm_list_to_results(ints);
    realm_value_t v = of_null();
    bool found = true;
    SUCCEEDS(realm_results_sum(results, 0, &v, &found));
    CHECK(v.type == RLM_TYPE_INT && v.integer == 0 && !found);
    SUCCEEDS(realm_list_insert(ints, 0, of_null()));
    SUCCEEDS(realm_results_sum(results, 0, &v, &found));
    CHECK(v.type == RLM_TYPE_INT && v.integer == 0 && found);
    SUCCEEDS(realm_results_min(results, 0, &v, &found));
    CHECK(v.type == RLM_TYPE_NULL && !found);
    for (int i = 1; i <= 4; i++)
        SUCCEEDS(realm_list_insert(ints, (size_t)i, of_int(i * i)));
    CHECK(count_results(results) == 5);
    SUCCEEDS(realm_results_min(results, 0, &v, &found));
    CHECK(found && v.integer == 1);
    SUCCEEDS(realm_results_max(results, -1, &v, &found));
    CHECK(found && v.integer == 16);
    SUCCEEDS(realm_results_sum(results, 0, &v, &found));
    CHECK(found && v.integer == 30);
    SUCCEEDS(realm_results_average(results, 0, &v, &found));
    CHECK(found && v.type == RLM_TYPE_DOUBLE && v.dnum == 7.5);
    SUCCEEDS(realm_commit(realm));
    SUCCEEDS(realm_results_sum(results, 0, &v, &found));
    CHECK(found && v.integer == 30);
    SUCCEEDS(realm_results_get(results, 4, &v));
    CHECK(v.integer == 16);
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_results_get(results, 5, &v));
    size_t index;
    v = of_int(9);
    SUCCEEDS(realm_results_find(results, &v, &index, &found));
    CHECK(found && index == 3);
    v = of_text("9");
    SUCCEEDS(realm_results_find(results, &v, &index, &found));
    CHECK(!found && index == SIZE_MAX);
    SUCCEEDS(realm_results_find_object(results, thing, &index, &found));
    CHECK(!found && index == SIZE_MAX);
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_results_get_object(results, 0));
    FAILS(RLM_ERR_INVALID_TABLE_REF, realm_results_sort(results, "x ASC"));
    FAILS(RLM_ERR_INVALID_TABLE_REF, realm_results_distinct(results, "x"));
    realm_query_t *query = realm_results_get_query(results);
    SUCCEEDS(realm_query_count(query, &index));
    CHECK(index == 0);
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_results_filter(results, query));
    FAILS(RLM_ERR_INVALID_TABLE_REF,
          realm_query_parse_for_results(results, "TRUEPREDICATE", 0, NULL));
    realm_results_t *limited = realm_results_limit(results, 3), *copy = realm_clone(results);
    CHECK(limited && count_results(limited) == 3 && count_results(copy) == 5);
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_results_get(limited, 3, &v));
    SUCCEEDS(realm_results_sum(limited, 0, &v, &found));
    CHECK(v.integer == 5);
    realm_t *frozen = realm_freeze(realm);
    realm_results_t *still = realm_results_resolve_in(results, frozen);
    CHECK(still && realm_is_frozen(still));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_results_delete_all(results));
    SUCCEEDS(realm_begin_write(realm));
    SUCCEEDS(realm_results_delete_all(limited));
    CHECK(count_results(results) == 2 && size_of_list(ints) == 2);
    SUCCEEDS(realm_results_delete_all(results));
    CHECK(size_of_list(ints) == 0 && count_results(still) == 5);
    SUCCEEDS(realm_results_max(still, 0, &v, &found));
    CHECK(v.integer == 16);

    /* Text and doubles. */
    realm_list_t *names = list_of(realm, thing, "names"), *doubles = list_of(realm, thing, "doubles");
    realm_results_t *texts = realm_list_to_results(names), *numbers = realm_list_to_results(doubles);
    SUCCEEDS(realm_list_insert(names, 0, of_text("x")));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_results_min(texts, 0, &v, &found));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_results_sum(texts, 0, &v, &found));
    CHECK(realm_results_get(texts, 0, &v) && is_text(v, "x"));
    SUCCEEDS(realm_list_insert(doubles, 0, of_double(NAN)));
    SUCCEEDS(realm_list_insert(doubles, 0, of_double(1.5)));
    SUCCEEDS(realm_list_insert(doubles, 0, of_null()));
    SUCCEEDS(realm_results_average(numbers, 0, &v, &found));
    CHECK(found && v.dnum == 1.5);

    /* Mixed: numbers are added, everything has an order. */
    realm_dictionary_t *values = dictionary_of(realm, thing, "values");
    realm_results_t *mixed = realm_dictionary_to_results(values);
    SUCCEEDS(realm_results_sum(mixed, 0, &v, &found));
    CHECK(!found && v.type == RLM_TYPE_INT && v.integer == 0);
    SUCCEEDS(realm_dictionary_insert(values, of_text("a"), of_int(3), NULL, NULL));
    SUCCEEDS(realm_dictionary_insert(values, of_text("b"), of_text("later"), NULL, NULL));
    SUCCEEDS(realm_dictionary_insert(values, of_text("c"), of_bool(true), NULL, NULL));
    SUCCEEDS(realm_results_min(mixed, 0, &v, &found));
    CHECK(found && v.type == RLM_TYPE_BOOL);
    SUCCEEDS(realm_results_max(mixed, 0, &v, &found));
    CHECK(found && is_text(v, "later"));
    SUCCEEDS(realm_results_sum(mixed, 0, &v, &found));
    CHECK(found && v.type == RLM_TYPE_DECIMAL128);

    /* With the object they become stale. */
    SUCCEEDS(realm_object_delete(thing));
    CHECK(!is_valid(results) && !is_valid(copy) && is_valid(still));
    FAILS(RLM_ERR_STALE_ACCESSOR, realm_results_count(results, NULL));
    FAILS(RLM_ERR_STALE_ACCESSOR, realm_results_get(results, 0, NULL));
    FAILS(RLM_ERR_STALE_ACCESSOR, realm_results_sum(results, 0, NULL, NULL));
    FAILS(RLM_ERR_STALE_ACCESSOR, realm_results_limit(results, 1));
    FAILS(RLM_ERR_STALE_ACCESSOR, realm_results_snapshot(results));
    FAILS(RLM_ERR_STALE_ACCESSOR, realm_results_resolve_in(results, frozen));
    FAILS(RLM_ERR_STALE_ACCESSOR, realm_results_delete_all(results));
    SUCCEEDS(realm_commit(realm));
    FAILS(RLM_ERR_INVALID_TABLE_REF, realm_results_resolve_in(still, realm));
    realm_release(mixed);
    realm_release(values);
    realm_release(texts);
    realm_release(numbers);
    realm_release(names);
    realm_release(doubles);
    realm_release(still);
    realm_release(frozen);
    realm_release(copy);
    realm_release(limited);
    realm_release(query);
    realm_release(results);
    realm_release(ints);
    realm_release(thing);
    realm_release(realm);
}

/* A query does not keep the realm open, also not through the list that it asks. */
static void of_closed_realms(void) {
    realm_t *realm = open_things("closed.realm");
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *thing = make_thing(realm, "a");
    realm_list_t *friends = list_of(realm, thing, "friends");
    SUCCEEDS(realm_list_insert(friends, 0, link_to(thing)));
    SUCCEEDS(realm_commit(realm));
    realm_query_t *query = realm_query_parse_for_list(friends, "name == 'a'", 0, NULL);
    size_t count = 0;
    SUCCEEDS(realm_query_count(query, &count));
    CHECK(count == 1);
    realm_query_t *more = realm_query_append_query(query, "name == 'b'", 0, NULL);
    SUCCEEDS(realm_query_count(more, &count));
    CHECK(count == 0);
    realm_release(friends);
    realm_release(thing);
    realm_release(realm);
    FAILS(RLM_ERR_CLOSED_REALM, realm_query_count(query, &count));
    FAILS(RLM_ERR_CLOSED_REALM, realm_query_find_all(query));
    realm_release(more);
    realm_release(query);
}

int main(void) {
    of_objects();
    of_sets_and_dictionaries();
    of_null_links();
    of_values();
    of_closed_realms();
    return check_end("collection results");
}
