/* Groups of results: values by group, live, frozen, of other versions; texts stay as long as they are
 * promised to; errors. */
#include "people.h"

static keys_t k;
static realm_t *realm;

/* A group whose first value is this integer; NULL: there is none. */
static const realm_value_t *group_of(const realm_value_t *values, size_t count, size_t width,
                                     int64_t key) {
    for (size_t i = 0; i < count; i++) {
        const realm_value_t *group = values + i * width;
        if (group->type == RLM_TYPE_INT && group->integer == key)
            return group;
    }
    return NULL;
}

static size_t read_all(const realm_groups_t *groups, realm_value_t *values, size_t most,
                       size_t width) {
    size_t count = 0, there = 0, columns = 0;
    SUCCEEDS(realm_groups_count(groups, &there, &columns));
    CHECK(columns == width && there <= most);
    SUCCEEDS(realm_groups_get_values(groups, 0, most, values, &count));
    CHECK(count == there);
    return count;
}

int main(void) {
    realm = open_people("groups.realm");
    k = keys_of(realm);
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *oslo =
        realm_object_create_with_primary_key(realm, k.dept, of_text("Oslo"));
    SUCCEEDS(realm_set_value(oslo, k.budget, of_int(7), false));
    for (int id = 0; id < 1000; id++) {
        realm_object_t *person = make_person(realm, &k, id);
        if (id % 3 == 0)
            SUCCEEDS(realm_set_value(person, k.of_dept, of_link(realm_object_as_link(oslo)), false));
        if (id % 100 == 99)
            SUCCEEDS(realm_set_value(person, k.age, of_null(), false));
        realm_release(person);
    }
    SUCCEEDS(realm_commit(realm));

    realm_results_t *all = realm_object_find_all(realm, k.person);
    realm_groups_t *groups =
        realm_results_group(all, "years", "@count, @sum._id, @avg.score, @min.score, @max.name");
    CHECK(groups != NULL);
    realm_value_t values[200 * 6];
    size_t count = read_all(groups, values, 200, 6);
    CHECK(count == 100);
    /* In the order of their first objects: ages 0 to 98, then null. */
    for (int age = 0; age < 99; age++) {
        const realm_value_t *group = values + 6 * age;
        CHECK(group[0].type == RLM_TYPE_INT && group[0].integer == age);
        CHECK(group[1].type == RLM_TYPE_INT && group[1].integer == 10);
        CHECK(group[2].type == RLM_TYPE_INT && group[2].integer == 4500 + 10 * age);
        CHECK(group[3].type == RLM_TYPE_DOUBLE && group[3].dnum == (450 + age) / 2.0);
        CHECK(group[4].type == RLM_TYPE_DOUBLE && group[4].dnum == age / 2.0);
        CHECK(group[5].type == RLM_TYPE_STRING && group[5].string.size >= 9 &&
              !memcmp(group[5].string.data, "person-9", 8));
    }
    CHECK(values[6 * 99].type == RLM_TYPE_NULL && values[6 * 99 + 1].integer == 10);
    size_t part = 0;
    SUCCEEDS(realm_groups_get_values(groups, 98, 50, values, &part));
    CHECK(part == 2 && values[0].integer == 98 && values[6].type == RLM_TYPE_NULL);
    SUCCEEDS(realm_groups_get_values(groups, 100, 50, values, &part));
    CHECK(part == 0);
    SUCCEEDS(realm_groups_get_values(groups, 0, 0, NULL, &part));
    CHECK(part == 0);
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_groups_get_values(groups, 0, 1, NULL, &part));
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_groups_get_values(groups, (size_t)-1, 1, values, &part));
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_groups_get_values(groups, 0, (size_t)-1, values, &part));
    SUCCEEDS(realm_groups_count(groups, NULL, NULL));

    /* Over links, and by several keys; groups of a clone and of the results behind. */
    realm_groups_t *linked = realm_results_group(all, "dept.name, active", "@sum.dept.budget,@count");
    CHECK(read_all(linked, values, 200, 4) == 2);
    CHECK(values[0].type == RLM_TYPE_STRING && values[0].string.size == 4 &&
          values[1].type == RLM_TYPE_BOOL && values[2].integer == 7 * 334 && values[3].integer == 334);
    CHECK(values[4].type == RLM_TYPE_NULL && values[6].integer == 0 && values[7].integer == 666);
    realm_groups_t *clone = realm_clone(linked);
    CHECK(clone && read_all(clone, values, 200, 4) == 2);
    realm_release(linked);
    CHECK(values[0].string.size == 4 && !memcmp(values[0].string.data, "Oslo", 4));
    realm_results_t *grouped = realm_groups_get_results(clone);
    size_t size = 0;
    SUCCEEDS(realm_results_count(grouped, &size));
    CHECK(size == 1000);
    realm_release(grouped);
    char *text = realm_groups_explain(clone);
    CHECK(text && strstr(text, "GROUP(dept.name, active: @sum.dept.budget, @count)"));
    realm_free(text);

    /* Without aggregates; of what a query, a limit and an order leave. */
    realm_results_t *some = realm_results_refine(
        all, "years < 5 SORT(years DESC, score ASC) LIMIT(15)", 0, NULL);
    realm_groups_t *few = realm_results_group(some, "years", NULL);
    CHECK(read_all(few, values, 200, 1) == 2 && values[0].integer == 4 && values[1].integer == 3);
    realm_release(few);

    /* Live: in a write transaction, and after it. Those of a frozen realm stay. */
    realm_t *frozen = realm_freeze(realm);
    realm_groups_t *kept = realm_groups_resolve_in(groups, frozen);
    CHECK(kept && realm_is_frozen(kept) && !realm_is_frozen(groups));
    SUCCEEDS(realm_begin_write(realm));
    bool found = false;
    realm_object_t *person = realm_object_find_with_primary_key(realm, k.person, of_int(42), &found);
    CHECK(found);
    SUCCEEDS(realm_set_value(person, k.score, of_double(1000), false));
    count = read_all(groups, values, 200, 6);
    const realm_value_t *group = group_of(values, count, 6, 42);
    CHECK(group && group[3].dnum == (4920 / 2.0 - 21 + 1000) / 10);
    SUCCEEDS(realm_set_value(person, k.age, of_int(1042), false));
    count = read_all(groups, values, 200, 6);
    group = group_of(values, count, 6, 1042);
    CHECK(count == 101 && group && group[1].integer == 1 && group[3].dnum == 1000);
    group = group_of(values, count, 6, 42);
    CHECK(group && group[1].integer == 9);
    SUCCEEDS(realm_object_delete(person));
    CHECK(read_all(groups, values, 200, 6) == 100);
    SUCCEEDS(realm_commit(realm));
    count = read_all(groups, values, 200, 6);
    group = group_of(values, count, 6, 42);
    CHECK(count == 100 && group && group[1].integer == 9);
    count = read_all(kept, values, 200, 6);
    group = group_of(values, count, 6, 42);
    CHECK(count == 100 && group && group[1].integer == 10 && group[3].dnum == 246);
    realm_release(person);

    /* Texts. */
    FAILS(RLM_ERR_INVALID_QUERY_STRING, realm_results_group(all, "", "@count"));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_results_group(all, NULL, "@count"));
    FAILS(RLM_ERR_INVALID_QUERY, realm_results_group(all, "nothing", "@count"));
    FAILS(RLM_ERR_INVALID_QUERY_STRING, realm_results_group(all, "age", "sum(score)"));
    FAILS(RLM_ERR_INVALID_QUERY, realm_results_group(all, "age", "@sum.nothing"));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_results_group(all, "age", "@sum.name"));
    FAILS(RLM_ERR_INVALID_SORT_DESCRIPTOR, realm_results_group(all, "staff.age", ""));

    SUCCEEDS(realm_close(realm));
    FAILS(RLM_ERR_STALE_ACCESSOR, realm_groups_count(groups, &count, NULL));
    FAILS(RLM_ERR_STALE_ACCESSOR, realm_results_group(all, "age", ""));
    realm_release(kept);
    realm_release(clone);
    realm_release(groups);
    realm_release(some);
    realm_release(all);
    realm_release(oslo);
    realm_release(frozen);
    realm_release(realm);
    return check_end("groups");
}
