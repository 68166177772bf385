"""What is asked: the words that carry meaning, who it may be about, which times and events."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from memory.domain.retrieval.events import asks_for_past
from memory.domain.retrieval.periods import COUNTING, NAMES_OF_TIMES, QuestionTime, find_times
from memory.domain.text.date_types import Lean
from memory.domain.text.stop_words import STOP_WORDS, word_set
from memory.domain.text.verb_forms import PAST_FORMS, other_forms

from .events import Event, Side, find_event
from .periods import Period

MAX_TERMS = 32
_WORD = re.compile(r"[^\W_]+(?:['’.][^\W_]+)*")
_POSSESSIVE = re.compile(r"['’]s?$", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?:]\s*[\"'”’)]*\s*$")
# A time dates what is asked where such a word leads it or begins it ...
_SIDES = "in|on|at|since|until|till|by|before|after|during|between|from|around|within|over"
_DATING_BEFORE = re.compile(rf"\b(?:{_SIDES})\s+(?:the\s+)?$", re.IGNORECASE)
_DATING = re.compile(
    rf"(?:{_SIDES}|last|this|next|past|previous|coming|following|early|late|mid)\b|\S+\s+ago\b",
    re.IGNORECASE,
)
# ... it is not what is talked of ...
_ABOUT = re.compile(r"\b(?:about|for|of|like)\s+(?:the\s+)?$", re.IGNORECASE)
# ... and no thing is called after it: "in the March report".
_ENDS = re.compile(rf"\W*(?:$|[?.!,;:]|(?:{'|'.join(sorted(STOP_WORDS))})\b)", re.IGNORECASE)
# They ask for whatever was done.
_DOINGS = word_set(
    """
    accomplish accomplished achieve achieved cover covered discuss discussed get got going happen
    happened happening happens last occur occurred recap summarise summarize summary talk talked us
    went work worked working
    """
)
# They open a question more often than a name of somebody does.
_OPENERS = frozenset({"will", "may"})
_TOLD = PAST_FORMS | {"has", "have"}
_NOW = frozenset({"am", "is", "are", "does", "will", "shall"})
_IS = frozenset({"is", "was", "has", "had", "does", "did", "and"})
_LONGEST_NAME = 3
# Characters before a word that are looked at.
_LONGEST_LEAD = 40
# Shorter beginnings of a name ("Jo") would name too many people.
_SHORTEST_NICKNAME = 3


@dataclass(frozen=True, slots=True)
class Term:
    """A word of the question as it is searched for.

    `may_name` says that it may be somebody's name, `may_shorten` that it may be the beginning of
    one ("Mel" for "Melanie"), `of_event` that it belongs to what the answer is dated by. `form_of`
    is the word of the question of which it is another form, which counts as that word. `only_name`
    says that it tells nothing unless somebody is called so ("Will"), `of_time` that it only dates
    what is asked for ("What did Ann say in March?").
    """

    word: str
    may_name: bool = False
    may_shorten: bool = False
    of_event: bool = False
    form_of: str = ""
    only_name: bool = False
    of_time: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as the signals read it.

    `terms` are distinct and casefolded; `side` is that of the event, None without one; `meaning`
    is the text for an embedder of static word vectors, in which names only blur what is asked of
    the named. `periods` are on the clock of the zone asked in, `ahead` seconds ahead of UTC.
    `of_time_alone` says that it asks for whatever was then: "What did we do last week?"
    """

    text: str
    terms: tuple[Term, ...]
    periods: tuple[Period, ...]
    side: Side | None
    meaning: str
    ahead: float = 0.0
    of_past: bool = False
    of_time_alone: bool = False

    @property
    def is_open(self) -> bool:
        """Whether it asks for nothing in particular: it has nothing but stop words."""
        return all(term.word in STOP_WORDS for term in self.terms)


def read_question(text: str, *, now: datetime) -> Asked:
    """Take a question apart; at most MAX_TERMS terms; days begin in the zone of the aware `now`."""
    plain = unicodedata.normalize("NFKC", text)
    words = [(match, _POSSESSIVE.sub("", match[0])) for match in _WORD.finditer(plain)]
    names = {match.start() for match, word in words if _looks_like_name(word, plain, match)}
    # Who writes without capitals may mean anybody with any word.
    is_plain = not names and plain == plain.lower()
    is_title = len(words) > _LONGEST_NAME and all(word.istitle() for _, word in words)
    said = {word.casefold() for _, word in words}
    times = find_times(plain, now=now, lean=_lean(said))
    event = _event_beside(find_event(plain), times)
    in_time = _places(times)
    timed = {word.casefold() for match, word in words if match.start() in in_time}
    # "What happens on Tuesday?" asks for what is told of Tuesdays.
    is_dated = bool(times) and _is_of_past(said)
    in_dating = _places([time for time in times if is_dated and _dates(plain, time)])
    terms: dict[str, Term] = {}
    following = [*(word.casefold() for _, word in words[1:]), ""]
    for (match, word), after in zip(words, following, strict=False):
        folded = word.casefold()
        at_start = _begins_sentence(plain, match)
        capital = match.start() in names or (
            at_start and word[:1].isupper() and not _opens(match[0], folded, after)
        )
        # "In May" is a time, whoever is called so.
        may_name = (capital or is_plain) and match.start() not in in_time
        known = terms.get(folded, Term(folded))
        terms[folded] = Term(
            folded,
            may_name=known.may_name or may_name,
            may_shorten=known.may_shorten or (capital and len(folded) >= _SHORTEST_NICKNAME),
            of_event=known.of_event
            or (event is not None and event.start <= match.start() < event.end),
            only_name=known.only_name or (capital and folded in STOP_WORDS and not is_title),
            of_time=(known.of_time or folded not in terms)
            and (folded in NAMES_OF_TIMES or folded.isdigit())
            and match.start() in in_dating,
        )
    # Who bought something two weeks ago did not say "two weeks ago".
    idle = STOP_WORDS | (timed & COUNTING)
    if event is not None:
        # Nor did who came "prior to" it.
        idle |= {
            word.casefold() for match, word in words if event.opens <= match.start() < event.start
        }
    telling = [term for term in terms.values() if term.only_name or term.word not in idle]
    if all(term.only_name for term in telling):
        telling = []
    return Asked(
        text=text,
        terms=tuple(_with_forms(telling or list(terms.values()))[:MAX_TERMS]),
        periods=tuple(time.period for time in times),
        side=event.side if event else None,
        meaning=_without(names, words) or plain,
        ahead=(now.utcoffset() or timedelta(0)).total_seconds(),
        of_past=asks_for_past(plain),
        of_time_alone=bool(times)
        and all(word in STOP_WORDS | timed | NAMES_OF_TIMES | _DOINGS for word in terms),
    )


def _with_forms(terms: Sequence[Term]) -> list[Term]:
    """The terms, and behind them other forms of verbs ("bought" of "buy")."""
    said = {term.word for term in terms}
    return [
        *terms,
        *(
            Term(form, of_event=term.of_event, form_of=term.word)
            for term in terms
            for form in other_forms(term.word)
            if form not in said
        ),
    ]


def _places(times: Sequence[QuestionTime]) -> frozenset[int]:
    """The characters of the question that stand in one of the times."""
    return frozenset(place for time in times for place in range(time.start, time.end))


def _is_of_past(words: Collection[str]) -> bool:
    """Whether these words of a question ask for what was."""
    return _NOW.isdisjoint(words) and any(word in _TOLD or word.endswith("ed") for word in words)


def _lean(words: Collection[str]) -> Lean:
    """ "What is due on Friday?" asks for the next one, "what came on Friday?" for the last."""
    return "past" if _NOW.isdisjoint(words) or not PAST_FORMS.isdisjoint(words) else "future"


def _dates(text: str, time: QuestionTime) -> bool:
    """Whether a time only dates what is asked: "in March", and not "about March", "March sales"."""
    before = text[max(0, time.start - _LONGEST_LEAD) : time.start]
    return bool(
        (_DATING.match(text, time.start) or _DATING_BEFORE.search(before))
        and not _ABOUT.search(before)
        and _ENDS.match(text, time.end)
    )


def _event_beside(event: Event | None, times: Sequence[QuestionTime]) -> Event | None:
    """The event, where it is none of the times: "after the 3rd of May" names no event."""
    if event and any(time.start < event.end and event.start < time.end for time in times):
        return None
    return event


def _looks_like_name(word: str, text: str, match: re.Match[str]) -> bool:
    """Whether a word is written as a name inside a sentence: "Caroline", not "LGBTQ" or "I"."""
    return len(word) > 1 and word.istitle() and not _begins_sentence(text, match)


def _opens(written: str, word: str, after: str) -> bool:
    """Whether the first word of a sentence asks ("Will it rain?") and names nobody ("Will's")."""
    if word not in _OPENERS:
        return word in STOP_WORDS
    is_name = (
        len(written) > len(word)
        or not after
        or after in _IS | PAST_FORMS
        or _is_third_person(after)
    )
    return not is_name


def _is_third_person(word: str) -> bool:
    """Whether a word may be a verb of one person ("likes"), which follows a name."""
    return word.endswith("s") and not word.endswith("ss") and word not in STOP_WORDS


def _begins_sentence(text: str, match: re.Match[str]) -> bool:
    before = text[max(0, match.start() - _LONGEST_LEAD) : match.start()]
    if match.start() <= _LONGEST_LEAD and not before.strip("\"'“‘( \t\n"):
        return True
    return bool(_SENTENCE_END.search(before))


def _without(names: set[int], words: list[tuple[re.Match[str], str]]) -> str:
    """The question without its names; empty when too little is left to mean something."""
    kept = [(match[0], word) for match, word in words if match.start() not in names]
    if not any(word.casefold() not in STOP_WORDS for _, word in kept):
        return ""
    return " ".join(full for full, _ in kept)
