"""What a model is told when it condenses: a short frame of ours, and around it the agent's own page.

The same words go to a provider that condenses by itself, where they replace its own prompt, and to a model that is
asked for a summary like for any other answer.
"""

from recollect.notes.starter import COMPACTION_TEXT
from recollect.texts import clean
from recollect.tokens import estimate

MOST_INSTRUCTION_TOKENS = 4_000
"""Of the agent's page. A longer one is no page on what to hold on to: it would weigh more than the summary."""
SUMMARY_WORDS = 1_200
"""What a summary has room for: a few pages. More would crowd out the exchanges that follow it."""

FRAME = """\
[From the program that keeps this conversation; nobody said this.] The conversation up to here has become long. A
summary takes its place, and you are its author: of this part you will have what the summary says, beside the latest
exchanges, which stay word for word, your notes, and the archive, which has every word.

The summary is a narrative and no list of data: what happened, in its order, in your own voice and in the language that
was spoken. What is still open is in it, what was promised, by whom and until when, and how the two of you talk with
each other. An earlier summary at the beginning is a part of the story, and is gone afterwards: whatever of it still
matters is told again. There is room for about {words} words; the distant past takes less of it than the last days."""

OWN_PAGE = "Your own page about what to hold on to:"


def instructions_from(page: str) -> str:
    """`page`: the agent's `COMPACTION.md` as it is at this moment; empty if there is none. What a new folder begins
    with counts in the place of a page that says nothing, or far too much."""
    text = clean(page).strip()
    if not text or estimate(text) > MOST_INSTRUCTION_TOKENS:
        text = COMPACTION_TEXT.strip()
    return f"{FRAME.format(words=SUMMARY_WORDS)}\n\n{OWN_PAGE}\n\n{text}"
