"""The prompt of an agent as its form stands, before anything is saved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.template.response import TemplateResponse
from django.utils import timezone

from memory.clients.token_counters import counter_for
from memory.domain.audience import Viewer
from memory.domain.packing import MINIMUM_BUDGET
from memory.reading.answers import own_weights
from memory.reading.ranking import Question
from memory.reading.retrieval import Read
from memory.reading.seven_layers import BuiltPrompt, LayerUse, build_prompt, prompt_without_memory
from memory.selectors.filters import NOBODY
from memory.understanding.tools import default_tools
from teams.middleware import outside_staff_scope
from teams.models import Agent, EndUser, Team
from teams.services.team_settings import default_flags

QUESTION, PERSON = "preview_question", "preview_person"
SAMPLE_QUESTION = "What do you know about me?"
# A script that shows the preview beside the form asks for the part alone.
_PART_HEADER = "X-Preview-Part"
_MOST_CHARS = 1_000
_PAGE, _PART = (f"admin/teams/agent/{name}.html" for name in ("preview_page", "preview"))


@dataclass(frozen=True, slots=True)
class Preview:
    """The prompt, or what keeps the form from having one, by the labels of its fields."""

    question: str
    built: BuiltPrompt | None = None
    problems: tuple[tuple[str, str], ...] = ()

    @property
    def layers(self) -> list[tuple[str, LayerUse]]:
        """The layers of the prompt, each with its title."""
        layers = self.built.layers if self.built is not None else ()
        return [(f"{each.number} {each.name.replace('_', ' ')}", each) for each in layers]


def preview_page(model_admin: Any, request: HttpRequest, object_id: str) -> HttpResponse:
    # Any: the ModelAdmin of agents, which imports this module
    """The prompt of what was posted for the agent; 404 where the login may not change it."""
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    agent = model_admin.get_object(request, object_id)
    if agent is None:
        raise Http404
    if not model_admin.has_change_permission(request, agent):
        raise PermissionDenied
    form = model_admin.get_form(request, agent, change=True)(request.POST, instance=agent)
    form.is_preview = True
    context = {
        **model_admin.admin_site.each_context(request),
        "title": f"Prompt of {agent.name}",
        "opts": model_admin.opts,
        "preview": _preview(request, form, agent),
    }
    is_part = request.headers.get(_PART_HEADER) == "yes"
    return TemplateResponse(request, _PART if is_part else _PAGE, context)


def _preview(request: HttpRequest, form: Any, agent: Agent) -> Preview:
    question = request.POST.get(QUESTION, "").strip()[:_MOST_CHARS] or SAMPLE_QUESTION
    if not form.is_valid():
        problems = [
            (_label(form, name), word) for name, words in form.errors.items() for word in words
        ]
        return Preview(question, problems=tuple(problems))
    if agent.token_budget < MINIMUM_BUDGET:
        words = f"A prompt needs {MINIMUM_BUDGET} tokens at least."
        return Preview(question, problems=(("Token budget", words),))
    person = request.POST.get(PERSON, "").strip()[:_MOST_CHARS]
    viewer = Viewer(
        team_id=agent.team_id,
        actor=f"staff:{request.user.get_username()}",
        agent_id=agent.pk,
        end_user_id=_person(agent, person),
        allowed_categories=tuple(agent.allowed_categories),
    )
    flags = default_flags().overridden(Team.objects.get(pk=agent.team_id).feature_flags)
    counter = counter_for(agent.model_config)
    if not flags.memory:
        budget = agent.token_budget
        return Preview(
            question, prompt_without_memory(agent=agent, token_budget=budget, counter=counter)
        )
    # The question is embedded, for which no transaction should wait.
    with outside_staff_scope(request):
        built = build_prompt(
            Read(
                viewer=viewer,
                question=Question(question),
                tools=default_tools(),
                now=timezone.now(),
                is_counted=False,
            ),
            agent=agent,
            conversation=None,
            weights=own_weights(agent),
            token_budget=agent.token_budget,
            counter=counter,
        )
    return Preview(question, built)


def _person(agent: Agent, external_id: str) -> Any:  # Any: a UUID or none
    if not external_id:
        return None
    rows = EndUser.objects.filter(team_id=agent.team_id, external_id=external_id)
    return rows.values_list("pk", flat=True).first() or NOBODY


def _label(form: Any, name: str) -> str:
    return str(form.fields[name].label) if name in form.fields else ""
