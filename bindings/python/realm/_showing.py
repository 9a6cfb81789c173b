"""Values in one short line, for the `repr` of objects and collections."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, cast

from . import _realm

if TYPE_CHECKING:
    from ._model import Object


def _collection(value: Any, depth: int) -> str:
    brackets = "[]" if isinstance(value, (list, _realm.List)) else "{}"
    if depth > 2 and value:
        return f"{brackets[0]}...{brackets[1]}"
    if isinstance(value, (dict, _realm.Dictionary)):
        pairs = cast("dict[str, Any]", value).items()
        texts = [f"{k!r}: {short(v, depth + 1)}" for k, v in itertools.islice(pairs, 4)]
    else:
        # Objects in it may contain it in turn.
        texts = [short(item, depth + 1) for item in itertools.islice(value, 4)]
    return brackets[0] + ", ".join(texts + ["..."] * (len(value) > 4)) + brackets[1]


def short(value: Any, depth: int = 0) -> str:
    """The value as text of some 40 characters; collections show four elements, to a depth of three."""
    if isinstance(value, _realm.Object):
        return _reference(cast("Object", value))
    if isinstance(value, (list, set, dict, _realm.List, _realm.Set, _realm.Dictionary)):
        return _collection(value, depth)
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _reference(value: Object) -> str:
    """An object in one word: its class and key. Links may form cycles, so it stops here."""
    name = type(value).__name__
    key = type(value).__realm_model__.primary_key
    if key is not None:
        return f"{name}({getattr(value, key.name)!r})"
    return f"{name}(...)" if value._realm_key is None else f"{name}(#{value._realm_key})"


# ---- for notebooks ---------------------------------------------------------------------------

#: Rows and columns of a table; the rest is counted.
_ROWS, _COLUMNS = 10, 12


def _escaped(text: str) -> str:
    # Its table of names takes long to load.
    import html

    return html.escape(text)


def _cell(value: Any) -> str:
    return _escaped(value if isinstance(value, str) and len(value) <= 60 else short(value))


def _table(head: list[str], rows: list[list[str]], caption: str) -> str:
    lines = ["<table>", f"<caption>{_escaped(caption)}</caption>"]
    if head:
        cells = "".join(f"<th>{_escaped(name)}</th>" for name in head)
        lines.append(f"<thead><tr>{cells}</tr></thead>")
    lines.append("<tbody>")
    lines += ["<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows]
    return "\n".join([*lines, "</tbody>", "</table>"])


def html_of_results(results: Any) -> str:
    """The first objects or values as a table."""
    if results.realm.is_closed:
        return f"<p>{_escaped(repr(results))}</p>"
    count = len(results)
    shown = [results[i] for i in range(min(count, _ROWS))]
    more = f", of which {_ROWS} are shown" if count > _ROWS else ""
    cls = results.element_class
    if cls is None:
        rows = [[_cell(value)] for value in shown]
        return _table([], rows, f"{count} values of {results._name}{more}")
    names = [prop.name for prop in cls.__realm_model__.properties]
    head = names[:_COLUMNS] + ["..."] * (len(names) > _COLUMNS)
    rows = [
        [_cell(getattr(obj, name)) for name in names[:_COLUMNS]] + [""] * (len(names) > _COLUMNS)
        for obj in shown
    ]
    return _table(head, rows, f"{count} objects of {results._name}{more}")


def html_of_collection(collection: Any, state: str | None) -> str:
    """The first elements as a table, of a dictionary with their keys; `state`: why there are none to be shown."""
    if state is not None:
        return f"<p>{_escaped(repr(collection))}</p>"
    count = len(collection)
    more = f", of which {_ROWS} are shown" if count > _ROWS else ""
    caption = f"{count} values of {collection._path}{more}"
    if isinstance(collection, _realm.Dictionary):
        pairs = cast("dict[str, Any]", collection).items()
        rows = [[_cell(key), _cell(value)] for key, value in itertools.islice(pairs, _ROWS)]
        return _table(["key", "value"], rows, caption)
    if collection._property.type == "link":
        return html_of_results(collection.results())
    return _table([], [[_cell(value)] for value in itertools.islice(collection, _ROWS)], caption)


def html_of_object(obj: Any) -> str:
    """The properties and their values as a table."""
    if not obj._realm_valid:
        return f"<p>{_escaped(repr(obj))}</p>"
    pairs = [
        [_escaped(prop.name), _cell(getattr(obj, prop.name))]
        for prop in type(obj).__realm_model__.properties
    ]
    return _table([], pairs, type(obj).__name__)


def html_of_realm(realm: Any) -> str:
    """The classes and how many objects they have, as a table."""
    if realm.is_closed:
        return f"<p>{_escaped(repr(realm))}</p>"
    rows = [[_escaped(name), str(len(realm.objects(name)))] for name in realm.classes]
    return _table(["class", "objects"], rows, repr(realm))
