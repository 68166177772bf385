"""Secrets in a text, and the text without them: keys, passwords, card and account numbers.

What a secret is called (`secret_fields.py`) is one sign of it; here are those that show by
themselves, card and account numbers by their checksums, and those known by where they stand: in
headers, commands, addresses and logins.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable

from stdnum import iban, luhn

from memory.domain.secret_fields import MASK, looks_secret, mask_fields, name_parts
from memory.domain.text.words import word_set

__all__ = ["MASK", "mask_private_keys", "mask_secrets"]

_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----.*?"
    r"(?:-----END(?: [A-Z ]{0,30}PRIVATE KEY(?:-----)?)?|\Z)",
    re.DOTALL,
)
_TOKEN = re.compile(
    r"\b(?:(?:sk|pk|rk|ghp|gho|ghs|ghu|ghr|github_pat|glpat|xox[abeprs]|xapp|ya29|hf|npm|pypi|whsec"
    r"|shp(?:at|ss|ca|pa)|dop_v1|lin_api|SG)[-_.](?=[\w.-]{0,200}\d)|AKIA|ASIA|AIza)[A-Za-z0-9][\w.-]{13,300}"
    r"|\b[0-9a-f]{32}-us\d{1,2}\b"
    r"|\beyJ[\w-]{10,2000}\.[\w-]{5,2000}\.?[\w-]{0,2000}"
)
_HEX = re.compile(r"\b(?:0x)?(?=[0-9a-f]{0,31}[a-f])(?=[0-9a-f]{0,31}\d)[0-9a-f]{32,128}\b")
# Ids and digests look as keys do, so they are only what they are called: of the words next to one
# the nearest says which.
_SECRET_WORDS = word_set(
    "key keys token secret password passwd passphrase pwd apikey auth credential credentials"
)
_ID_WORDS = word_set(
    """
    id ids uuid guid hash hashes digest checksum sha md fingerprint commit commits revision rev tree
    merge tag branch build etag trace request image
    """
)
_NAMED_WITHIN = 40
_IS_CALLED = re.compile(r"[\"'`]?(?:,|\s(?:is|was|as|for))\s(?P<name>[^.,;\n]{1,40})")
# The id of an AWS key pair, and its other half: 40 characters of base64 that nothing else marks.
_KEY_ID = re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b")
_KEY_HALF = re.compile(r"(?<![\w/+=])[A-Za-z0-9/+]{40}(?![\w/+=])")
_KINDS = (str.isupper, str.islower, str.isdigit)
# Of 40 random characters of base64 about 25 differ in kind from the one before; in paths and names
# of 40 characters hardly more than a dozen.
_RANDOM_FROM = 18
_DIGIT = re.compile(r"\d")
_CARD = re.compile(r"(?<![\d.-])\d(?:[ -]?\d){12,18}(?![\d-])")
_ENDS_RUN, _BEGINS_RUN = re.compile(r"[\w-]{1,40}$"), re.compile(r"[\w-]{1,40}")
_IBAN = re.compile(r"(?<![\w-])[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]){11,42}", re.IGNORECASE)
_SHORTEST_IBAN, _LONGEST_IBAN = 15, 34
# A number of social security shows nothing of itself; only its name does.
_PERSONAL = re.compile(
    r"(\b(?:ssn|social\ssecurity\s(?:number|no\.?)|(?:my|his|her)\ssocial)[\s:#=]{1,3}(?:is\s)?)"
    r"\d{3}[- ]?\d{2}[- ]?\d{4}\b",
    re.IGNORECASE,
)
_MAY_HOLD_LOGIN = re.compile(
    r"://|\bauth|bearer|cookie|\s-|log-?in|sign-?in|cred|user|hooks?\.|webhook|@|</|identified\sby|requirepass",
    re.IGNORECASE,
)
_Q = r"[\"'`]?"
_SURE = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # The password of a login within an address: postgres://ada:secret@db.internal/prod
        r"(\b[a-z][a-z0-9+.-]{1,30}://[^\s:/@?#]{0,100}:)[^\s/?#]{1,200}(?=@)",
        # A token in its place: https://x7Ab…@host
        r"(\b[a-z][a-z0-9+.-]{1,30}://)(?=[^\s:/@?#]{0,200}\d)[\w-]{16,200}(?=@)",
        rf"(\b(?:proxy-)?authorization{_Q}\s?[:=]\s?{_Q}(?:(?:bearer|basic|token|digest|apikey)\s)?)"
        r"(?=\S{0,500}[\d=]|\S{16})[^\s\"'`,]{3,1000}",
        r"(\bbearer\s)(?=[\w~+/-]{0,200}[\d.][\w~+/-])[\w.~+/=-]{8,2000}",
        rf"(\b(?:set-)?cookie{_Q}\s?:\s?{_Q}[\w.-]{{1,60}}=)[^\n\"']{{3,1000}}",
        rf"((?:\s-u|--user|--proxy-user)[\s=]{_Q}(?!\d+:\d+\b)[^\s:\"']{{1,80}}:)[^\s\"']{{2,200}}",
        rf"(\s--?(?:[a-z]{{1,20}}-){{0,3}}(?:password|passwd|token|secret|api-key)\s{_Q})(?!-)(?=[^\s]*[\dA-Z])"
        r"[^\s\"']{3,200}",
        rf"(\b(?:mysql\w{{0,10}}|mariadb\w{{0,10}})\b[^\n|;]{{0,200}}?\s-p{_Q})[^\s\"']{{2,200}}",
        rf"(\bhttps?\s-a\s{_Q}[^\s:\"']{{1,80}}:)[^\s\"']{{2,200}}",
        rf"(\b(?:identified\sby|requirepass)\s{_Q})[^\s\"']{{3,200}}",
        r"(<\w{0,30}(?:password|passwd|secret|token)>)[^<\n]{1,200}(?=</)",
        rf"(\b(?:sshpass|az\slogin|docker\slogin|podman\slogin)\b[^\n|;]{{0,200}}?\s-p\s?{_Q})[^\s\"']{{2,200}}",
        rf"(\bredis-cli\b[^\n|;]{{0,200}}?\s-a\s{_Q})[^\s\"']{{2,200}}",
        # Whoever knows the address of a webhook may write through it.
        r"(\bhooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/)[^\s\"'<>)]{3,300}",
        r"(\bdiscord(?:app)?\.com/api/(?:v\d+/)?webhooks/)[^\s\"'<>)]{3,300}",
        r"(\b(?:[\w-]{1,60}\.)?(?:webhook\.office|outlook\.office(?:365)?)\.com/webhook\w{0,3}/)[^\s\"'<>)]{3,400}",
        r"(\bapi\.telegram\.org/bot)[^\s/\"'<>)]{3,100}",
        r"(\bhooks\.zapier\.com/hooks/)[^\s\"'<>)]{3,200}",
        r"(\bhook\.(?:\w{2,4}\d?\.)?make\.com/)[^\s\"'<>)]{3,200}",
        r"(\bmaker\.ifttt\.com/trigger/[\w-]{1,60}/(?:json/)?with/key/)[^\s\"'<>)]{3,200}",
        r"([?&](?:[\w-]{0,40}(?:signature|token|secret|passw(?:or)?d|api_?key)|sig|pwd|auth)=)[^\s&#\"'<>)]{3,1000}",
        r"([?&]key=)(?=[^\s&#]{0,200}\d)[\w-]{12,200}",
    )
)
_LOGIN = re.compile(
    r"(\b(?:log-?ins?|sign-?in|credentials?|creds|user(?:name)?\s?(?:/|and|&)\s?pass(?:word)?)\b"
    r"(?:\s(?:details|data|info))?(?:\s(?:for|to|on|of|at)\s(?:\S{1,30}\s?){1,3}?)?"
    r"(?:\s(?:is|are)\s|\s?[:=]\s?|\s)[\"'`]?(?P<user>[\w.+@-]{2,80})[\"'`]?(?P<by>\s?[/:|,;]\s?|\sand\s)[\"'`]?)"
    r"(?P<value>[^\s\"'`/]{3,200})",
    re.IGNORECASE,
)
# "ada@example.org / Tr0ub4dor"
_ADDRESSED = re.compile(
    r"((?<![\w.+-])[\w.+-]{1,80}@[\w-]{1,60}(?:\.[\w-]{1,20}){1,4}(?P<by>\s?[/|:]\s?)(?P<user>))"
    r"(?P<value>[^\s\"'`/]{5,200})"
)
_KNOWN_USERS = word_set("admin administrator root user guest test sa demo pi postgres")
_MAY_NAME_CODE = re.compile(
    r"phrase|mnemonic|\swords|code|key|combination|combo|\bpin\b|unlock|wallet", re.IGNORECASE
)
_PHRASE = re.compile(
    r"(\b(?:passphrase|(?:seed|recovery|secret|backup|wallet|mnemonic)\s(?:phrase|words)|mnemonic)"
    r"(?:\s(?:for|of|to)\s(?:\S{1,30}\s?){1,3}?)?(?:\s(?:is|are):?\s|\s?[:=]\s{0,3}|\s[-–—]\s))"
    r"((?:[a-z]{2,12}[ ,\n]{1,2}){2,24}[a-z]{2,12})",
    re.IGNORECASE,
)
_ONE_CODE = r"(?:(?=[A-Z-]{0,24}\d)[A-Z0-9]{2,20}(?:-[A-Z0-9]{2,20}){0,7}|[A-Z]{4,6}-[A-Z]{4,6}\b)"
_CODES = re.compile(
    r"\b(?:backup|recovery|2fa|mfa|scratch|emergency|one[\s-]time|verification)[\s-]"
    r"(?:(?:backup|login|recovery)\s)?(?:codes?|keys?)\b(?:\s(?:for|of|to)\s(?:\S{1,30}\s?){1,3}?)?"
    r"(?:\s(?:is|are):?\s|\s?[:=]\s{0,3}|\s-\s|\s)"
    rf"(?P<list>(?:(?:\d{{1,2}}[.)]\s|[-*]\s)?{_ONE_CODE}(?:[\s,;/|]{{1,3}}(?:and\s)?|(?![\w-]))){{1,24}})",
    re.IGNORECASE,
)
# What opens a lock: "the alarm code is 2580", "passcode for the door 7731#", "PIN 48 21".
_LOCK = r"(?:alarm|safe|vault|lock|lock-?box|padlock|locker|key\s?(?:box|safe))"
_OPENS = re.compile(
    rf"(\b(?:{_LOCK}(?:['’]s)?\s(?:code|combination|combo)"
    rf"|(?:code|combination|combo)\s(?:to|for|of|on)\s(?:the|my|our|his|her|their)\s(?:[\w-]+\s)?{_LOCK}"
    r"|(?:unlock|passcode|pin)(?:[\s-]?(?:code|number))?(?:\s(?:to|for|of|on)(?:\s[\w’'-]+){1,4}?)?"
    r"|(?:phone|tablet|laptop|computer|screen|ipad|iphone)\sunlocks\swith)"
    r"(?:['’]s|\s(?:is|was)(?:\snow)?|\sto)?[\s:=-]{1,3})"
    r"[*#]?\d{1,8}(?:[ .-]\d{1,4}){0,6}[*#]?"
    r"(?![\w%€$£-]|[.,:]\d|\s(?:of|char|digit|figure|letter|attempt|time|tries))",
    re.IGNORECASE,
)
_PIN = re.compile(r"pin|passcode|unlock", re.IGNORECASE)
_CODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{3,200}")
# What a passphrase does not begin with, and where it ends.
_NO_PHRASE = frozenset(
    {"a", "and", "at", "but", "by", "for", "from", "in", "is", "it", "my", "never", "not", "of"}
    | {"on", "or", "our", "please", "so", "the", "to", "which"}
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


def _mask_half(match: re.Match[str], is_pair: bool) -> str:
    half = match.group()
    kinds = [next((at for at, is_kind in enumerate(_KINDS) if is_kind(char)), 3) for char in half]
    changes = sum(one != other for one, other in itertools.pairwise(kinds))
    is_mixed = {0, 1} <= set(kinds) and not set(kinds) <= {0, 1}
    return MASK if is_mixed and (is_pair or changes >= _RANDOM_FROM) else half


def _mask_hex(match: re.Match[str]) -> str:
    text, start = match.string, match.start()
    before = text[max(0, start - _NAMED_WITHIN) : start].rpartition("\n")[2]
    after = _IS_CALLED.match(text, match.end())
    is_secret = _says_secret(reversed(name_parts(before)))
    if is_secret is None and after is not None:
        is_secret = _says_secret(name_parts(after["name"]))
    return MASK if is_secret else match[0]


def _says_secret(words: Iterable[str]) -> bool | None:
    """Returns whether the first word naming an id or a secret names a secret, or None."""
    named = (word in _SECRET_WORDS for word in words if word in _SECRET_WORDS | _ID_WORDS)
    return next(named, None)


def _mask_account_numbers(text: str) -> str:
    if _DIGIT.search(text) is None:
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
    text = match.string
    before = _ENDS_RUN.search(text[max(0, match.start() - _NAMED_WITHIN) : match.start()])
    after = _BEGINS_RUN.match(text, match.end())
    if any(char.isdigit() for part in (before, after) if part for char in part[0]):
        return match[0]  # figures within an id or a digest
    return MASK if luhn.is_valid(re.sub(r"\D", "", match[0])) else match[0]


def mask_logins(*, text: str) -> str:
    """The text without what lets somebody in: in headers, commands, addresses and named logins."""
    if not _MAY_HOLD_LOGIN.search(text):
        return text
    for pattern in _SURE:
        text = pattern.sub(lambda match: match[1] + MASK, text)
    return _ADDRESSED.sub(_without_login, _LOGIN.sub(_without_login, text))


def _without_login(match: re.Match[str]) -> str:
    value = match["value"].rstrip(".,;:!?)")
    user = match["user"]
    is_user = user.lower() in _KNOWN_USERS or "@" in user
    is_tight = match["by"].strip() in ("/", ":") and is_user and value.lower() not in ("", "com")
    if MASK in value or not (looks_secret(value) or is_tight):
        return match[0]
    return match[1] + MASK + match["value"][len(value) :]


def mask_codes(*, text: str) -> str:
    """The text without pass and seed phrases, backup codes and the codes of locks."""
    if not _MAY_NAME_CODE.search(text):
        return text
    text = _PHRASE.sub(_without_phrase, text)
    text = _CODES.sub(_without_codes, text)
    return _OPENS.sub(_without_figures, text)


def _without_phrase(match: re.Match[str]) -> str:
    words = re.split(r"([ ,\n]{1,2})", match[2])
    end = next((at for at, word in enumerate(words) if word.lower() in _NO_PHRASE), len(words))
    if end < 5:  # Three words with what is between them.
        return match[0]
    return match[1] + MASK + "".join(words[end - 1 :] if end < len(words) else [])


def _without_figures(match: re.Match[str]) -> str:
    figures = sum(char.isdigit() for char in match[0][len(match[1]) :])
    least = 4 if _PIN.match(match[0]) else 3
    return match[1] + MASK if least <= figures <= 12 else match[0]


def _without_codes(match: re.Match[str]) -> str:
    at = match.start("list") - match.start()
    return match[0][:at] + _CODE.sub(MASK, match["list"])
