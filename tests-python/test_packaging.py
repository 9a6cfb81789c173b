"""What pip installs."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import realm
from conftest import REPOSITORY, run_python

PACKAGE = Path(realm.__file__).parent


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
