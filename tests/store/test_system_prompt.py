"""The system prompt: what stands in it, in which order, inside which room; and that it scripts nobody (N5, N6, N1)."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import OpenHouse
from prescriptions import prescriptions
from turns import section

import recollect
from recollect import markers
from recollect.context.pipelines import DEFAULTS
from recollect.testing import FrozenClock

OWN = "agents/assistant"
RICH = {
    "user.md": "# Mara\n\nMara grows beans and reads at night.\n",
    "MEMORY.md": "# What lasts\n\n- The well is 14 metres deep.\n- The gate sticks in winter.\n",
    f"{OWN}/soul.md": "I am calm, and I like short words.\n",
    f"{OWN}/identity.md": "I live in the garden house.\n",
    f"{OWN}/tools.md": "There is a shell, and a browser.\n",
    f"{OWN}/threads.md": "The fence: half done.\n",
    f"{OWN}/dev-notes.md": "The parser reads line by line.\n",
    f"{OWN}/self-awareness.md": "I tend to hurry.\n",
    f"{OWN}/daily/2026-03-01.md": "Yesterday it rained.\n",
    f"{OWN}/daily/2026-03-02.md": "Today is dry.\n",
    f"{OWN}/daily/2026-02-27.md": "Long ago.\n",
    f"{OWN}/status.json": '{\n  "mood": {"value": "calm", "updated_at": "2026-02-01T08:00:00Z"}\n}\n',
    "projects/fence/overview.md": "A page that is not in the prompt.\n",
}


def write(memory: recollect.Memory, notes: dict[str, str]) -> None:
    for path, text in notes.items():
        memory.notes.write(path, text, reason="a test")


def test_it_has_its_contents_in_their_order(open_house: OpenHouse) -> None:
    memory = open_house(user_name="Mara")
    write(memory, RICH)
    text = section(memory.context.conversation("Hello."), "system")
    order = [
        "# Environment",
        "put together on Monday, 2 March 2026, 12:00 (UTC+00:00).",
        "You are assistant, and you talk with Mara.",
        f"your memory is Recollect {recollect.__version__}.",
        "# Identity",
        "I live in the garden house.",
        "There is a shell",
        "# Notes",
        "The well is 14 metres deep.",
        "The fence: half done.",
        "The parser reads",
        "I tend to hurry.",
        "# Days",
        "Yesterday it rained.",
        "Today is dry.",
        "# Status",
        RICH[f"{OWN}/status.json"],
        "# Your Memory",
    ]
    places = [text.index(words) for words in order]
    assert places == sorted(places)
    for words in ("I am calm, and I like", "Mara grows beans", "Long ago.", "not in the prompt", "not there yet"):
        assert words not in text


def test_pages_that_are_missing_are_left_out_and_named(memory: recollect.Memory) -> None:
    write(memory, {"MEMORY.md": "The well is deep.\n"})
    made = memory.context.conversation("Hello.")
    assert [one.name for one in made.sections] == ["system", "board", "trigger"]
    assert re.findall(r"^# (.+)$", made.text, re.MULTILINE) == [
        "Environment",
        "Notes",
        "Your Memory",
        "Status Board",
    ]
    named = re.search(r"These pages are not there yet and are yours to write; .*: (.*)\.\n", made.text)
    assert named
    assert named[1].split(", ") == [
        "soul.md", "user.md", "identity.md", "tools.md", "threads.md", "dev-notes.md", "self-awareness.md",
        "status.json",
    ]  # fmt: skip


def test_anchors_of_shelves_are_not_shown_to_a_model(memory: recollect.Memory, clock: FrozenClock) -> None:
    write(
        memory,
        {f"{OWN}/self-awareness.md": "- I know much <!--m:0a1b-->\n- and I write <!-- this --> <!--r:0a-1b.2-->\n"},
    )
    made = memory.context.conversation("Hello.")
    assert "- I know much\n- and I write <!-- this -->\n" in made.text
    clock.move(minutes=1)
    write(memory, {f"{OWN}/self-awareness.md": "- I know more <!--m:0a1b-->\n"})
    again = memory.context.conversation("Hello again.")
    assert "- I know more\n" in again.text
    assert "<!--m:" not in again.text


def test_names_that_other_tools_write_in_capitals_are_read(memory: recollect.Memory) -> None:
    memory.notes.prepare()
    (memory.notes.folder / "agents/assistant/SOUL.md").write_text("I am calm.\n", encoding="utf-8")
    (memory.notes.folder / "USER.md").write_text("Mara.\n", encoding="utf-8")
    made = memory.context.conversation("Hello.")
    assert "I am calm." in section(made, "soul")
    assert "Mara." in section(made, "user")


def test_the_days_are_those_of_the_user_s_zone(
    memory: recollect.Memory, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    import time

    monkeypatch.setenv("TZ", "Pacific/Auckland")
    time.tzset()
    try:
        write(memory, {f"{OWN}/daily/2026-03-03.md": "Already tomorrow.\n"})
        text = memory.context.conversation("Hello.").text
    finally:
        monkeypatch.undo()
        time.tzset()
    assert "Tuesday, 3 March 2026, 01:00 (UTC+13:00)" in text
    assert "Already tomorrow." in text


def test_a_note_that_is_too_long_is_cut_between_paragraphs_and_says_so(memory: recollect.Memory) -> None:
    paragraphs = [f"Paragraph {number} ends here." for number in range(2_000)]
    write(memory, {"MEMORY.md": "\n\n".join(paragraphs) + "\n", f"{OWN}/identity.md": "I am small.\n"})
    made = memory.context.conversation("Hello.")
    text = section(made, "system")
    shown = re.findall(r"Paragraph (\d+) ends here\.", text)
    assert [int(number) for number in shown] == list(range(len(shown)))
    assert 0 < len(shown) < 2_000
    assert f"[… {2_000 - len(shown):,} more paragraphs left out: MEMORY.md is longer than" in text
    assert "I am small." in text
    assert made.left_out == 2_000 - len(shown)
    assert made.sections[0].tokens <= 14_000


def test_of_a_page_of_a_day_the_end_stays(memory: recollect.Memory) -> None:
    page = "\n\n".join(f"At {number} something happened." for number in range(1_000))
    write(memory, {f"{OWN}/daily/2026-03-02.md": page})
    text = section(memory.context.conversation("Hello."), "system")
    assert "At 999 something happened." in text
    assert "At 0 something happened." not in text


@pytest.mark.parametrize("content", [b"\x00\x01binary", b"broken \xff\xfe text\n", b"", b"\n\n"])
def test_a_page_that_is_no_good_text_does_no_harm(memory: recollect.Memory, content: bytes) -> None:
    memory.notes.prepare()
    (memory.notes.folder / "user.md").write_bytes(content)
    made = memory.context.conversation("Hello.")
    assert "\x00" not in made.text
    assert ("broken" in section(made, "user")) is content.startswith(b"broken")


# No scripts


@pytest.mark.parametrize("notes", [{}, RICH], ids=["nothing written", "everything written"])
@pytest.mark.parametrize("name", ["conversation", "heartbeat"])
def test_no_default_prompt_scripts_the_agent(
    open_house: OpenHouse, clock: FrozenClock, notes: dict[str, str], name: str
) -> None:
    memory = open_house(user_name="Mara")
    write(memory, notes)
    memory.knowledge.remember("The fence is to be done by May.", kind="commitment")
    texts: list[str] = []
    for _ in range(2):
        texts.append((memory.context.heartbeat() if name == "heartbeat" else memory.context.conversation("Hm.")).text)
        clock.move(days=40)
    for text in texts:
        assert prescriptions(text) == []
        assert not re.search(r"(?i)\bstale\b|out of date|not (?:been )?updated|last updated", text)


def test_it_teaches_the_form_of_a_marker_as_it_is_read(memory: recollect.Memory) -> None:
    text = memory.context.conversation("Hello.").text
    assert markers.read(text).kept == []  # It is an example: said again as it stands, it keeps nothing.
    (found,) = markers.read(text.replace("14 metres", "15 metres")).kept
    assert found.payload
    assert found.payload.content == "The well behind the house is 15 metres deep."
    assert (found.payload.category, found.payload.tags) == ("knowledge", ("well",))


# Pipelines of one's own


def test_a_pipeline_of_one_s_own_is_read_from_the_settings(home: Path) -> None:
    home.mkdir()
    (home / "recollect.toml").write_text(
        """
        [pipelines.conversation]
        budget_tokens = 20000
        [[pipelines.conversation.sections]]
        name = "soul"
        heading = "Who You Are"
        [[pipelines.conversation.sections]]
        name = "board"
        shown = false

        [pipelines.review]
        budget_tokens = 4000
        [[pipelines.review.sections]]
        name = "rules"
        source = "text:Reviews are short."
        heading = "Rules"
        [[pipelines.review.sections]]
        name = "plan"
        source = "note:projects/fence/overview.md"
        [[pipelines.review.sections]]
        name = "known"
        source = "learnings"
        [[pipelines.review.sections]]
        name = "ask"
        source = "trigger"
        """,
        encoding="utf-8",
    )
    with recollect.open(home=home, clock=FrozenClock()) as memory:
        write(memory, RICH)
        memory.knowledge.remember("Posts are of oak.")
        talk = memory.context.conversation("Hello.")
        review = memory.context.build("review", "How is it?")
    assert [one.name for one in talk.sections] == ["system", "soul", "user", "trigger"]
    assert section(talk, "soul").startswith("# Who You Are\n\n<note ")
    assert talk.budget_tokens == 20_000
    assert [one.name for one in review.sections] == ["rules", "plan", "known", "ask"]
    assert section(review, "rules") == "# Rules\n\nReviews are short.\n\n"
    assert "A page that is not in the prompt." in section(review, "plan")
    assert "- Posts are of oak.\n" in section(review, "known")
    assert section(review, "ask").endswith("How is it?\n</trigger>\n")


def test_a_pipeline_can_be_given_through_the_library(memory: recollect.Memory) -> None:
    usual = DEFAULTS["heartbeat"]
    own = replace(usual, name="bare", sections=(usual.sections[-1],))
    made = memory.context.build(own, "Tick.")
    assert [one.name for one in made.sections] == ["trigger"]
    assert memory.context.build("rehydration").text == memory.context.rehydration().text
