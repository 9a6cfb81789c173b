/* bench_realm.h - what the C files of bench_realm share: the open realm, its keys, values, and how calls fail.
 *
 * bench_realm.c         opening, schema, inserting, small commits, the list of workloads and main
 * bench_realm_read.c    point reads, scans, queries, sorting, aggregates
 * bench_realm_lists.c   teams with lists: inserting them, queries of lists and of an indexed number; bandwidth
 * bench_realm_notify.c  a run loop and the notification workloads
 * bench_realm_migrate.c changes of the schema
 * bench_realm_async.c   asynchronous commits that share syncs
 * bench_realm_update.c  values set and objects created in one transaction, with and without a change log
 * bench_realm_nested.c  collections that many changes meet: objects of one list deleted, collections in a mixed value
 */
#ifndef BENCH_REALM_H
#define BENCH_REALM_H
#include "bench.h"
#include <pthread.h>
#include <realm.h>

_Noreturn void die(const char* what);
#define CK(expr)                                                                                                     \
    do {                                                                                                             \
        if (!(expr))                                                                                                 \
            die(#expr);                                                                                              \
    } while (0)

static inline realm_value_t v_int(int64_t i) { return (realm_value_t){.integer = i, .type = RLM_TYPE_INT}; }
static inline realm_value_t v_bool(bool b) { return (realm_value_t){.boolean = b, .type = RLM_TYPE_BOOL}; }
static inline realm_value_t v_dbl(double d) { return (realm_value_t){.dnum = d, .type = RLM_TYPE_DOUBLE}; }
static inline realm_value_t v_ts(int64_t s) { return (realm_value_t){.timestamp = {s, 0}, .type = RLM_TYPE_TIMESTAMP}; }
static inline realm_value_t v_link(realm_link_t l) { return (realm_value_t){.link = l, .type = RLM_TYPE_LINK}; }
static inline realm_value_t v_str(const char* s, size_t n)
{
    return (realm_value_t){.string = {s, n}, .type = RLM_TYPE_STRING};
}

/* a run loop, as the C API wants one */
typedef struct loop {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    realm_work_queue_t* pending;
} loop_t;
void loop_init(loop_t* l);
realm_scheduler_t* loop_scheduler(loop_t* l);
void loop_run_once(loop_t* l); /* wait for posted work (at most 60 s) and perform it */
void loop_drain(loop_t* l);    /* perform what is posted already, without waiting */

typedef struct keys {
    realm_class_key_t person, dept, event, personidx, coded, shuffled, note, team;
    realm_property_key_t name, age, score, birth, active, dept_link, dept_name, ts, kind, payload, xname, xage, cname,
        cage, sname, sage, text, rank, points, scores, crew;
} keys_t;

extern loop_t g_loop; /* main thread */
extern realm_t* g_realm;
extern keys_t K;

realm_t* open_file(const char* path, loop_t* loop);
keys_t find_keys(realm_t* r);
void open_main(void);
void close_main(void);
void remove_copy(const char* path);
realm_object_t* find_pk(realm_t* r, realm_class_key_t ck, int64_t id);
realm_results_t* all_persons(void);

size_t time_query(const char* name, realm_class_key_t ck, const char* query, size_t reps);

void w_bandwidth(void);
void w_insert_bulk_lists(void);
void w_team_queries(void);
void w_sort_indexed(void);
void w_query_prefix_indexed(void);
void w_query_first(void);
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
void w_sort_int_string(void);
void w_sort_full(void);
void w_aggregate(void);
void w_group_by(void);
void w_scan_read(void);
void w_scan_read_bulk(void);
void w_scan_text_bulk(void);
void w_link_traverse(void);
void w_backlinks(void);
void w_notify(void);
void w_versions(void);
void w_notify_bg(void);
void w_notify_process(void);
void w_notify_objects(void);
void w_delete_listed(void);
void w_nested(void);
void w_migrate(void);
void w_commit_insert(void);
void w_commit_grouped(void);
void w_update(void);
void w_insert_recorded(void);
#endif
