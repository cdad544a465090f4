"""Names of notes: what may be one, and whose it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import Invalid
from recollect.notes.paths import Kind, below_root, checked, folder_of, kind_of, scope_of, spellings, within

REFUSED = [
    "",
    "/",
    "..",
    "../user.md",
    "a/../user.md",
    "a/./b.md",
    "a//b.md",
    ".git/config",
    "a/.hidden",
    "C:\\notes",
    "c:user.md",
    "con",
    "CON.md",
    "a/nul.txt",
    "COM1",
    "lpt9.md",
    "aux .md",
    "tab\there.md",
    "new\nline.md",
    "bell\x07.md",
    "ends in a dot.",
    "ends in a space ",
    " begins with one",
    "what?.md",
    'quo"te.md',
    "pipe|.md",
    "right\u202eto-left.md",
    "half\ud800.md",
    "x" * 201,
    "/".join("abcdefghijk"),
    "ä" * 300,
]


@pytest.mark.parametrize("path", REFUSED, ids=range(len(REFUSED)))
def test_what_cannot_be_a_name_everywhere_is_a_name_nowhere(path: str) -> None:
    with pytest.raises(Invalid):
        checked(path)


@pytest.mark.parametrize("path", ["user.md", "projects/the garden/overview.md", "épisodes/2026-01/été.md", "a@b#c.md"])
def test_ordinary_names_are_names(path: str) -> None:
    assert checked(path) == path
    assert checked(f"/{path}/") == path


def test_whose_a_note_is_follows_from_where_it_lies() -> None:
    assert scope_of("user.md") == "house"
    assert scope_of("projects/garden/overview.md") == "house"
    assert scope_of("agents/ada/soul.md") == "ada"
    assert scope_of("agents/ada") == "ada"
    assert scope_of("agents/ada/rooms/den/status.json") == "ada/den"
    assert scope_of("rooms/hall/threads.md") == "house/hall"
    assert scope_of("agents/ada/diary/2026-03-02T12-00-00.md") == "ada"


names = st.from_regex(r"[a-z0-9][a-z0-9._-]{0,8}", fullmatch=True)


@given(st.one_of(st.just("house"), names.filter(lambda name: name != "house")), st.lists(names, max_size=3), names)
def test_a_note_in_the_folder_of_a_scope_is_that_scopes(owner: str, rooms: list[str], name: str) -> None:
    scope = "/".join([owner, *rooms])
    assert scope_of(within(folder_of(scope), f"{name}.md")) == scope or owner == "house"
    if owner != "house" or rooms:
        assert scope_of(within(folder_of(scope), "soul.md")) == scope


@given(st.text(max_size=30))
def test_no_name_leads_out_of_the_folder(text: str) -> None:
    try:
        path = checked(text)
    except Invalid:
        return
    assert not path.startswith("/")
    assert not {"", ".", ".."} & set(path.split("/"))
    assert "\\" not in path


def test_what_a_note_means_follows_from_its_name() -> None:
    assert kind_of("agents/ada/soul.md") is Kind.SOUL
    assert kind_of("agents/ada/SOUL.md") is Kind.SOUL
    assert kind_of("agents/ada/rooms/den/status.json") is Kind.STATUS
    assert kind_of("agents/ada/diary/2026-03-02T12-00-00.md") is Kind.DIARY
    assert kind_of("agents/ada/scratch/idea.md") is Kind.SCRATCH
    assert kind_of("agents/ada/daily/2026-03-02.md") is Kind.DAILY
    assert kind_of("soul.md") is Kind.PAGE
    assert kind_of("diary/entry.md") is Kind.PAGE
    assert kind_of("agents/ada/projects/soul.md") is Kind.PAGE


def test_a_name_that_means_something_is_found_in_other_capitals() -> None:
    assert spellings("soul.md")[:2] == ["soul.md", "SOUL.md"]
    assert spellings("agents/ada/SOUL.md")[0] == "agents/ada/soul.md"
    assert spellings("memory.md")[0] == "MEMORY.md"
    assert spellings("garden.md") == ["garden.md"]


@pytest.mark.parametrize(
    ("name", "path"),
    [("/memories/a/b.md", "a/b.md"), ("/memories", ""), ("/memoriesx/b.md", "/memoriesx/b.md"), ("b.md", "b.md")],
)
def test_only_the_whole_name_of_the_folder_is_left_out(name: str, path: str) -> None:
    assert below_root(name) == path
