/* Every setting: its default, its setter, bad values, and userdata freed once. */
#include "check.h"

static bool migrate(void *userdata, realm_t *old_realm, realm_t *new_realm,
                    const realm_schema_t *schema) {
    (void)userdata, (void)old_realm, (void)new_realm, (void)schema;
    return true;
}
static bool fill(void *userdata, realm_t *realm) {
    (void)userdata, (void)realm;
    return true;
}
static bool compact(void *userdata, uint64_t total, uint64_t used) {
    (void)userdata, (void)total, (void)used;
    return true;
}

static void userdata_is_freed_with_the_config(void) {
    counter_t a = {0, 0}, b = {0, 0}, c = {0, 0};
    realm_config_t *config = realm_config_new();
    realm_config_set_migration_function(config, migrate, &a, count_freed);
    realm_config_set_migration_function(config, migrate, &a, count_freed);
    realm_config_set_data_initialization_function(config, fill, &a, count_freed);
    realm_config_set_data_initialization_function(config, fill, &b, count_freed);
    realm_config_set_should_compact_on_launch_function(config, compact, &c, NULL);
    realm_config_set_should_compact_on_launch_function(config, compact, &c, count_freed);
    realm_config_set_migration_function(config, NULL, NULL, NULL);
    CHECK(a.freed == 0 && b.freed == 0);
    realm_release(config);
    CHECK(a.freed == 1 && b.freed == 1);
    CHECK(c.freed == 0); /* the first registration had no free function */

    /* Where the registration fails, at once. */
    counter_t d = {0, 0};
    LEAVES(RLM_ERR_INVALID_ARGUMENT,
           realm_config_set_migration_function(NULL, migrate, &d, count_freed));
    CHECK(d.freed == 1);
}

int main(void) {
    realm_config_t *config = realm_config_new();
    CHECK(config != NULL);

    CHECK(strcmp(realm_config_get_path(config), "") == 0);
    char path[] = "some.realm";
    realm_config_set_path(config, path);
    path[0] = 'X';
    CHECK(strcmp(realm_config_get_path(config), "some.realm") == 0);
    LEAVES(RLM_ERR_INVALID_ARGUMENT, realm_config_set_path(config, NULL));
    LEAVES(RLM_ERR_INVALID_ARGUMENT, realm_config_set_path(config, "\xff\xfe"));
    CHECK(strcmp(realm_config_get_path(config), "some.realm") == 0);

    uint8_t key[64], got[64] = {0};
    for (int i = 0; i < 64; i++)
        key[i] = (uint8_t)i;
    NOTHING(realm_config_get_encryption_key(config, got));
    SUCCEEDS(realm_config_set_encryption_key(config, key, 64));
    CHECK(realm_config_get_encryption_key(config, NULL) == 64);
    CHECK(realm_config_get_encryption_key(config, got) == 64 && memcmp(key, got, 64) == 0);
    FAILS(RLM_ERR_INVALID_ENCRYPTION_KEY, realm_config_set_encryption_key(config, key, 63));
    FAILS(RLM_ERR_INVALID_ENCRYPTION_KEY, realm_config_set_encryption_key(config, NULL, 64));
    FAILS(RLM_ERR_INVALID_ENCRYPTION_KEY, realm_config_set_encryption_key(config, key, SIZE_MAX));
    CHECK(realm_config_get_encryption_key(config, NULL) == 64);
    SUCCEEDS(realm_config_set_encryption_key(config, NULL, 0));
    CHECK(realm_config_get_encryption_key(config, NULL) == 0);

    NOTHING(realm_config_get_schema(config));
    realm_schema_t *schema = realm_schema_new(NULL, 0, NULL);
    realm_config_set_schema(config, schema);
    realm_schema_t *copy = realm_config_get_schema(config);
    CHECK(copy && copy != schema && realm_equals(copy, schema));
    realm_release(copy);
    realm_release(schema);
    LEAVES(RLM_ERR_INVALID_ARGUMENT, realm_config_set_schema(config, schema));
    realm_config_set_schema(config, NULL);
    NOTHING(realm_config_get_schema(config));

    CHECK(realm_config_get_schema_version(config) == UINT64_MAX);
    realm_config_set_schema_version(config, 7);
    CHECK(realm_config_get_schema_version(config) == 7);
    CHECK(realm_config_get_schema_mode(config) == RLM_SCHEMA_MODE_AUTOMATIC);
    realm_config_set_schema_mode(config, RLM_SCHEMA_MODE_MANUAL);
    LEAVES(RLM_ERR_INVALID_ARGUMENT, realm_config_set_schema_mode(config, (realm_schema_mode_e)8));
    CHECK(realm_config_get_schema_mode(config) == RLM_SCHEMA_MODE_MANUAL);
    CHECK(realm_config_get_schema_subset_mode(config) == RLM_SCHEMA_SUBSET_MODE_STRICT);
    realm_config_set_schema_subset_mode(config, RLM_SCHEMA_SUBSET_MODE_COMPLETE);
    LEAVES(RLM_ERR_INVALID_ARGUMENT,
           realm_config_set_schema_subset_mode(config, (realm_schema_subset_mode_e)4));
    CHECK(realm_config_get_schema_subset_mode(config) == RLM_SCHEMA_SUBSET_MODE_COMPLETE);

    CHECK(!realm_config_get_disable_format_upgrade(config));
    realm_config_set_disable_format_upgrade(config, true);
    CHECK(realm_config_get_disable_format_upgrade(config));
    CHECK(!realm_config_needs_file_format_upgrade(config));
    CHECK(realm_config_get_automatic_change_notifications(config));
    realm_config_set_automatic_change_notifications(config, false);
    CHECK(!realm_config_get_automatic_change_notifications(config));
    CHECK(!realm_config_get_force_sync_history(config));
    realm_config_set_force_sync_history(config, true);
    CHECK(realm_config_get_force_sync_history(config));
    CHECK(realm_config_get_max_number_of_active_versions(config) == UINT64_MAX);
    realm_config_set_max_number_of_active_versions(config, 5);
    CHECK(realm_config_get_max_number_of_active_versions(config) == 5);
    CHECK(!realm_config_get_in_memory(config));
    realm_config_set_in_memory(config, true);
    CHECK(realm_config_get_in_memory(config));
    CHECK(strcmp(realm_config_get_fifo_path(config), "") == 0);
    realm_config_set_fifo_path(config, "/tmp");
    CHECK(strcmp(realm_config_get_fifo_path(config), "/tmp") == 0);
    CHECK(!realm_config_get_cached(config));
    realm_config_set_cached(config, true);
    CHECK(realm_config_get_cached(config));
    realm_config_set_automatic_backlink_handling(config, true);
    CHECK(realm_config_set_audit_factory(config, NULL));

    realm_scheduler_t *scheduler = realm_scheduler_make_default();
    realm_config_set_scheduler(config, scheduler);
    realm_config_set_scheduler(config, NULL);
    LEAVES(RLM_ERR_INVALID_ARGUMENT,
           realm_config_set_scheduler(config, (realm_scheduler_t *)config));
    realm_release(scheduler);
    realm_release(config);

    /* Settings of what is no configuration. */
    LEAVES(RLM_ERR_INVALID_ARGUMENT, realm_config_set_cached(config, true));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_config_get_in_memory(config));
    userdata_is_freed_with_the_config();
    return check_end("config");
}
