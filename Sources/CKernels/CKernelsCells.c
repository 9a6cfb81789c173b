#include "CKernelsCells.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#define AVX2 __attribute__((target("avx2,popcnt,bmi")))
#define HAS_AVX2() __builtin_cpu_supports("avx2")
#endif

enum { INLINE_FORM = 1, NULLS_FLAG = 1, NUMBERS = 6 };

/* What is asked of the numbers. */
typedef struct {
    int64_t low, high;
    const uint64_t *bits; /* of a set; NULL for a range */
    bool negated;
} question;

static inline int64_t number(const uint8_t *data, unsigned width, size_t i) {
    int8_t a;
    int16_t b;
    int32_t c;
    int64_t d;
    switch (width) {
    case 1: memcpy(&a, data + i, 1); return a;
    case 2: memcpy(&b, data + i * 2, 2); return b;
    case 4: memcpy(&c, data + i * 4, 4); return c;
    default: memcpy(&d, data + i * 8, 8); return d;
    }
}

static inline bool passes(int64_t value, const question *q) {
    uint64_t place = (uint64_t)value - (uint64_t)q->low;
    bool inside = value >= q->low && value <= q->high;
    if (inside && q->bits) inside = q->bits[place >> 6] >> (place & 63) & 1;
    return inside != q->negated;
}

static inline unsigned count_plainly(const uint8_t *data, unsigned width, size_t count,
                                     const question *q) {
    unsigned found = 0;
    for (size_t i = 0; i < count; i++) found += passes(number(data, width, i), q);
    return found;
}

static inline size_t cell_end(const ck_texts *cells, size_t row) {
    if (cells->offsets16) return ((const uint16_t *)cells->offsets16)[row + 1];
    if (cells->offsets32) return ((const uint32_t *)cells->offsets32)[row + 1];
    return (row + 1) * cells->length;
}

static inline size_t cell_start(const ck_texts *cells, size_t row) {
    if (cells->offsets16) return ((const uint16_t *)cells->offsets16)[row];
    if (cells->offsets32) return ((const uint32_t *)cells->offsets32)[row];
    return row * cells->length;
}

static inline void look_ahead(const ck_texts *cells, ptrdiff_t offsets_ahead, size_t row,
                              size_t start) {
    if (cells->ahead) __builtin_prefetch(cells->heap + start + cells->ahead);
    if (offsets_ahead && row % 32 == 0 && cells->offsets16)
        __builtin_prefetch((const uint8_t *)cells->offsets16 + row * 2 + offsets_ahead);
}

/* Runs `COUNT` for the numbers at `data` of every cell; `end`: behind the last cell. */
#define FOR_EACH_CELL(COUNT)                                                                       \
    const uint8_t *end = cells->heap + (cells->rows ? cell_end(cells, cells->rows - 1) : 0);       \
    bool any = false;                                                                              \
    (void)end;                                                                                     \
    for (size_t first = 0; first < cells->rows; first += 64) {                                     \
        uint64_t word = 0;                                                                         \
        size_t stop = cells->rows - first < 64 ? cells->rows : first + 64;                         \
        for (size_t row = first; row < stop; row++) {                                              \
            size_t start = cell_start(cells, row);                                                 \
            look_ahead(cells, offsets_ahead, row, start);                                          \
            if (start == cell_end(cells, row)) {                                                   \
                counts[row] = 0;                                                                   \
                continue;                                                                          \
            }                                                                                      \
            const uint8_t *cell = cells->heap + start, *data = cell + NUMBERS;                     \
            unsigned size = cell[2] | (unsigned)cell[3] << 8, width = cell[4];                     \
            (void)data, (void)width;                                                               \
            if (cell[0] != INLINE_FORM || cell[5] & NULLS_FLAG) {                                  \
                word |= 1ull << (row - first);                                                     \
                counts[row] = 0;                                                                   \
                continue;                                                                          \
            }                                                                                      \
            counts[row] = (uint16_t)(COUNT);                                                       \
        }                                                                                          \
        odd[first / 64] = word;                                                                    \
        any |= word != 0;                                                                          \
    }                                                                                              \
    return any;

bool ck_cell_sizes(const ck_texts *cells, ptrdiff_t offsets_ahead, uint16_t *counts,
                   uint64_t *odd) {
    FOR_EACH_CELL(size)
}

static bool count_portable(const ck_texts *cells, ptrdiff_t offsets_ahead, const question *q,
                           uint16_t *counts, uint64_t *odd) {
    FOR_EACH_CELL(count_plainly(data, width, size, q))
}

#if defined(__x86_64__)

/* ---- AVX2: up to sixteen bytes of numbers at once, where so many can be read */

typedef struct {
    __m128i low8, span8, low16, span16, low32, span32;
    bool some8, some16, some32;
    const uint64_t *bits;
    unsigned flip;
} vectors;

/* The part of low ... high that numbers of some bits can have: its start and length. */
static inline bool clamp(int64_t low, int64_t high, int64_t least, int64_t greatest, int64_t *start,
                         uint64_t *span) {
    if (low < least) low = least;
    if (high > greatest) high = greatest;
    *start = low;
    *span = (uint64_t)high - (uint64_t)low;
    return low <= high;
}

AVX2 static inline vectors vectors_of(const question *q) {
    vectors v;
    int64_t start;
    uint64_t span;
    v.some8 = clamp(q->low, q->high, INT8_MIN, INT8_MAX, &start, &span);
    v.low8 = _mm_set1_epi8((char)start), v.span8 = _mm_set1_epi8((char)span);
    v.some16 = clamp(q->low, q->high, INT16_MIN, INT16_MAX, &start, &span);
    v.low16 = _mm_set1_epi16((short)start), v.span16 = _mm_set1_epi16((short)span);
    v.some32 = clamp(q->low, q->high, INT32_MIN, INT32_MAX, &start, &span);
    v.low32 = _mm_set1_epi32((int)start), v.span32 = _mm_set1_epi32((int)span);
    v.bits = q->bits;
    v.flip = q->negated ? 0xFFFF : 0;
    return v;
}

AVX2 static inline unsigned counted(unsigned mask, unsigned flip, unsigned bits) {
    return (unsigned)_mm_popcnt_u32((mask ^ flip) & ((1u << bits) - 1));
}

AVX2 static inline unsigned range4(__m128i value, const vectors *v) {
    __m128i delta = _mm_sub_epi32(value, v->low32);
    __m128i pass = _mm_cmpeq_epi32(_mm_min_epu32(delta, v->span32), delta);
    return v->some32 ? (unsigned)_mm_movemask_ps(_mm_castsi128_ps(pass)) : 0;
}

AVX2 static inline unsigned count_range(const uint8_t *data, unsigned width, unsigned size,
                                        const uint8_t *end, const question *q, const vectors *v) {
    if (size * width > 16 || end - data < 16) return count_plainly(data, width, size, q);
    __m128i value = _mm_loadu_si128((const __m128i *)(const void *)data);
    if (width == 4) return counted(range4(value, v), v->flip, size);
    if (width == 2) {
        __m128i delta = _mm_sub_epi16(value, v->low16);
        __m128i pass = _mm_cmpeq_epi16(_mm_min_epu16(delta, v->span16), delta);
        unsigned mask = (unsigned)_mm_movemask_epi8(_mm_packs_epi16(pass, pass)) & 0xFF;
        return counted(v->some16 ? mask : 0, v->flip, size);
    }
    if (width == 1) {
        __m128i delta = _mm_sub_epi8(value, v->low8);
        __m128i pass = _mm_cmpeq_epi8(_mm_min_epu8(delta, v->span8), delta);
        return counted(v->some8 ? (unsigned)_mm_movemask_epi8(pass) : 0, v->flip, size);
    }
    return count_plainly(data, width, size, q);
}

AVX2 static inline unsigned count_members(const uint8_t *data, unsigned width, unsigned size,
                                          const uint8_t *end, const question *q,
                                          const vectors *v) {
    if (width != 4 || size > 4 || end - data < 16 || !v->some32)
        return count_plainly(data, width, size, q);
    __m128i value = _mm_loadu_si128((const __m128i *)(const void *)data);
    __m128i delta = _mm_sub_epi32(value, v->low32);
    __m128i inside = _mm_cmpeq_epi32(_mm_min_epu32(delta, v->span32), delta);
    /* What is outside looks at the first word. */
    delta = _mm_and_si128(delta, inside);
    __m128i words = _mm_i32gather_epi32((const int *)(const void *)v->bits,
                                        _mm_srli_epi32(delta, 5), 4);
    __m128i bits = _mm_srlv_epi32(words, _mm_and_si128(delta, _mm_set1_epi32(31)));
    __m128i pass = _mm_and_si128(_mm_slli_epi32(bits, 31), inside);
    return counted((unsigned)_mm_movemask_ps(_mm_castsi128_ps(pass)), v->flip, size);
}

AVX2 static bool range_avx2(const ck_texts *cells, ptrdiff_t offsets_ahead, const question *q,
                            uint16_t *counts, uint64_t *odd) {
    const vectors v = vectors_of(q);
    FOR_EACH_CELL(count_range(data, width, size, end, q, &v))
}

AVX2 static bool members_avx2(const ck_texts *cells, ptrdiff_t offsets_ahead, const question *q,
                              uint16_t *counts, uint64_t *odd) {
    const vectors v = vectors_of(q);
    FOR_EACH_CELL(count_members(data, width, size, end, q, &v))
}

#endif

bool ck_cell_range(const ck_texts *cells, ptrdiff_t offsets_ahead, int64_t low, int64_t high,
                   bool negated, uint16_t *counts, uint64_t *odd) {
    const question q = {low, high, NULL, negated};
#if defined(__x86_64__)
    if (HAS_AVX2()) return range_avx2(cells, offsets_ahead, &q, counts, odd);
#endif
    return count_portable(cells, offsets_ahead, &q, counts, odd);
}

bool ck_cell_members(const ck_texts *cells, ptrdiff_t offsets_ahead, int64_t low, int64_t high,
                     const uint64_t *bits, bool negated, uint16_t *counts, uint64_t *odd) {
    const question q = {low, high, bits, negated};
#if defined(__x86_64__)
    /* The gather takes signed 32-bit word numbers; the bitmap starts at `low` exactly. */
    if (HAS_AVX2() && low >= INT32_MIN && high <= INT32_MAX && low <= high)
        return members_avx2(cells, offsets_ahead, &q, counts, odd);
#endif
    return count_portable(cells, offsets_ahead, &q, counts, odd);
}
