/* How large a file becomes that random operations go over, against a fresh copy of what it holds:
 * objects of random sizes are created, deleted and changed, in transactions of one to some hundred
 * operations. `space OPERATIONS SEED [FACTOR]` is a long run, which looks at the file a hundred times. */
#include "people.h"

#include <sys/stat.h>

static uint64_t state;

static uint64_t next_random(void) {
    state += 0x9E3779B97F4A7C15;
    uint64_t z = state;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
}
static size_t below(size_t limit) { return (size_t)(next_random() % limit); }

/* Small ones as a rule, and some of many pages. */
static size_t random_size(void) {
    size_t kind = below(100);
    return kind < 70 ? below(64) : kind < 95 ? below(4096) : kind < 99 ? below(65536) : 0;
}

static realm_schema_t *items_schema(void) {
    realm_property_info_t item[] = {
        property_of("_id", RLM_PROPERTY_TYPE_INT, RLM_PROPERTY_PRIMARY_KEY),
        property_of("text", RLM_PROPERTY_TYPE_STRING, RLM_PROPERTY_INDEXED),
        property_of("data", RLM_PROPERTY_TYPE_BINARY, 0),
        property_of("count", RLM_PROPERTY_TYPE_INT, 0),
    };
    realm_class_info_t classes[] = {class_of("Item", "_id", 4, 0)};
    const realm_property_info_t *properties[] = {item};
    return realm_schema_new(classes, 1, properties);
}

static double bytes_of(const char *path) {
    struct stat status;
    CHECK(stat(path, &status) == 0);
    return (double)status.st_size;
}

typedef struct items {
    realm_t *realm;
    realm_class_key_t class;
    realm_property_key_t text, data, count;
    int64_t *ids;
    size_t size, next_id;
} items_t;

static uint8_t noise[65536];

static void set_random(items_t *items, realm_object_t *item) {
    char text[128];
    int length = snprintf(text, sizeof text, "%016llx", (unsigned long long)next_random());
    length += (int)below(100);
    memset(text + 16, 'x', sizeof text - 16);
    text[length] = 0;
    realm_value_t data = {.type = RLM_TYPE_BINARY};
    data.binary.size = random_size();
    data.binary.data = noise + below(sizeof noise - data.binary.size + 1);
    realm_property_key_t keys[] = {items->text, items->data, items->count};
    realm_value_t values[] = {of_text(text), data, of_int((int64_t)next_random())};
    /* One of them, or all. */
    size_t kind = below(4);
    if (kind == 3)
        CHECK(realm_set_values(item, 3, keys, values, false));
    else
        CHECK(realm_set_value(item, keys[kind], values[kind], false));
}

static void operate(items_t *items, size_t target) {
    bool creates = below(100) < (items->size < target ? 40 : 20);
    bool deletes = !creates && items->size && below(100) < (items->size < target ? 33 : 50);
    if (creates || !items->size) {
        int64_t id = (int64_t)(below(2) ? items->next_id++ : next_random() >> 20 | 1ull << 40);
        realm_object_t *item =
            realm_object_create_with_primary_key(items->realm, items->class, of_int(id));
        CHECK(item != NULL);
        set_random(items, item);
        realm_release(item);
        items->ids[items->size++] = id;
        return;
    }
    size_t index = below(items->size);
    realm_object_t *item = realm_object_find_with_primary_key(items->realm, items->class,
                                                              of_int(items->ids[index]), NULL);
    CHECK(item != NULL);
    if (deletes) {
        CHECK(realm_object_delete(item));
        items->ids[index] = items->ids[--items->size];
    } else {
        set_random(items, item);
    }
    realm_release(item);
}

/* The file over its copy. */
static double ratio(items_t *items, const char *path) {
    const realm_binary_t no_key = {NULL, 0};
    realm_clear_last_error();
    unlink("copy.realm");
    SUCCEEDS(realm_convert_with_path(items->realm, "copy.realm", no_key, false));
    return bytes_of(path) / bytes_of("copy.realm");
}

static void run(size_t operations, size_t most, size_t tides, size_t looks, bool shows) {
    const char *path = "space.realm";
    items_t items = {.realm = open_with(path, items_schema())};
    items.class = class_key(items.realm, "Item");
    items.text = property_key(items.realm, items.class, "text");
    items.data = property_key(items.realm, items.class, "data");
    items.count = property_key(items.realm, items.class, "count");
    items.ids = calloc(4 * most + 1000, sizeof *items.ids);
    items.next_id = 1;
    CHECK(realm_begin_write(items.realm));
    for (size_t i = 0; i < most; i++) operate(&items, most);
    CHECK(realm_commit(items.realm));
    size_t done = 0, look = 1, commits = 0;
    double worst = 0;
    while (done < operations) {
        /* The file fills, empties to an eighth, and fills again. */
        size_t target = done * tides / operations % 2 == 0 ? most : most / 8;
        size_t group = below(3) == 0    ? 1 + below(4)
                       : below(10) == 0 ? 1 + below(most / 100 + 50)
                                        : 1 + below(50);
        CHECK(realm_begin_write(items.realm));
        for (size_t i = 0; i < group; i++) operate(&items, target);
        CHECK(realm_commit(items.realm));
        done += group;
        commits++;
        if (done * looks >= look * operations) {
            double now = ratio(&items, path);
            if (now > worst) worst = now;
            look++;
            realm_statistics_t statistics;
            CHECK(realm_get_statistics(items.realm, &statistics));
            if (shows) {
                printf("%zu operations, %zu commits, %zu objects: %.1f MB, %.1f MB free, %.2f of a copy\n",
                       done, commits, items.size, bytes_of(path) / 1e6,
                       (double)statistics.free_bytes / 1e6, now);
                fflush(stdout);
            }
        }
    }
    size_t problems = 99;
    SUCCEEDS(realm_check(items.realm, NULL, NULL, &problems));
    CHECK(problems == 0);
    size_t found = 0;
    CHECK(realm_get_num_objects(items.realm, items.class, &found) && found == items.size);
    double now = ratio(&items, path);
    CHECK(worst < 1.8);
    printf("%zu operations: %.2f of a copy at the end, %.2f at worst\n", done, now, worst);
    free(items.ids);
    realm_release(items.realm);
}

int main(int count, char **arguments) {
    size_t operations = count > 1 ? strtoull(arguments[1], NULL, 10) : 8000;
    state = count > 2 ? strtoull(arguments[2], NULL, 10) : 15;
    for (size_t i = 0; i < sizeof noise; i++) noise[i] = (uint8_t)next_random();
    size_t most = count > 3 ? strtoull(arguments[3], NULL, 10) : 4000;
    run(operations, most, count > 1 ? 20 : 2, count > 1 ? 100 : 8, count > 1);
    return check_end("space");
}
