/* bench_sqlite_notify.c - what SQLite offers for notifications: the update hook says which rows of a table a statement
 * changed; what the results of a query are afterwards, and where in them those rows stand, is known when the query has
 * been run again. And what a look at whether anything changed costs, and holding on to a version.
 */
#define _GNU_SOURCE
#include "bench_sqlite.h"

enum { NOTIFY_COMMITS = 10, NOTIFY_OBJECTS = 10 };

static size_t g_hooked;

static void on_update(void* ud, int operation, const char* database, const char* table, sqlite3_int64 row)
{
    (void)ud, (void)operation, (void)database, (void)table, (void)row;
    g_hooked++;
}

/* Reads the rows of the results in their order; returns how many. */
static size_t run_query(sqlite3_stmt* query, int64_t* rows)
{
    size_t n = 0;
    int code;
    while ((code = sqlite3_step(query)) == SQLITE_ROW)
        rows[n++] = sqlite3_column_int64(query, 0);
    CK(code == SQLITE_DONE);
    sqlite3_reset(query);
    return n;
}

static void notify(const char* name, const char* text, size_t n)
{
    sqlite3_stmt *query = prep(text), *change = prep("UPDATE person SET age=? WHERE id=?");
    int64_t* rows = malloc(B.n * sizeof *rows);
    double from_begin = 0, from_end = 0;
    char after_name[64];
    CK(rows && run_query(query, rows) > 0);
    sqlite3_update_hook(db, on_update, NULL);
    for (int i = 0; i < NOTIFY_COMMITS; i++) {
        exec("BEGIN IMMEDIATE");
        g_hooked = 0;
        for (int k = 0; k < NOTIFY_OBJECTS; k++) {
            sqlite3_bind_int64(change, 1, (int64_t)(rnd() % 100));
            sqlite3_bind_int64(change, 2, (int64_t)(rnd() % n));
            step_done(change);
        }
        double before = now();
        exec("COMMIT");
        double after = now();
        CK(g_hooked == NOTIFY_OBJECTS && run_query(query, rows) > 0);
        double end = now();
        from_begin += end - before;
        from_end += end - after;
    }
    sqlite3_update_hook(db, NULL, NULL);
    snprintf(after_name, sizeof after_name, "%s_after_commit", name);
    report(name, from_begin, NOTIFY_COMMITS);
    report(after_name, from_end, NOTIFY_COMMITS);
    sqlite3_finalize(query);
    sqlite3_finalize(change);
    free(rows);
    B.fresh = false;
}

void w_notify(void)
{
    notify("notify", "SELECT id FROM person WHERE age < 50 ORDER BY name", B.n);
    notify("notify_few", "SELECT id FROM person WHERE age < 50 AND id < 2000 ORDER BY name", B.n < 2000 ? B.n : 2000);
}

void w_versions(void)
{
    const size_t ops = 100000;
    sqlite3_stmt *look = prep("PRAGMA data_version"), *begin = prep("BEGIN"), *end = prep("COMMIT"),
                 *read = prep("SELECT id FROM person LIMIT 1");
    double t0 = now();
    for (size_t i = 0; i < ops; i++) {
        CK(sqlite3_step(look) == SQLITE_ROW);
        sqlite3_reset(look);
    }
    report("refresh", now() - t0, ops);
    t0 = now();
    for (size_t i = 0; i < ops; i++) {
        step_done(begin);
        CK(sqlite3_step(read) == SQLITE_ROW);
        sqlite3_reset(read);
        step_done(end);
    }
    report("freeze", now() - t0, ops);
    sqlite3_finalize(look);
    sqlite3_finalize(begin);
    sqlite3_finalize(end);
    sqlite3_finalize(read);
}
