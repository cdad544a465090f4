"""Long work over HTTP, waited for."""

from typing import Any

from starlette.testclient import TestClient


def begun(client: TestClient, path: str, body: Any = None) -> dict[str, Any]:
    """The errand that this request began."""
    answer = client.post(path, json=body)
    assert answer.status_code == 202, answer.text
    errand = answer.json()
    assert answer.headers["location"] == f"/v1/errands/{errand['id']}"
    return errand


def ended(client: TestClient, path: str, body: Any = None) -> dict[str, Any]:
    """The same when it has ended."""
    errand = begun(client, path, body)
    while errand["state"] == "running":
        errand = client.get(f"/v1/errands/{errand['id']}", params={"wait": 10}).json()
    assert errand["ended_at"]
    return errand


def done(client: TestClient, path: str, body: Any = None) -> dict[str, Any]:
    """What came of it."""
    errand = ended(client, path, body)
    assert errand["state"] == "done", errand
    return errand["result"]


def refused(client: TestClient, path: str, body: Any = None) -> dict[str, Any]:
    """Why it failed."""
    errand = ended(client, path, body)
    assert errand["state"] == "failed", errand
    return errand["problem"]
