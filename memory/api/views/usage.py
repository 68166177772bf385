"""Reports of which memories were of use."""

from __future__ import annotations

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api.base import ApiViewSet, answers
from memory.api.serializers.usage import UsageReportedSerializer, UsageReportSerializer
from memory.api.serializers.work import signals_of
from memory.domain.work import Work
from memory.reading.usage import report_usage


class UsageViewSet(ApiViewSet):
    """What agents say of the use of memories."""

    serializer_class = UsageReportedSerializer
    operations = {"report": ("hotpath", "update")}
    memory_actions = ("report",)

    @extend_schema(
        operation_id="usage_report",
        request=UsageReportSerializer,
        responses=answers(UsageReportedSerializer, 403, 404, 422),
    )
    def report(self, request: Request) -> Response:
        """Report which memories of a prompt were used (`cited`) and which were not (`ignored`).

        Citations raise and ignores lower `signals.usage`, which moves a memory's score by at most
        0.03. A memory counts once a report, and its importance stays: that is what feedback on one
        memory changes. Where a memory cannot be seen by this key (404) nothing is counted.
        """
        given = self.body(UsageReportSerializer)
        cited, ignored = (
            list(dict.fromkeys(given.get(name) or ())) for name in ("cited", "ignored")
        )
        report_usage(
            viewer=self.viewer,
            cited=cited,
            ignored=ignored,
            work=Work(signals_of(given["work"]), timezone.now()) if given.get("work") else None,
        )
        return Response({"cited": len(cited), "ignored": len(ignored)})
