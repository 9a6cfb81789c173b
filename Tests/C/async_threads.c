/* Asynchronous transactions of several threads: they share syncs, and take turns with the writer. */
#include "async.h"

enum { THREADS = 8, EACH = 100 };
static const char *shared_path;

/* Every second one writes in turn, the others have blocks run. */
static void *work(void *argument) {
    intptr_t number = (intptr_t)argument;
    loop_t loop;
    loop_init(&loop);
    realm_t *realm = open_counters(shared_path, &loop);
    intptr_t wrong = 0;
    if (number % 2 == 0) {
        for (int i = 0; i < EACH; i++) {
            bool did = realm_begin_write(realm);
            if (did) {
                add(realm, i);
                did = realm_commit(realm);
            }
            wrong += !did;
        }
    } else {
        step_t steps[EACH], ends[EACH];
        for (int i = 0; i < EACH; i++) {
            ends[i] = (step_t){.realm = realm};
            steps[i] = (step_t){.realm = realm, .body = add_and_commit_later, .then = &ends[i]};
            wrong += !realm_async_begin_write(realm, run_block, &steps[i], step_freed, false, NULL);
        }
        for (int i = 0; i < EACH; i++)
            wrong += !loop_until(&loop, &ends[i].called, 1) || ends[i].error;
    }
    realm_close(realm);
    realm_release(realm);
    wrong += !loop_ended(&loop);
    return (void *)wrong;
}

static void threads(const char *path) {
    shared_path = path;
    realm_t *realm = open_counters(path, NULL);
    size_t before = count(realm);
    pthread_t all[THREADS];
    for (intptr_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&all[i], NULL, work, (void *)i) == 0);
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        pthread_join(all[i], &wrong);
        CHECK(wrong == NULL);
    }
    SUCCEEDS(realm_refresh(realm, NULL));
    CHECK(count(realm) == before + THREADS * EACH);
    realm_close(realm);
    realm_release(realm);
    CHECK(realm_check_file(path, NULL, NULL, NULL));
}

/* While one realm has many blocks run, another thread hears of what they commit, and gets its turn. */
enum { LONG_QUEUE = 4000 };
typedef struct turn {
    size_t first, counted;
    int ready;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
} turn_t;

static void note_first(void *userdata, const realm_collection_changes_t *changes) {
    size_t inserted = 0;
    realm_collection_changes_get_num_changes(changes, NULL, &inserted, NULL, NULL, NULL, NULL);
    turn_t *turn = userdata;
    if (!turn->first)
        turn->first = inserted;
}
static void *take_turn(void *argument) {
    turn_t *turn = argument;
    loop_t loop;
    loop_init(&loop);
    realm_t *realm = open_counters(shared_path, &loop);
    realm_results_t *all = realm_object_find_all(realm, counters(realm));
    realm_notification_token_t *token =
        realm_results_add_notification_callback(all, turn, NULL, NULL, note_first);
    while (loop_turn(&loop, 50))
        ;
    pthread_mutex_lock(&turn->mutex);
    turn->ready = 1;
    pthread_cond_signal(&turn->cond);
    pthread_mutex_unlock(&turn->mutex);
    for (int i = 0; i < 1000 && !turn->first; i++)
        loop_turn(&loop, 10);
    bool did = realm_begin_write(realm);
    if (did) {
        turn->counted = count(realm);
        did = realm_rollback(realm);
    }
    realm_release(token);
    realm_release(all);
    realm_close(realm);
    realm_release(realm);
    did &= loop_ended(&loop);
    return did ? NULL : argument;
}

/* Takes a while, so that all of them take as long as a few turns whatever the machine. */
static void add_slowly(step_t *step) {
    nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    add_and_commit_later(step);
}

static void turns(const char *path) {
    shared_path = path;
    loop_t loop;
    loop_init(&loop);
    realm_t *realm = open_counters(path, &loop);
    size_t before = count(realm);
    turn_t turn = {.mutex = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, take_turn, &turn) == 0);
    pthread_mutex_lock(&turn.mutex);
    while (!turn.ready)
        pthread_cond_wait(&turn.cond, &turn.mutex);
    pthread_mutex_unlock(&turn.mutex);
    static step_t steps[LONG_QUEUE], ends[LONG_QUEUE];
    for (int i = 0; i < LONG_QUEUE; i++) {
        ends[i] = (step_t){.realm = realm};
        steps[i] = (step_t){.realm = realm, .body = add_slowly, .then = &ends[i]};
        SUCCEEDS(realm_async_begin_write(realm, run_block, &steps[i], step_freed, false, NULL));
    }
    /* Some in the middle and at both ends are taken out again. */
    bool cancelled;
    unsigned int number;
    step_t extra = {.realm = realm, .body = add_and_commit};
    SUCCEEDS(realm_async_begin_write(realm, run_block, &extra, step_freed, false, &number));
    SUCCEEDS(realm_async_cancel(realm, number, &cancelled));
    CHECK(cancelled && extra.freed == 1);
    SUCCEEDS(realm_async_cancel(realm, number - LONG_QUEUE / 2, &cancelled));
    CHECK(cancelled && steps[LONG_QUEUE / 2].freed == 1);
    CHECK(loop_until(&loop, &ends[LONG_QUEUE - 1].called, 1));
    for (int i = 1; i < LONG_QUEUE; i++) {
        bool wasRun = i != LONG_QUEUE / 2;
        CHECK(steps[i].called == wasRun && steps[i].freed == 1 && ends[i].called == wasRun);
        CHECK(i < LONG_QUEUE / 2 + 2 || ends[i].order > ends[i - 1].order);
    }
    void *wrong;
    pthread_join(thread, &wrong);
    CHECK(wrong == NULL);
    CHECK(turn.first > 0 && turn.first < LONG_QUEUE - 1);
    CHECK(turn.counted > before && turn.counted < before + LONG_QUEUE - 1);
    CHECK(count(realm) == before + LONG_QUEUE - 1);
    realm_close(realm);
    realm_release(realm);
    CHECK(loop_ended(&loop));
}
int main(void) {
    const char *path = "async_threads.realm";
    unlink(path);
    threads(path);
    turns(path);
    return check_end("async_threads");
}
