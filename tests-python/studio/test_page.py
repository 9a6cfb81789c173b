"""The page in a browser: looking at classes, objects and queries, also of a million objects, and of hostile ones."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import axe_core_python
import pytest
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

import realm
from studio.harness import Page
from studio.samples import HOSTILE, Reading, people


@pytest.fixture
def shown(run, file, page) -> Page:
    """The page with 200 persons."""
    page.open(run(file)).has_total("200 objects")
    page.wait(lambda: page.column(0))
    return page


def test_classes_and_objects_are_shown(shown) -> None:
    shown.wait(lambda: [e.text for e in shown.all("#classes .name")] == ["Part", "Person", "Town"])
    assert shown.text("#classes [aria-current=true] .count") == "200"
    shown.wait(lambda: shown.column(0)[:3] == ["1", "2", "3"])
    assert shown.column(1)[0] == "Ada"
    assert shown.column(3)[0] == str(2**53 + 1)
    shown.choose("Town")
    shown.has_total("2 objects")
    shown.wait(lambda: shown.column(1) == ["Porto", HOSTILE])


def test_a_query_is_completed_and_answered(shown) -> None:
    box = shown.find("#query")
    box.send_keys("town.na")
    shown.wait(lambda: [e.text for e in shown.all("#completion li span:first-child")] == ["name"])
    box.send_keys(Keys.TAB, ' == "Porto" OR ag')
    shown.find("#completion li")
    box.send_keys(Keys.TAB, " > 77", Keys.ENTER)
    assert box.get_attribute("value") == 'town.name == "Porto" OR age > 77'
    shown.has_total("5 objects")
    shown.wait(lambda: shown.column(0) == ["1", "78", "79", "158", "159"])
    shown.click("#plan-button")
    assert "Person: 200 objects" in shown.text("#plan")
    assert "ms" in shown.text("#plan-button")


def test_a_mistake_is_marked_under_its_place(shown) -> None:
    shown.query('age > 3 AND nme == "x"')
    assert "nme" in shown.text("#problem")
    mark = shown.find("#problem .mark")
    assert mark.text == "^^^"
    # Under the word, within a character's width.
    where = shown.script("""
        const box = document.querySelector('#query'), style = getComputedStyle(box);
        const canvas = document.createElement('canvas').getContext('2d');
        canvas.font = `${style.fontSize} ${style.fontFamily}`;
        const width = canvas.measureText('m').width;
        const range = document.createRange();
        range.selectNodeContents(document.querySelector('#problem .mark'));
        const start = box.getBoundingClientRect().left + parseFloat(style.paddingLeft) + parseFloat(style.borderLeftWidth);
        return [range.getBoundingClientRect().left - start, 12 * width, width]""")
    assert abs(where[0] - where[1]) < where[2]
    assert shown.find("#query").get_attribute("aria-invalid") == "true"
    shown.query("age > 3")
    shown.wait(lambda: not shown.all("#problem")[0].is_displayed())


def test_columns_sort(shown) -> None:
    head = shown.find("#column-2")
    head.click()
    shown.wait(lambda: shown.find("#column-2").get_attribute("aria-sort") == "ascending")
    shown.wait(lambda: shown.column(2)[:2] == ["null", "0"])
    shown.click("#column-2")
    shown.wait(lambda: shown.column(2)[:2] == ["79", "79"])
    shown.click("#column-2")
    shown.wait(lambda: shown.column(0)[:2] == ["1", "2"])


def test_links_lead_on_and_values_unfold(shown) -> None:
    shown.click(".row .link")
    shown.wait(lambda: shown.text("#detail h3") == "Porto")
    shown.script("document.querySelector('.rows .row .cell').click()")
    shown.wait(lambda: shown.text("#detail h3") == "Ada")

    def field(name: str) -> str:
        return shown.text(f"#detail [data-name={name}] dd")

    assert field("big") == str(2**53 + 1)
    assert "wheel" in field("parts") and "embedded Part" in field("parts")
    shown.wait(lambda: "deep" in field("extra"))
    shown.click("#detail [data-name=extra] .items details summary")
    shown.wait(lambda: "dictionary of 1 element" in field("extra"))
    shown.click("#detail [data-name=extra] .items .items details summary")
    shown.wait(lambda: "yes" in field("extra"))
    shown.click("#detail [data-name=town] button")
    shown.wait(lambda: shown.text("#detail h3") == "Porto")
    shown.click("#detail .trail button")
    shown.wait(lambda: shown.text("#detail h3") == "Ada")


def test_texts_of_the_file_are_never_markup(shown) -> None:
    shown.wait(lambda: shown.column(1)[1] == HOSTILE)
    shown.script("document.querySelectorAll('.rows .row')[1].children[1].click()")
    shown.wait(lambda: HOSTILE in shown.text("#detail [data-name=name]"))
    assert HOSTILE in shown.text("#detail [data-name=extra]")
    shown.query(f"name == '{HOSTILE}' AND nme == 1")
    shown.wait(lambda: shown.text("#problem"))
    assert shown.script("return document.querySelectorAll('img, body script').length") == 0
    assert "owned" not in shown.browser.title


def test_the_name_of_the_file_is_never_markup(run, page, tmp_path) -> None:
    path = tmp_path / "<u>odd<u>.realm"
    people(path)
    page.open(run(path)).has_total("3 objects")
    assert page.find("#files button").text == "<u>odd<u>.realm"
    assert page.script("return document.querySelectorAll('header u').length") == 0


def test_the_keyboard_is_enough(shown) -> None:
    grid = shown.find("#grid")
    shown.find("#query").send_keys(Keys.ESCAPE)
    shown.script("document.getElementById('grid').focus()")
    grid.send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_RIGHT)
    shown.wait(lambda: shown.script(
        "const c = document.getElementById(arguments[0].getAttribute('aria-activedescendant'));"
        "return c.textContent", grid) == "Person 3")
    grid.send_keys(Keys.CONTROL, Keys.END)
    shown.wait(lambda: shown.column(0)[-1] == "200")
    grid.send_keys(Keys.ENTER)
    shown.wait(lambda: shown.text("#detail .where") == "Person #200")
    assert shown.script("return document.activeElement.tagName") == "H3"
    shown.browser.switch_to.active_element.send_keys(Keys.ESCAPE)
    shown.wait(lambda: shown.script("return document.activeElement.id") == "grid")
    grid.send_keys(Keys.CONTROL, Keys.HOME)
    grid.send_keys(Keys.ARROW_UP)
    grid.send_keys(Keys.ENTER)
    shown.wait(lambda: shown.find("#column-13").get_attribute("aria-sort") == "none")
    shown.script("document.activeElement.blur(); document.body.focus()")
    shown.find("body").send_keys("/")
    assert shown.script("return document.activeElement.id") == "query"


def test_a_screen_reader_is_told_what_is_where(shown) -> None:
    grid = shown.find("#grid")
    assert (grid.get_attribute("role"), grid.get_attribute("aria-rowcount")) == ("grid", "201")
    tree = shown.browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    roles = {node["role"]["value"] for node in tree if not node.get("ignored")}
    assert {"grid", "row", "gridcell", "columnheader", "combobox", "navigation", "main"} <= roles
    unnamed = [node for node in tree if not node.get("ignored") and node["role"]["value"] in ("button", "combobox", "textbox")
               and not node.get("name", {}).get("value")]
    assert unnamed == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(run, file, page, theme) -> None:
    """The rules of axe-core: contrast, names, roles, headings."""
    axe = (Path(axe_core_python.__file__).parent / "axe.min.js").read_text()
    page.browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": theme}]})
    found = {}

    def look(what: str) -> None:
        page.script(axe)
        # Of 2022, it does not know that lists of tabs may be navigation, and fields for queries comboboxes.
        done = page.browser.execute_async_script(
            "axe.run({rules: {'aria-allowed-role': {enabled: false}}}).then(arguments[0])")
        assert len(done["passes"]) > 15
        for broken in done["violations"]:
            found[what, broken["id"]] = [(n["target"], n["failureSummary"]) for n in broken["nodes"][:3]]

    page.open(run(file)).has_total("200 objects")
    look("table")
    page.wait(lambda: page.all(".rows .row")[0].click() or page.text("#detail .where") == "Person #1")
    look("object")
    page.query("nme == 1")
    page.wait(lambda: page.find("#problem").is_displayed())
    look("mistake")
    page.query("")
    page.has_total("200 objects")
    Select(page.find("#strip-choice")).select_by_value("age")
    page.wait(lambda: page.all("#strip .column"))
    look("histogram")
    for view in ("map", "links"):
        page.click(f"#view-{view}")
        page.wait(lambda: page.all("#other h2"))
        look(view)
    assert found == {}


def test_a_commit_of_another_process_appears(shown, file) -> None:
    program = """
import sys, realm
from studio.samples import CLASSES, Person
with realm.open(sys.argv[1], CLASSES, schema_version=1) as r, r.write():
    r.find(Person, 1).name = "Grace"
    r.create(Person, id=1000, name="New")
"""
    shown.click(".rows .cell")
    shown.wait(lambda: shown.text("#detail h3") == "Ada")
    before = shown.text("#version")
    subprocess.run([sys.executable, "-c", program, str(file)], check=True, cwd=Path(__file__).parent.parent)
    shown.has_total("201 objects")
    shown.wait(lambda: shown.column(1)[0] == "Grace")
    assert shown.all(".cell.changed")
    shown.wait(lambda: shown.text("#detail h3") == "Grace")
    assert shown.text("#version") != before


def test_an_encrypted_file_asks_for_its_key(run, page, tmp_path) -> None:
    key = bytes(range(64))
    studio = run(people(tmp_path / "secret.realm", key=key))
    page.open(studio)
    field = page.find("#key")
    assert field.get_attribute("type") == "password"
    field.send_keys("11" * 64, Keys.ENTER)
    page.wait(lambda: "not the key" in page.text("#gate .wrong"))
    page.find("#key").send_keys(key.hex(), Keys.ENTER)
    page.has_total("3 objects")
    kept = page.script(
        "return JSON.stringify([location.href, {...localStorage}, {...sessionStorage}, document.cookie, history.state,"
        " document.documentElement.outerHTML])")
    assert key.hex() not in kept
    assert page.script("return [...document.querySelectorAll('input')].some((one) => one.value.includes('0001020304'))") is False


def test_an_encrypted_file_takes_a_key_file(run, page, tmp_path) -> None:
    key = bytes(range(64))
    wrong, right = tmp_path / "short.key", tmp_path / "right.key"
    wrong.write_bytes(key[:-1])
    right.write_bytes(key)
    page.open(run(people(tmp_path / "secret.realm", key=key)))
    page.find("#key")
    page.all("#gate input[type=file]")[0].send_keys(str(wrong))
    page.wait(lambda: "63" in page.text("#gate .wrong"))
    page.all("#gate input[type=file]")[0].send_keys(str(right))
    page.has_total("3 objects")


def test_a_file_that_cannot_be_opened_says_why(run, page, tmp_path) -> None:
    path = tmp_path / "foreign.realm"
    path.write_text("no realm at all" * 1000)
    page.open(run(path))
    assert "foreign.realm" in page.text("#gate .card")
    assert page.text("#gate .wrong")


def test_several_files_and_several_pages(run, file, page, tmp_path) -> None:
    other = people(tmp_path / "other.realm", 7)
    studio = run(file, other)
    second = run(file)
    assert second.answer("schema")["classes"][1]["count"] == 200
    page.open(studio).has_total("200 objects")
    page.click("#files button:nth-child(2)")
    page.has_total("7 objects")
    page.click("#files button:nth-child(1)")
    page.has_total("200 objects")


@pytest.mark.parametrize("name", ["in all", "none", 'a "b" \\ c'])
def test_names_that_queries_cannot_have_bare_are_written_so_that_they_can(run, page, tmp_path, name) -> None:
    studio = run(people(tmp_path / "people.realm"))
    studio.answer("migrate", **{"class": "Odd", "isNew": True, "property": {"name": name, "type": "int"}})
    studio.answer("edit", label="Odd", edits=[
        {"class": "Odd", "do": "create", "json": json.dumps({name: value})} for value in [1, 3, 3, 5]])
    page.open(studio).choose("Odd")
    page.has_total("4 objects")
    Select(page.find("#strip-choice")).select_by_index(1)
    page.click("#strip .column[aria-label^='3: 2']")
    page.has_total("2 objects")
    page.query("")
    page.has_total("4 objects")
    page.find("#query").send_keys(name.split()[0][:2])
    page.wait(lambda: name in [e.text for e in page.all("#completion li span:first-child")])
    page.find("#query").send_keys(Keys.TAB, " == 5", Keys.ENTER)
    page.has_total("1 object")


def test_a_million_objects_scroll(run, page, tmp_path) -> None:
    path = tmp_path / "million.realm"
    count = 1_000_000
    with realm.open(str(path), Reading, schema_version=1) as r, r.write():
        r.insert_many(Reading, {"id": range(count), "name": ["x"] * count})
    page.open(run(path)).has_total("1,000,000 objects")
    page.wait(lambda: page.column(0)[:2] == ["0", "1"])
    grid = page.find("#grid")
    for part in [0.25, 0.9, 0.5]:
        page.script("const g = arguments[0]; g.scrollTop = (g.scrollHeight - g.clientHeight) * arguments[1]", grid, part)
        page.wait(lambda: abs(int(page.column(0)[0]) - count * part) < 100)  # noqa: B023
    # The first rows may come after those below them.
    page.wait(lambda: not page.all(".rows .row.waiting:not([hidden])"))
    rows = [int(text) for text in page.column(0)]
    assert rows == list(range(rows[0], rows[0] + len(rows)))
    # The wheel moves by rows, not by thousands.
    page.script("arguments[0].dispatchEvent(new WheelEvent('wheel', {deltaY: 93, cancelable: true, bubbles: true}))", grid)
    page.wait(lambda: 1 <= int(page.column(0)[0]) - rows[0] <= 4)
    page.script("arguments[0].focus()", grid)
    grid.send_keys(Keys.CONTROL, Keys.END)
    page.wait(lambda: page.column(0)[-1] == str(count - 1))
    # There are as many elements as are seen.
    assert page.script("return document.querySelectorAll('.row').length") < 60
    page.query("id < 10 OR id > 999990")
    page.has_total("19 objects")


def test_the_page_keeps_its_figures_while_scrolling(run, page, tmp_path) -> None:
    """Sixty steps through the table: no frame takes long, and nothing is fetched twice."""
    studio = run(people(tmp_path / "many.realm", 3000))
    page.open(studio).has_total("3,000 objects")
    page.wait(lambda: page.column(0))
    fetched = page.browser.execute_async_script("""
        const done = arguments[0], grid = document.getElementById('grid');
        const real = window.fetch, asked = [];
        window.fetch = (path, options) => {
          if (path === '/api/rows') asked.push(JSON.parse(options.body).from);
          return real(path, options);
        };
        let step = 0;
        const next = () => {
          grid.scrollTop += 300;
          if (++step < 60) requestAnimationFrame(next);
          else setTimeout(() => { window.fetch = real; done(asked); }, 500);
        };
        next();""")
    assert len(fetched) == len(set(fetched))
    assert len(fetched) <= 8
