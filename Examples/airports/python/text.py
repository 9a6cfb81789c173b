"""Printing for the example: tables with aligned columns, and a progress bar. Nothing of realm is in here."""
import sys
import time


def table(columns, rows):
    """Prints rows under titles; a title that starts with '>' has its column aligned to the right."""
    right = [title.startswith(">") for title in columns]
    titles = [title.removeprefix(">") for title in columns]
    rows = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(titles, *rows)]

    def rule(left, middle, end):
        print(left + middle.join("─" * (width + 2) for width in widths) + end)

    def line(cells):
        aligned = [c.rjust(w) if r else c.ljust(w) for c, w, r in zip(cells, widths, right)]
        print("│ " + " │ ".join(aligned) + " │")

    rule("┌", "┬", "┐")
    line(titles)
    rule("├", "┼", "┤")
    for row in rows:
        line(row)
    rule("└", "┴", "┘")


def progress(what, items, width=32):
    """Yields the items of a sequence. On a terminal a bar moves; elsewhere only its end is printed."""
    total, started, moving = len(items), time.perf_counter(), sys.stdout.isatty()

    def show(done, end):
        filled = done * width // total if total else width
        share = done * 100 // total if total else 100
        start = "\r" if moving else ""
        print(f"{start}{what} [{'█' * filled:·<{width}}] {share:3} %  {done:,}", end=end, flush=True)

    for done, item in enumerate(items):
        if moving and done % 256 == 0:
            show(done, "")
        yield item
    show(total, f" in {time.perf_counter() - started:.3f} s\n")
