"""What an evaluation found: gathered question by question, given as means over all and over each type."""

from dataclasses import dataclass, field
from typing import Any

from recollect.evaluation.datasets import LeftOut, Question
from recollect.evaluation.measures import by_best, mean, percentile, score

Scores = dict[str, float]


@dataclass(frozen=True, slots=True)
class Scored:
    """One question in one system. Without evidence at the level of turns, only sessions are scored."""

    type: str
    turn: Scores | None
    session: Scores


@dataclass(slots=True)
class Ranking:
    """The questions of one system."""

    scored: list[Scored] = field(default_factory=list[Scored])

    def take(self, question: Question, ranked: list[str], session_of: dict[str, str]) -> None:
        turn = score(ranked, question.evidence_turns) if question.evidence_turns else None
        session = score(by_best(ranked, session_of), question.evidence_sessions)
        self.scored.append(Scored(question.type, turn, session))

    def types(self) -> list[str]:
        return sorted({one.type for one in self.scored})

    def means(self, type_name: str = "") -> dict[str, Scores]:
        chosen = [one for one in self.scored if type_name in ("", one.type)]
        return {
            "turn": mean([one.turn for one in chosen if one.turn is not None]),
            "session": mean([one.session for one in chosen]),
        }

    def counts(self, type_name: str = "") -> tuple[int, int]:
        """Questions, and those of them with evidence at the level of turns."""
        chosen = [one for one in self.scored if type_name in ("", one.type)]
        return len(chosen), sum(one.turn is not None for one in chosen)


@dataclass(slots=True, kw_only=True)
class Result:
    """`search` is ours; `baselines` were given the same turns and questions."""

    left_out: LeftOut
    rerank: bool
    models: dict[str, str | None]
    search: Ranking = field(default_factory=Ranking)
    baselines: dict[str, Ranking] = field(default_factory=dict[str, Ranking])
    milliseconds: list[float] = field(default_factory=list[float])
    lacks: list[str] = field(default_factory=list[str])
    """What search went without, in its own words."""
    haystacks: int = 0
    sessions: int = 0
    turns: int = 0
    turns_lost: int = 0
    """Turns that were not taken in as messages; search cannot find them."""

    def to_json(self) -> dict[str, Any]:
        questions, with_turns = self.search.counts()
        return {
            "questions": questions,
            "turn_questions": with_turns,
            **self.search.means(),
            "by_type": {name: self._of_type(name) for name in self.search.types()},
            "milliseconds": {
                "p50": round(percentile(self.milliseconds, 0.50), 1),
                "p95": round(percentile(self.milliseconds, 0.95), 1),
            },
            "baselines": {name: ranking.means() for name, ranking in self.baselines.items()},
            "left_out": {
                "questions": dict(sorted(self.left_out.questions.items())),
                "evidence": self.left_out.evidence,
                "turns": self.turns_lost,
            },
            "searched": {"haystacks": self.haystacks, "sessions": self.sessions, "turns": self.turns},
            "rerank": self.rerank,
            "models": self.models,
            "lacks": self.lacks,
        }

    def _of_type(self, name: str) -> dict[str, Any]:
        return {"questions": self.search.counts(name)[0], **self.search.means(name)}
