"""One description of each operation, for both clients.

An operation is a method that describes what is to be sent. On a resource of the client that waits
it sends that and returns the answer; on one of the asynchronous client it returns a coroutine of
the same. So each is written once, and both are typed.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from functools import update_wrapper
from typing import Any, ClassVar, Concatenate, Generic, ParamSpec, TypeVar, overload

from palimpsest_client.calls import Call, Paged, Streamed
from palimpsest_client.sending import AsyncPages, AsyncSender, Pages, Sender

P = ParamSpec("P")
T = TypeVar("T")
PageT = TypeVar("PageT")
CallT = TypeVar("CallT")
SenderT = TypeVar("SenderT", bound=Sender | AsyncSender)


class Resource(Generic[SenderT]):
    """Operations on one kind of thing, and what sends them."""

    def __init__(self, sender: SenderT) -> None:
        self._sender: SenderT = sender


class Described(Generic[P, CallT]):
    """An operation as its class has it; `describe` makes a call of the arguments."""

    _way: ClassVar[str]

    def __init__(self, describe: Callable[Concatenate[Any, P], CallT]) -> None:
        # Any: the resource, which no description looks at
        self.describe = describe
        self.__doc__ = describe.__doc__

    def _bound(self, resource: Resource[Any]) -> Callable[P, Any]:  # Any: of either sender
        send = getattr(resource._sender, self._way)

        def operation(*args: P.args, **kwargs: P.kwargs) -> Any:  # Any: as above
            return send(self.describe(resource, *args, **kwargs))

        return update_wrapper(operation, self.describe)


class operation(Described[P, Call[T]]):  # noqa: N801  # a decorator, as property is
    """An operation that is answered at once."""

    _way = "send"

    @overload
    def __get__(self, resource: Resource[Sender], owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(
        self, resource: Resource[AsyncSender], owner: type
    ) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, resource: Resource[Any] | None, owner: type) -> Any:  # Any: one of these
        return self if resource is None else self._bound(resource)


class paged(Described[P, Paged[PageT, T]]):  # noqa: N801
    """An operation that is answered a page at a time."""

    _way = "pages"

    @overload
    def __get__(self, resource: Resource[Sender], owner: type) -> Callable[P, Pages[PageT, T]]: ...
    @overload
    def __get__(
        self, resource: Resource[AsyncSender], owner: type
    ) -> Callable[P, AsyncPages[PageT, T]]: ...
    def __get__(self, resource: Resource[Any] | None, owner: type) -> Any:  # Any: one of these
        return self if resource is None else self._bound(resource)


class streamed(Described[P, Streamed[T]]):  # noqa: N801
    """An operation that is answered piece by piece."""

    _way = "stream"

    @overload
    def __get__(self, resource: Resource[Sender], owner: type) -> Callable[P, Generator[T]]: ...
    @overload
    def __get__(
        self, resource: Resource[AsyncSender], owner: type
    ) -> Callable[P, AsyncGenerator[T]]: ...
    def __get__(self, resource: Resource[Any] | None, owner: type) -> Any:  # Any: one of these
        return self if resource is None else self._bound(resource)
