"""From a name in the settings to a model."""

import asyncio
from pathlib import Path

import pytest
from pydantic import BaseModel

from recollect.errors import Denied, Invalid
from recollect.llm.opening import is_paid as is_paid_for
from recollect.llm.opening import open_model, open_talk
from recollect.settings import Settings, load_settings
from recollect.testing import OpenAIServer


def settings_with(home: Path, model: str, more: str = "") -> Settings:
    home.mkdir(exist_ok=True)
    (home / "recollect.toml").write_text(f'[librarian]\nmodel = "{model}"\n{more}', encoding="utf-8")
    return load_settings(home)


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("name", ["rules", "none", " rules "])
def test_without_a_model_there_is_none(home: Path, name: str):
    assert open_model(settings_with(home, name)) is None


@pytest.mark.parametrize(
    ("name", "is_paid"),
    [
        ("anthropic:claude-haiku-5-5", True),
        ("https://api.openai.com/v1#gpt-6-luna", True),
        ("http://127.0.0.1:8080/v1#qwen", False),
        ("claude", True),
        ("claude:haiku", True),
        ("codex", True),
        ("codex:gpt-6-luna", True),
    ],
)
def test_each_form_opens_a_model_that_bears_its_name(
    home: Path, name: str, is_paid: bool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k" * 20)
    monkeypatch.setenv("OPENAI_API_KEY", "k" * 20)
    model = open_model(settings_with(home, name))
    assert model is not None
    assert (model.name, model.is_paid) == (name, is_paid)


def test_a_server_on_this_computer_is_paid_for_if_the_settings_give_a_price(home: Path):
    assert not is_paid_for(settings_with(home, "http://127.0.0.1:4000/v1#m"))
    assert not is_paid_for(settings_with(home, "http://127.0.0.1:4000/v1#m", "price_per_million = [0, 0]"))
    assert is_paid_for(settings_with(home, "http://127.0.0.1:4000/v1#m", "price_per_million = [1, 5]"))


def test_a_missing_key_is_told_with_its_variable(home: Path):
    with pytest.raises(Denied, match="ANTHROPIC_API_KEY"):
        open_model(settings_with(home, "anthropic:claude-haiku-5-5"))
    with pytest.raises(Denied, match="MY_KEY"):
        open_model(settings_with(home, "anthropic:claude-haiku-5-5", 'key_variable = "MY_KEY"'))
    with pytest.raises(Denied, match="OPENAI_API_KEY"):
        open_model(settings_with(home, "https://api.openai.com/v1#gpt-6-luna"))


def test_anthropics_address_can_be_another_one(home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k" * 20)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    model = open_model(settings_with(home, "anthropic:claude-haiku-5-5"))
    assert model is not None
    assert not model.is_paid


@pytest.mark.parametrize("name", ["", "gpt-5", "anthropic", "anthropic:", "claude:", "codex:", "ollama:qwen"])
def test_what_is_no_model_is_told_with_the_forms_there_are(home: Path, name: str):
    with pytest.raises(Invalid, match=r"anthropic:MODEL.*claude:MODEL.*none"):
        open_model(settings_with(home, name))


@pytest.mark.parametrize(
    "name", ["https://models.example/v1", "https:///v1#m", "https://me:secret@models.example/v1#m"]
)
def test_an_address_that_is_none_is_told_without_what_it_hides(home: Path, name: str):
    with pytest.raises(Invalid, match="https://HOST/v1#MODEL") as invalid:
        open_model(settings_with(home, name))
    assert "secret" not in str(invalid.value)


def keys_sent_to(server: OpenAIServer, settings: Settings) -> list[str]:
    model = open_model(settings)
    assert model is not None

    async def ask() -> None:
        await model.complete("", "Say hello.", Hello)
        await model.close()

    asyncio.run(ask())
    return [request.headers.get("authorization", "") for request in server.requests]


class Hello(BaseModel):
    word: str


def test_the_usual_key_of_openai_goes_to_no_other_server(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "o" * 20)
    monkeypatch.setenv("MINE", "m" * 20)
    with OpenAIServer(models=["tiny"]) as server:
        server.script({"word": "hello"}, {"word": "hello"})
        named = f"{server.base_url}#tiny"
        keys_sent_to(server, settings_with(home, named))
        keys = keys_sent_to(server, settings_with(home, named, 'key_variable = "MINE"\n'))
    assert "o" * 20 not in "".join(keys)
    assert keys[-1].endswith("m" * 20)


def talking_with(home: Path, model: str, more: str = "") -> Settings:
    home.mkdir(exist_ok=True)
    (home / "recollect.toml").write_text(f'[mind]\nmodel = "{model}"\n{more}', encoding="utf-8")
    return load_settings(home)


@pytest.mark.parametrize(
    ("name", "is_paid"),
    [
        ("anthropic:claude-opus-5-5", True),
        ("https://api.openai.com/v1#gpt-6-luna", True),
        ("http://127.0.0.1:8080/v1#qwen", False),
    ],
)
def test_each_form_opens_a_model_that_talks(home: Path, name: str, is_paid: bool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k" * 20)
    monkeypatch.setenv("OPENAI_API_KEY", "k" * 20)
    model = open_talk(talking_with(home, name))
    assert (model.name, model.is_paid) == (name, is_paid)


@pytest.mark.parametrize(
    "name", ["", "rules", "claude", "anthropic:", "http://127.0.0.1:8080/v1", "https://u:p@h/v1#m"]
)
def test_what_cannot_talk_is_told_with_what_to_write(home: Path, name: str):
    with pytest.raises(Invalid, match="mind") as told:
        open_talk(talking_with(home, name))
    assert "MODEL" in str(told.value)


@pytest.mark.parametrize("name", ["anthropic:claude-opus-5-5", "https://api.openai.com/v1#gpt-6-luna"])
def test_a_model_that_talks_without_a_key_names_the_variable(home: Path, name: str):
    with pytest.raises(Denied, match="MY_KEY"):
        open_talk(talking_with(home, name, 'key_variable = "MY_KEY"'))
    with pytest.raises(Denied, match="_API_KEY"):
        open_talk(talking_with(home, name))
