"""Two statements side by side: what they share, what is left over, where their values part."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .frames import Reading, Word
from .lexicon import ATTRIBUTE_NAMES, AXIS_NAMES, Mark, Table
from .names import Name
from .negation import NEGATORS, is_negative
from .quantities import Quantity
from .sameness import comparable, equal
from .tables import words

# Beyond this many words on one axis a text says nothing clear, and comparing all is quadratic.
MAX_MARKS_PER_AXIS = 8
_SUFFIXES = (
    "ation", "ition", "ment", "ance", "ence", "able", "ible", "ness", "ion", "ity", "ive", "ful",
    "ian", "al", "er", "or", "ic", "ly", "ant", "ent", "ist", "ism", "iti",
)  # fmt: skip
_KEEP = words("contractor committe production international internal server")


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
    equal_values, other_values = _values(existing, new)
    alike = is_negative(existing.tokens) == is_negative(new.tokens)
    oppositions, agreed_existing, agreed_new, denied_alike = _oppositions(existing, new, alike)
    left_existing = [w for w in left_existing if w.position not in agreed_existing]
    left_new = [w for w in left_new if w.position not in agreed_new]
    agreements = bool(agreed_existing)
    weight_shared = len(shared) + 1.5 * len(equal_values) + agreements
    lost = sum(1.5 for _ in other_values)
    return Comparison(
        shared=tuple(shared),
        left_existing=tuple(left_existing),
        left_new=tuple(left_new),
        equal_values=tuple(equal_values),
        other_values=tuple(other_values),
        oppositions=tuple(oppositions),
        agreements=agreements,
        polarity=None if denied_alike or alike else _polarity(shared),
        attributes=tuple(sorted(_attributes(existing) & _attributes(new))),
        fields=frozenset(_rows(existing, Table.FIELD) & _rows(new, Table.FIELD)),
        contrasts=tuple(_contrasts(existing, new)),
        coverage_existing=_share(weight_shared, left_existing, lost),
        coverage_new=_share(weight_shared, left_new, lost),
    )


def _share(matched: float, left: Iterable[Word], lost: float) -> float:
    total = matched + sum(1.0 for _ in left) + lost
    return matched / total if total else 0.0


def _rows(reading: Reading, table: Table) -> set[int]:
    return {row for mark in reading.marks if mark.table is table for row, _ in mark.ids}


def _attributes(reading: Reading) -> set[int]:
    """Rows of attributes the statement gives a value for; "the CEO sails" gives none."""
    telling = reading.verb in {"is", "are", "was", "were", ":", "'s", "has", "been", "will"}
    return {
        row
        for mark in reading.marks
        if mark.table is Table.ATTRIBUTE and (telling or mark.end > reading.head)
        for row, _ in mark.ids
    }


def _keys(word: Word) -> list[str]:
    keys = [word.stem, "~" + root(word.stem)]
    keys.extend("#" + str(group) for group in word.groups)
    keys.extend(f"{'^' if member else 'v'}{row}" for row, member in word.kinds)
    return keys


def _partner_keys(word: Word) -> list[str]:
    """As `_keys`, but a kind asks for its general word and the other way round."""
    keys = [word.stem, "~" + root(word.stem)]
    keys.extend("#" + str(group) for group in word.groups)
    keys.extend(f"{'v' if member else '^'}{row}" for row, member in word.kinds)
    return keys


def _align(
    existing: Reading, new: Reading
) -> tuple[list[tuple[Word, Word]], list[Word], list[Word]]:
    index: dict[str, list[Word]] = {}
    for word in new.words:
        for key in _keys(word):
            index.setdefault(key, []).append(word)
    shared: list[tuple[Word, Word]] = []
    left: list[Word] = []
    used: set[int] = set()
    for word in existing.words:
        partner = None
        for key in _partner_keys(word):
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
        partner = next((b for b in rest_new if comparable(a, b)), None)
        if partner is not None:
            rest_new.remove(partner)
            other.append((a, partner))
    return same, other


_PARTICLES = words("on off up down over live late back can may right fine open")
_BEFORE_STATE = words(
    "is are was were be been being stay stays still currently switched turned flipped shut set 's "
    "not never always remains remain now again came went goes kept"
)


def _is_state(reading: Reading, mark: Mark) -> bool:
    """Whether a small word stands for a state ("is off") and is no preposition or particle."""
    if mark.end - mark.start > 1 or reading.tokens[mark.start].lower not in _PARTICLES:
        return True
    lower = reading.tokens[mark.start].lower
    if lower in {"can", "may", "open"}:
        return True
    return mark.start > 0 and reading.tokens[mark.start - 1].lower in _BEFORE_STATE


def _mark_denied(reading: Reading, mark: Mark) -> bool:
    own = any(token.lower in NEGATORS for token in reading.tokens[mark.start : mark.end])
    return not own and mark.start in reading.denied


def _quote(reading: Reading, mark: Mark) -> str:
    words = " ".join(token.text for token in reading.tokens[mark.start : mark.end])
    return "not " + words if _mark_denied(reading, mark) else words


def _oppositions(
    existing: Reading, new: Reading, alike: bool
) -> tuple[list[tuple[str, str, str]], set[int], set[int], bool]:
    """Clashes on an axis, the positions on either side where an axis agrees, and whether an
    agreement rests on a denial ("late", "not on time")."""
    by_row: dict[int, list[tuple[int, Mark]]] = {}
    for mark in new.marks:
        if mark.table is Table.AXIS and _is_state(new, mark):
            for row, pole in mark.ids:
                others = by_row.setdefault(row, [])
                if len(others) < MAX_MARKS_PER_AXIS:
                    others.append((pole, mark))
    clashes: list[tuple[str, str, str]] = []
    agreed_existing: set[int] = set()
    agreed_new: set[int] = set()
    agreed_rows: set[int] = set()
    pending: list[tuple[int, Mark, Mark]] = []
    denied_alike = False
    for mark in existing.marks:
        if mark.table is not Table.AXIS or not _is_state(existing, mark):
            continue
        for row, pole in mark.ids:
            for other_pole, other in by_row.get(row, ()):
                denied = _mark_denied(existing, mark) != _mark_denied(new, other)
                if (pole == other_pole) != denied:
                    agreed_existing.update(range(mark.start, mark.end))
                    agreed_new.update(range(other.start, other.end))
                    agreed_rows.add(row)
                    denied_alike = denied_alike or denied or _mark_denied(existing, mark)
                elif pole != other_pole or not alike:
                    pending.append((row, mark, other))
    for row, mark, other in pending:
        settled = mark.start in agreed_existing or other.start in agreed_new
        clash = (AXIS_NAMES[row], _quote(existing, mark), _quote(new, other))
        if row not in agreed_rows and not settled and clash not in clashes:
            clashes.append(clash)
    return clashes, agreed_existing, agreed_new, denied_alike


def _polarity(shared: list[tuple[Word, Word]]) -> tuple[str, str] | None:
    """A shared word that one side denies and the other does not, if nothing agrees in denial."""
    clash: tuple[str, str] | None = None
    for a, b in shared:
        if a.denied and b.denied:
            return None
        if a.denied != b.denied and clash is None:
            clash = (("not " if a.denied else "") + a.text, ("not " if b.denied else "") + b.text)
    return clash


def _contrasts(existing: Reading, new: Reading) -> list[tuple[Mark, Mark]]:
    """Contrast sets of which the two statements name different members only."""
    rows_existing, rows_new = _members(existing), _members(new)
    found: list[tuple[Mark, Mark]] = []
    for row, members in rows_existing.items():
        others = rows_new.get(row)
        if others and not members.keys() & others.keys():
            found.append((next(iter(members.values())), next(iter(others.values()))))
    return found


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
