"""Pages of a list that changes while somebody reads it."""

import base64
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.errors import Invalid
from recollect.surfaces.http import paging
from recollect.surfaces.http.paging import MOST_DEPTH, MOST_REMEMBERED, cut

LIMIT = 3


def page(items: list[str], after: str, limit: int = LIMIT) -> dict[str, Any]:
    return cut(items, limit, after, lambda item: item, lambda item: item)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 30), st.lists(st.tuples(st.integers(0, 8), st.sets(st.integers(0, 29))), max_size=10))
def test_what_stays_is_told_once_in_its_order_whatever_comes_and_goes(
    number: int, changes: list[tuple[int, set[int]]]
) -> None:
    items = [f"item {one}" for one in range(number)]
    stays = set(items)
    meanwhile = iter(changes)
    told: list[str] = []
    after = ""
    while True:
        found = page(items, after)
        told += found["items"]
        after = found["next"]
        if not after:
            break
        added, gone = next(meanwhile, (0, set[int]()))
        # One of those that were told stays: without any it cannot be known where they stood.
        names = {f"item {one}" for one in gone} - {told[0]}
        stays -= names
        items = [f"new {len(told)}.{one}" for one in range(added)] + [item for item in items if item not in names]

    assert [item for item in told if item in stays] == [item for item in items if item in stays]


def test_where_all_that_were_told_have_left_some_are_told_again_and_none_is_left_out() -> None:
    items = [f"item {one}" for one in range(MOST_REMEMBERED * 2)]
    first = page(items, "", MOST_REMEMBERED)

    assert len(first["next"]) <= 4_000  # What a route takes.
    rest = page(items[MOST_REMEMBERED:], first["next"], MOST_REMEMBERED)

    assert rest["items"] == items[MOST_REMEMBERED:]


def test_a_list_that_is_too_long_says_so_at_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paging, "MOST_DEPTH", 5)
    items = [f"item {one}" for one in range(9)]
    second = page(items, page(items, "")["next"])

    with pytest.raises(Invalid, match="up to 5"):
        page(items, second["next"])


def test_what_is_in_no_list_is_not_looked_for_to_the_end_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paging, "MOST_DEPTH", 20)
    after = base64.urlsafe_b64encode(msgspec.json.encode([1, "AAAAAAAA"])).decode()
    fetched: list[int] = []

    def fetch(number: int) -> list[str]:
        fetched.append(number)
        return [f"item {one}" for one in range(number)]

    assert paging.paged(fetch, LIMIT, after, lambda item: item, lambda item: item)["items"][0] == "item 0"
    assert max(fetched) <= 2 * 20


@pytest.mark.parametrize("place", [[0, ""], [-1, ""], [MOST_DEPTH + 1, ""], ["1", ""], [1], {}])
def test_what_is_not_the_next_of_a_page_is_refused(place: Any) -> None:
    after = base64.urlsafe_b64encode(msgspec.json.encode(place)).decode().rstrip("=")
    with pytest.raises(Invalid):
        page(["a", "b"], after)
