"""Contexts: what a model is given before it is asked, inside a budget and with the same bytes for the same knowledge.

`Contexts` is the door. `blocks` writes sections that no text can break out of, `choosing` decides what is worth the
room. Nothing is kept here: a context is made anew from history and knowledge whenever it is asked for.
"""

from recollect.context.blocks import Context, Section
from recollect.context.contexts import Contexts

__all__ = ["Context", "Contexts", "Section"]
