"""What stands before the array, and what has changed in it since (N5).

The system prompt stays as it is between rebuilds. A change of a note is told once, behind all that was said, and is a
part of the prompt from the next rebuild on.
"""

from collections.abc import Callable
from dataclasses import dataclass

from recollect.context import Context, Contexts
from recollect.context.blocks import escaped


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    system: tuple[str, ...]
    added: str = ""
    """What changed, for the end of the conversation."""
    reason: str = ""
    """Why it was built anew; empty: it is the one of the turn before."""


ABOUT = """\
# This Conversation

Your conversation with {user} is one and has no end: it goes on over days and years, from whatever place {user} \
speaks. The line in square brackets above a message comes from the program that keeps it and tells when the message \
was said and where. What lies further back is told in a summary of your own at the beginning; every word of it is in \
the archive. A page of yours that changed since this was put together is shown between the messages as it is now. The \
tool `memory` calls the folder of notes `/memories`.
"""
"""Of the mind alone, at the end of what is frozen."""

Prompts = Callable[[str, bool], Prompt]
"""(name of the turn, whether the provider's cache is warm) in."""


def prompt_of(context: Context, user: str) -> Prompt:
    frozen = [section.text for section in context.sections if section.is_frozen and section.text.strip()]
    about = ABOUT.format(user=user or "the user")
    return Prompt(system=(*frozen, about), added=context.added.strip("\n"), reason=context.reason)


def prompts_from(contexts: Contexts, user: str) -> Prompts:
    """`user`: the name of the person; empty: none is known."""

    def build(turn: str, is_warm: bool) -> Prompt:
        return prompt_of(contexts.mind(turn, is_warm=is_warm), escaped(user))

    return build
