/* text.h - printing for the example: tables with aligned columns, and a progress bar. Nothing of realm is in here. */
#ifndef TEXT_H
#define TEXT_H
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TABLE_COLUMNS = 8, TABLE_ROWS = 64, CELL_BYTES = 128 };

/* Cells are kept until the table is printed, because widths depend on all of them. A title that starts with '>' has
 * its column aligned to the right. */
typedef struct table {
    int columns, rows;
    char cells[TABLE_ROWS + 1][TABLE_COLUMNS][CELL_BYTES];
} table_t;

static int letters(const char* text) /* code points, which for these names is the width */
{
    int n = 0;
    for (; *text; text++)
        n += (*text & 0xC0) != 0x80;
    return n;
}

static table_t* table_new(int columns, const char* const* titles)
{
    table_t* t = calloc(1, sizeof *t);
    if (!t)
        exit(1);
    t->columns = columns;
    for (int c = 0; c < columns; c++)
        snprintf(t->cells[0][c], CELL_BYTES, "%s", titles[c]);
    return t;
}

/* one text for each column */
static void table_row(table_t* t, ...)
{
    va_list args;
    if (t->rows == TABLE_ROWS)
        return;
    t->rows++;
    va_start(args, t);
    for (int c = 0; c < t->columns; c++)
        snprintf(t->cells[t->rows][c], CELL_BYTES, "%s", va_arg(args, const char*));
    va_end(args);
}

static void table_rule(const int* widths, int columns, const char* left, const char* middle, const char* right)
{
    for (int c = 0; c < columns; c++) {
        fputs(c ? middle : left, stdout);
        for (int i = 0; i < widths[c] + 2; i++)
            fputs("─", stdout);
    }
    printf("%s\n", right);
}

static void table_print(table_t* t)
{
    int widths[TABLE_COLUMNS] = {0};
    bool to_right[TABLE_COLUMNS];
    for (int c = 0; c < t->columns; c++) {
        to_right[c] = t->cells[0][c][0] == '>';
        if (to_right[c])
            memmove(t->cells[0][c], t->cells[0][c] + 1, CELL_BYTES - 1);
        for (int r = 0; r <= t->rows; r++)
            if (letters(t->cells[r][c]) > widths[c])
                widths[c] = letters(t->cells[r][c]);
    }
    table_rule(widths, t->columns, "┌", "┬", "┐");
    for (int r = 0; r <= t->rows; r++) {
        for (int c = 0; c < t->columns; c++) {
            int pad = widths[c] - letters(t->cells[r][c]);
            printf("│ %*s%s%*s ", to_right[c] ? pad : 0, "", t->cells[r][c], to_right[c] ? 0 : pad, "");
        }
        printf("│\n");
        if (r == 0)
            table_rule(widths, t->columns, "├", "┼", "┤");
    }
    table_rule(widths, t->columns, "└", "┴", "┘");
    free(t);
}

static const char* with_commas(double value, int digits)
{
    static char buffers[8][48];
    static int next;
    char plain[40], *out = buffers[next = (next + 1) % 8];
    snprintf(plain, sizeof plain, "%.*f", digits, value);
    int sign = plain[0] == '-', whole = (int)strcspn(plain + sign, ".");
    char* p = out;
    if (sign)
        *p++ = '-';
    for (int i = 0; plain[sign + i]; i++) {
        if (i && i < whole && (whole - i) % 3 == 0)
            *p++ = ',';
        *p++ = plain[sign + i];
    }
    *p = 0;
    return out;
}

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* On a terminal the bar moves; elsewhere only its last state is printed. */
static void progress(const char* what, size_t done, size_t total, double started)
{
    enum { WIDTH = 32 };
    bool last = done >= total;
    if (!last && (!isatty(1) || done % 256))
        return;
    int filled = total ? (int)(done * WIDTH / total) : WIDTH;
    printf("%s%s [", isatty(1) ? "\r" : "", what);
    for (int i = 0; i < WIDTH; i++)
        fputs(i < filled ? "█" : "·", stdout);
    printf("] %3zu %%  %s", total ? done * 100 / total : 100, with_commas((double)done, 0));
    if (last)
        printf(" in %.3f s\n", seconds_now() - started);
    fflush(stdout);
}
#endif
