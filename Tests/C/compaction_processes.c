/* Compaction while other processes have the file open, plain and encrypted: they read and write on, and nobody
 * loses anything, whether it takes place or is left out. */
#define _GNU_SOURCE
#include "people.h"
#include "processes.h"

#include <sys/stat.h>

enum { filler_count = 16000, attempts = 60 };
static uint8_t key[64];

/* The number says whether the file is encrypted. */
static realm_t *open_file(const char *path, int number) {
    realm_config_t *config = people_config(path);
    if (number & 1) SUCCEEDS(realm_config_set_encryption_key(config, key, 64));
    return open_or_exit(config);
}

static long long file_bytes(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 ? (long long)status.st_size : -1;
}

static int64_t age_of(realm_t *realm, int64_t id) {
    bool found = false;
    realm_value_t value = {0};
    realm_object_t *person =
        realm_object_find_with_primary_key(realm, keys_of(realm).person, of_int(id), &found);
    CHECK(person && found && realm_get_value(person, keys_of(realm).age, &value));
    realm_release(person);
    return value.integer;
}

/* One more to the age of a person. */
static void count_up(realm_t *realm, int64_t id) {
    CHECK(realm_begin_write(realm));
    bool found = false;
    realm_object_t *person =
        realm_object_find_with_primary_key(realm, keys_of(realm).person, of_int(id), &found);
    CHECK(person && found);
    CHECK(realm_set_value(person, keys_of(realm).age, of_int(age_of(realm, id) + 1), false));
    realm_release(person);
    CHECK(realm_commit(realm));
}

/* Makes people and deletes them again, in two transactions, so that there is space to give back. */
static void make_space(realm_t *realm) {
    const keys_t k = keys_of(realm);
    make_people(realm, &k, 1000, filler_count);
    CHECK(realm_begin_write(realm));
    realm_query_t *query = realm_query_parse(realm, k.person, "_id >= 1000", 0, NULL);
    CHECK(query && realm_query_delete_all(query));
    realm_release(query);
    CHECK(realm_commit(realm));
}

static void check_whole(realm_t *realm) {
    size_t problems = 99;
    SUCCEEDS(realm_check(realm, NULL, NULL, &problems));
    CHECK(problems == 0);
}

/* Counts up until its parent writes 1000 to the age of person 3; holds versions for a while, too. */
static int writer_role(const char *path, int descriptor, int number) {
    realm_t *realm = open_file(path, number);
    const int64_t id = number >> 1;
    report_t report = {0};
    for (;;) {
        CHECK(realm_refresh(realm, NULL));
        if (age_of(realm, 3) == 1000) break;
        realm_t *frozen = realm_freeze(realm);
        const int64_t age = age_of(realm, id);
        count_up(realm, id);
        CHECK(age_of(frozen, id) == age && age_of(realm, id) == age + 1);
        realm_release(frozen);
        report.count++;
    }
    check_whole(realm);
    realm_release(realm);
    if (write(descriptor, &report, sizeof report) != sizeof report) return 3;
    return check_end("writer");
}

/* Keeps the version that it began with, until it is killed. */
static int keeper_role(const char *path, int descriptor, int number) {
    realm_t *realm = open_file(path, number);
    const int64_t age = age_of(realm, 0);
    report_t report = {.count = 1};
    if (write(descriptor, &report, sizeof report) != sizeof report) return 3;
    for (;;) {
        CHECK(age_of(realm, 0) == age);
        if (check_end("keeper") != 0) return 1;
        usleep(1000);
    }
}

static void test_writers(const char *path, int sealed) {
    realm_t *realm = open_file(path, sealed);
    const keys_t k = keys_of(realm);
    make_people(realm, &k, 0, 10);
    int64_t before[3];
    for (int id = 0; id < 3; id++) before[id] = age_of(realm, id);
    process_t writers[] = {start("writer", path, 2 | sealed), start("writer", path, 4 | sealed)};
    for (int i = 0; i < attempts; i++) {
        if (i % 10 == 0) make_space(realm);
        count_up(realm, 0);
        SUCCEEDS(realm_compact(realm, NULL));
        usleep(2000);
    }
    CHECK(realm_begin_write(realm));
    realm_object_t *end = realm_object_find_with_primary_key(realm, k.person, of_int(3), NULL);
    CHECK(end && realm_set_value(end, k.age, of_int(1000), false));
    realm_release(end);
    CHECK(realm_commit(realm));
    uint64_t counts[2] = {0};
    for (int i = 0; i < 2; i++) {
        report_t report = {0};
        CHECK(next_report(&writers[i], &report, 60000));
        counts[i] = report.count;
        CHECK(end_of(&writers[i]) == 0);
    }
    CHECK(realm_refresh(realm, NULL));
    CHECK(counts[0] > 0 && counts[1] > 0);
    CHECK(age_of(realm, 0) == before[0] + attempts);
    CHECK(age_of(realm, 1) == before[1] + (int64_t)counts[0]);
    CHECK(age_of(realm, 2) == before[2] + (int64_t)counts[1]);
    printf("%s: %d attempts beside %llu and %llu commits\n", path, attempts,
           (unsigned long long)counts[0], (unsigned long long)counts[1]);
    check_whole(realm);
    make_space(realm);
    const long long large = file_bytes(path);
    bool did = false;
    SUCCEEDS(realm_compact(realm, &did));
    CHECK(did && file_bytes(path) < large / 4);
    check_whole(realm);
    realm_release(realm);
}

static void test_keeper(const char *path, int sealed) {
    realm_t *realm = open_file(path, sealed);
    process_t keeper = start("keeper", path, sealed);
    CHECK(until_count(&keeper, 1, 60000));
    count_up(realm, 0);
    make_space(realm);
    /* Beside a reader the free end of the file is given back, which may be most of it. */
    const long long large = file_bytes(path);
    bool did = true;
    SUCCEEDS(realm_compact(realm, &did));
    CHECK(!did);
    usleep(20000);
    CHECK(kill_now(&keeper) == -SIGKILL);
    /* What it had open goes with it. */
    SUCCEEDS(realm_compact(realm, &did));
    CHECK(did);
    CHECK(file_bytes(path) < large / 4);
    check_whole(realm);
    realm_release(realm);
}

int main(int argc, char **argv) {
    for (int i = 0; i < 64; i++) key[i] = (uint8_t)(i * 3 + 7);
    if (argc == 4 && strcmp(argv[0], "writer") == 0)
        return writer_role(argv[1], atoi(argv[2]), atoi(argv[3]));
    if (argc == 4 && strcmp(argv[0], "keeper") == 0)
        return keeper_role(argv[1], atoi(argv[2]), atoi(argv[3]));
    const char *paths[] = {"plain.realm", "sealed.realm"};
    for (int sealed = 0; sealed < 2; sealed++) {
        test_writers(paths[sealed], sealed);
        test_keeper(paths[sealed], sealed);
    }
    return check_end("compaction_processes");
}
