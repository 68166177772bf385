"""What has vectors: memories and messages, each with its entries and its texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from memory.models import Memory, MessageEntry, SearchEntry
from memory.services.indexing.message_index import embedded_texts

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
        """Its entries that have a vector or should."""
        rows = self.entries.objects.filter(**conditions)
        # A message that waits gets its vectors from whoever indexes it, an empty one none.
        return rows.filter(embedding__isnull=False) if self.entries is MessageEntry else rows

    def statement(self, sql: str) -> str:
        """The statement for its table."""
        table = self.entries._meta.db_table
        return sql.format(table=table, key=self.key, more=self.more)


def _memory_texts(team_id: UUID, ids: Sequence[UUID]) -> dict[UUID, str]:
    rows = Memory.objects.filter(team_id=team_id, id__in=ids)
    return dict(rows.values_list("id", "content"))


def _message_texts(team_id: UUID, ids: Sequence[UUID]) -> dict[UUID, str]:
    return embedded_texts(team_id=team_id, ids=ids)


_MEMORIES = EmbeddedKind(SearchEntry, "memory_id", _memory_texts, more=_OUT_OF_GRAPH)
_MESSAGES = EmbeddedKind(MessageEntry, "message_id", _message_texts)
KINDS = (_MEMORIES, _MESSAGES)


def lacking_vector(rows: QuerySet[Any, Any], model: str) -> QuerySet[Any, Any]:
    """Those of the entries that have no vector of the model."""
    return rows.exclude(Q(embedding_model=model) | Q(next_model=model))
