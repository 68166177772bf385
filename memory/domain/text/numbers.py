"""English number words and the values they stand for."""

from __future__ import annotations

_UP_TO_NINETEEN = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen
"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ORDINALS = """
first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth
fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth
"""
_MOST_DIGITS = 9

ONES: dict[str, int] = {word: value for value, word in enumerate(_UP_TO_NINETEEN.split())}
TENS: dict[str, int] = {word: 10 * value for value, word in enumerate(_TENS.split(), 2)}
ORDINALS: dict[str, int] = {
    **{word: value for value, word in enumerate(_ORDINALS.split(), 1)},
    "thirtieth": 30,
}
QUANTIFIERS: dict[str, int] = {"a": 1, "an": 1, "couple": 2, "few": 3, "several": 4, "dozen": 12}


def number_value(word: str) -> int | None:
    """The value of a whole number in digits or in one lower-case word ("7", "seven"), or None.

    Compounds with a hyphen count as one word ("twenty-three"); more than nine digits are no
    number.
    """
    if word.isdecimal():
        return int(word) if len(word) <= _MOST_DIGITS else None
    tens, hyphen, ones = word.partition("-")
    if hyphen:
        small = ONES.get(ones, 0)
        return TENS[tens] + small if tens in TENS and 0 < small < 10 else None
    return ONES.get(word, TENS.get(word))


def ordinal_value(word: str) -> int | None:
    """The value of an ordinal in one lower-case word ("third", "twenty-first"), or None."""
    tens, hyphen, ones = word.partition("-")
    if hyphen:
        small = ORDINALS.get(ones, 0)
        return TENS[tens] + small if tens in TENS and 0 < small < 10 else None
    return ORDINALS.get(word)
