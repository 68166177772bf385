"""Limits of what a judge's verdict may do to stored memories, in any language."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace

from memory.domain.audience import Reach
from memory.domain.text.normalise import bare_words
from memory.domain.types import Judgement, Verdict

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
    """Whether a verdict on a new memory counts; otherwise both stand side by side."""
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
        return as_dispute(judgement, because="others see the earlier one and not the later one")
    return judgement


def as_dispute(judgement: Judgement, *, because: str) -> Judgement:
    """The conflict as one for people to settle."""
    reason = f"{judgement.reason}; {because}"
    return replace(judgement, verdict=Verdict.DISPUTE, reason=reason)


def same_numbers(one: str, other: str) -> bool:
    """Returns whether both texts hold the same numbers, each as often."""
    return sorted(_NUMBER.findall(one)) == sorted(_NUMBER.findall(other))


def differs_in_case(one: str, other: str) -> bool:
    """Whether the capitals of two texts of the same words make them two statements.

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
