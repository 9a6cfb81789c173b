"""Makes the studio's pictures in docs/pictures anew, with the page as it is: the airports of the demo in headless Chromium.

    cd tests-python && ../build/venv/bin/python -m studio.pictures [FOLDER]
"""

from __future__ import annotations

import base64
import sys
import tempfile
from collections import defaultdict
from math import cos, hypot, radians
from pathlib import Path

import airportsdata
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

import realm
from studio.harness import REPOSITORY, Page, Studio, start_browser

sys.path.insert(0, str(REPOSITORY / "Examples" / "airports"))
from export import country_name  # noqa: E402

SIZE = {"width": 1360, "height": 850, "deviceScaleFactor": 1, "mobile": False}
NEIGHBOURS = 3
# Neighbours are looked for among as many airports of a region.
REGION_MAX = 1000


class Position(realm.EmbeddedObject):
    latitude: float
    longitude: float


class Country(realm.Object):
    code: str = realm.PrimaryKey()
    name: str = realm.Indexed()


class Airport(realm.Object):
    icao: str = realm.PrimaryKey()
    iata: str | None = realm.Indexed()
    name: str
    city: str
    elevation: float
    timezone: str
    position: Position | None
    country: Country | None
    neighbours: list[Airport] = []


def write(path: Path) -> None:
    regions: dict[tuple[str, str], list[Airport]] = defaultdict(list)
    with realm.open(str(path), [Position, Country, Airport], schema_version=1) as r, r.write():
        countries: dict[str, Country] = {}
        for icao, found in sorted(airportsdata.load("ICAO").items()):
            code = found["country"]
            if code not in countries:
                countries[code] = r.create(Country, code=code, name=country_name(code))
            airport = r.create(
                Airport, icao=icao, iata=found["iata"] or None, name=found["name"], city=found["city"], elevation=found["elevation"],
                timezone=found["tz"], position={"latitude": found["lat"], "longitude": found["lon"]}, country=countries[code])
            regions[code, found["subd"]].append((airport, found["lat"], found["lon"] * cos(radians(found["lat"]))))
        for region in regions.values():
            if len(region) > REGION_MAX:
                continue
            for airport, y, x in region:
                near = sorted(((hypot(a - y, b - x), n) for n, (_, a, b) in enumerate(region)))[1:NEIGHBOURS + 1]
                airport.neighbours = [region[n][0] for _, n in near]


def main(folder: Path) -> None:
    browser = start_browser()
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", SIZE)
    browser.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
    page = Page(browser)

    def take(name: str) -> None:
        browser.execute_async_script("document.fonts.ready.then(() => setTimeout(arguments[0], 400))")
        picture = browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})["data"]
        (folder / f"{name}.png").write_bytes(base64.b64decode(picture))

    with tempfile.TemporaryDirectory() as temporary:
        file = Path(temporary) / "world.realm"
        write(file)
        studio = Studio(file)
        try:
            page.open(studio)
            page.choose("Airport")
            page.query('elevation > 5000 AND country.name == "Peru"')
            page.wait(lambda: "SPHO" in page.column(0))
            page.click("#plan-button")
            row = page.column(0).index("SPHO")
            page.script("document.querySelectorAll('.rows .row:not([hidden])')[arguments[0]].children[2].click()", row)
            page.wait(lambda: page.text("#detail .where").startswith("Airport #"))
            page.wait(lambda: page.all("#detail [data-name=neighbours] .items .link, #detail [data-name=neighbours] .items button"))
            take("studio")

            page.click("#plan-button")
            page.query("")
            page.wait(lambda: page.column(0) and page.column(0)[0] == "00AA")
            Select(page.find("#strip-choice")).select_by_value("elevation")
            page.wait(lambda: page.all("#strip .column"))
            page.script("document.querySelectorAll('.rows .row:not([hidden])')[3].children[1].click()")
            page.wait(lambda: "Airport #3" in page.text("#detail .where"))
            page.click("#detail [data-name=city] .value")
            page.wait(lambda: page.all("#detail textarea, #detail .editing input"))
            take("studio-edit")
            page.browser.switch_to.active_element.send_keys(Keys.ESCAPE)
            page.click("#detail [aria-label=Close]")
            page.wait(lambda: not page.all("#detail")[0].is_displayed())

            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]})
            page.click("#view-map")
            page.wait(lambda: page.all(".figures tbody tr"))
            take("studio-map")
        finally:
            studio.close()
            browser.quit()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else REPOSITORY / "docs" / "pictures")
