"""The addresses of the memory API, below /v1/."""

from django.urls import include, path
from rest_framework.routers import SimpleRouter

from memory.api.contradictions import ContradictionViewSet
from memory.api.conversations import ConversationViewSet, JobViewSet
from memory.api.memories import MemoryViewSet
from memory.api.prompt import PromptViewSet
from memory.api.query import MemoryQueryViewSet
from memory.api.retrieval import RetrievalViewSet

router = SimpleRouter(trailing_slash=False, use_regex_path=False)
router.register("conversations", ConversationViewSet, basename="conversation")
router.register("jobs", JobViewSet, basename="job")
router.register("memories", MemoryViewSet, basename="memory")
router.register("contradictions", ContradictionViewSet, basename="contradiction")

urlpatterns = [
    path("", include(router.urls)),
    path("retrieve", RetrievalViewSet.as_view({"post": "retrieve"}), name="retrieve"),
    path("prompt", PromptViewSet.as_view({"post": "build"}), name="prompt"),
    path("memory/query", MemoryQueryViewSet.as_view({"post": "query"}), name="memory-query"),
]
