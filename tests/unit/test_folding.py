"""A file gives the same messages in however many parts it is read (H2, H4, H6)."""

from itertools import pairwise
from typing import Any

import pytest
from builders import (
    CWD,
    OTHER_SESSION,
    SESSION,
    Folded,
    assistant,
    fold,
    fold_lines,
    generic,
    jsonl,
    moment,
    queue,
    raw,
    system,
    text,
    tool_result,
    tool_use,
    user,
    uuid,
)
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recollect.history.folding import BAD, MAX_RECORDS
from recollect.history.messages import Author, Standing
from recollect.history.reading import Line
from recollect.history.sources import FileFacts
from recollect.history.sources.generic import Generic
from recollect.history.vault import unpack

REPLY = "msg_01AAAAAAAAAAAAAAAAAAAAAA"
A, B, C = (raw(user(f"line {number}", number, number)) for number in (1, 2, 3))


def only(folded: Folded) -> Any:
    (found,) = folded.messages.values()
    return found


# One reply over several lines (case 39)


def test_the_lines_of_one_reply_are_one_message_with_its_blocks_in_order_case_39() -> None:
    folded = fold(
        jsonl(
            assistant({"type": "thinking", "thinking": "", "signature": "x"}, number=1, message_id=REPLY),
            assistant("I look.", number=2, minutes=2, message_id=REPLY),
            assistant(tool_use("Read", "toolu_a", file_path="/a"), number=3, minutes=3, message_id=REPLY),
            user([tool_result("x", "toolu_a")], 4, 4),
            assistant(tool_use("Bash", "toolu_b", command="ls"), number=5, minutes=5, message_id=REPLY),
            assistant("Done.", number=6, minutes=6),
        )
    )
    reply = folded.messages[REPLY]
    assert [block["type"] for block in reply.blocks] == ["thinking", "text", "tool_call", "tool_call"]
    assert [block["line"] for block in reply.blocks] == [1, 2, 3, 5]
    assert (reply.text, reply.tools, reply.cwd) == ("I look.", ["Read", "Bash"], CWD)
    assert (reply.at, reply.last_at, reply.line) == (moment(1), moment(5), 1)
    assert list(folded.messages) == [REPLY, uuid(4), f"msg_01{6:022d}"]


def test_a_repeated_line_changes_nothing_and_is_kept_as_an_occurrence_case_33() -> None:
    first = user("the first copy", 1)
    later = user("another copy", 1, 5, gitBranch="dev", version="2.1.99", parentUuid=uuid(9))
    folded = fold(jsonl(first, assistant("yes", number=2), later))
    assert folded.messages[uuid(1)].text == "the first copy"
    assert folded.messages[uuid(1)].last_at == moment()
    assert [record.message_id for record in folded.records if record.kind == "user"] == [uuid(1), uuid(1)]


def test_a_glued_record_that_was_written_again_is_one_message_cases_20_33() -> None:
    folded = fold(A + B + b"\n" + B + b"\n")
    assert folded.said() == ["line 1", "line 2"]
    assert (folded.counts.lines, folded.counts.parsed, folded.counts.bad, folded.counts.recovered) == (
        2,
        1,
        1,
        2,
    )


@pytest.mark.parametrize("size", [None, 1])
def test_a_generic_line_that_stands_twice_is_said_once_case_33(size: int | None) -> None:
    line = raw(generic("user", "tea, please", id="1", session="s")) + b"\n"
    folded = fold(line + line, sizes=[len(line)] if size else [], source=Generic())
    assert only(folded).text == "tea, please"


@pytest.mark.parametrize("grown", [False, True])
def test_a_prompt_that_stands_twice_in_the_log_is_said_once_case_33(grown: bool) -> None:
    facts = FileFacts(key="history.jsonl", kind="prompts")
    line = raw({"display": "tea?", "timestamp": 1_772_445_600_000, "project": CWD, "sessionId": SESSION}) + b"\n"
    folded = fold(line + line, sizes=[len(line)] if grown else [], facts=facts)
    assert only(folded).text == "tea?"


def test_equal_lines_without_id_and_time_are_different_messages() -> None:
    line = raw({"role": "user", "content": "yes"})
    assert fold(line + b"\n" + line + b"\n", source=Generic()).said() == ["yes", "yes"]
    assert fold(line + line + b"\n", source=Generic()).said() == ["yes", "yes"]


# What a record lacks, it has from those before it (cases 38, 43, 47)


def test_a_record_without_a_time_has_the_latest_time_before_it_case_38() -> None:
    late, early = user("a", 1, 30), user("b", 2, 10)
    without = user("c", 3)
    del without["timestamp"]
    folded = fold(jsonl(late, early, without))
    assert [item.at for item in folded.messages.values()] == [moment(30), moment(10), moment(30)]


def test_folder_and_version_may_change_inside_a_session_case_47() -> None:
    moved = user("b", 2, cwd="/home/ada/other", version="2.2.0")
    after = queue("enqueue", "c", 3)
    folded = fold(jsonl(user("a", 1), moved, after))
    assert [item.cwd for item in folded.messages.values()] == [CWD, "/home/ada/other", "/home/ada/other"]


def test_lines_of_another_session_are_linked_and_not_at_home_case_34() -> None:
    folded = fold(jsonl(user("old", 1, sessionId=OTHER_SESSION), user("new", 2)))
    assert [item.home for item in folded.messages.values()] == [False, True]
    assert folded.links == {(SESSION, OTHER_SESSION, "resume")}


def test_links_to_other_sessions_are_gathered_cases_35_36_37() -> None:
    folded = fold(
        jsonl(
            user("copied", 1, forkedFrom={"sessionId": OTHER_SESSION, "messageUuid": uuid(50)}),
            {"type": "continued-in", "sessionId": SESSION, "continuedInSessionId": "next-session-of-mine"},
            {"type": "fork-context-ref", "sessionId": SESSION, "parentSessionId": OTHER_SESSION},
        )
    )
    assert folded.links == {(SESSION, OTHER_SESSION, "fork"), (SESSION, "next-session-of-mine", "continue")}
    assert list(folded.messages) == [uuid(50)]


def test_a_file_of_titles_only_has_no_session_and_no_messages_case_6() -> None:
    facts = FileFacts(key="p/x.jsonl", kind="session")
    folded = fold(jsonl({"type": "summary", "summary": "Elsewhere", "leafUuid": uuid(7)}), facts=facts)
    assert (folded.messages, folded.title, folded.titles) == ({}, "", {uuid(7): "Elsewhere"})
    assert folded.state.session_id == ""


def test_the_last_title_counts_but_a_persons_title_is_not_replaced_case_38() -> None:
    first = {"type": "ai-title", "aiTitle": "One", "sessionId": SESSION}
    second = {"type": "ai-title", "aiTitle": "Two", "sessionId": SESSION}
    mine = {"type": "custom-title", "customTitle": "Mine", "sessionId": SESSION}
    assert fold(jsonl(first, second)).title == "Two"
    assert fold(jsonl(first, mine, second)).title == "Mine"
    assert fold(jsonl(first, mine, second), sizes=[len(jsonl(first, mine))]).title == "Mine"


def test_a_session_without_any_reply_is_read_case_7() -> None:
    error = assistant("API Error: 500", number=2, model="<synthetic>", isApiErrorMessage=True)
    folded = fold(jsonl(user("hello?", 1), error, system("api_error", 3)))
    assert folded.said() == ["hello?"]
    assert folded.counts.types == {"user": 1, "assistant": 1, "system": 1}


def test_everything_that_is_not_conversation_is_counted_and_kept() -> None:
    folded = fold(
        jsonl(
            user([tool_result("x")], 1),
            {"type": "invented-tomorrow", "uuid": uuid(2)},
            user("note", 3, isMeta=True),
            user("task", 4, isSidechain=True),
        )
    )
    assert folded.said() == []
    assert len(folded.records) == folded.counts.parsed == 4
    assert folded.counts.types == {"user": 3, "invented-tomorrow": 1}
    assert folded.counts.blocks == {"user:tool_result": 1, "user:text": 2}


# Broken lines (cases 12, 13, 20 to 24, 31)


def test_one_bad_line_stops_nothing_and_is_kept_cases_22_23() -> None:
    broken = b'{"type":"user","message":"bad \\escape"}'
    folded = fold(A + b"\n// a remark\n" + broken + b"\n\n" + B + b"\n")
    assert folded.said() == ["line 1", "line 2"]
    assert (folded.counts.lines, folded.counts.parsed, folded.counts.bad) == (4, 2, 2)
    assert [unpack(record.raw) for record in folded.records if record.kind == BAD] == [b"// a remark", broken]
    assert [problem.line for problem in folded.problems] == [2, 3]


def test_a_line_nested_too_deeply_stops_nothing_case_32() -> None:
    deep = b'{"type":"user","toolUseResult":' + b"[" * 9_000 + b"]" * 9_000 + b"}"
    assert fold(A + b"\n" + deep + b"\n" + B + b"\n").said() == ["line 1", "line 2"]


def test_bytes_before_a_record_are_no_part_of_it_case_21() -> None:
    for padding in (b"\x00" * 400, b"\xef\xbb\xbf", b"  "):
        folded = fold(padding + A + b"\r\n")
        assert folded.said() == ["line 1"]
        assert (folded.records[0].start, folded.records[0].length) == (len(padding), len(A))
        assert (folded.counts.lines, folded.counts.parsed, folded.counts.bad) == (1, 1, 0)


def test_a_half_last_line_is_left_for_later_case_12() -> None:
    folded = fold(A + b"\n" + B[:-9])
    assert (folded.end, folded.newlines, folded.said()) == (len(A) + 1, 1, ["line 1"])
    folded = fold(A + b"\n" + B + b"\n", sizes=[len(A) + 1 + len(B) - 9])
    assert (folded.said(), folded.counts.lines, folded.counts.bad) == (["line 1", "line 2"], 2, 0)


def test_a_whole_last_line_without_an_end_is_read_and_not_read_again_case_12() -> None:
    folded = fold(A + b"\n" + B)
    assert (folded.end, folded.newlines, folded.said()) == (len(A + B) + 1, 1, ["line 1", "line 2"])
    assert fold(A + b"\n" + B + b"\n", sizes=[len(A + B) + 1]).counts == fold(A + b"\n" + B + b"\n").counts


@pytest.mark.parametrize("end", [b"\r\n", b" \n", b"\x00\x00\n"])
def test_padding_that_arrives_after_its_record_makes_no_bad_line_case_12(end: bytes) -> None:
    folded = fold(A + end, sizes=[len(A)])
    assert folded.contents() == fold(A + end).contents()
    assert (folded.counts.parsed, folded.counts.bad) == (1, 0)


def test_records_glued_one_after_the_other_are_counted_as_if_read_at_once_case_20() -> None:
    data = A + B + C + b"\n"
    sizes = [len(A), len(A + B)]
    assert fold(data, sizes=sizes).contents() == fold(data).contents()
    assert fold(data, sizes=sizes).counts.types == {}


def test_a_line_that_is_too_long_is_kept_in_fragments_and_is_one_bad_line_case_24() -> None:
    start = Line(0, b"x" * 19 + b" ", 1, ended=False, fragment=True)
    for end in (Line(20, b" yy", 1, fragment=True), Line(20, b"", 1, fragment=True)):
        folded = fold_lines(start, end)
        assert (folded.counts.lines, folded.counts.bad, folded.counts.parsed) == (1, 1, 0)
        assert b"".join(unpack(record.raw) for record in folded.records) == start.raw + end.raw


def test_a_line_of_millions_of_bytes_is_read_case_24() -> None:
    record = user([tool_result("x" * 5_000_000), text("see above")], 1)
    assert fold(jsonl(record, user("next", 2))).said() == ["see above", "next"]


def test_raw_records_come_back_byte_for_byte_from_the_vault() -> None:
    data = A + b"\n" + B + C + b"\n// remark\n"
    assert [unpack(record.raw) for record in fold(data).records] == [A, B, C, b"// remark"]


# Properties


def pieces(number: int) -> st.SearchStrategy[bytes]:
    """Lines as agents and accidents write them; the number keeps ids apart, so that only replays share."""
    at = number * 1.5
    typed = st.sampled_from(["yes", "go on"])
    records = st.one_of(
        typed.map(lambda words: user(words, number, at)),
        st.just(user([tool_result("größer"), text("nein")], number, -at)),
        st.just(user("[private]", number, at)) | st.just(user("[/private]", number, at)),
        st.just(user("replayed", 1, 0, version="9")),
        st.just(user("elsewhere", number, at, sessionId=OTHER_SESSION, cwd="/tmp")),
        st.just(assistant("one 🙂", number=number, minutes=at, message_id=REPLY)),
        st.just(assistant(tool_use("Bash", command="ls"), "a\u2028b", number=number, message_id=REPLY)),
        typed.map(lambda words: queue("enqueue", words, at)),
        st.sampled_from(["dequeue", "remove"]).map(lambda operation: queue(operation, minutes=at)),
        typed.map(lambda words: queue("popAll", words, at)),
        st.just({"type": "ai-title", "aiTitle": f"Title {number}", "sessionId": SESSION}),
        st.just({"type": "custom-title", "customTitle": f"Mine {number}", "sessionId": SESSION}),
        st.just({"type": "summary", "summary": "t", "leafUuid": uuid(number)}),
    ).map(raw)
    glued = st.lists(records, min_size=1, max_size=3).map(b"".join)
    spliced = st.tuples(st.integers(1, 200), records).map(lambda both: A[: both[0]] + both[1])
    rubbish = st.sampled_from([b"", b"// remark", b"\x00\x00", b"[1]", b'{"half":', b"\xff\xfe"])
    padded = st.tuples(st.sampled_from([b"", b"\x00\x00", b" "]), records, st.sampled_from([b"", b"\r", b" "]))
    return st.one_of(records, records, glued, spliced, rubbish, padded.map(b"".join))


@st.composite
def files(draw: st.DrawFn) -> bytes:
    lines = [draw(pieces(number)) for number in range(1, draw(st.integers(2, 9)))]
    return b"\n".join(lines) + draw(st.sampled_from([b"\n", b""]))


@given(files(), st.lists(st.floats(0, 1), max_size=4), st.integers(1, 700))
@settings(max_examples=100, deadline=None)
@example(A + b"\r\n" + B + b"\r\n", [0.49, 0.5], 700)
def test_any_split_of_a_file_gives_the_same_messages(data: bytes, parts: list[float], block: int) -> None:
    sizes = sorted(int(part * len(data)) for part in parts)
    if not data.endswith(b"\n"):
        data = data.rstrip(b" \r\x00")
    at_once = fold(data)
    assert fold(data, sizes=sizes, bytes_at_once=block).contents() == at_once.contents()
    assert fold(data, bytes_at_once=block).contents() == at_once.contents()


@given(files())
@settings(max_examples=100, deadline=None)
def test_a_file_that_is_looked_at_after_every_record_gives_the_same_messages(data: bytes) -> None:
    sizes = [position + 1 for position, byte in enumerate(data) if byte in b"}\n"]
    assert fold(data + b"\n", sizes=sizes).contents() == fold(data + b"\n").contents()


@given(files())
@settings(max_examples=100, deadline=None)
def test_every_byte_that_was_read_is_a_record_padding_or_private(data: bytes) -> None:
    folded = fold(data + b"\n")
    ends = [(record.start, record.start + record.length) for record in folded.records]
    assert all(end <= start for (_, end), (start, _) in pairwise(ends))
    if not folded.counts.private:
        rest = data
        for start, end in reversed(ends):
            rest = rest[:start] + rest[end:]
        assert not rest.strip(b"\x00 \r\n")
    assert folded.counts.lines == folded.counts.parsed + folded.counts.bad


@given(files())
@settings(max_examples=100, deadline=None)
def test_only_people_and_the_assistant_are_said_to_have_spoken(data: bytes) -> None:
    said = [item for item in fold(data).messages.values() if item.standing is Standing.SAID]
    assert all(item.author in (Author.USER, Author.ASSISTANT) for item in said)


def test_a_program_that_gives_all_replies_one_id_does_not_make_one_endless_message() -> None:
    replies = [assistant(f"reply {number}", number=number, message_id=REPLY) for number in range(MAX_RECORDS + 20)]
    whole = fold(jsonl(*replies))
    assert len(whole.messages) == 21
    assert fold(jsonl(*replies), bytes_at_once=10_000).contents() == whole.contents()
