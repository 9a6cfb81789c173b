/* bench_realm_update.c - the age of half the persons set in one transaction, one person after another and in no order;
 * then the same while an object of another class is observed, so that the commit records what it changed.
 */
#define _GNU_SOURCE
#include "bench_realm.h"

static void on_change(void* ud, const realm_object_changes_t* changes)
{
    (void)changes;
    (*(size_t*)ud)++;
}

/* The step is 1 or a prime, which leads through all persons. */
static void update(const char* name, size_t step)
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
    report(name, now() - t0, ops);
    B.fresh = false;
}

void w_update(void)
{
    size_t calls = 0;
    update("update", 1);
    update("update_unordered", UNORDERED_STEP);
    realm_query_t* query = realm_query_parse(g_realm, K.dept, "TRUEPREDICATE", 0, NULL);
    CK(query);
    bool any = false;
    realm_value_t dept;
    CK(realm_query_find_first(query, &dept, &any) && any);
    realm_object_t* object = realm_get_object(g_realm, K.dept, dept.link.target);
    CK(object);
    realm_notification_token_t* token =
        realm_object_add_notification_callback(object, &calls, NULL, NULL, on_change);
    CK(token);
    loop_run_once(&g_loop);
    update("update_observed", 1);
    loop_drain(&g_loop);
    update("update_unordered_observed", UNORDERED_STEP);
    loop_drain(&g_loop);
    if (calls != 1)
        bench_fail(false, "update_observed", "an observer of an object that did not change was called");
    realm_release(token);
    realm_release(object);
    realm_release(query);
}
