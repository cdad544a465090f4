"""Models: a system prompt and a prompt in, a checked object and what it cost out. One file per provider.

Nothing here knows what is asked or why. Adapters are imported when they are used: a command that asks no model starts
without any of them.
"""

from recollect.llm.model import (
    BadReply,
    Busy,
    ChatModel,
    CutOff,
    Refused,
    Reply,
    Usage,
)

__all__ = ["BadReply", "Busy", "ChatModel", "CutOff", "Refused", "Reply", "Usage"]
