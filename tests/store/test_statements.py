"""What is no statement is refused in words and leaves the house as it was. On both engines."""

from collections.abc import Callable

import pytest

import recollect
from recollect.errors import Conflict, Invalid, NotFound, RecollectError
from recollect.knowledge import Evidence, Statement

NO_TEXT = [None, 5, b"bytes", [], {}]


@pytest.mark.parametrize("text", [*NO_TEXT, "", " \n", "\x00", "\ud800", "\u200b\u200b\u2060"])
def test_a_text_in_which_nothing_can_be_read_is_refused(memory: recollect.Memory, text: str) -> None:
    with pytest.raises(Invalid):
        memory.knowledge.remember(text)
    record = memory.knowledge.remember("Beans need a pole.").record
    assert record
    if text is not None:
        with pytest.raises(Invalid):
            memory.knowledge.edit(record.id, text)
    assert [found.text for found in memory.knowledge.records(state="all")] == ["Beans need a pole."]


@pytest.mark.parametrize("wrong", [5, b"bytes", ["list"]])
@pytest.mark.parametrize(
    "field",
    ["subject", "value", "reason", "kind", "category", "relation", "other", "true_from", "expires_at", "tags"],
)
def test_what_is_not_text_is_refused(memory: recollect.Memory, field: str, wrong: object) -> None:
    wrong = 7 if field == "tags" and wrong == ["list"] else wrong
    with pytest.raises(Invalid):
        memory.knowledge.remember("Beans need a pole.", **{field: wrong})
    assert memory.knowledge.records(state="all") == []


@pytest.mark.parametrize("tags", ["garden", [5], [""], [b"x"], ["\x07"], ["x" * 501], ["t"] * 51])
def test_tags_are_a_list_of_words(memory: recollect.Memory, tags: list[str]) -> None:
    record = memory.knowledge.remember("Beans need a pole.").record
    assert record
    refused: list[Callable[[], object]] = [
        lambda: memory.knowledge.remember("Peas need a net.", tags=tags),
        lambda: memory.knowledge.edit(record.id, tags=tags),
        lambda: memory.knowledge.records(tags=tags),
    ]
    for act in refused:
        with pytest.raises(Invalid):
            act()
    assert memory.knowledge.record(record.id) == record


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -0.1, 1.1, "1", True])
def test_a_share_is_a_number_from_0_to_1(memory: recollect.Memory, number: float) -> None:
    record = memory.knowledge.remember("Beans need a pole.").record
    assert record
    for name in ("confidence", "importance"):
        with pytest.raises(Invalid, match=name):
            memory.knowledge.remember("Peas need a net.", **{name: number})
        with pytest.raises(Invalid, match=name):
            memory.knowledge.edit(record.id, **{name: number})


def test_words_of_no_known_set_are_not_kept(memory: recollect.Memory) -> None:
    wrong = [
        Statement(text="one", kind="rumour"),  # type: ignore[arg-type]
        Statement(text="one", category="gossip"),  # type: ignore[arg-type]
        Statement(text="one", origin="dreamt"),  # type: ignore[arg-type]
        Statement(text="one", sources=("m1",)),  # type: ignore[arg-type]
        Statement(text="one", sources=(Evidence(message_id=""),)),
        Statement(text="one", sources=(Evidence(message_id=5),)),  # type: ignore[arg-type]
        Statement(text="one", id="of@3"),
    ]
    for statement in wrong:
        with pytest.raises(Invalid):
            memory.knowledge.learn(statement)
    assert memory.knowledge.records(state="all") == []


def test_a_word_counts_like_the_member_it_names(memory: recollect.Memory) -> None:
    for town in ("Paris", "Rome"):
        said = memory.knowledge.remember(
            f"Ada has a flat in {town}.",
            subject="Ada",
            attribute="flat",
            relation="unrelated",  # type: ignore[arg-type]
        )
        assert said.outcome == "unrelated"
    assert len(memory.knowledge.records()) == 2


@pytest.mark.parametrize("odd", ["\x00", "a\x00b", "\ud800"])
def test_odd_characters_reach_no_store(memory: recollect.Memory, odd: str) -> None:
    record = memory.knowledge.remember("one", value=odd, subject=f"s{odd}", reason="because \x00").record
    assert record
    assert memory.knowledge.fact(odd, odd) is None
    assert memory.knowledge.records(subject=f"s{odd}") == [record]
    with pytest.raises(RecollectError):
        memory.knowledge.record(odd)


def test_a_reason_that_is_no_text_is_refused(memory: recollect.Memory) -> None:
    with pytest.raises(Invalid, match="UTF-8"):
        memory.knowledge.remember("one", reason="because \ud800")
    assert memory.knowledge.records() == []


def test_signs_alone_are_not_all_the_same(memory: recollect.Memory) -> None:
    assert [memory.knowledge.remember(text).outcome for text in ("...", "!!!", "...")] == ["new", "new", "same"]


def test_a_credential_in_a_reason_is_masked(memory: recollect.Memory) -> None:
    secret = "ghp_" + "a1B2" * 9
    record = memory.knowledge.remember("one", reason=f"as {secret} says").record
    assert record
    assert secret not in memory.knowledge.events(record.id)[0].reason


def test_times_are_compared_as_moments(memory: recollect.Memory) -> None:
    kept = memory.knowledge.remember("one", true_from="2025-05-02T01:00+05:00", true_until="2025-05-01T22:00Z").record
    assert kept
    assert (kept.true_from, kept.true_until) == ("2025-05-01T20:00:00.000Z", "2025-05-01T22:00:00.000Z")
    with pytest.raises(Invalid, match="true until"):
        memory.knowledge.remember("two", true_from="2025-05-01T23:00-05:00", true_until="2025-05-02T01:00Z")


def test_what_ended_before_it_was_learned_needs_a_beginning(memory: recollect.Memory) -> None:
    with pytest.raises(Invalid, match="from which"):
        memory.knowledge.remember("Ada lived in Paris.", true_until="2001-01-01")


def test_an_id_in_use_elsewhere_cannot_be_taken(memory: recollect.Memory) -> None:
    memory.agents.add("ada")
    memory.agents.add("bert")
    theirs = memory.as_agent("bert").knowledge.learn(Statement(text="Bert keeps bees.", id="ab" * 12)).record
    assert theirs
    with pytest.raises(Conflict) as raised:
        memory.as_agent("ada").knowledge.learn(Statement(text="Ada keeps cats.", id=theirs.id))
    assert "bees" not in str(raised.value)
    assert memory.knowledge.records() == [theirs]


def test_an_agent_does_not_learn_by_forgetting_who_else_has_its_words(memory: recollect.Memory) -> None:
    for name in ("ada", "bert"):
        memory.agents.add(name)
    words = "The spare key lies under the third flower pot."
    memory.as_agent("bert").knowledge.remember(words)
    ada = memory.as_agent("ada")
    record = ada.knowledge.remember(words).record
    assert record
    told = ada.forget(record=record.id)
    assert (told.is_verified, told.also_in) == (True, {})


def test_an_agent_reads_no_versions_of_others(memory: recollect.Memory) -> None:
    memory.agents.add("ada")
    theirs = memory.knowledge.remember("one", scope="house").record
    memory.agents.add("bert")
    own = memory.as_agent("bert").knowledge.remember("two").record
    assert theirs
    assert own
    ada = memory.as_agent("ada").knowledge
    assert ada.pages(("", 0), 10) == [theirs]
    assert ada.indexed([theirs.id, own.id]) == {theirs.id: [theirs]}


def test_a_record_that_is_not_there_is_named(memory: recollect.Memory) -> None:
    for name in ("", "zz", "%", "0" * 70):
        with pytest.raises(NotFound):
            memory.knowledge.record(name)
