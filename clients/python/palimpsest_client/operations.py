"""One description of each operation, for both clients.

An operation is a method that describes what is to be sent: a Call, a Paged list or a Streamed
answer. On a resource of the client that waits it sends that and returns the answer; on one of the
asynchronous client it returns a coroutine of the same. So each is written once, and both are typed.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from functools import update_wrapper
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from palimpsest_client.calls import Call, Paged, PageT, Streamed, T
from palimpsest_client.sending import AsyncPages, AsyncSender, Pages, Sender

P = ParamSpec("P")
DescribedT = TypeVar("DescribedT", bound="Call[Any] | Paged[Any, Any] | Streamed[Any]")
SenderT = TypeVar("SenderT", bound=Sender | AsyncSender)


class Resource(Generic[SenderT]):
    """Operations on one kind of thing, and what sends them."""

    def __init__(self, sender: SenderT) -> None:
        self._sender: SenderT = sender


class operation(Generic[P, DescribedT]):  # noqa: N801  # a decorator, as property is
    """An operation; `describe` makes what is to be sent of the arguments."""

    def __init__(self, describe: Callable[Concatenate[Any, P], DescribedT]) -> None:
        # Any: the resource, which no description looks at
        self.describe = describe
        self.__doc__ = describe.__doc__

    @overload
    def __get__(
        self: operation[P, Call[T]], resource: Resource[Sender], owner: type
    ) -> Callable[P, T]: ...
    @overload
    def __get__(
        self: operation[P, Call[T]], resource: Resource[AsyncSender], owner: type
    ) -> Callable[P, Coroutine[Any, Any, T]]: ...
    @overload
    def __get__(
        self: operation[P, Paged[PageT, T]], resource: Resource[Sender], owner: type
    ) -> Callable[P, Pages[PageT, T]]: ...
    @overload
    def __get__(
        self: operation[P, Paged[PageT, T]], resource: Resource[AsyncSender], owner: type
    ) -> Callable[P, AsyncPages[PageT, T]]: ...
    @overload
    def __get__(
        self: operation[P, Streamed[T]], resource: Resource[Sender], owner: type
    ) -> Callable[P, Generator[T]]: ...
    @overload
    def __get__(
        self: operation[P, Streamed[T]], resource: Resource[AsyncSender], owner: type
    ) -> Callable[P, AsyncGenerator[T]]: ...
    def __get__(self, resource: Resource[Any] | None, owner: type) -> Any:  # Any: one of these
        if resource is None:
            return self

        def send(*args: P.args, **kwargs: P.kwargs) -> Any:  # Any: as above
            described = self.describe(resource, *args, **kwargs)
            if isinstance(described, Paged):
                return resource._sender.pages(described)
            if isinstance(described, Streamed):
                return resource._sender.stream(described)
            return resource._sender.send(described)

        return update_wrapper(send, self.describe)
