"""How a session is taken up again in the agent that held it: a line for the person's shell. Pure.

Only agents whose command line takes the id of a session have one. What came out of an export, a chat program or a log
cannot be resumed, and neither can a transcript whose id need not be the id of a session (Cursor's).
"""

import shlex

COMMANDS: dict[str, tuple[str, ...]] = {
    "claude-code": ("claude", "--resume"),
    "codex": ("codex", "resume"),
    "copilot-cli": ("copilot", "--resume"),
    "gemini-cli": ("gemini", "--resume"),
    "opencode": ("opencode", "--session"),
    "pi": ("pi", "--session"),
}
"""Source → what stands before the id of the session."""


def resume_command(source: str, session_id: str, folder: str) -> str:
    """Run in the folder the session was held in, because agents look for their sessions by it. Empty: there is none."""
    words = COMMANDS.get(source)
    if words is None or not session_id or session_id.startswith("-"):
        return ""
    command = shlex.join([*words, session_id])
    ends_options = "-- " if folder.startswith("-") else ""
    return f"cd {ends_options}{shlex.quote(folder)} && {command}" if folder else command
