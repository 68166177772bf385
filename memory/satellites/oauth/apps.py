"""Django app: OAuth."""

from __future__ import annotations

from memory import satellite


class OAuthConfig(satellite.Satellite):
    """Signs people's MCP clients in by OAuth 2.1."""

    name = "memory.satellites.oauth"
    label = "oauth"
    verbose_name = "OAuth"
    requires = ("mcp",)
    mounts = {"": "memory.satellites.oauth.views"}
    periodic = {"memory.satellites.oauth.tasks.prune_sign_ins": 3600.0}
    kept_back = {
        "oauth_grant": "sign-ins of clients that are registered with this installation",
        "oauth_token": "tokens of these sign-ins",
    }

    def ready(self) -> None:
        """Lets holders of access tokens use MCP."""
        super().ready()
        from memory.satellites.mcp.views import AUTHENTICATIONS
        from memory.satellites.oauth.authentication import SignInAuthentication

        AUTHENTICATIONS.insert(0, SignInAuthentication)
