"""Records and episodes as pages. Pure: the same ones give the same page, whatever the time.

Lines are in the order of what they tell of. A word about the day leads to the episode in which something was said. Only
the day of the newest source stands in the front matter, not that of the writing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from recollect.clock import local
from recollect.knowledge import Kind, Record, State
from recollect.librarian.episodes import LINE, SHOWN, TITLE, Episode, Line, line_id
from recollect.librarian.shelves.anchors import Anchor, AnchorKind, shown
from recollect.librarian.shelves.layout import PageKind, Place, day_of, project_place
from recollect.librarian.shelves.pages import Page, Section, ShelfLine, heading_key
from recollect.lineage import RECORD
from recollect.notes.lines import Source

MOST_LINES = 200
"""Of one section: what is longer nobody reads. The rest is told of, and can be listed and searched."""
REMEMBERED = "remember"
"""The tag of what somebody asked to be remembered."""

PREFERENCES, FACTS, DECISIONS, COMMITMENTS, WAYS, ASKED = (
    "## Preferences",
    "## Facts",
    "## Decisions",
    "## Commitments",
    "## Ways of working",
    "## Asked to remember",
)
ACTIVITY, HISTORY = "## Activity", "## Revision history"
OPEN_QUESTIONS = "## Write the answer below its question; a tick says yes"
_OF_KIND = {
    Kind.PREFERENCE: PREFERENCES,
    Kind.DECISION: DECISIONS,
    Kind.COMMITMENT: COMMITMENTS,
    Kind.PROCEDURE: WAYS,
}
_ORDER = {
    PageKind.CORE: (ASKED, PREFERENCES, FACTS, DECISIONS, COMMITMENTS, WAYS),
    PageKind.PROJECT: (ASKED, FACTS, DECISIONS, COMMITMENTS, PREFERENCES, WAYS),
    PageKind.PERSON: (ASKED, FACTS, PREFERENCES, COMMITMENTS, DECISIONS, WAYS),
    PageKind.MILESTONE: ("## Milestone",),
    PageKind.INSIGHT: ("## Insight",),
}
HEADINGS = frozenset({*(heading for order in _ORDER.values() for heading in order), ACTIVITY, HISTORY, OPEN_QUESTIONS})
"""All that are the librarian's."""
KIND_OF_SECTION = {
    FACTS: Kind.FACT,
    PREFERENCES: Kind.PREFERENCE,
    DECISIONS: Kind.DECISION,
    COMMITMENTS: Kind.COMMITMENT,
    WAYS: Kind.PROCEDURE,
    ASKED: Kind.FACT,
}
"""What a line becomes that somebody adds below one of these."""
ADDED_TO = {heading_key(heading): heading for heading in KIND_OF_SECTION}


@dataclass(slots=True, kw_only=True)
class Shown:
    """All that one page is made of."""

    place: Place
    name: str = ""
    """Of the project or person, as most say it."""
    records: Sequence[Record] = ()
    """In every state; those that count are shown, of people also what they were."""
    following: Mapping[str, Record] = field(default_factory=dict[str, Record])
    """Record → the one that took its place."""
    episodes: Sequence[Episode] = ()
    lines: Mapping[str, Sequence[Line]] = field(default_factory=dict[str, Sequence[Line]])
    """Conversation → the lines of its episode; for a project only titles are needed."""
    pages: Mapping[str, str] = field(default_factory=dict[str, str])
    """Message → the page of the episode in which it was said."""
    readers: frozenset[str] = frozenset()
    """Who read the conversations that this came from."""
    now: str = ""


def rendered(material: Shown) -> Page:
    if material.place.kind is PageKind.EPISODES:
        return _episodes_page(material)
    order = _ORDER[material.place.kind]
    sections = _record_sections(material, order)
    if material.place.kind is PageKind.PROJECT:
        sections.append(Section(heading=ACTIVITY, lines=tuple(_activity(material))))
    if material.place.kind is PageKind.PERSON:
        sections.append(Section(heading=HISTORY, lines=tuple(_revisions(material))))
    title = _title(material)
    moments = [record.true_from for record in material.records if record.counts(material.now)]
    return Page(
        title=title,
        front=_front(material, title, [*moments, *(episode.started_at for episode in material.episodes)]),
        sections=tuple(sections),
        is_kept=material.place.kind is PageKind.MILESTONE,
        headings=frozenset(heading_key(one) for one in (*order, ACTIVITY, HISTORY)),
    )


def _title(material: Shown) -> str:
    kind = material.place.kind
    if kind is PageKind.CORE:
        return "What is known"
    if kind in (PageKind.PROJECT, PageKind.PERSON):
        return shown(material.name) or "Unnamed"
    first = min(material.records, key=_time_key, default=None)
    return _short(first.text) if first else "Untitled"


def _short(text: str) -> str:
    words = shown(text)
    return words if len(words) <= 80 else f"{words[:79].rpartition(' ')[0] or words[:79]}…"


def _front(material: Shown, title: str, moments: Iterable[str]) -> dict[str, str | tuple[str, ...]]:
    kind = material.place.kind
    return {
        "title": title,
        "kind": str(kind),
        "librarian": librarian_named(material.readers),
        "updated": max((day_of(moment) for moment in moments if moment), default=""),
        "tags": (f"recollect/{kind}",),
    }


def librarian_named(readers: Iterable[str]) -> str:
    """Who is behind a page, in words. A reader is called after its rules or its model, and its version."""
    names = sorted({reader.rpartition("/")[0] or reader for reader in readers} - {"rules", ""})
    has_rules = any(reader.partition("/")[0] == "rules" for reader in readers)
    told = [*(["rules, without a model"] if has_rules or not names else []), *names]
    return " and ".join(told)


# Records


def _record_sections(material: Shown, order: Sequence[str]) -> list[Section]:
    found: dict[str, list[Record]] = {heading: [] for heading in order}
    for record in material.records:
        if record.counts(material.now):
            found[_heading(record, order)].append(record)
    sections: list[Section] = []
    for heading, records in found.items():
        latest = sorted(records, key=_time_key)[-MOST_LINES:]
        lines = [record_line(record, material.pages) for record in latest]
        if len(records) > MOST_LINES:
            lines.insert(0, _more(heading, material.place))
        sections.append(Section(heading=heading, lines=tuple(lines)))
    return sections


def _heading(record: Record, order: Sequence[str]) -> str:
    wanted = ASKED if REMEMBERED in record.tags else _OF_KIND.get(record.kind, FACTS)
    return wanted if wanted in order else order[0]


def _time_key(record: Record) -> tuple[str, str]:
    return (record.true_from, record.id)


def record_line(record: Record, pages: Mapping[str, str]) -> ShelfLine:
    anchor = Anchor(AnchorKind.RECORD, record.id)
    page = next((pages[source.message_id] for source in record.sources if source.message_id in pages), "")
    seen = f" ([[{_link(page)}|{_link(page).rpartition('/')[2]}]])" if page else ""
    return ShelfLine(
        anchor=anchor, text=f"- {shown(record.text)}{seen} {anchor}", sources=(Source(kind=RECORD, id=record.id),)
    )


def _more(heading: str, place: Place) -> ShelfLine:
    anchor = Anchor(AnchorKind.META, "0", list(KIND_OF_SECTION).index(heading) if heading in KIND_OF_SECTION else 0)
    listing = f"recollect records --subject '{place.name}'" if place.name else f"recollect records --tag {place.kind}"
    return ShelfLine(
        anchor=anchor, text=f"Only the latest {MOST_LINES} are shown here; `{listing}` lists all. {anchor}"
    )


def _revisions(material: Shown) -> Iterable[ShelfLine]:
    """What held before, the latest change first. What took its place is a line of its own, as each goes with its own
    record."""
    past = [one for one in material.records if one.state is State.REPLACED and not one.counts(material.now)]
    for record in sorted(past, key=lambda one: (one.true_until, one.id), reverse=True):
        anchor = Anchor(AnchorKind.REPLACED, record.id)
        text = f"- {day_of(record.true_until)}: was “{shown(record.text)}” {anchor}"
        yield ShelfLine(anchor=anchor, text=text, sources=(Source(kind=RECORD, id=record.id),))
        later = material.following.get(record.id)
        if later:
            anchor = Anchor(AnchorKind.REPLACED, record.id, 1)
            text = f"  - now “{shown(later.text)}” {anchor}"
            yield ShelfLine(anchor=anchor, text=text, sources=(Source(kind=RECORD, id=later.id),))


# Episodes


def _link(path: str) -> str:
    return path.removesuffix(".md")


def _told(material: Shown, episode: Episode) -> list[Line]:
    return [line for line in material.lines.get(episode.conversation_id, ()) if line.state == SHOWN]


def _heading_of(material: Shown, episode: Episode) -> Line | None:
    return next((line for line in _told(material, episode) if line.number == TITLE), None)


def _activity(material: Shown) -> Iterable[ShelfLine]:
    """Conversations about a project in the order of their time: what is new is appended."""
    for episode in sorted(material.episodes, key=lambda one: (one.started_at, one.conversation_id)):
        title = _heading_of(material, episode)
        if title is None:
            continue
        anchor = Anchor(AnchorKind.CONVERSATION, episode.conversation_id)
        link = _link(episode.page)
        text = f"- [[{link}|{link.rpartition('/')[2]}]] {shown(title.text)} {anchor}"
        yield ShelfLine(anchor=anchor, text=text, sources=(Source(kind=LINE, id=title.id),))


def _episodes_page(material: Shown) -> Page:
    episodes = sorted(material.episodes, key=lambda one: (one.started_at, one.conversation_id))
    day = _link(material.place.path).rpartition("/")[2]
    return Page(
        title=day,
        front=_front(material, day, [episode.started_at for episode in episodes]),
        sections=tuple(_episode(material, episode) for episode in episodes if _told(material, episode)),
    )


def _episode(material: Shown, episode: Episode) -> Section:
    title = _heading_of(material, episode)
    anchor = Anchor(AnchorKind.CONVERSATION, episode.conversation_id)
    begun = f"{local(episode.started_at):%H:%M} " if episode.started_at else ""
    words = shown(title.text) if title else ""
    source = Source(kind=LINE, id=line_id(episode.conversation_id, TITLE))
    lines = [_meta(episode, source)]
    for line in _told(material, episode):
        if line.number != TITLE:
            own = Anchor(AnchorKind.CONVERSATION, episode.conversation_id, line.number)
            lines.append(
                ShelfLine(anchor=own, text=f"- {shown(line.text)} {own}", sources=(Source(kind=LINE, id=line.id),))
            )
    return Section(heading=f"## {begun}{words or 'A conversation'} {anchor}", lines=tuple(lines), sources=(source,))


def _meta(episode: Episode, source: Source) -> ShelfLine:
    anchor = Anchor(AnchorKind.META, episode.conversation_id)
    until = [f"to {local(episode.ended_at):%H:%M}"] if episode.ended_at else []
    number = f"{episode.messages} message{'' if episode.messages == 1 else 's'}"
    place = project_place(episode.scope, episode.project)
    project = [f"[[{_link(place.path)}|{_alias(episode.project)}]]"] if place else []
    parts = [*until, number, *project, f"`recollect show {episode.conversation_id[:8]}`"]
    return ShelfLine(anchor=anchor, text=f"{' · '.join(parts)} {anchor}", sources=(source,))


def _alias(name: str) -> str:
    """Words inside a link, which they cannot end."""
    return shown(name).translate(str.maketrans("[]|", "()/"))


# Questions


def questions_page(questions: Sequence[tuple[str, str, tuple[Source, ...]]]) -> Page:
    """(id, text, what it goes with) of each that is open, in their order. An answer is written below its question, or
    behind the word Answer; a tick says yes."""
    lines: list[ShelfLine] = []
    for name, text, sources in questions:
        anchor = Anchor(AnchorKind.QUESTION, name)
        lines.append(ShelfLine(anchor=anchor, text=f"- [ ] {shown(text)} {anchor}", sources=sources))
    kind = PageKind.QUESTIONS
    return Page(
        title="Open questions",
        front={  # By the key `librarian` search knows whose front matter it is.
            "title": "Open questions",
            "kind": str(kind),
            "librarian": "asks",
            "tags": (f"recollect/{kind}",),
        },
        sections=(Section(heading=OPEN_QUESTIONS, lines=tuple(lines)),),
        headings=frozenset({heading_key(OPEN_QUESTIONS)}),
    )
