"""What of all that is indexed may be found: by the kind that is asked for, by time, and by what people filter."""

from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from recollect.clock import to_text
from recollect.feed import MESSAGE, NOTE, RECORD
from recollect.history import Message
from recollect.recall.index.formats import AUTHORS, FOREVER, KINDS, NO_TIME, milliseconds
from recollect.recall.noted import Noted
from recollect.recall.query import Query, SearchType, check_known
from recollect.recall.ranking import Corpus
from recollect.recall.viewer import Shown, Viewer

Mask = NDArray[np.bool_]

_KIND_OF = {SearchType.CONVERSATIONS: MESSAGE, SearchType.FACTS: RECORD, SearchType.NOTES: NOTE}
"""What each type of search looks in. Both: everything."""


def allowed_by(query: Query, corpus: Corpus, viewer: Viewer) -> Mask | None:
    """None: everything."""
    snapshot, facts = corpus.snapshot, corpus.snapshot.facts
    masks = _held(query, corpus)
    if query.authors:
        masks.append(np.isin(facts.author, [AUTHORS.index(author) for author in query.authors]))
    if query.sources:
        if not set(query.sources) <= set(snapshot.sources):
            check_known("source", query.sources, sorted({*snapshot.sources, *viewer.history.source_names()}))
        codes = [snapshot.sources.index(source) for source in query.sources if source in snapshot.sources]
        masks.append(np.isin(facts.source, codes))
    if query.since:
        masks.append(facts.at >= in_milliseconds(query.since))
    if query.until:
        masks.append((facts.at < in_milliseconds(query.until)) & (facts.at != NO_TIME))
    chosen = _chosen_conversations(query, viewer)
    if chosen is not None:
        ordinals = list(snapshot.conversation_ordinals(chosen).values())
        masks.append(np.isin(facts.conversation, ordinals))
    allowed = np.logical_and.reduce(masks) if masks else None
    return None if allowed is None or allowed[corpus.alive].all() else allowed


def _held(query: Query, corpus: Corpus) -> list[Mask]:
    """The kinds that are asked for, and at which time they are looked at."""
    facts, masks = corpus.snapshot.facts, list[Mask]()
    if query.search_type is not SearchType.BOTH:
        masks.append(facts.kind == KINDS.index(_KIND_OF[query.search_type]))
    if query.as_of:
        said = (facts.at < in_milliseconds(query.as_of)) & (facts.at != NO_TIME)
        if corpus.has_notes:
            said = np.where(corpus.is_note, facts.known <= in_milliseconds(query.as_of), said)
        masks.append(np.where(corpus.is_record, True, said) if corpus.has_records else said)
    if corpus.has_records:
        masks.append(~corpus.is_record | _believed(query, corpus))
    return masks


def _believed(query: Query, corpus: Corpus) -> Mask:
    facts = corpus.snapshot.facts
    if query.as_of:
        then = milliseconds(to_text(query.as_of))
        return (facts.at <= then) & (facts.until > then) & (facts.expires > then)
    # Not by the clock: another computer's may be ahead, and what was replaced is replaced.
    return (facts.until == FOREVER) & (facts.expires > milliseconds(to_text(query.now)))


def holds(shown: Shown, query: Query) -> bool:
    """The same of a record or a note as it is stored: the index may be a moment behind."""
    if isinstance(shown, Message):
        return True
    if isinstance(shown, Noted):
        return query.as_of is None or shown.written_at <= to_text(query.as_of)
    if query.as_of is None:
        return not shown.believed_until and shown.counts(to_text(query.now))
    then = to_text(query.as_of)
    is_over = bool(shown.believed_until) and shown.believed_until <= then
    return shown.believed_from <= then and not is_over and shown.counts(then)


def _chosen_conversations(query: Query, viewer: Viewer) -> list[str] | None:
    """None: all of them, and what belongs to none."""
    if not (query.conversations or query.projects or query.statuses):
        return None
    chosen: set[str] | None = None
    if query.conversations:
        chosen = {viewer.history.conversation(name).conversation.id for name in dict.fromkeys(query.conversations)}
    if query.projects or query.statuses:
        found = viewer.history.conversation_ids(projects=query.projects, statuses=query.statuses)
        chosen = set(found) if chosen is None else chosen & set(found)
    return sorted(chosen or ())


def in_milliseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)
