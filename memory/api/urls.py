"""The addresses of the memory API, below /v1/."""

from django.urls import include, path
from rest_framework.routers import SimpleRouter

from memory.api.audit_state import StateViewSet
from memory.api.contradictions import ContradictionViewSet
from memory.api.conversations import ConversationViewSet, JobViewSet
from memory.api.events import EventViewSet
from memory.api.export import ExportViewSet
from memory.api.history import AuditLogViewSet, HistoryViewSet
from memory.api.memories import MemoryViewSet
from memory.api.prompt import PromptViewSet
from memory.api.query import MemoryQueryViewSet
from memory.api.retrieval import RetrievalViewSet
from memory.api.threads import CheckpointViewSet, ThreadChangesViewSet
from memory.api.users import UserViewSet

router = SimpleRouter(trailing_slash=False, use_regex_path=False)
router.register("conversations", ConversationViewSet, basename="conversation")
router.register("jobs", JobViewSet, basename="job")
router.register("memories", MemoryViewSet, basename="memory")
router.register("contradictions", ContradictionViewSet, basename="contradiction")

urlpatterns = [
    path("", include(router.urls)),
    path(
        "memories/<uuid:pk>/history",
        HistoryViewSet.as_view({"get": "history"}),
        name="memory-history",
    ),
    path("audit/log", AuditLogViewSet.as_view({"get": "entries"}), name="audit-log"),
    path("events", EventViewSet.as_view({"get": "entries"}), name="events"),
    path("events/counts", EventViewSet.as_view({"get": "counts"}), name="event-counts"),
    path("audit/export", ExportViewSet.as_view({"get": "export"}), name="audit-export"),
    path("retrieve", RetrievalViewSet.as_view({"post": "retrieve"}), name="retrieve"),
    path("prompt", PromptViewSet.as_view({"post": "build"}), name="prompt"),
    path("memory/query", MemoryQueryViewSet.as_view({"post": "query"}), name="memory-query"),
    path("audit/state", StateViewSet.as_view({"get": "state"}), name="audit-state"),
    path(
        # A thread's id is any name, also one with slashes.
        "threads/<path:thread_id>/checkpoint",
        CheckpointViewSet.as_view({"put": "save", "get": "load"}),
        name="thread-checkpoint",
    ),
    path(
        "threads/<path:thread_id>/changes",
        ThreadChangesViewSet.as_view({"get": "changes"}),
        name="thread-changes",
    ),
    path(
        # A person's id is any name, also one with slashes.
        "users/<path:external_id>",
        UserViewSet.as_view({"delete": "erase"}),
        name="user",
    ),
]
