"""What a statement is about: its names, its subject part, its content words and their polarity."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, wraps
from typing import NamedTuple, TypeVar, cast

from .lexicon import Mark, Table, annotate, groups_of_stem
from .names import NAMES_TOO, Name, find_names
from .negation import NEGATORS, is_negative, negated_positions, negative_base
from .people import tell_people_from_months
from .quantities import Quantity, find_quantities
from .sentence import STOPWORDS, find_head, find_start
from .slots import main_verb, slots_of
from .sources import without_source
from .tokens import Token, stem, tokenize

# About 25 kB each with all that is found on it.
READINGS_KEPT = 2_048
_Found = TypeVar("_Found")
_STOP_STEMS = frozenset(stem(word) for word in STOPWORDS) | STOPWORDS


class Word(NamedTuple):
    """A content word: stem, synonym groups, position, and whether it is denied."""

    stem: str
    text: str
    position: int
    groups: frozenset[int]
    kinds: frozenset[tuple[int, int]]
    denied: bool
    in_subject: bool
    is_name: bool


@dataclass(frozen=True, eq=False)
class Reading:
    """A statement taken apart; positions are token indexes, `slots` one per token (`slots.py`).

    What tells whether it is about another thing than the next is found at once, the rest when it
    is asked for: of most neighbours nobody asks more. Equal to itself only, so that what is found
    on it can be kept by it.
    """

    tokens: tuple[Token, ...]
    names: tuple[Name, ...]
    quantities: tuple[Quantity, ...]
    start: int
    head: int
    found: dict[object, object] = field(default_factory=dict, repr=False)

    @cached_property
    def words(self) -> tuple[Word, ...]:
        """Its content words, from left to right."""
        return _words(self, self._all_marks)

    @cached_property
    def marks(self) -> tuple[Mark, ...]:
        """What the tables know of it, but for what stands in the words themselves."""
        return tuple(mark for mark in self._all_marks if mark.table not in _OF_WORDS)

    @cached_property
    def _all_marks(self) -> list[Mark]:
        return annotate(self.tokens)

    @cached_property
    def _denial(self) -> tuple[frozenset[int], bool]:
        return negated_positions(self.tokens, _fixed_phrases(self.tokens, self._all_marks))

    @cached_property
    def denied(self) -> frozenset[int]:
        """Where it denies."""
        return self._denial[0]

    @cached_property
    def exclusive(self) -> bool:
        """Whether it excludes all but some ("only")."""
        return self._denial[1]

    @cached_property
    def verb_at(self) -> int:
        """Where the main verb stands."""
        return main_verb(self.tokens, self.head)

    @cached_property
    def slots(self) -> tuple[str, ...]:
        """What each token is in the sentence."""
        return slots_of(self.tokens, self.start, self.head)

    @cached_property
    def negative(self) -> bool:
        """Whether it denies as a whole."""
        return is_negative(self.tokens)

    @cached_property
    def lowers(self) -> frozenset[str]:
        """Its tokens, folded."""
        return frozenset(token.lower for token in self.tokens)

    @property
    def verb(self) -> str:
        """The folded main verb, ":" or ""."""
        return self.tokens[self.head].lower if self.head < len(self.tokens) else ""

    def of(self, table: Table) -> list[Mark]:
        """The marks of one table."""
        return [mark for mark in self.marks if mark.table is table]


def kept_by_reading(find: Callable[[Reading], _Found]) -> Callable[[Reading], _Found]:
    """Find it once for each reading, which holds it: it goes when the reading does.

    A cache of its own for each function would hold on to readings that no one else needs.
    """

    @wraps(find)
    def found(reading: Reading) -> _Found:
        try:
            return cast(_Found, reading.found[find])
        except KeyError:
            value = reading.found[find] = find(reading)
            return value

    return found


def read(text: str) -> Reading:
    """Take a statement apart; reads at most `tokens.MAX_TOKENS` tokens.

    Readings of short texts are kept: a new statement is judged against many existing ones.
    """
    return _read_short(text) if len(text) <= 500 else _read(text)


@lru_cache(maxsize=READINGS_KEPT)
def _read_short(text: str) -> Reading:
    return _read(text)


def _read(text: str) -> Reading:
    tokens = tell_people_from_months(without_source(tokenize(text)))
    quantities = find_quantities(tokens)
    start = find_start(tokens)
    head = find_head(tokens, start)
    names = find_names(tokens, quantities, start, head)
    return Reading(tuple(tokens), names, tuple(quantities), start, head)


def _fixed_phrases(tokens: Sequence[Token], marks: Sequence[Mark]) -> dict[int, int]:
    """Negators of known phrases ("not required"), whose denial ends with the phrase."""
    return {
        i: mark.end
        for mark in marks
        if mark.end - mark.start > 1 and mark.table in {Table.SYNONYM, Table.AXIS}
        for i in range(mark.start, mark.end - 1)
        if tokens[i].lower in NEGATORS
    }


# What these tables know of a word stands in the word itself.
_OF_WORDS = frozenset({Table.SYNONYM, Table.KIND})
_NO_GROUPS: frozenset[int] = frozenset()
_NO_KINDS: frozenset[tuple[int, int]] = frozenset()


# The same few thousand sets again and again: one object each spares the collector much.
@lru_cache(maxsize=8_192)
def _kinds_of(ids: tuple[tuple[int, int], ...]) -> frozenset[tuple[int, int]]:
    return frozenset(ids)


@lru_cache(maxsize=8_192)
def _groups_of(ids: tuple[tuple[int, int], ...]) -> frozenset[int]:
    return frozenset(row for row, _ in ids)


def _words(reading: Reading, marks: Sequence[Mark]) -> tuple[Word, ...]:
    tokens, subject = reading.tokens, range(reading.start, reading.head)
    groups: dict[int, frozenset[int]] = {}
    kinds: dict[int, frozenset[tuple[int, int]]] = {}
    fixed: set[int] = set()
    for mark in marks:
        if mark.table is Table.KIND:
            kinds.update((i, _kinds_of(mark.ids)) for i in range(mark.start, mark.end))
        if mark.table is Table.SYNONYM:
            for i in range(mark.start, mark.end):
                found = _groups_of(mark.ids)
                groups[i] = groups[i] | found if i in groups else found
            if any(tokens[i].lower in NEGATORS for i in range(mark.start, mark.end)):
                # "Cannot stand" is a word for disliking and denies nothing.
                fixed.update(range(mark.start, mark.end))
    denied = reading.denied - fixed
    taken = {i for quantity in reading.quantities for i in range(quantity.start, quantity.end)}
    named = {i for name in reading.names for i in range(name.start, name.end)}
    words: list[Word] = []
    for i, token in enumerate(tokens):
        if token.separator or i in taken:
            continue
        known = groups.get(i)
        is_called = i in named and token.lower in NAMES_TOO
        if not is_called and (
            token.lower in STOPWORDS or (token.stem in _STOP_STEMS and known is None)
        ):
            continue
        base = negative_base(token.lower)
        root = stem(base) if base else token.stem
        words.append(
            Word(
                root,
                token.lower,
                i,
                known or _NO_GROUPS,
                kinds.get(i, _NO_KINDS),
                i in denied,
                i in subject,
                i in named,
            )
        )
        if "-" in token.lower and not base:
            words.extend(
                Word(
                    stem(part),
                    part,
                    i,
                    _groups_of(groups_of_stem(stem(part))),
                    _NO_KINDS,
                    i in denied,
                    i in subject,
                    i in named,
                )
                for part in token.lower.split("-")[:4]
                if len(part) > 2 and part not in STOPWORDS
            )
    return tuple(words)
