"""A day of fifty turns with one agent: what a provider's cache keeps of its prompts.

    python benchmarks/day.py [--seed 7] [--json]

A made-up day with a morning, a noon and an evening, pauses of minutes and of hours between the turns, messages whose
lengths are drawn by chance, and some notes that change on the way. Every turn asks the real `Contexts` for a context,
by a clock that is moved, and its bytes are compared with those before: as many as are the same from the beginning are
read from a cache, if it still lives and if they are enough to be kept. Beside it stands the same day with prompts that
are built anew each turn: with the time on top, and, less carelessly, with the time at the end.

Three days are lived: one in which no note changes, one with eight changes, and one that is a single long sitting, in
which the history grows until it is trimmed.

A cache that knows nothing but bytes is what all of them are measured by. That of Anthropic keeps whole blocks, up to
those that are marked, and looks for them no further back than 20 blocks; for ours, both are told. Ours pays for writing
all that is new; the others only for what will be read again, as if somebody knew that beforehand.

Costs are relative to what the same tokens would cost without any cache. `docs/benchmarks.md` has results.
"""

import argparse
import hashlib
import json
import random
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import recollect
from recollect import tokens
from recollect.clock import to_text
from recollect.testing import FrozenClock

MORNING = datetime(2026, 11, 16, 7, 30, tzinfo=UTC)
SITTINGS = ((0.0, 18), (4.9, 14), (11.4, 18))
"""Hours after the morning, and how many turns."""
DINNER = 40
"""After this turn somebody is away for more than an hour."""
DAYS = (
    ("no note changes", SITTINGS, 0),
    ("eight notes change", SITTINGS, 8),
    ("one sitting, eight notes change", ((0.0, 50),), 8),
)
REPLY_SECONDS = 25
LEAST_CACHED_TOKENS = 1_024
LIFETIMES = {"5 minutes": (timedelta(minutes=5), 1.25), "1 hour": (timedelta(hours=1), 2.0)}
"""How long a prefix lives after it was last used, and the price of writing it, in units of an input token."""
READ_PRICES = (0.05, 0.1)
LOOKED_BACK_BLOCKS = 20
WINDOW = 50
"""Messages in a prompt that is built anew."""
EARLIER_MESSAGES = 160
"""From the days before."""
_WORDS = (
    "the a of and to in is it for on with as at by from this that was are be have has not but they you we she he"
    " garden kettle letter boat paper window river train market winter summer recipe bread engine battery parser garage"
    " meeting report invoice doctor dentist teacher neighbour quiet early late slowly never often maybe really again"
    " paint plant write finish carry repair borrow return remember decide promise wait travel measure compare"
)
WORDS = _WORDS.split()


@dataclass(frozen=True, kw_only=True)
class Turn:
    at: datetime
    asked: str
    answered: str


@dataclass(frozen=True, kw_only=True)
class Request:
    at: datetime
    sent: bytes
    reason: str = ""
    """Why it does not begin with the one before."""
    blocks: tuple[tuple[bytes, bool], ...] = ()
    """As an API gets it: each block, and whether it is marked to be cached. Empty: nobody marked anything."""


@dataclass(kw_only=True)
class Figures:
    """What one kind of prompt came to with one kind of cache."""

    turns: int
    input_tokens: int = 0
    cached_tokens: int = 0
    costs: dict[str, float] = field(default_factory=dict[str, float])
    """Price of reading → cost of each token of input, where one without a cache costs 1."""

    @property
    def cached_share(self) -> float:
        return self.cached_tokens / max(self.input_tokens, 1)


# The day


class Speech:
    """Texts whose lengths are those of people and of models."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def words(self, number: int) -> str:
        said: list[str] = []
        while len(said) < number:
            sentence = self.chance.choices(WORDS, k=self.chance.randrange(5, 15))
            said += [sentence[0].capitalize(), *sentence[1:-1], f"{sentence[-1]}."]
        return " ".join(said)

    def about(self, median_words: int, spread: float) -> str:
        return self.words(max(3, round(median_words * self.chance.lognormvariate(0, spread))))

    def page(self, title: str, paragraphs: int) -> str:
        return f"# {title}\n\n" + "\n\n".join(self.about(45, 0.4) for _ in range(paragraphs)) + "\n"


def turns_of(speech: Speech, sittings: Sequence[tuple[float, int]]) -> list[Turn]:
    made: list[Turn] = []
    for hours, number in sittings:
        at = MORNING + timedelta(hours=hours, minutes=speech.chance.randrange(20))
        for _ in range(number):
            made.append(Turn(at=at, asked=speech.about(24, 0.8), answered=speech.about(90, 0.8)))
            at += _pause(speech.chance, is_dinner=len(sittings) > 1 and len(made) == DINNER)
    return made


def _pause(chance: random.Random, *, is_dinner: bool) -> timedelta:
    if is_dinner:
        return timedelta(minutes=75)
    if chance.random() < 0.12:
        return timedelta(minutes=chance.uniform(6, 25))
    return timedelta(seconds=REPLY_SECONDS + 15 + 90 * chance.lognormvariate(0, 0.8))


class Day:
    """A house with an agent, its notes and its days before this one."""

    def __init__(self, home: Path, speech: Speech) -> None:
        self.clock = FrozenClock(MORNING - timedelta(days=2))
        self.memory = recollect.open(home=home / "home", clock=self.clock)
        self.speech = speech
        self.messages: list[tuple[datetime, str, str]] = []
        self._transcripts = home / "transcripts"
        self._transcripts.mkdir()
        self._write_notes()
        self._live_before()

    def _write_notes(self) -> None:
        notes, write = self.memory.notes, self.speech.page
        notes.prepare()
        own = notes.own_folder
        pages = {"user.md": 9, "MEMORY.md": 30, f"{own}/identity.md": 3, f"{own}/tools.md": 4, f"{own}/threads.md": 8}
        for path, paragraphs in pages.items():
            notes.write(path, write(path, paragraphs))
        notes.write(f"{own}/soul.md", write("Who I am", 10), reason="first words")
        notes.status.update({"focus": "the letter", "energy": "rested", "place": "home"})
        notes.write(f"{own}/daily/{MORNING - timedelta(days=1):%Y-%m-%d}.md", write("Yesterday", 5))
        notes.write(f"{own}/daily/{MORNING:%Y-%m-%d}.md", write("Today", 2))

    def _live_before(self) -> None:
        at = self.clock.now
        for number in range(EARLIER_MESSAGES // 2):
            at += timedelta(minutes=1)
            self._keep(f"before-{number // 40}", at, self.speech.about(24, 0.8), self.speech.about(90, 0.8))
        self.memory.history.ingest([self._transcripts], source="generic")

    def said(self, turn: Turn) -> None:
        """The turn is over, and what was said is history."""
        self._keep("today", turn.at, turn.asked, turn.answered)
        self.clock.now = turn.at + timedelta(seconds=REPLY_SECONDS)
        self.memory.history.ingest([self._transcripts], source="generic")

    def _keep(self, session: str, at: datetime, asked: str, answered: str) -> None:
        spoken = [(at, "user", asked), (at + timedelta(seconds=REPLY_SECONDS), "assistant", answered)]
        self.messages += spoken
        with (self._transcripts / f"{session}.jsonl").open("a", encoding="utf-8") as file:
            for when, author, text in spoken:
                line = {"id": f"{when:%d%H%M%S}-{author}", "session": session, "at": to_text(when), "author": author}
                file.write(json.dumps({**line, "text": text}) + "\n")

    def edit(self, number: int) -> None:
        """Somebody changes a note: an agent through us, a person with an editor, and the status."""
        notes, own = self.memory.notes, self.memory.notes.own_folder
        kind = number % 4
        if kind == 0:
            notes.append("MEMORY.md", f"\n{self.speech.about(30, 0.3)}\n")
        elif kind == 1:
            notes.status.update({"focus": self.speech.words(3)})
        elif kind == 2:
            path = notes.folder / "user.md"
            path.write_text(path.read_text(encoding="utf-8") + f"\n{self.speech.about(25, 0.3)}\n", encoding="utf-8")
        else:
            notes.append(f"{own}/daily/{self.clock.now:%Y-%m-%d}.md", f"\n{self.speech.about(30, 0.3)}\n")

    def naive(self, turn: Turn, *, time_on_top: bool) -> bytes:
        """All notes read again, the last messages, and the time."""
        notes, own = self.memory.notes, self.memory.notes.own_folder
        names = ["identity.md", "tools.md", "soul.md", "threads.md", "status.json"]
        days = [f"daily/{turn.at - timedelta(days=back):%Y-%m-%d}.md" for back in (1, 0)]
        paths = ["user.md", "MEMORY.md", *(f"{own}/{name}" for name in [*names, *days])]
        pages = [note.text for note in map(notes.find, paths) if note]
        said = [f"{author}: {text}" for _, author, text in self.messages[-WINDOW:]]
        now = f"Current time: {turn.at:%A, %d %B %Y, %H:%M:%S}"
        parts = [now, *pages, *said, turn.asked] if time_on_top else [*pages, *said, now, turn.asked]
        return "\n\n".join(parts).encode()


# Caches


class BlockCache:
    """What Anthropic keeps: a request up to each of its marked blocks."""

    def __init__(self, lifetime: timedelta) -> None:
        self._lifetime = lifetime
        self._used: dict[str, datetime] = {}
        """Digest of a prefix → when it was last written or read."""

    def read(self, request: Request) -> int:
        digest, length = hashlib.sha256(), 0
        prefixes: list[tuple[str, int, bool]] = []
        for block, is_marked in request.blocks:
            digest.update(len(block).to_bytes(8, "big") + block)
            length += len(block)
            prefixes.append((digest.hexdigest(), length // tokens.BYTES_PER_TOKEN, is_marked))
        marked = [place for place, (_, _, is_marked) in enumerate(prefixes) if is_marked]
        looked_at = {back for place in marked for back in range(max(place - LOOKED_BACK_BLOCKS, 0), place + 1)}
        found = [prefixes[place] for place in looked_at if self._lives(prefixes[place], request.at)]
        cached = max((size for _, size, _ in found), default=0)
        for name, size, is_marked in prefixes:
            if is_marked or (size <= cached and name in self._used):
                self._used[name] = request.at
        return cached

    def _lives(self, prefix: tuple[str, int, bool], now: datetime) -> bool:
        name, size, _ = prefix
        return size >= LEAST_CACHED_TOKENS and name in self._used and now - self._used[name] <= self._lifetime


class Cache:
    """The prefixes of requests, to the byte, as long as they live."""

    def __init__(self, lifetime: timedelta) -> None:
        self._lifetime = lifetime
        self._kept: list[Request] = []

    def read(self, request: Request) -> int:
        """Tokens of the request that need not be read again. The request is kept from now on."""
        self._kept = [one for one in self._kept if request.at - one.at <= self._lifetime]
        common = max((common_bytes(one.sent, request.sent) for one in self._kept), default=0)
        self._kept.append(request)
        found = common // tokens.BYTES_PER_TOKEN
        return found if found >= LEAST_CACHED_TOKENS else 0


def common_bytes(one: bytes, other: bytes) -> int:
    """How far two texts are the same from their beginning."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def figures_of(
    requests: Sequence[Request], cache: Cache | BlockCache, write_price: float, *, foreseeing: bool = False
) -> Figures:
    """`foreseeing`: only what the next request will read is written to the cache, as if somebody knew. Otherwise all
    that is new is, since the next request may begin with it."""
    found = Figures(turns=len(requests))
    sizes = [tokens.of_bytes(len(request.sent)) for request in requests]
    cached = [cache.read(request) for request in requests]
    found.input_tokens, found.cached_tokens = sum(sizes), sum(cached)
    written = sum(sizes) - sum(cached)
    if foreseeing:
        written = sum(max(after - before, 0) for before, after in pairwise([*cached, 0]))
    plain = sum(sizes) - sum(cached) - written
    for price in READ_PRICES:
        cost = price * sum(cached) + write_price * written + plain
        found.costs[f"{price:g}"] = round(cost / sum(sizes), 3)
    return found


# Running


def run(seed: int, name: str, sittings: Sequence[tuple[float, int]], edits: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="rc-") as folder:
        speech = Speech(seed)
        turns = turns_of(speech, sittings)
        day = Day(Path(folder), speech)
        with day.memory:
            requests, naive, late = _requests(day, turns, edits)
    kinds = {"Recollect": requests, "built anew, time at the end": late, "built anew, time on top": naive}
    return {
        "day": name,
        "turns": len(turns),
        "tokens_a_turn": {kind: _mean_tokens(sent) for kind, sent in kinds.items()},
        "pauses": _pauses(turns),
        "breaks": _breaks(requests),
        "caches": {
            life: {
                "Recollect, in marked blocks": _shown(figures_of(requests, BlockCache(lifetime), price)),
                **{
                    kind: _shown(figures_of(sent, Cache(lifetime), price, foreseeing=sent is not requests))
                    for kind, sent in kinds.items()
                },
            }
            for life, (lifetime, price) in LIFETIMES.items()
        },
    }


def _requests(day: Day, turns: Sequence[Turn], edits: int) -> tuple[list[Request], list[Request], list[Request]]:
    made: tuple[list[Request], list[Request], list[Request]] = ([], [], [])
    every = len(turns) // edits if edits else len(turns) + 1
    for place, turn in enumerate(turns):
        day.clock.now = turn.at
        if place % every == every - 1:
            day.edit(place // every)
        context = day.memory.context.conversation(trigger=turn.asked)
        sent = context.text.encode()
        made[0].append(Request(at=turn.at, sent=sent, reason=context.reason, blocks=_blocks(context.anthropic())))
        for requests, on_top in ((made[1], True), (made[2], False)):
            requests.append(Request(at=turn.at, sent=day.naive(turn, time_on_top=on_top)))
        day.said(turn)
    return made


def _blocks(request: dict[str, Any]) -> tuple[tuple[bytes, bool], ...]:
    content = [block for message in request["messages"] for block in message["content"]]
    return tuple((block["text"].encode(), "cache_control" in block) for block in [*request["system"], *content])


def _mean_tokens(requests: Sequence[Request]) -> int:
    return sum(tokens.of_bytes(len(request.sent)) for request in requests) // len(requests)


def _pauses(turns: Sequence[Turn]) -> dict[str, int]:
    pauses = [after.at - before.at for before, after in pairwise(turns)]
    limits = {"over 5 minutes": timedelta(minutes=5), "over 1 hour": timedelta(hours=1)}
    return {name: sum(pause > limit for pause in pauses) for name, limit in limits.items()}


def _breaks(requests: Sequence[Request]) -> list[dict[str, Any]]:
    """Where a prompt does not begin with all bytes of the one before. After a pause of more than an hour nothing is
    lost by it: no cache lives that long."""
    found: list[dict[str, Any]] = []
    for place, (before, after) in enumerate(pairwise(requests), start=2):
        common = common_bytes(before.sent, after.sent)
        if common < len(before.sent):
            found.append(
                {
                    "turn": place,
                    "at": f"{after.at:%H:%M}",
                    "minutes_after": round((after.at - before.at).total_seconds() / 60),
                    "reason": after.reason or "nobody knows",
                    "tokens_kept": common // tokens.BYTES_PER_TOKEN,
                    "tokens_before": tokens.of_bytes(len(before.sent)),
                }
            )
    return found


def _shown(figures: Figures) -> dict[str, Any]:
    turn = {price: round(cost * figures.input_tokens / figures.turns) for price, cost in figures.costs.items()}
    return {"cached_percent": round(100 * figures.cached_share, 1), "cost": figures.costs, "paid_tokens_a_turn": turn}


def show(result: dict[str, Any], say: Callable[[str], None]) -> None:
    say(f"{result['day']}: {result['turns']} turns, pauses {result['pauses']}")
    for name, number in result["tokens_a_turn"].items():
        say(f"  {name}: {number:,} tokens a turn")
    for one in result["breaks"]:
        kept = f"begins with {one['tokens_kept']:,} of {one['tokens_before']:,} tokens"
        say(f"  turn {one['turn']} at {one['at']}, after {one['minutes_after']} minutes: {one['reason']}, {kept}")
    say(f"  {len(result['breaks'])} breaks; every other context begins with all bytes of the one before")
    prices = " | ".join(f"cost, read at {price:g}" for price in READ_PRICES)
    say(f"\n| cache lives | prompt | cached, % of input | {prices} | a turn costs, at {READ_PRICES[-1]:g} |")
    say("|---|---|---|---|---|---|")
    for life, kinds in result["caches"].items():
        for name, found in kinds.items():
            costs = " | ".join(f"{cost:.2f}" for cost in found["cost"].values())
            paid = found["paid_tokens_a_turn"][f"{READ_PRICES[-1]:g}"]
            say(f"| {life} | {name} | {found['cached_percent']} | {costs} | {paid:,} |")
    say("")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout instead of tables")
    arguments = parser.parse_args()
    results = [run(arguments.seed, name, sittings, edits) for name, sittings, edits in DAYS]
    if arguments.json:
        print(json.dumps(results))
    else:
        for result in results:
            show(result, print)


if __name__ == "__main__":
    main()
