"""Consent requests and team facts as items of the inbox, and the plain list of all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from django.contrib import admin
from django.db.models import F, Q, QuerySet, Value
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from memory.admin.feed import OF_EACH, SOURCES, Happening
from memory.admin.items import Choice, Item, ItemAdmin, Shown, register
from memory.admin.memory_changes import viewer_of
from memory.admin.sides import Side, marked_excerpts, with_talks
from memory.domain.audience import Viewer
from memory.satellites.consent import deciding
from memory.satellites.consent.models import ConsentRequest
from memory.satellites.consent.proposals import independent_signals, signals_of
from memory.selectors.contradictions import days_since, retrieved
from memory.understanding.tools import default_tools
from teams.admin.display import (
    actor_words,
    column,
    excerpt,
    label_column,
    minute,
    page_of_row,
    time_column,
    with_names,
)
from teams.admin.filters import DaysFilter, condition_filter
from teams.admin.theme import AutocompleteFilter, ChoiceFilter, RelatedFilter
from teams.middleware import outside_staff_scope

_State, _Kind = ConsentRequest.State, ConsentRequest.Kind
_STATE_COLOURS = {
    "waiting": "warning",
    "approved": "success",
    "rejected": "danger",
    "expired": "info",
}
_DONE = {
    _State.WAITING: "asked for consent",
    _State.APPROVED: "approved",
    _State.REJECTED: "rejected",
    _State.EXPIRED: "closed the expired request",
}
_CHOICES = (
    Choice("approve", "Approve", "a", is_main=True),
    Choice("reject", "Reject", "b"),
)
_CHARS = 90
_NAMED = ("team", "end_user", "heard_by", "present__agent", "present__end_user", "present__project")


# -- items of the inbox ----------------------------------------------------------------------


class ConsentItem(Item[ConsentRequest]):
    """A proposed change of what is known of a person, a project or an agent."""

    kind = "consent"
    title = "Consent requests"
    began, decider = "created_at", "decided_by"
    search = (
        *("content", "field", "present__content", "heard_by__name"),
        *("end_user__external_id", "end_user__display_name"),
    )
    subjects: ClassVar = {"end_user": ["end_user"], "agent": ["agent", "heard_by"]}
    only: ClassVar[Q] = ~Q(kind=_Kind.TEAM_FACT)

    @classmethod
    def rows(cls) -> QuerySet[ConsentRequest]:
        return ConsentRequest.objects.filter(cls.only).select_related(*_NAMED)

    @classmethod
    def is_open(cls) -> Q:
        return Q(state=_State.WAITING, expires_at__gt=timezone.now())

    @classmethod
    def weighed(cls, rows: QuerySet[ConsentRequest]) -> QuerySet[Any]:  # Any: with annotations
        weight = days_since("created_at") * (Value(1.0) + F("uses"))
        weighed = rows.annotate(uses=retrieved("present_id")).annotate(weight=weight)
        return weighed.annotate(group=F("pk"), group_weight=F("weight"))

    def decisions(self) -> Sequence[Choice]:
        return _CHOICES

    @property
    def named(self) -> str:
        return f"{self.matter}: “{excerpt(self.row.content, 60)}”"

    @property
    def line(self) -> SafeString:
        known, new = marked_excerpts(self._known, self.row.content, length=_CHARS)
        before = format_html("<span>{}</span>", known) if known else ""
        return format_html("<span><b>{}</b></span>{}<span>→ {}</span>", self.matter, before, new)

    def effect(self, choice: str) -> str:
        if choice == "reject":
            return f"{self.named} is not stored."
        return " ".join([f"{self.matter}: “{self.row.content}” is stored.", *self._effects()])

    def shown(self, request: HttpRequest) -> Shown:
        row, known = self.row, self._known
        sides = [
            Side(
                f"Current {self._field}".strip(),
                known or self._until_then,
                row.content if known else "",
                memory=row.present,
            ),
            Side(
                f"Proposed {self._field}" if self._field else f"Proposed for {self._whom}",
                row.content,
                known,
                source_ids=row.source_message_ids,
                facts=self._facts,
                is_new=True,
            ),
        ]
        is_own = row.proposed_by == viewer_of(request, row).actor
        return Shown(
            reason=f"{self.matter}. Proposed by {self.proposer}.",
            sides=with_talks(sides, team_id=row.team_id),
            effects=[f"If you approve: {each}" for each in self._effects()]
            if row.is_waiting
            else (),
            beside=self._beside(),
            settled=self._settled,
            can_undo=row.state in (_State.APPROVED, _State.REJECTED) and not is_own,
            refusal="You proposed this change, so somebody else has to decide." if is_own else "",
        )

    def decide(self, request: HttpRequest, choice: str, *, note: str, text: str) -> str:
        asked: Any = {"viewer": viewer_of(request, self.row), "request_id": self.row.pk}
        asked |= {"now": timezone.now(), "note": note}
        # A yes embeds the text, for which no transaction should wait.
        with outside_staff_scope(request):
            if choice == "reject":
                deciding.reject_request(**asked)
            else:
                deciding.approve_request(tools=default_tools(), **asked)
        said = f"“{excerpt(self.row.content)}”"
        if choice == "reject":
            return f"Rejected: {said} was not stored."
        if self.row.kind == _Kind.PROFILE_FIELD:
            return f"Approved: {self.row.end_user}'s profile now says {said}"
        is_workflow = self.row.kind == _Kind.WORKFLOW
        now = "is now a workflow" if is_workflow else "now applies to the whole team"
        return f"Approved: {said} {now}."

    def undo(self, viewer: Viewer, now: datetime) -> str:
        deciding.undo_decision(viewer=viewer, request_id=self.row.pk, now=now)
        return f"{self.named} is waiting for a decision again."

    def leave(self, viewer: Viewer, until: datetime | None) -> None:
        now = timezone.now()
        deciding.snooze_request(viewer=viewer, request_id=self.row.pk, until=until, now=now)

    @property
    def matter(self) -> str:
        """The subject of the request: "City of sarah", "Preference for the whole team"."""
        row = self.row
        if row.kind == _Kind.TEAM_FACT:
            return f"Fact for the whole team, stated by {row.people} people"
        if row.kind == _Kind.TEAM_PREFERENCE:
            of = f", said by {row.end_user}" if row.end_user else ""
            return f"Preference for the whole team{of}"
        if row.kind == _Kind.WORKFLOW:
            return "Workflow of an agent"
        return f"{self._field[:1].upper()}{self._field[1:]} of {row.end_user}"

    @property
    def proposer(self) -> str:
        by, agent = actor_words(self.row.proposed_by), self.row.heard_by
        return f"{by}, in a conversation with {agent.slug}" if agent else by

    @property
    def _known(self) -> str:
        return self.row.present.content if self.row.present else ""

    @property
    def _field(self) -> str:
        is_workflow = self.row.kind == _Kind.WORKFLOW
        return "" if is_workflow else self.row.field.replace("_", " ").replace(".", ", ")

    @property
    def _whom(self) -> str:
        return "an agent" if self.row.kind == _Kind.WORKFLOW else "the whole team"

    @property
    def _until_then(self) -> str:
        row = self.row
        if row.kind == _Kind.TEAM_FACT:
            return f"Stored separately for each of the {row.people} people."
        if row.kind == _Kind.TEAM_PREFERENCE:
            return f"Used only for {row.end_user or 'the project'}."
        return "Nothing is known yet."

    @property
    def _facts(self) -> str:
        row, signals = self.row, independent_signals(signals_of(self.row))
        said = f"Said in {signals} conversations or on {signals} days."
        told = "Said in one conversation." if signals == 1 else said if signals else ""
        if row.is_waiting and not row.needs_person:
            told += " It is applied once it is said in a second conversation or on another day."
        expires = f"The request expires on {minute(row.expires_at)}."
        return f"{told} {expires}".strip() if row.is_waiting else told

    @property
    def _settled(self) -> str:
        row = self.row
        if row.is_waiting or row.decided_at is None:
            return ""
        at = minute(row.decided_at)
        if row.state == _State.EXPIRED:
            return f"Expired on {at} without a decision."
        note = f" ({with_names(row.note)})" if row.note else ""
        return f"It is already {row.state}, by {actor_words(row.decided_by)} on {at}{note}."

    def _effects(self) -> list[str]:
        """Returns what a yes replaces and keeps."""
        told = []
        for effect in deciding.effects_of(self.row):
            told.append(f"“{effect.memory.content}” is replaced.")
            told += [f"“{text}” is stored as a separate memory." for text in effect.kept]
        return told or ["Nothing is replaced."]

    def _beside(self) -> list[ConsentItem]:
        """Returns the other open requests for the same field of the person."""
        row = self.row
        if row.kind != _Kind.PROFILE_FIELD or not row.is_waiting:
            return []
        same = {"team_id": row.team_id, "end_user_id": row.end_user_id, "field": row.field}
        others = self.rows().filter(**same, state=_State.WAITING).exclude(pk=row.pk)
        return [ConsentItem(each) for each in others.order_by("created_at")]


class TeamFactItem(ConsentItem):
    """A statement of several people that would become a fact of the team."""

    kind = "team-fact"
    title = "Team facts"
    only = Q(kind=_Kind.TEAM_FACT)


register(ConsentItem)
register(TeamFactItem)


# -- the list --------------------------------------------------------------------------------


StateFilter = condition_filter(
    "state",
    {
        "decided": ("Decided", ~Q(state=_State.WAITING)),
        **{name: (title, Q(state=name)) for name, title in _State.choices},
        "all": ("All", Q()),
    },
    opens_first=True,
)


@admin.register(ConsentRequest)
class ConsentRequestAdmin(ItemAdmin[ConsentRequest]):
    """All requests, decided ones first; each leads to its page in the inbox."""

    list_display = ["statements", "proposer", "created", "state_label", "decider", "team"]
    list_filter = [
        StateFilter,
        ("end_user", AutocompleteFilter),
        ("team", RelatedFilter),
        ("kind", ChoiceFilter),
        ("created_at", DaysFilter),
    ]
    list_select_related = ["team", "end_user", "present", "heard_by"]
    ordering = ["-created_at"]
    when_empty = "Nothing has been decided yet. Open items are in the inbox."
    search_fields = ["content", "field", "end_user__external_id", "end_user__display_name"]
    state_label = label_column("state", "state", _STATE_COLOURS)
    created = time_column("created_at", "proposed")
    proposer = column("proposed by", lambda row: ConsentItem(row).proposer, ordering="proposed_by")
    decider = column("decided by", lambda row: actor_words(row.decided_by), ordering="decided_by")

    def item_of(self, row: ConsentRequest) -> ConsentItem:
        return TeamFactItem(row) if row.kind == _Kind.TEAM_FACT else ConsentItem(row)


def _requests_lately(team_ids: Sequence[UUID]) -> Iterator[Happening]:
    rows = ConsentRequest.objects.filter(team_id__in=team_ids).select_related("end_user")
    for request in rows.order_by("-created_at")[:OF_EACH]:
        yield Happening(
            at=request.decided_at or request.created_at,
            team_id=request.team_id,
            who=actor_words(request.decided_by or request.proposed_by),
            did=_DONE[_State(request.state)],
            about=f"for {request.end_user or 'the team'}: “{excerpt(request.content)}”",
            url=page_of_row(request),
            key=("consent", request.pk),
            icon="how_to_reg",
            reason=request.note,
        )


SOURCES.append(_requests_lately)
