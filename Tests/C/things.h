/* A realm that the tests of collections share: things with lists, sets and dictionaries, and the
 * embedded parts that they own. */
#ifndef THINGS_H
#define THINGS_H

#include "people.h"

static inline realm_config_t *things_config(const char *path) {
    const int nullable = RLM_PROPERTY_NULLABLE;
    const realm_collection_type_e list = RLM_COLLECTION_TYPE_LIST, set = RLM_COLLECTION_TYPE_SET,
                                  dictionary = RLM_COLLECTION_TYPE_DICTIONARY;
    realm_property_info_t thing[] = {
        property_of("name", RLM_PROPERTY_TYPE_STRING, 0),
        link_of("part", "Part"),
        link_of("other", "Thing"),
        many_of("ints", list, RLM_PROPERTY_TYPE_INT, 0, ""),
        many_of("maybes", list, RLM_PROPERTY_TYPE_INT, nullable, ""),
        many_of("names", list, RLM_PROPERTY_TYPE_STRING, 0, ""),
        many_of("anys", list, RLM_PROPERTY_TYPE_MIXED, nullable, ""),
        many_of("friends", list, RLM_PROPERTY_TYPE_OBJECT, 0, "Thing"),
        many_of("parts", list, RLM_PROPERTY_TYPE_OBJECT, 0, "Part"),
        many_of("tags", set, RLM_PROPERTY_TYPE_STRING, 0, ""),
        many_of("numbers", set, RLM_PROPERTY_TYPE_INT, nullable, ""),
        many_of("mixture", set, RLM_PROPERTY_TYPE_MIXED, nullable, ""),
        many_of("peers", set, RLM_PROPERTY_TYPE_OBJECT, 0, "Thing"),
        many_of("scores", dictionary, RLM_PROPERTY_TYPE_INT, 0, ""),
        many_of("labels", dictionary, RLM_PROPERTY_TYPE_STRING, nullable, ""),
        many_of("links", dictionary, RLM_PROPERTY_TYPE_OBJECT, nullable, "Thing"),
        many_of("parts_by_name", dictionary, RLM_PROPERTY_TYPE_OBJECT, nullable, "Part"),
        many_of("values", dictionary, RLM_PROPERTY_TYPE_MIXED, nullable, ""),
        many_of("doubles", list, RLM_PROPERTY_TYPE_DOUBLE, nullable, ""),
    };
    realm_property_info_t part[] = {
        property_of("note", RLM_PROPERTY_TYPE_STRING, 0),
        link_of("inner", "Screw"),
        many_of("screws", list, RLM_PROPERTY_TYPE_OBJECT, 0, "Screw"),
        link_of("made_by", "Thing"),
    };
    realm_property_info_t screw[] = {
        property_of("size", RLM_PROPERTY_TYPE_INT, 0),
    };
    realm_property_info_t keyed[] = {
        property_of("_id", RLM_PROPERTY_TYPE_INT, RLM_PROPERTY_PRIMARY_KEY),
        many_of("all", dictionary, RLM_PROPERTY_TYPE_OBJECT, nullable, "Keyed"),
        many_of("list", list, RLM_PROPERTY_TYPE_OBJECT, 0, "Keyed"),
    };
    realm_class_info_t classes[] = {
        class_of("Thing", "", sizeof thing / sizeof *thing, 0),
        class_of("Part", "", sizeof part / sizeof *part, 0),
        class_of("Keyed", "_id", sizeof keyed / sizeof *keyed, 0),
        class_of("Screw", "", sizeof screw / sizeof *screw, 0),
    };
    classes[1].flags = RLM_CLASS_EMBEDDED;
    classes[3].flags = RLM_CLASS_EMBEDDED;
    const realm_property_info_t *properties[] = {thing, part, keyed, screw};
    realm_schema_t *schema = realm_schema_new(classes, 4, properties);
    return config_with(path, schema);
}

static inline realm_t *open_things(const char *path) {
    return open_or_exit(things_config(path));
}

/* A property of class Thing. */
static inline realm_property_key_t thing_key(realm_t *realm, const char *name) {
    return property_key(realm, class_key(realm, "Thing"), name);
}
static inline realm_object_t *make_thing(realm_t *realm, const char *name) {
    realm_object_t *thing = realm_object_create(realm, class_key(realm, "Thing"));
    CHECK(thing && realm_set_value(thing, thing_key(realm, "name"), of_text(name), false));
    return thing;
}
static inline realm_list_t *list_of(realm_t *realm, realm_object_t *thing, const char *name) {
    realm_list_t *list = realm_get_list(thing, thing_key(realm, name));
    CHECK(list != NULL);
    return list;
}
static inline realm_set_t *set_of(realm_t *realm, realm_object_t *thing, const char *name) {
    realm_set_t *set = realm_get_set(thing, thing_key(realm, name));
    CHECK(set != NULL);
    return set;
}
static inline realm_dictionary_t *dictionary_of(realm_t *realm, realm_object_t *thing,
                                                const char *name) {
    realm_dictionary_t *dictionary = realm_get_dictionary(thing, thing_key(realm, name));
    CHECK(dictionary != NULL);
    return dictionary;
}
static inline realm_value_t link_to(const realm_object_t *object) {
    return of_link(realm_object_as_link(object));
}
static inline size_t size_of_list(const realm_list_t *list) {
    size_t size = SIZE_MAX;
    SUCCEEDS(realm_list_size(list, &size));
    return size;
}
static inline size_t size_of_set(const realm_set_t *set) {
    size_t size = SIZE_MAX;
    SUCCEEDS(realm_set_size(set, &size));
    return size;
}
static inline size_t size_of_dictionary(const realm_dictionary_t *dictionary) {
    size_t size = SIZE_MAX;
    SUCCEEDS(realm_dictionary_size(dictionary, &size));
    return size;
}
static inline size_t count_results(realm_results_t *results) {
    size_t count = SIZE_MAX;
    SUCCEEDS(realm_results_count(results, &count));
    return count;
}
static inline bool is_valid(const realm_results_t *results) {
    bool valid = false;
    SUCCEEDS(realm_results_is_valid(results, &valid));
    return valid;
}
static inline size_t count_of(realm_t *realm, const char *class) {
    size_t count = SIZE_MAX;
    CHECK(realm_get_num_objects(realm, class_key(realm, class), &count));
    return count;
}

#endif
