"""A fact of a memory folder: from the bytes of a file to a statement, and from a record to bytes. Pure.

Claude Code writes `name`, `description` and, flat or below `metadata`, a `type`: user, feedback, project, reference.
What else a record has stands below `metadata` too, with a mark, so that a file of ours read again gives the same
record. A file without front matter is a fact in its own words.
"""

import hashlib
import json
import posixpath
import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from urllib.parse import unquote

from recollect.clock import parse_time
from recollect.errors import Invalid
from recollect.knowledge.records import Category, Kind, Origin, Record, Statement
from recollect.librarian.shelves import front

INDEX = "MEMORY.md"
"""Also of a folder inside, such as that of a team."""
NODE_TYPE = "memory"
FORMAT = "1"
"""Of what we add below `metadata`. Under the key `recollect` it is also the mark that a file is ours."""
TAG = "claude-memory"
PROJECT_TAG = "project:"
CATEGORIES = {
    "user": Category.IDENTITY,
    "feedback": Category.OPERATIONAL,
    "project": Category.KNOWLEDGE,
    "reference": Category.KNOWLEDGE,
}
"""Type → category. A type that is not known counts as project."""
TYPES = {Category.IDENTITY: "user", Category.OPERATIONAL: "feedback", Category.KNOWLEDGE: "project"}
REFERENCE = "reference"
FURTHER = ("subject", "attribute", "value", "expires_at")
"""What few records have."""
DESCRIPTION_CHARACTERS = 150
_LINK_FIRST = re.compile(r"\s*[-*+]\s+(?:\[[^\]]*\]\((?P<path>[^)]*\.md)\)|\[\[(?P<name>[^\]|]+)[^\]]*\]\]).*")
_ENTRY = re.compile(r"\s*[-*+]\s+\[[^\]]*\]\([^)/:]+\.md\)\s*(?:[—–:-]\s.*)?")
"""How Claude Code writes a line of an index: a file beside it, and perhaps a dash with a few words."""
_PARAGRAPH_END = re.compile(r"\n\s*\n")
_TAG_PART = re.compile(r"[^\w.-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    statement: Statement
    digest: str
    """Of what it says, whatever else changes in its file."""


class Malformed(Exception):
    """It cannot be read as a fact; the message says why."""


def fact_of(name: str, content: bytes, project: str, listed: Collection[str] = ()) -> Fact | None:
    """The fact in a file of this name. None: there is nothing in it. `project`: whose folder it lies in. `listed`: the
    names of files that an index may list."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Malformed(f"it is not UTF-8 text: byte {error.start:,}") from None
    if is_index(name):
        text = _own_words(text, posixpath.dirname(name), listed)
    lines = text.split("\n")
    length = front.length_of(lines)
    if not length and lines[0].rstrip() == front.FENCE:
        raise Malformed("its front matter has no end: a line of three hyphens is missing")
    head, body = lines[:length], "\n".join(lines[length:]).strip()
    _check(head)
    statement = _statement(head, body, project)
    return Fact(statement=statement, digest=_digest(statement)) if statement.text else None


def is_index(name: str) -> bool:
    return posixpath.basename(name) == INDEX


def _own_words(index: str, folder: str, listed: Collection[str]) -> str:
    """What an index says beside its list of files: older versions kept facts in it."""
    lines = [line for line in index.splitlines() if not _lists(line, folder, listed)]
    is_said = any(line.strip() and not line.lstrip().startswith("#") for line in lines)
    return "\n".join(lines).strip() if is_said else ""


def _lists(line: str, folder: str, listed: Collection[str]) -> bool:
    """Whether a line of the index of this folder only names a file of it, also one that is gone: what was forgotten
    would come back by its line. A line that begins with a link to anything else is a fact like any other."""
    found = _LINK_FIRST.fullmatch(line)
    if not found:
        return False
    named = found["path"]
    targets = (named, unquote(named)) if named else (found["name"], f"{found['name']}.md")
    if _ENTRY.fullmatch(line):
        return True
    return any(posixpath.normpath(posixpath.join(folder, target.strip())) in listed for target in targets)


def _check(head: list[str]) -> None:
    """A line of the front matter that is neither a key nor below one tells that we misread the rest."""
    for number, line in enumerate(head[1:-1], 2):
        is_key = re.match(r"[A-Za-z_][\w-]*:(\s|$)", line)
        if line.strip() and not is_key and line[:1] not in (" ", "\t", "-", "#"):
            raise Malformed(f"line {number} of its front matter cannot be read")


def _statement(head: list[str], body: str, project: str) -> Statement:
    meta = front.below(head, "metadata")
    described = _scalar(head, "description")
    text = body or described
    if body and described and not is_excerpt(described, body):
        text = f"{described}\n\n{body}"
    kind = (_scalar(meta, "type") or _scalar(head, "type")).casefold()
    modified = _scalar(meta, "modified")
    statement = Statement(text=text, origin=Origin.IMPORTED, true_from=parse_time(modified) or "" if modified else "")
    if _scalar(meta, "recollect") == FORMAT:
        return _restored(statement, meta)
    statement = replace(statement, text=text.replace("\r\n", "\n"))
    tags = [TAG, *([REFERENCE] if kind == REFERENCE else []), *([project_tag(project)] if project else [])]
    return replace(statement, category=CATEGORIES.get(kind, Category.KNOWLEDGE), tags=tuple(tags))


def _restored(statement: Statement, meta: list[str]) -> Statement:
    """As the record was that the file was written from."""
    try:
        return replace(
            statement,
            kind=Kind(_scalar(meta, "kind")),
            category=Category(_scalar(meta, "category")),
            tags=tuple(_list(meta, "tags")),
            importance=float(_scalar(meta, "importance")),
            confidence=float(_scalar(meta, "confidence")),
            **{key: _scalar(meta, key) for key in FURTHER},
        )
    except (ValueError, Invalid) as error:
        raise Malformed(f"what stands below metadata cannot be read: {error}") from None


def _scalar(lines: list[str], key: str) -> str:
    """A double-quoted scalar is JSON, almost always."""
    raw = next((line.partition(":")[2].strip() for line in lines if line.startswith(f"{key}:")), "")
    if raw.startswith('"'):
        try:
            value = json.loads(raw)
        except ValueError:
            value = None
        if isinstance(value, str):
            return value
    return front.text_of(lines, key)


def _list(lines: list[str], key: str) -> list[str]:
    return front.values_of(lines, key)


def is_excerpt(described: str, body: str) -> bool:
    """Whether a description only says what the body begins with."""
    return _in_one_line(body).startswith(_in_one_line(described).removesuffix("…").rstrip())


def project_tag(project: str) -> str:
    return f"{PROJECT_TAG}{_TAG_PART.sub('-', project)[:200]}"


def _digest(statement: Statement) -> str:
    said = [
        statement.text,
        str(statement.kind),
        str(statement.category),
        list(statement.tags),
        statement.importance,
        statement.confidence,
        statement.subject,
        statement.attribute,
        statement.value,
        statement.expires_at,
    ]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()


# Writing


def bytes_of(record: Record, name: str) -> bytes:
    """The file of a record. The same record gives the same bytes."""
    head = front.rendered({"name": name, "description": description_of(record.text)})
    meta: dict[str, front.Value] = {
        "node_type": NODE_TYPE,
        "type": type_of(record),
        "modified": record.true_from,
        "recollect": FORMAT,
        "kind": str(record.kind),
        "category": str(record.category),
        "tags": record.tags,
        "importance": repr(record.importance),
        "confidence": repr(record.confidence),
    }
    meta |= {key: value for key in FURTHER if (value := getattr(record, key))}
    below = [f"  {line}" for line in front.rendered(meta)[1:-1]]
    return "\n".join([*head[:-1], "metadata:", *below, front.FENCE, "", record.text, ""]).encode()


def index_of(entries: list[tuple[str, Record]]) -> bytes:
    """One line for each (file name, record), the user's before the work's."""
    ordered = sorted(entries, key=lambda one: (list(CATEGORIES).index(type_of(one[1])), one[0]))
    lines = [
        f"- [{name.removesuffix('.md')}]({name}) — {_plain(description_of(record.text))}" for name, record in ordered
    ]
    return "".join(f"{line}\n" for line in lines).encode()


def type_of(record: Record) -> str:
    return REFERENCE if record.category is Category.KNOWLEDGE and REFERENCE in record.tags else TYPES[record.category]


def description_of(text: str) -> str:
    """The first paragraph, or as much of it as a line holds."""
    words = _in_one_line(_PARAGRAPH_END.split(text.strip(), maxsplit=1)[0])
    if len(words) <= DESCRIPTION_CHARACTERS:
        return words
    cut = words[:DESCRIPTION_CHARACTERS]
    return f"{cut.rpartition(' ')[0] or cut}…"


def _plain(text: str) -> str:
    """Without what cannot be seen: a line of an index is shown as it is."""
    return "".join(sign if sign.isprintable() else "\ufffd" for sign in text)


def _in_one_line(text: str) -> str:
    return " ".join(text.split())
