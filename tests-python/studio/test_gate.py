"""Who may ask the studio, and what it refuses: with requests as other pages and programs would make them."""

from __future__ import annotations

import json
import os
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
    # Of a body in pieces the size is not known before, and the sizes of pieces are lines of any length.
    with connected(studio) as line:
        head = f"POST /api/schema HTTP/1.1\r\nHost: 127.0.0.1:{studio.port}\r\nTransfer-Encoding: chunked\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in headers.items()) + "\r\n"
        line.sendall(head.encode())
        pour(line, b"10000\r\n" + b" " * 0x10000 + b"\r\n", 80)
        assert line.recv(100).startswith(b"HTTP/1.1 411")
    assert studio.ask("schema")[0] == 200


def connected(studio: Studio) -> socket.socket:
    return socket.create_connection(("127.0.0.1", studio.port), timeout=30)


def pour(line: socket.socket, piece: bytes, count: int) -> None:
    """Sends a piece again and again, until the other side takes no more."""
    try:
        for _ in range(count):
            line.sendall(piece)
    except OSError:
        pass


def resident(studio: Studio) -> int:
    """Bytes of memory that the studio has."""
    status = Path(f"/proc/{studio.process.pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) * 1024


@pytest.mark.parametrize("start, piece", [
    (b"", b"G" * 65536),
    (b"GET / HTTP/1.1\r\nX-Long: ", b"x" * 65536),
    (b"GET / HTTP/1.1\r\n", b"X-Many: y\r\n" * 6000),
    (b"GET / HTTP/1.1\r\nHost: {host}\r\n", b"\r" * 65536),
    (b"POST /api/schema HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n", b"0" * 65536),
    (b"POST /api/schema HTTP/1.1\r\nHost: {host}\r\nContent-Length: 999999999999999999\r\n\r\n", b"0" * 65536),
    (b"POST /api/schema HTTP/1.1\r\nHost: {host}\r\nContent-Length: 4000000\r\n\r\n", b"0" * 65536),
])
def test_requests_without_end_are_refused_and_not_kept(studio, start, piece) -> None:
    """A head of 400 MB, by many connections: what the studio holds of it stays within a few."""
    assert studio.ask("schema")[0] == 200
    before = resident(studio)
    for _ in range(8):
        with connected(studio) as line:
            line.sendall(start.replace(b"{host}", f"127.0.0.1:{studio.port}".encode()))
            pour(line, piece, 800)
            assert resident(studio) - before < 64 << 20
            try:
                answer = line.recv(100)
            except ConnectionError:
                answer = b""  # it was closed over what was still coming
            assert answer[:12] in (b"", b"HTTP/1.1 400", b"HTTP/1.1 403", b"HTTP/1.1 411", b"HTTP/1.1 413", b"HTTP/1.1 431")
    assert studio.ask("schema")[0] == 200


def test_a_long_head_is_told_so(studio) -> None:
    for size, status in [(15_000, b"200"), (17_000, b"431")]:
        with connected(studio) as line:
            line.sendall(f"GET /main.js HTTP/1.1\r\nHost: 127.0.0.1:{studio.port}\r\nX-Long: {'x' * size}\r\n\r\n".encode())
            assert line.recv(100).startswith(b"HTTP/1.1 " + status)


@pytest.mark.parametrize("lines", ["Content-Length: +5", "Content-Length: -1", "Content-Length: 5, 5", "Content-Length: 5\r\nContent-Length: 6",
                                   "Content-Length : 5", "Content-Length:", "X: a\x01b", "X: a\x7fb"])
def test_heads_that_can_be_read_in_two_ways_are_refused(studio, lines) -> None:
    with connected(studio) as line:
        line.sendall(f"POST /api/schema HTTP/1.1\r\nHost: 127.0.0.1:{studio.port}\r\n{lines}\r\n\r\n".encode("latin-1"))
        assert line.recv(100).startswith(b"HTTP/1.1 400")
        while line.recv(1000):
            pass


def test_requests_come_in_any_pieces_and_one_after_another(studio) -> None:
    body = b'{"file":0}'
    head = (f"POST /api/schema HTTP/1.1\r\nHost: 127.0.0.1:{studio.port}\r\nContent-Type: application/json\r\n"
            f"X-Realm-Token: {studio.token}\r\nContent-Length: {len(body)}\r\nConnection: keep-alive\r\n\r\n").encode()

    def piece(line: socket.socket) -> bytes:
        received = line.recv(65536)
        assert received, "the connection ended"
        return received

    def answer(line: socket.socket) -> bytes:
        received = b""
        while b"\r\n\r\n" not in received:
            received += piece(line)
        before, _, rest = received.partition(b"\r\n\r\n")
        length = next(int(one.split(b":")[1]) for one in before.lower().split(b"\r\n") if one.startswith(b"content-length"))
        while len(rest) < length:
            rest += piece(line)
        return before.split(b"\r\n")[0] + b" " + rest

    with connected(studio) as line:
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in head + body:
            line.sendall(bytes([byte]))
        first = answer(line)
        assert b"200" in first and b'"classes"' in first
        line.sendall(head)
        line.sendall(body)
        assert answer(line) == first
        # The client has no more to ask, and still gets the last answer.
        line.sendall(head + body + b"\r\n")
        line.shutdown(socket.SHUT_WR)
        assert answer(line) == first
        assert line.recv(10) == b""


def test_who_has_no_more_to_ask_gets_all_of_a_long_answer(run, tmp_path) -> None:
    studio = run(people(tmp_path / "people.realm", 20_000))
    body = json.dumps({"file": 0, "class": "Person", "query": "", "format": "json", "from": 0, "count": 20_000}).encode()
    with connected(studio) as line:
        line.sendall(f"POST /api/export HTTP/1.1\r\nHost: 127.0.0.1:{studio.port}\r\nX-Realm-Token: {studio.token}\r\n"
                     f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        line.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: line.recv(65536), b""))
    head, _, content = answer.partition(b"\r\n\r\n")
    assert f"content-length: {len(content)}" in head.decode().lower() and len(content) > 200_000
    assert json.loads(content)["total"] == 20_000


def test_who_only_connects_is_let_wait_and_others_are_served(studio) -> None:
    silent = [connected(studio) for _ in range(60)]
    assert studio.ask("schema")[0] == 200
    for line in silent:
        line.close()
    assert studio.ask("schema")[0] == 200


def test_nothing_is_left_of_the_sockets(tmp_path: Path) -> None:
    """Also of a studio that was killed: what its two halves talk over has no name."""
    started = subprocess.Popen([str(TOOL), "studio", "--no-browser", str(people(tmp_path / "people.realm"))], stdout=subprocess.PIPE, text=True,
                               env={**os.environ, "TMPDIR": str(tmp_path)})
    assert started.stdout is not None and "http://127.0.0.1:" in started.stdout.readline()
    assert not [name for name in os.listdir(tmp_path) if name.startswith("realm-studio")]
    started.kill()
    started.communicate()


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
