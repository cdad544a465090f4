"""Names as names of files: safe on every system, the same each time, different for different names."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recollect.librarian.shelves.layout import kind_of, project_place
from recollect.librarian.shelves.slugs import name_key, name_slug, text_slug
from recollect.notes.paths import checked, is_name

names = st.one_of(
    st.text(),
    st.text(alphabet="aAbB -_.!éßİ\u200f\u202e/\\"),
    st.sampled_from(
        ["con", "NUL", "..", ".", "", "a" * 600, "lpt1", "\u202etxt", "a/../b", "4913", "x~", "नीना", "李娜", "\ud800"]
    ),
)


@given(names)
@example("name-abcdef")
@example("aux.txt")
def test_any_name_is_a_name_of_a_file_on_every_system(name: str) -> None:
    for slug in (name_slug(name), text_slug(name)):
        assert slug
        assert is_name(slug)
        assert slug == slug.casefold()
        assert "." not in slug
        assert "/" not in slug
        path = f"projects/{slug}/overview.md"
        assert checked(path) == path
        assert len(slug.encode()) <= 200


@given(names, names)
@example("night & garden", "night garden")
@example("garden", "garden-5fa3c1")
@example("a", "a.")
@example("0.-", "." + "-." * 200)
def test_different_names_have_different_slugs_and_one_name_has_one(first: str, second: str) -> None:
    if name_key(first) == name_key(second):
        assert name_slug(first) == name_slug(second)
    else:
        assert name_slug(first) != name_slug(second)
    assert name_slug(name_key(first)) == name_slug(first)


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Garden", "garden"),
        ("Night Garden", "night-garden"),
        ("night-garden", "night-garden"),
        ("José", "josé"),
        ("नीना", "नीना"),
        ("李娜", "李娜"),
    ],
)
def test_a_usual_name_is_itself(name: str, slug: str) -> None:
    assert name_slug(name) == slug


@pytest.mark.parametrize("name", ["con", "C++", "..", "a/b", "", "x" * 300, "\u200fnina", "name-abcdef"])
def test_any_other_ends_with_digits_of_its_own(name: str) -> None:
    assert name_slug(name)[-7] == "-"


def test_a_text_is_called_by_its_first_words() -> None:
    assert (
        text_slug("We shipped the second version of the seed list, at last!") == "we-shipped-the-second-version-of-the"
    )
    assert text_slug("…") == "untitled"


def test_what_a_note_is_can_be_told_from_its_path() -> None:
    place = project_place("ada/den", "Garden")
    assert place
    assert place.path == "agents/ada/rooms/den/projects/garden/overview.md"
    assert kind_of(place.path) is place.kind
    assert project_place("house", " ") is None
    for path in (
        "projects/garden/notes.md",
        "projects/overview.md",
        "core/other.md",
        "daily/2026-03-02.md",
        "insights/a/b.md",
    ):
        assert kind_of(path) is None
    assert [
        str(kind_of(path))
        for path in ("core/facts.md", "questions.md", "insights/a.md", "episodes/2026-03/2026-03-02.md")
    ] == [
        "core",
        "questions",
        "insight",
        "episodes",
    ]
