"""Two statements side by side: what they share, what is left over, where their values part."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from .frames import READINGS_KEPT, Reading, Word
from .lexicon import ATTRIBUTE_NAMES, Mark, Table
from .names import Name
from .oppositions import oppositions, polarity_clash
from .quantities import Quantity
from .relations import inverse_relations
from .sameness import comparable, equal
from .tables import words

_SUFFIXES = (
    "ation", "ition", "ment", "ance", "ence", "able", "ible", "ness", "ion", "ity", "ive", "ful",
    "ian", "al", "er", "or", "ic", "ly", "ant", "ent", "ist", "ism", "iti",
)  # fmt: skip
_KEEP = words("contractor committe production international internal server")


@lru_cache(maxsize=16_384)
def root(stem: str) -> str:
    """A stem without one derivational suffix, for "approval" and "approve"."""
    if stem in _KEEP:
        return stem
    for suffix in _SUFFIXES:
        if stem.endswith(suffix) and len(stem) - len(suffix) >= 4:
            return stem[: -len(suffix)].removesuffix("e")
    return stem


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
    shared, left_existing, left_new = _align(existing, new)
    left_existing = _without_compounds(left_existing, {a.position for a, _ in shared})
    left_new = _without_compounds(left_new, {b.position for _, b in shared})
    short_e, long_n = _with_initials(existing, new, left_existing)
    short_n, long_e = _with_initials(new, existing, left_new)
    left_existing = [w for w in left_existing if w.position not in short_e | long_e]
    left_new = [w for w in left_new if w.position not in short_n | long_n]
    equal_values, other_values = _values(existing, new)
    alike = existing.negative == new.negative
    opposed, agreed_existing, agreed_new, denied_alike = oppositions(existing, new, alike)
    left_existing = [w for w in left_existing if w.position not in agreed_existing]
    left_new = [w for w in left_new if w.position not in agreed_new]
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
        polarity=None if denied_alike or alike else polarity_clash(shared),
        attributes=tuple(sorted(attributes_of(existing) & attributes_of(new))),
        fields=frozenset(_rows(existing, Table.FIELD) & _rows(new, Table.FIELD)),
        contrasts=() if relations else tuple(_contrasts(existing, new)),
        coverage_existing=_share(weight_shared, left_existing, lost),
        coverage_new=_share(weight_shared, left_new, lost),
    )


def _without_compounds(left: Iterable[Word], met: set[int]) -> list[Word]:
    """Left-over words but for compounds of which a part is shared ("MIT-licensed", "MIT")."""
    return [word for word in left if not ("-" in word.text and word.position in met)]


def _is_mirrored(existing: Reading, new: Reading) -> bool:
    """Whether the first and the last name have changed places."""
    if len(existing.names) < 2 or len(new.names) < 2:
        return False
    first, last = existing.names[0], existing.names[-1]
    return same_name(first, new.names[-1]) and same_name(last, new.names[0])


def _share(matched: float, left: Iterable[Word], lost: float) -> float:
    total = matched + sum(1.0 for _ in left) + lost
    return matched / total if total else 0.0


@lru_cache(maxsize=2 * READINGS_KEPT)
def _rows(reading: Reading, table: Table) -> frozenset[int]:
    return frozenset(row for mark in reading.marks if mark.table is table for row, _ in mark.ids)


@lru_cache(maxsize=READINGS_KEPT)
def attributes_of(reading: Reading) -> frozenset[int]:
    """Rows of attributes the statement gives a value for; "the CEO sails" gives none."""
    telling = reading.verb in {"is", "are", "was", "were", ":", "'s", "has", "been", "will"}
    return frozenset(
        row
        for mark in reading.marks
        if mark.table is Table.ATTRIBUTE and (telling or mark.end > reading.head)
        for row, _ in mark.ids
        if not (_is_one_of_several(reading, mark) and ATTRIBUTE_NAMES[row] in _ROLES)
    )


_ROLES = words("lead owner officer contact reviewer")


def _is_one_of_several(reading: Reading, mark: Mark) -> bool:
    """ "Is a contact at X": the article leaves room for others of the kind."""
    before = reading.tokens[mark.start - 1].lower if mark.start else ""
    return before in {"a", "an"} and mark.start > reading.head


_Keyed = tuple[tuple[Word, tuple[str, ...], tuple[str, ...]], ...]


@lru_cache(maxsize=READINGS_KEPT)
def _keyed(reading: Reading) -> _Keyed:
    """Each content word with the keys it is found by and those it is looked for by.

    A kind asks for its general word and the other way round.
    """
    return tuple(
        (
            word,
            (*common, *(f"{'^' if member else 'v'}{row}" for row, member in word.kinds)),
            (*common, *(f"{'v' if member else '^'}{row}" for row, member in word.kinds)),
        )
        for word in reading.words
        for common in [(word.stem, "~" + root(word.stem), *(f"#{row}" for row in word.groups))]
    )


def _align(
    existing: Reading, new: Reading
) -> tuple[list[tuple[Word, Word]], list[Word], list[Word]]:
    index: dict[str, list[Word]] = {}
    for word, keys, _ in _keyed(new):
        for key in keys:
            index.setdefault(key, []).append(word)
    shared: list[tuple[Word, Word]] = []
    left: list[Word] = []
    used: set[int] = set()
    for word, _, keys in _keyed(existing):
        partner = None
        for key in keys:
            candidates = index.get(key)
            if candidates:
                partner = next((c for c in candidates if c.position not in used), candidates[0])
                break
        if partner is None:
            left.append(word)
        else:
            used.add(partner.position)
            shared.append((word, partner))
    groups = {group for a, _ in shared for group in a.groups}
    left_new = [
        word for word in new.words if word.position not in used and not (word.groups & groups)
    ]
    return shared, left, left_new


def _with_initials(
    existing: Reading, new: Reading, left: Iterable[Word]
) -> tuple[set[int], set[int]]:
    """Positions of capitals of one side that are the initials of words of the other side."""
    found: tuple[set[int], set[int]] = set(), set()
    for word in left:
        text = existing.tokens[word.position].text
        if not (2 <= len(text) <= 5 and text.isupper() and text.isalpha()):
            continue
        wanted = text.lower()
        run = [token.lower[:1] for token in new.tokens]
        for i in range(len(run) - len(wanted) + 1):
            if "".join(run[i : i + len(wanted)]) == wanted:
                found[0].add(word.position)
                found[1].update(range(i, i + len(wanted)))
    return found


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


@lru_cache(maxsize=READINGS_KEPT)
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
