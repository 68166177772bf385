"""What kind of help a request asks for, by its words and by examples (seed 001, "Relevance").

A request is of the type whose cues and examples it is nearest to. What is near none, such as a
request in a language that the examples do not have, is general, for which only what is certain is
told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

Embed = Callable[[Sequence[str]], NDArray[np.float32]]

# Chosen on requests other than those of the tests.
_LEAST = 0.2
_CUE = 0.3
_MOST_CUES = 2
_NEAREST = 2
# How much a feature of a query, as the complexity scorer measures it, says for a type.
_FEATURES = {"code": ("coding", 0.3), "failure": ("troubleshooting", 0.3)}
_HEAD_CHARS = 2_000


class RequestType(StrEnum):
    """What a request is about; the fields of `teams.domain.team_settings.RequestCategories`."""

    CODING = "coding"
    OUTPUT_FORMAT = "output_format"
    GENERAL = "general"
    PLANNING = "planning"
    PERSONAL = "personal"
    TROUBLESHOOTING = "troubleshooting"


def request_type_of(request: str, *, features: Mapping[str, float], embed: Embed) -> RequestType:
    """The type of the request; `features` are those of the complexity scorer, each about 0 to 1."""
    text = request[:_HEAD_CHARS]
    scores = dict.fromkeys(_cues(), 0.0)
    for name, phrases in _cues().items():
        scores[name] += _CUE * min(len(set(phrases.findall(text.casefold()))), _MOST_CUES)
    for feature, (name, weight) in _FEATURES.items():
        scores[name] += weight * min(features.get(feature, 0.0), 1.0)
    (vector,) = embed([text])
    for name, examples in _examples().items():
        near = np.sort(_vectors(embed, examples) @ vector)[-_NEAREST:]
        scores[name] += float(near.mean())
    best = max(scores, key=lambda name: scores[name])
    return RequestType(best) if scores[best] >= _LEAST else RequestType.GENERAL


@cache
def _vectors(embed: Embed, examples: tuple[str, ...]) -> NDArray[np.float32]:
    return embed(examples)


@cache
def _parts() -> Mapping[str, tuple[str, ...]]:
    """By type, its cues first and then its examples."""
    lines = files(__package__).joinpath("request_types.txt").read_text(encoding="utf-8")
    found: dict[str, list[str]] = {}
    for line in lines.splitlines():
        if line and not line.startswith("#"):
            name, _, words = line.partition(": ")
            found.setdefault(name, []).append(words)
    return {name: tuple(words) for name, words in found.items()}


@cache
def _cues() -> Mapping[str, re.Pattern[str]]:
    return {
        name: re.compile(rf"\b(?:{_alternatives(words[0])})\b")
        for name, words in _parts().items()
        if words[0]
    }


@cache
def _examples() -> Mapping[str, tuple[str, ...]]:
    return {name: words[1:] for name, words in _parts().items()}


def _alternatives(phrases: str) -> str:
    return "|".join(re.escape(each.strip()).replace(r"\*", r"\w*") for each in phrases.split("|"))
