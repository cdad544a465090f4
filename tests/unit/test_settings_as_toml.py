"""Somebody's config.toml: what is ours comes and goes, and no word of theirs."""

import tomllib

import pytest

from recollect.errors import Invalid
from recollect.surfaces.hooks.commands import server_command
from recollect.surfaces.hooks.targets import Made, TomlServers
from recollect.surfaces.hooks.tomllines import comments, statements
from recollect.surfaces.hooks.tomltext import with_tables, without_tables

HOME = "/home/ada"
SERVER = server_command(["/usr/bin/recollect", "--home", HOME], "codex")
OURS = ("mcp_servers", "recollect")
TRUST = {("hooks", "state", "/x/hooks.json:stop:0:0"): {"trusted_hash": "sha256:1"}}


def target(trust: bool = False) -> TomlServers:
    return TomlServers(path="/x/config.toml", server=SERVER, home=HOME, trust=TRUST if trust else {})


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_comments_around_a_server_that_somebody_changed_stay(end: str) -> None:
    text = "# first\n[a]\nb = 1  # one\n".replace("\n", end)
    after, made = target().added(text)
    head = f"[mcp_servers.recollect]{end}"
    changed = after.replace(head, f"# my memory{end}{head}startup_timeout_sec = 20{end}")
    more = "\n# theirs\n\n# about c\n[c]\nd = 2 # two\n# the end".replace("\n", end)
    assert target().removed(changed + more, made, every_home=False) == f"{text}{end}# my memory{end}{more}"


def test_tables_below_ours_go_with_it_and_what_stands_between_stays() -> None:
    after, made = target(trust=True).added("")
    below = '\n[mcp_servers.recollect.env]\nA = "b"\n# about c\n[c]\n\n[mcp_servers.recollect.tools.search]\nx = 1\n'
    assert target().removed(after + below, made, every_home=False) == "# about c\n[c]\n"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('[mcp_servers]  # all\nrecollect = { command = "r" }\n# mine\no.a = 1\n',
         "[mcp_servers]  # all\n# mine\no.a = 1\n"),
        ('mcp_servers.recollect.command = "r"\n# mine\nmcp_servers.o.a = 1\n', "# mine\nmcp_servers.o.a = 1\n"),
        ('a = """\n[x]\n"""\n[mcp_servers."recollect"]\nb = [\n  "]", # c\n]\n# mine\n',
         'a = """\n[x]\n"""\n# mine\n'),
        ("# a\n[mcp_servers.recollect]\n# b\n", "# a\n# b\n"),
    ],
)  # fmt: skip
def test_ours_is_cut_out_however_it_is_written(text: str, left: str) -> None:
    assert without_tables(text, [OURS]) == left


def test_ours_inside_a_table_on_one_line_goes_and_comments_stay() -> None:
    text = '# a\nmcp_servers = { o = { command = "y" }, recollect = { command = "r" } }  # b\n\n# c\n[d]\n# e\n'
    left = without_tables(text, [OURS])
    assert tomllib.loads(left) == {"mcp_servers": {"o": {"command": "y"}}, "d": {}}
    assert comments(left) == comments(text)


def test_where_a_comment_would_be_lost_nothing_is_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    text = 'mcp_servers = { o = 1, recollect = { command = "r" } }\n# mine\n'
    monkeypatch.setattr("tomlkit.dumps", lambda document: "mcp_servers = { o = 1 }\n")
    with pytest.raises(Invalid, match="cannot be taken out"):
        without_tables(text, [OURS])


@pytest.mark.parametrize("text", ["hooks = {}\n", "hooks = { state = {} } # mine\n", 'hooks = { a = "b" }\n'])
def test_trust_stands_in_a_table_on_one_line_too(text: str) -> None:
    wanted = target(trust=True)
    after, made = wanted.added(text)
    assert wanted.has_all(after)
    assert comments(after) == comments(text)
    left = tomllib.loads(wanted.removed(after, made, every_home=False))
    assert "mcp_servers" not in left
    assert not left["hooks"].get("state")


def test_what_nothing_can_be_added_to_is_named() -> None:
    with pytest.raises(Invalid, match=r"/x/config.toml: .*nothing was changed"):
        target().added("[[mcp_servers]]\n")
    with pytest.raises(Invalid):
        with_tables("hooks = 1\n", TRUST)


def test_statements_are_told_from_what_looks_like_them() -> None:
    text = "a.b = '''\n[x]\n'''\n# [y]\n[[c.\"d.e\"]] # z\nf = [\n  [1], # ]\n]\n"
    found = [(one.names, one.is_header) for one in statements(text)]
    assert found == [(("a", "b"), False), (("c", "d.e"), True), (("c", "d.e", "f"), False)]
    assert comments(text) == ["# [y]", "# ]", "# z"]


def test_nothing_of_ours_is_found_where_there_is_none() -> None:
    text = '# mine\n[mcp_servers.recollect]\ncommand = "other"\n'
    assert target().removed(text, Made(), every_home=True) == text
