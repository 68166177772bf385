"""Actions of the admin: check the role, ask first, call one service a row, report the counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic

from django.contrib import messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from teams.admin_permissions import REVIEWERS, Roles, may
from teams.errors import DomainError

from .base import TeamAdmin
from .display import page_of_row, with_names
from .theme import Row, action

MAX_ROWS = 200
MAX_NAMED = 5
MAX_REASON = 500

Apply = Callable[[HttpRequest, Row, str], str | None]


@dataclass(frozen=True, slots=True)
class Change(Generic[Row]):
    """An action on one row: `apply` gets the request, the row and the typed reason.

    `apply` raises a DomainError where the row cannot be changed, and may return a sentence about
    the result. `effect` describes what will happen to one row; with a `name`, unchanged rows are
    named as well as counted.
    """

    verb: str
    done: str
    explanation: str
    apply: Apply[Row]
    roles: Roles = REVIEWERS
    asks_reason: bool = False
    effect: Callable[[Row], str] = str
    name: Callable[[Row], str] | None = None


def confirm_and_run(
    model_admin: TeamAdmin[Row], request: HttpRequest, rows: QuerySet[Row], change: Change[Row]
) -> HttpResponse | None:
    """The confirmation page; once confirmed, makes the change and returns None.

    Rows of teams in which the login lacks the role are left unchanged and counted.
    """
    return confirm_rows(
        request,
        list(rows.select_related("team")[: MAX_ROWS + 1]),
        change,
        counted=partial(_counted, model_admin),
        page=partial(model_admin.own_page, request),
        action=request.POST.get("action", ""),
        checkbox=ACTION_CHECKBOX_NAME,
    )


def confirm_rows(
    request: HttpRequest,
    found: Sequence[Any],  # Any: rows of teams, or what stands for them
    change: Change[Any],
    *,
    counted: Callable[[int], str],
    page: Callable[..., HttpResponse],
    action: str,
    checkbox: str,
) -> HttpResponse | None:
    """As `confirm_and_run`, of rows of whatever kinds.

    `counted` names a number of them, `page` makes the page of a template, a title and a context,
    and the page sends their ids back as `checkbox` with the `action`.
    """
    if len(found) > MAX_ROWS:
        messages.error(request, f"Nothing was changed: select at most {MAX_ROWS} rows.")
        return None
    allowed = [row for row in found if may(request, roles=change.roles, team_id=row.team_id)]
    refused = [row for row in found if row not in allowed]
    if request.method == "POST" and request.POST.get("confirmed") == "yes":
        _run(counted, request, change, allowed, refused)
        return None
    return page(
        "admin/confirm_change.html",
        f"{change.verb}?",
        change=change,
        counted=counted(len(allowed)),
        allowed=[(row, change.effect(row)) for row in allowed],
        refused=[(row, (change.name or str)(row)) for row in refused],
        action=action,
        checkbox_name=checkbox,
        max_reason=MAX_REASON,
    )


# Any, in these two: what Django and the theme hand to actions of any model.


def list_action(
    name: str, change: Change[Any], title: str, *, rows_of: Callable[..., Any] | None = None
) -> Callable[..., Any]:
    """The action `name` of a list: the change to the chosen rows, as `rows_of` reads them."""

    def run(self: TeamAdmin[Any], request: HttpRequest, queryset: QuerySet[Any]) -> Any:
        rows = queryset if rows_of is None else rows_of(request, queryset)
        return confirm_and_run(self, request, rows, change)

    run.__name__ = name
    return action(description=title, permissions=["act"])(run)


def page_action(
    name: str,
    change: Change[Any],
    title: str,
    *,
    icon: str,
    lands: Callable[[str], str] | None = None,
) -> Callable[..., Any]:
    """The button `name` of a row's page, such as "pin_this": the change to that row.

    It leads to the row's page again, or to the address that `lands` gives for its id afterwards.
    """

    def run(self: TeamAdmin[Any], request: HttpRequest, object_id: str) -> HttpResponse:
        # The decorator lets in no id of another team's row.
        rows = self.model._default_manager.filter(pk=object_id)
        asked = confirm_and_run(self, request, rows, change)
        if asked is not None:
            return asked
        if lands:
            return HttpResponseRedirect(lands(object_id))
        row = rows.first()
        # A removed row has no page any more.
        removed = f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist"
        return HttpResponseRedirect(page_of_row(row) if row else reverse(removed))

    run.__name__ = name
    path = name.removesuffix("_this").replace("_", "-")
    return action(description=title, permissions=["act"], url_path=path, icon=icon)(run)


def _run(
    counted: Callable[[int], str],
    request: HttpRequest,
    change: Change[Any],
    allowed: list[Any],
    refused: list[Any],
) -> None:
    reason = request.POST.get("reason", "").strip()[:MAX_REASON]
    problems: dict[str, list[Any]] = {}
    done = 0
    sentences: list[str] = []
    for row in allowed:
        try:
            sentence = change.apply(request, row, reason)
        except DomainError as error:
            problems.setdefault(with_names(error.message), []).append(row)
        else:
            done += 1
            sentences += [sentence] if sentence else []
    if refused:
        problems["Your role in the team does not allow this."] = refused
    if done:
        more = len(sentences) - MAX_NAMED
        told = [*sentences[:MAX_NAMED], *([f"And {more} more."] if more > 0 else [])]
        messages.success(request, " ".join([f"{counted(done)} {change.done}.", *told]))
    for problem, rows in problems.items():
        left = f"{counted(len(rows))} not changed: {problem}"
        named = f" {listed([change.name(row) for row in rows])}" if change.name else ""
        messages.warning(request, left + named)
    if reason and not done:
        messages.info(request, f"Your reason was not stored: “{reason}”")


def listed(names: Sequence[str], most: int = MAX_NAMED) -> str:
    """The first `most` of some names, and how many more there are."""
    more = len(names) - most
    return "; ".join([*names[:most], f"and {more} more"] if more > 0 else names)


def _counted(model_admin: TeamAdmin[Row], count: int) -> str:
    opts = model_admin.opts
    return f"{count} {opts.verbose_name if count == 1 else opts.verbose_name_plural}"
