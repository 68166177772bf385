"""The two senders: one waits for its answers, the answers of the other are awaited."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from contextlib import aclosing, closing, contextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from uuid import uuid4

import httpx
from httpx_sse import EventSource

from palimpsest_client.calls import Call, Paged, PageT, Streamed, T, T_co
from palimpsest_client.errors import ConnectionFailed, StreamCut, error_of
from palimpsest_client.retries import policy

HttpT = TypeVar("HttpT", httpx.Client, httpx.AsyncClient)
_CUT = "The stream ended before its last event: what came is not the whole answer."


class Pages(Generic[PageT, T_co]):
    """All of a list, fetched a page at a time while it is iterated over."""

    def __init__(self, sender: Sender, call: Paged[PageT, T_co]) -> None:
        self._sender = sender
        self._call = call

    def __iter__(self) -> Iterator[T_co]:
        for page in self.pages():
            yield from self._call.results(page)

    def pages(self) -> Iterator[PageT]:
        """The pages themselves."""
        call: Call[PageT] | None = self._call.first
        while call is not None:
            page = self._sender.send(call)
            yield page
            call = self._call.after(page)


class AsyncPages(Generic[PageT, T_co]):
    """All of a list, fetched a page at a time while it is iterated over."""

    def __init__(self, sender: AsyncSender, call: Paged[PageT, T_co]) -> None:
        self._sender = sender
        self._call = call

    async def __aiter__(self) -> AsyncIterator[T_co]:
        async for page in self.pages():
            for each in self._call.results(page):
                yield each

    async def pages(self) -> AsyncIterator[PageT]:
        """The pages themselves."""
        call: Call[PageT] | None = self._call.first
        while call is not None:
            page = await self._sender.send(call)
            yield page
            call = self._call.after(page)


@dataclass(frozen=True)
class _Sending(Generic[HttpT]):
    """The base of both senders: the httpx client and the settings of its requests.

    `keys` are the Idempotency-Keys of the next POSTs.
    """

    http: HttpT
    retries: int
    keys: Iterator[str] = field(default_factory=lambda: map(str, iter(uuid4, None)))
    timeout: float | httpx.Timeout | None = None

    def request(self, call: Call[Any]) -> httpx.Request:
        """The request of a call; each POST has a key, which its repetitions keep."""
        retries = 0 if call.takes_failures else self.retries
        retry = policy(retries=retries, is_repeatable=call.is_repeatable)
        more: dict[str, Any] = {"extensions": {"retry": retry}}  # Any: as httpx has it
        if call.method == "POST":
            more["headers"] = {"Idempotency-Key": next(self.keys)}
        if self.timeout is not None:
            more["timeout"] = self.timeout
        return call.request(self.http, **more)


class Sender(_Sending[httpx.Client]):
    """Waits for its answers."""

    def send(self, call: Call[T]) -> T:
        """The answer of a call."""
        with _reaching():
            response = self.http.send(self.request(call))
        if response.is_error and response.status_code not in call.answers:
            raise error_of(response)
        return call.read(response)

    def pages(self, call: Paged[PageT, T]) -> Pages[PageT, T]:
        """The pages of a list; none is fetched yet."""
        return Pages(self, call)

    def stream(self, streamed: Streamed[T]) -> Generator[T]:
        """The pieces of an answer; it is asked for with the first."""
        request = self.request(streamed.call)
        with _reaching(), closing(self.http.send(request, stream=True)) as response:
            if response.is_error:
                response.read()
                raise error_of(response)
            streamed.check(response)
            if streamed.last is None:
                texts = _lines(response)
            else:
                texts = (event.data for event in EventSource(response).iter_sse())
            is_whole = streamed.last is None
            for text in texts:
                if text == streamed.last:
                    is_whole = True
                else:
                    yield streamed.read(text)
            if not is_whole:
                raise StreamCut(_CUT)


class AsyncSender(_Sending[httpx.AsyncClient]):
    """Its answers are awaited."""

    async def send(self, call: Call[T]) -> T:
        """The answer of a call."""
        with _reaching():
            response = await self.http.send(self.request(call))
        if response.is_error and response.status_code not in call.answers:
            raise error_of(response)
        return call.read(response)

    def pages(self, call: Paged[PageT, T]) -> AsyncPages[PageT, T]:
        """The pages of a list; none is fetched yet."""
        return AsyncPages(self, call)

    async def stream(self, streamed: Streamed[T]) -> AsyncGenerator[T]:
        """The pieces of an answer; it is asked for with the first."""
        request = self.request(streamed.call)
        with _reaching():
            async with aclosing(await self.http.send(request, stream=True)) as response:
                if response.is_error:
                    await response.aread()
                    raise error_of(response)
                streamed.check(response)
                if streamed.last is None:
                    texts = _alines(response)
                else:
                    texts = (event.data async for event in EventSource(response).aiter_sse())
                is_whole = streamed.last is None
                async with aclosing(texts):
                    async for text in texts:
                        if text == streamed.last:
                            is_whole = True
                        else:
                            yield streamed.read(text)
                if not is_whole:
                    raise StreamCut(_CUT)


class _Lines:
    """Lines that line feeds end, and nothing else that JSON may hold as it is."""

    def __init__(self) -> None:
        self._parts: list[str] = []

    def ended_by(self, text: str) -> list[str]:
        """The lines that this text, which follows the ones before, brings to their end."""
        first, *others = text.split("\n")
        self._parts.append(first)
        if not others:
            return []
        whole = ["".join(self._parts), *others[:-1]]
        self._parts = others[-1:]
        return whole

    def rest(self) -> list[str]:
        """The last line, if nothing ended it."""
        last = "".join(self._parts)
        return [last] if last else []


def _lines(response: httpx.Response) -> Generator[str]:
    lines = _Lines()
    for text in response.iter_text():
        yield from lines.ended_by(text)
    yield from lines.rest()


async def _alines(response: httpx.Response) -> AsyncGenerator[str]:
    lines = _Lines()
    async for text in response.aiter_text():
        for line in lines.ended_by(text):
            yield line
    for line in lines.rest():
        yield line


@contextmanager
def _reaching() -> Iterator[None]:
    try:
        yield
    except httpx.RequestError as error:
        raise ConnectionFailed(f"{type(error).__name__}: {error}") from error
