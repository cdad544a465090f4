"""What somebody did to a shelf becomes what is known: each change in a transaction of its own, and doing it twice does
nothing more.

Words that somebody gave a line are a new version of its record, by them. A line that they removed waits for a decision
where it is knowledge, and stays away where it is none. A point that they added is told.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from recollect.database import Database, Session
from recollect.errors import NotFound, RecollectError
from recollect.knowledge import Knowledge, Origin, Record, Statement
from recollect.knowledge.writing import Writer
from recollect.librarian import deciding
from recollect.librarian.episodes import LINE, PERSON, REMOVED, SHOWN, EpisodeStore, line_id
from recollect.librarian.items import USER, Shelf
from recollect.librarian.proposals import OPEN, REJECTED, Proposal, ProposalKind, ProposalStore
from recollect.librarian.questions import OPEN as ASKED_STILL
from recollect.librarian.questions import QUESTION, QuestionStore
from recollect.librarian.shelves.anchors import Anchor, AnchorKind, said, shown
from recollect.librarian.shelves.gathering import Gathering
from recollect.librarian.shelves.layout import PageKind, Place
from recollect.librarian.shelves.reading_back import Added, Answered, Changed, Edited, Removed, Returned
from recollect.librarian.shelves.rendering import ADDED_TO, ASKED, KIND_OF_SECTION, REMEMBERED
from recollect.lineage import RECORD, ForgottenMeanwhile, ReceiptStore
from recollect.notes import Problem, Version
from recollect.notes.lines import Source
from recollect.scopes import Principal

_SHELVES = {PageKind.CORE: Shelf.CORE, PageKind.PROJECT: Shelf.PROJECT, PageKind.PERSON: Shelf.PERSON}


@dataclass(slots=True, kw_only=True)
class Applied:
    """What became of the changes of one version of one shelf."""

    counts: Counter[str] = field(default_factory=Counter[str])
    origins: list[tuple[str, Source]] = field(default_factory=list[tuple[str, Source]])
    """(line, what it goes with) of lines that somebody else wrote."""
    anchored: list[tuple[str, Anchor]] = field(default_factory=list[tuple[str, Anchor]])
    """Lines that are the librarian's from now on."""
    copied: list[Anchor] = field(default_factory=list[Anchor])
    """Of lines that somebody brought from another page: here they are theirs."""
    problems: list[Problem] = field(default_factory=list[Problem])


def source_of(anchor: Anchor) -> Source:
    """What a line with this anchor goes with."""
    if anchor.kind in (AnchorKind.RECORD, AnchorKind.REPLACED):
        return Source(kind=RECORD, id=anchor.id)
    if anchor.kind is AnchorKind.QUESTION:
        return Source(kind=QUESTION, id=anchor.id)
    number = anchor.number if anchor.kind is AnchorKind.CONVERSATION else 0
    return Source(kind=LINE, id=line_id(anchor.id, number))


class Applying:
    """The changes that one version made to one shelf, by who wrote it."""

    def __init__(
        self,
        database: Database,
        house: str,
        now: str,
        knowledge: Knowledge,
        forgotten: int,
        place: Place,
        version: Version,
        principal: Principal,
    ) -> None:
        self._database = database
        self._house = house
        self._now = now
        self._knowledge = knowledge.seen_by(principal)
        self._forgotten = forgotten
        self._place = place
        self._version = version
        self._principal = principal
        self._done = Applied()

    def apply(self, found: Sequence[Changed]) -> Applied:
        for one in found:
            try:
                self._apply(one)
            except ForgottenMeanwhile:
                raise
            except NotFound:  # It was forgotten meanwhile: there is nothing to change.
                continue
            except RecollectError as error:
                self._done.problems.append(Problem(path=self._place.path, reason=str(error)))
        return self._done

    def _apply(self, change: Changed) -> None:
        match change:
            case Added():
                self._add(change)
            case Answered():
                self._answer(change)
            case Edited():
                self._edit(change.anchor, change.text, change.before)
            case Returned():
                self._return(change)
            case Removed():
                self._remove(change.anchor)

    def _count(self, what: str) -> None:
        self._done.counts[what] += 1

    # Records

    def _edit(self, anchor: Anchor, text: str, before: str) -> None:
        if anchor.kind is AnchorKind.CONVERSATION:
            self._edit_line(anchor, text)
        if anchor.kind is not AnchorKind.RECORD or not text:
            return
        record = self._knowledge.record(anchor.id)
        known = _words(record)
        if text == known:
            return
        if before != known and record.believed_from > self._version.at:
            self._count("overtaken")
        elif not record.counts(self._now):
            self._tell(record, text)
        else:
            self._knowledge.edit(record.id, text, reason=f"edited in {self._place.path}", forgotten=self._forgotten)
            self._count("edited")

    def _tell(self, record: Record, text: str) -> None:
        """Of something that is not believed any more somebody says later how it is."""
        statement = Statement(
            text=text,
            kind=record.kind,
            subject=record.subject,
            tags=record.tags,
            scope=record.scope,
            origin=Origin.TOLD,
        )
        self._knowledge.learn(statement, reason=f"edited in {self._place.path}", forgotten=self._forgotten)
        self._count("edited")

    def _add(self, added: Added) -> None:
        shelf = _SHELVES.get(self._place.kind)
        heading = ADDED_TO.get(added.heading, "")
        if shelf is None or not heading:
            return
        with self._database.read() as session:
            subject = Gathering(session, self._house, self._now).subject_of(self._place)
        statement = Statement(
            text=added.text,
            kind=KIND_OF_SECTION[heading],
            subject=USER if shelf is Shelf.CORE else subject or self._place.name,
            tags=(str(shelf), *([REMEMBERED] if heading == ASKED else [])),
            scope=self._place.scope,
            origin=Origin.TOLD,
        )
        learned = self._knowledge.learn(statement, reason=f"written into {self._place.path}", forgotten=self._forgotten)
        if learned.record:
            anchor = Anchor(AnchorKind.RECORD, learned.record.id)
            self._done.anchored.append((added.line, anchor))
            self._done.origins.append((added.line, source_of(anchor)))
            self._count("added")

    # What was taken away, and came back

    def _return(self, change: Returned) -> None:
        with self._database.read() as session:
            belongs = Gathering(session, self._house, self._now).belongs(change.anchor, self._place)
        if belongs:
            self._bring_back(change.anchor)
            self._edit(change.anchor, change.text, "")
        else:
            self._done.copied.append(change.anchor)
            self._count("copied")

    def _remove(self, anchor: Anchor) -> None:
        is_of_day = self._place.kind is PageKind.EPISODES
        if anchor.kind is AnchorKind.CONVERSATION and is_of_day:
            self._set_line(anchor, REMOVED)
        elif anchor.kind is AnchorKind.RECORD:
            record = self._knowledge.record(anchor.id)
            if record.counts(self._now):
                proposal = Proposal.to_retract(record, self._place.path, self._now)
                self._in_session(lambda session: ProposalStore(session, self._house).add(proposal))
                self._count("proposed")
        elif anchor.kind is not AnchorKind.META:
            who = self._principal.name
            hidden = Proposal.to_hide(str(anchor), self._place.scope, self._place.path, self._now, who)
            self._in_session(lambda session: ProposalStore(session, self._house).add(hidden))
            self._count("hidden")

    def _bring_back(self, anchor: Anchor) -> None:
        if anchor.kind is AnchorKind.CONVERSATION and self._place.kind is PageKind.EPISODES:
            self._set_line(anchor, SHOWN)
        else:
            self._in_session(lambda session: self._withdraw(session, anchor))

    def _withdraw(self, session: Session, anchor: Anchor) -> None:
        """Who puts a line back does not want it away any more."""
        store = ProposalStore(session, self._house)
        for one in store.of_records([anchor.id, str(anchor)]):
            if one.path != self._place.path:
                continue
            if one.kind is ProposalKind.HIDE:
                store.drop([one.id])
            elif one.kind is ProposalKind.RETRACT and one.state == OPEN:
                store.decide(one, REJECTED, self._now, self._principal.name)

    # Episodes and questions

    def _edit_line(self, anchor: Anchor, text: str) -> None:
        def change(session: Session) -> None:
            store = EpisodeStore(session, self._house)
            line = store.some_lines([line_id(anchor.id, anchor.number)]).get(line_id(anchor.id, anchor.number))
            if line and said(f"- {shown(line.text)}") != text:
                store.change_line(replace(line, text=text, author=PERSON))
                self._count("edited")

        self._in_session(change)

    def _set_line(self, anchor: Anchor, state: str) -> None:
        def change(session: Session) -> None:
            store = EpisodeStore(session, self._house)
            line = store.some_lines([line_id(anchor.id, anchor.number)]).get(line_id(anchor.id, anchor.number))
            if line and line.state != state:
                store.change_line(replace(line, state=state, author=PERSON))
                self._count(state)

        self._in_session(change)

    def _answer(self, answered: Answered) -> None:
        def answer(session: Session) -> None:
            question = QuestionStore(session, self._house).get([answered.question_id]).get(answered.question_id)
            if question and question.state == ASKED_STILL:
                writer = Writer(session, self._house, self._principal, self._now)
                deciding.answer(writer, question, answered.text)
                self._count("answered")

        self._in_session(answer)

    def _in_session(self, act: Callable[[Session], object]) -> None:
        with self._database.write() as session:
            ReceiptStore(session, self._house).check(self._forgotten)
            act(session)


def _words(record: Record) -> str:
    """What a record says, as it is read out of a line."""
    return said(f"- {shown(record.text)}")
