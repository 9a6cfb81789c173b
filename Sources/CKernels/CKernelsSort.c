#include "CKernelsSort.h"

#include "Kernels.h"

/* ---- texts */

void ck_text_words(const ck_texts *texts, const uint8_t *codes, size_t first, size_t count,
                   size_t number, uint64_t *words) {
    const size_t from = number * 8;
    for (size_t i = 0; i < count; i++) {
        size_t text = codes ? codes[first + i] : first + i;
        const uint8_t *end = texts->heap + text_start(texts, text + 1);
        const uint8_t *start = texts->heap + text_start(texts, text) + from;
        if (end - start >= 8)
            words[i] = __builtin_bswap64(load64(start));
        else if (end > start)
            words[i] = __builtin_bswap64(load64(end - 8)) << (64 - (end - start) * 8);
        else
            words[i] = 0;
    }
}

void ck_text_lengths(const ck_texts *texts, const uint8_t *codes, size_t first, size_t count,
                     uint64_t *lengths) {
    for (size_t i = 0; i < count; i++) {
        size_t text = codes ? codes[first + i] : first + i;
        lengths[i] = text_start(texts, text + 1) - text_start(texts, text);
    }
}

/* ---- bits: loops that the compiler makes vectors of */

INLINE void words_bits(const uint64_t *words, size_t count, uint64_t *any, uint64_t *all) {
    uint64_t some = *any, each = *all;
    for (size_t i = 0; i < count; i++) {
        some |= words[i];
        each &= words[i];
    }
    *any = some;
    *all = each;
}

/* How the bits of a mask get together at the lower end: those in moved[i] go down by 1 << i. A bit goes down by as
 * many places as the mask has zeros below it; which have an odd number of them, the parities of all prefixes say
 * (Warren, Hacker's Delight, "Compress, or generalized extract"). */
enum { STEPS = 6 };
typedef struct {
    uint64_t moved[STEPS];
} moves;

static moves moves_of(uint64_t mask) {
    moves result;
    uint64_t zeros = ~mask << 1;
    for (unsigned step = 0; step < STEPS; step++) {
        uint64_t parity = zeros;
        for (unsigned distance = 1; distance < 64; distance *= 2) parity ^= parity << distance;
        uint64_t moved = parity & mask;
        result.moved[step] = moved;
        mask = (mask ^ moved) | moved >> (1u << step);
        zeros &= ~parity;
    }
    return result;
}

INLINE void append_bits(uint64_t *codes, const uint64_t *words, size_t count, uint64_t base,
                        uint64_t mask, bool flip) {
    const moves steps = moves_of(mask);
    const unsigned bits = (unsigned)__builtin_popcountll(mask);
    const uint64_t flipped = flip ? ~0ull >> (64 - bits) : 0;
    uint64_t piece[256];
    /* A piece at a time, so that steps with nothing to move cost nothing. */
    for (size_t first = 0; first < count; first += 256) {
        size_t rows = count - first < 256 ? count - first : 256;
        for (size_t i = 0; i < rows; i++) piece[i] = (words[first + i] - base) & mask;
        for (unsigned step = 0; step < STEPS; step++) {
            const uint64_t moved = steps.moved[step];
            if (moved == 0) continue;
            const unsigned shift = 1u << step;
            for (size_t i = 0; i < rows; i++) {
                uint64_t moving = piece[i] & moved;
                piece[i] = (piece[i] ^ moving) | moving >> shift;
            }
        }
        if (bits == 64)
            for (size_t i = 0; i < rows; i++) codes[first + i] = piece[i] ^ flipped;
        else
            for (size_t i = 0; i < rows; i++)
                codes[first + i] = codes[first + i] << bits | (piece[i] ^ flipped);
    }
}

#if defined(__x86_64__)
AVX2 static void words_bits_avx2(const uint64_t *words, size_t count, uint64_t *any, uint64_t *all) {
    words_bits(words, count, any, all);
}
AVX2 static void append_bits_avx2(uint64_t *codes, const uint64_t *words, size_t count,
                                  uint64_t base, uint64_t mask, bool flip) {
    append_bits(codes, words, count, base, mask, flip);
}
#endif

void ck_words_bits(const uint64_t *words, size_t count, uint64_t *any, uint64_t *all) {
    BY_PROCESSOR(words_bits_avx2(words, count, any, all), words_bits(words, count, any, all));
}

void ck_append_bits(uint64_t *codes, const uint64_t *words, size_t count, uint64_t base,
                    uint64_t mask, bool flip) {
    if (mask == 0) return;
    BY_PROCESSOR(append_bits_avx2(codes, words, count, base, mask, flip),
                 append_bits(codes, words, count, base, mask, flip));
}
