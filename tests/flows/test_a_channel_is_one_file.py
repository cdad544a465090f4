"""A channel of another package, as `docs/channels/README.md` shows it, works without a change of ours."""

import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from commands import run
from conftest import OpenHouse
from parts import stop
from webhooks import spoken

import recollect
from recollect.channels import kinds
from recollect.daemon.minding import Minding, MindingProgress, Models
from recollect.testing.scripted_talk import ScriptedTalk

PAGE = Path(__file__).parents[2] / "docs" / "channels" / "README.md"
MODULE = "folder_channel"
PATIENCE_SECONDS = 60


def block(language: str) -> str:
    found = re.search(rf"^```{language}\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert found
    return found[1]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """What `pip install` would leave behind."""
    folder = tmp_path / "site"
    about = folder / "folder_channel-1.0.dist-info"
    about.mkdir(parents=True)
    (folder / f"{MODULE}.py").write_text(block("python"), encoding="utf-8")
    point = re.search(r'^(\w+) = "([\w:]+)"$', block("toml"), re.MULTILINE)
    assert point
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: folder-channel\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text(f"[recollect.channels]\n{point[1]} = {point[2]}\n", encoding="utf-8")
    return folder


@pytest.fixture
def installed(site: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The package, in this process."""
    monkeypatch.syspath_prepend(str(site))
    kinds._loaded.cache_clear()
    yield site
    kinds._loaded.cache_clear()
    sys.modules.pop(MODULE, None)


@contextmanager
def minded(memory: recollect.Memory, model: ScriptedTalk) -> Iterator[list[MindingProgress]]:
    """The part of a daemon that opens channels and answers."""
    told: list[MindingProgress] = []
    minding = Minding(memory, told.append, Models(mind=lambda: model))
    minding.start()
    try:
        yield told
    finally:
        stop(minding.part)


def wait_for(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        assert time.monotonic() < end, "It did not come."
        threading.Event().wait(0.01)


def test_the_example_of_the_page_has_fewer_than_sixty_lines_of_code() -> None:
    assert len([line for line in block("python").splitlines() if line.strip()]) < 60


def test_a_channel_registered_by_an_entry_point_is_heard_and_answers(open_house: OpenHouse, installed: Path) -> None:
    memory = open_house()
    letters = memory.settings.home / "letters"
    letters.mkdir()
    model = ScriptedTalk(["They came in May."])
    answer = letters / "swifts.answer.md"

    with minded(memory, model):
        (letters / "swifts.txt").write_text("When did the swifts come?")
        wait_for(lambda: answer.exists() and answer.read_text() == "They came in May.")
        (letters / "empty.txt").write_text("")
        wait_for((letters / "empty.read").exists)

    assert (letters / "swifts.read").exists()
    assert "empty message" in (letters / "empty.answer.md").read_text()
    assert kinds.broken_kinds() == []
    assert {"folder", "telegram", "webhook"} <= set(kinds.kinds())
    assert spoken(memory) == ["When did the swifts come?", "They came in May."]


def test_a_channel_that_is_put_in_twice_hears_a_letter_once(open_house: OpenHouse, installed: Path) -> None:
    memory = open_house()
    letters = memory.settings.home / "letters"
    letters.mkdir()
    model = ScriptedTalk(lambda _: "Yes.")

    for _ in range(2):  # The second time as if it had been killed before the letter was marked as read.
        (letters / "one.txt").write_text("Is it written down?")
        with minded(memory, model):
            wait_for((letters / "one.read").exists)
            wait_for((letters / "one.answer.md").exists)
        (letters / "one.read").unlink()

    assert spoken(memory) == ["Is it written down?", "Yes."]
    assert len(model.requests) == 1


def test_the_command_line_lists_it(site: Path, home: Path) -> None:
    listed = run("channels", "--json", home=home, variables={"PYTHONPATH": str(site)}).json()
    assert {"name": "folder", "is_wanted": False, "needs": [], "problem": ""} in listed["channels"]
    (home / "letters").mkdir(parents=True, exist_ok=True)
    wanted = run("channels", "--json", home=home, variables={"PYTHONPATH": str(site)}).json()
    assert {"name": "folder", "is_wanted": True, "needs": [], "problem": ""} in wanted["channels"]


def test_a_channel_that_does_not_load_stops_no_other_and_is_named(site: Path, home: Path) -> None:
    (site / f"{MODULE}.py").write_text("raise RuntimeError('no ink')\n", encoding="utf-8")
    listed = run("channels", "--json", home=home, variables={"PYTHONPATH": str(site)}).json()
    assert {one["name"] for one in listed["channels"]} == {"telegram", "webhook"}
    (broken,) = listed["broken"]
    assert "folder" in broken
    assert "no ink" in broken
