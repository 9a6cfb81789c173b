/* Kernels over cells of small collections (CollectionCell.swift), as those of CKernelsCells.h, for
 * the elements that no vector holds: numbers of every type, instants and texts, also where some are
 * null, and the values of dictionaries. A plain loop over each cell. They read nothing behind the
 * heap. */
#ifndef CKERNELS_ELEMENTS_H
#define CKERNELS_ELEMENTS_H

#include "CKernelsSearch.h"

/* Which elements of a cell count. */
typedef struct {
    bool behind_texts; /* values of a dictionary: they stand behind its keys */
    bool negated;      /* those that do not pass the test */
    bool nulls_count;  /* and nulls */
} ck_elements;

typedef enum { CK_EQUAL, CK_LESS, CK_LESS_EQUAL, CK_BEGINS, CK_ENDS } ck_text_operator;

/* An instant as seconds and nanoseconds. */
typedef struct {
    int64_t seconds;
    int32_t nanoseconds;
} ck_instant;

/* For each row, `counts` gets how many elements count; `odd` gets a bit for each row whose
 * collection has a tree, which is counted as empty. Returns whether there is such a row.
 * `offsets_ahead`: what the offsets are ahead of by those that are read next, 0 if not known.
 *
 * low ... high; NaN is never inside. */
bool ck_elements_integers(const ck_texts *cells, ptrdiff_t offsets_ahead, ck_elements elements,
                          int64_t low, int64_t high, uint16_t *counts, uint64_t *odd);
bool ck_elements_bools(const ck_texts *cells, ptrdiff_t offsets_ahead, ck_elements elements,
                       int64_t low, int64_t high, uint16_t *counts, uint64_t *odd);
bool ck_elements_doubles(const ck_texts *cells, ptrdiff_t offsets_ahead, ck_elements elements,
                         double low, double high, uint16_t *counts, uint64_t *odd);
bool ck_elements_floats(const ck_texts *cells, ptrdiff_t offsets_ahead, ck_elements elements,
                        double low, double high, uint16_t *counts, uint64_t *odd);
bool ck_elements_instants(const ck_texts *cells, ptrdiff_t offsets_ahead, ck_elements elements,
                          ck_instant low, ck_instant high, uint16_t *counts, uint64_t *odd);
/* Texts against a needle, byte by byte. */
bool ck_elements_texts(const ck_texts *cells, ptrdiff_t offsets_ahead, ck_elements elements,
                       ck_text_operator op, const uint8_t *needle, size_t count, uint16_t *counts,
                       uint64_t *odd);

#endif
