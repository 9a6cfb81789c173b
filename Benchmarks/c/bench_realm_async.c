/* bench_realm_async.c - small asynchronous commits that share syncs: of one realm, and of one on each of eight
 * threads. Three kinds of change, each beside the same commits one by one, of which each waits for its sync:
 * an integer of any object (commit_small), a new object (commit_insert), an integer of one of a hundred objects
 * that lie together (commit_near; each thread has its own hundred). Each writer makes as many, however many there are, behind a quarter
 * of them that is not measured: a process that begins has the kernel clear the memory of a turn and reads each leaf anew.
 * Told is the median of three runs: one takes a tenth of a second, and others use the machine for as long.
 */
#define _GNU_SOURCE
#include "bench_realm.h"

enum { GROUPED_COMMITS = 16000, FIRST_COMMITS = GROUPED_COMMITS / 4, GROUPED_THREADS = 8, SINGLE_COMMITS = 1000, NEAR = 100, ROUNDS = 3 };

typedef void change_t(realm_t* realm, uint64_t random, size_t number);

typedef struct writer {
    loop_t loop;
    realm_t* realm;
    change_t* change;
    size_t number, made, committed;
    uint64_t random;
    double began, ended;
} writer_t;

static uint64_t step(uint64_t random) { return random * 6364136223846793005u + 1442695040888963407u; }

static void change_age(realm_t* realm, int64_t id, uint64_t random)
{
    realm_object_t* o = find_pk(realm, K.person, id);
    CK(o && realm_set_value(o, K.age, v_int((int64_t)(random >> 40) % 100), false));
    realm_release(o);
}
static void change_any(realm_t* realm, uint64_t random, size_t number)
{
    (void)number;
    change_age(realm, (int64_t)((random >> 33) % B.n), random);
}
/* Writer `number` has its hundred in the middle of the objects of its share. */
static void change_near(realm_t* realm, uint64_t random, size_t number)
{
    size_t share = B.n / GROUPED_THREADS;
    change_age(realm, (int64_t)(share * number + share / 2 + (random >> 33) % NEAR), random);
}
static void insert_event(realm_t* realm, uint64_t random, size_t number)
{
    const realm_property_key_t props[] = {K.ts, K.kind, K.payload};
    char payload[CODE_LEN];
    hex_code(payload, (size_t)(random >> 33) % B.n);
    const realm_value_t vals[] = {v_int((int64_t)(random >> 33)), v_int((int64_t)number), v_str(payload, CODE_LEN)};
    realm_object_t* o = realm_object_create(realm, K.event);
    CK(o && realm_set_values(o, 3, props, vals, false));
    realm_release(o);
}
/* Rows that come later count what they insert themselves. */
static void delete_events(size_t count)
{
    CK(realm_begin_write(g_realm));
    realm_results_t* all = realm_object_find_all(g_realm, K.event);
    size_t found = 0;
    CK(all && realm_results_count(all, &found) && found == count);
    CK(realm_results_delete_all(all));
    realm_release(all);
    CK(realm_commit(g_realm));
}

static void committed(void* ud, bool error, const char* text)
{
    if (error)
        bench_fail(true, "commit_grouped", text);
    ((writer_t*)ud)->committed++;
}
static void change_one(void* ud)
{
    writer_t* w = ud;
    if (w->made++ == FIRST_COMMITS)
        w->began = now();
    w->random = step(w->random);
    w->change(w->realm, w->random, w->number);
    CK(realm_async_commit(w->realm, committed, w, NULL, true, NULL));
}
static void write_all(writer_t* w)
{
    for (size_t i = 0; i < FIRST_COMMITS + GROUPED_COMMITS; i++)
        CK(realm_async_begin_write(w->realm, change_one, w, NULL, false, NULL));
    while (w->committed < FIRST_COMMITS + GROUPED_COMMITS)
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
    w->ended = now();
    pthread_barrier_wait(&g_ready);
    realm_close(w->realm);
    realm_release(w->realm);
    return NULL;
}

static double run_writers(size_t count, change_t* change)
{
    /* Each run changes other objects, to other values. */
    static uint64_t seed = 77;
    /* Until the end of the process: a scheduler may be woken as long as anybody has it. */
    writer_t* writers = calloc(count, sizeof *writers);
    pthread_t threads[GROUPED_THREADS];
    pthread_barrier_init(&g_ready, NULL, (unsigned)count + 1);
    B.fresh = false;
    for (size_t i = 0; i < count; i++) {
        writers[i].random = seed++;
        writers[i].number = i;
        writers[i].change = change;
        CK(pthread_create(&threads[i], NULL, run_writer, &writers[i]) == 0);
    }
    pthread_barrier_wait(&g_ready);
    pthread_barrier_wait(&g_ready);
    /* From the first that begins to the last that ends: this thread may come later. */
    double began = writers[0].began, ended = writers[0].ended;
    for (size_t i = 0; i < count; i++) {
        began = writers[i].began < began ? writers[i].began : began;
        ended = writers[i].ended > ended ? writers[i].ended : ended;
    }
    for (size_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&g_ready);
    CK(realm_refresh(g_realm, NULL));
    return ended - began;
}

static int ascending(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static void run_rounds(const char* name, size_t count, change_t* change)
{
    double seconds[ROUNDS];
    for (size_t i = 0; i < ROUNDS; i++) {
        seconds[i] = run_writers(count, change);
        if (change == insert_event)
            delete_events((FIRST_COMMITS + GROUPED_COMMITS) * count);
    }
    qsort(seconds, ROUNDS, sizeof *seconds, ascending);
    report(name, seconds[ROUNDS / 2], GROUPED_COMMITS * count);
}

static void run_single(const char* name, change_t* change)
{
    uint64_t random = 7;
    B.fresh = false;
    double t0 = now();
    for (size_t i = 0; i < SINGLE_COMMITS; i++) {
        random = step(random);
        CK(realm_begin_write(g_realm));
        change(g_realm, random, 0);
        CK(realm_commit(g_realm));
    }
    report(name, now() - t0, SINGLE_COMMITS);
}

void w_commit_insert(void)
{
    run_single("commit_insert", insert_event);
    delete_events(SINGLE_COMMITS);
    run_single("commit_near", change_near);
}

void w_commit_grouped(void)
{
    run_rounds("commit_grouped", 1, change_any);
    run_rounds("commit_grouped_8", GROUPED_THREADS, change_any);
    run_rounds("commit_grouped_insert", 1, insert_event);
    run_rounds("commit_grouped_insert_8", GROUPED_THREADS, insert_event);
    run_rounds("commit_grouped_near", 1, change_near);
    run_rounds("commit_grouped_near_8", GROUPED_THREADS, change_near);
}
