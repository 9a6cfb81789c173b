/* Kernels over cells of small collections of numbers (CollectionCell.swift), which stand one behind
 * another in the heap of a leaf: how many elements each has, and how many of them pass a test. They
 * read nothing behind the heap. */
#ifndef CKERNELS_CELLS_H
#define CKERNELS_CELLS_H

#include "CKernelsSearch.h"

/* `cells` as texts; what the offsets are ahead of by those that are read next, 0 if not known. For
 * each row, `counts` gets the number of elements, or of those that pass; `odd` gets a bit for each
 * row whose collection has a tree or nulls, which is counted as empty. Returns whether there is
 * such a row. */
bool ck_cell_sizes(const ck_texts *cells, ptrdiff_t offsets_ahead, uint16_t *counts, uint64_t *odd);
/* low ... high; `negated`: those outside. */
bool ck_cell_range(const ck_texts *cells, ptrdiff_t offsets_ahead, int64_t low, int64_t high,
                   bool negated, uint16_t *counts, uint64_t *odd);
/* Members of a set: bit i of `bits` says whether low + i is one, up to high. */
bool ck_cell_members(const ck_texts *cells, ptrdiff_t offsets_ahead, int64_t low, int64_t high,
                     const uint64_t *bits, bool negated, uint16_t *counts, uint64_t *odd);

#endif
