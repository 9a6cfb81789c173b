#include "CKernelsCells.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#define AVX2 __attribute__((target("avx2,popcnt,bmi,bmi2")))
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

AVX2 static bool range_avx2(const ck_texts *cells, ptrdiff_t offsets_ahead, const question *q,
                            uint16_t *counts, uint64_t *odd) {
    const vectors v = vectors_of(q);
    FOR_EACH_CELL(count_range(data, width, size, end, q, &v))
}

/* Members of a set: the numbers of 64 cells are put one behind another, 32 bits each, and looked up
 * eight at a time: cells of one to four numbers take as long as they have numbers, and no branch
 * asks how many. Cells that do not fit are counted by themselves. */
enum { GATHERED_MAX = 16, GATHERED_ROOM = 64 * GATHERED_MAX + 8 };

/* The commonest cell, of up to four numbers of 32 bits: of its first eight bytes those at COMMON_AT are
 * COMMON_BYTES (form, width and flags); it is followed by what four numbers take, COMMON_ROOM in all. */
enum { COMMON_MAX = 4, COMMON_ROOM = NUMBERS + 16 };
static const uint64_t COMMON_AT = 0x0000FFFF000000FF, COMMON_BYTES = 0x0000000400000001;

/* Puts the numbers of another cell to `target` if they fit; up to GATHERED_MAX numbers are written. */
AVX2 static __attribute__((noinline)) bool gather(const uint8_t *data, const uint8_t *end,
                                                  unsigned width, unsigned size, uint32_t *target) {
    /* Loads of four numbers may reach behind the cell, not behind the heap. */
    size_t steps = (size + 3) / 4;
    if (size > GATHERED_MAX || (size_t)(end - data) < steps * 4 * width) return false;
    for (size_t step = 0; step < steps; step++) {
        const uint8_t *from = data + step * 4 * width;
        __m128i values;
        if (width == 4) {
            values = _mm_loadu_si128((const __m128i *)(const void *)from);
        } else if (width == 2) {
            values = _mm_cvtepi16_epi32(_mm_loadl_epi64((const __m128i *)(const void *)from));
        } else if (width == 1) {
            int32_t four;
            memcpy(&four, from, 4);
            values = _mm_cvtepi8_epi32(_mm_cvtsi32_si128(four));
        } else {
            return false;
        }
        _mm_storeu_si128((__m128i *)(void *)(target + step * 4), values);
    }
    return true;
}

/* A bit for each of `count` numbers that is a member; writes whole bytes, and four zero bytes. */
AVX2 static inline void look_up(const uint32_t *numbers, size_t count, const question *q,
                                uint8_t *found) {
    const __m256i low = _mm256_set1_epi32((int)q->low);
    const __m256i span = _mm256_set1_epi32((int)(q->high - q->low));
    const __m256i place = _mm256_set1_epi32(31);
    const unsigned flip = q->negated ? 0xFF : 0;
    for (size_t i = 0; i < count; i += 8) {
        __m256i delta =
            _mm256_sub_epi32(_mm256_loadu_si256((const __m256i *)(const void *)(numbers + i)), low);
        __m256i inside = _mm256_cmpeq_epi32(_mm256_min_epu32(delta, span), delta);
        /* What is outside looks at the first word. */
        delta = _mm256_and_si256(delta, inside);
        __m256i words = _mm256_i32gather_epi32((const int *)(const void *)q->bits,
                                               _mm256_srli_epi32(delta, 5), 4);
        __m256i bits = _mm256_srlv_epi32(words, _mm256_and_si256(delta, place));
        bits = _mm256_and_si256(_mm256_slli_epi32(bits, 31), inside);
        found[i / 8] = (uint8_t)((unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(bits)) ^ flip);
    }
    memset(found + (count + 7) / 8, 0, 4);
}

/* `offsets`: of the cells, if they have 16 bits. */
AVX2 static inline __attribute__((always_inline)) bool members_of(
    const ck_texts *cells, const uint16_t *offsets, ptrdiff_t offsets_ahead, const question *q,
    uint16_t *counts, uint64_t *odd) {
    const uint8_t *heap = cells->heap;
    const size_t size_of_heap = cells->rows ? cell_end(cells, cells->rows - 1) : 0;
    const ptrdiff_t ahead = cells->ahead, last = (ptrdiff_t)size_of_heap - COMMON_ROOM;
    uint32_t numbers[GATHERED_ROOM];
    uint8_t sizes[64], found[GATHERED_ROOM / 8 + 4];
    bool any = false;
    size_t start = cells->rows ? cell_start(cells, 0) : 0;
    for (size_t first = 0; first < cells->rows; first += 64) {
        uint64_t word = 0, alone = 0;
        size_t rows = cells->rows - first < 64 ? cells->rows - first : 64;
        uint32_t *next = numbers;
        if (offsets && offsets_ahead) {
            __builtin_prefetch((const uint8_t *)(offsets + first) + offsets_ahead);
            __builtin_prefetch((const uint8_t *)(offsets + first + 32) + offsets_ahead);
        }
        for (size_t i = 0; i < rows; i++) {
            const uint8_t *cell = heap + start;
            size_t stop = offsets ? offsets[first + i + 1] : cell_end(cells, first + i);
            bool is_empty = start == stop, has_room = (ptrdiff_t)start <= last;
            start = stop;
            sizes[i] = 0;
            if (ahead) __builtin_prefetch(cell + ahead);
            if (is_empty) continue;
            if (has_room) {
                uint64_t head;
                memcpy(&head, cell, 8);
                uint64_t size = head >> 16 & 0xFFFF;
                if ((head & COMMON_AT) == COMMON_BYTES && size <= COMMON_MAX) {
                    _mm_storeu_si128(
                        (__m128i *)(void *)next,
                        _mm_loadu_si128((const __m128i *)(const void *)(cell + NUMBERS)));
                    sizes[i] = (uint8_t)size;
                    next += size;
                    continue;
                }
            }
            unsigned size = cell[2] | (unsigned)cell[3] << 8;
            if (cell[0] != INLINE_FORM || cell[5] & NULLS_FLAG) {
                word |= 1ull << i;
            } else if (gather(cell + NUMBERS, heap + size_of_heap, cell[4], size, next)) {
                sizes[i] = (uint8_t)size;
                next += size;
            } else {
                alone |= 1ull << i;
            }
        }
        /* What is looked up behind the last number. */
        _mm256_storeu_si256((__m256i *)(void *)next, _mm256_setzero_si256());
        look_up(numbers, (size_t)(next - numbers), q, found);
        size_t place = 0;
        for (size_t i = 0; i < rows; i++) {
            unsigned size = sizes[i];
            uint32_t bits;
            memcpy(&bits, found + place / 8, 4);
            counts[first + i] = (uint16_t)_mm_popcnt_u32(bits >> place % 8 & ((1u << size) - 1));
            place += size;
        }
        odd[first / 64] = word;
        any |= word != 0;
        for (; alone; alone &= alone - 1) {
            size_t row = first + (size_t)__builtin_ctzll(alone);
            const uint8_t *cell = heap + cell_start(cells, row);
            unsigned size = cell[2] | (unsigned)cell[3] << 8;
            counts[row] = (uint16_t)count_plainly(cell + NUMBERS, cell[4], size, q);
        }
    }
    return any;
}

AVX2 static bool members_avx2(const ck_texts *cells, ptrdiff_t offsets_ahead, const question *q,
                              uint16_t *counts, uint64_t *odd) {
    if (cells->offsets16)
        return members_of(cells, cells->offsets16, offsets_ahead, q, counts, odd);
    return members_of(cells, NULL, 0, q, counts, odd);
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
