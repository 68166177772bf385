"""Headers of requests: `Idempotency-Key`, and `If-Match` and `If-None-Match` (RFC 9110, 13.1)."""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Any, cast

from django.core.exceptions import PermissionDenied
from django.db import DatabaseError, InterfaceError
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.http import parse_etags
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.viewsets import GenericViewSet

from teams.errors import Condition, DomainError, InvalidError
from teams.services.idempotency import (
    HEADER,
    MAX_KEY_CHARS,
    Answer,
    ClaimedRequest,
    abandon_request,
    claim_request,
    finish_request,
    mark_committed,
    release_request,
)
from teams.services.keys import Principal
from teams.tenancy import before_commit, database_now

REPLAY_HEADER = "Idempotent-Replay"
# After these nothing was carried out, and the same request may be sent again as a new one.
_REFUSALS = (DomainError, APIException, Http404, PermissionDenied)
# As the OpenAPI schema has it.
IDEMPOTENCY_KEY = {
    "in": "header",
    "name": HEADER,
    "schema": {"type": "string", "minLength": 1, "maxLength": MAX_KEY_CHARS, "pattern": "^[ -~]*$"},
    "description": (
        "A value of your own for this one request, such as a UUID. Sent again with the same body"
        " within a day, it is not carried out again: the first answer comes back with"
        f" `{REPLAY_HEADER}: true`. With another body it is refused (422), and while the first one"
        " is under way too (409). What was refused is not kept and may be sent again."
    ),
}

logger = logging.getLogger(__name__)


class _AnsweredError(Exception):
    """The request was answered before."""

    def __init__(self, answer: Answer) -> None:
        super().__init__()
        self.answer = answer


def settle(act: Callable[[], None]) -> None:
    """Say of a claimed request what became of it; the row says enough when that fails."""
    try:
        act()
    except (DatabaseError, InterfaceError):
        logger.warning("The answer under an idempotency key was not kept.", exc_info=True)


class IdempotentPosts(GenericViewSet[Any]):
    """A viewset that honours the header on every POST."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        # Any: Django's own signature
        """The answer, which is kept under the key of the request where it has one."""
        self._claimed: ClaimedRequest | None = None
        self._is_refused = False
        with ExitStack() as self._marking:
            try:
                return super().dispatch(request, *args, **kwargs)
            except Exception:
                self._end(abandon_request)
                raise

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        # Any: Django REST framework's own signature
        """Let the caller in, then claim the request or raise the answer it had before."""
        super().initial(request, *args, **kwargs)
        key = request.headers.get(HEADER)
        if key is None or request.method != "POST":
            return
        principal = cast(Principal, request.user)
        if principal.is_frozen:
            return  # it only reads, and nothing can be noted
        claimed = claim_request(
            team_id=principal.team_id,
            agent_id=principal.agent_id,
            key=key,
            digest=_digest(request),
            now=database_now(),
        )
        if isinstance(claimed, Answer):
            raise _AnsweredError(self.answer_again(claimed))
        self._claimed = claimed
        self._marking.enter_context(before_commit(mark_committed(claimed)))

    def handle_exception(self, exc: Exception) -> Any:  # Any: a response of either framework
        """The answer to an error; what was answered before is one of them."""
        if isinstance(exc, _AnsweredError):
            answer = exc.answer
            return HttpResponse(
                answer.body,
                status=answer.status,
                content_type=answer.media_type,
                headers={REPLAY_HEADER: "true"},
            )
        self._is_refused = isinstance(exc, _REFUSALS)
        return super().handle_exception(exc)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        # Any: Django REST framework's own signature
        """The response, its content kept when the request was carried out."""
        response = super().finalize_response(request, response, *args, **kwargs)
        if self._claimed is None:
            return response
        if 200 <= response.status_code < 300 and not response.streaming:
            if callable(render := getattr(response, "render", None)):
                render()
            answer = Answer(
                response.status_code, response["Content-Type"], response.content.decode()
            )
            kept = self.answer_to_keep(answer)
            self._end(lambda *, claimed: finish_request(claimed=claimed, answer=kept))
        else:
            self._end(release_request if self._is_refused else abandon_request)
        return response

    def answer_to_keep(self, answer: Answer) -> Answer:
        """Returns the answer to store; one with a secret is stored without it."""
        return answer

    def answer_again(self, kept: Answer) -> Answer:
        """The answer that was kept, as it was given."""
        return kept

    def _end(self, how: Callable[..., None]) -> None:
        claimed, self._claimed = self._claimed, None
        self._marking.close()
        if claimed is not None:
            settle(partial(how, claimed=claimed))


def _digest(request: Request) -> bytes:
    """Returns a digest of a request, equal for equal ones of callers who see the same.

    It covers the method, the whole address, the body, the headers that name a person, a thread or a
    project, and what the key is bound to beside its agent; so a rotated key may ask again.
    """
    principal = cast(Principal, request.user)
    named = sorted((k.lower(), v) for k, v in request.headers.items() if _NAMES.match(k))
    bound = (*sorted(principal.project_ids), principal.end_user_id, principal.is_sign_in)
    parts = [str(request.method), request.get_full_path()]
    if named or any(bound):
        parts += [repr(named), *map(str, bound)]
    head = hashlib.sha256("\n".join(parts).encode()).digest()
    return hashlib.sha256(head + request._request.body).digest()


_NAMES = re.compile("x-palimpsest-", re.IGNORECASE)
_TAG = '(W/)?"[!#-+./0-~-]*"'
# Empty is as if it were not sent.
_TAGS = {"type": "string", "pattern": rf"^\s*(\*|{_TAG}(\s*,\s*{_TAG})*)?\s*$"}
_ETAG = OpenApiParameter(
    "ETag", str, OpenApiParameter.HEADER, response=True, description="The version, in quotes."
)
# Headers of the OpenAPI schema.
OF_A_READ = (
    OpenApiParameter(
        "If-None-Match",
        _TAGS,
        OpenApiParameter.HEADER,
        description="The ETag that you have: answered with 304 while it stands.",
    ),
    _ETAG,
)
OF_A_WRITE = (
    OpenApiParameter(
        "If-Match",
        _TAGS,
        OpenApiParameter.HEADER,
        description="The ETag that you loaded: another version that stands by now is not"
        " overwritten (412). `*` asks that there is one.",
    ),
    OpenApiParameter(
        "If-None-Match",
        _TAGS,
        OpenApiParameter.HEADER,
        description="`*` saves only where there is none yet (412).",
    ),
    _ETAG,
)
NOT_MODIFIED = OpenApiResponse(description="The version you have still stands.")
ANY = "*"


def entity_tag(version: int) -> str:
    """The version as an entity tag."""
    return f'"{version}"'


def condition_of(request: Request) -> Condition:
    """Returns the condition on the stored version. Raises InvalidError for an invalid header."""
    match = request.headers.get("If-Match", "").strip()
    none_match = request.headers.get("If-None-Match", "").strip()
    return Condition(
        # A weak tag says only that something like it was seen, and matches none here.
        versions=None if match in ("", ANY) else _versions(match, "If-Match", with_weak=False),
        must_exist=match == ANY,
        must_be_new=none_match == ANY,
        other_than=frozenset()
        if none_match in ("", ANY)
        else _versions(none_match, "If-None-Match", with_weak=True),
    )


def unchanged(request: Request, version: int) -> HttpResponse | None:
    """The 304 of a GET whose caller has this version already."""
    none_match = request.headers.get("If-None-Match", "").strip()
    if none_match and (
        none_match == ANY or version in _versions(none_match, "If-None-Match", with_weak=True)
    ):
        return HttpResponse(status=304, headers={"ETag": entity_tag(version)})
    return None


def _versions(header: str, name: str, *, with_weak: bool) -> frozenset[int]:
    """The versions among the tags; a tag of another making matches none."""
    tags = parse_etags(header)
    if len(tags) != sum(bool(part.strip()) for part in header.split(",")):
        raise InvalidError(
            'Send the ETag of a version as it came, in quotation marks, as in "3".', field=name
        )
    if with_weak:
        tags = [tag.removeprefix("W/") for tag in tags]
    values = [tag.strip('"') for tag in tags if not tag.startswith("W/")]
    return frozenset(int(value) for value in values if value.isdecimal() and len(value) <= 10)
