"""The tools of a moment of one's own: those of the mind, and the diary.

The mind's come first and as they always are, so that what stands before a request keeps its bytes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recollect.errors import Invalid, RecollectError
from recollect.llm.talking import Tool
from recollect.mind.tool_results import MOST_ERROR_TOKENS, bounded, one_line
from recollect.mind.tools import Result, Toolbox
from recollect.notes.diary import name_of
from recollect.texts import clean

if TYPE_CHECKING:
    from recollect.notes.diary import Diary

WRITE = "write_diary"

_WRITE = """\
Adds an entry to your diary: a file in diary/, named after the second in which it is written. An entry stays as it was \
written; what comes later is an entry of its own."""

SPEC = Tool(
    name=WRITE,
    description=_WRITE,
    schema={
        "type": "object",
        "properties": {"text": {"type": "string", "description": "The entry, in Markdown or plain words."}},
        "required": ["text"],
    },
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Used(Result):
    entry: str = ""
    """The name of the diary entry that was written."""


class ReflectionTools:
    def __init__(self, toolbox: Toolbox, diary: "Diary") -> None:
        """`toolbox`: one of its own. That of the turns hides from a search what was said last, as a turn has it in
        front of it; here nothing is."""
        self._toolbox = toolbox
        self._diary = diary
        self.specs = (*toolbox.specs, SPEC)

    def use(self, name: str, given: Mapping[str, Any], forgotten: int) -> Used:
        """Never raises for what a model can get wrong: the error is the result. Called in a thread. `forgotten`: how
        many acts of forgetting there were before it was shown anything."""
        names = [spec.name for spec in self.specs]
        if name in names and name != WRITE:
            result = self._toolbox.use(name, given)
            return Used(text=result.text, line=result.line, is_error=result.is_error)
        try:
            if name != WRITE:
                raise Invalid(f"There is no tool {one_line(name)!r}. There are: {', '.join(names)}.")
            return self._write(given, forgotten)
        except RecollectError as error:
            text = bounded(str(error), MOST_ERROR_TOKENS, "it is too long.")
            return Used(text=text, line=one_line(str(error)), is_error=True)

    def _write(self, given: Mapping[str, Any], forgotten: int) -> Used:
        if not isinstance(given, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise Invalid(f"The input of {WRITE} is an object, not {type(given).__name__}.")
        text = given.get("text")
        if not isinstance(text, str) or not text.strip():
            raise Invalid(f"{WRITE} needs `text`, a text that is not empty.")
        written = self._diary.write(clean(text), forgotten=forgotten)
        entry = name_of(written.version)
        masked = f" Credentials in it were masked: {written.masked}." if written.masked else ""
        return Used(text=f"Written as {entry}.{masked}", line=entry, entry=entry)
