"""Changes of a team's providers and models, with the rules that the admin and the API share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from django.conf import settings
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db import IntegrityError, transaction
from django.db.models import ProtectedError

from audit.services.events import Event, record_events
from routing.domain.endpoints import problem_with_key_name, problem_with_url
from routing.models import ChatModel, Provider
from routing.services.keys import encrypt_key, problem_with_key
from routing.services.models import provider_key
from teams.domain.documents import DocumentError
from teams.errors import ConflictError
from teams.models import Team

NAME, TYPED, REMOVED = "key_variable", "api_key", "remove_key"

_Row = TypeVar("_Row", Provider, ChatModel)


@dataclass(frozen=True, slots=True)
class NewKey:
    """A change of a provider's key: a typed key, the removal of the stored one, or neither.

    `is_named` says that the name of the key's variable was given anew.
    """

    typed: str = ""
    is_removed: bool = False
    is_named: bool = False


def apply_key(*, provider: Provider, team: Team | None, key: NewKey) -> tuple[str, str]:
    """Gives the provider, with its address and variable set, its key; stores nothing.

    Returns the field at fault and the problem, which repeats no key; both are empty where the key
    can be sent, or where that cannot be told for want of a team or a valid address.
    """
    name = provider.key_variable
    if words := problem_with_key_name(name):
        return NAME, words
    if words := problem_with_key(key.typed):
        return TYPED, words
    if key.typed and key.is_removed:
        return REMOVED, "Enter a new API key or remove the stored one, not both."
    if key.typed and name and key.is_named:
        return TYPED, "Enter an API key or name its variable, not both."
    if team is None or problem_with_url(provider.base_url):
        return "", ""
    if key.typed:
        provider.key_variable = ""
        provider.encrypted_key = encrypt_key(key.typed, team_id=team.pk, base_url=provider.base_url)
    elif name or key.is_removed:
        provider.encrypted_key = ""
    _, problem = provider_key(provider=provider, team=team)
    return (TYPED if provider.encrypted_key else NAME, problem) if problem else ("", "")


def save_provider(*, provider: Provider, key: NewKey) -> Provider:
    """Stores a provider that a key of the team sets; call it in the team's scope.

    Raises DocumentError with the fields at fault. A key of the server is sent only to hosts that
    its operator listed: keys of teams lie in many places.
    """
    name = provider.key_variable
    field, problem = apply_key(provider=provider, team=provider.team, key=key)
    if not problem and name and not settings.PROVIDER_KEYS.get(f"{name}_HOSTS", "").strip():
        field, problem = NAME, f"Set {name}_HOSTS on the server first, or send api_key instead."
    if problem:
        raise DocumentError({field: [problem]})
    return _saved(provider)


def save_model(*, model: ChatModel) -> ChatModel:
    """Stores a new or changed model; call it in the team's scope.

    Raises DocumentError with the fields at fault.
    """
    return _saved(model)


def delete_row(*, row: Provider | ChatModel) -> None:
    """Deletes the provider or model; call it in the team's scope.

    Raises ConflictError for a provider that still has models.
    """
    note_change(row=row, op="delete")
    try:
        row.delete()
    except ProtectedError:
        raise ConflictError("The provider still has models. Delete them first.") from None


def note_change(*, row: Provider | ChatModel, op: str) -> None:
    """Leaves an event of the change ("create", "update" or "delete") in its transaction."""
    event = Event(node="routing", op=op, meta={row._meta.model_name or "": str(row.pk)})
    record_events(team_id=row.team_id, events=[event])


def _saved(row: _Row) -> _Row:
    is_new = row._state.adding
    try:
        row.full_clean()
    except ValidationError as error:
        problems = error.message_dict
        others = problems.pop(NON_FIELD_ERRORS, None)
        if others:
            is_taken = any(e.code == "unique" for e in error.error_dict[NON_FIELD_ERRORS])
            problems.setdefault("name" if is_taken else "", []).extend(others)
        raise DocumentError(problems) from None
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError:
        # Another request stored one of this name in between.
        raise ConflictError(f"There is a {row._meta.verbose_name} of this name.") from None
    note_change(row=row, op="create" if is_new else "update")
    return row
