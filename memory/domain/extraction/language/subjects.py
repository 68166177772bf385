"""The "I" that casual speech leaves out."""

from __future__ import annotations

import re

from .syntax import has_verb
from .verbs import IRREGULAR_PAST, THIRD, UNMARKED, is_past_form
from .words import DETERMINERS, KIN, MONTHS, NAMES_TOO, PEOPLE_NOUNS, PETS, WEEKDAYS, word_set

_NOT_NEEDED = word_set("me to of is help advice assistance support your you")
_WISHED = word_set("new birthday easter holidays anniversary friday monday weekend christmas")
_SUBJECTLESS = re.compile(
    r"^(?P<adv>(?:(?:just|finally|recently|also|already|actually|"
    r"only)\s)*)(?P<verb>[a-z]+(?:['’]t)?)\s(?P<next>[\w'’-]+)",
    re.IGNORECASE,
)
_COUNT = r"(?:an?|one|two|three|four|five|six|\d+|no|some)"
_DAY = rf"(?:{'|'.join((*WEEKDAYS, *MONTHS))})"
_RELATED = "|".join(sorted(KIN | PETS))
_PLACE = rf"(?-i:(?!(?i:{_DAY})\b)[A-Z]\w)"
_OFTEN = r"(?:(?:still|also|mostly|usually|always|really|absolutely|only|currently|now|just)\s)*"
# Verbs in their bare form that tell of the speaker, and order nobody to do anything.
_I_DO = re.compile(
    rf"{_OFTEN}(?:(?:hate|adore|detest|dislike|love)\s(?!it\b|that\b|this\b|you\b|your\b|the\s(?:idea|look|plan)|how\b|when\b|from\b|and\b|speech\b|crimes?\b|mail\b|letters?\b|songs?\b|story\b|life\b)|"
    rf"weigh\s(?:\w+\s)?\d|live\s(?:in\s(?!prod|stag|beta|test|session|chat)\w|with\s(?!it\b|that\b|this\b)\w|near\s|alone\b)|own\s{_COUNT}\b|drive\s(?:an?|my)\b|"
    r"work\s(?:as|at|for|in\s(?-i:[A-Z])|in\s(?:an?|the)\s|nights|shifts|part[\s-]time|full[\s-]time|remotely|weekends|from\shome|freelance)\b|"
    r"speak\s(?:fluent|no|some|only|a\s(?:bit|little)|(?-i:[A-Z])\w+\s(?:and|at\shome|natively|fluently))|"
    r"wear\s(?:glasses|contacts?|hearing\saids?|an?\ssize|size)\b|smoke(?=\W*$|\s(?:a|like|only|about|since|socially|weed|cigars|cigarettes|\d)\b)|"
    rf"have\s{_COUNT}\s(?:\w+\s)?(?:{_RELATED}|sons|daughters|brothers|sisters|boys|girls|\w+\sallerg\w+|allerg\w+)\b|"
    r"have\s(?:asthma|diabetes|migraines|adhd|epilepsy|arthritis|celiac|coeliac)\b|play\s(?:in\s|for\s(?:an?|the)\s|(?:guitar|piano|bass|drums|"
    r"violin|cello|tennis|football|soccer|chess|rugby|basketball|padel|golf|hockey)\b)|"
    r"like\smy\s(?:coffee|tea|steak|eggs|food|curry|pasta)\s|teach\s(?:at|in|\w+\s(?:at|in|to\skids))\b|study\s\w+\s(?:\w+\s)?(?:at|in)\b|"
    r"(?:don['’]t|do\snot|never)\s(?:really\s|even\s)?(?:eat|drink|smoke|like|own|drive|work\s(?:on\s\w+days|\w+days|weekends|nights|mornings)|speak\s(?-i:[A-Z])|wear|have\s(?:any|a|kids|children|pets)|"
    r"cook|do\s\w+days|enjoy|care\sfor|believe\sin)\b(?!\s(?:it|that|this|like\sthat)\b))",
    re.IGNORECASE,
)
# What somebody is: the verb is left out with the subject.
_I_AM = re.compile(
    rf"(?P<often>{_OFTEN})(?P<state>(?:(?:severely|mildly|highly|strictly|very|super|pretty|terribly)\s)?(?:allergic\sto|(?:lactose|gluten)[\s-]intolerant|intolerant\sto|sensitive\sto|terrified\sof|"
    r"\d\s?(?:ft|foot)\s?\d{0,2}|\d\s?m\s?\d\d|\d{3}\s?cm(?:\stall)?|"
    r"(?:vegan|vegetarian|pescatarian|coeliac|celiac|diabetic|asthmatic|dyslexic|colou?r-?\s?blind|deaf|pregnant|claustrophobic|hypertensive|bipolar|an(?:a)?emic|introverted|extroverted|(?:left|right)-handed|retired|unemployed|self-employed)(?=\W*$|,|\s(?:since|for|now|and|but|too|by|at|in\s\d|myself|here)\b)|"
    r"afraid\sof|scared\sof|fluent\sin|originally\sfrom|based\sin|fond\sof|"
    rf"from\s{_PLACE}\w*\soriginally|(?:happily\s)?married\s(?:to|with)|(?:recently\s|newly\s)?married(?=\W*$|,|\ssince)|(?:recently\s|newly\s)?divorced(?=\W*$|,|\ssince)|on\s[a-z]*(?:pril|statin|formin|olol|sartan|insulin|xetine)|"
    r"in\smy\s(?:early\s|mid\s|late\s|mid-|late-|early-)?\w*(?:0s|ties|eens)))\b(?!['’])",
    re.IGNORECASE,
)
_I_WAS = re.compile(r"(?:born|raised)\s(?:and\s\w+\s)?(?:in|on|near)\b", re.IGNORECASE)
_I_AM_DOING = re.compile(
    rf"(?P<often>{_OFTEN})(?:studying\s\w|moving\s(?:to\s(?:{_PLACE}|an?\s)|in\swith|out\b|house)|living\s(?:in|with|near|alone)|training\s(?:for\s(?:an?|the|my)\s(?:\w+\s)?(?:marathon|half|triathlon|race|exam|ironman|competition|10k|tournament)|as\san?\s|to\s(?:be|become)\s)|"
    r"learning\s(?:to\s|how\s|the\s(?:guitar|piano|violin|drums)|(?:guitar|piano|violin|drums|sign\slanguage|python|programming)\b|(?-i:[A-Z])\w)|saving\s(?:up\s)?for|getting\s(?:married|divorced)|expecting\s(?:a\s(?:\w+\s)?(?:baby|child|boy|girl)|our|my|twins|another\s(?:baby|child))|renting\s(?:an?|our|in)\s|raising\s(?:\w+\s)?(?:kids|twins|goats|chickens)|"
    r"dating\s(?:someone|an?\s|my\s|(?-i:[A-Z]))|starting\s(?:at\s(?-i:[A-Z])|as\s|an?\s(?:new\s)?(?:job|course|degree|business|company))\b|recovering\sfrom|turning\s(?:\d\d|thirty|forty|fifty|sixty)|"
    rf"doing\s(?:an?|my)\s(?:phd|doctorate|master\S*|mba|degree|apprenticeship|internship|bachelor\S*)\b|commuting\s|flying\sto\s{_PLACE}|allergic)",
    re.IGNORECASE,
)
_I_DID = re.compile(
    rf"{_OFTEN}(?:lived\s(?:in|at|with|near|on)\b|worked\s(?:as\san?|at\s(?-i:[A-Z])|for\s(?-i:[A-Z])|in\s(?:an?\s|(?-i:[A-Z])))|(?:studied|graduated|taught)\s(?:in|at|from)\b|served\sin\sthe\b|moved\s(?:to\s{_PLACE}|here\b|house\b|in\swith)|"
    rf"quit\s(?:my|\w+ing)\b|stopped\s(?:eating|drinking|smoking|driving|working)\b|gave\sup\s(?!on\b)\w|started\s(?:at\s(?-i:[A-Z])|as\s)|lost\s(?:\d|my)|"
    r"(?:sold|built|left|set|made|found|held|felt)\smy\b|joined\s(?-i:[A-Z])|(?:hurt|burnt)\smy\b|never\s(?:learn(?:ed|t)|had|been|owned|tried|got)\s|left\s(?-i:[A-Z])[\w-]+\s(?:in|last|after)\s|turned\s(?:\d\d|thirty|forty|fifty|sixty)\b)",
    re.IGNORECASE,
)
_WORK = "|".join(
    sorted(PEOPLE_NOUNS - KIN - word_set("friend friends client customer contact head chief"))
)
_TRADE = re.compile(
    rf"(?:(?:single|stay-at-home|proud)\s(?:mum|mom|dad|mother|father|parent)|(?:mum|mom|dad|mother|father)\sof\s\w+|"
    rf"(?:[a-z-]+\s)?(?:{_WORK})\s(?:at\s(?:an?\s|the\s|(?-i:[A-Z]))|by\strade|in\s(?:an?\s|(?-i:[A-Z]))|from\s(?-i:[A-Z])))(?!.*(?:\d|day\b|morrow\b))",
    re.IGNORECASE,
)
_SINCE = re.compile(r"\b(?:since|for\s(?:\w+\s)?(?:years|months|decades))\b", re.IGNORECASE)
_TO_THE_AGENT = re.compile(r"\b(?:me|please|you|your)\b", re.IGNORECASE)


def with_subject(*, text: str, of_other: bool = False) -> str:
    """The sentence with the "I" that casual speech leaves out ("Just got back from …").

    `of_other` says that it answers a question about somebody else, who is meant then.
    """
    plain = _left_out(text[:1].lower() + text[1:]) if not of_other and text else ""
    return plain or _begun(text)


def _left_out(text: str) -> str:
    """The sentence with "I" or "I'm" where its first words can only tell of the speaker, or ""."""
    if _I_WAS.match(text):
        return f"I was {text}"
    state = _I_AM.match(text)
    if state:
        return f"I've been {text}" if _SINCE.search(text) else f"I'm {text}"
    if _I_AM_DOING.match(text) and not has_verb(text=text):
        return f"I'm {text}"
    if _I_DID.match(text) or (_I_DO.match(text) and not _TO_THE_AGENT.search(text)):
        return f"I {text}"
    if _TRADE.match(text) and not has_verb(text=text):
        return f"I'm {'an' if text[0] in 'aeiou' else 'a'} {text}"
    return ""


def _begun(text: str) -> str:
    match = _SUBJECTLESS.match(text)
    if match is None:
        return text
    verb, following = match.group("verb").lower(), match.group("next").lower()
    if verb in {"was", "were"} and match.group("next")[0].isupper():
        # "Was Hendrik.": the answer to a question, and not the speaker.
        return text
    if verb in NAMES_TOO and following in THIRD:
        # "Rose takes the dog"
        return text
    rest = text[match.start("verb") :]
    rest = rest[:1].lower() + rest[1:]
    adverb = match.group("adv").lower()
    if verb == "been":
        return f"I've {adverb}{rest}"
    if verb in {
        "gonna",
        "glad",
        "happy",
        "excited",
        "thrilled",
        "thinking",
        "planning",
        "hoping",
        "looking",
        "working",
        "so",
    } and following not in _WISHED | {"is", "was"}:
        return text if verb == "so" else f"I'm {adverb}{rest}"
    irregular = (
        verb in IRREGULAR_PAST
        and verb not in UNMARKED
        and verb
        not in {"left", "set", "built", "made", "found", "written", "lost", "sold", "held", "felt"}
    )
    regular = (
        verb.endswith("ed") and is_past_form(word=verb) and following in DETERMINERS | {"up", "out"}
    )
    if verb in {"need", "want", "prefer"} and following not in _NOT_NEEDED:
        return f"I {adverb}{rest}"
    if ((irregular or regular) and following not in {"by", "is", "are", "was"}) or verb in {
        "can't",
        "couldn't",
        "didn't",
    }:
        return f"I {adverb}{rest}"
    return text
