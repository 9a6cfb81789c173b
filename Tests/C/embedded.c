/* Embedded objects: made in their owner, deleted with it, never without one. */
#include "things.h"

static bool is_owned_by(realm_object_t *part, realm_object_t *owner) {
    realm_object_t *parent = NULL;
    realm_class_key_t class = 0;
    SUCCEEDS(realm_object_get_parent(part, &parent, &class));
    bool same = parent && realm_equals(parent, owner) && class == realm_object_get_table(owner);
    realm_release(parent);
    return same;
}

static bool contains(const char *text, const char *part) {
    if (text && strstr(text, part))
        return true;
    fprintf(stderr, "no %s in %s\n", part, text ? text : "NULL");
    return false;
}

/* Collections and embedded objects in the text of an object, and by position. */
static void as_text(realm_t *realm) {
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *a = make_thing(realm, "a"), *b = make_thing(realm, "b");
    realm_object_t *part = realm_set_embedded(a, thing_key(realm, "part"));
    CHECK(realm_set_value(part, property_key(realm, class_key(realm, "Part"), "note"),
                          of_text("n"), false));
    realm_list_t *ints = list_of(realm, a, "ints"), *friends = list_of(realm, a, "friends"),
                 *anys = list_of(realm, a, "anys");
    realm_set_t *tags = set_of(realm, a, "tags");
    realm_dictionary_t *labels = dictionary_of(realm, a, "labels");
    CHECK(realm_list_insert(ints, 0, of_int(1)) && realm_list_insert(ints, 1, of_int(2)));
    CHECK(realm_list_insert(friends, 0, link_to(b)) && realm_list_insert(anys, 0, link_to(b)));
    CHECK(realm_set_insert(tags, of_text("t"), NULL, NULL));
    CHECK(realm_dictionary_insert(labels, of_text("k\""), of_null(), NULL, NULL));
    CHECK(realm_dictionary_insert(labels, of_text("l"), of_text("v"), NULL, NULL));
    long long key = (long long)realm_object_get_key(b);
    char link[100], mixed[100];
    snprintf(link, sizeof link, "\"friends\":[%lld]", key);
    snprintf(mixed, sizeof mixed,
             "\"anys\":[{ \"$link\": {\"table\": \"Thing\", \"key\": %lld}}]", key);
    char *text = realm_object_to_string(a);
    CHECK(contains(text, "\"part\":{\"note\":\"n\",\"inner\":null,\"screws\":[],"
                         "\"made_by\":null}"));
    CHECK(contains(text, "\"ints\":[1,2]") && contains(text, "\"maybes\":[]"));
    CHECK(contains(text, link) && contains(text, mixed));
    CHECK(contains(text, "\"tags\":[\"t\"]"));
    CHECK(contains(text, "\"labels\":{\"k\\\"\":null,\"l\":\"v\"}"));
    realm_free(text);
    realm_value_t v;
    SUCCEEDS(realm_get_value_by_property_index(a, 3, &v));
    CHECK(v.type == RLM_TYPE_LIST);
    SUCCEEDS(realm_get_value_by_property_index(a, 13, &v));
    CHECK(v.type == RLM_TYPE_DICTIONARY);
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_get_value_by_property_index(a, 9, &v));
    SUCCEEDS(realm_rollback(realm));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_get_value_by_property_index(a, 3, &v));
    realm_release(labels);
    realm_release(tags);
    realm_release(anys);
    realm_release(friends);
    realm_release(ints);
    realm_release(part);
    realm_release(a);
    realm_release(b);
}

int main(void) {
    realm_t *realm = open_things("embedded.realm");
    realm_class_key_t part_class = class_key(realm, "Part");
    realm_property_key_t part_key = thing_key(realm, "part"),
                         inner_key = property_key(realm, part_class, "inner"),
                         note_key = property_key(realm, part_class, "note");
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_object_create(realm, part_class));
    SUCCEEDS(realm_begin_write(realm));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_object_create(realm, part_class));
    FAILS(RLM_ERR_UNEXPECTED_PRIMARY_KEY,
          realm_object_create_with_primary_key(realm, part_class, of_int(1)));
    realm_object_t *thing = make_thing(realm, "a"), *other = make_thing(realm, "b");
    FAILS(RLM_ERR_TOP_LEVEL_OBJECT, realm_object_get_parent(thing, NULL, NULL));

    /* In a link. */
    realm_object_t *part = realm_set_embedded(thing, part_key);
    CHECK(part && is_owned_by(part, thing));
    SUCCEEDS(realm_object_get_parent(part, NULL, NULL));
    SUCCEEDS(realm_set_value(part, note_key, of_text("first"), false));
    realm_object_t *screw = realm_set_embedded(part, inner_key);
    CHECK(screw && is_owned_by(screw, part) && count_of(realm, "Screw") == 1);
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_set_value(other, part_key, link_to(part), false));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_set_value(thing, part_key, link_to(part), false));
    realm_object_t *next = realm_set_embedded(thing, part_key);
    CHECK(next && !realm_object_is_valid(part) && !realm_object_is_valid(screw));
    FAILS(RLM_ERR_NO_SUCH_OBJECT, realm_object_get_parent(part, NULL, NULL));
    CHECK(count_of(realm, "Part") == 1 && count_of(realm, "Screw") == 0);
    realm_value_t v;
    SUCCEEDS(realm_object_delete(next));
    SUCCEEDS(realm_get_value(thing, part_key, &v));
    CHECK(v.type == RLM_TYPE_NULL);
    realm_release(next);
    next = realm_set_embedded(thing, part_key);
    SUCCEEDS(realm_set_value(thing, part_key, of_null(), false));
    CHECK(!realm_object_is_valid(next) && count_of(realm, "Part") == 0);
    realm_release(next);
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_set_embedded(thing, thing_key(realm, "name")));
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_set_embedded(thing, thing_key(realm, "parts")));
    FAILS(RLM_ERR_INVALID_PROPERTY, realm_set_embedded(thing, -1));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_set_embedded(thing, thing_key(realm, "other")));

    /* In lists. */
    realm_list_t *parts = list_of(realm, thing, "parts");
    realm_release(part);
    part = realm_list_insert_embedded(parts, 0);
    CHECK(part && is_owned_by(part, thing));
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_list_insert_embedded(parts, 2));
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_list_set_embedded(parts, 1));
    CHECK(count_of(realm, "Part") == 1);
    next = realm_list_insert_embedded(parts, 0);
    realm_list_t *screws = realm_get_list(next, property_key(realm, part_class, "screws"));
    CHECK(screws != NULL);
    for (size_t i = 0; i < 10; i++)
        realm_release(realm_list_insert_embedded(screws, i));
    CHECK(count_of(realm, "Screw") == 10);
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_list_insert(parts, 0, link_to(part)));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_list_set(parts, 0, link_to(part)));
    realm_list_t *anys = list_of(realm, thing, "anys");
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_list_insert(anys, 0, link_to(part)));
    realm_release(anys);
    realm_object_t *same = realm_list_get_linked_object(parts, 1);
    CHECK(same && realm_equals(same, part));
    realm_release(same);
    SUCCEEDS(realm_list_move(parts, 0, 1));
    CHECK(realm_object_is_valid(next) && realm_object_is_valid(part));
    same = realm_list_set_embedded(parts, 1);
    CHECK(same && !realm_object_is_valid(next) && count_of(realm, "Screw") == 0);
    CHECK(!realm_list_is_valid(screws));
    realm_release(same);
    SUCCEEDS(realm_object_delete(part));
    CHECK(size_of_list(parts) == 1);
    SUCCEEDS(realm_list_erase(parts, 0));
    CHECK(count_of(realm, "Part") == 0);
    for (size_t i = 0; i < 5; i++)
        realm_release(realm_list_insert_embedded(parts, i));
    SUCCEEDS(realm_list_clear(parts));
    CHECK(count_of(realm, "Part") == 0);
    realm_release(realm_list_insert_embedded(parts, 0));
    SUCCEEDS(realm_list_remove_all(parts));
    CHECK(count_of(realm, "Part") == 0 && size_of_list(parts) == 0);

    /* In dictionaries. */
    realm_dictionary_t *by_name = dictionary_of(realm, thing, "parts_by_name");
    realm_release(part);
    part = realm_dictionary_insert_embedded(by_name, of_text("x"));
    CHECK(part && is_owned_by(part, thing));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_dictionary_insert_embedded(by_name, of_int(1)));
    FAILS(RLM_ERR_INVALID_DICTIONARY_KEY,
          realm_dictionary_insert_embedded(by_name, of_text("$")));
    FAILS(RLM_ERR_ILLEGAL_OPERATION,
          realm_dictionary_insert(by_name, of_text("y"), link_to(part), NULL, NULL));
    same = realm_dictionary_insert_embedded(by_name, of_text("x"));
    CHECK(same && !realm_object_is_valid(part) && count_of(realm, "Part") == 1);
    SUCCEEDS(realm_dictionary_insert(by_name, of_text("x"), of_null(), NULL, NULL));
    CHECK(count_of(realm, "Part") == 0 && !realm_object_is_valid(same));
    realm_release(same);
    realm_release(realm_dictionary_insert_embedded(by_name, of_text("x")));
    realm_release(realm_dictionary_insert_embedded(by_name, of_text("y")));
    SUCCEEDS(realm_dictionary_erase(by_name, of_text("x"), NULL));
    CHECK(count_of(realm, "Part") == 1);
    SUCCEEDS(realm_dictionary_clear(by_name));
    CHECK(count_of(realm, "Part") == 0);

    /* With their owner; also after the transaction. */
    realm_release(realm_dictionary_insert_embedded(by_name, of_text("x")));
    realm_release(realm_list_insert_embedded(parts, 0));
    realm_release(part);
    part = realm_set_embedded(thing, part_key);
    realm_release(screw);
    screw = realm_set_embedded(part, inner_key);
    SUCCEEDS(realm_commit(realm));
    CHECK(count_of(realm, "Part") == 3 && count_of(realm, "Screw") == 1);
    CHECK(is_owned_by(part, thing) && is_owned_by(screw, part));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_set_embedded(thing, part_key));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_list_insert_embedded(parts, 0));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_list_set_embedded(parts, 0));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE,
          realm_dictionary_insert_embedded(by_name, of_text("x")));
    SUCCEEDS(realm_begin_write(realm));
    SUCCEEDS(realm_object_delete(thing));
    CHECK(count_of(realm, "Part") == 0 && count_of(realm, "Screw") == 0);
    CHECK(!realm_object_is_valid(screw));
    SUCCEEDS(realm_rollback(realm));
    CHECK(realm_object_is_valid(screw) && is_owned_by(screw, part));
    as_text(realm);
    realm_release(screw);
    realm_release(part);
    realm_release(by_name);
    realm_release(screws);
    realm_release(next);
    realm_release(parts);
    realm_release(thing);
    realm_release(other);
    realm_release(realm);
    return check_end("embedded");
}
