"""The checker of prompts finds scripts, and lets descriptions through (N6)."""

import pytest
from prescriptions import prescriptions

from recollect.notes.starter import COMPACTION_TEXT

SCRIPTS = [
    "When the user comes back, ask how the day was.",
    "Whenever a name is unclear, search the archive first.",
    "If you do not know something, call search_memory.",
    "If a date is missing: look it up before you answer.",
    "Before answering, check your notes.",
    "After each reply, update the status.",
    "Once a task is done, then mark it as finished.",
    "As soon as the conversation ends, write a diary entry.",
    "Every time a promise is made, record it in threads.md.",
    "Search the archive whenever the past comes up.",
    "Ask the user for the missing figure.",
    "Check MEMORY.md at the start of each session.",
    "Never guess a date; always verify it in the archive.",
    "You should read the diary every morning.",
    "You must keep the status current.",
    "The status should be updated with each change.",
    "The agent should ask about sleep.",
    "Make sure the notes are complete.",
    "Remember to write down what was agreed.",
    "It is important to confirm every number.",
    "Your task is to follow the plan below.",
    "1. Read the notes.\n2. Compare them with the archive.\n3. Report what differs.",
    "Step 1: the notes. Step 2: the archive.",
    "- [ ] notes read\n- [ ] status written",
    "The checklist below covers a whole day.",
    "First, greet the user. Then summarise the day.",
    "Start by reading the board.",
    "Begin every morning with a look at the weather.",
    "- Morning: ask about the night\n- Evening: ask about the day",
    "User is quiet for an hour → send a short message.",
    'Open with a line such as "How did you sleep?"',
    "Questions to ask: what was eaten, how long was the walk.",
    "Your status was last updated 3 hours ago.",
    "The note on health is stale.",
    "status.json has not been updated since Monday.",
    "No diary entry for today yet.",
    "You haven't written anything this week.",
    "To find older things, use search_memory.",
    "For questions about the past, consult the archive.",
    "Rather than guessing, look it up.",
    "In the morning, remind her of the tablets.",
    "If the user is silent\nfor a long while, send\na friendly message.",
    "**When in doubt, ask.**",
    "When the user tells you something about himself, write a line that begins `[REMEMBER] {…}`.",
    "Don't forget the promises you made.",
    "Should the user be sad, comfort them.",
    "Tell Ada what happened.",
    "If somebody is in a hurry, be brief.",
    "On waking, read the board and report what is new.",
]

DESCRIPTIONS = [
    "Your notes are always at hand; they stand above in full.",
    "This conversation is what you have in mind, word for word.",
    "Behind it lies an archive of everything that was said, and search_memory finds it again.",
    "What you write down stays, and the next one who reads it may be you.",
    "You care about being accurate, because people act on what you tell them.",
    "It matters to you that nobody has to say the same thing twice.",
    "You know these people, and they know you; a day between two messages changes nothing of that.",
    'A line that begins `[REMEMBER] {"text": "…", "category": "knowledge"}` is kept as something you learned.',
    'To keep something for good, write a line of its own: `[REMEMBER] {"text": "…"}`.',
    "These pages do not exist yet and may be written: identity.md, tools.md, threads.md.",
    "Each field of the status carries the time at which it was set.",
    "The archive is large, and search takes a moment.",
    "When it was last busy, the queue held three conversations.",
    "If the archive has nothing, search says so.",
    "You can read, write and move these pages, change what is wrong, remove what is old.",
    "Guesses are cheap, and trust is not: what is not known may be called unknown.",
    "Last contact: 3 hours ago, on Sunday evening.",
    "Built on 16 November 2026 at 08:00, in Vienna, on a computer with Linux.",
    "Ada and the user talk about the garden most of the time.",
    "- tea: green, without sugar\n- bread: rye, from the market",
    "1. Vienna\n2. Graz\n3. Linz",
    "She asked for the recipe, and it was found in the archive.",
    "What was said before this conversation is not gone; it is further away.",
    "Open commitments: the report for Monday, the letter to the landlord.",
    "The diary is yours, and an entry stays as it was written.",
    "Where two notes disagree, the later one was written by somebody who knew more.",
    "People change their minds, and so the reason of a decision outlasts it.",
    "Search covers conversations, notes and learnings alike.",
    "Now and then the conversation is condensed, and the summary keeps its thread.",
    "Notes are short because room is short, and somebody reads all of them every day.",
    "Nothing here asks for anything; it is there in case it is of use.",
    "The bread must have been good.",
    "## Open threads\n\nThe boat, the letter, the book.",
    "## Open Commitments",
    "Quiet hours are as welcome as long talks.",
    "```\nif ready: update(status)\n```",
]


@pytest.mark.parametrize("text", SCRIPTS)
def test_a_script_is_found(text: str) -> None:
    assert prescriptions(text)


@pytest.mark.parametrize("text", DESCRIPTIONS)
def test_a_description_is_let_through(text: str) -> None:
    assert prescriptions(text) == []


def test_every_script_in_a_long_text_is_found_with_its_sentence() -> None:
    found = prescriptions("\n\n".join([*DESCRIPTIONS, "Whenever it rains, tell the user.", *DESCRIPTIONS]))
    assert found == ["condition: Whenever it rains, tell the user."]


def test_the_page_that_a_new_folder_begins_with_scripts_nothing() -> None:
    assert prescriptions(COMPACTION_TEXT) == []
