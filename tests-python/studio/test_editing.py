"""Changing things in the page: values, links, collections, objects, schemas; undoing it; read-only; export."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

import realm
from studio.harness import Page
from studio.samples import CLASSES, Person, people


@pytest.fixture
def shown(run, file, page) -> Page:
    """The page with the first person's values beside the table."""
    page.open(run(file)).has_total("200 objects")
    page.wait(lambda: page.column(1)[0] == "Ada")
    page.click(".rows .row .cell")
    page.wait(lambda: page.text("#detail h3") == "Ada")
    return page


def person(file: Path, key: int = 1) -> dict:
    with realm.open(str(file), CLASSES, schema_version=1) as r:
        return json.loads(r.find(Person, key).to_json())


def change(page: Page, name: str, text: str, *keys: str) -> None:
    """Types another value for a property and saves it."""
    page.click(f"#detail [data-name={name}] .can")
    field = page.find(f"#detail [data-name={name}] .typed")
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys(text, *(keys or (Keys.ENTER,)))


def value(page: Page, name: str) -> str:
    return page.text(f"#detail [data-name={name}] dd")


def test_a_value_is_changed_undone_and_done_again(shown, file) -> None:
    assert not shown.find("#undo").is_enabled()
    change(shown, "name", "Grace <b>")
    shown.wait(lambda: shown.column(1)[0] == "Grace <b>")
    shown.wait(lambda: shown.text("#detail h3") == "Grace <b>")
    assert person(file)["name"] == "Grace <b>"
    shown.click("#undo")
    shown.wait(lambda: shown.column(1)[0] == "Ada")
    shown.wait(lambda: "Undone: name of Ada" in shown.text("#toasts"))
    shown.script("document.getElementById('grid').focus()")
    shown.find("#grid").send_keys(Keys.CONTROL, Keys.SHIFT, "z")
    shown.wait(lambda: shown.column(1)[0] == "Grace <b>")
    assert person(file)["name"] == "Grace <b>"


def test_each_kind_of_value_has_its_field(shown, file) -> None:
    change(shown, "age", "41")
    shown.wait(lambda: value(shown, "age") == "41")
    change(shown, "since", "2001-02-03 04:05:06")
    shown.wait(lambda: value(shown, "since") == "2001-02-03 04:05:06")
    shown.click("#detail [data-name=member] .can")
    Select(shown.find("#detail [data-name=member] select")).select_by_value("false")
    shown.click("#detail [data-name=member] button[type=submit]")
    shown.wait(lambda: value(shown, "member") == "false")
    shown.click("#detail [data-name=age] .can")
    shown.wait(lambda: [e for e in shown.all("#detail [data-name=age] button") if e.text == "null"])[0].click()
    shown.wait(lambda: value(shown, "age") == "null")
    stored = person(file)
    assert (stored["age"], stored["member"], stored["since"]) == (None, False, "2001-02-03T04:05:06Z")


def test_a_wrong_value_is_refused_where_it_stands(shown, file) -> None:
    change(shown, "age", "old")
    shown.wait(lambda: "old" in shown.text("#toasts .bad"))
    assert shown.find("#detail [data-name=age] .typed").get_attribute("value") == "old"
    shown.find("#detail [data-name=age] .typed").send_keys(Keys.ESCAPE)
    shown.wait(lambda: value(shown, "age") == "36")
    assert person(file)["age"] == 36


def test_what_is_being_typed_stays_when_an_older_answer_comes(shown, file) -> None:
    """A commit of somebody else has the object loaded again; meanwhile a field is opened."""
    shown.script("""const real = window.fetch;
        window.loaded = 0;
        window.fetch = async (address, ...rest) => {
          const answer = await real(address, ...rest);
          if (!String(address).endsWith("/object")) return answer;
          await new Promise((done) => setTimeout(done, 500));
          window.loaded++;
          return answer;
        };""")
    with realm.open(str(file), CLASSES, schema_version=1) as r, r.write():
        r.find(Person, 1).age = 50
    shown.wait(lambda: "50" in shown.column(2) or "50" in shown.column(3))
    shown.click("#detail [data-name=name] .can")
    field = shown.find("#detail [data-name=name] .typed")
    shown.wait(lambda: shown.script("return window.loaded") > 0)
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys("Mine", Keys.ENTER)
    shown.wait(lambda: value(shown, "name") == "Mine" and value(shown, "age") == "50")


def test_a_field_opened_while_another_is_being_saved_stays(shown, file) -> None:
    shown.script("""const real = window.fetch;
        window.fetch = async (...all) => {
          const answer = await real(...all);
          await new Promise((done) => setTimeout(done, 300));
          return answer;
        };""")
    change(shown, "name", "Grace")
    shown.click("#detail [data-name=age] .can")
    field = shown.find("#detail [data-name=age] .typed")
    shown.wait(lambda: shown.text("#detail h3") == "Grace" and value(shown, "name") == "Grace")
    assert shown.script("return document.activeElement === arguments[0]", field)
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys("44", Keys.ENTER)
    shown.wait(lambda: value(shown, "age") == "44")
    assert (person(file)["name"], person(file)["age"]) == ("Grace", 44)


def test_links_and_collections(shown, file) -> None:
    shown.click("#detail [data-name=town] button[title='Choose another']")
    shown.wait(lambda: len(shown.all("#detail .found button")) == 2)
    shown.find("#detail [data-name=town] .typed").send_keys("onerror")
    shown.wait(lambda: len(shown.all("#detail .found button")) == 1)
    shown.find("#detail [data-name=town] .typed").send_keys(Keys.ENTER)
    shown.wait(lambda: person(file)["town"] == "HT")
    shown.click("#detail [data-name=tags] .add button")
    shown.find("#detail [data-name=tags] .typed").send_keys("third", Keys.ENTER)
    shown.wait(lambda: "third" in value(shown, "tags"))
    shown.click("#detail [data-name=tags] .items li:first-child button[title=Remove]")
    shown.wait(lambda: "list of 2 elements" in value(shown, "tags"))
    shown.click("#detail [data-name=extra] .items > .add button")
    shown.find("#detail [data-name=extra] .add .typed").send_keys("key", Keys.ENTER)
    shown.wait(lambda: shown.all("#detail [data-name=extra] .add select"))
    Select(shown.find("#detail [data-name=extra] .add select")).select_by_value("int")
    shown.find("#detail [data-name=extra] .add .typed").send_keys("12", Keys.ENTER)
    shown.wait(lambda: "key\n12" in value(shown, "extra"))
    stored = person(file)
    assert (stored["town"], stored["tags"], stored["extra"]["key"]) == ("HT", ["b", "third"], 12)


class Place(realm.Object):
    id: int = realm.PrimaryKey()
    near: Place | None = None


def test_links_to_a_class_without_texts_are_found_by_the_key_alone(run, page, tmp_path) -> None:
    path = tmp_path / "places.realm"
    with realm.open(str(path), [Place]) as r, r.write():
        for number in (-7, 5):
            r.create(Place, id=number)
    page.open(run(path)).has_total("2 objects")
    page.wait(lambda: len(page.column(0)) == 2)
    page.click(".rows .row .cell")
    page.click("#detail [data-name=near] button[title='Choose another']")
    page.wait(lambda: len(page.all("#detail .found button")) == 2)
    # Enter does not take one of those that stand there from before.
    page.find("#detail .typed").send_keys("abc", Keys.ENTER)
    page.wait(lambda: page.text("#detail .found") == "There is none.")
    page.find("#detail .typed").send_keys(Keys.CONTROL, "a")
    page.find("#detail .typed").send_keys("-7", Keys.ENTER)
    page.wait(lambda: value(page, "near").startswith("-7"))
    with realm.open(str(path), [Place]) as r:
        assert [one.near and one.near.id for one in r.objects(Place)] in ([-7, None], [None, -7])


def test_objects_are_created_and_deleted(shown, file) -> None:
    shown.click("#new-object")
    area = shown.find("dialog textarea")
    made = {**json.loads(area.get_attribute("value")), "id": 999, "name": "New", "town": "PO"}
    shown.script("arguments[0].value = arguments[1]", area, json.dumps({**made, "nme": 1}))
    shown.click("dialog button[type=submit]")
    shown.wait(lambda: "nme" in shown.text("dialog .wrong[role=alert]"))
    shown.script("arguments[0].value = arguments[1]", area, json.dumps(made))
    shown.click("dialog button[type=submit]")
    shown.has_total("201 objects")
    shown.wait(lambda: shown.text("#detail h3") == "New")
    shown.click("#detail [title='Delete this object']")
    shown.has_total("200 objects")
    shown.wait(lambda: not shown.all("#detail")[0].is_displayed())
    shown.click("#undo")
    shown.has_total("201 objects")
    assert person(file, 999)["town"] == "PO"


def test_a_new_property_is_previewed_then_made(shown, file) -> None:
    shown.wait(lambda: [e for e in shown.all("#tools button") if e.text == "Property"])[0].click()
    assert shown.find("dialog").accessible_name == "New property of Person"
    shown.find("dialog input[type=text]").send_keys("height")
    shown.wait(lambda: "'Person.height' has been added" in shown.text("dialog .outcome"))
    assert "from schema version 1 to 2" in shown.text("dialog .outcome")
    with realm.open(str(file)) as r:
        assert r.schema_version == 1
    shown.click("dialog button.main")
    shown.wait(lambda: "height" in [e.text for e in shown.all("[role=columnheader] .label")] or shown.script(
        "return [...document.querySelectorAll('[role=columnheader] .label')].some((one) => one.textContent === 'height')"))
    with realm.open(str(file)) as r:
        assert r.schema_version == 2


def test_a_preview_that_comes_late_does_not_hide_a_newer_one(shown) -> None:
    shown.script("""const real = window.fetch;
        window.asked = 0;
        window.answered = 0;
        window.fetch = async (address, ...rest) => {
          if (!String(address).endsWith("/preview")) return real(address, ...rest);
          window.asked++;
          const isFirst = window.asked === 1;
          const answer = await real(address, ...rest);
          if (isFirst) await new Promise((done) => setTimeout(done, 1000));
          window.answered++;
          return answer;
        };""")
    shown.wait(lambda: [e for e in shown.all("#tools button") if e.text == "Property"])[0].click()
    box = shown.find("dialog input[type=text]")
    box.send_keys("h")
    box.send_keys("eight")
    shown.wait(lambda: shown.script("return window.asked === 6 && window.answered === 6"))
    assert "'Person.height' has been added" in shown.text("dialog .outcome")


def test_read_only_offers_no_change(run, file, page) -> None:
    page.open(run("--read-only", file)).has_total("200 objects")
    assert page.text("#readonly") == "read-only"
    page.click(".rows .row .cell")
    page.wait(lambda: page.text("#detail h3") == "Ada")
    assert not page.all("#detail .can") and not page.all("#new-object") and not page.all("#detail .add")
    assert not page.all("#undo")[0].is_displayed()


def test_what_is_shown_is_exported(shown, tmp_path) -> None:
    shown.browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    shown.query("age > 77 SORT(id DESC)")
    shown.has_total("4 objects")

    def saved(name: str) -> str:
        path = tmp_path / name
        return shown.wait(lambda: path.exists() and path.stat().st_size > 0 and path.read_bytes().decode())

    Select(shown.find("#tools select[aria-label=Export]")).select_by_value("json")
    assert [one["id"] for one in json.loads(saved("Person.json"))] == [159, 158, 79, 78]
    Select(shown.find("#tools select[aria-label=Export]")).select_by_value("csv")
    assert [row["id"] for row in csv.DictReader(saved("Person.csv").splitlines())] == ["159", "158", "79", "78"]


def test_pictures_are_drawn(shown) -> None:
    Select(shown.find("#strip-choice")).select_by_value("age")
    shown.wait(lambda: len(shown.all("#strip .column")) == 40)
    shown.script("document.querySelectorAll('#strip .column')[39].click()")
    shown.wait(lambda: "age >=" in shown.find("#query").get_attribute("value"))
    shown.has_total("4 objects")
    Select(shown.find("#strip-choice")).select_by_value("member")
    shown.wait(lambda: [e.text for e in shown.all("#strip .frequencies .name")] == ["false"])
    shown.click("#view-map")
    shown.wait(lambda: "Person" in shown.text(".figures") and shown.all(".strips i"))
    shown.click("#view-links")
    shown.wait(lambda: {e.text for e in shown.all(".graph .node .name")} == {"Part", "Person", "Town"})
    assert len(shown.all(".graph .edge")) == 2
    shown.wait(lambda: [e for e in shown.all(".graph .node .name") if e.text == "Town"])[0].click()
    shown.has_total("2 objects")


def test_a_click_on_a_value_asks_for_what_has_it(shown) -> None:
    """Within what the table shows, in its order; also for a text that is HTML."""
    def pick(name: str) -> None:
        shown.wait(lambda: next(e for e in shown.all("#strip .frequencies .pick") if e.text.split("\n")[0].startswith(name)).click() or True)

    shown.query("age > 70 OR id < 4 SORT(id DESC)")
    shown.has_total("21 objects")
    Select(shown.find("#strip-choice")).select_by_value("name")
    pick("<img")
    shown.has_total("1 object")
    assert shown.find("#query").get_attribute("value").startswith("(age > 70 OR id < 4) AND name == ")
    assert shown.find("#query").get_attribute("value").endswith(" SORT(id DESC)")
    shown.wait(lambda: shown.column(0) == ["2"])
    # Once more changes nothing.
    asked = shown.find("#query").get_attribute("value")
    pick("<img")
    assert shown.find("#query").get_attribute("value") == asked
    shown.query("")
    shown.has_total("200 objects")
    Select(shown.find("#strip-choice")).select_by_value("town")
    shown.wait(lambda: shown.text("#strip .title b") == "town")
    shown.wait(lambda: shown.find("#strip .frequencies .pick").send_keys(Keys.ENTER) or True)
    shown.has_total("1 object")
    shown.wait(lambda: shown.column(1) == ["Ada"])


def test_two_pages_of_two_studios_see_each_other(run, file, page, tmp_path) -> None:
    other = run(file)
    page.open(run(file)).has_total("200 objects")
    other.answer("edit", label="x", edits=[{
        "do": "set", "class": "Person", "key": "1", "path": ["name"], "value": {"type": "string", "text": "Elsewhere"}}])
    page.wait(lambda: page.column(1)[0] == "Elsewhere")


def test_a_click_falls_on_no_row_of_the_order_before(run, file, page) -> None:
    """When the head shows the new order, the rows of the old one are gone."""
    page.open(run(file)).has_total("200 objects")
    page.wait(lambda: page.column(0))
    page.script(
        "const table = document.querySelector('#grid');"
        "new MutationObserver(() => { table.seen ??= table.querySelectorAll('.rows .row:not([hidden]):not(.waiting)').length; })"
        ".observe(table.querySelector('.head'), { childList: true })")
    page.click("#column-1")
    page.wait(lambda: page.find("#column-1").get_attribute("aria-sort") == "ascending")
    assert page.script("return document.querySelector('#grid').seen") == 0
    page.wait(lambda: page.column(0))


def test_hostile_names_of_classes_and_properties_are_texts(run, page, tmp_path) -> None:
    """Names as no program would give them, in a file that the studio itself extended."""
    file = people(tmp_path / "people.realm")
    studio = run(file)
    name = "<img src=x onerror=alert(1)>"
    studio.answer("migrate", **{"class": name, "isNew": True, "property": {"name": "<b>\"'&", "type": "string"}})
    studio.answer("edit", label=name, edits=[{"class": name, "do": "create", "json": json.dumps({"<b>\"'&": "<i>x</i>"})}])
    page.open(studio).has_total("3 objects")
    page.choose(name)
    page.has_total("1 object")
    page.wait(lambda: page.column(0) == ["<i>x</i>"])
    assert page.text("#column-0 .label") == "<b>\"'&"
    page.click("#column-0")
    page.wait(lambda: page.find("#column-0").get_attribute("aria-sort") == "ascending")
    # A row whose values have not come yet opens nothing.
    page.wait(lambda: page.column(0) == ["<i>x</i>"])
    page.click(".rows .row .cell")
    page.wait(lambda: "<i>x</i>" in page.text("#detail dd"))
    page.click("#view-links")
    page.wait(lambda: page.all(".graph .node"))
    assert not page.all("img") and not page.all("#grid b, #grid i, #detail b, .graph img")
    page.click("#undo")
    page.wait(lambda: name in page.text("#toasts"))
