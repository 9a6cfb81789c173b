/* Compaction while commits of the same program wait for their sync: who compacts makes them durable, and
 * neither the compaction nor the commits take that for the failure of another process. And other ends of
 * what waits: the read transaction's, the process'. */
#include "async.h"

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the library calls: as slow as a disk. */
int fdatasync(int file) {
    usleep(3000);
    return (int)syscall(SYS_fdatasync, file);
}

static const char *path = "compaction_async.realm";
enum { ROUNDS = 20, WRITERS = 2, COMMITS = 30 };

static int told, errors;
static void complete(void *userdata, bool error, const char *description) {
    (void)userdata;
    told++;
    if (error) {
        errors++;
        fprintf(stderr, "    %s\n", description);
    }
}

/* Of the realm itself, and of another one; at each moment of the sync. */
static void behind_asynchronous_commits(bool itself) {
    bool did;
    SUCCEEDS(realm_delete_files(path, &did));
    loop_t loop;
    loop_init(&loop);
    realm_t *realm = open_counters(path, &loop), *other = open_counters(path, NULL);
    told = 0;
    for (int i = 0; i < ROUNDS && !failures; i++) {
        SUCCEEDS(realm_begin_write(realm));
        add(realm, i);
        SUCCEEDS(realm_async_commit(realm, complete, NULL, NULL, i % 2, NULL));
        usleep((useconds_t)i % 5 * 700);
        SUCCEEDS(realm_compact(itself ? realm : other, &did));
        CHECK(loop_until(&loop, &told, i + 1));
        CHECK(errors == 0);
    }
    realm_release(other);
    realm_release(realm);
    realm = open_counters(path, NULL);
    CHECK(failures || count(realm) == ROUNDS);
    realm_release(realm);
    CHECK(loop_ended(&loop));
}

static int ended;
static void *write_some(void *unused) {
    (void)unused;
    realm_t *realm = open_counters(path, NULL);
    for (int i = 0; i < COMMITS && !failures; i++) {
        SUCCEEDS(realm_begin_write(realm));
        if (!realm_is_writable(realm))
            break;
        add(realm, i);
        SUCCEEDS(realm_commit(realm));
    }
    realm_release(realm);
    __atomic_add_fetch(&ended, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

/* Their commits share syncs. */
static void beside_threads_that_write(void) {
    bool did;
    SUCCEEDS(realm_delete_files(path, &did));
    realm_t *realm = open_counters(path, NULL);
    pthread_t threads[WRITERS];
    for (int i = 0; i < WRITERS; i++)
        CHECK(pthread_create(&threads[i], NULL, write_some, NULL) == 0);
    while (__atomic_load_n(&ended, __ATOMIC_SEQ_CST) < WRITERS && !failures)
        SUCCEEDS(realm_compact(realm, &did));
    for (int i = 0; i < WRITERS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(failures || count(realm) == WRITERS * COMMITS);
    realm_release(realm);
}

/* A compaction ends the read transaction: commits that wait are told before, and blocks run behind it. */
static realm_t *mine;
static int ran, freed;
static void count_free(void *userdata) {
    (void)userdata;
    freed++;
}
static void commit_later(void *userdata) {
    (void)userdata;
    ran++;
    add(mine, ran);
    SUCCEEDS(realm_async_commit(mine, complete, NULL, count_free, false, NULL));
}
static void commit_and_compact(void *userdata) {
    bool did;
    (void)userdata;
    ran++;
    add(mine, ran);
    SUCCEEDS(realm_commit(mine));
    SUCCEEDS(realm_compact(mine, &did));
}
static void waiting_commits_and_blocks(realm_async_begin_write_func_t block, int completions) {
    bool did;
    SUCCEEDS(realm_delete_files(path, &did));
    loop_t loop;
    loop_init(&loop);
    mine = open_counters(path, &loop);
    ran = told = freed = errors = 0;
    for (int i = 0; i < 3; i++)
        SUCCEEDS(realm_async_begin_write(mine, block, NULL, NULL, false, NULL));
    CHECK(loop_until(&loop, &ran, completions ? 3 : 1));
    if (completions)
        SUCCEEDS(realm_compact(mine, &did));
    for (int i = 0; i < 100 && (ran < 3 || told < completions); i++)
        loop_turn(&loop, 10);
    CHECK(ran == 3 && told == completions && freed == completions && errors == 0);
    CHECK(!realm_is_writable(mine));
    realm_release(mine);
    CHECK(loop_ended(&loop));
}

/* A forked child has not the thread that waits for the writer on behalf of its parent. */
static void *hold_the_writer(void *begun) {
    realm_t *realm = open_counters(path, NULL);
    SUCCEEDS(realm_begin_write(realm));
    __atomic_store_n((int *)begun, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n((int *)begun, __ATOMIC_SEQ_CST) == 1)
        usleep(1000);
    SUCCEEDS(realm_rollback(realm));
    realm_release(realm);
    return NULL;
}
static void children_do_not_wait(void) {
    loop_t loop;
    loop_init(&loop);
    mine = open_counters(path, &loop);
    int begun = 0;
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, hold_the_writer, &begun) == 0);
    while (!__atomic_load_n(&begun, __ATOMIC_SEQ_CST))
        usleep(1000);
    ran = told = freed = errors = 0;
    SUCCEEDS(realm_async_begin_write(mine, commit_later, NULL, NULL, false, NULL));
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        _exit(realm_begin_write(mine) ? 1 : 0);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    __atomic_store_n(&begun, 2, __ATOMIC_SEQ_CST);
    CHECK(loop_until(&loop, &told, 1) && errors == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    realm_release(mine);
    CHECK(loop_ended(&loop));
}

int main(void) {
    children_do_not_wait();
    waiting_commits_and_blocks(commit_and_compact, 0);
    waiting_commits_and_blocks(commit_later, 3);
    behind_asynchronous_commits(true);
    behind_asynchronous_commits(false);
    beside_threads_that_write();
    return check_end("compaction_async");
}
