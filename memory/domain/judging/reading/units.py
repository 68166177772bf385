"""Data: words for scales, units with their base factors, currencies, calendar names."""

from __future__ import annotations

SCALES: dict[str, int] = {
    "hundred": 100,
    "thousand": 1_000,
    "million": 1_000_000,
    "billion": 1_000_000_000,
    "dozen": 12,
}
SCALE_SUFFIXES: dict[str, int] = {
    "k": 1_000,
    "m": 1_000_000,
    "mn": 1_000_000,
    "bn": 1_000_000_000,
    "b": 1_000_000_000,
}
FRACTIONS: dict[str, float] = {
    "half": 1 / 2,
    "third": 1 / 3,
    "quarter": 1 / 4,
    "fifth": 1 / 5,
    "tenth": 1 / 10,
    "halv": 1 / 2,
}

_MINUTE, _HOUR, _DAY, _YEAR = 60.0, 3_600.0, 86_400.0, 365.0 * 86_400.0

# word -> (dimension, factor to the base of that dimension)
UNITS: dict[str, tuple[str, float]] = {}


def _add(dimension: str, table: dict[str, float]) -> None:
    for words, factor in table.items():
        for word in words.split():
            UNITS[word] = (dimension, factor)


_add(
    "duration",
    {
        "ms millisecond milliseconds msec": 0.001,
        "s sec secs second seconds": 1.0,
        "min mins minute minutes": _MINUTE,
        "h hr hrs hour hours": _HOUR,
        "day days": _DAY,
        "week weeks wk wks": 7 * _DAY,
        "fortnight fortnights": 14 * _DAY,
        "month months mo": _YEAR / 12,
        "quarter quarters": _YEAR / 4,
        "year years yr yrs yo": _YEAR,
        "decade decades": 10 * _YEAR,
        "sprint sprints": 14.0001 * _DAY,
    },
)
_add(
    "bytes",
    {
        "byte bytes": 1.0,
        "kb kib kilobyte kilobytes": 1e3,
        "mb mib megabyte megabytes": 1e6,
        "gb gib gigabyte gigabytes gig gigs": 1e9,
        "tb tib terabyte terabytes": 1e12,
        "pb petabyte petabytes": 1e15,
    },
)
_add(
    "bitrate",
    {
        "kbps kbit/s": 1e3,
        "mbps mbit/s megabit megabits mbit": 1e6,
        "gbps gbit/s gigabit gigabits gbit": 1e9,
    },
)
_add(
    "length",
    {
        "mm millimetre millimetres millimeter millimeters": 0.001,
        "cm centimetre centimetres centimeter centimeters": 0.01,
        "m metre metres meter meters": 1.0,
        "km kms kilometre kilometres kilometer kilometers": 1000.0,
        "inch inches": 0.0254,
        "feet foot ft": 0.3048,
        "mile miles mi": 1609.344,
        # Of horses.
        "hands": 0.1016,
    },
)
_add(
    "mass",
    {
        "mg milligram milligrams": 1e-6,
        "g gram grams gramme grammes": 1e-3,
        "kg kgs kilo kilos kilogram kilograms": 1.0,
        "tonne tonnes ton tons": 1000.0,
        "lb lbs pound-mass": 0.45359237,
        "oz ounce ounces": 0.028349523,
    },
)
_add(
    "volume",
    {
        "ml millilitre millilitres milliliter milliliters": 0.001,
        "cl centilitre centilitres": 0.01,
        "dl decilitre decilitres": 0.1,
        "l litre litres liter liters": 1.0,
        "gallon gallons": 3.785411784,
    },
)
_add("temperature", {"°c celsius degrees degree °": 1.0, "°f fahrenheit": 1.0000001})
_add("percent", {"% percent pct per-cent": 1.0, "permille ‰": 0.1})
_add("power", {"w watt watts": 1.0, "kw kilowatt kilowatts": 1e3, "mw megawatt megawatts": 1e6})
_add("energy", {"kwh": 1.0, "mwh": 1e3, "wh": 1e-3, "kcal": 0.00116222})
_add("pixels", {"px pixel pixels": 1.0})
_add(
    "volume",
    {"m³ cbm": 1000.0, "hectolitre hectolitres hl": 100.0, "pint pints": 0.56826125},
)
_add("area", {"m² sqm": 1.0, "hectare hectares ha": 1e4, "acre acres": 4046.86})
_add("frequency_hz", {"hz": 1.0, "khz": 1e3, "mhz": 1e6, "ghz": 1e9})

CURRENCIES: dict[str, str] = {
    "$": "USD", "usd": "USD", "dollar": "USD", "dollars": "USD", "bucks": "USD",
    "€": "EUR", "eur": "EUR", "euro": "EUR", "euros": "EUR",
    "£": "GBP", "gbp": "GBP", "pound": "GBP", "pounds": "GBP", "quid": "GBP",
    "¥": "JPY", "jpy": "JPY", "yen": "JPY",
    "chf": "CHF", "franc": "CHF", "francs": "CHF",
    "sek": "SEK", "nok": "NOK", "dkk": "DKK", "kronor": "SEK", "kroner": "NOK",
    "pln": "PLN", "cad": "CAD", "aud": "AUD", "inr": "INR", "rupees": "INR",
    "cent": "CENT", "cents": "CENT",
}  # fmt: skip

MONTHS: dict[str, int] = {}
for _index, _names in enumerate(
    [
        "january jan",
        "february feb",
        "march mar",
        "april apr",
        "may",
        "june jun",
        "july jul",
        "august aug",
        "september sep sept",
        "october oct",
        "november nov",
        "december dec",
    ],
    start=1,
):
    for _name in _names.split():
        MONTHS[_name] = _index

WEEKDAYS: dict[str, int] = {}
for _index, _names in enumerate(
    [
        "monday mon",
        "tuesday tue tues",
        "wednesday wed",
        "thursday thu thur thurs",
        "friday fri",
        "saturday sat",
        "sunday sun",
    ]
):
    for _name in _names.split():
        WEEKDAYS[_name] = _index
        WEEKDAYS[_name + "s"] = _index
# Too often ordinary words or parts of names.
for _name in ("sat", "sun", "sats", "suns", "mons", "weds"):
    WEEKDAYS.pop(_name, None)
WEEKDAYS.pop("wed", None)
WEEKDAYS.pop("mon", None)

# How often something happens, in times a day.
FREQUENCIES: dict[str, float] = {
    "hourly": 24.0,
    "daily": 1.0,
    "nightly": 1.0,
    "weekly": 1 / 7,
    "biweekly": 1 / 14,
    "fortnightly": 1 / 14,
    "monthly": 12 / 365,
    "quarterly": 4 / 365,
    "yearly": 1 / 365,
    "annually": 1 / 365,
    "annual": 1 / 365,
}
# Units of two words: a power of a length, and the scale that degrees are told on.
POWERS: dict[str, tuple[str, int]] = {"square": ("area", 2), "cubic": ("volume", 3)}
SCALES_OF_DEGREES = frozenset({"celsius", "centigrade", "c"})

TIMES: dict[str, int] = {"once": 1, "twice": 2, "thrice": 3}

ZONES = frozenset({"utc", "gmt", "cet", "cest", "est", "edt", "pst", "pdt", "bst", "ist", "jst"})
