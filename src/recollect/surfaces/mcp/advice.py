"""Advice in the words of an answer: for an agent a tool, where one does the same; else what a person can type here."""

import re
import shlex
from typing import TYPE_CHECKING

from recollect.settings import is_default_home
from recollect.surfaces.mcp import specs

if TYPE_CHECKING:
    from recollect.memory import Memory

FINDING = f" {specs.SEARCH} finds what there is, with its id."
_LISTING = re.compile(
    r" `recollect [^`]*` (?:lists (?:them|what is|all there ever were)|tells the ids of messages"
    r"|shows (?:those there are|what is in it|what there is))\.$"
)
"""What a person types to see what there is. An agent may have no command line, or one on another computer."""
_QUOTED = re.compile(r"`recollect [^`]*`")
_PROGRAM = re.compile(r"(?<![\w/.~-])recollect (?=[a-z])")
"""How advice of the library begins a command."""


def for_agent(memory: "Memory", words: str) -> str:
    """Commands stand in quotes; what else has the word may be what somebody wrote."""
    found = _LISTING.sub(FINDING, words)
    return _QUOTED.sub(lambda quoted: for_this_home(memory, quoted[0]), found)


def for_this_home(memory: "Memory", command: str) -> str:
    """Followed to the letter, it must not act on another home."""
    home = memory.settings.home
    if is_default_home(home):
        return command
    return _PROGRAM.sub(lambda _: f"recollect --home {shlex.quote(str(home))} ", command)
