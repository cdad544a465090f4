"""heartbeat."""

import sys
from typing import TYPE_CHECKING

import click

from recollect.channels.cleaning import cleaned, on_one_line
from recollect.errors import RecollectError
from recollect.surfaces.cli.output import amount, print_json, say, style, warn, when
from recollect.surfaces.cli.place import Place, json_option
from recollect.surfaces.shapes.heartbeat import (
    check_possible,
    considered_json,
    due_of,
    heart_of,
    heartbeat_json,
    latest_moments,
    looked_back_json,
    missing_of,
)

if TYPE_CHECKING:
    from recollect.memory import Memory
    from recollect.mind.heartbeat.heartbeat import Considered, Heartbeat, LookedBack

MOST_CHARACTERS = 2_000
"""Of a reason, where one moment is told: all that any rule or model says."""
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
            looked = heart_of(memory, agent).look()
            print_json(considered_json(looked)) if as_json else _explain(looked)
            if not as_json:
                _warn_of_missing(memory)
        else:
            _tell(memory, heart_of(memory, agent), place, as_json)


def _have_one(memory: "Memory", agent: str, *, explain: bool, reflect: bool, as_json: bool) -> None:
    import asyncio

    check_possible(memory, agent, reflect=reflect)
    heart = heart_of(memory, agent)
    if reflect:
        looked_back = asyncio.run(heart.reflect())
        print_json(looked_back_json(looked_back)) if as_json else _tell_looked_back(looked_back)
        _end_with(looked_back.error)
        return
    considered = asyncio.run(heart.consider())
    if as_json:
        print_json(considered_json(considered))
    elif explain:
        _explain(considered)
    else:
        _tell_considered(considered)
    if considered.turn and not as_json:
        _tell_of_delivery(memory)
    _end_with(considered.error)


def _warn_of_missing(memory: "Memory") -> None:
    if missing := missing_of(memory):
        warn(missing)


def _end_with(error: RecollectError | None) -> None:
    if error:
        sys.exit(error.exit_code)


def _tell_of_delivery(memory: "Memory") -> None:
    from recollect.daemon.status import read_status
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
    from recollect.lock import is_locked

    if as_json:
        print_json(heartbeat_json(memory, heart))
        return
    due, events = due_of(heart), latest_moments(memory)
    if not heart.is_wanted:
        say(missing_of(memory))
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
