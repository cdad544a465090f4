"""What is sent over HTTP: a body that would take long to be found wrong is refused before anybody looks into it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from http_houses import House, asked, everything_kept, furnish
from pydantic import ValidationError
from starlette.testclient import TestClient

from recollect import Memory
from recollect.errors import Invalid
from recollect.surfaces.http import app as every_route
from recollect.surfaces.http.bodies import MOST_PARTS, USUAL_BYTES, check_parts
from recollect.surfaces.http.routes import Given
from recollect.testing import FrozenClock

AS_JSON = {"content-type": "application/json"}
MANY = 5_000
FEW = 25
"""Errors of one request: some for each field, none for each value."""


@pytest.fixture
def house(memory: Memory, clock: FrozenClock, projects: Path) -> House:
    return furnish(memory, clock, projects)


@pytest.fixture
def client(house: House) -> Iterator[TestClient]:
    with asked(house, house.tokens.owner) as opened:
        yield opened


def kinds(base: type[Given] = Given) -> list[type[Given]]:
    assert every_route
    return [one for kind in base.__subclasses__() for one in (kind, *kinds(kind))]


def errors_of(kind: type[Given], value: dict[str, Any]) -> int:
    try:
        kind.model_validate(value)
    except ValidationError as error:
        return error.error_count()
    return 0


@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: kind.__name__)
def test_a_list_of_wrong_things_and_many_unknown_fields_are_a_few_errors(kind: type[Given]) -> None:
    wrong: list[dict[str, Any]] = [{name: [{}] * MANY for name in kind.model_fields}]
    wrong += [{name: [1.5] * MANY for name in kind.model_fields}, {f"x{number}": 1 for number in range(MANY)}]
    for value in wrong:
        assert errors_of(kind, value) <= FEW


def test_a_body_of_very_many_values_is_refused_before_it_is_parsed(client: TestClient) -> None:
    for path, body in (
        ("/v1/records", b'{"text":"a","tags":[1' + b",1" * 300_000 + b"]}"),
        ("/v1/records", b'{"text":"a"' + b"".join(b',"k%d":1' % number for number in range(60_000)) + b"}"),
        ("/v1/diary", b'{"text":' + b"[" * 300_000),
        ("/v1/diary", b'{"text":"a","b":[{}' + b",{}" * 300_000 + b"]}"),
    ):
        answer = client.post(path, content=body, headers=AS_JSON)
        assert answer.status_code == 400
        assert f"more than {MOST_PARTS:,} values" in answer.json()["detail"], path


def test_long_texts_are_one_value_whatever_stands_in_them(client: TestClient, house: House) -> None:
    text = 'a, [b], {"c": "d\\"}, ' * 20_000
    answer = client.put("/v1/notes/files/long.md", json={"text": text})
    assert answer.status_code == 200
    assert house.memory.notes.read("long.md").text == text
    ids = [f"{number:032x}" for number in range(10_000)]
    assert client.post("/v1/librarian/estimate", json={"ids": ids}).status_code != 413


@pytest.mark.parametrize("body", [b'"' + b'\\"' * 100_000, b'"' + b"\\" * 99_999, b"1" * 100_000, b" " * 100_000])
def test_what_is_no_json_is_few_parts(body: bytes) -> None:
    check_parts(body)


def test_the_parts_of_a_body_are_its_texts_commas_and_brackets() -> None:
    check_parts(json.dumps(["a"] * (MOST_PARTS // 2)).encode())
    with pytest.raises(Invalid):
        check_parts(json.dumps(["a"] * (MOST_PARTS // 2 + 1)).encode())


def test_where_nothing_long_is_sent_less_is_taken(client: TestClient, house: House) -> None:
    before = everything_kept(house.memory)
    whole = json.dumps({"name": "cleo", "parent": "x" * USUAL_BYTES}).encode()
    announced = client.post("/v1/agents", content=whole, headers=AS_JSON)
    pieces = iter([whole[:1_000], whole[1_000:]])  # Without a length.
    counted = client.post("/v1/agents", content=pieces, headers=AS_JSON)
    for answer in (announced, counted):
        assert answer.status_code == 413
        assert "larger than 256 kB" in answer.json()["detail"]
        assert answer.json()["type"] == "urn:recollect:content-too-large"
    assert everything_kept(house.memory) == before
    written = client.put("/v1/notes/files/long.md", json={"text": "x" * 2 * USUAL_BYTES})
    assert written.status_code == 200
