"""What was forgotten goes out of notes too: from all versions, from the files, on every computer. On both engines."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from residue import residue_of
from transcripts import Transcript

import recollect
from recollect.context.state import drop_states
from recollect.errors import Conflict, Denied, NotFound
from recollect.forgetting import Forgetting, Forgotten
from recollect.knowledge import Evidence, Knowledge, Origin, Statement
from recollect.lineage import MESSAGE, RECORD, EdgeStore
from recollect.notes.lines import NOTE_LINE, Source, line_edges, line_id, without
from recollect.scopes import Actor, Principal
from recollect.testing import FrozenClock

OpenHouse = Callable[..., recollect.Memory]
SECRET = "The spare key of the shed lies under the third pot of thyme"
OTHER = "Runner beans climb best on hazel poles of two metres"
PLAIN = "The compost is turned on the first of May"


@pytest.fixture
def told(memory: recollect.Memory, projects: Path) -> recollect.Memory:
    transcript = Transcript("shed")
    transcript.user(f"{SECRET}, do not lose it.")
    transcript.assistant("I will keep that in mind.")
    transcript.user(f"{OTHER}, remember that.")
    transcript.assistant("Noted: hazel poles.")
    memory.history.ingest([transcript.save(projects)])
    return memory


def forgetting(memory: recollect.Memory, owner: recollect.Memory | None = None) -> Forgetting:
    house = owner or memory
    return Forgetting(
        memory.database,
        memory.settings,
        memory.clock,
        lambda: house.recall,
        principal=memory.principal,
        look=house.notes.look,
        clean=[house.notes.clear_held, lambda: drop_states(memory.settings.runtime)],
    )


def forget(memory: recollect.Memory, owner: recollect.Memory | None = None, **named: object) -> Forgotten:
    return forgetting(memory, owner).forget(**named)  # type: ignore[arg-type]


def said(memory: recollect.Memory, words: str) -> Source:
    return Source(kind=MESSAGE, id=next(one.id for one in memory.history.export() if words in one.text))


def texts(memory: recollect.Memory, path: str) -> list[str]:
    numbers = [version.number for version in memory.notes.history(path)]
    return [memory.notes.read(path, number).text for number in numbers]


def other_home(memory: recollect.Memory, home: Path, engine: str, clock: FrozenClock) -> recollect.Memory:
    """The same house on another computer, its folder filled."""
    other = recollect.open(home=home, database=engine, clock=clock)
    other.notes.look()
    return other


def test_a_line_goes_with_the_message_it_came_from(told: recollect.Memory) -> None:
    told.notes.write("garden.md", f"# Garden\n{PLAIN}\n")
    told.notes.append("garden.md", f"- {SECRET}\n", sources=[said(told, SECRET)], reason=f"as told: {SECRET}")
    told.notes.append("garden.md", f"- {OTHER}\n", sources=[said(told, OTHER)], reason="beans")
    shown = told.settings.runtime / "contexts" / "assistant.conversation.json"
    shown.parent.mkdir(parents=True)
    shown.write_text(f'{{"head": "{SECRET}"}}', encoding="utf-8")
    assert "garden.md" in [hit.id for hit in told.recall.search("spare key of the shed").hits]
    plan = forget(told, message=said(told, SECRET).id, dry_run=True)
    assert plan.note_lines == {"garden.md": [SECRET]}

    forgotten = forget(told, message=said(told, SECRET).id)

    assert (forgotten.state, forgotten.residue) == ("verified", [])
    assert {name: forgotten.removed[name] for name in ("notes", "note_lines", "note_versions")} == {
        "notes": 0,
        "note_lines": 1,
        "note_versions": 2,
    }
    assert plan.removed["note_versions"] == 2
    kept = f"# Garden\n{PLAIN}\n"
    assert texts(told, "garden.md") == [kept, kept, f"{kept}- {OTHER}\n"]
    assert [version.reason for version in told.notes.history("garden.md")] == ["", "", "beans"]
    assert (told.notes.folder / "garden.md").read_text(encoding="utf-8") == f"{kept}- {OTHER}\n"
    assert residue_of(told, SECRET) == []
    assert all(SECRET not in hit.text for hit in told.recall.search("spare key of the shed").hits)
    assert [one.state for one in forgetting(told).verify()] == ["verified"]


def test_a_line_that_something_else_says_too_stays_until_that_goes(told: recollect.Memory) -> None:
    line = "The shed and the beans stand side by side"
    sources = [said(told, SECRET), said(told, OTHER)]
    told.notes.append("garden.md", f"{line}\n", sources=sources)
    told.notes.append("garden.md", f"{line} now\n", sources=sources[:1])

    first = forget(told, message=sources[0].id)
    assert (first.state, first.removed["note_lines"]) == ("verified", 1)
    assert told.notes.read("garden.md").text == f"{line}\n"

    assert forget(told, message=sources[1].id).removed["note_lines"] == 1
    assert told.notes.find("garden.md") is None
    assert not (told.notes.folder / "garden.md").exists()
    assert residue_of(told, line) == []
    with told.database.read() as session:
        assert (
            EdgeStore(session, told.settings.house).origins_of(NOTE_LINE, [line_id("garden.md", line.encode())]) == []
        )


def test_a_line_goes_with_its_record_and_with_the_message_behind_it(told: recollect.Memory) -> None:
    reader = Knowledge(told.database, told.settings.house, told.clock, Principal(actor=Actor.LIBRARIAN))
    lines: list[str] = []
    for words in (SECRET, OTHER):
        evidence = Evidence(message_id=said(told, words).id, quote=words)
        claim = Statement(text=words, origin=Origin.EXTRACTED, sources=(evidence,), subject="garden")
        record = reader.learn(claim).record
        assert record
        lines.append(f"Known since spring: {words}")
        told.notes.append("MEMORY.md", f"{lines[-1]}\n", sources=[Source(kind=RECORD, id=record.id)])

    assert forget(told, message=said(told, SECRET).id).removed["note_lines"] == 1
    assert told.notes.read("MEMORY.md").text == f"{lines[1]}\n"
    assert forget(told, subject="garden").removed["note_lines"] == 1
    assert residue_of(told, *lines) == []


def test_a_crash_before_the_files_were_cleaned_loses_nothing_and_leaves_nothing(
    told: recollect.Memory, engine: str, clock: FrozenClock
) -> None:
    told.notes.write("garden.md", f"{PLAIN}\n")
    told.notes.append("garden.md", f"{SECRET}\n", sources=[said(told, SECRET)])
    forget(told, message=said(told, SECRET).id, verify=False)
    assert SECRET in (told.notes.folder / "garden.md").read_text(encoding="utf-8")

    with recollect.open(home=told.settings.home, database=engine, clock=clock) as later:
        later.notes.look()
        assert (later.notes.folder / "garden.md").read_text(encoding="utf-8") == f"{PLAIN}\n"
        assert [one.state for one in forgetting(later).verify()] == ["verified"]
        assert all(SECRET not in text for text in texts(later, "garden.md"))
        assert residue_of(later, SECRET) == []


def test_another_computer_loses_the_line_and_keeps_what_was_written_there_meanwhile(
    told: recollect.Memory, tmp_path: Path, engine: str, clock: FrozenClock
) -> None:
    told.notes.write("edited.md", f"{PLAIN}\n")
    for path in ("edited.md", "same.md"):
        told.notes.append(path, f"{SECRET}\n", sources=[said(told, SECRET)])
    with other_home(told, tmp_path / "other", engine, clock) as other:
        file = other.notes.folder / "edited.md"
        file.write_text(f"{PLAIN}\n  - [x] {SECRET}  \r\nWritten on the other computer\n", encoding="utf-8")

        forgotten = forget(told, message=said(told, SECRET).id)
        assert any("another computer" in place for place in forgotten.out_of_reach)
        told.notes.write("same.md", "Begun anew\n")
        other.notes.look()
        other.notes.clear_held()

        assert file.read_text(encoding="utf-8") == f"{PLAIN}\nWritten on the other computer\n"
        assert other.notes.read("edited.md").actor == "outside"
        assert (other.notes.folder / "same.md").read_text(encoding="utf-8") == "Begun anew\n"
        told.notes.look()
        assert told.notes.read("same.md").text == "Begun anew\n"
        assert residue_of(other, SECRET) == residue_of(told, SECRET) == []
    assert not any("another computer" in place for place in forgetting(told).verify()[0].out_of_reach)


def test_undo_does_not_bring_a_forgotten_line_back(told: recollect.Memory) -> None:
    told.notes.write("garden.md", f"{PLAIN}\n")
    told.notes.append("garden.md", f"{SECRET}\n", sources=[said(told, SECRET)])
    told.notes.write("garden.md", f"{OTHER}\n")
    forget(told, message=said(told, SECRET).id)

    for number in (2, 1, 0):
        told.notes.undo("garden.md", number)
    assert residue_of(told, SECRET) == []


def test_a_line_follows_its_note_to_another_name(told: recollect.Memory) -> None:
    told.notes.append("garden.md", f"{SECRET}\n", sources=[said(told, SECRET)])
    told.notes.append("garden.md", f"{PLAIN}\n")
    (told.notes.folder / "copy.md").write_bytes((told.notes.folder / "garden.md").read_bytes())
    told.notes.look()
    told.notes.move("garden.md", "projects/garden.md")
    told.notes.append("projects/garden.md", f"{OTHER}\n")

    assert forget(told, message=said(told, SECRET).id).removed["note_lines"] == 3

    assert residue_of(told, SECRET) == []
    assert told.notes.read("projects/garden.md").text == f"{PLAIN}\n{OTHER}\n"
    assert told.notes.read("copy.md").text == f"{PLAIN}\n"


def test_words_of_a_note_that_stays_are_named_and_no_residue(told: recollect.Memory) -> None:
    told.notes.write("mine.md", f"I wrote this myself: {SECRET}\n")

    forgotten = forget(told, message=said(told, SECRET).id)

    assert (forgotten.state, forgotten.also_in["note"]) == ("verified", ["mine.md"])
    assert SECRET in told.notes.read("mine.md").text


def test_a_note_goes_with_all_its_versions_and_may_be_written_anew(told: recollect.Memory) -> None:
    told.notes.write("draft.md", f"{SECRET}\n", reason=f"so that {SECRET} is known")
    told.notes.write("draft.md", f"{OTHER}\n")
    told.notes.move("draft.md", "user.md")
    (told.notes.folder / "user.md").write_bytes(b"\xff\xfe\x00" + f"{PLAIN}\n".encode() * 2)
    told.recall.catch_up()
    plan = forget(told, note="USER.md", dry_run=True)
    assert plan.reached["note"] == ["draft.md", "user.md"]

    forgotten = forget(told, note="user.md")

    assert (forgotten.state, forgotten.target, forgotten.removed["notes"]) == ("verified", "note", 2)
    assert forgotten.removed["note_versions"] == plan.removed["note_versions"] == 5
    assert not (told.notes.folder / "user.md").exists()
    assert residue_of(told, PLAIN) == []
    with pytest.raises(NotFound, match="note"):
        told.notes.history("user.md")
    with pytest.raises(NotFound, match=r"user\.md"):
        forget(told, note="user.md")

    told.notes.write("user.md", f"{PLAIN}\nAnd more\n")
    told.notes.look()
    (version,) = told.notes.history("user.md")
    assert version.number > 2, "no number that one of the forgotten had"
    assert (told.notes.folder / "user.md").read_text(encoding="utf-8") == f"{PLAIN}\nAnd more\n"


def test_a_forgotten_note_does_not_come_back_from_another_computer(
    told: recollect.Memory, tmp_path: Path, engine: str, clock: FrozenClock
) -> None:
    for path in ("same.md", "edited.md", "anew.md"):
        told.notes.write(path, f"# {path}\n{SECRET}\n")
    with other_home(told, tmp_path / "other", engine, clock) as other:
        (other.notes.folder / "edited.md").write_text(f"# edited.md\n{SECRET}\n{PLAIN}\n", encoding="utf-8")
        for path in ("same.md", "edited.md", "anew.md"):
            forget(told, note=path, verify=False)
        told.notes.write("anew.md", "Begun anew\n")

        other.notes.look()
        other.notes.look()

        assert not (other.notes.folder / "same.md").exists()
        assert (other.notes.folder / "edited.md").read_text(encoding="utf-8") == f"{PLAIN}\n"
        assert (other.notes.folder / "anew.md").read_text(encoding="utf-8") == "Begun anew\n"
        assert told.notes.read("anew.md").text == "Begun anew\n"
        assert SECRET not in "".join(text for path in ("anew.md", "edited.md") for text in texts(other, path))


def test_a_dry_run_changes_nothing_in_notes(told: recollect.Memory) -> None:
    told.notes.append("garden.md", f"{SECRET}\n", sources=[said(told, SECRET)])
    before = told.notes.history("garden.md")

    forget(told, message=said(told, SECRET).id, dry_run=True)
    forget(told, note="garden.md", dry_run=True)

    assert told.notes.history("garden.md") == before
    assert texts(told, "garden.md") == [f"{SECRET}\n"]
    assert (told.notes.folder / "garden.md").read_text(encoding="utf-8") == f"{SECRET}\n"


def test_a_note_may_go_with_the_messages_its_lines_came_from(told: recollect.Memory) -> None:
    told.notes.append("garden.md", f"{SECRET}\n", sources=[said(told, SECRET)])
    assert forget(told, note="garden.md", dry_run=True).sources == [said(told, SECRET).id]

    forgotten = forget(told, note="garden.md", with_sources=True)

    assert (forgotten.state, forgotten.removed["messages"], forgotten.also_in) == ("verified", 1, {})
    assert residue_of(told, SECRET) == []


def test_an_agent_forgets_notes_that_it_may_write(told: recollect.Memory) -> None:
    for name in ("ada", "bob"):
        told.agents.add(name)
    ada, bob = told.as_agent("ada"), told.as_agent("bob")
    ada.notes.diary.write(f"{SECRET}\n")
    entry = ada.notes.list(f"{ada.notes.own_folder}/diary")[0].path
    told.notes.write("user.md", f"{PLAIN}\n")

    with pytest.raises(Conflict):
        ada.notes.remove(entry)
    with pytest.raises(NotFound):
        forget(bob, told, note=entry)
    with pytest.raises(Denied):
        forget(ada, told, note="user.md")
    with pytest.raises(Denied):
        forget(ada, told, note=entry, with_sources=True)
    assert forget(ada, told, note=entry).removed["notes"] == 1
    assert [version.path for version in ada.notes.list(gone=True)] == ["user.md"]


def test_an_agent_is_not_shown_lines_of_notes_that_it_does_not_see(told: recollect.Memory) -> None:
    for name in ("ada", "bob"):
        told.agents.add(name)
    ada, bob = told.as_agent("ada"), told.as_agent("bob")
    record = ada.knowledge.remember(SECRET).record
    assert record
    bob.notes.append(
        f"{bob.notes.own_folder}/seen.md", f"Heard: {SECRET}\n", sources=[Source(kind=RECORD, id=record.id)]
    )

    assert forget(ada, told, record=record.id, dry_run=True).note_lines == {}
    assert forget(ada, told, record=record.id).removed["note_lines"] == 1


def test_edges_lead_to_the_lines_that_were_added_and_say_something() -> None:
    source = Source(kind=MESSAGE, id="m")
    edges = line_edges("a#b.md", "- [ ] old\n", "  - [x] old \n\n---\n> new\r\n2. new\n", [source])

    assert [(edge.from_id, edge.to_id) for edge in edges] == [("m", line_id("a#b.md", b"new"))]
    assert line_edges("a.md", None, "new\n", []) == []
    assert without(b"a\r\n  * b\t\n# b\nc", [b"b"]) == b"a\r\n# b\nc"


def test_what_git_keeps_of_the_notes_is_named_as_out_of_reach(told: recollect.Memory) -> None:
    told.notes.append("garden.md", f"{SECRET}\n", sources=[said(told, SECRET)])
    (told.notes.folder / ".git").mkdir()

    assert any(".git" in place for place in forget(told, note="garden.md", dry_run=True).out_of_reach)
    assert not any(".git" in place for place in forget(told, message=said(told, OTHER).id, dry_run=True).out_of_reach)


PATHS = st.sampled_from(["a.md", "b.md", "c/d.md"])
STEPS = st.tuples(st.sampled_from(["told", "told", "own", "outside", "move", "undo", "look"]), PATHS, PATHS)


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=st.lists(STEPS, min_size=3, max_size=12), chosen=st.lists(st.booleans(), min_size=12, max_size=12))
def test_random_forgets_leave_no_line_and_take_no_other(
    open_house: OpenHouse, steps: list[tuple[str, str, str]], chosen: list[bool]
) -> None:
    memory = open_house()
    sources: dict[int, Source] = {}
    own: list[str] = []
    for number, (step, path, other) in enumerate(steps):
        file = memory.notes.folder / path
        if step == "told":
            record = memory.knowledge.remember(f"Number {number} of the things that are known").record
            assert record
            sources[number] = Source(kind=RECORD, id=record.id)
            memory.notes.append(path, f"- told-line-{number}-of-this-house\n", sources=[sources[number]])
        elif step == "own":
            own.append(f"own-line-{number}-of-this-house")
            memory.notes.append(path, f"{own[-1]}\n")
        elif step == "outside" and file.exists():
            own.append(f"outside-line-{number}-of-this-house")
            file.write_text(f"{own[-1]}\n  {file.read_text(encoding='utf-8')}", encoding="utf-8")
        elif step == "look":
            memory.notes.look()
        else:
            with suppress(NotFound, Conflict):
                _ = memory.notes.move(path, other) if step == "move" else memory.notes.undo(path)
    memory.notes.look()
    gone = [number for number in sources if chosen[number]]

    for number in gone:
        forgotten = forget(memory, record=sources[number].id)
        assert (forgotten.state, forgotten.residue) == ("verified", []), forgotten

    assert memory.notes.look().found == []
    kept = [text for note in memory.notes.list(gone=True) for text in texts(memory, note.path)]
    files = [file.read_text(encoding="utf-8") for file in memory.notes.folder.rglob("*") if file.is_file()]
    for number in gone:
        assert not any(f"told-line-{number}-" in text for text in (*kept, *files))
    for number in sources.keys() - set(gone):
        assert any(f"told-line-{number}-" in text for text in kept)
    assert all(any(line in text for text in kept) for line in own)


def test_no_digest_of_a_forgotten_text_stays_for_a_folder_that_nobody_looks_at(
    told: recollect.Memory, tmp_path: Path, engine: str, clock: FrozenClock
) -> None:
    for path in ("whole.md", "edited.md", "removed.md"):
        told.notes.write(path, f"{PLAIN}\n")
        told.notes.append(path, f"{SECRET}\n", sources=[said(told, SECRET)])
    known = {version.digest for path in ("whole.md", "edited.md", "removed.md") for version in told.notes.history(path)}
    with other_home(told, tmp_path / "other", engine, clock) as other:
        (other.notes.folder / "edited.md").write_text(f"{PLAIN}\n{SECRET}\n{OTHER}\n", encoding="utf-8")
        (other.notes.folder / "removed.md").unlink()
        forget(told, note="whole.md", verify=False)
        forget(told, message=said(told, SECRET).id)
        with told.database.read() as session:
            digests = {row[0] for row in session.rows("SELECT digest FROM notes_copies WHERE purge = 1")}

        other.notes.look()

        assert digests == {"", other.notes.read("edited.md", 1).digest}
        assert digests < known | {""}
        assert other.notes.read("edited.md").text == f"{PLAIN}\n{OTHER}\n"
        assert other.notes.read("edited.md").unseen == 0
        assert other.notes.find("removed.md") is None
