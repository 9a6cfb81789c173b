/* Schedulers: ownership of their userdata, comparison, work queues that are none. */
#include "check.h"

static void notify(void *userdata, realm_work_queue_t *queue) {
    (void)queue;
    ((counter_t *)userdata)->called++;
}
static bool on_thread(void *userdata) {
    (void)userdata;
    return true;
}
static bool same(const realm_userdata_t a, const realm_userdata_t b) {
    (void)a, (void)b;
    return true;
}

int main(void) {
    counter_t a = {0, 0}, b = {0, 0};
    realm_scheduler_t *first = realm_scheduler_new(&a, count_freed, notify, on_thread, NULL, NULL);
    realm_scheduler_t *clone = realm_clone(first);
    CHECK(first && clone && first != clone && realm_equals(first, clone));
    realm_config_t *config = realm_config_new();
    realm_config_set_scheduler(config, first);
    realm_release(first);
    realm_release(clone);
    CHECK(a.freed == 0);
    realm_release(config);
    CHECK(a.freed == 1);

    /* Same functions: the userdata or the application decides. */
    realm_scheduler_t *s1 = realm_scheduler_new(&a, NULL, notify, on_thread, NULL, NULL);
    realm_scheduler_t *s2 = realm_scheduler_new(&a, NULL, notify, on_thread, NULL, NULL);
    realm_scheduler_t *s3 = realm_scheduler_new(&b, NULL, notify, on_thread, NULL, NULL);
    realm_scheduler_t *s4 = realm_scheduler_new(&a, NULL, notify, on_thread, same, NULL);
    realm_scheduler_t *s5 = realm_scheduler_new(&b, NULL, notify, on_thread, same, NULL);
    CHECK(realm_equals(s1, s2) && !realm_equals(s1, s3) && !realm_equals(s1, s4));
    CHECK(realm_equals(s4, s5));
    realm_scheduler_t *d1 = realm_scheduler_make_default();
    realm_scheduler_t *d2 = realm_scheduler_make_default();
    CHECK(d1 && d2 && realm_equals(d1, d2) && !realm_equals(d1, s1));
    realm_scheduler_t *all[] = {s1, s2, s3, s4, s5, d1, d2};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        realm_release(all[i]);

    realm_scheduler_t *nothing = realm_scheduler_new(NULL, NULL, NULL, NULL, NULL, NULL);
    CHECK(nothing != NULL);
    realm_release(nothing);
    NOTHING(realm_scheduler_get_frozen());
    LEAVES(RLM_ERR_INVALID_ARGUMENT, realm_scheduler_perform_work(NULL));
    LEAVES(RLM_ERR_INVALID_ARGUMENT, realm_scheduler_perform_work((realm_work_queue_t *)nothing));
    return check_end("scheduler");
}
