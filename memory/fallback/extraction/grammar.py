"""What the words of a clause say about its shape: verb, tense, question, request."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from memory.domain.text.verb_forms import IRREGULAR_FORMS

from ..lexicon import word_set
from ..tokens import Token, tokenize

PRONOUNS = word_set("talk/pronouns")
DETERMINERS = word_set("talk/determiners")
PREPOSITIONS = word_set("talk/prepositions")
AUXILIARIES = word_set("talk/auxiliaries")
ADVERBS = word_set("talk/adverbs")
CONJUNCTIONS = word_set("talk/conjunctions")
GREETINGS = word_set("talk/greetings")
VERBS = word_set("talk/verbs")
CLOSED = PRONOUNS | DETERMINERS | PREPOSITIONS | AUXILIARIES | ADVERBS | CONJUNCTIONS | {"not"}
SUBJECT_PRONOUNS = frozenset(
    ["i", "you", "he", "she", "it", "we", "they", "there", "that", "this", "who", "which", "these"]
)
_NOUNS_OR_VERBS = word_set("talk/nouns_or_verbs")
_NO_REQUESTS = word_set("talk/no_requests")
_IRREGULAR_PAST = frozenset(
    form for base, forms in IRREGULAR_FORMS.items() for form in forms if form != base
)
_CLITICS = frozenset(["'s", "'re", "'m", "'ve", "'ll", "'d"])
_HAVE = frozenset(["has", "have", "'ve"])
_SAME_IN_PAST = frozenset(
    ["put", "cut", "set", "read", "let", "cost", "quit", "hit", "hurt", "bet", "spread", "shut"]
)
_PAST_OR_OTHER = frozenset(["left", "bound", "saw", "found", "felt", "rose", "ground", "wound"])
_FUTURE = frozenset(["will", "shall", "'ll"])
_PAST_AUXILIARIES = frozenset(["was", "were", "did", "had"])
_OPENS_CONDITION = frozenset(["when", "whenever", "if", "once", "before", "after", "because"])
_NO_ED_VERBS = frozenset(
    ["need", "feed", "speed", "bed", "red", "shed", "seed", "indeed", "hundred"]
)
_ASKING = re.compile(
    r"(?:(?:what|where|when|why|how|who|which|whose)(?:'s|\s(?:if|about|is|are|was|were|do|does|did|can|"
    r"could|would|will|should|shall|else|many|much|long|often|far|come))\b|(?:is|are|was|were|do|does|did|can|"
    r"could|would|will|should|shall|may|have|has|isn't|aren't|don't|doesn't|didn't|won't|can't)\s(?:i|we|"
    r"you|he|she|they|it|there|the|a|an|my|our|your|this|that|anyone|anybody|anything|any)\b)",
    re.IGNORECASE,
)
_FAVOUR = re.compile(
    r"(?:can|could|would|will)\s(?:you|we)\s(?:please\s|also\s|still\s)?(?=\w)", re.IGNORECASE
)
_POLITE = re.compile(
    r"(?:(?:please|pls|kindly|just|also|then|so|in\sfuture,?|from\snow\son,?|going\sforward,?|"
    r"(?:can|could|would|will)\syou(?:\splease)?|i\s(?:want|need)\syou\sto|i['’]d\slike\syou\sto)"
    r"[\s,]+)*",
    re.IGNORECASE,
)
_NEGATION = re.compile(r"(?:don['’]t|do\snot|never|always|only|no\slonger|stop)\s", re.IGNORECASE)


class Tense(StrEnum):
    """When the main clause says that something is so."""

    PAST = "past"
    PRESENT = "present"
    FUTURE = "future"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Request:
    """An imperative: where its verb begins, and the adverb before it ("never", "don't", "")."""

    verb_start: int
    manner: str


@lru_cache(maxsize=4096)
def tokens_of(text: str) -> tuple[Token, ...]:
    """The tokens of a sentence; the same ones are asked for by many steps."""
    return tokenize(text)


def words_of(text: str) -> list[str]:
    """The lower-case words and numbers of a text, without its marks."""
    return [each.lower for each in tokens_of(text) if each.is_word or each.is_number]


def content_of(text: str) -> set[str]:
    """The stems of the words that carry a text's meaning."""
    return {
        each.stem
        for each in tokens_of(text)
        if (each.is_word or each.is_number)
        and each.lower not in CLOSED
        and each.lower not in GREETINGS
        and each.lower not in _CLITICS
    }


def is_finite(word: str, before: str) -> bool:
    """Whether a word is a finite verb where it stands after `before` ("" at the beginning)."""
    if word in AUXILIARIES:
        return word != "'s" or before in SUBJECT_PRONOUNS or before not in DETERMINERS
    if before in DETERMINERS or before == "'s":
        return False
    if before in SUBJECT_PRONOUNS and (word in VERBS or word in ADVERBS):
        return True
    if word in _IRREGULAR_PAST and word not in _SAME_IN_PAST:
        return True
    if word.endswith("ed") and len(word) > 4 and word not in _NO_ED_VERBS:
        return True
    return _is_third_person(word)


@lru_cache(maxsize=8192)
def _is_third_person(word: str) -> bool:
    endings = (("ies", "y"), ("es", ""), ("s", ""))
    return any(word.endswith(end) and word[: -len(end)] + back in VERBS for end, back in endings)


def has_verb(text: str) -> bool:
    """Whether a finite verb stands anywhere in the text."""
    return _has_finite(words_of(text))


def _has_finite(words: Sequence[str]) -> bool:
    before = ""
    for word in words:
        if word == "'s":
            if before in SUBJECT_PRONOUNS:
                return True
        elif is_finite(word, before or "the"):
            return True
        before = word
    return False


def opens_clause(text: str) -> bool:
    """Whether the text begins with a subject and its verb."""
    words = words_of(text[:120])[:8]
    if not words or words[0] in CONJUNCTIONS or words[0] in PREPOSITIONS:
        return False
    for place in range(1, min(6, len(words))):
        if is_finite(words[place], words[place - 1]):
            return not any(word in PREPOSITIONS or word in CONJUNCTIONS for word in words[:place])
    return False


def tense_of(text: str) -> Tense:
    """The tense of the first finite verb of the main clause."""
    words = words_of(text)
    if words and words[0] in _OPENS_CONDITION and "," in text:
        words = words_of(text.split(",", 1)[1])
    before = ""
    for place, word in enumerate(words):
        found = _tense_at(words, place, before)
        if found is not Tense.NONE:
            return found
        before = word
    return Tense.NONE


def _tense_at(words: Sequence[str], place: int, before: str) -> Tense:
    word, after = words[place], words[place + 1 : place + 3]
    if word in _FUTURE:
        return Tense.FUTURE
    if word in _PAST_AUXILIARIES:
        return Tense.PAST
    if word in _HAVE or (word == "'s" and after[:1] in (["been"], ["got"])):
        done = any(each in _IRREGULAR_PAST or each.endswith("ed") for each in after)
        lasts = "since" in words or after[:1] == ["got"]
        return Tense.PAST if done and not lasts else Tense.PRESENT
    if word in AUXILIARIES and (word != "'s" or before in SUBJECT_PRONOUNS):
        return Tense.PRESENT
    if before in DETERMINERS or (before in AUXILIARIES and before):
        return Tense.NONE
    if before in SUBJECT_PRONOUNS and word in VERBS and word not in _SAME_IN_PAST:
        return Tense.PRESENT
    if word in _IRREGULAR_PAST:
        clear = word not in _SAME_IN_PAST and word not in _PAST_OR_OTHER
        return Tense.PAST if clear or before in SUBJECT_PRONOUNS else Tense.NONE
    if word.endswith("ed") and len(word) > 4 and place and word not in _NO_ED_VERBS:
        return Tense.PAST
    return Tense.PRESENT if place and _is_third_person(word) else Tense.NONE


def is_question(text: str) -> bool:
    """Whether the text asks something, with or without its mark."""
    return text.rstrip(" )\"'”").endswith("?") or _ASKING.match(text) is not None


def favour_asked(text: str) -> str:
    """ "Could you send …?" as the request that it is ("send …"); "" where it is none."""
    found = _FAVOUR.match(text)
    return text[found.end() :].rstrip("? ") if found else ""


def request_of(text: str) -> Request | None:
    """The imperative that the text opens with, or None."""
    polite = _POLITE.match(text)
    start = polite.end() if polite else 0
    negation = _NEGATION.match(text, start)
    verb_start = negation.end() if negation else start
    following = tokens_of(text[verb_start:])
    if not following or not following[0].is_word:
        return None
    verb = following[0].lower
    manner = negation.group().strip().lower().replace("’", "'") if negation else ""
    if manner == "stop" and verb.endswith("ing"):
        return Request(verb_start, manner)
    if verb not in VERBS:
        return None
    if verb in _NO_REQUESTS and not (manner and manner != "only"):
        return None
    after = following[1] if len(following) > 1 else None
    if after is not None:
        if after.text in {"'", "’", ":", ","} or after.lower in _CLITICS:
            return None
        if after.lower in AUXILIARIES or (is_finite(after.lower, "x") and not after.is_capital):
            return None
    bare = not manner and start == 0
    if bare and verb in _NOUNS_OR_VERBS and not _opens_object(after):
        return None
    return Request(verb_start, manner)


def _opens_object(token: Token | None) -> bool:
    if token is None:
        return False
    openers = (DETERMINERS, PRONOUNS, PREPOSITIONS, ADVERBS)
    return token.is_capital or token.is_number or any(token.lower in each for each in openers)
