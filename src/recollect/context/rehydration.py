"""Rehydration: what a session should know when it begins. Nothing is kept: it is made anew whenever it is asked for."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from recollect import markers
from recollect.clock import Clock, from_text, to_text
from recollect.context.blocks import Context, Section, line_of, section_of
from recollect.context.choosing import Candidate, chosen, latest_that_fit
from recollect.database import Database
from recollect.errors import Invalid
from recollect.history import Author, History, Message
from recollect.history.transcript import SPEAKERS
from recollect.knowledge import Knowledge
from recollect.knowledge.records import Category, Record, text_key
from recollect.scopes import Principal, sight_of
from recollect.showings import Counted, standing_of
from recollect.showings.store import ShowingStore

if TYPE_CHECKING:
    from recollect.recall import Recall

CATEGORIES = (Category.IDENTITY, Category.KNOWLEDGE, Category.OPERATIONAL)
"""Who one is, what one knows, how one works; then what was said last."""
TRANSCRIPT = "transcript"

CANDIDATES = 400
"""Of the most important records, and as many of the newest: more than fit in most budgets, and so few that it takes
the same time with a thousand records and with a million."""
TOPIC_HITS = 50
HALF_RELEVANT_PLACE = 10
"""The hit in this place of a search counts half as much as the first."""
MOST_MESSAGES = 1_000


class Rehydration:
    """Sees what its principal sees."""

    def __init__(
        self,
        database: Database,
        house: str,
        clock: Clock,
        principal: Principal,
        knowledge: Knowledge,
        history: History,
        recall: "Callable[[], Recall]",
    ) -> None:
        self._database = database
        self._house = house
        self._clock = clock
        self._principal = principal
        self._knowledge = knowledge
        self._history = history
        self._recall = recall

    def context(self, budget_tokens: int, topic: str, recent: int) -> Context:
        """Learnings by category, and on wish the `recent` last messages.

        Inside the budget, tags included; learnings get at least half of it. Nothing is cut: what does not fit is left
        out and counted. The same knowledge, with the same steps of use, gives the same bytes.
        """
        if budget_tokens < 1:
            raise Invalid(f"A budget of {budget_tokens:,} tokens holds nothing. Give 1 or more; 2,000 is usual.")
        if not 0 <= recent <= MOST_MESSAGES:
            raise Invalid(f"{recent:,} recent messages cannot be shown: from 0 to {MOST_MESSAGES:,} can.")
        said = self._said(recent) if recent else []
        reserved = _sections({TRANSCRIPT: latest_that_fit(said, TRANSCRIPT, budget_tokens // 2)})
        learnings, void = self._learnings(topic.strip(), budget_tokens - _tokens(reserved))
        sections = _sections(_by_category(learnings))
        messages = latest_that_fit(said, TRANSCRIPT, budget_tokens - _tokens(sections))
        sections += _sections({TRANSCRIPT: messages})
        unshown = max(self._knowledge.count_current() - void - len(learnings), 0)
        return Context(
            sections=sections,
            left_out=unshown + len(said) - len(messages),
            budget_tokens=budget_tokens,
            records=tuple(candidate.record.id for candidate in learnings),
        )

    # Learnings

    def _learnings(self, topic: str, budget_tokens: int) -> tuple[list[Candidate], int]:
        """Those that are shown; and how many records were not shown for another reason than want of room."""
        found, relevance = self._found(topic)
        lines = {record.id: line_of(record.text) for record in self._distinct(found.values())}
        counted = self._counted(list(lines))
        candidates = [
            Candidate(
                record=found[name],
                line=line,
                relevance=relevance.get(name, 0.0),
                standing=standing_of(counted.get(name), found[name].version),
            )
            for name, line in lines.items()
            if line
        ]
        void = len(found) - len(candidates)
        while True:
            taken = chosen(candidates, budget_tokens)
            overridden = {candidate.record.id for candidate in taken if self._is_overridden(candidate.record)}
            if not overridden:
                return taken, void
            void += len(overridden)
            candidates = [candidate for candidate in candidates if candidate.record.id not in overridden]

    def _counted(self, record_ids: Sequence[str]) -> dict[str, Counted]:
        """What was shown to this scope, and used there."""
        with self._database.read() as session:
            found = ShowingStore(session, self._house).counted(record_ids, self._principal.scope)
        return {one.record_id: one for one in found}

    def _found(self, topic: str) -> tuple[dict[str, Record], dict[str, float]]:
        """The records that may be shown, by their ids, and how relevant some of them are."""
        records = [*self._knowledge.most_important(CANDIDATES), *self._knowledge.newest(CANDIDATES)]
        relevance: dict[str, float] = {}
        if topic and records:
            relevance = self._relevance(topic, max(record.believed_from for record in records))
            now = to_text(self._clock())
            answers = self._knowledge.shown(list(relevance)).values()
            records += [found for found in answers if found.counts(now)]
        return {record.id: record for record in records}, relevance

    def _relevance(self, topic: str, latest: str) -> dict[str, float]:
        """Record → how well it answers, by its place among the answers. Asked at the time of the latest change: the
        day on which somebody asks must not change the bytes. Asked of the index as it is: a session that begins does
        not wait until an import is indexed."""
        found = self._recall().search(
            topic, search_type="facts", limit=TOPIC_HITS, now=from_text(latest), fast=True, fresh=False
        )
        return {hit.id: HALF_RELEVANT_PLACE / (HALF_RELEVANT_PLACE + place) for place, hit in enumerate(found.hits)}

    def _distinct(self, records: Iterable[Record]) -> list[Record]:
        """What still holds, each text once: that of the nearest scope."""
        with self._database.read() as session:
            scopes = sight_of(session, self._house, self._principal).scopes or (self._principal.scope,)
        distance = {scope: steps for steps, scope in enumerate(scopes)}
        now = to_text(self._clock())
        holding = [
            record
            for record in records
            if record.true_from <= now and (not record.true_until or record.true_until > now)
        ]
        holding.sort(key=lambda record: (distance.get(record.scope, len(scopes)), record.learned_at, record.id))
        first: dict[str, Record] = {}
        for record in holding:
            first.setdefault(text_key(record.text), record)
        return list(first.values())

    def _is_overridden(self, record: Record) -> bool:
        """Whether something else is said about the same nearer to an agent. A person sees what each of them says."""
        if not self._principal.is_confined or record.key is None or record.scope == self._principal.scope:
            return False
        nearest = self._knowledge.fact(record.subject, record.attribute)
        return nearest is not None and nearest.scope != record.scope

    # What was said last

    def _said(self, number: int) -> list[str]:
        """The last lines of the latest conversation."""
        lines: list[str] = []
        for listed in self._history.conversations(limit=1):
            for message in reversed(self._history.messages(listed.conversation)):
                line = line_of(words_of(message), SPEAKERS[message.author])
                if line:
                    lines.append(line)
                if len(lines) == number:
                    break
        return lines[::-1]


def words_of(message: Message) -> str:
    """Without the markers of an assistant: what they kept stands among the learnings."""
    if message.author is not Author.ASSISTANT:
        return message.text
    return markers.read(*(block["text"] for block in message.blocks if block["type"] == "text")).display


def _by_category(learnings: Sequence[Candidate]) -> dict[str, list[str]]:
    """Category → lines."""
    return {
        str(category): [candidate.line for candidate in learnings if candidate.record.category is category]
        for category in CATEGORIES
    }


def _sections(lines: Mapping[str, Sequence[str]]) -> list[Section]:
    return [section_of(name, inside) for name, inside in lines.items() if inside]


def _tokens(sections: Sequence[Section]) -> int:
    return sum(section.tokens for section in sections)
