#define _GNU_SOURCE
#include "CKernels.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

_Thread_local __attribute__((tls_model("initial-exec"))) void *ck_thread_slots[CK_SLOT_COUNT];

static void (*slot_ends[CK_SLOT_COUNT])(void *);
static pthread_key_t exit_key;
static pthread_once_t exit_once = PTHREAD_ONCE_INIT;

/* Runs when a thread ends. Clearing a slot before its end runs lets the end use the slot anew
 * (an error message released by it may set one); it arms the key again, and pthreads comes back. */
static void at_thread_exit(void *slots_of_thread) {
    void **slots = slots_of_thread;
    for (int i = 0; i < CK_SLOT_COUNT; i++) {
        void (*end)(void *) = __atomic_load_n(&slot_ends[i], __ATOMIC_ACQUIRE);
        void *value = slots[i];
        if (end && value) {
            slots[i] = NULL;
            end(value);
        }
    }
}
static void make_exit_key(void) { (void)pthread_key_create(&exit_key, at_thread_exit); }

void ck_thread_slot_on_exit(int which, void (*end)(void *value)) {
    (void)pthread_once(&exit_once, make_exit_key);
    __atomic_store_n(&slot_ends[which], end, __ATOMIC_RELEASE);
    (void)pthread_setspecific(exit_key, ck_thread_slots);
}

/* In static memory, so that asking costs a load and a comparison: RLM_LOG_LEVEL_INFO each. */
uint64_t ck_log_thresholds[CK_LOG_CATEGORIES] = {4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4};

struct ck_lock {
    pthread_mutex_t mutex;
};

ck_lock *ck_lock_new(void) {
    ck_lock *lock = malloc(sizeof *lock);
    if (lock && pthread_mutex_init(&lock->mutex, NULL) != 0) {
        free(lock);
        return NULL;
    }
    return lock;
}
/* Locks of the process; the table only grows. */
enum { PROCESS_LOCKS_MAX = 16 };
static ck_lock *process_locks[PROCESS_LOCKS_MAX];
static int process_lock_count;
static int locks_at_fork;
static pthread_mutex_t process_locks_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static void before_fork(void) {
    (void)pthread_mutex_lock(&process_locks_mutex);
    locks_at_fork = process_lock_count;
    for (int i = 0; i < locks_at_fork; i++) ck_lock_acquire(process_locks[i]);
}
static void after_fork(void) {
    for (int i = locks_at_fork; i-- > 0;) ck_lock_release(process_locks[i]);
    (void)pthread_mutex_unlock(&process_locks_mutex);
}
static void watch_forks(void) { (void)pthread_atfork(before_fork, after_fork, after_fork); }

ck_lock *ck_lock_new_for_process(void) {
    (void)pthread_once(&fork_once, watch_forks);
    ck_lock *lock = ck_lock_new();
    (void)pthread_mutex_lock(&process_locks_mutex);
    if (lock && process_lock_count < PROCESS_LOCKS_MAX) process_locks[process_lock_count++] = lock;
    (void)pthread_mutex_unlock(&process_locks_mutex);
    return lock;
}
void ck_lock_free(ck_lock *lock) {
    if (lock) {
        (void)pthread_mutex_destroy(&lock->mutex);
        free(lock);
    }
}
void ck_lock_acquire(ck_lock *lock) { (void)pthread_mutex_lock(&lock->mutex); }
void ck_lock_release(ck_lock *lock) { (void)pthread_mutex_unlock(&lock->mutex); }

struct halves {
    void (*body)(void *context, int half);
    void *context;
};
/* The program's signal handlers are not for the engine's threads; faults are, which the engine itself
 * handles (CKernelsCache.c). */
static bool start_thread(pthread_t *thread, void *(*body)(void *), void *argument) {
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)sigdelset(&all, SIGSEGV);
    (void)sigdelset(&all, SIGBUS);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(thread, NULL, body, argument);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return !failed;
}

static void *second_half(void *argument) {
    struct halves *halves = argument;
    halves->body(halves->context, 1);
    return NULL;
}
void ck_run_halves(void (*body)(void *context, int half), void *context) {
    struct halves halves = {body, context};
    pthread_t thread;
    /* A thread for each call: it costs 20 microseconds, and nothing is left behind that fork() or the
     * end of the process could meet. */
    bool started = start_thread(&thread, second_half, &halves);
    body(context, 0);
    if (started)
        (void)pthread_join(thread, NULL);
    else
        body(context, 1);
}
void ck_begin_writing(int descriptor, int64_t offset, int64_t count) {
    /* What fails is told by the sync that follows; file systems that can't do it do nothing. */
    (void)sync_file_range(descriptor, offset, count, SYNC_FILE_RANGE_WRITE);
}

struct apart {
    void (*body)(void *context);
    void *context;
};

static void *run_apart(void *argument) {
    struct apart *apart = argument;
    apart->body(apart->context);
    free(apart);
    return NULL;
}

bool ck_run_apart(void (*body)(void *context), void *context) {
    struct apart *apart = malloc(sizeof *apart);
    if (!apart)
        return false;
    *apart = (struct apart){body, context};
    pthread_t thread;
    if (!start_thread(&thread, run_apart, apart)) {
        free(apart);
        return false;
    }
    pthread_detach(thread);
    return true;
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the low half of a word comes first");

void ck_wait_shared(const uint64_t *word, uint32_t value, uint32_t bits, int64_t nanoseconds) {
    struct timespec end;
    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    nanoseconds += end.tv_nsec;
    end.tv_sec += nanoseconds / 1000000000;
    end.tv_nsec = nanoseconds % 1000000000;
    /* Whatever ends it, the caller looks again. */
    (void)syscall(SYS_futex, word, FUTEX_WAIT_BITSET, value, &end, NULL, bits);
}

void ck_wake_shared(const uint64_t *word, uint32_t bits) {
    (void)syscall(SYS_futex, word, FUTEX_WAKE_BITSET, INT_MAX, NULL, NULL, bits);
}

int ck_event_descriptor(void) {
    int descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (descriptor < 0 || descriptor > 2)
        return descriptor;
    /* Where the host program closed those, what it opens next is taken for them. */
    int above = fcntl(descriptor, F_DUPFD_CLOEXEC, 3), problem = errno;
    (void)close(descriptor);
    errno = problem;
    return above;
}

int ck_cores(void) {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return CPU_COUNT(&allowed);
    return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

void *ck_malloc(size_t size) { return malloc(size); }
void *ck_realloc(void *memory, size_t size) { return realloc(memory, size); }
void ck_free(void *memory) { free(memory); }

void ck_prefer_huge_pages(void *start, size_t bytes) {
#ifdef MADV_HUGEPAGE
    /* Whole pages inside the block; an error changes nothing. */
    const uintptr_t page = 4096, from = ((uintptr_t)start + page - 1) & ~(page - 1);
    const uintptr_t to = ((uintptr_t)start + bytes) & ~(page - 1);
    if (from < to)
        (void)madvise((void *)from, to - from, MADV_HUGEPAGE);
#else
    (void)start;
    (void)bytes;
#endif
}

uint64_t ck_thread_number(void) {
    static uint64_t last;
    static _Thread_local __attribute__((tls_model("initial-exec"))) uint64_t mine;
    if (mine == 0)
        mine = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
    return mine;
}

void ck_write_stderr(const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t written = write(2, bytes, count);
        if (written <= 0)
            return;
        bytes += written;
        count -= (size_t)written;
    }
}

uint64_t ck_address_limit(void) {
    struct rlimit limit;
    return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur : UINT64_MAX;
}

uint32_t ck_unix_seconds(void) { return (uint32_t)time(NULL); }

void ck_format_scientific(double number, int digits, char *target, size_t size) {
    (void)snprintf(target, size, "%.*e", digits, number);
    /* The point is that of the host program's locale, which may be several bytes long. */
    char *point = target + (*target == '-') + 1, *rest = point;
    while (*rest && (*rest < '0' || *rest > '9') && *rest != 'e')
        rest++;
    if (rest == point)
        return;
    *point++ = '.';
    memmove(point, rest, strlen(rest) + 1);
}

bool ck_is_thread_sanitized(void) {
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
    return true;
#endif
#endif
    return false;
}
