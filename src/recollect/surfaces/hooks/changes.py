"""What becomes of one file, and how that is shown."""

import difflib
import re
from dataclasses import dataclass

from recollect.redaction import mask

_SECRET = re.compile(r"recollect_[A-Za-z0-9_-]{43}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    path: str
    before: str | None
    """None: it is not there."""
    after: str | None
    """None: it is removed."""

    @property
    def kind(self) -> str:
        if self.before == self.after:
            return "unchanged"
        return "made" if self.before is None else "removed" if self.after is None else "changed"

    @property
    def diff(self) -> str:
        """Without what looks like a secret."""
        old, new = ((text or "").splitlines(keepends=True) for text in (self.before, self.after))
        names = [self.path if text is not None else "/dev/null" for text in (self.before, self.after)]
        lines = [
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
            for line in difflib.unified_diff(old, new, names[0], names[1])
        ]
        return mask(_SECRET.sub("recollect_…", "".join(lines)))
