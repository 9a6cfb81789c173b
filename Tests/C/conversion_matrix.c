/* Every pair of property kinds: what a migration from the one to the other makes of the data, and
 * what each schema mode says about it without one. A kind is a type in a collection or alone,
 * optional or not, and a primary key, indexed, or with a full-text index, where that can be. */
#include "schemas.h"

static const char *path = "matrix.realm";

typedef struct type {
    const char *name;
    realm_property_type_e type;
    /* Three values and what is there without one, as JSON. */
    const char *values[3], *zero;
    bool is_key, is_indexed;
} type_t;
static const type_t value_types[] = {
    {"int", RLM_PROPERTY_TYPE_INT, {"5", "-6", "42"}, "0", true, true},
    {"bool", RLM_PROPERTY_TYPE_BOOL, {"true", "false", "true"}, "false", false, true},
    {"string", RLM_PROPERTY_TYPE_STRING, {"\"five oaks\"", "\"six\"", "\"new\""}, "\"\"", true,
     true},
    {"data", RLM_PROPERTY_TYPE_BINARY, {"\"AAAA\"", "\"AAAB\"", "\"AAAC\""}, "\"\"", false, false},
    {"date", RLM_PROPERTY_TYPE_TIMESTAMP,
     {"\"2020-01-02T03:04:05Z\"", "\"1960-01-02T03:04:05.5Z\"", "\"2021-01-01T00:00:00Z\""},
     "\"1970-01-01T00:00:00Z\"", false, true},
    {"float", RLM_PROPERTY_TYPE_FLOAT, {"0.5", "-1.5", "2.5"}, "0.0", false, false},
    {"double", RLM_PROPERTY_TYPE_DOUBLE, {"0.25", "-1.25", "2.25"}, "0.0", false, false},
    {"decimal", RLM_PROPERTY_TYPE_DECIMAL128, {"\"1.5\"", "\"-2\"", "\"3\""}, "\"0\"", false,
     false},
    {"oid", RLM_PROPERTY_TYPE_OBJECT_ID,
     {"\"0123456789abcdef01234567\"", "\"ffffffffffffffffffffffff\"",
      "\"0123456789abcdef01234568\""},
     "\"000000000000000000000000\"", true, true},
    {"uuid", RLM_PROPERTY_TYPE_UUID,
     {"\"00000000-0000-0000-0000-00000000000a\"", "\"f0000000-0000-0000-0000-00000000000b\"",
      "\"00000000-0000-0000-0000-00000000000c\""},
     "\"00000000-0000-0000-0000-000000000000\"", true, true},
    {"mixed", RLM_PROPERTY_TYPE_MIXED, {"7", "[1,{\"a\":[2]}]", "\"new\""}, "null", false, true},
    {"Q", RLM_PROPERTY_TYPE_OBJECT, {"1", "2", "2"}, "null", false, false},
    {"E", RLM_PROPERTY_TYPE_OBJECT, {"{\"x\":1}", "{\"x\":2}", "{\"x\":3}"}, "null", false, false},
    {"backlinks", RLM_PROPERTY_TYPE_LINKING_OBJECTS, {NULL, NULL, NULL}, NULL, false, false},
};
enum { STRING = 2, MIXED = 10, LINK, EMBEDDED, BACKLINKS, TYPE_COUNT };

typedef struct kind {
    int type;
    realm_collection_type_e collection;
    bool nullable;
    /* '#' primary key, '*' indexed, '%' full text; 0: none of them. */
    char mark;
} kind_t;
enum { KINDS_MAX = 160, OBJECTS = 3 };
static kind_t kinds[KINDS_MAX];
static int kind_count;

static void make_kinds(void) {
    static const char marks[] = {0, '#', '*', '%'};
    static const realm_collection_type_e collections[] = {
        RLM_COLLECTION_TYPE_NONE, RLM_COLLECTION_TYPE_LIST, RLM_COLLECTION_TYPE_SET,
        RLM_COLLECTION_TYPE_DICTIONARY};
    for (int t = 0; t < TYPE_COUNT; t++)
        for (int c = 0; c < 4; c++)
            for (int nullable = 0; nullable < 2; nullable++)
                for (int m = 0; m < 4; m++) {
                    kind_t kind = {t, collections[c], nullable, marks[m]};
                    bool is_link = t == LINK || t == EMBEDDED;
                    bool is_single = kind.collection == RLM_COLLECTION_TYPE_NONE;
                    bool is_list = kind.collection == RLM_COLLECTION_TYPE_LIST;
                    bool is_set = kind.collection == RLM_COLLECTION_TYPE_SET;
                    if ((t == MIXED && !nullable) ||
                        (is_link && nullable == (is_list || is_set)) ||
                        (t == EMBEDDED && is_set) ||
                        (t == BACKLINKS && (!is_list || nullable)))
                        continue;
                    const type_t *type = &value_types[t];
                    if (kind.mark == 0 || (kind.mark == '#' && type->is_key && is_single) ||
                        (kind.mark == '*' && type->is_indexed && is_single) ||
                        (kind.mark == '*' && t == STRING && is_list) ||
                        (kind.mark == '%' && t == STRING && is_single))
                        kinds[kind_count++] = kind;
                }
}

/* In words, for reports. */
static const char *text_of(kind_t kind) {
    static char texts[4][40];
    static int next;
    static const char *forms[] = {"%s%s%c", "list<%s%s>%c", "set<%s%s>%c", "",
                                  "dictionary<%s%s>%c"};
    char *text = texts[next++ % 4];
    snprintf(text, sizeof *texts, forms[kind.collection], value_types[kind.type].name,
             kind.nullable ? "?" : "", kind.mark ? kind.mark : ' ');
    return text;
}

/* MARK: What the rules say of a pair */

static bool is_same(kind_t a, kind_t b) {
    return a.type == b.type && a.collection == b.collection && a.nullable == b.nullable &&
           a.mark == b.mark;
}
static bool has_type_of(kind_t a, kind_t b) {
    return a.type == b.type && a.collection == b.collection;
}
/* Values stay; otherwise they start anew. */
static bool is_kept(kind_t from, kind_t to) {
    return has_type_of(from, to) && from.type != BACKLINKS && (to.nullable || !from.nullable);
}
static bool differs_by_index(kind_t from, kind_t to) {
    return has_type_of(from, to) && from.nullable == to.nullable &&
           (from.mark == '#') == (to.mark == '#') && from.mark != to.mark;
}
/* Several objects would have one primary key. */
static bool is_refused(kind_t from, kind_t to) { return to.mark == '#' && !is_kept(from, to); }

/* MARK: Schemas */

static realm_property_info_t property_for(kind_t kind, char *origin) {
    if (kind.type == BACKLINKS)
        return backlinks_of("v", "Q", origin);
    int flags = (kind.nullable ? RLM_PROPERTY_NULLABLE : 0) |
                (kind.mark == '#'   ? RLM_PROPERTY_PRIMARY_KEY
                 : kind.mark == '*' ? RLM_PROPERTY_INDEXED
                 : kind.mark == '%' ? RLM_PROPERTY_FULLTEXT_INDEXED
                                    : 0);
    bool is_link = kind.type == LINK || kind.type == EMBEDDED;
    return many_of("v", kind.collection, value_types[kind.type].type, flags,
                   is_link ? value_types[kind.type].name : "");
}

/* Classes P000, P001, ... {n: int, v: one of the kinds}, and those that they link to. */
static realm_schema_t *schema_with(const kind_t *all, int count) {
    static realm_class_info_t classes[KINDS_MAX + 3];
    static const realm_property_info_t *properties[KINDS_MAX + 3];
    static realm_property_info_t own[KINDS_MAX][2], origins[KINDS_MAX + 1];
    static realm_property_info_t x, holder;
    static char names[KINDS_MAX][8], links[KINDS_MAX][8];
    origins[0] = property_of("k", RLM_PROPERTY_TYPE_INT, RLM_PROPERTY_PRIMARY_KEY);
    for (int i = 0; i < count; i++) {
        snprintf(names[i], sizeof names[i], "P%03d", i);
        snprintf(links[i], sizeof links[i], "b%03d", i);
        bool computed = all[i].type == BACKLINKS;
        own[i][0] = property_of("n", RLM_PROPERTY_TYPE_INT, 0);
        own[i][1] = property_for(all[i], links[i]);
        properties[i] = own[i];
        classes[i] = class_of(names[i], all[i].mark == '#' ? "v" : "", computed ? 1 : 2, computed);
        origins[i + 1] = link_of(links[i], names[i]);
    }
    x = property_of("x", RLM_PROPERTY_TYPE_INT, 0);
    holder = link_of("e", "E");
    properties[count] = origins;
    properties[count + 1] = &x;
    properties[count + 2] = &holder;
    classes[count] = class_of("Q", "k", (size_t)count + 1, 0);
    classes[count + 1] = class_of("E", "", 1, 0);
    classes[count + 1].flags = RLM_CLASS_EMBEDDED;
    classes[count + 2] = class_of("Holder", "", 1, 0);
    return realm_schema_new(classes, (size_t)count + 3, properties);
}
static realm_t *open_with(const kind_t *all, int count, uint64_t version) {
    realm_config_t *config = realm_config_new();
    realm_schema_t *schema = schema_with(all, count);
    realm_config_set_path(config, path);
    realm_config_set_schema(config, schema);
    realm_config_set_schema_version(config, version);
    realm_release(schema);
    realm_t *realm = realm_open(config);
    realm_release(config);
    return realm;
}

/* MARK: Data */

/* The value of object `n` (of three; a fourth is made later), as JSON. */
static void value_text(char *text, kind_t kind, int n) {
    const type_t *type = &value_types[kind.type];
    const char *nothing = kind.nullable ? "null" : type->zero;
    const char *one = type->values[n % 3];
    /* Sets hold no lists. */
    if (kind.type == MIXED && kind.collection == RLM_COLLECTION_TYPE_SET && n == 1)
        one = type->values[2];
    static const char *some[] = {"[%s]", "[%s,%s]", "[]", "[%s]"};
    static const char *named[] = {"{\"a\":%s}", "{\"a\":%s,\"b\":%s}", "{}", "{\"c\":%s}"};
    if (kind.collection == RLM_COLLECTION_TYPE_NONE) {
        strcpy(text, n == 2 ? nothing : type->values[n == 3 ? 2 : n]);
        return;
    }
    const char *form = kind.collection == RLM_COLLECTION_TYPE_DICTIONARY ? named[n] : some[n];
    bool may_be_null = kind.nullable && kind.type != EMBEDDED;
    sprintf(text, form, one, may_be_null && kind.type != LINK ? "null" : type->values[0]);
}
static void add_object(realm_t *realm, int class, kind_t kind, int n) {
    char text[300], value[200], name[8];
    snprintf(name, sizeof name, "P%03d", class);
    if (kind.type == BACKLINKS) {
        snprintf(text, sizeof text, "{\"n\":%d}", n);
    } else {
        value_text(value, kind, n);
        snprintf(text, sizeof text, "{\"n\":%d,\"v\":%s}", n, value);
    }
    add(realm, name, text);
}
/* Object `n` of a class as JSON; "" where there is none. */
static void read_object(char *text, size_t size, realm_t *realm, int class, int n) {
    char name[8], query[20];
    snprintf(name, sizeof name, "P%03d", class);
    snprintf(query, sizeof query, "n == %d", n);
    realm_object_t *object = first(realm, name, query);
    char *json = object ? realm_object_to_json(object, 0, 0) : NULL;
    snprintf(text, size, "%s", json ? json : "");
    realm_free(json);
    realm_release(object);
}

static char before[KINDS_MAX][OBJECTS][300];
static int objects_of[KINDS_MAX];

/* A new file in which all `count` classes have `from`, and what is in it. */
static void start(kind_t from, int count) {
    static kind_t same[KINDS_MAX];
    bool deleted;
    SUCCEEDS(realm_delete_files(path, &deleted));
    for (int i = 0; i < count; i++)
        same[i] = from;
    realm_t *realm = open_with(same, count, 1);
    CHECK(realm != NULL);
    SUCCEEDS(realm_begin_write(realm));
    add(realm, "Q", "{\"k\":1}");
    add(realm, "Q", "{\"k\":2}");
    realm_object_t *target = first(realm, "Q", "k == 1");
    realm_value_t link = {.type = RLM_TYPE_LINK, .link = realm_object_as_link(target)};
    for (int i = 0; i < count; i++) {
        for (int n = 0; n < objects_of[i]; n++)
            add_object(realm, i, from, n);
        char name[8];
        snprintf(name, sizeof name, "P%03d", i);
        if (from.type == MIXED && from.collection == 0) {
            realm_object_t *object = first(realm, name, "n == 0");
            SUCCEEDS(realm_set_value(object, key_in(realm, name, "v"), link, false));
            realm_release(object);
        } else if (from.type == BACKLINKS) {
            realm_object_t *object = first(realm, name, "n == 0");
            realm_value_t back = {.type = RLM_TYPE_LINK, .link = realm_object_as_link(object)};
            name[0] = 'b';
            SUCCEEDS(realm_set_value(target, key_in(realm, "Q", name), back, false));
            realm_release(object);
        }
    }
    realm_release(target);
    SUCCEEDS(realm_commit(realm));
    for (int i = 0; i < count; i++)
        for (int n = 0; n < objects_of[i]; n++)
            read_object(before[i][n], sizeof before[i][n], realm, i, n);
    shut(realm);
}

/* MARK: Migrations */

static void expected_text(char *text, size_t size, kind_t from, kind_t to, int class, int n) {
    if (is_kept(from, to)) {
        snprintf(text, size, "%s", before[class][n]);
    } else if (to.type == BACKLINKS) {
        snprintf(text, size, "{\"n\":%d}", n);
    } else {
        const char *nothing = to.nullable ? "null" : value_types[to.type].zero;
        if (to.collection)
            nothing = to.collection == RLM_COLLECTION_TYPE_DICTIONARY ? "{}" : "[]";
        snprintf(text, size, "{\"n\":%d,\"v\":%s}", n, nothing);
    }
}

/* Queries find what is there, over the indexes that the property has now. */
static void find_values(realm_t *realm, int class, kind_t from, kind_t to) {
    char name[8], texts[OBJECTS][300];
    snprintf(name, sizeof name, "P%03d", class);
    if (to.mark == '%')
        CHECK(count(realm, name, "v TEXT 'oaks'") == (is_kept(from, to) ? 1u : 0u));
    if (to.collection && to.mark == '*') {
        size_t oaks = !is_kept(from, to) ? 0 : from.nullable ? 1 : 2;
        CHECK(count(realm, name, "ANY v == 'five oaks'") == oaks);
    }
    if (to.collection || to.type >= MIXED)
        return;
    for (int n = 0; n < objects_of[class]; n++)
        expected_text(texts[n], sizeof texts[n], from, to, class, n);
    for (int n = 0; n < objects_of[class]; n++) {
        char query[20];
        size_t same = 0, found = 0;
        for (int other = 0; other < objects_of[class]; other++)
            same += !strcmp(strstr(texts[n], "\"v\""), strstr(texts[other], "\"v\""));
        snprintf(query, sizeof query, "n == %d", n);
        realm_object_t *object = first(realm, name, query);
        realm_value_t value;
        SUCCEEDS(realm_get_value(object, key_in(realm, name, "v"), &value));
        realm_query_arg_t argument = {.nb_args = 1, .is_list = false, .arg = &value};
        realm_query_t *parsed =
            realm_query_parse(realm, class_in(realm, name), "v == $0", 1, &argument);
        CHECK(parsed && realm_query_count(parsed, &found) && found == same);
        realm_release(parsed);
        if (to.mark == '#') {
            bool is_there = false;
            realm_object_t *other = realm_object_find_with_primary_key(
                realm, class_in(realm, name), value, &is_there);
            CHECK(is_there && realm_equals(object, other));
            realm_release(other);
        }
        realm_release(object);
    }
}

/* What has the new kind takes values, and objects come and go. */
static void write_values(realm_t *realm, int class, kind_t to) {
    char name[8];
    snprintf(name, sizeof name, "P%03d", class);
    add_object(realm, class, to, 3);
    realm_object_t *object = first(realm, name, "n == 1");
    if (object)
        SUCCEEDS(realm_object_delete(object));
    realm_release(object);
    object = first(realm, name, "n == 0");
    if (to.collection == RLM_COLLECTION_TYPE_NONE && to.type < MIXED && to.mark != '#') {
        realm_object_t *made = first(realm, name, "n == 3");
        realm_value_t value;
        SUCCEEDS(realm_get_value(made, key_in(realm, name, "v"), &value));
        SUCCEEDS(realm_set_value(object, key_in(realm, name, "v"), value, false));
        realm_release(made);
    }
    realm_release(object);
}

/* One file with a class for each kind that the property may become, all in one migration. */
static size_t everything_at_once(kind_t from) {
    size_t embedded = 0, wrong = 0;
    for (int i = 0; i < kind_count; i++)
        objects_of[i] = is_refused(from, kinds[i]) ? 1 : OBJECTS;
    start(from, kind_count);
    realm_t *realm = open_with(kinds, kind_count, 2);
    realm_error_t error;
    if (!realm && realm_get_last_error(&error))
        fprintf(stderr, "    %s: %s\n", text_of(from), error.message);
    CHECK(realm != NULL);
    if (!realm)
        return 0;
    for (int i = 0; i < kind_count; i++) {
        if (from.type == EMBEDDED && is_kept(from, kinds[i]))
            embedded += from.collection ? 3 : 2;
        for (int n = 0; n < objects_of[i]; n++) {
            char expected[300], found[300];
            expected_text(expected, sizeof expected, from, kinds[i], i, n);
            read_object(found, sizeof found, realm, i, n);
            if (strcmp(expected, found)) {
                fprintf(stderr, "    %s -> %s: %s, expected %s\n", text_of(from), text_of(kinds[i]),
                        found, expected);
                wrong++;
            }
        }
        find_values(realm, i, from, kinds[i]);
    }
    CHECK(wrong == 0);
    CHECK(count(realm, "E", "TRUEPREDICATE") == embedded);
    shut(realm);
    SOUND(path);
    realm = open_with(kinds, kind_count, 2);
    SUCCEEDS(realm_begin_write(realm));
    for (int i = 0; i < kind_count; i++)
        write_values(realm, i, kinds[i]);
    SUCCEEDS(realm_commit(realm));
    shut(realm);
    SOUND(path);
    return (size_t)kind_count;
}

/* MARK: Refusals */

static size_t refused;

/* The error that a mode has for the pair at the same version; RLM_ERR_NONE: the file is opened. */
static realm_errno_e error_of(realm_schema_mode_e mode, kind_t from, kind_t to) {
    bool comes = from.type == BACKLINKS && to.type != BACKLINKS;
    bool goes = from.type != BACKLINKS && to.type == BACKLINKS;
    /* A key that comes with its property, or goes with it, is a change of the key as well. */
    bool changes_key = (from.mark == '#') != (to.mark == '#');
    bool is_index = differs_by_index(from, to);
    if (is_same(from, to))
        return RLM_ERR_NONE;
    switch (mode) {
    case RLM_SCHEMA_MODE_AUTOMATIC: return is_index ? RLM_ERR_NONE : RLM_ERR_SCHEMA_MISMATCH;
    case RLM_SCHEMA_MODE_MANUAL: return RLM_ERR_SCHEMA_MISMATCH;
    case RLM_SCHEMA_MODE_ADDITIVE_DISCOVERED:
    case RLM_SCHEMA_MODE_ADDITIVE_EXPLICIT:
        return is_index || ((comes || goes) && !changes_key) ? RLM_ERR_NONE
                                                             : RLM_ERR_INVALID_SCHEMA_CHANGE;
    case RLM_SCHEMA_MODE_READ_ONLY:
    case RLM_SCHEMA_MODE_IMMUTABLE:
        return is_index || (goes && !changes_key) ? RLM_ERR_NONE : RLM_ERR_INVALID_SCHEMA_CHANGE;
    default: return RLM_ERR_NONE;
    }
}

/* One file, and what each mode says of each kind that the property might become. */
static void one_by_one(kind_t from) {
    static const realm_schema_mode_e modes[] = {
        RLM_SCHEMA_MODE_AUTOMATIC,         RLM_SCHEMA_MODE_MANUAL,
        RLM_SCHEMA_MODE_SOFT_RESET_FILE,   RLM_SCHEMA_MODE_HARD_RESET_FILE,
        RLM_SCHEMA_MODE_READ_ONLY,         RLM_SCHEMA_MODE_IMMUTABLE,
        RLM_SCHEMA_MODE_ADDITIVE_EXPLICIT, RLM_SCHEMA_MODE_ADDITIVE_DISCOVERED};
    objects_of[0] = OBJECTS;
    start(from, 1);
    for (int i = 0; i < kind_count; i++) {
        realm_t *realm = open_with(&from, 1, 1);
        realm_schema_t *schema = schema_with(&kinds[i], 1);
        realm_error_t error;
        for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
            bool changes = false;
            bool fits =
                realm_preview_schema(realm, schema, 1, modes[m], NULL, NULL, &changes);
            realm_errno_e expected = error_of(modes[m], from, kinds[i]);
            realm_errno_e found = RLM_ERR_NONE;
            if (!fits && realm_get_last_error(&error))
                found = error.error;
            if (found != expected)
                fprintf(stderr, "    %s -> %s in mode %d: error %d, expected %d\n", text_of(from),
                        text_of(kinds[i]), (int)modes[m], (int)found, (int)expected);
            CHECK(found == expected && fits == (expected == RLM_ERR_NONE));
            CHECK(!is_same(from, kinds[i]) || !changes);
            realm_clear_last_error();
        }
        realm_release(schema);
        shut(realm);
        if (!is_refused(from, kinds[i]))
            continue;
        refused++;
        realm = open_with(&kinds[i], 1, 2);
        CHECK(!realm && realm_get_last_error(&error));
        CHECK(error.error == RLM_ERR_MIGRATION_FAILED && strstr(error.message, "'P000.v'") &&
              strstr(error.message, "several objects have the value"));
        realm_clear_last_error();
    }
    realm_t *realm = open_with(&from, 1, 1);
    for (int n = 0; n < OBJECTS; n++) {
        char found[300];
        read_object(found, sizeof found, realm, 0, n);
        CHECK(!strcmp(found, before[0][n]));
    }
    shut(realm);
    SOUND(path);
}

int main(void) {
    make_kinds();
    size_t pairs = 0;
    for (int i = 0; i < kind_count; i++) {
        pairs += everything_at_once(kinds[i]);
        one_by_one(kinds[i]);
    }
    CHECK(kind_count > 110 && pairs == (size_t)kind_count * (size_t)kind_count && refused > 800);
    printf("%d kinds, %zu pairs, of which %zu are refused where there are several objects\n",
           kind_count, pairs, refused);
    return check_end("conversion matrix");
}
