"""The memory tool: the same calls on it and on the SDK's own, and the rules that only notes have."""

import itertools
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from anthropic.tools import ToolError
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_twins import DONE, REFUSED, Twins

import recollect
from recollect.errors import Conflict, Denied, Invalid, NotFound, RecollectError, Unavailable
from recollect.notes.memory_tool import MemoryTool, sdk_tool
from recollect.notes.versions import MOST_BYTES
from recollect.testing import FrozenClock, temporary_memory

Call = dict[str, Any]


def view(path: str, *lines: int) -> Call:
    return {"command": "view", "path": path, **({"view_range": list(lines)} if lines else {})}


def create(path: str, text: str) -> Call:
    return {"command": "create", "path": path, "file_text": text}


def replace(path: str, old: str, new: str) -> Call:
    return {"command": "str_replace", "path": path, "old_str": old, "new_str": new}


def insert(path: str, line: int, text: str) -> Call:
    return {"command": "insert", "path": path, "insert_line": line, "insert_text": text}


def delete(path: str) -> Call:
    return {"command": "delete", "path": path}


def rename(path: str, new: str) -> Call:
    return {"command": "rename", "old_path": path, "new_path": new}


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twins]:
    """One house on SQLite for all comparisons: each works in a folder of its own."""
    with temporary_memory() as memory:
        yield Twins(memory.notes, tmp_path_factory.mktemp("sdk"))


M = "/memories/here"
A, B = f"{M}/a.md", f"{M}/b.md"
FIVE = "one\ntwo\nthree\nfour\nfive\n"

STORIES: dict[str, list[Call]] = {
    "a new file, and it is there": [create(A, "x"), create(A, "y"), view(A)],
    "a folder where the file should be": [create(f"{A}/b.md", "x"), create(A, "y"), view(A), insert(A, 0, "z")],
    "a file where the folder should be": [create(A, "x"), create(f"{A}/b.md", "y"), create(f"{A}/b/c.md", "y")],
    "looking behind a file": [create(A, "x"), view(f"{A}/b"), delete(f"{A}/b"), replace(f"{A}/b", "x", "y")],
    "lines with numbers": [create(A, FIVE), view(A), create(B, "no end"), view(B)],
    "parts of a file": [create(A, FIVE), *(view(A, *some) for some in [(2, 3), (4, -1), (0, 2), (-5, 1), (3, 2)])],
    "odd parts": [create(A, FIVE), *(view(A, *some) for some in [(2, -2), (9, 12), (5, 99), (1, 0), (2,), (1, 2, 3)])],
    "an empty file": [create(A, ""), view(A), insert(A, 1, "x"), replace(A, "", "x"), view(A), replace(A, "", "y")],
    "carriage returns stay": [
        create(A, "one\r\ntwo\r\n"),
        insert(A, 1, "new"),
        view(A),
        replace(A, "two\r", "2"),
        view(A),
    ],
    "a lone carriage return is no line": [create(A, "one\rtwo"), view(A), insert(A, 1, "x\r"), insert(A, 3, "y")],
    "inserting": [create(A, "one\ntwo"), insert(A, 0, "zero\n\n"), insert(A, 3, "three"), insert(A, 1, ""), view(A)],
    "inserting out of range": [create(A, "one\n"), insert(A, 2, "x"), insert(A, -1, "x"), insert(B, 0, "x")],
    "replacing": [create(A, FIVE), replace(A, "one", "1\n1"), replace(A, "five\n", ""), replace(A, "three", "")],
    "replacing what is not there": [
        create(A, FIVE),
        replace(A, "six", "6"),
        replace(B, "x", "y"),
        replace(M, "x", "y"),
    ],
    "replacing what is there twice": [create(A, "x\nxx\n\nx"), replace(A, "x", "y"), replace(A, "", "y")],
    "matches that overlap": [create(A, "aaa"), replace(A, "aa", "b"), create(B, "aaaa\naa"), replace(B, "aa", "b")],
    "replacing by the same": [create(A, FIVE), replace(A, "two", "two")],
    "many lines": [create(A, "x\n" * 2000), replace(A, "x", "y"), view(A, 1998, -1)],
    "deleting": [create(A, "x"), delete(A), view(A), delete(A), view(M), create(A, "again"), view(A)],
    "deleting a folder": [create(f"{M}/d/e/a.md", "x"), create(f"{M}/d/b.md", "y"), delete(f"{M}/d"), view(M)],
    "an empty folder stays, and goes": [create(f"{M}/d/a.md", "x"), delete(f"{M}/d/a.md"), view(M), delete(f"{M}/d")],
    "renaming": [create(A, "x"), rename(A, B), view(A), view(B), rename(B, f"{M}/d/e.md"), view(M)],
    "renaming onto another": [create(A, "x"), create(B, "y"), rename(A, B), rename(A, A), rename(A, M), view(B)],
    "renaming what is not there": [rename(A, B), rename(f"{A}/x", B)],
    "renaming a folder": [
        create(f"{M}/d/e/a.md", "x"),
        create(f"{M}/d/f/b.md", "y"),
        delete(f"{M}/d/f/b.md"),
        rename(f"{M}/d", f"{M}/g"),
        view(M),
        view(f"{M}/g"),
        rename(f"{M}/g/f", f"{M}/empty"),
        view(M),
    ],
    "renaming a folder into itself": [create(f"{M}/d/a.md", "x"), rename(f"{M}/d", f"{M}/d/e"), view(f"{M}/d/a.md")],
    "renaming below a file": [create(A, "x"), create(B, "y"), rename(A, f"{B}/c.md"), view(A)],
    "two levels deep, by name": [
        *(create(f"{M}/{name}", "x") for name in ("b/c/d.md", "b/a.md", "B.md", "a-b.md", "a/z.md", "ü 1.md")),
        view(M),
        view(f"{M}/b"),
        view(f"{M}/"),
    ],
    "sizes": [*(create(f"{M}/{size}.md", "x" * size) for size in (0, 1, 1023, 1024, 1536, 2100, 1 << 20)), view(M)],
    "ways to write a path": [
        create(f"{M}//x/../a.md", "x"),
        view(f"{M}/./a.md/"),
        view("/memorieshere/a.md"),
        view("/memories/../memories/here/a.md"),
    ],
    "outside": [
        *(view(path) for path in ("/etc/passwd", "memories/x", "", "/memories/..", "/memories/../../etc/passwd")),
        create("/memories/../x.md", "x"),
        rename(A, "/memories/../../x.md"),
        rename("/tmp/x", A),
    ],
    "the folder itself": [
        *(call(path) for call in (delete, view) for path in ("/memories", "/memories/", "/memories/here/..")),
        create("/memories", "x"),
        rename("/memories", A),
        replace("/memories", "x", "y"),
        insert("/memories", 0, "y"),
    ],
    "other scripts": [
        create(f"{M}/日記/ü.md", "𝄞\u2028é\u0085x\n"),
        view(f"{M}/日記/ü.md"),
        insert(f"{M}/日記/ü.md", 1, "é"),
    ],
    "too many lines": [create(A, "\n" * 999_999), view(A, 1, 2), create(B, "\n" * 999_998), view(B, 999_998, -1)],
}


@pytest.mark.parametrize("story", STORIES)
def test_a_call_comes_to_what_it_comes_to_in_the_sdk(everything: Twins, story: str) -> None:
    everything.log.clear()
    for call in STORIES[story]:
        everything.same(call)
    for root in (everything.notes.folder, everything.other_root):
        shutil.rmtree(root / "here", ignore_errors=True)


def test_what_other_tools_put_there_is_shown_as_the_sdk_shows_it(everything: Twins) -> None:
    everything.place("found/plain.md", b"one\r\ntwo")
    everything.place("found/.hidden.md", b"x")
    everything.place("found/.git/config", b"x")
    everything.place("found/picture.png", b"\x89PNG\xff\x00")
    assert "hidden" not in everything.same(view("/memories/found")).text.split("\n", 1)[1]
    everything.same(insert("/memories/found/plain.md", 2, "three"))
    for call in (view, delete):
        assert everything.same(call("/memories/found/picture.png")).how == (REFUSED if call is view else DONE)


NAMES = st.sampled_from(["a.md", "b.md", "d", "d/a.md", "d/b.md", "d/e", "d/e/a.md", "a.md/b.md", "f/g/h.md", "."])
TEXTS = st.text("ab\n\r ü𝄞", max_size=8) | st.just("a\nb\na\n")
CALLS = st.one_of(
    st.builds(view, NAMES),
    st.builds(view, NAMES, st.integers(-3, 5), st.integers(-3, 5)),
    st.builds(create, NAMES, TEXTS),
    st.builds(create, NAMES, TEXTS),
    st.builds(replace, NAMES, st.text("ab\n", max_size=2), TEXTS),
    st.builds(insert, NAMES, st.integers(-1, 4), TEXTS),
    st.builds(delete, NAMES),
    st.builds(rename, NAMES, NAMES),
)
NUMBERS = itertools.count()


def leaves_folders_behind(call: Call, root: Path) -> bool:
    """When a rename fails, the SDK has made the folder for it already. Ours makes none."""
    old, new = root / call.get("old_path", ""), root / call.get("new_path", "")
    return (not os.path.lexists(old) and not new.parent.exists()) or old in new.parents


@given(calls=st.lists(CALLS, min_size=4, max_size=14))
@settings(max_examples=40, deadline=None, derandomize=True, database=None)
def test_any_calls_come_to_what_they_come_to_in_the_sdk(everything: Twins, calls: list[Call]) -> None:
    base = f"any-{next(NUMBERS)}"
    everything.log.clear()
    everything.same(create(f"/memories/{base}/first.md", "a\nb\n"))
    for call in calls:
        if call["command"] == "rename" and leaves_folders_behind(call, everything.other_root / base):
            continue
        paths = {key: f"/memories/{base}/{value}" for key, value in call.items() if key.endswith("path")}
        everything.same(call | paths)
    everything.same(view(f"/memories/{base}"))
    kept = {one.path: everything.notes.read(one.path).content for one in everything.notes.list(base)}
    assert kept == {name: (everything.other_root / name).read_bytes() for name in kept}
    everything.same(delete(f"/memories/{base}"))


def test_the_six_commands_work_on_both_engines_and_each_change_is_a_version(
    memory: recollect.Memory, tmp_path: Path
) -> None:
    memory.agents.add("ada")
    notes = memory.as_agent("ada").notes
    twins = Twins(notes, tmp_path / "sdk")
    own = "/memories/agents/ada"
    for call in (
        create(f"{own}/tea.md", "green\n"),
        insert(f"{own}/tea.md", 1, "black"),
        replace(f"{own}/tea.md", "green", "white"),
        view(f"{own}/tea.md"),
        rename(f"{own}/tea.md", f"{own}/drinks/tea.md"),
        view("/memories"),
        delete(f"{own}/drinks"),
        view(own),
    ):
        assert twins.same(call).how == DONE
    history = notes.history("agents/ada/tea.md")
    assert [one.action for one in history] == ["written", "written", "written", "removed"]
    assert {(one.actor, one.actor_name) for one in history} == {("agent", "ada")}
    assert history[1].reason == "insert with the memory tool"
    notes.undo("agents/ada/drinks/tea.md")
    assert "white" in notes.tool().execute(view(f"{own}/drinks/tea.md"))


def test_a_siblings_folder_is_not_there_whatever_is_called(memory: recollect.Memory) -> None:
    for name in ("ada", "bob"):
        memory.agents.add(name)
    memory.agents.grant("ada", "house")
    memory.notes.write("agents/bob/secret.md", "bob's own\n")
    tool = memory.as_agent("ada").notes.tool()
    tool.execute(create("/memories/agents/ada/x.md", "x"))
    tool.execute(create("/memories/agents/ada/empty/x.md", "x"))
    tool.execute(delete("/memories/agents/ada/empty/x.md"))

    assert "bob" not in tool.execute(view("/memories")) + tool.execute(view("/memories/agents"))
    for path in ("/memories/agents/bob", "/memories/agents/bob/secret.md", "/memories/agents/ada/../bob/secret.md"):
        for call in (
            view(path),
            replace(path, "own", "x"),
            insert(path, 0, "x"),
            delete(path),
            rename(path, "/memories/x"),
        ):
            with pytest.raises(NotFound, match="does not exist"):
                tool.execute(call)
    for there, not_there in (
        ("/memories/agents/bob/secret.md", "/memories/agents/cleo/secret.md"),
        ("/memories/agents/bob", "/memories/agents/cleo"),
    ):
        for calls in (
            [create(path, "x") for path in (there, not_there)],
            [rename("/memories/agents/ada/x.md", path) for path in (there, not_there)],
            [rename("/memories/agents/ada/empty", path) for path in (there, not_there)],
        ):
            told = [refusal(tool, call) for call in calls]
            assert told[0].replace("bob", "cleo") == told[1]
    assert not (memory.notes.folder / "agents/cleo").exists()
    tool.execute(delete("/memories/agents"))
    assert [one.path for one in memory.notes.list("agents/bob")] == ["agents/bob/secret.md"]


def refusal(tool: MemoryTool, call: Call) -> str:
    with pytest.raises(Denied) as caught:
        tool.execute(call)
    return str(caught.value)


def test_an_agent_sees_the_folders_above_it_and_writes_where_it_may(memory: recollect.Memory) -> None:
    memory.agents.add("ada")
    memory.agents.add("kit", parent="ada")
    memory.agents.add("ada/den")
    memory.notes.write("agents/ada/tea.md", "green\n")
    memory.notes.write("agents/ada/rooms/den/shelf.md", "books\n")
    memory.notes.write("user.md", "Kim\n")
    kit, den = memory.as_agent("kit").notes.tool(), memory.as_agent("ada", "den").notes.tool()

    assert "/memories/agents/ada/tea.md" not in kit.execute(view("/memories"))  # Three levels deep.
    assert "tea.md" in kit.execute(view("/memories/agents"))
    assert "/den" not in kit.execute(view("/memories/agents/ada"))
    assert "shelf.md" in den.execute(view("/memories/agents/ada/rooms"))
    for path in ("/memories/agents/ada/tea.md", "/memories/user.md"):
        assert kit.execute(view(path))
        with pytest.raises(Denied, match="recollect agents grant kit"):
            kit.execute(insert(path, 0, "x"))
    memory.agents.grant("kit", "ada")
    kit.execute(rename("/memories/agents/ada/tea.md", "/memories/agents/kit/tea.md"))
    kit.execute(create("/memories/agents/ada/new.md", "x"))


def test_a_soul_gets_a_reason_and_waits_for_review_and_the_diary_stays(memory: recollect.Memory) -> None:
    memory.agents.add("ada")
    notes = memory.as_agent("ada").notes
    tool, own = notes.tool(), "/memories/agents/ada"
    tool.execute(create(f"{own}/soul.md", "calm\n"))
    tool.execute(replace(f"{own}/soul.md", "calm", "brave"))
    assert [one.reason for one in memory.notes.reviews()] == [
        "create with the memory tool",
        "str_replace with the memory tool",
    ]
    entry = f"{own}/diary/2026-03-02T12-00-00.md"
    tool.execute(create(entry, "A day.\n"))
    for call in (replace(entry, "day", "year"), insert(entry, 0, "x"), delete(own), rename(entry, f"{own}/x.md")):
        with pytest.raises(Conflict, match="never changed"):
            tool.execute(call)
    assert "A day." in tool.execute(view(entry))


def test_credentials_are_masked_and_the_model_is_told(memory: recollect.Memory) -> None:
    tool, secret = memory.notes.tool(), "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    told = tool.execute(create("/memories/keys.md", f"first\n{secret}\n"))
    assert told == "File created successfully at: /memories/keys.md\nCredentials in it were masked: 1."
    told = tool.execute(replace("/memories/keys.md", "first", f"other {secret}"))
    assert secret not in told + tool.execute(view("/memories/keys.md"))
    assert "masked: 1" in told


TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
BODY = [f"{number:02}aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7dE9fG1hJ3kL5mN7pQ9rS" for number in range(12)]
"""Made up, and put together here so that no scanner takes them for real ones."""
BLOCK = "\n".join(["-----BEGIN RSA " + "PRIVATE KEY-----", *BODY, "-----END RSA " + "PRIVATE KEY-----"])
OWNED = f"# Server\n\nThe key:\n{BLOCK}\n\npassword:\n  hunter2Xy9Zq\nmilk\n"
"""As a person writes it into a file of their own."""
SECRETS = [*BODY, "hunter2Xy9Zq"]


@pytest.fixture
def owned(memory: recollect.Memory) -> tuple[MemoryTool, Path]:
    """The tool, and the file of a note with credentials of its owner."""
    memory.notes.prepare()
    file = memory.notes.folder / "server.md"
    file.write_text(OWNED, encoding="utf-8")
    return memory.notes.tool(), file


SERVER = "/memories/server.md"


def test_a_part_of_a_note_shows_no_credential_and_no_line_moves(owned: tuple[MemoryTool, Path]) -> None:
    tool, _ = owned
    lines = OWNED.split("\n")
    for first, last in [(1, -1), (6, 12), (20, 20), (19, 21), (5, 5), (17, 18)]:
        shown = tool.execute(view(SERVER, first, last))
        assert not [secret for secret in SECRETS if secret in shown]
        for numbered in shown.split("\n")[1:]:
            number, _, text = numbered.partition("\t")
            assert "[masked:" in text or text == lines[int(number) - 1]
    assert "    21\tmilk" in tool.execute(view(SERVER))


def test_a_change_beside_a_credential_leaves_it_in_the_file(owned: tuple[MemoryTool, Path]) -> None:
    tool, file = owned
    told = tool.execute(replace(SERVER, "milk", "bread"))
    assert not [secret for secret in SECRETS if secret in told]
    tool.execute(insert(SERVER, 3, "It is old."))
    assert tool.execute(insert(SERVER, 22, TOKEN)).endswith("Credentials in it were masked: 1.")
    expected = OWNED.replace("milk", "bread").replace("The key:\n", "The key:\nIt is old.\n")
    assert file.read_text(encoding="utf-8") == f"{expected}[masked:github-token]\n"


@pytest.mark.parametrize(
    "call",
    [
        insert(SERVER, 8, "bread"),
        insert(SERVER, 19, "bread"),
        replace(SERVER, "  [masked:assignment]\nmilk", "milk"),
        replace(SERVER, "password:", "word:"),
        replace(SERVER, "\n".join(["[masked:private-key]"] * 14), ""),
    ],
)
def test_a_change_of_a_credential_or_of_what_tells_that_it_is_one_is_refused(
    owned: tuple[MemoryTool, Path], call: Call
) -> None:
    tool, file = owned
    with pytest.raises(Conflict, match="Nothing was changed") as caught:
        tool.execute(call)
    assert not [secret for secret in SECRETS if secret in str(caught.value)]
    assert file.read_text(encoding="utf-8") == OWNED


def test_a_guess_at_a_credential_is_answered_as_any_text_that_is_not_there(owned: tuple[MemoryTool, Path]) -> None:
    tool, _ = owned
    for guess in ("hunter2Xy9Zq", "  hunter2X", BODY[3], "hunter3"):
        with pytest.raises(Conflict, match="did not appear verbatim"):
            tool.execute(replace(SERVER, guess, "x"))


@pytest.fixture
def plain(tmp_path: Path, clock: FrozenClock) -> Iterator[recollect.Memory]:
    """On SQLite, for what has nothing to do with an engine."""
    with recollect.open(home=tmp_path / "home", clock=clock) as opened:
        yield opened


@pytest.mark.parametrize(
    ("given_input", "field"),
    [
        ([], "object"),
        ("view", "object"),
        ({}, "`command`"),
        ({"command": 7, "path": "/memories"}, "`command`"),
        ({"command": "clear", "path": "/memories"}, "Unknown command: clear"),
        ({"command": "view"}, "`path`"),
        ({"command": "view", "path": None}, "`path`"),
        ({"command": "view", "path": "/memories", "view_range": "1-2"}, "`view_range`"),
        ({"command": "view", "path": "/memories", "view_range": [1, "2"]}, "`view_range`"),
        ({"command": "view", "path": "/memories", "view_range": [True, 2]}, "`view_range`"),
        ({"command": "create", "path": "/memories/x.md"}, "`file_text`"),
        ({"command": "create", "path": "/memories/x.md", "file_text": {"a": 1}}, "`file_text`"),
        ({"command": "create", "path": "/memories/x.md", "file_text": "a\0b"}, "NUL"),
        ({"command": "create", "path": "/memories/x.md", "file_text": "\ud800"}, "UTF-8"),
        ({"command": "create", "path": "/memories/x.md", "file_text": "x" * (MOST_BYTES + 1)}, "at most"),
        ({"command": "create", "path": "/memories/a\0b.md", "file_text": ""}, "character"),
        ({"command": "create", "path": "/memories/con.md", "file_text": ""}, "device"),
        ({"command": "create", "path": "/memories/.bashrc", "file_text": ""}, "hidden"),
        ({"command": "create", "path": "/memories/" + "d/" * 20 + "x.md", "file_text": ""}, "too long"),
        ({"command": "str_replace", "path": "/memories/x.md", "old_str": "a"}, "`new_str`"),
        ({"command": "insert", "path": "/memories/x.md", "insert_line": "1", "insert_text": ""}, "`insert_line`"),
        ({"command": "insert", "path": "/memories/x.md", "insert_line": 1.5, "insert_text": ""}, "`insert_line`"),
        ({"command": "rename", "old_path": "/memories/x.md"}, "`new_path`"),
    ],
)
def test_rubbish_is_refused_by_name_and_nothing_is_written(
    plain: recollect.Memory, given_input: Any, field: str
) -> None:
    with pytest.raises(Invalid, match=field):
        plain.notes.tool().execute(given_input)
    assert [one.path for one in plain.notes.list() if not one.path.startswith("agents/")] == []


def test_names_that_no_note_can_have_do_not_exist(plain: recollect.Memory) -> None:
    tool = plain.notes.tool()
    for path in (
        "/memories/.gitignore",
        "/memories/a\0b",
        "/memories/\ud800",
        "/memories/" + "x" * 300,
        "/memories/con",
    ):
        for call in (view, delete):
            with pytest.raises(NotFound, match="does not exist"):
                tool.execute(call(path))


def test_links_are_not_followed(plain: recollect.Memory, tmp_path: Path) -> None:
    tool = plain.notes.tool()
    tool.execute(create("/memories/a.md", "x"))
    (tmp_path / "outside.md").write_text("secret", encoding="utf-8")
    for name, target in (
        ("out.md", tmp_path / "outside.md"),
        ("folder", tmp_path),
        ("near.md", "a.md"),
        ("loop", "loop"),
    ):
        (plain.notes.folder / name).symlink_to(target)

    assert not any(name in tool.execute(view("/memories")) for name in ("out.md", "folder", "near.md", "loop"))
    for path in ("/memories/out.md", "/memories/folder/outside.md", "/memories/folder/new.md"):
        for call in (view(path), create(path, "x"), insert(path, 0, "x"), delete(path), rename("/memories/a.md", path)):
            with pytest.raises(Denied, match=f"Path {path} would escape /memories directory"):
                tool.execute(call)
    for path in ("/memories/near.md", "/memories/loop"):
        with pytest.raises(Denied, match="link"):
            tool.execute(view(path))
    assert (tmp_path / "outside.md").read_text(encoding="utf-8") == "secret"


def test_what_is_no_note_is_left_and_told(plain: recollect.Memory) -> None:
    tool = plain.notes.tool()
    tool.execute(create("/memories/d/a.md", "x"))
    (plain.notes.folder / "d" / "big.bin").write_bytes(b"x" * (MOST_BYTES + 1))
    (plain.notes.folder / "d" / "latin.md").write_bytes(b"caf\xe9\n")

    assert "big.bin" in tool.execute(view("/memories/d"))
    with pytest.raises(Conflict, match="4 MB"):
        tool.execute(view("/memories/d/big.bin"))
    for call in (view("/memories/d/latin.md"), insert("/memories/d/latin.md", 0, "x")):
        with pytest.raises(Invalid, match="not text in UTF-8"):
            tool.execute(call)
    with pytest.raises(Conflict, match=r"left there: d/big\.bin"):
        tool.execute(delete("/memories/d"))
    assert plain.notes.list("d") == []


def test_a_lost_folder_is_there_again_at_the_next_call(plain: recollect.Memory) -> None:
    tool = plain.notes.tool()
    tool.execute(create("/memories/d/a.md", "kept\n"))
    shutil.rmtree(plain.notes.folder)
    assert "/memories/d/a.md" in tool.execute(view("/memories"))
    assert "kept" in tool.execute(view("/memories/d/a.md"))


def test_the_sdk_takes_it_as_a_tool_of_its_own(memory: recollect.Memory) -> None:
    tool = sdk_tool(memory.notes)
    assert dict(tool.to_dict()) == memory.notes.tool().definition() == {"type": "memory_20250818", "name": "memory"}
    assert tool.call(create("/memories/a.md", "x\n")) == "File created successfully at: /memories/a.md"
    assert memory.notes.read("a.md").text == "x\n"
    for call, words in (
        (create("/memories/a.md", "y"), "already exists"),
        ({"command": "view"}, "`path`"),
        (7, "object"),
    ):
        with pytest.raises(ToolError, match=words):
            tool.call(call)


def test_the_sdks_own_objects_are_taken_too(plain: recollect.Memory) -> None:
    from anthropic.types.beta import BetaMemoryTool20250818CreateCommand, BetaMemoryTool20250818ViewCommand

    tool = sdk_tool(plain.notes)
    tool.execute(BetaMemoryTool20250818CreateCommand(command="create", path="/memories/a.md", file_text="x\ny\n"))
    seen = tool.execute(BetaMemoryTool20250818ViewCommand(command="view", path="/memories/a.md", view_range=[2, 2]))
    assert seen == "Here's the content of /memories/a.md with line numbers:\n     2\ty"


def test_without_the_sdk_the_tool_works_and_its_object_says_what_to_install(
    plain: recollect.Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "import recollect.notes.memory_tool, sys; sys.exit('anthropic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
    monkeypatch.setitem(sys.modules, "anthropic.tools", None)
    assert plain.notes.tool().execute(view("/memories"))
    with pytest.raises(Unavailable, match=r"pip install 'recollect\[anthropic\]'"):
        sdk_tool(plain.notes)
    assert issubclass(Unavailable, RecollectError)
