"""Which word of a sentence is told as a verb, by its form and by what stands around it."""

from __future__ import annotations

from collections.abc import Sequence

from ...extraction.language.verbs import AMBIGUOUS, BASES, THIRD
from ...number_words import ONES
from .tables import words
from .tokens import Token
from .units import FREQUENCIES
from .verbs import is_past_form

AUXILIARIES = words(
    "is are was were be been has have had will would can could must should may might do does "
    "did cannot 's"
)


DETERMINERS = words("a an the this that these those his her their its our my your")


PREPOSITIONS = words("as in on after at from since with by until for before during")


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


def looks_verbal(tokens: Sequence[Token], i: int) -> bool:
    """Whether the word at `i` is likely the verb of its clause, and no noun before one."""
    token = tokens[i]
    if token.capital or i == 0:
        return False
    before = tokens[i - 1].lower
    if before in _QUANTIFIERS and is_past_form(token.lower):
        # "All stored data".
        return False
    if before in DETERMINERS or before == "'s" or before in PREPOSITIONS or before == "of":
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
    following = tokens[i + 1].lower if i + 1 < len(tokens) else ""
    if tokens[i - 1].lower in FREQUENCIES and following in _BASE_VERBS | _PLAIN_BASES:
        # "Nightly deploys happen".
        return False
    if base and base not in AMBIGUOUS:
        return True
    if i + 2 >= len(tokens) or tokens[i + 1].separator or tokens[i + 1].capital:
        return True
    before, after = tokens[i - 1].lower, tokens[i + 1].lower
    if base and (before in {"user", "who", "he", "she", "it"} or tokens[i - 1].capital):
        # "User rents skis".
        return True
    counted = before in ONES or (before.isdigit() and not _ends_label(tokens, i))
    if after in THIRD or after in _BASE_VERBS or counted:
        return False
    return bool(base) or not is_verb_ahead(tokens, i + 1)


def _ends_label(tokens: Sequence[Token], i: int) -> bool:
    """Whether the number before `i` is the label of what the statement opens with: "room 12"."""
    if i >= 3 and tokens[i - 2].text.isupper():
        # "Flight LH 441".
        return True
    opens = i == 2 or (i == 3 and tokens[0].lower in DETERMINERS)
    noun = tokens[i - 2] if i >= 2 else None
    return opens and noun is not None and noun.lower.isalpha() and noun.lower not in _NO_NOUNS


_NO_NOUNS = (
    DETERMINERS
    | PREPOSITIONS
    | _QUANTIFIERS
    | words(
        "about around almost nearly over only just exactly roughly other next last first further"
    )
)


def is_verb_ahead(tokens: Sequence[Token], start: int) -> bool:
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
