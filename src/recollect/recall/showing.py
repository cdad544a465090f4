"""The best documents as hits: with their words marked, and where each of them stands."""

from collections.abc import Mapping, Sequence

from recollect.feed import RECORD
from recollect.history import Message
from recollect.knowledge import Record
from recollect.recall.hits import Hit
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
    sources = viewer.history.documents(sorted({source for item in items if (source := _source_of(item))}))
    said = [item if isinstance(item, Message) else sources.get(_source_of(item)) for item in items]
    known = [message for message in said if message]
    files = viewer.history.file_keys(known)
    projects = viewer.history.projects_of([message.conversation_id or "" for message in known])
    hits: list[Hit] = []
    for (_, score, parts), item, message, (before, after) in zip(chosen, items, said, around, strict=True):
        part = snippet(text_of(item), weights)
        is_record = isinstance(item, Record)
        conversation = (message.conversation_id if message else "") or ""
        hits.append(
            Hit(
                kind=RECORD if is_record else "message",
                id=item.id,
                text=item.text,
                snippet=part.text,
                highlights=part.highlights,
                at=item.believed_from if is_record else item.at,
                author=RECORD if is_record else str(item.author),
                source=str(item.origin) if is_record else item.source,
                project=projects.get(conversation, "") or (message.cwd if message else ""),
                score=round(score, PRECISION),
                conversation=conversation,
                session_id=message.session_id if message else "",
                file=files.get(message.file_id, "") if message else "",
                line=message.line if message else 0,
                cwd=message.cwd if message else "",
                before=before,
                after=after,
                why={name: round(value, 4) + 0.0 for name, value in parts.items()} if explain else None,
            )
        )
    return hits


def _source_of(item: Shown) -> str:
    """The first message that a record is from; empty for one that is from none."""
    return item.sources[0].message_id if isinstance(item, Record) and item.sources else ""
