"""The address of the query, below /v1/."""

from django.urls import path

from memory.satellites.query.views import MemoryQueryViewSet

urlpatterns = [
    path("memory/query", MemoryQueryViewSet.as_view({"post": "query"}), name="memory-query"),
]
