"""Whatever is read again after something was forgotten, in whatever way, does not bring it back, and nothing else is
missing. Each source tells its stories; a second house, in which nothing was forgotten, says what must be there."""

from pathlib import Path

import pytest
from conftest import OpenHouse
from forgetting_stories import House, assert_forgotten_stays_away
from stories.every import STORIES
from stories.looks import HUNT

SEEDS = HUNT or 6


def check(name: str, seeds: range, open_house: OpenHouse, tmp_path: Path) -> None:
    for seed in seeds:
        houses = [House(open_house(), tmp_path / f"{name}-{seed}-{number}") for number in range(2)]
        for house in houses:
            house.place.mkdir()
        assert_forgotten_stays_away(name, seed, *houses)


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
@pytest.mark.parametrize("name", STORIES)
def test_what_was_forgotten_does_not_come_back(name: str, open_house: OpenHouse, tmp_path: Path) -> None:
    check(name, range(SEEDS), open_house, tmp_path)


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
@pytest.mark.parametrize("name", STORIES)
def test_nor_on_the_other_engine(name: str, open_house: OpenHouse, tmp_path: Path) -> None:
    check(name, range(SEEDS, SEEDS + max(SEEDS // 3, 1)), open_house, tmp_path)
