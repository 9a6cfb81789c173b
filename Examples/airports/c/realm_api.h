/* realm_api.h - the calls of librealm.so that the example uses, found at run time.
 *
 * The program is not linked with the library: it includes realm.h for the types, opens the library with dlopen and
 * asks for each function by name. That is how a binding for another language does it. `rlm.open(config)` here is
 * `realm_open(config)` of the header.
 */
#ifndef REALM_API_H
#define REALM_API_H
#include <dlfcn.h>
#include <realm.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define REALM_CALLS(X)                                                                                               \
    X(get_library_version) X(get_last_error) X(release)                                                              \
    X(config_new) X(config_set_path) X(config_set_schema) X(config_set_schema_version) X(schema_new)                 \
    X(open) X(close) X(begin_write) X(commit) X(rollback) X(refresh)                                                 \
    X(find_class) X(find_property) X(get_num_objects)                                                                \
    X(object_get_or_create_with_primary_key) X(object_create_with_primary_key) X(object_find_with_primary_key)       \
    X(object_find_all) X(object_as_link) X(object_delete) X(get_value) X(get_values) X(set_value) X(set_values)      \
    X(get_linked_object) X(get_backlinks)                                                                            \
    X(query_parse) X(query_count) X(query_find_all)                                                                  \
    X(results_count) X(results_get_object) X(results_sort) X(results_filter)                                         \
    X(results_min) X(results_max) X(results_average) X(results_sum)

/* one pointer a call, with the type that realm.h declares */
#define REALM_POINTER(name) __typeof__(&realm_##name) name;
static struct {
    REALM_CALLS(REALM_POINTER)
} rlm;

static bool load_realm(const char* path)
{
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return false;
    }
#define REALM_FIND(name)                                                                                             \
    {                                                                                                                \
        void* found = dlsym(library, "realm_" #name);                                                                \
        if (!found) {                                                                                                \
            fprintf(stderr, "%s has no realm_" #name "\n", path);                                                    \
            return false;                                                                                            \
        }                                                                                                            \
        memcpy(&rlm.name, &found, sizeof found); /* ISO C has no cast from data to function pointers */              \
    }
    REALM_CALLS(REALM_FIND)
#undef REALM_FIND
    return true;
}
#endif
