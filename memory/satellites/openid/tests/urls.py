"""The addresses of a server that has a provider."""

from __future__ import annotations

from django.urls import include, path

urlpatterns = [
    path("admin/openid/", include("memory.satellites.openid.views")),
    path("", include("config.urls")),
]
