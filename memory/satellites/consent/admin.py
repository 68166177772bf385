"""Consent requests: the list opens on those that wait, the oldest first."""

from __future__ import annotations

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

import memory.satellites.consent.home  # noqa: F401 - registers
from memory.domain.audience import Viewer
from memory.satellites.consent.admin_page import actor_words, page_of_request, whose
from memory.satellites.consent.deciding import (
    MAX_NOTE,
    approve_request,
    reject_request,
    undo_decision,
)
from memory.satellites.consent.models import ConsentRequest
from memory.understanding.tools import default_tools
from teams.admin.base import TeamAdmin, section
from teams.admin.display import NOTHING, cell, excerpt, id_link, label_column, page_of, time_column
from teams.admin.filters import DaysFilter, OpenFirstFilter
from teams.admin.theme import ChoiceFilter, RelatedFilter, TextFilter, display
from teams.errors import DomainError
from teams.middleware import outside_staff_scope

_STATE_COLOURS = {
    "waiting": "warning",
    "approved": "success",
    "rejected": "danger",
    "expired": "info",
}
_CHANGE_CHARS = 90
_UNDONE = (ConsentRequest.State.APPROVED, ConsentRequest.State.REJECTED)
_FILTERS = "_changelist_filters"


class StateFilter(OpenFirstFilter):
    """Those that wait first."""

    title = "state"
    parameter_name = "state"
    states = {
        **{name: (title, Q(state=name)) for name, title in ConsentRequest.State.choices},
        "all": ("All", Q()),
    }


class PersonFilter(TextFilter):
    """By the external id of the person."""

    title = "end user"
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
    when_empty = "Nothing waits for a yes. The filter “state” shows what was decided."
    search_fields = ["content", "field", "end_user__external_id", "end_user__display_name"]
    state_label = label_column("state", "state", _STATE_COLOURS)
    proposed = time_column("created_at", "proposed")
    expires = time_column("expires_at", "expires")
    decided = time_column("decided_at", "decided")

    class Media:
        css: ClassVar[dict[str, list[str]]] = {"all": ["memory/admin/consent.css"]}

    def get_fieldsets(self, request: HttpRequest, obj: ConsentRequest | None = None) -> Any:
        """What is asked and until when; of what was decided, by whom and what came of it."""
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
        """What is to be decided by, and where the decision goes."""
        row = self.get_object(request, object_id)
        if row is None:
            return {}
        actor = f"staff:{request.user.get_username()}"
        filters = request.GET.get(_FILTERS, "")
        decide = reverse("admin:consent_consentrequest_decide", args=[row.pk])
        return {
            "title": "Consent request",
            "asked": page_of_request(row),
            "may_decide": row.is_waiting and self.has_act_permission(request, row),
            "may_undo": row.state in _UNDONE
            and row.proposed_by != actor
            and self.has_act_permission(request, row),
            "is_own": row.proposed_by == actor,
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
        viewer = Viewer(team_id=row.team_id, actor=f"staff:{request.user.get_username()}")
        note = request.POST.get("note", "").strip()[:MAX_NOTE]
        filters = request.GET.get(_FILTERS, "")
        following = self._next(request, row, filters)
        now = timezone.now()
        decision = request.POST.get("decision")
        if decision not in ("approve", "reject", "undo"):
            return HttpResponseBadRequest("Send a decision: approve, reject or undo.")
        is_yes = decision == "approve"
        page = _with_filters(page_of("consent_consentrequest", row.pk), filters)
        try:
            # A yes embeds the text, for which no transaction should wait.
            with outside_staff_scope(request):
                if is_yes:
                    approve_request(
                        viewer=viewer,
                        request_id=row.pk,
                        tools=default_tools(),
                        now=now,
                        note=note,
                    )
                elif decision == "reject":
                    reject_request(viewer=viewer, request_id=row.pk, now=now, note=note)
                else:
                    undo_decision(viewer=viewer, request_id=row.pk, now=now, note=note)
        except DomainError as error:
            messages.warning(request, error.message)
            return HttpResponseRedirect(page)
        if decision == "undo":
            messages.success(request, "Undone: it waits for a decision again.")
            return HttpResponseRedirect(page)
        messages.success(request, _told(row, is_yes=is_yes))
        return HttpResponseRedirect(following or reverse("admin:consent_consentrequest_changelist"))

    def _next(self, request: HttpRequest, row: ConsentRequest, filters: str) -> str:
        """The page of the one that waits after it in the list one came from, or of the first."""
        asked = copy(request)
        asked.GET = QueryDict(filters)
        try:
            rows = self.get_changelist_instance(asked).get_queryset(asked)
        except IncorrectLookupParameters:
            rows = self.get_queryset(request)
        rows = rows.filter(state=ConsentRequest.State.WAITING).exclude(pk=row.pk)
        rows = rows.order_by("created_at", "pk")
        found = rows.filter(created_at__gte=row.created_at).first() or rows.first()
        if found is None:
            return ""
        return _with_filters(page_of("consent_consentrequest", found.pk), filters)

    @display(description="present → proposed", ordering="field")
    def change(self, row: ConsentRequest) -> str:
        """The field, what it says now and what is proposed."""
        now = excerpt(row.present.content, _CHANGE_CHARS) if row.present else NOTHING
        new = excerpt(row.content, _CHANGE_CHARS)
        return cell(format_html("<strong>{}</strong>: {} → {}", _field_words(row), now, new))

    @display(description="person", ordering="end_user__external_id")
    def person(self, row: ConsentRequest) -> str:
        """Whose profile it is."""
        return whose(row)

    @display(description="proposed by", ordering="proposed_by")
    def proposer(self, row: ConsentRequest) -> str:
        """Who proposed it, and in talk with which agent."""
        return actor_words(row.proposed_by, agent=row.heard_by)

    @display(description="decided by")
    def decider(self, row: ConsentRequest) -> str:
        """Who decided it."""
        return actor_words(row.decided_by) or NOTHING

    @display(description="written as")
    def written(self, row: ConsentRequest) -> str:
        """The memory that a yes wrote."""
        return id_link("memory_memory", row.memory_id)

    @display(description="age", ordering="created_at")
    def age(self, row: ConsentRequest) -> str:
        """How long ago it was proposed."""
        return timesince(row.created_at, depth=1)


def _with_filters(address: str, filters: str) -> str:
    if not filters:
        return address
    query = QueryDict(mutable=True)
    query[_FILTERS] = filters
    return f"{address}?{query.urlencode()}"


def _field_words(row: ConsentRequest) -> str:
    return row.field.replace("_", " ").replace(".", ", ") or "for the whole team"


def _told(row: ConsentRequest, *, is_yes: bool) -> str:
    if not is_yes:
        return f"Rejected: “{excerpt(row.content)}” is not stored."
    if row.kind in (ConsentRequest.Kind.TEAM_PREFERENCE, ConsentRequest.Kind.TEAM_FACT):
        return f"Approved: everybody in the team may be told “{excerpt(row.content)}”"
    if row.kind == ConsentRequest.Kind.WORKFLOW:
        return f"Approved: “{excerpt(row.content)}” is a workflow now."
    return f"Approved: “{excerpt(row.content)}” is what {row.end_user}'s profile says now."
