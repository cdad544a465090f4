"""Changes over HTTP: compare-and-set, paths that lead elsewhere, forgetting that asks first, pages."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from http_houses import PLANTED, House, asked, everything_kept, furnish

from recollect import Invalid, Memory
from recollect.daemon.librarianship import LibrarianProgress
from recollect.daemon.minding import MindingProgress
from recollect.daemon.serving import ServingProgress
from recollect.daemon.status import DaemonStatus
from recollect.lineage import MESSAGE
from recollect.notes.lines import Source
from recollect.supervision import PartHealth, State
from recollect.testing import FrozenClock


@pytest.fixture
def house(memory: Memory, clock: FrozenClock, projects: Path) -> House:
    return furnish(memory, clock, projects)


# Two editors


def test_of_two_who_edit_a_record_the_second_is_told_and_loses_nothing(house: House) -> None:
    path = f"/v1/records/{house.ids['records/{id}']}"
    with asked(house, house.tokens.ada) as client:
        seen = client.get(path).headers["etag"]
        first = client.patch(path, json={"text": "It sleeps at dawn."}, headers={"if-match": seen})
        second = client.patch(path, json={"text": "It sleeps at dusk."}, headers={"if-match": seen})
        assert first.status_code == 200
        assert second.status_code == 412
        assert second.headers["content-type"] == "application/problem+json"
        assert "It sleeps at dawn." in second.json()["detail"]
        assert "It sleeps at dusk." in second.json()["detail"]
        now = client.get(path)
        assert now.json()["text"] == "It sleeps at dawn."
        again = client.patch(path, json={"text": "It sleeps at dusk."}, headers={"if-match": now.headers["etag"]})
        assert again.status_code == 200
        texts = [one["text"] for one in client.get(f"{path}/versions").json()["items"]]
        assert texts[-2:] == ["It sleeps at dawn.", "It sleeps at dusk."]


def test_of_two_who_write_a_note_the_second_is_told_and_loses_nothing(house: House) -> None:
    path = "/v1/notes/files/user.md"
    with asked(house, house.tokens.owner) as client:
        seen = client.get(path).headers["etag"]
        first = client.put(path, json={"text": "Kim, who has a garden\n"}, headers={"if-match": seen})
        second = client.put(path, json={"text": "Kim, who has a cat\n"}, headers={"if-match": seen})
        assert first.status_code == 200
        assert second.status_code == 412
        assert second.json()["current"] == "Kim, who has a garden\n"
        assert second.json()["yours"] == "Kim, who has a cat\n"
        assert (house.memory.notes.folder / "user.md").read_text(encoding="utf-8") == "Kim, who has a garden\n"
        new = client.put(path, json={"text": "Kim, who has both\n"}, headers={"if-match": first.headers["etag"]})
        assert new.status_code == 200


def test_a_note_that_was_changed_with_another_tool_is_not_written_over_unseen(house: House) -> None:
    path, file = "/v1/notes/files/user.md", house.memory.notes.folder / "user.md"
    with asked(house, house.tokens.owner) as client:
        seen = client.get(path).headers["etag"]
        file.write_text("Kim, by hand\n", encoding="utf-8")
        answer = client.put(path, json={"text": "Kim, by a program\n"}, headers={"if-match": seen})
        assert answer.status_code == 412
        assert answer.json()["current"] == "Kim, by hand\n"
    assert file.read_text(encoding="utf-8") == "Kim, by hand\n"


@pytest.mark.parametrize("way", ["put", "append", "remove", "undo", "move"])
def test_a_change_with_another_tool_that_a_refusal_told_of_stays_a_version(house: House, way: str) -> None:
    path, file = "/v1/notes/files/user.md", house.memory.notes.folder / "user.md"
    with asked(house, house.tokens.owner) as client:

        def change(seen: str) -> Any:
            ways: dict[str, tuple[str, str, object]] = {
                "put": ("PUT", path, {"text": "Kim, by a program\n"}),
                "append": ("POST", path, {"text": "And a cat."}),
                "remove": ("DELETE", path, None),
                "undo": ("POST", "/v1/notes/undo/user.md", {}),
                "move": ("POST", "/v1/notes/move", {"path": "user.md", "to": "kim.md"}),
            }
            method, where, body = ways[way]
            return client.request(method, where, json=body, headers={"if-match": seen})

        seen = client.get(path).headers["etag"]
        file.write_text("Kim, by hand\n", encoding="utf-8")
        first = change(seen)
        file.write_text("Kim, by hand again\n", encoding="utf-8")
        second = change(first.headers["etag"])
        assert (first.status_code, second.status_code) == (412, 412)
        assert (second.json()["version"], second.json()["current"]) == (3, "Kim, by hand again\n")
        assert file.read_text(encoding="utf-8") == "Kim, by hand again\n"
        told = [client.get(path, params={"version": number}).json()["text"] for number in (1, 2, 3)]
        assert told == ["Kim\n", "Kim, by hand\n", "Kim, by hand again\n"]
        assert change(second.headers["etag"]).status_code == 200


def test_a_new_note_takes_no_others_place(house: House) -> None:
    with asked(house, house.tokens.owner) as client:
        only_new = {"if-none-match": "*"}
        assert client.put("/v1/notes/files/new.md", json={"text": "1"}, headers=only_new).status_code == 200
        answer = client.put("/v1/notes/files/new.md", json={"text": "2"}, headers=only_new)
        assert answer.status_code == 412
        assert answer.json()["current"] == "1"


def test_every_change_of_a_note_is_made_only_to_the_version_that_was_seen(house: House) -> None:
    path, any_one = "/v1/notes/files/user.md", {"if-match": "*"}
    with asked(house, house.tokens.owner) as client:
        old = {"if-match": client.get(path).headers["etag"]}
        now = client.put(path, json={"text": "Kim, who has a garden\n"}).headers["etag"]
        kept = everything_kept(house.memory)
        for answer in (
            client.post(path, json={"text": "And a cat."}, headers=old),
            client.delete(path, headers=old),
            client.post("/v1/notes/undo/user.md", json={}, headers=old),
            client.post("/v1/notes/move", json={"path": "user.md", "to": "kim.md"}, headers=old),
        ):
            assert answer.status_code == 412, answer.request.url
            assert answer.json()["current"] == "Kim, who has a garden\n"
            assert answer.headers["etag"] == now
        assert everything_kept(house.memory) == kept
        added = client.post(path, json={"text": "And a cat."}, headers={"if-match": now})
        undone = client.post("/v1/notes/undo/user.md", json={}, headers={"if-match": added.headers["etag"]})
        moving = {"if-match": undone.headers["etag"]}
        moved = client.post("/v1/notes/move", json={"path": "user.md", "to": "kim.md"}, headers=moving)
        removed = client.delete("/v1/notes/files/kim.md", headers=any_one)
        assert [one.status_code for one in (added, undone, moved, removed)] == [200] * 4


def test_what_must_be_there_is_not_made(house: House) -> None:
    any_one = {"if-match": "*"}
    with asked(house, house.tokens.owner) as client:
        put = client.put("/v1/notes/files/new.md", json={"text": "1"}, headers=any_one)
        added = client.post("/v1/notes/files/new.md", json={"text": "1"}, headers=any_one)
        status = client.patch("/v1/status", json={"fields": {"mood": "calm"}}, headers=any_one)
        assert [one.status_code for one in (put, added, status)] == [412] * 3
        assert "new.md is not there" in put.json()["detail"]
        assert client.get("/v1/notes/files/new.md").status_code == 404
        assert client.put("/v1/notes/files/user.md", json={"text": "1"}, headers=any_one).status_code == 200


def test_a_folder_has_no_version_to_be_compared(house: House) -> None:
    with asked(house, house.tokens.owner) as client:
        seen = client.put("/v1/notes/files/garden/beans.md", json={"text": "1"}).headers["etag"]
        answer = client.delete("/v1/notes/files/garden", headers={"if-match": seen})
        assert answer.status_code == 400
        assert client.get("/v1/notes/files/garden/beans.md").status_code == 200


def test_of_two_who_set_a_status_the_second_is_told(house: House) -> None:
    file = house.memory.notes.folder / house.memory.notes.status.path
    with asked(house, house.tokens.owner) as client:
        seen = {"if-match": client.get("/v1/status").headers["etag"]}
        first = client.patch("/v1/status", json={"fields": {"mood": "calm"}}, headers=seen)
        second = client.patch("/v1/status", json={"fields": {"mood": "glad"}}, headers=seen)
        assert (first.status_code, second.status_code) == (200, 412)
        read = client.get("/v1/status")
        assert read.json()["fields"]["mood"]["value"] == "calm"
        assert read.headers["etag"] == first.headers["etag"]
        assert client.get("/v1/status", headers={"if-none-match": read.headers["etag"]}).status_code == 304
        file.write_text("broken", encoding="utf-8")
        broken = client.get("/v1/status", headers={"if-none-match": read.headers["etag"]})
        assert broken.status_code == 200
        assert broken.json()["problem"]
        seen = {"if-match": broken.headers["etag"]}
        assert client.patch("/v1/status", json={"fields": {"mood": "glad"}}, headers=seen).status_code == 200


def test_a_record_is_moved_only_as_it_was_seen_and_the_refusal_has_both_texts(house: House) -> None:
    path = f"/v1/records/{house.ids['records/{id}']}"
    with asked(house, house.tokens.owner) as client:
        old = {"if-match": client.get(path).headers["etag"]}
        client.patch(path, json={"importance": 0.9})
        moved = client.post(f"{path}/move", json={"scope": "house"}, headers=old)
        edited = client.patch(path, json={"text": "It sleeps at dusk."}, headers=old)
        assert (moved.status_code, edited.status_code) == (412, 412)
        assert client.get(path).json()["scope"] == "ada"
        now = client.get(path)
        assert edited.json()["current"] == now.json()["text"]
        assert (edited.json()["yours"], edited.json()["version"]) == ("It sleeps at dusk.", 3)
        assert edited.headers["etag"] == now.headers["etag"]
        seen = {"if-match": now.headers["etag"]}
        assert client.post(f"{path}/move", json={"scope": "house"}, headers=seen).status_code == 200


def test_what_stands_against_a_change_is_a_conflict_also_where_the_version_is_the_one_that_was_seen(
    house: House,
) -> None:
    path = f"/v1/records/{house.ids['records/{id}']}"
    with asked(house, house.tokens.ada) as client:
        seen = {"if-match": client.post(f"{path}/retract", json={}).headers["etag"]}
        again = client.post(f"{path}/retract", json={}, headers=seen)
        assert (again.status_code, "retracted already" in again.json()["detail"]) == (409, True)


def test_where_no_versions_are_compared_if_match_is_refused(house: House) -> None:
    with asked(house, house.tokens.owner) as client:
        for path, body in (("/v1/diary", {"text": "A day."}), ("/v1/records", {"text": "Kim has a cat."})):
            answer = client.post(path, json=body, headers={"if-match": '"1"'})
            assert answer.status_code == 400
            assert "If-Match" in answer.json()["detail"]


def test_a_precondition_that_is_not_kept_is_refused_and_nothing_is_changed(house: House) -> None:
    path, new = "/v1/notes/files/user.md", {"text": "Kim, unseen\n"}
    with asked(house, house.tokens.owner) as client:
        now = client.get(path).headers["etag"]
        kept = everything_kept(house.memory)
        for answer in (
            client.put(path, json=new, headers={"if-match": ""}),
            client.put(path, json=new, headers={"if-match": "  "}),
            client.put(path, json=new, headers=[("if-match", now), ("if-match", '"99"')]),
            client.put(path, json=new, headers={"if-none-match": now}),
            client.put(path, json=new, headers={"if-none-match": ""}),
            client.put(path, json=new, headers=[("if-none-match", "*"), ("if-none-match", now)]),
            client.put(path, json=new, headers={"if-match": now, "if-none-match": "*"}),
            client.post(path, json=new, headers={"if-none-match": "*"}),
            client.delete(path, headers={"if-none-match": now}),
            client.patch("/v1/status", json={"fields": {"mood": "calm"}}, headers={"if-none-match": "*"}),
            client.post("/v1/records", json={"text": "Kim has a cat."}, headers={"if-none-match": "*"}),
        ):
            assert answer.status_code == 400
            assert "Match" in answer.json()["detail"]
        assert everything_kept(house.memory) == kept


def test_a_note_that_was_looked_at_is_told_anew(house: House) -> None:
    ada = house.memory.as_agent("ada")
    version = ada.notes.write("agents/ada/soul.md", "Ada, who likes noon.\n", reason="It is so.").version
    path = f"/v1/notes/files/{version.path}"
    with asked(house, house.tokens.owner) as client:
        seen = client.get(path)
        assert seen.json()["review"]
        reviewed = {"path": version.path, "version": version.number}
        assert client.post("/v1/notes/reviews", json=reviewed).status_code == 200
        again = client.get(path, headers={"if-none-match": seen.headers["etag"]})
        assert again.status_code == 200
        assert again.json()["review"] != seen.json()["review"]


def test_what_is_known_already_is_not_sent_again(house: House) -> None:
    with asked(house, house.tokens.ada) as client:
        for path in (f"/v1/records/{house.ids['records/{id}']}", f"/v1/notes/files/{house.ids['path']}"):
            etag = client.get(path).headers["etag"]
            answer = client.get(path, headers={"if-none-match": etag})
            assert answer.status_code == 304
            assert answer.content == b""
            assert client.get(path, headers={"if-none-match": '"77"'}).status_code == 200


@pytest.mark.parametrize(
    "tag", ["3", '"2"', 'W/"1-1f0c9a2b"', '"1-1f0c9a2b", "2-1f0c9a2b"', '"x"', '"0-1f0c9a2b"', '"' + "9" * 30 + '"']
)
def test_a_tag_that_was_never_answered_is_refused(house: House, tag: str) -> None:
    path = f"/v1/records/{house.ids['records/{id}']}"
    with asked(house, house.tokens.ada) as client:
        answer = client.patch(path, json={"text": "It sleeps."}, headers={"if-match": tag})
        assert answer.status_code == 400


# Paths that lead elsewhere


@pytest.mark.parametrize(
    "path",
    [
        "..%2F..%2Frecollect.toml",
        "%2e%2e/%2e%2e/etc/passwd",
        "agents/ada/..%2F..%2F..%2Fsecret.txt",
        "%2Fetc%2Fpasswd",
        "a%00b.md",
        "..%5C..%5Csecret.txt",
        ".git%2Fconfig",
        "~%2Fsecret.txt",
        "link.md",
        "linked%2Fsecret.txt",
    ],
)
def test_a_path_that_leads_out_of_the_notes_leads_nowhere(house: House, path: str) -> None:
    home, folder = house.memory.settings.home, house.memory.notes.folder
    outside = home / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("the-secret", encoding="utf-8")
    (home.parent / "secret.txt").write_text("the-secret", encoding="utf-8")
    (folder / "link.md").symlink_to(outside / "secret.txt")
    (folder / "linked").symlink_to(outside)
    with asked(house, house.tokens.owner) as client:
        for answer in (
            client.get(f"/v1/notes/files/{path}"),
            client.put(f"/v1/notes/files/{path}", json={"text": "mine", "reason": "why not"}),
            client.post(f"/v1/notes/files/{path}", json={"text": "mine", "reason": "why not"}),
            client.delete(f"/v1/notes/files/{path}"),
            client.get(f"/v1/notes/history/{path}"),
            client.post("/v1/notes/move", json={"path": "user.md", "to": path.replace("%2F", "/")}),
        ):
            assert answer.status_code < 500, answer.text
            assert "the-secret" not in answer.text
    assert (outside / "secret.txt").read_text(encoding="utf-8") == "the-secret"
    assert (home.parent / "secret.txt").read_text(encoding="utf-8") == "the-secret"
    assert [one.name for one in outside.iterdir()] == ["secret.txt"]


# Forgetting


def test_what_is_to_be_forgotten_is_shown_first_and_goes_only_when_that_is_said(house: House) -> None:
    record = house.ids["records/{id}"]
    with asked(house, house.tokens.owner) as client:
        before = everything_kept(house.memory)
        plan = client.post("/v1/forget", json={"record": record}).json()
        assert plan["dry_run"] is True
        assert plan["reached"]["record"] == [record]
        assert everything_kept(house.memory) == before
        done = client.post("/v1/forget", json={"record": record, "dry_run": False}).json()
        assert done["verified"] is True
        assert client.get(f"/v1/records/{record}").status_code == 404
        assert [one["id"] for one in client.get("/v1/forget/receipts").json()["items"]] == [done["receipt"]]
        assert client.post("/v1/forget/verify", json={}).json()["items"][0]["residue"] == []


def test_nothing_or_two_things_at_once_are_not_forgotten(house: House) -> None:
    with asked(house, house.tokens.owner) as client:
        assert client.post("/v1/forget", json={"dry_run": False}).status_code == 400
        assert client.post("/v1/forget", json={"record": "a", "note": "b", "dry_run": False}).status_code == 400


# Pages


def test_pages_tell_everything_once_also_when_something_is_added_between(house: House) -> None:
    for number in range(7):
        house.memory.knowledge.remember(f"Plant number {number}.", tags=["plant"])
    with asked(house, house.tokens.owner) as client:
        seen: list[str] = []
        after = ""
        for turn in range(10):
            page = client.get("/v1/records", params={"tag": "plant", "limit": 2, "after": after}).json()
            seen += [one["text"] for one in page["items"]]
            after = page["next"]
            if turn == 1:
                house.memory.knowledge.remember("A late plant.", tags=["plant"])
            if not after:
                break
        assert sorted(seen) == [f"Plant number {number}." for number in range(7)]
        assert client.get("/v1/records", params={"after": "x"}).status_code == 400


def test_health_tells_strangers_only_that_it_answers(house: House) -> None:
    with asked(house) as client:
        assert client.get("/health").json() == {"status": "ok"}
    with asked(house, house.tokens.bob) as client:
        assert "house" not in client.get("/health").json()
    with asked(house, house.tokens.owner) as client:
        assert client.get("/health").json()["house"]["knowledge"]["records"] == 2


@pytest.mark.parametrize(
    "trouble",
    [
        {"index_problem": "The disk is full."},
        {"librarian": LibrarianProgress(problem="The disk is full.")},
        {"minding": MindingProgress(channels={"telegram": "The disk is full."})},
        {"serving": ServingProgress(problem="The disk is full.")},
        {"parts": [PartHealth(name="notes", state=State.RESTARTING, restarts=1, problem="The disk is full.")]},
    ],
    ids=lambda trouble: next(iter(trouble)),
)
def test_health_tells_of_any_trouble_of_the_daemon_and_strangers_of_none(house: House, trouble: dict[str, Any]) -> None:
    well = DaemonStatus(pid=1, started_at="2026-05-01T00:00:00.000Z", roots=[])
    for status, word in ((well, "ok"), (replace(well, **trouble), "troubled")):
        with asked(house, house.tokens.bob, status=status) as client:
            assert client.get("/health").json()["status"] == word
        with asked(house, status=status) as client:
            assert client.get("/health").json() == {"status": "ok"}


def test_a_search_tells_the_same_as_the_library(house: House) -> None:
    with asked(house, house.tokens.ada) as client:
        told = client.post("/v1/search", json={"query": "who sleeps at noon", "explain": True}).json()
        same = client.get("/v1/search", params={"query": "who sleeps at noon"}).json()
    found = house.memory.as_agent("ada").recall.search("who sleeps at noon")
    assert [hit["id"] for hit in told["hits"]] == [hit.id for hit in found.hits]
    assert [hit["id"] for hit in same["hits"]] == [hit.id for hit in found.hits]
    assert told["hits"][0]["why"]
    assert PLANTED in told["hits"][0]["text"]


def test_a_version_of_a_note_that_was_forgotten_is_none_of_the_note_that_is_written_there_later(house: House) -> None:
    path = "/v1/notes/files/plans.md"
    with asked(house, house.tokens.owner) as client:
        for text in ("one", "two", "three"):
            seen = client.put(path, json={"text": text}).headers["etag"]
        forgotten = client.post("/v1/forget", json={"note": "plans.md", "dry_run": False})
        assert forgotten.status_code == 200
        assert client.get(path).status_code == 404
        for text in ("somebody else's", "and more"):
            assert client.put(path, json={"text": text}).status_code == 200
            assert client.get(path, headers={"if-none-match": seen}).json()["text"] == text
            refused = client.put(path, json={"text": "mine"}, headers={"if-match": seen})
            assert (refused.status_code, client.get(path).json()["text"]) == (412, text)


def test_words_that_were_forgotten_are_neither_confirmed_nor_written_back_by_what_named_them(house: House) -> None:
    path, message = "/v1/notes/files/garden.md", house.ids["messages/{id}"]
    house.memory.notes.append("garden.md", "Beans climb.\n")
    source = Source(kind=MESSAGE, id=message)
    house.memory.notes.append("garden.md", "The key lies under the pot.\n", sources=[source])
    with asked(house, house.tokens.owner) as client:
        seen = client.get(path)
        assert client.post("/v1/forget", json={"message": message, "dry_run": False}).status_code == 200
        now = client.get(path, headers={"if-none-match": seen.headers["etag"]})
        assert (now.status_code, now.json()["text"]) == (200, "Beans climb.\n")
        assert now.json()["version"] == seen.json()["version"]
        back = client.put(path, json={"text": seen.json()["text"]}, headers={"if-match": seen.headers["etag"]})
        assert (back.status_code, back.headers["etag"]) == (412, now.headers["etag"])
        assert "something of that was forgotten" in back.json()["detail"]
        assert client.get(path).json()["text"] == "Beans climb.\n"
        assert client.put(path, json={"text": "Peas."}, headers={"if-match": back.headers["etag"]}).status_code == 200


def test_a_record_that_loses_one_of_its_sources_is_not_what_was_seen(house: House) -> None:
    with asked(house, house.tokens.owner) as client:
        messages = client.get(f"/v1/conversations/{house.ids['conversations/{id}']}/messages").json()["items"]
        first, second = (one["id"] for one in messages[:2])
        for name in (first, second):
            made = client.post(f"/v1/messages/{name}/promote", json={"text": "It sleeps."}).json()
        path = f"/v1/records/{made['id']}"
        seen = client.get(path)
        assert client.get(path, headers={"if-none-match": seen.headers["etag"]}).status_code == 304
        assert client.post("/v1/forget", json={"message": second, "dry_run": False}).status_code == 200
        now = client.get(path, headers={"if-none-match": seen.headers["etag"]})
        assert [source["message"] for source in now.json()["sources"]] == [first]
        edited = client.patch(path, json={"text": "It wakes."}, headers={"if-match": seen.headers["etag"]})
        assert edited.status_code == 412
        edited = client.patch(path, json={"text": "It wakes."}, headers={"if-match": now.headers["etag"]})
        assert edited.headers["etag"] == client.get(path).headers["etag"]


def test_a_reason_that_would_be_kept_for_good_is_short(house: House) -> None:
    name, kept = house.ids["records/{id}"], everything_kept(house.memory)
    with asked(house, house.tokens.owner) as client:
        for answer in (
            client.put("/v1/notes/files/user.md", json={"text": "Kim", "reason": "x" * 5_001}),
            client.patch(f"/v1/records/{name}", json={"text": "Other.", "reason": "x" * 5_001}),
            client.post(f"/v1/records/{name}/retract", json={"reason": "x" * 5_001}),
        ):
            assert answer.status_code == 400
            assert "reason" in answer.json()["detail"]
    assert everything_kept(house.memory) == kept
    with pytest.raises(Invalid, match="reason has"):
        house.memory.notes.write("user.md", "Kim", reason="x" * 5_001)
    with pytest.raises(Invalid, match="reason has"):
        house.memory.knowledge.retract(name, reason="x" * 5_001)
