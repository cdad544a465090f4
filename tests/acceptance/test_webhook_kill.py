"""A daemon's mind that is killed while an answer is on its way by the webhook: a process of its own, kill -9."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import httpx2
from commands import environment
from webhooks import ADDRESS, SECRET, VARIABLE, Hook

import recollect
from recollect.channels.webhook.receiving import PATH
from recollect.channels.webhook.signing import secrets_in, signed_headers
from recollect.channels.webhook.webhook import NAME
from recollect.testing.loopback import Response

PATIENCE_SECONDS = 60
MINDING = """
import sys, time
import recollect
from recollect.daemon.minding import Minding, Models
from recollect.supervision import end_all
from recollect.testing.scripted_talk import ScriptedTalk

with recollect.open(home=sys.argv[1]) as memory:
    minding = Minding(memory, lambda _: None, Models(mind=lambda: ScriptedTalk(lambda request: sys.argv[2])))
    minding.start()
    sys.stdin.read()
    end_all([minding.part], time.monotonic() + 12)
"""


def wait_for(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        assert time.monotonic() < end, "It did not come."
        time.sleep(0.01)


@contextmanager
def minded(home: Path, answer: str) -> Iterator[subprocess.Popen[bytes]]:
    variables = environment(home, **{VARIABLE: SECRET})
    with subprocess.Popen(
        [sys.executable, "-c", MINDING, str(home), answer], stdin=subprocess.PIPE, env=variables
    ) as process:
        try:
            yield process
        finally:
            if process.stdin:
                process.stdin.close()
            process.wait(PATIENCE_SECONDS)


def send(port: int, text: str, message_id: str) -> None:
    """As a sender does: again and again under one id, until it is taken."""
    raw = json.dumps({"address": ADDRESS, "text": text}).encode()

    def is_taken() -> bool:
        headers = signed_headers(secrets_in(SECRET, VARIABLE), message_id, datetime.now(UTC), raw)
        try:
            return httpx2.post(f"http://127.0.0.1:{port}{PATH}", content=raw, headers=headers).status_code == 202
        except httpx2.TransportError:
            return False

    wait_for(is_taken)


def test_an_answer_that_was_being_sent_at_a_kill_is_sent_again_under_the_same_id(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with Hook() as hook:
        home.mkdir()
        settings = f'webhook = {{listen = "127.0.0.1:{port}", url = "{hook.url}"}}\n'
        (home / "recollect.toml").write_text(settings, encoding="utf-8")
        with recollect.open(home=home) as memory:
            memory.places.allow(NAME, ADDRESS)

        with minded(home, "In May.") as process:
            hook.script(Response(status=204, begun=lambda: os.kill(process.pid, signal.SIGKILL)))
            send(port, "When do the swifts come back?", "msg_1")
            assert process.wait(PATIENCE_SECONDS) == -signal.SIGKILL

        with minded(home, "In August."):
            send(port, "When do the swifts come back?", "msg_1")  # Its sender does not know that it was heard.
            send(port, "And when do they leave?", "msg_2")
            wait_for(lambda: len(hook.requests) == 3)

    assert [one.body["text"] for one in hook.requests] == ["In May.", "In May.", "In August."]
    first, again, other = hook.ids
    assert first == again != other
    with recollect.open(home=home) as memory:
        said = [one for one in memory.history.export() if one.source == "recollect"]
        assert len(said) == 4
