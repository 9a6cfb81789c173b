/* Savepoints: what changed since comes back as it was, for handles, links and collections. */
#include "things.h"

static realm_t *realm;

static uint64_t begin(void) {
    uint64_t savepoint = 0;
    SUCCEEDS(realm_savepoint_begin(realm, &savepoint));
    CHECK(savepoint > 0);
    return savepoint;
}

int main(void) {
    realm = open_things("savepoints.realm");
    uint64_t savepoint = 0;
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_savepoint_begin(realm, &savepoint));
    SUCCEEDS(realm_begin_write(realm));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_savepoint_begin(realm, NULL));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_savepoint_rollback(realm, 1));

    realm_object_t *one = make_thing(realm, "one"), *two = make_thing(realm, "two");
    realm_list_t *friends = list_of(realm, one, "friends"), *parts = list_of(realm, one, "parts");
    SUCCEEDS(realm_list_insert(friends, 0, link_to(two)));
    SUCCEEDS(realm_list_insert(friends, 1, link_to(one)));
    SUCCEEDS(realm_list_insert(friends, 2, link_to(two)));
    realm_object_t *part = realm_list_insert_embedded(parts, 0);
    CHECK(part != NULL);
    realm_dictionary_t *scores = dictionary_of(realm, two, "scores");
    SUCCEEDS(realm_dictionary_insert(scores, of_text("a"), of_int(1), NULL, NULL));

    savepoint = begin();
    for (int round = 0; round < 3; round++) {
        size_t count = count_of(realm, "Thing");
        SUCCEEDS(realm_object_delete(two));
        CHECK(!realm_object_is_valid(two) && !realm_dictionary_is_valid(scores));
        CHECK(size_of_list(friends) == 1);
        SUCCEEDS(realm_list_clear(parts));
        CHECK(!realm_object_is_valid(part));
        realm_object_t *new = make_thing(realm, "new");
        SUCCEEDS(realm_savepoint_rollback(realm, savepoint));
        CHECK(!realm_object_is_valid(new) && realm_object_is_valid(two));
        CHECK(realm_dictionary_is_valid(scores) && size_of_dictionary(scores) == 1);
        CHECK(realm_object_is_valid(part) && size_of_list(parts) == 1);
        CHECK(size_of_list(friends) == 3 && count_of(realm, "Thing") == count);
        realm_value_t value;
        SUCCEEDS(realm_list_get(friends, 2, &value));
        CHECK(value.type == RLM_TYPE_LINK && value.link.target == realm_object_get_key(two));
        realm_release(new);
    }
    uint64_t inner = begin();
    CHECK(inner > savepoint);
    SUCCEEDS(realm_savepoint_release(realm, savepoint));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_savepoint_rollback(realm, inner));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_savepoint_release(realm, savepoint));
    savepoint = begin();
    SUCCEEDS(realm_commit(realm));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_savepoint_release(realm, savepoint));
    size_t problems = 1;
    SUCCEEDS(realm_check(realm, NULL, NULL, &problems));
    CHECK(problems == 0);
    realm_release(scores);
    realm_release(part);
    realm_release(parts);
    realm_release(friends);
    realm_release(two);
    realm_release(one);
    realm_release(realm);
    return check_end("savepoints");
}
