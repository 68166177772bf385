"""What a person reads in the admin where Django would show its own page of an error."""

from __future__ import annotations

from http import HTTPStatus

from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.views import defaults

_TEMPLATE = "admin/refused.html"
_ADMIN = "/admin/"
# What a person may have typed on a page that asks.
_TYPED = ("content", "reason", "note")


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Say that the role does not allow it, and who could change that."""
    if not request.path.startswith(_ADMIN):
        return defaults.permission_denied(request, exception)
    return _refused(
        request,
        HTTPStatus.FORBIDDEN,
        "You may not do this",
        "Your role in the team does not allow it, or there is no such row any more. A reviewer or"
        " an admin of the team can do it, and an admin can give you another role.",
    )


def not_found(request: HttpRequest) -> HttpResponse:
    """Say that the address leads nowhere."""
    return _refused(
        request,
        HTTPStatus.NOT_FOUND,
        "There is no such page",
        f"Nothing answers at {request.path}. The menu beside this leads to every list.",
    )


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Say that the page that was sent is of another session, and show what was typed on it."""
    if not request.path.startswith(_ADMIN):
        return defaults.permission_denied(request, PermissionError(reason))
    return _refused(
        request,
        HTTPStatus.FORBIDDEN,
        "This page is too old to be sent",
        "You have logged out or in since it was loaded, or your browser sends no cookies, so"
        " nothing was changed. Log in, load the page again and send it from there.",
        typed=[text for name in _TYPED if (text := request.POST.get(name, "").strip())],
    )


def locked_out(request: HttpRequest, response: HttpResponse, credentials: object) -> HttpResponse:
    """Say that too many passwords were wrong; django-axes calls it in place of the answer."""
    del response, credentials
    return _refused(
        request,
        HTTPStatus.TOO_MANY_REQUESTS,
        "Too many failed attempts to sign in",
        f"Wait {settings.AXES_COOLOFF_TIME.seconds // 60} minutes and try again; attempts"
        " before do not prolong the wait. Whoever runs the server can end it at once with"
        " manage.py axes_reset_username.",
    )


def _refused(
    request: HttpRequest,
    status: int,
    title: str,
    what_to_do: str,
    *,
    typed: list[str] | None = None,
) -> HttpResponse:
    context = {
        **admin.site.each_context(request),
        # The menu names who is logged in.
        "is_nav_sidebar_enabled": request.user.is_authenticated,
        "title": title,
        "what_to_do": what_to_do,
        "typed": typed or [],
    }
    answer = TemplateResponse(request, _TEMPLATE, context, status=status)
    return answer.render()
