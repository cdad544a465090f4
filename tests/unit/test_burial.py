from recollect.history.burial import Buried, read_remnant, remnant_of, strings_of
from recollect.history.messages import Author, Entry, Standing
from recollect.history.typed_ahead import TypedAhead
from recollect.lineage import Hasher

WORDS = "The spare key lies under the blue flowerpot."
HASHER = Hasher(b"secret")


def entry(**fields: object) -> Entry:
    given: dict[str, object] = {
        "kind": "user",
        "author": Author.USER,
        "standing": Standing.SAID,
        "text": WORDS,
        **fields,
    }
    return Entry(**given)  # type: ignore[arg-type]


def test_a_remnant_says_when_and_where_and_nothing_of_what_was_said() -> None:
    said = entry(at="2026-03-02T10:00:00.000Z", cwd="/home/ada", key="m1", uuid="u1", title=WORDS, parent_id="p1")
    said.blocks = [{"type": "text", "text": WORDS}]

    raw = remnant_of(said, {}, "hashed").to_bytes()

    assert WORDS.encode() not in raw
    left = read_remnant(raw)
    assert left
    assert (left.message, left.entry.key) == ("hashed", "")
    assert (left.entry.at, left.entry.cwd, left.entry.parent_id) == (said.at, said.cwd, "p1")


def test_a_record_that_could_not_be_read_leaves_nothing() -> None:
    assert read_remnant(b"") is None


def test_the_digest_of_a_first_line_is_hidden_once_and_for_all() -> None:
    buried = Buried(HASHER, {"anything"})
    hidden = buried.head("c0ffee")
    assert "c0ffee" not in hidden
    assert buried.head(hidden) == hidden
    assert buried.head("") == ""


def test_a_record_is_known_by_its_bytes_its_message_or_its_words() -> None:
    burial = Buried(HASHER, set())
    hashes = {burial.line(7), burial.line(8, "head"), burial.message("m1"), burial.words("s", WORDS)}
    buried = Buried(HASHER, hashes)

    assert buried.has_line(7)
    assert buried.has_line(7, "anywhere")
    assert buried.has_line(8, "head")
    assert not buried.has_line(8, "other")
    assert not buried.has_line(9)
    assert buried.has_entry(entry(key="m1"), b"{}", is_prompt=False)
    assert not buried.has_entry(entry(key="m2"), b"{}", is_prompt=False)
    repeated = b'{"summary": "' + WORDS.encode() + b'"}'
    summary = entry(author=Author.MACHINE, key="m3", session_id="s")
    assert buried.has_entry(summary, repeated, is_prompt=False)
    assert not buried.has_entry(entry(author=Author.MACHINE, key="m3", session_id="t"), repeated, is_prompt=False)


def test_who_says_the_same_again_is_heard() -> None:
    burial = Buried(HASHER, set())
    buried = Buried(HASHER, {burial.words("s", WORDS), burial.words("", WORDS)})
    again = entry(key="m2", uuid="u2", session_id="s", at="2026-03-03T10:00:00.000Z")
    assert not buried.has_entry(again, WORDS.encode(), is_prompt=False)


def test_every_string_of_a_record_is_looked_at() -> None:
    raw = b'{"a": ["no", {"b": "' + WORDS.encode() + b'"}], "c": "words"}'
    assert list(strings_of(raw, only_long=True)) == [WORDS]
    assert list(strings_of(raw, only_long=False)) == [WORDS, "words"]
    assert list(strings_of(WORDS.encode(), only_long=True)) == [WORDS]


def test_a_forgotten_text_holds_its_place_in_the_queue() -> None:
    queue = TypedAhead()
    queue.enqueue_forgotten()
    queue.enqueue("m2", "And what do they eat?")

    assert queue.repeated_by("something else") == []
    queue.deliver()
    assert queue.withdraw("") == ["m2"]
    queue.drop_forgotten()
    assert queue.waiting == []
