"""The studio as a process, requests to it, and a browser that shows its page."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

REPOSITORY = Path(__file__).resolve().parent.parent.parent
TOOL = Path(os.environ.get("REALM_TOOL", REPOSITORY / "build" / "bin" / "realm"))


class Studio:
    """A running `realm studio`."""

    def __init__(self, *arguments: object) -> None:
        self.process = subprocess.Popen(
            [str(TOOL), "studio", "--no-browser", *map(str, arguments)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.search(r"(http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{64}))$", line.strip())
        if found is None:
            raise AssertionError(f"{line!r}, {self.process.communicate()[1]!r}")
        self.address, self.port, self.token = found[1], int(found[2]), found[3]

    def request(self, method: str, path: str, body: bytes | None = None,
                headers: dict[str, str | None] | None = None) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of an answer; a header that is None is not sent."""
        sent: dict[str, str | None] = {"Host": f"127.0.0.1:{self.port}", **(headers or {})}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in sent.items():
                if value is not None:
                    connection.putheader(name, value)
            if body is not None and "Content-Length" not in sent:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    def ask(self, name: str, body: Any = None, **headers: str | None) -> tuple[int, Any]:
        """The answer to a request as the page makes it."""
        sent: dict[str, str | None] = {"Content-Type": "application/json", "X-Realm-Token": self.token}
        sent.update({key.replace("_", "-"): value for key, value in headers.items()})
        status, _, content = self.request(
            "POST", f"/api/{name}", json.dumps({"file": 0, **(body or {})}).encode(), sent)
        return status, json.loads(content)

    def answer(self, name: str, **body: Any) -> Any:
        """The same, of a request that must work."""
        status, answer = self.ask(name, body)
        assert status == 200, answer
        return answer

    def close(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=30)
        return self.process.returncode


def start_browser() -> webdriver.Chrome:
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    # Tests of containers are run by root, for whom Chromium has no sandbox.
    for argument in ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--disable-extensions", "--disable-background-networking", "--no-first-run"]:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))
    size = {"width": 1440, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    return browser


class Page:
    """The studio's page in the browser."""

    def __init__(self, browser: webdriver.Chrome) -> None:
        self.browser = browser

    def open(self, studio: Studio) -> Page:
        self.browser.get_log("browser")
        self.browser.get(studio.address)
        return self

    def wait(self, condition: Callable[[], Any], seconds: float = 30) -> Any:
        """What the condition gives once that is true; elements that are drawn anew meanwhile count as not yet."""
        end = time.monotonic() + seconds
        last: Any = None
        while time.monotonic() < end:
            try:
                last = condition()
                if last:
                    return last
            except Exception as error:  # noqa: BLE001
                last = error
            time.sleep(0.02)
        raise AssertionError(f"it did not happen in {seconds} s; last: {last!r}")

    def find(self, selector: str) -> WebElement:
        return self.wait(lambda: next(e for e in self.all(selector) if e.is_displayed()))

    def click(self, selector: str) -> None:
        """What is drawn anew between being found and being clicked is found again."""
        self.wait(lambda: self.find(selector).click() or True)

    def all(self, selector: str) -> list[WebElement]:
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector: str) -> str:
        return self.wait(lambda: (self.find(selector).text,))[0]

    def script(self, text: str, *arguments: Any) -> Any:
        return self.browser.execute_script(text, *arguments)

    def choose(self, name: str) -> None:
        """A class, by its name."""
        self.wait(lambda: [e for e in self.all("#classes .name") if e.text == name][0].click() or True)
        self.wait(lambda: self.text("#classes [aria-current=true] .name") == name)

    def query(self, text: str) -> None:
        box = self.find("#query")
        box.send_keys(Keys.CONTROL, "a")
        box.send_keys(text or Keys.DELETE)
        box.send_keys(Keys.ENTER)

    def column(self, index: int) -> list[str]:
        """The texts of a column in the rows that are seen, as far as they have come."""
        return self.script(
            "return [...document.querySelectorAll('.rows .row:not([hidden]):not(.waiting)')]"
            ".map((row) => row.children[arguments[0]].textContent)", index)

    def has_total(self, text: str) -> None:
        self.wait(lambda: self.text("#total") == text)

    def problems(self) -> list[str]:
        """What the browser complained of, but for the status of answers."""
        return [entry["message"] for entry in self.browser.get_log("browser")
                if "Failed to load resource" not in entry["message"]]


def edit(studio: Studio, *edits: dict[str, Any], status: int = 200) -> Any:
    given, answer = studio.ask("edit", {"label": "a change", "edits": list(edits)})
    assert given == status, answer
    return answer


def on(key: int, *path: object, **rest: Any) -> dict[str, Any]:
    return {"class": "Person", "key": str(key), "path": list(path), **rest}
