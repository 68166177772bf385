"""The key, the entities, and what of mem0's protocol is not offered."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db.models import Count, Max, Min
from rest_framework.request import Request
from rest_framework.response import Response

from memory.domain.audience import Viewer
from memory.models import Memory
from memory.models.querysets import MemoryQuerySet
from memory.satellites.mem0.base import Mem0ViewSet, NotOfferedError
from memory.satellites.mem0.inputs import (
    ENTITIES,
    MAX_RESULTS,
    WILDCARD,
    Mem0Serializer,
    parse_mem0,
)
from memory.satellites.mem0.writes import Mem0Memories
from memory.selectors.filters import matching
from teams.errors import InvalidError, NotFoundError

_COLUMNS = {
    "user_id": "end_user__external_id",
    "agent_id": "agent__slug",
    "app_id": "project__slug",
    "run_id": "conversation__thread_id",
}


class Mem0Key(Mem0ViewSet):
    """Whose key it is."""

    def ping(self, request: Request) -> Response:
        """The team, which stands for mem0's organisation and project."""
        self.params(Mem0Serializer)
        team = str(self.principal.team_id)
        return Response({"status": "ok", "org_id": team, "project_id": team, "user_email": None})


class Mem0Entities(Mem0Memories):
    """The people, agents, projects and conversations of which there are memories."""

    operations = {"remove_entity": ("hotpath", "delete")}
    memory_actions = ("entries", "remove_entity")
    no_profiles: ClassVar[str] = ""

    def entries(self, request: Request) -> Response:
        """Those with memories that the key may see, of each kind the 1,000 last remembered.

        For a key of one agent people are named, and count for no agent, project or conversation.
        """
        self.params(Mem0Serializer)
        results: list[dict[str, Any]] = []  # Any: what JSON holds
        with self.team_scope():
            lister = self.lister({})
            for field, column in _COLUMNS.items():
                found = (
                    self._rows(field, WILDCARD, viewer=None if field == "user_id" else lister)
                    .order_by()
                    .values(column)
                    .annotate(total=Count("pk"), first=Min("created_at"), last=Max("updated_at"))
                    .order_by("-last")[:MAX_RESULTS]
                )
                kind = field.removesuffix("_id")
                results += [
                    {
                        "id": f"{kind}:{each[column]}",
                        "name": each[column],
                        "type": kind,
                        "total_memories": each["total"],
                        "created_at": each["first"],
                        "updated_at": each["last"],
                    }
                    for each in found
                ]
        return Response({"count": len(results), "next": None, "previous": None, "results": results})

    def remove_entity(self, request: Request, kind: str, name: str) -> Response:
        """Soft-delete the memories of an entity; what was said stays.

        Raises NotFoundError where it has none. `DELETE /v1/users/{id}` erases a person.
        """
        field = f"{kind}_id"
        if field not in ENTITIES:
            raise InvalidError("Must be user, agent, app or run.", field="entity_type")
        if name == WILDCARD:
            raise InvalidError("Name one; delete_all takes «*» for any.", field="entity_id")
        with self.team_scope():
            if not self._rows(field, name).exists():
                raise NotFoundError(f"There are no memories of the {kind} '{name}'.")
        self.cleared({field: name})
        return Response({"message": "Entity deleted successfully!"})

    def profile(self, request: Request, kind: str, name: str) -> Response:
        """501 with the reason; the address is also that of an entity whose name ends so."""
        raise NotOfferedError(self.no_profiles)

    def _rows(self, field: str, name: str, *, viewer: Viewer | None = None) -> MemoryQuerySet:
        return matching(
            viewer=viewer or self.viewer,
            rows=Memory.objects.all().live(),
            expression=parse_mem0({field: name}),
        )


class Mem0NotOffered(Mem0ViewSet):
    """Parts of the protocol that are not offered, each with what there is in its place."""

    only_reads = True
    reason: ClassVar[str] = ""

    def refuse(self, request: Request, **parts: str) -> Response:
        """501 with the reason."""
        raise NotOfferedError(self.reason)
