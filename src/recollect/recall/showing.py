"""The best documents as hits: with their words marked, and where each of them stands."""

from collections.abc import Mapping, Sequence
from typing import Any

from recollect.feed import MESSAGE, RECORD
from recollect.history import Message
from recollect.knowledge import Record
from recollect.recall.hits import Hit
from recollect.recall.noted import AUTHOR, SOURCE, Noted
from recollect.recall.ranking import PRECISION
from recollect.recall.snippets import snippet
from recollect.recall.viewer import Shown, Viewer, text_of

Chosen = list[tuple[int, float, dict[str, float]]]
"""(place in the ranking, score, parts), best first."""
Around = tuple[str, str]
"""What was said before, and after."""


def described(
    viewer: Viewer,
    chosen: Chosen,
    shown: Mapping[int, Shown],
    weights: Mapping[str, float],
    around: Sequence[Around],
    *,
    explain: bool,
) -> list[Hit]:
    items = [shown[place] for place, _, _ in chosen]
    places = _places(viewer, items)
    hits: list[Hit] = []
    for (_, score, parts), item, place, (before, after) in zip(chosen, items, places, around, strict=True):
        part = snippet(text_of(item), weights)
        hits.append(
            Hit(
                **_named(item),
                **place,
                text=item.text,
                snippet=part.text,
                highlights=part.highlights,
                score=round(score, PRECISION),
                before=before,
                after=after,
                why={name: round(value, 4) + 0.0 for name, value in parts.items()} if explain else None,
            )
        )
    return hits


def _named(item: Shown) -> dict[str, str]:
    """What it is, when it is from, and by whom."""
    if isinstance(item, Noted):
        return {"kind": AUTHOR, "id": item.path, "at": item.at, "author": AUTHOR, "source": SOURCE}
    if isinstance(item, Record):
        return {"kind": RECORD, "id": item.id, "at": item.believed_from, "author": RECORD, "source": str(item.origin)}
    return {"kind": MESSAGE, "id": item.id, "at": item.at, "author": str(item.author), "source": item.source}


def _places(viewer: Viewer, items: Sequence[Shown]) -> list[dict[str, Any]]:
    """Where each stands: a note in its file, the others where the message stands that they are or are from."""
    sources = viewer.history.documents(sorted({source for item in items if (source := _source_of(item))}))
    said = [item if isinstance(item, Message) else sources.get(_source_of(item)) for item in items]
    known = [message for message in said if message]
    files = viewer.history.file_keys(known)
    projects = viewer.history.projects_of([message.conversation_id or "" for message in known])
    places: list[dict[str, Any]] = []
    for item, message in zip(items, said, strict=True):
        place: dict[str, Any] = dict.fromkeys(("conversation", "session_id", "project", "cwd", "file"), "")
        place["line"] = 0
        if isinstance(item, Noted):
            place |= {"file": item.file, "line": item.line}
        elif message:
            conversation = message.conversation_id or ""
            place |= {"conversation": conversation, "project": projects.get(conversation, "") or message.cwd}
            place |= {"session_id": message.session_id, "cwd": message.cwd, "line": message.line}
            place |= {"file": files.get(message.file_id, "")}
        places.append(place)
    return places


def _source_of(item: Shown) -> str:
    """The first message that a record is from; empty for one that is from none."""
    return item.sources[0].message_id if isinstance(item, Record) and item.sources else ""
