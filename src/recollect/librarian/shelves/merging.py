"""A shelf as it shall be, put into a note that others write in too. Pure.

Ours are the lines with an anchor, the headings of our sections, the title and our keys of the front matter; all other
lines stay as they are, in their order. Under a heading of ours our lines stand in our order; under somebody else's
heading they stay where they were put, and only their words follow. A line that stands twice follows twice. A section of
ours in which nothing is left goes. What is in a block of code is nobody's line.
"""

import re
from dataclasses import dataclass

from recollect.librarian.shelves import front
from recollect.librarian.shelves.anchors import Anchor, AnchorKind, anchor_of, outside_fences
from recollect.librarian.shelves.pages import Page, Section, heading_key

_ENDS = re.compile(r"([^\r\n]*)(\r\n|\n|\r|$)")
_HEADING = re.compile(r"(#{1,6})\s")
LEVEL = 2
"""Of our headings."""
BOM = "\ufeff"


@dataclass(slots=True)
class _Row:
    text: str
    end: str
    is_text: bool = True
    """Not in a block of code."""
    _read: tuple[str, Anchor | None] = ("", None)
    """A text and its anchor, which is asked for many times."""

    @property
    def level(self) -> int:
        found = _HEADING.match(self.text) if self.is_text else None
        return len(found.group(1)) if found else 0

    @property
    def anchor(self) -> Anchor | None:
        if not self.is_text:
            return None
        if self._read[0] is not self.text:
            self._read = (self.text, anchor_of(self.text))
        return self._read[1]

    @property
    def is_blank(self) -> bool:
        return not self.text.strip()

    @property
    def is_nested(self) -> bool:
        return self.text[:1] in (" ", "\t") and not self.is_blank


@dataclass(frozen=True, slots=True)
class _Part:
    """What stands below one heading."""

    key: str
    """Empty: somebody else's heading, or none."""
    start: int
    end: int
    """To the next heading of any level."""
    extent: int
    """To the next heading that is no less than this one."""


def merged(now: str, page: Page) -> str:
    """The text of the note from now on. Empty: there is nothing to say and nobody else says anything."""
    if not now.strip(f"{BOM}\r\n\t "):
        return canonical(page)
    document = _Document(now, page)
    document.merge_front()
    document.follow()
    document.drop_empty()
    document.drop_misplaced()
    document.insert()
    document.sort()
    return document.text() if document.has_words() else ""


def canonical(page: Page) -> str:
    """As it is when nobody else has written in it."""
    if page.is_empty:
        return ""
    lines = [*front.rendered(page.front), "", f"# {page.title}"]
    for section in page.sections:
        if section.lines:
            lines += ["", section.heading, "", *(line.text for line in section.lines)]
    return "\n".join(lines) + "\n"


class _Document:
    def __init__(self, text: str, page: Page) -> None:
        self._page = page
        self._bom = BOM if text.startswith(BOM) else ""
        found = [(one[1], one[2]) for one in _ENDS.finditer(text.removeprefix(BOM)) if one[0]]
        self._end = "\r\n" if 2 * sum(end == "\r\n" for _, end in found) > len(found) else "\n"
        self._rows = [_Row(line, end) for line, end in found]
        self._front = front.length_of([row.text for row in self._rows])
        visible = outside_fences([row.text for row in self._rows[self._front :]])
        for row, is_text in zip(self._rows[self._front :], visible, strict=True):
            row.is_text = is_text
        self._wanted = {line.anchor: (section, line) for section in page.sections for line in section.lines}
        self._sections = {section.key: section for section in page.sections}
        self._order = {key: place for place, key in enumerate(self._sections)}
        self._ranks = {line.anchor: place for place, line in enumerate(page.lines)}
        self._own_title = f"# {front.value_of([row.text for row in self._rows[: self._front]], 'title')}"

    def text(self) -> str:
        return self._bom + "".join(f"{row.text}{row.end}" for row in self._rows)

    # What is there

    def _parts(self) -> list[_Part]:
        starts = [place for place, row in enumerate(self._rows) if place >= self._front and row.level]
        parts: list[_Part] = []
        for number, start in enumerate(starts):
            level = self._rows[start].level
            following = starts[number + 1 :]
            beyond = next((place for place in following if self._rows[place].level <= level), len(self._rows))
            end = following[0] if following else len(self._rows)
            parts.append(_Part(self._key(self._rows[start]), start, end, beyond))
        return parts

    def _key(self, row: _Row) -> str:
        anchor = row.anchor
        if anchor:
            return str(anchor) if anchor.kind is AnchorKind.CONVERSATION and not anchor.number else ""
        key = heading_key(row.text)
        return key if key in self._sections or key in self._page.headings else ""

    def _ours(self) -> dict[str, _Part]:
        found: dict[str, _Part] = {}
        for part in self._parts():
            if part.key:
                found.setdefault(part.key, part)
        return found

    def _lines_in(self, part: _Part) -> dict[Anchor, int]:
        """Our lines below a heading of ours, and where they stand."""
        section = self._sections.get(part.key)
        found: dict[Anchor, int] = {}
        for place in range(part.start + 1, part.end):
            anchor = self._rows[place].anchor
            if anchor in self._wanted and self._wanted[anchor][0] is section:
                found[anchor] = place
        return found

    def _present(self) -> set[Anchor]:
        return {anchor for row in self._rows[self._front :] if not row.level and (anchor := row.anchor)}

    def has_words(self) -> bool:
        """Whether it says anything: of ours, or of somebody else's."""
        if not self._page.is_empty or front.has_others(
            [row.text for row in self._rows[: self._front]], self._page.front
        ):
            return True
        bare = {self._own_title, f"# {self._page.title}"}
        return any(not row.is_blank and row.text not in bare for row in self._rows[self._front :])

    # Changes

    def merge_front(self) -> None:
        there = [row.text for row in self._rows[: self._front]]
        if self._page.is_empty or (there and self._page.is_kept):
            return
        lines = front.merged(there, self._page.front) if there else [*front.rendered(self._page.front), ""]
        if lines != there:
            self._rows[: self._front] = [_Row(line, self._end) for line in lines]
        self._front = len(lines)
        for row in self._rows[self._front :]:
            if row.level == 1:
                if row.text == self._own_title:
                    row.text = f"# {self._page.title}"
                return

    def follow(self) -> None:
        """Lines that are not wanted go, as do those below another heading of ours than theirs; the others say what
        their records say."""
        gone: set[int] = set()
        key = ""
        for place, row in enumerate(self._rows):
            if place < self._front:
                continue
            anchor = row.anchor
            if row.level:
                key = self._key(row)
                if key and anchor and key in self._sections and not self._page.is_kept:
                    row.text = self._sections[key].heading
            elif anchor:
                section, line = self._wanted.get(anchor, (None, None))
                if section is None or line is None or (key and key != section.key):
                    gone.add(place)
                elif not self._page.is_kept:
                    indent = row.text[: len(row.text) - len(row.text.lstrip())]
                    row.text = line.text if key else indent + line.text.lstrip()
        self._rows = [row for place, row in enumerate(self._rows) if place not in gone]

    def drop_empty(self) -> None:
        """Sections of ours that nobody has a line in, now or in a moment."""
        present, first = self._present(), self._ours()
        for part in reversed(self._parts()):
            section = self._sections.get(part.key)
            is_awaited = section is not None and any(line.anchor not in present for line in section.lines)
            is_awaited = is_awaited and first[part.key] == part  # Somebody may have written our heading twice.
            if not part.key or is_awaited:
                continue
            if all(row.is_blank for row in self._rows[part.start + 1 : part.extent]):
                self._cut(part)
            elif section is None and self._rows[part.start].anchor:
                del self._rows[part.start]  # It says what is to be said no more; what others wrote below it stays.

    def drop_misplaced(self) -> None:
        """Sections in which nobody else wrote, and that stand below one that comes after them."""
        latest = -1
        cut: list[_Part] = []
        for part in self._ours().values():
            order = self._order.get(part.key, -1)
            if 0 <= order < latest and self._is_pure(part):
                cut.append(part)
            latest = max(latest, order)
        for part in reversed(cut):
            self._cut(part)

    def _is_pure(self, part: _Part) -> bool:
        section = self._sections[part.key]
        return all(
            row.is_blank or ((anchor := row.anchor) in self._wanted and self._wanted[anchor][0] is section)
            for row in self._rows[part.start + 1 : part.extent]
        )

    def _cut(self, part: _Part) -> None:
        is_last = part.extent >= len(self._rows)
        del self._rows[part.start : part.extent]
        while is_last and len(self._rows) > self._front and self._rows[-1].is_blank:
            self._rows.pop()

    def insert(self) -> None:
        present = self._present()
        for section in self._page.sections:
            missing = [line.anchor for line in section.lines if line.anchor not in present]
            if not missing:
                continue
            part = self._ours().get(section.key)
            if part:
                self._insert_lines(section, missing, part)
            else:
                self._insert_section(section, missing)

    def _insert_lines(self, section: Section, missing: list[Anchor], part: _Part) -> None:
        there = self._lines_in(part)
        if not there:
            self._insert_first(missing, part)
            return
        waiting = set(missing)
        place = min(there.values())
        for line in section.lines:
            if line.anchor in waiting:
                self._put(place, line.text)
                there = {anchor: at + 1 if at >= place else at for anchor, at in there.items()}
                place += 1
            elif line.anchor in there:
                place = self._below(there[line.anchor])

    def _below(self, place: int) -> int:
        """Behind a line and what others wrote indented below it."""
        place += 1
        while place < len(self._rows) and self._rows[place].is_nested and not self._rows[place].anchor:
            beyond = place + 1
            while beyond < len(self._rows) and not self._rows[place].is_text and not self._rows[beyond].is_text:
                beyond += 1
            if beyond > self._end_of_text():
                break
            place = beyond
        return place

    def _end_of_text(self) -> int:
        """Where more can be written: before a block of code that nobody closed."""
        place = len(self._rows)
        if place and not outside_fences([*(row.text for row in self._rows[self._front :]), "more"])[-1]:
            while place > self._front and not self._rows[place - 1].is_text:
                place -= 1
        return place

    def _end_of_sections(self) -> int:
        """Where another section can stand: not between a heading and its block of code that nobody closed."""
        place = self._end_of_text()
        if place == len(self._rows):
            return place
        above = [part.start for part in self._parts() if part.start < place and self._rows[part.start].level <= LEVEL]
        return above[-1] if above and self._rows[above[-1]].level == LEVEL else place

    def _insert_first(self, missing: list[Anchor], part: _Part) -> None:
        place = part.start + 1
        if place < part.end and self._rows[place].is_blank:
            place += 1
        else:
            self._put(place, "")
            place += 1
        for anchor in missing:
            self._put(place, self._wanted[anchor][1].text)
            place += 1
        if place < len(self._rows) and not self._rows[place].is_blank:
            self._put(place, "")

    def _insert_section(self, section: Section, missing: list[Anchor]) -> None:
        ours, keys = self._ours(), list(self._sections)
        place = self._end_of_sections()
        before = [ours[key] for key in keys[: self._order[section.key]] if key in ours]
        after = [ours[key] for key in keys[self._order[section.key] + 1 :] if key in ours]
        if before:
            place = min(place, before[-1].extent)
        elif after:
            place = after[0].start
        lines = [section.heading, "", *(self._wanted[anchor][1].text for anchor in missing)]
        if place > self._front and not self._rows[place - 1].is_blank:
            lines.insert(0, "")
        if place < len(self._rows):
            lines.append("")
        for line in lines:
            self._put(place, line)
            place += 1

    def _put(self, place: int, text: str) -> None:
        if place and not self._rows[place - 1].end:
            self._rows[place - 1].end = self._end
        self._rows.insert(place, _Row(text, self._end))

    def sort(self) -> None:
        """Each run of our lines that nothing else stands between, in our order."""
        for part in self._ours().values():
            there = set(self._lines_in(part).values())
            run: list[int] = []
            for place in range(part.start + 1, part.end + 1):
                has_child = place + 1 < part.end and self._rows[place + 1].is_nested and place + 1 not in there
                if place in there and not has_child:
                    run.append(place)
                    continue
                self._sort_run(run)
                run = []

    def _sort_run(self, run: list[int]) -> None:
        texts = sorted((self._rows[place].text for place in run), key=self._rank)
        for place, text in zip(run, texts, strict=True):
            self._rows[place].text = text

    def _rank(self, text: str) -> int:
        anchor = anchor_of(text)
        return self._ranks[anchor] if anchor else 0
