"""Data: the English words for numbers and for places in a row."""

from __future__ import annotations

_UP_TO_NINETEEN = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen
"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_IN_A_ROW = """
first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth
fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth
"""

ONES: dict[str, int] = {word: value for value, word in enumerate(_UP_TO_NINETEEN.split())}
TENS: dict[str, int] = {word: 10 * value for value, word in enumerate(_TENS.split(), 2)}
ORDINALS: dict[str, int] = {
    **{word: value for value, word in enumerate(_IN_A_ROW.split(), 1)},
    "thirtieth": 30,
}
