"""What install tells of the sessions that follow, beside what is switched off in the agent's settings. All of it is a
person's own, and stays so."""

from recollect.clock import local
from recollect.memory import Memory
from recollect.surfaces.hooks.changes import Change
from recollect.surfaces.hooks.targets import HooksFile
from recollect.surfaces.hooks.trust import has_hooks_beside, untrusted


def not_taken_in(memory: Memory) -> list[str]:
    """Where sessions are told what is known, and nothing of them is kept."""
    if not memory.settings.enabled:
        return ["enabled is false in the settings of Recollect: no session is taken in until that is gone."]
    since = memory.history.paused_since()
    if since:
        return [
            f"Taking in is paused since {local(since):%Y-%m-%d %H:%M}: no session is taken in until `recollect resume`."
        ]
    return []


def of_codex(hooks: HooksFile, changed: Change, configuration: Change) -> list[str]:
    """`changed`: the file of our hooks."""
    said: list[str] = []
    path, text = configuration.path, configuration.after or ""
    if untrusted(path, text, hooks, changed.after or "{}"):
        said.append("Codex runs none of these hooks until somebody agrees to them: type /hooks in Codex.")
    if has_hooks_beside(path, text):
        said.append(
            f"{path} has hooks of its own in [hooks], and ours are in {hooks.path}: Codex runs both, and says in each "
            "session that it would rather have them in one place. Moved into that file, yours are no trouble."
        )
    return said


def told_twice(others: list[str]) -> list[str]:
    """`others`: where the same stands."""
    return [f"{place} has the same in it: a session with both is told everything twice. Use one." for place in others]
