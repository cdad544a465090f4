"""Parts of a daemon that a test runs by themselves."""

import time

from commands import PATIENCE_SECONDS

from recollect.supervision import Supervised, end_all


def stop(part: Supervised) -> None:
    assert end_all([part], time.monotonic() + PATIENCE_SECONDS) == []
