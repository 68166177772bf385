"""The key, the entities, the parts of mem0's protocol that are not offered, and all addresses."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db.models import Count, Max, Min
from django.urls import URLPattern, path
from rest_framework.request import Request
from rest_framework.response import Response

from memory.domain.audience import Viewer
from memory.models import Memory
from memory.models.querysets import MemoryQuerySet
from memory.satellites.mem0.inputs import (
    ENTITIES,
    MAX_RESULTS,
    WILDCARD,
    Mem0Serializer,
    parse_mem0,
)
from memory.satellites.mem0.protocol import Mem0ViewSet, NotOfferedError
from memory.satellites.mem0.reads import Mem0Reads
from memory.satellites.mem0.writes import Mem0Memories
from memory.selectors.filters import matching
from teams.errors import InvalidError, NotFoundError

_COLUMNS = {
    "user_id": "end_user__external_id",
    "agent_id": "agent__slug",
    "app_id": "project__slug",
    "run_id": "conversation__thread_id",
}


_PROFILES = (
    "Profiles are made of no schema here: GET /v1/users/{user_id} has the approved profile of a"
    " person, each value with its source."
)


class Mem0Key(Mem0ViewSet):
    """The owner of the key."""

    def ping(self, request: Request) -> Response:
        """The team, which stands for mem0's organisation and project."""
        self.params(Mem0Serializer)
        team = str(self.principal.team_id)
        return Response({"status": "ok", "org_id": team, "project_id": team, "user_email": None})


class Mem0Entities(Mem0Memories):
    """The people, agents, projects and conversations of which there are memories."""

    operations = {"remove_entity": ("hotpath", "delete")}
    memory_actions = ("entries", "remove_entity")

    def entries(self, request: Request) -> Response:
        """The entities with memories that the key may see, of each kind the 1,000 last remembered.

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
        raise NotOfferedError(_PROFILES)

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


_PROJECT = (
    "A team is set up in the admin: its categories, agents and members, and by PUT"
    " /v1/agents/{agent}."
)
_WEBHOOKS = "There are no webhooks under this protocol."
_SUMMARY = "There are no summaries of filters: ask POST /v1/memory/query."


def _refused(route: str, reason: str) -> URLPattern:
    views = dict.fromkeys(("get", "post", "put", "patch", "delete"), "refuse")
    return path(route, Mem0NotOffered.as_view({**views}, reason=reason))


urlpatterns = [
    path("v3/memories/search/", Mem0Reads.as_view({"post": "search"})),
    path("v3/memories/add/", Mem0Memories.as_view({"post": "add"})),
    path("v3/memories/", Mem0Reads.as_view({"post": "entries"})),
    path("v1/ping/", Mem0Key.as_view({"get": "ping"})),
    path("v1/memories/", Mem0Memories.as_view({"delete": "delete_all"})),
    path(
        "v1/memories/<str:memory_id>/",
        Mem0Memories.as_view({"get": "load", "put": "change", "delete": "remove"}),
    ),
    path("v1/memories/<str:memory_id>/history/", Mem0Memories.as_view({"get": "history"})),
    path("v1/batch/", Mem0Memories.as_view({"put": "update_batch", "delete": "delete_batch"})),
    _refused("v1/event/<str:event_id>/", "An event_id is a job: GET /v1/jobs/{event_id}."),
    _refused("v1/feedback/", "Send it to POST /v1/memories/{id}/feedback."),
    path("v1/entities/", Mem0Entities.as_view({"get": "entries"})),
    path("v1/exports/", Mem0Reads.as_view({"post": "create_export"})),
    path("v1/exports/get/", Mem0Reads.as_view({"post": "load_export"})),
    _refused("v1/summary/", _SUMMARY),
    # The names of people are any names, also with slashes: `bob/profile` is one.
    path(
        "v2/entities/<str:kind>/<path:name>/",
        Mem0Entities.as_view({"delete": "remove_entity", "get": "profile"}),
    ),
    _refused("v2/profiles/<path:rest>", _PROFILES),
    _refused("api/v1/orgs/<path:rest>", _PROJECT),
    _refused("api/v1/webhooks/<path:rest>", _WEBHOOKS),
]
