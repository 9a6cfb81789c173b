#include "engine.h"

#include <poll.h>
#include <realm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void check(bool is_right, const char *what) {
    if (is_right) return;
    realm_error_t error;
    const bool is_failure = realm_get_last_error(&error);
    fprintf(stderr, "object-databases: %s: %s\n", what, is_failure ? error.message : "wrong answer");
    exit(1);
}

static realm_value_t integer(int64_t value) {
    return (realm_value_t){.type = RLM_TYPE_INT, .integer = value};
}

static realm_t *open_realm(const char *path, const realm_scheduler_t *scheduler) {
    const realm_class_info_t type = {.name = "Row", .primary_key = "id", .num_properties = 4};
    realm_property_info_t properties[4];
    const char *names[] = {"id", "age", "name", "score"};
    const realm_property_type_e types[] = {RLM_PROPERTY_TYPE_INT, RLM_PROPERTY_TYPE_INT,
                                           RLM_PROPERTY_TYPE_STRING, RLM_PROPERTY_TYPE_DOUBLE};
    for (int i = 0; i < 4; i++) {
        properties[i] = (realm_property_info_t){
            .name = names[i], .public_name = "", .type = types[i], .link_target = "",
            .link_origin_property_name = "", .flags = i == 0 ? RLM_PROPERTY_PRIMARY_KEY : 0};
    }
    const realm_property_info_t *of_classes[] = {properties};
    realm_schema_t *schema = realm_schema_new(&type, 1, of_classes);
    realm_config_t *config = realm_config_new();
    realm_config_set_path(config, path);
    realm_config_set_schema(config, schema);
    realm_config_set_schema_version(config, 1);
    realm_config_set_scheduler(config, scheduler);
    realm_t *realm = realm_open(config);
    check(realm != NULL, "open");
    realm_release(config);
    realm_release(schema);
    return realm;
}

static void count_call(void *calls, const realm_collection_changes_t *changes) {
    (void)changes;
    ++*(int64_t *)calls;
}

/* Does what the scheduler of this thread has to do, until the observer was called. */
static void wait_for_call(const realm_scheduler_t *scheduler, const int64_t *calls, int64_t wanted) {
    while (*calls < wanted) {
        struct pollfd event = {.fd = realm_scheduler_get_event_descriptor(scheduler), .events = POLLIN};
        check(poll(&event, 1, 10000) > 0, "observe: nobody was told within ten seconds");
        realm_work_queue_t *work = realm_scheduler_get_work_queue(scheduler);
        if (work) realm_scheduler_perform_work(work);
    }
}

struct engine_times engine_run(const char *path, int64_t count, int64_t commits) {
    struct engine_times times;
    realm_scheduler_t *scheduler = realm_scheduler_make_default();
    /* From here on it delivers, to realms that are opened. */
    check(realm_scheduler_get_event_descriptor(scheduler) >= 0, "scheduler");
    realm_t *realm = open_realm(path, scheduler);
    realm_class_info_t type;
    realm_property_info_t info;
    bool found = false;
    check(realm_find_class(realm, "Row", &found, &type) && found, "class");
    const char *names[] = {"age", "name", "score"};
    realm_property_key_t keys[3];
    for (int i = 0; i < 3; i++) {
        check(realm_find_property(realm, type.key, names[i], &found, &info) && found, names[i]);
        keys[i] = info.key;
    }

    double start = now();
    check(realm_begin_write(realm), "begin");
    for (int64_t id = 0; id < count; id++) {
        char name[32];
        const int length = snprintf(name, sizeof name, "row %lld", (long long)(id % 1000));
        const realm_value_t values[] = {
            integer(id % 100),
            {.type = RLM_TYPE_STRING, .string = {name, (size_t)length}},
            {.type = RLM_TYPE_DOUBLE, .dnum = (double)id},
        };
        const realm_value_t key = integer(id);
        realm_object_t *object =
            realm_object_create_with_values(realm, type.key, &key, 3, keys, values);
        check(object != NULL, "create");
        realm_release(object);
    }
    check(realm_commit(realm), "commit");
    times.insert = (now() - start) / (double)count;

    start = now();
    int64_t sum = 0;
    for (int64_t index = 0; index < count; index++) {
        realm_object_t *object = realm_object_find_with_primary_key(
            realm, type.key, integer(index * 7919 % count), &found);
        realm_value_t age;
        check(object && realm_get_value(object, keys[0], &age), "find");
        sum += age.integer;
        realm_release(object);
    }
    times.find = (now() - start) / (double)count;
    check(sum == count / 100 * 4950, "find");

    start = now();
    size_t length = 0, size = 0;
    realm_results_t *all = realm_object_find_all(realm, type.key);
    check(all && realm_results_count(all, &size), "all");
    for (size_t index = 0; index < size; index++) {
        realm_object_t *object = realm_results_get_object(all, index);
        realm_value_t values[2];
        check(object && realm_get_values(object, 2, keys, values), "read");
        sum += values[0].integer;
        length += values[1].string.size;
        realm_release(object);
    }
    times.loop = (now() - start) / (double)count;
    check(sum == 2 * (count / 100 * 4950) && length > 0, "loop");

    start = now();
    check(realm_begin_write(realm), "begin");
    for (size_t index = 0; index < size; index++) {
        realm_object_t *object = realm_results_get_object(all, index);
        realm_value_t age;
        check(object && realm_get_value(object, keys[0], &age), "read");
        age.integer = (age.integer + 1) % 100;
        check(realm_set_value(object, keys[0], age, false), "set");
        realm_release(object);
    }
    check(realm_commit(realm), "commit");
    times.update = (now() - start) / (double)count;
    realm_release(all);

    int64_t calls = 0;
    realm_query_t *query =
        realm_query_parse(realm, type.key, "age < 50 SORT(name ASC)", 0, NULL);
    realm_results_t *young = realm_query_find_all(query);
    realm_notification_token_t *token =
        realm_results_add_notification_callback(young, &calls, NULL, NULL, count_call);
    check(token != NULL, "observe");
    wait_for_call(scheduler, &calls, 1);
    start = now();
    for (int64_t commit = 0; commit < commits; commit++) {
        check(realm_begin_write(realm), "begin");
        realm_object_t *object = realm_object_find_with_primary_key(
            realm, type.key, integer(commit * 100 + 10), &found);
        check(object && realm_set_value(object, keys[0], integer(commit % 40), false), "set");
        realm_release(object);
        check(realm_commit(realm), "commit");
        wait_for_call(scheduler, &calls, 2 + commit);
    }
    times.observe = (now() - start) / (double)commits;
    realm_release(token);
    realm_release(young);
    realm_release(query);
    realm_close(realm);
    realm_release(realm);
    realm_release(scheduler);
    return times;
}
