/* What the C tests share: checks that count and report, and the errors of the library. A program
 * ends with `return check_end("what")`. */
#ifndef CHECK_H
#define CHECK_H

#include <realm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int checks, failures;

static inline void check_at(bool holds, const char *what, const char *file, int line) {
    checks++;
    if (!holds) {
        failures++;
        fprintf(stderr, "%s:%d: FAILED: %s\n", file, line, what);
    }
}
#define CHECK(condition) check_at((condition), #condition, __FILE__, __LINE__)

/* The thread's error must have this code and a message; it is cleared. */
static inline void check_error_at(bool failed, realm_errno_e code, const char *what,
                                  const char *file, int line) {
    realm_error_t error;
    memset(&error, 0, sizeof error);
    checks++;
    bool has = realm_get_last_error(&error);
    if (!failed || !has || error.error != code || !error.message || !*error.message) {
        failures++;
        fprintf(stderr, "%s:%d: FAILED: %s: %s, error %d (%s), expected %d\n", file, line, what,
                failed ? "failed" : "did not fail", has ? (int)error.error : 0,
                has && error.message ? error.message : "no message", (int)code);
    }
    realm_clear_last_error();
}
/* The expression must be false, NULL or 0, and leave the error `code`. */
#define FAILS(code, expression)                                                                   \
    do {                                                                                          \
        realm_clear_last_error();                                                                 \
        check_error_at(!(expression), (code), #expression, __FILE__, __LINE__);                   \
    } while (0)
/* The same for functions without a result. */
#define LEAVES(code, call)                                                                        \
    do {                                                                                          \
        realm_clear_last_error();                                                                 \
        call;                                                                                     \
        check_error_at(true, (code), #call, __FILE__, __LINE__);                                  \
    } while (0)
/* The expression must be true and leave no error; otherwise the error is shown. */
#define SUCCEEDS(expression)                                                                      \
    do {                                                                                          \
        realm_clear_last_error();                                                                 \
        bool holds_ = (expression);                                                               \
        realm_error_t error_;                                                                     \
        bool has_ = realm_get_last_error(&error_);                                                \
        check_at(holds_ && !has_, #expression, __FILE__, __LINE__);                               \
        if (has_)                                                                                 \
            fprintf(stderr, "    error %d: %s\n", (int)error_.error, error_.message);             \
        realm_clear_last_error();                                                                 \
    } while (0)
/* The expression must be false, NULL or 0, without an error. */
#define NOTHING(expression)                                                                       \
    do {                                                                                          \
        realm_clear_last_error();                                                                 \
        check_at(!(expression) && !realm_get_last_error(NULL), #expression, __FILE__, __LINE__);  \
    } while (0)

static inline int check_end(const char *what) {
    if (failures)
        fprintf(stderr, "%s: %d of %d checks FAILED\n", what, failures, checks);
    else
        printf("%s: %d checks passed\n", what, checks);
    return failures ? 1 : 0;
}

/* Userdata that counts how often it is freed. */
typedef struct counter {
    int freed, called;
} counter_t;
static inline void count_freed(void *userdata) { ((counter_t *)userdata)->freed++; }

/* Properties and classes in one line each. */
static inline realm_property_info_t property_of(const char *name, realm_property_type_e type,
                                                int flags) {
    realm_property_info_t info = {name, "", type, RLM_COLLECTION_TYPE_NONE, "", "", 0, flags};
    return info;
}
static inline realm_property_info_t link_of(const char *name, const char *target) {
    realm_property_info_t info = property_of(name, RLM_PROPERTY_TYPE_OBJECT, RLM_PROPERTY_NULLABLE);
    info.link_target = target;
    return info;
}
static inline realm_property_info_t many_of(const char *name, realm_collection_type_e collection,
                                            realm_property_type_e type, int flags,
                                            const char *target) {
    realm_property_info_t info = property_of(name, type, flags);
    info.collection_type = collection;
    info.link_target = target;
    return info;
}
static inline realm_property_info_t backlinks_of(const char *name, const char *source,
                                                 const char *origin) {
    realm_property_info_t info = property_of(name, RLM_PROPERTY_TYPE_LINKING_OBJECTS, 0);
    info.collection_type = RLM_COLLECTION_TYPE_LIST;
    info.link_target = source;
    info.link_origin_property_name = origin;
    return info;
}
static inline realm_class_info_t class_of(const char *name, const char *primary_key, size_t stored,
                                          size_t computed) {
    realm_class_info_t info = {name, primary_key, stored, computed, 0, RLM_CLASS_NORMAL};
    return info;
}

#endif
