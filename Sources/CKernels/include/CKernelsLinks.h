/* Kernel over the entries of an inverse index (CountedLinks.swift): how many links lead to each of some
 * objects. */
#ifndef CKERNELS_LINKS_H
#define CKERNELS_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The entries of a leaf, ordered by target. Of a target's key the upper bytes are common to all, `own` bytes
 * (at most 8) stand at the beginning of each entry's suffix, big-endian. Suffixes are `length` bytes long, or that of
 * entry i goes from offset i to offset i + 1, of 16 bits each. */
typedef struct {
    const uint8_t *suffixes; /* at least 8 bytes behind the start of their block */
    const void *offsets;     /* NULL: all are `length` bytes long, which is at least `own` */
    size_t own, length;
    uint64_t base; /* modulo 2^64: the row of the target with zeros as own bytes */
} ck_link_entries;

/* The row of the entry before, and how many entries of it came one after another. */
typedef struct {
    uint64_t row;
    uint32_t count;
} ck_link_run;

/* Adds up entries `first` ... `end` - 1: counts[row] gets how many entries the row has, if they are
 * neighbours; rows without any are left as they are. Ends at the first entry that is behind the last row
 * and returns its position; what is before the first row is passed over. */
size_t ck_count_links(const ck_link_entries *entries, size_t first, size_t end, size_t rows,
                      uint32_t *counts, ck_link_run *run);

#endif
