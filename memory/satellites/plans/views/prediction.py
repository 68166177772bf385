"""Memories that work in progress is likely to need."""

from __future__ import annotations

import math

import orjson
from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from memory.api.base import ApiViewSet, answers
from memory.api.memory_json import MEDIA_TYPE, memory_json
from memory.api.serializers.work import signals_of
from memory.satellites.plans.predicting import predict
from memory.satellites.plans.serializers.prediction import PredictionSerializer, PredictSerializer
from memory.selectors.filters import NOBODY
from memory.selectors.loading.memories import memories_by_id
from memory.understanding.tools import default_tools
from teams.errors import NotFoundError

_DECIMALS = 4


class PredictionViewSet(ApiViewSet):
    """What will be needed next."""

    serializer_class = PredictionSerializer
    operations = {"predict": ("context", "context")}
    only_reads = True
    memory_actions = ("predict",)

    @extend_schema(
        request=PredictSerializer, responses=answers(PredictionSerializer, 403, 404, 422)
    )
    def predict(self, request: Request) -> HttpResponse:
        """The memories that the signals of the work speak for, with a chance and reasons each.

        Open files speak for the memories of changes whose lines are likely to stand in them still,
        by the line counts of their artifacts; a branch, an error and a collaborator speak by their
        words, and all of them for what feedback called useful when they held before.
        What is predicted is kept for 15 minutes for the next reads of the same agent, user
        and project.
        """
        given = self.body(PredictSerializer)
        viewer = self.named_viewer(given)
        if viewer.project_id == NOBODY:
            raise NotFoundError(f"There is no project '{given['project']}'.", field="project")
        found = predict(
            viewer=viewer,
            signals=signals_of(given),
            tools=default_tools(),
            now=timezone.now(),
            limit=given["limit"],
        )
        with self.team_scope():
            memories = memories_by_id(viewer=viewer, ids=[each.memory_id for each in found])
        told = [each for each in found if each.memory_id in memories]
        body = {
            "predicted_memories": [
                {
                    **memory_json(memories[each.memory_id]),
                    "prediction_confidence": round(each.confidence, _DECIMALS),
                    "why": each.reasons,
                }
                for each in told
            ],
            "confidence": round(1 - math.prod(1 - each.confidence for each in told), _DECIMALS),
        }
        return HttpResponse(orjson.dumps(body), content_type=MEDIA_TYPE)
