"""The addresses of the satellite, below /v1/."""

from django.urls import path

from memory.satellites.langgraph.checkpoints_api import GraphCheckpointViewSet
from memory.satellites.langgraph.items_api import ItemReadViewSet, ItemViewSet

urlpatterns = [
    path(
        "threads/<path:thread_id>/checkpoints",
        GraphCheckpointViewSet.as_view({"delete": "remove"}),
        name="thread-checkpoints",
    ),
    path(
        "threads/<path:thread_id>/copy",
        GraphCheckpointViewSet.as_view({"post": "copy"}),
        name="thread-copy",
    ),
    path(
        "threads/<path:thread_id>/checkpoints/<str:checkpoint_id>",
        GraphCheckpointViewSet.as_view({"put": "save"}),
        name="graph-checkpoint",
    ),
    path(
        "threads/<path:thread_id>/checkpoints/<str:checkpoint_id>/writes",
        GraphCheckpointViewSet.as_view({"post": "add_writes"}),
        name="graph-writes",
    ),
    path("checkpoints", GraphCheckpointViewSet.as_view({"get": "entries"}), name="checkpoints"),
    path(
        "checkpoints/prune",
        GraphCheckpointViewSet.as_view({"post": "prune"}),
        name="checkpoints-prune",
    ),
    path(
        "checkpoints/delete-runs",
        GraphCheckpointViewSet.as_view({"post": "remove_runs"}),
        name="checkpoints-delete-runs",
    ),
    path("items", ItemViewSet.as_view({"post": "write"}), name="items"),
    path("items/query", ItemReadViewSet.as_view({"post": "read"}), name="items-query"),
]
