/* bench_json.c - objects from JSON text, beside the same objects made value by value, and beside SQLite.
 *
 * usage: bench_json PATH [N]
 *
 *   PATH  files to be made, PATH.realm and PATH.sqlite, which must not exist
 *   N     objects of each measure (default 100,000)
 *
 * Prints one line a measure: name, nanoseconds an object, objects; with BENCH_CLOCK=cpu processor time, for a busy machine;
 * compiled with -DBENCH_CALLGRIND and run under callgrind, a dump of the instructions of each measure. One transaction
 * each, the commit included. Two kinds of objects: a person of seven properties, and an order with a customer, found
 * again by primary key, an embedded address and a list of three lines. What SQLite does from JSON is one statement with
 * json_extract; its orders have tables for addresses and lines.
 */
#define _GNU_SOURCE
#include <realm.h>
#include <sqlite3.h>
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
static sqlite3* g_db;

static _Noreturn void die(const char* what)
{
    realm_error_t error;
    bool has = realm_get_last_error(&error);
    fprintf(stderr, "FAILED: %s: %s / %s\n", what, has ? error.message : "no error", g_db ? sqlite3_errmsg(g_db) : "");
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
static void report(const char* name, double start, size_t objects)
{
    printf("%-26s %9.1f ns  %zu\n", name, (now() - start) * 1e9 / (double)objects, objects);
    fflush(stdout);
#ifdef BENCH_CALLGRIND
    CALLGRIND_DUMP_STATS_AT(name);
#endif
}

/* ---------------------------------------------------------------- schema */

#define PROPERTY(n, t, c, target, f)                                                                                 \
    {                                                                                                                \
        n, "", RLM_PROPERTY_TYPE_##t, RLM_COLLECTION_TYPE_##c, target, "", 0, f                                      \
    }
enum { NULLABLE = RLM_PROPERTY_NULLABLE, KEY = RLM_PROPERTY_PRIMARY_KEY };
static const realm_property_info_t person[] = {
    PROPERTY("_id", INT, NONE, "", KEY),     PROPERTY("name", STRING, NONE, "", 0),
    PROPERTY("age", INT, NONE, "", 0),       PROPERTY("score", DOUBLE, NONE, "", 0),
    PROPERTY("birth", TIMESTAMP, NONE, "", 0), PROPERTY("active", BOOL, NONE, "", 0),
    PROPERTY("note", STRING, NONE, "", NULLABLE),
};
static const realm_property_info_t order[] = {
    PROPERTY("_id", INT, NONE, "", KEY),
    PROPERTY("customer", OBJECT, NONE, "Customer", NULLABLE),
    PROPERTY("address", OBJECT, NONE, "Address", NULLABLE),
    PROPERTY("lines", OBJECT, LIST, "Line", 0),
};
static const realm_property_info_t customer[] = {PROPERTY("_id", INT, NONE, "", KEY), PROPERTY("name", STRING, NONE, "", 0)};
static const realm_property_info_t address[] = {PROPERTY("street", STRING, NONE, "", 0), PROPERTY("number", INT, NONE, "", 0)};
static const realm_property_info_t line[] = {PROPERTY("item", STRING, NONE, "", 0), PROPERTY("count", INT, NONE, "", 0)};

#define CLASS(n, p, key, f)                                                                                          \
    {                                                                                                                \
        n, key, sizeof p / sizeof *p, 0, 0, f                                                                        \
    }
static const realm_class_info_t classes[] = {
    CLASS("Person", person, "_id", 0), CLASS("Order", order, "_id", 0), CLASS("Customer", customer, "_id", 0),
    CLASS("Address", address, "", RLM_CLASS_EMBEDDED), CLASS("Line", line, "", RLM_CLASS_EMBEDDED),
};
static const realm_property_info_t* properties[] = {person, order, customer, address, line};

static realm_class_key_t class_key(const char* name)
{
    bool found = false;
    realm_class_info_t info;
    CK(realm_find_class(g_realm, name, &found, &info) && found);
    return info.key;
}
static realm_property_key_t property_key(const char* class, const char* name)
{
    bool found = false;
    realm_property_info_t info;
    CK(realm_find_property(g_realm, class_key(class), name, &found, &info) && found);
    return info.key;
}
static void open_realm(const char* path)
{
    realm_schema_t* schema = realm_schema_new(classes, sizeof classes / sizeof *classes, properties);
    realm_config_t* config = realm_config_new();
    realm_config_set_path(config, path);
    realm_config_set_schema(config, schema);
    realm_config_set_schema_version(config, 1);
    CK(g_realm = realm_open(config));
    realm_release(config);
    realm_release(schema);
}

/* ---------------------------------------------------------------- data */

static char g_text[1024];
static int64_t age_of(size_t i) { return (int64_t)(i * 7919 % 90); }
static double score_of(size_t i) { return (double)(i * 31 % 10000) / 8; }
static int64_t birth_of(size_t i) { return (int64_t)(i % 1000000) * 1000; }

static size_t person_text(size_t i)
{
    time_t seconds = (time_t)birth_of(i);
    struct tm t;
    gmtime_r(&seconds, &t);
    return (size_t)snprintf(g_text, sizeof g_text,
                            "{\"_id\": %zu, \"name\": \"Person-%07zu\", \"age\": %lld, \"score\": %.3f, "
                            "\"birth\": \"%04d-%02d-%02dT%02d:%02d:%02dZ\", \"active\": %s, \"note\": null}",
                            i, i, (long long)age_of(i), score_of(i), t.tm_year + 1900, t.tm_mon + 1, t.tm_mday, t.tm_hour,
                            t.tm_min, t.tm_sec, i % 2 ? "true" : "false");
}
static size_t order_text(size_t i)
{
    return (size_t)snprintf(g_text, sizeof g_text,
                            "{\"_id\": %zu, \"customer\": {\"_id\": %zu, \"name\": \"Customer-%zu\"}, "
                            "\"address\": {\"street\": \"Street %zu\", \"number\": %zu}, \"lines\": ["
                            "{\"item\": \"item-%zu\", \"count\": 1}, {\"item\": \"item-%zu\", \"count\": 2}, "
                            "{\"item\": \"item-%zu\", \"count\": 3}]}",
                            i, i % 1000, i % 1000, i % 50, i, i % 70, i % 71, i % 72);
}

static realm_value_t v_int(int64_t i) { return (realm_value_t){.integer = i, .type = RLM_TYPE_INT}; }
static realm_value_t v_text(const char* s) { return (realm_value_t){.string = {s, strlen(s)}, .type = RLM_TYPE_STRING}; }

/* ---------------------------------------------------------------- ours */

static void persons_by_value(size_t n)
{
    realm_class_key_t class = class_key("Person");
    realm_property_key_t keys[6];
    for (size_t i = 0; i < 6; i++)
        keys[i] = property_key("Person", person[i + 1].name);
    double start = begin();
    CK(realm_begin_write(g_realm));
    for (size_t i = 0; i < n; i++) {
        char name[32];
        snprintf(name, sizeof name, "Person-%07zu", i);
        realm_value_t values[6] = {v_text(name), v_int(age_of(i))};
        values[2] = (realm_value_t){.dnum = score_of(i), .type = RLM_TYPE_DOUBLE};
        values[3] = (realm_value_t){.timestamp = {birth_of(i), 0}, .type = RLM_TYPE_TIMESTAMP};
        values[4] = (realm_value_t){.boolean = i % 2, .type = RLM_TYPE_BOOL};
        values[5] = (realm_value_t){.type = RLM_TYPE_NULL};
        realm_object_t* object = realm_object_create_with_primary_key(g_realm, class, v_int((int64_t)i));
        CK(object && realm_set_values(object, 6, keys, values, false));
        realm_release(object);
    }
    CK(realm_commit(g_realm));
    report("person_values", start, n);
}
static void orders_by_value(size_t n)
{
    realm_class_key_t class = class_key("Order"), customers = class_key("Customer");
    realm_property_key_t to_customer = property_key("Order", "customer"), to_address = property_key("Order", "address"),
                         to_lines = property_key("Order", "lines"), name_key = property_key("Customer", "name");
    realm_property_key_t in_address[] = {property_key("Address", "street"), property_key("Address", "number")};
    realm_property_key_t in_line[] = {property_key("Line", "item"), property_key("Line", "count")};
    double start = begin();
    CK(realm_begin_write(g_realm));
    for (size_t i = 0; i < n; i++) {
        char text[32];
        realm_object_t* object = realm_object_create_with_primary_key(g_realm, class, v_int((int64_t)i));
        realm_object_t* found = realm_object_get_or_create_with_primary_key(g_realm, customers, v_int((int64_t)(i % 1000)), NULL);
        snprintf(text, sizeof text, "Customer-%zu", i % 1000);
        CK(found && realm_set_value(found, name_key, v_text(text), false));
        realm_value_t link = {.link = realm_object_as_link(found), .type = RLM_TYPE_LINK};
        CK(realm_set_value(object, to_customer, link, false));
        realm_object_t* part = realm_set_embedded(object, to_address);
        snprintf(text, sizeof text, "Street %zu", i % 50);
        realm_value_t values[2] = {v_text(text), v_int((int64_t)i)};
        CK(part && realm_set_values(part, 2, in_address, values, false));
        realm_release(part);
        realm_list_t* lines = realm_get_list(object, to_lines);
        for (size_t j = 0; j < 3; j++) {
            part = realm_list_insert_embedded(lines, j);
            snprintf(text, sizeof text, "item-%zu", i % (70 + j));
            values[0] = v_text(text);
            values[1] = v_int((int64_t)j + 1);
            CK(part && realm_set_values(part, 2, in_line, values, false));
            realm_release(part);
        }
        realm_release(lines);
        realm_release(found);
        realm_release(object);
    }
    CK(realm_commit(g_realm));
    report("order_values", start, n);
}
/* Leaves an empty class behind. */
static void clear(const char* class)
{
    CK(realm_begin_write(g_realm));
    realm_results_t* all = realm_object_find_all(g_realm, class_key(class));
    CK(all && realm_results_delete_all(all));
    realm_release(all);
    CK(realm_commit(g_realm));
}
static void from_json(const char* name, const char* class, size_t (*text)(size_t), size_t n, realm_update_policy_e update)
{
    realm_class_key_t key = class_key(class);
    double start = begin();
    CK(realm_begin_write(g_realm));
    for (size_t i = 0; i < n; i++) {
        text(i);
        realm_object_t* object = realm_object_create_from_json(g_realm, key, g_text, update, RLM_JSON_PLAIN);
        CK(object);
        realm_release(object);
    }
    CK(realm_commit(g_realm));
    report(name, start, n);
}
static void to_json(const char* name, const char* class, size_t n)
{
    realm_results_t* all = realm_object_find_all(g_realm, class_key(class));
    size_t bytes = 0;
    double start = begin();
    for (size_t i = 0; i < n; i++) {
        realm_object_t* object = realm_results_get_object(all, i);
        char* text = realm_object_to_json(object, 0, RLM_JSON_PLAIN);
        CK(text);
        bytes += strlen(text);
        realm_free(text);
        realm_release(object);
    }
    report(name, start, n);
    CK(bytes > n * 50);
    realm_release(all);
}

/* ---------------------------------------------------------------- SQLite */

static void exec(const char* sql)
{
    if (sqlite3_exec(g_db, sql, NULL, NULL, NULL) != SQLITE_OK)
        die(sql);
}
static sqlite3_stmt* prepare(const char* sql)
{
    sqlite3_stmt* statement = NULL;
    if (sqlite3_prepare_v3(g_db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) != SQLITE_OK)
        die(sql);
    return statement;
}
static void run(sqlite3_stmt* statement)
{
    if (sqlite3_step(statement) != SQLITE_DONE)
        die("step");
    sqlite3_reset(statement);
}
static void open_sqlite(const char* path)
{
    CK(sqlite3_open(path, &g_db) == SQLITE_OK);
    exec("PRAGMA journal_mode=WAL");
    exec("PRAGMA synchronous=FULL");
    exec("CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT, age INT, score REAL, birth INT, active INT, note TEXT)");
    exec("CREATE TABLE orders(id INTEGER PRIMARY KEY, customer INT, street TEXT, number INT)");
    exec("CREATE TABLE customer(id INTEGER PRIMARY KEY, name TEXT)");
    exec("CREATE TABLE line(owner INT, position INT, item TEXT, count INT, PRIMARY KEY(owner, position)) WITHOUT ROWID");
    exec("CREATE INDEX by_customer ON orders(customer)");
}
static void sqlite_from_json(const char* name, size_t (*text)(size_t), size_t n, int count, const char** sql)
{
    sqlite3_stmt* statements[3];
    for (int j = 0; j < count; j++)
        statements[j] = prepare(sql[j]);
    double start = begin();
    exec("BEGIN IMMEDIATE");
    for (size_t i = 0; i < n; i++) {
        size_t size = text(i);
        for (int j = 0; j < count; j++) {
            sqlite3_bind_text(statements[j], 1, g_text, (int)size, SQLITE_STATIC);
            run(statements[j]);
        }
    }
    exec("COMMIT");
    report(name, start, n);
    for (int j = 0; j < count; j++)
        sqlite3_finalize(statements[j]);
}
static void sqlite(size_t n)
{
    const char* persons[] = {
        "INSERT INTO person SELECT json_extract(?1,'$._id'), json_extract(?1,'$.name'), json_extract(?1,'$.age'), "
        "json_extract(?1,'$.score'), CAST(strftime('%s', json_extract(?1,'$.birth')) AS INT), "
        "json_extract(?1,'$.active'), json_extract(?1,'$.note')"};
    const char* orders[] = {
        "INSERT INTO orders SELECT json_extract(?1,'$._id'), json_extract(?1,'$.customer._id'), "
        "json_extract(?1,'$.address.street'), json_extract(?1,'$.address.number')",
        "INSERT OR REPLACE INTO customer SELECT json_extract(?1,'$.customer._id'), json_extract(?1,'$.customer.name')",
        "INSERT INTO line SELECT json_extract(?1,'$._id'), key, json_extract(value,'$.item'), json_extract(value,'$.count') "
        "FROM json_each(?1,'$.lines')"};
    sqlite_from_json("sqlite_person_json", person_text, n, 1, persons);
    sqlite_from_json("sqlite_order_json", order_text, n, 3, orders);
    sqlite3_stmt* insert = prepare("INSERT INTO person VALUES(?,?,?,?,?,?,?)");
    exec("DELETE FROM person");
    double start = begin();
    exec("BEGIN IMMEDIATE");
    for (size_t i = 0; i < n; i++) {
        char name[32];
        int size = snprintf(name, sizeof name, "Person-%07zu", i);
        sqlite3_bind_int64(insert, 1, (int64_t)i);
        sqlite3_bind_text(insert, 2, name, size, SQLITE_STATIC);
        sqlite3_bind_int64(insert, 3, age_of(i));
        sqlite3_bind_double(insert, 4, score_of(i));
        sqlite3_bind_int64(insert, 5, birth_of(i));
        sqlite3_bind_int(insert, 6, i % 2);
        sqlite3_bind_null(insert, 7);
        run(insert);
    }
    exec("COMMIT");
    report("sqlite_person_values", start, n);
    sqlite3_finalize(insert);
}

int main(int argc, char** argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: bench_json PATH [N]\n");
        return 2;
    }
    size_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 100000;
    const char* clock = getenv("BENCH_CLOCK");
    if (clock && !strcmp(clock, "cpu"))
        g_clock = CLOCK_PROCESS_CPUTIME_ID;
    char path[4096];
    snprintf(path, sizeof path, "%s.realm", argv[1]);
    open_realm(path);
    double start = begin();
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += person_text(i);
    report("(text of a person)", start, n);
    start = begin();
    for (size_t i = 0; i < n; i++)
        bytes += order_text(i);
    report("(text of an order)", start, n);
    CK(bytes > n);
    persons_by_value(n);
    to_json("person_to_json", "Person", n);
    from_json("person_json_unchanged", "Person", person_text, n, RLM_UPDATE_MODIFIED);
    clear("Person");
    from_json("person_json", "Person", person_text, n, RLM_UPDATE_NEVER);
    orders_by_value(n);
    to_json("order_to_json", "Order", n);
    from_json("order_json_unchanged", "Order", order_text, n, RLM_UPDATE_MODIFIED);
    clear("Order");
    from_json("order_json", "Order", order_text, n, RLM_UPDATE_MODIFIED);
    realm_close(g_realm);
    realm_release(g_realm);
#ifndef BENCH_CALLGRIND
    snprintf(path, sizeof path, "%s.sqlite", argv[1]);
    open_sqlite(path);
    sqlite(n);
    sqlite3_close(g_db);
#endif
    return 0;
}
