"""Claude Code's memory folder is read into learnings and written from them. On both engines."""

import os
from pathlib import Path

import pytest
from conftest import OpenHouse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from transcripts import PROJECT, Transcript

import recollect
from recollect.errors import Denied, Invalid, NotFound
from recollect.exchange import Exchange, FolderImport
from recollect.exchange.folders import MANIFEST, MOST_FILE_BYTES, memory_folders, project_of
from recollect.knowledge import Origin, Record
from recollect.scopes import OWNER, Principal
from recollect.settings import Computer
from recollect.testing import FrozenClock

MOCKS = """---
name: no-mocks
description: Never mock the database in tests
metadata:
  node_type: memory
  type: feedback
---

Integration tests hit a real database.
"""
TEXT = "Never mock the database in tests\n\nIntegration tests hit a real database."
ROLE = "---\nname: role\ndescription: Who she is\ntype: user\n---\nMara keeps bees.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / ".claude" / "projects" / "-home-ada-garden" / "memory"
    made.mkdir(parents=True)
    (made / "no-mocks.md").write_text(MOCKS)
    (made / "role.md").write_text(ROLE)
    (made / "MEMORY.md").write_text("- [No mocks](no-mocks.md) — never\n- [Role](role.md) — who\n")
    return made


def read(memory: recollect.Memory, folder: Path, **options: bool) -> FolderImport:
    (report,) = memory.exchange.import_from([folder], **options).folders
    return report


def current(memory: recollect.Memory) -> dict[str, Record]:
    return {record.text: record for record in memory.knowledge.records()}


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


# Importing


def test_each_fact_becomes_a_learning_that_says_where_it_is_from(memory: recollect.Memory, folder: Path) -> None:
    report = read(memory, folder)
    assert (report.new, report.problems) == (["no-mocks.md", "role.md"], [])
    found = current(memory)
    assert set(found) == {TEXT, "Who she is\n\nMara keeps bees."}
    assert found[TEXT].category == "operational"
    assert found[TEXT].origin is Origin.IMPORTED
    assert found[TEXT].tags == ("claude-memory", "project:-home-ada-garden")
    (event,) = memory.knowledge.events(found[TEXT].id)
    assert str(folder / "no-mocks.md") in event.reason
    assert "sha256" in event.reason
    assert (event.actor, event.actor_name) == ("rule", "claude-memory")


def test_read_again_it_makes_nothing(memory: recollect.Memory, folder: Path) -> None:
    read(memory, folder)
    before = [memory.knowledge.events(record.id) for record in memory.knowledge.records()]
    (folder / "role.md").write_text(ROLE.replace("type: user", "type: user\nmodified: 2026-01-01"))
    report = read(memory, folder)
    assert (report.new, report.changed, report.unchanged) == ([], [], ["no-mocks.md", "role.md"])
    assert [memory.knowledge.events(record.id) for record in memory.knowledge.records()] == before


def test_a_file_that_changed_takes_the_place_of_what_it_said(
    memory: recollect.Memory, folder: Path, clock: FrozenClock
) -> None:
    read(memory, folder)
    first = current(memory)[TEXT]
    for words in ("a true", "a real"):
        clock.move(days=1)
        (folder / "no-mocks.md").write_text(MOCKS.replace("a real", words))
        assert read(memory, folder).changed == ["no-mocks.md"]
        (now,) = [record for text, record in current(memory).items() if text.startswith("Never mock")]
        assert words in now.text
    chain = memory.knowledge.why(now.id)
    assert [record.id for record in chain.replaced][-1] == first.id
    assert len(chain.replaced) == 2


def test_a_file_that_is_gone_is_told_and_its_record_stays(memory: recollect.Memory, folder: Path) -> None:
    read(memory, folder)
    (folder / "role.md").unlink()
    report = read(memory, folder)
    assert report.missing == ["role.md"]
    assert len(current(memory)) == 2


def test_what_a_person_made_of_it_stays_while_the_file_does(memory: recollect.Memory, folder: Path) -> None:
    read(memory, folder)
    found = current(memory)
    memory.knowledge.edit(found[TEXT].id, "Mock nothing.")
    memory.knowledge.retract(found["Who she is\n\nMara keeps bees."].id)
    read(memory, folder)
    assert set(current(memory)) == {"Mock nothing."}


def test_what_was_forgotten_does_not_come_back(memory: recollect.Memory, folder: Path, clock: FrozenClock) -> None:
    read(memory, folder)
    clock.move(days=1)
    (folder / "no-mocks.md").write_text(MOCKS.replace("a real", "a true"))
    read(memory, folder)
    (record,) = [record for text, record in current(memory).items() if "a true" in text]
    assert memory.forget(record=record.id, dry_run=True).removed["memory_files"] == 1
    forgotten = memory.forget(record=record.id)
    assert forgotten.is_verified
    assert forgotten.residue == []

    report = read(memory, folder)

    assert (report.refused, report.new, report.changed) == (["no-mocks.md"], [], [])
    (folder / "copied.md").write_text((folder / "no-mocks.md").read_text())
    assert read(memory, folder).refused == ["copied.md", "no-mocks.md"]
    assert set(current(memory)) == {"Who she is\n\nMara keeps bees."}
    (folder / "no-mocks.md").write_text(MOCKS.replace("a real", "another"))
    assert read(memory, folder).new == ["no-mocks.md"]


def test_a_dry_run_tells_and_changes_nothing(memory: recollect.Memory, folder: Path) -> None:
    report = read(memory, folder, dry_run=True)
    assert report.new == ["no-mocks.md", "role.md"]
    assert current(memory) == {}
    assert read(memory, folder).new == ["no-mocks.md", "role.md"]


def test_secrets_are_masked(memory: recollect.Memory, folder: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    (folder / "token.md").write_text(f"The token is {secret}\n")
    read(memory, folder)
    assert all(secret not in text for text in current(memory))
    assert any(text.startswith("The token is") for text in current(memory))


def test_one_bad_file_is_told_and_the_rest_goes_on(memory: recollect.Memory, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text("Outside.\n")
    (folder / "a-broken.md").write_text("---\nname: x\n")
    (folder / "b-binary.md").write_bytes(b"\xff\xfe")
    (folder / "c-huge.md").write_bytes(b"x" * (MOST_FILE_BYTES + 1))
    os.symlink(tmp_path / "outside.md", folder / "d-link.md")
    os.mkfifo(folder / "e-pipe.md")
    os.symlink(tmp_path, folder / "elsewhere")
    (folder / ".hidden.md").write_text("Hidden.\n")
    (folder / "team").mkdir()
    (folder / "team" / "bees.md").write_text("The hives stand behind the shed.\n")
    report = read(memory, folder)
    assert sorted(one.file for one in report.problems) == [
        "a-broken.md",
        "b-binary.md",
        "c-huge.md",
        "d-link.md",
        "e-pipe.md",
    ]
    assert report.new == ["no-mocks.md", "role.md", "team/bees.md"]
    assert not {"Outside.", "Hidden."} & set(current(memory))


def test_an_import_that_was_cut_off_goes_on(memory: recollect.Memory, folder: Path) -> None:
    """The record is there and the row of its file is not: what a kill between the two leaves."""
    read(memory, folder)
    before = set(current(memory))
    with memory.database.write() as session:
        session.run("DELETE FROM exchange_facts WHERE name = 'role.md'")
    report = read(memory, folder)
    assert (report.known, report.unchanged) == (["role.md"], ["no-mocks.md"])
    assert set(current(memory)) == before
    assert read(memory, folder).unchanged == ["no-mocks.md", "role.md"]


def test_an_agent_reads_into_its_own_scope_and_who_may_only_read_does_not(
    memory: recollect.Memory, folder: Path
) -> None:
    memory.agents.add("ada")
    memory.agents.add("bob")
    read(memory.as_agent("ada"), folder)
    assert {record.scope for record in current(memory).values()} == {"ada"}
    assert current(memory.as_agent("bob")) == {}
    reading = memory.acting_for(Principal(actor=OWNER.actor, may_write=False))
    with pytest.raises(Denied):
        reading.exchange.import_from([folder])
    assert reading.exchange.import_from([folder], dry_run=True).total("new") == 0


def test_a_folder_that_is_none_is_refused(memory: recollect.Memory, folder: Path) -> None:
    with pytest.raises(NotFound):
        memory.exchange.import_from([folder / "nothing"])
    with pytest.raises(Invalid):
        memory.exchange.import_from([folder / "role.md"])


def test_the_folders_of_this_computer_are_found(tmp_path: Path, folder: Path, memory: recollect.Memory) -> None:
    (tmp_path / ".claude" / "projects" / "-other").mkdir()
    own = tmp_path / "chosen"
    own.mkdir()
    (tmp_path / ".claude" / "settings.json").write_text('{"autoMemoryDirectory": "~/chosen"}')
    computer = Computer(home=tmp_path.as_posix(), system="linux")
    assert sorted(memory_folders(computer)) == sorted([own, folder])
    assert (project_of(folder), project_of(own)) == ("-home-ada-garden", "")
    exchange = Exchange(
        memory.database,
        memory.settings.house,
        memory.clock,
        memory.knowledge,
        memory.history,
        OWNER,
        computer=lambda: computer,
    )
    assert exchange.import_from().total("new") == 2


def test_a_folder_that_is_a_link_into_a_repository_keeps_its_project(
    memory: recollect.Memory, folder: Path, tmp_path: Path
) -> None:
    folder.rename(tmp_path / "repository")
    os.symlink(tmp_path / "repository", folder)
    assert read(memory, folder).new == ["no-mocks.md", "role.md"]
    assert "project:-home-ada-garden" in current(memory)[TEXT].tags
    assert read(memory, folder).unchanged == ["no-mocks.md", "role.md"]


# Exporting


def remembered(memory: recollect.Memory, text: str, **options: object) -> Record:
    record = memory.knowledge.remember(text, **options).record  # type: ignore[arg-type]
    assert record
    return record


def test_an_export_has_a_file_for_each_record_and_an_index(memory: recollect.Memory, tmp_path: Path) -> None:
    remembered(memory, "Mara keeps bees.", category="identity")
    remembered(memory, "Run the checks first.", category="operational", tags=["work"])
    gone = remembered(memory, "The moon is green.")
    memory.knowledge.retract(gone.id)
    remembered(memory, "The fair is over.", expires_at="2026-01-01T00:00:00Z")
    done = memory.exchange.export_to(tmp_path / "out")
    assert sorted(done.written) == ["MEMORY.md", "mara-keeps-bees.md", "run-the-checks-first.md"]
    assert (tmp_path / "out" / "MEMORY.md").read_text() == (
        "- [mara-keeps-bees](mara-keeps-bees.md) — Mara keeps bees.\n"
        "- [run-the-checks-first](run-the-checks-first.md) — Run the checks first.\n"
    )
    before = files(tmp_path / "out")
    again = memory.exchange.export_to(tmp_path / "out")
    assert (again.written, again.removed, sorted(again.unchanged)) == ([], [], sorted(done.written))
    assert files(tmp_path / "out") == before
    memory.exchange.export_to(tmp_path / "other")
    assert files(tmp_path / "other") == before


def test_files_of_others_stay_and_ours_follow_what_is_known(memory: recollect.Memory, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "mara-keeps-bees.md").write_text("Mine.\n")
    (out / "MEMORY.md").write_text("- [Mine](mara-keeps-bees.md)\n")
    bees, well, pond = (remembered(memory, f"{text}.") for text in ("Mara keeps bees", "The well is deep", "A pond"))
    done = memory.exchange.export_to(out)
    assert [one.file for one in done.left] == ["MEMORY.md"]
    theirs = f"mara-keeps-bees-{bees.id[-6:]}.md"
    assert sorted(done.written) == ["a-pond.md", theirs, "the-well-is-deep.md"]
    assert (out / "mara-keeps-bees.md").read_text() == "Mine.\n"

    (out / "the-well-is-deep.md").write_text("Changed by somebody.\n")
    memory.knowledge.retract(well.id)
    memory.forget(record=pond.id)
    again = memory.exchange.export_to(out)

    assert again.removed == ["a-pond.md"]
    assert {one.file for one in again.left} == {"MEMORY.md", "the-well-is-deep.md"}
    assert (out / "the-well-is-deep.md").read_text() == "Changed by somebody.\n"
    assert (out / "MEMORY.md").read_text() == "- [Mine](mara-keeps-bees.md)\n"


def test_a_manifest_that_was_tampered_with_leads_nowhere(memory: recollect.Memory, tmp_path: Path) -> None:
    out, victim = tmp_path / "out", tmp_path / "victim.md"
    out.mkdir()
    victim.write_text("Precious.\n")
    import hashlib

    digest = hashlib.sha256(victim.read_bytes()).hexdigest()
    (out / MANIFEST).write_text(f'{{"format": 1, "files": {{"../victim.md": ["{digest}"], ".x.md": ["{digest}"]}}}}')
    os.symlink(victim, out / "the-well-is-deep.md")
    remembered(memory, "The well is deep.")
    memory.exchange.export_to(out)
    assert victim.read_text() == "Precious.\n"
    assert (out / "the-well-is-deep.md").is_symlink()
    (out / MANIFEST).write_text("[1, 2")
    memory.exchange.export_to(out)
    assert victim.read_text() == "Precious.\n"


def test_texts_that_begin_alike_have_files_of_their_own(memory: recollect.Memory, tmp_path: Path) -> None:
    texts = [
        "memory",
        "Con",
        "../../etc/passwd",
        "a\x00b",
        "Same words here!",
        "Same words here?",
        "豆を植える。",
        "---\n---",
    ]
    for text in texts:
        remembered(memory, text)
    done = memory.exchange.export_to(tmp_path / "out")
    assert len(done.written) == len(texts) + 1
    assert done.left == []
    assert all(path.parent == tmp_path / "out" for path in (tmp_path / "out").rglob("*"))
    assert len({name.casefold() for name in done.written}) == len(done.written)


def test_an_agents_export_has_what_it_may_see(memory: recollect.Memory, tmp_path: Path) -> None:
    memory.agents.add("ada")
    memory.agents.add("bob")
    remembered(memory, "Seen by all.")
    remembered(memory, "Seen by Ada.", scope="ada")
    done = memory.as_agent("bob").exchange.export_to(tmp_path / "bob")
    assert sorted(done.written) == ["MEMORY.md", "seen-by-all.md"]
    assert b"Ada" not in b"".join(files(tmp_path / "bob").values())


def test_an_export_of_a_project_has_what_comes_from_it(
    memory: recollect.Memory, folder: Path, projects: Path, tmp_path: Path
) -> None:
    transcript = Transcript("one")
    transcript.user("The gate code changes on Mondays.")
    transcript.assistant("Noted.")
    memory.history.ingest([transcript.save(projects)])
    message = next(one for one in memory.history.export() if "gate code" in one.text)
    memory.promote(message.id)
    remembered(memory, "Of no project.")
    read(memory, folder)
    done = memory.exchange.export_to(tmp_path / "out", project=PROJECT)
    assert sorted(done.written) == [
        "MEMORY.md",
        "never-mock-the-database-in-tests.md",
        "the-gate-code-changes-on-mondays.md",
        "who-she-is-mara-keeps-bees.md",
    ]
    assert memory.exchange.export_to(tmp_path / "none", project="elsewhere").written == []


def test_what_was_read_from_a_folder_is_not_written_into_it_again(memory: recollect.Memory, folder: Path) -> None:
    read(memory, folder)
    remembered(memory, "The well is deep.")
    done = memory.exchange.export_to(folder)
    assert done.written == ["the-well-is-deep.md"]
    assert read(memory, folder).known == ["the-well-is-deep.md"]
    assert len(current(memory)) == 3


def test_who_forgets_is_told_of_the_copy(memory: recollect.Memory, tmp_path: Path) -> None:
    record = remembered(memory, "The well is deep.")
    for _ in range(2):
        memory.exchange.export_to(tmp_path / "out")
    told = memory.forget(record=record.id, dry_run=True).out_of_reach
    assert len([one for one in told if str(tmp_path / "out") in one]) == 1


statements = st.fixed_dictionaries(
    {
        "text": st.text(min_size=1, max_size=80).filter(
            lambda text: any(sign.isprintable() and not sign.isspace() for sign in text)
        ),
        "category": st.sampled_from(["knowledge", "identity", "operational"]),
        "tags": st.lists(st.sampled_from(["reference", "a, b", "x]", '"', "豆", "project:p"]), max_size=3, unique=True),
        "importance": st.sampled_from([0.0, 0.3, 0.5, 1.0]),
    }
)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(given_statements=st.lists(statements, min_size=1, max_size=5, unique_by=lambda one: one["text"].casefold()))
def test_what_is_exported_and_imported_elsewhere_is_the_same(
    open_house: OpenHouse, tmp_path_factory: pytest.TempPathFactory, given_statements: list[dict[str, object]]
) -> None:
    one, other = open_house(), open_house()
    for statement in given_statements:
        remembered(one, **statement)  # type: ignore[arg-type]
    out = tmp_path_factory.mktemp("out")
    one.exchange.export_to(out)
    report = read(other, out)
    assert report.problems == []

    def told(memory: recollect.Memory) -> list[tuple[object, ...]]:
        return sorted(
            (record.text, record.category, record.tags, record.importance, record.kind, record.true_from)
            for record in memory.knowledge.records()
        )

    assert told(other) == told(one)
    again = tmp_path_factory.mktemp("again")
    other.exchange.export_to(again)
    assert {name.split("-")[0] for name in files(again)} == {name.split("-")[0] for name in files(out)}
    assert read(one, out).new == []


def test_an_export_of_the_house_carries_which_file_became_what(
    memory: recollect.Memory, open_house: OpenHouse, folder: Path, tmp_path: Path
) -> None:
    read(memory, folder)
    memory.transfer.export_to(tmp_path / "house")
    other = open_house()
    other.transfer.import_from(tmp_path / "house")
    assert read(other, folder).unchanged == ["no-mocks.md", "role.md"]
