"""Which lasting fact of their own person somebody tells: name, role, place, language and so on."""

from __future__ import annotations

import re
from functools import lru_cache

from ..lexicon import word_set

NAME = "name"
PRONOUNS = "pronouns"
ROLE = "role"
LANGUAGE = "language"
ZONE = "time_zone"
PLACE = "city"
HOURS = "hours"
CONTACT = "contact"
HEALTH = "health"
HOUSEHOLD = "household"
BIRTHDAY = "birthday"
PREFERRED_NAME = "preferred_name"
# Of these a person has more than one: a telephone number and a bank account are two matters.
SEVERAL_VALUES = frozenset({CONTACT, HEALTH, HOUSEHOLD, HOURS})

_OFTEN = (
    r"(?:(?:also|still|now|actually|originally|currently|only|mostly|usually|always|just|recently|"
    r"finally|both|really|mainly|already)\s)*"
)
_AM = rf"\b(?:i'm|i\sam)\s{_OFTEN}"
_I = rf"\bi\s{_OFTEN}"
_CAPITAL = r"(?-i:[A-ZÀ-Þ])"


def _choice(table: str) -> str:
    return "|".join(sorted(map(re.escape, word_set(table)), key=len, reverse=True))


_TONGUES = _choice("talk/tongues")
_ROLES = _choice("talk/roles")
_KIN = _choice("talk/kin")

# The first that fits is what the statement tells; names and roles come before what they hold.
_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (attribute, re.compile(pattern, re.IGNORECASE))
    for attribute, pattern in (
        (
            PREFERRED_NAME,
            r"(?:please\s)?(?:just\s)?(?:call\sme|address\sme\sas)\s|\bi\s(?:go\sby|prefer\sto\sbe\s"
            rf"called|like\sto\sbe\scalled)\s|\b(?:everyone|everybody|people|friends|nobody)\scalls?\sme\s{_CAPITAL}",
        ),
        (
            PRONOUNS,
            r"\bmy\spronouns\b|\bpronouns\sare\b|\b(?:she|he|they)/(?:her|him|them)\b",
        ),
        (
            NAME,
            rf"(?:i'm|i\sam|this\sis|it's)\s{_CAPITAL}[\w'-]+(?=\s{_CAPITAL}|\s(?:from|and|here|at|the)\b"
            rf"|[,.!]|$)|\bmy\s(?:full\s)?name(?:\sis|'s)\b|{_CAPITAL}[\w'-]+(?:\s{_CAPITAL}[\w'-]+)*\s"
            r"(?:here|speaking)\b",
        ),
        (
            ROLE,
            rf"{_AM}(?:an?|the|one\sof\sthe|their|our|your)\s(?:[\w'&/-]+\s){{0,4}}?(?:{_ROLES})s?\b|"
            rf"{_AM}(?:[\w-]+\s){{0,2}}?(?:head|director|lead|chief|chair|captain|president|in\scharge|responsible|employed"
            r"|self-employed|retired|unemployed|on\sthe\s[\w\s-]{2,30}\steam|with\s(?-i:[A-Z])\w+)\b|"
            rf"{_AM}an?\s(?:[\w-]+\s){{0,2}}?[a-z]{{3,}}(?:er|or|ist|(?<!tar)ian|ant|eer|man|woman|smith)\b"
            r"(?=\s(?:at|for|with|in|by|from|and)\b|[,.;!]|$)|"
            rf"{_I}(?:run|lead|manage|head|own|direct|supervise|coordinate|chair|oversee|look\safter|"
            r"study|maintain|work\swith|work\sin|do)\s(?!out|into|late|it|them|not|that|this|so|my\b)"
            r"(?=[^.;]*\b(?:at|for|team|department|unit|office|shop|store|company|firm|business|studio|"
            r"practice|clinic|lab|school|restaurant|bakery|caf[eé]|library|museum|farm|agency|club|"
            r"hotel|platform|projects?|support|group)\b)|"
            rf"{_I}(?:teach|founded|co-founded|work\s(?:as|for|at)|joined\s{_CAPITAL}|start(?:ed)?\s(?:at\s"
            rf"{_CAPITAL}|as\s))|\bi've\s(?:just\s)?(?:joined|started\sat|been\s(?:an?|the|with|at))\b|"
            r"\bmy\s(?:new\s)?(?:job|role|title|position|employer|company|profession)\b|"
            r"\b(?:made|promoted|appointed|elected|hired)\sme\b|\bi\s(?:was|got)\s(?:just\s)?(?:promoted|"
            r"hired|appointed|elected)\b|\bi\s(?:just\s)?(?:became\b|took\sover\s[^.;]{0,50}\bas\b)",
        ),
        (
            LANGUAGE,
            r"\b(?:answers?|reply|replies|respond|write|speak|talk|switch|continue|keep|stick|explain|"
            rf"use|prefer|chat)\b[^.;]{{0,40}}\b(?:{_TONGUES})\b|\b(?:native|first|mother|main)\s"
            rf"(?:language|tongue)\b|{_I}speak\b[^.;]{{0,60}}\b(?:{_TONGUES})\b",
        ),
        (
            ZONE,
            r"\btime\s?zone\b|\b(?-i:[A-Z][a-z]+)\s(?:european\s|standard\s)?time\b(?=\s(?:when|for|zone)|"
            r"[.,;]|$)|\b(?-i:UTC|GMT|CET|CEST|PST|PDT|EST|EDT|CST|MST|BST|IST|JST|AEST|EET|WET)\b",
        ),
        (BIRTHDAY, rf"\bmy\sbirthday\b|\bi\swas\sborn\b|\bi\sturn(?:ed)?\s\d|{_AM}\d\d(?!\s?%)\b"),
        (
            PLACE,
            rf"{_AM}(?:based|located|living|staying|settled|from\s{_CAPITAL}|moving\sto|relocating|in\s"
            rf"{_CAPITAL}(?!\w*\s\d))|\b(?:i|we)\s{_OFTEN}(?:live|reside|grew\sup|moved\s(?:\w+\s)?(?:to|from|"
            rf"into)|relocated|commute)\b|\bi've\s{_OFTEN}(?:moved|lived|relocated)\b|\bwe're\s(?:based|"
            rf"moving\sto|living)\b|\bmy\s(?:home|flat|house|city|home\s?town|address|place)\sis\b",
        ),
        (
            HOURS,
            rf"{_I}(?:don't\s)?(?:work|start|finish)\s(?:nights?|days|shifts?|evenings?|weekends?|mornings?"
            r"|afternoons?|part|full|remotely|from|until|till|at\s\d|between|on|(?:mon|tues|wednes|thurs|"
            r"fri|satur|sun)days?|four|three|\d)|\bmy\s(?:\w+\s)?(?:hours|shifts?|working\sdays|schedule|"
            rf"office\sdays|day\soff)\b|{_AM}(?:off|out|free|unavailable|available|in\sthe\soffice)\s"
            r"(?:on|every|before|after|until)\b|\bi\ssleep\b",
        ),
        (
            CONTACT,
            r"\b(?:my|i\shave\sa\snew)\s(?:\w+\s){0,2}(?:phone|number|mobile|cell|e-?mail|mail|handle|extension|username|"
            r"account|insurance|passport|licen[cs]e|id|surname)\b|\b(?:reach|contact)\sme\s(?:at|on|via)\b",
        ),
        (
            HEALTH,
            rf"{_AM}(?:a\s(?:strict\s|severe\s)?)?(?:severely\s|very\s|badly\s|partly\s|mildly\s|red-green\s)?"
            r"(?:allergic|intolerant|diabetic|pre-?diabetic|vegan|vegetarian|pescatarian|coeliac|celiac|"
            r"pregnant|asthmatic|epileptic|dyslexic|colou?r[-\s]?blind|deaf|blind|hard\sof\shearing|left-"
            r"handed|autistic|anaemic|short-sighted|recovering|lactose|gluten|on\s(?:insulin|medication|"
            r"antibiotics|crutches|statins|blood)|1\d\d\scm)|"
            rf"{_I}(?:have|get|suffer\sfrom|take|need|wear|use|weigh|tolerate)\s(?:an?\s|my\s|type\s\w+\s|"
            r"chronic\s|severe\s|bad\s|early\s)*(?:\d|asthma|diabetes|migraines?|allerg\w+|adhd|epilepsy|"
            r"arthritis|tinnitus|insulin|metformin|medication|tablets|pills|glasses|contact\slenses|"
            r"hearing\saids?|wheelchair|screen\sreader|pacemaker|insomnia|anxiety|depression|high\s"
            rf"blood|low\sblood|back|knee)|{_I}(?:can't|cannot|can\snot|don't|mustn't|may\snot)\s(?:eat|"
            r"drink|digest|tolerate|hear|see|walk|lift|swim)\b|\bmy\s(?:\w+\s)?(?:knees?|back|shoulder|"
            r"blood|heart|hands?|feet|eyes?|iron|weight|height|hearing|eyesight|allerg\w+|diet|asthma|ankle|wrist|hip"
            r"|skin|ferritin|size)\b|\b(?:i\s(?:was|got)\s(?:just\s)?diagnosed|prescribed\sme|put\sme\son|i\sget\s(?:\w+\s)?(?:seasick|carsick|dizzy|hives))\b",
        ),
        (
            HOUSEHOLD,
            rf"\b(?:i|we)(?:'ve|\shave)?\s{_OFTEN}(?:have|got|live\swith|share|adopted)\b[^.;]{{0,25}}\b"
            rf"(?:{_KIN}|flat|house|brothers?|sisters?|sons?|daughters?|cats?|dogs?)\b|\b(?:i'm|i\sam|"
            rf"we're|we\sare)\s{_OFTEN}(?:married|single|divorced|engaged|widowed|expecting|a\s(?:single\s)?"
            r"(?:mother|father|parent|mum|dad))\b|\bi\slive\s(?:alone|with)\b|\bmy\s(?:wife|husband|partner"
            r"|kids|son|daughter|dog|cat)(?:\sis|'s)?\s(?:called|named)\b|\bmy\s(?:wife|husband|partner|son|"
            rf"daughter|dog|cat)\s(?:is|'s)\s{_CAPITAL}",
        ),
    )
)
_OWN = re.compile(r"\b(?:i|i'm|i've|me|my|mine|we|our)\b", re.IGNORECASE)
SENSITIVE_FIELDS = {
    PREFERRED_NAME: "preferred_name",
    PRONOUNS: "pronouns",
    PLACE: "city",
    LANGUAGE: "language",
}


@lru_cache(maxsize=4096)
def attribute_of(clause: str) -> str:
    """Which fact of their own person the clause tells in the first person; "" for none."""
    clause = clause.replace("’", "'")
    for attribute, pattern in _PATTERNS:
        if attribute in {NAME, PREFERRED_NAME}:
            found = pattern.match(clause) or (
                pattern.search(clause) if "my" in clause.lower() or "me" in clause.lower() else None
            )
        else:
            found = pattern.search(clause)
        if found:
            return attribute
    return ""


def tells_of_oneself(clause: str) -> bool:
    """Whether the clause tells a lasting fact of the speaker's own person."""
    return bool(attribute_of(clause)) and (
        _OWN.search(clause) is not None or attribute_of(clause) in {NAME, PRONOUNS}
    )
