"""The skeleton of a sentence: where its subject part begins and its main verb stands."""

from __future__ import annotations

from collections.abc import Sequence

from ...extraction.language.verbs import GERUNDS, THIRD
from .tables import words
from .tokens import Token
from .units import MONTHS
from .verbal import AUXILIARIES, DETERMINERS, PREPOSITIONS, is_verb_ahead, looks_verbal

STOPWORDS = words(
    "a an the this that these those of to in on at by for from with into onto over under "
    "about as and or but nor so if then than it its he she they them his her their him we our "
    "us you your i my me who whom whose which what where when how there here be am is are was "
    "were been being 's 've 're 'll 'd 'm has have had having do does did done will would "
    "shall should can could may might must not no nor up out off down again very quite rather "
    "just only even still yet so such own same other any some each every all both either "
    "neither more most less few much many one s t ' per via s' himself herself itself "
    "themselves user-s currently usually normally generally always never now lot also too "
    "while during after before between since until through because get got make take go come "
    "set keep let please thing something anything nothing everything year month week day hour "
    "minute second today yesterday tomorrow o'clock according"
)


_OPENERS = words(
    "correction update note erratum actually amendment news clarification reminder fyi "
    "currently today yesterday now instead unfortunately according following starting "
    "effective once although because if when while unlike contrary under per"
)


_SHORT_OPENERS = words("actually currently now meanwhile yesterday today")


def find_start(tokens: Sequence[Token]) -> int:
    """Where the subject part begins, after an opening phrase ("As of May,", "Correction:")."""
    if not tokens:
        return 0
    first = tokens[0].lower
    cleft = _behind_cleft(tokens)
    if cleft:
        return cleft
    for i, token in enumerate(tokens[:14]):
        if token.lower == ":" and first in _OPENERS:
            return i + 1
        if token.lower == "," and (first in PREPOSITIONS or first in _OPENERS):
            return i + 1
    if first in {"after", "since", "following"} and len(tokens) > 3:
        return 3 if tokens[1].lower in DETERMINERS else 2
    if first == "in":
        dated = 1
        while dated < min(len(tokens), 4) and _is_dating(tokens[dated]):
            dated += 1
        if 1 < dated < len(tokens) - 2:
            # "In May 2024 the choir sang".
            return dated
    if [token.lower for token in tokens[:2]] == ["no", "longer"]:
        return 2 if len(tokens) > 3 and tokens[2].lower in THIRD else 0
    return 1 if first in _SHORT_OPENERS else 0


def _is_dating(token: Token) -> bool:
    is_year = len(token.text) == 4 and token.text.isdecimal()
    return is_year or (token.capital and token.lower in MONTHS)


def _behind_cleft(tokens: Sequence[Token]) -> int:
    """ "Three days, that's how long the fair lasts": where the plain sentence begins, or 0."""
    for i in range(1, min(len(tokens) - 4, 8)):
        that, verb, asking = (token.lower for token in tokens[i + 1 : i + 4])
        is_cleft = that == "that" and verb in {"is", "'s", "was"} and asking in _ASKING
        if is_cleft and tokens[i].separator:
            return i + 4 + (asking == "how")
    return 0


_ASKING = words("how what where when who")


def find_head(tokens: Sequence[Token], start: int) -> int:
    """The index of the main verb or of the colon that ends the subject part."""
    for i in range(start, min(len(tokens), start + 16)):
        token = tokens[i]
        if token.lower == ":" and i > start:
            return i
        if i == start and _opens_with_verb(tokens, i):
            return i
        if i == start or token.separator or token.text == "May":
            # The month.
            continue
        if token.lower in AUXILIARIES and not (
            token.lower == "'s" and i + 1 < len(tokens) and not _is_verbal(tokens, i)
        ):
            return i
        if looks_verbal(tokens, i):
            return i
    return min(len(tokens), start + 2)


def _opens_with_verb(tokens: Sequence[Token], i: int) -> bool:
    """Whether whom it is about is left out: "lives in Lagos", "works from home"."""
    base = THIRD.get(tokens[i].lower, "")
    if not base or i + 1 >= len(tokens):
        return False
    return tokens[i + 1].lower in _BEHIND_VERB and not is_verb_ahead(tokens, i + 2)


_BEHIND_VERB = PREPOSITIONS | words(
    "a an the his her their its to near next beside behind opposite outside inside under over "
    "around across between among through without about"
)


def _is_verbal(tokens: Sequence[Token], i: int) -> bool:
    """Whether "'s" at `i` stands for "is" rather than for a possessive."""
    if i and tokens[i - 1].lower in _NO_OWNERS:
        return True
    after = tokens[i + 1].lower
    return after in DETERMINERS or after in {"not", "in", "on", "at"} or after in GERUNDS


_NO_OWNERS = words("there it he she that this here what who")
