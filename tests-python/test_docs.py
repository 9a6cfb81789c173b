"""Every example of the documents runs and prints what it says."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import realm
from conftest import REPOSITORY


def test_the_examples_of_the_readme():
    done = subprocess.run(
        [sys.executable, REPOSITORY / "Tests/docs/run", "--only", "python",
         "--python", sys.executable, REPOSITORY / "bindings/python/README.md"],
        capture_output=True, text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    examples = (REPOSITORY / "bindings/python/README.md").read_text().count("\n```python\n")
    # The links of the file count as one more.
    assert f"{examples + 1} passed, 0 failed" in done.stdout


def test_the_example_of_the_package(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code = realm.__doc__.split("\n\n", 1)[1]
    exec(compile(textwrap.dedent(code), "realm.__doc__", "exec"), {"__name__": "example"})
    assert capsys.readouterr().out == "Rex\n"


def test_everything_public_is_documented():
    for name in realm.__all__:
        value = getattr(realm, name)
        if name not in ("Float32", "library_version"):
            assert value.__doc__, name
    for cls in (realm.Realm, realm.Results, realm.Property):
        for name in dir(cls):
            if not name.startswith("_"):
                assert getattr(cls, name).__doc__, f"{cls.__name__}.{name}"


def test_everything_public_is_exported():
    exceptions = {
        name for name, value in vars(realm._errors).items()
        if isinstance(value, type) and issubclass(value, realm.Error)
    }
    assert exceptions <= set(realm.__all__)
    assert Path(realm.__file__).with_name("py.typed").exists()
