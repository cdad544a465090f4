"""The tools of the mind (M5), each acting as the agent itself."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recollect.database import Row
    from recollect.notes.memory_tool import MemoryTool
    from recollect.notes.status import Updated
    from recollect.recall import Found


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

    def asked(self, name: str, given: Mapping[str, Any]) -> str:
        """What a tool is asked, in one line for people."""
        raise NotImplementedError

    def use(self, name: str, given: Mapping[str, Any]) -> Result:
        """Never raises for what a model can get wrong: the error is the result. Called in a thread."""
        raise NotImplementedError
