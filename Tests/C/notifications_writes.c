/* What observers can do about writes: see what was before, and not hear of their own. */
#include "notices.h"

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
    CHECK(loop.pending == 0);
    loop.cannot_deliver = false;
    WRITE(other, realm_release(make_thing(other, "b")));
    CHECK(loop.pending == 0);
    SUCCEEDS(realm_ask_scheduler(realm));
    turn(&loop);
    TOLD(notice, "i0-2");
    WRITE(other, realm_release(make_thing(other, "c")));
    CHECK(loop.pending == 1);
    turn(&loop);
    TOLD(notice, "i2");
    loop.cannot_deliver = true;
    SUCCEEDS(realm_ask_scheduler(realm));
    WRITE(other, realm_release(make_thing(other, "d")));
    CHECK(loop.pending == 0);
    realm_release(notice.token);
    realm_release(all);
    realm_close(realm);
    FAILS(RLM_ERR_CLOSED_REALM, realm_ask_scheduler(realm));
    realm_release(realm);
    realm_release(other);
}

int main(void) {
    looking_back();
    asking_again();
    return check_end("notifications_writes");
}
