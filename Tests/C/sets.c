/* Sets: order, equality, links, and every way to do it wrong. */
#include "things.h"

static void texts(void) {
    realm_t *realm = open_things("texts.realm");
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *thing = make_thing(realm, "a");
    realm_set_t *tags = set_of(realm, thing, "tags");
    const char *words[] = {"b", "B", "\xc3\xa9", "a", "", "aa"};
    const char *sorted[] = {"", "B", "a", "aa", "b", "\xc3\xa9"};
    size_t index;
    bool inserted, found;
    for (int i = 0; i < 6; i++) {
        SUCCEEDS(realm_set_insert(tags, of_text(words[i]), &index, &inserted));
        CHECK(inserted);
    }
    for (size_t i = 0; i < 6; i++) {
        realm_value_t v;
        CHECK(realm_set_get(tags, i, &v) && is_text(v, sorted[i]));
        SUCCEEDS(realm_set_insert(tags, of_text(sorted[i]), &index, &inserted));
        CHECK(index == i && !inserted);
        SUCCEEDS(realm_set_find(tags, of_text(sorted[i]), &index, &found));
        CHECK(index == i && found);
    }
    SUCCEEDS(realm_set_find(tags, of_text("c"), &index, &found));
    CHECK(index == SIZE_MAX && !found);
    /* What cannot be an element is not found, but cannot be inserted. */
    SUCCEEDS(realm_set_find(tags, of_int(1), &index, &found));
    CHECK(index == SIZE_MAX && !found);
    SUCCEEDS(realm_set_find(tags, of_null(), &index, &found));
    CHECK(index == SIZE_MAX && !found);
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_set_insert(tags, of_int(1), NULL, NULL));
    FAILS(RLM_ERR_PROPERTY_NOT_NULLABLE, realm_set_insert(tags, of_null(), NULL, NULL));
    bool erased = true;
    SUCCEEDS(realm_set_erase(tags, of_int(1), &erased));
    CHECK(!erased);
    SUCCEEDS(realm_set_erase(tags, of_text("c"), &erased));
    CHECK(!erased);
    SUCCEEDS(realm_set_erase(tags, of_text("aa"), &erased));
    CHECK(erased && size_of_set(tags) == 5);
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_set_get(tags, 5, NULL));
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_set_get(tags, SIZE_MAX, NULL));
    SUCCEEDS(realm_commit(realm));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_set_insert(tags, of_text("x"), NULL, NULL));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_set_erase(tags, of_text("x"), NULL));
    SUCCEEDS(realm_set_erase(tags, of_int(1), &erased));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_set_clear(tags));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_set_remove_all(tags));
    realm_property_info_t info;
    SUCCEEDS(realm_set_get_property(tags, &info));
    CHECK(!strcmp(info.name, "tags") && info.collection_type == RLM_COLLECTION_TYPE_SET);
    realm_set_t *copy = realm_clone(tags);
    CHECK(copy && realm_equals(copy, tags) && !realm_is_frozen(copy));
    realm_t *frozen = realm_freeze(realm);
    realm_set_t *still = NULL;
    SUCCEEDS(realm_set_resolve_in(copy, frozen, &still));
    SUCCEEDS(realm_begin_write(realm));
    SUCCEEDS(realm_set_clear(tags));
    CHECK(size_of_set(copy) == 0);
    SUCCEEDS(realm_object_delete(thing));
    CHECK(!realm_set_is_valid(tags) && realm_set_is_valid(still) && !realm_set_is_valid(NULL));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_set_size(tags, NULL));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_set_find(tags, of_int(1), NULL, NULL));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_set_insert(tags, of_text("x"), NULL, NULL));
    SUCCEEDS(realm_commit(realm));
    CHECK(size_of_set(still) == 5 && realm_is_frozen(still));
    SUCCEEDS(realm_set_find(still, of_text("b"), &index, &found));
    CHECK(found && index == 3);
    realm_release(still);
    realm_release(frozen);
    realm_release(copy);
    realm_release(tags);
    realm_release(thing);
    realm_release(realm);
}

static void mixtures(void) {
    realm_t *realm = open_things("mixtures.realm");
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *thing = make_thing(realm, "a");
    realm_set_t *mixture = set_of(realm, thing, "mixture");
    size_t index;
    bool inserted;
    SUCCEEDS(realm_set_insert(mixture, link_to(thing), NULL, NULL));
    SUCCEEDS(realm_set_insert(mixture, of_text("x"), NULL, NULL));
    SUCCEEDS(realm_set_insert(mixture, of_bytes("x", 1), &index, &inserted));
    CHECK(inserted && index == 1);
    SUCCEEDS(realm_set_insert(mixture, of_float(2), &index, &inserted));
    CHECK(inserted && index == 0);
    /* One number, whatever its type. */
    SUCCEEDS(realm_set_insert(mixture, of_int(2), &index, &inserted));
    CHECK(!inserted && index == 0);
    realm_value_t v;
    CHECK(realm_set_get(mixture, 0, &v) && v.type == RLM_TYPE_FLOAT && v.fnum == 2);
    SUCCEEDS(realm_set_insert(mixture, of_null(), &index, &inserted));
    CHECK(inserted && index == 0);
    SUCCEEDS(realm_set_insert(mixture, of_bool(true), &index, &inserted));
    CHECK(inserted && index == 1);
    CHECK(size_of_set(mixture) == 6);
    v = of_int(0);
    v.type = RLM_TYPE_LIST;
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_set_insert(mixture, v, NULL, NULL));
    v.type = RLM_TYPE_DICTIONARY;
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_set_insert(mixture, v, NULL, NULL));
    realm_set_t *numbers = set_of(realm, thing, "numbers");
    for (int i = 0; i < 5000; i++)
        CHECK(realm_set_insert(numbers, of_int((i * 7919) % 5000), NULL, NULL));
    SUCCEEDS(realm_set_insert(numbers, of_null(), &index, &inserted));
    CHECK(index == 0 && inserted && size_of_set(numbers) == 5001);
    SUCCEEDS(realm_commit(realm));
    for (size_t i = 0; i < 5000; i++)
        CHECK(realm_set_get(numbers, i + 1, &v) && v.integer == (int64_t)i);
    realm_release(numbers);
    realm_release(mixture);
    realm_release(thing);
    realm_release(realm);
}

static void objects(void) {
    realm_t *realm = open_things("objects.realm");
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *a = make_thing(realm, "a"), *b = make_thing(realm, "b"),
                   *c = make_thing(realm, "c");
    realm_set_t *peers = set_of(realm, a, "peers");
    bool inserted;
    size_t index;
    SUCCEEDS(realm_set_insert(peers, link_to(c), NULL, NULL));
    SUCCEEDS(realm_set_insert(peers, link_to(b), &index, &inserted));
    CHECK(index == 0 && inserted);
    SUCCEEDS(realm_set_insert(peers, link_to(b), &index, &inserted));
    CHECK(index == 0 && !inserted);
    FAILS(RLM_ERR_PROPERTY_NOT_NULLABLE, realm_set_insert(peers, of_null(), NULL, NULL));
    realm_link_t nowhere = realm_object_as_link(b);
    nowhere.target = 50;
    FAILS(RLM_ERR_NO_SUCH_OBJECT, realm_set_insert(peers, of_link(nowhere), NULL, NULL));
    SUCCEEDS(realm_object_delete(b));
    CHECK(size_of_set(peers) == 1);
    SUCCEEDS(realm_set_remove_all(peers));
    CHECK(size_of_set(peers) == 0 && count_of(realm, "Thing") == 1);
    SUCCEEDS(realm_commit(realm));
    realm_release(peers);
    realm_release(a);
    realm_release(b);
    realm_release(c);
    realm_release(realm);
}

int main(void) {
    texts();
    mixtures();
    objects();
    return check_end("sets");
}
