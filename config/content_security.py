"""What the web admin's pages may load, as their Content-Security-Policy says."""

from __future__ import annotations

from csp.middleware import CSPMiddleware
from django.http import HttpRequest, HttpResponseBase


class AdminPolicyMiddleware(CSPMiddleware):
    """Sends the policy with pages under /admin/; answers of the API are no pages."""

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """The response, with the policy where it is a page."""
        if not request.path.startswith("/admin/"):
            return response
        return super().process_response(request, response)
