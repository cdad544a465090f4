"""remember, update_status, notes: what an agent writes down, where it may."""

from typing import TYPE_CHECKING, Any, cast

from recollect.errors import Conflict, Denied, Invalid
from recollect.mind.tool_results import bounded, one_line, status_text
from recollect.notes.memory_tool import LISTING
from recollect.scopes import HOUSE
from recollect.surfaces.mcp.answers import Answer
from recollect.surfaces.mcp.arguments import MOST_NAME_CHARACTERS, Arguments, whole
from recollect.surfaces.mcp.paging import PAGE_TOKENS, cost
from recollect.surfaces.mcp.specs import CATEGORIES, KINDS, SCOPES, VIEW

if TYPE_CHECKING:
    from recollect.knowledge import Learned, Record
    from recollect.memory import Memory

MOST_STATEMENT_CHARACTERS = 8_000
"""What is longer is a page, not a statement."""
MOST_ECHO_TOKENS = 500
"""Who wrote it knows it: what comes back shows how it was kept."""
MOST_ECHO_FIELDS = 20
_OUTCOMES = {
    "new": "Kept",
    "unrelated": "Kept",
    "same": "Known already",
    "refines": "Kept, in finer words",
    "replaces": "Kept, in place of what was known",
}


def check_may_write(memory: "Memory", tool: str) -> None:
    if not memory.principal.may_write:
        who = memory.principal.name or "Who asks"
        raise Denied(f"{who} may only read here, and {tool} writes. A person can start this without --read-only, or "
                     "make a token that may write.")  # fmt: skip


def remember(memory: "Memory", given: Arguments, *, writes_in_house: bool) -> Answer:
    from recollect.knowledge import Relation

    others: dict[str, Any] = {}
    if replaced := given.text("replaces", "", MOST_NAME_CHARACTERS):
        others = {"relation": Relation.REPLACES, "other": replaced}
    if writes_in_house and given.choice("scope", SCOPES, SCOPES[0]) == HOUSE:
        others["scope"] = HOUSE
    learned = memory.knowledge.remember(
        _statement(given),
        category=given.choice("category", CATEGORIES, CATEGORIES[0]),
        kind=given.choice("kind", KINDS, KINDS[0]),
        tags=given.texts("tags"),
        subject=given.text("subject", ""),
        attribute=given.text("attribute", ""),
        reason="remembered over MCP",
        **others,
    )
    if learned.record is None:
        raise Conflict(f"It was not remembered: {learned.reason}")
    return _learned(learned, learned.record)


def _statement(given: Arguments) -> str:
    text = given.text("text")
    if len(text) > MOST_STATEMENT_CHARACTERS:
        raise Invalid(
            f"`text` of remember has {len(text):,} characters; a statement has {MOST_STATEMENT_CHARACTERS:,} at most. "
            "A note has room for all of it: the tool notes."
        )
    return text


def _learned(learned: "Learned", record: "Record") -> Answer:
    text = bounded(record.text, MOST_ECHO_TOKENS, "read_memory shows it whole.")
    lines = [f"{_OUTCOMES.get(learned.outcome, 'Kept')}: record {record.id}, version {record.version}", text]
    replaced = learned.replaced
    if replaced and replaced.id != record.id:
        lines.append(f"Before: record {replaced.id}: {one_line(replaced.text, 300)}")
    return Answer(
        text="\n".join(lines),
        structured={
            "id": record.id,
            "outcome": learned.outcome,
            "text": text,
            "reason": learned.reason,
            "version": record.version,
            "scope": record.scope,
            **({"replaced": replaced.id} if replaced and replaced.id != record.id else {}),
        },
    )


def update_status(memory: "Memory", given: Arguments) -> Answer:
    updates = given.mapping("updates")
    updated = memory.update_status(updates)
    now = {name: one for name, one in updated.board.fields.items() if name in updates}
    fields = {name: {"value": one.value, "at": one.at} for name, one in now.items()}
    if cost(fields) > MOST_ECHO_TOKENS:
        fields = {name: {"at": one.at} for name, one in list(now.items())[:MOST_ECHO_FIELDS]}
    return Answer(text=status_text(updated, updates), structured={"path": updated.board.path, "fields": fields})


def notes(memory: "Memory", given: Arguments) -> Answer:
    """The six commands of Anthropic's memory tool, which models know; confined to the folder of notes."""
    command = _with_numbers(given.given())
    text = memory.notes.tool().execute(command)
    if command["command"] == VIEW:
        return Answer(text=_viewed(text, command.get("view_range")))
    return Answer(text=bounded(text, PAGE_TOKENS, "view shows any lines of it."))


def _with_numbers(command: dict[str, Any]) -> dict[str, Any]:
    """The tool itself takes numbers alone, as the SDK's own does."""
    chosen = command.get("view_range")
    numbers = {
        "insert_line": whole(command.get("insert_line")),
        "view_range": [whole(one) for one in cast("list[object]", chosen)] if isinstance(chosen, list) else chosen,
    }
    return {**command, **{name: value for name, value in numbers.items() if name in command}}


def _viewed(text: str, view_range: Any) -> str:
    """As much as a page holds, and where it goes on. Of a folder too, which the tool shows whole as the SDK's own
    does: its first line is the one of the folder itself."""
    first, last = view_range if view_range and len(view_range) == 2 else (1, -1)
    first = max(first, 1)
    if text.startswith(LISTING):
        header, *lines = text.split("\n")
        text = "\n".join([header, *lines[first - 1 : None if last == -1 else last]])
    shown = bounded(text, PAGE_TOKENS, "")
    following = first + shown.count("\n") - 1  # Without the header, and the line that says what was left out.
    return bounded(
        text, PAGE_TOKENS, f"view_range [{following}, -1] goes on there; read_memory shows long lines whole."
    )
