/* Transactions, versions, refreshing and freezing, with several realms and threads. */
/* Barriers. */
#define _POSIX_C_SOURCE 200809L

#include "people.h"

#include <pthread.h>

static uint64_t version_of(realm_t *realm) {
    bool found = false;
    realm_version_id_t version = {0, 0};
    CHECK(realm_get_version_id(realm, &found, &version));
    return found ? version.version : 0;
}
static size_t people_in(realm_t *realm, const keys_t *k) {
    size_t count = SIZE_MAX;
    CHECK(realm_get_num_objects(realm, k->person, &count));
    return count;
}

static void states(void) {
    realm_t *realm = open_people("states.realm");
    keys_t k = keys_of(realm);
    SUCCEEDS(realm_begin_read(realm));
    SUCCEEDS(realm_begin_read(realm));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_commit(realm));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_rollback(realm));
    CHECK(!realm_is_writable(realm));
    uint64_t before = version_of(realm);
    SUCCEEDS(realm_begin_write(realm));
    CHECK(realm_is_writable(realm) && version_of(realm) == before);
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_begin_write(realm));
    bool did = true;
    SUCCEEDS(realm_refresh(realm, &did));
    CHECK(!did);
    realm_release(make_person(realm, &k, 1));
    SUCCEEDS(realm_commit(realm));
    CHECK(version_of(realm) == before + 1 && people_in(realm, &k) == 1);
    /* Every commit makes a version, also an empty one. */
    SUCCEEDS(realm_begin_write(realm));
    SUCCEEDS(realm_commit(realm));
    CHECK(version_of(realm) == before + 2);
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *gone = make_person(realm, &k, 2);
    SUCCEEDS(realm_rollback(realm));
    CHECK(version_of(realm) == before + 2 && people_in(realm, &k) == 1);
    CHECK(!realm_object_is_valid(gone));
    realm_release(gone);
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_begin_write(NULL));
    realm_release(realm);
}

static void several_realms(void) {
    realm_t *a = open_people("several.realm"), *b = open_people("several.realm");
    keys_t k = keys_of(a);
    CHECK(people_in(b, &k) == 0);
    SUCCEEDS(realm_begin_write(a));
    realm_release(make_person(a, &k, 1));
    CHECK(people_in(a, &k) == 1 && people_in(b, &k) == 0);
    SUCCEEDS(realm_commit(a));
    CHECK(people_in(b, &k) == 0);
    uint64_t versions = 0;
    SUCCEEDS(realm_get_num_versions(a, &versions));
    CHECK(versions == 2);
    bool did = false;
    SUCCEEDS(realm_refresh(b, &did));
    CHECK(did && people_in(b, &k) == 1);
    SUCCEEDS(realm_refresh(b, &did));
    CHECK(!did);
    SUCCEEDS(realm_refresh(b, NULL));
    SUCCEEDS(realm_get_num_versions(a, &versions));
    CHECK(versions == 1);
    /* Beginning to write moves to the newest version. */
    SUCCEEDS(realm_begin_write(a));
    realm_release(make_person(a, &k, 2));
    SUCCEEDS(realm_commit(a));
    SUCCEEDS(realm_begin_write(b));
    CHECK(people_in(b, &k) == 2);
    SUCCEEDS(realm_rollback(b));
    realm_release(a);
    realm_release(b);
}

static void limits(void) {
    realm_config_t *config = people_config("limits.realm");
    realm_config_set_max_number_of_active_versions(config, 3);
    realm_t *writer = realm_open(config);
    realm_t *readers[4];
    CHECK(writer != NULL);
    int held = 0;
    bool refused = false;
    for (int i = 0; i < 4 && !refused; i++) {
        readers[held] = realm_open(config);
        SUCCEEDS(realm_begin_read(readers[held++]));
        realm_clear_last_error();
        if (realm_begin_write(writer)) {
            SUCCEEDS(realm_commit(writer));
        } else {
            realm_error_t error;
            CHECK(realm_get_last_error(&error) && error.error == RLM_ERR_WRONG_TRANSACTION_STATE);
            refused = true;
        }
    }
    CHECK(refused && held >= 3);
    for (int i = 0; i < held; i++)
        realm_release(readers[i]);
    SUCCEEDS(realm_begin_write(writer));
    SUCCEEDS(realm_rollback(writer));
    realm_release(writer);
    realm_release(config);
}

static void *use_on_other_thread(void *argument) {
    realm_t *realm = argument;
    bool did;
    FAILS(RLM_ERR_WRONG_THREAD, realm_begin_write(realm));
    FAILS(RLM_ERR_WRONG_THREAD, realm_commit(realm));
    FAILS(RLM_ERR_WRONG_THREAD, realm_rollback(realm));
    FAILS(RLM_ERR_WRONG_THREAD, realm_refresh(realm, &did));
    FAILS(RLM_ERR_WRONG_THREAD, realm_freeze(realm));
    CHECK(!realm_is_closed(realm) && !realm_is_frozen(realm));
    return NULL;
}

static void *release_elsewhere(void *argument) {
    realm_release(argument);
    return NULL;
}

static void threads(void) {
    realm_t *realm = open_people("threads.realm");
    SUCCEEDS(realm_begin_read(realm));
    pthread_t thread;
    pthread_create(&thread, NULL, use_on_other_thread, realm);
    pthread_join(thread, NULL);
    pthread_create(&thread, NULL, release_elsewhere, realm);
    pthread_join(thread, NULL);
}

static void *read_frozen(void *argument) {
    realm_t *frozen = argument;
    keys_t k = keys_of(frozen);
    for (int i = 0; i < 200; i++) {
        bool found = false;
        realm_value_t age;
        realm_object_t *person =
            realm_object_find_with_primary_key(frozen, k.person, of_int(i % 10), &found);
        if (!person || !found || !realm_get_value(person, k.age, &age) || age.integer != i % 10)
            return "wrong";
        realm_release(person);
    }
    return NULL;
}

static void frozen_realms(void) {
    realm_t *realm = open_people("frozen.realm");
    keys_t k = keys_of(realm);
    SUCCEEDS(realm_begin_write(realm));
    for (int i = 0; i < 10; i++)
        realm_release(make_person(realm, &k, i));
    SUCCEEDS(realm_commit(realm));
    realm_t *frozen = realm_freeze(realm);
    CHECK(frozen && realm_is_frozen(frozen) && !realm_is_frozen(realm));
    CHECK(!realm_equals(frozen, realm) && version_of(frozen) == version_of(realm));
    SUCCEEDS(realm_begin_write(realm));
    realm_release(make_person(realm, &k, 10));
    realm_t *before = realm_freeze(realm);
    CHECK(before && people_in(before, &k) == 10); /* the state before the transaction */
    SUCCEEDS(realm_commit(realm));
    CHECK(people_in(realm, &k) == 11 && people_in(frozen, &k) == 10);
    bool did = true;
    SUCCEEDS(realm_refresh(frozen, &did));
    CHECK(!did && people_in(frozen, &k) == 10);
    SUCCEEDS(realm_begin_read(frozen));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_begin_write(frozen));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_commit(frozen));
    realm_t *again = realm_freeze(frozen);
    CHECK(again && realm_is_frozen(again) && people_in(again, &k) == 10);

    realm_object_t *person =
        realm_object_find_with_primary_key(frozen, k.person, of_int(3), NULL);
    CHECK(person && realm_is_frozen(person));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_set_value(person, k.age, of_int(4), false));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_object_delete(person));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_object_create(frozen, k.note));

    pthread_t all[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&all[i], NULL, read_frozen, frozen);
    for (int i = 0; i < 4; i++) {
        void *wrong;
        pthread_join(all[i], &wrong);
        CHECK(!wrong);
    }
    realm_release(realm); /* the frozen ones stay */
    CHECK(people_in(frozen, &k) == 10);
    realm_close(frozen);
    CHECK(realm_is_closed(frozen) && realm_is_frozen(frozen));
    CHECK(!realm_object_is_valid(person));
    realm_release(person);
    realm_release(again);
    realm_release(before);
    realm_release(frozen);
}

static void *write_many(void *argument) {
    realm_t *realm = open_people("writers.realm");
    keys_t k = keys_of(realm);
    for (int i = 0; i < 25; i++) {
        CHECK(realm_begin_write(realm));
        realm_release(make_person(realm, &k, (int64_t)(size_t)argument * 1000 + i));
        CHECK(realm_commit(realm));
    }
    realm_release(realm);
    return NULL;
}

static void many_writers(void) {
    realm_t *realm = open_people("writers.realm");
    keys_t k = keys_of(realm);
    pthread_t all[4];
    for (size_t i = 0; i < 4; i++)
        pthread_create(&all[i], NULL, write_many, (void *)i);
    for (int i = 0; i < 4; i++)
        pthread_join(all[i], NULL);
    SUCCEEDS(realm_refresh(realm, NULL));
    CHECK(people_in(realm, &k) == 100);
    realm_release(realm);
}

/* Gives up when asked the third time. */
static bool third_time(void *userdata) { return ++((counter_t *)userdata)->called == 3; }

static void *hold_writer(void *userdata) {
    realm_t *realm = open_people("waits.realm");
    SUCCEEDS(realm_begin_write(realm));
    pthread_barrier_wait(userdata);
    pthread_barrier_wait(userdata);
    SUCCEEDS(realm_rollback(realm));
    realm_release(realm);
    return NULL;
}

/* A wait for another thread's transaction can be given up; the next one succeeds. */
static void waits(void) {
    realm_t *realm = open_people("waits.realm");
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_t thread;
    pthread_create(&thread, NULL, hold_writer, &barrier);
    pthread_barrier_wait(&barrier);
    counter_t counter = {0, 0};
    FAILS(RLM_ERR_CALLBACK, realm_begin_write_unless(realm, third_time, &counter));
    CHECK(counter.called == 3 && !realm_is_writable(realm));
    pthread_barrier_wait(&barrier);
    SUCCEEDS(realm_begin_write_unless(realm, third_time, &counter));
    CHECK(realm_is_writable(realm));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_begin_write_unless(realm, NULL, NULL));
    SUCCEEDS(realm_commit(realm));
    SUCCEEDS(realm_begin_write_unless(realm, NULL, NULL));
    SUCCEEDS(realm_rollback(realm));
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&barrier);
    realm_release(realm);
}

static void read_only_realms(void) {
    realm_release(open_people("read-only.realm"));
    bool did;
    uint64_t versions = 0;
    realm_config_t *config = people_config("read-only.realm");
    realm_config_set_schema_mode(config, RLM_SCHEMA_MODE_READ_ONLY);
    realm_t *realm = realm_open(config);
    CHECK(realm != NULL);
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_begin_write(realm));
    SUCCEEDS(realm_refresh(realm, &did));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_compact(realm, &did));
    realm_release(realm);
    realm_config_set_schema_mode(config, RLM_SCHEMA_MODE_IMMUTABLE);
    realm = realm_open(config);
    CHECK(realm != NULL);
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_begin_write(realm));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_refresh(realm, &did));
    SUCCEEDS(realm_get_num_versions(realm, &versions));
    CHECK(versions == 1);
    realm_t *frozen = realm_freeze(realm);
    CHECK(frozen != NULL);
    realm_release(frozen);
    realm_release(realm);
    realm_config_set_schema_version(config, 2);
    FAILS(RLM_ERR_INVALID_SCHEMA_VERSION, realm_open(config));
    realm_release(config);
}

int main(void) {
    states();
    several_realms();
    limits();
    threads();
    frozen_realms();
    many_writers();
    waits();
    read_only_realms();
    return check_end("transactions");
}
