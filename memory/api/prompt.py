"""An agent and a question in, the agent's whole system prompt out."""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import partial
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api.base import ApiViewSet, refusals
from memory.api.callers import named_agent
from memory.api.contradiction_output import ContradictionSerializer
from memory.api.operations import context_event
from memory.api.plain_output import plain_packed_memory, plain_packed_message
from memory.api.prompt_input import PromptSerializer
from memory.api.prompt_output import (
    BuiltPromptSerializer,
    LayerSerializer,
    TrimmedLayerSerializer,
    UpdatesSerializer,
)
from memory.api.weights import weights_of
from memory.clients.token_counters import counter_for
from memory.clients.tools import default_tools
from memory.domain.packing import MINIMUM_BUDGET
from memory.domain.tokens import TokenCounter
from memory.domain.viewer import Viewer
from memory.selectors.conversations import conversation_for
from memory.services.reading.built_prompts import BuiltPrompt
from memory.services.reading.prompting import build_prompt, prompt_without_memory
from memory.services.reading.ranking import Question
from memory.services.reading.updates import News, with_news
from teams.errors import InvalidError, NotFoundError
from teams.models import Agent, Conversation
from teams.tenancy import team_scope


class PromptViewSet(ApiViewSet):
    """The seven layers."""

    serializer_class = BuiltPromptSerializer
    operations = {"build": ("context", "context")}

    @extend_schema(
        request=PromptSerializer,
        responses={200: BuiltPromptSerializer, **refusals(403, 404, 422)},
    )
    def build(self, request: Request) -> Response:
        """An agent's system prompt for a question, in seven layers, within a token budget.

        Identity and personality, identity memories, skills, the user's profile, what was retrieved,
        what the team knows, the conversation's summary. Trimmed are the layers 7, 6, 5 and 4, in
        this order; layers 1 to 3 and pinned memories never, with a warning when they alone are over
        the budget. In a conversation the prompt begins with what changed in its memories since its
        last prompt, in at most three bullets; what was told is not told again. For a team with
        memory switched off it is the agent's document alone, with a warning that says so.
        """
        given = self.body(PromptSerializer)
        viewer, agent, _ = named_agent(
            principal=self.principal,
            agent=given["agent"],
            user=given.get("user"),
            project=given.get("project"),
        )
        conversation = None
        if given.get("conversation") or given.get("thread_id") is not None:
            with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
                conversation = _conversation(viewer, agent, given)
        token_budget = _budget(agent, given.get("token_budget"))
        counter = counter_for(agent.model_config)
        if not self.principal.flags.memory:
            built = prompt_without_memory(agent=agent, token_budget=token_budget, counter=counter)
            return Response(_answer(built, None))
        if conversation is not None:
            viewer = replace(
                viewer,
                end_user_id=viewer.end_user_id or conversation.end_user_id,
                project_id=viewer.project_id or conversation.project_id,
            )
        build = partial(_build, viewer=viewer, agent=agent, conversation=conversation, given=given)
        news: News | None = None
        if conversation is None:
            built = build(token_budget, counter=counter)
        else:
            built, news = with_news(
                viewer=viewer,
                conversation_id=conversation.pk,
                counter=counter,
                token_budget=token_budget,
                build=partial(build, counter=counter),
            )
        asked_in = conversation.pk if conversation else None
        self.noted([context_event(viewer, built, asked_in)])
        return Response(_answer(built, news))


def _build(
    token_budget: int,
    *,
    viewer: Viewer,
    agent: Agent,
    conversation: Conversation | None,
    given: dict[str, Any],
    counter: TokenCounter,
) -> BuiltPrompt:
    return build_prompt(
        viewer=viewer,
        agent=agent,
        question=Question(given["query"], conversation.pk if conversation else None),
        conversation=conversation,
        weights=weights_of(agent, given=given.get("weights")),
        token_budget=token_budget,
        include_cold=given.get("include_cold"),
        include_raw=given.get("include_raw"),
        tools=default_tools(),
        counter=counter,
        now=timezone.now(),
    )


def _conversation(viewer: Viewer, agent: Agent, given: dict[str, Any]) -> Conversation | None:
    """The conversation that the request names, if any.

    Raises NotFoundError for one that is not there or not with the user of the request.
    """
    field, found = "conversation", given.get("conversation")
    if given.get("thread_id") is not None:
        field = "thread_id"
        rows = Conversation.objects.filter(
            team_id=viewer.team_id,
            agent=agent,
            end_user_id=viewer.end_user_id,
            thread_id=given["thread_id"],
        )
        found = rows.values_list("id", flat=True).first()
        if found is None:
            raise NotFoundError("There is no such conversation.", field=field)
    if found is None:
        return None
    try:
        conversation = conversation_for(viewer=viewer, conversation_id=found)
    except NotFoundError as error:
        raise NotFoundError(error.message, field=field) from None
    if viewer.end_user_id not in (None, conversation.end_user_id):
        raise NotFoundError("There is no such conversation with this user.", field=field)
    return conversation


def _budget(agent: Agent, given: int | None) -> int:
    if given is None and agent.token_budget < MINIMUM_BUDGET:
        raise InvalidError(
            f"The agent's own budget of {agent.token_budget} tokens is under the floor of"
            f" {MINIMUM_BUDGET}. Raise it in its document, or give token_budget.",
            field="token_budget",
        )
    return given or agent.token_budget


def _answer(built: BuiltPrompt, news: News | None) -> dict[str, Any]:
    return {
        "prompt": built.prompt,
        "updates": UpdatesSerializer(news).data if news is not None and news.text else None,
        "layers": LayerSerializer(built.layers, many=True).data,
        "trimmed": TrimmedLayerSerializer(built.trimmed, many=True).data,
        "memories": [
            {**plain_packed_memory(each.scored), "layer": each.layer} for each in built.memories
        ],
        "messages": [plain_packed_message(each) for each in built.messages],
        "contradictions": [ContradictionSerializer(each).data for each in built.contradictions],
        "warnings": list(built.warnings),
        "stats": asdict(built.stats),
    }
