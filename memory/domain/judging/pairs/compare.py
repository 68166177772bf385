"""Two statements side by side: what they share, what is left over, where their values part."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..reading.frames import Reading, Word, kept_by_reading
from ..reading.lexicon import ATTRIBUTE_NAMES, Mark, Table
from ..reading.names import Name
from ..reading.quantities import Quantity
from ..reading.slots import is_copular
from ..reading.tables import words
from .aligning import align, with_initials, without_compounds
from .oppositions import oppositions, polarity_clash
from .relations import inverse_relations
from .sameness import comparable, equal


@dataclass(frozen=True, slots=True)
class Comparison:
    """The relation of two readings, `existing` first in every pair."""

    shared: tuple[tuple[Word, Word], ...]
    left_existing: tuple[Word, ...]
    left_new: tuple[Word, ...]
    equal_values: tuple[tuple[Quantity, Quantity], ...]
    other_values: tuple[tuple[Quantity, Quantity], ...]
    oppositions: tuple[tuple[str, str, str], ...]
    agreements: bool
    polarity: tuple[str, str] | None
    attributes: tuple[int, ...]
    fields: frozenset[int]
    contrasts: tuple[tuple[Mark, Mark], ...]
    coverage_existing: float
    coverage_new: float

    @property
    def shared_common(self) -> int:
        """How many content words other than names the two share."""
        return len({a.stem for a, _ in self.shared if not a.is_name})

    def attribute_name(self) -> str:
        """The first attribute both speak of, or ""."""
        return ATTRIBUTE_NAMES[self.attributes[0]] if self.attributes else ""


def compare(existing: Reading, new: Reading) -> Comparison:
    """Align two readings word by word, value by value and name by name."""
    shared, left_existing, left_new = align(existing, new)
    left_existing = without_compounds(left_existing, {a.position for a, _ in shared})
    left_new = without_compounds(left_new, {b.position for _, b in shared})
    short_e, long_n = with_initials(existing, new, left_existing)
    short_n, long_e = with_initials(new, existing, left_new)
    left_existing = [w for w in left_existing if w.position not in short_e | long_e]
    left_new = [w for w in left_new if w.position not in short_n | long_n]
    equal_values, other_values = _values(existing, new)
    alike = existing.negative == new.negative
    opposed, agreed_existing, agreed_new, denied_alike = oppositions(existing, new, alike)
    sole = existing.exclusive != new.exclusive
    if sole and (new.negative if existing.exclusive else existing.negative):
        # "Only managers may", "nobody else may".
        opposed, denied_alike = [], True
    left_existing = [w for w in left_existing if w.position not in agreed_existing]
    left_new = [w for w in left_new if w.position not in agreed_new]
    if existing.exclusive and new.exclusive:
        # "Nobody but the captain", "only the captain".
        left_existing = [w for w in left_existing if w.text not in _NOBODY]
        left_new = [w for w in left_new if w.text not in _NOBODY]
    attributes = tuple(sorted(attributes_of(existing) & attributes_of(new)))
    cues_existing, cues_new = cues_of(existing, attributes), cues_of(new, attributes)
    left_existing = [w for w in left_existing if w.position not in cues_existing]
    left_new = [w for w in left_new if w.position not in cues_new]
    relations = inverse_relations(existing, new) if _is_mirrored(existing, new) else set()
    if relations:
        # "Ann is Bo's mother", "Bo is Ann's son".
        left_existing = [w for w in left_existing if w.text not in relations]
        left_new = [w for w in left_new if w.text not in relations]
        agreed_existing = agreed_existing | {existing.head}
    if opposed and _is_mirrored(existing, new):
        # "Ann is older than Bo", "Bo is younger than Ann".
        turned = {word for clash in opposed for quote in clash[1:] for word in quote.split()}
        left_existing = [w for w in left_existing if w.text not in turned]
        left_new = [w for w in left_new if w.text not in turned]
        opposed, agreed_existing = [], {existing.head}
    agreements = bool(agreed_existing)
    weight_shared = len(shared) + 1.5 * len(equal_values) + agreements
    lost = sum(1.5 for _ in other_values)
    return Comparison(
        shared=tuple(shared),
        left_existing=tuple(left_existing),
        left_new=tuple(left_new),
        equal_values=tuple(equal_values),
        other_values=tuple(other_values),
        oppositions=tuple(opposed),
        agreements=agreements,
        polarity=None if denied_alike or alike else polarity_clash(existing, new, shared),
        attributes=attributes,
        fields=frozenset(_rows(existing, Table.FIELD) & _rows(new, Table.FIELD)),
        contrasts=() if relations else tuple(_contrasts(existing, new)),
        coverage_existing=_share(weight_shared, left_existing, lost),
        coverage_new=_share(weight_shared, left_new, lost),
    )


_NOBODY = words("nobody none nothing only sole")


def _is_mirrored(existing: Reading, new: Reading) -> bool:
    """Whether the first and the last name have changed places."""
    if len(existing.names) < 2 or len(new.names) < 2:
        return False
    first, last = existing.names[0], existing.names[-1]
    return same_name(first, new.names[-1]) and same_name(last, new.names[0])


def _share(matched: float, left: Iterable[Word], lost: float) -> float:
    total = matched + sum(1.0 for _ in left) + lost
    return matched / total if total else 0.0


@kept_by_reading
def _rows_by_table(reading: Reading) -> dict[Table, frozenset[int]]:
    return {
        table: frozenset(row for mark in reading.of(table) for row, _ in mark.ids)
        for table in {mark.table for mark in reading.marks}
    }


def _rows(reading: Reading, table: Table) -> frozenset[int]:
    return _rows_by_table(reading).get(table, _NO_ROWS)


@kept_by_reading
def attributes_of(reading: Reading) -> frozenset[int]:
    """Rows of attributes the statement gives a value for; "the CEO sails" gives none."""
    telling = reading.verb in {"is", "are", "was", "were", ":", "'s", "has", "been", "will"}
    return frozenset(
        row
        for mark in reading.marks
        if mark.table is Table.ATTRIBUTE and (telling or mark.end > reading.head)
        for row, _ in mark.ids
        if ATTRIBUTE_NAMES[row] not in _ROLES
        or not (_is_one_of_several(reading, mark) or has_any(reading))
    )


_NO_ROWS: frozenset[int] = frozenset()
_ROLES = words("lead owner officer contact reviewer")
# Attributes of which any two cues ask for the same: "was born in", "birthplace".
_TIGHT = frozenset(
    {
        "residence", "employer", "manager", "price", "deadline", "time zone", "born", "spouse",
        "role", "capacity", "school", "allergen", "blood", "version", "port", "colour",
    }
)  # fmt: skip


def cues_of(reading: Reading, attributes: tuple[int, ...]) -> frozenset[int]:
    """Positions of words that only name a shared attribute, and so are no difference."""
    tight = {row for row in attributes if ATTRIBUTE_NAMES[row] in _TIGHT}
    return frozenset(
        i
        for mark in reading.marks
        if tight and mark.table is Table.ATTRIBUTE and any(row in tight for row, _ in mark.ids)
        for i in range(mark.start, mark.end)
    )


def has_any(reading: Reading) -> bool:
    """ "Owns a Skoda", "runs a shop": another one may have another of the kind."""
    after = reading.tokens[reading.verb_at + 1 : reading.verb_at + 2]
    copular = is_copular(reading.tokens, reading.verb_at)
    return bool(after) and after[0].lower in {"a", "an"} and not copular


def _is_one_of_several(reading: Reading, mark: Mark) -> bool:
    """ "Is a contact at X": the article leaves room for others of the kind."""
    before = reading.tokens[mark.start - 1].lower if mark.start else ""
    return before in {"a", "an"} and mark.start > reading.head


def _values(
    existing: Reading, new: Reading
) -> tuple[list[tuple[Quantity, Quantity]], list[tuple[Quantity, Quantity]]]:
    rest_new = list(new.quantities)
    rest_existing: list[Quantity] = []
    same: list[tuple[Quantity, Quantity]] = []
    for a in existing.quantities:
        partner = next((b for b in rest_new if comparable(a, b) and equal(a, b)), None)
        if partner is None:
            rest_existing.append(a)
        else:
            rest_new.remove(partner)
            same.append((a, partner))
    other: list[tuple[Quantity, Quantity]] = []
    for a in rest_existing:
        partners = [b for b in rest_new if comparable(a, b)]
        if partners:
            partner = max(partners, key=lambda b: (a.head == b.head, a.kind == b.kind))
            rest_new.remove(partner)
            other.append((a, partner))
    return same, other


def _contrasts(existing: Reading, new: Reading) -> list[tuple[Mark, Mark]]:
    """Contrast sets of which the two statements name different members only."""
    rows_existing, rows_new = _members(existing), _members(new)
    found: list[tuple[Mark, Mark]] = []
    for row, members in rows_existing.items():
        others = rows_new.get(row)
        if others and not members.keys() & others.keys():
            found.append((next(iter(members.values())), next(iter(others.values()))))
    return found


@kept_by_reading
def _members(reading: Reading) -> dict[int, dict[int, Mark]]:
    rows: dict[int, dict[int, Mark]] = {}
    for mark in reading.marks:
        if mark.table is Table.CONTRAST:
            for row, member in mark.ids:
                rows.setdefault(row, {}).setdefault(member, mark)
    return rows


def same_name(a: Name, b: Name) -> bool:
    """Whether two names can be one: the parts of one are among the parts of the other."""
    return a.parts <= b.parts or b.parts <= a.parts
