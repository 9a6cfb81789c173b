/* Commits of one process, told to observers in others: what they are told, how soon, and what happens when
 * one of them is killed, or stops. */
#define _GNU_SOURCE
#include "processes.h"

#include <sys/stat.h>

enum { READS_ONLY = 1 };

/* -- The other processes ------------------------------------------------------------------------- */

static int out;
static realm_results_t *observed;

static void report(void *userdata, const realm_collection_changes_t *changes) {
    report_t report = {.when = nanoseconds()};
    notice_t *notice = userdata;
    describe_elements(notice, changes);
    strncpy(report.text, *notice->text ? notice->text : "-", sizeof report.text - 1);
    size_t count = 0;
    realm_results_count(observed, &count);
    report.count = count;
    if (write(out, &report, sizeof report) != (ssize_t)sizeof report)
        exit(3);
}

/* Tells what it is told, until it is killed. */
static int observer(const char *path, int number) {
    static notice_t notice;
    event_loop_t loop;
    realm_config_t *config = things_config(path);
    if (number & READS_ONLY)
        realm_config_set_schema_mode(config, RLM_SCHEMA_MODE_READ_ONLY);
    realm_scheduler_t *scheduler = event_scheduler(&loop);
    realm_config_set_scheduler(config, scheduler);
    realm_t *realm = open_or_exit(config);
    observed = realm_object_find_all(realm, class_key(realm, "Thing"));
    if (!realm_results_add_notification_callback(observed, &notice, NULL, NULL, report))
        return 4;
    for (;;)
        event_turn(&loop, -1);
}

/* Commits as fast as it can, until it is killed: things come and go, in each commit one more. */
static int writer(const char *path, int number) {
    realm_t *realm = open_things(path);
    (void)number;
    for (;;) {
        CHECK(realm_begin_write(realm));
        realm_object_t *thing = make_thing(realm, "written");
        realm_release(thing);
        CHECK(realm_commit(realm));
        if (failures)
            return 5;
        usleep(300);
    }
}

/* -- This process -------------------------------------------------------------------------------- */

static void add_thing(realm_t *realm) {
    WRITE(realm, realm_release(make_thing(realm, "one more")));
}
static process_t start_observer(const char *path, int number, uint64_t count) {
    process_t process = start("observer", path, number);
    report_t first = {0};
    CHECK(next_report(&process, &first, 20000));
    CHECK(first.count >= count && strcmp(first.text, "-") == 0);
    return process;
}
static void expect(process_t *process, const char *text, uint64_t count) {
    report_t report = {0};
    CHECK(next_report(process, &report, 10000));
    CHECK(report.count == count);
    if (strcmp(report.text, text) != 0) {
        CHECK(false);
        fprintf(stderr, "    told \"%s\", expected \"%s\"\n", report.text, text);
    }
}

static int by_size(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}
/* Commits one thing after the other, and measures from the commit's return to the callback. */
static void expect_soon(realm_t *realm, process_t *process, const char *what) {
    enum { COMMITS = 31 };
    int64_t took[COMMITS];
    size_t count = count_of(realm, "Thing");
    for (int i = 0; i < COMMITS; i++) {
        usleep(2000);
        add_thing(realm);
        int64_t committed = nanoseconds();
        report_t report = {0};
        do
            CHECK(next_report(process, &report, 10000));
        while (report.count < count + i + 1 && !failures);
        took[i] = report.when - committed;
    }
    qsort(took, COMMITS, sizeof *took, by_size);
    printf("%s: heard after %lld us (median of %d)\n", what, (long long)took[COMMITS / 2] / 1000,
           COMMITS);
    /* Whoever is not woken looks after a second. */
    CHECK(took[COMMITS / 2] < 50000000);
}

static void told_what_changed(int number) {
    const char *path = number & READS_ONLY ? "reader.realm" : "observed.realm";
    realm_t *realm = open_things(path);
    WRITE(realm, for (int i = 0; i < 3; i++) realm_release(make_thing(realm, "first")));
    process_t process = start_observer(path, number, 3);
    realm_class_key_t things = class_key(realm, "Thing");
    realm_results_t *all = realm_object_find_all(realm, things);
    WRITE(realm, realm_release(make_thing(realm, "b")); realm_release(make_thing(realm, "c")));
    expect(&process, "i3-5", 5);
    realm_object_t *second = realm_results_get_object(all, 1);
    WRITE(realm, realm_set_value(second, thing_key(realm, "name"), of_text("x"), false));
    expect(&process, "m1", 5);
    WRITE(realm, realm_object_delete(second));
    expect(&process, "d1", 4);
    realm_release(second);
    /* Nothing that concerns it. */
    WRITE(realm, (void)0);
    WRITE(realm, realm_release(make_thing(realm, "d")));
    expect(&process, "i4", 5);
    expect_soon(realm, &process, path);
    CHECK(kill_now(&process) == -SIGKILL);
    realm_release(all);
    realm_release(realm);
}

static void on_committed(void *userdata, bool failed, const char *text) {
    (void)text;
    CHECK(!failed);
    ++*(int *)userdata;
}

/* Commits that wait for their sync are told before that; and this process hears of the other's. */
static void asynchronous_commits(void) {
    const char *path = "asynchronous.realm";
    event_loop_t loop;
    realm_config_t *config = things_config(path);
    realm_scheduler_t *scheduler = event_scheduler(&loop);
    realm_config_set_scheduler(config, scheduler);
    realm_t *realm = open_or_exit(config);
    WRITE(realm, realm_release(make_thing(realm, "first")));
    process_t process = start_observer(path, READS_ONLY, 1);
    int completed = 0;
    for (int i = 0; i < 20; i++) {
        CHECK(realm_begin_write(realm));
        realm_release(make_thing(realm, "soft"));
        CHECK(realm_async_commit(realm, on_committed, &completed, NULL, true, NULL));
        CHECK(until_count(&process, i + 2, 10000));
    }
    while (completed < 20 && event_turn(&loop, 10000)) {}
    CHECK(completed == 20);
    CHECK(kill_now(&process) == -SIGKILL);

    process = start("writer", path, 0);
    bool more = false;
    for (int i = 0; i < 1000 && !more; i++) {
        event_turn(&loop, 100);
        more = count_of(realm, "Thing") > 30;
    }
    CHECK(more);
    CHECK(kill_now(&process) == -SIGKILL);
    realm_close(realm);
    realm_release(realm);
    realm_release(scheduler);
    CHECK(loop_ended(&loop));
}

static void many_observers(void) {
    enum { OBSERVERS = 10 };
    const char *path = "many.realm";
    process_t observers[OBSERVERS];
    realm_t *realm = open_things(path);
    add_thing(realm);
    for (int i = 0; i < OBSERVERS; i++)
        observers[i] = start_observer(path, i % 2, 1);
    for (int commit = 0; commit < 5; commit++) {
        add_thing(realm);
        for (int i = 0; i < OBSERVERS; i++)
            CHECK(until_count(observers + i, commit + 2, 10000));
    }
    for (int i = 0; i < OBSERVERS; i++)
        CHECK(kill_now(observers + i) == -SIGKILL);
    realm_release(realm);
}

/* Observers and writers are killed at any moment: whoever is left hears of the next commit. */
static void killed(void) {
    enum { OBSERVERS = 3, WRITERS = 2, ROUNDS = 12 };
    const char *path = "killed.realm";
    process_t processes[OBSERVERS + WRITERS], last;
    unsigned seed = (unsigned)nanoseconds();
    printf("killed: seed %u\n", seed);
    realm_t *realm = open_things(path);
    add_thing(realm);
    last = start_observer(path, READS_ONLY, 1);
    for (int i = 0; i < OBSERVERS + WRITERS; i++)
        processes[i] = start(i < OBSERVERS ? "observer" : "writer", path, i);
    for (int round = 0; round < ROUNDS; round++) {
        usleep(rand_r(&seed) % 60000);
        int i = rand_r(&seed) % (OBSERVERS + WRITERS);
        CHECK(kill_now(processes + i) == -SIGKILL);
        processes[i] = start(i < OBSERVERS ? "observer" : "writer", path, i);
        /* Others are told meanwhile; their pipes must not fill up. */
        report_t report;
        for (int k = 0; k < OBSERVERS; k++)
            while (next_report(processes + k, &report, 0)) {}
        while (next_report(&last, &report, 0)) {}
    }
    for (int i = OBSERVERS; i < OBSERVERS + WRITERS; i++)
        CHECK(kill_now(processes + i) == -SIGKILL);
    CHECK(realm_refresh(realm, NULL));
    add_thing(realm);
    size_t count = count_of(realm, "Thing");
    CHECK(until_count(&last, count, 10000));
    for (int i = 0; i < OBSERVERS; i++)
        CHECK(until_count(processes + i, count, 10000));
    expect_soon(realm, &last, path);
    for (int i = 0; i < OBSERVERS; i++)
        CHECK(kill_now(processes + i) == -SIGKILL);
    CHECK(kill_now(&last) == -SIGKILL);
    realm_release(realm);
}

static int64_t size_of(const char *path) {
    struct stat status;
    CHECK(stat(path, &status) == 0);
    return status.st_size;
}

/* An observer that stops keeps one version and a limited log, whatever is committed meanwhile. */
static void stopped(void) {
    enum { KEYS = 150, BYTES = 4000, COMMITS = 60 };
    const char *path = "stopped.realm";
    static char key[BYTES + 1];
    realm_t *realm = open_things(path);
    realm_object_t *thing = NULL;
    WRITE(realm, thing = make_thing(realm, "one"));
    realm_dictionary_t *scores = dictionary_of(realm, thing, "scores");
    process_t process = start_observer(path, READS_ONLY, 1);
    CHECK(kill(process.id, SIGSTOP) == 0);
    memset(key, 'k', BYTES);
    int64_t early = 0;
    uint64_t versions = 0;
    for (int commit = 0; commit < COMMITS; commit++) {
        CHECK(realm_begin_write(realm));
        /* The log of each names all keys: 600 kB. */
        for (int i = 0; i < KEYS; i++) {
            snprintf(key, 8, "%06d", i);
            key[6] = 'k';
            CHECK(realm_dictionary_insert(scores, of_text(key), of_int(commit), NULL, NULL));
        }
        CHECK(realm_commit(realm));
        if (commit == 9)
            early = size_of(path);
        CHECK(realm_get_num_versions(realm, &versions));
        /* Its own, the newest, and those that commits keep for a moment. */
        CHECK(versions >= 2 && versions <= 4);
    }
    int64_t size = size_of(path);
    printf("stopped: %.1f MB after 10 commits, %.1f MB after %d that wrote a log of %.1f MB\n",
           early / 1e6, size / 1e6, COMMITS, COMMITS * (double)KEYS * BYTES / 1e6);
    /* At most 16 MiB are a log, and little is the data. */
    CHECK(early < 14000000 && size < 25000000);
    /* It goes on where everybody is. */
    CHECK(kill(process.id, SIGCONT) == 0);
    expect(&process, "m0", 1);
    add_thing(realm);
    expect(&process, "i1", 2);
    CHECK(kill_now(&process) == -SIGKILL);
    /* Nobody needs the log any more. */
    for (int i = 0; i < 40; i++)
        add_thing(realm);
    CHECK(realm_get_num_versions(realm, &versions) && versions <= 2);
    CHECK(size_of(path) < size / 2);
    realm_release(scores);
    realm_release(thing);
    realm_release(realm);
}

/* The thread that listens goes with the last realm that it wakes. */
static int threads(void) {
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    int count = -1;
    while (file && fgets(line, sizeof line, file))
        sscanf(line, "Threads: %d", &count);
    if (file)
        fclose(file);
    return count;
}
static int threads_soon(int wanted) {
    for (int i = 0; i < 400 && threads() != wanted; i++)
        usleep(500);
    return threads();
}
static void one_thread(void) {
    const int before = threads();
    loop_t loop = {0};
    realm_t *first = open_looped_things("thread.realm", &loop);
    realm_config_t *config = things_config("thread.realm");
    realm_config_set_cached(config, false);
    realm_t *second = open_looped(config, &loop);
    CHECK(threads() == before + 1);
    realm_close(first);
    usleep(5000);
    CHECK(threads() == before + 1);
    realm_close(second);
    CHECK(threads_soon(before) == before);
    realm_release(first);
    realm_release(second);
    /* None where nobody can be woken. */
    config = things_config("thread.realm");
    realm_config_set_automatic_change_notifications(config, false);
    realm_t *silent = open_looped(config, &loop), *plain = open_things("thread.realm");
    loop.cannot_deliver = true;
    realm_t *deaf = open_looped_things("thread.realm", &loop);
    CHECK(threads() == before);
    realm_release(silent);
    realm_release(plain);
    realm_release(deaf);
    CHECK(loop_ended(&loop));
}

int main(int count, char **arguments) {
    if (count == 4) {
        out = atoi(arguments[2]);
        int number = atoi(arguments[3]);
        return strcmp(arguments[0], "observer") == 0 ? observer(arguments[1], number)
                                                     : writer(arguments[1], number);
    }
    signal(SIGPIPE, SIG_IGN);
    one_thread();
    told_what_changed(0);
    told_what_changed(READS_ONLY);
    asynchronous_commits();
    many_observers();
    killed();
    stopped();
    return check_end("notifications_processes");
}
