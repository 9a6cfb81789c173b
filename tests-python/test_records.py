"""The frozen classes that changes and plans are made of."""

from __future__ import annotations

import pickle

import pytest

import realm


def plan(**more):
    values = dict(path="a", old_version=1, new_version=2, differences=("x",), changes=True, refusal=None)
    return realm.MigrationPlan(**{**values, **more})


def test_they_are_values():
    assert plan() == plan() and plan() != plan(path="b") and plan() != ("a", 1, 2, ("x",), True, None)
    assert hash(plan()) == hash(plan()) and pickle.loads(pickle.dumps(plan())) == plan()
    assert realm.MigrationPlan("a", 1, 2, ("x",), True, None) == plan()
    assert repr(plan()).startswith("MigrationPlan(path='a', old_version=1, ")
    match plan():
        case realm.MigrationPlan(path, 1):
            assert path == "a"


def test_they_do_not_change():
    one = plan()
    for change in (lambda: setattr(one, "path", "b"), lambda: delattr(one, "path"),
                   lambda: setattr(one, "other", 1)):
        with pytest.raises(AttributeError, match="can't be changed"):
            change()
    assert not hasattr(one, "__dict__")


def test_their_values_are_given_once_and_wholly():
    with pytest.raises(TypeError, match="needs a value for refusal"):
        realm.MigrationPlan("a", 1, 2, (), True)
    with pytest.raises(TypeError, match="takes 6 values, not 7"):
        realm.MigrationPlan("a", 1, 2, (), True, None, 7)
    with pytest.raises(TypeError, match="has no other"):
        plan(other=1)
