"""What a model wrote, and the object in it.

A model that is not held to a schema talks: it thinks aloud, puts its JSON between fences, says a sentence before. All
of that is passed over. What is wrong with the object itself is said in words that the model can use to mend it.
"""

import re
from typing import TYPE_CHECKING

from recollect.errors import RecollectError
from recollect.llm.model import T

if TYPE_CHECKING:
    from pydantic import ValidationError

MOST_COMPLAINTS = 8
"""A model mends the first few; the rest follows from them."""
THOUGHT_END = "</think>"
FENCED = re.compile(r"^[ \t]*```[\w-]*[ \t]*\n(.*?)\n[ \t]*```", re.DOTALL | re.MULTILINE)
"""A line inside of JSON cannot begin with the fence: its strings hold no bare line ends."""
SHAPES = ("json_invalid", "missing", "enum", "literal_error", "extra_forbidden")
"""Kinds of faults that a server which holds the model to a schema does not let pass; so are all `…_type`."""


class NotAsAsked(RecollectError):
    """The answer is no such object. Never leaves the adapters."""

    def __init__(self, complaint: str, *, is_shapeless: bool) -> None:
        super().__init__(complaint)
        self.complaint = complaint
        self.is_shapeless = is_shapeless
        """Nobody held the model to the schema."""


def read_answer(text: str, schema: type[T]) -> T:
    """The object that stands in an answer; `NotAsAsked` says what is wrong with it.

    A schema may let every field be missing. An object that has none of them is some other one all the same."""
    from pydantic import ValidationError

    try:
        found = schema.model_validate_json(object_text(text))
    except ValidationError as error:
        kinds = [one["type"] for one in error.errors(include_url=False, include_input=False, include_context=False)]
        is_shapeless = any(kind in SHAPES or kind.endswith("_type") for kind in kinds)
        raise NotAsAsked(_complaint(error), is_shapeless=is_shapeless) from None
    if schema.model_fields and not found.model_fields_set:
        raise NotAsAsked(f"- the answer: has none of the fields {', '.join(schema.model_fields)}", is_shapeless=True)
    return found


def object_text(text: str) -> str:
    """The part of an answer that is meant to be JSON."""
    rest = text.strip()
    if rest.startswith("{"):
        return rest
    if THOUGHT_END in rest:
        rest = rest.partition(THOUGHT_END)[2].strip()
    if fenced := FENCED.search(rest):
        return fenced[1].strip()
    begin, end = rest.find("{"), rest.rfind("}")
    return rest[begin : end + 1] if 0 <= begin < end else rest


def _complaint(error: "ValidationError") -> str:
    """Without what the model wrote: it may be long, and the model sees it anyway."""
    found = error.errors(include_url=False, include_input=False, include_context=False)
    lines = [f"- {'.'.join(map(str, one['loc'])) or 'the answer'}: {one['msg']}" for one in found[:MOST_COMPLAINTS]]
    more = len(found) - len(lines)
    return "\n".join([*lines, f"- and {more} more"] if more else lines)
