"""From a name in the settings to a model that can be asked."""

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from recollect.errors import Denied, Invalid
from recollect.llm.addresses import is_own_server

if TYPE_CHECKING:
    from recollect.llm.model import ChatModel
    from recollect.llm.talking import TalkModel
    from recollect.settings import Settings

OPENAI_HOST = "api.openai.com"
TALKING_FORMS = "anthropic:MODEL, http(s)://HOST/v1#MODEL"
FORMS = "rules, anthropic:MODEL, http(s)://HOST/v1#MODEL, claude, claude:MODEL, codex, codex:MODEL, none"


def open_model(settings: "Settings") -> "ChatModel | None":
    """The librarian's model, new each time: an object is a session. None: it works by rules, or not at all."""
    named = settings.librarian.model.strip()
    kind, _, model = named.partition(":")
    if named in ("rules", "none"):
        return None
    if kind == "anthropic" and model:
        return _anthropic(settings, model)
    if kind in ("http", "https"):
        return _openai(settings, named)
    if kind == "claude" and named != "claude:":
        from recollect.llm.claude_command import ClaudeCommand

        return ClaudeCommand(model)
    if kind == "codex" and named != "codex:":
        from recollect.llm.codex_command import CodexCommand

        return CodexCommand(model)
    raise Invalid(
        f"librarian.model is {named!r}, which is no model. In recollect.toml, [librarian], write one of: {FORMS}."
    )


def open_talk(settings: "Settings") -> "TalkModel":
    """The mind's model. `Invalid` where none is named: without one nobody answers."""
    named = settings.mind.model.strip()
    kind, _, model = named.partition(":")
    if not named:
        raise Invalid(
            f"No model is set that could answer. In recollect.toml, [mind], write model as one of: {TALKING_FORMS}."
        )
    if kind == "anthropic" and model:
        return _anthropic_talk(settings, model)
    if kind in ("http", "https"):
        return _openai_talk(settings, named)
    raise Invalid(
        f"mind.model is {named!r}, which is no model that talks. In recollect.toml, [mind], write one of: "
        f"{TALKING_FORMS}."
    )


def look_for_program(settings: "Settings") -> None:
    """Raises Unavailable where a command line is named that is not installed."""
    from recollect.llm import claude_command, codex_command
    from recollect.llm.commands import find_program

    program = settings.librarian.model.strip().partition(":")[0]
    installs = {"claude": claude_command.INSTALL, "codex": codex_command.INSTALL}
    if program in installs:
        find_program(program, installs[program])


def is_paid(settings: "Settings") -> bool:
    """Whether the librarian's model costs money or counts against a subscription; asked without a key."""
    named = settings.librarian.model.strip()
    if named in ("rules", "none"):
        return False
    if any(settings.librarian.price_per_million):
        return True
    if named.startswith("anthropic:"):
        return not is_own_server(settings.anthropic_url())
    return not named.startswith(("http://", "https://")) or not is_own_server(named.partition("#")[0])


def _anthropic(settings: "Settings", model: str) -> "ChatModel":
    usual = "ANTHROPIC_API_KEY"
    key = settings.librarian_key(usual)
    if not key:
        raise _without_key(settings.librarian.model, settings.librarian.key_variable or usual)
    from recollect.llm.anthropic import AnthropicModel

    return AnthropicModel(model, key, base_url=settings.anthropic_url())


def _anthropic_talk(settings: "Settings", model: str) -> "TalkModel":
    usual = "ANTHROPIC_API_KEY"
    key = settings.mind_key(usual)
    if not key:
        raise _without_key(settings.mind.model, settings.mind.key_variable or usual)
    from recollect.llm.anthropic_talk import AnthropicTalk

    return AnthropicTalk(model, key, base_url=settings.anthropic_url())


def _openai(settings: "Settings", named: str) -> "ChatModel":
    url, model, usual = _server(named, "librarian")
    key = settings.librarian_key(usual)
    if usual and not key:
        raise _without_key(named, settings.librarian.key_variable or usual)
    from recollect.llm.openai import OpenAIModel

    return OpenAIModel(url, model, key)


def _openai_talk(settings: "Settings", named: str) -> "TalkModel":
    url, model, usual = _server(named, "mind")
    key = settings.mind_key(usual)
    if usual and not key:
        raise _without_key(named, settings.mind.key_variable or usual)
    from recollect.llm.openai_talk import OpenAITalk

    return OpenAITalk(url, model, key)


def _server(named: str, part: str) -> tuple[str, str, str]:
    """(address, model, usual variable of its key). A server may do without a key; one that does not says so itself, but
    for OpenAI's own, which nobody has to ask. The usual key of OpenAI goes to OpenAI alone."""
    url, _, model = named.partition("#")
    try:
        parts = urlsplit(url)
        is_sound = bool(parts.hostname) and parts.username is None
    except ValueError:
        is_sound = False
    if not is_sound or not model:
        raise Invalid(
            f"{part}.model is no address of a model. Write https://HOST/v1#MODEL, and the key into the environment "
            f"variable that {part}.key_variable names."
        )
    return url.rstrip("/"), model, "OPENAI_API_KEY" if urlsplit(url).hostname == OPENAI_HOST else ""


def _without_key(named: str, variable: str) -> Denied:
    return Denied(f"{named.strip()} needs a key: put it into the environment variable {variable}.")
