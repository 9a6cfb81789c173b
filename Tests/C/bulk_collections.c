/* Lists, sets and dictionaries read many elements at a time. */
#include "things.h"

enum { ELEMENTS = 5000 };

static realm_value_t values[ELEMENTS + 10], keys[ELEMENTS + 10];

static bool is_number(realm_value_t value, size_t number) {
    char text[16];
    int size = snprintf(text, sizeof text, "%05zu", number);
    return value.type == RLM_TYPE_STRING && value.string.size == (size_t)size &&
           memcmp(value.string.data, text, (size_t)size) == 0;
}

static void fill(realm_list_t *ints, realm_list_t *names, realm_set_t *tags,
                 realm_dictionary_t *labels) {
    char text[16];
    for (size_t i = 0; i < ELEMENTS; i++) {
        snprintf(text, sizeof text, "%05zu", i);
        SUCCEEDS(realm_list_insert(ints, i, of_int((int64_t)i * 3)));
        SUCCEEDS(realm_list_insert(names, i, of_text(text)));
        SUCCEEDS(realm_set_insert(tags, of_text(text), NULL, NULL));
        realm_value_t value = i % 7 ? of_text(text) : (realm_value_t){.type = RLM_TYPE_NULL};
        SUCCEEDS(realm_dictionary_insert(labels, of_text(text), value, NULL, NULL));
    }
}

/* The same in a write transaction and out of it. */
static void read_all(realm_list_t *ints, realm_list_t *names, realm_set_t *tags,
                     realm_dictionary_t *labels) {
    size_t count = SIZE_MAX;
    SUCCEEDS(realm_list_get_values(ints, 0, ELEMENTS + 10, values, &count));
    CHECK(count == ELEMENTS);
    for (size_t i = 0; i < count; i++) {
        CHECK(values[i].type == RLM_TYPE_INT && values[i].integer == (int64_t)i * 3);
    }
    SUCCEEDS(realm_list_get_values(names, 1000, 100, values, &count));
    CHECK(count == 100);
    for (size_t i = 0; i < count; i++) CHECK(is_number(values[i], 1000 + i));
    SUCCEEDS(realm_set_get_values(tags, ELEMENTS - 5, 100, values, &count));
    CHECK(count == 5);
    for (size_t i = 0; i < count; i++) CHECK(is_number(values[i], ELEMENTS - 5 + i));
    SUCCEEDS(realm_dictionary_get_entries(labels, 7, 3000, keys, values, &count));
    CHECK(count == 3000);
    for (size_t i = 0; i < count; i++) {
        CHECK(is_number(keys[i], 7 + i));
        CHECK(i % 7 ? is_number(values[i], 7 + i) : values[i].type == RLM_TYPE_NULL);
    }
    SUCCEEDS(realm_dictionary_get_entries(labels, 1, 2, keys, NULL, &count));
    CHECK(count == 2 && is_number(keys[0], 1));
    SUCCEEDS(realm_dictionary_get_entries(labels, 1, 2, NULL, values, NULL));
    CHECK(is_number(values[1], 2));
    /* Behind the end there is nothing, which is no failure. */
    SUCCEEDS(realm_list_get_values(ints, ELEMENTS, 1, values, &count));
    CHECK(count == 0);
    SUCCEEDS(realm_list_get_values(ints, ELEMENTS + 99, 1, values, &count));
    CHECK(count == 0);
    SUCCEEDS(realm_list_get_values(ints, 0, 0, NULL, &count));
    CHECK(count == 0);
    count = 1;
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_list_get_values(ints, 0, 1, NULL, &count));
    CHECK(count == 0);
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_dictionary_get_entries(labels, 0, 1, NULL, NULL, NULL));
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_list_get_values(ints, SIZE_MAX, 1, values, &count));
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_set_get_values(tags, 0, SIZE_MAX, values, &count));
    FAILS(RLM_ERR_INVALID_ARGUMENT,
          realm_list_get_values((realm_list_t *)tags, 0, 1, values, &count));
}

int main(void) {
    realm_t *realm = open_things("bulk_collections.realm");
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *thing = make_thing(realm, "a");
    realm_list_t *ints = list_of(realm, thing, "ints"), *names = list_of(realm, thing, "names"),
                 *anys = list_of(realm, thing, "anys");
    realm_set_t *tags = set_of(realm, thing, "tags");
    realm_dictionary_t *labels = dictionary_of(realm, thing, "labels");
    fill(ints, names, tags, labels);
    realm_list_t *inner = realm_list_insert_list(anys, 0);
    SUCCEEDS(realm_list_insert(inner, 0, of_int(1)));
    SUCCEEDS(realm_list_insert(inner, 1, of_text("two")));
    read_all(ints, names, tags, labels);
    SUCCEEDS(realm_commit(realm));
    read_all(ints, names, tags, labels);
    size_t count = 0;
    SUCCEEDS(realm_list_get_values(anys, 0, 9, values, &count));
    CHECK(count == 1 && values[0].type == RLM_TYPE_LIST);
    SUCCEEDS(realm_list_get_values(inner, 0, 9, values, &count));
    CHECK(count == 2 && values[0].integer == 1 && values[1].type == RLM_TYPE_STRING);

    SUCCEEDS(realm_begin_write(realm));
    SUCCEEDS(realm_object_delete(thing));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_list_get_values(ints, 0, 1, values, &count));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_set_get_values(tags, 0, 1, values, &count));
    FAILS(RLM_ERR_INVALIDATED_OBJECT,
          realm_dictionary_get_entries(labels, 0, 1, keys, values, &count));
    SUCCEEDS(realm_commit(realm));
    realm_release(ints);
    realm_release(names);
    realm_release(tags);
    realm_release(labels);
    realm_release(inner);
    realm_release(anys);
    realm_release(thing);
    realm_release(realm);
    return check_end("bulk_collections");
}
