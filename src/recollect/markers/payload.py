"""What a marker says: its object, checked."""

from dataclasses import dataclass, replace
from typing import Any, cast

import msgspec

from recollect.clock import parse_time

CATEGORIES = ("knowledge", "identity", "operational")
"""The first is that of a marker without one, or with one that nobody knows."""
MOST_CONTENT_CHARACTERS = 10_000
MOST_TAGS = 50
MOST_NAME_CHARACTERS = 500
DEFAULT_IMPORTANCE = 0.5
UNKNOWN_CATEGORY = "unknown category"

_Object = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    content: str
    category: str = CATEGORIES[0]
    tags: tuple[str, ...] = ()
    expires_at: str = ""
    """A stored time. Empty: never."""
    importance: float = DEFAULT_IMPORTANCE
    subject: str = ""
    attribute: str = ""
    value: str = ""
    canonical: str = ""
    """The object in one fixed spelling: the same for the same object, however it is written."""

    @property
    def said(self) -> "Payload":
        """Whatever it was called in the object."""
        return replace(self, canonical="")


class Malformed(Exception):
    """The message says what is wrong with the object."""


def payload_of(raw: str) -> tuple[Payload, str]:
    """What the text of an object says, and what is to be reported of it all the same."""
    try:
        decoded: Any = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise Malformed("invalid JSON") from error
    given = cast(_Object, decoded)
    category = _text(given, "category") or CATEGORIES[0]
    is_known = category.lower() in CATEGORIES
    subject, attribute = _text(given, "subject"), _text(given, "attribute")
    if attribute and not subject:
        raise Malformed("an attribute without a subject")
    made = Payload(
        content=_content(given),
        category=category.lower() if is_known else CATEGORIES[0],
        tags=_tags(given),
        expires_at=_expiry(given),
        importance=_importance(given),
        subject=subject,
        attribute=attribute,
        value=_value(given),
        canonical=msgspec.json.encode(given, order="deterministic").decode(),
    )
    return made, "" if is_known else UNKNOWN_CATEGORY


def _content(given: _Object) -> str:
    name = "text" if given.get("content") is None else "content"
    content = _string(given, name)
    if not content:
        raise Malformed("no content")
    if len(content) > MOST_CONTENT_CHARACTERS:
        raise Malformed(f"content of more than {MOST_CONTENT_CHARACTERS:,} characters")
    return content


def _text(given: _Object, name: str) -> str:
    found = _string(given, name)
    if len(found) > MOST_NAME_CHARACTERS:
        raise Malformed(f"{name} of more than {MOST_NAME_CHARACTERS} characters")
    return found


def _string(given: _Object, name: str) -> str:
    found = given.get(name)
    if found is None:
        return ""
    if not isinstance(found, str):
        raise Malformed(f"{name} is not text")
    if "\x00" in found:
        raise Malformed(f"{name} has a NUL character")
    return found.strip()


def _value(given: _Object) -> str:
    found = given.get("value")
    if isinstance(found, bool | int | float):
        return msgspec.json.encode(found).decode()
    value = _string(given, "value")
    if len(value) > MOST_CONTENT_CHARACTERS:
        raise Malformed(f"value of more than {MOST_CONTENT_CHARACTERS:,} characters")
    return value


def _tags(given: _Object) -> tuple[str, ...]:
    """A list, or one alone."""
    found: Any = given.get("tags")
    if found is None:
        return ()
    listed = cast(list[Any], found if isinstance(found, list) else [found])
    if len(listed) > MOST_TAGS:
        raise Malformed(f"more than {MOST_TAGS} tags")
    tags: list[str] = []
    for tag in listed:
        if not isinstance(tag, str):
            raise Malformed("a tag is not text")
        tag = tag.strip()
        if len(tag) > MOST_NAME_CHARACTERS or not tag.isprintable():
            raise Malformed(f"a tag is not at most {MOST_NAME_CHARACTERS} printable characters")
        if tag and tag not in tags:
            tags.append(tag)
    return tuple(tags)


def _expiry(given: _Object) -> str:
    name = "expires" if given.get("expires_at") is None else "expires_at"
    text = _string(given, name)
    if not text:
        return ""
    moment = parse_time(text)
    if moment is None:
        raise Malformed(f"{name} is not a time such as 2027-01-31 or 2027-01-31T12:00Z")
    return moment


def _importance(given: _Object) -> float:
    found = given.get("importance")
    if found is None:
        return DEFAULT_IMPORTANCE
    if isinstance(found, bool) or not isinstance(found, int | float) or not 0 <= found <= 1:
        raise Malformed("importance is not a number from 0 to 1")
    return float(found)
