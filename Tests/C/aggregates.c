/* Minimum, maximum, sum and average (C_RULES, "Aggregates") of every type: of a property of results,
 * and of the values of lists, sets and dictionaries; of nothing, of nulls alone, of NaN, of what
 * overflows. */
#include "things.h"

enum { KINDS = 12, AGGREGATES = 4 };
/* The types of values.h, mixed values and links. */
static realm_property_type_e type_at(int i) {
    return i < TYPES ? types[i] : i == TYPES ? RLM_PROPERTY_TYPE_MIXED : RLM_PROPERTY_TYPE_OBJECT;
}
static const char prefixes[] = "plsd"; /* property, list, set, dictionary */

static realm_schema_t *of_everything(void) {
    static char names[4 * KINDS][8];
    realm_property_info_t all[4 * KINDS + 1];
    const realm_collection_type_e collections[] = {
        RLM_COLLECTION_TYPE_NONE, RLM_COLLECTION_TYPE_LIST, RLM_COLLECTION_TYPE_SET,
        RLM_COLLECTION_TYPE_DICTIONARY};
    for (int c = 0; c < 4; c++) {
        for (int i = 0; i < KINDS; i++) {
            int at = c * KINDS + i;
            bool is_link = i == KINDS - 1, is_required = is_link && (c == 1 || c == 2);
            snprintf(names[at], 8, "%c%d", prefixes[c], i);
            all[at] = many_of(names[at], collections[c], type_at(i),
                              is_required ? 0 : RLM_PROPERTY_NULLABLE, is_link ? "All" : "");
        }
    }
    all[4 * KINDS] = backlinks_of("back", "All", "p11");
    realm_class_info_t class = class_of("All", "", 4 * KINDS, 1);
    const realm_property_info_t *properties[] = {all};
    return realm_schema_new(&class, 1, properties);
}

typedef bool (*aggregate_t)(realm_results_t *, realm_property_key_t, realm_value_t *, bool *);
static const aggregate_t aggregates[AGGREGATES] = {realm_results_min, realm_results_max,
                                                   realm_results_sum, realm_results_average};
static const char *aggregate_names[AGGREGATES] = {"min", "max", "sum", "average"};

/* Which are defined: none, the least and the greatest only, or all. */
static int defined(int type) {
    switch (type_at(type)) {
    case RLM_PROPERTY_TYPE_INT:
    case RLM_PROPERTY_TYPE_FLOAT:
    case RLM_PROPERTY_TYPE_DOUBLE:
    case RLM_PROPERTY_TYPE_DECIMAL128:
    case RLM_PROPERTY_TYPE_MIXED: return AGGREGATES;
    case RLM_PROPERTY_TYPE_TIMESTAMP: return 2;
    default: return 0;
    }
}
static realm_value_t zero_sum(int type) {
    switch (type_at(type)) {
    case RLM_PROPERTY_TYPE_INT: return of_int(0);
    case RLM_PROPERTY_TYPE_FLOAT:
    case RLM_PROPERTY_TYPE_DOUBLE: return of_double(0);
    default: return of_small_decimal(0);
    }
}

typedef struct world {
    realm_t *realm;
    realm_object_t *owner;
    realm_property_key_t keys[4][KINDS];
} world_t;

/* Results whose elements or their property of a type are aggregated. */
static realm_results_t *results_of(const world_t *w, int place, int type) {
    realm_property_key_t key = w->keys[place][type];
    realm_results_t *results = NULL;
    void *owner = NULL;
    if (place == 0)
        return realm_object_find_all(w->realm, class_key(w->realm, "All"));
    if (place == 1)
        results = realm_list_to_results(owner = realm_get_list(w->owner, key));
    else if (place == 2)
        results = realm_set_to_results(owner = realm_get_set(w->owner, key));
    else
        results = realm_dictionary_to_results(owner = realm_get_dictionary(w->owner, key));
    realm_release(owner);
    CHECK(results != NULL);
    return results;
}

/* Puts the values where they are aggregated: into objects, or into the collection. */
static void put(const world_t *w, int place, int type, const realm_value_t *values, int n) {
    realm_property_key_t key = w->keys[place][type];
    SUCCEEDS(realm_begin_write(w->realm));
    if (place == 0) {
        realm_results_t *all = results_of(w, 0, type);
        SUCCEEDS(realm_results_delete_all(all));
        for (int i = 0; i < n; i++) {
            realm_object_t *object = realm_object_create(w->realm, class_key(w->realm, "All"));
            SUCCEEDS(realm_set_value(object, key, values[i], false));
            realm_release(object);
        }
        realm_release(all);
    } else if (place == 1) {
        realm_list_t *list = realm_get_list(w->owner, key);
        SUCCEEDS(realm_list_clear(list));
        for (int i = 0; i < n; i++)
            SUCCEEDS(realm_list_insert(list, (size_t)i, values[i]));
        realm_release(list);
    } else if (place == 2) {
        realm_set_t *set = realm_get_set(w->owner, key);
        SUCCEEDS(realm_set_clear(set));
        for (int i = 0; i < n; i++)
            SUCCEEDS(realm_set_insert(set, values[i], NULL, NULL));
        realm_release(set);
    } else {
        realm_dictionary_t *dictionary = realm_get_dictionary(w->owner, key);
        SUCCEEDS(realm_dictionary_clear(dictionary));
        for (int i = 0; i < n; i++) {
            char name[16];
            snprintf(name, sizeof name, "k%02d", i % 100);
            SUCCEEDS(realm_dictionary_insert(dictionary, of_text(name), values[i], NULL, NULL));
        }
        realm_release(dictionary);
    }
}

/* NULL: no value is produced. */
static void gives(const world_t *w, int place, int type, int aggregate, const realm_value_t *value,
                  bool expected_found) {
    realm_results_t *results = results_of(w, place, type);
    realm_value_t v = of_unknown_type();
    bool found = !expected_found;
    SUCCEEDS(aggregates[aggregate](results, w->keys[place][type], &v, &found));
    SUCCEEDS(aggregates[aggregate](results, w->keys[place][type], NULL, NULL));
    bool is_right = found == expected_found && same(v, value ? *value : of_null());
    CHECK(is_right);
    if (!is_right)
        fprintf(stderr, "    %s of %c%d: found %d, type %d, int %lld, double %g, words %llx %llx\n",
                aggregate_names[aggregate], prefixes[place], type, found, (int)v.type,
                (long long)v.integer, v.type == RLM_TYPE_FLOAT ? (double)v.fnum : v.dnum,
                (unsigned long long)v.decimal128.w[1], (unsigned long long)v.decimal128.w[0]);
    realm_release(results);
}

/* In the transaction and after it. */
static void all_give(const world_t *w, int place, int type, const realm_value_t *const expected[4],
                     const bool found[4], bool commits) {
    for (int round = 0; round < 2; round++) {
        for (int a = 0; a < defined(type); a++)
            gives(w, place, type, a, expected[a], found[a]);
        if (round == 0)
            SUCCEEDS(commits ? realm_commit(w->realm) : realm_rollback(w->realm));
        if (!commits)
            return;
    }
}

static void of_nothing(const world_t *w, int place, int type) {
    realm_value_t zero = zero_sum(type), null = of_null();
    /* What callers are used to: the sum of an empty dictionary of mixed values is an integer. */
    realm_value_t empty = place == 3 && type == TYPES ? of_int(0) : zero;
    const realm_value_t *none[4] = {NULL, NULL, &empty, NULL},
                        *nulls[4] = {NULL, NULL, &zero, NULL};
    const bool never[4] = {false, false, false, false}, sums[4] = {false, false, true, false};
    put(w, place, type, NULL, 0);
    all_give(w, place, type, none, never, true);
    realm_value_t two[] = {null, null};
    put(w, place, type, two, place == 2 ? 1 : 2);
    all_give(w, place, type, nulls, sums, true);
}

static void undefined(const world_t *w, int place, int type) {
    realm_results_t *results = results_of(w, place, type);
    realm_value_t v = of_unknown_type();
    bool found = true;
    for (int a = defined(type); a < AGGREGATES; a++)
        FAILS(RLM_ERR_ILLEGAL_OPERATION, aggregates[a](results, w->keys[place][type], &v, &found));
    CHECK(v.type == (realm_value_type_e)77);
    realm_release(results);
}

static void with_values(const world_t *w, int place, int type, const realm_value_t *values, int n,
                        realm_value_t least, realm_value_t greatest, realm_value_t sum,
                        realm_value_t average) {
    const realm_value_t *expected[4] = {&least, &greatest, &sum, &average};
    const bool always[4] = {true, true, true, true};
    put(w, place, type, values, n);
    all_give(w, place, type, expected, always, true);
}

static void of_place(const world_t *w, int place) {
    for (int type = 0; type < KINDS; type++) {
        if (type < KINDS - 1)
            of_nothing(w, place, type);
        undefined(w, place, type);
    }
    const realm_value_t null = of_null();
    const realm_value_t ints[] = {null, of_int(INT64_MAX), of_int(-4), of_int(6)};
    /* The sum wraps around, the average does not. */
    with_values(w, place, 0, ints, 4, of_int(-4), of_int(INT64_MAX), of_int(INT64_MIN + 1),
                of_double(((double)INT64_MAX + 2) / 3));
    const realm_value_t times[] = {of_time(5, 6), null, of_time(-5, -6), of_time(5, 5)};
    with_values(w, place, 4, times, 4, of_time(-5, -6), of_time(5, 6), null, null);
    const realm_value_t floats[] = {of_float(1.5f), of_float(NAN), null, of_float(-2.5f)};
    with_values(w, place, 5, floats, 4, of_float(-2.5f), of_float(1.5f), of_double(-1),
                of_double(-0.5));
    const realm_value_t doubles[] = {of_double(NAN), of_double(1.5), null, of_double(0.25)};
    with_values(w, place, 6, doubles, 4, of_double(0.25), of_double(1.5), of_double(1.75),
                of_double(0.875));
    const realm_value_t nans[] = {of_double(NAN), null};
    const realm_value_t zero = of_double(0), *expected[4] = {NULL, NULL, &zero, NULL};
    const bool found[4] = {false, false, true, false};
    put(w, place, 6, nans, 2);
    all_give(w, place, 6, expected, found, true);
    /* 0.1 + 2 = 2.1, exactly. */
    const realm_value_t decimals[] = {of_decimal(1, 0x303e000000000000), null, of_small_decimal(2)};
    with_values(w, place, 7, decimals, 3, decimals[0], decimals[2],
                of_decimal(21, 0x303e000000000000), of_decimal(105, 0x303c000000000000));
    const realm_value_t mixed[] = {of_text("z"), of_int(2), null, of_bool(true),
                                   of_decimal(5, 0x303e000000000000)};
    with_values(w, place, TYPES, mixed, 5, of_bool(true), of_text("z"),
                of_decimal(25, 0x303e000000000000), of_decimal(125, 0x303c000000000000));
}

/* What a limit or DISTINCT leaves out does not count. */
static void of_parts(const world_t *w) {
    const realm_value_t ints[] = {of_int(7), of_int(1), of_int(7), of_int(100)};
    put(w, 0, 0, ints, 4);
    SUCCEEDS(realm_commit(w->realm));
    realm_results_t *all = results_of(w, 0, 0), *three = realm_results_limit(all, 3);
    realm_results_t *distinct = realm_results_distinct(three, "p0");
    realm_results_t *none = realm_results_limit(all, 0);
    realm_value_t v;
    bool found = false;
    SUCCEEDS(realm_results_sum(three, w->keys[0][0], &v, &found));
    CHECK(found && same(v, of_int(15)));
    SUCCEEDS(realm_results_sum(distinct, w->keys[0][0], &v, &found));
    CHECK(found && same(v, of_int(8)));
    SUCCEEDS(realm_results_average(distinct, w->keys[0][0], &v, &found));
    CHECK(found && same(v, of_double(4)));
    SUCCEEDS(realm_results_max(none, w->keys[0][0], &v, &found));
    CHECK(!found && v.type == RLM_TYPE_NULL);
    /* Keys that are none, and properties that hold collections. */
    FAILS(RLM_ERR_INVALID_PROPERTY, realm_results_min(all, -1, &v, &found));
    FAILS(RLM_ERR_INVALID_PROPERTY, realm_results_max(all, 4711, &v, &found));
    for (int place = 1; place < 4; place++)
        for (int a = 0; a < AGGREGATES; a++)
            FAILS(RLM_ERR_ILLEGAL_OPERATION, aggregates[a](all, w->keys[place][0], &v, &found));
    realm_release(none);
    realm_release(distinct);
    realm_release(three);
    realm_release(all);
}

int main(void) {
    world_t w;
    w.realm = open_with("aggregates.realm", of_everything());
    for (int place = 0; place < 4; place++) {
        for (int type = 0; type < KINDS; type++) {
            char name[16];
            snprintf(name, sizeof name, "%c%d", prefixes[place], type);
            w.keys[place][type] = property_key(w.realm, class_key(w.realm, "All"), name);
        }
    }
    w.owner = NULL;
    of_place(&w, 0);
    of_parts(&w);
    SUCCEEDS(realm_begin_write(w.realm));
    w.owner = realm_object_create(w.realm, class_key(w.realm, "All"));
    SUCCEEDS(realm_commit(w.realm));
    for (int place = 1; place < 4; place++)
        of_place(&w, place);
    realm_release(w.owner);
    realm_release(w.realm);
    return check_end("aggregates");
}
