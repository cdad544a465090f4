"""What a model answered, kept: a conversation that is read again asks nothing again, and is filed the same."""

from collections.abc import Sequence
from typing import Any

import zstandard

from recollect.clock import Clock, to_text
from recollect.database import Database, Session
from recollect.history.store import MessageStore
from recollect.ids import derived_id
from recollect.lineage import MESSAGE, Edge, EdgeStore
from recollect.llm import Usage

REPLY = "reply"
"""The kind of a reply in lineage."""
MOST_REPLY_BYTES = 8_000_000

ADD = """
INSERT INTO librarian_replies (
    house, id, conversation_id, part, model, prompt, fingerprint, reply, input_tokens, output_tokens, at
) VALUES (
    :house, :id, :conversation_id, :part, :model, :prompt, :fingerprint, :reply, :input_tokens, :output_tokens, :at
) ON CONFLICT (house, id) DO NOTHING
"""
GET = "SELECT reply FROM librarian_replies WHERE house = :house AND id = :id"
SOME = "SELECT id, reply FROM librarian_replies WHERE house = :house AND id IN (:values)"
OF_CONVERSATION = "SELECT count(*) FROM librarian_replies WHERE house = :house AND conversation_id = :conversation_id"
DROP = "DELETE FROM librarian_replies WHERE house = :house AND id = :id"


class ReplyStore:
    """All SQL on replies."""

    def __init__(self, session: Session, house: str) -> None:
        self._session = session
        self._house = house

    def get(self, reply_id: str) -> str | None:
        found = self._session.value(GET, self._given(id=reply_id))
        return _text(found) if found is not None else None

    def add(self, reply_id: str, text: str, messages: Sequence[str], **columns: Any) -> None:
        packed = zstandard.compress(text.encode("utf-8", "replace"))
        self._session.run(ADD, self._given(id=reply_id, reply=packed, **columns))
        EdgeStore(self._session, self._house).add(Edge(MESSAGE, one, REPLY, reply_id) for one in messages)

    def texts(self, reply_ids: Sequence[str]) -> dict[str, str]:
        rows = self._session.among(SOME, list(reply_ids), self._given()) if reply_ids else []
        return {row[0]: _text(row[1]) for row in rows}

    def number_of(self, conversation_id: str) -> int:
        return self._session.value(OF_CONVERSATION, self._given(conversation_id=conversation_id))

    def drop(self, reply_ids: Sequence[str]) -> int:
        EdgeStore(self._session, self._house).delete(REPLY, reply_ids)
        return sum(self._session.run(DROP, self._given(id=one)) for one in reply_ids)

    def _given(self, **parameters: Any) -> dict[str, Any]:
        return {"house": self._house, **parameters}


class KeptReplies:
    """The replies about one conversation by one model."""

    def __init__(
        self, database: Database, house: str, clock: Clock, conversation_id: str, model: str, messages: Sequence[str]
    ) -> None:
        """`messages`: all of the conversation; a reply may tell of any of them."""
        self._database = database
        self._house = house
        self._clock = clock
        self._conversation_id = conversation_id
        self._model = model
        self._messages = messages

    def find(self, part: int, prompt: str, fingerprint: str) -> str | None:
        with self._database.read() as session:
            return ReplyStore(session, self._house).get(self._id(part, prompt, fingerprint))

    def keep(self, part: int, prompt: str, fingerprint: str, text: str, usage: Usage) -> None:
        """Unless one of the messages was forgotten while the model was asked."""
        with self._database.write() as session:
            if not MessageStore(session, self._house).are_there(self._messages):
                return
            ReplyStore(session, self._house).add(
                self._id(part, prompt, fingerprint),
                text,
                self._messages,
                conversation_id=self._conversation_id,
                part=part,
                model=self._model,
                prompt=prompt,
                fingerprint=fingerprint,
                input_tokens=usage.input_tokens,
                output_tokens=usage.output_tokens,
                at=to_text(self._clock()),
            )

    def _id(self, part: int, prompt: str, fingerprint: str) -> str:
        return derived_id(REPLY, self._conversation_id, str(part), self._model, prompt, fingerprint)


def _text(packed: bytes) -> str:
    return zstandard.ZstdDecompressor().decompress(bytes(packed), max_output_size=MOST_REPLY_BYTES).decode()
