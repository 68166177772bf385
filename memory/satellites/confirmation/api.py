"""Confirmation of memories by REST."""

from __future__ import annotations

from uuid import UUID

from django.urls import path
from django.utils import timezone
from rest_framework.response import Response

from memory.api.base import WITH_CONFLICT, ApiViewSet, Given, operation
from memory.api.fields import StrictBooleanField
from memory.api.memories import MemorySerializer, ReasonSerializer
from memory.api.request_events import memory_event
from memory.satellites.confirmation.deciding import confirm, undo
from memory.selectors.memories import memory_for
from memory.understanding.tools import default_tools


class ConfirmSerializer(ReasonSerializer):
    """A person's yes to a memory, or its undo."""

    confirmed = StrictBooleanField(
        required=False, default=True, help_text="false undoes the confirmation."
    )


class ConfirmViewSet(ApiViewSet):
    """Memories that a tool or a web page alone says."""

    @operation(body=ConfirmSerializer, answer=MemorySerializer, refuses=WITH_CONFLICT)
    def confirm(self, given: Given, pk: UUID) -> Response:
        """Confirm an unconfirmed memory as a person's decision, with a key of the team.

        Its source is `person` from then on. It is compared with the other memories as a new one
        would be. A confirmed memory stays unchanged; a disputed one is settled first (409).
        """
        self.require_team_key("Confirming a memory needs a key of the team.")
        if given["confirmed"]:
            memory = confirm(
                viewer=self.viewer,
                memory_id=pk,
                tools=default_tools(),
                now=timezone.now(),
                note=given["reason"],
            )
        else:
            memory = undo(viewer=self.viewer, memory_id=pk)
        self.noted([memory_event("update", memory)])
        with self.team_scope():
            stands = memory_for(viewer=self.viewer, memory_id=memory.pk)
            return Response(MemorySerializer(stands).data)


urlpatterns = [
    path("memories/<uuid:pk>/confirm", ConfirmViewSet.as_view({"post": "confirm"})),
]
