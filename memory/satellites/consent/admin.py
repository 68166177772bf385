"""Consent requests: the list opens on those that wait, the oldest first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any, ClassVar
from uuid import UUID

from django.contrib import admin, messages
from django.contrib.admin.options import IncorrectLookupParameters
from django.core.exceptions import PermissionDenied
from django.db.models import Q
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBadRequest,
    HttpResponseRedirect,
    QueryDict,
)
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.timesince import timesince
from django.views.decorators.http import require_POST

from memory.admin.feed import OF_EACH, SOURCES, Happening
from memory.admin.home import KINDS, Kind
from memory.admin.settlements import marked
from memory.domain.audience import Viewer
from memory.satellites.consent.deciding import (
    MAX_NOTE,
    approve_request,
    effects_of,
    reject_request,
    undo_decision,
)
from memory.satellites.consent.models import ConsentRequest
from memory.satellites.consent.proposals import independent_signals, signals_of
from memory.understanding.tools import default_tools
from teams.admin.base import TeamAdmin, section
from teams.admin.conversations import quotes_of
from teams.admin.display import (
    NOTHING,
    actor_words,
    cell,
    excerpt,
    id_column,
    label_column,
    page_of,
    page_of_row,
    time_column,
    with_names,
)
from teams.admin.filters import DaysFilter, OpenFirstFilter
from teams.admin.theme import ChoiceFilter, RelatedFilter, TextFilter, display
from teams.errors import DomainError
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
_CHANGE_CHARS = 90
_MAX_QUOTES = 6
_FILTERS = "_changelist_filters"


class StateFilter(OpenFirstFilter):
    """Those that wait first."""

    title = "state"
    parameter_name = "state"
    states = {
        **{name: (title, Q(state=name)) for name, title in _State.choices},
        "all": ("All", Q()),
    }


class PersonFilter(TextFilter):
    """By the external id of the person."""

    title = "person"
    parameter_name = "user"

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:  # Any: as in Django
        """The requests about this person."""
        typed = (self.value() or "").strip()
        return queryset.filter(end_user__external_id=typed) if typed else queryset


@admin.register(ConsentRequest)
class ConsentRequestAdmin(TeamAdmin[ConsentRequest]):
    """Proposed changes of what is known of a person, decided by one click each."""

    list_display = ["change", "person", "proposer", "age", "state_label", "team"]
    list_filter = [
        StateFilter,
        PersonFilter,
        ("team", RelatedFilter),
        ("kind", ChoiceFilter),
        ("created_at", DaysFilter),
    ]
    list_select_related = ["team", "end_user", "present", "heard_by"]
    ordering = ["created_at"]
    when_empty = "No requests are waiting. Use the filter “State” to see past decisions."
    search_fields = ["content", "field", "end_user__external_id", "end_user__display_name"]
    state_label = label_column("state", "state", _STATE_COLOURS)
    proposed = time_column("created_at", "proposed")
    expires = time_column("expires_at", "expires")
    decided = time_column("decided_at", "decided")
    written = id_column("memory_id", "memory_memory", "written as")

    class Media:
        css: ClassVar[dict[str, list[str]]] = {"all": ["memory/admin/consent.css"]}

    def get_fieldsets(self, request: HttpRequest, obj: ConsentRequest | None = None) -> Any:
        """Returns the question and its deadline; of a decided one, by whom and with what result."""
        asked = section("Request", ("kind", "state"), ("proposed", "expires"), "team")
        if obj is None or obj.is_waiting:
            return [asked]
        return [section("Decision", ("decider", "decided"), ("note", "written")), asked]

    def get_urls(self) -> list[URLPattern]:
        """The pages of a model, and where a decision is sent."""
        decide = require_POST(self.admin_site.admin_view(self.decide))
        own = path("<uuid:object_id>/decide/", decide, name="consent_consentrequest_decide")
        return [own, *super().get_urls()]

    def page_context(self, request: HttpRequest, object_id: str) -> dict[str, Any]:
        """Returns the facts to decide by, and the address to which the decision is sent."""
        row = self.get_object(request, object_id)
        if row is None:
            return {}
        is_own = row.proposed_by == _viewer(request, row).actor
        may_act = self.has_act_permission(request, row)
        filters = request.GET.get(_FILTERS, "")
        decide = reverse("admin:consent_consentrequest_decide", args=[row.pk])
        return {
            "title": "Consent request",
            "asked": _asked(row),
            "may_decide": row.is_waiting and may_act,
            "may_undo": row.state in (_State.APPROVED, _State.REJECTED) and may_act and not is_own,
            "is_own": is_own,
            "decide_url": _with_filters(decide, filters),
            "next_url": self._next(request, row, filters),
            "max_note": MAX_NOTE,
        }

    def decide(self, request: HttpRequest, object_id: UUID) -> HttpResponse:
        """Approve or reject the request and show the next one of the same list, or undo that."""
        row = self.get_object(request, str(object_id))
        if row is None:
            raise Http404
        if not self.has_act_permission(request, row):
            raise PermissionDenied
        decision = request.POST.get("decision")
        if decision not in ("approve", "reject", "undo"):
            return HttpResponseBadRequest("Send a decision: approve, reject or undo.")
        given: dict[str, Any] = {  # Any: of a service's own types
            "viewer": _viewer(request, row),
            "request_id": row.pk,
            "now": timezone.now(),
            "note": request.POST.get("note", "").strip()[:MAX_NOTE],
        }
        filters = request.GET.get(_FILTERS, "")
        following = self._next(request, row, filters)
        page = _with_filters(page_of("consent_consentrequest", row.pk), filters)
        try:
            # A yes embeds the text, for which no transaction should wait.
            with outside_staff_scope(request):
                if decision == "approve":
                    approve_request(**given, tools=default_tools())
                elif decision == "reject":
                    reject_request(**given)
                else:
                    undo_decision(**given)
        except DomainError as error:
            messages.warning(request, with_names(error.message))
            return HttpResponseRedirect(page)
        if decision == "undo":
            messages.success(request, "Undone. The request is waiting for a decision again.")
            return HttpResponseRedirect(page)
        messages.success(request, _told(row, is_yes=decision == "approve"))
        return HttpResponseRedirect(following or reverse("admin:consent_consentrequest_changelist"))

    def _next(self, request: HttpRequest, row: ConsentRequest, filters: str) -> str:
        """The page of the one that waits after it in the list one came from, or of the first."""
        asked = copy(request)
        asked.GET = QueryDict(filters)
        try:
            rows = self.get_changelist_instance(asked).get_queryset(asked)
        except IncorrectLookupParameters:
            rows = self.get_queryset(request)
        rows = rows.filter(state=_State.WAITING).exclude(pk=row.pk).order_by("created_at", "pk")
        found = rows.filter(created_at__gte=row.created_at).first() or rows.first()
        if found is None:
            return ""
        return _with_filters(page_of("consent_consentrequest", found.pk), filters)

    @display(description="current → proposed", ordering="field")
    def change(self, row: ConsentRequest) -> str:
        """The field, what it says now and what is proposed."""
        now = excerpt(row.present.content, _CHANGE_CHARS) if row.present else NOTHING
        new = excerpt(row.content, _CHANGE_CHARS)
        field = _field_words(row) or "for the whole team"
        return cell(format_html("<strong>{}</strong>: {} → {}", field, now, new))

    @display(description="person", ordering="end_user__external_id")
    def person(self, row: ConsentRequest) -> str:
        """Returns the person whose profile it is."""
        return _whose(row)

    @display(description="proposed by", ordering="proposed_by")
    def proposer(self, row: ConsentRequest) -> str:
        """Who proposed it, and in talk with which agent."""
        return _proposer(row)

    @display(description="decided by")
    def decider(self, row: ConsentRequest) -> str:
        """Who decided it."""
        is_person = row.decided_by.startswith("talk:")
        return "the person, in a conversation" if is_person else actor_words(row.decided_by)

    @display(description="age", ordering="created_at")
    def age(self, row: ConsentRequest) -> str:
        """Returns the time since the proposal."""
        return timesince(row.created_at, depth=1)


def _asked(row: ConsentRequest) -> dict[str, Any]:  # Any: a template's context
    """Both values with the words that differ marked, what a yes changes, and the last messages."""
    ids = row.source_message_ids[-_MAX_QUOTES:]
    known = row.present.content if row.present else ""
    return {
        "field": _field_words(row),
        "present": marked(known, row.content) if known else "",
        "proposed": marked(row.content, known) if known else row.content,
        "sources": quotes_of(ids, team_id=row.team_id),
        "left_out": len(row.source_message_ids) - len(ids),
        "signals": independent_signals(signals_of(row)),
        "proposer": _proposer(row),
        "needs_person": row.needs_person,
        "whose": _whose(row),
        "people": row.people,
        "effects": effects_of(row) if row.is_waiting else [],
    }


def _viewer(request: HttpRequest, row: ConsentRequest) -> Viewer:
    return Viewer(team_id=row.team_id, actor=f"staff:{request.user.get_username()}")


def _whose(row: ConsentRequest) -> str:
    if row.kind == _Kind.TEAM_FACT:
        return f"{row.people} people, who each said it"
    owner = "an agent" if row.kind == _Kind.WORKFLOW else "a project"
    return str(row.end_user or owner)


def _proposer(row: ConsentRequest) -> str:
    by = actor_words(row.proposed_by)
    return f"{by}, in a conversation with {row.heard_by.slug}" if row.heard_by else by


def _with_filters(address: str, filters: str) -> str:
    if not filters:
        return address
    query = QueryDict(mutable=True)
    query[_FILTERS] = filters
    return f"{address}?{query.urlencode()}"


def _field_words(row: ConsentRequest) -> str:
    return row.field.replace("_", " ").replace(".", ", ")


def _told(row: ConsentRequest, *, is_yes: bool) -> str:
    if not is_yes:
        return f"Rejected: “{excerpt(row.content)}” was not stored."
    if row.kind in (_Kind.TEAM_PREFERENCE, _Kind.TEAM_FACT):
        return f"Approved: “{excerpt(row.content)}” now applies to the whole team."
    if row.kind == _Kind.WORKFLOW:
        return f"Approved: “{excerpt(row.content)}” is now a workflow."
    return f"Approved: {row.end_user}'s profile now says “{excerpt(row.content)}”"


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
KINDS.append(
    Kind(
        "Consent requests",
        "consent_consentrequest",
        "state=waiting",
        lambda: ConsentRequest.objects.filter(state=_State.WAITING),
        "created_at",
        order=2,
        badge="warning",
        subjects={"end_user": ["end_user"], "agent": ["agent", "heard_by"]},
        name=lambda row: f"{_field_words(row) or 'fact'}: {excerpt(row.content)}",
    )
)
