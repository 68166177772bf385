"""Records: the log of memory, its past states, and operational events."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Unpack

from pydantic import TypeAdapter

from palimpsest_client import models as m
from palimpsest_client import params as p
from palimpsest_client.calls import Call, Paged, Streamed, get, pages
from palimpsest_client.operations import Resource, SenderT, operation

When = datetime | str
_row = TypeAdapter(dict[str, Any]).validate_json  # Any: a JSON object


class Audit(Resource[SenderT]):
    """`/v1/audit`."""

    @operation
    def log(
        self, *, from_: When | None = None, **query: Unpack[p.AuditLogQuery]
    ) -> Paged[m.LogPage, m.LogEntryWithState]:
        """Changes of memories, the latest first; `from_` is the first instant."""
        return pages("/v1/audit/log", m.LogPage, query={**query, "from": from_})

    @operation
    def state(self, **query: Unpack[p.AuditStateRetrieveQuery]) -> Paged[m.StatePage, m.PastMemory]:
        """The memories as they were at an instant."""
        return pages("/v1/audit/state", m.StatePage, query=query)

    @operation
    def changes(self, **query: Unpack[p.AuditStateRetrieveQuery]) -> Paged[m.ChangePage, m.Change]:
        """The memories that differ between `at` and `diff_to`."""
        return pages("/v1/audit/state", m.ChangePage, query=query)

    @operation
    def export(self, **query: Unpack[p.AuditExportQuery]) -> Streamed[dict[str, Any]]:
        """All that is stored about a person, row by row."""
        return Streamed(get("/v1/audit/export", str, query=query), _row)


class Events(Resource[SenderT]):
    """`/v1/events`."""

    @operation
    def list(
        self, *, from_: When | None = None, **query: Unpack[p.EventsListQuery]
    ) -> Paged[m.EventPage, m.Event]:
        """Operations, the latest first; `from_` is the first instant."""
        return pages("/v1/events", m.EventPage, query={**query, "from": from_})

    @operation
    def counts(
        self, *, from_: When | None = None, **query: Unpack[p.EventsCountsQuery]
    ) -> Call[m.EventCounts]:
        """The number of events of each kind; `from_` is the first instant."""
        return get("/v1/events/counts", m.EventCounts, query={**query, "from": from_})
