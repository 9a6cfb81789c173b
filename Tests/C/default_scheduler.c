/* The default scheduler of a thread: a descriptor that poll() waits for, beside whatever else a program waits
 * for. */
#define _GNU_SOURCE
#include "processes.h"

#include <fcntl.h>
#include <pthread.h>

static realm_config_t *on_scheduler(const char *path, realm_scheduler_t *scheduler) {
    realm_config_t *config = things_config(path);
    realm_config_set_scheduler(config, scheduler);
    return config;
}
static void add_to(realm_t *realm) {
    WRITE(realm, realm_release(make_thing(realm, "one more")));
}
static bool is_readable(int descriptor, int milliseconds) {
    struct pollfd ready = {descriptor, POLLIN, 0};
    return poll(&ready, 1, milliseconds) == 1 && ready.revents == POLLIN;
}

/* Nothing is queued for good: the thread that listens for commits may ask for another look, at which there is
 * nothing new. */
static bool is_quiet(int descriptor, realm_work_queue_t *queue) {
    for (int i = 0; i < 100 && is_readable(descriptor, 2); i++)
        realm_scheduler_perform_work(queue);
    return !is_readable(descriptor, 0);
}

/* -- What it is ---------------------------------------------------------------------------------- */

static void *of_this_thread(void *result) {
    realm_scheduler_t *scheduler = realm_scheduler_make_default();
    *(int *)result = realm_scheduler_get_event_descriptor(scheduler);
    CHECK(fcntl(*(int *)result, F_GETFD) >= 0);
    return scheduler;
}
static void *other_work(void *queue) {
    LEAVES(RLM_ERR_WRONG_THREAD, realm_scheduler_perform_work(queue));
    return NULL;
}

static void nothing(void *userdata) { (void)userdata; }

static void handles(void) {
    realm_scheduler_t *scheduler = realm_scheduler_make_default();
    /* Before somebody asks for the descriptor it can't deliver. */
    realm_t *before = open_or_exit(on_scheduler("before.realm", scheduler));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE,
          realm_async_begin_write(before, nothing, NULL, NULL, false, NULL));
    realm_release(before);

    int descriptor = realm_scheduler_get_event_descriptor(scheduler);
    CHECK(descriptor >= 0 && (fcntl(descriptor, F_GETFD) & FD_CLOEXEC));
    realm_scheduler_t *clone = realm_clone(scheduler), *again = realm_scheduler_make_default();
    CHECK(realm_equals(scheduler, again) && realm_equals(scheduler, clone));
    CHECK(realm_scheduler_get_event_descriptor(clone) == descriptor);
    CHECK(realm_scheduler_get_event_descriptor(again) == descriptor);
    realm_work_queue_t *queue = realm_scheduler_get_work_queue(scheduler);
    CHECK(queue && realm_scheduler_get_work_queue(again) == queue);
    CHECK(!is_readable(descriptor, 0));
    realm_scheduler_perform_work(queue);

    /* Other threads have others; with the thread and its handles it ends. */
    int other = -1;
    void *theirs = NULL;
    pthread_t thread;
    pthread_create(&thread, NULL, of_this_thread, &other);
    pthread_join(thread, &theirs);
    CHECK(theirs && other >= 0 && other != descriptor && !realm_equals(theirs, scheduler));
    CHECK(fcntl(other, F_GETFD) >= 0);
    realm_release(theirs);
    CHECK(fcntl(other, F_GETFD) < 0 && errno == EBADF);
    pthread_create(&thread, NULL, other_work, queue);
    pthread_join(thread, NULL);

    /* Schedulers of the program's own say by notify() that there is work. */
    event_loop_t loop;
    realm_scheduler_t *own = event_scheduler(&loop);
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_scheduler_get_event_descriptor(own) + 1);
    realm_work_queue_t *own_queue = realm_scheduler_get_work_queue(own);
    CHECK(own_queue && own_queue != queue);
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_scheduler_get_event_descriptor(NULL) + 1);
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_scheduler_get_work_queue(NULL));
    realm_release(own);
    close(loop.event);
    realm_release(clone);
    realm_release(again);
    /* The thread keeps it. */
    realm_release(scheduler);
    CHECK(fcntl(descriptor, F_GETFD) >= 0);
    CHECK(loop_ended(&loop));
}

/* -- Delivery ------------------------------------------------------------------------------------ */

static void *commit_once(void *path) {
    realm_t *realm = open_things(path);
    WRITE(realm, realm_release(make_thing(realm, "from a thread")));
    realm_release(realm);
    return NULL;
}
static int commit_from_elsewhere(const char *path) {
    commit_once((void *)path);
    return failures;
}

static void delivery(void) {
    const char *path = "polled.realm";
    realm_scheduler_t *scheduler = realm_scheduler_make_default();
    const int descriptor = realm_scheduler_get_event_descriptor(scheduler);
    realm_work_queue_t *queue = realm_scheduler_get_work_queue(scheduler);
    /* Without a scheduler, realms have that of the thread. */
    realm_t *realm = open_things(path);
    notice_t notice = {0};
    realm_results_t *things = realm_object_find_all(realm, class_key(realm, "Thing"));
    watch_results(&notice, things, NULL);
    CHECK(is_readable(descriptor, 0));
    realm_scheduler_perform_work(queue);
    TOLD(notice, "-");
    CHECK(is_quiet(descriptor, queue));

    pthread_t thread;
    for (int i = 0; i < 5; i++) {
        char text[16];
        snprintf(text, sizeof text, "i%d", i);
        pthread_create(&thread, NULL, commit_once, (void *)path);
        CHECK(is_readable(descriptor, 10000));
        realm_scheduler_perform_work(queue);
        TOLD(notice, text);
        pthread_join(thread, NULL);
        CHECK(is_quiet(descriptor, queue));
    }
    /* Another process. */
    process_t process = start("committer", path, 0);
    CHECK(is_readable(descriptor, 10000));
    realm_scheduler_perform_work(queue);
    CHECK(end_of(&process) == 0);
    TOLD(notice, "i5");

    /* Its own commits. */
    add_to(realm);
    CHECK(is_readable(descriptor, 0));
    pthread_create(&thread, NULL, other_work, queue);
    pthread_join(thread, NULL);
    CHECK(is_readable(descriptor, 0));
    TOLD(notice, "");
    realm_scheduler_perform_work(queue);
    TOLD(notice, "i6");

    realm_release(notice.token);
    realm_release(things);
    realm_close(realm);
    realm_release(realm);
    pthread_create(&thread, NULL, commit_once, (void *)path);
    pthread_join(thread, NULL);
    CHECK(is_quiet(descriptor, queue));
    realm_release(scheduler);
}

/* -- Staying where it is --------------------------------------------------------------------------- */

static void commit_elsewhere(const char *path) {
    pthread_t thread;
    pthread_create(&thread, NULL, commit_once, (void *)path);
    pthread_join(thread, NULL);
}
static void *follow_elsewhere(void *realm) {
    FAILS(RLM_ERR_WRONG_THREAD, realm_set_auto_refresh(realm, false));
    return NULL;
}

static void staying(void) {
    const char *path = "staying.realm";
    realm_scheduler_t *scheduler = realm_scheduler_make_default();
    const int descriptor = realm_scheduler_get_event_descriptor(scheduler);
    realm_work_queue_t *queue = realm_scheduler_get_work_queue(scheduler);
    realm_t *realm = open_or_exit(on_scheduler(path, scheduler));
    CHECK(realm_get_auto_refresh(realm) && count_of(realm, "Thing") == 0);
    CHECK(is_quiet(descriptor, queue));

    SUCCEEDS(realm_set_auto_refresh(realm, false));
    CHECK(!realm_get_auto_refresh(realm));
    commit_elsewhere(path);
    CHECK(is_readable(descriptor, 10000) && is_quiet(descriptor, queue));
    CHECK(count_of(realm, "Thing") == 0);
    SUCCEEDS(realm_refresh(realm, NULL));
    CHECK(count_of(realm, "Thing") == 1);

    /* What came while it stayed is shown once it follows. */
    commit_elsewhere(path);
    CHECK(is_readable(descriptor, 10000) && is_quiet(descriptor, queue));
    SUCCEEDS(realm_set_auto_refresh(realm, true));
    CHECK(count_of(realm, "Thing") == 1);
    CHECK(is_readable(descriptor, 10000) && is_quiet(descriptor, queue));
    CHECK(count_of(realm, "Thing") == 2);
    /* It follows already. */
    SUCCEEDS(realm_set_auto_refresh(realm, true));
    commit_elsewhere(path);
    CHECK(is_readable(descriptor, 10000) && is_quiet(descriptor, queue));
    CHECK(count_of(realm, "Thing") == 3);

    realm_t *frozen = realm_freeze(realm);
    CHECK(!realm_get_auto_refresh(frozen));
    SUCCEEDS(realm_set_auto_refresh(frozen, false));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_set_auto_refresh(frozen, true));
    realm_release(frozen);
    pthread_t thread;
    pthread_create(&thread, NULL, follow_elsewhere, realm);
    pthread_join(thread, NULL);
    realm_close(realm);
    FAILS(RLM_ERR_CLOSED_REALM, realm_set_auto_refresh(realm, false));
    realm_release(realm);
    realm_release(scheduler);
}

/* -- Asynchronous writes ------------------------------------------------------------------------- */

typedef struct write {
    realm_t *realm;
    int blocks, completions, freed;
} write_t;

static void completed(void *userdata, bool failed, const char *text) {
    CHECK(!failed && !text);
    ((write_t *)userdata)->completions++;
}
static void block(void *userdata) {
    write_t *write = userdata;
    write->blocks++;
    realm_release(make_thing(write->realm, "in a block"));
    CHECK(realm_async_commit(write->realm, completed, write, NULL, true, NULL));
}

static void asynchronous(void) {
    realm_scheduler_t *scheduler = realm_scheduler_make_default();
    const int descriptor = realm_scheduler_get_event_descriptor(scheduler);
    realm_work_queue_t *queue = realm_scheduler_get_work_queue(scheduler);
    write_t write = {open_or_exit(on_scheduler("blocks.realm", scheduler)), 0, 0, 0};
    for (int i = 0; i < 10; i++)
        CHECK(realm_async_begin_write(write.realm, block, &write, NULL, false, NULL));
    while (write.completions < 10 && is_readable(descriptor, 10000))
        realm_scheduler_perform_work(queue);
    CHECK(write.blocks == 10 && write.completions == 10);
    CHECK(count_of(write.realm, "Thing") == 10);
    realm_release(write.realm);
    realm_release(scheduler);
}

/* -- Forked children ----------------------------------------------------------------------------- */

static void forked(void) {
    realm_scheduler_t *scheduler = realm_scheduler_make_default();
    const int descriptor = realm_scheduler_get_event_descriptor(scheduler);
    realm_t *realm = open_or_exit(on_scheduler("forked.realm", scheduler));
    pid_t child = fork();
    if (child == 0) {
        realm_scheduler_t *mine = realm_scheduler_make_default();
        int own = realm_scheduler_get_event_descriptor(mine);
        CHECK(own >= 0 && own != descriptor);
        realm_t *again = open_or_exit(on_scheduler("forked.realm", mine));
        notice_t notice = {0};
        realm_results_t *things = realm_object_find_all(again, class_key(again, "Thing"));
        watch_results(&notice, things, NULL);
        CHECK(is_readable(own, 0));
        realm_scheduler_perform_work(realm_scheduler_get_work_queue(mine));
        add_to(again);
        CHECK(is_readable(own, 0));
        realm_release(notice.token);
        realm_release(things);
        realm_release(again);
        _exit(failures ? 1 : 0);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    /* The parent was woken by the child's commits alone. */
    CHECK(is_readable(descriptor, 10000));
    realm_scheduler_perform_work(realm_scheduler_get_work_queue(scheduler));
    CHECK(count_of(realm, "Thing") == 1);
    realm_release(realm);
    realm_release(scheduler);
}

int main(int count, char **arguments) {
    if (count == 4)
        return commit_from_elsewhere(arguments[1]);
    handles();
    staying();
    delivery();
    asynchronous();
    forked();
    return check_end("default_scheduler");
}
