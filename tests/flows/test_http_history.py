"""Taking in over HTTP: paths of the server's computer, sources, files, pausing."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from errands import begun, done, refused
from http_houses import House, asked, furnish
from starlette.testclient import TestClient
from transcripts import Transcript

from recollect import Memory
from recollect.testing import FrozenClock


@pytest.fixture
def house(memory: Memory, clock: FrozenClock, projects: Path) -> House:
    return furnish(memory, clock, projects)


@pytest.fixture
def client(house: House) -> Iterator[TestClient]:
    with asked(house, house.tokens.owner) as opened:
        yield opened


def test_a_folder_is_taken_in_after_the_answer_and_read_like_any_other(client: TestClient, tmp_path: Path) -> None:
    Transcript("beans").exchanges(2, "the beans").save(tmp_path / "more")
    report = done(client, "/v1/ingest", {"paths": [str(tmp_path / "more")]})
    assert (report["files"], report["ingested"], report["failed"]) == (1, 1, 0)
    assert report["messages_added"] > 0
    titles = [one["title"] for one in client.get("/v1/conversations").json()["items"]]
    assert any("beans" in title for title in titles)


def test_a_path_that_is_not_whole_or_not_there_is_refused(client: TestClient, tmp_path: Path) -> None:
    for path in ("projects", "../projects", "a\0b"):
        answer = client.post("/v1/ingest", json={"paths": [path]})
        assert answer.status_code == 400, path
    assert client.post("/v1/ingest", json={"paths": []}).status_code == 400
    assert client.post("/v1/ingest", json={"paths": ["/x"], "source": "nobody"}).status_code == 400
    problem = refused(client, "/v1/ingest", {"paths": [str(tmp_path / "nowhere")]})
    assert problem["status"] == 404
    assert "nowhere" in problem["detail"]


def test_an_agent_takes_nothing_in(house: House, tmp_path: Path) -> None:
    with asked(house, house.tokens.ada) as client:
        assert client.post("/v1/ingest", json={"paths": [str(tmp_path)]}).status_code == 403
        assert client.post("/v1/pause").status_code == 403
        assert client.get("/v1/errands").status_code == 403


def test_files_are_listed_by_pages_and_one_is_read_again(client: TestClient) -> None:
    first = client.get("/v1/files", params={"limit": 1}).json()
    rest = client.get("/v1/files", params={"limit": 1, "after": first["next"]}).json()
    files = [*first["items"], *rest["items"]]
    assert [one["status"] for one in files] == ["idle", "idle"]
    assert len({one["id"] for one in files}) == 2
    report = done(client, f"/v1/files/{files[0]['id']}/reimport")
    assert report["ingested"] == 1
    assert report["messages_added"] == 0
    assert client.post("/v1/files/nosuchfile/reimport").status_code == 404


def test_an_agent_is_told_only_of_files_that_it_may_see(house: House) -> None:
    with asked(house, house.tokens.bob) as client:
        assert {one["scope"] for one in client.get("/v1/files").json()["items"]} == {"house"}
        sources = {one["name"]: one for one in client.get("/v1/sources").json()["items"]}
        assert sources["claude-code"]["files"] == 1
        assert sources["claude-code"]["found"] == []


def test_a_pause_keeps_everything_out_until_it_goes_on(client: TestClient, tmp_path: Path) -> None:
    assert client.get("/v1/pause").json() == {"paused": False, "since": None}
    since = client.post("/v1/pause").json()["since"]
    assert client.get("/v1/pause").json() == {"paused": True, "since": since}
    Transcript("quiet").exchanges(1, "nothing").save(tmp_path / "quiet")
    assert refused(client, "/v1/ingest", {"paths": [str(tmp_path / "quiet")]})["status"] == 503
    resumed = client.post("/v1/resume").json()
    assert (resumed["paused"], resumed["since"]) == (False, since)
    assert client.post("/v1/resume").json() == {"paused": False, "since": None, "until": None}


def test_of_one_kind_one_errand_runs_at_a_time(house: House) -> None:
    app = house.app()
    going = threading.Event()
    running = app.state.errands.begin("ingest", lambda errand: {"waited": going.wait(60)})
    with TestClient(app, base_url="http://localhost", headers={"authorization": f"Bearer {house.tokens.owner}"}) as one:
        answer = one.post("/v1/ingest", json={"paths": ["/x"]})
        assert answer.status_code == 409
        assert running.id in answer.json()["detail"]
        assert one.get(f"/v1/errands/{running.id}").json()["state"] == "running"
        going.set()
        ended = one.get(f"/v1/errands/{running.id}", params={"wait": 10}).json()
        assert (ended["state"], ended["result"]) == ("done", {"waited": True})
        assert [item["id"] for item in one.get("/v1/errands").json()["items"]] == [running.id]
        assert begun(one, "/v1/reindex", {})["kind"] == "reindex"


def test_what_breaks_in_an_errand_is_told_without_its_words(house: House) -> None:
    def broken(errand: object) -> dict[str, object]:
        raise ValueError("a secret of somebody")

    app = house.app()
    errand = app.state.errands.begin("odd", broken)
    with TestClient(app, base_url="http://localhost", headers={"authorization": f"Bearer {house.tokens.owner}"}) as one:
        told = one.get(f"/v1/errands/{errand.id}", params={"wait": 10})
    assert told.json()["state"] == "failed"
    assert told.json()["problem"]["status"] == 500
    assert "secret" not in told.text
    [event] = house.memory.runs.latest("errand")
    assert (event.outcome, event.detail) == ("failed", {"kind": "odd", "error": "ValueError"})
