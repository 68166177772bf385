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

from teams.admin_permissions import CHOSEN_TEAM
from teams.models import StaffUser, Team
from teams.services.people import staff_named, team_ids_of_staff
from teams.tenancy import team_scope


class StaffScope(ExitStack):
    """The scope of one request, which may be closed and entered again.

    `own_ids` are the teams of the login. It sees the one that it chose among them, or all; `team`
    is the only one it sees, once `zone` was asked for.
    """

    def __init__(self, user: StaffUser, chosen: str = "") -> None:
        super().__init__()
        self.own_ids = team_ids_of_staff(user.pk)
        only = [team_id for team_id in self.own_ids if str(team_id) == chosen]
        self.team: Team | None = None
        self._team_ids = only or self.own_ids
        self._actor = f"staff:{user.get_username()}"
        self._user = user

    def of_all(self) -> AbstractContextManager[None]:
        """All teams of the login are seen in the block."""
        return team_scope(team_ids=self.own_ids, actor=self._actor)

    def names(self) -> AbstractContextManager[None]:
        """The names of the login and of its teams' members are known in the block."""
        return staff_named(user=self._user, team_ids=self._team_ids)

    def zone(self) -> tzinfo:
        """The one team's time zone; UTC for those who see none or several."""
        if len(self._team_ids) != 1:
            return UTC
        self.team = Team.objects.get(pk=self._team_ids[0])
        return self.team.zone

    def enter(self) -> None:
        self.enter_context(team_scope(team_ids=self._team_ids, actor=self._actor))


class StaffScopeMiddleware:
    """Shows a signed-in staff login the rows of its teams, in one transaction a request.

    A login of several teams may have chosen one, and then sees no other. Times are those of its
    team, or of UTC where it sees several. A failed response rolls its
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
        scope = StaffScope(user, request.session.get(CHOSEN_TEAM, ""))
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
    scope: StaffScope | None = getattr(request, "staff_scope", None)
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
