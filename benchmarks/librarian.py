"""How well a librarian reads: precision, recall, junk, evidence and forbidden items over labelled conversations.

    python benchmarks/librarian.py FOLDER [--model M] [--show] [--json]

FOLDER is a set as `docs/librarian-sets.md` describes it; ours are `benchmarks/librarian/dev`, `test` and `fresh`, which
the rules were developed on, and `benchmarks/librarian/unseen`, which nobody who works on them opens. Each conversation
is written as a transcript, taken in by a house of its own and read by the librarian; what it would file is compared
with the labels (`scoring.py`).
`--model`: as in the settings (`rules` unless it is given). `--show` names each miss, each extra item and each failure.

Exit code 1 when a figure is not what it must be.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labels import BadLabels, Labelled, load
from scoring import GOALS, Judged, Kept, Quoted, Reading, by_kind, figures, judge, reaches
from sessions import session_of, write_transcript

import recollect
from recollect.errors import RecollectError
from recollect.llm.model import BadReply
from recollect.testing import FrozenClock

if TYPE_CHECKING:
    from recollect.librarian.items import Extract, Item, Quote, Turn

RULES = "rules"


# A house


@contextmanager
def house_of(conversations: Sequence[Labelled], folder: Path, model: str = RULES) -> Iterator[recollect.Memory]:
    """A memory that has these conversations and nothing else, an hour and more after the end of the last."""
    home = folder / "home"
    home.mkdir(parents=True)
    settings = f"min_conversation_messages = 1\n[librarian]\nmodel = {json.dumps(model)}\n"
    (home / "recollect.toml").write_text(settings, encoding="utf-8")
    paths = [write_transcript(labelled, folder / "transcripts") for labelled in conversations]
    end = max(labelled.turns[-1].at for labelled in conversations)
    with recollect.open(home=home, clock=FrozenClock(end + timedelta(hours=2))) as memory:
        report = memory.history.ingest(paths)
        if report.problems:
            raise BadLabels(f"{report.problems[0].file} was not taken in: {report.problems[0].reason}")
        yield memory


# The seam: one conversation in, what is kept of it out


def read(memory: recollect.Memory, labelled: Labelled) -> Reading:
    """What the librarian of the settings finds in a conversation, and believes."""
    conversation = memory.history.conversation(session_of(labelled)).conversation
    with memory.librarian.desk() as desk:
        started = time.perf_counter()
        try:
            prepared = desk.read(conversation)
        except BadReply as error:
            return Reading(unread=str(error), milliseconds=(time.perf_counter() - started) * 1000)
        milliseconds = (time.perf_counter() - started) * 1000
        _, turns, _ = desk.opened(conversation)
    reading = reading_of(prepared.extract, turns)
    reading.milliseconds = milliseconds
    reading.tokens = prepared.usage.input_tokens + prepared.usage.output_tokens
    return reading


def file_too(memory: recollect.Memory, reading: Reading) -> None:
    """And what becomes of it in a house that has nothing else. A model's answer is kept, and not paid for twice."""
    worked = memory.librarian.process()
    reading.trouble = worked.problem or worked.stopped or next(iter(worked.aside.values()), "")
    reading.doubts += [question.text for question in memory.librarian.questions()]
    reading.filed = [record.text for record in memory.knowledge.records() if record.kind != "summary"]
    notes = sorted((memory.settings.home / "notes").rglob("*.md"))
    reading.pages = [f"{note.name}\n{note.read_text(encoding='utf-8')}" for note in notes]


def reading_of(extract: "Extract", turns: Sequence["Turn"]) -> Reading:
    return Reading(
        items=[_kept(item) for item in extract.items if item.shelf != "episode"],
        title=extract.title,
        lines=[f"{line.label}: {line.text}" for line in extract.lines]
        + [item.text for item in extract.items if item.shelf == "episode"],
        line_quotes=[_quoted(quote) for line in extract.lines for quote in line.quotes],
        people=[(person.name, person.role) for person in extract.people],
        doubts=[doubt.text for doubt in extract.doubts],
        project=extract.project,
        dropped=extract.dropped,
        said={turn.message_id: turn.text for turn in turns},
    )


def _kept(item: "Item") -> Kept:
    return Kept(
        shelf=str(item.shelf),
        kind=str(item.kind),
        subject=item.subject,
        text=item.text,
        value=item.value,
        until=item.true_until,
        quotes=tuple(_quoted(quote) for quote in item.quotes),
    )


def _quoted(quote: "Quote") -> Quoted:
    return Quoted(message_id=quote.message_id, words=quote.words)


# All of a set


def run(conversations: Sequence[Labelled], model: str = RULES) -> list[Judged]:
    """Each in a house of its own, where it is read, filed and shown: no conversation knows of another."""
    judged: list[Judged] = []
    with tempfile.TemporaryDirectory(prefix="rc-") as name:
        for labelled in conversations:
            with house_of([labelled], Path(name) / labelled.id, model) as memory:
                reading = read(memory, labelled)
                if not reading.unread:
                    file_too(memory, reading)
                judged.append(judge(labelled, reading))
    return judged


def run_without_filing(conversations: Sequence[Labelled]) -> list[Judged]:
    """By the rules, several times as fast: as nothing is filed, all may be in one house."""
    with (
        tempfile.TemporaryDirectory(prefix="rc-") as name,
        house_of(conversations, Path(name)) as memory,
    ):
        return [judge(labelled, read(memory, labelled)) for labelled in conversations]


def result_of(judged: Sequence[Judged], model: str) -> dict[str, Any]:
    found = figures(judged)
    reached = reaches(found)
    times = [one.reading.milliseconds for one in judged]
    voices = sorted({one.labelled.voice for one in judged})
    languages = sorted({one.labelled.language for one in judged})
    return {
        "model": model,
        "figures": found,
        "reached": reached,
        "is_as_it_must": all(reached.values()),
        "voices": {name: figures(one for one in judged if one.labelled.voice == name) for name in voices},
        "languages": {name: figures(one for one in judged if one.labelled.language == name) for name in languages},
        "kinds": by_kind(judged),
        "milliseconds": {
            "median": round(statistics.median(times), 2),
            "worst": round(max(times), 2),
        },
        "dropped": dict(sum((one.reading.dropped for one in judged), start=type(judged[0].reading.dropped)())),
        "conversations": {one.labelled.id: details(one) for one in judged},
    }


def details(judged: Judged) -> dict[str, Any]:
    """What went wrong with one conversation; empty: nothing."""
    items = judged.reading.items
    wrong = {
        "trouble": [judged.reading.trouble] if judged.reading.trouble else [],
        "unread": [judged.reading.unread] if judged.reading.unread else [],
        "missed": [f"{'|'.join(one.kinds) or 'any'}: {one.words}" for one in judged.missed],
        "extra": [
            f"{items[place].kind}/{items[place].shelf}/{items[place].subject}: {items[place].text}"
            + (f" [{judged.junk[place]}]" if place in judged.junk else "")
            for place in judged.extra
        ],
        "forbidden": judged.forbidden,
        "evidence": judged.unsupported,
        "people_missed": list(judged.people.missed_names),
        "people_extra": list(judged.people.wrong_names),
    }
    return {name: found for name, found in wrong.items() if found}


# Showing


def show(result: dict[str, Any], everything: bool) -> None:
    found = result["figures"]
    print(f"{found['conversations']} conversations, {found['kept']} items kept, {found['required']} required")
    for name, value in list(found.items())[3:]:
        goal = ""
        if name in GOALS:
            goal = f"{GOALS[name]:>14}  {'reached' if result['reached'][name] else 'MISSED'}"
        print(f"  {name.replace('_', ' '):<20}{_text(value):>8}{goal}")
    print(f"  {'milliseconds':<20}{result['milliseconds']['median']:>8}  (worst {result['milliseconds']['worst']})")
    for title in ("voices", "languages"):
        _table(title, result[title], ("conversations", "kept", "precision", "recall", "junk", "forbidden"))
    _table("kinds", result["kinds"], ("kept", "precision", "required", "recall"))
    if result["dropped"]:
        print("\ndropped by the librarian itself: " + ", ".join(f"{k} {n}" for k, n in result["dropped"].items()))
    for name, wrong in result["conversations"].items() if everything else ():
        if wrong:
            print(f"\n{name}")
            for kind, texts in wrong.items():
                for text in texts:
                    print(f"  {kind:<14}{text}")


def _table(title: str, rows: dict[str, dict[str, Any]], columns: Sequence[str]) -> None:
    print(f"\n{title:<14}" + "".join(f"{column:>15}" for column in columns))
    for name, row in rows.items():
        print(f"{name:<14}" + "".join(f"{_text(row[column]):>15}" for column in columns))


def _text(value: float | int | None) -> str:
    if value is None:
        return "–"
    return f"{value:.3f}" if isinstance(value, float) else f"{value:,}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", default=RULES, help="as in the settings; rules unless given")
    parser.add_argument("--only", help="conversations whose id has this")
    parser.add_argument("--show", action="store_true", help="each miss, each extra item, each failure")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout instead of tables")
    arguments = parser.parse_args()
    try:
        conversations = [one for one in load(arguments.folder) if (arguments.only or "") in one.id]
        if not conversations:
            raise BadLabels(f"No conversation of {arguments.folder} has {arguments.only!r} in its id.")
        result = result_of(run(conversations, arguments.model), arguments.model)
    except (BadLabels, RecollectError) as error:
        sys.exit(str(error))
    if arguments.json:
        print(json.dumps(result, indent=1, ensure_ascii=False))
    else:
        show(result, arguments.show)
    sys.exit(0 if result["is_as_it_must"] else 1)


if __name__ == "__main__":
    main()
