/* What the host program's surroundings may be: the locale, the clock of the day, closed standard descriptors, a
 * folder whose name is not UTF-8, hundreds of open files. What they are is simulated by functions of the C library that stand here. */
#define _GNU_SOURCE
#include "people.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

/* ---- the locale ----------------------------------------------------------------------------- */

/* What the C library writes between a number and its fraction; NULL: what it would write itself. */
static const char *point;

int snprintf(char *target, size_t size, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    int count = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    char *dot = strstr(format, "e") ? strchr(text, '.') : NULL;
    if (point && dot) {
        char rest[512];
        strcpy(rest, dot + 1);
        strcpy(dot, point);
        strcat(text, rest);
        count = (int)strlen(text);
    }
    if (size > 0) {
        strncpy(target, text, size - 1);
        target[size - 1] = 0;
    }
    return count;
}

static void locale_with(const char *its_point) {
    realm_property_info_t properties[] = {
        property_of("d", RLM_PROPERTY_TYPE_DOUBLE, 0),
        property_of("whole", RLM_PROPERTY_TYPE_DOUBLE, 0),
        property_of("m", RLM_PROPERTY_TYPE_MIXED, RLM_PROPERTY_NULLABLE),
        property_of("dec", RLM_PROPERTY_TYPE_DECIMAL128, 0)};
    const realm_property_info_t *all[] = {properties};
    realm_class_info_t number = class_of("Number", "", 4, 0);
    remove("locale.realm");
    realm_t *realm = open_with("locale.realm", realm_schema_new(&number, 1, all));
    realm_class_key_t class = class_key(realm, "Number");
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *object = realm_object_create(realm, class);
    SUCCEEDS(realm_set_value(object, property_key(realm, class, "d"), of_double(-2.75), false));
    SUCCEEDS(realm_set_value(object, property_key(realm, class, "m"), of_double(0.1), false));
    SUCCEEDS(realm_commit(realm));
    point = its_point;
    char *text = realm_object_to_string(object);
    CHECK(text && strstr(text, "\"d\":-2.7500000000000000e+00,\"whole\":0.0000000000000000e+00,"));
    realm_free(text);
    realm_query_t *query = realm_query_parse(realm, class, "dec > d AND d < dec", 0, NULL);
    size_t found = 0;
    SUCCEEDS(realm_query_count(query, &found));
    CHECK(found == 1);
    realm_results_t *results = realm_object_find_all(realm, class);
    realm_value_t sum;
    bool has = false;
    SUCCEEDS(realm_results_sum(results, property_key(realm, class, "m"), &sum, &has));
    point = NULL;
    realm_release(results);
    realm_release(query);
    realm_release(object);
    realm_close(realm);
    realm_release(realm);
}

/* ---- the clock of the day ------------------------------------------------------------------- */

/* Until it is set back. */
static volatile int seconds_ahead;

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    if (clock == CLOCK_REALTIME) time->tv_sec += seconds_ahead;
    return result;
}

static double seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void note(void *ran) { *(int *)ran = 1; }

/* An asynchronous write waits for another process, and the clock is set back meanwhile. */
static void clock_set_back(void) {
    int ends[2], ran = 0;
    char ready;
    remove("clock.realm");
    CHECK(pipe(ends) == 0);
    pid_t other = fork();
    if (other == 0) {
        realm_t *realm = open_people("clock.realm");
        if (!realm_begin_write(realm) || write(ends[1], "x", 1) != 1) _exit(1);
        usleep(300000);
        _exit(!realm_rollback(realm));
    }
    CHECK(read(ends[0], &ready, 1) == 1);
    realm_scheduler_t *scheduler = realm_scheduler_make_default();
    struct pollfd wait = {realm_scheduler_get_event_descriptor(scheduler), POLLIN, 0};
    realm_config_t *config = people_config("clock.realm");
    realm_config_set_scheduler(config, scheduler);
    realm_t *realm = open_or_exit(config);
    seconds_ahead = 20;
    double begin = seconds();
    SUCCEEDS(realm_async_begin_write(realm, note, &ran, NULL, false, NULL));
    while (!ran && seconds() - begin < 10) {
        poll(&wait, 1, 20);
        if (seconds() - begin > 0.1) seconds_ahead = 0;
        realm_scheduler_perform_work(realm_scheduler_get_work_queue(scheduler));
    }
    CHECK(ran && seconds() - begin < 5);
    int status = 1;
    CHECK(waitpid(other, &status, 0) == other && status == 0);
    realm_close(realm);
    realm_release(realm);
    realm_release(scheduler);
    close(ends[0]);
    close(ends[1]);
}

/* ---- descriptors, paths, addresses ---------------------------------------------------------- */

static void without_standard_input(void) {
    int kept = dup(0);
    close(0);
    realm_scheduler_t *scheduler = realm_scheduler_make_default();
    CHECK(realm_scheduler_get_event_descriptor(scheduler) > 2);
    CHECK(open("/dev/null", O_RDONLY) == 0);
    realm_release(scheduler);
    if (kept >= 0) {
        dup2(kept, 0);
        close(kept);
    }
}

/* The library's paths are UTF-8: what it can't name it doesn't open, nor something else in its place. */
static void folder_not_utf8(void) {
    char here[4096];
    CHECK(getcwd(here, sizeof here) != NULL);
    mkdir("caf\xe9", 0700);
    mkdir("caf\xef\xbf\xbd", 0700);
    CHECK(chdir("caf\xe9") == 0);
    realm_t *realm = realm_open(people_config("x.realm"));
    CHECK(!realm);
    realm_error_t error;
    CHECK(realm_get_last_error(&error));
    realm_clear_last_error();
    CHECK(chdir(here) == 0);
    CHECK(access("caf\xef\xbf\xbd/x.realm", F_OK) != 0 && access("caf\xe9/x.realm", F_OK) != 0);
}

static void *nothing(void *argument) { return argument; }

/* A thousand open files leave the program addresses for memory and threads. */
static void many_files(void) {
    enum { MOST = 1000, PER_FILE = 4 };
    static realm_t *realms[MOST];
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    size_t count = files.rlim_cur < MOST * PER_FILE + 100 ? (size_t)(files.rlim_cur - 100) / PER_FILE : MOST;
    mkdir("many", 0700);
    for (size_t i = 0; i < count; i++) {
        char path[64];
        snprintf(path, sizeof path, "many/%zu.realm", i);
        remove(path);
        realms[i] = realm_open(people_config(path));
        SUCCEEDS(realms[i] != NULL);
        if (!realms[i]) break;
    }
    size_t wanted = (size_t)8 << 40;
    void *memory = mmap(NULL, wanted, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(memory != MAP_FAILED);
    munmap(memory, wanted);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, nothing, NULL) == 0 && pthread_join(thread, NULL) == 0);
    /* The last of them is as good as the first. */
    realm_t *ends[] = {realms[0], realms[count - 1]};
    for (int i = 0; i < 2; i++) {
        keys_t keys = keys_of(ends[i]);
        make_people(ends[i], &keys, 2000 * i, 2000 * (i + 1));
    }
    for (size_t i = 0; i < count; i++) {
        realm_close(realms[i]);
        realm_release(realms[i]);
    }
}

/* ---- embedded objects in one another -------------------------------------------------------- */

static void text_of_chain(int length, bool has_text) {
    realm_property_info_t *properties = calloc((size_t)length, sizeof *properties);
    const realm_property_info_t **all = calloc((size_t)length, sizeof *all);
    realm_class_info_t *classes = calloc((size_t)length, sizeof *classes);
    char(*names)[16] = calloc((size_t)length + 1, sizeof *names);
    for (int i = 0; i <= length; i++) sprintf(names[i], "E%d", i);
    for (int i = 0; i < length; i++) {
        properties[i] = i + 1 < length ? link_of("next", names[i + 1])
                                       : property_of("next", RLM_PROPERTY_TYPE_INT, 0);
        all[i] = &properties[i];
        classes[i] = class_of(names[i], "", 1, 0);
        if (i > 0) classes[i].flags = RLM_CLASS_EMBEDDED;
    }
    remove("chain.realm");
    realm_t *realm = open_with("chain.realm", realm_schema_new(classes, (size_t)length, all));
    SUCCEEDS(realm_begin_write(realm));
    realm_object_t *first = realm_object_create(realm, class_key(realm, "E0")), *last = realm_clone(first);
    for (int i = 0; i + 1 < length; i++) {
        realm_object_t *next = realm_set_embedded(last, property_key(realm, class_key(realm, names[i]), "next"));
        realm_release(last);
        last = next;
    }
    SUCCEEDS(realm_commit(realm));
    char *text = NULL;
    if (has_text) {
        SUCCEEDS((text = realm_object_to_string(first)) != NULL);
        CHECK(text && strstr(text, "{\"next\":0}"));
        realm_free(text);
    } else {
        FAILS(RLM_ERR_LIMIT_EXCEEDED, realm_object_to_string(first));
    }
    realm_release(last);
    realm_release(first);
    realm_close(realm);
    realm_release(realm);
    free(properties);
    free(all);
    free(classes);
    free(names);
}

int main(void) {
    locale_with(NULL);
    locale_with(",");
    locale_with("\xd9\xab");
    clock_set_back();
    without_standard_input();
    folder_not_utf8();
    text_of_chain(100, true);
    text_of_chain(150, false);
    many_files();
    return check_end("environment");
}
