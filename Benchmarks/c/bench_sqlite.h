/* bench_sqlite.h - what the C files of bench_sqlite share: the open database and how calls fail.
 *
 * bench_sqlite.c        opening, tables, inserting, small commits, deleting, the list of workloads and main
 * bench_sqlite_read.c   point reads, queries, lists as child tables, sorting, aggregates, scans, links
 * bench_sqlite_notify.c the update hook and the query again; versions
 * bench_sqlite_nested.c collections that many changes meet, as child tables; changes of the schema
 */
#ifndef BENCH_SQLITE_H
#define BENCH_SQLITE_H
#include "bench.h"
#include <sqlite3.h>

extern sqlite3* db;

_Noreturn void die(const char* what);
#define OK(expr)                                                                                                     \
    do {                                                                                                             \
        if ((expr) != SQLITE_OK)                                                                                     \
            die(#expr);                                                                                              \
    } while (0)
#define CK(expr)                                                                                                     \
    do {                                                                                                             \
        if (!(expr))                                                                                                 \
            die(#expr);                                                                                              \
    } while (0)

void exec(const char* sql);
sqlite3_stmt* prep(const char* sql);
void step_done(sqlite3_stmt* s);

void w_get_by_pk(void);
void w_get_by_strpk(void);
void w_query_int_range(void);
void w_query_string_eq(void);
void w_cold_scan(void);
void w_warm_up(void);
void w_query_contains(void);
void w_query_contains_c(void);
void w_query_prefix(void);
void w_query_link(void);
void w_query_indexed(void);
void w_text(void);
void w_insert_bulk_lists(void);
void w_team_queries(void);
void w_query_prefix_indexed(void);
void w_query_first(void);
void w_sort_indexed(void);
void w_sort_int_string(void);
void w_sort_full(void);
void w_aggregate(void);
void w_group_by(void);
void w_scan_read(void);
void w_link_traverse(void);
void w_backlinks(void);
void w_delete_listed(void);
void w_nested(void);
void w_migrate(void);
void w_notify(void);
void w_versions(void);

#endif
