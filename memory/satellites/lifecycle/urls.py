"""The addresses of the satellite, below /v1/."""

from django.urls import path

from memory.satellites.lifecycle.api import ConsolidationViewSet

urlpatterns = [
    path("consolidate", ConsolidationViewSet.as_view({"post": "start"}), name="consolidate"),
    path(
        "consolidate/runs",
        ConsolidationViewSet.as_view({"get": "entries"}),
        name="consolidation-runs",
    ),
    path(
        "consolidate/runs/<uuid:pk>",
        ConsolidationViewSet.as_view({"get": "load"}),
        name="consolidation-run",
    ),
    path(
        "consolidate/runs/<uuid:pk>/changes",
        ConsolidationViewSet.as_view({"get": "changes"}),
        name="consolidation-run-changes",
    ),
    path(
        "consolidate/runs/<uuid:pk>/undo",
        ConsolidationViewSet.as_view({"post": "undo"}),
        name="consolidation-run-undo",
    ),
]
