"""The API of prediction and of the working context (seed 002)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar
from uuid import UUID

from django.http import HttpResponse
from django.utils import timezone
from rest_framework import serializers

from memory.api.base import ApiViewSet, Given, operation
from memory.api.events import MAX_FILES, WorkSerializer, signals_of
from memory.api.fields import (
    ContentField,
    NameField,
    OneOfField,
    QuestionField,
    StrictIntegerField,
    TextField,
    ZonedDateTimeField,
)
from memory.api.found import TEXT_LEVELS, PackedMessageSerializer, packed_message_json
from memory.api.memories import MemorySerializer, memory_json
from memory.api.rendering import Json, json_response
from memory.api.request_events import context_event
from memory.api.schemas import MAX_TOKEN_BUDGET, ApiSerializer, QuerySerializer, StrictSerializer
from memory.clients.token_counters import counter_for
from memory.domain.audience import Viewer
from memory.domain.packing import MINIMUM_BUDGET
from memory.domain.types import Signals
from memory.reading.answers import ScoredMemory, own_weights
from memory.satellites.plans.imports import imports_of
from memory.satellites.plans.placing import DEFAULT_BUDGET, Activity, ContextTier
from memory.satellites.plans.predicting import predict
from memory.satellites.plans.working_context import assemble_context, expand_topic
from memory.selectors.filters import NOBODY
from memory.selectors.memories import memories_by_id
from memory.understanding.tools import default_tools
from teams.errors import NotFoundError

MAX_PREDICTED = 100
_MAX_FILE_CHARS = 200_000


class _FileTextField(TextField):
    """The text of the open file, of which the imports are read and nothing is kept."""

    defaults: ClassVar = {
        "trim_whitespace": False,
        "required": False,
        "allow_blank": True,
        "max_length": _MAX_FILE_CHARS,
        "help_text": "Text of the open file: files that it imports count as near ones. Python"
        " and TypeScript are read. The text is not stored.",
    }


class PredictSerializer(WorkSerializer):
    """The agent's current signals; at least one."""

    agent = NameField()
    user = NameField(required=False, allow_null=True, max_length=200)
    project = NameField(required=False, allow_null=True)
    file_text = _FileTextField()
    limit = StrictIntegerField(required=False, default=20, min_value=1, max_value=MAX_PREDICTED)


class PredictedMemorySerializer(MemorySerializer):
    """A memory that is likely to be needed."""

    prediction_confidence = serializers.FloatField(
        help_text="The chance (0-1) that it is needed; `confidence` is that of its truth."
    )
    why = serializers.ListField(child=serializers.CharField())


class PredictionSerializer(ApiSerializer):
    """Memories that are likely to be needed, likeliest first."""

    predicted_memories = PredictedMemorySerializer(many=True)
    confidence = serializers.FloatField(
        help_text="The chance (0-1) that at least one of them is needed."
    )


_DECIMALS = 4


class PredictionViewSet(ApiViewSet):
    """Predictions of the memories needed next."""

    operations = {"predict": ("context", "context")}
    only_reads = True
    confirms_keys = True
    memory_actions = ("predict",)

    @operation(body=PredictSerializer, answer=PredictionSerializer)
    def predict(self, given: Given) -> HttpResponse:
        """The memories that the signals of the work speak for, with a chance and reasons each.

        Open files speak for the memories of changes whose lines are likely to stand in them still,
        by the line counts of their artifacts, and then for the changes of files that they import
        or that changed together with them; a branch, an error and a collaborator speak by their
        words, and all of them for what feedback called useful when they held before.
        What is predicted is kept for 15 minutes for the next reads of the same agent, user
        and project.
        """
        viewer = self.named_viewer(given)
        if viewer.project_id == NOBODY:
            raise NotFoundError(f"There is no project '{given['project']}'.", field="project")
        found = predict(
            viewer=viewer,
            signals=_with_imports(signals_of(given), given.get("file_text", "")),
            tools=default_tools(),
            now=timezone.now(),
            limit=given["limit"],
        )
        with self.team_scope():
            memories = memories_by_id(viewer=viewer, ids=[each.memory_id for each in found])
        told = [each for each in found if each.memory_id in memories]
        nothing = math.prod(1 - each.confidence for each in told)
        return json_response(
            {
                "predicted_memories": [
                    {
                        **memory_json(memories[each.memory_id]),
                        "prediction_confidence": round(each.confidence, _DECIMALS),
                        "why": each.reasons,
                    }
                    for each in told
                ],
                "confidence": round(1 - nothing, _DECIMALS),
            }
        )


_ACTIVITIES = [(each.value, each.value) for each in Activity]
_TIERS = [(each.value, each.value) for each in ContextTier]
_MOST_ERRORS = 10
_MOST_ERROR_CHARS = 8_000
_MOST_PATH_CHARS = 500
_BUDGET = "Tokens of the whole context."


class WorkSignalsSerializer(StrictSerializer):
    """The known signals of the work in progress; all of them optional."""

    current_file = NameField(
        required=False, max_length=_MOST_PATH_CHARS, help_text="The open file, from the root."
    )
    opened_files = serializers.ListField(
        child=NameField(max_length=_MOST_PATH_CHARS),
        required=False,
        max_length=MAX_FILES,
        help_text="Paths that were opened before `current_file`.",
    )
    file_text = _FileTextField()
    branch = NameField(required=False, max_length=250)
    recent_errors = serializers.ListField(
        child=ContentField(max_length=_MOST_ERROR_CHARS), required=False, max_length=_MOST_ERRORS
    )
    activity = OneOfField(
        choices=_ACTIVITIES,
        required=False,
        help_text="It decides the shares of the tiers; debugging where errors are given without.",
    )
    collaborator = NameField(
        required=False,
        max_length=200,
        help_text="The person worked with: where no user is named, what they prefer is told.",
    )
    time = ZonedDateTimeField(
        required=False, help_text="Its hour of the week counts, in the team's time zone."
    )
    query = QuestionField(required=False)


class AssembleSerializer(StrictSerializer):
    """The agent, person, project and signals of the work."""

    example = {
        "agent": "kyra",
        "project": "apollo",
        "signals": {"query": "Why does the login fail?", "current_file": "src/login.py"},
    }

    agent = NameField()
    user = NameField(required=False, allow_null=True, max_length=200)
    project = NameField(required=False, allow_null=True)
    budget = StrictIntegerField(
        default=DEFAULT_BUDGET,
        min_value=MINIMUM_BUDGET,
        max_value=MAX_TOKEN_BUDGET,
        help_text=_BUDGET,
    )
    signals = WorkSignalsSerializer(required=False)


class ExpandQuerySerializer(QuerySerializer):
    """A topic and its reader."""

    topic = NameField(max_length=_MOST_PATH_CHARS)
    agent = NameField()
    user = NameField(required=False, max_length=200)
    project = NameField(required=False)
    budget = serializers.IntegerField(
        default=DEFAULT_BUDGET,
        min_value=MINIMUM_BUDGET,
        max_value=MAX_TOKEN_BUDGET,
        help_text=_BUDGET,
    )


class ToldMemorySerializer(MemorySerializer):
    """A memory in the context, with the tokens of its line and the form of its text there."""

    level = serializers.ChoiceField(
        choices=TEXT_LEVELS, help_text="How much of its text the context tells."
    )
    score = serializers.FloatField(help_text="Its rank in its tier, 0-1.")
    tokens = serializers.IntegerField()


class PlacedMemorySerializer(ToldMemorySerializer):
    """A memory in the context, where it stands there and why."""

    tier = serializers.ChoiceField(choices=_TIERS, help_text="The tier of the context.")
    why = serializers.CharField()


class TierTokensSerializer(ApiSerializer):
    """The tokens of each tier: critical, relevant, background, index."""

    tier1 = serializers.IntegerField()
    tier2 = serializers.IntegerField()
    tier3 = serializers.IntegerField()
    tier4 = serializers.IntegerField()


class TopicSerializer(ApiSerializer):
    """A topic, and how many of its memories are not in the context."""

    topic = serializers.CharField()
    count = serializers.IntegerField()


class WorkingContextSerializer(ApiSerializer):
    """The context of work in progress."""

    context_ = serializers.CharField(help_text="Empty where nothing is known.")
    token_count = serializers.IntegerField()
    tiers = TierTokensSerializer()
    memories = PlacedMemorySerializer(many=True)
    messages = PackedMessageSerializer(many=True)
    index = TopicSerializer(many=True, help_text="The topics of the fourth tier.")
    activity = serializers.ChoiceField(choices=_ACTIVITIES, allow_null=True)
    rebalanced = serializers.BooleanField(
        help_text="Whether the shares are not the default ones, or a tier has more than its share."
    )
    warnings = serializers.ListField(child=serializers.CharField())


class ExpandedTopicSerializer(ApiSerializer):
    """The known memories of a topic, as many as the budget holds."""

    topic = serializers.CharField()
    context_ = serializers.CharField()
    token_count = serializers.IntegerField()
    memories = ToldMemorySerializer(many=True)
    left_out = serializers.IntegerField(
        help_text="How many found no room or say what another one says; at most 500 are looked at."
    )


class WorkingContextViewSet(ApiViewSet):
    """The context that matters before it is asked for."""

    operations = {"assemble": ("context", "context"), "expand": ("context", "context")}
    only_reads = True
    confirms_keys = True
    memory_actions = ("assemble", "expand")

    @operation(body=AssembleSerializer, answer=WorkingContextSerializer)
    def assemble(self, given: Given) -> HttpResponse:
        """Returns the context of the work in progress, in four tiers within a token budget.

        Critical: decisions and failures on the open file, folder or topic, what is known of recent
        errors, and open contradictions. Relevant: what is predicted, what the query retrieves, and
        preferences of the collaborator. Background: conventions, summaries and workflows. Index:
        topics of what is not told; GET /v1/context/expand opens one. What a tier leaves free goes
        to the next. Nothing of a person or project is told that the request does not name.
        """
        named = dict(given.get("signals") or {})
        text = named.pop("file_text", "")
        lists = {each: tuple(named.get(each) or ()) for each in ("recent_errors", "opened_files")}
        signals = _with_imports(Signals(**{**named, **lists}), text)
        viewer, agent = self.named_agent(given)
        made = assemble_context(
            viewer=viewer,
            signals=signals,
            collaborator_id=self._collaborator(viewer, given, signals.collaborator),
            weights=own_weights(agent),
            token_budget=given["budget"],
            counter=counter_for(agent.model_config),
            tools=default_tools(),
            now=timezone.now(),
        )
        found = made.retrieval
        self.noted([context_event(viewer, found)])
        return json_response(
            {
                "context": made.context,
                "token_count": made.token_count,
                "tiers": {tier.value: tokens for tier, tokens in made.tiers.items()},
                "memories": [
                    {**_told(each), "tier": place.tier.value, "why": place.why}
                    for each in found.memories
                    for place in [made.places[each.id]]
                ],
                "messages": [packed_message_json(each) for each in found.messages],
                "index": [{"topic": topic, "count": count} for topic, count in made.index.topics],
                "activity": made.activity,
                "rebalanced": made.is_rebalanced,
                "warnings": list(found.warnings),
            }
        )

    @operation(query=ExpandQuerySerializer, answer=ExpandedTopicSerializer)
    def expand(self, given: Given) -> HttpResponse:
        """Returns the memories of a topic of the index: a category, tag, subject or folder."""
        viewer, agent = self.named_agent(given)
        counter = counter_for(agent.model_config)
        found = expand_topic(
            viewer=viewer,
            topic=given["topic"],
            weights=own_weights(agent),
            token_budget=given["budget"],
            counter=counter,
            tools=default_tools(),
            now=timezone.now(),
        )
        self.noted([context_event(viewer, found)])
        candidates = len(found.considered.relevant.memories)
        return json_response(
            {
                "topic": given["topic"],
                "context": found.formatted_prompt,
                "token_count": counter.count(found.formatted_prompt),
                "memories": [_told(each) for each in found.memories],
                "left_out": candidates - len(found.memories),
            }
        )

    def _collaborator(
        self,
        viewer: Viewer,
        given: Mapping[str, Any],  # Any: checked fields
        name: str,
    ) -> UUID | None:
        """The person of that name, where the request may be told of them."""
        if not name:
            return None
        if given.get("user") is None:
            return self.named_viewer({"user": name}).end_user_id
        return viewer.end_user_id if name == given["user"] else None


def _with_imports(signals: Signals, text: str) -> Signals:
    """The signals with the imports of the open file, whose text is given."""
    return replace(signals, imports=imports_of(path=signals.current_file, text=text))


def _told(each: ScoredMemory) -> Json:
    return {
        **memory_json(each.memory),
        "level": each.text_level.value,
        "score": each.score,
        "tokens": each.tokens,
    }
