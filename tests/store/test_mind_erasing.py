"""What is forgotten goes from the one conversation too, with every summary that stands for it. On both engines."""

import json
from pathlib import Path
from typing import Any

import pytest
from residue import residue_of
from transcripts import Transcript

import recollect
from recollect.errors import NotFound
from recollect.forgetting import Forgotten
from recollect.knowledge import Evidence, Statement

SECRET = "The spare key of the shed lies under the third pot of thyme"
RETOLD = "Ada told where the shed's second key is kept, and was relieved"
OTHER = "Runner beans climb best on hazel poles of two metres"
AGENT = "assistant"

COLUMNS: dict[str, dict[str, Any]] = {
    "mind_entries": {"state": "", "channel": "terminal", "address": ""},
    "mind_turns": {
        "state": "done",
        "began_at": "2026-03-02T10:00:00.000Z",
        "ended_at": "",
        "reason": "",
        "attempts": 1,
    },
    "mind_deliveries": {"channel": "terminal", "address": "", "state": "sent", "at": ""},
    "mind_compactions": {"at": "", "kind": "own", "model": "", "block": "", "state": "current", "detail": "{}"},
}


class Mind:
    """Rows of a mind about messages that came from elsewhere."""

    def __init__(self, memory: recollect.Memory) -> None:
        self.memory = memory

    def add(self, table: str, agent: str = AGENT, **given: Any) -> None:
        row = {"house": self.memory.settings.house, "agent": agent, **COLUMNS[table], **given}
        names, values = ", ".join(row), ", ".join(f":{name}" for name in row)
        with self.memory.database.write() as session:
            session.run(f"INSERT INTO {table} ({names}) VALUES ({values})", row)

    def turn(self, number: int, *said: str, agent: str = AGENT, **given: Any) -> None:
        """One turn that took these messages, a user's and an answer by turns, and that was delivered."""
        for place, words in enumerate(said):
            role = ("user", "assistant")[place % 2]
            message = message_of(self.memory, words)
            entry = {"number": number * 10 + place, "message_id": message, "turn": number, "role": role}
            self.add("mind_entries", agent, at="", **entry)
        self.add("mind_turns", agent, number=number, **given)
        self.add("mind_deliveries", agent, turn=number)

    def compaction(self, number: int, through: int, summary: str, agent: str = AGENT, **given: Any) -> None:
        self.add("mind_compactions", agent, number=number, through=through, summary=summary, **given)

    def rows(self, table: str, columns: str) -> list[tuple[Any, ...]]:
        with self.memory.database.read() as session:
            return sorted(tuple(row) for row in session.rows(f"SELECT {columns} FROM {table}"))

    def summaries(self, agent: str = AGENT) -> list[str]:
        return [text for owner, _, text in self.rows("mind_compactions", "agent, number, summary") if owner == agent]


def message_of(memory: recollect.Memory, words: str) -> str:
    return next(message.id for message in memory.history.export() if words in message.text)


@pytest.fixture
def mind(memory: recollect.Memory, projects: Path) -> Mind:
    """Three turns: small talk, the secret, the beans."""
    told = Transcript("shed")
    told.user("Good morning, how is the weather?")
    told.assistant("Rain until noon, then sun.")
    told.user(f"{SECRET}, do not lose it.")
    told.assistant("I will keep that in mind.")
    told.user(f"{OTHER}, remember that.")
    told.assistant("Noted: hazel poles.")
    memory.history.ingest([told.save(projects)])
    made = Mind(memory)
    made.turn(1, "how is the weather", "Rain until noon")
    made.turn(2, SECRET, "keep that in mind")
    made.turn(3, OTHER, "Noted: hazel")
    return made


def forget(mind: Mind, words: str, *, verify: bool = False, dry_run: bool = False) -> Forgotten:
    return mind.memory.forget(message=message_of(mind.memory, words), verify=verify, dry_run=dry_run)


def forget_and_prove(mind: Mind, words: str) -> Forgotten:
    forgotten = forget(mind, words, verify=True)
    assert forgotten.state == "verified", forgotten
    return forgotten


def test_the_entry_of_a_forgotten_message_goes_and_the_others_stay(mind: Mind) -> None:
    forgotten = forget(mind, SECRET)

    assert (forgotten.removed["mind_entries"], forgotten.removed["compactions"]) == (1, 0)
    assert mind.rows("mind_entries", "number") == [(10,), (11,), (21,), (30,), (31,)]
    assert mind.rows("mind_turns", "number, state") == [(1, "done"), (2, "done"), (3, "done")]
    assert len(mind.rows("mind_deliveries", "turn")) == 3


def test_a_summary_that_stands_for_it_is_emptied_and_so_are_those_made_from_that(mind: Mind) -> None:
    signature = "c2lnbmVkIGJ5IGl0cyBwcm92aWRlcg"
    block = {"type": "compaction", "content": RETOLD, "signature": signature}
    mind.compaction(1, 1, "Ada asked about the weather.")
    mind.compaction(2, 2, RETOLD, block=json.dumps(block), detail=json.dumps({"kept": [SECRET]}))
    mind.compaction(3, 3, f"{RETOLD}. She grows beans.")

    forgotten = forget_and_prove(mind, SECRET)

    assert forgotten.removed["compactions"] == 2
    assert mind.summaries() == ["Ada asked about the weather.", "", ""]
    assert mind.rows("mind_compactions", "number, state, block, detail") == [
        (1, "current", "", "{}"),
        (2, "forgotten", "", ""),
        (3, "forgotten", "", ""),
    ]
    assert residue_of(mind.memory, SECRET, RETOLD, signature) == []


def test_a_summary_of_earlier_turns_stays(mind: Mind) -> None:
    mind.compaction(1, 2, RETOLD)

    assert forget(mind, OTHER).removed["compactions"] == 0
    assert mind.summaries() == [RETOLD]


def test_a_summary_that_stays_may_have_some_of_the_same_words(mind: Mind) -> None:
    """It was made from what others said, and is no trace of this."""
    mind.compaction(1, 2, "Runner beans climb best on hazel poles, said a neighbour.")

    forgotten = forget_and_prove(mind, OTHER)

    assert forgotten.also_in["compaction"] == [AGENT]


def test_words_of_an_emptied_summary_may_be_found_again_in_the_one_made_anew(mind: Mind) -> None:
    mind.compaction(1, 3, f"They talked about the weather and the garden. {RETOLD}.")
    receipt = forget_and_prove(mind, SECRET).receipt

    mind.compaction(2, 3, "They talked about the weather and the garden.")

    assert [one.state for one in mind.memory.forgetting.verify(receipt)] == ["verified"]


def test_words_of_an_emptied_summary_that_lie_in_the_home_are_found(mind: Mind) -> None:
    mind.compaction(1, 3, RETOLD)
    runtime = mind.memory.settings.runtime
    runtime.mkdir(parents=True, exist_ok=True)
    (runtime / "left-over.json").write_text(json.dumps({"summary": RETOLD}))

    forgotten = mind.memory.forget(message=message_of(mind.memory, SECRET))

    assert forgotten.state == "residue"
    assert "left-over.json" in forgotten.residue[0]


def test_a_dry_run_counts_and_changes_nothing(mind: Mind) -> None:
    mind.compaction(1, 3, RETOLD)
    before = {table: mind.rows(table, "*") for table in COLUMNS}

    told = forget(mind, SECRET, dry_run=True)

    assert (told.removed["mind_entries"], told.removed["compactions"]) == (1, 1)
    assert {table: mind.rows(table, "*") for table in COLUMNS} == before


def test_what_is_counted_in_a_dry_run_is_what_goes(mind: Mind) -> None:
    mind.compaction(1, 2, RETOLD)
    mind.compaction(2, 3, RETOLD)
    told = forget(mind, SECRET, dry_run=True)

    done = forget(mind, SECRET)

    names = ("compactions", "mind_entries")
    assert [told.removed[name] for name in names] == [done.removed[name] for name in names] == [2, 1]
    receipt = mind.memory.forgetting.receipts()[-1]
    assert [receipt.removed[name] for name in names] == [2, 1]


def test_a_forgotten_conversation_takes_all_of_it(mind: Mind) -> None:
    mind.compaction(1, 1, "Ada asked about the weather.")
    message = next(iter(mind.memory.history.export()))
    assert message.conversation_id

    forgotten = mind.memory.forget(conversation=message.conversation_id)

    assert forgotten.state == "verified", forgotten
    assert (forgotten.removed["mind_entries"], forgotten.removed["compactions"]) == (6, 1)
    assert mind.rows("mind_entries", "number") == mind.rows("mind_deliveries", "turn") == []
    assert [number for (number,) in mind.rows("mind_turns", "number")] == [1, 2, 3], "no number is given twice"


def test_a_forgotten_file_takes_all_of_it(mind: Mind) -> None:
    mind.compaction(1, 3, RETOLD)
    _, rows = mind.memory.sql("SELECT file FROM files")

    forgotten = mind.memory.forget(file=rows[0][0], verify=False)

    assert forgotten.removed["compactions"] == 1
    assert mind.rows("mind_entries", "number") == []


def test_deliveries_go_with_the_last_entry_of_their_turn(mind: Mind) -> None:
    forget(mind, SECRET)
    assert [turn for (turn,) in mind.rows("mind_deliveries", "turn")] == [1, 2, 3]

    forget(mind, "keep that in mind")
    assert [turn for (turn,) in mind.rows("mind_deliveries", "turn")] == [1, 3]


def test_a_turn_in_flight_with_nobody_left_to_answer_is_at_its_end(mind: Mind) -> None:
    with mind.memory.database.write() as session:
        session.run("UPDATE mind_turns SET state = 'open' WHERE number IN (2, 3)")

    forget(mind, OTHER)

    assert mind.rows("mind_turns", "number, state") == [(1, "done"), (2, "open"), (3, "stopped")]


def test_why_a_turn_failed_is_forgotten_with_what_it_was_about(mind: Mind, projects: Path) -> None:
    with mind.memory.database.write() as session:
        session.run("UPDATE mind_turns SET state = 'failed', reason = :reason WHERE number <= 2", {"reason": SECRET})
        session.run("UPDATE mind_turns SET reason = 'no key' WHERE number = 1")

    forget(mind, SECRET)

    assert mind.rows("mind_turns", "number, reason") == [(1, "no key"), (2, ""), (3, "")]


def test_what_waits_to_be_heard_can_be_forgotten(mind: Mind, projects: Path) -> None:
    told = Transcript("waiting")
    told.user("Tell nobody that the cat ate the roast.")
    mind.memory.history.ingest([told.save(projects)])
    message = message_of(mind.memory, "ate the roast")
    mind.add("mind_entries", number=99, message_id=message, turn=0, role="user", at="", state="waiting")
    mind.compaction(1, 3, RETOLD)

    forgotten = forget(mind, "ate the roast")

    assert (forgotten.removed["mind_entries"], forgotten.removed["compactions"]) == (1, 0)
    assert mind.summaries() == [RETOLD]


def test_the_summaries_of_another_agent_stay(mind: Mind) -> None:
    mind.compaction(1, 3, RETOLD)
    mind.compaction(1, 3, "Bert likes rain.", agent="bert")

    forget(mind, SECRET)

    assert (mind.summaries(), mind.summaries("bert")) == ([""], ["Bert likes rain."])


def test_another_house_in_the_same_database_keeps_what_it_has(mind: Mind) -> None:
    mind.compaction(1, 3, RETOLD)
    mind.compaction(1, 3, "Somebody else's summary.", house="neighbours")

    forget(mind, SECRET)

    assert sorted(mind.summaries()) == ["", "Somebody else's summary."]


def test_a_forgotten_record_takes_the_summaries_that_say_it(mind: Mind) -> None:
    record = mind.memory.knowledge.remember("The shed was painted green in the spring.").record
    assert record
    mind.compaction(1, 1, "The weather was fine.")
    mind.compaction(2, 2, "And the shed was painted  GREEN in the spring, said Ada.")
    mind.compaction(3, 3, "Later they talked about beans.")

    forgotten = mind.memory.forget(record=record.id)

    assert (forgotten.state, forgotten.removed["compactions"], forgotten.removed["mind_entries"]) == ("verified", 1, 0)
    assert mind.summaries() == ["The weather was fine.", "", "Later they talked about beans."]


def test_a_record_forgotten_with_its_sources_takes_the_summaries_of_these(mind: Mind) -> None:
    source = message_of(mind.memory, SECRET)
    record = mind.memory.knowledge.learn(
        Statement(text="The key is outside.", sources=(Evidence(message_id=source),))
    ).record
    assert record
    mind.compaction(1, 3, RETOLD)

    assert mind.memory.forget(record=record.id, with_sources=True, verify=False).removed["compactions"] == 1
    assert mind.summaries() == [""]


def test_an_agent_that_forgets_its_own_record_learns_nothing_of_other_conversations(mind: Mind) -> None:
    for name in ("ada", "ada/kitchen", "bert"):
        mind.memory.agents.add(name)
        mind.compaction(1, 0, "They know that Rolf the hedgehog sleeps under the porch.", agent=name)
    ada = mind.memory.as_agent("ada")
    record = ada.knowledge.remember("Rolf the hedgehog sleeps under the porch.").record
    assert record

    forgotten = ada.forget(record=record.id, verify=False)

    assert forgotten.removed["compactions"] == 2
    assert (mind.summaries("ada"), mind.summaries("ada/kitchen")) == ([""], [""])
    assert mind.summaries("bert") != [""]


def test_a_block_that_somebody_broke_does_not_keep_anybody_from_forgetting(mind: Mind) -> None:
    mind.compaction(1, 3, RETOLD, block='{"content": "The spare key of')

    forget_and_prove(mind, SECRET)

    assert mind.summaries() == [""]


def test_a_forgotten_message_that_was_never_in_the_conversation_touches_nothing(mind: Mind, projects: Path) -> None:
    told = Transcript("elsewhere")
    told.user("The code of the garden gate is written on the old almanac.")
    mind.memory.history.ingest([told.save(projects)])
    mind.compaction(1, 3, RETOLD)

    forgotten = forget(mind, "garden gate")

    assert (forgotten.removed["mind_entries"], forgotten.removed["compactions"]) == (0, 0)
    with pytest.raises(NotFound):
        mind.memory.forget(message="m-none")
