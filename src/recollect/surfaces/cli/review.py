"""review, questions."""

from typing import TYPE_CHECKING

import click

from recollect.errors import NotFound
from recollect.surfaces.cli.output import amount, on_one_line, print_json, say, style, table, when
from recollect.surfaces.cli.place import Place, json_option
from recollect.surfaces.shapes.records import record_json
from recollect.surfaces.shapes.review import proposal_json, question_json, waiting_note_json

if TYPE_CHECKING:
    from recollect.memory import Memory

WHAT = {"retract": "you deleted its line: is it no longer so?", "replace": "a conversation says otherwise: replace?"}


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def review(context: click.Context, as_json: bool) -> None:
    """Decide what waits for you; without a command, list it.

    The librarian never replaces what you wrote. What it would do, and lines that you deleted from a shelf, wait here;
    so do changes of an agent's soul.
    """
    if context.invoked_subcommand is None:
        context.invoke(review_list, as_json=as_json)
    elif as_json:
        raise click.UsageError(f"Give --json after the command: {context.invoked_subcommand} … --json.")


@review.command("list")
@json_option
@click.pass_obj
def review_list(place: Place, as_json: bool) -> None:
    """List what waits, the oldest first."""
    with place.open() as memory:
        memory.librarian.tidy()
        proposals, versions = memory.librarian.proposals(), memory.notes.reviews()
        known = memory.knowledge.shown([one.record_id for one in proposals])
    if as_json:
        print_json([*(proposal_json(one, known) for one in proposals), *(waiting_note_json(one) for one in versions)])
        return
    if not proposals and not versions:
        say("Nothing waits for you.")
        return
    for number, one in enumerate(proposals, 1):
        say(f"{style(f'{number:3}', 'bold')}  {on_one_line(one.text)}")
        record = known.get(one.record_id)
        if one.kind == "replace" and record:
            say(f"     instead of: {on_one_line(record.text)}")
        say(style(f"     {WHAT[one.kind]}  {one.path or when(one.made_at)}  {one.id[:8]}", "dim"))
    for version in versions:
        say(f"  ✎  {version.path} version {version.number}, {on_one_line(version.reason)}")
        say(style(f"     {place.invocation()} notes review", "dim"))
    if proposals:
        say(f"\n{place.invocation()} review accept N, or review reject N")


@review.command()
@click.argument("names", nargs=-1, required=True, metavar="N…")
@json_option
@click.pass_obj
def accept(place: Place, names: tuple[str, ...], as_json: bool) -> None:
    """Do what is proposed. N is its number in the list, or the start of its id."""
    _decide(place, names, as_json, is_accepted=True)


@review.command()
@click.argument("names", nargs=-1, required=True, metavar="N…")
@json_option
@click.pass_obj
def reject(place: Place, names: tuple[str, ...], as_json: bool) -> None:
    """Do not; a deleted line comes back. N is its number in the list, or the start of its id."""
    _decide(place, names, as_json, is_accepted=False)


def _decide(place: Place, names: tuple[str, ...], as_json: bool, *, is_accepted: bool) -> None:
    with place.open() as memory:
        librarian = memory.librarian
        ids = [one.id for one in librarian.proposals()]
        chosen = dict.fromkeys(_numbered(ids, name) for name in names)
        decide = librarian.accept if is_accepted else librarian.reject
        records = [decide(one) for one in chosen]
    if as_json:
        print_json([record_json(record) if record else None for record in records])
        return
    for record in records:
        state = f"{record.state}: {on_one_line(record.text)}" if record else "its record is not there any more"
        say(f"{'Accepted' if is_accepted else 'Rejected'}; {state}")


def _numbered(ids: list[str], name: str) -> str:
    """By its number in the list, else as it is. An id never has so few digits."""
    if not (name.isdecimal() and len(name) <= 4):
        return name
    if not 1 <= int(name) <= len(ids):
        raise NotFound(f"There is no number {name}: the list has {len(ids):,}.")
    return ids[int(name) - 1]


# Questions


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def questions(context: click.Context, as_json: bool) -> None:
    """What the librarian asks; without a command, list it.

    It asks what it cannot know by itself: whether two people of one name are one, what contradicts itself.

    Answer here, or in `questions.md` of your notes.
    """
    if context.invoked_subcommand is None:
        context.invoke(question_list, as_json=as_json)
    elif as_json:
        raise click.UsageError(f"Give --json after the command: {context.invoked_subcommand} … --json.")


@questions.command("list")
@json_option
@click.pass_obj
def question_list(place: Place, as_json: bool) -> None:
    """List open questions, the oldest first."""
    with place.open() as memory:
        found = memory.librarian.questions()
    if as_json:
        print_json([question_json(one) for one in found])
    elif found:
        rows = [(number, one.id[:8], on_one_line(one.text)) for number, one in enumerate(found, 1)]
        table(("n", "id", "question"), rows, right=(0,), is_whole=True)
        say(f"\n{place.invocation()} questions answer N TEXT")
    else:
        say("No question is open.")


@questions.command("answer")
@click.argument("name", metavar="N")
@click.argument("text", nargs=-1, required=True)
@json_option
@click.pass_obj
def answer_question(place: Place, name: str, text: tuple[str, ...], as_json: bool) -> None:
    """Answer one. N is its number in the list, or the start of its id."""
    with place.open() as memory:
        chosen = _numbered(_question_ids(memory), name)
        done = memory.librarian.answer(chosen, " ".join(text))
    if as_json:
        print_json({"done": done})
    else:
        say(f"Thank you: {on_one_line(done)}.")


@questions.command("drop")
@click.argument("names", nargs=-1, required=True, metavar="N…")
@json_option
@click.pass_obj
def drop_question(place: Place, names: tuple[str, ...], as_json: bool) -> None:
    """Let a question go unanswered. N is its number in the list, or the start of its id."""
    with place.open() as memory:
        ids = _question_ids(memory)
        chosen = dict.fromkeys(_numbered(ids, name) for name in names)
        for one in chosen:
            memory.librarian.drop_question(one)
    if as_json:
        print_json({"dropped": len(chosen)})
    else:
        say(f"{amount(len(chosen), 'question')} dropped.")


def _question_ids(memory: "Memory") -> list[str]:
    return [one.id for one in memory.librarian.questions()]
