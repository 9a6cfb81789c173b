/* Lists, sets and dictionaries of every type, required and nullable: what goes in comes out bit
 * for bit, also as a result and in another opening; what does not belong is refused. */
#include "things.h"

/* Names are kind, "n" for nullable, and the index of the type: "l3", "dn0". */
static const char kinds[] = "lsd";
static const realm_collection_type_e collections[] = {
    RLM_COLLECTION_TYPE_LIST, RLM_COLLECTION_TYPE_SET, RLM_COLLECTION_TYPE_DICTIONARY};

static realm_schema_t *every_collection(void) {
    static char names[6 * TYPES][8];
    realm_property_info_t all[6 * TYPES + 3];
    size_t n = 0;
    for (int kind = 0; kind < 3; kind++) {
        for (int type = 0; type < TYPES; type++) {
            for (int nullable = 0; nullable < 2; nullable++, n++) {
                snprintf(names[n], 8, "%c%s%d", kinds[kind], nullable ? "n" : "", type);
                all[n] = many_of(names[n], collections[kind], types[type],
                                 nullable ? RLM_PROPERTY_NULLABLE : 0, "");
            }
        }
        const char *any[] = {"la", "sa", "da"};
        all[6 * TYPES + kind] = many_of(any[kind], collections[kind], RLM_PROPERTY_TYPE_MIXED,
                                        RLM_PROPERTY_NULLABLE, "");
    }
    realm_class_info_t class = class_of("All", "", 6 * TYPES + 3, 0);
    const realm_property_info_t *properties[] = {all};
    return realm_schema_new(&class, 1, properties);
}

/* One collection of any kind. */
typedef struct many {
    char kind;
    realm_list_t *list;
    realm_set_t *set;
    realm_dictionary_t *dictionary;
    realm_results_t *results;
} many_t;

static many_t collection_of(realm_t *realm, realm_object_t *object, const char *name) {
    many_t many = {name[0], NULL, NULL, NULL, NULL};
    realm_property_key_t key = property_key(realm, class_key(realm, "All"), name);
    if (many.kind == 'l')
        SUCCEEDS((many.list = realm_get_list(object, key)) &&
                 (many.results = realm_list_to_results(many.list)));
    else if (many.kind == 's')
        SUCCEEDS((many.set = realm_get_set(object, key)) &&
                 (many.results = realm_set_to_results(many.set)));
    else
        SUCCEEDS((many.dictionary = realm_get_dictionary(object, key)) &&
                 (many.results = realm_dictionary_to_results(many.dictionary)));
    return many;
}
static void end(many_t many) {
    realm_release(many.results);
    realm_release(many.list);
    realm_release(many.set);
    realm_release(many.dictionary);
}

static realm_value_t entry(int i) {
    static char name[16];
    snprintf(name, sizeof name, "k%02d", i % 100);
    return of_text(name);
}
static bool add(many_t many, int i, realm_value_t value) {
    if (many.kind == 'l')
        return realm_list_insert(many.list, (size_t)i, value);
    if (many.kind == 's')
        return realm_set_insert(many.set, value, NULL, NULL);
    return realm_dictionary_insert(many.dictionary, entry(i), value, NULL, NULL);
}
static realm_value_t element(many_t many, size_t i) {
    realm_value_t v = of_unknown_type();
    if (many.kind == 'l')
        SUCCEEDS(realm_list_get(many.list, i, &v));
    else if (many.kind == 's')
        SUCCEEDS(realm_set_get(many.set, i, &v));
    else
        SUCCEEDS(realm_dictionary_get(many.dictionary, i, NULL, &v));
    realm_value_t result = of_unknown_type();
    SUCCEEDS(realm_results_get(many.results, i, &result));
    CHECK(same(v, result));
    return v;
}
static size_t size_of(many_t many) {
    size_t n = many.kind == 'l'   ? size_of_list(many.list)
               : many.kind == 's' ? size_of_set(many.set)
                                  : size_of_dictionary(many.dictionary);
    CHECK(count_results(many.results) == n);
    return n;
}
static size_t place_of(many_t many, realm_value_t value) {
    size_t index = 77, in_results = 78;
    bool found = false;
    if (many.kind == 'l')
        SUCCEEDS(realm_list_find(many.list, &value, &index, &found));
    else if (many.kind == 's')
        SUCCEEDS(realm_set_find(many.set, value, &index, &found));
    else
        SUCCEEDS(realm_dictionary_contains_value(many.dictionary, value, &index));
    CHECK(many.kind == 'd' || found == (index != SIZE_MAX));
    SUCCEEDS(realm_results_find(many.results, &value, &in_results, &found));
    CHECK(in_results == index && found == (index != SIZE_MAX));
    return index;
}

/* The values at their places; in a set in any order, of equal ones the first. */
static void holds(many_t many, int n, const realm_value_t *values) {
    if (many.kind != 's') {
        CHECK(size_of(many) == (size_t)n);
        for (int i = 0; i < n; i++)
            CHECK(same(element(many, (size_t)i), values[i]));
        return;
    }
    size_t size = size_of(many);
    for (int i = 0; i < n; i++) {
        size_t at = place_of(many, values[i]);
        CHECK(at < size && element(many, at).type == values[i].type);
    }
    for (size_t at = 0; at < size; at++) {
        realm_value_t v = element(many, at);
        int there = 0;
        for (int i = 0; i < n; i++)
            there += same(v, values[i]);
        CHECK(there == 1);
    }
}

static void refuses(many_t many, realm_errno_e code, realm_value_t value) {
    size_t index = 77;
    bool flag = true;
    FAILS(code, add(many, 0, value));
    if (many.kind == 'l') {
        FAILS(code, realm_list_set(many.list, 0, value));
        FAILS(code, realm_list_find(many.list, &value, &index, &flag));
        CHECK(index == SIZE_MAX && !flag);
    } else if (many.kind == 's') {
        SUCCEEDS(realm_set_erase(many.set, value, &flag));
        CHECK(!flag && place_of(many, value) == SIZE_MAX);
    } else {
        CHECK(place_of(many, value) == SIZE_MAX);
    }
}

static void fill(realm_t *realm, realm_object_t *object, const char *name, int type,
                 bool nullable) {
    realm_value_t values[EXTREMES + 1], wrong[EXTREMES];
    many_t many = collection_of(realm, object, name);
    int n = extremes(type, values);
    CHECK(size_of(many) == 0);
    for (int i = 0; i < n; i++)
        SUCCEEDS(add(many, i, values[i]));
    if (nullable) {
        values[n] = of_null();
        SUCCEEDS(add(many, n, values[n]));
        n++;
    }
    holds(many, n, values);
    for (int i = 0; i < n; i++)
        CHECK(place_of(many, values[i]) < size_of(many));
    for (int other = 0; other < TYPES; other++) {
        extremes(other, wrong);
        if (other != type)
            refuses(many, RLM_ERR_PROPERTY_TYPE_MISMATCH, wrong[0]);
    }
    refuses(many, RLM_ERR_PROPERTY_TYPE_MISMATCH, of_link_to(class_key(realm, "All"), 0));
    refuses(many, RLM_ERR_PROPERTY_TYPE_MISMATCH, of_unknown_type());
    refuses(many, RLM_ERR_PROPERTY_TYPE_MISMATCH, of_type(RLM_TYPE_LIST));
    refuses(many, RLM_ERR_PROPERTY_TYPE_MISMATCH, of_type(RLM_TYPE_DICTIONARY));
    if (!nullable) {
        /* However it is written. */
        refuses(many, RLM_ERR_PROPERTY_NOT_NULLABLE, of_null());
        refuses(many, RLM_ERR_PROPERTY_NOT_NULLABLE, of_text(NULL));
        refuses(many, RLM_ERR_PROPERTY_NOT_NULLABLE, of_bytes(NULL, 0));
    } else {
        CHECK(place_of(many, of_text(NULL)) == place_of(many, of_null()));
        CHECK(place_of(many, of_bytes(NULL, 9)) == place_of(many, of_null()));
    }
    holds(many, n, values);
    end(many);
}

static void check_again(realm_t *realm, realm_object_t *object, const char *name, int type,
                        bool nullable) {
    realm_value_t values[EXTREMES + 1];
    int n = extremes(type, values);
    if (nullable)
        values[n++] = of_null();
    many_t many = collection_of(realm, object, name);
    holds(many, n, values);
    end(many);
}

/* All types in one collection of mixed values. */
static void mixture(realm_t *realm, realm_object_t *object, const char *name, bool fills) {
    enum { MOST = TYPES * EXTREMES + 1 };
    realm_value_t all[MOST];
    int n = 0;
    for (int type = 0; type < TYPES; type++) {
        /* Numbers of all types are equal in a set: only the integers there. */
        bool is_number = type >= 5 && type <= 7;
        if (name[0] != 's' || !is_number)
            n += extremes(type, all + n);
    }
    all[n++] = of_null();
    many_t many = collection_of(realm, object, name);
    for (int i = 0; fills && i < n; i++)
        SUCCEEDS(add(many, i, all[i]));
    holds(many, n, all);
    end(many);
}

static void types_and_kinds(void (*each)(realm_t *, realm_object_t *, const char *, int, bool),
                            realm_t *realm, realm_object_t *object) {
    char name[16];
    for (int kind = 0; kind < 3; kind++)
        for (int type = 0; type < TYPES; type++)
            for (int nullable = 0; nullable < 2; nullable++) {
                snprintf(name, sizeof name, "%c%s%d", kinds[kind], nullable ? "n" : "", type);
                each(realm, object, name, type, nullable);
            }
}

int main(void) {
    realm_t *realm = open_with("types.realm", every_collection());
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *object = realm_object_create(realm, class_key(realm, "All"));
    types_and_kinds(fill, realm, object);
    mixture(realm, object, "la", true);
    mixture(realm, object, "sa", true);
    mixture(realm, object, "da", true);
    types_and_kinds(check_again, realm, object);
    SUCCEEDS(realm_commit(realm));
    types_and_kinds(check_again, realm, object);
    realm_t *frozen = realm_freeze(realm);
    realm_object_t *still = NULL;
    SUCCEEDS(realm_object_resolve_in(object, frozen, &still));
    types_and_kinds(check_again, frozen, still);
    mixture(frozen, still, "la", false);
    realm_release(still);
    realm_release(frozen);
    realm_release(object);
    realm_release(realm);
    realm = open_with("types.realm", NULL);
    object = realm_get_object(realm, class_key(realm, "All"), 0);
    types_and_kinds(check_again, realm, object);
    mixture(realm, object, "la", false);
    mixture(realm, object, "sa", false);
    mixture(realm, object, "da", false);
    realm_release(object);
    realm_release(realm);
    return check_end("collection types");
}
