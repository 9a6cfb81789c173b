/* Full-text indexes: flags of properties, TEXT, errors, indexes that come and go. */
#include "people.h"

static realm_t *open_notes(const char *path, int flags, realm_errno_e expected) {
    realm_property_info_t properties[] = {
        property_of("text", RLM_PROPERTY_TYPE_STRING, flags),
        link_of("next", "Note"),
    };
    realm_class_info_t class = class_of("Note", "", 2, 0);
    const realm_property_info_t *of_classes[] = {properties};
    realm_schema_t *schema = realm_schema_new(&class, 1, of_classes);
    realm_config_t *config = realm_config_new();
    realm_config_set_path(config, path);
    realm_config_set_schema(config, schema);
    realm_config_set_schema_version(config, 1);
    realm_t *realm = NULL;
    if (expected == RLM_ERR_NONE)
        SUCCEEDS((realm = realm_open(config)) != NULL);
    else
        FAILS(expected, realm_open(config));
    realm_release(config);
    realm_release(schema);
    return realm;
}

static const char *texts[] = {"Storm near the reef", "Calm sea, no storm", "D\xc3\xa9p\xc3\xb4t of coal",
                              "", NULL, "\xe6\xb5\xb7\xe6\xb4\x8b"};
enum { NOTES = sizeof texts / sizeof *texts };

static void fill(realm_t *realm) {
    realm_class_key_t class = class_key(realm, "Note");
    realm_property_key_t text = property_key(realm, class, "text");
    realm_property_key_t next = property_key(realm, class, "next");
    realm_object_t *last = NULL;
    CHECK(realm_begin_write(realm));
    for (int i = 0; i < NOTES; i++) {
        realm_object_t *note = realm_object_create(realm, class);
        CHECK(realm_set_value(note, text, texts[i] ? of_text(texts[i]) : of_null(), false));
        if (last)
            CHECK(realm_set_value(note, next, of_link(realm_object_as_link(last)), false));
        realm_release(last);
        last = note;
    }
    realm_release(last);
    CHECK(realm_commit(realm));
}

static size_t count(realm_t *realm, const char *text) {
    size_t count = 99;
    realm_query_t *query = realm_query_parse(realm, class_key(realm, "Note"), text, 0, NULL);
    SUCCEEDS(query && realm_query_count(query, &count));
    realm_release(query);
    return count;
}

static void fails(realm_t *realm, realm_errno_e code, int categories, const char *text) {
    realm_error_t error;
    realm_clear_last_error();
    CHECK(!realm_query_parse(realm, class_key(realm, "Note"), text, 0, NULL));
    CHECK(realm_get_last_error(&error) && error.error == code);
    CHECK((int)error.categories == categories);
    realm_clear_last_error();
}

static void searching(void) {
    const int nullable = RLM_PROPERTY_NULLABLE;
    realm_t *realm = open_notes("notes.realm", RLM_PROPERTY_FULLTEXT_INDEXED | nullable, RLM_ERR_NONE);
    fill(realm);
    realm_property_info_t info;
    realm_class_key_t class = class_key(realm, "Note");
    CHECK(realm_get_property(realm, class, property_key(realm, class, "text"), &info));
    CHECK(info.flags == (RLM_PROPERTY_FULLTEXT_INDEXED | nullable));
    CHECK(count(realm, "text TEXT 'storm'") == 2);
    CHECK(count(realm, "text TEXT 'reef STORM'") == 1);
    CHECK(count(realm, "text TEXT 'depot'") == 1);
    CHECK(count(realm, "text TEXT 's* -reef'") == 1);
    CHECK(count(realm, "text TEXT '-storm'") == 4);
    CHECK(count(realm, "NOT text TEXT 'storm'") == 4);
    CHECK(count(realm, "next.text TEXT 'storm'") == 2);
    realm_value_t words = of_text("calm");
    realm_query_arg_t argument = {1, false, &words};
    realm_query_t *query = realm_query_parse(realm, class, "text TEXT $0", 1, &argument);
    realm_value_t first = of_int(0);
    bool found = false;
    SUCCEEDS(realm_query_find_first(query, &first, &found));
    CHECK(found && strstr(realm_query_get_description(query), "text TEXT \"calm\""));
    realm_release(query);
    const int argument_error = RLM_ERR_CAT_INVALID_ARG | RLM_ERR_CAT_LOGIC;
    fails(realm, RLM_ERR_INVALID_ARGUMENT, argument_error, "text TEXT \"o'brien\"");
    fails(realm, RLM_ERR_INVALID_ARGUMENT, argument_error, "text TEXT ''");
    fails(realm, RLM_ERR_INVALID_ARGUMENT, argument_error, "text TEXT null");
    fails(realm, RLM_ERR_INVALID_QUERY, argument_error, "'storm' TEXT text");
    fails(realm, RLM_ERR_INVALID_QUERY_STRING, argument_error, "text TEXT[c] 'storm'");
    realm_release(realm);

    /* Without the index, and with another one. */
    realm = open_notes("notes.realm", RLM_PROPERTY_INDEXED | nullable, RLM_ERR_NONE);
    fails(realm, RLM_ERR_ILLEGAL_OPERATION, RLM_ERR_CAT_LOGIC, "text TEXT 'storm'");
    CHECK(count(realm, "text == 'Calm sea, no storm'") == 1);
    realm_release(realm);
    realm = open_notes("notes.realm",
                       RLM_PROPERTY_FULLTEXT_INDEXED | RLM_PROPERTY_FULLTEXT_UNICODE | nullable,
                       RLM_ERR_NONE);
    CHECK(count(realm, "text TEXT '\xe6\xb4\x8b'") == 1);
    CHECK(count(realm, "text TEXT 'DEPOT'") == 1);
    size_t problems = 1;
    SUCCEEDS(realm_check(realm, NULL, NULL, &problems));
    CHECK(problems == 0);
    realm_release(realm);
}

static void schemas(void) {
    realm_property_info_t properties[] = {
        property_of("number", RLM_PROPERTY_TYPE_INT, RLM_PROPERTY_FULLTEXT_INDEXED)};
    realm_class_info_t class = class_of("Note", "", 1, 0);
    const realm_property_info_t *of_classes[] = {properties};
    realm_schema_t *schema = realm_schema_new(&class, 1, of_classes);
    /* Validation does not look at it, opening does. */
    SUCCEEDS(realm_schema_validate(schema, RLM_SCHEMA_VALIDATION_BASIC));
    realm_config_t *config = realm_config_new();
    realm_config_set_path(config, "numbers.realm");
    realm_config_set_schema(config, schema);
    realm_config_set_schema_version(config, 1);
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_open(config));
    realm_release(config);
    properties[0] = property_of("number", RLM_PROPERTY_TYPE_STRING, RLM_PROPERTY_FULLTEXT_INDEXED);
    realm_schema_t *with = realm_schema_new(&class, 1, of_classes);
    properties[0].flags |= RLM_PROPERTY_FULLTEXT_UNICODE;
    realm_schema_t *unicode = realm_schema_new(&class, 1, of_classes);
    properties[0].flags = RLM_PROPERTY_NORMAL;
    realm_schema_t *without = realm_schema_new(&class, 1, of_classes);
    CHECK(!realm_equals(with, without) && !realm_equals(with, unicode));
    realm_release(with);
    realm_release(unicode);
    realm_release(without);
    realm_release(schema);
    open_notes("odd.realm", RLM_PROPERTY_FULLTEXT_UNICODE, RLM_ERR_ILLEGAL_OPERATION);
}

int main(void) {
    searching();
    schemas();
    return check_end("full text");
}
