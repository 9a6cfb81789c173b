/* Contract 15.1 and 15.2: who may observe, when callbacks run, and what they may do. */
#include "notices.h"

#include <pthread.h>

static void set_name(realm_t *realm, realm_object_t *thing, const char *name) {
    CHECK(realm_set_value(thing, thing_key(realm, "name"), of_text(name), false));
}

static void registration(void) {
    loop_t loop = {0};
    realm_t *realm = open_looped_things("registration.realm", &loop);
    realm_object_t *thing = NULL, *gone = NULL;
    WRITE(realm, thing = make_thing(realm, "a"); gone = make_thing(realm, "b"));
    realm_list_t *list = list_of(realm, thing, "ints");
    realm_set_t *set = set_of(realm, gone, "tags");
    realm_dictionary_t *dictionary = dictionary_of(realm, gone, "scores");
    realm_list_t *lost = list_of(realm, gone, "ints");
    realm_results_t *stale = realm_list_to_results(lost);
    realm_results_t *all = realm_object_find_all(realm, class_key(realm, "Thing"));
    realm_results_t *snapshot = realm_results_snapshot(all);
    WRITE(realm, CHECK(realm_object_delete(gone)));
    notice_t n = {0};
    int freed = 0;
    FAILS(RLM_ERR_INVALIDATED_OBJECT,
          realm_object_add_notification_callback(gone, &n, free_notice, NULL, on_object));
    FAILS(RLM_ERR_INVALIDATED_OBJECT,
          realm_list_add_notification_callback(lost, &n, free_notice, NULL, on_elements));
    FAILS(RLM_ERR_INVALIDATED_OBJECT,
          realm_set_add_notification_callback(set, &n, free_notice, NULL, on_elements));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_dictionary_add_notification_callback(
                                          dictionary, &n, free_notice, NULL, on_keys));
    FAILS(RLM_ERR_ILLEGAL_OPERATION,
          realm_results_add_notification_callback(snapshot, &n, free_notice, NULL, on_elements));
    CHECK(n.freed == (freed += 5));
    /* Frozen. */
    realm_t *frozen = realm_freeze(realm);
    realm_object_t *ice = NULL;
    CHECK(realm_object_resolve_in(thing, frozen, &ice) && ice);
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE,
          realm_object_add_notification_callback(ice, &n, free_notice, NULL, on_object));
    /* In a write transaction only at its start. */
    CHECK(realm_begin_write(realm));
    notice_t early = {0};
    watch_list(&early, list, NULL);
    CHECK(realm_list_insert(list, 0, of_int(7)));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE,
          realm_list_add_notification_callback(list, &n, free_notice, NULL, on_elements));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE,
          realm_results_add_notification_callback(all, &n, free_notice, NULL, on_elements));
    CHECK(n.freed == (freed += 3));
    turn(&loop);
    TOLD(early, ""); /* not while it writes */
    CHECK(realm_commit(realm));
    TOLD(early, "");
    turn(&loop);
    TOLD(early, "i0"); /* the changes of the transaction it began in */
    /* No function, no userdata. */
    realm_notification_token_t *silent =
        realm_list_add_notification_callback(list, NULL, NULL, NULL, NULL);
    CHECK(silent);
    WRITE(realm, CHECK(realm_list_insert(list, 0, of_int(8))));
    turn(&loop);
    TOLD(early, "i0");
    /* Results that are not valid. */
    notice_t late = {0};
    watch_results(&late, stale, NULL);
    turn(&loop);
    TOLD(late, "deleted");
    WRITE(realm, CHECK(realm_list_insert(list, 0, of_int(9))));
    turn(&loop);
    TOLD(late, "");
    FAILS(RLM_ERR_NOT_CLONABLE, realm_clone(early.token));
    CHECK(realm_equals(early.token, early.token) && !realm_equals(early.token, late.token));
    realm_release(early.token);
    CHECK(early.freed == 1);
    /* A token outlives the realm. */
    CHECK(realm_close(realm));
    CHECK(late.freed == 0);
    realm_release(late.token);
    CHECK(late.freed == 1);
    void *all_handles[] = {thing, gone,     list,   set,    dictionary, lost, stale,
                           all,   snapshot, frozen, ice, silent, realm};
    for (size_t i = 0; i < sizeof all_handles / sizeof *all_handles; i++)
        realm_release(all_handles[i]);
    CHECK(loop_ended(&loop));
}

static void initial_call(void) {
    loop_t loop = {0}, other_loop = {0};
    realm_t *realm = open_looped_things("initial.realm", &loop);
    realm_t *other = open_looped_things("initial.realm", &other_loop);
    realm_object_t *thing = NULL;
    WRITE(realm, thing = make_thing(realm, "a"));
    turn(&loop);
    realm_list_t *list = list_of(realm, thing, "ints");
    realm_results_t *all = realm_object_find_all(realm, class_key(realm, "Thing"));
    realm_results_t *theirs = realm_object_find_all(other, class_key(other, "Thing"));
    notice_t a = {0}, b = {0}, c = {0}, d = {0};
    watch_list(&a, list, NULL);
    watch_results(&b, all, NULL);
    watch_object(&c, realm, thing, NULL);
    CHECK(a.calls == 0 && pending(&loop) > 0);
    turn(&loop);
    TOLD(a, "-");
    TOLD(b, "-");
    TOLD(c, "-");
    turn(&loop);
    TOLD(a, "");
    /* What was committed before the delivery is in it, by anyone. */
    watch_results(&d, theirs, NULL);
    WRITE(realm, realm_release(make_thing(realm, "b")));
    CHECK(d.calls == 0 && b.calls == 0); /* never inside the commit, never elsewhere */
    turn(&other_loop);
    TOLD(d, "i1");
    turn(&loop);
    TOLD(b, "i1");
    /* A second callback of a handle has its own first call. */
    notice_t e = {0};
    watch_results(&e, all, NULL);
    turn(&loop);
    TOLD(e, "-");
    TOLD(b, "");
    /* Registered between a commit and its delivery: each hears of what it did not know. */
    WRITE(realm, realm_release(make_thing(realm, "c")));
    notice_t f = {0};
    watch_results(&f, all, NULL);
    WRITE(other, realm_release(make_thing(other, "d")));
    TOLD(d, "i2");
    turn(&loop);
    TOLD(b, "i2-4");
    TOLD(e, "i2-4");
    TOLD(f, "i3");
    WRITE(realm, realm_release(make_thing(realm, "e")));
    turn(&loop);
    TOLD(b, "i4");
    TOLD(e, "i4");
    TOLD(f, "i4");
    turn(&other_loop);
    TOLD(d, "i3-5");
    realm_release(f.token);
    realm_release(e.token);
    WRITE(realm, realm_release(make_thing(realm, "e")));
    turn(&loop);
    TOLD(b, "i5");
    CHECK(f.freed == 1 && e.freed == 1 && e.calls == 0 && f.calls == 0);
    /* Releasing the handle silences its callbacks; a clone does not keep them. */
    realm_results_t *clone = realm_clone(all);
    realm_list_t *list_clone = realm_clone(list);
    realm_object_t *thing_clone = realm_clone(thing);
    realm_release(all);
    realm_release(list);
    realm_release(thing);
    WRITE(realm, realm_release(make_thing(realm, "e")); set_name(realm, thing_clone, "new");
          CHECK(realm_list_insert(list_clone, 0, of_int(1))));
    turn(&loop);
    TOLD(a, "");
    TOLD(b, "");
    TOLD(c, "");
    CHECK(a.freed + b.freed + c.freed == 0);
    void *rest[] = {a.token, b.token, c.token, d.token, theirs, clone, list_clone, thing_clone};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        realm_release(rest[i]);
    CHECK(a.freed == 1 && b.freed == 1 && c.freed == 1 && d.freed == 1);
    realm_release(other);
    realm_release(realm);
    CHECK(loop_ended(&loop));
    CHECK(loop_ended(&other_loop));
}

static int order, changed_at;
static void saw_change(void *userdata) {
    (void)userdata;
    changed_at = ++order;
}
static int noticed_at;
static bool noticed_writable;
static void note_order(notice_t *n) {
    noticed_at = ++order;
    noticed_writable = realm_is_writable(n->realm);
}

static void where(void) {
    loop_t loop = {0}, still = {.cannot_deliver = true};
    realm_t *realm = open_looped_things("where.realm", &loop);
    realm_t *mute = open_looped_things("where.realm", &still);
    realm_results_t *all = realm_object_find_all(realm, class_key(realm, "Thing"));
    realm_results_t *theirs = realm_object_find_all(mute, class_key(mute, "Thing"));
    realm_callback_token_t *changed =
        realm_add_realm_changed_callback(realm, saw_change, NULL, NULL);
    notice_t a = {.then = note_order, .realm = realm}, b = {0};
    watch_results(&a, all, NULL);
    watch_results(&b, theirs, NULL);
    turn(&loop);
    TOLD(a, "-");
    WRITE(mute, realm_release(make_thing(mute, "a")));
    TOLD(b, "-"); /* the first call came with begin_write */
    CHECK(pending(&still) == 0);
    /* Auto-refresh by the scheduler, realm-changed callbacks first. */
    turn(&loop);
    TOLD(a, "i0");
    CHECK(changed_at < noticed_at && !noticed_writable);
    /* begin_write: writable already. */
    WRITE(mute, realm_release(make_thing(mute, "b")));
    TOLD(b, "i0");
    CHECK(realm_begin_write(realm));
    TOLD(a, "i1");
    CHECK(changed_at < noticed_at && noticed_writable);
    CHECK(realm_rollback(realm));
    turn(&loop);
    TOLD(a, ""); /* roll-backs are not told */
    /* refresh */
    WRITE(mute, realm_release(make_thing(mute, "c")));
    b.calls = 0;
    bool did = false;
    SUCCEEDS(realm_refresh(realm, &did));
    CHECK(did);
    TOLD(a, "i2");
    CHECK(!noticed_writable);
    SUCCEEDS(realm_refresh(mute, &did));
    CHECK(!did); /* its own commit, told now */
    TOLD(b, "i2");
    /* Commits in between are merged. */
    realm_object_t *one = NULL, *two = NULL;
    WRITE(mute, one = make_thing(mute, "d"));
    WRITE(mute, two = make_thing(mute, "e"); set_name(mute, one, "x"));
    WRITE(mute, CHECK(realm_object_delete(two)));
    SUCCEEDS(realm_refresh(mute, &did));
    b.calls = 0;
    turn(&loop);
    TOLD(a, "i3");
    WRITE(mute, set_name(mute, one, "y"));
    WRITE(mute, CHECK(realm_object_delete(one)));
    turn(&loop);
    TOLD(a, "d3");
    realm_release(one);
    realm_release(two);
    realm_release(changed);
    realm_release(a.token);
    realm_release(b.token);
    realm_release(all);
    realm_release(theirs);
    realm_release(mute);
    realm_release(realm);
    CHECK(loop_ended(&loop));
    CHECK(loop_ended(&still));
}

static void automatic_off(void) {
    loop_t loop = {0};
    realm_config_t *config = things_config("automatic.realm");
    realm_config_set_automatic_change_notifications(config, false);
    realm_t *realm = open_looped(config, &loop);
    realm_results_t *all = realm_object_find_all(realm, class_key(realm, "Thing"));
    notice_t a = {0};
    watch_results(&a, all, NULL);
    WRITE(realm, realm_release(make_thing(realm, "a")));
    CHECK(pending(&loop) == 0);
    a.calls = 0;
    SUCCEEDS(realm_refresh(realm, NULL));
    TOLD(a, "i0");
    realm_release(a.token);
    realm_release(all);
    realm_release(realm);
    CHECK(loop_ended(&loop));
}

static void release_itself(notice_t *n) {
    realm_release(n->token);
    n->token = NULL;
    CHECK(n->freed == 0); /* not while it runs */
}
static void release_other(notice_t *n) {
    notice_t *other = n->other;
    realm_release(other->token);
    other->token = NULL;
    CHECK(other->freed == 1);
}
static void close_realm(notice_t *n) { CHECK(realm_close(n->realm)); }
static void refresh_inside(notice_t *n) {
    bool did = true;
    SUCCEEDS(realm_refresh(n->realm, &did));
    CHECK(!did);
}
static void add_another(notice_t *n) {
    notice_t *other = n->other;
    if (!other->token)
        watch_results(other, n->clone, NULL);
}
static void write_inside(notice_t *n) {
    if (n->kind-- > 0)
        WRITE(n->realm, realm_release(make_thing(n->realm, "inside")));
}
static void leave_writing(notice_t *n) {
    CHECK(realm_begin_write(n->realm));
    realm_release(make_thing(n->realm, "left open"));
    n->then = NULL;
}
static void end_writing(notice_t *n) {
    CHECK(realm_rollback(n->realm));
    n->then = NULL;
}

static void callbacks(void) {
    loop_t loop = {0};
    realm_t *realm = open_looped_things("callbacks.realm", &loop);
    realm_results_t *all = realm_object_find_all(realm, class_key(realm, "Thing"));
    realm_results_t *more = realm_object_find_all(realm, class_key(realm, "Thing"));
    /* Tokens released inside. */
    notice_t a = {.then = release_itself}, b = {0}, c = {.then = release_other, .other = &b};
    watch_results(&a, all, NULL);
    watch_results(&c, all, NULL);
    watch_results(&b, all, NULL);
    turn(&loop);
    TOLD(a, "-");
    TOLD(c, "-");
    TOLD(b, "");
    CHECK(a.freed == 1 && b.freed == 1);
    c.then = refresh_inside;
    c.realm = realm;
    WRITE(realm, realm_release(make_thing(realm, "a")));
    turn(&loop);
    TOLD(c, "i0");
    TOLD(a, "");
    /* Registered inside. */
    notice_t d = {0};
    c.then = add_another;
    c.other = &d;
    c.clone = more;
    WRITE(realm, realm_release(make_thing(realm, "b")));
    turn(&loop);
    TOLD(c, "i1");
    TOLD(d, "");
    turn(&loop);
    TOLD(d, "-");
    /* Writing inside: those that come after it hear of both. */
    c.then = write_inside;
    c.kind = 1;
    c.realm = realm;
    WRITE(realm, realm_release(make_thing(realm, "c")));
    turn(&loop);
    TOLD(c, "i2");
    TOLD(d, "i2-4");
    turn(&loop);
    TOLD(c, "i3");
    TOLD(d, "");
    /* The same for two callbacks of one handle. */
    notice_t e = {0};
    watch_results(&e, all, NULL);
    turn(&loop);
    TOLD(e, "-");
    c.kind = 1;
    WRITE(realm, realm_release(make_thing(realm, "d")));
    turn(&loop);
    TOLD(c, "i4");
    TOLD(e, "i4-6");
    turn(&loop);
    TOLD(c, "i5");
    TOLD(e, "");
    WRITE(realm, realm_release(make_thing(realm, "e")));
    d.calls = 0;
    turn(&loop);
    TOLD(c, "i6");
    TOLD(e, "i6");
    TOLD(d, "i6");
    /* A transaction left open. */
    c.then = leave_writing;
    WRITE(realm, realm_release(make_thing(realm, "f")));
    turn(&loop);
    TOLD(c, "i7");
    CHECK(realm_is_writable(realm) && realm_commit(realm));
    d.calls = e.calls = 0;
    turn(&loop);
    TOLD(c, "i8");
    d.calls = e.calls = 0;
    /* One that is ended while it begins. */
    WRITE(realm, realm_release(make_thing(realm, "g")));
    c.then = end_writing;
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_begin_write(realm));
    CHECK(!realm_is_writable(realm));
    TOLD(c, "i9");
    turn(&loop);
    /* Closing inside; what is pending is dropped. */
    c.then = close_realm;
    e.calls = 0;
    WRITE(realm, realm_release(make_thing(realm, "h")));
    d.calls = e.calls = 0;
    turn(&loop);
    TOLD(c, "i10");
    TOLD(e, "");
    turn(&loop);
    FAILS(RLM_ERR_CLOSED_REALM, realm_begin_write(realm));
    /* And while a transaction begins. */
    realm_t *again = open_looped_things("callbacks.realm", &loop);
    realm_results_t *found = realm_object_find_all(again, class_key(again, "Thing"));
    notice_t f = {.then = close_realm, .realm = again};
    watch_results(&f, found, NULL);
    FAILS(RLM_ERR_CLOSED_REALM, realm_begin_write(again));
    TOLD(f, "-");
    realm_release(c.token);
    realm_release(d.token);
    realm_release(e.token);
    realm_release(f.token);
    CHECK(c.freed == 1 && d.freed == 1 && e.freed == 1 && f.freed == 1);
    realm_release(found);
    realm_release(all);
    realm_release(more);
    realm_release(again);
    realm_release(realm);
    CHECK(loop_ended(&loop));
}

static void *release_elsewhere(void *token) {
    realm_release(token);
    return NULL;
}
static void *read_elsewhere(void *clone) {
    size_t insertions = 0;
    realm_collection_changes_get_num_changes(clone, NULL, &insertions, NULL, NULL, NULL, NULL);
    CHECK(insertions == 1);
    realm_release(clone);
    return NULL;
}
static void *observe_elsewhere(void *results) {
    notice_t n = {0};
    FAILS(RLM_ERR_WRONG_THREAD,
          realm_results_add_notification_callback(results, &n, free_notice, NULL, on_elements));
    CHECK(n.freed == 1);
    return NULL;
}
static void in_thread(void *(*body)(void *), void *argument) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, body, argument) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

static void threads(void) {
    realm_t *realm = open_things("threads.realm");
    realm_results_t *all = realm_object_find_all(realm, class_key(realm, "Thing"));
    in_thread(observe_elsewhere, all);
    notice_t a = {.kind = 1}, b = {0};
    watch_results(&a, all, NULL);
    watch_results(&b, all, NULL);
    SUCCEEDS(realm_refresh(realm, NULL));
    realm_release(a.clone);
    WRITE(realm, realm_release(make_thing(realm, "a")));
    a.calls = b.calls = 0;
    SUCCEEDS(realm_refresh(realm, NULL));
    TOLD(a, "i0");
    /* A change set lives on in its clone, on any thread, after the realm. */
    void *clone = a.clone;
    CHECK(clone && !realm_equals(clone, NULL));
    in_thread(release_elsewhere, b.token);
    CHECK(b.freed == 1);
    b.calls = 0;
    a.kind = 0;
    WRITE(realm, realm_release(make_thing(realm, "b")));
    SUCCEEDS(realm_refresh(realm, NULL));
    CHECK(b.calls == 0);
    uint64_t versions = 0;
    SUCCEEDS(realm_get_num_versions(realm, &versions));
    CHECK(versions == 1); /* observers that are up to date keep nothing */
    CHECK(realm_close(realm));
    in_thread(read_elsewhere, clone);
    in_thread(release_elsewhere, a.token);
    CHECK(a.freed == 1);
    realm_release(all);
    realm_release(realm);
}

/* A schema that grows goes on being observed; compaction ends all observation, without a word. */
static void schema_and_compaction(void) {
    realm_property_info_t one = property_of("name", RLM_PROPERTY_TYPE_STRING, 0);
    realm_property_info_t two[] = {one, property_of("size", RLM_PROPERTY_TYPE_INT, 0)};
    realm_class_info_t item = class_of("Item", "", 1, 0);
    const realm_property_info_t *properties[] = {&one}, *more[] = {two};
    realm_config_t *config = config_with("grows.realm", realm_schema_new(&item, 1, properties));
    realm_config_set_schema_version(config, 0);
    realm_config_set_schema_mode(config, RLM_SCHEMA_MODE_ADDITIVE_EXPLICIT);
    realm_t *realm = open_or_exit(config);
    realm_class_key_t class = class_key(realm, "Item");
    realm_object_t *object = NULL;
    WRITE(realm, object = realm_object_create(realm, class));
    realm_query_t *query = realm_query_parse(realm, class, "name != 'x' SORT(name ASC)", 0, NULL);
    realm_results_t *results = realm_query_find_all(query);
    realm_results_t *all = realm_object_find_all(realm, class);
    notice_t a = {0}, b = {0};
    watch_results(&a, results, NULL);
    watch_results(&b, all, NULL);
    SUCCEEDS(realm_refresh(realm, NULL));
    a.calls = b.calls = 0;
    item.num_properties = 2;
    realm_schema_t *larger = realm_schema_new(&item, 1, more);
    SUCCEEDS(realm_update_schema(realm, larger));
    WRITE(realm, realm_release(realm_object_create(realm, class));
          CHECK(realm_set_value(object, property_key(realm, class, "name"), of_text("b"), false)));
    a.calls = b.calls = 0;
    strcpy(a.text, "");
    SUCCEEDS(realm_refresh(realm, NULL));
    TOLD(a, "i0 m0>1");
    TOLD(b, "i1 m0");
    WRITE(realm, CHECK(realm_set_value(object, property_key(realm, class, "size"), of_int(7), false)));
    SUCCEEDS(realm_refresh(realm, NULL));
    TOLD(a, "m1");
    TOLD(b, "m0");
    bool did = false;
    SUCCEEDS(realm_compact(realm, &did));
    CHECK(did);
    WRITE(realm, realm_release(realm_object_create(realm, class)));
    SUCCEEDS(realm_refresh(realm, NULL));
    TOLD(a, "");
    TOLD(b, "");
    CHECK(a.freed + b.freed == 0);
    void *handles[] = {a.token, b.token, larger, results, all, query, object, realm};
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++)
        realm_release(handles[i]);
    CHECK(a.freed == 1 && b.freed == 1);
}

int main(void) {
    schema_and_compaction();
    registration();
    initial_call();
    where();
    automatic_off();
    callbacks();
    threads();
    return check_end("notifications_delivery");
}
