"""What stands before the array, and what has changed in it since (N5).

The system prompt stays as it is between rebuilds. A change of a note is told once, behind all that was said, and is a
part of the prompt from the next rebuild on.
"""

from collections.abc import Callable
from dataclasses import dataclass

from recollect.context import Context, Contexts


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    system: tuple[str, ...]
    added: str = ""
    """What changed, for the end of the conversation."""
    reason: str = ""
    """Why it was built anew; empty: it is the one of the turn before."""


Prompts = Callable[[str, bool], Prompt]
"""(name of the turn, whether the provider's cache is warm) in."""


def prompt_of(context: Context) -> Prompt:
    frozen = tuple(section.text for section in context.sections if section.is_frozen and section.text.strip())
    return Prompt(system=frozen, added=context.added.strip("\n"), reason=context.reason)


def prompts_from(contexts: Contexts) -> Prompts:
    def build(turn: str, is_warm: bool) -> Prompt:
        return prompt_of(contexts.mind(turn, is_warm=is_warm))

    return build
