"""What must never be stored: our own rendered memory, commands to the memory, and secrets."""

from __future__ import annotations

import itertools
import re

_HEADING = (
    r"(?:#{1,6}\s*)?(?:Your Identity|About This User|What You Know \(Facts\)|Recent Events|"
    r"Learned Patterns|Team Knowledge|What Was Said|PERSISTENT MEMORY \(READ-ONLY\))"
)
_BLOCK_HEADING = re.compile(r"^\s{0,8}" + _HEADING, re.IGNORECASE)
# A note or a tagged block that poses as the system's or the memory's own words.
_POSING_NOTE = re.compile(
    r"\[\s?(?:SYSTEM|INST|ASSISTANT|DEVELOPER|ADMIN|MEMORY|CONTEXT)\b[^\]\n]{0,400}\]"
    r"|<(?P<tag>memor(?:y|ies)|system|context|instructions?|assistant|user_profile)\b[^>]{0,80}>"
    r".{0,2000}?(?:</(?P=tag)\s?>|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_BLOCK_LINE = re.compile(
    r"^\s{0,8}(?:[-*]\s*)?\[(?:FACT|EVENT|PATTERN|TEAM|USER-PROFILE|PREFERENCE|IDENTITY|NOTE|INSIGHT|SAID)\b"
)
# The same within a line, as a prompt reads that somebody pasted or quoted without its lines.
_LABELLED = re.compile(
    rf"(?:{_HEADING}\s{{0,4}})?"
    r"\[(?:FACT|EVENT|PATTERN|TEAM|USER-PROFILE|PREFERENCE|IDENTITY|NOTE|INSIGHT|SAID)\b"
    r"[^\]\n]{0,40}\]:[^\n\[]*"
)
_RATED = re.compile(
    r"[^.!?:\n]*[.!?]?\s?\(importance: \d{1,2}(?:, confidence: [01](?:\.\d+)?)?\)\.?"
)
_COMMAND = re.compile(
    r"\b(?:ignore|disregard|override|bypass|forget)\s(?:all\s|any\s|every\s|the\s|your\s|my\s|our\s"
    r"|of\s|these\s|those\s){0,3}(?:previous|prior|above|earlier|former|system|instructions?|rules"
    r"|guidelines|prompts?|everything|memor(?:y|ies)|safety)\b"
    r"|\bforget\s(?:everything|all|what\s(?:you|i))\b"
    r"|\b(?:delete|erase|wipe|clear|purge|drop|reset|overwrite|remove|unlock|edit|change|modify)\s"
    r"(?:all\s|any\s|every\s|the\s|your\s|my\s|of\s|this\s|user['’]?s?\s|stored\s|saved\s){0,4}"
    r"(?:memor(?:y|ies)|profile\sdata|audit\slogs?|stored\sfacts)\b"
    r"|\bset\s(?:my|the|this)\s(?:user['’]s\s)?(?:plan|role|permissions?|tier|subscription|account"
    r"|credit|balance|discount|status|access|limit)\b.{0,30}\bto\b"
    r"|\b(?:make|mark|treat|promote|upgrade|grant|give)\s(?:me|my\saccount)\s(?:an?\s|as\s|to\s|"
    r"the\s"
    r"|full\s){0,3}(?:admin\w*|root|superuser|owner|vip|enterprise|premium|access|verified)\b"
    r"|\b(?:store|save|record|remember|note|add)\s(?:in\s(?:your\s)?memory\s)?that\s(?:i|the\suser|"
    r"this\suser|we|they)\s(?:am|is|are|has|have)\s(?:an?\s|now\s)?(?:admin\w*|root|superuser|vip|"
    r"verified|authori[sz]ed|approved|entitled|allowed)\b"
    r"|\b(?:system\sprompt|developer\smode|jailbreak|hidden\sinstructions?|new\sinstructions?\s?:)"
    r"|\byou\sare\snow\s(?:an?|in|the|free)\b|\bpretend\s(?:to\sbe|you)\b|\bact\sas\s(?:an?\s)?"
    r"(?:admin|root|unrestricted|different)\b|(?:^|[\s\"'“])(?:SYSTEM|ASSISTANT|ADMIN|"
    r"DEVELOPER)(?:\s(?-i:[A-Z]{3,12})){0,2}\s?:|\byou\sare\s(?:now\s)?(?-i:[A-Z]\w*(?:Bot|GPT|AI))\b",
    re.IGNORECASE,
)
_ABOUT_COMMANDS = re.compile(
    r"\binstructions?\s(?:to|that|in|telling|asking)\b.{0,60}\b(?:memor|delete|forget|ignore|store|"
    r"send|reveal|transfer|grant|change)|\b(?:hid(?:es|den|ing)|contain(?:s|ed)|includes?)\s"
    r"(?:also\s)?(?:an?\s)?(?:\w+\s)?(?:instruction|command)s?\b|\b(?:prompt\sinjection|odd\sinstruction|strange\s"
    r"instruction|suspicious\s(?:instruction|request|line|text))|\b(?:planted|hidden|odd|strange|suspicious|embedded|"
    r"injected|sneaky|fake|rogue)\s(?:\w+\s)?(?:notes?|instructions?|requests?|orders?|lines?|messages?|commands?|prompts?)\b"
    r"|\b(?:tr(?:ies|ied)|wants|wanted|ask(?:s|ed)|attempts|attempted)\s(?:also\s)?(?:me\s)?to\s(?:give\sme\sorders|order\sme|instruct|steer|"
    r"advertise|make\sme)\b|\b(?:addressed|aimed|directed)\sat\s(?:me|ai|assistants)\b"
    r"|\bai\s(?:agents?|assistants?|models?)\s(?:reading|must|should)\b|\bnote\sto\s(?:all\s)?ai\b|\bwhich\si\s(?:have\s)?ignored\b",
    re.IGNORECASE,
)
_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----.*?"
    r"(?:-----END(?: [A-Z ]{0,30}PRIVATE KEY(?:-----)?)?|\Z)",
    re.DOTALL,
)
# The password of a login within an address: postgres://ada:secret@db.internal/prod
_URL_LOGIN = re.compile(
    r"\b([a-z][a-z0-9+.-]{1,30}://[^\s:/@?#]{0,100}:)[^\s/?#]{1,200}(?=@)", re.IGNORECASE
)
_TOKEN = re.compile(
    r"\b(?:sk|pk|rk|ghp|gho|ghs|glpat|xox[abpr]|AKIA|ASIA|AIza|ya29|hf|npm|pypi|whsec|shpat|SG)"
    r"[-_.]?[A-Za-z0-9][\w.-]{14,200}|\beyJ[\w-]{10,400}\.[\w-]{5,400}\.?[\w-]{0,400}"
    r"|\b(?=[0-9a-f]{0,31}[a-f])(?=[0-9a-f]{0,31}\d)[0-9a-f]{32,128}\b"
)
_STATED = re.compile(
    r"\b((?:pass(?:word|phrase|code|wd)?|pwd|secret|api[\s_-]?key|access[\s_-]?(?:key|token)|token"
    r"|pin(?:\scode)?|cvc|cvv|private\skey|client[\s_-]secret)\b(?:\s(?:for|of|to)\s(?:the\s|my\s"
    r"|our\s)?[\w.-]{1,30}(?:\s[\w.-]{1,30}){0,2})?\s?(?:is\snow\s|is\s|are\s|was\s|=\s?|:\s?|-\s"
    r"|to\s))[\"'`“]?((?!(?:expired?|invalid|wrong|missing|required|the|an?|too|not|stored|kept|in|"
    r"set|reset|changed|rotated|managed|on|for|being|never|always|due|valid|no|our|my|your|out|"
    r"gone|lost|old|new|needed|optional|shared|safe|by|used|read|sent|due|ready|fine|dead|"
    r"going|what|where|how|when|down)\b)[^\s\"'`”]{3,200})",
    re.IGNORECASE,
)
_CARD = re.compile(r"(?<![\d.-])\d(?:[ -]?\d){12,18}(?![\d-])")
MASK = "[masked]"


def without_rendered_memory(*, text: str) -> str:
    """The text without any block that a memory prompt rendered, so that no memory echoes itself.

    A block runs from its heading, over its tagged lines, to the first blank or ordinary line.
    """
    if not any(mark in text for mark in ("[", "<", "#", "READ-ONLY", "(importance: ")):
        return text
    text = _POSING_NOTE.sub(" ", text)
    text = _RATED.sub(" ", text) if "(importance: " in text else text
    kept: list[str] = []
    in_block = False
    read_only = False
    for line in text.splitlines():
        if _BLOCK_HEADING.match(line):
            in_block = True
            read_only = read_only or "READ-ONLY" in line.upper()
        elif _BLOCK_LINE.match(line):
            continue
        elif in_block and (not line.strip() or line.lstrip().startswith(("[", "(", "-", "=", "*"))):
            in_block = bool(line.strip()) or read_only
        elif not (in_block and read_only and line.lstrip().startswith(("#", "<"))):
            in_block = False
            read_only = False
            kept.append(_LABELLED.sub(" ", line))
    return "\n".join(kept)


def is_command(*, text: str) -> bool:
    """Whether a sentence tries to steer the memory or the agent's rules, or reports such a try."""
    return bool(_COMMAND.search(text) or _ABOUT_COMMANDS.search(text))


def _luhn(digits: str) -> bool:
    total = 0
    for position, char in enumerate(reversed(digits)):
        value = int(char) * (2 if position % 2 else 1)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def _mask_card(match: re.Match[str]) -> str:
    digits = re.sub(r"\D", "", match.group())
    return MASK if _luhn(digits) else match.group()


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


def mask_secrets(*, text: str) -> str:
    """The text with its secrets masked: private keys, tokens, stated passwords, passwords within
    addresses and valid card numbers."""
    text = mask_private_keys(text=text)
    text = _URL_LOGIN.sub(lambda match: match.group(1) + MASK, text)
    text = _STATED.sub(lambda match: match.group(1) + MASK, text)
    text = _TOKEN.sub(MASK, text)
    return _CARD.sub(_mask_card, text)
