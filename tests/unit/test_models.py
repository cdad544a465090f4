"""Which models there are, fetching them by hash with the real pip, and using them."""

import os
import shutil
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tiny_models import FILES, Index, catalogue, serve_index, write_wheel

from recollect.embedding import Models
from recollect.embedding.catalogue import KNOWN, Kind
from recollect.embedding.models import Announcement, State
from recollect.errors import Corrupt, Denied, Invalid, NotFound, Unavailable
from recollect.settings import Settings


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    with serve_index(write_wheel(tmp_path / "index")) as served:
        yield served


def models(tmp_path: Path, **changes: object) -> Models:
    chosen: dict[str, object] = {"deep_model": "tiny-deep", "rerank_model": "tiny-rerank", **changes}
    settings = Settings(models_folder=str(tmp_path / "models"), **chosen)  # type: ignore[arg-type]
    return Models(settings, known=catalogue(write_wheel(tmp_path / "pinned")))


def folders(tmp_path: Path) -> list[str]:
    return sorted(path.name for path in (tmp_path / "models").iterdir() if path.is_dir())


def test_every_known_model_has_an_origin_a_licence_and_whole_hashes() -> None:
    for model in KNOWN.values():
        hashes = [model.package.sha256, *(member.sha256 for member in model.members)]
        assert all(len(text) == 64 and int(text, 16) for text in hashes)
        assert model.licence
        assert model.provenance
        assert model.size_bytes > 0
        assert "@" in model.identity
        assert len({member.name for member in model.members}) == len(model.members)


def test_the_models_of_the_default_settings_are_known() -> None:
    assert KNOWN[Settings().deep_model].kind is Kind.DEEP
    assert KNOWN[Settings().rerank_model].kind is Kind.RERANKER


def test_without_weights_there_is_no_model_and_no_error(tmp_path: Path) -> None:
    found = models(tmp_path)
    assert (found.deep, found.reranker) == (None, None)
    assert found.static.dimensions == 128
    assert [(item.name, item.state, bool(item.lacks)) for item in found.listed()] == [
        ("tiny-deep", State.ABSENT, True),
        ("tiny-rerank", State.ABSENT, True),
    ]


def test_one_pull_fetches_one_wheel_and_gives_both_models(tmp_path: Path, index: Index) -> None:
    found = models(tmp_path)
    announced: list[Announcement] = []
    progress: list[tuple[int, int]] = []
    placed = found.pull("", announced.append, lambda here, total: progress.append((here, total)), index.pip_arguments)
    size = (tmp_path / "pinned" / "tinymodels-1.0-py3-none-any.whl").stat().st_size
    assert placed == ["tiny-deep", "tiny-rerank"]
    assert announced == [Announcement(models=("tiny-deep", "tiny-rerank"), size_bytes=size, package="tinymodels==1.0")]
    assert progress[-1] == (size, size)
    assert index.downloads == 1
    assert [item.state for item in found.listed()] == [State.READY, State.READY]
    assert not any(item.lacks for item in found.listed())
    assert folders(tmp_path) == sorted(model.identity for model in catalogue(write_wheel(tmp_path / "pinned")).values())


def test_a_pulled_model_is_used_without_opening_anything_anew(tmp_path: Path, index: Index) -> None:
    found = models(tmp_path)
    assert found.deep is None
    models(tmp_path).pull("tiny-deep", pip_arguments=index.pip_arguments)
    assert found.deep is not None
    assert found.deep.name.startswith("tiny-deep@")
    assert found.deep.passages(["beans"]).shape == (1, 8)
    assert found.reranker is not None
    assert found.reranker.scores("beans?", ["water", "beans"]).argmax() == 0
    assert found.deep is found.deep
    assert found.unload_idle(0) == 2
    assert found.unload_idle(0) == 0
    assert found.deep.query("beans").any()
    assert found.unload_idle() == 0


def test_a_second_pull_finds_nothing_to_do(tmp_path: Path, index: Index) -> None:
    found = models(tmp_path)
    found.pull(pip_arguments=index.pip_arguments)
    announced: list[Announcement] = []
    assert found.pull("tiny-deep", announced.append, pip_arguments=index.pip_arguments) == []
    assert (announced, index.downloads) == ([], 1)


def test_two_that_pull_at_once_fetch_once(tmp_path: Path, index: Index) -> None:
    both_see_nothing_here = threading.Barrier(2)

    def pull() -> list[str]:
        return models(tmp_path).pull("", lambda _: both_see_nothing_here.wait(60), pip_arguments=index.pip_arguments)

    with ThreadPoolExecutor(2) as pool:
        placed = [running.result() for running in [pool.submit(pull), pool.submit(pull)]]
    assert sorted(placed) == [[], ["tiny-deep", "tiny-rerank"]]
    assert index.downloads == 1


def test_a_model_that_was_changed_is_broken_not_used_and_fetched_anew(tmp_path: Path, index: Index) -> None:
    found = models(tmp_path)
    found.pull(pip_arguments=index.pip_arguments)
    weights = Path(found.listed()[0].place) / "model.onnx"
    weights.write_bytes(weights.read_bytes() + b"x")
    assert found.listed()[0].state is State.BROKEN
    assert found.deep is None
    assert found.pull(pip_arguments=index.pip_arguments) == ["tiny-deep"]
    assert found.listed()[0].state is State.READY
    assert found.deep is not None


def test_a_model_with_a_missing_file_is_broken(tmp_path: Path, index: Index) -> None:
    found = models(tmp_path)
    found.pull(pip_arguments=index.pip_arguments)
    (Path(found.listed()[1].place) / "vocab.txt").unlink()
    assert [item.state for item in found.listed()] == [State.READY, State.BROKEN]


def test_a_removed_model_is_gone_and_no_longer_used(tmp_path: Path, index: Index) -> None:
    found = models(tmp_path)
    found.pull(pip_arguments=index.pip_arguments)
    assert found.deep is not None
    assert models(tmp_path).remove("tiny-deep")
    assert found.deep is None
    assert not found.remove("tiny-deep")
    assert [name.partition("@")[0] for name in folders(tmp_path)] == ["tiny-rerank"]


def test_a_wheel_with_another_hash_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    forged = {**FILES, "tiny/deep/model.onnx": b"forged"}
    with serve_index(write_wheel(tmp_path / "forged", forged)) as index:
        with pytest.raises(Corrupt, match="not the file that was pinned"):
            models(tmp_path).pull(pip_arguments=index.pip_arguments)
        assert index.downloads == 1
    assert folders(tmp_path) == []


def test_a_file_in_the_wheel_with_another_hash_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    forged = {**FILES, "tiny/rerank/model.onnx": b"forged"}
    wheel = write_wheel(tmp_path / "forged", forged)
    known = catalogue(wheel)  # Of the files as they should be: the wheel's own hash is right, that of a member is not.
    with serve_index(wheel) as index:
        found = Models(Settings(models_folder=str(tmp_path / "models")), known=known)
        with pytest.raises(Corrupt, match=r"tiny/rerank/model\.onnx is not the file"):
            found.pull("tiny-rerank", pip_arguments=index.pip_arguments)
    assert "tiny-rerank" not in {name.partition("@")[0] for name in folders(tmp_path)}
    assert not list((tmp_path / "models").glob(".pull-*"))


def test_a_wheel_without_the_file_is_refused(tmp_path: Path) -> None:
    lacking = {path: raw for path, raw in FILES.items() if "deep" not in path}
    wheel = write_wheel(tmp_path / "lacking", lacking)
    with serve_index(wheel) as index:
        found = Models(Settings(models_folder=str(tmp_path / "models")), known=catalogue(wheel))
        with pytest.raises(Corrupt, match="does not hold what was pinned"):
            found.pull("tiny-deep", pip_arguments=index.pip_arguments)


def test_without_a_network_the_next_step_is_named(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"Check the network.*models pull.*last-pull\.log") as caught:
        models(tmp_path).pull(pip_arguments=["--no-index"])
    assert (tmp_path / "models" / "last-pull.log").read_text()
    assert "No matching distribution" not in str(caught.value)
    assert folders(tmp_path) == []


def test_without_pip_the_next_step_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bare = tmp_path / "python"
    bare.write_text('#!/bin/sh\necho "$0: No module named pip" >&2\nexit 1\n')
    bare.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(bare))
    with pytest.raises(Unavailable, match="ensurepip"):
        models(tmp_path).pull()


def test_what_an_interrupted_pull_left_is_cleared_by_the_next(tmp_path: Path, index: Index) -> None:
    left = tmp_path / "models" / ".pull-left" / "wheel"
    left.mkdir(parents=True)
    (left / "half.whl").write_bytes(b"half")
    found = models(tmp_path)
    assert [item.state for item in found.listed()] == [State.ABSENT, State.ABSENT]
    found.pull(pip_arguments=index.pip_arguments)
    assert not list((tmp_path / "models").glob(".pull-*"))


def test_a_folder_that_cannot_be_made_is_explained(tmp_path: Path) -> None:
    (tmp_path / "models").write_text("a file is in the way")
    with pytest.raises((Denied, Unavailable), match="RECOLLECT_MODELS"):
        models(tmp_path).pull(pip_arguments=["--no-index"])


def test_unknown_and_installed_models_are_neither_pulled_nor_removed(tmp_path: Path) -> None:
    found = Models(Settings(models_folder=str(tmp_path)))
    for act in (found.pull, found.remove):
        with pytest.raises(NotFound, match="e5-small-v2"):
            act("no-such-model")
        with pytest.raises(Invalid, match="installed with Recollect"):
            act("potion-multilingual-128")


def test_models_can_be_switched_off(tmp_path: Path) -> None:
    found = models(tmp_path, deep_model="", rerank_model="")
    assert (found.deep, found.reranker) == (None, None)
    assert not any(item.is_used or item.lacks for item in found.listed())
    assert found.pull(pip_arguments=["--no-index"]) == []


def test_a_model_for_other_work_is_refused(tmp_path: Path) -> None:
    found = models(tmp_path, deep_model="tiny-rerank", rerank_model="tiny-deep")
    with pytest.raises(Invalid, match="deep_model is 'tiny-rerank'"):
        _ = found.deep
    with pytest.raises(Invalid, match="rerank_model is 'tiny-deep'"):
        _ = found.reranker


def test_models_of_the_users_own_are_listed_and_used(tmp_path: Path, index: Index) -> None:
    models(tmp_path).pull(pip_arguments=index.pip_arguments)
    own = tmp_path / "own"
    shutil.copytree(models(tmp_path).listed()[0].place, own)
    found = models(tmp_path, deep_model=str(own), rerank_model="https://host.example/v1#m")
    assert found.deep is not None
    assert found.deep.name.startswith("own@")
    assert {(item.name, item.state) for item in found.listed() if item.is_used} == {
        (str(own), State.ELSEWHERE),
        ("https://host.example/v1#m", State.ABSENT),
    }
    with pytest.raises(NotFound, match="no model we know has that name"):
        _ = found.reranker
    endpoint = models(tmp_path, deep_model="https://host.example/v1#m")
    assert [item.state for item in endpoint.listed() if item.name.startswith("https")] == [State.ELSEWHERE]
    nowhere = models(tmp_path, deep_model=str(tmp_path / "nowhere"))
    assert [item.state for item in nowhere.listed() if item.kind is Kind.DEEP and item.is_used] == [State.ABSENT]


def test_an_endpoint_gets_the_key_that_the_settings_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_EMBEDDING_KEY", "  a-key  ")
    settings = Settings(embedding_key_variable="MY_EMBEDDING_KEY")
    assert settings.embedding_key() == "a-key"
    assert "a-key" not in repr(settings)
    assert os.environ["MY_EMBEDDING_KEY"]
    deep = models(tmp_path, deep_model="https://host.example/v1#m").deep
    assert deep is not None
    assert deep.name == "https://host.example/v1#m"
