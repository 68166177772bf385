"""The API of consolidation runs."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.urls import path
from django.utils import timezone
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

from memory.api.base import WITH_CONFLICT, ApiViewSet, Given, operation
from memory.api.fields import NameField, OneOfField, StrictBooleanField
from memory.api.pagination import PositionPagination
from memory.api.schemas import (
    ApiSerializer,
    PageQuerySerializer,
    QuerySerializer,
    StrictSerializer,
    page_schema,
)
from memory.satellites.lifecycle.models import (
    CHANGE_STATES,
    RUN_STATES,
    STEPS,
    ConsolidationChange,
    ConsolidationRun,
    Step,
)
from memory.satellites.lifecycle.running import run_consolidation, undo_run
from memory.satellites.lifecycle.runs import run_of, runs_of, start_run
from memory.selectors.filters import NOBODY
from memory.understanding.tools import default_tools
from teams.errors import NotFoundError

SHOWN = 500
_COUNTS = (
    "For each step how many memories were `looked_at`, and how many changes were `planned`, `made`"
    " and `left_out` because something changed in between."
)


class ConsolidateSerializer(StrictSerializer):
    """The scope and steps of a consolidation."""

    dry_run = StrictBooleanField(
        required=False, default=False, help_text="Plan it and change nothing."
    )
    steps = serializers.ListField(
        child=OneOfField(choices=STEPS),
        required=False,
        min_length=1,
        max_length=len(STEPS),
        help_text="Only these; all that the team has on, where left out.",
    )
    user = NameField(required=False, max_length=200, help_text="Only what is about this person.")
    project = NameField(required=False, help_text="Only what belongs to this project.")
    wait = StrictBooleanField(
        required=False,
        default=False,
        help_text="Answer when it is done, or after some 20 seconds with what is under way.",
    )


class ConsolidationFilterSerializer(PageQuerySerializer):
    """Filters of the list of runs."""

    state = OneOfField(choices=RUN_STATES, required=False)
    dry_run = serializers.BooleanField(required=False, allow_null=True, default=None)


class ConsolidationChangeFilterSerializer(PageQuerySerializer):
    """Filters of a run's changes."""

    step = OneOfField(choices=STEPS, required=False)
    state = OneOfField(choices=CHANGE_STATES, required=False)


class ConsolidationChangeSerializer(ApiSerializer):
    """A change that a run planned, and what became of it."""

    position = serializers.IntegerField()
    step = serializers.ChoiceField(choices=STEPS)
    kind = serializers.CharField()
    memory = serializers.UUIDField(source="memory_id")
    other = serializers.UUIDField(
        source="other_id", allow_null=True, help_text="The second memory of a pair."
    )
    before = serializers.DictField(help_text="What it rests on; otherwise it is left out.")
    after = serializers.DictField()
    because = serializers.CharField()
    state = serializers.ChoiceField(choices=CHANGE_STATES)
    note = serializers.CharField(help_text="Why it was left out.")


class ConsolidationRunSerializer(ApiSerializer):
    """A consolidation of a team, a person or a project."""

    id = serializers.UUIDField()
    state = serializers.ChoiceField(choices=RUN_STATES)
    dry_run = serializers.BooleanField(source="is_dry")
    steps = serializers.ListField(child=serializers.ChoiceField(choices=STEPS))
    user = serializers.CharField(
        source="end_user.external_id", default=None, allow_null=True, read_only=True
    )
    project = serializers.CharField(
        source="project.slug", default=None, allow_null=True, read_only=True
    )
    actor = serializers.CharField(help_text="Who asked for it.")
    planned = serializers.BooleanField(
        source="is_planned", help_text="Whether all is planned and it is being carried out."
    )
    counts = serializers.DictField(
        child=serializers.DictField(child=serializers.IntegerField()), help_text=_COUNTS
    )
    judged = serializers.IntegerField(help_text="Pairs that the judge was asked about.")
    cost_usd = serializers.DecimalField(max_digits=12, decimal_places=6)
    error = serializers.CharField(help_text="The kind of error that it failed at last.")
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)
    undone_at = serializers.DateTimeField(allow_null=True)
    undone_by = serializers.CharField()


class ConsolidatedSerializer(ConsolidationRunSerializer):
    """A run with the first of its changes."""

    changes = ConsolidationChangeSerializer(
        many=True, help_text=f"The first {SHOWN}; all are listed under the run."
    )


_WAIT_SECONDS = 20.0
_TEAM_KEY = "Consolidation needs a key of the team, bound to no agent."

ConsolidationRunPage = page_schema("ConsolidationRunPage", ConsolidationRunSerializer)
ConsolidationChangePage = page_schema("ConsolidationChangePage", ConsolidationChangeSerializer)


class ConsolidationViewSet(ApiViewSet):
    """The care of a team's store: merging, shortening, ranking, checking, forgetting, linking."""

    lookup_value_converter = "uuid"
    operations = {"start": ("worker", "consolidate"), "undo": ("worker", "consolidate")}
    memory_actions = ("start", "undo")

    @operation(
        "consolidate",
        body=ConsolidateSerializer,
        answer={200: ConsolidatedSerializer, 202: ConsolidationRunSerializer},
        refuses=WITH_CONFLICT,
        team_key=_TEAM_KEY,
    )
    def start(self, given: Given) -> Response:
        """Start a run over the team's memories, or over those of a person or project.

        It goes on in the background (202). With `wait` it is answered when it is done (200), with
        the first of its changes; after a dry run these are what a run would change, each with what
        it rests on and what it would be. One run of a team goes on at a time. Needs a key of the
        team.
        """
        viewer = self.named_viewer({name: given.get(name) for name in ("user", "project")})
        for name, found in (("user", viewer.end_user_id), ("project", viewer.project_id)):
            if given.get(name) and found in (None, NOBODY):
                raise NotFoundError(f"There is no {name} '{given[name]}'.", field=name)
        run = start_run(
            viewer=viewer,
            now=timezone.now(),
            steps=[Step(each) for each in given.get("steps", ())],
            is_dry=given["dry_run"],
        )
        if given["wait"]:
            run_consolidation(
                team_id=run.team_id, run_id=run.pk, tools=default_tools(), seconds=_WAIT_SECONDS
            )
        with self.team_scope():
            run = run_of(team_id=run.team_id, run_id=run.pk)
            document = dict(ConsolidationRunSerializer(run).data)
            if run.state != ConsolidationRun.State.DONE:
                return Response(document, status=202)
            changes = _changes(run)[:SHOWN]
            document["changes"] = ConsolidationChangeSerializer(changes, many=True).data
            return Response(document)

    @operation(
        "consolidation_runs_list",
        query=ConsolidationFilterSerializer,
        answer=ConsolidationRunPage,
        refuses=(403, 422),
        team_key=_TEAM_KEY,
    )
    def list(self, given: Given) -> Response:
        """The runs of the team, newest first."""
        with self.team_scope():
            rows = runs_of(team_id=self.viewer.team_id)
            if given.get("state"):
                rows = rows.filter(state=given["state"])
            if given["dry_run"] is not None:
                rows = rows.filter(is_dry=given["dry_run"])
            return self.page(rows, ConsolidationRunSerializer)

    @operation(
        "consolidation_runs_retrieve",
        query=QuerySerializer,
        answer=ConsolidationRunSerializer,
        team_key=_TEAM_KEY,
    )
    def retrieve(self, given: Given, pk: UUID) -> Response:
        """A run with how far it got."""
        return self._shown(pk)

    @operation(
        "consolidation_runs_changes",
        query=ConsolidationChangeFilterSerializer,
        answer=ConsolidationChangePage,
        team_key=_TEAM_KEY,
    )
    @action(detail=True)
    def changes(self, given: Given, pk: UUID) -> Response:
        """Lists a run's planned changes, in the order of execution, with their results."""
        chosen = {name: value for name, value in given.items() if value}
        with self.team_scope():
            rows = _changes(run_of(team_id=self.viewer.team_id, run_id=pk)).filter(**chosen)
            return self.page(rows, ConsolidationChangeSerializer, PositionPagination)

    @operation(
        "consolidation_runs_undo",
        body=StrictSerializer,
        answer=ConsolidationRunSerializer,
        refuses=WITH_CONFLICT,
        team_key=_TEAM_KEY,
    )
    @action(detail=True, methods=["post"])
    def undo(self, given: Given, pk: UUID) -> Response:
        """Take a whole run back: every memory that it changed stands as it stood before.

        With 409 nothing was changed: it is under way, was dry or is taken back already, or memories
        changed since; `memories` lists these. Needs a key of the team.
        """
        undo_run(viewer=self.viewer, run_id=pk, tools=default_tools(), now=timezone.now())
        return self._shown(pk)

    def _shown(self, pk: UUID) -> Response:
        with self.team_scope():
            run = run_of(team_id=self.viewer.team_id, run_id=pk)
            return Response(ConsolidationRunSerializer(run).data)


def _changes(run: ConsolidationRun) -> Any:  # Any: a query set of what Django leaves untyped
    return ConsolidationChange.objects.filter(team_id=run.team_id, run=run).order_by("position")


router = SimpleRouter(trailing_slash=False, use_regex_path=False)
router.register("consolidate/runs", ConsolidationViewSet, basename="consolidation-run")
urlpatterns = [
    path("consolidate", ConsolidationViewSet.as_view({"post": "start"}), name="consolidate"),
    *router.urls,
]
