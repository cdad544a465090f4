"""A month lived by the real mind: `memory.mind()` with the settings of a house, through the real SDK.

It talks with a server on this computer. Memory, mind and server share one clock that is moved from message to message.
In a silence `Mind.rest` is called when it says. What each call took is counted between the mind and its model. With
`capture` it is also written down what the designs that it replaces would have fetched before each message.
"""

import asyncio
import json
import os
import random
import time
from collections import Counter
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from mind_costs import Call
from mind_month import Exchange, Speech
from mind_script import Counted, Script

import recollect
from recollect.llm.model import Usage
from recollect.llm.opening import open_talk
from recollect.llm.talking import TalkModel
from recollect.mind.channel import Reply, Said, Shown
from recollect.mind.mind import Mind
from recollect.mind.state import NAME as STATE_NAME
from recollect.mind.tool_results import search_text
from recollect.testing import FrozenClock
from recollect.testing.anthropic_server import AnthropicServer

CHANNEL = "terminal"
PAGE_TOKENS = {"user.md": 700, "MEMORY.md": 2_400}
OWN_PAGE_TOKENS = {"identity.md": 250, "tools.md": 350, "soul.md": 900, "threads.md": 700}
NOTE_TOKENS = 60
"""Of what is added to a page in a day."""
MOST_EVENTS = 100_000


@dataclass(slots=True, kw_only=True)
class Lived:
    calls: list[Call] = field(default_factory=list[Call])
    breaks: dict[str, int] = field(default_factory=dict[str, int])
    """Requests that did not begin with all of the one before, by the reason that the mind gave."""
    state_bytes: dict[int, float] = field(default_factory=dict[int, float])
    """Of `conversation-state.json` at the end of each day."""
    resident_bytes: dict[int, float] = field(default_factory=dict[int, float])
    """Of the process at the end of each day, the server with it."""
    processor_seconds: dict[int, float] = field(default_factory=dict[int, float])
    """That the same took for each day."""
    database_bytes: int = 0
    ledger: Usage = field(default_factory=Usage)
    """What the house itself wrote down of all calls."""
    failed_turns: int = 0


class Quiet:
    """A channel that takes every answer."""

    name = CHANNEL

    def show(self, address: str, shown: Shown) -> None:
        pass

    async def deliver(self, address: str, reply: Reply) -> None:
        pass


class House:
    """A home with settings and notes, opened anew at each start of the program."""

    def __init__(self, home: Path, clock: FrozenClock, settings: Mapping[str, object]) -> None:
        self._home = home
        self._clock = clock
        home.mkdir(parents=True)
        lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
        models = json.dumps(str(home / "models"))
        text = "\n".join([f"models_folder = {models}", "[mind]", *lines, ""])
        (home / "recollect.toml").write_text(text, encoding="utf-8")
        self.memory = self._opened()

    def _opened(self) -> recollect.Memory:
        return recollect.open(home=self._home, clock=self._clock)

    def start_anew(self) -> None:
        self.memory.close()
        self.memory = self._opened()

    def write_notes(self, speech: Speech) -> None:
        notes = self.memory.notes
        notes.prepare()
        own = notes.own_folder
        pages = PAGE_TOKENS | {f"{own}/{name}": tokens for name, tokens in OWN_PAGE_TOKENS.items()}
        for path, tokens in pages.items():
            notes.write(path, speech.page(path, tokens), reason="first words")
        notes.status.update({"focus": "the letter", "energy": "rested", "place": "home"})

    def edit(self, speech: Speech, day: int) -> None:
        """Somebody adds to a page."""
        notes = self.memory.notes
        path = ("MEMORY.md", "user.md", f"{notes.own_folder}/threads.md")[day % 3]
        notes.append(path, f"\n{speech.text(NOTE_TOKENS)}\n")

    def prefetched(self, exchange: Exchange) -> dict[str, str]:
        """All that somebody could put before this message."""
        seen = self.memory.as_agent(self.memory.settings.agent_name)
        own = seen.notes.own_folder

        def pages(*paths: str) -> str:
            return "\n\n".join(note.text for note in map(seen.notes.find, paths) if note)

        found = seen.search_memory(exchange.asked[:500], "both")
        return {
            "stable": pages(*(f"{own}/{name}" for name in ("identity.md", "tools.md", "soul.md"))),
            "notes": pages("user.md", "MEMORY.md", f"{own}/threads.md"),
            "status": pages(f"{own}/status.json"),
            "search": search_text(found, exchange.asked[:500]),
        }

    def state_bytes(self) -> int:
        return max((path.stat().st_size for path in self.memory.settings.runtime.rglob(STATE_NAME)), default=0)


class Life:
    def __init__(
        self,
        house: House,
        clock: FrozenClock,
        server: AnthropicServer,
        script: Script,
        capture: Callable[[dict[str, str]], None] | None,
    ) -> None:
        self._house = house
        self._clock = clock
        self._server = server
        self._script = script
        self._capture = capture
        self._began = time.process_time()
        self.lived = Lived()

    def _day(self) -> int:
        return self._script.exchange.day if self._script.exchange else 1

    def _started(self) -> Mind:
        memory = self._house.memory
        mind = memory.mind("", self._open_model)
        mind.attach(Quiet())
        return mind

    def _open_model(self) -> TalkModel:
        """The model of the settings, counted."""
        model = Counted(open_talk(self._house.memory.settings), self._clock, self._day, self._server)
        model.calls = self.lived.calls
        return model

    async def live(self, exchanges: list[Exchange], speech: Speech, say_day: Callable[[int], None]) -> Lived:
        mind = self._started()
        for place, exchange in enumerate(exchanges):
            self._clock.now = exchange.at
            if exchange.restarts:
                await mind.close()
                self._house.start_anew()
                mind = self._started()
            if exchange.edits_note:
                self._house.edit(speech, exchange.day)
            await self._hold(mind, exchange)
            following = exchanges[place + 1] if place + 1 < len(exchanges) else None
            await self._rest(mind, following)
            if following is None or following.day != exchange.day:
                self._end_day(exchange.day)
                say_day(exchange.day)
        await mind.close()
        self._count()
        return self.lived

    async def _hold(self, mind: Mind, exchange: Exchange) -> None:
        fetched = self._house.prefetched(exchange) if self._capture else {}
        self._script.exchange = exchange
        await mind.hear(Said(text=exchange.asked, channel=CHANNEL))
        done = await mind.turn()
        self.lived.failed_turns += done is None or done.error is not None
        await mind.settle()
        if self._capture:
            self._capture(fetched | {"result": self._script.result})

    async def _rest(self, mind: Mind, following: Exchange | None) -> None:
        """The silence until the next message."""
        while following:
            due = await mind.rest()
            if due is None or due >= following.at:
                return
            self._clock.now = max(due, self._clock.now)

    def _end_day(self, day: int) -> None:
        before = sum(self.lived.processor_seconds.values())
        self.lived.processor_seconds[day] = round(time.process_time() - self._began - before, 2)
        self.lived.state_bytes[day] = self._house.state_bytes()
        self.lived.resident_bytes[day] = resident_bytes()

    def _count(self) -> None:
        memory = self._house.memory
        events = memory.runs.latest("prefix", limit=MOST_EVENTS)
        self.lived.breaks = dict(Counter(event.outcome for event in events).most_common())
        spent = memory.spending.by_day(10_000)
        self.lived.ledger = Usage(
            input_tokens=sum(one.input_tokens for one in spent),
            cached_tokens=sum(one.cached_tokens for one in spent),
            written_tokens=sum(one.written_tokens for one in spent),
            output_tokens=sum(one.output_tokens for one in spent),
            calls=sum(one.calls for one in spent),
        )
        path = Path(memory.settings.database_url)
        self.lived.database_bytes = sum(one.stat().st_size for one in path.parent.glob(f"{path.name}*"))


def resident_bytes() -> int:
    """Of this process. 0 where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGESIZE")


@contextmanager
def pointed_at(server: AnthropicServer) -> Generator[None]:
    """The settings of the house find this server in the place of Anthropic's own."""
    wanted = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "made-up"}
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def live(
    folder: Path,
    exchanges: list[Exchange],
    *,
    seed: int,
    settings: Mapping[str, object],
    capture: Callable[[dict[str, str]], None] | None = None,
    say_day: Callable[[int], None] = lambda _: None,
) -> Lived:
    """`settings`: those of `[mind]`."""
    clock = FrozenClock(exchanges[0].at)
    script = Script(seed)
    speech = Speech(random.Random(seed + 1))
    with AnthropicServer(script, clock=clock, keeps_requests=1) as server, pointed_at(server):
        house = House(folder, clock, settings)
        try:
            house.write_notes(speech)
            life = Life(house, clock, server, script, capture)
            return asyncio.run(life.live(exchanges, speech, say_day))
        finally:
            house.memory.close()
