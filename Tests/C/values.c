/* Decimals, object ids, UUIDs and mixed values: in and out of properties, as primary keys, as
 * text, and every way to give the wrong thing. */
#include "people.h"

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
    realm_property_key_t any = property_key(realm, all, "any"),
                         other = property_key(realm, all, "other");
    realm_value_t values[8], v;
    SUCCEEDS(realm_begin_write(realm));
    /* Required properties begin as zero of their type. */
    realm_object_t *fresh = realm_object_create(realm, all);
    for (int i = 7; i < TYPES; i++) {
        char name[16];
        snprintf(name, sizeof name, "p%d", i);
        SUCCEEDS(realm_get_value(fresh, property_key(realm, all, name), &v));
        realm_value_t zero = of_type(v.type);
        if (v.type == RLM_TYPE_DECIMAL128)
            zero = of_decimal(0, 0x3040000000000000);
        CHECK(v.type != RLM_TYPE_NULL && same(v, zero));
        name[0] = 'n';
        SUCCEEDS(realm_get_value(fresh, property_key(realm, all, name), &v));
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
        realm_property_key_t p = property_key(realm, all, required),
                             q = property_key(realm, all, nullable);
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
                    SUCCEEDS(realm_set_value(object, places[k], of_null(), false));
                    SUCCEEDS(realm_get_value(object, places[k], &v));
                    CHECK(v.type == RLM_TYPE_NULL);
                    SUCCEEDS(realm_set_value(object, places[k], values[j], false));
                }
            }
            FAILS(RLM_ERR_PROPERTY_NOT_NULLABLE,
                  realm_set_value(object, p, of_null(), false));
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
                SUCCEEDS(realm_get_value(object, property_key(realm, all, names[k]), &v));
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
    realm_property_key_t any = property_key(realm, all, "any"),
                         n = property_key(realm, target, "n");
    realm_value_t v;
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *object = realm_object_create(realm, all);
    realm_object_t *linked = realm_object_create(realm, target);
    realm_object_key_t key = realm_object_get_key(linked);
    SUCCEEDS(realm_set_value(linked, n, of_int(5), false));

    NOTHING(realm_get_linked_object(object, any));
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
    FAILS(RLM_ERR_NO_SUCH_OBJECT, realm_set_value(object, any, of_link_to(target, 77), false));
    FAILS(RLM_ERR_NO_SUCH_OBJECT, realm_set_value(object, any, of_link_to(target, -1), false));
    FAILS(RLM_ERR_NO_SUCH_TABLE, realm_set_value(object, any, of_link_to(999, 0), false));
    FAILS(RLM_ERR_NO_SUCH_TABLE,
          realm_set_value(object, any, of_link_to(RLM_INVALID_CLASS_KEY, 0), false));
    FAILS(RLM_ERR_NO_SUCH_TABLE, realm_set_value(object, any, of_link_to(UINT32_MAX, 0), false));
    SUCCEEDS(realm_set_value(object, any, of_link_to(target, key), false));
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
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH,
          realm_set_value(object, any, of_unknown_type(), false));
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
    SUCCEEDS(realm_set_value(object, property_key(realm, all, "p7"),
                             of_decimal(330, 0xb03c000000000000), false));
    realm_value_t id = of_object_id(1), uuid = of_uuid(2);
    SUCCEEDS(realm_set_value(object, property_key(realm, all, "p8"), id, false));
    SUCCEEDS(realm_set_value(object, property_key(realm, all, "n9"), uuid, false));
    SUCCEEDS(realm_set_value(object, property_key(realm, all, "any"), id, false));
    SUCCEEDS(realm_commit(realm));
    char *text = realm_object_to_string(object);
    CHECK(text && strstr(text, "\"p7\":\"-3.30\""));
    CHECK(text && strstr(text, "\"p8\":\"0112233445566778899aabbc\""));
    CHECK(text && strstr(text, "\"n9\":\"020f1c29-3643-505d-6a77-84919eabb8c5\""));
    CHECK(text && strstr(text, "\"n8\":null"));
    CHECK(text && strstr(text, "\"any\":\"0112233445566778899aabbc\""));
    realm_free(text);
    /* Floats with 8, doubles with 17 digits; escapes; base64. */
    const struct {
        const char *name;
        realm_value_t value;
        const char *text;
    } shown[] = {
        {"p5", of_float(0.1f), "\"p5\":1.0000000e-01"},
        {"p5", of_float(-INFINITY), "\"p5\":-inf"},
        {"p6", of_double(0.1), "\"p6\":1.0000000000000001e-01"},
        {"p6", of_double(-1.5), "\"p6\":-1.5000000000000000e+00"},
        {"p6", of_double(NAN), "\"p6\":nan"},
        {"p6", of_double(-NAN), "\"p6\":-nan"},
        {"p2",
         of_text("a\"\\\n\r\t\f\b\x01\x7f/"),
         "\"p2\":\"a\\\"\\\\\\n\\r\\t\\f\\b\x01\x7f/\""},
        {"p3", of_bytes("", 0), "\"p3\":\"\""},
        {"p3", of_bytes("\xff\xfe", 2), "\"p3\":\"//4=\""},
        {"p3", of_bytes("abcd", 4), "\"p3\":\"YWJjZA==\""},
        {"p1", of_bool(true), "\"p1\":true"},
        {"p0", of_int(INT64_MIN), "\"p0\":-9223372036854775808"},
    };
    SUCCEEDS(realm_begin_write(realm));
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        SUCCEEDS(realm_set_value(object, property_key(realm, all, shown[i].name), shown[i].value,
                                 false));
        text = realm_object_to_string(object);
        CHECK(text && strstr(text, shown[i].text) && text[0] == '{' && !strchr(text, '\n'));
        if (text && !strstr(text, shown[i].text))
            fprintf(stderr, "    %s in %s\n", shown[i].text, text);
        realm_free(text);
    }
    SUCCEEDS(realm_commit(realm));
    realm_release(object);
    realm_release(realm);
}

/* Dates as far away as they can be, and with nanoseconds that are none: as text, as JSON, in
 * functions of queries. */
static void far_dates(void) {
    realm_t *realm = open_with("dates.realm", schema_of_all());
    realm_class_key_t all = class_key(realm, "All");
    realm_property_key_t key = property_key(realm, all, "p4"),
                         any = property_key(realm, all, "any");
    const int64_t seconds[] = {INT64_MIN, INT64_MIN + 1, -62135596801, -1, 0, 253402300800,
                               INT64_MAX};
    const int32_t nanoseconds[] = {0, 1, -1, 999999999, -999999999, INT32_MIN, INT32_MAX};
    const char *queries[] = {"year(p4) > 0", "weekday(p4) == 8", "hour(p4, 'UTC-23:59') == 24",
                             "CAST(p4, 'Double') == 0.5", "CAST(p4, 'Decimal') == 0.5",
                             "CAST(p4, 'String') == ''", "CAST(p4, 'Int') == 5",
                             "CAST(p4, 'NSNumber') == 5"};
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *object = realm_object_create(realm, all);
    realm_value_t v;
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++) {
        for (size_t k = 0; k < sizeof nanoseconds / sizeof *nanoseconds; k++) {
            realm_value_t date = of_time(seconds[i], nanoseconds[k]);
            SUCCEEDS(realm_set_value(object, key, date, false));
            SUCCEEDS(realm_set_value(object, any, date, false));
            SUCCEEDS(realm_get_value(object, key, &v));
            CHECK(same(v, date));
            char *text = realm_object_to_string(object), *json = realm_object_to_json(object, 1, 0);
            CHECK(text && json);
            realm_free(text);
            realm_free(json);
            for (size_t q = 0; q < sizeof queries / sizeof *queries; q++) {
                size_t count = 0;
                realm_query_t *query = NULL;
                SUCCEEDS((query = realm_query_parse(realm, all, queries[q], 0, NULL)) &&
                         realm_query_count(query, &count));
                realm_release(query);
            }
        }
    }
    const struct {
        int64_t seconds;
        int32_t nanoseconds;
        const char *text;
    } shown[] = {
        {0, 0, "1970-01-01 00:00:00"},
        {0, 5, "1970-01-01 00:00:00.000000005"},
        {-1, -500000000, "1969-12-31 23:59:58.500000000"},
        {253402300799, 999999999, "9999-12-31 23:59:59.999999999"},
        {951782400, 0, "2000-02-29 00:00:00"},
        {-62135596800, 0, "0001-01-01 00:00:00"},
    };
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        char expected[60];
        snprintf(expected, sizeof expected, "\"p4\":\"%s\"", shown[i].text);
        SUCCEEDS(realm_set_value(object, key, of_time(shown[i].seconds, shown[i].nanoseconds),
                                 false));
        char *text = realm_object_to_string(object);
        CHECK(text && strstr(text, expected));
        realm_free(text);
    }
    SUCCEEDS(realm_commit(realm));
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
    realm_property_key_t id = property_key(realm, thing, "_id"),
                         n = property_key(realm, thing, "n");
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
            realm_object_create_with_primary_key(realm, thing, of_null());
        CHECK(none);
        FAILS(RLM_ERR_OBJECT_ALREADY_EXISTS,
              realm_object_create_with_primary_key(realm, thing, of_null()));
        realm_release(none);
    } else {
        FAILS(RLM_ERR_PROPERTY_NOT_NULLABLE,
              realm_object_create_with_primary_key(realm, thing, of_null()));
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
        realm_object_find_with_primary_key(realm, thing, of_null(), &found);
    CHECK(found == ((flags & RLM_PROPERTY_NULLABLE) != 0) && (none != NULL) == found);
    realm_release(none);
    realm_release(realm);
}

int main(void) {
    round_trips();
    mixed_values();
    texts();
    far_dates();
    primary_keys(RLM_PROPERTY_TYPE_OBJECT_ID, 0, "object-id-keys.realm");
    primary_keys(RLM_PROPERTY_TYPE_OBJECT_ID, RLM_PROPERTY_NULLABLE, "object-id-keys-null.realm");
    primary_keys(RLM_PROPERTY_TYPE_UUID, 0, "uuid-keys.realm");
    primary_keys(RLM_PROPERTY_TYPE_UUID, RLM_PROPERTY_NULLABLE, "uuid-keys-null.realm");
    return check_end("values");
}
