"""All stories, by the name of their source."""

import random

from stories import Files, Story
from stories.codex import Codex
from stories.copilot import CopilotCli
from stories.cursor import Cursor
from stories.exports import ChatGpt, ClaudeAi
from stories.gemini import GeminiCli
from stories.mind import RecollectChat
from stories.opencode import OpenCode
from stories.pi import OpenClaw, Pi
from stories.plain import Aider, ClaudeCode, Generic
from stories.telegram import Telegram

STORIES: dict[str, type[Story]] = {
    "claude-code": ClaudeCode,
    "codex": Codex,
    "claude-ai": ClaudeAi,
    "chatgpt": ChatGpt,
    "pi": Pi,
    "gemini-cli": GeminiCli,
    "copilot-cli": CopilotCli,
    "cursor": Cursor,
    "openclaw": OpenClaw,
    "opencode": OpenCode,
    "telegram": Telegram,
    "aider": Aider,
    "recollect": RecollectChat,
    "generic": Generic,
}


def told(name: str, dice: random.Random) -> Files:
    """The files of a story in which the dice decide what happens."""
    story = STORIES[name](dice.randrange(STORIES[name].variants))
    story.do(("prompt", dice.randrange(12)))
    for _ in range(dice.randrange(10)):
        story.do((dice.choice(story.moves), dice.randrange(12)))
    return story.files()
