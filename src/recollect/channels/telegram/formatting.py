"""Markdown, as a model writes it, as Telegram shows it: a text, and what of it is formatted.

Pure, and for any text at all: what is no Markdown stays what it is, and no word that is read gets lost. An address that
cannot be a link is written out after the words of the link.

Telegram's rules for entities hold by construction: they are nested or apart, nothing is inside `pre` and `code` nor
around them but a quotation, and quotations and links are not in their like.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import unescape
from itertools import accumulate

from markdown_it import MarkdownIt
from markdown_it.token import Token
from wcwidth import wcswidth

from recollect.channels.telegram.entities import (
    SOLID,
    STYLES,
    Entity,
    Formatted,
    Span,
    is_visible,
    shown,
    trimmed,
    with_entities,
)
from recollect.texts import clean

__all__ = ["Entity", "Formatted", "formatted"]

MOST_URL_CHARACTERS = 2048
"""A longer one is written out: what Telegram does with it as a link is not known."""
MOST_NESTING = 40
"""Levels of quotations and lists. The parser drops what is deeper, so such a text stays as it was written."""
RULE = "———"
_KINDS = {"strong": "bold", "em": "italic", "s": "strikethrough", "link": "text_link"}
_SCHEMES = ("http://", "https://", "tg://")
_LANGUAGE = re.compile(r"[\w+#.-]{1,32}")
_BLANK_LINES = re.compile(r"(?:[^\S\n]*\n)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    text: str = ""
    spans: tuple[Span, ...] = ()
    is_loose: bool = False
    """A paragraph with empty lines around it: a list of such has them, too."""


def formatted(markdown: str) -> Formatted:
    source = clean(markdown)
    tokens = _PARSER.parse(source)
    if any(token.nesting == 1 and token.level >= MOST_NESTING - 1 for token in tokens):
        return Formatted(text=shown(source).strip())
    piece = _joined(_Page(source).blocks(iter(tokens)), "\n\n")
    text = piece.text.rstrip()
    if not is_visible(text):
        return Formatted(text=shown(source).strip())
    return with_entities(text, _untangled(text, piece.spans))


# Blocks


class _Page:
    """One text being read: tokens in, pieces out. Depth is bounded by `MOST_NESTING`."""

    def __init__(self, source: str) -> None:
        self._lines = source.split("\n")
        self._quotations = 0

    def blocks(self, tokens: Iterator[Token]) -> list[_Piece]:
        """Up to the end of what holds them."""
        found: list[_Piece] = []
        for token in tokens:
            if token.nesting == -1:
                break
            found.append(self._block(token, tokens))
        return found

    def _block(self, token: Token, tokens: Iterator[Token]) -> _Piece:
        match token.type:
            case "inline":
                return _inline(token)
            case "paragraph_open":
                return replace(_joined(self.blocks(tokens), "\n"), is_loose=not token.hidden)
            case "heading_open":
                return _whole(_joined(self.blocks(tokens), "\n"), "bold")
            case "bullet_list_open" | "ordered_list_open":
                return self._list(token, tokens)
            case "blockquote_open":
                return self._quotation(tokens)
            case "table_open":
                return self._table(token, tokens)
            case "fence" | "code_block":
                return _code(token)
            case "hr":
                return _Piece(text=RULE)
            case _:
                return _joined(self.blocks(tokens), "\n\n") if token.nesting == 1 else _Piece(text=shown(token.content))

    def _list(self, opened: Token, tokens: Iterator[Token]) -> _Piece:
        start = opened.attrGet("start")
        number = (1 if start is None else int(start)) if opened.type == "ordered_list_open" else None
        items: list[_Piece] = []
        is_loose = False
        for token in tokens:
            if token.nesting == -1:
                break
            blocks = self.blocks(tokens)
            is_loose = is_loose or any(block.is_loose for block in blocks)
            mark = "• " if number is None else f"{number + len(items)}{token.markup or '.'} "
            between = "\n\n" if sum(block.is_loose for block in blocks) > 1 else "\n"
            items.append(_indented(_joined(blocks, between), mark, " " * len(mark)))
        return _joined(items, "\n\n" if is_loose else "\n")

    def _quotation(self, tokens: Iterator[Token]) -> _Piece:
        """One inside another is marked by a sign: Telegram knows no such thing."""
        self._quotations += 1
        inside = _joined(self.blocks(tokens), "\n\n")
        self._quotations -= 1
        return _indented(inside, "> ", "> ") if self._quotations else _whole(inside, "blockquote")

    def _table(self, opened: Token, tokens: Iterator[Token]) -> _Piece:
        """In columns, and the links of its cells below: there can be none in what has columns."""
        rows: list[list[_Piece]] = []
        for token in tokens:
            if token.type == "table_close":
                break
            if token.type == "tr_open":
                rows.append([])
            elif token.type == "inline":
                rows[-1].append(_inline(token))
        texts = [[" ".join(cell.text.split()) for cell in row] for row in rows]
        links = [_linked(cell, span) for row in rows for cell in row for span in cell.spans if span.url]
        first, last = opened.map or (0, 0)
        source = shown("\n".join(self._lines[first:last]))
        kept = _words(" ".join([*(text for row in texts for text in row), *(link.spans[0].url for link in links)]))
        # A row with more cells than the head has is cut by the rules of tables.
        columns = _Piece(text=_in_columns(texts) if kept >= _words(unescape(source)) else source.strip())
        return _joined([_whole(columns, "pre"), *links], "\n")


def _code(token: Token) -> _Piece:
    text = shown(token.content)
    text = text[_BLANK_LINES.match(text).end() :].rstrip()  # type: ignore[union-attr] # It matches nothing, too.
    language, _, rest = token.info.strip().partition(" ")
    if not text or not _LANGUAGE.fullmatch(language):  # Words after a fence that nobody closed are no language.
        language, rest = "", token.info.strip()
    code = _Piece(text=text, spans=(Span(kind="pre", start=0, end=len(text), language=language),))
    return _joined([_Piece(text=shown(rest).strip()), code], "\n")


def _linked(cell: _Piece, span: Span) -> _Piece:
    return _whole(_Piece(text=cell.text[span.start : span.end]), "text_link", span.url)


def _words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text))


def _in_columns(rows: Sequence[Sequence[str]]) -> str:
    """With a line below the head. Counted in columns of a screen, for some letters take two."""
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    lines = [
        " │ ".join(text + " " * (width - _width(text)) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    lines.insert(1, "─┼─".join("─" * max(width, 1) for width in widths))
    return "\n".join(lines)


def _width(text: str) -> int:
    return max(wcswidth(text), 0)


# Lines


def _inline(token: Token) -> _Piece:
    line = _Line()
    for child in token.children or ():
        name, _, part = child.type.rpartition("_")
        if part == "open" and name in _KINDS:
            line.open(_KINDS[name], str(child.attrGet("href") or ""))
        elif part == "close" and name in _KINDS:
            line.close()
        elif child.type == "code_inline":
            line.open("code")
            line.write(shown(child.content))
            line.close()
        elif child.type == "image":
            line.open("text_link", str(child.attrGet("src") or ""))
            line.write(_inline(child).text)
            line.close()
        else:
            line.write("\n" if child.type in {"softbreak", "hardbreak"} else shown(child.content))
    return line.piece()


class _Line:
    def __init__(self) -> None:
        self._texts: list[str] = []
        self._length = 0
        self._spans: list[Span] = []
        self._opened: list[tuple[Span, int]] = []
        """With how many texts there were before each."""

    def write(self, text: str) -> None:
        self._texts.append(text)
        self._length += len(text)

    def open(self, kind: str, url: str = "") -> None:
        self._opened.append((Span(kind=kind, start=self._length, end=self._length, url=url), len(self._texts)))

    def close(self) -> None:
        span, first = self._opened.pop()
        kinds = {outer.kind for outer, _ in self._opened}
        words = "".join(self._texts[first:])
        if span.kind == "text_link" and not self._is_linked(span.url, words, is_inside="text_link" in kinds):
            return
        if span.kind not in kinds and not (span.kind == "code" and "text_link" in kinds):
            self._spans.append(replace(span, end=self._length))

    def piece(self) -> _Piece:
        return _Piece(text="".join(self._texts), spans=tuple(self._spans))

    def _is_linked(self, url: str, words: str, *, is_inside: bool) -> bool:
        """Whether it can be a link; its address is written out where it cannot."""
        address = shown(url.removeprefix("mailto:"))
        is_link = url.lower().startswith(_SCHEMES) and len(url) <= MOST_URL_CHARACTERS and not is_inside
        if not is_visible(words):
            self.write(address)
        elif not is_link and address and address != words:
            self.write(f" ({address})")
        return is_link


# Pieces


def _joined(pieces: Iterable[_Piece], between: str) -> _Piece:
    texts: list[str] = []
    spans: list[Span] = []
    length = 0
    for piece in pieces:
        if not piece.text.strip():
            continue
        if texts:
            texts.append(between)
            length += len(between)
        spans += [replace(span, start=span.start + length, end=span.end + length) for span in piece.spans]
        texts.append(piece.text)
        length += len(piece.text)
    return _Piece(text="".join(texts), spans=tuple(spans))


def _whole(piece: _Piece, kind: str, url: str = "") -> _Piece:
    """All of it formatted; what was so already is so once."""
    inner = [span for span in piece.spans if span.kind != kind]
    return replace(piece, spans=(Span(kind=kind, start=0, end=len(piece.text), url=url), *inner))


def _indented(piece: _Piece, first: str, rest: str) -> _Piece:
    """A mark before the first line, and as much room before the others; code stays where it is, so that it can be
    copied."""
    code = [span for span in piece.spans if span.kind == "pre"]
    lines = piece.text.split("\n")
    starts = list(accumulate((len(line) + 1 for line in lines[:-1]), initial=0))
    marks: list[str] = []
    for line, start in zip(lines, starts, strict=True):
        is_code = any(span.start <= start <= span.end for span in code)
        mark = rest if marks else first
        marks.append((mark.rstrip() + "\n" if not marks else "") if is_code else mark if line else mark.rstrip())
    moved = list(accumulate(map(len, marks), initial=0))

    def start_of(span: Span) -> int:
        return span.start + moved[bisect_right(starts, span.start)]

    def end_of(span: Span) -> int:
        return span.end + moved[bisect_right(starts, max(span.end - 1, span.start))]

    return _Piece(
        text="\n".join(mark + line for mark, line in zip(marks, lines, strict=True)),
        spans=tuple(replace(span, start=start_of(span), end=end_of(span)) for span in piece.spans),
    )


def _untangled(text: str, spans: Iterable[Span]) -> list[Span]:
    """Styles go around code, not over it; nothing is formatted where nothing is seen."""
    spans = [replace(span, end=min(span.end, len(text))) for span in spans if span.start < len(text)]
    solid = sorted((span.start, span.end) for span in spans if span.kind in SOLID)
    cut: list[Span] = []
    for span in spans:
        cut += _around(span, solid) if span.kind in STYLES else [span]
    return [kept for span in cut if (kept := trimmed(text, span))]


def _around(span: Span, solid: Sequence[tuple[int, int]]) -> Iterator[Span]:
    start = span.start
    for index in range(bisect_right(solid, (span.start, -1)), len(solid)):
        code_start, code_end = solid[index]
        if code_start >= span.end:
            break
        if start < code_start:
            yield replace(span, start=start, end=code_start)
        start = code_end
    if start < span.end:
        yield replace(span, start=start)


_PARSER = (
    MarkdownIt("commonmark", {"html": False, "maxNesting": MOST_NESTING})
    .enable(["strikethrough", "table"])
    .disable("reference")  # "[Note]: words" would be taken for the address of a link, and be gone.
)
