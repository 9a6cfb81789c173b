/* Contract 15.3 to 15.5 and chapter 16: what observers of objects, lists, sets and dictionaries are
 * told, in which index spaces. */
#include "notices.h"

static realm_t *realm;
static loop_t loop;

static void set(realm_object_t *thing, const char *name, realm_value_t value) {
    CHECK(realm_set_value(thing, thing_key(realm, name), value, false));
}
static void insert(realm_list_t *list, size_t index, int value) {
    CHECK(realm_list_insert(list, index, of_int(value)));
}

static void objects(void) {
    realm_object_t *thing = NULL, *other = NULL;
    WRITE(realm, thing = make_thing(realm, "a"); other = make_thing(realm, "b"));
    realm_list_t *ints = list_of(realm, thing, "ints");
    realm_dictionary_t *values = dictionary_of(realm, thing, "values");
    notice_t a = {0};
    watch_object(&a, realm, thing, NULL);
    turn(&loop);
    TOLD(a, "-");
    WRITE(realm, set(thing, "name", of_text("new")));
    turn(&loop);
    TOLD(a, "name");
    WRITE(realm, set(other, "name", of_text("new"))); /* another object */
    turn(&loop);
    TOLD(a, "");
    WRITE(realm, set(thing, "other", link_to(other)); insert(ints, 0, 1));
    turn(&loop);
    TOLD(a, "other ints");
    WRITE(realm, set(other, "name", of_text("inside"))); /* of a linked object */
    turn(&loop);
    TOLD(a, "");
    realm_list_t *nested = NULL;
    WRITE(realm, nested = realm_dictionary_insert_list(values, of_text("x")));
    turn(&loop);
    TOLD(a, "values");
    WRITE(realm, insert(nested, 0, 1)); /* at any depth */
    turn(&loop);
    TOLD(a, "values");
    WRITE(realm, CHECK(realm_object_delete(other))); /* nulls the link */
    turn(&loop);
    TOLD(a, "other");
    WRITE(realm, set(thing, "name", of_text("new"))); /* an equal value */
    turn(&loop);
    TOLD(a, "name");
    WRITE(realm, set(thing, "name", of_text("last")); CHECK(realm_object_delete(thing)));
    turn(&loop);
    TOLD(a, "deleted");
    WRITE(realm, realm_release(make_thing(realm, "c")));
    turn(&loop);
    TOLD(a, "");
    void *all[] = {a.token, ints, values, nested, thing, other};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        realm_release(all[i]);
}

static void primitives(void) {
    realm_object_t *thing = NULL;
    WRITE(realm, thing = make_thing(realm, "a"));
    realm_list_t *ints = list_of(realm, thing, "ints");
    realm_results_t *results = realm_list_to_results(ints);
    notice_t a = {0}, b = {0};
    watch_list(&a, ints, NULL);
    watch_results(&b, results, NULL);
    turn(&loop);
    TOLD(a, "-");
    TOLD(b, "-");
    WRITE(realm, for (int i = 0; i < 6; i++) insert(ints, i, i * 10));
    turn(&loop);
    TOLD(a, "i0-6");
    TOLD(b, "i0-6");
    /* Deletions and modifications are positions before, insertions after. */
    WRITE(realm, CHECK(realm_list_erase(ints, 1)); CHECK(realm_list_set(ints, 3, of_int(41)));
          insert(ints, 0, 99));
    turn(&loop);
    TOLD(a, "d1 i0 m4");
    TOLD(b, "d1 i0 m4");
    /* 99 0 20 30 41 50 */
    WRITE(realm, insert(ints, 2, 7); CHECK(realm_list_set(ints, 2, of_int(8)));
          CHECK(realm_list_set(ints, 3, of_int(21))); CHECK(realm_list_erase(ints, 3)));
    turn(&loop);
    TOLD(a, "d2 i2"); /* inserted and set is inserted, set and erased is erased */
    TOLD(b, "d2 i2");
    /* 99 0 8 30 41 50 */
    WRITE(realm, CHECK(realm_list_set(ints, 0, of_int(99)))); /* an equal value */
    turn(&loop);
    TOLD(a, "m0");
    TOLD(b, "m0");
    WRITE(realm, CHECK(realm_list_erase(ints, 0)); insert(ints, 0, 99));
    turn(&loop);
    TOLD(a, "d0 i0");
    TOLD(b, "d0 i0");
    WRITE(realm, CHECK(realm_list_move(ints, 0, 3)));
    turn(&loop);
    TOLD(a, "d0 i3 moved 0>3");
    TOLD(b, "d0 i3 moved 0>3");
    WRITE(realm, CHECK(realm_list_move(ints, 3, 0)); CHECK(realm_list_move(ints, 0, 3)));
    turn(&loop);
    TOLD(a, ""); /* there and back again */
    size_t size = size_of_list(ints);
    CHECK(size == 6);
    b.calls = 0;
    WRITE(realm, CHECK(realm_list_clear(ints)));
    turn(&loop);
    TOLD(a, "d0-6 cleared");
    TOLD(b, "d0-6 cleared");
    WRITE(realm, CHECK(realm_list_clear(ints)));
    turn(&loop);
    TOLD(a, "");
    WRITE(realm, insert(ints, 0, 1); insert(ints, 1, 2));
    turn(&loop);
    TOLD(a, "i0-2");
    b.calls = 0;
    WRITE(realm, CHECK(realm_list_clear(ints)); insert(ints, 0, 3));
    turn(&loop);
    TOLD(a, "d0-2 i0");
    a.calls = b.calls = 0;
    WRITE(realm, CHECK(realm_object_delete(thing)));
    turn(&loop);
    TOLD(a, "d0 deleted");
    TOLD(b, "d0 deleted");
    WRITE(realm, realm_release(make_thing(realm, "a")));
    turn(&loop);
    TOLD(a, "");
    TOLD(b, "");
    void *all[] = {a.token, b.token, ints, results, thing};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        realm_release(all[i]);
}

static void links(void) {
    realm_object_t *thing = NULL, *t[5];
    WRITE(realm, thing = make_thing(realm, "owner");
          for (int i = 0; i < 5; i++) t[i] = make_thing(realm, "target"));
    realm_list_t *friends = list_of(realm, thing, "friends");
    realm_set_t *peers = set_of(realm, thing, "peers");
    realm_results_t *members = realm_list_to_results(friends);
    realm_results_t *in_set = realm_set_to_results(peers);
    notice_t a = {0}, b = {0}, c = {0}, d = {0};
    watch_list(&a, friends, NULL);
    watch_results(&b, members, NULL);
    watch_set(&c, peers, NULL);
    watch_results(&d, in_set, NULL);
    turn(&loop);
    a.calls = b.calls = c.calls = d.calls = 0;
    WRITE(realm, CHECK(realm_list_insert(friends, 0, link_to(t[0])));
          CHECK(realm_list_insert(friends, 1, link_to(t[1])));
          CHECK(realm_list_insert(friends, 2, link_to(t[0])));
          CHECK(realm_set_insert(peers, link_to(t[1]), NULL, NULL));
          CHECK(realm_set_insert(peers, link_to(t[2]), NULL, NULL)));
    turn(&loop);
    TOLD(a, "i0-3");
    TOLD(b, "i0-3");
    TOLD(c, "i0-2");
    TOLD(d, "i0-2");
    WRITE(realm, set(t[0], "name", of_text("new"))); /* the same object twice */
    turn(&loop);
    TOLD(a, "m0 m2");
    TOLD(b, "m0 m2");
    TOLD(c, "");
    WRITE(realm, set(t[1], "name", of_text("new")); set(t[4], "name", of_text("new")));
    turn(&loop);
    TOLD(a, "m1");
    TOLD(c, "m0");
    b.calls = d.calls = 0;
    /* Up to three links on: 0 -> 3 -> 4 -> 2, and a fourth: 2 -> 1. */
    realm_object_t *deep = NULL;
    WRITE(realm, deep = make_thing(realm, "deep"); set(t[0], "other", link_to(t[3]));
          set(t[3], "other", link_to(t[4])); set(t[4], "other", link_to(t[2]));
          set(t[2], "other", link_to(deep)));
    turn(&loop);
    a.calls = b.calls = c.calls = d.calls = 0;
    WRITE(realm, set(t[4], "name", of_text("two on")));
    turn(&loop);
    TOLD(a, "m0 m2");
    TOLD(b, "m0 m2");
    TOLD(c, "");
    WRITE(realm, set(t[2], "name", of_text("three on")));
    turn(&loop);
    TOLD(a, "m0 m2");
    TOLD(c, "m1");
    d.calls = b.calls = 0;
    WRITE(realm, set(deep, "name", of_text("four on")));
    turn(&loop);
    TOLD(a, "");
    TOLD(b, "");
    TOLD(c, "m1");
    d.calls = 0;
    /* A replaced element; moves of objects in results are no moves. */
    WRITE(realm, CHECK(realm_list_set(friends, 1, link_to(deep))));
    turn(&loop);
    TOLD(a, "m1");
    b.calls = 0;
    WRITE(realm, CHECK(realm_list_move(friends, 1, 0)));
    turn(&loop);
    TOLD(b, "d1 i0");
    a.calls = 0;
    /* Deleted targets leave lists and sets. */
    WRITE(realm, CHECK(realm_object_delete(t[1])); CHECK(realm_object_delete(deep)));
    turn(&loop);
    TOLD(a, "d0 m1>0 m2>1"); /* three on from these a link became null */
    TOLD(b, "d0 m1>0 m2>1");
    TOLD(c, "d0 m1>0");
    d.calls = 0;
    WRITE(realm, CHECK(realm_set_erase(peers, link_to(t[2]), NULL));
          CHECK(realm_set_insert(peers, link_to(t[3]), NULL, NULL)));
    turn(&loop);
    TOLD(c, "d0 i0");
    d.calls = 0;
    WRITE(realm, CHECK(realm_list_remove_all(friends)));
    turn(&loop);
    TOLD(a, "d0-2"); /* without the flag */
    TOLD(b, "d0-2");
    c.calls = d.calls = 0;
    WRITE(realm, CHECK(realm_object_delete(thing)));
    turn(&loop);
    TOLD(a, "deleted");
    TOLD(b, ""); /* it was empty, and results of objects only get empty */
    TOLD(c, "d0 deleted");
    TOLD(d, "d0");
    void *all[] = {a.token, b.token, c.token, d.token, friends, peers, members, in_set,
                   deep,    thing,   t[0],    t[1],    t[2],    t[3],  t[4]};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        realm_release(all[i]);
}

static void sets(void) {
    realm_object_t *thing = NULL;
    WRITE(realm, thing = make_thing(realm, "a"));
    realm_set_t *numbers = set_of(realm, thing, "numbers");
    realm_results_t *results = realm_set_to_results(numbers);
    notice_t a = {0}, b = {0};
    watch_set(&a, numbers, NULL);
    watch_results(&b, results, NULL);
    turn(&loop);
    a.calls = b.calls = 0;
    WRITE(realm, for (int i = 0; i < 4; i++)
                     CHECK(realm_set_insert(numbers, of_int(i * 10), NULL, NULL)));
    turn(&loop);
    TOLD(a, "i0-4");
    TOLD(b, "i0-4");
    WRITE(realm, CHECK(realm_set_insert(numbers, of_int(15), NULL, NULL));
          CHECK(realm_set_erase(numbers, of_int(0), NULL)));
    turn(&loop);
    TOLD(a, "d0 i1");
    TOLD(b, "d0 i1");
    WRITE(realm, CHECK(realm_set_insert(numbers, of_int(15), NULL, NULL))); /* present */
    turn(&loop);
    TOLD(a, "");
    b.calls = 0;
    WRITE(realm, CHECK(realm_set_erase(numbers, of_int(15), NULL));
          CHECK(realm_set_insert(numbers, of_int(15), NULL, NULL)));
    turn(&loop);
    TOLD(a, "d1 i1");
    TOLD(b, "d1 i1");
    WRITE(realm, CHECK(realm_set_clear(numbers)));
    turn(&loop);
    TOLD(a, "d0-4 cleared");
    TOLD(b, "d0-4 cleared");
    void *all[] = {a.token, b.token, numbers, results, thing};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        realm_release(all[i]);
}

static void dictionaries(void) {
    realm_object_t *thing = NULL, *target = NULL;
    WRITE(realm, thing = make_thing(realm, "a"); target = make_thing(realm, "b"));
    realm_dictionary_t *scores = dictionary_of(realm, thing, "scores");
    realm_dictionary_t *linked = dictionary_of(realm, thing, "links");
    realm_results_t *values = realm_dictionary_to_results(scores), *keys = NULL;
    size_t size;
    CHECK(realm_dictionary_get_keys(scores, &size, &keys));
    realm_results_t *objects = realm_dictionary_to_results(linked);
    notice_t a = {0}, b = {0}, c = {0}, d = {0}, e = {0};
    watch_dictionary(&a, scores, NULL);
    watch_results(&b, values, NULL);
    watch_results(&c, keys, NULL);
    watch_dictionary(&d, linked, NULL);
    watch_results(&e, objects, NULL);
    turn(&loop);
    a.calls = b.calls = c.calls = d.calls = e.calls = 0;
    const char *names[] = {"b", "d", "f"};
    WRITE(realm, for (int i = 0; i < 3; i++) CHECK(realm_dictionary_insert(
                     scores, of_text(names[i]), of_int(i), NULL, NULL));
          CHECK(realm_dictionary_insert(linked, of_text("x"), link_to(target), NULL, NULL)));
    turn(&loop);
    TOLD(a, "i:b i:d i:f");
    TOLD(b, "i0-3");
    TOLD(c, "i0-3");
    TOLD(d, "i:x");
    TOLD(e, "i0");
    WRITE(realm, CHECK(realm_dictionary_insert(scores, of_text("d"), of_int(9), NULL, NULL));
          CHECK(realm_dictionary_insert(scores, of_text("a"), of_int(9), NULL, NULL));
          CHECK(realm_dictionary_erase(scores, of_text("f"), NULL)));
    turn(&loop);
    TOLD(a, "d:f i:a m:d");
    TOLD(b, "d2 i0 m1>2");
    TOLD(c, "d2 i0 m1>2");
    WRITE(realm, CHECK(realm_dictionary_insert(scores, of_text("z"), of_int(9), NULL, NULL));
          CHECK(realm_dictionary_erase(scores, of_text("z"), NULL)));
    turn(&loop);
    TOLD(a, ""); /* came and went */
    WRITE(realm, CHECK(realm_dictionary_erase(scores, of_text("a"), NULL));
          CHECK(realm_dictionary_insert(scores, of_text("a"), of_int(9), NULL, NULL)));
    turn(&loop);
    TOLD(a, "d:a i:a");
    WRITE(realm, CHECK(realm_dictionary_clear(scores));
          CHECK(realm_dictionary_insert(scores, of_text("b"), of_int(9), NULL, NULL)));
    turn(&loop);
    TOLD(a, "d:a d:b d:d i:b");
    b.calls = c.calls = 0;
    WRITE(realm, set(target, "name", of_text("new")));
    turn(&loop);
    TOLD(d, "m:x");
    TOLD(e, "m0");
    WRITE(realm, CHECK(realm_object_delete(target))); /* the value became null */
    turn(&loop);
    TOLD(d, "m:x");
    e.calls = 0;
    WRITE(realm, CHECK(realm_dictionary_clear(linked)));
    turn(&loop);
    TOLD(d, "d:x cleared");
    e.calls = 0;
    WRITE(realm, CHECK(realm_object_delete(thing)));
    turn(&loop);
    TOLD(a, "d:b deleted");
    TOLD(b, "d0 deleted");
    TOLD(c, "d0 deleted");
    TOLD(d, "deleted");
    TOLD(e, "deleted");
    void *all[] = {a.token, b.token, c.token, d.token, e.token, scores,
                   linked,  values,  keys,    objects, thing,   target};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        realm_release(all[i]);
}

static void nested(void) {
    realm_object_t *thing = NULL, *target = NULL;
    realm_list_t *inner = NULL, *deeper = NULL;
    WRITE(realm, thing = make_thing(realm, "a"); target = make_thing(realm, "b"));
    realm_list_t *anys = list_of(realm, thing, "anys");
    WRITE(realm, insert(anys, 0, 1); inner = realm_list_insert_list(anys, 1);
          deeper = realm_list_insert_list(inner, 0);
          CHECK(realm_list_insert(anys, 2, link_to(target))));
    notice_t a = {0}, b = {0}, c = {0};
    watch_list(&a, anys, NULL);
    watch_list(&b, inner, NULL);
    watch_list(&c, deeper, NULL);
    turn(&loop);
    a.calls = b.calls = c.calls = 0;
    WRITE(realm, insert(deeper, 0, 5));
    turn(&loop);
    TOLD(a, "m1");
    TOLD(b, "m0");
    TOLD(c, "i0");
    WRITE(realm, set(target, "name", of_text("new"))); /* not of Mixed elements */
    turn(&loop);
    TOLD(a, "");
    WRITE(realm, insert(anys, 0, 0)); /* the slot moves along */
    turn(&loop);
    TOLD(a, "i0");
    TOLD(b, "");
    WRITE(realm, insert(deeper, 1, 6); insert(inner, 0, 7));
    turn(&loop);
    TOLD(a, "m2");
    TOLD(b, "i0 m0>1");
    TOLD(c, "i1");
    WRITE(realm, CHECK(realm_list_set(anys, 2, of_int(3)))); /* overwritten */
    turn(&loop);
    TOLD(a, "m2");
    TOLD(b, "d0-2 deleted");
    TOLD(c, "d0-2 deleted");
    WRITE(realm, insert(anys, 0, 0));
    turn(&loop);
    TOLD(b, "");
    void *all[] = {a.token, b.token, c.token, anys, inner, deeper, thing, target};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        realm_release(all[i]);
}

/* The calls that read change sets: capacities, NULLs, surplus. */
static const realm_collection_changes_t *kept;
static void keep(void *userdata, const realm_collection_changes_t *changes) {
    (void)userdata;
    realm_release((void *)kept);
    kept = realm_clone(changes);
}
static const realm_dictionary_changes_t *kept_keys;
static void keep_keys(void *userdata, const realm_dictionary_changes_t *changes) {
    (void)userdata;
    realm_release((void *)kept_keys);
    kept_keys = realm_clone(changes);
}
static void reading(void) {
    realm_object_t *thing = NULL;
    WRITE(realm, thing = make_thing(realm, "a"));
    realm_list_t *ints = list_of(realm, thing, "ints");
    realm_dictionary_t *scores = dictionary_of(realm, thing, "scores");
    realm_notification_token_t *token =
        realm_list_add_notification_callback(ints, NULL, NULL, NULL, keep);
    realm_notification_token_t *keys_token =
        realm_dictionary_add_notification_callback(scores, NULL, NULL, NULL, keep_keys);
    turn(&loop);
    WRITE(realm, for (int i = 0; i < 5; i++) insert(ints, i, i);
          CHECK(realm_dictionary_insert(scores, of_text("a"), of_int(1), NULL, NULL));
          CHECK(realm_dictionary_insert(scores, of_text(""), of_int(1), NULL, NULL)));
    turn(&loop);
    realm_collection_changes_get_num_changes(kept, NULL, NULL, NULL, NULL, NULL, NULL);
    realm_collection_changes_get_num_ranges(kept, NULL, NULL, NULL, NULL);
    size_t out[3] = {77, 77, 77};
    realm_collection_changes_get_changes(kept, NULL, 5, out, 2, NULL, 9, NULL, 9, NULL, 9);
    CHECK(out[0] == 0 && out[1] == 1 && out[2] == 77); /* surplus is dropped, the rest untouched */
    realm_index_range_t range[2] = {{77, 77}, {77, 77}};
    realm_collection_changes_get_ranges(kept, NULL, 0, range, 2, NULL, 0, NULL, 0, NULL, 0);
    CHECK(range[0].from == 0 && range[0].to == 5 && range[1].from == 77);
    realm_collection_changes_get_ranges(kept, NULL, 0, range + 1, 0, NULL, 0, NULL, 0, NULL, 0);
    CHECK(range[1].from == 77);
    realm_dictionary_get_changes(kept_keys, NULL, NULL, NULL, NULL);
    realm_value_t keys[2] = {of_int(77), of_int(77)};
    size_t room = 1, none = 5;
    bool cleared = true;
    realm_dictionary_get_changed_keys(kept_keys, keys, &none, keys, &room, NULL, NULL, &cleared);
    CHECK(room == 0 && none == 0 && keys[0].type == RLM_TYPE_INT && !cleared);
    room = 2;
    realm_dictionary_get_changed_keys(kept_keys, NULL, &none, keys, &room, keys, NULL, NULL);
    CHECK(room == 2 && none == 0 && keys[0].string.size == 0 && keys[0].string.data &&
          keys[1].string.size == 1);
    room = 2;
    realm_dictionary_get_changed_keys(kept_keys, NULL, NULL, NULL, &room, NULL, NULL, NULL);
    CHECK(room == 2); /* the group was left out */
    /* What is no change set has no changes. */
    CHECK(!realm_object_changes_is_deleted((const realm_object_changes_t *)kept));
    size_t deletions = 77;
    realm_collection_changes_get_num_changes((const realm_collection_changes_t *)thing, &deletions,
                                             NULL, NULL, NULL, NULL, NULL);
    CHECK(deletions == 0);
    realm_release(token);
    realm_release(keys_token);
    realm_release((void *)kept);
    realm_release((void *)kept_keys);
    realm_release(ints);
    realm_release(scores);
    realm_release(thing);
}

int main(void) {
    realm = open_looped_things("collections.realm", &loop);
    objects();
    primitives();
    links();
    sets();
    dictionaries();
    nested();
    reading();
    realm_release(realm);
    return check_end("notifications_collections");
}
