"""Files that Python and C share."""

from __future__ import annotations

import subprocess
from datetime import datetime, timedelta, timezone

import realm
from models import EPOCH


class Shared(realm.Object):
    """As in c/interop.h."""

    id: int = realm.PrimaryKey()
    name: str = realm.Indexed(default="")
    score: float | None = None
    weight: realm.Float32 = 0.0
    active: bool = False
    data: bytes | None = None
    born: datetime = EPOCH
    friend: Shared | None = None


def moment(i: int) -> datetime:
    return EPOCH + timedelta(seconds=i - 2, microseconds=-1 if i < 2 else 1)


def line(i: int) -> str:
    nanoseconds = -1000 if i < 2 else 1000
    return "|".join([
        str(i), f"näme-{i:05}", "null" if i % 3 == 0 else f"{i / 4:.17g}", f"{i / 2:.9g}",
        "true" if i % 2 else "false", "null" if i % 3 == 0 else f"00ff{i % 256:02x}07",
        f"{i - 2}:{nanoseconds}", "null" if i == 0 else str(i - 1),
    ])


def test_c_reads_what_python_wrote(path, compile_c):
    with realm.open(path, classes=[Shared]) as r, r.write():
        before = None
        for i in range(500):
            before = r.create(
                Shared, id=i, name=f"näme-{i:05}", score=None if i % 3 == 0 else i / 4,
                weight=i / 2, active=i % 2 == 1,
                data=None if i % 3 == 0 else bytes([0, 255, i % 256, 7]), born=moment(i),
                friend=before,
            )
    done = subprocess.run([compile_c("read_shared"), path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [line(i) for i in range(500)]


def test_python_reads_what_c_wrote(path, compile_c):
    subprocess.run([compile_c("write_shared"), path, "500"], check=True)
    with realm.open(path, classes=[Shared]) as r:
        found = r.objects(Shared).sorted("id")
        assert len(found) == 500
        for i, shared in enumerate(found):
            assert realm.to_dict(shared) == {
                "id": i, "name": f"näme-{i:05}", "score": None if i % 3 == 0 else i / 4,
                "weight": i / 2, "active": i % 2 == 1,
                "data": None if i % 3 == 0 else bytes([0, 255, i % 256, 7]), "born": moment(i),
                "friend": None if i == 0 else found[i - 1],
            }
        assert r.objects(Shared).filter("name == $0", "näme-00042")[0].id == 42
        assert r.objects(Shared).max("born") == moment(499)


def test_the_schemas_are_the_same_to_the_engine(path, compile_c):
    subprocess.run([compile_c("write_shared"), path, "3"], check=True)
    with realm.open(path) as r:
        assert repr(realm.properties(r.classes["Shared"])["name"]) == "<property Shared.name: str, indexed>"
        assert repr(realm.properties(r.classes["Shared"])["id"]) == "<property Shared.id: int, primary key>"
        assert r.objects("Shared")[2].friend.friend.friend is None


def test_both_write_in_turn_and_at_once(path, compile_c):
    with realm.open(path, classes=[Shared]) as r:
        with r.write():
            r.create(Shared, id=0, score=0.0)
        program = subprocess.Popen([compile_c("increment_shared"), path, "100"])
        for _ in range(100):
            with r.write():
                r.find(Shared, 0).score += 1
        assert program.wait(60) == 0
        r.refresh()
        assert r.find(Shared, 0).score == 200.0


def test_c_sees_errors_that_python_made_possible(path, compile_c):
    """Another schema under the same name: the C program must be told, not crash."""
    other = type(realm.Object)(
        "Shared", (realm.Object,),
        {"__annotations__": {"id": str}, "id": realm.PrimaryKey(), "__module__": __name__},
    )
    with realm.open(path, classes=[other]):
        pass
    done = subprocess.run([compile_c("read_shared"), path], capture_output=True, text=True)
    assert done.returncode == 1
    assert f"realm_open: {realm.ErrorCode.SCHEMA_MISMATCH.value}" in done.stderr


def test_nanoseconds_of_c_are_cut_towards_the_past(path, compile_c):
    assert timezone.utc is EPOCH.tzinfo
    subprocess.run([compile_c("write_shared"), path, "2"], check=True)
    with realm.open(path, classes=[Shared]) as r:
        assert r.find(Shared, 1).born == EPOCH - timedelta(seconds=1, microseconds=1)
