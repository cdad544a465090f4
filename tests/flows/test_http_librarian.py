"""The librarian over HTTP: reading, what the day brought, review, questions, nights."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from errands import done
from http_houses import House, asked, make_tokens
from starlette.testclient import TestClient
from transcripts import Transcript

from recollect import Memory
from recollect.clock import to_text
from recollect.librarian.questions import Question, QuestionKind, QuestionStore
from recollect.testing import FrozenClock

PEANUTS = "Remember that I am allergic to peanuts."


@pytest.fixture
def house(memory: Memory, clock: FrozenClock, projects: Path) -> House:
    told = Transcript("one", start=clock() - timedelta(days=1))
    for sentence in (PEANUTS, "I live in Graz.", "That is all for now, thank you."):
        told.user(sentence)
        told.assistant("Thank you, I understand that.")
    told.save(projects)
    memory.agents.add("ada")
    memory.agents.add("bob")
    memory.history.ingest([projects])
    return House(memory=memory, tokens=make_tokens(memory, clock))


@pytest.fixture
def client(house: House) -> Iterator[TestClient]:
    with asked(house, house.tokens.owner) as opened:
        yield opened


@pytest.fixture
def filed(client: TestClient) -> TestClient:
    assert done(client, "/v1/librarian/process", {})["processed"] == 1
    return client


def line_with(client: TestClient, words: str) -> dict[str, Any]:
    return next(line for line in client.get("/v1/today").json()["lines"] if words in line["text"])


def test_conversations_are_read_after_the_answer_and_told_as_the_command_tells_them(filed: TestClient) -> None:
    texts = [one["text"] for one in filed.get("/v1/records").json()["items"]]
    assert any("peanuts" in text for text in texts)
    again = done(filed, "/v1/librarian/process", {"all": True})
    assert (again["processed"], again["failed"], again["cost_usd"]) == (1, 0, 0.0)
    assert len(filed.get("/v1/records").json()["items"]) == len(texts)


def test_what_is_queued_waits_for_whoever_reads(client: TestClient, house: House) -> None:
    answer = client.post("/v1/librarian/queue", json={})
    assert answer.status_code == 202
    assert answer.headers["location"] == "/v1/librarian"
    assert (answer.json()["queued"], answer.json()["daemon_runs"]) == (1, False)
    assert client.get("/v1/librarian").json()["queued"] == 1
    assert house.memory.librarian.process().processed == 1
    assert client.get("/v1/librarian").json()["queued"] == 0


def test_an_estimate_asks_nobody_and_needs_no_right_to_write(house: House) -> None:
    with asked(house, house.tokens.reader) as client:
        estimate = done(client, "/v1/librarian/estimate", {"all": True})
        assert (estimate["reader"], estimate["conversations"], estimate["cost_usd"]) == ("rules", 1, 0.0)
        assert client.post("/v1/librarian/process", json={}).status_code == 403


def test_ids_and_all_together_are_refused_and_so_is_what_is_not_there(client: TestClient) -> None:
    assert client.post("/v1/librarian/process", json={"ids": ["x"], "all": True}).status_code == 400
    assert client.post("/v1/librarian/queue", json={"ids": ["nowhere"]}).status_code == 404


def test_the_librarian_rests_and_goes_on(client: TestClient) -> None:
    since = client.post("/v1/librarian/pause", json={"reason": "holidays"}).json()["paused_since"]
    assert since
    assert client.get("/v1/librarian").json()["paused_since"] == since
    assert client.post("/v1/librarian/resume").json() == {"was_paused": True}
    assert client.post("/v1/librarian/resume").json() == {"was_paused": False}


def test_a_line_of_today_is_said_better_taken_back_and_brought_again(filed: TestClient) -> None:
    line = line_with(filed, "Graz")
    named = {"record": line["record"]}
    edited = filed.post("/v1/today/corrections", json={"deed": "edit", **named, "text": "I live in Linz."})
    assert edited.json() == {"done": "Now: I live in Linz."}
    wrong = filed.post("/v1/today/corrections", json={"deed": "wrong", **named}).json()["done"]
    assert wrong.startswith("retracted")
    undone = filed.post("/v1/today/corrections", json={"deed": "undo", **named}).json()["done"]
    assert undone == "current: I live in Linz."
    assert filed.get("/v1/week").json()["lines"]


def test_a_correction_of_no_line_is_refused(filed: TestClient) -> None:
    for given in ({"deed": "wrong"}, {"deed": "edit", "record": "x", "text": " "}, {"deed": "burn", "record": "x"}):
        assert filed.post("/v1/today/corrections", json=given).status_code == 400, given
    assert filed.post("/v1/today/corrections", json={"deed": "wrong", "record": "nothing"}).status_code == 404


def deleted(house: House, words: str) -> None:
    page = house.memory.settings.home / "notes" / "core" / "facts.md"
    page.write_text("".join(line for line in page.read_text().splitlines(True) if words not in line))


def test_a_deleted_line_waits_for_review_and_is_accepted_or_brought_back(filed: TestClient, house: House) -> None:
    deleted(house, "peanuts")
    (waiting,) = filed.get("/v1/review").json()["items"]
    assert waiting["kind"] == "retract"
    kept = filed.post(f"/v1/review/{waiting['id']}/reject").json()["record"]
    assert (kept["state"], filed.get("/v1/review").json()["items"]) == ("current", [])
    deleted(house, "peanuts")
    (waiting,) = filed.get("/v1/review").json()["items"]
    assert filed.post(f"/v1/review/{waiting['id']}/accept").json()["record"]["state"] == "retracted"
    assert filed.post(f"/v1/review/{waiting['id']}/accept").status_code in (404, 409)


def test_a_token_for_reading_looks_and_takes_over_nothing(filed: TestClient, house: House) -> None:
    deleted(house, "peanuts")
    with asked(house, house.tokens.reader) as reader:
        assert reader.get("/v1/review").json()["items"] == []
        assert reader.get("/v1/today").json()["lines"]
        assert reader.get("/v1/questions").json()["items"] == []
    assert len(filed.get("/v1/review").json()["items"]) == 1


def ask(house: House, text: str) -> None:
    now = to_text(house.memory.clock())
    question = Question(id=f"q{len(text)}", scope="house", kind=QuestionKind.OPEN, text=text, asked_at=now)
    with house.memory.database.write() as session:
        QuestionStore(session, house.memory.settings.house).ask(question)


def test_a_question_is_answered_or_dropped(client: TestClient, house: House) -> None:
    ask(house, "Which Tom is it?")
    ask(house, "When is the choir, in the evening?")
    first, second = client.get("/v1/questions").json()["items"]
    page = client.get("/v1/questions", params={"limit": 1}).json()
    assert page["items"] == [first]
    assert client.get("/v1/questions", params={"after": page["next"]}).json() == {"items": [second], "next": ""}
    assert client.post(f"/v1/questions/{first['id']}/answer", json={"text": "The tall one."}).json()["done"]
    assert client.delete(f"/v1/questions/{second['id']}").json() == {"dropped": 1}
    assert client.get("/v1/questions").json()["items"] == []
    assert client.post("/v1/questions/nothing/answer", json={"text": "x"}).status_code == 404


def test_a_night_is_had_listed_and_undone(filed: TestClient) -> None:
    night = done(filed, "/v1/reflect")
    assert [one["id"] for one in filed.get("/v1/nights").json()["items"]] == [night["id"]]
    undone = filed.post("/v1/nights/undo", json={}).json()
    assert (undone["id"], undone["state"]) == (night["id"], "undone")


def test_an_agent_directs_no_librarian(house: House) -> None:
    with asked(house, house.tokens.ada) as client:
        for path in ("/v1/librarian", "/v1/today", "/v1/week", "/v1/review", "/v1/questions", "/v1/nights"):
            assert client.get(path).status_code == 403, path
        assert client.post("/v1/reflect").status_code == 403
