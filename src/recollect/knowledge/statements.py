"""What somebody says, before it is kept: every mistake named with the next step, the words clean and masked.

Whoever calls may be a program that was given anything. What is not text, no number or no known word is refused here,
where it can be told; a store would keep it, and nobody could read the house any more.
"""

import math
import re
from collections.abc import Collection
from dataclasses import replace
from typing import cast

from recollect.clock import parse_time
from recollect.errors import Invalid
from recollect.knowledge.records import Category, Evidence, Kind, Origin, Relation, State, Statement
from recollect.redaction import mask
from recollect.texts import check_reason, clean

MOST_TEXT_BYTES = 1_000_000
"""A record is a statement, not a document: what is longer belongs into a note or stays in history."""
MOST_NAME_CHARACTERS = 500
"""Of a subject, an attribute, a tag."""
MOST_TAGS = 50
ANY_STATE = "all"
_ID = re.compile(r"[0-9a-f-]{1,64}")


def prepared(statement: Statement) -> Statement:
    """Ready to be kept."""
    ready = replace(
        statement,
        text=text_of(statement.text),
        kind=kind_named(statement.kind),
        category=category_named(statement.category),
        origin=origin_named(statement.origin),
        value=words("value", statement.value),
        subject=name_of("subject", statement.subject),
        attribute=name_of("attribute", statement.attribute),
        tags=tags_of(statement.tags),
        confidence=share("confidence", statement.confidence),
        importance=share("importance", statement.importance),
        true_from=stored_time("true from", statement.true_from),
        true_until=stored_time("true until", statement.true_until),
        expires_at=stored_time("expires", statement.expires_at),
        sources=tuple(_evidence(source) for source in statement.sources),
    )
    if ready.attribute and not ready.subject:
        raise Invalid("An attribute needs a subject: whose attribute is it?")
    if ready.id and not _ID.fullmatch(words("id", ready.id)):
        raise Invalid(f"{ready.id[:100]!r} cannot be the id of a record: leave it out, and it gets one.")
    return ready


def words(name: str, value: object) -> str:
    """Text that a store can hold and that shows no credential."""
    return _kept(name, value).strip()


def _kept(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise Invalid(f"The {name} must be text, not {type(value).__name__}.")
    size = len(value.encode("utf-8", "surrogatepass"))
    if size > MOST_TEXT_BYTES:
        raise Invalid(f"The {name} has {size:,} bytes; {MOST_TEXT_BYTES:,} are the most.")
    return mask(clean(value))


def text_of(value: object) -> str:
    """The text of a record, in which there is something to read."""
    if isinstance(value, str):
        size = len(value.encode("utf-8", "surrogatepass"))
        if size > MOST_TEXT_BYTES:
            raise Invalid(
                f"The text has {size:,} bytes; a record holds {MOST_TEXT_BYTES:,} at most. "
                "Remember what matters in it, or keep the text as a file and `recollect ingest` it."
            )
        if not any(sign.isprintable() and not sign.isspace() for sign in value):
            raise Invalid("There is nothing to remember: the text is empty. Give some words.")
    return words("text", value)


def name_of(what: str, value: object) -> str:
    """A subject or an attribute."""
    name = words(what, value)
    if len(name) > MOST_NAME_CHARACTERS:
        raise Invalid(f"The {what} has {len(name):,} characters; {MOST_NAME_CHARACTERS} are the most.")
    return name


def tags_of(tags: object) -> tuple[str, ...]:
    """Each once, in the order they were given."""
    if isinstance(tags, str | bytes) or not isinstance(tags, Collection):
        raise Invalid(f"tags must be a list: [{tags!r}].")
    given = tuple(_tag(tag) for tag in cast("Collection[object]", tags))
    if len(given) > MOST_TAGS:
        raise Invalid(f"{len(given)} tags are too many; {MOST_TAGS} are the most.")
    return tuple(dict.fromkeys(given))


def _tag(value: object) -> str:
    tag = words("tag", value)
    if not tag or len(tag) > MOST_NAME_CHARACTERS or not str(value).isprintable():
        raise Invalid(
            f"{str(value)[:50]!r} cannot be a tag: give printable characters, {MOST_NAME_CHARACTERS} at most."
        )
    return tag


def reason_of(value: object) -> str:
    """Why something is changed. It is said here and now, so what is no text is not mended but refused."""
    reason = words("reason", value)
    check_reason(reason)
    try:
        str(value).encode()
    except UnicodeEncodeError:
        raise Invalid(f"The reason {reason[:100]!r} is not UTF-8 text. Say it again.") from None
    return reason


def share(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or not 0 <= value <= 1:
        raise Invalid(f"The {name} is {value!r}; it must be a number from 0 to 1.")
    return float(value)


def stored_time(name: str, value: object) -> str:
    """A moment as it is stored; empty for none."""
    if value in ("", None):
        return ""
    stored = parse_time(value) if isinstance(value, str) else None
    if stored is None:
        raise Invalid(f"{str(value)[:100]!r} is no time ({name}). Give one such as 2026-05-01T12:00:00Z.")
    return stored


def _evidence(source: object) -> Evidence:
    if not isinstance(source, Evidence):
        raise Invalid(f"A source must be Evidence of a message, not {type(source).__name__}.")
    message_id = words("message of a source", source.message_id)
    if not message_id or len(message_id) > MOST_NAME_CHARACTERS:
        raise Invalid(f"{message_id[:100]!r} cannot be the id of a message that is a source.")
    return Evidence(message_id=message_id, quote=_kept("quote", source.quote))


# Words of closed sets


def kind_named(name: object) -> Kind:
    try:
        return Kind(name)  # type: ignore[arg-type]
    except ValueError:
        raise Invalid(f"No kind of record is called {str(name)[:100]!r}. Known: {', '.join(Kind)}.") from None


def category_named(name: object) -> Category:
    try:
        return Category(name)  # type: ignore[arg-type]
    except ValueError:
        raise Invalid(f"No category is called {str(name)[:100]!r}. Known: {', '.join(Category)}.") from None


def origin_named(name: object) -> Origin:
    try:
        return Origin(name)  # type: ignore[arg-type]
    except ValueError:
        raise Invalid(f"No origin is called {str(name)[:100]!r}. Known: {', '.join(Origin)}.") from None


def relation_named(name: object) -> Relation | None:
    try:
        return Relation(name) if name else None  # type: ignore[arg-type]
    except ValueError:
        raise Invalid(f"No relation is called {str(name)[:100]!r}. Known: {', '.join(Relation)}.") from None


def states_named(name: str, true_at: str) -> tuple[str, ...]:
    """Empty: any. Without a name the current ones, and with a time at which they were true those replaced since."""
    if name == ANY_STATE:
        return ()
    if not name:
        return (State.CURRENT, State.REPLACED) if true_at else (State.CURRENT,)
    try:
        return (State(name),)
    except ValueError:
        raise Invalid(f"No state is called {str(name)[:100]!r}. Known: {', '.join(State)}, {ANY_STATE}.") from None
