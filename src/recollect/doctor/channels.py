"""Whether the agent can be reached by the channels that are set up, its answers arrive, and its own moments come.

Of a channel that a daemon has open, the daemon's word counts: it may have a variable that is not set where this is
asked.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from shlex import quote

from recollect.channels.kinds import broken_kinds, kinds, wanted_kinds
from recollect.clock import local, to_text
from recollect.daemon.minding import MindingProgress
from recollect.daemon.status import read_status
from recollect.doctor.findings import Finding, failure, ok, warning
from recollect.errors import Denied, Invalid, RecollectError
from recollect.llm.opening import check_talker
from recollect.lock import is_locked
from recollect.memory import Memory
from recollect.mind.figures import Stuck, refused_answers, waiting_answers
from recollect.mind.heartbeat.awareness import QuietHours
from recollect.mind.heartbeat.schedule import check
from recollect.mind.places.store import Place
from recollect.mind.visiting import HTTP
from recollect.settings import CONFIG_NAME, Settings

CHECK, HEARTBEAT = "channels", "heartbeat"
LATE = timedelta(minutes=10)
"""An answer that waits for longer than this waits for more than a moment without a network."""
RECENT = timedelta(days=7)
"""What was refused before is old news: a refusal is final."""
TERMINAL = "terminal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Daemon:
    is_running: bool
    told: MindingProgress | None
    """How it talks. None: it has not said so yet, or none runs."""


def channels(memory: Memory) -> list[Finding]:
    daemon, places = _daemon(memory), memory.places.list()
    wanted = [kind.name for kind in wanted_kinds(memory.settings)]
    findings = [
        *_broken(),
        *_at_work(daemon.told),
        *(finding for name in wanted for finding in _channel(memory.settings, name, daemon, places)),
        *_answers(memory, wanted),
        *_blocked(places),
    ]
    return [*(findings or [_well(wanted, places)]), *_heartbeat(memory.settings, daemon.told, places)]


def _daemon(memory: Memory) -> Daemon:
    runtime = memory.settings.runtime
    is_running = is_locked(runtime)
    status = read_status(runtime) if is_running else None
    return Daemon(is_running=is_running, told=status.minding if status and status.last_scan_at else None)


def _broken() -> Iterator[Finding]:
    for why in broken_kinds():
        yield warning(CHECK, f"A channel of another package does not load: {why}", "Upgrade or remove that package.")


def _at_work(told: MindingProgress | None) -> Iterator[Finding]:
    if told and told.problem:
        again = f" It was started again {told.restarts:,} times." if told.restarts > 1 else ""
        yield warning(
            CHECK, f"The daemon cannot talk: {told.problem}.{again}", "It tries again by itself; recollect health."
        )


# A channel that the settings ask for


def _channel(settings: Settings, name: str, daemon: Daemon, places: list[Place]) -> Iterator[Finding]:
    told = daemon.told
    if not settings.mind.model:
        yield warning(
            name, "It is set up, but no model is there that could answer.", f"Set model in [mind] of {CONFIG_NAME}."
        )
    elif not daemon.is_running:
        yield _unread(settings, name)
    elif told and name not in told.channels:
        yield warning(
            name, "The daemon that runs does not listen to it.", "If it was set up since, start recollect up again."
        )
    elif told and told.channels[name]:
        yield warning(
            name,
            told.channels[name],
            "It tries again by itself; a variable or a setting that you change counts when recollect up starts again.",
        )
    if not any(place.channel == name for place in places):
        yield warning(name, "It is set up, and nobody is heard by it.", f"recollect channels pair {name}")


def _unread(settings: Settings, name: str) -> Finding:
    secrets = {
        "telegram": (settings.telegram.token_variable, settings.telegram_token),
        "webhook": (settings.webhook.secret_variable, settings.webhook_secret),
    }
    if name in secrets:
        variable, value = secrets[name]
        if not value():
            return warning(
                name, f"The variable {variable} is not set here.", f"Set it where you start recollect up, for [{name}]."
            )
    return warning(name, "No daemon runs, so nobody listens to it.", "recollect up")


# Answers and places


def _answers(memory: Memory, wanted: list[str]) -> Iterator[Finding]:
    now, house = memory.clock(), memory.settings.house
    with memory.database.read() as session:
        waiting = waiting_answers(session, house, to_text(now - LATE))
        refused = refused_answers(session, house, to_text(now - RECENT))
    for stuck in waiting:
        since = f"{local(stuck.at):%Y-%m-%d %H:%M}"
        verb = "waits" if stuck.number == 1 else "wait"
        yield warning(
            stuck.channel, f"{_answers_of(stuck)} {verb} to be sent since {since}.", _way_out(stuck.channel, wanted)
        )
    for stuck in refused:
        last = f"{local(stuck.at):%Y-%m-%d %H:%M}"
        verb = "was" if stuck.number == 1 else "were"
        yield warning(
            stuck.channel,
            f"{_answers_of(stuck)} {verb} not taken in the last {RECENT.days} days, the last {last}.",
            "recollect chat shows what was said last.",
        )


def _answers_of(stuck: Stuck) -> str:
    return f"{stuck.number:,} answer{'s' * (stuck.number != 1)}"


def _way_out(channel: str, wanted: list[str]) -> str:
    if channel == TERMINAL:
        return "recollect chat shows them."
    if channel == HTTP:
        return "recollect up: who asked over HTTP reads them."
    return "recollect up sends them." if channel in wanted else f"Set up {channel} again, and run recollect up."


def _blocked(places: list[Place]) -> Iterator[Finding]:
    for place in places:
        if place.state == "blocked":
            named = f"{place.address} ({place.name})" if place.name else place.address
            command = f"recollect channels remove {place.channel} {quote(place.address)}"
            yield warning(
                place.channel, f"{named} takes nothing any more.", f"A message from there opens it again; {command}"
            )


def _well(wanted: list[str], places: list[Place]) -> Finding:
    if not wanted:
        return ok(CHECK, "None is set up: the agent is talked with in a terminal.")
    heard = sum(place.channel in wanted for place in places)
    return ok(CHECK, f"{', '.join(wanted)}: {heard:,} place{'s' * (heard != 1)}, and nothing waits.")


# Moments of its own


def _heartbeat(settings: Settings, told: MindingProgress | None, places: list[Place]) -> Iterator[Finding]:
    heartbeat = settings.heartbeat
    if not heartbeat.model:
        yield ok(HEARTBEAT, "The agent has no moments of its own: no model is set for them.")
        return
    mistake = _mistake(settings)
    if mistake:
        yield failure(HEARTBEAT, mistake, f"Mend [heartbeat] in {CONFIG_NAME}.")
    elif unasked := _unasked(settings, is_running=told is not None):
        yield warning(HEARTBEAT, unasked, "recollect heartbeat --now --explain")
    elif not settings.mind.model:
        yield warning(
            HEARTBEAT, "No model is there that could answer what it writes.", f"Set model in [mind] of {CONFIG_NAME}."
        )
    elif heartbeat.schedule.strip() and not _takes(places, heartbeat.channel):
        by = f" by {heartbeat.channel}" if heartbeat.channel else ""
        yield warning(
            HEARTBEAT,
            f"It may write first, but there is no place to write to{by}.",
            f"recollect channels pair {heartbeat.channel or 'telegram'}",
        )
    elif told and told.channels.get(HEARTBEAT):
        yield warning(HEARTBEAT, told.channels[HEARTBEAT], "recollect heartbeat --now --explain")
    else:
        yield ok(HEARTBEAT, _next_moments(told))


def _mistake(settings: Settings) -> str:
    heartbeat = settings.heartbeat
    try:
        for name in ("schedule", "reflection"):
            if expression := getattr(heartbeat, name).strip():
                check(expression, f"heartbeat.{name}")
        QuietHours.parse(heartbeat.quiet_hours)
    except Invalid as error:
        return str(error)
    if heartbeat.channel and heartbeat.channel not in kinds():
        return f"heartbeat.channel is {heartbeat.channel!r}, which no channel is called: {', '.join(kinds())}."
    return ""


def _unasked(settings: Settings, is_running: bool) -> str:
    """Why its model could not be asked. A key may be set where the daemon runs, and not here."""
    try:
        check_talker(settings, "heartbeat")
    except Denied as error:
        return "" if is_running else str(error)
    except RecollectError as error:
        return str(error)
    return ""


def _takes(places: list[Place], channel: str) -> bool:
    return any(place.state == "paired" and channel in ("", place.channel) for place in places)


def _next_moments(told: MindingProgress | None) -> str:
    if told is None:
        return "Its moments come while recollect up runs."
    dues = (("considers writing", told.outreach_due_at), ("looks back", told.reflection_due_at))
    shown = [f"{what} {local(at):%Y-%m-%d %H:%M}" for what, at in dues if at]
    return f"It {' and '.join(shown)}." if shown else "It has no moment ahead."
