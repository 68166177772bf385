"""The complexity of a query, without a language model.

A query's request is separated from its material and measured by its form and words; five scores
follow by a linear model over these features and the request's static vector.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

Embed = Callable[[Sequence[str]], NDArray[np.float32]]

# Seed 000, "QueryComplexityScorer": the dimensions and their weights.
WEIGHTS: Mapping[str, float] = {
    "reasoning_depth": 0.30,
    "domain_specificity": 0.25,
    "creativity": 0.20,
    "context_dependency": 0.15,
    "output_length": 0.10,
}
DIMENSIONS = tuple(WEIGHTS)
# Seed 000, "ModelRouter": 0 to 3 is fast, 3.1 to 6 balanced, 6.1 to 10 powerful.
FAST_UP_TO = 3.0
BALANCED_UP_TO = 6.0
# A short follow-up such as "still wrong, try again" is nearly as hard as what it follows. These
# figures are chosen, not fitted, and lean towards the harder side: a hard query sent to a fast
# model is the costly mistake.
_FOLLOW_UP_WORDS = 15
_TURNS_BACK = 3
_AS_HARD = 0.85
_CARRIED = ("reasoning_depth", "domain_specificity")
# An unreadable query counts as middling, for the same reason.
_UNREAD = {
    "reasoning_depth": 5.0,
    "domain_specificity": 5.0,
    "creativity": 2.0,
    "output_length": 4.0,
}
# A reason names so many features, and none that moves a middling score by less than .5.
_NAMED = 3
_WORTH_NAMING = 0.2
_SUBJECT = "what it is about"

# Of a very long query only the two ends are read: the request stands in one of them.
_HEAD_CHARS, _TAIL_CHARS = 3_000, 1_500
_LONG_QUOTATION_WORDS = 6

_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_QUOTED = re.compile(r'"([^"]*)"|“([^“”]*)”|«([^«»]*)»|„([^„“”]*)[“”]')
_WORD = re.compile(r"[^\W_]+(?:[-'’/][^\W_]+)*")
_CODE = re.compile(
    r"\b[A-Za-z_]\w{0,60}\([^()]{0,200}\)|[{};]|[=!<>]=|=>|->|::|\b\w{1,60}_\w+\b|</?\w+>|\$\w+|"
    r"\b(?:SELECT|FROM|WHERE|INSERT|UPDATE|JOIN|def|return|import|const|let|var|elif|printf?)\b"
)
_STATEMENT = re.compile(
    r"\w\([^()]{0,200}\)|[{};]|[=!<>]=|=>|->|\s[+*-]?=\s|"
    r"\b(?:SELECT|FROM|WHERE|INSERT|UPDATE|def|return|import|const|let|var|while|for \w+ in)\b"
)
_MATHS = re.compile(r"[∑∫√∞≤≥≠±∀∃∈∂^≈∇⊂→]|\b[a-z]\s?=\s?[-\d(]|\bO\(|\d\s?[*/+]\s?\(?\d")
_HANDED_OVER = re.compile(r"\b(?:this|these|following|below)\b", re.IGNORECASE)
_INSTEAD = re.compile(
    r"(?<!don't )(?<!not )\b(?:for now[,:]?|just (?:tell me|say|answer|give me)[,:]?|"
    r"all i (?:need|want)(?: to know)? is|, only (?:the|tell|say))\s",
    re.IGNORECASE,
)
_DECLINED = re.compile(
    r"\b(?:no need to|(?:do not|don't) (?:need|want|explain|analy[sz]e|bother)|not asking for|"
    r"without explaining|(?:explain|analy[sz]e|design|prove) nothing|prove me wrong)\b[^,.;:!?]*",
    re.IGNORECASE,
)
_OPENINGS = (
    ("asks_what", re.compile(r"what")),
    ("asks_detail", re.compile(
        r"(which|who|when|where|whose|how (many|much|long|far|old|often))\b"
    )),
    ("asks_how", re.compile(r"how (do|does|can|to)\b")),
    ("asks_why", re.compile(r"(why|how)\b")),
    ("asks_yes_no", re.compile(r"(is|are|was|does|do|did|can|could|will|had|has|should|am)\b")),
    ("tells_first", re.compile(
        r"(i|we|our|my|the|this|there|here|it|a|an|these|two|three|you)\b"
    )),
)  # fmt: skip
_SENTENCE_END = re.compile(r"[.!?;](?:\s|$)")
_LISTED = re.compile(r",|;|\band\b|\bor\b")
_COMPOUND = re.compile(r"\b[^\W\d_]{2,}(?:[-–][^\W\d_]{2,})+\b")


class Tier(StrEnum):
    """A class of models, cheapest first."""

    FAST = "fast"
    BALANCED = "balanced"
    POWERFUL = "powerful"


def tier_of(weighted: float) -> Tier:
    """The tier of a weighted score, rounded to one decimal as the cut-offs are."""
    rounded = round(weighted, 1)
    if rounded <= FAST_UP_TO:
        return Tier.FAST
    return Tier.BALANCED if rounded <= BALANCED_UP_TO else Tier.POWERFUL


@dataclass(frozen=True, slots=True)
class ComplexityScore:
    """Five scores from 0 to 10, and the reason for each."""

    reasoning_depth: float
    domain_specificity: float
    creativity: float
    context_dependency: float
    output_length: float
    reasons: Mapping[str, str] = field(default_factory=dict)

    @property
    def dimensions(self) -> dict[str, float]:
        """The five scores by name."""
        return {name: float(getattr(self, name)) for name in DIMENSIONS}

    @property
    def weighted(self) -> float:
        """The sum of the five by the seed's weights, 0 to 10, to three decimals."""
        return round(sum(WEIGHTS[name] * value for name, value in self.dimensions.items()), 3)

    @property
    def tier(self) -> Tier:
        """The tier of the weighted score."""
        return tier_of(self.weighted)


@dataclass(frozen=True, slots=True)
class Weights:
    """The fitted model, made by `benchmarks/routing_fit.py`.

    `features` holds the mean of each feature over the fitted queries and its weight in each
    dimension; `vector` has shape (used parts of the static vector, 5), `subject` (5,) is what the
    vector of an average query adds.
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
    """The complexity of `query` after `history_turns` earlier turns; deterministic.

    `history` holds the texts of the latest ones, oldest first. `embed` returns the static vectors
    that the weights were fitted to. The reasons name kinds of words and never repeat the query.
    """
    measured = measure(query=query, history_turns=history_turns)
    values, reasons = _scored(measured, embed)
    floors: list[tuple[Mapping[str, float], str]] = []
    if not measured.is_readable:
        floors.append((_UNREAD, "a language that the word lists do not hold"))
    if history and measured.asks_again and len(measured.words) <= _FOLLOW_UP_WORDS:
        floors.append((_carried(history, embed), "follows up on a harder turn"))
    for least, why in floors:
        for name, floor in least.items():
            if floor > values[name]:
                values[name], reasons[name] = floor, why
    return ComplexityScore(**values, reasons=reasons)


def _scored(measured: Measured, embed: Embed) -> tuple[dict[str, float], dict[str, str]]:
    weights, words = fitted_weights(), _lines_of("reasons.txt")
    subject = embed([measured.text])[0, : len(weights.vector)] @ weights.vector
    sums = weights.bias + subject
    moved = {_SUBJECT: subject - weights.subject}
    for name, row in weights.features.items():
        value = measured.features[name]
        sums = sums + value * row[1:]
        if value and (named := words.get(name)):
            moved[named] = moved.get(named, 0.0) + (value - row[0]) * row[1:]
    values = {
        name: round(10 / (1 + math.exp(-total)), 2)
        for name, total in zip(DIMENSIONS, sums.tolist(), strict=True)
    }
    return values, {name: _reason(moved, place) for place, name in enumerate(DIMENSIONS)}


def _carried(history: Sequence[str], embed: Embed) -> dict[str, float]:
    earlier = [
        _scored(measure(query=text, history_turns=0), embed)[0] for text in history[-_TURNS_BACK:]
    ]
    return {name: round(_AS_HARD * max(values[name] for values in earlier), 2) for name in _CARRIED}


def _reason(moved: Mapping[str, NDArray[np.float64]], place: int) -> str:
    """The features that moved a dimension most from an average query's score."""
    by = {named: float(row[place]) for named, row in moved.items()}
    most = sorted(by, key=lambda each: -abs(by[each]))[:_NAMED]
    raised = ", ".join(each for each in most if by[each] >= _WORTH_NAMING)
    lowered = ", ".join(each for each in most if by[each] <= -_WORTH_NAMING)
    parts = [raised and f"raised by {raised}", lowered and f"lowered by {lowered}"]
    return "; ".join(filter(None, parts)) or "nothing speaks for or against it"


@dataclass(frozen=True, slots=True)
class Measured:
    """The request in a query, its lower-case words, and its features of about 0 to 1.5 by name."""

    text: str
    words: tuple[str, ...]
    features: dict[str, float]
    is_readable: bool
    asks_again: bool


def measure(*, query: str, history_turns: int) -> Measured:
    """Measures a query's request, without fenced code, long quotations and handed-over text."""
    text = query
    if len(text) > _HEAD_CHARS + _TAIL_CHARS:
        text = f"{text[:_HEAD_CHARS]}\n{text[-_TAIL_CHARS:]}"
    request = _QUOTED.sub(_without_long_quotation, _FENCE.sub(" ", text))
    request = _DECLINED.sub(" ", _after_instead(_without_material(request))).replace("’", "'")
    words = tuple(word.lower() for word in _WORD.findall(request))
    lowered = request.lower()
    found = {name: len(phrases.findall(lowered)) for name, phrases in _cue_lists().items()}
    function_words, asks_again = found.pop("function_words"), found.pop("again") > 0
    features = {name: _share(count, 3) for name, count in found.items()}
    if history_turns <= 0:
        features |= {"earlier": 0.0, "whole_talk": 0.0}
    material_words = max(0, len(query.split()) - len(request.split()))
    features |= _form(request, words) | {
        "code": _share(len(_CODE.findall(text)), 4),
        "maths": _share(len(_MATHS.findall(text)), 3),
        "material": min(math.log1p(material_words) / 4, 1.5),
        "turns": min(math.log1p(max(0, history_turns)) / math.log(16), 1.5),
        "follows": float(history_turns > 0),
    }
    features |= _combined(features)
    is_readable = _is_readable(request, len(words), function_words)
    return Measured(request, words, features, is_readable, asks_again)


@cache
def _lines_of(name: str) -> dict[str, str]:
    """The lines `key: text` of a data file beside this module."""
    lines = files(__package__).joinpath(name).read_text(encoding="utf-8").splitlines()
    pairs = (line.partition(": ") for line in lines if not line.startswith("#"))
    return {key: text for key, _, text in pairs}


def _without_long_quotation(match: re.Match[str]) -> str:
    inner = match.group()[1:-1]
    return " " if len(inner.split()) >= _LONG_QUOTATION_WORDS else match.group()


def _without_material(text: str) -> str:
    """The text without what a colon hands over: paragraphs, code, or a line after "this list:"."""
    lines = text.splitlines()
    for place, line in enumerate(lines[:-1]):
        if line.rstrip().endswith(":"):
            if sum(len(row.split()) for row in lines[place + 1 :]) > 30:
                return "\n".join(lines[: place + 1])
            break
    head, colon, tail = text.partition(":")
    if _HANDED_OVER.search(head) and len(head.split()) <= 14 and len(tail.split()) >= 12:
        return head + colon
    asked = re.search(r"[?:]\s+", text)
    if asked and len(_STATEMENT.findall(text[asked.end() :])) >= 2:
        return text[: asked.end()]
    return text


def _after_instead(text: str) -> str:
    """Returns the request after "for now" or "just tell me", which replaces the first."""
    turns = list(_INSTEAD.finditer(text))
    rest = text[turns[-1].end() :] if turns else ""
    return f"just {rest}" if len(rest.split()) >= 2 else text


@cache
def _cue_lists() -> Mapping[str, re.Pattern[str]]:
    lists = {}
    for name, phrases in _lines_of("cues.txt").items():
        words = (re.escape(each.strip()).replace(r"\*", r"\w*") for each in phrases.split("|"))
        lists[name] = re.compile(rf"\b(?:{'|'.join(words)})\b")
    return lists


def _share(count: float, most: float) -> float:
    """0 for none, 1 for `most` or more; the first ones count most."""
    return math.sqrt(min(count, most) / most)


def _form(request: str, words: Sequence[str]) -> dict[str, float]:
    text, count = request.strip(), len(words)
    lowered = text.lower()
    opening = next((name for name, form in _OPENINGS if form.match(lowered)), "")
    is_common = _cue_lists()["function_words"].fullmatch
    content = [word for word in words if len(word) > 2 and not is_common(word)]
    return {
        **{name: float(name == opening) for name, _ in _OPENINGS},
        "words": min(math.log1p(count) / math.log(30), 1.5),
        "many_words": min(max(0, count - 15) / 20, 2.0),
        # 1 up to six words, 0 from twenty.
        "short": min(1.0, max(0.0, (20 - count) / 14)),
        "listed": min(len(_LISTED.findall(text)), 8) / 5,
        "sentences": min(max(0, len(_SENTENCE_END.findall(text)) - 1), 3) / 3,
        "question": float("?" in text),
        "letters": min(sum(map(len, content)) / max(1, len(content)) / 6, 1.5),
        "long_words": _share(sum(len(word) >= 9 for word in content), 6),
        "compounds": _share(len(_COMPOUND.findall(text)), 3),
    }


def _combined(features: dict[str, float]) -> dict[str, float]:
    short = features["short"]
    deep = max(features["prove"], features["rigour"], features["reasons"])
    trifle = max(features["trifle"], features["brief"])
    return {
        "deep_short": deep * short,
        "trifle_short": trifle * short,
        "trifle_plain": trifle * (1 - deep),
        "rigour_short": features["rigour"] * short,
        "failure_short": features["failure"] * short,
        "question_short": features["question"] * short,
        "what_short": features["asks_what"] * short,
        "deep_contrast": features["contrast"] * deep,
        "design_listed": max(features["design"], features["document"]) * features["listed"],
        "earlier_turns": features["earlier"] * features["turns"],
        "whole_talk_turns": features["whole_talk"] * features["turns"],
    }


def _is_readable(request: str, words: int, function_words: int) -> bool:
    """Returns whether the query seems to be English, assumed for fewer than six words."""
    letters = [char for char in request if char.isalpha()]
    other = sum(char >= "\u0250" for char in letters)
    if other > max(len(letters) - other, 7):
        return False
    return words < 6 or 10 * function_words >= words
