"""The Dockerfile and compose.yaml against the tree: what they copy, run and publish. No image is built here."""

import fnmatch
import json
import re
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from recollect.daemon.serving import listening_of
from recollect.errors import Invalid
from recollect.settings import HttpSettings, Settings
from recollect.surfaces.cli.main import app

ROOT = Path(__file__).resolve().parents[2]
INSTRUCTION = re.compile(r"^([A-Z]+) +(.*)$")


def instructions() -> list[tuple[str, str]]:
    """(instruction, its words), with continued lines as one."""
    text = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    found = [INSTRUCTION.match(line.strip()) for line in text.splitlines() if line.strip()]
    assert all(found)
    return [(one[1], " ".join(one[2].split())) for one in found if one]


def words_of(name: str) -> list[str]:
    return [words for instruction, words in instructions() if instruction == name]


def copied() -> list[str]:
    """What comes out of this folder."""
    return [source for words in words_of("COPY") if "--from" not in words for source in words.split()[:-1]]


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "compose.yaml").read_text())


def parsed(arguments: list[str]) -> tuple[str, dict[str, Any]]:
    """As the command line reads them."""
    context = click.Context(app, **app.context_settings)  # A command remembers for ever how its help is asked for.
    command = app.get_command(context, arguments[0])
    assert command
    made = command.make_context(arguments[0], arguments[1:], parent=context)
    return arguments[0], made.params


# The image


def test_what_is_copied_is_there_and_passes_the_ignore_file() -> None:
    allowed = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    assert (ROOT / ".dockerignore").read_text().splitlines()[0] == "*"
    for source in copied():
        assert (ROOT / source).exists(), source
        assert any(fnmatch.fnmatch(source, pattern) for pattern in allowed), source
    assert sorted(copied()) == sorted(allowed), "nothing is sent that is not copied"


def test_the_build_has_all_that_the_package_names() -> None:
    """`pip install .` reads these, and fails without them."""
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {project["readme"], *project["license-files"], "pyproject.toml", "src"} <= set(copied())


def test_every_dependency_is_checked_against_its_hash() -> None:
    installs = [words for words in words_of("RUN") if "pip install" in words]
    assert len(installs) == 2
    assert "--require-hashes -r requirements/lock.txt" in installs[0]
    assert {"--no-deps", "--no-build-isolation", "--no-index"} <= set(installs[1].split())
    assert all("--no-cache-dir" in words for words in installs)
    pins = (ROOT / "requirements" / "lock.txt").read_text()
    assert all(f"\n{name}==" in pins for name in ("psycopg", "hatchling")), "the database's driver, and what builds"


def test_it_runs_as_nobody_of_importance() -> None:
    assert words_of("USER") == ["recollect"]
    names = [name for name, _ in instructions()]
    assert names.index("USER") < names.index("CMD")
    assert names.index("USER") > max(index for index, name in enumerate(names) if name in ("RUN", "COPY"))
    assert words_of("VOLUME") == ["/data"]
    assert any("RECOLLECT_HOME=/data" in words for words in words_of("ENV"))


def test_the_base_is_named_by_a_version_and_no_secret_is_built_in() -> None:
    assert [words.split()[0] for words in words_of("FROM")] == ["python:3.13-slim"] * 2
    assert words_of("ARG") == []
    assert not re.search(r"PASSWORD|SECRET|TOKEN|KEY", (ROOT / "Dockerfile").read_text())


def test_its_commands_are_lists_that_the_command_line_takes() -> None:
    program, *arguments = json.loads(words_of("CMD")[0])
    assert program == "recollect"
    name, options = parsed(arguments)
    assert (name, options["listen"], options["public"]) == ("serve", "0.0.0.0:7717", True)
    assert words_of("EXPOSE") == ["7717"]
    assert HttpSettings().listen.endswith(":7717")


def test_its_health_is_asked_where_it_listens() -> None:
    (words,) = words_of("HEALTHCHECK")
    command = json.loads(words.partition(" CMD ")[2])
    assert command[:2] == ["python", "-c"]
    assert "http://127.0.0.1:7717/health" in command[2]
    compile(command[2], "health", "exec")


# The house


def test_the_database_has_vectors_and_waits_to_be_healthy(compose: dict[str, Any]) -> None:
    services = compose["services"]
    assert services["database"]["image"] == "pgvector/pgvector:pg18"
    assert services["recollect"]["depends_on"] == {"database": {"condition": "service_healthy"}}
    assert "pg_isready" in services["database"]["healthcheck"]["test"][1]
    assert "ports" not in services["database"], "nobody but Recollect reaches it"
    assert set(compose["volumes"]) == {"home", "database"}
    assert services["database"]["volumes"] == ["database:/var/lib/postgresql"], "where the image of 18 keeps it"


def test_it_is_published_on_this_computer_alone(compose: dict[str, Any]) -> None:
    published = [port for service in compose["services"].values() for port in service.get("ports", [])]
    assert published == ["127.0.0.1:7717:7717"]


def test_its_command_is_taken_and_would_be_refused_without_its_word(compose: dict[str, Any]) -> None:
    program, *words = compose["services"]["recollect"]["command"]
    assert program == "recollect"

    name, options = parsed([word.replace("${RECOLLECT_HOST:-localhost}", "localhost") for word in words])

    assert (name, options["hosts"]) == ("serve", ("localhost",))
    told = Settings(http=HttpSettings(listen=options["listen"], is_public=options["public"]))
    assert listening_of(told).port == 7717
    with pytest.raises(Invalid):
        listening_of(Settings(http=HttpSettings(listen=options["listen"])))


def test_the_password_comes_from_a_file_that_is_not_committed(compose: dict[str, Any]) -> None:
    text = (ROOT / "compose.yaml").read_text()
    assert text.count("${POSTGRES_PASSWORD:?") == 2, "it does not start without one"
    assert ":" not in compose["services"]["recollect"]["environment"]["RECOLLECT_DB"].partition("://")[2]
    assert ".env" in (ROOT / ".gitignore").read_text().splitlines()
    example = dict(
        line.split("=", 1) for line in (ROOT / ".env.example").read_text().splitlines() if line and line[0] != "#"
    )
    assert example.pop("POSTGRES_PASSWORD") == ""
    asked_for = set(re.findall(r"\$\{(\w+)", text)) - {"POSTGRES_PASSWORD"}
    assert set(example) == asked_for


def test_a_stop_has_the_time_that_it_needs(compose: dict[str, Any]) -> None:
    grace = compose["services"]["recollect"]["stop_grace_period"]
    assert int(grace.removesuffix("s")) > 5
