"""What is measured of a query: its form, its words, and how these go together."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from .request import Request, read_request

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


@dataclass(frozen=True, slots=True)
class Measured:
    """Features of about 0 to 1.5 by name, and the request they were measured of.

    `is_readable` is False for a query in a language that the cues do not hold.
    """

    request: Request
    features: dict[str, float]
    is_readable: bool
    asks_again: bool


def measure(*, query: str, history_turns: int) -> Measured:
    """Measure a query asked after `history_turns` earlier turns."""
    request = read_request(query)
    found = _cues(request.text.lower())
    known = found.pop("function_words")
    asks_again = found.pop("again") > 0
    features = _cue_features(found, history_turns) | _form(request, history_turns)
    features |= _combined(features)
    return Measured(request, features, _is_readable(request, known), asks_again)


@cache
def _cue_lists() -> dict[str, re.Pattern[str]]:
    lines = files(__package__).joinpath("cues.txt").read_text(encoding="utf-8").splitlines()
    lists = (line.split(": ", 1) for line in lines if not line.startswith("#"))
    return {name: re.compile(rf"\b(?:{_alternatives(phrases)})\b") for name, phrases in lists}


def _alternatives(phrases: str) -> str:
    return "|".join(re.escape(each.strip()).replace(r"\*", r"\w*") for each in phrases.split("|"))


def _cues(text: str) -> dict[str, int]:
    """How often the phrases of each list of `cues.txt` occur in a text in lower case."""
    return {name: len(phrases.findall(text)) for name, phrases in _cue_lists().items()}


def _share(count: float, most: float) -> float:
    """0 for none, 1 for `most` or more; the first ones count most."""
    return math.sqrt(min(count, most) / most)


def _cue_features(found: dict[str, int], history_turns: int) -> dict[str, float]:
    features = {name: _share(count, 3) for name, count in found.items()}
    if history_turns <= 0:
        features |= {"earlier": 0.0, "whole_talk": 0.0}
    return features


def _form(request: Request, history_turns: int) -> dict[str, float]:
    text, count = request.text.strip(), len(request.words)
    lowered = text.lower()
    opening = next((name for name, form in _OPENINGS if form.match(lowered)), "")
    content = [word for word in request.words if len(word) > 2 and not _is_function_word(word)]
    return {
        **{name: float(name == opening) for name, _ in _OPENINGS},
        "words": min(math.log1p(count) / math.log(30), 1.5),
        "many_words": min(max(0, count - 15) / 20, 2.0),
        # 1 up to six words, 0 from twenty.
        "short": min(1.0, max(0.0, (20 - count) / 14)),
        "listed": min(len(_LISTED.findall(text)), 8) / 5,
        "sentences": min(max(0, len(_SENTENCE_END.findall(text)) - 1), 3) / 3,
        "question": float("?" in text),
        "code": _share(request.code_marks, 4),
        "maths": _share(request.maths_marks, 3),
        "material": min(math.log1p(request.material_words) / 4, 1.5),
        "letters": min(sum(map(len, content)) / max(1, len(content)) / 6, 1.5),
        "long_words": _share(sum(len(word) >= 9 for word in content), 6),
        "compounds": _share(len(_COMPOUND.findall(text)), 3),
        "turns": min(math.log1p(max(0, history_turns)) / math.log(16), 1.5),
        "follows": float(history_turns > 0),
    }


def _is_function_word(word: str) -> bool:
    return _cue_lists()["function_words"].fullmatch(word) is not None


def _combined(features: dict[str, float]) -> dict[str, float]:
    """Features that mean something only in each other's company."""
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


def _is_readable(request: Request, function_words: int) -> bool:
    """Whether the query seems to be English; of fewer than six words nobody can tell."""
    letters = [char for char in request.text if char.isalpha()]
    other = sum(char >= "\u0250" for char in letters)
    if other > max(len(letters) - other, 7):
        return False
    return len(request.words) < 6 or 10 * function_words >= len(request.words)
