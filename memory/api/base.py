"""Code that all endpoints share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import wraps
from typing import Any, ClassVar, TypeVar, cast
from urllib.parse import unquote_to_bytes

from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import ParseError
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle

from memory.api.pagination import IdPagination
from memory.api.request_events import RequestEvents
from memory.api.schemas import REFUSALS, PageQuerySerializer, ProblemSerializer, QuerySerializer
from memory.api.throttles import RequestRate
from memory.domain.audience import Viewer
from memory.selectors.filters import NOBODY
from memory.selectors.names import Named, names_of
from memory.selectors.revisions import states_found_once
from teams.authentication import confirmed
from teams.errors import ForbiddenError, FrozenError, NotFoundError
from teams.models import Agent
from teams.services.keys import Holder, Principal, RecalledKey, find_holder
from teams.services.people import aliases_among
from teams.services.team_settings import require_memory
from teams.tenancy import statements_within, team_scope

Given = dict[str, Any]  # Any: values of a request, as its serializer has validated them
PROBLEM_MEDIA = "application/problem+json"
# Parameters of an address in all; how many values one may have is said by QuerySerializer.
MAX_PARAMETERS = 100
# What changes of stored rows refuse.
WITH_CONFLICT = (403, 404, 409, 422)


def refusals(*codes: int) -> dict[tuple[int, str], OpenApiResponse]:
    """The schema of the refusals an endpoint may answer with."""
    return {
        (code, PROBLEM_MEDIA): OpenApiResponse(ProblemSerializer, description=REFUSALS[code])
        for code in (401, *codes, 429, 503)
    }


_Method = TypeVar("_Method", bound=Callable[..., HttpResponseBase])


def operation(
    name: str = "",
    *,
    body: Any = None,
    query: type[QuerySerializer] | None = None,
    answer: Any,
    refuses: Sequence[int] = (403, 404, 422),
    parameters: Sequence[OpenApiParameter] = (),
    team_key: str = "",
) -> Callable[[_Method], _Method]:
    # Any: what drf-spectacular takes for a request or a response
    """Validates what a method of an `ApiViewSet` is sent, and documents it in the OpenAPI schema.

    The method is called with the values of `query` and `body`, but for those that name a page of a
    list, and with the variables of the path. It reads the body by itself where `body` is no
    serializer class. A serializer without fields refuses every field. `answer` is the serializer
    of a 200, or the statuses, each with its serializer or a pair of serializer and description.
    `refuses` are statuses beside those of `refusals`, `parameters` further ones of the schema, such
    as headers. `team_key` says why a key of one agent or of projects is refused.
    """
    by_status = answer if isinstance(answer, Mapping) else {200: answer}
    is_checked = isinstance(body, type) and issubclass(body, serializers.Serializer)

    def decorate(method: _Method) -> _Method:
        @wraps(method)
        def answered(view: ApiViewSet, _request: Request, **path: Any) -> HttpResponseBase:
            def answer() -> HttpResponseBase:
                if team_key:
                    view.require_team_key(team_key)
                given = view.filters(query) if query is not None else {}
                given |= view.body(body) if is_checked else {}
                view.check_agent(given.get("agent"))
                view.check_user(given.get("user"))
                return method(view, given, **path)

            try:
                found = answer()
            except Exception:
                if view.confirm_key():
                    return answer()
                raise
            return answer() if view.confirm_key() else found

        document = extend_schema(
            operation_id=name or None,
            parameters=[*([query] if query is not None and query().fields else ()), *parameters],
            request=None if is_checked and not body().fields else body,
            responses={
                **{code: _documented(each) for code, each in by_status.items()},
                **refusals(*refuses),
            },
        )
        return cast(_Method, document(answered))

    return decorate


def _documented(answer: Any) -> Any:  # Any: what drf-spectacular takes for a response
    return OpenApiResponse(*answer) if isinstance(answer, tuple) else answer


class ApiViewSet(RequestEvents):
    """A viewset whose caller is a `Principal` and whose input is one validated serializer."""

    queryset: QuerySet[Any] | None = None
    filter_backends = ()
    # Which actions remember or retrieve, and are refused where memory is switched off.
    memory_actions: ClassVar[Collection[str]] = ()
    # Whether a POST only reads.
    only_reads: ClassVar[bool] = False
    # Whether a key that this process knows is looked up again with the names of the request, which
    # saves a statement, or at the latest before the answer.
    confirms_keys: ClassVar[bool] = False
    _rate: RequestRate | None = None

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        # Any: Django's own signature
        """The answer; a read has less time of PostgreSQL, and is given up with its client."""
        if not self._does_read(str(request.method)):
            return super().dispatch(request, *args, **kwargs)
        seconds = float(settings.READ_STATEMENT_SECONDS)
        is_gone = request.META.get("palimpsest.is_gone")
        with statements_within(seconds, is_given_up=is_gone), states_found_once():
            return super().dispatch(request, *args, **kwargs)

    def _does_read(self, method: str) -> bool:
        return method in SAFE_METHODS or self.only_reads

    def check_permissions(self, request: Request) -> None:
        """ForbiddenError where a read-only key would write, before anything is read or claimed.

        FrozenError for any key while its team is moved.
        """
        super().check_permissions(request)
        if self._does_read(str(request.method)):
            return
        if self.principal.is_read_only:
            raise ForbiddenError("This key is read-only: it may ask, and change nothing.")
        if self.principal.is_frozen:
            raise FrozenError

    def get_throttles(self) -> list[BaseThrottle]:
        """The limit of requests, which has the headers of the answer."""
        self._rate = RequestRate()
        return [self._rate]

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        # Any: Django REST framework's own signature
        """The response, with what the key may still ask."""
        response = super().finalize_response(request, response, *args, **kwargs)
        if self._rate is not None:
            for name, value in self._rate.headers.items():
                response[name] = value
        return response

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        # Any: Django REST framework's own signature
        """Let the caller in; ForbiddenError for memory where the team has it switched off.

        ParseError for more parameters than are read, and for an address that is no UTF-8.
        """
        if str(request.META.get("QUERY_STRING", "")).count("&") >= MAX_PARAMETERS:
            raise ParseError(f"An address may have {MAX_PARAMETERS} parameters.")
        super().initial(request, *args, **kwargs)
        _refuse_broken_text(request)
        self._require_memory()

    def confirm_key(self, holder: Holder | None = None) -> bool:
        """Compares a recalled key's holder with this one, or looks it up; AuthenticationFailed.

        Returns whether it has changed: it is the caller from here on.
        """
        key = self._recalled_key
        if key is None:
            return False
        self.request.auth = None
        found = find_holder(key.digest) if holder is None else holder
        principal = confirmed(key, holder=found)
        if principal is None:
            return False
        self.request.user = cast(Any, principal)  # Any: Django's stubs know its users alone
        self.check_permissions(self.request)
        self._require_memory()
        return True

    @property
    def _recalled_key(self) -> RecalledKey | None:
        return cast("RecalledKey | None", self.request.auth)

    def _require_memory(self) -> None:
        if self.action in self.memory_actions:
            if not self.principal.flags.memory:
                self.confirm_key()  # it may have been switched on since
            require_memory(self.principal.flags)

    def options(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Response:
        # Any: Django REST framework's own signature
        """No content: `Allow` names the methods of the address, and the schema says the rest."""
        return Response(status=status.HTTP_204_NO_CONTENT)

    @property
    def principal(self) -> Principal:
        """The caller."""
        return cast(Principal, self.request.user)

    @property
    def viewer(self) -> Viewer:
        """The viewer a key stands for by itself, its team or its one agent, where an id is named.

        It sees the rows of people: whoever has the id of one was told it. Lists are for `lister`,
        questions for `named_viewer`.
        """
        principal = self.principal
        return Viewer(
            team_id=principal.team_id,
            actor=principal.actor,
            agent_id=principal.agent_id,
            allowed_categories=principal.allowed_categories,
            project_ids=principal.project_ids,
            sees_people=True,
        )

    def lister(self, given: Mapping[str, Any]) -> Viewer:
        """The viewer of a list: an agent's key sees no people's rows but those of the named user.

        Call it in the team's scope, or outside of any transaction.
        """
        if self.principal.agent_id is None:
            return self.viewer
        return self.named_viewer({"user": given.get("user")})

    def check_agent(self, agent: str | None, *, field: str = "agent") -> None:
        """Raise ForbiddenError when a key of one agent names another one; the log has the name."""
        principal = self.principal
        if agent is not None:
            self.request.META["palimpsest.agent"] = agent  # for the log of requests
        if not principal.agent_id or agent is None or agent == principal.agent_slug:
            return
        if not self._is_own_alias(agent):
            raise ForbiddenError(
                f"This key acts only as the agent '{principal.agent_slug}'.", field=field
            )

    def check_user(self, user: str | None) -> None:
        """Raise ForbiddenError when a sign-in names another person than its own."""
        principal = self.principal
        if not principal.is_sign_in or user is None or user == principal.end_user:
            return
        own = f"acts for '{principal.end_user}' alone" if principal.end_user else "names nobody"
        raise ForbiddenError(
            f"This sign-in {own}. To read and write about another person, use an API key.",
            field="user",
        )

    def _is_own_alias(self, name: str) -> bool:
        principal = self.principal
        with self.team_scope():
            named = aliases_among(team_id=principal.team_id, names=[name])
        return named.get(name) == principal.agent_id

    def named_viewer(self, given: Mapping[str, Any]) -> Viewer:
        """The viewer of the agent, user and project that the input names, as a question has it.

        Without a user it sees no people's rows. Call it in the team's scope, or outside of any
        transaction. An unknown user or project sees what belongs to none. Raises NotFoundError for
        an unknown agent and ForbiddenError for another agent than the key's.
        """
        return self._named(given)[0]

    def named_lister(self, given: Mapping[str, Any]) -> Viewer:
        """As `named_viewer`, of a list: a key of the team sees people's rows also without a user.

        Call it in the team's scope, or outside of any transaction.
        """
        viewer = self.named_viewer(given)
        return viewer if self.principal.agent_id is not None else replace(viewer, sees_people=True)

    def named_agent(self, given: Mapping[str, Any]) -> tuple[Viewer, Agent]:
        """As `named_viewer`, with the agent."""
        viewer, named = self._named(given)
        assert named.agent is not None
        return viewer, named.agent

    def _named(self, given: Mapping[str, Any]) -> tuple[Viewer, Named]:
        agent, user, project = (given.get(name) for name in ("agent", "user", "project"))
        key = self._recalled_key
        named = names_of(
            team_id=self.principal.team_id,
            agent=agent,
            user=user,
            project=project,
            key=key.digest if key is not None else None,
        )
        self.confirm_key(named.holder)
        self.check_agent(agent)
        self.check_user(user)
        viewer = self.viewer
        if agent is not None and named.agent is None:
            raise NotFoundError(
                f"There is no agent '{agent}' yet. Its first message, memory or chat makes it, or"
                f" PUT /v1/agents/{agent}.",
                field="agent",
            )
        if viewer.agent_id is None and named.agent is not None:
            categories = tuple(named.agent.allowed_categories)
            viewer = replace(viewer, agent_id=named.agent.pk, allowed_categories=categories)
        if viewer.project_ids and named.project_id not in (None, *viewer.project_ids):
            named = replace(named, project_id=None)
        return replace(
            viewer,
            end_user_id=(named.end_user_id or NOBODY) if user is not None else None,
            project_id=(named.project_id or NOBODY) if project is not None else None,
            sees_people=False,
            is_guest=user is not None and named.is_guest,
        ), named

    def team_scope(self, *, reason: str = "") -> AbstractContextManager[None]:
        """A transaction that sees the rows of the caller's team and no others."""
        principal = self.principal
        return team_scope(team_ids=[principal.team_id], actor=principal.actor, reason=reason)

    def require_team_key(self, message: str) -> None:
        """Raise ForbiddenError when the key acts only as one agent or in some projects."""
        if self.principal.agent_id is not None:
            raise ForbiddenError(message)
        if self.principal.project_ids:
            raise ForbiddenError(f"{message} This key is bound to projects.")

    def body(self, serializer: type[serializers.Serializer[Any]]) -> dict[str, Any]:
        """The validated body; a missing one counts as an empty object."""
        return cast(dict[str, Any], serializer().run_validation(self.request.data))

    def params(self, serializer: type[serializers.Serializer[Any]]) -> dict[str, Any]:
        """The validated query parameters."""
        checked = serializer(data=self.request.query_params)
        checked.is_valid(raise_exception=True)
        return cast(dict[str, Any], checked.validated_data)

    def filters(self, serializer: type[serializers.Serializer[Any]]) -> dict[str, Any]:
        """The validated query parameters, without those that name a page of a list."""
        given = self.params(serializer)
        if not issubclass(serializer, PageQuerySerializer):
            return given
        return {name: given[name] for name in given if name not in ("limit", "cursor")}

    def page(
        self,
        rows: QuerySet[Any],  # Any: rows of any model
        shown: type[serializers.Serializer[Any]],
        pages: type[IdPagination] = IdPagination,
    ) -> Response:
        """The page of the rows that the request asks for; call it in the team's scope."""
        return Response(pages().page_of(rows, self.request, shown))


def _refuse_broken_text(request: Request) -> None:
    """Raise ParseError where Django would read other words than were sent."""
    sent = str(request.META.get("QUERY_STRING", ""))
    if "%" not in sent and sent.isascii():
        return
    try:
        unquote_to_bytes(sent.encode("latin-1")).decode()
    except UnicodeError:
        raise ParseError(
            "The parameters of the address are not valid UTF-8: write each of their bytes that is"
            " no ASCII as % and two hexadecimal figures, as in M%C3%BCnchen."
        ) from None
