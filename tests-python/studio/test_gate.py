"""Who may ask the studio, and what it refuses: with requests as other pages and programs would make them."""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from studio.harness import TOOL, Studio
from studio.samples import people


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """One for all tests here: nothing that is refused may leave it in another state."""
    started = Studio(people(tmp_path_factory.mktemp("gate") / "people.realm"))
    yield started
    assert started.close() == 0


def test_the_page_is_given_for_its_token_alone(studio) -> None:
    assert studio.request("GET", f"/?token={studio.token}")[0] == 200
    for path in ["/", "/?token=", "/?token=" + "0" * 64, f"/?token={studio.token[:-1]}", f"/?Token={studio.token}"]:
        status, _, body = studio.request("GET", path)
        assert status == 403 and b"token" in body and b"<html" not in body


@pytest.mark.parametrize("host", [None, "", "evil.example", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.evil.example:{port}",
                                  "[::1]:{port}", "0.0.0.0:{port}", "evil.example:{port}"])
def test_another_host_is_refused(studio, host) -> None:
    host = host and host.format(port=studio.port)
    assert studio.request("GET", f"/?token={studio.token}", headers={"Host": host})[0] == 421
    assert studio.ask("files", Host=host)[0] == 421


@pytest.mark.parametrize("headers", [
    {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": "http://127.0.0.1:1"}, {"Origin": "https://127.0.0.1:{port}"},
    {"Origin": "http://localhost:{port}"}, {"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"},
])
def test_another_origin_is_refused_though_it_knows_the_token(studio, headers) -> None:
    sent = {name: value.format(port=studio.port) for name, value in headers.items()}
    status, answer = studio.ask("files", **sent)
    assert status == 403 and "own page" in answer["error"]


def test_the_own_origin_is_not(studio) -> None:
    own = f"127.0.0.1:{studio.port}"
    assert studio.ask("files", Origin=f"http://{own}", Sec_Fetch_Site="same-origin")[0] == 200
    local = f"localhost:{studio.port}"
    assert studio.ask("files", Host=local, Origin=f"http://{local}")[0] == 200


def test_data_needs_the_token_in_a_header(studio) -> None:
    for token in [None, "", "0" * 64, studio.token + "0"]:
        assert studio.ask("schema", X_Realm_Token=token)[0] == 403
    # In the address it is for the page alone.
    status = studio.request("POST", f"/api/schema?token={studio.token}", b'{"file":0}', {"Content-Type": "application/json"})[0]
    assert status == 403


def test_data_is_no_form_and_no_link(studio) -> None:
    token = {"X-Realm-Token": studio.token}
    assert studio.request("GET", "/api/schema", headers=token)[0] == 405
    for kind in [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]:
        assert studio.request("POST", "/api/schema", b'{"file":0}', {**token, "Content-Type": kind})[0] == 415


def test_other_pages_are_not_told_that_they_may_ask(studio) -> None:
    status, headers, _ = studio.request("OPTIONS", "/api/schema", headers={
        "Origin": "http://evil.example", "Access-Control-Request-Headers": "x-realm-token", "Access-Control-Request-Method": "POST"})
    assert status == 403
    assert not [name for name in headers if name.startswith("access-control")]


def test_answers_say_what_the_page_may_do(studio) -> None:
    for path in [f"/?token={studio.token}", "/main.js", "/studio.css"]:
        _, headers, _ = studio.request("GET", path)
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy and "http:" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"


def test_large_requests_are_refused(studio) -> None:
    headers = {"Content-Type": "application/json", "X-Realm-Token": studio.token}
    # The size is refused before the body comes.
    status, _, body = studio.request("POST", "/api/schema", b"", {**headers, "Content-Length": str(5 << 20)})
    assert status == 413 and b"at most" in body
    with socket.create_connection(("127.0.0.1", studio.port), timeout=30) as line:
        head = f"POST /api/schema HTTP/1.1\r\nHost: 127.0.0.1:{studio.port}\r\nTransfer-Encoding: chunked\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in headers.items()) + "\r\n"
        line.sendall(head.encode())
        piece = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
        try:
            for _ in range(80):
                line.sendall(piece)
        except OSError:
            pass  # it has been refused and closed
        assert line.recv(100).startswith(b"HTTP/1.1 413")
    assert studio.ask("schema")[0] == 200


@pytest.mark.parametrize("body, problem", [
    (b"", "malformed JSON"), (b"[1]", "no JSON object"), (b'{"file":0', "malformed JSON"), (b"[" * 5000, "nested"), (b"\xff", "malformed JSON"),
    (b"{}", "'file'"), (b'{"file":-1}', "negative"), (b'{"file":7}', "no file 7"), (b'{"file":"x"}', "no integer"),
    (b'{"file":0,"class":3,"from":0,"count":1}', "no text"), (b'{"file":0,"class":"Nobody","from":0,"count":1}', "no class 'Nobody'"),
    (b'{"file":0,"class":"Person","from":-1,"count":1}', "negative"),
    (b'{"file":0,"class":"Person","sort":"nothing","from":0,"count":1}', "no property 'nothing'"),
])
def test_requests_that_make_no_sense_get_a_sentence(studio, body, problem) -> None:
    headers = {"Content-Type": "application/json", "X-Realm-Token": studio.token}
    status, _, answer = studio.request("POST", "/api/rows", body, headers)
    assert 400 <= status < 500
    assert problem in json.loads(answer)["error"]
    assert studio.ask("schema")[0] == 200


def test_what_is_not_there_is_not_found(studio) -> None:
    assert studio.ask("nothing")[0] == 404
    assert studio.request("GET", "/../../etc/passwd")[0] == 404
    assert studio.request("GET", "/%2e%2e/%2e%2e/etc/passwd")[0] == 404
    assert studio.ask("object", {"class": "Person", "key": "999999"})[0] == 404
    assert studio.ask("object", {"class": "Person", "key": "-1"})[0] == 404


def test_it_listens_to_this_machine_alone(studio) -> None:
    addresses = {item[4][0] for item in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    for address in addresses - {"127.0.0.1"}:
        with pytest.raises(OSError):
            socket.create_connection((address, studio.port), timeout=2).close()
    with pytest.raises(OSError):
        socket.create_connection(("::1", studio.port), timeout=2).close()


@pytest.mark.parametrize("command", ["studio", "serve"])
def test_mistakes_of_the_command_line_have_a_status(tmp_path: Path, studio, command: str) -> None:
    def status(*arguments: object) -> tuple[int, str]:
        done = subprocess.run([str(TOOL), command, "--no-browser", *map(str, arguments)], capture_output=True, text=True, timeout=30)
        return done.returncode, done.stderr

    assert status()[0] == 64
    code, text = status(tmp_path / "missing.realm")
    assert code == 2 and "missing.realm" in text
    code, text = status("--port", studio.port, tmp_path)
    assert code == 2 and "listen" in text
