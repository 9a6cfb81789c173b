"""Fixtures of the studio's tests. One browser serves all of them; each has a studio of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from selenium import webdriver

from studio.harness import Page, Studio, start_browser
from studio.samples import people


@pytest.fixture
def run() -> Iterator[Callable[..., Studio]]:
    """Starts studios; they end with the test, and well."""
    started: list[Studio] = []

    def start(*arguments: object) -> Studio:
        started.append(Studio(*arguments))
        return started[-1]

    yield start
    for studio in started:
        assert studio.close() == 0


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return people(tmp_path / "people.realm", 200)


@pytest.fixture(scope="session")
def browser() -> Iterator[webdriver.Chrome]:
    started = start_browser()
    yield started
    started.quit()


@pytest.fixture
def page(browser: webdriver.Chrome) -> Iterator[Page]:
    """The page; whatever a test does, the browser has nothing to complain of."""
    shown = Page(browser)
    yield shown
    problems = shown.problems()
    browser.get("about:blank")
    assert problems == []
