/* Decimals, object ids, UUIDs and mixed values: in and out of properties, as primary keys, as
 * text, and every way to give the wrong thing. */
#include "check.h"

#include <math.h>
#include <unistd.h>

enum { TYPES = 10 };
static const realm_property_type_e types[TYPES] = {
    RLM_PROPERTY_TYPE_INT,     RLM_PROPERTY_TYPE_BOOL,       RLM_PROPERTY_TYPE_STRING,
    RLM_PROPERTY_TYPE_BINARY,  RLM_PROPERTY_TYPE_TIMESTAMP,  RLM_PROPERTY_TYPE_FLOAT,
    RLM_PROPERTY_TYPE_DOUBLE,  RLM_PROPERTY_TYPE_DECIMAL128, RLM_PROPERTY_TYPE_OBJECT_ID,
    RLM_PROPERTY_TYPE_UUID,
};

static realm_value_t of(realm_value_type_e type) {
    realm_value_t value;
    memset(&value, 0, sizeof value);
    value.type = type;
    return value;
}
static realm_value_t of_int(int64_t number) {
    realm_value_t value = of(RLM_TYPE_INT);
    value.integer = number;
    return value;
}
static realm_value_t of_text(const char *text) {
    realm_value_t value = of(RLM_TYPE_STRING);
    value.string.data = text;
    value.string.size = text ? strlen(text) : 0;
    return value;
}
static realm_value_t of_binary(const void *bytes, size_t count) {
    realm_value_t value = of(RLM_TYPE_BINARY);
    value.binary.data = bytes;
    value.binary.size = count;
    return value;
}
static realm_value_t of_decimal(uint64_t low, uint64_t high) {
    realm_value_t value = of(RLM_TYPE_DECIMAL128);
    value.decimal128.w[0] = low;
    value.decimal128.w[1] = high;
    return value;
}
static realm_value_t of_object_id(int seed) {
    realm_value_t value = of(RLM_TYPE_OBJECT_ID);
    /* What lies behind the twelve bytes means nothing. */
    memset(&value, seed, 16);
    for (int i = 0; i < 12; i++)
        value.object_id.bytes[i] = (uint8_t)(seed + i * 17);
    return value;
}
static realm_value_t of_uuid(int seed) {
    realm_value_t value = of(RLM_TYPE_UUID);
    for (int i = 0; i < 16; i++)
        value.uuid.bytes[i] = (uint8_t)(seed + i * 13);
    return value;
}
static realm_value_t of_link(realm_class_key_t class, realm_object_key_t key) {
    realm_value_t value = of(RLM_TYPE_LINK);
    value.link.target_table = class;
    value.link.target = key;
    return value;
}

/* Extremes of the type at this index; returns how many. */
static int extremes(int index, realm_value_t *out) {
    static char megabyte[1 << 20];
    memset(megabyte, 'x', sizeof megabyte);
    int n = 0;
    switch (types[index]) {
    case RLM_PROPERTY_TYPE_INT:
        out[n++] = of_int(INT64_MIN), out[n++] = of_int(INT64_MAX), out[n++] = of_int(0);
        break;
    case RLM_PROPERTY_TYPE_BOOL:
        out[n++] = of(RLM_TYPE_BOOL);
        out[n] = of(RLM_TYPE_BOOL), out[n++].boolean = true;
        break;
    case RLM_PROPERTY_TYPE_STRING:
        out[n++] = of_text(""), out[n++] = of_text("\xc3\xa9 \xf0\x9f\x98\x80");
        out[n] = of_text(""), out[n].string.data = megabyte, out[n++].string.size = sizeof megabyte;
        break;
    case RLM_PROPERTY_TYPE_BINARY:
        out[n++] = of_binary("", 0), out[n++] = of_binary("\0\xff", 2);
        out[n++] = of_binary(megabyte, 5000);
        break;
    case RLM_PROPERTY_TYPE_TIMESTAMP:
        out[n] = of(RLM_TYPE_TIMESTAMP);
        out[n].timestamp.seconds = INT64_MIN, out[n++].timestamp.nanoseconds = -999999999;
        out[n] = of(RLM_TYPE_TIMESTAMP);
        out[n].timestamp.seconds = INT64_MAX, out[n++].timestamp.nanoseconds = 999999999;
        break;
    case RLM_PROPERTY_TYPE_FLOAT:
        out[n] = of(RLM_TYPE_FLOAT), out[n++].fnum = -INFINITY;
        out[n] = of(RLM_TYPE_FLOAT), out[n++].fnum = NAN;
        out[n] = of(RLM_TYPE_FLOAT), out[n++].fnum = -0.0f;
        break;
    case RLM_PROPERTY_TYPE_DOUBLE:
        out[n] = of(RLM_TYPE_DOUBLE), out[n++].dnum = 5e-324;
        out[n] = of(RLM_TYPE_DOUBLE), out[n++].dnum = NAN;
        out[n] = of(RLM_TYPE_DOUBLE), out[n++].dnum = INFINITY;
        break;
    case RLM_PROPERTY_TYPE_DECIMAL128:
        /* Zero with an exponent, the greatest, NaN with a payload, one that is not canonical. */
        out[n++] = of_decimal(0, 0x3040000000000000), out[n++] = of_decimal(0, 0);
        out[n++] = of_decimal(0x378d8e63ffffffff, 0x5fffed09bead87c0);
        out[n++] = of_decimal(7, 0xfc00000000000001), out[n++] = of_decimal(5, 0x6c10000000000001);
        out[n++] = of_decimal(UINT64_MAX, UINT64_MAX);
        break;
    case RLM_PROPERTY_TYPE_OBJECT_ID:
        out[n++] = of_object_id(0), out[n++] = of_object_id(255);
        break;
    default: out[n++] = of_uuid(0), out[n++] = of_uuid(200); break;
    }
    return n;
}

static bool same(realm_value_t a, realm_value_t b) {
    if (a.type != b.type)
        return false;
    switch (a.type) {
    case RLM_TYPE_NULL: return true;
    case RLM_TYPE_INT: return a.integer == b.integer;
    case RLM_TYPE_BOOL: return a.boolean == b.boolean;
    case RLM_TYPE_STRING:
        return a.string.size == b.string.size && a.string.data &&
               !memcmp(a.string.data, b.string.data, a.string.size);
    case RLM_TYPE_BINARY:
        return a.binary.size == b.binary.size && a.binary.data &&
               !memcmp(a.binary.data, b.binary.data, a.binary.size);
    case RLM_TYPE_TIMESTAMP:
        return a.timestamp.seconds == b.timestamp.seconds &&
               a.timestamp.nanoseconds == b.timestamp.nanoseconds;
    case RLM_TYPE_FLOAT: return !memcmp(&a.fnum, &b.fnum, sizeof a.fnum);
    case RLM_TYPE_DOUBLE: return !memcmp(&a.dnum, &b.dnum, sizeof a.dnum);
    case RLM_TYPE_DECIMAL128: return !memcmp(&a.decimal128, &b.decimal128, 16);
    case RLM_TYPE_OBJECT_ID: return !memcmp(&a.object_id, &b.object_id, 12);
    case RLM_TYPE_UUID: return !memcmp(&a.uuid, &b.uuid, 16);
    case RLM_TYPE_LINK:
        return a.link.target == b.link.target && a.link.target_table == b.link.target_table;
    default: return false;
    }
}

static realm_t *open_with(const char *path, realm_schema_t *schema) {
    realm_config_t *config = realm_config_new();
    realm_config_set_path(config, path);
    if (schema) {
        realm_config_set_schema(config, schema);
        realm_config_set_schema_version(config, 1);
    }
    realm_clear_last_error();
    realm_t *realm = realm_open(config);
    realm_error_t error;
    if (!realm && realm_get_last_error(&error)) {
        fprintf(stderr, "cannot open %s: %d %s\n", path, (int)error.error, error.message);
        exit(1);
    }
    realm_release(config);
    realm_release(schema);
    return realm;
}

static realm_class_key_t class_key(realm_t *realm, const char *name) {
    bool found = false;
    realm_class_info_t info;
    CHECK(realm_find_class(realm, name, &found, &info) && found);
    return info.key;
}
static realm_property_key_t key_of(realm_t *realm, realm_class_key_t class, const char *name) {
    bool found = false;
    realm_property_info_t info;
    CHECK(realm_find_property(realm, class, name, &found, &info) && found);
    return info.key;
}

/* One class with each type required and nullable, and a mixed property; one with nothing else but a
 * number, to link to; an embedded one. */
static realm_schema_t *schema_of_all(void) {
    static char names[2 * TYPES][16];
    realm_property_info_t all[2 * TYPES + 2], target[1];
    for (int i = 0; i < TYPES; i++) {
        snprintf(names[2 * i], 16, "p%d", i);
        snprintf(names[2 * i + 1], 16, "n%d", i);
        all[2 * i] = property_of(names[2 * i], types[i], 0);
        all[2 * i + 1] = property_of(names[2 * i + 1], types[i], RLM_PROPERTY_NULLABLE);
    }
    all[2 * TYPES] = property_of("any", RLM_PROPERTY_TYPE_MIXED, RLM_PROPERTY_NULLABLE);
    all[2 * TYPES + 1] = property_of("other", RLM_PROPERTY_TYPE_MIXED,
                                     RLM_PROPERTY_NULLABLE | RLM_PROPERTY_INDEXED);
    target[0] = property_of("n", RLM_PROPERTY_TYPE_INT, 0);
    realm_class_info_t classes[] = {
        class_of("All", "", 2 * TYPES + 2, 0),
        class_of("Target", "", 1, 0),
    };
    const realm_property_info_t *properties[] = {all, target};
    return realm_schema_new(classes, 2, properties);
}

static void round_trips(void) {
    realm_t *realm = open_with("all.realm", schema_of_all());
    realm_class_key_t all = class_key(realm, "All");
    realm_property_key_t any = key_of(realm, all, "any"), other = key_of(realm, all, "other");
    realm_value_t values[8], v;
    SUCCEEDS(realm_begin_write(realm));
    /* Required properties begin as zero of their type. */
    realm_object_t *fresh = realm_object_create(realm, all);
    for (int i = 7; i < TYPES; i++) {
        char name[16];
        snprintf(name, sizeof name, "p%d", i);
        SUCCEEDS(realm_get_value(fresh, key_of(realm, all, name), &v));
        realm_value_t zero = of(v.type);
        if (v.type == RLM_TYPE_DECIMAL128)
            zero = of_decimal(0, 0x3040000000000000);
        CHECK(v.type != RLM_TYPE_NULL && same(v, zero));
        name[0] = 'n';
        SUCCEEDS(realm_get_value(fresh, key_of(realm, all, name), &v));
        CHECK(v.type == RLM_TYPE_NULL);
    }
    SUCCEEDS(realm_get_value(fresh, any, &v));
    CHECK(v.type == RLM_TYPE_NULL);
    realm_release(fresh);
    /* In the transaction, after it, in another opening; in place of each other. */
    for (int i = 0; i < TYPES; i++) {
        int n = extremes(i, values);
        char required[16], nullable[16];
        snprintf(required, sizeof required, "p%d", i);
        snprintf(nullable, sizeof nullable, "n%d", i);
        realm_property_key_t p = key_of(realm, all, required), q = key_of(realm, all, nullable);
        for (int j = 0; j < n; j++) {
            realm_object_t *object = realm_object_create(realm, all);
            const realm_property_key_t places[] = {p, q, any, other};
            for (int k = 0; k < 4; k++) {
                SUCCEEDS(realm_set_value(object, places[k], values[j], false));
                SUCCEEDS(realm_get_value(object, places[k], &v));
                CHECK(same(v, values[j]));
            }
            SUCCEEDS(realm_commit(realm));
            SUCCEEDS(realm_begin_write(realm));
            for (int k = 0; k < 4; k++) {
                SUCCEEDS(realm_get_value(object, places[k], &v));
                CHECK(same(v, values[j]));
                /* The other values go where this one was, and the first one comes back. */
                for (int m = 1; m <= n; m++) {
                    SUCCEEDS(realm_set_value(object, places[k], values[(j + m) % n], false));
                    SUCCEEDS(realm_get_value(object, places[k], &v));
                    CHECK(same(v, values[(j + m) % n]));
                }
                if (k > 0) {
                    SUCCEEDS(realm_set_value(object, places[k], of(RLM_TYPE_NULL), false));
                    SUCCEEDS(realm_get_value(object, places[k], &v));
                    CHECK(v.type == RLM_TYPE_NULL);
                    SUCCEEDS(realm_set_value(object, places[k], values[j], false));
                }
            }
            FAILS(RLM_ERR_PROPERTY_NOT_NULLABLE,
                  realm_set_value(object, p, of(RLM_TYPE_NULL), false));
            for (int other_type = 0; other_type < TYPES; other_type++) {
                realm_value_t wrong[8];
                extremes(other_type, wrong);
                if (other_type != i)
                    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH,
                          realm_set_value(object, q, wrong[0], false));
            }
            realm_release(object);
        }
    }
    SUCCEEDS(realm_commit(realm));
    realm_release(realm);
    realm = open_with("all.realm", NULL);
    size_t row = 1;
    for (int i = 0; i < TYPES; i++) {
        int n = extremes(i, values);
        char name[16];
        for (int j = 0; j < n; j++, row++) {
            realm_object_t *object = realm_get_object(realm, all, (realm_object_key_t)row);
            for (int k = 0; k < 4; k++) {
                snprintf(name, sizeof name, "%c%d", "pn"[k & 1], i);
                const char *names[] = {name, name, "any", "other"};
                SUCCEEDS(realm_get_value(object, key_of(realm, all, names[k]), &v));
                CHECK(same(v, values[j]));
            }
            realm_release(object);
        }
    }
    realm_release(realm);
}

static void mixed_values(void) {
    realm_t *realm = open_with("mixed.realm", schema_of_all());
    realm_class_key_t all = class_key(realm, "All"), target = class_key(realm, "Target");
    realm_property_key_t any = key_of(realm, all, "any"), n = key_of(realm, target, "n");
    realm_value_t v;
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *object = realm_object_create(realm, all);
    realm_object_t *linked = realm_object_create(realm, target);
    realm_object_key_t key = realm_object_get_key(linked);
    SUCCEEDS(realm_set_value(linked, n, of_int(5), false));

    /* Adding is for integers. */
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_object_add_int(object, any, 1));
    SUCCEEDS(realm_set_value(object, any, of_text("1"), false));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_object_add_int(object, any, 1));
    SUCCEEDS(realm_set_value(object, any, of_int(INT64_MAX), false));
    SUCCEEDS(realm_object_add_int(object, any, 2));
    SUCCEEDS(realm_get_value(object, any, &v));
    CHECK(same(v, of_int(INT64_MIN + 1)));
    FAILS(RLM_ERR_INVALID_TABLE_REF, realm_get_linked_object(object, any));

    /* Links: the target must be there; its deletion makes them null. */
    FAILS(RLM_ERR_NO_SUCH_OBJECT, realm_set_value(object, any, of_link(target, 77), false));
    FAILS(RLM_ERR_NO_SUCH_OBJECT, realm_set_value(object, any, of_link(target, -1), false));
    FAILS(RLM_ERR_NO_SUCH_TABLE, realm_set_value(object, any, of_link(999, 0), false));
    FAILS(RLM_ERR_NO_SUCH_TABLE,
          realm_set_value(object, any, of_link(RLM_INVALID_CLASS_KEY, 0), false));
    FAILS(RLM_ERR_NO_SUCH_TABLE, realm_set_value(object, any, of_link(UINT32_MAX, 0), false));
    SUCCEEDS(realm_set_value(object, any, of_link(target, key), false));
    realm_object_t *found = realm_get_linked_object(object, any);
    CHECK(found && realm_equals(found, linked));
    realm_release(found);
    SUCCEEDS(realm_commit(realm));
    char *text = realm_object_to_string(object);
    CHECK(text && strstr(text, "\"any\":{ \"$link\": {\"table\": \"Target\", \"key\": 0}}"));
    realm_free(text);
    SUCCEEDS(realm_begin_write(realm));
    SUCCEEDS(realm_object_delete(linked));
    SUCCEEDS(realm_get_value(object, any, &v));
    CHECK(v.type == RLM_TYPE_NULL);
    SUCCEEDS(realm_commit(realm));
    SUCCEEDS(realm_get_value(object, any, &v));
    CHECK(v.type == RLM_TYPE_NULL);
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_object_add_int(object, any, 1));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_set_value(object, any, of_int(1), false));

    SUCCEEDS(realm_begin_write(realm));
    realm_value_t bad = of_int(1);
    bad.type = (realm_value_type_e)77;
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_set_value(object, any, bad, false));
    SUCCEEDS(realm_rollback(realm));
    realm_release(object);
    realm_release(linked);
    realm_release(realm);
}

static void texts(void) {
    realm_t *realm = open_with("texts.realm", schema_of_all());
    realm_class_key_t all = class_key(realm, "All");
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *object = realm_object_create(realm, all);
    SUCCEEDS(realm_set_value(object, key_of(realm, all, "p7"),
                             of_decimal(330, 0xb03c000000000000), false));
    realm_value_t id = of_object_id(1), uuid = of_uuid(2);
    SUCCEEDS(realm_set_value(object, key_of(realm, all, "p8"), id, false));
    SUCCEEDS(realm_set_value(object, key_of(realm, all, "n9"), uuid, false));
    SUCCEEDS(realm_set_value(object, key_of(realm, all, "any"), id, false));
    SUCCEEDS(realm_commit(realm));
    char *text = realm_object_to_string(object);
    CHECK(text && strstr(text, "\"p7\":\"-3.30\""));
    CHECK(text && strstr(text, "\"p8\":\"0112233445566778899aabbc\""));
    CHECK(text && strstr(text, "\"n9\":\"020f1c29-3643-505d-6a77-84919eabb8c5\""));
    CHECK(text && strstr(text, "\"n8\":null"));
    CHECK(text && strstr(text, "\"any\":\"0112233445566778899aabbc\""));
    realm_free(text);
    realm_release(object);
    realm_release(realm);
}

/* Object ids and UUIDs as primary keys, nullable or not. */
static void primary_keys(realm_property_type_e type, int flags, const char *path) {
    realm_property_info_t properties[] = {
        property_of("_id", type, RLM_PROPERTY_PRIMARY_KEY | flags),
        property_of("n", RLM_PROPERTY_TYPE_INT, 0),
    };
    realm_class_info_t class = class_of("Thing", "_id", 2, 0);
    const realm_property_info_t *lists[] = {properties};
    realm_t *realm = open_with(path, realm_schema_new(&class, 1, lists));
    realm_class_key_t thing = class_key(realm, "Thing");
    realm_property_key_t id = key_of(realm, thing, "_id"), n = key_of(realm, thing, "n");
    bool is_id = type == RLM_PROPERTY_TYPE_OBJECT_ID;
    bool found = true, created = false;
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH,
          realm_object_create_with_primary_key(realm, thing, is_id ? of_uuid(1) : of_object_id(1)));
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH,
          realm_object_create_with_primary_key(realm, thing, of_int(1)));
    NOTHING(realm_object_find_with_primary_key(realm, thing, of_int(1), &found));
    CHECK(!found);
    SUCCEEDS(realm_begin_write(realm));
    for (int i = 0; i < 3000; i++) {
        realm_value_t key = is_id ? of_object_id(i) : of_uuid(i);
        if (is_id)
            key.object_id.bytes[10] = (uint8_t)(i >> 8);
        else
            key.uuid.bytes[15] = (uint8_t)(i >> 8);
        realm_object_t *object =
            realm_object_get_or_create_with_primary_key(realm, thing, key, &created);
        CHECK(object && created);
        SUCCEEDS(realm_set_value(object, n, of_int(i), false));
        realm_release(object);
        FAILS(RLM_ERR_OBJECT_ALREADY_EXISTS,
              realm_object_create_with_primary_key(realm, thing, key));
        if (i == 1500) {
            SUCCEEDS(realm_commit(realm));
            SUCCEEDS(realm_begin_write(realm));
        }
    }
    if (flags & RLM_PROPERTY_NULLABLE) {
        realm_object_t *none =
            realm_object_create_with_primary_key(realm, thing, of(RLM_TYPE_NULL));
        CHECK(none);
        FAILS(RLM_ERR_OBJECT_ALREADY_EXISTS,
              realm_object_create_with_primary_key(realm, thing, of(RLM_TYPE_NULL)));
        realm_release(none);
    } else {
        FAILS(RLM_ERR_PROPERTY_NOT_NULLABLE,
              realm_object_create_with_primary_key(realm, thing, of(RLM_TYPE_NULL)));
    }
    SUCCEEDS(realm_commit(realm));
    for (int i = 0; i < 3000; i += 7) {
        realm_value_t key = is_id ? of_object_id(i) : of_uuid(i), v;
        if (is_id)
            key.object_id.bytes[10] = (uint8_t)(i >> 8);
        else
            key.uuid.bytes[15] = (uint8_t)(i >> 8);
        realm_object_t *object = realm_object_find_with_primary_key(realm, thing, key, &found);
        CHECK(object && found);
        CHECK(realm_get_value(object, n, &v) && v.integer == i);
        CHECK(realm_get_value(object, id, &v) && same(v, key));
        /* The key it has may be written again, another one may not. */
        if (i == 7) {
            SUCCEEDS(realm_begin_write(realm));
            SUCCEEDS(realm_set_value(object, id, key, false));
            realm_value_t changed = is_id ? of_object_id(9999) : of_uuid(9999);
            FAILS(RLM_ERR_MODIFY_PRIMARY_KEY, realm_set_value(object, id, changed, false));
            SUCCEEDS(realm_object_delete(object));
            SUCCEEDS(realm_commit(realm));
            NOTHING(realm_object_find_with_primary_key(realm, thing, key, &found));
        }
        realm_release(object);
    }
    realm_object_t *none =
        realm_object_find_with_primary_key(realm, thing, of(RLM_TYPE_NULL), &found);
    CHECK(found == ((flags & RLM_PROPERTY_NULLABLE) != 0) && (none != NULL) == found);
    realm_release(none);
    realm_release(realm);
}

int main(void) {
    round_trips();
    mixed_values();
    texts();
    primary_keys(RLM_PROPERTY_TYPE_OBJECT_ID, 0, "object-id-keys.realm");
    primary_keys(RLM_PROPERTY_TYPE_OBJECT_ID, RLM_PROPERTY_NULLABLE, "object-id-keys-null.realm");
    primary_keys(RLM_PROPERTY_TYPE_UUID, 0, "uuid-keys.realm");
    primary_keys(RLM_PROPERTY_TYPE_UUID, RLM_PROPERTY_NULLABLE, "uuid-keys-null.realm");
    return check_end("values");
}
