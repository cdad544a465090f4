"""An install or uninstall that is killed at each of its file operations, one after the other.

    python tests/cutting_off.py FOLDER TOOL KIND [--http]      KIND: install, reinstall, another, uninstall, beside

Each of them is a process of its own, forked from this one, and ends by SIGKILL just before an operation. What is there
after those that follow is printed as JSON: for each operation what differs from before, with `beside` from what it is
when nothing is cut off, and the tokens that still open something.
"""

import json
import os
import re
import shutil
import signal
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import recollect
from recollect.settings import Computer
from recollect.surfaces.hooks.installing import Installation, Options
from recollect.surfaces.hooks.removing import Removal
from recollect.surfaces.hooks.tools import tool_named

FILES = {
    ".claude/settings.json": '{"model":"x",\r\n\t"hooks":{"Stop":[{"hooks":[{"type":"command","command":"ring"}]}]}}',
    ".claude.json": '{"a": 1}',
    ".codex/hooks.json": '{"hooks":{"Stop":[]}}',
    ".codex/config.toml": 'model = "x" # theirs',
}
CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir"}


class House:
    def __init__(self, folder: Path, tool: str, *, is_http: bool, is_filled: bool) -> None:
        self.folder, self.tool, self.is_http = folder, tool_named(tool), is_http
        self.user, self.home = folder / "user", folder / "home"
        shutil.rmtree(folder, ignore_errors=True)
        self.user.mkdir(parents=True)
        for name, text in FILES.items() if is_filled else ():
            (self.user / name).parent.mkdir(exist_ok=True)
            (self.user / name).write_bytes(text.encode())
            (self.user / name).chmod(0o600)

    def there(self) -> dict[str, str]:
        """Every file and folder of the person, and what install has of its own."""
        places = [*self.user.rglob("*"), *(self.home / "hooks").rglob("*")]
        return {
            re.sub(r"recollect-\d{8}T\d{6}Z", "recollect-TIME", str(path)): path.read_text() if path.is_file() else ""
            for path in places
        }

    def install(self, agent: str = "") -> None:
        with recollect.open(self.home) as memory:
            options = Options(agent=agent or self.tool.name, is_http=self.is_http)
            Installation(memory, self._computer(), self.tool, options).apply()

    def add_beside(self) -> None:
        """A hook of somebody else behind ours, and Codex's word that it is trusted."""
        path, config = self.user / ".codex" / "hooks.json", self.user / ".codex" / "config.toml"
        hooks = json.loads(path.read_text())
        hooks["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": "say"}]})
        path.write_text(json.dumps(hooks))
        key = f"{path}:stop:{len(hooks['hooks']['Stop']) - 1}:0"
        config.write_text(f'{config.read_text()}\n[hooks.state."{key}"]\ntrusted_hash = "sha256:theirs"\n')

    def uninstall(self) -> None:
        with recollect.open(self.home) as memory:
            Removal(memory, self._computer(), self.tool).remove()

    def tokens(self) -> int:
        with recollect.open(self.home) as memory:
            return sum(not token.revoked_at for token in memory.access.list())

    def run(self, work: Callable[[], object], at: int = 0) -> bool:
        """In a process of its own. Whether it came to its end before the operation of this number."""
        child = os.fork()
        if not child:
            if at:
                self._die_before(at)
            work()
            os._exit(0)
        return self._ended(os.waitpid(child, 0)[1])

    @staticmethod
    def _ended(status: int) -> bool:
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
            return False
        if status:
            sys.exit(1)
        return True

    def _die_before(self, at: int) -> None:
        numbers, watched = count(1), (f"{self.user}/", f"{self.home}/hooks")

        def look(event: str, given: tuple[Any, ...]) -> None:
            is_change = event in CHANGES or (event == "open" and given[2] & os.O_CREAT)
            if is_change and str(given[0]).startswith(watched) and next(numbers) == at:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(look)

    def _computer(self) -> Computer:
        return Computer(home=str(self.user), system="linux")


def followed(house: House, kind: str, at: int) -> bool:
    """Whether the one that was to be cut off came to its end."""
    if kind == "install":
        is_whole = house.run(house.install, at)
    elif kind == "reinstall":
        is_whole = house.run(house.install, at)
        house.run(house.install)
    elif kind == "another":
        house.run(house.install)
        is_whole = house.run(lambda: house.install("ada"), at)
    else:
        house.run(house.install)
        if kind == "beside":
            house.add_beside()
        is_whole = house.run(house.uninstall, at)
    house.run(house.uninstall)
    return is_whole


def main(folder: str, tool: str, kind: str, *more: str) -> None:
    os.environ["RECOLLECT_LISTEN"] = "127.0.0.1:9"
    found: dict[str, Any] = {}
    operations = 0
    for is_filled in (True, False):
        house = House(Path(folder), tool, is_http="--http" in more, is_filled=is_filled)
        before = house.there()
        if kind == "beside":
            followed(house, kind, 0)
            before = house.there()
        for at in count(1):
            house = House(Path(folder), tool, is_http="--http" in more, is_filled=is_filled)
            is_whole = followed(house, kind, at)
            after = house.there()
            names = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
            if names or house.tokens():
                found[f"{at} {is_filled}"] = {name: after.get(name) for name in names} | {"tokens": house.tokens()}
            if is_whole:
                break
            operations += 1
    sys.stdout.write(json.dumps({"operations": operations, "left": found}))


if __name__ == "__main__":
    main(*sys.argv[1:])
