"""Yardsticks for the Python package: the Person workloads of bench_realm through Python libraries.

usage: python Benchmarks/python/bench_python.py ENGINE N DIRECTORY

ENGINE is one of realm, sqlite3, sqlalchemy, peewee, objectbox, plain; each needs its package of that name, except
sqlite3 (standard library) and plain (ordinary Python objects: the floor).
stdout: name<TAB>seconds<TAB>ops, as bench_realm. Durable settings: sqlite3, SQLAlchemy and peewee use WAL,
synchronous=FULL, cache_size 64 MB, mmap 1 GiB; ObjectBox its defaults (LMDB-like storage, a commit is synced).

insert_*      one transaction each, building of the objects or parameters included, on a fresh file
get_by_pk     N random ids, name and age read, one read transaction / session (random sequence of bench_realm)
scan_*        every object loaded in turn, age read
attr_read     age read of N objects that are loaded already (nothing but the attribute access in a for loop)
query_*       counts, as bench_realm
"""
import gc
import os
import resource
import shutil
import sys
import time

if len(sys.argv) != 4:
    sys.exit(__doc__)
ENGINE, N, DIR = sys.argv[1], int(sys.argv[2]), sys.argv[3]
now = time.perf_counter
_M = (1 << 64) - 1
_rng = 88172645463325252


def rnd():
    global _rng
    x = _rng
    x ^= x >> 12
    x = (x ^ (x << 25)) & _M
    x ^= x >> 27
    _rng = x
    return x * 2685821657736338717 & _M


IDS = [rnd() % N for _ in range(N)]  # as bench_realm's first N draws
WANT_AGE = sum(i * 7919 % 100 for i in range(N))
WANT_RANGE = sum(30 <= i * 7919 % 100 < 40 for i in range(N))
TARGET = 777777 if N > 777777 else N // 2
WANT_CONTAINS = sum('777' in 'person-%07d' % i for i in range(N))


def report(name, seconds, ops):
    print('%s\t%.6f\t%d' % (name, seconds, ops), flush=True)


def need(name, got, want):
    if got != want:
        sys.exit('FAILED: %s: got %r, expected %r' % (name, got, want))


def fresh(name):
    gc.collect()
    p = os.path.join(DIR, name)
    for s in ('', '-wal', '-shm'):
        if os.path.isdir(p + s):
            shutil.rmtree(p + s)
        elif os.path.exists(p + s):
            os.unlink(p + s)
    return p


def timed(name, ops, fn, reps=1):
    t0 = now()
    for _ in range(reps):
        r = fn()
    report(name, now() - t0, ops)
    return r


def attr_read(objs):
    t0 = now()
    s = 0
    for o in objs:
        s += o.age
    report('attr_read', now() - t0, len(objs))
    need('attr_read', s, WANT_AGE)


def args(i):
    return dict(name='person-%07d' % i, age=i * 7919 % 100, score=i * 0.5, birth=1500000000 + i, active=i % 3 == 0,
                dept=i % 100)


# ------------------------------------------------------------------ realm
def realm_():
    import datetime

    import realm
    print('# realm', realm.__version__, file=sys.stderr)

    class Dept(realm.Object):
        id: int = realm.PrimaryKey()
        name: str

    class Person(realm.Object):
        id: int = realm.PrimaryKey()
        name: str
        age: int
        score: float
        birth: datetime.datetime
        active: bool
        dept: Dept | None

    births = [datetime.datetime.fromtimestamp(1500000000 + i, datetime.timezone.utc) for i in range(N)]

    def new():
        path = fresh('realm.realm')
        r = realm.open(path, [Person, Dept])
        with r.write():
            return path, r, [r.create(Dept, id=i, name='dept-%d' % i) for i in range(100)]

    # (a) objects built by the program, then added
    path, r, depts = new()
    t0 = now()
    with r.write():
        for i in range(N):
            r.add(Person(id=i, name='person-%07d' % i, age=i * 7919 % 100, score=i * 0.5, birth=births[i],
                         active=i % 3 == 0, dept=depts[i % 100]))
    report('insert_add', now() - t0, N)
    r.close()
    # (b) created in place
    path, r, depts = new()
    t0 = now()
    with r.write():
        for i in range(N):
            r.create(Person, id=i, name='person-%07d' % i, age=i * 7919 % 100, score=i * 0.5, birth=births[i],
                     active=i % 3 == 0, dept=depts[i % 100])
    report('insert_bulk', now() - t0, N)
    report('file_after_insert_bytes', 0, os.path.getsize(path))
    everybody = r.objects(Person)
    need('count', len(everybody), N)

    t0 = now()
    s = 0
    for i in IDS:
        p = r.find(Person, i)
        s += len(p.name) + p.age
    report('get_by_pk', now() - t0, N)
    print('# get_by_pk checksum', s, file=sys.stderr)
    need('range', timed('query_int_range', 20, lambda: len(everybody.filter('age >= 30 AND age < 40')), 20), WANT_RANGE)
    need('eq', timed('query_string_eq', 20, lambda: len(everybody.filter('name == $0', 'person-%07d' % TARGET)), 20), 1)
    need('contains', timed('query_contains', 10, lambda: len(everybody.filter('name CONTAINS "777"')), 10),
         WANT_CONTAINS)
    need('backlinks', sum(timed('backlinks', 1000, lambda: [len(r.backlinks(d, Person, 'dept')) for d in depts], 10)),
         N)
    t0 = now()
    s = 0
    for p in everybody:
        s += p.age
    report('scan_object', now() - t0, N)
    need('scan', s, WANT_AGE)
    t0 = now()
    s = sum(everybody.values('age'))
    report('scan_column', now() - t0, N)
    need('scan', s, WANT_AGE)
    attr_read(list(everybody))
    t0 = now()
    for _ in range(1000):
        with r.write():
            r.find(Person, rnd() % N).age = rnd() % 100
    report('commit_small', now() - t0, 1000)
    t0 = now()
    with r.write():
        for i in range(0, N, 2):
            r.delete(r.find(Person, i))
    report('delete_half', now() - t0, (N + 1) // 2)
    need('left', len(everybody), N // 2)
    r.close()


# ------------------------------------------------------------------ ObjectBox
def objectbox_():
    import objectbox
    from objectbox import Bool, Entity, Float64, Id, Index, Int32, Int64, Store, String
    print('# objectbox', objectbox.version, 'core', objectbox.version_core, file=sys.stderr)

    @Entity()
    class Person:
        id = Id()
        name = String()
        age = Int32()
        score = Float64()
        birth = Int64()
        active = Bool()
        dept = Int64(index=Index())  # stands for the link: an indexed number, so that backlinks are a query

    path = fresh('obx')

    def new_store():
        return Store(directory=path, max_db_size_in_kb=4 << 20,
                     model_json_file=os.path.join(DIR, 'objectbox-model.json'))

    def build(i):
        return Person(name='person-%07d' % i, age=i * 7919 % 100, score=i * 0.5, birth=1500000000 + i,
                      active=i % 3 == 0, dept=i % 100)

    # (a) one by one in one transaction
    store = new_store()
    box = store.box(Person)
    t0 = now()
    with store.write_tx():
        for i in range(N):
            box.put(build(i))
    report('insert_loop', now() - t0, N)
    store.close()
    fresh('obx')
    # (b) lists put in one transaction
    store = new_store()
    box = store.box(Person)
    t0 = now()
    objs = [build(i) for i in range(N)]
    t1 = now()
    with store.write_tx():  # one transaction; objectbox 5.0.0 takes at most 10,000 new objects a put()
        for k in range(0, N, 10000):
            box.put(objs[k:k + 10000])
    t2 = now()
    report('insert_bulk', t2 - t0, N)
    report('insert_bulk.put_only', t2 - t1, N)
    del objs
    gc.collect()
    report('file_after_insert_bytes', 0, os.path.getsize(os.path.join(path, 'data.mdb')))
    need('count', box.count(), N)

    t0 = now()
    s = 0
    with store.read_tx():
        for i in IDS:
            p = box.get(i + 1)
            s += len(p.name) + p.age
    report('get_by_pk', now() - t0, N)
    print('# get_by_pk checksum', s, file=sys.stderr)

    def count(cond):
        return box.query(cond).build().count()
    need('range', timed('query_int_range', 20, lambda: count(
        Person.age.greater_or_equal(30) & Person.age.less_than(40)), 20), WANT_RANGE)
    need('eq', timed('query_string_eq', 20, lambda: count(Person.name.equals('person-%07d' % TARGET)), 20), 1)
    need('contains', timed('query_contains', 10, lambda: count(Person.name.contains('777')), 10), WANT_CONTAINS)
    need('backlinks', sum(timed('backlinks', 1000, lambda: [count(Person.dept.equals(d)) for d in range(100)], 10)), N)
    t0 = now()
    s = 0
    objs = box.get_all()
    for p in objs:
        s += p.age
    report('scan_get_all', now() - t0, N)
    need('scan', s, WANT_AGE)
    attr_read(objs)
    del objs
    gc.collect()
    t0 = now()
    for _ in range(1000):
        with store.write_tx():
            p = box.get(rnd() % N + 1)
            p.age = rnd() % 100
            box.put(p)
    report('commit_small', now() - t0, 1000)
    t0 = now()
    need('removed', box.remove_many(range(1, N + 1, 2)), (N + 1) // 2)
    report('delete_half', now() - t0, (N + 1) // 2)
    store.close()


# ------------------------------------------------------------------ sqlite3 module
PRAGMAS = ('journal_mode=WAL', 'synchronous=FULL', 'cache_size=-65536', 'mmap_size=1073741824', 'temp_store=MEMORY')
DDL = ('CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INT NOT NULL, score REAL NOT NULL,'
       ' birth INT NOT NULL, active INT NOT NULL, dept INT)', 'CREATE INDEX person_dept ON person(dept)')
INS = 'INSERT INTO person VALUES(?,?,?,?,?,?,?)'


def row(i):
    return i, 'person-%07d' % i, i * 7919 % 100, i * 0.5, 1500000000 + i, i % 3 == 0, i % 100


def sqlite3_():
    import sqlite3
    print('# sqlite', sqlite3.sqlite_version, file=sys.stderr)

    def new(name='sq.db'):
        c = sqlite3.connect(fresh(name), isolation_level=None)
        for p in PRAGMAS:
            c.execute('PRAGMA ' + p)
        for d in DDL:
            c.execute(d)
        return c
    c = new()
    t0 = now()
    c.execute('BEGIN')
    for i in range(N):
        c.execute(INS, row(i))
    c.execute('COMMIT')
    report('insert_loop', now() - t0, N)
    c.close()
    c = new()
    t0 = now()
    c.execute('BEGIN')
    c.executemany(INS, (row(i) for i in range(N)))
    c.execute('COMMIT')
    report('insert_bulk', now() - t0, N)
    t0 = now()
    s = 0
    c.execute('BEGIN')
    for i in IDS:
        name, age = c.execute('SELECT name, age FROM person WHERE id=?', (i,)).fetchone()
        s += len(name) + age
    c.execute('COMMIT')
    report('get_by_pk', now() - t0, N)
    print('# get_by_pk checksum', s, file=sys.stderr)
    one = lambda sql: c.execute(sql).fetchone()[0]
    need('range', timed('query_int_range', 20, lambda: one(
        'SELECT count(*) FROM person WHERE age >= 30 AND age < 40'), 20), WANT_RANGE)
    need('eq', timed('query_string_eq', 20, lambda: one(
        "SELECT count(*) FROM person WHERE name = 'person-%07d'" % TARGET), 20), 1)
    need('contains', timed('query_contains', 10, lambda: one(
        "SELECT count(*) FROM person WHERE instr(name, '777') > 0"), 10), WANT_CONTAINS)
    t0 = now()
    s = 0
    for age, in c.execute('SELECT age FROM person'):
        s += age
    report('scan_column', now() - t0, N)
    need('scan', s, WANT_AGE)
    t0 = now()
    s = 0
    for r in c.execute('SELECT * FROM person'):
        s += r[2]
    report('scan_tuple', now() - t0, N)
    c.row_factory = sqlite3.Row
    t0 = now()
    s = 0
    for r in c.execute('SELECT * FROM person'):
        s += r['age']
    report('scan_row', now() - t0, N)
    need('scan', s, WANT_AGE)
    t0 = now()
    for _ in range(1000):
        c.execute('BEGIN IMMEDIATE')
        c.execute('UPDATE person SET age=? WHERE id=?', (rnd() % 100, rnd() % N))
        c.execute('COMMIT')
    report('commit_small', now() - t0, 1000)
    t0 = now()
    c.execute('BEGIN')
    c.executemany('DELETE FROM person WHERE id=?', ((i,) for i in range(0, N, 2)))
    c.execute('COMMIT')
    report('delete_half', now() - t0, (N + 1) // 2)
    c.close()


# ------------------------------------------------------------------ SQLAlchemy ORM
def sqlalchemy_():
    import sqlalchemy as sa
    from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column
    print('# sqlalchemy', sa.__version__, file=sys.stderr)

    class Base(DeclarativeBase):
        pass

    class Person(Base):
        __tablename__ = 'person'
        id: Mapped[int] = mapped_column(primary_key=True)
        name: Mapped[str]
        age: Mapped[int]
        score: Mapped[float]
        birth: Mapped[int]
        active: Mapped[bool]
        dept: Mapped[int] = mapped_column(index=True)

    def new():
        e = sa.create_engine('sqlite:///' + fresh('sa.db'))

        @sa.event.listens_for(e, 'connect')
        def _(conn, rec):
            for p in PRAGMAS:
                conn.execute('PRAGMA ' + p)
        Base.metadata.create_all(e)
        return e
    e = new()
    t0 = now()
    with Session(e) as s:
        s.add_all([Person(id=i, **args(i)) for i in range(N)])
        s.commit()
    report('insert_orm_add_all', now() - t0, N)
    e.dispose()
    e = new()
    t0 = now()
    with Session(e) as s:
        s.execute(sa.insert(Person), [dict(id=i, **args(i)) for i in range(N)])
        s.commit()
    report('insert_bulk', now() - t0, N)
    with Session(e) as s:
        t0 = now()
        x = 0
        for i in IDS:
            p = s.get(Person, i)
            x += len(p.name) + p.age
        report('get_by_pk', now() - t0, N)
        print('# get_by_pk checksum', x, 'distinct', len(set(IDS)), file=sys.stderr)
    gc.collect()
    with Session(e) as s:
        q = lambda w: s.scalar(sa.select(sa.func.count()).select_from(Person).where(w))
        need('range', timed('query_int_range', 20, lambda: q((Person.age >= 30) & (Person.age < 40)), 20), WANT_RANGE)
        need('eq', timed('query_string_eq', 20, lambda: q(Person.name == 'person-%07d' % TARGET), 20), 1)
    with Session(e) as s:
        t0 = now()
        x = 0
        objs = s.scalars(sa.select(Person)).all()
        for p in objs:
            x += p.age
        report('scan_orm', now() - t0, N)
        need('scan', x, WANT_AGE)
        attr_read(objs)
        del objs
    gc.collect()
    with Session(e) as s:
        t0 = now()
        x = 0
        for age, in s.execute(sa.select(Person.age)):
            x += age
        report('scan_column', now() - t0, N)
        need('scan', x, WANT_AGE)
    with Session(e) as s:
        t0 = now()
        for _ in range(1000):
            s.get(Person, rnd() % N).age = rnd() % 100
            s.commit()
        report('commit_small', now() - t0, 1000)
    e.dispose()


# ------------------------------------------------------------------ peewee
def peewee_():
    import peewee as pw
    print('# peewee', pw.__version__, file=sys.stderr)
    db = pw.SqliteDatabase(None, pragmas=[tuple(p.split('=')) for p in PRAGMAS])

    class Person(pw.Model):
        id = pw.IntegerField(primary_key=True)
        name = pw.TextField()
        age = pw.IntegerField()
        score = pw.FloatField()
        birth = pw.IntegerField()
        active = pw.BooleanField()
        dept = pw.IntegerField(index=True)

        class Meta:
            database = db

    def new():
        if not db.is_closed():
            db.close()
        db.init(fresh('pw.db'), pragmas=[tuple(p.split('=')) for p in PRAGMAS])
        db.connect()
        db.create_tables([Person])
    new()
    t0 = now()
    with db.atomic():
        for i in range(N):
            Person.create(id=i, **args(i))
    report('insert_orm_create', now() - t0, N)
    new()
    t0 = now()
    with db.atomic():
        for b in pw.chunked(({'id': i, **args(i)} for i in range(N)), 1000):
            Person.insert_many(b).execute()
    report('insert_bulk', now() - t0, N)
    t0 = now()
    x = 0
    with db.atomic():
        for i in IDS:
            p = Person.get_by_id(i)
            x += len(p.name) + p.age
    report('get_by_pk', now() - t0, N)
    print('# get_by_pk checksum', x, file=sys.stderr)
    need('range', timed('query_int_range', 20, lambda: Person.select().where(
        (Person.age >= 30) & (Person.age < 40)).count(), 20), WANT_RANGE)
    need('eq', timed('query_string_eq', 20, lambda: Person.select().where(
        Person.name == 'person-%07d' % TARGET).count(), 20), 1)
    t0 = now()
    x = 0
    objs = list(Person.select())
    for p in objs:
        x += p.age
    report('scan_orm', now() - t0, N)
    need('scan', x, WANT_AGE)
    attr_read(objs)
    del objs
    gc.collect()
    t0 = now()
    x = 0
    for age, in Person.select(Person.age).tuples().iterator():
        x += age
    report('scan_column', now() - t0, N)
    need('scan', x, WANT_AGE)
    t0 = now()
    for _ in range(1000):
        with db.atomic():
            p = Person.get_by_id(rnd() % N)
            p.age = rnd() % 100
            p.save(only=[Person.age])
    report('commit_small', now() - t0, 1000)
    db.close()


# ------------------------------------------------------------------ plain Python objects: the floor
def plain_():
    class Person:
        __slots__ = ('id', 'name', 'age', 'score', 'birth', 'active', 'dept')

        def __init__(self, id, name, age, score, birth, active, dept):
            self.id, self.name, self.age, self.score = id, name, age, score
            self.birth, self.active, self.dept = birth, active, dept
    t0 = now()
    objs = [Person(id=i, **args(i)) for i in range(N)]
    report('insert_bulk', now() - t0, N)
    attr_read(objs)
    d = {o.id: o for o in objs}
    t0 = now()
    x = 0
    for i in IDS:
        p = d[i]
        x += len(p.name) + p.age
    report('get_by_pk', now() - t0, N)


os.makedirs(DIR, exist_ok=True)
if ENGINE not in ('realm', 'sqlite3', 'sqlalchemy', 'peewee', 'objectbox', 'plain'):
    sys.exit(__doc__)
globals()[ENGINE + '_']()
report('peak_rss_bytes', 0, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
