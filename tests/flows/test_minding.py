"""The mind of a daemon keeps its channels open: what fails is told, opened again, and told to be over."""

import asyncio
from collections.abc import Callable

import pytest
from commands import wait_for
from minds import Listener, on_sqlite
from parts import stop

import recollect
from recollect.channels.kinds import Door, Kind, Post
from recollect.daemon import minding
from recollect.daemon.minding import Minding, MindingProgress, Models
from recollect.errors import Unavailable
from recollect.settings import Settings
from recollect.testing.scripted_talk import ScriptedTalk


class Quiet(Listener):
    """Open until it is closed."""

    async def run(self) -> None:
        await asyncio.Event().wait()

    async def close(self) -> None:
        pass


class Stumbling:
    """Cannot be opened the first time: somebody else has its port."""

    name = "letters"

    def __init__(self) -> None:
        self.opened = 0

    def is_wanted(self, settings: Settings) -> bool:
        return True

    def open(self, door: Door) -> Post:
        self.opened += 1
        if self.opened == 1:
            raise Unavailable("The port is taken.")
        return Quiet(self.name)


@on_sqlite
def test_what_kept_a_channel_closed_is_told_and_is_over_once_it_goes_on(
    memory: recollect.Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(minding, "RETRY_SECONDS", 0.01)
    monkeypatch.setattr(minding, "SETTLED_SECONDS", 0.05)
    told: list[MindingProgress] = []
    kind: Kind = Stumbling()
    kinds: Callable[[], dict[str, Kind]] = lambda: {kind.name: kind}  # noqa: E731
    keeper = Minding(memory, told.append, Models(mind=lambda: ScriptedTalk([])), kinds)
    keeper.start()
    try:
        wait_for("trouble", lambda: any(one.channels.get("letters") == "The port is taken." for one in told))
        wait_for("its end", lambda: told[-1].channels == {"letters": ""})
    finally:
        stop(keeper.part)
    events = memory.runs.latest("mind", "failed")
    assert [event.detail["reason"] for event in events] == ["The port is taken."]
