"""heartbeat."""

import sys
from typing import TYPE_CHECKING, Any

import click

from recollect.channels.cleaning import cleaned, on_one_line
from recollect.errors import Invalid, RecollectError
from recollect.surfaces.cli.output import amount, print_json, say, style, warn, when
from recollect.surfaces.cli.place import Place, json_option

if TYPE_CHECKING:
    from recollect.memory import Memory
    from recollect.mind.heartbeat.heartbeat import Considered, Heartbeat, LookedBack

SHOWN_EVENTS = 10
MOST_CHARACTERS = 2_000
"""Of a reason, where one moment is told: all that any rule or model says."""
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
NO_DAEMON = "No daemon runs for this home, so no moment comes by itself. Start it: {invocation} up"


@click.command()
@click.option("--now", "is_now", is_flag=True, help="Have one moment now: the rules, then the model, then the message.")
@click.option("--explain", is_flag=True, help="Tell all that it saw, each rule and why. Without --now nobody is asked.")
@click.option("--reflect", is_flag=True, help="With --now: look back, and perhaps write the diary, instead.")
@click.option("--agent", default="", metavar="NAME", help="Of this agent. Default: the house's own.")
@json_option
@click.pass_obj
def heartbeat(place: Place, is_now: bool, explain: bool, reflect: bool, agent: str, as_json: bool) -> None:
    """Moments of the agent's own.

    Shows when the next ones are due and what came of the last. `recollect up` has them by itself, if [heartbeat] names
    a model. With --now it has one at once: quiet hours and all other rules hold for it, too.
    """
    if reflect and not is_now:
        raise click.UsageError("--reflect goes with --now: without it nothing is done.")
    if reflect and explain:
        raise click.UsageError("--explain tells of writing first. --now --reflect tells what it did by itself.")
    with place.open() as memory:
        if is_now:
            _have_one(memory, agent, explain=explain, reflect=reflect, as_json=as_json)
        elif explain:
            looked = _heart(memory, agent).look()
            print_json(_considered_json(looked)) if as_json else _explain(looked)
            if not as_json:
                _warn_of_missing(memory)
        else:
            _tell(memory, _heart(memory, agent), place, as_json)


def _have_one(memory: "Memory", agent: str, *, explain: bool, reflect: bool, as_json: bool) -> None:
    import asyncio

    missing = _missing(memory)
    if missing and not (reflect and memory.settings.heartbeat.model):
        raise Invalid(missing)
    own = memory.settings.agent_name
    if not reflect and agent not in ("", own):
        raise Invalid(NO_CHANNELS.format(agent=agent, own=own))
    heart = _heart(memory, agent)
    if reflect:
        looked_back = asyncio.run(heart.reflect())
        print_json(_looked_back_json(looked_back)) if as_json else _tell_looked_back(looked_back)
        _end_with(looked_back.error)
        return
    considered = asyncio.run(heart.consider())
    if as_json:
        print_json(_considered_json(considered))
    elif explain:
        _explain(considered)
    else:
        _tell_considered(considered)
    if considered.turn and not as_json:
        _tell_of_delivery(memory)
    _end_with(considered.error)


def _heart(memory: "Memory", agent: str) -> "Heartbeat":
    """By the channels that a daemon would have open: those are the house's own agent's."""
    from recollect.channels.kinds import wanted_kinds

    is_own = agent in ("", memory.settings.agent_name)
    return memory.heartbeat(
        agent, channels=frozenset(kind.name for kind in wanted_kinds(memory.settings)) if is_own else frozenset()
    )


def _missing(memory: "Memory") -> str:
    """What of the settings keeps it from having moments at all, with what to do. Empty: nothing."""
    path = memory.settings.config_path
    if not memory.settings.heartbeat.model:
        return NO_MODEL.format(path=path)
    return "" if memory.settings.mind.model else NOBODY.format(path=path)


def _warn_of_missing(memory: "Memory") -> None:
    if missing := _missing(memory):
        warn(missing)


def _end_with(error: RecollectError | None) -> None:
    if error:
        sys.exit(error.exit_code)


def _tell_of_delivery(memory: "Memory") -> None:
    from recollect.daemon import read_status
    from recollect.lock import is_locked

    if not (is_locked(memory.settings.runtime) and read_status(memory.settings.runtime)):
        warn("Nobody is there to send it: it goes out when `recollect up` runs.")


# What comes of it


def _tell_considered(considered: "Considered") -> None:
    said = {
        "yes": "It wrote first.",
        "no": "It let the moment pass.",
        "quiet": "It keeps quiet.",
        "failed": "It could not be asked.",
    }
    say(f"{style(said[considered.outcome], 'bold')} {on_one_line(considered.reason, MOST_CHARACTERS)}")
    if considered.turn and considered.decision:
        say()
        say(cleaned(considered.decision.message.strip()))


def _explain(considered: "Considered") -> None:
    seen = considered.seen
    facts = seen.facts
    say(style("What it saw", "bold"))
    say(f"  It is {facts.now:%A, %d %B %Y, %H:%M %Z}.")
    last = f"{facts.spoke_at.astimezone(facts.now.tzinfo):%Y-%m-%d %H:%M}" if facts.spoke_at else "never"
    say(f"  The person last spoke: {last}. Of the conversation it sees {amount(len(seen.last), 'message')}.")
    unanswered = sum(not one.is_answered for one in facts.outreaches)
    say(f"  It wrote first {amount(len(facts.outreaches), 'time')} so far, {unanswered} without an answer.")
    say(f"  A message would go to: {'a place by ' + seen.place[0] if seen.place else 'nowhere'}.")
    unwelcome = "; ".join(map(on_one_line, facts.unwelcome_topics))
    say(f"  The person asked not to be written to about: {unwelcome or 'nothing'}.")
    if considered.context:
        sections = ", ".join(f"{one.name} {one.tokens:,}" for one in considered.context.sections if one.tokens)
        say(f"  In front of the model: {considered.context.tokens:,} tokens ({sections}).")
    say()
    say(style("The rules", "bold"))
    for verdict in considered.verdicts:
        mark = style("✓", "green") if verdict.is_allowed else style("✗", "red")
        say(f"  {mark} {verdict.rule}: {verdict.reason}")
    say()
    say(style("What it decided", "bold"))
    if considered.outcome == "look":
        would = "The rules would keep it quiet." if considered.reason else "The rules would let it ask the model."
        say(f"  {would} Nobody was asked: --now has the moment.")
        return
    decided = considered.decision
    if decided:
        answer = "to write first" if decided.reach_out else "to let the moment pass"
        say(f"  The model decided {answer}: {on_one_line(decided.reason, MOST_CHARACTERS)}")
        if decided.reach_out:
            say(f"  About: {on_one_line(decided.topic) or '(it did not say)'}")
            for line in cleaned(decided.message.strip()).splitlines():
                say(f"  │ {line}")
    outcome = {"yes": "It wrote.", "no": "It did not write.", "quiet": "It keeps quiet.", "failed": "It failed."}
    why = "" if considered.outcome in ("yes", "no") else on_one_line(considered.reason, MOST_CHARACTERS)
    say(f"  {style(outcome[considered.outcome], 'bold')} {why}".rstrip())


def _tell_looked_back(looked_back: "LookedBack") -> None:
    said = {
        "done": "It wrote its diary.",
        "nothing": "It wrote nothing.",
        "skipped": "Not now.",
        "paused": "Not now.",
        "failed": "It could not be asked.",
    }
    say(f"{style(said[looked_back.outcome], 'bold')} {on_one_line(looked_back.reason, MOST_CHARACTERS)}".rstrip())
    for name in looked_back.reflected.wrote if looked_back.reflected else ():
        say(f"  {name}  (recollect diary show {name})")


# What is due, and what was


def _tell(memory: "Memory", heart: "Heartbeat", place: Place, as_json: bool) -> None:
    from recollect.clock import to_text
    from recollect.lock import is_locked
    from recollect.mind.heartbeat.ticks import Moment

    due = {str(kind): to_text(at) if (at := heart.due_at(kind)) else "" for kind in Moment} if heart.is_wanted else {}
    events = [one for name in ("heartbeat", "reflection") for one in memory.runs.latest(name, limit=SHOWN_EVENTS)]
    events = sorted(events, key=lambda one: one.started_at, reverse=True)[:SHOWN_EVENTS]
    if as_json:
        latest = [
            {"at": one.started_at, "kind": one.name, "outcome": one.outcome, "reason": one.detail.get("reason", "")}
            for one in events
        ]
        runs = is_locked(memory.settings.runtime)
        print_json({"enabled": heart.is_wanted, "due": due, "latest": latest, "daemon_runs": runs})
        return
    if not heart.is_wanted:
        say(_missing(memory))
    for kind, label in (("outreach", "Next it considers writing first"), ("reflection", "Next it looks back")):
        if due.get(kind):
            say(f"{label}: {when(due[kind])}")
    if events:
        say()
        for one in events:
            reason = on_one_line(str(one.detail.get("reason", "")))
            say(f"{when(one.started_at)}  {one.name:<10} {one.outcome:<8} {reason}".rstrip())
    elif heart.is_wanted:
        say("No moment has come yet.")
    if not heart.is_wanted:
        return
    _warn_of_missing(memory)
    if not is_locked(memory.settings.runtime):
        warn(NO_DAEMON.format(invocation=place.invocation()))


# As JSON


def _considered_json(considered: "Considered") -> dict[str, Any]:
    from recollect.clock import to_text

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


def _looked_back_json(looked_back: "LookedBack") -> dict[str, Any]:
    reflected = looked_back.reflected
    return {
        "outcome": looked_back.outcome,
        "reason": looked_back.reason,
        "wrote": list(reflected.wrote) if reflected else [],
        "calls": reflected.calls if reflected else 0,
    }
