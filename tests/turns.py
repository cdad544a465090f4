"""A conversation that goes on turn by turn: a context is built, the reply comes, the transcript is taken in."""

from pathlib import Path

from transcripts import Transcript

import recollect
from recollect.context import Context, Pipeline
from recollect.testing import FrozenClock


class Talk:
    """One session of Claude Code, as an agent of the house sees it."""

    def __init__(
        self,
        memory: recollect.Memory,
        clock: FrozenClock,
        projects: Path,
        name: str = "talk",
        *,
        pipeline: str | Pipeline = "conversation",
        agent: recollect.Memory | None = None,
    ) -> None:
        self.memory = memory
        self.agent = agent or memory
        self.clock = clock
        self.projects = projects
        self.pipeline = pipeline
        self.turns = 0
        self.transcript = Transcript(name, start=clock.now, step_seconds=1)

    def turn(self, words: str, reply: str = "", *, minutes: float = 2) -> Context:
        """The context in which these words are answered. Then time goes on."""
        made = self.agent.context.build(self.pipeline, words)
        self.turns += 1
        self.said(words, reply or f"Reply number {self.turns}.")
        self.clock.move(minutes=minutes)
        return made

    def said(self, words: str, reply: str = "") -> None:
        self.transcript.now = self.clock.now
        self.transcript.user(words)
        if reply:
            self.transcript.assistant(reply)
        self.take_in()

    def take_in(self) -> None:
        self.transcript.save(self.projects)
        self.memory.history.ingest([self.projects])


def section(context: Context, name: str) -> str:
    """The text of a section; empty when it is left out."""
    return next((one.text for one in context.sections if one.name == name), "")
