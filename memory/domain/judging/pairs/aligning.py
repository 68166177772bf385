"""Which words of two statements are one: the same, of one root, of one meaning, initials."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from ..reading.frames import Reading, Word, kept_by_reading
from ..reading.tables import words

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


def without_compounds(left: Iterable[Word], met: set[int]) -> list[Word]:
    """Left-over words but for compounds of which a part is shared ("MIT-licensed", "MIT")."""
    return [word for word in left if not ("-" in word.text and word.position in met)]


_Keyed = tuple[tuple[Word, tuple[str, ...], tuple[str, ...]], ...]


@kept_by_reading
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


def align(
    existing: Reading, new: Reading
) -> tuple[list[tuple[Word, Word]], list[Word], list[Word]]:
    index: dict[str, list[Word]] = {}
    for word, keys, _ in _keyed(new):
        for key in keys:
            index.setdefault(key, []).append(word)
    shared: list[tuple[Word, Word]] = []
    left: list[Word] = []
    equals = _equals(existing, new)
    exact = set(equals.values())
    used = set(exact)
    for word, _, keys in _keyed(existing):
        partner = None
        for key in keys:
            candidates = index.get(key)
            if not candidates:
                continue
            own = equals.get(word.position)
            if own is not None:
                partner = next((c for c in candidates if c.position == own), None)
            else:
                # A word that has its equal is no word for another one ("wages", "is paid").
                free = [
                    c
                    for c in candidates
                    if c.position not in exact
                    and not (
                        c.stem == word.stem and _is_other_sense(existing, word, new, c.position)
                    )
                ]
                partner = next(
                    (c for c in free if c.position not in used), free[0] if free else None
                )
            if partner is not None:
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


def _equals(existing: Reading, new: Reading) -> dict[int, int]:
    """Positions of words of the existing statement with those of the very same words."""
    places: dict[str, list[int]] = {}
    for word in new.words:
        places.setdefault(word.stem, []).append(word.position)
    found: dict[int, int] = {}
    for word in existing.words:
        free = [i for i in places.get(word.stem, ()) if not _is_other_sense(existing, word, new, i)]
        if free and word.position not in found:
            found[word.position] = free[0]
            places[word.stem].remove(free[0])
    return found


def _is_other_sense(existing: Reading, word: Word, new: Reading, at: int) -> bool:
    """ "A linear roadmap", "switched to Linear": a quality of a noun, and a name."""
    text, other = existing.tokens[word.position], new.tokens[at]
    if text.capital == other.capital or not word.position or not at:
        return False
    reading, i = (new, at) if text.capital else (existing, word.position)
    named = (existing, word.position) if text.capital else (new, at)
    follows = any(w.position == i + 1 for w in reading.words)
    return follows and named[0].slots[named[1]] == "to"


def with_initials(
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
