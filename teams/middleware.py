"""The scope, time zone and compression of the admin's pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from datetime import UTC, tzinfo
from http import HTTPStatus

from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.utils import timezone

from teams.models import StaffUser, Team
from teams.services.people import staff_named, team_ids_of_staff
from teams.tenancy import team_scope


class _StaffScope(ExitStack):
    """The scope of one request, which may be closed and entered again."""

    def __init__(self, user: StaffUser) -> None:
        super().__init__()
        self._team_ids = team_ids_of_staff(user.pk)
        self._actor = f"staff:{user.get_username()}"
        self._user = user

    def names(self) -> AbstractContextManager[None]:
        """The names of the login and of its teams' members are known in the block."""
        return staff_named(user=self._user, team_ids=self._team_ids)

    def zone(self) -> tzinfo:
        """The one team's time zone; UTC for those who see none or several."""
        if len(self._team_ids) != 1:
            return UTC
        return Team.objects.get(pk=self._team_ids[0]).zone

    def enter(self) -> None:
        self.enter_context(team_scope(team_ids=self._team_ids, actor=self._actor))


class StaffScopeMiddleware:
    """Shows a signed-in staff login the rows of its teams, in one transaction a request.

    Times are those of its team, or of UTC where it sees several. A failed response rolls its
    changes back. Pages without a staff login get no scope: they see nothing of any team.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not request.path.startswith("/admin/"):
            return self.get_response(request)
        user = request.user
        if not (user.is_authenticated and user.is_staff):
            return self.get_response(request)
        scope = _StaffScope(user)
        request.staff_scope = scope  # type: ignore[attr-defined]
        with scope:
            scope.enter()
            with timezone.override(scope.zone()), scope.names():
                response = self.get_response(request)
            if response.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
                # Django made this response of an exception, so the transaction saw none.
                transaction.set_rollback(True)
            return response


@contextmanager
def outside_staff_scope(request: HttpRequest) -> Iterator[None]:
    """Commits the request's transaction, runs the block in none, and goes on in a new one."""
    scope: _StaffScope | None = getattr(request, "staff_scope", None)
    if scope is None:
        yield
        return
    scope.close()
    try:
        yield
    finally:
        scope.enter()


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
