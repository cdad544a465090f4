"""Contexts: what a model is given before it is asked, inside a budget and with the same bytes for the same knowledge.

`Contexts` is the door. `pipelines` says what a context is made of, `building` puts it together from the state of the
one before: `freezing` makes the sections that stay, `tail` lets the others grow. `blocks` writes texts that cannot
break out of their place, `trimming` cuts what is too long, `choosing` decides what a rehydration has room for. What is
kept (`state`) can be made again.
"""

from recollect.context.blocks import Context, Section
from recollect.context.contexts import Contexts
from recollect.context.difference import ChangedNote, Difference
from recollect.context.pipelines import Pipeline, SectionSpec
from recollect.context.state import Reason, drop_states

__all__ = [
    "ChangedNote",
    "Context",
    "Contexts",
    "Difference",
    "Pipeline",
    "Reason",
    "Section",
    "SectionSpec",
    "drop_states",
]
