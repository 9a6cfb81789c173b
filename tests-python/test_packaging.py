"""What pip installs."""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path

import pytest

import realm
from conftest import REPOSITORY, run_python

PACKAGE = Path(realm.__file__).parent
PROGRAM = Path(sysconfig.get_path("scripts"), "realm")
WHEELS = sorted((REPOSITORY / "build" / "wheel").glob("realm-*.whl"))


class Note(realm.Object):
    text: str = ""


@pytest.fixture
def damaged(path):
    """A file of three notes, with a bit of one changed."""
    with realm.open(path, Note) as r, r.write():
        for number in range(3):
            r.create(Note, text=f"{number}" * 20_000)
    content = bytearray(Path(path).read_bytes())
    content[content.index(b"1" * 20_000) + 10_000] ^= 1
    Path(path).write_bytes(content)
    return path


def command(*arguments: object, **more: object) -> subprocess.CompletedProcess[str]:
    """Runs a command where no program is in the PATH."""
    return subprocess.run(
        [str(argument) for argument in arguments], capture_output=True, text=True, timeout=60,
        env={**os.environ, "PATH": "/nowhere"}, **more,  # type: ignore[call-overload]
    )


def test_the_version_comes_from_one_place():
    project = tomllib.loads((REPOSITORY / "bindings/python/pyproject.toml").read_text())
    assert realm.__version__ == project["project"]["version"]
    assert realm.__version__ == importlib.metadata.version("realm")


def test_the_library_version_is_that_of_the_abi():
    assert re.fullmatch(r"\d+\.\d+\.\d+", realm.library_version)


def test_the_wheel_is_one_for_all_pythons_from_3_11():
    wheel = importlib.metadata.distribution("realm").read_text("WHEEL")
    assert re.search(r"^Tag: cp311-abi3-(manylinux_2_\d+|linux)_(x86_64|aarch64)$", wheel, re.M)
    assert (PACKAGE / "_realm.abi3.so").exists()
    assert not list(PACKAGE.glob("_realm.cpython*"))


def test_the_wheel_says_that_packed_relocations_need_glibc_2_36():
    wheel = importlib.metadata.distribution("realm").read_text("WHEEL")
    tag = re.search(r"manylinux_2_(\d+)_", wheel)
    packed = b"GLIBC_ABI_DT_RELR" in (PACKAGE / "librealm.so").read_bytes()
    assert tag is None or not packed or int(tag[1]) >= 36


def test_the_library_is_beside_the_module_and_found_there():
    assert (PACKAGE / "librealm.so").exists()
    done = run_python("import realm; print(open('/proc/self/maps').read())")
    mapped = {line.split()[-1] for line in done.stdout.splitlines() if "librealm" in line}
    assert mapped == {str(PACKAGE / "librealm.so")}


def test_only_the_stable_abi_is_used():
    """Every Python symbol that the module needs is in the stable ABI of 3.11."""
    found = subprocess.run(
        ["nm", "-D", "--undefined-only", PACKAGE / "_realm.abi3.so"],
        capture_output=True, text=True, check=True,
    )
    used = set(re.findall(r"\b(_?Py\w+)", found.stdout))
    assert "PyModuleDef_Init" in used
    assert {name for name in used if name.startswith("_Py")} <= {
        "_Py_Dealloc", "_Py_NoneStruct", "_Py_TrueStruct", "_Py_FalseStruct",
        "_Py_NotImplementedStruct", "_Py_BuildValue_SizeT", "_PyArg_ParseTuple_SizeT",
        "_PyArg_ParseTupleAndKeywords_SizeT", "_PyObject_CallFunction_SizeT",
        "_PyObject_CallMethod_SizeT",
    }


def test_the_module_exports_its_entry_alone():
    found = subprocess.run(
        ["nm", "-D", "--defined-only", PACKAGE / "_realm.abi3.so"],
        capture_output=True, text=True, check=True,
    )
    assert re.findall(r" T (\w+)", found.stdout) == ["PyInit__realm"]


def test_importing_is_quick_and_quiet():
    """What takes long to load comes when it is needed."""
    done = run_python("import sys, realm; print(*sys.modules)")
    assert (done.returncode, done.stderr) == (0, "")
    slow = {"asyncio", "concurrent.futures", "dataclasses", "difflib", "html", "importlib.metadata",
            "inspect", "logging", "numpy", "pyarrow", "tempfile"}
    assert not slow & set(done.stdout.split())


@pytest.mark.slow
@pytest.mark.parametrize("interpreter", ["/usr/bin/python3", sys.executable])
def test_other_interpreters_load_the_same_files(interpreter, tmp_path):
    """The system's Python, where it is new enough, imports what another one installed."""
    if not Path(interpreter).exists():
        pytest.skip("not installed")
    version = subprocess.run(
        [interpreter, "-c", "import sys; print(sys.version_info >= (3, 11))"],
        capture_output=True, text=True,
    )
    if version.stdout.strip() != "True":
        pytest.skip("too old")
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import realm\n"
        "class Dog(realm.Object):\n    name: str = realm.PrimaryKey()\n"
        "print(Dog(name='Rex'))"
    )
    done = subprocess.run(
        [interpreter, "-c", code, PACKAGE.parent], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "Dog(name='Rex')\n"), done.stderr


class TestTheProgram:
    """`pip install` brings the program `realm` along."""

    def test_it_is_a_command_and_needs_the_c_library_alone(self):
        assert os.access(PROGRAM, os.X_OK) and PROGRAM.read_bytes()[:4] == b"\x7fELF"
        needs = subprocess.run(["readelf", "-d", PROGRAM], capture_output=True, text=True, check=True).stdout
        needed = set(re.findall(r"NEEDED.*\[(.*?)\]", needs))
        assert needed <= {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
        assert set(re.findall(r"R(?:UN)?PATH.*\[(.*?)\]", needs)) <= {"$ORIGIN"}
        done = command(PROGRAM, "--version")
        assert (done.returncode, done.stdout) == (0, f"{realm.__version__}\n")

    @pytest.mark.parametrize("name", ["migrate", "salvage", "studio", "serve"])
    def test_python_finds_it_without_a_path(self, name):
        done = command(sys.executable, "-m", "realm", name, "--help")
        assert done.returncode == 0 and f"USAGE: realm {name}" in done.stdout, done

    @pytest.mark.parametrize("start", [[sys.executable, "-m", "realm"], [PROGRAM]])
    def test_it_recovers_a_damaged_file(self, damaged, tmp_path, start):
        assert realm.check_file(damaged)
        out = tmp_path / "out.realm"
        done = command(*start, "salvage", damaged, out)
        assert done.returncode == 1 and "Note" in done.stdout, done
        assert realm.check_file(out) == []
        with realm.open(out, Note) as r:
            assert sorted(r.objects(Note).values("text"))[1:] == ["0" * 20_000, "2" * 20_000]
        renamed = command(*start, "migrate", out, "--rename", "Note.text=words")
        assert renamed.returncode == 0, renamed
        assert "words: str" in command(sys.executable, "-m", "realm", "schema", out).stdout

    def test_a_copy_of_the_package_finds_it_beside_or_says_that_there_is_none(self, tmp_path):
        """As `pip install --target` lays it out."""
        shutil.copytree(PACKAGE, tmp_path / "realm")
        ask = [sys.executable, "-m", "realm", "studio", "--help"]
        done = command(*ask, cwd=tmp_path)
        assert done.returncode == 2 and "which this installation of the package came without" in done.stderr
        (tmp_path / "bin").mkdir()
        program = tmp_path / "bin" / "realm"
        program.write_text("#!/bin/sh\necho beside $1\n")
        assert command(*ask, cwd=tmp_path).returncode == 2
        program.chmod(0o755)
        assert command(*ask, cwd=tmp_path).stdout == "beside studio\n"

    def test_unknown_commands(self):
        done = command(sys.executable, "-m", "realm", "frob")
        assert done.returncode == 2 and done.stderr.startswith("realm: there is no command 'frob'; the commands are check,")
        assert "did you mean salvage?" in command(sys.executable, "-m", "realm", "savage").stderr
        done = command(PROGRAM, "frob")
        assert done.returncode == 64 and done.stderr.startswith("realm: there is no command 'frob'; the commands are schema,")
        assert command(PROGRAM, "help", "serve").returncode == 0


class TestTheWheel:
    def test_it_is_what_was_installed(self):
        [wheel] = WHEELS
        with zipfile.ZipFile(wheel) as files:
            names = [name for name in files.namelist() if name.endswith("/scripts/realm")]
            assert len(names) == 1 and files.read(names[0]) == PROGRAM.read_bytes()
            assert files.getinfo(names[0]).external_attr >> 16 & 0o111 == 0o111
        assert wheel.stat().st_size < 30_000_000

    def test_auditwheel_finds_it_clean(self):
        [wheel] = WHEELS
        tag = re.search(r"(manylinux_2_\d+_\w+)\.whl", wheel.name)
        assert tag is not None
        done = subprocess.run(
            [sys.executable, "-m", "auditwheel", "show", wheel], capture_output=True, text=True)
        words = " ".join(done.stdout.split())
        assert done.returncode == 0, done.stderr
        assert f'is consistent with the following platform tag: "{tag[1]}"' in words
        assert "external shared libraries" not in words


@pytest.mark.parametrize("told_by", ["the plan", "its mark"])
@pytest.mark.parametrize("place", ["here", "elsewhere"])
def test_what_was_built_before_a_checkout_was_copied_is_built_anew(tmp_path, place, told_by):
    """With a stand-in for the compiler, which takes minutes."""
    root = tmp_path / "checkout"
    built = root / ".build" / "x86_64-unknown-linux-gnu" / "release" / "ModuleCache"
    for folder in (root / ".ci", root / ".build" / "checkouts", built, tmp_path / "bin"):
        folder.mkdir(parents=True)
    shutil.copy(REPOSITORY / ".ci" / "swift-build", root / ".ci")
    swift = tmp_path / "bin" / "swift"
    swift.write_text("#!/bin/sh\necho built \"$@\"\n")
    swift.chmod(0o755)
    before = root if place == "here" else tmp_path / "original"
    planned = before
    if told_by == "its mark":
        # A build that failed there left a plan behind.
        (root / ".build" / "place").write_text(f"{before}\n")
        planned = root
    (root / ".build" / "release.yaml").write_text(f'  "PackageStructure": {{outputs: ["{planned}/.build/x86_64"]}}\n')
    done = subprocess.run(
        [root / ".ci" / "swift-build", "--product", "realm"], capture_output=True, text=True,
        env={**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"})
    assert done.returncode == 0 and done.stdout.startswith("built build -c release"), done
    assert built.exists() == (place == "here") and (root / ".build" / "checkouts").exists()
    assert (root / ".build" / "place").read_text() == f"{root}\n"
