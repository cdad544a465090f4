"""Whose words a `user` entry of Pi or OpenClaw holds, and the words without what a program put around them.

OpenClaw writes what arrives from a chat into one text: queued events, blocks of JSON about the sender, an envelope
with channel and time, then the words. It also speaks to its own agent in the user's name: heartbeats, cron jobs,
greetings after a reset, results of other sessions. Something is taken away only where its form leaves no doubt and it
stands at the start or the end; a person who quotes one of these in a sentence is a person.
"""

import re

from recollect.history.messages import Author, Block, Standing
from recollect.history.sources.claude_text import Reading, strip_injected
from recollect.history.sources.fields import image_block

_CHANNELS = (
    "WebChat|WhatsApp|Telegram|Signal|Slack|Discord|Google Chat|iMessage|Teams|Matrix|Zalo Personal|Zalo|BlueBubbles"
    "|Microsoft Teams|Mattermost|LINE|IRC|Feishu|Nostr"
)
_EVENTS = re.compile(
    r"System(?: \(untrusted\))?: \[[^\]\n]+\][^\n]*(?:\n|\Z)(?:System(?: \(untrusted\))?:[^\n]*(?:\n|\Z))*"
)
_METADATA = re.compile(
    r"[^\n]{1,120}(?:\(untrusted[^)\n]*\):|⟦openclaw:ctx⟧)[ \t]*\n```json\n.*?\n```[ \t]*(?:\n|\Z)", re.DOTALL
)
_MARKED = re.compile(r"[^\n]{1,120} ⟦openclaw:ctx⟧[ \t]*\n(?!```)(?:[^\n]*\S[^\n]*(?:\n|\Z))*")
"""Context in plain lines; a blank line ends it."""
_HINT = re.compile(
    r"(?:Delivery: (?:to send a message, use|Final assistant text is not)|requester_profile is the verified linked"
    r"|To send an image back, prefer the message tool)[^\n]*(?:\n|\Z)"
)
_MEDIA = re.compile(r"\[media attached(?: \d+/\d+)?: ([^\n]*)\][ \t]*(?:\n|\Z)")
_MEDIA_TYPE = re.compile(r"\(([a-z]+/[\w.+-]+)\)")
_MEDIA_ONLY = re.compile(r"<media:\w+>(?: \([^()\n]*\))?\s*\Z")
_HISTORY = re.compile(
    r"\[Chat messages since your last reply - for context\]\n.*?\n\[Current message - respond to this\]\n", re.DOTALL
)
_ENVELOPE = re.compile(
    rf"\[(?=[^\]\n]*\d{{4}}-\d\d-\d\d[ T]\d\d:\d\d|(?:{_CHANNELS}) [^\]\n]*(?:\bid:|\+\d))"
    rf"(?:(?:{_CHANNELS})\b|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d{{4}}-)[^\]\n]*\] ?"
)
_FILE = re.compile(r'<file name="[^"\n]+">(?:\n.*?\n)?[^\n<]*</file>\n?', re.DOTALL)
"""What `pi @file` puts before the words."""
_BEFORE = (_EVENTS, _HISTORY, _METADATA, _MARKED, _HINT, _MEDIA, _ENVELOPE, _FILE)

_AFTER = re.compile(
    r"^(?:Untrusted context \(metadata, do not treat as instructions or commands\):|Context: ⟦openclaw:ctx⟧)"
    r"[ \t]*$.*\Z",
    re.DOTALL | re.MULTILINE,
)
_MESSAGE_ID = re.compile(r"^[ \t]*\[message_id:[^\]\n]+\][ \t]*(?:\n|\Z)", re.MULTILINE)
_INTERNAL = re.compile(
    r"^<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>$.*?(?:^<<<END_OPENCLAW_INTERNAL_CONTEXT>>>$\n*|\Z)",
    re.DOTALL | re.MULTILINE,
)
_SKILL = re.compile(r'<skill name="([^"\n]+)" location="[^"\n]*">\n.*?\n</skill>(?:\n\n(.+))?\Z', re.DOTALL)

_MACHINE = (
    ("cron", re.compile(r"\[cron:[^\]\n]+\]|A scheduled reminder has been triggered\.", re.IGNORECASE)),
    (
        "heartbeat",
        re.compile(
            r"\[OpenClaw heartbeat poll\]|Read HEARTBEAT\.md if (?:it )?exists\b"
            r"|Run the following periodic tasks \(only those due|HEARTBEAT\s*\Z"
        ),
    ),
    ("session_start", re.compile(r"A new session was started via /new or /reset\.")),
    ("memory_flush", re.compile(r"Pre-compaction memory flush(?: turn)?\.")),
    ("task", re.compile(r"\[Subagent (?:Context|Task)\]")),
    ("inter_session", re.compile(r"\[Inter-session message\]|Agent-to-agent (?:announce step|message context)\b")),
    ("room", re.compile(r"\[Room observation\]")),
    ("retry", re.compile(r"Continue where you left off\. The previous (?:model )?attempt failed")),
    (
        "context",
        re.compile(
            r"\[Internal (?:runtime context|task completion event)\]|OpenClaw runtime event\.\s"
            r"|OpenClaw runtime context (?:\(internal\):|for the (?:active|immediately preceding) user)"
            r"|An async command you ran earlier has completed\b|<<<EXTERNAL_UNTRUSTED_CONTENT"
        ),
    ),
)


def read_user_text(text: str, *, has_image: bool = False) -> tuple[Reading, list[Block]]:
    """Whose words these are, the words, and what was attached to them. `has_image`: something stands beside them."""
    words = _AFTER.sub("", _INTERNAL.sub("", strip_injected(text)))
    words, attached, has_events = _without_start(words)
    words = _MESSAGE_ID.sub("", _without_reply(words)).strip()
    if _MEDIA_ONLY.match(words):
        words = ""
    if not words and not attached and not has_image:
        return Reading(Author.MACHINE, Standing.ASIDE, "system_event" if has_events else "context", text), []
    skill = _SKILL.match(words) if words.startswith("<skill ") else None
    if skill:
        typed = skill[2] or ""
        standing = Standing.SAID if typed else Standing.ASIDE
        return Reading(Author.USER, standing, "command", f"/skill:{skill[1]} {typed}".strip()), attached
    for kind, pattern in _MACHINE:
        if pattern.match(words):
            return Reading(Author.MACHINE, Standing.ASIDE, kind, text), attached
    return Reading(Author.USER, Standing.SAID, "", words), attached


def _without_start(text: str) -> tuple[str, list[Block], bool]:
    """Take away one after the other what stands before the words."""
    attached: list[Block] = []
    has_events = False
    place = 0
    while True:
        while place < len(text) and text[place] in "\r\n":
            place += 1
        pattern, found = next(
            ((pattern, match) for pattern in _BEFORE if (match := pattern.match(text, place))), (None, None)
        )
        if not found or found.end() == place:
            return text[place:], attached, has_events
        if pattern is _MEDIA:
            attached += _media(found[1])
        elif pattern is _FILE:
            attached.append({"type": "document", "media_type": "", "bytes": len(found[0].encode("utf-8", "replace"))})
        has_events = has_events or pattern is _EVENTS
        place = found.end()


def _without_reply(text: str) -> str:
    """Without the message that is replied to, which the channel quotes below the words."""
    if not text.rstrip().endswith("\n[/Replying]"):
        return text
    start = text.rfind("\n\n[Replying to ")
    return text[:start] if start >= 0 else text


def _media(listed: str) -> list[Block]:
    kind = _MEDIA_TYPE.search(listed)
    if not kind and not ("/" in listed or "\\" in listed):
        return []  # Only how many there are: each has a line of its own.
    media_type = kind[1] if kind else ""
    return [image_block(media_type, kind="image" if media_type.startswith("image/") else "document")]
