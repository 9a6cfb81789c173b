/* SIGKILL at any moment of processes that write, read and open one file, plain and encrypted. Writers count, each
 * for itself and all together; what a commit that returned has counted is noted in memory that outlives them.
 *
 *   kills [SECONDS [SEED]]    so long for each kind of file; a few seconds where none are given
 *
 * Whatever is killed when: the counts in the file are those noted, or one more where a commit was under way; nobody else
 * waits longer than a dying process takes; and what killed readers pinned comes back. */
#define _GNU_SOURCE
#include "people.h"
#include "processes.h"

#include <fcntl.h>
#include <sys/mman.h>

enum { WRITERS = 3, READERS = 2, OPENERS = 1, PROCESSES = WRITERS + READERS + OPENERS, KEPT = 30 };

typedef struct ledger {
    /* What the writer has begun to commit, and what a commit that returned has counted to. */
    volatile int64_t begun[PROCESSES], done[PROCESSES];
    volatile int64_t checked, opened;
} ledger_t;

static uint8_t key[64];
static ledger_t *ledger;

static realm_t *open_counters(const char *path, bool sealed) {
    realm_property_info_t counter[] = {
        property_of("id", RLM_PROPERTY_TYPE_INT, RLM_PROPERTY_PRIMARY_KEY),
        property_of("value", RLM_PROPERTY_TYPE_INT, 0),
    };
    realm_property_info_t entry[] = {
        property_of("id", RLM_PROPERTY_TYPE_INT, RLM_PROPERTY_PRIMARY_KEY),
        property_of("text", RLM_PROPERTY_TYPE_STRING, RLM_PROPERTY_INDEXED),
        property_of("data", RLM_PROPERTY_TYPE_BINARY, RLM_PROPERTY_NULLABLE),
        link_of("counter", "Counter"),
    };
    realm_class_info_t classes[] = {class_of("Counter", "id", 2, 0), class_of("Entry", "id", 4, 0)};
    const realm_property_info_t *properties[] = {counter, entry};
    realm_config_t *config = config_with(path, realm_schema_new(classes, 2, properties));
    if (sealed)
        CHECK(realm_config_set_encryption_key(config, key, sizeof key));
    return open_or_exit(config);
}

static void map_ledger(const char *path) {
    char name[128];
    snprintf(name, sizeof name, "%s.ledger", path);
    int file = open(name, O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, sizeof *ledger) != 0)
        exit(9);
    ledger = mmap(NULL, sizeof *ledger, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
}

static realm_object_t *find(realm_t *realm, const char *class, int64_t id) {
    bool found = false;
    return realm_object_find_with_primary_key(realm, class_key(realm, class), of_int(id), &found);
}
static int64_t int_of(realm_t *realm, realm_object_t *object, const char *property) {
    realm_value_t value = of_null();
    CHECK(realm_get_value(object, property_key(realm, class_key(realm, "Counter"), property), &value));
    return value.integer;
}

static int64_t counted(realm_t *realm, int64_t id) {
    realm_object_t *counter = find(realm, "Counter", id);
    if (!counter)
        return 0;
    int64_t value = int_of(realm, counter, "value");
    realm_release(counter);
    return value;
}

static int64_t add_one(realm_t *realm, int64_t id) {
    realm_class_key_t class = class_key(realm, "Counter");
    bool created = false;
    realm_object_t *counter =
        realm_object_get_or_create_with_primary_key(realm, class, of_int(id), &created);
    CHECK(counter != NULL);
    int64_t value = int_of(realm, counter, "value") + 1;
    CHECK(realm_set_value(counter, property_key(realm, class, "value"), of_int(value), false));
    realm_release(counter);
    return value;
}

static int64_t entry_id(int64_t writer, int64_t value) { return writer << 40 | value; }

/* The sum that all writers share is counter -1. */
static void count_once(realm_t *realm, int writer) {
    static uint8_t large[40000];
    realm_class_key_t class = class_key(realm, "Entry");
    char text[64];
    CHECK(realm_begin_write(realm));
    int64_t value = add_one(realm, writer);
    add_one(realm, -1);
    realm_object_t *entry =
        realm_object_create_with_primary_key(realm, class, of_int(entry_id(writer, value)));
    realm_object_t *counter = find(realm, "Counter", writer);
    snprintf(text, sizeof text, "entry %lld", (long long)value);
    realm_property_key_t keys[] = {property_key(realm, class, "text"), property_key(realm, class, "data"),
                                   property_key(realm, class, "counter")};
    realm_link_t link = realm_object_as_link(counter);
    realm_value_t linked = of_type(RLM_TYPE_LINK);
    linked.link = link;
    memset(large, (int)value, sizeof large);
    realm_value_t values[] = {
        of_text(text), of_bytes(large, value % 20 == 3 ? sizeof large : (size_t)(value % 500)), linked};
    CHECK(entry && realm_set_values(entry, 3, keys, values, false));
    realm_release(entry);
    realm_release(counter);
    realm_object_t *old = find(realm, "Entry", entry_id(writer, value - KEPT));
    if (old)
        CHECK(realm_object_delete(old));
    realm_release(old);
    ledger->begun[writer] = value;
    CHECK(realm_commit(realm));
    ledger->done[writer] = value;
}

/* What every version has to satisfy: nobody's count is lost, and each has its last entries. */
static void check_counts(realm_t *realm) {
    int64_t sum = 0, entries = 0;
    for (int writer = 0; writer < PROCESSES; writer++) {
        int64_t value = counted(realm, writer);
        sum += value;
        entries += value < KEPT ? value : KEPT;
        if (value == 0)
            continue;
        realm_object_t *last = find(realm, "Entry", entry_id(writer, value));
        CHECK(last != NULL);
        if (!last)
            continue;
        realm_value_t data = of_null();
        CHECK(realm_get_value(last, property_key(realm, class_key(realm, "Entry"), "data"), &data));
        CHECK(data.binary.size == (value % 20 == 3 ? 40000 : (size_t)(value % 500)));
        for (size_t i = 0; i < data.binary.size && !failures; i += 97)
            CHECK(data.binary.data[i] == (uint8_t)value);
        realm_release(last);
    }
    CHECK(counted(realm, -1) == sum);
    size_t count = 0;
    CHECK(realm_get_num_objects(realm, class_key(realm, "Entry"), &count));
    CHECK((int64_t)count == entries);
}

/* -- The other processes: the path's first letter says whether the file is encrypted ------------------- */

static int play(const char *role, const char *path, int number) {
    bool sealed = *path == 's';
    map_ledger(path);
    if (strcmp(role, "open") == 0)
        for (;;) {
            realm_t *realm = open_counters(path, sealed);
            count_once(realm, number);
            check_counts(realm);
            realm_release(realm);
            ledger->opened++;
            if (failures)
                return 5;
        }
    realm_t *realm = open_counters(path, sealed);
    for (;;) {
        if (strcmp(role, "write") == 0) {
            count_once(realm, number);
        } else {
            bool changed;
            CHECK(realm_refresh(realm, &changed));
            check_counts(realm);
            ledger->checked++;
        }
        if (failures)
            return 5;
    }
}

/* -- This process -------------------------------------------------------------------------------- */

static unsigned seed;
static int below(int limit) {
    seed = seed * 1103515245u + 12345u;
    return (int)((seed >> 8) % (unsigned)limit);
}

static process_t processes[PROCESSES];

static void launch(const char *path, int index) {
    const char *role = index < WRITERS ? "write" : index < WRITERS + READERS ? "read" : "open";
    processes[index] = start(role, path, index);
}

static int64_t total_done(int except) {
    int64_t sum = 0;
    for (int i = 0; i < PROCESSES; i++)
        sum += i == except ? 0 : ledger->done[i];
    return sum;
}

/* Nanoseconds until somebody else has committed. */
static int64_t wait_for_others(int killed) {
    int64_t before = total_done(killed), began = nanoseconds();
    while (total_done(killed) == before && nanoseconds() - began < 20000000000LL)
        usleep(50);
    return nanoseconds() - began;
}

static void check_file(const char *path, bool sealed) {
    size_t found = 0;
    realm_binary_t file_key = {sealed ? key : NULL, sealed ? sizeof key : 0};
    CHECK(realm_check_file_with_key(path, file_key, NULL, NULL, &found));
    CHECK(found == 0);
}

/* Of a file that nobody else has open: what was noted is there, and space that was pinned comes back. */
static void check_ends(const char *path, bool sealed) {
    realm_t *realm = open_counters(path, sealed);
    check_counts(realm);
    for (int writer = 0; writer < PROCESSES; writer++) {
        int64_t value = counted(realm, writer);
        CHECK(value >= ledger->done[writer] && value <= ledger->begun[writer]);
        ledger->begun[writer] = ledger->done[writer] = value;
    }
    realm_release(realm);
}

static void storm(const char *path, double seconds) {
    bool sealed = *path == 's';
    map_ledger(path);
    int64_t end = nanoseconds() + (int64_t)(seconds * 1e9), longest = 0, waits = 0;
    long kills = 0, rounds = 0;
    realm_release(open_counters(path, sealed));
    for (; nanoseconds() < end || rounds < 2; rounds++) {
        for (int i = 0; i < PROCESSES; i++)
            launch(path, i);
        int64_t round_end = nanoseconds() + 1000000000LL;
        while (nanoseconds() < round_end && !failures) {
            usleep((useconds_t)below(15000));
            int index = below(PROCESSES);
            /* It is gone already only if it found something wrong. */
            CHECK(kill_now(&processes[index]) == -SIGKILL);
            kills++;
            int64_t waited = wait_for_others(index);
            longest = waited > longest ? waited : longest;
            waits += waited;
            launch(path, index);
        }
        /* All at once, in any order; the next to open finds what they left. */
        int first = below(PROCESSES);
        for (int i = 0; i < PROCESSES; i++) {
            process_t *process = &processes[(first + i) % PROCESSES];
            kill(process->id, SIGKILL);
            if (below(2))
                usleep((useconds_t)below(2000));
        }
        for (int i = 0; i < PROCESSES; i++)
            CHECK(end_of(&processes[i]) == -SIGKILL);
        kills += PROCESSES;
        check_ends(path, sealed);
        if (failures)
            break;
    }
    check_file(path, sealed);
    realm_t *realm = open_counters(path, sealed);
    for (int i = 0; i < 3; i++)
        count_once(realm, 0);
    uint64_t versions = 0;
    CHECK(realm_get_num_versions(realm, &versions) && versions == 1);
    realm_statistics_t sizes;
    CHECK(realm_get_statistics(realm, &sizes));
    CHECK(sizes.live_versions == 1 && sizes.pending_bytes < 1 << 20);
    realm_release(realm);
    long commits = (long)total_done(-1);
    /* A process that starts on a busy machine takes longer than one that dies. */
    CHECK(longest < 10000000000LL);
    printf("%s: %ld kills in %ld rounds, %ld commits, %lld versions checked by readers; others went on "
           "after %.2f ms on average, %.1f ms at most; file %.1f MiB\n",
           path, kills, rounds, commits, (long long)ledger->checked,
           (double)waits / (kills - PROCESSES * rounds + 1) / 1e6, (double)longest / 1e6,
           (double)sizes.file_bytes / 1048576);
    fflush(stdout);
}

int main(int count, char **arguments) {
    for (size_t i = 0; i < sizeof key; i++)
        key[i] = (uint8_t)(i * 5 + 3);
    if (count == 4)
        return play(arguments[0], arguments[1], atoi(arguments[3]));
    double seconds = count > 1 ? atof(arguments[1]) : 2;
    seed = count > 2 ? (unsigned)atoi(arguments[2]) : (unsigned)nanoseconds();
    printf("kills: seed %u\n", seed);
    storm("plain.realm", seconds);
    storm("sealed.realm", seconds);
    return check_end("kills");
}
