"""Telling: what was read of a conversation becomes its episode, line by line, in the caller's transaction."""

from dataclasses import dataclass, field, replace

from recollect.clock import local
from recollect.database import Session
from recollect.history import Conversation
from recollect.history.store import ConversationStore
from recollect.librarian.episodes import LIBRARIAN, LINE, PERSON, TITLE, Episode, EpisodeStore, Line, line_id
from recollect.librarian.items import Extract
from recollect.lineage import MESSAGE, EdgeStore
from recollect.llm import Usage
from recollect.notes.paths import folder_of, within


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """One conversation, read and checked, ready to be filed."""

    conversation: Conversation
    scope: str
    title: str
    """The conversation's own, for an extract that has none."""
    extract: Extract
    message_ids: tuple[str, ...]
    """All that were read: what was once found in them and is not any more is withdrawn."""
    times: dict[str, str]
    """Message → when it was said."""
    fingerprint: str
    is_whole: bool = True
    """False: a part of what still goes on, for what can be known by now. Nothing is told or asked of it yet."""
    questions: dict[str, str] = field(default_factory=dict[str, str])
    """Message of the user → when the assistant asked what it answers."""
    usage: Usage = field(default_factory=Usage)


@dataclass(slots=True, kw_only=True)
class Filed:
    """What became of one conversation."""

    conversation_id: str
    outcomes: dict[str, int] = field(default_factory=dict[str, int])
    """new, same, refines, replaces, refused, proposed, asked, withdrawn → how many."""
    dropped: dict[str, int] = field(default_factory=dict[str, int])
    records: list[str] = field(default_factory=list[str])

    def count(self, outcome: str) -> None:
        self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1

    @property
    def kept(self) -> int:
        return len(self.records)


def episode_page(scope: str, started_at: str) -> str:
    """The note of the day on which a conversation began, where the person is."""
    day = f"{local(started_at):%Y-%m-%d}" if started_at else "undated"
    return within(folder_of(scope), f"episodes/{day[:7]}/{day}.md")


def tell(session: Session, house: str, ready: Prepared, filed: Filed, now: str) -> None:
    """Save the episode, in the place of what it was before."""
    conversation = ready.conversation
    store = EpisodeStore(session, house)
    former = _former(session, house, ready, store)
    lines = _lines(ready, store.lines([*former, conversation.id]))
    for one in former:
        store.drop(one)
    store.put_lines(conversation.id, lines)
    store.save(
        Episode(
            conversation_id=conversation.id,
            scope=ready.scope,
            page=episode_page(ready.scope, conversation.started_at),
            project=ready.extract.project,
            started_at=conversation.started_at,
            ended_at=conversation.ended_at,
            messages=conversation.messages,
            fingerprint=ready.fingerprint,
            reader=ready.extract.reader,
            read_at=now,
            kept=filed.kept,
            dropped=filed.dropped,
        )
    )


def _former(session: Session, house: str, ready: Prepared, store: EpisodeStore) -> list[str]:
    """What this conversation was called while it had a first message that was forgotten since."""
    edges = EdgeStore(session, house).derived_from(MESSAGE, ready.message_ids)
    lines = store.some_lines(sorted({edge.to_id for edge in edges if edge.to_kind == LINE}))
    others = {line.conversation_id for line in lines.values()} - {ready.conversation.id}
    history = ConversationStore(session, house)
    return sorted(one for one in others if history.get(one) is None)


def _lines(ready: Prepared, known: dict[str, list[Line]]) -> list[Line]:
    """As they were read, but where a person changed or removed one it stays as they left it."""
    extract, conversation = ready.extract, ready.conversation
    texts = [(extract.title or ready.title, extract.title_quotes)]
    texts += [(f"{line.label}: {line.text}" if line.label else line.text, line.quotes) for line in extract.lines]
    people = {line.number: line for lines in known.values() for line in lines if line.author == PERSON}
    lines: list[Line] = []
    for number, (text, quotes) in enumerate(texts):
        sources = tuple(dict.fromkeys(quote.message_id for quote in quotes))
        if number == TITLE and not sources:
            sources = ready.message_ids[:1]
        found = Line(id="", conversation_id="", number=number, text=text, sources=sources, author=LIBRARIAN)
        lines.append(people.pop(number, found))
    return [
        replace(line, id=line_id(conversation.id, line.number), conversation_id=conversation.id)
        for line in (*lines, *people.values())
    ]
