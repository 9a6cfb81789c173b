/* SIGBUS of mapped files. A file that another program truncates while it is mapped ends the process at the
 * next touch of what is gone: the kernel has nothing to show. For the ranges that the engine watches, and
 * for no others, the page is replaced by one of zeros and the range's words are set, so that the engine
 * finds its file cut, and says so.
 *
 * The handler is installed once, with the first range, and never again: one that the program installs
 * later has its way, also if it does not pass signals on. What does not concern a watched range goes to
 * the handler that was there before.
 *
 * Everything in the handler is safe in one: loads and stores of words that live as long as the range, and
 * two system calls. An entry is in use while its start is not zero; who touches the memory of a range
 * keeps it from being removed meanwhile. */
#define _GNU_SOURCE
#include "CKernels.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef struct {
    _Atomic uintptr_t start;
    _Atomic uintptr_t end;
    _Atomic uintptr_t flag, limit;
    _Atomic int protection;
} range;

/* Files beyond these work, unwatched. */
enum { RANGES = 1024, PAGE = 4096 };
static range ranges[RANGES];
static _Atomic int used;
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction before;

static bool replace_page(uintptr_t address) {
    int count = atomic_load(&used);
    for (int i = 0; i < count; i++) {
        uintptr_t start = atomic_load(&ranges[i].start);
        if (start == 0 || address < start || address >= atomic_load(&ranges[i].end)) continue;
        void *page = (void *)(address & ~(uintptr_t)(PAGE - 1));
        /* The C library's mmap() is not listed as safe here; the system call is. */
        long mapped = syscall(SYS_mmap, page, (size_t)PAGE, atomic_load(&ranges[i].protection),
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0L);
        if ((uintptr_t)mapped != (uintptr_t)page) return false;
        ck_store_u64((uint64_t *)atomic_load(&ranges[i].flag), 1);
        ck_store_u64((uint64_t *)atomic_load(&ranges[i].limit), 0);
        return true;
    }
    return false;
}

static void handle(int number, siginfo_t *info, void *context) {
    int error = errno;
    /* Sent by kill(), si_code is not positive, and the address means nothing. */
    bool is_ours = info->si_code == BUS_ADRERR && replace_page((uintptr_t)info->si_addr);
    errno = error;
    if (is_ours) return;
    if (before.sa_flags & SA_SIGINFO) {
        before.sa_sigaction(number, info, context);
    } else if (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN) {
        if (info->si_code <= 0 && before.sa_handler == SIG_IGN) return;
        /* The instruction runs again, or the signal is sent again, and has the effect that it would have had. */
        sigaction(SIGBUS, &before, NULL);
        if (info->si_code <= 0) raise(SIGBUS);
    } else {
        before.sa_handler(number);
    }
}

static void install(void) {
    struct sigaction ours;
    memset(&ours, 0, sizeof ours);
    ours.sa_sigaction = handle;
    /* On the thread's own signal stack where it has one; other signals wait no longer than before. */
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigemptyset(&ours.sa_mask);
    sigaction(SIGBUS, NULL, &before);
    sigaction(SIGBUS, &ours, &before);
}

void ck_watch_mapping(void *start, size_t bytes, bool writable, uint64_t *flag, uint64_t *limit) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
    pthread_mutex_lock(&changing);
    for (int i = 0; i < RANGES; i++) {
        if (atomic_load(&ranges[i].start) != 0) continue;
        atomic_store(&ranges[i].end, (uintptr_t)start + bytes);
        atomic_store(&ranges[i].flag, (uintptr_t)flag);
        atomic_store(&ranges[i].limit, (uintptr_t)limit);
        atomic_store(&ranges[i].protection, writable ? PROT_READ | PROT_WRITE : PROT_READ);
        atomic_store(&ranges[i].start, (uintptr_t)start);
        if (i >= atomic_load(&used)) atomic_store(&used, i + 1);
        break;
    }
    pthread_mutex_unlock(&changing);
}

void ck_unwatch_mapping(void *start) {
    pthread_mutex_lock(&changing);
    int count = atomic_load(&used);
    for (int i = 0; i < count; i++) {
        if (atomic_load(&ranges[i].start) == (uintptr_t)start) atomic_store(&ranges[i].start, 0);
    }
    pthread_mutex_unlock(&changing);
}
