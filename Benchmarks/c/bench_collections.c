/* bench_collections.c - lists, sets, dictionaries and embedded objects through the C API of librealm.so.
 *
 * usage: bench_collections PATH [N [PART]]
 *
 *   PATH  a file to be made, which must not exist
 *   N     elements of the long list (default 1,000,000); the other sizes follow from it
 *   PART  lists, ordered or creating: that part alone, e.g. under a profiler
 *
 * Prints one line a measure: name, nanoseconds for one operation, operations; with BENCH_CLOCK=cpu processor time, for a
 * busy machine; compiled with -DBENCH_CALLGRIND and run under callgrind, a dump of the instructions of each measure. What
 * "create_..." is compared with is the row "plain_..." before it: objects with the same data in
 * properties of their own.
 */
#define _GNU_SOURCE
#include <realm.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef BENCH_CALLGRIND
#include <valgrind/callgrind.h>
#endif

static realm_t* g_realm;

static _Noreturn void die(const char* what)
{
    realm_error_t error;
    bool has = realm_get_last_error(&error);
    fprintf(stderr, "FAILED: %s: %s\n", what, has ? error.message : "no error");
    exit(1);
}
#define CK(expr)                                                                                                     \
    do {                                                                                                             \
        if (!(expr))                                                                                                 \
            die(#expr);                                                                                              \
    } while (0)

static clockid_t g_clock = CLOCK_MONOTONIC;
static double now(void)
{
    struct timespec t;
    clock_gettime(g_clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
static double begin(void)
{
#ifdef BENCH_CALLGRIND
    CALLGRIND_ZERO_STATS;
#endif
    return now();
}
static void report(const char* name, double start, size_t operations)
{
    printf("%-26s %9.1f ns  %zu\n", name, (now() - start) * 1e9 / (double)operations, operations);
    fflush(stdout);
#ifdef BENCH_CALLGRIND
    CALLGRIND_DUMP_STATS_AT(name);
#endif
}
static uint64_t g_state = 1;
static uint64_t next_random(void)
{
    g_state = g_state * 6364136223846793005u + 1442695040888963407u;
    return g_state >> 33;
}

static realm_value_t v_int(int64_t i) { return (realm_value_t){.integer = i, .type = RLM_TYPE_INT}; }
static realm_value_t v_link(realm_link_t l) { return (realm_value_t){.link = l, .type = RLM_TYPE_LINK}; }
static realm_value_t v_str(const char* s, size_t n)
{
    return (realm_value_t){.string = {s, n}, .type = RLM_TYPE_STRING};
}

/* ---------------------------------------------------------------- schema */

#define PROPERTY(n, t, c, target, f)                                                                                 \
    {                                                                                                                \
        n, "", RLM_PROPERTY_TYPE_##t, RLM_COLLECTION_TYPE_##c, target, "", 0, f                                      \
    }
enum { NULLABLE = RLM_PROPERTY_NULLABLE };
static const realm_property_info_t holder[] = {
    PROPERTY("ints", INT, LIST, "", 0),           PROPERTY("texts", STRING, LIST, "", 0),
    PROPERTY("numbers", INT, SET, "", 0),         PROPERTY("words", STRING, SET, "", 0),
    PROPERTY("scores", INT, DICTIONARY, "", 0),   PROPERTY("links", OBJECT, LIST, "Target", 0),
};
static const realm_property_info_t target[] = {PROPERTY("id", INT, NONE, "", 0)};
static const realm_property_info_t plain[] = {
    PROPERTY("a", STRING, NONE, "", 0),
    PROPERTY("b", STRING, NONE, "", 0),
    PROPERTY("c", STRING, NONE, "", 0),
};
static const realm_property_info_t linked[] = {
    PROPERTY("a", OBJECT, NONE, "Target", NULLABLE),
    PROPERTY("b", OBJECT, NONE, "Target", NULLABLE),
    PROPERTY("c", OBJECT, NONE, "Target", NULLABLE),
};
static const realm_property_info_t texts[] = {PROPERTY("list", STRING, LIST, "", 0)};
static const realm_property_info_t links[] = {PROPERTY("list", OBJECT, LIST, "Target", 0)};
static const realm_property_info_t part[] = {PROPERTY("x", INT, NONE, "", 0), PROPERTY("y", INT, NONE, "", 0)};
static const realm_property_info_t owner[] = {PROPERTY("part", OBJECT, NONE, "Part", NULLABLE)};
static const realm_property_info_t free_part[] = {PROPERTY("x", INT, NONE, "", 0), PROPERTY("y", INT, NONE, "", 0)};
static const realm_property_info_t free_owner[] = {PROPERTY("part", OBJECT, NONE, "FreePart", NULLABLE)};

#define CLASS(n, p, f)                                                                                               \
    {                                                                                                                \
        n, "", sizeof p / sizeof *p, 0, 0, f                                                                         \
    }
static const realm_class_info_t classes[] = {
    CLASS("Holder", holder, 0), CLASS("Target", target, 0), CLASS("Plain", plain, 0),
    CLASS("Linked", linked, 0), CLASS("Texts", texts, 0),   CLASS("Links", links, 0),
    CLASS("Part", part, RLM_CLASS_EMBEDDED), CLASS("Owner", owner, 0), CLASS("FreePart", free_part, 0),
    CLASS("FreeOwner", free_owner, 0),
};
static const realm_property_info_t* properties[] = {holder, target, plain,     linked,    texts,
                                                    links,  part,   owner, free_part, free_owner};

static realm_class_key_t class_key(const char* name)
{
    realm_class_info_t info;
    bool found = false;
    CK(realm_find_class(g_realm, name, &found, &info) && found);
    return info.key;
}
static realm_property_key_t key_of(const char* class_name, const char* name)
{
    realm_property_info_t info;
    bool found = false;
    CK(realm_find_property(g_realm, class_key(class_name), name, &found, &info) && found);
    return info.key;
}

/* ---------------------------------------------------------------- long collections */

static void reading(realm_list_t* list, size_t n, const char* in_order, const char* at_random)
{
    realm_value_t v;
    uint64_t sum = 0;
    double start = begin();
    for (size_t i = 0; i < n; i++) {
        CK(realm_list_get(list, i, &v));
        sum += (uint64_t)v.integer;
    }
    report(in_order, start, n);
    start = begin();
    for (size_t i = 0; i < n; i++) {
        CK(realm_list_get(list, next_random() % n, &v));
        sum += (uint64_t)v.integer;
    }
    report(at_random, start, n);
    if (sum == 1)
        die("the sum");
}

static void long_lists(realm_object_t* object, size_t n)
{
    size_t few = n / 10;
    CK(realm_begin_write(g_realm));
    realm_list_t* ints = realm_get_list(object, key_of("Holder", "ints"));
    double start = begin();
    for (size_t i = 0; i < n; i++)
        CK(realm_list_insert(ints, i, v_int((int64_t)i)));
    report("list_append", start, n);
    reading(ints, n, "list_get_writing", "list_get_random_writing");
    CK(realm_commit(g_realm));
    reading(ints, n, "list_get", "list_get_random");
    CK(realm_begin_write(g_realm));
    start = begin();
    for (size_t i = 0; i < few; i++)
        CK(realm_list_insert(ints, 0, v_int((int64_t)i)));
    report("list_insert_front", start, few);
    start = begin();
    for (size_t i = 0; i < few; i++)
        CK(realm_list_insert(ints, n / 2, v_int((int64_t)i)));
    report("list_insert_middle", start, few);
    start = begin();
    for (size_t i = 0; i < few; i++)
        CK(realm_list_insert(ints, next_random() % n, v_int((int64_t)i)));
    report("list_insert_random", start, few);
    start = begin();
    for (size_t i = 0; i < few; i++)
        CK(realm_list_erase(ints, next_random() % n));
    report("list_erase_random", start, few);
    start = begin();
    for (size_t i = 0; i < few; i++)
        CK(realm_list_set(ints, i, v_int(7)));
    report("list_set", start, few);
    CK(realm_commit(g_realm));
    realm_release(ints);

    CK(realm_begin_write(g_realm));
    realm_list_t* text = realm_get_list(object, key_of("Holder", "texts"));
    char word[32];
    start = begin();
    for (size_t i = 0; i < few; i++) {
        int length = snprintf(word, sizeof word, "word-%zu", i);
        CK(realm_list_insert(text, i, v_str(word, (size_t)length)));
    }
    report("list_append_text", start, few);
    realm_list_t* many = realm_get_list(object, key_of("Holder", "links"));
    realm_class_key_t class = class_key("Target");
    start = begin();
    for (size_t i = 0; i < few; i++)
        CK(realm_list_insert(many, i, v_link((realm_link_t){class, (int64_t)(i % 1000)})));
    report("list_append_links", start, few);
    start = begin();
    CK(realm_commit(g_realm));
    report("list_commit", start, 2 * few);
    realm_release(many);
    realm_release(text);
}

static void ordered(realm_object_t* object, size_t n)
{
    char word[32];
    CK(realm_begin_write(g_realm));
    realm_set_t* numbers = realm_get_set(object, key_of("Holder", "numbers"));
    double start = begin();
    for (size_t i = 0; i < n; i++)
        CK(realm_set_insert(numbers, v_int((int64_t)next_random()), NULL, NULL));
    report("set_insert", start, n);
    realm_set_t* words = realm_get_set(object, key_of("Holder", "words"));
    start = begin();
    for (size_t i = 0; i < n; i++) {
        int length = snprintf(word, sizeof word, "word-%llx", (unsigned long long)next_random());
        CK(realm_set_insert(words, v_str(word, (size_t)length), NULL, NULL));
    }
    report("set_insert_text", start, n);
    realm_dictionary_t* scores = realm_get_dictionary(object, key_of("Holder", "scores"));
    uint64_t state = g_state;
    start = begin();
    for (size_t i = 0; i < n; i++) {
        int length = snprintf(word, sizeof word, "key-%llx", (unsigned long long)next_random());
        CK(realm_dictionary_insert(scores, v_str(word, (size_t)length), v_int((int64_t)i), NULL, NULL));
    }
    report("dictionary_insert", start, n);
    CK(realm_commit(g_realm));
    g_state = state;
    start = begin();
    for (size_t i = 0; i < n; i++) {
        int length = snprintf(word, sizeof word, "key-%llx", (unsigned long long)next_random());
        realm_value_t v;
        bool found = false;
        CK(realm_dictionary_find(scores, v_str(word, (size_t)length), &v, &found) && found);
    }
    report("dictionary_find", start, n);
    realm_release(scores);
    realm_release(words);
    realm_release(numbers);
}

/* ---------------------------------------------------------------- small collections */

static void creating(size_t n)
{
    realm_class_key_t targets = class_key("Target");
    char word[32];
    const char* names[] = {"a", "b", "c"};
    for (int with_links = 0; with_links < 2; with_links++) {
        const char* class_name = with_links ? "Linked" : "Plain";
        realm_class_key_t class = class_key(class_name);
        realm_property_key_t keys[3];
        for (int i = 0; i < 3; i++)
            keys[i] = key_of(class_name, names[i]);
        CK(realm_begin_write(g_realm));
        double start = begin();
        for (size_t i = 0; i < n; i++) {
            realm_object_t* object = realm_object_create(g_realm, class);
            int length = with_links ? 0 : snprintf(word, sizeof word, "value-%zu", i);
            realm_value_t values[3];
            for (size_t k = 0; k < 3; k++)
                values[k] = with_links ? v_link((realm_link_t){targets, (int64_t)((i + k) % 1000)})
                                       : v_str(word, (size_t)length);
            CK(realm_set_values(object, 3, keys, values, false));
            realm_release(object);
        }
        double middle = now();
        CK(realm_commit(g_realm));
        fprintf(stderr, "# of it commit: %.1f ns\n", (now() - middle) * 1e9 / (double)n);
        report(with_links ? "plain_links" : "plain_texts", start, n);

        class_name = with_links ? "Links" : "Texts";
        class = class_key(class_name);
        realm_property_key_t key = key_of(class_name, "list");
        CK(realm_begin_write(g_realm));
        start = begin();
        for (size_t i = 0; i < n; i++) {
            realm_object_t* object = realm_object_create(g_realm, class);
            int length = with_links ? 0 : snprintf(word, sizeof word, "value-%zu", i);
            realm_list_t* list = realm_get_list(object, key);
            for (size_t k = 0; k < 3; k++)
                CK(realm_list_insert(list, k,
                                     with_links ? v_link((realm_link_t){targets, (int64_t)((i + k) % 1000)})
                                                : v_str(word, (size_t)length)));
            realm_release(list);
            realm_release(object);
        }
        middle = now();
        CK(realm_commit(g_realm));
        fprintf(stderr, "# of it commit: %.1f ns\n", (now() - middle) * 1e9 / (double)n);
        report(with_links ? "create_list_of_links" : "create_list_of_texts", start, n);
    }

    for (int embedded = 0; embedded < 2; embedded++) {
        realm_class_key_t class = class_key(embedded ? "Owner" : "FreeOwner"), parts = class_key("FreePart");
        realm_property_key_t key = key_of(embedded ? "Owner" : "FreeOwner", "part");
        realm_property_key_t keys[] = {key_of(embedded ? "Part" : "FreePart", "x"),
                                       key_of(embedded ? "Part" : "FreePart", "y")};
        CK(realm_begin_write(g_realm));
        double start = begin();
        for (size_t i = 0; i < n; i++) {
            realm_object_t* object = realm_object_create(g_realm, class);
            realm_object_t* child;
            if (embedded) {
                child = realm_set_embedded(object, key);
            } else {
                child = realm_object_create(g_realm, parts);
                CK(realm_set_value(object, key, v_link(realm_object_as_link(child)), false));
            }
            realm_value_t values[] = {v_int((int64_t)i), v_int(-(int64_t)i)};
            CK(child && realm_set_values(child, 2, keys, values, false));
            realm_release(child);
            realm_release(object);
        }
        CK(realm_commit(g_realm));
        report(embedded ? "create_embedded" : "plain_two_objects", start, n);
    }
}

int main(int argc, char** argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: bench_collections PATH [N [PART]]\n");
        return 2;
    }
    const char* clock = getenv("BENCH_CLOCK");
    if (clock && !strcmp(clock, "cpu"))
        g_clock = CLOCK_PROCESS_CPUTIME_ID;
    size_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000000;
    realm_schema_t* schema = realm_schema_new(classes, sizeof classes / sizeof *classes, properties);
    realm_config_t* config = realm_config_new();
    realm_config_set_path(config, argv[1]);
    realm_config_set_schema(config, schema);
    realm_config_set_schema_version(config, 1);
    CK((g_realm = realm_open(config)));
    CK(realm_begin_write(g_realm));
    realm_object_t* object = realm_object_create(g_realm, class_key("Holder"));
    for (int i = 0; i < 1000; i++)
        realm_release(realm_object_create(g_realm, class_key("Target")));
    CK(realm_commit(g_realm));
    const char* part = argc > 3 ? argv[3] : "";
    if (!*part || !strcmp(part, "lists"))
        long_lists(object, n);
    if (!*part || !strcmp(part, "ordered"))
        ordered(object, n / 10);
    if (!*part || !strcmp(part, "creating"))
        creating(n / 5);
    realm_release(object);
    realm_close(g_realm);
    realm_release(g_realm);
    realm_release(config);
    realm_release(schema);
    return 0;
}
