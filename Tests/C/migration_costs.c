/* What migrations cost: what only the schema tells rewrites no objects, vacated columns go when
 * leaves are rewritten, and memory is bounded. Counted in bytes, not in seconds. */
#include "schemas.h"

#include <inttypes.h>

static const char *path = "costs.realm";
enum { OBJECTS = 200000 };

/* What this process has handed to write calls. */
static uint64_t written(void) {
    uint64_t bytes = 0;
    char line[80];
    FILE *file = fopen("/proc/self/io", "r");
    CHECK(file != NULL);
    while (file && fgets(line, sizeof line, file))
        sscanf(line, "wchar: %" SCNu64, &bytes);
    if (file)
        fclose(file);
    return bytes;
}
/* The most memory that this process had since `forget_peak`, in KiB. */
static long peak(void) {
    long kibibytes = 0;
    char line[120];
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        sscanf(line, "VmHWM: %ld", &kibibytes);
    if (file)
        fclose(file);
    return kibibytes;
}
static bool forget_peak(void) {
    FILE *file = fopen("/proc/self/clear_refs", "w");
    bool done = file && fputs("5", file) >= 0;
    if (file)
        done = fclose(file) == 0 && done;
    return done;
}

static void fill(const char *spec) {
    bool deleted;
    SUCCEEDS(realm_delete_files(path, &deleted));
    realm_t *realm = OPEN(path, spec);
    SUCCEEDS(realm_begin_write(realm));
    realm_class_key_t class = class_in(realm, "A");
    realm_property_key_t n = key_in(realm, "A", "n"), s = key_in(realm, "A", "s");
    realm_property_key_t gone = key_in(realm, "A", "gone");
    for (int i = 0; i < OBJECTS; i++) {
        char text[20], long_text[60];
        snprintf(text, sizeof text, "text %d", i);
        snprintf(long_text, sizeof long_text, "%040d", i * 7);
        realm_object_t *object = realm_object_create(realm, class);
        CHECK(realm_set_value(object, n, of_int(i), false));
        CHECK(realm_set_value(object, s, of_text(text), false));
        CHECK(realm_set_value(object, gone, of_text(long_text), false));
        realm_release(object);
    }
    SUCCEEDS(realm_commit(realm));
    shut(realm);
}

static void defaults(realm_schema_t *schema) {
    SUCCEEDS(realm_schema_set_default(schema, "A", "count", "7"));
    SUCCEEDS(realm_schema_set_default(schema, "A", "word", "\"new\""));
}
static bool rename_all(void *userdata, realm_t *old, realm_t *new, const realm_schema_t *schema) {
    (void)userdata, (void)old;
    realm_schema_t *target = (realm_schema_t *)schema;
    SUCCEEDS(realm_schema_rename_class(new, target, "A", "B"));
    SUCCEEDS(realm_schema_rename_property(new, target, "B", "name", "called"));
    return true;
}
static bool rename_one(void *userdata, realm_t *old, realm_t *new, const realm_schema_t *schema) {
    (void)userdata, (void)old;
    SUCCEEDS(realm_schema_rename_property(new, (realm_schema_t *)schema, "A", "s", "name"));
    return true;
}
static bool remove_class(void *userdata, realm_t *old, realm_t *new, const realm_schema_t *schema) {
    (void)userdata, (void)old, (void)schema;
    SUCCEEDS(realm_remove_table(new, "B", NULL));
    return true;
}

/* Opens with another schema; how many bytes were written. */
static uint64_t cost(const char *spec, opening_t opening) {
    uint64_t before = written();
    realm_t *realm = open_as(path, spec, opening);
    CHECK(realm != NULL);
    shut(realm);
    uint64_t after = written();
    SOUND(path);
    return after - before;
}
/* The rows of a class in the file, with what no property names any more. */
static uint64_t bytes_of(const char *class) {
    realm_t *realm = OPEN(path, NULL);
    realm_class_statistics_t statistics;
    SUCCEEDS(realm_get_class_statistics(realm, class_in(realm, class), &statistics));
    shut(realm);
    return statistics.row_bytes;
}

/* The header, the version root, the catalog, and the space map where pages come free. */
static const uint64_t schema_alone = 64 * 1024;

static void schema_changes(void) {
    fill("A{n:int,s:string,gone:string,few:int}");
    uint64_t bytes = bytes_of("A");
    CHECK(bytes > 8 * 1000 * 1000);
    CHECK(cost("A{n:int,name:string,gone:string,count:int,word:string,thing:mixed}",
               (opening_t){.version = 2, .migrate = rename_one, .change = defaults}) < schema_alone);
    CHECK(cost("A{n:int?,name:string?,count:int?,word:string,thing:mixed}",
               (opening_t){.version = 3}) < schema_alone);
    CHECK(cost("B{n:int?,called:string?,count:int?,word:string,thing:mixed}",
               (opening_t){.version = 4, .migrate = rename_all}) < schema_alone);
    realm_t *realm = OPEN(path, NULL);
    CHECK(count(realm, "B", "count == 7 AND word == 'new' AND called BEGINSWITH 'text'") == OBJECTS);
    shut(realm);
    /* What went is still in the leaves, and goes when they are rewritten. */
    CHECK(bytes_of("B") >= bytes);
    realm = OPEN(path, NULL);
    SUCCEEDS(realm_begin_write(realm));
    realm_class_key_t class = class_in(realm, "B");
    realm_property_key_t n = key_in(realm, "B", "n");
    for (int i = 0; i < OBJECTS; i += 50) {
        realm_object_t *object = realm_get_object(realm, class, i);
        CHECK(object && realm_set_value(object, n, of_int((int64_t)i << 33), false));
        realm_release(object);
    }
    SUCCEEDS(realm_commit(realm));
    shut(realm);
    CHECK(bytes_of("B") < bytes / 10 * 6);
    SOUND(path);
    CHECK(cost("C{n:int}", (opening_t){.version = 5, .migrate = remove_class}) < schema_alone);
}

/* Indexes are sorted and written in one go; memory follows what is sorted, not what is there. */
static void memory(void) {
    fill("A{n:int,s:string,gone:string}");
    if (!forget_peak())
        return;
    long before = peak();
    uint64_t bytes = cost("A{n:int*,s:string*,gone:string}", (opening_t){.version = 2});
    long grown = peak() - before;
    printf("two indexes over %d objects: %ld KiB of memory, %" PRIu64 " bytes written\n", OBJECTS,
           grown, bytes);
    CHECK(bytes < 12 * 1000 * 1000);
    CHECK(grown < 64 * 1024);
}

int main(void) {
    schema_changes();
    memory();
    return check_end("costs of migrations");
}
