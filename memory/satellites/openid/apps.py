"""Django app: OpenID Connect."""

from __future__ import annotations

from django.conf import settings

from memory import satellite


class OpenIdConfig(satellite.Satellite):
    """Lets logins of the admin in by an OpenID provider, where one is configured."""

    name = "memory.satellites.openid"
    label = "openid"
    verbose_name = "OpenID Connect"

    def ready(self) -> None:
        """Adds the pages and the backend if there is a provider."""
        super().ready()
        if settings.OIDC_ISSUER:
            self.mounts = {"admin/openid/": "memory.satellites.openid.views"}
            settings.AUTHENTICATION_BACKENDS.append(
                "memory.satellites.openid.backend.OpenIdBackend"
            )
