"""What is asked: the words that carry meaning, who it may be about, which times and events."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import datetime

from memory.domain.text import STOP_WORDS

from .events import Side, find_event
from .periods import Period
from .time_expressions import find_periods

MAX_TERMS = 32
_WORD = re.compile(r"[^\W_]+(?:['’.][^\W_]+)*")
_POSSESSIVE = re.compile(r"['’]s?$", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?:]\s*[\"'”’)]*\s*$")
# Shorter beginnings of a name ("Jo") would name too many people.
_SHORTEST_NICKNAME = 3


@dataclass(frozen=True, slots=True)
class Term:
    """A word of the question as it is searched for.

    `may_name` says that it may be somebody's name, `may_shorten` that it may be the beginning of
    one ("Mel" for "Melanie"), `of_event` that it belongs to what the answer is dated by.
    """

    word: str
    may_name: bool = False
    may_shorten: bool = False
    of_event: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as the signals read it.

    `terms` are distinct and casefolded; `side` is that of the event, None without one; `meaning`
    is the text for an embedder of static word vectors, in which names only blur what is asked of
    the named.
    """

    text: str
    terms: tuple[Term, ...]
    periods: tuple[Period, ...]
    side: Side | None
    meaning: str


def read_question(text: str, *, now: datetime, limit: int = MAX_TERMS) -> Asked:
    """Take a question apart; at most `limit` terms, in its order; `now` is aware."""
    plain = unicodedata.normalize("NFKC", text)
    words = [(match, _POSSESSIVE.sub("", match[0])) for match in _WORD.finditer(plain)]
    names = {match.start() for match, word in words if _looks_like_name(word, plain, match)}
    # Who writes without capitals may mean anybody with any word.
    is_plain = not names and plain == plain.lower()
    event = find_event(plain)
    terms: dict[str, Term] = {}
    for match, word in words:
        folded = word.casefold()
        at_start = _begins_sentence(plain, match)
        capital = match.start() in names or (at_start and word[:1].isupper())
        known = terms.get(folded, Term(folded))
        terms[folded] = Term(
            folded,
            may_name=known.may_name or capital or is_plain,
            may_shorten=known.may_shorten or (capital and len(folded) >= _SHORTEST_NICKNAME),
            of_event=known.of_event
            or (event is not None and event.start <= match.start() < event.end),
        )
    telling = [term for term in terms.values() if term.word not in STOP_WORDS]
    return Asked(
        text=text,
        terms=tuple((telling or list(terms.values()))[:limit]),
        periods=find_periods(plain, now=now),
        side=event.side if event else None,
        meaning=_without(names, words) or plain,
    )


def _looks_like_name(word: str, text: str, match: re.Match[str]) -> bool:
    """Whether a word is written as a name inside a sentence: "Caroline", not "LGBTQ" or "I"."""
    return len(word) > 1 and word.istitle() and not _begins_sentence(text, match)


def _begins_sentence(text: str, match: re.Match[str]) -> bool:
    before = text[: match.start()]
    return not before.strip("\"'“‘( \t\n") or bool(_SENTENCE_END.search(before))


def _without(names: set[int], words: list[tuple[re.Match[str], str]]) -> str:
    """The question without its names; empty when too little is left to mean something."""
    kept = [(match[0], word) for match, word in words if match.start() not in names]
    if not any(word.casefold() not in STOP_WORDS for _, word in kept):
        return ""
    return " ".join(full for full, _ in kept)
