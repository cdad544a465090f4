"""From a message to what the index keeps of it. What is slow (terms, vectors) happens here, outside transactions."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recollect.history import Author, Message, Standing
from recollect.recall.index.formats import Quantised, digest, quantise
from recollect.recall.passages import passages
from recollect.recall.questions import asking_share
from recollect.recall.words import document_terms

if TYPE_CHECKING:
    from recollect.embedding import Embedder


def is_document(message: Message) -> bool:
    """Whether it is searched: what users, assistants and sub-agents said, in words, and no file has lost."""
    said = message.standing is Standing.SAID or message.author is Author.SUBAGENT
    return said and not message.gone and bool(message.text.strip())


def conversation_key(message: Message) -> str:
    """Messages with one key are neighbours. Sub-agents' messages belong to no conversation, but to a stream."""
    return message.conversation_id or f"{message.file_id}/{message.stream}/{message.agent_id}"


def text_digest(message: Message) -> int:
    return digest(message.text)


def facts_digest(message: Message) -> int:
    """Of what is known beside the text: when only this differs, the text is not indexed again."""
    return digest(conversation_key(message), str(message.start_byte), message.at, str(message.author), message.source)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A message that is ready to be written."""

    message: Message
    terms: Counter[str]
    asking: int
    """Percent of its words that stand in questions."""
    vectors: Quantised


def prepare(messages: Sequence[Message], embedder: "Embedder") -> list[Prepared]:
    cut = [passages(message.text) for message in messages]
    vectors = quantise(embedder.passages([passage for parts in cut for passage in parts]))
    prepared: list[Prepared] = []
    start = 0
    for message, parts in zip(messages, cut, strict=True):
        prepared.append(
            Prepared(
                message=message,
                terms=Counter(document_terms(message.text)),
                asking=round(100 * asking_share(message.text)),
                vectors=vectors[start : start + len(parts)],
            )
        )
        start += len(parts)
    return prepared
