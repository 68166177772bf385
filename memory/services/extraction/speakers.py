"""Whose the memories of a conversation with several people are: whoever said what they hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from memory.domain.talk import other_speakers
from memory.domain.types import Role
from teams.models import Conversation, EndUser, Message


def people_beside_user(*, conversation: Conversation) -> dict[str, EndUser]:
    """The end users who speak in the conversation beside its own, by casefolded name; in scope.

    A name stands for the end user of exactly that external id, as an import creates them. Empty
    where no two names speak.
    """
    said = Message.objects.filter(
        team_id=conversation.team_id, conversation=conversation, role=Role.USER.value
    ).exclude(name="")
    names = said.order_by("name").values_list("name", flat=True).distinct()
    others = other_speakers(names, user=conversation.end_user.names)
    if not others:
        return {}
    rows = EndUser.objects.filter(team_id=conversation.team_id, external_id__in=others)
    return {row.external_id.casefold(): row for row in rows}


def person_of(
    sources: Iterable[Message], *, conversation: Conversation, people: Mapping[str, EndUser]
) -> EndUser:
    """Who said all of the sources that people said, else the conversation's own end user.

    `people` are those of `people_beside_user`.
    """
    names = {row.name.strip().casefold() for row in sources if row.role == Role.USER.value}
    if len(names) == 1:
        return people.get(names.pop(), conversation.end_user)
    return conversation.end_user
