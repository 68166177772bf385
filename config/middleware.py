"""An outage of PostgreSQL or Redis becomes a clear 503 that says when to come back."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from .problems import problem_for


class ServiceUnavailableMiddleware:
    """Answers 503 with Retry-After where a page meets a database that is away."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """The problem response of an outage; None leaves any other error to Django."""
        del request
        return problem_for(error)
