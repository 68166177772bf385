"""Secrets that are known by what they are called: "my password is …", DB_PASSWORD=…, "PIN 4821".

What is called a password is masked whatever it looks like, unless it is a word of a sentence
about passwords; what may be something else (a token, a pin, a pass, a secret) must look like one.
"""

from __future__ import annotations

import re

from memory.domain.text.words import word_set

MASK = "[masked]"


_MAY_NAME_ONE = re.compile(
    r"pass|pwd|\bpw\b|secret|token|key|\bp[iu][nk]s?\b|cv[vc]|code|phrase",
    re.IGNORECASE,
)
_VALUE = (
    r"(?P<value>\"[^\"\n]{1,200}\"|'[^'\n]{1,200}'|`[^`\n]{1,200}`|“[^”\n]{1,200}”"
    r"|[\"'`“]?[^\s\"'`“”]{2,200})"
)
# An identifier and what is assigned to it, in code, settings, headers and addresses.
_ASSIGNED = re.compile(
    rf"(?<![\w.$-])(?P<name>[A-Za-z][\w.-]{{0,60}})(?P<join>[\"']?\s{{0,3}}(?:=>|:=|==?|:)\s{{0,3}}){_VALUE}"
)
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_NOUNS = word_set("password passwd passphrase passcode pwd secret token apikey")
_SHORT_NOUNS = frozenset({"pass", "pw", "pin"})
_KEYS = word_set(
    """
    api access secret private signing encryption account auth master shared storage ssh deploy
    service subscription
    """
)
_ENDS_AS_ONE = re.compile(r"(?:password|passwd|token|secret|apikey)$")
_FIELD = re.compile(
    r"(?<![A-Za-z])(?P<name>(?P<sure>pass(?:word|code|phrase|wd)|pwd|pw"
    r"|(?:api|access|private|secret|signing|encryption|account|auth|master)[\s_-]?key"
    r"|(?:wi-?fi|wlan|wpa\d?|network)[\s_-]key"
    r"|(?:access|refresh|auth|api|bearer|session|bot|deploy)[\s_-]?token"
    r"|(?:client|signing|webhook|shared|app|2fa|totp|otp)[\s_-]?secret)"
    r"|(?P<figures>(?:pin|puk)(?:[\s-]?(?:code|number))?|cv[vc]2?|security\scode)"
    r"|(?:licen[cs]e|product|activation|serial|recovery)[\s_-]key"
    r"|pass|secret|token)(?![A-Za-z])[\"']?"
    # "the password for the router is", "the password, by the way, is", "the password I use is"
    r"(?P<gap>(?:\s\([^()\n]{1,20}\)|\s(?:for|of|to|on|at|in|i|we|you|he|she|they|that)\b|,)(?:,?\s[\w.'’@-]{1,30}){0,6}?,?)?"
    r"(?P<join>['’]s\s|\s(?:is|was|has\sbeen|got)\s(?:changed|set|reset|updated|switched)\sto\s|\s(?:is|are|was|will\sbe)(?:\s(?:now|still|actually|just|currently))?:?\s"
    r"|\?\s(?:it|that)(?:['’]s|\sis)\s"
    r"|\s(?:is\snot|isn['’]t|was\snot|wasn['’]t|used\sto\sbe|from)\s"
    rf"|\s?(?:[:=]|->|→)\s?|\s[-–—]\s|\sto\s|(?(gap)(?!)|,?\s(?=\S{{0,199}}[\d!@#$%^&*_+=~]))){_VALUE}",
    re.IGNORECASE,
)
# What follows the name of a secret in sentences about secrets.
_NO_SECRETS = word_set(
    """
    a about above after again all also always an and any as ask at back be because been before being
    below better but by can changes changed check compromised contact correct could dead different
    down due easy either empty enough even every expire expired expires fine for from going gone
    good great had hard has have here hidden how i if in incorrect insecure instead into invalid is
    it its just kept known later less like long longer lost made managed me minimum missing mine
    more must my needed never new no none not nothing now obvious of off old on once one only
    optional or our out outdated over partly private prompt public quite random read ready required
    reset reused rotated safe same saved see sent set shared she short should simple since so some
    something soon stale still stored strong such that the their them then there these they this
    those to too twice under undefined unique unknown unset until up used using valid very visible
    weak what when where whether which who why will with without working would wrong yes yet you
    your null true false string str text redacted hashed encrypted
    """
)
_LIKE_AN_ADJECTIVE = re.compile(r"[a-z]+(?:ed|ing|able|ible|ive|ous|ful|less|ly)$")
_PLACEHOLDER = re.compile(
    r"^(?:[$<{%\[(]|\*+$|x+$|\.{3}|…|os\.|process\.|env[.(]|getenv)", re.IGNORECASE
)
# Letters and figures that name a method, a product, a size or a day.
_ORDINARY = re.compile(
    r"(?:\d+(?:st|nd|rd|th|px|ms|kb|mb|gb|tb|min|hrs?|[hdsxkm%])|v?\d+(?:\.\d+)+\w{0,4}|\d{4}-\d\d-\d\d\S*"
    r"|sha-?\d+|aes-?\d+|argon2\w*|pbkdf2|base64|oauth2?|saml2?|rfc\d+|utf-?\d+|md5|[hre]s\d{3}|1password"
    r"|bcrypt|http/?\d|q[1-4]|\d+(?:-\w+)+|.*://.*|/.*|.*\.(?:py|js|ts|md|txt|ya?ml|json|env|go|com|org|io))$",
    re.IGNORECASE,
)
_DENIED = re.compile(r"from|used|is not|isn|was not|wasn")
# "The PIN isn't …, it's 9917", "from … to …": what it is now.
_AND_NOW = re.compile(
    rf"(?P<head>{re.escape(MASK)}(?:,|;|\.)?(?:\s(?:now|but|and|then))?\s(?:(?:it|that|the\snew\sone)(?:['’]s|\sis)(?:\snow)?|to)\s){_VALUE}",
    re.IGNORECASE,
)
_SYMBOLS = frozenset("!@#$%^&*_+=~")
_OPENING, _CLOSING = "\"'`“", "\"'`”"
_ENDS_VALUE = re.compile(r"[;&](?=[\w. -]{1,40}=|$)")
_SETS = re.compile(r"\b(?:sets?|change[ds]?|resets?|updated?|switched|rotated)\b", re.IGNORECASE)
_MEASURED = re.compile(r"\s(?:char(?:acter)?s|letters|digits|figures|words|symbols|days|weeks)\b")
# "head.body.sign"
_IN_PARTS = re.compile(r"[\w-]{2,}(?:\.[\w-]{2,}){2}")
# "use Winter2025! as the password"
_NAMED_AFTER = re.compile(
    r"(?<!\S)(?P<value>\S{5,200})(?=\s(?:as|is)\s(?:the|my|our|his|her|their)\s(?:[\w-]{1,20}\s)?"
    r"(?:pass(?:word|phrase|code)|pwd|pw)\b)",
    re.IGNORECASE,
)


def mask_fields(*, text: str) -> str:
    """The text without the values of what is called a secret in it."""
    if not _MAY_NAME_ONE.search(text):
        return text
    text = _ASSIGNED.sub(_without_assigned, text)
    text = _AND_NOW.sub(_without_new, _FIELD.sub(_without_stated, text))
    return _NAMED_AFTER.sub(
        lambda match: _masked(match, match[0]) if looks_secret(_bare(match[0])) else match[0], text
    )


def looks_secret(value: str) -> bool:
    """Returns whether a value looks like a password or key: letters mixed with digits or signs."""
    if len(value) < 5 or _ORDINARY.match(value) or not any(char.isalpha() for char in value):
        return False
    return any(char.isdigit() or char in _SYMBOLS for char in value)


def name_parts(text: str) -> list[str]:
    """The words of identifiers in the text, in small letters: `dbApi_KEY` is db, api and key."""
    return [part.lower() for part in _PART.findall(text)]


def _is_secret_name(name: str) -> bool:
    parts = name_parts(name)
    if not parts:
        return False
    last = parts[-1]
    if last == "key":
        return len(parts) > 1 and parts[-2] in _KEYS
    if len(parts) > 1 and last in _SHORT_NOUNS:
        return True
    return last in _NOUNS or bool(_ENDS_AS_ONE.search(last))


def _without_assigned(match: re.Match[str]) -> str:
    name, join, value = match["name"], match["join"], match["value"]
    if not _is_secret_name(name):
        return match[0]
    is_word = name.isalpha() and (name.islower() or name.istitle() or name.isupper())
    if is_word and name.lower() in _NOUNS and ":" in join:
        return match[0]  # A word of the language: judged as a sentence is.
    return _masked(match, value, is_sure=True)


def _without_stated(match: re.Match[str]) -> str:
    join, value = match["join"].strip(" ,").lower(), match["value"]
    bare = _bare(value)
    if match["figures"]:
        is_short = match["figures"].lower() != "pin" or bool(join)
        is_secret = bare.isdigit() and (3 if is_short else 4) <= len(bare) <= 8
        return _masked(match, value) if is_secret else match[0]
    told = join and not _DENIED.match(join)
    if join == "=" or (told and match["sure"] and _may_be_one(match, join, bare)):
        return _masked(match, value, is_sure=True)
    seems = looks_secret(bare) or bool(join and _IN_PARTS.fullmatch(bare))
    seems = seems or (match["sure"] is not None and bare.isdigit() and len(bare) >= 4)
    return _masked(match, value) if seems else match[0]


def _without_new(match: re.Match[str]) -> str:
    bare = _bare(match["value"])
    is_figures = bare.isdigit() and len(bare) >= 4
    return _masked(match, match["value"]) if is_figures or looks_secret(bare) else match[0]


def _may_be_one(match: re.Match[str], join: str, bare: str) -> bool:
    """Returns whether a word can be the secret itself, judged by how its name is joined to it."""
    if bare.isdigit() and (len(bare) < 4 or _MEASURED.match(match.string, match.end())):
        return False
    if join in (":", "=", "->", "→"):
        return True
    if _LIKE_AN_ADJECTIVE.match(bare):
        return False
    if join == "to":
        return bool(_SETS.search(match.string, max(0, match.start() - 40), match.start()))
    # Keys open doors, too.
    is_thing = match["sure"].lower().endswith(("key", "token"))
    return not (bare.isalpha() and bare.islower() and (join == "-" or is_thing))


def _masked(match: re.Match[str], value: str, *, is_sure: bool = False) -> str:
    bare = _bare(value)
    if is_sure and (bare.lower() in _NO_SECRETS or len(bare) < 2):
        return match[0]
    if not bare or MASK in value or _PLACEHOLDER.match(bare):
        return match[0]
    head, _, rest = value.partition(bare)
    return match[0][: len(match[0]) - len(value)] + head + MASK + rest


def _bare(value: str) -> str:
    if value[:1] in _OPENING and value[-1:] in _CLOSING:
        return value[1:-1]
    value = value.lstrip(_OPENING)
    end = _ENDS_VALUE.search(value)
    return (value[: end.start()] if end else value).rstrip(".,;:!?)]}")
