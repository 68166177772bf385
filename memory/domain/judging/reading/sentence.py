"""The skeleton of a sentence: where its subject part begins and its main verb stands."""

from __future__ import annotations

from collections.abc import Sequence

from ...extraction.language.verbs import AMBIGUOUS, BASES, GERUNDS, THIRD
from ...number_words import ONES
from .tables import words
from .tokens import Token
from .verbs import is_past_form

AUXILIARIES = words(
    "is are was were be been has have had will would can could must should may might do does "
    "did cannot 's"
)


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
    "set keep let thing something anything nothing everything year month week day hour minute "
    "second today yesterday tomorrow o'clock according"
)


_DETERMINERS = words("a an the this that these those his her their its our my your")


_PREPOSITIONS = words("as in on after at from since with by until for before during")


_OPENERS = words(
    "correction update note erratum actually amendment news clarification reminder fyi "
    "currently today yesterday now instead unfortunately according following starting "
    "effective once although because if when while unlike contrary under per"
)


_SHORT_OPENERS = words("actually currently now meanwhile yesterday today")


_SAME_PAST = words("left cut put set quit hit let")


_BASE_VERBS = words(
    "need use run take get live work go start end last cost open close make meet include "
    "require receive arrive leave happen contain prefer like want report belong expire depend "
    "support accept allow pay buy sell come stay keep hold send begin finish follow share "
    "apply fail pass return store serve speak eat drink smoke sleep sit stand walk drive ride "
    "fly swim read write learn know think believe find lose win pay play sing cook bake grow "
    "raise wear carry lead manage own use build break fix change move switch shut lock check "
    "test review approve reject sign deploy release ship merge fail crash load handle process "
    "produce deliver export import publish consume connect listen call ask answer meet visit "
    "travel attend teach train study help try plan decide agree argue avoid enjoy love hate "
    "dislike wish hope expect remember forget see hear feel look seem appear become remain "
    "stay keep leave enter join quit retire resign earn save spend owe lend borrow rent buy "
    "hire fire add remove create delete update upload download encrypt hash sync retry cache "
    "log measure weigh contain consist exist occur rotate alternate"
)


_QUANTIFIERS = words("all every each no some any most many few several")
_PLAIN_BASES = BASES - AMBIGUOUS


def find_start(tokens: Sequence[Token]) -> int:
    """Where the subject part begins, after an opening phrase ("As of May,", "Correction:")."""
    if not tokens:
        return 0
    first = tokens[0].lower
    for i, token in enumerate(tokens[:14]):
        if token.lower == ":" and first in _OPENERS:
            return i + 1
        if token.lower == "," and (first in _PREPOSITIONS or first in _OPENERS):
            return i + 1
    if first in {"after", "since", "following"} and len(tokens) > 3:
        return 3 if tokens[1].lower in _DETERMINERS else 2
    if [token.lower for token in tokens[:2]] == ["no", "longer"]:
        return 2 if len(tokens) > 3 and tokens[2].lower in THIRD else 0
    return 1 if first in _SHORT_OPENERS else 0


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
    return tokens[i + 1].lower in _BEHIND_VERB and not _is_verb_ahead(tokens, i + 2)


_BEHIND_VERB = _PREPOSITIONS | words("a an the his her their its to")


def _is_verbal(tokens: Sequence[Token], i: int) -> bool:
    """Whether "'s" at `i` stands for "is" rather than for a possessive."""
    after = tokens[i + 1].lower
    return after in _DETERMINERS or after in {"not", "in", "on", "at"} or after in GERUNDS


def looks_verbal(tokens: Sequence[Token], i: int) -> bool:
    token = tokens[i]
    if token.capital or i == 0:
        return False
    before = tokens[i - 1].lower
    if before in _QUANTIFIERS and is_past_form(token.lower):
        # "All stored data".
        return False
    if before in _DETERMINERS or before == "'s" or before in _PREPOSITIONS or before == "of":
        return False
    after = tokens[i + 1].lower if i + 1 < len(tokens) else ""
    if after in AUXILIARIES or after == ":":
        return False
    lower = token.lower
    if lower in _BASE_VERBS and (_is_plural(tokens[i - 1]) or _closes_plural_subject(tokens, i)):
        return True
    if lower in _PLAIN_BASES and any(_is_plural(token) for token in tokens[max(0, i - 6) : i]):
        # "Clients of the API authenticate".
        return before not in AUXILIARIES and before not in {"to", "and", "or", "who"}
    if lower in _SAME_PAST and tokens[i - 1].capital:
        return True
    if lower.endswith("s") and not lower.endswith(("ss", "us", "is", "'s")) and len(lower) > 3:
        return _is_third_person(tokens, i)
    return is_past_form(lower) and lower not in _SAME_PAST


def _closes_plural_subject(tokens: Sequence[Token], i: int) -> bool:
    """ "Mia and Leo run", "deliveries to Bristol run": a name that ends a subject of several."""
    if not tokens[i - 1].capital:
        return False
    link = i - 1
    while link > 0 and tokens[link].capital:
        link -= 1
    if link < 1:
        return False
    before = tokens[link - 1]
    if tokens[link].lower in {"and", "&"}:
        return before.capital
    return tokens[link].lower in _HANGING_ON and _is_plural(before)


_HANGING_ON = words("to from in for of at between via")


def _is_third_person(tokens: Sequence[Token], i: int) -> bool:
    """Whether a word in -s is a verb and not the plural before one ("search results show")."""
    base = THIRD.get(tokens[i].lower, "")
    if base and base not in AMBIGUOUS:
        return True
    if i + 2 >= len(tokens) or tokens[i + 1].separator or tokens[i + 1].capital:
        return True
    before, after = tokens[i - 1].lower, tokens[i + 1].lower
    if base and (before in {"user", "who", "he", "she", "it"} or tokens[i - 1].capital):
        # "User rents skis".
        return True
    if after in THIRD or after in _BASE_VERBS or before in ONES or before.isdigit():
        return False
    return bool(base) or not _is_verb_ahead(tokens, i + 1)


def _is_verb_ahead(tokens: Sequence[Token], start: int) -> bool:
    """Whether a word that can only be a verb follows in the same clause."""
    for token in tokens[start : start + 7]:
        if token.separator:
            return False
        lower = token.lower
        if lower in AUXILIARIES or is_past_form(lower) or lower in _BASE_VERBS:
            return True
        if lower in THIRD and THIRD[lower] not in AMBIGUOUS:
            return True
    return False


def _is_plural(token: Token) -> bool:
    word = token.lower
    if token.text[-2:-1].isupper() and word.endswith("s"):
        return True
    if word in {"people", "staff", "we", "they", "you", "children", "i"}:
        return True
    return len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is"))
