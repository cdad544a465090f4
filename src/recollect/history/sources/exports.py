"""What the exports of chat services have in common: conversations, one after the other, in one large JSON document.

A person asks for an export, and each holds everything once more. The document is an array of conversations, the same
array in a field `conversations`, or a single conversation alone. Only one conversation is in memory at a time, and one
that is damaged costs none of the others.
"""

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any, cast

from recollect.clock import parse_time
from recollect.history.messages import Entry
from recollect.history.sources.documents import BrokenDocument, Path, line_of, walk
from recollect.history.sources.fields import as_dict, read_object, title_of
from recollect.history.sources.source import BadRecord, FileFacts, Growth, Head, Opened, Source

_EXPORT_NAME = re.compile(r"conversations(?:-\d+)?\.json")
_EXAMPLE_CHARACTERS = 40
_LATEST_SECONDS = 253_402_300_800.0
"""The end of the year 9999."""


class Export(Source):
    """An export of a chat service, whose records are a conversation's head and then its messages."""

    growth = Growth.EXPORTED
    holds_many = True

    def is_candidate(self, path: str) -> bool:
        return is_export_name(path)

    def parse(self, raw: bytes, facts: FileFacts) -> Entry:
        record = read_object(raw)
        if isinstance(record.get("message"), dict):
            return self.read_message(record, facts)
        if isinstance(record.get("conversation"), dict):
            return self.read_header(as_dict(record["conversation"]))
        raise BadRecord("neither a conversation nor a message of one")

    @abstractmethod
    def read_message(self, record: dict[str, Any], facts: FileFacts) -> Entry: ...

    @abstractmethod
    def read_header(self, conversation: dict[str, Any]) -> Entry: ...


def is_export_name(path: str) -> bool:
    return _EXPORT_NAME.fullmatch(_name_of(path)) is not None


def is_export(head: Head, body: str, mark: re.Pattern[bytes]) -> bool:
    """Whether its conversations have the field `body`. The first of them may be damaged: then the `mark` decides."""
    if len(head.records) > 1:  # JSON lines, one conversation each: nobody exports that.
        return False
    if body in head.keys:
        return True
    is_document = is_export_name(head.name) or "conversations" in head.keys
    return is_document and not head.tables and mark.search(head.start) is not None


def conversations(opened: Opened, body: str, shape: type, title: str) -> Iterator[dict[str, Any]]:
    """Every conversation that has a `body` of this shape; the rest are reported. Raises BrokenDocument."""
    alone: dict[str, Any] = {}
    name = _name_of(opened.path)

    def damaged(reason: str) -> None:
        opened.report(f"{name}: a conversation is left out, because {reason}. The others are read.")

    try:
        for path, value in walk(opened.file, _is_entered, lambda value: body in value, damaged):
            place = path[-1] if path else ""
            if isinstance(place, str):
                alone[place] = value
            elif isinstance(value, dict) and isinstance(cast(dict[str, Any], value).get(body), shape):
                yield cast(dict[str, Any], value)
            else:
                opened.report(_left_out(name, place + 1, value, body, title))
    except BrokenDocument as damage:
        if isinstance(alone.get(body), shape):
            yield alone
        raise BrokenDocument(
            f"{name}: {damage}. What stands before that is read; for the rest, unpack or download the export again."
        ) from None
    if isinstance(alone.get(body), shape):
        yield alone


def lines(records: Iterable[object], report: Callable[[str], None]) -> Iterator[bytes]:
    for record in records:
        try:
            yield line_of(record)
        except RecursionError:
            report("A message is nested too deeply to be kept; the others are read.")


def conversation_facts(identity: str) -> FileFacts:
    return FileFacts(key=identity, kind="session", session_id=identity, is_unique=True)


class Times:
    """Reads the times of one file, and says once for each field that they are in a spelling nobody can know."""

    def __init__(self, opened: Opened) -> None:
        self._opened = opened
        self._told: set[str] = set()

    def check(self, field: str, values: Iterable[Any], conversation: str) -> None:
        if field in self._told:
            return
        for value in values:
            if value and not _is_time(value):
                self._tell(field, value, conversation)
                return

    def version(self, field: str, changed: Any, made: Iterable[Any], conversation: str) -> str:
        """When the conversation changed last: by its own word, else by its newest message."""
        self.check(field, [changed], conversation)
        return parse_time(changed or None) or max((parse_time(value or None) or "" for value in made), default="")

    def _tell(self, field: str, value: Any, conversation: str) -> None:
        self._told.add(field)
        example = value if isinstance(value, str | int | float) else type(value).__name__
        self._opened.report(
            f"{_name_of(self._opened.path)}: {field} in the conversation {conversation!r} is no time that can be "
            f"read: {str(example)[:_EXAMPLE_CHARACTERS]!r}. Messages with such a time are kept in their order and "
            "take the time of the one before. If there are many, ask for the export again with the language set "
            "to English."
        )


def _is_time(value: Any) -> bool:
    """Cheaper than reading it: asked for every message."""
    if isinstance(value, str):
        try:
            datetime.fromisoformat(value)
        except ValueError:
            return False
        return True
    return parse_time(value) is not None if not isinstance(value, float) else 0 < value < _LATEST_SECONDS


def _is_entered(path: Path) -> bool:
    return path in ((), ("conversations",))


def _left_out(name: str, number: int, value: Any, body: str, title: str) -> str:
    called = title_of(cast(dict[str, Any], value).get(title)) if isinstance(value, dict) else ""
    reason = f"it has no readable {body}" if isinstance(value, dict) else "it is not an object"
    return (
        f"{name}: conversation {number}{f' ({called})' if called else ''} is left out: {reason}. The others are read."
    )


def _name_of(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]
