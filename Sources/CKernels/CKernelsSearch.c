#include "Kernels.h"

/* ---- portable forms; also the last rows of the vector forms */

/* Of integers, `high` is the span. */
#define PORTABLE(NAME, TYPE, PASSES)                                                               \
    static inline uint64_t word_##NAME(const unsigned char *p, size_t rows, TYPE low, TYPE high) { \
        uint64_t word = 0;                                                                         \
        for (size_t i = 0; i < rows; i++) {                                                        \
            TYPE value;                                                                            \
            memcpy(&value, p + i * sizeof(TYPE), sizeof(TYPE));                                    \
            word |= (uint64_t)(PASSES) << i;                                                       \
        }                                                                                          \
        return word;                                                                               \
    }                                                                                              \
    static void mask_##NAME(const void *data, size_t rows, TYPE low, TYPE high, uint64_t *mask) {  \
        const unsigned char *p = data;                                                             \
        for (size_t i = 0; i < rows; i += 64)                                                      \
            *mask++ = word_##NAME(p + i * sizeof(TYPE), rows - i < 64 ? rows - i : 64, low, high); \
    }                                                                                              \
    static size_t count_##NAME(const void *data, size_t rows, TYPE low, TYPE high) {               \
        const unsigned char *p = data;                                                             \
        size_t count = 0;                                                                          \
        for (size_t i = 0; i < rows; i++) {                                                        \
            TYPE value;                                                                            \
            memcpy(&value, p + i * sizeof(TYPE), sizeof(TYPE));                                    \
            count += (PASSES);                                                                     \
        }                                                                                          \
        return count;                                                                              \
    }
PORTABLE(u8, uint8_t, (uint8_t)(value - low) <= high)
PORTABLE(u16, uint16_t, (uint16_t)(value - low) <= high)
PORTABLE(u32, uint32_t, value - low <= high)
PORTABLE(u64, uint64_t, value - low <= high)
PORTABLE(f32, float, (value >= low) & (value <= high))
PORTABLE(f64, double, (value >= low) & (value <= high))

#if defined(__x86_64__)

/* ---- AVX2: `bits_*` tests 32 rows (u8, u16, u32, f32) or 16 (u64, f64) and returns their bits */

AVX2 static inline __m256i load(const unsigned char *p) {
    return _mm256_loadu_si256((const __m256i *)p);
}
AVX2 static inline __m256i pass_u8(const unsigned char *p, __m256i low, __m256i span) {
    __m256i delta = _mm256_sub_epi8(load(p), low);
    return _mm256_cmpeq_epi8(_mm256_min_epu8(delta, span), delta);
}
AVX2 static inline uint32_t bits_u8(const unsigned char *p, __m256i low, __m256i span) {
    return (uint32_t)_mm256_movemask_epi8(pass_u8(p, low, span));
}
AVX2 static inline __m256i pass_u16(const unsigned char *p, __m256i low, __m256i span) {
    __m256i delta = _mm256_sub_epi16(load(p), low);
    return _mm256_cmpeq_epi16(_mm256_min_epu16(delta, span), delta);
}
AVX2 static inline uint32_t bits_u16(const unsigned char *p, __m256i low, __m256i span) {
    __m256i packed = _mm256_packs_epi16(pass_u16(p, low, span), pass_u16(p + 32, low, span));
    return (uint32_t)_mm256_movemask_epi8(_mm256_permute4x64_epi64(packed, 0xD8));
}
AVX2 static inline __m256i pass_u32(const unsigned char *p, __m256i low, __m256i span) {
    __m256i delta = _mm256_sub_epi32(load(p), low);
    return _mm256_cmpeq_epi32(_mm256_min_epu32(delta, span), delta);
}
AVX2 static inline uint32_t bits8(__m256i pass) {
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(pass));
}
AVX2 static inline uint32_t bits_u32(const unsigned char *p, __m256i low, __m256i span) {
    return bits8(pass_u32(p, low, span)) | bits8(pass_u32(p + 32, low, span)) << 8 |
           bits8(pass_u32(p + 64, low, span)) << 16 | bits8(pass_u32(p + 96, low, span)) << 24;
}
/* Unsigned comparison through the signed one: both sides with the top bit flipped; `low` has it
 * folded in, `span` comes flipped. */
AVX2 static inline uint32_t fail4_u64(const unsigned char *p, __m256i low, __m256i span) {
    __m256i delta = _mm256_sub_epi64(load(p), low);
    return (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(delta, span)));
}
AVX2 static inline uint32_t bits_u64(const unsigned char *p, __m256i low, __m256i span) {
    return ~(fail4_u64(p, low, span) | fail4_u64(p + 32, low, span) << 4 |
             fail4_u64(p + 64, low, span) << 8 | fail4_u64(p + 96, low, span) << 12) &
           0xFFFF;
}
AVX2 static inline uint32_t bits8_f32(const unsigned char *p, __m256 low, __m256 high) {
    __m256 v = _mm256_loadu_ps((const float *)(const void *)p);
    return (uint32_t)_mm256_movemask_ps(
        _mm256_and_ps(_mm256_cmp_ps(v, low, _CMP_GE_OQ), _mm256_cmp_ps(v, high, _CMP_LE_OQ)));
}
AVX2 static inline uint32_t bits_f32(const unsigned char *p, __m256 low, __m256 high) {
    return bits8_f32(p, low, high) | bits8_f32(p + 32, low, high) << 8 |
           bits8_f32(p + 64, low, high) << 16 | bits8_f32(p + 96, low, high) << 24;
}
AVX2 static inline uint32_t bits4_f64(const unsigned char *p, __m256d low, __m256d high) {
    __m256d v = _mm256_loadu_pd((const double *)(const void *)p);
    return (uint32_t)_mm256_movemask_pd(
        _mm256_and_pd(_mm256_cmp_pd(v, low, _CMP_GE_OQ), _mm256_cmp_pd(v, high, _CMP_LE_OQ)));
}
AVX2 static inline uint32_t bits_f64(const unsigned char *p, __m256d low, __m256d high) {
    return bits4_f64(p, low, high) | bits4_f64(p + 32, low, high) << 4 |
           bits4_f64(p + 64, low, high) << 8 | bits4_f64(p + 96, low, high) << 12;
}

/* STEP rows make 32 or 16 bits; the rest of a word comes from the portable form. */
#define VECTOR_RANGE(NAME, TYPE, STEP, VECTOR, LOW, HIGH)                                          \
    AVX2 static void mask_##NAME##_avx2(const void *data, size_t rows, TYPE low, TYPE high,        \
                                        uint64_t *mask) {                                          \
        const unsigned char *p = data;                                                             \
        const VECTOR l = LOW, h = HIGH;                                                            \
        for (size_t i = 0; i < rows; i += 64) {                                                    \
            size_t left = rows - i < 64 ? rows - i : 64, j = 0;                                    \
            uint64_t word = 0;                                                                     \
            for (; j + STEP <= left; j += STEP)                                                    \
                word |= (uint64_t)bits_##NAME(p + (i + j) * sizeof(TYPE), l, h) << j;              \
            if (j < left)                                                                          \
                word |= word_##NAME(p + (i + j) * sizeof(TYPE), left - j, low, high) << j;         \
            *mask++ = word;                                                                        \
        }                                                                                          \
    }

/* The last rows are tested with those before them, which were counted and are shifted out. */
#define VECTOR_COUNT(NAME, TYPE, STEP, VECTOR, LOW, HIGH)                                          \
    AVX2 static size_t count_##NAME##_avx2(const void *data, size_t rows, TYPE low, TYPE high) {   \
        if (rows < STEP) return count_##NAME(data, rows, low, high);                               \
        const unsigned char *p = data;                                                             \
        const VECTOR l = LOW, h = HIGH;                                                            \
        size_t i = 0, count = 0;                                                                   \
        for (; i + STEP <= rows; i += STEP)                                                        \
            count += (size_t)_mm_popcnt_u32(bits_##NAME(p + i * sizeof(TYPE), l, h));              \
        if (i == rows) return count;                                                               \
        uint32_t last = bits_##NAME(p + (rows - STEP) * sizeof(TYPE), l, h) >> (i + STEP - rows);  \
        return count + (size_t)_mm_popcnt_u32(last);                                               \
    }

/* Bytes that pass are counted byte by byte, and these counts added up before one can be full. */
AVX2 static size_t count_u8_avx2(const void *data, size_t rows, uint8_t low, uint8_t span) {
    if (rows < 32) return count_u8(data, rows, low, span);
    const unsigned char *p = data;
    const __m256i l = _mm256_set1_epi8((char)low), s = _mm256_set1_epi8((char)span);
    __m256i sums = _mm256_setzero_si256();
    size_t i = 0;
    while (i + 32 <= rows) {
        size_t end = rows - i < 255 * 32 ? rows : i + 255 * 32;
        __m256i first = _mm256_setzero_si256(), second = first;
        for (; i + 64 <= end; i += 64) {
            first = _mm256_sub_epi8(first, pass_u8(p + i, l, s));
            second = _mm256_sub_epi8(second, pass_u8(p + i + 32, l, s));
        }
        if (i + 32 <= end) {
            first = _mm256_sub_epi8(first, pass_u8(p + i, l, s));
            i += 32;
        }
        const __m256i zero = _mm256_setzero_si256();
        sums = _mm256_add_epi64(sums, _mm256_sad_epu8(first, zero));
        sums = _mm256_add_epi64(sums, _mm256_sad_epu8(second, zero));
    }
    uint64_t four[4];
    _mm256_storeu_si256((__m256i *)(void *)four, sums);
    size_t count = (size_t)(four[0] + four[1] + four[2] + four[3]);
    if (i < rows) count += (size_t)_mm_popcnt_u32(bits_u8(p + rows - 32, l, s) >> (i + 32 - rows));
    return count;
}

VECTOR_RANGE(u8, uint8_t, 32, __m256i, _mm256_set1_epi8((char)low), _mm256_set1_epi8((char)high))
VECTOR_RANGE(u16, uint16_t, 32, __m256i, _mm256_set1_epi16((short)low),
             _mm256_set1_epi16((short)high))
VECTOR_RANGE(u32, uint32_t, 32, __m256i, _mm256_set1_epi32((int)low), _mm256_set1_epi32((int)high))
VECTOR_RANGE(u64, uint64_t, 16, __m256i,
             _mm256_set1_epi64x((long long)(low ^ 0x8000000000000000u)),
             _mm256_set1_epi64x((long long)(high ^ 0x8000000000000000u)))
VECTOR_RANGE(f32, float, 32, __m256, _mm256_set1_ps(low), _mm256_set1_ps(high))
VECTOR_RANGE(f64, double, 16, __m256d, _mm256_set1_pd(low), _mm256_set1_pd(high))
VECTOR_COUNT(u16, uint16_t, 32, __m256i, _mm256_set1_epi16((short)low),
             _mm256_set1_epi16((short)high))
VECTOR_COUNT(u32, uint32_t, 32, __m256i, _mm256_set1_epi32((int)low), _mm256_set1_epi32((int)high))
VECTOR_COUNT(u64, uint64_t, 16, __m256i,
             _mm256_set1_epi64x((long long)(low ^ 0x8000000000000000u)),
             _mm256_set1_epi64x((long long)(high ^ 0x8000000000000000u)))
VECTOR_COUNT(f32, float, 32, __m256, _mm256_set1_ps(low), _mm256_set1_ps(high))
VECTOR_COUNT(f64, double, 16, __m256d, _mm256_set1_pd(low), _mm256_set1_pd(high))

#endif

#define DISPATCH(NAME, TYPE)                                                                       \
    void ck_mask_range_##NAME(const void *data, size_t rows, TYPE low, TYPE high,                  \
                              uint64_t *mask) {                                                    \
        BY_PROCESSOR(mask_##NAME##_avx2(data, rows, low, high, mask),                              \
                     mask_##NAME(data, rows, low, high, mask));                                    \
    }                                                                                              \
    size_t ck_count_range_##NAME(const void *data, size_t rows, TYPE low, TYPE high) {             \
        return BY_PROCESSOR(count_##NAME##_avx2(data, rows, low, high),                            \
                            count_##NAME(data, rows, low, high));                                  \
    }
DISPATCH(u8, uint8_t)
DISPATCH(u16, uint16_t)
DISPATCH(u32, uint32_t)
DISPATCH(u64, uint64_t)
DISPATCH(f32, float)
DISPATCH(f64, double)

/* ---- packed integers */

INLINE void unpack(const uint8_t *restrict data, size_t width, size_t rows, uint64_t base,
                   int64_t *restrict values) {
    switch (width) {
    case 0:
        for (size_t i = 0; i < rows; i++) values[i] = (int64_t)base;
        break;
    case 1:
        for (size_t i = 0; i < rows; i++) values[i] = (int64_t)(base + data[i]);
        break;
    case 2:
        for (size_t i = 0; i < rows; i++) values[i] = (int64_t)(base + load16(data + i * 2));
        break;
    case 4:
        for (size_t i = 0; i < rows; i++) values[i] = (int64_t)(base + load32(data + i * 4));
        break;
    default:
        for (size_t i = 0; i < rows; i++) values[i] = (int64_t)(base + load64(data + i * 8));
    }
}

#if defined(__x86_64__)
AVX2 static void unpack_vectors(const uint8_t *data, size_t width, size_t rows, uint64_t base,
                                int64_t *values) {
    unpack(data, width, rows, base, values);
}
#endif

void ck_unpack(const void *data, size_t width, size_t rows, int64_t base, int64_t *values) {
    BY_PROCESSOR(unpack_vectors(data, width, rows, (uint64_t)base, values),
                 unpack(data, width, rows, (uint64_t)base, values));
}

/* ---- bits */

INLINE size_t popcount(const uint64_t *words, size_t count) {
    size_t sum = 0;
    for (size_t i = 0; i < count; i++) sum += (size_t)__builtin_popcountll(words[i]);
    return sum;
}

#if defined(__x86_64__)
__attribute__((target("popcnt"))) static size_t popcount_fast(const uint64_t *words, size_t count) {
    return popcount(words, count);
}
#endif

size_t ck_popcount(const uint64_t *words, size_t count) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("popcnt")) return popcount_fast(words, count);
#endif
    return popcount(words, count);
}
