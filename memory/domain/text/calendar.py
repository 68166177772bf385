"""English names of months, weekdays, seasons, holidays and parts of the day."""

from __future__ import annotations

import calendar

MONTHS: dict[str, int] = {
    form: number
    for number, name in enumerate(calendar.month_name)
    if name
    for form in (name.lower(), name[:3].lower())
} | {"sept": 9}
WEEKDAYS: dict[str, int] = {name.lower(): number for number, name in enumerate(calendar.day_name)}
"""Monday is 0."""

SHORT_WEEKDAYS: dict[str, int] = {
    "mon": 0, "tue": 1, "tues": 1, "wed": 2, "thu": 3, "thur": 3, "thurs": 3, "fri": 4, "sat": 5,
    "sun": 6,
}  # fmt: skip

SEASONS: dict[str, int] = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""The month in which each season of three months begins, in the northern hemisphere."""

AMBIGUOUS_NAMES = frozenset(
    {"may", "march", "april", "june", "august", "jan", "mar", "fall", "spring", "sat", "sun", "wed"}
)
"""Names of months, days and seasons that are first names or common words, too."""

PARTS_OF_DAY: dict[str, tuple[int, int]] = {
    "morning": (6, 12), "lunchtime": (12, 14), "noon": (12, 13), "midday": (12, 13),
    "afternoon": (12, 18), "evening": (18, 22), "night": (20, 24), "midnight": (0, 1),
}  # fmt: skip
"""The hours that a part of the day lasts, first included and last not."""

# Month, day and number of days; the possessive "'s" is left out of the names.
FIXED_HOLIDAYS: dict[str, tuple[int, int, int]] = {
    "christmas": (12, 24, 3),
    "xmas": (12, 24, 3),
    "christmas eve": (12, 24, 1),
    "christmas day": (12, 25, 1),
    "boxing day": (12, 26, 1),
    "new year": (1, 1, 1),
    "new year eve": (12, 31, 1),
    "new year day": (1, 1, 1),
    "halloween": (10, 31, 1),
    "valentine": (2, 14, 1),
    "valentine day": (2, 14, 1),
    "midsummer": (6, 20, 7),
    "midsummer day": (6, 24, 1),
}
# Days from Easter Sunday and number of days.
FROM_EASTER: dict[str, tuple[int, int]] = {
    "easter": (-2, 4),
    "good friday": (-2, 1),
    "easter sunday": (0, 1),
    "easter monday": (1, 1),
    "pentecost": (49, 2),
}
HOLIDAYS = frozenset({*FIXED_HOLIDAYS, *FROM_EASTER, "thanksgiving"})
