/* bench_realm_migrate.c - schema changes of a file with N persons, each a reopening with a higher schema version: three
 * properties added and one renamed, a value set in each object by the callback, an index added. */
#define _GNU_SOURCE
#include "bench_realm.h"

static const realm_property_type_e STRING = RLM_PROPERTY_TYPE_STRING, INT = RLM_PROPERTY_TYPE_INT;

static realm_property_info_t prop(const char* name, realm_property_type_e type, int flags)
{
    return (realm_property_info_t){.name = name, .public_name = "", .type = type, .link_target = "",
                                   .link_origin_property_name = "", .flags = flags};
}

/* Persons as they are from the second version of the schema on. */
static realm_schema_t* person_schema(bool indexed)
{
    realm_property_info_t person[] = {
        prop("_id", INT, RLM_PROPERTY_PRIMARY_KEY), prop("full_name", STRING, indexed ? RLM_PROPERTY_INDEXED : 0),
        prop("age", INT, 0), prop("score", RLM_PROPERTY_TYPE_DOUBLE, 0), prop("birth", RLM_PROPERTY_TYPE_TIMESTAMP, 0),
        prop("active", RLM_PROPERTY_TYPE_BOOL, 0), prop("dept", RLM_PROPERTY_TYPE_OBJECT, RLM_PROPERTY_NULLABLE),
        prop("level", INT, 0), prop("nick", STRING, 0), prop("rating", RLM_PROPERTY_TYPE_DOUBLE, 0)};
    person[6].link_target = "Dept";
    realm_property_info_t dept[] = {prop("_id", INT, RLM_PROPERTY_PRIMARY_KEY), prop("name", STRING, 0)};
    realm_class_info_t classes[] = {{.name = "Person", .primary_key = "_id", .num_properties = 10},
                                    {.name = "Dept", .primary_key = "_id", .num_properties = 2}};
    const realm_property_info_t* properties[] = {person, dept};
    realm_schema_t* schema = realm_schema_new(classes, 2, properties);
    CK(schema);
    CK(realm_schema_set_default(schema, "Person", "level", "7"));
    CK(realm_schema_set_default(schema, "Person", "nick", "\"none\""));
    return schema;
}

static realm_property_key_t key_of(realm_t* realm, realm_class_key_t person, const char* name)
{
    realm_property_info_t info;
    bool found = false;
    CK(realm_find_property(realm, person, name, &found, &info) && found);
    return info.key;
}
static realm_class_key_t person_of(realm_t* realm)
{
    realm_class_info_t info;
    bool found = false;
    CK(realm_find_class(realm, "Person", &found, &info) && found);
    return info.key;
}

static bool rename_name(void* userdata, realm_t* old, realm_t* new, const realm_schema_t* schema)
{
    (void)userdata, (void)old;
    return realm_schema_rename_property(new, (realm_schema_t*)schema, "Person", "name", "full_name");
}
static bool set_levels(void* userdata, realm_t* old, realm_t* new, const realm_schema_t* schema)
{
    (void)userdata, (void)old, (void)schema;
    const realm_class_key_t person = person_of(new);
    const realm_property_key_t level = key_of(new, person, "level"), age = key_of(new, person, "age");
    for (size_t i = 0; i < B.n; i++) {
        realm_object_t* o = realm_get_object(new, person, (realm_object_key_t)i);
        realm_value_t value;
        if (!o || !realm_get_value(o, age, &value) || !realm_set_value(o, level, v_int(value.integer + 1), false))
            return false;
        realm_release(o);
    }
    return true;
}

static void migrate(const char* row, uint64_t version, realm_migration_func_t callback, bool indexed)
{
    realm_schema_t* schema = person_schema(indexed);
    realm_config_t* cfg = realm_config_new();
    realm_config_set_path(cfg, B.path);
    realm_config_set_schema(cfg, schema);
    realm_config_set_schema_version(cfg, version);
    realm_config_set_migration_function(cfg, callback, NULL, NULL);
    realm_scheduler_t* scheduler = loop_scheduler(&g_loop);
    realm_config_set_scheduler(cfg, scheduler);
    double t0 = now();
    g_realm = realm_open(cfg);
    CK(g_realm);
    report(row, now() - t0, 1);
    realm_release(scheduler);
    realm_release(cfg);
    realm_release(schema);
}

void w_migrate(void)
{
    close_main();
    migrate("migrate_columns", 2, rename_name, false);
    expect("migrate_columns", time_query("migrate_read", person_of(g_realm), "level == 7 AND nick == 'none'", 1), B.n);
    close_main();
    migrate("migrate_values", 3, set_levels, false);
    expect("migrate_values", time_query("migrate_check", person_of(g_realm), "level >= 31 AND level < 41", 1),
           count_ages(30, 40));
    close_main();
    migrate("migrate_index", 4, NULL, true);
    char query[64], name[32];
    person_name(name, target_id());
    snprintf(query, sizeof query, "full_name == '%s'", name);
    expect("migrate_index", time_query("migrate_find", person_of(g_realm), query, 1), 1);
}
