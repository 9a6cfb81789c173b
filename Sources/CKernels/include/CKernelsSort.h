/* Kernels that make numbers of values whose order is that of the values: words of texts, and bits of words that
 * differ, moved together. */
#ifndef CKERNELS_SORT_H
#define CKERNELS_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "CKernelsSearch.h"

/* Of `count` texts from row `first` on eight bytes each, from byte 8 * `number` on, as big-endian numbers; zeros
 * stand for what is behind the end. At least eight bytes lie before the heap in the same block. `codes`: NULL, or
 * the number of the text of each row. */
void ck_text_words(const ck_texts *texts, const uint8_t *codes, size_t first, size_t count,
                   size_t number, uint64_t *words);
/* The lengths of the texts. */
void ck_text_lengths(const ck_texts *texts, const uint8_t *codes, size_t first, size_t count,
                     uint64_t *lengths);

/* Adds the bits that some words have to `any`, and takes those that some lack out of `all`. */
void ck_words_bits(const uint64_t *words, size_t count, uint64_t *any, uint64_t *all);

/* Puts behind each code those bits of (word - base) that `mask` has, moved together; `flip`: their complement. */
void ck_append_bits(uint64_t *codes, const uint64_t *words, size_t count, uint64_t base,
                    uint64_t mask, bool flip);

#endif
