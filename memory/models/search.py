"""Search entries of memories and messages, apart from them: vectors, words and owners."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.utils import timezone
from pgvector.django import HalfVectorField

from memory.domain.audience import Audience
from memory.models.memory import AUDIENCES, MEMORY_TYPES, Memory
from teams.models import Agent, Conversation, EndUser, Message, Project
from teams.models.base import OfTeam, SameTeamKey, SameTeamRow, TeamKey, TeamOwned
from teams.models.conversations import ROLES


class Place(models.IntegerChoices):
    """Returns the search pool of a memory, from its status and tier."""

    FOUND = 0, "found by default"
    COLD = 1, "live, but cold"
    PAST = 2, "superseded or archived"
    GONE = 3, "deleted"


class SearchEntry(OfTeam):
    """The vector and the words of one memory; inserted with it, replaced by a re-embedding.

    The vectors have no fixed dimension in the schema: the model beside each says whose it is. One
    of a bulk has neither at first: it is found by its words until a worker has embedded it.
    While a re-embedding is under way an entry has the next model's vector as well. Whose memory it
    is, where it stands in its conversation (`position`) and in time, and whether searches find it
    (`place`) are copies that triggers keep, so that an index knows them. `people` are the words,
    casefolded, of the names of those whom it is by or about.
    `graph_dimensions` is not 0 while the vector stands in an approximate index of that size, that
    of its team's `graph_number`, which holds only what is found by default.
    """

    memory = SameTeamRow(
        Memory,
        on_delete=models.PROTECT,
        primary_key=True,
        related_name="search_entry",
        db_constraint=False,
    )
    team = TeamKey()
    memory_type = models.CharField(max_length=20, choices=MEMORY_TYPES, editable=False)
    audience = models.CharField(
        max_length=10,
        choices=AUDIENCES,
        default=Audience.AGENT.value,
        db_default=Audience.AGENT.value,
        editable=False,
    )
    agent = SameTeamKey(Agent, null=True, editable=False)
    end_user = SameTeamKey(EndUser, null=True, editable=False)
    project = SameTeamKey(Project, null=True, editable=False)
    conversation = SameTeamKey(Conversation, null=True, editable=False)
    position = models.PositiveIntegerField(null=True, editable=False)
    said_at = models.DateTimeField(editable=False)
    held_from = models.DateTimeField(null=True, editable=False)
    held_until = models.DateTimeField(null=True, editable=False)
    people = ArrayField(models.TextField(), default=list, db_default=models.Value([]))
    place = models.PositiveSmallIntegerField(
        choices=Place.choices, default=Place.FOUND, db_default=Place.FOUND, editable=False
    )
    embedding = HalfVectorField(null=True)
    embedding_model = models.CharField(max_length=200, blank=True, default="", db_default="")
    next_embedding = HalfVectorField(null=True)
    next_model = models.CharField(max_length=200, blank=True, default="", db_default="")
    graph_dimensions = models.PositiveSmallIntegerField(default=0, db_default=0, editable=False)
    graph_number = models.PositiveSmallIntegerField(default=0, db_default=0, editable=False)
    lexemes = SearchVectorField()

    class Meta:
        verbose_name_plural = "search entries"
        indexes = [
            models.Index(
                fields=["team", "conversation", "position"],
                condition=models.Q(conversation__isnull=False),
                name="memory_search_in_conversation",
            ),
            models.Index(
                fields=["team", "end_user", "place", "memory"], name="memory_search_by_owner"
            ),
            models.Index(
                fields=["team", "end_user"],
                condition=models.Q(place=Place.COLD),
                name="memory_search_cold",
            ),
            models.Index(
                fields=["team", "end_user", "place"],
                condition=models.Q(graph_dimensions=0),
                name="memory_search_outside_graph",
            ),
            models.Index(
                fields=["team", "memory"],
                condition=models.Q(embedding_model=""),
                name="memory_search_pending",
            ),
        ]

    def __str__(self) -> str:
        return str(self.memory_id)


class SearchGraph(TeamOwned):
    """Marks a team whose vectors, but the latest, are in an approximate index; others are exact."""

    dimensions = models.PositiveSmallIntegerField()
    number = models.PositiveSmallIntegerField()
    model = models.CharField(max_length=200)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team"], name="search_graph_once")]

    def __str__(self) -> str:
        return f"{self.dimensions} dimensions"


class MessageEntry(OfTeam):
    """The vector and the words of one message of a person or an agent, for the raw search.

    A trigger makes it with the message, waiting; a service fills it in soon after, so that storing
    a message waits for no embedder and nothing that was acknowledged is left out. What a system or
    a tool said has no entry: the first is the prompt, memory included, the second is data for the
    agent that would drown what was said.

    Whose it is and where it stands are copies that triggers keep. `is_forgotten` says that a memory
    that was made of it is deleted: then a search must not find the words it was made of.
    `audience` says who finds it beside its own agent: empty until it is extracted and known not to
    be told in confidence; what was withheld once (AGENT) stays with its agent.
    `people` are the words, casefolded, of the speaker's name. The vectors are as in `SearchEntry`;
    without words to find (nothing but memory that was injected into a prompt) there is none.
    """

    message = SameTeamRow(
        Message, on_delete=models.PROTECT, primary_key=True, related_name="+", db_constraint=False
    )
    team = TeamKey()
    conversation = SameTeamKey(Conversation, editable=False)
    agent = SameTeamKey(Agent, editable=False)
    end_user = SameTeamKey(EndUser, editable=False)
    project = SameTeamKey(Project, null=True, editable=False)
    position = models.PositiveIntegerField(editable=False)
    said_at = models.DateTimeField(editable=False)
    role = models.CharField(max_length=20, choices=ROLES, editable=False)
    people = ArrayField(models.TextField(), default=list, db_default=models.Value([]))
    is_waiting = models.BooleanField(default=True, db_default=True)
    is_forgotten = models.BooleanField(default=False, db_default=False, editable=False)
    audience = models.CharField(  # noqa: DJ001 - null says that it is not decided yet
        max_length=10, choices=AUDIENCES, null=True, editable=False
    )
    embedding = HalfVectorField(null=True)
    embedding_model = models.CharField(max_length=200, blank=True, default="", db_default="")
    next_embedding = HalfVectorField(null=True)
    next_model = models.CharField(max_length=200, blank=True, default="", db_default="")
    lexemes = SearchVectorField(default="", db_default="")

    class Meta:
        verbose_name_plural = "message entries"
        indexes = [
            models.Index(
                fields=["team", "conversation", "position"], name="memory_message_in_conversation"
            ),
            models.Index(fields=["team", "end_user", "agent"], name="memory_message_by_owner"),
            models.Index(
                fields=["team", "message"],
                condition=models.Q(audience=Audience.TEAM.value),
                name="memory_message_of_team",
            ),
            models.Index(
                fields=["team", "message"],
                condition=models.Q(is_waiting=True),
                name="memory_message_waiting",
            ),
        ]

    def __str__(self) -> str:
        return str(self.message_id)


class EmbeddingState(models.Model):
    """The one row of an installation that says whose vectors searches compare; none at first.

    `model` is the active model's name and `dimensions` its vectors' size. `next_model` is the
    model that a reembedding under way goes to: memories written meanwhile get its vector too.
    """

    id = models.PositiveSmallIntegerField(primary_key=True, default=1, editable=False)
    model = models.CharField(max_length=200)
    dimensions = models.PositiveIntegerField()
    next_model = models.CharField(max_length=200, blank=True, default="")
    switched_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(id=1), name="embedding_state_once"),
        ]

    def __str__(self) -> str:
        return self.model
