"""Full-text indexes and TEXT."""

import pytest
import realm


class Note(realm.Object):
    number: int = realm.PrimaryKey()
    text: str | None = realm.FullText(default=None)
    memo: str = realm.FullText(unicode=True, indexed=True, default="")
    plain: str = ""
    before: "Note | None" = None


TEXTS = ["Storm near the reef", "Dépôt of coal", None, "", "stormy weather, no reef"]


@pytest.fixture
def notes(tmp_path):
    with realm.open(tmp_path / "notes.realm", classes=[Note]) as r:
        with r.write():
            last = None
            for number, text in enumerate(TEXTS):
                last = r.create(Note, number=number, text=text, before=last)
            last.memo = "海洋学 STRASSE"
        yield r.objects(Note)


def numbers(results):
    return [note.number for note in results]


def test_declarations_describe_the_index():
    its = realm.properties(Note)
    assert (its["text"].full_text, its["text"].indexed) == ("latin", False)
    assert (its["memo"].full_text, its["memo"].indexed) == ("unicode", True)
    assert its["plain"].full_text is None
    assert repr(its["text"]) == "<property Note.text: str | None, full text>"
    assert Note(number=7).memo == ""


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("storm", [0]),
        ("reef", [0, 4]),
        ("REEF sto*", [0, 4]),
        ("reef -near", [4]),
        ("depot", [1]),
        ("-storm*", [1, 2, 3]),
        ("whale", []),
    ],
)
def test_searches(notes, search, found):
    assert numbers(notes.filter("text TEXT $0", search)) == found
    assert numbers(notes.filter(f"text TEXT '{search}'")) == found
    assert len(notes.filter("NOT text TEXT $0", search)) == len(TEXTS) - len(found)


def test_typed_expressions(notes):
    assert numbers(notes.where(Note.text.has_words("reef") & (Note.number > 0))) == [4]
    assert numbers(notes.where(~Note.before.text.has_words("dépôt"))) == [0, 1, 3, 4]
    with pytest.raises(TypeError, match="has_words"):
        notes.where(Note.number.has_words("reef"))


def test_words_of_all_scripts(notes):
    assert numbers(notes.filter("memo TEXT '海'")) == [4]
    assert numbers(notes.filter("memo TEXT 'straße'")) == [4]
    assert numbers(notes.filter("memo == '海洋学 STRASSE'")) == [4]


def test_through_links_and_with_other_conditions(notes):
    assert numbers(notes.filter("before.text TEXT 'reef' OR number == 4")) == [1, 4]
    assert numbers(notes.filter("text TEXT 'reef' AND number > 0").sorted("-number")) == [4]


def test_results_follow_changes(notes):
    reefs = notes.filter("text TEXT 'reef'")
    with notes.realm.write():
        notes[0].text = "whale"
        assert numbers(reefs) == [4]
        notes[2].text = "REEF"
    assert numbers(reefs) == [2, 4]


def test_mistakes(notes):
    with pytest.raises(realm.IllegalOperationError, match=r"Note\.plain.*no full-text index"):
        notes.filter("plain TEXT 'storm'")
    with pytest.raises(realm.Error, match="o'brien") as caught:
        notes.filter("text TEXT $0", "o'brien")
    assert caught.value.code.name == "INVALID_ARGUMENT"
    for search in ["", None, "storm -storm"]:
        with pytest.raises(realm.Error) as caught:
            notes.filter("text TEXT $0", search)
        assert caught.value.code.name == "INVALID_ARGUMENT"
    with pytest.raises(realm.QueryError):
        notes.filter("text TEXT $0", 5)


def test_a_file_tells_of_its_indexes(tmp_path):
    path = tmp_path / "notes.realm"
    with realm.open(path, classes=[Note]) as r, r.write():
        r.create(Note, number=1, text="Storm")
    with realm.open(path) as r:
        its = realm.properties(r.classes["Note"])
        assert (its["text"].full_text, its["memo"].full_text) == ("latin", "unicode")
        assert len(r.objects("Note").filter("text TEXT 'storm'")) == 1


def test_indexes_are_added_to_objects_that_are_there(tmp_path):
    path = tmp_path / "notes.realm"

    def declare(field):
        namespace = {
            "__annotations__": {"number": "int", "text": "str"},
            "__module__": __name__,
            "number": realm.PrimaryKey(),
        }
        if field is not None:
            namespace["text"] = field
        return realm.Object.__class__("Memo", (realm.Object,), namespace)

    plain, indexed = declare(None), declare(realm.FullText())
    with realm.open(path, classes=[plain]) as r, r.write():
        for number in range(100):
            r.create(plain, number=number, text=f"word{number % 10}")
    with realm.open(path, classes=[indexed]) as r:
        assert len(r.objects(indexed).filter("text TEXT 'word3'")) == 10
        assert r.check() == []
    with realm.open(path, classes=[plain]) as r:
        with pytest.raises(realm.IllegalOperationError):
            r.objects(plain).filter("text TEXT 'word3'")
