"""The web admin's pages are compressed: the theme repeats its class names for every row."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponseBase
from django.middleware.gzip import GZipMiddleware


class AdminCompressionMiddleware(GZipMiddleware):
    """Compresses pages under /admin/, and nothing of the API, whose answers may be streams.

    Django adds a random number of bytes to each page, so that its length tells nothing of its
    secrets, and masks the CSRF token anew in each.
    """

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """The response, compressed where the browser takes it so."""
        if not request.path.startswith("/admin/"):
            return response
        compressed: HttpResponseBase = super().process_response(request, response)
        return compressed
