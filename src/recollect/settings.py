"""Settings: the only reader of the environment and of `recollect.toml`.

Order, strongest first: an argument, an environment variable, `recollect.toml` in the home, the default.
Checked with msgspec (already here for JSON lines, and quick to import); an unknown key or a wrong type is an
error that names the key and the file.
"""

import os
import re
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from recollect.errors import Denied, Invalid

CONFIG_NAME = "recollect.toml"


class SectionSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One section of a pipeline. What is not given stays as it is by default."""

    name: str
    source: str | None = None
    heading: str | None = None
    budget_tokens: int | None = None
    order: int | None = None
    keep: str | None = None
    messages: int | None = None
    shown: bool = True
    """False: the pipeline does without it."""


class PipelineSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[pipelines.NAME]`. `recollect.context.pipelines` says what it may hold, and checks it."""

    budget_tokens: int | None = None
    sections: list[SectionSettings] = []


class LibrarianSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[librarian]`."""

    model: str = "rules"
    """`rules`, `anthropic:MODEL`, `http(s)://…/v1#MODEL`, `claude`, `claude:MODEL`, `codex`, `codex:MODEL`, `none`."""
    key_variable: str = ""
    """The variable that holds the key; no file does. Empty: that of Anthropic or OpenAI for their own servers."""
    tokens_per_day: int = 0
    """The most tokens of a day, in and out. 0: no such ceiling. With none the daemon asks no paid model by itself."""
    dollars_per_day: float = 0
    """The same in money."""
    price_per_million: list[float] = []
    """[input, output] in dollars, for a model that the kept table of prices does not know."""
    reflect_at: str = "03:30"
    """When the nightly reflection is due, local time. Empty: never by itself."""
    night_share: float = 0.1
    """The most of all records that one night may change."""


class MindSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[mind]`."""

    model: str = ""
    """`anthropic:MODEL` or `http(s)://…/v1#MODEL`. Empty: nobody answers."""
    key_variable: str = ""
    """The variable that holds the key; no file does. Empty: that of Anthropic or OpenAI for their own servers."""
    price_per_million: list[float] = []
    """[input, output] in dollars, for a model that the kept table of prices does not know."""
    dollars_per_day: float = 0
    """The most that the conversation may cost in a day. 0: no such ceiling."""
    compact_at_tokens: int = 100_000
    """When the conversation is longer than this, its older part is condensed."""
    keep_warm_hours: float = 12
    """How long into a silence the provider's cache is kept from lapsing, where that is cheaper than writing it anew."""


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename={"home": "_home"}):
    """Every setting with its default. `docs/settings.md` explains each; a test keeps the two equal."""

    home: Path = Path()
    house: str = "home"
    database: str = ""
    """Empty: `recollect.db` in the home. Else a path, or `postgresql://…`."""
    agent_name: str = "assistant"
    """The house's own agent: whose notes a person reads and writes where no other agent is named."""
    user_name: str = ""
    """What agents call the person. Empty: "the user"."""
    enabled: bool = True
    """Whether `recollect up` takes in transcripts by itself."""
    watch_paths: list[str] = []
    """Empty: the folders of the agents found on this computer."""
    conversation_gap_minutes: float = 60
    """A longer silence than this ends a conversation."""
    poll_interval_seconds: float = 30
    """How often `recollect up` scans everything: watcher events are only hints."""
    min_conversation_messages: int = 5
    """A shorter conversation is skipped when it would be queued for the librarian."""
    keep_raw: bool = True
    """Keep each raw line as it was read. False: keep it with its secrets masked."""
    models_folder: str = ""
    """Where fetched models lie. Empty: `recollect/models` in the person's cache folder, shared by all homes."""
    deep_model: str = "e5-small-v2"
    """A known model, `http(s)://…/v1#model`, or a folder. Empty: none."""
    rerank_model: str = "ms-marco-minilm-l12"
    """A known model or a folder. Empty: none."""
    embedding_key_variable: str = "OPENAI_API_KEY"
    """The variable that holds the key of an embedding endpoint. The key itself is never in a file of ours."""
    fetch_models: bool = True
    """Whether `recollect up` fetches those two, if they are known ones and not here."""
    models_idle_seconds: float = 300
    """A model that nobody used for so long is dropped from memory."""
    use_gpu: bool = False
    """Let local models run on a GPU, where onnxruntime offers one."""
    prompt_gap_minutes: float = 60
    """After a longer silence than this a system prompt is built anew."""
    librarian: LibrarianSettings = LibrarianSettings()
    """Who files finished conversations, and what that may cost."""
    mind: MindSettings = MindSettings()
    """Who answers, and how long its conversation may become."""
    pipelines: dict[str, PipelineSettings] = {}
    """What is put into contexts, where it differs from the usual; and contexts of one's own."""

    @property
    def database_url(self) -> str:
        return self.database or str(self.home / "recollect.db")

    @property
    def runtime(self) -> Path:
        """Lock and status of a running daemon. Nothing in it is an only copy."""
        return self.home / "runtime"

    @property
    def models(self) -> Path:
        """Where fetched models lie. All of it can be fetched again."""
        return Path(self.models_folder).expanduser() if self.models_folder else default_models()

    def librarian_key(self, usual: str) -> str:
        """The key of the librarian's model, from the variable of the settings or the usual one."""
        variable = self.librarian.key_variable or usual
        return os.environ.get(variable, "").strip() if variable else ""

    def mind_key(self, usual: str) -> str:
        """The key of the mind's model, from the variable of the settings or the usual one."""
        variable = self.mind.key_variable or usual
        return os.environ.get(variable, "").strip() if variable else ""

    def anthropic_url(self) -> str:
        """Where Anthropic's API is, if not at its own place."""
        return os.environ.get("ANTHROPIC_BASE_URL", "").strip()

    def embedding_key(self) -> str:
        """Asked for when it is needed, so that it is in no value that could be printed."""
        return os.environ.get(self.embedding_key_variable, "").strip()


def telemetry_endpoint() -> str:
    """Where spans are sent, by the variables that OpenTelemetry has for it. Empty: nowhere."""
    if os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return ""
    if os.environ.get("OTEL_EXPORTER_OTLP_PROTOCOL", "").strip() not in ("", "http/protobuf"):
        return ""
    whole = os.environ.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "").strip()
    base = os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT", "").strip()
    return whole or (f"{base.rstrip('/')}/v1/traces" if base else "")


def default_models() -> Path:
    """`recollect/models` in the folder for what can be had again."""
    return Path(this_computer().cache_folder) / "recollect" / "models"


def default_home() -> Path:
    configured = os.environ.get("RECOLLECT_HOME")
    return Path(configured).expanduser() if configured else Path.home() / ".recollect"


def load_settings(home: Path | str | None = None, database: str | None = None) -> Settings:
    folder = Path(os.path.abspath(Path(home).expanduser() if home else default_home()))
    settings = _read_config(folder / CONFIG_NAME)
    changes: dict[str, object] = {"home": folder}
    chosen = database or os.environ.get("RECOLLECT_DB")
    if chosen:
        changes["database"] = chosen
    models = os.environ.get("RECOLLECT_MODELS")
    if models:
        changes["models_folder"] = models
    changes["mind"] = msgspec.structs.replace(settings.mind, model=settings.mind.model.strip())
    changes["librarian"] = msgspec.structs.replace(settings.librarian, model=settings.librarian.model.strip())
    settings = msgspec.structs.replace(settings, **changes)
    _check_ranges(settings, folder / CONFIG_NAME)
    return settings


def _read_config(path: Path) -> Settings:
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return Settings()
    except PermissionError as error:
        raise Denied(f"{path} may not be read: {error.strerror}. Check its permissions.") from error
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror}. It must be a TOML file.") from error
    except UnicodeDecodeError as error:
        raise Invalid(f"{path} is not UTF-8 text: {error.reason} at byte {error.start}. Save it as UTF-8.") from error
    try:
        return msgspec.convert(tomllib.loads(text), Settings)
    except tomllib.TOMLDecodeError as error:
        raise Invalid(f"{path} is not valid TOML: {error}. Mend that line or move the file away.") from error
    except msgspec.ValidationError as error:
        raise Invalid(f"{path}: {error}. {_known_names(str(error))}") from error


def _known_names(error: str) -> str:
    """What may stand where an error was found."""
    if "$.librarian" in error:
        return f"[librarian] has: {', '.join(LibrarianSettings.__struct_fields__)}."
    if "$.mind" in error:
        return f"[mind] has: {', '.join(MindSettings.__struct_fields__)}."
    if "$.pipelines" not in error:
        return f"The settings are: {', '.join(name for name in Settings.__struct_fields__ if name != 'home')}."
    section, pipeline = ", ".join(SectionSettings.__struct_fields__), ", ".join(PipelineSettings.__struct_fields__)
    return f"A pipeline has: {pipeline}. A section has: {section}."


def _check_ranges(settings: Settings, path: Path) -> None:
    for name, value, lowest, highest in (
        ("conversation_gap_minutes", settings.conversation_gap_minutes, 0.001, 525_600),
        ("poll_interval_seconds", settings.poll_interval_seconds, 0.1, 86_400),
        ("min_conversation_messages", settings.min_conversation_messages, 0, 1_000_000),
        ("models_idle_seconds", settings.models_idle_seconds, 1, 86_400),
        ("prompt_gap_minutes", settings.prompt_gap_minutes, 0.001, 525_600),
    ):
        if not lowest <= value <= highest:
            raise Invalid(f"{path}: {name} is {value}, but must be from {lowest} to {highest}.")
    librarian = settings.librarian
    for name, value, highest in (
        ("tokens_per_day", librarian.tokens_per_day, 1e12),
        ("dollars_per_day", librarian.dollars_per_day, 1e6),
        ("night_share", librarian.night_share, 1),
    ):
        if not 0 <= value <= highest:
            raise Invalid(f"{path}: librarian.{name} is {value}, but must be from 0 to {highest:g}.")
    mind = settings.mind
    for name, value, lowest, highest in (
        ("dollars_per_day", mind.dollars_per_day, 0, 1e6),
        ("compact_at_tokens", mind.compact_at_tokens, 2_000, 10_000_000),
        ("keep_warm_hours", mind.keep_warm_hours, 0, 48),
    ):
        if not lowest <= value <= highest:
            raise Invalid(f"{path}: mind.{name} is {value}, but must be from {lowest:,} to {highest:,.0f}.")
    for table, prices in (("librarian", librarian.price_per_million), ("mind", mind.price_per_million)):
        if prices and (len(prices) != 2 or not all(0 <= price <= 10_000 for price in prices)):
            raise Invalid(f"{path}: {table}.price_per_million is {prices}, but must be [input, output] in dollars.")
    if librarian.reflect_at and not re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", librarian.reflect_at):
        raise Invalid(f"{path}: librarian.reflect_at is {librarian.reflect_at!r}, but must be a time such as 03:30.")
    if not settings.house or not settings.house.replace("-", "").replace("_", "").isalnum():
        raise Invalid(f"{path}: house {settings.house!r} must be letters, digits, '-' and '_'.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Computer:
    """Where things lie on somebody's computer. A value, so that every system can be tested on any."""

    home: str
    system: str
    """linux, macos or windows."""
    environment: Mapping[str, str] = field(default_factory=dict[str, str])

    def below_home(self, *parts: str) -> str:
        return "/".join((self.home, *parts))

    def configured(self, variable: str, *default: str) -> str:
        """The folder that a variable names, else the one below the home."""
        named = self.environment.get(variable, "").strip()
        if named.startswith("~/"):
            named = self.below_home(named[2:])
        return named.rstrip("/") or self.below_home(*default)

    @property
    def data_folder(self) -> str:
        """Where programs that follow the XDG rules keep data; most of those we read do so on every system."""
        return self.configured("XDG_DATA_HOME", ".local", "share")

    @property
    def cache_folder(self) -> str:
        """Where this system keeps what can be had again."""
        if self.system == "windows":
            return self.configured("LOCALAPPDATA", "AppData", "Local")
        if self.system == "macos":
            return self.below_home("Library", "Caches")
        return self.configured("XDG_CACHE_HOME", ".cache")


def this_computer() -> Computer:
    system = {"darwin": "macos", "win32": "windows"}.get(sys.platform, "linux")
    return Computer(home=Path.home().as_posix(), system=system, environment=dict(os.environ))
