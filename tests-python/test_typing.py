"""The annotations and stubs, as a type checker sees them."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def mypy(*arguments: str, module: str = "mypy") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", module, *arguments], cwd=HERE, capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return ["--strict", "--cache-dir", str(tmp_path_factory.mktemp("mypy"))]


def test_the_package_passes_strictly(cache):
    done = mypy(*cache, "-p", "realm")
    assert done.returncode == 0, done.stdout


def test_users_get_precise_types(cache):
    done = mypy(*cache, "typed_example.py")
    assert done.returncode == 0, done.stdout


def test_constructors_of_the_guide_are_accepted_as_they_are_written(cache, tmp_path):
    binding = HERE.parent / "bindings/python"
    for page in [binding / "README.md", *(binding / "docs").glob("*.md")]:
        for number, code in enumerate(re.findall(r"\n```python\n(.*?)```", page.read_text(), re.S)):
            (tmp_path / f"example_{page.stem.replace('-', '_')}_{number}.py").write_text(code)
    done = mypy(*cache[1:], *map(str, tmp_path.glob("example_*.py")))
    # What may be None is used without asking there.
    assert "Missing named argument" not in done.stdout, done.stdout
    assert "ObjectMeta" not in done.stdout, done.stdout


def test_mistakes_are_found(cache):
    done = mypy(*cache, "typed_mistakes.py")
    found = {int(n) for n in re.findall(r"^typed_mistakes.py:(\d+): error", done.stdout, re.M)}
    lines = (HERE / "typed_mistakes.py").read_text().splitlines()
    assert found == {n for n, line in enumerate(lines, 1) if line.endswith("# mistake")}, done.stdout


def test_the_stubs_fit_the_extension_module():
    done = mypy("realm._realm", "--ignore-disjoint-bases", module="mypy.stubtest")
    if "unrecognized arguments" in done.stderr:
        done = mypy("realm._realm", module="mypy.stubtest")
    assert done.returncode == 0, done.stdout + done.stderr


def test_pyright_agrees():
    program = shutil.which("basedpyright", path=str(Path(sys.executable).parent))
    assert program is not None
    done = subprocess.run(
        [program, "--pythonpath", sys.executable, "--level", "error", "typed_example.py",
         "typed_mistakes.py"], cwd=HERE, capture_output=True, text=True,
    )
    found = set(re.findall(r"(typed_\w+\.py):(\d+):\d+ - error", done.stdout))
    lines = (HERE / "typed_mistakes.py").read_text().splitlines()
    assert found == {("typed_mistakes.py", str(n)) for n, line in enumerate(lines, 1)
                     if line.endswith("# mistake")}, done.stdout
