"""The API of consent requests."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from uuid import UUID

from django.utils import timezone
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

from memory.api.base import WITH_CONFLICT, ApiViewSet, Given, operation
from memory.api.fields import NameField, NoteField, OneOfField
from memory.api.schemas import ApiSerializer, PageQuerySerializer, StrictSerializer, page_schema
from memory.satellites.consent.deciding import approve_request, reject_request, undo_decision
from memory.satellites.consent.models import ConsentRequest
from memory.satellites.consent.proposals import independent_signals, requests_visible_to, signals_of
from memory.understanding.tools import default_tools

STATES = [*ConsentRequest.State.choices, ("all", "All")]


class ConsentFilterSerializer(PageQuerySerializer):
    """Filters of the list of consent requests; all must match."""

    status = OneOfField(choices=STATES, required=False, default="waiting")
    user = NameField(required=False, max_length=200, help_text="Only those about this person.")


class ConsentDecisionSerializer(StrictSerializer):
    """The reason for an approval or rejection."""

    note = NoteField()


class ConsentRequestSerializer(ApiSerializer):
    """A proposed change that waits, or waited, for a yes."""

    id = serializers.UUIDField()
    kind = serializers.ChoiceField(
        choices=ConsentRequest.Kind.choices,
        help_text="`profile_field` changes a field of the person; `team_preference` tells all of"
        " the team what the person said of it, or what a project prefers, or with `present_memory`"
        " changes what the team prefers; `workflow` are steps that"
        " an agent took several times; `team_fact` tells all of the team what several people"
        " stated.",
    )
    status = serializers.ChoiceField(choices=ConsentRequest.State.choices, source="state")
    user = serializers.CharField(
        source="end_user.external_id",
        default=None,
        allow_null=True,
        help_text="null for what a project prefers, a workflow of an agent and a team fact.",
    )
    field = serializers.CharField(
        help_text="Such as `city`; empty for a team preference, `workflow` for a workflow."
    )
    present = serializers.CharField(
        source="present.content",
        default=None,
        allow_null=True,
        help_text="What stands until a yes; null for a first value.",
    )
    present_memory = serializers.UUIDField(source="present_id", allow_null=True)
    proposed = serializers.CharField(source="content")
    memory = serializers.UUIDField(
        source="memory_id", allow_null=True, help_text="What an approved value was written as."
    )
    people = serializers.IntegerField(
        help_text="How many people state it; 1 for all but a team fact."
    )
    needs_person = serializers.BooleanField(
        help_text="False for what applies by itself once a second independent signal says it."
    )
    signals = serializers.SerializerMethodField(
        help_text="In how many conversations or on how many days it was said."
    )
    source_message_ids = serializers.ListField(child=serializers.UUIDField())
    proposed_by = serializers.CharField()
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()
    decided_by = serializers.CharField()
    decided_at = serializers.DateTimeField(allow_null=True)
    note = serializers.CharField()

    def get_signals(self, row: ConsentRequest) -> int:
        """Returns the number of independent signals."""
        return independent_signals(signals_of(row))


ConsentRequestPage = page_schema("ConsentRequestPage", ConsentRequestSerializer)


_decision = operation(
    body=ConsentDecisionSerializer, answer=ConsentRequestSerializer, refuses=WITH_CONFLICT
)


class ConsentRequestViewSet(ApiViewSet):
    """Changes of people's profiles that wait for a yes."""

    lookup_value_converter = "uuid"
    memory_actions = ("list", "approve", "reject", "undo")

    @operation(query=ConsentFilterSerializer, answer=ConsentRequestPage, refuses=(403, 422))
    def list(self, given: Given) -> Response:
        """Consent requests, the latest first; those that wait by default.

        A key of one agent sees those of people that it has talked with or of whom it may see a
        memory.
        """
        with self.team_scope():
            rows = requests_visible_to(self.lister(given))
            if given["status"] != "all":
                rows = rows.filter(state=given["status"])
            if given.get("user"):
                rows = rows.filter(end_user__external_id=given["user"])
            return self.page(rows, ConsentRequestSerializer)

    @_decision
    @action(detail=True, methods=["post"])
    def approve(self, given: Given, pk: UUID) -> Response:
        """Say yes on behalf of the person: the proposed value takes the place of the present one.

        What else a replaced memory says is kept as a memory of its own.

        Whoever proposed it may not (403).
        """
        return self._decided(partial(approve_request, tools=default_tools()), pk, given)

    @_decision
    @action(detail=True, methods=["post"])
    def reject(self, given: Given, pk: UUID) -> Response:
        """Say no: the present value stays, and the same messages do not propose it again.

        Whoever proposed it may not (403).
        """
        return self._decided(reject_request, pk, given)

    @_decision
    @action(detail=True, methods=["post"])
    def undo(self, given: Given, pk: UUID) -> Response:
        """Undo an approval or rejection: it waits again, and what a yes changed is as before.

        With 409 nothing was changed: it was not decided, or memories changed since.
        """
        return self._decided(undo_decision, pk, given)

    def _decided(self, decide: Callable[..., ConsentRequest], pk: UUID, given: Given) -> Response:
        decide(viewer=self.viewer, request_id=pk, now=timezone.now(), **given)
        with self.team_scope():
            row = requests_visible_to(self.viewer).get(pk=pk)
            return Response(ConsentRequestSerializer(row).data)


router = SimpleRouter(trailing_slash=False, use_regex_path=False)
router.register("consent-requests", ConsentRequestViewSet, basename="consent-request")
urlpatterns = router.urls
