#include "CKernelsElements.h"

#include "Kernels.h"

enum { INLINE_FORM = 1, NULLS_FLAG = 1, NANOSECONDS_FLAG = 2, COLUMN_HEADER = 2, FIRST_COLUMN = 4 };

/* The elements of a cell. */
typedef struct {
    const uint8_t *data;
    const uint8_t *nulls; /* NULL when none is null */
    unsigned size, width, flags;
} column;

/* Where text `i` ends in its heap. */
static inline size_t text_end(const column *c, size_t i) {
    return c->width == 1 ? c->data[i] : load16(c->data + i * 2);
}

static inline column column_at(const uint8_t *start, unsigned size) {
    unsigned flags = start[1];
    const uint8_t *nulls = flags & NULLS_FLAG ? start + COLUMN_HEADER : NULL;
    const uint8_t *data = start + COLUMN_HEADER + (nulls ? (size + 7) / 8 : 0);
    return (column){data, nulls, size, start[0], flags};
}

/* The elements of an inline cell, which has some. */
static inline column column_of(const uint8_t *cell, bool behind_texts) {
    unsigned size = load16(cell + 2);
    column first = column_at(cell + FIRST_COLUMN, size);
    if (!behind_texts) return first;
    return column_at(first.data + size * first.width + text_end(&first, size - 1), size);
}

/* Counts the elements of every cell for which PASSES, an expression of `c` and `i`, holds. */
#define FOR_EACH_ELEMENT(PASSES)                                                                   \
    bool any = false;                                                                              \
    size_t start = text_start(cells, 0);                                                           \
    for (size_t first = 0; first < cells->rows; first += 64) {                                     \
        uint64_t word = 0;                                                                         \
        size_t stop = cells->rows - first < 64 ? cells->rows : first + 64;                         \
        for (size_t row = first; row < stop; row++) {                                              \
            size_t end = text_start(cells, row + 1);                                               \
            const uint8_t *cell = cells->heap + start;                                             \
            look_ahead(cells, offsets_ahead, row, start);                                          \
            unsigned found = 0;                                                                    \
            if (start != end && cell[0] != INLINE_FORM) {                                          \
                word |= 1ull << (row - first);                                                     \
            } else if (start != end) {                                                             \
                const column values = column_of(cell, elements.behind_texts), *c = &values;        \
                if (!c->nulls) {                                                                   \
                    for (size_t i = 0; i < c->size; i++) found += (PASSES) != elements.negated;    \
                } else {                                                                           \
                    for (size_t i = 0; i < c->size; i++) {                                         \
                        if (c->nulls[i >> 3] >> (i & 7) & 1)                                       \
                            found += elements.nulls_count;                                         \
                        else                                                                       \
                            found += (PASSES) != elements.negated;                                 \
                    }                                                                              \
                }                                                                                  \
            }                                                                                      \
            counts[row] = (uint16_t)found;                                                         \
            start = end;                                                                           \
        }                                                                                          \
        odd[first / 64] = word;                                                                    \
        any |= word != 0;                                                                          \
    }                                                                                              \
    return any;

static inline int64_t number(const column *c, size_t i) {
    return signed_number(c->data, c->width, i);
}

static inline bool is_between(int64_t value, int64_t low, int64_t high) {
    return (value >= low) & (value <= high);
}

static inline bool is_inside(double value, double low, double high) {
    return (value >= low) & (value <= high);
}

static inline double double_at(const column *c, size_t i) {
    double value;
    memcpy(&value, c->data + i * 8, 8);
    return value;
}

static inline double float_at(const column *c, size_t i) {
    float value;
    memcpy(&value, c->data + i * 4, 4);
    return value;
}

bool ck_elements_integers(const ck_texts *cells, ptrdiff_t offsets_ahead, ck_elements elements,
                          int64_t low, int64_t high, uint16_t *counts, uint64_t *odd) {
    FOR_EACH_ELEMENT(is_between(number(c, i), low, high))
}

bool ck_elements_bools(const ck_texts *cells, ptrdiff_t offsets_ahead, ck_elements elements,
                       int64_t low, int64_t high, uint16_t *counts, uint64_t *odd) {
    FOR_EACH_ELEMENT(is_between(c->data[i] != 0, low, high))
}

bool ck_elements_doubles(const ck_texts *cells, ptrdiff_t offsets_ahead, ck_elements elements,
                         double low, double high, uint16_t *counts, uint64_t *odd) {
    FOR_EACH_ELEMENT(is_inside(double_at(c, i), low, high))
}

bool ck_elements_floats(const ck_texts *cells, ptrdiff_t offsets_ahead, ck_elements elements,
                        double low, double high, uint16_t *counts, uint64_t *odd) {
    FOR_EACH_ELEMENT(is_inside(float_at(c, i), low, high))
}

/* ---- instants */

static inline bool not_before(int64_t seconds, int32_t nanoseconds, ck_instant other) {
    return seconds > other.seconds ||
           (seconds == other.seconds && nanoseconds >= other.nanoseconds);
}

static inline bool is_between_instants(const column *c, size_t i, ck_instant low, ck_instant high) {
    int64_t seconds = number(c, i);
    int32_t nanoseconds = 0;
    if (c->flags & NANOSECONDS_FLAG)
        nanoseconds = (int32_t)load32(c->data + (size_t)c->size * c->width + i * 4);
    if (!not_before(seconds, nanoseconds, low)) return false;
    return seconds < high.seconds ||
           (seconds == high.seconds && nanoseconds <= high.nanoseconds);
}

bool ck_elements_instants(const ck_texts *cells, ptrdiff_t offsets_ahead, ck_elements elements,
                          ck_instant low, ck_instant high, uint16_t *counts, uint64_t *odd) {
    FOR_EACH_ELEMENT(is_between_instants(c, i, low, high))
}

/* ---- texts */

/* Short texts are compared in two words that may overlap: a call would take longer. */
static inline bool same(const uint8_t *a, const uint8_t *b, size_t count) {
    if (count > 16) return memcmp(a, b, count) == 0;
    if (count >= 8)
        return ((load64(a) ^ load64(b)) | (load64(a + count - 8) ^ load64(b + count - 8))) == 0;
    if (count >= 4)
        return ((load32(a) ^ load32(b)) | (load32(a + count - 4) ^ load32(b + count - 4))) == 0;
    for (size_t i = 0; i < count; i++)
        if (a[i] != b[i]) return false;
    return true;
}

static inline int order(const uint8_t *a, size_t a_count, const uint8_t *b, size_t b_count) {
    int result = memcmp(a, b, a_count < b_count ? a_count : b_count);
    if (result) return result;
    return a_count < b_count ? -1 : a_count > b_count;
}

static inline const uint8_t *text(const column *c, size_t i, size_t *count) {
    size_t start = i ? text_end(c, i - 1) : 0;
    *count = text_end(c, i) - start;
    return c->data + (size_t)c->size * c->width + start;
}

static inline bool text_passes(const column *c, size_t i, ck_text_operator op,
                               const uint8_t *needle, size_t count) {
    size_t length;
    const uint8_t *value = text(c, i, &length);
    switch (op) {
    case CK_EQUAL: return length == count && same(value, needle, count);
    case CK_LESS: return order(value, length, needle, count) < 0;
    case CK_LESS_EQUAL: return order(value, length, needle, count) <= 0;
    case CK_BEGINS: return length >= count && same(value, needle, count);
    default: return length >= count && same(value + length - count, needle, count);
    }
}

static bool texts_equal(const ck_texts *cells, ptrdiff_t offsets_ahead, ck_elements elements,
                        const uint8_t *needle, size_t count, uint16_t *counts, uint64_t *odd) {
    FOR_EACH_ELEMENT(text_passes(c, i, CK_EQUAL, needle, count))
}

bool ck_elements_texts(const ck_texts *cells, ptrdiff_t offsets_ahead, ck_elements elements,
                       ck_text_operator op, const uint8_t *needle, size_t count, uint16_t *counts,
                       uint64_t *odd) {
    if (op == CK_EQUAL)
        return texts_equal(cells, offsets_ahead, elements, needle, count, counts, odd);
    FOR_EACH_ELEMENT(text_passes(c, i, op, needle, count))
}
