/* Objects: creating, finding, reading, changing, deleting, and every way to do it wrong. */
#include "people.h"

#include <pthread.h>

static void creating(void) {
    realm_t *realm = open_people("creating.realm");
    keys_t k = keys_of(realm);
    const realm_class_key_t unknown = 0x7ffffff0;
    /* The order of checks: class, primary key, transaction. */
    FAILS(RLM_ERR_NO_SUCH_TABLE, realm_object_create(realm, unknown));
    FAILS(RLM_ERR_NO_SUCH_TABLE, realm_object_create(realm, RLM_INVALID_CLASS_KEY));
    FAILS(RLM_ERR_MISSING_PRIMARY_KEY, realm_object_create(realm, k.person));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_object_create(realm, k.note));
    FAILS(RLM_ERR_NO_SUCH_TABLE, realm_object_create_with_primary_key(realm, unknown, of_int(1)));
    FAILS(RLM_ERR_UNEXPECTED_PRIMARY_KEY,
          realm_object_create_with_primary_key(realm, k.note, of_int(1)));
    FAILS(RLM_ERR_PROPERTY_NOT_NULLABLE,
          realm_object_create_with_primary_key(realm, k.person, of_null()));
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH,
          realm_object_create_with_primary_key(realm, k.person, of_text("1")));
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH,
          realm_object_create_with_primary_key(realm, k.person, of_double(1)));
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH,
          realm_object_create_with_primary_key(realm, k.person, of_unknown_type()));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE,
          realm_object_create_with_primary_key(realm, k.person, of_int(1)));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE,
          realm_object_get_or_create_with_primary_key(realm, k.person, of_int(1), NULL));

    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *one = realm_object_create_with_primary_key(realm, k.person, of_int(1));
    CHECK(one && realm_object_is_valid(one));
    FAILS(RLM_ERR_OBJECT_ALREADY_EXISTS,
          realm_object_create_with_primary_key(realm, k.person, of_int(1)));
    bool created = true;
    realm_object_t *same =
        realm_object_get_or_create_with_primary_key(realm, k.person, of_int(1), &created);
    CHECK(same && !created && realm_equals(one, same));
    realm_release(same);
    /* Null is a key like another where it is allowed, also in a string without data. */
    realm_object_t *nameless = realm_object_create_with_primary_key(realm, k.dept, of_null());
    CHECK(nameless != NULL);
    FAILS(RLM_ERR_OBJECT_ALREADY_EXISTS,
          realm_object_create_with_primary_key(realm, k.dept, of_null()));
    FAILS(RLM_ERR_OBJECT_ALREADY_EXISTS,
          realm_object_create_with_primary_key(realm, k.dept, of_text(NULL)));
    realm_object_t *empty = realm_object_create_with_primary_key(realm, k.dept, of_text(""));
    CHECK(empty && !realm_equals(empty, nameless));
    realm_release(empty);
    realm_release(nameless);
    /* Every 64-bit number is a key. */
    const int64_t numbers[] = {0, -1, INT64_MIN, INT64_MAX, 2, -2};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        realm_object_t *made =
            realm_object_create_with_primary_key(realm, k.person, of_int(numbers[i]));
        realm_value_t id = of_null();
        CHECK(made && realm_get_value(made, k.id, &id) && id.integer == numbers[i]);
        realm_release(made);
    }
    /* Defaults. */
    realm_value_t v;
    SUCCEEDS(realm_get_value(one, k.name, &v));
    CHECK(is_text(v, "") && v.string.data);
    SUCCEEDS(realm_get_value(one, k.age, &v));
    CHECK(v.type == RLM_TYPE_NULL);
    SUCCEEDS(realm_get_value(one, k.score, &v));
    CHECK(v.type == RLM_TYPE_DOUBLE && v.dnum == 0);
    SUCCEEDS(realm_get_value(one, k.ratio, &v));
    CHECK(v.type == RLM_TYPE_FLOAT && v.fnum == 0);
    SUCCEEDS(realm_get_value(one, k.active, &v));
    CHECK(v.type == RLM_TYPE_BOOL && !v.boolean);
    /* Keys of classes without primary key count up and are not used again. */
    realm_object_t *note = realm_object_create(realm, k.note);
    realm_object_key_t first = realm_object_get_key(note);
    CHECK(first == 0 && realm_object_get_table(note) == k.note);
    SUCCEEDS(realm_object_delete(note));
    realm_release(note);
    note = realm_object_create(realm, k.note);
    CHECK(realm_object_get_key(note) == first + 1);
    SUCCEEDS(realm_rollback(realm));
    CHECK(!realm_object_is_valid(note) && !realm_object_is_valid(one));
    realm_release(note);
    realm_release(one);
    size_t count = 9;
    SUCCEEDS(realm_get_num_objects(realm, k.person, &count));
    CHECK(count == 0);
    FAILS(RLM_ERR_NO_SUCH_TABLE, realm_get_num_objects(realm, unknown, &count));
    realm_release(realm);
}

static void finding(void) {
    realm_t *realm = open_people("finding.realm");
    keys_t k = keys_of(realm);
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *five = make_person(realm, &k, 5);
    SUCCEEDS(realm_commit(realm));
    bool found = true;
    NOTHING(realm_object_find_with_primary_key(realm, k.person, of_int(6), &found));
    CHECK(!found);
    NOTHING(realm_object_find_with_primary_key(realm, k.person, of_text("5"), &found));
    NOTHING(realm_object_find_with_primary_key(realm, k.person, of_null(), &found));
    NOTHING(realm_object_find_with_primary_key(realm, k.person, of_unknown_type(), &found));
    NOTHING(realm_object_find_with_primary_key(realm, k.dept, of_null(), NULL));
    NOTHING(realm_object_find_with_primary_key(realm, k.note, of_int(0), &found));
    FAILS(RLM_ERR_NO_SUCH_TABLE,
          realm_object_find_with_primary_key(realm, 0x7ffffff0, of_int(5), &found));
    realm_object_t *again = realm_object_find_with_primary_key(realm, k.person, of_int(5), &found);
    CHECK(again && found && realm_equals(again, five));
    realm_object_t *by_key = realm_get_object(realm, k.person, realm_object_get_key(five));
    CHECK(by_key && realm_equals(by_key, five));
    realm_link_t link = realm_object_as_link(five);
    CHECK(link.target_table == k.person && link.target == realm_object_get_key(five));
    FAILS(RLM_ERR_NO_SUCH_OBJECT, realm_get_object(realm, k.person, -1));
    FAILS(RLM_ERR_NO_SUCH_OBJECT, realm_get_object(realm, k.person, INT64_MIN));
    FAILS(RLM_ERR_NO_SUCH_OBJECT, realm_get_object(realm, k.person, INT64_MAX));
    FAILS(RLM_ERR_NO_SUCH_TABLE, realm_get_object(realm, 0x7ffffff0, 0));
    realm_release(again);
    realm_release(by_key);
    realm_release(five);
    realm_release(realm);
}

static void changing(void) {
    realm_t *realm = open_people("changing.realm");
    keys_t k = keys_of(realm);
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *one = make_person(realm, &k, 1), *two = make_person(realm, &k, 2);
    realm_object_t *dept = realm_object_create_with_primary_key(realm, k.dept, of_text("d"));
    realm_value_t v;

    FAILS(RLM_ERR_PROPERTY_NOT_NULLABLE, realm_set_value(one, k.name, of_null(), false));
    FAILS(RLM_ERR_PROPERTY_NOT_NULLABLE, realm_set_value(one, k.name, of_text(NULL), false));
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_set_value(one, k.name, of_int(1), false));
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_set_value(one, k.score, of_int(1), false));
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_set_value(one, k.score, of_float(1), false));
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_set_value(one, k.data, of_text("x"), false));
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_set_value(one, k.age, of_unknown_type(), false));
    FAILS(RLM_ERR_INVALID_PROPERTY, realm_set_value(one, -1, of_int(1), false));
    FAILS(RLM_ERR_INVALID_PROPERTY, realm_set_value(one, INT64_MAX, of_int(1), false));
    FAILS(RLM_ERR_INVALID_PROPERTY, realm_set_value(one, k.budget, of_int(1), false));
    CHECK(!realm_set_value(one, k.staff, of_null(), false));
    FAILS(RLM_ERR_MODIFY_PRIMARY_KEY, realm_set_value(one, k.id, of_int(7), false));
    SUCCEEDS(realm_set_value(one, k.id, of_int(1), false)); /* the same is no change */
    /* Texts that look alike are different keys. */
    realm_object_t *composed =
        realm_object_create_with_primary_key(realm, k.dept, of_text("\xc3\xa9"));
    CHECK(composed != NULL);
    FAILS(RLM_ERR_MODIFY_PRIMARY_KEY,
          realm_set_value(composed, k.dept_name, of_text("e\xcc\x81"), false));
    FAILS(RLM_ERR_MODIFY_PRIMARY_KEY, realm_set_value(composed, k.dept_name, of_null(), false));
    SUCCEEDS(realm_set_value(composed, k.dept_name, of_text("\xc3\xa9"), false));
    realm_release(composed);

    /* Links: class, existence. */
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH,
          realm_set_value(one, k.boss, of_link(realm_object_as_link(dept)), false));
    realm_link_t nobody = {k.person, 4711};
    FAILS(RLM_ERR_NO_SUCH_OBJECT, realm_set_value(one, k.boss, of_link(nobody), false));
    SUCCEEDS(realm_set_value(one, k.boss, of_link(realm_object_as_link(two)), false));
    realm_object_t *boss = realm_get_linked_object(one, k.boss);
    CHECK(boss && realm_equals(boss, two));
    realm_release(boss);
    NOTHING(realm_get_linked_object(two, k.boss));
    FAILS(RLM_ERR_INVALID_TABLE_REF, realm_get_linked_object(one, k.age));
    FAILS(RLM_ERR_INVALID_PROPERTY, realm_get_linked_object(one, -1));

    /* All pairs are checked before any is written. */
    realm_property_key_t pair[] = {k.age, k.name};
    realm_value_t values[] = {of_int(99), of_int(1)};
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_set_values(one, 2, pair, values, false));
    SUCCEEDS(realm_get_value(one, k.age, &v));
    CHECK(v.integer == 1);
    SUCCEEDS(realm_set_values(one, 0, NULL, NULL, false));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_set_values(one, 1, NULL, values, false));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_set_values(one, 1, pair, NULL, false));

    /* Integers wrap around; order of checks: property, value, transaction. */
    SUCCEEDS(realm_set_value(one, k.age, of_int(INT64_MAX), false));
    SUCCEEDS(realm_object_add_int(one, k.age, 1));
    SUCCEEDS(realm_get_value(one, k.age, &v));
    CHECK(v.integer == INT64_MIN);
    SUCCEEDS(realm_set_value(one, k.age, of_null(), false));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_object_add_int(one, k.age, 1));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_object_add_int(one, k.score, 1));
    FAILS(RLM_ERR_INVALID_PROPERTY, realm_object_add_int(one, -1, 1));

    /* Values of all types come back as they were. */
    const char bytes[] = {0, 1, 2, 0};
    SUCCEEDS(realm_set_value(one, k.data, of_bytes(bytes, 4), false));
    SUCCEEDS(realm_get_value(one, k.data, &v));
    CHECK(v.type == RLM_TYPE_BINARY && v.binary.size == 4 && !memcmp(v.binary.data, bytes, 4));
    SUCCEEDS(realm_set_value(one, k.data, of_bytes("", 0), false));
    SUCCEEDS(realm_get_value(one, k.data, &v));
    CHECK(v.type == RLM_TYPE_BINARY && v.binary.size == 0 && v.binary.data);
    SUCCEEDS(realm_set_value(one, k.data, of_bytes(NULL, 0), false));
    SUCCEEDS(realm_get_value(one, k.data, &v));
    CHECK(v.type == RLM_TYPE_NULL);
    SUCCEEDS(realm_set_value(one, k.born, of_time(-5, -999999999), false));
    SUCCEEDS(realm_get_value(one, k.born, &v));
    CHECK(v.timestamp.seconds == -5 && v.timestamp.nanoseconds == -999999999);
    SUCCEEDS(realm_set_value(one, k.score, of_double(NAN), false));
    SUCCEEDS(realm_get_value(one, k.score, &v));
    CHECK(isnan(v.dnum));
    SUCCEEDS(realm_set_value(one, k.name, of_text("\xc3\xa9 \xf0\x9f\x98\x80"), false));
    SUCCEEDS(realm_get_value(one, k.name, &v));
    CHECK(is_text(v, "\xc3\xa9 \xf0\x9f\x98\x80"));
    size_t large = 3000000;
    char *text = malloc(large + 1);
    memset(text, 'x', large);
    text[large] = 0;
    SUCCEEDS(realm_set_value(one, k.name, of_text(text), false));
    SUCCEEDS(realm_commit(realm));
    SUCCEEDS(realm_get_value(one, k.name, &v));
    CHECK(is_text(v, text));
    free(text);

    /* Types are checked before the transaction. */
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_set_value(one, k.name, of_int(1), false));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_set_value(one, k.name, of_text("n"), false));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_object_add_int(one, k.score, 1));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_object_delete(one));
    realm_release(one);
    realm_release(two);
    realm_release(dept);
    realm_release(realm);
}

/* Sizes that no memory has are refused before a byte is read; a refused key leaves no object. */
static void sizes(void) {
    realm_t *realm = open_people("sizes.realm");
    keys_t k = keys_of(realm);
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *one = make_person(realm, &k, 1);
    const size_t counts[] = {SIZE_MAX, SIZE_MAX / 2 + 1, SIZE_MAX / 2, (size_t)1 << 40};
    realm_value_t v = of_text("x"), age;
    size_t count = 0;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        v.string.size = counts[i];
        v.type = RLM_TYPE_STRING;
        FAILS(RLM_ERR_LIMIT_EXCEEDED, realm_set_value(one, k.name, v, false));
        FAILS(RLM_ERR_LIMIT_EXCEEDED, realm_object_create_with_primary_key(realm, k.dept, v));
        FAILS(RLM_ERR_LIMIT_EXCEEDED,
              realm_object_get_or_create_with_primary_key(realm, k.dept, v, NULL));
        NOTHING(realm_object_find_with_primary_key(realm, k.dept, v, NULL));
        v.type = RLM_TYPE_BINARY;
        FAILS(RLM_ERR_LIMIT_EXCEEDED, realm_set_value(one, k.data, v, false));
    }
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_set_values(one, SIZE_MAX, &k.age, &v, false));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_get_values(one, SIZE_MAX, &k.age, &age));
    SUCCEEDS(realm_get_num_objects(realm, k.dept, &count));
    CHECK(count == 0);
    SUCCEEDS(realm_commit(realm));
    SUCCEEDS(realm_check(realm, NULL, NULL, &count));
    CHECK(count == 0);
    /* A null of whatever spelling, with rubbish in its size. */
    v = of_text(NULL);
    v.string.size = SIZE_MAX;
    NOTHING(realm_object_find_with_primary_key(realm, k.dept, v, NULL));
    SUCCEEDS(realm_begin_write(realm));
    SUCCEEDS(realm_set_value(one, k.data, (v.type = RLM_TYPE_BINARY, v), false));
    SUCCEEDS(realm_rollback(realm));
    realm_release(one);
    realm_release(realm);
}

static void reading(void) {
    realm_t *realm = open_people("reading.realm");
    keys_t k = keys_of(realm);
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *one = make_person(realm, &k, 1);
    SUCCEEDS(realm_commit(realm));
    realm_value_t v[2];
    FAILS(RLM_ERR_INVALID_PROPERTY, realm_get_value(one, -1, v));
    FAILS(RLM_ERR_INVALID_PROPERTY, realm_get_value(one, INT64_MAX, v));
    FAILS(RLM_ERR_INVALID_PROPERTY, realm_get_value(one, RLM_INVALID_PROPERTY_KEY, v));
    CHECK(!realm_get_value(one, k.staff, v));
    SUCCEEDS(realm_get_value(one, k.age, NULL));
    SUCCEEDS(realm_get_values(one, 0, NULL, NULL));
    realm_property_key_t pair[] = {k.age, -1};
    FAILS(RLM_ERR_INVALID_PROPERTY, realm_get_values(one, 2, pair, v));
    CHECK(v[0].integer == 1);
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_get_values(one, 1, NULL, v));
    for (size_t i = 0; i < 10; i++)
        SUCCEEDS(realm_get_value_by_property_index(one, i, v));
    CHECK(!realm_get_value_by_property_index(one, 10, v));
    CHECK(!realm_get_value_by_property_index(one, SIZE_MAX, v));
    char *text = realm_object_to_string(one);
    CHECK(text && strstr(text, "\"name\":\"person-1\"") && text[0] == '{');
    realm_free(text);
    realm_release(one);
    realm_release(realm);
}

static void deleting(void) {
    realm_t *realm = open_people("deleting.realm");
    keys_t k = keys_of(realm);
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *one = make_person(realm, &k, 1), *two = make_person(realm, &k, 2);
    SUCCEEDS(realm_set_value(two, k.boss, of_link(realm_object_as_link(one)), false));
    realm_results_t *staff = realm_get_backlinks(one, k.person, k.boss);
    size_t count = 0;
    CHECK(staff && realm_results_count(staff, &count) && count == 1);
    SUCCEEDS(realm_commit(realm));
    SUCCEEDS(realm_begin_write(realm));
    SUCCEEDS(realm_object_delete(one));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_object_delete(one));
    realm_value_t v;
    SUCCEEDS(realm_get_value(two, k.boss, &v));
    CHECK(v.type == RLM_TYPE_NULL);
    SUCCEEDS(realm_results_count(staff, &count));
    CHECK(count == 0);
    CHECK(!realm_object_is_valid(one));
    CHECK(realm_object_get_table(one) == k.person);
    CHECK(realm_object_as_link(one).target == realm_object_get_key(one));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_get_value(one, k.age, &v));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_get_values(one, 1, &k.age, &v));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_get_value_by_property_index(one, 0, &v));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_get_linked_object(one, k.boss));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_set_value(one, k.age, of_int(1), false));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_set_values(one, 1, &k.age, &v, false));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_object_add_int(one, k.age, 1));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_object_to_string(one));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_get_backlinks(one, k.person, k.boss));
    realm_object_t *clone = realm_clone(one);
    CHECK(clone && !realm_object_is_valid(clone) && realm_equals(one, clone));
    realm_release(clone);
    SUCCEEDS(realm_rollback(realm));
    FAILS(RLM_ERR_NO_SUCH_TABLE, realm_get_backlinks(two, 0x7ffffff0, k.boss));
    FAILS(RLM_ERR_INVALID_PROPERTY, realm_get_backlinks(two, k.person, k.age));
    FAILS(RLM_ERR_INVALID_PROPERTY, realm_get_backlinks(two, k.person, -1));
    CHECK(realm_close(realm));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_get_value(two, k.age, &v));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_set_value(two, k.age, of_int(1), false));
    FAILS(RLM_ERR_CLOSED_REALM, realm_object_create(realm, k.note));
    FAILS(RLM_ERR_CLOSED_REALM, realm_get_object(realm, k.person, 0));
    CHECK(!realm_object_is_valid(two));
    realm_release(one);
    realm_release(two);
    realm_release(staff);
    realm_release(realm);
}

static void resolving(void) {
    realm_t *live = open_people("resolving.realm"), *other = open_people("resolving.realm");
    keys_t k = keys_of(live);
    SUCCEEDS(realm_begin_write(live));
    realm_object_t *one = make_person(live, &k, 1);
    SUCCEEDS(realm_commit(live));
    realm_object_t *there = (realm_object_t *)1;
    CHECK(realm_begin_read(other));
    SUCCEEDS(realm_object_resolve_in(one, other, &there));
    CHECK(there && !realm_equals(there, one) && !realm_is_frozen(there));
    realm_release(there);
    realm_t *frozen = realm_freeze(live);
    realm_object_t *still = NULL;
    SUCCEEDS(realm_object_resolve_in(one, frozen, &still));
    CHECK(still && realm_is_frozen(still));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_set_value(still, k.age, of_int(50), false));
    SUCCEEDS(realm_begin_write(live));
    SUCCEEDS(realm_set_value(one, k.age, of_int(50), false));
    SUCCEEDS(realm_commit(live));
    realm_value_t v;
    SUCCEEDS(realm_get_value(still, k.age, &v));
    CHECK(v.integer == 1);
    /* Thawing. */
    SUCCEEDS(realm_object_resolve_in(still, live, &there));
    CHECK(there && realm_equals(there, one));
    realm_release(there);
    SUCCEEDS(realm_begin_write(live));
    SUCCEEDS(realm_object_delete(one));
    SUCCEEDS(realm_commit(live));
    there = (realm_object_t *)1;
    SUCCEEDS(realm_object_resolve_in(still, live, &there));
    CHECK(!there);
    there = (realm_object_t *)1;
    SUCCEEDS(realm_object_resolve_in(one, frozen, &there));
    CHECK(!there);
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_object_resolve_in(still, live, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_object_resolve_in(still, NULL, &there));
    realm_t *elsewhere = open_people("elsewhere.realm");
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_object_resolve_in(still, elsewhere, &there));
    CHECK(realm_close(other));
    FAILS(RLM_ERR_CLOSED_REALM, realm_object_resolve_in(still, other, &there));
    CHECK(!there);
    realm_release(elsewhere);
    realm_release(still);
    realm_release(one);
    realm_release(frozen);
    realm_release(other);
    realm_release(live);
}

typedef struct borrowed {
    realm_t *realm;
    realm_object_t *object;
    const keys_t *keys;
} borrowed_t;
static void *wrong_thread(void *userdata) {
    borrowed_t *b = userdata;
    realm_value_t v;
    FAILS(RLM_ERR_WRONG_THREAD, realm_get_value(b->object, b->keys->age, &v));
    FAILS(RLM_ERR_WRONG_THREAD, realm_get_values(b->object, 1, &b->keys->age, &v));
    FAILS(RLM_ERR_WRONG_THREAD, realm_set_value(b->object, b->keys->age, of_int(1), false));
    FAILS(RLM_ERR_WRONG_THREAD, realm_object_add_int(b->object, b->keys->age, 1));
    FAILS(RLM_ERR_WRONG_THREAD, realm_get_linked_object(b->object, b->keys->boss));
    FAILS(RLM_ERR_WRONG_THREAD, realm_object_delete(b->object));
    FAILS(RLM_ERR_WRONG_THREAD, realm_object_to_string(b->object));
    FAILS(RLM_ERR_WRONG_THREAD, realm_commit(b->realm));
    return NULL;
}

static void threads(void) {
    realm_t *realm = open_people("object-threads.realm");
    keys_t k = keys_of(realm);
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *one = make_person(realm, &k, 1);
    borrowed_t borrowed = {realm, one, &k};
    pthread_t thread;
    CHECK(!pthread_create(&thread, NULL, wrong_thread, &borrowed));
    pthread_join(thread, NULL);
    SUCCEEDS(realm_commit(realm));
    realm_release(one);
    realm_release(realm);
}

/* An object with its values in one call: all of it, or nothing. */
static void creating_with_values(void) {
    realm_t *realm = open_people("with_values.realm");
    keys_t k = keys_of(realm);
    realm_value_t key = of_int(1), values[] = {of_text("Ada"), of_int(36), of_null(), of_null()};
    realm_property_key_t properties[] = {k.name, k.age, k.boss, k.of_dept};
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE,
          realm_object_create_with_values(realm, k.person, &key, 4, properties, values));
    SUCCEEDS(realm_begin_write(realm));
    FAILS(RLM_ERR_NO_SUCH_TABLE,
          realm_object_create_with_values(realm, 0x7ffffff0, &key, 4, properties, values));
    FAILS(RLM_ERR_MISSING_PRIMARY_KEY,
          realm_object_create_with_values(realm, k.person, NULL, 4, properties, values));
    FAILS(RLM_ERR_INVALID_ARGUMENT,
          realm_object_create_with_values(realm, k.person, &key, 4, NULL, values));
    FAILS(RLM_ERR_INVALID_ARGUMENT,
          realm_object_create_with_values(realm, k.person, &key, 4, properties, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT,
          realm_object_create_with_values(realm, k.person, &key, SIZE_MAX, properties, values));
    /* Whichever value is wrong, the last as well, after others were written. */
    realm_object_t *gone = realm_object_create_with_primary_key(realm, k.person, of_int(9));
    realm_value_t good[4], to_gone = of_link_to(k.person, realm_object_get_key(gone));
    SUCCEEDS(realm_object_delete(gone));
    memcpy(good, values, sizeof good);
    values[2] = to_gone;
    FAILS(RLM_ERR_NO_SUCH_OBJECT,
          realm_object_create_with_values(realm, k.person, &key, 4, properties, values));
    values[2] = of_null();
    values[3] = of_int(5);
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH,
          realm_object_create_with_values(realm, k.person, &key, 4, properties, values));
    values[3] = of_null();
    properties[3] = k.budget + 0x70000;
    FAILS(RLM_ERR_INVALID_PROPERTY,
          realm_object_create_with_values(realm, k.person, &key, 4, properties, values));
    properties[3] = k.of_dept;
    size_t count = 1;
    SUCCEEDS(realm_get_num_objects(realm, k.person, &count));
    CHECK(count == 0);
    realm_object_t *ada =
        realm_object_create_with_values(realm, k.person, &key, 4, properties, good);
    realm_object_t *none = realm_object_create_with_values(realm, k.note, NULL, 0, NULL, NULL);
    CHECK(ada && none);
    SUCCEEDS(realm_get_num_objects(realm, k.person, &count));
    CHECK(count == 1);
    SUCCEEDS(realm_get_num_objects(realm, k.note, &count));
    CHECK(count == 1);
    realm_value_t value;
    SUCCEEDS(realm_get_value(ada, k.age, &value));
    CHECK(value.type == RLM_TYPE_INT && value.integer == 36);
    FAILS(RLM_ERR_OBJECT_ALREADY_EXISTS,
          realm_object_create_with_values(realm, k.person, &key, 4, properties, good));
    SUCCEEDS(realm_commit(realm));
    size_t problems = 1;
    SUCCEEDS(realm_check(realm, NULL, NULL, &problems));
    CHECK(problems == 0);
    realm_release(gone);
    realm_release(ada);
    realm_release(none);
    realm_release(realm);
}

int main(void) {
    creating();
    creating_with_values();
    finding();
    changing();
    sizes();
    reading();
    deleting();
    resolving();
    threads();
    return check_end("objects");
}
