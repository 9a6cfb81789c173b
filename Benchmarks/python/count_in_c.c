/* The calls behind `filter("id == $0", 5).count()`, in C: microseconds of processor time for each, the least of
 * twenty rounds. figures.py compiles and runs it: count_in_c FILE. */
#include <realm.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CALLS 2000

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

static void check(bool done) {
    realm_error_t error;
    if (done) return;
    fprintf(stderr, "%s\n", realm_get_last_error(&error) ? error.message : "not one object");
    exit(1);
}

int main(int count, char **arguments) {
    check(count == 2);
    realm_config_t *config = realm_config_new();
    realm_config_set_path(config, arguments[1]);
    realm_t *realm = realm_open(config);
    realm_class_info_t class;
    bool found = false;
    check(realm && realm_find_class(realm, "Person", &found, &class) && found);
    double best = 1e9;
    for (int round = 0; round < 20; round++) {
        double start = now();
        for (int i = 0; i < CALLS; i++) {
            realm_value_t id = {.type = RLM_TYPE_INT, .integer = 5};
            realm_query_arg_t argument = {1, false, &id};
            size_t objects = 0;
            realm_query_t *query = realm_query_parse(realm, class.key, "id == $0", 1, &argument);
            realm_results_t *results = query ? realm_query_find_all(query) : NULL;
            check(results && realm_results_count(results, &objects) && objects == 1);
            realm_release(results);
            realm_release(query);
        }
        double took = (now() - start) / CALLS;
        if (took < best) best = took;
    }
    printf("%.3f\n", best);
    realm_release(realm);
    realm_release(config);
    return 0;
}
