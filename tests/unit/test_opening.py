"""Files as they lie and as they are packed: what is whole is read, what is not says so, and nothing fills the disk."""

import io
import os
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.errors import Unreadable
from recollect.history import archives, opening
from recollect.history.archives import is_archive, is_possible, parts_of
from recollect.history.opening import Part, open_transcript, stamp_of, unpacked

LINES = b"".join(b'{"number":%d,"words":"K\xc3\xa4ferbohnen"}\n' % number for number in range(300))
NOISE = b'{"noise":"' + bytes(range(65, 91)) * 40 + b'"}'
ENCRYPTED, DESCRIPTOR = 1, 8


def written(path: Path, raw: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(raw)
    return path


def zipped(entries: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, raw in entries.items():
            archive.writestr(name, raw)
    return file.getvalue()


class Pipe(io.RawIOBase):
    """A target that cannot go back, so that sizes are written behind the data, as services do that stream."""

    def __init__(self) -> None:
        self.raw = b""

    def writable(self) -> bool:
        return True

    def write(self, block: bytes, /) -> int:  # type: ignore[override]
        self.raw += bytes(block)
        return len(block)


def streamed(entries: dict[str, bytes], *, wide: bool = False) -> bytes:
    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, raw in entries.items():
            with archive.open(name, "w", force_zip64=wide) as entry:
                entry.write(raw)
    return pipe.raw


def without_contents(raw: bytes) -> bytes:
    """An archive whose table of contents was never downloaded."""
    return raw[: raw.index(b"PK\x01\x02")]


def changed(raw: bytes, name: str, local: int, central: int, value: bytes) -> bytes:
    """The same archive with other bytes in a field of an entry's two headers."""
    result = bytearray(raw)
    for signature, field, start in ((b"PK\x03\x04", local, 30), (b"PK\x01\x02", central, 46)):
        at = -1
        while (at := raw.find(signature, at + 1)) >= 0:
            if raw[at + start :].startswith(name.encode()):
                result[at + field : at + field + len(value)] = value
    return bytes(result)


class Archive:
    """What is read from an archive, what is told of it, and how it ends."""

    def __init__(self, path: Path) -> None:
        self.read: dict[str, bytes] = {}
        self.told: list[str] = []
        self.end = ""
        with open(path, "rb") as opened:
            assert is_archive(opened)
            try:
                for part in parts_of(str(path), opened, self.told.append):
                    self.read[part.path.removeprefix(f"{path}/")] = part.file.read()
            except Unreadable as error:
                self.end = str(error)


def plain(path: Path) -> tuple[str, bytes, str]:
    with open(path, "rb") as opened, unpacked(str(path), opened) as part:
        return part.path, part.file.read(), part.problem


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits that a test can reach."""
    monkeypatch.setattr(opening, "SMALL_BYTES", 10_000)
    for module in (opening, archives):
        monkeypatch.setattr(module, "BLOCK_BYTES", 1_000)
    monkeypatch.setattr(opening, "IN_MEMORY_BYTES", 2_000)


# --- .zst -------------------------------------------------------------------------------------------------------------


def frame(raw: bytes) -> bytes:
    """As a program writes it that has all of it."""
    return zstandard.ZstdCompressor().compress(raw)


def stream_frame(raw: bytes) -> bytes:
    """As a program writes it that does not know how long it will be."""
    packer = zstandard.ZstdCompressor().compressobj()
    return packer.compress(raw) + packer.flush()


FRAMES: dict[str, Callable[[bytes], bytes]] = {"with its size": frame, "without its size": stream_frame}


@pytest.fixture(params=FRAMES.values(), ids=FRAMES)
def pack(request: pytest.FixtureRequest) -> Callable[[bytes], bytes]:
    return request.param


def test_a_packed_file_is_the_file_without_its_last_ending(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    path = written(tmp_path / "rollout.jsonl.zst", pack(LINES))

    assert plain(path) == (str(tmp_path / "rollout.jsonl"), LINES, "")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=30)
@given(cuts=st.lists(st.integers(0, len(LINES)), max_size=5))
def test_any_number_of_frames_is_one_file(tmp_path: Path, pack: Callable[[bytes], bytes], cuts: list[int]) -> None:
    ends = sorted(cuts)
    pieces = [LINES[start:end] for start, end in zip([0, *ends], [*ends, len(LINES)], strict=True)]
    path = written(tmp_path / "rollout.jsonl.zst", b"".join(map(pack, pieces)))

    assert plain(path)[1:] == (LINES, "")


@pytest.mark.parametrize("frames", [1, 2])
def test_a_packed_file_cut_short_gives_its_beginning_and_says_so(
    tmp_path: Path, pack: Callable[[bytes], bytes], frames: int
) -> None:
    noise = os.urandom(400_000)
    raw = b"".join([pack(LINES)] * (frames - 1)) + pack(noise)
    path = written(tmp_path / "rollout.jsonl.zst", raw[: len(raw) - 150_000])

    _, read, problem = plain(path)

    assert (LINES * (frames - 1) + noise).startswith(read)
    assert len(read) > len(LINES) * (frames - 1)
    assert str(path) in problem
    assert "cut short" in problem
    assert "again" in problem


def test_a_packed_file_damaged_in_the_middle_says_what_to_do(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    raw = bytearray(pack(LINES * 50))
    raw[20:60] = b"\xff" * 40
    path = written(tmp_path / "rollout.jsonl.zst", bytes(raw))

    with pytest.raises(Unreadable, match=r"rollout.jsonl.zst cannot be unpacked: .*get it again"):
        plain(path)


def test_a_file_that_is_only_called_packed_is_given_as_it_lies(tmp_path: Path) -> None:
    path = written(tmp_path / "rollout.jsonl.zst", LINES)

    assert plain(path) == (str(path), LINES, "")


def test_a_packed_file_without_the_ending_is_unpacked_too(tmp_path: Path) -> None:
    path = written(tmp_path / "rollout.jsonl", frame(LINES))

    assert plain(path) == (str(path), LINES, "")


@pytest.mark.usefixtures("small")
def test_a_packed_file_that_unpacks_without_end_is_refused(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    path = written(tmp_path / "rollout.jsonl.zst", pack(b"\x00" * 5_000_000))

    with pytest.raises(Unreadable, match=r"rollout.jsonl.zst unpacks to more than 100 times its size.*unpack it yours"):
        plain(path)


# --- .zip -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_what_may_be_a_transcript_is_read_from_any_folder_of_an_archive(tmp_path: Path, method: int) -> None:
    entries = {"a/b/c/conversations.json": LINES, "x.jsonl": LINES[:50], "photo.jpg": b"\xff\xd8", "a/chat.html": b"<"}
    read = Archive(written(tmp_path / "export.zip", zipped(entries, method)))

    assert read.read == {"a/b/c/conversations.json": LINES, "x.jsonl": LINES[:50]}
    assert (read.told, read.end) == ([], "")


def test_folders_in_an_archive_are_no_files(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.mkdir("folder.json")
        archive.writestr("folder.json/inner.json", LINES)

    assert Archive(path).read == {"folder.json/inner.json": LINES}


def test_an_archive_whose_sizes_stand_behind_the_data_is_read(tmp_path: Path) -> None:
    read = Archive(written(tmp_path / "export.zip", streamed({"a.json": LINES, "b.json": NOISE})))

    assert (read.read, read.told, read.end) == ({"a.json": LINES, "b.json": NOISE}, [], "")


def test_a_packed_file_in_an_archive_is_unpacked(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    raw = zipped({"sessions/rollout-1.jsonl.zst": pack(LINES) + pack(LINES)})

    assert Archive(written(tmp_path / "backup.zip", raw)).read == {"sessions/rollout-1.jsonl": LINES * 2}


def test_a_packed_file_in_an_archive_that_is_cut_short_is_told_of(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    cut = pack(os.urandom(400_000))[:250_000]
    path = tmp_path / "backup.zip"
    told: list[str] = []
    with open(written(path, zipped({"rollout-1.jsonl.zst": cut, "b.jsonl": LINES})), "rb") as opened:
        parts = [(part.path, part.problem) for part in parts_of(str(path), opened, told.append)]

    assert parts[-1] == (f"{path}/b.jsonl", "")
    problems = [*told, *(problem for _, problem in parts if problem)]
    assert len(problems) == 1
    assert "rollout-1.jsonl" in problems[0]


def test_an_encrypted_entry_is_told_of_and_the_others_are_read(tmp_path: Path) -> None:
    raw = zipped({"secret.json": LINES, "open.json": NOISE})
    read = Archive(written(tmp_path / "export.zip", changed(raw, "secret.json", 6, 8, bytes([ENCRYPTED]))))

    assert read.read == {"open.json": NOISE}
    (told,) = read.told
    assert "export.zip/secret.json is encrypted" in told
    assert "password" in told


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_an_entry_whose_checksum_is_wrong_is_told_of_and_the_others_are_read(tmp_path: Path, method: int) -> None:
    raw = zipped({"bad.json": LINES, "good.json": NOISE}, method)
    read = Archive(written(tmp_path / "export.zip", changed(raw, "bad.json", 14, 16, b"\x00\x01\x02\x03")))

    assert read.read == {"good.json": NOISE}
    (told,) = read.told
    assert "export.zip/bad.json cannot be unpacked" in told
    assert read.end == ""


def test_an_entry_packed_in_an_unknown_way_is_told_of_and_the_others_are_read(tmp_path: Path) -> None:
    raw = zipped({"odd.json": LINES, "good.json": NOISE})
    read = Archive(written(tmp_path / "export.zip", changed(raw, "odd.json", 8, 10, b"\x61\x00")))

    assert read.read == {"good.json": NOISE}
    assert len(read.told) == 1
    assert "odd.json" in read.told[0]


def test_an_archive_without_anything_gives_nothing(tmp_path: Path) -> None:
    read = Archive(written(tmp_path / "export.zip", zipped({})))

    assert (read.read, read.told, read.end) == ({}, [], "")


@pytest.mark.parametrize("name", ["../../outside.json", "/etc/outside.json", "..\\outside.json", "C:\\outside.json"])
def test_names_that_lead_out_of_an_archive_write_nothing(tmp_path: Path, name: str) -> None:
    path = written(tmp_path / "inner" / "deep" / "export.zip", zipped({name: LINES}))
    before = sorted(tmp_path.rglob("*"))

    read = Archive(path)

    assert list(read.read.values()) == [LINES]
    assert sorted(tmp_path.rglob("*")) == before


# --- .zip, damaged ----------------------------------------------------------------------------------------------------

WRITERS: dict[str, Callable[[dict[str, bytes]], bytes]] = {
    "deflated": zipped,
    "stored": lambda entries: zipped(entries, zipfile.ZIP_STORED),
    "sizes behind the data": streamed,
    "long sizes behind the data": lambda entries: streamed(entries, wide=True),
}


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_of_an_archive_without_its_contents_every_whole_entry_is_read(
    tmp_path: Path, write: Callable[[dict[str, bytes]], bytes]
) -> None:
    entries = {"a.json": LINES, "photo.jpg": NOISE, "b/c.json": NOISE}
    read = Archive(written(tmp_path / "export.zip", without_contents(write(entries))))

    assert read.read == {"a.json": LINES, "b/c.json": NOISE}
    assert "export.zip is cut short or damaged" in read.end
    assert "again" in read.end


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_an_archive_cut_anywhere_gives_whole_entries_only_and_always_says_so(
    tmp_path: Path, write: Callable[[dict[str, bytes]], bytes]
) -> None:
    entries = {"a.json": LINES[:400], "b.json": NOISE, "c.json": LINES[400:800]}
    raw = write(entries)
    seen: list[int] = []
    for size in range(30, len(raw) - 1, 7):
        read = Archive(written(tmp_path / "export.zip", raw[:size]))
        assert read.end
        assert list(read.read.items()) == list(entries.items())[: len(read.read)]
        seen.append(len(read.read))

    assert seen == sorted(seen)
    assert seen[-1] == 3


def test_an_archive_damaged_in_the_middle_never_raises_anything_else(tmp_path: Path) -> None:
    raw = zipped({"a.json": LINES[:400], "b.json": NOISE, "c.json": LINES[400:800]})
    for at in range(4, len(raw), 5):
        damaged = raw[:at] + bytes([raw[at] ^ 0xA5]) + raw[at + 1 :]
        read = Archive(written(tmp_path / "export.zip", damaged))
        assert len(read.read) <= 3


# --- Traps ------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("write", [zipped, streamed], ids=["sizes before the data", "sizes behind the data"])
def test_an_entry_that_says_it_unpacks_to_far_more_is_refused_and_the_others_are_read(
    tmp_path: Path, write: Callable[[dict[str, bytes]], bytes]
) -> None:
    read = Archive(written(tmp_path / "export.zip", write({"bomb.json": b"\x00" * 5_000_000, "good.json": NOISE})))

    assert read.read == {"good.json": NOISE}
    (told,) = read.told
    assert "export.zip/bomb.json unpacks to more than 100 times its size" in told
    assert "unpack it yourself" in told


@pytest.mark.usefixtures("small")
def test_an_entry_that_hides_how_much_it_unpacks_to_is_refused_and_the_others_are_read(tmp_path: Path) -> None:
    raw = zipped({"bomb.json": b"\x00" * 5_000_000, "good.json": NOISE})
    read = Archive(written(tmp_path / "export.zip", changed(raw, "bomb.json", 22, 24, (900).to_bytes(4, "little"))))

    assert read.read == {"good.json": NOISE}
    assert len(read.told) == 1
    assert "bomb.json" in read.told[0]


@pytest.mark.usefixtures("small")
def test_an_entry_that_pretends_to_be_large_while_packed_is_refused_and_the_others_are_read(tmp_path: Path) -> None:
    raw = zipped({"good.json": NOISE, "bomb.json": b"\x00" * 5_000_000})
    read = Archive(
        written(tmp_path / "export.zip", changed(raw, "bomb.json", 18, 20, (4_000_000).to_bytes(4, "little")))
    )

    assert read.read == {"good.json": NOISE}
    assert len(read.told) == 1
    assert "bomb.json" in read.told[0]


@pytest.mark.usefixtures("small")
def test_a_trap_in_an_archive_without_its_contents_is_refused(tmp_path: Path) -> None:
    raw = without_contents(zipped({"good.json": NOISE, "bomb.json": b"\x00" * 5_000_000}))
    read = Archive(written(tmp_path / "export.zip", raw))

    assert read.read == {"good.json": NOISE}
    assert read.end


@pytest.mark.usefixtures("small")
def test_a_trap_packed_twice_is_refused(tmp_path: Path) -> None:
    raw = zipped({"bomb.jsonl.zst": frame(b"\x00" * 5_000_000), "good.json": NOISE})
    read = Archive(written(tmp_path / "export.zip", raw))

    assert read.read == {"good.json": NOISE}
    assert len(read.told) == 1
    assert "bomb.jsonl" in read.told[0]


@pytest.mark.usefixtures("small")
def test_text_that_packs_well_is_no_trap(tmp_path: Path) -> None:
    entries = {"conversations.json": LINES * 20}
    raw = zipped(entries)
    assert len(entries["conversations.json"]) > opening.SMALL_BYTES

    read = Archive(written(tmp_path / "export.zip", raw))

    assert (read.read, read.told) == (entries, [])


@pytest.mark.usefixtures("small")
def test_what_was_unpacked_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    path = written(tmp_path / "export.zip", zipped({"a.json": LINES, "b.json": b"\x00" * 5_000_000}))

    assert Archive(path).read == {"a.json": LINES}
    assert plain(written(tmp_path / "a.jsonl.zst", frame(LINES)))[1] == LINES
    assert list((tmp_path / "scratch").iterdir()) == []


# --- Names and times --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "conversations.json",
        "export/anything.json",
        "session.jsonl",
        "rollout-1.jsonl.zst",
        "conversations.json.zst",
        ".aider.chat.history.md",
    ],
)
def test_a_name_that_may_be_a_transcripts(name: str) -> None:
    assert is_possible(name)


@pytest.mark.parametrize("name", ["photo.jpg", "chat.html", "notes.md", "json", "data.zst", "conversations.json.bak"])
def test_a_name_that_is_no_transcripts(name: str) -> None:
    assert not is_possible(name)


def stamped(path: Path) -> tuple[int, int]:
    stamp = stamp_of(str(path), path.stat())
    return stamp.st_size, stamp.st_mtime_ns


def test_a_database_has_changed_when_its_log_has(tmp_path: Path) -> None:
    path = written(tmp_path / "opencode.db", b"x" * 100)
    os.utime(path, ns=(5, 5))
    assert stamped(path) == (100, 5)

    log = written(tmp_path / "opencode.db-wal", b"y" * 30)
    os.utime(log, ns=(9, 9))
    assert stamped(path) == (130, 9)

    os.utime(log, ns=(2, 2))
    assert stamped(path) == (130, 5)


def test_only_databases_have_logs(tmp_path: Path) -> None:
    path = written(tmp_path / "session.jsonl", b"x" * 100)
    written(tmp_path / "session.jsonl-wal", b"y" * 30)

    assert stamp_of(str(path), path.stat()) == path.stat()


def test_a_name_that_is_not_utf8_is_explained() -> None:
    with pytest.raises(Unreadable, match="not UTF-8"):
        open_transcript("/nowhere/\udcff.jsonl")


def parts(path: Path) -> Iterator[Part]:
    with open(path, "rb") as opened:
        yield from parts_of(str(path), opened, lambda _: None)


def test_a_part_can_be_read_again_and_anywhere(tmp_path: Path) -> None:
    path = written(tmp_path / "export.zip", zipped({"a.json": LINES}))
    for part in parts(path):
        assert part.file.seek(0, os.SEEK_END) == len(LINES)
        part.file.seek(50)
        assert part.file.read(25) == LINES[50:75]
