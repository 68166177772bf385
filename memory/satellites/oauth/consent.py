"""The page on which a person lets a client in: as which agent, for whom, to do what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from django import forms
from django.contrib import admin
from django.core import signing
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.text import slugify
from django.views.decorators.cache import never_cache

from memory.satellites.oauth import grants
from memory.satellites.oauth.grants import READ, WRITE
from memory.satellites.oauth.models import Client
from memory.satellites.oauth.urls import issuer_of
from teams.admin.theme import SelectWidget, TextWidget
from teams.admin_permissions import ADMINS, teams_where
from teams.errors import DomainError
from teams.models import Agent, EndUser, StaffUser, Team
from teams.services.people import MAX_SLUG_CHARS, agent_called, ensure_agent

SALT = "oauth.consent"
# Between the client's request and the person's answer, signing in included.
PATIENCE_SECONDS = 1_800
_PAGE, _ENDED = "admin/oauth/consent.html", "admin/refused.html"
_ACCESS = [(WRITE, "Read and write"), (READ, "Read only")]


@dataclass(frozen=True, slots=True)
class Asked:
    """A checked authorization request."""

    client: Client
    redirect_uri: str
    state: str | None
    code_challenge: str
    scopes: tuple[str, ...]
    resource: str

    @property
    def host(self) -> str:
        """The host to which the person is sent afterwards."""
        return urlsplit(self.redirect_uri).netloc

    def answered(self, **parameters: str) -> str:
        """The redirect URI with these parameters and the client's state."""
        parts = urlsplit(self.redirect_uri)
        given = [*parse_qsl(parts.query, keep_blank_values=True), *parameters.items()]
        if self.state is not None:
            given.append(("state", self.state))
        return urlunsplit(parts._replace(query=urlencode(given)))


class ConsentForm(forms.Form):
    """The agent and person to act for, of teams that the login is an admin of."""

    agent = forms.ModelChoiceField(
        Agent.objects.none(),
        required=False,
        empty_label="Create a new agent",
        label="Act as",
        widget=SelectWidget,
        help_text="The client sees the team's memories and those of this agent.",
    )
    new_agent = forms.CharField(
        required=False,
        max_length=MAX_SLUG_CHARS,
        label="Name of the new agent",
        widget=TextWidget(attrs={"autocomplete": "off"}),
        help_text="One word, if you create an agent.",
    )
    person = forms.CharField(
        required=False,
        max_length=200,
        widget=TextWidget(attrs={"autocomplete": "off"}),
        help_text="Your external id, if the team's agents know you. The client can read personal"
        " memories of this person only. Leave empty to give it no personal memories.",
    )
    access = forms.ChoiceField(choices=_ACCESS, initial=WRITE, widget=SelectWidget)

    def __init__(
        self,
        *args: Any,
        teams: QuerySet[Team, Team],
        can_write: bool,
        **kwargs: Any,
    ) -> None:  # Any: Django's own signature
        super().__init__(*args, **kwargs)
        of_agent: Any = self.fields["agent"]  # Any: a ModelChoiceField
        agents = Agent.objects.filter(team__in=teams).order_by("team__name", "slug")
        self.only_team = teams[0] if len(teams) == 1 else None
        if self.only_team is None:
            self.fields["team"] = forms.ModelChoiceField(
                teams, required=False, label="Team of the new agent", widget=SelectWidget
            )
            self.order_fields(["agent", "team"])
            agents = agents.select_related("team")
            of_agent.label_from_instance = lambda each: f"{each} ({each.team})"
        of_agent.queryset = agents
        if not can_write:
            self.fields["access"] = forms.ChoiceField(choices=_ACCESS[1:], widget=SelectWidget)

    def clean(self) -> dict[str, Any]:  # Any: a form's values
        """Find the team and its person, and check the name of a new agent."""
        values: dict[str, Any] = super().clean() or self.cleaned_data
        agent, name = values.get("agent"), values.get("new_agent", "").strip()
        team = agent.team if agent else self.only_team or values.get("team")
        values["team"] = team
        if team is None:
            self.add_error("team", "Choose an agent, or the team of the new one.")
            return values
        if agent is None and not name:
            self.add_error("new_agent", "Choose an agent, or name a new one.")
        elif agent is None and agent_called(team_id=team.pk, name=name):
            self.add_error("new_agent", f"{team} has an agent of this name. Choose it above.")
        values["end_user"] = None
        if external_id := values.get("person"):
            people = EndUser.objects.filter(team_id=team.pk, external_id=external_id)
            values["end_user"] = people.first()
            if values["end_user"] is None:
                self.add_error("person", f"{team} has no person with this external id.")
        return values

    def chosen_agent(self) -> Agent:
        """The agent, created if it is new; raises DomainError for a name that cannot be one."""
        values = self.cleaned_data
        if values["agent"] is not None:
            chosen: Agent = values["agent"]
            return chosen
        return ensure_agent(team_id=values["team"].pk, slug=values["new_agent"].strip())


@never_cache
def consent(request: HttpRequest) -> HttpResponse:
    """Asks the person; a POST stores the answer and sends the browser back to the client."""
    asked = _asked(request)
    if asked is None:
        return _ended(
            request,
            "This request has expired",
            "Nothing was allowed. Go back to the program that you want to connect and start again.",
        )
    allowed = teams_where(request, roles=ADMINS)
    teams = Team.objects.all() if allowed is None else Team.objects.filter(pk__in=allowed)
    if not teams:
        return _ended(
            request,
            "You cannot connect a program",
            "Only admins of a team can let a program use its memory. Ask an admin of your team.",
            status=HTTPStatus.FORBIDDEN,
        )
    is_sent = request.method == "POST"
    if is_sent and "deny" in request.POST:
        return _back(asked, request, error="access_denied")
    form = ConsentForm(
        request.POST if is_sent else None,
        teams=teams,
        can_write=WRITE in asked.scopes,
        initial={"new_agent": slugify(asked.client.name)[:MAX_SLUG_CHARS]},
    )
    if is_sent and form.is_valid():
        try:
            with transaction.atomic():
                return _back(asked, request, code=_allow(request, asked, form))
        except DomainError as error:
            form.add_error("new_agent", error.message)
    context = {
        **admin.site.each_context(request),
        "title": f"Connect {asked.client}?",
        "asked": asked,
        "form": form,
    }
    response = TemplateResponse(request, _PAGE, context)
    # Browsers hold the redirect that answers the form to the policy of the page too.
    response._csp_update = {"form-action": [_origin(asked.redirect_uri)]}  # type: ignore[attr-defined]  # django-csp's
    return response


def _asked(request: HttpRequest) -> Asked | None:
    try:
        given: Mapping[str, Any] = signing.loads(  # Any: JSON
            request.GET.get("request", ""), salt=SALT, max_age=PATIENCE_SECONDS
        )
    except signing.BadSignature:
        return None
    client = Client.objects.filter(pk=given["client"]).first()
    if client is None:
        return None
    return Asked(**{**given, "client": client, "scopes": tuple(given["scopes"])})


def _allow(request: HttpRequest, asked: Asked, form: ConsentForm) -> str:
    user = request.user
    assert isinstance(user, StaffUser), "the admin lets in no others"
    return grants.grant_access(
        client=asked.client,
        user=user,
        agent=form.chosen_agent(),
        end_user=form.cleaned_data["end_user"],
        is_read_only=form.cleaned_data["access"] == READ,
        resource=asked.resource,
        redirect_uri=asked.redirect_uri,
        code_challenge=asked.code_challenge,
        now=timezone.now(),
    )


def _back(asked: Asked, request: HttpRequest, **parameters: str) -> HttpResponse:
    return HttpResponseRedirect(asked.answered(**parameters, iss=issuer_of(request)))


def _origin(uri: str) -> str:
    parts = urlsplit(uri)
    # A policy can name no address of IPv6.
    return f"{parts.scheme}:" if "[" in parts.netloc else f"{parts.scheme}://{parts.netloc}"


def _ended(
    request: HttpRequest, title: str, text: str, *, status: int = HTTPStatus.BAD_REQUEST
) -> HttpResponse:
    context = {**admin.site.each_context(request), "title": title, "what_to_do": text}
    return TemplateResponse(request, _ENDED, context, status=status)
