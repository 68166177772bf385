"""The addresses of mem0's protocol, below /mem0/."""

from django.urls import URLPattern, path

from memory.satellites.mem0.others import Mem0Entities, Mem0Key, Mem0NotOffered
from memory.satellites.mem0.reads import Mem0Reads
from memory.satellites.mem0.writes import Mem0Memories

_PROFILES = (
    "Profiles are made of no schema here: GET /v1/users/{user_id} has the approved profile of a"
    " person, each value with its source."
)
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
        Mem0Entities.as_view({"delete": "remove_entity", "get": "profile"}, no_profiles=_PROFILES),
    ),
    _refused("v2/profiles/<path:rest>", _PROFILES),
    _refused("api/v1/orgs/<path:rest>", _PROJECT),
    _refused("api/v1/webhooks/<path:rest>", _WEBHOOKS),
]
