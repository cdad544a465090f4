"""What was said is found again: by word, by meaning, by context, by time, and only where it may be."""

import inspect
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
import transcripts
from chats import NOW, House, OwnModels, days_ago
from conftest import OpenHouse

import recollect
from recollect.embedding import Embedder
from recollect.errors import NotFound, Unavailable
from recollect.recall.recall import TRIES
from recollect.testing import FrozenClock

SMALL_TALK = (
    "Good morning! How are you today?",
    ("assistant", "Very well, thank you. What shall we do?"),
    "Tell me a joke about printers.",
    ("assistant", "A printer walked into a bar and jammed."),
    "Which paint suits a kitchen wall?",
    ("assistant", "A washable matt one, in a warm white."),
)


@pytest.fixture
def house(memory: recollect.Memory, tmp_path: Path) -> House:
    told = House(memory, tmp_path / "chats")
    told.tell("small-talk", *SMALL_TALK, start=days_ago(20), cwd="/home/mara/talk")
    return told


# By word


def test_a_fresh_home_has_no_hits(memory: recollect.Memory) -> None:
    found = memory.recall.search("anything")
    assert found.hits == []
    assert found.milliseconds >= 0


def test_a_word_is_found_in_another_form(house: House) -> None:
    house.tell("a", "The tomatoes were watered twice.")
    assert house.by_words("watering a tomato") == ["The tomatoes were watered twice."]


@pytest.mark.parametrize(
    "question",
    [
        "src/app/userService.ts",
        "userService",
        "userservice",
        "service",
        "E0308",
        "v2.14.0",
        "mara@example.com",
        "2.14.0",
    ],
)
def test_an_identifier_is_found_whole_and_in_part(house: House, question: str) -> None:
    text = "error[E0308] in src/app/userService.ts since v2.14.0, said mara@example.com"
    house.tell("a", text)
    assert house.best(question) == text
    assert house.by_words(question) == [text]


def test_the_beginning_of_a_word_that_nobody_used_is_found(house: House) -> None:
    house.tell("a", "The commit is a3f5b9c2e17d.", "Photosynthesis needs light.")
    assert house.best("a3f5b9c") == "The commit is a3f5b9c2e17d."
    assert house.best("photosynth") == "Photosynthesis needs light."


def test_words_that_are_gone_do_not_stand_before_those_that_are_there(house: House) -> None:
    """Only some of the words that begin so are looked up, in the order of letters."""
    house.tell("a", *({"text": f"The zebraa{letter} runs.", "id": letter} for letter in "abcdefghijkl"))
    assert "zebra" in house.best("zebr")
    house.tell("a", *({"text": f"The horse {letter} runs.", "id": letter} for letter in "abcdefghijkl"))
    house.tell("b", "The zebrina grows.")
    (hit,) = house.ask("zebr", limit=1, explain=True).hits
    assert hit.text == "The zebrina grows."
    assert (hit.why or {})["keyword"] > 0


def test_a_word_of_which_only_the_beginning_was_asked_is_marked(house: House) -> None:
    house.tell("a", "Photosynthesis needs light.")
    assert house.by_words("photosynth") == ["Photosynthesis needs light."]


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("我们昨天在东京开会，讨论了预算。", "东京"),
        ("我们昨天在东京开会，讨论了预算。", "预算"),
        ("来週京都で猫カフェに行きます", "猫カフェ"),
        ("黒い猫が好きです", "猫"),
        ("내일 서울에서 만나요", "서울에서"),
        ("ฉันชอบกาแฟร้อน", "กาแฟ"),
        ("Wir treffen uns im Café am Fluß", "cafe"),
        ("मुझे हिन्दी पसंद है", "हिन्दी"),
        ("Die Feier war schön 🎉", "🎉"),
    ],
)
def test_every_script_is_found(house: House, text: str, question: str) -> None:
    house.tell("a", text)
    assert house.by_words(question) == [text]


def test_what_differs_only_in_a_stop_word_is_found_by_it(house: House) -> None:
    house.tell("a", "To be or not to be?")
    assert "To be or not to be?" in house.by_words("to be or not to be")


# By meaning and by context


def test_a_paraphrase_without_a_common_word_is_found(house: House) -> None:
    house.tell("a", "My puppy chewed up the couch.", start=days_ago(20))
    house.tell("b", "The train to Lisbon leaves at noon.", start=days_ago(20))
    assert house.best("dog destroyed sofa") == "My puppy chewed up the couch."


def test_an_answer_is_found_by_the_question_before_it(house: House) -> None:
    house.tell("a", "When do we sow the runner beans?", ("assistant", "Yes, in May!"), cwd="/home/mara/beans")
    house.tell("b", "Shall we meet soon?", ("assistant", "Yes, in June!"), cwd="/home/mara/meeting")
    assert set(house.texts("when to sow runner beans", limit=2)) == {"When do we sow the runner beans?", "Yes, in May!"}


def test_a_hit_comes_with_the_turns_around_it(house: House) -> None:
    house.tell("a", "Any plans?", ("assistant", "We could sow the runner beans."), "Good, tomorrow then.")
    house.tell("b", "Something else.")
    (hit, *_) = house.ask("runner beans").hits
    assert (hit.before, hit.text, hit.after) == ("Any plans?", "We could sow the runner beans.", "Good, tomorrow then.")


def test_neighbours_lend_nothing_across_conversations(house: House) -> None:
    house.tell("a", "When do we sow the runner beans?", start=days_ago(9))
    house.tell("b", "Yes, in May!", start=days_ago(9))
    (hit,) = [hit for hit in house.ask("runner beans", explain=True).hits if hit.text == "Yes, in May!"]
    assert hit.why is not None
    assert hit.why["keyword"] == 0


def test_the_name_of_a_speaker_is_found(house: House) -> None:
    house.tell(
        "a", {"name": "Caroline", "text": "I adopted a cat."}, {"name": "Melanie", "text": "I adopted a cat too."}
    )
    assert house.best("what did Melanie adopt") == "Melanie: I adopted a cat too."
    assert house.best("what did Caroline adopt") == "Caroline: I adopted a cat."


# Filters


@pytest.fixture
def filtered(house: House, projects: Path) -> House:
    """The same sentence from several people, places and times."""
    house.tell(
        "home", "The beans are green.", ("assistant", "Green beans it is."), start=days_ago(40), cwd="/home/mara/garden"
    )
    house.tell("work", "Our beans are java.", start=days_ago(5), cwd="/home/mara/code/java_app")
    coded = transcripts.Transcript("coded", cwd="/home/mara/code/java-tool")
    coded.user("Rename the beans in the tool.")
    coded.save(projects)
    house.memory.history.ingest([projects])
    return house


def test_an_author_filter(filtered: House) -> None:
    assert filtered.texts("beans", authors=["assistant"])[0] == "Green beans it is."
    assert {hit.author for hit in filtered.ask("beans", authors=["assistant"]).hits} == {"assistant"}


def test_a_source_filter(filtered: House) -> None:
    assert filtered.texts("beans", sources=["claude-code"]) == ["Rename the beans in the tool."]
    assert {hit.source for hit in filtered.ask("beans", sources=["generic"]).hits} == {"generic"}
    assert filtered.ask("beans", sources=["telegram"]).hits == []


def test_a_project_filter_takes_a_part_of_the_path(filtered: House) -> None:
    assert set(filtered.texts("beans", projects=["code"])) == {"Our beans are java.", "Rename the beans in the tool."}
    assert filtered.texts("beans", projects=["JAVA_app"]) == ["Our beans are java."]
    assert filtered.ask("beans", projects=["nowhere"]).hits == []


def test_wildcards_in_a_project_are_letters(filtered: House) -> None:
    assert filtered.ask("beans", projects=["%"]).hits == []
    assert filtered.texts("beans", projects=["java_"]) == ["Our beans are java."]


def test_several_values_of_one_filter_are_alternatives_and_filters_join(filtered: House) -> None:
    assert len(filtered.texts("beans", projects=["java_app", "java-tool"])) == 2
    assert filtered.texts("beans", projects=["java"], sources=["generic"]) == ["Our beans are java."]


def test_a_status_filter_follows_the_clock(filtered: House, clock: FrozenClock) -> None:
    filtered.tell("fresh", "Fresh beans just now.", start=NOW - timedelta(minutes=2))
    assert filtered.texts("beans", statuses=["active"]) == ["Fresh beans just now."]
    assert "Fresh beans just now." not in filtered.texts("beans", statuses=["ready"])
    clock.move(hours=2)
    assert filtered.ask("beans", statuses=["active"]).hits == []
    assert "Fresh beans just now." in filtered.texts("beans", statuses=["ready"])


def test_a_conversation_filter(filtered: House) -> None:
    (hit,) = filtered.ask("java beans", limit=1).hits
    assert filtered.texts("beans", conversations=[hit.conversation]) == [hit.text]


def test_a_conversation_that_is_not_there_is_named(filtered: House) -> None:
    with pytest.raises(NotFound, match="no-such-thing"):
        filtered.ask("beans", conversations=["no-such-thing"])


def test_since_counts_and_until_does_not(filtered: House) -> None:
    at = days_ago(5)
    assert "Our beans are java." in filtered.texts("beans", since=at)
    assert "The beans are green." not in filtered.texts("beans", since=at)
    assert "Our beans are java." not in filtered.texts("beans", until=at)
    assert "The beans are green." in filtered.texts("beans", until=at)
    assert filtered.texts("beans", since=at, until=at + timedelta(seconds=1)) == ["Our beans are java."]


def test_a_filter_in_another_zone_is_the_same_moment(filtered: House) -> None:
    zone = datetime.now(UTC).astimezone().tzinfo
    assert filtered.texts("beans", since=days_ago(5)) == filtered.texts("beans", since=days_ago(5).astimezone(zone))


def test_as_of_shows_what_was_known_then(filtered: House) -> None:
    assert set(filtered.texts("beans", as_of=days_ago(30))) == {"The beans are green.", "Green beans it is."}


def test_what_has_no_time_is_in_no_range_that_ends(house: House) -> None:
    house.tell("a", {"text": "Timeless beans.", "at": None})
    assert "Timeless beans." in house.texts("beans")
    assert "Timeless beans." not in house.texts("beans", until=NOW)


def test_a_limit_is_kept_and_the_best_are_the_same(filtered: House) -> None:
    three = filtered.texts("beans", limit=3)
    assert len(three) == 3
    assert filtered.texts("beans", limit=1) == three[:1]
    assert filtered.texts("beans", limit=1_000)[:3] == three


# Time


def test_what_was_said_in_the_named_time_comes_first(house: House) -> None:
    for session, days in (("old", 60), ("then", 6), ("now", 0.1)):
        house.tell(session, f"We talked about the {session} fence.", start=days_ago(days))
    found = house.ask("what about the fence last week?")
    assert found.hits[0].text == "We talked about the then fence."
    assert [period.text for period in found.periods] == ["last week"]
    assert house.best("what about the fence two months ago?") == "We talked about the old fence."


def test_last_week_counts_from_the_given_now(house: House) -> None:
    house.tell("a", "We talked about the first fence.", start=days_ago(20))
    house.tell("b", "We talked about the second fence.", start=days_ago(6))
    assert house.best("the fence last week", now=days_ago(13)) == "We talked about the first fence."
    assert house.best("the fence last week") == "We talked about the second fence."


def test_the_newer_of_two_equals_comes_first(house: House) -> None:
    for session, days in (("a", 90), ("b", 1), ("c", 45)):
        house.tell(session, "The fence is high.", start=days_ago(days))
    assert [hit.session_id for hit in house.ask("fence", limit=3).hits] == ["b", "c", "a"]


def test_recency_is_off_when_the_question_names_a_past_time(house: House) -> None:
    house.tell("a", "The fence is high.", start=days_ago(90))
    (hit,) = house.ask("the fence in 2024", explain=True, limit=1).hits
    assert hit.why is not None
    assert "recency" not in hit.why
    assert "period" in hit.why
    (hit,) = house.ask("the fence", explain=True, limit=1).hits
    assert hit.why is not None
    assert "recency" in hit.why


def test_without_a_given_now_the_clock_tells(house: House, clock: FrozenClock) -> None:
    house.tell("a", "We talked about the first fence.", start=days_ago(6))
    house.tell("b", "We talked about the second fence.", start=NOW - timedelta(hours=1))
    clock.move(days=7)
    assert house.best("the fence last week") == "We talked about the second fence."


# Hits


def test_the_same_thing_said_twice_is_shown_once_before_the_rest(house: House) -> None:
    for session in ("a", "b", "c"):
        house.tell(session, "The green fence needs a new coat of paint in April.", start=days_ago(4))
    house.tell("d", "Which fence needs paint? The willow one.", start=days_ago(4))
    texts = house.texts("which fence needs paint", limit=4)
    assert len(set(texts[:2])) == 2
    repeated = house.ask("which fence needs paint", explain=True, limit=10).hits
    assert sorted("repetition" in (hit.why or {}) for hit in repeated if "April" in hit.text) == [False, True, True]


def test_the_parts_add_up_to_the_score(filtered: House) -> None:
    found = filtered.ask("green beans", explain=True, limit=20)
    assert len(found.hits) > 5
    for hit in found.hits:
        assert hit.why is not None
        assert sum(hit.why.values()) == pytest.approx(hit.score, abs=1e-3)
    assert [hit.score for hit in found.hits] == sorted((hit.score for hit in found.hits), reverse=True)
    assert {"keyword", "closeness", "conversation", "author", "recency"} <= set(found.hits[0].why or {})


def test_without_explain_nothing_is_explained(filtered: House) -> None:
    assert all(hit.why is None for hit in filtered.ask("beans").hits)


def test_every_hit_tells_where_it_stands(house: House) -> None:
    path = house.tell("where", "First line.", ("assistant", "The beans stand here."), cwd="/home/mara/plot")
    (hit,) = house.ask("where do the beans stand", limit=1).hits
    message = house.memory.history.documents([hit.id])[hit.id]
    assert (hit.kind, hit.text, hit.snippet) == ("message", "The beans stand here.", "The beans stand here.")
    assert (hit.author, hit.source, hit.project, hit.session_id) == ("assistant", "generic", "/home/mara/plot", "where")
    assert (hit.line, hit.cwd) == (2, "/home/mara/plot")
    assert hit.at == message.at
    assert hit.file.endswith(path.name)
    listed = house.memory.history.conversation(hit.conversation).conversation
    assert hit.id in [message.id for message in house.memory.history.messages(listed)]
    assert [hit.snippet[start:end] for start, end in hit.highlights] == ["beans", "stand"]


def test_a_sub_agents_words_are_found_beside_the_conversations(house: House) -> None:
    house.tell("a", "Please look.", ("subagent", "I found the hedgehog under the shed."))
    (hit,) = house.ask("hedgehog", limit=1).hits
    assert (hit.author, hit.text) == ("subagent", "I found the hedgehog under the shed.")
    assert hit.file
    assert hit.line == 2


def test_what_tools_and_machines_say_is_not_searched(house: House) -> None:
    house.tell("a", ("tool", "hedgehog.txt"), ("system", "You are a hedgehog."))
    assert house.by_words("hedgehog") == []


# What may not be found


def test_private_text_is_not_found(house: House) -> None:
    house.tell(
        "a", "Before it.", "[private]\nThe hedgehog is called Otto.", "More of the hedgehog.", "[/private]", "After it."
    )
    assert house.by_words("hedgehog otto") == []
    assert house.by_words("before after")


def test_a_masked_secret_is_not_found(house: House) -> None:
    secret = "AKIA" + "IOSFODNN7" + "EXAMPLE"
    house.tell("a", f"My key is {secret} on the shelf.")
    assert all(secret not in hit.text for hit in house.ask(secret).hits)
    assert not house.memory.recall.search(secret, explain=True).hits[0].highlights


def test_what_its_file_has_lost_is_not_found(house: House) -> None:
    house.tell("a", "The hedgehog sleeps.", "The owl wakes.", "The mole digs.")
    assert house.by_words("hedgehog")
    house.tell("a", "The owl wakes and flies.", "The mole digs.", "The fox waits.")
    assert "The hedgehog sleeps." not in house.texts("hedgehog", fresh=False)
    assert house.by_words("hedgehog") == []


def test_a_message_that_changed_is_found_by_its_new_words_only(house: House) -> None:
    house.tell("a", {"text": "The hedgehog sleeps.", "id": "same"})
    assert house.by_words("hedgehog") == ["The hedgehog sleeps."]
    house.tell("a", {"text": "The badger sleeps.", "id": "same"})
    assert house.by_words("hedgehog") == []
    assert house.by_words("badger") == ["The badger sleeps."]


def test_what_was_said_after_the_last_look_waits_for_a_fresh_one(house: House) -> None:
    house.memory.recall.catch_up()
    house.tell("a", "The hedgehog sleeps.")
    assert house.by_words("hedgehog", fresh=False) == []
    assert house.memory.recall.state().waiting == 1
    assert house.by_words("hedgehog") == ["The hedgehog sleeps."]
    assert house.memory.recall.state().waiting == 0


def test_houses_do_not_see_each_other(open_house: OpenHouse, tmp_path: Path) -> None:
    one, other = House(open_house(), tmp_path / "one"), House(open_house(), tmp_path / "other")
    one.tell("a", "The hedgehog sleeps.")
    other.tell("a", "The owl wakes.")
    assert one.texts("hedgehog owl") == ["The hedgehog sleeps."]
    assert other.texts("hedgehog owl") == ["The owl wakes."]


# Ways of asking


def test_search_memory_is_as_agents_call_it(house: House) -> None:
    parameters = inspect.signature(recollect.Memory.search_memory).parameters
    assert list(parameters) == ["self", "query", "search_type"]
    assert parameters["search_type"].default == "both"
    house.tell("a", "The hedgehog sleeps.")
    assert house.memory.search_memory("hedgehog").hits[0].text == "The hedgehog sleeps."
    assert house.memory.search_memory("hedgehog", "conversations").hits
    assert any("rerank" in lack for lack in house.memory.search_memory("hedgehog").lacks)


@pytest.mark.parametrize("kind", ["facts", "notes"])
def test_kinds_that_are_not_kept_yet_say_so(house: House, kind: str) -> None:
    found = house.ask("printer", search_type=kind)
    assert found.hits == []
    assert any(kind in lack for lack in found.lacks)


def test_an_agent_that_is_not_there_is_named(house: House) -> None:
    with pytest.raises(NotFound, match="'otto'"):
        house.ask("printer", agent="otto")


def test_what_is_missing_is_said(house: House) -> None:
    assert any("recollect models pull" in lack for lack in house.ask("printer").lacks)


# Other models


class Counting:
    """Prefers what holds a word, by log-odds, and counts what it read."""

    name = "counting"

    def __init__(self, word: str) -> None:
        self.word = word
        self.read = 0

    def scores(self, question: str, passages: Sequence[str]) -> np.ndarray:
        self.read += len(passages)
        return np.array([80.0 if self.word in passage else -80.0 for passage in passages], np.float32)


def with_models(house: House, **models: object) -> House:
    memory = house.memory
    own = OwnModels(memory.settings, **models)  # type: ignore[arg-type]
    return House(recollect.Memory(memory.settings, memory.database, memory.clock, own), house.folder)


def test_a_reranker_lifts_what_it_likes_and_its_part_is_told(house: House) -> None:
    house.tell("a", *(f"The fence number {number} is green." for number in range(20)), start=days_ago(5))
    house.tell("b", "A fence of willow.", start=days_ago(50))
    reranker = Counting("willow")
    reranked = with_models(house, reranker=reranker)
    assert reranked.best("green fence") != "A fence of willow."
    assert reranker.read == 0
    found = reranked.ask("green fence", rerank=True, explain=True)
    assert found.hits[0].text == "A fence of willow."
    assert 0 < reranker.read <= 30
    for hit in found.hits:
        assert hit.why is not None
        assert sum(hit.why.values()) == pytest.approx(hit.score, abs=1e-3)
    reranked.memory.recall.close()


class Disturbing:
    """The static model, and something that happens when a question is embedded."""

    def __init__(self, embedder: Embedder, happens: Callable[[], None]) -> None:
        self._embedder = embedder
        self._happens = happens
        self.name, self.dimensions = embedder.name, embedder.dimensions

    def passages(self, texts: Sequence[str]) -> np.ndarray:
        return self._embedder.passages(texts)

    def query(self, text: str) -> np.ndarray:
        self._happens()
        return self._embedder.query(text)


def test_a_search_whose_index_is_replaced_under_it_begins_again(house: House) -> None:
    house.tell("a", "The hedgehog sleeps.")
    times: list[int] = []

    def rebuild_once() -> None:
        times.append(len(times))
        if len(times) == 1:
            house.memory.recall.reindex()
            house.memory.recall.catch_up()

    disturbed = with_models(house, static=Disturbing(house.memory.models.static, rebuild_once))
    assert disturbed.texts("hedgehog")[0] == "The hedgehog sleeps."
    assert len(times) == 2
    disturbed.memory.recall.close()


def test_a_search_that_is_disturbed_each_time_says_so(house: House) -> None:
    house.tell("a", "The hedgehog sleeps.")
    times: list[int] = []

    def rebuild() -> None:
        times.append(len(times))
        house.memory.recall.reindex()

    disturbed = with_models(house, static=Disturbing(house.memory.models.static, rebuild))
    with pytest.raises(Unavailable):
        disturbed.ask("hedgehog")
    assert len(times) == TRIES
    disturbed.memory.recall.close()
