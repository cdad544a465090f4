"""Processes of `tests/writing_notes.py`, as tests start, kill and wait for them, and what must be true afterwards."""

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import commands
from commands import wait_for
from writing_notes import every_version

import recollect
from recollect.notes.paths import HOLDING
from recollect.notes.versions import digest_of

WRITING = Path(commands.__file__).with_name("writing_notes.py")
PATIENCE_SECONDS = 300.0

Told = list[dict[str, str]]


class NoteWriter:
    def __init__(self, process: "subprocess.Popen[str]", output: Path) -> None:
        self._process = process
        self._output = output

    def go(self) -> None:
        assert self._process.stdin
        self._process.stdin.write("\n")
        self._process.stdin.flush()

    def wait(self, seconds: float = PATIENCE_SECONDS) -> None:
        """Until it ended by itself, and well."""
        code = self._process.wait(seconds)
        assert code == 0, self.errors

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    @property
    def errors(self) -> str:
        return self._output.with_suffix(".err").read_text()

    def told(self) -> Told:
        """What it did, as far as it came to say so."""
        lines = self._output.read_text().splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.startswith("{") and line.endswith("\n")]

    def is_ready(self) -> bool:
        return self._process.poll() is not None or self._output.read_text().startswith("ready\n")


@contextmanager
def started_writer(
    home: Path, address: str, task: str, seed: object, steps: int, output_folder: Path
) -> Iterator[NoteWriter]:
    """A process that is ready and waits for the word to go; killed at the end if it still runs."""
    output = output_folder / f"{task} {seed}.out"
    output.parent.mkdir(parents=True, exist_ok=True)
    with output.open("w") as out, output.with_suffix(".err").open("w") as err:
        process = subprocess.Popen(
            [sys.executable, str(WRITING), str(home), address, task, str(seed), str(steps)],
            env=commands.environment(home),
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=err,
            text=True,
        )
    writer = NoteWriter(process, output)
    try:
        wait_for("the process to be ready", writer.is_ready)
        assert process.poll() is None, writer.errors
        yield writer
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def settle(memory: recollect.Memory) -> None:
    """Look until nothing is on its way any more."""

    def is_settled() -> bool:
        looked = memory.notes.look()
        return not looked.found and not looked.put_back and not held(memory)

    wait_for("the folder of notes to be at rest", is_settled)


def held(memory: recollect.Memory) -> list[str]:
    """Files that lie in the folder for those on their way."""
    folder = memory.notes.folder / HOLDING
    return [str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()]


def lost(memory: recollect.Memory, told: Iterable[dict[str, str]]) -> list[str]:
    """What was written and is in no version."""
    texts: dict[str, list[str]] = {}
    gone: list[str] = []
    for one in told:
        path = one["path"]
        if path not in texts:
            texts[path] = [note.text for note in every_version(memory, path)]
        if "text" in one and one["text"] not in texts[path]:
            gone.append(f"{path}: {one['text'][:60]}")
        if "part" in one and not any(one["part"] in text for text in texts[path]):
            gone.append(f"{path}: … {one['part'][:60]}")
    return gone


def files_of(folder: Path) -> dict[str, bytes]:
    """Path → content of all files that may be notes."""
    found = {file.relative_to(folder).as_posix(): file for file in folder.rglob("*") if file.is_file()}
    return {path: file.read_bytes() for path, file in found.items() if "/." not in f"/{path}"}


def assert_agreed(memory: recollect.Memory) -> None:
    """Every file is what the latest version of its note says, and there is no other file."""
    latest = {one.path: one.digest for one in memory.notes.list()}
    assert {path: digest_of(content) for path, content in files_of(memory.notes.folder).items()} == latest
    for path in latest:
        numbers = [one.number for one in memory.notes.history(path)]
        assert numbers == list(range(1, len(numbers) + 1))
