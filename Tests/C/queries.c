/* Queries and results: parsing, arguments, elements, refinement, aggregates, bulk reads. */
#include "people.h"

#include <pthread.h>

enum { PEOPLE = 3000 };

static realm_t *open_filled(const char *path, keys_t *k) {
    realm_t *realm = open_people(path);
    *k = keys_of(realm);
    CHECK(realm_begin_write(realm));
    realm_object_t *boss = NULL;
    for (int64_t id = 0; id < PEOPLE; id++) {
        realm_object_t *person = make_person(realm, k, id);
        if (id % 10 == 3)
            CHECK(realm_set_value(person, k->age, of_null(), false));
        if (!boss)
            boss = realm_clone(person);
        else if (id % 3 == 0)
            CHECK(realm_set_value(person, k->boss, of_link(realm_object_as_link(boss)), false));
        CHECK(realm_set_value(person, k->born, of_time(id, 5), false));
        CHECK(realm_set_value(person, k->active, of_bool(id % 2), false));
        realm_release(person);
    }
    realm_release(boss);
    CHECK(realm_commit(realm));
    return realm;
}

static realm_query_t *parse(realm_t *realm, realm_class_key_t class, const char *text) {
    return realm_query_parse(realm, class, text, 0, NULL);
}

/* X1, E4: format strings take their arguments from left to right; categories of errors. */
static size_t format_count(
    realm_t *realm, keys_t *k, const char *format, size_t count, realm_value_t *values
) {
    realm_query_arg_t arguments[4] = {{0}};
    for (size_t i = 0; i < count; i++)
        arguments[i] = (realm_query_arg_t){1, false, &values[i]};
    realm_query_t *query = realm_query_parse_format(realm, k->person, format, count, arguments);
    if (!query)
        return SIZE_MAX;
    /* P9: text and arguments were copied. */
    for (size_t i = 0; i < count; i++)
        values[i] = of_text("overwritten");
    size_t found = SIZE_MAX;
    CHECK(realm_query_count(query, &found));
    CHECK(strlen(realm_query_get_description(query)) > 0);
    realm_release(query);
    return found;
}

static void formats(void) {
    keys_t k;
    realm_t *realm = open_filled("formats.realm", &k);
    CHECK(format_count(realm, &k, "_id < %d", 1, (realm_value_t[]){of_int(10)}) == 10);
    CHECK(format_count(realm, &k, "_id IN {%lld, %@}", 2,
                       (realm_value_t[]){of_int(10), of_int(11)}) == 2);
    CHECK(format_count(realm, &k, "%K == %@", 2,
                       (realm_value_t[]){of_text("_id"), of_int(7)}) == 1);
    CHECK(format_count(realm, &k, "%K == nil AND _id < %d", 2,
                       (realm_value_t[]){of_text("years"), of_int(20)}) == 2);
    CHECK(format_count(realm, &k, "name == %s OR _id == %u", 2,
                       (realm_value_t[]){of_text("nobody"), of_int(3)}) == 1);
    CHECK(format_count(realm, &k, "boss.%K == %d", 2,
                       (realm_value_t[]){of_text("_id"), of_int(0)}) == PEOPLE / 3 - 1);
    CHECK(format_count(realm, &k, "%K == 0 AND _id < 3", 1,
                       (realm_value_t[]){of_text("staff.@count")}) == 2);
    CHECK(format_count(realm, &k, "active == 1 AND _id < %d", 1,
                       (realm_value_t[]){of_int(10)}) == 5);
    CHECK(format_count(realm, &k, "name CONTAINS '%d %% %@' OR _id == 1", 0, NULL) == 1);
    FAILS(RLM_ERR_INVALID_QUERY_ARG,
          realm_query_parse_format(realm, k.person, "_id < %d", 0, NULL));
    realm_value_t five = of_int(5);
    FAILS(RLM_ERR_INVALID_QUERY_ARG,
          realm_query_parse_format(realm, k.person, "_id < 5", 1,
                                   &(realm_query_arg_t){1, false, &five}));
    FAILS(RLM_ERR_INVALID_QUERY_STRING,
          realm_query_parse_format(realm, k.person, "_id %% 5 == 1", 0, NULL));
    FAILS(RLM_ERR_INVALID_QUERY_STRING, realm_query_parse_format(realm, k.person, "", 0, NULL));
    /* S12: a text has to be UTF-8. */
    realm_value_t broken = of_text("\xff\xfe");
    FAILS(RLM_ERR_INVALID_QUERY_ARG,
          realm_query_parse(realm, k.person, "name CONTAINS $0", 1,
                            &(realm_query_arg_t){1, false, &broken}));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_query_parse_format(realm, k.person, NULL, 0, NULL));
    FAILS(RLM_ERR_NO_SUCH_TABLE, realm_query_parse_format(realm, 0x7ffffff0, "_id < 5", 0, NULL));
    /* Categories: bad arguments and wrong uses of the interface alike. */
    const char *bad[] = {"_id <", "nope == 1", "_id == $3", "TRUEPREDICATE SORT(staff ASC)"};
    for (size_t i = 0; i < 4; i++) {
        realm_error_t error;
        CHECK(!parse(realm, k.person, bad[i]));
        CHECK(realm_get_last_error(&error));
        CHECK((error.categories & RLM_ERR_CAT_INVALID_ARG) != 0);
        CHECK((error.categories & RLM_ERR_CAT_LOGIC) != 0);
    }
    realm_error_t error;
    CHECK(!parse(realm, k.person, "name TEXT 'a'"));
    CHECK(realm_get_last_error(&error));
    CHECK(error.error == RLM_ERR_ILLEGAL_OPERATION);
    CHECK(error.categories == RLM_ERR_CAT_LOGIC);
    realm_clear_last_error();
    realm_release(realm);
}

static void parsing(void) {
    keys_t k;
    realm_t *realm = open_filled("parsing.realm", &k);
    FAILS(RLM_ERR_NO_SUCH_TABLE, parse(realm, 0x7ffffff0, "age > 1"));
    FAILS(RLM_ERR_INVALID_QUERY_STRING, parse(realm, k.person, ""));
    FAILS(RLM_ERR_INVALID_QUERY_STRING, parse(realm, k.person, "age >"));
    FAILS(RLM_ERR_INVALID_QUERY_STRING, parse(realm, k.person, "age > 1 LIMIT(-1)"));
    FAILS(RLM_ERR_INVALID_QUERY_STRING, parse(realm, k.person, "age > 1 trailing"));
    FAILS(RLM_ERR_INVALID_QUERY_STRING, parse(realm, k.person, "\xff\xfe"));
    FAILS(RLM_ERR_INVALID_QUERY, parse(realm, k.person, "height > 1"));
    FAILS(RLM_ERR_INVALID_QUERY, parse(realm, k.person, "age > 1 SORT(height ASC)"));
    FAILS(RLM_ERR_INVALID_QUERY, parse(realm, k.person, "boss.height > 1"));
    FAILS(RLM_ERR_INVALID_QUERY, parse(realm, k.person, "age == 'text'"));
    FAILS(RLM_ERR_INVALID_QUERY_ARG, parse(realm, k.person, "age == $0"));
    FAILS(RLM_ERR_INVALID_ARGUMENT, parse(realm, k.person, NULL));
    realm_value_t text = of_text("not a number"), number = of_int(5), bad = of_int(1);
    bad.type = (realm_value_type_e)77;
    realm_query_arg_t arg = {1, false, &text}, fine = {1, false, &number}, odd = {1, false, &bad};
    realm_query_arg_t none = {1, false, NULL}, huge = {SIZE_MAX, true, &number};
    FAILS(RLM_ERR_INVALID_QUERY_ARG, realm_query_parse(realm, k.person, "age == $0", 1, &arg));
    CHECK(!realm_query_parse(realm, k.person, "age == $0", 1, &odd));
    CHECK(!realm_query_parse(realm, k.person, "age == $0", 1, &none));
    CHECK(!realm_query_parse(realm, k.person, "age IN $0", 1, &huge));
    CHECK(!realm_query_parse(realm, k.person, "age == $0", 1, NULL));
    CHECK(!realm_query_parse(realm, k.person, "age == $0", SIZE_MAX, NULL));
    realm_query_t *query = realm_query_parse(realm, k.person, "age == $0", 1, &fine);
    number = of_int(99999); /* it was copied */
    size_t count = 0;
    SUCCEEDS(realm_query_count(query, &count));
    CHECK(count == PEOPLE / 100);
    const char *shown = realm_query_get_description(query);
    CHECK(shown && strstr(shown, "age == 5"));
    realm_query_t *both = realm_query_append_query(query, "active == true", 0, NULL);
    SUCCEEDS(realm_query_count(both, &count));
    CHECK(count == PEOPLE / 100);
    FAILS(RLM_ERR_INVALID_QUERY_STRING, realm_query_append_query(query, "(", 0, NULL));
    /* By public name. */
    realm_query_t *public = parse(realm, k.person, "years == 5");
    SUCCEEDS(realm_query_count(public, &count));
    CHECK(count == PEOPLE / 100);
    realm_value_t first = of_int(7);
    bool found = true;
    realm_query_t *nobody = parse(realm, k.person, "age == 1000");
    SUCCEEDS(realm_query_find_first(nobody, &first, &found));
    CHECK(!found && first.integer == 7);
    SUCCEEDS(realm_query_find_first(query, &first, &found));
    CHECK(found && first.type == RLM_TYPE_LINK && first.link.target_table == k.person);
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_query_delete_all(query));
    CHECK(realm_close(realm));
    FAILS(RLM_ERR_CLOSED_REALM, parse(realm, k.person, "age > 1"));
    FAILS(RLM_ERR_CLOSED_REALM, realm_query_find_all(query));
    realm_query_count(query, &count); /* must not crash */
    realm_release(realm);
    realm_query_count(query, &count);
    realm_clear_last_error();
    realm_release(query);
    realm_release(both);
    realm_release(public);
    realm_release(nobody);
}

static void elements(void) {
    keys_t k;
    realm_t *realm = open_filled("elements.realm", &k);
    realm_results_t *all = realm_object_find_all(realm, k.person);
    size_t count = 0, index = 0;
    SUCCEEDS(realm_results_count(all, &count));
    CHECK(count == PEOPLE);
    realm_value_t v;
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_results_get(all, PEOPLE, &v));
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_results_get(all, SIZE_MAX, &v));
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_results_get(all, (size_t)1 << 63, &v));
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_results_get_object(all, PEOPLE));
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_results_get_object(all, SIZE_MAX));
    SUCCEEDS(realm_results_get(all, PEOPLE - 1, &v));
    bool found = false;
    SUCCEEDS(realm_results_find(all, &v, &index, &found));
    CHECK(found && index == PEOPLE - 1);
    realm_value_t other = of_int(1);
    SUCCEEDS(realm_results_find(all, &other, &index, &found));
    CHECK(!found && index == SIZE_MAX);
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_results_find(all, NULL, &index, &found));

    realm_results_t *top = NULL, *sorted = realm_results_sort(all, "score DESC, name ASC");
    CHECK(sorted != NULL);
    realm_object_t *best = realm_results_get_object(sorted, 0);
    SUCCEEDS(realm_get_value(best, k.id, &v));
    CHECK(v.integer == PEOPLE - 1);
    SUCCEEDS(realm_results_find_object(sorted, best, &index, &found));
    CHECK(found && index == 0);
    FAILS(RLM_ERR_INVALID_QUERY_STRING, realm_results_sort(all, ""));
    FAILS(RLM_ERR_INVALID_QUERY_STRING, realm_results_sort(all, "age"));
    FAILS(RLM_ERR_INVALID_QUERY_STRING, realm_results_sort(all, "age ASC) LIMIT(1"));
    FAILS(RLM_ERR_INVALID_QUERY, realm_results_sort(all, "height ASC"));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_results_sort(all, NULL));
    FAILS(RLM_ERR_INVALID_QUERY, realm_results_distinct(all, "height"));
    FAILS(RLM_ERR_INVALID_QUERY_STRING, realm_results_distinct(all, ""));
    realm_results_t *ages = realm_results_distinct(all, "age");
    SUCCEEDS(realm_results_count(ages, &count));
    CHECK(count == 91); /* 0...99 without those that end in 3, and null */
    top = realm_results_limit(sorted, 10);
    SUCCEEDS(realm_results_count(top, &count));
    CHECK(count == 10);
    realm_results_t *none = realm_results_limit(top, 0), *more = realm_results_limit(top, SIZE_MAX);
    SUCCEEDS(realm_results_count(none, &count));
    CHECK(count == 0);
    SUCCEEDS(realm_results_count(more, &count));
    CHECK(count == 10);
    realm_results_t *behind = realm_results_offset(sorted, 10), *rest = realm_results_offset(behind, SIZE_MAX);
    SUCCEEDS(realm_results_count(behind, &count));
    CHECK(count == PEOPLE - 10);
    SUCCEEDS(realm_results_count(rest, &count));
    CHECK(count == 0);
    realm_object_t *eleventh = realm_results_get_object(sorted, 10);
    SUCCEEDS(realm_results_find_object(behind, eleventh, &index, &found));
    CHECK(found && index == 0);
    realm_release(eleventh);
    realm_release(behind);
    realm_release(rest);
    realm_query_t *young = parse(realm, k.person, "age < 10");
    realm_query_t *notes = parse(realm, k.note, "text == 'x'");
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_results_filter(top, young));
    FAILS(RLM_ERR_INVALID_PROPERTY, realm_results_filter(all, notes));
    realm_results_t *children = realm_results_filter(sorted, young);
    SUCCEEDS(realm_results_count(children, &count));
    CHECK(count == PEOPLE / 100 * 9);
    realm_query_t *of_results =
        realm_query_parse_for_results(children, "active == true", 0, NULL);
    SUCCEEDS(realm_query_count(of_results, &count));
    CHECK(count == PEOPLE / 100 * 4);
    realm_query_t *conditions = realm_results_get_query(children);
    SUCCEEDS(realm_query_count(conditions, &count));
    CHECK(count == PEOPLE / 100 * 9);

    /* Another class. */
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *note = realm_object_create(realm, k.note);
    index = 7, found = true;
    FAILS(RLM_ERR_OBJECT_TYPE_MISMATCH, realm_results_find_object(all, note, &index, &found));
    CHECK(!found && index == SIZE_MAX);
    SUCCEEDS(realm_object_delete(note));
    FAILS(RLM_ERR_STALE_ACCESSOR, realm_results_find_object(all, note, &index, &found));
    SUCCEEDS(realm_rollback(realm));

    /* A snapshot keeps its elements; results follow the data. */
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_results_delete_all(children));
    realm_results_t *kept = realm_results_snapshot(children);
    SUCCEEDS(realm_begin_write(realm));
    SUCCEEDS(realm_results_delete_all(children));
    SUCCEEDS(realm_results_count(children, &count));
    CHECK(count == 0);
    SUCCEEDS(realm_results_count(kept, &count));
    CHECK(count == PEOPLE / 100 * 9);
    SUCCEEDS(realm_results_get(kept, 0, &v));
    CHECK(v.type == RLM_TYPE_NULL);
    realm_object_t *gone = realm_results_get_object(kept, 0);
    CHECK(gone && !realm_object_is_valid(gone));
    realm_release(gone);
    SUCCEEDS(realm_commit(realm));

    bool valid = false;
    SUCCEEDS(realm_results_is_valid(all, &valid));
    CHECK(valid);
    CHECK(realm_close(realm));
    SUCCEEDS(realm_results_is_valid(all, &valid));
    CHECK(!valid);
    FAILS(RLM_ERR_STALE_ACCESSOR, realm_results_count(all, &count));
    FAILS(RLM_ERR_STALE_ACCESSOR, realm_results_get(all, 0, &v));
    FAILS(RLM_ERR_STALE_ACCESSOR, realm_results_get_object(all, 0));
    FAILS(RLM_ERR_STALE_ACCESSOR, realm_results_snapshot(all));
    FAILS(RLM_ERR_STALE_ACCESSOR, realm_results_delete_all(all));
    FAILS(RLM_ERR_STALE_ACCESSOR, realm_results_min(all, k.age, &v, &found));
    void *handles[] = {all,  sorted,     best,       ages,  top,   none, more, young, notes,
                       children, of_results, conditions, note, kept, realm};
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++)
        realm_release(handles[i]);
}

static void aggregates(void) {
    keys_t k;
    realm_t *realm = open_filled("aggregates.realm", &k);
    realm_results_t *all = realm_object_find_all(realm, k.person);
    realm_results_t *none = realm_results_limit(all, 0);
    realm_value_t v;
    bool found = false;
    SUCCEEDS(realm_results_min(all, k.age, &v, &found));
    CHECK(found && v.type == RLM_TYPE_INT && v.integer == 0);
    SUCCEEDS(realm_results_max(all, k.age, &v, &found));
    CHECK(found && v.integer == 99);
    SUCCEEDS(realm_results_sum(all, k.score, &v, &found));
    CHECK(found && v.type == RLM_TYPE_DOUBLE && v.dnum == (double)PEOPLE * (PEOPLE - 1) / 4);
    SUCCEEDS(realm_results_average(all, k.id, &v, &found));
    CHECK(found && v.type == RLM_TYPE_DOUBLE && v.dnum == (PEOPLE - 1) / 2.0);
    SUCCEEDS(realm_results_max(all, k.born, &v, &found));
    CHECK(found && v.type == RLM_TYPE_TIMESTAMP && v.timestamp.seconds == PEOPLE - 1);
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_results_sum(all, k.born, &v, &found));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_results_average(all, k.name, &v, &found));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_results_min(all, k.name, &v, &found));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_results_max(all, k.boss, &v, &found));
    FAILS(RLM_ERR_INVALID_PROPERTY, realm_results_sum(all, -1, &v, &found));
    FAILS(RLM_ERR_INVALID_PROPERTY, realm_results_sum(all, k.staff, &v, &found));
    SUCCEEDS(realm_results_sum(none, k.age, &v, &found));
    CHECK(!found && v.type == RLM_TYPE_INT && v.integer == 0);
    SUCCEEDS(realm_results_max(none, k.age, &v, &found));
    CHECK(!found && v.type == RLM_TYPE_NULL);
    SUCCEEDS(realm_results_average(all, k.age, NULL, NULL));
    realm_release(all);
    realm_release(none);
    realm_release(realm);
}

static void check_bulk(realm_results_t *results, const keys_t *k, size_t count) {
    static int64_t numbers[PEOPLE + 1], keys[PEOPLE + 1];
    static double reals[PEOPLE + 1];
    static uint8_t nulls[PEOPLE + 1];
    static realm_string_t texts[PEOPLE + 1];
    static realm_value_t values[2 * PEOPLE + 2];
    static realm_object_t *objects[PEOPLE + 1];
    const size_t starts[] = {0, 1, count / 2, count - 1, count, count + 5};
    for (size_t s = 0; s < 6; s++) {
        size_t first = starts[s], expected = first < count ? count - first : 0, got = 77;
        SUCCEEDS(realm_results_read_integers(results, k->age, first, PEOPLE + 1, numbers, nulls,
                                             &got));
        CHECK(got == expected);
        SUCCEEDS(realm_results_read_keys(results, first, PEOPLE + 1, keys, &got));
        CHECK(got == expected);
        SUCCEEDS(realm_results_read_doubles(results, k->score, first, PEOPLE + 1, reals, NULL,
                                            &got));
        CHECK(got == expected);
        SUCCEEDS(realm_results_read_strings(results, k->name, first, PEOPLE + 1, texts, &got));
        CHECK(got == expected);
        realm_property_key_t pair[] = {k->id, k->boss};
        SUCCEEDS(realm_results_get_values(results, first, PEOPLE + 1, 2, pair, values, &got));
        CHECK(got == expected);
        SUCCEEDS(realm_results_get_objects(results, first, PEOPLE + 1, objects, &got));
        CHECK(got == expected);
        size_t wrong = 0;
        for (size_t i = 0; i < got; i++) {
            realm_value_t v[4];
            const realm_property_key_t of[] = {k->age, k->score, k->name, k->boss};
            CHECK(realm_get_values(objects[i], 4, of, v));
            bool same = nulls[i] == (v[0].type == RLM_TYPE_NULL) &&
                        numbers[i] == (nulls[i] ? 0 : v[0].integer) && reals[i] == v[1].dnum &&
                        texts[i].size == v[2].string.size &&
                        !memcmp(texts[i].data, v[2].string.data, texts[i].size) &&
                        keys[i] == realm_object_get_key(objects[i]) &&
                        values[2 * i + 1].type == v[3].type &&
                        (v[3].type == RLM_TYPE_NULL ||
                         values[2 * i + 1].link.target == v[3].link.target);
            wrong += !same;
            realm_release(objects[i]);
        }
        CHECK(wrong == 0);
    }
}

static void bulk(void) {
    keys_t k;
    realm_t *realm = open_filled("bulk.realm", &k);
    realm_results_t *all = realm_object_find_all(realm, k.person);
    realm_query_t *query = parse(realm, k.person, "active == true SORT(name DESC)");
    realm_results_t *some = realm_query_find_all(query);
    check_bulk(all, &k, PEOPLE);
    check_bulk(some, &k, PEOPLE / 2);
    /* The same with changes that are not committed. */
    SUCCEEDS(realm_begin_write(realm));
    realm_query_t *old = parse(realm, k.person, "_id < 500");
    SUCCEEDS(realm_query_delete_all(old));
    check_bulk(all, &k, PEOPLE - 500);
    check_bulk(some, &k, (PEOPLE - 500) / 2);
    SUCCEEDS(realm_rollback(realm));

    int64_t numbers[4];
    double reals[4];
    realm_string_t texts[4];
    realm_value_t values[4];
    realm_object_t *objects[4];
    size_t got = 77;
    SUCCEEDS(realm_results_read_integers(all, k.active, 0, 4, numbers, NULL, &got));
    CHECK(got == 4 && numbers[0] == 0 && numbers[1] == 1);
    SUCCEEDS(realm_results_read_integers(all, k.born, 2, 1, numbers, NULL, NULL));
    CHECK(numbers[0] == 2);
    SUCCEEDS(realm_results_read_integers(all, k.id, 2, 1, numbers, NULL, NULL));
    CHECK(numbers[0] == 2);
    SUCCEEDS(realm_results_read_doubles(all, k.ratio, 0, 4, reals, NULL, &got));
    SUCCEEDS(realm_results_read_strings(all, k.data, 0, 4, texts, &got));
    CHECK(got == 4 && !texts[0].data);
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH,
          realm_results_read_integers(all, k.name, 0, 4, numbers, NULL, &got));
    CHECK(got == 0);
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH,
          realm_results_read_doubles(all, k.age, 0, 4, reals, NULL, &got));
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH,
          realm_results_read_strings(all, k.age, 0, 4, texts, &got));
    FAILS(RLM_ERR_INVALID_PROPERTY,
          realm_results_read_integers(all, -1, 0, 4, numbers, NULL, &got));
    FAILS(RLM_ERR_INVALID_PROPERTY,
          realm_results_read_integers(all, k.staff, 0, 4, numbers, NULL, &got));
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS,
          realm_results_read_integers(all, k.age, SIZE_MAX, 4, numbers, NULL, &got));
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_results_get_objects(all, SIZE_MAX, 4, objects, &got));
    FAILS(RLM_ERR_INVALID_ARGUMENT,
          realm_results_read_integers(all, k.age, 0, 4, NULL, NULL, &got));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_results_read_keys(all, 0, 4, NULL, &got));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_results_get_values(all, 0, 4, 0, NULL, values, &got));
    FAILS(RLM_ERR_INVALID_ARGUMENT,
          realm_results_get_values(all, 0, 4, SIZE_MAX, &k.age, values, &got));
    SUCCEEDS(realm_results_get_objects(all, 0, 0, NULL, &got));
    CHECK(realm_close(realm));
    FAILS(RLM_ERR_STALE_ACCESSOR,
          realm_results_read_integers(all, k.age, 0, 4, numbers, NULL, &got));
    FAILS(RLM_ERR_STALE_ACCESSOR, realm_results_get_objects(all, 0, 4, objects, &got));
    realm_release(all);
    realm_release(query);
    realm_release(old);
    realm_release(some);
    realm_release(realm);
}

typedef struct borrowed {
    realm_results_t *results;
    const keys_t *keys;
    size_t expected;
} borrowed_t;
static void *wrong_thread(void *userdata) {
    borrowed_t *b = userdata;
    size_t count;
    realm_value_t v;
    int64_t number;
    FAILS(RLM_ERR_WRONG_THREAD, realm_results_count(b->results, &count));
    FAILS(RLM_ERR_WRONG_THREAD, realm_results_get(b->results, 0, &v));
    FAILS(RLM_ERR_WRONG_THREAD, realm_results_get_object(b->results, 0));
    FAILS(RLM_ERR_WRONG_THREAD, realm_results_min(b->results, b->keys->age, &v, NULL));
    FAILS(RLM_ERR_WRONG_THREAD, realm_results_read_keys(b->results, 0, 1, &number, NULL));
    return NULL;
}
static void *any_thread(void *userdata) {
    borrowed_t *b = userdata;
    size_t count = 0, wrong = 0;
    for (int round = 0; round < 20; round++) {
        wrong += !realm_results_count(b->results, &count) || count != b->expected;
        for (size_t i = 0; i < 200; i++) {
            realm_object_t *object = realm_results_get_object(b->results, i);
            realm_value_t v;
            wrong += !object || !realm_get_value(object, b->keys->name, &v) ||
                     v.type != RLM_TYPE_STRING;
            realm_release(object);
        }
    }
    return wrong ? (void *)1 : NULL;
}

static void resolving(void) {
    keys_t k;
    realm_t *live = open_filled("resolved.realm", &k);
    realm_query_t *query = parse(live, k.person, "active == true SORT(name DESC)");
    realm_results_t *some = realm_query_find_all(query), *kept = realm_results_snapshot(some);
    realm_results_t *first = realm_results_limit(kept, 7);
    borrowed_t borrowed = {some, &k, PEOPLE / 2};
    pthread_t thread[2];
    CHECK(!pthread_create(&thread[0], NULL, wrong_thread, &borrowed));
    pthread_join(thread[0], NULL);

    realm_t *frozen = realm_freeze(live);
    realm_results_t *still = realm_results_resolve_in(some, frozen);
    CHECK(still && realm_is_frozen(still));
    SUCCEEDS(realm_begin_write(live));
    realm_query_t *old = parse(live, k.person, "_id < 1000");
    SUCCEEDS(realm_query_delete_all(old));
    SUCCEEDS(realm_commit(live));
    size_t count = 0;
    SUCCEEDS(realm_results_count(some, &count));
    CHECK(count == PEOPLE / 2 - 500);
    borrowed.results = still;
    for (int i = 0; i < 2; i++)
        CHECK(!pthread_create(&thread[i], NULL, any_thread, &borrowed));
    for (int i = 0; i < 2; i++) {
        void *wrong = NULL;
        pthread_join(thread[i], &wrong);
        CHECK(!wrong);
    }
    /* Back, and a snapshot, which is determined anew. */
    realm_results_t *back = realm_results_resolve_in(still, live);
    SUCCEEDS(realm_results_count(back, &count));
    CHECK(count == PEOPLE / 2 - 500);
    realm_results_t *anew = realm_results_resolve_in(kept, live);
    SUCCEEDS(realm_results_count(anew, &count));
    CHECK(count == PEOPLE / 2 - 500);
    realm_results_t *few = realm_results_resolve_in(first, frozen);
    SUCCEEDS(realm_results_count(few, &count));
    CHECK(count == 7);
    realm_t *elsewhere = open_people("elsewhere2.realm");
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_results_resolve_in(some, elsewhere));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_results_resolve_in(some, NULL));
    CHECK(realm_close(elsewhere));
    FAILS(RLM_ERR_CLOSED_REALM, realm_results_resolve_in(some, elsewhere));
    CHECK(realm_close(live));
    FAILS(RLM_ERR_STALE_ACCESSOR, realm_results_resolve_in(some, frozen));
    SUCCEEDS(realm_results_count(still, &count));
    CHECK(count == PEOPLE / 2);
    void *handles[] = {query, some, kept,  first, still,     old,
                       back,  anew, few, frozen, elsewhere, live};
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++)
        realm_release(handles[i]);
}

/* The plan as text: of a query and of results. */
static void explaining(void) {
    keys_t k;
    realm_t *realm = open_filled("explaining.realm", &k);
    realm_query_t *query = parse(realm, k.person, "age > 3 SORT(age ASC) LIMIT(2)");
    CHECK(query);
    char *plan = realm_query_explain(query);
    CHECK(plan && strstr(plan, "start: ") && strstr(plan, "then: LIMIT(2)"));
    realm_free(plan);
    realm_results_t *results = realm_query_find_all(query);
    CHECK(results);
    plan = realm_results_explain(results);
    CHECK(plan && strstr(plan, "SORT(age ASC)"));
    realm_free(plan);
    CHECK(realm_close(realm));
    FAILS(RLM_ERR_CLOSED_REALM, realm_query_explain(query));
    realm_release(results);
    realm_release(query);
    realm_release(realm);
}

int main(void) {
    parsing();
    formats();
    explaining();
    elements();
    aggregates();
    bulk();
    resolving();
    return check_end("queries");
}
