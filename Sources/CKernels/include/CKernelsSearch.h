/* Kernels of the query engine: range tests over packed columns and substring search, each with an
 * AVX2 twin that is chosen at run time. They read exactly the bytes they are given, never behind
 * them, because a column may end where the mapping of the file ends.
 *
 * "Mask" kernels write one bit per row into (rows + 63) / 64 words; bits behind the last row are 0.
 * Integer ranges are unsigned: a row passes when (value - low) <= span in the column's width. */
#ifndef CKERNELS_SEARCH_H
#define CKERNELS_SEARCH_H

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

/* Bits set in `count` words. */
size_t ck_popcount(const uint64_t *words, size_t count);

/* Rows of `length` bytes each, one after another, that equal `needle`. length >= 1. */
void ck_mask_equal_fixed(const uint8_t *heap, size_t rows, size_t length, const uint8_t *needle,
                         uint64_t *mask);

/* Position of the first occurrence of the needle (count >= 1) at or behind `from`, or `count`.
 * The `_nocase` form takes a needle in lower case and ignores the case of ASCII letters. */
size_t ck_find(const uint8_t *text, size_t count, size_t from, const uint8_t *needle,
               size_t needle_count);
size_t ck_find_nocase(const uint8_t *text, size_t count, size_t from, const uint8_t *needle,
                      size_t needle_count);

#endif
