"""Judgements of pairs: which to judge, what a verdict means, how it is settled, and feedback."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache

from memory.domain.audience import Reach
from memory.domain.text.words import bare_words
from memory.domain.types import Judgement, Statement, Verdict

# A verdict less sure than this leaves both statements side by side.
SURE = 0.5
# A statement counts as a repetition only where a judge is this sure; in doubt both stand.
SURE_OF_REPETITION = 0.9
_NUMBER = re.compile(r"\d+")
_OPENING = re.compile(r"\W*[^\W\d_]+\s*[,;:!.–—-]+\s+(?=\w)")
# Up to so many letters each capital may carry meaning: "MB" and "Mb", "US" and "us".
_SHORT = 4
_PAIR = 2


def is_sure_enough(judgement: Judgement) -> bool:
    """Returns whether a verdict on a new memory counts; otherwise both memories stay."""
    return judgement.confidence >= SURE


def judged_by_words(existing: str, new: str) -> Judgement | None:
    """The verdict on two texts of the same words, where order and capitals may count, else None."""
    first, second = bare_words(existing.casefold()), bare_words(new.casefold())
    if sorted(first) != sorted(second):
        return None
    if first != second:
        return Judgement(Verdict.COEXIST, "the same words in another order")
    if differs_in_case(existing, new):
        return Judgement(Verdict.COEXIST, "the same words with other capitals")
    return Judgement(Verdict.DUPLICATE, "the same words")


def without_opening(text: str) -> str:
    """The text without a first word that a mark sets apart from the others: "Yes, it is"."""
    opening = _OPENING.match(text)
    return text[opening.end() :] if opening else text


def as_carried_out(judgement: Judgement, *, later_reach: Reach = Reach.SAME) -> Judgement:
    """The verdict as it may change what is stored.

    A supersession is a dispute where `later_reach` says that fewer see the later statement than
    the earlier one: a private memory never retires a shared one.
    """
    if judgement.verdict is Verdict.SUPERSEDE and later_reach is Reach.NARROWER:
        return as_dispute(judgement, because="some readers see only the earlier one")
    return judgement


def as_trusted(
    judgement: Judgement, *, is_earlier_confirmed: bool, is_later_confirmed: bool
) -> Judgement:
    """The verdict as far as the sources of both statements allow it.

    An unconfirmed statement neither replaces nor disputes a confirmed one.
    """
    is_replaced = judgement.verdict is Verdict.SUPERSEDE and is_later_confirmed
    is_conflict = judgement.verdict in (Verdict.SUPERSEDE, Verdict.DISPUTE)
    if is_earlier_confirmed == is_later_confirmed or is_replaced or not is_conflict:
        return judgement
    reason = f"{judgement.reason}; but only one of them is confirmed"
    return replace(judgement, verdict=Verdict.COEXIST, reason=reason)


def as_dispute(judgement: Judgement, *, because: str) -> Judgement:
    """The conflict as one for people to settle."""
    reason = f"{judgement.reason}; {because}"
    return replace(judgement, verdict=Verdict.DISPUTE, reason=reason)


def same_numbers(one: str, other: str) -> bool:
    """Returns whether both texts hold the same numbers, each as often."""
    return sorted(_NUMBER.findall(one)) == sorted(_NUMBER.findall(other))


def differs_in_case(one: str, other: str) -> bool:
    """Returns whether capitals give two texts of the same words different meanings.

    A name is not the word ("calls Mark", "calls mark"), nor are letters of a short one whose
    capitals differ ("US", "us"; "5 MB", "5 Mb"). The capital that opens a text says nothing, nor
    do those of a text in capitals alone, nor the lack of them in one that opens without ("sarah
    lives in berlin") or in a unit ("5 mb").
    """
    if one == other or one.isupper() or other.isupper():
        return False
    first, second = _words(one), _words(other)
    if len(first) != len(second):
        return False
    careless = any(text.lstrip()[:1].islower() for text in (one, other))
    return any(
        a != b
        and a.casefold() == b.casefold()
        and _is_apart(a, b, is_unit=before[-1:].isdigit() or a[:1].isdigit(), careless=careless)
        for before, a, b in zip(("", *first), first, second, strict=False)
    )


def _words(text: str) -> list[str]:
    """The words; the first without the capital that opens a text."""
    words = bare_words(unicodedata.normalize("NFKC", text))
    if words and not (len(words[0]) > 1 and words[0].isupper()):
        words[0] = words[0][:1].lower() + words[0][1:]
    return words


def _is_apart(a: str, b: str, *, is_unit: bool, careless: bool) -> bool:
    if is_unit:
        # "KB" is "kB", and who writes "mb" did not think of it.
        return a.replace("K", "k") != b.replace("K", "k") and not (a.islower() or b.islower())
    letters = sum(char.isalpha() for char in a)
    if not (a.islower() or b.islower()):
        return letters <= _SHORT or a.isupper() or b.isupper()
    written = b if a.islower() else a
    if any(char.isupper() for char in written[1:]):
        # "TypeScript" may be written "typescript", and "TEA" is said loudly; "US" is not "us".
        return letters <= _PAIR
    return not careless


A_WINS, B_WINS, BOTH_VALID, MERGED = "a_wins", "b_wins", "both_valid", "merged"

_OF_TWO = {
    A_WINS: "the earlier one was kept",
    B_WINS: "the later one was kept",
    BOTH_VALID: "both are valid",
    MERGED: "both were merged into one",
}
_OF_ONE = {
    A_WINS: "it was kept",
    B_WINS: "it was wrong",
    BOTH_VALID: "it was kept",
    MERGED: "it was corrected",
}


# As who says the losing words again is to read it, for whom the sides stand in another order.
_OF_AGAIN = {**_OF_TWO, A_WINS: "the other one was kept", B_WINS: "the other one was kept"}


def told_decision(
    *,
    resolution: str,
    is_of_two: bool,
    by: str,
    at: datetime,
    note: str,
    is_said_again: bool = False,
) -> str:
    """Returns the decision in words: "decided on 2026-05-01 12:00 UTC by staff:rob: ... (why)".

    `is_of_two` is False where somebody only said that a memory is wrong; `is_said_again` where it
    is told of the words that lost. `at` is aware.
    """
    of_two = _OF_AGAIN if is_said_again else _OF_TWO
    how = (of_two if is_of_two else _OF_ONE)[resolution]
    when = at.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return f"decided on {when} by {by}: {how}{f' ({note})' if note else ''}"


# Words of more than this share of a statement's neighbours are usual ones.
_USUAL_SHARE = 0.4
_FEWEST_TO_COUNT = 6
_WORD = re.compile(r"[^\W_]+")
# The ending of a longer word hardly changes what it is about.
_BEGINNING = 5
# The longer a word, the rarer it is; names are as rare as long words, a figure counts double. Words
# of fewer letters than _SHORT are mostly those of grammar and count one less.
_RAREST, _SHORT = 9, 5
# First parts under which a text is filed when nobody knows what it is about.
_KINDS = frozenset({"activity", "event", "fact"})


def shared_words(one: str, other: str, *, usual: Collection[str] = ()) -> float:
    """Returns the share (0-1) of the shorter text's words in the other one, rare words first."""
    first, second = weighed_words(one), weighed_words(other)
    if usual:
        first, second = _without(usual, first), _without(usual, second)
    least = min(sum(first.values()), sum(second.values()))
    if not least:
        return 0.0
    return sum(min(first[word], second[word]) for word in first.keys() & second.keys()) / least


def _without(usual: Collection[str], words: dict[str, int]) -> dict[str, int]:
    return {word: weight for word, weight in words.items() if word not in usual}


def usual_words(texts: Sequence[str]) -> frozenset[str]:
    """The words that so many of these neighbours have that they tell no two of them together.

    Nearly always the names of the people who talk. Of few neighbours nothing can be said.
    """
    if len(texts) < _FEWEST_TO_COUNT:
        return frozenset()
    counts = Counter(word for text in texts for word in weighed_words(text))
    return frozenset(word for word, count in counts.items() if count > _USUAL_SHARE * len(texts))


@lru_cache(maxsize=4_096)
def weighed_words(text: str) -> dict[str, int]:
    """The beginnings of the words, each with how rare it is, 1 to 9; without single letters."""
    found: dict[str, int] = {}
    for place, word in enumerate(_WORD.findall(unicodedata.normalize("NFKC", text))):
        lower = word.casefold()
        if len(lower) == 1 and not lower.isdigit():
            continue
        if lower[0].isdigit():
            weight = min(2 * len(lower), _RAREST)
        elif place > 0 and word[0].isupper():
            weight = _RAREST
        else:
            weight = min(len(lower) - (len(lower) < _SHORT), _RAREST)
        beginning = lower[:_BEGINNING] if lower.isalpha() else lower
        found[beginning] = max(weight, found.get(beginning, 0))
    return found


def is_specific(subject: str) -> bool:
    """Returns whether a subject path names a matter, and not only a kind of memory."""
    kind, _, rest = subject.partition(".")
    return bool(rest) and kind not in _KINDS


def is_same_matter(one: str, other: str) -> bool:
    """Returns whether two paths name the same matter."""
    return one == other and is_specific(one)


def as_compared(existing: Statement, new: Statement) -> tuple[Statement, Statement]:
    """The two statements as a judge reads them: without paths of which one names no matter."""
    if is_specific(existing.subject) and is_specific(new.subject):
        return existing, new
    return replace(existing, subject=""), replace(new, subject="")


HIGHEST = 10
# Feedback never pushes a memory below what extraction keeps (seed 000: 3 is a casual mention).
LOWEST = 3
# One unused retrieval says little; this many say something.
IGNORED_PER_STEP = 5


class Feedback(StrEnum):
    """A caller's feedback on a memory that it was given."""

    CITED = "cited"
    IGNORED = "ignored"
    HELPFUL = "helpful"
    WRONG = "wrong"


OF_USE = (Feedback.CITED, Feedback.HELPFUL)


def adjusted_importance(*, importance: int, signal: Feedback, ignored: int) -> int:
    """The importance 1-10 after the signal.

    A helpful memory gains one, up to 10; one that was ignored five more times loses one, down to
    3 and never raised by it; the other signals leave it. `ignored` counts this signal already.
    """
    if signal == Feedback.HELPFUL:
        return min(HIGHEST, importance + 1)
    if signal == Feedback.IGNORED and ignored % IGNORED_PER_STEP == 0:
        return max(importance - 1, min(importance, LOWEST))
    return importance
