"""Anthropic's memory tool (`memory_20250818`) over the notes: six commands on `/memories`, which is their folder.

Results and errors have the words of the SDK's own implementation on files, which models know;
`tests/store/test_memory_tool.py` runs the same calls on both. Where notes are stricter than files (names, links, sizes,
diary entries, what belongs to others) the error is ours. Credentials are masked before anything is cut. Every change
goes through `Notes` and is a version.
"""

import posixpath
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from recollect.errors import Conflict, Denied, Invalid, NotFound, RecollectError, Unavailable
from recollect.notes.memory_texts import inserted, numbered, replaced, size_text, snippet
from recollect.notes.memory_tree import NoteTree, Place
from recollect.notes.paths import ROOT
from recollect.notes.shown import Shown, shown_of
from recollect.notes.versions import Note, Written

if TYPE_CHECKING:
    from anthropic.tools import BetaAbstractMemoryTool
    from anthropic.types.beta import (
        BetaMemoryTool20250818CreateCommand,
        BetaMemoryTool20250818DeleteCommand,
        BetaMemoryTool20250818InsertCommand,
        BetaMemoryTool20250818RenameCommand,
        BetaMemoryTool20250818StrReplaceCommand,
        BetaMemoryTool20250818ViewCommand,
    )

    from recollect.notes.notes import Notes

TYPE, NAME = "memory_20250818", "memory"
LEVELS = 2
"""Of folders in a listing."""
ALL_LEVELS = 100
LISTING = "Here're the files and directories"
"""How the view of a folder begins, and no other result."""
HINT = ". Please provide a valid path."

Command = Mapping[str, Any]


class MemoryTool:
    def __init__(self, notes: "Notes") -> None:
        self._notes = notes
        self._tree = NoteTree(notes)
        self._commands: dict[str, Callable[[Command], str]] = {
            "view": self._view,
            "create": self._create,
            "str_replace": self._replace,
            "insert": self._insert,
            "delete": self._delete,
            "rename": self._rename,
        }

    def definition(self) -> dict[str, str]:
        """As it stands in `tools` of a request."""
        return {"type": TYPE, "name": NAME}

    def execute(self, command: Command) -> str:
        """The text of the result, for what a model sent as the input. The text of an error is for the model too: hand
        it over as a result that `is_error`."""
        if not isinstance(command, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise Invalid(f"The input of the memory tool is an object, not {type(command).__name__}.")
        name = _text(command, "command")
        if name not in self._commands:
            raise Invalid(f"Unknown command: {name[:100]}. Use one of {', '.join(self._commands)}.")
        if self._notes.principal.may_write:
            self._notes.prepare()
        return self._commands[name](command)

    # The six commands

    def _view(self, command: Command) -> str:
        path, chosen = _text(command, "path"), _range(command)
        name = _name_of(path)
        found = self._tree.there(name, path, HINT)
        if isinstance(found, Note):
            return numbered(shown_of(_content(found, path)).text, path, chosen)
        self._notes.look()
        lines = [f"{size_text(self._tree.size(name))}\t{path}"]
        for entry in self._tree.entries(name, LEVELS):
            below = entry.path[len(name) :].lstrip("/") + "/" * entry.is_folder
            lines.append(f"{size_text(entry.size)}\t{path}/{below}")
        header = f"{LISTING} up to 2 levels deep in {path}, excluding hidden items:"
        return "\n".join([header, *lines])

    def _create(self, command: Command) -> str:
        path, text = _text(command, "path"), _text(command, "file_text")
        name = _name_of(path)
        with self._taken(name, path, f"File {path} already exists"):
            written = self._notes.create(name, text, reason=_reason(command))
        return f"File created successfully at: {path}{_masked(written)}"

    def _replace(self, command: Command) -> str:
        path, old, new = _text(command, "path"), _text(command, "old_str"), _text(command, "new_str")
        lines: list[int] = []

        def change(before: Shown) -> str:
            _, line = replaced(before.text, old, new, path)
            lines[:] = [line]
            start = before.text.find(old)
            return before.replaced(start, start + len(old), new)

        written = self._change(command, path, change)
        stored = self._notes.read(written.version.path, written.version.number)
        edited = "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
        return f"{edited}\n{snippet(shown_of(stored.text).text, lines[0])}{_masked(written)}"

    def _insert(self, command: Command) -> str:
        path, line, text = _text(command, "path"), _number(command, "insert_line"), _text(command, "insert_text")
        written = self._change(command, path, lambda before: inserted(before.content, line, text))
        return f"The file {path} has been edited.{_masked(written)}"

    def _delete(self, command: Command) -> str:
        path = _text(command, "path")
        name = _name_of(path)
        if not name:
            raise Denied("Cannot delete the /memories directory itself")
        found = self._tree.there(name, path)
        if isinstance(found, Note):
            self._notes.remove(found.path, reason=_reason(command))
            return f"Successfully deleted {path}"
        if self._notes.list(name):
            self._notes.remove(name, reason=_reason(command))
        else:
            self._tree.remove_folder(name)
        left = [entry.path for entry in self._tree.entries(name, ALL_LEVELS) if not entry.is_folder]
        if left:
            raise Conflict(f"The notes in {path} are deleted. What is no note was left there: {', '.join(left[:5])}.")
        return f"Successfully deleted {path}"

    def _rename(self, command: Command) -> str:
        path, new_path = _text(command, "old_path"), _text(command, "new_path")
        name, new = _name_of(path), _name_of(new_path)
        if not name:
            raise Denied("Cannot rename the /memories directory itself")
        with self._taken(new, new_path, f"The destination {new_path} already exists"):
            found = self._tree.there(name, path)
            if new.startswith(f"{name}/"):
                raise Invalid(f"{path} cannot be moved into itself, to {new_path}")
            if isinstance(found, Note):
                self._notes.move(found.path, new, reason=_reason(command))
            else:
                self._move_folder(name, new, _reason(command))
        return f"Successfully renamed {path} to {new_path}"

    def _move_folder(self, name: str, new: str, reason: str) -> None:
        """With the empty folders in it, as on a disk."""
        folders = [name, *(entry.path for entry in self._tree.entries(name, ALL_LEVELS) if entry.is_folder)]
        has_notes = bool(self._notes.list(name))
        if has_notes:
            self._notes.move(name, new, reason=reason)
        for folder in folders:
            self._tree.make_folder(f"{new}{folder[len(name) :]}")
        if not has_notes:
            self._tree.remove_folder(name)

    def _change(self, command: Command, path: str, change: Callable[[Shown], str]) -> Written:
        """`change` looks at what is shown: whether a guess at a credential is right, no model is told."""
        found = self._tree.there(_name_of(path), path, HINT)
        if not isinstance(found, Note):
            raise Invalid(f"The path {path} is not a file.")
        _content(found, path)

        def changed(content: str | None) -> str:
            if content is None:
                raise NotFound(f"The file {path} no longer exists (may have been deleted or renamed concurrently).")
            before = shown_of(content)
            after = change(before)
            before.check_kept(after, path)
            return after

        return self._notes.change(found.path, changed, reason=_reason(command))

    @contextmanager
    def _taken(self, name: str, path: str, message: str) -> Generator[None]:
        """Something is to be made at this place: a Conflict when something is there, or comes there meanwhile."""
        if self._tree.at(name, path) is not Place.NOTHING:
            raise Conflict(message)
        try:
            yield
        except Conflict:
            if self._tree.at(name, path) is Place.NOTHING:
                raise
            raise Conflict(message) from None


def sdk_tool(notes: "Notes") -> "BetaAbstractMemoryTool":
    """The same as a tool object of Anthropic's SDK, for its tool runner."""
    try:
        from anthropic.tools import BetaAbstractMemoryTool, ToolError
    except ImportError as error:
        raise Unavailable("Anthropic's SDK is not installed: pip install 'recollect[anthropic]'") from error
    tool = MemoryTool(notes)

    def run(given: object) -> str:
        try:
            return tool.execute(cast(Command, given))
        except RecollectError as error:
            raise ToolError(str(error)) from error

    class RecollectMemoryTool(BetaAbstractMemoryTool):
        """`call` takes what the model sent as it is: the SDK would make an object of it without looking."""

        def call(self, input: object) -> str:  # noqa: A002
            return run(input)

        def view(self, command: "BetaMemoryTool20250818ViewCommand") -> str:
            return run(command.to_dict())

        def create(self, command: "BetaMemoryTool20250818CreateCommand") -> str:
            return run(command.to_dict())

        def str_replace(self, command: "BetaMemoryTool20250818StrReplaceCommand") -> str:
            return run(command.to_dict())

        def insert(self, command: "BetaMemoryTool20250818InsertCommand") -> str:
            return run(command.to_dict())

        def delete(self, command: "BetaMemoryTool20250818DeleteCommand") -> str:
            return run(command.to_dict())

        def rename(self, command: "BetaMemoryTool20250818RenameCommand") -> str:
            return run(command.to_dict())

    return RecollectMemoryTool()


def _name_of(path: str) -> str:
    """`/memories/a/b.md` → `a/b.md`; empty for the folder itself."""
    if not path.startswith(ROOT):
        raise Invalid(f"Path must start with /memories, got: {path}")
    base = f"/base{ROOT}"
    whole = posixpath.normpath(f"{base}/{path[len(ROOT) :].lstrip('/')}")
    if whole != base and not whole.startswith(f"{base}/"):
        raise Denied(f"Path {path} would escape /memories directory")
    return whole[len(base) + 1 :]


def _content(note: Note, path: str) -> str:
    if not (note.is_text and note.is_utf8):
        raise Invalid(f"The file {path} is not text in UTF-8: it can be deleted or renamed, not read or edited here.")
    return note.text


def _masked(written: Written) -> str:
    return f"\nCredentials in it were masked: {written.masked}." if written.masked else ""


def _reason(command: Command) -> str:
    """A soul is not changed without one, and the tool has no field for it."""
    return f"{command['command']} with the memory tool"


def _text(command: Command, field: str) -> str:
    value = command.get(field)
    if not isinstance(value, str):
        raise Invalid(f"The memory tool needs `{field}`, a text{_given(command, field)}.")
    return value


def _number(command: Command, field: str) -> int:
    value = command.get(field)
    if not _is_number(value):
        raise Invalid(f"The memory tool needs `{field}`, a whole number{_given(command, field)}.")
    return cast(int, value)


def _range(command: Command) -> tuple[int, int] | None:
    """None: all lines. So the SDK takes one that has not two numbers, too."""
    value = command.get("view_range")
    if value is None:
        return None
    if not isinstance(value, list | tuple) or not all(_is_number(one) for one in cast(list[object], value)):
        raise Invalid("`view_range` is a list of two whole numbers, such as [1, 20].")
    numbers = cast(list[int], value)
    return (numbers[0], numbers[1]) if len(numbers) == 2 else None


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _given(command: Command, field: str) -> str:
    return f", not {type(command[field]).__name__}" if field in command else ""
