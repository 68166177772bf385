"""Consent requests and team facts as items of the inbox, and the plain list of all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import Any, ClassVar
from uuid import UUID

from django.contrib import admin
from django.db.models import F, Q, QuerySet, Value
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from memory.admin.feed import OF_EACH, SOURCES, Happening
from memory.admin.home import KINDS, Kind
from memory.admin.items import (
    Choice,
    ItemAdmin,
    ItemKind,
    Place,
    Shown,
    item_url,
    most_of,
    register,
)
from memory.admin.memory_changes import viewer_of
from memory.admin.settlements import aligned_excerpts, marked
from memory.admin.sides import Side, sides_of
from memory.domain.audience import Viewer
from memory.satellites.consent.deciding import (
    approve_request,
    effects_of,
    reject_request,
    snooze_request,
    undo_decision,
)
from memory.satellites.consent.models import ConsentRequest
from memory.satellites.consent.proposals import independent_signals, signals_of
from memory.selectors.contradictions import days_since, retrieved
from memory.understanding.tools import default_tools
from teams.admin.display import (
    NOTHING,
    actor_words,
    cell,
    excerpt,
    label_column,
    page_of_row,
    time_column,
    with_names,
)
from teams.admin.filters import DaysFilter, OpenFirstFilter
from teams.admin.theme import ChoiceFilter, RelatedFilter, TextFilter, display
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


class ConsentRequests(ItemKind[ConsentRequest]):
    """Proposed changes of what is known of a person, a project or an agent."""

    name = "consent"
    title = "Consent requests"
    search = (
        *("content", "field", "present__content", "heard_by__name"),
        *("end_user__external_id", "end_user__display_name"),
    )
    only: ClassVar[Q] = ~Q(kind=_Kind.TEAM_FACT)

    def rows(self) -> QuerySet[ConsentRequest]:
        return ConsentRequest.objects.filter(self.only).select_related(*_NAMED)

    def waiting(self, now: datetime) -> Q:
        is_here = Q(snoozed_until=None) | Q(snoozed_until__lte=now)
        return Q(state=_State.WAITING, expires_at__gt=now) & is_here

    def left_for_later(self, now: datetime) -> Q:
        return Q(state=_State.WAITING, expires_at__gt=now, snoozed_until__gt=now)

    def places(self, rows: QuerySet[ConsentRequest]) -> Iterator[Place]:
        weight = days_since("created_at") * (Value(1.0) + F("uses"))
        weighed = rows.annotate(uses=retrieved("present_id")).annotate(weight=weight)
        for pk, days in most_of(weighed.order_by("-weight").values_list("pk", "weight")):
            yield Place(days, str(pk), days, pk)

    def choices(self, row: ConsentRequest) -> Sequence[Choice]:
        return _CHOICES

    def named(self, row: ConsentRequest) -> str:
        return f"{_matter(row)}: “{excerpt(row.content, 60)}”"

    def line(self, row: ConsentRequest) -> SafeString:
        now = row.present.content if row.present else ""
        one, other = aligned_excerpts(now, row.content, length=_CHARS)
        before = format_html("<span>{}</span>", marked(one, other)) if now else ""
        after = marked(other, one) if now else other
        return format_html("<span><b>{}</b></span>{}<span>→ {}</span>", _matter(row), before, after)

    def since(self, row: ConsentRequest) -> datetime:
        return row.created_at

    def effect(self, row: ConsentRequest, choice: str) -> SafeString | str:
        if choice == "reject":
            return f"{self.named(row)} is not stored."
        changed = " ".join([f"“{row.content}” is stored.", *_effects(row)])
        return f"{_matter(row)}: {changed}"

    def shown(self, request: HttpRequest, row: ConsentRequest) -> Shown:
        known = row.present.content if row.present else ""
        now = [(f"Current {_field(row)}".strip(), row.present, marked(known, row.content))]
        sides, talks = sides_of(
            [each for each in now if each[1] is not None],  # type: ignore[misc]
            team_id=row.team_id,
            also={row.pk: row.source_message_ids},
        )
        if not sides:
            sides = [Side(f"Current {_field(row)}".strip(), _until_then(row))]
        proposed = Side(
            f"Proposed {_field(row)}" if _field(row) else f"Proposed for {_whom(row)}",
            marked(row.content, known) if known else row.content,
            talks[row.pk],
            len(row.source_message_ids),
            facts=_said(row),
            is_new=True,
        )
        is_own = row.proposed_by == viewer_of(request, row).actor
        beside = self._beside(row) if row.is_waiting else []
        return Shown(
            reason=f"{_matter(row)}. Proposed by {_proposer(row)}.",
            since=row.created_at,
            sides=[*sides, proposed],
            effects=[f"If you approve: {each}" for each in _effects(row)] if row.is_waiting else (),
            beside=[(self.named(each), item_url(self.name, each.pk)) for each in beside],
            settled=_settled(row),
            can_undo=row.state in (_State.APPROVED, _State.REJECTED) and not is_own,
            refusal="You proposed this change, so somebody else has to decide." if is_own else "",
        )

    def _beside(self, row: ConsentRequest) -> list[ConsentRequest]:
        if row.kind != _Kind.PROFILE_FIELD:
            return []
        others = self.rows().filter(
            team_id=row.team_id, end_user_id=row.end_user_id, field=row.field, state=_State.WAITING
        )
        return list(others.exclude(pk=row.pk).order_by("created_at"))

    def later_until(self, row: ConsentRequest) -> datetime | None:
        until = row.snoozed_until
        return until if row.is_waiting and until and until > timezone.now() else None

    def decided_by(self, row: ConsentRequest) -> str:
        return row.decided_by

    def decide(
        self, request: HttpRequest, row: ConsentRequest, *, choice: str, note: str, text: str
    ) -> str:
        viewer, now = viewer_of(request, row), timezone.now()
        # A yes embeds the text, for which no transaction should wait.
        with outside_staff_scope(request):
            if choice == "approve":
                tools = default_tools()
                approve_request(viewer=viewer, request_id=row.pk, tools=tools, now=now, note=note)
            else:
                reject_request(viewer=viewer, request_id=row.pk, now=now, note=note)
        return _told(row, is_yes=choice == "approve")

    def undo(self, viewer: Viewer, row: ConsentRequest, now: datetime) -> str:
        undo_decision(viewer=viewer, request_id=row.pk, now=now)
        return f"{self.named(row)} is waiting for a decision again."

    def leave(self, viewer: Viewer, row: ConsentRequest, until: datetime | None) -> None:
        snooze_request(viewer=viewer, request_id=row.pk, until=until, now=timezone.now())


class TeamFacts(ConsentRequests):
    """Statements of several people that would become facts of the team."""

    name = "team-fact"
    title = "Team facts"
    only = Q(kind=_Kind.TEAM_FACT)


_CONSENT, _FACTS = ConsentRequests(), TeamFacts()
register(_CONSENT)
register(_FACTS)


def _kind_of(row: ConsentRequest) -> ConsentRequests:
    return _FACTS if row.kind == _Kind.TEAM_FACT else _CONSENT


def _field(row: ConsentRequest) -> str:
    return "" if row.kind == _Kind.WORKFLOW else row.field.replace("_", " ").replace(".", ", ")


def _whom(row: ConsentRequest) -> str:
    return "an agent" if row.kind == _Kind.WORKFLOW else "the whole team"


def _matter(row: ConsentRequest) -> str:
    """Returns what the request is about: "City of sarah", "Preference for the whole team"."""
    if row.kind == _Kind.TEAM_FACT:
        return f"Fact for the whole team, stated by {row.people} people"
    if row.kind == _Kind.TEAM_PREFERENCE:
        of = f", said by {row.end_user}" if row.end_user else ""
        return f"Preference for the whole team{of}"
    if row.kind == _Kind.WORKFLOW:
        return "Workflow of an agent"
    field = _field(row)
    return f"{field[:1].upper()}{field[1:]} of {row.end_user}"


def _until_then(row: ConsentRequest) -> str:
    if row.kind == _Kind.TEAM_FACT:
        return f"Each of the {row.people} people has their own."
    if row.kind == _Kind.TEAM_PREFERENCE:
        return f"Used only for {row.end_user or 'the project'}."
    return "Nothing is known yet."


def _said(row: ConsentRequest) -> str:
    signals = independent_signals(signals_of(row))
    said = f"Said in {signals} conversations or on {signals} days."
    told = "Said in one conversation." if signals == 1 else said if signals else ""
    if row.is_waiting and not row.needs_person:
        told += " It is applied once it is said in a second conversation or on another day."
    expires = f"{timezone.localtime(row.expires_at):%Y-%m-%d %H:%M}"
    return f"{told} The request expires on {expires}.".strip() if row.is_waiting else told


def _effects(row: ConsentRequest) -> list[str]:
    """Returns what a yes replaces and keeps."""
    told = []
    for effect in effects_of(row):
        told.append(f"“{effect.memory.content}” is replaced.")
        told += [f"“{text}” is stored as a separate memory." for text in effect.kept]
    return told or ["Nothing is replaced."]


def _settled(row: ConsentRequest) -> str:
    if row.is_waiting or row.decided_at is None:
        return ""
    at = f"{timezone.localtime(row.decided_at):%Y-%m-%d %H:%M}"
    if row.state == _State.EXPIRED:
        return f"It expired on {at}: nobody decided within seven days."
    note = f" ({with_names(row.note)})" if row.note else ""
    return f"It is already {row.state}, by {_decider(row)} on {at}{note}."


def _decider(row: ConsentRequest) -> str:
    is_person = row.decided_by.startswith("talk:")
    return "the person, in a conversation" if is_person else actor_words(row.decided_by)


def _proposer(row: ConsentRequest) -> str:
    by = actor_words(row.proposed_by)
    return f"{by}, in a conversation with {row.heard_by.slug}" if row.heard_by else by


def _told(row: ConsentRequest, *, is_yes: bool) -> str:
    text = f"“{excerpt(row.content)}”"
    if not is_yes:
        return f"Rejected: {text} was not stored."
    if row.kind in (_Kind.TEAM_PREFERENCE, _Kind.TEAM_FACT):
        return f"Approved: {text} now applies to the whole team."
    if row.kind == _Kind.WORKFLOW:
        return f"Approved: {text} is now a workflow."
    return f"Approved: {row.end_user}'s profile now says {text}"


# -- the list --------------------------------------------------------------------------------


class StateFilter(OpenFirstFilter):
    """Decided ones first."""

    title = "state"
    parameter_name = "state"
    states = {
        "decided": ("Decided", ~Q(state=_State.WAITING)),
        **{name: (title, Q(state=name)) for name, title in _State.choices},
        "all": ("All", Q()),
    }


class PersonFilter(TextFilter):
    """By the external id of the person."""

    title = "person"
    parameter_name = "user"

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:  # Any: as in Django
        """The requests about this person."""
        typed = (self.value() or "").replace("\x00", "").strip()
        return queryset.filter(end_user__external_id=typed) if typed else queryset


@admin.register(ConsentRequest)
class ConsentRequestAdmin(ItemAdmin[ConsentRequest]):
    """All requests, decided ones first; each leads to its page in the inbox."""

    list_display = ["change", "proposer", "created", "state_label", "decider", "team"]
    list_filter = [
        StateFilter,
        PersonFilter,
        ("team", RelatedFilter),
        ("kind", ChoiceFilter),
        ("created_at", DaysFilter),
    ]
    list_select_related = ["team", "end_user", "present", "heard_by"]
    ordering = ["-created_at"]
    when_empty = "Nothing has been decided yet. What waits is in the inbox."
    search_fields = ["content", "field", "end_user__external_id", "end_user__display_name"]
    state_label = label_column("state", "state", _STATE_COLOURS)
    created = time_column("created_at", "proposed")

    def item_kind(self, row: ConsentRequest) -> str:
        return _kind_of(row).name

    @display(description="current → proposed", ordering="field")
    def change(self, row: ConsentRequest) -> str:
        """The field, what it says now and what is proposed."""
        now = excerpt(row.present.content, _CHARS) if row.present else NOTHING
        new = excerpt(row.content, _CHARS)
        return cell(format_html("<strong>{}</strong>: {} → {}", _matter(row), now, new))

    @display(description="proposed by", ordering="proposed_by")
    def proposer(self, row: ConsentRequest) -> str:
        """The proposer, and the agent of the talk."""
        return _proposer(row)

    @display(description="decided by", ordering="decided_by")
    def decider(self, row: ConsentRequest) -> str:
        """The reviewer who decided it."""
        return _decider(row)


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


def _waiting(kind: ConsentRequests) -> QuerySet[ConsentRequest]:
    return kind.rows().filter(kind.waiting(timezone.now()))


SOURCES.append(_requests_lately)
KINDS += [
    Kind(
        kind.title,
        "inbox",
        f"kind={kind.name}",
        partial(_waiting, kind),
        "created_at",
        order=2,
        badge="warning",
        subjects={"end_user": ["end_user"], "agent": ["agent", "heard_by"]},
        name=kind.named,
    )
    for kind in (_CONSENT, _FACTS)
]
