"""Says for each dimension what raised or lowered it, without repeating the query's words."""

from __future__ import annotations

from .features import Measured
from .types import DIMENSIONS
from .weights import WEIGHT_OF

_SHOWN = 3
# In units of the logistic sum: less than this moves a middling judgement by less than half a point.
_WORTH_SAYING = 0.2

_SAID = {
    "acronyms": "abbreviations",
    "advice": "asks for advice",
    "asked_short": "a short question of fact",
    "assess": "asks for an assessment",
    "begun": "earlier turns",
    "brief": "asks for a short answer",
    "chat": "small talk",
    "code": "code",
    "colon_list": "a list of what is wanted",
    "compounds": "compound terms",
    "contrast": "conditions and contrasts",
    "contrast_experts": "conditions among expert terms",
    "debugging": "a failure to be explained",
    "deep_short": "a hard matter in few words",
    "deixis": "points at something said before",
    "design": "asks for a design",
    "design_experts": "asks for a design or proof with expert terms",
    "design_listed": "several parts to be designed or written",
    "digits": "figures",
    "draft": "asks for something to be written",
    "earlier": "refers to earlier turns",
    "earlier_turns": "refers to a long conversation",
    "edit": "a small edit",
    "errand": "an errand",
    "everyday": "everyday words",
    "expert_share": "mostly expert terms",
    "experts": "expert terms",
    "explain": "asks for an explanation",
    "fancy_large": "asks for a work of imagination",
    "fancy_small": "asks for a small invention",
    "fields": "terms of several fields",
    "hypothetical": "a hypothesis to think through",
    "invent": "asks for ideas",
    "justify": "asks for reasons or arguments",
    "length_asked": "names the length it wants",
    "letters": "long words",
    "listed": "several things asked for",
    "long_ask": "asks for completeness",
    "long_words": "long words",
    "lookup": "a look-up",
    "lookup_short": "a short look-up",
    "material": "text to work on",
    "maths": "formulas",
    "mixed_case": "identifiers",
    "names": "names",
    "open_why": "asks why",
    "paper_long": "a long document",
    "paper_mid": "a document",
    "plain_short": "a few plain words",
    "prove": "asks for a proof or derivation",
    "question": "a question",
    "rarity_mean": "rare words",
    "rarity_top": "rare words",
    "rigour": "asks for rigour",
    "sentences": "several sentences",
    "short": "few words",
    "steps": "steps to be worked out",
    "terms": "terms of a field",
    "trifle_plain": "a plain trifle",
    "trifle_short": "a short trifle",
    "turns": "the length of the conversation",
    "unknown": "very rare words",
    "whole_talk": "refers to the whole conversation",
    "why_deep": "asks why, in expert terms",
    "words": "the length of the request",
    "words_over": "the length of the request",
    "works": "several kinds of work at once",
}


def reasons_for(measured: Measured) -> dict[str, str]:
    """For each dimension the features that moved it most, against an average query."""
    return {name: _reason(measured, place) for place, name in enumerate(DIMENSIONS, start=1)}


def _reason(measured: Measured, place: int) -> str:
    moved: dict[str, float] = {}
    for feature, value in measured.features.items():
        weights = WEIGHT_OF.get(feature)
        if value and weights:
            said = _said(feature, measured)
            moved[said] = moved.get(said, 0.0) + weights[place] * (value - weights[0])
    told = sorted(
        ((said, by) for said, by in moved.items() if said and abs(by) >= _WORTH_SAYING),
        key=lambda pair: -abs(pair[1]),
    )[:_SHOWN]
    parts = [
        f"{verb} {', '.join(said)}"
        for verb, said in (
            ("raised by", [said for said, by in told if by > 0]),
            ("lowered by", [said for said, by in told if by < 0]),
        )
        if said
    ]
    return "; ".join(parts) or "nothing speaks for or against it"


def _said(feature: str, measured: Measured) -> str:
    said = _SAID.get(feature, "")
    if feature.startswith("head_"):
        said = _SAID.get(feature.removeprefix("head_"), "")
    if feature in {"experts", "expert_share", "terms"} and measured.fields:
        said = f"{said} ({', '.join(measured.fields)})"
    return said
