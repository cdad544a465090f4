"""What stands in a status: fields with their times, read, merged and written. Pure.

The file is one JSON object, its names in the order in which they were first written. A field is `{"value": …, "at":
…}`; anything else that somebody wrote by hand is a field too, without a time of its own. A field that nobody names
keeps its characters, white space apart: no number and no escape is written another way.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import msgspec

from recollect.clock import parse_time
from recollect.errors import Invalid
from recollect.redaction import mask_json
from recollect.texts import clean

MOST_NAME_CHARACTERS = 100
MOST_LEVELS = 10
"""Of lists and objects in a value. People read a status."""
MOST_UPDATE_BYTES = 50_000
MOST_STATUS_BYTES = 200_000
"""It stands in every prompt as it is."""
MOST_INTEGER = 2**63
"""Other readers of JSON go no further."""
INDENT = 2
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

Forms = dict[str, bytes]
"""Name → its JSON without white space."""
_FORMS = msgspec.json.Decoder(dict[str, msgspec.Raw])


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    name: str
    value: object
    at: str
    """When it was set; where it does not say, when it was last seen to change. Empty: unknown."""
    has_time: bool = True
    """Whether the file says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    forms: Forms
    problem: str = ""
    """Why this is no status. Empty: it is one."""


def parsed(content: bytes) -> Parsed:
    """The fields, or what is wrong. An empty file is no status: somebody's write was cut short."""
    try:
        content.decode()
    except UnicodeDecodeError as error:
        return Parsed(forms={}, problem=f"it is not UTF-8 text (byte {error.start})")
    content = content.removeprefix(_BYTE_ORDER_MARK)
    try:
        msgspec.json.decode(content)
        found = _FORMS.decode(content)
    except RecursionError:
        return Parsed(forms={}, problem="its values are nested too deeply")
    except msgspec.ValidationError as error:
        return Parsed(forms={}, problem=f"it is not one JSON object with a field for each name: {error}")
    except msgspec.DecodeError as error:
        return Parsed(forms={}, problem=f"it is not JSON: {error}")
    return Parsed(forms={name: msgspec.json.format(bytes(raw), indent=-1) for name, raw in found.items()})


def rendered(forms: Forms) -> bytes:
    whole = msgspec.json.encode({name: msgspec.Raw(form) for name, form in forms.items()})
    return msgspec.json.format(whole, indent=INDENT) + b"\n"


def field_of(name: str, form: bytes) -> Field:
    found: object = msgspec.json.decode(form)
    if isinstance(found, dict) and "value" in found:
        given = cast("dict[str, object]", found)
        at = parse_time(given["at"]) if isinstance(given.get("at"), str) else None
        if at:
            return Field(name=name, value=given["value"], at=at)
        if len(given) == 1:
            return Field(name=name, value=given["value"], at="", has_time=False)
    return Field(name=name, value=cast("object", found), at="", has_time=False)


def updated(forms: Forms, updates: Mapping[str, object], at: str) -> Forms:
    """With these values, set at this time; without those that are None. A new name comes last."""
    changed = dict(forms)
    for name, value in updates.items():
        if value is None:
            changed.pop(name, None)
        else:
            changed[name] = msgspec.json.encode({"value": value, "at": at})
    return changed


def merged(base: Forms, ours: Forms, theirs: Forms, ours_at: str = "") -> Forms:
    """What two made of the same fields at once: of each field the later one, of two at the same time ours.

    What one of them left alone is as the other has it. A field that one removed and the other set stays. `ours_at`:
    when those of our fields were changed whose time was not changed with them, as people do by hand.
    """
    chosen: Forms = {}
    for name in dict.fromkeys([*ours, *theirs]):
        before, our, their = base.get(name), ours.get(name), theirs.get(name)
        form = our if _rank(before, our, ours_at) >= _rank(before, their) else their
        if form is not None:
            chosen[name] = form
    return chosen


def _rank(before: bytes | None, form: bytes | None, by_hand_at: str = "") -> tuple[int, str]:
    """Untouched, removed, set; among those set the later."""
    if form == before:
        return (0, "")
    if form is None:
        return (1, "")
    at = field_of("", form).at
    is_moved = at and (before is None or at != field_of("", before).at)
    return (2, at if is_moved else by_hand_at or at)


def merge_status(ours: bytes, theirs: bytes, base: bytes = b"", ours_at: str = "") -> bytes | None:
    """Both in one, as it stands in the file; None where either is no status. `ours`: what was found in the file.

    Without `base`, what both came from, a field that one of them removed comes back, and a value changed by hand that
    kept its old time is not told from one that nobody touched.
    """
    our, their = parsed(ours), parsed(theirs)
    if our.problem or their.problem:
        return None
    return rendered(merged(parsed(base).forms, our.forms, their.forms, ours_at))


def checked_updates(updates: object) -> tuple[dict[str, object], int]:
    """What an update may hold, its credentials masked; and how many fields had one. Invalid with what is wrong."""
    if not isinstance(updates, Mapping) or not updates:
        raise Invalid('An update of a status is an object with at least one field, such as {"mood": "content"}.')
    given: dict[str, object] = {}
    for name, value in cast("Mapping[object, object]", updates).items():
        if not isinstance(name, str) or not name.strip() or len(name) > MOST_NAME_CHARACTERS:
            raise Invalid(
                f"{str(name)[:40]!r} cannot be a field: its name is text of 1 to {MOST_NAME_CHARACTERS} letters."
            )
        given[clean(name)] = _checked_value(name, value)
    size = len(msgspec.json.encode(given))
    if size > MOST_UPDATE_BYTES:
        raise Invalid(f"The update has {size:,} bytes; {MOST_UPDATE_BYTES:,} at most. Write a page, and name it here.")
    masked = cast("dict[str, object]", mask_json(given))
    changed = sum(1 for before, after in zip(given.items(), masked.items(), strict=True) if before != after)
    return masked, changed


def _checked_value(name: str, value: object, level: int = 0) -> object:
    if level > MOST_LEVELS:
        raise Invalid(f"The field {name!r} is nested too deeply: {MOST_LEVELS} levels at most.")
    if isinstance(value, str):
        return clean(value)
    if value is None or (isinstance(value, int) and abs(value) < MOST_INTEGER):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, list | tuple):
        return [_checked_value(name, item, level + 1) for item in cast("list[object]", value)]
    if isinstance(value, Mapping):
        members = cast("Mapping[object, object]", value)
        if all(isinstance(key, str) for key in members):
            return {clean(str(key)): _checked_value(name, item, level + 1) for key, item in members.items()}
    kind = type(cast("object", value)).__name__
    raise Invalid(f"The field {name!r} has a value that JSON cannot hold, of the kind {kind}. Use text.")
