"""Turns what somebody says in the first person into a sentence about them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memory.domain.personal_names import possessive

from ..tokens import Token
from .grammar import (
    ADVERBS,
    AUXILIARIES,
    PRONOUNS,
    VERBS,
    Request,
    is_finite,
    tokens_of,
)

_SINGULAR = {
    "am": "is", "are": "is", "'m": " is", "'re": " is", "have": "has", "'ve": " has",
    "'ll": " will", "'d": " would", "do": "does", "go": "goes", "were": "was",
}  # fmt: skip
_MODALS = frozenset(["can", "could", "will", "would", "shall", "should", "may", "might", "must"])
_SUBJECT_OF = {"i": "speaker", "we": "group", "you": "addressee"}
_OBJECTS = {
    "me": ("speaker", ""), "myself": ("speaker", ""), "my": ("speaker", "'s"),
    "mine": ("speaker", "'s"), "us": ("group", ""), "ourselves": ("group", ""),
    "our": ("group", "'s"), "ours": ("group", "'s"), "your": ("addressee", "'s"),
    "yours": ("addressee", "'s"), "yourself": ("addressee", ""),
}  # fmt: skip
_NOT_AGREEING = frozenset(["let", "make", "help", "to", "do", "does", "did", "not"])
_PREPOSITIONS_BEFORE_YOU = frozenset(["for", "to", "with", "from", "at", "of", "by", "about"])
_MANNERS = {
    "don't": "not to ", "do not": "not to ", "never": "never to ", "always": "always to ",
    "only": "only to ", "stop": "to stop ", "no longer": "no longer to ",
}  # fmt: skip
_ES = re.compile(r"(?:s|sh|ch|x|z|o)$")
_CONSONANT_Y = re.compile(r"[^aeiou]y$")


@dataclass(frozen=True, slots=True)
class Voices:
    """What the speaker, those whom "we" means, and the one spoken to are called."""

    speaker: str
    group: str
    addressee: str


def third(verb: str) -> str:
    """A base form as it follows a name ("carry" as "carries")."""
    if verb in _SINGULAR:
        return _SINGULAR[verb]
    if _CONSONANT_Y.search(verb):
        return verb[:-1] + "ies"
    return verb + ("es" if _ES.search(verb) else "s")


def in_third_person(text: str, voices: Voices) -> str:
    """The text with names in place of I, we and you, and its verbs in agreement."""
    tokens = tokens_of(text)
    pieces: list[str] = []
    end = 0
    agreeing = False
    for place, token in enumerate(tokens):
        put = _named(tokens, place, voices)
        if put is not None:
            agreeing = token.lower in {"i", "we", "you"} and _agrees(tokens, place)
            before = tokens[place - 1].lower if place else ""
            if token.lower == "i" and before in {"am", "are"}:
                pieces.append(text[end : tokens[place - 1].start] + _cased("is", tokens[place - 1]))
                end = tokens[place - 1].end
        elif agreeing:
            if token.lower in ADVERBS:
                continue
            agreeing = False
            put = _agreed(token)
        elif _joins_verb(tokens, place):
            put = third(token.lower)
        if put is None:
            continue
        pieces.append(text[end : token.start])
        pieces.append(put)
        end = token.end
    return "".join(pieces) + text[end:]


def _named(tokens: Sequence[Token], place: int, voices: Voices) -> str | None:
    token = tokens[place]
    word = token.lower
    role = _SUBJECT_OF.get(word)
    if word == "i" and token.text != "I" and place and tokens[place - 1].lower in {".", "/"}:
        return None
    if role is not None:
        return str(getattr(voices, role))
    found = _OBJECTS.get(word)
    if found is None or (word == "us" and token.text == "US"):
        return None
    name = str(getattr(voices, found[0]))
    owner, _, kind = name.rpartition(" ")
    behind = tokens[place + 1].lower if place + 1 < len(tokens) else ""
    if word == "our" and owner and behind == kind:
        return owner  # "our team" is the team and not the team's team
    return possessive(name) if found[1] else name


def _agrees(tokens: Sequence[Token], place: int) -> bool:
    """Whether the pronoun at `place` is the subject of the verb behind it."""
    if place == 0:
        return True
    before = tokens[place - 1].lower
    if tokens[place].lower == "you" and before in _PREPOSITIONS_BEFORE_YOU:
        return False
    return before not in _MODALS and before not in _NOT_AGREEING


def _agreed(token: Token) -> str | None:
    word = token.lower
    if word in _SINGULAR:
        put = _SINGULAR[word]
        if word == "do" and token.text != token.lower:
            return "does"
        return put
    if word in AUXILIARIES or word in _MODALS or word not in VERBS:
        return None
    return third(word)


def _joins_verb(tokens: Sequence[Token], place: int) -> bool:
    """Whether a base form goes on from "I …" at the beginning: "I run it and teach …"."""
    if place < 3 or tokens[0].lower != "i" or tokens[place - 1].lower not in {"and", "but", "or"}:
        return False
    token = tokens[place]
    if token.lower not in VERBS or place + 1 >= len(tokens):
        return False
    verbs = [each.lower for each in tokens[1:4]]
    first = next((each for each in verbs if each not in ADVERBS), "")
    if first not in VERBS or is_finite(first, "x"):
        return False
    following = tokens[place + 1].lower
    return following in PRONOUNS or following in {"a", "an", "the", "my", "our", "in", "at", "for"}


def _cased(word: str, like: Token) -> str:
    return word.capitalize() if like.is_capital else word


def as_wish(text: str, request: Request, voices: Voices) -> str:
    """ "Please send me X" as "Sarah wants Kyra to send Sarah X"."""
    asked = in_third_person(text[request.verb_start :], voices)
    lead = text[: request.verb_start].lower()
    lasting = " from now on" if "from now on" in lead else ""
    manner = _MANNERS.get(request.manner, "to ")
    return (
        f"{voices.speaker} wants {voices.addressee} {manner}{asked[:1].lower()}{asked[1:]}{lasting}"
    )
