"""A bot in bad weather whose program is killed again and again: each message is heard once, answered once, in order.

A real `recollect up`, killed with SIGKILL at steps of its talk with the service and with the model, and at any time.
The service repeats updates, leaves gaps in their numbers, tells it to slow down, breaks, and drops lines before and
after the effect. The last kill comes after the last message, so nothing that somebody says later mends anything.
"""

import random
import subprocess
import threading
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from bots import secret_of
from commands import end, wait_for
from residue import residue_of
from telegrams import Desk, Echo, Service, numbers_in, without_mark

import recollect
from recollect.channels.telegram.sending import NAME, SENT_AGAIN
from recollect.history import Author, Standing
from recollect.mind.entries import Role
from recollect.testing.scripted_talk import ScriptedTalk
from recollect.testing.telegram_server import bad_gateway, line_drops, slow_down

CHATS = (7, 8)
STRANGER = 666
STRANGE = "xylophone"
"""A word that only the stranger has."""
WEATHER = (
    (0.02, slow_down(0.2)),
    (0.01, bad_gateway()),
    (0.01, bad_gateway(has_effect=True)),
    (0.015, line_drops()),
    (0.015, line_drops(has_effect=True)),
)
STEPS = ("getUpdates asked", "getUpdates done", "sendMessage asked", "sendMessage done", "model asked")
MOST_STEPS = 12
MOST_SECONDS = 4.0
"""From the start of a program to its end by a kill: it may not have begun by then."""
SETTLE_SECONDS = 120


@dataclass
class Fuse:
    """Kills a program when it comes to a step, after so many times."""

    process: "subprocess.Popen[bytes]"
    step: str
    left: int
    is_lit: bool = True
    is_blown: threading.Event = field(default_factory=threading.Event)

    def __call__(self, step: str) -> None:
        if self.is_lit and step == self.step:
            self.left -= 1
            if self.left == 0:
                self.process.kill()
                self.is_blown.set()


@dataclass
class Storm:
    desk: Desk
    service: Service
    model: Echo
    seed: int
    most_unanswered: int
    """When so many wait for an answer, nobody writes more."""
    written: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """(chat, number), in their order."""
    killed_while_sending: Counter[tuple[int, int]] = field(default_factory=Counter[tuple[int, int]])
    """(chat, turn)."""
    kills: Counter[str] = field(default_factory=Counter[str])

    def __post_init__(self) -> None:
        self._dice = random.Random(self.seed)
        self.desk.allow(*CHATS)
        self.service.weather(self.seed, *WEATHER, methods=("getUpdates", "sendMessage", "sendChatAction"))

    def rage(self, updates: int, kills: int) -> None:
        for life in range(1, kills):
            with self.desk.started() as process:
                step = self._dice.choice((*STEPS, "at any time"))
                fuse = Fuse(process, step, self._dice.randint(1, MOST_STEPS))
                self._live(fuse, updates * life // kills)
        with self.desk.started() as process:
            fuse = Fuse(process, "sendMessage done", 1, is_lit=False)
            self._live(fuse, updates)
        with self.desk.up() as process:
            wait_for("every answer", lambda: self._is_all_done(process), SETTLE_SECONDS)
            assert end(process) == 0

    def _live(self, fuse: Fuse, until: int) -> None:
        """One program: it is written to, and killed. What it does not live to hear waits for the next one."""
        self.service.on_step = self.model.on_step = fuse
        timer = threading.Timer(self._dice.uniform(0, MOST_SECONDS), fuse.is_blown.set)
        if fuse.step == "at any time":
            timer.start()
        while len(self.written) < until and not fuse.is_blown.is_set():
            fuse.is_lit |= len(self.written) == until - 1
            self._write()
            backlog = self._dice.randint(0, self.most_unanswered)
            wait_for("answers", lambda: fuse.is_blown.is_set() or self._unanswered <= backlog)  # noqa: B023
        wait_for("the moment", lambda: fuse.is_blown.is_set() or not self._unanswered)
        fuse.process.kill()
        fuse.process.wait()
        timer.cancel()
        self.kills[fuse.step if fuse.is_blown.is_set() else "idle"] += 1
        self._look_at_the_dead()

    @property
    def _unanswered(self) -> int:
        return len(self.written) - len(self.service.answered)

    def _write(self) -> None:
        dice, service = self._dice, self.service
        if dice.random() < 0.1:
            service.skip(dice.randint(1, 500))
        if dice.random() < 0.1:
            service.write(STRANGER, f"{STRANGE} {len(self.written)}", name=STRANGE)
        number, chat = len(self.written) + 1, dice.choice(CHATS)
        self.written.append((chat, number))
        update = service.write(chat, f"message {number}")
        while dice.random() < 0.15:
            service.repeat(update)

    def _look_at_the_dead(self) -> None:
        with recollect.open(self.desk.home) as memory, memory.database.read() as session:
            sending = "SELECT address, turn FROM mind_deliveries WHERE state = 'sending'"
            self.killed_while_sending.update((int(address), turn) for address, turn in session.rows(sending))

    def _is_all_done(self, process: "subprocess.Popen[bytes]") -> bool:
        assert process.poll() is None, self.desk.errors
        if self._unanswered or self.service.unconfirmed:
            return False
        with recollect.open(self.desk.home) as memory, memory.database.read() as session:
            return not list(session.rows("SELECT 1 FROM mind_deliveries WHERE state <> 'sent'"))

    @property
    def figures(self) -> str:
        sent = [one.text for chat in CHATS for one in self.service.sent[chat]]
        again = sum(text.startswith(SENT_AGAIN) for text in sent)
        return (
            f"{len(self.written)} messages, {len(sent)} sent, {again} of them again, kills {dict(self.kills)}, "
            f"{self.killed_while_sending.total()} while sending, faults {dict(self.service.faults)}, "
            f"{self.model.condensings} condensings"
        )


# What must be so afterwards


@dataclass(frozen=True)
class Said:
    messages: list[str]
    """All that people said, in its order."""
    answers: dict[int, str]
    """By turn."""
    asked: dict[int, list[str]]
    places: set[tuple[int, int]]
    """(chat, turn), of all that was to be delivered."""


def said_in(memory: recollect.Memory) -> Said:
    log = memory.mind("", lambda: ScriptedTalk([]))._log  # pyright: ignore[reportPrivateUsage]
    with memory.database.read() as session:
        turns = list(session.rows("SELECT number, state FROM mind_turns ORDER BY number"))
        places = {(int(chat), turn) for chat, turn in session.rows("SELECT address, turn FROM mind_deliveries")}
    assert {state for _, state in turns} == {"done"}
    answers: dict[int, str] = {}
    asked: dict[int, list[str]] = {}
    for turn, _ in turns:
        for one in log.of_turn(turn):
            text = "\n".join(block["text"] for block in one.record["content"] if block["type"] == "text")
            if one.entry.role is Role.USER:
                asked.setdefault(turn, []).append(text)
            else:
                assert turn not in answers
                answers[turn] = text
    return Said(messages=[text for turn in asked for text in asked[turn]], answers=answers, asked=asked, places=places)


def assert_each_is_heard_once(storm: Storm, memory: recollect.Memory, said: Said) -> None:
    written = [f"message {number}" for _, number in storm.written]
    assert said.messages == written, "each once, in the order in which they were written"
    history = [
        one.text
        for one in memory.history.export()
        if one.source == "recollect" and one.author is Author.USER and one.standing is Standing.SAID
    ]
    assert Counter(history) == Counter(written)


def assert_each_is_answered_in_one_turn(said: Said) -> None:
    assert set(said.asked) == set(said.answers)
    for turn, texts in said.asked.items():
        assert [f"message {number}" for number in numbers_in(said.answers[turn])] == texts


def assert_each_answer_arrived_in_order(storm: Storm, said: Said) -> None:
    turns = {text: turn for turn, text in said.answers.items()}
    assert len(turns) == len(said.answers)
    of_number = {number: turn for turn, text in said.answers.items() for number in numbers_in(text)}
    assert said.places == {(chat, of_number[number]) for chat, number in storm.written}
    for chat in CHATS:
        arrived = [turns[without_mark(one.text)] for one in storm.service.sent[chat]]
        expected = [turn for place, turn in sorted(said.places) if place == chat]
        assert list(dict.fromkeys(arrived)) == expected, "all of them, the first of each in the order of the turns"


def assert_what_came_again_says_so_and_was_in_doubt(storm: Storm, said: Said) -> None:
    for chat, turn in said.places:
        words = said.answers[turn]
        copies = [one.text for one in storm.service.sent[chat] if without_mark(one.text) == words]
        marked = sum(text.startswith(SENT_AGAIN) for text in copies)
        assert len(copies) - marked <= 1
        assert marked <= storm.service.doubts[chat, words] + storm.killed_while_sending[chat, turn]


def assert_the_stranger_left_no_trace(storm: Storm, memory: recollect.Memory) -> None:
    assert not storm.model.is_shown_too_much
    assert not storm.service.sent[STRANGER]
    assert residue_of(memory, STRANGE) == []
    noted = [event.detail for event in memory.runs.latest("channel", "stranger", 1_000)]
    assert noted
    assert all(detail == {"channel": NAME, "address": str(STRANGER)} for detail in noted)


def assert_the_token_is_nowhere(storm: Storm, memory: recollect.Memory) -> None:
    secret = secret_of(storm.service)
    assert residue_of(memory, secret) == []
    assert secret not in storm.desk.output
    assert secret not in storm.desk.errors


def assert_all_is_well(storm: Storm) -> None:
    assert "Traceback" not in storm.desk.errors
    assert storm.service.unconfirmed == []
    with recollect.open(storm.desk.home) as memory:
        assert memory.database.check() == []
        said = said_in(memory)
        assert_each_is_heard_once(storm, memory, said)
        assert_each_is_answered_in_one_turn(said)
        assert_each_answer_arrived_in_order(storm, said)
        assert_what_came_again_says_so_and_was_in_doubt(storm, said)
        assert_the_stranger_left_no_trace(storm, memory)
        assert_the_token_is_nowhere(storm, memory)


def test_kills_and_bad_weather_lose_nothing_and_repeat_nothing_unsaid(tmp_path: Path) -> None:
    with Service() as service, Echo(unheard=STRANGE) as model:
        storm = Storm(Desk(tmp_path, service, model), service, model, seed=9, most_unanswered=20)
        storm.rage(updates=120, kills=3)
        print(storm.figures)  # noqa: T201  shown where it fails
        assert_all_is_well(storm)


def test_an_answer_that_was_being_sent_comes_again_without_anybody_writing(tmp_path: Path) -> None:
    with Service() as service, Echo() as model:
        desk = Desk(tmp_path, service, model)
        desk.allow(CHATS[0])
        service.write(CHATS[0], "message 1")
        with desk.started() as process:
            service.on_step = lambda step: process.kill() if step == "sendMessage asked" else None
            process.wait(SETTLE_SECONDS)
        service.on_step = lambda step: None
        with desk.up() as process:
            wait_for("the answer, once more", lambda: len(service.texts(CHATS[0])) == 2)
            assert end(process) == 0
        assert service.texts(CHATS[0]) == ["Answer 1 to: 1", f"{SENT_AGAIN}\n\nAnswer 1 to: 1"]


@pytest.mark.soak
def test_two_thousand_updates_and_forty_kills(tmp_path: Path, address: str) -> None:
    with Service() as service, Echo(unheard=STRANGE) as model:
        desk = Desk(tmp_path, service, model, **{"database": address, "mind.compact_at_tokens": 20_000})
        storm = Storm(desk, service, model, seed=2_000, most_unanswered=8)
        storm.rage(updates=2_000, kills=40)
        print(storm.figures)  # noqa: T201  for the record: pytest -s
        assert service.faults.total() > 100
        assert storm.killed_while_sending.total() > 5
        assert model.condensings
        assert_all_is_well(storm)
