"""What stands behind the frozen sections, and only grows: messages, changes of notes, triggers. Pure.

An item is never written again. When there are too many, whole messages go from the oldest end, down to half in one
step, and a line says how many. Then what is told of notes is put together: a change is in no message that could be
found again, so it may not go with them.

A trigger is usually a message too, which comes into history before or after it. It stands here once.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

from recollect import redaction
from recollect.clock import local
from recollect.context.blocks import escaped, spoken, tagged
from recollect.context.rehydration import words_of
from recollect.context.state import Item, Kind, Seen, State
from recollect.context.trimming import Estimate, trimmed_messages
from recollect.context.watching import change_text
from recollect.history import Author, Message

MOST_WAITING = 20
"""Triggers that may still come into history. One that has not come after so many others never does."""
GROWTH = 2
"""It grows to so many times what it begins with, and is then cut back to that."""
_SAID = (Kind.MESSAGE, Kind.TRIGGER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    user: str
    trigger: str
    """Who speaks in a trigger."""


def heading_items(heading: str, turn: int) -> list[Item]:
    """None, where there is no heading."""
    return [Item(kind=Kind.HEADING, text=f"# {heading}\n\n", turn=turn)] if heading else []


def left_out_item(number: int, turn: int) -> Item:
    noun = "message" if number == 1 else "messages"
    return Item(kind=Kind.LEFT_OUT, text=f"[… {number:,} earlier {noun} left out: the archive has them]\n", turn=turn)


def change_item(place: str, before: Seen, after: Seen, turn: int, *, is_brief: bool = False) -> Item:
    return Item(kind=Kind.CHANGE, text=change_text(before, after, is_brief=is_brief), turn=turn, id=place)


def trigger_item(now: str, trigger: str, at: str, names: Names, turn: int) -> Item:
    given = {"from": names.trigger or names.user, "at": _minute(at)}
    return Item(kind=Kind.TRIGGER, text=now + tagged("trigger", given, trigger), turn=turn, at=at)


# Messages


def message_items(messages: Iterable[Message], names: Names, turn: int, last_conversation: str) -> list[Item]:
    """Those with words in them. Where another conversation goes on, a line says so."""
    items: list[Item] = []
    for message in messages:
        words = words_of(message)
        conversation = message.conversation_id or ""
        text = spoken(_speaker(message, names), words)
        if not text:
            continue
        if last_conversation and conversation != last_conversation:
            text = f"[Another conversation{_where(message)}]\n{text}"
        items.append(_message_item(message, text, words, turn))
        last_conversation = conversation
    return items


def continued_items(items: Sequence[Item], messages: dict[str, Message], names: Names, turn: int) -> list[Item]:
    """What was added to messages after they were told: an agent writes one reply in several parts."""
    told = {item.id: item for item in items if item.kind is Kind.MESSAGE}
    found: list[Item] = []
    for item in told.values():
        message = messages.get(item.id)
        words = words_of(message) if message else ""
        if message and len(words) > item.length and _digest(words[: item.length]) == item.digest:
            text = spoken(f"{_speaker(message, names)}, going on", words[item.length :])
            if text:
                found.append(_message_item(message, text, words, turn))
    return found


def _message_item(message: Message, text: str, words: str, turn: int) -> Item:
    return Item(
        kind=Kind.MESSAGE,
        text=text,
        turn=turn,
        id=message.id,
        at=message.at,
        conversation=message.conversation_id or "",
        length=len(words),
        digest=_digest(words),
    )


def _speaker(message: Message, names: Names) -> str:
    who = names.user if message.author is Author.USER else "Assistant"
    return f"[{_minute(message.at)}] {escaped(who).replace(':', '')}"


def _where(message: Message) -> str:
    folder = escaped(redaction.mask(message.cwd.replace("\\", "/").rstrip("/").rpartition("/")[2]))
    return f", in {folder}" if folder else ""


def _minute(at: str) -> str:
    return f"{local(at):%Y-%m-%d %H:%M}" if at else ""


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


# Triggers that are messages


def without_triggers(state: State, messages: Sequence[Message], trigger: str) -> list[Message]:
    """The messages that do not stand in the context as a trigger, the present one included. Notes in the state which
    those are."""
    answer = max((place for place, one in enumerate(messages) if one.author is not Author.USER), default=-1)
    wanted = compared(trigger)
    rest: list[Message] = []
    for place, message in enumerate(messages):
        text = compared(message.text) if message.author is Author.USER else ""
        if text and text in state.waiting:
            state.waiting.remove(text)
            state.answered.append(message.id)
        elif text and text == wanted and place > answer:
            state.answered.append(message.id)
            wanted = ""
        else:
            rest.append(message)
    if wanted:
        state.waiting = [*state.waiting, wanted][-MOST_WAITING:]
    return rest


def compared(text: str) -> str:
    """Space apart, the same for the same words. Empty: no words."""
    words = " ".join(text.split())
    return _digest(words) if words else ""


# When there is too much


def first_items(items: Sequence[Item], room_tokens: int, estimate: Estimate) -> int:
    """How many of the oldest do not fit when everything begins anew: half of the room stays free to grow into."""
    kept = held = 0
    for item in reversed(items):
        held += estimate(item.text)
        if held > room_tokens // GROWTH:
            break
        kept += 1
    if not kept and items and estimate(items[-1].text) <= room_tokens:
        kept = 1
    return len(items) - kept


def is_too_long(items: Sequence[Item], room_tokens: int, messages: int, estimate: Estimate) -> bool:
    said = sum(item.kind in _SAID for item in items)
    return said > messages * GROWTH or tokens_of(items, estimate) > room_tokens


def tokens_of(items: Sequence[Item], estimate: Estimate) -> int:
    return sum(estimate(item.text) for item in items)


def pass_over(state: State, dropped: Sequence[Item], now: str) -> None:
    """They are never told again: by their time; and one that a wrong clock put later than now by its id, so that it
    takes nothing with it that is said until then."""
    state.floor_at = max([state.floor_at, *(item.at for item in dropped if item.at <= now)])
    state.answered += [item.id for item in dropped if item.id and item.at > now]


def trim(state: State, room_tokens: int, messages: int, now: str, estimate: Estimate) -> bool:
    """Down to half. Everything that stays is of this turn: no block before it can be the same. False: there is no room
    even for what is told of notes, and nothing was done."""
    heading = [item for item in state.items if item.kind is Kind.HEADING]
    said = [item for item in state.items if item.kind in _SAID]
    around = [*heading, left_out_item(state.left_out + len(said), state.turn)]
    changes = _condensed(state, room_tokens // 2, estimate)
    free = room_tokens - tokens_of([*around, *changes], estimate)
    sizes = [estimate(item.text) for item in said]
    number = trimmed_messages(sizes, max(free, 0), messages * GROWTH)
    if not number and sum(sizes) > room_tokens // 2:  # Else the next turn would be too much again.
        number = trimmed_messages(sizes, sum(sizes) - 1, messages * GROWTH)
    dropped, kept = said[:number], said[number:]
    left_out = state.left_out + len(dropped)
    if left_out:
        around[-1] = left_out_item(left_out, state.turn)
    items = [*(around if left_out else heading), *changes, *kept] if free >= 0 else [*changes, *kept]
    if tokens_of(items, estimate) > room_tokens:
        return False
    state.left_out = left_out
    pass_over(state, dropped, now)
    state.items = [msgspec.structs.replace(item, turn=state.turn) for item in items]
    return True


def _condensed(state: State, room_tokens: int, estimate: Estimate) -> list[Item]:
    """One change for each note, from what is frozen to what is told; only that there is one, where room is short."""
    none = Seen()
    changed = [
        (place, state.notes.get(place, none), after)
        for place, after in state.told.items()
        if after.digest != state.notes.get(place, none).digest
    ]
    full = [change_item(place, before, after, state.turn) for place, before, after in changed]
    if tokens_of(full, estimate) <= room_tokens:
        return full
    return [change_item(place, before, after, state.turn, is_brief=True) for place, before, after in changed]
