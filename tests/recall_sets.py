"""A small set of our own, in the neutral format and in the official ones: two friends, a garden, five questions."""

import json
from pathlib import Path
from typing import Any

SESSIONS: list[dict[str, Any]] = [
    {
        "session_id": "g/s1",
        "at": "2023-05-08T13:56:00Z",
        "turns": [
            {"turn_id": "g/D1:1", "speaker": "Ada", "text": "I planted runner beans along the south fence yesterday."},
            {"turn_id": "g/D1:2", "speaker": "Ben", "text": "Lovely! My greenhouse has a broken pane since the storm."},
        ],
    },
    {
        "session_id": "g/s2",
        "at": "2023-06-20T09:00:00Z",
        "turns": [
            {"turn_id": "g/D2:1", "speaker": "Ben", "text": "The glazier came and replaced the pane for forty pounds."},
            {"turn_id": "g/D2:2", "speaker": "Ada", "text": "Slugs ate half of the lettuce."},
            {"turn_id": "g/D2:3", "speaker": "Ben", "text": "Copper tape around the pots keeps them away."},
        ],
    },
    {
        "session_id": "g/s3",
        "at": "2023-08-02T18:30:00Z",
        "turns": [{"turn_id": "g/D3:1", "speaker": "Ada", "text": "We picked nine kilos of runner beans this week!"}],
    },
]
QUESTIONS: list[dict[str, Any]] = [
    {
        "question_id": "g/q0",
        "type": "single-hop",
        "question": "What keeps slugs away from the pots?",
        "answer": "copper tape",
        "haystack": ["g/s1", "g/s2", "g/s3"],
        "evidence_sessions": ["g/s2"],
        "evidence_turns": ["g/D2:3"],
    },
    {
        "question_id": "g/q1",
        "type": "multi-hop",
        "question": "What happened with the runner beans?",
        "answer": "planted, then nine kilos",
        "haystack": ["g/s1", "g/s2", "g/s3"],
        "evidence_sessions": ["g/s1", "g/s3"],
        "evidence_turns": ["g/D1:1", "g/D3:1"],
    },
    {
        "question_id": "g/q2",
        "type": "abstention",
        "question": "What did Ada say about tulips?",
        "answer": "nothing",
        "haystack": ["g/s1", "g/s2", "g/s3"],
        "evidence_sessions": [],
        "evidence_turns": [],
    },
    {
        "question_id": "g/q3",
        "type": "single-hop",
        "question": "Who replaced the pane?",
        "answer": "the glazier",
        "at": "2023-06-21T09:00:00Z",
        "haystack": [{"session_id": "g/s2", "at": "2023-06-19T09:00:00Z"}, "g/s1"],
        "evidence_sessions": ["g/s2"],
        "evidence_turns": ["g/D2:1"],
    },
]
MEASURED = 3
"""All but the one to be refused."""


def write_lines(path: Path, values: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")


def write_neutral(folder: Path) -> Path:
    write_lines(folder / "sessions.jsonl", SESSIONS)
    write_lines(folder / "questions.jsonl", QUESTIONS)
    return folder


def locomo_sample() -> dict[str, Any]:
    """The same talk as LoCoMo writes it, with a photo, and with references to evidence as untidy as the real ones."""
    conversation: dict[str, Any] = {"speaker_a": "Ada", "speaker_b": "Ben"}
    dates = ("1:56 pm on 8 May, 2023", "9:00 am on 20 June, 2023", "6:30 pm on 2 August, 2023")
    for number, (session, date) in enumerate(zip(SESSIONS, dates, strict=True), 1):
        conversation[f"session_{number}_date_time"] = date
        conversation[f"session_{number}"] = [
            {"speaker": turn["speaker"], "dia_id": turn["turn_id"].removeprefix("g/"), "text": turn["text"]}
            for turn in session["turns"]
        ]
    conversation["session_3"][0]["blip_caption"] = "a photo of a basket"
    conversation["session_4_date_time"] = "7:00 pm on 3 August, 2023"
    return {
        "sample_id": "g",
        "conversation": conversation,
        "qa": [
            {"question": QUESTIONS[0]["question"], "answer": "copper tape", "evidence": ["D2:3"], "category": 4},
            {"question": QUESTIONS[1]["question"], "answer": "…", "evidence": ["D1:1; D:03:01"], "category": 1},
            {"question": "When?", "adversarial_answer": "never", "evidence": ["D", "D1:02", "D9:9"], "category": 5},
            {"question": "What else?", "answer": "nothing", "evidence": [], "category": 3},
        ],
    }


def longmemeval_instances() -> list[dict[str, Any]]:
    talk = [
        [
            {"role": "user", "content": "I planted runner beans.", "has_answer": True},
            {"role": "assistant", "content": "Give them a trellis."},
        ],
        [{"role": "user", "content": "How do I sharpen a chisel?"}],
        [{"role": "user", "content": "How do I sharpen a chisel?"}],
    ]
    first = {
        "question_id": "beans",
        "question_type": "single-session-user",
        "question": "What did I plant?",
        "answer": "runner beans",
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 02:21", "2023/05/22 (Mon) 10:00"],
        "haystack_session_ids": ["answer_1", "noise", "noise"],
        "haystack_sessions": talk,
        "answer_session_ids": ["answer_1"],
    }
    return [first, {**first, "question_id": "tulips_abs", "question": "Where did I plant tulips?"}]
