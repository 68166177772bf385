"""Where in what was said a value belongs that puts it right: "I live in Turku" and "Tampere"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from ..language.genders import is_given_name
from ..language.leads import strip_lead
from ..language.verbs import BASES, THIRD, is_finite
from ..language.words import (
    ADVERBS,
    DETERMINERS,
    KIN,
    MONTHS,
    NUMBER_WORDS,
    PEOPLE_NOUNS,
    PREPOSITIONS,
    STOPWORDS,
    WEEKDAYS,
    word_set,
    words_of,
)
from .right_figures import NUMBERS, TOKEN, Spot, counted, dated, figure, ranked, spanned, valued
from .right_leaning import leans, put_right_by
from .splices import replaced
from .value_spots import counts_something_else

_PLURAL = re.compile(r"^(\s[a-z]+[^s\W])s\b")
_FEW = 3
_SHORT = 9
_ALIKE = 0.6
_SOMEWHAT = 0.4
_NAME = r"[A-ZÀ-Þ][\w’'-]*(?:\s[A-ZÀ-Þ][\w’'-]*)*"
_NAME_BEFORE = re.compile(
    r"(?:(?:^|(?<=\s))(?!(?:In|On|At|The|My|Our|I|From|To|A|An|We|It)\s)[A-ZÀ-Þ][\w’'.-]*\s)*$"
)
_TITLE = re.compile(r"(?:Dr|Mr|Mrs|Ms|Prof)\.\s")
_DETERMINED = (
    frozenset({"a", "an"}),
    frozenset({"the"}),
    word_set("my our his her their its your"),
    word_set("some any"),
    word_set("every each"),
)
# Where one is or when, without an article: "at school", "at noon".
_BARE_PLACES = word_set(
    "school work home night noon church university college uni kindergarten hospital court camp "
    "lunch breakfast dinner weekends weekdays town bed prison class"
)
_COUNTING = DETERMINERS | NUMBER_WORDS.keys()
_PHRASE_ENDS = (STOPWORDS | PREPOSITIONS | ADVERBS | DETERMINERS) - {"one"} | word_set(
    "yesterday last ago next today"
)


def put_right(*, text: str, value: str, is_sure: bool = True) -> str:
    """The text with `value` in the place of what was said by mistake; "" where nothing fits.

    A span of dates gives way to a span, the figure of its unit to a figure, a word to the word
    that is most like it, "a canoe" to "a kayak", a name to the last name, a relative to a
    relative, and else the words behind the last preposition or verb. Where it is not sure that a
    value is meant, only what is of the same kind gives way.
    """
    if counts_something_else(text=text, value=value):
        return ""
    if leans(text=text, value=value):
        return put_right_by(text=text, value=value)
    if words_of(value)[:1] and words_of(value)[0] in DETERMINERS | PREPOSITIONS:
        value = value[:1].lower() + value[1:]
    spot = dated(text=text, value=value)
    days = "" if spot else spanned(text=text, value=value) or valued(text=text, value=value)
    if days:
        return days
    spot = (
        spot
        or ranked(text=text, value=value)
        or figure(text=text, value=value)
        or _related(text, value)
        or _determined(text, value)
    )
    spot = spot or _narrowed(text, value) or (_alike(text, value) if is_sure else None)
    spot = spot or _named(text, value)
    spot = spot or counted(text=text, value=value)
    spot = spot or (_object(text, value) if is_sure else None)
    if spot is None:
        return ""
    start, end, new = spot
    if new == "one":
        return text[:start] + new + _PLURAL.sub(r"\1", text[end:])
    return replaced(text, start, end, new)


def _determined(text: str, value: str) -> Spot | None:
    """ "a kayak" for "a canoe", "the blue one" for "the red sofa", "in Bath" for "in Kent"."""
    words = value.split()
    first = words[0].lower()
    kind = next((each for each in _DETERMINED if first in each), None)
    kind = frozenset({first}) if first in PREPOSITIONS else kind
    if kind is None or len(words) < 2 or len(words) > _FEW + 2:
        return None
    tokens = list(TOKEN.finditer(text))
    for at in range(len(tokens) - 1, -1, -1):
        if tokens[at].group().lower() not in kind:
            continue
        end = at + 1
        if first in PREPOSITIONS and end < len(tokens) and tokens[end].group() in DETERMINERS:
            end += 1
        while end < len(tokens) and _goes_on(text, tokens[end - 1], tokens[end]):
            end += 1
        if tokens[end - 1].group().lower() in DETERMINERS | kind:
            continue
        is_other = words[-1].lower() in {"one", "ones"} and first not in PREPOSITIONS
        stop = tokens[end - 1].start() + len(tokens[end - 1].group().rstrip(".:…"))
        head = end - 1
        while (
            head - 1 > at
            and (text[tokens[head].start()] + text[tokens[head - 1].start()]).isupper()
        ):
            head -= 1
        noun = text[tokens[head].start() : stop]
        said = " ".join([*words[:-1], noun]) if is_other else value
        return tokens[at].start(), stop, said
    return None


def _goes_on(text: str, before: re.Match[str], word: re.Match[str]) -> bool:
    """Whether a word belongs to the phrase that the one before it opened."""
    if text[before.end() : word.start()] != " " or before.group()[-1] in ".:…":
        return False
    bare = word.group().lower().rstrip(".:…")
    return bool(bare) and bare.partition("'")[0] not in _PHRASE_ENDS


def _narrowed(text: str, value: str) -> Spot | None:
    """ "big dogs" in the place of "dogs"."""
    *before, noun = words_of(value) or [""]
    if not before or len(before) > _FEW or {*before} & (DETERMINERS | PREPOSITIONS):
        return None
    same = [each for each in TOKEN.finditer(text) if each.group().lower().rstrip(".…") == noun]
    if not same:
        return None
    start = same[-1].start()
    if value[:1].isupper() and same[-1].group()[0].isupper():
        # "Mill Street" is no narrower "Street" than "Hill Street".
        before_it = _NAME_BEFORE.search(text[:start])
        start = before_it.start() if before_it else start
    return start, same[-1].start() + len(noun), value


def _alike(text: str, value: str) -> Spot | None:
    """The words most like the value, as many as it has: a spelling put right."""
    tokens = list(TOKEN.finditer(text))
    count = len(value.split())
    best, spot = _ALIKE, None
    for at in range(len(tokens) - count + 1):
        start, end = tokens[at].start(), tokens[at + count - 1].end()
        said = text[start:end].rstrip(".:")
        if (
            words_of(said)[:1]
            and words_of(said)[0] in PREPOSITIONS
            and words_of(value)[:1] != words_of(said)[:1]
        ):
            continue
        if count > 1 and not _is_aligned(said.split(), value.split()):
            continue
        likeness = SequenceMatcher(None, said.lower(), value.lower()).ratio()
        if likeness >= best and said != value and len(said) > 2:
            best, spot = likeness, (start, start + len(said), value)
    return spot


def _is_aligned(said: Sequence[str], value: Sequence[str]) -> bool:
    """Whether two phrases are alike word by word, so that "like dogs" is not "big dogs"."""
    return all(
        SequenceMatcher(None, one.lower(), other.lower()).ratio() >= _SOMEWHAT
        or {one.lower(), other.lower()} <= NUMBERS
        for one, other in zip(said, value, strict=False)
    )


def _named(text: str, value: str) -> Spot | None:
    """A name in the place of the last name that is no day, a person's in that of a person's."""
    title = _TITLE.match(value)
    with_title = rf"{_TITLE.pattern}" if title else ""
    if not re.fullmatch(rf"(?:the\s)?{_NAME}", value[title.end() if title else 0 :]):
        return None
    names = [
        each
        for each in re.finditer(
            rf"(?<=\s)(?:the\s)?{with_title}(?!I\b)[A-ZÀ-Þ][\w-]+(?:\s[A-ZÀ-Þ][\w-]+)*", text
        )
        if each.group().lower() not in {*MONTHS, *WEEKDAYS}
    ]
    if is_given_name(name=value):
        names = [each for each in names if is_given_name(name=each.group())] or names
    return (*names[-1].span(), value) if names else None


def _related(text: str, value: str) -> Spot | None:
    """ "I mean my cousin" after "my brother Tom"."""
    words = words_of(value)
    people = KIN | PEOPLE_NOUNS
    if not words or words[-1] not in people or len(words) > _FEW:
        return None
    if words[0] in PREPOSITIONS | {"a", "an"}:
        return None
    said = next((each for each in TOKEN.finditer(text) if each.group().lower() in people), None)
    return (*said.span(), words[-1]) if said else None


def _object(text: str, value: str) -> Spot | None:
    """What stands behind the last preposition or verb, or behind "is", in a short sentence."""
    if len(value.split()) > _FEW or not value[:1].isalpha() or len(text.split()) > _SHORT:
        return None
    said = text.rstrip(".! …")
    tokens = list(TOKEN.finditer(said))
    heads = [
        each for at, each in enumerate(tokens)
        if each.group().lower() in PREPOSITIONS | {"is", "are", "called", "named", "was", "a", "an"}
        or (at and tokens[at - 1].group().lower() == "to" and each.group() in BASES)
        or (at and (is_finite(word=each.group()) or each.group() in THIRD))
    ]  # fmt: skip
    if not heads or heads[-1].end() + 1 >= len(said):
        return None
    first = words_of(value)[0]
    spot = _before_place(said, heads, value)
    if spot:
        return spot
    whole = first in PREPOSITIONS or (heads[-1].group() in {"a", "an"} and first in _COUNTING)
    start = heads[-1].start() if whole else heads[-1].end() + 1
    return None if is_finite(word=first) else (start, len(said), strip_lead(text=value))


def _before_place(said: str, heads: Sequence[re.Match[str]], value: str) -> Spot | None:
    """ "judo" for the ballet of "takes ballet on Mondays": no day and no place is put right."""
    if len(heads) < 2 or heads[-1].group().lower() not in PREPOSITIONS:
        return None
    place, what = said[heads[-1].end() + 1 :], said[heads[-2].end() + 1 : heads[-1].start() - 1]
    other_kind = place[:1].isupper() or (place in _BARE_PLACES and value not in _BARE_PLACES)
    plain = value.islower() and not {*words_of(value)} & (DETERMINERS | PREPOSITIONS)
    if not (other_kind and plain and what.isalpha() and what.islower()):
        return None
    if what in ADVERBS | KIN or heads[-2].group().lower() in PREPOSITIONS:
        return None
    return heads[-2].end() + 1, heads[-1].start() - 1, value
