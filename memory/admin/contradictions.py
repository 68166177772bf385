"""Contradictions: as items of the inbox, and the plain list of all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timesince import timesince

from audit.models import MemoryLog
from memory.domain.audience import Viewer
from memory.domain.judgements import A_WINS, B_WINS, BOTH_VALID, MERGED
from memory.domain.types import Strategy
from memory.models import Contradiction, Settlement
from memory.selectors import contradictions as selectors
from memory.understanding.tools import default_tools
from memory.writing.decisions.changes import snooze_contradiction
from memory.writing.decisions.disputes import resolve_contradiction
from memory.writing.decisions.undoing import undo_settlement
from teams.admin.confirm import listed
from teams.admin.display import (
    actor_words,
    as_sentence,
    column,
    minute,
    moment,
    row_link,
    with_names,
)
from teams.admin.filters import DaysFilter, condition_filter
from teams.admin.theme import AutocompleteFilter, ChoiceFilter, RelatedFilter
from teams.errors import ConflictError
from teams.middleware import outside_staff_scope

from .items import Choice, Item, ItemAdmin, Shown, register
from .memory_changes import tell_of_written, viewer_of
from .sides import Side, aligned_excerpts, marked, marked_excerpts, with_talks

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
_RESOLUTIONS = {"a": A_WINS, "b": B_WINS, "both": BOTH_VALID, "merge": MERGED}
_RESOLUTIONS |= {"correct": A_WINS, "wrong": B_WINS}
# Each decision in a few words, and what becomes of both sides.
_WORDS_OF_TWO = {
    A_WINS: ("A kept", "{0} is kept, and {1} is replaced."),
    B_WINS: ("B kept", "{1} is kept, and {0} is replaced."),
    BOTH_VALID: ("both valid", "{0} and {1} are both kept."),
    MERGED: ("merged", "{0} and {1} are merged into one text."),
}
_WORDS_OF_ONE = {
    A_WINS: ("kept", "{0} is right and is kept."),
    B_WINS: ("deleted", "{0} is wrong and is deleted."),
    BOTH_VALID: ("kept", "{0} is right and is kept."),
    MERGED: ("corrected", "{0} is corrected."),
}
_FOUND = {
    Strategy.SAME_SUBJECT: "Both are about the same subject",
    Strategy.SEMANTIC_OPPOSITION: "They say opposite things",
    Strategy.TEMPORAL_OVERRIDE: "The later one may replace the earlier one",
}
_LINE_CHARS, _NAME_CHARS = 110, 60
_MOST_NAMED = 3


# -- items of the inbox ----------------------------------------------------------------------


class ContradictionItem(Item[Contradiction]):
    """A pair that a judge found to conflict, or a memory that somebody reported as wrong."""

    kind = "contradiction"
    title = "Contradictions"
    began, decider = "detected_at", "resolved_by"
    search = (
        *("memory_a__content", "memory_b__content", "memory_a__subject", "memory_a__agent__name"),
        *("memory_a__end_user__external_id", "memory_a__end_user__display_name"),
    )
    subjects = {
        each: (f"memory_a__{each}", f"memory_b__{each}")
        for each in ("end_user", "agent", "project")
    }

    @classmethod
    def rows(cls) -> QuerySet[Contradiction]:
        sides = ("memory_a", "memory_b")
        names = ("", "__agent", "__end_user", "__project")
        return Contradiction.objects.select_related(
            "team", *(f"{side}{name}" for side in sides for name in names)
        )

    @classmethod
    def is_open(cls) -> Q:
        return Q(resolved_at=None)

    @classmethod
    def weighed(cls, rows: QuerySet[Contradiction]) -> QuerySet[Any]:  # Any: with annotations
        return selectors.with_queue_columns(rows)

    def decisions(self) -> Sequence[Choice]:
        return _OF_TWO if self.row.memory_b_id else _OF_ONE

    @property
    def named(self) -> str:
        one, other = self._quotes
        return f"{one} against {other}" if other else f"{one}, reported as wrong"

    @property
    def line(self) -> SafeString:
        """Both sides, one above the other, with what differs marked."""
        a, b = self.row.memory_a, self.row.memory_b
        one, other = marked_excerpts(a.content, b.content if b else "", length=_LINE_CHARS)
        return format_html(
            "<span><b>A</b> {}</span><span><b>B</b> {}</span>",
            one,
            other if b else "– reported as wrong",
        )

    def effect(self, choice: str) -> SafeString:
        a, b = self.row.memory_a, self.row.memory_b
        resolution = _RESOLUTIONS[choice]
        words = self.words(resolution)[1].format("“{0}”", "“{1}”")
        if b is None:
            return format_html(words, a.content)
        told = format_html(words, marked(a.content, b.content), marked(b.content, a.content))
        winner, loser = (b, a) if resolution == B_WINS else (a, b)
        moves = resolution != BOTH_VALID and loser.is_pinned and not winner.is_pinned
        pin = "The pin of the replaced side moves to the one that is kept."
        return format_html("{} {}", told, pin) if moves else told

    def shown(self, request: HttpRequest) -> Shown:
        row, a, b = self.row, self.row.memory_a, self.row.memory_b
        if b is None:
            given = [Side("Reported as wrong", a.content, memory=a)]
            starts = {"a": a.content}
        else:
            given = [
                Side("A (earlier)", a.content, b.content, memory=a),
                Side("B (later)", b.content, a.content, memory=b),
            ]
            starts = {"a": a.content, "b": b.content, "both": f"{a.content}\n{b.content}"}
        if row.resolution == MERGED and (merged := a.superseded_by):
            title = "Replacement of both" if b else "Replacement"
            given.insert(0, Side(title, merged.content, memory=merged))
        sides = with_talks(given, team_id=row.team_id)
        uses = sum(each.usage.retrieved for each in sides if each.memory in (a, b) and each.usage)
        history = list(Settlement.objects.filter(team_id=row.team_id, contradiction=row))
        beside = self._beside()
        return Shown(
            reason=self._reason,
            meta=f"used {uses} {'time' if uses == 1 else 'times'}",
            sides=sides,
            effects=[] if row.resolved_at else [*self._pin_words(), *self._ends(beside)],
            beside=beside,
            history=self._past_decisions(history),
            settled=with_names(f"It is already settled, {row.decision}.") if row.decision else "",
            can_undo=any(each.undone_at is None for each in history),
            starts=starts,
        )

    def decide(self, request: HttpRequest, choice: str, *, note: str, text: str) -> str:
        beside = [each.row.pk for each in self._beside()]
        viewer, resolution = viewer_of(request, self.row), _RESOLUTIONS[choice]
        try:
            # A merge embeds its text and may ask a model, for which no transaction should wait.
            with outside_staff_scope(request):
                settled = resolve_contradiction(
                    viewer=viewer,
                    contradiction_id=self.row.pk,
                    resolution=resolution,
                    note=note,
                    merged_content=text,
                    tools=default_tools(),
                    now=timezone.now(),
                )
        except ConflictError:
            # The message about another one of the same choice named it already.
            ended = Contradiction.objects.filter(pk=self.row.pk, resolved_by=viewer.actor)
            if self.row.resolved_at is None and ended.exists():
                return ""
            raise
        if settled.merged is not None:
            tell_of_written(request, settled.merged)
        if settled.contradiction.resolved_at is None:
            return ""
        told = [self.words(resolution)[1].format(*self._quotes)]
        others = [ContradictionItem(row) for row in self.rows().filter(pk__in=beside)]
        closed = [f"{each.named} ({each.words()[0]})" for each in others if each.decided_by]
        still_open = [each.named for each in others if not each.decided_by]
        for words, names in (("Closed with it", closed), ("Still open", still_open)):
            told += [as_sentence(f"{words}: {listed(names, _MOST_NAMED)}")] if names else []
        return " ".join(told)

    def undo(self, viewer: Viewer, now: datetime) -> str:
        undone = undo_settlement(viewer=viewer, contradiction_id=self.row.pk, now=now)
        more = len(undone.reopened)
        with_it = f" {more} closed with it {'is' if more == 1 else 'are'} open again too."
        return f"{self.named} is open again.{with_it if more else ''}"

    def leave(self, viewer: Viewer, until: datetime | None) -> None:
        snooze_contradiction(viewer=viewer, contradiction_id=self.row.pk, until=until)

    def words(self, resolution: str = "") -> tuple[str, str]:
        """Returns a decision, its own without one, in a few words and as a sentence on {0}, {1}."""
        words = _WORDS_OF_TWO if self.row.memory_b_id else _WORDS_OF_ONE
        given = resolution or self.row.resolution
        return words[given] if given else ("open", "")

    @property
    def _quotes(self) -> tuple[str, str]:
        """Both sides in quotation marks, short enough for a message; the second empty for one."""
        second = self.row.memory_b.content if self.row.memory_b else ""
        one, other = aligned_excerpts(self.row.memory_a.content, second, length=_NAME_CHARS)
        return f"“{one}”", f"“{other}”" if second else ""

    def _beside(self) -> list[ContradictionItem]:
        """Returns the other open contradictions of its sides, the newest first."""
        sides = [each for each in (self.row.memory_a_id, self.row.memory_b_id) if each]
        is_beside = Q(memory_a__in=sides) | Q(memory_b__in=sides)
        rows = self.rows().filter(is_beside, team_id=self.row.team_id, resolved_at=None)
        return [ContradictionItem(row) for row in rows.exclude(pk=self.row.pk)]

    def _pin_words(self) -> Iterator[str]:
        """Yields the decision that moves a pin to the other side."""
        a, b = self.row.memory_a, self.row.memory_b
        if b is not None and a.is_pinned != b.is_pinned:
            pinned, other = ("A", "B") if a.is_pinned else ("B", "A")
            yield f"The pin of {pinned} moves to {other} if {other} is kept alone."

    def _ends(self, beside: Sequence[ContradictionItem]) -> Iterator[str]:
        """Yields which other open contradictions end with a side that is replaced."""
        for letter, pk in (("A", self.row.memory_a_id), ("B", self.row.memory_b_id)):
            ended = [each for each in beside if pk in (each.row.memory_a_id, each.row.memory_b_id)]
            if pk and ended:
                verb = "replaced" if self.row.memory_b_id else "deleted"
                names = "; ".join(each.named for each in ended)
                yield f"Closed as well if {letter} is {verb}: {names}"

    @property
    def _reason(self) -> str:
        """The reason for the conflict and its judge, in one or two sentences."""
        row = self.row
        reason, judge = with_names(row.reason.strip().rstrip(".")), actor_words(row.judge)
        if row.memory_b_id is None:
            said = f"{judge} reported it as wrong"
            return f"{said}: {reason}." if reason and reason != "said to be wrong" else f"{said}."
        found = _FOUND.get(Strategy(row.strategy), "They conflict")
        if row.strategy == Strategy.SAME_SUBJECT and row.memory_a.subject:
            found = f"Both are about “{row.memory_a.subject}”"
        return f"{found}. " + (f"Judged by {judge}: {reason}." if reason else f"Judged by {judge}.")

    def _past_decisions(self, history: Sequence[Settlement]) -> list[str]:
        """Its settlements in words, the newest first; one query for their notes."""
        first = [each.first_seq for each in history if each.first_seq is not None]
        log = MemoryLog.objects.filter(team_id=self.row.team_id, seq__in=first) if first else ()
        reasons = {entry.seq: entry.reason for entry in log}
        told = []
        for each in history:
            # The log has the note after the resolution, in brackets.
            note = reasons.get(each.first_seq or 0, "").partition(f": {each.resolution}")[2].strip()
            words = f"{minute(each.settled_at)} · {actor_words(each.actor)}: "
            words += " ".join(filter(None, [self.words(each.resolution)[0], note]))
            if each.undone_at is not None:
                words += f" – undone by {actor_words(each.undone_by)} on {minute(each.undone_at)}"
            told.append(with_names(words))
        return told


register(ContradictionItem)


# -- the list --------------------------------------------------------------------------------

StateFilter = condition_filter(
    "state",
    {
        "resolved": ("Settled", Q(resolved_at__isnull=False)),
        "open": ("Open", ContradictionItem.is_waiting),
        "snoozed": ("Left for later", ContradictionItem.is_left),
        "all": ("All", Q()),
    },
    opens_first=True,
)


@admin.register(Contradiction)
class ContradictionAdmin(ItemAdmin[Contradiction]):
    """Pairs that a judge found to conflict, and what somebody reported as wrong; settled first."""

    list_display = ["statements", "age", "agent", "person", "state", "team"]
    list_filter = [
        StateFilter,
        ("team", RelatedFilter),
        ("strategy", ChoiceFilter),
        ("memory_a__agent", AutocompleteFilter),
        ("memory_a__end_user", AutocompleteFilter),
        ("detected_at", DaysFilter),
    ]
    list_after_template = "admin/memory/contradiction/judge_records.html"
    list_select_related = ["team", "memory_a__agent", "memory_a__end_user", "memory_b"]
    ordering = ["-resolved_at", "-detected_at"]
    when_empty = "Nothing has been settled yet. Open items are in the inbox."
    search_fields = ["memory_a__content", "memory_b__content", "memory_a__subject"]

    age = column(
        "age",
        lambda pair: moment(pair.detected_at, timesince(pair.detected_at, depth=1)),
        ordering="detected_at",
    )
    agent = column(
        "agent",
        lambda pair: row_link(pair.memory_a.agent) if pair.memory_a.agent else "all",
        ordering="memory_a__agent__name",
    )
    person = column(
        "person",
        lambda pair: row_link(pair.memory_a.end_user),
        ordering="memory_a__end_user__external_id",
    )
    state = column(
        "resolution", lambda pair: ContradictionItem(pair).words()[0], ordering="resolved_at"
    )

    def item_of(self, row: Contradiction) -> ContradictionItem:
        return ContradictionItem(row)

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        shown = {"judge_records": selectors.judge_records()} if request.method == "GET" else {}
        return super().changelist_view(request, {**shown, **(extra_context or {})})
