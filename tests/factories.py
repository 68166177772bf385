"""Rows for tests; call them in the team's scope."""

from __future__ import annotations

from typing import Any

import factory
from django.utils import timezone
from factory.django import DjangoModelFactory

from memory.models import Contradiction, Job, Memory
from teams.models import Agent, Conversation, EndUser, Message, Project, StaffUser, Team
from teams.services.people import create_team


def make_team(*, slug: str) -> Team:
    """A team, made as the product makes it."""
    return create_team(slug=slug, name=slug.title(), actor="test")


class StaffUserFactory(DjangoModelFactory[StaffUser]):
    """A staff login with the password `secret`."""

    username = factory.Sequence(lambda n: f"staff{n}")
    is_staff = True
    password = factory.django.Password("secret")

    class Meta:
        model = StaffUser


class AgentFactory(DjangoModelFactory[Agent]):
    """An agent."""

    slug = factory.Sequence(lambda n: f"agent{n}")
    name = factory.LazyAttribute(lambda each: each.slug.title())

    class Meta:
        model = Agent


class EndUserFactory(DjangoModelFactory[EndUser]):
    """A person."""

    external_id = factory.Sequence(lambda n: f"person{n}")

    class Meta:
        model = EndUser


class ProjectFactory(DjangoModelFactory[Project]):
    """A project."""

    slug = factory.Sequence(lambda n: f"project{n}")
    name = factory.LazyAttribute(lambda each: each.slug.title())

    class Meta:
        model = Project


class ConversationFactory(DjangoModelFactory[Conversation]):
    """A conversation; give `team`, `agent` and `end_user`."""

    thread_id = factory.Sequence(lambda n: f"thread-{n}")

    class Meta:
        model = Conversation


class MessageFactory(DjangoModelFactory[Message]):
    """A message; give `team` and `conversation`."""

    position = factory.Sequence(lambda n: n + 1)
    role = "user"
    content = factory.Sequence(lambda n: f"Message {n}.")
    created_at = factory.LazyFunction(timezone.now)

    class Meta:
        model = Message


class MemoryFactory(DjangoModelFactory[Memory]):
    """A memory row put in past the write path, for tests of the database and of reads."""

    memory_type = "semantic"
    scope = "team"
    content = factory.Sequence(lambda n: f"Fact number {n} is true.")
    importance = 5
    extractor = "test"
    actor = "test"

    class Meta:
        model = Memory

    @classmethod
    def _create(cls, model_class: type[Memory], *args: Any, **kwargs: Any) -> Memory:
        # Any: factory_boy's own signature
        row = model_class(**kwargs)
        row.save(force_insert=True)
        return row


class ContradictionFactory(DjangoModelFactory[Contradiction]):
    """An open dispute; give `team`, `memory_a` and, unless it is an objection, `memory_b`."""

    strategy = "same_subject"
    judge = "test"
    verdict = "dispute"

    class Meta:
        model = Contradiction


class JobFactory(DjangoModelFactory[Job]):
    """The extraction of a conversation's first message; give `team` and `conversation`."""

    from_position = 1
    to_position = 1

    class Meta:
        model = Job
