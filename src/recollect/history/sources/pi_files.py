"""What the names of Pi's and OpenClaw's files tell: which are transcripts, of which session, and which are copies.

Pi names a file by time and id, OpenClaw by id alone; what is made of an OpenClaw file later is told by a further
ending. A name with an id in it says which file it is wherever it lies. The endings belong to it: OpenClaw writes a
shorter file under the old name when it puts the long one aside as `.bak`.
"""

import re

from recollect.history.sources.fields import identifier
from recollect.history.sources.source import Computer, FileFacts, key_below

_UUID = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
_ANY_UUID = re.compile(_UUID)
_PI_NAME = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z_(.+)")
_CLAW_NAME = re.compile(rf"(?:.*\.)?({_UUID})(?:-topic-[^/]*)?\.jsonl(?:\.(?:reset|deleted|bak|imported)[.-].*)?")
_COLD_NAME = re.compile(r"[0-9a-f]{64}\.jsonl")
"""An archive named by its content."""
_PUT_ASIDE = re.compile(r"\.jsonl\.(?:(?:reset|deleted|bak)\.\d{4}-\d\d-\d\dT[\d.-]+Z|imported-\d+(?:\.\d+)?)\Z")
_CHECKPOINT = re.compile(rf"\.checkpoint\.{_UUID}\.jsonl\Z")
_ARTIFACTS = "subagent-artifacts"


def pi_sessions(computer: Computer) -> list[str]:
    folders = [computer.below_home(".pi", "agent"), computer.configured("PI_CODING_AGENT_DIR", ".pi", "agent")]
    found = [f"{folder}/sessions" for folder in folders]
    if computer.environment.get("PI_CODING_AGENT_SESSION_DIR", "").strip():
        found.append(computer.configured("PI_CODING_AGENT_SESSION_DIR"))
    return list(dict.fromkeys(found))


def openclaw_agents(computer: Computer) -> list[str]:
    """Where OpenClaw keeps its agents, under all the names it had."""
    environment = computer.environment
    states = [computer.below_home(f".{name}") for name in ("openclaw", "clawdbot", "moltbot")]
    named = ("OPENCLAW_STATE_DIR", "CLAWDBOT_STATE_DIR", "MOLTBOT_STATE_DIR")
    states += [computer.configured(variable) for variable in named if environment.get(variable, "").strip()]
    profile = environment.get("OPENCLAW_PROFILE", "").strip()
    if profile and "/" not in profile:
        states.append(computer.below_home(f".openclaw-{profile}"))
    return [f"{state}/agents" for state in states]


def is_transcript_name(path: str) -> bool:
    return path.endswith(".jsonl") or (".jsonl." in path and _PUT_ASIDE.search(path) is not None)


def why_left_out(path: str) -> str:
    if path.endswith(".trajectory.jsonl"):
        return "a trajectory of OpenClaw: what happened while its session was written, not the session"
    if ".checkpoint." in path and _CHECKPOINT.search(path):
        return "a checkpoint of OpenClaw: a full copy of its session from before a compaction"
    if _ARTIFACTS in path and _ARTIFACTS in path.replace("\\", "/").split("/")[:-1]:
        return "a copy that pi-subagents makes of a sub-agent's session, for finding faults"
    return ""


def facts_of(path: str, root: str) -> FileFacts:
    parts = path.replace("\\", "/").split("/")
    name = parts[-1]
    for place, part in enumerate(parts[:-1]):
        folder = _PI_NAME.fullmatch(part)
        if folder:
            return _subagent_facts("/".join(parts[place:]), folder[1], parts[place + 1 :])
    own = _PI_NAME.fullmatch(name.removesuffix(".jsonl")) or _CLAW_NAME.fullmatch(name)
    if own:
        return FileFacts(key=name, kind="session", session_id=identifier(own[1]), is_unique=True)
    if _COLD_NAME.fullmatch(name):
        return FileFacts(key=name, kind="session", is_unique=True)
    return FileFacts(key=_key_below(parts, path, root), kind="session")


def session_named(path: str) -> str:
    """The session of a file that an entry names by its path, or by its id."""
    name = path.replace("\\", "/").rpartition("/")[2]
    own, any_id = _PI_NAME.fullmatch(name.removesuffix(".jsonl")), _ANY_UUID.search(name)
    return own[1] if own else any_id[0] if any_id else name.removesuffix(".jsonl")


def _subagent_facts(key: str, session_id: str, rest: list[str]) -> FileFacts:
    """Extensions keep what their sub-agents did in a folder named as the session's file."""
    own = _PI_NAME.fullmatch(rest[-1].removesuffix(".jsonl"))
    steps = [*rest[:-1], rest[-1].removesuffix(".jsonl")]
    agent_id = own[1] if own else "/".join(steps[:-1] if len(steps) > 1 and steps[-1] == "session" else steps)
    return FileFacts(key=key, kind="subagent", session_id=session_id, agent_id=identifier(agent_id), is_unique=True)


def _key_below(parts: list[str], path: str, root: str) -> str:
    """From the folder before `sessions` on: an agent of OpenClaw. Else the path below the root."""
    if "sessions" in parts[1:-1]:
        last = len(parts) - 1 - parts[::-1].index("sessions")
        return "/".join(parts[last - 1 :])
    return key_below(path, root)
