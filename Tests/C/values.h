/* Values for C tests: of every type, their extremes, and their comparison bit for bit. */
#ifndef VALUES_H
#define VALUES_H

#include "check.h"

#include <math.h>

static inline realm_value_t of_type(realm_value_type_e type) {
    realm_value_t value;
    memset(&value, 0, sizeof value);
    value.type = type;
    return value;
}
static inline realm_value_t of_null(void) { return of_type(RLM_TYPE_NULL); }
static inline realm_value_t of_int(int64_t v) {
    realm_value_t value = of_type(RLM_TYPE_INT);
    value.integer = v;
    return value;
}
static inline realm_value_t of_bool(bool v) {
    realm_value_t value = of_type(RLM_TYPE_BOOL);
    value.boolean = v;
    return value;
}
static inline realm_value_t of_float(float v) {
    realm_value_t value = of_type(RLM_TYPE_FLOAT);
    value.fnum = v;
    return value;
}
static inline realm_value_t of_double(double v) {
    realm_value_t value = of_type(RLM_TYPE_DOUBLE);
    value.dnum = v;
    return value;
}
static inline realm_value_t of_sized_text(const char *v, size_t size) {
    realm_value_t value = of_type(RLM_TYPE_STRING);
    value.string.data = v;
    value.string.size = size;
    return value;
}
static inline realm_value_t of_text(const char *v) { return of_sized_text(v, v ? strlen(v) : 0); }
static inline realm_value_t of_bytes(const void *v, size_t size) {
    realm_value_t value = of_type(RLM_TYPE_BINARY);
    value.binary.data = v;
    value.binary.size = size;
    return value;
}
static inline realm_value_t of_time(int64_t seconds, int32_t nanoseconds) {
    realm_value_t value = of_type(RLM_TYPE_TIMESTAMP);
    value.timestamp.seconds = seconds;
    value.timestamp.nanoseconds = nanoseconds;
    return value;
}
static inline realm_value_t of_decimal(uint64_t low, uint64_t high) {
    realm_value_t value = of_type(RLM_TYPE_DECIMAL128);
    value.decimal128.w[0] = low;
    value.decimal128.w[1] = high;
    return value;
}
/* A small number with exponent zero. */
static inline realm_value_t of_small_decimal(uint64_t number) {
    return of_decimal(number, 0x3040000000000000);
}
static inline realm_value_t of_object_id(int seed) {
    realm_value_t value;
    /* What lies behind the twelve bytes means nothing. */
    memset(&value, seed, sizeof value);
    value.type = RLM_TYPE_OBJECT_ID;
    for (int i = 0; i < 12; i++)
        value.object_id.bytes[i] = (uint8_t)(seed + i * 17);
    return value;
}
static inline realm_value_t of_uuid(int seed) {
    realm_value_t value = of_type(RLM_TYPE_UUID);
    for (int i = 0; i < 16; i++)
        value.uuid.bytes[i] = (uint8_t)(seed + i * 13);
    return value;
}
static inline realm_value_t of_link(realm_link_t link) {
    realm_value_t value = of_type(RLM_TYPE_LINK);
    value.link = link;
    return value;
}
static inline realm_value_t of_link_to(realm_class_key_t class, realm_object_key_t key) {
    realm_link_t link = {class, key};
    return of_link(link);
}
static inline realm_value_t of_unknown_type(void) {
    realm_value_t value = of_int(1);
    value.type = (realm_value_type_e)77;
    return value;
}

static inline bool is_text(realm_value_t value, const char *text) {
    return value.type == RLM_TYPE_STRING && value.string.data &&
           value.string.size == strlen(text) &&
           memcmp(value.string.data, text, strlen(text)) == 0;
}
/* Bit for bit: NaNs with other bits differ, and so do the zeros. */
static inline bool same(realm_value_t a, realm_value_t b) {
    if (a.type != b.type)
        return false;
    switch (a.type) {
    case RLM_TYPE_NULL: return true;
    case RLM_TYPE_INT: return a.integer == b.integer;
    case RLM_TYPE_BOOL: return a.boolean == b.boolean;
    case RLM_TYPE_STRING:
        return a.string.size == b.string.size && a.string.data && b.string.data &&
               memcmp(a.string.data, b.string.data, a.string.size) == 0;
    case RLM_TYPE_BINARY:
        return a.binary.size == b.binary.size && a.binary.data && b.binary.data &&
               memcmp(a.binary.data, b.binary.data, a.binary.size) == 0;
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

/* The types that properties and collections of any kind can have, links and mixed values apart. */
enum { TYPES = 10, EXTREMES = 8 };
static const realm_property_type_e types[TYPES] = {
    RLM_PROPERTY_TYPE_INT,     RLM_PROPERTY_TYPE_BOOL,       RLM_PROPERTY_TYPE_STRING,
    RLM_PROPERTY_TYPE_BINARY,  RLM_PROPERTY_TYPE_TIMESTAMP,  RLM_PROPERTY_TYPE_FLOAT,
    RLM_PROPERTY_TYPE_DOUBLE,  RLM_PROPERTY_TYPE_DECIMAL128, RLM_PROPERTY_TYPE_OBJECT_ID,
    RLM_PROPERTY_TYPE_UUID,
};

/* Extremes of the type at this index, at most EXTREMES; returns how many. Only of decimals
 * some are equal. */
static inline int extremes(int index, realm_value_t *out) {
    static char megabyte[1 << 20];
    memset(megabyte, 'x', sizeof megabyte);
    int n = 0;
    switch (types[index]) {
    case RLM_PROPERTY_TYPE_INT:
        out[n++] = of_int(INT64_MIN), out[n++] = of_int(INT64_MAX), out[n++] = of_int(0);
        break;
    case RLM_PROPERTY_TYPE_BOOL: out[n++] = of_bool(false), out[n++] = of_bool(true); break;
    case RLM_PROPERTY_TYPE_STRING:
        out[n++] = of_text(""), out[n++] = of_text("\xc3\xa9 \xf0\x9f\x98\x80");
        out[n++] = of_sized_text("a\0b\0", 4);
        out[n++] = of_sized_text(megabyte, sizeof megabyte);
        break;
    case RLM_PROPERTY_TYPE_BINARY:
        out[n++] = of_bytes("", 0), out[n++] = of_bytes("\0\xff", 2);
        out[n++] = of_bytes(megabyte, 5000);
        break;
    case RLM_PROPERTY_TYPE_TIMESTAMP:
        out[n++] = of_time(INT64_MIN, -999999999), out[n++] = of_time(INT64_MAX, 999999999);
        out[n++] = of_time(0, 0), out[n++] = of_time(-1, -1);
        break;
    case RLM_PROPERTY_TYPE_FLOAT:
        out[n++] = of_float(-INFINITY), out[n++] = of_float(NAN), out[n++] = of_float(-0.0f);
        out[n++] = of_float(1e-45f);
        break;
    case RLM_PROPERTY_TYPE_DOUBLE:
        out[n++] = of_double(5e-324), out[n++] = of_double(NAN), out[n++] = of_double(INFINITY);
        out[n++] = of_double(-0.0);
        break;
    case RLM_PROPERTY_TYPE_DECIMAL128:
        /* Zeros, the greatest, NaN with a payload, one that is not canonical, all bits, the least:
         * some of them are equal. */
        out[n++] = of_decimal(0, 0x3040000000000000), out[n++] = of_decimal(0, 0);
        out[n++] = of_decimal(0x378d8e63ffffffff, 0x5fffed09bead87c0);
        out[n++] = of_decimal(7, 0xfc00000000000001), out[n++] = of_decimal(5, 0x6c10000000000001);
        out[n++] = of_decimal(UINT64_MAX, UINT64_MAX), out[n++] = of_decimal(1, 0);
        break;
    case RLM_PROPERTY_TYPE_OBJECT_ID:
        out[n++] = of_object_id(0), out[n++] = of_object_id(255);
        break;
    default: out[n++] = of_uuid(0), out[n++] = of_uuid(200); break;
    }
    return n;
}

#endif
