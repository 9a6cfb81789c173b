/* Thread-safe references: realms, objects, collections and results on another thread. */
#include "things.h"

#include <pthread.h>

typedef struct parcel {
    realm_thread_safe_reference_t *realm, *object, *list, *set, *dictionary, *results, *values;
    realm_t *old;
} parcel_t;

static realm_thread_safe_reference_t *reference_to(const void *handle) {
    realm_thread_safe_reference_t *reference = realm_create_thread_safe_reference(handle);
    CHECK(reference != NULL);
    return reference;
}

/* Opens the file, or takes over the realm, and finds everything again. */
static void *receive(void *userdata) {
    parcel_t *parcel = userdata;
    realm_t *realm = parcel->realm ? realm_from_thread_safe_reference(parcel->realm, NULL)
                                   : open_things("references.realm");
    CHECK(realm != NULL);
    for (int round = 0; round < 2; round++) {
        realm_object_t *object =
            realm_object_from_thread_safe_reference(realm, parcel->object);
        realm_value_t v;
        CHECK(object && realm_object_is_valid(object));
        CHECK(realm_get_value(object, thing_key(realm, "name"), &v) && is_text(v, "a"));
        realm_list_t *list = realm_list_from_thread_safe_reference(realm, parcel->list);
        CHECK(list && size_of_list(list) == 3);
        realm_set_t *set = realm_set_from_thread_safe_reference(realm, parcel->set);
        CHECK(set && realm_set_is_valid(set));
        realm_dictionary_t *dictionary =
            realm_dictionary_from_thread_safe_reference(realm, parcel->dictionary);
        CHECK(dictionary && realm_dictionary_is_valid(dictionary));
        realm_results_t *results =
            realm_results_from_thread_safe_reference(realm, parcel->results);
        CHECK(results && count_results(results) == 1);
        realm_results_t *values = realm_results_from_thread_safe_reference(realm, parcel->values);
        CHECK(values && count_results(values) == 3);
        realm_release(values);
        realm_release(results);
        realm_release(dictionary);
        realm_release(set);
        realm_release(list);
        realm_release(object);
    }
    if (parcel->realm) {
        CHECK(realm_equals(realm, parcel->old));
        FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_from_thread_safe_reference(parcel->realm, NULL));
    }
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_from_thread_safe_reference(parcel->list, NULL));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_object_from_thread_safe_reference(realm, parcel->list));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_list_from_thread_safe_reference(realm, parcel->set));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_set_from_thread_safe_reference(realm, parcel->list));
    FAILS(RLM_ERR_ILLEGAL_OPERATION,
          realm_dictionary_from_thread_safe_reference(realm, parcel->object));
    FAILS(RLM_ERR_ILLEGAL_OPERATION,
          realm_results_from_thread_safe_reference(realm, parcel->object));
    SUCCEEDS(realm_begin_write(realm));
    SUCCEEDS(realm_rollback(realm));
    SUCCEEDS(realm_close(realm));
    FAILS(RLM_ERR_CLOSED_REALM, realm_object_from_thread_safe_reference(realm, parcel->object));
    realm_release(realm);
    /* References may end on any thread. */
    realm_release(parcel->object);
    realm_release(parcel->results);
    return NULL;
}

static void *on_wrong_thread(void *userdata) {
    void **handles = userdata;
    FAILS(RLM_ERR_WRONG_THREAD, realm_create_thread_safe_reference(handles[0]));
    FAILS(RLM_ERR_WRONG_THREAD, realm_create_thread_safe_reference(handles[1]));
    FAILS(RLM_ERR_WRONG_THREAD, realm_create_thread_safe_reference(handles[2]));
    FAILS(RLM_ERR_WRONG_THREAD, realm_object_from_thread_safe_reference(handles[3], handles[4]));
    return NULL;
}

static void hand_over(bool with_realm) {
    realm_t *realm = open_things("references.realm");
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *thing = make_thing(realm, "a");
    realm_list_t *list = list_of(realm, thing, "ints");
    realm_set_t *set = set_of(realm, thing, "tags");
    realm_dictionary_t *dictionary = dictionary_of(realm, thing, "scores");
    for (size_t i = 0; i < 3; i++)
        CHECK(realm_list_insert(list, i, of_int(1)));
    realm_list_t *friends = list_of(realm, thing, "friends");
    CHECK(realm_list_insert(friends, 0, link_to(thing)));
    realm_results_t *members = realm_list_to_results(friends);
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_create_thread_safe_reference(members));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_create_thread_safe_reference(realm));
    SUCCEEDS(realm_commit(realm));
    realm_results_t *sorted = realm_results_sort(members, "name DESC");
    realm_results_t *ints = realm_list_to_results(list);
    parcel_t parcel = {NULL,
                       reference_to(thing),
                       reference_to(list),
                       reference_to(set),
                       reference_to(dictionary),
                       reference_to(sorted),
                       reference_to(ints),
                       realm};
    if (with_realm)
        parcel.realm = reference_to(realm);
    FAILS(RLM_ERR_NOT_CLONABLE, realm_clone(parcel.list));
    void *handles[] = {thing, list, sorted, realm, parcel.object};
    pthread_t thread;
    pthread_create(&thread, NULL, on_wrong_thread, handles);
    pthread_join(thread, NULL);
    pthread_create(&thread, NULL, receive, &parcel);
    pthread_join(thread, NULL);
    realm_release(parcel.realm);
    realm_release(parcel.list);
    realm_release(parcel.set);
    realm_release(parcel.dictionary);
    realm_release(parcel.values);
    realm_release(ints);
    realm_release(sorted);
    realm_release(members);
    realm_release(friends);
    realm_release(list);
    realm_release(set);
    realm_release(dictionary);
    realm_release(thing);
    realm_release(realm);
}

/* What is not there any more, or not yet. */
static void versions(void) {
    realm_t *realm = open_things("versions.realm"), *other = open_things("versions.realm");
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *thing = make_thing(realm, "a");
    realm_list_t *list = list_of(realm, thing, "ints"), *friends = list_of(realm, thing, "friends");
    /* Not committed. */
    realm_thread_safe_reference_t *early = reference_to(thing), *early_list = reference_to(list);
    realm_object_t *object = realm_object_from_thread_safe_reference(other, early);
    CHECK(object && !realm_object_is_valid(object));
    realm_release(object);
    realm_list_t *found = realm_list_from_thread_safe_reference(other, early_list);
    CHECK(found && !realm_list_is_valid(found));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_list_size(found, NULL));
    realm_release(found);
    realm_results_t *early_results = realm_list_to_results(list);
    realm_thread_safe_reference_t *early_values = reference_to(early_results);
    SUCCEEDS(realm_commit(realm));
    /* An older realm is refreshed, also by what named something before its commit. */
    for (int i = 0; i < 3; i++) {
        realm_t *older = open_things("versions.realm");
        SUCCEEDS(realm_begin_read(older));
        SUCCEEDS(realm_begin_write(realm));
        realm_object_t *more = make_thing(realm, "more");
        realm_list_t *numbers = list_of(realm, more, "ints");
        realm_thread_safe_reference_t *to_more = reference_to(more),
                                      *to_numbers = reference_to(numbers);
        realm_results_t *number_results = realm_list_to_results(numbers);
        realm_thread_safe_reference_t *to_results = reference_to(number_results);
        SUCCEEDS(realm_commit(realm));
        if (i == 0) {
            object = realm_object_from_thread_safe_reference(older, to_more);
            CHECK(object && realm_object_is_valid(object));
            realm_release(object);
        } else if (i == 1) {
            found = realm_list_from_thread_safe_reference(older, to_numbers);
            CHECK(found && realm_list_is_valid(found));
            realm_release(found);
        } else {
            realm_results_t *there = realm_results_from_thread_safe_reference(older, to_results);
            CHECK(there && is_valid(there));
            realm_release(there);
        }
        void *ends[] = {to_results, number_results, to_numbers, to_more, numbers, older};
        for (size_t k = 0; k < sizeof ends / sizeof *ends; k++)
            realm_release(ends[k]);
        SUCCEEDS(realm_begin_write(realm));
        SUCCEEDS(realm_object_delete(more));
        SUCCEEDS(realm_commit(realm));
        realm_release(more);
    }
    realm_release(early_values);
    realm_release(early_results);
    realm_thread_safe_reference_t *now = reference_to(thing), *now_list = reference_to(list);
    object = realm_object_from_thread_safe_reference(other, now);
    CHECK(object && realm_object_is_valid(object));
    realm_release(object);
    /* References to results keep their version, where a realm starts that reads nothing yet. */
    realm_results_t *results = realm_list_to_results(friends), *values = realm_list_to_results(list);
    realm_thread_safe_reference_t *kept = reference_to(results), *kept_values = reference_to(values);
    SUCCEEDS(realm_begin_write(realm));
    SUCCEEDS(realm_object_delete(thing));
    SUCCEEDS(realm_commit(realm));
    realm_t *third = open_things("versions.realm");
    realm_results_t *there = realm_results_from_thread_safe_reference(third, kept);
    CHECK(there && count_of(third, "Thing") == 1);
    realm_release(there);
    object = realm_object_from_thread_safe_reference(third, now);
    CHECK(object && realm_object_is_valid(object));
    realm_release(object);
    SUCCEEDS(realm_refresh(third, NULL));
    there = realm_results_from_thread_safe_reference(third, kept);
    CHECK(there && count_results(there) == 0);
    realm_release(there);
    there = realm_results_from_thread_safe_reference(third, kept_values);
    bool valid = true;
    CHECK(there && realm_results_is_valid(there, &valid) && !valid);
    realm_release(there);
    object = realm_object_from_thread_safe_reference(third, now);
    CHECK(object && !realm_object_is_valid(object));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_get_value(object, thing_key(third, "name"), NULL));
    realm_release(object);
    found = realm_list_from_thread_safe_reference(third, now_list);
    CHECK(found && !realm_list_is_valid(found));
    realm_release(found);
    /* Of what is gone. */
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_create_thread_safe_reference(list));
    FAILS(RLM_ERR_STALE_ACCESSOR, realm_create_thread_safe_reference(values));
    realm_thread_safe_reference_t *dead = reference_to(thing);
    object = realm_object_from_thread_safe_reference(third, dead);
    CHECK(object && !realm_object_is_valid(object));
    realm_release(object);
    realm_config_t *config = realm_config_new();
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_create_thread_safe_reference(config));
    realm_release(config);
    /* Frozen realms, from and into. */
    realm_t *frozen = realm_freeze(third);
    realm_thread_safe_reference_t *ice = reference_to(frozen);
    realm_t *same = realm_from_thread_safe_reference(ice, NULL);
    CHECK(same && realm_equals(same, frozen));
    object = realm_object_from_thread_safe_reference(frozen, now);
    CHECK(object && !realm_object_is_valid(object) && realm_is_frozen(object));
    realm_release(object);
    realm_t *strange = open_things("strange.realm");
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_object_from_thread_safe_reference(strange, now));
    realm_release(strange);
    realm_release(same);
    realm_release(ice);
    realm_release(frozen);
    realm_release(dead);
    realm_release(kept);
    realm_release(kept_values);
    realm_release(results);
    realm_release(values);
    realm_release(now);
    realm_release(now_list);
    realm_release(early);
    realm_release(early_list);
    realm_release(list);
    realm_release(friends);
    realm_release(thing);
    realm_release(realm);
    realm_release(other);
    realm_release(third);
}

static realm_t *open_with_properties(size_t count) {
    realm_property_info_t properties[] = {property_of("n", RLM_PROPERTY_TYPE_INT, 0),
                                          property_of("more", RLM_PROPERTY_TYPE_INT, 0)};
    realm_class_info_t class = class_of("A", "", count, 0);
    const realm_property_info_t *lists[] = {properties};
    realm_config_t *config = config_with("added.realm", realm_schema_new(&class, 1, lists));
    realm_config_set_schema_mode(config, RLM_SCHEMA_MODE_ADDITIVE_DISCOVERED);
    return open_or_exit(config);
}

/* The version that a reference is of has a schema from before that of the realm which has read nothing yet. */
static void before_a_property_was_added(void) {
    realm_t *realm = open_with_properties(1);
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *object = realm_object_create(realm, class_key(realm, "A"));
    SUCCEEDS(realm_commit(realm));
    realm_results_t *all = realm_object_find_all(realm, class_key(realm, "A"));
    const void *named[] = {object, all};
    for (int i = 0; i < 2; i++) {
        realm_thread_safe_reference_t *reference = reference_to(named[i]);
        realm_t *newer = open_with_properties(2);
        void *found = i ? (void *)realm_results_from_thread_safe_reference(newer, reference)
                        : (void *)realm_object_from_thread_safe_reference(newer, reference);
        CHECK(found);
        realm_release(found);
        realm_release(newer);
        realm_release(reference);
    }
    realm_release(all);
    realm_release(object);
    realm_release(realm);
}

int main(void) {
    hand_over(false);
    hand_over(true);
    versions();
    before_a_property_was_added();
    return check_end("references");
}
