"""Long rows of one character in what anybody may write: what looks at it takes as long as it is long, not its square.

No time is asserted: the square of these lengths would run into the limit of the suite.
"""

from pathlib import Path

import pytest
from chats import House

import recollect
from recollect.context.blocks import escaped, readable
from recollect.notes.lines import readable_text
from recollect.recall.noted import _said as said  # pyright: ignore[reportPrivateUsage]
from recollect.redaction import mask

LENGTH = 400_000
ROWS = [" ", "\t", "\n", "< ", "</", "<!--", "<!--a:1", "a ", "\u00ad", "\u2028", "\x00", "- ", "[", "`", "\u200b"]
LOOKS = {"escaped": escaped, "readable": readable, "said": said, "unanchored": readable_text, "mask": mask}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("before", ["", "<", "a"])
def test_a_long_row_is_looked_at_once(look: str, row: str, before: str) -> None:
    text = before + row * (LENGTH // len(row))
    for end in ("", "b"):
        assert isinstance(LOOKS[look](text + end), str)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "row", ["a" + " " * LENGTH + "b", "<" + " " * LENGTH + "b", "a" * LENGTH, "haha " * (LENGTH // 5)]
)
def test_the_librarian_reads_a_long_row_once(tmp_path: Path, row: str) -> None:
    with recollect.open(tmp_path / "home") as memory:
        said = ["My sister Anna lives in Porto.", ("assistant", "Porto!"), row, ("assistant", row)] * 2
        House(memory, tmp_path / "chats").tell("long", *said)
        memory.librarian.process()
        assert memory.history.figures().by_status == {"archived": 1}
