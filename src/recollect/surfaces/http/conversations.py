"""/v1/conversations and /v1/messages: what was said."""

from typing import Annotated, Any

from fastapi import Body, Query
from starlette.responses import PlainTextResponse, Response

from recollect.history import Listed, Message
from recollect.history.conversations import Status
from recollect.history.messages import Author, Standing
from recollect.history.transcript import plain
from recollect.knowledge.records import Category
from recollect.memory import Memory
from recollect.surfaces import times
from recollect.surfaces.http.asking import Reader, Writer
from recollect.surfaces.http.paging import Page, cut, paged
from recollect.surfaces.http.record_shapes import LEARNED, LearnedShape
from recollect.surfaces.http.records import CONFLICT, When, told_learned
from recollect.surfaces.http.routes import (
    After,
    Identity,
    Limit,
    LongGiven,
    PartialShape,
    Shape,
    Texts,
    answered,
    gives,
    new_router,
)
from recollect.surfaces.shapes.history import listed_json, message_json

router = new_router("conversations")
Everything = Annotated[bool, Query(description="Also tool results, machine text, sub-agents, lines that are gone.")]
Thread = Annotated[bool, Query(description="The whole thread: resumed, forked and continued sessions too.")]


class ConversationShape(Shape):
    id: str
    session_id: str
    file: str
    source: str
    project: str
    started_at: str
    ended_at: str
    messages: int
    status: Status
    title: str
    thread: str


class MessageShape(PartialShape):
    id: str
    author: Author
    at: str
    text: str
    blocks: list[dict[str, Any]]
    tools: list[Any]
    cwd: str
    session_id: str
    file: str
    line: int
    standing: Standing
    kind: str
    agent_id: str
    model: str
    gone: bool
    display: str = ""
    """The text without the markers that were kept, where it had some."""
    marks: tuple[int, ...] = ()
    """Where in `display` they stood."""


class Promoted(LongGiven):
    text: str | None = None
    """These words in place of the message's own."""
    category: Category = Category.KNOWLEDGE
    tags: Texts = ()


CONVERSATION: dict[str, Any] = {
    "id": "7e2a9b64c1d80f35",
    "session_id": "1c0d",
    "file": "claude-code/garden/1c0d.jsonl",
    "source": "claude-code",
    "project": "/home/kim/garden",
    "started_at": "2026-05-01T09:58:00.000Z",
    "ended_at": "2026-05-01T10:20:00.000Z",
    "messages": 14,
    "status": "ready",
    "title": "Where the tomatoes go",
    "thread": "1c0d",
}
MESSAGE: dict[str, Any] = {
    "id": "5b1f0c7d9a3e4f60",
    "author": "user",
    "at": "2026-05-01T09:59:00.000Z",
    "text": "The tomatoes go behind the shed this year.",
    "blocks": [{"type": "text", "text": "The tomatoes go behind the shed this year.", "line": 12}],
    "tools": [],
    "cwd": "/home/kim/garden",
    "session_id": "1c0d",
    "file": "claude-code/garden/1c0d.jsonl",
    "line": 12,
    "standing": "said",
    "kind": "",
    "agent_id": "",
    "model": "",
    "gone": False,
}


@router.get(
    "/conversations",
    **gives(Page[ConversationShape], {"items": [CONVERSATION], "next": ""}, "Conversations, the latest first."),
)
def list_conversations(
    memory: Reader,
    status: Annotated[Status | None, Query(examples=["ready"])] = None,
    project: Annotated[str, Query(max_length=500, description="Part of the working folder.", examples=[""])] = "",
    since: When = "",
    limit: Limit = 30,
    after: After = "",
) -> Response:
    """What was talked about, and where."""
    begin = times.beginning(since)

    def fetch(number: int) -> list[Listed]:
        return memory.history.conversations(status=status or "", project=project, since=begin, limit=number)

    return answered(paged(fetch, limit, after, lambda item: item.conversation.id, listed_json))


@router.get("/conversations/{id}", **gives(ConversationShape, CONVERSATION, "The conversation."))
def read_conversation(memory: Reader, id: Identity) -> Response:  # noqa: A002
    """One conversation, by its id, the start of it, or its session."""
    return answered(listed_json(memory.history.conversation(id)))


@router.get(
    "/conversations/{id}/messages",
    **gives(Page[MessageShape], {"items": [MESSAGE], "next": ""}, "Its messages, in their order."),
)
def list_messages(
    memory: Reader,
    id: Identity,  # noqa: A002
    everything: Everything = False,
    thread: Thread = False,
    limit: Limit = 100,
    after: After = "",
) -> Response:
    """What was said in a conversation."""
    messages = _messages(memory, id, everything=everything, thread=thread)
    files = memory.history.file_keys(messages)
    return answered(
        cut(messages, limit, after, lambda message: message.id, lambda one: message_json(files[one.file_id], one))
    )


@router.get(
    "/conversations/{id}/transcript",
    response_class=PlainTextResponse,
    responses={200: {"description": "As people read it.", "content": {"text/plain": {"example": "2026-05-01 …"}}}},
)
def read_transcript(
    memory: Reader,
    id: Identity,  # noqa: A002
    everything: Everything = False,
    thread: Thread = False,
    ids: Annotated[bool, Query(description="Each message with its id.")] = False,
) -> Response:
    """A conversation as a readable text."""
    return PlainTextResponse(plain(_messages(memory, id, everything=everything, thread=thread), ids=ids))


@router.get("/messages/{id}", **gives(MessageShape, MESSAGE, "The message."))
def read_message(memory: Reader, id: Identity) -> Response:  # noqa: A002
    """One message, by its id or the start of it."""
    message = memory.history.message(id)
    return answered(message_json(memory.history.file_keys([message])[message.file_id], message))


@router.post(
    "/messages/{id}/promote", **gives(LearnedShape, LEARNED, "It is kept.", status=201, also=CONFLICT, etag=True)
)
def promote_message(
    memory: Writer,
    id: Identity,  # noqa: A002
    given: Annotated[Promoted, Body(examples=[{"text": "Tomatoes grow behind the shed.", "tags": ["garden"]}])],
) -> Response:
    """Make a learning of what a message says."""
    return told_learned(memory.promote(id, given.text, category=given.category, tags=given.tags))


def _messages(memory: Memory, name: str, *, everything: bool, thread: bool) -> list[Message]:
    item = memory.history.conversation(name)
    parts = memory.history.thread(item.conversation) if thread else [item]
    return [message for part in parts for message in memory.history.messages(part.conversation, everything=everything)]
