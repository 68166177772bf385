"""The talk and the questions of `benchmarks.fortnight`, and what counts as a right answer."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LABELLED = Path(__file__).parent / "labelled" / "fortnight"
KINDS = ("same", "other", "team", "updated", "never", "confided")
FIRST = 5
Json = dict[str, Any]  # Any: JSON


@dataclass(frozen=True, slots=True)
class Told:
    """A memory or message of an answer, and the conversation it is of."""

    text: str
    source: str
    is_memory: bool = False
    is_always_told: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the conversations that answer it, oldest first, and how to know the answer.

    Of each group in `answer` one alternative must be in a text. Of an update the last conversation
    tells the present value, and `outdated` are the words of the earlier ones.
    """

    id: str
    kind: str
    agent: str
    user: str
    question: str
    told_in: tuple[str, ...] = ()
    answer: tuple[tuple[str, ...], ...] = ()
    outdated: tuple[str, ...] = ()

    def answered_by(self, told: Told) -> bool:
        """Whether it gives the (present) answer."""
        told_in = self.told_in[-1:] if self.kind == "updated" else self.told_in
        return told.source in told_in and all(_holds(told.text, group) for group in self.answer)

    def is_outdated(self, told: Told) -> bool:
        """Whether it tells what was true before."""
        is_earlier = bool(self.outdated) and told.source in self.told_in[:-1]
        return is_earlier and _holds(told.text, self.outdated)


def rows_of(name: str) -> list[Json]:
    """The rows of a file of the data."""
    lines = (LABELLED / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def read_questions() -> list[Question]:
    """The labelled questions."""
    rows = [
        row | {"answer": tuple(map(tuple, row.get("answer", ())))} for row in rows_of("questions")
    ]
    return [Question(**row) for row in rows]


def is_right(question: Question, told: Sequence[Told]) -> bool:
    """Whether what is told, best first, is the right answer."""
    if question.kind == "never":
        return all(each.is_always_told for each in told)
    if question.kind == "confided":
        return not any(question.answered_by(each) for each in told)
    for each in told[:FIRST]:
        if question.is_outdated(each):
            return False
        if question.answered_by(each):
            return True
    return False


def _holds(text: str, alternatives: Sequence[str]) -> bool:
    """Whether one of the alternatives is among the words of the text."""
    either = "|".join(map(re.escape, alternatives))
    return re.search(rf"(?<!\w)(?:{either})(?!\w)", text, re.IGNORECASE) is not None
