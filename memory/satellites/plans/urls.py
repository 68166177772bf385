"""The addresses of the satellite, below /v1/."""

from django.urls import path

from memory.satellites.plans.package_api import PackageViewSet
from memory.satellites.plans.read_only_api import ContextViewSet
from memory.satellites.plans.working_api import PredictionViewSet, WorkingContextViewSet

urlpatterns = [
    path("memory/context", ContextViewSet.as_view({"get": "context"}), name="memory-context"),
    path("memory/select", ContextViewSet.as_view({"post": "select"}), name="memory-select"),
    path("memory/conflicts", ContextViewSet.as_view({"get": "conflicts"}), name="memory-conflicts"),
    path("context/package", PackageViewSet.as_view({"post": "package"}), name="context-package"),
    path("context/predict", PredictionViewSet.as_view({"post": "predict"}), name="context-predict"),
    path(
        "context/assemble",
        WorkingContextViewSet.as_view({"post": "assemble"}),
        name="context-assemble",
    ),
    path("context/expand", WorkingContextViewSet.as_view({"get": "expand"}), name="context-expand"),
]
