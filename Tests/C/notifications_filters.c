/* Contract 15.6: key path filters, of collections and of objects. */
#include "notices.h"

static realm_t *realm;
static loop_t loop;
static realm_class_key_t person, dept_class;

static realm_property_key_t key(const char *name) { return property_key(realm, person, name); }
static void set(realm_object_t *object, const char *name, realm_value_t value) {
    CHECK(realm_set_value(object, key(name), value, false));
}
static realm_object_t *make(int id) {
    realm_object_t *object = realm_object_create_with_primary_key(realm, person, of_int(id));
    CHECK(object);
    return object;
}
static realm_value_t to(realm_object_t *object) { return of_link(realm_object_as_link(object)); }
static realm_key_path_array_t *array(const char *path) {
    return realm_create_key_path_array(realm, person, 1, &path);
}

static void arrays(void) {
    const char *bad[] = {"nothing", "age", "name.age", "name.*", "dept.nothing", "dept.name.x",
                         "",        "dept.", ".name",  "*.nothing", "dept..name", "*.name.x"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        FAILS(RLM_ERR_INVALID_ARGUMENT, array(bad[i]));
    const char *good[] = {"name", "years",   "*",       "*.*",      "dept.*",  "*.name",
                          "dept", "dept.name", "staff", "staff.name", "dept.members.name",
                          "*.*.*", "boss.boss.boss.boss.boss.name"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        realm_key_path_array_t *paths = NULL;
        SUCCEEDS(paths = array(good[i]));
        FAILS(RLM_ERR_NOT_CLONABLE, realm_clone(paths));
        realm_release(paths);
    }
    FAILS(RLM_ERR_NO_SUCH_TABLE, realm_create_key_path_array(realm, 4711, 1, good));
    FAILS(RLM_ERR_INVALID_ARGUMENT, array(NULL));
    FAILS(RLM_ERR_LIMIT_EXCEEDED, array("*.*.*.*.*.*.*.*.*.*.*.*.*.*"));
    realm_key_path_array_t *empty = NULL;
    SUCCEEDS(empty = realm_create_key_path_array(realm, person, 0, good));
    realm_release(empty);
    SUCCEEDS(empty = realm_create_key_path_array(realm, person, 3, NULL));
    realm_release(empty);
}

enum { FILTERS = 9 };
static const char *filters[FILTERS] = {"name", "dept",  "dept.budget", "staff",       "staff.name",
                                       "*",    "*.name", "boss.boss.boss.boss.name", NULL};

static void told_all(notice_t *notices, const char *const *texts, int line) {
    for (int i = 0; i < FILTERS; i++) {
        if (strcmp(notices[i].calls ? notices[i].text : "", texts[i]) != 0)
            fprintf(stderr, "filter %s:\n", filters[i] ? filters[i] : "(empty)");
        told_at(&notices[i], texts[i], __FILE__, line);
    }
}
#define TOLD_ALL(notices, ...) told_all(notices, (const char *[FILTERS]){__VA_ARGS__}, __LINE__)

static void filtered(void) {
    realm_object_t *p[4], *dept = NULL, *chain[5];
    WRITE(realm, for (int i = 0; i < 4; i++) p[i] = make(i);
          dept = realm_object_create_with_primary_key(realm, dept_class, of_text("d"));
          for (int i = 0; i < 5; i++) chain[i] = make(100 + i);
          for (int i = 0; i < 4; i++) set(chain[i], "boss", to(chain[i + 1])));
    realm_query_t *query = realm_query_parse(realm, person, "_id < 101", 0, NULL);
    realm_results_t *results = realm_query_find_all(query); /* p0 p1 p2 p3 chain0 */
    notice_t n[FILTERS], o[FILTERS], unfiltered = {0};
    memset(n, 0, sizeof n);
    memset(o, 0, sizeof o);
    for (int i = 0; i < FILTERS; i++) {
        realm_key_path_array_t *paths = paths_of(realm, "Person", filters[i], NULL);
        watch_results(&n[i], results, paths);
        o[i].kind = 1;
        watch_object(&o[i], realm, p[0], paths);
        realm_release(paths);
    }
    watch_results(&unfiltered, results, NULL);
    turn(&loop);
    for (int i = 0; i < FILTERS; i++) {
        TOLD(n[i], "-");
        TOLD(o[i], "-");
    }
    TOLD(unfiltered, "-");
    /* A property of its own. */
    WRITE(realm, set(p[0], "name", of_text("x")));
    turn(&loop);
    TOLD_ALL(n, "m0", "", "", "", "", "m0", "", "", "");
    TOLD_ALL(o, "name", "", "", "", "", "name", "", "", "");
    TOLD(unfiltered, "m0");
    WRITE(realm, set(p[1], "score", of_double(1)));
    turn(&loop);
    TOLD_ALL(n, "", "", "", "", "", "m1", "", "", "");
    TOLD_ALL(o, "", "", "", "", "", "", "", "", "");
    TOLD(unfiltered, "m1");
    /* A link; every prefix of a path counts. */
    WRITE(realm, set(p[0], "dept", to(dept)));
    turn(&loop);
    TOLD_ALL(n, "", "m0", "m0", "", "", "m0", "m0", "", "");
    TOLD_ALL(o, "", "dept", "dept", "", "", "dept", "dept", "", "");
    unfiltered.calls = 0;
    WRITE(realm, CHECK(realm_set_value(dept, property_key(realm, dept_class, "budget"), of_int(9),
                                       false)));
    turn(&loop);
    TOLD_ALL(n, "", "", "m0", "", "", "", "", "", "");
    TOLD_ALL(o, "", "", "dept", "", "", "", "", "", "");
    TOLD(unfiltered, "m0");
    /* Linking objects: p2 becomes staff of p0. */
    WRITE(realm, set(p[2], "boss", to(p[0])));
    turn(&loop);
    TOLD_ALL(n, "", "", "", "m0", "m0", "m0 m2", "m0 m2", "m2", "");
    TOLD_ALL(o, "", "", "", "staff", "staff", "staff", "staff", "", "");
    TOLD(unfiltered, "m2"); /* backlinks are not followed without a filter */
    WRITE(realm, set(p[2], "name", of_text("y")));
    turn(&loop);
    TOLD_ALL(n, "m2", "", "", "", "m0", "m2", "m0", "", "");
    TOLD_ALL(o, "", "", "", "", "staff", "", "staff", "", "");
    unfiltered.calls = 0;
    /* One that is new; insertions are told whatever the filter. */
    realm_object_t *fresh = NULL;
    WRITE(realm, fresh = make(50); set(fresh, "boss", to(p[1])));
    turn(&loop);
    TOLD_ALL(n, "i4", "i4", "i4", "i4 m1", "i4 m1", "i4 m1", "i4 m1", "i4", "i4");
    TOLD_ALL(o, "", "", "", "", "", "", "", "", "");
    unfiltered.calls = 0;
    /* As deep as the path: four links from chain 0. */
    WRITE(realm, set(chain[4], "name", of_text("z")));
    turn(&loop);
    TOLD_ALL(n, "", "", "", "", "", "", "", "m5", "");
    TOLD(unfiltered, "");
    WRITE(realm, set(chain[3], "boss", of_null()));
    turn(&loop);
    TOLD_ALL(n, "", "", "", "", "", "", "", "m5", "");
    TOLD(unfiltered, "m5");
    /* Deletions are told, too, and of objects that alone with the empty filter. */
    WRITE(realm, CHECK(realm_object_delete(p[0])));
    turn(&loop);
    TOLD_ALL(o, "deleted", "deleted", "deleted", "deleted", "deleted", "deleted", "deleted",
             "deleted", "deleted");
    TOLD(n[0], "d0");
    TOLD(n[8], "d0");
    TOLD(unfiltered, "d0 m2>1");
    for (int i = 0; i < FILTERS; i++) {
        realm_release(n[i].token);
        realm_release(o[i].token);
        CHECK(n[i].freed == 1 && o[i].freed == 1);
    }
    realm_release(unfiltered.token);
    for (int i = 0; i < 4; i++)
        realm_release(p[i]);
    for (int i = 0; i < 5; i++)
        realm_release(chain[i]);
    realm_release(dept);
    realm_release(fresh);
    realm_release(query);
    realm_release(results);
}

static void of_collections(void) {
    loop_t its_loop = {0};
    realm_t *things = open_looped_things("filtered.realm", &its_loop);
    realm_object_t *thing = NULL, *a = NULL, *b = NULL;
    WRITE(things, thing = make_thing(things, "o"); a = make_thing(things, "a");
          b = make_thing(things, "b"));
    realm_list_t *friends = list_of(things, thing, "friends");
    realm_list_t *ints = list_of(things, thing, "ints");
    realm_list_t *deep = list_of(things, a, "friends");
    WRITE(things, CHECK(realm_list_insert(friends, 0, link_to(a)));
          CHECK(realm_list_insert(friends, 1, link_to(b)));
          CHECK(realm_list_insert(ints, 0, of_int(1))));
    realm_key_path_array_t *none = paths_of(things, "Thing", NULL, NULL);
    realm_key_path_array_t *name = paths_of(things, "Thing", "name", NULL);
    realm_key_path_array_t *two = paths_of(things, "Thing", "friends.name", "ints");
    realm_key_path_array_t *wrong = paths_of(things, "Keyed", "list", NULL);
    notice_t n = {0}, m = {0}, k = {0}, i = {0};
    FAILS(RLM_ERR_INVALID_ARGUMENT,
          realm_list_add_notification_callback(friends, &n, free_notice, wrong, on_elements));
    CHECK(n.freed == 1);
    watch_list(&n, friends, none);
    watch_list(&m, friends, name);
    watch_list(&k, friends, two);
    watch_list(&i, ints, none);
    turn(&its_loop);
    n.calls = m.calls = k.calls = i.calls = 0;
    WRITE(things, CHECK(realm_set_value(a, thing_key(things, "name"), of_text("new"), false)));
    turn(&its_loop);
    TOLD(n, "");
    TOLD(m, "m0");
    TOLD(k, "");
    WRITE(things, CHECK(realm_list_insert(deep, 0, link_to(b)))); /* membership of a path's list */
    turn(&its_loop);
    TOLD(m, "");
    TOLD(k, "m0");
    WRITE(things, CHECK(realm_set_value(b, thing_key(things, "name"), of_text("new"), false)));
    turn(&its_loop);
    TOLD(m, "m1");
    TOLD(k, "m0");
    /* Filters have no effect on primitives; membership is told whatever they are. */
    WRITE(things, CHECK(realm_list_set(ints, 0, of_int(2))); CHECK(realm_list_erase(friends, 1)));
    turn(&its_loop);
    TOLD(i, "m0");
    TOLD(n, "d1");
    TOLD(m, "d1");
    TOLD(k, "d1");
    void *all[] = {n.token, m.token, k.token, i.token, none, name, two,   wrong,
                   friends, ints,    deep,    thing,   a,    b,    things};
    for (size_t j = 0; j < sizeof all / sizeof *all; j++)
        realm_release(all[j]);
    CHECK(loop_ended(&its_loop));
}

static realm_schema_t *two_classes(bool updated) {
    realm_property_info_t from[] = {property_of("n", RLM_PROPERTY_TYPE_INT, 0), link_of("b", "B"),
                                    link_of("other", "B")};
    realm_property_info_t as = backlinks_of("as", "A", "b"), others = backlinks_of("others", "A", "other");
    realm_property_info_t before[] = {property_of("m", RLM_PROPERTY_TYPE_INT, 0), as};
    realm_property_info_t after[] = {property_of("m", RLM_PROPERTY_TYPE_INT, 0), others, as};
    realm_class_info_t classes[] = {class_of("A", "", 3, 0), class_of("B", "", 1, updated ? 2 : 1)};
    const realm_property_info_t *properties[] = {from, updated ? after : before};
    return realm_schema_new(classes, 2, properties);
}

static void note_first(void *userdata, const realm_object_changes_t *changes) {
    realm_property_key_t *first = userdata;
    *first = 0;
    CHECK(realm_object_changes_get_modified_properties(changes, first, 1) <= 1);
}

/* Computed properties keep their keys when a schema has more of them before them. */
static void of_computed_properties(void) {
    loop_t own = {0};
    realm_config_t *config = config_with("computed.realm", two_classes(false));
    realm_config_set_schema_mode(config, RLM_SCHEMA_MODE_ADDITIVE_DISCOVERED);
    realm_t *opened = open_looped(config, &own);
    realm_class_key_t a_class = class_key(opened, "A"), b_class = class_key(opened, "B");
    SUCCEEDS(realm_begin_write(opened));
    realm_object_t *a = realm_object_create(opened, a_class), *b = realm_object_create(opened, b_class);
    SUCCEEDS(realm_set_value(a, property_key(opened, a_class, "b"), to(b), false));
    SUCCEEDS(realm_commit(opened));
    realm_property_key_t first = 0;
    realm_notification_token_t *token = realm_object_add_notification_callback(
        b, &first, NULL, paths_of(opened, "B", "as.n", NULL), note_first);
    CHECK(token);
    turn(&own);
    for (int updated = 0; updated < 2; updated++) {
        if (updated) {
            realm_schema_t *schema = two_classes(true);
            SUCCEEDS(realm_update_schema(opened, schema));
            realm_release(schema);
        }
        SUCCEEDS(realm_begin_write(opened));
        SUCCEEDS(realm_set_value(a, property_key(opened, a_class, "n"), of_int(1 + updated), false));
        SUCCEEDS(realm_commit(opened));
        turn(&own);
        CHECK(first && first == property_key(opened, b_class, "as"));
        realm_property_info_t info;
        SUCCEEDS(realm_get_property(opened, b_class, first, &info));
        CHECK(!strcmp(info.name, "as"));
    }
    CHECK(property_key(opened, b_class, "others") != property_key(opened, b_class, "as"));
    realm_release(token);
    realm_release(a);
    realm_release(b);
    realm_release(opened);
    CHECK(loop_ended(&own));
}

int main(void) {
    realm = open_looped(config_with("filters.realm", people_schema()), &loop);
    person = class_key(realm, "Person");
    dept_class = class_key(realm, "Dept");
    arrays();
    filtered();
    of_collections();
    of_computed_properties();
    realm_release(realm);
    return check_end("notifications_filters");
}
