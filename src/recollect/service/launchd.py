"""The property list of a launchd agent.

launchd knows no file of variables, so a shell reads it first. It starts what crashed again at most every ten seconds.
"""

import plistlib
from typing import Any, cast
from xml.parsers.expat import ExpatError

from recollect.logs import log_path
from recollect.service.launch import Given, Launch, given_of

LABEL = "recollect"
NAME = f"{LABEL}.plist"
MARK = "RecollectService"
"""A key of ours, which launchd does not look at: the file is ours."""
WITH_VARIABLES = 'set -a; . "$0"; set +a; exec "$@"'


def plist_bytes(launch: Launch) -> bytes:
    program = list(launch.program)
    if launch.environment_file:
        program = ["/bin/sh", "-c", WITH_VARIABLES, str(launch.environment_file), *program]
    value: dict[str, object] = {
        "Label": LABEL,
        MARK: True,
        "ProgramArguments": program,
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": 10,
        "ExitTimeOut": 10,
        "Umask": 0o077,
        "StandardOutPath": "/dev/null",  # All of it is in the log.
        "StandardErrorPath": str(log_path(launch.runtime, "stderr")),
    }
    if launch.variables:
        value["EnvironmentVariables"] = dict(launch.variables)
    return plistlib.dumps(value, sort_keys=False)


def given_in(content: bytes) -> Given:
    try:
        value: Any = plistlib.loads(content)
    except (ValueError, ExpatError):  # Somebody changed it.
        return Given()
    if not isinstance(value, dict):
        return Given()
    agent = cast("dict[str, Any]", value)
    words = agent.get("ProgramArguments", [])
    return given_of(agent.get("EnvironmentVariables", {}), words[3] if words[2:3] == [WITH_VARIABLES] else "")
