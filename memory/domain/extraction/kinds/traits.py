"""Plain statements of how somebody lives: "I take metformin", "I'm a night owl".

They are short and name nothing, as chatter does; their verb and what it governs tell them apart.
"""

from __future__ import annotations

import re

from ...types import MemoryType
from .labels import Label

_OFTEN = (
    r"(?:(?:always|usually|mostly|often|sometimes|rarely|seldom|hardly(?:\sever)?|only|also|still|really|"
    r"actually|mainly|currently|generally|normally|basically|just)\s)*"
)
_CONSUMES = r"drink|eat|smoke|vape|gamble"
_LIVES = (
    r"wear|drive|speak|play|own|study|teach|coach|cycle|bike|commute|swim|jog|climb|ski|surf|dance|sing|paint|"
    r"draw|sew|knit|crochet|cook|bake|garden|fish|hunt|ride|collect|volunteer|meditate|pray|snore|stutter|box|row|sail|"
    r"fence|program|blog|breed|brew|rent|weigh|earn|take|use|shave|identify|subscribe|bank|sleep|work\sout|go\sto\s(?:church|"
    r"therapy|the\sgym|mosque|temple)|run|hike|write|support|believe\sin|bruise|tan|sweat|faint|commute(?=\sby\s)|keep(?=\s(?:bees|chickens|hens|ducks|goats|sheep|pigs|horses|rabbits|kosher|halal|a\s(?:diary|journal))\b)|know\s(?:some\s|basic\s)?(?:sign\slanguage|braille|karate|judo|first\said|cpr)"
)
# What follows such a verb where it tells of the moment or of nothing.
_NOTHING_LASTING = (
    r"(?!(?:it|that|this|them|these|those|you|your|him|her|out|into|off|away|across|through|behind|over|along|back|up|down|"
    r"around|by(?!\s(?:train|bus|bike|car|tram|ferry|boat|metro|bicycle|foot)\b)|care|part|place|issue|note|advantage|pleasure|pride|comfort|turns|one|some|another|more|too|my\stime|"
    r"the\s(?:last|next|first|time|blame|liberty|point|opportunity|chance|same|word|term|following|attached)|"
    r"a\s(?:look|break|nap|breath|moment|guess|chance|risk|seat|bite|sip|photo|picture|step|while|bit|trick|role|part)|"
    r"all\s(?:the|of)|for\sgranted|late|on)\b)"
)
_AT_THIS_MOMENT = re.compile(
    r"\b(?:now|today|tonight|yesterday|here|again|this\s\w+|right\snow|at\sthe\smoment|last\s\w+|tomorrow|next\s\w+|"
    r"if|when\syou|like\sa|like\san|so\smuch|too\smuch|you|guess|hope|maybe|later|first|instead)\b|[!?…]|\.\.",
    re.IGNORECASE,
)
_LEAD = r"^(?:(?:and|but|so|also|plus|oh|well|yeah|btw)[\s,]+)*"
_DOES = re.compile(
    rf"{_LEAD}i\s{_OFTEN}(?P<not>(?:don['’]t|do\snot|never|no\slonger|can['’]t|cannot)\s{_OFTEN})?"
    rf"(?:(?P<consumes>{_CONSUMES})|(?:{_LIVES}))(?:\s+|(?=[.,;]|$)){_NOTHING_LASTING}",
    re.IGNORECASE,
)
_HAS_NOT = re.compile(
    rf"{_LEAD}i\s(?:don['’]t|do\snot|no\slonger)\s{_OFTEN}(?:have|own|keep)\s(?:a|an|any)?\s?"
    r"(?:kids|children|siblings|brothers|sisters|pets?|car|driving|driver['’]s|licence|license|dog|cat|tv|smartphone|"
    r"(?:credit\s)?card|facebook|instagram|whatsapp|allergies|religion|degree|passport|garden|oven|dishwasher|balcony|bike)\b",
    re.IGNORECASE,
)
_KIND_OF_PERSON = re.compile(
    rf"{_LEAD}(?:i['’]m|i\sam)\s{_OFTEN}(?:not\s)?an?\s(?!(?:bit|little|lot|mess|wreck|idiot|genius|fool|monster|zombie|"
    r"disaster|sucker|moron|failure|nervous|hot|huge|real|total|complete|big|tad|happy|bad|terrible|horrible|lucky|new|"
    r"few|good|great|very|so|week|day|month|year|minute|second|step|loss|human|person\W*$|(?:\w+\s){0,3}(?:fan|wreck|mess|idiot|"
    r"user|customer|believer|option|problem)\b)\b)(?:[a-z’'-]+\s){0,3}[a-z’'-]+(?:\s(?:at|in|for|of|from|by|with|and)\s[^.!?]{2,60})?[.]*$",
    re.IGNORECASE,
)
_IS_SO = re.compile(
    rf"{_LEAD}(?:i['’]m|i\sam)\s{_OFTEN}(?:not\s)?(?:(?:very|quite|pretty|terribly|a\sbit|deathly|super)\s)?(?:(?:afraid|scared|terrified)\sof\s(?!the\s|losing)\w|"
    r"fluent\sin\s|colou?r-?blind|tone-deaf|(?:left|right)-handed|(?:an?\s)?only\schild|self-employed|unemployed|retired|claustrophobic|hypertensive|bipolar|introverted|extroverted|religious|bilingual|"
    r"in\smy\s\w*(?:0s|ties|eens)\b|"
    r"(?:working\s(?:from\shome|remotely|part-?\s?time|nights)|(?:studying|learning|training\s(?:for|as)|renting|dating|raising|saving\s(?:up\s)?for|recovering\sfrom)\s\w)|sensitive\sto\s(?!this|that)\w)",
    re.IGNORECASE,
)
_CAN = re.compile(
    rf"{_LEAD}i\s(?:can['’]?t|cannot|can(?:\snot)?)\s{_OFTEN}(?:(?:swim|drive|ski|juggle|cook|sing|dance|whistle|knit|sew|type|weld|surf|skate|cycle|"
    r"whistle|ride(?=\s(?:a|horses)\b)|play(?=\s(?:the|chess|guitar|piano)\b))(?:\s[\w-]+){0,3}|(?:do|handle|tolerate)\s(?:spicy\sfood|[a-z]+s))[.]*$",
    re.IGNORECASE,
)
_DOES_TO_ME = re.compile(
    r"\b(?:gives?|makes?|leaves?)\sme\s(?:(?:a|bad|terrible|really|very|so)\s)*(?:heartburn|headaches?|migraines?|hives|sick|nauseous|bloated|"
    r"itchy|rash|cramps|gas|dizzy|drowsy)\b",
    re.IGNORECASE,
)
_MEDICINE = (
    r"(?:[a-z]{2,}(?:pril|statin|formin|olol|sartan|azole|cillin|mycin|dipine|pam|zine|xetine|oxacin|thiazide|profen|"
    r"thyroxine|sone|solone|tidine|triptan|setron|gliptin|glutide|parin|prazole|traline|lafaxine|dryl|farin|mide)|"
    r"insulin|lithium|warfarin|aspirin|ibuprofen|paracetamol|ozempic|xanax|prozac|zoloft|adderall|ritalin|ventolin|"
    r"antihistamines?|antidepressants?|beta\sblockers?|blood\sthinners?|statins?|the\spill|hormones|steroids|vitamin\s\w+|iron)"
)
_TAKES = re.compile(
    rf"{_LEAD}(?:i\s{_OFTEN}(?:take|use|need|inject)|(?:i['’]m|i\sam)\s{_OFTEN}(?:on|taking))\s(?:\S+\s){{0,4}}?{_MEDICINE}\b",
    re.IGNORECASE,
)
_UNAVAILABLE = re.compile(
    rf"{_LEAD}i\s(?:can['’]?t|cannot|don['’]t|never)\s(?:do|make|work)\s(?:on\s|calls\son\s|meetings\son\s)?"
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|mornings?|afternoons?|evenings?|nights?|weekends?)(?!\sand\s\w+\sfree)\b",
    re.IGNORECASE,
)
_ABOUT = Label(MemoryType.USER_PROFILE, 6, "profile", "about")
_HEALTH = Label(MemoryType.USER_PROFILE, 7, "profile", "profile.health", confidence=0.85)
_SCHEDULE = Label(MemoryType.USER_PROFILE, 6, "profile", "profile.schedule", confidence=0.85)
_WILL_NOT = Label(MemoryType.SEMANTIC, 8, "preferences", "preference", confidence=0.85)
_MOST = 90


def trait_label(*, clause: str) -> Label | None:
    """How a plain statement of the speaker's way of life is filed, or None."""
    if len(clause) > _MOST:
        return None
    if _TAKES.search(clause) or _DOES_TO_ME.search(clause):
        return _HEALTH
    if _UNAVAILABLE.search(clause):
        return _SCHEDULE
    if _AT_THIS_MOMENT.search(clause):
        return None
    does = _DOES.search(clause)
    if does and does.group("consumes") and does.group("not"):
        return _WILL_NOT
    if (
        does
        or _CAN.search(clause)
        or _HAS_NOT.search(clause)
        or _IS_SO.search(clause)
        or _KIND_OF_PERSON.search(clause)
    ):
        return _ABOUT
    return None
