"""The five judgements of a query: a linear model over its features and its static vector."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from .features import Measured, measure
from .types import DIMENSIONS, ComplexityScore

Embed = Callable[[Sequence[str]], NDArray[np.float32]]

# A short follow-up such as "still wrong, try again" is nearly as hard as what it follows. These
# figures are chosen, not fitted, and lean towards the harder side: a hard query sent to a fast
# model is the costly mistake.
_FOLLOW_UP_WORDS = 15
_TURNS_BACK = 3
_AS_HARD = 0.85
_CARRIED = ("reasoning_depth", "domain_specificity")
# What cannot be read is taken for a middling query, for the same reason.
_UNREAD = {
    "reasoning_depth": 5.0,
    "domain_specificity": 5.0,
    "creativity": 2.0,
    "output_length": 4.0,
}
# A reason tells this many features, and none that moves a middling judgement by less than .5.
_TOLD = 3
_WORTH_TELLING = 0.2
_SUBJECT = "what it is about"


@dataclass(frozen=True, slots=True)
class Weights:
    """The fitted model, made by `benchmarks/routing_fit.py`.

    `features` holds for each feature its mean over the fitted queries and its weight in each
    dimension; `vector` has shape (parts of the static vector that are used, 5), `subject` (5,) is
    what the vector of an average query adds.
    """

    bias: NDArray[np.float64]
    features: Mapping[str, NDArray[np.float64]]
    vector: NDArray[np.float64]
    subject: NDArray[np.float64]


@cache
def fitted_weights() -> Weights:
    """The weights of `weights.json`."""
    read = json.loads(files(__package__).joinpath("weights.json").read_text(encoding="utf-8"))
    return Weights(
        bias=np.array(read["bias"]),
        features={name: np.array(row) for name, row in read["features"].items()},
        vector=np.array(read["vector"]),
        subject=np.array(read["subject"]),
    )


def score_query(
    *, query: str, history_turns: int = 0, history: Sequence[str] = (), embed: Embed
) -> ComplexityScore:
    """The complexity of `query`, asked after `history_turns` earlier turns.

    `history` holds the texts of the latest earlier turns, oldest first, as far as they are known;
    `history_turns` counts all of them. `embed` gives the static vectors that the weights were
    fitted to. The same input always gives the same score. The reasons name kinds of words and
    never repeat the query.
    """
    measured = measure(query=query, history_turns=history_turns)
    values, reasons = _judged(measured, embed)
    floors: list[tuple[Mapping[str, float], str]] = []
    if not measured.is_readable:
        floors.append((_UNREAD, "a language that the word lists do not hold"))
    if history and measured.asks_again and len(measured.request.words) <= _FOLLOW_UP_WORDS:
        floors.append((_carried(history, embed), "follows up on a harder turn"))
    for least, why in floors:
        for name, floor in least.items():
            if floor > values[name]:
                values[name], reasons[name] = floor, why
    return ComplexityScore(**values, reasons=reasons)


def _judged(measured: Measured, embed: Embed) -> tuple[dict[str, float], dict[str, str]]:
    weights = fitted_weights()
    subject = embed([measured.request.text])[0, : len(weights.vector)] @ weights.vector
    sums = weights.bias + subject
    moved = {_SUBJECT: subject - weights.subject}
    for name, row in weights.features.items():
        value = measured.features[name]
        sums = sums + value * row[1:]
        told = _TOLD_AS.get(name)
        if value and told:
            moved[told] = moved.get(told, 0.0) + (value - row[0]) * row[1:]
    values = {
        name: round(10 / (1 + math.exp(-total)), 2)
        for name, total in zip(DIMENSIONS, sums.tolist(), strict=True)
    }
    return values, {name: _reason(moved, place) for place, name in enumerate(DIMENSIONS)}


def _carried(history: Sequence[str], embed: Embed) -> dict[str, float]:
    """What a follow-up takes over from the hardest of the last turns."""
    earlier = [
        _judged(measure(query=text, history_turns=0), embed)[0] for text in history[-_TURNS_BACK:]
    ]
    return {name: round(_AS_HARD * max(values[name] for values in earlier), 2) for name in _CARRIED}


def _reason(moved: Mapping[str, NDArray[np.float64]], place: int) -> str:
    """What moved a dimension most, against an average query."""
    by = {told: float(row[place]) for told, row in moved.items()}
    most = sorted(by, key=lambda each: -abs(by[each]))[:_TOLD]
    told = [each for each in most if abs(by[each]) >= _WORTH_TELLING]
    raised = ", ".join(each for each in told if by[each] > 0)
    lowered = ", ".join(each for each in told if by[each] < 0)
    parts = [raised and f"raised by {raised}", lowered and f"lowered by {lowered}"]
    return "; ".join(filter(None, parts)) or "nothing speaks for or against it"


_TOLD_AS = {
    "prove": "asks for a proof or derivation or analysis",
    "design": "asks for a design",
    "rigour": "asks for rigour",
    "contrast": "conditions and contrasts",
    "reasons": "asks for reasons or a comparison",
    "failure": "a failure to be explained",
    "trifle": "a look-up or small errand",
    "brief": "asks for a short answer",
    "chat": "small talk",
    "wit": "asks for a small invention",
    "fiction": "asks for a work of imagination",
    "document": "asks for something to be written",
    "complete": "asks for completeness",
    "earlier": "refers to earlier turns",
    "whole_talk": "refers to the whole conversation",
    "turns": "the length of the conversation",
    "follows": "earlier turns",
    "asks_what": "asks what something is",
    "asks_detail": "asks for a detail",
    "asks_how": "asks how to do something",
    "asks_why": "asks why or how",
    "asks_yes_no": "a question of yes or no",
    "words": "the length of the request",
    "many_words": "the length of the request",
    "short": "few words",
    "listed": "several things asked for",
    "sentences": "several sentences",
    "question": "a question",
    "code": "code",
    "maths": "formulas",
    "material": "text to work on",
    "letters": "long words",
    "long_words": "long words",
    "compounds": "compound terms",
    "deep_short": "a hard matter in few words",
    "trifle_short": "a short trifle",
    "trifle_plain": "a plain trifle",
    "rigour_short": "a hard matter in few words",
    "failure_short": "a failure told in few words",
    "question_short": "a short question",
    "what_short": "a short question",
    "deep_contrast": "conditions in a hard matter",
    "design_listed": "several parts to be designed or written",
    "earlier_turns": "refers to earlier turns",
    "whole_talk_turns": "refers to the whole conversation",
}
