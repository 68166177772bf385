"""What a message is found by, apart from the message: its vector, its words, and whose it is."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from pgvector.django import HalfVectorField

from teams.models import Agent, Conversation, EndUser, Message, Project, Team
from teams.models.base import SameTeamKey
from teams.models.conversations import ROLES

from .querysets import MessageEntryQuerySet


class MessageEntry(models.Model):
    """The vector and the words of one message of a person or an agent, for the raw search.

    A trigger makes it with the message, waiting; a service fills it in soon after, so that storing
    a message waits for no embedder and nothing that was acknowledged is left out. What a system or
    a tool said has no entry: the first is the prompt, memory included, the second is data for the
    agent that would drown what was said.

    Whose it is and where it stands are copies that triggers keep. `is_forgotten` says that a memory
    that was made of it is deleted: then a search must not find the words it was made of. `people`
    are the words, casefolded, of the speaker's name. The vectors are as in `SearchEntry`; without
    words to find (nothing but memory that was injected into a prompt) there is none.
    """

    message = models.OneToOneField(
        Message,
        on_delete=models.PROTECT,
        primary_key=True,
        related_name="+",
        db_constraint=False,
    )
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="+", db_index=False)
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
    embedding = HalfVectorField(null=True)
    embedding_model = models.CharField(max_length=200, blank=True, default="", db_default="")
    next_embedding = HalfVectorField(null=True)
    next_model = models.CharField(max_length=200, blank=True, default="", db_default="")
    lexemes = SearchVectorField(default="", db_default="")

    objects = MessageEntryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "message entries"
        indexes = [
            models.Index(
                fields=["team", "conversation", "position"], name="memory_message_in_conversation"
            ),
            models.Index(fields=["team", "end_user", "agent"], name="memory_message_by_owner"),
            models.Index(
                fields=["team", "message"],
                condition=models.Q(is_waiting=True),
                name="memory_message_waiting",
            ),
        ]

    def __str__(self) -> str:
        return str(self.message_id)
