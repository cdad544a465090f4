"""What is searched, as the index sees it, and what it keeps of it. What is slow (terms, vectors) happens here, outside
transactions.

A thing that is touched is one document or several: a message is one; a record is one for each of its versions, so that
what was believed at a date can be found too; a note is one for each of its sections.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recollect.feed import MESSAGE, NOTE, RECORD
from recollect.recall.index.formats import Quantised, digest, quantise
from recollect.recall.passages import passages
from recollect.recall.questions import asking_share
from recollect.recall.words import document_terms

if TYPE_CHECKING:
    from recollect.embedding import Embedder

VERSION_SIGN = "@"
"""Between a record and its version in the id of a document. No id of a message or a record has it."""
NOTE_SIGN = ":"
"""Between a note and its section. No id and no path has it: a path may have any other sign."""


@dataclass(frozen=True, slots=True)
class Thing:
    """What a change names."""

    kind: str
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """Times are stored times; an empty one: none."""

    id: str
    kind: str
    text: str
    conversation: str
    """Documents with one key are neighbours."""
    place: int
    """Order inside the conversation."""
    at: str
    author: str
    """One of formats.AUTHORS."""
    source: str
    scope: str
    known_at: str = ""
    """When it came to be as it is, where that is another time than `at`."""
    until: str = ""
    """Something else took its place then."""
    expires: str = ""
    is_evergreen: bool = False

    @property
    def thing_key(self) -> str:
        return thing_key(thing_of(self.id))


def version_name(record_id: str, version: int) -> str:
    return f"{record_id}{VERSION_SIGN}{version}"


def section_name(path: str, section: str) -> str:
    return f"{path}{NOTE_SIGN}{section}"


def thing_of(document_id: str) -> Thing:
    """The thing that a document is, or is a version or a section of."""
    path, sign, _ = document_id.partition(NOTE_SIGN)
    if sign:
        return Thing(NOTE, path)
    thing, sign, _ = document_id.partition(VERSION_SIGN)
    return Thing(RECORD if sign else MESSAGE, thing)


def thing_key(thing: Thing) -> str:
    """By which all documents of a thing are found. Empty for a message: it is one document, which has its id."""
    if thing.kind == MESSAGE:
        return ""
    # A note may be called as a record is.
    return f"{thing.id}{NOTE_SIGN}" if thing.kind == NOTE else thing.id


def text_digest(document: Document) -> int:
    return digest(document.text)


def facts_digest(document: Document) -> int:
    """Of what is known beside the text: when only this differs, the text is not indexed again."""
    ends = (document.until, document.expires, str(document.is_evergreen), document.known_at)
    said = (document.conversation, str(document.place), document.at, document.author, document.source)
    return digest(*said, document.scope, *ends)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A document that is ready to be written."""

    document: Document
    terms: Counter[str]
    asking: int
    """Percent of its words that stand in questions."""
    vectors: Quantised


def prepare(documents: Sequence[Document], embedder: "Embedder") -> list[Prepared]:
    cut = [passages(document.text) for document in documents]
    vectors = quantise(embedder.passages([passage for parts in cut for passage in parts]))
    prepared: list[Prepared] = []
    start = 0
    for document, parts in zip(documents, cut, strict=True):
        prepared.append(
            Prepared(
                document=document,
                terms=Counter(document_terms(document.text)),
                asking=round(100 * asking_share(document.text)),
                vectors=vectors[start : start + len(parts)],
            )
        )
        start += len(parts)
    return prepared
