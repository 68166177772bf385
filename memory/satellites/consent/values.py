"""Compares statements of a profile field with each other and with an answer."""

from __future__ import annotations

from datetime import UTC, datetime

from memory.domain.judgements import SURE_OF_REPETITION, without_opening
from memory.domain.text.words import normalise_text, split_sentences
from memory.domain.types import Statement, Verdict
from memory.understanding.judging import small_judge

# The judge reads no times.
_ANY_TIME = datetime(2000, 1, 1, tzinfo=UTC)


def is_same_value(*, new: str, known: str, subject: str) -> bool:
    """Whether the statements give the field of that subject the same value.

    By the same words, or by the small model where it is sure.
    """
    if normalise_text(without_opening(new)) == normalise_text(without_opening(known)):
        return True
    judgement = small_judge().judge(
        existing=Statement(known, _ANY_TIME, subject), new=Statement(new, _ANY_TIME, subject)
    )
    return judgement.verdict is Verdict.DUPLICATE and judgement.confidence >= SURE_OF_REPETITION


def states_value(*, question: str, answer: str, value: str) -> bool:
    """Whether a sentence of the answer to an agent's question is the statement itself.

    "Yes, call me Dana" states "Call me Dana."; a yes alone states nothing.
    """
    if not any(each.text.endswith("?") for each in split_sentences(question)):
        return False
    wanted = normalise_text(value)
    said = [each.text for each in split_sentences(answer)]
    return any(
        wanted in (normalise_text(each), normalise_text(without_opening(each))) for each in said
    )
