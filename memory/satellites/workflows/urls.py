"""The addresses of the satellite, below /v1/."""

from django.urls import include, path
from rest_framework.routers import SimpleRouter

from memory.satellites.workflows.api import PatternViewSet, RecordingViewSet, WorkflowViewSet

router = SimpleRouter(trailing_slash=False, use_regex_path=False)
router.register("workflows/recordings", RecordingViewSet, basename="workflow-recording")

urlpatterns = [
    path("patterns/learn", PatternViewSet.as_view({"post": "learn"}), name="patterns-learn"),
    path("workflows", WorkflowViewSet.as_view({"post": "create"}), name="workflows"),
    path("", include(router.urls)),
]
