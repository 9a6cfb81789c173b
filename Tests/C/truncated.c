/* A file that another program truncates while it is open is an error, and not the end of the process. The
 * signal of any other memory has the effect that it had without the library. */
#define _GNU_SOURCE
#include "check.h"
#include "people.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <unistd.h>

/* Memory of a file that has no page there any more. */
static volatile char *foreign(const char *path) {
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || ftruncate(file, 4096)) exit(2);
    void *memory = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED || ftruncate(file, 0)) exit(2);
    close(file);
    return memory;
}

static sigjmp_buf after;
static volatile sig_atomic_t calls;
static const volatile void *volatile address;
static void host(int number, siginfo_t *info, void *context) {
    (void)number, (void)context;
    calls++;
    address = info->si_addr;
    siglongjmp(after, 1);
}

static void fill(const char *path) {
    realm_t *realm = open_with(path, people_schema());
    realm_class_info_t notes;
    bool found;
    CHECK(realm_find_class(realm, "Note", &found, &notes) && found);
    CHECK(realm_begin_write(realm));
    for (int i = 0; i < 20000; i++) realm_release(realm_object_create(realm, notes.key));
    CHECK(realm_commit(realm));
    CHECK(realm_close(realm));
    realm_release(realm);
}

/* Everything of the file is asked for; none of it may end the process, and something must fail. */
static void read_cut(const char *path) {
    realm_t *realm = open_with(path, NULL);
    realm_class_info_t notes;
    bool found;
    CHECK(realm_find_class(realm, "Note", &found, &notes) && found);
    CHECK(truncate(path, 3 * 4096) == 0);
    realm_clear_last_error();
    realm_query_t *query = realm_query_parse(realm, notes.key, "TRUEPREDICATE", 0, NULL);
    realm_results_t *results = query ? realm_query_find_all(query) : NULL;
    size_t count = 0;
    bool good = results && realm_results_count(results, &count);
    for (size_t i = 0; good && i < count; i++) {
        realm_object_t *object = realm_results_get_object(results, i);
        realm_value_t value;
        realm_property_key_t key;
        size_t keys;
        good = object && realm_get_property_keys(realm, notes.key, &key, 1, &keys) &&
               realm_get_value(object, key, &value);
        realm_release(object);
    }
    FAILS(RLM_ERR_INVALID_DATABASE, realm_begin_write(realm));
    realm_release(results);
    realm_release(query);
    realm_close(realm);
    realm_release(realm);
    realm_config_t *config = config_with(path, NULL);
    FAILS(RLM_ERR_INVALID_DATABASE, realm_open(config));
    realm_release(config);
}

/* A program without a handler, that has used the library. */
static int child(const char *what) {
    fill("child.realm");
    if (!strcmp(what, "sent")) raise(SIGBUS);
    if (!strcmp(what, "touched")) (void)*foreign("child-foreign");
    return 8;
}

int main(int count, char **arguments) {
    if (count > 1) return child(arguments[1]);
    /* As in a program that has a handler of its own, from before. */
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = host;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGBUS, &action, NULL);

    fill("truncated.realm");
    read_cut("truncated.realm");
    CHECK(calls == 0);

    volatile char *memory = foreign("foreign");
    if (!sigsetjmp(after, 1)) {
        (void)*memory;
        CHECK(!"a page that is not there was read");
    }
    CHECK(calls == 1);
    CHECK(address == memory);
    if (!sigsetjmp(after, 1)) raise(SIGBUS);
    CHECK(calls == 2);

    /* A handler that is installed later has its way. */
    sigaction(SIGBUS, &action, NULL);
    fill("later.realm");
    realm_t *realm = open_with("later.realm", NULL);
    struct sigaction now;
    CHECK(sigaction(SIGBUS, NULL, &now) == 0 && now.sa_sigaction == host);
    realm_close(realm);
    realm_release(realm);

    /* Without one a foreign page ends the process, and so does the signal when it is sent. */
    for (int sent = 0; sent < 2; sent++) {
        pid_t child = fork();
        if (child == 0) {
            struct rlimit none = {0, 0};
            setrlimit(RLIMIT_CORE, &none);
            execl("/proc/self/exe", "truncated", sent ? "sent" : "touched", (char *)NULL);
            _exit(9);
        }
        int status = 0;
        CHECK(waitpid(child, &status, 0) == child);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
    }
    return check_end("truncated");
}
