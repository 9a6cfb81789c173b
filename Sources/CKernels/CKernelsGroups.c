/* Grouping: counts, sums and extremes by group. A row costs one load of its number, one of its value,
 * and one read and write of an entry, which two numbers of 8 bytes share as one vector. */
#include "CKernels.h"

#include <string.h>

typedef double pair __attribute__((vector_size(16)));

static double f64(const void *values, size_t row) {
    double value;
    memcpy(&value, (const char *)values + row * 8, 8);
    return value;
}

#define NUMBERS(type)                                                                              \
    for (size_t row = 0; row < rows; row++) {                                                      \
        type delta;                                                                                \
        memcpy(&delta, (const char *)data + row * sizeof delta, sizeof delta);                     \
        if (row * sizeof delta % 64 == 0)                                                          \
            __builtin_prefetch((const char *)data + row * sizeof delta + ahead);                   \
        const uint64_t number = from + delta;                                                      \
        greatest = number > greatest ? number : greatest;                                          \
        numbers[row] = (uint32_t)number;                                                           \
    }

/* Bytes and pairs of bytes in blocks of 64 bytes without anything else in the loop, which the
 * compiler makes vectors of; all below 2^32 if the first number is. */
#define NARROW_NUMBERS(type)                                                                       \
    if (from < UINT32_MAX - (type)-1) {                                                            \
        enum { BLOCK = 64 / sizeof(type) };                                                        \
        const type *deltas = data;                                                                 \
        const uint32_t start = (uint32_t)from;                                                     \
        type widest = 0;                                                                           \
        size_t row = 0;                                                                            \
        while (row < rows) {                                                                       \
            const size_t end = rows - row < BLOCK ? rows : row + BLOCK;                            \
            __builtin_prefetch((const char *)(deltas + row) + ahead);                              \
            for (size_t i = row; i < end; i++) {                                                   \
                widest = deltas[i] > widest ? deltas[i] : widest;                                  \
                numbers[i] = start + deltas[i];                                                    \
            }                                                                                      \
            row = end;                                                                             \
        }                                                                                          \
        return rows == 0 ? 0 : from + widest;                                                      \
    }                                                                                              \
    NUMBERS(type)

uint64_t ck_group_numbers(const void *data, int width, uint64_t from, size_t rows, ptrdiff_t ahead,
                          uint32_t *numbers) {
    uint64_t greatest = 0;
    switch (width) {
    case 0:
        for (size_t row = 0; row < rows; row++) numbers[row] = (uint32_t)from;
        return rows == 0 ? 0 : from;
    case 1: NARROW_NUMBERS(uint8_t) break;
    case 2: NARROW_NUMBERS(uint16_t) break;
    case 4: NUMBERS(uint32_t) break;
    default: NUMBERS(uint64_t)
    }
    return greatest;
}

void ck_group_combine(uint32_t *numbers, const uint32_t *more, uint32_t by, size_t rows) {
    for (size_t row = 0; row < rows; row++) numbers[row] += more[row] * by;
}

int ck_group_any(const uint32_t *numbers, size_t rows, const uint8_t *marks) {
    uint8_t any = 0;
    for (size_t row = 0; row < rows; row++) any |= marks[numbers[row]];
    return any;
}

/* Calls ADD with each of four rows and its entry, four parts in turn. */
#define FOUR(ADD, row)                                                                             \
    ADD(row, table[numbers[row]])                                                                  \
    ADD((row) + 1, table[part + numbers[(row) + 1]])                                               \
    ADD((row) + 2, table[2 * part + numbers[(row) + 2]])                                           \
    ADD((row) + 3, table[3 * part + numbers[(row) + 3]])
#define EACH(ADD)                                                                                  \
    size_t row = 0;                                                                                \
    for (; row + 4 <= rows; row += 4) {                                                            \
        FOUR(ADD, row)                                                                             \
    }                                                                                              \
    for (; row < rows; row++) {                                                                    \
        ADD(row, table[row % 4 * part + numbers[row]])                                             \
    }

/* The same where values are prefetched: in blocks of eight rows, which are 64 bytes. */
#define EACH_AHEAD(ADD)                                                                            \
    size_t row = 0;                                                                                \
    for (; row + 8 <= rows; row += 8) {                                                            \
        __builtin_prefetch((const char *)values + row * 8 + ahead);                                \
        FOUR(ADD, row)                                                                             \
        FOUR(ADD, row + 4)                                                                         \
    }                                                                                              \
    for (; row < rows; row++) {                                                                    \
        ADD(row, table[row % 4 * part + numbers[row]])                                             \
    }

#define ADD_COUNT(row, entry) entry += 1;
void ck_group_count(const uint32_t *numbers, size_t rows, uint64_t *table, size_t part) {
    EACH(ADD_COUNT)
}

#define ADD_DOUBLE(row, entry)                                                                     \
    {                                                                                              \
        pair sum;                                                                                  \
        memcpy(&sum, &entry, 16);                                                                  \
        sum += (pair){f64(values, row), 1};                                                        \
        memcpy(&entry, &sum, 16);                                                                  \
    }
void ck_group_sum_f64(const uint32_t *numbers, const void *values, size_t rows, ptrdiff_t ahead,
                      ck_double_sum *table, size_t part) {
    EACH_AHEAD(ADD_DOUBLE)
}

#define ADD_INTEGER(row, entry)                                                                    \
    {                                                                                              \
        const int64_t value = values[row];                                                         \
        entry.lower += value & UINT32_MAX;                                                         \
        entry.upper += value >> 32;                                                                \
        entry.count += 1;                                                                          \
    }
void ck_group_sum_i64(const uint32_t *numbers, const int64_t *values, size_t rows,
                      ck_integer_sum *table, size_t part) {
    EACH(ADD_INTEGER)
}

#define ADD_RANGE(value, entry)                                                                    \
    entry.least = value < entry.least ? value : entry.least;                                       \
    entry.greatest = value > entry.greatest ? value : entry.greatest;

#define ADD_DOUBLE_RANGE(row, entry)                                                               \
    {                                                                                              \
        const double value = f64(values, row);                                                     \
        ADD_RANGE(value, entry)                                                                    \
    }
void ck_group_range_f64(const uint32_t *numbers, const void *values, size_t rows, ptrdiff_t ahead,
                        ck_double_range *table, size_t part) {
    EACH_AHEAD(ADD_DOUBLE_RANGE)
}

#define ADD_INTEGER_RANGE(row, entry)                                                              \
    {                                                                                              \
        const int64_t value = values[row];                                                         \
        ADD_RANGE(value, entry)                                                                    \
    }
void ck_group_range_i64(const uint32_t *numbers, const int64_t *values, size_t rows,
                        ck_integer_range *table, size_t part) {
    EACH(ADD_INTEGER_RANGE)
}
