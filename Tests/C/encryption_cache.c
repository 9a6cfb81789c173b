/* The decrypted blocks of encrypted files: bounded memory, with texts lent, frozen realms, several threads and
 * processes, and a file ten times as large as the cache. Each case runs in a process of its own, which
 * measures the memory that it came to. */
#define _GNU_SOURCE
#include "people.h"
#include "processes.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

enum { people_count = 60000, cache_bytes = 4 << 20, blob_count = 12, blob_bytes = 700000 };
static const char *path = "cache.realm";
static uint8_t key[64];

static realm_t *open_sealed(size_t cache) {
    realm_config_t *config = people_config(path);
    SUCCEEDS(realm_config_set_encryption_key(config, key, 64));
    realm_config_set_encryption_cache_size(config, cache);
    CHECK(realm_config_get_encryption_cache_size(config) == cache);
    return open_or_exit(config);
}

/* What a person is called at a version of the data, and its bytes. */
static const char *name_of(int64_t id, int edition, char text[128]) {
    snprintf(text, 128, "person %lld of edition %d, and some more of a name, %lld", (long long)id,
             edition, (long long)(id * 7919 % 10007));
    return text;
}
static uint8_t byte_of(int64_t id, size_t i) { return (uint8_t)((size_t)id * 31 + i * 7); }

/* People with these numbers, in one transaction. */
static void add(realm_t *realm, int64_t from, int64_t to) {
    static uint8_t data[blob_bytes];
    const keys_t k = keys_of(realm);
    char name[128];
    CHECK(realm_begin_write(realm));
    for (int64_t id = from; id < to; id++) {
        const size_t size = id < blob_count ? blob_bytes : 400;
        for (size_t i = 0; i < size; i++) data[i] = byte_of(id, i);
        realm_property_key_t keys[] = {k.name, k.age, k.data};
        realm_value_t bytes = {.type = RLM_TYPE_BINARY};
        bytes.binary = (realm_binary_t){data, size};
        realm_value_t values[] = {of_text(name_of(id, 0, name)), of_int(id % 100), bytes};
        realm_object_t *person =
            realm_object_create_with_primary_key(realm, k.person, of_int(id));
        CHECK(realm_set_values(person, 3, keys, values, false));
        realm_release(person);
    }
    CHECK(realm_commit(realm));
}
static void fill(realm_t *realm) {
    for (int64_t id = 0; id < people_count; id += 10000) add(realm, id, id + 10000);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Kilobytes of /proc/self/status. */
static long memory(const char *field) {
    char line[256];
    long found = -1;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (strncmp(line, field, strlen(field)) == 0)
            found = atol(line + strlen(field) + 1);
    if (status) fclose(status);
    return found;
}

static long memory_before;
static void memory_begins(void) { memory_before = memory("VmRSS"); }

/* More than the cache and 16 MB, and what the test itself keeps, was never taken. */
static void memory_ends(realm_t *realm, const char *what, size_t own) {
    const long grown = memory("VmHWM") - memory_before;
    realm_encryption_cache_statistics_t cache;
    CHECK(realm_get_encryption_cache_statistics(realm, &cache));
    printf("%s: %ld kB, decrypted %llu kB, evicted %llu kB, faults %llu\n", what, grown,
           (unsigned long long)cache.decrypted_bytes / 1024,
           (unsigned long long)cache.evicted_bytes / 1024, (unsigned long long)cache.faults);
    CHECK(grown <= (long)((cache_bytes + (16 << 20) + own) / 1024));
    CHECK(cache.evicted_bytes > 0 && cache.decrypted_bytes >= cache.evicted_bytes);
    CHECK(cache.bytes == cache.decrypted_bytes - cache.evicted_bytes || cache.bytes <= cache_bytes);
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool is_name(realm_value_t value, int64_t id, int edition) {
    char name[128];
    name_of(id, edition, name);
    return value.type == RLM_TYPE_STRING && value.string.size == strlen(name)
           && memcmp(value.string.data, name, value.string.size) == 0;
}
static bool is_data(realm_value_t value, int64_t id) {
    const size_t size = id < blob_count ? blob_bytes : 400;
    bool same = value.type == RLM_TYPE_BINARY && value.binary.size == size;
    for (size_t i = 0; same && i < size; i++) same = value.binary.data[i] == byte_of(id, i);
    return same;
}

static void read_person(realm_t *realm, const keys_t *k, int64_t id, realm_value_t values[2]) {
    bool found = false;
    const realm_property_key_t keys[] = {k->name, k->data};
    realm_object_t *person =
        realm_object_find_with_primary_key(realm, k->person, of_int(id), &found);
    CHECK(person && found && realm_get_values(person, 2, keys, values));
    realm_release(person);
}

static size_t matches(realm_t *realm, const char *text) {
    size_t count = 0;
    realm_query_t *query = realm_query_parse(realm, keys_of(realm).person, text, 0, NULL);
    CHECK(query != NULL && realm_query_count(query, &count));
    realm_release(query);
    return count;
}

/* All is read once, and what was lent is looked at when all was read. */
static int scan_role(void) {
    realm_t *realm = open_sealed(cache_bytes);
    const keys_t k = keys_of(realm);
    memory_begins();
    realm_value_t (*lent)[2] = malloc(people_count * sizeof *lent);
    for (int64_t id = 0; id < people_count; id++) read_person(realm, &k, id, lent[id]);
    for (int64_t id = people_count - 1; id >= 0; id--)
        CHECK(is_name(lent[id][0], id, 0) && is_data(lent[id][1], id));
    memory_ends(realm, "lent", people_count * sizeof *lent);
    free(lent);
    realm_release(realm);
    return 0;
}

static int queries_role(void) {
    realm_t *realm = open_sealed(cache_bytes);
    memory_begins();
    for (int round = 0; round < 3; round++) {
        CHECK(matches(realm, "name BEGINSWITH 'person 77'") == 111);
        CHECK(matches(realm, "name ENDSWITH ', 0'") == matches(realm, "name LIKE '*, 0'"));
        CHECK(matches(realm, "age == 7") == people_count / 100);
        CHECK(matches(realm, "data == null") == 0);
        CHECK(matches(realm, "data.@size > 400") == blob_count);
        CHECK(matches(realm, "name CONTAINS[c] 'EDITION 0'") == people_count);
    }
    memory_ends(realm, "queries", 0);
    realm_release(realm);
    return 0;
}

/* One transaction that is larger than the cache, which is full when it begins. */
static int writer_role(void) {
    realm_t *realm = open_sealed(cache_bytes);
    const keys_t k = keys_of(realm);
    memory_begins();
    for (int64_t id = 0; id < people_count; id++) {
        realm_value_t values[2];
        read_person(realm, &k, id, values);
    }
    add(realm, people_count, 2 * people_count);
    for (int64_t id = 0; id < 2 * people_count; id++) {
        realm_value_t values[2];
        read_person(realm, &k, id, values);
        CHECK(is_data(values[1], id));
        /* The first ones have names of other editions by now. */
        CHECK(id < people_count || is_name(values[0], id, 0));
    }
    memory_ends(realm, "writer", 0);
    realm_release(realm);
    return 0;
}

/* -- threads, each with a realm of its own, and one frozen realm that all have ------------------- */

typedef struct reader {
    realm_t *frozen;
    unsigned seed;
    pthread_t thread;
} reader_t;

static void *read_at_random(void *argument) {
    reader_t *reader = argument;
    realm_t *own = open_sealed(cache_bytes);
    const keys_t k = keys_of(own);
    int64_t ids[64];
    realm_value_t frozen[64][2], live[64][2];
    for (int round = 0; round < 60; round++) {
        for (int i = 0; i < 64; i++) {
            ids[i] = rand_r(&reader->seed) % people_count;
            read_person(reader->frozen, &k, ids[i], frozen[i]);
            read_person(own, &k, ids[i], live[i]);
        }
        for (int i = 0; i < 64; i++) {
            CHECK(is_name(frozen[i][0], ids[i], 0) && is_data(frozen[i][1], ids[i]));
            /* The writer goes from the first to the last, again and again. */
            CHECK(is_data(live[i][1], ids[i]));
            bool is_known = false;
            for (int edition = 0; edition < 40 && !is_known; edition++)
                is_known = is_name(live[i][0], ids[i], edition);
            CHECK(is_known);
        }
        CHECK(realm_refresh(own, NULL));
    }
    realm_release(own);
    return NULL;
}

static void write_edition(realm_t *realm, int edition, int64_t from, int64_t to) {
    const keys_t k = keys_of(realm);
    char name[128];
    CHECK(realm_begin_write(realm));
    for (int64_t id = from; id < to; id++) {
        bool found;
        realm_object_t *person =
            realm_object_find_with_primary_key(realm, k.person, of_int(id), &found);
        CHECK(person && found);
        CHECK(realm_set_value(person, k.name, of_text(name_of(id, edition, name)), false));
        realm_release(person);
    }
    CHECK(realm_commit(realm));
}

static int threads_role(void) {
    realm_t *realm = open_sealed(cache_bytes);
    realm_t *frozen = realm_freeze(realm);
    memory_begins();
    reader_t readers[3];
    for (int i = 0; i < 3; i++) {
        readers[i].frozen = frozen;
        readers[i].seed = (unsigned)i + 1;
        CHECK(pthread_create(&readers[i].thread, NULL, read_at_random, readers + i) == 0);
    }
    for (int edition = 1; edition < 21; edition++)
        write_edition(realm, edition, edition * 1000, edition * 1000 + 2000);
    for (int i = 0; i < 3; i++) pthread_join(readers[i].thread, NULL);
    /* The frozen realm outlives the versions behind it. */
    const keys_t k = keys_of(frozen);
    for (int64_t id = 0; id < people_count; id += 17) {
        realm_value_t values[2];
        read_person(frozen, &k, id, values);
        CHECK(is_name(values[0], id, 0) && is_data(values[1], id));
    }
    /* Stacks and allocators of three threads, and the transactions. */
    memory_ends(realm, "threads", 8 << 20);
    realm_release(frozen);
    realm_release(realm);
    return 0;
}

/* ---- processes ------------------------------------------------------------------------------- */

/* Reads everything, again and again, while another process writes it; each version is of one edition. */
static int follow_role(int descriptor) {
    realm_t *realm = open_sealed(cache_bytes);
    const keys_t k = keys_of(realm);
    memory_begins();
    int edition = 0;
    report_t report = {0};
    while (edition < 30) {
        CHECK(realm_refresh(realm, NULL));
        realm_value_t first[2], values[2];
        read_person(realm, &k, 20000, first);
        int now = 0;
        while (now < 100 && !is_name(first[0], 20000, now)) now++;
        CHECK(now < 100 && now >= edition);
        edition = now;
        for (int64_t id = 20000; id < 24000; id++) {
            read_person(realm, &k, id, values);
            CHECK(is_name(values[0], id, edition) && is_data(values[1], id));
        }
        for (int64_t id = edition % 7; id < people_count; id += 7) {
            read_person(realm, &k, id, values);
            CHECK(is_data(values[1], id));
        }
        CHECK(is_name(first[0], 20000, edition));
        report.count++;
        if (write(descriptor, &report, sizeof report) < 0) return 3;
    }
    memory_ends(realm, "process", 0);
    realm_release(realm);
    return 0;
}

static void test_processes(void) {
    realm_t *realm = open_sealed(cache_bytes);
    write_edition(realm, 21, 20000, 24000);
    process_t follower = start("follow", path, 0);
    CHECK(until_count(&follower, 1, 60000));
    for (int edition = 22; edition < 31; edition++) {
        write_edition(realm, edition, 20000, 24000);
        report_t report;
        /* Some commits come while it reads. */
        if (edition % 3 == 0) CHECK(next_report(&follower, &report, 60000));
    }
    CHECK(end_of(&follower) == 0);
    realm_release(realm);
}

/* ---- other handlers, and system calls --------------------------------------------------------- */

static volatile sig_atomic_t caught;
static void *guarded;
static void on_segv(int number, siginfo_t *info, void *machine) {
    (void)number;
    (void)machine;
    caught += info->si_addr == guarded;
    mprotect(guarded, 4096, PROT_READ);
}

/* The program's own handler gets what is its own, whether it came before the engine's or after it. */
static int handlers_role(void) {
    guarded = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct sigaction own = {.sa_flags = SA_SIGINFO};
    own.sa_sigaction = on_segv;
    CHECK(sigaction(SIGSEGV, &own, NULL) == 0);
    realm_t *realm = open_sealed(cache_bytes);
    const keys_t k = keys_of(realm);
    for (int round = 1; round < 4; round++) {
        realm_value_t lent[2];
        read_person(realm, &k, 20000, lent);
        CHECK(matches(realm, "name CONTAINS[c] 'EDITION'") == people_count);
        mprotect(guarded, 4096, PROT_NONE);
        CHECK(*(volatile char *)guarded == 0 && caught == round);
        /* Takes the engine's away, which the next transaction brings back: what was lent, and evicted since, is
         * looked at before anything else is evicted. */
        CHECK(sigaction(SIGSEGV, &own, NULL) == 0);
        CHECK(realm_begin_write(realm) && realm_rollback(realm));
        CHECK(is_name(lent[0], 20000, 0) && is_data(lent[1], 20000));
        CHECK(caught == round);
    }
    realm_release(realm);
    return 0;
}

/* ---- large blocks ---------------------------------------------------------------------------- */

enum { large_count = 24, large_bytes = 4 << 20 };

static int fill_large_role(void) {
    path = "large.realm";
    realm_t *realm = open_sealed(cache_bytes);
    const keys_t k = keys_of(realm);
    uint8_t *data = malloc(large_bytes);
    for (int64_t id = 0; id < large_count; id++) {
        for (size_t i = 0; i < large_bytes; i++) data[i] = byte_of(id, i);
        realm_value_t value = {.type = RLM_TYPE_BINARY};
        value.binary = (realm_binary_t){data, large_bytes};
        CHECK(realm_begin_write(realm));
        realm_object_t *person = realm_object_create_with_primary_key(realm, k.person, of_int(id));
        CHECK(realm_set_value(person, k.data, value, false) && realm_commit(realm));
        realm_release(person);
    }
    realm_release(realm);
    free(data);
    return 0;
}

/* As many large blocks as small ones stay in any case would be much more than the cache. */
static int read_large_role(void) {
    path = "large.realm";
    realm_t *realm = open_sealed(cache_bytes);
    const keys_t k = keys_of(realm);
    memory_begins();
    for (int round = 0; round < 3; round++)
        for (int64_t id = 0; id < large_count; id++) {
            realm_value_t values[2];
            read_person(realm, &k, id, values);
            bool same = values[1].type == RLM_TYPE_BINARY && values[1].binary.size == large_bytes;
            for (size_t i = 0; same && i < large_bytes; i++) same = values[1].binary.data[i] == byte_of(id, i);
            CHECK(same);
        }
    memory_ends(realm, "large", 0);
    realm_release(realm);
    return 0;
}

/* Blocks of an encrypted file go to a plain one as they are, so the kernel reads what was evicted. */
static int copy_role(void) {
    realm_t *realm = open_sealed(1);
    realm_config_t *config = people_config("copy.realm");
    SUCCEEDS(realm_convert_with_config(realm, config, false));
    realm_t *copy = open_or_exit(config);
    const keys_t k = keys_of(copy);
    for (int64_t id = 0; id < people_count; id++) {
        realm_value_t values[2], originals[2];
        read_person(copy, &k, id, values);
        read_person(realm, &k, id, originals);
        CHECK(is_data(values[1], id) && is_data(originals[1], id));
        CHECK(values[0].string.size == originals[0].string.size
              && memcmp(values[0].string.data, originals[0].string.data, values[0].string.size)
                     == 0);
    }
    realm_release(copy);
    realm_release(realm);
    size_t problems = 0;
    CHECK(realm_check_file_with_key(path, (realm_binary_t){key, 64}, NULL, NULL, &problems));
    CHECK(problems == 0);
    return 0;
}

/* What is damaged behind the back of an open realm, and was evicted: zeros, and then an error. */
static int damage_role(void) {
    CHECK(system("cp cache.realm damaged.realm") == 0);
    path = "damaged.realm";
    realm_t *realm = open_sealed(cache_bytes);
    const keys_t k = keys_of(realm);
    realm_value_t (*lent)[2] = malloc(people_count * sizeof *lent);
    for (int64_t id = 0; id < people_count; id++) read_person(realm, &k, id, lent[id]);
    FILE *file = fopen(path, "r+b");
    CHECK(file != NULL && fseek(file, 1 << 20, SEEK_SET) == 0);
    for (int i = 0; i < 20 << 20; i++) putc(0xA5, file);
    fclose(file);
    int zeros = 0;
    for (int64_t id = 0; id < people_count; id++) {
        const realm_string_t name = lent[id][0].string;
        if (is_name(lent[id][0], id, 0)) continue;
        bool is_empty = true;
        for (size_t i = 0; i < name.size; i++) is_empty = is_empty && name.data[i] == 0;
        CHECK(is_empty);
        zeros++;
    }
    CHECK(zeros > 1000);
    CHECK(realm_begin_read(realm));
    FAILS(RLM_ERR_INVALID_DATABASE, realm_begin_write(realm));
    realm_config_t *config = people_config(path);
    SUCCEEDS(realm_config_set_encryption_key(config, key, 64));
    realm_t *second = realm_open(config);
    realm_error_t error;
    CHECK(!second && realm_get_last_error(&error) && error.error == RLM_ERR_INVALID_DATABASE);
    realm_release(config);
    free(lent);
    realm_release(realm);
    return 0;
}

static int kept_role(void) {
    realm_t *realm = open_sealed(0);
    CHECK(matches(realm, "name CONTAINS[c] 'EDITION'") == people_count);
    realm_encryption_cache_statistics_t cache;
    CHECK(realm_get_encryption_cache_statistics(realm, &cache));
    CHECK(cache.bytes == 0 && cache.evicted_bytes == 0);
    realm_release(realm);
    return 0;
}

static int run(const char *role, int descriptor) {
    int failed = 2;
    if (strcmp(role, "scan") == 0) failed = scan_role();
    if (strcmp(role, "queries") == 0) failed = queries_role();
    if (strcmp(role, "writer") == 0) failed = writer_role();
    if (strcmp(role, "threads") == 0) failed = threads_role();
    if (strcmp(role, "follow") == 0) failed = follow_role(descriptor);
    if (strcmp(role, "handlers") == 0) failed = handlers_role();
    if (strcmp(role, "copy") == 0) failed = copy_role();
    if (strcmp(role, "damage") == 0) failed = damage_role();
    if (strcmp(role, "kept") == 0) failed = kept_role();
    if (strcmp(role, "fill large") == 0) failed = fill_large_role();
    if (strcmp(role, "read large") == 0) failed = read_large_role();
    return failed ? failed : check_end(role);
}

int main(int argc, char **argv) {
    for (int i = 0; i < 64; i++) key[i] = (uint8_t)(i * 5 + 1);
    if (argc == 4 && strcmp(argv[1], path) == 0) return run(argv[0], atoi(argv[2]));
    realm_t *realm = open_sealed(cache_bytes);
    fill(realm);
    realm_release(realm);
    const char *roles[] = {"scan", "queries", "kept", "handlers", "damage", "threads", "fill large", "read large"};
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
        process_t process = start(roles[i], path, 0);
        CHECK(end_of(&process) == 0);
    }
    test_processes();
    const char *last[] = {"copy", "writer"};
    for (size_t i = 0; i < sizeof last / sizeof *last; i++) {
        process_t process = start(last[i], path, 0);
        CHECK(end_of(&process) == 0);
    }
    return check_end("encryption_cache");
}
