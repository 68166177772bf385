"""Where everything answers."""

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView
from drf_spectacular.views import SpectacularSwaggerView

from config import health
from config.metrics import metrics
from config.schema import SchemaView
from memory.admin.home import key_list
from memory.satellite import satellite_mounts

_READ = ["get", "head"]

urlpatterns = [
    # First what is asked most: each address is tried in this order.
    path("v1/", include("memory.api.urls")),
    *satellite_mounts(),
    path("", RedirectView.as_view(url="/v1/docs", permanent=False)),
    path("admin", RedirectView.as_view(url="/admin/", permanent=False)),
    path("admin/keys/", admin.site.admin_view(key_list), name="key_list"),
    path("admin/", admin.site.urls),
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("metrics", metrics),
    path("v1/schema", SchemaView.as_view(http_method_names=_READ), name="schema"),
    path(
        "v1/docs",
        SpectacularSwaggerView.as_view(url_name="schema", http_method_names=_READ),
        name="docs",
    ),
]

handler400 = "config.problems.bad_request"
handler403 = "teams.refusals.permission_denied"
handler404 = "config.problems.not_found"
handler500 = "config.problems.server_error"
