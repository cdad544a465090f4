"""Damage of every kind, decided by a seed: to the bytes of a file, and to the shape of a record."""

import io
import json
import random
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

DEEP = 3_000
HUGE = 10**400
ODD_TEXTS = (
    "",
    "\x00",
    "a\x00b",
    "\ud800",
    "x\udfffy",
    "\ufeff",
    "é" * 400,
    "null",
    "2026-13-45",
    "../..",
    "a" * 70_000,
)
ODD_NUMBERS = (0, -1, 1 << 63, 1 << 70, HUGE, 1e308, float("inf"), float("nan"), 1.5, 13, 1_772_445_600_000)


@dataclass
class Case:
    """One case: a seed, the dice it throws, and what to show if it fails."""

    seed: int
    dice: random.Random
    shown: object = field(default="")

    def note(self, shown: object) -> None:
        self.shown = shown

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Whatever escapes says which seed made it."""
        try:
            yield
        except Exception as error:
            error.add_note(f"FUZZ_SEED={self.seed}; {repr(self.shown)[:3_000]}")
            raise

    def forget(self, folder: Path) -> None:
        shutil.rmtree(folder)


def damaged_bytes(data: bytes, dice: random.Random) -> tuple[int, bytes]:
    """The data with one to three damages, and where the first of them begins."""
    first = len(data)
    for _ in range(dice.choice((1, 1, 2, 3))):
        start = dice.randrange(len(data) + 1)
        end = start + dice.choice((1, 7, 60, 400, 5_000))
        noise = dice.randbytes(dice.randrange(1, 12))
        match dice.choice(("cut", "drop", "insert", "repeat", "flip", "nul", "glue", "open")):
            case "cut":
                data = data[:start]
            case "drop":
                data = data[:start] + data[end:]
            case "insert":
                data = data[:start] + noise + data[start:]
            case "repeat":
                data = data[:end] + data[start:]
                start = min(end, len(data))
            case "flip":
                data = data[:start] + noise + data[start + len(noise) :]
            case "nul":
                data = data[:start] + b"\x00" * (end - start) + data[start:]
            case "glue":
                data = data[:start] + data[start:end].replace(b"\n", b"") + data[end:]
            case _:
                data = data[:start] + dice.choice((b'"', b"{", b"[", b"\\", b"\n", b"]}")) + data[start:]
        first = min(first, start)
    return min(first, len(data)), data


def damaged_archive(data: bytes, dice: random.Random) -> bytes:
    """An archive that is sound itself, with damage to what lies in it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            new.writestr(entry.filename, damaged_bytes(old.read(entry), dice)[1])
    return buffer.getvalue()


def damaged_value(raw: bytes, dice: random.Random) -> Any:
    """A record in which some values are others, of any type."""
    try:
        value: Any = json.loads(raw)
    except ValueError:
        return odd_value(dice)
    for _ in range(dice.choice((1, 1, 2, 4))):
        places = list(_places(value))
        if not places:
            return odd_value(dice)
        holder, key = dice.choice(places)
        match dice.choice(("replace", "replace", "replace", "remove", "wrap", "swap", "add")):
            case "remove":
                del holder[key]
            case "wrap":
                holder[key] = [holder[key]] if dice.random() < 0.5 else {str(key): holder[key]}
            case "swap":
                other, place = dice.choice(places)
                holder[key] = json.loads(json.dumps(other[place])) if place in _keys(other) else None
            case "add" if isinstance(holder, dict):
                holder[dice.choice(ODD_TEXTS)] = odd_value(dice)
            case _:
                holder[key] = odd_value(dice)
    return value


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in a value, outer ones first."""
    waiting = [value]
    while waiting:
        holder = waiting.pop(0)
        for key in _keys(holder):
            yield holder, key
            if isinstance(holder[key], dict | list):
                waiting.append(holder[key])


def _keys(holder: Any) -> list[Any]:
    return list(holder) if isinstance(holder, dict) else list(range(len(holder))) if isinstance(holder, list) else []


def odd_value(dice: random.Random) -> Any:
    match dice.randrange(9):
        case 0:
            return None
        case 1:
            return dice.random() < 0.5
        case 2:
            return dice.choice(ODD_NUMBERS)
        case 3 | 4:
            return dice.choice(ODD_TEXTS)
        case 5:
            return [odd_value(dice) for _ in range(dice.randrange(4))]
        case 6:
            return {dice.choice(("text", "type", "content", "id", "x")): odd_value(dice) for _ in range(3)}
        case 7:
            return {"type": dice.choice(("text", "tool_use", "message", "image")), "text": odd_value(dice)}
        case _:
            return _DEEP


_DEEP = "(nested deeply)"


def encoded(value: Any, dice: random.Random) -> bytes:
    """As JSON; nesting that no encoder can write is put in as text."""
    raw = json.dumps(value, ensure_ascii=dice.random() < 0.7).encode("utf-8", "surrogatepass")
    opening, closing = dice.choice(((b"[", b"]"), (b'{"a":', b"}")))
    deep = opening * DEEP + b"1" + closing * DEEP
    return raw.replace(f'"{_DEEP}"'.encode(), deep)


def strings_in(entry: msgspec.Struct) -> Iterator[str]:
    """Every text that would be stored of an entry."""
    waiting: list[Any] = [getattr(entry, name) for name in entry.__struct_fields__]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield str(value)
        elif isinstance(value, dict):
            waiting += [*value.keys(), *value.values()]
        elif isinstance(value, list | tuple):
            waiting += value
