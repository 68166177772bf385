"""The team that a login of several works in: chosen once, and kept in its session."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme

from teams.admin_permissions import CHOSEN_TEAM
from teams.models import Team

_ALL = "All teams"


def shown_choice(request: HttpRequest) -> dict[str, Any]:  # Any: a template's context
    """Returns the name of the chosen team for the menu; nothing for a login of one team."""
    scope = getattr(request, "staff_scope", None)
    if scope is None or len(scope.own_ids) < 2:
        return {}
    return {"team_choice": str(scope.team) if scope.team else _ALL}


def choose_team(request: HttpRequest) -> HttpResponse:
    """The teams of the login; a POST of one's id, or of none for all, leads to its Home.

    With `next`, an address in the admin, it leads there.
    """
    scope: Any = request.staff_scope  # type: ignore[attr-defined]  # the middleware's
    if request.method != "POST":
        with scope.of_all():
            teams = [(str(pk), name) for pk, name in Team.objects.values_list("pk", "name")]
        context = {
            **admin.site.each_context(request),
            "title": "Choose a team",
            "choices": [
                (value, name, value == str(scope.team.pk if scope.team else ""))
                for value, name in [("", _ALL), *teams]
            ],
        }
        return TemplateResponse(request, "admin/teams/choose_team.html", context)
    chosen = request.POST.get("team", "")
    if chosen and chosen not in map(str, scope.own_ids):
        raise Http404
    request.session[CHOSEN_TEAM] = chosen
    home, to = reverse("admin:index"), request.POST.get("next", "")
    is_ours = to.startswith(home) and url_has_allowed_host_and_scheme(to, allowed_hosts=None)
    return HttpResponseRedirect(to if is_ours else home)
