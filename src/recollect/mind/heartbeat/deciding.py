"""The light decision: to write first, or to let the moment pass. One small prompt, one checked answer.

Who the agent is, its status and the board are the frozen part of the context `outreach`; what was said last and what
the person asked for about being written to come with the trigger. The words describe and do not script (N6).
"""

from collections.abc import Sequence
from itertools import accumulate

from pydantic import BaseModel, ConfigDict, Field

from recollect.clock import from_text
from recollect.context.blocks import escaped
from recollect.context.system_prompt import moment
from recollect.mind.conversation import words_of
from recollect.mind.entries import Role, Written
from recollect.redaction import mask
from recollect.texts import clean
from recollect.tokens import estimate

MOST_MESSAGE_CHARACTERS = 2_000
MOST_SHOWN_CHARACTERS = 600
"""Of each of the last messages: what they were about, not all that they said."""
MOST_LAST_TOKENS = 4_000
"""Of all of them: the rest of the context is for who the agent is."""
MOST_OUTPUT_TOKENS = 1_500


class Decision(BaseModel):
    model_config = ConfigDict(extra="ignore")

    reason: str = Field(max_length=1_000, description="Why, in one or two sentences.")
    reach_out: bool = Field(description="true: the message is sent. false: the moment passes.")
    topic: str = Field(default="", max_length=200, description="What the message is about, in a few words.")
    message: str = Field(
        default="", max_length=MOST_MESSAGE_CHARACTERS, description="The message itself, as it is to be read."
    )


MOMENT = """\
A quiet moment of your own: {user} has not said anything just now, and nobody waits for an answer. You can write to \
{user} first, and it would arrive by {channel}; or you can let the moment pass, as most moments do.

A word is worth an interruption where something has come of it: a promise that is due, an answer {user} waits for, a \
thought that belongs to what the two of you spoke of. A word that only says that you are there is not. What you write \
stands in your one conversation, so that an answer to it reaches you there.
"""
SAID_LAST = "What was said between you last:"
NOTHING_SAID = "Nothing was said between you yet."
UNWELCOME = "{user_first} asked not to be written to about: {topics}."
SYSTEM_ALONE = "You are an assistant with a memory of your own."
"""Where the agent has no pages yet."""


def plain(decision: Decision) -> Decision:
    """Without credentials: it is kept, told and sent as it is."""
    texts = {"reason": decision.reason, "topic": decision.topic, "message": decision.message}
    return decision.model_copy(update={name: mask(clean(text)) for name, text in texts.items()})


def trigger_of(user: str, channel: str, last: Sequence[Written], unwelcome_topics: Sequence[str]) -> str:
    named = escaped(user)
    parts = [MOMENT.format(user=named, channel=escaped(channel))]
    if unwelcome_topics:
        topics = "; ".join(map(escaped, unwelcome_topics))
        parts.append(UNWELCOME.format(user_first=named[:1].upper() + named[1:], topics=topics) + "\n")
    lines = "".join(_fitting([_line(one, named) for one in last]))
    parts.append(f"{SAID_LAST}\n\n{lines}" if lines else NOTHING_SAID)
    return "\n".join(parts)


def _fitting(lines: list[str]) -> list[str]:
    """The latest of them."""
    tokens = list(accumulate(estimate(line) for line in reversed(lines)))
    return lines[len(lines) - sum(one <= MOST_LAST_TOKENS for one in tokens) :]


def _line(written: Written, user: str) -> str:
    who = user if written.entry.role is Role.USER else "You"
    words = " ".join(words_of(written.record).split())
    if len(words) > MOST_SHOWN_CHARACTERS:
        words = f"{words[:MOST_SHOWN_CHARACTERS]} […]"
    return f"- [{moment(from_text(written.entry.at))}] {who}: {escaped(words)}\n"
