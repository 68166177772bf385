"""Lasting facts about the speaker: role, place, language, household, hours and the like."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..language.words import KIN, PETS
from .health import HEALTH
from .labels import Label, profile_of

_ROLE_NOUN = (
    r"(?:lead|head|manager|director|owner|founder|co-founder|chief|officer|president|partner|chair|"
    r"principal|captain|nurse|chef|cook|clerk|secretary|student|intern|freelancer|contractor|pilot|"
    r"judge|coach|guide|lawyer|attorney|architect|engineer|developer|designer|analyst|scientist|"
    r"teacher|professor|researcher|doctor|surgeon|dentist|vet|paramedic|pharmacist|midwife|"
    r"accountant|auditor|consultant|adviser|advisor|editor|writer|author|journalist|photographer|"
    r"producer|artist|musician|actor|singer|illustrator|translator|interpreter|librarian|curator|"
    r"archivist|historian|technician|mechanic|electrician|plumber|carpenter|builder|welder|farmer|"
    r"gardener|florist|baker|butcher|brewer|waiter|barista|bartender|driver|courier|dispatcher|"
    r"planner|coordinator|administrator|admin|assistant|receptionist|recruiter|trainer|tutor|"
    r"therapist|psychologist|counsellor|counselor|economist|biologist|chemist|physicist|geologist|"
    r"statistician|mathematician|programmer|tester|sysadmin|dba|sre|cto|ceo|cfo|coo|vp|buyer|"
    r"merchandiser|seller|agent|broker|banker|controller|bookkeeper|treasurer|supervisor|foreman|"
    r"inspector|surveyor|planner|policeman|firefighter|soldier|sergeant|veteran|specialist|expert|"
    r"strategist|marketer|copywriter|postdoc|maintainer|apprentice|lecturer|headteacher|registrar)"
)
# A machine that one starts, or what goes through, over or past something, is no place of work.
_RUN_THROUGH = (
    r"(?:[\w’'-]+\s){0,3}?(?:through|past|over|against|by|via|into|under)\s|(?:[\w’'-]+\s){0,2}?(?:dishwasher|washing\smachine|"
    r"washer|dryer|machine|heating|heater|boiler|fan|tap|engine|script|tests?|test\ssuite|backups?|query|queries|build|"
    r"command|marathon|race|risk|errands?)\b|(?:[\w’'-]+\s){1,3}?at\snight\b"
)
_ROLE = re.compile(
    rf"\b(?:i['’]m|i\sam|i\s(?:just\s)?became|i\swas\s(?:just\s)?(?:promoted\sto|made))\s(?:now\s|"
    rf"also\s|currently\s)?"
    rf"(?:(?:a|an|the|one\sof\sthe|our|their)\s)?(?:[\w’'&/-]+\s){{0,4}}?{_ROLE_NOUN}s?\b"
    rf"|\bi\s(?:currently\s|now\s|mostly\s|still\s)?work\s(?:as|for|at|with\s(?=[A-Z])|"
    rf"in\s(?!the\s(?:morning|"
    rf"evening|night|office)|(?-i:[A-Z])\w+\stime|pairs|sprints))"
    rf"|\bi\s(?:currently\s|now\s)?run\s(?:the|a|an|our|my|all|two|three|four)\s(?!times\b)"
    rf"(?!{_RUN_THROUGH})[\w’'&/-]+"
    rf"|\bi(?:['’]ve|\shave)\sworked\s(?:at|for)\s(?:the\s(?!time\b|moment\b))?(?-i:[A-Z])[\w’'&-]*(?:\s[\w’'&-]+){{0,4}}?\ssince\b"
    rf"|\bi\s(?:currently\s|now\s)?(?:lead|manage|head(?:\sup)?|look\safter|own|founded|co-founded|direct|"
    rf"supervise|"
    rf"coordinate|chair|maintain|oversee)\s(?:the|a|an|our|my|all|two|three|"
    rf"four)\s(?!times\b)[\w’'&/-]+"
    rf"|\bi(?:['’]ve|\shave)?\s(?:just\s|recently\s)?(?:joined\s(?-i:[A-Z])|(?:started|"
    rf"joined)\s.{{0,40}}\bas\s(?:a|an|the)\b)|\bi\s.{{3,60}}\sand\s(?:just\s|then\s|now\s)?joined\s(?-i:[A-Z])|\bmy\s(?:job|role|title|position|employer|"
    rf"company|profession|day\sjob)\s(?:title\s)?is\b"
    rf"|\bi['’]m\s(?:in\scharge\sof|responsible\sfor|employed|on\sthe\s[\w\s-]{{2,30}}\steam|"
    rf"self-employed|retired)\b"
    rf"|\bi(?:['’]m|\sam)\san?\s(?:[\w-]+\s){{0,2}}?[a-z]{{3,}}(?:er|or|ist|ian|ant|eer|man|woman|wright)"
    rf"\s(?:at|for|with|in)\s(?:the\s)?(?-i:[A-Z])"
    rf"|\bi\sdrive\sa\s(?:[\w-]+\s)?(?:cab|taxi|bus|coach|truck|lorry|tram|train|van\sfor)\b"
    rf"|\bi(?:['’]m|\sam)\s(?:studying\s(?!for\b|the\b)|training\s(?:as|to\sbe)\s|a\s(?:\w+\s){{0,2}}student\b)"
    rf"|\bi(?:['’]ve|\shave)?\s(?:been\sworking|worked|work)\sas\s(?:a|an|the)\s"
    rf"|\bi\s(?:teach|study)\s[\w\s]{{2,40}}\bat\b"
    rf"|\b(?:they|he|she|we|the\s\w+)(?:['’]ve|\shave|\shas)?\s(?:made|promoted|appointed|elected)\sme\s(?:to\s)?"
    rf"(?:the\s|a\s)?(?:\w+\s){{0,3}}?{_ROLE_NOUN}\b|\bi(?:['’]ve|\shave)\s(?:been|worked\sas)\s(?:a|an|the)\s(?:[\w-]+\s){{0,3}}?"
    rf"(?:{_ROLE_NOUN}|landlord|landlady)s?\b|\bi(?:['’]m|\sam)\s(?:now\s)?(?:doing|writing|finishing)\smy\s(?:phd|doctorate|master|"
    rf"thesis|apprenticeship|degree|bachelor)|\bi(?:['’]m|\sam|\shave|['’]ve)?\s(?:now\s|just\s|recently\s)?(?:retired|been\sretired)\b"
    rf"|\bi\sdo\s(?:the\s)?[\w\s&/-]{{2,30}}\s(?:on\s(?:the|a)\s[\w\s-]{{2,30}}\steam|"
    rf"(?:at|for)\s(?-i:[A-Z])\w+)",
    re.IGNORECASE,
)
# "We have moved the office to Porto" is no move of one's own.
_NO_FREIGHT = r"(?!(?:the|an?|it|them|this|that|these|those|all|his|her|their|its|our|my)\b)"
_CITY = re.compile(
    r"\b(?:i['’]m|i\sam|we['’]re|we\sare)\s(?:\w+\s)?(?:based|located|living|staying|settled|"
    r"stationed)\s(?:in|at|near|out)\b"
    r"|\bi\s(?:\w+\s)?(?:live|reside|grew\sup)\s(?:in|near|at|on|outside|just)\b|"
    r"\b(?:i|we)(?:['’]ve|\shave)?\s(?:just\s|recently\s|all\s|finally\s|now\s)?"
    rf"(?:moved|relocated|emigrated)\s{_NO_FREIGHT}(?:\w+\s){{0,3}}?(?:to\s(?-i:[A-Z])|house\b|in\s(?:with|together)\b|here\b)|"
    rf"\b(?:i|we)(?:['’]ve|\shave)\smoved\W{_NO_FREIGHT}|\bi(?:['’]ve|\shave)\sbeen\s(?:living\s)?(?:in|based\sin)\s(?-i:[A-Z])|"
    r"\bi\s(?:no\slonger|don['’]t|do\snot)\slive\b|\bi\scommute\sfrom\b|\bi['’]m\s(?:moving|relocating)\sto\b|"
    r"\bi['’]m\s(?:originally\s)?from\s[A-Z]"
    r"|\b(?:i|we)(?:['’]ve|\shave)\slived\s(?:here|in\s(?:(?-i:[A-Z])[\w-]+|(?:this|the|my|our)\s(?:[\w-]+\s)?"
    r"(?:flat|house|apartment|building|street|town|city|village|area|country)))\b[^.;]{0,30}\b(?:since|for)\b"
    r"|^home\sis\s(?:now\s)?(?-i:[A-Z])|\bmy\s(?:home|house|flat|apartment|home\stown|hometown|city|home\soffice|address)\sis\b|"
    r"\bi\swork\sfrom\s[A-Z]"
    r"|(?<!week\s)(?<!days\s)(?<!while\s)(?<!when\s)(?<!time\s)(?<!until\s)(?<!till\s)\bi(?:['’]m|\sam)\sin\s(?-i:[A-Z])\w+"
    r"(?:\snow)?\W*$",
    re.IGNORECASE,
)
_ZONE = re.compile(
    r"\btime\s?zone\b|\b(?-i:Pacific|Eastern|Mountain|Central(?:\sEuropean)?|Greenwich|Atlantic|"
    r"Japan|"
    r"[A-Z][a-z]+)\s(?-i:[Tt]ime)\b(?!\s(?:off|ago|to))|\b(?-i:UTC|GMT|CET|CEST|PST|PDT|EST|EDT|"
    r"CST|MST|BST|IST|JST|AEST|EET|WET)\b",
    re.IGNORECASE,
)
_TONGUES = (
    r"(?-i:English|German|French|Dutch|Spanish|Italian|Portuguese|Swedish|Norwegian|Danish|"
    r"Finnish|Polish|"
    r"Czech|Greek|Turkish|Arabic|Hebrew|Hindi|Urdu|Bengali|Mandarin|Cantonese|Chinese|Japanese|"
    r"Korean|"
    r"Russian|Ukrainian|Romanian|Hungarian|Vietnamese|Thai|Swahili|Catalan|Welsh|Irish|Estonian|"
    r"Latvian|"
    r"Lithuanian|Slovak|Slovene|Croatian|Serbian|Bulgarian|Icelandic|Persian|Farsi|Tamil|Malay|"
    r"Flemish|"
    r"Afrikaans|Basque)"
)
_LANGUAGE = re.compile(
    rf"\b(?:answer|answers|reply|replies|respond|write|speak|talk|switch|continue|chat|prefer|use|"
    rf"keep)\b[\w\s’',]{{0,40}}"
    rf"\b(?:in|to)\s(?:\w+\s)?{_TONGUES}\b|\b(?:my\s(?:native|first|mother|main|"
    rf"preferred)\s(?:language|tongue))\b"
    rf"|\bi\s(?:only\s|also\s|mostly\s)?speak\s(?:\w+\s){{0,3}}?{_TONGUES}\b|"
    rf"\bmy\s{_TONGUES}\sis\b",
    re.IGNORECASE,
)
_ANSWER_IN = re.compile(
    rf"\b(?:answer|reply|respond|write|speak|talk|switch|continue)\b.{{0,40}}\b(?:in|"
    rf"to)\s{_TONGUES}",
    re.IGNORECASE,
)
_CONTACT = re.compile(
    r"\bmy\s(?:\w+\s)?(?:e-?mail|phone|mobile|cell|telephone|number|handle|extension|fax|slack|"
    r"postal|address)"
    r"(?:\s(?:number|address|handle))?(?:\s(?:on|in|at|for)\s(?:the\s)?\w+)?\s(?:is|ends)\b|\breach\sme\s(?:at|on|under|by|via)\b"
    r"|\bthe\s(?:phone\s|mobile\s)?number\sis\s\+?\d|"
    r"\b[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{2,60}\b.{0,20}$|\buse\s[\w.+-]{1,64}@[\w-]|\bcontact\sme\s(?:at|on|under|via)\b",
    re.IGNORECASE,
)
_KIN = "|".join(sorted(KIN | PETS))
_AGES = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\d{1,2})(?:\syears\sold)?"
    r"(?=[,.;]|\s(?:and|now)\b|$)"
)
_HOUSEHOLD = re.compile(
    rf"\b(?:i|we)(?:\s|['’]ve\s)(?:also\s)?(?:have|got|live\swith|share\s(?:a|the|my)|"
    rf"adopted)\b.{{0,40}}\b(?:{_KIN})\b"
    rf"|\b(?:i(?:['’]m|\sam|['’]ve\sbeen|\shave\sbeen)|we(?:['’]re|\sare|['’]ve\sbeen|\shave\sbeen))\s(?:now\s|happily\s|recently\s|newly\s)?(?:married|single|divorced|engaged|widowed|separated|"
    rf"a\s(?:single\s)?"
    rf"(?:mother|father|parent|mum|mom|dad|widow|widower))\b"
    rf"|\b(?:we['’]re|we\sare|there\sare)\s(?:\w+\s){{0,4}}(?:at\shome|in\sthe\shousehold|"
    rf"in\sour\shouse)"
    rf"|\b(?:my|our)\s(?:[\w-]+\s)?(?:{_KIN})\s(?:and\smy\s(?:{_KIN})\s)?(?:is|are|['’]s)\s(?:called|named)\b"
    rf"|\bmy\s(?:{_KIN})(?:['’]s)?\snames?\s(?:is|are)\b|\b(?:my|our|the)\sbaby\s(?:girl\s|boy\s)?is\s(?:due|expected|born)\b"
    rf"|\b(?:i['’]m|i\sam|we['’]re|we\sare)\s(?:expecting\s(?:a\s(?:\w+\s)?(?:baby|child|boy|girl|son|daughter)|our|my|twins|another\s(?:baby|child|one|boy|girl))|trying\sfor\s(?:a|another)\s(?:baby|child))\b|\bi\slive\s(?:alone|by\smyself|with\s)|"
    rf"\b(?:i['’]m|i|we)\s(?:now\s)?shar(?:e|ing)\sa\s(?:flat|house|room|place|home|apartment)\b|,\ssharing\sa\s(?:flat|house|"
    rf"place|apartment)\swith\b|\b(?:my|our|the)\s(?:{_KIN})\b[^.]{{0,30}}\b(?-i:[A-Z])\w+(?:['’]s|\sis)\s(?:\w+teen|{_AGES})\b"
    rf"|\b(?:i|we)(?:['’]ve)?\s(?:have|got)\s(?:two|three|four|five|one|a)\s(?:\w+\s)?(?:sons?|daughters?|boys|girls|"
    rf"brothers?|sisters?|dogs?|cats?|grandchildren|stepchildren|stepsons?)\b|\b(?:i|we)\s(?:got|are\sgetting|['’]re\sgetting)\s"
    rf"(?:married|engaged|divorced)\b|\band\si\s(?:got\s|are\s|have\sgot\s)?(?:married|engaged|divorced)\b"
    r"|\bi\shave\s(?:a|one)\s(?:\w+\s)?(?:girl|boy)[.!]*$",
    re.IGNORECASE,
)
_SCHEDULE = re.compile(
    r"\bi(?:['’]m|\sam)\son\s(?:the\s)?(?:night|early|late|day|evening|weekend)\s?shifts?\b|"
    r"\bi\s(?:only\s|usually\s|mostly\s|always\s|normally\s|also\s)?(?:work|start|"
    r"finish)\s(?:\w+\s)?(?:nights?|days|shifts?|evenings?|weekends?|"
    r"mornings?|afternoons?|part-?\s?time|full-?\s?time|remotely|from\shome|half\sdays|(?:mon|"
    r"tues|wednes|thurs|fri|satur|"
    r"sun)days?|\w+\sdays|four\sdays|\d+\s(?:days|hours|%)|until|at\s\d|between)\b"
    r"|\bi(?:['’]m|\sam)\s(?:always\s|usually\s|only\s)?(?:off|out|free|available|not\savailable|"
    r"unavailable|in\sthe\soffice)\s"
    r"(?:on\s|every\s|each\s|before\s|after\s|from\s|until\s)?(?:\w+days?\b|\d|noon)|"
    r"\bi\sdon['’]t\swork\s(?:on|past|before|after)?\s?\w+"
    r"|\bmy\s(?:(?:working|office|work|usual|opening)\s)?(?:hours|shifts?)\s(?:is|are)\b"
    r"|\bmy\s(?:working|office|work|usual)\s(?:hours|days|day|week)\b"
    r"|^(?:mon|tues|wednes|thurs|fri|satur|sun)days?\s(?:is|are)\smy\s(?:[\w-]+\s){0,2}days?\b",
    re.IGNORECASE,
)
_BIRTHDAY = re.compile(
    r"\bmy\sbirthday\s(?:is|falls)\b|\bi\s(?:was\sborn|turn(?:ed)?\s(?:\d\d|twenty|thirty|forty|fifty|sixty|seventy|eighty)\b)|"
    r"\bi['’]m\s\d\d\syears\sold\b|\bi(?:['’]m|\sam)\s\d\d\b(?=\W*$|\sand)",
    re.IGNORECASE,
)
_MEASURES = re.compile(
    r"\bi(?:['’]m|\sam)\s(?:\d[.,]\d\d?\b|\d{3}\s?cm|\d\s?(?:ft|feet|foot))|\bi\swear\s(?:a\s)?size\b|"
    r"\bmy\s(?:shoe|ring|dress|shirt|hat|collar|clothes|glove)\ssize\s(?:is|are)\b|\bmy\s(?:\w+\s)?measurements\s(?:are|is)\b",
    re.IGNORECASE,
)
_RULES: tuple[tuple[re.Pattern[str], Label], ...] = (
    (_LANGUAGE, profile_of("language", 8, sensitive="language")),
    (_ZONE, profile_of("timezone", 7)),
    (_SCHEDULE, profile_of("schedule", 6)),
    (HEALTH, profile_of("health", 7)),
    (_HOUSEHOLD, profile_of("household", 6)),
    (_ROLE, profile_of("role", 9, pinned=True)),
    (_CITY, profile_of("city", 7, sensitive="city")),
    (_CONTACT, profile_of("contact", 7)),
    (_BIRTHDAY, profile_of("birthday", 6)),
    (_MEASURES, profile_of("measures", 5)),
)
_TO_OTHERS = re.compile(
    rf"\b(?:write|talk|speak|reply|answer|respond)\s(?:to\s)?(?!me\b|us\b|in\b|only\b|always\b|"
    rf"{_TONGUES}\b)"
    r"(?:(?-i:[A-Z])\w+|him|her|them|the)\b",
    re.IGNORECASE,
)
_REASON = re.compile(r"^(?:because|since|as)\s", re.IGNORECASE)


def profile_label(*, clause: str) -> Label | None:
    """How a first-person clause about the speaker's own person is filed, or None."""
    for pattern, label in _RULES:
        if pattern.search(clause):
            if pattern is _ZONE and not re.search(
                r"\b(?:i|my|me|i['’]m|think|schedule|we|our)\b", clause, re.I
            ):
                continue
            if pattern is _LANGUAGE and _TO_OTHERS.search(clause):
                continue
            if (
                pattern is _LANGUAGE
                and not _ANSWER_IN.search(clause)
                and not re.search(r"\b(?:i|my)\b", clause, re.I)
            ):
                continue
            return label
    return None


def told_in_passing(*, clause: str) -> Iterator[tuple[str, Label]]:
    """The facts of the speaker's own person that a preference states in passing, and their labels.

    "Don't phone me, I work nights" states one: each comes in the first person, as it was said.
    """
    for part in re.split(r"[,;]\s", clause)[1:]:
        bare = _REASON.sub("", part)
        label = profile_label(clause=bare)
        if label and re.match(r"(?i)i\b", bare):
            yield bare, label
