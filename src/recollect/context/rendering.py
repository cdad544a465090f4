"""The context that a state is of: its sections and their blocks."""

from collections.abc import Sequence

from recollect.context.blocks import Context, Section
from recollect.context.calibration import Calibration
from recollect.context.pipelines import HISTORY, TRIGGER, Pipeline
from recollect.context.state import Item, Kind, Reason, State


def counted(state: State) -> Calibration:
    """How its tokens are counted, from the time at which it began to the next."""
    return Calibration(tokens=state.tokens, per_bytes=state.per_bytes)


def context_of(state: State, pipeline: Pipeline, reason: Reason | None = None) -> Context:
    """The context that a state is of."""
    estimate = counted(state).estimate
    sections = [
        Section(name=section.name, text=section.text, tokens=estimate(section.text), is_frozen=True)
        for section in state.frozen
    ]
    is_triggered = bool(state.items) and state.items[-1].kind is Kind.TRIGGER and state.items[-1].turn == state.turn
    growing, last = (state.items[:-1], state.items[-1:]) if is_triggered else (state.items, [])
    for source, name, items in ((HISTORY, "changes", growing), (TRIGGER, "trigger", last)):
        if items:
            spec = pipeline.the(source)
            blocks = _blocks(items)
            text = "".join(blocks)
            named = spec.name if spec else name
            said = sum(item.kind is Kind.MESSAGE for item in items)
            sections.append(Section(name=named, text=text, tokens=estimate(text), documents=said, blocks=tuple(blocks)))
    return Context(
        sections=sections,
        left_out=state.left_out + sum(section.left_out for section in state.frozen),
        budget_tokens=pipeline.budget_tokens,
        reason=str(reason or ""),
        added="".join(item.text for item in state.items if item.turn == state.turn),
    )


def _blocks(items: Sequence[Item]) -> list[str]:
    """What came with one context stays together, its trigger apart: so no end of a block ever moves."""
    blocks: list[str] = []
    key: tuple[int, bool] | None = None
    for item in items:
        of_item = item.turn, item.kind is Kind.TRIGGER
        if of_item == key:
            blocks[-1] += item.text
        else:
            blocks.append(item.text)
        key = of_item
    return blocks
