/* Threads (C_RULES has a chapter of them): what belongs to a realm's thread says so on another one and
 * does nothing; frozen things answer on any thread. */
#include "things.h"

#include <pthread.h>

typedef struct world {
    realm_t *realm, *frozen;
    realm_object_t *thing;
    realm_list_t *ints, *anys, *friends, *parts;
    realm_set_t *tags;
    realm_dictionary_t *scores, *values, *links, *parts_by_name;
    realm_results_t *objects, *numbers, *all_values, *keys;
    realm_query_t *query;
    realm_thread_safe_reference_t *reference;
    realm_property_key_t name, part, other, friends_key;
    realm_class_key_t class;
} world_t;

static world_t open_world(const char *path) {
    world_t w;
    w.realm = open_things(path);
    SUCCEEDS(realm_begin_write(w.realm));
    w.class = class_key(w.realm, "Thing");
    w.name = thing_key(w.realm, "name");
    w.part = thing_key(w.realm, "part");
    w.other = thing_key(w.realm, "other");
    w.friends_key = thing_key(w.realm, "friends");
    w.thing = make_thing(w.realm, "a");
    w.ints = list_of(w.realm, w.thing, "ints");
    w.anys = list_of(w.realm, w.thing, "anys");
    w.friends = list_of(w.realm, w.thing, "friends");
    w.parts = list_of(w.realm, w.thing, "parts");
    w.tags = set_of(w.realm, w.thing, "tags");
    w.scores = dictionary_of(w.realm, w.thing, "scores");
    w.values = dictionary_of(w.realm, w.thing, "values");
    w.links = dictionary_of(w.realm, w.thing, "links");
    w.parts_by_name = dictionary_of(w.realm, w.thing, "parts_by_name");
    SUCCEEDS(realm_list_insert(w.ints, 0, of_int(7)));
    SUCCEEDS(realm_list_insert(w.anys, 0, of_int(7)));
    SUCCEEDS(realm_list_insert(w.friends, 0, link_to(w.thing)));
    SUCCEEDS(realm_set_insert(w.tags, of_text("t"), NULL, NULL));
    SUCCEEDS(realm_dictionary_insert(w.scores, of_text("k"), of_int(7), NULL, NULL));
    w.objects = realm_object_find_all(w.realm, w.class);
    w.numbers = realm_list_to_results(w.ints);
    w.all_values = realm_list_to_results(w.anys);
    SUCCEEDS(realm_dictionary_get_keys(w.scores, NULL, &w.keys));
    w.query = realm_query_parse(w.realm, w.class, "name == 'a'", 0, NULL);
    SUCCEEDS(realm_commit(w.realm));
    w.reference = realm_create_thread_safe_reference(w.thing);
    w.frozen = realm_freeze(w.realm);
    CHECK(realm_begin_read(w.frozen));
    return w;
}

static void *elsewhere(void *userdata) {
    const realm_errno_e wrong = RLM_ERR_WRONG_THREAD;
    world_t *w = userdata;
    realm_value_t v = of_int(7), k = of_text("k");
    size_t index = 5;
    bool flag = true;
    /* The realm. */
    FAILS(wrong, realm_begin_write(w->realm));
    FAILS(wrong, realm_commit(w->realm));
    FAILS(wrong, realm_rollback(w->realm));
    FAILS(wrong, realm_refresh(w->realm, &flag));
    FAILS(wrong, realm_freeze(w->realm));
    FAILS(wrong, realm_compact(w->realm, &flag));
    FAILS(wrong, realm_object_create(w->realm, w->class));
    /* Objects. What needs no data answers: keys, class, link. */
    realm_property_key_t name = w->name;
    CHECK(realm_object_get_table(w->thing) == w->class && realm_object_get_key(w->thing) == 0);
    CHECK(realm_object_as_link(w->thing).target == 0);
    realm_object_is_valid(w->thing);
    FAILS(wrong, realm_get_value(w->thing, name, &v));
    FAILS(wrong, realm_get_values(w->thing, 1, &name, &v));
    FAILS(wrong, realm_get_value_by_property_index(w->thing, 0, &v));
    FAILS(wrong, realm_get_linked_object(w->thing, w->other));
    FAILS(wrong, realm_object_to_string(w->thing));
    FAILS(wrong, realm_set_value(w->thing, name, k, false));
    FAILS(wrong, realm_set_values(w->thing, 1, &name, &k, false));
    FAILS(wrong, realm_object_add_int(w->thing, name, 1));
    FAILS(wrong, realm_set_json(w->thing, name, "1"));
    FAILS(wrong, realm_set_embedded(w->thing, w->part));
    FAILS(wrong, realm_set_list(w->thing, name));
    FAILS(wrong, realm_set_dictionary(w->thing, name));
    FAILS(wrong, realm_get_list(w->thing, w->friends_key));
    FAILS(wrong, realm_get_set(w->thing, thing_key(w->frozen, "tags")));
    FAILS(wrong, realm_get_dictionary(w->thing, thing_key(w->frozen, "scores")));
    FAILS(wrong, realm_object_delete(w->thing));
    FAILS(wrong, realm_get_backlinks(w->thing, w->class, w->other));
    FAILS(wrong, realm_create_thread_safe_reference(w->thing));
    FAILS(wrong, realm_object_from_thread_safe_reference(w->realm, w->reference));
    /* Lists. */
    CHECK(!realm_list_is_valid(w->ints));
    FAILS(wrong, realm_list_size(w->ints, &index));
    FAILS(wrong, realm_list_get(w->ints, 0, &v));
    v = of_int(7);
    FAILS(wrong, realm_list_find(w->ints, &v, &index, &flag));
    FAILS(wrong, realm_list_insert(w->ints, 0, v));
    FAILS(wrong, realm_list_set(w->ints, 0, v));
    FAILS(wrong, realm_list_move(w->ints, 0, 0));
    FAILS(wrong, realm_list_erase(w->ints, 0));
    FAILS(wrong, realm_list_clear(w->ints));
    FAILS(wrong, realm_list_remove_all(w->ints));
    FAILS(wrong, realm_list_get_linked_object(w->friends, 0));
    FAILS(wrong, realm_list_insert_embedded(w->parts, 0));
    FAILS(wrong, realm_list_set_embedded(w->parts, 0));
    FAILS(wrong, realm_list_insert_list(w->anys, 0));
    FAILS(wrong, realm_list_insert_dictionary(w->anys, 0));
    FAILS(wrong, realm_list_set_list(w->anys, 0));
    FAILS(wrong, realm_list_set_dictionary(w->anys, 0));
    FAILS(wrong, realm_list_get_list(w->anys, 0));
    FAILS(wrong, realm_list_get_dictionary(w->anys, 0));
    FAILS(wrong, realm_list_to_results(w->ints));
    FAILS(wrong, realm_create_thread_safe_reference(w->ints));
    /* Sets. */
    v = of_text("t");
    CHECK(!realm_set_is_valid(w->tags));
    FAILS(wrong, realm_set_size(w->tags, &index));
    FAILS(wrong, realm_set_get(w->tags, 0, &k));
    FAILS(wrong, realm_set_find(w->tags, v, &index, &flag));
    FAILS(wrong, realm_set_insert(w->tags, v, &index, &flag));
    FAILS(wrong, realm_set_erase(w->tags, v, &flag));
    FAILS(wrong, realm_set_clear(w->tags));
    FAILS(wrong, realm_set_remove_all(w->tags));
    FAILS(wrong, realm_set_to_results(w->tags));
    FAILS(wrong, realm_create_thread_safe_reference(w->tags));
    /* Dictionaries. */
    k = of_text("k");
    CHECK(!realm_dictionary_is_valid(w->scores));
    FAILS(wrong, realm_dictionary_size(w->scores, &index));
    FAILS(wrong, realm_dictionary_get(w->scores, 0, NULL, &v));
    FAILS(wrong, realm_dictionary_find(w->scores, k, &v, &flag));
    FAILS(wrong, realm_dictionary_insert(w->scores, k, of_int(1), &index, &flag));
    FAILS(wrong, realm_dictionary_erase(w->scores, k, &flag));
    FAILS(wrong, realm_dictionary_clear(w->scores));
    FAILS(wrong, realm_dictionary_get_linked_object(w->links, k));
    FAILS(wrong, realm_dictionary_insert_embedded(w->parts_by_name, k));
    FAILS(wrong, realm_dictionary_insert_list(w->values, k));
    FAILS(wrong, realm_dictionary_insert_dictionary(w->values, k));
    FAILS(wrong, realm_dictionary_get_list(w->values, k));
    FAILS(wrong, realm_dictionary_get_dictionary(w->values, k));
    FAILS(wrong, realm_dictionary_to_results(w->scores));
    realm_results_t *results = NULL;
    FAILS(wrong, realm_dictionary_get_keys(w->scores, &index, &results));
    /* Results of objects and of values. */
    realm_results_t *of_all[] = {w->objects, w->numbers, w->all_values, w->keys};
    for (int i = 0; i < 4; i++) {
        FAILS(wrong, realm_results_count(of_all[i], &index));
        FAILS(wrong, realm_results_get(of_all[i], 0, &v));
        FAILS(wrong, realm_results_get_object(of_all[i], 0));
        v = of_int(7);
        FAILS(wrong, realm_results_find(of_all[i], &v, &index, &flag));
        FAILS(wrong, realm_results_find_object(of_all[i], w->thing, &index, &flag));
        FAILS(wrong, realm_results_filter(of_all[i], w->query));
        FAILS(wrong, realm_results_sort(of_all[i], "name ASC"));
        FAILS(wrong, realm_results_distinct(of_all[i], "name"));
        FAILS(wrong, realm_results_limit(of_all[i], 1));
        FAILS(wrong, realm_results_get_query(of_all[i]));
        FAILS(wrong, realm_results_snapshot(of_all[i]));
        FAILS(wrong, realm_results_delete_all(of_all[i]));
        FAILS(wrong, realm_results_min(of_all[i], name, &v, &flag));
        FAILS(wrong, realm_results_max(of_all[i], name, &v, &flag));
        FAILS(wrong, realm_results_sum(of_all[i], name, &v, &flag));
        FAILS(wrong, realm_results_average(of_all[i], name, &v, &flag));
        FAILS(wrong, realm_query_parse_for_results(of_all[i], "TRUEPREDICATE", 0, NULL));
        FAILS(wrong, realm_create_thread_safe_reference(of_all[i]));
    }
    FAILS(wrong, realm_results_get_list(w->all_values, 0));
    FAILS(wrong, realm_results_get_dictionary(w->all_values, 0));
    /* What is frozen has no thread. */
    realm_object_t *still = realm_get_object(w->frozen, w->class, 0);
    SUCCEEDS(realm_get_value(still, name, &v));
    CHECK(is_text(v, "a"));
    realm_list_t *ints = realm_get_list(still, thing_key(w->frozen, "ints"));
    CHECK(realm_list_is_valid(ints) && size_of_list(ints) == 1);
    realm_results_t *numbers = realm_list_to_results(ints);
    CHECK(is_valid(numbers) && count_results(numbers) == 1);
    realm_release(numbers);
    realm_release(ints);
    realm_release(still);
    return NULL;
}

/* Mutation and, with it, everything that needs a transaction is refused in a frozen realm, also
 * while the living one is in a transaction. */
static void frozen(const world_t *w) {
    const realm_errno_e wrong = RLM_ERR_WRONG_TRANSACTION_STATE;
    realm_object_t *thing = NULL;
    SUCCEEDS(realm_begin_write(w->realm));
    SUCCEEDS(realm_object_resolve_in(w->thing, w->frozen, &thing));
    realm_list_t *lists[4] = {NULL};
    realm_list_t *const live[4] = {w->ints, w->anys, w->friends, w->parts};
    for (int i = 0; i < 4; i++)
        SUCCEEDS(realm_list_resolve_in(live[i], w->frozen, &lists[i]));
    realm_set_t *tags = NULL;
    SUCCEEDS(realm_set_resolve_in(w->tags, w->frozen, &tags));
    realm_dictionary_t *dictionaries[3] = {NULL};
    realm_dictionary_t *const living[3] = {w->scores, w->values, w->parts_by_name};
    for (int i = 0; i < 3; i++)
        SUCCEEDS(realm_dictionary_resolve_in(living[i], w->frozen, &dictionaries[i]));
    realm_results_t *objects = realm_results_resolve_in(w->objects, w->frozen),
                    *numbers = realm_results_resolve_in(w->numbers, w->frozen);
    realm_value_t k = of_text("k"), seven = of_int(7);
    CHECK(realm_is_frozen(thing) && realm_is_frozen(lists[0]) && realm_is_frozen(tags) &&
          realm_is_frozen(dictionaries[0]) && realm_is_frozen(objects) && realm_is_frozen(numbers));
    CHECK(!realm_equals(thing, w->thing) && !realm_equals(lists[0], w->ints) &&
          !realm_equals(tags, w->tags) && !realm_equals(dictionaries[0], w->scores));
    FAILS(wrong, realm_begin_write(w->frozen));
    FAILS(wrong, realm_commit(w->frozen));
    FAILS(wrong, realm_rollback(w->frozen));
    FAILS(wrong, realm_object_create(w->frozen, w->class));
    FAILS(wrong, realm_object_delete(thing));
    FAILS(wrong, realm_set_value(thing, w->name, k, false));
    FAILS(wrong, realm_set_embedded(thing, w->part));
    FAILS(wrong, realm_list_insert(lists[0], 0, seven));
    FAILS(wrong, realm_list_set(lists[0], 0, seven));
    FAILS(wrong, realm_list_move(lists[0], 0, 0));
    FAILS(wrong, realm_list_erase(lists[0], 0));
    FAILS(wrong, realm_list_clear(lists[0]));
    FAILS(wrong, realm_list_remove_all(lists[2]));
    FAILS(wrong, realm_list_insert_list(lists[1], 0));
    FAILS(wrong, realm_list_set_dictionary(lists[1], 0));
    FAILS(wrong, realm_list_insert_embedded(lists[3], 0));
    FAILS(wrong, realm_set_insert(tags, k, NULL, NULL));
    FAILS(wrong, realm_set_erase(tags, of_text("t"), NULL));
    FAILS(wrong, realm_set_clear(tags));
    FAILS(wrong, realm_dictionary_insert(dictionaries[0], k, seven, NULL, NULL));
    FAILS(wrong, realm_dictionary_erase(dictionaries[0], k, NULL));
    FAILS(wrong, realm_dictionary_clear(dictionaries[0]));
    FAILS(wrong, realm_dictionary_insert_list(dictionaries[1], k));
    FAILS(wrong, realm_dictionary_insert_embedded(dictionaries[2], k));
    FAILS(wrong, realm_results_delete_all(objects));
    FAILS(wrong, realm_results_delete_all(numbers));
    bool did = true;
    SUCCEEDS(realm_refresh(w->frozen, &did));
    CHECK(!did);
    /* A frozen object has its key; a link to it is one to the living object. */
    SUCCEEDS(realm_set_value(w->thing, w->other, link_to(thing), false));
    SUCCEEDS(realm_rollback(w->realm));
    realm_t *again = realm_freeze(w->frozen);
    CHECK(again && realm_is_frozen(again) && !realm_equals(again, w->realm));
    realm_release(again);
    realm_release(numbers);
    realm_release(objects);
    for (int i = 0; i < 3; i++)
        realm_release(dictionaries[i]);
    realm_release(tags);
    for (int i = 0; i < 4; i++)
        realm_release(lists[i]);
    realm_release(thing);
}

int main(void) {
    world_t w = open_world("wrong-thread.realm");
    for (int round = 0; round < 2; round++) {
        /* Also while a transaction is open. */
        if (round == 1)
            SUCCEEDS(realm_begin_write(w.realm));
        pthread_t thread;
        CHECK(!pthread_create(&thread, NULL, elsewhere, &w));
        pthread_join(thread, NULL);
    }
    realm_value_t v;
    SUCCEEDS(realm_list_get(w.ints, 0, &v));
    CHECK(v.integer == 7 && size_of_list(w.ints) == 1 && count_of(w.realm, "Thing") == 1);
    SUCCEEDS(realm_rollback(w.realm));
    frozen(&w);
    void *handles[] = {w.thing,  w.ints,   w.anys,          w.friends, w.parts,   w.tags,
                       w.scores, w.values, w.links,         w.objects, w.numbers, w.all_values,
                       w.keys,   w.query,  w.parts_by_name, w.frozen,  w.reference, w.realm};
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++)
        realm_release(handles[i]);
    return check_end("wrong thread");
}
