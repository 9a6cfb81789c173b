"""The table of exceptions against the header of the C ABI."""

from __future__ import annotations

import builtins
import pickle
import re

import pytest

import realm
from conftest import REPOSITORY
from realm import _errors

HEADER = (REPOSITORY / "include/realm.h").read_text()
CODES = {name: int(code) for name, code in re.findall(r"RLM_ERR_(\w+) = (\d+)", HEADER)}


def test_codes_agree_with_the_header():
    assert len(CODES) > 100
    for code in realm.ErrorCode:
        assert CODES[code.name] == code.value


def test_every_code_of_a_local_database_is_known():
    """The codes below the ranges of synchronisation and services, but for those of sync itself."""
    sync = re.compile(r"SYNC|SUBSCRIPTION|TLS|CONNECTION|CHANGESET|CLIENT_RESET|BROKEN_PROMISE"
                      r"|BAD_SERVER_URL|^NONE$|^CAT_")
    for name, code in CODES.items():
        if code < 4000 and not sync.search(name):
            assert name in realm.ErrorCode.__members__, name


@pytest.mark.parametrize("code", list(realm.ErrorCode), ids=lambda c: c.name)
def test_every_code_makes_an_exception(code):
    error = _errors.make_error(code, "a message", "/some/path")
    assert isinstance(error, realm.Error)
    assert (error.code, str(error), error.path) == (code, "a message", "/some/path")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.code, str(again)) == (type(error), code, "a message")


def test_unknown_codes_make_one_too():
    error = _errors.make_error(999, "odd", None)
    assert (error.code, str(error)) == (realm.ErrorCode.UNKNOWN, "odd (engine code 999)")


def test_every_exception_is_a_builtin_one_as_well():
    for name, cls in vars(_errors).items():
        if isinstance(cls, type) and issubclass(cls, realm.Error) and cls is not realm.Error:
            assert name.endswith("Error")
            builtin = [c for c in cls.__mro__ if getattr(builtins, c.__name__, None) is c]
            assert builtin[0] is not Exception, name


def test_file_errors_name_the_file_and_the_reason():
    error = _errors.make_error(realm.ErrorCode.FILE_NOT_FOUND, "gone", "/x/y")
    assert isinstance(error, FileNotFoundError)
    assert (error.filename, error.errno, error.strerror) == ("/x/y", 2, "gone")
