"""The addresses of the satellite, below /v1/."""

from django.urls import path

from memory.satellites.langgraph.checkpoints_api import GraphCheckpointViewSet
from memory.satellites.langgraph.items_api import ItemReadViewSet, ItemViewSet

urlpatterns = [
    path(
        "threads/<path:thread_id>/checkpoints", GraphCheckpointViewSet.as_view({"delete": "remove"})
    ),
    path("threads/<path:thread_id>/copy", GraphCheckpointViewSet.as_view({"post": "copy"})),
    path(
        "threads/<path:thread_id>/checkpoints/<str:checkpoint_id>",
        GraphCheckpointViewSet.as_view({"put": "save"}),
    ),
    path(
        "threads/<path:thread_id>/checkpoints/<str:checkpoint_id>/writes",
        GraphCheckpointViewSet.as_view({"post": "add_writes"}),
    ),
    path("checkpoints", GraphCheckpointViewSet.as_view({"get": "entries"})),
    path("checkpoints/prune", GraphCheckpointViewSet.as_view({"post": "prune"})),
    path("checkpoints/delete-runs", GraphCheckpointViewSet.as_view({"post": "remove_runs"})),
    path("items", ItemViewSet.as_view({"post": "write"})),
    path("items/query", ItemReadViewSet.as_view({"post": "read"})),
]
