"""Front matter: a few keys are the librarian's, the others somebody else's and stay as they are. Pure.

Values are written as quoted strings and lists of such in one line, which YAML and JSON read alike. Other programs write
the same value in other ways: what says the same already is left as it is.
"""

import re
from collections.abc import Mapping, Sequence

Value = str | tuple[str, ...]
FENCE = "---"
MOST_LINES = 200
"""Front matter is short: a line of three hyphens far below its first one ends something else."""
_KEY = re.compile(r"([A-Za-z_][\w-]*):(?:\s|$)")
_SCALAR = re.compile(r'"((?:[^"\\]|\\.)*)"|\'((?:[^\']|\'\')*)\'|([^,\[\]"\']+)')
_FOLDED = re.compile(r"[>|][-+]?\d?")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))")


def length_of(lines: Sequence[str]) -> int:
    """How many lines of a text are front matter, both fences included."""
    if not lines or lines[0].rstrip() != FENCE:
        return 0
    for number, line in enumerate(lines[1:MOST_LINES], 1):
        if line.rstrip() in (FENCE, "..."):
            return number + 1
    return 0


def rendered(wanted: Mapping[str, Value]) -> list[str]:
    return [FENCE, *(_entry(key, value) for key, value in wanted.items()), FENCE]


def merged(lines: Sequence[str], wanted: Mapping[str, Value]) -> list[str]:
    """Front matter with both fences in which these keys have these values."""
    entries = _entries(lines[1:-1])
    for key, value in wanted.items():
        block = entries.get(key)
        if block is not None and not _says(block, value):
            theirs = [one for one in _values(block) if one not in value] if isinstance(value, tuple) else []
            entries[key] = [_entry(key, (*value, *theirs) if isinstance(value, tuple) else value)]
    missing = [key for key in wanted if key not in entries]
    keys = list(wanted)
    for key in missing:
        before = [one for one in keys[: keys.index(key)] if one in entries]
        place = list(entries).index(before[-1]) + 1 if before else 0
        items = list(entries.items())
        entries = dict([*items[:place], (key, [_entry(key, wanted[key])]), *items[place:]])
    return [lines[0], *(line for block in entries.values() for line in block), lines[-1]]


def value_of(lines: Sequence[str], key: str) -> str:
    block = _entries(lines[1:-1]).get(key, []) if lines else []
    return next(iter(_values(block)), "") if block else ""


def text_of(lines: Sequence[str], key: str) -> str:
    """What a key says as one text, in one line or folded over several."""
    first, *rest = _entries(lines[1:-1]).get(key, [""]) if lines else [""]
    words = first.partition(":")[2].strip()
    following = [line.strip() for line in rest]
    if _FOLDED.fullmatch(words):
        return " ".join(following)
    return _plain(" ".join([words, *following]).strip())


def values_of(lines: Sequence[str], key: str) -> list[str]:
    return _values(_entries(lines[1:-1]).get(key, [])) if lines else []


def below(lines: Sequence[str], key: str) -> list[str]:
    """The keys that stand indented below a key, as front matter of their own; empty: there are none."""
    block = _entries(lines[1:-1]).get(key, [])[1:] if lines else []
    indents = [len(line) - len(line.lstrip(" ")) for line in block]
    if not indents or not min(indents):
        return []
    return [FENCE, *(line[min(indents) :] for line in block), FENCE]


def has_others(lines: Sequence[str], wanted: Mapping[str, Value]) -> bool:
    """Whether somebody else has written in it."""
    entries = _entries(lines[1:-1])
    return any(key not in wanted and "".join(block).strip() for key, block in entries.items()) or any(
        isinstance(value, tuple) and set(_values(entries.get(key, []))) - set(value) for key, value in wanted.items()
    )


def quoted(text: str) -> str:
    """As a double-quoted scalar: what cannot be seen is written as its number."""
    signs = (_sign(sign) for sign in text)
    return f'"{"".join(signs)}"'


def _sign(sign: str) -> str:
    if sign in '"\\':
        return f"\\{sign}"
    if sign.isprintable():
        return sign
    return f"\\u{ord(sign):04x}" if ord(sign) < 0x10000 else f"\\U{ord(sign):08x}"


def _entry(key: str, value: Value) -> str:
    if isinstance(value, str):
        return f"{key}: {quoted(value)}"
    return f"{key}: [{', '.join(quoted(one) for one in value)}]"


def _entries(lines: Sequence[str]) -> dict[str, list[str]]:
    """Key → its lines. What belongs to no key, such as a comment, has a key that no YAML could have."""
    found: dict[str, list[str]] = {}
    last = ""
    for number, line in enumerate(lines):
        key = _KEY.match(line)
        if key and key.group(1) not in found:
            last = key.group(1)
            found[last] = [line]
        elif last and line[:1] in (" ", "\t", "-") and line.strip():
            found[last].append(line)
        else:
            last = ""
            found[f" {number}"] = [line]
    return found


def _says(block: Sequence[str], value: Value) -> bool:
    if isinstance(value, str):
        return len(block) == 1 and _values(block) == [value]
    return set(value) <= set(_values(block))


def _values(block: Sequence[str]) -> list[str]:
    """What a key has, in whatever way somebody wrote it."""
    if not block:
        return []
    first = block[0].partition(":")[2].strip()
    if len(block) == 1 and not first.startswith("["):
        return [_plain(first)] if first else []
    inline = [_unquoted(found) for found in _SCALAR.finditer(first.strip("[]"))]
    return [one for one in (*inline, *(_plain(line.strip().removeprefix("-").strip()) for line in block[1:])) if one]


def _plain(text: str) -> str:
    found = _SCALAR.fullmatch(text)
    return _unquoted(found) if found else text


def _unquoted(found: re.Match[str]) -> str:
    double, single, bare = found.groups()
    if double is not None:
        return _ESCAPE.sub(lambda one: chr(int(one[1] or one[2], 16)) if one[1] or one[2] else one[3], double)
    return single.replace("''", "'") if single is not None else bare.strip()
