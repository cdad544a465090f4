"""What was decided: by the user outright, or by their yes to what the assistant proposed."""

import re

from recollect.knowledge import Kind
from recollect.librarian.items import Item, Quote, Turn
from recollect.librarian.rules import wording
from recollect.librarian.rules.clauses import Clause, sentences_of
from recollect.librarian.rules.decision_forms import DECISION_FORMS
from recollect.librarian.rules.forms import LIKELY, SURE, USUAL, Reading, item

_POINTING = re.compile(
    r"(?i)(?:yesterday|today|now|already|long ago|last \w+|then|together|(?:as|with) (?:an?|the|my) \w+)\W*$"
    r"|(?:with |on |for |to )?(?:it|that|this"
    r"|those|these|them|the (?:first|second|third|fourth|last"
    r"|latter|former|other|next|same|one|above|plan|idea|suggestion|proposal|approach)\b(?: (?:one|option"
    r"|approach|idea|version|proposal))?|option|number|your|what you|das|dies|es|die erste|eso|esa|esto"
    r"|la primera|ça|cela|quello|isso|dat)\b"
)
_HASTY = re.compile(
    r"(?i)(?:\w+in[g\']?\b|in mind|you (?:posted|updated)|an open mind|on|up|going|moving on|it simple"
    r"|it short|in touch|doing|trying|this as|that as|track of|an eye|the conversation|talking|reading"
    r"|testing|working|the rest|everything else|(?:the|a) debugger|print statements|plan mode)\b"
)
_NUMBERED = re.compile(
    r"(?i)\b(?:option|number|variant|no\.?|#|approach|plan|choice)\s?(?P<mark>\d|[a-e])\b"
    r"|\bthe (?P<word>first|second|third|fourth|fifth)(?: (?:one|option|approach|idea|suggestion|variant"
    r"|proposal))?\b"
)
_ORDINALS = {"first": "1", "second": "2", "third": "3", "fourth": "4", "fifth": "5"}
_YES = re.compile(
    r"(?i)\W*(?:(?:yes|yeah|yep|ok(?:ay)?|sure|great|perfect|agreed|good|cool|nice|sounds (?:good|great)"
    r"|makes sense|i like (?:it|that)|love it|ja|genau|einverstanden|gerne|sí|vale|de acuerdo|oui|d'accord"
    r"|va bene|sim)[\s,.!]*)*"
    r"(?:let's do (?:it|that|this)|do (?:it|that|this)|go (?:ahead|for it|with (?:it|that))"
    r"|let's go with (?:it|that|this)|agreed|sounds (?:good|great)|makes sense|so machen wir(?:'s| es| das)"
    r"|machen wir so|mach das|hagámoslo|hazlo|de acuerdo|on fait ça|faisons ça|d'accord|facciamo così"
    r"|vamos fazer isso)(?:[\s,]*(?:please|pls|then|thanks|bitte|por favor))*\W*$"
)
_PROPOSAL = re.compile(
    r"(?i)(?:^|.*?\b)(?:i(?:'d| would)? (?:strongly )?(?:recommend|suggest|propose)|my (?:recommendation"
    r"|suggestion|proposal)(?: is|:)|i(?:'d| would) go (?:with|for)|ich (?:empfehle|schlage vor"
    r"|würde .{3,60} (?:nehmen|empfehlen))|mein vorschlag|recomiendo|te sugiero|propongo|je (?:recommande"
    r"|propose|suggère)|consiglio|sugiro) ?(?P<value>\S.{6,})"
)
_SUGGESTED = re.compile(
    r"(?i)\byou(?:'ve| have)? (?:suggested|mentioned|recommended|proposed|listed|gave|said)\b|^i think\b"
    r"|^i'll try\b|^i might\b"
)
_IT_IS = re.compile(r"[A-Z][\w.+#-]*(?: [\w.+#-]+){0,3} it is\W*$")
_PLANNED = re.compile(
    r"(?i)we(?:'ll| will) (?:also |only |just |always |never )*(?:run|store|ship|write|host|deploy"
    r"|start with|split|put|serve|support|release|send|charge|require|cache|log|build|do) \S+ \S.*"
)
_PLAN_AT_HAND = re.compile(r"(?i)\b(?:it|this|that|them|later|maybe|see|then|first|next|now)\b|\?")
MOST_PROPOSAL_CHARACTERS = 220


def find(clause: Clause, reading: Reading) -> Item | None:
    """A decision in so many words. One that points at something said before is the work of `accepted`."""
    if (
        reading.project
        and clause.tongue == "en"
        and _PLANNED.match(clause.said)
        and not _PLAN_AT_HAND.search(clause.said[:40])
    ):
        return item(
            clause,
            Kind.DECISION,
            reading.home_shelf,
            subject=reading.home_subject,
            text=wording.line(clause.said),
            confidence=LIKELY,
        )
    if reading.project and _IT_IS.match(clause.said):
        return item(
            clause,
            Kind.DECISION,
            reading.home_shelf,
            subject=reading.home_subject,
            text=wording.line(clause.said),
            confidence=LIKELY,
        )
    for one in DECISION_FORMS.get(clause.tongue, DECISION_FORMS["en"]):
        match = one.pattern.match(clause.said)
        if not match:
            continue
        value = next((part for part in match.groupdict().values() if part), "")
        if (
            _SUGGESTED.search(clause.said)
            or _POINTING.match(value)
            or _HASTY.match(value)
            or sum(map(str.isalpha, value)) < 2
        ):
            return None
        return item(
            clause,
            Kind.DECISION,
            reading.home_shelf,
            subject=reading.home_subject,
            text=wording.line(clause.said) if not _is_mine(clause) else "",
            importance=USUAL + 0.1,
            confidence=SURE,
        )
    return None


def accepted(turn: Turn, proposed: Turn | None, reading: Reading, tongue: str) -> Item | None:
    """`let's do that`, `the second one`: what the assistant proposed right before, and the user's yes to it."""
    said = " ".join(turn.text.replace("’", "'").split())
    if not proposed or len(said) > 120 or said.rstrip().endswith("?"):
        return None
    chosen = _NUMBERED.search(said)
    if chosen and re.search(r"(?i)\b(?:let's|go with|take|use|do|prefer|i like|choose|pick|please|i'll)\b", said):
        return _chosen(turn, proposed, _ORDINALS.get((chosen["word"] or "").lower(), chosen["mark"] or ""), reading)
    if not _YES.match(said):
        return None
    proposals = [
        one
        for one in sentences_of(proposed, tongue)
        if _PROPOSAL.match(one.text) and not one.text.rstrip().endswith("?")
    ]
    if len(proposals) != 1 or len(proposals[0].text) > MOST_PROPOSAL_CHARACTERS:
        return None
    match = _PROPOSAL.match(proposals[0].text)
    return _decided(turn, proposals[0].quote, match["value"] if match else "", reading)


def _chosen(turn: Turn, proposed: Turn, mark: str, reading: Reading) -> Item | None:
    """The line of a list that bears the number."""
    line = re.compile(
        r"(?im)^\s*(?:[-*#]+\s*)?(?:\*\*)?(?:option\s*|variant\s*"
        rf"|approach\s*)?{re.escape(mark)}\s?[.):–—-]\s*(?:\*\*)?\s*(?P<value>\S.*)$"
    )
    found = line.findall(proposed.text) if mark else []
    match = line.search(proposed.text)
    if len(found) != 1 or not match:
        return None
    return _decided(turn, Quote(message_id=proposed.message_id, words=match[0].strip()), match["value"], reading)


def _decided(turn: Turn, proposal: Quote, value: str, reading: Reading) -> Item:
    consent = Quote(message_id=turn.message_id, words=turn.text.strip())
    text = wording.trimmed(wording.line(value), 160)
    return Item(
        shelf=reading.home_shelf,
        kind=Kind.DECISION,
        text=text,
        quotes=(proposal, consent),
        subject=reading.home_subject,
        importance=USUAL + 0.1,
        confidence=LIKELY,
    )


def _is_mine(clause: Clause) -> bool:
    return clause.tongue == "en" and clause.said[:2].lower() in ("i ", "i'")
