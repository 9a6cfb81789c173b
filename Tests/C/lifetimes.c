/* Handles live and end in any order: random programs make them, use them, release them, close and
 * release their realm, move between versions. Nothing crashes, nothing waits for ever, and the file
 * stays sound. The seed of a failure is printed; `lifetimes SEED COUNT` runs others. */
#include "things.h"

enum { SLOTS = 24, STEPS = 160 };
typedef enum kind {
    NOTHING_HERE, REALM, OBJECT, LIST, SET, DICTIONARY, RESULTS, QUERY, REFERENCE, SCHEMA, KINDS
} kind_t;

static uint64_t state;
static size_t pick(size_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(state >> 33) % n;
}

typedef struct slot {
    kind_t kind;
    void *handle;
} slot_t;
static slot_t slots[SLOTS];

static void put(kind_t kind, void *handle) {
    if (!handle)
        return;
    slot_t *slot = &slots[pick(SLOTS)];
    realm_release(slot->handle);
    slot->kind = kind;
    slot->handle = handle;
}
static void *any(kind_t kind) {
    size_t start = pick(SLOTS);
    for (size_t i = 0; i < SLOTS; i++) {
        slot_t *slot = &slots[(start + i) % SLOTS];
        if (slot->kind == kind)
            return slot->handle;
    }
    return NULL;
}

static realm_property_key_t keys[19];
static realm_class_key_t thing_class;
static realm_property_key_t key_named(realm_t *realm, const char *name) {
    bool found = false;
    realm_property_info_t info;
    if (!realm_find_property(realm, thing_class, name, &found, &info) || !found)
        return -1;
    return info.key;
}

/* The realm that writes, kept here: another one of this thread would wait for it for ever. */
static realm_t *writer;
static void begin_write(realm_t *realm) {
    if (writer && realm_is_writable(writer))
        return;
    realm_release(writer);
    writer = NULL;
    if (realm_begin_write(realm))
        writer = realm_clone(realm);
}

static void use_realm(realm_t *realm) {
    size_t count;
    bool did;
    realm_t *other = any(REALM);
    switch (pick(14)) {
    case 0: put(REALM, realm_freeze(realm)); break;
    case 1: begin_write(realm); break;
    case 2: realm_commit(realm); break;
    case 3: realm_rollback(realm); break;
    case 4: realm_refresh(realm, &did); break;
    case 5: put(RESULTS, realm_object_find_all(realm, thing_class)); break;
    case 6: put(OBJECT, realm_object_create(realm, thing_class)); break;
    case 7: put(OBJECT, realm_get_object(realm, thing_class, (realm_object_key_t)pick(4))); break;
    case 8:
        put(QUERY, realm_query_parse(realm, thing_class, "name != 'x' SORT(name ASC)", 0, NULL));
        break;
    case 9: put(SCHEMA, realm_get_schema(realm)); break;
    case 10:
        if (pick(4) == 0)
            realm_close(realm);
        break;
    case 11:
        if (pick(4) == 0)
            realm_compact(realm, &did);
        break;
    case 12: put(REFERENCE, realm_create_thread_safe_reference(realm)); break;
    default:
        realm_get_num_objects(realm, thing_class, &count);
        realm_equals(realm, other);
        break;
    }
}

static void use_object(realm_object_t *object) {
    realm_value_t v;
    realm_t *realm = any(REALM);
    realm_object_t *other = any(OBJECT), *there = NULL;
    realm_property_key_t name = realm ? key_named(realm, "name") : -1;
    switch (pick(10)) {
    case 0: put(LIST, realm_get_list(object, keys[3 + pick(6)])); break;
    case 1: put(SET, realm_get_set(object, keys[9 + pick(4)])); break;
    case 2: put(DICTIONARY, realm_get_dictionary(object, keys[13 + pick(5)])); break;
    case 3: realm_set_value(object, keys[0], of_text("new"), false); break;
    case 4: realm_get_value(object, name, &v); break;
    case 5: put(RESULTS, realm_get_backlinks(object, thing_class, keys[2])); break;
    case 6:
        if (other)
            realm_set_value(object, keys[2], link_to(other), false);
        break;
    case 7:
        if (pick(3) == 0)
            realm_object_delete(object);
        break;
    case 8:
        if (realm && realm_object_resolve_in(object, realm, &there))
            put(OBJECT, there);
        break;
    default: put(OBJECT, realm_set_embedded(object, keys[1])); break;
    }
    realm_object_is_valid(object);
    realm_equals(object, other);
}

static void use_list(realm_list_t *list) {
    realm_value_t v = of_null();
    realm_t *realm = any(REALM);
    realm_object_t *object = any(OBJECT);
    realm_list_t *there = NULL;
    switch (pick(11)) {
    case 0: realm_list_insert(list, 0, of_int((int64_t)pick(9))); break;
    case 1: realm_list_insert(list, 0, of_text("text")); break;
    case 2:
        if (object)
            realm_list_insert(list, 0, link_to(object));
        break;
    case 3: put(LIST, realm_list_insert_list(list, 0)); break;
    case 4: put(DICTIONARY, realm_list_insert_dictionary(list, 0)); break;
    case 5: put(OBJECT, realm_list_insert_embedded(list, 0)); break;
    case 6: put(RESULTS, realm_list_to_results(list)); break;
    case 7: realm_list_erase(list, 0); break;
    case 8:
        if (realm && realm_list_resolve_in(list, realm, &there))
            put(LIST, there);
        break;
    case 9: put(QUERY, realm_query_parse_for_list(list, "TRUEPREDICATE", 0, NULL)); break;
    default: put(LIST, realm_list_get_list(list, 0)); break;
    }
    realm_list_get(list, 0, &v);
    realm_list_is_valid(list);
}

static void use_set(realm_set_t *set) {
    realm_value_t v = of_null();
    realm_object_t *object = any(OBJECT);
    switch (pick(5)) {
    case 0: realm_set_insert(set, of_text("t"), NULL, NULL); break;
    case 1: realm_set_insert(set, of_int((int64_t)pick(5)), NULL, NULL); break;
    case 2:
        if (object)
            realm_set_insert(set, link_to(object), NULL, NULL);
        break;
    case 3: put(RESULTS, realm_set_to_results(set)); break;
    default: realm_set_clear(set); break;
    }
    realm_set_get(set, 0, &v);
}

static void use_dictionary(realm_dictionary_t *dictionary) {
    realm_value_t v = of_null();
    realm_results_t *found = NULL;
    switch (pick(7)) {
    case 0: realm_dictionary_insert(dictionary, of_text("k"), of_int(1), NULL, NULL); break;
    case 1: realm_dictionary_insert(dictionary, of_text("l"), of_text("x"), NULL, NULL); break;
    case 2: put(OBJECT, realm_dictionary_insert_embedded(dictionary, of_text("m"))); break;
    case 3: put(LIST, realm_dictionary_insert_list(dictionary, of_text("n"))); break;
    case 4: put(RESULTS, realm_dictionary_to_results(dictionary)); break;
    case 5:
        if (realm_dictionary_get_keys(dictionary, NULL, &found))
            put(RESULTS, found);
        break;
    default: realm_dictionary_clear(dictionary); break;
    }
    realm_dictionary_get(dictionary, 0, NULL, &v);
}

static void use_results(realm_results_t *results) {
    realm_value_t v;
    size_t count = 0, index;
    bool found;
    realm_t *realm = any(REALM);
    realm_query_t *query = any(QUERY);
    realm_object_t *object = any(OBJECT);
    switch (pick(11)) {
    case 0: put(RESULTS, realm_results_sort(results, "name DESC")); break;
    case 1: put(RESULTS, realm_results_limit(results, pick(3))); break;
    case 2: put(RESULTS, realm_results_snapshot(results)); break;
    case 3:
        if (query)
            put(RESULTS, realm_results_filter(results, query));
        break;
    case 4:
        if (realm)
            put(RESULTS, realm_results_resolve_in(results, realm));
        break;
    case 5: put(REFERENCE, realm_create_thread_safe_reference(results)); break;
    case 6: put(QUERY, realm_results_get_query(results)); break;
    case 7: put(OBJECT, realm_results_get_object(results, 0)); break;
    case 8:
        if (object)
            realm_results_find_object(results, object, &index, &found);
        break;
    case 9:
        if (pick(4) == 0)
            realm_results_delete_all(results);
        break;
    default: realm_results_max(results, keys[0], &v, &found); break;
    }
    if (realm_results_count(results, &count) && count)
        CHECK(realm_results_get(results, count - 1, &v));
}

static void use_reference(realm_thread_safe_reference_t *reference) {
    realm_t *realm = any(REALM);
    if (!realm)
        return;
    put(OBJECT, realm_object_from_thread_safe_reference(realm, reference));
    put(LIST, realm_list_from_thread_safe_reference(realm, reference));
    put(DICTIONARY, realm_dictionary_from_thread_safe_reference(realm, reference));
    put(RESULTS, realm_results_from_thread_safe_reference(realm, reference));
    if (pick(3) == 0)
        put(REALM, realm_from_thread_safe_reference(reference, NULL));
}

static void step(void) {
    slot_t *slot = &slots[pick(SLOTS)];
    size_t count;
    switch (slot->kind) {
    case NOTHING_HERE: put(REALM, open_things("lifetimes.realm")); break;
    case REALM: use_realm(slot->handle); break;
    case OBJECT: use_object(slot->handle); break;
    case LIST: use_list(slot->handle); break;
    case SET: use_set(slot->handle); break;
    case DICTIONARY: use_dictionary(slot->handle); break;
    case RESULTS: use_results(slot->handle); break;
    case REFERENCE: use_reference(slot->handle); break;
    case SCHEMA: realm_schema_validate(slot->handle, 0); break;
    default:
        realm_query_count(slot->handle, &count);
        put(RESULTS, realm_query_find_all(slot->handle));
        break;
    }
    /* A clone, the end of one, a reference. */
    slot = &slots[pick(SLOTS)];
    if (slot->handle && pick(3) == 0) {
        kind_t kind = slot->kind;
        if (pick(2))
            put(kind, realm_clone(slot->handle));
        else if (kind >= OBJECT && kind <= RESULTS)
            put(REFERENCE, realm_create_thread_safe_reference(slot->handle));
    }
    slot = &slots[pick(SLOTS)];
    if (slot->handle && pick(4) == 0) {
        realm_release(slot->handle);
        slot->handle = NULL;
        slot->kind = NOTHING_HERE;
    }
}

static void end_all(void) {
    realm_release(writer);
    writer = NULL;
    size_t first = pick(SLOTS);
    for (size_t i = 0; i < SLOTS; i++) {
        slot_t *slot = &slots[(first + i * 7) % SLOTS];
        realm_release(slot->handle);
        slot->handle = NULL;
        slot->kind = NOTHING_HERE;
    }
}

int main(int count, char **arguments) {
    uint64_t first = count > 1 ? strtoull(arguments[1], NULL, 10) : 1;
    uint64_t seeds = count > 2 ? strtoull(arguments[2], NULL, 10) : 60;
    realm_t *realm = open_things("lifetimes.realm");
    thing_class = class_key(realm, "Thing");
    size_t n = 0;
    SUCCEEDS(realm_get_property_keys(realm, thing_class, keys, 19, &n));
    CHECK(n == 19);
    realm_release(realm);
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        state = seed * 1000003;
        int before = failures;
        for (int i = 0; i < STEPS; i++)
            step();
        end_all();
        if (failures > before)
            fprintf(stderr, "    seed %llu\n", (unsigned long long)seed);
    }
    realm = open_things("lifetimes.realm");
    size_t problems = 9;
    SUCCEEDS(realm_check(realm, NULL, NULL, &problems));
    CHECK(problems == 0);
    realm_release(realm);
    return check_end("lifetimes");
}
