#include "CKernelsCells.h"

#include "Kernels.h"

enum { INLINE_FORM = 1, NULLS_FLAG = 1, NUMBERS = 6 };

/* What is asked of the numbers. */
typedef struct {
    int64_t low, high;
    const uint64_t *bits; /* of a set; NULL for a range */
    bool negated;
} question;

static inline bool passes(int64_t value, const question *q) {
    uint64_t place = (uint64_t)value - (uint64_t)q->low;
    bool inside = value >= q->low && value <= q->high;
    if (inside && q->bits) inside = q->bits[place >> 6] >> (place & 63) & 1;
    return inside != q->negated;
}

static inline unsigned count_plainly(const uint8_t *data, unsigned width, size_t count,
                                     const question *q) {
    unsigned found = 0;
    for (size_t i = 0; i < count; i++) found += passes(signed_number(data, width, i), q);
    return found;
}

/* Runs `COUNT` for the numbers at `data` of every cell; `end`: behind the last cell. */
#define FOR_EACH_CELL(COUNT)                                                                       \
    const uint8_t *end = cells->heap + (cells->rows ? text_start(cells, cells->rows) : 0);         \
    bool any = false;                                                                              \
    (void)end;                                                                                     \
    for (size_t first = 0; first < cells->rows; first += 64) {                                     \
        uint64_t word = 0;                                                                         \
        size_t stop = cells->rows - first < 64 ? cells->rows : first + 64;                         \
        for (size_t row = first; row < stop; row++) {                                              \
            size_t start = text_start(cells, row);                                                 \
            look_ahead(cells, offsets_ahead, row, start);                                          \
            if (start == text_start(cells, row + 1)) {                                             \
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
 * one after another: a cell takes as long as it has numbers, and no branch asks how many. Cells that do
 * not fit are counted by themselves. */
enum { BLOCK = 64, GATHERED_MAX = 14, GATHERED_ROOM = BLOCK * GATHERED_MAX + 8 };

/* The commonest cell: up to COMMON_MAX numbers of 32 bits. It is followed by what so many take. */
enum { COMMON_WIDTH = 4, COMMON_MAX = 8, COMMON_ROOM = NUMBERS + COMMON_MAX * COMMON_WIDTH };

/* Sixty-four cells: their numbers, and how many each has there; those whose numbers are not among them. */
typedef struct {
    uint32_t numbers[GATHERED_ROOM];
    uint8_t sizes[BLOCK];
    uint64_t odd, alone;
} block;

/* Puts the numbers of a cell behind `next`, if they fit, and returns where the next ones go; up to GATHERED_MAX + 2
 * numbers are written. */
AVX2 static __attribute__((noinline)) uint32_t *gather(const uint8_t *cell, const uint8_t *end,
                                                       block *block, size_t i, uint32_t *next) {
    const unsigned size = cell[2] | (unsigned)cell[3] << 8, width = cell[4];
    const uint8_t *data = cell + NUMBERS;
    block->sizes[i] = 0;
    if (cell[0] != INLINE_FORM || cell[5] & NULLS_FLAG) {
        block->odd |= 1ull << i;
        return next;
    }
    /* Loads of four numbers may reach behind the cell, not behind the heap. */
    const size_t steps = (size + 3) / 4;
    if (size > GATHERED_MAX || (size_t)(end - data) < steps * 4 * width ||
        (width != 1 && width != 2 && width != 4)) {
        block->alone |= 1ull << i;
        return next;
    }
    for (size_t step = 0; step < steps; step++) {
        const uint8_t *from = data + step * 4 * width;
        __m128i values;
        if (width == 4) {
            values = _mm_loadu_si128((const __m128i *)(const void *)from);
        } else if (width == 2) {
            values = _mm_cvtepi16_epi32(_mm_loadl_epi64((const __m128i *)(const void *)from));
        } else {
            int32_t four;
            memcpy(&four, from, 4);
            values = _mm_cvtepi8_epi32(_mm_cvtsi32_si128(four));
        }
        _mm_storeu_si128((__m128i *)(void *)(next + step * 4), values);
    }
    block->sizes[i] = (uint8_t)size;
    return next + size;
}

/* Makes of `count` numbers their places in the set, and a bit each whether they have one; what has none is
 * at the first place. */
AVX2 static inline void find_places(uint32_t *numbers, size_t count, const question *q, uint8_t *found) {
    const __m256i low = _mm256_set1_epi32((int)q->low);
    const __m256i span = _mm256_set1_epi32((int)(q->high - q->low));
    for (size_t i = 0; i < count; i += 8) {
        __m256i *eight = (__m256i *)(void *)(numbers + i);
        __m256i delta = _mm256_sub_epi32(_mm256_loadu_si256(eight), low);
        __m256i inside = _mm256_cmpeq_epi32(_mm256_min_epu32(delta, span), delta);
        _mm256_storeu_si256(eight, _mm256_and_si256(delta, inside));
        found[i / 8] = (uint8_t)_mm256_movemask_ps(_mm256_castsi256_ps(inside));
    }
}

/* A bit for each of `count` numbers that is a member; writes whole bytes, and eight zero bytes. The gathering loads
 * of some processors take twice as long as loads one by one. */
AVX2 static inline void look_up(uint32_t *numbers, size_t count, const question *q,
                                uint8_t *found) {
    find_places(numbers, count, q, found);
    const uint32_t *words = (const uint32_t *)(const void *)q->bits;
    const unsigned flip = q->negated ? 0xFF : 0;
    for (size_t i = 0; i < count; i += 8) {
        uint32_t at = numbers[i + 7], bits = words[at >> 5] >> (at & 31) & 1;
#pragma clang loop unroll(full)
        for (size_t k = 7; k-- > 0;) {
            at = numbers[i + k];
            const uint32_t word = words[at >> 5];
            /* Twice the bits and the next: an instruction each for what a test left in the carry flag. */
            (void)_addcarry_u32((unsigned char)(word >> (at & 31) & 1), bits, bits, &bits);
        }
        found[i / 8] = (uint8_t)((bits & found[i / 8]) ^ flip);
    }
    memset(found + (count + 7) / 8, 0, 8);
}

/* `offsets`: of the cells, if they have 16 bits. */
AVX2 static inline __attribute__((always_inline)) bool members_of(
    const ck_texts *cells, const uint16_t *offsets, ptrdiff_t offsets_ahead, const question *q,
    uint16_t *counts, uint64_t *odd) {
    const uint8_t *const heap = cells->heap;
    const size_t size_of_heap = cells->rows ? text_start(cells, cells->rows) : 0;
    const ptrdiff_t last = (ptrdiff_t)size_of_heap - COMMON_ROOM;
    block block;
    uint8_t found[GATHERED_ROOM / 8 + 8];
    bool any = false;
    size_t start = cells->rows ? text_start(cells, 0) : 0;
    for (size_t first = 0; first < cells->rows; first += BLOCK) {
        const size_t rows = cells->rows - first < BLOCK ? cells->rows - first : BLOCK;
        const size_t end = text_start(cells, first + rows);
        uint32_t *next = block.numbers;
        block.odd = block.alone = 0;
        if (offsets && offsets_ahead) {
            __builtin_prefetch((const uint8_t *)(offsets + first) + offsets_ahead);
            __builtin_prefetch((const uint8_t *)(offsets + first + 32) + offsets_ahead);
        }
        if (cells->ahead)
            for (size_t line = start; line < end; line += 64)
                __builtin_prefetch(heap + line + cells->ahead, 0, 2);
        for (size_t i = 0; i < rows; i++) {
            const uint8_t *cell = heap + start;
            const size_t stop = offsets ? offsets[first + i + 1] : text_start(cells, first + i + 1);
            if (__builtin_expect((ptrdiff_t)start <= last && start != stop, 1)) {
                uint32_t size;
                memcpy(&size, cell + 2, 4);
                size -= COMMON_WIDTH << 16;
                if (__builtin_expect(size <= COMMON_MAX && cell[0] == INLINE_FORM, 1)) {
                    _mm256_storeu_si256(
                        (__m256i *)(void *)next,
                        _mm256_loadu_si256((const __m256i *)(const void *)(cell + NUMBERS)));
                    block.sizes[i] = (uint8_t)size;
                    next += size;
                    start = stop;
                    continue;
                }
            }
            block.sizes[i] = 0;
            if (start != stop) next = gather(cell, heap + size_of_heap, &block, i, next);
            start = stop;
        }
        /* What is looked up behind the last number. */
        _mm256_storeu_si256((__m256i *)(void *)next, _mm256_setzero_si256());
        look_up(block.numbers, (size_t)(next - block.numbers), q, found);
        memset(block.sizes + rows, 0, BLOCK - rows);
        size_t place = 0;
        uint16_t *count = counts + first;
        for (size_t i = 0; i < rows; i += 4) {
            uint64_t bits;
            memcpy(&bits, found + place / 8, 8);
            bits >>= place % 8;
            for (size_t k = i; k < i + 4; k++) {
                const unsigned size = block.sizes[k];
                if (k < rows) count[k] = (uint16_t)_mm_popcnt_u32((unsigned)_bzhi_u64(bits, size));
                bits >>= size;
                place += size;
            }
        }
        odd[first / 64] = block.odd;
        any |= block.odd != 0;
        for (; block.alone; block.alone &= block.alone - 1) {
            size_t row = first + (size_t)__builtin_ctzll(block.alone);
            const uint8_t *cell = heap + text_start(cells, row);
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
