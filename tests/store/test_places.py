"""Places: who is heard. An address becomes one by the person's word, or by a code that is good once and for minutes."""

import threading
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from conftest import FrozenClock, OpenHouse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recollect
from recollect.clock import from_text, to_text
from recollect.database import Database, open_database
from recollect.errors import Denied, Invalid
from recollect.mind.places.pairing import ALPHABET, LIFETIME, MOST_TRIES
from recollect.mind.places.places import Pairing, Places

MILLISECOND = timedelta(milliseconds=1)
CHAT = "4711"


@pytest.fixture
def places(database: Database, clock: FrozenClock) -> Places:
    return Places(database, "home", clock)


def wrong(code: str) -> str:
    """One like it, with another last character."""
    return code[:-1] + ALPHABET[ALPHABET.index(code[-1]) - 1]


def addresses(places: Places, channel: str = "") -> list[str]:
    return [place.address for place in places.list(channel)]


# By the person's word


def test_nobody_is_heard_until_the_person_says_so(places: Places) -> None:
    assert places.list() == []
    assert places.find("telegram", CHAT) is None
    made = places.allow("telegram", CHAT, "Ada")
    assert made == places.find("telegram", CHAT)
    assert (made.channel, made.address, made.name, made.state) == ("telegram", CHAT, "Ada", "paired")
    assert places.find("webhook", CHAT) is None


def test_places_are_listed_by_age_and_by_channel(places: Places, clock: FrozenClock) -> None:
    for address in ("3", "1"):
        places.allow("telegram", address)
        clock.move(seconds=1)
    places.allow("webhook", "b")
    places.allow("webhook", "a")
    assert addresses(places) == ["3", "1", "a", "b"]
    assert addresses(places, "webhook") == ["a", "b"]
    assert addresses(places, "nowhere") == []


def test_a_place_allowed_again_keeps_its_age_and_takes_a_new_name_only_where_one_is_given(
    places: Places, clock: FrozenClock
) -> None:
    first = places.allow("telegram", CHAT, "Ada")
    clock.move(days=1)
    assert places.allow("telegram", CHAT) == first
    again = places.allow("telegram", CHAT, "Ada\n  at  work")
    assert (again.name, again.since) == ("Ada at work", first.since)


def test_a_removed_place_is_a_strangers_again(places: Places) -> None:
    places.allow("telegram", CHAT)
    assert places.remove("telegram", CHAT)
    assert not places.remove("telegram", CHAT)
    assert places.find("telegram", CHAT) is None


def test_a_blocked_place_stays_listed_and_comes_back_when_it_writes_or_is_allowed(places: Places) -> None:
    places.allow("telegram", CHAT)
    assert places.block("telegram", CHAT)
    assert not places.block("telegram", CHAT)
    assert [place.state for place in places.list()] == ["blocked"]
    assert places.unblock("telegram", CHAT)
    assert not places.unblock("telegram", CHAT)
    places.block("telegram", CHAT)
    assert places.allow("telegram", CHAT).state == "paired"


def test_blocking_a_stranger_makes_no_place(places: Places) -> None:
    assert not places.block("telegram", CHAT)
    assert not places.unblock("telegram", CHAT)
    assert places.list() == []


@pytest.mark.parametrize("address", ["", "  ", "a" * 201, "4711\n4712", "\x1b[31m", "\ud800"])
def test_an_address_that_nobody_could_print_or_type_is_refused(places: Places, address: str) -> None:
    with pytest.raises(Invalid, match="cannot be the address of a place"):
        places.allow("telegram", address)
    with pytest.raises(Invalid, match="cannot be the channel of a place"):
        places.new_code(address)
    assert places.list() == []


def test_a_name_of_any_length_and_of_half_characters_is_kept_as_far_as_it_can_be(places: Places) -> None:
    assert places.allow("telegram", CHAT, "\ud800\x00" + "n" * 5_000).name.endswith("n" * 100)


def test_places_of_another_house_are_not_ours(open_house: OpenHouse) -> None:
    one, other = open_house(), open_house()
    code = one.places.new_code("telegram").text
    assert other.places.pair("telegram", CHAT, "", code) is Pairing.NONE
    assert one.places.pair("telegram", CHAT, "", code) is Pairing.PAIRED
    other.places.move_position("telegram", "bot", 5)
    assert other.places.list() == []
    assert one.places.position("telegram", "bot") == 0


def test_an_agent_may_not_say_who_is_heard(memory: recollect.Memory) -> None:
    memory.agents.add("ada")
    with pytest.raises(Denied, match="only a person may"):
        _ = memory.as_agent("ada").places


# By a code


def test_a_code_makes_one_address_a_place_once(places: Places, clock: FrozenClock) -> None:
    code = places.new_code("telegram")
    clock.move(minutes=3)
    assert places.pair("telegram", CHAT, "Ada", code.text) is Pairing.PAIRED
    assert [(place.address, place.name, place.since) for place in places.list()] == [(CHAT, "Ada", to_text(clock()))]
    assert places.pair("telegram", "666", "Eve", code.text) is Pairing.NONE
    assert addresses(places) == [CHAT]


def test_a_code_is_read_however_it_is_typed(places: Places) -> None:
    for number in range(5):
        code = places.new_code("telegram").text
        typed = " " + code.lower().replace("-", " ").replace("0", "o").replace("1", "l") + " \n"
        assert places.pair("telegram", str(number), "", typed) is Pairing.PAIRED


def test_a_code_expires_exactly_ten_minutes_after_it_was_made(places: Places, clock: FrozenClock) -> None:
    made = clock()
    code = places.new_code("telegram")
    assert from_text(code.expires_at) - made == LIFETIME
    clock.move(seconds=LIFETIME.total_seconds())
    assert places.pair("telegram", CHAT, "", code.text) is Pairing.NONE
    clock.move(minutes=-1)
    assert places.pair("telegram", CHAT, "", code.text) is Pairing.NONE, "It was deleted when it was over."

    code = places.new_code("telegram")
    clock.move(seconds=(LIFETIME - MILLISECOND).total_seconds())
    assert places.pair("telegram", CHAT, "", code.text) is Pairing.PAIRED


def test_too_many_wrong_tries_make_a_code_void_whoever_made_them(places: Places) -> None:
    code = places.new_code("telegram").text
    for number in range(MOST_TRIES):
        assert places.pair("telegram", f"eve{number}", "", wrong(code)) is Pairing.WRONG
    assert places.pair("telegram", CHAT, "", wrong(code)) is Pairing.NONE
    assert places.pair("telegram", CHAT, "", code) is Pairing.NONE
    assert places.list() == []


def test_the_right_code_is_still_good_before_the_last_try(places: Places) -> None:
    code = places.new_code("telegram").text
    for _ in range(MOST_TRIES - 1):
        assert places.pair("telegram", CHAT, "", wrong(code)) is Pairing.WRONG
    assert places.pair("telegram", CHAT, "", code) is Pairing.PAIRED


def test_a_new_code_takes_the_place_of_the_old_one_and_has_all_its_tries(places: Places) -> None:
    old = places.new_code("telegram").text
    for _ in range(MOST_TRIES - 1):
        places.pair("telegram", CHAT, "", wrong(old))
    new = places.new_code("telegram").text
    for _ in range(MOST_TRIES - 1):
        assert places.pair("telegram", CHAT, "", old) is Pairing.WRONG
    assert places.pair("telegram", CHAT, "", new) is Pairing.PAIRED


def test_a_code_of_one_channel_opens_no_other(places: Places) -> None:
    by_telegram, by_webhook = places.new_code("telegram").text, places.new_code("webhook").text
    assert places.pair("webhook", CHAT, "", by_telegram) is Pairing.WRONG
    assert places.pair("webhook", CHAT, "", by_webhook) is Pairing.PAIRED
    assert places.pair("telegram", CHAT, "", by_telegram) is Pairing.PAIRED


@pytest.mark.parametrize("text", ["", "   ", "-", "\u200b\n"])
def test_nothing_is_no_try(places: Places, text: str) -> None:
    code = places.new_code("telegram").text
    for _ in range(2 * MOST_TRIES):
        assert places.pair("telegram", CHAT, "", text) is Pairing.NONE
    assert places.pair("telegram", CHAT, "", code) is Pairing.PAIRED


@pytest.mark.parametrize("text", ["0", "hello", "x" * 100_000, "\ud800" * 10, "\x00", "'; DROP TABLE mind_places; --"])
def test_whatever_else_is_sent_as_a_code_is_wrong_or_none_and_never_an_error(places: Places, text: str) -> None:
    assert places.pair("telegram", CHAT, "", text) is Pairing.NONE
    places.new_code("telegram")
    assert places.pair("telegram", CHAT, "", text) in (Pairing.WRONG, Pairing.NONE)
    assert places.list() == []


def test_a_blocked_place_that_pairs_again_is_open(places: Places) -> None:
    places.allow("telegram", CHAT, "Ada")
    places.block("telegram", CHAT)
    assert places.pair("telegram", CHAT, "", places.new_code("telegram").text) is Pairing.PAIRED
    assert [(place.name, place.state) for place in places.list()] == [("Ada", "paired")]


@pytest.mark.parametrize("attempt", range(3))
def test_of_many_who_send_the_right_code_at_once_one_is_paired(engine: str, clock: FrozenClock, attempt: int) -> None:
    code = Places(opened := open_database(engine), "home", clock).new_code("telegram").text
    outcomes = at_once(engine, clock, [code] * 6)
    assert sorted(outcomes) == [Pairing.NONE] * 5 + [Pairing.PAIRED]
    assert len(Places(opened, "home", clock).list()) == 1
    opened.close()


def test_a_code_that_is_replaced_while_it_is_compared_pairs_nobody_and_costs_the_new_one_no_try(
    database: Database, clock: FrozenClock
) -> None:
    """Whoever looks at the clock has compared the code: then the person asks for the next one."""
    places = Places(database, "home", clock)
    made: list[str] = []

    def replacing_clock() -> datetime:
        made.append(places.new_code("telegram").text)
        return clock()

    late = Places(database, "home", replacing_clock)
    assert late.pair("telegram", CHAT, "", places.new_code("telegram").text) is Pairing.NONE
    for _ in range(MOST_TRIES):
        assert late.pair("telegram", CHAT, "", "00000-00000") is Pairing.NONE
    assert places.list() == []
    assert places.pair("telegram", CHAT, "", made[-1]) is Pairing.PAIRED


def test_guesses_sent_at_once_have_no_more_tries_than_one_after_the_other(engine: str, clock: FrozenClock) -> None:
    code = Places(opened := open_database(engine), "home", clock).new_code("telegram").text
    outcomes = at_once(engine, clock, [wrong(code)] * (MOST_TRIES + 3))
    assert sorted(outcomes) == [Pairing.NONE] * 3 + [Pairing.WRONG] * MOST_TRIES
    assert Places(opened, "home", clock).pair("telegram", CHAT, "", code) is Pairing.NONE
    opened.close()


def at_once(engine: str, clock: FrozenClock, texts: list[str]) -> list[Pairing]:
    """Each sent by somebody else, through a database of its own, as other programs have it."""
    begin = threading.Barrier(len(texts))
    outcomes: list[Pairing] = []

    def send(number: int, text: str) -> None:
        database = open_database(engine)
        begin.wait()
        outcomes.append(Places(database, "home", clock).pair("telegram", f"chat{number}", "", text))
        database.close()

    threads = [threading.Thread(target=send, args=each) for each in enumerate(texts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


# What is kept


def test_the_code_is_in_no_row_and_in_no_file_in_clear(places: Places, database: Database, tmp_path: Path) -> None:
    code = places.new_code("telegram")
    bare = code.text.replace("-", "")
    assert code.text not in repr(code)
    with database.read() as session:
        rows = [repr(row) for table in session.tables() for row in session.rows(f'SELECT * FROM "{table}"')]
    assert any("telegram" in row for row in rows)
    for shown in (code.text, bare, code.text.lower(), bare.lower(), bare.encode().hex()):
        assert not any(shown in row for row in rows)
        assert not any(shown.encode() in database_file.read_bytes() for database_file in tmp_path.glob("*.db*"))


def test_a_code_leaves_nothing_behind_when_it_was_used_voided_or_is_over(
    places: Places, database: Database, clock: FrozenClock
) -> None:
    def kept() -> int:
        with database.read() as session:
            return int(session.value("SELECT count(*) FROM mind_pairings"))

    places.pair("telegram", CHAT, "", places.new_code("telegram").text)
    assert kept() == 0
    code = places.new_code("telegram").text
    for _ in range(MOST_TRIES):
        places.pair("telegram", CHAT, "", wrong(code))
    assert kept() == 0
    places.new_code("telegram")
    places.new_code("webhook")
    clock.move(hours=1)
    places.pair("telegram", CHAT, "", "anything")
    assert kept() == 0


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(acts=st.lists(st.sampled_from(["code", "right", "wrong", "old", "wait", "nothing"]), max_size=24))
def test_whatever_comes_in_whatever_order_only_an_open_code_pairs(
    open_house: OpenHouse, clock: FrozenClock, acts: list[str]
) -> None:
    """Against the rule said in a few lines."""
    places = open_house().places
    code, old, tries, age = "", "", 0, timedelta()
    paired = 0
    for number, act in enumerate(acts):
        is_open = bool(code) and tries < MOST_TRIES and age < LIFETIME
        if act == "code":
            old, code, tries, age = code, places.new_code("c").text, 0, timedelta()
        elif act == "wait":
            clock.move(minutes=4)
            age += timedelta(minutes=4)
        elif act == "nothing":
            assert places.pair("c", str(number), "", " - ") is Pairing.NONE
        else:
            text = {"right": code, "old": old, "wrong": wrong(code) if code else "x"}[act] or "x"
            outcome = places.pair("c", str(number), "", text)
            if not is_open:
                assert outcome is Pairing.NONE
            elif act == "right":
                assert outcome is Pairing.PAIRED
                code, paired = "", paired + 1
            else:
                assert outcome is Pairing.WRONG
                tries += 1
    assert len(places.list()) == paired


# How far a channel has read


def test_a_position_is_kept_for_each_name_and_may_go_back(places: Places) -> None:
    assert places.position("telegram", "bot1") == 0
    places.move_position("telegram", "bot1", 2**40)
    places.move_position("telegram", "bot2", 7)
    places.move_position("webhook", "bot1", 9)
    assert places.position("telegram", "bot1") == 2**40
    places.move_position("telegram", "bot1", 12)
    assert [places.position("telegram", name) for name in ("bot1", "bot2", "bot3")] == [12, 7, 0]


def test_places_travel_with_an_export_while_codes_and_positions_do_not(open_house: OpenHouse, tmp_path: Path) -> None:
    house, other = open_house(), open_house()
    made = house.places.allow("telegram", CHAT, "Ada")
    code = house.places.new_code("telegram").text
    house.places.move_position("telegram", "bot", 7)
    house.transfer.export_to(tmp_path / "export")
    other.transfer.import_from(tmp_path / "export")
    assert other.places.list() == [made]
    assert other.places.pair("telegram", "4712", "", code) is Pairing.NONE
    assert other.places.position("telegram", "bot") == 0
