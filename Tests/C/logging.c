/* Log categories, thresholds and receivers. */
#include "check.h"

static void receive(void *userdata, const char *category, realm_log_level_e level,
                    const char *message) {
    (void)category, (void)level, (void)message;
    ((counter_t *)userdata)->called++;
}

int main(void) {
    CHECK(realm_get_category_names(0, NULL) == 15);
    const char *names[20] = {0};
    CHECK(realm_get_category_names(3, names) == 3 && names[2] && !names[3]);
    CHECK(realm_get_category_names(20, names) == 15 && !names[15]);
    for (int i = 1; i < 15; i++)
        CHECK(strcmp(names[i - 1], names[i]) < 0);
    CHECK(strcmp(names[0], "Realm") == 0 && strcmp(names[14], "Realm.Sync.Server") == 0);

    for (int i = 0; i < 15; i++)
        CHECK(realm_get_log_level_category(names[i]) == RLM_LOG_LEVEL_INFO);
    realm_set_log_level(RLM_LOG_LEVEL_ERROR);
    CHECK(realm_get_log_level_category("Realm.Storage.Query") == RLM_LOG_LEVEL_ERROR);
    CHECK(realm_set_log_level_category("Realm.Storage", RLM_LOG_LEVEL_DEBUG) ==
          RLM_LOG_LEVEL_ERROR);
    CHECK(realm_get_log_level_category("Realm.Storage.Query") == RLM_LOG_LEVEL_DEBUG);
    CHECK(realm_get_log_level_category("Realm.Sync") == RLM_LOG_LEVEL_ERROR);
    CHECK(realm_get_log_level_category("Realm") == RLM_LOG_LEVEL_ERROR);

    /* Unknown names and levels change nothing. */
    CHECK(realm_set_log_level_category("Nobody", RLM_LOG_LEVEL_OFF) == RLM_LOG_LEVEL_INFO);
    CHECK(realm_set_log_level_category(NULL, RLM_LOG_LEVEL_OFF) == RLM_LOG_LEVEL_INFO);
    CHECK(realm_get_log_level_category("realm") == RLM_LOG_LEVEL_INFO);
    realm_set_log_level((realm_log_level_e)99);
    CHECK(realm_get_log_level_category("Realm") == RLM_LOG_LEVEL_ERROR);

    /* The userdata of a receiver lives until the next one is set. */
    counter_t a = {0, 0}, b = {0, 0};
    realm_set_log_callback(receive, &a, count_freed);
    CHECK(a.freed == 0);
    realm_set_log_callback(receive, &b, count_freed);
    CHECK(a.freed == 1 && b.freed == 0);
    realm_set_log_callback(NULL, NULL, NULL);
    CHECK(b.freed == 1);
    return check_end("logging");
}
