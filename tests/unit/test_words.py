"""Texts become terms: what people write, paste and ask for must meet, in whole and in part."""

import itertools
import re
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.recall.words import LONGEST_TERM, LONGEST_TEXT, STOP_WORDS, document_terms, query_terms, spans


def finds(question: str, text: str) -> bool:
    """Whether every term of the question is a term of the text."""
    asked = query_terms(question)
    return bool(asked) and set(asked) <= set(document_terms(text))


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("the gardens were watered", ["the", "garden", "were", "water"]),
        ("src/app/userService.ts", ["src", "app", "user", "servic", "userservic", "ts", "src/app/userservice.ts"]),
        ("getUserName", ["get", "user", "name", "getusernam"]),
        ("HTTPServerError", ["http", "server", "error", "httpservererror"]),
        ("snake_case_name", ["snake", "case", "name", "snake_case_name"]),
        ("ERR_MODULE_NOT_FOUND", ["err", "modul", "not", "found", "err_module_not_found"]),
        ("TS2345", ["ts", "2345", "ts2345"]),
        ("v1.2.3", ["1", "2", "3", "v1.2.3"]),
        ("2024-05-01", ["2024", "05", "01", "2024-05-01"]),
        ("mara@example.com", ["mara", "exampl", "com", "mara@example.com"]),
        ("PR#123", ["pr", "123", "pr#123"]),
        ("Mara’s", ["mara"]),
        ("user's", ["user"]),
        ("Café", ["cafe"]),
        ("검색은", ["검", "검색", "색", "색은", "은"]),
        ("東京都", ["東", "東京", "京", "京都", "都"]),
        ("🎉", ["🎉"]),
        ("__init__", ["init"]),
        ("I/O", ["i/o"]),
        ("...", []),
        ("", []),
        (" \n\t", []),
        ("_", []),
    ],
)
def test_a_text_has_these_terms(text: str, terms: list[str]) -> None:
    assert document_terms(text) == terms


@pytest.mark.parametrize(
    ("text", "questions"),
    [
        (
            "Look at src/app/userService.ts:42",
            ["userService", "userservice", "service", "src/app/userService.ts:42", "app", "user", "42", "ts"],
        ),
        ("C:\\Users\\mara\\notes.txt is gone", ["mara", "Users", "notes", "txt"]),
        ("rustc says error[E0308]: mismatched types", ["E0308", "e0308", "mismatched", "mismatch", "0308"]),
        ("it fails with ECONNREFUSED_AGAIN", ["econnrefused", "ECONNREFUSED_AGAIN", "again"]),
        ("we pinned numpy==2.1.3", ["2.1.3", "numpy"]),
        ("commit a3f5b9c2e1 broke it", ["a3f5b9c2e1"]),
        ("write to mara.lind@example.com", ["mara.lind@example.com", "lind", "example", "com", "mara"]),
        ("the userService fails", ["userService", "userservice", "USERSERVICE", "services"]),
        ("XMLHttpRequest", ["xml", "http", "request", "XMLHttpRequest", "xmlhttprequest"]),
        ("我们在东京开会", ["东京", "开会", "东京开会", "我们"]),
        ("東京タワーに行きました", ["東京", "タワー", "行きました"]),
        ("ฉันชอบกาแฟ", ["กาแฟ", "ชอบ"]),
        ("서울에서 만나요", ["서울에서", "만나요"]),
        ("Grüße aus dem Café", ["cafe", "CAFÉ", "grüße"]),
        ("user_名前 と user", ["名前", "user"]),
        ("we danced 🎉 all night", ["🎉", "danced", "dance", "dancing"]),
        ("don't forget Mara’s keys", ["forget", "Mara", "mara's", "don't"]),
        ("ﬁle ｆｕｌｌｗｉｄｔｈ", ["file", "fullwidth"]),
    ],
)
def test_what_was_pasted_is_found_in_whole_and_in_part(text: str, questions: list[str]) -> None:
    assert [question for question in questions if not finds(question, text)] == []


@pytest.mark.parametrize(
    ("text", "question"), [("Conan O'Brien", "Brien"), ("à l'école", "école"), ("rock'n'roll", "roll")]
)
def test_what_stands_after_an_apostrophe_is_found(text: str, question: str) -> None:
    assert finds(question, text)


@pytest.mark.parametrize("text", ["猫が好き", "黒猫", "我爱猫咪", "猫"])
def test_one_character_of_chinese_or_japanese_is_found(text: str) -> None:
    assert finds("猫", text)


@pytest.mark.parametrize(("text", "question"), [("Straße", "STRASSE"), ("ΑΘΗΝΑΣ", "Αθήνας")])
def test_case_does_not_matter_in_other_alphabets(text: str, question: str) -> None:
    assert document_terms(text) == document_terms(question)


def test_a_hindi_word_is_one_term() -> None:
    assert len(document_terms("हिन्दी")) == 1


# Questions


def test_a_question_has_each_term_once_and_no_stop_words() -> None:
    assert query_terms("What did the dog do to the other dogs?") == ["dog", "other"]


def test_a_question_of_stop_words_alone_keeps_them() -> None:
    assert query_terms("who is it") == ["who", "is", "it"]
    assert query_terms("Who is it?") == ["who", "is", "it"]
    assert query_terms("PLEASE/") == ["pleas"]
    assert finds("to be or not to be", "To be, or not to be!")


def test_a_stop_word_inside_an_identifier_is_kept() -> None:
    assert "not" in query_terms("ERR_MODULE_NOT_FOUND")


def test_a_question_without_words_has_no_terms() -> None:
    assert query_terms("?!… -- ()") == []


# Size


@pytest.mark.parametrize("piece", ["x", "x.", "aB", "a1", "_", "-", "日", "a'", "x_", "A", "a--", " a-", "é", "🎉"])
def test_a_hundred_thousand_characters_are_read(piece: str) -> None:
    text = (piece * 100_000)[:100_000]
    document_terms(text)
    query_terms(text)
    spans(text)


def test_a_term_is_never_longer_than_the_longest() -> None:
    for text in ("q" * 5_000, "q" * 79 + "_" + "z" * 79, "deadbeef" * 400, "a/" * 500, "é" * 500):
        assert max(map(len, document_terms(text)), default=0) <= LONGEST_TERM, text[:20]


def test_the_parts_of_a_compound_that_is_too_long_are_kept() -> None:
    text = "/".join(f"folder{number}" for number in range(30)) + "/needle.txt"
    assert len(text) > LONGEST_TERM
    assert finds("needle", text)
    assert text not in document_terms(text)


def test_what_lies_behind_the_longest_text_is_not_indexed() -> None:
    text = "filler " * (LONGEST_TEXT // 7 + 1) + "needle"
    assert "needl" not in document_terms(text)
    assert "needl" in document_terms(text[-LONGEST_TEXT:])


# Properties

STEADY = settings(derandomize=True, deadline=None, database=None, max_examples=200)
LETTERS = string.ascii_letters + string.digits + " _-./:@'’,éÜß東京カナ猫กา안녕🎉\n"
TEXTS = st.text(alphabet=LETTERS, max_size=60)
WILD = st.text(max_size=60)


STOPPED = STOP_WORDS | {term for word in STOP_WORDS for term in document_terms(word)}


@STEADY
@given(TEXTS | WILD | st.lists(st.sampled_from([*STOP_WORDS, "dog", "?", "/", "PLEASE"])).map(" ".join))
def test_questions_and_documents_agree_on_every_text(text: str) -> None:
    documented, asked = set(document_terms(text)), set(query_terms(text))
    assert asked <= documented
    assert bool(asked) == bool(documented)
    assert documented - asked <= STOPPED | {term for term in documented if len(term) == 1}


@STEADY
@given(TEXTS | WILD)
def test_terms_hold_no_white_space_and_are_never_empty(text: str) -> None:
    assert all(term and not re.search(r"\s|\x00", term) for term in document_terms(text))


@STEADY
@given(st.text(alphabet=string.ascii_letters + string.digits + " _-./:@'", max_size=60))
def test_case_does_not_matter(text: str) -> None:
    """Inside one word it does: camelCase has parts."""
    assert document_terms(text.lower()) == document_terms(text.upper().lower())
    assert set(document_terms(text.lower())) >= {term for term in document_terms(text.upper()) if term.isdigit()}


@STEADY
@given(st.lists(st.text(alphabet=string.ascii_lowercase + "éü東京", min_size=1, max_size=8), max_size=8))
def test_texts_put_side_by_side_have_the_terms_of_both(words: list[str]) -> None:
    assert document_terms(" ".join(words)) == [term for word in words for term in document_terms(word)]


@STEADY
@given(
    st.lists(st.text(alphabet=string.ascii_lowercase, min_size=2, max_size=8), min_size=1, max_size=5),
    st.sampled_from("-._/\\:@#+~$"),
)
def test_every_name_in_a_compound_is_found(names: list[str], separator: str) -> None:
    text = f"see {separator.join(names)} there"
    assert [name for name in names if not finds(name, text)] == []
    assert finds(separator.join(names), text)


@STEADY
@given(TEXTS)
def test_spans_lie_in_the_text_in_order_and_have_its_terms(text: str) -> None:
    found = spans(text)
    assert all(0 <= start < end <= len(text) for start, end, _ in found)
    assert all(before[1] <= after[0] or before[0] <= after[0] for before, after in itertools.pairwise(found))
    assert {term for _, _, terms in found for term in terms} >= set(query_terms(text))
