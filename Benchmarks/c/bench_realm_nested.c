/* bench_realm_nested.c - collections that many changes meet, for bench_realm: deleting objects that all stand in one list,
 * and a list of dictionaries in a mixed property, each built, read and changed through a handle of its own. They have a
 * file of their own beside PATH: a mixed property can link to each class, which deletions would have to ask. */
#define _GNU_SOURCE
#include "bench_realm.h"
#include <unistd.h>

static realm_t* g_papers;
static char g_path[4200];

static void open_papers(void)
{
    static const realm_property_info_t paper[] = {
        {.name = "lines", .public_name = "", .type = RLM_PROPERTY_TYPE_OBJECT,
         .collection_type = RLM_COLLECTION_TYPE_LIST, .link_target = "Line", .link_origin_property_name = ""},
        {.name = "content", .public_name = "", .type = RLM_PROPERTY_TYPE_MIXED, .link_target = "",
         .link_origin_property_name = "", .flags = RLM_PROPERTY_NULLABLE}};
    static const realm_property_info_t line[] = {
        {.name = "number", .public_name = "", .type = RLM_PROPERTY_TYPE_INT, .link_target = "",
         .link_origin_property_name = ""}};
    static const realm_class_info_t classes[] = {{.name = "Paper", .primary_key = "", .num_properties = 2},
                                                 {.name = "Line", .primary_key = "", .num_properties = 1}};
    static const realm_property_info_t* properties[] = {paper, line};
    snprintf(g_path, sizeof g_path, "%s-papers", B.path);
    unlink(g_path);
    realm_schema_t* schema = realm_schema_new(classes, 2, properties);
    realm_config_t* config = realm_config_new();
    realm_config_set_path(config, g_path);
    realm_config_set_schema(config, schema);
    realm_config_set_schema_version(config, 1);
    CK((g_papers = realm_open(config)));
    realm_release(config);
    realm_release(schema);
}

static void close_papers(void)
{
    char lock[4300];
    realm_close(g_papers);
    realm_release(g_papers);
    snprintf(lock, sizeof lock, "%s.lock", g_path);
    unlink(lock);
    unlink(g_path);
}

static realm_object_t* create(const char* class_name)
{
    realm_class_info_t info;
    bool found = false;
    CK(realm_find_class(g_papers, class_name, &found, &info) && found);
    realm_object_t* object = realm_object_create(g_papers, info.key);
    CK(object);
    return object;
}

static realm_property_key_t property(realm_object_t* object, const char* name)
{
    realm_property_info_t info;
    bool found = false;
    CK(realm_find_property(g_papers, realm_object_get_table(object), name, &found, &info) && found);
    return info.key;
}

void w_delete_listed(void)
{
    const size_t n = listed_count();
    open_papers();
    CK(realm_begin_write(g_papers));
    realm_object_t* paper = create("Paper");
    realm_list_t* lines = realm_get_list(paper, property(paper, "lines"));
    realm_object_t** objects = malloc(n * sizeof *objects);
    CK(lines && objects);
    for (size_t i = 0; i < n; i++) {
        objects[i] = create("Line");
        CK(realm_list_insert(lines, i, v_link(realm_object_as_link(objects[i]))));
    }
    CK(realm_commit(g_papers));
    size_t left = 1;
    double t0 = now();
    CK(realm_begin_write(g_papers));
    for (size_t i = 0; i < n; i++)
        if (!realm_object_delete(objects[shuffled(i, n)]))
            die("realm_object_delete");
    CK(realm_list_size(lines, &left));
    CK(realm_commit(g_papers));
    report("delete_listed", now() - t0, n);
    expect("delete_listed", left, 0);
    for (size_t i = 0; i < n; i++)
        realm_release(objects[i]);
    free(objects);
    realm_release(lines);
    realm_release(paper);
    close_papers();
}

static realm_value_t key_of(size_t k)
{
    static const char* names[NESTED_ENTRIES] = {"count", "name", "place"};
    return v_str(names[k], strlen(names[k]));
}

/* Adds up the counts of all dictionaries; with `changes` each one gets a new count. */
static int64_t visit(realm_list_t* outer, size_t n, bool changes)
{
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        realm_dictionary_t* inner = realm_list_get_dictionary(outer, i);
        realm_value_t value;
        bool found = false;
        if (!inner || !realm_dictionary_find(inner, key_of(0), &value, &found) || !found)
            die("realm_dictionary_find");
        sum += value.integer;
        if (changes && !realm_dictionary_insert(inner, key_of(0), v_int(value.integer + 1), NULL, NULL))
            die("realm_dictionary_insert");
        realm_release(inner);
    }
    return sum;
}

void w_nested(void)
{
    const size_t n = nested_count();
    char name[NAME_LEN + 1];
    open_papers();
    double t0 = now();
    CK(realm_begin_write(g_papers));
    realm_object_t* paper = create("Paper");
    realm_list_t* outer = realm_set_list(paper, property(paper, "content"));
    CK(outer);
    for (size_t i = 0; i < n; i++) {
        realm_dictionary_t* inner = realm_list_insert_dictionary(outer, i);
        person_name(name, i);
        const realm_value_t values[NESTED_ENTRIES] = {v_int((int64_t)i), v_str(name, NAME_LEN), v_int((int64_t)i % 100)};
        for (size_t k = 0; k < NESTED_ENTRIES; k++)
            if (!inner || !realm_dictionary_insert(inner, key_of(k), values[k], NULL, NULL))
                die("realm_dictionary_insert");
        realm_release(inner);
    }
    CK(realm_commit(g_papers));
    report("nested_build", now() - t0, n);
    t0 = now();
    int64_t sum = visit(outer, n, false);
    report("nested_read", now() - t0, n);
    expect("nested_read", (size_t)sum, n * (n - 1) / 2);
    t0 = now();
    CK(realm_begin_write(g_papers));
    visit(outer, n, true);
    CK(realm_commit(g_papers));
    report("nested_change", now() - t0, n);
    expect("nested_change", (size_t)visit(outer, n, false), n * (n - 1) / 2 + n);
    realm_release(outer);
    realm_release(paper);
    close_papers();
}
