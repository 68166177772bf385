"""The words that say that something is over, and which words they say it of."""

from __future__ import annotations

from ..reading.frames import Reading, kept_by_reading
from ..reading.tables import words
from ..reading.tokens import stem
from .leaving import leaves_behind

_ENDING = frozenset(
    stem(verb)
    for verb in words(
        "drop ditch abandon quit scrap retire discontinue replace supersede leave left cancel "
        "uninstall supplant oust dump forgo sell"
    )
)
_ENDING_PHRASES: tuple[tuple[str, ...], ...] = (
    ("instead", "of"), ("in", "place", "of"), ("rid", "of"), ("gave", "up"), ("given", "up"),
    ("stopped", "using"), ("away", "from"), ("done", "with"), ("switched", "from"),
    ("moved", "from"), ("changed", "from"), ("migrated", "from"), ("went", "from"),
    ("parted", "with"), ("moved", "off"), ("broke", "with"), ("did", "away", "with"),
    ("done", "away", "with"), ("do", "away", "with"),
)  # fmt: skip
_STATE_ENDING: tuple[tuple[str, ...], ...] = (
    ("no", "longer"),
    ("stopped",),
    ("not", "any", "more"),
)
_BEGINNINGS = frozenset(phrase[0] for phrase in (*_ENDING_PHRASES, *_STATE_ENDING))
_REACH = 4


@kept_by_reading
def endings_of(reading: Reading) -> tuple[tuple[range, bool], ...]:
    """The tokens each ending governs, and whether it ends the state its own verb names."""
    lowers = [token.lower for token in reading.tokens]
    found: list[tuple[range, bool]] = []
    for i, lower in enumerate(lowers):
        if lower not in _BEGINNINGS and reading.tokens[i].stem not in _ENDING:
            continue
        if i in reading.denied and lower not in {"longer", "any"}:
            continue
        if lower == "left" and leaves_behind(reading, i):
            continue
        if reading.tokens[i].stem in _ENDING and _is_verb(reading, i):
            found.append((_governed(lowers, i + 1), False))
            if i and lowers[i - 1] in {"was", "were", "been", "is", "got"}:
                found.append((range(max(0, i - 2), i), False))
        for phrases, is_state in ((_ENDING_PHRASES, False), (_STATE_ENDING, True)):
            for phrase in phrases:
                end = i + len(phrase)
                if lower == phrase[0] and tuple(lowers[i:end]) == phrase:
                    found.append((_governed(lowers, end), is_state))
    found += [(span, True) for span in _any_more(lowers)]
    found += [(span, False) for span in _no_more(reading)]
    return tuple(found)


def _any_more(lowers: list[str]) -> list[range]:
    """What stands between "not" and "any more": "does not order from Luigi's any longer"."""
    ends = [
        i
        for i, lower in enumerate(lowers)
        if lower == "anymore" or (lower == "any" and lowers[i + 1 : i + 2] in _LONGER)
    ]
    starts = [i + 1 for i, lower in enumerate(lowers) if lower in {"not", "n't", "never"}]
    return [
        range(start, end)
        for end in ends
        for start in starts[-1:]
        if start < end <= start + _DENIED_REACH
    ]


def _no_more(reading: Reading) -> list[range]:
    """What stands before a closing "no more": "is a student no more"."""
    tokens = reading.tokens
    return [
        range(max(0, i - 3), i)
        for i, token in enumerate(tokens[:-1])
        if token.lower == "no" and tokens[i + 1].lower == "more"
        if i + 2 == len(tokens) or tokens[i + 2].separator
    ]


_LONGER = (["more"], ["longer"])
_DENIED_REACH = 8


def _governed(lowers: list[str], start: int) -> range:
    """The few tokens from `start` on, up to what goes on with something else."""
    end = start
    while end < min(len(lowers), start + _REACH + 1) and lowers[end] not in _GOING_ON:
        end += 1
    return range(start, end)


_GOING_ON = words("to and but because since with by for as , ; . (")


def _is_verb(reading: Reading, i: int) -> bool:
    """Whether the word at `i` is told as done: a past form, or a present of the third person."""
    lower = reading.tokens[i].lower
    before = reading.tokens[i - 1].lower if i else ""
    return (
        lower.endswith(("ed", "es", "s")) or lower in {"left", "quit", "oust", "sold"}
    ) and before not in {"the", "a", "an", "is", "are", "to", "not"}
