"""A source of another package, as `docs/sources/README.md` shows it, works without a change of ours."""

import json
import re
from pathlib import Path

from commands import run

PAGE = Path(__file__).parents[2] / "docs" / "sources" / "README.md"


def block(language: str) -> str:
    found = re.search(rf"^```{language}\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert found
    return found[1]


def install(folder: Path) -> None:
    """What `pip install` would leave behind."""
    (folder / "diary_source.py").write_text(block("python"), encoding="utf-8")
    points = re.search(r'^(\w+) = "([\w:]+)"$', block("toml"), re.MULTILINE)
    assert points
    about = folder / "diary_source-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: diary-source\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text(f"[recollect.sources]\n{points[1]} = {points[2]}\n", encoding="utf-8")


def test_the_example_of_the_page_is_found_and_reads(tmp_path: Path, home: Path) -> None:
    site, diaries = tmp_path / "site", tmp_path / "diaries"
    site.mkdir()
    diaries.mkdir()
    install(site)
    pages = [
        {"id": "a1", "who": "me", "said": "The swifts are back.", "when": "2026-05-02T06:00:00Z"},
        {"id": "a2", "who": "agent", "said": "Two days earlier than last year.", "when": "2026-05-02T06:00:09Z"},
        {"id": "a3", "who": "me", "said": ""},
    ]
    (diaries / "may.diary.jsonl").write_text("".join(json.dumps(page) + "\n" for page in pages), encoding="utf-8")
    here = {"PYTHONPATH": str(site)}

    listed = run("sources", "--json", home=home, variables=here).json()
    assert [source["title"] for source in listed if source["name"] == "diary"] == ["The diary of my agent"]

    report = run("ingest", diaries, "--json", home=home, variables=here).json()
    assert (report["messages_added"], report["lines_bad"]) == (2, 1)
    conversation = run("conversations", "--json", home=home, variables=here).json()[0]
    assert conversation["source"] == "diary"
    shown = run("show", conversation["id"], "--json", home=home, variables=here).json()
    assert [(said["author"], said["text"]) for said in shown["messages"]] == [
        ("user", "The swifts are back."),
        ("assistant", "Two days earlier than last year."),
    ]


def test_without_its_package_what_it_read_stays_readable_and_the_file_is_explained(tmp_path: Path, home: Path) -> None:
    site, diaries = tmp_path / "site", tmp_path / "diaries"
    site.mkdir()
    diaries.mkdir()
    install(site)
    page = diaries / "may.diary.jsonl"
    page.write_text('{"id": "a1", "who": "me", "said": "The swifts are back."}\n', encoding="utf-8")
    run("ingest", diaries, home=home, variables={"PYTHONPATH": str(site)})
    with page.open("a", encoding="utf-8") as file:
        file.write('{"id": "a2", "who": "me", "said": "They nest."}\n')

    done = run("ingest", diaries, home=home)

    assert done.code == 1
    assert done.explains("diary", "not installed any more")
    conversation = run("conversations", "--json", home=home).json()[0]
    assert conversation["title"] == "The swifts are back."


def test_a_package_that_does_not_load_stops_nothing_and_doctor_names_it(tmp_path: Path, home: Path) -> None:
    site, logs = tmp_path / "site", tmp_path / "logs"
    site.mkdir()
    logs.mkdir()
    install(site)
    (site / "diary_source.py").write_text("raise RuntimeError('no ink')\n", encoding="utf-8")
    (logs / "mine.jsonl").write_text('{"role": "user", "content": "Still here."}\n', encoding="utf-8")
    broken = {"PYTHONPATH": str(site)}

    assert run("ingest", logs, "--json", home=home, variables=broken).json()["messages_added"] == 1
    found = run("doctor", "--json", home=home, variables=broken).json()["findings"]
    assert any("diary" in finding["message"] and "no ink" in finding["message"] for finding in found)
