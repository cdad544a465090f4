"""A process that works through the queue of the librarian, to be killed by tests.

    python tests/filing.py HOME DATABASE one|rules LEASE_SECONDS

It begins as a daemon would: what the dead left is queued again. It ends when nothing is left, also of what others hold.
`one`: a desk that files one record each time, so that filing twice is seen. It says `ready` when its work begins, and
`filing` before each end of a transaction.
"""

import sys
import threading
from pathlib import Path

from desks import OneRecordDesk, queue_of, worker_of

import recollect
from recollect.jobs import Presence
from recollect.librarian.working import worker
from recollect.testing import FrozenClock

LOOK_AGAIN_SECONDS = 0.05


def say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


def work(home: Path, address: str, reader: str, lease_seconds: float) -> None:
    # With a clock that stands still every run makes the same; a lease then never runs out by itself.
    clock = recollect.clock.system_clock if reader == "one" else FrozenClock()
    with recollect.open(home=home, database=address, clock=clock) as memory:
        queue = queue_of(memory)
        say("ready")
        queue.recover()
        queue.ready()
        rest = threading.Event()
        while True:
            if reader == "one":
                desk = OneRecordDesk(memory.settings.house)
                desk.always_read = memory.history.messages
                desk.while_filing = lambda: say("filing")
                worker_of(memory, desk, lease_seconds=lease_seconds).work_until_done()
            else:
                memory.librarian.worker("test", Presence(memory.settings.runtime)).work_until_done()
            if not (queue.state().counts.queued or queue.state().counts.held):
                return
            rest.wait(LOOK_AGAIN_SECONDS)


if __name__ == "__main__":
    worker.TIDY_EVERY = 5
    work(Path(sys.argv[1]), sys.argv[2], sys.argv[3], float(sys.argv[4]))
