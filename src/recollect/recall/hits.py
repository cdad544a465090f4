"""What a search gives back."""

from dataclasses import dataclass, field

from recollect.recall.time_phrases import Period


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One message, record or section of a note that answers, and where it stands.

    Of a record: `at` is when this version came to be believed, `author` is "record", `source` how it came to be known;
    conversation, session, file and line are those of the first message it is from, if there is one.

    Of a note: `id` is its path, `text` one section, `line` where that begins, `at` when it was written or, of a page
    of a diary or a day, when it is from; `author` is "note" and `source` "notes".
    """

    kind: str = "message"
    """message, record or note."""
    id: str
    text: str
    """All of it."""
    snippet: str
    highlights: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """Where in the snippet words of the question stand: from, to."""
    at: str
    author: str
    source: str
    project: str
    score: float
    conversation: str
    """Empty for what a sub-agent said beside a conversation, and for a record that came from none."""
    session_id: str
    file: str
    """Its key, as in `recollect conversations`; of a note its place in the home."""
    line: int
    cwd: str
    before: str = ""
    """The end of what was said before it in the conversation."""
    after: str = ""
    """The beginning of what was said after it."""
    why: dict[str, float] | None = None
    """What each part of the ranking gave; together they are the score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    hits: list[Hit]
    milliseconds: float
    periods: list[Period] = field(default_factory=list[Period])
    """The times that were read out of the question."""
    lacks: list[str] = field(default_factory=list[str])
    """What would make the answer better, in words for people."""
