"""Items of the inbox: their kinds, the registry of these, and the queue.

Contradictions are the kernel's own kind (`review.py`); a satellite registers its kinds in its admin
module.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, Generic
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString

from memory.domain.audience import Viewer
from teams.admin.base import TeamAdmin, id_in
from teams.admin.theme import Row

from .sides import Side

# A page of the queue is worked through long before its end; the rest is found by the next one.
_MOST_OF_A_KIND = 1_000
_MOST_WORDS = 12


# -- kinds of items --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Choice:
    """A decision that an item offers, and its key; with `takes_text` a new text comes with it."""

    name: str
    title: str
    key: str = ""
    is_main: bool = False
    takes_text: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """An item as its page shows it.

    `effects` say what a decision changes beside the two texts, `beside` names other open items with
    their addresses, `settled` is empty while it is open. `starts` are texts that a new one may
    begin with, by name.
    """

    reason: str
    since: datetime
    sides: Sequence[Side]
    meta: str = ""
    effects: Sequence[SafeString | str] = ()
    beside: Sequence[tuple[str, str]] = ()
    history: Sequence[str] = ()
    settled: str = ""
    can_undo: bool = False
    refusal: str = ""
    starts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A place in the queue: of the heaviest group first, its items together, the heaviest first."""

    group_weight: float
    group: str
    weight: float
    pk: UUID


class ItemKind(ABC, Generic[Row]):
    """A kind of item: its rows, how they read, and the services that decide and undo.

    `name` stands in addresses. `search` are the lookups of the box that searches the inbox.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    search: ClassVar[Sequence[str]]

    @abstractmethod
    def rows(self) -> QuerySet[Row]:
        """Returns all rows, with what their lines and pages name."""

    @abstractmethod
    def waiting(self, now: datetime) -> Q:
        """Returns the condition of open items that are not left for later."""

    @abstractmethod
    def left_for_later(self, now: datetime) -> Q:
        """Returns the condition of open items that are left for later."""

    @abstractmethod
    def places(self, rows: QuerySet[Row]) -> Iterator[Place]:
        """Yields the places of these rows in the queue."""

    @abstractmethod
    def choices(self, row: Row) -> Sequence[Choice]:
        """Returns the decisions that its page offers, beside leaving it for later."""

    @abstractmethod
    def named(self, row: Row) -> str:
        """Returns the item in a few words."""

    @abstractmethod
    def line(self, row: Row) -> SafeString:
        """Returns the item as the list shows it."""

    @abstractmethod
    def since(self, row: Row) -> datetime:
        """Returns the time from which it waits."""

    @abstractmethod
    def effect(self, row: Row, choice: str) -> SafeString | str:
        """Returns what the decision makes of it, for the page that asks before several."""

    @abstractmethod
    def shown(self, request: HttpRequest, row: Row) -> Shown:
        """Returns what its page shows."""

    @abstractmethod
    def later_until(self, row: Row) -> datetime | None:
        """Returns until when an open item is left for later, None where it is not."""

    @abstractmethod
    def decided_by(self, row: Row) -> str:
        """Returns who decided it, empty while it is open."""

    @abstractmethod
    def decide(
        self, request: HttpRequest, row: Row, *, choice: str, note: str, text: str
    ) -> str | None:
        """Decides it by a service; returns what became of it, None if another decision told it."""

    @abstractmethod
    def undo(self, viewer: Viewer, row: Row, now: datetime) -> str:
        """Undoes its decision by a service, outside a transaction; returns it in a sentence."""

    @abstractmethod
    def leave(self, viewer: Viewer, row: Row, until: datetime | None) -> None:
        """Leaves it for later by a service, or brings it back with None."""


# By name, in the order of the page.
KINDS: dict[str, ItemKind[Any]] = {}


def register(kind: ItemKind[Any]) -> None:
    """Adds a kind of item to the inbox."""
    KINDS[kind.name] = kind


@dataclass(frozen=True, slots=True)
class Item:
    """A row with its kind, as a page that asks before several takes it."""

    kind: ItemKind[Any]
    row: Any

    @property
    def pk(self) -> str:
        return f"{self.kind.name}:{self.row.pk}"

    @property
    def team(self) -> object:
        return self.row.team

    @property
    def team_id(self) -> UUID:
        team_id: UUID = self.row.team_id
        return team_id

    @property
    def line(self) -> SafeString:
        return self.kind.line(self.row)

    @property
    def named(self) -> str:
        return self.kind.named(self.row)

    @property
    def since(self) -> datetime:
        return self.kind.since(self.row)

    @property
    def url(self) -> str:
        return item_url(self.kind.name, self.row.pk)


def item_url(kind: str, pk: UUID) -> str:
    """Returns the address of an item's page."""
    return reverse("inbox_item", args=[kind, pk])


class ItemAdmin(TeamAdmin[Row]):
    """A plain list of items of the inbox, past ones included; each row leads to its page there."""

    def item_kind(self, row: Row) -> str:
        """Returns the name of the row's kind."""
        raise NotImplementedError

    def change_view(self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any) -> Any:
        # Any: Django's own signature
        row = self.get_object(request, object_id) if id_in(object_id) else None
        if row is None:
            # Django's own answer to an id that leads nowhere.
            return super().change_view(request, object_id, *args, **kwargs)
        if request.method == "POST" or not self.has_view_permission(request, row):
            raise PermissionDenied
        return HttpResponseRedirect(item_url(self.item_kind(row), row.pk))


# -- the queue -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Look:
    """The part of the inbox that its reader looks at, as the address says it."""

    kind: str = ""
    words: str = ""
    is_later: bool = False

    @classmethod
    def of(cls, request: HttpRequest) -> Look:
        """Reads it from the address; an unknown kind means all."""
        given = request.GET
        kind = given.get("kind", "")
        return cls(
            kind if kind in KINDS else "",
            given.get("q", "").replace("\x00", "").strip(),
            given.get("later") == "1",
        )

    def address(self, url: str, **changes: str) -> str:
        """Returns the address with the same filters; an empty change leaves one out."""
        filters = {"kind": self.kind, "q": self.words, "later": "1" if self.is_later else ""}
        query = QueryDict(mutable=True)
        query.update({name: value for name, value in (filters | changes).items() if value})
        return f"{url}?{query.urlencode()}" if query else url

    def queue(self) -> Queue:
        """Returns the open items that it shows, in order."""
        now = timezone.now()
        places: list[tuple[Place, str]] = []
        later = 0
        counts: dict[str, int] = {}
        for name, kind in KINDS.items():
            conditions = (kind.waiting(now), kind.left_for_later(now))
            waiting, left = (self._found(kind).filter(each) for each in conditions)
            is_shown = self.kind in ("", name)
            if is_shown:
                later += left.count()
                rows = left if self.is_later else waiting
                mine = [(each, name) for each in kind.places(rows)]
                counts[name] = len(mine)
                places += mine
            else:
                counts[name] = (left if self.is_later else waiting).count()
        places.sort(key=lambda each: (-each[0].group_weight, each[0].group, -each[0].weight))
        return Queue([(name, place.pk) for place, name in places], later, counts)

    def _found(self, kind: ItemKind[Any]) -> QuerySet[Any]:
        rows = kind.rows()
        for word in self.words.split()[:_MOST_WORDS]:
            rows = rows.filter(
                Q.create([(f"{each}__icontains", word) for each in kind.search], connector=Q.OR)
            )
        return rows


@dataclass(frozen=True, slots=True)
class Queue:
    """Open items in order, how many are left for later, and how many there are of each kind."""

    ids: Sequence[tuple[str, UUID]]
    later: int
    counts: Mapping[str, int]

    def place_of(self, item: tuple[str, UUID]) -> int:
        """Returns its number in the queue, from 1; 0 where it is not in it."""
        return self.ids.index(item) + 1 if item in self.ids else 0

    def after(self, item: tuple[str, UUID]) -> list[tuple[str, UUID]]:
        """Returns the others, beginning with the next one, and from the top again at the end."""
        place = self.place_of(item)
        return [*self.ids[place:], *self.ids[: place - 1]] if place else list(self.ids)


def most_of(rows: QuerySet[Any]) -> QuerySet[Any]:
    """Returns as many rows of a kind as the queue holds."""
    return rows[:_MOST_OF_A_KIND]


def items_of(ids: Sequence[tuple[str, UUID]]) -> list[Item]:
    """Returns those items that the login sees, in the same order; a query for each kind."""
    found: dict[tuple[str, UUID], Item] = {}
    for name, kind in KINDS.items():
        own = [pk for each, pk in ids if each == name]
        if own:
            found |= {(name, row.pk): Item(kind, row) for row in kind.rows().filter(pk__in=own)}
    return [found[each] for each in ids if each in found]
