"""What a tool answers, before it is put into the words of the protocol; and the element that marks it as ours. Pure."""

import re
from dataclasses import dataclass, field
from typing import Any

from recollect.history.privacy import OWN_TEXT
from recollect.redaction import mask, mask_json
from recollect.texts import clean

_TAG = re.compile(rf"<(?=\s*/?\s*{OWN_TEXT}\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    text: str
    """For a model."""
    structured: dict[str, Any] = field(default_factory=dict[str, Any])
    """The same for a program."""
    footer: str = ""
    """Behind the text, with what of ours looks like a credential: a cursor, a confirmation."""
    tokens: dict[str, str] = field(default_factory=dict[str, str])
    """The same for a program."""

    @property
    def shown(self) -> str:
        """With credentials masked, and marked as ours."""
        return marked("\n".join(part for part in (mask(clean(self.text)), self.footer) if part))

    @property
    def told(self) -> dict[str, Any]:
        masked: Any = mask_json(self.structured)
        return {**masked, **self.tokens}


def marked(text: str) -> str:
    """All of it inside one element of ours, which nothing in it can close."""
    return f"<{OWN_TEXT}>\n{_TAG.sub('&lt;', text)}\n</{OWN_TEXT}>"
