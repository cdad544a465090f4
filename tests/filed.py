"""Conversations with hand-made readings, filed as the librarian files them."""

from pathlib import Path

from transcripts import Transcript

import recollect
from recollect.clock import to_text
from recollect.history import Conversation, Message
from recollect.knowledge import Kind
from recollect.librarian.filing import file
from recollect.librarian.items import EpisodeLine, Extract, Item, Quote, Shelf
from recollect.librarian.telling import Filed, Prepared
from recollect.scopes import HOUSE


class Talk:
    """One conversation of a person who says these sentences, each in a message of its own."""

    def __init__(self, memory: recollect.Memory, folder: Path, name: str, *sentences: str, **options: object) -> None:
        transcript = Transcript(name, **options)  # type: ignore[arg-type]
        for sentence in sentences:
            transcript.user(sentence)
            transcript.assistant("Noted.")
        memory.history.ingest([transcript.save(folder)])
        self.memory = memory
        self.conversation: Conversation = memory.history.conversation(transcript.session_id).conversation
        self.messages: list[Message] = memory.history.messages(self.conversation)

    def said(self, sentence: str) -> Quote:
        message = next(one for one in self.messages if sentence in one.text)
        return Quote(message_id=message.id, words=sentence)

    def item(self, sentence: str, text: str = "", **fields: object) -> Item:
        chosen: dict[str, object] = {"shelf": Shelf.CORE, "kind": Kind.FACT, **fields}
        return Item(text=text or sentence, quotes=(self.said(sentence),), **chosen)  # type: ignore[arg-type]

    def file(self, *items: Item, scope: str = HOUSE, lines: list[EpisodeLine] | None = None, **fields: object) -> Filed:
        extract = Extract(reader="test/1", items=list(items), lines=lines or [], **fields)  # type: ignore[arg-type]
        ready = Prepared(
            conversation=self.conversation,
            scope=scope,
            title="A talk",
            extract=extract,
            message_ids=tuple(message.id for message in self.messages),
            times={message.id: message.at for message in self.messages},
            fingerprint="read",
        )
        with self.memory.database.write() as session:
            return file(session, self.memory.settings.house, ready, to_text(self.memory.clock()))
