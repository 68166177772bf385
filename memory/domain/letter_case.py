"""Where two texts of the same words differ in capitals that carry meaning."""

from __future__ import annotations

import unicodedata

from memory.domain.text.normalise import bare_words

# Up to so many letters each capital may carry meaning: "MB" and "Mb", "US" and "us".
_SHORT = 4
_PAIR = 2


def differs_in_case(one: str, other: str) -> bool:
    """Whether the capitals of two texts of the same words make them two statements.

    A name is not the word ("calls Mark", "calls mark"), nor are letters of a short one whose
    capitals differ ("US", "us"; "5 MB", "5 Mb"). The capital that opens a text says nothing, nor
    do those of a text in capitals alone, nor the lack of them in one that opens without ("sarah
    lives in berlin") or in a unit ("5 mb").
    """
    if one == other or one.isupper() or other.isupper():
        return False
    first, second = _words(one), _words(other)
    if len(first) != len(second):
        return False
    careless = any(text.lstrip()[:1].islower() for text in (one, other))
    return any(
        a != b
        and a.casefold() == b.casefold()
        and _is_apart(a, b, is_unit=before[-1:].isdigit() or a[:1].isdigit(), careless=careless)
        for before, a, b in zip(("", *first), first, second, strict=False)
    )


def _words(text: str) -> list[str]:
    """The words; the first without the capital that opens a text."""
    words = bare_words(unicodedata.normalize("NFKC", text))
    if words and not (len(words[0]) > 1 and words[0].isupper()):
        words[0] = words[0][:1].lower() + words[0][1:]
    return words


def _is_apart(a: str, b: str, *, is_unit: bool, careless: bool) -> bool:
    if is_unit:
        # "KB" is "kB", and who writes "mb" did not think of it.
        return a.replace("K", "k") != b.replace("K", "k") and not (a.islower() or b.islower())
    letters = sum(char.isalpha() for char in a)
    if not (a.islower() or b.islower()):
        return letters <= _SHORT or a.isupper() or b.isupper()
    written = b if a.islower() else a
    if any(char.isupper() for char in written[1:]):
        # "TypeScript" may be written "typescript", and "TEA" is said loudly; "US" is not "us".
        return letters <= _PAIR
    return not careless
