/* Small pieces of C that Swift has no words for: atomic access to shared memory, thread-local
 * slots, SIMD instructions without a Swift spelling, mathematics of the C library. Everything else is
 * Swift. */
#ifndef CKERNELS_H
#define CKERNELS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include "CKernelsCache.h"
#include "CKernelsCells.h"
#include "CKernelsElements.h"
#include "CKernelsGroups.h"
#include "CKernelsLinks.h"
#include "CKernelsSearch.h"
#include "CKernelsSodium.h"
#include "CKernelsSort.h"

static inline uint64_t ck_load_relaxed_u64(const uint64_t *p) {
    return __atomic_load_n(p, __ATOMIC_RELAXED);
}
static inline void ck_store_relaxed_u64(uint64_t *p, uint64_t v) {
    __atomic_store_n(p, v, __ATOMIC_RELAXED);
}
/* Thresholds of the log by category. */
#define CK_LOG_CATEGORIES 15
extern uint64_t ck_log_thresholds[CK_LOG_CATEGORIES];
static inline uint64_t ck_log_threshold(intptr_t category) {
    return ck_load_relaxed_u64(ck_log_thresholds + category);
}
static inline void ck_set_log_threshold(intptr_t category, uint64_t level) {
    ck_store_relaxed_u64(ck_log_thresholds + category, level);
}
static inline uint64_t ck_load_u64(const uint64_t *p) {
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);
}
static inline void ck_store_u64(uint64_t *p, uint64_t v) {
    __atomic_store_n(p, v, __ATOMIC_SEQ_CST);
}
static inline bool ck_cas_u64(uint64_t *p, uint64_t expected, uint64_t desired) {
    return __atomic_compare_exchange_n(p, &expected, desired, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
}
static inline uint64_t ck_add_u64(uint64_t *p, uint64_t v) {
    return __atomic_add_fetch(p, v, __ATOMIC_SEQ_CST);
}

static inline uint64_t ck_exchange_u64(uint64_t *p, uint64_t v) {
    return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);
}

static inline void ck_memcpy(void *t, const void *s, size_t n) { __builtin_memcpy(t, s, n); }
static inline void ck_memmove(void *t, const void *s, size_t n) { __builtin_memmove(t, s, n); }
static inline void ck_memset(void *t, int b, size_t n) { __builtin_memset(t, b, n); }
static inline int ck_memcmp(const void *a, const void *b, size_t n) {
    return __builtin_memcmp(a, b, n);
}

/* Names the calling thread: one instruction, where pthread_self() is a call. */
static inline uintptr_t ck_thread_pointer(void) { return (uintptr_t)__builtin_thread_pointer(); }

/* Whether the thread sanitizer watches, which leaves 1.5 TB of addresses for everything. */
bool ck_is_thread_sanitized(void);

static inline void ck_prefetch(const void *p) { __builtin_prefetch(p); }

/* One pointer-sized slot per thread for each use. The initial-exec model makes an access one
 * load; the few bytes come from the reserve that the C library keeps for libraries opened late. */
enum {
    CK_SLOT_LAST_ERROR = 0,
    CK_SLOT_HANDLES = 1,
    CK_SLOT_USER_ERROR = 2,
    CK_SLOT_SCHEDULER = 3,
    CK_SLOT_COUNT = 4
};
extern _Thread_local __attribute__((tls_model("initial-exec"))) void *ck_thread_slots[CK_SLOT_COUNT];
static inline void *ck_thread_slot(int which) { return ck_thread_slots[which]; }
static inline void ck_set_thread_slot(int which, void *value) { ck_thread_slots[which] = value; }

/* From now on, when the calling thread ends, calls `end` with the slot's value if that is not
 * NULL, and clears the slot. All threads must give the same `end` for one slot. */
void ck_thread_slot_on_exit(int which, void (*end)(void *value));

/* A pthread mutex at an address that does not move (Synchronization.Mutex would be reported
 * falsely by the thread sanitizer). NULL when memory is exhausted. */
typedef struct ck_lock ck_lock;
ck_lock *ck_lock_new(void);
/* A lock for state of the whole process that lives for ever. fork() waits until it is free, so
 * that it works in the child. Whoever holds it calls nothing unknown and takes no such lock. */
ck_lock *ck_lock_new_for_process(void);
void ck_lock_free(ck_lock *lock);
void ck_lock_acquire(ck_lock *lock);
void ck_lock_release(ck_lock *lock);

/* Calls body(context, 0) here and body(context, 1) on a thread made for it, and returns when both
 * have ended. Without a second thread both run here, one after the other. */
void ck_run_halves(void (*body)(void *context, int half), void *context);
/* Calls body(context) on a thread made for it, which nobody waits for; false if there is none. */
bool ck_run_apart(void (*body)(void *context), void *context);
/* Has the disk begin with these bytes of a file, without waiting for it. */
void ck_begin_writing(int descriptor, int64_t offset, int64_t count);
/* Sleeps while the low half of the word is `value`, until one of the `bits` is woken, or for so many
 * nanoseconds, less than two seconds. The word may be in memory that processes share. */
void ck_wait_shared(const uint64_t *word, uint32_t value, uint32_t bits, int64_t nanoseconds);
/* Wakes all, of any process, who sleep on the word with one of these bits. */
void ck_wake_shared(const uint64_t *word, uint32_t bits);
/* A descriptor that is readable while the number that was written to it is not 0; -1 and errno. */
int ck_event_descriptor(void);

/* The function of a library that lies in the directory of this one, which is loaded if it is not and stays so; NULL,
 * with the reason in `problem`, where there is none. */
void *ck_function_beside(const char *library, const char *function, char *problem, size_t size);
/* Pages of this mapping that its file has no more become zeros when they are touched, instead of ending the
 * process; then *flag is 1 and *limit 0. See MappedFiles.c. */
void ck_watch_mapping(void *start, size_t bytes, bool writable, uint64_t *flag, uint64_t *limit);
/* Before the memory is unmapped. */
void ck_unwatch_mapping(void *start);
/* Processors this thread may use. */
int ck_cores(void);

/* Memory of the C allocator, which callers of the C ABI give back with realm_free. */
void *ck_malloc(size_t size);
void *ck_realloc(void *memory, size_t size);
void ck_free(void *memory);

/* Asks for huge pages for this memory, which then costs one page fault for 2 MiB instead of 512.
 * Where there are none, nothing happens. */
void ck_prefer_huge_pages(void *start, size_t bytes);

/* A number that names the calling thread and no other, before or after. */
uint64_t ck_thread_number(void);

/* Seconds since 1970-01-01 UTC, for object ids; later than 2106 they wrap. */
uint32_t ck_unix_seconds(void);

/* Bytes of address space that the process may take (RLIMIT_AS). */
uint64_t ck_address_limit(void);

/* Writes a number as printf("%.*e") does in the C locale. */
void ck_format_scientific(double number, int digits, char *target, size_t size);

/* Writes to standard error, for messages that nobody else takes. */
void ck_write_stderr(const char *bytes, size_t count);

/* The time of day: seconds since 1970. */
static inline int64_t ck_now(int32_t *nanoseconds) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    *nanoseconds = (int32_t)now.tv_nsec;
    return now.tv_sec;
}

/* Nanoseconds since some moment: to measure durations. */
static inline uint64_t ck_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Has this thread rest, less than a second; a signal may end that earlier. */
static inline void ck_rest(uint32_t nanoseconds) {
    struct timespec time = {0, (long)nanoseconds};
    nanosleep(&time, NULL);
}

/* Mathematics; Swift's own library has square roots alone. */
static inline double ck_exp(double x) { return exp(x); }
static inline double ck_log(double x) { return log(x); }
static inline double ck_log10(double x) { return log10(x); }
static inline double ck_pow(double x, double y) { return pow(x, y); }
static inline double ck_sin(double x) { return sin(x); }
static inline double ck_atan2(double y, double x) { return atan2(y, x); }
static inline double ck_cos(double x) { return cos(x); }

#endif
