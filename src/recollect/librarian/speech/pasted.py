"""Blocks of a message that were pasted: code, logs, diffs, tables, mails, chats, documents.

`foreign_blocks` goes over the lines once, from the top. A line belongs to a block by what it looks like, or because a
line before it opened a block that is not closed yet. Text that is announced ("she wrote:", "here is the article:")
reaches to the end of its line or, when the announcement ends the line, to the end of the message: where it ends nobody
marked.
"""

import re
from collections import Counter
from dataclasses import dataclass

from recollect.librarian.speech.announced import COLON, HANDS_OVER, MOST_ANNOUNCING_CHARACTERS, is_announcement

Span = tuple[int, int]

_FENCE = re.compile(r"[ \t]{0,12}(?:[-*+>]\s{1,3})?(`{3,}|~{3,})")
_QUOTE = re.compile(r"[ \t]{0,12}(?:>(?!\d|=)|\|\s?>)")
_HEADING = re.compile(r"[ \t]{0,3}#{1,6}\s")
_INDENTED = re.compile(r"(?: {4}|\t)\s*\S")
_LIST = re.compile(r"[ \t]*(?:[-*+•–]|\d{1,3}[.)])\s")
_DIVIDER = re.compile(r"\s*(\"{3}|'{3}|-{3,}|={3,}|\*{3,}|_{3,}|~{3,})\s*$")

_SHELL = re.compile(
    r"\s{0,8}(?:[$❯➜]\s|>>>\s|\.\.\.\s|In \[\d+\]|Out\[\d+\]|PS [A-Z]:\\|C:\\.{0,200}>"
    r"|[\w.-]{1,40}@[\w.-]{1,60}[:~ ].{0,200}[$#%]\s)"
)
_LOG = re.compile(
    r"""\s{0,8}(?:
      [\[(]?\d{4}[-/.]\d\d[-/.]\d\d[T ,]+\d\d:\d\d | \[?\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?\s?(?:[AP]M)?\]\s
    | \d\d:\d\d:\d\d\b | \[?\d{1,2}[./]\d{1,2}[./]\d{2,4},?\s\d{1,2}:\d\d
    | (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\s+\d{1,2}\s\d\d:\d\d
    | \[?(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL|PANIC|SEVERE)\b[\]:|\s]
    | \[(?:trace|debug|info|notice|warn(?:ing)?|error|fatal|critical|err|out)\]
    | (?:error|warning|note|fatal|panic|hint|help|err|stderr|stdout)(?:\[\w+\])?:\s
    | npm\s(?:ERR!|WARN|error|warn) | (?:✓|✔|✖|✗|✘|PASS|FAIL|PASSED|FAILED|SKIPPED)\s+\S+[./:]
    | ={3,}.{0,200}={3,}\s*$ | \[\d{1,4}/\d{1,4}\]\s
    )""",
    re.VERBOSE,
)
_TRACE = re.compile(
    r"""\s{0,12}(?:Traceback\s\(most\srecent | File\s".{1,300}",\sline\s\d
    | at\s.{0,300}(?:\(.{0,300}:\d+|:\d+:\d+|\(native|\(Native)
    | at\s[\w$.<>]{3,200}\( | Caused\sby: | Exception\sin\sthread | goroutine\s\d+\s\[ | thread\s'.{0,80}'\spanicked
    | -->\s\S+:\d+ | \d*\s\|\s | \.{3}\s\d+\smore | stack\sbacktrace
    | (?:[\w$]+\.)*[\w$]*(?:Error|Exception|Warning)(?:\s\[\w+\])?:\s )""",
    re.VERBOSE,
)
_DIFF = re.compile(
    r"(?:diff --(?:git|cc) |@@ -\d|--- (?:a/|/dev/null|\S+\s+\d{4})"
    r"|\+\+\+ (?:b/|/dev/null|\S+\s+\d{4})|index [0-9a-f]{7,}\.\.)"
)
_IN_DIFF = re.compile(r"[-+ @\\]|diff |index |new file|deleted file|rename |similarity |old mode|new mode|Binary files")
_TABLE = re.compile(r"\s*\|.*\|\s*$|\s*:?-{2,}:?\s*\|[-:|\s]*$|\s*\+[-=+]{3,}\+\s*$|\s*[┌├└│╔║╚╠]")
_DATA = re.compile(
    r"""\s*(?: [{}\[\]]+[,;]?\s*$ | "[^"\n]{1,80}"\s*:\s | [\w.-]{1,40}:\s*[{\[|>]\s*$ | [{\[]\s*["{\[].*[\]},]\s*$
    | </?[\w:-]+[^<>]*>\s*$ | <[\w:-]+[^<>]*>.*</[\w:-]+>\s*$ | <\?xml | <!DOCTYPE | <!-- )""",
    re.VERBOSE,
)
_CODE = re.compile(
    r"""\s*(?: (?:import|from)\s[\w.{}*,\s'"@/-]{1,200}(?:;|\simport\s.*|["'];?)$
    | import\s[\w.]+$ | \#include\b | package\s[\w.]+;?$ | using\s[\w.]+;$
    | (?:async\s+)?(?:def|fn|func|function)\s+[\w<>]*\s?\(.*[{:)]\s*$ | class\s+\w+.{0,200}[:{]\s*$
    | (?:export\s+)?(?:const|let|var|type|interface|enum)\s+\w+.{0,400}[=:{].{0,400}[;{(\[,]?\s*$
    | (?:pub|public|private|protected|static|abstract|override)\s.{0,400}[{;(]\s*$
    | (?:if|for|while|switch|try|else|elif|except|catch|match|with)\b.{0,400}[{:]\s*$
    | (?:SELECT|INSERT\sINTO|UPDATE|DELETE\sFROM|CREATE\s(?:TABLE|INDEX)
        |ALTER\sTABLE|DROP)\s.{0,2000}(?:;|FROM|WHERE|\(|SET)
    | return\s.{0,400};$ | [\w.\[\]"']+\s*(?:[-+*/|&]|\?\?)?=\s?[^=].{0,400};?$
    | [\w.]+\([^()\n]{0,400}\)\s?[;{]?\s*$ | [})\]]+[;,)]*\s*$ | //\s | /\*|\*/ | @\w+(?:\(.*\))?$
    | [A-Z][A-Z0-9_]{2,60}=\S* | \[[\w.\s"-]{1,80}\]$ | \#!/ )""",
    re.VERBOSE,
)
_MAIL = re.compile(
    r"\s*\**(?:From|To|Cc|Bcc|Subject|Sent|Date|Reply-To|Von|An|Betreff|Gesendet|Datum|De|Para|À|A|Asunto"
    r"|Objet|Enviado|Envoyé|Oggetto|Assunto)\**\s?:\**\s"
)
_FORWARDED = re.compile(
    r"\s*[->]*\s?-{2,}.{0,20}(?:Forwarded|Original|Weitergeleitet|Ursprüngliche|Reenviado|Transféré"
    r"|Inoltrato)\b.{0,40}-{2,}|\s*(?:Begin forwarded message|Anfang der weitergeleiteten)"
)
_MAIL_SURE = re.compile(r"\s*\**(?:Subject|Betreff|Asunto|Objet|Oggetto|Assunto|From|Von)\**\s?:")
_CHAT = re.compile(r"\s*\**([A-ZÀ-Þ][\w.'-]{0,24}(?: [A-ZÀ-Þ][\w.'-]{0,24})?)\**\s?(?:\(\d[^)]{0,20}\))?:\**\s+\S")
_MACHINE = re.compile(
    r"\s*(?:\[[^\[\]\n]{1,400}\]\s*$|/[a-z][\w:-]{1,40}(?:\s\S{0,200})?$|Caveat: |\*{3} "
    r"|-{3,} ?(?:BEGIN|END|Forwarded|Original)|On .{4,200} wrote:"
    r"|Am .{4,200} schrieb|El .{4,200} escribió:|Le .{4,200} a écrit)"
)

FEWEST_CHAT_LINES = 3
_FORMATTING = frozenset(
    {"b", "i", "u", "em", "strong", "br", "p", "span", "a", "code", "kbd", "sub", "sup", "s", "hr", "li", "ul", "ol"}
)
_BLOCK_TAG = re.compile(r"<(/?)([A-Za-z][\w:-]{0,60})(?:\s[^<>\n]{0,400})?(/?)>")


def foreign_blocks(text: str) -> list[Span]:
    """Sorted and not overlapping."""
    blocks = _tagged(text)
    reading = _Reading(text=text, chat_names=_chat_names(text))
    for start, end in _lines(text):
        if reading.is_foreign(start, end):
            blocks.append((reading.from_ if reading.from_ >= 0 else start, end))
    return _joined(blocks)


@dataclass(slots=True, kw_only=True)
class _Reading:
    """Where in the text one stands, and what is open."""

    text: str
    chat_names: frozenset[str]
    fence: str = ""
    rest: bool = False
    """All that follows was announced or is a mail."""
    divider: str = ""
    """What ends an announced text, where its beginning is marked."""
    awaits: bool = False
    """An announcement ended the last line with words: a divider may come."""
    hands_over: bool = False
    """The author said that they got something: what follows after an empty line is that."""
    diff: bool = False
    trace: bool = False
    front: bool = False
    mails: int = 0
    is_after_blank: bool = True
    is_in_list: bool = False
    is_in_code: bool = False
    from_: int = -1
    """Where in the present line the foreign part begins. -1: all of it."""

    def is_foreign(self, start: int, end: int) -> bool:
        self.from_ = -1
        line = self.text[start:end]
        if not line.strip():
            self.is_after_blank = True
            self.trace = False
            return bool(self.fence or self.rest or self.front or self.divider)
        if self.hands_over and self.is_after_blank:
            self.rest, self.hands_over = True, False
        found = self._in_open_block(line, start) or self._by_look(line) or self._announces(line, start)
        self.is_in_list = bool(_LIST.match(line)) or (self.is_in_list and line[0] in " \t")
        self.is_after_blank = False
        self.hands_over = self.hands_over or bool(not found and start < 400 and HANDS_OVER.search(line))
        return found

    def _in_open_block(self, line: str, start: int) -> bool:
        fence = _FENCE.match(line)
        if self.fence:
            if fence and fence[1][0] == self.fence[0] and len(fence[1]) >= len(self.fence):
                self.fence = "" if not line[fence.end() :].strip() else self.fence
            return True
        if fence and "`" not in line[fence.end() :]:
            self.fence = fence[1]
            if self.awaits:
                self.awaits = self.rest = False
            return True
        return self._in_document(line, start)

    def _in_document(self, line: str, start: int) -> bool:
        divider = _DIVIDER.match(line)
        if self.divider:
            if divider and divider[1][0] == self.divider:
                self.divider = ""
            return True
        if divider and (self.awaits or divider[1][0] in "\"'"):
            self.divider, self.rest, self.awaits = divider[1][0], False, False
            return True
        if divider and start == 0 and divider[1][0] == "-":
            self.divider = "-"
            return True
        self.awaits = False
        return self.rest or bool(divider)

    def _by_look(self, line: str) -> bool:
        if self._in_mail(line) or self._in_diff(line) or self._in_trace(line):
            return True
        if _INDENTED.match(line) and not self.is_in_list and (self.is_after_blank or self.is_in_code):
            self.is_in_code = True
            return True
        self.is_in_code = bool(_CODE.match(line) or _DATA.match(line) or _SHELL.match(line))
        chat = _CHAT.match(line) if self.chat_names else None
        return bool(
            self.is_in_code
            or _QUOTE.match(line)
            or _HEADING.match(line)
            or _LOG.match(line)
            or _TABLE.match(line)
            or _MACHINE.match(line)
            or (chat and chat[1] in self.chat_names)
        )

    def _in_mail(self, line: str) -> bool:
        """Two header lines, one of them sure, or a mark of forwarding begin a mail; it reaches to the end."""
        if _FORWARDED.match(line):
            self.rest = True
            return True
        if not _MAIL.match(line):
            self.mails = 0
            return False
        self.mails += 2 if _MAIL_SURE.match(line) else 1
        self.rest = self.rest or self.mails > 2
        return bool(_MAIL_SURE.match(line)) or self.mails > 2

    def _in_diff(self, line: str) -> bool:
        self.diff = bool(_DIFF.match(line) or (self.diff and _IN_DIFF.match(line)))
        return self.diff

    def _in_trace(self, line: str) -> bool:
        self.trace = bool(_TRACE.match(line) or (self.trace and line[0] in " \t"))
        return self.trace

    def _announces(self, line: str, start: int) -> bool:
        """Words that say whose words come next. The announcement itself is own, so that only the rest is foreign."""
        head = line[:MOST_ANNOUNCING_CHARACTERS]
        for colon in COLON.finditer(head):
            has_more = bool(line[colon.end() :].strip(" *_"))
            if not is_announcement(head[: colon.start()], has_more):
                continue
            if has_more:
                self.from_ = start + colon.end()
                return True
            self.rest = self.awaits = True
        return False


def _lines(text: str) -> list[Span]:
    spans: list[Span] = []
    at = 0
    for line in text.split("\n"):
        spans.append((at, at + len(line)))
        at += len(line) + 1
    return spans


def _chat_names(text: str) -> frozenset[str]:
    """Who speaks in a pasted chat: at least three lines of `Name: words`, one of the names twice."""
    names = Counter(match[1] for line in text.split("\n") if (match := _CHAT.match(line)))
    is_chat = sum(names.values()) >= FEWEST_CHAT_LINES and len(names) > 1 and max(names.values()) > 1
    return frozenset(names) if is_chat else frozenset()


def _tagged(text: str) -> list[Span]:
    """From each opening tag to its end, both included: outermost first. Formatting of words is none."""
    if "</" not in text:
        return []
    tags = [match for match in _BLOCK_TAG.finditer(text) if match[2].lower() not in _FORMATTING and not match[3]]
    ends: dict[str, list[int]] = {}
    for match in tags:
        if match[1]:
            ends.setdefault(match[2].lower(), []).append(match.end())
    blocks: list[Span] = []
    opening, depth = None, 0
    for match in tags:
        name = match[2].lower()
        if opening is None:
            if not match[1] and ends.get(name, [0])[-1] > match.start():
                opening, depth = match, 1
            continue
        if name != opening[2].lower():
            continue
        depth += -1 if match[1] else 1
        if not depth or (match[1] and match.end() == ends[name][-1]):
            blocks.append((opening.start(), match.end()))
            opening = None
    return blocks


def _joined(blocks: list[Span]) -> list[Span]:
    result: list[Span] = []
    for start, end in sorted(blocks):
        if result and start <= result[-1][1] + 1:
            result[-1] = (result[-1][0], max(result[-1][1], end))
        elif end > start:
            result.append((start, end))
    return result
