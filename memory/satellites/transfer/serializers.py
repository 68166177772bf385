"""Imports and exports of a team."""

from __future__ import annotations

from rest_framework import serializers

from memory.api.fields import NameField, OneOfField
from memory.api.serializers.base import ApiSerializer, PageQuerySerializer, QuerySerializer
from memory.satellites.transfer.formats.reading import Format
from memory.satellites.transfer.models import ImportRun
from teams.models.people import Role

FORMATS = [(each.value, each.value) for each in Format]


class ImportQuerySerializer(QuerySerializer):
    """What is sent, and whose it is."""

    format = OneOfField(
        choices=FORMATS, required=False, help_text="Left out, it is found by the contents."
    )
    agent = NameField(
        required=False, help_text="Of what names no agent: conversations belong to one."
    )
    user = NameField(
        required=False,
        max_length=200,
        help_text="Of what names no user: conversations belong to one.",
    )
    project = NameField(required=False, help_text="Of what names no project.")
    role = OneOfField(
        choices=Role.choices,
        required=False,
        help_text="Of people whom the team does not know yet; left out, that of its new people.",
    )
    extract = serializers.BooleanField(
        required=False, default=True, help_text="Whether memories are made of the messages."
    )
    name = NameField(
        required=False, max_length=200, help_text="The file's name, which names a single note."
    )


class ImportFilterSerializer(PageQuerySerializer):
    """Which imports to list."""

    state = OneOfField(choices=ImportRun.State.choices, required=False)


class ImportProblemSerializer(ApiSerializer):
    """An item that could not be written."""

    place = serializers.CharField(help_text="Where it stands in the file.")
    problem = serializers.CharField()


class ImportRunSerializer(ApiSerializer):
    """An import and how far it got."""

    id = serializers.UUIDField()
    format = serializers.ChoiceField(choices=FORMATS)
    extract = serializers.BooleanField(source="does_extract")
    state = serializers.ChoiceField(choices=ImportRun.State.choices)
    total = serializers.IntegerField(help_text="Messages and memories in the file.")
    done = serializers.IntegerField(help_text="How many of them are stored.")
    new = serializers.IntegerField(help_text="How many of these were not there before.")
    failed = serializers.IntegerField(help_text="How many could not be stored.")
    errors_ = ImportProblemSerializer(many=True, help_text="The first of those that failed.")
    actor = serializers.CharField(help_text="Who asked for it.")
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)
