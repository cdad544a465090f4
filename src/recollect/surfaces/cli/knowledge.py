"""remember, promote, records, record, why, edit, undo."""

import sys
from typing import TYPE_CHECKING, Any

import click

from recollect.errors import Conflict, Invalid
from recollect.surfaces import times
from recollect.surfaces.cli.output import on_one_line, print_json, say, style
from recollect.surfaces.cli.place import Place, agent_option, json_option
from recollect.surfaces.cli.records import (
    print_chain,
    print_events,
    print_learned,
    print_list,
    print_next,
    print_record,
)
from recollect.surfaces.shapes.records import chain_json, learned_json, record_json, sources_of
from recollect.surfaces.shapes.showings import shown_json

if TYPE_CHECKING:
    from recollect.knowledge import Learned, Record

CATEGORIES = "knowledge, identity or operational."
KINDS = "fact, preference, commitment, decision, association, summary, procedure or learning."
STATES = "current, replaced, retracted or all. Default: current, with --true-at also replaced."
STANDARD_INPUT = "-"


@click.command()
@click.argument("text")
@click.option("--category", default="knowledge", metavar="C", help=CATEGORIES, show_default=True)
@click.option("--tag", "tags", multiple=True, metavar="T", help="May be given several times.")
@click.option("--kind", default="learning", metavar="K", help=KINDS, show_default=True)
@click.option("--subject", default="", metavar="S", help="Whom or what it is about.")
@click.option("--attribute", default="", metavar="A", help="What about it: the next statement about it replaces this.")
@click.option("--value", default="", metavar="V", help="The attribute's value, for programs.")
@click.option("--importance", default=0.5, metavar="X", help="From 0 to 1.", show_default=True)
@click.option("--confidence", default=1.0, metavar="X", help="From 0 to 1.", show_default=True)
@click.option("--expires", default="", metavar="WHEN", help="Until the end of then: 2027-01-31, 'in 30 days'.")
@click.option("--true-from", default="", metavar="WHEN", help="Since when it is true. Default: now.")
@click.option("--true-until", default="", metavar="WHEN", help="Until the end of then it was true.")
@click.option("--scope", default="", metavar="S", help="For whom: house, an agent, a room. Default: who remembers.")
@click.option("--replaces", default="", metavar="ID", help="It takes the place of this record.")
@click.option("--refines", default="", metavar="ID", help="It says the same as this record, and more.")
@click.option("--reason", default="", metavar="R", help="Why, for `recollect why`.")
@agent_option
@json_option
@click.pass_obj
def remember(
    place: Place,
    as_json: bool,
    agent: str,
    text: str,
    expires: str,
    true_from: str,
    true_until: str,
    replaces: str,
    refines: str,
    **options: Any,
) -> None:
    """Keep a statement for good.

    TEXT is one statement; - reads it from standard input. With --subject and --attribute a later statement about the
    same takes its place, and the old one stays as what was true until then.
    """
    if replaces and refines:
        raise click.UsageError("A statement replaces a record or refines it: give one of --replaces and --refines.")
    given: dict[str, Any] = {
        **options,
        "expires_at": times.expiry(expires),
        "true_from": times.beginning(true_from),
        "true_until": times.end(true_until),
    }
    if replaces or refines:
        given |= {"relation": _relation(replaces), "other": replaces or refines}
    with place.opened_as(agent) as memory:
        learned = memory.knowledge.remember(_text(text), **given)
    _tell_learned(learned, place, as_json)


def _relation(replaces: str) -> Any:
    from recollect.knowledge import Relation

    return Relation.REPLACES if replaces else Relation.REFINES


@click.command()
@click.argument("message", metavar="MESSAGE")
@click.option("--text", metavar="T", help="These words in place of the message's own; - reads standard input.")
@click.option("--category", default="knowledge", metavar="C", help=CATEGORIES, show_default=True)
@click.option("--tag", "tags", multiple=True, metavar="T", help="May be given several times.")
@agent_option
@json_option
@click.pass_obj
def promote(
    place: Place, message: str, text: str | None, category: str, tags: tuple[str, ...], agent: str, as_json: bool
) -> None:
    """Make a learning of a message.

    MESSAGE is its id, as `show --ids` and `search --json` tell it. Its text is taken unless --text says it better.
    """
    own_words = None if text is None else _text(text)
    with place.opened_as(agent) as memory:
        learned = memory.promote(message, own_words, category=category, tags=tags)
    _tell_learned(learned, place, as_json)


def _tell_learned(learned: "Learned", place: Place, as_json: bool) -> None:
    if learned.record is None:
        raise Conflict(f"It was not remembered: {learned.reason}")
    if as_json:
        print_json(learned_json(learned))
    else:
        print_learned(learned, place.invocation())


@click.command()
@click.option("--kind", default="", metavar="K", help=KINDS)
@click.option("--category", default="", metavar="C", help=CATEGORIES)
@click.option("--tag", "tags", multiple=True, metavar="T", help="With this tag; given several times, with each.")
@click.option("--subject", default="", metavar="S", help="About this.")
@click.option("--attribute", default="", metavar="A", help="And this of it.")
@click.option("--scope", default="", metavar="S", help="In this scope alone.")
@click.option("--state", default="", metavar="S", help=STATES)
@click.option("--as-of", default="", metavar="WHEN", help="As it was believed at the end of then.")
@click.option("--true-at", default="", metavar="WHEN", help="What was true at the end of then.")
@click.option("--expired", is_flag=True, help="Also what has expired.")
@click.option("--limit", default=30, type=click.IntRange(min=1), help="At most this many.", show_default=True)
@agent_option
@json_option
@click.pass_obj
def records(place: Place, as_json: bool, agent: str, as_of: str, true_at: str, **options: Any) -> None:
    """List what is known, the newest first.

    `recollect search --type facts` finds records by their words.
    """
    options |= {"as_of": times.last_moment(as_of), "true_at": times.last_moment(true_at)}
    with place.opened_as(agent) as memory:
        found = memory.knowledge.records(**options)
    if as_json:
        print_json([record_json(record) for record in found])
    elif found:
        print_list(found)
    else:
        say("No records. `recollect remember TEXT` makes one; fewer filters may show more.")


@click.command()
@click.argument("name", metavar="ID")
@click.option("--history", is_flag=True, help="Also each change of it.")
@agent_option
@json_option
@click.pass_obj
def record(place: Place, name: str, history: bool, agent: str, as_json: bool) -> None:
    """Show one record."""
    with place.opened_as(agent) as memory:
        chain = memory.knowledge.why(name)
        sources = sources_of(memory, chain.record)
        counted = memory.showings.counted([chain.record.id]).get(chain.record.id)
    if as_json:
        print_json({**record_json(chain.record), **chain_json(chain, sources), **shown_json(counted)})
        return
    print_record(chain.record, sources, place.invocation(), counted)
    if history:
        print_events(chain.events)


@click.command()
@click.argument("name", metavar="ID")
@agent_option
@json_option
@click.pass_obj
def why(place: Place, name: str, agent: str, as_json: bool) -> None:
    """Tell where a record is from.

    The words and the message it was read in, who decided and why, what it replaced, and each change of it.
    """
    with place.opened_as(agent) as memory:
        chain = memory.knowledge.why(name)
        sources = sources_of(memory, chain.record)
    if as_json:
        print_json({"record": record_json(chain.record), **chain_json(chain, sources)})
    else:
        print_chain(chain, sources, place.invocation())


@click.command()
@click.argument("name", metavar="ID")
@click.argument("text", required=False)
@click.option("--category", metavar="C", help=CATEGORIES)
@click.option("--tag", "tags", multiple=True, metavar="T", help="These tags in place of its own; '' for none.")
@click.option("--value", metavar="V", help="The attribute's value, for programs.")
@click.option("--importance", type=float, metavar="X", help="From 0 to 1.")
@click.option("--confidence", type=float, metavar="X", help="From 0 to 1.")
@click.option("--expires", metavar="WHEN", help="Until the end of then, 'in 30 days', 'now' or 'never'.")
@click.option("--version", "expected_version", type=int, metavar="N", help="Only if this is still its version.")
@click.option("--reason", default="", metavar="R", help="Why, for `recollect why`.")
@click.option("--retract", is_flag=True, help="It is wrong or not wanted: it counts no more, and undo brings it back.")
@agent_option
@json_option
@click.pass_obj
def edit(place: Place, name: str, text: str | None, retract: bool, agent: str, as_json: bool, **options: Any) -> None:
    """Change a record.

    TEXT is what it says from now on; - reads it from standard input. Without TEXT and options an editor opens, on a
    terminal. Earlier versions are kept: `recollect record ID --history` lists them, `recollect undo ID` goes back.
    """
    kept = {key: options.pop(key) for key in ("expected_version", "reason")}
    changes = _changes(text, options)
    if retract and changes:
        raise click.UsageError("--retract takes a record back as it is: leave the other changes out.")
    with place.opened_as(agent) as memory:
        before = memory.knowledge.record(name)
        if retract:
            changed = memory.knowledge.retract(name, **kept)
        else:
            if not changes:
                # What was read is what is changed: who was quicker is not overwritten.
                kept["expected_version"] = kept["expected_version"] or before.seen
                changes = {"text": _edited(before)}
            changed = memory.knowledge.edit(name, **changes, **kept)
    word = "Taken back" if retract else "Changed" if changed.version > before.version else "Nothing to change"
    _tell_changed(changed, word, place, as_json)


def _changes(text: str | None, options: dict[str, Any]) -> dict[str, Any]:
    """What is to become different, by its name in `Knowledge.edit`."""
    expires = options.pop("expires")
    tags = options.pop("tags")
    changes = {key: value for key, value in options.items() if value is not None}
    if text is not None:
        changes["text"] = _text(text)
    if tags:
        changes["tags"] = tuple(tag for tag in tags if tag)
    if expires is not None:
        changes["expires_at"] = times.expiry(expires)
    return changes


def _edited(before: "Record") -> str:
    if not sys.stdin.isatty():
        raise click.UsageError("Nothing is to be changed: give the new TEXT or an option such as --category.")
    text = click.edit(before.text + "\n", extension=".txt")
    if text is None or text.strip() == before.text.strip():
        raise click.UsageError("Nothing was changed in the editor.")
    return text.strip()


@click.command()
@click.argument("name", metavar="ID")
@click.option("--to", "version", type=int, metavar="VERSION", help="This version. Default: the one before.")
@click.option("--version", "expected_version", type=int, metavar="N", help="Only if this is still its version.")
@click.option("--reason", default="", metavar="R", help="Why, for `recollect why`.")
@agent_option
@json_option
@click.pass_obj
def undo(place: Place, name: str, agent: str, as_json: bool, **options: Any) -> None:
    """Bring an earlier version of a record back, as a new one."""
    with place.opened_as(agent) as memory:
        changed = memory.knowledge.undo(name, **options)
    _tell_changed(changed, "Restored", place, as_json)


def _tell_changed(changed: "Record", word: str, place: Place, as_json: bool) -> None:
    if as_json:
        print_json(record_json(changed))
        return
    state = "" if changed.state == "current" else f", {changed.state}"
    say(f"{style(word, 'green')}, version {changed.version}{state}: {on_one_line(changed.text)}")
    print_next(changed, place.invocation())


def _text(given: str) -> str:
    if given != STANDARD_INPUT:
        given.encode()  # Bytes that are no text are refused, not kept as something else.
        return given
    try:
        return sys.stdin.buffer.read().decode().rstrip("\n")
    except UnicodeDecodeError:
        raise Invalid(
            "What standard input gives is not UTF-8 text. Convert it first, for example with iconv."
        ) from None
