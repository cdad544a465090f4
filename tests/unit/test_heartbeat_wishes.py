"""What counts as a wish, on labelled sentences that were made for this, and what is read out of them."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.clock import LOCAL, choose_zone
from recollect.mind.heartbeat.waits import Wait, moment_named, span_named
from recollect.mind.heartbeat.wishes import NOT_NOW, Wish, wishes_in

TOPIC = "the dentist"
PIECES = "don't stop never not now later write to me about before Monday , . ? ! \n > ` \" 'x and"

WISHES = [
    # (answers an outreach, what is said, what it is, its topic)
    (True, "not now", "not now", ""),
    (True, "Not now, I'm in a meeting.", "not now", ""),
    (True, "Sorry, not right now", "not now", ""),
    (True, "not today", "not now", ""),
    (True, "Not today please, long day.", "not now", ""),
    (True, "later", "not now", ""),
    (True, "Later!", "not now", ""),
    (True, "ok, maybe later", "not now", ""),
    (True, "busy right now", "not now", ""),
    (True, "I'm busy at the moment, sorry", "not now", ""),
    (True, "can't talk right now", "not now", ""),
    (True, "not this week", "not now", ""),
    (True, "Ask me again tomorrow", "not now", ""),
    (True, "let's talk on Monday", "not now", ""),
    (True, "I'm busy until Thursday", "not now", ""),
    (True, "leave me alone", "not now", ""),
    (True, "No time today, the kids are sick", "not now", ""),
    (True, "jetzt nicht", "not now", ""),
    (True, "Später bitte", "not now", ""),
    (True, "pas maintenant", "not now", ""),
    (True, "ahora no, gracias", "not now", ""),
    (False, "Don't write to me before Monday.", "not now", ""),
    (False, "don't write before Monday", "not now", ""),
    (False, "Please don't message me before tomorrow", "not now", ""),
    (False, "dont text me until next week", "not now", ""),
    (False, "I'm ill. Please don't write to me this week, thanks.", "not now", ""),
    (False, "Leave me alone for three days", "not now", ""),
    (False, "Could you not message me until 5 pm?", "not now", ""),
    (False, "Schreib mir nicht vor Montag", "not now", ""),
    (False, "Ne m'écris pas avant lundi", "not now", ""),
    (False, "No me escribas hasta el lunes", "not now", ""),
    (False, "I'm tired, so please do not disturb me today.", "not now", ""),
    (False, "stop messaging me first", "never", ""),
    (False, "Please stop writing to me first.", "never", ""),
    (False, "Don't text me unless I ask you to", "never", ""),
    (False, "never write to me on your own again", "never", ""),
    (False, "I don't want you to message me first.", "never", ""),
    (False, "Only write to me when I write first", "never", ""),
    (False, "Can you please stop pinging me out of the blue?", "never", ""),
    (False, "No more unsolicited messages, please.", "never", ""),
    (False, "Schreib mir nicht mehr von dir aus", "never", ""),
    (True, "stop texting me", "never", ""),
    (True, "stop", "not now", ""),
    (True, "No messages please.", "never", ""),
    (True, "Don't write to me again.", "never", ""),
    (True, "arrête de m'écrire", "never", ""),
    (True, "deja de escribirme", "never", ""),
    (True, "never about this", "never about", TOPIC),
    (True, "Don't bring this up again.", "never about", TOPIC),
    (True, "please don't ask me about that any more", "never about", TOPIC),
    (True, "drop it", "never about", TOPIC),
    (True, "I don't want to talk about this", "never about", TOPIC),
    (False, "don't ask me about my ex", "never about", "my ex"),
    (False, "Don't ever ask me about Anna again!", "never about", "Anna"),
    (False, "Stop reminding me about the gym.", "never about", "the gym"),
    (False, "Never write to me about my weight", "never about", "my weight"),
    (False, "My divorce is off limits.", "never about", "My divorce"),
    (False, "don't bring up my father", "never about", "my father"),
    (False, 'Please never talk to me about "the accident" again', "never about", "the accident"),
    (False, "It hurts, so don't ask me about the miscarriage.", "never about", "the miscarriage"),
    (False, "I don't want to hear about football ever again", "never about", "football"),
    (False, "Don't ask me about the exam until Friday", "never about", "the exam"),
    (False, "Frag mich nie wieder nach meiner Mutter", "never about", "meiner Mutter"),
    (False, "you can write again", "again welcome", ""),
    (False, "You can write to me first again.", "again welcome", ""),
    (False, "Feel free to message me any time", "again welcome", ""),
    (False, "ok, you may text me again now", "again welcome", ""),
    (False, "You can ask me about my ex again", "again welcome", "my ex"),
    (False, "Du darfst mir wieder schreiben.", "again welcome", ""),
    (False, "Puedes volver a escribirme", "again welcome", ""),
    # Missed so far, `MISSED` of them: said here so that the share is honest.
    (False, "I'd rather you didn't contact me before the weekend", "not now", ""),
    (True, "tomorrow would be better", "not now", ""),
    (False, "My love life is none of your business", "never about", "My love life"),
    (False, "It's fine to reach out again", "again welcome", ""),
]
MISSED = 4

NO_WISHES = [
    (False, "not now, the build is red - help me"),
    (False, "not now"),
    (False, "later"),
    (False, "I'll do it later"),
    (False, "never mind"),
    (True, "never mind"),
    (True, "Never mind about that, what's the weather?"),
    (True, "Later we went to the zoo and saw two bears."),
    (True, "not now that I know the answer"),
    (True, "Why not now?"),
    (True, "Thanks, that went well! How are you?"),
    (True, "Yes, I called the dentist this morning."),
    (True, "no"),
    (True, "I was busy right now with the report and finished it, tell me the next step"),
    (False, "Don't write the report before Monday."),
    (False, "Don't text her before Monday"),
    (False, "She said: don't write to me before Monday."),
    (False, "She told me, never message me first again."),
    (False, "He wrote stop texting me first"),
    (False, "> stop messaging me first\nWhat did she mean by that?"),
    (False, "```\n# don't ask me about my ex\n```\nwhat does this comment mean"),
    (False, '"Stop messaging me first" is what my sister texted me.'),
    (False, "Translate to German: don't ask me about my ex"),
    (False, "Write a text to Tom: please stop messaging me first."),
    (False, "Tell Anna: don't write to me before Monday"),
    (False, "What happens if I say don't write to me before Monday?"),
    (False, "Don't tell Anna about the party"),
    (False, "don't ask me how I fixed it"),
    (False, "Don't ask me why, but it works now."),
    (False, "don't ask"),
    (False, "Don't bring up the price in the letter"),
    (False, "Don't mention my salary in the application."),
    (False, "don't write about politics in the essay"),
    (False, "Stop the server and write to me when it is done."),
    (False, "stop writing tests for now"),
    (False, "Don't write to the database before the migration."),
    (False, "You can write the function again without recursion."),
    (False, "Can you write again?"),
    (False, "Can you write that again, shorter?"),
    (False, "You never write to me first!"),
    (False, "Why don't you ever write to me first?"),
    (False, "I never talk about my ex."),
    (False, "My ex told me never to contact him again."),
    (False, "Don't forget to remind me about the dentist."),
    (False, "Remind me about the dentist tomorrow"),
    (False, "We should not talk about this before Monday, the board decides on Tuesday."),
    (False, "The function must never be called about this"),
    (False, "`don't bring this up again`"),
    (False, "don't bring this up again"),  # Nobody knows what: there was no outreach, so it has no topic.
    (False, "The parking lot is off limits in the evening, isn't it?"),
    (False, "Leave me a note for three days"),
    (False, "stop"),
    (True, "What did you mean by never about this?"),
    (True, "[In reply to: “not now”]\nHow about now?"),
    (True, "I told the dentist not today, so Friday it is. All fine!"),
    (False, "Ich schreibe mir nicht vor Montag eine Notiz"),
    (False, "Write me first a summary, then the details"),
    (False, "Never write to me in French"),
    (False, "Don't talk to me like that"),
]

UNSEEN = [
    (True, "nah not now mate", "not now", ""),
    (True, "Can we do this tomorrow?", "not now", ""),
    (True, "I'm driving right now", "not now", ""),
    (True, "Maybe another time", "not now", ""),
    (True, "Not tonight, I'm exhausted", "not now", ""),
    (True, "Please leave me in peace today", "not now", ""),
    (True, "busy. later.", "not now", ""),
    (True, "Thanks, but not now.", "not now", ""),
    (True, "heute nicht", "not now", ""),
    (True, "hoy no puedo", "not now", ""),
    (True, "I can't deal with this right now", "not now", ""),
    (False, "Hey, please don't contact me until Sunday evening, I'm camping.", "not now", ""),
    (False, "do not bother me for the next two hours", "not now", ""),
    (False, "Don't ping me before 9am", "not now", ""),
    (False, "no messages until Monday please", "not now", ""),
    (False, "I need quiet this week, don't message me", "not now", ""),
    (False, "From now on, don't write to me unless I write to you.", "never", ""),
    (False, "I'd prefer if you never messaged me first", "never", ""),
    (False, "You should stop contacting me on your own.", "never", ""),
    (True, "please never text me again", "never", ""),
    (True, "Stop it. Stop messaging me.", "never", ""),
    (True, "Stop bringing this up", "never about", TOPIC),
    (True, "don't remind me of this again", "never about", TOPIC),
    (True, "Quit nagging me about it", "never about", TOPIC),
    (True, "This subject is taboo", "never about", TOPIC),
    (True, "I said don't ask about it", "never about", TOPIC),
    (False, "Please don't ask me about work on weekends", "never about", "work on weekends"),
    (False, "never ask me about money", "never about", "money"),
    (False, "No more about Paul, please.", "never about", "Paul"),
    (False, "I never want to be reminded of that summer again", "never about", "that summer"),
    (False, "Don't mention the surgery again", "never about", "the surgery"),
    (False, "You can message me again whenever you like", "again welcome", ""),
    (False, "I'm back, feel free to write to me first again", "again welcome", ""),
    (False, "you may bring up the gym again", "again welcome", "the gym"),
]
UNSEEN_NONE = [
    (True, "now is perfect"),
    (True, "Not now but in general, how do I descale a kettle?"),
    (True, "Done! The dentist was busy until noon."),
    (True, "I told my boss I can't talk right now"),
    (True, "Good morning! Not today's problem, but the sink leaks."),
    (True, "Sooner or later I will, thanks for asking"),
    (True, "ask me anything"),
    (True, "tell me later what you found out about the flights and book the cheapest one for me"),
    (False, "Later versions fixed it."),
    (False, "Not now"),
    (False, "We are busy right now, deploy later"),
    (False, "How do I tell my mother not to call me before noon?"),
    (False, "Add a sign: do not disturb until Monday"),
    (False, "don't commit before Monday"),
    (False, "Please stop writing comments in German."),
    (False, "Stop asking me for permission"),
    (False, "Do not write to me in capital letters."),
    (False, "My therapist says never contact him first."),
    (False, "The email starts with: stop contacting me on your own"),
    (False, "I don't want to talk about this in the standup"),
    (False, "Don't ask users about their age."),
    (False, "never talk about fight club"),
    (False, "Make sure the bot won't message me first when it starts."),
    (False, "You can write again to the socket after the ack."),
    (False, "He may write to me again, who knows"),
    (False, "Was it rude to write don't bother me this week?"),
    (False, "Don't let me forget the milk"),
    (False, "Don't stop writing to me about the garden, I love it"),
    (False, "I don't like it when people text me first thing in the morning"),
    (False, "please write me a poem about my ex"),
]
"""Written before the phrases were tried on them: 25 of these 34 were found then, and none of these 30. Some phrases
were added since."""


def _first_wish(text: str, *, answers_outreach: bool, topic: str) -> Wish | None:
    return next(iter(wishes_in(text, answers_outreach=answers_outreach, topic=topic)), None)


def _found(is_answer: bool, text: str, topic: str = TOPIC) -> tuple[str, str]:
    wish = _first_wish(text, answers_outreach=is_answer, topic=topic)
    return (wish.kind, wish.topic) if wish else ("", "")


def test_none_of_the_labelled_sentences_without_a_wish_is_taken_for_one() -> None:
    taken = [
        text for is_answer, text in (*NO_WISHES, *UNSEEN_NONE) if _found(is_answer, text, TOPIC if is_answer else "")[0]
    ]
    assert taken == []


def test_what_is_taken_for_a_wish_is_the_wish_that_it_is() -> None:
    wrong = [
        (text, found)
        for is_answer, text, kind, topic in (*WISHES, *UNSEEN)
        if (found := _found(is_answer, text))[0] and found != (kind, topic)
    ]
    assert wrong == []


def test_most_of_the_labelled_wishes_are_found() -> None:
    missed = [text for is_answer, text, *_ in WISHES if not _found(is_answer, text)[0]]
    assert missed == [text for _, text, *_ in WISHES[-MISSED:]]
    missed_unseen = [text for is_answer, text, *_ in UNSEEN if not _found(is_answer, text)[0]]
    assert len(missed_unseen) <= 4


def test_short_words_are_a_wish_only_as_an_answer() -> None:
    for text in ("not now", "later", "busy right now", "stop texting me", "I'm busy until Thursday"):
        assert _found(True, text)[0]
        assert not _found(False, text)[0]


def test_a_topic_that_is_only_pointed_at_needs_a_message_that_had_one() -> None:
    assert _found(True, "never about this") == ("never about", TOPIC)
    assert _found(True, "never about this", topic="") == ("", "")


def test_not_now_holds_for_twelve_hours_and_a_named_time_as_long_as_it_says() -> None:
    assert _wait(True, "not now") == NOT_NOW == Wait(hours=12)
    assert _wait(True, "not today") == Wait(days=1)
    assert _wait(True, "not this week") == Wait(hours=7 * 24)
    assert _wait(False, "Don't write to me before Monday") == Wait(weekday=0)
    assert _wait(False, "Don't write to me for two weeks") == Wait(hours=14 * 24)
    assert _wait(False, "Don't ask me about the exam until Friday") == Wait(weekday=4)
    assert _wait(False, "Don't ask me about the exam") is None


def _wait(is_answer: bool, text: str) -> Wait | None:
    wish = _first_wish(text, answers_outreach=is_answer, topic=TOPIC)
    assert wish
    return wish.wait


@pytest.fixture
def berlin() -> Iterator[None]:
    choose_zone("Europe/Berlin")
    yield
    choose_zone("")


@pytest.mark.usefixtures("berlin")
@pytest.mark.parametrize(
    ("words", "until"),
    [  # Said on Thursday the 26th of March 2026 at 21:00; in the night of Sunday the clocks go forward.
        ("tomorrow", "2026-03-27T08:00+01:00"),
        ("tomorrow morning", "2026-03-27T08:00+01:00"),
        ("Monday", "2026-03-30T08:00+02:00"),
        ("on Thursday", "2026-04-02T08:00+02:00"),
        ("next week", "2026-03-30T08:00+02:00"),
        ("the weekend", "2026-03-28T08:00+01:00"),
        ("next month", "2026-04-01T08:00+02:00"),
        ("9", "2026-03-27T09:00+01:00"),
        ("9:30 pm", "2026-03-26T21:30+01:00"),
        ("noon", "2026-03-27T12:00+01:00"),
        ("today", "2026-03-27T08:00+01:00"),
        ("this week", "2026-04-02T22:00+02:00"),
        ("for three days", "2026-03-29T22:00+02:00"),
        ("an hour", "2026-03-26T22:00+01:00"),
        ("lundi", "2026-03-30T08:00+02:00"),
        ("mañana", "2026-03-27T08:00+01:00"),
    ],
)
def test_how_long_is_counted_on_the_clock_of_the_person(words: str, until: str) -> None:
    said = datetime(2026, 3, 26, 20, tzinfo=UTC).astimezone(LOCAL)
    wait = moment_named(words) or span_named(words)
    assert wait
    assert wait.until(said) == datetime.fromisoformat(until)


@pytest.mark.parametrize(
    "words", ["I am ready", "25", "9:75", "for 0 days", "for 9999 months", "the cows come home", ""]
)
def test_what_is_no_time_is_no_wait(words: str) -> None:
    assert moment_named(words) is None
    assert span_named(words) is None


@given(
    st.lists(st.sampled_from(PIECES.split(" ")), max_size=60),
    st.booleans(),
)
def test_no_words_break_it_and_each_wait_ends_later_than_it_was_said(words: list[str], is_answer: bool) -> None:
    wish = _first_wish(" ".join(words), answers_outreach=is_answer, topic=TOPIC)
    if wish and wish.wait:
        said = datetime(2026, 3, 26, 20, tzinfo=UTC)
        assert wish.wait.until(said) > said


@given(st.text(max_size=300), st.booleans(), st.text(max_size=20))
def test_no_text_breaks_it(text: str, is_answer: bool, topic: str) -> None:
    _first_wish(text, answers_outreach=is_answer, topic=topic)


def test_a_long_text_is_about_something_else() -> None:
    assert _first_wish("Don't write to me before Monday. " + "word " * 1000, answers_outreach=True, topic="") is None
