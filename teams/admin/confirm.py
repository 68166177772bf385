"""Actions of the admin: check the role, ask first, call one service a row, report the counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic
from uuid import UUID

from django.contrib import messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from teams.admin_permissions import REVIEWERS, Roles, may
from teams.errors import DomainError

from .theme import Row, ThemedAdmin

MAX_ROWS = 200
MAX_REASON = 500
_TEMPLATE = "admin/confirm_change.html"


@dataclass(frozen=True, slots=True)
class Change(Generic[Row]):
    """What an action does to one row: `apply` gets the request, the row and the typed reason.

    `apply` raises a DomainError where the row cannot be changed.
    """

    verb: str
    done: str
    explanation: str
    apply: Callable[[HttpRequest, Row, str], object]
    roles: Roles = REVIEWERS
    asks_reason: bool = False


def confirm_and_run(
    model_admin: ThemedAdmin[Row],
    request: HttpRequest,
    rows: QuerySet[Row],
    change: Change[Row],
) -> HttpResponse | None:
    """The page that asks; once it was answered the change is made and None returned.

    Rows of teams in which the login lacks the role are left alone and counted.
    """
    found = list(rows.select_related("team")[: MAX_ROWS + 1])
    if len(found) > MAX_ROWS:
        messages.error(request, f"Choose {MAX_ROWS} rows or fewer; nothing was changed.")
        return None
    allowed = [row for row in found if may(request, roles=change.roles, team_id=_team_id(row))]
    refused = [row for row in found if row not in allowed]
    if request.method != "POST" or request.POST.get("confirmed") != "yes":
        return _ask(model_admin, request, change, allowed, refused)
    _run(model_admin, request, change, allowed, refused)
    return None


def _ask(
    model_admin: ThemedAdmin[Row],
    request: HttpRequest,
    change: Change[Row],
    allowed: list[Row],
    refused: list[Row],
) -> HttpResponse:
    context: dict[str, Any] = {  # Any: a template's context
        **model_admin.admin_site.each_context(request),
        "title": f"{change.verb}: are you sure?",
        "opts": model_admin.opts,
        "change": change,
        "allowed": allowed,
        "refused": refused,
        "action": request.POST.get("action", ""),
        "checkbox_name": ACTION_CHECKBOX_NAME,
        "max_reason": MAX_REASON,
    }
    return TemplateResponse(request, _TEMPLATE, context)


def _run(
    model_admin: ThemedAdmin[Row],
    request: HttpRequest,
    change: Change[Row],
    allowed: list[Row],
    refused: list[Row],
) -> None:
    reason = request.POST.get("reason", "").strip()[:MAX_REASON]
    problems: Counter[str] = Counter()
    done = 0
    for row in allowed:
        try:
            change.apply(request, row, reason)
        except DomainError as error:
            problems[error.message] += 1
        else:
            done += 1
    if refused:
        problems["Your role in the team does not allow it."] += len(refused)
    if done:
        messages.success(request, f"{_counted(model_admin, done)} {change.done}.")
    for problem, count in problems.items():
        messages.warning(request, f"{_counted(model_admin, count)} left as before: {problem}")


def _counted(model_admin: ThemedAdmin[Row], count: int) -> str:
    opts = model_admin.opts
    return f"{count} {opts.verbose_name if count == 1 else opts.verbose_name_plural}"


def _team_id(row: Row) -> UUID:
    team_id: UUID = row.team_id  # type: ignore[attr-defined]  # every row here is a team's
    return team_id
