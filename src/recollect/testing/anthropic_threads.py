"""Threads: the server holds a conversation under the id of its last message, and a request brings only what is new."""

import threading
from dataclasses import dataclass
from typing import Any

from recollect.testing.anthropic_answers import ApiError

FIXED = ("system", "tools")
"""A thread keeps what it was created with; a request that goes on with it may not repeat them."""


@dataclass(slots=True, kw_only=True)
class _Held:
    fixed: dict[str, Any]
    messages: list[dict[str, Any]]
    is_continued: bool = False


class Threads:
    def __init__(self) -> None:
        self._held: dict[str, _Held] = {}
        self._lock = threading.Lock()

    def expire(self) -> None:
        """Five minutes after the last use, or whenever the server likes."""
        with self._lock:
            self._held.clear()

    def whole(self, body: dict[str, Any], betas: set[str]) -> dict[str, Any]:
        """The request with the conversation that its thread holds."""
        thread = body.get("thread")
        if not thread or thread.get("type") != "continue":
            return body
        for name in FIXED:
            if body.get(name):
                raise ApiError(
                    400, f"{name}: not permitted when a thread is continued", code="thread_fingerprint_mismatch"
                )
        with self._lock:
            held = self._held.get(str(thread.get("previous_message_id")))
        if held is None:
            raise ApiError(404, "No thread was found for previous_message_id.", code="thread_not_found")
        if held.is_continued:
            raise ApiError(400, "This response has already been continued.", code="thread_already_continued")
        return {**body, **held.fixed, "messages": [*held.messages, *(body.get("messages") or [])]}

    def keep(self, whole: dict[str, Any], thread: dict[str, Any] | None, message: dict[str, Any]) -> None:
        if not thread or message["stop_reason"] == "refusal":
            return
        reply = {"role": "assistant", "content": message["content"]}
        with self._lock:
            if thread["type"] == "continue" and (before := self._held.get(str(thread["previous_message_id"]))):
                before.is_continued = True
            self._held[message["id"]] = _Held(
                fixed={name: whole[name] for name in FIXED if name in whole},
                messages=[*whole["messages"], reply],
            )
