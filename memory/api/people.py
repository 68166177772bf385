"""People of a team: their profiles, settings and erasure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.utils import timezone
from rest_framework import serializers, status
from rest_framework.response import Response

from audit.services.erasure import CONFIRM_SECONDS, confirmation_of, erase_confirmed, plan_erasure
from memory.api.base import WITH_CONFLICT, ApiViewSet, Given, operation
from memory.api.fields import IdsField, NameField, StrictBooleanField, name_in_address
from memory.api.schemas import (
    ApiSerializer,
    DatedPageQuerySerializer,
    QuerySerializer,
    StrictSerializer,
    page_schema,
)
from memory.domain.audience import Viewer
from memory.domain.profile_fields import BENIGN_FIELDS
from memory.models.memory import STATUSES
from memory.selectors.people import ListFilters, filtered_people, profile_of
from teams.errors import NotFoundError
from teams.models import EndUser, Role
from teams.services.people import change_person, ensure_end_user
from teams.services.team_settings import sensitive_fields_of


@dataclass(frozen=True, slots=True)
class PersonPart:
    """A field of a person that a satellite adds: how it is serialized, and how it is loaded.

    `load` is called in the team's scope.
    """

    shown: serializers.Field[Any, Any, Any, Any]  # Any: as DRF types its fields
    load: Callable[[Viewer, EndUser], Iterable[object]]


PERSON_PARTS: dict[str, PersonPart] = {}


class ProfileFieldSerializer(ApiSerializer):
    """The known value of one field of a person's profile."""

    field = serializers.CharField(help_text="Such as `city`.")
    value = serializers.CharField(source="memory.content", help_text="The whole statement.")
    since = serializers.DateTimeField(source="memory.created_at", help_text="When it was said.")
    status = serializers.ChoiceField(source="memory.status", choices=STATUSES)
    memory = serializers.UUIDField(source="memory.pk")
    extractor = serializers.CharField(source="memory.extractor", help_text="What wrote it down.")
    conversation = serializers.UUIDField(source="memory.conversation_id", allow_null=True)
    source_message_ids = IdsField(source="memory.source_message_ids")


class EndUserSerializer(ApiSerializer):
    """A person that agents talk with."""

    external_id = serializers.CharField(help_text="What requests name as `user`.")
    display_name = serializers.CharField(help_text="Empty while no name is known.")
    role = serializers.CharField(help_text="member, guest, or empty: as the team says of all.")
    created_at = serializers.DateTimeField(help_text="When the person was first named.")


class PersonSerializer(EndUserSerializer):
    """A person with the approved profile."""

    has_insights = serializers.BooleanField(help_text="Whether insights about the person are made.")
    sensitive_fields = serializers.ListField(
        child=serializers.CharField(), help_text="Those that the team changes only with a yes."
    )
    profile = ProfileFieldSerializer(many=True)

    def get_fields(self) -> dict[str, Any]:  # Any: as DRF types its fields
        return {**super().get_fields(), **{k: deepcopy(v.shown) for k, v in PERSON_PARTS.items()}}


class UserFilterSerializer(DatedPageQuerySerializer):
    """Filters of the list of people; all must match."""

    agent = NameField(required=False, help_text="Only who has talked with this agent.")
    project = NameField(required=False, help_text="Only who has talked in this project.")


UserPage = page_schema("UserPage", EndUserSerializer)


class ErasedSerializer(ApiSerializer):
    """The number of rows of each kind that are, or would be, erased."""

    user = serializers.CharField(source="external_id")
    memories = serializers.IntegerField()
    log_entries = serializers.IntegerField()
    conversations = serializers.IntegerField()
    messages = serializers.IntegerField()
    compactions = serializers.IntegerField()
    checkpoints = serializers.IntegerField()
    items = serializers.IntegerField(help_text="Of stores.")
    kept = serializers.ListField(
        child=serializers.UUIDField(),
        help_text="Memories about others, or about nobody, that rest on the person's words in part"
        " and stay readable; up to 100, to be looked at.",
    )


class ErasureToConfirmSerializer(ApiSerializer):  # Any: made of a plan and a token
    """A preview of the erasure, and the token that confirms it."""

    confirmation = serializers.CharField(help_text="Send it as `confirmation` to erase.")
    expires_at = serializers.DateTimeField()
    would_erase = ErasedSerializer()


class ConfirmationSerializer(QuerySerializer):
    confirmation = NameField(required=False, max_length=1000, help_text="What the first call gave.")
    reason = NameField(
        required=False, max_length=500, help_text="For the record; name no person in it."
    )


class UserChangeSerializer(StrictSerializer):
    """Changes to a person."""

    example = {"role": "member", "has_insights": False}

    has_insights = StrictBooleanField(required=False, help_text="Whether any are made from now on.")
    role = serializers.ChoiceField(
        choices=Role.choices,
        required=False,
        help_text="A member hears what other members said about the work, a guest does not.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:  # Any: checked input
        if not attrs:
            raise serializers.ValidationError(
                {"has_insights": "Name what changes: `has_insights` or `role`."}
            )
        return attrs


class UserViewSet(ApiViewSet):
    """The people that a team's agents talk with."""

    @operation("users_list", query=UserFilterSerializer, answer=UserPage, refuses=(403, 422))
    def entries(self, given: Given) -> Response:
        """The team's people, the latest first; nobody who was erased.

        A key of one agent sees those that it has talked with or of whom it may see a memory.
        """
        with self.team_scope():
            rows = filtered_people(viewer=self.viewer, filters=ListFilters(**given))
            if self.principal.is_sign_in:
                rows = rows.filter(external_id=self.principal.end_user)
            return self.page(rows, EndUserSerializer)

    @operation("users_retrieve", query=QuerySerializer, answer=PersonSerializer)
    def load(self, given: Given, external_id: str) -> Response:
        """A person with the approved profile: each field's value, since when and from where.

        What waits for a yes is in `pending` alone. A key of one agent sees people that it has
        talked with or of whom it may see a memory, and of their profile what it may see.
        """
        with self.team_scope():
            return self._answer(self._person(external_id))

    @operation(
        "users_change",
        body=UserChangeSerializer,
        answer=PersonSerializer,
        team_key="What is kept of a person is changed with a key of the team.",
    )
    def change(self, given: Given, external_id: str) -> Response:
        """Change a person's role, or switch insights about them on or off.

        A person who is given a role before they first talk is created. Insights that were made
        stay, to be deleted. Needs a team key that is bound to no agent.
        """
        name = _name(external_id)
        with self.team_scope():
            if "role" in given:
                ensure_end_user(team_id=self.principal.team_id, external_id=name)
            person = self._person(name)
            change_person(person=person, **given)
            return self._answer(person)

    def _person(self, external_id: str) -> EndUser:
        name = _name(external_id)
        self.check_user(name)
        people = filtered_people(viewer=self.viewer, filters=ListFilters())
        person = people.filter(external_id=name).first()
        if person is None:
            raise NotFoundError("There is no such user.")
        return person

    def _answer(self, person: EndUser) -> Response:
        """The person as the viewer may see them; call it in scope."""
        viewer = self.viewer
        fields = sensitive_fields_of(team_id=viewer.team_id)
        answer = {
            **vars(person),
            "sensitive_fields": sorted(fields),
            "profile": profile_of(
                viewer=viewer, end_user_id=person.pk, fields=fields | BENIGN_FIELDS
            ),
            **{name: part.load(viewer, person) for name, part in PERSON_PARTS.items()},
        }
        return Response(PersonSerializer(answer).data)

    @operation(
        "users_erase",
        query=ConfirmationSerializer,
        answer={
            200: (ErasedSerializer, "Erased permanently."),
            202: (ErasureToConfirmSerializer, "Nothing is erased yet; confirm it."),
        },
        refuses=WITH_CONFLICT,
        team_key="Erasing a person needs a key of the team, bound to no agent.",
    )
    def erase(self, given: Given, external_id: str) -> Response:
        """Make everything stored about a person unreadable, including log and messages.

        The first call changes nothing: it returns what would be erased and a confirmation that is
        valid for ten minutes and the same key. A second call with it erases. Order, counts and
        other people's memories stay. Needs a team key that is bound to no agent.
        """
        team_id, actor = self.principal.team_id, self.principal.actor
        name = _name(external_id)
        if "confirmation" in given:
            done = erase_confirmed(
                team_id=team_id,
                external_id=name,
                actor=actor,
                token=given["confirmation"],
                reason=given.get("reason", ""),
            )
            return Response(ErasedSerializer(done).data)
        plan = plan_erasure(team_id=team_id, external_id=name, actor=actor)
        answer = {
            "confirmation": confirmation_of(team_id=team_id, plan=plan, actor=actor),
            "expires_at": timezone.now() + timedelta(seconds=CONFIRM_SECONDS),
            "would_erase": plan,
        }
        return Response(ErasureToConfirmSerializer(answer).data, status=status.HTTP_202_ACCEPTED)


def _name(external_id: str) -> str:
    return name_in_address(external_id, field="external_id", max_length=200)
