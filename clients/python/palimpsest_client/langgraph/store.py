"""A store for LangGraph whose items are memories of Palimpsest as well."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeVar

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    get_text_at_path,
    tokenize_path,
    validate_op_namespace,
)

from palimpsest_client import models as m
from palimpsest_client.langgraph.connections import Connections

Namespace = tuple[str, ...]
T = TypeVar("T")
Numbered = tuple[int, Op]
_COMPARISONS = ("$eq", "$ne", "$gt", "$gte", "$lt", "$lte")
_WHOLE = "$"
# What one request takes.
_ITEMS, _SEARCHES = 500, 20
# What one answer to a search has, and the characters of its query.
_FOUND, _QUERY = 1_000, 8_000


class PalimpsestStore(BaseStore):
    """Keeps items by namespace and key; their words are memories that every search finds.

    The namespaces `("users", name, …)`, `("agents", name, …)` and `("projects", name, …)` belong
    to that person, agent or project, all others to the team; `user_of` tells of another namespace
    whose it is, or None. `fields` are the paths in a value that hold its words, "$" all of it;
    `index` of a single put takes their place, and with False no question finds the item. Each
    method may be called or awaited; `settings` are those of Palimpsest, such as `timeout`. What
    the server refuses is a PalimpsestError.
    """

    supports_ttl = True
    __slots__ = ("_connections", "_fields", "_user_of", "ttl_config")

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        fields: Sequence[str] = (_WHOLE,),
        ttl: TTLConfig | None = None,
        user_of: Callable[[Namespace], str | None] = lambda _: None,
        **settings: Any,  # Any: as Palimpsest has them
    ) -> None:
        super().__init__()
        self._connections = Connections(base_url, api_key, **settings)
        self._fields = fields
        self._user_of = user_of
        self.ttl_config = ttl

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._connections.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._connections.aclose()

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out the reads, then the writes: all of 500 writes or none."""
        given = _numbered(ops)
        results: list[Result] = [None] * len(given)
        for read in _reads(given):
            rest: _Read | None = read
            while rest is not None:
                answer = self._connections.waiting.items.read(**rest.body())
                rest = rest.take(answer, results)
        for items in self._writes(given):
            self._connections.waiting.items.write(items=items)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """As `batch`."""
        given = _numbered(ops)
        results: list[Result] = [None] * len(given)
        for read in _reads(given):
            rest: _Read | None = read
            while rest is not None:
                answer = await self._connections.awaited.items.read(**rest.body())
                rest = rest.take(answer, results)
        for items in self._writes(given):
            await self._connections.awaited.items.write(items=items)
        return results

    def _writes(self, given: Sequence[Numbered]) -> list[Any]:  # Any: NewStoreItems
        """Returns the items of each write request."""
        items = [self._item(op) for _, op in given if isinstance(op, PutOp)]
        return list(_parts(items, _ITEMS))

    def _item(self, op: PutOp) -> dict[str, Any]:  # Any: a NewStoreItem
        item = {"namespace": op.namespace, "key": str(op.key), "value": op.value}
        if op.value is None:
            return item
        user = self._user_of(op.namespace)
        return item | {"text": self._words(op), "user": user, "ttl_minutes": op.ttl}

    def _words(self, op: PutOp) -> str:
        """The words of an item: what stands at its paths, a line each."""
        if op.index is False or op.value is None:
            return ""
        paths = self._fields if op.index is None else op.index
        lines: list[str] = []
        for path in paths:
            if path == _WHOLE:
                lines += _lines(op.value)
            else:
                lines += get_text_at_path(op.value, tokenize_path(path))
        return "\n".join(lines)


@dataclass(frozen=True)
class _Read:
    """Operations of one kind that fit into a request, each with its place among the results."""

    kind: str
    ops: Sequence[Numbered]

    def body(self) -> Any:  # Any: ReadItems
        """The request."""
        return {self.kind: [_asked(op) for _, op in self.ops]}

    def take(self, answer: m.ReadOfItems, results: list[Result]) -> _Read | None:
        """Put the answers into their places; returns the read of the pages after them, if any."""
        got = {(tuple(each.namespace), each.key): each for each in answer.get}
        rest: list[Numbered] = []
        for number, (place, op) in enumerate(self.ops):
            if isinstance(op, GetOp):
                one = got.get((tuple(op.namespace), str(op.key)))
                results[place] = None if one is None else Item(**_columns(one))
                continue
            assert isinstance(op, SearchOp | ListNamespacesOp)
            page: list[Any]  # Any: items or namespaces
            if isinstance(op, SearchOp):
                found = answer.search[number]
                page = [SearchItem(**_columns(each), score=each.score) for each in found]
            else:
                page = [tuple(each) for each in answer.namespaces[number]]
            before: Any = results[place] or []  # Any: as above
            results[place] = before + page
            if len(page) == _FOUND < op.limit:
                left, offset = op.limit - _FOUND, op.offset + _FOUND
                rest.append((place, op._replace(limit=left, offset=offset)))
        return _Read(self.kind, rest) if rest else None


def _numbered(ops: Iterable[Op]) -> list[Numbered]:
    given = list(enumerate(ops))
    for _, op in given:
        validate_op_namespace(op)
    return given


def _reads(given: Sequence[Numbered]) -> Iterator[_Read]:
    for kind, of_kind, most in _KINDS:
        for some in _parts([each for each in given if isinstance(each[1], of_kind)], most):
            yield _Read(kind, some)


def _parts(given: Sequence[T], most: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(given), most):
        yield given[start : start + most]


def _asked(op: Op) -> dict[str, Any]:  # Any: as the client's TypedDicts have it
    if isinstance(op, GetOp):
        return {"namespace": op.namespace, "key": str(op.key), "refresh_ttl": op.refresh_ttl}
    if isinstance(op, SearchOp):
        _check(op.filter or {})
        return {
            "namespace": op.namespace_prefix,
            "query": (op.query or "").strip()[:_QUERY] or None,
            "filter": op.filter,
            "limit": min(op.limit, _FOUND),
            "offset": op.offset,
            "refresh_ttl": op.refresh_ttl,
        }
    assert isinstance(op, ListNamespacesOp)
    limit = min(op.limit, _FOUND)
    asked = {"max_depth": op.max_depth, "limit": limit, "offset": op.offset}
    return asked | {each.match_type: each.path for each in op.match_conditions or ()}


def _check(wanted: Mapping[str, Any]) -> None:  # Any: JSON
    """Raise ValueError for a comparison that there is not."""
    for value in wanted.values():
        for sign in value if isinstance(value, dict) else ():
            if sign.startswith("$") and sign not in _COMPARISONS:
                raise ValueError(f"Unsupported operator: {sign}")


def _columns(found: m.StoreItem) -> dict[str, Any]:  # Any: what an Item takes
    return {
        "namespace": tuple(found.namespace),
        "key": found.key,
        "value": found.value,
        "created_at": found.created_at,
        "updated_at": found.updated_at,
    }


def _lines(value: Any, name: str = "") -> list[str]:  # Any: JSON
    """The words of a value: of an object each member with its name, of a list each in turn."""
    if isinstance(value, Mapping):
        return [
            line
            for key, each in value.items()
            for line in _lines(each, f"{name}.{key}" if name else str(key))
        ]
    if isinstance(value, list | tuple):
        return [line for each in value for line in _lines(each, name)]
    if value is None:
        return []
    return [f"{name}: {value}" if name else str(value)]


_KINDS: Sequence[tuple[str, type[Any], int]] = (  # Any: one of the operations
    ("get", GetOp, _ITEMS),
    ("search", SearchOp, _SEARCHES),
    ("namespaces", ListNamespacesOp, _SEARCHES),
)
