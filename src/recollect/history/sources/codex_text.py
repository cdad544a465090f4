"""The words in a Codex record: whose they are, and what a tool printed.

Codex puts its own context into user items, marked by a tag around the text. A tag only counts where it wraps all of it:
a person who quotes one in a sentence is a person.
"""

import re
from typing import Any

import msgspec

from recollect.history.messages import Block
from recollect.history.sources.fields import as_dict, as_list, as_text, image_block
from recollect.texts import clean

_MACHINE_TAGS = re.compile(
    r"<(environment_context|user_instructions|turn_aborted|skill|subagent_notification|user_shell_command|hook_prompt"
    r"|goal_context|codex_internal_context|recommended_plugins|app-context|permissions instructions|model_switch"
    r"|collaboration_mode|skills_instructions|multi_agent_mode|personality_spec|token_budget|image_resize_notice"
    r"|current_time_reminder|context_window\w*|realtime_conversation|INSTRUCTIONS)\b[^>]*>"
)
_CWD = re.compile(r"(?:<cwd>|^Current working directory: )([^<\n]{1,1000})(?:</cwd>|$)", re.MULTILINE)
_AGENTS_FILE = "# AGENTS.md instructions"
_REQUEST = re.compile(r"^## My request(?: for Codex)?:[ \t]*\n?", re.MULTILINE)
_BEFORE_REQUEST = ("#", "<")
"""Desktop and the editors put files, pages and selections before the words, always under a heading or in a tag."""
_IMAGE_TAG = re.compile(r"</?image\b[^>]*>\s*\Z")
_EXIT_CODE = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d+)$", re.MULTILINE)


def own_words(text: str) -> str:
    """Without the files, pages and selections that Desktop and the editors put before a person's words."""
    if not text.lstrip().startswith(_BEFORE_REQUEST):
        return text
    heading = _REQUEST.search(text)
    return text[heading.end() :].strip() if heading else text


def machine_kind(text: str) -> str:
    """Whose text a user item is: the name of the context it wraps, or empty. A tag counts only if it wraps it all."""
    opening = text.lstrip()
    if opening.startswith(_AGENTS_FILE) and "<INSTRUCTIONS>" in opening:
        return "agents_md"
    tag = _MACHINE_TAGS.match(opening) if opening[:1] == "<" else None
    return tag[1].replace("-", "_").replace(" ", "_") if tag and opening.rstrip().endswith(f"</{tag[1]}>") else ""


def output_of(value: Any) -> tuple[list[str], bool]:
    """What a tool printed and whether it failed; three spellings of it are in use."""
    fields = as_dict(value)
    if isinstance(value, str) and value.startswith('{"output":'):
        try:
            fields = as_dict(msgspec.json.decode(value))
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            fields = {}
    if fields:
        text = next((as_text(fields[name]) for name in ("output", "content", "text") if name in fields), "")
        code = as_dict(fields.get("metadata")).get("exit_code")
        return [text], fields.get("success") is False or code not in (None, 0)
    if isinstance(value, str):
        code = _EXIT_CODE.search(value[:1_000])
        return [value], bool(code) and code[1] != "0"
    items = [as_dict(item) for item in as_list(value)]
    return [as_text(item.get("text")) or as_text(item.get("name")) for item in items], False


def text_of(content: Any) -> str:
    """The words of an item, without the tags that stand around each image."""
    if isinstance(content, str):
        return clean(content)
    texts = [as_text(as_dict(part).get("text")) for part in as_list(content)]
    return "\n\n".join(text for text in texts if text and not _IMAGE_TAG.match(text))


def first_text(content: Any) -> str:
    return next((text for part in as_list(content) if (text := as_text(as_dict(part).get("text")))), "")


def image_of(part: Any) -> Block:
    """`data:image/png;base64,…`, or an address."""
    head, comma, data = as_text(as_dict(part).get("image_url")).partition(",")
    return image_block(head.removeprefix("data:").partition(";")[0] if comma else "", data)


def folder_in(text: str) -> str:
    """The working folder that an environment context names: all that the oldest rollouts say of it."""
    named = _CWD.search(text)
    return named[1].strip() if named else ""
