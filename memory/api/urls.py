"""The addresses of the memory API, below /v1/."""

from typing import Any

from django.urls import include, path
from rest_framework.routers import SimpleRouter

from memory.api.agents import AgentViewSet
from memory.api.audit import AuditViewSet, HistoryViewSet
from memory.api.contradictions import ContradictionViewSet
from memory.api.conversations import ConversationViewSet, JobViewSet
from memory.api.events import EventViewSet, UsageViewSet
from memory.api.memory_views import MemoryViewSet
from memory.api.people import UserViewSet
from memory.api.projects import ProjectViewSet, TeamMemoryViewSet
from memory.api.providers import ChatModelViewSet, ProviderViewSet, TeamViewSet
from memory.api.retrieval import PromptViewSet, RetrievalViewSet
from memory.api.routing import BudgetViewSet, RouteViewSet
from memory.api.threads import CheckpointViewSet, ThreadChangesViewSet
from memory.satellite import satellite_routes

# Any: a method by its name, as viewsets take it.
_ROW: dict[str, Any] = {"get": "load", "patch": "change", "delete": "remove"}

router = SimpleRouter(trailing_slash=False, use_regex_path=False)
router.register("conversations", ConversationViewSet, basename="conversation")
router.register("jobs", JobViewSet, basename="job")
router.register("memories", MemoryViewSet, basename="memory")
router.register("audit", AuditViewSet, basename="audit")
router.register("events", EventViewSet, basename="event")
router.register("contradictions", ContradictionViewSet, basename="contradiction")

urlpatterns = [
    *satellite_routes(),
    # What is asked with every message of every agent: each address is tried in this order.
    path("retrieve", RetrievalViewSet.as_view({"post": "retrieve"})),
    path("prompt", PromptViewSet.as_view({"post": "build"})),
    path("usage", UsageViewSet.as_view({"post": "report"})),
    path("", include(router.urls)),
    path("memories/<uuid:pk>/history", HistoryViewSet.as_view({"get": "history"})),
    path("budget", BudgetViewSet.as_view({"get": "left"})),
    path("route", RouteViewSet.as_view({"post": "route"})),
    path("agents", AgentViewSet.as_view({"get": "entries"})),
    # The names of agents, threads and people are any names, also with slashes.
    path("agents/<path:slug>/versions", AgentViewSet.as_view({"get": "versions"})),
    path("agents/<path:slug>", AgentViewSet.as_view({"get": "load", "put": "save"})),
    path(
        "threads/<path:thread_id>/checkpoint",
        CheckpointViewSet.as_view({"put": "save", "get": "load"}),
    ),
    path("threads/<path:thread_id>/changes", ThreadChangesViewSet.as_view({"get": "changes"})),
    path("projects", ProjectViewSet.as_view({"get": "entries"})),
    path("projects/<path:slug>/clear", ProjectViewSet.as_view({"post": "clear"})),
    path("projects/<path:slug>", ProjectViewSet.as_view({"get": "load", "patch": "change"})),
    path("providers", ProviderViewSet.as_view({"get": "entries", "post": "create"})),
    path("providers/<uuid:pk>", ProviderViewSet.as_view(_ROW)),
    path("providers/<uuid:pk>/test", ProviderViewSet.as_view({"post": "test"})),
    path("chat-models", ChatModelViewSet.as_view({"get": "entries", "post": "create"})),
    path("chat-models/<uuid:pk>", ChatModelViewSet.as_view(_ROW)),
    path("team", TeamViewSet.as_view({"get": "load", "patch": "change"})),
    path("team/clear", TeamMemoryViewSet.as_view({"post": "clear"})),
    path("users", UserViewSet.as_view({"get": "entries"})),
    path(
        "users/<path:external_id>",
        UserViewSet.as_view({"get": "load", "patch": "change", "delete": "erase"}),
    ),
]
