"""What is asked: the words to look for, who it may be about, and which times it names.

Which words are too common to say anything is left to the index of words and to their rarity.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import datetime, timedelta

from memory.domain.retrieval.periods import find_times

from .periods import Period

MAX_TERMS = 32
_WORD = re.compile(r"[^\W_]+(?:['’.][^\W_]+)*")
_POSSESSIVE = re.compile(r"['’]s?$", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?:。！？]\s*[\"'”’)]*\s*$")
# Characters before a word that are looked at.
_LONGEST_LEAD = 40
# Shorter beginnings of a name ("Jo") would name too many people.
_SHORTEST_NICKNAME = 3
# With fewer words beside its names a question means nothing without them ("Who is Ann?").
_FEWEST_TO_MEAN = 3


@dataclass(frozen=True, slots=True)
class Term:
    """A word of the question as it is searched for.

    `may_name` says that it may be somebody's name, `may_shorten` that it may be the beginning of
    one ("Mel" for "Melanie"), `is_written_name` that it has a capital inside a sentence, as "Will"
    where it is no verb, and `of_time` that it only stands in a time ("last week").
    """

    word: str
    may_name: bool = False
    may_shorten: bool = False
    is_written_name: bool = False
    of_time: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as the signals read it.

    `terms` are distinct and casefolded; `meaning` is the text to embed, without names, which only
    blur what is asked of the named. `periods` are on the clock of the zone asked in, `ahead`
    seconds ahead of UTC.
    """

    text: str
    terms: tuple[Term, ...]
    periods: tuple[Period, ...]
    meaning: str
    ahead: float = 0.0


def read_question(text: str, *, now: datetime) -> Asked:
    """Take a question apart; at most MAX_TERMS terms; days begin in the zone of the aware `now`."""
    plain = unicodedata.normalize("NFKC", text)
    words = [(match, _POSSESSIVE.sub("", match[0])) for match in _WORD.finditer(plain)]
    names = {match.start() for match, word in words if _looks_like_name(word, plain, match)}
    # Who writes without capitals may mean anybody with any word.
    is_plain = not names and plain == plain.lower()
    times = find_times(plain, now=now)
    in_time = {place for time in times for place in range(time.start, time.end)}
    terms: dict[str, Term] = {}
    for match, word in words:
        folded = word.casefold()
        # "In May" is a time, whoever is called so.
        of_time = match.start() in in_time
        is_inside = match.start() in names and not of_time
        opens = word[:1].isupper() and not of_time and _begins_sentence(plain, match)
        has_capital = is_inside or opens
        known = terms.get(folded, Term(folded, of_time=True))
        terms[folded] = Term(
            folded,
            may_name=known.may_name or has_capital or (is_plain and not of_time),
            may_shorten=known.may_shorten or (has_capital and len(folded) >= _SHORTEST_NICKNAME),
            is_written_name=known.is_written_name or is_inside,
            of_time=known.of_time and of_time,
        )
    return Asked(
        text=text,
        terms=_most_telling(terms),
        periods=tuple(time.period for time in times),
        meaning=_without(names, words) or plain,
        ahead=(now.utcoffset() or timedelta(0)).total_seconds(),
    )


def _most_telling(terms: dict[str, Term]) -> tuple[Term, ...]:
    """The terms in their order, the longest where there are too many: those are the rarest."""
    kept = sorted(terms, key=len, reverse=True)[:MAX_TERMS]
    return tuple(term for word, term in terms.items() if word in kept)


def _looks_like_name(word: str, text: str, match: re.Match[str]) -> bool:
    """Whether a word is written as a name inside a sentence: "Caroline", not "LGBTQ" or "I"."""
    return len(word) > 1 and word.istitle() and not _begins_sentence(text, match)


def _begins_sentence(text: str, match: re.Match[str]) -> bool:
    before = text[max(0, match.start() - _LONGEST_LEAD) : match.start()]
    if match.start() <= _LONGEST_LEAD and not before.strip("\"'“‘( \t\n"):
        return True
    return bool(_SENTENCE_END.search(before))


def _without(names: set[int], words: list[tuple[re.Match[str], str]]) -> str:
    """The question without its names; empty where too little is left to mean something."""
    kept = [match[0] for match, _ in words if match.start() not in names]
    return " ".join(kept) if len(kept) >= _FEWEST_TO_MEAN else ""
