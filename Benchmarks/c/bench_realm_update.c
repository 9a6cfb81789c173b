/* bench_realm_update.c - the age of half the persons set in one transaction, one person after another and in no order; and
 * what recording the change log costs such a transaction, and one that creates persons: while an object of another class is
 * observed, so that the commit records which objects it changed, and while a consumer keeps the log, with all values.
 */
#define _GNU_SOURCE
#include "bench_realm.h"

static void on_change(void* ud, const realm_object_changes_t* changes)
{
    (void)changes;
    (*(size_t*)ud)++;
}

/* Seconds of a transaction. The step is 1 or a prime, which leads through all persons. */
static double update(size_t step)
{
    size_t ops = B.n / 2, id = 0;
    double t0 = now();
    CK(realm_begin_write(g_realm));
    for (size_t i = 0; i < ops; i++) {
        realm_object_t* o = find_pk(g_realm, K.person, (int64_t)id);
        CK(o && realm_set_value(o, K.age, v_int((int64_t)(i % 100)), false));
        realm_release(o);
        id += step;
        id %= B.n;
    }
    CK(realm_commit(g_realm));
    B.fresh = false;
    return now() - t0;
}

static void change_consumer(bool (*change)(realm_t*, const char*))
{
    CK(realm_begin_write(g_realm));
    CK(change(g_realm, "keeper"));
    CK(realm_commit(g_realm));
}

static int by_number(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

enum { TURNS = 5 };
typedef struct {
    const char *ordered, *unordered;
    double seconds[2][TURNS];
} kind_t;

static void measure(const char* name, double* seconds, int turn, size_t step)
{
    seconds[turn] = update(step);
    if (turn == TURNS - 1) {
        qsort(seconds, TURNS, sizeof *seconds, by_number);
        report(name, seconds[TURNS / 2], B.n / 2);
    }
    loop_drain(&g_loop);
}

static void take_turn(kind_t* kind, int turn)
{
    measure(kind->ordered, kind->seconds[0], turn, 1);
    measure(kind->unordered, kind->seconds[1], turn, UNORDERED_STEP);
}

void w_update(void)
{
    report("update", update(1), B.n / 2);
    report("update_unordered", update(UNORDERED_STEP), B.n / 2);

    size_t calls = 0;
    realm_query_t* query = realm_query_parse(g_realm, K.dept, "TRUEPREDICATE", 0, NULL);
    CK(query);
    bool any = false;
    realm_value_t dept;
    CK(realm_query_find_first(query, &dept, &any) && any);
    realm_object_t* object = realm_get_object(g_realm, K.dept, dept.link.target);
    CK(object);
    /* In turns: how fast memory is changes within seconds, by more than what is measured. */
    kind_t unrecorded = {"update_unrecorded", "update_unordered_unrecorded", {{0}}};
    kind_t observed = {"update_observed", "update_unordered_observed", {{0}}};
    kind_t kept = {"update_kept", "update_unordered_kept", {{0}}};
    for (int turn = 0; turn < TURNS; turn++) {
        take_turn(&unrecorded, turn);
        realm_notification_token_t* token =
            realm_object_add_notification_callback(object, &calls, NULL, NULL, on_change);
        CK(token);
        loop_run_once(&g_loop);
        take_turn(&observed, turn);
        realm_release(token);
        change_consumer(realm_change_log_add_consumer);
        take_turn(&kept, turn);
        change_consumer(realm_change_log_remove_consumer);
    }
    if (calls != TURNS)
        bench_fail(false, "update_observed", "an observer of an object that did not change was called");
    realm_release(object);
    realm_release(query);
}

/* Half as many persons as there are, created in a file of their own. */
static void create_persons(const char* name, bool observed, bool kept)
{
    char path[4096], text[32];
    size_t ops = B.n / 2, calls = 0;
    snprintf(path, sizeof path, "%s.recorded", B.path);
    remove_copy(path);
    realm_t* realm = open_file(path, &g_loop);
    CK(realm_begin_write(realm));
    realm_object_t* dept = realm_object_create_with_primary_key(realm, K.dept, v_int(0));
    CK(dept);
    if (kept)
        CK(realm_change_log_add_consumer(realm, "keeper"));
    CK(realm_commit(realm));
    realm_notification_token_t* token = NULL;
    if (observed) {
        token = realm_object_add_notification_callback(dept, &calls, NULL, NULL, on_change);
        CK(token);
        loop_run_once(&g_loop);
    }
    const realm_property_key_t props[] = {K.name, K.age, K.score, K.birth, K.active, K.dept_link};
    const realm_link_t link = realm_object_as_link(dept);
    double t0 = now();
    CK(realm_begin_write(realm));
    for (size_t i = 0; i < ops; i++) {
        realm_object_t* o = realm_object_create_with_primary_key(realm, K.person, v_int((int64_t)i));
        person_name(text, i);
        const realm_value_t values[] = {v_str(text, NAME_LEN),   v_int(person_age(i)),     v_dbl(person_score(i)),
                                        v_ts(person_birth(i)),   v_bool(person_active(i)), v_link(link)};
        CK(o && realm_set_values(o, 6, props, values, false));
        realm_release(o);
    }
    CK(realm_commit(realm));
    report(name, now() - t0, ops);
    loop_drain(&g_loop);
    realm_release(token);
    realm_release(dept);
    realm_close(realm);
    realm_release(realm);
    g_loop.pending = NULL;
    remove_copy(path);
}

void w_insert_recorded(void)
{
    create_persons("insert_unrecorded", false, false);
    create_persons("insert_observed", true, false);
    create_persons("insert_kept", false, true);
}
