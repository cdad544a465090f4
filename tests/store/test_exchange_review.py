"""What a review found of exports into a memory folder: nothing forgotten comes back, nothing of others goes."""

from pathlib import Path

import pytest
from conftest import OpenHouse

import recollect
from recollect.errors import Conflict
from recollect.exchange.facts import INDEX
from recollect.exchange.folders import MOST_FILE_BYTES, digest_at, digest_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "projects" / "-home-kim-garden" / "memory"


def test_what_was_exported_and_then_forgotten_is_not_read_again(memory: recollect.Memory, folder: Path) -> None:
    record = memory.knowledge.remember("The safe behind the picture opens with 9981.").record
    assert record
    memory.exchange.export_to(folder)
    memory.forget(record=record.id)
    memory.exchange.import_from([folder])
    assert memory.knowledge.records() == []


def test_an_export_that_was_read_again_stays_as_it_is(memory: recollect.Memory, folder: Path) -> None:
    for text in ("Beans are sown in May.", "The well is 14 metres deep.", "Mara lives in Porto."):
        memory.knowledge.remember(text)
    first = memory.exchange.export_to(folder)
    memory.exchange.import_from([folder])
    second = memory.exchange.export_to(folder)
    assert second.removed == []
    assert sorted(second.unchanged) == sorted(first.written)


def test_nobody_takes_away_what_another_house_exported(open_house: OpenHouse, folder: Path) -> None:
    one, other = open_house(), open_house()
    one.knowledge.remember("Beans are sown in May.")
    other.knowledge.remember("Mara lives in Porto.")
    written = one.exchange.export_to(folder).written
    with pytest.raises(Conflict, match="another house"):
        other.exchange.export_to(folder)
    assert all((folder / name).exists() for name in written)


def test_an_index_larger_than_any_fact_is_still_known(tmp_path: Path) -> None:
    content = b"- line\n" * MOST_FILE_BYTES
    for name in (INDEX, "fact.md"):
        (tmp_path / name).write_bytes(content)
    assert digest_at(tmp_path, INDEX) == digest_of(content)
    assert digest_at(tmp_path, "fact.md") == ""
