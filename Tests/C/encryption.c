/* Encrypted files: keys that fit and keys that don't, copies with other keys, several processes. */
#define _GNU_SOURCE
#include "people.h"
#include "processes.h"

static uint8_t key_a[64], key_b[64];
static const realm_binary_t no_key = {NULL, 0};

static realm_binary_t binary(const uint8_t *key) { return (realm_binary_t){key, 64}; }

static realm_config_t *sealed_config(const char *path, const uint8_t *key) {
    realm_config_t *config = people_config(path);
    SUCCEEDS(realm_config_set_encryption_key(config, key, key ? 64 : 0));
    return config;
}

static realm_t *open_sealed(const char *path, const uint8_t *key) {
    realm_config_t *config = sealed_config(path, key);
    realm_t *realm = realm_open(config);
    realm_release(config);
    return realm;
}

static void add(realm_t *realm, int64_t first, int64_t last) {
    keys_t k = keys_of(realm);
    CHECK(realm_begin_write(realm));
    for (int64_t id = first; id < last; id++)
        realm_release(make_person(realm, &k, id));
    CHECK(realm_commit(realm));
}

static size_t count(realm_t *realm) {
    size_t count = 0;
    CHECK(realm_get_num_objects(realm, keys_of(realm).person, &count));
    return count;
}

/* Whether the bytes of a file have this text somewhere. */
static bool shows(const char *path, const char *text) {
    static char bytes[1 << 22];
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    CHECK(size > 4096 && size < sizeof bytes);
    return memmem(bytes, size, text, strlen(text)) != NULL;
}

static size_t problems(const char *path, realm_binary_t key) {
    size_t found = 0;
    CHECK(realm_check_file_with_key(path, key, NULL, NULL, &found));
    return found;
}

static void test_keys(void) {
    realm_t *realm = open_sealed("sealed.realm", key_a);
    CHECK(realm != NULL);
    add(realm, 0, 500);
    CHECK(count(realm) == 500);
    /* In this process the key has to be the same, too. */
    FAILS(RLM_ERR_MISMATCHED_CONFIG, open_sealed("sealed.realm", NULL));
    FAILS(RLM_ERR_MISMATCHED_CONFIG, open_sealed("sealed.realm", key_b));
    realm_t *second = open_sealed("sealed.realm", key_a);
    CHECK(second != NULL && count(second) == 500);
    realm_release(second);
    realm_release(realm);
    CHECK(!shows("sealed.realm", "Person") && !shows("sealed.realm", "name"));

    FAILS(RLM_ERR_INVALID_DATABASE, open_sealed("sealed.realm", NULL));
    FAILS(RLM_ERR_INVALID_DATABASE, open_sealed("sealed.realm", key_b));
    realm_release(open_people("plain.realm"));
    FAILS(RLM_ERR_INVALID_DATABASE, open_sealed("plain.realm", key_a));

    realm_config_t *config = sealed_config("sealed.realm", key_a);
    CHECK(realm_get_persisted_schema_version(config) == 1);
    SUCCEEDS(realm_config_set_encryption_key(config, key_b, 64));
    CHECK(realm_get_persisted_schema_version(config) == UINT64_MAX);
    realm_error_t error;
    CHECK(realm_get_last_error(&error) && error.error == RLM_ERR_INVALID_DATABASE);
    realm_clear_last_error();
    realm_release(config);

    CHECK(problems("sealed.realm", binary(key_a)) == 0);
    CHECK(problems("sealed.realm", binary(key_b)) == 1);
    CHECK(problems("sealed.realm", no_key) == 1);
    CHECK(problems("plain.realm", no_key) == 0);
    FAILS(RLM_ERR_INVALID_ENCRYPTION_KEY,
          realm_check_file_with_key("sealed.realm", (realm_binary_t){key_a, 63}, NULL, NULL, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_check_file_with_key(NULL, no_key, NULL, NULL, NULL));
}

static void test_copies(void) {
    realm_t *realm = open_sealed("sealed.realm", key_a);
    SUCCEEDS(realm_convert_with_path(realm, "other.realm", binary(key_b), false));
    SUCCEEDS(realm_convert_with_path(realm, "none.realm", no_key, false));
    realm_config_t *config = sealed_config("same.realm", key_a);
    SUCCEEDS(realm_convert_with_config(realm, config, false));
    realm_release(config);
    CHECK(shows("none.realm", "Person") && !shows("other.realm", "Person"));
    const struct {
        const char *path;
        const uint8_t *key;
    } copies[] = {{"other.realm", key_b}, {"none.realm", NULL}, {"same.realm", key_a}};
    for (int i = 0; i < 3; i++) {
        realm_t *copy = open_sealed(copies[i].path, copies[i].key);
        CHECK(copy != NULL && count(copy) == 500);
        add(copy, 1000, 1010);
        realm_release(copy);
        CHECK(problems(copies[i].path, copies[i].key ? binary(copies[i].key) : no_key) == 0);
    }
    bool did = false;
    CHECK(realm_compact(realm, &did));
    CHECK(count(realm) == 500);
    realm_release(realm);
    CHECK(problems("sealed.realm", binary(key_a)) == 0);
}

static void test_other_keys(void) {
    realm_t *realm = open_sealed("rekeyed.realm", NULL);
    add(realm, 0, 500);
    FAILS(RLM_ERR_DELETE_OPENED_REALM,
          realm_change_encryption_key("rekeyed.realm", no_key, binary(key_a)));
    realm_release(realm);
    FAILS(RLM_ERR_INVALID_DATABASE,
          realm_change_encryption_key("rekeyed.realm", binary(key_b), binary(key_a)));
    FAILS(RLM_ERR_INVALID_ENCRYPTION_KEY,
          realm_change_encryption_key("rekeyed.realm", no_key, (realm_binary_t){key_a, 63}));
    FAILS(RLM_ERR_FILE_NOT_FOUND,
          realm_change_encryption_key("nothing.realm", no_key, binary(key_a)));
    CHECK(access("nothing.realm", F_OK) != 0 && access("rekeyed.realm.rekeying", F_OK) != 0);
    const uint8_t *keys[] = {NULL, key_a, key_b, NULL};
    for (int i = 0; i < 3; i++) {
        SUCCEEDS(realm_change_encryption_key("rekeyed.realm",
                                             keys[i] ? binary(keys[i]) : no_key,
                                             keys[i + 1] ? binary(keys[i + 1]) : no_key));
        CHECK(shows("rekeyed.realm", "Person") == (keys[i + 1] == NULL));
        realm = open_sealed("rekeyed.realm", keys[i + 1]);
        CHECK(realm != NULL && count(realm) == 500 + (size_t)i);
        add(realm, 1000 + i, 1001 + i);
        realm_release(realm);
    }
    CHECK(problems("rekeyed.realm", no_key) == 0);
}

/* -- Several processes ---------------------------------------------------------------------------- */

/* Adds people one by one, and reads all that others added. */
static int writer(const char *path, int number) {
    realm_t *realm = open_sealed(path, key_a);
    if (!realm)
        return 4;
    size_t before = 0;
    for (int64_t i = 0; i < 100; i++) {
        add(realm, 10000 * number + i, 10000 * number + i + 1);
        size_t now = count(realm);
        if (now <= before)
            return 5;
        before = now;
    }
    realm_release(realm);
    return 0;
}

static void test_processes(void) {
    realm_t *realm = open_sealed("shared.realm", key_a);
    process_t writers[3];
    for (int i = 0; i < 3; i++)
        writers[i] = start("writer", "shared.realm", i + 1);
    process_t stranger = start("stranger", "shared.realm", 0);
    CHECK(end_of(&stranger) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(end_of(&writers[i]) == 0);
    realm_refresh(realm, NULL);
    CHECK(count(realm) == 300);
    realm_release(realm);
    CHECK(problems("shared.realm", binary(key_a)) == 0);
}

/* Somebody with another key, while others have the file open. */
static int stranger(const char *path) {
    FAILS(RLM_ERR_INVALID_DATABASE, open_sealed(path, key_b));
    FAILS(RLM_ERR_INVALID_DATABASE, open_sealed(path, NULL));
    return 0;
}

int main(int argc, char **argv) {
    for (int i = 0; i < 64; i++) {
        key_a[i] = (uint8_t)(i * 7 + 1);
        key_b[i] = (uint8_t)(i * 7 + 2);
    }
    if (argc == 4 && strcmp(argv[0], "writer") == 0)
        return writer(argv[1], atoi(argv[3]));
    if (argc == 4 && strcmp(argv[0], "stranger") == 0)
        return stranger(argv[1]);
    test_keys();
    test_copies();
    test_other_keys();
    test_processes();
    return check_end("encryption");
}
