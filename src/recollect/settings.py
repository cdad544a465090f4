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
from operator import attrgetter
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from recollect.clock import zone_named
from recollect.errors import Denied, Invalid

CONFIG_NAME = "recollect.toml"
RUNTIME = "runtime"
"""The folder in the home for what a running daemon leaves there."""
ModelTable: TypeAlias = Literal["librarian", "mind", "heartbeat"]
"""A table of the settings that names a model."""


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


class HeartbeatSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[heartbeat]`."""

    model: str = ""
    """`anthropic:MODEL` or `http(s)://…/v1#MODEL`: a cheap one will do. Empty: the agent has no moments of its own."""
    key_variable: str = ""
    """The variable that holds the key; no file does. Empty: that of Anthropic or OpenAI for their own servers."""
    price_per_million: list[float] = []
    """[input, output] in dollars, for a model that the kept table of prices does not know."""
    dollars_per_day: float = 0.5
    """The most that its moments may cost in a day. 0: no such ceiling."""
    schedule: str = "0 * * * *"
    """When it considers writing first: as in a crontab, in the person's zone. Empty: never."""
    reflection: str = "30 21 * * *"
    """When it looks back on the day, and may write its diary. Empty: never."""
    jitter_minutes: float = 10
    """By up to so much each of these times is late, so that it does not write on the hour."""
    quiet_hours: str = "22:00-08:00"
    """When it never writes first, in the person's zone. Empty: there are none."""
    most_per_day: int = 2
    """How often it writes first in a day at the most."""
    channel: str = ""
    """By which it writes first. Empty: the one the person last used."""
    messages: int = 20
    """Of the conversation, how many of the last it sees when it considers."""


class TelegramSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[telegram]`."""

    token_variable: str = ""
    """The variable that holds the token of the bot; no file does. Empty: no Telegram."""
    api_url: str = "https://api.telegram.org"
    """Another server of the Bot API than Telegram's own."""


class WebhookSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[webhook]`."""

    listen: str = ""
    """HOST:PORT where messages are received. Empty: nowhere."""
    url: str = ""
    """Where answers are sent. Empty: nowhere."""
    secret_variable: str = "RECOLLECT_WEBHOOK_SECRET"  # noqa: S105  the name of a variable
    """The variable that holds the secret which both sides sign with; no file does."""


class HttpSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[http]`."""

    listen: str = "127.0.0.1:7717"
    """HOST:PORT where other programs and browsers ask `recollect up`. Empty: nowhere."""
    hosts: list[str] = []
    """Further names by which it may be asked: those of a proxy in front of it, say. This computer's own always may."""
    certificate: str = ""
    """A file with the certificate for TLS, and those that vouch for it."""
    private_key: str = ""
    """The file with its private key."""
    is_public: bool = False
    """Whether it may listen where others than this computer reach it without TLS."""


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
    zone: str = ""
    """The person's time zone, such as Europe/Berlin. Empty: that of this computer."""
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
    heartbeat: HeartbeatSettings = HeartbeatSettings()
    """When the agent has moments of its own, and whether it may write first then."""
    telegram: TelegramSettings = TelegramSettings()
    """The bot by which it talks."""
    webhook: WebhookSettings = WebhookSettings()
    """The way to any other service."""
    http: HttpSettings = HttpSettings()
    """Where other programs ask it over HTTP and MCP."""
    pipelines: dict[str, PipelineSettings] = {}
    """What is put into contexts, where it differs from the usual; and contexts of one's own."""

    @property
    def database_url(self) -> str:
        return self.database or str(self.home / "recollect.db")

    @property
    def config_path(self) -> Path:
        """Where these settings stand, if anything does."""
        return self.home / CONFIG_NAME

    @property
    def runtime(self) -> Path:
        """Lock and status of a running daemon. Nothing in it is an only copy."""
        return self.home / RUNTIME

    @property
    def models(self) -> Path:
        """Where fetched models lie. All of it can be fetched again."""
        return Path(self.models_folder).expanduser() if self.models_folder else default_models()

    def model_key(self, table: ModelTable, usual: str) -> str:
        """The key of a model, from the variable of its table in the settings or the usual one."""
        chosen: LibrarianSettings | MindSettings | HeartbeatSettings = getattr(self, table)
        return _from_environment(chosen.key_variable or usual)

    def telegram_token(self) -> str:
        """Asked for when it is needed, so that it is in no value that could be printed."""
        return _from_environment(self.telegram.token_variable)

    def webhook_secret(self) -> str:
        return _from_environment(self.webhook.secret_variable)

    def anthropic_url(self) -> str:
        """Where Anthropic's API is, if not at its own place."""
        return os.environ.get("ANTHROPIC_BASE_URL", "").strip()

    def embedding_key(self) -> str:
        """Asked for when it is needed, so that it is in no value that could be printed."""
        return _from_environment(self.embedding_key_variable)


def _from_environment(variable: str) -> str:
    return os.environ.get(variable, "").strip() if variable else ""


VARIABLES = (
    "librarian.key_variable",
    "mind.key_variable",
    "heartbeat.key_variable",
    "telegram.token_variable",
    "webhook.secret_variable",
    "embedding_key_variable",
)
"""What names a variable. What stands there is never repeated: it may be what belongs into the variable."""
TABLES: dict[str, type[msgspec.Struct]] = {
    "librarian": LibrarianSettings,
    "mind": MindSettings,
    "heartbeat": HeartbeatSettings,
    "telegram": TelegramSettings,
    "webhook": WebhookSettings,
    "http": HttpSettings,
}


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


def is_default_home(home: Path) -> bool:
    """Whether it is found without being named."""
    return home == Path.home() / ".recollect"


def given_database(database: str | None = None) -> str:
    """What an argument or the environment says, without the file in the home. Empty: neither does."""
    return database or os.environ.get("RECOLLECT_DB") or ""


def home_folder(home: Path | str | None = None) -> Path:
    return Path(os.path.abspath(Path(home).expanduser() if home else default_home()))


def load_settings(home: Path | str | None = None, database: str | None = None) -> Settings:
    folder = home_folder(home)
    settings = _read_config(folder / CONFIG_NAME)
    changes: dict[str, object] = {"home": folder}
    if chosen := given_database(database):
        changes["database"] = chosen
    listen = os.environ.get("RECOLLECT_LISTEN")
    if listen is not None:
        changes["http"] = msgspec.structs.replace(settings.http, listen=listen.strip())
    models = os.environ.get("RECOLLECT_MODELS")
    if models:
        changes["models_folder"] = models
    for table, given in (
        ("mind", settings.mind),
        ("librarian", settings.librarian),
        ("heartbeat", settings.heartbeat),
    ):
        changes[table] = msgspec.structs.replace(given, model=given.model.strip())
    settings = msgspec.structs.replace(settings, **changes)
    _check(settings)
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
    for table, kind in TABLES.items():
        if f"$.{table}" in error:
            return f"[{table}] has: {', '.join(kind.__struct_fields__)}."
    if "$.pipelines" not in error:
        return f"The settings are: {', '.join(name for name in Settings.__struct_fields__ if name != 'home')}."
    section, pipeline = ", ".join(SectionSettings.__struct_fields__), ", ".join(PipelineSettings.__struct_fields__)
    return f"A pipeline has: {pipeline}. A section has: {section}."


RANGES = {
    "conversation_gap_minutes": (0.001, 525_600),
    "poll_interval_seconds": (0.1, 86_400),
    "min_conversation_messages": (0, 1_000_000),
    "models_idle_seconds": (1, 86_400),
    "prompt_gap_minutes": (0.001, 525_600),
    "librarian.tokens_per_day": (0, 1e12),
    "librarian.dollars_per_day": (0, 1e6),
    "librarian.night_share": (0, 1),
    "mind.dollars_per_day": (0, 1e6),
    "mind.compact_at_tokens": (2_000, 10_000_000),
    "mind.keep_warm_hours": (0, 48),
    "heartbeat.dollars_per_day": (0, 1e6),
    "heartbeat.jitter_minutes": (0, 720),
    "heartbeat.most_per_day": (0, 24),
    "heartbeat.messages": (0, 200),
}


def _check(settings: Settings) -> None:
    path = settings.config_path
    for name, (lowest, highest) in RANGES.items():
        value = attrgetter(name)(settings)
        if not lowest <= value <= highest:
            raise Invalid(f"{path}: {name} is {value}, but must be from {lowest:,} to {highest:,.12g}.")
    for table in ("librarian", "mind", "heartbeat"):
        prices: list[float] = getattr(settings, table).price_per_million
        if prices and (len(prices) != 2 or not all(0 <= price <= 10_000 for price in prices)):
            raise Invalid(f"{path}: {table}.price_per_million is {prices}, but must be [input, output] in dollars.")
    reflect_at = settings.librarian.reflect_at
    if reflect_at and not re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", reflect_at):
        raise Invalid(f"{path}: librarian.reflect_at is {reflect_at!r}, but must be a time such as 03:30.")
    for name in VARIABLES:
        value = attrgetter(name)(settings)
        if value and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,39}", value):
            raise Invalid(
                f"{path}: {name} must be the name of a variable of the environment, such as RECOLLECT_TOKEN, and what "
                "stands there is none. If it is the secret itself, take it out of the file, and make a new one."
            )
    if settings.zone:
        try:
            zone_named(settings.zone)
        except Invalid as error:
            raise Invalid(f"{path}: {error}") from None
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
