"""Whatever stands in somebody's settings: install and uninstall leave it as it was."""

import json
import tomllib
from typing import Any

import pytest
import tomlkit
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from recollect.surfaces.hooks.commands import hook_groups, server_command
from recollect.surfaces.hooks.jsontext import read_json, with_child, without_child
from recollect.surfaces.hooks.targets import HooksFile, JsonServers, Made, TomlServers
from recollect.surfaces.hooks.tools import TOOLS
from recollect.surfaces.hooks.trust import trust_of

SCRIPT = "'/home/ada/it'\"'\"'s/hooks/recollect-hook'"
GROUPS = hook_groups(SCRIPT, TOOLS["codex"], "codex")
HOME = "/home/ada/it's"
SERVER = server_command(["/usr/bin/recollect", "--home", HOME], "codex")

words = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=12)
keys = words.filter(lambda word: word not in ("hooks", "mcpServers", "recollect"))
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)
handlers = st.fixed_dictionaries({"type": st.just("command"), "command": words})
groups = st.fixed_dictionaries({"hooks": st.lists(handlers | st.just({}), max_size=2)}) | values
events = st.sampled_from(["SessionStart", "Stop", "SessionEnd", "PreToolUse"])
hooks = st.dictionaries(events, st.lists(groups, max_size=3), max_size=3)
servers = st.dictionaries(keys, values, max_size=3)


@st.composite
def documents(draw: st.DrawFn, **also: st.SearchStrategy[Any]) -> dict[str, Any]:
    found = list(draw(st.dictionaries(keys, values, max_size=3)).items())
    for name, strategy in also.items():
        if draw(st.booleans()):
            found.insert(draw(st.integers(0, len(found))), (name, draw(strategy)))
    return dict(found)


@st.composite
def written(draw: st.DrawFn, value: Any) -> str:
    """One of the ways in which people and programs write JSON."""
    indent = draw(st.sampled_from([None, 0, 1, 2, 4, "\t"]))
    separators = draw(st.sampled_from([None, (",", ":"), (" , ", " : ")])) if indent is None else None
    text = json.dumps(value, indent=indent, separators=separators, ensure_ascii=draw(st.booleans()))
    text = draw(st.sampled_from(["", "\n", "  \n"])) + text + draw(st.sampled_from(["", "\n", "\n\n"]))
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


def hooks_file() -> HooksFile:
    return HooksFile(path="/x/hooks.json", script=SCRIPT, groups=GROUPS)


def servers_file() -> JsonServers:
    return JsonServers(path="/x/.claude.json", server=SERVER, home=HOME)


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_hooks_in_any_json_are_added_beside_the_others_and_taken_out_again(data: st.DataObject) -> None:
    before = data.draw(documents(hooks=hooks))
    text = data.draw(written(before))
    target = hooks_file()
    after, made = target.added(text)
    assert target.has_all(after)
    wanted = {event: [*before.get("hooks", {}).get(event, []), group] for event, group in GROUPS.items()}
    assert read_json(after) == {**before, "hooks": {**before.get("hooks", {}), **wanted}}
    assert read_json(target.removed(after, made, every_home=False)) == before
    elsewhere = {**read_json(after), "new": 1}
    elsewhere["hooks"]["Stop"].insert(0, {"hooks": [{"type": "command", "command": "ring"}]})
    left = read_json(target.removed(data.draw(written(elsewhere)), made, every_home=False))
    others = [{"hooks": [{"type": "command", "command": "ring"}]}, *before.get("hooks", {}).get("Stop", [])]
    assert left == {**before, "hooks": {**before.get("hooks", {}), "Stop": others}, "new": 1}


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_a_server_in_any_json_is_added_beside_the_others_and_taken_out_again(data: st.DataObject) -> None:
    before = data.draw(documents(mcpServers=servers))
    text = data.draw(written(before))
    target = servers_file()
    after, made = target.added(text)
    assert read_json(after) == {**before, "mcpServers": {**before.get("mcpServers", {}), "recollect": SERVER}}
    assert read_json(target.removed(after, made, every_home=False)) == before


@settings(max_examples=300, deadline=None)
@given(data=st.data(), name=words, value=values)
def test_a_member_more_and_less_leaves_the_bytes_of_the_others(data: st.DataObject, name: str, value: Any) -> None:
    before = data.draw(st.dictionaries(words.filter(lambda word: word != name), values, min_size=1, max_size=4))
    text = data.draw(written(before))
    after = with_child(text, (), name, value)
    assert read_json(after) == {**before, name: value}
    assert without_child(after, (name,)) == text


toml_keys = words.filter(lambda word: word not in ("hooks", "mcp_servers", "recollect"))
scalars = st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats() | words
toml_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
tables = st.dictionaries(toml_keys, toml_values, max_size=4)
comments = st.sampled_from(["", "# mine\n", "\n# two\n# lines\n\n", "  # indented\n"])


def is_toml(text: str) -> bool:
    """tomlkit writes some names and values that are no TOML."""
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


@st.composite
def toml_texts(draw: st.DrawFn) -> str:
    others = "".join(
        f"\n{draw(comments)}[mcp_servers.{tomlkit.key(name).as_string()}]\n{tomlkit.dumps({'it': value})}"
        for name, value in draw(st.dictionaries(toml_keys, scalars, max_size=3)).items()
    )
    state = draw(st.sampled_from(["", "\n[hooks]\n", '\n[hooks.state."/y:stop:0:0"]\ntrusted_hash = "sha256:1"\n']))
    own = draw(st.sampled_from(["", "\n[mcp_servers]\n"])) if not others else ""
    text = draw(comments) + tomlkit.dumps(draw(tables)) + draw(comments) + own + others + state + draw(comments)
    text = text if draw(st.booleans()) else text.rstrip("\n")
    assume(is_toml(text))
    return text.replace("\n", "\r\n") if draw(st.booleans()) and "\r" not in text and '"""' not in text else text


@settings(max_examples=200, deadline=None)
@given(text=toml_texts(), more=comments)
def test_tables_in_any_toml_are_added_at_the_end_and_taken_out_to_the_byte(text: str, more: str) -> None:
    hooks_text, _ = hooks_file().added(None)
    trust = trust_of("/x/hooks.json", hooks_text, GROUPS)
    target = TomlServers(path="/x/config.toml", server=SERVER, home=HOME, trust=trust)
    after, made = target.added(text)
    assert target.has_all(after)
    assert after.startswith(text)
    assert target.removed(after, made, every_home=False) == text
    later = f'{after}\n{more}[added_since]\na = "b"\n'
    left = target.removed(later, made, every_home=False)
    assert left == f'{text}\n{more}[added_since]\na = "b"\n'


def test_tables_that_stand_on_one_line_get_ours_too() -> None:
    text = 'mcp_servers = { other = { command = "y" } }  # one line\n'
    target = TomlServers(path="/x/config.toml", server=SERVER, home=HOME)
    after, made = target.added(text)
    assert tomllib.loads(after)["mcp_servers"] == {"other": {"command": "y"}, "recollect": SERVER}
    assert "# one line" in after
    assert tomllib.loads(target.removed(after, made, every_home=False)) == tomllib.loads(text)


def test_a_server_whose_values_somebody_changed_is_still_ours() -> None:
    target = TomlServers(path="/x/config.toml", server=SERVER, home=HOME)
    after, made = target.added("# first\n[a]\nb = 1\n")
    changed = after.replace("[mcp_servers.recollect]", "[mcp_servers.recollect]\nstartup_timeout_sec = 20")
    left = target.removed(f"{changed}\n# theirs\n[c]\nd = 2\n", made, every_home=False)
    assert tomllib.loads(left) == {"a": {"b": 1}, "c": {"d": 2}}
    assert "# first" in left


def test_what_another_home_put_there_is_only_taken_out_to_make_room() -> None:
    other = HooksFile(
        path="/x/hooks.json",
        script="/home/eve/hooks/recollect-hook",
        groups=hook_groups("/home/eve/hooks/recollect-hook", TOOLS["codex"], "codex"),
    )
    text, _ = other.added(None)
    assert hooks_file().removed(text, Made(), every_home=False) == text
    assert "recollect-hook" not in hooks_file().removed(text, Made(), every_home=True)


@pytest.mark.parametrize("text", ["", " \n", "\ufeff"])
def test_blank_settings_are_as_good_as_none(text: str) -> None:
    target = HooksFile(path="/x/settings.json", script=SCRIPT, groups=GROUPS)
    assert not target.has_all(text)
    assert target.removed(text, Made(), every_home=True) == text
    after, made = target.added(text)
    assert target.has_all(after)
    assert read_json(target.removed(after, made, every_home=False)) == {}
