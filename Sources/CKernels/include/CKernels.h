/* Small pieces of C that Swift has no words for: atomic access to shared memory, thread-local
 * slots, SIMD instructions without a Swift spelling. Everything else is Swift. */
#ifndef CKERNELS_H
#define CKERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline uint64_t ck_load_relaxed_u64(const uint64_t *p) {
    return __atomic_load_n(p, __ATOMIC_RELAXED);
}
static inline void ck_store_relaxed_u64(uint64_t *p, uint64_t v) {
    __atomic_store_n(p, v, __ATOMIC_RELAXED);
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

/* One pointer-sized slot per thread for each use. */
void **ck_thread_slot(int which);
enum { CK_SLOT_LAST_ERROR = 0, CK_SLOT_HANDLES = 1, CK_SLOT_COUNT = 4 };

#endif
