"""Turns an outage of PostgreSQL or Redis into a 503 with Retry-After."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from .problems import problem_for


class ServiceUnavailableMiddleware:
    """Answers 503 with Retry-After when a page needs a database that is down."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """The problem response of an outage; None leaves any other error to Django."""
        del request
        return problem_for(error)
