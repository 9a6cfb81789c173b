/* What observers can do about writes: see what was before, and not hear of their own. */
/* Barriers. */
#define _POSIX_C_SOURCE 200809L

#include "notices.h"

#include <pthread.h>

static void set_name(realm_t *realm, realm_object_t *thing, const char *name) {
    CHECK(realm_set_value(thing, thing_key(realm, "name"), of_text(name), false));
}

/* ---- the state that was told last ------------------------------------------------------------ */

typedef struct {
    realm_t *realm, *frozen;
    realm_object_t *object;
    int calls;
    char before[64];
} witness_t;

/* The name of the object as it was told last. */
static void look_back(void *userdata, const realm_object_changes_t *changes) {
    witness_t *witness = userdata;
    realm_t *frozen = realm_freeze_told(witness->realm);
    (void)changes;
    witness->calls++;
    CHECK(frozen && realm_is_frozen(frozen));
    realm_object_t *old = realm_get_object(frozen, class_key(witness->realm, "Thing"),
                                           realm_object_get_key(witness->object));
    realm_value_t name;
    SUCCEEDS(old && realm_get_value(old, thing_key(witness->realm, "name"), &name));
    snprintf(witness->before, sizeof witness->before, "%.*s", (int)name.string.size,
             name.string.data);
    realm_release(old);
    if (witness->frozen) realm_release(witness->frozen);
    witness->frozen = frozen;
}

static void looking_back(void) {
    realm_t *realm = open_things("told.realm");
    realm_object_t *thing = NULL;
    WRITE(realm, thing = make_thing(realm, "a"));
    witness_t witness = {.realm = realm, .object = thing};
    realm_notification_token_t *token =
        realm_object_add_notification_callback(thing, &witness, NULL, NULL, look_back);
    CHECK(realm_refresh(realm, NULL) && witness.calls == 1);
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_freeze_told(realm));
    WRITE(realm, set_name(realm, thing, "b"));
    CHECK(realm_refresh(realm, NULL) && witness.calls == 2 && strcmp(witness.before, "a") == 0);
    WRITE(realm, set_name(realm, thing, "c"));
    WRITE(realm, set_name(realm, thing, "d"));
    CHECK(realm_refresh(realm, NULL) && witness.calls >= 3);
    CHECK(strcmp(witness.before, witness.calls == 3 ? "b" : "c") == 0);
    WRITE(realm, CHECK(realm_object_delete(thing)));
    CHECK(realm_refresh(realm, NULL) && strcmp(witness.before, "d") == 0);
    /* It stays as it is when the callback is over, and when the realm is closed. */
    realm_release(token);
    realm_release(thing);
    realm_release(realm);
    size_t count = 0;
    SUCCEEDS(realm_get_num_objects(witness.frozen, class_key(witness.frozen, "Thing"), &count));
    CHECK(count == 1);
    realm_release(witness.frozen);
}

/* ---- schedulers that become able to deliver ---------------------------------------------------- */

static void asking_again(void) {
    loop_t loop = {.cannot_deliver = true};
    realm_t *realm = open_looped_things("asked.realm", &loop);
    realm_t *other = open_things("asked.realm");
    realm_results_t *all = realm_object_find_all(realm, class_key(realm, "Thing"));
    notice_t notice = {0};
    watch_results(&notice, all, NULL);
    WRITE(other, realm_release(make_thing(other, "a")));
    CHECK(pending(&loop) == 0);
    loop.cannot_deliver = false;
    WRITE(other, realm_release(make_thing(other, "b")));
    CHECK(pending(&loop) == 0);
    SUCCEEDS(realm_ask_scheduler(realm));
    turn(&loop);
    TOLD(notice, "i0-2");
    WRITE(other, realm_release(make_thing(other, "c")));
    CHECK(pending(&loop) == 1);
    turn(&loop);
    TOLD(notice, "i2");
    loop.cannot_deliver = true;
    SUCCEEDS(realm_ask_scheduler(realm));
    WRITE(other, realm_release(make_thing(other, "d")));
    CHECK(pending(&loop) == 0);
    realm_release(notice.token);
    realm_release(all);
    realm_close(realm);
    FAILS(RLM_ERR_CLOSED_REALM, realm_ask_scheduler(realm));
    realm_release(realm);
    realm_release(other);
    CHECK(loop_ended(&loop));
}

/* ---- commits that some are not told of --------------------------------------------------------- */

static void count_call(void *userdata) { ++*(int *)userdata; }

static void silent_commits(void) {
    loop_t loop = {0};
    realm_t *realm = open_looped_things("silent.realm", &loop);
    realm_t *other = open_things("silent.realm");
    realm_results_t *all = realm_object_find_all(realm, class_key(realm, "Thing"));
    realm_results_t *alone = realm_object_find_all(realm, class_key(realm, "Thing"));
    notice_t mine = {0}, others = {0}, single = {0};
    int of_realm = 0;
    watch_results(&mine, all, NULL);
    watch_results(&others, all, NULL);
    watch_results(&single, alone, NULL);
    realm_callback_token_t *changed =
        realm_add_realm_changed_callback(realm, count_call, &of_realm, NULL);
    turn(&loop);
    mine.calls = others.calls = single.calls = 0;
    const void *silent[] = {mine.token, single.token, changed};
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_commit_without_notifying(realm, silent, 3));
    CHECK(realm_begin_write(realm));
    realm_release(make_thing(realm, "a"));
    SUCCEEDS(realm_commit_without_notifying(realm, silent, 3));
    turn(&loop);
    TOLD(mine, "");
    TOLD(others, "i0");
    TOLD(single, "");
    CHECK(of_realm == 0);
    WRITE(realm, realm_release(make_thing(realm, "b")));
    turn(&loop);
    TOLD(mine, "i1");
    TOLD(others, "i1");
    TOLD(single, "i1");
    CHECK(of_realm == 1);
    /* What others committed before is told, at the beginning. */
    WRITE(other, realm_release(make_thing(other, "c")));
    CHECK(realm_begin_write(realm));
    TOLD(mine, "i2");
    TOLD(single, "i2");
    realm_release(make_thing(realm, "d"));
    SUCCEEDS(realm_commit_without_notifying(realm, silent, 1));
    turn(&loop);
    TOLD(mine, "");
    TOLD(single, "i3");
    /* Of another realm, no token, none at all. */
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_commit_without_notifying(other, silent, 1));
    CHECK(realm_begin_write(other));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_commit_without_notifying(other, silent, 1));
    const void *wrong[] = {all};
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_commit_without_notifying(other, wrong, 1));
    CHECK(realm_is_writable(other));
    SUCCEEDS(realm_commit_without_notifying(other, NULL, 0));
    realm_release(mine.token);
    realm_release(others.token);
    realm_release(single.token);
    realm_release(changed);
    realm_release(all);
    realm_release(alone);
    realm_release(realm);
    realm_release(other);
    CHECK(loop_ended(&loop));
}

/* ---- openings that give up ---------------------------------------------------------------------- */

static bool third_time(void *userdata) { return ++*(int *)userdata == 3; }

static void *hold_writer(void *userdata) {
    realm_t *realm = open_things("held.realm");
    CHECK(realm_begin_write(realm));
    pthread_barrier_wait(userdata);
    pthread_barrier_wait(userdata);
    CHECK(realm_rollback(realm));
    realm_release(realm);
    return NULL;
}

static void opening_gives_up(void) {
    realm_release(open_things("held.realm"));
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_t thread;
    pthread_create(&thread, NULL, hold_writer, &barrier);
    pthread_barrier_wait(&barrier);
    int calls = 0;
    realm_config_t *config = things_config("held.realm");
    /* Another class has to be added. */
    realm_property_info_t name = {.name = "name", .public_name = "", .type = RLM_PROPERTY_TYPE_STRING,
                                  .link_target = "", .link_origin_property_name = ""};
    realm_class_info_t added = {.name = "Added", .primary_key = "", .num_properties = 1};
    const realm_property_info_t *properties[] = {&name};
    realm_schema_t *schema = realm_schema_new(&added, 1, properties);
    realm_config_set_schema(config, schema);
    realm_release(schema);
    realm_config_set_gives_up_function(config, third_time, &calls, NULL);
    FAILS(RLM_ERR_CALLBACK, realm_open(config));
    CHECK(calls == 3);
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&barrier);
    realm_t *realm = realm_open(config);
    CHECK(realm && class_key(realm, "Added") != RLM_INVALID_CLASS_KEY && calls == 3);
    realm_release(realm);
    realm_release(config);
}

int main(void) {
    silent_commits();
    opening_gives_up();
    looking_back();
    asking_again();
    return check_end("notifications_writes");
}
