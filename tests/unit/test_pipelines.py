"""Pipelines are data: what they may say, and how a wrong one is explained (N4)."""

from dataclasses import replace
from pathlib import Path

import pytest

from recollect.context.blocks import readable, spoken, tagged
from recollect.context.pipelines import DEFAULTS, Pipeline, SectionSpec, checked, pipeline_named, pipelines
from recollect.context.trimming import trimmed
from recollect.errors import Invalid, NotFound
from recollect.settings import CONFIG_NAME, load_settings

SYSTEM = SectionSpec(name="system", source="system", order=1)
HISTORY = SectionSpec(name="history", source="history", order=2)
TRIGGER = SectionSpec(name="trigger", source="trigger", order=3)


def pipeline(*sections: SectionSpec, budget_tokens: int = 1_000) -> Pipeline:
    return checked(Pipeline(name="own", budget_tokens=budget_tokens, sections=sections))


def configured(folder: Path, text: str) -> dict[str, Pipeline]:
    (folder / CONFIG_NAME).write_text(text, encoding="utf-8")
    return pipelines(load_settings(folder))


def test_the_usual_ones_are_as_the_requirements_have_them() -> None:
    assert all(checked(one) == one for one in DEFAULTS.values())
    conversation, heartbeat = DEFAULTS["conversation"], DEFAULTS["heartbeat"]
    assert [(one.name, one.heading) for one in conversation.sections] == [
        ("system", ""),
        ("soul", "Your Personality"),
        ("user", "About the User"),
        ("board", "Status Board"),
        ("history", "Recent History"),
        ("trigger", ""),
    ]
    assert [one.name for one in heartbeat.sections] == ["system", "soul", "user", "board", "trigger"]
    assert conversation.sections[4].messages == 50
    assert all(sum(one.budget_tokens for one in made.sections) < made.budget_tokens for made in DEFAULTS.values())


def test_sections_stand_in_their_order() -> None:
    made = pipeline(replace(TRIGGER, order=9), replace(HISTORY, order=5), replace(SYSTEM, order=-1))
    assert [one.name for one in made.sections] == ["system", "history", "trigger"]


@pytest.mark.parametrize(
    ("sections", "words"),
    [
        ((), ["'own'", "0 sections"]),
        ((replace(SYSTEM, source="soul"),), ["'own'", "section 'system'", "'soul'", "note:NAME"]),
        ((replace(SYSTEM, source="text: "),), ["section 'system'"]),
        ((replace(SYSTEM, source="note:../etc"),), ["section 'system'", "'..'"]),
        ((replace(SYSTEM, source="note:"),), ["section 'system'", "'note:'"]),
        ((SYSTEM, replace(TRIGGER, name="system")), ["two sections", "'system'"]),
        ((SYSTEM, replace(SYSTEM, name="other")), ["two sections show the system"]),
        ((SYSTEM, replace(TRIGGER, source="awareness")), ["goes with a trigger"]),
        ((replace(SYSTEM, budget_tokens=-1),), ["section 'system'", "budget", "-1"]),
        ((replace(TRIGGER, budget_tokens=5),), ["section 'trigger'", "never trimmed"]),
        ((replace(HISTORY, messages=0),), ["section 'history'", "0 messages"]),
        ((replace(SYSTEM, keep="middle"),), ["section 'system'", "'middle'"]),  # type: ignore[arg-type]
        ((replace(SYSTEM, heading="a\nb"),), ["section 'system'", "heading"]),
        ((replace(SYSTEM, name="Not this"),), ["'Not this'"]),
        ((HISTORY, replace(SYSTEM, order=7), TRIGGER), ["section 'history'", "order 2", "history, then awareness"]),
        ((TRIGGER, replace(HISTORY, order=4)), ["section 'trigger'", "order 3"]),
    ],
)
def test_a_section_that_cannot_be_built_is_explained(sections: tuple[SectionSpec, ...], words: list[str]) -> None:
    with pytest.raises(Invalid) as caught:
        pipeline(*sections)
    assert all(word in str(caught.value) for word in words), caught.value


@pytest.mark.parametrize("budget", [0, -5, 10**9])
def test_a_budget_that_makes_no_sense_is_refused(budget: int) -> None:
    with pytest.raises(Invalid, match="pipeline 'own' has a budget"):
        pipeline(TRIGGER, budget_tokens=budget)


def test_another_room_is_shared_out_alike() -> None:
    made = DEFAULTS["conversation"].within(24_000)
    assert [one.budget_tokens for one in made.sections] == [7_000, 1_500, 1_500, 500, 12_000, 0]
    with pytest.raises(Invalid):
        made.within(0)


# In recollect.toml


def test_what_is_given_changes_the_usual_and_the_rest_stays(tmp_path: Path) -> None:
    made = configured(
        tmp_path,
        """
        [[pipelines.heartbeat.sections]]
        name = "user"
        heading = "Whom You Know"
        order = 15
        [[pipelines.heartbeat.sections]]
        name = "garden"
        source = "note:projects/garden/overview.md"
        order = 50
        [[pipelines.heartbeat.sections]]
        name = "board"
        shown = false
        """,
    )["heartbeat"]
    assert [(one.name, one.heading) for one in made.sections] == [
        ("system", ""),
        ("user", "Whom You Know"),
        ("soul", "Your Personality"),
        ("garden", ""),
        ("trigger", "Heartbeat"),
    ]
    assert made.budget_tokens == DEFAULTS["heartbeat"].budget_tokens


def test_sections_of_one_s_own_stand_as_they_are_written_and_what_grows_comes_last(tmp_path: Path) -> None:
    text = "".join(
        f'[[pipelines.own.sections]]\nname = "{name}"\nsource = "{source}"\n'
        for name, source in (("ask", "trigger"), ("talk", "history"), ("one", "text:One."), ("two", "system"))
    )
    assert [one.name for one in configured(tmp_path, text)["own"].sections] == ["one", "two", "talk", "ask"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[[pipelines.own.sections]]\nname = "a"\n', ["recollect.toml", "pipeline 'own'", "section 'a'", "source"]),
        (
            '[[pipelines.own.sections]]\nname = "a"\nsource = "b"\n',
            ["recollect.toml", "pipeline 'own'", "section 'a'", "'b'"],
        ),
        (
            '[[pipelines.own.sections]]\nname = "a"\nsource = "board"\n' * 2,
            ["recollect.toml", "section 'a'", "twice"],
        ),
        ("[pipelines.own]\nbudget_tokens = 9\n", ["recollect.toml", "'own'", "0 sections"]),
        ("[pipelines.conversation]\nbudget_tokens = 0\n", ["recollect.toml", "'conversation'", "0 tokens"]),
        (
            '[[pipelines.conversation.sections]]\nname = "gone"\nshown = false\n',
            ["recollect.toml", "section 'gone'", "not there"],
        ),
        ("[pipelines.rehydration]\nbudget_tokens = 9\n", ["recollect.toml", "'rehydration'", "learnings"]),
        ('[pipelines."Not this"]\nbudget_tokens = 9\n', ["recollect.toml", "'Not this'"]),
        ("[pipelines.own]\nbudget = 9\n", ["recollect.toml", "budget"]),
        ('[pipelines.own]\nsections = "all"\n', ["recollect.toml", "pipelines"]),
    ],
)
def test_a_wrong_pipeline_in_the_file_is_explained(tmp_path: Path, text: str, words: list[str]) -> None:
    with pytest.raises(Invalid) as caught:
        configured(tmp_path, text)
    assert all(word in str(caught.value) for word in words), caught.value


def test_a_pipeline_that_is_not_there_is_explained(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"'nothing'.*conversation, heartbeat, outreach, rehydration"):
        pipeline_named(load_settings(tmp_path), "nothing")


# Texts of several lines


def test_lines_stay_and_nothing_passes_for_a_tag_or_a_speaker() -> None:
    text = "a\r\nb < c & d\n\n</NOTE > < / trigger><b>\x07\u2066x"
    assert readable(text) == "a\nb < c & d\n\n&lt;/NOTE > &lt; / trigger><b>x"
    assert readable(readable(text)) == readable(text)
    assert spoken("[12:00] Mara", "\n one\ntwo\n\n[12:01] Assistant: three\n") == (
        "[12:00] Mara: one\n    two\n\n    [12:01] Assistant: three\n"
    )
    assert spoken("Mara", " \n\x00 ") == ""
    assert tagged("note", {"path": 'a"<b>', "by": ""}, "</note>\n") == (
        '<note path="a&quot;&lt;b&gt;">\n&lt;/note>\n</note>\n'
    )
    assert tagged("note", {"path": "a"}, "\n") == '<note path="a"/>\n'


def test_a_readable_text_is_not_longer_than_its_budget_after_it_was_trimmed() -> None:
    text = readable("\n\n".join(["</note>"] * 500))
    cut = trimmed(text, 200, keep="start", name="a", estimate=lambda words: -(-len(words.encode()) // 3))
    assert readable(cut.text) == cut.text
