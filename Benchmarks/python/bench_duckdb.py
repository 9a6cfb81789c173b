"""The analytic rows of the benchmark in DuckDB: the persons of bench.h in a table of its own file, queried in SQL.

usage: python Benchmarks/python/bench_duckdb.py N DIRECTORY [THREADS]

Prints what the other programs of the benchmark print, a line a measure: name<TAB>seconds<TAB>operations. Statements are
parsed each time, as everywhere; wall time, or with BENCH_CLOCK=cpu processor time. The order of sort_full is kept as a
temporary table of keys, which no row has to be made a Python object for. Called by Benchmarks/run, which has the package in a
virtual environment.
"""
import os
import sys
import time

import duckdb

now = time.process_time if os.environ.get("BENCH_CLOCK") == "cpu" else time.perf_counter


def ages(n):
    return [i * 7919 % 100 for i in range(100)], n // 100, n % 100


def count_ages(n, low, below):
    of_hundred, whole, rest = ages(n)
    return sum((whole + (i < rest)) for i, age in enumerate(of_hundred) if low <= age < below)


def fail(name, got, wanted):
    sys.exit(f"FAILED: {name}: got {got}, expected {wanted}")


def main():
    n, folder = int(sys.argv[1]), sys.argv[2]
    threads = int(sys.argv[3]) if len(sys.argv) > 3 else os.cpu_count()
    path = os.path.join(folder, "bench.duckdb")
    if os.path.exists(path):
        os.unlink(path)
    db = duckdb.connect(path)
    db.execute(f"SET threads = {threads}")
    db.execute("CREATE TABLE person (_id BIGINT, name VARCHAR, age BIGINT, score DOUBLE)")
    db.execute("INSERT INTO person SELECT i, printf('person-%07d', i), i * 7919 % 100, i * 0.5 FROM range(?) t(i)", [n])
    db.execute("CHECKPOINT")

    def measure(name, repetitions, statement, check, wanted):
        db.execute(statement).fetchall()  # every other program has read its columns before, too
        start = now()
        for _ in range(repetitions):
            rows = db.execute(statement).fetchall()
        seconds = now() - start
        if check(rows) != wanted:
            fail(name, check(rows), wanted)
        print(f"{name}\t{seconds:.9f}\t{repetitions}", flush=True)

    def first(rows):
        return rows[0][0]

    target = f"person-{777777 if n > 777777 else n // 2:07d}"
    holders = sum("777" in f"person-{i:07d}" for i in range(n))
    measure("query_int_range", 20, "SELECT count(*) FROM person WHERE age >= 30 AND age < 40", first, count_ages(n, 30, 40))
    measure("query_string_eq", 20, f"SELECT count(*) FROM person WHERE name = '{target}'", first, 1)
    measure("query_contains", 10, "SELECT count(*) FROM person WHERE contains(name, '777')", first, holders)
    measure("aggregate_sum", 20, "SELECT sum(score) FROM person", first, 0.5 * (n * (n - 1) // 2))
    measure("aggregate_avg", 20, "SELECT avg(score) FROM person", first, 0.5 * (n * (n - 1) // 2) / n)
    measure("aggregate_min", 20, "SELECT min(score) FROM person", first, 0.0)
    measure("aggregate_max", 20, "SELECT max(score) FROM person", first, 0.5 * (n - 1))
    measure("group_by", 20, "SELECT age, count(*), avg(score) FROM person GROUP BY age", len, 100)
    measure("sort_full", 3, "CREATE OR REPLACE TEMP TABLE sorted AS SELECT _id FROM person ORDER BY age, name DESC", first, n)
    found = db.execute("SELECT _id FROM sorted LIMIT 1").fetchall()[0][0]
    if found != max(i for i in range(max(0, n - 100), n) if i * 7919 % 100 == 0):
        fail("sort_full", found, "the last name of the least age")


if __name__ == "__main__":
    main()
