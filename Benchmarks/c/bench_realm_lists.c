/* bench_realm_lists.c - teams of bench_realm: lists of numbers and of links, and an indexed number. Inserting them,
 * queries of lists, ranges and orders by the index, conditions that end early. Also how fast this machine reads memory,
 * which is the bound of every scan. */
#define _GNU_SOURCE
#include "bench_realm.h"

/* ---------------------------------------------------------------- bandwidth */

/* Seconds to add up `words` words, the least of `reps` times. */
static double time_reading(const uint64_t* data, size_t words, int reps, uint64_t* sum)
{
    double best = 1e9;
    for (int rep = 0; rep < reps; rep++) {
        uint64_t a = 0, b = 0, c = 0, d = 0;
        double t0 = now();
        for (size_t i = 0; i + 8 <= words; i += 8) {
            a += data[i] + data[i + 4];
            b += data[i + 1] + data[i + 5];
            c += data[i + 2] + data[i + 6];
            d += data[i + 3] + data[i + 7];
        }
        double t1 = now() - t0;
        if (t1 < best)
            best = t1;
        *sum += a + b + c + d;
    }
    return best;
}

/* One core reads a quarter of a gigabyte, which no cache holds, and a megabyte, which one does. */
void w_bandwidth(void)
{
    const size_t large = 256 << 20, small = 1 << 20;
    uint64_t sum = 0, *data = malloc(large);
    CK(data);
    for (size_t i = 0; i < large / 8; i++)
        data[i] = i;
    report("bandwidth", time_reading(data, large / 8, 5, &sum), large);
    report("bandwidth_cached", time_reading(data, small / 8, 200, &sum), small);
    fprintf(stderr, "# bandwidth checksum=%llu\n", (unsigned long long)sum);
    free(data);
}

/* ---------------------------------------------------------------- inserting */

void w_insert_bulk_lists(void)
{
    const realm_property_key_t props[] = {K.rank, K.points};
    double t0 = now();
    CK(realm_begin_write(g_realm));
    for (size_t i = 0; i < B.n; i++) {
        realm_object_t* o = realm_object_create_with_primary_key(g_realm, K.team, v_int((int64_t)i));
        if (!o)
            die("realm_object_create_with_primary_key");
        const realm_value_t vals[] = {v_int(team_rank(i)), v_int(team_score(i, 0))};
        if (!realm_set_values(o, 2, props, vals, false))
            die("realm_set_values");
        realm_list_t* scores = realm_get_list(o, K.scores);
        for (size_t k = 0; k < TEAM_SCORES; k++)
            if (!scores || !realm_list_insert(scores, k, v_int(team_score(i, k))))
                die("realm_list_insert");
        realm_list_t* crew = realm_get_list(o, K.crew);
        for (size_t k = 0; k < team_size(i); k++) {
            const realm_link_t link = {K.person, (realm_object_key_t)team_person(i, k)};
            if (!crew || !realm_list_insert(crew, k, v_link(link)))
                die("realm_list_insert of a link");
        }
        realm_release(crew);
        realm_release(scores);
        realm_release(o);
    }
    CK(realm_commit(g_realm));
    report("insert_bulk_lists", now() - t0, B.n);
}

/* ---------------------------------------------------------------- queries */

static void time_object_query(void)
{
    size_t n = 0, reps = 100, person = target_id();
    realm_object_t* o = find_pk(g_realm, K.person, (int64_t)person);
    realm_value_t value = v_link(realm_object_as_link(o));
    const realm_query_arg_t arg = {.nb_args = 1, .is_list = false, .arg = &value};
    double t0 = now();
    for (size_t r = 0; r < reps; r++) {
        realm_query_t* q = realm_query_parse(g_realm, K.team, "ANY crew == $0", 1, &arg);
        CK(q && realm_query_count(q, &n));
        realm_release(q);
    }
    report("query_any_object", now() - t0, reps);
    realm_release(o);
    expect("query_any_object", n, count_teams_of(person));
}

/* The objects of a range of ranks, and a number of each. */
static void time_range_reading(const char* query)
{
    const size_t reps = 5;
    size_t n = 0;
    int64_t sum = 0;
    realm_value_t points;
    double t0 = now();
    for (size_t r = 0; r < reps; r++) {
        realm_query_t* q = realm_query_parse(g_realm, K.team, query, 0, NULL);
        realm_results_t* found = q ? realm_query_find_all(q) : NULL;
        CK(found && realm_results_count(found, &n));
        for (size_t i = 0; i < n; i++) {
            realm_object_t* o = realm_results_get_object(found, i);
            if (!o || !realm_get_value(o, K.points, &points))
                die("query_range_read");
            sum += points.integer;
            realm_release(o);
        }
        realm_release(found);
        realm_release(q);
    }
    report("query_range_read", now() - t0, reps);
    fprintf(stderr, "# query_range_read checksum=%lld\n", (long long)sum);
    expect("query_range_read", n, count_ranks());
}

void w_team_queries(void)
{
    char q[128];
    snprintf(q, sizeof q, "rank >= %lld AND rank < %lld", (long long)rank_from(), (long long)rank_below());
    expect("query_range_indexed", time_query("query_range_indexed", K.team, q, 100), count_ranks());
    time_range_reading(q);
    snprintf(q, sizeof q, "ANY scores > %d", SCORE_ABOVE);
    expect("query_any_int", time_query("query_any_int", K.team, q, 10), count_scores());
    snprintf(q, sizeof q, "ANY crew.age > %d", AGE_ABOVE);
    expect("query_any_link", time_query("query_any_link", K.team, q, 10), count_crews(AGE_ABOVE, 1));
    time_object_query();
    snprintf(q, sizeof q, "crew.@count == %d", TEAM_CREW_MAX);
    expect("query_list_count", time_query("query_list_count", K.team, q, 10), count_sizes(TEAM_CREW_MAX));
    snprintf(q, sizeof q, "SUBQUERY(crew, $c, $c.age > %d).@count > 1", MEMBER_AGE_ABOVE);
    expect("query_subquery", time_query("query_subquery", K.team, q, 5), count_crews(MEMBER_AGE_ABOVE, 2));
    snprintf(q, sizeof q, "@links.Team.crew.@count > %d", LINKS_ABOVE);
    expect("query_backlink_count", time_query("query_backlink_count", K.person, q, 5), count_linked());
}

void w_query_prefix_indexed(void)
{
    expect("query_prefix_indexed",
           time_query("query_prefix_indexed", K.personidx, "name BEGINSWITH 'person-07'", 100), count_names("person-07"));
}

/* ---------------------------------------------------------------- what ends early */

void w_query_first(void)
{
    const size_t reps = 200;
    char q[64];
    size_t n = 0;
    realm_value_t first = {.type = RLM_TYPE_NULL};
    bool found = false;
    snprintf(q, sizeof q, "score >= %.1f", score_from());
    double t0 = now();
    for (size_t r = 0; r < reps; r++) {
        realm_query_t* query = realm_query_parse(g_realm, K.person, q, 0, NULL);
        CK(query && realm_query_find_first(query, &first, &found) && found);
        realm_release(query);
    }
    report("query_first", now() - t0, reps);
    expect("query_first", (size_t)first.link.target, B.n / 100);
    snprintf(q, sizeof q, "score >= %.1f LIMIT(100)", score_from());
    t0 = now();
    for (size_t r = 0; r < reps; r++) {
        realm_query_t* query = realm_query_parse(g_realm, K.person, q, 0, NULL);
        realm_results_t* results = query ? realm_query_find_all(query) : NULL;
        realm_object_t* last = results ? realm_results_get_object(results, 99) : NULL;
        CK(last && realm_results_count(results, &n));
        realm_release(last);
        realm_release(results);
        realm_release(query);
    }
    report("query_limit", now() - t0, reps);
    expect("query_limit", n, 100);
}

/* ---------------------------------------------------------------- order of an index */

static int64_t rank_at(realm_results_t* sorted, size_t index)
{
    realm_value_t rank;
    realm_object_t* o = realm_results_get_object(sorted, index);
    if (!o || !realm_get_value(o, K.rank, &rank))
        die("realm_results_get_object of a sorted result");
    realm_release(o);
    return rank.integer;
}
/* `full`: the last object is read as well, which needs the whole order */
static void sort_by_rank(const char* label, bool full, size_t reps)
{
    int64_t previous = 0;
    double t0 = now();
    for (size_t rep = 0; rep < reps; rep++) {
        realm_results_t* all = realm_object_find_all(g_realm, K.team);
        realm_results_t* sorted = all ? realm_results_sort(all, "rank ASC") : NULL;
        CK(sorted);
        if (full)
            previous = rank_at(sorted, B.n - 1);
        for (size_t i = 0, last = 0; i < 100; i++) {
            int64_t rank = rank_at(sorted, i);
            if (rank < (int64_t)last)
                bench_fail(true, label, "the ranks do not ascend");
            last = (size_t)rank;
        }
        realm_release(sorted);
        realm_release(all);
    }
    report(label, now() - t0, reps);
    fprintf(stderr, "# %s last=%lld\n", label, (long long)previous);
}
void w_sort_indexed(void)
{
    sort_by_rank("sort_indexed", false, 100);
    sort_by_rank("sort_indexed_full", true, 3);
}
