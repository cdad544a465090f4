"""The tools of the mind (M5), each acting as the agent itself.

Whatever a model can get wrong is answered, not raised: an unknown tool, a field that is missing or of another kind, a
text that is too long, a query that takes too long. Errors of the program itself are not hidden.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from recollect.errors import Invalid, RecollectError
from recollect.llm.talking import Tool
from recollect.mind.tool_results import (
    MOST_ERROR_TOKENS,
    MOST_NOTE_TOKENS,
    bounded,
    one_line,
    search_line,
    search_text,
    status_line,
    status_text,
    table_text,
)
from recollect.mind.tool_specs import MEMORY, QUERY, SEARCH, SEARCH_TYPES, SPECS, STATUS
from recollect.redaction import mask
from recollect.texts import clean

if TYPE_CHECKING:
    from recollect.database import Row
    from recollect.notes.memory_tool import MemoryTool
    from recollect.notes.status import Updated
    from recollect.recall import Found, Hit

MOST_QUESTION_CHARACTERS = 2_000
MOST_SQL_CHARACTERS = 20_000

Given = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What the tools work with: all of it as the agent sees it."""

    search: "Callable[[str, str], Found]"
    update_status: "Callable[[Mapping[str, object]], Updated]"
    notes: "MemoryTool"
    sql: "Callable[[str], tuple[list[str], list[Row]]]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    text: str
    """For the model."""
    line: str
    """For people, in one line."""
    is_error: bool = False


class Toolbox:
    def __init__(self, means: Means) -> None:
        self._means = means
        self.hidden: Mapping[str, str] = {}
        """Messages that are being answered, with their words: they are in front of the model, and no search need find
        them."""
        self._uses: dict[str, Callable[[Given], Result]] = {
            SEARCH: self._search,
            STATUS: self._update_status,
            MEMORY: self._work_on_notes,
            QUERY: self._query,
        }

    @property
    def specs(self) -> tuple[Tool, ...]:
        """As they stand in every request."""
        return SPECS

    def asked(self, name: str, given: Given) -> str:
        """What a tool is asked, in one line for people."""
        if not isinstance(given, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            return ""
        if name == SEARCH:
            kind = _shown(given, "search_type")
            return one_line(f"“{one_line(_shown(given, 'query'), 70)}”{f' in {kind}' if kind else ''}")
        if name == STATUS:
            updates: object = given.get("updates")
            return status_line(cast(Given, updates)) if isinstance(updates, Mapping) else ""
        if name == MEMORY:
            places = [_shown(given, field) for field in ("path", "old_path", "new_path")]
            return one_line(f"{_shown(given, 'command')} {' → '.join(filter(None, places))}")
        return one_line(_shown(given, "sql")) if name == QUERY else ""

    def use(self, name: str, given: Given) -> Result:
        """Never raises for what a model can get wrong: the error is the result. Called in a thread."""
        try:
            if name not in self._uses:
                raise Invalid(f"There is no tool {one_line(str(name))!r}. There are: {', '.join(self._uses)}.")
            if not isinstance(given, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise Invalid(f"The input of {name} is an object, not {type(given).__name__}.")
            result = self._uses[name](given)
        except RecollectError as error:
            text = bounded(str(error), MOST_ERROR_TOKENS, "it is too long.")
            result = Result(text=text, line=one_line(str(error)), is_error=True)
        # Once more, as what is read back from history is masked as a whole: it has to be the same bytes.
        return replace(result, text=mask(result.text))

    def _search(self, given: Given) -> Result:
        query = _text(SEARCH, given, "query", MOST_QUESTION_CHARACTERS)
        search_type = given.get("search_type") or SEARCH_TYPES[-1]
        if search_type not in SEARCH_TYPES:
            shown = one_line(str(search_type))
            raise Invalid(f"`search_type` of {SEARCH} is {', '.join(SEARCH_TYPES[:-1])} or both, not {shown!r}.")
        found = self._means.search(query, search_type)
        found = replace(found, hits=[self._without_hidden(hit) for hit in found.hits if hit.id not in self.hidden])
        return Result(text=search_text(found, query), line=search_line(found))

    def _without_hidden(self, hit: "Hit") -> "Hit":
        """Nor as what was said after something else."""
        after = " ".join(hit.after.rstrip("…").split())
        is_hidden = after and any(" ".join(text.split()).startswith(after) for text in self.hidden.values())
        return replace(hit, after="") if is_hidden else hit

    def _update_status(self, given: Given) -> Result:
        updates: object = given.get("updates")
        if not isinstance(updates, Mapping) or not updates:
            raise Invalid(f'{STATUS} needs `updates`, an object with at least one field: {{"mood": "content"}}.')
        fields = cast(Mapping[str, object], updates)
        updated = self._means.update_status(fields)
        return Result(text=status_text(updated, fields), line=status_line(fields))

    def _work_on_notes(self, given: Given) -> Result:
        text = self._means.notes.execute({name: _cleaned(value) for name, value in given.items()})
        line = f"{text.count(chr(10)):,} lines" if given.get("command") == "view" else text.partition("\n")[0]
        where = "view_range of view shows any lines, and a folder can be viewed alone."
        return Result(text=bounded(text, MOST_NOTE_TOKENS, where), line=one_line(line))

    def _query(self, given: Given) -> Result:
        columns, rows = self._means.sql(_text(QUERY, given, "sql", MOST_SQL_CHARACTERS))
        number = len(rows)
        return Result(text=table_text(columns, rows), line=f"{number:,} row{'s' * (number != 1)}")


def _text(tool: str, given: Given, field: str, most: int) -> str:
    value = given.get(field)
    if not isinstance(value, str) or not value.strip():
        kind = f", not {type(value).__name__}" if field in given and not isinstance(value, str) else ""
        raise Invalid(f"{tool} needs `{field}`, a text that is not empty{kind}.")
    if len(value) > most:
        raise Invalid(f"`{field}` of {tool} has {len(value):,} characters; {most:,} at most.")
    return clean(value)


def _shown(given: Given, field: str) -> str:
    value = given.get(field)
    return value if isinstance(value, str) else ""


def _cleaned(value: object) -> object:
    return clean(value) if isinstance(value, str) else value
