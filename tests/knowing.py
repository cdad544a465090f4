"""A process that changes or forgets what a home knows, to be killed or to be run beside others by tests.

    python tests/knowing.py HOME DATABASE forget|change|edit|learn|edit_once ARGUMENT…

It says `ready`, begins when it is given a line, and ends with one line of JSON that tells what it did.
"""

import json
import random
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import recollect
from recollect.errors import Conflict, Invalid, NotFound
from recollect.knowledge import Statement

SUBJECTS = [f"bed {number}" for number in range(6)]
ATTRIBUTES = ["crop", "soil"]
PLANTS = ["beans", "leeks", "marrows", "peas", "thyme", "garlic", "plums", "quinces"]


def forget(memory: recollect.Memory, kind: str, name: str) -> Any:
    return memory.forget(**{kind: name}).state


def change(memory: recollect.Memory, seed: str, steps: str) -> Any:
    """Learn, edit, retract and undo at random."""
    dice = random.Random(seed)
    for number in range(int(steps)):
        known = [record.id for record in memory.knowledge.records(state="all", limit=20)]
        action = dice.choice(["learn", "learn", "edit", "undo", "retract"])
        with suppress(Conflict, Invalid):
            if action == "learn" or not known:
                subject, attribute, plant = dice.choice(SUBJECTS), dice.choice(ATTRIBUTES), dice.choice(PLANTS)
                text = f"The {attribute} of {subject} is {plant}."
                memory.knowledge.remember(text, subject=subject, attribute=attribute, value=plant)
            elif action == "edit":
                memory.knowledge.edit(dice.choice(known), f"Edited to {dice.choice(PLANTS)} in step {number}.")
            elif action == "undo":
                memory.knowledge.undo(dice.choice(known))
            else:
                memory.knowledge.retract(dice.choice(known))
    return steps


def edit(memory: recollect.Memory, name: str, who: str, last: str) -> Any:
    """Make the next version, and the next, as long as others do not come first; those that it made."""
    won: list[int] = []
    while (record := memory.knowledge.record(name)).version < int(last):
        with suppress(Conflict):
            made = memory.knowledge.edit(name, f"{who} {record.version + 1}", expected_version=record.version)
            won.append(made.version)
    return won


def edit_once(memory: recollect.Memory, name: str, who: str, version: str) -> Any:
    """Whether it came first, and else what it was told."""
    try:
        memory.knowledge.edit(name, f"what {who} says", expected_version=int(version))
    except Conflict as conflict:
        return str(conflict)
    return ""


def statements() -> list[Statement]:
    """What grew where, from when on."""
    return [
        Statement(
            text=f"The {attribute} of {subject} is {plant}.",
            subject=subject,
            attribute=attribute,
            value=plant,
            true_from=f"2026-{month:02}-01T00:00:00.000Z",
        )
        for subject in SUBJECTS[:3]
        for attribute in ATTRIBUTES
        for month, plant in enumerate(PLANTS[:5], 1)
    ]


def learn(memory: recollect.Memory, seed: str) -> Any:
    """Learn all of `statements` in an order of its own."""
    said = statements()
    random.Random(seed).shuffle(said)
    for statement in said:
        memory.knowledge.learn(statement)
    return len(said)


TASKS = {"forget": forget, "change": change, "edit": edit, "edit_once": edit_once, "learn": learn}


def work(home: Path, address: str, task: str, *given: str) -> None:
    with recollect.open(home=home, database=address) as memory:
        if task == "forget":
            with suppress(NotFound):  # Loads all that the act needs, so that the time of a kill is the act's.
                memory.forget(message="nothing of this name")
            memory.recall.waiting()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        sys.stdin.readline()
        sys.stdout.write(json.dumps(TASKS[task](memory, *given)) + "\n")


if __name__ == "__main__":
    work(Path(sys.argv[1]), sys.argv[2], sys.argv[3], *sys.argv[4:])
