/* Kernels of grouping (Query/Grouping): each row has the number of its group, and its value goes into
 * that group's entry of a table. They read exactly the rows they are given.
 *
 * A table may have four parts, `part` entries apart: row i goes into part i % 4, so that neighbours of
 * one group don't wait for each other. `part` 0: there is one. What comes out depends on the rows, their
 * order and `part` alone. */
#ifndef CKERNELS_GROUPS_H
#define CKERNELS_GROUPS_H

#include <stddef.h>
#include <stdint.h>

/* Sum and number of doubles. */
typedef struct {
    double sum, count;
} ck_double_sum;

/* Sums of the lower and of the upper halves of integers (the sum is upper * 2^32 + lower), and their
 * number. */
typedef struct {
    int64_t lower, upper, count, unused;
} ck_integer_sum;

typedef struct {
    double least, greatest;
} ck_double_range;

typedef struct {
    int64_t least, greatest;
} ck_integer_range;

/* Numbers from integers of a packed column, as wide as `width` (0, 1, 2, 4, 8) says: number =
 * (from + delta) truncated to 32 bits. Returns the greatest before truncation. Prefetches what lies `ahead` bytes further. */
uint64_t ck_group_numbers(const void *data, int width, uint64_t from, size_t rows, ptrdiff_t ahead,
                          uint32_t *numbers);
/* numbers[i] += more[i] * by */
void ck_group_combine(uint32_t *numbers, const uint32_t *more, uint32_t by, size_t rows);
/* Whether any of these groups has a mark. */
int ck_group_any(const uint32_t *numbers, size_t rows, const uint8_t *marks);

void ck_group_count(const uint32_t *numbers, size_t rows, uint64_t *table, size_t part);
/* `values` need not be aligned; what lies `ahead` bytes further is prefetched. */
void ck_group_sum_f64(const uint32_t *numbers, const void *values, size_t rows, ptrdiff_t ahead,
                      ck_double_sum *table, size_t part);
void ck_group_sum_i64(const uint32_t *numbers, const int64_t *values, size_t rows,
                      ck_integer_sum *table, size_t part);
void ck_group_range_f64(const uint32_t *numbers, const void *values, size_t rows, ptrdiff_t ahead,
                        ck_double_range *table, size_t part);
void ck_group_range_i64(const uint32_t *numbers, const int64_t *values, size_t rows,
                        ck_integer_range *table, size_t part);

#endif
