"""What the Python column of docs/SWIFT_CLASS_PAGES.md names is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import realm

PAGE = Path(__file__).resolve().parent.parent / "docs" / "SWIFT_CLASS_PAGES.md"
OWNERS = {"r": realm.Realm, "realm": realm, "results": realm.Results, "obj": realm.Object,
          "dog": realm.Object}
NAME = re.compile(r"\b(r|realm|results|obj|dog)\.(\w+)")


def named() -> set[tuple[str, str]]:
    """What is named, with what it belongs to."""
    found: set[tuple[str, str]] = set()
    for line in PAGE.read_text().splitlines():
        cells = re.split(r"(?<!\\)\|", line)
        if len(cells) == 6 and cells[3].strip() not in ("Python", "---"):
            for code in re.findall(r"`([^`]*)`", cells[3]):
                found.update(NAME.findall(code))
    # Properties of an example.
    return found - {("obj", "list"), ("obj", "map")}


def test_the_page_is_read() -> None:
    assert ("r", "add") in named() and ("realm", "realm_of") in named()
    assert len(named()) > 40


@pytest.mark.parametrize("owner,name", sorted(named()))
def test_names_of_the_pages(owner: str, name: str) -> None:
    # What all objects have is asked of modules and classes, not of instances: no realm is needed.
    assert hasattr(OWNERS[owner], name), f"{owner}.{name}"
