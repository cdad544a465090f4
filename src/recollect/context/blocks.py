"""Sections as a model reads them: a block with a count, and one line for each thing in it.

What stands in a line was said by somebody, perhaps by a page that an agent read. Nothing in it may close its block,
open another or begin a line, whatever it is.

Texts of several lines keep their lines. Only what would pass for a tag of ours is written otherwise: who sees `&lt;`
everywhere begins to write it, and a note that is shown with other characters than it has cannot be edited by them.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recollect import tokens

_BREAKS = re.compile(r"(?:(?<!\s)\s+)?[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]\s*")
"""Whatever any program takes for the end of a line, and the other control characters; with the space around them,
which is looked at from its first character on alone: a long row of it would else be looked at from each."""
_UNSEEN = re.compile(r"[\u202a-\u202e\u2061-\u2064\u2066-\u206f\ufff9-\ufffb\U000e0000-\U000e007f]")
"""They reorder or hide characters: a person would read something else than the model."""
_NOT_SEEN = r"\u00ad\u034f\u061c\u180e\u200b-\u200f\u2060\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef"
"""Some writing needs these, so they stay. What is a tag without them is taken for one."""
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_MARKUP = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_LINE_ENDS = re.compile(r"\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]")
_OWN_NAMES = ("context", "note", "trigger", "now", "message", "history", "system", "user", "assistant", "human")
"""Tags that we write, and those that a model could take for a change of speaker."""
_SPACE = rf"[\s{_NOT_SEEN}]*+"
_OWN_TAGS = re.compile(
    rf"<(?={_SPACE}(?:/{_SPACE})?(?:{'|'.join(f'[{_NOT_SEEN}]*'.join(name) for name in _OWN_NAMES)})\b)",
    re.IGNORECASE,
)
INDENT = "    "
"""Before each further line of a text whose first line says who speaks: at the left margin only we write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    name: str
    tokens: int
    """Estimated, its tags included."""
    text: str
    documents: int = 0
    """How many lines it has between its tags."""
    is_frozen: bool = False
    """The next context has it with the same bytes."""
    blocks: tuple[str, ...] = ()
    """Its text in parts whose ends stay where they are as it grows: an API caches whole blocks. Empty: it is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    sections: list[Section]
    left_out: int
    """What could have been shown and was not, for want of room."""
    budget_tokens: int
    reason: str = ""
    """Why it does not begin with all the bytes of the one before: first, restart, gap … Empty: it does; where there is
    no history, all but those of the last trigger, which is replaced."""
    added: str = ""
    """Behind what is frozen, what came with this one: for who has the conversation at hand and appends to it."""
    records: tuple[str, ...] = ()
    """Of a rehydration, the ids of the learnings in it."""

    @property
    def text(self) -> str:
        return "".join(section.text for section in self.sections)

    @property
    def tokens(self) -> int:
        """Never more than the budget."""
        return sum(section.tokens for section in self.sections)

    @property
    def fingerprint(self) -> str:
        """Equal for equal bytes."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]

    def system_blocks(self, ttl: str = "") -> list[dict[str, Any]]:
        """What is frozen, as `system` of the Messages API: one block a section, the last one marked to be cached.
        `ttl`: `5m` or `1h`; empty: as the API does by itself."""
        return _cached([section.text for section in self.sections if section.is_frozen], ttl)

    def anthropic(self, ttl: str = "") -> dict[str, Any]:
        """`system` and `messages` of a request. All that grows is one message of the user, in blocks that keep their
        ends; its last block is marked too, since the next request begins with all of this one."""
        growing = [
            part for section in self.sections if not section.is_frozen for part in section.blocks or [section.text]
        ]
        messages = [{"role": "user", "content": _cached(growing, ttl)}] if growing else []
        return {"system": self.system_blocks(ttl), "messages": messages}


def _cached(texts: Sequence[str], ttl: str) -> list[dict[str, Any]]:
    """Text blocks, the last one with a cache marker."""
    blocks: list[dict[str, Any]] = [{"type": "text", "text": text} for text in texts if text.strip()]
    if blocks:
        blocks[-1]["cache_control"] = {"type": "ephemeral", **({"ttl": ttl} if ttl else {})}
    return blocks


def line_of(text: str, speaker: str = "") -> str:
    """One line of a block; empty when there is nothing to be read in the text."""
    words = escaped(text)
    if not words:
        return ""
    return f"- {speaker}: {words}\n" if speaker else f"- {words}\n"


def escaped(text: str) -> str:
    """On one line and without markup. The words stay as they are."""
    plain = _SURROGATE.sub("\ufffd", _UNSEEN.sub("", text))
    return _BREAKS.sub(" ", plain).strip().translate(_MARKUP)


def readable(text: str) -> str:
    """With its lines, its markup and its words; without what would hide, reorder or close something of ours."""
    plain = _SURROGATE.sub("\ufffd", _UNSEEN.sub("", text))
    return _OWN_TAGS.sub("&lt;", _CONTROLS.sub("", _LINE_ENDS.sub("\n", plain)))


def spoken(speaker: str, text: str) -> str:
    """What somebody said, each further line indented; empty when there is nothing to be read in it."""
    words = readable(text).strip()
    if not words:
        return ""
    lines = words.split("\n")
    rest = "".join(f"\n{INDENT}{line}" if line.strip() else "\n" for line in lines[1:])
    return f"{speaker}: {lines[0]}{rest}\n"


def tagged(tag: str, attributes: Mapping[str, str], text: str) -> str:
    """A block of several lines. What stands in it cannot close it."""
    given = "".join(f' {name}="{_attribute(value)}"' for name, value in attributes.items() if value)
    words = readable(text).strip("\n")
    return f"<{tag}{given}>\n{words}\n</{tag}>\n" if words else f"<{tag}{given}/>\n"


def _attribute(value: str) -> str:
    return escaped(value).replace('"', "&quot;")


def section_of(name: str, lines: Sequence[str]) -> Section:
    text = f"{_opening(name, len(lines))}{''.join(lines)}{_CLOSING}"
    return Section(name=name, tokens=tokens.estimate(text), text=text, documents=len(lines))


def section_tokens(name: str, documents: int, line_bytes: int) -> int:
    """What a section of so many lines with so many bytes costs; nothing when there are none."""
    if not documents:
        return 0
    return tokens.of_bytes(len(_opening(name, documents)) + line_bytes + len(_CLOSING))


_CLOSING = "</context>\n"


def _opening(name: str, documents: int) -> str:
    return f'<context category="{name}" document-count="{documents}">\n'
