"""Card and account numbers in a text, known by their checksums, and numbers of persons by name."""

from __future__ import annotations

import re

MASK = "[masked]"

_CARD = re.compile(r"(?<![\d.-])\d(?:[ -]?\d){12,18}(?![\d-])")
_IBAN = re.compile(r"(?<![\w-])[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]){11,42}", re.IGNORECASE)
# A number of social security shows nothing of itself; only its name does.
_PERSONAL = re.compile(
    r"(\b(?:ssn|social\ssecurity\s(?:number|no\.?)|(?:my|his|her)\ssocial)[\s:#=]{1,3}(?:is\s)?)"
    r"\d{3}[- ]?\d{2}[- ]?\d{4}\b",
    re.IGNORECASE,
)
# How many characters the account numbers of a country have (the IBAN registry of ISO 13616).
_COUNTRIES = """
    AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22
    DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21
    HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27
    MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24
    RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22
    VG24 XK20 YE30
"""
_IBAN_CHARS = {code[:2]: int(code[2:]) for code in _COUNTRIES.split()}


def mask_account_numbers(*, text: str) -> str:
    """The text with card numbers, IBANs and numbers of social security masked."""
    if not any(char.isdigit() for char in text):
        return text
    text = _PERSONAL.sub(lambda match: match[1] + MASK, text)
    return _CARD.sub(_mask_card, _IBAN.sub(_mask_iban, text))


def _mask_iban(match: re.Match[str]) -> str:
    """The number masked, as many characters as its country has; what follows them is kept."""
    found = match.group()
    at = [place for place, char in enumerate(found) if char.isalnum()]
    size = _IBAN_CHARS.get(found[:2].upper(), 0)
    if not size or len(at) < size:
        return found
    end = at[size - 1] + 1
    follows = found[end:] or match.string[match.end() : match.end() + 1]
    number = "".join(char for char in found[:end] if char.isalnum()).upper()
    turned = "".join(str(int(char, 36)) for char in number[4:] + number[:4])
    if follows[:1].isalnum() or int(turned) % 97 != 1:
        return found
    return MASK + found[end:]


def _mask_card(match: re.Match[str]) -> str:
    digits = re.sub(r"\D", "", match.group())
    return MASK if _luhn(digits) else match.group()


def _luhn(digits: str) -> bool:
    total = 0
    for position, char in enumerate(reversed(digits)):
        value = int(char) * (2 if position % 2 else 1)
        total += value - 9 if value > 9 else value
    return total % 10 == 0
