"""Choosing what fits a token budget (seed 000, step 5, and the trimming of the prompt's layers)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

# The smallest budget that a reader may ask for, in tokens.
MINIMUM_BUDGET = 100

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Room:
    """The part of a budget reserved for a section, in tokens of its lines without headings.

    It may fill `reserve` tokens or `share` of the budget (0-1), whichever is more, before anything
    is given to the rest; what it leaves free goes to the rest. Sections with a higher `trim` are
    trimmed first: as soon as one section gets less than its own room holds, all sections with a
    higher `trim` hold nothing but what is mandatory. One that `inherits` may at once fill what the
    section before it left free.
    """

    name: str
    reserve: int = 0
    share: float = 0.0
    trim: int = 0
    inherits: bool = False

    def own(self, token_budget: int) -> int:
        """The tokens it may fill before the rest."""
        return max(self.reserve, int(self.share * token_budget))


class Item(NamedTuple, Generic[T]):
    """Something that may go into a prompt; a tuple, as there are hundreds for each.

    `section` names its room, `tokens` is its written size, `score` its rank there. `opens` names
    the headings it stands under with their sizes; each is paid once, by the first item under it.
    What is not `is_counted` is outside of a limit on how many go in. `shorter` are shorter versions
    of the value with their sizes, the longest first, one of which goes into the rest where the
    whole does not fit.
    """

    value: T
    section: str
    tokens: int
    score: float
    opens: tuple[tuple[Hashable, int], ...] = ()
    is_mandatory: bool = False
    is_counted: bool = True
    shorter: tuple[tuple[T, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Packed(Generic[T]):
    """The chosen items.

    `items` are in the order they were taken, `tokens` what each section takes with the headings it
    opened, `cut` what a section's own room would have held had the budget been larger,
    `duplicates` what says the same as another item, with that item.
    """

    items: tuple[Item[T], ...]
    tokens: Mapping[str, int]
    mandatory_tokens: int = 0
    cut: tuple[Item[T], ...] = ()
    duplicates: tuple[tuple[Item[T], Item[T]], ...] = ()

    @property
    def optional(self) -> int:
        return sum(not item.is_mandatory for item in self.items)

    @property
    def tokens_used(self) -> int:
        return sum(self.tokens.values())


def pack(
    items: Sequence[Item[T]],
    *,
    rooms: Sequence[Room],
    token_budget: int,
    limit: int | None = None,
    first: Sequence[Item[T]] = (),
    saying: Callable[[T], Hashable | None] = lambda _: None,
    common: Collection[str] = (),
) -> Packed[T]:
    """Choose items until the budget is used; over it only when the mandatory items are.

    Mandatory items always go in, then what fits of those that come `first`. Then each room is
    filled by score, in the order of `trim` and of `rooms`; then the rest goes in by score. What
    does not fit is passed over for what does. Equal scores keep the given order. Items with an
    equal `saying` that is not None stand once, the mandatory ones apart. At most `limit` items go
    in beside the mandatory ones, the best of all rooms, so that no room takes the place of what is
    asked for.

    Headings in `common` are paid by all rooms: they count under their own names, shares are of what
    the headings of all rooms leave, and each room with a share gets at least one item, if need be
    the shortest, as far as the budget goes.
    """
    packer = _Packer(rooms, token_budget, limit, saying, common)
    by_room: dict[str, list[Item[T]]] = {room.name: [] for room in rooms}
    for item in sorted(items, key=lambda item: -item.score):
        by_room[item.section].append(item)
    for room in rooms:
        for item in by_room[room.name]:
            if item.is_mandatory:
                packer.take(item)
    mandatory_tokens = packer.used
    if common:
        packer.share_out(by_room)
    packer.take_first(first)
    if common:
        packer.take_floors(by_room)
    taken = {packer.source_of(item) for item in packer.chosen}
    best = _best(items, limit=limit)
    left: list[tuple[Room, Item[T]]] = []
    for room in sorted(rooms, key=lambda room: room.trim):
        optional = [item for item in by_room[room.name] if id(item) not in taken]
        left += [(room, item) for item in optional if id(item) not in best]
        own = [item for item in optional if id(item) in best]
        left += [(room, item) for item in packer.fill(room, own)]
    for room, item in sorted(left, key=lambda pair: -pair[1].score):
        packer.add_to_rest(room, item)
    return Packed(
        items=tuple(packer.chosen),
        tokens=packer.tokens,
        mandatory_tokens=mandatory_tokens,
        cut=tuple(packer.cut.values()),
        duplicates=tuple(packer.duplicates),
    )


def _best(items: Sequence[Item[T]], *, limit: int | None) -> set[int]:
    optional = [item for item in items if not item.is_mandatory]
    if limit is not None:
        counted = [item for item in optional if item.is_counted]
        others = [item for item in optional if not item.is_counted]
        optional = [*others, *sorted(counted, key=lambda item: -item.score)[:limit]]
    return {id(item) for item in optional}


@dataclass
class _Packer(Generic[T]):
    """The budget while it is being filled."""

    rooms: Sequence[Room]
    budget: int
    limit: int | None
    saying: Callable[[T], Hashable | None]
    common: Collection[str] = ()
    chosen: list[Item[T]] = field(default_factory=list)
    tokens: dict[str, int] = field(default_factory=dict)
    used: int = 0
    cut: dict[int, Item[T]] = field(default_factory=dict)
    duplicates: list[tuple[Item[T], Item[T]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tokens = {room.name: 0 for room in self.rooms}
        # Of each room, the tokens of its lines without headings.
        self._written = dict(self.tokens)
        self._opened: set[Hashable] = set()
        # By the number of the object: what is opened for one item is opened for all that share it.
        self._paid: set[int] = set()
        # What was taken, by what it says.
        self._said: dict[Hashable, Item[T]] = {}
        self._closed_above: int | None = None
        self._optional = 0
        # What the room that was filled last left of its own.
        self._free = 0
        # Of which the rooms have their shares.
        self._shared = self.budget
        # The whole item of a shorter version that was taken, by the number of the version.
        self._whole: dict[int, int] = {}

    def take(self, item: Item[T]) -> None:
        """Put it in, whatever it takes."""
        price = self._price(item)
        self.used += price
        for name, size in self._unpaid(item) if self.common else ():
            if name in self.common:
                self.tokens[str(name)] = size
                price -= size
        self.tokens[item.section] += price
        self._written[item.section] += item.tokens
        if id(item.opens) not in self._paid:
            self._opened.update(name for name, _ in item.opens)
            self._paid.add(id(item.opens))
        self.chosen.append(item)
        self._optional += item.is_counted and not item.is_mandatory
        says = self.saying(item.value)
        if says is not None:
            self._said.setdefault(says, item)

    def source_of(self, item: Item[T]) -> int:
        """Returns the number of the item that this is a version of."""
        return self._whole.get(id(item), id(item))

    def share_out(self, by_room: Mapping[str, Sequence[Item[T]]]) -> None:
        """Leaves the headings of all rooms out of what the shares are of."""
        headings = {
            name: size
            for room in self.rooms
            if room.share
            for item in by_room[room.name][:1]
            for name, size in item.opens
        }
        self._shared = max(0, self.budget - sum(headings.values()))

    def take_floors(self, by_room: Mapping[str, Sequence[Item[T]]]) -> None:
        """Takes the shortest version of an item for each room whose share is too small for any."""
        for room in self.rooms:
            versions = [
                (item if value is item.value else item._replace(value=value, tokens=tokens), item)
                for item in by_room[room.name]
                if (says := self.saying(item.value)) is None or says not in self._said
                for value, tokens in ((item.value, item.tokens), *item.shorter)
            ]
            if not room.share or not versions or self._written[room.name]:
                continue
            version, item = min(versions, key=lambda each: each[0].tokens)
            if version.tokens > room.own(self._shared) and self._fits(version):
                self.take(version)
                self._whole[id(version)] = id(item)

    def take_first(self, items: Sequence[Item[T]]) -> None:
        """Take of these, in their order, what the budget has place for."""
        for item in items:
            if not item.is_mandatory and self._fits(item) and not self._is_duplicate(item):
                self.take(item)

    def fill(self, room: Room, items: Sequence[Item[T]]) -> list[Item[T]]:
        """Fill the room's own tokens; returns what is left for the rest."""
        own, wanted = room.own(self._shared), self._written[room.name]
        if room.inherits:
            own += self._free
        is_closed = self._is_closed(room)
        left: list[Item[T]] = []
        for item in items:
            if wanted + item.tokens > own:
                left.append(item)
            elif not self._is_duplicate(item):
                wanted += item.tokens
                if not is_closed and self._fits(item):
                    self.take(item)
                    continue
                left.append(item)
                if not self._is_full():
                    self.cut[id(item)] = item
        if not is_closed and any(id(item) in self.cut for item in left):
            self._closed_above = room.trim
        self._free = max(0, own - self._written[room.name])
        return left

    def add_to_rest(self, room: Room, item: Item[T]) -> None:
        """Take the longest version that still fits, from a room that is not closed."""
        # Most of what is left is too long by itself.
        least = item.shorter[-1][1] if item.shorter else item.tokens
        if self.used + least > self.budget or self._is_closed(room):
            return
        for value, tokens in ((item.value, item.tokens), *item.shorter):
            version = item._replace(value=value, tokens=tokens)
            if self._fits(version):
                if not self._is_duplicate(item):
                    self.take(item if value is item.value else version)
                self.cut.pop(id(item), None)
                return

    def _price(self, item: Item[T]) -> int:
        if id(item.opens) in self._paid:
            return item.tokens
        return item.tokens + sum(size for _, size in self._unpaid(item))

    def _unpaid(self, item: Item[T]) -> list[tuple[Hashable, int]]:
        return [each for each in item.opens if each[0] not in self._opened]

    def _fits(self, item: Item[T]) -> bool:
        has_place = not (item.is_counted and self._is_full())
        return has_place and self.used + self._price(item) <= self.budget

    def _is_full(self) -> bool:
        return self.limit is not None and self._optional >= self.limit

    def _is_closed(self, room: Room) -> bool:
        return self._closed_above is not None and room.trim > self._closed_above

    def _is_duplicate(self, item: Item[T]) -> bool:
        says = self.saying(item.value)
        other = None if says is None else self._said.get(says)
        if other is not None:
            self.duplicates.append((item, other))
        return other is not None
