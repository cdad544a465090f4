"""Names of notes: what may be one, whose it is, and what it means. Pure.

A path is relative to the folder, with slashes, and the same on every system: what one of them could not hold is no
name anywhere.
"""

import re
from enum import StrEnum

from recollect.errors import Invalid
from recollect.scopes import HOUSE

ROOT = "/memories"
"""What the folder is called in the memory tool, and wherever agents name a note."""
AGENTS = "agents"
ROOMS = "rooms"
HOLDING = ".recollect"
"""Where files lie for a moment while they are written."""

MOST_PATH_BYTES = 500
MOST_NAME_BYTES = 200
MOST_DEPTH = 10
_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f-\x9f<>:"|?*\\\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\U0010ffff]')
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*[A-Za-z0-9_-]|[A-Za-z0-9_]")
"""What most names are: nothing is wrong with them but that they may be the name of a device."""
_LEFTOVER = re.compile(r".*~|#.*#|4913|.*\.(tmp|swp|swx|part|crdownload)", re.IGNORECASE | re.DOTALL)
_DEVICES = frozenset({"con", "prn", "aux", "nul", "conin$", "conout$", "clock$"}) | {
    f"{name}{number}" for name in ("com", "lpt") for number in "0123456789¹²³"
}

USER, MEMORY, QUESTIONS = "user.md", "MEMORY.md", "questions.md"
SOUL, STATUS, COMPACTION = "soul.md", "status.json", "COMPACTION.md"
IDENTITY, TOOLS, THREADS = "identity.md", "tools.md", "threads.md"
DEV_NOTES, SELF_AWARENESS = "dev-notes.md", "self-awareness.md"
DAILY, DIARY, SCRATCH = "daily", "diary", "scratch"
KNOWN = (
    USER,
    MEMORY,
    QUESTIONS,
    SOUL,
    STATUS,
    COMPACTION,
    IDENTITY,
    TOOLS,
    THREADS,
    DEV_NOTES,
    SELF_AWARENESS,
)
"""Names that mean something. Other tools write them with other capitals, and those are read too."""
_KNOWN = {name.casefold(): name for name in KNOWN}


def below_root(name: str) -> str:
    """A path in the folder, also of a note that is named as in the memory tool."""
    return name[len(ROOT) :].strip("/") if name == ROOT or name.startswith(f"{ROOT}/") else name


class Kind(StrEnum):
    PAGE = "page"
    SOUL = "soul"
    STATUS = "status"
    DAILY = "daily"
    DIARY = "diary"
    SCRATCH = "scratch"


def checked(path: str) -> str:
    """The path as it is kept. Invalid, with what is wrong, where it is none."""
    given = path.strip("/") if path.startswith("/") or path.endswith("/") else path
    parts = given.split("/")
    if not given:
        raise Invalid("A note needs a name, such as user.md or projects/garden/overview.md.")
    if not is_short(given):
        raise Invalid(f"{path[:80]!r}… is too long: {MOST_PATH_BYTES} bytes and {MOST_DEPTH} levels at most.")
    for part in parts:
        wrong = _wrong(part)
        if wrong:
            raise Invalid(f"{path!r} cannot be the name of a note: {wrong}.")
    if not is_placed(given):
        raise Invalid(f"{path!r} cannot be the name of a note: folders of agents and rooms have lower-case names.")
    return given


def is_path(path: str) -> bool:
    try:
        return checked(path) == path
    except Invalid:
        return False


def is_name(part: str) -> bool:
    """Whether a file or folder of this name is looked at."""
    return not _wrong(part)


def is_placed(path: str) -> bool:
    """Whether it is the same scope's on every system: to some, Agents/ada is agents/ada."""
    folded = path.casefold()
    return folded == path or scope_of(folded) == scope_of(path)


def is_short(path: str) -> bool:
    """Whether a path is one that can be asked for, in its length and depth."""
    return path.count("/") < MOST_DEPTH and len(path.encode("utf-8", "surrogatepass")) <= MOST_PATH_BYTES


def is_leftover(part: str) -> bool:
    """Whether it is the name of a file that editors and browsers make for a moment, or keep beside the real one."""
    return bool(_LEFTOVER.fullmatch(part))


def _wrong(part: str) -> str:
    if is_leftover(part):
        return f"{part!r} is what programs call a file that they make for a moment"
    if len(part) <= MOST_NAME_BYTES and _PLAIN.fullmatch(part) and part.partition(".")[0].lower() not in _DEVICES:
        return ""
    if part in ("", ".", ".."):
        return f"{part!r} is no name, and no note lies outside its folder"
    if part.startswith("."):
        return f"{part!r} is hidden"
    found = _FORBIDDEN.search(part)
    if found:
        return f"{part!r} has the character {found.group()!r}, which some systems do not allow"
    if part.endswith((" ", ".")) or part.startswith(" "):
        return f"{part!r} begins or ends with a space or a dot"
    if part.partition(".")[0].casefold().strip() in _DEVICES:
        return f"{part!r} is the name of a device on some systems"
    if len(part.encode()) > MOST_NAME_BYTES:
        return f"{part[:40]!r}… is longer than {MOST_NAME_BYTES} bytes"
    return ""


def scope_of(path: str) -> str:
    """Whose a note is, by where it lies: agents/ada/… is ada's, agents/ada/rooms/den/… that of her den. What is held is
    whose it was."""
    parts = path.split("/")
    if parts[0] == HOLDING and len(parts) > 2:
        parts = parts[2:]
    scope = HOUSE
    if parts[0] == AGENTS and len(parts) > 1:
        scope, parts = parts[1], parts[2:]
    while len(parts) > 1 and parts[0] == ROOMS:
        scope, parts = f"{scope}/{parts[1]}", parts[2:]
    return scope


def folder_of(scope: str) -> str:
    """Where the notes of a scope lie; empty for the house."""
    owner, *rooms = scope.split("/")
    parts = [] if owner == HOUSE else [AGENTS, owner]
    for room in rooms:
        parts += [ROOMS, room]
    return "/".join(parts)


def within(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def kind_of(path: str) -> Kind:
    folder = folder_of(scope_of(path))
    own = path[len(folder) + 1 :] if folder else path
    first, slash, _ = own.partition("/")
    if not slash and folder:
        return {SOUL: Kind.SOUL, STATUS: Kind.STATUS}.get(_KNOWN.get(own.casefold(), ""), Kind.PAGE)
    if folder and first in (DAILY, DIARY, SCRATCH):
        return Kind(first)
    return Kind.PAGE


def spellings(path: str) -> list[str]:
    """All ways to write a name that means something, ours first; any other name has one."""
    folder, _, name = path.rpartition("/")
    known = _KNOWN.get(name.casefold())
    if known is None:
        return [path]
    stem, _, ending = known.partition(".")
    others = [f"{stem.upper()}.{ending}", f"{stem.capitalize()}.{ending}", known.upper(), known.lower(), name]
    return [within(folder, one) for one in dict.fromkeys([known, *others])]


def canonical(path: str) -> str:
    folder, _, name = path.rpartition("/")
    return within(folder, _KNOWN.get(name.casefold(), name))
