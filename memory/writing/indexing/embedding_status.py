"""What has vectors, and whether they are those of the model that is set, for the operator."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import DatabaseError, InterfaceError, connection
from django.db.models import Q, QuerySet

from memory.models import EmbeddingState, Memory, MessageEntry, SearchEntry
from memory.writing.indexing.message_index import said_by
from teams.services.people import all_team_ids
from teams.tenancy import team_scope

logger = logging.getLogger(__name__)

ACTOR = "embedding_status"
_OUT_OF_GRAPH = (
    "graph_dimensions = CASE next_model WHEN %(model)s THEN 0 ELSE graph_dimensions END,"
)


@dataclass(frozen=True, slots=True)
class EmbeddedKind:
    """What has vectors: its entries, the column that names each, and the texts embedded."""

    entries: type[SearchEntry] | type[MessageEntry]
    key: str
    texts: Callable[[UUID, Sequence[UUID]], dict[UUID, str]]
    # What is set as well where a vector is replaced, as SQL.
    more: str = ""

    def rows(self, **conditions: object) -> QuerySet[Any, Any]:  # Any: entries of either kind
        """Its entries that have a vector.

        What waits for its first vector gets that of the present model from whoever embeds it.
        """
        rows: QuerySet[Any, Any] = self.entries.objects.filter(embedding__isnull=False)
        return rows.filter(**conditions)

    def statement(self, sql: str) -> str:
        """The statement for its table."""
        table = self.entries._meta.db_table
        return sql.format(table=table, key=self.key, more=self.more)


def _memory_texts(team_id: UUID, ids: Sequence[UUID]) -> dict[UUID, str]:
    rows = Memory.objects.filter(team_id=team_id, id__in=ids)
    return dict(rows.values_list("id", "content"))


def _message_texts(team_id: UUID, ids: Sequence[UUID]) -> dict[UUID, str]:
    return {each.message_id: each.embedded for each in said_by(team_id=team_id, ids=ids)}


KINDS = (
    EmbeddedKind(SearchEntry, "memory_id", _memory_texts, more=_OUT_OF_GRAPH),
    EmbeddedKind(MessageEntry, "message_id", _message_texts),
)


def lacking_vector(rows: QuerySet[Any, Any], model: str) -> QuerySet[Any, Any]:
    """Those of the entries that have no vector of the model."""
    return rows.exclude(Q(embedding_model=model) | Q(next_model=model))


@dataclass(frozen=True, slots=True)
class EmbeddingStatus:
    """Whose vectors the memories have: `active` is what searches use, `wanted` what is set.

    `lacking` memories and `lacking_messages` messages have no vector of the wanted model.
    """

    active: str
    wanted: str
    lacking: int
    lacking_messages: int = 0

    @property
    def line(self) -> str:
        """What an operator must know, in one line; empty when there is nothing to do."""
        if not self.lacking and not self.lacking_messages and self.active == self.wanted:
            return ""
        if self.active == self.wanted:
            return (
                f"{self._what} have no vector of {self.wanted}:"
                " run «manage.py reembed»; until then searches find them by their words alone"
            )
        return (
            f"{self._what} are embedded with {self.active}, the settings say"
            f" {self.wanted}: run «manage.py reembed»; until then searches by meaning use"
            f" {self.active}"
        )

    @property
    def _what(self) -> str:
        messages = f" and {self.lacking_messages} messages" if self.lacking_messages else ""
        return f"{self.lacking} memories{messages}"


def embedding_status(*, wanted: str) -> EmbeddingStatus:
    """Compare the data with the model that is set, over all teams.

    Without any memory there is nothing to compare, and the wanted model becomes the active one.
    """
    state = EmbeddingState.objects.first()
    with team_scope(team_ids=all_team_ids(), actor=ACTOR):
        lacking = [lacking_vector(kind.rows(), wanted).count() for kind in KINDS]
        is_empty = not any(lacking) and not any(kind.rows().exists() for kind in KINDS)
    active = wanted if state is None or is_empty else state.model
    return EmbeddingStatus(active, wanted, *lacking)


def log_embedding_status(*, wanted: str) -> None:
    """Say in the log of a starting process what an operator must know, if anything."""
    try:
        line = embedding_status(wanted=wanted).line
    except (DatabaseError, InterfaceError):
        # A server starts without its database and answers 503 until it is there.
        return
    finally:
        connection.close()
    if line:
        # An error, as the launcher shows no lesser lines to the person at the shell.
        logger.error("%s", line)
