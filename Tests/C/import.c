/* Files of realm-core: realm_import_core_file() with the library that it loads. What arrives is tested in
 * tests-python/test_import.py and Tests/CoreSwiftTests/CoreFile. */
#include "check.h"

static const realm_binary_t no_key = {NULL, 0};

static void write_file(const char *path, const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size) exit(2);
    fclose(file);
}

static double last;
static bool watch(void *userdata, double part) {
    ++*(int *)userdata;
    last = part;
    return true;
}

int main(void) {
    /* As the old library leaves a file that nothing was written to. */
    const char empty[24] = "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0T-DB";
    char *report = NULL;
    int told = 0;
    const uint8_t key[64] = {1, 2, 3};

    write_file("old.realm", empty, sizeof empty);
    CHECK(realm_import_core_file("old.realm", "new.realm", no_key, no_key, false, watch, &told,
                                 &report));
    CHECK(told > 0 && last == 1);
    CHECK(report && strstr(report, "\"whole\":true"));
    CHECK(strstr(report, "\"classes\":[]") && strstr(report, "\"schema_version\":null"));
    realm_free(report);
    CHECK(realm_check_file("new.realm", NULL, NULL, NULL));

    /* Without callback and report, and encrypted. */
    CHECK(realm_import_core_file("old.realm", "sealed.realm", no_key, (realm_binary_t){key, 64}, true,
                                 NULL, NULL, NULL));
    CHECK(realm_check_file_with_key("sealed.realm", (realm_binary_t){key, 64}, NULL, NULL, NULL));

    report = NULL;
    FAILS(RLM_ERR_FILE_ALREADY_EXISTS, realm_import_core_file("old.realm", "new.realm", no_key, no_key,
                                                              false, NULL, NULL, &report));
    FAILS(RLM_ERR_FILE_OPERATION_FAILED, realm_import_core_file("none.realm", "x.realm", no_key, no_key,
                                                                false, NULL, NULL, &report));
    FAILS(RLM_ERR_INVALID_DATABASE,
          realm_import_core_file("old.realm", "x.realm", (realm_binary_t){key, 64}, no_key, false, NULL,
                                 NULL, &report));
    FAILS(RLM_ERR_INVALID_ENCRYPTION_KEY,
          realm_import_core_file("old.realm", "x.realm", (realm_binary_t){key, 63}, no_key, false, NULL,
                                 NULL, &report));
    write_file("foreign.realm", "no file of the kind, but some bytes", 35);
    FAILS(RLM_ERR_INVALID_DATABASE, realm_import_core_file("foreign.realm", "x.realm", no_key, no_key,
                                                           false, NULL, NULL, &report));
    FAILS(RLM_ERR_INVALID_ARGUMENT,
          realm_import_core_file(NULL, "x.realm", no_key, no_key, false, NULL, NULL, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT,
          realm_import_core_file("old.realm", NULL, no_key, no_key, false, NULL, NULL, NULL));
    CHECK(!report && !fopen("x.realm", "rb"));
    return 0;
}
