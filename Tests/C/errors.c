/* The last error of a thread, copies of it, and what has no error. */
#include "check.h"

#include <pthread.h>

static void *on_other_thread(void *result) {
    *(bool *)result = realm_get_last_error(NULL);
    realm_config_get_path(NULL);
    return NULL;
}

int main(void) {
    realm_error_t error;
    int major = 0, minor = 0, patch = -1;
    const char *extra = NULL;
    CHECK(strcmp(realm_get_library_version(), "14.14.0") == 0);
    realm_get_library_version_numbers(&major, &minor, &patch, &extra);
    CHECK(major == 14 && minor == 14 && patch == 0 && extra && !*extra);
    realm_get_library_version_numbers(NULL, NULL, NULL, NULL);

    CHECK(!realm_get_last_error(&error));
    CHECK(!realm_clear_last_error());
    CHECK(realm_get_last_error_as_async_error() == NULL);

    CHECK(realm_config_get_path(NULL) == NULL);
    CHECK(realm_get_last_error(NULL));
    CHECK(realm_get_last_error(&error));
    CHECK(error.error == RLM_ERR_INVALID_ARGUMENT);
    CHECK(error.categories == (RLM_ERR_CAT_LOGIC | RLM_ERR_CAT_INVALID_ARG));
    CHECK(error.path == NULL && error.user_code_error == NULL);
    CHECK(strstr(error.message, "realm_config_t") && strstr(error.message, "NULL"));

    /* Success leaves it; reading does not clear it; other threads have their own. */
    realm_config_t *config = realm_config_new();
    CHECK(realm_get_last_error(&error) && error.error == RLM_ERR_INVALID_ARGUMENT);
    bool elsewhere = true;
    pthread_t thread;
    pthread_create(&thread, NULL, on_other_thread, &elsewhere);
    pthread_join(thread, NULL);
    CHECK(!elsewhere);

    /* A copy outlives the error. */
    realm_async_error_t *copy = realm_get_last_error_as_async_error();
    CHECK(copy != NULL);
    CHECK(realm_clear_last_error());
    CHECK(!realm_get_last_error(NULL));
    memset(&error, 0, sizeof error);
    CHECK(realm_get_async_error(copy, &error) && error.error == RLM_ERR_INVALID_ARGUMENT);
    CHECK(error.message && strstr(error.message, "realm_config_t"));
    CHECK(realm_get_async_error(copy, NULL));
    NOTHING(realm_get_async_error(NULL, &error));
    realm_async_error_t *clone = realm_clone(copy);
    CHECK(clone && clone != copy && realm_equals(clone, copy));
    realm_release(copy);
    CHECK(realm_get_async_error(clone, &error) && error.error == RLM_ERR_INVALID_ARGUMENT);
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_get_async_error(copy, &error));

    /* Errors of different codes or messages differ. */
    realm_config_set_encryption_key(config, (const uint8_t *)"x", 1);
    realm_async_error_t *other = realm_get_last_error_as_async_error();
    CHECK(other && !realm_equals(other, clone));
    realm_release(other);
    realm_release(clone);
    realm_release(config);

    /* Any pointer may be registered; nothing looks at it. */
    realm_register_user_code_callback_error(&error);
    realm_register_user_code_callback_error(NULL);
    return check_end("errors");
}
