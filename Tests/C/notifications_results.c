/* Contract 15.3 and 15.4 for results: of classes, queries, backlinks and collections, filtered,
 * sorted, told apart and cut. */
#include "notices.h"

static realm_t *realm;
static loop_t loop;
static realm_class_key_t person;
static realm_property_key_t name_key, age_key, boss_key, dept_key;

static realm_object_t *make(int id, const char *name, int age) {
    realm_object_t *object = realm_object_create_with_primary_key(realm, person, of_int(id));
    CHECK(object && realm_set_value(object, name_key, of_text(name), false) &&
          realm_set_value(object, age_key, of_int(age), false));
    return object;
}
static void set(realm_object_t *object, realm_property_key_t key, realm_value_t value) {
    CHECK(realm_set_value(object, key, value, false));
}
static realm_results_t *find(const char *text) {
    realm_query_t *query = realm_query_parse(realm, person, text, 0, NULL);
    CHECK(query);
    realm_results_t *results = realm_query_find_all(query);
    CHECK(results);
    realm_release(query);
    return results;
}

static void of_people(void) {
    realm_object_t *p[8], *dept = NULL;
    const char *names[] = {"d", "b", "f", "h", "a", "c", "e", "g"};
    WRITE(realm, for (int i = 0; i < 8; i++) p[i] = make(i, names[i], 10 * i);
          dept = realm_object_create_with_primary_key(realm, class_key(realm, "Dept"),
                                                      of_text("dept")));
    realm_results_t *all = realm_object_find_all(realm, person);
    realm_results_t *young = find("age < 45");
    realm_results_t *sorted = realm_results_sort(young, "name ASC");
    realm_results_t *descending = find("TRUEPREDICATE SORT(name DESC)");
    realm_results_t *limited = realm_results_limit(sorted, 2);
    realm_results_t *distinct = realm_results_distinct(all, "dept");
    realm_results_t *in_dept = find("dept.name == 'dept' SORT(age DESC)");
    realm_results_t *budget = find("TRUEPREDICATE SORT(dept.budget ASC, name ASC)");
    realm_results_t *members =
        realm_get_backlinks(dept, person, dept_key);
    CHECK(sorted && limited && distinct && members);
    notice_t a = {0}, b = {0}, c = {0}, d = {0}, e = {0}, f = {0}, g = {0}, h = {0}, k = {0};
    notice_t *notices[] = {&a, &b, &c, &d, &e, &f, &g, &h, &k};
    realm_results_t *results[] = {all,      young,   sorted, descending, limited,
                                  distinct, members, budget, in_dept};
    for (int i = 0; i < 9; i++)
        watch_results(notices[i], results[i], NULL);
    turn(&loop);
    for (int i = 0; i < 9; i++)
        TOLD(*notices[i], "-");
#define REST()                                                                                    \
    for (int i = 0; i < 9; i++)                                                                   \
    notices[i]->calls = 0
    /* Modified where it stays: sorted "a b d f h" of which age < 45 are d0 b1 f2 h3 a4. */
    WRITE(realm, set(p[2], age_key, of_int(21)));
    turn(&loop);
    TOLD(a, "m2");
    TOLD(b, "m2");
    TOLD(c, "m3");
    TOLD(d, "m2"); /* h g f e d c b a */
    TOLD(e, "");   /* "a b" */
    TOLD(f, "");   /* the only one without department */
    TOLD(g, "");
    REST();
    /* Stops matching, and starts. */
    WRITE(realm, set(p[2], age_key, of_int(99)); set(p[6], age_key, of_int(1)));
    turn(&loop);
    TOLD(a, "m2 m6");
    TOLD(b, "d2 i4");
    TOLD(c, "d3 i3"); /* f went, e came */
    REST();
    /* Repositioned: deletion and insertion, no modification. */
    WRITE(realm, set(p[4], name_key, of_text("z")));
    turn(&loop);
    TOLD(b, "m3");
    TOLD(c, "d0 i4"); /* a b d e h -> b d e h z */
    TOLD(d, "d7 i0");
    TOLD(e, "d0 i1");
    REST();
    /* A new name that keeps the place. */
    WRITE(realm, set(p[1], name_key, of_text("bb")));
    turn(&loop);
    TOLD(c, "m0");
    REST();
    /* Created and deleted. */
    WRITE(realm, CHECK(realm_object_delete(p[0])); realm_release(make(20, "cc", 5)));
    turn(&loop);
    TOLD(a, "d0 i7");
    TOLD(b, "d0 i4");
    TOLD(c, "d1 i1");
    REST();
    /* Over links: three of them get a department. */
    WRITE(realm, for (int i = 1; i < 4; i++)
                     set(p[i], dept_key, of_link(realm_object_as_link(dept))));
    turn(&loop);
    TOLD(g, "i0-3");
    TOLD(f, "i1 m0"); /* the first has one now, the fourth is the first without */
    TOLD(k, "i0-3");
    REST();
    WRITE(realm, set(dept, property_key(realm, class_key(realm, "Dept"), "budget"), of_int(7)));
    turn(&loop);
    TOLD(g, "m0 m1 m2");
    REST();
    WRITE(realm, set(p[3], age_key, of_int(1000)));
    turn(&loop);
    TOLD(k, "d1 i0"); /* by age: f99 h30 bb10 -> h1000 f99 bb10 */
    REST();
    WRITE(realm, CHECK(realm_object_delete(dept)));
    turn(&loop);
    TOLD(g, "d0-3");
    TOLD(k, "d0-3");
    REST();
    /* Another class is nothing to them. */
    WRITE(realm, realm_release(realm_object_create_with_primary_key(
                     realm, class_key(realm, "Dept"), of_text("other"))));
    turn(&loop);
    for (int i = 0; i < 9; i++)
        TOLD(*notices[i], "");
    /* Many at once. */
    WRITE(realm, for (int i = 100; i < 300; i++) realm_release(make(i, "m", i % 90)));
    turn(&loop);
    TOLD(a, "i8-208");
    REST();
    WRITE(realm, CHECK(realm_results_delete_all(all)));
    turn(&loop);
    TOLD(a, "d0-208");
    CHECK(count_results(sorted) == 0);
    for (int i = 0; i < 9; i++) {
        realm_release(notices[i]->token);
        CHECK(notices[i]->freed == 1);
        realm_release(results[i]);
    }
    for (int i = 0; i < 8; i++)
        realm_release(p[i]);
    realm_release(dept);
}

static void of_values(void) {
    loop_t its_loop = {0};
    realm_t *things = open_looped_things("values.realm", &its_loop);
    realm_object_t *thing = NULL;
    WRITE(things, thing = make_thing(things, "a"));
    realm_list_t *ints = list_of(things, thing, "ints");
    int numbers[] = {5, 50, 7, 70, 9};
    WRITE(things, for (int i = 0; i < 5; i++) CHECK(realm_list_insert(ints, i, of_int(numbers[i]))));
    realm_results_t *plain = realm_list_to_results(ints);
    realm_results_t *limited = realm_results_limit(plain, 2);
    notice_t a = {0}, b = {0};
    watch_results(&a, plain, NULL);
    watch_results(&b, limited, NULL);
    turn(&its_loop);
    TOLD(a, "-");
    TOLD(b, "-");
    WRITE(things, CHECK(realm_list_insert(ints, 0, of_int(1))));
    turn(&its_loop);
    TOLD(a, "i0");
    TOLD(b, "d1 i0");
    WRITE(things, CHECK(realm_object_delete(thing)));
    turn(&its_loop);
    TOLD(a, "d0-6 deleted");
    TOLD(b, "d0-2 deleted");
    void *all[] = {a.token, b.token, plain, limited, ints, thing, things};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        realm_release(all[i]);
    CHECK(loop_ended(&its_loop));
}

int main(void) {
    realm = open_looped(config_with("results.realm", people_schema()), &loop);
    person = class_key(realm, "Person");
    name_key = property_key(realm, person, "name");
    age_key = property_key(realm, person, "age");
    boss_key = property_key(realm, person, "boss");
    dept_key = property_key(realm, person, "dept");
    of_people();
    of_values();
    realm_release(realm);
    return check_end("notifications_results");
}
