"""Codex runs no hook that nobody agreed to. What it writes down when somebody does: where the hook stands, and a digest
of what it is. Pure.
"""

import hashlib
import json
from typing import Any, cast

from recollect.surfaces.hooks.targets import HOOKS, STATE, TRUSTED, Group, HooksFile, hooks_in, key_of, snake, toml_in
from recollect.surfaces.hooks.tomltext import Tables, table_at


def trust_of(hooks_path: str, hooks_text: str, groups: dict[str, Group]) -> Tables:
    """What stands in the configuration when our hooks are agreed to."""
    found = hooks_in(hooks_path, hooks_text)
    tables: Tables = {}
    for event, group in groups.items():
        key = key_of(hooks_path, event, found[event].index(group), 0)
        tables[*STATE, key] = {TRUSTED: _digest(event, group, group[HOOKS][0])}
    return tables


def trust_in(path: str, text: str) -> dict[str, dict[str, Any]]:
    """What Codex has written down of each hook, by its key."""
    state = table_at(toml_in(path, text), STATE) or {}
    return {key: cast(dict[str, Any], value) for key, value in state.items() if isinstance(value, dict)}


def untrusted(path: str, text: str, hooks: HooksFile, hooks_text: str) -> list[str]:
    """The events whose hook of ours nobody agreed to as it stands there now. `text`: of the configuration."""
    found, state = hooks_in(hooks.path, hooks_text), trust_in(path, text)
    lacking: list[str] = []
    for event, place, number in hooks.handlers(hooks_text, every_home=False):
        group = found[event][place]
        told = state.get(key_of(hooks.path, event, place, number), {})
        if told.get(TRUSTED) != _digest(event, group, group[HOOKS][number]):
            lacking.append(event)
    return lacking


def has_codex_hooks_off(path: str, text: str) -> bool:
    features = toml_in(path, text).get("features")
    return isinstance(features, dict) and cast(dict[str, Any], features).get(HOOKS) is False


def has_hooks_beside(path: str, text: str) -> bool:
    """Whether somebody wrote hooks into the configuration itself."""
    found = table_at(toml_in(path, text), (HOOKS,)) or {}
    return any(isinstance(groups, list) for groups in found.values())


def _digest(event: str, group: Group, handler: dict[str, Any]) -> str:
    matcher = {key: group[key] for key in ("matcher",) if key in group}
    told = {"event_name": snake(event), **matcher, "hooks": [{**handler, "async": False}]}
    words = json.dumps(told, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(words.encode()).hexdigest()}"
