/* bench_realm.c - the benchmark through the C API of librealm.so.
 *
 * usage: bench_realm N all|NAME[,NAME...] PATH [--key HEX128|auto] [--fresh]
 *   N        number of objects of each class
 *   NAME     a workload of the table at the bottom; run in the order given. When "insert_bulk" is among them an
 *            existing PATH is removed first; otherwise PATH is reused.
 *   --key    open the file encrypted with this 64-byte key (128 hex digits; "auto" = 00 01 .. 3f)
 *   --fresh  PATH holds the data as insert_bulk left it: check counts
 *
 * Output: see bench.h. Transactions are durable. Every query repetition parses the query anew, so nothing is served
 * from a cached result. Counts are checked against values computed here while the data is as inserted.
 */
#define _GNU_SOURCE
#define BENCH_MAIN
#include "bench_realm.h"

#include <fcntl.h>

loop_t g_loop;
realm_t* g_realm;
keys_t K;
static uint8_t g_key[64];
static bool g_encrypted;

_Noreturn void die(const char* what)
{
    realm_error_t err;
    memset(&err, 0, sizeof err);
    bool has = realm_get_last_error(&err);
    bench_fail(!(has && err.error == RLM_ERR_NOT_SUPPORTED), what, has && err.message ? err.message : "no error set");
}

static void recover(void)
{
    if (g_realm && realm_is_writable(g_realm))
        realm_rollback(g_realm);
}

/* ---------------------------------------------------------------- schema, open, close */

#define PROP(n, t, ct, target, fl)                                                                                   \
    {                                                                                                                \
        .name = n, .public_name = "", .type = t, .collection_type = ct, .link_target = target,                       \
        .link_origin_property_name = "", .key = RLM_INVALID_PROPERTY_KEY, .flags = fl                                \
    }
#define SCALAR(n, t) PROP(n, RLM_PROPERTY_TYPE_##t, RLM_COLLECTION_TYPE_NONE, "", RLM_PROPERTY_NORMAL)
#define PK(n, t) PROP(n, RLM_PROPERTY_TYPE_##t, RLM_COLLECTION_TYPE_NONE, "", RLM_PROPERTY_PRIMARY_KEY)

static const realm_property_info_t person_props[] = {
    PK("_id", INT), SCALAR("name", STRING), SCALAR("age", INT), SCALAR("score", DOUBLE), SCALAR("birth", TIMESTAMP),
    SCALAR("active", BOOL),
    PROP("dept", RLM_PROPERTY_TYPE_OBJECT, RLM_COLLECTION_TYPE_NONE, "Dept", RLM_PROPERTY_NULLABLE)};
static const realm_property_info_t dept_props[] = {PK("_id", INT), SCALAR("name", STRING)};
static const realm_property_info_t event_props[] = {SCALAR("ts", INT), SCALAR("kind", INT), SCALAR("payload", STRING)};
static const realm_property_info_t personidx_props[] = {
    PK("_id", INT), PROP("name", RLM_PROPERTY_TYPE_STRING, RLM_COLLECTION_TYPE_NONE, "", RLM_PROPERTY_INDEXED),
    SCALAR("age", INT)};
static const realm_property_info_t coded_props[] = {PK("code", STRING), SCALAR("name", STRING), SCALAR("age", INT)};
static const realm_property_info_t shuffled_props[] = {PK("_id", INT), SCALAR("name", STRING), SCALAR("age", INT)};
static const realm_property_info_t note_props[] = {
    PROP("text", RLM_PROPERTY_TYPE_STRING, RLM_COLLECTION_TYPE_NONE, "", RLM_PROPERTY_FULLTEXT_INDEXED)};
static const realm_property_info_t team_props[] = {
    PK("_id", INT), PROP("rank", RLM_PROPERTY_TYPE_INT, RLM_COLLECTION_TYPE_NONE, "", RLM_PROPERTY_INDEXED),
    SCALAR("points", INT), PROP("scores", RLM_PROPERTY_TYPE_INT, RLM_COLLECTION_TYPE_LIST, "", RLM_PROPERTY_NORMAL),
    PROP("crew", RLM_PROPERTY_TYPE_OBJECT, RLM_COLLECTION_TYPE_LIST, "Person", RLM_PROPERTY_NORMAL)};
static const realm_property_info_t* all_props[] = {person_props, dept_props,     event_props, personidx_props,
                                                   coded_props,  shuffled_props, note_props,  team_props};
#define CLASS(n, pk, props)                                                                                          \
    {                                                                                                                \
        .name = n, .primary_key = pk, .num_properties = sizeof(props) / sizeof(*props),                              \
        .num_computed_properties = 0, .key = RLM_INVALID_CLASS_KEY, .flags = RLM_CLASS_NORMAL                        \
    }
static const realm_class_info_t all_classes[] = {
    CLASS("Person", "_id", person_props), CLASS("Dept", "_id", dept_props), CLASS("Event", "", event_props),
    CLASS("PersonIdx", "_id", personidx_props), CLASS("Coded", "code", coded_props),
    CLASS("Shuffled", "_id", shuffled_props), CLASS("Note", "", note_props),
    CLASS("Team", "_id", team_props)};
enum { NUM_CLASSES = sizeof all_classes / sizeof *all_classes };

realm_t* open_file(const char* path, loop_t* loop)
{
    realm_schema_t* schema = realm_schema_new(all_classes, NUM_CLASSES, all_props);
    CK(schema);
    realm_config_t* cfg = realm_config_new();
    realm_config_set_path(cfg, path);
    realm_config_set_schema(cfg, schema);
    realm_config_set_schema_mode(cfg, RLM_SCHEMA_MODE_AUTOMATIC);
    realm_config_set_schema_version(cfg, 1);
    realm_scheduler_t* scheduler = loop_scheduler(loop);
    realm_config_set_scheduler(cfg, scheduler);
    if (g_encrypted)
        CK(realm_config_set_encryption_key(cfg, g_key, sizeof g_key));
    realm_t* realm = realm_open(cfg);
    if (!realm)
        die("realm_open");
    realm_release(scheduler);
    realm_release(cfg);
    realm_release(schema);
    return realm;
}

static realm_class_key_t find_class(realm_t* r, const char* name)
{
    realm_class_info_t info;
    bool found = false;
    CK(realm_find_class(r, name, &found, &info) && found);
    return info.key;
}
static realm_property_key_t find_prop(realm_t* r, realm_class_key_t ck, const char* name)
{
    realm_property_info_t info;
    bool found = false;
    CK(realm_find_property(r, ck, name, &found, &info) && found);
    return info.key;
}
keys_t find_keys(realm_t* r)
{
    keys_t k;
    k.person = find_class(r, "Person");
    k.dept = find_class(r, "Dept");
    k.event = find_class(r, "Event");
    k.personidx = find_class(r, "PersonIdx");
    k.coded = find_class(r, "Coded");
    k.shuffled = find_class(r, "Shuffled");
    k.note = find_class(r, "Note");
    k.team = find_class(r, "Team");
    k.name = find_prop(r, k.person, "name");
    k.age = find_prop(r, k.person, "age");
    k.score = find_prop(r, k.person, "score");
    k.birth = find_prop(r, k.person, "birth");
    k.active = find_prop(r, k.person, "active");
    k.dept_link = find_prop(r, k.person, "dept");
    k.dept_name = find_prop(r, k.dept, "name");
    k.ts = find_prop(r, k.event, "ts");
    k.kind = find_prop(r, k.event, "kind");
    k.payload = find_prop(r, k.event, "payload");
    k.xname = find_prop(r, k.personidx, "name");
    k.xage = find_prop(r, k.personidx, "age");
    k.cname = find_prop(r, k.coded, "name");
    k.cage = find_prop(r, k.coded, "age");
    k.sname = find_prop(r, k.shuffled, "name");
    k.sage = find_prop(r, k.shuffled, "age");
    k.text = find_prop(r, k.note, "text");
    k.rank = find_prop(r, k.team, "rank");
    k.points = find_prop(r, k.team, "points");
    k.scores = find_prop(r, k.team, "scores");
    k.crew = find_prop(r, k.team, "crew");
    return k;
}
void open_main(void)
{
    g_realm = open_file(B.path, &g_loop);
    K = find_keys(g_realm);
}
void close_main(void)
{
    CK(realm_close(g_realm));
    realm_release(g_realm);
    g_realm = NULL;
    g_loop.pending = NULL;
}

realm_object_t* find_pk(realm_t* r, realm_class_key_t ck, int64_t id)
{
    bool found = false;
    realm_object_t* o = realm_object_find_with_primary_key(r, ck, v_int(id), &found);
    if (!o || !found)
        die("realm_object_find_with_primary_key");
    return o;
}
realm_results_t* all_persons(void)
{
    realm_results_t* r = realm_object_find_all(g_realm, K.person);
    CK(r);
    return r;
}

static void report_file_size(const char* name, const char* path)
{
    struct stat st;
    char line[64];
    snprintf(line, sizeof line, "%s_bytes", name);
    report(line, 0, file_bytes(path, ""));
    if (stat(path, &st) == 0)
        fprintf(stderr, "# %s allocated on disk=%lld\n", name, (long long)st.st_blocks * 512);
}

/* ---------------------------------------------------------------- bulk insert */

static void w_insert_bulk(void)
{
    const realm_property_key_t props[] = {K.name, K.age, K.score, K.birth, K.active, K.dept_link};
    realm_link_t depts[NUM_DEPTS];
    char name[32];
    double t0 = now();
    CK(realm_begin_write(g_realm));
    for (int d = 0; d < NUM_DEPTS; d++) {
        realm_object_t* o = realm_object_create_with_primary_key(g_realm, K.dept, v_int(d));
        CK(o);
        int n = snprintf(name, sizeof name, "dept-%d", d);
        CK(realm_set_value(o, K.dept_name, v_str(name, (size_t)n), false));
        depts[d] = realm_object_as_link(o);
        realm_release(o);
    }
    for (size_t i = 0; i < B.n; i++) {
        realm_object_t* o = realm_object_create_with_primary_key(g_realm, K.person, v_int((int64_t)i));
        if (!o)
            die("realm_object_create_with_primary_key");
        person_name(name, i);
        const realm_value_t vals[] = {v_str(name, NAME_LEN),   v_int(person_age(i)),     v_dbl(person_score(i)),
                                      v_ts(person_birth(i)),   v_bool(person_active(i)), v_link(depts[i % NUM_DEPTS])};
        if (!realm_set_values(o, 6, props, vals, false))
            die("realm_set_values");
        realm_release(o);
    }
    double t1 = now();
    CK(realm_commit(g_realm));
    double t2 = now();
    report("insert_bulk", t2 - t0, B.n);
    fprintf(stderr, "# insert_bulk of which commit=%.3f s\n", t2 - t1);
    report_file_size("file_after_insert", B.path);
    B.fresh = true;
}

static void w_insert_bulk_nopk(void)
{
    const realm_property_key_t props[] = {K.ts, K.kind, K.payload};
    char payload[CODE_LEN];
    double t0 = now();
    CK(realm_begin_write(g_realm));
    for (size_t i = 0; i < B.n; i++) {
        realm_object_t* o = realm_object_create(g_realm, K.event);
        if (!o)
            die("realm_object_create");
        hex_code(payload, i);
        const realm_value_t vals[] = {v_int(person_birth(i)), v_int((int64_t)(i % 8)), v_str(payload, CODE_LEN)};
        if (!realm_set_values(o, 3, props, vals, false))
            die("realm_set_values");
        realm_release(o);
    }
    CK(realm_commit(g_realm));
    report("insert_bulk_nopk", now() - t0, B.n);
}

/* id, name, age, in ascending or scattered order of ids */
static void insert_names(const char* label, realm_class_key_t ck, const realm_property_key_t props[2], bool scatter)
{
    char name[32];
    double t0 = now();
    CK(realm_begin_write(g_realm));
    for (size_t j = 0; j < B.n; j++) {
        size_t i = scatter ? scattered(j) : j;
        realm_object_t* o = realm_object_create_with_primary_key(g_realm, ck, v_int((int64_t)i));
        if (!o)
            die("realm_object_create_with_primary_key");
        person_name(name, i);
        const realm_value_t vals[] = {v_str(name, NAME_LEN), v_int(person_age(i))};
        if (!realm_set_values(o, 2, props, vals, false))
            die("realm_set_values");
        realm_release(o);
    }
    CK(realm_commit(g_realm));
    report(label, now() - t0, B.n);
}
static void w_insert_bulk_idx(void)
{
    const realm_property_key_t props[] = {K.xname, K.xage};
    insert_names("insert_bulk_idx", K.personidx, props, false);
}
static void w_insert_bulk_random(void)
{
    const realm_property_key_t props[] = {K.sname, K.sage};
    size_t count = 0;
    insert_names("insert_bulk_random", K.shuffled, props, true);
    CK(realm_get_num_objects(g_realm, K.shuffled, &count));
    expect("insert_bulk_random", count, B.n);
}
static void w_insert_bulk_strpk(void)
{
    const realm_property_key_t props[] = {K.cname, K.cage};
    char name[32], code[CODE_LEN];
    double t0 = now();
    CK(realm_begin_write(g_realm));
    for (size_t i = 0; i < B.n; i++) {
        hex_code(code, i);
        realm_object_t* o = realm_object_create_with_primary_key(g_realm, K.coded, v_str(code, CODE_LEN));
        if (!o)
            die("realm_object_create_with_primary_key");
        person_name(name, i);
        const realm_value_t vals[] = {v_str(name, NAME_LEN), v_int(person_age(i))};
        if (!realm_set_values(o, 2, props, vals, false))
            die("realm_set_values");
        realm_release(o);
    }
    CK(realm_commit(g_realm));
    report("insert_bulk_strpk", now() - t0, B.n);
}

static void w_insert_bulk_text(void)
{
    char text[NOTE_MAX];
    double t0 = now();
    CK(realm_begin_write(g_realm));
    for (size_t i = 0; i < B.n; i++) {
        realm_object_t* o = realm_object_create(g_realm, K.note);
        if (!o)
            die("realm_object_create");
        if (!realm_set_value(o, K.text, v_str(text, note_text(text, i)), false))
            die("realm_set_value");
        realm_release(o);
    }
    CK(realm_commit(g_realm));
    report("insert_bulk_text", now() - t0, B.n);
}

/* ---------------------------------------------------------------- small commits */

static void set_age(realm_t* r, int64_t id, int64_t age)
{
    realm_object_t* o = find_pk(r, K.person, id);
    if (!realm_set_value(o, K.age, v_int(age), false))
        die("realm_set_value");
    realm_release(o);
}
static void w_commit_small(void)
{
    const size_t ops = 1000;
    double t0 = now();
    B.fresh = false;
    for (size_t i = 0; i < ops; i++) {
        CK(realm_begin_write(g_realm));
        int64_t id = (int64_t)(rnd() % B.n);
        set_age(g_realm, id, (int64_t)(rnd() % 100));
        CK(realm_commit(g_realm));
    }
    report("commit_small", now() - t0, ops);
}

static void copy_file(const char* from, const char* to)
{
    static char buffer[1 << 20];
    size_t n;
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    if (!in || !out)
        die("copy_file");
    while ((n = fread(buffer, 1, sizeof buffer, in)) > 0)
        if (fwrite(buffer, 1, n, out) != n)
            die("copy_file write");
    fclose(in);
    fclose(out);
}
void remove_copy(const char* copy)
{
    static const char* const suffixes[] = {"", ".lock", ".note"};
    char name[4200];
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s%s", copy, suffixes[i]);
        unlink(name);
    }
}
/* Growth of a copy of the file over `commits` commits while one reader holds the first version. */
static size_t pinned_growth(const char* copy, size_t commits, size_t changes_each, double* seconds)
{
    loop_t other;
    loop_init(&other);
    close_main();
    copy_file(B.path, copy);
    open_main();
    realm_t *writer = open_file(copy, &g_loop), *reader = open_file(copy, &other);
    CK(realm_begin_read(reader));
    size_t before = file_bytes(copy, "");
    double t0 = now();
    for (size_t c = 0, i = 0; c < commits; c++) {
        CK(realm_begin_write(writer));
        for (size_t k = 0; k < changes_each; k++, i++)
            set_age(writer, (int64_t)pinned_object(i), (int64_t)(i / PINNED_OBJECTS % 100));
        CK(realm_commit(writer));
    }
    *seconds = now() - t0;
    size_t after = file_bytes(copy, "");
    CK(realm_close(reader));
    realm_release(reader);
    CK(realm_close(writer));
    realm_release(writer);
    remove_copy(copy);
    return after > before ? after - before : 0;
}
/* What 10,000 commits cost under a pinned reader, against what the same final state costs in a single commit: the
 * second is what really differs between the pinned version and the newest. */
static void w_pinned_reader(void)
{
    char copy[4096];
    double once = 0, many = 0;
    snprintf(copy, sizeof copy, "%s.pinned", B.path);
    size_t differs = pinned_growth(copy, 1, PINNED_OBJECTS, &once);
    size_t growth = pinned_growth(copy, pinned_commits(), 1, &many);
    report("pinned_reader", many, pinned_commits());
    report("pinned_growth_bytes", 0, growth);
    report("pinned_differs_bytes", 0, differs);
}

/* ---------------------------------------------------------------- delete, open, compact */

/* Nothing in the lists of teams refers to the persons any more, as those of SQLite go without a look at other tables. */
static void delete_teams(void)
{
    realm_results_t* all = realm_object_find_all(g_realm, K.team);
    CK(all && realm_begin_write(g_realm) && realm_results_delete_all(all) && realm_commit(g_realm));
    realm_release(all);
}

static void w_delete_half(void)
{
    size_t ops = 0, left = 0;
    delete_teams();
    double t0 = now();
    B.fresh = false;
    CK(realm_begin_write(g_realm));
    for (size_t i = 0; i < B.n; i += 2, ops++) {
        realm_object_t* o = find_pk(g_realm, K.person, (int64_t)i);
        if (!realm_object_delete(o))
            die("realm_object_delete");
        realm_release(o);
    }
    CK(realm_commit(g_realm));
    report("delete_half", now() - t0, ops);
    realm_results_t* all = all_persons();
    CK(realm_results_count(all, &left));
    CK(left == B.n - ops);
    realm_release(all);
}

static void w_open_time(void)
{
    const size_t reps = 20;
    realm_value_t name;
    double t0 = now();
    for (size_t i = 0; i < reps; i++) {
        close_main();
        open_main();
        realm_results_t* all = all_persons();
        realm_object_t* o = realm_results_get_object(all, 0);
        CK(o && realm_get_value(o, K.name, &name) && name.string.size == NAME_LEN);
        realm_release(o);
        realm_release(all);
    }
    report("open_time", now() - t0, reps);
}

/* compacts a copy, so that the workloads after this one still see the file as it was written */
static void w_compact(void)
{
    char copy[4096];
    bool did = false;
    snprintf(copy, sizeof copy, "%s.compact", B.path);
    close_main();
    copy_file(B.path, copy);
    open_main();
    realm_t* r = open_file(copy, &g_loop);
    double t0 = now();
    CK(realm_compact(r, &did));
    double t1 = now();
    realm_close(r);
    realm_release(r);
    report("compact", t1 - t0, 1);
    report_file_size("file_after_compact", copy);
    fprintf(stderr, "# compact did_compact=%d\n", did);
    remove_copy(copy);
}

/* Every block, tree, index and the map of free space. Last, so that it looks at what all others have left. */
static void print_problem(void* unused, const char* problem)
{
    (void)unused;
    fprintf(stderr, "# check: %s\n", problem);
}
static void w_check(void)
{
    size_t problems = 0;
    double t0 = now();
    CK(realm_check(g_realm, print_problem, NULL, &problems));
    report("check", now() - t0, 1);
    if (problems > 0)
        bench_fail(true, "check", "the file is damaged");
}

/* ---------------------------------------------------------------- main */

/* "all" runs these in this order: reads first, then what changes the file */
static const workload_t workloads[] = {
    {"bandwidth", w_bandwidth, true},
    {"insert_bulk", w_insert_bulk, true},
    {"compact", w_compact, true},
    {"open_time", w_open_time, true},
    {"get_by_pk", w_get_by_pk, true},
    {"query_int_range", w_query_int_range, true},
    {"query_string_eq", w_query_string_eq, true},
    {"query_contains", w_query_contains, true},
    {"query_contains_c", w_query_contains_c, true},
    {"query_prefix", w_query_prefix, true},
    {"query_link", w_query_link, true},
    {"query_first", w_query_first, true},
    {"sort_int_string", w_sort_int_string, true},
    {"sort_full", w_sort_full, true},
    {"aggregate", w_aggregate, true},
    {"group_by", w_group_by, true},
    {"scan_read", w_scan_read, true},
    {"scan_read_bulk", w_scan_read_bulk, true},
    {"scan_text_bulk", w_scan_text_bulk, true},
    {"link_traverse", w_link_traverse, true},
    {"backlinks", w_backlinks, true},
    {"insert_bulk_lists", w_insert_bulk_lists, true},
    {"team_queries", w_team_queries, true},
    {"sort_indexed", w_sort_indexed, true},
    {"commit_small", w_commit_small, true},
    {"commit_insert", w_commit_insert, true},
    {"commit_grouped", w_commit_grouped, true},
    {"notify", w_notify, false},
    {"versions", w_versions, false},
    {"notify_bg", w_notify_bg, false},
    {"notify_process", w_notify_process, false},
    {"notify_objects", w_notify_objects, false},
    {"insert_bulk_nopk", w_insert_bulk_nopk, true},
    {"insert_bulk_idx", w_insert_bulk_idx, true},
    {"query_indexed", w_query_indexed, true},
    {"query_prefix_indexed", w_query_prefix_indexed, true},
    {"insert_bulk_text", w_insert_bulk_text, true},
    {"text", w_text, true},
    {"insert_bulk_strpk", w_insert_bulk_strpk, true},
    {"get_by_strpk", w_get_by_strpk, true},
    {"insert_bulk_random", w_insert_bulk_random, true},
    {"pinned_reader", w_pinned_reader, true},
    {"delete_listed", w_delete_listed, true},
    {"nested", w_nested, true},
    {"update", w_update, true},
    {"insert_recorded", w_insert_recorded, true},
    {"delete_half", w_delete_half, true},
    {"migrate", w_migrate, false},
    {"cold_scan", w_cold_scan, false},
    {"warm_up", w_warm_up, false},
    {"check", w_check, true},
};
enum { NUM_WORKLOADS = sizeof workloads / sizeof *workloads };

static int usage(void)
{
    fprintf(stderr, "usage: bench_realm N all|NAME[,NAME...] PATH [--key HEX128|auto] [--fresh]\nworkloads:");
    for (int w = 0; w < NUM_WORKLOADS; w++)
        fprintf(stderr, " %s", workloads[w].name);
    fprintf(stderr, "\n");
    return 2;
}

static bool parse_key(const char* hex)
{
    bool automatic = !strcmp(hex, "auto");
    if (!automatic && strlen(hex) != 128)
        return false;
    for (unsigned i = 0; i < 64; i++) {
        unsigned byte = i;
        if (!automatic && sscanf(hex + 2 * i, "%2x", &byte) != 1)
            return false;
        g_key[i] = (uint8_t)byte;
    }
    return g_encrypted = true;
}

int main(int argc, char** argv)
{
    if (argc < 4 || (B.n = strtoull(argv[1], NULL, 10)) < 100)
        return usage();
    B.path = argv[3];
    for (int i = 4; i < argc; i++)
        if (!strcmp(argv[i], "--fresh"))
            B.fresh = true;
        else if (strcmp(argv[i], "--key") || i + 1 >= argc || !parse_key(argv[++i]))
            return usage();
    if (list_has(argv[2], "all") || list_has(argv[2], "insert_bulk"))
        remove_copy(B.path);
    if (list_has(argv[2], "cold_scan"))
        drop_from_memory(B.path);

    realm_set_log_level(RLM_LOG_LEVEL_ERROR);
    fprintf(stderr, "# realm %s N=%zu encrypted=%d path=%s\n", realm_get_library_version(), B.n, g_encrypted, B.path);
    loop_init(&g_loop);
    if (setjmp(B.failed))
        return 1;
    open_main();
    if (!run_workloads(argv[2], workloads, NUM_WORKLOADS, recover))
        return usage();
    if (setjmp(B.failed))
        return 1;
    close_main();
    report_file_size("file_at_end", B.path);
    report_peak_memory();
    return B.status;
}
