"""The unit of a systemd user service.

Percent signs are specifiers there, dollars in arguments are variables, and quotes and backslashes are read as in C:
each is escaped. What restricts the service needs no namespace, as user services often have none: folders are not hidden
from it, because it reads the transcripts of agents, and its socket may lie in the folder for temporary things.
"""

import re

from recollect.errors import Denied, Invalid
from recollect.service.launch import Given, Launch, given_of

NAME = "recollect.service"
MARK = "# Written by `recollect service install`; `recollect service uninstall` takes it away."

UNIT = """\
{mark}
# Changes of your own belong into a drop-in: systemctl --user edit recollect

[Unit]
Description=Recollect, long-term memory for agents
# It never gives up: the database may come back after an hour.
StartLimitIntervalSec=0

[Service]
Type=exec
ExecStart={program}
{environment}Restart=on-failure
RestartSec=10
# But for what only a person mends: settings that are wrong (2), and what may not be read or written (4).
RestartPreventExitStatus={hopeless}
# It ends within five seconds by itself.
TimeoutStopSec=10
KillMode=mixed
# What it prints names conversations, and no `forget` reaches the journal. Errors still go there.
StandardOutput=null
SuccessExitStatus=130 143
UMask=0077
NoNewPrivileges=yes
LockPersonality=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK

[Install]
WantedBy=default.target
"""


HOPELESS = (Invalid.exit_code, Denied.exit_code)
"""Trying again would end in the same way."""
UNSAFE = "\"'\\"
"""What systemd refuses in the path of a program, however it is escaped; a shell takes it as an argument."""
BY_SHELL = ("/bin/sh", "-c", 'exec "$0" "$@"')


def unit_text(launch: Launch) -> str:
    is_unsafe = any(character in launch.program[0] for character in UNSAFE)
    command, *arguments = (*BY_SHELL, *launch.program) if is_unsafe else launch.program
    # The first word is a path: dollars mean nothing there.
    words = [quoted(command), *(quoted(word.replace("$", "$$")) for word in arguments)]
    lines = [f"Environment={quoted(f'{name}={value}')}\n" for name, value in launch.variables.items()]
    if launch.environment_file:  # The rest of the line is the path, with nothing quoted.
        lines.append(f"EnvironmentFile={str(launch.environment_file).replace('%', '%%')}\n")
    hopeless = " ".join(map(str, HOPELESS))
    return UNIT.format(mark=MARK, program=" ".join(words), environment="".join(lines), hopeless=hopeless)


def quoted(word: str) -> str:
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'


def given_in(content: bytes) -> Given:
    lines = [line.partition("=") for line in content.decode(errors="replace").splitlines()]
    words = [_unquoted(value).partition("=") for key, _, value in lines if key == "Environment"]
    files = [value.replace("%%", "%") for key, _, value in lines if key == "EnvironmentFile"]
    return given_of({name: value for name, _, value in words}, files[0] if files else "")


def _unquoted(word: str) -> str:
    return re.sub(r"\\(.)", r"\1", word.removeprefix('"').removesuffix('"')).replace("%%", "%")
