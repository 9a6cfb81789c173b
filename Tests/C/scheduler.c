/* Schedulers: ownership of their userdata, comparison, work queues that are none. */
#define _GNU_SOURCE
#include "notices.h"

#include <pthread.h>

static void notify(void *userdata, realm_work_queue_t *queue) {
    (void)queue;
    ((counter_t *)userdata)->called++;
}
static bool on_thread(void *userdata) {
    (void)userdata;
    return true;
}
static bool consent(const realm_userdata_t a, const realm_userdata_t b) {
    (void)a, (void)b;
    return true;
}

static bool delivers(void *userdata) {
    (void)userdata;
    return true;
}
static void nothing_to_do(void *userdata) { (void)userdata; }

/* What callbacks that are absent mean. */
static void absent(void) {
    realm_scheduler_t *nothing = realm_scheduler_new(NULL, NULL, NULL, NULL, NULL, NULL);
    CHECK(nothing != NULL);
    realm_config_t *config = things_config("absent.realm");
    realm_config_set_scheduler(config, nothing);
    FAILS(RLM_ERR_WRONG_THREAD, realm_open(config));
    LEAVES(RLM_ERR_INVALID_ARGUMENT, realm_scheduler_perform_work((realm_work_queue_t *)nothing));
    realm_release(nothing);

    /* Without notify, or the answer that it leads to anything, there are no asynchronous writes. */
    counter_t userdata = {0, 0};
    realm_scheduler_t *deaf[] = {
        realm_scheduler_new(&userdata, NULL, NULL, on_thread, NULL, delivers),
        realm_scheduler_new(&userdata, NULL, notify, on_thread, NULL, NULL),
    };
    for (size_t i = 0; i < 2; i++) {
        realm_config_set_scheduler(config, deaf[i]);
        realm_t *realm = realm_open(config);
        CHECK(realm != NULL);
        FAILS(RLM_ERR_WRONG_TRANSACTION_STATE,
              realm_async_begin_write(realm, nothing_to_do, NULL, NULL, false, NULL));
        SUCCEEDS(realm_begin_write(realm));
        realm_release(make_thing(realm, "unheard"));
        SUCCEEDS(realm_commit(realm));
        realm_release(realm);
        realm_release(deaf[i]);
        if (i == 0)
            CHECK(userdata.called == 0);
    }
    realm_release(config);
}

/* A scheduler that says nothing of whether it delivers is told from another thread, when the call is over. */
typedef struct told {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    realm_work_queue_t *queue;
    pthread_t thread;
    int count, freed;
} told_t;

static void told_notify(void *userdata, realm_work_queue_t *queue) {
    told_t *told = userdata;
    pthread_mutex_lock(&told->mutex);
    told->queue = queue;
    told->thread = pthread_self();
    told->count++;
    pthread_cond_signal(&told->cond);
    pthread_mutex_unlock(&told->mutex);
}
static void told_freed(void *userdata) { ((told_t *)userdata)->freed++; }

static int told_count(told_t *told) {
    pthread_mutex_lock(&told->mutex);
    int count = told->count;
    pthread_mutex_unlock(&told->mutex);
    return count;
}

/* Waits until notify has been called more often than so, on another thread. */
static bool told_again(told_t *told, int before) {
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 20;
    int error = 0;
    pthread_mutex_lock(&told->mutex);
    while (told->count <= before && !error)
        error = pthread_cond_timedwait(&told->cond, &told->mutex, &end);
    bool came = told->count > before && !pthread_equal(told->thread, pthread_self());
    pthread_mutex_unlock(&told->mutex);
    return came;
}

static void count_changes(void *called, const realm_collection_changes_t *changes) {
    (void)changes;
    ++*(int *)called;
}

static void uncertain(void) {
    told_t told = {.mutex = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};
    realm_scheduler_t *scheduler = realm_scheduler_new(&told, told_freed, told_notify, on_thread, NULL, NULL);
    realm_config_t *config = things_config("uncertain.realm");
    realm_config_set_scheduler(config, scheduler);
    realm_release(scheduler);
    realm_t *realm = open_or_exit(config);
    realm_results_t *things = realm_object_find_all(realm, class_key(realm, "Thing"));
    int called = 0;
    realm_notification_token_t *token =
        realm_results_add_notification_callback(things, &called, NULL, NULL, count_changes);
    /* Also while nobody runs the work, each commit is told of. */
    for (int i = 0; i < 3; i++) {
        int before = told_count(&told);
        SUCCEEDS(realm_begin_write(realm));
        realm_release(make_thing(realm, "told"));
        SUCCEEDS(realm_commit(realm));
        CHECK(told_again(&told, before));
    }
    int before = called;
    SUCCEEDS((realm_scheduler_perform_work(told.queue), true));
    CHECK(called == before + 1);
    /* Of a commit nobody is told any more when the realm is gone, and userdata may be. */
    SUCCEEDS(realm_begin_write(realm));
    realm_release(make_thing(realm, "untold"));
    SUCCEEDS(realm_commit(realm));
    realm_release(token);
    realm_release(things);
    realm_release(realm);
    int count = told_count(&told);
    (void)poll(NULL, 0, 30);
    CHECK(told_count(&told) == count);
    for (int i = 0; i < 1000 && !__atomic_load_n(&told.freed, __ATOMIC_SEQ_CST); i++)
        (void)poll(NULL, 0, 1);
    CHECK(told.freed == 1);
}

/* Queues have one handle, which ends with the scheduler, whoever asked for it. */
static void queues(void) {
    counter_t a = {0, 0};
    realm_scheduler_t *own = realm_scheduler_new(&a, count_freed, notify, on_thread, NULL, NULL);
    realm_scheduler_t *clone = realm_clone(own);
    realm_work_queue_t *queue = realm_scheduler_get_work_queue(own);
    CHECK(queue && realm_scheduler_get_work_queue(clone) == queue);
    realm_release(own);
    SUCCEEDS((realm_scheduler_perform_work(queue), true));
    realm_release(clone);
    CHECK(a.freed == 1);
    LEAVES(RLM_ERR_INVALID_ARGUMENT, realm_scheduler_perform_work(queue));

    /* That of a thread is kept by the thread. */
    realm_scheduler_t *plain = realm_scheduler_make_default();
    queue = realm_scheduler_get_work_queue(plain);
    realm_release(plain);
    SUCCEEDS((realm_scheduler_perform_work(queue), true));
    plain = realm_scheduler_make_default();
    CHECK(queue && realm_scheduler_get_work_queue(plain) == queue);
    realm_release(plain);
}

int main(void) {
    absent();
    queues();
    uncertain();
    counter_t a = {0, 0}, b = {0, 0};
    realm_scheduler_t *first = realm_scheduler_new(&a, count_freed, notify, on_thread, NULL, NULL);
    realm_scheduler_t *clone = realm_clone(first);
    CHECK(first && clone && first != clone && realm_equals(first, clone));
    realm_config_t *config = realm_config_new();
    realm_config_set_scheduler(config, first);
    realm_release(first);
    realm_release(clone);
    CHECK(a.freed == 0);
    realm_release(config);
    CHECK(a.freed == 1);

    /* Same functions: the userdata or the application decides. */
    realm_scheduler_t *s1 = realm_scheduler_new(&a, NULL, notify, on_thread, NULL, NULL);
    realm_scheduler_t *s2 = realm_scheduler_new(&a, NULL, notify, on_thread, NULL, NULL);
    realm_scheduler_t *s3 = realm_scheduler_new(&b, NULL, notify, on_thread, NULL, NULL);
    realm_scheduler_t *s4 = realm_scheduler_new(&a, NULL, notify, on_thread, consent, NULL);
    realm_scheduler_t *s5 = realm_scheduler_new(&b, NULL, notify, on_thread, consent, NULL);
    CHECK(realm_equals(s1, s2) && !realm_equals(s1, s3) && !realm_equals(s1, s4));
    CHECK(realm_equals(s4, s5));
    realm_scheduler_t *d1 = realm_scheduler_make_default();
    realm_scheduler_t *d2 = realm_scheduler_make_default();
    CHECK(d1 && d2 && realm_equals(d1, d2) && !realm_equals(d1, s1));
    realm_scheduler_t *all[] = {s1, s2, s3, s4, s5, d1, d2};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        realm_release(all[i]);

    NOTHING(realm_scheduler_get_frozen());
    LEAVES(RLM_ERR_INVALID_ARGUMENT, realm_scheduler_perform_work(NULL));
    return check_end("scheduler");
}
