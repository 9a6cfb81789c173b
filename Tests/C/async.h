/* What programs with asynchronous transactions share: a thread's loop, which a scheduler of its own has
 * turn, and blocks that count objects. */
#ifndef ASYNC_H
#define ASYNC_H

#define _GNU_SOURCE
#include "loops.h"
#include "people.h"

#include <pthread.h>
#include <time.h>

/* A thread's loop: notify() counts, turn() performs. */
typedef struct loop {
    int schedulers;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    pthread_t thread;
    realm_work_queue_t *queue;
    int waiting;
    bool delivers;
} loop_t;

static void loop_init(loop_t *loop) {
    memset(loop, 0, sizeof *loop);
    pthread_mutex_init(&loop->mutex, NULL);
    pthread_cond_init(&loop->cond, NULL);
    loop->thread = pthread_self();
    loop->delivers = true;
}
static void loop_notify(void *userdata, realm_work_queue_t *queue) {
    loop_t *loop = userdata;
    pthread_mutex_lock(&loop->mutex);
    loop->queue = queue;
    loop->waiting++;
    pthread_cond_signal(&loop->cond);
    pthread_mutex_unlock(&loop->mutex);
}
static bool loop_on_thread(void *userdata) {
    return pthread_equal(((loop_t *)userdata)->thread, pthread_self());
}
static bool loop_delivers(void *userdata) { return ((loop_t *)userdata)->delivers; }
static realm_scheduler_t *loop_scheduler(loop_t *loop) {
    loop_add_scheduler(loop);
    return realm_scheduler_new(loop, loop_free, loop_notify, loop_on_thread, NULL, loop_delivers);
}
/* Performs what comes within the time; false when nothing did. */
static bool loop_turn(loop_t *loop, int milliseconds) {
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += milliseconds / 1000;
    end.tv_nsec += milliseconds % 1000 * 1000000L;
    if (end.tv_nsec >= 1000000000L) {
        end.tv_nsec -= 1000000000L;
        end.tv_sec++;
    }
    pthread_mutex_lock(&loop->mutex);
    int missed = 0;
    while (!loop->waiting && !missed)
        missed = pthread_cond_timedwait(&loop->cond, &loop->mutex, &end);
    bool has = loop->waiting > 0;
    loop->waiting = 0;
    realm_work_queue_t *queue = loop->queue;
    pthread_mutex_unlock(&loop->mutex);
    if (has)
        realm_scheduler_perform_work(queue);
    return has;
}
/* Until the counter says so, ten seconds at most. */
static inline bool loop_until(loop_t *loop, const int *counter, int wanted) {
    for (int i = 0; i < 1000 && *counter < wanted; i++)
        loop_turn(loop, 10);
    return *counter >= wanted;
}

static realm_t *open_counters(const char *path, loop_t *loop) {
    realm_property_info_t property = property_of("value", RLM_PROPERTY_TYPE_INT, 0);
    const realm_property_info_t *properties[] = {&property};
    realm_class_info_t item = class_of("Counter", "", 1, 0);
    realm_config_t *config = config_with(path, realm_schema_new(&item, 1, properties));
    if (loop) {
        realm_scheduler_t *scheduler = loop_scheduler(loop);
        realm_config_set_scheduler(config, scheduler);
        realm_release(scheduler);
    }
    return open_or_exit(config);
}
static realm_class_key_t counters(realm_t *realm) {
    bool found;
    realm_class_info_t info;
    CHECK(realm_find_class(realm, "Counter", &found, &info) && found);
    return info.key;
}
static void add(realm_t *realm, int64_t value) {
    realm_property_info_t property;
    bool found;
    realm_class_key_t key = counters(realm);
    CHECK(realm_find_property(realm, key, "value", &found, &property) && found);
    realm_object_t *object = realm_object_create(realm, key);
    realm_value_t v = {.type = RLM_TYPE_INT, .integer = value};
    CHECK(object && realm_set_value(object, property.key, v, false));
    realm_release(object);
}
static size_t count(realm_t *realm) {
    size_t n = 0;
    CHECK(realm_get_num_objects(realm, counters(realm), &n));
    return n;
}

/* What a block or a completion is to do, and what was seen of it. */
typedef struct step {
    realm_t *realm;
    int called, freed, order;
    bool error, hasText;
    void (*body)(struct step *);
    struct step *then;
    size_t seen;
    bool nested;
} step_t;
static int ran;

static inline void run_block(void *userdata) {
    step_t *step = userdata;
    step->called++;
    step->order = ++ran;
    CHECK(realm_is_writable(step->realm));
    CHECK(!step->freed);
    if (step->body)
        step->body(step);
}
static void completed(void *userdata, bool error, const char *text) {
    step_t *step = userdata;
    step->called++;
    step->order = ++ran;
    step->error = error;
    step->hasText = text != NULL;
    step->seen = count(step->realm);
    CHECK(!step->freed);
    if (step->body)
        step->body(step);
}
static void step_freed(void *userdata) { ((step_t *)userdata)->freed++; }

static inline void add_and_commit(step_t *step) {
    add(step->realm, 1);
    SUCCEEDS(realm_commit(step->realm));
}
static inline void add_and_commit_later(step_t *step) {
    add(step->realm, 1);
    SUCCEEDS(realm_async_commit(step->realm, completed, step->then, step_freed, true, NULL));
}

#endif
