/* Opening on a thread of its own, and how much of a schema change is done. */
#define _POSIX_C_SOURCE 200809L
#include "schemas.h"

#include <pthread.h>
#include <semaphore.h>
#include <time.h>

static const char *path = "async.realm";

typedef struct told {
    sem_t done;
    realm_thread_safe_reference_t *reference;
    int error, completions, freed, reports, stops_at;
    double last;
    bool ascends;
    pthread_t thread;
} told_t;

static void complete(void *userdata, realm_thread_safe_reference_t *realm,
                     const realm_async_error_t *error) {
    told_t *told = userdata;
    told->completions++;
    told->reference = realm;
    realm_error_t found = {0};
    if (error && realm_get_async_error(error, &found))
        told->error = (int)found.error;
    told->thread = pthread_self();
    sem_post(&told->done);
}
static void freed(void *userdata) { ((told_t *)userdata)->freed++; }
static bool progress(void *userdata, double part) {
    told_t *told = userdata;
    told->ascends = told->ascends && part >= told->last && part <= 1;
    told->last = part;
    return told->reports++ != told->stops_at;
}
static bool migrate(void *userdata, realm_t *old, realm_t *new, const realm_schema_t *schema) {
    (void)old, (void)schema;
    told_t *told = userdata;
    told->thread = pthread_self();
    CHECK(count(new, "A", "n >= 0") == 3000);
    return true;
}

static void fill(void) {
    bool deleted;
    SUCCEEDS(realm_delete_files(path, &deleted));
    realm_t *realm = OPEN(path, "A{n:int,s:string}");
    SUCCEEDS(realm_begin_write(realm));
    realm_class_key_t a = class_in(realm, "A");
    realm_property_key_t n = key_in(realm, "A", "n"), s = key_in(realm, "A", "s");
    for (int i = 0; i < 3000; i++) {
        realm_object_t *object = realm_object_create(realm, a);
        CHECK(realm_set_value(object, n, of_int(i), false));
        CHECK(realm_set_value(object, s, of_text("some text"), false));
        realm_release(object);
    }
    SUCCEEDS(realm_commit(realm));
    shut(realm);
}

static realm_config_t *config_of(const char *spec, uint64_t version, told_t *told) {
    realm_config_t *config = realm_config_new();
    realm_config_set_path(config, path);
    realm_schema_t *schema = schema_of(spec);
    realm_config_set_schema(config, schema);
    realm_release(schema);
    realm_config_set_schema_version(config, version);
    realm_config_set_migration_function(config, migrate, told, NULL);
    realm_config_set_schema_progress_function(config, progress, told, NULL);
    return config;
}
static told_t fresh(void) {
    told_t told = {.stops_at = -1, .ascends = true};
    sem_init(&told.done, 0, 0);
    return told;
}

static void reports(void) {
    fill();
    told_t told = fresh();
    realm_config_t *config = config_of("A{n:int*,s:string*}", 2, &told);
    realm_t *realm = realm_open(config);
    CHECK(realm && told.ascends && told.last == 1 && told.reports > 5);
    shut(realm);
    realm_release(config);
    /* Given up: nothing has changed. */
    for (int stop = 0; stop < 4; stop++) {
        fill();
        told = fresh();
        told.stops_at = stop;
        config = config_of("A{n:int*,s:string*}", 2, &told);
        FAILS(RLM_ERR_CALLBACK, realm_open(config));
        realm_release(config);
        SOUND(path);
        realm = OPEN(path, "A{n:int,s:string}");
        CHECK(realm && count(realm, "A", "s == 'some text'") == 3000);
        shut(realm);
    }
}

static void opening(void) {
    fill();
    told_t told = fresh();
    realm_config_t *config = config_of("A{n:int*,s:string,more:int}", 2, &told);
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_open_async(config, NULL, &told, freed));
    CHECK(told.freed == 1);
    realm_callback_token_t *token = realm_open_async(config, complete, &told, freed);
    CHECK(token != NULL);
    realm_release(config);
    sem_wait(&told.done);
    CHECK(told.completions == 1 && !told.error && told.reference);
    CHECK(!pthread_equal(told.thread, pthread_self()));
    realm_t *realm = realm_from_thread_safe_reference(told.reference, NULL);
    realm_release(told.reference);
    CHECK(realm && count(realm, "A", "more == 0") == 3000);
    CHECK(realm_get_schema_version(realm) == 2);
    SUCCEEDS(realm_open_async_cancel(token));
    realm_release(token);
    realm_callback_token_t *other = realm_add_realm_changed_callback(realm, freed, &told, NULL);
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_open_async_cancel(other));
    realm_release(other);
    shut(realm);
    SOUND(path);
    /* Errors come to the completion. */
    told = fresh();
    config = config_of("A{n:string,s:string}", 2, &told);
    token = realm_open_async(config, complete, &told, freed);
    realm_release(config);
    realm_release(token);
    sem_wait(&told.done);
    CHECK(told.error == RLM_ERR_SCHEMA_MISMATCH && !told.reference && told.completions == 1);
}

static void *cancel_later(void *token) {
    realm_open_async_cancel(token);
    return NULL;
}
static void cancelling(void) {
    /* At some moment: it is either undone or done. */
    for (int round = 0; round < 20; round++) {
        fill();
        told_t told = fresh();
        realm_config_t *config = config_of("A{n:int*,s:string*}", 2, &told);
        realm_callback_token_t *token = realm_open_async(config, complete, &told, NULL);
        realm_release(config);
        for (int wait = 0; wait < round * 100; wait++)
            (void)realm_get_library_version();
        pthread_t thread;
        pthread_create(&thread, NULL, cancel_later, token);
        sem_wait(&told.done);
        pthread_join(thread, NULL);
        CHECK(told.reference ? !told.error : told.error == RLM_ERR_CALLBACK);
        if (told.reference) {
            shut(realm_from_thread_safe_reference(told.reference, NULL));
            realm_release(told.reference);
        }
        realm_release(token);
        SOUND(path);
        realm_t *realm = OPEN(path, NULL);
        CHECK(realm_get_schema_version(realm) == (told.reference ? 2u : 1u));
        CHECK(count(realm, "A", "s == 'some text' AND n >= 0") == 3000);
        shut(realm);
    }
}

/* While somebody else writes. */
static void cancelling_a_wait(void) {
    fill();
    realm_t *writer = OPEN(path, NULL);
    SUCCEEDS(realm_begin_write(writer));
    told_t told = fresh();
    realm_config_t *config = config_of("A{n:int*,s:string*}", 2, &told);
    realm_callback_token_t *token = realm_open_async(config, complete, &told, NULL);
    realm_release(config);
    struct timespec moment = {0, 20000000};
    nanosleep(&moment, NULL);
    CHECK(told.completions == 0);
    SUCCEEDS(realm_open_async_cancel(token));
    sem_wait(&told.done);
    CHECK(told.error == RLM_ERR_CALLBACK && told.reports == 0 && !told.reference);
    realm_release(token);
    SUCCEEDS(realm_rollback(writer));
    CHECK(realm_get_schema_version(writer) == 1);
    shut(writer);
    SOUND(path);
}

int main(void) {
    reports();
    opening();
    cancelling();
    cancelling_a_wait();
    return check_end("asynchronous opening");
}
