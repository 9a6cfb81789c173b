/* bench_realm_notify.c - a run loop as the C API wants one, and the notification workloads of bench_realm: how long
 * after a commit the observer of a sorted query has its change set, and what a thousand observers of objects cost a
 * commit that does not concern them. And what a refresh without anything new costs, and freezing.
 */
#define _GNU_SOURCE
#include "bench_realm.h"

#include <sys/wait.h>
#include <unistd.h>

/* ---------------------------------------------------------------- run loop */

void loop_init(loop_t* l)
{
    memset(l, 0, sizeof *l);
    l->thread = pthread_self();
    pthread_mutex_init(&l->mutex, NULL);
    pthread_cond_init(&l->cond, NULL);
}
static void loop_notify(void* ud, realm_work_queue_t* queue)
{
    loop_t* l = ud;
    pthread_mutex_lock(&l->mutex);
    l->pending = queue;
    pthread_cond_broadcast(&l->cond);
    pthread_mutex_unlock(&l->mutex);
}
static bool loop_is_on_thread(void* ud) { return pthread_equal(((loop_t*)ud)->thread, pthread_self()); }
static bool loop_is_same(const realm_userdata_t a, const realm_userdata_t b) { return a == b; }
static bool loop_can_deliver(void* ud)
{
    (void)ud;
    return true;
}
realm_scheduler_t* loop_scheduler(loop_t* l)
{
    realm_scheduler_t* s =
        realm_scheduler_new(l, NULL, loop_notify, loop_is_on_thread, loop_is_same, loop_can_deliver);
    CK(s);
    return s;
}
void loop_run_once(loop_t* l)
{
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    ts.tv_sec += 60;
    pthread_mutex_lock(&l->mutex);
    while (!l->pending)
        if (pthread_cond_timedwait(&l->cond, &l->mutex, &ts) != 0) {
            pthread_mutex_unlock(&l->mutex);
            bench_fail(true, "notify", "no notification within 60 s");
        }
    realm_work_queue_t* q = l->pending;
    l->pending = NULL;
    pthread_mutex_unlock(&l->mutex);
    realm_scheduler_perform_work(q);
}
void loop_drain(loop_t* l)
{
    pthread_mutex_lock(&l->mutex);
    realm_work_queue_t* q = l->pending;
    l->pending = NULL;
    pthread_mutex_unlock(&l->mutex);
    if (q)
        realm_scheduler_perform_work(q);
}

/* ---------------------------------------------------------------- notifications */

enum { NOTIFY_COMMITS = 200, NOTIFY_OBJECTS = 10 };

typedef struct observer {
    realm_results_t* results;
    realm_notification_token_t* token;
    volatile size_t calls;
    double last;
} observer_t;

static void on_change(void* ud, const realm_collection_changes_t* changes)
{
    observer_t* ob = ud;
    (void)changes;
    ob->last = now();
    ob->calls++;
}

static void observe(observer_t* ob, const char* label, const char* query)
{
    memset(ob, 0, sizeof *ob);
    size_t n = 0;
    double t0 = now();
    realm_query_t* q = realm_query_parse(g_realm, K.person, query, 0, NULL);
    CK(q);
    realm_results_t* r = realm_query_find_all(q);
    CK(r);
    CK(ob->results = realm_results_sort(r, "name ASC"));
    CK(ob->token = realm_results_add_notification_callback(ob->results, ob, NULL, NULL, on_change));
    while (ob->calls == 0)
        loop_run_once(&g_loop);
    char name[64];
    snprintf(name, sizeof name, "%s_initial", label);
    report(name, now() - t0, 1);
    realm_release(r);
    realm_release(q);
    CK(realm_results_count(ob->results, &n));
    fprintf(stderr, "# %s observed objects=%zu\n", label, n);
}
static void unobserve(observer_t* ob)
{
    realm_release(ob->token);
    realm_release(ob->results);
    loop_drain(&g_loop);
}

/* One write transaction changing the age of 10 random objects of the first n, the first of them in the observed set, so
 * that a callback is due. Returns the moment before the commit; *after: the moment after it. */
static double write_ten(realm_t* r, const keys_t* k, size_t n, double* after)
{
    realm_value_t age;
    CK(realm_begin_write(r));
    for (int i = 0; i < NOTIFY_OBJECTS; i++) {
        realm_object_t* o = find_pk(r, k->person, (int64_t)(rnd() % n));
        CK(realm_get_value(o, k->age, &age));
        while (i == 0 && age.integer >= 50) {
            realm_release(o);
            o = find_pk(r, k->person, (int64_t)(rnd() % n));
            CK(realm_get_value(o, k->age, &age));
        }
        CK(realm_set_value(o, k->age, v_int((int64_t)(rnd() % 100)), false));
        realm_release(o);
    }
    double before = now();
    CK(realm_commit(r));
    *after = now();
    return before;
}

/* writer and observer are the same realm instance on one thread */
static void notify(const char* name, const char* query, size_t n)
{
    observer_t ob;
    double from_begin = 0, from_end = 0;
    char after_name[64];
    observe(&ob, name, query);
    for (int i = 0; i < NOTIFY_COMMITS; i++) {
        size_t seen = ob.calls;
        double after, before = write_ten(g_realm, &K, n, &after);
        while (ob.calls == seen)
            loop_run_once(&g_loop);
        from_begin += ob.last - before;
        from_end += ob.last - after;
    }
    snprintf(after_name, sizeof after_name, "%s_after_commit", name);
    report(name, from_begin, NOTIFY_COMMITS);
    report(after_name, from_end, NOTIFY_COMMITS);
    unobserve(&ob);
    B.fresh = false;
}
void w_notify(void)
{
    notify("notify", "age < 50", B.n);
    /* about a thousand results */
    notify("notify_few", "age < 50 AND _id < 2000", B.n < 2000 ? B.n : 2000);
}

/* the writer is a second realm instance on its own thread */
typedef struct bg {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    bool go, quit, wrote;
    double before, after;
} bg_t;
static void* bg_main(void* ud)
{
    bg_t* b = ud;
    loop_t loop;
    loop_init(&loop);
    realm_t* r = open_file(B.path, &loop);
    keys_t k = find_keys(r);
    pthread_mutex_lock(&b->mutex);
    for (;;) {
        while (!b->go && !b->quit)
            pthread_cond_wait(&b->cond, &b->mutex);
        if (b->quit)
            break;
        b->go = false;
        pthread_mutex_unlock(&b->mutex);
        loop_drain(&loop);
        double after, before = write_ten(r, &k, B.n, &after);
        pthread_mutex_lock(&b->mutex);
        b->before = before;
        b->after = after;
        b->wrote = true;
        pthread_cond_broadcast(&b->cond);
    }
    pthread_mutex_unlock(&b->mutex);
    realm_close(r);
    realm_release(r);
    return NULL;
}
void w_notify_bg(void)
{
    observer_t ob;
    bg_t b = {.mutex = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};
    pthread_t th;
    double from_begin = 0, from_end = 0;
    observe(&ob, "notify_bg", "age < 50");
    pthread_create(&th, NULL, bg_main, &b);
    for (int i = 0; i < NOTIFY_COMMITS; i++) {
        size_t seen = ob.calls;
        pthread_mutex_lock(&b.mutex);
        b.go = true;
        pthread_cond_broadcast(&b.cond);
        pthread_mutex_unlock(&b.mutex);
        while (ob.calls == seen)
            loop_run_once(&g_loop);
        pthread_mutex_lock(&b.mutex);
        while (!b.wrote)
            pthread_cond_wait(&b.cond, &b.mutex);
        b.wrote = false;
        from_begin += ob.last - b.before;
        from_end += ob.last - b.after;
        pthread_mutex_unlock(&b.mutex);
    }
    pthread_mutex_lock(&b.mutex);
    b.quit = true;
    pthread_cond_broadcast(&b.cond);
    pthread_mutex_unlock(&b.mutex);
    pthread_join(th, NULL);
    report("notify_bg", from_begin, NOTIFY_COMMITS);
    report("notify_bg_after_commit", from_end, NOTIFY_COMMITS);
    unobserve(&ob);
    B.fresh = false;
}

/* the writer is another process; this one is idle when it commits */
static void write_in_child(int go, int done)
{
    loop_t loop;
    char c;
    loop_init(&loop);
    realm_t* r = open_file(B.path, &loop);
    keys_t k = find_keys(r);
    while (read(go, &c, 1) == 1) {
        double after;
        usleep(1000);
        write_ten(r, &k, B.n, &after);
        CK(write(done, &after, sizeof after) == sizeof after);
        loop_drain(&loop);
    }
    realm_close(r);
    realm_release(r);
}
void w_notify_process(void)
{
    observer_t ob;
    int go[2], done[2];
    double after, sum = 0;
    CK(pipe(go) == 0 && pipe(done) == 0);
    pid_t child = fork();
    CK(child >= 0);
    if (child == 0) {
        close(go[1]);
        write_in_child(go[0], done[1]);
        _exit(0);
    }
    close(go[0]);
    close(done[1]);
    observe(&ob, "notify_process", "age < 50");
    for (int i = 0; i < NOTIFY_COMMITS; i++) {
        size_t seen = ob.calls;
        CK(write(go[1], "x", 1) == 1);
        while (ob.calls == seen)
            loop_run_once(&g_loop);
        CK(read(done[0], &after, sizeof after) == sizeof after);
        sum += ob.last - after;
    }
    close(go[1]);
    close(done[0]);
    CK(waitpid(child, NULL, 0) == child);
    report("notify_process", sum, NOTIFY_COMMITS);
    unobserve(&ob);
    B.fresh = false;
}

/* ---------------------------------------------------------------- versions */

void w_versions(void)
{
    const size_t ops = 100000;
    bool refreshed = false;
    CK(realm_refresh(g_realm, NULL));
    double t0 = now();
    for (size_t i = 0; i < ops; i++)
        CK(realm_refresh(g_realm, &refreshed));
    report("refresh", now() - t0, ops);
    CK(!refreshed);
    t0 = now();
    for (size_t i = 0; i < ops; i++) {
        realm_t* frozen = realm_freeze(g_realm);
        CK(frozen);
        realm_release(frozen);
    }
    report("freeze", now() - t0, ops);
}

/* ---------------------------------------------------------------- observers of objects */

/* a thousand observers of single objects, and commits that change another one */
static void on_object_change(void* ud, const realm_object_changes_t* changes)
{
    (void)changes;
    (*(size_t*)ud)++;
}
void w_notify_objects(void)
{
    enum { OBSERVERS = 1000 };
    realm_object_t* objects[OBSERVERS];
    realm_notification_token_t* tokens[OBSERVERS];
    size_t calls = 0;
    double sum = 0;
    for (int i = 0; i < OBSERVERS; i++) {
        objects[i] = find_pk(g_realm, K.person, (int64_t)i);
        CK(tokens[i] = realm_object_add_notification_callback(objects[i], &calls, NULL, NULL, on_object_change));
    }
    loop_run_once(&g_loop);
    if (calls != OBSERVERS)
        bench_fail(false, "notify_objects", "not all observers had their first call");
    for (int i = 0; i < NOTIFY_COMMITS; i++) {
        CK(realm_begin_write(g_realm));
        realm_object_t* o = find_pk(g_realm, K.person, (int64_t)(OBSERVERS + rnd() % (B.n - OBSERVERS)));
        CK(realm_set_value(o, K.age, v_int((int64_t)(rnd() % 100)), false));
        realm_release(o);
        CK(realm_commit(g_realm));
        double t0 = now();
        loop_run_once(&g_loop);
        sum += now() - t0;
    }
    if (calls != OBSERVERS)
        bench_fail(false, "notify_objects", "an observer of an object that did not change was called");
    report("notify_objects", sum, NOTIFY_COMMITS);
    for (int i = 0; i < OBSERVERS; i++) {
        realm_release(tokens[i]);
        realm_release(objects[i]);
    }
    B.fresh = false;
}
