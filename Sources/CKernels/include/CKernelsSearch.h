/* Kernels of queries and bulk reads: packed columns (range tests, unpacking) and substring search, each with an
 * AVX2 twin that is chosen at run time. They read exactly the bytes they are given, never behind
 * them, because a column may end where the mapping of the file ends.
 *
 * "Mask" kernels write one bit per row into (rows + 63) / 64 words; bits behind the last row are 0.
 * Integer ranges are unsigned: a row passes when (value - low) <= span in the column's width. */
#ifndef CKERNELS_SEARCH_H
#define CKERNELS_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void ck_mask_range_u8(const void *data, size_t rows, uint8_t low, uint8_t span, uint64_t *mask);
void ck_mask_range_u16(const void *data, size_t rows, uint16_t low, uint16_t span, uint64_t *mask);
void ck_mask_range_u32(const void *data, size_t rows, uint32_t low, uint32_t span, uint64_t *mask);
void ck_mask_range_u64(const void *data, size_t rows, uint64_t low, uint64_t span, uint64_t *mask);
/* low <= value <= high; NaN never passes. */
void ck_mask_range_f32(const void *data, size_t rows, float low, float high, uint64_t *mask);
void ck_mask_range_f64(const void *data, size_t rows, double low, double high, uint64_t *mask);

size_t ck_count_range_u8(const void *data, size_t rows, uint8_t low, uint8_t span);
size_t ck_count_range_u16(const void *data, size_t rows, uint16_t low, uint16_t span);
size_t ck_count_range_u32(const void *data, size_t rows, uint32_t low, uint32_t span);
size_t ck_count_range_u64(const void *data, size_t rows, uint64_t low, uint64_t span);
size_t ck_count_range_f32(const void *data, size_t rows, float low, float high);
size_t ck_count_range_f64(const void *data, size_t rows, double low, double high);

/* The same of integers of `width` bytes. */
static inline void ck_mask_range(const void *data, size_t width, size_t rows, uint64_t low,
                                 uint64_t span, uint64_t *mask) {
    switch (width) {
    case 1: ck_mask_range_u8(data, rows, (uint8_t)low, (uint8_t)span, mask); break;
    case 2: ck_mask_range_u16(data, rows, (uint16_t)low, (uint16_t)span, mask); break;
    case 4: ck_mask_range_u32(data, rows, (uint32_t)low, (uint32_t)span, mask); break;
    default: ck_mask_range_u64(data, rows, low, span, mask);
    }
}
static inline size_t ck_count_range(const void *data, size_t width, size_t rows, uint64_t low,
                                    uint64_t span) {
    switch (width) {
    case 1: return ck_count_range_u8(data, rows, (uint8_t)low, (uint8_t)span);
    case 2: return ck_count_range_u16(data, rows, (uint16_t)low, (uint16_t)span);
    case 4: return ck_count_range_u32(data, rows, (uint32_t)low, (uint32_t)span);
    default: return ck_count_range_u64(data, rows, low, span);
    }
}

/* The integers of a packed column of `width` bytes each (0, 1, 2, 4, 8; with 0 there is no data): base + value. */
void ck_unpack(const void *data, size_t width, size_t rows, int64_t base, int64_t *values);

/* Bits set in `count` words. */
size_t ck_popcount(const uint64_t *words, size_t count);

/* A column of texts, one behind another: row i has `length` bytes, or ends where offset i + 1 says
 * (16 or 32 bits each, rows + 1 of them) and begins where its predecessor ends.
 *
 * `ahead` is the distance from the heap to what will be searched next, which is prefetched; 0 when
 * that is not known. The processor's own prefetch ends with a page, a leaf has few pages, and with
 * this a scan takes a quarter of the time. */
typedef struct {
    const uint8_t *heap;
    size_t rows;
    size_t length;
    const void *offsets16;
    const void *offsets32;
    ptrdiff_t ahead;
} ck_texts;

/* Rows that equal the needle, begin or end with it, or have it in them. `nocase` takes a needle in
 * lower case and ignores the case of ASCII letters. */
void ck_mask_equal(const ck_texts *texts, const uint8_t *needle, size_t count, bool nocase,
                   uint64_t *mask);
void ck_mask_begins(const ck_texts *texts, const uint8_t *needle, size_t count, bool nocase,
                    uint64_t *mask);
void ck_mask_ends(const ck_texts *texts, const uint8_t *needle, size_t count, bool nocase,
                  uint64_t *mask);
/* count >= 1 */
void ck_mask_contains(const ck_texts *texts, const uint8_t *needle, size_t count, bool nocase,
                      uint64_t *mask);

/* Whether `needle` (count >= 1) occurs in the text. */
bool ck_contains(const uint8_t *text, size_t text_count, const uint8_t *needle, size_t count);

/* Whether all bytes are below 128. */
bool ck_is_ascii(const uint8_t *text, size_t count);

#endif
