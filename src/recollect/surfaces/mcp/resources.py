"""Resources: the notes and the conversations, each by an address of its own, the latest first in the list."""

from typing import TYPE_CHECKING
from urllib.parse import parse_qs, quote, unquote, urlsplit

from mcp_types import Annotations, Resource, ResourceTemplate

from recollect.errors import Invalid, NotFound
from recollect.mind.tool_results import one_line
from recollect.redaction import mask
from recollect.surfaces.mcp.answers import Answer
from recollect.surfaces.mcp.paging import cursor_of, position_of
from recollect.surfaces.mcp.reading import read_conversation, read_note

if TYPE_CHECKING:
    from recollect.memory import Memory

SCHEME = "recollect"
NOTES, CONVERSATIONS = "notes", "conversations"
PAGE = 50
MOST_LISTED = 1_000
"""Conversations that can be listed, the latest: older ones are found by a search."""
MOST_TOKENS = 16_000
"""Of one reading. What is longer names the address of its next part."""
MOST_ADDRESS_CHARACTERS = 4_000
_LISTING = "resources"

TEMPLATES = (
    ResourceTemplate(
        uri_template=f"{SCHEME}://{NOTES}/{{+path}}{{?cursor}}",
        name="note",
        title="A note",
        description="A page of the notes, with numbered lines.",
        mime_type="text/markdown",
    ),
    ResourceTemplate(
        uri_template=f"{SCHEME}://{CONVERSATIONS}/{{id}}{{?cursor}}",
        name="conversation",
        title="A conversation",
        description="What was said in one conversation with any agent.",
        mime_type="text/plain",
    ),
)


def listed(memory: "Memory", cursor: str) -> tuple[list[Resource], str]:
    """One page, and the cursor of the next: all notes, then the conversations."""
    (start,) = position_of(cursor, _LISTING, 1)
    # A path that has a credential is no address that could be told.
    seen = [one for one in memory.notes.list() if mask(one.path) == one.path]
    notes = sorted(seen, key=lambda one: (one.at, one.path), reverse=True)
    found = [
        Resource(
            uri=address_of(NOTES, one.path),
            name=one.path,
            mime_type="text/markdown" if one.path.endswith(".md") else "text/plain",
            size=one.size,
            annotations=Annotations(last_modified=one.at),
        )
        for one in notes[start : start + PAGE]
    ]
    room = PAGE - len(found)
    first = max(0, start - len(notes))
    number = min(first + room + 1, MOST_LISTED)
    conversations = memory.history.conversations(limit=number)[first:] if first < number else []
    found += [
        Resource(
            uri=address_of(CONVERSATIONS, one.conversation.id),
            name=one.conversation.id,
            title=one_line(one.title),
            description=one_line(f"{one.conversation.source} {one.conversation.project}"),
            mime_type="text/plain",
            annotations=Annotations(last_modified=one.conversation.ended_at),
        )
        for one in conversations[:room]
    ]
    reached = start + len(found)
    is_more = len(conversations) > room or reached < len(notes)
    return found, cursor_of(_LISTING, reached) if is_more else ""


def address_of(kind: str, name: str, cursor: str = "") -> str:
    more = f"?cursor={cursor}" if cursor else ""
    return f"{SCHEME}://{kind}/{quote(name, safe='/')}{more}"


def read(memory: "Memory", address: str) -> tuple[str, str]:
    """(text, its kind). What is too long ends with the address of its next part."""
    kind, name, cursor = _parsed(address)
    if kind == NOTES:
        answer = read_note(memory, name, cursor, MOST_TOKENS)
    else:
        answer = read_conversation(memory, name, cursor, MOST_TOKENS)
    following = answer.tokens.get("next_cursor", "")
    footer = f"[It goes on: {address_of(kind, str(answer.structured['id']), following)}]" if following else ""
    whole = Answer(text=answer.text, footer=footer)
    return whole.shown, "text/markdown" if kind == NOTES else "text/plain"


def _parsed(address: str) -> tuple[str, str, str]:
    if len(address) > MOST_ADDRESS_CHARACTERS:
        raise Invalid("This address is too long to be one of a resource here.")
    try:
        parts = urlsplit(address)
        kind, given = parts.netloc, parse_qs(parts.query, keep_blank_values=True)
    except ValueError:
        raise _unknown(address) from None
    name = unquote(parts.path.removeprefix("/"))
    if parts.scheme != SCHEME or kind not in (NOTES, CONVERSATIONS) or not name or parts.fragment:
        raise _unknown(address)
    if given.keys() - {"cursor"}:
        raise Invalid("An address of a resource here has nothing but a cursor behind its question mark.")
    return kind, name, given.get("cursor", [""])[-1]


def _unknown(address: str) -> NotFound:
    return NotFound(
        f"There is no resource {one_line(address)!r}. There are {SCHEME}://{NOTES}/PATH and "
        f"{SCHEME}://{CONVERSATIONS}/ID."
    )
