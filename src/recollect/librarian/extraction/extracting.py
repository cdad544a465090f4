"""What a model finds in a conversation: part by part, each reply kept, so that nothing is asked twice.

Nothing that a model answers is believed here: the `Extract` says what it claims, and `evidence` looks at it. A part
that a model refuses is left out and counted; one whose answer is too long is halved. What cannot be helped is raised,
with the parts before it kept.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, cast

from recollect import tokens
from recollect.librarian.evidence.limits import MOST_LINES, MOST_QUOTES
from recollect.librarian.extraction.answers import extract_of, referred
from recollect.librarian.extraction.known import KNOWN_BUDGET_TOKENS, Known, shown
from recollect.librarian.extraction.splitting import Part, carried_tokens, cost, halved, split
from recollect.librarian.items import About, Doubt, EpisodeLine, Extract, Item, Mention, Turn
from recollect.librarian.prompts import extract as asked
from recollect.librarian.prompts.carry import carried
from recollect.librarian.reading import shortened
from recollect.lineage import folded
from recollect.llm import BadReply, ChatModel, CutOff, Refused, Usage

PART_BUDGET_TOKENS = 16_000
"""Of turns in one prompt. Most conversations are one part; a longer one is read with less care by small models."""
LEAST_OUTPUT_TOKENS, MOST_OUTPUT_TOKENS = 1_500, 6_000
"""An answer that is longer than what it is about repeats itself: as small models do, without an end."""
MOST_HALVINGS = 3
"""A part whose answer is cut off that often is left out and counted: its length is not the reason."""
MOST_REPLY_CHARACTERS = 1_000_000
"""A longer reply is no answer: it would hold a whole book."""
CUT_OFF = "cut off"
REFUSED = "refused"


class ReplyKeeper(Protocol):
    """Where replies about one conversation by one model are kept."""

    def find(self, part: int, prompt: str, fingerprint: str) -> str | None: ...

    def keep(self, part: int, prompt: str, fingerprint: str, text: str, usage: Usage) -> None: ...


async def extract(
    model: ChatModel,
    about: About,
    turns: Sequence[Turn],
    known: Sequence[Known],
    *,
    before: Sequence[Turn] = (),
    part_budget_tokens: int = PART_BUDGET_TOKENS,
    replies: ReplyKeeper,
) -> tuple[Extract, Usage]:
    """`before`: turns that were read already, and are only shown.

    All that the model claims to have found, and what it cost. Raises what `llm.model` names, save for CutOff and
    Refused, which are dealt with."""
    reading = _Reading(model, about, turns, known, part_budget_tokens, replies, before)
    return await reading.run()


def reader_of(model_name: str) -> str:
    """Who read, with the version of what it was asked."""
    return f"{model_name}/{asked.VERSION}"


def estimated_tokens(
    turns: Sequence[Turn], known: Sequence[Known], *, part_budget_tokens: int = PART_BUDGET_TOKENS
) -> tuple[int, int]:
    """Input and output, about: before anything is asked."""
    around = tokens.estimate(asked.SYSTEM) + tokens.estimate(json.dumps(asked.Answer.model_json_schema()))
    around += tokens.estimate(shown(known)) + 100
    given = answered = 0
    for part in split(shortened(turns), part_budget_tokens):
        said = tokens.estimate(asked.prompt(About(conversation_id=""), part, ""))
        given += around + said
        answered += min(max(said // 6, 400), 2_500)
    return given, answered


@dataclass(slots=True)
class _Kept:
    """One reply as it is kept: the answer, the records its references mean, or why there is none."""

    answer: asked.Answer | None = None
    refs: dict[str, str] = field(default_factory=dict[str, str])
    outcome: str = ""

    def text(self) -> str:
        answer = self.answer.model_dump(mode="json") if self.answer else None
        return json.dumps({"outcome": self.outcome, "refs": self.refs, "answer": answer}, ensure_ascii=False)

    @classmethod
    def read(cls, text: str) -> "_Kept | None":
        """None: it cannot be read, and is asked again."""
        try:
            found: object = json.loads(text)
            if not isinstance(found, Mapping):
                return None
            fields = cast(Mapping[str, Any], found)
            given = fields.get("answer")
            answer = asked.Answer.model_validate(given) if given is not None else None
            refs = {str(ref): str(name) for ref, name in dict(fields.get("refs") or {}).items()}
        except (ValueError, TypeError, RecursionError):
            return None
        return cls(answer=answer, refs=refs, outcome=str(fields.get("outcome") or ""))


class _Reading:
    def __init__(
        self,
        model: ChatModel,
        about: About,
        turns: Sequence[Turn],
        known: Sequence[Known],
        part_budget_tokens: int,
        replies: ReplyKeeper,
        before: Sequence[Turn] = (),
    ) -> None:
        self._before = shortened(before)
        self._model = model
        self._about = about
        self._turns = turns
        self._known = {one.ref: one for one in known}
        self._by_id = {one.record_id: one for one in known}
        self._shown = shown(known, min(KNOWN_BUDGET_TOKENS, part_budget_tokens // 3))
        self._budget = part_budget_tokens
        self._replies = replies
        self._usage = Usage()
        self._dropped = Counter[str]()

    async def run(self) -> tuple[Extract, Usage]:
        parts = split(shortened(self._turns), self._budget)
        if parts and self._before:
            parts[0] = replace(parts[0], repeated=tuple(self._before))
        found: list[Extract] = []
        carry = ""
        for number, part in enumerate(parts, 1):
            answers = await self._answers(replace(part, carried=carry), number, len(parts))
            found += [
                extract_of(one.answer, self._about, [*self._before, *self._turns], self._refs(one))
                for one in answers
                if one.answer
            ]
            last = next((one.answer.carry for one in reversed(answers) if one.answer), "")
            carry = carried(last, carried_tokens(self._budget)) if number < len(parts) else ""
        return self._joined(found), self._usage

    def _refs(self, kept: _Kept) -> dict[str, Known]:
        """The references of that reply, as far as their records are known now."""
        return {ref: self._by_id[name] for ref, name in kept.refs.items() if name in self._by_id}

    async def _answers(self, part: Part, number: int, of: int, halvings: int = 0) -> list[_Kept]:
        """Of the part, or of its halves where its answer was too long."""
        kept = await self._answer(part, number, of)
        halves = halved(part) if kept.outcome == CUT_OFF and halvings < MOST_HALVINGS else None
        if halves:
            return [one for half in halves for one in await self._answers(half, number, of, halvings + 1)]
        if kept.outcome:
            self._dropped[kept.outcome] += 1
        return [kept]

    async def _answer(self, part: Part, number: int, of: int) -> _Kept:
        fingerprint = fingerprint_of(part)
        text = self._replies.find(number, asked.VERSION, fingerprint)
        kept = _Kept.read(text) if text is not None else None
        if kept is None:
            kept, usage = await self._ask(part, number, of)
            self._usage += usage
            self._replies.keep(number, asked.VERSION, fingerprint, kept.text(), usage)
        return kept

    async def _ask(self, part: Part, number: int, of: int) -> tuple[_Kept, Usage]:
        prompt = asked.prompt(self._about, part, self._shown, number, of)
        try:
            reply = await self._model.complete(
                asked.SYSTEM, prompt, asked.Answer, most_output_tokens=_most_output_tokens(part)
            )
        except CutOff as error:
            return _Kept(outcome=CUT_OFF), error.usage
        except Refused as error:
            return _Kept(outcome=REFUSED), error.usage
        if len(reply.text) > MOST_REPLY_CHARACTERS:
            raise BadReply(
                f"{self._model.name} answered with {len(reply.text):,} characters, which is no answer to the question."
                " Another model may do better: see `model` in the settings.",
                reply.usage,
            )
        refs = {ref: one.record_id for ref, one in self._known.items() if ref in referred(reply.value)}
        return _Kept(answer=reply.value, refs=refs), reply.usage

    # The union of the parts

    def _joined(self, found: Sequence[Extract]) -> Extract:
        whole = Extract(reader=reader_of(self._model.name), dropped=self._dropped)
        for one in found:
            if one.title:
                whole.title, whole.title_quotes = one.title, one.title_quotes
            whole.project = one.project or whole.project
            whole.dropped.update(one.dropped)
        whole.items = _distinct_items([item for one in found for item in one.items])
        whole.lines = _spread([one.lines for one in found])
        whole.people = _distinct_people([person for one in found for person in one.people])
        doubts: dict[str, Doubt] = {}
        for doubt in (doubt for one in found for doubt in one.doubts):
            doubts.setdefault(folded(doubt.text), doubt)
        whole.doubts = list(doubts.values())
        return whole


def _most_output_tokens(part: Part) -> int:
    return min(max(sum(map(cost, part.turns)), LEAST_OUTPUT_TOKENS), MOST_OUTPUT_TOKENS)


def fingerprint_of(part: Part) -> str:
    """Of what was said in a part. What was on file then, and what was carried over, is no part of it: a conversation
    that is read again gives the same, whatever was learned since."""
    said = [(turn.number, turn.message_id, turn.text) for turn in (*part.repeated, *part.turns)]
    written = json.dumps([len(part.repeated), *said], ensure_ascii=True)
    return hashlib.sha256(written.encode()).hexdigest()[:32]


def _distinct_items(items: Sequence[Item]) -> list[Item]:
    """What two parts say, because its words stand in both, once."""
    found: dict[tuple[str, ...], Item] = {}
    for item in items:
        said = folded(item.value) if item.attribute and item.value else folded(item.text)
        key = (str(item.shelf), str(item.kind), folded(item.subject), folded(item.attribute), said)
        before = found.get(key)
        quotes = tuple(dict.fromkeys((*before.quotes, *item.quotes)))[:MOST_QUOTES] if before else item.quotes
        found[key] = replace(before or item, quotes=quotes)
    return list(found.values())


def _distinct_people(people: Sequence[Mention]) -> list[Mention]:
    found: dict[str, Mention] = {}
    for person in people:
        before = found.get(folded(person.name))
        if before is None:
            found[folded(person.name)] = person
        elif not before.role and person.role:
            quotes = tuple(dict.fromkeys((*before.quotes, *person.quotes)))[:MOST_QUOTES]
            found[folded(person.name)] = replace(before, role=person.role, quotes=quotes)
    return list(found.values())


def _spread(lines: Sequence[Sequence[EpisodeLine]]) -> list[EpisodeLine]:
    """As many of each part as there is room for: its first ones, and at the end of the last its last."""
    parts = [part for part in lines if part]
    if sum(map(len, parts)) <= MOST_LINES:
        return [line for part in parts for line in part]
    each = max(MOST_LINES // len(parts), 1)
    step = max(len(parts) / MOST_LINES, 1.0)
    chosen = sorted({int(at * step) for at in range(min(len(parts), MOST_LINES))} | {len(parts) - 1})[-MOST_LINES:]
    found = [line for at in chosen[:-1] for line in parts[at][:each]]
    return [*found, *parts[-1][-each:]][-MOST_LINES:]
