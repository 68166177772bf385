"""Shared parts of the erasure tests: a person's story, and searches for what is left of it."""

from __future__ import annotations

from typing import Any

from django.db import connections
from django.utils import timezone
from django_redis import get_redis_connection
from rest_framework.test import APIClient

from audit.services.erasure import erase_user
from audit.services.seals import closed_up_to, seal_team
from memory.models import Contradiction, Memory
from teams.models import EndUser, Message
from tests import factories
from tests.support.cast import Cast

# In everything that is held of Sarah and in nothing else.
NEEDLE = "zanzibarion"
ERASED = "[erased]"


def post(api: APIClient, path: str, key: str = "", **body: object) -> Any:
    """The answer to a JSON body."""
    headers = {"Idempotency-Key": key} if key else {}
    response = api.post(f"/v1/{path}", body, format="json", headers=headers)
    assert response.status_code in (200, 201), response.content
    return response.json()


def erase(town: Cast, external_id: str) -> None:
    """Erase a person as an operator does."""
    erase_user(team_id=town.team.id, external_id=external_id, actor="command:test")


def seal(town: Cast) -> None:
    """Seal the team's log."""
    last_seq = closed_up_to(seconds=10)
    assert last_seq is not None
    seal_team(team_id=town.team.id, last_seq=last_seq, now=timezone.now())


def found_in_tables(*words: str) -> dict[str, int]:
    """Every table in which a row, written out, holds one of the words; the owner sees them all."""
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "SELECT format('%I', c.relname) FROM pg_class c WHERE c.relkind IN ('r', 'p')"
            " AND c.relnamespace = 'public'::regnamespace"
        )
        tables = [name for (name,) in cursor.fetchall()]
        found = {}
        for table in tables:
            cursor.execute(
                f"SELECT count(*) FROM {table} t WHERE t::text ILIKE ANY (%s)",
                [[f"%{word}%" for word in words]],
            )
            (count,) = cursor.fetchone()
            if count:
                found[table] = count
    return found


def found_in_redis(word: str) -> list[str]:
    """The keys of Redis that hold the word, in their name or their value."""
    client = get_redis_connection("default")
    found = []
    for key in client.scan_iter("*"):
        kind = client.type(key)
        value = (
            client.get(key)
            if kind == b"string"
            else client.hgetall(key)
            if kind == b"hash"
            else b""
        )
        if word.encode() in key.lower() + str(value).lower().encode():
            found.append(key.decode())
    return found


def rows_of(table: str, where: str) -> list[tuple[Any, ...]]:
    """Rows as they stand, for the owner."""
    with connections["owner"].cursor() as cursor:
        cursor.execute(f"SELECT * FROM {table} WHERE {where} ORDER BY 1, 2")
        return list(cursor.fetchall())


def said(town: Cast, person: EndUser, content: str) -> Message:
    """A message of the person in a conversation of its own."""
    talk = factories.ConversationFactory.create(
        team=town.team, agent=town.kyra, end_user=person, last_position=1
    )
    return factories.MessageFactory.create(
        team=town.team, conversation=talk, position=1, content=content
    )


def dispute(town: Cast, first: Memory, second: Memory) -> Contradiction:
    """An open contradiction of two memories."""
    for one, two in ((first, second), (second, first)):
        one.status = "disputed"
        one.contradicts = [*one.contradicts, two.pk]
        one.save()
    return factories.ContradictionFactory.create(
        team=town.team,
        memory_a=first,
        memory_b=second,
        strategy="same_subject",
        judge="test",
        verdict="dispute",
        reason="they speak of the same",
    )
