/* Queries and orders over values that are no objects: SELF in lists, sets and dictionaries. */
#include "things.h"

/* The results are these integers; takes the handle. */
static bool are_ints(realm_results_t *results, size_t count, const int64_t *expected) {
    bool same = results && count_results(results) == count;
    for (size_t i = 0; same && i < count; i++) {
        realm_value_t v;
        SUCCEEDS(realm_results_get(results, i, &v));
        same = v.type == RLM_TYPE_INT && v.integer == expected[i];
    }
    realm_release(results);
    return same;
}
#define ARE_INTS(results, ...)                                                                    \
    CHECK(are_ints((results), sizeof(int64_t[]){__VA_ARGS__} / sizeof(int64_t),                   \
                   (int64_t[]){__VA_ARGS__}))
/* The results are these texts of a letter each; keeps the handle. */
static bool are_texts(realm_results_t *results, const char *letters) {
    bool same = results && count_results(results) == strlen(letters);
    for (size_t i = 0; same && letters[i]; i++) {
        realm_value_t v;
        const char text[2] = {letters[i], 0};
        SUCCEEDS(realm_results_get(results, i, &v));
        same = is_text(v, text);
    }
    return same;
}
/* What a query finds; takes the handle. */
static realm_results_t *found(realm_query_t *query) {
    realm_results_t *results = query ? realm_query_find_all(query) : NULL;
    CHECK(results != NULL);
    realm_release(query);
    return results;
}
static realm_results_t *among(realm_list_t *list, const char *text) {
    return found(realm_query_parse_for_list(list, text, 0, NULL));
}

static void of_lists(void) {
    realm_t *realm = open_things("value-lists.realm");
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *thing = make_thing(realm, "a");
    realm_list_t *ints = list_of(realm, thing, "ints");
    const int64_t values[] = {5, 3, 8, 3, 1};
    for (size_t i = 0; i < 5; i++) SUCCEEDS(realm_list_insert(ints, i, of_int(values[i])));
    ARE_INTS(among(ints, "SELF > 2"), 5, 3, 8, 3);
    ARE_INTS(among(ints, "SELF > 2 SORT(SELF DESC)"), 8, 5, 3, 3);
    ARE_INTS(among(ints, "SELF < 8 DISTINCT(SELF) LIMIT(3)"), 5, 3, 1);
    realm_query_t *query = realm_query_parse_for_list(ints, "SELF >= 3 SORT(SELF ASC)", 0, NULL);
    CHECK(query && !strcmp(realm_query_get_description(query), "SELF >= 3 SORT(SELF ASC)"));
    size_t count = 0;
    SUCCEEDS(realm_query_count(query, &count));
    CHECK(count == 4);
    realm_value_t v = of_null();
    bool there = false;
    SUCCEEDS(realm_query_find_first(query, &v, &there));
    CHECK(there && v.type == RLM_TYPE_INT && v.integer == 3);
    realm_value_t five = of_int(5);
    realm_query_arg_t argument = {1, false, &five};
    realm_query_t *both = realm_query_append_query(query, "SELF != $0 LIMIT(2)", 1, &argument);
    CHECK(both && strstr(realm_query_get_description(both), "SELF >= 3 and SELF != 5 SORT"));
    realm_results_t *live = realm_query_find_all(both), *all = realm_list_to_results(ints);
    SUCCEEDS(realm_commit(realm));
    ARE_INTS(realm_clone(live), 3, 3);
    SUCCEEDS(realm_begin_write(realm));
    SUCCEEDS(realm_list_set(ints, 1, of_int(4)));
    ARE_INTS(realm_clone(live), 3, 4);
    SUCCEEDS(realm_list_insert(ints, 0, of_int(3)));
    ARE_INTS(realm_clone(live), 3, 3);
    SUCCEEDS(realm_query_count(query, &count));
    CHECK(count == 5);
    NOTHING(realm_query_find_first(query, &v, &there) == false);
    realm_release(both);
    both = realm_query_append_query(query, "SELF > 100", 0, NULL);
    SUCCEEDS(realm_query_find_first(both, &v, &there));
    CHECK(!there);

    /* Results from results: 3 5 4 8 3 1. */
    realm_results_t *sorted = realm_results_sort(all, "SELF DESC");
    ARE_INTS(realm_clone(sorted), 8, 5, 4, 3, 3, 1);
    realm_results_t *distinct = realm_results_distinct(sorted, "SELF");
    ARE_INTS(realm_clone(distinct), 8, 5, 4, 3, 1);
    realm_results_t *limited = realm_results_limit(distinct, 2);
    ARE_INTS(realm_clone(limited), 8, 5);
    ARE_INTS(realm_results_filter(sorted, query), 8, 5, 4, 3, 3);
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_results_filter(limited, query));
    ARE_INTS(realm_results_refine(limited, "SELF > 5", 0, NULL), 8);
    ARE_INTS(realm_results_refine(all, "SELF > 1 SORT(SELF ASC) LIMIT(3)", 0, NULL), 3, 3, 4);
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_results_refine_format(all, "SELF > 1", 0, NULL));
    ARE_INTS(realm_results_snapshot(limited), 8, 5);
    realm_results_t *odd = found(
        realm_query_parse_for_results(limited, "SELF IN {1, 3, 5} SORT(SELF ASC)", 0, NULL));
    ARE_INTS(realm_clone(odd), 1, 3, 3, 5);
    realm_query_t *again = realm_results_get_query(odd);
    CHECK(again && !strcmp(realm_query_get_description(again), "SELF IN {1, 3, 5}"));
    ARE_INTS(found(again), 3, 5, 3, 1);
    v = of_int(5);
    SUCCEEDS(realm_results_find(sorted, &v, &count, &there));
    CHECK(there && count == 1);
    v = of_int(1);
    SUCCEEDS(realm_results_find(limited, &v, &count, &there));
    CHECK(!there && count == SIZE_MAX);
    SUCCEEDS(realm_results_sum(limited, 0, &v, &there));
    CHECK(there && v.integer == 13);
    SUCCEEDS(realm_results_min(odd, 0, &v, &there));
    CHECK(there && v.integer == 1);
    SUCCEEDS(realm_results_average(distinct, 0, &v, &there));
    CHECK(there && v.dnum == 21 / 5.0);

    /* Any text, where the call says that it is for values. */
    ARE_INTS(found(realm_query_parse_for_values(all, "TRUEPREDICATE LIMIT(2)", 0, NULL)), 3, 5);
    CHECK(count_results(live = (realm_release(live), found(realm_query_parse_for_values(
                                                         all, "FALSEPREDICATE", 0, NULL)))) == 0);

    /* Values that stay, also when the list is gone. */
    realm_results_t *kept = realm_results_snapshot_values(distinct);
    realm_results_t *some = found(realm_query_parse_for_values(kept, "SELF < 6", 0, NULL));
    SUCCEEDS(realm_results_delete_all(limited));
    ARE_INTS(realm_clone(all), 3, 4, 3, 1);
    SUCCEEDS(realm_query_delete_all(query));
    ARE_INTS(realm_clone(all), 1);
    ARE_INTS(realm_clone(kept), 8, 5, 4, 3, 1);
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_results_delete_all(kept));
    SUCCEEDS(realm_object_delete(thing));
    ARE_INTS(realm_clone(kept), 8, 5, 4, 3, 1);
    ARE_INTS(realm_clone(some), 5, 4, 3, 1);
    ARE_INTS(realm_results_sort(some, "SELF ASC"), 1, 3, 4, 5);
    SUCCEEDS(realm_results_sum(some, 0, &v, &there));
    CHECK(there && v.integer == 13);
    v = of_int(4);
    SUCCEEDS(realm_results_find(kept, &v, &count, &there));
    CHECK(there && count == 2);
    /* Whatever asks the list is stale. */
    FAILS(RLM_ERR_STALE_ACCESSOR, realm_results_count(sorted, NULL));
    FAILS(RLM_ERR_STALE_ACCESSOR, realm_results_get(limited, 0, &v));
    FAILS(RLM_ERR_STALE_ACCESSOR, realm_results_sort(sorted, "SELF ASC"));
    FAILS(RLM_ERR_STALE_ACCESSOR, realm_results_snapshot_values(sorted));
    FAILS(RLM_ERR_STALE_ACCESSOR, realm_query_parse_for_values(sorted, "SELF > 1", 0, NULL));
    FAILS(RLM_ERR_STALE_ACCESSOR, realm_query_parse_for_results(sorted, "SELF > 1", 0, NULL));
    FAILS(RLM_ERR_STALE_ACCESSOR, realm_query_count(query, &count));
    FAILS(RLM_ERR_STALE_ACCESSOR, realm_query_find_first(query, &v, &there));
    FAILS(RLM_ERR_STALE_ACCESSOR, realm_query_find_all(query));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_query_parse_for_list(ints, "SELF > 1", 0, NULL));
    SUCCEEDS(realm_rollback(realm));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_query_delete_all(query));
    realm_release(thing);
    realm_release(ints);
    realm_release(all);
    realm_release(sorted);
    realm_release(distinct);
    realm_release(limited);
    realm_release(odd);
    realm_release(live);
    realm_release(kept);
    realm_release(some);
    realm_release(both);
    realm_release(realm);
    FAILS(RLM_ERR_CLOSED_REALM, realm_query_count(query, &count));
    realm_release(query);
}

static void of_sets_and_dictionaries(void) {
    realm_t *realm = open_things("value-sets.realm");
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *thing = make_thing(realm, "a");
    realm_set_t *tags = set_of(realm, thing, "tags");
    realm_dictionary_t *labels = dictionary_of(realm, thing, "labels");
    for (const char *letter = "cabd"; *letter; letter++) {
        const char text[2] = {*letter, 0}, key[2] = {(char)(*letter ^ 3), 0};
        SUCCEEDS(realm_set_insert(tags, of_text(text), NULL, NULL));
        SUCCEEDS(realm_dictionary_insert(labels, of_text(key), of_text(text), NULL, NULL));
    }
    SUCCEEDS(realm_dictionary_insert(labels, of_text("null"), of_null(), NULL, NULL));
    realm_results_t *some = found(realm_query_parse_for_set(tags, "SELF > 'a'", 0, NULL));
    CHECK(are_texts(some, "bcd"));
    realm_results_t *down = realm_results_sort(some, "SELF DESC");
    CHECK(are_texts(down, "dcb"));
    SUCCEEDS(realm_results_delete_all(some));
    CHECK(are_texts(down, ""));
    SUCCEEDS(realm_set_insert(tags, of_text("z"), NULL, NULL));
    CHECK(are_texts(down, "z") && are_texts(some, "z"));

    /* The values of a dictionary, and its keys. */
    realm_results_t *values = realm_dictionary_to_results(labels), *keys = NULL;
    size_t size;
    SUCCEEDS(realm_dictionary_get_keys(labels, &size, &keys));
    CHECK(size == 5 && count_results(values) == 5);
    realm_results_t *text = found(
        realm_query_parse_for_results(values, "SELF != NULL SORT(SELF ASC)", 0, NULL));
    CHECK(are_texts(text, "abcd"));
    realm_results_t *nulls = found(
        realm_query_parse_for_results(values, "SELF == NULL", 0, NULL));
    realm_value_t v = of_text("");
    CHECK(count_results(nulls) == 1 && realm_results_get(nulls, 0, &v) && v.type == RLM_TYPE_NULL);
    realm_results_t *letters = found(
        realm_query_parse_for_results(keys, "SELF.@size == 1", 0, NULL));
    realm_results_t *reversed = realm_results_sort(letters, "SELF DESC");
    CHECK(are_texts(letters, "`abg") && are_texts(reversed, "gba`"));
    SUCCEEDS(realm_dictionary_erase(labels, of_text("g"), NULL));
    CHECK(are_texts(reversed, "ba`") && count_results(text) == 3);

    /* Frozen, thawed, and on their way to another thread. */
    SUCCEEDS(realm_commit(realm));
    realm_t *frozen = realm_freeze(realm);
    realm_results_t *still = realm_results_resolve_in(reversed, frozen);
    realm_thread_safe_reference_t *reference = realm_create_thread_safe_reference(text);
    SUCCEEDS(realm_begin_write(realm));
    SUCCEEDS(realm_dictionary_erase(labels, of_text("b"), NULL));
    SUCCEEDS(realm_commit(realm));
    CHECK(realm_is_frozen(still) && are_texts(still, "ba`") && are_texts(reversed, "a`"));
    realm_results_t *back = realm_results_resolve_in(still, realm);
    CHECK(are_texts(back, "a`"));
    realm_results_t *arrived = realm_results_from_thread_safe_reference(realm, reference);
    CHECK(are_texts(arrived, "bc"));
    realm_results_t *frozen_kept = realm_results_snapshot_values(still);
    CHECK(are_texts(frozen_kept, "ba`"));
    realm_release(frozen_kept);
    realm_release(arrived);
    realm_release(back);
    realm_release(reference);
    realm_release(still);
    realm_release(frozen);
    realm_release(reversed);
    realm_release(letters);
    realm_release(nulls);
    realm_release(text);
    realm_release(keys);
    realm_release(values);
    realm_release(down);
    realm_release(some);
    realm_release(labels);
    realm_release(tags);
    realm_release(thing);
    realm_release(realm);
}

static void of_mixed_values(void) {
    realm_t *realm = open_things("value-mixed.realm");
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *thing = make_thing(realm, "a"), *other = make_thing(realm, "b");
    realm_list_t *anys = list_of(realm, thing, "anys");
    SUCCEEDS(realm_list_insert(anys, 0, of_int(2)));
    SUCCEEDS(realm_list_insert(anys, 1, of_text("x")));
    SUCCEEDS(realm_list_insert(anys, 2, link_to(other)));
    realm_dictionary_t *inner = realm_list_insert_dictionary(anys, 3);
    SUCCEEDS(realm_dictionary_insert(inner, of_text("k"), of_int(9), NULL, NULL));
    SUCCEEDS(realm_list_insert(anys, 4, of_double(2.0)));
    realm_results_t *maps = among(anys, "SELF.k == 9");
    CHECK(count_results(maps) == 1);
    realm_dictionary_t *same = realm_results_get_dictionary(maps, 0);
    realm_value_t v;
    bool there = false;
    CHECK(same && realm_dictionary_find(same, of_text("k"), &v, &there) && v.integer == 9);
    NOTHING(realm_results_get_list(maps, 0));
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_results_get_dictionary(maps, 1));
    realm_results_t *numbers = among(anys, "SELF.@type == 'numeric'");
    CHECK(count_results(numbers) == 2);
    realm_results_t *one = realm_results_distinct(numbers, "SELF");
    CHECK(count_results(one) == 1);
    realm_results_t *links = among(anys, "SELF.name == 'b'");
    CHECK(count_results(links) == 1 && realm_results_get(links, 0, &v) && v.type == RLM_TYPE_LINK);
    size_t index;
    SUCCEEDS(realm_results_find_object(links, other, &index, &there));
    CHECK(there && index == 0);
    realm_results_t *kept = realm_results_snapshot_values(links);
    SUCCEEDS(realm_object_delete(other));
    CHECK(count_results(links) == 0 && count_results(kept) == 1);
    CHECK(realm_results_get(kept, 0, &v) && v.type == RLM_TYPE_NULL);
    SUCCEEDS(realm_commit(realm));
    realm_release(kept);
    realm_release(links);
    realm_release(one);
    realm_release(numbers);
    realm_release(same);
    realm_release(maps);
    realm_release(inner);
    realm_release(anys);
    realm_release(other);
    realm_release(thing);
    realm_release(realm);
}

/* Texts that are for objects are refused as realm-core refuses all of them. */
static void refusals(void) {
    realm_t *realm = open_things("value-refusals.realm");
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *thing = make_thing(realm, "a");
    realm_list_t *ints = list_of(realm, thing, "ints"), *names = list_of(realm, thing, "names");
    realm_set_t *tags = set_of(realm, thing, "tags");
    realm_list_t *friends = list_of(realm, thing, "friends");
    realm_results_t *results = realm_list_to_results(ints), *texts = realm_list_to_results(names);
    SUCCEEDS(realm_list_insert(ints, 0, of_int(1)));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_query_parse_for_list(ints, "TRUEPREDICATE", 0, NULL));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_query_parse_for_list(ints, "name == 'SELF'", 0, NULL));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_query_parse_for_list(ints, "", 0, NULL));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_query_parse_for_set(tags, "x > 1", 0, NULL));
    FAILS(RLM_ERR_INVALID_TABLE_REF, realm_query_parse_for_results(results, "x > 1", 0, NULL));
    FAILS(RLM_ERR_INVALID_TABLE_REF, realm_results_sort(results, "name ASC"));
    FAILS(RLM_ERR_INVALID_TABLE_REF, realm_results_sort(results, ""));
    FAILS(RLM_ERR_INVALID_TABLE_REF, realm_results_distinct(results, "name"));
    /* Those that are for values say what is wrong. */
    FAILS(RLM_ERR_INVALID_QUERY_STRING, realm_query_parse_for_list(ints, "SELF >", 0, NULL));
    FAILS(RLM_ERR_INVALID_QUERY_STRING, realm_query_parse_for_list(names, "SELF == 'a", 0, NULL));
    FAILS(RLM_ERR_INVALID_QUERY_STRING, realm_results_sort(results, "SELF"));
    FAILS(RLM_ERR_INVALID_QUERY_STRING, realm_results_sort(results, "SELF DESC) LIMIT(1"));
    FAILS(RLM_ERR_INVALID_QUERY_STRING, realm_results_distinct(results, "SELF,"));
    FAILS(RLM_ERR_INVALID_QUERY, realm_query_parse_for_list(ints, "SELF.x > 1", 0, NULL));
    FAILS(RLM_ERR_INVALID_QUERY, realm_query_parse_for_list(ints, "SELF > 1 AND x > 1", 0, NULL));
    FAILS(RLM_ERR_INVALID_QUERY, realm_query_parse_for_list(ints, "SELF BEGINSWITH 'a'", 0, NULL));
    FAILS(RLM_ERR_INVALID_QUERY, realm_results_sort(results, "SELF.x ASC"));
    FAILS(RLM_ERR_INVALID_QUERY_ARG, realm_query_parse_for_list(ints, "SELF > $0", 0, NULL));
    realm_value_t bad = of_text("x");
    realm_query_arg_t argument = {1, false, &bad};
    FAILS(RLM_ERR_INVALID_QUERY_ARG,
          realm_query_parse_for_list(ints, "SELF > $0", 1, &argument));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_query_parse_for_values(results, NULL, 0, NULL));
    FAILS(RLM_ERR_INVALID_QUERY_STRING, realm_query_parse_for_values(results, "", 0, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_query_parse_for_values(results, "SELF > $0", 1, NULL));

    /* Queries and results that do not belong together. */
    realm_query_t *of_ints = realm_query_parse_for_list(ints, "SELF > 0", 0, NULL);
    realm_query_t *of_things =
        realm_query_parse(realm, class_key(realm, "Thing"), "TRUEPREDICATE", 0, NULL);
    realm_results_t *things = realm_object_find_all(realm, class_key(realm, "Thing"));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_results_filter(results, of_things));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_results_filter(texts, of_ints));
    FAILS(RLM_ERR_INVALID_PROPERTY, realm_results_filter(things, of_ints));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_query_parse_for_values(things, "SELF > 1", 0, NULL));
    char *plan = realm_query_explain(of_ints);
    CHECK(plan && strstr(plan, "test: SELF > 0"));
    realm_free(plan);
    plan = realm_results_explain(results);
    CHECK(plan && strstr(plan, "start: all values"));
    realm_free(plan);
    FAILS(RLM_ERR_INVALID_QUERY, realm_query_append_query(of_ints, "name == 'a'", 0, NULL));
    realm_results_t *kept = realm_results_snapshot_values(things);
    CHECK(kept && count_results(kept) == 1);
    realm_value_t v;
    realm_results_t *none = realm_results_limit(results, 0);
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_results_get(none, 0, &v));
    realm_results_t *sorted = realm_results_sort(results, "SELF ASC");
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_results_get(sorted, 1, &v));
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_results_get(sorted, SIZE_MAX, &v));
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_results_get_object(sorted, 0));
    SUCCEEDS(realm_commit(realm));
    SUCCEEDS(realm_close(realm));
    FAILS(RLM_ERR_CLOSED_REALM, realm_query_count(of_ints, NULL));
    CHECK(!realm_query_find_all(of_ints) && !realm_results_count(sorted, NULL));
    realm_release(sorted);
    realm_release(none);
    realm_release(kept);
    realm_release(things);
    realm_release(of_things);
    realm_release(of_ints);
    realm_release(texts);
    realm_release(results);
    realm_release(friends);
    realm_release(tags);
    realm_release(names);
    realm_release(ints);
    realm_release(thing);
    realm_release(realm);
}

int main(void) {
    of_lists();
    of_sets_and_dictionaries();
    of_mixed_values();
    refusals();
    return check_end("value queries");
}
