"""Machine text inside a message: blocks that a program, or Recollect itself, put into what a person sent.

The parsers of history take such blocks away at the start and the end of a message; here they go wherever they stand,
because what is read as speech becomes knowledge. A tag counts only where it begins a line: a person who names one in a
sentence is a person.
"""

import re
from functools import cache

MOST_CHARACTERS = 200_000
"""Of a block of ours: budgets keep them far smaller."""
_MACHINE_ONLY = (
    "system-reminder|recollect-context|ide_opened_file|ide_selection|ide_diagnostics|task-notification"
    "|teammate-message|session-start-hook|user-prompt-submit-hook|local-command-caveat|persisted-output"
    "|background-task|agent-notification|cross-session-message|command-name|command-message|command-args"
    "|command-contents|local-command-stdout|local-command-stderr|bash-input|bash-stdout|bash-stderr"
    "|environment_context|user_instructions|turn_aborted|subagent_notification|user_shell_command|hook_prompt"
    "|goal_context|codex_internal_context|app-context|skills_instructions|system_instruction|system-prompt"
    "|function_results|function_calls|tool_result|tool_results|tool_use_error|tool_output|search_results"
)
"""No person writes an element of these names: one that never closes reaches to the end."""
_OURS = r"context category=|note path=|note name=|now>|trigger from=|trigger at="
"""As `context/` writes them. The names alone are common words, so that they count with their attribute only."""
_OURS_NAME = re.compile(r"[ >]")
_OPENING = re.compile(rf"^[ \t]*<(?:(?P<machine>{_MACHINE_ONLY})\b|(?P<ours>{_OURS}))", re.MULTILINE | re.IGNORECASE)
_LEFT_OUT = re.compile(r"^\[… [\d,.]+ earlier messages? left out: the archive has them\][ \t]*$", re.MULTILINE)
_INTERRUPTION = re.compile(r"^\[Request interrupted by user[^\]\n]*\][ \t]*$", re.MULTILINE)


def without_injected(text: str) -> str:
    """The words that are left. Where a block stood there is an empty line, so that no sentence reaches over it."""
    if "[" in text:
        text = _INTERRUPTION.sub("", _LEFT_OUT.sub("", text))
    if "<" not in text:
        return text
    kept: list[str] = []
    at = 0
    for opening in _OPENING.finditer(text):
        if opening.start() < at:
            continue
        end = _machine_end(text, opening) if opening["machine"] else _own_end(text, opening)
        if end:
            kept.append(text[at : opening.start()].strip("\n"))
            at = end
    if not at:
        return text
    kept.append(text[at:].strip("\n"))
    return "\n\n".join(part for part in kept if part.strip())


def _machine_end(text: str, opening: "re.Match[str]") -> int:
    """Behind the element, others of its name inside it included."""
    depth = 0
    for tag in _tags(opening["machine"].lower()).finditer(text, opening.start()):
        depth += -1 if tag[1] else 0 if tag[2] else 1
        if depth <= 0:
            return tag.end()
    return len(text)


def _own_end(text: str, opening: "re.Match[str]") -> int:
    """What we write into an element cannot hold its closing tag. 0: it has none, so it is not of ours."""
    closing = f"</{_OURS_NAME.split(opening['ours'], maxsplit=1)[0].lower()}>"
    at = text.find(closing, opening.end(), opening.end() + MOST_CHARACTERS)
    return at + len(closing) if at >= 0 else 0


@cache
def _tags(name: str) -> "re.Pattern[str]":
    return re.compile(rf"<(/)?{re.escape(name)}\b[^<>]*?(/)?>", re.IGNORECASE)
