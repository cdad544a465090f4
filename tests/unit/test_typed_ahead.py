"""Text typed ahead is kept once: where it was delivered, else where it was typed (H2; cases 49, 50)."""

from builders import assistant as reply
from builders import fold, jsonl, moment, queue, queued_command, user
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.history.messages import Author, Standing
from recollect.history.typed_ahead import MAX_WAITING, TypedAhead


def waiting(*texts: str) -> TypedAhead:
    typed = TypedAhead()
    for number, words in enumerate(texts, 1):
        typed.enqueue(f"q{number}", words)
    return typed


def test_a_delivered_line_repeats_what_was_typed() -> None:
    typed = waiting("first", "second")
    assert typed.repeated_by("second") == ["q2"]
    assert typed.repeated_by("second") == []
    assert typed.repeated_by("first") == ["q1"]


def test_several_texts_delivered_as_one_are_all_repeated() -> None:
    assert waiting("one", "two", "three").repeated_by("one\ntwo\nthree") == ["q1", "q2", "q3"]
    assert waiting("one", "two", "three").repeated_by("two\nthree") == ["q2", "q3"]


def test_other_words_repeat_nothing() -> None:
    typed = waiting("one", "two")
    assert typed.repeated_by("one and a half") == []
    assert typed.repeated_by("") == []
    assert len(typed.waiting) == 2


def test_the_same_words_typed_twice_are_repeated_one_at_a_time() -> None:
    typed = waiting("yes", "yes")
    assert typed.repeated_by("yes") == ["q1"]
    assert typed.repeated_by("yes") == ["q2"]


def test_what_is_taken_back_is_withdrawn_case_50() -> None:
    assert waiting("one", "two").withdraw("one\ntwo") == ["q1", "q2"]
    assert waiting("one", "two").withdraw("two") == ["q2"]
    assert waiting("one", "two").withdraw("") == ["q1", "q2"]


def test_what_was_delivered_cannot_be_taken_back_case_50() -> None:
    typed = waiting("one", "two")
    typed.deliver()
    assert typed.withdraw("") == ["q2"]


def test_delivering_from_an_empty_queue_does_nothing() -> None:
    typed = TypedAhead()
    typed.deliver()
    assert typed.withdraw("") == []


def test_only_so_many_texts_are_remembered() -> None:
    typed = waiting(*(f"text {number}" for number in range(MAX_WAITING + 5)))
    assert len(typed.waiting) == MAX_WAITING
    assert typed.repeated_by("text 0") == []
    assert typed.repeated_by(f"text {MAX_WAITING + 4}") == [f"q{MAX_WAITING + 5}"]


@given(st.lists(st.sampled_from(["enqueue", "deliver", "repeat", "withdraw"]), max_size=20))
@settings(max_examples=100)
def test_storing_and_loading_between_any_two_steps_changes_nothing(steps: list[str]) -> None:
    kept, reloaded = TypedAhead(), TypedAhead()
    for number, step in enumerate(steps):
        results: list[object] = []
        for typed in (kept, reloaded):
            match step:
                case "enqueue":
                    typed.enqueue(f"q{number}", f"text {number % 3}")
                    results.append(None)
                case "deliver":
                    typed.deliver()
                    results.append(None)
                case "repeat":
                    results.append(typed.repeated_by(f"text {number % 3}"))
                case _:
                    results.append(typed.withdraw(f"text {number % 3}"))
        assert results[0] == results[1]
        reloaded = TypedAhead.from_json(reloaded.to_json())
    assert kept.to_json() == reloaded.to_json()


# In the shapes of the versions of Claude Code


def test_text_that_stands_only_in_the_queue_is_said_case_49() -> None:
    folded = fold(
        jsonl(
            user("start", 1),
            queue("enqueue", "also check the tests", 1),
            queue("remove", minutes=2),
            reply("will do", number=2, minutes=3),
        )
    )
    assert folded.said() == ["start", "also check the tests", "will do"]
    typed = next(item for item in folded.messages.values() if item.kind == "queued")
    assert (typed.author, typed.at) == (Author.USER, moment(1))


def test_text_delivered_as_a_user_line_is_said_once_case_49() -> None:
    folded = fold(
        jsonl(queue("enqueue", "go on", 1), queue("dequeue", minutes=2), user("go on", 1, 2)),
    )
    assert folded.said() == ["go on"]
    assert [item.standing for item in folded.messages.values()] == [Standing.REPEATED, Standing.SAID]


def test_text_delivered_as_an_attachment_is_said_once_case_49() -> None:
    folded = fold(
        jsonl(queue("enqueue", "go on", 1), queue("remove", minutes=2), queued_command("go on", 1, 2)),
    )
    assert folded.said() == ["go on"]
    blocks = [{"type": "text", "text": "go on"}]
    assert fold(jsonl(queue("enqueue", blocks, 1), queued_command(blocks, 1, 2))).said() == ["go on"]


def test_text_absorbed_in_a_turn_is_said_once_case_49() -> None:
    absorbed = queue("remove", "go on", 2, reason="absorbed_mid_turn")
    assert fold(jsonl(queue("enqueue", "go on", 1), absorbed)).said() == ["go on"]


def test_text_absorbed_in_a_turn_is_said_even_if_its_typing_has_no_words_case_49() -> None:
    absorbed = queue("remove", "go on", 2, reason="absorbed_mid_turn")
    assert fold(jsonl(queue("enqueue", minutes=1), absorbed)).said() == ["go on"]


def test_text_that_was_taken_back_is_not_said_but_kept_case_50() -> None:
    folded = fold(jsonl(queue("enqueue", "delete everything", 1), queue("popAll", "delete everything", 2)))
    assert folded.said() == []
    assert [item.standing for item in folded.messages.values()] == [Standing.WITHDRAWN]
    assert len(folded.records) == 2


def test_text_that_was_absorbed_cannot_be_taken_back_any_more_case_50() -> None:
    folded = fold(
        jsonl(
            queue("enqueue", "run the tests", 1),
            queue("remove", "run the tests", 2, reason="absorbed_mid_turn"),
            queue("enqueue", "run the tests again", 3),
            queue("popAll", "run the tests again", 4),
        )
    )
    assert folded.said() == ["run the tests"]


def test_the_same_words_hours_later_are_said_again_case_49() -> None:
    """Absorbed inside a turn, and written nowhere else; the later line is another message."""
    folded = fold(
        jsonl(
            queue("enqueue", "continue", 1),
            queue("remove", minutes=2),
            reply("done", number=1, minutes=3),
            user("continue", 2, 300),
        )
    )
    assert folded.said() == ["continue", "done", "continue"]


def test_a_command_without_words_in_the_queue_is_not_something_said() -> None:
    folded = fold(jsonl(user("hello", 1), queue("enqueue", "/compact", 2), queue("dequeue", minutes=2)))
    assert folded.said() == ["hello"]
    assert [item.kind for item in folded.messages.values() if item.text == "/compact"] == ["command"]
    assert fold(jsonl(queue("enqueue", "/review the last commit", 1))).said() == ["/review the last commit"]


def test_notifications_and_team_mates_in_the_queue_are_machine_text_case_48() -> None:
    notification = "<task-notification>\n<task-id>b1</task-id>\n</task-notification>"
    mate = '{"type":"idle_notification","from":"tester"}'
    folded = fold(jsonl(queue("enqueue", notification, 1), queue("enqueue", mate, 2)))
    assert folded.said() == []
    assert {item.author for item in folded.messages.values()} == {Author.MACHINE}


def test_an_unknown_queue_operation_is_kept_and_says_nothing() -> None:
    folded = fold(jsonl(queue("shuffle", "words", 1)))
    assert (folded.messages, len(folded.records), folded.counts.types) == ({}, 1, {"queue-operation": 1})
