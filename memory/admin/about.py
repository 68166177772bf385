"""The page of a person, an agent or a project: known, waiting, said, spent, and its versions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby
from operator import attrgetter
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import OuterRef, Q, QuerySet, Subquery, Sum
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone

from audit.models import MemoryLog
from audit.services.erasure import erase_user, plan_erasure
from memory.domain.types import MemoryType, Status
from memory.models import Memory
from memory.models.memory import SINCE_EVER
from routing.domain.budgets import CapKind
from routing.models import SpendTotal
from teams.admin.display import actor_words, page_of, page_of_row
from teams.admin.teams import versions_table
from teams.admin_permissions import ADMINS, MEMBERS, may
from teams.errors import DomainError
from teams.middleware import outside_staff_scope
from teams.models import Agent, Conversation, EndUser, Message, Project
from teams.services.agents import versions_of

from .home import KINDS
from .memory_list import status_words
from .projects import TypedNameForm, typed_name_page

# Any in this module: a template's context, and rows of each kind.
_PER_PAGE = 25
_MOST_TALKS = 8
_MOST_WAITING = 5
_MOST_VALUES = 60
_SPEND_DAYS = 30


@dataclass(frozen=True, slots=True)
class Action:
    """A button of the page."""

    title: str
    url: str
    icon: str


# By the kind in the address: the model, and the field of memories and talk that names it.
_SUBJECTS: dict[str, tuple[type[Any], str]] = {
    "person": (EndUser, "end_user"),
    "agent": (Agent, "agent"),
    "project": (Project, "project"),
}


def _own_actions(request: HttpRequest, row: Any) -> list[Action]:
    model = row._meta.label_lower.replace(".", "_")
    actions = [Action("Settings", page_of(model, row.pk), "tune")]
    if may(request, roles=ADMINS, team_id=row.team_id):
        if isinstance(row, Project):
            clear = reverse("admin:teams_project_clear_this", args=[row.pk])
            actions.append(Action("Clear", clear, "delete_sweep"))
        if isinstance(row, EndUser) and not row.is_erased:
            erase = reverse("erase_person", args=[row.pk])
            actions.append(Action("Erase", erase, "person_remove"))
    return actions


# Each returns the buttons for a row that the login may see; a satellite adds its own.
ACTIONS: list[Callable[[HttpRequest, Any], list[Action]]] = [_own_actions]


def about(request: HttpRequest, kind: str, pk: UUID) -> HttpResponse:
    """Shows what the system knows of a person, an agent or a project."""
    row, field = _row(request, kind, pk)
    known = Memory.objects.live().filter(
        team_id=row.team_id, created_at__gt=SINCE_EVER, **{f"{field}_id": pk}
    )
    known = known.select_related("agent", "end_user", "project").order_by("-created_at")
    memories = Paginator(known, _PER_PAGE).get_page(request.GET.get("page"))
    narrowed = {f"{field}__id__exact": pk}
    context = {
        **admin.site.each_context(request),
        "title": getattr(row, "name", "") or str(row),
        # The menu's entry and the list of such rows, in the heading.
        "opts": row._meta,
        "original": row,
        "kind": kind,
        "row": row,
        "actions": [action for of in ACTIONS for action in of(request, row)],
        "memories": [(memory, _marks(memory, kind)) for memory in memories],
        "page": memories,
        "memories_url": _list("memory_memory", **narrowed),
        "past_url": _list("memory_memory", standing="gone", **narrowed),
        "waiting": _waiting(field, pk),
        "talks": _talks(row, field),
        "talks_url": _list("teams_conversation", **narrowed),
        "spent": _spent(row, kind),
        "profile": _profile(row) if kind == "person" else [],
        "versions": versions_table(versions_of(agent=row)) if kind == "agent" else "",
    }
    return TemplateResponse(request, "admin/memory/about/page.html", context)


def erase_person(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Makes all that is stored of a person unreadable, once the external id is typed."""
    row, _ = _row(request, "person", pk)
    if not may(request, roles=ADMINS, team_id=row.team_id):
        raise PermissionDenied
    form = TypedNameForm(request.POST or None)
    given = {
        "team_id": row.team_id,
        "external_id": row.external_id,
        "actor": f"staff:{request.user.get_username()}",
    }
    try:
        plan = plan_erasure(**given)
        if form.is_valid() and form.matches(row.external_id):
            with outside_staff_scope(request):
                erase_user(**given, reason=form.cleaned_data["reason"])
            messages.success(request, "The person was erased.")
            return HttpResponseRedirect(page_of_row(row))
    except DomainError as error:
        messages.error(request, error.message)
        return HttpResponseRedirect(page_of_row(row))
    return typed_name_page(
        request,
        form,
        title="Erase person",
        name=row.external_id,
        back=page_of_row(row),
        question=f"Erase everything stored about {row} of {row.team}?",
        effect=f"This makes {plan.memories:,} memories and {plan.messages:,} messages in"
        f" {plan.conversations:,} conversations permanently unreadable, with {plan.checkpoints:,}"
        f" checkpoints and {plan.items:,} task items. It cannot be undone. Other memories that"
        f" quote this person only in part are kept: {len(plan.kept):,}. The reason is stored in"
        " the log, so do not write a name in it.",
    )


def _row(request: HttpRequest, kind: str, pk: UUID) -> tuple[Any, str]:
    if kind not in _SUBJECTS:
        raise Http404
    model, field = _SUBJECTS[kind]
    row = model._default_manager.select_related("team").filter(pk=pk).first()
    if row is None or not may(request, roles=MEMBERS, team_id=row.team_id):
        raise Http404
    return row, field


def _list(name: str, **query: object) -> str:
    return f"{reverse(f'admin:{name}_changelist')}?{urlencode(query)}"


def _marks(memory: Memory, kind: str) -> list[str]:
    """The remarks on a memory that its text and its page's subject leave open."""
    is_private = memory.memory_type == MemoryType.AGENT_PRIVATE
    about_others = {
        "person": memory.end_user and f"about {memory.end_user}",
        "agent": memory.agent and f"{'private to' if is_private else 'by'} {memory.agent.slug}",
        "project": memory.project and f"project {memory.project}",
    }
    marks = [words for other, words in about_others.items() if words and other != kind]
    if is_private and kind == "agent":
        marks.insert(0, "private")
    return [*marks, *(["pinned"] if memory.is_pinned else [])]


def _waiting(field: str, pk: UUID) -> list[tuple[str, int, list[tuple[str, str]]]]:
    """The kinds of open work about the subject, with their numbers and the oldest of each."""
    found = []
    for kind in sorted(KINDS, key=attrgetter("order")):
        lookups = kind.subjects.get(field)
        if not lookups:
            continue
        rows = kind.rows().filter(Q(*((each, pk) for each in lookups), _connector=Q.OR))
        rows = rows.order_by(kind.began)
        if count := rows.count():
            shown = [(kind.name(row), kind.url(row)) for row in rows[:_MOST_WAITING]]
            found.append((kind.title, count, shown))
    return found


def _talks(row: Any, field: str) -> QuerySet[Conversation]:
    said = Message.objects.filter(team_id=row.team_id, conversation=OuterRef("pk"))
    talks = Conversation.objects.filter(team_id=row.team_id, **{f"{field}_id": row.pk})
    return (
        talks.select_related("agent", "end_user", "project")
        .annotate(
            first_words=Subquery(said.order_by("position").values("content")[:1]),
            last_at=Subquery(said.order_by("-position").values("created_at")[:1]),
        )
        .order_by("-created_at")[:_MOST_TALKS]
    )


def _spent(row: Any, kind: str) -> dict[str, Any] | None:
    """Sums the costs of a person or an agent over the last 30 days; nothing counts a project's."""
    if kind == "project":
        return None
    cap, field = (
        (CapKind.USER_DAY, "end_user_id") if kind == "person" else (CapKind.AGENT_DAY, "agent_id")
    )
    since = timezone.localdate() - timedelta(days=_SPEND_DAYS - 1)
    days = SpendTotal.objects.filter(
        team_id=row.team_id, kind=cap.value, begins_on__gte=since, **{field: row.pk}
    )
    name = row.external_id if kind == "person" else row.slug
    sums = days.aggregate(usd=Sum("spent_usd", default=0), calls=Sum("calls", default=0))
    return {**sums, "days": _SPEND_DAYS, "url": _list("routing_spendtotal", q=name)}


def _profile(person: EndUser) -> list[tuple[str, list[tuple[Memory, str, str]]]]:
    """The fields of the profile, each with all its values, the newest first."""
    # The log finds past memories as well, by an index.
    own = MemoryLog.objects.filter(team_id=person.team_id, new_end_user_id=person.pk)
    rows = (
        Memory.objects.filter(
            Q(memory_type=MemoryType.USER_PROFILE) | Q(subject__startswith="user.profile."),
            team_id=person.team_id,
            end_user_id=person.pk,
            pk__in=own.values("memory_id"),
        )
        .exclude(Q(status=Status.PURGED.value) | Q(subject=""))
        .order_by("subject", "-created_at", "-pk")[:_MOST_VALUES]
    )
    return [
        (
            subject.removeprefix("user.").removeprefix("profile.").replace("_", " "),
            [(value, status_words(value.status), actor_words(value.actor)) for value in values],
        )
        for subject, values in groupby(rows, key=attrgetter("subject"))
    ]
