"""What no sensible client sends: it is refused or taken as it is, and nothing breaks, on either engine."""

from pathlib import Path

import pytest
from http_houses import House, asked, furnish

from recollect import Memory
from recollect.testing import FrozenClock

ODD_ADDRESSES = (
    "/v1/records?subject=%00",
    "/v1/records?scope=%00",
    "/v1/records?tag=%00",
    "/v1/conversations?project=%00",
    "/v1/conversations/%00",
    "/v1/conversations/%00/messages",
    "/v1/conversations/_",
    "/v1/messages/%00",
    "/v1/messages/%25",
    "/v1/records/%00",
    "/v1/records/%FF",
    "/v1/records/%F0%9F%8D%85/why",
    "/v1/search?query=%00",
    "/v1/search?query=a&conversations=%00&authors=%00",
    "/v1/search?query=a&projects=%00",
    "/v1/notes?below=%00",
    "/v1/notes/files/%00",
    "/v1/notes/history/%FF",
    "/v1/notes/diff/user.md?older=2000000000",
    "/v1/diary/%00",
    "/v1/context/rehydration?topic=%00&recent=5",
    "/v1/context/%00/difference",
)
ODD_BODIES = (
    ("PATCH", "/v1/status", b'{"fields":{"a":NaN}}'),
    ("PATCH", "/v1/status", b'{"fields":{"\\ud800":"\\ud800"}}'),
    ("PATCH", "/v1/status", b'{"fields":{"a":1' + b"0" * 400 + b"}}"),
    ("PATCH", "/v1/status", b'{"fields":{"a":1' + b"0" * 5_000 + b"}}"),
    ("PATCH", "/v1/status", b'{"fields":{"a":' + b"[" * 900 + b"]" * 900 + b"}}"),
    ("PATCH", "/v1/status", b'{"fields":{"a\\u0000":"\\u0000"}}'),
    ("POST", "/v1/records", b'{"text":"x","importance":NaN}'),
    ("POST", "/v1/records", b'{"text":"\\ud800"}'),
    ("POST", "/v1/records", b'{"text":"a\\u0000b","subject":"\\u0000","attribute":"\\u0000"}'),
    ("POST", "/v1/records", b'{"text":"x","tags":["\\ud800"],"replaces":"\\u0000"}'),
    ("POST", "/v1/records", b'{"text":"x","scope":"\\u0000"}'),
    ("POST", "/v1/forget", b'{"file":"\\u0000"}'),
    ("POST", "/v1/forget", b'{"subject":"\\u0000"}'),
    ("POST", "/v1/forget", b'{"conversation":"\\u0000"}'),
    ("POST", "/v1/forget/verify", b'{"receipt":"\\u0000"}'),
    ("POST", "/v1/diary", b'{"text":"\\u0000"}'),
    ("POST", "/v1/notes/move", b'{"path":"\\u0000","to":"\\ud800"}'),
    ("PUT", "/v1/notes/files/odd.md", b'{"text":"\\u0000\\ud800"}'),
    ("POST", "/v1/context/conversation", b'{"trigger":"\\u0000\\ud800","turn":"\\u0000"}'),
    ("POST", "/v1/search", b'{"query":"\\u0000 \\ud800","statuses":["\\u0000"]}'),
)


@pytest.fixture
def house(memory: Memory, clock: FrozenClock, projects: Path) -> House:
    return furnish(memory, clock, projects)


def test_odd_names_and_words_break_nothing(house: House) -> None:
    with asked(house, house.tokens.owner) as client:
        for address in ODD_ADDRESSES:
            answer = client.get(address)
            assert answer.status_code < 500, (address, answer.text)
        for method, path, body in ODD_BODIES:
            answer = client.request(method, path, content=body, headers={"content-type": "application/json"})
            assert answer.status_code < 500, (path, body[:60], answer.text)
    assert not house.memory.runs.latest("http", limit=1)
