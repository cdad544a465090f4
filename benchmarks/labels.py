"""Conversations with labels: what a librarian is to keep of each, what it may keep and what it must not.

`docs/librarian-sets.md` describes the format. Values and loading only; `scoring.py` compares, `librarian.py` runs.

No file of a set holds anything that looks like a credential: `{{secret:KIND}}` becomes one when it is loaded, the same
each time, and each is forbidden everywhere without a label saying so.
"""

import json
import random
import re
import string
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

AUTHORS = ("user", "assistant", "tool", "machine")
STEP = timedelta(seconds=40)
"""Between two turns that do not say how long it took."""
EVERYWHERE = frozenset({"injected", "secret"})
"""What is forbidden for these reasons may stand in no line, title or quote either; the rest only in no item."""
_TEMPLATE = re.compile(r"\{\{secret:(\w+)\}\}")


class BadLabels(Exception):
    """A file of a set cannot be used; the message names it and what is wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Groups of alternatives; a text has them when it has one of each group."""

    groups: tuple[tuple[str, ...], ...]

    def __str__(self) -> str:
        return ", ".join("|".join(group) for group in self.groups)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One turn."""

    author: str
    text: str
    calls: tuple[str, ...] = ()
    """`Name: what it was given`."""
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """An item that is to be found, or may be. An empty field is not looked at."""

    words: Words
    required: bool
    kinds: tuple[str, ...] = ()
    shelves: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    value: Words | None = None
    due: str = ""
    """The day of a commitment, YYYY-MM-DD. Reported beside the rest; an item without it still matches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forbidden:
    words: Words
    why: str
    unless: Words | None = None
    """A text that has these too is not what is meant."""

    @property
    def is_everywhere(self) -> bool:
        return self.why in EVERYWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    names: tuple[str, ...]
    roles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """One conversation."""

    id: str
    voice: str
    language: str
    folder: str
    turns: tuple[Said, ...]
    wanted: tuple[Wanted, ...]
    forbidden: tuple[Forbidden, ...]
    project: str | None
    """None: not judged."""
    people: tuple[Person, ...]
    allowed_people: tuple[str, ...]
    forbidden_people: tuple[str, ...]
    doubts: tuple[Words, ...]

    @property
    def has_something(self) -> bool:
        """Whether there is anything to learn from it."""
        return bool(self.wanted)


def load(folder: Path) -> list[Labelled]:
    """Every conversation below a folder, or of one file, in the order of their ids."""
    if not folder.exists():
        raise BadLabels(f"{folder} is not there. Name a folder of labelled conversations.")
    files = [folder] if folder.is_file() else sorted(folder.rglob("*"))
    found = [one for path in files for one in _conversations(path)]
    if not found:
        raise BadLabels(f"{folder} has no labelled conversations: no *.toml, *.json or *.jsonl.")
    ids = [one.id for one in found]
    twice = {name for name in ids if ids.count(name) > 1}
    if twice:
        raise BadLabels(f"{folder}: more than one conversation is called {', '.join(sorted(twice))}.")
    return sorted(found, key=lambda one: one.id)


def _conversations(path: Path) -> Iterator[Labelled]:
    for value in _values(path):
        try:
            yield conversation(value)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise BadLabels(f"{path}: {type(error).__name__}: {error}") from error


def _values(path: Path) -> Iterator[dict[str, Any]]:
    try:
        if path.suffix == ".toml":
            yield tomllib.loads(path.read_text(encoding="utf-8"))
        elif path.suffix == ".json":
            yield json.loads(path.read_text(encoding="utf-8"))
        elif path.suffix == ".jsonl":
            yield from map(json.loads, filter(str.strip, path.read_text(encoding="utf-8").splitlines()))
    except ValueError as error:
        raise BadLabels(f"{path} cannot be read: {error}") from error


FIELDS = frozenset(
    {"id", "voice", "language", "folder", "started", "turn", "note"}
    | {"expect", "allow", "forbid", "doubt", "project", "people", "allowed_people", "forbidden_people"}
)
WANTED_FIELDS = frozenset({"words", "kind", "shelf", "subject", "value", "due", "note"})
FORBIDDEN_FIELDS = frozenset({"words", "why", "unless", "note"})
TURN_FIELDS = frozenset({*AUTHORS, "calls", "after_minutes"})


def conversation(value: dict[str, Any]) -> Labelled:
    """One conversation of plain values, as TOML or JSON gives them."""
    _only(value, FIELDS)
    secrets: dict[str, str] = {}
    turns = tuple(_turns(value, secrets))
    forbidden = [_forbidden(one) for one in value.get("forbid", ())]
    forbidden += [Forbidden(words=Words(groups=((made,),)), why="secret") for made in secrets.values()]
    wanted = [_wanted(one, required=True) for one in value.get("expect", ())]
    wanted += [_wanted(one, required=False) for one in value.get("allow", ())]
    people = tuple(_person(one) for one in value.get("people", ()))
    wanted += [_role(person) for person in people if person.roles and not _is_labelled(person, wanted)]
    return Labelled(
        id=value["id"],
        voice=value["voice"],
        language=value.get("language", "en"),
        folder=value.get("folder", ""),
        turns=turns,
        wanted=tuple(wanted),
        forbidden=tuple(forbidden),
        project=value.get("project"),
        people=people,
        allowed_people=tuple(value.get("allowed_people", ())),
        forbidden_people=tuple(value.get("forbidden_people", ())),
        doubts=tuple(words(one["words"]) for one in value.get("doubt", ())),
    )


def words(groups: list[str]) -> Words:
    if not groups or not all(group.strip("| ") for group in groups):
        raise ValueError("`words` needs at least one word")
    return Words(groups=tuple(_alternatives(group) for group in groups))


def _turns(value: dict[str, Any], secrets: dict[str, str]) -> Iterator[Said]:
    at = _moment(value["started"])
    for turn in value["turn"]:
        _only(turn, TURN_FIELDS)
        author = next((name for name in AUTHORS if name in turn), "assistant" if "calls" in turn else "")
        if not author:
            raise ValueError(f"a turn needs one of {', '.join(AUTHORS)}")
        at += timedelta(minutes=turn["after_minutes"]) if "after_minutes" in turn else STEP
        text = _TEMPLATE.sub(lambda found: _secret(found[1], value["id"], secrets), turn.get(author, ""))
        yield Said(author=author, text=text.strip("\n"), calls=tuple(turn.get("calls", ())), at=at)


def _moment(given: Any) -> datetime:
    at = datetime.fromisoformat(given) if isinstance(given, str) else given
    return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)


def _wanted(value: dict[str, Any], *, required: bool) -> Wanted:
    _only(value, WANTED_FIELDS)
    return Wanted(
        words=words(value["words"]),
        required=required,
        kinds=_alternatives(value.get("kind", "")),
        shelves=_alternatives(value.get("shelf", "")),
        subjects=_alternatives(value.get("subject", "")),
        value=words([value["value"]]) if "value" in value else None,
        due=value.get("due", ""),
    )


def _forbidden(value: dict[str, Any]) -> Forbidden:
    _only(value, FORBIDDEN_FIELDS)
    unless = words([value["unless"]]) if "unless" in value else None
    return Forbidden(words=words(value["words"]), why=value["why"], unless=unless)


def _person(value: dict[str, Any]) -> Person:
    _only(value, {"name", "role"})
    return Person(names=_alternatives(value["name"]), roles=_alternatives(value.get("role", "")))


def _role(person: Person) -> Wanted:
    """Who somebody is may always be kept."""
    kinds, shelves = ("fact", "association"), ("person",)
    return Wanted(
        words=Words(groups=(person.roles,)), required=False, kinds=kinds, shelves=shelves, subjects=person.names
    )


def _is_labelled(person: Person, wanted: list[Wanted]) -> bool:
    return any(
        set(person.roles) & set(group) and set(person.names) & set(one.subjects)
        for one in wanted
        for group in one.words.groups
    )


def _alternatives(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split("|") if part.strip())


def _only(value: dict[str, Any], known: frozenset[str] | set[str]) -> None:
    """A misspelt label would not be looked at, and the set would be easier than its author thinks."""
    unknown = value.keys() - known
    if unknown:
        raise ValueError(f"unknown: {', '.join(sorted(unknown))}. Known: {', '.join(sorted(known))}")


_SHAPES = {
    "anthropic": ("sk-" + "ant-", 60),
    "openai": ("sk-" + "proj-", 48),
    "github": ("gh" + "p_", 36),
    "slack": ("xox" + "b-", 40),
    "aws": ("AK" + "IA", 16),
    "stripe": ("sk_" + "live_", 24),
    "password": ("", 18),
}


SECRETS = ("phrase", *_SHAPES)


def _secret(kind: str, seed: str, made: dict[str, str]) -> str:
    """The same for the same conversation. `phrase`: as people choose a password; no rule tells it by its form."""
    if kind not in made:
        chance = random.Random(f"{seed} {kind}")
        if kind == "phrase":
            parts = ["".join(chance.choices("bdfgklmnprst", k=1) + chance.choices("aeiou", k=1)) for _ in range(6)]
            made[kind] = f"{''.join(parts[:3]).title()}-{''.join(parts[3:])}-{chance.randrange(100, 999)}"
        elif kind in _SHAPES:
            prefix, length = _SHAPES[kind]
            letters = string.ascii_uppercase + "234567" if kind == "aws" else string.ascii_letters + string.digits
            made[kind] = prefix + "".join(chance.choices(letters, k=length))
        else:
            raise ValueError(f"no such secret: {kind}. Known: {', '.join(SECRETS)}")
    return made[kind]
