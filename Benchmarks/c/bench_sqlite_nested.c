/* bench_sqlite_nested.c - what bench_realm_nested.c does, in child tables: deleting rows that a list names, and a list of
 * dictionaries, each built, read and changed by statements of its own. */
#define _GNU_SOURCE
#include "bench_sqlite.h"

void w_delete_listed(void)
{
    const size_t n = listed_count();
    exec("CREATE TABLE line(id INTEGER PRIMARY KEY, number INT NOT NULL);"
         "CREATE TABLE paper_line(paper INT, position INT, line INT REFERENCES line(id),"
         " PRIMARY KEY(paper, position)) WITHOUT ROWID;"
         "CREATE INDEX paper_line_line ON paper_line(line);"
         "BEGIN IMMEDIATE");
    sqlite3_stmt *line = prep("INSERT INTO line VALUES(?,0)"), *entry = prep("INSERT INTO paper_line VALUES(0,?1,?1)");
    for (size_t i = 0; i < n; i++) {
        sqlite3_bind_int64(line, 1, (int64_t)i);
        step_done(line);
        sqlite3_bind_int64(entry, 1, (int64_t)i);
        step_done(entry);
    }
    sqlite3_finalize(line);
    sqlite3_finalize(entry);
    exec("COMMIT");
    double t0 = now();
    exec("BEGIN IMMEDIATE");
    line = prep("DELETE FROM line WHERE id=?");
    entry = prep("DELETE FROM paper_line WHERE line=?");
    for (size_t i = 0; i < n; i++) {
        sqlite3_bind_int64(entry, 1, (int64_t)shuffled(i, n));
        step_done(entry);
        sqlite3_bind_int64(line, 1, (int64_t)shuffled(i, n));
        step_done(line);
    }
    sqlite3_finalize(line);
    sqlite3_finalize(entry);
    sqlite3_stmt* s = prep("SELECT count(*) FROM paper_line");
    CK(sqlite3_step(s) == SQLITE_ROW);
    const size_t left = (size_t)sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    exec("COMMIT");
    report("delete_listed", now() - t0, n);
    expect("delete_listed", left, 0);
}

/* Adds up the counts of all dictionaries; with `changes` each one gets a new count. */
static int64_t visit(size_t n, bool changes)
{
    int64_t sum = 0;
    sqlite3_stmt *find = prep("SELECT value FROM entry WHERE item=(SELECT id FROM item WHERE paper=0 AND position=?)"
                              " AND key='count'"),
                 *change = prep("UPDATE entry SET value=?2 WHERE key='count' AND"
                                " item=(SELECT id FROM item WHERE paper=0 AND position=?1)");
    for (size_t i = 0; i < n; i++) {
        sqlite3_bind_int64(find, 1, (int64_t)i);
        CK(sqlite3_step(find) == SQLITE_ROW);
        const int64_t value = sqlite3_column_int64(find, 0);
        sqlite3_reset(find);
        sum += value;
        if (changes) {
            sqlite3_bind_int64(change, 1, (int64_t)i);
            sqlite3_bind_int64(change, 2, value + 1);
            step_done(change);
        }
    }
    sqlite3_finalize(find);
    sqlite3_finalize(change);
    return sum;
}

void w_nested(void)
{
    static const char* names[NESTED_ENTRIES] = {"count", "name", "place"};
    const size_t n = nested_count();
    char name[NAME_LEN + 1];
    exec("CREATE TABLE item(id INTEGER PRIMARY KEY, paper INT, position INT);"
         "CREATE INDEX item_place ON item(paper, position);"
         "CREATE TABLE entry(item INT REFERENCES item(id), key TEXT, value,"
         " PRIMARY KEY(item, key)) WITHOUT ROWID");
    double t0 = now();
    exec("BEGIN IMMEDIATE");
    sqlite3_stmt *item = prep("INSERT INTO item VALUES(?1,0,?1)"), *entry = prep("INSERT INTO entry VALUES(?,?,?)");
    for (size_t i = 0; i < n; i++) {
        sqlite3_bind_int64(item, 1, (int64_t)i);
        step_done(item);
        person_name(name, i);
        sqlite3_bind_int64(entry, 1, (int64_t)i);
        for (size_t k = 0; k < NESTED_ENTRIES; k++) {
            sqlite3_bind_text(entry, 2, names[k], -1, SQLITE_STATIC);
            if (k == 1)
                sqlite3_bind_text(entry, 3, name, NAME_LEN, SQLITE_STATIC);
            else
                sqlite3_bind_int64(entry, 3, k == 0 ? (int64_t)i : (int64_t)i % 100);
            step_done(entry);
        }
    }
    sqlite3_finalize(item);
    sqlite3_finalize(entry);
    exec("COMMIT");
    report("nested_build", now() - t0, n);
    t0 = now();
    const int64_t sum = visit(n, false);
    report("nested_read", now() - t0, n);
    expect("nested_read", (size_t)sum, n * (n - 1) / 2);
    t0 = now();
    exec("BEGIN IMMEDIATE");
    visit(n, true);
    exec("COMMIT");
    report("nested_change", now() - t0, n);
    expect("nested_change", (size_t)visit(n, false), n * (n - 1) / 2 + n);
}

/* What bench_realm_migrate.c does. */
void w_migrate(void)
{
    double t0 = now();
    exec("BEGIN IMMEDIATE;"
         "ALTER TABLE person ADD COLUMN level INT NOT NULL DEFAULT 7;"
         "ALTER TABLE person ADD COLUMN nick TEXT NOT NULL DEFAULT 'none';"
         "ALTER TABLE person ADD COLUMN rating REAL NOT NULL DEFAULT 0;"
         "ALTER TABLE person RENAME COLUMN name TO full_name;"
         "COMMIT");
    report("migrate_columns", now() - t0, 1);
    t0 = now();
    exec("UPDATE person SET level = age + 1");
    report("migrate_values", now() - t0, 1);
    t0 = now();
    exec("CREATE INDEX person_name ON person(full_name)");
    report("migrate_index", now() - t0, 1);
}
