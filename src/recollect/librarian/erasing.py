"""The librarian's side of forgetting: lines of episodes, kept replies, questions and proposals go with what they are
from. Shelves lose their lines by the edges of those."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from recollect.database import Session
from recollect.forgetting.acts import Reach
from recollect.history.store import MessageStore
from recollect.jobs import JobStore, State
from recollect.knowledge.store import RecordStore
from recollect.librarian.episodes import LINE, EpisodeStore
from recollect.librarian.extraction.replies import REPLY, ReplyStore
from recollect.librarian.proposals import PROPOSAL, ProposalStore
from recollect.librarian.questions import QUESTION, QuestionStore
from recollect.librarian.shelves.leaving import drop_shelves, notes_that_go
from recollect.librarian.working.queueing import KIND
from recollect.lineage import MESSAGE, RECORD, EdgeStore, folded

KINDS = (LINE, REPLY, QUESTION, PROPOSAL)


@dataclass(slots=True)
class _Found:
    by_kind: dict[str, list[str]] = field(default_factory=lambda: {kind: list[str]() for kind in KINDS})


class LibrarianPart:
    """A `forgetting.Part`."""

    def __init__(self, house: str) -> None:
        self._house = house

    def origins(self, session: Session, reach: Reach) -> set[tuple[str, str]]:
        found = self._found(session, reach).by_kind
        return {(kind, one) for kind in (LINE, QUESTION) for one in found[kind]}

    def notes(self, session: Session, reach: Reach) -> dict[str, int]:
        return notes_that_go(session, self._house, reach.records, self.origins(session, reach))

    def reach(self, session: Session, reach: Reach) -> dict[str, int]:
        found = self._found(session, reach).by_kind
        return {
            "episode_lines": len(found[LINE]),
            "kept_replies": len(found[REPLY]),
            "questions": len(found[QUESTION]),
            "proposals": len(found[PROPOSAL]),
        }

    def contents(self, session: Session, reach: Reach) -> Iterator[bytes]:
        """What they say in words of their own. A reply tells of the whole conversation, most of which stays: of it only
        what is about the forgotten would have to be gone, and nobody can say which part that is."""
        found = self._found(session, reach).by_kind
        for line in EpisodeStore(session, self._house).some_lines(found[LINE]).values():
            yield line.text.encode()
        for question in QuestionStore(session, self._house).get(found[QUESTION]).values():
            yield question.text.encode()
            yield from (statement.text.encode() for statement in question.about.statements)
        for proposal in ProposalStore(session, self._house).get(found[PROPOSAL]).values():
            yield proposal.text.encode()

    def erase(self, session: Session, reach: Reach) -> dict[str, int]:
        found = self._found(session, reach).by_kind
        drop_shelves(session, self._house, reach.records)
        self._drop_reasons(session, reach)
        return {
            "episode_lines": EpisodeStore(session, self._house).drop_lines(found[LINE]),
            "kept_replies": ReplyStore(session, self._house).drop(found[REPLY]),
            "questions": QuestionStore(session, self._house).drop(found[QUESTION]),
            "proposals": ProposalStore(session, self._house).drop(found[PROPOSAL]),
        }

    def _drop_reasons(self, session: Session, reach: Reach) -> None:
        """Why a conversation could not be read may hold words of it."""
        jobs, messages = JobStore(session, self._house), MessageStore(session, self._house).get(sorted(reach.messages))
        for conversation_id in sorted({one.conversation_id for one in messages.values() if one.conversation_id}):
            job = jobs.get(KIND, conversation_id)
            if job and job.state is State.ASIDE:
                jobs.remove(KIND, conversation_id)

    def _found(self, session: Session, reach: Reach) -> _Found:
        edges = EdgeStore(session, self._house)
        derived = [
            *edges.derived_from(MESSAGE, sorted(reach.messages)),
            *edges.derived_from(RECORD, sorted(reach.records)),
        ]
        found = _Found()
        ids = {(edge.to_kind, edge.to_id) for edge in derived if edge.to_kind in KINDS}
        ids |= {(QUESTION, one) for one in self._about_nobody(session, reach)}
        for kind, one in sorted(ids):
            found.by_kind[kind].append(one)
        return found

    def _about_nobody(self, session: Session, reach: Reach) -> Iterator[str]:
        """Questions about somebody of whom no record stays: they call them by name, and keep what was said of them."""
        records = RecordStore(session, self._house)
        subjects = {folded(record.subject) for record in records.get(sorted(reach.records)).values()}
        gone = {one for one in subjects if reach.records.issuperset(records.of_subject(one))}
        for question in QuestionStore(session, self._house).every() if gone else []:
            if not gone.isdisjoint(map(folded, question.about.names)):
                yield question.id
