/* The file as a whole: compaction, copies, deletion, stored schema version, check, sizes. */
#include "people.h"

#include <sys/stat.h>

static bool exists(const char *path) {
    struct stat status;
    return stat(path, &status) == 0;
}

static uint64_t persisted(const char *path) {
    realm_config_t *config = realm_config_new();
    realm_config_set_path(config, path);
    uint64_t version = realm_get_persisted_schema_version(config);
    realm_release(config);
    return version;
}

static void test_stored_version(void) {
    realm_clear_last_error();
    CHECK(persisted("nothing.realm") == UINT64_MAX);
    CHECK(!realm_get_last_error(NULL) && !exists("nothing.realm"));
    FILE *file = fopen("empty.realm", "w");
    fclose(file);
    CHECK(persisted("empty.realm") == UINT64_MAX && !realm_get_last_error(NULL));
    file = fopen("garbage.realm", "w");
    for (int i = 0; i < 2000; i++)
        fprintf(file, "this is no database\n");
    fclose(file);
    CHECK(persisted("garbage.realm") == UINT64_MAX);
    realm_error_t error;
    CHECK(realm_get_last_error(&error) && error.error == RLM_ERR_INVALID_DATABASE);
    realm_clear_last_error();
    CHECK(realm_get_persisted_schema_version(NULL) == UINT64_MAX);
    CHECK(realm_get_last_error(&error) && error.error == RLM_ERR_INVALID_ARGUMENT);
    realm_clear_last_error();
    realm_t *realm = open_people("version.realm");
    CHECK(persisted("version.realm") == 1);
    realm_release(realm);
    CHECK(persisted("version.realm") == 1 && !realm_get_last_error(NULL));
}

static void test_compact(void) {
    realm_t *realm = open_people("compact.realm");
    keys_t k = keys_of(realm);
    make_people(realm, &k, 0, 20000);
    realm_object_t *kept = realm_object_find_with_primary_key(realm, k.person, of_int(7), NULL);
    realm_results_t *all = realm_object_find_all(realm, k.person);
    CHECK(kept && all);
    bool did = false;
    CHECK(realm_begin_write(realm));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_compact(realm, &did));
    realm_query_t *query =
        realm_query_parse(realm, k.person, "_id >= 100", 0, NULL);
    CHECK(query && realm_query_delete_all(query));
    CHECK(realm_commit(realm));
    realm_release(query);

    realm_statistics_t before, after;
    CHECK(realm_get_statistics(realm, &before));
    realm_t *frozen = realm_freeze(realm);
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_compact(frozen, &did));
    did = true;
    SUCCEEDS(realm_compact(realm, &did));
    CHECK(!did); /* the frozen realm reads */
    /* One that writes, even on this thread, is not waited for. */
    realm_t *other = open_people("compact.realm");
    CHECK(other && realm_begin_write(other));
    did = true;
    SUCCEEDS(realm_compact(realm, &did));
    CHECK(!did);
    CHECK(realm_rollback(other));
    realm_release(other);
    CHECK(!realm_object_is_valid(kept));
    bool valid = true;
    CHECK(realm_results_is_valid(all, &valid) && !valid);
    realm_release(frozen);
    SUCCEEDS(realm_compact(realm, &did));
    CHECK(did);
    SUCCEEDS(realm_compact(realm, NULL));
    CHECK(realm_get_statistics(realm, &after));
    CHECK(after.file_bytes < before.file_bytes / 4);
    size_t count = 0;
    CHECK(realm_get_num_objects(realm, k.person, &count) && count == 100);
    size_t problems = 99;
    SUCCEEDS(realm_check(realm, NULL, NULL, &problems));
    CHECK(problems == 0);
    realm_release(kept);
    realm_release(all);
    CHECK(realm_close(realm));
    FAILS(RLM_ERR_CLOSED_REALM, realm_compact(realm, &did));
    realm_release(realm);
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_compact(realm, &did));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_compact(NULL, &did));
}

static void test_convert(void) {
    const realm_binary_t no_key = {NULL, 0};
    uint8_t bytes[64] = {1};
    const realm_binary_t short_key = {bytes, 63}, huge_key = {bytes, SIZE_MAX};
    realm_t *realm = open_people("source.realm");
    keys_t k = keys_of(realm);
    make_people(realm, &k, 0, 500);
    SUCCEEDS(realm_convert_with_path(realm, "copy.realm", no_key, false));
    FAILS(RLM_ERR_FILE_ALREADY_EXISTS,
          realm_convert_with_path(realm, "copy.realm", no_key, false));
    FAILS(RLM_ERR_FILE_NOT_FOUND,
          realm_convert_with_path(realm, "no-such-directory/copy.realm", no_key, false));
    FAILS(RLM_ERR_INVALID_ENCRYPTION_KEY,
          realm_convert_with_path(realm, "sealed.realm", short_key, false));
    FAILS(RLM_ERR_INVALID_ENCRYPTION_KEY,
          realm_convert_with_path(realm, "sealed.realm", huge_key, false));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_convert_with_path(realm, NULL, no_key, false));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_convert_with_config(realm, NULL, false));

    /* Uncommitted changes are part of the copy; merging into nothing is copying. */
    CHECK(realm_begin_write(realm));
    realm_release(make_person(realm, &k, 1000));
    realm_config_t *config = realm_config_new();
    realm_config_set_path(config, "uncommitted.realm");
    SUCCEEDS(realm_convert_with_config(realm, config, true));
    CHECK(realm_rollback(realm));
    realm_release(config);

    realm_t *frozen = realm_freeze(realm);
    SUCCEEDS(realm_convert_with_path(frozen, "thawed.realm", no_key, false));
    realm_release(frozen);

    const char *paths[] = {"copy.realm", "uncommitted.realm", "thawed.realm"};
    const size_t expected[] = {500, 501, 500};
    for (int i = 0; i < 3; i++) {
        realm_t *copy = open_people(paths[i]);
        keys_t own = keys_of(copy);
        size_t count = 0, problems = 1;
        CHECK(realm_get_num_objects(copy, own.person, &count) && count == expected[i]);
        CHECK(realm_get_schema_version(copy) == 1);
        SUCCEEDS(realm_check(copy, NULL, NULL, &problems));
        CHECK(problems == 0);
        realm_release(copy);
    }
    CHECK(realm_close(realm));
    FAILS(RLM_ERR_CLOSED_REALM, realm_convert_with_path(realm, "late.realm", no_key, false));
    CHECK(!exists("late.realm"));
    realm_release(realm);
}

/* Objects of a class with the key _id go over; people have departments whose key is a name. */
static void test_merge(void) {
    const realm_binary_t no_key = {NULL, 0};
    realm_property_info_t item[] = {
        property_of("_id", RLM_PROPERTY_TYPE_INT, RLM_PROPERTY_PRIMARY_KEY),
        property_of("name", RLM_PROPERTY_TYPE_STRING, 0),
    };
    realm_class_info_t class = class_of("Item", "_id", 2, 0);
    const realm_property_info_t *properties[] = {item};
    realm_t *realms[2];
    const char *paths[] = {"merge-source.realm", "merge-target.realm"};
    for (int i = 0; i < 2; i++) {
        realm_schema_t *schema = realm_schema_new(&class, 1, properties);
        realm_config_t *config = realm_config_new();
        realm_config_set_path(config, paths[i]);
        realm_config_set_schema(config, schema);
        realm_config_set_schema_version(config, 1);
        realms[i] = realm_open(config);
        CHECK(realms[i]);
        realm_release(schema);
        realm_release(config);
    }
    const realm_class_key_t source_key = class_key(realms[0], "Item");
    CHECK(realm_begin_write(realms[0]));
    for (int64_t id = 0; id < 10; id++) {
        const realm_value_t key = {.type = RLM_TYPE_INT, .integer = id};
        realm_release(realm_object_create_with_primary_key(realms[0], source_key, key));
    }
    CHECK(realm_commit(realms[0]));
    SUCCEEDS(realm_convert_with_path(realms[0], paths[1], no_key, true));
    SUCCEEDS(realm_convert_with_path(realms[0], paths[1], no_key, true));
    size_t count = 0;
    CHECK(realm_refresh(realms[1], NULL));
    CHECK(realm_get_num_objects(realms[1], class_key(realms[1], "Item"), &count) && count == 10);
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_convert_with_path(realms[0], paths[0], no_key, true));
    realm_t *people = open_people("people-to-merge.realm");
    FAILS(RLM_ERR_BROKEN_INVARIANT, realm_convert_with_path(people, paths[1], no_key, true));
    realm_release(people);
    realm_release(realms[0]);
    realm_release(realms[1]);
}

static void test_delete(void) {
    bool did = true;
    SUCCEEDS(realm_delete_files("never.realm", &did));
    CHECK(!did);
    did = true;
    SUCCEEDS(realm_delete_files("no-such-directory/x.realm", &did));
    CHECK(!did);
    realm_t *realm = open_people("doomed.realm");
    FAILS(RLM_ERR_DELETE_OPENED_REALM, realm_delete_files("doomed.realm", &did));
    CHECK(!did && exists("doomed.realm"));
    realm_release(realm);
    SUCCEEDS(realm_delete_files("doomed.realm", &did));
    CHECK(did && !exists("doomed.realm"));
    SUCCEEDS(realm_delete_files("doomed.realm", NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_delete_files(NULL, &did));
    /* A pipe that nobody writes to keeps no one waiting. */
    CHECK(mkfifo("pipe.realm", 0600) == 0);
    const realm_schema_mode_e modes[] = {RLM_SCHEMA_MODE_AUTOMATIC, RLM_SCHEMA_MODE_READ_ONLY,
                                         RLM_SCHEMA_MODE_IMMUTABLE};
    for (int i = 0; i < 3; i++) {
        realm_config_t *config = realm_config_new();
        realm_config_set_path(config, "pipe.realm");
        realm_config_set_schema_mode(config, modes[i]);
        FAILS(RLM_ERR_FILE_OPERATION_FAILED, realm_open(config));
        realm_release(config);
    }
    SUCCEEDS(realm_delete_files("pipe.realm", &did));
    CHECK(did && !exists("pipe.realm"));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_delete_files("\xff\xfe", &did));
}

static void count_problem(void *userdata, const char *message) {
    counter_t *counter = userdata;
    counter->called++;
    CHECK(message && *message);
}

static void test_check(void) {
    realm_t *realm = open_people("checked.realm");
    keys_t k = keys_of(realm);
    make_people(realm, &k, 0, 5000);
    counter_t counter = {0, 0};
    size_t problems = 1;
    SUCCEEDS(realm_check(realm, count_problem, &counter, &problems));
    CHECK(problems == 0 && counter.called == 0);
    SUCCEEDS(realm_check(realm, NULL, NULL, NULL));
    realm_release(realm);
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_check(realm, NULL, NULL, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_check_file(NULL, NULL, NULL, NULL));
    SUCCEEDS(realm_check_file("no-such.realm", count_problem, &counter, &problems));
    CHECK(problems == 1 && counter.called == 1 && !exists("no-such.realm"));

    /* A byte that rots in the middle of the data is found. */
    FILE *file = fopen("checked.realm", "r+");
    CHECK(file != NULL);
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    long found = 0;
    for (long at = 3 * 4096; at < size; at += 4096) {
        fseek(file, at + 100, SEEK_SET);
        int byte = fgetc(file);
        fseek(file, at + 100, SEEK_SET);
        fputc(byte ^ 0x40, file);
        fflush(file);
        problems = 0;
        SUCCEEDS(realm_check_file("checked.realm", NULL, NULL, &problems));
        if (problems)
            found++;
        fseek(file, at + 100, SEEK_SET);
        fputc(byte, file);
        fflush(file);
    }
    fclose(file);
    CHECK(found > 10);
    SUCCEEDS(realm_check_file("checked.realm", NULL, NULL, &problems));
    CHECK(problems == 0);
}

static void test_statistics(void) {
    realm_t *realm = open_people("sizes.realm");
    keys_t k = keys_of(realm);
    make_people(realm, &k, 0, 1000);
    realm_statistics_t sizes;
    SUCCEEDS(realm_get_statistics(realm, &sizes));
    CHECK(sizes.file_bytes > 0 && sizes.file_bytes % 4096 == 0);
    CHECK(sizes.schema_version == 1 && sizes.version >= 3 && sizes.live_versions >= 1);
    SUCCEEDS(realm_get_statistics(realm, NULL));
    realm_class_statistics_t person, note;
    SUCCEEDS(realm_get_class_statistics(realm, k.person, &person));
    CHECK(person.num_objects == 1000 && person.row_bytes > 0 && person.index_bytes > 0);
    CHECK(person.num_indexes >= 2 && person.num_leaves >= 1);
    SUCCEEDS(realm_get_class_statistics(realm, k.note, &note));
    CHECK(note.num_objects == 0);
    FAILS(RLM_ERR_NO_SUCH_TABLE, realm_get_class_statistics(realm, 77777, &note));
    CHECK(realm_close(realm));
    FAILS(RLM_ERR_CLOSED_REALM, realm_get_statistics(realm, &sizes));
    FAILS(RLM_ERR_CLOSED_REALM, realm_get_class_statistics(realm, k.person, &note));
    realm_release(realm);
}

int main(void) {
    test_stored_version();
    test_compact();
    test_convert();
    test_merge();
    test_delete();
    test_check();
    test_statistics();
    return check_end("maintenance");
}
