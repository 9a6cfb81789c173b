/* Release, clone and comparison of handles, and handles that are none. */
#include "check.h"

int main(void) {
    realm_release(NULL);
    realm_free(NULL);
    void *memory = malloc(10);
    realm_free(memory);

    /* Handles of the wrong kind are told apart in the message. */
    realm_config_t *config = realm_config_new();
    realm_schema_t *schema = realm_schema_new(NULL, 0, NULL);
    CHECK(config && schema);
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_config_get_path((realm_config_t *)schema));
    realm_error_t error;
    realm_config_get_path((realm_config_t *)schema);
    CHECK(realm_get_last_error(&error) && strstr(error.message, "realm_schema_t"));

    /* A released handle is an error, also when it is released again. */
    realm_release(schema);
    realm_release(schema);
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_schema_validate(schema, 0));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_schema_validate((realm_schema_t *)((char *)config + 8), 0));

    /* Clones. */
    FAILS(RLM_ERR_NOT_CLONABLE, realm_clone(config));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_clone(NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_clone(schema));
    realm_class_info_t class = class_of("A", "", 0, 0);
    const realm_property_info_t *none = NULL;
    realm_schema_t *a = realm_schema_new(&class, 1, &none);
    realm_schema_t *b = realm_clone(a);
    CHECK(a && b && a != b && realm_equals(a, b));
    realm_release(a);
    CHECK(realm_schema_validate(b, 0));

    /* Comparison. */
    CHECK(realm_equals(NULL, NULL));
    CHECK(!realm_equals(b, NULL) && !realm_equals(NULL, b));
    CHECK(realm_equals(config, config));
    CHECK(!realm_equals(config, b));
    realm_config_t *other = realm_config_new();
    CHECK(!realm_equals(config, other));
    CHECK(!realm_is_frozen(config) && !realm_is_frozen(NULL) && !realm_is_frozen(b));

    realm_release(other);
    realm_release(b);
    realm_release(config);

    /* Many of them, released in another order. */
    enum { MANY = 10000 };
    static realm_config_t *many[MANY];
    for (int i = 0; i < MANY; i++)
        many[i] = realm_config_new();
    for (int i = 0; i < MANY; i += 2)
        realm_release(many[i]);
    for (int i = 1; i < MANY; i += 2) {
        CHECK(realm_config_get_schema_version(many[i]) == UINT64_MAX);
        realm_release(many[i]);
    }
    return check_end("handles");
}
