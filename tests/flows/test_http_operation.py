"""Operation over HTTP: doctor, runs, costs, markers, SQL, models, the index; exports, backups and imports."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from errands import done, refused
from http_houses import PLANTED, House, asked, furnish
from minds import on_sqlite
from starlette.testclient import TestClient

from recollect import Memory
from recollect.surfaces.http.errands import Errand
from recollect.testing import FrozenClock


@pytest.fixture
def house(memory: Memory, clock: FrozenClock, projects: Path) -> House:
    return furnish(memory, clock, projects)


@pytest.fixture
def client(house: House) -> Iterator[TestClient]:
    with asked(house, house.tokens.owner) as opened:
        yield opened


def test_the_doctor_tells_what_is_well_and_what_is_next(client: TestClient) -> None:
    told = client.get("/v1/doctor").json()
    assert told["ok"] is True
    assert {"database", "channels"} <= {one["check"] for one in told["findings"]}


def test_runs_are_listed_by_pages_and_by_name(client: TestClient, house: House) -> None:
    for number in range(3):
        house.memory.runs.record("test", "done", 0.0, {"number": number})
    page = client.get("/v1/runs", params={"name": "test", "limit": 2}).json()
    rest = client.get("/v1/runs", params={"name": "test", "limit": 2, "after": page["next"]}).json()
    assert sorted(one["detail"]["number"] for one in [*page["items"], *rest["items"]]) == [0, 1, 2]
    assert rest["next"] == ""
    assert client.get("/v1/runs", params={"name": "ingest"}).json()["items"][0]["outcome"] == "done"


def test_costs_and_markers_are_told_as_the_commands_tell_them(client: TestClient) -> None:
    costs = client.get("/v1/costs", params={"days": 7, "turns": 0}).json()
    assert (costs["tokens"], costs["turns"], costs["days"]) == (0, [], [])
    assert costs["today_is"] == "2026-02-21" or costs["today_is"]
    assert client.get("/v1/markers").json() == {"kept": 0, "problems": 0, "reported": []}


def test_sql_is_asked_with_what_the_token_may_see(client: TestClient, house: House) -> None:
    count = {"query": "SELECT count(*) FROM messages"}
    assert client.post("/v1/sql", json=count).json()["rows"][0][0] > 4
    assert "messages" in client.get("/v1/sql").json()["views"]
    with asked(house, house.tokens.bob) as bob:
        assert bob.post("/v1/sql", json={"query": "SELECT text FROM messages"}).json()["rows"]
        assert PLANTED not in bob.post("/v1/sql", json={"query": "SELECT * FROM messages"}).text
        assert bob.post("/v1/sql", json={"query": "SELECT * FROM events"}).json()["rows"] == []


def test_sql_that_writes_or_asks_the_vault_is_refused(client: TestClient) -> None:
    for query in ("DELETE FROM messages", "SELECT * FROM history_lines", "SELECT * FROM access_tokens", "nonsense"):
        assert client.post("/v1/sql", json={"query": query}).status_code in (400, 403), query
    assert client.post("/v1/sql", json={"query": "SELECT 1", "seconds": 3600}).status_code == 400


def test_the_index_is_built_anew_after_the_answer_and_serves_meanwhile(client: TestClient, house: House) -> None:
    before = house.memory.recall.state()
    told = done(client, "/v1/reindex", {"deepen": True})
    assert told["documents"] == before.documents
    assert told["generation"] != before.generation
    assert client.post("/v1/search", json={"query": "garden"}).json()["hits"]


@pytest.mark.parametrize("name", ["authors", "sources", "projects", "statuses", "conversations"])
def test_a_question_names_only_so_many(client: TestClient, name: str) -> None:
    many = [f"x{number}" for number in range(101)]
    assert client.post("/v1/search", json={"query": "garden", name: many}).status_code == 400
    assert client.get("/v1/search", params={"query": "garden", name: many}).status_code == 400


def test_models_are_listed_and_one_that_nobody_knows_is_neither_fetched_nor_removed(client: TestClient) -> None:
    listed = client.get("/v1/models").json()["models"]
    assert any(one["kind"] == "static" and one["state"] == "ready" for one in listed)
    assert client.delete("/v1/models/nothing").status_code == 404
    assert refused(client, "/v1/models/pull", {"name": "nothing"})["status"] == 404


def test_operation_is_a_persons_alone(house: House) -> None:
    with asked(house, house.tokens.ada) as client:
        for path in ("/v1/doctor", "/v1/runs", "/v1/costs", "/v1/markers", "/v1/models", "/v1/channels", "/v1/errands"):
            assert client.get(path).status_code == 403, path
        for path in ("/v1/export", "/v1/backup", "/v1/import"):
            assert client.post(path, json={"path": "/nowhere/x"}).status_code == 403, path
    with asked(house, house.tokens.reader) as client:
        assert client.post("/v1/reindex", json={}).status_code == 403
        assert client.post("/v1/export", json={"path": "/nowhere/x"}).status_code == 403
        assert client.get("/v1/doctor").status_code == 200


# Copies


def test_an_export_is_written_where_a_person_says_and_taken_in_by_an_empty_house(
    client: TestClient, open_house: Any, clock: FrozenClock, tmp_path: Path
) -> None:
    target = tmp_path / "all.zip"
    exported = done(client, "/v1/export", {"path": str(target)})
    assert exported["path"] == str(target)
    assert exported["rows"] > 10
    if os.name == "posix":
        assert target.stat().st_mode & 0o077 == 0
    assert refused(client, "/v1/export", {"path": str(target)})["status"] in (400, 409)
    assert refused(client, "/v1/import", {"path": str(target)})["status"] == 409
    other = open_house()
    new = other.access.create().secret
    with asked(House(memory=other, tokens=None), new) as empty:  # type: ignore[arg-type]
        imported = done(empty, "/v1/import", {"path": str(target)})
        assert imported["rows"] == exported["rows"]
        assert len(empty.get("/v1/conversations").json()["items"]) == 2


@on_sqlite
def test_a_backup_is_a_copy_of_the_database(client: TestClient, tmp_path: Path) -> None:
    made = done(client, "/v1/backup", {"path": str(tmp_path / "copy.db")})
    assert made["bytes"] == (tmp_path / "copy.db").stat().st_size


def test_a_memory_folder_of_claude_code_is_written_and_read(client: TestClient, tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    written = done(client, "/v1/claude-memory/export", {"folder": str(folder)})
    assert written["written"]
    assert (folder / "MEMORY.md").exists()
    for_bob = done(client, "/v1/claude-memory/export", {"folder": str(tmp_path / "bobs"), "agent": "bob"})
    assert len(for_bob["written"]) < len(written["written"])
    told = done(client, "/v1/claude-memory/import", {"folders": [str(folder)], "dry_run": True})
    assert [Path(one["folder"]).name for one in told["folders"]] == ["memory"]
    assert client.post("/v1/claude-memory/import", json={"folders": ["memory"]}).status_code == 400


def test_a_path_that_is_not_whole_is_refused_before_anything_begins(client: TestClient) -> None:
    for path in ("here.zip", "../here.zip", ""):
        for route in ("export", "backup", "import"):
            assert client.post(f"/v1/{route}", json={"path": path}).status_code == 400, (route, path)
    assert client.get("/v1/errands").json()["items"] == []


def test_what_runs_is_cut_off_when_the_server_ends(house: House) -> None:
    begun, ending = threading.Event(), threading.Event()

    def work(errand: Errand) -> dict[str, Any]:
        begun.set()
        ending.wait(60)
        while True:
            errand.advance(1)

    app = house.app()
    with TestClient(app, base_url="http://localhost"):
        errand = app.state.errands.begin("endless", work)
        assert begun.wait(60)
        ending.set()
    assert errand.state == "failed"
    assert errand.problem == {"status": 503, "detail": "The server ended in the middle of it. Begin it again."}
