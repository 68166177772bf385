"""The admin's requests run in the scope of the staff login's teams."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus

from django.db import transaction
from django.http import HttpRequest, HttpResponse

from teams.services.people import team_ids_of_staff
from teams.tenancy import team_scope


class StaffScopeMiddleware:
    """Shows a signed-in staff login the rows of its teams, in one transaction a request.

    A failed response rolls its changes back. Pages without a staff login get no scope: they see
    nothing of any team.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not request.path.startswith("/admin/"):
            return self.get_response(request)
        user = request.user
        if not (user.is_authenticated and user.is_staff):
            return self.get_response(request)
        with team_scope(team_ids=team_ids_of_staff(user.pk), actor=f"staff:{user.get_username()}"):
            response = self.get_response(request)
            if response.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
                # Django made this response of an exception, so the transaction saw none.
                transaction.set_rollback(True)
            return response
