"""What the documentation says is what the code does: settings, commands, tables, the generic format, the demo house."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec
import pytest

import recollect
from recollect.demo import demo_transcripts
from recollect.history import Author
from recollect.history.sources import FileFacts, Head
from recollect.history.sources.generic import Generic
from recollect.settings import TABLES, Settings
from recollect.surfaces.cli.main import COMMANDS, app

ROOT = Path(__file__).resolve().parents[2]
DEMO_CONVERSATIONS = 7
"""Six sessions and what is new in the resumed copy of one of them."""
DEMO_THREADS = 6
LABELS = ("canonical", "derived", "operational")


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def section(text: str, heading: str) -> str:
    """What stands below a heading, up to the next one."""
    _, _, rest = text.partition(f"{heading}\n")
    return re.split(r"^#+ ", rest, maxsplit=1, flags=re.MULTILINE)[0]


def table_rows(text: str) -> list[list[str]]:
    """The cells of each table row of a page, without headings and rules."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return [row for row in rows if row[0].startswith("`")]


def code_blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def generic_lines() -> list[str]:
    return [line for block in code_blocks(page("docs/sources/generic.md"), "jsonl") for line in block.splitlines()]


def default_of(name: str) -> str:
    """A setting's default as TOML writes it. The home's is a place that depends on who asks; that of a table is
    empty."""
    value = getattr(Settings(), name)
    return "~/.recollect" if name == "home" else json.dumps({} if isinstance(value, msgspec.Struct) else value)


def test_the_page_of_settings_lists_each_setting_with_its_default() -> None:
    text = page("docs/settings.md").partition("## Environment variables")[0]
    documented = {row[0].strip("`"): row[1].strip("`") for row in table_rows(text)}
    assert documented == {field.name: default_of(field.name) for field in msgspec.structs.fields(Settings)}
    assert all(row[2] for row in table_rows(text))


@pytest.mark.parametrize("table", sorted(TABLES))
def test_the_page_of_settings_lists_each_setting_of_a_table(table: str) -> None:
    defaults = TABLES[table]()
    rows = table_rows(section(page("docs/settings.md"), f"## {table.capitalize()}"))
    expected = {name: json.dumps(getattr(defaults, name)) for name in defaults.__struct_fields__}
    assert {row[0].strip("`"): row[1].strip("`") for row in rows} == expected


def test_the_page_of_settings_lists_each_environment_variable() -> None:
    rows = table_rows(section(page("docs/settings.md"), "## Environment variables"))
    listed = {name for row in rows for name in re.findall(r"`(\w+)`", row[0])}
    read = re.compile(r"""(?:environ(?:ment)?(?:\.get\(|\[)|configured\()["'](\w+)["']""")
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "src" / "recollect").rglob("*.py")]
    assert listed == {name for source in sources for name in read.findall(source)} - {"TERM"}


def test_the_readme_lists_each_command() -> None:
    rows = table_rows(section(page("README.md"), "## Commands"))
    assert [row[0].strip("`").split()[0] for row in rows] == list(COMMANDS)
    assert all(row[1] for row in rows)


def test_the_readme_names_each_command_without_json() -> None:
    exceptions = re.search(r"Each command has `--json`.*?but ([^.]*)\.", page("README.md"), re.DOTALL)
    assert exceptions
    without = {
        name
        for name, command in commands_below(app, "")
        if not any("--json" in parameter.opts for parameter in command.params)
    }
    assert set(re.findall(r"`([^`]+)`", exceptions[1])) == without


def commands_below(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    """All that do something; a group that only holds others does not."""
    if not isinstance(command, click.Group) or command.invoke_without_command:
        yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for one in command.list_commands(context):
            found = command.get_command(context, one)
            assert found
            yield from commands_below(found, f"{name} {one}".strip())


def test_the_page_of_the_service_has_the_figures_that_were_measured() -> None:
    told = section(page("docs/service.md"), "## What it takes")
    _, _, measured = page("docs/benchmarks.md").partition("**Idle**")
    figures = re.findall(r"[\d.]+ %|[\d.]+ MB(?! more)", told)
    assert len(figures) == 3
    assert all(figure in measured.partition("**Shown")[0] for figure in figures)


def test_each_table_has_a_label_and_says_what_its_loss_means() -> None:
    schema = page("src/recollect/database/schema.sql")
    tables = set(re.findall(r"CREATE TABLE (?:IF NOT EXISTS )?(\w+)", schema))
    rows = table_rows(section(page("docs/domain.md"), "### Tables"))
    assert {row[0].strip("`") for row in rows} == tables
    for _, label, writer, loss in rows:
        assert label.split()[0] in LABELS
        assert writer
        assert loss


@pytest.mark.parametrize("line", generic_lines())
def test_each_example_of_the_generic_format_is_read(line: str) -> None:
    source = Generic()
    entry = source.parse(line.encode(), FileFacts(key="example.jsonl", kind="session"))
    assert entry.title or entry.text
    assert entry.title or entry.at or "at" not in json.loads(line)


def test_the_generic_format_is_recognised_by_each_block_of_examples() -> None:
    blocks = code_blocks(page("docs/sources/generic.md"), "jsonl")
    assert len(blocks) >= 4
    assert all(Generic().recognises(Head("x.jsonl", block.encode())) for block in blocks)


def test_authors_of_the_generic_format_are_as_documented() -> None:
    rows = [row for row in table_rows(page("docs/sources/generic.md")) if row[-1] in ("yes", "no")]
    assert rows
    for names, becomes, said in rows:
        for name in re.findall(r"`(\w+)`", names):
            raw = json.dumps({"author": name.upper(), "text": "x"}).encode()
            entry = Generic().parse(raw, FileFacts(key="x.jsonl", kind="session"))
            assert (entry.author, entry.standing) == (becomes.strip("`"), "said" if said == "yes" else "aside")


def test_the_demo_house_reads_without_a_bad_line(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "home") as memory:
        report = memory.history.ingest([demo_transcripts()])
        listed = memory.history.conversations()
        spoken = [message for item in listed for message in memory.history.messages(item.conversation)]
        everything = list(memory.history.export())
    assert not report.failed
    assert not report.problems
    assert report.counts.lines == report.counts.parsed
    assert 60 <= report.counts.lines <= 120
    assert len(listed) == DEMO_CONVERSATIONS
    assert len({item.thread for item in listed}) == DEMO_THREADS
    assert all(item.conversation.messages >= Settings().min_conversation_messages for item in listed)
    assert len({item.title for item in listed}) == len(listed)
    assert {message.author for message in spoken} == {Author.USER, Author.ASSISTANT}
    assert any(message.kind == "queued" for message in spoken)
    assert any(message.author is Author.SUBAGENT for message in everything)


def test_each_tool_call_of_the_demo_house_has_its_result() -> None:
    calls: set[str] = set()
    results: set[str] = set()
    for path in demo_transcripts().rglob("*.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines():
            content = json.loads(line).get("message", {}).get("content")
            for block in content if isinstance(content, list) else []:
                calls |= {block["id"]} if block["type"] == "tool_use" else set()
                results |= {block["tool_use_id"]} if block["type"] == "tool_result" else set()
    assert calls
    assert calls == results
