"""Moments of an agent's own, as JSON, and what they need before one is asked for."""

from typing import TYPE_CHECKING, Any

from recollect.clock import to_text

if TYPE_CHECKING:
    from recollect.memory import Memory
    from recollect.mind.heartbeat.heartbeat import Considered, Heartbeat, LookedBack
    from recollect.runs import Event

SHOWN_EVENTS = 10
NO_MODEL = """\
The agent has no moments of its own: no model is named for them. A cheap one will do.
Write one into {path}, for example
  [heartbeat]
  model = "anthropic:claude-haiku-5-5\""""
NOBODY = "Nobody would answer what the person says to it: [mind] in {path} names no model. Name one first."
NO_CHANNELS = (
    "{agent} cannot write first: all channels are those of {own}, the house's own agent, and nothing would be sent. "
    "With --reflect {agent} can look back."
)


def heart_of(memory: "Memory", agent: str) -> "Heartbeat":
    """By the channels that a daemon would have open: those are the house's own agent's."""
    from recollect.channels.kinds import wanted_kinds

    is_own = agent in ("", memory.settings.agent_name)
    return memory.heartbeat(
        agent, channels=frozenset(kind.name for kind in wanted_kinds(memory.settings)) if is_own else frozenset()
    )


def missing_of(memory: "Memory") -> str:
    """What of the settings keeps it from having moments at all, with what to do. Empty: nothing."""
    path = memory.settings.config_path
    if not memory.settings.heartbeat.model:
        return NO_MODEL.format(path=path)
    return "" if memory.settings.mind.model else NOBODY.format(path=path)


def check_possible(memory: "Memory", agent: str, *, reflect: bool) -> None:
    """Raises what keeps a moment from being had now."""
    from recollect.errors import Invalid

    missing = missing_of(memory)
    if missing and not (reflect and memory.settings.heartbeat.model):
        raise Invalid(missing)
    own = memory.settings.agent_name
    if not reflect and agent not in ("", own):
        raise Invalid(NO_CHANNELS.format(agent=agent, own=own))


def latest_moments(memory: "Memory") -> "list[Event]":
    """Of either kind, the latest first."""
    events = [one for name in ("heartbeat", "reflection") for one in memory.runs.latest(name, limit=SHOWN_EVENTS)]
    return sorted(events, key=lambda one: one.started_at, reverse=True)[:SHOWN_EVENTS]


def heartbeat_json(memory: "Memory", heart: "Heartbeat") -> dict[str, Any]:
    """When the next moments are due, and what came of the last."""
    from recollect.lock import is_locked

    latest = [
        {"at": one.started_at, "kind": one.name, "outcome": one.outcome, "reason": one.detail.get("reason", "")}
        for one in latest_moments(memory)
    ]
    runs = is_locked(memory.settings.runtime)
    return {"enabled": heart.is_wanted, "due": due_of(heart), "latest": latest, "daemon_runs": runs}


def due_of(heart: "Heartbeat") -> dict[str, str]:
    from recollect.mind.heartbeat.ticks import Moment

    if not heart.is_wanted:
        return {}
    return {str(kind): to_text(at) if (at := heart.due_at(kind)) else "" for kind in Moment}


def considered_json(considered: "Considered") -> dict[str, Any]:
    seen, facts, decision = considered.seen, considered.seen.facts, considered.decision
    return {
        "outcome": considered.outcome,
        "reason": considered.reason,
        "rules": [
            {
                "rule": one.rule,
                "allowed": one.is_allowed,
                "reason": one.reason,
                "until": to_text(one.until) if one.until else None,
            }
            for one in considered.verdicts
        ],
        "saw": {
            "at": to_text(facts.now),
            "spoke_at": to_text(facts.spoke_at) if facts.spoke_at else None,
            "messages": len(seen.last),
            "outreaches": len(facts.outreaches),
            "unanswered": sum(not one.is_answered for one in facts.outreaches),
            "unwelcome_topics": list(facts.unwelcome_topics),
            "channel": seen.place[0] if seen.place else None,
            "context_tokens": considered.context.tokens if considered.context else 0,
        },
        "decision": decision.model_dump() if decision else None,
        "turn": considered.turn or None,
    }


def looked_back_json(looked_back: "LookedBack") -> dict[str, Any]:
    reflected = looked_back.reflected
    return {
        "outcome": looked_back.outcome,
        "reason": looked_back.reason,
        "wrote": list(reflected.wrote) if reflected else [],
        "calls": reflected.calls if reflected else 0,
    }
