/* bench_collections_sqlite.c - what bench_collections measures, on libsqlite3: child tables.
 *
 * usage: bench_collections_sqlite PATH [N]
 *
 *   PATH  a file to be made, which must not exist
 *   N     elements of the long list (default 1,000,000); the other sizes follow from it
 *
 * A list is a table (owner, position, value), a set (owner, value), a dictionary (owner, key, value), each with that primary
 * key and WITHOUT ROWID, so that it is one tree. Links have an index on the target, as backlinks need it; plain links too.
 * Rows have the names of bench_collections; those without a counterpart in SQL (insertions in the middle, which move all
 * later positions) are left out. Same settings as bench_sqlite: WAL, synchronous=FULL, prepared statements.
 */
#define _GNU_SOURCE
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static sqlite3* db;

static _Noreturn void die(const char* what)
{
    fprintf(stderr, "FAILED: %s: %s\n", what, db ? sqlite3_errmsg(db) : "no database");
    exit(1);
}
static clockid_t g_clock = CLOCK_MONOTONIC;
static double now(void)
{
    struct timespec t;
    clock_gettime(g_clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
static void report(const char* name, double start, size_t operations)
{
    printf("%-26s %9.1f ns  %zu\n", name, (now() - start) * 1e9 / (double)operations, operations);
    fflush(stdout);
}
static uint64_t g_state = 1;
static uint64_t next_random(void)
{
    g_state = g_state * 6364136223846793005u + 1442695040888963407u;
    return g_state >> 33;
}
static void exec(const char* sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        die(sql);
}
static sqlite3_stmt* prepare(const char* sql)
{
    sqlite3_stmt* statement = NULL;
    if (sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) != SQLITE_OK)
        die(sql);
    return statement;
}
static void run(sqlite3_stmt* statement)
{
    if (sqlite3_step(statement) != SQLITE_DONE)
        die("step");
    sqlite3_reset(statement);
}
static int64_t read_int(sqlite3_stmt* statement)
{
    if (sqlite3_step(statement) != SQLITE_ROW)
        die("nothing found");
    int64_t value = sqlite3_column_int64(statement, 0);
    sqlite3_reset(statement);
    return value;
}

static void long_list(size_t n)
{
    sqlite3_stmt* insert = prepare("INSERT INTO ints VALUES (1, ?, ?)");
    sqlite3_stmt* get = prepare("SELECT value FROM ints WHERE owner = 1 AND position = ?");
    exec("BEGIN IMMEDIATE");
    double start = now();
    for (size_t i = 0; i < n; i++) {
        sqlite3_bind_int64(insert, 1, (int64_t)i);
        sqlite3_bind_int64(insert, 2, (int64_t)i);
        run(insert);
    }
    report("list_append", start, n);
    exec("COMMIT");
    uint64_t sum = 0;
    exec("BEGIN");
    start = now();
    for (size_t i = 0; i < n; i++) {
        sqlite3_bind_int64(get, 1, (int64_t)i);
        sum += (uint64_t)read_int(get);
    }
    report("list_get", start, n);
    start = now();
    for (size_t i = 0; i < n; i++) {
        sqlite3_bind_int64(get, 1, (int64_t)(next_random() % n));
        sum += (uint64_t)read_int(get);
    }
    report("list_get_random", start, n);
    exec("COMMIT");
    if (sum == 1)
        die("the sum");
    sqlite3_finalize(insert);
    sqlite3_finalize(get);
}

static void ordered(size_t n)
{
    char word[32];
    sqlite3_stmt* number = prepare("INSERT OR IGNORE INTO numbers VALUES (1, ?)");
    sqlite3_stmt* text = prepare("INSERT OR IGNORE INTO words VALUES (1, ?)");
    sqlite3_stmt* entry = prepare("INSERT OR REPLACE INTO scores VALUES (1, ?, ?)");
    sqlite3_stmt* find = prepare("SELECT value FROM scores WHERE owner = 1 AND key = ?");
    exec("BEGIN IMMEDIATE");
    double start = now();
    for (size_t i = 0; i < n; i++) {
        sqlite3_bind_int64(number, 1, (int64_t)next_random());
        run(number);
    }
    report("set_insert", start, n);
    start = now();
    for (size_t i = 0; i < n; i++) {
        int length = snprintf(word, sizeof word, "word-%llx", (unsigned long long)next_random());
        sqlite3_bind_text(text, 1, word, length, SQLITE_STATIC);
        run(text);
    }
    report("set_insert_text", start, n);
    uint64_t state = g_state;
    start = now();
    for (size_t i = 0; i < n; i++) {
        int length = snprintf(word, sizeof word, "key-%llx", (unsigned long long)next_random());
        sqlite3_bind_text(entry, 1, word, length, SQLITE_STATIC);
        sqlite3_bind_int64(entry, 2, (int64_t)i);
        run(entry);
    }
    report("dictionary_insert", start, n);
    exec("COMMIT");
    g_state = state;
    exec("BEGIN");
    start = now();
    for (size_t i = 0; i < n; i++) {
        int length = snprintf(word, sizeof word, "key-%llx", (unsigned long long)next_random());
        sqlite3_bind_text(find, 1, word, length, SQLITE_STATIC);
        read_int(find);
    }
    report("dictionary_find", start, n);
    exec("COMMIT");
    sqlite3_finalize(number);
    sqlite3_finalize(text);
    sqlite3_finalize(entry);
    sqlite3_finalize(find);
}

static void bind(sqlite3_stmt* statement, int place, bool is_link, size_t i, size_t k, const char* word, int length)
{
    if (is_link)
        sqlite3_bind_int64(statement, place, (int64_t)((i + k) % 1000));
    else
        sqlite3_bind_text(statement, place, word, length, SQLITE_STATIC);
}

static void creating(size_t n)
{
    char word[32];
    for (int links = 0; links < 2; links++) {
        sqlite3_stmt* plain = prepare(links ? "INSERT INTO linked VALUES (?, ?, ?, ?)" : "INSERT INTO plain VALUES (?, ?, ?, ?)");
        exec("BEGIN IMMEDIATE");
        double start = now();
        for (size_t i = 0; i < n; i++) {
            int length = links ? 0 : snprintf(word, sizeof word, "value-%zu", i);
            sqlite3_bind_int64(plain, 1, (int64_t)i);
            for (size_t k = 0; k < 3; k++)
                bind(plain, (int)k + 2, links, i, k, word, length);
            run(plain);
        }
        exec("COMMIT");
        report(links ? "plain_links" : "plain_texts", start, n);
        sqlite3_finalize(plain);

        sqlite3_stmt* owner = prepare(links ? "INSERT INTO link_owners VALUES (?)" : "INSERT INTO text_owners VALUES (?)");
        sqlite3_stmt* element = prepare(links ? "INSERT INTO links VALUES (?, ?, ?)" : "INSERT INTO texts VALUES (?, ?, ?)");
        exec("BEGIN IMMEDIATE");
        start = now();
        for (size_t i = 0; i < n; i++) {
            int length = links ? 0 : snprintf(word, sizeof word, "value-%zu", i);
            sqlite3_bind_int64(owner, 1, (int64_t)i);
            run(owner);
            for (size_t k = 0; k < 3; k++) {
                sqlite3_bind_int64(element, 1, (int64_t)i);
                sqlite3_bind_int64(element, 2, (int64_t)k);
                bind(element, 3, links, i, k, word, length);
                run(element);
            }
        }
        exec("COMMIT");
        report(links ? "create_list_of_links" : "create_list_of_texts", start, n);
        sqlite3_finalize(owner);
        sqlite3_finalize(element);
    }
}

int main(int argc, char** argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: bench_collections_sqlite PATH [N]\n");
        return 2;
    }
    const char* clock = getenv("BENCH_CLOCK");
    if (clock && !strcmp(clock, "cpu"))
        g_clock = CLOCK_PROCESS_CPUTIME_ID;
    size_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000000;
    if (sqlite3_open_v2(argv[1], &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        die("open");
    exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-64000; PRAGMA mmap_size=1073741824;"
         "PRAGMA temp_store=MEMORY; PRAGMA secure_delete=OFF");
    exec("CREATE TABLE ints(owner INTEGER, position INTEGER, value INTEGER, PRIMARY KEY(owner, position)) WITHOUT ROWID;"
         "CREATE TABLE numbers(owner INTEGER, value INTEGER, PRIMARY KEY(owner, value)) WITHOUT ROWID;"
         "CREATE TABLE words(owner INTEGER, value TEXT, PRIMARY KEY(owner, value)) WITHOUT ROWID;"
         "CREATE TABLE scores(owner INTEGER, key TEXT, value INTEGER, PRIMARY KEY(owner, key)) WITHOUT ROWID;"
         "CREATE TABLE plain(id INTEGER PRIMARY KEY, a TEXT, b TEXT, c TEXT);"
         "CREATE TABLE linked(id INTEGER PRIMARY KEY, a INTEGER, b INTEGER, c INTEGER);"
         "CREATE INDEX linked_a ON linked(a); CREATE INDEX linked_b ON linked(b); CREATE INDEX linked_c ON linked(c);"
         "CREATE TABLE text_owners(id INTEGER PRIMARY KEY); CREATE TABLE link_owners(id INTEGER PRIMARY KEY);"
         "CREATE TABLE texts(owner INTEGER, position INTEGER, value TEXT, PRIMARY KEY(owner, position)) WITHOUT ROWID;"
         "CREATE TABLE links(owner INTEGER, position INTEGER, target INTEGER, PRIMARY KEY(owner, position)) WITHOUT ROWID;"
         "CREATE INDEX links_target ON links(target);");
    long_list(n);
    ordered(n / 10);
    creating(n / 5);
    sqlite3_close(db);
    return 0;
}
