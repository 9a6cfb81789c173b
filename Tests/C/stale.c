/* Handles whose target is gone: of a deleted object, of one whose creation was rolled back, of a
 * closed and of a compacted realm. Every call says so, and none does anything. */
#include "things.h"

enum { LISTS = 6, SETS = 3, DICTIONARIES = 5 };
static const char *list_names[LISTS - 1] = {"ints", "names", "anys", "friends", "parts"};
static const char *set_names[SETS] = {"tags", "mixture", "peers"};
static const char *dictionary_names[DICTIONARIES - 1] = {"scores", "links", "parts_by_name",
                                                         "values"};

typedef struct world {
    realm_t *realm;
    realm_object_t *thing, *part, *alive;
    realm_property_key_t name, other, friends, tags, scores, part_key;
    realm_class_key_t class;
    /* The last list and dictionary stand in a mixed list. */
    realm_list_t *lists[LISTS];
    realm_set_t *sets[SETS];
    realm_dictionary_t *dictionaries[DICTIONARIES];
    /* Over values, over objects. */
    realm_results_t *values[8], *objects[6];
    size_t values_count, objects_count;
    realm_query_t *query;
} world_t;

static void make_world(world_t *w) {
    memset(w->values, 0, sizeof w->values);
    w->values_count = w->objects_count = 0;
    w->class = class_key(w->realm, "Thing");
    w->name = thing_key(w->realm, "name");
    w->other = thing_key(w->realm, "other");
    w->friends = thing_key(w->realm, "friends");
    w->tags = thing_key(w->realm, "tags");
    w->scores = thing_key(w->realm, "scores");
    w->part_key = thing_key(w->realm, "part");
    w->alive = make_thing(w->realm, "alive");
    w->thing = make_thing(w->realm, "thing");
    w->part = realm_set_embedded(w->thing, w->part_key);
    for (int i = 0; i < LISTS - 1; i++)
        w->lists[i] = list_of(w->realm, w->thing, list_names[i]);
    for (int i = 0; i < SETS; i++)
        w->sets[i] = set_of(w->realm, w->thing, set_names[i]);
    for (int i = 0; i < DICTIONARIES - 1; i++)
        w->dictionaries[i] = dictionary_of(w->realm, w->thing, dictionary_names[i]);
    SUCCEEDS(realm_list_insert(w->lists[0], 0, of_int(1)));
    SUCCEEDS(realm_list_insert(w->lists[1], 0, of_text("x")));
    SUCCEEDS((w->lists[LISTS - 1] = realm_list_insert_list(w->lists[2], 0)) != NULL);
    SUCCEEDS((w->dictionaries[DICTIONARIES - 1] =
                  realm_list_insert_dictionary(w->lists[2], 1)) != NULL);
    SUCCEEDS(realm_list_insert(w->lists[3], 0, link_to(w->alive)));
    realm_release(realm_list_insert_embedded(w->lists[4], 0));
    SUCCEEDS(realm_set_insert(w->sets[0], of_text("x"), NULL, NULL));
    SUCCEEDS(realm_set_insert(w->sets[2], link_to(w->alive), NULL, NULL));
    SUCCEEDS(realm_dictionary_insert(w->dictionaries[0], of_text("k"), of_int(1), NULL, NULL));
    SUCCEEDS(realm_dictionary_insert(w->dictionaries[1], of_text("k"), link_to(w->alive), 0, 0));
    w->values[w->values_count++] = realm_list_to_results(w->lists[0]);
    w->values[w->values_count++] = realm_list_to_results(w->lists[2]);
    w->values[w->values_count++] = realm_list_to_results(w->lists[LISTS - 1]);
    w->values[w->values_count++] = realm_set_to_results(w->sets[0]);
    w->values[w->values_count++] = realm_dictionary_to_results(w->dictionaries[0]);
    w->values[w->values_count++] = realm_dictionary_to_results(w->dictionaries[DICTIONARIES - 1]);
    SUCCEEDS(realm_dictionary_get_keys(w->dictionaries[1], NULL, &w->values[w->values_count++]));
    w->objects[w->objects_count++] = realm_list_to_results(w->lists[3]);
    w->objects[w->objects_count++] = realm_list_to_results(w->lists[4]);
    w->objects[w->objects_count++] = realm_set_to_results(w->sets[2]);
    w->objects[w->objects_count++] = realm_dictionary_to_results(w->dictionaries[1]);
    w->objects[w->objects_count++] = realm_get_backlinks(w->thing, w->class, w->other);
    w->query = realm_query_parse(w->realm, w->class, "name != ''", 0, NULL);
    for (size_t i = 0; i < w->values_count; i++)
        CHECK(w->values[i] && is_valid(w->values[i]));
    for (size_t i = 0; i < w->objects_count; i++)
        CHECK(w->objects[i] && is_valid(w->objects[i]));
}

static void end_world(world_t *w) {
    void *handles[] = {w->thing, w->part, w->alive, w->query};
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++)
        realm_release(handles[i]);
    for (int i = 0; i < LISTS; i++)
        realm_release(w->lists[i]);
    for (int i = 0; i < SETS; i++)
        realm_release(w->sets[i]);
    for (int i = 0; i < DICTIONARIES; i++)
        realm_release(w->dictionaries[i]);
    for (size_t i = 0; i < w->values_count; i++)
        realm_release(w->values[i]);
    for (size_t i = 0; i < w->objects_count; i++)
        realm_release(w->objects[i]);
    realm_release(w->realm);
}

static void stale_object(const world_t *w, realm_object_t *object) {
    realm_value_t v;
    const realm_errno_e gone = RLM_ERR_INVALIDATED_OBJECT;
    realm_property_key_t key =
        object == w->part ? 0 : w->name; /* which one does not matter: the object is first */
    CHECK(!realm_object_is_valid(object));
    CHECK(realm_object_as_link(object).target == realm_object_get_key(object));
    FAILS(gone, realm_get_value(object, key, &v));
    FAILS(gone, realm_get_value(object, -1, &v));
    FAILS(gone, realm_get_values(object, 1, &key, &v));
    FAILS(gone, realm_get_value_by_property_index(object, 0, &v));
    FAILS(gone, realm_get_linked_object(object, w->other));
    FAILS(gone, realm_object_to_string(object));
    FAILS(gone, realm_set_value(object, key, of_text("x"), false));
    FAILS(gone, realm_set_value(object, key, of_int(1), false));
    FAILS(gone, realm_set_value(object, -1, of_int(1), false));
    v = of_text("x");
    FAILS(gone, realm_set_values(object, 1, &key, &v, false));
    FAILS(gone, realm_object_add_int(object, key, 1));
    FAILS(gone, realm_set_json(object, key, "1"));
    FAILS(gone, realm_set_embedded(object, w->part_key));
    FAILS(gone, realm_set_list(object, key));
    FAILS(gone, realm_set_dictionary(object, key));
    FAILS(gone, realm_get_list(object, w->friends));
    FAILS(gone, realm_get_set(object, w->tags));
    FAILS(gone, realm_get_dictionary(object, w->scores));
    FAILS(gone, realm_object_delete(object));
    FAILS(gone, realm_get_backlinks(object, w->class, w->other));
    realm_object_t *clone = realm_clone(object);
    CHECK(clone && !realm_object_is_valid(clone) && realm_equals(clone, object));
    realm_release(clone);
}

static void stale_list(realm_list_t *list, int which) {
    const realm_errno_e gone = RLM_ERR_INVALIDATED_OBJECT;
    realm_value_t v = of_unknown_type(), x = which == 1 ? of_text("x") : of_int(1);
    realm_property_info_t info;
    CHECK(!realm_list_is_valid(list) && !realm_is_frozen(list));
    FAILS(gone, realm_list_size(list, NULL));
    FAILS(gone, realm_list_get(list, 0, &v));
    FAILS(gone, realm_list_get(list, SIZE_MAX, NULL));
    FAILS(gone, realm_list_erase(list, 0));
    FAILS(gone, realm_list_move(list, 0, 0));
    FAILS(gone, realm_list_clear(list));
    FAILS(gone, realm_list_remove_all(list));
    FAILS(gone, realm_list_to_results(list));
    FAILS(gone, realm_list_get_property(list, &info));
    FAILS(gone, realm_create_thread_safe_reference(list));
    FAILS(gone, realm_query_parse_for_list(list, "TRUEPREDICATE", 0, NULL));
    if (which < 3 || which == LISTS - 1) {
        FAILS(gone, realm_list_insert(list, 0, x));
        FAILS(gone, realm_list_set(list, 0, x));
        FAILS(gone, realm_list_find(list, &x, NULL, NULL));
    }
    if (which == 2 || which == LISTS - 1) {
        FAILS(gone, realm_list_insert_list(list, 0));
        FAILS(gone, realm_list_insert_dictionary(list, 0));
        FAILS(gone, realm_list_set_list(list, 0));
        FAILS(gone, realm_list_set_dictionary(list, 0));
    }
    if (which == 3)
        FAILS(gone, realm_list_get_linked_object(list, 0));
    if (which == 4) {
        FAILS(gone, realm_list_insert_embedded(list, 0));
        FAILS(gone, realm_list_set_embedded(list, 0));
        FAILS(gone, realm_list_get_linked_object(list, 0));
    }
    realm_list_t *clone = realm_clone(list);
    CHECK(clone && !realm_list_is_valid(clone));
    realm_equals(clone, list); /* must not crash */
    realm_release(clone);
    CHECK(v.type == (realm_value_type_e)77);
}

static void stale_set(realm_set_t *set, int which) {
    const realm_errno_e gone = RLM_ERR_INVALIDATED_OBJECT;
    realm_property_info_t info;
    CHECK(!realm_set_is_valid(set));
    FAILS(gone, realm_set_size(set, NULL));
    FAILS(gone, realm_set_get(set, 0, NULL));
    FAILS(gone, realm_set_clear(set));
    FAILS(gone, realm_set_remove_all(set));
    FAILS(gone, realm_set_to_results(set));
    FAILS(gone, realm_set_get_property(set, &info));
    FAILS(gone, realm_create_thread_safe_reference(set));
    FAILS(gone, realm_query_parse_for_set(set, "TRUEPREDICATE", 0, NULL));
    if (which < 2) {
        FAILS(gone, realm_set_find(set, of_text("x"), NULL, NULL));
        FAILS(gone, realm_set_insert(set, of_text("x"), NULL, NULL));
        FAILS(gone, realm_set_erase(set, of_text("x"), NULL));
    }
    realm_set_t *clone = realm_clone(set);
    CHECK(clone && !realm_set_is_valid(clone));
    realm_release(clone);
}

static void stale_dictionary(realm_dictionary_t *dictionary, int which) {
    const realm_errno_e gone = RLM_ERR_INVALIDATED_OBJECT;
    realm_value_t k = of_text("k"), x = of_int(1);
    realm_property_info_t info;
    bool found = true;
    CHECK(!realm_dictionary_is_valid(dictionary));
    FAILS(gone, realm_dictionary_size(dictionary, NULL));
    FAILS(gone, realm_dictionary_get(dictionary, 0, NULL, NULL));
    FAILS(gone, realm_dictionary_find(dictionary, k, NULL, NULL));
    SUCCEEDS(realm_dictionary_find(dictionary, x, NULL, &found));
    CHECK(!found);
    FAILS(gone, realm_dictionary_erase(dictionary, k, NULL));
    FAILS(gone, realm_dictionary_clear(dictionary));
    FAILS(gone, realm_dictionary_to_results(dictionary));
    FAILS(gone, realm_dictionary_get_property(dictionary, &info));
    FAILS(gone, realm_create_thread_safe_reference(dictionary));
    realm_results_t *keys = NULL;
    FAILS(gone, realm_dictionary_get_keys(dictionary, NULL, &keys));
    CHECK(keys == NULL);
    found = true;
    SUCCEEDS(realm_dictionary_contains_key(dictionary, k, &found));
    CHECK(!found);
    NOTHING(realm_dictionary_get_linked_object(dictionary, k));
    if (which == 0)
        FAILS(gone, realm_dictionary_insert(dictionary, k, x, NULL, NULL));
    if (which == 2)
        FAILS(gone, realm_dictionary_insert_embedded(dictionary, k));
    if (which >= 3) {
        FAILS(gone, realm_dictionary_insert(dictionary, k, x, NULL, NULL));
        FAILS(gone, realm_dictionary_insert_list(dictionary, k));
        FAILS(gone, realm_dictionary_insert_dictionary(dictionary, k));
    }
    realm_dictionary_t *clone = realm_clone(dictionary);
    CHECK(clone && !realm_dictionary_is_valid(clone));
    realm_release(clone);
}

static void stale_results(const world_t *w, realm_results_t *results) {
    const realm_errno_e gone = RLM_ERR_STALE_ACCESSOR;
    realm_value_t v = of_int(1);
    size_t index = 7;
    bool found = true;
    CHECK(!is_valid(results));
    SUCCEEDS(realm_results_is_valid(results, NULL));
    FAILS(gone, realm_results_count(results, NULL));
    FAILS(gone, realm_results_get(results, 0, NULL));
    FAILS(gone, realm_results_get_object(results, 0));
    FAILS(gone, realm_results_find(results, &v, &index, &found));
    FAILS(gone, realm_results_find_object(results, w->alive, &index, &found));
    FAILS(gone, realm_results_get_query(results));
    FAILS(gone, realm_results_limit(results, 1));
    FAILS(gone, realm_results_sort(results, "name ASC"));
    FAILS(gone, realm_results_distinct(results, "name"));
    FAILS(gone, realm_results_filter(results, w->query));
    FAILS(gone, realm_query_parse_for_results(results, "TRUEPREDICATE", 0, NULL));
    FAILS(gone, realm_results_snapshot(results));
    FAILS(gone, realm_results_delete_all(results));
    FAILS(gone, realm_results_min(results, w->name, &v, &found));
    FAILS(gone, realm_results_max(results, w->name, &v, &found));
    FAILS(gone, realm_results_sum(results, w->name, &v, &found));
    FAILS(gone, realm_results_average(results, w->name, &v, &found));
    FAILS(gone, realm_create_thread_safe_reference(results));
    realm_results_t *clone = realm_clone(results);
    CHECK(clone && !is_valid(clone));
    realm_release(clone);
}

static void stale_world(world_t *w) {
    stale_object(w, w->thing);
    stale_object(w, w->part);
    for (int i = 0; i < LISTS; i++)
        stale_list(w->lists[i], i);
    for (int i = 0; i < SETS; i++)
        stale_set(w->sets[i], i);
    for (int i = 0; i < DICTIONARIES; i++)
        stale_dictionary(w->dictionaries[i], i);
    for (size_t i = 0; i < w->values_count; i++)
        stale_results(w, w->values[i]);
}

/* Results over objects outlive the collection and are empty then. */
static void empty_results(const world_t *w) {
    realm_value_t v = of_int(1);
    for (size_t i = 0; i < w->objects_count; i++) {
        CHECK(is_valid(w->objects[i]) && count_results(w->objects[i]) == 0);
        FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_results_get(w->objects[i], 0, &v));
        if (i == 1)
            continue; /* of another class */
        realm_results_t *refined[] = {realm_results_sort(w->objects[i], "name ASC"),
                                      realm_results_filter(w->objects[i], w->query),
                                      realm_results_limit(w->objects[i], 3),
                                      realm_results_distinct(w->objects[i], "name"),
                                      realm_results_snapshot(w->objects[i])};
        for (int k = 0; k < 5; k++) {
            CHECK(refined[k] && count_results(refined[k]) == 0);
            realm_release(refined[k]);
        }
        realm_query_t *query = realm_results_get_query(w->objects[i]);
        size_t count = 7;
        SUCCEEDS(realm_query_count(query, &count));
        CHECK(count == 0);
        realm_release(query);
    }
}

static void resolves_to_nothing(const world_t *w) {
    realm_t *frozen = realm_freeze(w->realm);
    realm_object_t *object = (realm_object_t *)1;
    SUCCEEDS(realm_object_resolve_in(w->thing, frozen, &object));
    CHECK(object == NULL);
    for (int i = 0; i < LISTS; i++) {
        realm_list_t *list = (realm_list_t *)1;
        SUCCEEDS(realm_list_resolve_in(w->lists[i], frozen, &list));
        CHECK(list == NULL);
    }
    for (int i = 0; i < SETS; i++) {
        realm_set_t *set = (realm_set_t *)1;
        SUCCEEDS(realm_set_resolve_in(w->sets[i], frozen, &set));
        CHECK(set == NULL);
    }
    for (int i = 0; i < DICTIONARIES; i++) {
        realm_dictionary_t *dictionary = (realm_dictionary_t *)1;
        SUCCEEDS(realm_dictionary_resolve_in(w->dictionaries[i], frozen, &dictionary));
        CHECK(dictionary == NULL);
    }
    for (size_t i = 0; i < w->values_count; i++)
        FAILS(RLM_ERR_STALE_ACCESSOR, realm_results_resolve_in(w->values[i], frozen));
    for (size_t i = 0; i < w->objects_count; i++) {
        realm_results_t *there = realm_results_resolve_in(w->objects[i], frozen);
        CHECK(there && is_valid(there) && count_results(there) == 0);
        realm_release(there);
    }
    realm_release(frozen);
}

static void deleted(void) {
    world_t w;
    w.realm = open_things("deleted.realm");
    SUCCEEDS(realm_begin_write(w.realm));
    make_world(&w);
    SUCCEEDS(realm_commit(w.realm));
    SUCCEEDS(realm_begin_write(w.realm));
    SUCCEEDS(realm_object_delete(w.thing));
    FAILS(RLM_ERR_NO_SUCH_OBJECT, realm_object_get_parent(w.part, NULL, NULL));
    stale_world(&w);
    empty_results(&w);
    CHECK(count_of(w.realm, "Thing") == 1 && count_of(w.realm, "Part") == 0);
    SUCCEEDS(realm_commit(w.realm));
    stale_world(&w);
    empty_results(&w);
    resolves_to_nothing(&w);
    /* What has the place of the deleted object is another one. */
    SUCCEEDS(realm_begin_write(w.realm));
    realm_object_t *next = make_thing(w.realm, "next");
    CHECK(realm_object_get_key(next) != realm_object_get_key(w.thing));
    stale_world(&w);
    SUCCEEDS(realm_commit(w.realm));
    CHECK(!realm_equals(next, w.thing));
    realm_release(next);
    end_world(&w);
}

static void rolled_back(void) {
    world_t w;
    w.realm = open_things("rolled-back.realm");
    SUCCEEDS(realm_begin_write(w.realm));
    make_world(&w);
    SUCCEEDS(realm_rollback(w.realm));
    stale_world(&w);
    CHECK(count_of(w.realm, "Thing") == 0);
    for (size_t i = 0; i < w.objects_count; i++)
        CHECK(!is_valid(w.objects[i]) || count_results(w.objects[i]) == 0);
    end_world(&w);
}

static void closed(void) {
    world_t w;
    w.realm = open_things("closed.realm");
    SUCCEEDS(realm_begin_write(w.realm));
    make_world(&w);
    SUCCEEDS(realm_commit(w.realm));
    realm_t *other = open_things("closed.realm");
    SUCCEEDS(realm_close(w.realm));
    stale_world(&w);
    for (size_t i = 0; i < w.objects_count; i++)
        stale_results(&w, w.objects[i]);
    FAILS(RLM_ERR_CLOSED_REALM, realm_query_find_all(w.query));
    /* Another instance is not concerned. */
    CHECK(count_of(other, "Thing") == 2);
    realm_release(other);
    end_world(&w);
}

static void compacted(void) {
    world_t w;
    w.realm = open_things("compacted.realm");
    SUCCEEDS(realm_begin_write(w.realm));
    make_world(&w);
    SUCCEEDS(realm_commit(w.realm));
    bool did = false;
    SUCCEEDS(realm_compact(w.realm, &did));
    CHECK(did);
    stale_world(&w);
    for (size_t i = 0; i < w.objects_count; i++)
        stale_results(&w, w.objects[i]);
    CHECK(count_of(w.realm, "Thing") == 2);
    end_world(&w);
}

int main(void) {
    deleted();
    rolled_back();
    closed();
    compacted();
    return check_end("stale");
}
