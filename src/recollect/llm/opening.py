"""From a name in the settings to a model that can be asked."""

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from recollect.errors import Denied, Invalid
from recollect.llm.addresses import is_own_server

if TYPE_CHECKING:
    from recollect.llm.model import ChatModel
    from recollect.llm.talking import TalkModel
    from recollect.settings import ModelTable, Settings

OPENAI_HOST = "api.openai.com"
TALKING_FORMS = "anthropic:MODEL, http(s)://HOST/v1#MODEL"
FORMS = "rules, anthropic:MODEL, http(s)://HOST/v1#MODEL, claude, claude:MODEL, codex, codex:MODEL, none"


def open_model(settings: "Settings") -> "ChatModel | None":
    """The librarian's model, new each time: an object is a session. None: it works by rules, or not at all."""
    named = settings.librarian.model.strip()
    kind, _, model = named.partition(":")
    if named in ("rules", "none"):
        return None
    if kind == "claude" and named != "claude:":
        from recollect.llm.claude_command import ClaudeCommand

        return ClaudeCommand(model)
    if kind == "codex" and named != "codex:":
        from recollect.llm.codex_command import CodexCommand

        return CodexCommand(model)
    found = _chat(settings, "librarian", named)
    if found is None:
        raise Invalid(
            f"librarian.model is {named!r}, which is no model. In recollect.toml, [librarian], write one of: {FORMS}."
        )
    return found


def open_chat(settings: "Settings", table: "ModelTable") -> "ChatModel":
    """The model of a table whose models also talk, for one prompt and one checked object."""
    named = getattr(settings, table).model.strip()
    found = _chat(settings, table, named)
    if found is None:
        raise _no_talker(table, named)
    return found


def open_talk(settings: "Settings", table: "ModelTable" = "mind") -> "TalkModel":
    """A model that talks. `Invalid` where none is named: without one nobody answers."""
    named = getattr(settings, table).model.strip()
    kind, _, model = named.partition(":")
    if kind == "anthropic" and model:
        from recollect.llm.anthropic_talk import AnthropicTalk

        return AnthropicTalk(model, _anthropic_key(settings, table, named), base_url=settings.anthropic_url())
    if kind in ("http", "https"):
        from recollect.llm.openai_talk import OpenAITalk

        return OpenAITalk(*_server(settings, table, named))
    raise _no_talker(table, named)


def _chat(settings: "Settings", table: "ModelTable", named: str) -> "ChatModel | None":
    kind, _, model = named.partition(":")
    if kind == "anthropic" and model:
        from recollect.llm.anthropic import AnthropicModel

        return AnthropicModel(model, _anthropic_key(settings, table, named), base_url=settings.anthropic_url())
    if kind in ("http", "https"):
        from recollect.llm.openai import OpenAIModel

        return OpenAIModel(*_server(settings, table, named))
    return None


def _no_talker(table: str, named: str) -> Invalid:
    if not named:
        return Invalid(
            f"No model is set that could answer. In recollect.toml, [{table}], write model as one of: {TALKING_FORMS}."
        )
    return Invalid(
        f"{table}.model is {named!r}, which is no model that talks. In recollect.toml, [{table}], write one of: "
        f"{TALKING_FORMS}."
    )


def check_talker(settings: "Settings", table: "ModelTable") -> None:
    """Raises what would keep a model that talks from being opened: its name, its key. Loads nothing."""
    named = getattr(settings, table).model.strip()
    kind, _, model = named.partition(":")
    if kind == "anthropic" and model:
        _anthropic_key(settings, table, named)
    elif kind in ("http", "https"):
        _server(settings, table, named)
    else:
        raise _no_talker(table, named)


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


def _anthropic_key(settings: "Settings", table: "ModelTable", named: str) -> str:
    return _key(settings, table, named, "ANTHROPIC_API_KEY")


def _key(settings: "Settings", table: "ModelTable", named: str, usual: str) -> str:
    """`usual`: empty where the model may do without one."""
    key = settings.model_key(table, usual)
    if usual and not key:
        variable = getattr(settings, table).key_variable or usual
        raise Denied(f"{named} needs a key: put it into the environment variable {variable}.")
    return key


def _server(settings: "Settings", table: "ModelTable", named: str) -> tuple[str, str, str]:
    """(address, model, key). A server may do without a key; one that does not says so itself, but for OpenAI's own,
    which nobody has to ask. The usual key of OpenAI goes to OpenAI alone."""
    url, _, model = named.partition("#")
    try:
        parts = urlsplit(url)
        is_sound = bool(parts.hostname) and parts.username is None
    except ValueError:
        is_sound = False
    if not is_sound or not model:
        raise Invalid(
            f"{table}.model is no address of a model. Write https://HOST/v1#MODEL, and the key into the environment "
            f"variable that {table}.key_variable names."
        )
    usual = "OPENAI_API_KEY" if urlsplit(url).hostname == OPENAI_HOST else ""
    return url.rstrip("/"), model, _key(settings, table, named, usual)
