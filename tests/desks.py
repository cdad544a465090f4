"""A desk that files one record for each conversation, and every time a new one: who files twice is seen."""

from collections import Counter, deque
from collections.abc import Callable
from pathlib import Path

from transcripts import START, Transcript

import recollect
from recollect.database import Session
from recollect.history import Conversation, Status
from recollect.jobs import Presence
from recollect.knowledge import Kind, Relation, Statement
from recollect.knowledge.learning import learn
from recollect.knowledge.writing import Writer
from recollect.librarian.working.queueing import Queue
from recollect.librarian.working.work import Filed, Outcome, Step
from recollect.librarian.working.worker import Worker
from recollect.scopes import Actor, Principal

LIBRARIAN = Principal(actor=Actor.LIBRARIAN, name="a desk of the tests")
FILED = "Filed: "

Happening = Exception | Callable[[Conversation], object]


class OneRecordDesk:
    def __init__(self, house: str) -> None:
        self.house = house
        self.read_ids: list[str] = []
        self.tidied = 0
        self.closed = 0
        self.happenings: deque[Happening | None] = deque()
        """What happens in the next readings, in turn: an error, or something that is done meanwhile."""
        self.always: dict[str, Happening] = {}
        """What happens whenever this conversation is read."""
        self.always_read: Callable[[Conversation], object] = lambda conversation: None
        """Done in each reading that goes well."""
        self.while_filing: Callable[[], object] = lambda: None
        self.while_tidying: Callable[[], object] = lambda: None

    def read(self, conversation: Conversation) -> str:
        self.read_ids.append(conversation.id)
        happening = self.always.get(conversation.id) or (self.happenings.popleft() if self.happenings else None)
        if isinstance(happening, Exception):
            raise happening
        if happening:
            happening(conversation)
        self.always_read(conversation)
        return conversation.id

    def file(self, session: Session, prepared: str, now: str) -> Filed:
        statement = Statement(text=f"{FILED}{prepared}", kind=Kind.FACT)
        learn(Writer(session, self.house, LIBRARIAN, now), statement, Relation.UNRELATED, "", "")
        self.while_filing()
        return Filed(kept=1, dropped=2)

    def tidy(self) -> None:
        self.tidied += 1
        self.while_tidying()

    def close(self) -> None:
        self.closed += 1


def filed(memory: recollect.Memory) -> Counter[str]:
    """Conversation → how often it was filed."""
    records = memory.knowledge.pages(("", 0), 1_000_000)
    return Counter(record.text.removeprefix(FILED) for record in records if record.text.startswith(FILED))


def queue_of(memory: recollect.Memory) -> Queue:
    return Queue(memory.database, memory.settings, memory.clock)


def worker_of(memory: recollect.Memory, desk: OneRecordDesk, owner: str = "test", **options: float) -> Worker[str]:
    most_attempts = int(options.pop("most_attempts", 3))
    return Worker(
        memory.database,
        memory.settings.house,
        memory.clock,
        desk,
        owner=owner,
        record=memory.runs.record,
        gap_minutes=memory.settings.conversation_gap_minutes,
        presence=Presence(memory.settings.runtime),
        most_attempts=most_attempts,
        **options,
    )


def tell(memory: recollect.Memory, projects: Path, number: int, exchanges: int = 3) -> list[str]:
    """Take in so many conversations that have long ended, an hour apart; their ids, the oldest first."""
    for index in range(number):
        Transcript(f"talk {index}", start=START).wait(hours=-1000 + index).exchanges(exchanges).save(projects)
    memory.history.ingest([projects])
    listed = memory.history.conversations(limit=number + 10)
    return [one.conversation.id for one in sorted(listed, key=lambda one: one.conversation.ended_at)]


def queued(memory: recollect.Memory, projects: Path, number: int = 3) -> list[str]:
    """So many conversations, told and queued; their ids in the order in which they are taken."""
    ids = tell(memory, projects, number)
    assert queue_of(memory).ready().queued == number
    return ids


def status_of(memory: recollect.Memory, conversation_id: str) -> Status:
    return memory.history.conversation(conversation_id).conversation.status


def statuses(memory: recollect.Memory) -> set[Status]:
    return {listed.conversation.status for listed in memory.history.conversations(limit=1_000)}


def counts(memory: recollect.Memory) -> tuple[int, int, int]:
    found = queue_of(memory).state().counts
    return found.queued, found.held, found.aside


def outcomes(worker: Worker[str]) -> list[Outcome]:
    """Of all that is due."""
    steps: list[Step] = []
    while step := worker.step():
        steps.append(step)
    return [step.outcome for step in steps]


def more_is_said(memory: recollect.Memory, projects: Path, number: int = 0) -> None:
    """In the conversation with this number, a minute after its end."""
    told = Transcript(f"talk {number}").wait(hours=-1000 + number).exchanges(3).wait(minutes=1).exchanges(1)
    memory.history.ingest([told.save(projects)])


def die(worker: Worker[str], presence: Presence) -> None:
    """As a process that is killed while it reads: nothing is handed back, and its file is let go of."""
    presence.enter(worker.owner)
    worker._claims.take()  # pyright: ignore[reportPrivateUsage]
    for file in presence._files.values():  # pyright: ignore[reportPrivateUsage]
        file.close()
