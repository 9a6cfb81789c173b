/* bench_realm_read.c - the reading workloads of bench_realm: look-ups, queries, sorting, aggregates, scans, links. */
#define _GNU_SOURCE
#include "bench_realm.h"

/* ---------------------------------------------------------------- point reads */

void w_get_by_pk(void)
{
    uint64_t sum = 0;
    realm_value_t name, age;
    double t0 = now();
    for (size_t i = 0; i < B.n; i++) {
        realm_object_t* o = find_pk(g_realm, K.person, (int64_t)(rnd() % B.n));
        if (!realm_get_value(o, K.name, &name) || !realm_get_value(o, K.age, &age))
            die("realm_get_value");
        sum += name.string.size + (uint64_t)age.integer;
        realm_release(o);
    }
    report("get_by_pk", now() - t0, B.n);
    fprintf(stderr, "# get_by_pk checksum=%llu\n", (unsigned long long)sum);
}

void w_get_by_strpk(void)
{
    char code[CODE_LEN];
    uint64_t sum = 0;
    realm_value_t age;
    double t0 = now();
    for (size_t i = 0; i < B.n; i++) {
        bool found = false;
        hex_code(code, rnd() % B.n);
        realm_object_t* o = realm_object_find_with_primary_key(g_realm, K.coded, v_str(code, CODE_LEN), &found);
        if (!o || !found || !realm_get_value(o, K.cage, &age))
            die("get_by_strpk");
        sum += (uint64_t)age.integer;
        realm_release(o);
    }
    report("get_by_strpk", now() - t0, B.n);
    fprintf(stderr, "# get_by_strpk checksum=%llu\n", (unsigned long long)sum);
}

/* ---------------------------------------------------------------- queries */

static size_t count_query(realm_class_key_t ck, const char* query)
{
    size_t n = 0;
    realm_query_t* q = realm_query_parse(g_realm, ck, query, 0, NULL);
    if (!q || !realm_query_count(q, &n))
        die(query);
    realm_release(q);
    return n;
}
size_t time_query(const char* name, realm_class_key_t ck, const char* query, size_t reps)
{
    size_t n = 0;
    double t0 = now();
    for (size_t r = 0; r < reps; r++)
        n = count_query(ck, query);
    report(name, now() - t0, reps);
    return n;
}

void w_query_int_range(void)
{
    expect("query_int_range", time_query("query_int_range", K.person, "age >= 30 AND age < 40", 20),
           count_ages(30, 40));
}
void w_query_string_eq(void)
{
    char q[64], name[32];
    person_name(name, target_id());
    snprintf(q, sizeof q, "name == '%s'", name);
    expect("query_string_eq", time_query("query_string_eq", K.person, q, 20), 1);
}
/* Reads every object once, so that what rows measure behind it was read before. */
void w_warm_up(void)
{
    for (size_t i = 0; i < B.n; i++) {
        realm_value_t age;
        realm_object_t* o = find_pk(g_realm, K.person, (int64_t)i);
        CK(o && realm_get_value(o, K.age, &age));
        realm_release(o);
    }
}
/* The first query of its process: run as a program of its own, whose file is not in memory (main). */
void w_cold_scan(void)
{
    char q[64], name[32];
    person_name(name, target_id());
    snprintf(q, sizeof q, "name == '%s'", name);
    expect("cold_scan", time_query("cold_scan", K.person, q, 1), 1);
}
void w_query_contains(void)
{
    expect("query_contains", time_query("query_contains", K.person, "name CONTAINS '777'", 10), count_names("777"));
}
void w_query_contains_c(void)
{
    expect("query_contains_c", time_query("query_contains_c", K.person, "name CONTAINS[c] 'PERSON-07'", 5),
           count_names("person-07"));
}
/* every object matches: what taking in the matches costs */
void w_query_prefix(void)
{
    expect("query_prefix", time_query("query_prefix", K.person, "name BEGINSWITH 'person-'", 10), B.n);
}
void w_query_link(void)
{
    expect("query_link", time_query("query_link", K.person, "dept.name == 'dept-42'", 10),
           B.n / 100 + (B.n % 100 > 42));
}
void w_query_indexed(void)
{
    char q[64], name[32];
    const size_t reps = 1000;
    double t0 = now();
    for (size_t r = 0; r < reps; r++) {
        person_name(name, rnd() % B.n);
        snprintf(q, sizeof q, "name == '%s'", name);
        if (count_query(K.personidx, q) != 1)
            die("query_indexed: not one match");
    }
    report("query_indexed", now() - t0, reps);
}

void w_text(void)
{
    for (size_t s = 0; s < sizeof text_searches / sizeof *text_searches; s++) {
        char words[32], q[64];
        spell_search(words, &text_searches[s]);
        snprintf(q, sizeof q, "text TEXT '%s'", words);
        expect(text_searches[s].name, time_query(text_searches[s].name, K.note, q, text_searches[s].reps),
               count_search(&text_searches[s]));
    }
}

/* ---------------------------------------------------------------- sort, aggregate */

static void read_sorted(realm_results_t* sorted, size_t index, char* out, size_t size)
{
    realm_value_t name, age;
    realm_object_t* o = realm_results_get_object(sorted, index);
    if (!o || !realm_get_value(o, K.age, &age) || !realm_get_value(o, K.name, &name))
        die("realm_results_get_object of a sorted result");
    if (out)
        snprintf(out, size, "%lld/%.*s", (long long)age.integer, (int)name.string.size, name.string.data);
    realm_release(o);
}
/* `full`: the last object is read as well, which needs the whole order */
static void sort_with(const char* label, bool full)
{
    const size_t reps = 3;
    char first[64] = "", last[64] = "";
    size_t take = B.n < 100 ? B.n : 100;
    double t0 = now();
    for (size_t rep = 0; rep < reps; rep++) {
        realm_results_t* all = all_persons();
        realm_results_t* sorted = realm_results_sort(all, "age ASC, name DESC");
        CK(sorted);
        if (full)
            read_sorted(sorted, B.n - 1, last, sizeof last);
        for (size_t i = 0; i < take; i++)
            read_sorted(sorted, i, i ? NULL : first, sizeof first);
        realm_release(sorted);
        realm_release(all);
    }
    report(label, now() - t0, reps);
    fprintf(stderr, "# %s first=%s last=%s\n", label, first, last);
    if (B.fresh) { /* ages are spread evenly: 0 is held by i * 7919 % 100 == 0, of which the last has the last name */
        char want[64], name[32];
        person_name(name, (B.n - 1) / 100 * 100);
        snprintf(want, sizeof want, "0/%s", name);
        if (strcmp(first, want) != 0)
            bench_fail(true, label, "the first object is not the expected one");
    }
}
void w_sort_int_string(void) { sort_with("sort_int_string", false); }
void w_sort_full(void) { sort_with("sort_full", true); }

typedef bool (*aggregate_fn)(realm_results_t*, realm_property_key_t, realm_value_t*, bool*);
void w_aggregate(void)
{
    static const struct {
        const char* name;
        aggregate_fn fn;
    } aggregates[] = {{"aggregate_sum", realm_results_sum},
                      {"aggregate_avg", realm_results_average},
                      {"aggregate_min", realm_results_min},
                      {"aggregate_max", realm_results_max}};
    const double n = (double)B.n, want[] = {0.25 * n * (n - 1), 0.25 * (n - 1), 0, 0.5 * (n - 1)};
    for (int a = 0; a < 4; a++) {
        realm_value_t v = {.type = RLM_TYPE_NULL};
        bool found = false;
        double t0 = now();
        for (int r = 0; r < 20; r++) {
            realm_results_t* all = all_persons();
            CK(aggregates[a].fn(all, K.score, &v, &found) && found);
            realm_release(all);
        }
        report(aggregates[a].name, now() - t0, 20);
        expect_double(aggregates[a].name, v.dnum, want[a]);
    }
}

/* count and average of the score by age: 100 groups, read into an array */
void w_group_by(void)
{
    realm_value_t values[3 * 100];
    size_t count = 0;
    double t0 = now();
    for (int r = 0; r < 20; r++) {
        realm_results_t* all = all_persons();
        realm_groups_t* groups = realm_results_group(all, "age", "@count, @avg.score");
        CK(groups && realm_groups_get_values(groups, 0, 100, values, &count));
        realm_release(groups);
        realm_release(all);
    }
    report("group_by", now() - t0, 20);
    expect("group_by", count, B.n < 100 ? B.n : 100);
    for (size_t i = 0; i < count; i++) {
        int64_t age = values[3 * i].integer;
        expect("group_by, count", (uint64_t)values[3 * i + 1].integer, count_of_age(age, B.n));
        expect_double("group_by, average", values[3 * i + 2].dnum, mean_of_age(age, B.n));
    }
}

/* ---------------------------------------------------------------- scan, links, backlinks */

void w_scan_read(void)
{
    uint64_t sum = 0;
    size_t n = 0;
    realm_value_t age;
    double t0 = now();
    realm_results_t* all = all_persons();
    CK(realm_results_count(all, &n));
    for (size_t i = 0; i < n; i++) {
        realm_object_t* o = realm_results_get_object(all, i);
        if (!o || !realm_get_value(o, K.age, &age))
            die("scan_read");
        sum += (uint64_t)age.integer;
        realm_release(o);
    }
    realm_release(all);
    report("scan_read", now() - t0, n);
    expect("scan_read", sum, sum_of_ages());
}

/* the same column through the library's bulk reads, a few thousand values a call */
enum { BULK = 4096 };
void w_scan_read_bulk(void)
{
    static int64_t ages[BULK];
    uint64_t sum = 0;
    size_t n = 0, got = 0;
    double t0 = now();
    realm_results_t* all = all_persons();
    do {
        if (!realm_results_read_integers(all, K.age, n, BULK, ages, NULL, &got))
            die("realm_results_read_integers");
        for (size_t i = 0; i < got; i++)
            sum += (uint64_t)ages[i];
        n += got;
    } while (got == BULK);
    realm_release(all);
    report("scan_read_bulk", now() - t0, n);
    expect("scan_read_bulk", sum, sum_of_ages());
}
void w_scan_text_bulk(void)
{
    static realm_string_t names[BULK];
    size_t bytes = 0, n = 0, got = 0;
    double t0 = now();
    realm_results_t* all = all_persons();
    do {
        if (!realm_results_read_strings(all, K.name, n, BULK, names, &got))
            die("realm_results_read_strings");
        for (size_t i = 0; i < got; i++)
            bytes += names[i].size;
        n += got;
    } while (got == BULK);
    realm_release(all);
    report("scan_text_bulk", now() - t0, n);
    expect("scan_text_bulk", bytes, B.n * NAME_LEN);
}

void w_link_traverse(void)
{
    size_t bytes = 0, n = 0;
    realm_value_t name;
    double t0 = now();
    realm_results_t* all = all_persons();
    CK(realm_results_count(all, &n));
    for (size_t i = 0; i < n; i++) {
        realm_object_t* o = realm_results_get_object(all, i);
        realm_object_t* d = o ? realm_get_linked_object(o, K.dept_link) : NULL;
        if (!d || !realm_get_value(d, K.dept_name, &name))
            die("link_traverse");
        bytes += name.string.size;
        realm_release(d);
        realm_release(o);
    }
    realm_release(all);
    report("link_traverse", now() - t0, n);
    fprintf(stderr, "# link_traverse name bytes=%zu\n", bytes);
}

void w_backlinks(void)
{
    size_t total = 0, n;
    double t0 = now();
    for (int rep = 0; rep < 10; rep++) {
        total = 0;
        for (int d = 0; d < NUM_DEPTS; d++) {
            realm_object_t* o = find_pk(g_realm, K.dept, d);
            realm_results_t* r = realm_get_backlinks(o, K.person, K.dept_link);
            CK(r);
            CK(realm_results_count(r, &n));
            total += n;
            realm_release(r);
            realm_release(o);
        }
    }
    report("backlinks", now() - t0, 10 * NUM_DEPTS);
    expect("backlinks", total, B.n);
}
