/* Texts and binaries that were read stay where they are (C_RULES, "Lifetimes") while other data
 * changes: in a transaction until it ends, outside of one until the realm moves, in a frozen realm for good. */
#include "things.h"

enum { PLACES = 22, ROUNDS = 6 };

typedef struct borrowed {
    const char *data[PLACES];
    size_t size[PLACES];
    char *copy[PLACES];
    int n;
} borrowed_t;

static void keep(borrowed_t *b, realm_value_t v) {
    CHECK((v.type == RLM_TYPE_STRING || v.type == RLM_TYPE_BINARY) && b->n < PLACES);
    b->data[b->n] = v.string.data;
    b->size[b->n] = v.string.size;
    b->copy[b->n] = malloc(v.string.size + 1);
    memcpy(b->copy[b->n], v.string.data, v.string.size);
    b->n++;
}
static void check_kept(const borrowed_t *b, const char *when) {
    for (int i = 0; i < b->n; i++) {
        bool intact = !memcmp(b->data[i], b->copy[i], b->size[i]);
        CHECK(intact);
        if (!intact)
            fprintf(stderr, "    place %d, %s\n", i, when);
    }
}
static void end_kept(borrowed_t *b) {
    for (int i = 0; i < b->n; i++)
        free(b->copy[i]);
    b->n = 0;
}

/* Reads texts of the object in all ways. */
static void read_all(borrowed_t *b, realm_t *realm, realm_object_t *thing) {
    realm_value_t v, k;
    bool found = false;
    realm_property_key_t name = thing_key(realm, "name");
    SUCCEEDS(realm_get_value(thing, name, &v));
    keep(b, v);
    SUCCEEDS(realm_get_values(thing, 1, &name, &v));
    keep(b, v);
    SUCCEEDS(realm_get_value_by_property_index(thing, 0, &v));
    keep(b, v);
    realm_list_t *names = list_of(realm, thing, "names"), *anys = list_of(realm, thing, "anys");
    realm_set_t *tags = set_of(realm, thing, "tags"), *mixture = set_of(realm, thing, "mixture");
    realm_dictionary_t *labels = dictionary_of(realm, thing, "labels"),
                       *values = dictionary_of(realm, thing, "values");
    SUCCEEDS(realm_list_get(names, 0, &v));
    keep(b, v);
    SUCCEEDS(realm_list_get(anys, 0, &v));
    keep(b, v);
    SUCCEEDS(realm_set_get(tags, 0, &v));
    keep(b, v);
    SUCCEEDS(realm_set_get(mixture, 0, &v));
    keep(b, v);
    SUCCEEDS(realm_dictionary_get(labels, 0, &k, &v));
    keep(b, k);
    keep(b, v);
    SUCCEEDS(realm_dictionary_find(values, of_text("text"), &v, &found));
    keep(b, v);
    realm_list_t *nested = realm_list_get_list(anys, 1);
    SUCCEEDS(realm_list_get(nested, 0, &v));
    keep(b, v);
    realm_results_t *results = realm_list_to_results(names), *keys = NULL;
    SUCCEEDS(realm_results_get(results, 0, &v));
    keep(b, v);
    SUCCEEDS(realm_dictionary_get_keys(labels, NULL, &keys));
    SUCCEEDS(realm_results_get(keys, 0, &v));
    keep(b, v);
    realm_results_t *mixed = realm_set_to_results(mixture);
    SUCCEEDS(realm_results_max(mixed, 0, &v, &found));
    keep(b, v);
    realm_value_t some[2], entries[2];
    size_t count = 0;
    SUCCEEDS(realm_list_get_values(names, 0, 2, some, &count));
    CHECK(count == 2);
    keep(b, some[0]);
    keep(b, some[1]);
    SUCCEEDS(realm_dictionary_get_entries(labels, 0, 1, entries, entries + 1, &count));
    CHECK(count == 1);
    keep(b, entries[0]);
    keep(b, entries[1]);
    void *handles[] = {mixed, keys, results, nested, values, labels, mixture, tags, anys, names};
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++)
        realm_release(handles[i]);
}

static realm_object_t *make(realm_t *realm, size_t size) {
    char *text = malloc(size + 1);
    memset(text, 'a' + (int)(size % 26), size);
    text[size] = 0;
    realm_value_t v = of_text(text);
    realm_object_t *thing = make_thing(realm, text);
    realm_list_t *names = list_of(realm, thing, "names"), *anys = list_of(realm, thing, "anys");
    realm_set_t *tags = set_of(realm, thing, "tags"), *mixture = set_of(realm, thing, "mixture");
    realm_dictionary_t *labels = dictionary_of(realm, thing, "labels"),
                       *values = dictionary_of(realm, thing, "values");
    SUCCEEDS(realm_list_insert(names, 0, v));
    SUCCEEDS(realm_list_insert(names, 1, of_text("second")));
    SUCCEEDS(realm_list_insert(anys, 0, of_bytes(text, size)));
    SUCCEEDS(realm_set_insert(tags, v, NULL, NULL));
    SUCCEEDS(realm_set_insert(mixture, v, NULL, NULL));
    SUCCEEDS(realm_dictionary_insert(labels, v, v, NULL, NULL));
    SUCCEEDS(realm_dictionary_insert(values, of_text("text"), v, NULL, NULL));
    realm_list_t *nested = realm_list_insert_list(anys, 1);
    SUCCEEDS(realm_list_insert(nested, 0, v));
    void *handles[] = {nested, values, labels, mixture, tags, anys, names};
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++)
        realm_release(handles[i]);
    free(text);
    return thing;
}

/* Everything around changes: objects come and go, lists grow, queries settle what was written. */
static void disturb(realm_t *realm, int round) {
    realm_class_key_t class = class_key(realm, "Thing");
    for (int i = 0; i < 300; i++) {
        realm_object_t *other = make(realm, (size_t)(10 + i * 7 % 400));
        if (i % 3 == 0) {
            SUCCEEDS(realm_object_delete(other));
        } else {
            realm_list_t *names = list_of(realm, other, "names");
            for (size_t k = 0; k < 20; k++)
                CHECK(realm_list_insert(names, 0, of_text("something of some length")));
            CHECK(realm_list_erase(names, 3));
            realm_release(names);
        }
        realm_release(other);
    }
    const char *text = "name CONTAINS 'b' SORT(name ASC)";
    realm_query_t *query = realm_query_parse(realm, class, text, 0, NULL);
    size_t count = 0;
    SUCCEEDS(realm_query_count(query, &count));
    realm_results_t *results = realm_query_find_all(query);
    CHECK(count_results(results) == count);
    realm_release(results);
    realm_release(query);
    if (round % 2) {
        realm_object_t *other = make(realm, 100000);
        SUCCEEDS(realm_set_value(other, thing_key(realm, "name"), of_text("short"), false));
        realm_release(other);
    }
}

static void check_size(size_t size) {
    unlink("borrowed.realm");
    realm_t *realm = open_things("borrowed.realm");
    borrowed_t fresh = {.n = 0}, old = {.n = 0}, later = {.n = 0}, frozen_texts = {.n = 0};
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *thing = make(realm, size);
    read_all(&fresh, realm, thing);
    for (int round = 0; round < 2; round++) {
        disturb(realm, round);
        check_kept(&fresh, "made in the transaction");
    }
    end_kept(&fresh);
    SUCCEEDS(realm_commit(realm));
    /* Outside of a transaction, while another instance commits. */
    read_all(&old, realm, thing);
    realm_t *frozen = realm_freeze(realm), *other = open_things("borrowed.realm");
    realm_object_t *still = NULL;
    SUCCEEDS(realm_object_resolve_in(thing, frozen, &still));
    read_all(&frozen_texts, frozen, still);
    SUCCEEDS(realm_begin_write(other));
    disturb(other, 1);
    SUCCEEDS(realm_commit(other));
    check_kept(&old, "committed, beside another writer");
    end_kept(&old);
    /* In a transaction over what was committed. */
    SUCCEEDS(realm_begin_write(realm));
    read_all(&later, realm, thing);
    for (int round = 0; round < 2; round++) {
        disturb(realm, round);
        check_kept(&later, "read in a later transaction");
    }
    /* The place itself is opened by a change beside the text. */
    realm_list_t *ints = list_of(realm, thing, "ints");
    for (size_t i = 0; i < 500; i++)
        CHECK(realm_list_insert(ints, i, of_int((int64_t)i)));
    realm_release(ints);
    check_kept(&later, "after other properties of the object changed");
    SUCCEEDS(realm_object_delete(thing));
    check_kept(&frozen_texts, "frozen");
    end_kept(&later);
    SUCCEEDS(realm_commit(realm));
    for (int round = 0; round < ROUNDS; round++) {
        SUCCEEDS(realm_begin_write(realm));
        disturb(realm, round);
        SUCCEEDS(realm_commit(realm));
        check_kept(&frozen_texts, "frozen, after more versions");
    }
    realm_release(realm);
    realm_release(other);
    check_kept(&frozen_texts, "frozen, the others gone");
    end_kept(&frozen_texts);
    realm_release(still);
    realm_release(frozen);
    realm_release(thing);
}

int main(void) {
    const size_t sizes[] = {1, 9, 40, 3000, 70000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        check_size(sizes[i]);
    return check_end("borrowed");
}
