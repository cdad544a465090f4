"""Tokens: whom each speaks for, what it may, and when it is good no more."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from conftest import FrozenClock, OpenHouse
from hypothesis import given
from hypothesis import strategies as st

import recollect
from recollect.access import looks_like_secret
from recollect.clock import to_text
from recollect.errors import Conflict, Denied, Invalid, NotFound
from recollect.scopes import OWNER, Actor, Principal

ADA = Principal(actor=Actor.AGENT, name="ada", scope="ada")


def test_a_token_without_an_agent_speaks_for_the_person(memory: recollect.Memory) -> None:
    assert memory.access.holder(memory.access.create().secret) == OWNER


def test_a_token_of_an_agent_speaks_for_it_and_for_a_room_of_it(memory: recollect.Memory) -> None:
    memory.agents.add("ada")
    memory.agents.add("ada/kitchen")
    assert memory.access.holder(memory.access.create("ada").secret) == ADA
    assert memory.access.holder(memory.access.create("ada/kitchen").secret) == replace(ADA, scope="ada/kitchen")


def test_a_token_for_reading_writes_nowhere(memory: recollect.Memory) -> None:
    memory.agents.add("ada")
    for agent in ("", "ada"):
        holder = memory.access.holder(memory.access.create(agent, read_only=True).secret)
        assert holder is not None
        assert not holder.may_write
        reading = memory.acting_for(holder)
        with pytest.raises(Denied, match="may only read"):
            reading.knowledge.remember("The gate code is on the fridge.")
        with pytest.raises(Denied, match="may only read"):
            reading.notes.write("plans.md" if not agent else "agents/ada/plans.md", "Plans.")
        assert reading.knowledge.records() == []


def test_who_may_only_read_makes_nobody_who_may_write(memory: recollect.Memory) -> None:
    memory.agents.add("ada")
    reading = memory.acting_for(replace(OWNER, may_write=False))
    assert not reading.as_agent("ada").principal.may_write
    assert not reading.acting_for(OWNER).principal.may_write
    with pytest.raises(Denied):
        reading.access.create()


def test_the_secret_is_kept_nowhere(memory: recollect.Memory) -> None:
    made = memory.access.create(label="phone")
    with memory.database.read() as session:
        rows = session.rows("SELECT * FROM access_tokens")
    assert made.secret not in str(rows)
    assert made.secret not in str(memory.access.list())


def test_a_revoked_token_opens_nothing_and_says_so_once(memory: recollect.Memory) -> None:
    made = memory.access.create()
    assert memory.access.revoke(made.token.id[-8:]).revoked_at
    assert memory.access.holder(made.secret) is None
    with pytest.raises(Conflict, match="was revoked"):
        memory.access.revoke(made.token.id)
    with pytest.raises(NotFound, match="token list"):
        memory.access.revoke("nosuch")


def test_a_token_ends_at_the_moment_it_expires(memory: recollect.Memory, clock: FrozenClock) -> None:
    ends = clock() + timedelta(days=1)
    made = memory.access.create(expires_at=to_text(ends))
    clock.now = ends - timedelta(milliseconds=1)
    assert memory.access.holder(made.secret) == OWNER
    clock.now = ends
    assert memory.access.holder(made.secret) is None
    with pytest.raises(Invalid, match="time to come"):
        memory.access.create(expires_at=to_text(clock()))


def test_a_token_whose_agent_is_gone_opens_nothing(memory: recollect.Memory) -> None:
    memory.agents.add("ada")
    made = memory.access.create("ada")
    memory.agents.remove("ada")
    assert memory.access.holder(made.secret) is None


def test_a_token_of_one_who_is_gone_does_not_speak_for_another_of_the_same_name(
    memory: recollect.Memory, clock: FrozenClock
) -> None:
    memory.agents.add("ada")
    made = memory.access.create("ada")
    memory.agents.remove("ada")
    clock.move(seconds=1)
    memory.agents.add("ada")
    assert memory.access.holder(made.secret) is None
    assert memory.access.holder(memory.access.create("ada").secret) == ADA


def test_a_token_whose_agent_is_gone_is_told_as_good_no_more(memory: recollect.Memory, clock: FrozenClock) -> None:
    for name in ("ada", "ada/kitchen", "bob"):
        memory.agents.add(name)
    made = [memory.access.create(name).token for name in ("ada", "ada/kitchen", "bob", "")]
    memory.agents.remove("ada/kitchen")
    memory.agents.remove("ada")

    def told() -> list[tuple[str, bool, bool]]:
        return [(one.agent, one.is_agent_gone, one.is_good(to_text(clock()))) for one in memory.access.list()]

    gone = [("ada", True, False), ("ada/kitchen", True, False), ("bob", False, True), ("", False, True)]
    assert told() == gone
    clock.move(seconds=1)
    memory.agents.add("ada")
    assert told() == gone, "another of the same name is another"
    assert memory.access.revoke(made[0].id).is_agent_gone


def test_who_may_only_read_changes_nothing_of_the_house(memory: recollect.Memory, tmp_path: Path) -> None:
    reading = memory.acting_for(replace(OWNER, may_write=False))
    for change in (
        lambda: reading.agents.add("bob"),
        reading.history.pause,
        reading.history.resume,
        lambda: reading.history.ingest([tmp_path]),
        lambda: reading.transfer.export_to(tmp_path / "copy"),
    ):
        with pytest.raises(Denied):
            change()
    assert memory.agents.list() == []
    assert not (tmp_path / "copy").exists()


def test_a_token_for_an_agent_that_is_not_there_is_refused(memory: recollect.Memory) -> None:
    with pytest.raises(NotFound, match="agents"):
        memory.access.create("nobody")
    assert memory.access.list() == []


def test_a_token_of_one_house_opens_no_other(open_house: OpenHouse) -> None:
    one, other = open_house(), open_house()
    assert other.access.holder(one.access.create().secret) is None


def test_an_agent_handles_no_tokens(memory: recollect.Memory) -> None:
    memory.agents.add("ada")
    made = memory.access.create()
    ada = memory.as_agent("ada")
    for forbidden in (ada.access.list, ada.access.create, lambda: ada.access.revoke(made.token.id)):
        with pytest.raises(Denied, match="only a person"):
            forbidden()


def test_its_first_use_in_each_hour_is_noted(memory: recollect.Memory, clock: FrozenClock) -> None:
    clock.now = clock.now.replace(minute=34)
    made = memory.access.create()
    first = to_text(clock())
    for minutes, noted in ((0, first), (25, first), (1, to_text(clock.now + timedelta(minutes=26)))):
        clock.move(minutes=minutes)
        memory.access.note_use(made.secret)
        memory.access.note_use("recollect_" + "x" * 43)
        (listed,) = memory.access.list()
        assert listed.last_used_at == noted
        assert listed.last_used_at >= listed.made_at


@given(st.text(max_size=80))
def test_whatever_is_not_a_secret_of_ours_does_not_look_like_one(text: str) -> None:
    assert not looks_like_secret(text) or (text.startswith("recollect_") and len(text) == 53 and text.isascii())
