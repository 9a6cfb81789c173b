/* Callbacks of a realm as a whole: when they run, and when their userdata is freed. */
#include "people.h"

typedef struct witness {
    int freed, called, order;
    realm_t *realm;
    realm_callback_token_t *token;
} witness_t;
static int calls;

static void free_witness(void *userdata) { ((witness_t *)userdata)->freed++; }
static void saw(void *userdata) {
    witness_t *witness = userdata;
    witness->called++;
    witness->order = ++calls;
}
static void saw_and_refresh(void *userdata) {
    witness_t *witness = userdata;
    saw(userdata);
    bool did = true;
    SUCCEEDS(realm_refresh(witness->realm, &did));
    CHECK(!did);
}
static void saw_and_release(void *userdata) {
    witness_t *witness = userdata;
    saw(userdata);
    realm_release(witness->token);
}

static void commit_empty(realm_t *realm) {
    CHECK(realm_begin_write(realm));
    CHECK(realm_commit(realm));
}

static void changed(void) {
    realm_t *a = open_people("changed.realm"), *b = open_people("changed.realm");
    CHECK(realm_begin_read(a) && realm_begin_read(b));
    witness_t one = {0}, two = {0}, three = {0};
    realm_callback_token_t *first = realm_add_realm_changed_callback(a, saw, &one, free_witness);
    realm_callback_token_t *second = realm_add_realm_changed_callback(a, saw, &two, free_witness);
    CHECK(first && second);
    commit_empty(a);
    CHECK(one.called == 1 && two.called == 1 && one.order < two.order);
    CHECK(realm_begin_write(a));
    CHECK(realm_rollback(a));
    CHECK(one.called == 1);
    commit_empty(b);
    CHECK(one.called == 1);
    bool did = false;
    CHECK(realm_refresh(a, &did) && did && one.called == 2);
    CHECK(realm_refresh(a, &did) && !did && one.called == 2);
    commit_empty(b);
    CHECK(realm_begin_write(a));
    CHECK(one.called == 3); /* it moved to the version of b */
    CHECK(realm_commit(a));
    CHECK(one.called == 4);
    realm_release(first);
    CHECK(one.freed == 1);
    commit_empty(a);
    CHECK(one.called == 4 && two.called == 5);
    /* A callback cannot move the realm, and may unregister itself. */
    witness_t nested = {0};
    nested.realm = a;
    realm_callback_token_t *token =
        realm_add_realm_changed_callback(a, saw_and_refresh, &nested, free_witness);
    three.token = realm_add_realm_changed_callback(a, saw_and_release, &three, free_witness);
    commit_empty(b);
    CHECK(realm_refresh(a, &did) && did);
    CHECK(nested.called == 1 && three.called == 1 && three.freed == 1);
    commit_empty(a);
    CHECK(nested.called == 2 && three.called == 1);
    realm_release(token);
    CHECK(nested.freed == 1);

    FAILS(RLM_ERR_NOT_CLONABLE, realm_clone(second));
    CHECK(!realm_is_frozen(second) && realm_equals(second, second));
    witness_t refused = {0};
    FAILS(RLM_ERR_INVALID_ARGUMENT,
          realm_add_realm_changed_callback(NULL, saw, &refused, free_witness));
    CHECK(refused.freed == 1);
    FAILS(RLM_ERR_INVALID_ARGUMENT,
          realm_add_realm_changed_callback(a, NULL, &refused, free_witness));
    CHECK(refused.freed == 2);
    realm_t *frozen = realm_freeze(a);
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE,
          realm_add_realm_changed_callback(frozen, saw, &refused, free_witness));
    CHECK(refused.freed == 3);
    realm_release(frozen);

    /* Closing frees the userdata; the token may be released later. */
    CHECK(realm_close(a));
    CHECK(two.freed == 1);
    realm_release(second);
    CHECK(two.freed == 1);
    FAILS(RLM_ERR_CLOSED_REALM, realm_add_realm_changed_callback(a, saw, &refused, free_witness));
    CHECK(refused.freed == 4);
    realm_release(a);
    realm_release(b);
}

static void refreshed(void) {
    realm_t *a = open_people("refreshed.realm"), *b = open_people("refreshed.realm");
    witness_t early = {0}, once = {0}, always = {0}, dropped = {0};
    /* No read transaction, then the newest version: nothing to wait for. */
    NOTHING(realm_add_realm_refresh_callback(a, saw, &early, free_witness));
    CHECK(early.freed == 1);
    CHECK(realm_begin_read(a));
    NOTHING(realm_add_realm_refresh_callback(a, saw, &early, free_witness));
    CHECK(early.freed == 2);
    commit_empty(b);
    realm_callback_token_t *changes =
        realm_add_realm_changed_callback(a, saw, &always, free_witness);
    realm_refresh_callback_token_t *token =
        realm_add_realm_refresh_callback(a, saw, &once, free_witness);
    realm_refresh_callback_token_t *other =
        realm_add_realm_refresh_callback(a, saw, &dropped, free_witness);
    CHECK(token && other && !once.freed);
    realm_release(other);
    CHECK(dropped.freed == 1);
    bool did = false;
    CHECK(realm_refresh(a, &did) && did);
    CHECK(once.called == 1 && once.freed == 1 && once.order < always.order);
    CHECK(dropped.called == 0);
    commit_empty(b);
    CHECK(realm_refresh(a, &did) && did && once.called == 1 && always.called == 2);
    realm_release(token);
    CHECK(once.freed == 1);
    realm_t *frozen = realm_freeze(a);
    NOTHING(realm_add_realm_refresh_callback(frozen, saw, &early, free_witness));
    CHECK(early.freed == 3 && early.called == 0);
    realm_release(frozen);
    realm_release(changes);
    CHECK(always.freed == 1);
    realm_release(a);
    realm_release(b);
}

int main(void) {
    changed();
    refreshed();
    return check_end("callbacks");
}
