"""The table of the Python package beside its peers, in one run: Markdown on the standard output.

usage: python Benchmarks/python/figures.py [DIRECTORY]

Engines: realm, and of sqlite3, SQLAlchemy, peewee, ObjectBox and DuckDB those that are installed. Each row of
each engine runs in a process of its own, in turns: the best of three, or of as many as begin within ten seconds;
objects are Person{id, name, age, score} with the id as primary key. Times are processor time, so that they hold on a
busy machine; that of commits, which wait for the disk, is the clock's, and the middle one of seven. Files are
durable: SQLite, SQLAlchemy and peewee with WAL and synchronous=FULL, others as they come.

create        100,000 objects in one write, one by one as a program does with the engine's objects, commit included
columns       1,000,000 objects from columns, commit included: insert_many, executemany over zip(), Arrow
read          an attribute of an object that is loaded, less the loop
iterate       100,000 objects with two attributes read of each (sqlite3 and DuckDB: rows of two columns)
count         filter(...).count() of one object by primary key, the least of twenty rounds as in C
where         the same with `Person.id == 5` in place of the text, which is made each time
count_in_c    the calls behind it, in C: count_in_c.c; needs gcc
commits       500 durable commits that change one number
memory        peak of creating 200,000 objects in one write, less that of the process before
import        of the package, processor time, from compiled files
"""
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ENGINES = ("realm", "sqlite3", "sqlalchemy", "peewee", "objectbox", "duckdb")
ROWS = (
    ("create", "create 100,000 in one write", "s", 3),
    ("columns", "1,000,000 from columns", "M/s", 2),
    ("read", "attribute read", "ns", 0),
    ("iterate", "iterate, two attributes", "M/s", 2),
    ("count", "filter().count()", "µs", 1),
    ("where", "the same, where() of a typed expression", "µs", 1),
    ("count_in_c", "the same calls in C", "µs", 1),
    ("commits", "500 durable commits", "s", 3),
    ("memory", "peak memory of 200,000", "MB", 1),
    ("import", "import", "ms", 0),
)
N, MANY = 100_000, 1_000_000
now = time.process_time


class Realm:
    def __init__(self, folder):
        import realm

        class Person(realm.Object):
            id: int = realm.Field(primary_key=True)
            name: str = ""
            age: int = 0
            score: float = 0.0

        self.Person = Person
        self.r = realm.open(os.path.join(folder, "people.realm"), Person)

    def create(self, count):
        r, create, Person = self.r, self.r.create, self.Person
        with r.write():
            for i in range(count):
                create(Person, id=i, name="person-%d" % i, age=i % 100, score=i * 0.5)

    def columns(self, columns):
        with self.r.write():
            self.r.insert_many(self.Person, columns)

    def one(self):
        return self.r.find(self.Person, 5)

    def objects(self):
        return self.r.objects(self.Person)

    def count_in_c(self, folder):
        import realm

        here, library = os.path.dirname(os.path.abspath(__file__)), os.path.dirname(realm.__file__)
        program, path = os.path.join(folder, "count_in_c"), self.r.path
        subprocess.run(["gcc", "-O2", f"-I{here}/../../include", f"{here}/count_in_c.c", "-o", program,
                        f"-L{library}", "-lrealm", f"-Wl,-rpath,{library}"], check=True)
        self.r.close()
        return float(subprocess.run([program, path], check=True, capture_output=True, text=True).stdout)

    def count(self):
        people = self.r.objects(self.Person)
        return lambda: people.filter("id == $0", 5).count()

    def where(self):
        people, Person = self.r.objects(self.Person), self.Person
        return lambda: people.where(Person.id == 5).count()

    def commit(self):
        one, write = self.one(), self.r.write

        def change(i):
            with write():
                one.age = i

        return change


class Sqlite3:
    def __init__(self, folder):
        import sqlite3

        self.db = sqlite3.connect(os.path.join(folder, "people.db"), isolation_level=None)
        self.db.execute("PRAGMA journal_mode=WAL")
        self.db.execute("PRAGMA synchronous=FULL")
        self.db.execute("CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, age INT, score REAL)")

    def create(self, count):
        execute = self.db.execute
        execute("BEGIN")
        for i in range(count):
            execute("INSERT INTO person VALUES (?, ?, ?, ?)", (i, "person-%d" % i, i % 100, i * 0.5))
        execute("COMMIT")

    def columns(self, columns):
        self.db.execute("BEGIN")
        self.db.executemany("INSERT INTO person VALUES (?, ?, ?, ?)",
                            zip(*(c.tolist() if hasattr(c, "tolist") else c for c in columns.values())))
        self.db.execute("COMMIT")

    rows = property(lambda self: self.db.execute("SELECT age, score FROM person"))

    def count(self):
        return lambda: self.db.execute("SELECT count(*) FROM person WHERE id = ?", (5,)).fetchone()[0]

    def commit(self):
        return lambda i: self.db.execute("UPDATE person SET age = ? WHERE id = 5", (i,))


class Sqlalchemy:
    def __init__(self, folder):
        from sqlalchemy import create_engine, event
        from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

        class Base(DeclarativeBase):
            pass

        class Person(Base):
            __tablename__ = "person"
            id: Mapped[int] = mapped_column(primary_key=True)
            name: Mapped[str]
            age: Mapped[int]
            score: Mapped[float]

        engine = create_engine(f"sqlite:///{folder}/people.db")

        @event.listens_for(engine, "connect")
        def durable(connection, record):
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")

        Base.metadata.create_all(engine)
        self.Person, self.session = Person, Session(engine, expire_on_commit=False)

    def create(self, count):
        Person, add = self.Person, self.session.add
        for i in range(count):
            add(Person(id=i, name="person-%d" % i, age=i % 100, score=i * 0.5))
        self.session.commit()

    def columns(self, columns):
        from sqlalchemy import insert

        names = list(columns)
        values = [c.tolist() if hasattr(c, "tolist") else c for c in columns.values()]
        self.session.execute(insert(self.Person), [dict(zip(names, row)) for row in zip(*values)])
        self.session.commit()

    def one(self):
        return self.session.get(self.Person, 5)

    def objects(self):
        self.session.expunge_all()
        return self.session.query(self.Person)

    def count(self):
        return lambda: self.session.query(self.Person).filter(self.Person.id == 5).count()

    def commit(self):
        one = self.one()

        def change(i):
            one.age = i + 1
            self.session.commit()

        return change


class Peewee:
    def __init__(self, folder):
        import peewee

        self.db = peewee.SqliteDatabase(os.path.join(folder, "people.db"),
                                        pragmas={"journal_mode": "wal", "synchronous": "full"})

        class Person(peewee.Model):
            id = peewee.IntegerField(primary_key=True)
            name = peewee.TextField()
            age = peewee.IntegerField()
            score = peewee.FloatField()

            class Meta:
                database = self.db

        self.db.create_tables([Person])
        self.Person = Person

    def create(self, count):
        with self.db.atomic():
            for i in range(count):
                self.Person.create(id=i, name="person-%d" % i, age=i % 100, score=i * 0.5)

    def columns(self, columns):
        values = [c.tolist() if hasattr(c, "tolist") else c for c in columns.values()]
        rows = list(zip(*values))
        with self.db.atomic():
            for start in range(0, len(rows), 5000):
                self.Person.insert_many(rows[start : start + 5000], list(columns)).execute()

    def one(self):
        return self.Person.get_by_id(5)

    def objects(self):
        return self.Person.select()

    def count(self):
        return lambda: self.Person.select().where(self.Person.id == 5).count()

    def commit(self):
        one = self.one()

        def change(i):
            one.age = i
            one.save()

        return change


class Objectbox:
    def __init__(self, folder):
        import objectbox
        from objectbox import Entity, Float64, Id, Int64, String

        @Entity()
        class Person:
            key = Id
            id = Int64
            name = String
            age = Int64
            score = Float64

        self.Person = Person
        self.store = objectbox.Store(directory=os.path.join(folder, "objectbox"))
        self.box = self.store.box(Person)

    def create(self, count):
        # It takes 10,000 objects at a time.
        with self.store.write_tx():
            for start in range(0, count, 10_000):
                self.box.put([self.Person(id=i, name="person-%d" % i, age=i % 100, score=i * 0.5)
                              for i in range(start, start + 10_000)])

    def one(self):
        return self.box.get(5)

    def objects(self):
        return self.box.get_all()

    def count(self):
        return lambda: self.box.query(self.Person.id.equals(5)).build().count()

    def commit(self):
        one = self.one()

        def change(i):
            one.age = i
            self.box.put(one)

        return change


class Duckdb:
    def __init__(self, folder):
        import duckdb

        self.db = duckdb.connect(os.path.join(folder, "people.duckdb"))
        self.db.execute("CREATE TABLE person (id BIGINT PRIMARY KEY, name TEXT, age BIGINT, score DOUBLE)")

    def create(self, count):
        execute = self.db.execute
        execute("BEGIN")
        for i in range(count):
            execute("INSERT INTO person VALUES (?, ?, ?, ?)", (i, "person-%d" % i, i % 100, i * 0.5))
        execute("COMMIT")

    def columns(self, columns):
        import pyarrow

        given = pyarrow.table(columns)  # noqa: F841 - the query finds it by its name
        self.db.execute("INSERT INTO person SELECT * FROM given")

    rows = property(lambda self: self.db.execute("SELECT age, score FROM person").fetchall())

    def count(self):
        return lambda: self.db.execute("SELECT count(*) FROM person WHERE id = ?", (5,)).fetchone()[0]

    def commit(self):
        return lambda i: self.db.execute("UPDATE person SET age = ? WHERE id = 5", (i,))


CLASSES = dict(zip(ENGINES, (Realm, Sqlite3, Sqlalchemy, Peewee, Objectbox, Duckdb)))


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(name, row, folder):
    """The figure of one row, None where the engine has nothing of the kind."""
    if row == "import":
        start = time.process_time()
        __import__(name)
        return (time.process_time() - start) * 1e3
    engine = CLASSES[name](folder)
    if row == "create":
        start = now()
        engine.create(N)
        return now() - start
    if row == "memory":
        before = peak()
        engine.create(2 * N)
        return peak() - before
    if row == "columns":
        if not hasattr(engine, "columns"):
            return None
        import numpy

        ids = numpy.arange(MANY)
        columns = {"id": ids, "name": ["person-%d" % i for i in range(MANY)], "age": ids % 100,
                   "score": ids * 0.5}
        start = now()
        engine.columns(columns)
        return MANY / (now() - start) / 1e6
    if hasattr(engine, "columns"):
        engine.columns({"id": list(range(N)), "name": ["person-%d" % i for i in range(N)],
                        "age": [i % 100 for i in range(N)], "score": [i * 0.5 for i in range(N)]})
    else:
        engine.create(N)
    if row == "read":
        if not hasattr(engine, "one"):
            return None
        one, rounds = engine.one(), 1_000_000
        start = now()
        for _ in range(rounds):
            one.age
        middle = now()
        for _ in range(rounds):
            pass
        return (middle - start - (now() - middle)) / rounds * 1e9
    if row == "iterate":
        start = now()
        if hasattr(engine, "rows"):
            for age, score in engine.rows:
                pass
        else:
            for one in engine.objects():
                one.age
                one.score
        return N / (now() - start) / 1e6
    if row == "count_in_c":
        return engine.count_in_c(folder) if hasattr(engine, "count_in_c") else None
    if row in ("count", "where"):
        if not hasattr(engine, row):
            return None
        count = getattr(engine, row)()
        assert count() == 1
        rounds = []
        for _ in range(20):
            start = now()
            for _ in range(200):
                count()
            rounds.append((now() - start) / 200 * 1e6)
        return min(rounds)
    commit = engine.commit()
    start = time.perf_counter()
    for i in range(500):
        commit(i)
    return time.perf_counter() - start


def once(name, row, parent):
    """What one process says; None where there is no such figure."""
    if name == "duckdb" and row in ("create", "memory"):
        # It is for other work than rows one by one, which take it minutes.
        return None
    folder = tempfile.mkdtemp(dir=parent)
    done = subprocess.run([sys.executable, __file__, "--one", name, row, folder],
                          capture_output=True, text=True)
    shutil.rmtree(folder)
    if done.returncode != 0:
        print(f"{name}, {row}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return None
    return json.loads(done.stdout.splitlines()[-1])


def figures(names, row, parent):
    """Of each engine the best of its turns, of commits the one in the middle; None where there is none."""
    found = {name: [] for name in names}
    spent = dict.fromkeys(names, 0.0)
    for _ in range(7 if row == "commits" else 3):
        for name in names:
            if spent[name] > 10:
                continue
            begin = time.perf_counter()
            value = once(name, row, parent)
            spent[name] = float("inf") if value is None else spent[name] + time.perf_counter() - begin
            if value is not None:
                found[name].append(value)
    if row == "commits":
        choose = statistics.median_low
    else:
        choose = max if row in ("columns", "iterate") else min
    return [choose(found[name]) if found[name] else None for name in names]


def main():
    if len(sys.argv) == 5 and sys.argv[1] == "--one":
        print(json.dumps(measure(*sys.argv[2:])))
        return
    parent = sys.argv[1] if len(sys.argv) > 1 else tempfile.gettempdir()
    there = []
    for name in ENGINES:
        found = subprocess.run([sys.executable, "-c", f"import {name}; print({name}.__file__)"],
                               capture_output=True, text=True)
        if found.returncode == 0:
            there.append(name)
            subprocess.run([sys.executable, "-m", "compileall", "-q", "-l",
                            os.path.dirname(found.stdout.strip())], capture_output=True)
        else:
            print(f"{name} is not installed", file=sys.stderr)
    print("| | " + " | ".join(there) + " |")
    print("|---|" + "---:|" * len(there))
    for row, text, unit, digits in ROWS:
        cells = ["–" if f is None else f"{f:.{digits}f}" for f in figures(there, row, parent)]
        print(f"| {text}, {unit} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
