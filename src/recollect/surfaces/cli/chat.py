"""chat."""

import sys
from typing import TYPE_CHECKING, Any

import click

from recollect.errors import Invalid
from recollect.llm.model import BadReply
from recollect.surfaces.cli.output import amount, is_terminal, print_json
from recollect.surfaces.cli.place import Place, json_option

if TYPE_CHECKING:
    from recollect.channels.once import Answered
    from recollect.memory import Memory
    from recollect.mind.channel import Reply
    from recollect.mind.mind import Mind

MOST_BYTES = 16_000_000
"""Of a message. No model takes as much; more is a mistake, such as a disk image."""
LATEST_TURNS = 20
"""Among so many is the one that was just answered, also where other agents speak meanwhile."""
NOBODY = """\
Nobody is there to answer: no model is named. Write one into
{path}, for example
  [mind]
  model = "anthropic:claude-opus-5-5"
with its key in the environment variable ANTHROPIC_API_KEY; or one that runs on
your own computer, with a server that speaks OpenAI's way
  [mind]
  model = "http://localhost:11434/v1#qwen3:8b\""""


@click.command()
@click.argument("words", nargs=-1, metavar="[WORDS]…")
@click.option("--image", "paths", multiple=True, metavar="PATH", help="Show a picture with it. May be given again.")
@click.option("--agent", default="", metavar="NAME", help="With this agent. Default: the house's own.")
@json_option
@click.pass_obj
def chat(place: Place, words: tuple[str, ...], paths: tuple[str, ...], agent: str, as_json: bool) -> None:
    """Talk with the agent.

    It is one conversation, whichever way you talk, and it goes on where it was. Without WORDS on a terminal you sit
    down to it: /help tells what can be done there. With WORDS, or without them with a message on standard input, the
    answer is printed and the command ends.
    """
    import asyncio

    from recollect.loading import load_parts

    is_sitting = not (words or paths or as_json) and sys.stdin.isatty() and sys.stdout.isatty()
    text = "" if is_sitting else _given(words, has_images=bool(paths))
    with place.open() as memory:
        if not memory.settings.mind.model.strip():
            raise Invalid(NOBODY.format(path=memory.settings.config_path))
        load_parts()
        mind = memory.mind(agent)
        if is_sitting:
            asyncio.run(_sit(memory, mind))
        else:
            _tell(memory, agent, asyncio.run(_ask(mind, text, paths, as_json)), as_json)


def _given(words: tuple[str, ...], *, has_images: bool) -> str:
    text = " ".join(words)
    if not text and not sys.stdin.isatty() and not has_images:
        text = _decoded(sys.stdin.buffer.read(MOST_BYTES + 1))
    try:
        text.encode()
    except UnicodeEncodeError:
        raise click.UsageError("What you say is not UTF-8 text. Convert it first, for example with iconv.") from None
    if not text.strip() and not has_images:
        raise click.UsageError("Nothing was said. Give WORDS, or a message on standard input.")
    return text


def _decoded(content: bytes) -> str:
    if len(content) > MOST_BYTES:
        raise Invalid(f"A message holds {MOST_BYTES / 1_000_000:.0f} MB at most. Say it in parts.")
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise Invalid("Standard input is not UTF-8 text. Convert it first, for example with iconv.") from None


async def _sit(memory: "Memory", mind: "Mind") -> None:
    from recollect.channels.page import Page
    from recollect.channels.sitting import Sitting

    await Sitting(mind, Page(has_colours=is_terminal()), lambda: costs_line(memory)).run()


async def _ask(mind: "Mind", text: str, paths: tuple[str, ...], as_json: bool) -> "Answered":
    """On a terminal the words are shown as they come, in a pipe all of them together."""
    from recollect.channels.cleaning import cleaned
    from recollect.channels.images import image_in
    from recollect.channels.once import ask_once
    from recollect.channels.page import Page

    page = Page(has_colours=is_terminal())

    def draw() -> None:
        shown = page.take_all()
        if sys.stdout.isatty() and not as_json:
            sys.stdout.write(shown)
            sys.stdout.flush()

    def tell(reply: "Reply") -> None:
        if reply.state != "failed" and not as_json and not sys.stdout.isatty():
            sys.stdout.write(cleaned(reply.text).rstrip("\n") + "\n")
            sys.stdout.flush()

    return await ask_once(mind, text, tuple(map(image_in, paths)), page, draw, tell)


def _tell(memory: "Memory", agent: str, answered: "Answered", as_json: bool) -> None:
    from recollect.channels.cleaning import cleaned

    reply, error = answered.reply, answered.done.error if answered.done else None
    if as_json:
        print_json({**_answered_json(answered), **_spent(memory, agent, reply.turn)})
    elif reply.state == "failed":
        raise error or BadReply(cleaned(reply.text))
    if reply.state == "failed":
        sys.exit(error.exit_code if error else BadReply.exit_code)


def _answered_json(answered: "Answered") -> dict[str, Any]:
    tools = answered.done.tools if answered.done else []
    return {
        "reply": answered.reply.text,
        "turn": answered.reply.turn,
        "state": answered.reply.state,
        "tools": [{"name": one.name, "line": one.line, "error": one.is_error} for one in tools],
    }


def _spent(memory: "Memory", agent: str, turn: int) -> dict[str, Any]:
    """What the turn took so far. Nothing is told where nobody counted."""
    name = f"{agent or memory.settings.agent_name}#{turn}"
    spent = next((one for one in memory.spending.by_turn(LATEST_TURNS) if one.turn == name), None)
    if spent is None:
        return {}
    usage = {
        "input_tokens": spent.input_tokens,
        "cached_tokens": spent.cached_tokens,
        "written_tokens": spent.written_tokens,
        "output_tokens": spent.output_tokens,
    }
    return {"usage": usage, "cost_usd": spent.dollars}


def costs_line(memory: "Memory") -> str:
    """What today cost so far."""
    spent = memory.spending.by_day(1)
    if not spent:
        return "Today no model was asked."
    taken, out = sum(one.input_tokens for one in spent), sum(one.output_tokens for one in spent)
    cached = sum(one.cached_tokens for one in spent)
    calls, dollars = sum(one.calls for one in spent), sum(one.dollars for one in spent)
    share = f" ({cached / taken:.0%} from a cache)" if taken else ""
    return f"Today: {amount(calls, 'call')}, {taken:,} tokens in{share}, {out:,} out, ${dollars:,.4f}."
