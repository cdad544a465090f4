"""Real transcripts of several agents, multiplied until there is enough of them to measure.

Each copy gets ids of its own, so that it is another conversation and not a copy that is recognised. Files of 100 to
600 kB, so that opening and closing them weighs the same for every agent.
"""

import hashlib
import re
from pathlib import Path

SMALLEST, LARGEST = 100_000, 600_000
_ID = re.compile(
    rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    rb"|(?:call|msg|rs|fc|ws|ctc|toolu|req)_[A-Za-z0-9]{16,}"
    rb'|"timestamp":\d{13}'
)
_FOLDERS = {"claude-code": "claude-code", "codex": "codex", "pi": "openclaw-pi"}


def multiplied(folder: Path, scratch: Path, megabytes: int) -> dict[str, Path]:
    """A folder for each source of which there are transcripts of this size; the large ones are cut at a line."""
    found: dict[str, Path] = {}
    for source, name in _FOLDERS.items():
        originals = sorted(path for path in (folder / name).rglob("*.jsonl") if path.stat().st_size >= SMALLEST)
        texts = [_cut(path.read_bytes()) for path in originals if "_series" not in path.parts]
        if texts:
            found[source] = scratch / source
            _write(texts, source, found[source], megabytes * 1_000_000)
    return found


def _cut(text: bytes) -> bytes:
    return text if len(text) <= LARGEST else text[: text.rfind(b"\n", 0, LARGEST) + 1]


def _write(texts: list[bytes], source: str, folder: Path, size: int) -> None:
    folder.mkdir(parents=True)
    written = copy = 0
    while written < size:
        for number, text in enumerate(texts):
            raw = _ID.sub(lambda match, copy=copy: _renamed(match[0], copy), text)
            (folder / _name(source, f"{copy} {number}")).write_bytes(raw)
            written += len(raw)
        copy += 1


def _renamed(name: bytes, copy: int) -> bytes:
    if name.startswith(b'"timestamp"'):
        return b'"timestamp":%d' % (int(name.rpartition(b":")[2]) + copy * 1_000_003)
    digest = hashlib.md5(name + b"%d" % copy, usedforsecurity=False).hexdigest().encode()
    if b"_" in name:
        return name.partition(b"_")[0] + b"_" + digest[: len(name.partition(b"_")[2])]
    return name[:9] + digest[:4] + b"-7" + digest[5:8] + b"-8" + digest[9:12] + b"-" + digest[12:24]


def _name(source: str, seed: str) -> str:
    digest = hashlib.md5(seed.encode(), usedforsecurity=False).hexdigest()
    session = f"{digest[:8]}-{digest[8:12]}-4{digest[13:16]}-8{digest[17:20]}-{digest[20:32]}"
    first = {"codex": "rollout-2026-06-25T13-02-11-", "pi": "2026-01-01T00-00-00-000Z_"}.get(source, "")
    return f"{first}{session}.jsonl"
