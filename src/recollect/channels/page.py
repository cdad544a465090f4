"""What is to be read in a terminal: lines that are finished and will be written, and the rest that still grows.

It prints nothing; `prompt` and `once` do. A paragraph is finished when its line ends: we break no lines, the terminal
does. However an answer is cut into pieces, the same is written.
"""

from recollect.channels.cleaning import cleaned, on_one_line
from recollect.markers import MARK
from recollect.mind.channel import ToolResult, ToolUse

SAID = "› "
"""Before what the person said."""
DIM, RED = "2", "31"


class Page:
    def __init__(self, *, has_colours: bool) -> None:
        self._has_colours = has_colours
        self._finished: list[str] = []
        self._rest: list[str] = []
        self._tools: list[ToolUse] = []
        self._is_thinking = False
        self._is_waiting = False
        self._is_behind_line = True
        """Nothing was said since the last line of ours: empty lines would only be a gap."""

    # What is added

    def words(self, text: str) -> None:
        self._is_thinking = self._is_waiting = False
        text = cleaned(text)
        if self._is_behind_line:  # What a tool came to stands apart by itself.
            text = text.lstrip("\n")
        self._is_behind_line = self._is_behind_line and not text
        lines, newline, rest = text.rpartition("\n")
        if newline:
            self._finished += [*self._rest, lines, newline]
            self._rest = []
        if rest:
            self._rest.append(rest)

    def kept(self) -> None:
        self.words(MARK)

    def again(self) -> None:
        """What was said last counts no more. What was written of it stays where it is."""
        self._rest = []
        self.note("the line broke; the answer begins anew")

    def waiting(self) -> None:
        """An answer is to come, and nothing of it is there to be seen."""
        self._is_waiting = True

    def waits_no_more(self) -> None:
        self._is_waiting = False

    def thinking(self) -> None:
        self._is_thinking, self._is_waiting = True, False

    def asked(self, tool: ToolUse) -> None:
        self._end_line()
        self._is_thinking = self._is_waiting = False
        self._tools.append(tool)

    def answered(self, result: ToolResult) -> None:
        self._end_line()
        tool = next((one for one in self._tools if one.name == result.name), None)
        if tool:
            self._tools.remove(tool)
        self._is_waiting = not self._tools  # The model reads it, which takes a while.
        asked = _tool_line(tool) if tool else result.name
        came = on_one_line(result.line)
        if tool and came == on_one_line(tool.line):  # Done as asked: it need not be read twice.
            self.note(asked)
        else:
            self.note(f"{asked} → {'failed: ' if result.is_error else ''}{came}")

    def said(self, text: str, remark: str = "") -> None:
        """What the person said stands above what is still being written."""
        first, *more = cleaned(text).rstrip("\n").split("\n")
        remark = self._styled(f"  ({remark})", DIM) if remark else ""
        self._finished.append("\n".join([f"{SAID}{first}", *(f"  {line}" for line in more)]) + f"{remark}\n")

    def note(self, text: str) -> None:
        """A quiet line, of the program and not of the agent."""
        self._finished.append(self._styled(f"· {cleaned(text)}", DIM) + "\n")
        self._is_behind_line = not self._rest

    def quietly(self, text: str) -> None:
        """Lines of another time."""
        self._finished += [self._styled(line, DIM) + "\n" if line else "\n" for line in cleaned(text).split("\n")]

    def problem(self, text: str) -> None:
        self._end_line()
        self._finished.append(self._styled(f"! {cleaned(text)}", RED) + "\n")

    def end(self, remark: str = "") -> None:
        """A turn is over: nothing of it grows any more. An empty line sets it apart."""
        self._end_line()
        for tool in self._tools:
            self.note(_tool_line(tool))
        self._tools = []
        self._is_thinking = self._is_waiting = False
        if remark:
            self.note(remark)
        self._finished.append("\n")
        self._is_behind_line = True

    # What is taken

    @property
    def doing(self) -> list[str]:
        """What happens at this moment, in quiet lines that nobody keeps."""
        lines = [f"· {_tool_line(tool)} …" for tool in self._tools]
        if lines or self._rest:
            return lines
        return ["· thinking …"] if self._is_thinking else ["· answering …"] if self._is_waiting else []

    def rest(self, most_characters: int) -> str:
        """The end of what still grows."""
        parts: list[str] = []
        length = 0
        for part in reversed(self._rest):
            parts.append(part)
            length += len(part)
            if length > most_characters:
                break
        whole = "".join(reversed(parts))
        return whole if length <= most_characters else "…" + whole[-most_characters:]

    def take_finished(self) -> str:
        taken, self._finished = "".join(self._finished), []
        return taken

    def take_all(self) -> str:
        """Also what still grows: where nothing is drawn below it."""
        taken, self._finished, self._rest = "".join([*self._finished, *self._rest]), [], []
        return taken

    def _end_line(self) -> None:
        if self._rest:
            self._finished += [*self._rest, "\n"]
            self._rest = []

    def _styled(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._has_colours else text


def _tool_line(tool: ToolUse) -> str:
    return on_one_line(f"{tool.name} {tool.line}")
