"""forget: asks first, in whichever way the client has, and erases nothing on a first call.

What would go is looked up, and told. A client that can ask the person does; for another there is a confirmation, good
for a while, for who asked, and for exactly what was told. What was told is compared in the transaction that erases: if
anything else would go by now, nothing does.
"""

import base64
import hashlib
import hmac
import secrets
import shlex
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec

from recollect.errors import Invalid
from recollect.mind.tool_results import one_line, time_text
from recollect.notes.paths import ROOT, below_root
from recollect.scopes import Principal
from recollect.surfaces.mcp.advice import for_this_home
from recollect.surfaces.mcp.answers import Answer
from recollect.surfaces.mcp.arguments import MOST_NAME_CHARACTERS, Arguments
from recollect.surfaces.mcp.specs import FORGET_KINDS, PERSON_FORGET_KINDS

if TYPE_CHECKING:
    from recollect.forgetting import Forgotten
    from recollect.memory import Memory

GOOD_SECONDS = 600
"""For a person to read what would go, and to decide."""
MOST_SHOWN = 10
"""Of each kind of thing that would go."""
LINE_CHARACTERS = 160
MAC_BYTES = 16
TIME_BYTES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    kind: str
    name: str
    with_sources: bool

    def arguments(self) -> dict[str, Any]:
        return {self.kind: self.name, "with_sources": self.with_sources}

    def command(self) -> str:
        """By which a person does the same."""
        option = [] if self.kind == "record" else [f"--{self.kind}"]
        sources = ["--with-sources"] if self.with_sources else []
        return shlex.join(["recollect", "forget", *option, self.name, *sources])


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What would go."""

    target: Target
    digest: str
    """Equal while the same is asked for, and the same would go."""
    as_told: str
    """Of what would go alone: compared once more when it goes."""
    removed: dict[str, int]
    text: str


def new_key() -> bytes:
    return secrets.token_bytes(32)


class Confirmations:
    """Made and read by one process; nothing is kept of them."""

    def __init__(self) -> None:
        self._key = new_key()

    def give(self, principal: Principal, digest: str, now: datetime) -> str:
        until = int(now.timestamp()) + GOOD_SECONDS
        stamp = until.to_bytes(TIME_BYTES)
        return base64.urlsafe_b64encode(stamp + self._mac(principal, digest, stamp)).decode()

    def is_good(self, given: str, principal: Principal, digest: str, now: datetime) -> bool:
        try:
            content = base64.b64decode(given, altchars=b"-_", validate=True)
        except ValueError:
            return False
        stamp, mac = content[:TIME_BYTES], content[TIME_BYTES:]
        is_ours = hmac.compare_digest(mac, self._mac(principal, digest, stamp))
        return is_ours and now.timestamp() < int.from_bytes(stamp)

    def _mac(self, principal: Principal, digest: str, stamp: bytes) -> bytes:
        about = msgspec.json.encode([identity_of(principal), digest])
        return hmac.digest(self._key, about + stamp, "sha256")[:MAC_BYTES]


def identity_of(principal: Principal) -> str:
    """Who asks, for who keeps two apart."""
    return msgspec.json.encode([str(principal.actor), principal.name, principal.scope, principal.may_write]).decode()


def planned(memory: "Memory", given: Arguments) -> Plan:
    is_person = not memory.principal.is_confined
    target = Target(
        kind=given.choice("kind", PERSON_FORGET_KINDS if is_person else FORGET_KINDS),
        name=given.text("id", most=MOST_NAME_CHARACTERS),
        with_sources=is_person and given.flag("with_sources"),
    )
    if target.kind == "note":
        target = replace(target, name=below_root(target.name))
        if not target.name:
            raise Invalid(f"Notes are forgotten one by one, each by its path, such as {ROOT}/garden.md.")
    return plan_of(memory, target)


def plan_of(memory: "Memory", target: Target) -> Plan:
    would = memory.forget(**target.arguments(), dry_run=True)
    content = msgspec.json.encode([target.kind, target.name, target.with_sources, would.digest])
    return Plan(
        target=target,
        digest=hashlib.sha256(content).hexdigest(),
        as_told=would.digest,
        removed=_counts(would),
        text=_plan_text(memory, would),
    )


def confirmed(memory: "Memory", given: Arguments, plan: Plan, confirmations: Confirmations) -> Answer | None:
    """Erased, where a good confirmation was given. None: none was given."""
    confirmation = given.text("confirmation", "", MOST_NAME_CHARACTERS)
    if not confirmation:
        return None
    if not confirmations.is_good(confirmation, memory.principal, plan.digest, memory.clock()):
        raise Invalid(
            "This confirmation is not good, or not any more, for what would go now. Nothing was forgotten. The same "
            "call without a confirmation tells what would go and gives another."
        )
    return erased(memory, plan)


def unconfirmed(memory: "Memory", plan: Plan, confirmations: Confirmations) -> Answer:
    """For a client that cannot ask its person."""
    confirmation = confirmations.give(memory.principal, plan.digest, memory.clock())
    return Answer(
        text=f"Nothing is forgotten yet.\n{plan.text}\nIt cannot be brought back. Whose it is can be shown this.",
        structured={"outcome": "asked", "removed": {}, "would_remove": plan.removed, "would_go": plan.text},
        footer=f'[The same call with confirmation "{confirmation}" forgets it; good for {GOOD_SECONDS // 60} minutes.]',
        tokens={"confirmation": confirmation},
    )


def kept(memory: "Memory", plan: Plan, *, is_answered: bool) -> Answer:
    """`is_answered`: by a no. Whether a person or the client gave it, nobody tells us."""
    came = (
        "the question was answered with no" if is_answered else "the question was put to the client, and not answered"
    )
    command = for_this_home(memory, plan.target.command())
    words = f"Nothing was forgotten: {came}. A person can forget it themselves: {command}"
    told = {"removed": {}, "would_remove": plan.removed, "would_go": plan.text, "reason": words}
    return Answer(text=words, structured={"outcome": "declined" if is_answered else "unanswered", **told})


def erased(memory: "Memory", plan: Plan) -> Answer:
    done = memory.forget(**plan.target.arguments(), as_told=plan.as_told)
    lines = [f"Forgotten: {_numbers(_counts(done))}."]
    if done.is_verified:
        lines.append("It was looked for everywhere in the house, and nothing of it is left.")
    elif done.residue:
        command = for_this_home(memory, f"recollect forget --verify {done.receipt}")
        lines.append(f"Something of it is left. A person can look again: {command}")
    else:
        lines.append("Files are in use by others: they are cleaned later.")
    told: dict[str, Any] = {"outcome": "forgotten", "removed": _counts(done), "receipt": done.receipt}
    if not memory.principal.is_confined and done.out_of_reach:
        lines += ["Out of reach, for a person to remove:", *(f"- {one}" for one in done.out_of_reach)]
        told["out_of_reach"] = done.out_of_reach
    return Answer(text="\n".join(lines), structured={**told, "verified": done.is_verified})


# What would go, in words


def _plan_text(memory: "Memory", would: "Forgotten") -> str:
    records = memory.knowledge.shown(would.reached.get("record", [])[:MOST_SHOWN]).values()
    messages = memory.history.documents(would.reached.get("message", [])[:MOST_SHOWN]).values()
    lines = [f"- record {one.id}: {one_line(one.text, LINE_CHARACTERS)}" for one in records]
    lines += [
        f"- message of {time_text(one.at)}, {one.author}: {one_line(one.text, LINE_CHARACTERS)}"
        for one in sorted(messages, key=lambda message: (message.at, message.id))
    ]
    lines += [f"- note {ROOT}/{path}" for path in would.reached.get("note", [])[:MOST_SHOWN]]
    kept = [
        f"- line of {ROOT}/{path}: {one_line(line, LINE_CHARACTERS)}"
        for path, some in would.note_lines.items()
        for line in some
    ]
    lines += kept[:MOST_SHOWN]
    return "\n".join([f"This would go for good: {_numbers(_counts(would))}.", *lines])


def _counts(forgotten: "Forgotten") -> dict[str, int]:
    return {name: number for name, number in forgotten.removed.items() if number and name != "tombstones"}


def _numbers(removed: dict[str, int]) -> str:
    """`1 record, 2 record versions`"""
    named = {name.replace("_", " "): number for name, number in removed.items()}
    parts = [f"{number:,} {name.removesuffix('s') if number == 1 else name}" for name, number in named.items()]
    return ", ".join(parts) or "nothing"
