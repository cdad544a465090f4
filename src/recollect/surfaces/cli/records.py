"""Records as programs and people read them. Printing only: the commands are in `knowledge`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from recollect.surfaces.cli.output import (
    amount,
    on_one_line,
    printable,
    say,
    short_path,
    shorten,
    speaker,
    style,
    table,
    when,
)
from recollect.surfaces.shapes.records import Source

if TYPE_CHECKING:
    from recollect.knowledge import Chain, Event, Learned, Record
    from recollect.showings import Counted

ID_CHARACTERS = 8
"""Of the end of an id: it begins with the time it was made at, which many share."""
LINE_CHARACTERS = 100
LABEL_CHARACTERS = len("replaced by")
ORIGINS = {
    "told": "told to Recollect",
    "promoted": "chosen from a message",
    "marked": "marked by an agent in what it said",
    "extracted": "found by the librarian",
    "imported": "imported",
}
ACTORS = {"person": "you", "agent": "an agent", "librarian": "the librarian", "rule": "a rule"}
COMPARED = (
    "text", "kind", "category", "tags", "subject", "attribute", "value", "confidence", "importance",
    "true_from", "true_until", "expires_at", "scope", "state",
)  # fmt: skip
"""What of a record is told as changed."""
TIMES = frozenset({"true_from", "true_until", "expires_at"})


# For people


def short_ids(records: "Sequence[Record]") -> list[str]:
    """As much of the end of each id as tells these records apart."""
    ids = {record.id for record in records}
    characters = ID_CHARACTERS
    while len({one[-characters:] for one in ids}) < len(ids):
        characters += 1
    return [record.id[-characters:].lstrip("-") for record in records]


def print_list(records: "Sequence[Record]") -> None:
    columns: list[tuple[str, list[str]]] = [
        ("id", short_ids(records)),
        ("learned", [when(record.learned_at) for record in records]),
        ("category", [record.category for record in records]),
        ("kind", [record.kind for record in records]),
        ("scope", [record.scope for record in records]),
        ("state", [record.state for record in records]),
        ("text", [_listed_text(record) for record in records]),
    ]
    usual = {"kind": "learning", "scope": "house", "state": "current"}
    shown = [(name, cells) for name, cells in columns if name not in usual or set(cells) != {usual[name]}]
    table([name for name, _ in shown], list(zip(*(cells for _, cells in shown), strict=True)))


def _listed_text(record: "Record") -> str:
    tags = "".join(f" #{printable(tag)}" for tag in record.tags)
    return shorten(on_one_line(record.text), LINE_CHARACTERS) + tags


def print_learned(learned: "Learned", program: str) -> None:
    record = learned.record
    assert record
    say(f"{style(_outcome(learned, record), 'green')}: {on_one_line(record.text)}")
    if learned.replaced and learned.replaced.id != record.id:
        say(f"  before: {style(on_one_line(learned.replaced.text), 'dim')}")
    if learned.outcome == "same":
        say(f"  {style('Its words, tags and weight stay as they are; `edit` changes them.', 'dim')}")
    elif learned.outcome != "new":
        say(f"  {style(printable(learned.reason), 'dim')}")
    print_next(record, program)


def _outcome(learned: "Learned", record: "Record") -> str:
    if record.state == "replaced":
        return f"Remembered as what was true until {when(record.true_until)}"
    words = {
        "same": "Known already",
        "refines": "Remembered, in finer words",
        "replaces": "Remembered, in place of what was known",
    }
    return words.get(learned.outcome, "Remembered")


def print_next(record: "Record", program: str) -> None:
    """The command that tells more of a record."""
    say("  " + style(f"{program} why {short_ids([record])[0]}", "cyan"))


def print_record(record: "Record", sources: Sequence[Source], program: str, counted: "Counted | None" = None) -> None:
    for line in record.text.splitlines():
        say(style(printable(line), "bold"))
    say()
    about = " · ".join(part for part in (record.subject, record.attribute, record.value) if part)
    is_now = record.state == "current" and not record.believed_until
    facts = [
        ("id", record.id),
        ("kind", f"{record.kind}, {record.category}"),
        ("about", on_one_line(about)),
        ("tags", printable(", ".join(record.tags))),
        ("learned", f"{when(record.learned_at)}, {ORIGINS[record.origin]}"),
        ("true", _stretch(record)),
        ("expires", when(record.expires_at) if record.expires_at else ""),
        ("scope", record.scope),
        ("weight", f"importance {record.importance:g}, confidence {record.confidence:g}"),
        ("version", str(record.version) if is_now else f"{record.version}, {record.state}"),
        ("replaces", record.replaces),
        ("replaced by", record.replaced_by),
        ("shown", _shown(counted) if counted else ""),
    ]
    for name, text in facts:
        if text:
            say(f"{style(f'{name:{LABEL_CHARACTERS}}', 'dim')}  {text}")
    print_sources(sources, program)


def _shown(counted: "Counted") -> str:
    sessions = f"in {amount(counted.shown, 'session')}"
    if not counted.used:
        return f"{sessions}, never used"
    return f"{sessions}, used {amount(counted.used, 'time')}, the last time {when(counted.last_used_at)}"


def _stretch(record: "Record") -> str:
    """When it was true, where that is not simply since it was learned."""
    begins = f"from {when(record.true_from)}" if record.true_from not in ("", record.learned_at) else ""
    ends = f"until {when(record.true_until)}" if record.true_until else ""
    return " ".join(part for part in (begins, ends) if part)


def print_chain(chain: "Chain", sources: Sequence[Source], program: str) -> None:
    record = chain.record
    for line in record.text.splitlines():
        say(style(printable(line), "bold"))
    facts = [record.id, record.kind, record.category, record.scope, f"version {record.version}"]
    say(style(" · ".join([*facts, *([] if record.state == "current" else [str(record.state)])]), "dim"))
    print_sources(sources, program)
    if not sources:
        say()
        say(f"No message is named as its source: it was {ORIGINS[record.origin]}.")
    print_events(chain.events)
    _print_others("In place of", chain.replaced)
    _print_others("Replaced by", chain.replaced_by)


def _print_others(heading: str, records: "Sequence[Record]") -> None:
    if not records:
        return
    say()
    say(style(heading, "bold"))
    for record in records:
        say(f"  {on_one_line(record.text)}")
        stretch = _stretch(record)
        facts = [record.id, f"learned {when(record.learned_at)}", f"true {stretch}" if stretch else ""]
        say("  " + style(" · ".join(fact for fact in facts if fact), "dim"))


def print_sources(sources: Sequence[Source], program: str) -> None:
    if not sources:
        return
    say()
    say(style("Where it is from", "bold"))
    for source in sources:
        message = source.message
        if message is None:
            say(f"  {style('message', 'dim')} {source.message_id}: not there any more, or not to be seen from here")
        else:
            where = f"{short_path(printable(source.file))}:{message.line}"
            facts = [when(message.at), speaker(message.author), where]
            say("  " + "  ".join(facts))
        if source.quote or message:
            quote = source.quote or (message.text if message else "")
            say(f"  “{shorten(on_one_line(quote), 3 * LINE_CHARACTERS)}”")
        if message and message.conversation_id:
            say("  " + style(f"{program} show {message.conversation_id[:8]}", "cyan"))


def print_events(events: "Sequence[Event]") -> None:
    """How it came to be what it is, each change with who made it, why, and what became different."""
    say()
    say(style("What happened", "bold"))
    for event in events:
        who = printable(event.actor_name) or ACTORS.get(event.actor, event.actor)
        reason = f": {on_one_line(event.reason)}" if event.reason else ""
        say(f"  {when(event.at)}  {style(f'{event.action} by {who}', 'bold')} (version {event.version}){reason}")
        for line in _changes(event.before, event.after):
            say(f"      {line}")


def _changes(before: "Record | None", after: "Record | None") -> list[str]:
    if after is None:
        return []
    if before is None:
        return [style(f"+ {on_one_line(after.text)}", "green")]
    lines: list[str] = []
    for name in COMPARED:
        old, new = getattr(before, name), getattr(after, name)
        if old == new:
            continue
        if name == "text":
            lines += [style(f"- {on_one_line(old)}", "red"), style(f"+ {on_one_line(new)}", "green")]
        else:
            lines.append(f"{name.replace('_', ' ')}: {_cell(name, old)} → {_cell(name, new)}")
    return lines


def _cell(name: str, value: object) -> str:
    if name in TIMES:
        return when(str(value))
    return on_one_line(", ".join(cast("tuple[str, ...]", value)) if name == "tags" else str(value)) or "–"
