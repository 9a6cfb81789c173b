"""Every example of the documents runs and prints what it says."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import realm
from conftest import REPOSITORY


BINDING = REPOSITORY / "bindings/python"
PAGES = sorted((BINDING / "docs").glob("*.md"))
GUIDE = [BINDING / "README.md", *PAGES]


def run_documents(*files: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, REPOSITORY / "Tests/docs/run", "--only", "python,console",
         "--python", sys.executable, *files],
        capture_output=True, text=True,
    )  # fmt: skip


@pytest.mark.parametrize("page", GUIDE, ids=lambda page: page.stem)
def test_examples_and_links_of_the_guide(page):
    done = run_documents(page)
    assert done.returncode == 0, done.stdout + done.stderr
    fences = re.findall(r"^```(python continued|python|console)$", page.read_text(), re.M)
    # The links of the file count as one more.
    assert f"{len(fences) + 1} passed, 0 failed" in done.stdout


def test_every_code_block_of_the_guide_is_an_example_or_its_output():
    for page in GUIDE:
        opening = [fence for fence in re.findall(r"^```(.*)$", page.read_text(), re.M)][::2]
        assert set(opening) <= {"python", "python continued", "console", "text"}, page


def test_every_page_is_in_the_navigation_and_found_from_the_readme():
    named = re.findall(r"^  - .*: (\S+\.md)$", (BINDING / "mkdocs.yml").read_text(), re.M)
    assert sorted(named) == [page.name for page in PAGES]
    readme = (BINDING / "README.md").read_text()
    assert [page.name for page in PAGES if f"(docs/{page.name})" not in readme] == []


def test_the_site_of_the_guide_is_made_without_a_warning(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", tmp_path,
         "--config-file", BINDING / "mkdocs.yml"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    for page in PAGES:
        made = (tmp_path / page.with_suffix(".html").name).read_text()
        # Every fence has become a block.
        assert "```" not in made and made.count("<pre") >= page.read_text().count("\n```") / 2


def test_the_figures_of_the_guide_are_those_of_the_results():
    def figures(path: Path, heading: str) -> list[str]:
        part = path.read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0]
        return [line for line in part.splitlines() if line.startswith("|")]

    shown = figures(BINDING / "docs/performance.md", "Beside other packages")
    measured = figures(REPOSITORY / "Benchmarks/RESULTS.md", "The Python package beside its peers")
    # A heading, a rule and at least the rows that have a goal.
    assert len(shown) >= 2 + 8 and shown == measured


def test_dead_links_and_wrong_examples_are_found(tmp_path):
    (tmp_path / "other.md").write_text("# One Title, and `code`\n\n```python\n# No title\n```\n")
    page = tmp_path / "page.md"
    page.write_text(
        "# Top\n[a](other.md) [b](other.md#one-title-and-code) [c](#top) [d](https://x.org/y.md#z)\n"
    )
    assert "1 passed, 0 failed" in run_documents(page).stdout
    for link in ("others.md", "other.md#two", "other.md#no-title", "#bottom"):
        page.write_text(f"# Top\n[a]({link})\n")
        done = run_documents(page)
        assert done.returncode == 1 and "0 passed, 1 failed" in done.stdout, done.stdout
        assert link.partition("#")[2] in done.stdout
    for example, problem in (
        ("```python\nprint(1)\n```\n```text\n2\n```\n", "it printed\n1\n"),
        ("```console\n$ echo 1\n2\n```\n", "echo 1 printed\n1\n"),
        ("```console\n$ exit 3\n```\n", "exit status 3"),
        ("```console\necho 1\n```\n", "which is no command"),
    ):
        page.write_text(example)
        done = run_documents(page)
        assert "1 passed, 1 failed" in done.stdout and problem in done.stdout, done.stdout


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
