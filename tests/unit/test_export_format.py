"""The page about the format of exports says what the code does."""

import re
from pathlib import Path

import msgspec

from recollect.transfer.home import FILES, LOCAL_SETTINGS
from recollect.transfer.manifest import Manifest
from recollect.transfer.tables import CARRIED, LEFT_OUT

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "export-format.md").read_text(encoding="utf-8")


def rows_of(heading: str) -> list[tuple[str, str]]:
    """The first two cells of each row of the table below a heading."""
    below = PAGE.partition(heading)[2].partition("\n## ")[0]
    return re.findall(r"^\| `(\w+)` \| (.*?) \|$", below, re.MULTILINE)


def test_each_table_is_said_to_be_carried_or_left_out() -> None:
    rows = rows_of("## Tables")
    assert [table for table, said in rows if said.startswith("yes")] == list(CARRIED)
    assert [table for table, said in rows if said.startswith("no:")] == list(LEFT_OUT)
    assert len(rows) == len(CARRIED) + len(LEFT_OUT)


def test_each_field_of_the_manifest_is_explained() -> None:
    assert [field for field, _ in rows_of("**The manifest**")] == [
        field.name for field in msgspec.structs.fields(Manifest)
    ]


def test_files_and_settings_are_named() -> None:
    for name in (*FILES, *LOCAL_SETTINGS):
        assert f"`{name}`" in PAGE
