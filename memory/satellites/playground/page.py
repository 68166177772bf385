"""The retrieval playground: a question tried as an agent of the team, and all that is behind it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import path
from django.utils import timezone

from memory.satellites.playground.form import PlaygroundForm
from memory.satellites.playground.outcomes import outcomes_context
from memory.satellites.playground.trying import Trial, try_question
from memory.understanding.tools import default_tools
from teams.admin_permissions import ADMINS, is_member, may, sees_several_teams
from teams.errors import Condition, DomainError, StaleError
from teams.middleware import outside_staff_scope
from teams.models import Team
from teams.services.agents import change_agent
from teams.services.team_settings import flags_of
from teams.tenancy import team_scope

TITLE = "Retrieval playground"
_PAGE = "admin/memory/playground/page.html"
_RESULT = "admin/memory/playground/result.html"
# A request with this header, which the page's script sends, is answered with the result alone.
RESULT_ALONE = "X-Playground-Result"
_REASON = "weights tried in the retrieval playground"


def playground_page(request: HttpRequest) -> HttpResponse:
    """Shows the form and the answer; a POST with `save` writes the agent's weights."""
    if not is_member(request):
        raise PermissionDenied
    team = _team(request)
    frame = {**admin.site.each_context(request), "title": TITLE}
    if team is None:
        if Team.objects.exists():
            raise Http404
        return TemplateResponse(request, _PAGE, frame)
    teams = Team.objects.order_by("name") if sees_several_teams(request) else None
    data = request.POST if request.method == "POST" else None
    form = PlaygroundForm(data, initial=request.GET.dict(), team=team, teams=teams)
    context: dict[str, Any] = {"form": form}
    if form.is_bound and form.is_valid():
        trial = form.trial()
        if "save" in request.POST:
            _save(request, form, trial)
        if trial.text.strip():
            context |= _answer(request, form, trial, team)
    if request.headers.get(RESULT_ALONE):
        return TemplateResponse(request, _RESULT, context)
    return TemplateResponse(request, _PAGE, frame | context)


def _team(request: HttpRequest) -> Team | None:
    rows = Team.objects.order_by("name")
    named = request.POST.get("team") or request.GET.get("team")
    if not named:
        return rows.first()
    with suppress(ValueError):
        return rows.filter(pk=UUID(named)).first()
    return None


def _answer(request: HttpRequest, form: PlaygroundForm, trial: Trial, team: Team) -> dict[str, Any]:
    """The result as the template shows it; a refusal stands in the form's errors."""
    flags = flags_of(team=team)
    try:
        with outside_staff_scope(request):
            tried = try_question(
                trial=trial,
                actor=_actor(request),
                flags=flags,
                tools=default_tools(),
                now=timezone.now(),
            )
    except DomainError as error:
        form.add_error(None, error.message)
        return {}
    may_save = may(request, roles=ADMINS, team_id=team.pk)
    result = {
        **outcomes_context(tried.outcomes, tried.weights),
        "prompt": tried.prompt,
        "sections": tried.sections,
        "stats": tried.stats,
        "steps": list(tried.stats.steps_ms.items()),
        "searched": [level.value for level in tried.stats.searched],
    }
    return {"result": result, "agent": trial.agent, "may_save": may_save}


def _save(request: HttpRequest, form: PlaygroundForm, trial: Trial) -> None:
    """Write the weights into the agent's document, unless somebody changed it since."""
    agent, loaded = trial.agent, form.cleaned_data["version"]
    if not may(request, roles=ADMINS, team_id=agent.team_id):
        raise PermissionDenied
    problem = ""
    if not trial.weights:
        problem = "Move a weight first: these are the agent's own."
    elif loaded is None:
        problem = "Nothing was saved. Ask again, then save."
    if problem:
        form.add_error(None, problem)
        return
    try:
        with team_scope(team_ids=[agent.team_id], actor=_actor(request), reason=_REASON):
            saved = change_agent(
                agent=agent,
                columns={"retrieval_weights": asdict(trial.weighing)},
                condition=Condition(versions=frozenset([loaded])),
            )
    except StaleError:
        form.add_error(
            None,
            f"Nothing was saved: somebody else has changed the agent since you asked (version"
            f" {loaded}; the latest is {agent.version}). Check the weights and save again.",
        )
        return
    agent.version = saved.version
    messages.success(request, f"Weights saved to {agent.name}.")


def _actor(request: HttpRequest) -> str:
    return f"staff:{request.user.get_username()}"


urlpatterns = [path("", admin.site.admin_view(playground_page), name="memory_playground")]
