"""Addresses of the API, the admin, health, metrics and the OpenAPI document."""

from __future__ import annotations

from functools import cache
from threading import Lock
from typing import Any

from django.contrib import admin
from django.http import HttpResponse
from django.urls import include, path
from django.views.decorators.http import conditional_page
from django.views.generic import RedirectView
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import (
    OpenApiJsonRenderer,
    OpenApiJsonRenderer2,
    OpenApiYamlRenderer,
)
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView
from rest_framework.request import Request

from config.metrics import healthz, metrics, readyz
from memory.admin.about import about, erase_person
from memory.admin.finding import search_view
from memory.admin.home import key_list
from memory.admin.inbox import inbox, inbox_item
from memory.satellite import satellite_mounts
from teams.admin.logins import InvitationView
from teams.admin.team_choice import choose_team

# The document takes half a second to make, and drf-spectacular cannot make two at a time.
_lock = Lock()
_RENDERERS = {"json": OpenApiJsonRenderer, "yaml": OpenApiYamlRenderer}


class SchemaView(SpectacularAPIView):
    """The document, as JSON or YAML; it is the same for all who ask."""

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        # Any: Django REST framework's own signature
        renderer = request.accepted_renderer
        with _lock:
            document = _document(renderer.format)
        headers = {"Cache-Control": "public, max-age=300"}
        return HttpResponse(document, content_type=renderer.media_type, headers=headers)


@cache
def _document(name: str) -> Any:  # Any: bytes or a text, by the renderer
    generator = SchemaGenerator()  # type: ignore[no-untyped-call]
    schema = generator.get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return _RENDERERS[name]().render(schema)


_READ = ["get", "head"]
_AS_JSON = [OpenApiJsonRenderer2, OpenApiJsonRenderer]


def schema_view(**options: Any) -> Any:  # Any: Django's views
    """A view of the document, which answers 304 to readers that have it."""
    return conditional_page(SchemaView.as_view(http_method_names=_READ, **options))


urlpatterns = [
    # First what is asked most: each address is tried in this order.
    path("v1/", include("memory.api.urls")),
    *satellite_mounts(),
    path("", RedirectView.as_view(url="/v1/docs", permanent=False)),
    path("admin", RedirectView.as_view(url="/admin/", permanent=False)),
    path("admin/keys/", admin.site.admin_view(key_list), name="key_list"),
    path("admin/about/<str:kind>/<uuid:pk>/", admin.site.admin_view(about), name="about"),
    path("admin/erase/<uuid:pk>/", admin.site.admin_view(erase_person), name="erase_person"),
    # In place of the theme's, which caches results for minutes.
    path("admin/search/", admin.site.admin_view(search_view), name="search"),
    path("admin/team/", admin.site.admin_view(choose_team), name="choose_team"),
    path("admin/invitation/<uidb64>/<token>/", InvitationView.as_view(), name="invitation"),
    path("admin/inbox/", admin.site.admin_view(inbox), name="inbox"),
    path("admin/inbox/<str:kind>/<uuid:pk>/", admin.site.admin_view(inbox_item), name="inbox_item"),
    path("admin/", admin.site.urls),
    path("healthz", healthz),
    path("readyz", readyz),
    path("metrics", metrics),
    path("v1/schema", schema_view(), name="schema"),
    path("v1/openapi.json", schema_view(renderer_classes=_AS_JSON), name="openapi"),
    path(
        "v1/docs",
        SpectacularSwaggerView.as_view(url_name="schema", http_method_names=_READ),
        name="docs",
    ),
]

handler400 = "config.problems.bad_request"
handler403 = "teams.admin_permissions.permission_denied"
handler404 = "config.problems.not_found"
handler500 = "config.problems.server_error"
