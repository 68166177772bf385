"""Polarity: which words of a statement are denied, and where the denial ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

from .lexicon import knows
from .tables import words
from .tokens import Token, stem

NEGATORS = words(
    "not no never none neither nor nobody nothing nowhere without lack lacks lacking hardly "
    "rarely seldom barely cannot unable free-of minus except stopped stop stops"
)
_SHORT = {"without": 4, "no": 5, "lack": 4, "lacks": 4, "lacking": 4}
_BREAKS = words(
    "but although though because while when if so unless until except whereas and which who "
    "rather yet however since as instead"
)
_EXCEPTIVES = words("outside but except beyond besides")
_NOT_NEGATED = words("only just merely least later more than")
_FAILING = words("failed fails fail refused refuses refuse forgot forgets declined neglected")
_UN_WORDS = words(
    "under until unit units union unique university uncle uni united unicorn uniform universal "
    "unless understand undo unlock unto unveil"
)


def negated_positions(
    tokens: Sequence[Token], fixed: Mapping[int, int]
) -> tuple[frozenset[int], bool]:
    """The indexes of denied tokens, and whether the statement excludes all but some ("only").

    `fixed` are negators of a known phrase with the end of the phrase, beyond which they deny
    nothing.
    """
    if _is_double(tokens):
        return frozenset(), True
    denied: set[int] = set()
    exclusive = False
    i = 0
    while i < len(tokens):
        lower = tokens[i].lower
        if lower in NEGATORS and i in fixed:
            denied.update(range(i + 1, fixed[i]))
            exclusive = exclusive or _is_exceptive(tokens, i)
        elif lower in NEGATORS and not _halts(tokens, i):
            if _is_exceptive(tokens, i):
                exclusive = True
                i += 1
                continue
            following = tokens[i + 1].lower if i + 1 < len(tokens) else ""
            # "Not every X does" leaves room for an X that does.
            partial = lower == "not" and following in {"every", "all", "everyone", "always"}
            if not partial and not (lower in {"not", "no"} and following in _NOT_NEGATED):
                _deny(tokens, i, denied)
        elif lower in _FAILING and tokens[i + 1 : i + 2] and tokens[i + 1].lower == "to":
            # "Failed to start" did not start.
            _deny(tokens, i, denied)
        elif lower in {"only", "solely", "exclusively", "reserved", "restricted", "confined"}:
            exclusive = True
        i += 1
    for position, token in enumerate(tokens):
        if negative_base(token.lower):
            denied ^= {position}
    return frozenset(denied), exclusive


def _is_double(tokens: Sequence[Token]) -> bool:
    """ "Nothing is deployed without approval" asserts that approval is needed."""
    lowers = [token.lower for token in tokens]
    first = next((i for i, lower in enumerate(lowers) if lower in _FULL_NEGATORS), -1)
    return first >= 0 and any(lower in {"without", "unless"} for lower in lowers[first + 1 :])


_FULL_NEGATORS = words("no not never nothing nobody none cannot")


_FORBIDDING = words(
    "forbidden forbid forbids banned ban bans prohibited prohibit prohibits disallowed barred "
    "outlawed rejected denied avoid avoids closed shut unavailable impossible"
)


def is_negative(tokens: Sequence[Token]) -> bool:
    """Whether the statement as a whole denies or forbids: an odd number of denials."""
    if _is_double(tokens):
        return False
    count = sum(
        (token.lower in NEGATORS and not _halts(tokens, i))
        or token.lower in _FORBIDDING
        or bool(negative_base(token.lower))
        for i, token in enumerate(tokens)
    ) + sum(a.lower in _FAILING and b.lower == "to" for a, b in pairwise(tokens))
    return count % 2 == 1


def _halts(tokens: Sequence[Token], i: int) -> bool:
    """ "The bus stops at the mill": it halts there, which denies nothing."""
    if tokens[i].lower not in _HALTING or i + 1 >= len(tokens):
        return False
    after = tokens[i + 1].lower
    placed = after in {"at", "outside", "opposite"} and i + 2 < len(tokens)
    where = placed and (tokens[i + 2].lower in _DETERMINERS or tokens[i + 2].capital)
    return after in {"here", "there"} or where


_HALTING = words("stop stops")
_DETERMINERS = words("the a an this every each all both our your their his her")


def _is_exceptive(tokens: Sequence[Token], i: int) -> bool:
    """ "No one outside X", "nobody but X", "none except X" say "only X"."""
    if tokens[i].lower not in {"no", "nobody", "none", "nothing"}:
        return False
    if any(token.lower == "than" for token in tokens[i + 1 :]) and tokens[i].lower != "no":
        # "Nobody had a better mark than Ann".
        return True
    return any(token.lower in _EXCEPTIVES for token in tokens[i + 1 : i + 4]) or any(
        tokens[j].lower == "other" and j + 1 < len(tokens) and tokens[j + 1].lower == "than"
        for j in range(i + 1, min(i + 4, len(tokens)))
    )


def _deny(tokens: Sequence[Token], i: int, denied: set[int]) -> None:
    limit = _SHORT.get(tokens[i].lower, 12)
    for j in range(i + 1, min(i + 1 + limit, len(tokens))):
        if tokens[j].separator or tokens[j].lower in _BREAKS:
            return
        # A second negation takes back the first.
        denied ^= {j}


@lru_cache(maxsize=16_384)
def negative_base(word: str) -> str:
    """The base of a word with a denying prefix or suffix ("unpaid", "sugar-free"), or ""."""
    if word.startswith("non-"):
        return word[4:]
    if word.startswith("no-") and len(word) > 5:
        return word[3:]
    if word.endswith("-free") and len(word) > 7:
        return word[:-5]
    if word.startswith("un") and len(word) > 5 and word not in _UN_WORDS:
        base = word[2:]
        if not knows(stem(word)) and knows(stem(base)):
            return base
    return ""
