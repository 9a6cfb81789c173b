/* Lists: reading, changing, links, handles, and every way to do it wrong. */
#include "things.h"

#include <pthread.h>

static bool holds(realm_list_t *list, size_t n, const int64_t *values) {
    if (size_of_list(list) != n)
        return false;
    for (size_t i = 0; i < n; i++) {
        realm_value_t v;
        if (!realm_list_get(list, i, &v) || v.type != RLM_TYPE_INT || v.integer != values[i])
            return false;
    }
    return true;
}
#define HOLDS(list, ...)                                                                          \
    CHECK(holds(list, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]){__VA_ARGS__}))

static void elements(void) {
    realm_t *realm = open_things("elements.realm");
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *thing = make_thing(realm, "a");
    realm_list_t *ints = list_of(realm, thing, "ints");
    CHECK(realm_list_is_valid(ints) && size_of_list(ints) == 0);
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_list_get(ints, 0, NULL));
    for (int i = 0; i < 5; i++)
        SUCCEEDS(realm_list_insert(ints, (size_t)i, of_int(i * 10)));
    HOLDS(ints, 0, 10, 20, 30, 40);
    SUCCEEDS(realm_list_insert(ints, 0, of_int(-1)));
    SUCCEEDS(realm_list_set(ints, 3, of_int(7)));
    HOLDS(ints, -1, 0, 10, 7, 30, 40);
    SUCCEEDS(realm_list_move(ints, 0, 5));
    HOLDS(ints, 0, 10, 7, 30, 40, -1);
    SUCCEEDS(realm_list_move(ints, 4, 1));
    HOLDS(ints, 0, 40, 10, 7, 30, -1);
    SUCCEEDS(realm_list_move(ints, 2, 2));
    SUCCEEDS(realm_list_erase(ints, 0));
    HOLDS(ints, 40, 10, 7, 30, -1);
    SUCCEEDS(realm_list_insert(ints, 5, of_int(10)));

    /* Errors, in the order of the checks: type, index. */
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_list_insert(ints, 99, of_text("1")));
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_list_insert(ints, 99, of_double(1)));
    FAILS(RLM_ERR_PROPERTY_NOT_NULLABLE, realm_list_insert(ints, 99, of_null()));
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_list_insert(ints, 7, of_int(1)));
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_list_insert(ints, SIZE_MAX, of_int(1)));
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_list_set(ints, 6, of_int(1)));
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_list_get(ints, 6, NULL));
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_list_get(ints, SIZE_MAX, NULL));
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_list_erase(ints, 6));
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_list_move(ints, 6, 0));
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_list_move(ints, 0, 6));
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_list_move(ints, 6, 6));

    size_t index = 0;
    bool found = false;
    realm_value_t v = of_int(10);
    SUCCEEDS(realm_list_find(ints, &v, &index, &found));
    CHECK(index == 1 && found);
    v = of_int(99);
    SUCCEEDS(realm_list_find(ints, &v, &index, &found));
    CHECK(index == SIZE_MAX && !found);
    v = of_text("10");
    found = true;
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_list_find(ints, &v, &index, &found));
    CHECK(index == SIZE_MAX && !found);
    v = of_null();
    FAILS(RLM_ERR_PROPERTY_NOT_NULLABLE, realm_list_find(ints, &v, NULL, NULL));
    SUCCEEDS(realm_commit(realm));

    /* The order of checks outside a write transaction: type, transaction, index. */
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_list_set(ints, 99, of_text("1")));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_list_set(ints, 99, of_int(1)));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_list_insert(ints, 99, of_int(1)));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_list_move(ints, 0, 0));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_list_erase(ints, 99));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_list_clear(ints));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_list_remove_all(ints));
    HOLDS(ints, 40, 10, 7, 30, -1, 10);
    v = of_int(10);
    SUCCEEDS(realm_list_find(ints, &v, &index, NULL));
    CHECK(index == 1);

    /* What is rolled back was not. */
    SUCCEEDS(realm_begin_write(realm));
    SUCCEEDS(realm_list_clear(ints));
    CHECK(size_of_list(ints) == 0);
    SUCCEEDS(realm_rollback(realm));
    HOLDS(ints, 40, 10, 7, 30, -1, 10);

    /* Not this kind of property. */
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_get_list(thing, thing_key(realm, "name")));
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_get_list(thing, thing_key(realm, "tags")));
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_get_set(thing, thing_key(realm, "ints")));
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_get_dictionary(thing, thing_key(realm, "ints")));
    FAILS(RLM_ERR_INVALID_PROPERTY, realm_get_list(thing, -1));
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_get_value(thing, thing_key(realm, "ints"), &v));
    realm_property_info_t info;
    SUCCEEDS(realm_list_get_property(ints, &info));
    CHECK(!strcmp(info.name, "ints") && info.collection_type == RLM_COLLECTION_TYPE_LIST &&
          info.type == RLM_PROPERTY_TYPE_INT && info.key == thing_key(realm, "ints"));
    SUCCEEDS(realm_list_get_property(ints, NULL));

    /* Null and text. */
    SUCCEEDS(realm_begin_write(realm));
    realm_list_t *maybes = list_of(realm, thing, "maybes");
    SUCCEEDS(realm_list_insert(maybes, 0, of_null()));
    SUCCEEDS(realm_list_insert(maybes, 0, of_int(1)));
    v = of_null();
    SUCCEEDS(realm_list_find(maybes, &v, &index, &found));
    CHECK(found && index == 1);
    realm_list_t *names = list_of(realm, thing, "names");
    char text[64];
    for (int i = 0; i < 1000; i++) {
        snprintf(text, sizeof text, "name %d %s", i % 100, i % 3 ? "" : "that is rather long");
        SUCCEEDS(realm_list_insert(names, (size_t)(i / 2), of_text(text)));
    }
    /* Text that is read stays while other elements change. */
    realm_value_t first, last;
    CHECK(realm_list_get(names, 0, &first) && realm_list_get(names, 999, &last));
    SUCCEEDS(realm_list_set(names, 0, last));
    SUCCEEDS(realm_list_set(names, 999, first));
    SUCCEEDS(realm_list_move(names, 0, 500));
    CHECK(is_text(first, "name 1 ") && is_text(last, "name 0 that is rather long"));
    FAILS(RLM_ERR_PROPERTY_NOT_NULLABLE, realm_list_insert(names, 0, of_text(NULL)));
    SUCCEEDS(realm_commit(realm));
    CHECK(realm_list_get(names, 999, &v) && is_text(v, "name 1 "));
    CHECK(realm_list_get(names, 500, &v) && is_text(v, "name 0 that is rather long"));

    /* Mixed elements. */
    SUCCEEDS(realm_begin_write(realm));
    realm_list_t *anys = list_of(realm, thing, "anys");
    SUCCEEDS(realm_list_insert(anys, 0, of_double(2)));
    SUCCEEDS(realm_list_insert(anys, 1, of_text("two")));
    SUCCEEDS(realm_list_insert(anys, 2, of_null()));
    SUCCEEDS(realm_list_insert(anys, 3, link_to(thing)));
    realm_link_t nowhere = {realm_object_get_table(thing), 77};
    FAILS(RLM_ERR_NO_SUCH_OBJECT, realm_list_insert(anys, 4, of_link(nowhere)));
    nowhere.target_table = 12345;
    FAILS(RLM_ERR_NO_SUCH_TABLE, realm_list_insert(anys, 4, of_link(nowhere)));
    v = of_int(2);
    SUCCEEDS(realm_list_find(anys, &v, &index, &found));
    CHECK(found && index == 0);
    v = link_to(thing);
    SUCCEEDS(realm_list_find(anys, &v, &index, &found));
    CHECK(found && index == 3);
    /* A list of mixed values is no list of objects. */
    NOTHING(realm_list_get_linked_object(anys, 3));
    NOTHING(realm_list_get_linked_object(anys, 99));
    NOTHING(realm_list_get_linked_object(ints, 99));
    SUCCEEDS(realm_commit(realm));
    realm_release(anys);
    realm_release(names);
    realm_release(maybes);
    realm_release(ints);
    realm_release(thing);
    realm_release(realm);
}

static void links(void) {
    realm_t *realm = open_things("links.realm");
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *a = make_thing(realm, "a"), *b = make_thing(realm, "b"),
                   *c = make_thing(realm, "c");
    realm_list_t *friends = list_of(realm, a, "friends");
    SUCCEEDS(realm_list_insert(friends, 0, link_to(b)));
    SUCCEEDS(realm_list_insert(friends, 1, link_to(c)));
    SUCCEEDS(realm_list_insert(friends, 2, link_to(b)));
    SUCCEEDS(realm_list_insert(friends, 3, link_to(a)));
    FAILS(RLM_ERR_PROPERTY_NOT_NULLABLE, realm_list_insert(friends, 0, of_null()));
    realm_link_t wrong = realm_object_as_link(b);
    wrong.target = 99;
    FAILS(RLM_ERR_NO_SUCH_OBJECT, realm_list_insert(friends, 0, of_link(wrong)));
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_list_insert(friends, 9, of_link(wrong)));
    wrong.target_table = class_key(realm, "Keyed");
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_list_insert(friends, 0, of_link(wrong)));
    realm_object_t *second = realm_list_get_linked_object(friends, 1);
    CHECK(second && realm_equals(second, c));
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_list_get_linked_object(friends, 4));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_list_insert_embedded(friends, 0));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_list_set_embedded(friends, 0));
    realm_release(second);
    /* A deleted object leaves the list, as often as it is there. */
    SUCCEEDS(realm_object_delete(b));
    CHECK(size_of_list(friends) == 2);
    SUCCEEDS(realm_list_clear(friends));
    CHECK(count_of(realm, "Thing") == 2);
    SUCCEEDS(realm_list_insert(friends, 0, link_to(c)));
    SUCCEEDS(realm_list_insert(friends, 0, link_to(c)));
    SUCCEEDS(realm_list_remove_all(friends));
    CHECK(count_of(realm, "Thing") == 1 && size_of_list(friends) == 0);
    /* Also the owner of the list. */
    SUCCEEDS(realm_list_insert(friends, 0, link_to(a)));
    SUCCEEDS(realm_list_remove_all(friends));
    CHECK(count_of(realm, "Thing") == 0 && !realm_list_is_valid(friends));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_list_size(friends, NULL));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_list_clear(friends));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_get_list(a, thing_key(realm, "ints")));
    SUCCEEDS(realm_commit(realm));
    realm_release(a);
    realm_release(b);
    realm_release(c);
    realm_release(friends);
    realm_release(realm);
}

static void *off_thread(void *list) {
    FAILS(RLM_ERR_WRONG_THREAD, realm_list_size(list, NULL));
    FAILS(RLM_ERR_WRONG_THREAD, realm_list_get(list, 0, NULL));
    FAILS(RLM_ERR_WRONG_THREAD, realm_list_insert(list, 0, of_int(1)));
    CHECK(!realm_list_is_valid(list));
    return NULL;
}
static void *frozen_reader(void *list) {
    for (int i = 0; i < 1000; i++) {
        realm_value_t v;
        CHECK(size_of_list(list) == 3 && realm_list_get(list, 2, &v) && v.integer == 3);
    }
    return NULL;
}

static void handles(void) {
    realm_t *realm = open_things("handles.realm");
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *thing = make_thing(realm, "a"), *other = make_thing(realm, "b");
    realm_list_t *ints = list_of(realm, thing, "ints"), *again = list_of(realm, thing, "ints"),
                 *maybes = list_of(realm, thing, "maybes"), *others = list_of(realm, other, "ints");
    for (int i = 0; i < 3; i++)
        SUCCEEDS(realm_list_insert(ints, (size_t)i, of_int(i + 1)));
    CHECK(realm_equals(ints, again) && !realm_equals(ints, maybes) && !realm_equals(ints, others));
    CHECK(!realm_equals(ints, thing) && !realm_equals(ints, NULL));
    realm_list_t *copy = realm_clone(ints);
    CHECK(copy && realm_equals(copy, ints));
    realm_release(ints);
    HOLDS(copy, 1, 2, 3);
    HOLDS(again, 1, 2, 3);
    /* Every handle sees the changes through another one. */
    SUCCEEDS(realm_list_insert(copy, 0, of_int(0)));
    HOLDS(again, 0, 1, 2, 3);
    SUCCEEDS(realm_list_erase(again, 0));
    HOLDS(copy, 1, 2, 3);
    CHECK(!realm_is_frozen(copy));
    SUCCEEDS(realm_commit(realm));

    pthread_t thread;
    pthread_create(&thread, NULL, off_thread, copy);
    pthread_join(thread, NULL);

    realm_t *frozen = realm_freeze(realm);
    realm_list_t *still = NULL;
    SUCCEEDS(realm_list_resolve_in(copy, frozen, &still));
    CHECK(still && realm_is_frozen(still) && !realm_equals(still, copy));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_list_resolve_in(copy, frozen, NULL));
    SUCCEEDS(realm_begin_write(realm));
    SUCCEEDS(realm_list_clear(copy));
    SUCCEEDS(realm_object_delete(other));
    SUCCEEDS(realm_commit(realm));
    HOLDS(still, 1, 2, 3);
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_list_insert(still, 0, of_int(1)));
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, frozen_reader, still);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    realm_list_t *thawed = NULL;
    SUCCEEDS(realm_list_resolve_in(still, realm, &thawed));
    CHECK(thawed && realm_equals(thawed, copy) && size_of_list(thawed) == 0);
    realm_release(thawed);
    thawed = still;
    SUCCEEDS(realm_list_resolve_in(others, frozen, &thawed));
    CHECK(thawed == NULL && !realm_list_is_valid(others));
    CHECK(!realm_list_is_valid(NULL) && !realm_list_is_valid((realm_list_t *)thing));

    /* A list keeps its realm; closing ends it. */
    realm_release(realm);
    CHECK(size_of_list(copy) == 0);
    realm = open_things("handles.realm");
    realm_list_t *kept = NULL;
    SUCCEEDS(realm_list_resolve_in(copy, realm, &kept));
    SUCCEEDS(realm_close(realm));
    CHECK(!realm_list_is_valid(kept));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_list_size(kept, NULL));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_list_insert(kept, 0, of_int(1)));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_list_get(kept, 0, NULL));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_list_get_property(kept, NULL));
    FAILS(RLM_ERR_CLOSED_REALM, realm_list_resolve_in(still, realm, &thawed));
    realm_list_t *dead = realm_clone(kept);
    CHECK(dead && !realm_list_is_valid(dead));
    realm_release(dead);
    realm_release(kept);
    realm_release(realm);
    realm_release(still);
    realm_release(frozen);
    realm_release(again);
    realm_release(copy);
    realm_release(maybes);
    realm_release(others);
    realm_release(thing);
    realm_release(other);
}

/* Long lists: every position, against an array. */
static void long_lists(void) {
    enum { count = 20000 };
    static int64_t model[count * 2];
    size_t size = 0;
    realm_t *realm = open_things("long.realm");
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *thing = make_thing(realm, "long");
    realm_list_t *ints = list_of(realm, thing, "ints");
    uint64_t state = 1;
    for (int i = 0; i < count; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        size_t at = (state >> 33) % (size + 1);
        memmove(model + at + 1, model + at, (size - at) * sizeof *model);
        model[at] = (int64_t)state;
        size++;
        if (!realm_list_insert(ints, at, of_int((int64_t)state)))
            CHECK(false);
        if (i % 3 == 0) {
            at = (state >> 20) % size;
            memmove(model + at, model + at + 1, (size - at - 1) * sizeof *model);
            size--;
            if (!realm_list_erase(ints, at))
                CHECK(false);
        }
        if (i % 5000 == 4999) {
            SUCCEEDS(realm_commit(realm));
            CHECK(holds(ints, size, model));
            SUCCEEDS(realm_begin_write(realm));
        }
    }
    CHECK(holds(ints, size, model));
    SUCCEEDS(realm_commit(realm));
    CHECK(holds(ints, size, model));
    realm_release(ints);
    realm_release(thing);
    realm_release(realm);
}

/* Many small lists of two properties, opened and closed again and again: none shows what another
 * one held. */
static void small_lists(void) {
    enum { count = 1500 };
    realm_t *realm = open_things("small.realm");
    realm_property_key_t maybes = thing_key(realm, "maybes"), names = thing_key(realm, "names");
    realm_class_key_t class = class_key(realm, "Thing");
    for (int round = 0; round < 3; round++) {
        SUCCEEDS(realm_begin_write(realm));
        for (int i = 0; i < count; i++) {
            realm_object_t *thing = round == 0 ? realm_object_create(realm, class)
                                               : realm_get_object(realm, class, i);
            realm_list_t *numbers = realm_get_list(thing, maybes);
            realm_list_t *texts = realm_get_list(thing, names);
            char text[32];
            snprintf(text, sizeof text, "text %d in round %d", i, round);
            for (int k = 0; k < 6; k++) {
                bool is_null = (i + k) % 3 == 0;
                if (!realm_list_insert(numbers, 0, is_null ? of_null() : of_int(i * 10 + k)) ||
                    !realm_list_insert(texts, 0, of_text(k % 2 ? text : "")))
                    CHECK(false);
            }
            for (int k = 0; k < 4; k++) {
                size_t size = size_of_list(numbers);
                if (!realm_list_erase(numbers, size - 1) || !realm_list_erase(texts, size - 1))
                    CHECK(false);
            }
            realm_release(texts);
            realm_release(numbers);
            realm_release(thing);
        }
        SUCCEEDS(realm_commit(realm));
    }
    /* Each round put six in front and took four from the end: of the last one all six are there. */
    bool fits = true;
    for (int i = 0; i < count; i++) {
        realm_object_t *thing = realm_get_object(realm, class, i);
        realm_list_t *numbers = realm_get_list(thing, maybes);
        realm_list_t *texts = realm_get_list(thing, names);
        fits = fits && size_of_list(numbers) == 6 && size_of_list(texts) == 6;
        for (int k = 0; k < 6; k++) {
            realm_value_t v, t;
            bool is_null = (i + 5 - k) % 3 == 0;
            char text[32];
            snprintf(text, sizeof text, "text %d in round 2", i);
            fits = fits && realm_list_get(numbers, (size_t)k, &v) &&
                   realm_list_get(texts, (size_t)k, &t) &&
                   v.type == (is_null ? RLM_TYPE_NULL : RLM_TYPE_INT) &&
                   (is_null || v.integer == i * 10 + 5 - k) &&
                   is_text(t, (5 - k) % 2 ? text : "");
        }
        realm_release(texts);
        realm_release(numbers);
        realm_release(thing);
    }
    CHECK(fits);
    realm_release(realm);
}

int main(void) {
    elements();
    links();
    handles();
    long_lists();
    small_lists();
    return check_end("lists");
}
