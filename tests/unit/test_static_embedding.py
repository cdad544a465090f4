"""The static model: always here, the same vector for the same text, sensible in languages with and without spaces."""

from functools import cache
from pathlib import Path

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.embedding.catalogue import STATIC
from recollect.embedding.hashes import Hashes
from recollect.embedding.installed import static_files
from recollect.embedding.static import StaticEmbedder
from recollect.errors import Corrupt

PROPERTY = settings(max_examples=60, derandomize=True, deadline=None)


@cache
def static() -> StaticEmbedder:
    return StaticEmbedder(*static_files())


def nearness(one: str, other: str) -> float:
    return float(static().query(one) @ static().query(other))


def test_the_installed_files_are_those_that_were_pinned(tmp_path: Path) -> None:
    hashes = Hashes(tmp_path)
    assert [hashes.of(path) for path in static_files()] == [member.sha256 for member in STATIC.members]
    assert [path.stat().st_size for path in static_files()] == [member.size_bytes for member in STATIC.members]


@PROPERTY
@given(texts=st.lists(st.text(max_size=60), max_size=6), size=st.integers(1, 3))
def test_a_vector_does_not_depend_on_the_texts_beside_it(texts: list[str], size: int) -> None:
    together = static().passages([*texts, *["beans in May"] * size, *texts])
    for row, text in enumerate(texts):
        assert numpy.array_equal(together[row], static().passages([text])[0])


def test_a_vector_does_not_depend_on_where_a_long_list_is_cut() -> None:
    texts = [f"row {number} of {'beans ' * (number % 7)}" for number in range(600)]
    together = static().passages(texts)
    assert together.shape == (600, 128)
    assert together.dtype == numpy.float32
    assert all(numpy.array_equal(together[row], static().query(text)) for row, text in enumerate(texts))


@PROPERTY
@given(text=st.text(max_size=200))
def test_a_vector_has_unit_length_or_is_zero_where_nothing_is_said(text: str) -> None:
    length = float(numpy.linalg.norm(static().query(text)))
    assert length == pytest.approx(1, abs=1e-5) if static().piece_numbers(text) else length == 0


@pytest.mark.parametrize("text", ["", " \n\t", "…!?", "___", "\x00", "🙂"])
def test_a_text_without_a_word_gives_zeros(text: str) -> None:
    assert not static().query(text).any()


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        ("the database crashed last night", "postgres server failure", "we went hiking in the mountains"),
        ("recipe for tomato soup", "cooking vegetables", "stock market prices"),
        ("東京の天気", "東京は雨です", "豆腐の作り方"),
        ("我们的数据库崩溃了", "数据库出错", "周末去爬山"),
        ("wann säen wir die Bohnen", "Bohnen im Garten aussäen", "das Auto in der Werkstatt"),
    ],
)
def test_what_means_alike_lies_nearer(question: str, right: str, wrong: str) -> None:
    assert nearness(question, right) > nearness(question, wrong) + 0.1


def test_a_run_without_spaces_is_cut_into_words() -> None:
    assert nearness("我们的数据库崩溃了", "我们 的 数据库 崩溃 了") > 0.9
    assert nearness("東京tower", "東京 tower") == pytest.approx(1, abs=1e-5)


def test_capitals_widths_and_underscores_do_not_count() -> None:
    assert nearness("Parse_Error in MAIN", "parse error in main") == pytest.approx(1, abs=1e-5)
    assert nearness("ｆｕｌｌｗｉｄｔｈ", "fullwidth") == pytest.approx(1, abs=1e-5)


def test_the_name_tells_the_weights_and_the_way_of_cutting() -> None:
    assert static().name == f"{STATIC.name}@{STATIC.weights.sha256[:8]}.1"


def test_files_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    numpy.save(tmp_path / "vectors.npy", numpy.zeros((3, 4), dtype=numpy.float16))
    (tmp_path / "pieces.txt").write_text("[PAD]\n[UNK]")
    with pytest.raises(Corrupt, match="do not belong together"):
        StaticEmbedder(tmp_path / "pieces.txt", tmp_path / "vectors.npy")


def test_a_hash_is_remembered_until_the_file_changes(tmp_path: Path) -> None:
    file, folder = tmp_path / "weights", tmp_path / "models"
    file.write_bytes(b"one")
    first = Hashes(folder).of(file)
    known = (folder / "checked.json").read_text()
    (folder / "checked.json").write_text(known.replace(first, "remembered"))
    assert Hashes(folder).of(file) == "remembered"
    file.write_bytes(b"other")
    assert Hashes(folder).of(file) not in (first, "remembered")


@pytest.mark.parametrize("content", ["{", "[1]", '{"a": 1}'])
def test_a_damaged_memory_of_hashes_is_no_harm(tmp_path: Path, content: str) -> None:
    file = tmp_path / "weights"
    file.write_bytes(b"one")
    expected = Hashes(tmp_path).of(file)
    (tmp_path / "checked.json").write_text(content)
    assert Hashes(tmp_path).of(file) == expected
    assert Hashes(tmp_path / "weights" / "not-a-folder").of(file) == expected


def test_a_table_that_was_dropped_is_read_again_and_gives_the_same_vectors() -> None:
    embedder = StaticEmbedder(*static_files())
    before = embedder.passages(["The tomatoes go behind the shed.", "番茄"])
    assert embedder.unload_idle(0.0)
    assert not embedder.unload_idle(0.0)
    assert (embedder.passages(["The tomatoes go behind the shed.", "番茄"]) == before).all()
    assert not embedder.unload_idle(3600.0)
