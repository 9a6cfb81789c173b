/* What docs/NOTIFICATIONS promises and the programs about single kinds of observers do not come by:
 * who may register, reach through Mixed values, slots of nested collections, several moves, the
 * flag of clearing on results, computed steps over collections, and too little room. */
#include "notices.h"

#include <pthread.h>

static realm_t *realm;
static loop_t loop;

static void set(realm_object_t *thing, const char *name, realm_value_t value) {
    CHECK(realm_set_value(thing, thing_key(realm, name), value, false));
}
static void insert(realm_list_t *list, size_t index, int value) {
    CHECK(realm_list_insert(list, index, of_int(value)));
}
static void release_all(void **all, size_t count) {
    for (size_t i = 0; i < count; i++)
        realm_release(all[i]);
}

/* 15.1: frozen, immutable and elsewhere, for each kind of handle; the userdata are freed. */
typedef struct handles {
    realm_object_t *object;
    realm_list_t *list;
    realm_set_t *set;
    realm_dictionary_t *dictionary;
    realm_results_t *results;
    realm_errno_e expected;
} handles_t;

static void *refuses(void *userdata) {
    handles_t *h = userdata;
    notice_t n = {0};
    FAILS(h->expected, realm_object_add_notification_callback(h->object, &n, free_notice, NULL,
                                                              on_object));
    FAILS(h->expected,
          realm_list_add_notification_callback(h->list, &n, free_notice, NULL, on_elements));
    FAILS(h->expected,
          realm_set_add_notification_callback(h->set, &n, free_notice, NULL, on_elements));
    FAILS(h->expected, realm_dictionary_add_notification_callback(h->dictionary, &n, free_notice,
                                                                  NULL, on_keys));
    FAILS(h->expected,
          realm_results_add_notification_callback(h->results, &n, free_notice, NULL, on_elements));
    CHECK(n.freed == 5 && n.calls == 0);
    return NULL;
}
static handles_t handles_of(realm_t *from, realm_errno_e expected) {
    handles_t h = {.expected = expected};
    h.results = realm_object_find_all(from, class_key(from, "Thing"));
    h.object = realm_results_get_object(h.results, 0);
    CHECK(h.results && h.object);
    h.list = list_of(from, h.object, "ints");
    h.set = set_of(from, h.object, "numbers");
    h.dictionary = dictionary_of(from, h.object, "scores");
    return h;
}
static void release_handles(handles_t *h) {
    void *all[] = {h->object, h->list, h->set, h->dictionary, h->results};
    release_all(all, 5);
}

static void registration(void) {
    /* With the scheduler of this thread; that of the others lets any thread in. */
    realm_t *confined = open_things("confined.realm");
    WRITE(confined, realm_release(make_thing(confined, "a")));
    handles_t far = handles_of(confined, RLM_ERR_WRONG_THREAD);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, refuses, &far) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    release_handles(&far);
    CHECK(realm_close(confined));
    realm_release(confined);

    WRITE(realm, realm_release(make_thing(realm, "a")));
    handles_t own = handles_of(realm, RLM_ERR_WRONG_THREAD);
    /* A callback may be NULL: nothing is delivered, and the userdata are kept until the end. */
    notice_t n = {0};
    realm_notification_token_t *token =
        realm_list_add_notification_callback(own.list, &n, free_notice, NULL, NULL);
    CHECK(token != NULL);
    WRITE(realm, insert(own.list, 0, 1));
    turn(&loop);
    CHECK(n.calls == 0 && n.freed == 0);
    realm_release(token);
    CHECK(n.freed == 1);
    release_handles(&own);

    realm_t *frozen = realm_freeze(realm);
    handles_t cold = handles_of(frozen, RLM_ERR_WRONG_TRANSACTION_STATE);
    refuses(&cold);
    release_handles(&cold);
    realm_release(frozen);

    /* A copy, because a file is not open in two modes at once. */
    realm_config_t *config = things_config("immutable.realm");
    realm_binary_t no_key = {NULL, 0};
    CHECK(realm_convert_with_path(realm, "immutable.realm", no_key, false));
    realm_config_set_schema_mode(config, RLM_SCHEMA_MODE_IMMUTABLE);
    realm_t *still = open_or_exit(config);
    handles_t stone = handles_of(still, RLM_ERR_WRONG_TRANSACTION_STATE);
    refuses(&stone);
    release_handles(&stone);
    CHECK(realm_close(still));
    realm_release(still);
}

/* 15.3: three hops from an element, through Mixed values and what is nested in them. */
static void reach(void) {
    realm_object_t *owner = NULL, *t[6];
    realm_list_t *anys = NULL, *inner = NULL;
    realm_dictionary_t *values = NULL;
    WRITE(realm, owner = make_thing(realm, "owner");
          for (int i = 0; i < 6; i++) t[i] = make_thing(realm, "t");
          realm_list_t *friends = list_of(realm, owner, "friends");
          CHECK(realm_list_insert(friends, 0, link_to(t[0]))); realm_release(friends);
          /* t0 -> t1 in a nested list of a list of Mixed, t1 -> t2 in a dictionary of Mixed,
             t2 -> t3 in a set of Mixed, t3 -> t4 by a link. */
          anys = list_of(realm, t[0], "anys"); inner = realm_list_insert_list(anys, 0);
          CHECK(inner && realm_list_insert(inner, 0, link_to(t[1])));
          values = dictionary_of(realm, t[1], "values");
          CHECK(realm_dictionary_insert(values, of_text("k"), link_to(t[2]), NULL, NULL));
          realm_set_t *mixture = set_of(realm, t[2], "mixture");
          CHECK(realm_set_insert(mixture, link_to(t[3]), NULL, NULL)); realm_release(mixture);
          set(t[3], "other", link_to(t[4])));
    realm_list_t *friends = list_of(realm, owner, "friends");
    realm_results_t *results = realm_list_to_results(friends);
    notice_t a = {0}, b = {0}, c = {0};
    watch_list(&a, friends, NULL);
    watch_results(&b, results, NULL);
    watch_list(&c, anys, NULL);
    turn(&loop);
    a.calls = b.calls = c.calls = 0;
    for (int i = 0; i < 4; i++) {
        WRITE(realm, set(t[i], "name", of_text("new")));
        turn(&loop);
        TOLD(a, "m0");
        TOLD(b, "m0");
        TOLD(c, ""); /* not what Mixed elements of the observed list itself link to */
    }
    WRITE(realm, set(t[4], "name", of_text("new"))); /* the fourth hop */
    turn(&loop);
    TOLD(a, "");
    TOLD(b, "");
    WRITE(realm, insert(inner, 1, 5));
    turn(&loop);
    TOLD(a, "m0");
    TOLD(b, "m0");
    TOLD(c, "m0");
    /* A link less: what is behind it is not reached any more. */
    WRITE(realm, CHECK(realm_dictionary_erase(values, of_text("k"), NULL)));
    turn(&loop);
    TOLD(a, "m0");
    b.calls = 0;
    WRITE(realm, set(t[2], "name", of_text("newer")));
    turn(&loop);
    TOLD(a, "");
    TOLD(b, "");
    void *all[] = {a.token, b.token, c.token, friends, results, anys, inner, values,
                   owner,   t[0],    t[1],    t[2],    t[3],    t[4], t[5]};
    release_all(all, sizeof all / sizeof *all);
}

/* 15.4: several moves, and back. */
static void moves(void) {
    realm_object_t *thing = NULL;
    WRITE(realm, thing = make_thing(realm, "a"));
    realm_list_t *ints = list_of(realm, thing, "ints");
    WRITE(realm, for (int i = 0; i < 6; i++) insert(ints, i, i));
    realm_results_t *results = realm_list_to_results(ints);
    notice_t a = {0}, b = {0};
    watch_list(&a, ints, NULL);
    watch_results(&b, results, NULL);
    turn(&loop);
    a.calls = b.calls = 0;
    WRITE(realm, CHECK(realm_list_move(ints, 0, 3)); CHECK(realm_list_move(ints, 5, 1)));
    turn(&loop); /* 1 5 2 3 0 4 */
    TOLD(a, "d0 d5 i1 i4 moved 0>4 moved 5>1");
    TOLD(b, "d0 d5 i1 i4 moved 0>4 moved 5>1");
    /* Both back, in two commits of another realm, which are merged. */
    loop_t elsewhere = {0};
    realm_t *writer = open_looped_things("sentences.realm", &elsewhere);
    realm_object_t *same =
        realm_get_object(writer, class_key(writer, "Thing"), realm_object_get_key(thing));
    realm_list_t *theirs = list_of(writer, same, "ints");
    WRITE(writer, CHECK(realm_list_move(theirs, 1, 5)));
    WRITE(writer, CHECK(realm_list_move(theirs, 3, 0)));
    turn(&loop);
    TOLD(a, "d1 d4 i0 i5 moved 1>5 moved 4>0");
    TOLD(b, "d1 d4 i0 i5 moved 1>5 moved 4>0");
    WRITE(writer, CHECK(realm_list_move(theirs, 2, 4)); CHECK(realm_list_move(theirs, 0, 5)));
    WRITE(writer, CHECK(realm_list_move(theirs, 5, 0)); CHECK(realm_list_move(theirs, 4, 2)));
    turn(&loop);
    TOLD(a, "");
    TOLD(b, "");
    /* One that is moved and then erased was erased; one that was inserted is never moved. */
    WRITE(realm, CHECK(realm_list_move(ints, 1, 4)); CHECK(realm_list_erase(ints, 4)));
    turn(&loop);
    TOLD(a, "d1");
    b.calls = 0;
    WRITE(realm, insert(ints, 0, 9); CHECK(realm_list_move(ints, 0, 2)));
    turn(&loop);
    TOLD(a, "i2");
    TOLD(b, "i2");
    void *all[] = {a.token, b.token, ints, results, thing, theirs, same};
    release_all(all, sizeof all / sizeof *all);
    CHECK(realm_close(writer));
    realm_release(writer);
    CHECK(loop_ended(&elsewhere));
}

/* 15.5: results over dictionaries, values and keys; lists of objects. */
static void clearing(void) {
    realm_object_t *thing = NULL, *t[2];
    WRITE(realm, thing = make_thing(realm, "a"); t[0] = make_thing(realm, "b");
          t[1] = make_thing(realm, "c"));
    realm_dictionary_t *scores = dictionary_of(realm, thing, "scores");
    realm_dictionary_t *mixed = dictionary_of(realm, thing, "values");
    realm_set_t *numbers = set_of(realm, thing, "numbers");
    realm_list_t *friends = list_of(realm, thing, "friends");
    size_t size;
    realm_results_t *keys = NULL, *values = realm_dictionary_to_results(scores);
    CHECK(realm_dictionary_get_keys(scores, &size, &keys) && values);
    realm_results_t *anything = realm_dictionary_to_results(mixed);
    realm_results_t *few = realm_set_to_results(numbers), *objects = realm_list_to_results(friends);
    notice_t a = {0}, b = {0}, c = {0}, d = {0}, e = {0}, f = {0};
    notice_t *all_notices[] = {&a, &b, &c, &d, &e, &f};
    watch_results(&a, values, NULL);
    watch_results(&b, keys, NULL);
    watch_results(&c, anything, NULL);
    watch_results(&d, few, NULL);
    watch_list(&e, friends, NULL);
    watch_results(&f, objects, NULL);
    const char *names[] = {"x", "y", "z"};
#define FILL()                                                                                    \
    for (int i = 0; i < 3; i++) {                                                                 \
        CHECK(realm_dictionary_insert(scores, of_text(names[i]), of_int(i), NULL, NULL));         \
        CHECK(realm_dictionary_insert(mixed, of_text(names[i]), of_text("v"), NULL, NULL));       \
        CHECK(realm_set_insert(numbers, of_int(i), NULL, NULL));                                  \
    }
#define EMPTY()                                                                                   \
    CHECK(realm_dictionary_clear(scores));                                                        \
    CHECK(realm_dictionary_clear(mixed));                                                         \
    CHECK(realm_set_clear(numbers))
#define EACH(text)                                                                                \
    turn(&loop);                                                                                  \
    TOLD(a, text);                                                                                \
    TOLD(b, text);                                                                                \
    TOLD(c, text);                                                                                \
    TOLD(d, text)
    WRITE(realm, FILL());
    for (int i = 0; i < 2; i++)
        WRITE(realm, CHECK(realm_list_insert(friends, i, link_to(t[i]))));
    turn(&loop);
    for (int i = 0; i < 6; i++)
        all_notices[i]->calls = 0;
    WRITE(realm, EMPTY());
    EACH("d0-3 cleared");
    WRITE(realm, EMPTY()); /* of what is empty */
    EACH("");
    WRITE(realm, FILL());
    EACH("i0-3");
    WRITE(realm, EMPTY(); FILL()); /* something came behind it */
    EACH("d0-3 i0-3");
    /* Not by a call that clears. */
    WRITE(realm, for (int i = 0; i < 3; i++) {
        CHECK(realm_dictionary_erase(scores, of_text(names[i]), NULL));
        CHECK(realm_dictionary_erase(mixed, of_text(names[i]), NULL));
        CHECK(realm_set_erase(numbers, of_int(i), NULL));
    });
    EACH("d0-3");
    WRITE(realm, CHECK(realm_list_remove_all(friends)));
    turn(&loop);
    TOLD(e, "d0-2");
    TOLD(f, "d0-2");
    void *all[] = {a.token, b.token, c.token, d.token, e.token,  f.token, scores, mixed, numbers,
                   friends, keys,    values,  few,     anything, objects, thing,  t[0],  t[1]};
    release_all(all, sizeof all / sizeof *all);
}

/* 15.5: the slot of a nested collection is overwritten, erased, removed or goes with the outer one. */
static void slots(void) {
    realm_object_t *thing = NULL;
    realm_list_t *lists[4];
    realm_dictionary_t *maps[3];
    WRITE(realm, thing = make_thing(realm, "a"));
    realm_list_t *anys = list_of(realm, thing, "anys");
    realm_dictionary_t *values = dictionary_of(realm, thing, "values");
    const char *names[] = {"x", "y", "z"};
    WRITE(realm, for (int i = 0; i < 4; i++) {
        lists[i] = realm_list_insert_list(anys, i);
        insert(lists[i], 0, 1);
        insert(lists[i], 1, 2);
    } for (int i = 0; i < 3; i++) {
        maps[i] = realm_dictionary_insert_dictionary(values, of_text(names[i]));
        CHECK(realm_dictionary_insert(maps[i], of_text("k"), of_int(1), NULL, NULL));
    });
    notice_t l[4] = {{0}}, m[3] = {{0}};
    for (int i = 0; i < 4; i++)
        watch_list(&l[i], lists[i], NULL);
    for (int i = 0; i < 3; i++)
        watch_dictionary(&m[i], maps[i], NULL);
    turn(&loop);
    for (int i = 0; i < 4; i++)
        l[i].calls = 0;
    for (int i = 0; i < 3; i++)
        m[i].calls = 0;
    WRITE(realm, CHECK(realm_list_erase(anys, 1)));
    turn(&loop);
    TOLD(l[0], "");
    TOLD(l[1], "d0-2 deleted");
    TOLD(l[2], "");
    /* Another list in its place is another list. */
    realm_list_t *next = NULL;
    WRITE(realm, CHECK(realm_list_set(anys, 0, of_int(0)));
          next = realm_list_set_list(anys, 0); insert(next, 0, 7));
    turn(&loop);
    TOLD(l[0], "d0-2 deleted");
    WRITE(realm, insert(next, 0, 8); insert(lists[2], 2, 3));
    turn(&loop);
    TOLD(l[0], ""); /* it is told once */
    TOLD(l[1], "");
    TOLD(l[2], "i2");
    WRITE(realm, CHECK(realm_list_clear(anys)));
    turn(&loop);
    TOLD(l[2], "d0-3 deleted");
    TOLD(l[3], "d0-2 deleted");
    WRITE(realm, CHECK(realm_dictionary_erase(values, of_text("x"), NULL));
          CHECK(realm_dictionary_insert(values, of_text("y"), of_int(1), NULL, NULL)));
    turn(&loop);
    TOLD(m[0], "d:k deleted");
    TOLD(m[1], "d:k deleted");
    TOLD(m[2], "");
    WRITE(realm, CHECK(realm_object_delete(thing)));
    turn(&loop);
    TOLD(m[2], "d:k deleted");
    TOLD(m[0], "");
    void *all[] = {l[0].token, l[1].token, l[2].token, l[3].token, m[0].token, m[1].token,
                   m[2].token, lists[0],   lists[1],   lists[2],   lists[3],   maps[0],
                   maps[1],    maps[2],    next,       anys,       values,     thing};
    release_all(all, sizeof all / sizeof *all);
}

/* 16.1: less room than there are keys. */
static realm_property_key_t room[3];
static size_t room_total, room_written;
static void on_room(void *userdata, const realm_object_changes_t *changes) {
    (void)userdata;
    room_total = realm_object_changes_get_modified_properties(changes, NULL, 99);
    for (int i = 0; i < 3; i++)
        room[i] = -7;
    room_written = realm_object_changes_get_modified_properties(changes, room, 2);
    CHECK(realm_object_changes_get_modified_properties(changes, room, 0) == 0);
}
static void little_room(void) {
    realm_object_t *thing = NULL;
    WRITE(realm, thing = make_thing(realm, "a"));
    realm_notification_token_t *token =
        realm_object_add_notification_callback(thing, NULL, NULL, NULL, on_room);
    turn(&loop);
    CHECK(room_total == 0 && room_written == 0);
    WRITE(realm, set(thing, "name", of_text("b")); set(thing, "other", link_to(thing));
          realm_list_t *ints = list_of(realm, thing, "ints"); insert(ints, 0, 1);
          realm_release(ints));
    turn(&loop);
    CHECK(room_total == 3 && room_written == 2);
    CHECK(room[0] != -7 && room[1] != -7 && room[0] != room[1] && room[2] == -7);
    realm_release(token);
    realm_release(thing);
}

/* 15.6: computed steps, of results over people and of an object. */
static void computed(void) {
    loop_t other = {0};
    realm_t *people = open_looped(people_config("computed.realm"), &other);
    keys_t k = keys_of(people);
    realm_class_key_t person = class_key(people, "Person");
    realm_object_t *p[3];
    WRITE(people, for (int i = 0; i < 3; i++) {
        p[i] = realm_object_create_with_primary_key(people, person, of_int(i));
        CHECK(p[i]);
    } CHECK(realm_set_value(p[1], k.boss, link_to(p[0]), false)));
    realm_results_t *all = realm_object_find_all(people, person);
    realm_key_path_array_t *last = paths_of(people, "Person", "staff", NULL);
    realm_key_path_array_t *names = paths_of(people, "Person", "staff.name", NULL);
    notice_t a = {0}, b = {0}, c = {0};
    watch_results(&a, all, last);
    watch_results(&b, all, names);
    c.kind = 1;
    watch_object(&c, people, p[0], names);
    turn(&other);
    a.calls = b.calls = c.calls = 0;
    WRITE(people, CHECK(realm_set_value(p[1], k.name, of_text("n"), false)));
    turn(&other);
    TOLD(a, ""); /* the link was not written */
    TOLD(b, "m0");
    TOLD(c, "staff");
    WRITE(people, CHECK(realm_set_value(p[1], k.age, of_int(1), false)));
    turn(&other);
    TOLD(a, "");
    TOLD(b, "");
    TOLD(c, "");
    WRITE(people, CHECK(realm_set_value(p[2], k.boss, link_to(p[1]), false)));
    turn(&other);
    TOLD(a, "m1");
    b.calls = c.calls = 0;
    realm_object_t *fresh = NULL; /* one that links from its creation on */
    WRITE(people, fresh = realm_object_create_with_primary_key(people, person, of_int(9));
          CHECK(realm_set_value(fresh, k.boss, link_to(p[0]), false)));
    turn(&other);
    TOLD(a, "i3 m0");
    TOLD(b, "i3 m0");
    TOLD(c, "staff");
    void *handles[] = {a.token, b.token, c.token, all, last, names, p[0], p[1], p[2], fresh};
    release_all(handles, sizeof handles / sizeof *handles);
    CHECK(realm_close(people));
    realm_release(people);
    CHECK(loop_ended(&other));
}

int main(void) {
    realm = open_looped_things("sentences.realm", &loop);
    registration();
    reach();
    moves();
    clearing();
    slots();
    little_room();
    CHECK(realm_close(realm));
    realm_release(realm);
    computed();
    return check_end("notifications_sentences");
}
