"""The addresses of the satellite, below /v1/."""

from django.urls import path

from memory.satellites.transfer.api import ExportViewSet, ImportViewSet, PersonExportViewSet

urlpatterns = [
    path("audit/export", PersonExportViewSet.as_view({"get": "export"}), name="audit-export"),
    path(
        "export",
        ExportViewSet.as_view({"get": "export"}),
        name="export",
    ),
    path(
        "imports",
        ImportViewSet.as_view({"post": "start", "get": "entries"}),
        name="imports",
    ),
    path(
        "imports/<uuid:pk>",
        ImportViewSet.as_view({"get": "load", "delete": "cancel"}),
        name="import",
    ),
]
