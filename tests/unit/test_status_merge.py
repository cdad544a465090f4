"""The fields of a status: read as anybody wrote them, merged without losing one. Pure."""

from collections.abc import Mapping

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.errors import Invalid
from recollect.notes.status_fields import (
    MOST_LEVELS,
    Field,
    Forms,
    checked_updates,
    field_of,
    merge_status,
    merged,
    parsed,
    rendered,
    updated,
)

NAMES = ("mood", "task", "place", "Größe")
EARLY, LATE, LATER = (f"2026-03-02T{hour}:00:00+01:00" for hour in ("10", "11", "12"))


def timed(value: object, at: str = EARLY) -> bytes:
    return msgspec.json.encode({"value": value, "at": at})


@st.composite
def three_changes(draw: st.DrawFn) -> tuple[Forms, list[Forms]]:
    """A status, and what three made of it: each field untouched, removed or set, no two at the same time."""
    base = {name: timed("before", EARLY) for name in draw(st.sets(st.sampled_from(NAMES)))}
    minutes = iter(draw(st.permutations(range(60))))
    made: list[Forms] = []
    for writer in range(3):
        forms = dict(base)
        for name in draw(st.sets(st.sampled_from(NAMES))):
            if draw(st.booleans()):
                forms[name] = timed(writer, f"2026-03-02T11:{next(minutes):02d}:00+01:00")
            else:
                forms.pop(name, None)
        made.append(forms)
    return base, made


@settings(max_examples=100)
@given(three_changes())
def test_in_whatever_order_changes_are_merged_the_same_fields_come_out(changes: tuple[Forms, list[Forms]]) -> None:
    base, (one, two, three) = changes
    assert merged(base, one, two) == merged(base, two, one)
    assert merged(base, merged(base, one, two), three) == merged(base, one, merged(base, two, three))
    assert merged(base, one, one) == one
    assert merged(base, merged(base, one, two), two) == merged(base, one, two)


@settings(max_examples=100)
@given(three_changes())
def test_a_merge_loses_no_field_that_somebody_set(changes: tuple[Forms, list[Forms]]) -> None:
    base, (one, two, _) = changes
    both = merged(base, one, two)
    for name in NAMES:
        was_set = [forms[name] for forms in (one, two) if name in forms and forms[name] != base.get(name)]
        if was_set:
            assert both[name] == max(was_set, key=lambda form: field_of(name, form).at)
        else:
            assert (name in both) == (name in one and name in two)


def test_a_value_changed_by_hand_wins_over_one_that_was_left_alone() -> None:
    base = rendered({"mood": timed("fine"), "task": timed("beans")})
    in_the_file = base.replace(b'"fine"', b'"tired"')
    elsewhere = rendered({"mood": timed("fine"), "task": timed("peas", LATE)})
    both = merge_status(in_the_file, elsewhere, base)
    assert both == rendered({"mood": timed("tired"), "task": timed("peas", LATE)})


def test_a_value_changed_by_hand_is_as_late_as_it_was_found() -> None:
    base, elsewhere = rendered({"mood": timed("fine")}), rendered({"mood": timed("glad", LATE)})
    for by_hand in (b'{"mood": "tired"}', rendered({"mood": timed("tired")})):
        found_late = merge_status(by_hand, elsewhere, base, ours_at="2026-03-02T12:00:00.000Z")
        assert found_late
        assert b"tired" in found_late
        assert merge_status(by_hand, elsewhere, base, ours_at="2026-03-02T09:30:00.000Z") == elsewhere


def test_what_one_removed_stays_away_unless_the_other_set_it() -> None:
    base = {"mood": timed("fine"), "task": timed("beans")}
    assert merged(base, {"task": base["task"]}, base) == {"task": base["task"]}
    set_again = {"mood": timed("glad", LATE), "task": base["task"]}
    assert merged(base, {"task": base["task"]}, set_again) == {"task": base["task"], "mood": timed("glad", LATE)}


@pytest.mark.parametrize("broken", [b"", b"{", b"[]", b"\xff\xfe{}", b'{"a": NaN}', b'"text"', b"{} {}"])
def test_what_is_no_status_is_not_merged(broken: bytes) -> None:
    assert parsed(broken).problem
    assert merge_status(broken, b"{}") is None
    assert merge_status(b"{}", broken) is None


def test_values_nested_too_deeply_are_a_problem_and_no_crash() -> None:
    assert "deep" in parsed(b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}").problem


def test_a_field_is_read_as_anybody_wrote_it() -> None:
    file = b"""\xef\xbb\xbf{"ours": {"value": [1], "at": "2026-03-02T13:00:00+01:00"}, "plain": "fine",
        "bare": {"value": 3}, "weight": {"value": 3, "unit": "kg"}, "odd": {"value": 1, "at": "noon"}, "none": null}"""
    fields = [field_of(name, form) for name, form in parsed(file).forms.items()]
    assert fields == [
        Field(name="ours", value=[1], at="2026-03-02T12:00:00.000Z"),
        Field(name="plain", value="fine", at="", has_time=False),
        Field(name="bare", value=3, at="", has_time=False),
        Field(name="weight", value={"value": 3, "unit": "kg"}, at="", has_time=False),
        Field(name="odd", value={"value": 1, "at": "noon"}, at="", has_time=False),
        Field(name="none", value=None, at="", has_time=False),
    ]


def test_fields_that_an_update_does_not_name_keep_their_characters() -> None:
    file = '{"n": 1.10, "big": 123456789012345678901234567890, "s": "\\u00e9 é", "x": {"a": []}, "mood": "fine"}'
    changed = rendered(updated(parsed(file.encode()).forms, {"mood": "glad"}, LATE)).decode()
    assert changed == (
        '{\n  "n": 1.10,\n  "big": 123456789012345678901234567890,\n  "s": "\\u00e9 é",\n  "x": {\n    "a": []\n  },\n'
        '  "mood": {\n    "value": "glad",\n    "at": "2026-03-02T11:00:00+01:00"\n  }\n}\n'
    )


def test_names_keep_the_order_in_which_they_were_first_written() -> None:
    forms: Forms = {}
    steps: list[Mapping[str, object]] = [{"b": 1, "a": 1}, {"c": 1}, {"b": 2}, {"a": None}, {"a": 3}]
    for step in steps:
        forms = updated(forms, step, LATER)
    assert list(forms) == ["b", "c", "a"]


def _nested(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("updates", "part"),
    [
        ({}, "at least one field"),
        ([], "object"),
        ("mood=fine", "object"),
        (None, "object"),
        ({"": 1}, "name"),
        ({" ": 1}, "name"),
        ({3: 1}, "name"),
        ({"x" * 101: 1}, "100"),
        ({"a": float("nan")}, "'a'"),
        ({"a": {"b": object()}}, "'a'"),
        ({"a": {1: 2}}, "'a'"),
        ({"a": 2**64}, "'a'"),
        ({"a": _nested(MOST_LEVELS + 1)}, "deep"),
        ({"a": "x" * 60_000}, "50,000"),
    ],
)
def test_an_update_that_cannot_be_is_refused_with_what_is_wrong(updates: object, part: str) -> None:
    with pytest.raises(Invalid, match=part):
        checked_updates(updates)


def test_an_update_is_kept_without_its_credentials() -> None:
    # Put together here, so that nothing in this file looks like a key.
    key = "sk-ant-" + "api03-" + "Zx9" * 12
    masked, number = checked_updates({"note": f"key is {key}", "api_key": "Zx9kQ2-77ab!", "mood": "fine", "gone": None})
    assert number == 2
    assert "Zx9" not in str(masked)
    assert (masked["mood"], masked["gone"]) == ("fine", None)


def test_an_update_takes_any_json() -> None:
    given: dict[str, object] = {"a": [1, 2.5, True, None, {"b": "é"}], "deep": _nested(MOST_LEVELS), "lone": "\ud800"}
    checked, _ = checked_updates(given)
    assert parsed(rendered(updated({}, checked, LATE))).problem == ""
    assert checked["a"] == given["a"]
