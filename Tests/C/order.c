/* The order of values (C_RULES, "Order of values") as sets, sorts, DISTINCT and comparisons show
 * it. */
#include "things.h"

static realm_t *open_values(const char *path) {
    const int nullable = RLM_PROPERTY_NULLABLE;
    const realm_collection_type_e set = RLM_COLLECTION_TYPE_SET;
    realm_property_info_t value[] = {
        property_of("n", RLM_PROPERTY_TYPE_INT, 0),
        property_of("i", RLM_PROPERTY_TYPE_INT, nullable),
        property_of("d", RLM_PROPERTY_TYPE_DOUBLE, nullable),
        property_of("f", RLM_PROPERTY_TYPE_FLOAT, nullable),
        property_of("m", RLM_PROPERTY_TYPE_DECIMAL128, nullable),
        property_of("s", RLM_PROPERTY_TYPE_STRING, nullable),
        property_of("b", RLM_PROPERTY_TYPE_BOOL, nullable),
        property_of("t", RLM_PROPERTY_TYPE_TIMESTAMP, nullable),
        property_of("mixed", RLM_PROPERTY_TYPE_MIXED, nullable),
        link_of("l", "Value"),
        many_of("doubles", set, RLM_PROPERTY_TYPE_DOUBLE, nullable, ""),
        many_of("floats", set, RLM_PROPERTY_TYPE_FLOAT, nullable, ""),
        many_of("decimals", set, RLM_PROPERTY_TYPE_DECIMAL128, nullable, ""),
        many_of("bools", set, RLM_PROPERTY_TYPE_BOOL, nullable, ""),
        many_of("binaries", set, RLM_PROPERTY_TYPE_BINARY, nullable, ""),
        many_of("times", set, RLM_PROPERTY_TYPE_TIMESTAMP, nullable, ""),
        many_of("anys", set, RLM_PROPERTY_TYPE_MIXED, nullable, ""),
        many_of("values", set, RLM_PROPERTY_TYPE_OBJECT, 0, "Value"),
    };
    realm_class_info_t class = class_of("Value", "", sizeof value / sizeof *value, 0);
    const realm_property_info_t *properties[] = {value};
    return open_with(path, realm_schema_new(&class, 1, properties));
}
static realm_property_key_t key_of(realm_t *realm, const char *name) {
    return property_key(realm, class_key(realm, "Value"), name);
}

/* Inserted from the last to the first, the set has them in this order; `equals` are no new
 * elements, and the representation of the first one stays. */
static void ordered(realm_t *realm, realm_object_t *object, const char *name,
                    const realm_value_t *values, size_t n, const realm_value_t *equals,
                    const size_t *places, size_t more) {
    SUCCEEDS(realm_begin_write(realm));
    realm_set_t *set = realm_get_set(object, key_of(realm, name));
    realm_value_t v;
    size_t index;
    bool flag;
    for (size_t i = n; i-- > 0;) {
        SUCCEEDS(realm_set_insert(set, values[i], &index, &flag));
        CHECK(flag && index == 0);
    }
    for (size_t i = 0; i < more; i++) {
        SUCCEEDS(realm_set_insert(set, equals[i], &index, &flag));
        CHECK(!flag && index == places[i]);
        SUCCEEDS(realm_set_find(set, equals[i], &index, &flag));
        CHECK(flag && index == places[i]);
    }
    CHECK(size_of_set(set) == n);
    for (size_t i = 0; i < n; i++) {
        SUCCEEDS(realm_set_get(set, i, &v));
        CHECK(same(v, values[i]));
        /* Out and in again. */
        SUCCEEDS(realm_set_erase(set, values[i], &flag));
        CHECK(flag);
        SUCCEEDS(realm_set_insert(set, values[i], &index, &flag));
        CHECK(flag && index == i);
    }
    SUCCEEDS(realm_commit(realm));
    for (size_t i = 0; i < n; i++) {
        SUCCEEDS(realm_set_get(set, i, &v));
        CHECK(same(v, values[i]));
        SUCCEEDS(realm_set_find(set, values[i], &index, &flag));
        CHECK(flag && index == i);
    }
    for (size_t i = 0; i < more; i++) {
        SUCCEEDS(realm_set_find(set, equals[i], &index, &flag));
        CHECK(flag && index == places[i]);
    }
    realm_release(set);
}
#define ORDERED(name, values, equals, places)                                                     \
    ordered(realm, object, name, values, sizeof values / sizeof *values, equals, places,          \
            sizeof equals / sizeof *equals)

static void sets(void) {
    realm_t *realm = open_values("sets.realm");
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *object = realm_object_create(realm, class_key(realm, "Value"));
    realm_object_t *later = realm_object_create(realm, class_key(realm, "Value"));
    SUCCEEDS(realm_commit(realm));
    {
        const realm_value_t values[] = {of_null(),       of_double(NAN),  of_double(-INFINITY),
                                        of_double(-1.5), of_double(-0.0), of_double(5e-324),
                                        of_double(2),    of_double(INFINITY)};
        const realm_value_t equals[] = {of_double(0.0), of_double(NAN)};
        const size_t places[] = {4, 1};
        ORDERED("doubles", values, equals, places);
    }
    {
        const realm_value_t values[] = {of_null(), of_float(NAN), of_float(-INFINITY),
                                        of_float(0.0f), of_float(1e-45f), of_float(INFINITY)};
        const realm_value_t equals[] = {of_float(-0.0f), of_text(NULL)};
        const size_t places[] = {3, 0};
        ORDERED("floats", values, equals, places);
    }
    {
        /* NaN, -Infinity, -1, 0, 1.0, 2, Infinity. */
        const realm_value_t values[] = {of_null(),
                                        of_decimal(0, 0x7c00000000000000),
                                        of_decimal(0, 0xf800000000000000),
                                        of_decimal(1, 0xb040000000000000),
                                        of_small_decimal(0),
                                        of_decimal(10, 0x303e000000000000),
                                        of_small_decimal(2),
                                        of_decimal(0, 0x7800000000000000)};
        const realm_value_t equals[] = {of_decimal(100, 0x303c000000000000), of_small_decimal(1),
                                        of_decimal(0, 0xb040000000000000), of_decimal(0, 0)};
        const size_t places[] = {5, 5, 4, 4};
        ORDERED("decimals", values, equals, places);
    }
    {
        const realm_value_t values[] = {of_null(), of_bool(false), of_bool(true)};
        const realm_value_t equals[] = {of_bool(true)};
        const size_t places[] = {2};
        ORDERED("bools", values, equals, places);
    }
    {
        const realm_value_t values[] = {of_null(), of_bytes("", 0), of_bytes("\0", 1),
                                        of_bytes("a", 1), of_bytes("aa", 2), of_bytes("\xff", 1)};
        const realm_value_t equals[] = {of_bytes("a", 1)};
        const size_t places[] = {3};
        ORDERED("binaries", values, equals, places);
    }
    {
        const realm_value_t values[] = {of_null(),       of_time(INT64_MIN, -999999999),
                                        of_time(-1, -1), of_time(-1, 0),
                                        of_time(0, -1),  of_time(0, 0),
                                        of_time(0, 1),   of_time(INT64_MAX, 999999999)};
        const realm_value_t equals[] = {of_time(0, 0)};
        const size_t places[] = {5};
        ORDERED("times", values, equals, places);
    }
    {
        /* All families; numbers by their value, whatever their type. */
        const realm_value_t values[] = {
            of_null(),
            of_bool(false),
            of_bool(true),
            of_double(NAN),
            of_double(-INFINITY),
            of_int(INT64_MIN),
            of_float(-0.5f),
            of_int(0),
            of_decimal(1, 0x303e000000000000), /* 0.1 */
            of_double(0.5),
            of_int(2),
            of_double(9007199254740992.0),
            of_int(9007199254740993),
            of_int(INT64_MAX),
            of_double(9223372036854775808.0),
            of_decimal(1, 0x3080000000000000), /* 1e32 */
            of_double(INFINITY),
            of_text(""),
            of_text("B"),
            of_text("a"),
            of_text("aa"),
            of_text("\xc3\xa9"),
            of_bytes("", 0),
            of_bytes("a", 1),
            of_time(-5, 0),
            of_time(5, 0),
            of_object_id(1),
            of_object_id(2),
            of_uuid(0),
            of_uuid(1),
            link_to(object),
            link_to(later),
        };
        const realm_value_t equals[] = {of_double(0), of_float(-0.0f), of_small_decimal(2),
                                        of_float(2), of_int(9007199254740992), of_float(0.5f),
                                        of_small_decimal(INT64_MAX), of_float(-INFINITY),
                                        of_decimal(5, 0x303e000000000000)};
        const size_t places[] = {7, 7, 10, 10, 11, 9, 13, 4, 9};
        ORDERED("anys", values, equals, places);
    }
    {
        const realm_value_t values[] = {link_to(object), link_to(later)};
        const realm_value_t equals[] = {link_to(later)};
        const size_t places[] = {1};
        ORDERED("values", values, equals, places);
    }
    realm_release(later);
    realm_release(object);
    realm_release(realm);
}

enum { ROWS = 6 };
/* Rows 0...5, of which the values of one property are set. */
static void fill(realm_t *realm, const char *name, const realm_value_t *values) {
    SUCCEEDS(realm_begin_write(realm));
    for (int64_t i = 0; i < ROWS; i++) {
        realm_object_t *object = realm_get_object(realm, class_key(realm, "Value"), i);
        if (!object)
            object = realm_object_create(realm, class_key(realm, "Value"));
        realm_clear_last_error();
        SUCCEEDS(realm_set_value(object, key_of(realm, "n"), of_int(i), false));
        if (name)
            SUCCEEDS(realm_set_value(object, key_of(realm, name), values[i], false));
        realm_release(object);
    }
    SUCCEEDS(realm_commit(realm));
}
/* The rows of the results, as digits. */
static bool shows(realm_results_t *results, const char *rows) {
    char found[ROWS * 2 + 1] = "";
    size_t n = count_results(results);
    for (size_t i = 0; i < n && i < ROWS * 2; i++) {
        realm_value_t v;
        SUCCEEDS(realm_results_get(results, i, &v));
        found[i] = (char)('0' + v.link.target);
    }
    if (!strcmp(found, rows))
        return true;
    fprintf(stderr, "found %s, expected %s\n", found, rows);
    return false;
}
static bool sorts(realm_t *realm, const char *sort, const char *rows) {
    realm_results_t *all = realm_object_find_all(realm, class_key(realm, "Value"));
    realm_results_t *sorted = realm_results_sort(all, sort);
    bool is_as_said = sorted && shows(sorted, rows);
    realm_release(sorted);
    realm_release(all);
    return is_as_said;
}
static bool finds(realm_t *realm, const char *text, const realm_value_t *value, const char *rows) {
    realm_value_t copy = value ? *value : of_null();
    realm_query_arg_t arg = {1, false, &copy};
    realm_query_t *query = realm_query_parse(realm, class_key(realm, "Value"), text, 1, &arg);
    realm_results_t *found = realm_query_find_all(query);
    bool is_as_said = found && shows(found, rows);
    if (!is_as_said)
        fprintf(stderr, "    in %s\n", text);
    realm_release(found);
    realm_release(query);
    return is_as_said;
}

static void sorting(void) {
    realm_t *realm = open_values("sorting.realm");
    fill(realm, NULL, NULL);
    const realm_value_t ints[] = {of_int(5), of_null(), of_int(-3), of_int(5), of_null(),
                                  of_int(0)};
    fill(realm, "i", ints);
    /* Null first; equal rows keep their order both ways. */
    CHECK(sorts(realm, "i ASC", "142503"));
    CHECK(sorts(realm, "i DESC", "035214"));
    CHECK(sorts(realm, "i ASC, n DESC", "412530"));
    CHECK(sorts(realm, "i ASCENDING, n desc", "412530"));
    const realm_value_t doubles[] = {of_double(1), of_double(NAN), of_null(), of_double(-0.0),
                                     of_double(-INFINITY), of_double(0.0)};
    fill(realm, "d", doubles);
    CHECK(sorts(realm, "d ASC", "214350"));
    CHECK(sorts(realm, "d DESC", "035412"));
    const realm_value_t texts[] = {of_text("b"), of_text(""), of_null(), of_text("B"),
                                   of_text("\xc3\xa9"), of_text("ba")};
    fill(realm, "s", texts);
    CHECK(sorts(realm, "s ASC", "213054"));
    CHECK(sorts(realm, "s DESC", "450312"));
    const realm_value_t anys[] = {of_text("x"), of_int(3), of_bool(true), of_null(),
                                  of_double(2.5), of_bytes("x", 1)};
    fill(realm, "mixed", anys);
    CHECK(sorts(realm, "mixed ASC", "324105"));
    CHECK(sorts(realm, "mixed DESC", "501423"));
    /* Links: null first, then by key; a path through a null link comes last. */
    const realm_class_key_t class = class_key(realm, "Value");
    const realm_value_t links[] = {of_link_to(class, 3), of_null(), of_link_to(class, 0),
                                   of_link_to(class, 2), of_null(), of_link_to(class, 0)};
    fill(realm, "l", links);
    CHECK(sorts(realm, "l ASC", "142530"));
    CHECK(sorts(realm, "l DESC", "032514"));
    /* Through l: row 0 → i of 3 is 5; 2 and 5 → 5; 3 → -3; 1 and 4 lead nowhere. */
    CHECK(sorts(realm, "l.i ASC", "302514"));
    CHECK(sorts(realm, "l.i DESC", "140253"));
    /* l.l: 0 → 3 → 2; 2, 5 → 0 → 3; 3 → 2 → 0. The last step may be null: it is none here. */
    CHECK(sorts(realm, "l.l ASC", "302514"));

    /* Sorted and sorted again: the new order is the first, the old one breaks ties. */
    realm_results_t *all = realm_object_find_all(realm, class);
    realm_results_t *by_n = realm_results_sort(all, "n DESC"),
                    *by_i = realm_results_sort(by_n, "i ASC");
    CHECK(shows(by_i, "412530"));
    realm_results_t *few = realm_results_limit(by_n, 3),
                    *few_by_i = realm_results_sort(few, "i ASC");
    CHECK(shows(few, "543") && shows(few_by_i, "453"));
    realm_results_t *fewer = realm_results_limit(few, 5), *two = realm_results_limit(few, 2);
    CHECK(shows(fewer, "543") && shows(two, "54"));

    /* DISTINCT: one of each, null is one, rows whose path crosses a null link are dropped. */
    realm_results_t *distinct = realm_results_distinct(all, "i");
    CHECK(shows(distinct, "0125"));
    realm_results_t *twice = realm_results_distinct(by_n, "i");
    CHECK(shows(twice, "5432"));
    realm_results_t *pair = realm_results_distinct(all, "i, l");
    CHECK(shows(pair, "01235"));
    realm_results_t *zeros = realm_results_distinct(all, "d");
    CHECK(shows(zeros, "01234"));
    realm_results_t *linked = realm_results_distinct(all, "l");
    CHECK(shows(linked, "0123"));
    realm_results_t *through = realm_results_distinct(all, "l.i");
    CHECK(shows(through, "03"));

    /* Collections and words that mean nothing. */
    FAILS(RLM_ERR_INVALID_QUERY, realm_results_sort(all, "nothing ASC"));
    FAILS(RLM_ERR_INVALID_QUERY_STRING, realm_results_sort(all, "n"));
    FAILS(RLM_ERR_INVALID_QUERY_STRING, realm_results_sort(all, "n UP"));
    FAILS(RLM_ERR_INVALID_QUERY_STRING, realm_results_distinct(all, "n ASC"));
    realm_results_t *odd = realm_results_sort(all, "doubles ASC");
    if (odd) {
        CHECK(count_results(odd) == ROWS);
        FAILS(RLM_ERR_INVALID_SORT_DESCRIPTOR, realm_results_get(odd, 0, NULL));
    }
    void *handles[] = {odd, through, linked, zeros, pair, twice, distinct, two, fewer, few_by_i,
                       few, by_i, by_n, all, realm};
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++)
        realm_release(handles[i]);
}

/* The table of comparisons with null and NaN (A.3). */
static void comparing(void) {
    realm_t *realm = open_values("comparing.realm");
    fill(realm, NULL, NULL);
    const realm_value_t ints[] = {of_int(5), of_null(), of_int(-3), of_int(5), of_null(),
                                  of_int(0)};
    fill(realm, "i", ints);
    const realm_value_t null = of_null(), five = of_int(5), nan = of_double(NAN);
    const struct {
        const char *text, *rows;
    } of_numbers[] = {
        {"i < 5", "25"},     {"i <= 5", "0235"},   {"i > -100", "0235"}, {"i != 5", "1245"},
        {"i == 5", "03"},    {"i == NULL", "14"},  {"i != NULL", "0235"}, {"i <= NULL", "14"},
        {"i >= NULL", "14"}, {"i < NULL", ""},     {"i > NULL", ""},     {"n == NULL", ""},
        {"n != NULL", "012345"}, {"n < NULL", ""}, {"n >= NULL", ""},
    };
    for (size_t i = 0; i < sizeof of_numbers / sizeof *of_numbers; i++)
        CHECK(finds(realm, of_numbers[i].text, NULL, of_numbers[i].rows));
    CHECK(finds(realm, "i == $0", &null, "14") && finds(realm, "i < $0", &five, "25"));
    CHECK(finds(realm, "i <= $0", &null, "14") && finds(realm, "i > $0", &null, ""));
    const realm_value_t texts[] = {of_text("b"), of_text(""), of_null(), of_text("B"),
                                   of_text("\xc3\xa9"), of_text("ba")};
    fill(realm, "s", texts);
    const struct {
        const char *text, *rows;
    } of_texts[] = {
        {"s < 'b'", "123"},      {"s > NULL", "01345"},   {"s >= NULL", "012345"},
        {"s == NULL", "2"},      {"s != NULL", "01345"},  {"s == ''", "1"},
        {"s BEGINSWITH ''", "01345"}, {"s CONTAINS ''", "01345"}, {"s LIKE '*'", "01345"},
        {"s LIKE ''", "1"},      {"s ==[c] '\xc3\x89'", "4"}, {"s ==[c] 'b'", "03"},
        {"s BEGINSWITH NULL", "012345"}, {"s ENDSWITH NULL", "012345"},
        {"s CONTAINS NULL", "012345"}, {"s LIKE NULL", "2"},
    };
    for (size_t i = 0; i < sizeof of_texts / sizeof *of_texts; i++)
        CHECK(finds(realm, of_texts[i].text, NULL, of_texts[i].rows));
    const realm_value_t doubles[] = {of_double(1), of_double(NAN), of_null(), of_double(-0.0),
                                     of_double(-INFINITY), of_double(0.0)};
    fill(realm, "d", doubles);
    CHECK(finds(realm, "d < 0.5", NULL, "345") && finds(realm, "d == 0.0", NULL, "35"));
    CHECK(finds(realm, "d != 1.0", NULL, "12345") && finds(realm, "d == $0", &nan, ""));
    CHECK(finds(realm, "d != $0", &nan, "012345") && finds(realm, "d > $0", &nan, ""));
    const realm_class_key_t class = class_key(realm, "Value");
    const realm_value_t links[] = {of_link_to(class, 1), of_null(), of_link_to(class, 0),
                                   of_link_to(class, 2), of_null(), of_link_to(class, 0)};
    fill(realm, "l", links);
    /* l.i: 0 → null (row 1), 2 and 5 → 5, 3 → -3; 1 and 4 lead nowhere. */
    CHECK(finds(realm, "l.i == NULL", NULL, "014") && finds(realm, "l.i != 5", NULL, "0134"));
    CHECK(finds(realm, "l.i < 100", NULL, "235") && finds(realm, "l.s > NULL", NULL, ""));
    const realm_value_t anys[] = {of_text("5"), of_int(5), of_bool(true), of_null(),
                                  of_double(5), of_bytes("5", 1)};
    fill(realm, "mixed", anys);
    CHECK(finds(realm, "mixed == 5", NULL, "14") && finds(realm, "mixed != 5", NULL, "0235"));
    CHECK(finds(realm, "mixed < 6", NULL, "14") && finds(realm, "mixed == '5'", NULL, "0"));
    CHECK(finds(realm, "mixed == NULL", NULL, "3") && finds(realm, "mixed > 'a'", NULL, ""));
    const realm_value_t bools[] = {of_bool(true), of_bool(false), of_null(), of_bool(false),
                                   of_bool(true), of_null()};
    fill(realm, "b", bools);
    CHECK(finds(realm, "b < true", NULL, "13") && finds(realm, "b > false", NULL, "04"));
    realm_release(realm);
}

int main(void) {
    sets();
    sorting();
    comparing();
    return check_end("order");
}
