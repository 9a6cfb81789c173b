/* Opening and closing: files that are none, settings that exclude each other, schemas that
 * differ, callbacks that fail, closed realms. */
#include "people.h"

#include <fcntl.h>
#include <sys/stat.h>

static void write_file(const char *path, const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    CHECK(file && fwrite(bytes, 1, size, file) == size);
    if (file)
        fclose(file);
}

static void files_that_cannot_be_opened(void) {
    realm_error_t error;
    realm_config_t *config = realm_config_new();
    FAILS(RLM_ERR_FILE_NOT_FOUND, realm_open(config)); /* no path */
    realm_config_set_path(config, "no-such-directory/a.realm");
    FAILS(RLM_ERR_FILE_NOT_FOUND, realm_open(config));
    realm_open(config);
    CHECK(realm_get_last_error(&error) && error.path && *error.path);
    CHECK(error.categories == (RLM_ERR_CAT_RUNTIME | RLM_ERR_CAT_FILE_ACCESS));

    mkdir("directory", 0700);
    realm_config_set_path(config, "directory");
    FAILS(RLM_ERR_FILE_OPERATION_FAILED, realm_open(config));

    char junk[100000];
    memset(junk, 'x', sizeof junk);
    realm_config_set_path(config, "junk.realm");
    write_file("junk.realm", junk, sizeof junk);
    FAILS(RLM_ERR_INVALID_DATABASE, realm_open(config));
    write_file("junk.realm", junk, 100);
    FAILS(RLM_ERR_INVALID_DATABASE, realm_open(config));
    struct stat status;
    CHECK(stat("junk.realm", &status) == 0 && status.st_size == 100);
    write_file("junk.realm", junk, 0); /* an empty file is a new one */
    realm_t *realm = realm_open(config);
    CHECK(realm != NULL);
    realm_release(realm);

    realm_config_set_path(config, "missing.realm");
    realm_config_set_schema_mode(config, RLM_SCHEMA_MODE_IMMUTABLE);
    FAILS(RLM_ERR_FILE_NOT_FOUND, realm_open(config));
    CHECK(access("missing.realm", F_OK) != 0);
    realm_release(config);
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_open(NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_open(config));
}

static bool initialise(void *userdata, realm_t *realm) {
    counter_t *counter = userdata;
    counter->called++;
    realm_register_user_code_callback_error(counter);
    CHECK(realm_is_writable(realm));
    keys_t k = keys_of(realm);
    realm_release(make_person(realm, &k, 1));
    return counter->called > 1;
}

static void data_initialisation(void) {
    counter_t counter = {0, 0};
    realm_error_t error;
    realm_config_t *config = people_config("initialised.realm");
    realm_config_set_data_initialization_function(config, initialise, &counter, count_freed);
    FAILS(RLM_ERR_CALLBACK, realm_open(config));
    counter.called = 0;
    CHECK(!realm_open(config) && realm_get_last_error(&error));
    CHECK(error.error == RLM_ERR_CALLBACK && error.user_code_error == &counter);
    CHECK(error.message && !strcmp(error.message, "User-provided callback failed"));
    /* The failure undid the schema: the callback runs again, and this time succeeds. */
    realm_t *realm = realm_open(config);
    CHECK(realm && counter.called == 2);
    size_t count = 0;
    CHECK(realm && realm_get_num_objects(realm, class_key(realm, "Person"), &count) && count == 1);
    realm_release(realm);
    realm = realm_open(config);
    CHECK(realm && counter.called == 2);
    realm_release(realm);
    CHECK(counter.freed == 0);
    realm_release(config);
    CHECK(counter.freed == 1);
    realm_register_user_code_callback_error(NULL);
}

static bool ignore_migration(void *userdata, realm_t *old_realm, realm_t *new_realm,
                             const realm_schema_t *schema) {
    (void)userdata, (void)old_realm, (void)new_realm, (void)schema;
    return true;
}

static void settings(void) {
    realm_config_t *config = people_config("settings.realm");
    realm_config_set_schema_version(config, UINT64_MAX);
    FAILS(RLM_ERR_ILLEGAL_COMBINATION, realm_open(config));
    realm_config_set_schema_version(config, 1);
    realm_config_set_schema_mode(config, RLM_SCHEMA_MODE_READ_ONLY);
    realm_config_set_migration_function(config, ignore_migration, NULL, NULL);
    FAILS(RLM_ERR_ILLEGAL_COMBINATION, realm_open(config));
    realm_config_set_migration_function(config, NULL, NULL, NULL);
    realm_config_set_data_initialization_function(config, initialise, NULL, NULL);
    FAILS(RLM_ERR_ILLEGAL_COMBINATION, realm_open(config));
    realm_config_set_data_initialization_function(config, NULL, NULL, NULL);
    realm_config_set_schema_mode(config, RLM_SCHEMA_MODE_AUTOMATIC);
    uint8_t key[64] = {1};
    realm_config_set_encryption_key(config, key, 64);
    realm_config_set_in_memory(config, true);
    FAILS(RLM_ERR_ILLEGAL_COMBINATION, realm_open(config));
    realm_config_set_encryption_key(config, NULL, 0);
    realm_config_set_in_memory(config, false);
    CHECK(access("settings.realm", F_OK) != 0);

    /* A second realm of the file needs the same settings. */
    realm_t *realm = realm_open(config);
    CHECK(realm != NULL);
    realm_config_set_schema_version(config, 2);
    FAILS(RLM_ERR_MISMATCHED_CONFIG, realm_open(config));
    realm_config_set_schema_version(config, 1);
    realm_config_set_in_memory(config, true);
    FAILS(RLM_ERR_MISMATCHED_CONFIG, realm_open(config));
    realm_config_set_in_memory(config, false);
    realm_config_set_schema_mode(config, RLM_SCHEMA_MODE_MANUAL);
    FAILS(RLM_ERR_MISMATCHED_CONFIG, realm_open(config));
    realm_config_set_schema_mode(config, RLM_SCHEMA_MODE_AUTOMATIC);
    realm_t *second = realm_open(config);
    CHECK(second && !realm_equals(realm, second));
    realm_release(second);
    realm_release(realm);
    realm_release(config);
}

static void schemas(void) {
    realm_t *realm = open_people("schemas.realm");
    CHECK(realm_get_schema_version(realm) == 1);
    realm_release(realm);

    realm_config_t *config = people_config("schemas.realm");
    realm_config_set_schema_version(config, 0);
    FAILS(RLM_ERR_INVALID_SCHEMA_VERSION, realm_open(config));

    /* A changed class at the same version. */
    realm_property_info_t text = property_of("text", RLM_PROPERTY_TYPE_INT, 0);
    realm_class_info_t note = class_of("Note", "", 1, 0);
    const realm_property_info_t *properties[] = {&text};
    realm_schema_t *schema = realm_schema_new(&note, 1, properties);
    realm_config_set_schema(config, schema);
    realm_config_set_schema_version(config, 1);
    FAILS(RLM_ERR_SCHEMA_MISMATCH, realm_open(config));
    realm_release(schema);

    /* Broken rules and names. */
    text.type = RLM_PROPERTY_TYPE_MIXED;
    schema = realm_schema_new(&note, 1, properties);
    realm_config_set_schema(config, schema);
    FAILS(RLM_ERR_SCHEMA_VALIDATION_FAILED, realm_open(config));
    realm_release(schema);
    char name[300];
    memset(name, 'n', sizeof name);
    name[256] = 0;
    text.type = RLM_PROPERTY_TYPE_INT;
    note.name = name;
    schema = realm_schema_new(&note, 1, properties);
    realm_config_set_schema(config, schema);
    FAILS(RLM_ERR_INVALID_NAME, realm_open(config));
    realm_release(schema);

    /* A new class is added. */
    name[255] = 0;
    schema = realm_schema_new(&note, 1, properties);
    realm_config_set_schema(config, schema);
    realm = realm_open(config);
    CHECK(realm && realm_get_num_classes(realm) == 1);
    realm_release(realm);
    realm_release(schema);

    /* Without a schema everything is shown. */
    realm_config_set_schema(config, NULL);
    realm_config_set_schema_version(config, UINT64_MAX);
    realm = realm_open(config);
    CHECK(realm && realm_get_num_classes(realm) == 4);
    realm_release(realm);
    realm_release(config);
}

/* Additive modes: embedded classes that nothing links to stay out of the file, until something does. */
static void orphans(void) {
    realm_property_info_t own[] = {link_of("part", "Part")}, part[] = {link_of("inner", "Screw")},
                          number[] = {property_of("n", RLM_PROPERTY_TYPE_INT, 0)},
                          lost[] = {link_of("inner", "Lower")};
    realm_class_info_t classes[] = {class_of("Thing", "", 1, 0), class_of("Part", "", 1, 0),
                                    class_of("Screw", "", 1, 0), class_of("Lost", "", 1, 0),
                                    class_of("Lower", "", 1, 0)};
    for (int i = 1; i < 5; i++)
        classes[i].flags = RLM_CLASS_EMBEDDED;
    const realm_property_info_t *properties[] = {own, part, number, lost, number};
    realm_config_t *config = config_with("orphans.realm", realm_schema_new(classes, 5, properties));
    realm_config_set_schema_mode(config, RLM_SCHEMA_MODE_ADDITIVE_EXPLICIT);
    FAILS(RLM_ERR_SCHEMA_VALIDATION_FAILED, realm_open(config));
    realm_config_set_schema_mode(config, RLM_SCHEMA_MODE_ADDITIVE_DISCOVERED);
    for (int round = 0; round < 3; round++) {
        if (round == 2) {
            own[0].link_target = "Lost";
            own[0].name = "more";
            classes[0].name = "Other";
            realm_schema_t *schema = realm_schema_new(classes, 5, properties);
            realm_config_set_schema(config, schema);
            realm_release(schema);
        }
        realm_t *realm = realm_open(config);
        CHECK(realm && realm_get_num_classes(realm) == 5);
        for (int i = 0; i < 5; i++) {
            /* Part and Screw are in the file, and stay there. */
            bool is_there = i < 3 || round == 2, found = false;
            realm_class_info_t info;
            SUCCEEDS(realm_find_class(realm, classes[i].name, &found, &info));
            CHECK(found && (info.key != RLM_INVALID_CLASS_KEY) == is_there);
            size_t count = 7;
            if (is_there)
                SUCCEEDS(realm_get_num_objects(realm, info.key, &count) && count == 0);
            else
                FAILS(RLM_ERR_NO_SUCH_TABLE, realm_get_num_objects(realm, info.key, &count));
        }
        FAILS(RLM_ERR_NO_SUCH_TABLE, realm_query_parse(realm, 0x7fffffff, "TRUEPREDICATE", 0, 0));
        FAILS(RLM_ERR_NO_SUCH_TABLE, realm_object_find_all(realm, 0x7fffffff));
        FAILS(RLM_ERR_NO_SUCH_TABLE, realm_get_object(realm, 0x7fffffff, 0));
        SUCCEEDS(realm_begin_write(realm));
        FAILS(RLM_ERR_NO_SUCH_TABLE, realm_object_create(realm, 0x7fffffff));
        SUCCEEDS(realm_rollback(realm));
        realm_release(realm);
    }
    /* Other modes create them all. */
    realm_config_set_path(config, "orphans too.realm");
    realm_config_set_schema_mode(config, RLM_SCHEMA_MODE_AUTOMATIC);
    realm_t *realm = realm_open(config);
    CHECK(realm && class_key(realm, "Screw") != RLM_INVALID_CLASS_KEY);
    realm_release(realm);
    realm_release(config);
}

/* A primary key that no property is, beside a property with the flag: a class without a key. */
static void keys_that_no_property_is(void) {
    realm_property_info_t own[] = {
        property_of("n", RLM_PROPERTY_TYPE_INT, RLM_PROPERTY_PRIMARY_KEY),
        property_of("m", RLM_PROPERTY_TYPE_INT, 0),
    };
    realm_class_info_t class = class_of("Thing", "nothing", 2, 0);
    const realm_property_info_t *properties[] = {own};
    realm_schema_t *schema = realm_schema_new(&class, 1, properties);
    SUCCEEDS(realm_schema_validate(schema, RLM_SCHEMA_VALIDATION_BASIC));
    realm_config_t *config = config_with("keyless.realm", schema);
    for (int64_t round = 0; round < 2; round++) {
        realm_t *realm = realm_open(config);
        CHECK(realm != NULL);
        realm_class_key_t key = class_key(realm, "Thing");
        realm_property_info_t info;
        bool found = true;
        SUCCEEDS(realm_find_primary_key_property(realm, key, &found, &info));
        CHECK(!found);
        SUCCEEDS(realm_begin_write(realm));
        FAILS(RLM_ERR_UNEXPECTED_PRIMARY_KEY,
              realm_object_create_with_primary_key(realm, key, of_int(1)));
        realm_object_t *object = realm_object_create(realm, key);
        SUCCEEDS(object && realm_set_value(object, property_key(realm, key, "n"), of_int(70), 0));
        realm_release(object);
        SUCCEEDS(realm_commit(realm));
        /* Object keys are not its values. */
        const char *texts[] = {"n == 70", "n > 60", "n IN {70, 71}", "n == 0"};
        for (int i = 0; i < 4; i++) {
            realm_query_t *query = realm_query_parse(realm, key, texts[i], 0, NULL);
            size_t count = 99;
            SUCCEEDS(realm_query_count(query, &count));
            CHECK(count == (size_t)(i < 3 ? round + 1 : 0));
            realm_release(query);
        }
        size_t problems = 99;
        SUCCEEDS(realm_check(realm, NULL, NULL, &problems));
        CHECK(problems == 0);
        realm_release(realm);
    }
    realm_release(config);
    own[0].flags = 0;
    schema = realm_schema_new(&class, 1, properties);
    FAILS(RLM_ERR_SCHEMA_VALIDATION_FAILED,
          realm_schema_validate(schema, RLM_SCHEMA_VALIDATION_BASIC));
    realm_release(schema);
}

static bool compact_or_not(void *userdata, uint64_t total, uint64_t used) {
    counter_t *counter = userdata;
    CHECK(total > 0 && used <= total);
    return ++counter->called % 2;
}

/* Whoever opens a file first in a process is asked, of a new one, too. */
static void compacting_on_launch(void) {
    counter_t counter = {0, 0};
    for (int i = 0; i < 2; i++) {
        realm_config_t *config = people_config(i ? "launch 2.realm" : "launch.realm");
        realm_config_set_should_compact_on_launch_function(config, compact_or_not, &counter, NULL);
        realm_t *realm = realm_open(config);
        CHECK(realm && counter.called == i + 1);
        realm_t *other = realm_open(config);
        CHECK(other && counter.called == i + 1);
        realm_release(other);
        keys_t k = keys_of(realm);
        SUCCEEDS(realm_begin_write(realm));
        realm_release(make_person(realm, &k, 1));
        SUCCEEDS(realm_commit(realm));
        realm_release(realm);
        realm_release(config);
    }
    CHECK(counter.called == 2);
}

static bool fail_to_compact(void *userdata, uint64_t total, uint64_t used) {
    (void)total, (void)used;
    realm_register_user_code_callback_error(userdata);
    return true;
}

/* What the callback registers fails the opening, whatever it returns, and once. */
static void failing_on_launch(void) {
    int mine;
    realm_error_t error;
    realm_config_t *config = people_config("launch 3.realm");
    realm_config_set_should_compact_on_launch_function(config, fail_to_compact, &mine, NULL);
    CHECK(!realm_open(config) && realm_get_last_error(&error) && error.error == RLM_ERR_CALLBACK);
    CHECK(error.user_code_error == &mine && error.categories == RLM_ERR_CAT_RUNTIME);
    CHECK(error.message && !strcmp(error.message, "User-provided callback failed"));
    realm_config_set_should_compact_on_launch_function(config, NULL, NULL, NULL);
    realm_t *realm = realm_open(config);
    CHECK(realm != NULL);
    realm_release(realm);
    realm_release(config);
}

static void closed_realms(void) {
    realm_t *realm = open_people("closed.realm");
    keys_t k = keys_of(realm);
    realm_t *clone = realm_clone(realm);
    CHECK(realm_equals(realm, clone) && !realm_is_frozen(realm));
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *person = make_person(realm, &k, 1);
    realm_results_t *results = realm_object_find_all(realm, k.person);
    realm_query_t *query = realm_query_parse(realm, k.person, "age > 3", 0, NULL);
    CHECK(results && query);
    SUCCEEDS(realm_close(clone));
    SUCCEEDS(realm_close(realm));
    CHECK(realm_is_closed(realm) && realm_is_closed(clone));

    bool flag = true;
    size_t count;
    realm_value_t value;
    realm_class_info_t class;
    realm_version_id_t version;
    CHECK(!realm_is_writable(realm));
    FAILS(RLM_ERR_CLOSED_REALM, realm_begin_read(realm));
    FAILS(RLM_ERR_CLOSED_REALM, realm_begin_write(realm));
    FAILS(RLM_ERR_CLOSED_REALM, realm_commit(realm));
    FAILS(RLM_ERR_CLOSED_REALM, realm_rollback(realm));
    FAILS(RLM_ERR_CLOSED_REALM, realm_refresh(realm, &flag));
    FAILS(RLM_ERR_CLOSED_REALM, realm_freeze(realm));
    FAILS(RLM_ERR_CLOSED_REALM, realm_compact(realm, &flag));
    FAILS(RLM_ERR_CLOSED_REALM, realm_get_class(realm, k.person, &class));
    FAILS(RLM_ERR_CLOSED_REALM, realm_get_num_objects(realm, k.person, &count));
    FAILS(RLM_ERR_CLOSED_REALM, realm_get_object(realm, k.person, 0));
    FAILS(RLM_ERR_CLOSED_REALM, realm_object_find_all(realm, k.person));
    FAILS(RLM_ERR_CLOSED_REALM, realm_object_create(realm, k.note));
    FAILS(RLM_ERR_CLOSED_REALM, realm_query_parse(realm, k.person, "age > 3", 0, NULL));
    FAILS(RLM_ERR_CLOSED_REALM, realm_query_count(query, &count));
    FAILS(RLM_ERR_CLOSED_REALM, realm_query_find_all(query));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_get_value(person, k.age, &value));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_set_value(person, k.age, of_int(1), false));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_object_delete(person));
    FAILS(RLM_ERR_STALE_ACCESSOR, realm_results_count(results, &count));
    FAILS(RLM_ERR_STALE_ACCESSOR, realm_results_get(results, 0, &value));
    CHECK(!realm_object_is_valid(person));
    CHECK(realm_object_get_key(person) >= 0 && realm_object_get_table(person) == k.person);
    SUCCEEDS(realm_results_is_valid(results, &flag));
    CHECK(!flag);
    flag = true;
    SUCCEEDS(realm_get_version_id(realm, &flag, &version));
    CHECK(!flag && version.version == 0);
    /* What goes on working. */
    CHECK(realm_get_schema_version(realm) == 1 && realm_get_num_classes(realm) == 3);
    CHECK(class_key(realm, "Person") == k.person);
    SUCCEEDS(realm_get_class_keys(realm, NULL, 0, &count));
    CHECK(count == 3);
    realm_schema_t *schema = realm_get_schema(realm);
    CHECK(schema != NULL);

    realm_release(schema);
    realm_release(query);
    realm_release(results);
    realm_release(person);
    realm_release(realm);
    realm_release(clone);
    realm = open_people("closed.realm");
    SUCCEEDS(realm_get_num_objects(realm, k.person, &count));
    CHECK(count == 0); /* closing rolled back */
    realm_release(realm);
}

int main(void) {
    files_that_cannot_be_opened();
    data_initialisation();
    settings();
    schemas();
    orphans();
    keys_that_no_property_is();
    compacting_on_launch();
    failing_on_launch();
    closed_realms();
    return check_end("opening");
}
