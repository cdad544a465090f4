"""The desk: where one conversation is read, checked and filed. Who works at it, and when, is the worker's."""

import asyncio
from collections.abc import Callable, Collection, Coroutine
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from recollect.clock import Clock
from recollect.database import Database, Session
from recollect.history import NO_TITLE, Conversation, History, Message
from recollect.ids import derived_id
from recollect.librarian.evidence.checking import checked
from recollect.librarian.extraction.knowing import known_to
from recollect.librarian.extraction.known import names_in
from recollect.librarian.extraction.replies import KeptReplies
from recollect.librarian.filing import file
from recollect.librarian.items import About, Extract, Turn
from recollect.librarian.live.passages import Passage, answered_questions, asked_passage, ruled_passage, within
from recollect.librarian.reading import turns_of
from recollect.librarian.telling import Prepared
from recollect.librarian.working.work import Filed
from recollect.llm import ChatModel, Usage
from recollect.scopes import HOUSE
from recollect.settings import Settings

if TYPE_CHECKING:
    from recollect.librarian.extraction.known import Known


class LibrarianDesk:
    """`work.Desk`. Used by one thread at a time."""

    def __init__(
        self,
        database: Database,
        settings: Settings,
        clock: Clock,
        history: History,
        model: ChatModel | None,
        tidy: Callable[[], object],
    ) -> None:
        """`model`: None for the rules. `tidy`: lets the shelves catch up."""
        self._database = database
        self._settings = settings
        self._clock = clock
        self._history = history
        self._model = model
        self._tidy = tidy
        self._runner: asyncio.Runner | None = None
        self._asking: asyncio.Task[tuple[Extract, Usage]] | None = None
        self._is_stopped = False

    def read(self, conversation: Conversation) -> Prepared:
        about, turns, messages = self.opened(conversation)
        prepared = self._prepared(conversation, about, Passage(turns=turns), self.scope_of(messages))
        return replace(
            prepared,
            message_ids=tuple(message.id for message in messages),
            times={message.id: message.at for message in messages},
        )

    def read_new(self, conversation: Conversation, new: Collection[str]) -> Prepared:
        """Only what can be known by now: of a conversation that goes on, these new messages of it, with what stands
        before them. The rules read that again, a model is shown its end."""
        about, turns, messages = self.opened(conversation)
        passage = asked_passage(turns, new) if self._model else ruled_passage(turns)
        prepared = self._prepared(conversation, about, passage, self.scope_of(messages))
        return replace(
            prepared,
            extract=within(prepared.extract, passage.ids),
            is_whole=False,
            questions=answered_questions(turns, new),
        )

    def _prepared(self, conversation: Conversation, about: About, passage: Passage, scope: str) -> Prepared:
        turns = [*passage.before, *passage.turns]
        known = self.known(about, turns, scope) if self._model else []
        extract, usage = self._extract(about, passage, known)
        names = [about.user_name, *names_in(known)]
        return Prepared(
            conversation=conversation,
            scope=scope,
            title=about.title,
            extract=checked(extract, turns, [name for name in names if name]),
            message_ids=tuple(turn.message_id for turn in passage.turns),
            times={turn.message_id: turn.at for turn in turns},
            fingerprint=fingerprint_of(extract.reader, turns),
            usage=usage,
        )

    def file(self, session: Session, prepared: Prepared, now: str) -> Filed:
        filed = file(session, self._settings.house, prepared, now)
        return Filed(kept=filed.kept, dropped=sum(filed.dropped.values()), usage=prepared.usage)

    def tidy(self) -> None:
        self._tidy()

    def stop(self) -> None:
        """From any thread: what a model is being asked is given up, and `read` raises CancelledError. For good."""
        self._is_stopped = True
        asking = self._asking
        if asking:
            with suppress(RuntimeError):  # It ended meanwhile, and its loop is closed.
                asking.get_loop().call_soon_threadsafe(asking.cancel)

    def close(self) -> None:
        if self._runner:
            if self._model:
                self._runner.run(self._model.close())
            self._runner.close()
            self._runner = None

    # Reading

    def opened(self, conversation: Conversation) -> tuple[About, list[Turn], list[Message]]:
        messages = self._history.messages(conversation)
        return self._about(conversation), turns_of(messages), messages

    def scope_of(self, messages: list[Message]) -> str:
        """Whose the conversation is: what a source of an agent says stays with that agent."""
        file_ids = [message.file_id for message in messages[:1]]
        return next(iter(self._history.file_scopes(file_ids).values()), HOUSE)

    def _about(self, conversation: Conversation) -> About:
        title = self._history.conversation(conversation.id).title
        return About(
            conversation_id=conversation.id,
            title="" if title == NO_TITLE else title,
            project=conversation.project,
            started_at=conversation.started_at,
            user_name=self._settings.user_name,
            agent_name=self._settings.agent_name,
        )

    def known(self, about: About, turns: list[Turn], scope: str) -> "list[Known]":
        from recollect.librarian.rules.projects import project_of

        with self._database.read() as session:
            return known_to(session, self._settings.house, scope, project_of(about), turns)

    def _extract(self, about: About, passage: Passage, known: "list[Known]") -> tuple[Extract, Usage]:
        turns = [*passage.before, *passage.turns]
        if self._model is None:
            from recollect.librarian.rules import extract

            return extract(about, turns), Usage()
        if not passage.turns:
            return Extract(reader=self._model.name), Usage()
        from recollect.librarian.extraction.extracting import extract as extract_by_model

        messages = [turn.message_id for turn in turns]
        replies = KeptReplies(
            self._database, self._settings.house, self._clock, about.conversation_id, self._model.name, messages
        )
        self._runner = self._runner or asyncio.Runner()
        asked = extract_by_model(self._model, about, passage.turns, known, before=passage.before, replies=replies)
        return self._runner.run(self._stoppable(asked))

    async def _stoppable(self, asked: Coroutine[Any, Any, tuple[Extract, Usage]]) -> tuple[Extract, Usage]:
        self._asking = asyncio.ensure_future(asked)
        if self._is_stopped:
            self._asking.cancel()
        try:
            return await self._asking
        finally:
            self._asking = None


def fingerprint_of(reader: str, turns: list[Turn]) -> str:
    """Of what was read, and who read it."""
    return derived_id(reader, *(part for turn in turns for part in (turn.message_id, turn.text)))
