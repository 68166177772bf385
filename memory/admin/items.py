"""Items of the inbox: the registry of their kinds, and the queue.

Contradictions are the kernel's own kind (`contradictions.py`); a satellite registers its kinds in
its admin module.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, ClassVar, Generic, TypeVar
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from memory.domain.audience import Viewer
from teams.admin.base import TeamAdmin, id_in
from teams.admin.theme import display
from teams.models.base import TeamOwned

from . import home
from .sides import Side

_MOST_WORDS = 12
Row = TypeVar("Row", bound=TeamOwned)
Listed = TypeVar("Listed", bound=Model)


# -- items -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Choice:
    """A decision that an item offers, and its key.

    With `takes_text` a new text comes with it; with a `delay` it only leaves the item for later.
    """

    name: str
    title: str
    key: str = ""
    is_main: bool = False
    takes_text: bool = False
    delay: timedelta | None = None


_LATER = (
    Choice("day", "Later: 1 day", "s", delay=timedelta(days=1)),
    Choice("week", "Later: 1 week", "w", delay=timedelta(weeks=1)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """An item as its page shows it.

    `effects` say what a decision changes beside the two texts, `beside` are other open items about
    it, `settled` is empty while it is open. `starts` are texts that a new one may begin with, by
    name.
    """

    reason: str
    sides: Sequence[Side]
    meta: str = ""
    effects: Sequence[SafeString | str] = ()
    beside: Sequence[Item[Any]] = ()
    history: Sequence[str] = ()
    settled: str = ""
    can_undo: bool = False
    refusal: str = ""
    starts: Mapping[str, str] = field(default_factory=dict)

    @property
    def parts(self) -> dict[str, str]:
        """Everything that a decision rests on, by the name on the page."""
        sides = {
            each.title: f"{each.text}\n{each.status_words}\n{each.audience}" for each in self.sides
        }
        return {**sides, "Also changed": "\n".join(self.effects)}


def fingerprint(parts: Mapping[str, str]) -> str:
    """Returns what a form sends back, so that a decision is about what its page showed."""
    return ".".join(_mark(*each) for each in parts.items())


def changed_since(shown: str, parts: Mapping[str, str]) -> list[str]:
    """Returns the names of the parts that are not in the fingerprint of the page."""
    marks = shown.split(".")
    return [name for name, text in parts.items() if _mark(name, text) not in marks]


def _mark(name: str, text: str) -> str:
    return sha256(f"{name}\0{text}".encode()).hexdigest()[:16]


class Item(ABC, Generic[Row]):
    """A row that waits for a decision or had one; each kind is a subclass.

    `kind` stands in addresses. `began` and `decider` are columns: since when it waits, and who
    decided it, empty while it is open. `search` are the lookups of the box that searches the inbox,
    `subjects` those of its person, agent and project. Rows have `snoozed_until`.
    """

    kind: ClassVar[str]
    title: ClassVar[str]
    began: ClassVar[str]
    decider: ClassVar[str]
    search: ClassVar[Sequence[str]]
    subjects: ClassVar[Mapping[str, Sequence[str]]]

    def __init__(self, row: Row) -> None:
        self.row = row

    @classmethod
    @abstractmethod
    def rows(cls) -> QuerySet[Row]:
        """Returns all rows, with what their lines and pages name."""

    @classmethod
    @abstractmethod
    def is_open(cls) -> Q:
        """Returns the condition of rows that can be decided."""

    @classmethod
    @abstractmethod
    def weighed(cls, rows: QuerySet[Row]) -> QuerySet[Any]:  # Any: with annotations
        """Adds `group_weight`, `group` and `weight`.

        The queue has the heaviest group first, its items together, the heaviest first.
        """

    @abstractmethod
    def decisions(self) -> Sequence[Choice]:
        """Returns the decisions that it offers, beside leaving it for later."""

    @property
    @abstractmethod
    def named(self) -> str:
        """The item in a few words."""

    @property
    @abstractmethod
    def line(self) -> SafeString:
        """The item as the list shows it."""

    @abstractmethod
    def effect(self, choice: str) -> SafeString | str:
        """Returns what the decision makes of it, for the page that asks before several."""

    @abstractmethod
    def shown(self, request: HttpRequest) -> Shown:
        """Returns what its page shows."""

    @abstractmethod
    def decide(self, request: HttpRequest, choice: str, *, note: str, text: str) -> str:
        """Decides it by a service; returns what became of it.

        The answer is empty where this left nothing to undo: another decision of the same choice
        ended it, or the new text waits for consent.
        """

    @abstractmethod
    def undo(self, viewer: Viewer, now: datetime) -> str:
        """Undoes its decision by a service, outside a transaction; returns it in a sentence."""

    @abstractmethod
    def leave(self, viewer: Viewer, until: datetime | None) -> None:
        """Leaves it for later by a service, or brings it back with None."""

    @classmethod
    def is_waiting(cls) -> Q:
        """Returns the condition of open rows that are not left for later."""
        return cls.is_open() & (Q(snoozed_until=None) | Q(snoozed_until__lte=timezone.now()))

    @classmethod
    def is_left(cls) -> Q:
        """Returns the condition of open rows that are left for later."""
        return cls.is_open() & Q(snoozed_until__gt=timezone.now())

    def choices(self) -> list[Choice]:
        """Returns all that can be done with it; one that expires is not left until after that."""
        ends, now = getattr(self.row, "expires_at", None), timezone.now()
        later = [each for each in _LATER if each.delay and (not ends or now + each.delay < ends)]
        return [*self.decisions(), *later]

    @property
    def pk(self) -> str:
        return f"{self.kind}:{self.row.pk}"

    @property
    def team(self) -> object:
        return self.row.team

    @property
    def team_id(self) -> UUID:
        return self.row.team_id

    @property
    def since(self) -> datetime:
        since: datetime = getattr(self.row, self.began)
        return since

    @property
    def decided_by(self) -> str:
        """The actor who decided it; empty while it is open."""
        return str(getattr(self.row, self.decider))

    @property
    def url(self) -> str:
        return item_url(self.kind, self.row.pk)


# By name, in the order of the page.
KINDS: dict[str, type[Item[Any]]] = {}


def register(kind: type[Item[Any]]) -> None:
    """Adds a kind of item to the inbox, to Home, to the menu's count and to pages of subjects."""
    KINDS[kind.kind] = kind
    home.KINDS.append(
        home.Kind(
            kind.title,
            "inbox",
            f"kind={kind.kind}",
            lambda: kind.rows().filter(kind.is_waiting()),
            kind.began,
            order=0,
            badge="warning",
            subjects=kind.subjects,
            name=lambda row: kind(row).named,
            url=lambda row: kind(row).url,
        )
    )


def item_url(kind: str, pk: UUID) -> str:
    """Returns the address of an item's page."""
    return reverse("inbox_item", args=[kind, pk])


class ItemAdmin(TeamAdmin[Listed]):
    """A plain list of items of the inbox, past ones included; each row leads to its page there."""

    class Media:
        css = {"all": ["memory/admin/inbox.css"]}

    def item_of(self, row: Listed) -> Item[Any]:
        """Returns the row as an item."""
        raise NotImplementedError

    @display(description="statements")
    def statements(self, row: Listed) -> SafeString:
        """Its texts, one above the other, with what differs marked."""
        return format_html('<span class="pair-cell">{}</span>', self.item_of(row).line)

    def change_view(self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any) -> Any:
        # Any: Django's own signature
        row = self.get_object(request, object_id) if id_in(object_id) else None
        if row is None:
            # Django's own answer to an id that leads nowhere.
            return super().change_view(request, object_id, *args, **kwargs)
        if request.method == "POST" or not self.has_view_permission(request, row):
            raise PermissionDenied
        return HttpResponseRedirect(self.item_of(row).url)


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
        """Returns all open items that it shows, in order."""
        places: list[tuple[float, str, float, str, UUID]] = []
        later = 0
        counts: dict[str, int] = {}
        for name, kind in KINDS.items():
            found = self._found(kind)
            left = found.filter(kind.is_left())
            rows = left if self.is_later else found.filter(kind.is_waiting())
            if self.kind not in ("", name):
                counts[name] = rows.count()
                continue
            later += left.count()
            columns = (
                kind.weighed(rows).order_by().values_list("group_weight", "group", "weight", "pk")
            )
            counts[name] = len(columns)
            places += [
                (-heaviest, str(group), -weight, name, pk)
                for heaviest, group, weight, pk in columns
            ]
        return Queue([place[3:] for place in sorted(places)], later, counts)

    def _found(self, kind: type[Item[Any]]) -> QuerySet[Any]:
        rows = kind.rows()
        for word in self.words.split()[:_MOST_WORDS]:
            any_of = ((f"{each}__icontains", word) for each in kind.search)
            rows = rows.filter(Q(*any_of, _connector=Q.OR))
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


def items_of(ids: Sequence[tuple[str, UUID]]) -> list[Item[Any]]:
    """Returns those items that the login sees, in the same order; a query for each kind."""
    found: dict[tuple[str, UUID], Item[Any]] = {}
    for name, kind in KINDS.items():
        own = [pk for each, pk in ids if each == name]
        if own:
            found |= {(name, row.pk): kind(row) for row in kind.rows().filter(pk__in=own)}
    return [found[each] for each in ids if each in found]
