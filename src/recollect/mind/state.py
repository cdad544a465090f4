"""`conversation-state.json`: the array as it was after the last turn, so that a restart need not make it again.

Written after every turn, atomically. It is used only where it says exactly what the database says (`Standing`);
otherwise, or when it is gone or broken, the array is made from the log. It holds no thoughts.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from recollect.ids import new_id
from recollect.llm.talking import Turn
from recollect.mind.compaction.trimming import without_thinking
from recollect.mind.conversation import Conversation, Exchange
from recollect.mind.entries import CompactionRow, Standing

FORMAT = 1
"""Raise it when the array is made otherwise from the same log."""
FOLDER, NAME = "mind", "conversation-state.json"


class _Saved(msgspec.Struct, kw_only=True):
    format: int
    belongs_to: str
    """House and database."""
    standing: Standing
    base: CompactionRow | None
    exchanges: list[tuple[int, list[Turn]]]


def state_path(runtime: Path, agent: str) -> Path:
    return runtime / FOLDER / agent.replace("/", "~") / NAME


def save(path: Path, conversation: Conversation, belongs_to: str) -> bool:
    """False: there is no room or no right to keep it. Then an older one goes too: something in it may be forgotten."""
    saved = _Saved(
        format=FORMAT,
        belongs_to=belongs_to,
        standing=conversation.standing,
        base=conversation.base,
        exchanges=[(one.number, list(without_thinking(one.turns))) for one in conversation.exchanges],
    )
    held = path.with_name(f".{path.name}.{new_id()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(os.open(held, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(msgspec.json.encode(saved))
            file.flush()
            os.fsync(file.fileno())
        os.replace(held, path)
    except OSError:
        for one in (held, path):
            with suppress(OSError):
                one.unlink()
        return False
    return True


def load(path: Path, standing: Standing, belongs_to: str, accepts: str) -> Conversation | None:
    """None: there is none that says what the database says."""
    try:
        saved = msgspec.json.decode(path.read_bytes(), type=_Saved)
    except (OSError, ValueError, RecursionError):
        return None
    if (saved.format, saved.belongs_to, saved.standing) != (FORMAT, belongs_to, standing):
        return None
    exchanges = [Exchange(number=number, turns=turns) for number, turns in saved.exchanges]
    return Conversation(standing, saved.base, exchanges, accepts)


def drop_states(runtime: Path) -> int:
    """For who forgets: no file says any more what was said; how many did."""
    dropped = 0
    for path in sorted((runtime / FOLDER).glob(f"*/*{NAME}*")):
        with suppress(OSError):
            path.unlink()
            dropped += path.name == NAME
    return dropped


def plain(conversation: Conversation) -> list[dict[str, Any]]:
    """The array as it would be sent by another program, for comparing."""
    turns = without_thinking(conversation.turns)
    return [{"role": turn.role, "content": list(turn.content)} for turn in turns]
