/* bench_realm_async.c - small asynchronous commits that share syncs: of one realm, and of one on each of eight
 * threads. To be compared with commit_small, where each commit waits for its sync.
 */
#define _GNU_SOURCE
#include "bench_realm.h"

enum { GROUPED_COMMITS = 4000, GROUPED_THREADS = 8 };

typedef struct writer {
    loop_t loop;
    realm_t* realm;
    size_t commits, committed;
    uint64_t random;
} writer_t;

static void committed(void* ud, bool error, const char* text)
{
    if (error)
        bench_fail(true, "commit_grouped", text);
    ((writer_t*)ud)->committed++;
}
static void change_one(void* ud)
{
    writer_t* w = ud;
    w->random = w->random * 6364136223846793005u + 1442695040888963407u;
    realm_object_t* o = find_pk(w->realm, K.person, (int64_t)((w->random >> 33) % B.n));
    CK(o && realm_set_value(o, K.age, v_int((int64_t)(w->random >> 40) % 100), false));
    realm_release(o);
    CK(realm_async_commit(w->realm, committed, w, NULL, true, NULL));
}
static void write_all(writer_t* w)
{
    for (size_t i = 0; i < w->commits; i++)
        CK(realm_async_begin_write(w->realm, change_one, w, NULL, false, NULL));
    while (w->committed < w->commits)
        loop_run_once(&w->loop);
}

static pthread_barrier_t g_ready;

static void* run_writer(void* ud)
{
    writer_t* w = ud;
    loop_init(&w->loop);
    w->realm = open_file(B.path, &w->loop);
    CK(realm_refresh(w->realm, NULL));
    pthread_barrier_wait(&g_ready);
    write_all(w);
    pthread_barrier_wait(&g_ready);
    realm_close(w->realm);
    realm_release(w->realm);
    return NULL;
}

static void run_writers(const char* name, size_t count)
{
    /* Until the end of the process: a scheduler may be woken as long as anybody has it. */
    writer_t* writers = calloc(count, sizeof *writers);
    pthread_t threads[GROUPED_THREADS];
    pthread_barrier_init(&g_ready, NULL, (unsigned)count + 1);
    B.fresh = false;
    for (size_t i = 0; i < count; i++) {
        writers[i].commits = GROUPED_COMMITS / count;
        writers[i].random = 77 + i;
        CK(pthread_create(&threads[i], NULL, run_writer, &writers[i]) == 0);
    }
    pthread_barrier_wait(&g_ready);
    double t0 = now();
    pthread_barrier_wait(&g_ready);
    report(name, now() - t0, GROUPED_COMMITS);
    for (size_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&g_ready);
    CK(realm_refresh(g_realm, NULL));
}

void w_commit_grouped(void)
{
    run_writers("commit_grouped", 1);
    run_writers("commit_grouped_8", GROUPED_THREADS);
}
