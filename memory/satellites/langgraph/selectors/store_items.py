"""Items of a store: who sees them, and how a namespace, a value and a time narrow them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from django.db.models import BooleanField, F, Func, Q, QuerySet, Value
from django.db.models.expressions import RawSQL

from memory.domain.audience import Viewer
from memory.models.querysets import narrowed_q
from memory.satellites.langgraph.models import StoreItem

Items = QuerySet[StoreItem, StoreItem]
ANY_LABEL = "*"


class Comparison(StrEnum):
    """How a member of a value is compared; numbers with numbers and texts with texts."""

    EQ = "$eq"
    NE = "$ne"
    GT = "$gt"
    GTE = "$gte"
    LT = "$lt"
    LTE = "$lte"


@dataclass(frozen=True, slots=True)
class Search:
    """Which items: those under a namespace whose members compare so."""

    prefix: tuple[str, ...] = ()
    conditions: Sequence[tuple[str, Comparison, object]] = ()
    query: str = ""
    limit: int = 10
    offset: int = 0
    refreshes: bool = True


@dataclass(frozen=True, slots=True)
class Listing:
    """Which namespaces, cut to `max_depth` labels; "*" stands for any label."""

    prefix: tuple[str, ...] = ()
    suffix: tuple[str, ...] = ()
    max_depth: int | None = None
    limit: int = 100
    offset: int = 0


_SIGNS = {
    Comparison.GT: " > ",
    Comparison.GTE: " >= ",
    Comparison.LT: " < ",
    Comparison.LTE: " <= ",
}


def path_of(namespace: Sequence[str]) -> str:
    """As it is stored; labels have no dots."""
    return ".".join(namespace)


def items_for(*, viewer: Viewer, now: datetime) -> Items:
    """The items that the viewer may see and whose time is not over; call it in the team's scope."""
    seen = Q(team_id=viewer.team_id) & narrowed_q(viewer)
    if viewer.agent_id is not None:
        seen &= Q(agent_id=viewer.agent_id) | Q(agent_id__isnull=True)
    return StoreItem.objects.filter(seen, Q(expires_at__isnull=True) | Q(expires_at__gt=now))


def matching_items(rows: Items, search: Search) -> Items:
    """Those that the search is for, whatever its query."""
    if search.prefix:
        path = path_of(search.prefix)
        # "/" follows "." in the order of bytes.
        rows = rows.filter(Q(path=path) | Q(path__gte=f"{path}.", path__lt=f"{path}/"))
    for name, comparison, value in search.conditions:
        rows = rows.filter(_condition(name, comparison, value))
    return rows


def _condition(name: str, comparison: Comparison, value: object) -> Func:
    """A comparison of a member of the value as PostgreSQL compares JSON; none is no match but $ne.

    A whole object is equal to one that has its members at least.
    """
    member = Func(F("value"), Value(name), template="(%(expressions)s)", arg_joiner=" -> ")
    given = Func(Value(json.dumps(value)), template="%(expressions)s::jsonb")
    if comparison in (Comparison.EQ, Comparison.NE):
        sign = " @> " if isinstance(value, dict) else " = "
        holds = "IS TRUE" if comparison is Comparison.EQ else "IS NOT TRUE"
        return _test(member, given, sign=sign, holds=holds)
    one, other = (Func(each, function="jsonb_typeof") for each in (member, given))
    alike = _test(one, other, sign=" = ")
    return _test(alike, _test(member, given, sign=_SIGNS[comparison]), sign=" AND ")


def _test(one: Func, other: Func, *, sign: str, holds: str = "IS TRUE") -> Func:
    template = f"((%(expressions)s) {holds})"
    return Func(one, other, template=template, arg_joiner=sign, output_field=BooleanField())


def namespaces_of(rows: Items, listing: Listing) -> list[tuple[str, ...]]:
    """The namespaces in which items stand, each once, in their order."""
    for labels, pattern in (
        (listing.prefix, r"^{}(\.|$)"),
        (listing.suffix, r"(^|\.){}$"),
    ):
        if labels:
            parts = (r"[^.]+" if each == ANY_LABEL else re.escape(each) for each in labels)
            rows = rows.filter(path__regex=pattern.format(r"\.".join(parts)))
    depth = listing.max_depth
    cut = rows.order_by().annotate(
        cut=RawSQL(
            "array_to_string((string_to_array(memory_storeitem.path, '.'))[:%s], '.')",
            [depth or 1_000],
        )
    )
    found = cut.values_list("cut", flat=True).distinct().order_by("cut")
    return [
        tuple(path.split(".")) for path in found[listing.offset : listing.offset + listing.limit]
    ]
