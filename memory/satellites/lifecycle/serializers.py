"""Consolidation runs: asked for, listed, and what each changed."""

from __future__ import annotations

from rest_framework import serializers

from memory.api.fields import NameField, OneOfField, StrictBooleanField
from memory.api.serializers.base import ApiSerializer, PageQuerySerializer, StrictSerializer
from memory.satellites.lifecycle.models import STEPS, ConsolidationChange, ConsolidationRun

SHOWN = 500
_COUNTS = (
    "For each step how many memories were `looked_at`, and how many changes were `planned`, `made`"
    " and `left_out` because something changed in between."
)


class ConsolidateSerializer(StrictSerializer):
    """What to consolidate."""

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
    """Which runs to list."""

    state = OneOfField(choices=ConsolidationRun.State.choices, required=False)
    dry_run = serializers.BooleanField(required=False, allow_null=True, default=None)


class ConsolidationChangeFilterSerializer(PageQuerySerializer):
    """Which changes of a run to list."""

    step = OneOfField(choices=STEPS, required=False)
    state = OneOfField(choices=ConsolidationChange.State.choices, required=False)


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
    state = serializers.ChoiceField(choices=ConsolidationChange.State.choices)
    note = serializers.CharField(help_text="Why it was left out.")


class ConsolidationRunSerializer(ApiSerializer):
    """A consolidation of a team, a person or a project."""

    id = serializers.UUIDField()
    state = serializers.ChoiceField(choices=ConsolidationRun.State.choices)
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
