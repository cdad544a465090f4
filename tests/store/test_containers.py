"""Files with many conversations: whatever is exported, however often and however packed, everything is there once."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import zstandard
from conftest import OpenHouse
from exports import SERVICES, Record, Rollout, Service, chatgpt, claude_ai, document, export_file, export_zip, telegram
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from snapshots import contents_of, messages_of, said_in
from transcripts import write

import recollect
from recollect.history.store import CONTAINER, FileStatus

DATABASE_PROPERTY = settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
INGEST = """
import sys, recollect
with recollect.open(home=sys.argv[1], database=sys.argv[2]) as memory:
    report = memory.history.ingest(sys.argv[3:])
    assert report.failed == 0, report.problems
"""


def clean(open_house: OpenHouse, *paths: Path) -> dict[str, Any]:
    """What one import of these into a new house gives."""
    memory = open_house()
    assert memory.history.ingest(paths).failed == 0
    return contents_of(memory)


@pytest.fixture(params=SERVICES, ids=lambda service: service.name)
def service(request: pytest.FixtureRequest) -> Service:
    return request.param


@pytest.fixture
def downloads(tmp_path: Path) -> Path:
    return tmp_path / "Downloads"


def three(service: Service) -> list[Record]:
    return [service.conversation(name, 4, start) for name, start in (("beans", 0), ("peas", 100), ("weeds", 200))]


def later(service: Service) -> list[Record]:
    """Of the three one has gone on, and there is a new one, which comes first."""
    new = service.conversation("compost", 2, 300)
    return [new, service.conversation("beans", 9, 0), *three(service)[1:]]


# --- Once and again ---------------------------------------------------------------------------------------------------


def test_every_conversation_of_an_export_comes_in(memory: recollect.Memory, service: Service, downloads: Path) -> None:
    path = export_file(downloads, document(*three(service)))

    report = memory.history.ingest([path])

    assert (report.files, report.ingested, report.failed, report.problems) == (1, 1, 0, [])
    assert report.messages_added == 12
    assert [item.title for item in reversed(memory.history.conversations())] == ["beans", "peas", "weeds"]
    assert said_in(memory)[:2] == ["Question 0 about beans", "Answer 0 about beans"]
    assert {message.author for message in memory.history.export()} == {"user", "assistant"}
    assert {message.source for message in memory.history.export()} == {service.name}


def test_the_same_export_again_adds_nothing(memory: recollect.Memory, service: Service, downloads: Path) -> None:
    path = export_file(downloads, document(*three(service)))
    memory.history.ingest([path])
    before = contents_of(memory)

    again = memory.history.ingest([path])
    os.utime(path, ns=(1, 1))
    touched = memory.history.ingest([path])

    assert (again.skipped, again.messages_added) == (1, 0)
    assert touched.messages_added == 0
    assert contents_of(memory) == before


def test_the_same_export_in_another_place_adds_nothing(
    memory: recollect.Memory, service: Service, downloads: Path
) -> None:
    raw = document(*three(service))
    memory.history.ingest([export_file(downloads / "one", raw)])
    before = contents_of(memory)

    report = memory.history.ingest([export_file(downloads / "two", raw), export_zip(downloads / "three.zip", raw)])

    assert (report.messages_added, report.failed) == (0, 0)
    assert contents_of(memory) == before


@pytest.mark.parametrize("in_same_place", [True, False], ids=["over the old one", "beside the old one"])
def test_a_later_export_adds_only_what_is_new(
    memory: recollect.Memory, open_house: OpenHouse, service: Service, downloads: Path, in_same_place: bool
) -> None:
    memory.history.ingest([export_file(downloads / "old", document(*three(service)))])
    new = export_file(downloads / ("old" if in_same_place else "new"), document(*later(service)))

    report = memory.history.ingest([new])

    assert report.messages_added == 2 + 5
    assert len(memory.history.conversations()) == 4
    assert contents_of(memory) == clean(open_house, new)


def test_an_older_export_after_a_newer_one_changes_nothing(
    memory: recollect.Memory, service: Service, downloads: Path
) -> None:
    memory.history.ingest([export_file(downloads / "new", document(*later(service)))])
    before = contents_of(memory)

    report = memory.history.ingest([export_file(downloads / "old", document(*three(service)))])

    assert (report.messages_added, report.failed) == (0, 0)
    assert contents_of(memory) == before


def test_a_conversation_that_a_later_export_lacks_stays(
    memory: recollect.Memory, service: Service, downloads: Path
) -> None:
    memory.history.ingest([export_file(downloads, document(*three(service)))])
    before = contents_of(memory)

    memory.history.ingest([export_file(downloads, document(*three(service)[1:]))])

    assert contents_of(memory) == before
    assert not any(message["gone"] for message in messages_of(memory))


def test_an_edited_conversation_keeps_what_was_left_and_counts_it_no_more(
    memory: recollect.Memory, open_house: OpenHouse, downloads: Path
) -> None:
    told = chatgpt("beans", 4)
    memory.history.ingest([export_file(downloads / "old", document(told))])
    first = list(told["mapping"])[1]
    said = told["mapping"][first]["message"]
    instead = {**said, "id": "edited", "content": {"content_type": "text", "parts": ["Sow peas instead?"]}}
    root = told["mapping"][first]["parent"]
    told["mapping"][root]["children"] = [first, "edited"]
    told["mapping"]["edited"] = {"id": "edited", "parent": root, "children": [], "message": instead}
    told.update(current_node="edited", update_time=told["update_time"] + 60)
    new = export_file(downloads / "new", document(told))

    memory.history.ingest([new])

    assert said_in(memory) == ["Sow peas instead?"]
    assert len(messages_of(memory)) == 5
    assert said_of(contents_of(memory)) == said_of(clean(open_house, new))


# --- However it is packed ---------------------------------------------------------------------------------------------


def test_a_document_an_archive_and_split_files_give_the_same(
    open_house: OpenHouse, service: Service, downloads: Path
) -> None:
    told = later(service)
    halves = [document(*told[:2]), document(*told[2:])]
    whole = clean(open_house, export_file(downloads / "plain", document(*told)))
    packed = zstandard.ZstdCompressor().compress(document(*told))

    split = [export_file(downloads / "split", raw, f"conversations-{n:03d}.json") for n, raw in enumerate(halves)]
    assert clean(open_house, *split) == whole
    assert clean(open_house, *reversed(split)) == whole
    assert clean(open_house, export_zip(downloads / "one.zip", document(*told))) == whole
    assert clean(open_house, export_zip(downloads / "two.zip", *halves)) == whole
    assert clean(open_house, write(downloads / "conversations.json.zst", packed)) == whole
    assert clean(open_house, downloads) == whole


def test_an_archive_of_two_services_gives_both(memory: recollect.Memory, downloads: Path) -> None:
    path = export_zip(downloads / "both.zip", document(chatgpt("beans")), document(claude_ai("peas")))

    report = memory.history.ingest([path])

    assert (report.messages_added, report.failed) == (8, 0)
    assert {message.source for message in memory.history.export()} == {"chatgpt", "claude-ai"}


def test_an_export_of_another_service_over_the_old_one_is_read_as_what_it_is(
    memory: recollect.Memory, downloads: Path
) -> None:
    memory.history.ingest([export_file(downloads, document(chatgpt("beans")))])

    report = memory.history.ingest([export_file(downloads, document(claude_ai("peas"), claude_ai("weeds")))])

    assert (report.messages_added, report.failed, report.problems) == (8, 0, [])
    assert len(messages_of(memory)) == 12


# --- Cut short --------------------------------------------------------------------------------------------------------


def test_an_export_cut_short_keeps_what_comes_before_and_a_whole_one_completes_it(
    memory: recollect.Memory, open_house: OpenHouse, service: Service, downloads: Path
) -> None:
    raw = document(*three(service))
    path = export_file(downloads, raw[: len(raw) - 300])

    cut = memory.history.ingest([path])

    assert (cut.failed, cut.messages_added) == (1, 8)
    assert "conversations.json" in cut.problems[-1].reason
    assert "ends in the middle" in cut.problems[-1].reason
    assert [file.status for file in memory.history.files() if file.kind == CONTAINER] == [FileStatus.FAILED]
    export_file(downloads, raw)
    whole = memory.history.ingest([path])
    assert (whole.failed, whole.messages_added) == (0, 4)
    assert contents_of(memory) == clean(open_house, path)
    assert {file.status for file in memory.history.files()} == {FileStatus.IDLE}


def test_a_damaged_conversation_costs_none_of_the_others_and_a_sound_export_brings_it(
    memory: recollect.Memory, open_house: OpenHouse, service: Service, downloads: Path
) -> None:
    raw = document(*three(service))
    path = export_file(downloads, raw.replace(b'"Question 0 about peas"', b'"Question 0 about peas'))

    damaged = memory.history.ingest([path])

    assert damaged.messages_added == 8
    assert any("conversations.json" in problem.reason for problem in damaged.problems)
    export_file(downloads, raw)
    assert memory.history.ingest([path]).messages_added == 4
    assert contents_of(memory) == clean(open_house, path)


def test_an_archive_cut_short_keeps_its_whole_files_and_a_whole_one_completes_it(
    memory: recollect.Memory, open_house: OpenHouse, service: Service, downloads: Path
) -> None:
    told = three(service)
    path = export_zip(downloads / "export.zip", document(*told[:2]), document(*told[2:]))
    whole = path.read_bytes()
    path.write_bytes(whole[: whole.index(b"conversations-001.json") + 60])

    cut = memory.history.ingest([path])

    assert (cut.failed, cut.messages_added) == (1, 8)
    assert "export.zip is cut short" in cut.problems[-1].reason
    path.write_bytes(whole)
    assert memory.history.ingest([path]).messages_added == 4
    assert contents_of(memory) == clean(open_house, path)


@pytest.mark.parametrize("name", ["conversations.json", "export.zip"])
def test_a_file_set_aside_and_then_mended_leaves_no_trace_of_that(
    memory: recollect.Memory, open_house: OpenHouse, downloads: Path, name: str
) -> None:
    path = write(downloads / name, bytes(range(256)) * 40)
    assert memory.history.ingest([path]).failed == 1
    raw = document(chatgpt("beans"))
    good = export_zip(path, raw) if name.endswith("zip") else export_file(downloads, raw)

    report = memory.history.ingest([good])

    assert (report.failed, report.messages_added) == (0, 4)
    assert contents_of(memory) == clean(open_house, good)
    assert {file.status for file in memory.history.files()} == {FileStatus.IDLE}
    assert memory.history.ingest([good]).skipped == 1


# --- Read again -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_packed", [False, True], ids=["document", "archive"])
def test_reading_an_export_again_changes_nothing_even_when_it_is_gone(
    memory: recollect.Memory, service: Service, downloads: Path, is_packed: bool
) -> None:
    raw = document(*three(service))
    path = export_zip(downloads / "export.zip", raw) if is_packed else export_file(downloads, raw)
    memory.history.ingest([path])
    before = contents_of(memory)

    again = memory.history.ingest([path], reimport=True)

    assert (again.messages_added, again.failed) == (0, 0)
    assert again.counts.lines == 15
    assert contents_of(memory) == before
    path.unlink()
    from_vault = memory.history.ingest([path], reimport=True)
    assert (from_vault.files, from_vault.messages_added, from_vault.failed) == (1, 0, 0)
    assert from_vault.counts.lines == 15
    assert contents_of(memory) == before


def test_an_export_that_comes_back_after_its_vault_was_read_adds_nothing(
    memory: recollect.Memory, service: Service, downloads: Path
) -> None:
    raw = document(*three(service))
    path = export_file(downloads, raw)
    memory.history.ingest([path])
    path.unlink()
    memory.history.ingest([path], reimport=True)
    before = contents_of(memory)

    report = memory.history.ingest([export_file(downloads, raw)])

    assert (report.messages_added, report.failed) == (0, 0)
    assert contents_of(memory) == before


# --- Telegram: stretches of time --------------------------------------------------------------------------------------

STRETCHES = {"first half": range(1, 31), "second half": range(31, 61), "middle": range(20, 45), "whole": range(1, 61)}


@DATABASE_PROPERTY
@given(order=st.permutations(list(STRETCHES)))
def test_stretches_of_a_chat_in_any_order_are_the_chat(
    open_house: OpenHouse, downloads: Path, order: list[str]
) -> None:
    for name, numbers in STRETCHES.items():
        write(downloads / name / "result.json", telegram(numbers))
    memory = open_house()

    for name in order:
        assert memory.history.ingest([downloads / name / "result.json"]).failed == 0

    assert said_of(contents_of(memory)) == said_of(clean(open_house, downloads / "whole" / "result.json"))
    assert len(messages_of(memory)) == 60


def said_of(found: dict[str, Any]) -> Any:
    """The way leaves its traces in how often a file was rewritten, and in nothing else."""
    return {name: found[name] for name in ("messages", "conversations")}


def test_a_message_that_was_edited_is_replaced_in_its_place(memory: recollect.Memory, downloads: Path) -> None:
    memory.history.ingest([write(downloads / "1" / "result.json", telegram(range(1, 11)))])
    edited = telegram(range(4, 7), lambda number: f"Message {number}, edited")

    memory.history.ingest([write(downloads / "2" / "result.json", edited)])

    texts = [text.removeprefix("Mara: ") for text in said_in(memory)]
    assert texts == [f"Message {n}{', edited' if n in (4, 5, 6) else ''}" for n in range(1, 11)]


def test_a_chat_cut_short_keeps_its_beginning_and_never_loses_what_is_known(
    memory: recollect.Memory, open_house: OpenHouse, downloads: Path
) -> None:
    raw = telegram(range(1, 41))
    path = write(downloads / "result.json", raw[: len(raw) // 2])

    cut = memory.history.ingest([path])

    assert cut.failed == 1
    assert 15 < cut.messages_added < 25
    assert "result.json" in cut.problems[-1].reason
    assert memory.history.ingest([write(path, raw)]).failed == 0
    whole = clean(open_house, path)
    assert said_of(contents_of(memory)) == said_of(whole)
    again = memory.history.ingest([write(path, raw[: len(raw) // 2])])
    assert (again.failed, again.messages_added) == (1, 0)
    assert said_of(contents_of(memory)) == said_of(whole)


# --- Codex: packed sessions -------------------------------------------------------------------------------------------


def packed(raw: bytes) -> bytes:
    packer = zstandard.ZstdCompressor().compressobj()
    return packer.compress(raw) + packer.flush()


def test_a_session_packed_archived_unpacked_and_grown_stays_one_session(
    memory: recollect.Memory, open_house: OpenHouse, tmp_path: Path
) -> None:
    told = Rollout("beans").say(3)
    home = tmp_path / ".codex"
    live = write(home / "sessions" / "2026" / "03" / "02" / told.name, told.raw)
    assert memory.history.ingest([home]).messages_added == 6
    before = contents_of(memory)

    beside = write(live.with_name(f"{live.name}.zst"), packed(told.raw))
    assert memory.history.ingest([home]).messages_added == 0
    assert contents_of(memory) == before
    live.unlink()
    assert memory.history.ingest([home]).messages_added == 0
    archived = home / "archived_sessions" / beside.name
    archived.parent.mkdir()
    beside.rename(archived)
    assert memory.history.ingest([home]).messages_added == 0
    assert contents_of(memory) == before

    archived.unlink()
    write(live, told.say(2).raw)
    report = memory.history.ingest([home])
    assert (report.messages_added, report.failed) == (4, 0)
    assert contents_of(memory) == clean(open_house, home)
    assert len(memory.history.files()) == 1


def test_a_packed_session_read_first_grows_with_its_plain_file(
    memory: recollect.Memory, open_house: OpenHouse, tmp_path: Path
) -> None:
    told = Rollout("beans").say(3)
    path = write(tmp_path / "sessions" / f"{told.name}.zst", packed(told.raw))
    assert memory.history.ingest([path]).messages_added == 6

    path.write_bytes(packed(told.say(2).raw))
    assert memory.history.ingest([path]).messages_added == 4
    plain = write(tmp_path / "sessions" / told.name, told.say(1).raw)
    assert memory.history.ingest([plain.parent]).messages_added == 2

    assert contents_of(memory) == clean(open_house, plain)


@pytest.mark.parametrize("share", [0.01, 0.5, 0.99])
def test_a_packed_session_cut_short_loses_nothing_that_is_known(
    memory: recollect.Memory, tmp_path: Path, share: float
) -> None:
    told = Rollout("beans").say(3).note("noise", 3_000)
    whole = packed(told.raw)
    memory.history.ingest([write(tmp_path / told.name, told.raw)])
    before = contents_of(memory)
    cut = write(tmp_path / f"{told.name}.zst", whole[: int(len(whole) * share)])

    report = memory.history.ingest([cut])

    assert (report.failed, report.messages_added) == (1, 0)
    assert f"{told.name}.zst is cut short" in report.problems[-1].reason
    assert contents_of(memory)["messages"] == before["messages"]
    cut.write_bytes(whole)
    assert memory.history.ingest([cut]).failed == 0
    assert contents_of(memory) == before


def test_a_packed_session_cut_short_gives_its_beginning_until_it_is_whole(
    memory: recollect.Memory, open_house: OpenHouse, tmp_path: Path
) -> None:
    told = Rollout("beans").say(3).note("noise", 3_000)
    whole = packed(told.raw)
    path = write(tmp_path / f"{told.name}.zst", whole[: len(whole) * 9 // 10])

    cut = memory.history.ingest([path])

    assert (cut.failed, cut.messages_added) == (1, 6)
    path.write_bytes(packed(told.say(1).raw))
    report = memory.history.ingest([path])
    assert (report.failed, report.messages_added) == (0, 2)
    assert contents_of(memory) == clean(open_house, path)


# --- Two processes ----------------------------------------------------------------------------------------------------


def test_two_processes_that_read_one_export_do_not_double_it(
    memory: recollect.Memory, open_house: OpenHouse, home: Path, engine: str, downloads: Path
) -> None:
    told = [chatgpt(f"subject {number}", 6, number * 100) for number in range(40)]
    path = export_zip(downloads / "export.zip", document(*told))
    command = [sys.executable, "-c", INGEST, str(home), engine, str(path)]

    readers = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    errors = [reader.communicate()[1] for reader in readers]

    assert [reader.returncode for reader in readers] == [0, 0], errors
    memory.history.ingest([path])
    assert contents_of(memory) == clean(open_house, path)
