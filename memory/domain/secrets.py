"""Secrets in a text, and the text without them: keys, passwords, card and account numbers.

What a secret is called (`secret_fields.py`) or where it stands (`secret_logins.py`) is one sign of
it; here are those that show by themselves, card and account numbers by their checksums.
"""

from __future__ import annotations

import itertools
import re

from stdnum import iban, luhn

from .secret_fields import MASK, mask_fields
from .secret_logins import mask_codes, mask_logins

__all__ = ["MASK", "mask_private_keys", "mask_secrets", "secrets_in"]

_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----.*?"
    r"(?:-----END(?: [A-Z ]{0,30}PRIVATE KEY(?:-----)?)?|\Z)",
    re.DOTALL,
)
_TOKEN = re.compile(
    r"\b(?:(?:sk|pk|rk|ghp|gho|ghs|ghu|ghr|github_pat|glpat|xox[abeprs]|xapp|ya29|hf|npm|pypi|whsec"
    r"|shp(?:at|ss|ca|pa)|dop_v1|lin_api|SG)[-_.](?=[\w.-]{0,200}\d)|AKIA|ASIA|AIza)[A-Za-z0-9][\w.-]{13,300}"
    r"|\beyJ[\w-]{10,2000}\.[\w-]{5,2000}\.?[\w-]{0,2000}"
)
_HEX = re.compile(r"\b(?:0x)?(?=[0-9a-f]{0,31}[a-f])(?=[0-9a-f]{0,31}\d)[0-9a-f]{32,128}\b")
_GIT_CHARS = 40
# What is called so is no secret: the name of a commit, the digest of an image or a file.
_DIGEST = re.compile(
    r"(?:\b(?:commits?|sha-?\d*|hash(?:es)?|digest|checksum|md5(?:sum)?|revision|rev|tree|merge|tag|branch|"
    r"etag|build|fingerprint|trace|request|image)\b|@sha256:|/commit/)[^\n]{0,24}$",
    re.IGNORECASE,
)
_CALLED_SECRET = re.compile(
    r"\b(?:token|key|secret|passw\w+|api|auth\w*)\b[^\n]{0,24}$", re.IGNORECASE
)
# The id of an AWS key pair, and its other half: 40 characters of base64 that nothing else marks.
_KEY_ID = re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b")
_KEY_HALF = re.compile(r"(?<![\w/+=])[A-Za-z0-9/+]{40}(?![\w/+=])")
_KINDS = (str.isupper, str.islower, str.isdigit)
# Of 40 random characters of base64 about 25 differ in kind from the one before; in paths and names
# of 40 characters hardly more than a dozen.
_RANDOM_FROM = 18
_CARD = re.compile(r"(?<![\d.-])\d(?:[ -]?\d){12,18}(?![\d-])")
_IBAN = re.compile(r"(?<![\w-])[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]){11,42}", re.IGNORECASE)
_SHORTEST_IBAN, _LONGEST_IBAN = 15, 34
# A number of social security shows nothing of itself; only its name does.
_PERSONAL = re.compile(
    r"(\b(?:ssn|social\ssecurity\s(?:number|no\.?)|(?:my|his|her)\ssocial)[\s:#=]{1,3}(?:is\s)?)"
    r"\d{3}[- ]?\d{2}[- ]?\d{4}\b",
    re.IGNORECASE,
)


def mask_secrets(*, text: str) -> str:
    """The text with its secrets masked: private keys, tokens, passwords and what else is called a
    secret, both halves of AWS key pairs, logins, the addresses of webhooks, and card and account
    numbers with a valid checksum."""
    text = mask_private_keys(text=text)
    text = mask_fields(text=mask_codes(text=mask_logins(text=text)))
    is_pair = _KEY_ID.search(text) is not None
    text = _KEY_HALF.sub(lambda match: _mask_half(match, is_pair), text)
    text = _HEX.sub(_mask_hex, _TOKEN.sub(MASK, text))
    return _mask_account_numbers(text)


def mask_private_keys(*, text: str) -> str:
    """The text with private keys masked, the one secret that runs over several lines."""
    return _PRIVATE_KEY.sub(MASK, text) if "PRIVATE KEY" in text else text


def secrets_in(*, text: str) -> list[str]:
    """What `mask_secrets` takes out of a text, each piece as it stands there."""
    masked = mask_secrets(text=text)
    if masked == text:
        return []
    found: list[str] = []
    rest = text
    kept = masked.split(MASK)
    for before, after in itertools.pairwise(kept):
        start = rest.find(before) + len(before)
        end = rest.find(after, start) if after else len(rest)
        if end < start:
            break
        found.append(rest[start:end].strip())
        rest = rest[end:]
    return [secret for secret in found if len(secret) > 3]


def _mask_half(match: re.Match[str], is_pair: bool) -> str:
    half = match.group()
    kinds = [next((at for at, is_kind in enumerate(_KINDS) if is_kind(char)), 3) for char in half]
    changes = sum(one != other for one, other in itertools.pairwise(kinds))
    is_mixed = {0, 1} <= set(kinds) and not set(kinds) <= {0, 1}
    return MASK if is_mixed and (is_pair or changes >= _RANDOM_FROM) else half


def _mask_hex(match: re.Match[str]) -> str:
    before = match.string[max(0, match.start() - 40) : match.start()]
    is_digest = len(match[0]) == _GIT_CHARS or _DIGEST.search(before)
    return match[0] if is_digest and not _CALLED_SECRET.search(before) else MASK


def _mask_account_numbers(text: str) -> str:
    """The text with card numbers, IBANs and numbers of social security masked."""
    if not any(char.isdigit() for char in text):
        return text
    text = _PERSONAL.sub(lambda match: match[1] + MASK, text)
    return _CARD.sub(_mask_card, _IBAN.sub(_mask_iban, text))


def _mask_iban(match: re.Match[str]) -> str:
    """The number masked; words behind it that the pattern took along are kept."""
    found = match[0] + match.string[match.end() : match.end() + 1]
    ends = [at + 1 for at, char in enumerate(match[0]) if char.isalnum()]
    for end in reversed(ends[_SHORTEST_IBAN - 1 : _LONGEST_IBAN]):
        number = found[:end].replace("-", "")
        if not found[end : end + 1].isalnum() and iban.is_valid(number, check_country=False):
            return MASK + match[0][end:]
    return match[0]


def _mask_card(match: re.Match[str]) -> str:
    return MASK if luhn.is_valid(re.sub(r"\D", "", match[0])) else match[0]
