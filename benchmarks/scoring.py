"""What a librarian kept of a labelled conversation, compared with its labels.

Strict on purpose: a kept item answers one label at the most and a label is answered by one item at the most; kind,
shelf and subject must be among those that the label names; an item that is long, has several sentences or the words of
many labels answers none, so that keeping everything that was said earns nothing. `docs/librarian-sets.md` says what
each figure means.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from labels import Forbidden, Labelled, Wanted, Words

MOST_CHARACTERS = 280
MOST_SENTENCES = 3
MOST_LABELS = 3
"""Of those that are required. An item is one thing. A sentence may name three; what has more is a retelling."""
MOST_OF_ALL = 0.5
"""The share of a person's words in a conversation that one item may have."""
FEWEST_WORDS = 3
FEWEST_WIDE_CHARACTERS = 5
"""In scripts without blanks between words."""

_WIDE = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_PART = re.compile(rf"[{_WIDE}]|[^\W{_WIDE}]+")
"""A word, or a character where words are not parted by blanks."""
_SENTENCE_END = re.compile(rf"[.!?…]+(?=\s+[^\W\d_]|$)|[。！？]|\n+|(?<=[{_WIDE}])\s")
_MACHINE = re.compile(
    r"```|^\s*(?:at \S+\(|File \"|Traceback|\$ |>>> |[{<]\S)|^\d{4}-\d\d-\d\dT\d\d:\d\d|\bERROR\b|</?[a-z-]+>"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quoted:
    message_id: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """An item that got through: what would be on a shelf."""

    shelf: str
    kind: str
    subject: str
    text: str
    value: str = ""
    until: str = ""
    quotes: tuple[Quoted, ...] = ()

    @property
    def shown(self) -> str:
        return f"{self.subject} · {self.text} · {self.value}"


@dataclass(slots=True, kw_only=True)
class Reading:
    """All that a librarian made of one conversation."""

    items: list[Kept] = field(default_factory=list[Kept])
    title: str = ""
    lines: list[str] = field(default_factory=list[str])
    """Of the episode."""
    line_quotes: list[Quoted] = field(default_factory=list[Quoted])
    people: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Name and role."""
    doubts: list[str] = field(default_factory=list[str])
    project: str = ""
    dropped: Counter[str] = field(default_factory=Counter[str])
    """What the librarian itself found unsupported, by reason."""
    said: dict[str, str] = field(default_factory=dict[str, str])
    """Message id → words, of what a person or an assistant said."""
    filed: list[str] = field(default_factory=list[str])
    """Texts of the records that were made."""
    pages: list[str] = field(default_factory=list[str])
    """The shelves, as they stand in files."""
    trouble: str = ""
    """Why it could not be filed or shown."""
    unread: str = ""
    """Why nothing was read: an answer of the model that could not be used. All of its labels are missed."""
    milliseconds: float = 0
    tokens: int = 0


@dataclass(slots=True, kw_only=True)
class Judged:
    """One conversation, compared."""

    labelled: Labelled
    reading: Reading
    matched: dict[int, Wanted] = field(default_factory=dict[int, Wanted])
    """Place of a kept item → the label that it answers."""
    missed: list[Wanted] = field(default_factory=list[Wanted])
    junk: dict[int, str] = field(default_factory=dict[int, str])
    """Place of a kept item → why nobody would want it."""
    forbidden: list[str] = field(default_factory=list[str])
    unsupported: list[str] = field(default_factory=list[str])
    """Quotes that do not stand in their message, and items without one."""
    due: tuple[int, int] = (0, 0)
    """Right, and asked."""
    people: "People"
    questions: tuple[int, int] = (0, 0)

    @property
    def extra(self) -> list[int]:
        return [place for place in range(len(self.reading.items)) if place not in self.matched]

    @property
    def required(self) -> list[Wanted]:
        return [wanted for wanted in self.labelled.wanted if wanted.required]


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    named: int
    right: int
    wanted: int
    found: int
    wrong_names: tuple[str, ...] = ()
    missed_names: tuple[str, ...] = ()


# Words


def folded(text: str) -> str:
    """Case, width and the shape of apostrophes do not matter."""
    return unicodedata.normalize("NFKC", text).casefold().replace("’", "'").replace("ʼ", "'")


@lru_cache(maxsize=4096)
def _pattern(term: str) -> re.Pattern[str]:
    """A word, or the beginning of one: `deploy` is in `deployed`. Numbers and very short words are taken whole."""
    plain = folded(term)
    if re.search(f"[{_WIDE}]", plain):
        return re.compile(re.escape(plain))
    end = r"(?!\d)" if plain[-1].isdigit() else r"(?!\w)" if len(plain) <= 2 else ""
    return re.compile(rf"(?<!\w){re.escape(plain)}{end}")


def has_words(text: str, words: Words) -> bool:
    plain = folded(text)
    return all(any(_pattern(term).search(plain) for term in group) for group in words.groups)


def _has_some(text: str, words: Words) -> bool:
    plain = folded(text)
    return any(_pattern(term).search(plain) for group in words.groups for term in group)


# Items and labels


def answers(item: Kept, wanted: Wanted) -> bool:
    """Whether an item says what a label asks for: its words in the text, or in one short quote of the text."""
    if wanted.kinds and item.kind not in wanted.kinds:
        return False
    if wanted.shelves and item.shelf not in wanted.shelves:
        return False
    if wanted.subjects and not any(is_name(item.subject, name) for name in wanted.subjects):
        return False
    if wanted.value and not has_words(item.value, wanted.value):
        return False
    return _says(item, wanted.words)


def _says(item: Kept, words: Words) -> bool:
    if has_words(item.shown, words):
        return True
    short = (quote.words for quote in item.quotes if len(quote.words) <= MOST_CHARACTERS)
    return _has_some(item.text, words) and any(has_words(quote, words) for quote in short)


def is_one_thing(item: Kept, labelled: Labelled) -> bool:
    sentences = [part for part in _SENTENCE_END.split(item.text) if part.strip(" .,;:–-")]
    labels = sum(has_words(item.shown, wanted.words) for wanted in labelled.wanted if wanted.required)
    said = _parts(" ".join(turn.text for turn in labelled.turns if turn.author == "user"))
    return (
        len(item.text) <= MOST_CHARACTERS
        and len(sentences) <= MOST_SENTENCES
        and labels <= MOST_LABELS
        and len(said & _parts(item.text)) <= MOST_OF_ALL * len(said)
    )


def _parts(text: str) -> set[str]:
    return set(_PART.findall(folded(text)))


def is_forbidden(text: str, forbidden: Forbidden) -> bool:
    return has_words(text, forbidden.words) and not (forbidden.unless and has_words(text, forbidden.unless))


def is_name(given: str, wanted: str) -> bool:
    """`Petra` and `Petra Lind` are one; `user` is nobody else."""
    one, other = folded(given).split(), folded(wanted).split()
    if one == other:
        return True
    return bool(one and other) and "user" not in (*one, *other) and (set(one) <= set(other) or set(other) <= set(one))


def matched(items: Sequence[Kept], wanted: Sequence[Wanted]) -> dict[int, int]:
    """Item → label, as many as can be, required labels first."""
    fits = [[place for place, item in enumerate(items) if answers(item, one)] for one in wanted]
    taken: dict[int, int] = {}

    def place_for(label: int, tried: set[int]) -> bool:
        for place in fits[label]:
            if place not in tried:
                tried.add(place)
                if place not in taken or place_for(taken[place], tried):
                    taken[place] = label
                    return True
        return False

    for label in sorted(range(len(wanted)), key=lambda label: not wanted[label].required):
        place_for(label, set())
    return taken


# Judging


def judge(labelled: Labelled, reading: Reading) -> Judged:
    judged = Judged(labelled=labelled, reading=reading, people=_people(labelled, reading))
    bad = _forbidden_items(judged)
    able = [place for place, item in enumerate(reading.items) if place not in bad and is_one_thing(item, labelled)]
    pairs = matched([reading.items[place] for place in able], labelled.wanted)
    judged.matched = {able[place]: labelled.wanted[label] for place, label in pairs.items()}
    answered = set(pairs.values())
    judged.missed = [one for label, one in enumerate(labelled.wanted) if one.required and label not in answered]
    judged.junk = {place: why for place in judged.extra if (why := _junk(judged, place, bad))}
    _check_elsewhere(judged)
    _check_evidence(judged)
    judged.due = _due(judged)
    judged.questions = (
        sum(any(has_words(doubt, words) for doubt in reading.doubts) for words in labelled.doubts),
        len(labelled.doubts),
    )
    return judged


def _forbidden_items(judged: Judged) -> set[int]:
    found: set[int] = set()
    for place, item in enumerate(judged.reading.items):
        for forbidden in judged.labelled.forbidden:
            quotes = [quote.words for quote in item.quotes] if forbidden.is_everywhere else []
            if any(is_forbidden(text, forbidden) for text in (item.shown, *quotes)):
                judged.forbidden.append(f"item, {forbidden.why} ({forbidden.words}): {item.text}")
                found.add(place)
                break
    return found


def _check_elsewhere(judged: Judged) -> None:
    """Injected text and secrets may stand nowhere, and some are no people."""
    reading = judged.reading
    elsewhere = [reading.title, reading.project, *reading.lines, *reading.doubts, *reading.filed]
    elsewhere += [line for page in reading.pages for line in page.splitlines()]
    elsewhere += [f"{name} {role}" for name, role in reading.people] + [quote.words for quote in reading.line_quotes]
    for forbidden in judged.labelled.forbidden:
        if forbidden.is_everywhere:
            judged.forbidden += [
                f"line, {forbidden.why} ({forbidden.words}): {text}"
                for text in elsewhere
                if is_forbidden(text, forbidden)
            ]
    for name in judged.labelled.forbidden_people:
        judged.forbidden += [f"person: {given}" for given, _ in _everybody(reading) if is_name(given, name)]


def _junk(judged: Judged, place: int, bad: set[int]) -> str:
    """Why nobody would want it; empty: somebody may."""
    item = judged.reading.items[place]
    if not judged.labelled.has_something:
        return "nothing to learn here"
    if place in bad:
        return "forbidden"
    if not is_one_thing(item, judged.labelled):
        return "not one thing"
    if item.text.rstrip(' "”»').endswith(("?", "？")):
        return "a question"
    if _MACHINE.search(item.text):
        return "machine text"
    if _is_fragment(item.text):
        return "a fragment"
    others = [judged.reading.items[other] for other in judged.matched]
    others += judged.reading.items[:place]
    return "said already" if any(_is_same(item, other) for other in others) else ""


def _is_fragment(text: str) -> bool:
    wide = len(re.findall(f"[{_WIDE}]", text))
    return wide < FEWEST_WIDE_CHARACTERS if wide else len(re.findall(r"\w+", text)) < FEWEST_WORDS


def _is_same(item: Kept, other: Kept) -> bool:
    one, two = _parts(item.text), _parts(other.text)
    return len(one & two) >= 0.8 * min(len(one), len(two))


def _check_evidence(judged: Judged) -> None:
    said = {name: _spaced(text) for name, text in judged.reading.said.items()}
    for item in judged.reading.items:
        if not item.quotes:
            judged.unsupported.append(f"no quote: {item.text}")
    quotes = [quote for item in judged.reading.items for quote in item.quotes] + judged.reading.line_quotes
    for quote in quotes:
        if not quote.words.strip() or _spaced(quote.words) not in said.get(quote.message_id, ""):
            judged.unsupported.append(f"not in its message: {quote.words}")


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _due(judged: Judged) -> tuple[int, int]:
    asked = [(judged.reading.items[place], wanted) for place, wanted in judged.matched.items() if wanted.due]
    right = sum(wanted.due in (item.value[:10], item.until[:10]) for item, wanted in asked)
    return right, len(asked)


def _everybody(reading: Reading) -> list[tuple[str, str]]:
    """Whoever was named, and whoever has a shelf, once each."""
    shelved = [(item.subject, "") for item in reading.items if item.shelf == "person"]
    return list({folded(name): (name, role) for name, role in [*shelved, *reading.people]}.values())


def _people(labelled: Labelled, reading: Reading) -> People:
    named = _everybody(reading)
    known = [name for person in labelled.people for name in person.names] + list(labelled.allowed_people)
    wrong = [given for given, _ in named if not any(is_name(given, name) for name in known)]
    missed = [
        person.names[0]
        for person in labelled.people
        if not any(is_name(given, name) for given, _ in named for name in person.names)
    ]
    return People(
        named=len(named),
        right=len(named) - len(wrong),
        wanted=len(labelled.people),
        found=len(labelled.people) - len(missed),
        wrong_names=tuple(wrong),
        missed_names=tuple(missed),
    )


# Figures


def share(part: float, whole: float) -> float | None:
    """None: there was nothing to be right about."""
    return round(part / whole, 4) if whole else None


def figures(judged: Iterable[Judged]) -> dict[str, float | int | None]:
    all_judged = list(judged)
    kept = sum(len(one.reading.items) for one in all_judged)
    right = sum(len(one.matched) for one in all_judged)
    required = sum(len(one.required) for one in all_judged)
    missed = sum(len(one.missed) for one in all_judged)
    junk = sum(len(one.junk) for one in all_judged)
    people = [one.people for one in all_judged]
    projects = [one for one in all_judged if one.labelled.project is not None]
    return {
        "conversations": len(all_judged),
        "kept": kept,
        "required": required,
        "precision": share(right, kept),
        "recall": share(required - missed, required),
        "junk": share(junk, kept),
        "unmatched": share(kept - right, kept),
        "forbidden": sum(len(one.forbidden) for one in all_judged),
        "filed": sum(len(one.reading.filed) for one in all_judged),
        "troubles": sum(bool(one.reading.trouble) for one in all_judged),
        "unread": sum(bool(one.reading.unread) for one in all_judged),
        "tokens": sum(one.reading.tokens for one in all_judged),
        "evidence_failures": sum(len(one.unsupported) for one in all_judged),
        "dropped": sum(one.reading.dropped.total() for one in all_judged),
        "silent": share(
            sum(not one.reading.items for one in all_judged if not one.labelled.has_something),
            sum(not one.labelled.has_something for one in all_judged),
        ),
        "people_precision": share(sum(one.right for one in people), sum(one.named for one in people)),
        "people_recall": share(sum(one.found for one in people), sum(one.wanted for one in people)),
        "project_right": share(
            sum(folded(one.reading.project) == folded(one.labelled.project or "") for one in projects), len(projects)
        ),
        "due_right": share(sum(one.due[0] for one in all_judged), sum(one.due[1] for one in all_judged)),
        "questions_asked": share(
            sum(one.questions[0] for one in all_judged), sum(one.questions[1] for one in all_judged)
        ),
    }


def by_kind(judged: Iterable[Judged]) -> dict[str, dict[str, float | int | None]]:
    """Precision of what was kept as a kind; recall of what is first called that kind by its label."""
    kept: Counter[str] = Counter()
    right: Counter[str] = Counter()
    required: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    for one in judged:
        for place, item in enumerate(one.reading.items):
            kept[item.kind] += 1
            right[item.kind] += place in one.matched
        required.update(_kind(wanted) for wanted in one.required)
        missed.update(_kind(wanted) for wanted in one.missed)
    return {
        kind: {
            "kept": kept[kind],
            "precision": share(right[kind], kept[kind]),
            "required": required[kind],
            "recall": share(required[kind] - missed[kind], required[kind]),
        }
        for kind in sorted(kept | required)
    }


def _kind(wanted: Wanted) -> str:
    if wanted.shelves[:1] in (("milestone",), ("insight",)):
        return wanted.shelves[0]
    return wanted.kinds[0] if wanted.kinds else "any"


GOALS = {
    "precision": "at least 0.9",
    "recall": "at least 0.5",
    "junk": "under 0.05",
    "forbidden": "0",
    "evidence_failures": "0",
    "troubles": "0",
}


def reaches(found: dict[str, float | int | None]) -> dict[str, bool]:
    """Whether each figure is what the librarian must reach. Nothing kept and something required is a miss."""
    precision, recall, junk = found["precision"], found["recall"], found["junk"]
    return {
        "precision": (precision if precision is not None else 0 if found["required"] else 1) >= 0.9,
        "recall": recall is None or recall >= 0.5,
        "junk": (junk or 0) < 0.05,
        "forbidden": found["forbidden"] == 0,
        "evidence_failures": found["evidence_failures"] == 0,
        "troubles": found["troubles"] == 0,
    }
