/* Conditions without text find what their texts find; parts that are no condition are errors. */
#include "people.h"

#include <string.h>

static realm_results_t *people;
static realm_value_t number, grown, word, ids[3];
static realm_query_arg_t args[4];

static realm_string_t named(const char *name) {
    return (realm_string_t){.data = name, .size = strlen(name)};
}
static realm_predicate_part_t step(const char *name) {
    return (realm_predicate_part_t){.kind = RLM_PREDICATE_NAME, .name = named(name)};
}
static realm_predicate_part_t taking(realm_predicate_kind_e kind, size_t count) {
    return (realm_predicate_part_t){.kind = kind, .count = count};
}
static realm_predicate_part_t argument(int64_t place) {
    return (realm_predicate_part_t){.kind = RLM_PREDICATE_ARGUMENT, .number = place};
}
static realm_predicate_part_t compared(realm_predicate_operator_e op, uint32_t options) {
    return (realm_predicate_part_t){
        .kind = RLM_PREDICATE_COMPARE, .detail = op, .options = options};
}

static realm_results_t *refined(const realm_results_t *results, const realm_predicate_part_t *parts,
                                size_t count) {
    return realm_results_refine_predicate(results, parts, count, 4, args);
}

/* As many as the text finds, and described as it is. */
static void matches_text(const realm_predicate_part_t *parts, size_t count, const char *text) {
    realm_results_t *made = refined(people, parts, count);
    realm_results_t *parsed = realm_results_refine(people, text, 4, args);
    size_t made_count = 0, parsed_count = 1;
    CHECK(made != NULL && parsed != NULL);
    SUCCEEDS(realm_results_count(made, &made_count));
    SUCCEEDS(realm_results_count(parsed, &parsed_count));
    CHECK(made_count == parsed_count && made_count > 0);
    realm_query_t *query = realm_results_get_query(made);
    realm_query_t *other = realm_results_get_query(parsed);
    CHECK(strcmp(realm_query_get_description(query), realm_query_get_description(other)) == 0);
    realm_release(query);
    realm_release(other);
    realm_release(made);
    realm_release(parsed);
}
#define MATCHES_TEXT(parts, text) matches_text(parts, sizeof(parts) / sizeof(*(parts)), text)

/* Parts that are no condition. */
static void refuse(const realm_predicate_part_t *parts, size_t count) {
    FAILS(RLM_ERR_INVALID_ARGUMENT, refined(people, parts, count));
}
#define REFUSE(...)                                                                               \
    do {                                                                                          \
        const realm_predicate_part_t parts_[] = {__VA_ARGS__};                                    \
        refuse(parts_, sizeof(parts_) / sizeof(*parts_));                                         \
    } while (0)

static void conditions(void) {
    const realm_predicate_part_t older[] = {
        step("years"), taking(RLM_PREDICATE_PATH, 1), argument(0),
        compared(RLM_OPERATOR_GREATER_EQUAL, 0)};
    MATCHES_TEXT(older, "years >= $0");
    const realm_predicate_part_t both[] = {
        step("years"), taking(RLM_PREDICATE_PATH, 1), argument(0), argument(1),
        taking(RLM_PREDICATE_BETWEEN, 0),
        step("dept"), step("name"), taking(RLM_PREDICATE_PATH, 2), argument(2),
        compared(RLM_OPERATOR_BEGINS_WITH, RLM_IGNORE_CASE),
        step("_id"), taking(RLM_PREDICATE_PATH, 1), argument(3), compared(RLM_OPERATOR_IN, 0),
        taking(RLM_PREDICATE_NOT, 0), taking(RLM_PREDICATE_ALL, 3)};
    MATCHES_TEXT(both, "years BETWEEN {$0, $1} AND dept.name BEGINSWITH[c] $2 AND !(_id IN $3)");
    const realm_predicate_part_t linked[] = {
        step("boss"), {.kind = RLM_PREDICATE_BACKLINKS, .name = named("Person")},
        {.kind = RLM_PREDICATE_COUNT_OF}, taking(RLM_PREDICATE_PATH, 2), argument(0),
        compared(RLM_OPERATOR_EQUAL, 0),
        {.kind = RLM_PREDICATE_ALWAYS, .number = 1}, taking(RLM_PREDICATE_ANY, 2)};
    MATCHES_TEXT(linked, "@links.Person.boss.@count == $0 OR TRUEPREDICATE");
    const realm_predicate_part_t sum[] = {
        step("staff"), taking(RLM_PREDICATE_PATH, 1), step("years"),
        {.kind = RLM_PREDICATE_AGGREGATE, .detail = RLM_FUNCTION_SUM, .count = 1}, argument(0),
        compared(RLM_OPERATOR_LESS, 0)};
    MATCHES_TEXT(sum, "staff.@sum.years < $0");
    const realm_predicate_part_t members[] = {
        step("staff"), taking(RLM_PREDICATE_PATH, 1),
        {.kind = RLM_PREDICATE_VARIABLE, .name = named("p")}, step("years"),
        taking(RLM_PREDICATE_PATH, 2), argument(0), compared(RLM_OPERATOR_GREATER, 0),
        {.kind = RLM_PREDICATE_MATCHING, .name = named("p")}, argument(0),
        compared(RLM_OPERATOR_NOT_EQUAL, 0)};
    MATCHES_TEXT(members, "SUBQUERY(staff, $p, $p.years > $0).@count != $0");
    const realm_predicate_part_t computed[] = {
        step("years"), taking(RLM_PREDICATE_PATH, 1), argument(0),
        {.kind = RLM_PREDICATE_ARITHMETIC, .number = '*'},
        step("name"), taking(RLM_PREDICATE_PATH, 1),
        {.kind = RLM_PREDICATE_CALL, .count = 1, .name = named("length")},
        compared(RLM_OPERATOR_GREATER, 0)};
    MATCHES_TEXT(computed, "years * $0 > length(name)");
}

static void mistakes(void) {
    const realm_predicate_part_t always = {.kind = RLM_PREDICATE_ALWAYS, .number = 1};
    refuse(NULL, 3);
    refuse(&always, 0);
    REFUSE(always, always);
    REFUSE(taking(RLM_PREDICATE_NOT, 0));
    REFUSE(step("years"));
    REFUSE(step("years"), taking(RLM_PREDICATE_PATH, 1));
    REFUSE(step("years"), taking(RLM_PREDICATE_PATH, 2), argument(0), compared(RLM_OPERATOR_EQUAL, 0));
    REFUSE(step("years"), taking(RLM_PREDICATE_PATH, SIZE_MAX), argument(0),
           compared(RLM_OPERATOR_EQUAL, 0));
    REFUSE(always, taking(RLM_PREDICATE_ALL, SIZE_MAX));
    REFUSE(always, argument(0), taking(RLM_PREDICATE_ALL, 2));
    REFUSE(argument(0), argument(0), compared((realm_predicate_operator_e)13, 0));
    REFUSE(argument(0), argument(0), compared((realm_predicate_operator_e)-1, 0));
    REFUSE(argument(0), argument(0), compared(RLM_OPERATOR_EQUAL, 4));
    REFUSE(argument(0), argument(0), {.kind = RLM_PREDICATE_ARITHMETIC, .number = '%'}, argument(0),
           compared(RLM_OPERATOR_EQUAL, 0));
    REFUSE(step("years"), {.kind = RLM_PREDICATE_PATH, .detail = 9, .count = 1}, argument(0),
           compared(RLM_OPERATOR_EQUAL, 0));
    REFUSE(step("staff"), {.kind = RLM_PREDICATE_PATH, .detail = 1, .count = 1},
           {.kind = RLM_PREDICATE_AGGREGATE}, argument(0), compared(RLM_OPERATOR_EQUAL, 0));
    REFUSE({.kind = RLM_PREDICATE_NAME, .name = {.data = "\xff", .size = 1}},
           taking(RLM_PREDICATE_PATH, 1), argument(0), compared(RLM_OPERATOR_EQUAL, 0));
    REFUSE({.kind = RLM_PREDICATE_NAME, .name = {.data = NULL, .size = 1}},
           taking(RLM_PREDICATE_PATH, 1), argument(0), compared(RLM_OPERATOR_EQUAL, 0));
    REFUSE({.kind = 99});
    FAILS(RLM_ERR_INVALID_QUERY_ARG, refined(people, (realm_predicate_part_t[]){argument(4)}, 1));
    FAILS(RLM_ERR_INVALID_QUERY_ARG, refined(people, (realm_predicate_part_t[]){argument(-1)}, 1));
    const realm_predicate_part_t unknown[] = {
        step("nobody"), taking(RLM_PREDICATE_PATH, 1), argument(0), compared(RLM_OPERATOR_EQUAL, 0)};
    FAILS(RLM_ERR_INVALID_QUERY, refined(people, unknown, 4));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_results_refine_predicate(NULL, &always, 1, 0, NULL));

    /* Deeper than the engine goes. */
    const size_t deep = 1000000;
    realm_predicate_part_t *parts = calloc(deep + 1, sizeof *parts);
    parts[0] = always;
    for (size_t i = 1; i <= deep; i++)
        parts[i] = taking(RLM_PREDICATE_NOT, 0);
    refuse(parts, deep + 1);
    realm_results_t *all = refined(people, parts, 401);
    CHECK(all != NULL);
    realm_release(all);
    /* Long ones are not deep. */
    for (size_t i = 0; i < deep; i++)
        parts[i] = always;
    parts[deep] = taking(RLM_PREDICATE_ALL, deep);
    all = refined(people, parts, deep + 1);
    CHECK(all != NULL);
    realm_release(all);
    free(parts);
}

int main(void) {
    realm_t *realm = open_people("predicates.realm");
    keys_t k = keys_of(realm);
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *oslo = realm_object_create_with_primary_key(realm, k.dept, of_text("Oslo"));
    realm_link_t boss = {0};
    for (int id = 0; id < 200; id++) {
        realm_object_t *person = make_person(realm, &k, id);
        if (id == 0)
            boss = realm_object_as_link(person);
        SUCCEEDS(realm_set_value(person, k.boss, of_link(boss), false));
        SUCCEEDS(realm_set_value(person, k.of_dept, of_link(realm_object_as_link(oslo)), false));
        realm_release(person);
    }
    SUCCEEDS(realm_commit(realm));
    number = of_int(30);
    grown = of_int(60);
    word = of_text("os");
    for (int i = 0; i < 3; i++)
        ids[i] = of_int(30 + 10 * i);
    args[0] = (realm_query_arg_t){1, false, &number};
    args[1] = (realm_query_arg_t){1, false, &grown};
    args[2] = (realm_query_arg_t){1, false, &word};
    args[3] = (realm_query_arg_t){3, true, ids};
    people = realm_object_find_all(realm, k.person);

    conditions();
    mistakes();

    realm_release(people);
    realm_release(oslo);
    realm_close(realm);
    realm_release(realm);
    return check_end("predicates");
}
