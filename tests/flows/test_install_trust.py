"""Codex knows hooks by their places: those of others keep their trust whatever becomes of ours."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from installs import install, uninstall, user_of, write

from recollect.surfaces.hooks.tomltext import with_other_names


@pytest.fixture
def codex(home: Path) -> Path:
    return user_of(home) / ".codex"


def theirs(name: str) -> dict[str, Any]:
    return {"hooks": [{"type": "command", "command": name}]}


def state(codex: Path) -> dict[str, Any]:
    return tomllib.loads((codex / "config.toml").read_text()).get("hooks", {}).get("state", {})


def add_behind_ours(codex: Path) -> None:
    """Two hooks more, and Codex's word that somebody trusts them."""
    hooks = json.loads((codex / "hooks.json").read_text())
    hooks["hooks"]["SessionStart"] += [theirs("second"), theirs("third")]
    (codex / "hooks.json").write_text(json.dumps(hooks, indent=2))
    with (codex / "config.toml").open("a") as file:
        for place in (2, 3):
            file.write(f'\n[hooks.state."{codex}/hooks.json:session_start:{place}:0"] # {place}\n')
            file.write(f'trusted_hash = "sha256:{place}"\n')


def trusted(codex: Path) -> dict[str, str]:
    """Command → digest, of the hooks of others that Codex would run."""
    groups = json.loads((codex / "hooks.json").read_text())["hooks"]["SessionStart"]
    found = {
        group["hooks"][0]["command"]: state(codex).get(f"{codex}/hooks.json:session_start:{place}:0")
        for place, group in enumerate(groups)
    }
    return {name: entry["trusted_hash"] for name, entry in found.items() if entry and "recollect" not in name}


def test_hooks_of_others_keep_their_trust_when_ours_are_replaced_and_taken_out(home: Path, codex: Path) -> None:
    write(codex / "hooks.json", json.dumps({"hooks": {"SessionStart": [theirs("first")]}}))
    install("codex", home)
    add_behind_ours(codex)
    wanted = {"second": "sha256:2", "third": "sha256:3"}
    install("codex", home, "--agent", "ada")
    groups = json.loads((codex / "hooks.json").read_text())["hooks"]["SessionStart"]
    assert groups[1]["hooks"][0]["command"].endswith(" ada")
    assert trusted(codex) == wanted
    uninstall("codex", home)
    assert trusted(codex) == wanted
    assert len(state(codex)) == 2
    assert "# 3" in (codex / "config.toml").read_text()


def test_a_hook_that_somebody_put_beside_ours_keeps_the_others_trusted_too(home: Path, codex: Path) -> None:
    install("codex", home)
    hooks = json.loads((codex / "hooks.json").read_text())
    hooks["hooks"]["Stop"][0]["hooks"].append({"type": "command", "command": "ring"})
    (codex / "hooks.json").write_text(json.dumps(hooks))
    with (codex / "config.toml").open("a") as file:
        file.write(f'\n[hooks.state."{codex}/hooks.json:stop:0:1"]\ntrusted_hash = "sha256:9"\n')
    install("codex", home, "--agent", "ada")
    assert state(codex)[f"{codex}/hooks.json:stop:0:0"] == {"trusted_hash": "sha256:9"}
    uninstall("codex", home)
    assert state(codex) == {f"{codex}/hooks.json:stop:0:0": {"trusted_hash": "sha256:9"}}


def test_trust_that_is_not_wanted_any_more_is_taken_back(home: Path, codex: Path) -> None:
    install("codex", home)
    assert len(state(codex)) == 4
    install("codex", home, "--no-trust")
    assert state(codex) == {}
    uninstall("codex", home)
    assert not codex.exists()


def test_a_mark_at_the_beginning_of_the_settings_stays_there(home: Path, codex: Path) -> None:
    path = write(codex / "config.toml", '\ufeffmodel = "x"\n')
    install("codex", home)
    assert path.read_text().startswith('\ufeffmodel = "x"\n')
    path.write_text(f"{path.read_text()}\n[theirs]\n")
    uninstall("codex", home)
    assert path.read_text() == '\ufeffmodel = "x"\n\n[theirs]\n'


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('[s."a:1"]\nx = 1\n[s."a:2"]\nx = "a:1"\n', '[s."a:0"]\nx = 1\n[s."a:1"]\nx = "a:1"\n'),
        ('[s]\n"a:1" = {x = 1} # one\n', '[s]\n"a:0" = {x = 1} # one\n'),
        ('[s."a:1"]\nx = 1\n[s."a:0"]\nx = 2\n', '[s."a:1"]\nx = 1\n[s."a:0"]\nx = 2\n'),
    ],
)
def test_names_move_where_they_stand_or_not_at_all(text: str, left: str) -> None:
    moved = with_other_names(text, ("s",), {"a:1": "a:0", "a:2": "a:1"})
    assert moved in (left, text)
    if 'x = "a:1"' not in text:
        assert moved == left
