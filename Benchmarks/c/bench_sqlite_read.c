/* bench_sqlite_read.c - the workloads of bench_sqlite that read, and the lists that are read: see bench_sqlite.c.
 */
#define _GNU_SOURCE
#include "bench_sqlite.h"

static void get_by_pk(const char* label)
{
    uint64_t sum = 0;
    sqlite3_stmt* s = prep("SELECT name, age FROM person WHERE id=?");
    double t0 = now();
    for (size_t i = 0; i < B.n; i++) {
        sqlite3_bind_int64(s, 1, (int64_t)(rnd() % B.n));
        if (sqlite3_step(s) != SQLITE_ROW || !sqlite3_column_text(s, 0))
            die("get_by_pk");
        sum += (uint64_t)sqlite3_column_bytes(s, 0) + (uint64_t)sqlite3_column_int64(s, 1);
        sqlite3_reset(s);
    }
    report(label, now() - t0, B.n);
    sqlite3_finalize(s);
    fprintf(stderr, "# %s checksum=%llu\n", label, (unsigned long long)sum);
}
void w_get_by_pk(void)
{
    uint64_t keep = B.rng;
    exec("BEGIN"); /* realm reads within one read transaction too */
    get_by_pk("get_by_pk");
    exec("COMMIT");
    if (B.variants) {
        B.rng = keep;
        get_by_pk("get_by_pk.autocommit");
    }
}
void w_get_by_strpk(void)
{
    char code[CODE_LEN];
    uint64_t sum = 0;
    exec("BEGIN");
    sqlite3_stmt* s = prep("SELECT age FROM coded WHERE code=?");
    double t0 = now();
    for (size_t i = 0; i < B.n; i++) {
        hex_code(code, rnd() % B.n);
        sqlite3_bind_text(s, 1, code, CODE_LEN, SQLITE_STATIC);
        if (sqlite3_step(s) != SQLITE_ROW)
            die("get_by_strpk");
        sum += (uint64_t)sqlite3_column_int64(s, 0);
        sqlite3_reset(s);
    }
    report("get_by_strpk", now() - t0, B.n);
    sqlite3_finalize(s);
    exec("COMMIT");
    fprintf(stderr, "# get_by_strpk checksum=%llu\n", (unsigned long long)sum);
}

/* ---------------------------------------------------------------- queries */

static size_t time_query(const char* name, const char* sql, size_t reps)
{
    size_t n = 0;
    double t0 = now();
    for (size_t r = 0; r < reps; r++) { /* prepared anew each time, as bench_realm parses anew */
        sqlite3_stmt* s = prep(sql);
        if (sqlite3_step(s) != SQLITE_ROW)
            die(sql);
        n = (size_t)sqlite3_column_int64(s, 0);
        sqlite3_finalize(s);
    }
    report(name, now() - t0, reps);
    return n;
}
void w_query_int_range(void)
{
    expect("query_int_range",
           time_query("query_int_range", "SELECT count(*) FROM person WHERE age >= 30 AND age < 40", 20),
           count_ages(30, 40));
}
void w_query_string_eq(void)
{
    char q[128], name[32];
    person_name(name, target_id());
    snprintf(q, sizeof q, "SELECT count(*) FROM person WHERE name = '%s'", name);
    expect("query_string_eq", time_query("query_string_eq", q, 20), 1);
}
/* The first query of its process: run as a program of its own, whose file is not in memory (main). */
void w_cold_scan(void)
{
    char q[128], name[32];
    person_name(name, target_id());
    snprintf(q, sizeof q, "SELECT count(*) FROM person WHERE name = '%s'", name);
    expect("cold_scan", time_query("cold_scan", q, 1), 1);
}
/* Reads all objects once, so that what follows finds them in the cache. */
void w_warm_up(void)
{
    expect("warm_up", time_query("warm_up", "SELECT count(*) FROM person WHERE score < 0", 1), 0);
}
void w_query_contains(void)
{
    size_t want = count_names("777");
    expect("query_contains",
           time_query("query_contains", "SELECT count(*) FROM person WHERE instr(name, '777') > 0", 10), want);
    if (B.variants)
        expect("query_contains.like",
               time_query("query_contains.like", "SELECT count(*) FROM person WHERE name LIKE '%777%'", 10), want);
}
void w_query_contains_c(void)
{
    expect("query_contains_c",
           time_query("query_contains_c", "SELECT count(*) FROM person WHERE name LIKE '%PERSON-07%'", 5),
           count_names("person-07"));
}
void w_query_prefix(void)
{
    expect("query_prefix",
           time_query("query_prefix", "SELECT count(*) FROM person WHERE name >= 'person-' AND name < 'person.'", 10), B.n);
}
void w_query_link(void)
{
    size_t want = B.n / 100 + (B.n % 100 > 42);
    expect("query_link",
           time_query("query_link",
                      "SELECT count(*) FROM person p JOIN dept d ON d.id = p.dept WHERE d.name = 'dept-42'", 10),
           want);
    if (B.variants) /* without the help of the index on dept: the person scanned, the dept looked up */
        expect("query_link.noindex",
               time_query("query_link.noindex",
                          "SELECT count(*) FROM person p NOT INDEXED CROSS JOIN dept d ON d.id = p.dept"
                          " WHERE d.name = 'dept-42'", 10),
               want);
}
void w_query_indexed(void)
{
    char name[32], q[128];
    const size_t reps = 1000;
    sqlite3_stmt* s = prep("SELECT count(*) FROM personidx WHERE name = ?");
    uint64_t keep = B.rng;
    double t0 = now();
    for (size_t r = 0; r < reps; r++) {
        person_name(name, rnd() % B.n);
        sqlite3_bind_text(s, 1, name, NAME_LEN, SQLITE_STATIC);
        CK(sqlite3_step(s) == SQLITE_ROW && sqlite3_column_int64(s, 0) == 1);
        sqlite3_reset(s);
    }
    report("query_indexed", now() - t0, reps);
    sqlite3_finalize(s);
    if (B.variants) { /* text assembled and prepared anew, which is what bench_realm times */
        B.rng = keep;
        t0 = now();
        for (size_t r = 0; r < reps; r++) {
            person_name(name, rnd() % B.n);
            snprintf(q, sizeof q, "SELECT count(*) FROM personidx WHERE name = '%s'", name);
            sqlite3_stmt* p = prep(q);
            CK(sqlite3_step(p) == SQLITE_ROW && sqlite3_column_int64(p, 0) == 1);
            sqlite3_finalize(p);
        }
        report("query_indexed.prepare", now() - t0, reps);
    }
}

void w_text(void)
{
    for (size_t s = 0; s < sizeof text_searches / sizeof *text_searches; s++) {
        char words[32], sql[128];
        spell_search(words, &text_searches[s]);
        snprintf(sql, sizeof sql, "SELECT count(*) FROM note WHERE note MATCH '%s'", words);
        expect(text_searches[s].name, time_query(text_searches[s].name, sql, text_searches[s].reps),
               count_search(&text_searches[s]));
    }
}

/* ---------------------------------------------------------------- teams: lists as child tables */

void w_insert_bulk_lists(void)
{
    exec("CREATE TABLE IF NOT EXISTS team(id INTEGER PRIMARY KEY, rank INT NOT NULL, points INT NOT NULL);"
         "CREATE INDEX IF NOT EXISTS team_rank ON team(rank);"
         "CREATE TABLE IF NOT EXISTS team_score(team INT, position INT, value INT NOT NULL,"
         " PRIMARY KEY(team, position)) WITHOUT ROWID;"
         "CREATE TABLE IF NOT EXISTS team_crew(team INT, position INT, person INT REFERENCES person(id),"
         " PRIMARY KEY(team, position)) WITHOUT ROWID;"
         "CREATE INDEX IF NOT EXISTS team_crew_person ON team_crew(person)");
    double t0 = now();
    exec("BEGIN IMMEDIATE");
    sqlite3_stmt *t = prep("INSERT INTO team VALUES(?,?,?)"), *v = prep("INSERT INTO team_score VALUES(?,?,?)"),
                 *c = prep("INSERT INTO team_crew VALUES(?,?,?)");
    for (size_t i = 0; i < B.n; i++) {
        sqlite3_bind_int64(t, 1, (int64_t)i);
        sqlite3_bind_int64(t, 2, team_rank(i));
        sqlite3_bind_int64(t, 3, team_score(i, 0));
        step_done(t);
        sqlite3_bind_int64(v, 1, (int64_t)i);
        sqlite3_bind_int64(c, 1, (int64_t)i);
        for (size_t k = 0; k < TEAM_SCORES; k++) {
            sqlite3_bind_int64(v, 2, (int64_t)k);
            sqlite3_bind_int64(v, 3, team_score(i, k));
            step_done(v);
        }
        for (size_t k = 0; k < team_size(i); k++) {
            sqlite3_bind_int64(c, 2, (int64_t)k);
            sqlite3_bind_int64(c, 3, (int64_t)team_person(i, k));
            step_done(c);
        }
    }
    sqlite3_finalize(t);
    sqlite3_finalize(v);
    sqlite3_finalize(c);
    exec("COMMIT");
    report("insert_bulk_lists", now() - t0, B.n);
}

static void time_team_query(const char* name, size_t reps, size_t want, const char* format, ...)
    __attribute__((format(printf, 4, 5)));
static void time_team_query(const char* name, size_t reps, size_t want, const char* format, ...)
{
    char sql[256];
    va_list args;
    va_start(args, format);
    vsnprintf(sql, sizeof sql, format, args);
    va_end(args);
    expect(name, time_query(name, sql, reps), want);
}
static void time_range_reading(void)
{
    const size_t reps = 5;
    size_t n = 0;
    int64_t sum = 0;
    double t0 = now();
    for (size_t r = 0; r < reps; r++) {
        sqlite3_stmt* s = prep("SELECT id, points FROM team WHERE rank >= ? AND rank < ?");
        sqlite3_bind_int64(s, 1, rank_from());
        sqlite3_bind_int64(s, 2, rank_below());
        for (n = 0; sqlite3_step(s) == SQLITE_ROW; n++)
            sum += sqlite3_column_int64(s, 1);
        sqlite3_finalize(s);
    }
    report("query_range_read", now() - t0, reps);
    fprintf(stderr, "# query_range_read checksum=%lld\n", (long long)sum);
    expect("query_range_read", n, count_ranks());
}
/* of several ways to ask, the one that SQLite is quickest at */
void w_team_queries(void)
{
    size_t person = target_id();
    time_team_query("query_range_indexed", 20, count_ranks(),
                    "SELECT count(*) FROM team WHERE rank >= %lld AND rank < %lld", (long long)rank_from(),
                    (long long)rank_below());
    time_range_reading();
    time_team_query("query_any_int", 3, count_scores(),
                    "SELECT count(DISTINCT team) FROM team_score WHERE value > %d", SCORE_ABOVE);
    time_team_query("query_any_link", 3, count_crews(AGE_ABOVE, 1),
                    "SELECT count(DISTINCT team) FROM team_crew c JOIN person p ON p.id = c.person WHERE p.age > %d",
                    AGE_ABOVE);
    time_team_query("query_any_object", 100, count_teams_of(person),
                    "SELECT count(DISTINCT team) FROM team_crew WHERE person = %zu", person);
    time_team_query("query_list_count", 3, count_sizes(TEAM_CREW_MAX),
                    "SELECT count(*) FROM (SELECT 1 FROM team_crew GROUP BY team HAVING count(*) = %d)", TEAM_CREW_MAX);
    time_team_query("query_subquery", 3, count_crews(MEMBER_AGE_ABOVE, 2),
                    "SELECT count(*) FROM (SELECT 1 FROM team_crew c JOIN person p ON p.id = c.person"
                    " WHERE p.age > %d GROUP BY c.team HAVING count(*) > 1)",
                    MEMBER_AGE_ABOVE);
    time_team_query("query_backlink_count", 3, count_linked(),
                    "SELECT count(*) FROM (SELECT 1 FROM team_crew GROUP BY person HAVING count(*) > %d)", LINKS_ABOVE);
}
void w_query_prefix_indexed(void)
{
    expect("query_prefix_indexed",
           time_query("query_prefix_indexed",
                      "SELECT count(*) FROM personidx WHERE name >= 'person-07' AND name < 'person-08'", 20),
           count_names("person-07"));
}
void w_query_first(void)
{
    const size_t reps = 20;
    char sql[128];
    snprintf(sql, sizeof sql, "SELECT id FROM person WHERE score >= %.1f LIMIT 1", score_from());
    expect("query_first", time_query("query_first", sql, reps), B.n / 100);
    snprintf(sql, sizeof sql, "SELECT id FROM person WHERE score >= %.1f LIMIT 100", score_from());
    size_t n = 0;
    double t0 = now();
    for (size_t r = 0; r < reps; r++) {
        sqlite3_stmt* s = prep(sql);
        for (n = 0; sqlite3_step(s) == SQLITE_ROW; n++)
            CK(sqlite3_column_int64(s, 0) >= 0);
        sqlite3_finalize(s);
    }
    report("query_limit", now() - t0, reps);
    expect("query_limit", n, 100);
}
/* the index alone: who wants the whole order has to step through it */
static void sort_by_rank(const char* label, const char* sql, size_t wanted, size_t reps)
{
    double t0 = now();
    for (size_t rep = 0; rep < reps; rep++) {
        sqlite3_stmt* s = prep(sql);
        size_t n = 0;
        for (int64_t last = 0; sqlite3_step(s) == SQLITE_ROW; n++) {
            CK(sqlite3_column_int64(s, 0) >= last);
            last = sqlite3_column_int64(s, 0);
        }
        CK(n == wanted);
        sqlite3_finalize(s);
    }
    report(label, now() - t0, reps);
}
void w_sort_indexed(void)
{
    sort_by_rank("sort_indexed", "SELECT rank, id FROM team ORDER BY rank LIMIT 100", B.n < 100 ? B.n : 100, 100);
    sort_by_rank("sort_indexed_full", "SELECT rank, id FROM team ORDER BY rank", B.n, 3);
}

/* ---------------------------------------------------------------- sort, aggregate */

static void sort_with(const char* label, const char* sql)
{
    const size_t reps = 3;
    char first[64] = "";
    size_t take = B.n < 100 ? B.n : 100;
    double t0 = now();
    for (size_t rep = 0; rep < reps; rep++) {
        sqlite3_stmt* s = prep(sql);
        for (size_t i = 0; i < take; i++) {
            CK(sqlite3_step(s) == SQLITE_ROW);
            int64_t age = sqlite3_column_int64(s, 0);
            const char* name = (const char*)sqlite3_column_text(s, 1);
            if (i == 0)
                snprintf(first, sizeof first, "%lld/%s", (long long)age, name);
        }
        sqlite3_finalize(s);
    }
    report(label, now() - t0, reps);
    fprintf(stderr, "# %s first=%s\n", label, first);
}
#define SORT "SELECT age, name, id FROM person ORDER BY age ASC, name DESC"
/* the first 100 are wanted, and SQLite is told so, which helps it */
void w_sort_int_string(void) { sort_with("sort_int_string", SORT " LIMIT 100"); }
/* everything is sorted, and 100 rows stepped through */
void w_sort_full(void)
{
    sort_with("sort_full", SORT);
    if (B.variants) { /* with one helper thread in the sorter */
        exec("PRAGMA threads=1");
        sort_with("sort_full.threads1", SORT);
        exec("PRAGMA threads=0");
    }
}
void w_aggregate(void)
{
    static const char* const aggregates[][2] = {{"aggregate_sum", "SELECT sum(score) FROM person"},
                                                {"aggregate_avg", "SELECT avg(score) FROM person"},
                                                {"aggregate_min", "SELECT min(score) FROM person"},
                                                {"aggregate_max", "SELECT max(score) FROM person"}};
    const double n = (double)B.n, want[] = {0.25 * n * (n - 1), 0.25 * (n - 1), 0, 0.5 * (n - 1)};
    for (int a = 0; a < 4; a++) {
        double v = -1;
        double t0 = now();
        for (int r = 0; r < 20; r++) {
            sqlite3_stmt* s = prep(aggregates[a][1]);
            CK(sqlite3_step(s) == SQLITE_ROW);
            v = sqlite3_column_double(s, 0);
            sqlite3_finalize(s);
        }
        report(aggregates[a][0], now() - t0, 20);
        expect_double(aggregates[a][0], v, want[a]);
    }
}

void w_group_by(void)
{
    size_t count = 0;
    double t0 = now();
    for (int r = 0; r < 3; r++) {
        sqlite3_stmt* s = prep("SELECT age, count(*), avg(score) FROM person GROUP BY age");
        count = 0;
        while (sqlite3_step(s) == SQLITE_ROW) {
            int64_t age = sqlite3_column_int64(s, 0);
            expect("group_by, count", (uint64_t)sqlite3_column_int64(s, 1), count_of_age(age, B.n));
            expect_double("group_by, average", sqlite3_column_double(s, 2), mean_of_age(age, B.n));
            count++;
        }
        sqlite3_finalize(s);
    }
    report("group_by", now() - t0, 3);
    expect("group_by", count, B.n < 100 ? B.n : 100);
}

/* ---------------------------------------------------------------- scan, links, backlinks */

void w_scan_read(void)
{
    uint64_t sum = 0;
    size_t n = 0;
    sqlite3_stmt* s = prep("SELECT age FROM person");
    double t0 = now();
    while (sqlite3_step(s) == SQLITE_ROW) {
        sum += (uint64_t)sqlite3_column_int64(s, 0);
        n++;
    }
    report("scan_read", now() - t0, n);
    sqlite3_finalize(s);
    expect("scan_read", sum, sum_of_ages());
    if (B.variants) { /* every column fetched, as an object mapper does */
        uint64_t x = 0;
        s = prep("SELECT id,name,age,score,birth,active,dept FROM person");
        t0 = now();
        while (sqlite3_step(s) == SQLITE_ROW) {
            x += (uint64_t)sqlite3_column_int64(s, 0) + (uint64_t)sqlite3_column_int64(s, 2) +
                 (uint64_t)sqlite3_column_double(s, 3) + (uint64_t)sqlite3_column_int64(s, 4) +
                 (uint64_t)sqlite3_column_int64(s, 5) + (uint64_t)sqlite3_column_int64(s, 6);
            x += (uint64_t)sqlite3_column_text(s, 1)[13];
        }
        report("scan_read.allcols", now() - t0, n);
        sqlite3_finalize(s);
        fprintf(stderr, "# scan_read.allcols checksum=%llu\n", (unsigned long long)x);
    }
}
void w_link_traverse(void)
{
    size_t bytes = 0, n = 0;
    sqlite3_stmt* s = prep("SELECT d.name FROM person p CROSS JOIN dept d ON d.id = p.dept ORDER BY p.id");
    double t0 = now();
    while (sqlite3_step(s) == SQLITE_ROW) {
        CK(sqlite3_column_text(s, 0));
        bytes += (size_t)sqlite3_column_bytes(s, 0);
        n++;
    }
    report("link_traverse", now() - t0, n);
    sqlite3_finalize(s);
    fprintf(stderr, "# link_traverse name bytes=%zu\n", bytes);
    if (B.variants) { /* object by object: a second statement looks up each person's dept */
        size_t b2 = 0;
        sqlite3_stmt *p = prep("SELECT dept FROM person NOT INDEXED ORDER BY id"),
                     *d = prep("SELECT name FROM dept WHERE id=?");
        t0 = now();
        while (sqlite3_step(p) == SQLITE_ROW) {
            sqlite3_bind_int64(d, 1, sqlite3_column_int64(p, 0));
            CK(sqlite3_step(d) == SQLITE_ROW && sqlite3_column_text(d, 0));
            b2 += (size_t)sqlite3_column_bytes(d, 0);
            sqlite3_reset(d);
        }
        report("link_traverse.stmt", now() - t0, n);
        sqlite3_finalize(p);
        sqlite3_finalize(d);
        CK(b2 == bytes);
    }
}
void w_backlinks(void)
{
    size_t total = 0;
    sqlite3_stmt* s = prep("SELECT count(*) FROM person WHERE dept=?");
    double t0 = now();
    for (int rep = 0; rep < 10; rep++) {
        total = 0;
        for (int d = 0; d < NUM_DEPTS; d++) {
            sqlite3_bind_int64(s, 1, d);
            CK(sqlite3_step(s) == SQLITE_ROW);
            total += (size_t)sqlite3_column_int64(s, 0);
            sqlite3_reset(s);
        }
    }
    report("backlinks", now() - t0, 10 * NUM_DEPTS);
    sqlite3_finalize(s);
    expect("backlinks", total, B.n);
    if (B.variants) { /* the ids themselves fetched, which realm's results make ready for reading */
        size_t n = 0;
        s = prep("SELECT id FROM person WHERE dept=?");
        t0 = now();
        for (int rep = 0; rep < 10; rep++)
            for (int d = 0; d < NUM_DEPTS; d++) {
                sqlite3_bind_int64(s, 1, d);
                while (sqlite3_step(s) == SQLITE_ROW)
                    n += sqlite3_column_int64(s, 0) >= 0;
                sqlite3_reset(s);
            }
        report("backlinks.ids", now() - t0, 10 * NUM_DEPTS);
        sqlite3_finalize(s);
        CK(n == 10 * total);
    }
}
