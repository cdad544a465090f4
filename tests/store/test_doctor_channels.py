"""What `doctor` says of channels, of answers that do not arrive, and of the heartbeat. On both engines."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from commands import run
from conftest import OpenHouse
from minds import Listener, minding, on_sqlite, say
from minds import run as to_its_end

import recollect
from recollect.clock import to_text
from recollect.daemon.minding import MindingProgress
from recollect.daemon.status import DaemonStatus
from recollect.doctor import examine
from recollect.doctor.channels import channels
from recollect.doctor.findings import Level
from recollect.errors import Denied, Unavailable
from recollect.lock import HomeLock
from recollect.mind.channel import Reply
from recollect.testing import FrozenClock
from recollect.testing.scripted_talk import ScriptedTalk

LOCAL = "http://127.0.0.1:9/v1#scripted"
TELEGRAM = {"mind": {"model": "scripted"}, "telegram": {"token_variable": "MADE_UP_TOKEN"}}
WEBHOOK = {"mind": {"model": "scripted"}, "webhook": {"listen": "127.0.0.1:0", "secret_variable": "MADE_UP_SECRET"}}
HEARTBEAT = {"mind": {"model": "scripted"}, "heartbeat": {"model": LOCAL}}


class Refusing(Listener):
    """The other side takes nothing any more."""

    async def deliver(self, address: str, reply: Reply) -> None:
        raise Denied("It was blocked.")


class Away(Listener):
    """No network."""

    async def deliver(self, address: str, reply: Reply) -> None:
        raise Unavailable("The line is down.")


def told(memory: recollect.Memory, check: str) -> list[str]:
    """What is the matter, with its next step; nothing: all is well."""
    found = [one for one in channels(memory) if one.check == check and one.level is not Level.OK]
    return [f"{one.message} {one.next_step}" for one in found]


def level(memory: recollect.Memory, check: str) -> str:
    return next(one.level for one in channels(memory) if one.check == check)


def speak(memory: recollect.Memory, channel: Listener, text: str = "hello") -> None:
    """Say something by this channel, or only let it deliver."""

    async def work() -> None:
        async with minding(memory, ScriptedTalk(["Yes."]), channel) as mind:
            if text:
                await say(mind, text, channel=channel.name, address="42")
            else:
                await mind.turn()
            await mind.settle()

    to_its_end(work())


class Daemon:
    """What a daemon leaves for others to see."""

    def __init__(self, memory: recollect.Memory, minding: MindingProgress | None) -> None:
        runtime, now = memory.settings.runtime, to_text(memory.clock())
        self._lock = HomeLock(runtime)
        self._lock.acquire()
        status = DaemonStatus(pid=1, started_at=now, roots=[], last_scan_at=now if minding else "")
        status.minding = minding or MindingProgress()
        (runtime / "status.json").write_bytes(msgspec.json.encode(status))

    def end(self) -> None:
        self._lock.release()


@pytest.fixture
def daemon() -> Iterator[list[Daemon]]:
    started: list[Daemon] = []
    yield started
    for one in started:
        one.end()


def at_work(**problems: str) -> MindingProgress:
    return MindingProgress(is_at_work=True, channels=problems)


# What is set up


def test_a_house_without_channels_is_well(memory: recollect.Memory) -> None:
    assert [(one.check, one.level) for one in channels(memory)] == [("channels", "ok"), ("heartbeat", "ok")]


@pytest.mark.parametrize(
    ("name", "settings", "variable"), [("telegram", TELEGRAM, "MADE_UP_TOKEN"), ("webhook", WEBHOOK, "MADE_UP_SECRET")]
)
def test_a_channel_whose_variable_is_empty_is_told_by_the_name_of_the_variable(
    open_house: OpenHouse, monkeypatch: pytest.MonkeyPatch, name: str, settings: dict[str, object], variable: str
) -> None:
    memory = open_house(**settings)
    memory.places.allow(name, "42")
    (missing,) = told(memory, name)
    assert variable in missing
    assert f"[{name}]" in missing

    monkeypatch.setenv(variable, "something")
    (unread,) = told(memory, name)
    assert "No daemon runs" in unread
    assert "something" not in unread


def test_the_word_of_a_daemon_that_listens_counts_more_than_a_variable_that_is_not_set_here(
    open_house: OpenHouse, daemon: list[Daemon]
) -> None:
    memory = open_house(**TELEGRAM)
    memory.places.allow("telegram", "42")
    daemon.append(Daemon(memory, at_work(telegram="")))
    assert told(memory, "telegram") == []
    assert level(memory, "channels") == "ok"


def test_what_a_daemon_tells_of_a_channel_is_shown(open_house: OpenHouse, daemon: list[Daemon]) -> None:
    memory = open_house(**TELEGRAM)
    memory.places.allow("telegram", "42")
    daemon.append(Daemon(memory, at_work(telegram="Telegram does not know this token.")))
    (problem,) = told(memory, "telegram")
    assert "does not know this token" in problem


def test_what_keeps_a_daemon_from_talking_at_all_is_shown(open_house: OpenHouse, daemon: list[Daemon]) -> None:
    memory = open_house(**TELEGRAM)
    daemon.append(Daemon(memory, MindingProgress(problem="no room on the disk", restarts=3)))
    (problem,) = told(memory, "channels")
    assert "no room on the disk. It was started again 3 times." in problem


def test_a_channel_that_a_running_daemon_does_not_know_is_told(open_house: OpenHouse, daemon: list[Daemon]) -> None:
    memory = open_house(**TELEGRAM)
    memory.places.allow("telegram", "42")
    daemon.append(Daemon(memory, at_work()))
    (problem,) = told(memory, "telegram")
    assert "does not listen" in problem


def test_of_a_daemon_in_its_first_pass_nothing_is_claimed(open_house: OpenHouse, daemon: list[Daemon]) -> None:
    memory = open_house(**TELEGRAM)
    memory.places.allow("telegram", "42")
    daemon.append(Daemon(memory, None))
    assert told(memory, "telegram") == []


def test_a_channel_without_a_model_that_answers_is_told(open_house: OpenHouse) -> None:
    memory = open_house(telegram=TELEGRAM["telegram"])
    assert any("no model" in one for one in told(memory, "telegram"))


def test_a_channel_by_which_nobody_is_heard_names_the_way_to_a_code(
    open_house: OpenHouse, daemon: list[Daemon]
) -> None:
    memory = open_house(**TELEGRAM)
    daemon.append(Daemon(memory, at_work(telegram="")))
    (problem,) = told(memory, "telegram")
    assert "recollect channels pair telegram" in problem


# Answers


def test_answers_that_wait_for_long_are_told_by_channel_and_those_of_now_are_not(
    memory: recollect.Memory, clock: FrozenClock
) -> None:
    for name in ("telegram", "terminal"):
        speak(memory, Away(name=name))
    assert channels(memory)[0].level is Level.OK
    clock.move(minutes=9)
    assert channels(memory)[0].level is Level.OK
    clock.move(minutes=2)
    assert told(memory, "telegram") == [
        "1 answer waits to be sent since 2026-03-02 12:00. Set up telegram again, and run recollect up."
    ]
    assert told(memory, "terminal") == ["1 answer waits to be sent since 2026-03-02 12:00. recollect chat shows them."]


def test_a_try_that_failed_does_not_make_an_answer_younger(memory: recollect.Memory, clock: FrozenClock) -> None:
    speak(memory, Away(name="telegram"))
    for _ in range(3):
        clock.move(minutes=5)
        speak(memory, Away(name="telegram"), text="")
    (problem,) = told(memory, "telegram")
    assert "since 2026-03-02 12:00" in problem


def test_answers_that_were_refused_are_told_for_a_week(memory: recollect.Memory, clock: FrozenClock) -> None:
    for _ in range(2):
        speak(memory, Refusing(name="telegram"))
        clock.move(minutes=1)
    (problem,) = told(memory, "telegram")
    assert "2 answers were not taken in the last 7 days, the last 2026-03-02 12:01." in problem
    clock.move(days=8)
    assert told(memory, "telegram") == []


def test_a_blocked_place_is_told_with_the_way_to_remove_it(memory: recollect.Memory) -> None:
    memory.places.allow("telegram", "42", "Mara")
    memory.places.allow("telegram", "43")
    memory.places.block("telegram", "42")
    (problem,) = told(memory, "telegram")
    assert "42 (Mara) takes nothing any more." in problem
    assert "recollect channels remove telegram 42" in problem
    memory.places.unblock("telegram", "42")
    assert told(memory, "telegram") == []


# The heartbeat


def test_a_heartbeat_without_a_place_to_write_to_is_told(open_house: OpenHouse) -> None:
    memory = open_house(**HEARTBEAT)
    (problem,) = told(memory, "heartbeat")
    assert "no place to write to" in problem

    memory.places.allow("telegram", "42")
    assert told(memory, "heartbeat") == []
    memory.places.block("telegram", "42")
    assert len(told(memory, "heartbeat")) == 1


def test_a_heartbeat_whose_channel_has_no_place_is_told(open_house: OpenHouse) -> None:
    memory = open_house(mind={"model": "scripted"}, heartbeat={"model": LOCAL, "channel": "webhook"})
    memory.places.allow("telegram", "42")
    (problem,) = told(memory, "heartbeat")
    assert "by webhook" in problem
    assert "recollect channels pair webhook" in problem


@on_sqlite
def test_a_heartbeat_that_only_looks_back_needs_no_place(open_house: OpenHouse) -> None:
    memory = open_house(mind={"model": "scripted"}, heartbeat={"model": LOCAL, "schedule": ""})
    assert told(memory, "heartbeat") == []


@on_sqlite
@pytest.mark.parametrize(
    ("name", "value"), [("schedule", "now and then"), ("reflection", "99 * * * *"), ("quiet_hours", "at night")]
)
def test_a_mistake_in_the_settings_of_the_heartbeat_is_a_failure_that_names_the_setting(
    open_house: OpenHouse, name: str, value: str
) -> None:
    memory = open_house(mind={"model": "scripted"}, heartbeat={"model": LOCAL, name: value})
    (problem,) = told(memory, "heartbeat")
    assert f"heartbeat.{name}" in problem
    assert level(memory, "heartbeat") == "failure"


@on_sqlite
def test_when_the_next_moments_are_due_is_told_by_the_daemon(open_house: OpenHouse, daemon: list[Daemon]) -> None:
    memory = open_house(**HEARTBEAT)
    memory.places.allow("telegram", "42")
    due = MindingProgress(
        is_at_work=True, outreach_due_at="2026-03-02T13:04:00.000Z", reflection_due_at="2026-03-02T21:33:00.000Z"
    )
    daemon.append(Daemon(memory, due))
    (found,) = [one for one in channels(memory) if one.check == "heartbeat"]
    assert found.message == "It considers writing 2026-03-02 13:04 and looks back 2026-03-02 21:33."


@on_sqlite
def test_a_problem_of_the_heartbeat_that_a_daemon_tells_is_shown(open_house: OpenHouse, daemon: list[Daemon]) -> None:
    memory = open_house(**HEARTBEAT)
    memory.places.allow("telegram", "42")
    daemon.append(Daemon(memory, at_work(heartbeat="The ceiling of a day is reached.")))
    (problem,) = told(memory, "heartbeat")
    assert "The ceiling of a day is reached." in problem


# Through the command


def test_all_of_it_is_part_of_the_doctor(memory: recollect.Memory) -> None:
    checks = [one.check for one in examine(memory)]
    assert checks.index("mind") < checks.index("channels") < checks.index("heartbeat")


def test_a_channel_of_another_package_that_does_not_load_is_named_and_stops_nothing(tmp_path: Path, home: Path) -> None:
    site = tmp_path / "site"
    about = site / "signal_channel-1.0.dist-info"
    about.mkdir(parents=True)
    (site / "signal_channel.py").write_text("raise RuntimeError('no line')\n", encoding="utf-8")
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: signal-channel\nVersion: 1.0\n", encoding="utf-8")
    points = "[recollect.channels]\nsignal = signal_channel:SignalKind\n"
    (about / "entry_points.txt").write_text(points, encoding="utf-8")

    found = run("doctor", "--json", home=home, variables={"PYTHONPATH": str(site)}).json()["findings"]

    (finding,) = [one for one in found if one["check"] == "channels"]
    assert "signal" in finding["message"]
    assert "no line" in finding["message"]
    assert finding["level"] == "warning"


@on_sqlite
@pytest.mark.parametrize(("model", "words"), [("gpt", "no model that talks"), ("anthropic:claude-haiku-5-5", "a key")])
def test_a_heartbeat_whose_model_could_not_be_asked_is_told(open_house: OpenHouse, model: str, words: str) -> None:
    memory = open_house(mind={"model": "scripted"}, heartbeat={"model": model})
    assert any(words in one for one in told(memory, "heartbeat"))


@on_sqlite
def test_a_heartbeat_by_a_channel_that_is_none_is_told(open_house: OpenHouse) -> None:
    memory = open_house(mind={"model": "scripted"}, heartbeat={"model": LOCAL, "channel": "signal"})
    assert any("'signal', which no channel is called" in one for one in told(memory, "heartbeat"))
