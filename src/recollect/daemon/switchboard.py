"""Where other processes of this person ask a running daemon: a local socket that answers searches.

Mode 0600, so that nobody else may ask. One question for each connection. Connections are read by threads of their own,
up to a limit, with a deadline: whoever is slow keeps nobody waiting. A few other threads answer, because each thread
that searches keeps connections to the database. A socket that a killed daemon left is refused by the operating system
and replaced by the next daemon. The thread that accepts begins again when it crashes (`supervision`), with a new socket
in the same place.
"""

import os
import shutil
import socket
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import msgspec

from recollect import __version__
from recollect.asking import WIRE_VERSION, Problem, Reply, Request, answer, place_of
from recollect.errors import RecollectError, Unavailable
from recollect.memory import Memory
from recollect.supervision import Shift, Supervised

NAME = "search.sock"
MOST_PATH_BYTES = 100
"""Systems take 104 or 108. In a deeper home the socket lies in the folder for temporary things."""
TEMPORARY = "recollect-"
MOST_REQUEST_BYTES = 4_000_000
"""A question of a hundred thousand characters, each spelt out, has room."""
REQUEST_SECONDS = 5.0
"""For the whole of a question to come in, and for the whole of an answer to be taken."""
ANSWERING_THREADS = 4
MOST_CONNECTIONS = 32


class Switchboard:
    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._place = place_of(memory.settings)
        self._listener: socket.socket | None = None
        """For the thread that accepts, which has not begun yet."""
        self._listening: socket.socket | None = None
        self._path: Path | None = None
        self._made: os.stat_result | None = None
        """What is ours at the path: another daemon may have put its own there."""
        self._free = threading.BoundedSemaphore(MOST_CONNECTIONS)
        self._answering: ThreadPoolExecutor | None = None
        self.part = Supervised("switchboard", self._work, clock=memory.clock)

    def open(self) -> str:
        """Begin to answer; where. Empty: this system or this disk has no such sockets, and everybody searches alone."""
        if not hasattr(socket, "AF_UNIX"):
            return ""
        path = socket_path(self._memory.settings.runtime)
        try:
            self._listener = self._listen(path)
        except OSError:
            return ""
        self._path = path
        self.part.start()
        return str(path)

    def remove(self) -> None:
        """The socket, where the thread that answers cannot do it any more, or waits after a crash."""
        if self._path and (self._is_there() or not os.path.lexists(self._path)):
            remove_socket(str(self._path))

    def renew(self) -> None:
        """Called now and then: where somebody removed the socket, the part begins again with a new one."""
        if self._listening and self._is_lost():
            with suppress(OSError):  # It crashed by itself, and waits.
                self._listening.shutdown(socket.SHUT_RDWR)

    def _listen(self, path: Path) -> socket.socket:
        listener = _listen(path)
        self._made = os.stat(path)
        return listener

    def _is_lost(self) -> bool:
        """In the folder for temporary things none is made again: others may have taken its name there."""
        return self._path is not None and self._path.parent == self._memory.settings.runtime and not self._is_there()

    def _is_there(self) -> bool:
        try:
            return bool(self._path and self._made and os.path.samestat(os.stat(self._path), self._made))
        except OSError:
            return False

    def _work(self, shift: Shift) -> None:
        if self._path is None:
            return
        listener = self._listener or self._listen(self._path)
        self._listener, self._listening = None, listener
        self._answering = ThreadPoolExecutor(ANSWERING_THREADS, "answer")
        # Wakes the thread that accepts.
        shift.on_end(lambda: listener.shutdown(socket.SHUT_RDWR))
        try:
            with listener:
                self._accept(listener, shift)
        finally:
            if shift.ended.is_set():
                self.remove()
            self._answering.shutdown(cancel_futures=True)

    def _accept(self, listener: socket.socket, shift: Shift) -> None:
        while not shift.ended.is_set():
            try:
                connection, _ = listener.accept()
            except OSError:
                if self._is_lost():
                    raise Unavailable(f"{self._path} was removed.") from None
                # Out of file descriptors, for example: others may give some back.
                shift.ended.wait(0.1)
                continue
            if not self._free.acquire(blocking=False):
                connection.close()
                continue
            try:
                threading.Thread(target=self._serve, args=(connection,), name="question", daemon=True).start()
            except RuntimeError:  # The system gives no more threads.
                self._free.release()
                connection.close()
                raise

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection:
                line = _read_line(connection)
                if line and self._answering:
                    reply = self._answering.submit(self._reply, line).result()
                    connection.settimeout(REQUEST_SECONDS)
                    connection.sendall(msgspec.json.encode(reply) + b"\n")
        except (OSError, RuntimeError):  # Whoever asked left, or the daemon ends.
            pass
        finally:
            self._free.release()

    def _reply(self, line: bytes) -> Reply:
        try:
            request = msgspec.json.decode(line, type=Request)
        except (msgspec.MsgspecError, UnicodeError) as error:
            return Reply(declined=f"no question: {error}")
        if (request.recollect, request.version, request.place) != (WIRE_VERSION, __version__, self._place):
            return Reply(declined="another version, database or setting")
        try:
            return Reply(found=answer(self._memory, request.search))
        except RecollectError as error:
            return Reply(error=Problem(kind=type(error).__name__, message=str(error)))
        except Exception as error:  # noqa: BLE001 - one question must not end the daemon; the one who asks tries itself
            reason = f"{type(error).__name__}: {error}"
            with suppress(RecollectError):
                self._memory.runs.record("answer", "failed", 0.0, {"reason": reason})
            return Reply(declined=reason)


def socket_path(runtime: Path) -> Path:
    path = runtime / NAME
    if len(os.fsencode(path)) <= MOST_PATH_BYTES:
        return path
    return Path(tempfile.mkdtemp(prefix=TEMPORARY)) / NAME


def remove_socket(path: str) -> None:
    """Also one that a killed daemon left, as its status tells."""
    if os.path.basename(path) != NAME:
        return
    with suppress(OSError):
        os.unlink(path)
    folder = os.path.dirname(path)
    if os.path.basename(folder).startswith(TEMPORARY):
        shutil.rmtree(folder, ignore_errors=True)


def _listen(path: Path) -> socket.socket:
    path.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileNotFoundError):
        path.unlink()  # Left by a killed daemon: the lock says that no other runs.
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        listener.bind(str(path))
        listener.listen(MOST_CONNECTIONS)
    except OSError:
        listener.close()
        raise
    finally:
        os.umask(before)
    return listener


def _read_line(connection: socket.socket) -> bytes:
    """What stands before the first newline. Empty: it is too long, or too slow."""
    deadline = time.monotonic() + REQUEST_SECONDS
    read = bytearray()
    while len(read) <= MOST_REQUEST_BYTES:
        left = deadline - time.monotonic()
        if left <= 0:
            return b""
        connection.settimeout(left)
        part = connection.recv(1 << 16)
        if not part:
            return b""
        read += part
        if b"\n" in part:
            return bytes(read.partition(b"\n")[0])
    return b""
