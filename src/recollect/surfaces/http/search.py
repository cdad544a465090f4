"""/v1/search: find what was said, learned or written down."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import Body, Query
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from recollect.asking import found_json
from recollect.clock import LOCAL
from recollect.memory import Memory
from recollect.recall import moment_of
from recollect.recall.query import SearchType
from recollect.surfaces.http.asking import Reader
from recollect.surfaces.http.routes import Given, PartialShape, Shape, Texts, answered, gives, new_router
from recollect.surfaces.http.turns import LongWork, in_a_thread
from recollect.surfaces.resuming import resume_command

router = new_router("search")
MOST_HITS = 1_000
MOST_NAMED = 100
"""Of each kind: conversations are looked up one by one."""
MOST_CHARACTERS = 10_000
"""Of a question. In an address fewer fit."""
Words = Annotated[tuple[str, ...], Query(max_length=MOST_NAMED, examples=[[]])]
Named = Annotated[Texts, Field(max_length=MOST_NAMED)]
When = Annotated[str, Query(max_length=200, description="A day, a time, or words such as `last week`.", examples=[""])]


class HitShape(PartialShape):
    kind: str
    """message, record or note."""
    id: str
    text: str
    snippet: str
    highlights: list[tuple[int, int]]
    """Where in the snippet words of the question stand: from, to."""
    at: str
    author: str
    source: str
    project: str
    score: float
    conversation: str
    session_id: str
    file: str
    line: int
    cwd: str
    before: str
    after: str
    resume: str
    """The command that goes on in its session. Empty: there is none."""
    why: dict[str, float] | None = None
    """What each part of the ranking gave, where `explain` asks for it."""


class PeriodShape(Shape):
    text: str
    start: str
    end: str


class FoundShape(Shape):
    hits: list[HitShape]
    milliseconds: float
    periods: list[PeriodShape]
    """Times that were read out of the question."""
    lacks: list[str]
    """What would make the answer better."""


class Question(Given):
    query: str = Field(max_length=MOST_CHARACTERS)
    type: SearchType = SearchType.BOTH
    limit: Annotated[int, Query(ge=1, le=MOST_HITS)] = 10
    since: str = ""
    until: str = ""
    as_of: str = ""
    authors: Named = ()
    sources: Named = ()
    projects: Named = ()
    statuses: Named = ()
    conversations: Named = ()
    rerank: bool = False
    """Let a model read the best hits again: better, and slower."""
    fast: bool = False
    """Leave out the deep model."""
    explain: bool = False


FOUND: dict[str, Any] = {
    "hits": [
        {
            "kind": "message",
            "id": "5b1f0c7d9a3e4f60",
            "text": "The tomatoes go behind the shed this year.",
            "snippet": "The tomatoes go behind the shed this year.",
            "highlights": [[4, 12]],
            "at": "2026-05-01T09:59:00.000Z",
            "author": "user",
            "source": "claude-code",
            "project": "/home/kim/garden",
            "score": 0.82,
            "conversation": "7e2a9b64c1d80f35",
            "session_id": "1c0d",
            "file": "claude-code/garden/1c0d.jsonl",
            "line": 12,
            "cwd": "/home/kim/garden",
            "before": "",
            "after": "Good: they get the evening sun there.",
            "resume": "cd /home/kim/garden && claude --resume 1c0d",
        }
    ],
    "milliseconds": 8.1,
    "periods": [],
    "lacks": [],
}
ASKED = {"query": "where do the tomatoes go", "type": "both", "limit": 10}


@router.post("/search", **gives(FoundShape, FOUND, "The best hits, best first."))
async def search(memory: Reader, question: Annotated[Question, Body(examples=[ASKED])], request: Request) -> Response:
    """A question or a few words. Times in it count: "what did we say about seeds last week". It changes nothing."""
    return await _answer(memory, question, request)


@router.get("/search", **gives(FoundShape, FOUND, "The best hits, best first."))
async def search_by_address(
    memory: Reader,
    request: Request,
    query: Annotated[str, Query(max_length=2_000, examples=["where do the tomatoes go"])],
    type: SearchType = SearchType.BOTH,  # noqa: A002
    limit: Annotated[int, Query(ge=1, le=MOST_HITS)] = 10,
    since: When = "",
    until: When = "",
    as_of: When = "",
    authors: Words = (),
    sources: Words = (),
    projects: Words = (),
    statuses: Words = (),
    conversations: Words = (),
    rerank: bool = False,
    fast: bool = False,
    explain: bool = False,
) -> Response:
    """The same, with the question in the address."""
    question = Question(
        query=query,
        type=type,
        limit=limit,
        since=since,
        until=until,
        as_of=as_of,
        authors=authors,
        sources=sources,
        projects=projects,
        statuses=statuses,
        conversations=conversations,
        rerank=rerank,
        fast=fast,
        explain=explain,
    )
    return await _answer(memory, question, request)


async def _answer(memory: Memory, question: Question, request: Request) -> Response:
    if not question.rerank:
        return await in_a_thread(_found, memory=memory, question=question)
    long_work: LongWork = request.app.state.reranking
    return await long_work.run(request, lambda: _found(memory, question))


def _found(memory: Memory, question: Question) -> Response:
    found = memory.recall.search(
        question.query,
        search_type=question.type,
        since=_moment(question.since, end=False),
        until=_moment(question.until, end=True),
        as_of=_moment(question.as_of, end=True),
        **question.model_dump(exclude={"query", "type", "since", "until", "as_of"}),
    )
    value = found_json(found)
    for hit in value["hits"]:
        hit["resume"] = resume_command(hit["source"], hit["session_id"], hit["project"] or hit["cwd"])
    return answered(value)


def _moment(text: str, *, end: bool) -> datetime | None:
    return moment_of(text, datetime.now(LOCAL), LOCAL, end=end) if text else None
