"""Changes between two states, applied to a third one: they fit, or are refused, and never damage the file."""

from __future__ import annotations

import random
from typing import Any

import pytest

import realm


class Part(realm.EmbeddedObject):
    number: int = 0
    of: Node | None


class Node(realm.Object):
    key: int = realm.PrimaryKey()
    text: str = realm.Field(default="", indexed=True)
    link: Node | None
    any: Any = None
    links: list[Node]
    pack: set[Node]
    named: dict[str, Node | None]
    words: set[str]
    weights: dict[str, int]
    part: Part | None
    parts: list[Part]
    mixed: list[Any]


CLASSES = [Node, Part]


def change(r: realm.Realm, numbers: random.Random) -> None:
    """One random change of something."""
    nodes = list(r.objects(Node))
    node, other = numbers.choice(nodes), numbers.choice(nodes)
    word, number = numbers.choice("abcdefgh"), numbers.randrange(100)
    place = numbers.randrange(6)
    what = numbers.randrange(22)
    if what == 0 and len(nodes) > 3:
        r.delete(node)
    elif what == 1:
        key = numbers.randrange(12)
        if r.find(Node, key) is None:
            r.create(Node, key=key, link=node, links=[other], part=Part(number=1, of=other))
    elif what == 2:
        node.text = word
    elif what == 3:
        node.link = numbers.choice([other, None])
    elif what == 4:
        node.any = numbers.choice([other, number, word, {"k": [other, number]}, [1, [other]], None])
    elif what == 5:
        node.links.insert(place, other)
    elif what == 6 and node.links:
        del node.links[place % len(node.links)]
    elif what == 7 and len(node.links) > 1:
        node.links.insert(0, node.links.pop())
    elif what == 8:
        node.pack.add(other)
    elif what == 9:
        node.pack.discard(other)
    elif what == 10:
        node.named[word] = numbers.choice([other, None])
    elif what == 11:
        node.named.pop(word, None)
    elif what == 12:
        node.words.add(word)
    elif what == 13:
        node.words.discard(word)
    elif what == 14:
        node.weights[word] = number
    elif what == 15:
        node.weights.pop(word, None)
    elif what == 16:
        node.part = numbers.choice([None, Part(number=number, of=other)])
    elif what == 17:
        node.parts.insert(place, Part(number=number, of=other))
    elif what == 18 and node.parts:
        del node.parts[place % len(node.parts)]
    elif what == 19:
        node.mixed.insert(place, numbers.choice([other, number, [other, word], {"x": other}]))
    elif what == 20 and node.mixed:
        node.mixed[place % len(node.mixed)] = numbers.choice([other, {"y": [number]}, number])
    elif what == 21 and node.mixed:
        inner = node.mixed[place % len(node.mixed)]
        if isinstance(inner, realm.List):
            inner.append(other)


@pytest.mark.parametrize("seed", range(25))
def test_they_fit_or_are_refused(path, seed):
    numbers = random.Random(seed)
    fitted = 0
    with realm.open(path, classes=CLASSES) as r:
        with r.write():
            for key in range(6):
                r.create(Node, key=key)
        for _ in range(40):
            before = r.freeze()
            with r.write():
                for _ in range(numbers.randrange(1, 8)):
                    change(r, numbers)
            back = r.changes_to(before)
            before.close()
            with r.write():
                for _ in range(numbers.randrange(4)):
                    change(r, numbers)
            # Committed also where they are refused: nothing of them is there then.
            with r.write():
                now = [obj.to_json() for obj in r.objects(Node)]
                try:
                    r.apply(back)
                    fitted += 1
                except realm.ArgumentError as error:
                    assert "does not fit" in str(error)
                    assert [obj.to_json() for obj in r.objects(Node)] == now
            assert r.check() == []
    assert fitted > 0


def test_what_others_took_away_is_not_linked_to(path):
    with realm.open(path, classes=CLASSES) as r:
        with r.write():
            target = r.create(Node, key=1)
            node = r.create(Node, key=2, link=target, links=[target], pack={target}, named={"a": target},
                            any=target, weights={"b": 1}, words={"b"})
        linked = r.freeze()
        for clear in (lambda: setattr(node, "link", None), node.links.clear, node.pack.clear, node.named.clear,
                      lambda: setattr(node, "any", [])):
            with r.write():
                clear()
            back = r.changes_to(linked)
            with pytest.raises(realm.ArgumentError, match="a link to object .* does not fit"), r.write():
                r.delete(r.find(Node, 1))
                r.apply(back)
            with r.write():
                r.apply(back)
        linked.close()
        # Keys and elements that are not where they were.
        for name, field in (("weights", node.weights), ("words", node.words)):
            full = r.freeze()
            with r.write():
                field.clear()
            back = r.changes_to(full)
            full.close()
            with r.write():
                if name == "weights":
                    node.weights["a"] = 2
                else:
                    node.words.add("a")
            with pytest.raises(realm.ArgumentError, match="an element of a .* does not fit"), r.write():
                r.apply(back)
        assert r.check() == []
