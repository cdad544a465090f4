"""search_memory (R1)."""

from collections.abc import Callable
from datetime import datetime
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from recollect import tokens
from recollect.asking import Question
from recollect.clock import LOCAL
from recollect.mind.tool_results import MOST_AROUND_CHARACTERS, hit_text, one_line, stretch, time_text
from recollect.surfaces.mcp.answers import Answer
from recollect.surfaces.mcp.arguments import Arguments
from recollect.surfaces.mcp.paging import PAGE_TOKENS, cost, cursor_of, position_of
from recollect.surfaces.mcp.specs import MOST_HITS, SEARCH_TYPES, USUAL_HITS

if TYPE_CHECKING:
    from recollect.memory import Memory
    from recollect.recall import Hit

MOST_QUESTION_CHARACTERS = 2_000
MOST_PERIODS = 10
"""Times in the question, as they were understood."""
NAMED = (
    "kind", "id", "at", "author", "source", "project", "conversation", "session_id", "file", "line",
)  # fmt: skip
"""What of a hit is told as it is."""

Search = Callable[["Memory", Question], dict[str, Any]]
"""The answer of `asking.answer`, from here or from the daemon."""


def search_memory(memory: "Memory", given: Arguments, search: Search) -> Answer:
    query = given.text("query", most=MOST_QUESTION_CHARACTERS)
    search_type = given.choice("search_type", SEARCH_TYPES, SEARCH_TYPES[-1])
    limit = given.number("limit", 1, MOST_HITS, USUAL_HITS)
    about = f"{search_type} {query}"
    (start,) = position_of(given.text("cursor", ""), about, 1)
    found = search(memory, question_of(memory, query, search_type))
    hits = found["hits"][start : start + limit]
    about_all = {"periods": _periods(found), "lacks": found["lacks"]}
    texts: list[str] = []
    left = PAGE_TOKENS - max(cost(about_all), sum(map(tokens.estimate, _head(query, found, limit, start))))
    for number, hit in enumerate(hits, start + 1):
        text = hit_text(number, _as_hit(hit))
        left -= max(tokens.estimate(text), cost(told_hit(hit))) + 1
        if left < 0 and texts:
            break
        texts.append(text)
    reached = start + len(texts)
    # The same number of hits is ranked for each page, so that they are in one order.
    following = cursor_of(about, reached) if reached < len(found["hits"]) else ""
    footer = f'[There are more, less good ones: cursor "{following}".]' if following else ""
    head = _head(query, found, len(texts), start)
    return Answer(
        text="\n".join([*head, *texts]),
        structured={"hits": [told_hit(hit) for hit in hits[: len(texts)]], **about_all},
        footer=footer,
        tokens={"next_cursor": following} if following else {},
    )


def question_of(memory: "Memory", query: str, search_type: str) -> Question:
    """As many hits as can be paged through, read twice: agents can wait."""
    offset = datetime.now(LOCAL).utcoffset()
    principal = memory.principal
    return Question(
        text=query,
        search_type=search_type,
        limit=MOST_HITS,
        agent=principal.scope if principal.is_confined else "",
        zone_seconds=round(offset.total_seconds()) if offset else 0,
        rerank=True,
    )


def told_hit(hit: dict[str, Any]) -> dict[str, Any]:
    """Where it stands, and as much of its text as the model is shown."""
    told = {name: hit[name] for name in NAMED if hit[name] not in ("", 0)}
    told["text"] = stretch(_as_hit(hit))
    around = {"before": hit["before"][-MOST_AROUND_CHARACTERS:], "after": hit["after"][:MOST_AROUND_CHARACTERS]}
    return told | {name: text for name, text in around.items() if text}


def _periods(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [{**period, "text": one_line(period["text"])} for period in found["periods"][:MOST_PERIODS]]


def _as_hit(hit: dict[str, Any]) -> "Hit":
    """One that came from the daemon is read without loading the search for the sake of a type."""
    return cast("Hit", SimpleNamespace(**hit))


def _head(query: str, found: dict[str, Any], number: int, start: int) -> list[str]:
    if not found["hits"]:
        return [f"Nothing was found for {one_line(query)!r}."]
    if not number:
        return ["There are no more."]
    shown = f"{start + 1} to {start + number}" if start else f"{number}"
    periods = [
        f'"{one_line(period["text"])}" was read as {time_text(period["start"])} to {time_text(period["end"])}.'
        for period in _periods(found)
    ]
    return [f"{shown} found, the best first. Times are local.", *periods]
