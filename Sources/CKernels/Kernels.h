/* What kernels share: loads that need no alignment, where texts and cells lie, and code that is chosen by
 * processor. */
#ifndef KERNELS_H
#define KERNELS_H

#include <string.h>

#include "CKernelsSearch.h"

#define INLINE static inline __attribute__((always_inline))

#if defined(__x86_64__)
#include <immintrin.h>
#define AVX2 __attribute__((target("avx2,popcnt,bmi,bmi2")))
#define HAS_AVX2() __builtin_cpu_supports("avx2")
/* One of two calls. */
#define BY_PROCESSOR(VECTORS, PORTABLE) (HAS_AVX2() ? VECTORS : PORTABLE)
#else
#define BY_PROCESSOR(VECTORS, PORTABLE) PORTABLE
#endif

INLINE uint16_t load16(const void *p) {
    uint16_t value;
    memcpy(&value, p, 2);
    return value;
}
INLINE uint32_t load32(const void *p) {
    uint32_t value;
    memcpy(&value, p, 4);
    return value;
}
INLINE uint64_t load64(const void *p) {
    uint64_t value;
    memcpy(&value, p, 8);
    return value;
}

/* Number `i` of those of `width` bytes each. */
INLINE int64_t signed_number(const uint8_t *data, unsigned width, size_t i) {
    switch (width) {
    case 1: return (int8_t)data[i];
    case 2: return (int16_t)load16(data + i * 2);
    case 4: return (int32_t)load32(data + i * 4);
    default: return (int64_t)load64(data + i * 8);
    }
}

/* Where a text begins and the one before it ends. */
INLINE size_t text_start(const ck_texts *texts, size_t text) {
    if (texts->offsets16) return ((const uint16_t *)texts->offsets16)[text];
    if (texts->offsets32) return ((const uint32_t *)texts->offsets32)[text];
    return text * texts->length;
}

/* Sends for what will be read while the next cells are: see CKernelsCells.h. */
INLINE void look_ahead(const ck_texts *cells, ptrdiff_t offsets_ahead, size_t row, size_t start) {
    if (cells->ahead) __builtin_prefetch(cells->heap + start + cells->ahead);
    if (offsets_ahead && row % 32 == 0 && cells->offsets16)
        __builtin_prefetch((const uint8_t *)cells->offsets16 + row * 2 + offsets_ahead);
}

#endif
