"""Anchors: the invisible end of a line by which it is known whose line it is. Pure.

`<!--r:ID-->` a record, `<!--h:ID-->` a record that was replaced (and `.1` what took its place), `<!--c:ID-->` a
conversation (and `.N` a line of its episode), `<!--m:ID-->` what is told of a conversation beside that, `<!--q:ID-->` a
question. Words of a record cannot make an anchor: what opens or closes a comment in them is written as an entity.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

_ANCHOR = re.compile(r"<!--([rhcmq]):([0-9a-f-]{1,64})(?:\.([0-9]{1,6}))?-->")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_MARKS = re.compile(r"^\s*(?:(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?|#{1,6}\s+)?")
_TIME = re.compile(r"^\d{2}:\d{2}\s+")
_SEEN_ON = re.compile(r"\s*\(\[\[[^\[\]|]*\|(?:\d{4}-\d{2}-\d{2}|undated)\]\]\)\s*(?=$|<!--)")
_DATE_LINK = re.compile(r"^\[\[[^\[\]]*\]\]\s*")


class AnchorKind(StrEnum):
    RECORD = "r"
    REPLACED = "h"
    CONVERSATION = "c"
    META = "m"
    QUESTION = "q"


_KINDS = {str(kind): kind for kind in AnchorKind}


@dataclass(frozen=True, slots=True, order=True)
class Anchor:
    kind: AnchorKind
    id: str
    number: int = 0
    """Of a line; 0: the thing itself."""

    def __str__(self) -> str:
        return f"<!--{self.kind}:{self.id}{f'.{self.number}' if self.number else ''}-->"


def anchor_of(line: str) -> Anchor | None:
    """The first of a line: it is that one's line."""
    found = _ANCHOR.search(line) if "<!--" in line else None
    return _anchor(found) if found else None


def anchors_in(line: str) -> list[Anchor]:
    """All of them: somebody may have joined two lines."""
    return [_anchor(found) for found in _ANCHOR.finditer(line)] if "<!--" in line else []


def _anchor(found: re.Match[str]) -> Anchor:
    kind, name, number = found.groups()
    return Anchor(_KINDS[kind], name, int(number or 0))


def without_anchors(line: str) -> str:
    return re.sub(rf"[ \t]*{_ANCHOR.pattern}", "", line)


def shown(text: str) -> str:
    """Words as they stand in a line: one line, and no comment of theirs."""
    return " ".join(text.split()).replace("<!--", "&lt;!--").replace("-->", "--&gt;")


def said(line: str) -> str:
    """The words of an anchored line as somebody left them, without what the librarian puts around them."""
    anchor = anchor_of(line)
    text = _MARKS.sub("", _ANCHOR.sub(" ", _SEEN_ON.sub(" ", line.rstrip())), count=1)
    text = " ".join(text.split())
    if anchor and anchor.kind is AnchorKind.CONVERSATION:
        text = _DATE_LINK.sub("", _TIME.sub("", text))
    return text.replace("&lt;!--", "<!--").replace("--&gt;", "-->")


def outside_fences(lines: list[str]) -> list[bool]:
    """Of each line whether it is text, and not inside a block of code. A fence that nobody closes goes to the end."""
    found: list[bool] = []
    opened = ""
    for line in lines:
        fence = _FENCE.match(line)
        if opened:
            found.append(False)
            rest = line.strip()
            if fence and rest[0] == opened[0] and len(rest) >= len(opened) and not rest.strip(opened[0]):
                opened = ""
        else:
            found.append(fence is None)
            opened = fence.group(1) if fence else ""
    return found
