"""The request of an operation and the parsing of its answer; the clients send it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Generic, TypeVar
from urllib.parse import quote
from uuid import UUID

import httpx
from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_json, to_jsonable_python

from palimpsest_client.errors import InvalidName, UnexpectedAnswer

# As a model has it, or as somebody kept it.
Id = UUID | str
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
# In an address these are steps from folder to folder, also percent-encoded.
_NO_NAMES = ("", ".", "..")
PageT = TypeVar("PageT")


@dataclass(frozen=True)
class Call(Generic[T_co]):
    """A request, and what its answer is read as, by status; None is an answer without content.

    `path` names its parts in braces, which `parts` fill in order. A `body` of bytes is sent as it
    is, any other as JSON. `is_repeatable` is whether
    sending it twice does the same as once.
    """

    method: str
    path: str
    answers: Mapping[int, Any]  # Any: a type, also a union, which Python cannot say
    parts: tuple[object, ...] = ()
    query: Mapping[str, object] = field(default_factory=dict)
    body: object = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_repeatable(self) -> bool:
        """Reads, and POSTs, each of which has an Idempotency-Key."""
        return self.method in ("GET", "POST")

    @property
    def takes_failures(self) -> bool:
        """True where a failure of the server is an answer, and so no reason to try again."""
        return any(status >= 500 for status in self.answers)

    def request(self, http: httpx.Client | httpx.AsyncClient, **more: Any) -> httpx.Request:
        # Any: what the builder of httpx takes
        """The request; `more` goes to httpx as it is. InvalidName for parts that address no one."""
        address = self.path
        for part in self.parts:
            name = str(part)
            if name in _NO_NAMES:
                raise InvalidName(f"{self.path} cannot have {name!r} as a part of its address.")
            start, _, rest = address.partition("{")
            address = f"{start}{quote(name, safe='')}{rest.partition('}')[2]}"
        query = {
            name: to_jsonable_python(value)
            for name, value in self.query.items()
            if value is not None
        }
        headers = {**self.headers, **more.pop("headers", {})}
        content = self.body if isinstance(self.body, bytes | None) else to_json(self.body)
        if content is not None:
            is_file = isinstance(self.body, bytes)
            headers["Content-Type"] = "application/octet-stream" if is_file else "application/json"
        return http.build_request(
            self.method, address, params=query, content=content, headers=headers, **more
        )

    def read(self, response: httpx.Response) -> T_co:
        """The answer; UnexpectedAnswer for what the API does not answer."""
        kind = self.answers.get(response.status_code, UnexpectedAnswer)
        if kind is None:
            return None  # type: ignore[return-value]  # T is optional where None is an answer
        try:
            if kind is not UnexpectedAnswer:
                answer: T_co = _adapter(kind).validate_json(response.content)
                return answer
            reason = f"the status {response.status_code}"
        except ValidationError as error:
            first = error.errors(include_input=False)[0]
            reason = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        raise UnexpectedAnswer(f"{self.method} {self.path} was answered with {reason}")


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:  # Any: see Call.answers
    return TypeAdapter(kind)


def get(path: str, answer: type[T], *parts: object, query: Any = None) -> Call[T]:
    # Any: a TypedDict is no Mapping of objects
    """A read."""
    return Call("GET", path, {200: answer}, parts, query or {})


def post(
    path: str, answer: type[T], *parts: object, body: object = None, query: Any = None
) -> Call[T]:  # Any: as above
    """A write that is carried out once, whether it created something or found it done."""
    statuses = dict.fromkeys((200, 201, 202), answer)
    return Call("POST", path, statuses, parts, query or {}, body)


def get_unless(
    known_version: int | None, path: str, answer: type[T], *parts: object, query: Any = None
) -> Call[T | None]:  # Any: as above
    """A read that is answered with None while the known version stands."""
    headers = {} if known_version is None else {"If-None-Match": f'"{known_version}"'}
    return Call("GET", path, {200: answer, 304: None}, parts, query or {}, headers=headers)


def put(
    path: str, answer: type[T], *parts: object, body: object, version: int | None, is_new: bool
) -> Call[T]:
    """A document that is saved: only over this version, or only where there is none yet."""
    headers = {"If-None-Match": "*"} if is_new else {}
    if version is not None:
        headers["If-Match"] = f'"{version}"'
    return Call("PUT", path, {200: answer, 201: answer}, parts, body=body, headers=headers)


@dataclass(frozen=True)
class Paged(Generic[PageT, T_co]):
    """A list of T that is answered a page at a time."""

    first: Call[PageT]

    def results(self, page: Any) -> list[T_co]:  # Any: a model that has results and a next page
        """Returns the results on a page."""
        found: list[T_co] = page.results
        return found

    def after(self, page: Any) -> Call[PageT] | None:  # Any: as above
        """The call for the page behind; of the server's link only the cursor is taken."""
        if page.next is None:
            return None
        try:
            cursor = httpx.URL(page.next).params["cursor"]
        except (httpx.InvalidURL, KeyError):
            raise UnexpectedAnswer(f"{page.next!r} is no link to a next page") from None
        return replace(self.first, query={**self.first.query, "cursor": cursor})


def pages(
    path: str, page: type[PageT], *parts: object, query: Any = None
) -> Paged[PageT, Any]:  # Any: as above; what is on a page is in its type alone
    """A list."""
    return Paged(get(path, page, *parts, query=query))


@dataclass(frozen=True)
class Streamed(Generic[T_co]):
    """An answer that comes piece by piece: as lines, or as events up to one that is `last`.

    `piece` reads one of them and raises ValueError for what is none.
    """

    call: Call[Any]  # Any: its answer is read by `piece`
    piece: Callable[[str], T_co]
    last: str | None = None

    def check(self, response: httpx.Response) -> None:
        """UnexpectedAnswer for what is no such stream."""
        expected = "application/x-ndjson" if self.last is None else "text/event-stream"
        given = response.headers.get("Content-Type", "")
        if response.status_code != 200 or given.partition(";")[0].strip() != expected:
            told = f"the status {response.status_code} and the type {given!r}"
            raise UnexpectedAnswer(f"{self.call.path} was answered with {told}")

    def read(self, text: str) -> T_co:
        """A piece; UnexpectedAnswer for what is none."""
        try:
            return self.piece(text)
        except ValueError:
            told = f"{self.call.path} was answered with a piece that cannot be read"
            raise UnexpectedAnswer(f"{told}: {text[:80]!r}") from None
