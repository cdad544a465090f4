"""A conversation as people read it: local time, who spoke, the words first, tools as one line each."""

from collections.abc import Iterator
from dataclasses import dataclass

from recollect import markers
from recollect.clock import local
from recollect.history.messages import Author, Block, Message, Standing

SPEAKERS = {
    Author.USER: "You",
    Author.ASSISTANT: "Assistant",
    Author.SUBAGENT: "Sub-agent",
    Author.TOOL: "Tool",
    Author.MACHINE: "Machine",
}
TURN_GAP_SECONDS = 600
"""A longer pause inside a conversation is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """One thing to show. `style`: day, pause, user, assistant, aside, text, tool."""

    style: str
    text: str


def paragraphs(messages: list[Message], *, ids: bool = False) -> Iterator[Paragraph]:
    """`ids`: each message with the id by which it can be promoted or forgotten."""
    day = ""
    previous: Message | None = None
    for message in messages:
        goes_on = previous is not None and not ids and _continues(previous, message)
        moment = local(message.at) if message.at else None
        if moment and f"{moment:%Y-%m-%d}" != day:
            day = f"{moment:%Y-%m-%d}"
            goes_on = False
            yield Paragraph(style="day", text=f"{moment:%A, %d %B %Y}")
        if previous and previous.last_at and moment:
            seconds = (moment - local(previous.last_at)).total_seconds()
            if seconds > TURN_GAP_SECONDS:
                goes_on = False
                yield Paragraph(style="pause", text=f"{_duration(seconds)} later")
        if not goes_on:
            heading = _heading(message, f"{moment:%H:%M}" if moment else "")
            yield Paragraph(style=_style(message), text=f"{heading}  {message.id}" if ids else heading)
        yield from _body(message)
        previous = message


def _duration(seconds: float) -> str:
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= length * 2 or unit == "minute":
            return f"{seconds / length:,.0f} {unit}s"
    return ""


def _continues(previous: Message, message: Message) -> bool:
    """The assistant goes on speaking after a tool: no new heading."""
    return message.author is Author.ASSISTANT and (previous.author, previous.standing, previous.agent_id) == (
        message.author,
        message.standing,
        message.agent_id,
    )


def _style(message: Message) -> str:
    if message.standing is not Standing.SAID or message.gone:
        return "aside"
    return "user" if message.author is Author.USER else "assistant"


def _heading(message: Message, clock: str) -> str:
    notes = [message.kind] if message.kind and message.author is not Author.USER else []
    if message.agent_id and message.agent_id != "inline":
        notes.append(message.agent_id)
    if message.standing not in (Standing.SAID, Standing.ASIDE):
        notes.append(str(message.standing))
    if message.gone:
        notes.append("no longer in the file")
    said_by = SPEAKERS[message.author] + (f" ({', '.join(notes)})" if notes else "")
    return f"{said_by}  {clock}".rstrip()


def _body(message: Message) -> Iterator[Paragraph]:
    if message.author is Author.TOOL:
        if message.text:
            yield Paragraph(style="tool", text=message.text)
        return
    for block in message.blocks:
        if block["type"] == "text":
            shown = _shown(message, block["text"]).strip()
            if shown:
                yield Paragraph(style="text", text=shown)
        elif not _is_empty(block):
            yield Paragraph(style="tool", text=_block_line(block))


def reading_of(message: Message) -> markers.Reading | None:
    """How to show what was said without its markers. None: markers in it count for nothing, or there are none."""
    reading = markers.read(*message.text_blocks) if _may_mark(message) else None
    return reading if reading and reading.marks else None


def _shown(message: Message, text: str) -> str:
    return markers.marked(markers.read(text)) if _may_mark(message) else text


def _may_mark(message: Message) -> bool:
    return message.author is Author.ASSISTANT and message.standing is Standing.SAID and not message.gone


def _is_empty(block: Block) -> bool:
    """A result is shown with its own message; a thought without words says nothing."""
    return block["type"] == "tool_result" or (block["type"] == "thinking" and not block.get("characters"))


def _block_line(block: Block) -> str:
    kind = block["type"]
    if kind == "tool_call":
        return f"→ {block['name']}  {block.get('summary', '')}".rstrip()
    if kind == "thinking":
        return f"… thought ({block['characters']:,} characters)"
    if kind in ("image", "document"):
        return f"[{kind} {block.get('media_type', '')}, {block.get('bytes', 0):,} bytes]"
    return f"[{kind}]"


def plain(messages: list[Message], *, ids: bool = False) -> str:
    """The transcript as text, for pipes, files and models."""
    lines: list[str] = []
    for paragraph in paragraphs(messages, ids=ids):
        if paragraph.style in ("day", "pause"):
            lines += ["", f"── {paragraph.text} ──"]
        elif paragraph.style in ("text", "tool"):
            lines += [f"  {line}" for line in paragraph.text.splitlines()]
        else:
            lines += ["", paragraph.text]
    return "\n".join(lines).strip() + "\n"
