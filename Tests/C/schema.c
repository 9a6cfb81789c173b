/* Schema objects: records in, validation, comparison. */
#include "check.h"

static realm_schema_t *one_class(const char *primary_key, realm_property_info_t property) {
    realm_class_info_t class = class_of("A", primary_key, 1, 0);
    const realm_property_info_t *properties[] = {&property};
    return realm_schema_new(&class, 1, properties);
}

static void bad_records(void) {
    realm_property_info_t property = property_of("p", RLM_PROPERTY_TYPE_INT, 0);
    const realm_property_info_t *properties[] = {&property};
    realm_class_info_t class = class_of("A", "", 1, 0);
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_schema_new(NULL, 1, properties));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_schema_new(&class, 1, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_schema_new(&class, SIZE_MAX, properties));
    const realm_property_info_t *none[] = {NULL};
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_schema_new(&class, 1, none));
    class.num_properties = SIZE_MAX;
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_schema_new(&class, 1, properties));
    class.num_properties = 1;
    class.name = NULL;
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_schema_new(&class, 1, properties));
    class.name = "\xc3\x28";
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_schema_new(&class, 1, properties));
    class.name = "A";
    class.flags = 3;
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_schema_new(&class, 1, properties));
    class.flags = 0;
    property.type = (realm_property_type_e)3;
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_schema_new(&class, 1, properties));
    property.type = RLM_PROPERTY_TYPE_INT;
    property.collection_type = (realm_collection_type_e)3;
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_schema_new(&class, 1, properties));
    property.collection_type = RLM_COLLECTION_TYPE_NONE;
    property.link_target = NULL;
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_schema_new(&class, 1, properties));
}

static bool valid(realm_schema_t *schema, uint64_t mode) {
    bool result = schema && realm_schema_validate(schema, mode);
    realm_error_t error;
    if (!result)
        CHECK(realm_get_last_error(&error) && error.error == RLM_ERR_SCHEMA_VALIDATION_FAILED);
    realm_release(schema);
    realm_clear_last_error();
    return result;
}

int main(void) {
    bad_records();

    /* Rules; all of them are covered in Swift. */
    CHECK(valid(realm_schema_new(NULL, 0, NULL), 0));
    CHECK(valid(one_class("", property_of("p", RLM_PROPERTY_TYPE_INT, 0)), 0));
    CHECK(valid(one_class("p", property_of("p", RLM_PROPERTY_TYPE_INT, RLM_PROPERTY_PRIMARY_KEY)), 0));
    CHECK(!valid(one_class("x", property_of("p", RLM_PROPERTY_TYPE_INT, 0)), 0));
    CHECK(!valid(one_class("p", property_of("p", RLM_PROPERTY_TYPE_BOOL, RLM_PROPERTY_PRIMARY_KEY)), 0));
    CHECK(valid(one_class("", link_of("l", "A")), 0));
    CHECK(!valid(one_class("", link_of("l", "B")), 0));
    CHECK(!valid(one_class("", property_of("m", RLM_PROPERTY_TYPE_MIXED, 0)), 0));
    CHECK(valid(one_class("", property_of("m", RLM_PROPERTY_TYPE_MIXED, RLM_PROPERTY_NULLABLE)), 0));
    CHECK(!valid(one_class("", property_of("d", RLM_PROPERTY_TYPE_DOUBLE, RLM_PROPERTY_INDEXED)), 0));
    CHECK(!valid(one_class("", property_of("p", RLM_PROPERTY_TYPE_INT, 0)),
                 RLM_SCHEMA_VALIDATION_SYNC_PBS));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_schema_validate(NULL, 0));

    /* Stored and computed properties, and every problem on a line of its own. */
    realm_property_info_t mine[] = {link_of("l", "A"), backlinks_of("back", "A", "l")};
    realm_class_info_t class = class_of("A", "", 1, 1);
    const realm_property_info_t *properties[] = {mine};
    CHECK(valid(realm_schema_new(&class, 1, properties), 0));
    mine[0].link_target = "B";
    realm_schema_t *broken = realm_schema_new(&class, 1, properties);
    FAILS(RLM_ERR_SCHEMA_VALIDATION_FAILED, realm_schema_validate(broken, 0));
    realm_schema_validate(broken, 0);
    realm_error_t error;
    CHECK(realm_get_last_error(&error) && strstr(error.message, "A.l") &&
          strstr(error.message, "A.back") && strchr(error.message, '\n'));
    realm_release(broken);

    /* Equality: class order does not count, property order does. */
    realm_property_info_t p = property_of("p", RLM_PROPERTY_TYPE_INT, 0);
    realm_property_info_t q = property_of("q", RLM_PROPERTY_TYPE_INT, 0);
    realm_property_info_t pq[] = {p, q}, qp[] = {q, p};
    realm_class_info_t ab[] = {class_of("A", "", 2, 0), class_of("B", "", 0, 0)};
    realm_class_info_t ba[] = {class_of("B", "", 0, 0), class_of("A", "", 2, 0)};
    const realm_property_info_t *ab_properties[] = {pq, NULL};
    const realm_property_info_t *ba_properties[] = {NULL, pq};
    const realm_property_info_t *other_properties[] = {qp, NULL};
    realm_schema_t *first = realm_schema_new(ab, 2, ab_properties);
    realm_schema_t *second = realm_schema_new(ba, 2, ba_properties);
    realm_schema_t *third = realm_schema_new(ab, 2, other_properties);
    CHECK(realm_equals(first, second));
    CHECK(!realm_equals(first, third));
    pq[0].public_name = "public";
    realm_schema_t *fourth = realm_schema_new(ab, 2, ab_properties);
    CHECK(realm_equals(first, fourth));
    realm_release(first);
    realm_release(second);
    realm_release(third);
    realm_release(fourth);
    return check_end("schema");
}
