/* What the tests of several processes share: the program starts itself again in a role, with a realm and a
 * number, and hears from it through a pipe. */
#ifndef PROCESSES_H
#define PROCESSES_H

#include "notices.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

typedef struct process {
    pid_t id;
    /* The process writes, this program reads; closed when it ends. */
    int pipe;
} process_t;

static inline int64_t nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* In the process, main() gets as its arguments from the first on the role, the path, the descriptor of the pipe and the number. */
static inline process_t start(const char *role, const char *path, int number) {
    int ends[2];
    if (pipe(ends) != 0)
        exit(1);
    char descriptor[16], argument[16];
    snprintf(descriptor, sizeof descriptor, "%d", ends[1]);
    snprintf(argument, sizeof argument, "%d", number);
    pid_t id = fork();
    if (id == 0) {
        /* None is left when this program ends early. */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(ends[0]);
        execl("/proc/self/exe", role, path, descriptor, argument, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    return (process_t){id, ends[0]};
}

/* Waits for its end; the exit code, or minus the signal. */
static inline int end_of(process_t *process) {
    int status = 0;
    while (waitpid(process->id, &status, 0) < 0 && errno == EINTR) {}
    close(process->pipe);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}
static inline int kill_now(process_t *process) {
    kill(process->id, SIGKILL);
    return end_of(process);
}

/* What an observer was told, when, and how many objects there were then. */
typedef struct report {
    int64_t when;
    uint64_t count;
    char text[112];
} report_t;

/* The next report, within the time; false when there is none. */
static inline bool next_report(process_t *process, report_t *report, int milliseconds) {
    struct pollfd ready = {process->pipe, POLLIN, 0};
    if (poll(&ready, 1, milliseconds) <= 0)
        return false;
    return read(process->pipe, report, sizeof *report) == (ssize_t)sizeof *report;
}
/* Reads reports until one has this count. */
static inline bool until_count(process_t *process, uint64_t count, int milliseconds) {
    report_t report;
    while (next_report(process, &report, milliseconds))
        if (report.count == count)
            return true;
    return false;
}

/* A scheduler that a descriptor stands for: readable when there is work. */
typedef struct event_loop {
    int schedulers;
    realm_work_queue_t *queue;
    int event;
} event_loop_t;

static inline void event_notify(void *userdata, realm_work_queue_t *queue) {
    event_loop_t *loop = userdata;
    const uint64_t one = 1;
    __atomic_store_n(&loop->queue, queue, __ATOMIC_SEQ_CST);
    if (write(loop->event, &one, sizeof one) < 0)
        abort();
}
static inline bool event_delivers(void *userdata) { return userdata != NULL; }
static inline realm_scheduler_t *event_scheduler(event_loop_t *loop) {
    loop->schedulers = 1;
    loop->queue = NULL;
    loop->event = eventfd(0, EFD_CLOEXEC);
    return realm_scheduler_new(loop, loop_free, event_notify, event_delivers, NULL, event_delivers);
}
/* Performs what comes within the time; false when nothing did. */
static inline bool event_turn(event_loop_t *loop, int milliseconds) {
    struct pollfd ready = {loop->event, POLLIN, 0};
    uint64_t count;
    if (poll(&ready, 1, milliseconds) <= 0)
        return false;
    if (read(loop->event, &count, sizeof count) < 0)
        return false;
    realm_scheduler_perform_work(__atomic_load_n(&loop->queue, __ATOMIC_SEQ_CST));
    return true;
}

#endif
