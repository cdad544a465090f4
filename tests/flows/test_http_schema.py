"""The description of the HTTP API, held against what it does: schemathesis asks every route at random."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import schemathesis
from http_houses import MCP, House, asked, bearing, calls_of, furnish
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.python import asgi
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

import recollect
from recollect.surfaces.http.app import create_app
from recollect.surfaces.http.surroundings import Surroundings
from recollect.testing import FrozenClock

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
EXAMPLES = 8
"""Of each route, half of them with names of things that are there."""
ENDLESS = "/v1/events"
OUTSIDE = (
    "/v1/ingest",
    "/v1/export",
    "/v1/backup",
    "/v1/import",
    "/v1/claude-memory/import",
    "/v1/claude-memory/export",
    "/v1/models/pull",
)
"""They read and write wherever a person says, or fetch from elsewhere: not with paths made at random. Their own tests
try them."""
METHODS = ("get", "put", "post", "patch", "delete")


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder, clock = tmp_path_factory.mktemp("schema"), FrozenClock()
    with recollect.open(home=folder / "home", database=str(folder / "recollect.db"), clock=clock) as memory:
        yield furnish(memory, clock, Path(folder / "projects"))


@pytest.fixture
def operations(house: House) -> Iterator[list[Any]]:
    app = create_app(house.memory, Surroundings(hosts=(asgi.HOST,)))
    schema = schemathesis.openapi.from_asgi("/openapi.json", app)
    found = [result.ok() for result in schema.get_all_operations()]
    yield [operation for operation in found if operation.path not in (ENDLESS, *OUTSIDE)]
    asgi.shutdown_lifespans()


def test_every_route_answers_as_it_is_described_whatever_it_is_asked(house: House, operations: list[Any]) -> None:
    assert len(operations) > 30
    for operation in operations:
        _try(operation, house)


def _try(operation: Any, house: House) -> None:
    mode = schemathesis.GenerationMode
    cases = st.one_of(operation.as_strategy(), operation.as_strategy(generation_mode=mode.NEGATIVE))

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases, is_named=st.booleans())
    def asked(case: Any, is_named: bool) -> None:
        if is_named:
            kind = case.path.removeprefix("/v1/").partition("/")[0]
            names = {**house.ids, "id": house.ids.get(f"{kind}/{{id}}", "x")}
            given_names = {name: names.get(name, value) for name, value in (case.path_parameters or {}).items()}
            case.path_parameters = given_names
        response = case.call(headers=bearing(house.tokens.owner))
        case.validate_response(response, checks=[*CHECKS, negative_data_rejection] if _is_wrong(case) else CHECKS)

    asked()


def _is_wrong(case: Any) -> bool:
    """In its query or its body. The token is put right in every case, and often the path."""
    wrong = {str(place).lower() for place, one in case.meta.components.items() if one.mode.is_negative}
    return any("query" in place or "body" in place for place in wrong)


def test_every_route_has_a_description_and_examples_that_are_as_they_should_be(house: House) -> None:
    described = house.app().openapi()
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            place = f"{method} {path}"
            assert method in METHODS
            assert operation["description"], place
            assert operation["tags"], place
            assert {"400", "401", "403", "404", "429", "503", "default"} <= operation["responses"].keys(), place
            assert "422" not in operation["responses"], place
            good = next(value for status, value in operation["responses"].items() if status.startswith("2"))
            for kind, content in good["content"].items():
                assert "example" in content, place
                if kind == "application/json":
                    _check(described, content["schema"], content["example"], place)
            body = operation.get("requestBody", {}).get("content", {}).get("application/json")
            if body:
                examples = _examples(described, body)
                assert examples, place
                for example in examples:
                    _check(described, body["schema"], example, place)


def _examples(described: dict[str, Any], body: dict[str, Any]) -> list[Any]:
    schema = body["schema"]
    named = described["components"]["schemas"].get(schema.get("$ref", "").rpartition("/")[2], {})
    return schema.get("examples") or named.get("examples") or [body["example"]]


def _check(described: dict[str, Any], schema: dict[str, Any], example: Any, place: str) -> None:
    whole = {**schema, "components": described["components"]}
    problems = [error.message for error in jsonschema_rs.validator_for(whole).iter_errors(example)]
    assert not problems, (place, problems)


def test_the_description_names_the_token_and_no_machine(house: House) -> None:
    described = house.app().openapi()
    assert described["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    assert described["paths"]["/v1/records"]["get"]["security"] == [{"token": []}]
    assert str(house.memory.settings.home) not in json.dumps(described)


def test_versions_are_in_the_description(house: House) -> None:
    paths = house.app().openapi()["paths"]
    for path in ("/v1/records/{id}", "/v1/notes/files/{path}", "/v1/status"):
        responses = paths[path]["get"]["responses"]
        assert "ETag" in responses["200"]["headers"], path
        assert "ETag" in responses["304"]["headers"], path
        assert "content" not in responses["304"], path
    assert "ETag" in paths["/v1/records"]["post"]["responses"]["201"]["headers"]
    assert "ETag" in paths["/v1/notes/files/{path}"]["put"]["responses"]["200"]["headers"]
    assert "304" not in paths["/v1/notes/files/{path}"]["put"]["responses"]
    assert not [method for operations in paths.values() for method in operations if method == "head"]


def test_every_list_is_told_by_pages(house: House) -> None:
    described = house.app().openapi()
    for path, operations in described["paths"].items():
        if "get" not in operations or "200" not in operations["get"]["responses"]:
            continue
        schema = operations["get"]["responses"]["200"].get("content", {}).get("application/json", {}).get("schema", {})
        named = described["components"]["schemas"].get(schema.get("$ref", "").rpartition("/")[2], schema)
        assert named.get("type") != "array", path
        if {"items", "next"} <= named.get("properties", {}).keys():
            assert {"limit", "after"} <= {one["name"] for one in operations["get"]["parameters"]}, path


def test_every_answer_that_has_a_version_is_described_with_it(house: House) -> None:
    described = house.app().openapi()["paths"]
    with asked(house, house.tokens.owner) as client:
        for call in calls_of(house.app(), house):
            if call.template in (ENDLESS, MCP, *OUTSIDE) or call.method == "DELETE":
                continue
            answer = call.made(client, house.tokens.owner)
            if "etag" in answer.headers and answer.status_code < 300:
                place = described[call.template.replace(":path}", "}")][call.method.lower()]
                assert "ETag" in place["responses"][str(answer.status_code)].get("headers", {}), call
