"""What a person switched off in an agent's settings: it stays so, and what install tells of it. Pure.

The self-test runs the hook and the server by itself, so it passes all the same.
"""

from recollect.surfaces.hooks.targets import (
    STATE,
    TOML_SERVERS,
    HooksFile,
    has_hooks_off,
    server_in,
)
from recollect.surfaces.hooks.tools import SERVER, Tool
from recollect.surfaces.hooks.trust import has_codex_hooks_off, trust_in

ENABLED = "enabled"


def told_of_claude_code(tool: Tool, path: str, text: str) -> list[str]:
    """`text`: of its settings."""
    return [_no_hook(tool, path, '"disableAllHooks"')] if has_hooks_off(path, text) else []


def told_of_codex(tool: Tool, path: str, text: str, hooks: HooksFile, hooks_text: str) -> list[str]:
    """`text`: of its configuration. `hooks`, `hooks_text`: where ours stand."""
    said: list[str] = []
    if has_codex_hooks_off(path, text):
        said.append(_no_hook(tool, path, "hooks = false in [features]"))
    if server_in(path, text).get(ENABLED) is False:
        said.append(
            f"{path} says {ENABLED} = false in [{TOML_SERVERS}.{SERVER}]: {tool.title} has no tools of ours until that "
            "is gone."
        )
    state = trust_in(path, text)
    keys = hooks.keys(hooks_text, every_home=False, ours=True)
    said += [
        f'{path} says {ENABLED} = false in [{".".join(STATE)}."{key}"]: {tool.title} does not run that hook of ours '
        "until that is gone."
        for key in keys
        if state.get(key, {}).get(ENABLED) is False
    ]
    return said


def _no_hook(tool: Tool, path: str, said: str) -> str:
    return f"{path} says {said}: {tool.title} runs no hook, ours included, until that is gone."
