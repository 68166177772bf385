"""A sentence that joins what is so for good to what happens on a day, as the two facts it is."""

from __future__ import annotations

import re
from datetime import date
from itertools import pairwise

from ..types import MemoryType
from .clauses import opens_clause
from .days.dates import resolve_dates
from .days.moments import Precision
from .kinds.patterns import label_clause
from .language.leads import strip_lead
from .language.names import names_in
from .language.syntax import has_verb, is_imperative
from .language.tense import is_past
from .language.verbs import AUXILIARIES, MODALS, THIRD, UNMARKED, is_past_form
from .language.words import DETERMINERS, KIN, PEOPLE_NOUNS, content_words, word_set, words_of

_JOINT = re.compile(
    r",\sso\s|,\s(?:and\s)?(?=(?:he|she|they)(?:['’](?:s|re|ll|ve)|\s(?!(?:both|all)\b)[a-z]+)\s)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Za-zÀ-ÿ-]+")
# A part that opens so, or that points at the other one, leans on it.
_OPENS_LEANING = word_set(
    "if when whenever because since although once how every after before until while as unless "
    "though both neither either not"
)
_POINTING = word_set(
    "it its it's that that's this those these there them him one ones then instead both too same "
    "otherwise other others"
)
# What begins or ends may be what the other part tells of.
_OF_THE_SAME = word_set("start starts begin begins finish finishes end ends resume resumes")
_PERSONAL = frozenset({"he", "she", "they"})
# What goes on tells of the present, whatever form its verb has: "I put the bins out on Mondays".
_GOES_ON = word_set("every each always usually often never normally mostly sometimes")
# "The studio called": that somebody got in touch is no fact without what it was about.
_GETS_IN_TOUCH = re.compile(
    r"\b(?:call|phone|mail|e-?mail|text|message|knock|ring|write|repl|answer)(?:s|ed|ing|ies|ied)?"
    r"|\b(?:rang|wrote|writing|(?:got|gets|been|is)\sin\stouch)",
    re.IGNORECASE,
)
_NO_MORE = re.compile(
    r"(?:\s(?:me|us|back|again|just|now|today|yesterday|earlier|finally|already|at\s(?:the|our|my)\sdoor|"
    r"this\s(?:morning|afternoon|evening)))*\W*$",
    re.IGNORECASE,
)
_LASTING = frozenset({MemoryType.SEMANTIC, MemoryType.USER_PROFILE})


def kinds_apart(*, text: str, today: date) -> list[str]:
    """The lasting statement and the event that a comma or ", so" joins; else empty.

    "Dai does the electrics, he's coming on Thursday" is two, "it rained, so we stayed in" one.
    """
    bare = text.rstrip(" .!")
    if any(mark in bare for mark in '?"“”();:'):
        return []
    for joint in _JOINT.finditer(bare):
        left, right = bare[: joint.start()], bare[joint.end() :]
        first = words_of(right)[:1]
        by_pronoun = bool(first) and first[0].partition("'")[0] in _PERSONAL
        if by_pronoun and _people_in(left) > 1:
            continue
        if _is_lasting(left, today) and _happens(right, today):
            return [left, right]
    return []


def _people_in(left: str) -> int:
    """How many names and people without one a part tells of, whom a pronoun could mean."""
    unnamed = [
        each
        for each in _WORD.finditer(left)
        if each.group().lower() in KIN | PEOPLE_NOUNS and not left[each.end() + 1 :][:1].isupper()
    ]
    return len(names_in(left)) + len(unnamed)


def _is_lasting(left: str, today: date) -> bool:
    words = words_of(strip_lead(text=left))
    if not words or words[0] in _OPENS_LEANING | _POINTING or len(content_words(left)) < 2:
        return False
    if is_past(text=left) or _may_be_past(left) or _gets_in_touch(left):
        return False
    if is_imperative(text=left) or not opens_clause(text=left):
        return False
    if _single_day(left, today):
        return False
    label = label_clause(clause=left, dates=(), past=False, request=False, chat=False)
    return label.memory_type in _LASTING and label.category != "preferences"


def _gets_in_touch(text: str) -> bool:
    """Whether a clause tells that somebody called, wrote or knocked, and nothing more."""
    return any(
        _NO_MORE.match(text, found.end()) and 0 < len(words_of(text[: found.start()])) < 6
        for found in _GETS_IN_TOUCH.finditer(text)
    )


def _may_be_past(left: str) -> bool:
    """Whether the first verb could be a past form: "I beat Radek" beside "he was furious"."""
    words = words_of(left)
    for before, word in pairwise(words):
        if word in AUXILIARIES | MODALS or word in THIRD:
            return False
        if (word in UNMARKED or is_past_form(word=word)) and before not in DETERMINERS:
            return not _GOES_ON & set(words)
    return False


def _happens(right: str, today: date) -> bool:
    words = words_of(right)
    if (_POINTING | _OF_THE_SAME) & set(words) or not (
        opens_clause(text=right) and has_verb(text=right)
    ):
        return False
    return is_past(text=right) or _single_day(right, today)


def _single_day(text: str, today: date) -> bool:
    dates = resolve_dates(text=text, today=today, past=is_past(text=text)).dates
    return any(found.precision is not Precision.YEARLY for found in dates)
