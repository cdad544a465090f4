"""The tools of the mind as a model is told of them (M5).

They stand before everything else in a request: their order and their bytes are the same in each. They describe what
there is, never what to do at which moment.
"""

from typing import Any

from recollect.llm.talking import Tool
from recollect.notes.memory_tool import NAME as MEMORY
from recollect.notes.memory_tool import TYPE as MEMORY_KIND

SEARCH = "search_memory"
STATUS = "update_status"
QUERY = "query_memory"
SEARCH_TYPES = ("conversations", "facts", "both")
COMMANDS = ("view", "create", "str_replace", "insert", "delete", "rename")

_SEARCH = """\
Finds what was said at any time in any conversation of this house, what was learned from it, and what stands in notes: \
by words, by meaning and by time. The question is plain language in any tongue; "last week" or "in March" in it are \
understood. The best hits come first, each with its time, who said it, and where it stands."""

_STATUS = """\
Sets fields of your status board, the file status.json, each with the time of now. Fields that are not named stay as \
they are, and null takes one away. A value is anything that JSON can hold."""

_MEMORY = """\
Your notes, as files below /memories: pages of the house, and your own in /memories/agents/ under your name. "view" \
shows a folder, or a page with numbered lines; "create" makes a new page; "str_replace" puts new_str in the place of \
old_str, which has to stand in the page exactly once; "insert" adds insert_text behind the line insert_line, 0 being \
the top; "delete" and "rename" take pages and folders. Every version of a page is kept, also of one that was deleted."""

_QUERY = """\
Answers one SELECT on the archive, read-only: what a search looks through, to be counted, listed and read whole. Times \
are text in UTC, such as 2026-02-21T02:54:11.688Z, and sort as text. A long result is cut, and says so.

conversations: id, source, project, started_at, ended_at, messages, status, title, file
messages: id, conversation_id, author (user, assistant, subagent, tool, machine), at, text, tools, source, cwd, file, \
line
records, what was learned and holds now: id, kind, subject, attribute, value, text, category, tags, confidence, \
importance, learned_at, true_from, true_until, expires_at, state
record_versions, with what was believed before: the same, and version, believed_from, believed_until
record_events: record_id, at, action, actor_name, reason
record_sources: record_id, message_id
notes: path, at, actor_name, size
note_versions: path, number, at, actor_name, action, reason, size, is_gone"""


def _object(required: tuple[str, ...], **properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


SPECS = (
    Tool(
        name=SEARCH,
        description=_SEARCH,
        schema=_object(
            ("query",),
            query=_text("What is looked for, in plain words."),
            search_type={
                "type": "string",
                "enum": list(SEARCH_TYPES),
                "description": "conversations: what was said. facts: what was learned. both: these and notes; this "
                "is what happens where nothing is given.",
            },
        ),
    ),
    Tool(
        name=STATUS,
        description=_STATUS,
        schema=_object(
            ("updates",), updates={"type": "object", "description": 'Names and values, such as {"mood": "content"}.'}
        ),
    ),
    Tool(
        name=MEMORY,
        description=_MEMORY,
        kind=MEMORY_KIND,
        schema=_object(
            ("command",),
            command={"type": "string", "enum": list(COMMANDS)},
            path=_text("Of every command but rename, such as /memories/garden.md."),
            view_range={
                "type": "array",
                "items": {"type": "integer"},
                "description": "Of view: the first and the last line, -1 being the end.",
            },
            file_text=_text("Of create: the whole page."),
            old_str=_text("Of str_replace: the text that stands there."),
            new_str=_text("Of str_replace: the text in its place."),
            insert_line={"type": "integer", "description": "Of insert."},
            insert_text=_text("Of insert."),
            old_path=_text("Of rename."),
            new_path=_text("Of rename."),
        ),
    ),
    Tool(
        name=QUERY,
        description=_QUERY,
        schema=_object(("sql",), sql=_text("One SELECT.")),
    ),
)
