"""What is on file already, as a model is shown it: by short references, inside a budget."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from recollect import tokens
from recollect.context.blocks import escaped
from recollect.knowledge import Kind
from recollect.librarian.evidence.support import COMMON, Vocabulary
from recollect.librarian.items import Item
from recollect.lineage import folded

KNOWN_BUDGET_TOKENS = 3_000
BY_THE_PERSON = "written by the person"


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A record that a conversation could touch."""

    ref: str
    """k1, k2 …: what a model calls it."""
    record_id: str
    kind: Kind
    subject: str
    attribute: str
    value: str
    text: str
    is_human: bool
    """A person wrote or confirmed it: it is proposed to them to change it, and not done."""


def shown(known: Sequence[Known], budget_tokens: int = KNOWN_BUDGET_TOKENS) -> str:
    """One line each, as many of the first as fit. Empty: nothing is known, or nothing fits."""
    lines: list[str] = []
    left = budget_tokens
    for one in known:
        line = _line(one)
        left -= tokens.estimate(line)
        if left < 0:
            break
        lines.append(line)
    return "".join(lines)


def _line(known: Known) -> str:
    about = " / ".join(filter(None, (known.subject, known.attribute)))
    note = f" ({BY_THE_PERSON})" if known.is_human else ""
    return f"{known.ref} [{known.kind}] {escaped(about)}: {escaped(known.text)}{note}\n"


def names_in(known: Iterable[Known]) -> tuple[str, ...]:
    """Subjects that a model may name because it was shown them."""
    return tuple(dict.fromkeys(one.subject for one in known if one.subject))


def may_touch(item: Item, known: Known) -> bool:
    """Whether an item can be the same as a record, refine or replace it: it is about the same subject, and the same
    attribute or at least in part the same words. A model that mixes up two references changes nothing."""
    if folded(item.subject) != folded(known.subject):
        return False
    if item.attribute and folded(item.attribute) == folded(known.attribute):
        return True
    said = Vocabulary.of(known.text, known.value, known.attribute)
    telling = Vocabulary.of(item.text, item.value, item.attribute)
    return any(said.has(word) for word in telling.words - COMMON if len(word) > 2) or bool(said.pairs & telling.pairs)
