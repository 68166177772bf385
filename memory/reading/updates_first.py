"""Ranks an update before the statement that it updates."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from memory.domain.judgements import is_same_matter, shared_words, usual_words
from memory.domain.types import MemoryType, Status
from memory.reading.ranking import Ranked

# Of the best candidates so many are compared with each other.
_COMPARED = 20
# Of labelled conflicts two thirds share so much of their words; with .3 other statements of talk
# share as much, which costs LoCoMo one point of R@5.
_ONE_MATTER = 0.4
# A later statement of less than this share of the earlier one's rank is about something else.
CLOSE = 0.8
# Of the score of what took its place, what is past has at most this share.
BEHIND = 0.99


def updates_first(ranked: Sequence[Ranked]) -> list[Ranked]:
    """The candidates, best first, no statement behind an earlier one on its matter.

    The later one gets the score and the rank of the earlier, so that nothing is pushed away.
    """
    best = [*ranked[:_COMPARED]]
    usual = usual_words([each.row.content for each in best])
    for place, earlier in enumerate(best):
        for other in range(place + 1, len(best)):
            later = best[other]
            is_close = later.rank >= CLOSE * earlier.rank
            if (
                is_close
                and later.row.said > earlier.row.said
                and _may_update(later, earlier, usual)
            ):
                best[other] = later._replace(
                    score=max(later.score, earlier.score), rank=max(later.rank, earlier.rank)
                )
    best.sort(key=lambda each: (-each.score, -each.row.said))
    return [*best, *ranked[_COMPARED:]]


def _may_update(later: Ranked, earlier: Ranked, usual: Collection[str]) -> bool:
    new, old = later.row, earlier.row
    if not new.status == old.status == Status.ACTIVE:
        # A dispute has halved the score; raising it would undo that.
        return False
    if old.is_pinned or old.memory_type == MemoryType.IDENTITY:
        return False
    if (new.end_user_id, new.project_id) != (old.end_user_id, old.project_id):
        return False
    return (
        is_same_matter(old.subject, new.subject)
        or shared_words(old.content, new.content, usual=usual) >= _ONE_MATTER
    )
