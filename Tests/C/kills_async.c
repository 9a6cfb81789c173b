/* SIGKILL at any moment of processes that commit asynchronously, and go on from what others have not synced yet: nobody
 * who lives is told of an error, and no commit whose completion ran is lost.
 *
 *   kills_async [SECONDS]    a few where none are given */
#include "async.h"

#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROCESSES = 3, NUMBERS = 400000, WAITING_MAX = 4 };

/* What the library calls: now and then as slow as a disk. */
int fdatasync(int file) {
    static unsigned seed = 1;
    usleep(rand_r(&seed) % 3000);
    return (int)syscall(SYS_fdatasync, file);
}

static const char *path = "kills_async.realm";
static struct {
    int next, errors;
    bool is_done[NUMBERS];
    char text[300];
} *shared;

static void failed(const char *what, const char *description) {
    if (__atomic_fetch_add(&shared->errors, 1, __ATOMIC_SEQ_CST) == 0)
        snprintf(shared->text, sizeof shared->text, "%s: %s", what, description ? description : "");
}
static void failed_call(const char *what) {
    realm_error_t error = {0};
    realm_get_last_error(&error);
    failed(what, error.message);
    _exit(1);
}

static int waiting;
static void complete(void *number, bool error, const char *description) {
    waiting--;
    if (error)
        failed("completion", description);
    else
        shared->is_done[(intptr_t)number] = true;
}

static _Noreturn void write_for_ever(void) {
    loop_t loop;
    loop_init(&loop);
    realm_t *realm = open_counters(path, &loop);
    unsigned seed = (unsigned)getpid();
    for (;;) {
        if (!realm_begin_write(realm))
            failed_call("begin");
        int number = __atomic_fetch_add(&shared->next, 1, __ATOMIC_SEQ_CST);
        if (number >= NUMBERS)
            _exit(0);
        add(realm, number);
        if (rand_r(&seed) % 3 == 0) {
            if (!realm_commit(realm))
                failed_call("commit");
            shared->is_done[number] = true;
        } else {
            waiting++;
            bool groups = rand_r(&seed) % 2;
            if (!realm_async_commit(realm, complete, (void *)(intptr_t)number, NULL, groups, NULL))
                failed_call("asynchronous commit");
        }
        while (waiting > WAITING_MAX || rand_r(&seed) % 3 == 0)
            loop_turn(&loop, 1);
    }
}

static pid_t start(void) {
    pid_t child = fork();
    if (child == 0)
        write_for_ever();
    return child;
}

int main(int count, char **arguments) {
    int seconds = count > 1 ? atoi(arguments[1]) : 4;
    bool deleted;
    SUCCEEDS(realm_delete_files(path, &deleted));
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    pid_t processes[PROCESSES];
    for (int i = 0; i < PROCESSES; i++)
        processes[i] = start();
    int kills = 0, status;
    for (; kills < seconds * 20; kills++) {
        usleep(50000);
        int i = kills % PROCESSES;
        kill(processes[i], SIGKILL);
        CHECK(waitpid(processes[i], &status, 0) == processes[i] && WIFSIGNALED(status));
        processes[i] = start();
    }
    for (int i = 0; i < PROCESSES; i++) {
        kill(processes[i], SIGKILL);
        waitpid(processes[i], &status, 0);
    }
    CHECK(shared->errors == 0);
    if (shared->errors)
        fprintf(stderr, "    %d errors, the first: %s\n", shared->errors, shared->text);

    static bool is_there[NUMBERS];
    realm_t *realm = open_counters(path, NULL);
    realm_results_t *results = realm_object_find_all(realm, counters(realm));
    realm_property_info_t value;
    bool found;
    size_t objects = 0;
    CHECK(realm_find_property(realm, counters(realm), "value", &found, &value) && found);
    SUCCEEDS(realm_results_count(results, &objects));
    for (size_t i = 0; i < objects; i++) {
        realm_object_t *object = realm_results_get_object(results, i);
        realm_value_t number;
        SUCCEEDS(realm_get_value(object, value.key, &number));
        CHECK(!is_there[number.integer]);
        is_there[number.integer] = true;
        realm_release(object);
    }
    int done = 0;
    for (int i = 0; i < shared->next && i < NUMBERS; i++) {
        done += shared->is_done[i];
        CHECK(is_there[i] || !shared->is_done[i]);
    }
    CHECK(done > 0);
    realm_release(results);
    realm_release(realm);
    size_t problems = 1;
    SUCCEEDS(realm_check_file(path, NULL, 0, &problems));
    CHECK(problems == 0);
    printf("%d kills, %d commits acknowledged, none lost\n", kills, done);
    return check_end("kills_async");
}
