"""Fixtures that all tests share."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest

import realm

sys.path.insert(0, str(Path(__file__).parent))
import campaigns  # noqa: E402
import models  # noqa: E402

REPOSITORY = Path(__file__).resolve().parent.parent

hypothesis.settings.register_profile(
    "default",
    deadline=None,
    print_blob=True,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.register_profile("long", parent=hypothesis.settings.get_profile("default"),
                                     max_examples=5000)
hypothesis.settings.load_profile(os.environ.get("REALM_HYPOTHESIS_PROFILE", "default"))


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Where a realm of this test may live."""
    return str(tmp_path / "test.realm")


@pytest.fixture
def r(path: str) -> Iterator[realm.Realm]:
    """An open realm with all classes of models.py."""
    with realm.open(path, classes=models.ALL) as opened:
        yield opened


@pytest.fixture
def airports(r: realm.Realm) -> realm.Realm:
    """The same with three countries and eight airports in it."""
    fill_airports(r)
    return r


def fill_airports(r: realm.Realm) -> None:
    with r.write():
        peru = r.create(models.Country, code="PE", name="Peru")
        portugal = r.create(models.Country, code="PT", name="Portugal")
        r.create(models.Country, code="XX", name="Nowhere")
        rows = [
            ("SPZO", "Cusco", "Cusco", 3310, -13.5, peru),
            ("SPJL", "Inca Manco Capac", "Juliaca", 3826, -15.5, peru),
            ("SPJC", "Jorge Chavez", "Lima", 34, -12.0, peru),
            ("LPPT", "Humberto Delgado", "Lisbon", 114, 38.8, portugal),
            ("LPPR", "Francisco Sa Carneiro", "Porto", 69, 41.2, portugal),
            ("LPFR", "Faro", "Faro", 7, 37.0, portugal),
            ("ZZZ1", "Nameless", None, None, 0.0, None),
            ("ZZZ2", "Nameless", None, -5, 0.0, None),
        ]
        for icao, name, city, elevation, latitude, country in rows:
            r.create(models.Airport, icao=icao, name=name, city=city, elevation=elevation,
                     latitude=latitude, country=country)


@pytest.fixture(scope="session")
def compile_c(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Compiles a C program of tests-python/c against realm.h and the library in the package."""
    directory = tmp_path_factory.mktemp("c")
    library = Path(realm.__file__).parent

    def build(name: str) -> Path:
        program = directory / name
        if not program.exists():
            source = Path(__file__).parent / "c" / f"{name}.c"
            subprocess.run(
                ["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{REPOSITORY}/include",
                 str(source), "-o", str(program), f"-L{library}", "-lrealm",
                 f"-Wl,-rpath,{library}"],
                check=True,
            )
        return program

    return build


def run_python(code: str, *arguments: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    """Runs code in a fresh interpreter that can import models."""
    environment = dict(os.environ, PYTHONPATH=str(Path(__file__).parent))
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True, text=True, timeout=timeout, env=environment,
    )


def keep_what_is_there() -> None:
    """To the end: looking through all of it after each test, as `collected` does, took two thirds of the time of the
    tests."""
    gc.collect()
    gc.freeze()


def pytest_collection_finish() -> None:
    keep_what_is_there()


@pytest.fixture(autouse=True, scope="module")
def kept() -> Iterator[None]:
    """What tests of a file imported stays, too."""
    yield
    keep_what_is_there()


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    """Garbage of one test must not be released in the middle of another."""
    yield
    gc.collect()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for line in campaigns.done:
        terminalreporter.write_line(line)
