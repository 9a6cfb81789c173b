/* bench_lmdb.c - the workloads of bench_realm that a plain key-value store can do, on LMDB.
 *
 * usage: bench_lmdb N all|NAME[,NAME...] FILE [--writemap] [--fresh]
 *
 * Key: 8-byte integer (MDB_INTEGERKEY); value: the Person packed in a struct of 48 bytes (name inline). No secondary
 * index, no links. Default flags: a commit is on disk when it returns (fdatasync, then a synchronous write of the
 * meta page); --writemap adds MDB_WRITEMAP (msync). Reads happen in one read transaction and use the value in place.
 * MDB_NOTLS lets one thread hold a reader and write, which pinned_reader needs.
 *   insert_bulk         ascending keys with MDB_APPEND, one transaction
 *   insert_bulk_put     ascending keys, plain mdb_put
 *   insert_bulk_random  the same keys in a scattered order, plain mdb_put
 * Output: see bench.h.
 */
#define _GNU_SOURCE
#define BENCH_MAIN
#include "bench.h"
#include <lmdb.h>

typedef struct {
    double score;
    int64_t birth;
    int32_t age, dept;
    uint8_t active, name_len;
    char name[22];
} person_t;
_Static_assert(sizeof(person_t) == 48, "person_t");

static unsigned g_flags;
static MDB_env* env;
static MDB_dbi dbi;

static void ok_(int rc, const char* what)
{
    if (rc)
        bench_fail(true, what, mdb_strerror(rc));
}
#define OK(e) ok_((e), #e)

static void open_env(void)
{
    MDB_txn* t;
    OK(mdb_env_create(&env));
    OK(mdb_env_set_mapsize(env, (size_t)4 << 30));
    OK(mdb_env_open(env, B.path, MDB_NOSUBDIR | MDB_NOTLS | g_flags, 0644));
    OK(mdb_txn_begin(env, NULL, 0, &t));
    OK(mdb_dbi_open(t, NULL, MDB_INTEGERKEY, &dbi));
    OK(mdb_txn_commit(t));
}
static void remove_files(void)
{
    char lock[4200];
    snprintf(lock, sizeof lock, "%s-lock", B.path);
    unlink(B.path);
    unlink(lock);
}
static void report_file_size(const char* name)
{
    MDB_envinfo ei;
    MDB_stat ms;
    char line[64];
    mdb_env_info(env, &ei);
    mdb_env_stat(env, &ms);
    size_t used = (ei.me_last_pgno + 1) * ms.ms_psize;
    snprintf(line, sizeof line, "%s_bytes", name);
    report(line, 0, used);
    fprintf(stderr, "# %s pages used=%zu file size=%zu\n", name, used, file_bytes(B.path, ""));
}
static void recover(void)
{
    mdb_env_close(env); /* drops the transaction, if one is open */
    env = NULL;
    open_env();
}

static void fill(const char* label, unsigned put_flags, bool scatter)
{
    MDB_txn* t;
    MDB_stat ms;
    person_t p;
    memset(&p, 0, sizeof p);
    if (env)
        mdb_env_close(env);
    remove_files();
    open_env();
    double t0 = now();
    OK(mdb_txn_begin(env, NULL, 0, &t));
    for (size_t j = 0; j < B.n; j++) {
        size_t i = scatter ? scattered(j) : j;
        uint64_t id = i;
        MDB_val k = {sizeof id, &id}, v = {sizeof p, &p};
        person_name(p.name, i);
        p.name_len = NAME_LEN;
        p.age = (int32_t)person_age(i);
        p.score = person_score(i);
        p.birth = person_birth(i);
        p.active = person_active(i);
        p.dept = (int32_t)(i % NUM_DEPTS);
        int rc = mdb_put(t, dbi, &k, &v, put_flags);
        if (rc)
            ok_(rc, "mdb_put");
    }
    double t1 = now();
    OK(mdb_txn_commit(t));
    double t2 = now();
    report(label, t2 - t0, B.n);
    fprintf(stderr, "# %s of which commit=%.3f s\n", label, t2 - t1);
    OK(mdb_env_stat(env, &ms));
    B.fresh = true;
    expect(label, ms.ms_entries, B.n);
}
static void w_insert_random(void)
{
    fill("insert_bulk_random", 0, true);
    report_file_size("file_after_insert_random");
}
static void w_insert_put(void)
{
    fill("insert_bulk_put", 0, false);
    report_file_size("file_after_insert_put");
}
static void w_insert_append(void)
{
    fill("insert_bulk", MDB_APPEND, false);
    report_file_size("file_after_insert");
}
static void w_open_time(void)
{
    const size_t reps = 20;
    double t0 = now();
    for (size_t i = 0; i < reps; i++) {
        MDB_txn* t;
        uint64_t id = 0;
        MDB_val k = {sizeof id, &id}, v;
        mdb_env_close(env);
        OK(mdb_env_create(&env));
        OK(mdb_env_set_mapsize(env, (size_t)4 << 30));
        OK(mdb_env_open(env, B.path, MDB_NOSUBDIR | MDB_NOTLS | g_flags, 0644));
        OK(mdb_txn_begin(env, NULL, MDB_RDONLY, &t));
        OK(mdb_dbi_open(t, NULL, MDB_INTEGERKEY, &dbi));
        OK(mdb_get(t, dbi, &k, &v));
        if (((person_t*)v.mv_data)->name_len != NAME_LEN)
            bench_fail(true, "open_time", "first record differs");
        OK(mdb_txn_commit(t));
    }
    report("open_time", now() - t0, reps);
}
static void w_get_by_pk(void)
{
    MDB_txn* t;
    uint64_t sum = 0;
    OK(mdb_txn_begin(env, NULL, MDB_RDONLY, &t));
    double t0 = now();
    for (size_t i = 0; i < B.n; i++) {
        uint64_t id = rnd() % B.n;
        MDB_val k = {sizeof id, &id}, v;
        int rc = mdb_get(t, dbi, &k, &v);
        if (rc)
            ok_(rc, "mdb_get");
        const person_t* p = v.mv_data;
        sum += p->name_len + (uint64_t)p->age;
    }
    report("get_by_pk", now() - t0, B.n);
    mdb_txn_abort(t);
    fprintf(stderr, "# get_by_pk checksum=%llu\n", (unsigned long long)sum);
}
static void w_scan_read(void)
{
    MDB_txn* t;
    MDB_cursor* c;
    MDB_val k, v;
    uint64_t sum = 0;
    size_t n = 0;
    double t0 = now();
    OK(mdb_txn_begin(env, NULL, MDB_RDONLY, &t));
    OK(mdb_cursor_open(t, dbi, &c));
    while (mdb_cursor_get(c, &k, &v, MDB_NEXT) == 0) {
        sum += (uint64_t)((const person_t*)v.mv_data)->age;
        n++;
    }
    mdb_cursor_close(c);
    mdb_txn_abort(t);
    report("scan_read", now() - t0, n);
    expect("scan_read", sum, sum_of_ages());
}
static void change_age(uint64_t id, int32_t age)
{
    MDB_txn* t;
    MDB_val k = {sizeof id, &id}, v;
    OK(mdb_txn_begin(env, NULL, 0, &t));
    OK(mdb_get(t, dbi, &k, &v));
    person_t p = *(const person_t*)v.mv_data;
    p.age = age;
    v.mv_data = &p;
    OK(mdb_put(t, dbi, &k, &v, 0));
    OK(mdb_txn_commit(t));
}
static void w_commit_small(void)
{
    const size_t ops = 1000;
    double t0 = now();
    B.fresh = false;
    for (size_t i = 0; i < ops; i++) {
        uint64_t id = rnd() % B.n;
        change_age(id, (int32_t)(rnd() % 100));
    }
    report("commit_small", now() - t0, ops);
}
/* LMDB reuses nothing that was freed after the oldest reader began: the file grows with every commit. */
static void w_pinned_reader(void)
{
    MDB_txn* reader;
    MDB_envinfo before, after;
    MDB_stat ms;
    OK(mdb_env_stat(env, &ms));
    OK(mdb_env_info(env, &before));
    OK(mdb_txn_begin(env, NULL, MDB_RDONLY, &reader));
    double t0 = now();
    B.fresh = false;
    for (size_t i = 0; i < pinned_commits(); i++)
        change_age(pinned_object(i), (int32_t)(i / PINNED_OBJECTS % 100));
    report("pinned_reader", now() - t0, pinned_commits());
    OK(mdb_env_info(env, &after));
    mdb_txn_abort(reader);
    report("pinned_growth_bytes", 0, (after.me_last_pgno - before.me_last_pgno) * ms.ms_psize);
}
static void w_delete_half(void)
{
    MDB_txn* t;
    size_t ops = 0;
    double t0 = now();
    B.fresh = false;
    OK(mdb_txn_begin(env, NULL, 0, &t));
    for (size_t i = 0; i < B.n; i += 2, ops++) {
        uint64_t id = i;
        MDB_val k = {sizeof id, &id};
        OK(mdb_del(t, dbi, &k, NULL));
    }
    OK(mdb_txn_commit(t));
    report("delete_half", now() - t0, ops);
}

static const workload_t workloads[] = {
    {"insert_bulk_random", w_insert_random, true}, {"insert_bulk_put", w_insert_put, true},
    {"insert_bulk", w_insert_append, true},        {"open_time", w_open_time, true},
    {"get_by_pk", w_get_by_pk, true},              {"scan_read", w_scan_read, true},
    {"commit_small", w_commit_small, true},        {"pinned_reader", w_pinned_reader, true},
    {"delete_half", w_delete_half, true},
};

static int usage(void)
{
    fprintf(stderr, "usage: bench_lmdb N all|NAME[,NAME...] FILE [--writemap] [--fresh]\n");
    return 2;
}
int main(int argc, char** argv)
{
    if (argc < 4 || (B.n = strtoull(argv[1], NULL, 10)) < 100)
        return usage();
    B.path = argv[3];
    for (int i = 4; i < argc; i++)
        if (!strcmp(argv[i], "--writemap"))
            g_flags |= MDB_WRITEMAP;
        else if (!strcmp(argv[i], "--fresh"))
            B.fresh = true;
        else
            return usage();
    fprintf(stderr, "# %s N=%zu writemap=%d path=%s\n", mdb_version(NULL, NULL, NULL), B.n, !!g_flags, B.path);
    if (list_has(argv[2], "all") || strstr(argv[2], "insert"))
        remove_files();
    if (setjmp(B.failed))
        return 1;
    open_env();
    if (!run_workloads(argv[2], workloads, sizeof workloads / sizeof *workloads, recover))
        return usage();
    report_file_size("file_at_end");
    mdb_env_close(env);
    report_peak_memory();
    return B.status;
}
