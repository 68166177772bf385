"""Contradictions as items of the inbox: both sides, what a decision changes, and past decisions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from audit.models import MemoryLog
from memory.domain.audience import Viewer
from memory.domain.judgements import A_WINS, B_WINS, BOTH_VALID, MERGED, told_decision
from memory.domain.types import Strategy
from memory.models import Contradiction, Memory, Settlement
from memory.selectors import contradictions as selectors
from memory.writing.decisions.changes import snooze_contradiction
from memory.writing.decisions.undoing import undo_settlement
from teams.admin.display import actor_words, with_names

from .items import Choice, ItemKind, Place, Shown, item_url, most_of, register
from .settlements import (
    aligned_excerpts,
    decision_words,
    effect_words,
    marked,
    name_of,
    open_beside,
    pin_words,
    settle,
    with_sides,
)
from .sides import sides_of

_RESOLUTIONS = {
    "a": A_WINS,
    "b": B_WINS,
    "both": BOTH_VALID,
    "merge": MERGED,
    "correct": A_WINS,
    "wrong": B_WINS,
}
_OF_TWO = (
    Choice("a", "Keep A", "a", is_main=True),
    Choice("b", "Keep B", "b", is_main=True),
    Choice("both", "Both are valid", "v"),
    Choice("merge", "Merge into one text", "m", takes_text=True),
)
_OF_ONE = (
    Choice("correct", "Correct: keep", "a", is_main=True),
    Choice("wrong", "Wrong: delete", "b", is_main=True),
    Choice("merge", "Correct the text", "m", takes_text=True),
)
_FOUND = {
    Strategy.SAME_SUBJECT: "Both are about the same subject",
    Strategy.SEMANTIC_OPPOSITION: "They say opposite things",
    Strategy.TEMPORAL_OVERRIDE: "The later one may replace the earlier one",
}
_LINE_CHARS = 110
# The columns of a place, which the selector adds.
_PLACE = ("group_weight", "group", "weight", "pk")


class Contradictions(ItemKind[Contradiction]):
    """Pairs that a judge found to conflict, and memories that somebody reported as wrong."""

    name = "contradiction"
    title = "Contradictions"
    search = (
        *("memory_a__content", "memory_b__content", "memory_a__subject", "memory_a__agent__name"),
        *("memory_a__end_user__external_id", "memory_a__end_user__display_name"),
    )

    def rows(self) -> QuerySet[Contradiction]:
        return with_sides()

    def waiting(self, now: datetime) -> Q:
        return selectors.is_waiting(now)

    def left_for_later(self, now: datetime) -> Q:
        return selectors.is_snoozed(now)

    def places(self, rows: QuerySet[Contradiction]) -> Iterator[Place]:
        ordered = selectors.with_queue_columns(rows).order_by(*selectors.QUEUE_ORDER)
        for group_weight, group, weight, pk in most_of(ordered.values_list(*_PLACE)):
            yield Place(group_weight, str(group), weight, pk)

    def choices(self, row: Contradiction) -> Sequence[Choice]:
        return _OF_TWO if row.memory_b_id else _OF_ONE

    def named(self, row: Contradiction) -> str:
        return name_of(row)

    def line(self, row: Contradiction) -> SafeString:
        """Both sides, one above the other, with what differs marked."""
        second = row.memory_b.content if row.memory_b else ""
        one, other = aligned_excerpts(row.memory_a.content, second, length=_LINE_CHARS)
        return format_html(
            "<span><b>A</b> {}</span><span><b>B</b> {}</span>",
            marked(one, other) if second else one,
            marked(other, one) if second else "– reported as wrong",
        )

    def since(self, row: Contradiction) -> datetime:
        return row.detected_at

    def effect(self, row: Contradiction, choice: str) -> SafeString | str:
        return effect_words(row, resolution=_RESOLUTIONS[choice])

    def shown(self, request: HttpRequest, row: Contradiction) -> Shown:
        a, b = row.memory_a, row.memory_b
        given: list[tuple[str, Memory, SafeString | str]]
        if b is None:
            given = [("Reported as wrong", a, a.content)]
        else:
            given = [
                ("A (earlier)", a, marked(a.content, b.content)),
                ("B (later)", b, marked(b.content, a.content)),
            ]
        texts = {name: each[1].content for name, each in zip("ab", given, strict=False)}
        if row.resolution == MERGED and a.superseded_by is not None:
            title = "Replacement of both" if b else "Replacement"
            given.insert(0, (title, a.superseded_by, a.superseded_by.content))
        sides, _ = sides_of(given, team_id=row.team_id, also={})
        uses = sum(each.usage.retrieved for each in sides if each.memory in (a, b) and each.usage)
        history = list(Settlement.objects.filter(team_id=row.team_id, contradiction=row))
        beside = open_beside(row)
        is_open = row.resolved_at is None
        return Shown(
            reason=_reason(row),
            since=row.detected_at,
            meta=f"used {uses} {'time' if uses == 1 else 'times'}",
            sides=sides,
            effects=[*pin_words(row), *_ends(row, beside)] if is_open else (),
            beside=[(name_of(each), item_url(self.name, each.pk)) for each in beside],
            history=_past_decisions(row, history),
            settled=_settled(row),
            can_undo=any(each.undone_at is None for each in history),
            starts=texts | ({"both": "\n".join(texts.values())} if b else {}),
        )

    def later_until(self, row: Contradiction) -> datetime | None:
        until = row.snoozed_until
        is_left = row.resolved_at is None and until is not None and until > timezone.now()
        return until if is_left else None

    def decided_by(self, row: Contradiction) -> str:
        return row.resolved_by if row.resolved_at else ""

    def decide(
        self, request: HttpRequest, row: Contradiction, *, choice: str, note: str, text: str
    ) -> str | None:
        return settle(request, row, note, resolution=_RESOLUTIONS[choice], merged_content=text)

    def undo(self, viewer: Viewer, row: Contradiction, now: datetime) -> str:
        undone = undo_settlement(viewer=viewer, contradiction_id=row.pk, now=now)
        more = len(undone.reopened)
        with_it = f" {more} closed with it {'is' if more == 1 else 'are'} open again too."
        return f"{name_of(row)} is open again.{with_it if more else ''}"

    def leave(self, viewer: Viewer, row: Contradiction, until: datetime | None) -> None:
        snooze_contradiction(viewer=viewer, contradiction_id=row.pk, until=until)


register(Contradictions())


def _ends(row: Contradiction, beside: Sequence[Contradiction]) -> Iterator[str]:
    """Yields which other open contradictions end with a side that is replaced."""
    for letter, pk in (("A", row.memory_a_id), ("B", row.memory_b_id)):
        ended = [each for each in beside if pk in (each.memory_a_id, each.memory_b_id)]
        if pk and ended:
            verb = "replaced" if row.memory_b_id else "deleted"
            names = "; ".join(name_of(each) for each in ended)
            yield f"Closed as well if {letter} is {verb}: {names}"


def _reason(row: Contradiction) -> str:
    """Returns the reason for the conflict and its judge, in one or two sentences."""
    reason = with_names(row.reason.strip().rstrip("."))
    judge = actor_words(row.judge)
    if row.memory_b_id is None:
        said = f"{judge} reported it as wrong"
        return f"{said}: {reason}." if reason and reason != "said to be wrong" else f"{said}."
    found = _FOUND.get(Strategy(row.strategy), "They conflict")
    subject = row.memory_a.subject
    if row.strategy == Strategy.SAME_SUBJECT and subject:
        found = f"Both are about “{subject}”"
    told = f" The judge ({judge}): {reason}." if reason else f" Judge: {judge}."
    return f"{found}.{told}"


def _settled(row: Contradiction) -> str:
    """Returns how, when, why and by whom it was settled, worded as by the service; "" if open."""
    if row.resolved_at is None:
        return ""
    told = told_decision(
        resolution=row.resolution,
        is_of_two=row.memory_b_id is not None,
        by=actor_words(row.resolved_by),
        at=row.resolved_at,
        note=row.resolution_note,
    )
    return f"It is already settled, {with_names(told)}."


def _past_decisions(row: Contradiction, history: Sequence[Settlement]) -> list[str]:
    """Its settlements in words, the newest first; one query for their notes."""
    first = [each.first_seq for each in history if each.first_seq is not None]
    log = MemoryLog.objects.filter(team_id=row.team_id, seq__in=first) if first else ()
    reasons = {entry.seq: entry.reason for entry in log}
    told = []
    for each in history:
        # The log has the note after the resolution, in brackets.
        note = reasons.get(each.first_seq or 0, "").partition(f": {each.resolution}")[2].strip()
        words = f"{_minute(each.settled_at)} · {actor_words(each.actor)}: "
        words += " ".join(filter(None, [decision_words(row, each.resolution), note]))
        if each.undone_at is not None:
            at = _minute(each.undone_at)
            words += f" – undone by {actor_words(each.undone_by)} on {at}"
        told.append(with_names(words))
    return told


def _minute(at: datetime) -> str:
    return f"{timezone.localtime(at):%Y-%m-%d %H:%M}"
