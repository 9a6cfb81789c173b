/* What each schema mode does about a schema that differs from the file's, what the subset modes show
 * of the rest, and schemas of realms that are open. */
#include "schemas.h"

static const char *path = "modes.realm";
static const char *v1 = "A{n:int,s:string,gone:int?};B{k:int#,a:A}";

static void start(void) {
    bool deleted;
    SUCCEEDS(realm_delete_files(path, &deleted));
    realm_t *realm = OPEN(path, v1);
    SUCCEEDS(realm_begin_write(realm));
    add(realm, "A", "{\"n\":1,\"s\":\"one\",\"gone\":null}");
    SUCCEEDS(realm_commit(realm));
    shut(realm);
}

/* The file is as `start` left it. */
static void unchanged(void) {
    realm_t *realm = OPEN(path, v1);
    CHECK(realm && realm_get_schema_version(realm) == 1 && count(realm, "A", "n == 1") == 1);
    shut(realm);
}

static bool is_gone(realm_schema_mode_e mode, const char *spec, uint64_t version) {
    realm_t *realm = OPEN(path, spec, .mode = mode, .version = version);
    CHECK(realm != NULL);
    if (!realm)
        return false;
    size_t n = 7;
    SUCCEEDS(realm_get_num_objects(realm, class_in(realm, "A"), &n));
    CHECK(realm_get_schema_version(realm) == version);
    shut(realm);
    SOUND(path);
    return n == 0;
}

static const char *differences[] = {
    "A{n:int,s:string};B{k:int#,a:A}",                 /* removed */
    "A{n:int,s:string,gone:int?,new:int};B{k:int#,a:A}", /* added */
    "A{n:string,s:string,gone:int?};B{k:int#,a:A}",    /* type */
    "A{n:int?,s:string,gone:int?};B{k:int#,a:A}",      /* optional */
    "A{n:int,s:string,gone:int};B{k:int#,a:A}",        /* required */
    "A{n:int,s:string,gone:int?};B{k:int,a:A}",        /* key removed */
    "A{n:int#,s:string,gone:int?};B{k:int#,a:A}",      /* key added */
    "A{n:list<int>,s:string,gone:int?};B{k:int#,a:A}", /* collection */
    "A!{n:int,s:string,gone:int?};B{k:int#,a:A}",      /* embedded */
};
static const char *more = "A{n:int*,s:string,gone:int?};B{k:int#,a:A};C{x:int}";

static void automatic(void) {
    start();
    for (size_t i = 0; i < 9; i++) {
        FAILS(RLM_ERR_SCHEMA_MISMATCH, OPEN(path, differences[i]));
        unchanged();
    }
    realm_t *realm = OPEN(path, v1, .version = UINT64_MAX - 1);
    CHECK(realm && realm_get_schema_version(realm) == UINT64_MAX - 1);
    shut(realm);
    FAILS(RLM_ERR_INVALID_SCHEMA_VERSION, OPEN(path, v1));
    start();
    realm = OPEN(path, more);
    CHECK(realm && class_in(realm, "C") != RLM_INVALID_CLASS_KEY);
    shut(realm);
    for (size_t i = 0; i < 8; i++) {
        start();
        realm = OPEN(path, differences[i], .version = 2);
        realm_error_t error;
        if (!realm && realm_get_last_error(&error))
            fprintf(stderr, "    %s: %s\n", differences[i], error.message);
        CHECK(realm != NULL);
        size_t n = 0;
        SUCCEEDS(realm_get_num_objects(realm, class_in(realm, "A"), &n));
        CHECK(n == 1);
        shut(realm);
        SOUND(path);
        /* And back. */
        realm = OPEN(path, v1, .version = 3);
        CHECK(realm && count(realm, "A", "s == 'one'") == 1);
        shut(realm);
        SOUND(path);
    }
    /* The messages name each difference. */
    start();
    realm_clear_last_error();
    CHECK(!OPEN(path, "A{n:string,s:string?,other:list<B>};B{k:int#,a:A}"));
    realm_error_t error;
    CHECK(realm_get_last_error(&error));
    CHECK(strstr(error.message, "'A.n' has been changed from int to string"));
    CHECK(strstr(error.message, "'A.s' has been made optional"));
    CHECK(strstr(error.message, "'A.gone' has been removed"));
    CHECK(strstr(error.message, "'A.other' has been added"));
    CHECK(!strstr(error.message, "Schema("));
    realm_clear_last_error();
}

static int called;
static bool count_calls(void *userdata, realm_t *old, realm_t *new, const realm_schema_t *schema) {
    (void)userdata, (void)old, (void)new, (void)schema;
    called++;
    return true;
}
static bool rename_by_hand(void *userdata, realm_t *old, realm_t *new,
                           const realm_schema_t *schema) {
    (void)userdata, (void)old;
    called++;
    SUCCEEDS(realm_schema_rename_property(new, (realm_schema_t *)schema, "A", "s", "t"));
    return true;
}

static void manual(void) {
    start();
    const realm_schema_mode_e mode = RLM_SCHEMA_MODE_MANUAL;
    for (size_t i = 0; i < 9; i++) {
        FAILS(RLM_ERR_SCHEMA_MISMATCH, OPEN(path, differences[i], .mode = mode));
        FAILS(RLM_ERR_SCHEMA_MISMATCH, OPEN(path, differences[i], .mode = mode, .version = 2));
    }
    FAILS(RLM_ERR_SCHEMA_MISMATCH, OPEN(path, more, .mode = mode));
    unchanged();
    called = 0;
    realm_t *realm = OPEN(path, "A{n:int,t:string,gone:int?};B{k:int#,a:A}", .mode = mode,
                          .version = 2, .migrate = rename_by_hand);
    CHECK(realm && called == 1 && count(realm, "A", "t == 'one'") == 1);
    shut(realm);
    FAILS(RLM_ERR_INVALID_SCHEMA_VERSION, OPEN(path, v1, .mode = mode));
    SOUND(path);
    bool deleted;
    SUCCEEDS(realm_delete_files(path, &deleted));
    realm = OPEN(path, v1, .mode = mode, .version = 5);
    CHECK(realm && realm_get_schema_version(realm) == 5);
    shut(realm);
}

static void additive(realm_schema_mode_e mode) {
    start();
    /* Removed properties stay. */
    realm_t *realm = OPEN(path, differences[0], .mode = mode);
    CHECK(realm && !has_property(realm, "A", "gone", NULL));
    shut(realm);
    realm = OPEN(path, differences[0], .mode = mode, .subset = RLM_SCHEMA_SUBSET_MODE_ALL_PROPERTIES);
    realm_property_info_t info;
    CHECK(has_property(realm, "A", "gone", &info));
    shut(realm);
    for (size_t i = 2; i < 9; i++)
        FAILS(RLM_ERR_INVALID_SCHEMA_CHANGE, OPEN(path, differences[i], .mode = mode, .version = 2));
    unchanged();
    /* Indexes alone wait for something else. */
    realm = OPEN(path, "A{n:int*,s:string,gone:int?}", .mode = mode);
    shut(realm);
    realm = OPEN(path, NULL);
    CHECK(has_property(realm, "A", "n", &info) && !(info.flags & RLM_PROPERTY_INDEXED));
    shut(realm);
    realm = OPEN(path, "A{n:int*,s:string,gone:int?,new:string}", .mode = mode);
    CHECK(realm && count(realm, "A", "new == '' AND n == 1") == 1);
    shut(realm);
    realm = OPEN(path, NULL);
    CHECK(has_property(realm, "A", "n", &info) && info.flags & RLM_PROPERTY_INDEXED);
    shut(realm);
    /* The version is stored as it is given. */
    realm = OPEN(path, v1, .mode = mode, .version = 9);
    CHECK(realm_get_schema_version(realm) == 9);
    shut(realm);
    realm = OPEN(path, v1, .mode = mode, .version = 4);
    CHECK(realm_get_schema_version(realm) == 4);
    shut(realm);
    SOUND(path);
    realm_config_t *config = realm_config_new();
    realm_config_set_path(config, path);
    realm_config_set_schema_mode(config, mode);
    realm_config_set_migration_function(config, count_calls, NULL, NULL);
    FAILS(RLM_ERR_ILLEGAL_COMBINATION, realm_open(config));
    realm_release(config);
}

static void read_only(void) {
    start();
    const realm_schema_mode_e mode = RLM_SCHEMA_MODE_READ_ONLY;
    const size_t fits[] = {0, 8};
    for (size_t i = 0; i < 2; i++) {
        realm_t *realm = OPEN(path, differences[fits[i]], .mode = mode, .version = 7);
        CHECK(realm && count(realm, "A", "n == 1") == 1);
        CHECK(realm_get_schema_version(realm) == 1);
        shut(realm);
    }
    for (size_t i = 1; i < 8; i++)
        FAILS(RLM_ERR_INVALID_SCHEMA_CHANGE, OPEN(path, differences[i], .mode = mode));
    FAILS(RLM_ERR_INVALID_SCHEMA_VERSION,
          OPEN(path, v1, .mode = RLM_SCHEMA_MODE_IMMUTABLE, .version = 2));
    FAILS(RLM_ERR_INVALID_SCHEMA_CHANGE,
          OPEN(path, differences[2], .mode = RLM_SCHEMA_MODE_IMMUTABLE));
    /* Migrated files are read so, too. */
    realm_t *realm = OPEN(path, differences[1], .version = 2);
    shut(realm);
    realm = OPEN(path, differences[1], .mode = RLM_SCHEMA_MODE_IMMUTABLE, .version = 2);
    CHECK(realm && count(realm, "A", "new == 0") == 1);
    shut(realm);
}

static bool fill_anew(void *userdata, realm_t *realm) {
    (void)userdata;
    called++;
    add(realm, "B", "{\"k\":5,\"a\":null}");
    return true;
}

static void resets(void) {
    const realm_schema_mode_e soft = RLM_SCHEMA_MODE_SOFT_RESET_FILE;
    const realm_schema_mode_e hard = RLM_SCHEMA_MODE_HARD_RESET_FILE;
    start();
    CHECK(!is_gone(soft, v1, 1) && !is_gone(hard, v1, 1));
    CHECK(!is_gone(soft, more, 1));
    for (size_t i = 0; i < 8; i++) {
        start();
        CHECK(is_gone(soft, differences[i], 1));
        start();
        CHECK(is_gone(hard, differences[i], 1));
    }
    start();
    CHECK(is_gone(hard, more, 1));
    start();
    CHECK(is_gone(soft, v1, 2) && is_gone(soft, v1, 1));
    start();
    CHECK(is_gone(hard, v1, 2) && is_gone(hard, v1, 1));
    /* The file begins anew, with its data initialisation. */
    start();
    called = 0;
    realm_t *realm = OPEN(path, differences[2], .mode = soft, .fill = fill_anew);
    CHECK(realm && called == 1 && count(realm, "B", "k == 5") == 1);
    CHECK(count(realm, "A", "TRUEPREDICATE") == 0);
    shut(realm);
    SOUND(path);
}

/* MARK: Open realms */

static int told;
static size_t classes_told;
static void on_schema(void *userdata, const realm_schema_t *schema) {
    (void)userdata;
    told++;
    classes_told = schema ? 1 : 0;
}

static void updates(void) {
    bool deleted;
    SUCCEEDS(realm_delete_files(path, &deleted));
    /* An unversioned file gets version 0. */
    realm_config_t *config = realm_config_new();
    realm_config_set_path(config, path);
    realm_t *realm = realm_open(config), *other = realm_open(config);
    realm_release(config);
    told = 0;
    realm_callback_token_t *token =
        realm_add_schema_changed_callback(realm, on_schema, NULL, NULL);
    realm_callback_token_t *token2 =
        realm_add_schema_changed_callback(other, on_schema, NULL, NULL);
    bool did;
    SUCCEEDS(realm_refresh(other, &did));
    realm_schema_t *schema = schema_of(v1);
    SUCCEEDS(realm_update_schema(realm, schema));
    CHECK(told == 1 && classes_told == 1 && realm_get_num_classes(realm) == 2);
    CHECK(realm_get_schema_version(realm) == 0);
    SUCCEEDS(realm_refresh(other, &did));
    CHECK(told == 2 && realm_get_num_classes(other) == 2);
    SUCCEEDS(realm_update_schema(realm, schema));
    CHECK(told == 3);
    /* At the same version, only what needs no migration. */
    realm_schema_t *next = schema_of(differences[1]);
    FAILS(RLM_ERR_SCHEMA_MISMATCH, realm_update_schema(realm, next));
    CHECK(realm_get_num_classes(realm) == 2);
    /* A write transaction is rolled back. */
    SUCCEEDS(realm_begin_write(realm));
    add(realm, "A", "{\"n\":3,\"s\":\"x\",\"gone\":null}");
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_update_schema(realm, schema));
    CHECK(!realm_is_writable(realm) && count(realm, "A", "TRUEPREDICATE") == 0);
    /* Frozen realms check alone. */
    realm_t *frozen = realm_freeze(realm);
    FAILS(RLM_ERR_INVALID_SCHEMA_CHANGE, realm_update_schema(frozen, next));
    SUCCEEDS(realm_update_schema(frozen, schema));
    shut(frozen);
    /* With version and callback. */
    SUCCEEDS(realm_begin_write(realm));
    add(realm, "A", "{\"n\":3,\"s\":\"x\",\"gone\":null}");
    SUCCEEDS(realm_commit(realm));
    realm_object_t *object = first(realm, "A", "n == 3");
    called = 0;
    SUCCEEDS(realm_update_schema_advanced(realm, next, 4, count_calls, NULL, NULL, NULL, false));
    CHECK(called == 1 && realm_get_schema_version(realm) == 4);
    CHECK(realm_object_is_valid(object));
    realm_value_t value;
    SUCCEEDS(realm_get_value(object, key_in(realm, "A", "new"), &value));
    CHECK(value.integer == 0);
    SUCCEEDS(realm_get_value(object, key_in(realm, "A", "s"), &value));
    CHECK(value.string.size == 1);
    FAILS(RLM_ERR_INVALID_SCHEMA_VERSION, realm_update_schema(realm, next));
    /* In a transaction of the program. */
    realm_schema_t *third = schema_of("A{n:string,new:int}");
    SUCCEEDS(realm_begin_write(realm));
    SUCCEEDS(realm_update_schema_advanced(realm, third, 5, NULL, NULL, NULL, NULL, true));
    CHECK(realm_is_writable(realm) && count(realm, "A", "n == ''") == 1);
    SUCCEEDS(realm_rollback(realm));
    CHECK(realm_get_schema_version(realm) == 4);
    SUCCEEDS(realm_begin_write(realm));
    SUCCEEDS(realm_update_schema_advanced(realm, third, 5, NULL, NULL, NULL, NULL, true));
    SUCCEEDS(realm_commit(realm));
    CHECK(realm_get_schema_version(realm) == 5);
    FAILS(RLM_ERR_INVALID_PROPERTY, realm_get_value(object, 0x30001, &value));
    realm_release(object);
    realm_release(token);
    realm_release(token2);
    realm_release(schema);
    realm_release(next);
    realm_release(third);
    shut(realm);
    shut(other);
    SOUND(path);
}

/* Somebody else changes the schema of a file that is open. */
static void external(void) {
    start();
    realm_t *realm = OPEN(path, v1);
    bool did;
    SUCCEEDS(realm_refresh(realm, &did));
    realm_object_t *object = first(realm, "A", "n == 1");
    realm_config_t *config = realm_config_new();
    realm_config_set_path(config, path);
    realm_t *other = realm_open(config);
    realm_release(config);
    /* Additions and indexes are taken. */
    realm_schema_t *schema = schema_of("A{n:int*,s:string,gone:int?,new:int};B{k:int#,a:A};C{}");
    SUCCEEDS(realm_update_schema_advanced(other, schema, 2, NULL, NULL, NULL, NULL, false));
    realm_release(schema);
    SUCCEEDS(realm_refresh(realm, &did));
    CHECK(did && count(realm, "A", "n == 1") == 1);
    JSON(object, "{\"n\":1,\"s\":\"one\",\"gone\":null}");
    /* What the realm needs may not go. */
    schema = schema_of("A{n:int*,s:string,new:int};B{k:int#,a:A}");
    SUCCEEDS(realm_update_schema_advanced(other, schema, 3, NULL, NULL, NULL, NULL, false));
    realm_release(schema);
    FAILS(RLM_ERR_INVALID_SCHEMA_CHANGE, realm_refresh(realm, &did));
    FAILS(RLM_ERR_INVALID_SCHEMA_CHANGE, realm_begin_write(realm));
    /* It goes on reading what it has. */
    CHECK(count(realm, "A", "s == 'one'") == 1);
    shut(realm);
    shut(other);
    SOUND(path);
}

static void subsets(void) {
    start();
    const char *part = "A{s:string}";
    const struct {
        realm_schema_subset_mode_e mode;
        size_t classes, properties;
    } cases[] = {
        {RLM_SCHEMA_SUBSET_MODE_STRICT, 1, 1},
        {RLM_SCHEMA_SUBSET_MODE_ALL_CLASSES, 2, 1},
        {RLM_SCHEMA_SUBSET_MODE_ALL_PROPERTIES, 1, 3},
        {RLM_SCHEMA_SUBSET_MODE_COMPLETE, 2, 3},
    };
    for (size_t i = 0; i < 4; i++) {
        realm_t *realm = OPEN(path, part, .mode = RLM_SCHEMA_MODE_ADDITIVE_EXPLICIT,
                              .subset = cases[i].mode);
        realm_class_info_t info;
        CHECK(realm_get_num_classes(realm) == cases[i].classes);
        SUCCEEDS(realm_get_class(realm, class_in(realm, "A"), &info));
        CHECK(info.num_properties == cases[i].properties);
        shut(realm);
    }
    unchanged();
}

static void check_text(realm_object_t *object, const char *expected) {
    char *text = realm_object_to_string(object);
    CHECK(text && !strcmp(text, expected));
    realm_free(text);
}

/* Links lead to objects of classes that the realm does not show. */
static void hidden_classes_as_text(void) {
    bool deleted;
    SUCCEEDS(realm_delete_files(path, &deleted));
    realm_t *all = OPEN(path, "A{n:int,m:mixed};C{id:string#}", .mode = RLM_SCHEMA_MODE_ADDITIVE_EXPLICIT);
    SUCCEEDS(realm_begin_write(all));
    realm_object_t *a = make(all, "A", "{\"n\":4}"), *c = make(all, "C", "{\"id\":\"x\"}");
    SUCCEEDS(realm_set_value(a, key_in(all, "A", "m"), of_link(realm_object_as_link(c)), false));
    SUCCEEDS(realm_commit(all));
    realm_release(a);
    realm_release(c);
    realm_t *some = OPEN(path, "A{n:int,m:mixed}", .mode = RLM_SCHEMA_MODE_ADDITIVE_EXPLICIT);
    a = first(some, "A", "n == 4");
    check_text(a, "{\"_key\":0,\"n\":4,\"m\":{ \"$link\": {\"table\": \"C\", \"key\": \"x\"}}}");
    char *json = realm_object_to_json(a, 0, 0);
    CHECK(json && strstr(json, "\"C\"") && strstr(json, "\"x\""));
    realm_free(json);
    SUCCEEDS(c = realm_get_linked_object(a, key_in(some, "A", "m")));
    check_text(c, "{\"id\":\"x\"}");
    realm_release(c);
    realm_release(a);
    shut(some);
    shut(all);
}

int main(void) {
    automatic();
    manual();
    additive(RLM_SCHEMA_MODE_ADDITIVE_DISCOVERED);
    additive(RLM_SCHEMA_MODE_ADDITIVE_EXPLICIT);
    read_only();
    resets();
    updates();
    external();
    subsets();
    hidden_classes_as_text();
    return check_end("schema modes");
}
