"""The events of a stream (`text/event-stream`), from bytes that come in any pieces.

Only what is said is given: names, ids and comments, by which some servers keep a line open, are not.
"""

from collections.abc import Iterator


class Events:
    def __init__(self) -> None:
        self._rest = b""
        self._lines: list[str] = []

    @property
    def unread_bytes(self) -> int:
        """Of an event that is not complete yet."""
        return len(self._rest) + sum(len(line) for line in self._lines)

    def take(self, piece: bytes) -> Iterator[str]:
        """What is said by the events that are complete now."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for raw in lines:
            yield from self._line(raw.removesuffix(b"\r"))

    def end(self) -> Iterator[str]:
        """The last event, of a server that leaves out the empty line behind it."""
        rest, self._rest = self._rest, b""
        yield from self._line(rest.removesuffix(b"\r"))
        yield from self._line(b"")

    def _line(self, raw: bytes) -> Iterator[str]:
        if raw.startswith(b"data:"):
            self._lines.append(raw[5:].removeprefix(b" ").decode("utf-8", "replace"))
        elif not raw and self._lines:
            said, self._lines = "\n".join(self._lines), []
            if said.strip():
                yield said
