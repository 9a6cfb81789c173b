/* What callbacks and programs may not do with notifications, and what they may although it looks bad: errors
 * with the codes that are documented, nothing worse. */
#include "notices.h"

#include <pthread.h>

/* -- Where nothing can be observed --------------------------------------------------------------- */

/* One of each kind that can be observed. */
typedef struct subjects {
    realm_object_t *object;
    realm_list_t *list;
    realm_set_t *set;
    realm_dictionary_t *dictionary;
    realm_results_t *results;
} subjects_t;

static subjects_t subjects_in(realm_t *realm) {
    subjects_t s = {.results = realm_object_find_all(realm, class_key(realm, "Thing"))};
    CHECK(s.object = realm_results_get_object(s.results, 0));
    s.list = list_of(realm, s.object, "ints");
    s.set = set_of(realm, s.object, "tags");
    s.dictionary = dictionary_of(realm, s.object, "scores");
    return s;
}
static void release_subjects(subjects_t s) {
    void *all[] = {s.object, s.list, s.set, s.dictionary, s.results};
    for (size_t i = 0; i < 5; i++)
        realm_release(all[i]);
}
/* None of them can be; the userdata is freed each time. */
static void refused(subjects_t s, realm_errno_e code) {
    notice_t n = {0};
    FAILS(code, realm_object_add_notification_callback(s.object, &n, free_notice, NULL, on_object));
    FAILS(code, realm_list_add_notification_callback(s.list, &n, free_notice, NULL, on_elements));
    FAILS(code, realm_set_add_notification_callback(s.set, &n, free_notice, NULL, on_elements));
    FAILS(code, realm_dictionary_add_notification_callback(s.dictionary, &n, free_notice, NULL,
                                                           on_keys));
    FAILS(code,
          realm_results_add_notification_callback(s.results, &n, free_notice, NULL, on_elements));
    CHECK(n.freed == 5 && n.calls == 0);
}
static void *refused_here(void *subjects) {
    refused(*(subjects_t *)subjects, RLM_ERR_WRONG_THREAD);
    return NULL;
}

static void registration(void) {
    const char *path = "refused.realm";
    realm_t *realm = open_things(path);
    WRITE(realm, realm_release(make_thing(realm, "a")));
    subjects_t s = subjects_in(realm);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, refused_here, &s) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    /* A write transaction that has changed something, whatever it was. */
    CHECK(realm_begin_write(realm));
    realm_release(make_thing(realm, "b"));
    refused(s, RLM_ERR_WRONG_TRANSACTION_STATE);
    CHECK(realm_rollback(realm));
    realm_t *frozen = realm_freeze(realm);
    subjects_t ice = subjects_in(frozen);
    refused(ice, RLM_ERR_WRONG_TRANSACTION_STATE);
    release_subjects(ice);
    realm_release(frozen);
    CHECK(realm_close(realm));
    notice_t n = {0};
    FAILS(RLM_ERR_CLOSED_REALM, realm_results_add_notification_callback(s.results, &n, free_notice,
                                                                        NULL, on_elements));
    CHECK(n.freed == 1);
    release_subjects(s);
    realm_release(realm);

    realm_config_t *config = things_config(path);
    realm_config_set_schema_mode(config, RLM_SCHEMA_MODE_IMMUTABLE);
    realm = open_or_exit(config);
    s = subjects_in(realm);
    refused(s, RLM_ERR_WRONG_TRANSACTION_STATE);
    release_subjects(s);
    realm_release(realm);
}

/* -- What a callback tries ----------------------------------------------------------------------- */

static realm_t *twin;

/* Called in realm_begin_write(), where the transaction is open already. */
static void begin_again(notice_t *n) {
    CHECK(realm_is_writable(n->realm));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_begin_write(n->realm));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_begin_write(twin));
    bool did = true;
    SUCCEEDS(realm_refresh(n->realm, &did));
    CHECK(!did && realm_is_writable(n->realm));
    n->then = NULL;
}
static void commit_it(notice_t *n) {
    realm_release(make_thing(n->realm, "in the callback"));
    CHECK(realm_commit(n->realm));
    n->then = NULL;
}
/* Called in a refresh: writing through another realm of the thread is possible. */
static void write_twin(notice_t *n) {
    WRITE(twin, realm_release(make_thing(twin, "by the twin")));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_commit(n->realm));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_rollback(n->realm));
    n->then = NULL;
}
static void fail_inside(notice_t *n) {
    static int of_the_program;
    realm_register_user_code_callback_error(&of_the_program);
    realm_class_info_t info;
    CHECK(!realm_get_class(n->realm, 4711, &info));
    CHECK(realm_get_last_error(NULL));
}

static void transactions(void) {
    loop_t loop = {0};
    realm_t *realm = open_looped_things("tries.realm", &loop);
    twin = open_things("tries.realm");
    realm_results_t *all = realm_object_find_all(realm, class_key(realm, "Thing"));
    notice_t a = {.then = begin_again};
    watch_results(&a, all, NULL);
    a.realm = realm;
    CHECK(realm_begin_write(realm));
    TOLD(a, "-");
    realm_release(make_thing(realm, "a"));
    CHECK(realm_commit(realm));
    turn(&loop);
    TOLD(a, "i0");
    /* The transaction that it ended is not there any more. */
    WRITE(twin, realm_release(make_thing(twin, "b")));
    a.then = commit_it;
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_begin_write(realm));
    CHECK(!realm_is_writable(realm) && count_of(realm, "Thing") == 3);
    TOLD(a, "i1");
    turn(&loop);
    TOLD(a, "i2");
    a.then = write_twin;
    WRITE(realm, realm_release(make_thing(realm, "c")));
    turn(&loop);
    TOLD(a, "i3");
    turn(&loop);
    TOLD(a, "i4");
    /* Errors in a callback are its own; what it reports as an error of the program is for others. */
    a.then = fail_inside;
    WRITE(realm, realm_release(make_thing(realm, "d")));
    realm_clear_last_error();
    CHECK(realm_refresh(realm, NULL));
    TOLD(a, "i5");
    WRITE(realm, realm_release(make_thing(realm, "e")));
    turn(&loop);
    TOLD(a, "i6");
    realm_register_user_code_callback_error(NULL);
    realm_clear_last_error();
    realm_release(a.token);
    realm_release(all);
    realm_release(twin);
    realm_release(realm);
    CHECK(loop_ended(&loop));
}

/* -- Ends in a callback -------------------------------------------------------------------------- */

/* Everything that holds the realm goes while it calls. */
static void let_go(notice_t *n) {
    realm_release(n->token);
    realm_release(n->other);
    realm_release(n->clone);
    realm_release(n->realm);
    CHECK(n->freed == 0);
    n->then = NULL;
}

static void ends(void) {
    for (int way = 0; way < 3; way++) {
        loop_t loop = {0};
        realm_t *realm = open_looped_things("ends.realm", &loop);
        realm_results_t *all = realm_object_find_all(realm, class_key(realm, "Thing"));
        realm_object_t *thing = NULL;
        WRITE(realm, thing = make_thing(realm, "a"));
        turn(&loop);
        notice_t a = {.then = let_go, .other = all, .clone = thing}, b = {0};
        watch_results(&b, all, NULL);
        watch_results(&a, all, NULL);
        a.realm = realm;
        if (way == 0)
            turn(&loop);
        else if (way == 1)
            CHECK(realm_refresh(realm, NULL));
        else
            CHECK(realm_begin_write(realm)); /* rolled back with the end of the call */
        TOLD(a, "-");
        TOLD(b, "-");
        CHECK(a.freed == 1);
        turn(&loop);
        realm_release(b.token);
        CHECK(b.freed == 1);
        CHECK(loop_ended(&loop));
    }
    /* Nobody has the file open any more. */
    bool deleted = false;
    SUCCEEDS(realm_delete_files("ends.realm", &deleted));
    CHECK(deleted);
}

typedef struct witness {
    realm_t *realm;
    realm_callback_token_t *token;
    int called, freed, way;
} witness_t;
static void free_witness(void *userdata) { ((witness_t *)userdata)->freed++; }
static void on_change(void *userdata) {
    witness_t *w = userdata;
    w->called++;
    if (w->way == 0)
        FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_rollback(w->realm));
    else if (w->way == 1)
        CHECK(realm_close(w->realm));
    else if (w->way == 2 && w->called == 1)
        WRITE(w->realm, realm_release(make_thing(w->realm, "again")));
}

/* The callbacks of a realm as a whole, in a commit. */
static void realm_changes(void) {
    for (int way = 0; way < 3; way++) {
        realm_t *realm = open_things("changes.realm");
        size_t before = count_of(realm, "Thing");
        witness_t w = {.realm = realm, .way = way};
        w.token = realm_add_realm_changed_callback(realm, on_change, &w, free_witness);
        CHECK(realm_begin_write(realm));
        realm_release(make_thing(realm, "one"));
        CHECK(realm_commit(realm));
        CHECK(w.called == (way == 2 ? 2 : 1));
        CHECK(realm_is_closed(realm) == (way == 1) && !realm_is_writable(realm));
        if (way == 1)
            FAILS(RLM_ERR_CLOSED_REALM, realm_begin_write(realm));
        else
            CHECK(count_of(realm, "Thing") == before + (way == 2 ? 2 : 1));
        realm_release(w.token);
        CHECK(w.freed == 1);
        realm_release(realm);
    }
}

int main(void) {
    registration();
    transactions();
    ends();
    realm_changes();
    return check_end("notifications_misuse");
}
