"""`realm shell`, from a pipe and at a terminal; completion in bash, and the manual."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import REPOSITORY
from test_command_line import TOOL, run
from test_tool_queries import said

import tool_models
from tool_models import dump


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "all.realm"
    tool_models.fill(path)
    return path


def shell(file: Path, *lines: str, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    return subprocess.run([TOOL, "shell", file, *options], input="\n".join(lines), text=True,
                          capture_output=True, timeout=60)


class TestPipe:
    def test_questions_and_changes(self, file: Path) -> None:
        done = shell(file, "count Person age > 2", "# a comment", "", 'create Dog {"name": "A"}', "count Dog",
                     ".format jsonl", "Person id == 2 SORT(id ASC)", "query Dog name == 'A'", "get Dog A",
                     'set Person 1 {"age": 5}', "schema Dog", ".format table", ".width 20", "Dog name == 'A'",
                     "explain Person name == 'x'", "get Note #1", ".limit 1", "Dog", "quit", "nonsense")
        assert (done.returncode, done.stderr) == (0, "")
        out = done.stdout
        assert out.startswith('2\ncreated Dog A\n4\n{"id":2,')
        assert out.count('{"name":"A"}\n') == 2 and "set Person 1\nDog (4 objects)\n" in out
        assert "\nname\nA\n" in out and "index of name" in out and "3 more; .limit 0 shows all\n" in out

    def test_transactions(self, file: Path) -> None:
        done = shell(file, "begin", 'create Dog {"name": "A"}', "count Dog", "rollback", "count Dog", "begin",
                     'create Dog {"name": "B"}', "delete Person where age > 0", "commit", "count Person")
        assert done.stdout == "created Dog A\n4\n3\ncreated Dog B\ndeleted 2 objects of Person\n2\n"
        assert (done.returncode, len(dump(file, "Dog"))) == (0, 4)

    @pytest.mark.parametrize("line", ["count Dog", 'create Dog {"name":"A"}', "help", "schema"])
    def test_a_full_disk_is_told(self, file: Path, line: str) -> None:
        with open("/dev/full", "w") as full:
            done = subprocess.run([TOOL, "shell", file], input=f"{line}\n", stdout=full, stderr=subprocess.PIPE, text=True)
        assert done.returncode == 2 and "can't write standard output: No space left" in done.stderr
        assert len(dump(file, "Dog")) == 3

    def test_what_was_not_committed_is_rolled_back_and_told(self, file: Path) -> None:
        done = shell(file, "begin", 'create Dog {"name": "A"}')
        assert done.returncode == 2 and "was not committed; it is rolled back" in done.stderr
        assert len(dump(file, "Dog")) == 3

    @pytest.mark.parametrize(
        ("line", "words"),
        [
            ("nonsense", "'nonsense' is neither a command nor a class"),
            ("count Cow", "no class 'Cow'"),
            ("Person nme == 1", "no property 'nme'"),
            ("commit", "there is no transaction to commit"),
            ('create Dog {"name": 5}', "takes string"),
            ("get Person", "get takes a class and a key"),
            ("get Person 77", "no object '77'"),
            (".format xml", ".format is table, json, jsonl or csv"),
            (".limit -1", ".limit is a number"),
        ],
    )
    def test_a_mistake_ends_it_and_names_the_line(self, file: Path, line: str, words: str) -> None:
        done = shell(file, "count Dog", line, 'create Dog {"name": "A"}')
        assert (done.returncode, done.stdout) == (2, "3\n")
        assert done.stderr.startswith(f"realm: {file}: line 2: ") and words in done.stderr
        assert len(dump(file, "Dog")) == 3

    def test_read_only(self, file: Path) -> None:
        done = shell(file, "count Dog", 'create Dog {"name": "A"}', options=("--read-only",))
        assert (done.returncode, done.stdout) == (2, "3\n") and len(dump(file, "Dog")) == 3

    def test_it_sees_what_others_commit(self, file: Path) -> None:
        process = subprocess.Popen([TOOL, "shell", file], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for expected in ("3\n", "4\n"):
            process.stdin.write("count Dog\n")
            process.stdin.flush()
            assert process.stdout.readline() == expected
            said("edit", file, f'create Dog {{"name": "new {expected.strip()}"}}')
        process.stdin.close()
        assert process.wait(60) == 0
        process.stdout.close()

    def test_files_that_are_none(self, tmp_path: Path) -> None:
        done = shell(tmp_path / "none", "help")
        assert done.returncode == 2 and "No such file" in done.stderr
        assert not (tmp_path / "none").exists()


def test_a_file_beside_which_nothing_can_be_made(file: Path) -> None:
    # As somebody who may read all of it; root may do everything.
    somebody: dict[str, Any] = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file.realm"
        path.write_bytes(file.read_bytes())
        path.chmod(0o444)
        Path(folder).chmod(0o555)

        def done(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
            return subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True, timeout=60,
                                  **somebody, **options)

        try:
            done("--version")
        except PermissionError:
            pytest.skip("nobody else may run the tool where it is")
        assert done("count", path, "Dog").stdout == "3\n"
        assert done("shell", path, "--read-only", input="count Dog\nDog").stdout.startswith("3\nname\n")
        watched = done("watch", path)
        assert watched.returncode == 2 and "no lock file can be made" in watched.stderr
        for refused in (done("edit", path, "delete Dog x"), done("compact", path)):
            assert refused.returncode == 2 and "Permission denied" in refused.stderr
        Path(folder).chmod(0o755)


class Terminal:
    """The shell at a terminal of its own. The editor writes its prompt before it takes the terminal over: what is typed
    in between is echoed twice."""

    def __init__(self, file: Path, history: Path, *options: str) -> None:
        self.process, self.ours = pty.fork()
        if self.process == 0:
            os.environ.update(TERM="xterm", REALM_HISTORY=str(history))
            os.execv(TOOL, [str(TOOL), "shell", str(file), *options])
        self.text = ""

    def until(self, words: str) -> str:
        """What comes up to these words."""
        end = time.monotonic() + 30
        while words not in self.text:
            assert time.monotonic() < end, self.text
            if select.select([self.ours], [], [], 1)[0]:
                self.text += os.read(self.ours, 65536).decode(errors="replace")
        before, _, self.text = self.text.partition(words)
        return before

    def answered(self, prompt: str) -> str:
        """What comes before a prompt that begins a line: one within a line is that line written again, as on terminals
        of which nothing is known."""
        return self.until("\n" + prompt) + "\n"

    def type(self, keys: str) -> None:
        os.write(self.ours, keys.encode())

    def ended(self, seconds: float) -> int | None:
        """The exit status; None where the shell goes on for longer."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            done, status = os.waitpid(self.process, os.WNOHANG)
            if done:
                os.close(self.ours)
                self.process = 0
                return os.waitstatus_to_exitcode(status)
            # What nobody reads would keep it from ending.
            if select.select([self.ours], [], [], 0.05)[0]:
                try:
                    os.read(self.ours, 65536)
                except OSError:
                    pass
        return None


@pytest.fixture
def terminal(file: Path, tmp_path: Path) -> Iterator[Terminal]:
    opened = Terminal(file, tmp_path / "history")
    opened.answered("all.realm> ")
    yield opened
    if opened.process:
        os.kill(opened.process, 9)
        assert opened.ended(30) is not None


class TestTerminal:
    def test_words_are_completed_and_lines_come_back(self, terminal: Terminal, tmp_path: Path) -> None:
        def answer(keys: str) -> str:
            terminal.type(keys)
            return terminal.answered("all.realm> ")

        # A command, a class, a property; behind a link, too.
        assert answer("cou\tPer\tmem\t== true\r").endswith("\r\n1\r\n")
        assert answer("count Person dog.na\t== '漢'\r").endswith("\r\n0\r\n")
        # The line before the last.
        assert answer("\x1b[A\x1b[A\r").endswith("\r\n1\r\n")
        assert "    nme\r\n    ^\r\n" in answer("Person nme == 1\r").replace(" == 1", "")
        terminal.type("begin\r")
        terminal.answered("all.realm*> ")
        terminal.type("rollback\r")
        terminal.answered("all.realm> ")
        terminal.type("quit\r")
        assert terminal.ended(30) == 0
        kept = (tmp_path / "history").read_text()
        assert "member" in kept and "dog.name" in kept
        assert (tmp_path / "history").stat().st_mode & 0o777 == 0o600

    def test_an_interrupt_takes_back_what_was_typed(self, terminal: Terminal) -> None:
        terminal.type("begin\r")
        terminal.answered("all.realm*> ")
        terminal.type("count Dog")
        terminal.until("count Dog")
        terminal.type("\x03")
        terminal.answered("all.realm*> ")
        # The transaction goes on, and nothing of the line is there.
        terminal.type("count Person\r")
        answer = terminal.answered("all.realm*> ")
        assert answer.endswith("\r\n4\r\n") and "Dog" not in answer
        terminal.type("rollback\r")
        terminal.answered("all.realm> ")
        # Also where it comes before the shell waits for keys.
        for _ in range(50):
            terminal.type("\x03")
            terminal.answered("all.realm> ")
        terminal.type("quit\r")
        assert terminal.ended(30) == 0

    def test_the_end_of_input_ends_it(self, terminal: Terminal) -> None:
        # A key that comes before the line is being edited is the terminal's, which makes another of it: the
        # line is emptied first.
        for _ in range(10):
            terminal.type("\x15\x04")
            status = terminal.ended(2)
            if status is not None:
                break
        assert status == 0

    def test_nothing_is_kept_of_encrypted_files(self, file: Path, tmp_path: Path) -> None:
        key, sealed, history = tmp_path / "key", tmp_path / "sealed.realm", tmp_path / "history"
        key.write_bytes(os.urandom(64))
        said("copy", file, sealed, "--new-key-file", key)
        opened = Terminal(sealed, history, "--key-file", str(key))
        opened.answered("sealed.realm> ")
        opened.type("count Dog\r")
        assert opened.answered("sealed.realm> ").endswith("\r\n3\r\n")
        opened.type("quit\r")
        assert opened.ended(30) == 0 and not history.exists()


class TestShells:
    def test_bash_completes_commands_options_and_classes(self, file: Path, tmp_path: Path) -> None:
        script = tmp_path / "completion"
        script.write_text(run("--generate-completion-script", "bash").stdout)
        (tmp_path / "realm").symlink_to(TOOL)

        def completed(*words: str) -> list[str]:
            code = (f". '{script}'\n" 'COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*"\n'
                    'COMP_POINT=${#COMP_LINE}\n_realm realm "${COMP_WORDS[COMP_CWORD]}" ""\n'
                    'printf "%s\\n" "${COMPREPLY[@]}"')
            done = subprocess.run(["bash", "-c", code, "bash", *words], capture_output=True, text=True,
                                  env=dict(os.environ, PATH=f"{tmp_path}:{os.environ['PATH']}"))
            return done.stdout.split()

        assert completed("realm", "sal") == ["salvage"]
        assert completed("realm", "query", "--lim") == ["--limit"]
        assert completed("realm", "query", str(file), "P") == ["Person"]
        assert completed("realm", "count", str(file), "") == ["Dog", "Note", "Person", "Room"]
        assert completed("realm", "count", str(tmp_path / "none"), "P") == []
        assert completed("realm", "import", str(file), "P") == ["Person"]
        assert completed("realm", "import", "--ups") == ["--upsert"]
        # Other names of commands, and what follows them.
        assert completed("realm", "ser") == ["serve"]
        assert completed("realm", "serve", "--read") == ["--read-only"]
        assert completed("realm", "import-data", str(file), "P") == ["Person"]
        assert completed("realm", "import-data", "--ups") == ["--upsert"]

    def test_the_manual_has_every_command_and_option(self) -> None:
        page = subprocess.run([REPOSITORY / ".ci/generate-manual", TOOL], capture_output=True, text=True,
                              check=True).stdout
        told = json.loads(run("--experimental-dump-help").stdout)["command"]["subcommands"]
        for command in told:
            if command["commandName"] == "help":
                continue
            name = command["commandName"].replace("-", "\\-")
            part = page.split(f"\n.SS {name}\n")[1].split("\n.SS ")[0]
            for argument in command["arguments"]:
                for option in argument.get("names", ()):
                    if option["name"] not in ("help", "h", "version"):
                        assert "\\fB\\-\\-" + option["name"].replace("-", "\\-") + "\\fR" in part
        assert all(ord(letter) >= 32 or letter == "\n" for letter in page)
        # Both things that `import` does.
        assert "\nrealm import <file> <new> " in page and "\nrealm import <file> <class> <data> " in page
        described = (REPOSITORY / "docs/TOOL.md").read_text()
        for command in told:
            assert command["commandName"] == "help" or f"`{command['commandName']}`" in described
