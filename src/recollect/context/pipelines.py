"""Pipelines: which sections a context has, in which order, under which headings and inside which budgets. Data.

What changes seldom comes first and is frozen; what grows comes after it; what is of this moment comes last. So every
pipeline ends with its history, if it has one, then with what is said about the moment, then with the trigger. An order
in which something frozen stood behind something that grows is refused: no byte behind it could be cached.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from recollect.errors import Invalid, NotFound
from recollect.notes import paths
from recollect.settings import CONFIG_NAME, PipelineSettings, SectionSettings, Settings

SYSTEM, BOARD, LEARNINGS, HISTORY, AWARENESS, TRIGGER = (
    "system",
    "board",
    "learnings",
    "history",
    "awareness",
    "trigger",
)
NOTE, TEXT = "note:", "text:"
SOURCES = (SYSTEM, BOARD, LEARNINGS, HISTORY, AWARENESS, TRIGGER, f"{NOTE}NAME", f"{TEXT}WORDS")
MOVING = (HISTORY, AWARENESS, TRIGGER)
"""They are not frozen, and come last, in this order."""
UNTRIMMED = frozenset({AWARENESS, TRIGGER})

CONVERSATION, HEARTBEAT, REHYDRATION = "conversation", "heartbeat", "rehydration"
OUTREACH = "outreach"
"""Of the light decision whether to write first: who the agent is, how things stand, and nothing else."""
MIND = "mind"
"""Not one of its own: what is frozen in a conversation."""
MESSAGES = 50
"""How many of the latest are shown at least, where there are so many. They grow to twice this, then half of them go."""
MOST_MESSAGES = 1_000
MOST_TOKENS = 10_000_000
MOST_SECTIONS = 50
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionSpec:
    name: str
    source: str
    heading: str = ""
    """Empty: none. Of a trigger: who speaks; empty: the user."""
    budget_tokens: int = 0
    """0: as much as the pipeline has left; of what is frozen, three quarters of that, so that something can grow."""
    order: int = 0
    keep: Literal["start", "end"] = "start"
    """Which end of it is worth more when it does not fit."""
    messages: int = MESSAGES
    """Of a history."""

    @property
    def is_frozen(self) -> bool:
        return self.source not in MOVING

    @property
    def note(self) -> str:
        """The note it shows; empty when it shows none."""
        return self.source.removeprefix(NOTE) if self.source.startswith(NOTE) else ""

    @property
    def words(self) -> str:
        return self.source.removeprefix(TEXT) if self.source.startswith(TEXT) else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    name: str
    budget_tokens: int
    sections: tuple[SectionSpec, ...]

    def the(self, source: str) -> SectionSpec | None:
        """Its section of this source."""
        return next((section for section in self.sections if section.source == source), None)

    @property
    def frozen(self) -> list[SectionSpec]:
        return [section for section in self.sections if section.is_frozen]

    def within(self, budget_tokens: int) -> "Pipeline":
        """The same in another room: each section has the same share of it."""
        if budget_tokens < 1:
            raise Invalid(f"A budget of {budget_tokens:,} tokens holds nothing. The usual is {self.budget_tokens:,}.")
        sections = [
            replace(section, budget_tokens=max(section.budget_tokens * budget_tokens // self.budget_tokens, 1))
            if section.budget_tokens
            else section
            for section in self.sections
        ]
        return replace(self, budget_tokens=budget_tokens, sections=tuple(sections))


_HEAD = (
    SectionSpec(name="system", source=SYSTEM, budget_tokens=14_000, order=10),
    SectionSpec(name="soul", source=f"{NOTE}{paths.SOUL}", heading="Your Personality", budget_tokens=3_000, order=20),
    SectionSpec(name="user", source=f"{NOTE}{paths.USER}", heading="About the User", budget_tokens=3_000, order=30),
    SectionSpec(name="board", source=BOARD, heading="Status Board", budget_tokens=1_000, order=40),
)
_TRIGGER = SectionSpec(name="trigger", source=TRIGGER, order=100)

DEFAULTS = {
    pipeline.name: pipeline
    for pipeline in (
        Pipeline(
            name=CONVERSATION,
            budget_tokens=48_000,
            sections=(
                *_HEAD,
                SectionSpec(name="history", source=HISTORY, heading="Recent History", budget_tokens=24_000, order=80),
                _TRIGGER,
            ),
        ),
        Pipeline(name=HEARTBEAT, budget_tokens=24_000, sections=(*_HEAD, replace(_TRIGGER, heading="Heartbeat"))),
        Pipeline(
            name=OUTREACH,
            budget_tokens=8_000,
            sections=(
                SectionSpec(
                    name="identity",
                    source=f"{NOTE}{paths.IDENTITY}",
                    heading="Your Identity",
                    budget_tokens=800,
                    order=10,
                ),
                SectionSpec(
                    name="soul", source=f"{NOTE}{paths.SOUL}", heading="Your Personality", budget_tokens=1_500, order=20
                ),
                SectionSpec(
                    name="user", source=f"{NOTE}{paths.USER}", heading="About the User", budget_tokens=1_500, order=30
                ),
                SectionSpec(
                    name="status", source=f"{NOTE}{paths.STATUS}", heading="Your Status", budget_tokens=800, order=40
                ),
                SectionSpec(name="board", source=BOARD, heading="Status Board", budget_tokens=800, order=50),
                SectionSpec(name="awareness", source=AWARENESS, order=90),
                replace(_TRIGGER, heading="Heartbeat"),
            ),
        ),
        Pipeline(
            name=REHYDRATION,
            budget_tokens=2_000,
            sections=(SectionSpec(name="learnings", source=LEARNINGS, order=10),),
        ),
    )
}


def pipelines(settings: Settings) -> dict[str, Pipeline]:
    """All there are: the usual ones, as `recollect.toml` changes them, and its own."""
    found = dict(DEFAULTS)
    for name, given in settings.pipelines.items():
        if name == REHYDRATION:
            raise Invalid(
                f"{CONFIG_NAME}: the pipeline {name!r} is as it is. "
                f"Give one of another name a section with the source {LEARNINGS!r}."
            )
        found[name] = _configured(name, given)
    return found


def pipeline_named(settings: Settings, name: str) -> Pipeline:
    found = pipelines(settings)
    if name not in found:
        raise NotFound(f"No pipeline is called {name[:100]!r}. There are: {', '.join(found)}.")
    return found[name]


def _configured(name: str, given: PipelineSettings) -> Pipeline:
    usual = DEFAULTS.get(name)
    sections = {section.name: section for section in usual.sections} if usual else {}
    named: set[str] = set()
    for place, section in enumerate(given.sections):
        where = f"pipeline {name!r}, section {section.name!r}"
        if section.name in named:
            raise Invalid(f"{CONFIG_NAME}: {where} is there twice. A name tells one section from another.")
        named.add(section.name)
        if section.shown:
            sections[section.name] = _section(where, section, sections.get(section.name), 10 * (place + 1))
        elif not sections.pop(section.name, None):
            raise Invalid(f"{CONFIG_NAME}: {where} is not there without it: it cannot be left out.")
    budget = given.budget_tokens
    if budget is None:
        budget = usual.budget_tokens if usual else DEFAULTS[CONVERSATION].budget_tokens
    try:
        return checked(Pipeline(name=name, budget_tokens=budget, sections=tuple(sections.values())))
    except Invalid as error:
        raise Invalid(f"{CONFIG_NAME}: {error}") from error


def _section(where: str, given: SectionSettings, usual: SectionSpec | None, order: int) -> SectionSpec:
    values: dict[str, Any] = {
        name: value
        for name in ("source", "heading", "budget_tokens", "order", "keep", "messages")
        if (value := getattr(given, name)) is not None
    }
    if usual:
        return replace(usual, **values)
    if "source" not in values:
        raise Invalid(f"{CONFIG_NAME}: {where} needs a source: {', '.join(SOURCES)}.")
    if "order" not in values and values["source"] in MOVING:
        values["order"] = 1_000_000 + MOVING.index(values["source"])
    values.setdefault("order", order)
    return SectionSpec(name=given.name, **values)


def checked(pipeline: Pipeline) -> Pipeline:
    """Its sections in their order. Invalid, naming the section and what is wrong, where they cannot be built."""
    _check_name("A pipeline", pipeline.name)
    where = f"pipeline {pipeline.name!r}"
    if not 1 <= pipeline.budget_tokens <= MOST_TOKENS:
        raise Invalid(f"{where} has a budget of {pipeline.budget_tokens:,} tokens: give from 1 to {MOST_TOKENS:,}.")
    if not 1 <= len(pipeline.sections) <= MOST_SECTIONS:
        raise Invalid(f"{where} has {len(pipeline.sections)} sections: give from 1 to {MOST_SECTIONS}.")
    for section in pipeline.sections:
        _check_section(f"{where}, section {section.name!r}", section)
    ordered = sorted(pipeline.sections, key=lambda section: section.order)
    _check_order(where, ordered)
    return replace(pipeline, sections=tuple(ordered))


def _check_name(what: str, name: str) -> None:
    if not _NAME.fullmatch(name):
        raise Invalid(f"{what} cannot be called {name[:100]!r}: use lower-case letters, digits and '-', 40 at most.")


def _check_section(where: str, section: SectionSpec) -> None:
    _check_name(f"{where}: a section", section.name)
    if section.note:
        try:
            paths.checked(section.note)
        except Invalid as error:
            raise Invalid(f"{where}: {error}") from error
    elif not section.words.strip() and section.source not in (SYSTEM, BOARD, LEARNINGS, *MOVING):
        raise Invalid(f"{where}: no source is called {section.source[:100]!r}. Known: {', '.join(SOURCES)}.")
    if not 0 <= section.budget_tokens <= MOST_TOKENS:
        raise Invalid(f"{where}: its budget is {section.budget_tokens:,} tokens; give from 0 to {MOST_TOKENS:,}.")
    if section.budget_tokens and section.source in UNTRIMMED:
        raise Invalid(f"{where}: a {section.source} is never trimmed, so it has no budget of its own.")
    if section.keep not in ("start", "end"):
        raise Invalid(f"{where}: 'keep' is {section.keep[:100]!r}; it may be 'start' or 'end'.")
    if not 1 <= section.messages <= MOST_MESSAGES:
        raise Invalid(f"{where}: {section.messages:,} messages cannot be shown; from 1 to {MOST_MESSAGES:,} can.")
    if "\n" in section.heading or not section.heading.isprintable():
        raise Invalid(f"{where}: its heading must be one line of printable characters.")


def _check_order(where: str, ordered: Sequence[SectionSpec]) -> None:
    for name in (section.name for section in ordered):
        if sum(section.name == name for section in ordered) > 1:
            raise Invalid(f"{where}: two sections are called {name!r}. A name tells one from another.")
    for source in (SYSTEM, BOARD, LEARNINGS, *MOVING):
        if sum(section.source == source for section in ordered) > 1:
            raise Invalid(f"{where}: two sections show the {source}. One can.")
    sources = [section.source for section in ordered]
    if AWARENESS in sources and TRIGGER not in sources:
        raise Invalid(f"{where}: {AWARENESS} goes with a trigger. Give it a section with the source {TRIGGER!r}.")
    rank = [(*MOVING,).index(section.source) + 1 if not section.is_frozen else 0 for section in ordered]
    if rank != sorted(rank):
        moving = next(section for place, section in enumerate(ordered) if rank[place] > min(rank[place:]))
        raise Invalid(
            f"{where}, section {moving.name!r}: its order {moving.order} puts it before others that stay the same. "
            f"What grows comes after them: {', then '.join(MOVING)} last."
        )
