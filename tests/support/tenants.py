"""Two teams with a row of every kind, and the models that have teams."""

from __future__ import annotations

from typing import Any

import pytest
from django.apps import apps
from django.contrib.postgres.search import SearchVector
from django.db import connection
from django.db.models import Value

from audit.models import MemoryLog
from memory.models import (
    Category,
    Contradiction,
    Job,
    Memory,
    MemoryArtifact,
    MemoryRelation,
    MemoryTag,
    MemoryUsage,
    SearchEntry,
)
from teams.models import (
    Agent,
    ApiKey,
    Conversation,
    EndUser,
    Membership,
    Message,
    Project,
    StaffUser,
)
from teams.services.keys import issue_key
from teams.tenancy import team_scope
from tests import factories
from tests.support.cast import Cast, make_cast

TENANT_MODELS = [
    model
    for model in apps.get_models()
    if any(field.name == "team" and field.concrete for field in model._meta.get_fields())
]
KNOWN = {
    Agent, ApiKey, Category, Contradiction, Conversation, EndUser, Job, Membership, Memory,
    MemoryArtifact, MemoryLog, MemoryRelation, MemoryTag, MemoryUsage, Message, Project,
    SearchEntry,
}  # fmt: skip
each_tenant_model = pytest.mark.parametrize(
    "model", TENANT_MODELS, ids=lambda model: model._meta.db_table
)
each_known_model = pytest.mark.parametrize(
    "model", [model for model in TENANT_MODELS if model in KNOWN], ids=lambda m: m._meta.db_table
)


def ask(statement: str, params: list[Any] | None = None) -> list[tuple[Any, ...]]:
    """The rows of a statement on the application's connection."""
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
        return list(cursor.fetchall()) if cursor.description else []


def settle(cast: Cast) -> dict[str, Any]:
    """Give the team a row in every table of ours."""
    with team_scope(team_ids=[cast.team.id], actor="test"):
        project = factories.ProjectFactory(team=cast.team)
        conversation = factories.ConversationFactory.create(
            team=cast.team, agent=cast.kyra, end_user=cast.sarah, project=project
        )
        message = factories.MessageFactory(team=cast.team, conversation=conversation)
        old, new = factories.MemoryFactory.create_batch(2, team=cast.team, tags=["place"])
        factories.MemoryFactory.create(
            team=cast.team,
            form="episode",
            payload={"title": "x", "artifacts": [{"kind": "pr", "ref": "1"}]},
        )
        SearchEntry.objects.create(
            memory=old,
            team=cast.team,
            embedding=[1.0, 0.0],
            embedding_model="test",
            lexemes=SearchVector(Value(old.content), config="english"),
        )
        MemoryUsage.objects.create(memory=old, team=cast.team)
        MemoryRelation.objects.create(team=cast.team, from_memory=new, to_memory=old, strength=0.5)
        contradiction = factories.ContradictionFactory.create(
            team=cast.team,
            memory_a=old,
            memory_b=new,
            strategy="same_subject",
            judge="test",
            verdict="dispute",
        )
        job = factories.JobFactory.create(
            team=cast.team, conversation=conversation, from_position=1, to_position=1
        )
        Category.objects.create(team=cast.team, name="goals")
        key = issue_key(team_id=cast.team.id).key
        user = StaffUser.objects.create(username=f"staff-of-{cast.team.slug}")
        Membership.objects.create(team=cast.team, user=user)
    return {
        "agent": cast.kyra,
        "end_user": cast.sarah,
        "project": project,
        "conversation": conversation,
        "message": message,
        "memory": old,
        "contradiction": contradiction,
        "job": job,
        "key": key,
    }


@pytest.fixture
def neighbours(globex: Cast) -> tuple[Cast, Cast]:
    """Two teams with rows in every table; no scope is open."""
    initech = make_cast("initech")
    settle(initech)
    settle(globex)
    return initech, globex
