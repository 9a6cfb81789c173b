/* The calls of queries: which text fails how, what arguments mean, how queries are
 * combined and executed. The language has tests of its own. */
#include "things.h"

static realm_t *open_world(const char *path) {
    const int nullable = RLM_PROPERTY_NULLABLE;
    const realm_collection_type_e list = RLM_COLLECTION_TYPE_LIST;
    realm_property_info_t dog[] = {
        property_of("name", RLM_PROPERTY_TYPE_STRING, nullable),
        property_of("i", RLM_PROPERTY_TYPE_INT, nullable),
        property_of("d", RLM_PROPERTY_TYPE_DOUBLE, nullable),
        property_of("f", RLM_PROPERTY_TYPE_FLOAT, nullable),
        property_of("m", RLM_PROPERTY_TYPE_DECIMAL128, nullable),
        property_of("b", RLM_PROPERTY_TYPE_BOOL, nullable),
        property_of("t", RLM_PROPERTY_TYPE_TIMESTAMP, nullable),
        property_of("x", RLM_PROPERTY_TYPE_BINARY, nullable),
        property_of("o", RLM_PROPERTY_TYPE_OBJECT_ID, nullable),
        property_of("u", RLM_PROPERTY_TYPE_UUID, nullable),
        property_of("mixed", RLM_PROPERTY_TYPE_MIXED, nullable),
        link_of("friend", "Dog"),
        many_of("friends", list, RLM_PROPERTY_TYPE_OBJECT, 0, "Dog"),
        many_of("pack", RLM_COLLECTION_TYPE_SET, RLM_PROPERTY_TYPE_OBJECT, 0, "Dog"),
        many_of("ints", list, RLM_PROPERTY_TYPE_INT, 0, ""),
        property_of("weight", RLM_PROPERTY_TYPE_INT, nullable),
        link_of("owner", "Owner"),
        backlinks_of("fans", "Dog", "friend"),
    };
    dog[15].public_name = "mass";
    realm_property_info_t owner[] = {property_of("name", RLM_PROPERTY_TYPE_STRING, 0)};
    realm_class_info_t classes[] = {class_of("Dog", "", 17, 1), class_of("Owner", "", 1, 0)};
    const realm_property_info_t *properties[] = {dog, owner};
    return open_with(path, realm_schema_new(classes, 2, properties));
}
/* N4: a class that the program calls otherwise than the file. */
static void public_class_names(void) {
    realm_property_info_t dog[] = {property_of("i", RLM_PROPERTY_TYPE_INT, 0),
                                   link_of("owner", "t_owner")};
    realm_property_info_t owner[] = {
        property_of("id", RLM_PROPERTY_TYPE_INT, RLM_PROPERTY_PRIMARY_KEY)};
    realm_class_info_t classes[] = {class_of("t_dog", "", 2, 0), class_of("t_owner", "id", 1, 0)};
    const realm_property_info_t *properties[] = {dog, owner};
    realm_schema_t *schema = realm_schema_new(classes, 2, properties);
    SUCCEEDS(realm_schema_set_class_public_name(schema, "t_owner", "t_dog"));
    FAILS(RLM_ERR_SCHEMA_VALIDATION_FAILED, realm_schema_validate(schema, 0));
    SUCCEEDS(realm_schema_set_class_public_name(schema, "t_owner", "Owner"));
    SUCCEEDS(realm_schema_set_class_public_name(schema, "t_dog", "Owner"));
    FAILS(RLM_ERR_SCHEMA_VALIDATION_FAILED, realm_schema_validate(schema, 0));
    SUCCEEDS(realm_schema_set_class_public_name(schema, "t_dog", NULL));
    SUCCEEDS(realm_schema_set_class_public_name(schema, "t_dog", "Dog"));
    FAILS(RLM_ERR_NO_SUCH_TABLE, realm_schema_set_class_public_name(schema, "Dog", "x"));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_schema_set_class_public_name(schema, NULL, "x"));
    realm_t *realm = open_with("public_class_names.realm", schema);
    realm_schema_t *shown = realm_get_schema(realm);
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_schema_set_class_public_name(shown, "t_dog", "x"));
    realm_release(shown);
    bool found = false;
    realm_class_info_t info;
    SUCCEEDS(realm_find_class_by_public_name(realm, "Owner", &found, &info));
    CHECK(found && !strcmp(info.name, "t_owner"));
    SUCCEEDS(realm_find_class_by_public_name(realm, "t_owner", &found, &info));
    CHECK(!found);
    const char *texts[] = {"@links.Dog.owner.i == 1", "@links.t_dog.owner.i == 1",
                           "SELF != obj('Owner', 1)", "SELF != obj('t_owner', 1)"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        realm_query_t *query =
            realm_query_parse(realm, class_key(realm, "t_owner"), texts[i], 0, NULL);
        CHECK(query && !strstr(realm_query_get_description(query), "Dog") &&
              !strstr(realm_query_get_description(query), "Owner"));
        realm_release(query);
    }
    CHECK(!realm_query_parse(realm, class_key(realm, "t_owner"), "nope == 1", 0, NULL));
    realm_error_t error;
    CHECK(realm_get_last_error(&error) && strstr(error.message, "'Owner' has no property"));
    realm_release(realm);
}
static realm_property_key_t key_of(realm_t *realm, const char *name) {
    return property_key(realm, class_key(realm, "Dog"), name);
}
static realm_query_t *parsed(realm_t *realm, const char *text, size_t n,
                             const realm_query_arg_t *arguments) {
    return realm_query_parse(realm, class_key(realm, "Dog"), text, n, arguments);
}
static size_t counted(realm_query_t *query) {
    size_t count = SIZE_MAX;
    SUCCEEDS(query && realm_query_count(query, &count));
    return count;
}

static void refused_texts(void) {
    realm_t *realm = open_world("failures.realm");
    realm_value_t one = of_int(1), nan = of_double(NAN), infinite = of_double(INFINITY),
                  text = of_text("x"), partial = of_text("2x");
    realm_value_t foreign = of_link_to(class_key(realm, "Owner"), 0);
    const realm_query_arg_t scalar = {1, false, &one}, of_nan = {1, false, &nan},
                            of_infinity = {1, false, &infinite}, of_word = {1, false, &text},
                            of_partial = {1, false, &partial},
                            of_foreign = {1, true, &foreign}, empty = {0, true, NULL};
    const struct {
        realm_errno_e code;
        const char *text;
        const realm_query_arg_t *argument;
    } cases[] = {
        {RLM_ERR_INVALID_QUERY_STRING, "", NULL},
        {RLM_ERR_INVALID_QUERY_STRING, " ", NULL},
        {RLM_ERR_INVALID_QUERY_STRING, "i ==", NULL},
        {RLM_ERR_INVALID_QUERY_STRING, "== 1", NULL},
        {RLM_ERR_INVALID_QUERY_STRING, "i == 1 AND", NULL},
        {RLM_ERR_INVALID_QUERY_STRING, "(i == 1", NULL},
        {RLM_ERR_INVALID_QUERY_STRING, "i == 'open", NULL},
        {RLM_ERR_INVALID_QUERY_STRING, "i == 1 LIMIT(-1)", NULL},
        {RLM_ERR_INVALID_QUERY_STRING, "i == 1 SORT()", NULL},
        {RLM_ERR_INVALID_QUERY_STRING, "i = = 1", NULL},
        {RLM_ERR_INVALID_QUERY_STRING, "lel", NULL},
        {RLM_ERR_INVALID_QUERY_STRING, "NOT lel", NULL},
        {RLM_ERR_INVALID_QUERY_STRING, "b AND (lel)", NULL},
        {RLM_ERR_INVALID_QUERY_STRING, "friend.nothing", NULL},
        {RLM_ERR_INVALID_QUERY_STRING, "lel SORT(i ASC)", NULL},
        {RLM_ERR_INVALID_QUERY_STRING, "i", NULL},
        {RLM_ERR_INVALID_QUERY_STRING, "ALL ints", NULL},
        {RLM_ERR_INVALID_QUERY_STRING, "ALL b", NULL},
        {RLM_ERR_INVALID_QUERY_STRING, "friend", NULL},
        {RLM_ERR_INVALID_QUERY_STRING, "name CONTAINS[x] 'a'", NULL},
        {RLM_ERR_INVALID_QUERY_STRING, "t > 1970-13", NULL},
        /* The predicate is looked at before the clauses behind it. */
        {RLM_ERR_INVALID_QUERY_ARG, "i == $0 SORT(nothing ASC)", NULL},
        {RLM_ERR_INVALID_QUERY_ARG, "i == $0 SORT(nothing ASC)", &of_word},
        {RLM_ERR_INVALID_QUERY, "nothing == $0 SORT(i ASC)", NULL},
        {RLM_ERR_INVALID_QUERY, "nothing == 1", NULL},
        {RLM_ERR_INVALID_QUERY, "friend.nothing == 1", NULL},
        {RLM_ERR_INVALID_QUERY, "i.nothing == 1", NULL},
        {RLM_ERR_INVALID_QUERY, "I == 1", NULL},
        {RLM_ERR_INVALID_QUERY, "i == 1 SORT(nothing ASC)", NULL},
        {RLM_ERR_INVALID_QUERY, "i == 1 DISTINCT(nothing)", NULL},
        {RLM_ERR_INVALID_QUERY, "i == 'text'", NULL},
        {RLM_ERR_INVALID_QUERY, "i BEGINSWITH 1", NULL},
        {RLM_ERR_INVALID_QUERY, "b > 'x'", NULL},
        {RLM_ERR_INVALID_QUERY, "t == 5", NULL},
        {RLM_ERR_INVALID_QUERY, "o == u", NULL},
        {RLM_ERR_INVALID_QUERY, "@links.Dog.nothing.i == 1", NULL},
        {RLM_ERR_INVALID_QUERY, "@links.Nothing.friend.i == 1", NULL},
        {RLM_ERR_INVALID_QUERY, "i == ANY $0", &scalar},
        {RLM_ERR_INVALID_QUERY, "i == ALL $0", &scalar},
        {RLM_ERR_INVALID_QUERY, "i == NONE $0", &scalar},
        {RLM_ERR_INVALID_QUERY, "i == $0", &of_nan},
        {RLM_ERR_INVALID_QUERY, "i > $0", &of_infinity},
        {RLM_ERR_INVALID_QUERY_ARG, "i == $1", &scalar},
        {RLM_ERR_INVALID_QUERY_ARG, "i == $0", NULL},
        {RLM_ERR_INVALID_QUERY_ARG, "i IN $0", &scalar},
        {RLM_ERR_INVALID_QUERY_ARG, "i == $0", &of_word},
        {RLM_ERR_INVALID_QUERY_ARG, "d == $0", &of_word},
        {RLM_ERR_INVALID_QUERY_ARG, "i == $0", &of_partial},
        {RLM_ERR_INVALID_QUERY_ARG, "b == $0", &scalar},
        {RLM_ERR_INVALID_QUERY_ARG, "t == $0", &scalar},
        {RLM_ERR_INVALID_QUERY_ARG, "name == $0", &scalar},
        {RLM_ERR_INVALID_QUERY_ARG, "x == $0", &of_word},
        {RLM_ERR_INVALID_QUERY_ARG, "o == $0", &of_word},
        {RLM_ERR_INVALID_QUERY_ARG, "u == $0", &of_word},
        {RLM_ERR_INVALID_QUERY_ARG, "friend == $0", &scalar},
        {RLM_ERR_INVALID_QUERY_ARG, "friend IN $0", &of_foreign},
        {RLM_ERR_ILLEGAL_OPERATION, "name TEXT 'x'", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        realm_clear_last_error();
        realm_query_t *query = parsed(realm, cases[i].text, cases[i].argument ? 1 : 0,
                                      cases[i].argument);
        realm_error_t error;
        bool has = realm_get_last_error(&error), is_right = !query && has &&
                                                           error.error == cases[i].code;
        CHECK(is_right);
        if (!is_right)
            fprintf(stderr, "    %s: %d %s, expected %d\n", cases[i].text,
                    has ? (int)error.error : 0, has ? error.message : "", (int)cases[i].code);
        realm_release(query);
    }
    FAILS(RLM_ERR_NO_SUCH_TABLE, realm_query_parse(realm, 4711, "i == 1", 0, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, parsed(realm, NULL, 0, NULL));
    /* An empty list without memory; more arguments than are used. */
    realm_query_arg_t two[] = {empty, scalar};
    realm_query_t *query = parsed(realm, "i IN $0", 2, two);
    CHECK(query && counted(query) == 0);
    realm_release(query);
    realm_release(realm);
}

/* Five dogs: one and two by number, the third is null throughout, the others between and beyond. */
static void fill(realm_t *realm) {
    const double numbers[] = {1, 2, 0, 0.1, -7};
    const char *names[] = {"1", "b", NULL, "", "c"};
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *owner = realm_object_create(realm, class_key(realm, "Owner"));
    for (int i = 0; i < 5; i++) {
        realm_object_t *dog = realm_object_create(realm, class_key(realm, "Dog"));
        realm_object_t *first = realm_get_object(realm, class_key(realm, "Dog"), 0);
        if (i != 2) {
            SUCCEEDS(realm_set_value(dog, key_of(realm, "i"), of_int((int64_t)numbers[i]), false));
            SUCCEEDS(realm_set_value(dog, key_of(realm, "d"), of_double(numbers[i]), false));
            SUCCEEDS(realm_set_value(dog, key_of(realm, "f"), of_float((float)numbers[i]), false));
            SUCCEEDS(realm_set_value(dog, key_of(realm, "m"),
                                     i == 3 ? of_decimal(1, 0x303e000000000000)
                                     : i == 4 ? of_decimal(7, 0xb040000000000000)
                                              : of_small_decimal((uint64_t)numbers[i]),
                                     false));
            SUCCEEDS(realm_set_value(dog, key_of(realm, "name"), of_text(names[i]), false));
            SUCCEEDS(realm_set_value(dog, key_of(realm, "friend"), link_to(first), false));
            SUCCEEDS(realm_set_value(dog, key_of(realm, "mixed"),
                                     i == 0   ? of_int(1)
                                     : i == 1 ? of_text("1")
                                     : i == 3 ? of_double(1)
                                              : link_to(first),
                                     false));
            SUCCEEDS(realm_set_value(dog, key_of(realm, "weight"), of_int(i), false));
        }
        realm_release(first);
        realm_release(dog);
    }
    realm_release(owner);
    SUCCEEDS(realm_commit(realm));
}

static void arguments(void) {
    realm_t *realm = open_world("arguments.realm");
    fill(realm);
    realm_class_key_t class = class_key(realm, "Dog");
    const struct {
        const char *text;
        realm_value_t value;
        size_t count;
    } cases[] = {
        {"m == $0", of_int(1), 1},          {"m < $0", of_int(1), 2},
        {"d == $0", of_int(2), 1},          {"d > $0", of_int(0), 3},
        {"f == $0", of_int(1), 1},          {"i == $0", of_double(2), 1},
        {"i == $0", of_double(1.5), 0},     {"i > $0", of_double(1.5), 1},
        {"i < $0", of_float(1.5f), 3},      {"i != $0", of_double(1.5), 5},
        {"f == $0", of_double(0.1), 1},     {"m == $0", of_double(0.1), 1},
        {"d == $0", of_text("2"), 1},       {"i == $0", of_text(" 2 "), 1},
        {"f == $0", of_text("1.0"), 1},     {"m == $0", of_text("0.1"), 1},
        {"i == $0", of_null(), 1},          {"i == $0", of_text(NULL), 1},
        {"i == $0", of_bytes(NULL, 3), 1},  {"i == $0", of_type(RLM_TYPE_LIST), 1},
        {"i != $0", of_type(RLM_TYPE_DICTIONARY), 4},
        {"name == $0", of_text(""), 1},     {"name == $0", of_null(), 1},
        {"mixed == $0", of_int(1), 2},      {"mixed == $0", of_small_decimal(1), 2},
        {"mixed == $0", of_text("1"), 1},   {"mixed == $0", of_bool(true), 0},
        {"mixed == $0", of_null(), 1},      {"friend == $0", of_link_to(class, 0), 4},
        {"friend != $0", of_link_to(class, 0), 1}, {"friend == $0", of_null(), 1},
        {"friend == $0", of_link_to(class, 99), 0},
        {"$0 < i", of_int(0), 2},           {"$0 == friend", of_link_to(class, 0), 4},
        {"$K0 == 2", of_text("i"), 1},      {"$K0 == 1", of_text("friend.i"), 4},
        {"mass >= $0", of_int(3), 2},       {"weight >= $0", of_int(3), 2},
        {"friend.mass == $0", of_int(0), 4}, {"fans.@count == $0", of_int(4), 1},
        {"ANY fans.mass == $0", of_int(4), 1}, {"@links.Dog.friend.i == $0", of_int(2), 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        realm_value_t value = cases[i].value;
        /* How many there are is not looked at where it is no list. */
        realm_query_arg_t argument = {i % 2 ? 1 : 4711, false, &value};
        realm_query_t *query = NULL;
        SUCCEEDS((query = parsed(realm, cases[i].text, 1, &argument)) != NULL);
        size_t count = query ? counted(query) : SIZE_MAX;
        CHECK(count == cases[i].count);
        if (count != cases[i].count)
            fprintf(stderr, "    %zu %s: %zu, expected %zu\n", i, cases[i].text, count,
                    cases[i].count);
        realm_release(query);
    }
    realm_value_t numbers[] = {of_int(1), of_double(2), of_null(), of_link_to(class, 0)};
    const struct {
        const char *text;
        size_t first, n, count;
    } lists[] = {
        {"i IN $0", 0, 2, 2},     {"i IN $0", 0, 3, 3},     {"i == ANY $0", 0, 2, 2},
        {"i == $0", 0, 2, 2},     {"i == ALL $0", 0, 0, 5}, {"i IN $0", 0, 0, 0},
        {"d IN $0", 0, 2, 2},     {"m IN $0", 0, 2, 2},     {"mixed IN $0", 0, 4, 4},
        {"friend IN $0", 3, 1, 4}, {"friend IN $0", 2, 2, 5}, {"i == ALL $0", 0, 1, 1},
        {"i == NONE $0", 0, 1, 4},
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        realm_query_arg_t argument = {lists[i].n, true, lists[i].n ? numbers + lists[i].first : 0};
        realm_query_t *query = NULL;
        SUCCEEDS((query = parsed(realm, lists[i].text, 1, &argument)) != NULL);
        size_t count = query ? counted(query) : SIZE_MAX;
        CHECK(count == lists[i].count);
        if (count != lists[i].count)
            fprintf(stderr, "    %s of %zu: %zu, expected %zu\n", lists[i].text, lists[i].n, count,
                    lists[i].count);
        realm_release(query);
    }
    realm_release(realm);
}

/* Whether results, which it releases, are these rows. */
static bool are(realm_results_t *results, const char *rows) {
    char found[32] = "";
    if (!results)
        return false;
    size_t n = count_results(results);
    for (size_t i = 0; i < n && i < 31; i++) {
        realm_value_t v;
        SUCCEEDS(realm_results_get(results, i, &v));
        found[i] = (char)('0' + v.link.target);
    }
    realm_release(results);
    if (n == strlen(rows) && !strcmp(found, rows))
        return true;
    fprintf(stderr, "found %s, expected %s\n", found, rows);
    return false;
}

static bool finds(realm_query_t *query, const char *rows) {
    CHECK(counted(query) == strlen(rows));
    return are(realm_query_find_all(query), rows);
}

static void combining(void) {
    realm_t *realm = open_world("combining.realm");
    fill(realm);
    realm_class_key_t class = class_key(realm, "Dog");
    /* Ordering clauses apply from left to right; the last SORT is the first. */
    const struct {
        const char *text, *rows;
    } orders[] = {
        {"TRUEPREDICATE LIMIT(2) SORT(i DESC)", "10"},
        {"TRUEPREDICATE SORT(i ASC) LIMIT(2)", "24"},
        {"TRUEPREDICATE SORT(friend DESC) SORT(i DESC)", "10342"},
        {"TRUEPREDICATE SORT(i DESC) DISTINCT(friend)", "12"},
        {"TRUEPREDICATE SORT(i ASC) DISTINCT(friend) LIMIT(1)", "2"},
        {"TRUEPREDICATE LIMIT(4) LIMIT(2)", "01"},
        {"TRUEPREDICATE LIMIT(0)", ""},
        {"FALSEPREDICATE", ""},
        {"mass > 0 SORT(mass DESC)", "431"},
    };
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        realm_query_t *query = NULL;
        SUCCEEDS((query = parsed(realm, orders[i].text, 0, NULL)) != NULL);
        CHECK(query && finds(query, orders[i].rows));
        realm_release(query);
    }
    realm_query_t *first = parsed(realm, "i > -100 SORT(i ASC)", 0, NULL);
    realm_value_t v = of_int(1);
    realm_query_arg_t one = {1, false, &v};
    realm_query_t *second = realm_query_append_query(first, "i <= $0 SORT(friend ASC)", 1, &one);
    CHECK(finds(first, "4301") && finds(second, "430"));
    FAILS(RLM_ERR_INVALID_QUERY, realm_query_append_query(first, "nothing == 1", 0, NULL));
    FAILS(RLM_ERR_INVALID_QUERY_ARG, realm_query_append_query(first, "i == $0", 0, NULL));
    FAILS(RLM_ERR_INVALID_QUERY_STRING, realm_query_append_query(first, "", 0, NULL));

    /* Descriptions: arguments are put in, public names are not used. */
    realm_query_t *named = parsed(realm, "mass > $0 AND name == 'x' SORT(mass ASC) LIMIT(3)", 1,
                                  &one);
    const char *text = realm_query_get_description(named);
    CHECK(text && strstr(text, "weight > 1") && strstr(text, "SORT(weight ASC)") &&
          strstr(text, "LIMIT(3)") && !strstr(text, "mass") && !strstr(text, "$0"));
    realm_query_t *all = parsed(realm, "TRUEPREDICATE", 0, NULL);
    text = realm_query_get_description(all);
    CHECK(text && !strcmp(text, "TRUEPREDICATE"));

    /* Over lists and sets: the members, in order, as often as they are there; live. */
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *dog = realm_get_object(realm, class, 0);
    realm_list_t *friends = realm_get_list(dog, key_of(realm, "friends"));
    realm_set_t *pack = realm_get_set(dog, key_of(realm, "pack"));
    realm_list_t *ints = realm_get_list(dog, key_of(realm, "ints"));
    const int members[] = {4, 0, 4, 1, 2};
    for (size_t i = 0; i < 5; i++) {
        SUCCEEDS(realm_list_insert(friends, i, of_link_to(class, members[i])));
        SUCCEEDS(realm_set_insert(pack, of_link_to(class, members[i]), NULL, NULL));
    }
    SUCCEEDS(realm_commit(realm));
    realm_query_t *of_list = realm_query_parse_for_list(friends, "i < 2", 0, NULL);
    realm_query_t *of_set = realm_query_parse_for_set(pack, "i < $0 SORT(i DESC)", 1, &one);
    CHECK(finds(of_list, "404") && finds(of_set, "4"));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_query_parse_for_list(ints, "TRUEPREDICATE", 0, NULL));
    FAILS(RLM_ERR_INVALID_QUERY, realm_query_parse_for_list(friends, "nothing == 1", 0, NULL));
    SUCCEEDS(realm_begin_write(realm));
    SUCCEEDS(realm_list_erase(friends, 0));
    CHECK(finds(of_list, "04"));
    SUCCEEDS(realm_commit(realm));
    CHECK(finds(of_list, "04"));
    realm_query_t *sorted = realm_query_append_query(of_list, "TRUEPREDICATE SORT(i ASC)", 0, NULL);
    CHECK(finds(sorted, "40"));
    bool found = false;
    SUCCEEDS(realm_query_find_first(sorted, &v, &found));
    CHECK(found && same(v, of_link_to(class, 4)));
    SUCCEEDS(realm_query_find_first(of_list, &v, NULL));
    CHECK(same(v, of_link_to(class, 0)));

    /* As a filter it still finds the members alone; of other results than all it finds none. */
    realm_results_t *of_class = realm_object_find_all(realm, class),
                    *members_left = realm_results_filter(of_class, of_list);
    CHECK(members_left && count_results(members_left) == 2);
    SUCCEEDS(realm_results_get(members_left, 1, &v));
    CHECK(same(v, of_link_to(class, 4)));
    realm_results_t *of_friends = realm_list_to_results(friends),
                    *friends_left = realm_results_filter(of_friends, of_list);
    CHECK(friends_left && count_results(friends_left) == 2);
    realm_results_t *of_pack = realm_set_to_results(pack);
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_results_filter(of_pack, of_list));
    SUCCEEDS(realm_begin_write(realm));
    SUCCEEDS(realm_list_clear(friends));
    CHECK(count_results(members_left) == 0 && count_results(friends_left) == 0);
    SUCCEEDS(realm_rollback(realm));
    CHECK(count_results(members_left) == 2);
    void *results[] = {of_pack, friends_left, of_friends, members_left, of_class};
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        realm_release(results[i]);

    /* Over results: the conditions stay, the order does not. */
    realm_results_t *everything = realm_object_find_all(realm, class);
    realm_results_t *by_i = realm_results_sort(everything, "i DESC"),
                    *two = realm_results_limit(by_i, 2);
    realm_query_t *of_results = realm_query_parse_for_results(two, "friend != NULL", 0, NULL);
    CHECK(finds(of_results, "0134"));
    realm_query_t *ordered =
        realm_query_parse_for_results(two, "friend != NULL SORT(i ASC) LIMIT(3)", 0, NULL);
    CHECK(finds(ordered, "430"));
    realm_results_t *filtered = realm_results_filter(by_i, of_results);
    CHECK(filtered && count_results(filtered) == 4);
    realm_results_t *again = realm_results_filter(filtered, ordered);
    SUCCEEDS(realm_results_get(again, 0, &v));
    CHECK(count_results(again) == 4 && same(v, of_link_to(class, 1)));
    realm_query_t *bare = realm_results_get_query(filtered);
    CHECK(finds(bare, "0134"));
    void *handles[] = {bare,   again,    filtered, ordered, of_results, two,  by_i, everything,
                       sorted, of_set,   of_list,  ints,    pack,       friends, dog, all,
                       named,  second,   first};
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++)
        realm_release(handles[i]);
    realm_release(realm);
}

/* realm_results_filter tests before the order; realm_results_refine works on what is left. */
static void chains(void) {
    realm_t *realm = open_world("chains.realm");
    fill(realm);
    realm_query_t *few = parsed(realm, "i <= 1 SORT(i ASC) LIMIT(1)", 0, NULL);
    realm_results_t *all = realm_object_find_all(realm, class_key(realm, "Dog"));
    realm_results_t *by_i = realm_results_sort(all, "i DESC"),
                    *once = realm_results_distinct(by_i, "friend"),
                    *three = realm_results_limit(by_i, 3), *rest = realm_results_offset(by_i, 3);
    CHECK(are(realm_clone(by_i), "10342") && are(realm_clone(once), "12"));
    CHECK(are(realm_results_filter(by_i, few), "034") && are(realm_results_filter(once, few), "0"));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_results_filter(three, few));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_results_filter(rest, few));

    realm_value_t v = of_int(1);
    realm_query_arg_t one = {1, false, &v};
    CHECK(are(realm_results_refine(by_i, "i <= $0", 1, &one), "034"));
    CHECK(are(realm_results_refine(once, "i <= $0", 1, &one), ""));
    CHECK(are(realm_results_refine(once, "TRUEPREDICATE OFFSET(1)", 0, NULL), "2"));
    CHECK(are(realm_results_refine(rest, "i <= $0", 1, &one), "4"));
    CHECK(are(realm_results_refine(three, "i <= $0 SORT(i ASC) LIMIT(1)", 1, &one), "3"));
    CHECK(are(realm_results_refine_format(three, "i <= %d", 1, &one), "03"));
    realm_results_t *two = realm_results_refine(three, "i <= 1", 0, NULL);
    realm_results_t *last = realm_results_limit(two, 1);
    CHECK(are(realm_clone(two), "03") && are(realm_clone(last), "0"));
    CHECK(are(realm_results_sort(two, "i ASC"), "30"));
    CHECK(are(realm_results_refine(last, "i == 3", 0, NULL), ""));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_results_filter(two, few));
    FAILS(RLM_ERR_INVALID_QUERY, realm_results_refine(two, "nothing == 1", 0, NULL));
    FAILS(RLM_ERR_INVALID_QUERY_STRING, realm_results_refine(two, "", 0, NULL));
    FAILS(RLM_ERR_INVALID_QUERY_ARG, realm_results_refine_format(two, "i <= %d", 0, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_results_refine(two, NULL, 0, NULL));
    /* The conditions of all steps, as ever without the order; they are live. */
    realm_query_t *conditions = realm_results_get_query(last);
    CHECK(finds(conditions, "034"));
    realm_results_t *kept = realm_results_snapshot(two);
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *dog = realm_get_object(realm, class_key(realm, "Dog"), 0);
    SUCCEEDS(realm_set_value(dog, key_of(realm, "i"), of_int(-1000), false));
    CHECK(are(realm_clone(two), "34") && are(realm_clone(kept), "03"));
    SUCCEEDS(realm_rollback(realm));
    CHECK(are(realm_clone(two), "03"));
    void *handles[] = {dog, kept, conditions, last, two, rest, three, once, by_i, all, few};
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++)
        realm_release(handles[i]);
    SUCCEEDS(realm_close(realm));
    realm_release(realm);
}

/* Queries see the state of their realm: its own changes at once, those of others after moving. */
static void executing(void) {
    realm_t *realm = open_world("executing.realm"), *other = open_world("executing.realm");
    fill(realm);
    realm_query_t *query = parsed(realm, "i > 0", 0, NULL), *there = parsed(other, "i > 0", 0, 0);
    CHECK(counted(query) == 2);
    SUCCEEDS(realm_refresh(other, NULL));
    CHECK(counted(there) == 2);
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *dog = realm_get_object(realm, class_key(realm, "Dog"), 2);
    SUCCEEDS(realm_set_value(dog, key_of(realm, "i"), of_int(8), false));
    CHECK(counted(query) == 3 && counted(there) == 2);
    SUCCEEDS(realm_rollback(realm));
    CHECK(counted(query) == 2);
    SUCCEEDS(realm_begin_write(realm));
    SUCCEEDS(realm_query_delete_all(query));
    CHECK(counted(query) == 0);
    SUCCEEDS(realm_commit(realm));
    CHECK(counted(there) == 2);
    SUCCEEDS(realm_refresh(other, NULL));
    CHECK(counted(there) == 0);
    realm_value_t v = of_int(77);
    bool found = true;
    SUCCEEDS(realm_query_find_first(there, &v, &found));
    CHECK(!found && v.integer == 77);
    /* LIMIT(0) does not count for the first one, but beside SORT and DISTINCT. */
    realm_query_t *none = parsed(realm, "TRUEPREDICATE LIMIT(0)", 0, NULL);
    SUCCEEDS(realm_query_find_first(none, &v, &found));
    CHECK(found && counted(none) == 0);
    const char *refined[] = {"TRUEPREDICATE SORT(i ASC) LIMIT(0)",
                             "TRUEPREDICATE LIMIT(0) SORT(i ASC)",
                             "TRUEPREDICATE DISTINCT(i) LIMIT(0)"};
    for (int i = 0; i < 3; i++) {
        realm_query_t *query = parsed(realm, refined[i], 0, NULL);
        SUCCEEDS(realm_query_find_first(query, &v, &found));
        CHECK(!found && counted(query) == 0);
        realm_release(query);
    }
    realm_query_t *limited = parsed(realm, "TRUEPREDICATE SORT(i DESC) LIMIT(1)", 0, NULL);
    SUCCEEDS(realm_begin_write(realm));
    SUCCEEDS(realm_query_delete_all(limited));
    CHECK(count_of(realm, "Dog") == 2);
    SUCCEEDS(realm_commit(realm));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_query_delete_all(limited));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_query_count(NULL, NULL));
    void *handles[] = {limited, none, dog, query, there, other, realm};
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++)
        realm_release(handles[i]);
}

int main(void) {
    refused_texts();
    public_class_names();
    arguments();
    combining();
    chains();
    executing();
    return check_end("query calls");
}
