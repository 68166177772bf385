"""On which pairs a judge is heard and how sure it must be, by where the new memory comes from."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..types import Judgement, Statement, Verdict
from .pairs.told import is_reported, may_contradict
from .presenting import by_one_name
from .relatedness import names_change, relatedness


@dataclass(frozen=True, slots=True)
class Bound:
    """What a verdict takes, both 0-1.

    `relatedness` is how likely the two must be about one matter, `sureness` how confident the
    judge must be.
    """

    relatedness: float
    sureness: float


@dataclass(frozen=True, slots=True)
class Bar:
    """What it takes, without a common subject, that a memory contradicts or repeats another one.

    Of one subject they need the sureness alone. With `is_plain` only plain statements contradict
    each other, but where one says in so many words what has changed. benchmarks/relatedness.py
    shows what each bound costs.
    """

    contradiction: Bound
    repetition: Bound
    is_plain: bool


# Somebody said it on purpose; and what was distilled from talk, where a neighbour is seldom about
# the same matter and a wrong verdict would retire what was right.
STATED = Bar(contradiction=Bound(0.4, 0.35), repetition=Bound(0.4, 0.0), is_plain=False)
EXTRACTED = Bar(contradiction=Bound(0.5, 0.5), repetition=Bound(0.85, 0.6), is_plain=True)


# What is superseded leaves the reads, so that a guess does no more than mark both.
SURE_TO_RETIRE = 0.45


def as_carried_out(judgement: Judgement) -> Judgement:
    """The verdict as it may change what is stored: "supersede" of an unsure judge is a dispute."""
    if judgement.verdict != Verdict.SUPERSEDE or judgement.confidence >= SURE_TO_RETIRE:
        return judgement
    reason = f"{judgement.reason}; too unsure to retire the earlier one"
    return replace(judgement, verdict=Verdict.DISPUTE, reason=reason)


@dataclass(frozen=True, slots=True)
class Hearing:
    """How sure a judge must be of a contradiction and of a repetition, 0-1; None for neither."""

    contradiction: float | None
    repetition: float | None

    def admits(self, judgement: Judgement) -> bool:
        """Whether the verdict is of a kind that is heard, and sure enough."""
        needed = self.repetition if judgement.verdict == Verdict.DUPLICATE else self.contradiction
        return needed is not None and judgement.confidence >= needed


def hearing_of_one_subject(*, bar: Bar) -> Hearing:
    """What a judge is to be asked of two statements with one specific subject."""
    return Hearing(bar.contradiction.sureness, bar.repetition.sureness)


def hearing_on(
    *, existing: Statement, new: Statement, similarity: float, anchor: float, bar: Bar
) -> Hearing | None:
    """What a judge is to be asked of two statements without a common subject; None for nothing.

    `similarity` is the cosine of their vectors, `anchor` the embedder's opposition similarity.
    """
    existing, new = by_one_name(existing, new)
    related = 0.0
    if similarity >= anchor:
        related = relatedness(existing=existing, new=new, similarity=similarity, anchor=anchor)
    # "Uses Jira" is about "switched from Jira" in whichever order they come.
    is_named = any(
        names_change(existing=first, new=second)
        for first, second in ((existing, new), (new, existing))
    )
    contradicts = is_named or related >= bar.contradiction.relatedness
    if contradicts and bar.is_plain:
        contradicts = not is_reported(new) if is_named else may_contradict(existing, new)
    repeats = is_named or related >= bar.repetition.relatedness
    if not (contradicts or repeats):
        return None
    return Hearing(
        bar.contradiction.sureness if contradicts else None,
        bar.repetition.sureness if repeats else None,
    )
