"""Patterns learned from code."""

from __future__ import annotations

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api.base import answers
from memory.api.request_events import write_event
from memory.api.views.memory_changes import MemoryWrites
from memory.satellites.workflows.pattern_learning import CodeFile, learn_patterns
from memory.satellites.workflows.pattern_serializers import LearnedSerializer, LearnSerializer
from memory.understanding.tools import default_tools


class PatternViewSet(MemoryWrites):
    """How things are built in a project."""

    large_bodies = ("learn",)
    memory_actions = ("learn",)

    @extend_schema(
        operation_id="patterns_learn",
        request=LearnSerializer,
        responses=answers(LearnedSerializer, 403, 409, 413, 422),
    )
    def learn(self, request: Request) -> Response:
        """Learn the shapes of code that repeat: three times or more, in two files or more.

        Python, TypeScript, JavaScript and Go. Each becomes a memory of the form `pattern` of the
        project, with what varies as named parts and its places as artifacts, at most 20 new ones a
        call. The same shape again strengthens the pattern. Files that cannot be read are skipped.
        """
        given = self.body(LearnSerializer)
        self.check_agent(given.get("agent"))
        done = learn_patterns(
            viewer=self.viewer,
            project=given["project"],
            files=[CodeFile(**each) for each in given["files"]],
            tools=default_tools(),
            now=timezone.now(),
            agent=given.get("agent"),
        )
        self.noted(write_event(each) for each in (*done.new, *done.strengthened))
        return Response(
            {
                "learned": self.written(done.new),
                "strengthened": self.written(done.strengthened),
                "unchanged": done.unchanged,
                "skipped": [{"path": path, "reason": why} for path, why in done.skipped],
            }
        )
