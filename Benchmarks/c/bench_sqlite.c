/* bench_sqlite.c - the workloads of bench_realm on libsqlite3.
 *
 * usage: bench_sqlite N all|NAME[,NAME...] PATH [--journal wal|delete] [--fk] [--variants] [--fresh]
 *   --journal delete   rollback journal instead of WAL (synchronous=FULL either way)
 *   --fk               PRAGMA foreign_keys=ON (default off, as SQLite's own default)
 *   --variants         also time the extra forms (names with a dot, e.g. query_indexed.prepare)
 *   --fresh            PATH holds the data as insert_bulk left it: check counts
 *
 * Same data, same random sequence, same repetitions and the same checks of counts as bench_realm; output: see bench.h.
 *
 * Settings: WAL, synchronous=FULL (a commit is on disk when it returns), cache_size 64 MB, mmap_size 1 GiB,
 * temp_store=MEMORY, secure_delete=OFF (Debian builds with it on), page size 4096, wal_autocheckpoint at its default
 * of 1000 pages, so that the cost of checkpoints falls into the workloads that cause them. One connection, opened with
 * SQLITE_OPEN_NOMUTEX. Inserts, updates and point reads use one prepared statement; the counting queries, sorts and
 * aggregates are prepared anew at each repetition (some microseconds), as bench_realm parses its queries anew.
 * query_indexed uses one prepared statement; query_indexed.prepare is the form that bench_realm times.
 * Compiled with SQLITE_HAS_CODEC and linked with libsqlcipher it is bench_sqlcipher, whose file is encrypted.
 * Texts are in an FTS5 table with detail=none, which like our index keeps no positions; without FTS5 those rows fail.
 */
#define _GNU_SOURCE
#define BENCH_MAIN
#include "bench_sqlite.h"
#include <fcntl.h>

static const char* g_journal = "wal";
static bool g_fk;
sqlite3* db;

_Noreturn void die(const char* what) { bench_fail(true, what, db ? sqlite3_errmsg(db) : "no database"); }

static size_t report_file_size(const char* name)
{
    char line[64];
    size_t d = file_bytes(B.path, ""), w = file_bytes(B.path, "-wal"), s = file_bytes(B.path, "-shm");
    snprintf(line, sizeof line, "%s_bytes", name);
    report(line, 0, d); /* the database file itself; the WAL is left out, see the remark */
    fprintf(stderr, "# %s db=%zu wal=%zu shm=%zu total=%zu\n", name, d, w, s, d + w + s);
    return d + w;
}

/* ---------------------------------------------------------------- statements, open, close */

void exec(const char* sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        die(sql);
}
sqlite3_stmt* prep(const char* sql)
{
    sqlite3_stmt* s = NULL;
#if SQLITE_VERSION_NUMBER < 3020000
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
#else
    if (sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &s, NULL) != SQLITE_OK)
#endif
        die(sql);
    return s;
}
void step_done(sqlite3_stmt* s)
{
    if (sqlite3_step(s) != SQLITE_DONE)
        die("step");
    sqlite3_reset(s);
}
static sqlite3* open_connection(void)
{
    sqlite3* connection = NULL;
    OK(sqlite3_open_v2(B.path, &connection, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL));
#ifdef SQLITE_HAS_CODEC
    /* The key itself, not a password that a key is made of, which takes a tenth of a second on purpose; and
     * pages as large as those of the others, where SQLCipher 3 has 1,024 bytes. */
    OK(sqlite3_exec(connection,
                    "PRAGMA key = \"x'000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f'\";"
                    "PRAGMA cipher_page_size = 4096",
                    NULL, NULL, NULL));
#endif
    return connection;
}
static void open_db(void)
{
    char sql[128];
    db = open_connection();
    snprintf(sql, sizeof sql, "PRAGMA journal_mode=%s", g_journal);
    exec(sql);
    exec("PRAGMA synchronous=FULL; PRAGMA cache_size=-65536; PRAGMA mmap_size=1073741824; PRAGMA temp_store=MEMORY;"
         "PRAGMA secure_delete=OFF"); /* Debian's build has it on */
    if (g_fk)
        exec("PRAGMA foreign_keys=ON");
    exec("CREATE TABLE IF NOT EXISTS dept(id INTEGER PRIMARY KEY, name TEXT NOT NULL);"
         "CREATE TABLE IF NOT EXISTS person(id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INT NOT NULL,"
         " score REAL NOT NULL, birth INT NOT NULL, active INT NOT NULL, dept INT REFERENCES dept(id));"
         "CREATE INDEX IF NOT EXISTS person_dept ON person(dept);"
         "CREATE TABLE IF NOT EXISTS event(ts INT NOT NULL, kind INT NOT NULL, payload TEXT NOT NULL);"
         "CREATE TABLE IF NOT EXISTS personidx(id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INT NOT NULL);"
         "CREATE INDEX IF NOT EXISTS personidx_name ON personidx(name);"
         "CREATE TABLE IF NOT EXISTS coded(code TEXT NOT NULL PRIMARY KEY, name TEXT NOT NULL, age INT NOT NULL);"
         "CREATE TABLE IF NOT EXISTS shuffled(id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INT NOT NULL)");
}
static void close_db(void)
{
    OK(sqlite3_close(db));
    db = NULL;
}
static void recover(void)
{
    sqlite3_stmt* s;
    while (db && (s = sqlite3_next_stmt(db, NULL)) != NULL)
        sqlite3_finalize(s);
    if (db && !sqlite3_get_autocommit(db))
        sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
}

/* ---------------------------------------------------------------- bulk insert */

static void w_insert_bulk(void)
{
    char name[32];
    double t0 = now();
    exec("BEGIN IMMEDIATE");
    sqlite3_stmt* s = prep("INSERT INTO dept VALUES(?,?)");
    for (int d = 0; d < NUM_DEPTS; d++) {
        int n = snprintf(name, sizeof name, "dept-%d", d);
        sqlite3_bind_int64(s, 1, d);
        sqlite3_bind_text(s, 2, name, n, SQLITE_STATIC);
        step_done(s);
    }
    sqlite3_finalize(s);
    s = prep("INSERT INTO person VALUES(?,?,?,?,?,?,?)");
    for (size_t i = 0; i < B.n; i++) {
        person_name(name, i);
        sqlite3_bind_int64(s, 1, (int64_t)i);
        sqlite3_bind_text(s, 2, name, NAME_LEN, SQLITE_STATIC);
        sqlite3_bind_int64(s, 3, person_age(i));
        sqlite3_bind_double(s, 4, person_score(i));
        sqlite3_bind_int64(s, 5, person_birth(i));
        sqlite3_bind_int(s, 6, person_active(i));
        sqlite3_bind_int64(s, 7, (int64_t)(i % NUM_DEPTS));
        step_done(s);
    }
    sqlite3_finalize(s);
    double t1 = now();
    exec("COMMIT");
    double t2 = now();
    report("insert_bulk", t2 - t0, B.n);
    fprintf(stderr, "# insert_bulk of which commit (with the automatic checkpoint)=%.3f s\n", t2 - t1);
    if (file_bytes(B.path, "") < file_bytes(B.path, "-wal")) /* a small N, which no automatic checkpoint moved */
        exec("PRAGMA wal_checkpoint(PASSIVE)");
    report_file_size("file_after_insert");
    B.fresh = true;
}
static void w_insert_bulk_nopk(void)
{
    char payload[CODE_LEN];
    double t0 = now();
    exec("BEGIN IMMEDIATE");
    sqlite3_stmt* s = prep("INSERT INTO event VALUES(?,?,?)");
    for (size_t i = 0; i < B.n; i++) {
        hex_code(payload, i);
        sqlite3_bind_int64(s, 1, person_birth(i));
        sqlite3_bind_int64(s, 2, (int64_t)(i % 8));
        sqlite3_bind_text(s, 3, payload, CODE_LEN, SQLITE_STATIC);
        step_done(s);
    }
    sqlite3_finalize(s);
    exec("COMMIT");
    report("insert_bulk_nopk", now() - t0, B.n);
}
/* id, name, age into `table`, in ascending or scattered order of ids */
static void insert_names(const char* label, const char* sql, bool scatter)
{
    char name[32];
    double t0 = now();
    exec("BEGIN IMMEDIATE");
    sqlite3_stmt* s = prep(sql);
    for (size_t j = 0; j < B.n; j++) {
        size_t i = scatter ? scattered(j) : j;
        person_name(name, i);
        sqlite3_bind_int64(s, 1, (int64_t)i);
        sqlite3_bind_text(s, 2, name, NAME_LEN, SQLITE_STATIC);
        sqlite3_bind_int64(s, 3, person_age(i));
        step_done(s);
    }
    sqlite3_finalize(s);
    exec("COMMIT");
    report(label, now() - t0, B.n);
}
static void w_insert_bulk_text(void)
{
    char text[NOTE_MAX];
    exec("CREATE VIRTUAL TABLE IF NOT EXISTS note USING fts5(text, detail=none)");
    double t0 = now();
    exec("BEGIN IMMEDIATE");
    sqlite3_stmt* s = prep("INSERT INTO note VALUES(?)");
    for (size_t i = 0; i < B.n; i++) {
        sqlite3_bind_text(s, 1, text, (int)note_text(text, i), SQLITE_STATIC);
        step_done(s);
    }
    sqlite3_finalize(s);
    exec("COMMIT");
    report("insert_bulk_text", now() - t0, B.n);
}
static void w_insert_bulk_idx(void) { insert_names("insert_bulk_idx", "INSERT INTO personidx VALUES(?,?,?)", false); }
static void w_insert_bulk_random(void)
{
    insert_names("insert_bulk_random", "INSERT INTO shuffled VALUES(?,?,?)", true);
}
static void w_insert_bulk_strpk(void)
{
    char name[32], code[CODE_LEN];
    double t0 = now();
    exec("BEGIN IMMEDIATE");
    sqlite3_stmt* s = prep("INSERT INTO coded VALUES(?,?,?)");
    for (size_t i = 0; i < B.n; i++) {
        hex_code(code, i);
        person_name(name, i);
        sqlite3_bind_text(s, 1, code, CODE_LEN, SQLITE_STATIC);
        sqlite3_bind_text(s, 2, name, NAME_LEN, SQLITE_STATIC);
        sqlite3_bind_int64(s, 3, person_age(i));
        step_done(s);
    }
    sqlite3_finalize(s);
    exec("COMMIT");
    report("insert_bulk_strpk", now() - t0, B.n);
}

/* ---------------------------------------------------------------- small commits, point reads */

static void w_commit_small(void)
{
    const size_t ops = 1000;
    sqlite3_stmt *b = prep("BEGIN IMMEDIATE"), *u = prep("UPDATE person SET age=? WHERE id=?"), *c = prep("COMMIT");
    double t0 = now();
    B.fresh = false;
    for (size_t i = 0; i < ops; i++) {
        step_done(b);
        sqlite3_bind_int64(u, 2, (int64_t)(rnd() % B.n));
        sqlite3_bind_int64(u, 1, (int64_t)(rnd() % 100));
        step_done(u);
        CK(sqlite3_changes(db) == 1);
        step_done(c);
    }
    report("commit_small", now() - t0, ops);
    sqlite3_finalize(b);
    sqlite3_finalize(u);
    sqlite3_finalize(c);
}
/* A new event, or the age of one of a hundred persons that lie together; as bench_realm_async.c does. */
static void w_commit_insert(void)
{
    const size_t ops = 1000;
    char payload[CODE_LEN];
    sqlite3_stmt *b = prep("BEGIN IMMEDIATE"), *c = prep("COMMIT");
    sqlite3_stmt *s = prep("INSERT INTO event VALUES(?,?,?)"), *u = prep("UPDATE person SET age=? WHERE id=?");
    double t0 = now();
    B.fresh = false;
    for (size_t i = 0; i < ops; i++) {
        size_t number = rnd() % B.n;
        step_done(b);
        hex_code(payload, number);
        sqlite3_bind_int64(s, 1, (int64_t)number);
        sqlite3_bind_int64(s, 2, 0);
        sqlite3_bind_text(s, 3, payload, CODE_LEN, SQLITE_STATIC);
        step_done(s);
        step_done(c);
    }
    report("commit_insert", now() - t0, ops);
    exec("DELETE FROM event");
    t0 = now();
    for (size_t i = 0; i < ops; i++) {
        step_done(b);
        sqlite3_bind_int64(u, 2, (int64_t)(B.n / 16 + rnd() % 100));
        sqlite3_bind_int64(u, 1, (int64_t)(rnd() % 100));
        step_done(u);
        CK(sqlite3_changes(db) == 1);
        step_done(c);
    }
    report("commit_near", now() - t0, ops);
    sqlite3_finalize(b);
    sqlite3_finalize(c);
    sqlite3_finalize(s);
    sqlite3_finalize(u);
}
/* The age of half the persons in one transaction; as bench_realm_update.c chooses them. */
static void update(const char* name, size_t step)
{
    size_t ops = B.n / 2, id = 0;
    double t0 = now();
    exec("BEGIN IMMEDIATE");
    sqlite3_stmt* u = prep("UPDATE person SET age=? WHERE id=?");
    for (size_t i = 0; i < ops; i++) {
        sqlite3_bind_int64(u, 1, (int64_t)(i % 100));
        sqlite3_bind_int64(u, 2, (int64_t)id);
        step_done(u);
        id += step;
        id %= B.n;
    }
    sqlite3_finalize(u);
    exec("COMMIT");
    report(name, now() - t0, ops);
    B.fresh = false;
}
static void w_update(void)
{
    update("update", 1);
    update("update_unordered", UNORDERED_STEP);
}
/* SQLite cannot move the WAL's content into the database past the pinned reader's mark: the WAL grows instead. */
static void w_pinned_reader(void)
{
    exec("PRAGMA wal_checkpoint(TRUNCATE)");
    size_t before = file_bytes(B.path, "") + file_bytes(B.path, "-wal");
    sqlite3* reader = open_connection();
    OK(sqlite3_exec(reader, "BEGIN; SELECT count(*) FROM dept", NULL, NULL, NULL));
    sqlite3_stmt *b = prep("BEGIN IMMEDIATE"), *u = prep("UPDATE person SET age=? WHERE id=?"), *c = prep("COMMIT");
    double t0 = now();
    B.fresh = false;
    for (size_t i = 0; i < pinned_commits(); i++) {
        step_done(b);
        sqlite3_bind_int64(u, 2, (int64_t)pinned_object(i));
        sqlite3_bind_int64(u, 1, (int64_t)(i / PINNED_OBJECTS % 100));
        step_done(u);
        step_done(c);
    }
    report("pinned_reader", now() - t0, pinned_commits());
    size_t after = file_bytes(B.path, "") + file_bytes(B.path, "-wal");
    report("pinned_growth_bytes", 0, after > before ? after - before : 0);
    sqlite3_finalize(b);
    sqlite3_finalize(u);
    sqlite3_finalize(c);
    OK(sqlite3_exec(reader, "COMMIT", NULL, NULL, NULL));
    OK(sqlite3_close(reader));
    exec("PRAGMA wal_checkpoint(TRUNCATE)");
}
/* ---------------------------------------------------------------- delete, open, compact */

static void w_delete_half(void)
{
    size_t ops = 0;
    double t0 = now();
    B.fresh = false;
    exec("BEGIN IMMEDIATE");
    sqlite3_stmt* s = prep("DELETE FROM person WHERE id=?");
    for (size_t i = 0; i < B.n; i += 2, ops++) {
        sqlite3_bind_int64(s, 1, (int64_t)i);
        step_done(s);
    }
    sqlite3_finalize(s);
    exec("COMMIT");
    report("delete_half", now() - t0, ops);
    s = prep("SELECT count(*) FROM person");
    CK(sqlite3_step(s) == SQLITE_ROW);
    CK((size_t)sqlite3_column_int64(s, 0) == B.n - ops);
    sqlite3_finalize(s);
}
static void w_open_time(void)
{
    const size_t reps = 20;
    double t0 = now();
    close_db(); /* after a bulk insert: last checkpoint and removal of a WAL as large as the data; once, so apart */
    report("close_after_bulk", now() - t0, 1);
    open_db();
    t0 = now();
    for (size_t i = 0; i < reps; i++) {
        close_db();
        open_db(); /* with the pragmas and the CREATE ... IF NOT EXISTS statements: realm checks its schema here too */
        sqlite3_stmt* s = prep("SELECT name FROM person LIMIT 1");
        CK(sqlite3_step(s) == SQLITE_ROW && sqlite3_column_bytes(s, 0) == NAME_LEN);
        sqlite3_finalize(s);
    }
    report("open_time", now() - t0, reps);
}
/* a compacted copy by VACUUM INTO, then fsync; the database stays as it was written */
static void w_compact(void)
{
    char sql[4300], copy[4200];
    snprintf(copy, sizeof copy, "%s.compact", B.path);
    unlink(copy);
    snprintf(sql, sizeof sql, "VACUUM INTO '%s'", copy);
    double t0 = now();
    exec(sql);
    int fd = open(copy, O_RDWR);
    CK(fd >= 0 && fsync(fd) == 0);
    close(fd);
    report("compact", now() - t0, 1);
    report("file_after_compact_bytes", 0, file_bytes(copy, ""));
    unlink(copy);
}

/* reads first, then what changes the data */
static const workload_t workloads[] = {
    {"insert_bulk", w_insert_bulk, true},
    {"compact", w_compact, true},
    {"open_time", w_open_time, true},
    {"get_by_pk", w_get_by_pk, true},
    {"query_int_range", w_query_int_range, true},
    {"query_string_eq", w_query_string_eq, true},
    {"cold_scan", w_cold_scan, false},
    {"warm_up", w_warm_up, false},
    {"query_contains", w_query_contains, true},
    {"query_contains_c", w_query_contains_c, true},
    {"query_prefix", w_query_prefix, true},
    {"query_link", w_query_link, true},
    {"query_first", w_query_first, true},
    {"sort_int_string", w_sort_int_string, true},
    {"sort_full", w_sort_full, true},
    {"aggregate", w_aggregate, true},
    {"group_by", w_group_by, true},
    {"scan_read", w_scan_read, true},
    {"link_traverse", w_link_traverse, true},
    {"backlinks", w_backlinks, true},
    {"insert_bulk_lists", w_insert_bulk_lists, true},
    {"team_queries", w_team_queries, true},
    {"sort_indexed", w_sort_indexed, true},
    {"commit_small", w_commit_small, true},
    {"commit_insert", w_commit_insert, true},
    {"notify", w_notify, true},
    {"versions", w_versions, true},
    {"insert_bulk_nopk", w_insert_bulk_nopk, true},
    {"insert_bulk_idx", w_insert_bulk_idx, true},
    {"query_indexed", w_query_indexed, true},
    {"query_prefix_indexed", w_query_prefix_indexed, true},
    {"insert_bulk_text", w_insert_bulk_text, true},
    {"text", w_text, true},
    {"insert_bulk_strpk", w_insert_bulk_strpk, true},
    {"get_by_strpk", w_get_by_strpk, true},
    {"insert_bulk_random", w_insert_bulk_random, true},
    {"pinned_reader", w_pinned_reader, true},
    {"delete_listed", w_delete_listed, true},
    {"nested", w_nested, true},
    {"update", w_update, true},
    {"delete_half", w_delete_half, true},
    {"migrate", w_migrate, false},
};

static int usage(void)
{
    fprintf(stderr, "usage: bench_sqlite N all|NAME[,NAME...] PATH [--journal wal|delete] [--fk] [--variants] "
                    "[--fresh]\n");
    return 2;
}
int main(int argc, char** argv)
{
    if (argc < 4)
        return usage();
    B.n = strtoull(argv[1], NULL, 10);
    B.path = argv[3];
    if (B.n < 100)
        return usage();
    for (int i = 4; i < argc; i++)
        if (!strcmp(argv[i], "--journal") && i + 1 < argc)
            g_journal = argv[++i];
        else if (!strcmp(argv[i], "--fk"))
            g_fk = true;
        else if (!strcmp(argv[i], "--variants"))
            B.variants = true;
        else if (!strcmp(argv[i], "--fresh"))
            B.fresh = true;
        else
            return usage();
    if (list_has(argv[2], "cold_scan"))
        drop_from_memory(B.path);
    if (list_has(argv[2], "all") || list_has(argv[2], "insert_bulk")) {
        static const char* const suffixes[] = {"", "-wal", "-shm", "-journal"};
        char p[4200];
        for (int i = 0; i < 4; i++) {
            snprintf(p, sizeof p, "%s%s", B.path, suffixes[i]);
            unlink(p);
        }
    }
    fprintf(stderr, "# sqlite %s N=%zu journal=%s fk=%d path=%s\n", sqlite3_libversion(), B.n, g_journal, g_fk, B.path);
    if (setjmp(B.failed))
        return 1;
    open_db();
    if (!run_workloads(argv[2], workloads, sizeof workloads / sizeof *workloads, recover))
        return usage();
    if (setjmp(B.failed))
        return 1;
    report_file_size("file_before_close");
    double t0 = now();
    close_db();
    report("close", now() - t0, 1);
    report_file_size("file_at_end");
    report_peak_memory();
    return B.status;
}
