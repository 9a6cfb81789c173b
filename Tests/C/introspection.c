/* Classes and properties of an open realm, by key and by name. */
#include "people.h"

static void cached_names_outlive_the_call(realm_t *realm, const keys_t *k) {
    realm_class_info_t a, b;
    CHECK(realm_get_class(realm, k->person, &a) && realm_get_class(realm, k->person, &b));
    CHECK(strcmp(a.name, "Person") == 0 && a.name == b.name);
}

/* A schema handle of a realm shows what the realm sees at the moment; a clone stays as it is. */
static void schema_is_a_live_view(void) {
    realm_config_t *config = realm_config_new();
    realm_config_set_path(config, "live.realm");
    realm_t *viewer = realm_open(config);
    CHECK(viewer && realm_begin_read(viewer));
    realm_schema_t *view = realm_get_schema(viewer), *copy = realm_clone(view);
    CHECK(realm_equals(view, copy) && realm_get_num_classes(viewer) == 0);
    realm_t *writer = open_people("live.realm");
    CHECK(realm_equals(view, copy));
    SUCCEEDS(realm_refresh(viewer, NULL));
    CHECK(realm_get_num_classes(viewer) == 3 && !realm_equals(view, copy));
    realm_schema_t *later = realm_get_schema(viewer);
    CHECK(realm_equals(view, later));
    CHECK(realm_close(viewer));
    CHECK(realm_equals(view, later) && !realm_equals(view, copy));
    realm_release(later);
    realm_release(copy);
    realm_release(view);
    realm_release(writer);
    realm_release(viewer);
    realm_release(config);
}

/* A program that lists the properties in another order sees them in its own; their keys and the
 * text of objects go by the file. */
static void order_is_that_of_the_program(void) {
    realm_property_info_t first[] = {
        property_of("x", RLM_PROPERTY_TYPE_INT, 0),
        property_of("y", RLM_PROPERTY_TYPE_STRING, 0),
        many_of("l", RLM_COLLECTION_TYPE_LIST, RLM_PROPERTY_TYPE_INT, 0, ""),
    };
    realm_property_info_t then[] = {first[2], first[1], first[0]};
    realm_class_info_t class = class_of("A", "", 3, 0);
    const realm_property_info_t *lists[] = {first}, *other[] = {then};
    realm_schema_t *declared = realm_schema_new(&class, 1, lists),
                   *reversed = realm_schema_new(&class, 1, other);
    realm_t *realm = open_with("order.realm", realm_clone(declared));
    realm_class_key_t key = class_key(realm, "A");
    realm_property_key_t x = property_key(realm, key, "x"), keys[3];
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *object = realm_object_create(realm, key);
    SUCCEEDS(realm_set_value(object, x, of_int(5), false));
    SUCCEEDS(realm_set_value(object, property_key(realm, key, "y"), of_text("t"), false));
    SUCCEEDS(realm_commit(realm));
    realm_release(object);
    realm_release(realm);
    realm = open_with("order.realm", realm_clone(reversed));
    SUCCEEDS(realm_get_property_keys(realm, key, keys, 3, NULL));
    CHECK(keys[2] == x && property_key(realm, key, "x") == x);
    object = realm_get_object(realm, key, 0);
    realm_value_t v;
    SUCCEEDS(realm_get_value_by_property_index(object, 0, &v));
    CHECK(v.type == RLM_TYPE_LIST);
    SUCCEEDS(realm_get_value_by_property_index(object, 1, &v));
    CHECK(is_text(v, "t"));
    SUCCEEDS(realm_get_value_by_property_index(object, 2, &v));
    CHECK(v.type == RLM_TYPE_INT && v.integer == 5);
    char *text = realm_object_to_string(object);
    CHECK(text && !strcmp(text, "{\"_key\":0,\"x\":5,\"y\":\"t\",\"l\":[]}"));
    realm_free(text);
    realm_schema_t *shown = realm_get_schema(realm);
    CHECK(realm_equals(shown, reversed) && !realm_equals(shown, declared));
    realm_release(shown);
    realm_release(object);
    realm_release(realm);
    /* Who asks for nothing gets the order of the file. */
    realm = open_with("order.realm", NULL);
    shown = realm_get_schema(realm);
    CHECK(realm_equals(shown, declared));
    realm_release(shown);
    realm_release(realm);
    realm_release(declared);
    realm_release(reversed);
}

int main(void) {
    order_is_that_of_the_program();
    schema_is_a_live_view();
    realm_t *realm = open_people("introspection.realm");
    keys_t k = keys_of(realm);
    bool found = true;
    size_t n = 0;
    realm_class_info_t class;
    realm_property_info_t info, all[20];
    realm_class_key_t classes[5] = {0};
    realm_property_key_t properties[20];

    CHECK(realm_get_num_classes(realm) == 3);
    SUCCEEDS(realm_get_class_keys(realm, classes, 2, &n));
    CHECK(n == 3 && classes[0] == 0);
    SUCCEEDS(realm_get_class_keys(realm, classes, 3, NULL));
    CHECK(classes[0] == k.dept && classes[1] == k.note && classes[2] == k.person);
    SUCCEEDS(realm_get_class_keys(realm, NULL, SIZE_MAX, &n));

    SUCCEEDS(realm_find_class(realm, "person", &found, &class));
    CHECK(!found);
    SUCCEEDS(realm_find_class(realm, "Person", NULL, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_find_class(realm, NULL, &found, &class));
    SUCCEEDS(realm_get_class(realm, k.person, &class));
    CHECK(strcmp(class.name, "Person") == 0 && strcmp(class.primary_key, "_id") == 0);
    CHECK(class.num_properties == 10 && class.num_computed_properties == 1 && class.flags == 0);
    SUCCEEDS(realm_get_class(realm, k.note, &class));
    CHECK(strcmp(class.primary_key, "") == 0);
    FAILS(RLM_ERR_NO_SUCH_TABLE, realm_get_class(realm, 12345, &class));
    FAILS(RLM_ERR_NO_SUCH_TABLE, realm_get_class(realm, RLM_INVALID_CLASS_KEY, &class));
    cached_names_outlive_the_call(realm, &k);

    SUCCEEDS(realm_get_class_properties(realm, k.person, all, 20, &n));
    CHECK(n == 11 && strcmp(all[0].name, "_id") == 0 && strcmp(all[10].name, "staff") == 0);
    CHECK(all[0].flags == RLM_PROPERTY_PRIMARY_KEY && all[1].flags == RLM_PROPERTY_INDEXED);
    CHECK(strcmp(all[2].public_name, "years") == 0 && all[2].flags == RLM_PROPERTY_NULLABLE);
    CHECK(strcmp(all[8].link_target, "Person") == 0 && all[8].type == RLM_PROPERTY_TYPE_OBJECT);
    CHECK(all[10].type == RLM_PROPERTY_TYPE_LINKING_OBJECTS &&
          all[10].collection_type == RLM_COLLECTION_TYPE_LIST &&
          strcmp(all[10].link_origin_property_name, "boss") == 0);
    all[0].name = NULL;
    SUCCEEDS(realm_get_class_properties(realm, k.person, all, 10, &n));
    CHECK(n == 11 && all[0].name == NULL);
    SUCCEEDS(realm_get_property_keys(realm, k.person, properties, 20, &n));
    CHECK(n == 11 && properties[0] == k.id && properties[10] == k.staff);
    FAILS(RLM_ERR_NO_SUCH_TABLE, realm_get_class_properties(realm, 999, all, 20, &n));
    FAILS(RLM_ERR_NO_SUCH_TABLE, realm_get_property_keys(realm, 999, properties, 20, &n));

    for (int i = 0; i < 11; i++) {
        SUCCEEDS(realm_get_property(realm, k.person, properties[i], &info));
        CHECK(info.key == properties[i]);
    }
    FAILS(RLM_ERR_INVALID_PROPERTY, realm_get_property(realm, k.person, -1, &info));
    FAILS(RLM_ERR_INVALID_PROPERTY, realm_get_property(realm, k.person, 77, &info));
    FAILS(RLM_ERR_INVALID_PROPERTY, realm_get_property(realm, k.note, k.age, &info));
    FAILS(RLM_ERR_NO_SUCH_TABLE, realm_get_property(realm, 999, k.age, &info));

    found = true;
    SUCCEEDS(realm_find_property(realm, k.person, "years", &found, &info));
    CHECK(!found);
    SUCCEEDS(realm_find_property_by_public_name(realm, k.person, "years", &found, &info));
    CHECK(found && info.key == k.age);
    SUCCEEDS(realm_find_property_by_public_name(realm, k.person, "age", &found, &info));
    CHECK(!found);
    SUCCEEDS(realm_find_property_by_public_name(realm, k.person, "name", &found, &info));
    CHECK(found && info.key == k.name);
    FAILS(RLM_ERR_NO_SUCH_TABLE, realm_find_property(realm, 999, "name", &found, &info));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_find_property(realm, k.person, NULL, &found, &info));

    SUCCEEDS(realm_find_primary_key_property(realm, k.person, &found, &info));
    CHECK(found && info.key == k.id);
    SUCCEEDS(realm_find_primary_key_property(realm, k.note, &found, &info));
    CHECK(!found);
    FAILS(RLM_ERR_NO_SUCH_TABLE, realm_find_primary_key_property(realm, 999, &found, &info));

    /* The schema of a realm is a view; a clone is a copy. */
    realm_schema_t *shown = realm_get_schema(realm), *copy = realm_clone(shown);
    realm_schema_t *asked = people_schema();
    CHECK(realm_equals(shown, asked) && realm_equals(copy, asked));
    CHECK(realm_schema_validate(shown, 0));
    realm_release(asked);
    realm_release(copy);
    realm_release(shown);
    realm_release(realm);
    return check_end("introspection");
}
