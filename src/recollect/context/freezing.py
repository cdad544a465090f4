"""The sections that are made once and then stay: each from its source, inside its budget."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from recollect import redaction, tokens
from recollect.context.blocks import readable
from recollect.context.board import MOST_COMMITMENTS, Live, board_text
from recollect.context.pipelines import BOARD, LEARNINGS, SYSTEM, Pipeline, SectionSpec
from recollect.context.state import Frozen, Seen
from recollect.context.system_prompt import Surroundings, note_block, system_prompt
from recollect.context.trimming import Estimate, trimmed
from recollect.knowledge.records import Record
from recollect.scopes import ScopeKind, ScopeStore, sight_of

if TYPE_CHECKING:
    from recollect.context.building import Readers

KEPT_FREE = 4
"""One part in so many of a budget is left to what grows by a section without a budget of its own."""
_MEASURE = "x" * 3_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What they are made of."""

    readers: "Readers"
    around: Surroundings
    standing: Live
    notes: Mapping[str, Seen]
    estimate: Estimate


def frozen_sections(pipeline: Pipeline, room_tokens: int, material: Material) -> list[Frozen]:
    """In their order; those that are empty are left out. Inside the room, save that the fixed part of a system prompt
    always stands. One without a budget leaves something for what grows."""
    made: list[Frozen] = []
    for spec in pipeline.frozen:
        left = max(room_tokens - sum(material.estimate(section.text) for section in made), 0)
        unasked = max(left - pipeline.budget_tokens // KEPT_FREE, 0)
        made.append(_section(spec, min(spec.budget_tokens, left) if spec.budget_tokens else unasked, material))
    return [section for section in made if section.text]


def _section(spec: SectionSpec, budget_tokens: int, material: Material) -> Frozen:
    if spec.source == SYSTEM:
        return system_prompt(
            spec.name, material.around, material.notes, material.standing.now, budget_tokens, material.estimate
        )
    heading = f"# {spec.heading}\n\n" if spec.heading else ""
    room = max(budget_tokens - material.estimate(f"{heading}\n"), 0)
    made = _content(spec, room, material)
    return msgspec.structs.replace(made, text=f"{heading}{made.text}\n" if made.text.strip() else "")


def _content(spec: SectionSpec, room_tokens: int, material: Material) -> Frozen:
    """What stands below its heading."""
    readers, estimate = material.readers, material.estimate
    if spec.source == LEARNINGS:
        general = room_tokens * tokens.estimate(_MEASURE) // estimate(_MEASURE)  # It counts without calibration.
        known = readers.rehydration.context(max(general, 1), "", 0)
        return Frozen(name=spec.name, text=known.text, left_out=known.left_out, records=list(known.records))
    if spec.note:
        seen = material.notes.get(spec.note, Seen())
        text, left_out = note_block(seen, room_tokens, keep_end=spec.keep == "end", estimate=estimate)
        return Frozen(name=spec.name, text=text, left_out=left_out)
    words, promised = redaction.mask(spec.words), list[Record]()
    if spec.source == BOARD:
        promised = readers.knowledge.open_commitments(MOST_COMMITMENTS + 1)
        words = board_text(agents(readers), material.standing, promised)
    cut = trimmed(f"{readable(words).strip()}\n", room_tokens, keep=spec.keep, name=spec.name, estimate=estimate)
    records = [record.id for record in promised]
    return Frozen(name=spec.name, text=cut.text, left_out=cut.left_out_paragraphs, records=records)


def agents(readers: "Readers") -> list[str]:
    """Those that the agent may know of: itself, and who stands above it."""
    with readers.database.read() as session:
        sight = sight_of(session, readers.house, readers.principal)
        every = ScopeStore(session, readers.house).every()
    own = readers.principal.scope.partition("/")[0]
    names = [scope.id for scope in every if scope.kind is ScopeKind.AGENT and sight.sees(scope.id)]
    return [f"{name} (you)" if name == own else name for name in names]
