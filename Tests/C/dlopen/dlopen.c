/* A program that is not linked with the library: it opens it at run time, as bindings do, takes each
 * function by name, and closes it again while a thread that used it still lives.
 *
 *   opened LIBREALM.SO FILE.REALM */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <realm.h>
#include <stdio.h>
#include <string.h>

static void *library;

static void *find(const char *name) {
    void *found = dlsym(library, name);
    if (!found)
        fprintf(stderr, "no %s\n", name);
    return found;
}
/* ISO C has no cast from data to function pointers. */
#define TAKE(name)                                                                                \
    __typeof__(&name) own_##name;                                                                 \
    {                                                                                             \
        void *found = find(#name);                                                                \
        if (!found)                                                                               \
            return 1;                                                                             \
        memcpy(&own_##name, &found, sizeof found);                                                \
    }

static int work(const char *path) {
    TAKE(realm_get_library_version)
    TAKE(realm_config_new)
    TAKE(realm_config_set_path)
    TAKE(realm_config_set_schema)
    TAKE(realm_config_set_schema_version)
    TAKE(realm_schema_new)
    TAKE(realm_open)
    TAKE(realm_find_class)
    TAKE(realm_begin_write)
    TAKE(realm_object_create)
    TAKE(realm_commit)
    TAKE(realm_get_num_objects)
    TAKE(realm_release)
    realm_property_info_t property = {"n", "", RLM_PROPERTY_TYPE_INT, RLM_COLLECTION_TYPE_NONE, "",
                                      "", 0, RLM_PROPERTY_NORMAL};
    realm_class_info_t class_info = {"Thing", "", 1, 0, 0, RLM_CLASS_NORMAL};
    const realm_property_info_t *properties[] = {&property};
    realm_schema_t *schema = own_realm_schema_new(&class_info, 1, properties);
    realm_config_t *config = own_realm_config_new();
    own_realm_config_set_path(config, path);
    own_realm_config_set_schema(config, schema);
    own_realm_config_set_schema_version(config, 0);
    realm_t *realm = own_realm_open(config);
    bool found = false;
    size_t count = 0;
    if (!realm || !own_realm_find_class(realm, "Thing", &found, &class_info) || !found ||
        !own_realm_begin_write(realm))
        return 1;
    own_realm_release(own_realm_object_create(realm, class_info.key));
    if (!own_realm_commit(realm) || !own_realm_get_num_objects(realm, class_info.key, &count))
        return 1;
    own_realm_release(realm);
    own_realm_release(config);
    own_realm_release(schema);
    printf("dlopen: %s, %zu object\n", own_realm_get_library_version(), count);
    return count == 1 ? 0 : 1;
}

static pthread_barrier_t barrier;
static const char *path;
static int result = 1;

static void *thread_main(void *unused) {
    result = work(path);
    pthread_barrier_wait(&barrier); /* used it */
    pthread_barrier_wait(&barrier); /* it is closed */
    return unused;
}

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    path = argv[2];
    library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    pthread_t thread;
    pthread_barrier_init(&barrier, NULL, 2);
    if (pthread_create(&thread, NULL, thread_main, NULL))
        return 1;
    pthread_barrier_wait(&barrier);
    dlclose(library);
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    return result;
}
