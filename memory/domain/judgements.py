"""What a judge's verdict may do to what is stored, whatever the judge and the language."""

from __future__ import annotations

import unicodedata
from dataclasses import replace

from memory.domain.audience import Reach
from memory.domain.repetition import adds_nothing, is_qualified
from memory.domain.text.normalise import bare_words
from memory.domain.types import Judgement, Verdict

# What is superseded leaves the reads: a verdict less sure than this, or on two statements that are
# less near (see `pair_selection.nearness`), marks both as disputed.
SURE_TO_RETIRE = 0.28
NEAR_TO_RETIRE = 0.6
# The less near two statements are, the surer a judge must be that they are in conflict: .8 at a
# nearness of .5, .22 from .98 on: neighbours in talk are rarely about one thing. Figures:
# docs/decisions/0006-one-write-path.md.
_SURE_WHERE_FAR, _LESS_BY_NEARNESS, _SURE_WHERE_NEAR = 1.4, 1.2, 0.22
# What a repetition takes where the new memory was extracted from talk.
_SURE_OF_REPETITION_IN_TALK = 0.6
# Up to so many letters each capital may carry meaning: "MB" and "Mb", "US" and "us".
_SHORT = 4
_PAIR = 2


def is_sure_enough(judgement: Judgement, *, nearness: float, is_from_talk: bool) -> bool:
    """Whether a verdict on a new memory counts at all; otherwise both stand side by side."""
    if judgement.verdict is Verdict.DUPLICATE:
        return not is_from_talk or judgement.confidence >= _SURE_OF_REPETITION_IN_TALK
    least = max(_SURE_WHERE_NEAR, _SURE_WHERE_FAR - _LESS_BY_NEARNESS * nearness)
    return judgement.confidence >= least


def judged_by_words(existing: str, new: str) -> Judgement | None:
    """The verdict that the words alone tell, or None.

    On two texts of the same words, where order and capitals may count, and on one that only has a
    limit or a circumstance more than the other.
    """
    if is_qualified(existing, new):
        return Judgement(Verdict.COEXIST, "one says more of the same")
    first, second = bare_words(existing.casefold()), bare_words(new.casefold())
    if sorted(first) != sorted(second):
        is_same = adds_nothing(known=existing, new=new) and adds_nothing(known=new, new=existing)
        return (
            Judgement(Verdict.DUPLICATE, "the same words that say something") if is_same else None
        )
    if first != second:
        return Judgement(Verdict.COEXIST, "the same words in another order")
    if differs_in_case(existing, new):
        return Judgement(Verdict.COEXIST, "the same words with other capitals")
    return Judgement(Verdict.DUPLICATE, "the same words")


def as_carried_out(
    judgement: Judgement, *, nearness: float, later_reach: Reach = Reach.SAME
) -> Judgement:
    """The verdict as it may change what is stored: a supersession becomes a dispute on a guess.

    It does so too where `later_reach` says that fewer see the later statement than the earlier
    one: what fewer readers see never retires what more of them see.
    """
    if judgement.verdict is not Verdict.SUPERSEDE:
        return judgement
    if judgement.confidence < SURE_TO_RETIRE or nearness < NEAR_TO_RETIRE:
        return as_dispute(judgement, because="too unsure to retire the earlier one")
    if later_reach is Reach.NARROWER:
        return as_dispute(judgement, because="others see the earlier one and not the later one")
    return judgement


def as_dispute(judgement: Judgement, *, because: str) -> Judgement:
    """The conflict as one for people to settle."""
    reason = f"{judgement.reason}; {because}"
    return replace(judgement, verdict=Verdict.DISPUTE, reason=reason)


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
