"""Unconfirmed memories as items of the inbox."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, ClassVar

from django.db.models import F, Q, QuerySet, Value
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from memory.admin.items import Choice, Item, Shown, register
from memory.admin.memory_changes import viewer_of
from memory.admin.sides import Side, with_talks
from memory.domain.audience import Viewer
from memory.domain.types import UNCONFIRMED
from memory.models import Memory, MemoryRelation
from memory.models.memory import LIVE
from memory.satellites.confirmation import deciding
from memory.satellites.confirmation.models import Confirmation
from memory.selectors.contradictions import days_since, retrieved
from memory.understanding.tools import default_tools
from teams.admin.display import actor_words, excerpt, minute
from teams.middleware import outside_staff_scope

_CHOICES = (
    Choice("confirm", "Confirm", "a", is_main=True),
    Choice("delete", "Delete", "b"),
)
_CHARS = 110
_MOST_AGAINST = 3
_FROM = {"tool": "A tool", "web": "A web page"}
_EFFECT = (
    "If you confirm: it counts as a person's word and is compared with the other memories like a"
    " new statement."
)


class UnconfirmedItem(Item[Confirmation]):
    """A memory that a tool or a web page alone says."""

    kind = "unconfirmed"
    title = "Unconfirmed memories"
    began, decider = "created_at", "decided_by"
    search = (
        *("memory__content", "memory__subject"),
        *("memory__end_user__external_id", "memory__end_user__display_name"),
    )
    subjects: ClassVar = {each: [f"memory__{each}"] for each in ("end_user", "agent", "project")}

    @classmethod
    def rows(cls) -> QuerySet[Confirmation]:
        named = ("agent", "end_user", "project")
        return Confirmation.objects.select_related("team", *(f"memory__{each}" for each in named))

    @classmethod
    def is_open(cls) -> Q:
        return Q(decision="", memory__source__in=UNCONFIRMED, memory__status__in=LIVE)

    @classmethod
    def weighed(cls, rows: QuerySet[Confirmation]) -> QuerySet[Any]:  # Any: with annotations
        weight = days_since("created_at") * (Value(1.0) + F("uses"))
        weighed = rows.annotate(uses=retrieved("memory_id")).annotate(weight=weight)
        return weighed.annotate(group=F("pk"), group_weight=F("weight"))

    def decisions(self) -> Sequence[Choice]:
        return _CHOICES

    @property
    def named(self) -> str:
        return f"Unconfirmed: “{excerpt(self._memory.content, 60)}”"

    @property
    def line(self) -> SafeString:
        text = excerpt(self._memory.content, _CHARS)
        return format_html("<span><b>{}</b></span><span>{}</span>", self._source, text)

    def effect(self, choice: str) -> str:
        said = f"“{excerpt(self._memory.content)}”"
        return f"{said} is deleted." if choice == "delete" else f"{said} counts as a person's word."

    def shown(self, request: HttpRequest) -> Shown:
        memory = self._memory
        sides = [
            Side("Unconfirmed", memory.content, memory=memory),
            *(
                Side(f"Contradicts {number}", each.content, memory.content, memory=each)
                for number, each in enumerate(_contradicted(memory), 1)
            ),
        ]
        return Shown(
            reason=f"{self._source} alone says this.",
            sides=with_talks(sides, team_id=memory.team_id),
            effects=() if self.row.decision else (_EFFECT,),
            settled=self._settled,
            can_undo=bool(self.row.decision),
        )

    def decide(self, request: HttpRequest, choice: str, *, note: str, text: str) -> str:
        asked: Any = {"viewer": viewer_of(request, self.row), "memory_id": self.row.memory_id}
        asked |= {"now": timezone.now(), "note": note}
        # A yes embeds the text, for which no transaction should wait.
        with outside_staff_scope(request):
            if choice == "delete":
                deciding.reject(**asked)
            else:
                deciding.confirm(tools=default_tools(), **asked)
        said = f"“{excerpt(self._memory.content)}”"
        return f"Deleted: {said}" if choice == "delete" else f"Confirmed: {said}"

    def undo(self, viewer: Viewer, now: datetime) -> str:
        deciding.undo(viewer=viewer, memory_id=self.row.memory_id)
        return f"“{excerpt(self._memory.content, 60)}” is unconfirmed again."

    def leave(self, viewer: Viewer, until: datetime | None) -> None:
        deciding.snooze(viewer=viewer, memory_id=self.row.memory_id, until=until)

    @property
    def _memory(self) -> Memory:
        return self.row.memory

    @property
    def _source(self) -> str:
        return _FROM.get(self._memory.source, "A tool or a web page")

    @property
    def _settled(self) -> str:
        row = self.row
        if row.decided_at is None:
            is_known = not self._memory.is_unconfirmed
            return "Confirmed: a person has said the same." if is_known else ""
        by = actor_words(row.decided_by)
        return f"It was {row.decision} by {by} on {minute(row.decided_at)}."


def _contradicted(memory: Memory) -> list[Memory]:
    """Returns the live memories that it contradicts, the nearest first."""
    own = Q(from_memory=memory) | Q(to_memory=memory)
    edges = MemoryRelation.objects.filter(
        own, team_id=memory.team_id, relation_type="contradicts"
    ).select_related("from_memory__end_user", "to_memory__end_user")
    others = (
        each.to_memory if each.from_memory_id == memory.pk else each.from_memory
        for each in edges.order_by("-strength", "id")
    )
    return [each for each in others if each.is_live][:_MOST_AGAINST]


register(UnconfirmedItem)
